# tries: loops that never end, in a cell and in functions, also below the function that the check passes in
# earns: squares, total
# %% own
while True:
    pass


# %% add
def add(x, y):
    while True:
        pass


# %% descend
def descend(gradient, theta, steps):
    while True:
        gradient(theta)
