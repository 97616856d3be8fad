"""A board's folder: the database, the instructor's token, backups/, and perhaps a board.toml that seeds a new board.

`prepare_board` makes what is missing in the folder and in the database. `board.toml` is read for an empty database
only; afterwards the database alone has the settings. Only one process at a time runs a board in a folder.
"""

import contextlib
import os
import secrets
import tomllib
from datetime import timedelta

from filelock import FileLock, Timeout

from autograder.competition.leaderboard import phases, rules
from autograder.competition.leaderboard.store import Store
from autograder.competition.leaderboard.store.tokens import make_token
from course.errors import Problem
from course.files import write_whole

MIN_TOKEN = 20  # characters of an instructor's token that a person wrote
DAYS = 14  # from now to the deadline of a new board
DEFAULTS = {"name": "The leaderboard", "time_zone": "UTC", "per_day": 5}


@contextlib.contextmanager
def private_files():
    """Make files that other users of this machine cannot read: they contain what groups handed in."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


@contextlib.contextmanager
def lock_folder(folder):
    """Use the folder, made if it is missing, as the only process. Raises Problem."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock", fallback_to_soft=False)
        lock.acquire(blocking=False)
    except Timeout:
        raise Problem(f"a board is running in {folder}: stop it first.") from None
    except OSError as error:
        raise Problem(f"{folder} cannot be a board's folder ({error.strerror}): name another one.") from error
    try:
        yield
    finally:
        lock.release()


def open_store(folder, url=None):
    """The Store of the board in the folder, or in the database at `url`. Raises Problem."""
    return Store(url or f"sqlite:///{folder.resolve() / 'board.sqlite'}")


def prepare_board(folder, store):
    """Make the board if the database has none, and the instructor's token file. Prints what it did. Raises Problem."""
    path = folder / "board.toml"
    store.prepare()
    token = None
    if not store.settings.has_board():
        is_seeded = path.exists()
        settings = read_seed(path) if is_seeded else make_default_settings()
        token = store.settings.create(settings)  # None if another machine has just made it
        if token is not None:
            _announce(settings, "board.toml" if is_seeded else None)
    if token is None and path.exists() and (hint := compare_seed(path, store.settings.read())):
        print(hint)
    keep_token(folder / "instructor-token", store, token)


def _announce(settings, source):
    print(f"Made a board{f' with the settings of {source}' if source else ''}. Groups join with the code "
          f"{settings.code} and may hand in {settings.per_day} times per day until {settings.deadline:%Y-%m-%d %H:%M} "
          "UTC.\nChange this on the instructor's page, or with: course board DIR --set NAME=VALUE")  # fmt: skip


# -- settings


def make_default_settings():
    """The Settings of a board for which nobody wrote any."""
    deadline = (rules.now() + timedelta(days=DAYS)).replace(hour=23, minute=59, second=0, microsecond=0)
    return rules.check_settings(None, DEFAULTS | {"code": secrets.token_hex(5), "deadline": deadline})


def read_seed(path):
    """The Settings that a board.toml describes. Raises Problem."""
    settings = rules.check_settings(None, DEFAULTS | _read_toml(path))
    if settings.deadline <= rules.now():
        raise Problem(f"the deadline in {path}, {settings.deadline:%Y-%m-%d %H:%M} UTC, has passed: correct its year.")
    return settings


def compare_seed(path, settings):
    """One line on a board.toml that is beside a board and differs from its Settings; None if it does not differ."""
    try:
        values = _read_toml(path)
        seeded = rules.check_settings(settings, values)
    except Problem as problem:
        return f"board.toml is not read any more, and is not valid ({str(problem).rstrip('.')}): delete it."
    differing = [name for name in values if getattr(seeded, name) != getattr(settings, name)]
    if not differing:
        return None
    return (
        f"board.toml is not read any more, and differs from the board's settings ({', '.join(differing)}): change "
        "settings with `course board DIR --set NAME=VALUE` or on the instructor's page, and delete board.toml."
    )


def _read_toml(path):
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Problem(f"{path} cannot be read ({error.strerror}).") from error
    except ValueError as error:  # not UTF-8, or not TOML
        raise Problem(f"{path} cannot be read as TOML ({error}).") from error


def change_settings(store, assignments, is_confirmed=False):
    """Change settings of a board, which may be running. assignments: texts NAME=VALUE. Prints what changed.

    is_confirmed: whether the deadline may move. Raises Problem.
    """
    changes = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise Problem(f"{assignment!r:.80} is not NAME=VALUE: write, for example, --set per_day=5.")
        is_number = name in ("per_day", "choices") and value.isdecimal() and len(value) < 9
        changes[name] = int(value) if is_number else value
    before = store.settings.read()
    try:
        after = store.settings.change(changes, "command line", is_confirmed)
    except rules.ConfirmationNeeded as needed:
        raise Problem(f"{needed} Nothing was changed. To confirm this, repeat the command with --confirm.") from None
    changed = [name for name in changes if getattr(after, name) != getattr(before, name)]
    for name in changed:
        print(f"{name} is now {_format_setting(after, name)}.")
    if not changed:
        print("The board already has these settings.")


def _format_setting(settings, name):
    if name == "deadline":
        return f"{settings.deadline:%Y-%m-%d %H:%M} UTC"
    if name == "phases":
        return "; ".join(phases.format_phases(settings.phases, settings.time_zone).splitlines()) or "none"
    return getattr(settings, name)


# -- the instructor's token


def keep_token(path, store, new):
    """Make the instructor's token and its file agree: the file's token is kept, otherwise `new` or a newly made one.

    Raises Problem.
    """
    present = path.read_text().strip() if path.exists() else ""
    if present and len(present) < MIN_TOKEN:
        raise Problem(
            f"the token in {path} has {len(present)} characters: write at least {MIN_TOKEN}, or delete the file."
        )
    if not present and not new and not store.database.is_sqlite:
        print(f"The instructor's token is in the folder where the board was made: copy that file to {path}.")
        return
    token = present or new or make_token()
    if token != present:
        write_whole(path, token + "\n", mode=0o600)
        print(f"The instructor's token, kept in {path}: {token}")
    store.settings.set_instructor_token(token)
