"""Spark as labs use it: what is missing is said, and what is started is counted, may be killed, and leaves nothing."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from autograder.labs import build, source
from autograder.testing.needs import needs_spark
from course.errors import Problem
from course.experiments import spark

TWO_EXECUTORS = "local-cluster[2,1,1024]"
PROGRAM = """
import sys, psutil
from course import spark
spark.start()  # another master before
sc = spark.start(spark.start_daemons(workers=2))
assert sc.parallelize(range(8), 4).map(lambda x: x * x).sum() == 140
print(*[each.pid for each in psutil.Process().children(recursive=True)], flush=True)
sys.stdin.read()
"""


@pytest.fixture
def no_java(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    spark.find_java.cache_clear()
    yield tmp_path
    spark.find_java.cache_clear()


def test_a_missing_java_is_named_with_the_package_that_has_it(no_java, capsys):
    assert "Java 17 or newer" in spark.list_missing()
    assert spark.describe_missing().startswith("Spark needs ")
    assert "openjdk-17-jre-headless" in spark.describe_missing()
    assert not spark.is_usable()
    assert capsys.readouterr().out == spark.describe_missing() + "\n"
    for start in (spark.start, spark.start_daemons):
        with pytest.raises(Problem, match="Spark needs"):
            start()


@pytest.mark.parametrize(("text", "found"), [("openjdk 11.0.2 2019-01-15", ""), ("openjdk 21.0.1 2023", "21.0.1")])
def test_a_java_that_is_too_old_counts_as_missing(no_java, monkeypatch, text, found):
    program = no_java / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho {text}\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(no_java))
    assert spark.find_java() == found


def test_without_spark_each_cell_of_the_lab_says_so_in_one_line(no_java, capsys):
    texts = [cell.source for cell in build.solved("14-mapreduce").cells if source.is_measure(cell)]
    cells = [text for text in texts if "spark.is_usable()" in text and "dask" not in text]
    assert len(cells) >= 7
    names = {"np": np}
    for text in cells:
        exec(text, names)
        assert capsys.readouterr().out == spark.describe_missing() + "\n"


def test_stopping_where_nothing_runs_does_nothing():
    spark.stop()


def test_no_executor_can_be_killed_where_none_is_a_process():
    with pytest.raises(Problem, match="local-cluster"):
        spark.kill_executor(None)


@pytest.fixture(scope="module")
def running():
    """Starts Spark with a master; everything is stopped at the end."""
    yield spark.start
    spark.stop()


def count_by_remainder(shard, model):
    """A mapper: (x modulo model, (x, 1)) for each x of the shard."""
    return shard % model, np.column_stack([shard, np.ones(len(shard))]).astype(float)


def add(values):
    return values.sum(axis=0)


@needs_spark
@pytest.mark.long
def test_starting_twice_gives_one_context_that_listens_on_the_loopback_address(running):
    sc = running()
    assert running() is sc and sc.master == "local[2]"
    assert sc.uiWebUrl.startswith("http://127.0.0.1:")
    ports = {each.laddr.ip for each in psutil.net_connections("tcp") if each.pid == sc._gateway.proc.pid}
    assert ports <= {"127.0.0.1", "::ffff:127.0.0.1", "::1"}


@needs_spark
@pytest.mark.long
def test_starting_again_ends_a_job_that_goes_on_after_an_interrupt(running):
    ended = []

    def run_job():
        try:
            sc.parallelize([0, 1], 2).map(lambda _: time.sleep(600)).count()
        except Exception as error:
            ended.append(str(error))

    sc = running()
    job = threading.Thread(target=run_job, daemon=True)
    job.start()
    while not sc.statusTracker().getActiveJobsIds():
        time.sleep(0.1)
    assert running() is sc
    job.join(120)
    assert "cancelled" in ended[0]
    assert sc.parallelize(range(4), 2).sum() == 6


@needs_spark
@pytest.mark.long
def test_map_reduce_gives_the_same_with_a_combiner_and_shuffles_less(running):
    sc = running()
    shards = [np.arange(3000), np.arange(0), np.arange(7), np.arange(500)]
    bytes_of = {}
    for combiner in (None, add):
        with spark.counting(sc) as read_counts:
            keys, rows = spark.map_reduce(sc.parallelize(shards, 4), count_by_remainder, add, combiner, model=5)
            counts = read_counts()
        bytes_of[combiner] = counts["bytes"]
        assert counts["stages"] == 2 and counts["tasks"] == 8
        whole = np.concatenate(shards)
        assert keys.tolist() == [0, 1, 2, 3, 4] and keys.dtype == np.int64
        assert rows.tolist() == [[whole[whole % 5 == k].sum(), (whole % 5 == k).sum()] for k in range(5)]
    assert 0 < 2 * bytes_of[add] < bytes_of[None]


@needs_spark
@pytest.mark.long
def test_counts_begin_anew_and_a_tree_is_made_of_eight_partitions_but_not_of_four(running):
    sc = running()
    stages = []
    for parts in (4, 8):
        with spark.counting(sc) as read_counts:
            sc.parallelize(range(8), parts).treeAggregate(0, lambda a, b: a + b, lambda a, b: a + b)
            stages.append(read_counts()["stages"])
    assert stages == [1, 2]


@needs_spark
@pytest.mark.long
def test_an_error_of_a_mapper_is_one_sentence_with_its_line(running):
    def broken(part):
        return 1 / len(part[:0])

    with pytest.raises(Exception) as caught:
        running().parallelize([[1], [2]], 2).map(broken).collect()
    sentence = spark.describe(caught.value)
    line = broken.__code__.co_firstlineno + 1
    assert sentence == (
        f"A Spark worker failed in `broken`, line {line} (`return 1 / len(part[:0])`): "
        "ZeroDivisionError: division by zero"
    )
    assert caught.value._render_traceback_() == [sentence]


@needs_spark
@pytest.mark.long
def test_the_partitions_of_a_killed_executor_are_computed_again_and_no_others(running):
    sc = running(TWO_EXECUTORS)
    computed = sc.accumulator(0)

    def load(part):
        computed.add(1)
        return part

    parts = sc.parallelize(range(8), 8).map(load).cache()
    assert [parts.sum(), parts.sum(), computed.value] == [28, 28, 8]
    assert len(spark.list_executors()) == 2
    kept = spark.kill_executor(sc)
    assert 4 <= kept <= 8
    assert parts.sum() == 28 and computed.value == 8 + kept


@needs_spark
@pytest.mark.long
def test_the_secret_that_keeps_other_users_out_is_in_no_command_line_and_on_no_page(running):
    sc = running(TWO_EXECUTORS)
    assert sc.getConf().get("spark.authenticate") == "true"
    secret = sc.getConf().get("spark.authenticate.secret")
    assert len(secret) == 32 and secret not in str(spark.read_page(sc, "environment"))
    for process in psutil.Process().children(recursive=True):
        assert secret not in Path(f"/proc/{process.pid}/cmdline").read_text()
    assert Path(spark._folders[0].name).stat().st_mode & 0o077 == 0


@needs_spark
@pytest.mark.long
def test_stopping_leaves_no_process_no_folder_and_no_variable(running):
    folder = Path(spark._folders[0].name) if spark._folders else spark.make_folder()
    running()
    processes = psutil.Process().children(recursive=True)
    processes = [each for each in processes if each.name() == "java"]
    assert processes and "SPARK_HOME" in os.environ
    spark.stop()
    assert not psutil.wait_procs(processes, 30)[1]
    assert not folder.exists() and "SPARK_HOME" not in os.environ
    assert not list(Path(tempfile.gettempdir()).glob(f"spark-*/*{os.getpid()}*"))


@needs_spark
@pytest.mark.long
@pytest.mark.parametrize("end", ["killed", "ended"])
def test_a_master_its_workers_and_their_executors_end_with_the_notebook_and_starting_prints_nothing(end):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", PROGRAM], **pipes) as process:
        numbers = process.stdout.readline().split()
        assert numbers, process.stderr.read()
        processes = [psutil.Process(int(number)) for number in numbers if psutil.pid_exists(int(number))]
        names = [each.name() for each in processes]
        assert names.count("java") == 6, names  # the driver's, a master, two workers, and two executors
        if end == "killed":
            os.kill(process.pid, signal.SIGKILL)
        else:
            process.stdin.close()
        process.wait(120)
        assert process.stdout.read() == "" and process.stderr.read() == ""
    alive = psutil.wait_procs(processes, 60)[1]
    assert [each for each in alive if each.status() != psutil.STATUS_ZOMBIE] == []
