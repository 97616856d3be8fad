"""What the instructor wrote about a class on one server: classroom.toml, and the tables of its people.

Reads files and writes none. Every mistake in them is a Problem with the file, the place and what to write instead.
"""

import csv
import dataclasses
import re
import tomllib
from pathlib import Path

from course.errors import Problem

KINDS = ("csv", "pam", "oidc", "lti")
COLUMNS = ("name", "password", "email", "groups")
# A name is a folder's name, a student id, and a part of addresses.
NAME = re.compile(r"[a-z0-9_][a-z0-9_.@-]{0,63}")
WANTED_NAME = "1 to 64 lower-case letters, digits and _ . @ -, with a letter, a digit or _ at the beginning"
TEMPLATE = """# A class on one server, read by `course classroom` at each start. What is left out has the value shown.

# name = "ml"                     # the course's name in nbgrader's exchange
# address = "127.0.0.1"           # "0.0.0.0" admits other machines
# port = 8000
# certificate = "cert.pem"        # TLS: without it, everybody on the network can read passwords
# key = "key.pem"
# domain = ""                     # "https://ml.example.org": each student's pages get a domain below this one
# instructors = ["instructor"]    # they alone open formgrader and look after the Hub and the leaderboard; [] by default
                                  # for the kinds "oidc" and "lti", whose users may choose the name "instructor"
# class = "class"                 # the folder of nbgrader's course
# board = "board"                 # the leaderboard's folder

[accounts]
kind = "csv"                      # "csv": students.csv with first passwords; "pam": accounts of this machine;
                                  # "oidc" and "lti": accounts of your university or learning platform

[limits]                          # for each student
# memory = 3000                   # MB
# processes = 1000                # processes and threads
# engines_per_student = 5
# engines = 16                    # at once for all; left out, 4 per core. `course classroom --plan 60 FOLDER` measures
"""


@dataclasses.dataclass(frozen=True)
class Settings:
    """classroom.toml. Paths are absolute. accounts and limits: tables, whose keys their own modules check."""

    certificate: Path | None
    key: Path | None
    class_: Path
    board: Path
    name: str = "ml"
    address: str = "127.0.0.1"
    port: int = 8000
    domain: str = ""
    instructors: tuple = ("instructor",)
    accounts: dict = dataclasses.field(default_factory=lambda: {"kind": "csv"})
    limits: dict = dataclasses.field(default_factory=dict)

    @property
    def host(self):
        """The address at which the Hub listens, as it stands in a URL."""
        return f"[{self.address}]" if ":" in self.address else self.address

    @property
    def local_url(self):
        """The address at which a program on this machine finds the Hub."""
        host = "127.0.0.1" if self.address in ("0.0.0.0", "::", "") else self.host
        return f"http{'s' * bool(self.certificate)}://{host}:{self.port}"

    @property
    def url(self):
        """The address at which a browser finds the Hub."""
        return self.domain or self.local_url


@dataclasses.dataclass(frozen=True)
class Person:
    """One line of students.csv or instructors.csv."""

    name: str
    password: str = ""
    email: str = ""
    groups: tuple = ()


PATHS = {"certificate": None, "key": None, "class": "class", "board": "board"}
KEYS = {"name": str, "address": str, "port": int, "domain": str, "instructors": list, "accounts": dict, "limits": dict}


def read(folder):
    """Return the Settings of the class in a Folder. Raises Problem."""
    path = folder.settings
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise Problem(f"{path} cannot be read ({error.strerror}).") from error
    except ValueError as error:
        raise Problem(f"{path} is not valid TOML: {error}.") from error
    values = {}
    for key, value in table.items():
        kind = str if key in PATHS else KEYS.get(key)
        if kind is None:
            raise Problem(f"{path}: there is no setting {key!r}; there are {', '.join([*PATHS, *KEYS])}.")
        if not isinstance(value, kind) or isinstance(value, bool):
            words = {str: "a text in quotes", int: "a whole number", list: "a list of names", dict: "a [table]"}
            raise Problem(f"{path}: {key} must be {words[kind]}, not {value!r}.")
        values[key] = value
    for key, default in PATHS.items():
        value = values.pop(key, default)
        if default and not value:
            raise Problem(f"{path}: {key} must name a folder.")
        values["class_" if key == "class" else key] = value and folder.root / value
    has_other_names = values.get("accounts", {}).get("kind") in ("oidc", "lti")
    values["instructors"] = tuple(values.get("instructors", () if has_other_names else Settings.instructors))
    settings = Settings(**values)
    check(settings, path)
    return settings


def check(settings, path):
    """Raise Problem where a value cannot be used."""
    if settings.accounts.get("kind") not in KINDS:
        raise Problem(f"{path}: kind of [accounts] must be one of {', '.join(KINDS)}.")
    if not 0 < settings.port < 65536:
        raise Problem(f"{path}: port must lie between 1 and 65535, not {settings.port}.")
    if not re.fullmatch(r"[A-Za-z0-9][\w-]*", settings.name):
        raise Problem(f"{path}: name {settings.name!r} must consist of letters, digits, _ and -.")
    if settings.domain and not re.fullmatch(r"https?://[\w.-]+(:\d+)?", settings.domain):
        raise Problem(f"{path}: domain must look like https://ml.example.org, not {settings.domain!r}.")
    for name in settings.instructors:
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise Problem(f"{path}: the instructor's name {name!r} must be {WANTED_NAME}.")
    if bool(settings.certificate) != bool(settings.key):
        raise Problem(f"{path}: TLS needs both certificate and key.")
    for file in filter(None, (settings.certificate, settings.key)):
        if not file.is_file():
            raise Problem(f"{path}: there is no file {file}.")


def read_people(path, needs_password):
    """Return name -> Person of the table at `path`, {} where there is none. Raises Problem with the line.

    needs_password: whether a line without a first password is a mistake.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = list(csv.reader(file))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, csv.Error) as error:
        raise Problem(f"{path} cannot be read as a table in UTF-8 ({error}): save it again as CSV.") from error
    header = [cell.strip().lower() for cell in lines[0]] if lines else []
    if not {"name", "password"} <= set(header) <= set(COLUMNS) or len(set(header)) < len(header):
        raise Problem(f"{path}: line 1 must name the columns {','.join(COLUMNS)}; email and groups may be left out.")
    people = {}
    for number, cells in enumerate(lines[1:], 2):
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) > len(header):
            raise Problem(f"{path}: line {number} has more cells than line 1; put quotes around a cell with a comma.")
        person = read_person(dict(zip(header, map(str.strip, cells), strict=False)), path, number, needs_password)
        if person.name in people:
            raise Problem(f"{path}: line {number} names {person.name} a second time.")
        people[person.name] = person
    return people


def read_person(row, path, number, needs_password):
    """Return the Person of one line. Raises Problem."""
    name = row.get("name", "").lower()
    if not NAME.fullmatch(name):
        raise Problem(f"{path}: line {number}: the name {name!r} must be {WANTED_NAME}.")
    password = row.get("password", "")
    if needs_password and not 8 <= len(password.encode()) <= 72:
        raise Problem(f"{path}: line {number}: {name} needs a first password of 8 to 72 characters.")
    groups = tuple(filter(None, map(str.strip, row.get("groups", "").split(";"))))
    return Person(name, password, row.get("email", ""), groups)


def find_people(folder, settings):
    """Return name -> Person of all students and instructors of the class in a Folder. Raises Problem."""
    needs_password = settings.accounts["kind"] == "csv"
    return read_people(folder.students, needs_password) | read_people(folder.instructors, needs_password)
