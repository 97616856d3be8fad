"""Hand in a lab: run its visible checks, say what is done, then hand it in or write one file to send.

Reads the student's notebook and never changes it. `button("01-regression")` in a lab's last cell does the same after
saving the notebook. In JupyterLab, as `course lab` starts it, the button is drawn by the course's extension
(`jupyter/labextensions`) and works without the notebook's kernel; elsewhere it is a widget of that kernel.
"""

import html
import json
import re
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

from course.errors import Problem
from course.home import HOME, find_work
from course.student import delivery, identity, validation, work

LAB = re.compile(r"\d\d-[\w-]+")
PATIENCE = 5  # seconds for JupyterLab to save
BUTTON = "application/vnd.dml-course.hand-in+json"  # the button, for the course's extension of JupyterLab


def add_arguments(parser):
    """Declare the lab's number or name, the student's id, and whether the checks run first."""
    parser.add_argument("lab", metavar="NN", help="the lab: 1, 01 or 01-regression")
    parser.add_argument("--student", metavar="ID", help=f"your student id, {identity.EXAMPLE}; it is remembered")
    parser.add_argument("--no-check", action="store_true", help="do not run the visible checks first")


def run(args):
    """Hand in the lab `args.lab` and print what was done; raises Problem if that is not possible."""
    path = find_notebook(args.lab)
    read_notebook(path)
    can_ask = sys.stdin.isatty()
    identify(args.student, can_ask)
    if not args.no_check:
        print(describe_checks(path, show_progress=sys.stderr.isatty()))
        if can_ask and input("Hand it in now? [Y/n] ").strip().lower().startswith("n"):
            print("Nothing was handed in. Work on, and hand in when you are ready.")
            return
    print(hand_in(path))


def identify(student, can_ask, home=HOME):
    """Make sure that a student's id is known: `student` if it is given, else the one in work/, else ask for it."""
    known = identity.read_student(home)
    if student is not None:
        identity.save_student(student, home)
    elif not known and delivery.load_nbgrader(home).coursedir.student_id == "*":
        if not can_ask:
            raise Problem(f"your student id is not known yet: add `--student ID` once, {identity.EXAMPLE}.")
        identity.save_student(input(f"Your student id ({identity.EXAMPLE}): "), home)


def describe_checks(path, show_progress=False):
    """Run the visible checks of the notebook at `path`; returns a sentence that sums them up, or says why none does."""

    def show(item):
        if show_progress:
            print(item["mark"], item["name"], item["text"], file=sys.stderr, flush=True)

    try:
        return validation.run_apart(path, show)["text"]
    except Problem as problem:  # a lab whose checks cannot run can still be handed in
        return f"The checks could not be counted: {problem}"


def find_notebook(lab, home=HOME):
    """The path of the notebook of a lab ("1", "01" or "01-regression").

    A notebook of that name in the current folder comes first, then the one in work/. Raises Problem if there is no such
    lab, or no notebook of it.
    """
    folders = [path.name for part in (home / "labs", find_work(home)) for path in part.glob("*") if path.is_dir()]
    here = [path.stem for path in Path.cwd().glob("*.ipynb")]
    names = sorted(name for name in {*folders, *here} if LAB.fullmatch(name))
    matches = [name for name in names if name == lab or (lab.isdecimal() and int(name[:2]) == int(lab))]
    if not matches:
        raise Problem(f"there is no lab {lab}; there are: {', '.join(names) or 'none yet'}.")
    if len(matches) > 1:
        raise Problem(f"{lab} could be {' or '.join(matches)}: give the whole name.")
    for path in (Path.cwd() / f"{matches[0]}.ipynb", find_work(home) / matches[0] / f"{matches[0]}.ipynb"):
        if path.is_file():
            return path
    raise Problem(f"{path} does not exist, so there is nothing to hand in: run `course lab` to get the lab.")


def hand_in(notebook, home=HOME):
    """Hand in the notebook at the path `notebook`; returns lines that say what was done.

    Raises Problem if the file is not a notebook, if no student's id is known, or if the exchange did not accept it and
    a file to send was written.
    """
    done = delivery.deliver(read_notebook(notebook), notebook.stem, home)
    return f"{done}\nNothing in it has changed since you got it." if work.is_untouched(notebook, home) else done


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


# What the course's extension of JupyterLab runs in a kernel of its own, in the folder of the notebook


def publish_student(home=HOME):
    """Publish the student's id, whether it can be changed, and where hand-ins go."""
    from IPython.display import publish_display_data

    app = delivery.load_nbgrader(home)
    is_open = app.coursedir.student_id == "*"
    student = identity.read_student(home) if is_open else app.coursedir.student_id
    event = {"event": "student", "student": student, "isOpen": is_open, "address": identity.read_address(home)}
    publish_display_data({validation.MIME: event})


def publish_hand_in(lab, student):
    """Hand in, and publish the lines that say what was done. student: None if it cannot be changed."""
    from IPython.display import publish_display_data

    is_done, text = run_command(lab, *([] if student is None else ["--student", student]), "--no-check")
    publish_display_data(
        {validation.MIME: {"event": "handed-in", "isDone": is_done, "text": text[:1].upper() + text[1:]}}
    )


def run_command(lab, *options):
    """Run `course hand-in` in a separate process, which keeps nbgrader's log out of the notebook.

    Returns (whether it succeeded, what it says).
    """
    command = [sys.executable, "-P", "-m", "course.command", "hand-in", lab, *options]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    said = done.stdout if done.returncode == 0 else done.stderr
    return done.returncode == 0, said.strip().removeprefix("course hand-in: ")


# The button


def button(lab):
    """A button that saves the notebook of `lab` ("01-regression"), hands it in and shows the result beneath."""
    return Button(lab)


class Button:
    """The button as each place can show it: the course's extension of JupyterLab, another notebook, or text."""

    def __init__(self, lab):
        self.lab = lab

    def _repr_mimebundle_(self, include=None, exclude=None):
        """The formats of the button, from which the notebook chooses; IPython calls this method by name."""
        shown = {BUTTON: {"lab": self.lab}, "text/plain": f"To hand in, run `course hand-in {self.lab}` in a terminal."}
        return shown | make_widget(self.lab)._repr_mimebundle_().copy() | {"text/plain": shown["text/plain"]}


def make_widget(lab):
    """The button as a widget, which works as long as the kernel that made it."""
    import ipywidgets

    field = ipywidgets.Text(value=identity.read_student(), description="Student id", placeholder=identity.EXAMPLE)
    click = ipywidgets.Button(description=f"Hand in {lab}", layout={"width": "auto", "align_self": "flex-start"})
    status = ipywidgets.HTML(format_status("If nothing happens when you press the button, run this cell again."))
    save = make_saver()

    def handle(_):
        click.disabled = True
        try:
            status.value = format_status(f"Running the visible checks of {lab}, then handing in ...")
            status.value = format_status(save_and_hand_in(lab, save, field.value))
        finally:
            click.disabled = False

    click.on_click(handle)
    return ipywidgets.VBox([field, click, status])


def format_status(sentence):
    """The sentence as HTML that a screen reader reads out whenever it changes."""
    return f'<p role="status" style="white-space: pre-line; overflow-wrap: anywhere">{html.escape(sentence)}</p>'


def make_saver():
    """A function that asks JupyterLab to save the current notebook, or does nothing if ipylab does not work."""
    try:
        from ipylab import JupyterFrontEnd

        commands = JupyterFrontEnd().commands
    except Exception:  # ipylab is a convenience: whatever fails in it, handing in works without it
        return lambda: None
    return lambda: commands.execute("docmanager:save")


def save_and_hand_in(lab, save, student):
    """Save and hand in; returns the lines to show."""
    try:
        path = find_notebook(lab)
        identity.check_student(student)
        before = path.stat().st_mtime_ns
        save()
        is_saved = wait_until_changed(path, before)
    except Problem as problem:
        return str(problem)
    _, said = run_command(lab, "--student", student)
    if is_saved:
        return said
    last = datetime.fromtimestamp(path.stat().st_mtime).strftime("%H:%M:%S")
    return f"{said}\n(Last saved at {last}: if you changed it since then, save with Ctrl-S and press again.)"


def wait_until_changed(path, before):
    """Wait up to PATIENCE seconds for the notebook to be written; returns whether it was. before: st_mtime_ns.

    Jupyter's server empties the file before it writes, so a file that has changed may still be incomplete.
    """
    deadline = time.monotonic() + PATIENCE
    while path.stat().st_mtime_ns == before or not is_complete(path):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def is_complete(path):
    """Whether the whole file is a notebook."""
    try:
        read_notebook(path)
    except Problem:
        return False
    return True
