"""One student's kernel, driven from outside: start it, run a cell, query a value, end it with all that it started.

Whatever the code inside does (hang, crash, print without end, ignore signals), every call here returns in time or
raises `TimeUp` or `KernelLost`. Time is that of `Kernel.now`, which stands still while the kernel's processes are ready
to run and other work keeps the machine busy. Needs jupyter_client, a room of `sandbox.py` and the texts of `values.py`,
`noted.py` and `agent.py`, which it puts into the kernel; knows nothing of checks or points.
"""

import base64
import contextlib
import queue
import secrets
from pathlib import Path

import zmq
from jupyter_client.blocking import BlockingKernelClient

from autograder.examination import sandbox, values
from autograder.examination.outputs import Outputs

START_SECONDS = 60
GRACE_SECONDS = 3  # after SIGINT, and for the rest of a request that has ended
SOON_SECONDS = 0.3  # before SIGINT, for code that is just about to end

CHANNELS = ("shell", "iopub")
HERE = Path(__file__).parent
PACKAGES = ("autograder", "autograder.examination")  # empty in the student's kernel, around the modules put there
TEXTS = ("values", "noted", "agent")  # these modules, in this order
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
APPEND = """
def _append():
    import base64, pathlib
    path = pathlib.Path({name!r})
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(base64.b64decode({text!r}))
_append()
del _append
"""
AT_ONCE = 8 * 2**20  # bytes of a file in one request


class TimeUp(Exception):
    """The code did not finish in time and was interrupted; the kernel goes on."""


class KernelLost(Exception):
    """The kernel exited, or had to be killed, and with it everything that the notebook had defined."""


class Client(BlockingKernelClient):
    """A client that connects to `addresses` (channel -> address), which student code cannot lead elsewhere."""

    def _make_url(self, channel):
        return self.addresses[channel]


class Kernel:
    """A kernel in a room of `sandbox.py`; a context manager that leaves no process behind.

    unsafe: without a sandbox. settings, masked: as for `sandbox.make_room`. files: path -> content (bytes) of the files
    that it finds in its folder; the paths are relative to that folder and do not lead out of it.
    """

    def __init__(self, unsafe=False, settings=None, masked=None, files=None):
        self.settings, self.files = (unsafe, settings, masked), files or {}
        self.room, self.client, self.second = sandbox.make_room(*self.settings), None, None
        self.session = None  # (id, deadline) of the request in which the agent answers questions, while it does
        self.cells = []  # the sources of the cells that it was given to run
        self.has_seen_hidden_tests = False  # so that what it says may contain their inputs

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def now(self):
        """Return the present time of the kernel's own clock, in seconds."""
        return self.room.clock.now()

    def start(self):
        """Start the kernel and put the agent into it; raises KernelLost."""
        self.cells, self.has_seen_hidden_tests = [], False
        key = secrets.token_hex(32)
        try:
            self.room.start(key)
            self.connect(key)
        except OSError as error:
            self.stop()
            raise KernelLost(str(error)) from error
        try:
            self.wait_for_iopub()
            texts = [(name, "") for name in PACKAGES]
            texts += [(f"{PACKAGES[-1]}.{name}", (HERE / f"{name}.py").read_text()) for name in TEXTS]
            self.execute(INSTALL.format(texts=repr(texts)), self.now() + START_SECONDS, store_history=False)
            self.line.connect(self.room.open_socket("agent"))
            self.write_files()
        except (TimeUp, KernelLost, OSError) as error:
            self.stop()
            raise KernelLost("the kernel did not start") from error

    def write_files(self):
        """Write the files into the kernel's folder."""
        for name, content in self.files.items():
            for start in range(0, len(content) or 1, AT_ONCE):
                text = base64.b64encode(content[start : start + AT_ONCE])
                request = APPEND.format(name=name, text=text)
                self.execute(request, self.now() + START_SECONDS, store_history=False)

    def connect(self, key):
        """Connect to the kernel's channels, and open a socket for the agent."""
        self.context = zmq.Context()
        self.context.setsockopt(zmq.MAXMSGSIZE, 3 * values.MAX_BYTES)
        self.client = Client(context=self.context)
        self.client.addresses = {name: self.room.open_socket(sandbox.PORTS.index(name) + 1) for name in CHANNELS}
        self.client.load_connection_info(sandbox.make_connection_info(self.room.place, key))
        self.client.start_channels(stdin=False, hb=False, control=False)
        self.line = self.context.socket(zmq.PAIR)  # to the agent
        self.line.sndtimeo = 500  # milliseconds; after a signal pyzmq waits anew, and `standins` has one per second
        self.number = 0  # of the last question
        self.poller = zmq.Poller()
        for socket in (self.line, self.client.iopub_channel.socket, self.client.shell_channel.socket):
            self.poller.register(socket, zmq.POLLIN)

    def wait_for_iopub(self):
        """Send requests until something arrives on iopub: what a kernel publishes before that is lost."""
        end = self.now() + START_SECONDS
        while not self.client.iopub_channel.socket.poll(50):
            if not self.room.is_alive():
                raise KernelLost(self.room.explain_end())
            if self.now() > end:
                raise TimeUp
            self.client.kernel_info()

    def get_second(self):
        """Return another kernel of this kind, for the grader alone, which ends with this one; raises KernelLost."""
        if self.second is None:
            self.second = Kernel(*self.settings)
            self.second.start()
        return self.second

    def measure_usage(self):
        """Return what the kernel, and its second one, have used: {"cpu_seconds", "peak_memory" in bytes}."""
        rooms = [self.room, *([self.second.room] if self.second else [])]
        return {name: sum(getattr(room, name) for room in rooms) for name in ("cpu_seconds", "peak_memory")}

    def stop(self):
        """End the kernel and every process below it, without waiting for their consent."""
        if self.second is not None:
            self.second.stop()
            self.second = None
        self.room.kill()
        if self.client is not None:
            self.context.destroy(linger=0)  # with the client's sockets
            self.client = None
        self.room.let_go()

    def run(self, source, seconds, cell_id=None):
        """Run a cell and return its outputs as notebook outputs, errors included.

        cell_id: passed to the kernel as JupyterLab passes it. Raises TimeUp after `seconds`, and KernelLost; both carry
        the outputs so far as `.outputs`.
        """
        outputs = Outputs()
        self.cells.append(source)
        try:
            self.execute(source, self.now() + seconds, outputs=outputs, cell_id=cell_id)
            outputs.add_error_of_reply()
        except (TimeUp, KernelLost) as error:
            error.outputs = outputs.list
            raise
        return outputs.list

    @contextlib.contextmanager
    def answering(self, deadline):
        """Let the agent answer questions: inside, `query` may be called, until `deadline`."""
        expression = f"__import__('autograder.examination.agent', fromlist=['serve']).serve({self.number + 1})"
        request = self.send_request("", silent=True, store_history=False, user_expressions={"served": expression})
        self.session = request, deadline
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
            self.session = None

    def set_deadline(self, deadline):
        """Move the deadline of the present check."""
        if self.session is not None:
            self.session = self.session[0], deadline

    def query(self, question, call_back):
        """Return the agent's answer (text) to `question` (text), "" if it gives none.

        call_back: returns the reply (text) to a call back into the check (text); the agent may make many of them before
        it answers.
        """
        if self.session is None:
            return ""
        request, deadline = self.session
        self.number += 1
        self.send_text(question)
        for channel, kind, content in self.listen(request, deadline):
            if channel is self.line:
                if kind == "=":
                    return content
                self.send_text(call_back(f"{kind} {content}"))
            elif kind == "execute_reply":
                break
        self.session = None  # the agent has stopped answering
        return ""

    def send_text(self, text):
        """Send one text to the agent; the text is lost if the agent only sends and never reads.

        If texts of one check are still unread when the next check begins, the agent reads and drops them then.
        """
        with contextlib.suppress(zmq.Again):
            self.line.send(f"{self.number} {text}".encode(errors="replace"))

    def hang_up(self, seconds):
        """End the agent's answering within `seconds`, or interrupt it."""
        if self.session is None:
            return
        request, _ = self.session
        self.number += 1
        self.send_text("")
        try:
            self.wait_for_end(request, self.now() + seconds)
        except TimeUp:
            self.interrupt(request)

    def execute(self, code, deadline, outputs=None, cell_id=None, **options):
        """Run code and wait for its end."""
        request = self.send_request(code, cell_id, **options)
        try:
            self.wait_for_end(request, deadline, outputs)
        except TimeUp:
            self.interrupt(request)
            raise

    def send_request(self, code, cell_id=None, **options):
        """Send one execute_request; returns its id."""
        content = {"code": code, "silent": False, "allow_stdin": False, "stop_on_error": False} | options
        message = self.client.session.msg("execute_request", content)
        message["metadata"]["cellId"] = cell_id
        if not self.client.shell_channel.socket.poll(1000, zmq.POLLOUT):
            raise KernelLost("it stopped accepting messages")
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def wait_for_end(self, request, deadline, outputs=None):
        """Receive what belongs to `request` until both its reply and its end on iopub have arrived."""
        has_reply = is_idle = False
        for channel, kind, content in self.listen(request, deadline):
            if channel is self.client.iopub_channel:
                is_idle = is_idle or says_idle(kind, content)
                if outputs is not None:
                    outputs.add(kind, content)
            if kind == "execute_reply":
                has_reply = True
                if outputs is not None:
                    outputs.reply = content
            if has_reply and is_idle:
                return

    def listen(self, request, deadline):
        """Yield each of the kernel's messages that belong to `request`, as (channel, type, content).

        On the agent's line the type is "=" for an answer, else the number of a call back, and the content is a text.
        Raises TimeUp if neither the reply nor the kernel's word that it is idle arrives by the deadline, and ends soon
        after the first of them.
        """
        has_ended = False
        while self.now() <= deadline:
            ready = dict(self.poller.poll(250))
            if not ready and not self.room.is_alive():
                raise KernelLost(self.room.explain_end())
            if self.line in ready:
                number, _, text = self.line.recv().decode(errors="replace").partition(" ")
                kind, _, text = text.partition(" ")
                if number == str(self.number):  # otherwise it belongs to an earlier question
                    yield self.line, kind, text
            for channel in (self.client.iopub_channel, self.client.shell_channel):
                if channel.socket in ready:
                    kind, content = receive(channel, request)
                    if not has_ended and (says_idle(kind, content) or kind == "execute_reply"):
                        has_ended, deadline = True, min(deadline, self.now() + GRACE_SECONDS)
                    yield channel, kind, content
        if not has_ended:  # otherwise one of the two was lost: in a flood of outputs, or to a SIGINT just at the end
            raise TimeUp

    def interrupt(self, request):
        """Send SIGINT, twice if need be; raises KernelLost if the code ignores it."""
        for _ in range(2):
            try:
                self.room.interrupt()
                self.wait_for_end(request, self.now() + GRACE_SECONDS)
                return
            except TimeUp:
                continue
            except ProcessLookupError:
                break
        raise KernelLost("it ran too long and ignored the interrupt")


def receive(channel, request):
    """Return (type, content) of the next message on a channel; ("", {}) if it is not one that belongs to `request`.

    Student code can send anything: unsigned, truncated, or of any other form.
    """
    try:
        message = channel.get_msg(timeout=1)
        kind, content = message["msg_type"], message["content"]
        belongs = message["parent_header"]["msg_id"] == request
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, queue.Empty):
        return "", {}
    return (kind, content) if belongs and isinstance(kind, str) and isinstance(content, dict) else ("", {})


def says_idle(kind, content):
    """Whether a message is the kernel's word that a request has ended."""
    return kind == "status" and content.get("execution_state") == "idle"
