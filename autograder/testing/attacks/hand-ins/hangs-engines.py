# tries: engines that hang, die, or start daemons
# earns: add, descend, squares, total
# %% own
import os, subprocess, time

from course import cluster
from course.spmd import spmd

engines = cluster.start(2)


def daemon(comm):
    subprocess.Popen(["sleep", "86399"], start_new_session=True)
    if comm.rank == 1:
        os._exit(3)
    while True:
        try:
            time.sleep(1)
        except BaseException:
            pass


try:
    spmd(daemon, ranks=2, timeout=3)
except Exception as error:
    print(error)
