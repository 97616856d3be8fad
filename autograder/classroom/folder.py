"""Where everything of a class on one server lies: the one place that puts together a path in its folder.

Makes what is missing. Only `exchange/inbox/NAME`, `homes/NAME` and `class/feedback/NAME` are ever visible in a student's
sandbox, each to that student alone; the folder itself can be read by the Hub's user only.
"""

import secrets
from pathlib import Path

from course.files import write_whole

SETTINGS = "classroom.toml"
STUDENTS_HEADER = "name,password,email,groups\n"


class Folder:
    """The paths of the class in the folder `root`."""

    def __init__(self, root):
        self.root = Path(root).resolve()
        self.settings = self.root / SETTINGS
        self.students = self.root / "students.csv"  # name, first password, and optionally email and groups
        self.instructors = self.root / "instructors.csv"  # the same table, made for those whom the settings name
        self.hub = self.root / "hub"  # the Hub's database, cookie secret, ports and logs
        self.homes = self.root / "homes"
        self.exchange = self.root / "exchange"
        self.hand_ins = self.exchange / "hand-ins"  # what was collected, for `course grade`
        self.class_ = self.root / "class"  # nbgrader's course; settings may name another folder
        self.board = self.root / "board"

    def home(self, name):
        """Return the home of a student."""
        return self.homes / name

    def inbox(self, name):
        """Return the folder that a student sees as the exchange's inbound/, and nobody else sees."""
        return self.exchange / "inbox" / name

    def prepare(self, template):
        """Make what is missing. template: the text of a new classroom.toml. Returns a sentence per thing made."""
        made = []
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path, content in ((self.settings, template), (self.students, STUDENTS_HEADER)):
            if not path.exists():
                write_whole(path, content, mode=0o600)
                made.append(f"Made {path}: read it and change it.")
        for path in (self.hub, self.homes, self.exchange, self.hand_ins, self.exchange / "inbox"):
            path.mkdir(mode=0o700, exist_ok=True)
        return made

    def make_instructors(self, names):
        """Give every instructor without an account a first password in instructors.csv; returns sentences."""
        known = self.instructors.read_text() if self.instructors.exists() else STUDENTS_HEADER
        have = {line.split(",")[0] for line in known.splitlines()[1:]}
        new = [name for name in names if name not in have]
        for name in new:
            known += f"{name},{secrets.token_urlsafe(9)},,\n"
        if new:
            write_whole(self.instructors, known, mode=0o600)
        return [f"Made a first password for {', '.join(new)}: see {self.instructors}."] if new else []
