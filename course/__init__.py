"""What a lab imports: engines, data, plots, the hand-in button. `%load_ext course` makes checks speak in hints.

Nothing is imported here, so that `import course` costs nothing.
"""


def load_ipython_extension(shell):
    """`%load_ext course`: from now on a check cell shows its hint, see course/notebook.py."""
    from course import notebook

    notebook.load(shell)


def unload_ipython_extension(shell):
    """`%unload_ext course`: check cells behave like any other cell again."""
    from course import notebook

    notebook.unload(shell)
