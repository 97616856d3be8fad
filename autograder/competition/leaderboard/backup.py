"""A whole board as one SQLite file, and back.

Rows are copied one by one for both kinds of database, so one kind of file serves either, and no tool of the database
server's version is needed.
"""

import contextlib
import shutil
import tempfile
from pathlib import Path

import sqlalchemy as sql

from autograder.competition.leaderboard.store import Store
from course.errors import Problem


def back_up(store, path):
    """Copy every row, as of one moment, into a new SQLite file. Returns the head of the log. Raises Problem.

    The board may be running. The file is moved to `path` when it is complete.
    """
    if path.exists():
        raise Problem(f"{path} already exists: name another file.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            unfinished = Path(folder, "board.sqlite")
            with _opened(unfinished) as copy:
                copy.prepare()
                head = store.copy_to(copy)
            unfinished.rename(path)
    except OSError as error:
        raise Problem(f"{path} cannot be written ({error.strerror}).") from error
    return head


def restore(path, store, folder):
    """Copy every row of a backup into an empty database. Returns the head of the log. Raises Problem.

    folder: the board's, where a copy of the backup is brought to the present form first.
    """
    if not path.is_file():
        raise Problem(f"the backup {path} does not exist.")
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        copy = shutil.copyfile(path, Path(temporary, "board.sqlite"))
        with _opened(copy) as source:
            try:
                source.settings.has_board()
                source.database.migrate()  # the backup may come from an older version of the course
            except sql.exc.SQLAlchemyError as error:
                raise Problem(f"{path} is not a backup of a board.") from error
            store.prepare()
            if store.settings.has_board():
                raise Problem("there is already a board: restore into another folder, or another database.")
            return source.copy_to(store)


def _opened(path):
    return contextlib.closing(Store(f"sqlite:///{path}"))
