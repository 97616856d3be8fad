"""What the supervisor starts: the warm process, and controllers and engines, forked from it or as programs.

A warm process imports what every engine imports first, once, and is forked for each: an engine is there in a fraction
of a second and shares the memory. Its rules: it imports and never computes (one parallel operation here, and the first
in every engine hangs), has one thread, touches no GPU, and imports nothing of the student's or of the course. It is
run by file name, as `warm` with a socket to the supervisor as standard input, or as `controller` or `engine` with
ipyparallel's arguments; as `rank` it is an engine that mpiexec started.

One JSON object a message: the supervisor's `fork` requests in, `{"started": KEY, "pid"}` or `{"refused": KEY}` out.
"""

import faulthandler
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import sys
import threading
import time
from contextlib import nullcontext, suppress
from pathlib import Path
from types import SimpleNamespace

supervisor = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("supervisor.py"))))

IMPORTS = [
    "ipyparallel.controller.app",  # first, so that the controller comes up while the rest is imported
    "ipyparallel.engine.app",
    "ipykernel.debugger",
    "cloudpickle",
    "numpy",
    "torch",
    "torch._dynamo",  # the first optimizer imports it, which takes as long as torch itself
]
if os.environ.get("COURSE_WARM_TORCH") == "no":  # as grading says where no cell of a notebook names it
    IMPORTS = [name for name in IMPORTS if not name.startswith("torch")]


class Warm:
    """Imports, and forks what is asked for, until the supervisor ends.

    connection: the socket to the supervisor.
    """

    def __init__(self, connection):
        self.connection = connection
        self.supervisor = os.getppid()
        self.waiting = []  # requests for which not all is imported

    def serve(self):
        gc.disable()  # imports take a third less time, and pages that no collection touches stay shared
        for name in IMPORTS:
            with suppress(Exception) if name.startswith("torch") else nullcontext():  # engines do without torch
                importlib.import_module(name)
            self.receive(socket.MSG_DONTWAIT)
            self.fork_all("controller")
        while True:
            self.fork_all("controller", "engine")
            self.receive()

    def receive(self, *flags):
        """Take a request, or with MSG_DONTWAIT all that have come."""
        with suppress(BlockingIOError):
            while True:
                message = self.connection.recv(1 << 20, *flags)
                if not message:
                    sys.exit()  # the supervisor has ended
                self.waiting.append(json.loads(message))
                if not flags:
                    return

    def fork_all(self, *roles):
        """Fork what waits for one of these roles."""
        for request in [each for each in self.waiting if each["fork"][0] in roles]:
            self.waiting.remove(request)
            self.fork(request)

    def fork(self, request):
        """Fork a process whose parent is the supervisor: that of the one in the middle, which ends at once."""
        gc.freeze()
        middle = self.forked(request)
        if middle:
            os.waitpid(middle, 0)
        elif middle == 0:
            middle = os.getpid()
            if pid := self.forked(request):
                self.tell(started=request["key"], pid=pid)
            if pid != 0:
                os._exit(0)
            while os.getppid() == middle:
                time.sleep(0.0005)
            self.connection.close()
            become(request, self.supervisor)

    def forked(self, request):
        """os.fork, or None, said to the supervisor, where it is refused."""
        try:
            return os.fork()
        except OSError:
            self.tell(refused=request["key"])
            return None

    def tell(self, **message):
        self.connection.send(json.dumps(message).encode())


def become(request, parent):
    """Be what was asked for; does not return."""
    supervisor.settle(parent, request["cwd"], request["output"])
    os.environ.clear()
    os.environ.update(request["env"])
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()  # Python's own generator sees to itself
    gc.enable()
    role, *arguments = request["fork"]
    ROLES[role](arguments)
    sys.exit()


def controller(arguments):
    """Be ipyparallel's controller, whose helper processes die with it however it ends (Linux)."""
    from ipyparallel.controller import app

    forker = None

    def before():
        nonlocal forker
        forker = os.getpid()

    os.register_at_fork(before=before, after_in_child=lambda: supervisor.die_with(forker))
    app.main(arguments)


def engine(arguments):
    """Be an ipyparallel engine; the first argument is its rank."""
    rank, *arguments = arguments
    see_one_gpu(int(rank))
    register_stack(rank)

    from ipykernel import kernelbase
    from ipyparallel import serialize
    from ipyparallel.engine import app

    kernelbase.default_int_handler = interrupt
    serialize.use_cloudpickle()
    app.main([f"--IPEngine.id={rank}", *arguments])


def rank(arguments):
    """Be an MPI rank: an engine, and beside it this process, which notes how that ended and then ends mpiexec.

    MPI cannot go on without a rank; so all end at once, and what is noted is who was the first.
    """
    rank = os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"]
    launcher, beside = os.getppid(), os.getpid()
    supervisor.die_with(launcher)
    pid = os.fork()
    if not pid:
        supervisor.die_with(beside)
        engine([rank, "--mpi", *arguments])
        return
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    note = Path(os.environ[supervisor.MARK], f"ended-{rank}")
    (unfinished := note.with_name(f".{note.name}")).write_text(str(status))
    unfinished.rename(note)  # at once: it may be read at any moment, and this process killed
    os.kill(launcher, signal.SIGKILL)


def interrupt(_number, frame):
    """Raise KeyboardInterrupt in what the student's code does, and nowhere else: there the answer would be lost."""
    from ipyparallel.engine.kernel import IPythonParallelKernel
    from IPython.core.interactiveshell import InteractiveShell

    runs_code = IPythonParallelKernel.do_apply.__code__, InteractiveShell.run_code.__code__
    called = None
    while frame and frame.f_code not in runs_code:
        called, frame = frame, frame.f_back
    if frame and called and called.f_code.co_name == "<module>":
        raise KeyboardInterrupt


def see_one_gpu(rank):
    """Of the GPUs that the environment lists, see that of this rank, modulo their number."""
    if gpus := os.environ.get("CUDA_VISIBLE_DEVICES"):
        each = gpus.split(",")
        os.environ["CUDA_VISIBLE_DEVICES"] = each[rank % len(each)]


def register_stack(rank):
    """On SIGUSR1 write every thread's stack to a file of the engines' directory, whatever the engine is doing.

    Its first line has the pid, the main thread as faulthandler will name it, and the file and function that end its
    stack.
    """
    outermost = sys._getframe()
    while outermost.f_back:
        outermost = outermost.f_back
    code = outermost.f_code
    file = Path(os.environ[supervisor.MARK], f"stack-{rank}").open("w")  # noqa: SIM115 (stays open)
    file.write(f"{os.getpid()} 0x{threading.get_ident():016x} {code.co_filename} {code.co_name}\n")
    file.flush()
    faulthandler.register(signal.SIGUSR1, file=file, all_threads=True, chain=False)


ROLES = {"controller": controller, "engine": engine, "rank": rank}

if __name__ == "__main__":
    role, *arguments = sys.argv[1:]
    if role == "warm":
        Warm(socket.socket(fileno=os.dup(0))).serve()
    else:
        ROLES[role](arguments)
