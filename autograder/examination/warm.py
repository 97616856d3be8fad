"""Kernels that start with their frameworks imported: they are forked from one warm process and moved into a sandbox.

To import TensorFlow, Keras and PyTorch takes a kernel eight seconds of processor time, mostly more than a hand-in does
with them. The warm process (`warm_kernels.py`) imports them once for all hand-ins that one Examiner examines. Each
sandbox is made by bubblewrap as without it. Only a grader who is root has a warm process: its user may then enter the
sandboxes that the same user owns, and it sees the machine read-only. Starts and asks that process and touches nothing
else.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import psutil

from autograder.examination import bubblewrap, warm_kernels
from autograder.examination.clock import PATIENCE
from course.engines import supervisor

SECONDS = 60  # to import everything
PROGRAM = Path(warm_kernels.__file__)
ENGINES = f"{bubblewrap.RUN}/engines"  # in a sandbox: the socket for HAND_OVER
FILES = {f"{ENGINES}.py": warm_kernels.HAND_OVER.encode()}  # which such a sandbox has
WAIT = ["sh", "-c", "echo && exec sleep infinity"]  # what bubblewrap runs in a sandbox that a kernel will enter
SETTINGS = {"TF_CPP_MIN_LOG_LEVEL": "2"}  # TensorFlow reads it once, see `course.keras`

process = None  # this process's WarmProcess


def prepare(modules):
    """Have a warm process with these modules imported, if this grader can have one.

    It keeps what earlier hand-ins needed: hand-ins of several labs in turn would make it import again and again.
    """
    global process
    if os.geteuid() != 0:
        return
    if process is not None:
        # tf_keras is TensorFlow's Keras only where TensorFlow was imported for it, and then for nothing else.
        if ("tf_keras" in modules) == ("tf_keras" in process.modules):
            modules = [*process.modules, *(name for name in modules if name not in process.modules)]
        if process.modules == modules and process.is_alive():
            return
        process.close()
    process = WarmProcess(modules)


class WarmProcess:
    """The process that kernels are forked from. modules: what it has imported. user: whose sandboxes it may enter."""

    def __init__(self, modules):
        self.modules, self.user, self.number = modules, bubblewrap.USERS[os.getpid() % len(bubblewrap.USERS)], 0
        self.connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.connection.settimeout(SECONDS * PATIENCE)
        legacy = {"TF_USE_LEGACY_KERAS": "1"} if "tf_keras" in modules else {}
        with theirs:
            self.process = subprocess.Popen(
                bubblewrap.show_alike(
                    [sys.executable, "-c", Path(warm_kernels.__file__).read_text(), *modules],
                    self.user,
                    SETTINGS | legacy,
                ),
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def is_alive(self):
        """Whether it runs. Only the process that started it can tell."""
        return self.process.poll() is None

    def fork(self, pid, arguments, environment):
        """Fork a process into the sandbox of process `pid`, to be a kernel; returns its pid and a pipe.

        It waits until a byte is written to the pipe. Raises OSError if that process cannot be entered.
        """
        self.number += 1
        request = {
            "number": f"{os.getpid()}-{self.number}",
            "arguments": arguments,
            "environment": environment | {"COURSE_SUPERVISOR": f"{ENGINES}.py"},
            "folder": bubblewrap.STUDENT_HOME,
            "limits": bubblewrap.list_limits(),
            "engines": ENGINES,
            "supervisor": supervisor.__file__,
        }
        theirs, ours = os.pipe()
        room = os.pidfd_open(pid)
        try:
            socket.send_fds(self.connection, [json.dumps(request).encode()], [room, theirs])
            return self.receive(request["number"]), ours
        except OSError:
            os.close(ours)
            raise
        finally:
            os.close(room)
            os.close(theirs)

    def receive(self, number):
        """Return the pid of the process that answers with `number`; one of an earlier hand-in may still answer.

        Raises OSError if it could not enter its sandbox.
        """
        while True:
            answer, ancillary, *_ = self.connection.recvmsg(1024, socket.CMSG_SPACE(12))
            if not answer:
                raise OSError("the warm process has ended")
            answered, _, reason = answer.decode().partition(" ")
            if answered == number and reason:
                raise OSError(f"the sandbox could not be entered: {reason}")
            if answered == number:
                ((_, _, credentials),) = ancillary
                return int.from_bytes(credentials[:4], sys.byteorder)

    def close(self):
        """End the process. It also ends by itself where the connection closes because this process has ended."""
        self.connection.close()
        with contextlib.suppress(psutil.NoSuchProcess):
            for child in psutil.Process(self.process.pid).children():
                child.kill()  # bubblewrap, which gave its rights away, cannot end what runs as another user
        self.process.kill()
        self.process.wait()
