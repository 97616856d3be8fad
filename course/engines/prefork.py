"""The programs that the supervisor starts: the prefork process, controllers and engines.

The prefork process imports, once, what every engine imports first. The controller and the engines are then forked from
it, so an engine starts in a fraction of a second and shares the memory of those imports. The process keeps four rules:
it imports and never computes (after one parallel operation here, the first in every engine would hang), has one thread,
touches no GPU, and imports no code of the student's or of the course.

This file is run by its name, with one of these roles: `prefork`, with a socket to the supervisor as standard input;
`controller` or `engine`, with ipyparallel's arguments; `rank`, an engine that mpiexec started.

Messages on the socket are JSON objects. In: the supervisor's `fork` requests. Out: `{"started": KEY, "pid"}` or
`{"refused": KEY}`.
"""

import faulthandler
import gc
import importlib
import json
import os
import re
import runpy
import signal
import socket
import sys
import threading
import time
from contextlib import nullcontext, suppress
from pathlib import Path
from types import SimpleNamespace

SECONDS_TO_REPLY = 0.1  # for a reply to leave an engine that is about to end
supervisor = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("supervisor.py"))))

IMPORTS = [
    "ipyparallel.controller.app",  # first: the controller starts while the rest is imported
    "ipyparallel.engine.app",
    "ipykernel.debugger",
    "cloudpickle",
    "numpy",
    "torch",
    "torch._dynamo",  # the first optimizer imports it, which takes as long as torch itself
]
if os.environ.get("COURSE_PREFORK_TORCH") == "no":  # set by grading when no cell of the notebook mentions torch
    IMPORTS = [name for name in IMPORTS if not name.startswith("torch")]


class Preforker:
    """Imports, and forks processes on request until the supervisor ends.

    connection: the socket to the supervisor.
    """

    def __init__(self, connection):
        self.connection = connection
        self.supervisor = os.getppid()
        self.waiting = []  # requests that need imports which are not finished

    def serve(self):
        gc.disable()  # imports take a third less time, and pages that no collection touches stay shared
        for name in IMPORTS:
            with suppress(Exception) if name.startswith("torch") else nullcontext():  # engines work without torch
                importlib.import_module(name)
            self.receive(socket.MSG_DONTWAIT)
            self.fork_all("controller")
        while True:
            self.fork_all("controller", "engine")
            self.receive()

    def receive(self, *flags):
        """Receive one request, or with MSG_DONTWAIT all that have arrived."""
        with suppress(BlockingIOError):
            while True:
                message = self.connection.recv(1 << 20, *flags)
                if not message:
                    sys.exit()  # the supervisor has ended
                self.waiting.append(json.loads(message))
                if not flags:
                    return

    def fork_all(self, *roles):
        """Fork the waiting requests for one of these roles."""
        for request in [each for each in self.waiting if each["fork"][0] in roles]:
            self.waiting.remove(request)
            self.fork(request)

    def fork(self, request):
        """Fork a process whose parent becomes the supervisor, because the intermediate process exits immediately."""
        gc.freeze()
        middle = self.try_to_fork(request)
        if middle:
            os.waitpid(middle, 0)
        elif middle == 0:
            middle = os.getpid()
            if pid := self.try_to_fork(request):
                self.send(started=request["key"], pid=pid)
            if pid != 0:
                os._exit(0)
            while os.getppid() == middle:
                time.sleep(0.0005)
            self.connection.close()
            become(request, self.supervisor)

    def try_to_fork(self, request):
        """Return os.fork(), or None, with a message to the supervisor, where the system refuses."""
        try:
            return os.fork()
        except OSError:
            self.send(refused=request["key"])
            return None

    def send(self, **message):
        self.connection.send(json.dumps(message).encode())


def become(request, parent):
    """Turn a process just forked into the requested one; does not return."""
    supervisor.settle(parent, request["cwd"], request["output"])
    os.environ.clear()
    os.environ.update(request["env"])
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()  # Python reseeds its own generator
    gc.enable()
    role, *arguments = request["fork"]
    ROLES[role](arguments)
    sys.exit()


def run_controller(arguments):
    """Run ipyparallel's controller, whose helper processes die with it however it ends (Linux)."""
    from ipyparallel.controller import app
    from ipyparallel.controller.broadcast_scheduler import BroadcastScheduler

    start = BroadcastScheduler.start

    def start_apart(scheduler):
        scheduler.accumulated_replies, scheduler.accumulated_targets = {}, {}
        start(scheduler)

    # ipyparallel 9.2.0 keeps them in the class. Schedulers that are threads of one process, as with --usethreads, then
    # take one another's replies, and a coalescing broadcast never returns.
    BroadcastScheduler.start = start_apart
    make_url = app.IPController.construct_url
    # ipyparallel 9.2.0 names a Unix socket "NAME-1" in the controller and "NAME:1" in clients and engines.
    app.IPController.construct_url = lambda *args: re.sub(r"-(\d+)$", r":\1", make_url(*args))
    forker = None

    def note_forker():
        nonlocal forker
        forker = os.getpid()

    os.register_at_fork(before=note_forker, after_in_child=lambda: supervisor.die_with(forker))
    app.main(arguments)


def run_engine(arguments):
    """Run an ipyparallel engine; the first argument is its rank."""
    rank, *arguments = arguments
    with suppress(OSError):  # Linux: if memory runs out, an engine is easier to replace than a notebook
        Path("/proc/self/oom_score_adj").write_text("500")
    select_gpu(int(rank))
    register_stack(rank)

    from ipykernel import kernelbase
    from ipyparallel import serialize
    from ipyparallel.engine import app
    from ipyparallel.engine.kernel import IPythonParallelKernel

    kernelbase.default_int_handler = interrupt
    IPythonParallelKernel.signal_request = answer_signal
    IPythonParallelKernel.control_msg_types = [*IPythonParallelKernel.control_msg_types, "signal_request"]
    serialize.use_cloudpickle()
    app.main([f"--IPEngine.id={rank}", *arguments])


def run_rank(arguments):
    """Run an MPI rank: an engine, and beside it this process, which records how the engine ended and kills mpiexec.

    MPI cannot go on without a rank, so all ranks end together. The record shows which one ended first.
    """
    rank = os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"]
    launcher, recorder = os.getppid(), os.getpid()
    supervisor.die_with(launcher)
    pid = os.fork()
    if not pid:
        supervisor.die_with(recorder)
        run_engine([rank, "--mpi", *arguments])
        return
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    record = Path(os.environ[supervisor.MARK], f"ended-{rank}")
    (unfinished := record.with_name(f".{record.name}")).write_text(str(status))
    unfinished.rename(record)  # by hand: `write_whole` belongs to the course, which an engine must not import
    os.kill(launcher, signal.SIGKILL)


def answer_signal(kernel, stream, ident, parent):
    """Do what ipyparallel's nanny does for an engine that has one: a client asks for a signal, and gets an answer.

    Runs in the engine's control thread. kernel, stream, ident, parent: those of ipykernel's handlers.
    """
    from ipyparallel import error

    def reply(content):
        kernel.session.send(stream, "signal_reply", content, parent=parent, ident=ident)
        stream.flush()

    try:
        number = parent["content"]["sig"]
        number = getattr(signal, number) if isinstance(number, str) else number
        harmless = 0, signal.SIGCONT, signal.SIGSTOP
        is_deadly = number not in harmless and signal.getsignal(number) == signal.SIG_DFL
        if is_deadly:
            reply({"status": "ok"})
            time.sleep(SECONDS_TO_REPLY)
        os.kill(os.getpid(), number)
    except Exception:
        reply(error.wrap_exception())
    else:
        if not is_deadly:
            reply({"status": "ok"})


def interrupt(_number, frame):
    """Raise KeyboardInterrupt inside the student's code, and nowhere else: elsewhere the engine's answer would be lost.

    _number: of the signal. frame: the interrupted one.
    """
    from ipyparallel.engine.kernel import IPythonParallelKernel
    from IPython.core.interactiveshell import InteractiveShell

    runs_code = IPythonParallelKernel.do_apply.__code__, InteractiveShell.run_code.__code__
    callee = None
    while frame and frame.f_code not in runs_code:
        callee, frame = frame, frame.f_back
    if frame and callee and callee.f_code.co_name == "<module>":
        raise KeyboardInterrupt


def select_gpu(rank):
    """Let this engine see one of the GPUs that the environment lists: number `rank` modulo how many there are."""
    if gpus := os.environ.get("CUDA_VISIBLE_DEVICES"):
        each = gpus.split(",")
        os.environ["CUDA_VISIBLE_DEVICES"] = each[rank % len(each)]


def register_stack(rank):
    """Make SIGUSR1 write every thread's stack to a file in the engines' directory, whatever the engine is doing.

    The file's first line has the pid, the main thread as faulthandler names it, and the file and function of the
    outermost frame of the main thread's stack.
    """
    outermost = sys._getframe()
    while outermost.f_back:
        outermost = outermost.f_back
    code = outermost.f_code
    file = Path(os.environ[supervisor.MARK], f"stack-{rank}").open("w")  # noqa: SIM115 (stays open)
    file.write(f"{os.getpid()} 0x{threading.get_ident():016x} {code.co_filename} {code.co_name}\n")
    file.flush()
    faulthandler.register(signal.SIGUSR1, file=file, all_threads=True, chain=False)


ROLES = {"controller": run_controller, "engine": run_engine, "rank": run_rank}

if __name__ == "__main__":
    role, *arguments = sys.argv[1:]
    if role == "prefork":
        Preforker(socket.socket(fileno=os.dup(0))).serve()
    else:
        ROLES[role](arguments)
