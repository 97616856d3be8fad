"""Hand in a lab: through nbgrader's exchange if there is one, else as one file to send.

Reads the student's notebook and never changes it. Writes to the exchange, or to `work/hand-ins/`, where every hand-in
is kept. A file to send carries the random number of the student's folder, because two students may have the same user
name. `button("01-regression")` in a lab's last cell does the same after saving the notebook.
"""

import contextlib
import html
import json
import logging
import re
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from course.errors import Problem
from course.files import write_whole
from course.home import HOME
from course.student import work

LAB = re.compile(r"\d\d-[\w-]+")
# The name of nbgrader's own example, with hyphens allowed; `nbgrader zip_collect` needs COLLECTED in its configuration.
# The time has no hyphens: nbgrader cannot read the time in its own example when seconds or minutes are above 31.
FILE_NAME = "{lab}_{student}_attempt_{time}_{lab}.ipynb"
COLLECTED = r"(?:.*/)?.*?\d\d-[A-Za-z0-9-]+_(?P<student_id>[^/]+)_attempt_(?P<timestamp>\d+)_(?P<file_id>[\w-]+)"
TIME = "%Y%m%d%H%M%S"
PATIENCE = 5  # seconds for JupyterLab to save


def add_arguments(parser):
    """Declare the lab's number or name."""
    parser.add_argument("lab", metavar="NN", help="the lab: 1, 01 or 01-regression")


def run(args):
    """Hand in the lab `args.lab` and print what was done; raises Problem if that is not possible."""
    print(hand_in(find_notebook(args.lab)))


def find_notebook(lab, home=HOME):
    """The path of the notebook of a lab ("1", "01" or "01-regression").

    A notebook of that name in the current folder comes first, then the one in work/. Raises Problem if there is no such
    lab, or no notebook of it.
    """
    folders = [path.name for part in ("labs", "work") for path in (home / part).glob("*") if path.is_dir()]
    here = [path.stem for path in Path.cwd().glob("*.ipynb")]
    names = sorted(name for name in {*folders, *here} if LAB.fullmatch(name))
    matches = [name for name in names if name == lab or (lab.isdecimal() and int(name[:2]) == int(lab))]
    if not matches:
        raise Problem(f"there is no lab {lab}; there are: {', '.join(names) or 'none yet'}.")
    if len(matches) > 1:
        raise Problem(f"{lab} could be {' or '.join(matches)}: give the whole name.")
    for path in (Path.cwd() / f"{matches[0]}.ipynb", home / "work" / matches[0] / f"{matches[0]}.ipynb"):
        if path.is_file():
            return path
    raise Problem(f"{path} does not exist, so there is nothing to hand in: run `course lab` to get the lab.")


def hand_in(notebook, home=HOME):
    """Hand in the notebook at the path `notebook`; returns a sentence that says what was done.

    Raises Problem if the file is not a notebook, or if the exchange did not accept it and a file to send was written.
    """
    content = read_notebook(notebook)
    remark = " Nothing in it has changed since you got it." if work.is_untouched(notebook, home) else ""
    app = load_nbgrader(home)
    if not has_exchange(app):
        path = write_hand_in(add_origin(content, home), notebook.stem, get_student(app), home)
        return f"Wrote your hand-in of {notebook.stem}, as it was saved. Send this file: {path}{remark}"
    try:
        submit(app, content, notebook.stem)
    except (Exception, SystemExit) as error:  # whatever stops the exchange, the student gets a file to send
        path = write_hand_in(add_origin(content, home), notebook.stem, get_student(app), home)
        reason = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__
        raise Problem(
            f"the exchange did not accept {notebook.stem} ({reason}). Send this file instead: {path}"
        ) from None
    return f"Handed in {notebook.stem}, as it was saved, to the course {app.coursedir.course_id}.{remark}"


def read_notebook(path):
    """The bytes of a notebook; raises Problem if the file is not one."""
    try:
        content = path.read_bytes()
        if isinstance(json.loads(content)["cells"], list):
            return content
    except OSError as error:
        raise Problem(f"{path} cannot be read ({error.strerror}): check that the file belongs to you.") from error
    except (ValueError, KeyError, TypeError):
        pass
    raise Problem(
        f"{path} is not a notebook, or is truncated: move it away, run `course lab` for a fresh one and copy your "
        "answers there."
    )


def add_origin(content, home):
    """The bytes of a notebook with the random number of the folder at `home` in its metadata."""
    notebook = json.loads(content)
    metadata = notebook.get("metadata")
    notebook["metadata"] = (metadata if isinstance(metadata, dict) else {}) | {
        "course": {"origin": work.read_origin(home)}
    }
    return json.dumps(notebook, indent=1).encode()


def load_nbgrader(home):
    """nbgrader's application, with the configuration of this machine, this person and the course's folder."""
    from nbgrader.apps import NbGrader
    from nbgrader.auth import Authenticator
    from nbgrader.exchange import ExchangeFactory

    app = NbGrader(log_level="CRITICAL")
    with contextlib.chdir(home):
        app.initialize([])
    app.log.setLevel(logging.CRITICAL + 1)  # whatever the configuration says: errors are reported in one sentence
    app.authenticator = Authenticator(parent=app)
    app.exchange = ExchangeFactory(parent=app)
    return app


def has_exchange(app):
    """Whether an exchange is set up: the course has a name, and the shared folder (or another kind) exists."""
    from nbgrader.exchange.default import ExchangeSubmit

    if not app.coursedir.course_id:
        return False
    step = app.exchange.Submit(coursedir=app.coursedir, authenticator=app.authenticator, parent=app)
    return type(step) is not ExchangeSubmit or Path(step.root).is_dir()


def submit(app, content, lab):
    """Do what `nbgrader submit` does, with the lab's one notebook and nothing else from its folder."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, lab, f"{lab}.ipynb")
        path.parent.mkdir()
        path.write_bytes(content)
        app.coursedir.assignment_id = lab
        step = app.exchange.Submit(coursedir=app.coursedir, authenticator=app.authenticator, parent=app)
        step.assignment_dir, step.path_includes_course = folder, False
        step.start()


def get_student(app):
    """The student's id: the one in nbgrader's configuration, else the name of the logged-in user."""
    from nbgrader.utils import get_username

    return get_username() if app.coursedir.student_id == "*" else app.coursedir.student_id


def write_hand_in(content, lab, student, home):
    """Write a file to send, with a name that `nbgrader zip_collect` can read; returns its path."""
    folder = home / "work" / "hand-ins"
    student = re.sub(r"[^\w.@-]", "-", student)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = reserve_file(folder, lab, student)
        try:
            write_whole(path, content)
        except OSError:
            path.unlink()
            raise
    except OSError as error:
        raise Problem(f"{folder} cannot be written ({error.strerror}): check that the disk is not full.") from error
    return path


def reserve_file(folder, lab, student):
    """Create an empty file with the current time in its name, and never take over one that exists; returns its path."""
    while True:
        now = datetime.now(UTC).strftime(TIME)
        path = folder / FILE_NAME.format(lab=lab, student=student, time=now)
        with contextlib.suppress(FileExistsError):
            path.touch(exist_ok=False)
            return path
        time.sleep(0.1)  # an earlier hand-in of the same second is kept


def button(lab):
    """A button that saves the notebook of `lab` ("01-regression"), hands it in and shows the result beneath."""
    import ipywidgets

    click = ipywidgets.Button(description=f"Hand in {lab}", layout={"width": "auto", "align_self": "flex-start"})
    status = ipywidgets.HTML()
    save = make_saver()

    def handle(_):
        click.disabled = True
        try:
            status.value = format_status(f"Handing in {lab} ...")
            status.value = format_status(save_and_hand_in(lab, save))
        finally:
            click.disabled = False

    click.on_click(handle)
    return ipywidgets.VBox([click, status])


def format_status(sentence):
    """The sentence as HTML that a screen reader reads out whenever it changes."""
    return f'<p role="status" style="white-space: normal; overflow-wrap: anywhere">{html.escape(sentence)}</p>'


def make_saver():
    """A function that asks JupyterLab to save the current notebook, or does nothing if ipylab does not work."""
    try:
        from ipylab import JupyterFrontEnd

        commands = JupyterFrontEnd().commands
    except Exception:  # ipylab is a convenience: whatever fails in it, handing in works without it
        return lambda: None
    return lambda: commands.execute("docmanager:save")


def save_and_hand_in(lab, save):
    """Save and hand in; returns the sentence to show. A separate process keeps nbgrader's log out of the notebook."""
    try:
        path = find_notebook(lab)
        before = path.stat().st_mtime_ns
        save()
        is_saved = wait_until_changed(path, before)
    except Problem as problem:
        return str(problem)
    command = [sys.executable, "-P", "-m", "course.command", "hand-in", lab]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    sentence = (done.stdout if done.returncode == 0 else done.stderr).strip().removeprefix("course hand-in: ")
    if is_saved:
        return sentence
    last = datetime.fromtimestamp(path.stat().st_mtime).strftime("%H:%M:%S")
    return f"{sentence} (Last saved at {last}: if you changed it since then, save with Ctrl-S and press again.)"


def wait_until_changed(path, before):
    """Wait up to PATIENCE seconds for the file to be written; returns whether it was. before: st_mtime_ns."""
    deadline = time.monotonic() + PATIENCE
    while path.stat().st_mtime_ns == before:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
