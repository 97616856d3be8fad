"""What students build on: the communicator, the carriers that move its messages, traces, and reports on hangs."""

from course.comm.faults import Delay, Die, Drop, Reorder, Slow
from course.comm.requests import Status
from course.comm.simulated import Simulated
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
