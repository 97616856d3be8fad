"""What a lab imports: engines, data, plots, the hand-in button. `%load_ext course` makes checks speak in hints.

Nothing is imported here, so that `import course` costs nothing.
"""


def load_ipython_extension(shell):
    """`%load_ext course`: from now on a check cell shows its hint, see course/notebook.py.

    NumPy, imported after this, computes with one thread: the matrices of a lab are small, and on a busy machine threads
    that wait for each other made training five times as slow.
    """
    import os

    from course import notebook

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    notebook.load(shell)


def unload_ipython_extension(shell):
    """`%unload_ext course`: check cells behave like any other cell again."""
    from course import notebook

    notebook.unload(shell)
