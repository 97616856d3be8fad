"""Where everything of a class on one server lies: the one place that puts together a path in its folder.

Makes what is missing. Of the folder a student's sandbox shows `homes/NAME`, `exchange/inbox/NAME` and `feedback/NAME`
of the class, to that student alone; the rest can be read by the Hub's user only.
"""

import secrets
from pathlib import Path

from autograder.classroom.settings import COLUMNS, TEMPLATE
from course.files import write_whole

HEADER = ",".join(COLUMNS) + "\n"


class Folder:
    """The paths of the class in the folder `root`."""

    def __init__(self, root):
        self.root = Path(root).resolve()
        self.settings = self.root / "classroom.toml"
        self.students = self.root / "students.csv"
        self.instructors = self.root / "instructors.csv"  # made for those whom the settings name
        self.hub = self.root / "hub"  # the Hub's database, cookie secret, ports and logs
        self.config = self.hub / "jupyterhub_config.py"
        self.log = self.hub / "hub.log"
        self.ports = self.hub / "ports.json"
        self.proxy_token = self.hub / "proxy_token"  # by which the Hub changes the proxy's routes
        self.used_passwords = self.hub / "used_passwords.json"  # digests of first passwords that opened an account
        self.lock = self.hub / ".lock"
        self.client_secret = self.root / "client-secret"  # what an OpenID Connect provider gave for this class
        self.launches = self.hub / "lti.sqlite"  # who came from an LTI platform, and where grades belong there
        self.tool_key = self.hub / "lti-key.pem"  # the class signs with it what it sends to the platform
        self.homes = self.root / "homes"
        self.inboxes = self.root / "exchange" / "inbox"
        self.hand_ins = self.root / "exchange" / "hand-ins"  # what was collected for `course grade`

    def home(self, name):
        """Return the home of a student."""
        return self.homes / name

    def inbox(self, name):
        """Return the folder that a student sees as the exchange's inbound/, and no other student sees."""
        return self.inboxes / name

    def collected(self, name):
        """Return the file that says which hand-ins of a student's inbox were collected, and when each was handed in."""
        return self.root / "exchange" / "collected" / f"{name}.json"

    def server_log(self, name):
        """Return the log of a student's server."""
        return self.hub / "servers" / f"{name}.log"

    def prepare(self):
        """Make what is missing; returns a sentence for each file that the instructor should read."""
        made = []
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.root.stat().st_mode & 0o007:  # a folder made by hand
            made.append(f"Every account of this machine may enter {self.root}: chmod o-rwx '{self.root}'.")
        for path in (self.hub, self.server_log("").parent, self.homes, self.inboxes, self.hand_ins):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path, content in ((self.settings, TEMPLATE), (self.students, HEADER)):
            if not path.exists():
                write_whole(path, content, mode=0o600)
                made.append(f"Made {path}.")
        return made

    def make_passwords(self, instructors, known):
        """Give those `instructors` a first password who are not among `known` names; returns a sentence or nothing."""
        new = [name for name in instructors if name not in known]
        if not new:
            return []
        text = self.instructors.read_text(encoding="utf-8-sig") if self.instructors.exists() else HEADER
        text += "" if text.endswith("\n") else "\n"  # an editor may have left it out
        text += "".join(f"{name},{secrets.token_urlsafe(9)},,\n" for name in new)
        write_whole(self.instructors, text, mode=0o600)
        return [f"Made a first password for {', '.join(new)}: it is in {self.instructors}."]
