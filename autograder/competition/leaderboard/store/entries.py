"""Entries and their files: received once, chosen and withdrawn, never changed."""

import json

import sqlalchemy as sql

from autograder.competition.leaderboard import lines, rules
from autograder.competition.leaderboard.rules import RequestRefused
from autograder.competition.leaderboard.store import log
from autograder.competition.leaderboard.store.database import next_number
from autograder.competition.leaderboard.store.settings import increase_version, read_settings
from autograder.competition.leaderboard.store.tables import entries, files, groups, verifications


def count_entries_of_day(connection, group, settings, moment):
    """How many entries the group handed in on the day that contains a moment."""
    start, end = map(rules.format_time, rules.find_day(settings, moment))
    return connection.scalar(
        sql.select(sql.func.count()).where(
            entries.c.group == group, entries.c.received >= start, entries.c.received < end
        )
    )


class StoredEntries:
    """Accepts entries, lets groups choose and the instructor withdraw them, and reads their files."""

    def __init__(self, database):
        self.database = database

    def accept(self, group, key, entry, received=None, note=""):
        """(number, whether it is new) of an Entry of a group, which is on disk when this returns.

        The same `key` with the same content returns the same number again. note: the group's words on the entry.
        Raises RequestRefused: see `rules.require_open`; 409 if the key came with other content before.
        """
        note = lines.check_note(note)
        if not rules.KEY.fullmatch(key):
            raise RequestRefused(
                "the header Idempotency-Key must have 1 to 80 ASCII letters, digits and punctuation marks, without "
                "spaces."
            )
        received, digest = received or rules.now(), entry.digest
        with self.database.writing() as connection:
            same_key = sql.select(entries).where(entries.c.group == group, entries.c.key == key)
            if before := connection.execute(same_key).first():
                if before.digest != digest:
                    raise RequestRefused("this Idempotency-Key came with another entry before: send a new one.", 409)
                return before.id, False
            settings = read_settings(connection)
            rules.require_open(settings, received, count_entries_of_day(connection, group, settings, received))
            number = _add(connection, group, key, entry, digest, rules.format_time(received))
            if note:
                _write_note(connection, group, number, note)
            return number, True

    def annotate(self, group, entry, note):
        """Write the group's note on one of its entries, "" for none. Raises RequestRefused."""
        note = lines.check_note(note)
        with self.database.writing() as connection:
            _require_own(connection, group, entry)
            _write_note(connection, group, entry, note)

    def choose(self, group, entry):
        """Make this entry of the group the one that counts. Raises RequestRefused.

        Where two entries may be chosen for the final standing, the one chosen before it is the second.
        """
        with self.database.writing() as connection:
            if rules.now() >= read_settings(connection).deadline:
                raise RequestRefused("the deadline has passed: the entry that counts can no longer be chosen.", 403)
            row = _require_own(connection, group, entry)
            if row.withdrawn is not None:
                raise RequestRefused(f"entry {entry} was withdrawn ({row.withdrawn}): choose another.", 409)
            before = connection.execute(sql.select(groups.c.chosen, groups.c.second).where(groups.c.id == group)).one()
            second = before.second if before.chosen == entry else before.chosen
            connection.execute(groups.update().where(groups.c.id == group).values(chosen=entry, second=second))
            log.append(connection, f"group {group}", "chose", entry=entry, second=second)
            increase_version(connection)

    def withdraw(self, entry, reason):
        """Withdraw an entry for good; its group sees the reason. Returns the reason. Raises RequestRefused."""
        reason = lines.check_reason(reason)
        with self.database.writing() as connection:
            row = connection.execute(sql.select(entries).where(entries.c.id == entry)).first()
            if row is None:
                raise RequestRefused(f"there is no entry {entry}.", 404)
            if row.withdrawn is not None:
                raise RequestRefused(f"entry {entry} has already been withdrawn ({row.withdrawn}).", 409)
            connection.execute(entries.update().where(entries.c.id == entry).values(withdrawn=reason))
            log.append(connection, "instructor", "withdrew", entry=entry, reason=reason)
            increase_version(connection)
        return reason

    def read_file(self, entry, name):
        """The bytes of one file of an entry: "random", "disjoint" or "notebook". Raises RequestRefused."""
        with self.database.reading() as connection:
            content = connection.scalar(sql.select(files.c[name]).where(files.c.entry == entry))
        if content is None:
            raise RequestRefused(f"there is no entry {entry}.", 404)
        return content

    def read_verdicts(self, entry):
        """Part -> what `verify_notebook` returned, with the keys state, said and since."""
        with self.database.reading() as connection:
            rows = connection.execute(sql.select(verifications).where(verifications.c.entry == entry)).fetchall()
        return {
            row.part: {"state": row.state, "said": row.said, "since": row.since} | json.loads(row.verdict or "{}")
            for row in rows
        }


def _add(connection, group, key, entry, digest, received):
    number = next_number(connection, entries.c.id)
    receipt = log.append(connection, f"group {group}", "handed in", entry=number, digest=digest, received=received)
    values = {"id": number, "group": group, "key": key, "received": received, "digest": digest, "receipt": receipt}
    evidence = rules.to_canonical_json(entry.evidence) if entry.evidence else None
    connection.execute(entries.insert().values(evidence=evidence, note="", **values))
    content = {"random": entry.random, "disjoint": entry.disjoint, "notebook": entry.notebook}
    connection.execute(files.insert().values(entry=number, **content))
    return number


def _require_own(connection, group, entry):
    row = connection.execute(sql.select(entries).where(entries.c.id == entry, entries.c.group == group)).first()
    if row is None:
        raise RequestRefused(f"your group has no entry {entry}: your history lists its entries.", 404)
    return row


def _write_note(connection, group, entry, note):
    connection.execute(entries.update().where(entries.c.id == entry).values(note=note))
    log.append(connection, f"group {group}", "noted", entry=entry, note=note)
