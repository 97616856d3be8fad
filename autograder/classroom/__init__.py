"""A class on one server: a JupyterHub whose students work in sandboxes, with exchange, leaderboard and formgrader.

`settings.py` reads what the instructor wrote, `folder.py` owns the layout of the class's folder, `accounts.py` says who
may log in, `spawner.py` starts a student's server, `hub.py` puts the Hub's configuration together.
"""
