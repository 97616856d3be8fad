"""One student's kernel, driven from outside: start, run a cell, ask for a value, end it with all it started.

Whatever the code inside does (hang, die, print without end, ignore signals), every call here returns within its time
or raises `TimeUp` or `KernelLost`. Time is that of `Kernel.clock`, which stands still while the kernel's processes are
ready and the machine is busy with others. Needs jupyter_client, a room of `sandbox.py` and the texts of `values.py` and
`agent.py`, which it puts into the kernel; knows nothing of checks or points.
"""

import ast
import json
import queue
import secrets
import time
from pathlib import Path

import nbformat
import zmq
from jupyter_client.blocking import BlockingKernelClient
from nbformat.v4 import new_output, output_from_msg

from autograder import sandbox, values

START_SECONDS = 60
GRACE_SECONDS = 3  # between SIGINT and SIGKILL
MAX_OUTPUT = 500_000  # characters a cell may leave behind, and as many again of errors
MAX_ERROR = 4000  # characters of an error that alone is larger

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
    """A kernel in a room of `sandbox.py`; a context manager that leaves no process behind.

    unsafe: without a sandbox. settings: variables for its environment.
    """

    def __init__(self, unsafe=False, settings=None):
        self.room, self.client = sandbox.room(unsafe, settings), None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def clock(self):
        """Seconds of the kernel's own time."""
        return time.monotonic() - self.room.waited

    def start(self):
        """Start the kernel and put the agent into it."""
        key = secrets.token_hex(32)
        try:
            there = self.room.start(key)
        except OSError as error:
            raise KernelLost(str(error)) from error
        self.context = zmq.Context()
        self.context.setsockopt(zmq.MAXMSGSIZE, 3 * values.MAX_BYTES)
        self.client = BlockingKernelClient(context=self.context)
        self.client.load_connection_info(there)
        self.client.start_channels(hb=False)
        try:
            self.wait_until_heard()
            texts = [("autograder", "")]
            texts += [(f"autograder.{name}", (HERE / f"{name}.py").read_text()) for name in ("values", "agent")]
            self.execute(INSTALL.format(texts=repr(texts)), self.clock() + START_SECONDS, store_history=False)
        except (TimeUp, KernelLost) as error:
            self.stop()
            raise KernelLost("the kernel did not start") from error

    def wait_until_heard(self):
        """Ask until an answer comes on iopub too: what is published before that is lost."""
        end = self.clock() + START_SECONDS
        while not self.client.iopub_channel.socket.poll(50):
            if not self.room.alive():
                raise KernelLost(self.room.cause())
            if self.clock() > end:
                raise TimeUp
            self.client.kernel_info()

    def stop(self):
        """End the kernel and every process below it, without waiting for anyone's consent."""
        self.room.kill()
        if self.client is not None:
            self.client.stop_channels()
            self.context.destroy(linger=0)
            self.client = None

    def run(self, source, seconds, cell_id=None):
        """Run a cell: its outputs as notebook outputs, errors among them; `cell_id` is told as JupyterLab tells it.

        Raises TimeUp after `seconds` and KernelLost; both carry the outputs so far as `.outputs`.
        """
        outputs = Outputs()
        try:
            self.execute(source, self.clock() + seconds, outputs=outputs, cell_id=cell_id)
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
        try:
            text = ast.literal_eval(content["user_expressions"]["answer"]["data"]["text/plain"])
        except (ValueError, SyntaxError, RecursionError, MemoryError, KeyError, TypeError):
            text = ""
        return text if isinstance(text, str) else ""

    def execute(self, code, deadline, outputs=None, answer_callback=None, cell_id=None, **request):
        """Send one execute_request and serve it to its end; returns the reply's content."""
        content = {"code": code, "silent": False, "allow_stdin": False, "stop_on_error": False} | request
        message = self.client.session.msg("execute_request", content)
        message["metadata"]["cellId"] = cell_id
        if not self.client.shell_channel.socket.poll(1000, zmq.POLLOUT):
            raise KernelLost("it took no message any more")
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
            if self.clock() > (deadline if reply is None else min(deadline, idle_limit)):
                if reply is not None:  # the end of the outputs was lost in a flood of them
                    break
                raise TimeUp
            ready = dict(poller.poll(250))
            if not ready and not self.room.alive():
                raise KernelLost(self.room.cause())
            for channel in (client.iopub_channel, client.stdin_channel, client.shell_channel):
                if channel.socket not in ready:
                    continue
                kind, content = received_from(channel, message)
                if channel is client.iopub_channel:
                    idle = idle or (kind == "status" and content.get("execution_state") == "idle")
                    if outputs is not None:
                        outputs.take(kind, content)
                elif channel is client.stdin_channel and kind == "input_request" and answer_callback is not None:
                    answer = answer_callback(str(content.get("prompt", "")))
                    if channel.socket.poll(0, zmq.POLLOUT):  # else it asks and asks, and never reads what it is told
                        client.input(answer)
                elif channel is client.shell_channel and kind == "execute_reply":
                    reply, idle_limit = content, self.clock() + GRACE_SECONDS
        return reply

    def interrupt(self, message):
        """SIGINT, then SIGKILL where the code does not heed it (raises KernelLost)."""
        for _ in range(2):
            try:
                self.room.interrupt()
                self.serve(message, self.clock() + GRACE_SECONDS, None, lambda _: "")
                return
            except TimeUp:
                continue
            except ProcessLookupError:
                break
        raise KernelLost("it ran too long and ignored being interrupted")


def received_from(channel, message):
    """(type, content) of the next message on a channel; ("", {}) where it does not belong to `message` or is none.

    Student code can send what it likes: unsigned, cut off, or of another form.
    """
    try:
        received = channel.get_msg(timeout=1)
        kind, content = received["msg_type"], received["content"]
        theirs = received["parent_header"]["msg_id"] == message
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, queue.Empty):
        return "", {}
    return (kind, content) if theirs and isinstance(kind, str) and isinstance(content, dict) else ("", {})


class Outputs:
    """The outputs of one cell, bounded in size."""

    def __init__(self):
        self.list, self.room = [], MAX_OUTPUT

    def take(self, kind, content):
        """Add what one iopub message shows, while there is room."""
        if kind not in ("stream", "error", "display_data", "execute_result"):
            return
        if self.room <= (-MAX_OUTPUT if kind == "error" else 0):
            return
        try:
            message = {"header": {"msg_type": kind}, "content": as_utf8(content)}
            output = nbformat.from_dict(output_from_msg(message))
            nbformat.validate(output, ref="output", version=4)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError, nbformat.ValidationError):
            return  # a message that no kernel sends
        size = len(json.dumps(output))
        if kind == "error" and size > MAX_OUTPUT:
            output.traceback = [output.evalue[:MAX_ERROR]]
            output.ename, output.evalue = output.ename[:MAX_ERROR], output.evalue[:MAX_ERROR]
            size = len(json.dumps(output))
        self.room -= size
        if self.room <= 0 and kind != "error":
            self.list.append(new_output("stream", name="stdout", text="\n[further output is left out]\n"))
            return
        last = self.list[-1] if self.list else {}
        if output.output_type == "stream" == last.get("output_type") and output.name == last.name:
            last.text += output.text
        else:
            self.list.append(output)


def as_utf8(value):
    """The same JSON with question marks for half surrogate pairs, which Python can hold and a file cannot."""
    return json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
