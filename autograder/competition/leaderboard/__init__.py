"""The competition's leaderboard: groups hand in maps and notebooks, and all see who is how far.

`rules` says what may be done and seen, and touches nothing. `store` keeps everything in one database and is the only
one that writes there, `audit` chains what was done so that a change of the past shows. `api` answers requests and never
scores; `worker`, in processes of its own, scores, ranks and verifies, and never answers. `views`, `pictures` and
`pages` show what is in the store; `hub` lets people in whom a JupyterHub knows. `app` makes one application of these,
with what every request and every error passes. `course board` starts it all.
"""
