"""Connections to a board's database and transactions on it.

The database is SQLite in a file (WAL mode, every commit on disk) or PostgreSQL. Writers run one after the other, in
short transactions, whatever thread, process or machine they belong to: that is why limits hold under any number of
concurrent requests, numbers have no gaps, and every change has its line in the log.
"""

import contextlib
import errno
import hashlib
import threading
import time
from pathlib import Path

import sqlalchemy as sql
from filelock import FileLock, Timeout

from course.errors import Problem

MIGRATIONS = Path(__file__).parent.parent / "migrations"
PATIENCE = 30  # seconds that a writer waits for another one
UNUSED = 2  # seconds after which a connection may have been closed by the server


class Database:
    """The database at `url`, in SQLAlchemy's notation. Raises Problem for a URL that is neither kind."""

    def __init__(self, url):
        try:
            self.url = sql.make_url(url)
            if self.url.get_backend_name() not in ("sqlite", "postgresql"):
                raise ValueError
            if self.url.drivername == "postgresql":
                self.url = self.url.set(drivername="postgresql+psycopg")
            self.is_sqlite = self.url.get_backend_name() == "sqlite"
            self.engine = sql.create_engine(self.url, connect_args={"timeout": PATIENCE} if self.is_sqlite else {})
        except (sql.exc.ArgumentError, ValueError):
            raise Problem(
                "the database's URL cannot be used: write it as in sqlite:////path/board.sqlite or "
                "postgresql://user@host/name."
            ) from None
        self._writer = threading.Lock()
        if self.is_sqlite:
            sql.event.listen(self.engine, "connect", _prepare_sqlite)
            sql.event.listen(self.engine, "begin", _begin_sqlite)
        else:
            sql.event.listen(self.engine, "checkin", _note_use)
            sql.event.listen(self.engine, "checkout", _check_unused)

    def close(self):
        """Close all connections."""
        self.engine.dispose()

    @contextlib.contextmanager
    def reading(self):
        """A connection that sees the database as it is at one moment."""
        level = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        with self.engine.connect().execution_options(**level) as connection, connection.begin():
            yield connection

    def looking(self):
        """A context manager of a connection for one query alone.

        In PostgreSQL it exchanges one pair of messages with the server, where `reading` exchanges three. On a busy
        machine each of them waits until the server and then the board get a core.
        """
        return (
            self.reading() if self.is_sqlite else self.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        )

    @contextlib.contextmanager
    def writing(self):
        """A connection on which either everything is done or nothing. There is one writer at a time."""
        with (
            self._writer,  # SQLite polls while it waits; threads of one process queue here instead
            self.engine.connect().execution_options(writes=True) as connection,
            connection.begin(),
        ):
            _wait_for_other_writers(connection)
            yield connection

    @contextlib.contextmanager
    def working_alone(self, role):
        """Whether this process is now the only one with this `role`, among all that use the database.

        It stays so until the block ends or the process dies, however it dies.
        """
        if self.is_sqlite:
            # The operating system's lock, never a file that merely exists: it must not outlive kill -9.
            lock = FileLock(f"{self.url.database}.{role}", blocking=False, fallback_to_soft=False)
            try:
                lock.acquire()
            except Timeout:
                yield False
                return
            try:
                yield True
            finally:
                lock.release()
            return
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.detach()  # closed when the block ends; if the process dies, the server frees the lock
            is_alone = connection.scalar(sql.select(sql.func.pg_try_advisory_lock(_lock_number(role))))
            yield is_alone
            if is_alone:
                connection.execute(sql.select(sql.func.pg_advisory_unlock(_lock_number(role))))

    def migrate(self):
        """Bring the tables to their present form. Raises Problem if a newer version of the course made them."""
        from alembic import command

        config = _configure_alembic()
        with self.engine.connect().execution_options(writes=True) as connection, connection.begin():
            _wait_for_other_writers(connection)
            _compare_form(connection, config)
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    def require_present_form(self):
        """Raise Problem if the tables have not the form that this version of the course expects."""
        with self.reading() as connection:
            if not _compare_form(connection, _configure_alembic()):
                raise Problem(
                    "this board was made by an older version of the course: start it once with `course board DIR`, "
                    "which brings it up to date."
                )


def _configure_alembic():
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config


def _compare_form(connection, config):
    """Whether the tables have their present form. Raises Problem if their form is unknown, that is, newer."""
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(config)
    present = MigrationContext.configure(connection).get_current_revision()
    if present is not None and present not in {script.revision for script in scripts.walk_revisions()}:
        raise Problem("this board was made by a newer version of the course: use that version, or update this one.")
    return present == scripts.get_current_head()


def explain(error, unknown=None):
    """What is wrong with the database or the machine and what to do, without a full stop, for an error of either.

    unknown: what to say of an error that has no sentence here; its own words if this is None.
    """
    cause = getattr(error, "orig", None) or error
    text = " ".join(str(getattr(cause, "strerror", None) or cause).split()).rstrip(".")
    number = getattr(cause, "errno", None)
    if "database or disk is full" in text or number in (errno.ENOSPC, errno.EDQUOT) or "No space left" in text:
        return "the disk is full: delete files that are not needed; nothing that was acknowledged is lost"
    if "disk I/O error" in text:  # a full disk too, where SQLite cannot make the files beside its own longer
        return "the disk is full or damaged: see how much room it has; nothing that was acknowledged is lost"
    if "database is locked" in text:
        return f"another program has locked the database for more than {PATIENCE} seconds: close it"
    if "readonly database" in text or number in (errno.EACCES, errno.EROFS):
        return "the database cannot be written: see whom its file and its folder belong to"
    if "malformed" in text or "not a database" in text:
        return "the database's file is damaged: restore a backup with `course board restore`"
    return unknown or text


def next_number(connection, column):
    """The number after the largest one in a column."""
    return (connection.scalar(sql.select(sql.func.max(column))) or 0) + 1


def _prepare_sqlite(connection, _):
    connection.isolation_level = None  # SQLAlchemy's events say when a transaction begins
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection):
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _note_use(_, record):
    record.info["used"] = time.monotonic()


def _check_unused(connection, record, _):
    """Ask a PostgreSQL that was not used for a while whether it is there; otherwise the pool connects anew.

    SQLAlchemy's own `pool_pre_ping` asks each time, which costs as much as a query.
    """
    if time.monotonic() - record.info.get("used", time.monotonic()) > UNUSED:
        try:
            connection.execute(";")
            connection.rollback()
        except connection.__class__.OperationalError as error:
            raise sql.exc.DisconnectionError from error


def _wait_for_other_writers(connection):
    """Wait until no other process writes. In SQLite, BEGIN IMMEDIATE has already waited."""
    if connection.dialect.name == "postgresql":
        connection.execute(sql.select(sql.func.pg_advisory_xact_lock(_lock_number("writing"))))


def _lock_number(role):
    """The number of an advisory lock in PostgreSQL."""
    return sql.cast(int.from_bytes(hashlib.sha256(role.encode()).digest()[:4]), sql.BigInteger)
