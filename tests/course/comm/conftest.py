"""What is the same on every carrier is tested on every carrier: a test asks for `carrier` and gives it to `spmd`."""

import pytest

from course import cluster

RANKS = 4  # a test may use as many


@pytest.fixture(scope="package")
def stopped_in_the_end():
    yield
    cluster.stop()


@pytest.fixture(scope="module", params=["simulated", "local"])
def carrier(request):
    """The name of a carrier that can be used now."""
    if request.param == "local":
        request.getfixturevalue("stopped_in_the_end")
        cluster.start(RANKS)
    return request.param
