"""The grader stays connected to the kernel that it started, whatever that kernel puts in the place of its sockets."""

import socket
import time
from pathlib import Path

import pytest

from autograder.examination.checks import run_check
from autograder.examination.kernel import Kernel
from autograder.testing.needs import needs_sandbox

# Every connection to the grader drops, and what the grader would connect to again is a link that leads elsewhere.
LEADS = """
import os, socket

for name, there in {links!r}.items():
    os.unlink(f"/run/kernel/s-{{name}}")
    os.symlink(there, f"/run/kernel/s-{{name}}")
for number in os.listdir("/proc/self/fd"):
    try:
        there = socket.socket(fileno=os.dup(int(number)))
        if there.family == socket.AF_UNIX and there.getsockname() and there.getpeername() is not None:
            there.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
"""
NAMES = ("1", "2", "agent")  # shell, iopub, and the agent's line


def count_sockets(kernel):
    """The sockets and connections of a kernel's room that have a name there."""
    return Path(f"/proc/{kernel.room.kernel}/net/unix").read_text().count("/run/kernel/s-")


@needs_sandbox
@pytest.mark.long
def test_a_hand_in_leads_the_grader_neither_to_anothers_sockets_nor_to_one_of_the_machine(tmp_path):
    other = tmp_path / "other"
    with Kernel() as victim, Kernel() as kernel, socket.socket(socket.AF_UNIX) as machines:
        machines.bind(str(other))
        machines.listen()
        machines.settimeout(3)
        before = count_sockets(victim)
        victims = f"/proc/{victim.room.kernel}/root/run/kernel/s-1"
        links = dict(zip(NAMES, (str(other), victims, str(other)), strict=True))
        kernel.run("x = 1", 60)
        kernel.send_request(LEADS.format(links=links))
        with pytest.raises(TimeoutError):
            machines.accept()
        assert count_sockets(victim) == before
        kernel.send_request("x = 2")  # through the socket that was there first
        time.sleep(1)
        assert run_check("assert x == 2", victim, 60) == "`x` is not defined: its cell is empty, was deleted or " + (
            "raised an error."
        )
