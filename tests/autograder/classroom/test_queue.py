"""The engine queue: real sockets, the course's own client, and clients that mean harm."""

import contextlib
import json
import socket
import threading

import hypothesis
import pytest
from hypothesis import strategies as st

from autograder.classroom import queue
from autograder.classroom.queue import EngineQueue, Ledger
from autograder.testing.kernels import PATIENCE, NotebookKernel, wait_until
from course.engines import lease
from course.engines.lease import EngineLease
from course.errors import Problem


@pytest.fixture
def served(tmp_path):
    """A queue of 8 engines, at most 4 for each student."""
    served = EngineQueue(tmp_path / "queue", engines=8, per_student=4)
    served.start()
    yield served
    served.stop()


def path(served, student):
    return str(served.open(student) / queue.SOCKET)


class Student:
    """A student who asks for engines, in a thread."""

    def __init__(self, served, name, engines=4):
        self.sentences = []
        self.lease = EngineLease(path(served, name), engines, self.sentences.append)
        self.has_engines = threading.Event()
        self.problem = None
        self.thread = threading.Thread(target=self.ask, daemon=True)
        self.thread.start()

    def ask(self):
        try:
            self.lease.acquire()
            self.has_engines.set()
        except (Problem, RuntimeError) as problem:
            self.problem = problem

    def read_last(self):
        """The last sentence about the wait."""
        return next((each for each in reversed(self.sentences) if each), None)


def wait_for_place(student, place):
    wait_until(lambda: f"number {place} in the queue" in (student.read_last() or ""), "the place was not said")


def connect(served, name):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(PATIENCE)
    connection.connect(path(served, name))
    return connection


def test_engines_are_lent_in_the_order_of_the_requests_and_a_sentence_says_the_place(served):
    first, second = Student(served, "a"), Student(served, "b")
    assert first.has_engines.wait(PATIENCE) and second.has_engines.wait(PATIENCE)
    third = Student(served, "c")
    wait_for_place(third, 1)
    fourth = Student(served, "d")
    wait_for_place(fourth, 2)
    assert fourth.read_last() == (
        "Waiting for engines: number 2 in the queue. This server runs 8 engines at once for everybody."
    )
    wait_until(lambda: first.lease.is_wanted, "whoever has engines is told that others wait")
    second.lease.release()
    assert third.has_engines.wait(PATIENCE)
    wait_for_place(fourth, 1)
    assert not fourth.has_engines.is_set()
    first.lease.release()
    assert fourth.has_engines.wait(PATIENCE)
    wait_until(lambda: third.lease.is_wanted is False, "nobody waits any more")
    assert third.sentences[-1] is None


def test_one_student_cannot_take_all_and_a_student_without_engines_comes_first(served):
    mine, more = Student(served, "a", 3), Student(served, "b", 4)
    assert mine.has_engines.wait(PATIENCE) and more.has_engines.wait(PATIENCE)
    again = Student(served, "a", 2)
    wait_until(lambda: again.read_last(), "nothing was said")
    assert again.read_last().startswith("Your other notebooks use 3 engines, and you may have 4 at once.")
    second = Student(served, "a", 1)  # would fit beside the student's own engines, but another student has none
    assert second.has_engines.wait(PATIENCE)
    third = Student(served, "c", 1)
    wait_for_place(third, 1)
    more.lease.release()
    assert third.has_engines.wait(PATIENCE)
    assert not again.has_engines.is_set()
    mine.lease.release()
    assert again.has_engines.wait(PATIENCE)


def test_a_request_above_the_limit_is_refused_in_one_sentence(served):
    greedy = Student(served, "a", 5)
    greedy.thread.join(PATIENCE)
    assert str(greedy.problem) == "This server lends each student at most 4 engines. Ask for no more than 4."


@pytest.mark.parametrize("n", [10**9, -1, 0, 2.5, "4", None, [4], True])
def test_a_hostile_number_is_refused(served, n):
    connection = connect(served, "hostile")
    connection.sendall(json.dumps({"engines": n}).encode() + b"\n")
    assert "refused" in json.loads(connection.makefile().readline())
    assert served.ledger.requests == []


@pytest.mark.parametrize(
    "text", [b"nonsense\n", b"[]\n", b"{}\n", b"7\n", b"x" * 100_000, b"[" * 900 + b"\n", b"\xff\n"]
)
def test_nonsense_ends_the_connection_and_nothing_else(served, text):
    connection = connect(served, "hostile")
    connection.sendall(text)
    with contextlib.suppress(ConnectionResetError):
        assert connection.recv(1000) == b""
    assert served.ledger.requests == []
    assert Student(served, "good").has_engines.wait(PATIENCE)


def test_silent_and_flooding_students_hurt_nobody_else(served, monkeypatch):
    monkeypatch.setattr(queue, "SECONDS_TO_ASK", 1)
    silent = [connect(served, "silent") for _ in range(queue.MOST_CONNECTIONS)]
    ending = threading.Event()

    def flood():
        while not ending.is_set():
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(1)
                try:
                    connection.connect(path(served, "flood"))
                    connection.sendall(b'{"engines": 1}\n{"engines": 1}\n' * 20)
                except OSError:
                    pass

    floods = [threading.Thread(target=flood, daemon=True) for _ in range(4)]
    for each in floods:
        each.start()
    try:
        good = Student(served, "good")
        assert good.has_engines.wait(PATIENCE)
        for connection in silent:
            assert connection.recv(100) == b""  # closed, since nothing was asked
    finally:
        ending.set()
        for each in floods:
            each.join(PATIENCE)
    good.lease.release()
    wait_until(lambda: served.ledger.requests == [], "leases are left")


def test_a_connection_that_cannot_be_accepted_does_not_end_the_queue(served, monkeypatch):
    failures = [OSError(24, "Too many open files")]
    accept = served.loop.sock_accept

    async def fail_once(listener):
        if failures:
            raise failures.pop()
        return await accept(listener)

    monkeypatch.setattr(served.loop, "sock_accept", fail_once)
    monkeypatch.setattr(queue, "SECONDS_TO_RECOVER", 0)
    assert Student(served, "good").has_engines.wait(PATIENCE)
    assert not failures


def test_a_client_that_does_not_read_loses_its_place(served):
    deaf = connect(served, "deaf")
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    deaf.sendall(b'{"engines": 4}\n')
    wait_until(lambda: served.ledger.requests, "no request")
    (request,) = served.ledger.requests

    def tell_much():
        for number in range(50_000):
            request.tell(wanted=number)

    served.loop.call_soon_threadsafe(tell_much)
    wait_until(lambda: served.ledger.requests == [], "the lease is held")


def test_after_the_queue_has_started_again_the_same_engines_are_asked_for_again(tmp_path, monkeypatch):
    monkeypatch.setattr(lease, "SECONDS_BETWEEN_TRIES", 0.1)
    served = EngineQueue(tmp_path / "queue", 8, 4)
    served.start()
    student = Student(served, "a")
    assert student.has_engines.wait(PATIENCE)
    served.stop()
    again = EngineQueue(tmp_path / "queue", 8, 4)
    again.start()
    try:
        wait_until(lambda: again.ledger.count_lent() == 4, "the engines are not counted")
        student.lease.release()
        wait_until(lambda: again.ledger.requests == [], "the lease is held")
    finally:
        again.stop()


def test_a_notebook_that_has_waited_long_goes_on_waiting_when_the_queue_starts_again(tmp_path, monkeypatch):
    monkeypatch.setattr(lease, "SECONDS_BETWEEN_TRIES", 0.1)
    monkeypatch.setattr(lease, "SECONDS_TO_ANSWER", 1)
    served = EngineQueue(tmp_path / "queue", 4, 4)
    served.start()
    have = Student(served, "a")
    assert have.has_engines.wait(PATIENCE)
    waiting = Student(served, "b")
    wait_for_place(waiting, 1)
    waiting.thread.join(1.5)  # longer than it waits for a queue that does not answer
    served.stop()
    again = EngineQueue(tmp_path / "queue", 4, 4)
    again.start()
    try:
        wait_until(lambda: len(again.ledger.requests) == 2 or waiting.problem, "they do not ask again")
        assert waiting.problem is None
    finally:
        have.lease.release()
        waiting.lease.release()
        again.stop()


def test_without_an_answer_of_the_queue_the_problem_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(lease, "SECONDS_TO_ANSWER", 0.1)
    with pytest.raises(Problem, match="queue for engines does not answer"):
        EngineLease(str(tmp_path / "nothing"), 4, lambda _: None).acquire()


def test_who_stops_waiting_leaves_the_queue(served):
    have = [Student(served, name) for name in "ab"]
    assert all(each.has_engines.wait(PATIENCE) for each in have)
    waiting = Student(served, "c")
    wait_for_place(waiting, 1)
    waiting.lease.release()
    waiting.thread.join(PATIENCE)
    assert isinstance(waiting.problem, RuntimeError)
    wait_until(lambda: len(served.ledger.requests) == 2, "the request is left")


def test_the_path_of_a_folder_may_be_long_and_is_made_of_no_name(tmp_path):
    deep = tmp_path / ("x" * 100) / ("y" * 100)
    served = EngineQueue(deep, 8, 4)
    served.start()
    try:
        folder = served.open("../../Student with a name")
        assert folder.parent == deep and deep.stat().st_mode & 0o777 == 0o700
        assert (folder / queue.SOCKET).is_socket()
    finally:
        served.stop()


@hypothesis.given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 4), st.booleans()), max_size=40), st.integers(4, 9)
)
def test_the_limits_hold_and_nobody_waits_while_the_first_could_start(steps, engines):
    ledger = Ledger(engines, 4)
    for student, n, ends in steps:
        if ends and ledger.requests:
            ledger.end(ledger.requests[n % len(ledger.requests)])
        else:
            ledger.ask(student, n, lambda message: None)
        assert ledger.count_lent() <= engines
        assert all(ledger.count_lent(each) <= 4 for each in "abcd")
        waiting = ledger.list_waiting()
        assert not waiting or ledger.count_lent() + waiting[0].engines > engines
    while ledger.requests:  # everyone's turn comes
        granted = [each for each in ledger.requests if each.is_granted]
        assert granted
        ledger.end(granted[0])


@pytest.mark.long
def test_a_notebooks_engines_are_lent_and_free_again_after_its_kernel_is_killed(served, tmp_path, monkeypatch):
    monkeypatch.setenv(lease.VARIABLE, path(served, "a"))
    kernel = NotebookKernel(tmp_path / "a")
    monkeypatch.setenv(lease.VARIABLE, path(served, "b"))
    other = NotebookKernel(tmp_path / "b")
    others = Student(served, "c", 4)
    try:
        kernel.start_engines(4)
        assert served.ledger.count_lent() == 8
        timer = threading.Timer(3, kernel.process.kill)
        timer.start()
        output = "".join(text for _, text in other.run("from course import cluster\nengines = cluster.start(4)"))
        assert output.startswith("Waiting for engines: number 1 in the queue."), output
        assert "4 engines ready in" in output
        assert served.ledger.count_lent() == 8
    finally:
        kernel.close()
        other.close()
        others.lease.release()
    wait_until(lambda: served.ledger.requests == [], "leases are left")
