"""Apache Spark on this machine: started quietly, its own counters read, executors killed, ended with the kernel.

Further steps of lab 14 use it. Spark is no part of the environment, since it takes 500 MB and needs Java:
`make lab SPARK=yes` installs it. pyspark is imported when Spark starts. Whatever is started here listens on the
loopback address only and ends with this process.
"""

import contextlib
import functools
import importlib.util
import json
import linecache
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import warnings
from pathlib import Path

import numpy as np
import psutil

from course.engines.supervision import SupervisorClient
from course.errors import Problem

LEAST_JAVA = 17  # Spark 4 runs on nothing older
HOST = "127.0.0.1"
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # halves the seconds until the first result
QUIET = "rootLogger.level = off\n"
SETTINGS = {
    "spark.app.name": "course",
    "spark.driver.host": HOST,
    "spark.driver.memory": "1g",
    "spark.executor.memory": "512m",
    "spark.cores.max": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1",  # the first job waits for both executors
    "spark.ui.port": "0",  # any free one
    "spark.ui.killEnabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
}
SECONDS_TO_LISTEN = 60  # for a daemon, which takes 2 s on an idle machine
EXECUTOR = "CoarseGrainedExecutorBackend"  # the class that is an executor's main program

_folders = []  # the temporary folder of the running Spark
_daemons = []  # the SupervisorClient of the running master and workers


def list_missing():
    """What Spark needs and this machine lacks -> how to get it; {} where nothing is missing."""
    missing = {}
    if importlib.util.find_spec("pyspark") is None:
        missing["pyspark"] = "make lab SPARK=yes installs pyspark, 500 MB"
    if not find_java():
        missing[f"Java {LEAST_JAVA} or newer"] = "install the package openjdk-17-jre-headless (Debian and Ubuntu)"
    return missing


def describe_missing():
    """What Spark needs and this machine lacks, and how to get it, in one sentence; "" where nothing is missing."""
    missing = list_missing()
    return f"Spark needs {' and '.join(missing)}: {'; '.join(missing.values())}." if missing else ""


@functools.cache
def find_java():
    """The version of the Java that Spark would use, such as "17.0.15"; "" where there is none, or it is too old."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home, "bin", "java")) if home else shutil.which("java")
    try:
        text = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, TypeError, subprocess.SubprocessError):  # TypeError: there is no program
        return ""
    number = re.search(r"\d[\d.]*", text)
    return number[0] if number and int(number[0].split(".")[0]) >= LEAST_JAVA else ""


def is_usable():
    """Whether Spark can run here; where it cannot, prints the sentence of `describe_missing`."""
    if missing := describe_missing():
        print(missing)
    return not missing


def start(master="local[2]"):
    """Start Spark, or return the context that runs already with this master, whose jobs are cancelled.

    A context with another master ends first.

    master: "local[2]" (two threads of one Java process, with a Python process each), "local-cluster[2,1,1024]" (two
    executors, each a Java process of its own with one core and 1024 MB) or the address that `start_daemons` returned.
    Returns a pyspark.SparkContext. Raises Problem where something is missing. The first start takes about 4 s on an
    idle machine, and 15 s with executors.
    """
    if missing := describe_missing():
        raise Problem(missing)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyspark has not been tried with pandas 3, which is not used here
        return make_context(master)


def make_context(master):
    """Return Spark's context for this master, a new one unless it runs already."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    running = SparkContext._active_spark_context
    if running is not None and running.master == master:
        running.cancelAllJobs()  # one that was interrupted in the notebook goes on otherwise
        return running
    if running is not None:
        running.stop()
    if master.startswith("spark:"):
        end_java()  # with a local master it made a secret, which it would use instead of the daemons'
    else:
        stop_daemons()
    options = f"{QUICK} -Dlog4j2.configurationFile={make_folder() / 'log4j2.properties'}"
    conf = SparkConf(loadDefaults=False).setMaster(master).setAll(SETTINGS.items())
    conf.set("spark.driver.extraJavaOptions", options).set("spark.executor.extraJavaOptions", options)
    # What Java prints while it starts would be taken for an error of the cell.
    gateway = SparkContext._gateway or launch_gateway(
        conf, {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    )
    show_one_sentence()
    # After the start of Java, whose command line every user of the machine can read.
    conf.setAll(line.split("=") for line in (make_folder() / "secret.conf").read_text().split())
    return SparkContext(conf=conf, gateway=gateway)


def make_folder():
    """The temporary folder of the running Spark, made on first use: its programs by links, its settings and its files.

    Spark writes into its own folder, which several people may share.
    """
    if not _folders:
        _folders.append(tempfile.TemporaryDirectory(prefix="course-spark-", ignore_cleanup_errors=True))
        folder = Path(_folders[0].name)
        for path in Path(importlib.util.find_spec("pyspark").submodule_search_locations[0]).iterdir():
            (folder / path.name).symlink_to(path)
        (folder / "log4j2.properties").write_text(QUIET)
        secret = f"spark.authenticate=true\nspark.authenticate.secret={secrets.token_hex(16)}\n"
        (folder / "secret.conf").write_text(secret)  # other users of this machine may not use this Spark
        os.environ |= make_environment(folder)
    return Path(_folders[0].name)


def make_environment(folder):
    """The variables that Spark reads, name -> text."""
    return {
        "SPARK_HOME": str(folder),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": f"{QUICK} -Dlog4j2.configurationFile={folder / 'log4j2.properties'}",
        "PYSPARK_PYTHON": sys.executable,
    }


def start_daemons(workers=2):
    """Start a standalone master and its workers as processes of their own, with one core each; returns the address.

    The address, such as "spark://127.0.0.1:40123", is what `start` takes.
    Raises Problem where something is missing or the master does not start.
    """
    if missing := describe_missing():
        raise Problem(missing)
    folder = make_folder()
    stop_daemons()
    _daemons.append(SupervisorClient())
    with socket.create_server((HOST, 0)) as free:
        port = free.getsockname()[1]
    start_daemon("master.Master", "--port", port)
    wait_for(port)
    address = f"spark://{HOST}:{port}"
    for i in range(workers):
        start_daemon("worker.Worker", "--cores", 1, "--memory", "600m", "--work-dir", folder / f"worker-{i}", address)
    return address


def start_daemon(name, *arguments):
    """Start a daemon by the name of its class, below the supervisor."""
    command = [_folders[0].name + "/bin/spark-class", f"org.apache.spark.deploy.{name}"]
    command += ["--host", HOST, "--webui-port", "0", "--properties-file", _folders[0].name + "/secret.conf"]
    command += map(str, arguments)
    _daemons[0].start(command, dict(os.environ), _daemons[0].directory / "daemons.log")


def wait_for(port):
    """Return once a program listens at this port of this machine; raises Problem if none does in time."""
    deadline = time.monotonic() + SECONDS_TO_LISTEN
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection((HOST, port), 1):
            return
        time.sleep(0.1)
    raise Problem(f"Spark's master did not start within {SECONDS_TO_LISTEN} s: close other programs, and try again.")


def stop():
    """End Spark and every process of it; returns when they have ended. Does nothing where none runs."""
    if "pyspark" in sys.modules:
        from pyspark import SparkContext

        if SparkContext._active_spark_context is not None:
            SparkContext._active_spark_context.stop()
        end_java()
    stop_daemons()
    if _folders:
        for name in make_environment(Path()):
            os.environ.pop(name, None)
        _folders.pop().cleanup()


def end_java():
    """End the driver's Java process, if there is one."""
    from pyspark import SparkContext

    if SparkContext._gateway is not None:
        process = SparkContext._gateway.proc
        SparkContext._gateway.shutdown()
        SparkContext._gateway = SparkContext._jvm = None
        process.stdin.close()  # at which this process ends
        process.wait()


def stop_daemons():
    """End the master and its workers, and the executors of these."""
    if _daemons:
        _daemons.pop().close()


def map_reduce(rdd, mapper, reducer, combiner=None, model=None):
    """What lab 14's `map_reduce` does, with Spark's own shuffle: (keys, rows) of all keys, in ascending order.

    rdd: the shards. mapper(shard, model): (keys, values), int64 (n,) and float64 (n, width). reducer(values), and
    combiner(values): rows -> one row, shape (width,); with a combiner, Spark combines the records of each partition
    before the shuffle. model: broadcast to the workers. Returns int64, shape (m,), and float64, shape (m, width).
    """
    broadcast = rdd.context.broadcast(model)

    def read(shards):
        for shard in shards:
            keys, values = mapper(shard, broadcast.value)
            yield from zip(keys.tolist(), values, strict=True)

    records = rdd.mapPartitions(read)
    if combiner is None:
        groups = records.groupByKey().mapValues(lambda rows: np.array(list(rows)))
    else:
        sums = records.reduceByKey(lambda one, other: combiner(np.stack([one, other])))
        groups = sums.mapValues(lambda row: row[None])
    keys, rows = zip(*sorted(groups.mapValues(reducer).collect(), key=lambda record: record[0]), strict=True)
    return np.array(keys, dtype=np.int64), np.array(rows)


def read_page(sc, page):
    """What one of Spark's pages shows, such as "stages" or "executors": a list of dicts."""
    sc._jsc.sc().listenerBus().waitUntilEmpty()  # the pages are behind by some milliseconds
    with urllib.request.urlopen(f"{sc.uiWebUrl}/api/v1/applications/{sc.applicationId}/{page}") as answer:
        return json.load(answer)


@contextlib.contextmanager
def counting(sc):
    """Count what Spark does: yields a function that returns its counts since then, by the metrics of Spark's own pages.

    The counts are a dict: stages and tasks that were run, and bytes (that were written by shuffles, compressed).
    """

    def count():
        stages = [each for each in read_page(sc, "stages") if each["stageId"] > last]
        return {
            "stages": sum(each["status"] == "COMPLETE" for each in stages),
            "tasks": sum(each["numCompleteTasks"] for each in stages),
            "bytes": sum(each["shuffleWriteBytes"] for each in stages),
        }

    last = max((each["stageId"] for each in read_page(sc, "stages")), default=-1)
    yield count


def list_executors():
    """The executors that are processes of their own: their number, as text -> psutil.Process."""
    found = {}
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            words = process.cmdline()
            if words and Path(words[0]).name == "java" and any(word.endswith(EXECUTOR) for word in words):
                found[words[words.index("--executor-id") + 1]] = process
    return found


def kill_executor(sc):
    """Kill the executor that keeps the most partitions, as a machine that fails would end it; returns how many it kept.

    Raises Problem where no executor is a process of its own, as with the master "local[2]".
    """
    if not (processes := list_executors()):
        raise Problem('no executor is a process of its own: start Spark with spark.start("local-cluster[2,1,1024]").')
    kept = {each["id"]: each["rddBlocks"] for each in read_page(sc, "executors") if each["id"] in processes}
    number = max(kept, key=kept.get)
    processes[number].kill()
    processes[number].wait()
    return kept[number]


def describe(error):
    """An error of a job in one sentence: the student's function and line, and what Python said there.

    error: what an action such as `collect` raised.
    """
    text = str(error)
    _, mark, trace = text.partition("Traceback (most recent call last):\n")
    if not mark:
        return text.strip().partition("\n")[0]
    trace = re.split(r"\n SQLSTATE|\n\tat ", trace)[0].rstrip()
    frames = re.findall(r'^  File "(.*)", line (\d+), in (.*)$', trace, re.MULTILINE)
    own = [frame for frame in frames if "/pyspark/" not in frame[0]] or frames
    file, line, name = own[-1]
    last = re.split(r"\n(?=\S)", trace)[-1]
    source = linecache.getline(file, int(line)).strip()
    return f"A Spark worker failed in `{name}`, line {line}{source and f' (`{source}`)'}: {last}"


def show_one_sentence():
    """From now on a notebook shows an error of a job as `describe` puts it, and not by 60 lines of Java."""
    from py4j.protocol import Py4JJavaError

    Py4JJavaError._render_traceback_ = lambda error: [describe(error)]  # IPython calls this method by name
