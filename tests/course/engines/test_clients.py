"""Other clients of our engines: ipyparallel's own client, connected by the file that the controller has written."""

import os
import signal
import threading
import time

import ipyparallel
import pytest

from autograder.testing.kernels import PATIENCE, wait_until
from course import cluster
from course.engines.engine_set import MOST_RECORDS


@pytest.fixture(scope="module")
def engines():
    yield cluster.start(2)
    cluster.stop()


@pytest.fixture
def client(engines):
    with ipyparallel.Client(str(engines.directory / "profile" / "security" / "ipcontroller-client.json")) as client:
        yield client


def test_another_client_gets_results_resubmits_and_asks_the_database(engines, client):
    result = engines.apply_async(lambda: 5)
    assert result.get() == [5, 5]
    assert client.get_result(result.msg_ids).get(PATIENCE) == [5, 5]
    assert client.resubmit(result.msg_ids).get(PATIENCE) == [5, 5]
    assert len(client.db_query({"msg_id": {"$in": result.msg_ids}})) == 2


@pytest.mark.long
def test_the_database_is_bounded(engines, client):
    for _ in range(MOST_RECORDS // 200 + 2):
        engines.client.wait([engines.client[0].apply_async(os.getpid) for _ in range(200)], PATIENCE)
    assert 0 < len(client.db_query({}, keys=["msg_id"])) <= MOST_RECORDS


@pytest.mark.parametrize("is_coalescing", [False, True])
def test_broadcasts_return(engines, client, is_coalescing):
    for each in (engines.client, client):
        view = each.broadcast_view(is_coalescing=is_coalescing)
        assert view.apply_async(lambda: 3).get(PATIENCE) == [3, 3]
        assert view.map_async(abs, [-1, 2, -3]).get(PATIENCE) == [1, 2, 3]


def test_a_request_for_a_signal_is_answered(engines, client):
    call = engines.apply_async(time.sleep, PATIENCE)
    while not call.done():  # a signal that comes before the call has no effect
        client.send_signal("SIGINT", block=False).result(PATIENCE)
        call.wait(0.2)
    with pytest.raises(ipyparallel.CompositeError, match="KeyboardInterrupt"):
        call.get(PATIENCE)
    (reply,) = client.send_signal("SIGNOPE", targets=0, block=False).result(PATIENCE)
    assert reply["content"]["ename"] == "AttributeError"
    client.send_signal(0, targets=0, block=False).result(PATIENCE)


def test_an_engine_that_another_client_kills_is_replaced(engines, client):
    before = engines.apply_sync(os.getpid)
    client.send_signal(signal.SIGKILL, targets=1, block=False).result(PATIENCE)
    wait_until(lambda: not engines._set.is_ready(), "the engine lives")
    after = engines.apply_sync(os.getpid)
    assert after[0] == before[0]
    assert after[1] != before[1]


def test_requests_to_an_engine_that_dies_before_it_answers_end(engines):
    pid = engines.apply_sync(os.getpid)[1]
    os.kill(pid, signal.SIGSTOP)
    answers = [engines.client.clear(targets=1, block=False), engines.client.abort(targets=1, block=False)]
    shutdown = threading.Thread(target=engines.client.shutdown, kwargs={"targets": 1, "block": True}, daemon=True)
    shutdown.start()
    os.kill(pid, signal.SIGKILL)
    for answer in answers:
        (reply,) = answer.result(PATIENCE)
        assert reply["content"]["ename"] == "EngineError"
    shutdown.join(PATIENCE)
    assert not shutdown.is_alive()
    assert engines.apply_sync(os.getpid)[1] != pid
    engines.client.clear(targets=1, block=True)  # the new engine answers


def test_activate_returns_a_blocking_view_of_all_engines(engines):
    with pytest.warns(UserWarning, match="only work within IPython"):
        view = engines.client.activate()
    assert view.block
    assert view.apply_sync(lambda: 1) == [1, 1]
