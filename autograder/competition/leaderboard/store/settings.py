"""The one row of the board itself: its settings, the instructor's token, and the version that visitors see."""

import dataclasses
import hmac

import sqlalchemy as sql

from autograder.competition.leaderboard import phases, rules
from autograder.competition.leaderboard.rules import RequestRefused
from autograder.competition.leaderboard.store import log
from autograder.competition.leaderboard.store.tables import board
from autograder.competition.leaderboard.store.tokens import hash_token, make_token

PRIVATE_IS_OUT = "began to score the private part"  # a line of the log; after it the deadline cannot move
SECRET = ("code", "frozen", "deadline_set")  # not in the lines on settings: `frozen` has other lines, a line its time


def read_settings(connection):
    """The Settings."""
    return _from_row(connection.execute(sql.select(board)).one())


def _from_row(row):
    return rules.Settings(
        name=row.name,
        code=row.code,
        deadline=rules.parse_time(row.deadline),
        per_day=row.per_day,
        time_zone=row.time_zone,
        frozen=bool(row.frozen),
        joining=row.joining,
        choices=row.choices,
        phases=phases.from_json(row.phases),
        deadline_set=rules.parse_time(row.deadline_set) if row.deadline_set else None,
    )


def read_version(connection):
    """(version, part) of what visitors see now. `version` increases whenever a page would look different."""
    row = connection.execute(sql.select(board)).one()
    return row.version, rules.find_part(_from_row(row), rules.now())


def increase_version(connection):
    """Make every page that shows the standing fetch it again."""
    connection.execute(board.update().values(version=board.c.version + 1))


def set_joining(connection, joining):
    """Change how groups join, with its line in the log, unless it is so already."""
    if connection.scalar(sql.select(board.c.joining)) != joining:
        connection.execute(board.update().values(joining=joining))
        log.append(connection, "instructor", "set", joining=joining)
        increase_version(connection)


def has_private_scores(connection):
    """Whether there has ever been a private score. Rescoring deletes scores, but the log keeps this line."""
    return log.has_action(connection, PRIVATE_IS_OUT)


class StoredSettings:
    """Reads and changes the settings and the instructor's token."""

    def __init__(self, database):
        self.database = database

    def create(self, settings):
        """Make the board with these Settings unless the database has one. Their deadline counts as set now.

        Returns the instructor's token if this call made the board, otherwise None.
        """
        token = make_token()
        settings = dataclasses.replace(settings, deadline_set=rules.now())
        values = _columns(settings) | {"instructor": hash_token(token), "version": 1, "id": 1, "frozen": 0}
        with self.database.writing() as connection:
            if connection.scalar(sql.select(board.c.id)) is not None:
                return None
            connection.execute(board.insert().values(values))
            log.append(connection, "board", "opened", **_loggable(settings))
        return token

    def has_board(self):
        """Whether the database, whose tables must be there, has a board."""
        with self.database.reading() as connection:
            return connection.scalar(sql.select(board.c.id)) is not None

    def read(self):
        """The Settings."""
        with self.database.reading() as connection:
            return read_settings(connection)

    def change(self, changes, actor="instructor", is_confirmed=False):
        """Change some settings, given as a dict. Returns the new Settings.

        Raises RequestRefused; rules.ConfirmationNeeded if the deadline moves and `is_confirmed` is false.
        """
        with self.database.writing() as connection:
            before = read_settings(connection)
            after = rules.check_settings(before, changes)
            if after == before:
                return after
            if after.deadline != before.deadline:
                if has_private_scores(connection):
                    raise RequestRefused("the private results are out, so the deadline can no longer be moved.", 409)
                after = dataclasses.replace(after, deadline_set=rules.now())
                if not is_confirmed:
                    raise rules.ConfirmationNeeded(rules.describe_new_deadline(before, after, rules.now()))
            connection.execute(board.update().values(_columns(after)))
            differing = [key for key, value in _columns(after).items() if value != _columns(before)[key]]
            detail = {key: _loggable(after).get(key, "(not logged)") for key in differing if key != "deadline_set"}
            log.append(connection, actor, "set", **detail)
            increase_version(connection)
            return after

    def freeze(self, frozen):
        """Stop accepting entries, or accept them again."""
        with self.database.writing() as connection:
            connection.execute(board.update().values(frozen=int(frozen)))
            log.append(connection, "instructor", "frozen" if frozen else "opened again")
            increase_version(connection)

    def is_instructor(self, token):
        """Whether the token is the instructor's."""
        with self.database.looking() as connection:
            return hmac.compare_digest(hash_token(token), connection.scalar(sql.select(board.c.instructor)))

    def set_instructor_token(self, token):
        """Make this the instructor's token, unless it already is."""
        with self.database.writing() as connection:
            if connection.scalar(sql.select(board.c.instructor)) != hash_token(token):
                connection.execute(board.update().values(instructor=hash_token(token)))
                log.append(connection, "board", "new instructor's token")


def _columns(settings):
    values = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    return values | {
        "deadline": rules.format_time(settings.deadline),
        "frozen": int(settings.frozen),
        "phases": phases.to_json(settings.phases),
        "deadline_set": rules.format_time(settings.deadline_set) if settings.deadline_set else None,
    }


def _loggable(settings):
    """The settings without the code, which readers of the log must not learn."""
    return {key: value for key, value in _columns(settings).items() if key not in SECRET}
