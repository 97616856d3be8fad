"""One student's kernel, driven from outside: start, run a cell, ask for a value, end it with all it started.

Whatever the code inside does (hang, die, print without end, ignore signals), every call here returns within its time
or raises `TimeUp` or `KernelLost`. Needs jupyter_client and the texts of `values.py` and `agent.py`, which it puts into
the kernel; knows nothing of checks or points.
"""

import ast
import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import psutil
import zmq
from jupyter_client.manager import KernelManager
from nbformat.v4 import new_output, output_from_msg

from autograder import values

START_SECONDS = 60
GRACE_SECONDS = 3  # between SIGINT and SIGKILL
MAX_OUTPUT = 500_000  # characters a cell may leave behind
# As many kernels as there are cores are under way at once; threads of several that wait for each other in turn made
# training with small matrices five times as slow.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

HERE = Path(__file__).parent
INSTALL = """
def _install():
    import sys, types
    for name, text in {texts}:
        module = types.ModuleType(name)
        sys.modules[name] = module
        if name == "autograder":
            module.__path__ = []
        exec(compile(text, name, "exec"), module.__dict__)
_install()
del _install
"""


class TimeUp(Exception):
    """The code did not finish in its time and was interrupted; the kernel goes on."""


class KernelLost(Exception):
    """The kernel ended, or had to be ended, and with it everything that the notebook had defined."""


class Kernel:
    """A kernel in the folder `cwd`; a context manager that leaves no process behind."""

    def __init__(self, cwd):
        self.cwd = cwd
        self.started = []  # processes seen below the kernel, to be ended with it

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        """Start the kernel and put the agent into it."""
        self.context = zmq.Context()
        self.context.setsockopt(zmq.MAXMSGSIZE, 3 * values.MAX_BYTES)
        # sockets in a folder of the kernel's own: ports would be shared with whatever else starts on this machine
        self.sockets = tempfile.TemporaryDirectory(prefix="kernel-")
        self.manager = KernelManager(
            kernel_name="python3",
            transport="ipc",
            ip=f"{self.sockets.name}/s",
            connection_file=f"{self.sockets.name}/connection.json",
        )
        self.manager.start_kernel(
            cwd=str(self.cwd),
            env=ONE_THREAD | os.environ,
            extra_arguments=[
                "--HistoryManager.hist_file=:memory:",
                "--IPKernelApp.log_level=CRITICAL",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.client = self.manager.client(context=self.context)
        self.client.start_channels(hb=False)
        try:
            self.client.wait_for_ready(timeout=START_SECONDS)
        except RuntimeError as error:
            self.stop()
            raise KernelLost("the kernel did not start") from error
        texts = [("autograder", "")]
        texts += [(f"autograder.{name}", (HERE / f"{name}.py").read_text()) for name in ("values", "agent")]
        self.execute(INSTALL.format(texts=repr(texts)), time.monotonic() + START_SECONDS, store_history=False)

    def stop(self):
        """End the kernel and every process below it, without waiting for anyone's consent."""
        self.note_children()
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        # engines end with their kernel and clear up after themselves, if they are given a moment
        _, left = psutil.wait_procs(self.started, timeout=GRACE_SECONDS)
        for process in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(left, timeout=GRACE_SECONDS)
        self.started.clear()
        self.context.destroy(linger=0)
        self.sockets.cleanup()

    def note_children(self):
        """Remember what runs below the kernel while the kernel can still tell."""
        try:
            below = psutil.Process(self.manager.provisioner.pid).children(recursive=True)
        except (psutil.Error, AttributeError, TypeError):
            below = []
        self.started.extend(process for process in below if process not in self.started)

    def run(self, source, seconds, cell_id=None):
        """Run a cell: its outputs as notebook outputs, errors among them; `cell_id` is told as JupyterLab tells it.

        Raises TimeUp after `seconds` and KernelLost; both carry the outputs so far as `.outputs`.
        """
        outputs = Outputs()
        try:
            self.execute(source, time.monotonic() + seconds, outputs=outputs, cell_id=cell_id)
        except (TimeUp, KernelLost) as error:
            error.outputs = outputs.list
            raise
        return outputs.list

    def ask(self, question, deadline, answer_callback):
        """The agent's answer (text) to `question` (text); `answer_callback` does so for a call back into the check."""
        expression = f"__import__('autograder.agent', fromlist=['answer']).answer({question!r})"
        content = self.execute(
            "",
            deadline,
            answer_callback=answer_callback,
            silent=True,
            store_history=False,
            user_expressions={"answer": expression},
            allow_stdin=True,
        )
        reply = content.get("user_expressions", {}).get("answer", {})
        shown = reply.get("data", {}).get("text/plain", "")
        try:
            text = ast.literal_eval(shown)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            text = ""
        return text if isinstance(text, str) else ""

    def execute(self, code, deadline, outputs=None, answer_callback=None, cell_id=None, **request):
        """Send one execute_request and serve it to its end; returns the reply's content."""
        content = {"code": code, "silent": False, "allow_stdin": False, "stop_on_error": False} | request
        message = self.client.session.msg("execute_request", content)
        message["metadata"]["cellId"] = cell_id
        self.client.shell_channel.send(message)
        message_id = message["header"]["msg_id"]
        try:
            return self.serve(message_id, deadline, outputs, answer_callback)
        except TimeUp:
            self.interrupt(message_id)
            raise

    def serve(self, message, deadline, outputs, answer_callback):
        """Serve shell, stdin and iopub until the reply to `message` and its end on iopub have come."""
        client, reply, idle = self.client, None, None
        idle_limit = deadline
        poller = zmq.Poller()
        for channel in (client.shell_channel, client.stdin_channel, client.iopub_channel):
            poller.register(channel.socket, zmq.POLLIN)
        while reply is None or not idle:
            if time.monotonic() > (deadline if reply is None else min(deadline, idle_limit)):
                if reply is not None:  # the end of the outputs was lost in a flood of them
                    break
                raise TimeUp
            ready = dict(poller.poll(250))
            if not ready and not self.manager.is_alive():
                raise KernelLost("the kernel ended")
            for channel in (client.iopub_channel, client.stdin_channel, client.shell_channel):
                if channel.socket not in ready:
                    continue
                received = channel.get_msg(timeout=1)
                if received["parent_header"].get("msg_id") != message:
                    continue
                if channel is client.iopub_channel:
                    idle = idle or (
                        received["msg_type"] == "status" and received["content"].get("execution_state") == "idle"
                    )
                    if outputs is not None:
                        outputs.take(received)
                elif channel is client.stdin_channel and received["msg_type"] == "input_request":
                    client.input(answer_callback(received["content"].get("prompt", "")))
                elif channel is client.shell_channel:
                    reply, idle_limit = received["content"], time.monotonic() + GRACE_SECONDS
        return reply

    def interrupt(self, message):
        """SIGINT, then SIGKILL where the code does not heed it (raises KernelLost)."""
        for _ in range(2):
            try:
                self.note_children()
                os.kill(self.manager.provisioner.pid, signal.SIGINT)
                self.serve(message, time.monotonic() + GRACE_SECONDS, None, lambda _: "")
                return
            except TimeUp:
                continue
            except ProcessLookupError:
                break
        raise KernelLost("it ran too long and ignored being interrupted")


class Outputs:
    """The outputs of one cell, bounded in size."""

    def __init__(self):
        self.list, self.room = [], MAX_OUTPUT

    def take(self, message):
        """Add what one iopub message shows, while there is room."""
        if message["msg_type"] not in ("stream", "error", "display_data", "execute_result"):
            return
        if message["msg_type"] != "error" and self.room <= 0:
            return
        self.room -= len(json.dumps(message["content"], default=str))
        if self.room <= 0 and message["msg_type"] != "error":
            self.list.append(new_output("stream", name="stdout", text="\n[further output is left out]\n"))
            return
        output = output_from_msg(message)
        last = self.list[-1] if self.list else {}
        if output.output_type == "stream" == last.get("output_type") and output.name == last.name:
            last.text += output.text
        else:
            self.list.append(output)
