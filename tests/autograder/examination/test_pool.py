"""Hand-ins examined on the engines of a cluster: none is lost, and nothing is waited for that cannot come."""

import os

import ipyparallel
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.examination import cluster, pool
from course.errors import Problem

pytestmark = pytest.mark.long
PROFILE = "nightly"


class Deadly:
    """Ends the process that it is sent to."""

    def __reduce__(self):
        return os._exit, (3,)


@pytest.fixture
def engines(tmp_path, monkeypatch):
    """A cluster with four engines under PROFILE."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    with ipyparallel.Cluster(n=4, profile=PROFILE, cluster_id="", log_level=40) as client:
        client.wait_for_engines(4)
        yield client.cluster


def make_notebook(source):
    return new_notebook(cells=[new_code_cell(source, id="one")])


def examine(notebooks):
    return dict(pool.records(notebooks, unsafe=True, profile=PROFILE))


def test_a_hand_in_that_cannot_be_examined_or_ends_engines_costs_no_other_its_record(engines):
    records = examine({"none": None, "deadly": Deadly(), "right": make_notebook("print(2 + 2)")})
    assert records["right"]["cells"]["one"][0]["text"] == "4\n"
    assert "AttributeError" in str(records["none"])
    assert str(records["deadly"]) == "it could not be examined: 3 engines that tried it ended."


def test_if_the_cluster_ends_one_sentence_says_so(engines, monkeypatch):
    monkeypatch.setattr(cluster, "SECONDS_TO_ANSWER", 2)
    notebooks = {"short": make_notebook(""), "long": make_notebook("import time; time.sleep(25)")}
    records = pool.records(notebooks, unsafe=True, profile=PROFILE)
    assert next(records)[0] == "short"
    controller = psutil.Process(engines.controller.pid)
    for process in [controller, *controller.children(recursive=True)]:  # its schedulers would outlive it
        process.kill()
    with pytest.raises(Problem, match="the cluster under the profile nightly has ended: start it again"):
        next(records)


def test_if_all_engines_end_one_sentence_says_so(engines, monkeypatch):
    monkeypatch.setattr(cluster, "SECONDS_TO_ANSWER", 2)
    monkeypatch.setattr(pool, "ATTEMPTS", 9)
    with pytest.raises(Problem, match="the cluster under the profile nightly has ended: start it again"):
        examine({"deadly": Deadly()})
