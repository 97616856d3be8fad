"""Run the competition's leaderboard, or look after it.

    course board DIR                    the board in this folder, made where there is none; Ctrl-C ends it
    course board backup DIR [FILE]      all of it into one file, also while it runs
    course board restore DIR FILE       the board from that file, in a folder that has none
    course board audit DIR              whether the past is as it was
    course board export DIR FILE        the standing as CSV
    course board grade DIR CLASS        the standing into the gradebook of a class

DIR has board.toml (what you may set, read again when it changes), instructor-token, the database, and backups/. The
board starts two workers (leaderboard/worker.py), starts them again when they end, and ends with them.
"""

import argparse
import asyncio
import contextlib
import csv
import fcntl
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import tomllib
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import sqlalchemy as sql
import uvicorn

from autograder.competition.leaderboard import api, app, audit, hub, rules, worker
from autograder.competition.leaderboard.store import TOKEN, Store, migrate
from course.competition import scene
from course.errors import Problem

ACTIONS = ("backup", "restore", "audit", "export", "grade")
TICK = 1  # seconds between two looks at board.toml and at the workers
GRACE = 3  # seconds for answers under way when the board ends
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
ASSIGNMENT = "leaderboard"  # in nbgrader's gradebook
FEWEST = 20  # characters of an instructor's token that a person wrote
POINTS = 100  # a split: overall accuracy in percent
DEFAULTS = {"name": "The leaderboard", "time_zone": "UTC", "per_day": 5}
DAYS = 14  # until the deadline that a new board has before somebody sets one
TOML = """\
# Read again whenever it changes. The board's own page sets the same: what is changed there is written here.
name = {name}
code = {code}  # groups need it to join
deadline = {deadline}  # in the time zone below; after it nothing comes in, and the private part is scored
time_zone = {time_zone}  # as in Europe/Berlin
per_day = {per_day}  # entries that a group may hand in a day
"""


def add_arguments(parser):
    parser.formatter_class, parser.description = argparse.RawDescriptionHelpFormatter, __doc__
    parser.add_argument("action", nargs="?", choices=ACTIONS, metavar="ACTION", help=" | ".join(ACTIONS))
    parser.add_argument("folder", type=Path, metavar="DIR", help="the board's folder")
    parser.add_argument("target", type=Path, nargs="?", metavar="FILE", help="the file, or the class's folder")
    parser.add_argument("--db", metavar="URL", help="a database elsewhere: postgresql://user@host/name")
    parser.add_argument("--host", default="127.0.0.1", help="listen here; 0.0.0.0: other machines may come, too")
    parser.add_argument("--port", type=int, default=8000, help="8000, or another; 0: any that is free")
    parser.add_argument(
        "--receipt", action="append", default=[], metavar="HASH", help="audit: a line that must be there"
    )
    parser.add_argument("--members", type=Path, metavar="CSV", help="grade: a table with the columns group and student")


def run(args):
    """Do what `args` say; returns the exit status. Raises Problem."""
    if args.action in ("restore", "export", "grade") and args.target is None:
        raise Problem(f"name the {'class' if args.action == 'grade' else 'file'}: course board {args.action} DIR FILE.")
    if args.action is None and args.target is not None:
        raise Problem(f"{args.folder} is none of {', '.join(ACTIONS)}; the board itself is: course board DIR.")
    if args.action in (None, "restore"):
        with unreadable(), alone(args.folder):
            return (serve if args.action is None else restore)(args)
    store = store_of(args)
    if store.is_sqlite and not Path(store.url.database).is_file():
        raise Problem(f"{args.folder} has no board: course board {args.folder} makes one.")
    with contextlib.closing(store):
        try:
            return {"backup": backup, "audit": check, "export": export, "grade": grade}[args.action](args, store)
        except sql.exc.DatabaseError as error:
            raise Problem(f"the board's database cannot be read ({str(error.orig).strip()}).") from error


def store_of(args):
    """The Store of the board in the folder, or where `--db` says it is."""
    return Store(args.db or f"sqlite:///{args.folder.resolve() / 'board.sqlite'}")


@contextlib.contextmanager
def unreadable():
    """What is made here others on this machine cannot read: it has what groups handed in."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


@contextlib.contextmanager
def alone(folder):
    """Use the folder, made where it is missing, as the only one. Raises Problem."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise Problem(f"{folder} cannot be a board's folder ({error.strerror}): name another.") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Problem(f"a board is running in {folder}: end that one first.") from None
        yield


def say(text):
    """Print a line, unless who read it has gone: the board goes on without."""
    with contextlib.suppress(OSError):
        print(text, flush=True)


# -- the board


def serve(args):
    """Run the board until it is ended."""
    with contextlib.closing(store_of(args)) as store, listening(args) as listener:
        file = prepare(args.folder, store)
        config = uvicorn.Config(
            app.make_app(app.Config(args.folder, store, hub.Hub(store) if hub.is_service() else None, hub.prefix())),
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE,
        )
        host, port = listener.getsockname()[:2]
        said = f"The board: http://{host}:{port}/\nCtrl-C ends it."
        with Workers(store) as workers:
            asyncio.run(Server(config, said, lambda: workers.look() or file.look()).serve([listener]))
        say_head(store)
    return 0


def listening(args):
    """A socket that listens where `args` say. Raises Problem."""
    host, port = hub.address() if hub.is_service() else (args.host, args.port)
    if not 0 <= port < 2**16:
        raise Problem(f"the board cannot listen at port {port}: ports are numbered up to 65535.")
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)
    except OSError as error:
        reason = error.strerror or error
        raise Problem(f"the board cannot listen at {host}:{port} ({reason}): --port names another.") from error
    return listener


class Server(uvicorn.Server):
    """Says where it listens, looks after what goes on beside it, and ends quietly, streams of events with it."""

    def __init__(self, config, said, look):
        super().__init__(config)
        self.said, self.look = said, look

    @contextlib.contextmanager
    def capture_signals(self):
        before = {number: signal.signal(number, self.handle_exit) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets=None):
        await super().startup(sockets)
        say(self.said)
        self.looking = asyncio.create_task(self.keep_looking())

    async def keep_looking(self):
        while True:
            await asyncio.sleep(TICK)
            try:
                await asyncio.to_thread(self.look)
            except (sql.exc.SQLAlchemyError, OSError) as error:  # the database or the machine is busy: later, then
                say(f"Looking after the board failed ({type(error).__name__}: {error}); it is tried again.")

    async def shutdown(self, sockets=None):
        self.looking.cancel()
        await self.config.app.state.events.end()
        await super().shutdown(sockets)


class Workers:
    """The processes that score and verify; each is started again when it has ended, and ends with this one."""

    def __init__(self, store):
        # as nice as can be from its first line on: what it imports looks at that
        self.command = ["nice", "-n", "10", sys.executable, "-m", "autograder.competition.leaderboard.worker"]
        self.env = os.environ | {worker.URL: store.url.render_as_string(hide_password=False)}
        self.running = {}

    def __enter__(self):
        self.look()
        return self

    def look(self):
        """Start those that are not there."""
        for role in worker.ROLES:
            process = self.running.get(role)
            if process is not None and process.poll() is not None:
                say(f"The worker that does {role} ended ({process.returncode}); it is started again.")
            if process is None or process.poll() is not None:
                self.running[role] = subprocess.Popen(
                    [*self.command, role], stdin=subprocess.PIPE, env=self.env, start_new_session=True
                )

    def __exit__(self, *_):
        for process in self.running.values():
            process.stdin.close()
        for process in self.running.values():
            process.wait()


def prepare(folder, store):
    """Make what is missing in the board's folder and its database; returns the SettingsFile. Raises Problem."""
    path = folder / "board.toml"
    fresh = not path.exists()
    if fresh:
        deadline = (rules.now() + timedelta(days=DAYS)).replace(hour=23, minute=59, second=0, microsecond=0)
        values = DEFAULTS | {"code": secrets.token_hex(5), "deadline": deadline}
        path.write_text(as_toml(rules.settings(None, values)), encoding="utf-8")
    text = read(path)
    token = store.open(rules.settings(None, DEFAULTS | values_of(path, text)))
    file = SettingsFile(path, store)
    if fresh:
        print(f"Made {path}: see that its deadline and limits are what you want.")
        file.write()  # another machine may have made the board, with other settings
    elif token is not None:
        file.keep(text)
    if changed := file.take():
        print(f"Taken from board.toml: {', '.join(changed)}.")
    keep_token(folder / "instructor-token", store, token)
    return file


class SettingsFile:
    """board.toml and the store's settings, in step: what is changed in one comes into the other.

    `.board.toml` beside it is the file as it was when both last said the same; so a change that was made in the file is
    told from one that was made elsewhere, on the page or on another machine. path: of board.toml.
    """

    def __init__(self, path, store):
        self.path, self.store, self.wrong = path, store, None
        self.kept = path.with_name(f".{path.name}")

    def look(self):
        """Take what was changed in the file, write what was changed elsewhere; what is wrong in it is said once."""
        if not self.path.exists():
            return
        wrong = None
        try:
            if changed := self.take():
                say(f"Taken from board.toml: {', '.join(changed)}.")
        except Problem as problem:
            wrong = str(problem)
            if wrong != self.wrong:
                say(f"Not taken from board.toml: {wrong}")
        self.wrong = wrong

    def take(self):
        """Take what was changed in the file since both said the same; returns the names. Raises Problem."""
        text = read(self.path)
        values, changed = values_of(self.path, text), {}
        before = read(self.kept) if self.kept.exists() else ""
        if text != before:
            known = values_of(self.kept, before)
            changed = {key: value for key, value in values.items() if known.get(key) != value}
            if "time_zone" in changed and "deadline" in values:
                changed["deadline"] = values["deadline"]  # written in that zone
            self.store.change(changed, "board.toml")
            self.keep(text)
        settings = self.store.settings()
        if rules.settings(settings, values) != settings and text != as_toml(settings):
            self.write()
        return changed

    def write(self):
        """Write the store's settings into the file."""
        text = as_toml(self.store.settings())
        put(self.path, text)
        self.keep(text)

    def keep(self, text):
        """Both say the same now."""
        put(self.kept, text)


def put(path, text):
    """Write a file as a whole, or leave it as it is, whatever ends this process."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def read(path):
    """The text of board.toml. Raises Problem."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise Problem(f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).") from error


def values_of(path, text):
    """What a board.toml says, a dict. Raises Problem."""
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise Problem(f"{path} cannot be read as TOML ({error}).") from error


def as_toml(settings):
    """The text of a board.toml that says these Settings."""
    text = {name: json.dumps(getattr(settings, name)) for name in ("name", "code", "time_zone", "per_day")}
    local = settings.deadline.astimezone(ZoneInfo(settings.time_zone)).replace(tzinfo=None)
    return TOML.format(**text, deadline=local.isoformat())


def keep_token(path, store, new):
    """See that the file has the instructor's token: the one that it has, or else a `new` one. Raises Problem."""
    there = path.read_text().strip() if path.exists() else ""
    if there and len(there) < FEWEST:
        raise Problem(f"the token in {path} has {len(there)} characters: write at least {FEWEST}, or delete the file.")
    if not there and not new and not store.is_sqlite:
        print(f"The instructor's token is in the folder in which the board was made: copy that file to {path}.")
        return
    token = there or new or secrets.token_urlsafe(TOKEN)
    if token != there:
        path.unlink(missing_ok=True)
        path.write_text(token + "\n")
        print(f"The instructor's token, kept in {path}: {token}")
    store.set_instructor(token)


def say_head(store):
    """Print the log's last hash: with it, lines that are cut off later are missed."""
    number, last = store.head()
    say(f"The log has {number} lines; the last one's hash is {last}")


# -- looking after it


def backup(args, store):
    """Copy every row, as of one moment, into an SQLite file.

    Row by row for both databases, so that one file does for either, and needs no tool of the server's version.
    """
    target = args.target or args.folder / "backups" / f"{rules.now():%Y%m%d-%H%M%S}.sqlite"
    if target.exists():
        raise Problem(f"{target} is there already: name another file.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with unreadable(), tempfile.TemporaryDirectory(dir=target.parent) as folder:
            made = Path(folder, "board.sqlite")
            with contextlib.closing(Store(f"sqlite:///{made}")) as copy:
                migrate(copy.engine)
                number, last = store.copy_to(copy)
            made.rename(target)
    except OSError as error:
        raise Problem(f"{target} cannot be written ({error.strerror}).") from error
    print(f"Backed up to {target}\nThe log has {number} lines; the last one's hash is {last}")


def restore(args):
    """Copy every row of a backup into a board that is empty, and write its board.toml."""
    if not args.target.is_file():
        raise Problem(f"{args.target} is not there.")
    with tempfile.TemporaryDirectory(dir=args.folder) as folder, contextlib.closing(store_of(args)) as store:
        copy = shutil.copyfile(args.target, Path(folder, "board.sqlite"))
        with contextlib.closing(Store(f"sqlite:///{copy}")) as source:
            try:
                source.settings()
                migrate(source.engine)  # the backup may be older than this version of the course
            except sql.exc.SQLAlchemyError as error:
                raise Problem(f"{args.target} is no backup of a board.") from error
            migrate(store.engine)
            if store.exists():
                raise Problem("there is a board already: restore into another folder, or another database.")
            number, last = source.copy_to(store)
        SettingsFile(args.folder / "board.toml", store).write()
        keep_token(args.folder / "instructor-token", store, secrets.token_urlsafe(TOKEN))
    print(f"Restored to {args.folder}: course board {args.folder} starts it.\n"
          f"The log has {number} lines; the last one's hash is {last}")  # fmt: skip


def check(args, store):
    """Say whether log and board are as they were; 1 where they are not."""
    found = audit.faults(store, args.receipt)
    for fault in found:
        print(fault)
    if not found:
        print("Nothing in the log was changed, and the board is as it says.")
    say_head(store)
    return 1 if found else 0


def export(args, store):
    """Write the standing as CSV."""
    try:
        with args.target.open("w", newline="", encoding="utf-8") as file:
            api.write_csv(store, file)
    except OSError as error:
        raise Problem(f"{args.target} cannot be written ({error.strerror}).") from error
    print(f"Wrote {args.target}")


def grade(args, store):
    """Put the standing into the gradebook of a class: an assignment with a task a split, 100 points each.

    A verified entry has its overall accuracy in percent; any other waits for a person's points. Who belongs to which
    group a table says; without one a group has the name of its one student.
    """
    from autograder.gradebook.classroom import Classroom
    from autograder.labs.converter import ensure_path

    if not (args.target / "nbgrader_config.py").is_file():
        raise Problem(f"{args.target} is not the folder of a class: it has no nbgrader_config.py.")
    ensure_path()
    classroom, seen = Classroom(args.target), api.standing(store)
    groups = {row["group"] for rows in seen["rows"].values() for row in rows}
    members = read_members(args.members, groups) if args.members else {name: [name] for name in groups}
    with classroom.alone(), classroom.gradebook() as book:
        students = {student.id for student in book.students}
        wanted = [student for name in sorted(groups) for student in members.get(name, [])]
        if strangers := [student for student in wanted if student not in students]:
            raise Problem(
                f"{', '.join(strangers)}: not among the students of the class; --members says who is in which group."
            )
        book.update_or_create_assignment(ASSIGNMENT)
        book.update_or_create_notebook(ASSIGNMENT, ASSIGNMENT)
        for split in scene.SPLITS:
            book.update_or_create_grade_cell(split, ASSIGNMENT, ASSIGNMENT, max_score=POINTS, cell_type="code")
        for split, rows in seen["rows"].items():
            for row in rows:
                for student in members.get(row["group"], []):
                    book.update_or_create_submission(ASSIGNMENT, student)
                    given = book.find_grade(split, ASSIGNMENT, ASSIGNMENT, student)
                    given.auto_score = round(POINTS * row["overall"], 2) if row["verified"] else None
                    given.needs_manual_grade = not row["verified"]
        book.db.commit()
    print(f"Put {len(wanted)} students into the gradebook, by the {seen['part']} part, and wrote {classroom.export()}")
    for name in sorted(groups - members.keys()):
        print(f"{name}: the table says no student of it.")
    if not seen["final"]:
        print("The standing is not final yet: do this again when it is.")


def read_members(path, groups):
    """Group -> its students, from a CSV with the columns group and student. Raises Problem."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error) as error:
        raise Problem(f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).") from error
    if not rows or not {"group", "student"} <= rows[0].keys():
        raise Problem(f"{path} needs the columns group and student, and a row a student.")
    known, members = {rules.folded(name): name for name in groups}, {}
    for row in rows:
        name = known.get(rules.folded(rules.name(row["group"] or "")))
        if name is None:
            raise Problem(f"{path} has the group {row['group']}, which has no entry on the board.")
        members.setdefault(name, []).append((row["student"] or "").strip())
    return members
