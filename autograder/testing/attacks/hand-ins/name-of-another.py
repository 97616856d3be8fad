# tries: a student's name that becomes another student's when it is simplified
# student: ' last'
# earns: squares, total
# quick
# %% add
def add(x, y):
    return x - y


# %% descend
def descend(gradient, theta, steps):
    return theta
