# tries: prints 50 MB in a cell and in a function, in many pieces and in one
# earns: add, descend, squares, total
# quick
# %% own
import os, sys

for _ in range(25_000):
    print("attacked " * 110)
sys.stderr.write("attacked " * 2_800_000)
os.write(1, b"attacked " * 100_000)


# %% add
def add(x, y):
    print("attacked " * 2_800_000)
    return x + y
