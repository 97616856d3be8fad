# tries: ranks that wait forever and ignore everything
# earns: add, descend, squares
# %% total
import time


def total(comm, x):
    while True:
        try:
            time.sleep(10) if comm.rank else comm.recv(x, source=1)
        except BaseException:
            pass
