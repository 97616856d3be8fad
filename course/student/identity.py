"""Who hands in, and where to: the student's id, which is asked once, and the address that the instructor has set.

The id does not come from the login: on many machines everybody has the same one. Reads and writes `work/.student`, and
reads `hand-in.toml` in the course's folder, which `course release --send-to` writes.
"""

import re
import tomllib

from course.errors import Problem
from course.files import write_whole
from course.home import HOME, find_work

STUDENT = ".student"
ADDRESS = "hand-in.toml"
VALID = re.compile(r"[\w.@-]{1,64}")
EXAMPLE = "the name or number by which your instructor knows you"


def check_student(text):
    """The id in the form in which it is kept; raises Problem if `text` cannot be one."""
    student = text.strip()
    if not student:
        raise Problem(f"your student id is missing: write {EXAMPLE}.")
    if not VALID.fullmatch(student) or not re.search(r"\w", student):
        raise Problem(
            f"{student[:70]!r} cannot be a student id: write up to 64 letters, digits and . _ @ - without blanks."
        )
    return student


def read_student(home=HOME):
    """The id that was given last; "" if none was."""
    try:
        return check_student((find_work(home) / STUDENT).read_text(encoding="utf-8"))
    except (OSError, ValueError, Problem):
        return ""


def save_student(text, home=HOME):
    """Keep the id for all later hand-ins; returns it. Raises Problem if it is not valid or cannot be written."""
    student, path = check_student(text), find_work(home) / STUDENT
    if student != read_student(home):
        try:
            write_whole(path, f"{student}\n")
        except OSError as error:
            raise Problem(f"{path} cannot be written ({error.strerror}): check that the disk is not full.") from error
    return student


def read_address(home=HOME):
    """Where hand-ins are to be sent, as the instructor wrote it; "" if nothing was set."""
    try:
        address = tomllib.loads((home / ADDRESS).read_text(encoding="utf-8")).get("send-to", "")
    except (OSError, ValueError):
        return ""
    return address if isinstance(address, str) else ""


def format_address(address):
    """The content of `hand-in.toml`."""
    text = address.replace("\\", "\\\\").replace('"', '\\"')
    return f'# Where students send their hand-ins: written by `course release --send-to`.\nsend-to = "{text}"\n'
