# tries: values too large to send back: arrays, texts, lists, and an endless one
# earns: squares, total
# quick
# said: larger than 64 MB
# %% add
def add(x, y):
    return "x" * 200_000_000


# %% descend
def descend(gradient, theta, steps):
    import numpy as np

    return np.lib.stride_tricks.as_strided(np.zeros(1), (10**6, 10**6), (0, 0))
