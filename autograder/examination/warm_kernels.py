"""The program from which kernels are forked: it has imported what they import, and moves each into its sandbox.

`warm.py` starts it, as an unprivileged user and in a read-only view of this machine that shows no more than a sandbox
does. It imports and never computes, so it has one thread, and it gets to know nothing of a hand-in or a check: only
which namespaces to enter. bubblewrap has made these, with all their walls; the forked process enters them for good and
gives up what it could still do before any student code runs. Uses the standard library, and imports what it is told.

Arguments: names of modules. Standard input: a socket. One message for each kernel: JSON with "number", "arguments",
"environment", "folder", "limits", "engines" and "supervisor", and the descriptors of a process in the sandbox and of a
pipe. The forked process answers with its number, from inside, and waits for one byte from the pipe; where it cannot
enter, it answers with the number and the reason, and ends. Before it becomes the kernel, it forks another process,
which stays beside the kernel and runs the supervisors of its engines: so their prefork processes need not import
anything either. HAND_OVER runs in place of a supervisor, and waits at its end.
"""

import atexit
import contextlib
import ctypes
import gc
import importlib.util
import json
import os
import resource
import runpy
import signal
import socket
import struct
import sys

HAND_OVER = """
import json, os, socket, sys
connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
connection.connect(__file__.removesuffix(".py"))
socket.send_fds(connection, [json.dumps([sys.argv, dict(os.environ), os.getcwd()]).encode()], [0])
os.close(0)
sys.exit(connection.recv(1) != b"0")
"""
KERNEL = ["ipykernel.kernelapp", "ipykernel.ipkernel", "ipykernel.debugger", "numpy", "cloudpickle", "greenlet"]
ENGINES = ["ipyparallel.controller.app", "ipyparallel.engine.app"]
# user, mount, process, network, IPC, host name and control groups, as `bwrap --unshare-all` has them
NAMESPACES = 0x10000000 | 0x20000 | 0x20000000 | 0x40000000 | 0x8000000 | 0x4000000 | 0x2000000
PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 4, 24, 36, 38
CAPABILITIES = 64  # numbers that a capability may have
CAPABILITY_VERSION = 0x20080522
libc = ctypes.CDLL(None, use_errno=True)


def serve(connection, modules):
    """Import, then fork a kernel for each request until the connection closes."""
    call("prctl", PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    gc.disable()  # pages that no collection touches stay shared
    for name in [*KERNEL, *ENGINES, *modules]:
        with contextlib.suppress(Exception):  # a kernel that needs it will say what is wrong
            importlib.import_module(name)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # a sandbox ends only when somebody has waited for its kernel
    while True:
        message, descriptors, *_ = socket.recv_fds(connection, 1 << 20, 2)
        if not message:
            return
        if os.fork() == 0:
            try:
                request = json.loads(message)
                enter(connection, request, *descriptors)
                offer_engines(request["engines"], request["supervisor"])
                become(request["arguments"], request["environment"], request["folder"])
            except BaseException:
                os._exit(1)
            run_kernel()
        for descriptor in descriptors:
            os.close(descriptor)


def enter(connection, request, room, pipe):
    """Move this process into a sandbox, as a process that student code may run in; returns in a child of it."""
    try:
        call("setns", room, NAMESPACES)
    except OSError as error:
        connection.send(f"{request['number']} {error}".encode())
        os._exit(1)
    if os.fork():  # only children are in the new process namespace
        os._exit(0)
    connection.send(str(request["number"]).encode())
    if not os.read(pipe, 1):
        os._exit(1)
    os.setsid()
    give_up_capabilities()
    connection.close()
    for descriptor in range(3):
        os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
    os.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    for name, limit in request["limits"].items():
        number = resource.RLIM_INFINITY if limit == "unlimited" else limit
        resource.setrlimit(getattr(resource, name), (number, number))
    sys.path[:] = [folder for folder in sys.path if folder]  # `python -c` looks in the present folder too


def give_up_capabilities():
    """Give up all that a process which enters a user namespace is given, for this process and all that it starts."""
    for number in range(CAPABILITIES):
        libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)  # fails for numbers that this Linux does not have
    call("capset", struct.pack("Ii", CAPABILITY_VERSION, 0), bytes(24))
    call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    call("prctl", PR_SET_DUMPABLE, 1, 0, 0, 0)  # otherwise root owns its files in /proc


def become(arguments, environment, folder):
    """Give this process the arguments, the environment and the folder of the program that it becomes."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = arguments
    sys.modules["numpy"].random.seed()  # Python reseeds its own generator
    gc.enable()


def offer_engines(path, supervisor):
    """Fork the process that waits at the socket `path`, and forks a supervisor for each HAND_OVER that connects."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path)
    listener.listen()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if (middle := os.fork()) == 0:
        if os.fork() == 0:  # its parent ends, so it is no child of the kernel
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            while True:
                connection, _ = listener.accept()
                if os.fork() == 0:
                    listener.close()
                    supervise(connection, supervisor)
                connection.close()
        os._exit(0)
    os.waitpid(middle, 0)
    listener.close()


def supervise(connection, path):
    """Run the supervisor, the file `path`, with the socket and the environment that arrive; does not return."""
    message, (given,), *_ = socket.recv_fds(connection, 1 << 20, 1)
    os.dup2(given, 0)
    os.close(given)
    os.setsid()
    become(*json.loads(message))
    program = importlib.util.module_from_spec(specification := importlib.util.spec_from_file_location(path, path))
    specification.loader.exec_module(program)
    program.execute = execute
    program.supervise(uses_prefork="prefork" in sys.argv)
    connection.send(b"0")
    os._exit(0)


def execute(program, arguments, environment):
    """Be `os.execvpe`, but become the prefork process within this one."""
    if arguments[-1] != "prefork":
        os.execvpe(program, arguments, environment)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    become(arguments[2:], dict(environment), ".")
    status = 0
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:  # also that of an engine, which was forked there
        status = end.code or 0
    atexit._run_exitfuncs()
    os._exit(status if isinstance(status, int) else 1)


def run_kernel():
    """Run an IPython kernel, as `python -m ipykernel_launcher` does; does not return."""
    from ipykernel import kernelapp

    kernelapp.launch_new_instance()
    sys.exit()


def call(name, *arguments):
    """Call one of Linux's functions; raises OSError where it fails."""
    if getattr(libc, name)(*arguments):
        raise OSError(ctypes.get_errno(), name)


if __name__ == "__main__":
    serve(socket.socket(fileno=os.dup(0)), sys.argv[1:])
