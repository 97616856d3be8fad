"""Deliver one notebook: through nbgrader's exchange if there is one, else as one file to send.

Writes to the exchange, or to `work/hand-ins/`, where every hand-in is kept. A hand-in carries the student's id and the
random number of the student's folder, because two students may give the same id.
"""

import contextlib
import json
import logging
import re
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from course.errors import Problem
from course.files import write_whole
from course.home import find_work
from course.student import identity, work

# The name of nbgrader's own example, with hyphens allowed; `nbgrader zip_collect` needs COLLECTED in its configuration.
# The time has no hyphens: nbgrader cannot read the time in its own example when seconds or minutes are above 31.
FILE_NAME = "{lab}_{student}_attempt_{time}_{lab}.ipynb"
COLLECTED = r"(?:.*/)?.*?\d\d-[A-Za-z0-9-]+_(?P<student_id>[^/]+)_attempt_(?P<timestamp>\d+)_(?P<file_id>[\w-]+)"
TIME = "%Y%m%d%H%M%S"


def deliver(content, lab, home):
    """Hand in `content`, the bytes of a notebook of `lab`, under the id in `work/`.

    Returns lines that say what was done. Raises Problem if no id was given yet. Where the
    exchange does not accept it, a file to send is written and the Problem names it.
    """
    app = load_nbgrader(home)
    student = get_student(app, home)
    content = add_origin(content, student, home)
    if not has_exchange(app):
        return describe_file(write_hand_in(content, lab, student, home), student, home)
    try:
        submit(app, content, lab, student)
    except (Exception, SystemExit) as error:  # whatever stops the exchange, the student gets a file to send
        path = write_hand_in(content, lab, student, home)
        reason = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__
        raise Problem(f"the exchange did not accept {lab} ({reason}). Send this file instead: {path}") from None
    return f"Handed in {lab}, as it was saved, to the course {app.coursedir.course_id} as student {student}."


def describe_file(path, student, home):
    """The lines that say which file to send, and to whom."""
    address = identity.read_address(home) or "your instructor"
    return f"Wrote your hand-in as student {student}.\nFile: {path}\nSend it to: {address}"


def add_origin(content, student, home):
    """The bytes of a notebook with the student's id and the random number of the folder at `home` in its metadata."""
    notebook = json.loads(content)
    metadata = notebook.get("metadata")
    notebook["metadata"] = (metadata if isinstance(metadata, dict) else {}) | {
        "course": {"origin": work.read_origin(home), "student": student}
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


def submit(app, content, lab, student):
    """Do what `nbgrader submit` does, with the lab's one notebook and nothing else from its folder."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, lab, f"{lab}.ipynb")
        path.parent.mkdir()
        path.write_bytes(content)
        app.coursedir.assignment_id, app.coursedir.student_id = lab, student
        step = app.exchange.Submit(coursedir=app.coursedir, authenticator=app.authenticator, parent=app)
        step.assignment_dir, step.path_includes_course = folder, False
        step.start()


def get_student(app, home):
    """The student's id: the one that an instructor has put into nbgrader's configuration, else the student's answer.

    Raises Problem if there is none.
    """
    student = identity.read_student(home) if app.coursedir.student_id == "*" else app.coursedir.student_id
    return student or identity.check_student("")


def write_hand_in(content, lab, student, home):
    """Write a file to send, with a name that `nbgrader zip_collect` can read; returns its path."""
    folder = find_work(home) / "hand-ins"
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
