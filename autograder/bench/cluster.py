"""How long four engines take to their first optimizer step, beside ipyparallel's own start, and what they leave behind.

Starts are timed in five groups, in an order that changes from group to group. Each start runs in a fresh process and is
timed from the first import until numpy and torch are imported on four engines and each has done one step of Adam. The
start called "ahead" was requested by `cluster.prepare` five seconds earlier and is timed from `cluster.start`. Then an
engine is killed a few times, and then whole kernels with idle and busy engines; two seconds later the processes that
are left are counted. Starts and ends its own processes, and writes to temporary folders only.
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

from course.engines.supervision import SupervisorClient

PAIRS = 5
LOST = 5
KILLED = 20
BOUND = 0.25  # of ipyparallel's time
SECONDS_BACK = 1  # within which a killed engine must be replaced
GRACE = 2  # seconds after which nothing may be left of a killed kernel

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
    "ahead": """
view = cluster.start(4)
stop = cluster.stop
""",
}
AHEAD = "from course import cluster\ncluster.prepare(4)\ntime.sleep(5)"
TIMED = """
import time

def step():
    import numpy
    import torch
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(5, 3)).sum().backward()
    optimizer.step()

{before}
start = time.monotonic()
{start}
view.apply_sync(step)
print("answer", time.monotonic() - start)
{after}
stop()
"""
MEMORY = """
def private():
    import psutil
    return psutil.Process().memory_full_info().uss / 2**20

print("answer", sum(view.apply_sync(private)) / 4)
"""
BACK = """
import os, signal, time
from course import cluster
engines = cluster.start(4)
for number in range({lost}):
    pid = engines.apply_sync(os.getpid)[number % 4]
    start = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    while not engines.take_losses():
        time.sleep(0.001)
    assert pid not in engines.apply_sync(os.getpid)
    print("answer", time.monotonic() - start)
"""
BUSY = "def spin():\n    while True: pass\nengines.apply_async(spin)"


def rows():
    """Rows of four kinds.

    Per start: `way` and `seconds` (None if it failed). Per way: `mebibytes`, the private memory of an engine. Per
    killed engine: `back`, the seconds until it was replaced. Per killed kernel: its `processes`, and how many are
    `left`.
    """
    for pair in range(PAIRS):
        for way in sorted(STARTS, reverse=pair % 2 == 0):
            yield {"pair": pair, "way": way, "load": os.getloadavg()[0], "seconds": seconds(way)}
    for way in ("ipyparallel", "course"):
        _, mebibytes = answers(TIMED.format(before="", start=STARTS[way], after=MEMORY)) or (None, None)
        yield {"memory_of": way, "mebibytes": mebibytes}
    for back in answers(BACK.format(lost=LOST)) or [None]:
        yield {"killed": "engine", "back": back}
    for number in range(KILLED):
        yield kill_kernel("busy" if number % 2 else "idle")


def seconds(way):
    """Seconds that one start in a fresh process takes, including the first optimizer step; None if it failed."""
    program = TIMED.format(before=AHEAD if way == "ahead" else "", start=STARTS[way], after="")
    return next(iter(answers(program)), None)


def answers(program):
    """The numbers that a program, run in a fresh process, prints as its answers; [] if it failed."""
    supervisor = SupervisorClient()  # ends what ipyparallel leaves behind, and removes its files
    try:
        output = supervisor.directory / "output"
        env = os.environ | {"IPYTHONDIR": str(supervisor.directory / "plain")}
        if supervisor.start([sys.executable, "-c", program], env, output).wait():
            return []
        return [float(line.split()[1]) for line in output.read_text().splitlines() if line.startswith("answer ")]
    finally:
        supervisor.close()


def kill_kernel(doing):
    """Kill a kernel whose four engines are "idle" or "busy"; returns the row with its processes before and after."""
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
    """The median of every way, the median ratios within groups, what was left behind, and the machine."""
    starts = [row for row in rows if "way" in row]
    pairs = [{row["way"]: row["seconds"] for row in starts if row["pair"] == pair} for pair in range(PAIRS)]
    back = [row["back"] for row in rows if "back" in row]
    left = sum(row["left"] for row in rows if "left" in row)
    failed = {way: sum(pair[way] is None for pair in pairs) for way in pairs[0]}
    ratio = ratio_to_plain(pairs, "course")
    return {
        **{way: median(pair[way] for pair in pairs) for way in pairs[0]},
        "ratio": ratio,
        "ratio_ahead": ratio_to_plain(pairs, "ahead"),
        "memory": {row["memory_of"]: row["mebibytes"] for row in rows if "memory_of" in row},
        "back": median(back),
        "failed": failed,
        "leftovers": left,
        "met": ratio <= BOUND
        and not left
        and not failed["course"]
        and all(seconds is not None and seconds <= SECONDS_BACK for seconds in back),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": statistics.median(row["load"] for row in starts),
        "versions": f"Python {platform.python_version()}, ipyparallel {importlib.metadata.version('ipyparallel')}, "
        f"torch {importlib.metadata.version('torch')}",
    }


def ratio_to_plain(pairs, way):
    """The median over the groups of one way's seconds, divided by those of ipyparallel's own start."""
    whole = [pair for pair in pairs if None not in (pair.get(way), pair["ipyparallel"])]
    return median(pair[way] / pair["ipyparallel"] for pair in whole)


def median(values):
    return statistics.median([value for value in values if value is not None] or [math.nan])
