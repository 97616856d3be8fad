"""Hand in a lab: through nbgrader's exchange where there is one, else as one file to send.

Reads the student's notebook and never changes it. Writes to the exchange, or to `work/hand-ins/`, where every hand-in
stays. `button("01-regression")` in a lab's last cell does the same after saving the notebook.
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
from course.student import work

LAB = re.compile(r"\d\d-[\w-]+")
# nbgrader's own example of such a name, with hyphens allowed; `nbgrader zip_collect` needs it in its configuration.
# The time has no hyphens: nbgrader cannot read the time in its own example when seconds or minutes are above 31.
FILE_NAME = "{lab}_{student}_attempt_{time}_{lab}.ipynb"
COLLECTED = r"(?:.*/)?.*?\d\d-[A-Za-z0-9-]+_(?P<student_id>[^/]+)_attempt_(?P<timestamp>\d+)_(?P<file_id>[\w-]+)"
TIME = "%Y%m%d%H%M%S"
PATIENCE = 5  # seconds for JupyterLab to save


def add_arguments(parser):
    """The lab's number or name."""
    parser.add_argument("lab", metavar="NN", help="the lab: 1, 01 or 01-regression")


def run(args):
    """Hand in the lab `args.lab` and say what was done; raises Problem where that is not possible."""
    print(hand_in(find(args.lab)))


def find(wanted, home=work.HOME):
    """The path of the notebook of lab `wanted` ("1", "01" or "01-regression").

    A notebook of that name in the current folder comes first, then the one in work/. Raises Problem where there is
    no such lab, or no notebook of it.
    """
    folders = [path.name for part in ("labs", "work") for path in (home / part).glob("*") if path.is_dir()]
    here = [path.stem for path in Path.cwd().glob("*.ipynb")]
    names = sorted(name for name in {*folders, *here} if LAB.fullmatch(name))
    named = [name for name in names if name == wanted or (wanted.isdecimal() and int(name[:2]) == int(wanted))]
    if not named:
        raise Problem(f"there is no lab {wanted}; there are: {', '.join(names) or 'none yet'}.")
    if len(named) > 1:
        raise Problem(f"{wanted} could be {' or '.join(named)}: give the whole name.")
    for path in (Path.cwd() / f"{named[0]}.ipynb", home / "work" / named[0] / f"{named[0]}.ipynb"):
        if path.is_file():
            return path
    raise Problem(f"{path} is not there, so there is nothing to hand in: `course lab` puts the lab there to begin.")


def hand_in(notebook, home=work.HOME):
    """Hand in the notebook at the path `notebook`; returns the sentence that says what was done.

    Raises Problem where the file is no notebook, or the exchange did not take it (a file to send is written then).
    """
    content = read(notebook)
    remark = " Nothing in it has changed since you got it." if work.is_untouched(notebook, home) else ""
    app = exchange(home)
    if not is_open(app):
        path = to_file(content, notebook.stem, student(app), home)
        return f"Wrote your hand-in of {notebook.stem}, as it was saved: send this file: {path}{remark}"
    try:
        submit(app, content, notebook.stem)
    except (Exception, SystemExit) as error:  # whatever stops it there, the student is not left with nothing
        path = to_file(content, notebook.stem, student(app), home)
        reason = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__
        raise Problem(f"the exchange did not take {notebook.stem} ({reason}): send this file instead: {path}") from None
    return f"Handed in {notebook.stem}, as it was saved, to the course {app.coursedir.course_id}.{remark}"


def read(notebook):
    """The bytes of a notebook; raises Problem where the file is none."""
    try:
        content = notebook.read_bytes()
        if isinstance(json.loads(content)["cells"], list):
            return content
    except OSError as error:
        raise Problem(f"{notebook} cannot be read ({error.strerror}): see that the file is yours.") from error
    except (ValueError, KeyError, TypeError):
        pass
    raise Problem(
        f"{notebook} is not a notebook, or is cut off: put it aside, run `course lab` for a fresh one and copy your "
        "answers there."
    )


def exchange(home):
    """nbgrader's application, which has read the configuration of this machine, this person and the course's folder."""
    from nbgrader.apps import NbGrader
    from nbgrader.auth import Authenticator
    from nbgrader.exchange import ExchangeFactory

    app = NbGrader(log_level="CRITICAL")
    with contextlib.chdir(home):
        app.initialize([])
    app.log.setLevel(logging.CRITICAL + 1)  # whatever the configuration says: what matters is said in one sentence
    app.authenticator = Authenticator(parent=app)
    app.exchange = ExchangeFactory(parent=app)
    return app


def is_open(app):
    """Whether an exchange is set up: the course has a name, and the shared folder (or another kind) is there."""
    from nbgrader.exchange.default import ExchangeSubmit

    if not app.coursedir.course_id:
        return False
    submit = app.exchange.Submit(coursedir=app.coursedir, authenticator=app.authenticator, parent=app)
    return type(submit) is not ExchangeSubmit or Path(submit.root).is_dir()


def submit(app, content, lab):
    """What `nbgrader submit` does, with the lab's one notebook and nothing else of its folder."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, lab, f"{lab}.ipynb")
        path.parent.mkdir()
        path.write_bytes(content)
        app.coursedir.assignment_id = lab
        step = app.exchange.Submit(coursedir=app.coursedir, authenticator=app.authenticator, parent=app)
        step.assignment_dir, step.path_includes_course = folder, False
        step.start()


def student(app):
    """Who hands in: the student of nbgrader's configuration, else who is logged in."""
    from nbgrader.utils import get_username

    return get_username() if app.coursedir.student_id == "*" else app.coursedir.student_id


def to_file(content, lab, student, home):
    """Write a file to send, named so that `nbgrader zip_collect` knows whose it is; returns its path."""
    folder = home / "work" / "hand-ins"
    student = re.sub(r"[^\w.@-]", "-", student)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        while True:
            now = datetime.now(UTC).strftime(TIME)
            path = folder / FILE_NAME.format(lab=lab, student=student, time=now)
            with contextlib.suppress(FileExistsError), path.open("xb") as file:
                file.write(content)
                return path
            time.sleep(0.1)  # an earlier hand-in of the same second is kept
    except OSError as error:
        raise Problem(f"{folder} cannot be written ({error.strerror}): see that the disk has room.") from error


def button(lab):
    """A button that saves the notebook of `lab` ("01-regression"), hands it in and shows beneath what was done."""
    import ipywidgets

    click = ipywidgets.Button(description=f"Hand in {lab}", layout={"width": "auto", "align_self": "flex-start"})
    said = ipywidgets.HTML()
    save = saver()

    def handle(_):
        click.disabled = True
        try:
            said.value = shown(f"Handing in {lab} ...")
            said.value = shown(save_and_hand_in(lab, save))
        finally:
            click.disabled = False

    click.on_click(handle)
    return ipywidgets.VBox([click, said])


def shown(sentence):
    """The sentence as HTML that a screen reader reads out when it changes."""
    return f'<p role="status" style="white-space: normal; overflow-wrap: anywhere">{html.escape(sentence)}</p>'


def saver():
    """A function that asks JupyterLab to save the current notebook; one that does nothing where ipylab is missing."""
    try:
        from ipylab import JupyterFrontEnd

        commands = JupyterFrontEnd().commands
    except Exception:  # ipylab is a convenience: whatever it stumbles over, handing in works without it
        return lambda: None
    return lambda: commands.execute("docmanager:save")


def save_and_hand_in(lab, save):
    """Save, then hand in, in a process of its own so that nbgrader's logging stays out of the notebook."""
    try:
        path = find(lab)
        before = path.stat().st_mtime_ns
        save()
        saved = wait_until_changed(path, before)
    except Problem as problem:
        return str(problem)
    command = [sys.executable, "-P", "-m", "course.command", "hand-in", lab]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    sentence = (done.stdout if done.returncode == 0 else done.stderr).strip().removeprefix("course hand-in: ")
    if saved:
        return sentence
    last = datetime.fromtimestamp(path.stat().st_mtime).strftime("%H:%M:%S")
    return f"{sentence} (Last saved at {last}: if you changed something since, save with Ctrl-S and press again.)"


def wait_until_changed(path, before):
    """Whether the file is written anew within a few seconds."""
    deadline = time.monotonic() + PATIENCE
    while path.stat().st_mtime_ns == before:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
