"""What students build on: the communicator, the carriers that move its messages, traces, and reports on hangs.

`Simulated` is imported on first use: it needs greenlet, which ranks in processes do without.
"""

from course.comm.faults import Delay, Die, Drop, Reorder, Slow
from course.comm.requests import Status
from course.comm.transfer import ANY_SOURCE, ANY_TAG, PROC_NULL

__all__ = [
    "ANY_SOURCE",
    "ANY_TAG",
    "PROC_NULL",
    "Delay",
    "Die",
    "Drop",
    "Reorder",
    "Simulated",
    "Slow",
    "Status",
]


def __getattr__(name):
    if name != "Simulated":
        raise AttributeError(f"module 'course.comm' has no attribute {name!r}")
    from course.comm.simulated import Simulated

    return Simulated
