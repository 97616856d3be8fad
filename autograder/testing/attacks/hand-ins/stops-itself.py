# tries: a kernel that stops itself with SIGSTOP
# earns: descend, squares, total
# said: ignored the interrupt
# %% add
import os, signal


def add(x, y):
    os.kill(os.getpid(), signal.SIGSTOP)
    return x + y
