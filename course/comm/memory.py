"""Reads an array straight from the memory of another process (Linux): one copy, whereas a socket makes two.

Both processes belong to one user. If the system forbids it all the same, `can_read` returns False, and sockets carry
the bytes.
"""

import ctypes
import os
import sys

PR_SET_PTRACER = 0x59616D61


class Piece(ctypes.Structure):
    """Linux's iovec."""

    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def let_siblings_read():
    """Let the processes below our parent read our memory; Linux (Yama) wants each process to allow that."""
    if _libc is not None:
        _libc.prctl(PR_SET_PTRACER, ctypes.c_ulong(os.getppid()), 0, 0, 0)


def find_address(data):
    """The address of the bytes of a contiguous array."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(data))
    except TypeError:  # the array is read-only
        return data.__array_interface__["data"][0]


def read(pid, remote, data):
    """Fill the array `data` (uint8, shape (nbytes,)) from address `remote` of process `pid`; raises OSError."""
    local, size, done = find_address(data), data.size, 0
    while done < size:
        here, there = Piece(local + done, size - done), Piece(remote + done, size - done)
        n = _libc.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
        if n <= 0:
            raise OSError(ctypes.get_errno(), "the other process's memory cannot be read")
        done += n


def can_read(pid, remote, expected, data):
    """Whether reading works. `expected`: the bytes at address `remote`; `data`: an array of their length."""
    try:
        read(pid, remote, data)
    except (OSError, AttributeError):  # not allowed, or not Linux
        return False
    return data.tobytes() == expected
