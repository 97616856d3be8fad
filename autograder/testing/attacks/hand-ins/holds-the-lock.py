# tries: a loop in C that never releases the interpreter's lock
# earns: descend, squares, total
# said: ignored the interrupt
# %% add
import collections, itertools


def add(x, y):
    collections.deque(itertools.repeat(0), maxlen=0)
