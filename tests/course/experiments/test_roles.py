"""Programs of several processes: what they get, what is printed, and that no process is left in any case."""

import signal
import subprocess
import sys
import time

import psutil
import pytest

from course.errors import Problem
from course.experiments import roles

TALK = """
import socket, sys
role, number, *addresses = sys.argv[1:]
if role == "server":
    listener = socket.create_server(("127.0.0.1", int(addresses[0].rpartition(":")[2])))
    while True:
        listener.accept()[0].sendall(b"hello")
while True:
    try:
        line = socket.create_connection(("127.0.0.1", int(addresses[0].rpartition(":")[2])))
        break
    except ConnectionRefusedError:
        pass
print(role, number, len(set(addresses)), line.recv(5).decode())
print("without an end", end="")
"""


@pytest.fixture
def program(tmp_path):
    """A function that writes a program and returns its path."""
    path = tmp_path / "program.py"

    def write(text):
        path.write_text(text)
        return str(path)

    yield write
    assert not find_processes(str(path))


def find_processes(path):
    """The processes that run the program."""
    return [process for process in psutil.process_iter(["cmdline"]) if path in (process.info["cmdline"] or ())]


def test_every_process_knows_its_role_and_all_addresses_and_servers_are_ended_last(program, capsys):
    printed = roles.run(program(TALK), ["server", "client", "client"], servers=["server"])
    assert printed == {"server 0": [], "client 0": ["client 0 3 hello"], "client 1": ["client 1 3 hello"]}
    assert sorted(capsys.readouterr().out.splitlines()) == [
        "client 0: client 0 3 hello",
        "client 1: client 1 3 hello",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import sys, time; sys.exit('no luck') if sys.argv[1] == 'client' else time.sleep(100)", "no luck"),
        ("import sys, time; time.sleep(100 * (sys.argv[1] == 'client'))", "server 0 .* exit status 0.* no messages"),
        ("import time; time.sleep(100)", "client 0 .* had not ended after 2 seconds"),
    ],
)
def test_a_failure_is_one_problem_and_ends_all_processes(program, text, message):
    with pytest.raises(Problem, match=f"(?s){message}"):
        roles.run(program(text), ["server", "client"], servers=["server"], seconds=2)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupt_or_the_death_of_the_notebook_ends_all_processes(program, how):
    path = program("import time; print('here'); time.sleep(100)")
    code = f"from course.experiments import roles; roles.run({path!r}, ['server', 'client'], ['server'])"
    with subprocess.Popen(
        [sys.executable, "-u", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.readline().endswith(b"here\n")
        process.send_signal(how)
        assert process.wait(30) == -how
    deadline = time.monotonic() + 5
    while find_processes(path) and time.monotonic() < deadline:
        time.sleep(0.1)
