# tries: ends the kernel from within each function, and in a cell
# earns: squares, total
# said: the kernel was lost
# %% own
import os

os._exit(0)
# %% add
import os


def add(x, y):
    os._exit(0)


# %% descend
def descend(gradient, theta, steps):
    import os, signal

    gradient(theta)
    os.kill(os.getpid(), signal.SIGKILL)
