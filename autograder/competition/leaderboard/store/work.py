"""What the workers do: which entries need scores, ranks or a verification, and what came of them."""

import collections

import sqlalchemy as sql

from autograder.competition.leaderboard import rules
from autograder.competition.leaderboard.store import log
from autograder.competition.leaderboard.store.counting import read_candidates, read_counting
from autograder.competition.leaderboard.store.settings import (
    PRIVATE_IS_OUT,
    has_private_scores,
    increase_version,
    read_version,
)
from autograder.competition.leaderboard.store.tables import entries, files, rankings, ranks, scores, verifications
from course.competition import scene

MAX_TRIES = 3  # verifications of one entry that may end with the worker's own death


class WorkQueue:
    """Finds work for the workers and stores their results."""

    def __init__(self, database):
        self.database = database

    # -- scores

    def find_unscored(self, part):
        """The numbers of entries without scores: on the public part of all, on the private part of those that count.

        Nothing of the private part is scored before the deadline, whoever calls this.
        """
        with self.database.reading() as connection:
            if read_version(connection)[1] == "public" and part == "private":
                return []
            scored = sql.select(scores.c.entry).where(scores.c.part == part)
            unscored = connection.scalars(
                sql.select(entries.c.id).where(entries.c.id.not_in(scored)).order_by(entries.c.id)
            ).fetchall()
            if part == "public":
                return unscored
            counting = {each.id for each in read_candidates(connection, part)}
            return [entry for entry in unscored if entry in counting]

    def read_maps(self, entry, part):
        """Split -> file of the map to score on a part.

        On the private part of a verified entry that is the map of the board's own run, otherwise the one handed in.
        """
        row = verifications.c
        rerun = sql.select(verifications).where(row.entry == entry, row.part == part, row.state == "verified")
        with self.database.reading() as connection:
            source = connection.execute(rerun).first() if part == "private" else None
            if source is None:
                source = connection.execute(sql.select(files).where(files.c.entry == entry)).first()
        return {split: getattr(source, split) for split in scene.SPLITS}

    def put_scores(self, entry, part, numbers):
        """Store the scores of an entry. numbers: split -> what `worker.as_numbers` returns."""
        key = {"entry": entry, "part": part}
        rows = [key | {"split": split, "numbers": rules.to_canonical_json(each)} for split, each in numbers.items()]
        with self.database.writing() as connection:
            if part == "private" and not has_private_scores(connection):
                log.append(connection, "board", PRIVATE_IS_OUT)
            connection.execute(scores.delete().where(scores.c.entry == entry, scores.c.part == part))
            connection.execute(scores.insert(), rows)

    def rescore(self):
        """Have all scores and ranks computed again, and all entries verified again that are not verified."""
        with self.database.writing() as connection:
            for table in (scores, ranks, rankings):
                connection.execute(table.delete())
            again = ["waiting", *(state for state in rules.FINISHED if state != "verified")]
            connection.execute(verifications.delete().where(verifications.c.state.in_(again)))
            log.append(connection, "instructor", "rescored")
            increase_version(connection)

    # -- ranks

    def read_to_rank(self):
        """(part, the CountingEntry of each group) that the ranks are computed from now, of one moment.

        Baselines are not among them: they have no rank.
        """
        with self.database.reading() as connection:
            part = read_version(connection)[1]
            counting = read_counting(connection, part)
            return part, [entry for entry in counting if entry.scores and not entry.is_baseline]

    def read_basis(self, part):
        """The text that says from which entries the ranks of a part were computed; None if there are no ranks."""
        with self.database.reading() as connection:
            return connection.scalar(sql.select(rankings.c.basis).where(rankings.c.part == part))

    def put_ranks(self, part, basis, places):
        """Store the ranks of a part. places: split -> entry -> rank, or None."""
        rows = [
            {"part": part, "split": split, "entry": entry, "rank": rank}
            for split, of_entries in places.items()
            for entry, rank in of_entries.items()
        ]
        with self.database.writing() as connection:
            for table in (ranks, rankings):
                connection.execute(table.delete().where(table.c.part == part))
            if rows:
                connection.execute(ranks.insert(), rows)
            connection.execute(rankings.insert().values(part=part, basis=basis))
            increase_version(connection)

    # -- verifications

    def take_next_to_verify(self, under_way=()):
        """(entry, part) that is verified next and is now marked as running; None if there is none.

        under_way: all (entry, part) that the caller is verifying. Only the one process that verifies may call this: any
        other entry that is marked as running was left by one that died. Of a group that has an entry under way, none
        is taken. Groups whose entries were verified least often come first.
        """
        row = verifications.c
        with self.database.reading() as connection:  # the write below is short, because hand-ins wait for it
            part = read_version(connection)[1]
            tried = connection.execute(sql.select(row.entry, row.part, row.state, row.since, row.tries)).fetchall()
            waiting = [each for each in read_candidates(connection, part) if each.state == "waiting" and each.scores]
            group_of = dict(connection.execute(sql.select(entries.c.id, entries.c.group)).fetchall())
        if any(each.state == "running" and (each.entry, each.part) not in under_way for each in tried):
            self._return_abandoned(under_way)
            return self.take_next_to_verify(under_way)
        busy = {group_of[entry] for entry, _ in under_way}
        waiting = [each for each in waiting if each.group not in busy]
        if not waiting:
            return None
        before = {each.entry: each for each in tried if each.part == part}
        turns = collections.Counter(group_of[entry] for entry in before)

        def order(each):
            """Entries that have been tried come after those that have not."""
            return before[each.id].since if each.id in before else "", turns[each.group], each.received

        entry = min(waiting, key=order)
        tries = before[entry.id].tries if entry.id in before else 0
        values = {"state": "running", "said": "", "since": rules.format_time(rules.now()), "tries": tries + 1}
        with self.database.writing() as connection:
            connection.execute(verifications.delete().where(row.entry == entry.id, row.part == part))
            connection.execute(verifications.insert().values(entry=entry.id, part=part, **values))
            increase_version(connection)
        return entry.id, part

    def _return_abandoned(self, under_way):
        """Let what is marked as running but is not under way wait again, unless its verification died too often."""
        key, now = sql.tuple_(verifications.c.entry, verifications.c.part), rules.format_time(rules.now())
        running = sql.and_(verifications.c.state == "running", key.not_in(list(under_way)))
        remark = "its verification ended the verifier each time: tell your instructor."
        with self.database.writing() as connection:
            connection.execute(
                verifications.update()
                .where(running, verifications.c.tries >= MAX_TRIES)
                .values(state="refused", said=remark, since=now)
            )
            connection.execute(verifications.update().where(running).values(state="waiting", since=now))
            increase_version(connection)

    def put_verdict(self, entry, part, state, remark, verdict=None, maps=None):
        """Store the result of a verification. state: one of rules.FINISHED, or "waiting" to try again later.

        verdict: a dict of plain values. maps: split -> file of the map that the run made.
        """
        row = (verifications.c.entry == entry, verifications.c.part == part)
        with self.database.writing() as connection:
            values = {"state": state, "said": remark, "since": rules.format_time(rules.now()), **(maps or {})}
            values["tries"] = 0 if state != "waiting" else verifications.c.tries - 1
            text = rules.to_canonical_json(verdict) if verdict else None
            connection.execute(verifications.update().where(*row).values(verdict=text, **values))
            if state in rules.FINISHED:
                log.append(connection, "verifier", state, entry=entry, part=part, said=remark)
                if part == "private" and state == "verified":  # scored again, by the map of the run
                    connection.execute(scores.delete().where(scores.c.entry == entry, scores.c.part == part))
            increase_version(connection)
