"""How long four engines take to start, beside ipyparallel's own way, and what is left after a kernel is killed.

Five pairs of starts, the order changing from pair to pair, each in a fresh process from the first import to the answers
of four engines. Then kernels with engines are killed, idle and busy, and two seconds later the processes that are left
of them are counted. Starts and ends its own processes; writes to temporary folders only.
"""

import importlib.metadata
import math
import os
import platform
import statistics
import sys
import time

import psutil
from jupyter_client.manager import start_new_kernel

from course.processes import Supervisor

PAIRS = 5
KILLED = 6
BOUND = 0.5  # of ipyparallel's time
GRACE = 2  # seconds until nothing may be left of a kernel that was killed

STARTS = {
    "ipyparallel": """
import ipyparallel
cluster = ipyparallel.Cluster(n=4)
view = cluster.start_and_connect_sync()[:]
stop = cluster.stop_cluster_sync
""",
    "course": """
from course import cluster
view = cluster.start(4)
stop = cluster.stop
""",
}
TIMED = """
import time
start = time.monotonic()
{start}
answers = view.apply_sync(lambda: 1)
seconds = time.monotonic() - start
stop()
assert answers == [1] * 4
print(seconds)
"""
BUSY = "def spin():\n    while True: pass\nengines.apply_async(spin)"


def rows():
    """A row a start (`way`, `seconds`; None where it failed), then a row a killed kernel (`processes`, `left`)."""
    for pair in range(PAIRS):
        for way in sorted(STARTS, reverse=pair % 2 == 0):
            yield {"pair": pair, "way": way, "load": os.getloadavg()[0], "seconds": seconds(way)}
    for number in range(KILLED):
        yield killed("busy" if number % 2 else "idle")


def seconds(way):
    """How long one start takes, in a fresh process; None if it failed."""
    supervisor = Supervisor()  # ends what ipyparallel leaves behind, files too
    try:
        output = supervisor.directory / "output"
        env = os.environ | {"IPYTHONDIR": str(supervisor.directory / "plain")}
        program = TIMED.format(start=STARTS[way])
        if supervisor.start([sys.executable, "-c", program], env, str(output)).wait():
            return None
        return float(output.read_text().split()[-1])
    finally:
        supervisor.close()


def killed(doing):
    """Kill a kernel whose four engines are idle or busy; counts its processes before and after."""
    manager, client = start_new_kernel()
    client.execute_interactive("from course import cluster; engines = cluster.start(4)", output_hook=lambda _: None)
    if doing == "busy":
        client.execute_interactive(BUSY, output_hook=lambda _: None)
        time.sleep(0.5)
    kernel = psutil.Process(manager.provisioner.pid)
    below = kernel.children(recursive=True)
    kernel.kill()
    time.sleep(GRACE)
    left = [process for process in below if is_running(process)]
    client.stop_channels()
    manager.cleanup_resources()
    return {"killed": doing, "processes": len(below), "left": len(left)}


def is_running(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def summary(rows):
    """Medians of both ways, the median of the pairs' ratios, what was left, and on what machine."""
    starts = [row for row in rows if "way" in row]
    pairs = [{row["way"]: row["seconds"] for row in starts if row["pair"] == pair} for pair in range(PAIRS)]
    whole = [pair for pair in pairs if None not in pair.values()]
    ratio = statistics.median(pair["course"] / pair["ipyparallel"] for pair in whole) if whole else math.nan
    failed = {way: sum(pair[way] is None for pair in pairs) for way in STARTS}
    left = sum(row["left"] for row in rows if "left" in row)
    return {
        **{way: statistics.median([pair[way] for pair in whole] or [math.nan]) for way in STARTS},
        "ratio": ratio,
        "failed": failed,
        "leftovers": left,
        "met": ratio < BOUND and not left and not failed["course"],
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": statistics.median(row["load"] for row in starts),
        "versions": f"Python {platform.python_version()}, ipyparallel {importlib.metadata.version('ipyparallel')}",
    }
