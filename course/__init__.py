"""What a lab imports: engines, data, plots, the hand-in button. `%load_ext course` makes check cells show hints.

Labs import short names (`from course import cluster, data, plots, horovod, board`). `PUBLIC` names the module behind
each short name that is not a file of this folder. A module is imported on first use, so `import course` costs nothing.
"""

import importlib

PUBLIC = {  # short name in labs -> module
    "arteries": "course.experiments.arteries",
    "averaging": "course.experiments.averaging",
    "batchnorm": "course.experiments.batchnorm",
    "board": "course.competition.client",
    "compression": "course.experiments.compression",
    "doctor": "course.student.doctor",
    "first_training": "course.experiments.first_training",
    "hand_in": "course.student.hand_in",
    "hogwild": "course.experiments.hogwild",
    "language": "course.experiments.language",
    "least_squares": "course.experiments.least_squares",
    "mapreduce": "course.experiments.mapreduce",
    "memory": "course.experiments.memory",
    "networks": "course.experiments.networks",
    "parallel": "course.experiments.parallel",
    "partitions": "course.experiments.partitions",
    "physics": "course.experiments.physics",
    "roles": "course.experiments.roles",
    "scene": "course.competition.scene",
    "score": "course.competition.score",
    "sequences": "course.experiments.sequences",
    "servers": "course.experiments.servers",
    "spark": "course.experiments.spark",
    "torch_parallel": "course.experiments.torch_parallel",
    "warmup": "course.experiments.warmup",
}


def __getattr__(name):
    """Import the module behind a short name; Python calls this if `course` has no file of that name."""
    if name not in PUBLIC:
        raise AttributeError(f"module 'course' has no attribute {name!r}")
    return importlib.import_module(PUBLIC[name])


def load_ipython_extension(shell):
    """`%load_ext course`: from now on check cells show their hints, see course/student/notebook.py.

    NumPy, if it is imported after this, computes with one thread: the matrices of a lab are small, and on a busy
    machine threads that wait for each other made training five times slower.
    """
    import os

    from course.student import notebook

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    notebook.load(shell)


def unload_ipython_extension(shell):
    """`%unload_ext course`: check cells behave like all other cells again."""
    from course.student import notebook

    notebook.unload(shell)
