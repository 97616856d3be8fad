"""The clock of a room, which stands still while other work keeps the room from running.

Limits on student code are in seconds of this clock, so that a busy machine does not turn slow grading into lost points.
Reads what Linux says of processes in /proc; changes nothing.
"""

import os
import time
from pathlib import Path

PATIENCE = 4  # a room's clock runs at most this many times slower than the wall clock


class Clock:
    """Seconds as a room experiences them.

    waited: seconds for which a process of the room, or the grader, was ready to run and had no core, because others
    had them.
    """

    def __init__(self):
        self.waited = 0.0
        self.resume()

    def now(self):
        """Return the present time, in seconds since an arbitrary moment."""
        return time.monotonic() - self.waited

    def resume(self):
        """Forget the processes observed so far: the next observation begins now."""
        self.observed, self.delays = time.monotonic(), {}

    def stand_still(self, seconds, waited):
        """Do not count the last `seconds`, in which the room waited for others.

        waited: what `waited` was before them. What `observe` has added since then counts once only.
        """
        self.waited = max(self.waited, waited + seconds)

    def observe(self, pids, cpu_seconds):
        """Hold the clock back by what the room has waited since the last observation.

        pids: the room's processes and the grader's. cpu_seconds: what the room has used since then.
        """
        now, delays = time.monotonic(), {pid: read_delay(pid) for pid in pids}
        longest = max((delay - self.delays.get(pid, delay) for pid, delay in delays.items()), default=0)
        self.waited += estimate_waiting(longest, cpu_seconds, now - self.observed)
        self.observed, self.delays = now, delays


def estimate_waiting(delay, cpu_seconds, seconds):
    """Estimate for how much of the last `seconds` others kept a room waiting.

    delay: seconds for which one of the room's processes, or the grader, was ready and had no core. cpu_seconds: CPU
    time that the room used, on all cores together; what it used itself was not taken by others.
    """
    others = 1 - cpu_seconds / (len(os.sched_getaffinity(0)) * seconds)
    return max(min(delay, seconds * others, seconds * (1 - 1 / PATIENCE)), 0)


def read_delay(pid):
    """Return for how many seconds a process has been ready to run without a core since it started."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0
