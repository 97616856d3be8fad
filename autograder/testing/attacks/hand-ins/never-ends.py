# tries: endless loops in a cell and in functions, also inside the function that the check passes in
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
