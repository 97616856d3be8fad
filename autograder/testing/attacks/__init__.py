"""Hand-ins that try to get points they have not earned, or to cost others theirs; and a run that grades them.

Each file in `hand-ins/` is one attack on the lab in `lab/`. It begins with comments:

    # tries: what the attack tries
    # earns: the tasks whose points it deserves, separated by commas; `nothing at all` if it must not be graded
    # said: words that the report must contain (optional)
    # student: a Python string, an odd name for the student's folder (optional)
    # weakness: why the attack can get more than it deserves (optional)
    # quick (optional: `make test` tries the attack, too)

Cells follow: `# %% add` replaces the task add, `# %% own` comes first in the notebook, `# %% notebook` edits `notebook`
or sets `content`, the text that is handed in instead, and `# %% folder` edits the student's folder.
"""
