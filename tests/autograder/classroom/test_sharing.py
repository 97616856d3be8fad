"""Students of a real Hub share one machine: engines in turn, memory within limits, kernels on sockets of their own."""

import threading

import pytest

from autograder.examination.control_groups import ControlGroup
from autograder.testing.classroom import Student, serving
from autograder.testing.kernels import wait_until

pytestmark = pytest.mark.long
LIMITS = "[limits]\nmemory = 1200\nengines = 4\nengines_per_student = 4"
START = "from course import cluster\nengines = cluster.start(4)\nprint(engines.apply_sync(lambda: 1))"


@pytest.fixture(scope="module")
def students(tmp_path_factory):
    """Two students with running servers."""
    lines = ["ada,ada-12345678,,", "ben,ben-12345678,,"]
    with serving(tmp_path_factory.mktemp("sharing") / "class", lines, LIMITS) as classroom:
        students = [Student(classroom.url, line.split(",")[0]) for line in lines]
        for student, line in zip(students, lines, strict=True):
            student.log_in(line.split(",")[1])
            student.start()
        yield students
    ControlGroup.remove_abandoned()
    assert list(ControlGroup.find_abandoned()) == []


def test_engines_are_lent_in_turn_and_a_line_says_who_waits(students):
    ada, ben = students
    assert "[1, 1, 1, 1]" in ada.run(START)
    refused = ada.run("cluster.start(5)")
    assert "This server lends each student at most 4 engines. Ask for no more than 4." in refused
    assert "[1, 1, 1, 1]" in ada.run(START)
    answer = []
    waiting = threading.Thread(target=lambda: answer.append(ben.run(START)))
    waiting.start()
    waiting.join(5)
    assert not answer
    ada.ask("DELETE", f"{ada.server}/api/kernels/{ada.kernel}")
    ada.kernel = None
    waiting.join(120)
    assert "Waiting for engines: number 1 in the queue. This server runs 4 engines at once" in answer[0]
    assert "[1, 1, 1, 1]" in answer[0]
    assert "stopped" in ben.run("cluster.stop()")


def test_who_needs_too_much_memory_loses_an_engine_and_nothing_else(students):
    ada, ben = students
    assert ben.run("kept = 5") == ""
    assert "[1, 1, 1, 1]" in ada.run(START + "\nkept = 7")
    lost = ada.run("import numpy\nengines.apply_sync(lambda: len(numpy.ones(10**9)))")
    assert "killed (SIGKILL: out of memory" in lost, lost
    assert ada.run("print(kept)") == "7\n"
    assert ben.run("print(kept)") == "5\n"
    ada.run("cluster.stop()")


def test_kernels_and_engines_have_no_tcp_port_on_which_their_messages_travel(students):
    ada, _ = students
    assert "[1, 1, 1, 1]" in ada.run(START)
    files = ada.run("import glob\nprint(len(glob.glob('/tmp/jupyter/kernel-*-ipc-*')))")
    assert int(files) >= 5
    ports = ada.run(
        "import psutil\n"
        "tree = [psutil.Process(), *psutil.Process().children(recursive=True)]\n"
        "print([[c.laddr.port for c in each.net_connections('tcp') if c.status == 'LISTEN'] for each in tree[1:]])\n"
    )
    assert set(ports) <= set("[], \n"), ports
    ada.run("cluster.stop()")


def test_the_group_of_a_server_goes_with_it(students):
    _, ben = students
    (folder, *_) = [ControlGroup.ROOT / part for part in ControlGroup.list_hierarchies()]
    assert len(list(folder.glob("*-ben"))) == 1
    ben.stop()
    wait_until(lambda: not list(folder.glob("*-ben")), "the group is left")
