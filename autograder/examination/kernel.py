"""One student's kernel, driven from outside: start, run a cell, ask for a value, end it with all it started.

Whatever the code inside does (hang, die, print without end, ignore signals), every call here returns within its time
or raises `TimeUp` or `KernelLost`. Time is that of `Kernel.clock`, which stands still while the kernel's processes are
ready and the machine is busy with others. Needs jupyter_client, a room of `sandbox.py` and the texts of `values.py` and
`agent.py`, which it puts into the kernel; knows nothing of checks or points.
"""

import contextlib
import json
import queue
import secrets
import time
from pathlib import Path

import nbformat
import zmq
from jupyter_client.blocking import BlockingKernelClient
from nbformat.v4 import new_output, output_from_msg

from autograder.examination import sandbox, values

START_SECONDS = 60
GRACE_SECONDS = 3  # between SIGINT and SIGKILL
SOON_SECONDS = 0.3  # before SIGINT, for what is just about to end
MAX_OUTPUT = 500_000  # characters a cell may leave behind, and as many again of errors
MAX_ERROR = 4000  # characters of an error that alone is larger

HERE = Path(__file__).parent
PACKAGES = ("autograder", "autograder.examination")  # empty in the student's kernel, around what is put into it
INSTALL = """
def _install():
    import sys, types
    for name, text in {texts}:
        module = types.ModuleType(name)
        sys.modules[name] = module
        if not text:
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

    unsafe: without a sandbox. settings: variables for its environment. masked: as of `sandbox.room`.
    """

    def __init__(self, unsafe=False, settings=None, masked=None):
        self.room, self.client = sandbox.room(unsafe, settings, masked), None
        self.asked = None  # (id, deadline) of the request in which the agent answers, while it does

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
        self.client.start_channels(stdin=False, hb=False, control=False)
        self.line = self.context.socket(zmq.PAIR)  # to the agent
        self.number = 0  # of the last question
        self.poller = zmq.Poller()
        for socket in (self.line, self.client.iopub_channel.socket, self.client.shell_channel.socket):
            self.poller.register(socket, zmq.POLLIN)
        try:
            self.wait_until_heard()
            texts = [(name, "") for name in PACKAGES]
            texts += [(f"{PACKAGES[-1]}.{name}", (HERE / f"{name}.py").read_text()) for name in ("values", "agent")]
            self.execute(INSTALL.format(texts=repr(texts)), self.clock() + START_SECONDS, store_history=False)
            self.line.connect(f"ipc://{there['ip']}-agent")
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

    @contextlib.contextmanager
    def answering(self, deadline):
        """Let the agent answer: inside, `ask` may be called, until `deadline`."""
        expression = f"__import__('autograder.examination.agent', fromlist=['serve']).serve({self.number + 1})"
        message = self.send("", silent=True, store_history=False, user_expressions={"served": expression})
        self.asked = message, deadline
        try:
            yield
        except KernelLost:
            raise
        except BaseException as error:
            self.hang_up(SOON_SECONDS if isinstance(error, TimeUp) else GRACE_SECONDS)
            raise
        else:
            self.hang_up(GRACE_SECONDS)
        finally:
            self.asked = None

    def ask(self, question, call_back):
        """The agent's answer (text) to `question` (text), "" where it gives none.

        call_back: gives the answer (text) to a call back into the check (text), of which there may be many before.
        """
        if self.asked is None:
            return ""
        message, deadline = self.asked
        self.number += 1
        self.say(question)
        for channel, kind, content in self.heard(message, deadline):
            if channel is self.line:
                if kind == "=":
                    return content
                self.say(call_back(f"{kind} {content}"))
            elif kind == "execute_reply":
                break
        self.asked = None  # it has ceased to answer
        return ""

    def say(self, text):
        """Send one text to the agent; it is lost where the agent, which sends and sends, does not read.

        What it has not read of a check before it reads, and lets fall, when the next one begins.
        """
        if self.line.poll(1000, zmq.POLLOUT):
            self.line.send(f"{self.number} {text}".encode(errors="replace"))

    def hang_up(self, seconds):
        """End the answering within `seconds`, or interrupt it."""
        if self.asked is None:
            return
        message, _ = self.asked
        self.number += 1
        self.say("")
        try:
            self.serve(message, self.clock() + seconds)
        except TimeUp:
            self.interrupt(message)

    def execute(self, code, deadline, outputs=None, cell_id=None, **request):
        """Run code and serve it to its end."""
        message = self.send(code, cell_id, **request)
        try:
            self.serve(message, deadline, outputs)
        except TimeUp:
            self.interrupt(message)
            raise

    def send(self, code, cell_id=None, **request):
        """Send one execute_request; returns its id."""
        content = {"code": code, "silent": False, "allow_stdin": False, "stop_on_error": False} | request
        message = self.client.session.msg("execute_request", content)
        message["metadata"]["cellId"] = cell_id
        if not self.client.shell_channel.socket.poll(1000, zmq.POLLOUT):
            raise KernelLost("it took no message any more")
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def serve(self, message, deadline, outputs=None):
        """Take what comes of `message` until its reply, and its end on iopub, have come."""
        replied = idle = False
        for channel, kind, content in self.heard(message, deadline):
            if channel is self.client.iopub_channel:
                idle = idle or (kind == "status" and content.get("execution_state") == "idle")
                if outputs is not None:
                    outputs.take(kind, content)
            replied = replied or kind == "execute_reply"
            if replied and idle:
                return

    def heard(self, message, deadline):
        """Each thing that comes from the kernel about `message`: (channel, type, content).

        On the agent's line the type is "=" for an answer, else the number of a call back, and the content a text.
        Raises TimeUp where neither the reply nor the kernel's word that it is idle has come by the deadline, and ends
        soon after the first of them.
        """
        ended = False
        while self.clock() <= deadline:
            ready = dict(self.poller.poll(250))
            if not ready and not self.room.alive():
                raise KernelLost(self.room.cause())
            if self.line in ready:
                number, _, text = self.line.recv().decode(errors="replace").partition(" ")
                kind, _, text = text.partition(" ")
                if number == str(self.number):  # else from an earlier question
                    yield self.line, kind, text
            for channel in (self.client.iopub_channel, self.client.shell_channel):
                if channel.socket in ready:
                    kind, content = received_from(channel, message)
                    idle = kind == "status" and content.get("execution_state") == "idle"
                    if not ended and (idle or kind == "execute_reply"):
                        ended, deadline = True, min(deadline, self.clock() + GRACE_SECONDS)
                    yield channel, kind, content
        if not ended:  # else one of the two is lost: in a flood of outputs, or as SIGINT came just at the end
            raise TimeUp

    def interrupt(self, message):
        """SIGINT, then SIGKILL where the code does not heed it (raises KernelLost)."""
        for _ in range(2):
            try:
                self.room.interrupt()
                self.serve(message, self.clock() + GRACE_SECONDS)
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
