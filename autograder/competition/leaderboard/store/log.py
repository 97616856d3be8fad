"""The log: one line per change, each chained to the line before (see `audit`)."""

import json

import sqlalchemy as sql

from autograder.competition.leaderboard import audit, rules
from autograder.competition.leaderboard.store import tables

GROUP = ("name", "token", "hub", "chosen", "second", "members", "baseline", "gone")  # what the log records of a group


def append(connection, actor, action, **detail):
    """Append a line to the log. Returns its hash, which proves all that came before it."""
    number, before = read_head(connection)
    values = {"n": number + 1, "time": rules.format_time(rules.now()), "actor": actor, "action": action}
    values["detail"] = rules.to_canonical_json(detail)
    values["hash"] = audit.hash_line(before, **values)
    connection.execute(tables.log.insert().values(values))
    return values["hash"]


def read_head(connection):
    """(number, hash) of the last line; (0, audit.START) for an empty log."""
    log = tables.log
    row = connection.execute(sql.select(log.c.n, log.c.hash).order_by(log.c.n.desc()).limit(1)).first()
    return (row.n, row.hash) if row else (0, audit.START)


def read_lines(connection):
    """All lines as rows (n, time, actor, action, detail as JSON text, hash), the first line first."""
    return connection.execute(sql.select(tables.log).order_by(tables.log.c.n)).fetchall()


def has_action(connection, action):
    """Whether the log has a line with this action."""
    log = tables.log
    return connection.scalar(sql.select(log.c.n).where(log.c.action == action).limit(1)) is not None


class StoredLog:
    """Reads the log, and what a check of it needs. Each change writes its own line by `append`."""

    def __init__(self, database):
        self.database = database

    def read_lines(self):
        """All lines: see `read_lines`."""
        with self.database.reading() as connection:
            return read_lines(connection)

    def read_head(self):
        """(number, hash) of the last line."""
        with self.database.reading() as connection:
            return read_head(connection)

    def read_audited(self):
        """(groups, entries): number -> the properties that the log records of each, as the tables have them now.

        An entry's `content` is the digest of the files as they are stored.
        """
        groups, entries, files = tables.groups, tables.entries, tables.files
        with self.database.reading() as connection:
            of_groups = {
                row.id: {name: getattr(row, name) for name in GROUP} for row in connection.execute(sql.select(groups))
            }
            rows = connection.execution_options(yield_per=20).execute(
                sql.select(entries, files).join_from(entries, files, isouter=True)
            )
            return of_groups, {row.id: _audited_entry(row) for row in rows}


def _audited_entry(row):
    content = rules.Entry(
        row.random or b"",
        row.disjoint or b"",
        row.notebook or b"",
        json.loads(row.evidence) if row.evidence else None,
    )
    return {
        "group": row.group,
        "received": row.received,
        "digest": row.digest,
        "content": content.digest,
        "receipt": row.receipt,
        "withdrawn": row.withdrawn,
        "note": row.note,
    }
