"""What students build on: the communicator, the carriers that move its messages, traces, and reports on hangs."""

from course.comm.faults import Delay, Die, Drop, Reorder, Slow
from course.comm.simulated import Simulated

__all__ = ["Delay", "Die", "Drop", "Reorder", "Simulated", "Slow"]
