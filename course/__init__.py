"""What a lab imports: engines, data, plots, the hand-in button. `%load_ext course` makes checks speak in hints.

Labs import short names (`from course import cluster, data, plots, horovod, board`), whatever room a module lies in:
`PUBLIC` says where. A module is imported when it is first asked for, so `import course` costs nothing.
"""

import importlib

PUBLIC = {  # short name in labs -> its module, where that lies in a room
    "board": "course.competition.client",
    "doctor": "course.student.doctor",
    "hand_in": "course.student.hand_in",
    "scene": "course.competition.scene",
    "score": "course.competition.score",
    "warmup": "course.experiments.warmup",
}


def __getattr__(name):
    """The module behind a short name; called by Python for what `course` does not have as a file of that name."""
    if name not in PUBLIC:
        raise AttributeError(f"module 'course' has no attribute {name!r}")
    return importlib.import_module(PUBLIC[name])


def load_ipython_extension(shell):
    """`%load_ext course`: from now on a check cell shows its hint, see course/student/notebook.py.

    NumPy, imported after this, computes with one thread: the matrices of a lab are small, and on a busy machine threads
    that wait for each other made training five times as slow.
    """
    import os

    from course.student import notebook

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    notebook.load(shell)


def unload_ipython_extension(shell):
    """`%unload_ext course`: check cells behave like any other cell again."""
    from course.student import notebook

    notebook.unload(shell)
