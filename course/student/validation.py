"""Run the visible checks of a lab in a fresh kernel: behind JupyterLab's Validate command and `course hand-in`.

`stream` runs inside that kernel and publishes what it finds as messages of the type MIME. JupyterLab's command starts
the kernel itself (`jupyter/labextensions`); `run_apart` does the same for Python programs. As in grading, cells that
only show something are left out. The notebook is read from disk and never changed.
"""

import contextlib
import json
import queue
import signal
import subprocess
import sys
import time
from pathlib import Path

from course.errors import Problem
from course.student import verdicts

MIME = "application/vnd.dml-course.validation+json"
CELL_SECONDS = 30  # for a task or a check, as in grading
GIVEN_SECONDS = 120  # for a given cell, which may start engines
PATIENCE = 600  # seconds for a whole lab


def read_cells(path):
    """The cells of a notebook, each a dict with its source as one text; raises Problem if the file is no notebook."""
    try:
        cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
        return [
            dict(cell, source="".join(cell["source"]))
            for cell in cells
            if isinstance(cell["metadata"], dict) and isinstance(cell["metadata"].get("nbgrader", {}), dict)
        ]
    except (OSError, ValueError, KeyError, TypeError):
        raise Problem(f"{path} cannot be read as a notebook: save it, then try again.") from None


def publish(path):
    """Run the visible checks of the notebook at `path` in this kernel; publishes each event of `stream`."""
    from IPython import get_ipython
    from IPython.display import publish_display_data

    shell = get_ipython()
    shell.run_line_magic("load_ext", "course")
    try:
        for event in stream(read_cells(path), Runner(shell)):
            publish_display_data({MIME: event})
    except Problem as problem:
        publish_display_data({MIME: {"event": "problem", "text": str(problem)}})


def stream(cells, runner):
    """Yield events (dicts) while `runner` runs the cells: "items", one "item" per verdict, and "summary"."""
    items = verdicts.list_items(cells)
    yield {"event": "items", "items": [{"name": item.name} for item in items]}
    of_cell = {name: item for item in items for name in (item.name, *item.points)}
    last = {list(item.points)[-1]: number for number, item in enumerate(items)}
    for cell in cells:
        marks = cell["metadata"].get("nbgrader", {})
        name = marks.get("grade_id", "")
        item = of_cell.get(name)
        if cell["cell_type"] == "code" and "measure" not in cell["metadata"].get("tags", []):
            is_given = bool(marks.get("locked")) and not marks.get("grade")
            lines = runner.run(cell["source"], name, GIVEN_SECONDS if is_given else CELL_SECONDS)
            if item is not None and lines is None and name in item.points:
                item.passed.add(name)
            elif item is not None and lines is not None and not item.hint:
                item.hint = verdicts.read_hint(lines, name)
        if name in last:
            yield {"event": "item", "number": last[name]} | item.to_json()
    yield {"event": "summary"} | verdicts.summarize(items).to_json()


class Runner:
    """Runs cells in the IPython shell `shell`, and keeps what they print and show to itself."""

    def __init__(self, shell):
        self.shell = shell

    def run(self, source, name, seconds):
        """Run a cell for at most `seconds`; returns None if it succeeded, else the lines that describe its error."""
        from IPython.utils.capture import capture_output

        lines = []
        before = self.shell._showtraceback
        self.shell._showtraceback = lambda etype, value, shown: lines.extend(map(str, shown))
        try:
            with (
                contextlib.redirect_stdout(Sink()),
                contextlib.redirect_stderr(Sink()),
                capture_output(stdout=False, stderr=False),
                limit_time(seconds) as limit,
            ):
                result = self.shell.run_cell(source, store_history=True, cell_id=name or None)
        finally:
            self.shell._showtraceback = before
        if limit.is_over:
            return [f"it took longer than {seconds} s and was stopped."]
        if result.success:
            return None
        return lines if name.endswith("-check") else lines[-1:]


class Sink:
    """A stream that drops what is written to it."""

    encoding = "utf-8"

    def write(self, text):
        """Drop the text."""
        return len(text)

    def flush(self):
        """Do nothing."""

    def isatty(self):
        """No person reads this stream."""
        return False


class limit_time:
    """Interrupt what runs inside this block after `seconds`, as the interrupt button does."""

    def __init__(self, seconds):
        self.seconds, self.is_over = seconds, False

    def __enter__(self):
        self.before = signal.signal(signal.SIGALRM, self.interrupt)
        signal.setitimer(signal.ITIMER_REAL, self.seconds, 1)  # again each second, if a cell ignores it
        return self

    def interrupt(self, number, frame):
        """Handle the signal."""
        self.is_over = True
        raise KeyboardInterrupt

    def __exit__(self, *error):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)


def run_apart(path, on_item=lambda item: None):
    """Run the visible checks of the notebook at `path` in a fresh kernel; returns the event "summary".

    on_item: called with each event "item". Raises Problem if the kernel ends or is still busy after PATIENCE seconds.
    """
    from jupyter_client.manager import KernelManager

    path = Path(path).resolve()
    manager = KernelManager(kernel_name="python3")
    manager.kernel_spec.argv[0] = sys.executable  # rather than the first Python on PATH: the course is installed here
    manager.start_kernel(cwd=str(path.parent), stderr=subprocess.DEVNULL)
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=60)
        client.execute(f"from course.student import validation\nvalidation.publish({path.name!r})", store_history=False)
        for event in receive_events(client, manager):
            if event["event"] == "item":
                on_item(event)
            elif event["event"] == "problem":
                raise Problem(event["text"])
            elif event["event"] == "summary":
                return event
        raise Problem("the checks stopped before their end.")
    except RuntimeError as error:
        raise Problem(f"the kernel did not start ({error}).") from error
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def receive_events(client, manager):
    """Yield the events that a kernel publishes until it is idle. Raises Problem if it ends or takes too long."""
    deadline = time.monotonic() + PATIENCE
    has_begun = False
    while time.monotonic() < deadline:
        try:
            message = client.get_iopub_msg(timeout=1)
        except queue.Empty:
            if not manager.is_alive():
                raise Problem("the kernel ended before the checks did: a task ended it, or memory is full.") from None
            continue
        has_begun = has_begun or message["msg_type"] == "execute_input"
        if message["msg_type"] == "display_data" and MIME in message["content"]["data"]:
            yield message["content"]["data"][MIME]
        elif has_begun and message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            return
    raise Problem(f"the checks took longer than {PATIENCE} s.")
