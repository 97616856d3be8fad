"""What is the same on every carrier is tested on every carrier: a test asks for `carrier` and gives it to `spmd`."""

import pytest

from course import cluster
from course.spmd import spmd

RANKS = 4  # a test may use as many


@pytest.fixture(scope="session")
def stopped_in_the_end():
    yield
    cluster.stop()


@pytest.fixture(scope="session", params=["simulated", "local", "torch", "mpi"])
def carrier(request):
    """The name of a carrier that can be used now."""
    if request.param != "simulated":
        request.getfixturevalue("stopped_in_the_end")
        cluster.start(RANKS, launcher="mpi" if request.param == "mpi" else None)
        # the first run loads what the others find there, which takes long on a busy machine
        spmd(lambda comm: comm.barrier(), ranks=RANKS, carrier=request.param, timeout=60)
    return request.param
