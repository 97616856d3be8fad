"""A test that asks for `carrier` and passes it to `spmd` runs on every carrier."""

from pathlib import Path

import pytest

from course import cluster
from course.spmd import spmd

RANKS = 4  # the largest number that a test uses
# The tests of all files here that use the same engines run in one process, which starts these engines once.
GROUPS = {
    "simulated": "comm-simulated", "local": "comm-engines", "torch": "comm-engines", "horovod": "comm-engines",
    "mpi": "comm-mpi",
}  # fmt: skip
CARRIERS = ["simulated", "local", "torch", "mpi"]  # a test that needs Horovod, too, says so


@pytest.hookimpl(tryfirst=True)  # before tests/conftest.py reads the groups
def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == Path(__file__).parent and "carrier" in item.fixturenames:
            item.add_marker(pytest.mark.xdist_group(GROUPS[item.callspec.params["carrier"]]))


@pytest.fixture(scope="session")
def stopped_at_the_end():
    """Stops the engines when all tests of this process are over."""
    yield
    cluster.stop()


@pytest.fixture(scope="session", params=CARRIERS)
def carrier(request):
    """The name of a carrier that is ready for RANKS ranks."""
    if request.param == "horovod" and not request.getfixturevalue("horovod"):
        pytest.skip("Horovod cannot be built here")
    if request.param != "simulated":
        request.getfixturevalue("stopped_at_the_end")
        cluster.start(RANKS, launcher="mpi" if request.param == "mpi" else None)
        # The first run loads what later runs find loaded, which takes long on a busy machine.
        spmd(lambda comm: comm.barrier(), ranks=RANKS, carrier=request.param, timeout=60)
    return request.param
