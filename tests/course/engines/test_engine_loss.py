"""Engines that crash, hang or ignore signals: one sentence says so, and the engines are ready for the next call."""

import contextlib
import ctypes
import os
import signal
import threading
import time

import pytest
from IPython import get_ipython

from autograder.testing.kernels import PATIENCE, NotebookKernel, is_running, spin, wait_until
from course import cluster
from course.engines.stacks import parse_main_stack
from course.errors import Interrupted, Problem

WAYS = {
    "os._exit": (lambda: os._exit(3), "exited with status 3", 3),
    "segfault": (lambda: ctypes.string_at(0), "crashed (SIGSEGV: invalid memory access)", -11),
    "kill -9": (
        lambda: os.kill(os.getpid(), signal.SIGKILL),
        "was killed (SIGKILL: out of memory, or killed by hand)",
        -9,
    ),
    "abort": (os.abort, "crashed (SIGABRT: a library aborted the process)", -6),
}


@pytest.fixture(scope="module")
def four():
    yield cluster.start(4)
    cluster.stop()


@pytest.fixture
def engines(four):
    """Four engines, each with its number as `me`, and no losses to report."""
    if four._calls:  # after a test that failed
        four.restart(range(4))
    four.wait_until_ready()
    four.take_losses()
    for rank in range(4):
        four.push({"me": rank}, targets=rank)
    return four


def dies(rank, how):
    """A function with which one rank dies by `how()`, while the others wait for it forever."""

    def run():
        if get_ipython().kernel.engine_id == rank:
            how()
        spin()

    return run


def deaf():
    """Loop, and ignore every interrupt."""
    while True:
        with contextlib.suppress(BaseException):
            time.sleep(1)


def blocked_in_c():
    """Wait forever while holding Python's lock; no signal ends this."""
    lock = ctypes.create_string_buffer(64)
    ctypes.PyDLL(None).pthread_mutex_lock(lock)
    ctypes.PyDLL(None).pthread_mutex_lock(lock)


def paused():
    while True:
        ctypes.CDLL(None).pause()


def read_me():
    """Return the variable `me` of an engine, or None."""
    return get_ipython().user_ns.get("me")


def interrupt_after(seconds):
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()


def answers(engines):
    return engines.apply_async(lambda: 1).get(PATIENCE) == [1] * len(engines)


@pytest.mark.parametrize("way", WAYS)
def test_a_call_during_which_an_engine_dies_stops_with_one_report_and_the_engine_is_back(engines, way):
    how, ending, _ = WAYS[way]
    before = engines.apply_sync(os.getpid)
    with pytest.raises(Problem) as problem:
        engines.apply_sync(dies(2, how))
    assert str(problem.value) == f"The call stopped: engine 2 {ending}. It has been restarted; its variables are gone."
    after = engines.apply_sync(os.getpid)
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, True, False, True]
    assert engines.apply_sync(read_me) == [0, 1, None, 3]
    assert engines.take_losses() == []


@pytest.mark.parametrize("way", WAYS)
def test_with_hands_off_the_caller_gets_the_losses_and_no_engine_is_interrupted(engines, way):
    how, ending, status = WAYS[way]
    with engines.hands_off():
        result = engines.apply_async(dies(1, how))
        wait_until(lambda: result._children[1].done(), "the dead engine's part does not end")
        engines.wait_until_ready()
        time.sleep(0.5)  # long enough for an interrupt
        assert not any(child.done() for child in result._children[:1] + result._children[2:])
        (loss,) = engines.take_losses()
        assert (loss.rank, loss.status, loss.text) == (1, status, f"Engine 1 {ending}.")
        assert engines.take_losses() == []
        engines.interrupt([0, 2, 3])
    wait_until(result.done, "an interrupt does not arrive")
    assert answers(engines)


@pytest.mark.parametrize(
    "call",
    [
        lambda engines: engines.map_sync(lambda n: os._exit(3) if n == 2 else n, range(4)),
        lambda engines: engines.execute("import os\nif me == 2: os._exit(3)\nwhile True: pass"),
        lambda engines: engines.push({"x": Deadly()}),
        lambda engines: engines.pull("me", targets=[0, 1, 3]) and engines.apply_sync(dies(2, lambda: os._exit(3))),
    ],
    ids=["map", "execute", "push", "pull"],
)
def test_every_kind_of_call_reports_a_loss(engines, call):
    with pytest.raises(
        Problem, match=r"exited with status 3\. (It has|They have) been restarted; (its|their) variables"
    ):
        call(engines)
    assert answers(engines)


class Deadly:
    """Ends the engine that unpacks it."""

    def __reduce__(self):
        return os._exit, (3,)


def test_an_engine_may_die_twice_and_all_may_die_at_once(engines):
    for _ in range(2):
        with pytest.raises(Problem, match="engine 0 exited with status 1"):
            engines.apply_sync(dies(0, lambda: os._exit(1)))
    with pytest.raises(Problem, match=r"engines 0, 1, 2 and 3 exited with status 5\. They have been restarted; their"):
        engines.apply_sync(lambda: os._exit(5))
    assert answers(engines)


def test_an_engine_that_died_while_idle_is_reported_in_one_line_at_the_next_call(engines, capsys):
    os.kill(engines.apply_sync(os.getpid)[3], signal.SIGKILL)
    wait_until(lambda: engines._losses, "the loss is not noticed")
    assert engines.apply_sync(lambda: 1) == [1] * 4
    report = (
        "Since the last call: engine 3 was killed (SIGKILL: out of memory, or killed by hand). It has been restarted;"
    )
    assert capsys.readouterr().out == f"{report} its variables are gone.\n"
    assert engines.apply_sync(lambda: 1) == [1] * 4
    assert capsys.readouterr().out == ""


@pytest.mark.long
def test_engines_that_ignore_the_interrupt_after_a_loss_are_replaced_too(engines):
    def run():
        if get_ipython().kernel.engine_id == 1:
            time.sleep(0.5)
            os._exit(3)
        deaf() if get_ipython().kernel.engine_id == 3 else spin()

    with pytest.raises(Problem) as problem:
        engines.apply_sync(run)
    assert str(problem.value) == (
        "The call stopped: engine 1 exited with status 3 and engine 3 did not respond to the interrupt and was killed."
        " They have been restarted; their variables are gone."
    )
    assert engines.apply_sync(read_me) == [0, None, 2, None]


@pytest.mark.parametrize("what", [deaf, blocked_in_c, paused])
def test_the_interrupt_button_stops_what_an_engine_is_blocked_in(engines, what):
    def run():
        what() if get_ipython().kernel.engine_id == 1 else spin()

    interrupt_after(0.7)
    # the others too may respond too late, on a machine with much other work
    killed = r"engines? (?=[0-9, and]*\b1\b)[0-9, and]*did not respond to the interrupt and w(as|ere) killed"
    with pytest.raises(Interrupted, match=rf"^Interrupted: ({killed}|the engines have stopped)"):
        engines.apply_sync(run)
    assert answers(engines)


def test_the_interrupt_button_stops_the_engines_of_a_cell_that_waits_in_its_own_loop(engines):
    interrupt_after(0.7)
    with pytest.raises(Interrupted, match=r"^Interrupted: the engines have stopped too\.$"), engines.answering():
        result = engines.map_async(lambda _: spin(), range(4))
        while not result.wait(0.1):
            pass
    assert result.done()
    assert answers(engines)


def test_an_interrupt_never_hits_a_later_call(engines):
    for _ in range(3):
        interrupt_after(0.2)
        with pytest.raises(KeyboardInterrupt):
            engines.apply_sync(spin)
        for _ in range(20):
            assert engines.apply_sync(lambda: 1) == [1] * 4


def test_an_engine_that_is_interrupted_at_any_moment_still_answers(engines):
    result = [engines.apply_async(lambda: sum(range(1000))) for _ in range(200)]
    while not all(each.done() for each in result):
        engines.interrupt(range(4))
    assert answers(engines)
    assert engines.take_losses() == []


def test_restart_replaces_the_given_ranks_and_counts_as_no_loss(engines):
    before = engines.apply_sync(os.getpid)
    busy = engines.apply_async(deaf)
    engines.restart([0, 2])
    after = engines.apply_async(os.getpid)
    wait_until(
        lambda: busy._children[0].done() and busy._children[2].done(), "the calls of the restarted ranks do not end"
    )
    engines.restart([1, 3])
    assert engines.take_losses() == []
    assert set(before).isdisjoint(engines.apply_sync(os.getpid))
    assert after is not None


@pytest.mark.parametrize("what", [deaf, blocked_in_c])
def test_the_stack_of_an_engine_can_be_read_whatever_blocks_it(engines, what):
    result = engines.apply_async(what)
    for rank in (1, 2):
        wait_until(lambda: what.__name__ in [name for *_, name in engines.read_stack(rank)], "not in the stack")  # noqa: B023
    file, line, function = next(frame for frame in engines.read_stack(2) if frame[2] == what.__name__)
    assert (file, function) == (__file__, what.__name__)
    assert what.__code__.co_firstlineno < line
    engines.restart(range(4))
    assert result.done()


def test_a_stack_is_read_only_when_all_of_it_is_written(engines):
    result = engines.apply_async(blocked_in_c)
    whole = engines.read_stack(0)
    text = (engines.directory / "stack-0").read_text()
    first, _, dump = text.partition("\n")
    _, main, outermost = first.split(maxsplit=2)
    seen = [parse_main_stack(dump[:end].splitlines(), main, outermost) for end in range(len(dump))]
    assert [frames for frames in seen if frames not in (None, whole)] == []
    assert seen[0] is None and seen[-1] == whole
    engines.restart(range(4))
    assert result.done()


def test_an_engine_that_cannot_start_again_is_given_up_and_reported(engines):
    connection = engines.directory / "profile" / "security" / "ipcontroller-engine.json"
    kept = connection.read_text()
    connection.write_text("not JSON")
    try:
        with pytest.raises(
            Problem,
            match=r"Engine 2 could not be replaced: each of 3 .*\. Run cluster.start\(4\) to start new",
        ):
            engines.apply_sync(dies(2, lambda: os._exit(3)))
        with pytest.raises(Problem, match="could not be replaced"):
            engines.apply_sync(os.getpid)
    finally:
        connection.write_text(kept)


def test_engines_of_a_set_that_failed_are_replaced_by_start(capsys):
    assert answers(cluster.start(4))
    assert "The previous engines had failed." in capsys.readouterr().out


@pytest.mark.long
def test_the_last_of_eight_may_die():
    engines = cluster.start(8)
    with pytest.raises(Problem, match="engine 7 exited with status 3"):
        engines.apply_sync(dies(7, lambda: os._exit(3)))
    assert answers(engines)
    cluster.stop()


@pytest.mark.long
def test_px_stops_with_the_same_report_and_without_a_traceback(tmp_path):
    kernel = NotebookKernel(tmp_path)
    try:
        kernel.start_engines(3)
        dead = kernel.all_processes()
        output = kernel.run(
            "%%px\nimport os\nif get_ipython().kernel.engine_id == 1: os._exit(4)\nprint('here')\nwhile True: pass"
        )
        assert sorted(output) == [
            ("display_data", "[stdout:0] here\n"),
            ("display_data", "[stdout:2] here\n"),
            (
                "error",
                "The call stopped: engine 1 exited with status 4. It has been restarted; its variables are gone.",
            ),
        ]
        assert not all(map(is_running, dead))
        threading.Timer(1, kernel.manager.interrupt_kernel).start()
        *_, (kind, text) = kernel.run(
            "%%px\n"
            "while get_ipython().kernel.engine_id == 2:\n"
            "    try: import time; time.sleep(1)\n"
            "    except BaseException: pass"
        )
        assert kind == "error"
        assert text.startswith("Interrupted: engine 2 did not respond to the interrupt and was killed. It has")
        assert sorted(text for _, text in kernel.run("%px print(1)")) == [f"[stdout:{rank}] 1\n" for rank in range(3)]
    finally:
        kernel.close()
