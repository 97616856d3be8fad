"""What the instructor wrote about a class on one server: classroom.toml, and the tables of its people.

Reads files and writes none. Every mistake in them is a Problem with the file, the place and what to write instead.
"""

import csv
import dataclasses
import re
import tomllib
from pathlib import Path

from autograder.classroom.folder import STUDENTS_HEADER
from course.errors import Problem

KINDS = ("csv", "pam", "oidc", "lti")
NAME = re.compile(r"[^\W_A-Z][^\WA-Z]*(?:[.@-]+[^\WA-Z]+)*")  # a folder's name, a student id and part of an address
COLUMNS = STUDENTS_HEADER.strip().split(",")
TEMPLATE = """# A class on one server, read by `course classroom` at each start. What is left out has the value shown.

name = "ml"                    # the course's name in nbgrader's exchange
address = "127.0.0.1"          # "0.0.0.0" admits other machines
port = 8000
# certificate = "cert.pem"     # TLS, without which passwords can be read on the network
# key = "key.pem"
instructors = ["instructor"]   # they alone open formgrader and manage the leaderboard and the Hub
# class = "class"              # the folder of nbgrader's course
# board = "board"              # the leaderboard's folder

[accounts]
kind = "csv"                   # students.csv with first passwords; or "pam", "oidc", "lti"

[limits]                       # per student
"""


@dataclasses.dataclass(frozen=True)
class Settings:
    """classroom.toml. Paths are absolute; accounts and limits are tables, which their own modules read."""

    name: str = "ml"
    address: str = "127.0.0.1"
    port: int = 8000
    certificate: Path | None = None
    key: Path | None = None
    instructors: tuple = ("instructor",)
    class_: Path = Path("class")
    board: Path = Path("board")
    accounts: dict = dataclasses.field(default_factory=lambda: {"kind": "csv"})
    limits: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Person:
    """One line of students.csv or instructors.csv."""

    name: str
    password: str = ""
    email: str = ""
    groups: tuple = ()
