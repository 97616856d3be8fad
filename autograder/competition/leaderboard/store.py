"""What a board keeps, in one database, and all that may be done to it: the only part that writes there.

SQLite in a file of the board's folder (WAL, and on disk at each commit), or PostgreSQL by its URL. Changes come one
after the other, each in a short transaction that no other one overlaps: limits hold however many ask at once, numbers
have no gaps, and each change has its line in the log. Times are text in UTC, as `rules.written` has them.
"""

import contextlib
import dataclasses
import fcntl
import hashlib
import hmac
import json
import secrets
import threading
from pathlib import Path

import sqlalchemy as sql
from sqlalchemy import BigInteger, Column, ForeignKey, Integer, LargeBinary, MetaData, String, Table, Text
from sqlalchemy import UniqueConstraint as Unique

from autograder.competition.leaderboard import audit, rules
from autograder.competition.leaderboard.rules import Refused
from course.competition import scene
from course.errors import Problem

MIGRATIONS = Path(__file__).parent / "migrations"
PATIENCE = 30  # seconds that one who writes waits for another
TRIES = 3  # verifications of an entry that may end with the worker's own death
PRIVATE_IS_OUT = "began to score the private part"  # a line of the log, from which on the deadline stays
TOKEN = 24  # bytes: 192 bits, which nobody guesses

metadata = MetaData()
board = Table(
    "board",
    metadata,
    Column("id", Integer, primary_key=True),  # 1: a database has one board
    Column("name", String, nullable=False),
    Column("code", String, nullable=False),
    Column("deadline", String, nullable=False),
    Column("per_day", Integer, nullable=False),
    Column("time_zone", String, nullable=False),
    Column("frozen", Integer, nullable=False),
    Column("instructor", String, nullable=False),  # SHA-256 of the token
    Column("version", Integer, nullable=False),  # of what can be seen: one more with each change
)
groups = Table(
    "groups",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False),
    Column("folded", String, nullable=False, unique=True),
    Column("token", String, nullable=False, unique=True),  # its SHA-256
    Column("hub", String, unique=True),  # who it is at a JupyterHub: "user NAME" or "group NAME"
    Column("joined", String, nullable=False),
    Column("chosen", Integer),  # the entry that is to count; None: the last one
)
entries = Table(
    "entries",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("group", Integer, ForeignKey("groups.id"), nullable=False),
    Column("key", String, nullable=False),  # of the request: sent again, it makes no second entry
    Column("received", String, nullable=False),
    Column("digest", String, nullable=False),
    Column("evidence", Text),  # JSON
    Column("withdrawn", Text),  # why
    Column("receipt", String, nullable=False),  # hash of its line in the log
    Unique("group", "key"),
)
files = Table(  # of an entry, apart, since they are large
    "files",
    metadata,
    Column("entry", Integer, ForeignKey("entries.id"), primary_key=True),
    Column("random", LargeBinary, nullable=False),
    Column("disjoint", LargeBinary, nullable=False),
    Column("notebook", LargeBinary, nullable=False),
)
scores = Table(
    "scores",
    metadata,
    Column("entry", Integer, ForeignKey("entries.id"), primary_key=True),
    Column("part", String, primary_key=True),
    Column("split", String, primary_key=True),
    Column("numbers", Text, nullable=False),  # JSON, as `worker.numbers` has it
)
verifications = Table(
    "verifications",
    metadata,
    Column("entry", Integer, ForeignKey("entries.id"), primary_key=True),
    Column("part", String, primary_key=True),
    Column("state", String, nullable=False),  # waiting, running, or one of rules.DONE
    Column("said", Text, nullable=False),
    Column("since", String, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("verdict", Text),  # JSON: what else `verify_notebook` found
    Column("random", LargeBinary),  # the maps of that run, as np.save writes them
    Column("disjoint", LargeBinary),
)
ranks = Table(
    "ranks",
    metadata,
    Column("part", String, primary_key=True),
    Column("split", String, primary_key=True),
    Column("entry", Integer, ForeignKey("entries.id"), primary_key=True),
    Column("rank", Integer),  # None: it was refused
)
rankings = Table(  # what the ranks of a part were made from
    "rankings",
    metadata,
    Column("part", String, primary_key=True),
    Column("basis", String, nullable=False),
)
log = Table(
    "log",
    metadata,
    Column("n", Integer, primary_key=True),
    Column("time", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("action", String, nullable=False),
    Column("detail", Text, nullable=False),  # JSON
    Column("hash", String, nullable=False),
)
TABLES = [board, groups, entries, files, scores, verifications, ranks, rankings, log]


@dataclasses.dataclass(frozen=True)
class Group:
    """A group that has joined."""

    id: int
    name: str


@dataclasses.dataclass(frozen=True)
class Counting:
    """The entry that counts for a group, and what became of it in one part.

    scores: split -> numbers, {} until they are there. state and said: of its verification.
    """

    id: int
    group: int
    name: str
    received: str
    evidence: dict | None
    scores: dict
    state: str
    said: str


@dataclasses.dataclass(frozen=True)
class Past:
    """One entry in a group's history, newest first.

    scores: part -> split -> numbers, without the private part before the deadline. state and said: of its verification,
    on the part that is seen now; "none" where it does not count.
    """

    id: int
    received: str
    withdrawn: str | None
    evidence: dict | None
    receipt: str
    counts: bool
    chosen: bool
    scores: dict
    state: str
    said: str


def hashed(token):
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


class Store:
    """The board in the database at `url`, which SQLAlchemy understands. Raises Problem where it cannot be used."""

    def __init__(self, url):
        try:
            self.url = sql.make_url(url)
            if self.url.get_backend_name() not in ("sqlite", "postgresql"):
                raise ValueError
            if self.url.drivername == "postgresql":
                self.url = self.url.set(drivername="postgresql+psycopg")
            self.is_sqlite = self.url.get_backend_name() == "sqlite"
            options = {"connect_args": {"timeout": PATIENCE}} if self.is_sqlite else {"pool_pre_ping": True}
            self.engine = sql.create_engine(self.url, **options)
        except (sql.exc.ArgumentError, ValueError):
            raise Problem(
                "the database is a URL as sqlite:////path/board.sqlite or postgresql://user@host/name."
            ) from None
        self._alone = threading.Lock()
        if self.is_sqlite:
            sql.event.listen(self.engine, "connect", _prepare_sqlite)
            sql.event.listen(self.engine, "begin", _begin_sqlite)

    def close(self):
        """Give the connections back."""
        self.engine.dispose()

    # -- transactions

    @contextlib.contextmanager
    def reading(self):
        """A connection that sees the database as it is at one moment."""
        level = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        with self.engine.connect().execution_options(**level) as connection, connection.begin():
            yield connection

    @contextlib.contextmanager
    def writing(self):
        """A connection on which all is done, or nothing; one at a time, whatever thread, process or machine asks."""
        with (
            self._alone,  # SQLite makes those who wait sleep; here they queue
            self.engine.connect().execution_options(writes=True) as connection,
            connection.begin(),
        ):
            _one_at_a_time(connection)
            yield connection

    @contextlib.contextmanager
    def only_one(self, role):
        """Whether this process, of all that use the database, is the one for `role`; until it ends or dies."""
        if self.is_sqlite:
            with Path(f"{self.url.database}.{role}").open("w") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    yield False
                else:
                    yield True
            return
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.detach()  # closed at the end, however that comes, and the lock gone with it some time later
            alone = connection.scalar(sql.select(sql.func.pg_try_advisory_lock(_number(role))))
            yield alone
            if alone:
                connection.execute(sql.select(sql.func.pg_advisory_unlock(_number(role))))

    # -- the board itself

    def open(self, settings):
        """Bring the tables to their present form, and make the board with these Settings where there is none.

        Returns the instructor's token where one was made, else None. Raises Problem.
        """
        try:
            migrate(self.engine)
        except sql.exc.DatabaseError as error:
            raise Problem(f"the database cannot be used ({_reason(error)}): see that it is there and yours.") from error
        token = secrets.token_urlsafe(TOKEN)
        values = _columns(settings) | {"instructor": hashed(token), "version": 1, "id": 1, "frozen": 0}
        with self.writing() as connection:
            if connection.scalar(sql.select(board.c.id)) is not None:
                return None
            connection.execute(board.insert().values(values))
            note(connection, "board", "opened", **_told(settings))
        return token

    def exists(self):
        """Whether the tables, which are there, have a board."""
        with self.reading() as connection:
            return connection.scalar(sql.select(board.c.id)) is not None

    def settings(self):
        """The Settings."""
        with self.reading() as connection:
            return _settings(connection)

    def shown(self):
        """(version, part): of which another one is there when there is something new to see."""
        with self.reading() as connection:
            version = connection.scalar(sql.select(board.c.version))
            return version, rules.part(_settings(connection), rules.now())

    def version(self):
        """The first of `shown`."""
        return self.shown()[0]

    def change(self, changes, actor="instructor"):
        """Change settings, a dict of some of them; returns the Settings. Raises Refused."""
        with self.writing() as connection:
            return _change(connection, changes, actor)

    def freeze(self, frozen):
        """Let nothing come in any more, or again."""
        with self.writing() as connection:
            connection.execute(board.update().values(frozen=int(frozen)))
            note(connection, "instructor", "frozen" if frozen else "opened again")
            _seen(connection)

    def is_instructor(self, token):
        """Whether the token is the instructor's."""
        with self.reading() as connection:
            return hmac.compare_digest(hashed(token), connection.scalar(sql.select(board.c.instructor)))

    def set_instructor(self, token):
        """Make this the instructor's token, if it is not that yet."""
        with self.writing() as connection:
            if connection.scalar(sql.select(board.c.instructor)) != hashed(token):
                connection.execute(board.update().values(instructor=hashed(token)))
                note(connection, "board", "new instructor's token")

    # -- groups

    def join(self, name, code):
        """(Group, its token): a group that joins. Raises Refused: the code, the name, or there are too many."""
        name, token = rules.name(name), secrets.token_urlsafe(TOKEN)
        with self.writing() as connection:
            if not hmac.compare_digest(code.encode(errors="replace"), _settings(connection).code.encode()):
                raise Refused("the code is not that of this board: ask your instructor for it.", 403)
            return self._add(connection, name, token), token

    def known(self, identity, name):
        """The Group of those whom a Hub knows as `identity`; where there is none it joins, as `name` or much like it.

        Raises Refused.
        """
        name = rules.name(name)
        with self.writing() as connection:
            found = connection.execute(sql.select(groups).where(groups.c.hub == identity)).first()
            if found:
                return Group(found.id, found.name)
            taken = {row.folded for row in connection.execute(sql.select(groups.c.folded))}
            names = (name, *(f"{name[: rules.NAME - 7]} ({n})" for n in range(2, rules.GROUPS + 2)))
            free = next(each for each in names if rules.folded(each) not in taken)
            return self._add(connection, free, secrets.token_urlsafe(TOKEN), identity)

    def _add(self, connection, name, token, identity=None):
        if connection.scalar(sql.select(groups.c.id).where(groups.c.folded == rules.folded(name))) is not None:
            raise Refused(f"there is a group {name} already: choose another name, or use that group's token.", 409)
        number = _next(connection, groups.c.id)
        if number > rules.GROUPS:
            raise Refused(f"the board has {rules.GROUPS} groups, and no place for more: tell your instructor.", 403)
        values = {"id": number, "name": name, "folded": rules.folded(name), "token": hashed(token), "hub": identity}
        connection.execute(groups.insert().values(joined=rules.written(rules.now()), **values))
        note(connection, f"group {number}", "joined", name=name, token=hashed(token), hub=identity)
        return Group(number, name)

    def renew(self, group):
        """A new token for the group of this number, whose old one no longer holds. Raises Refused."""
        token = secrets.token_urlsafe(TOKEN)
        with self.writing() as connection:
            row = groups.c.id == group
            if not connection.execute(groups.update().where(row).values(token=hashed(token))).rowcount:
                raise Refused(f"there is no group {group}.", 404)
            note(connection, "instructor", "gave a new token", group=group, token=hashed(token))
        return token

    def group_of(self, token):
        """The Group whose token this is, or None."""
        with self.reading() as connection:
            found = connection.execute(sql.select(groups).where(groups.c.token == hashed(token))).first()
        return Group(found.id, found.name) if found else None

    def group(self, number):
        """The Group of this number, or None."""
        with self.reading() as connection:
            found = connection.execute(sql.select(groups).where(groups.c.id == number)).first()
        return Group(found.id, found.name) if found else None

    # -- entries

    def accept(self, group, key, entry, received=None):
        """(its id, whether it is new) of an Entry of a group, which is on disk when this returns.

        The same `key` and content again give the same id. Raises Refused: see rules.may_enter; 409 where the key came
        with other content before.
        """
        if not rules.KEY.fullmatch(key):
            raise Refused("the header Idempotency-Key has 1 to 80 letters, digits and signs of ASCII, and no space.")
        received, digest = received or rules.now(), entry.digest
        with self.writing() as connection:
            own = entries.c.group == group
            before = connection.execute(sql.select(entries).where(own, entries.c.key == key)).first()
            if before is not None:
                if before.digest != digest:
                    raise Refused("this Idempotency-Key came with another entry before: send a new one.", 409)
                return before.id, False
            settings = _settings(connection)
            start, end = map(rules.written, rules.day(settings, received))
            of_today = sql.select(sql.func.count()).where(own, entries.c.received >= start, entries.c.received < end)
            rules.may_enter(settings, received, connection.scalar(of_today))
            number, moment = _next(connection, entries.c.id), rules.written(received)
            receipt = note(connection, f"group {group}", "handed in", entry=number, digest=digest, received=moment)
            values = {"id": number, "group": group, "key": key, "received": moment, "digest": digest}
            values |= {"evidence": rules.canonical(entry.evidence) if entry.evidence else None, "receipt": receipt}
            connection.execute(entries.insert().values(values))
            content = {"random": entry.random, "disjoint": entry.disjoint, "notebook": entry.notebook}
            connection.execute(files.insert().values(entry=number, **content))
        return number, True

    def choose(self, group, entry):
        """Let this entry of the group count. Raises Refused."""
        with self.writing() as connection:
            if rules.now() >= _settings(connection).deadline:
                raise Refused("the deadline has passed: which entry counts can no longer be chosen.", 403)
            found = connection.execute(
                sql.select(entries).where(entries.c.id == entry, entries.c.group == group)
            ).first()
            if found is None:
                raise Refused(f"your group has no entry {entry}: your history lists those that it has.", 404)
            if found.withdrawn is not None:
                raise Refused(f"entry {entry} was withdrawn ({found.withdrawn}): choose another.", 409)
            connection.execute(groups.update().where(groups.c.id == group).values(chosen=entry))
            note(connection, f"group {group}", "chose", entry=entry)
            _seen(connection)

    def withdraw(self, entry, reason):
        """Take an entry out, for good; the reason is shown. Raises Refused."""
        reason = rules.line(reason, rules.LINE, "the reason")
        with self.writing() as connection:
            found = connection.execute(sql.select(entries).where(entries.c.id == entry)).first()
            if found is None:
                raise Refused(f"there is no entry {entry}.", 404)
            if found.withdrawn is not None:
                raise Refused(f"entry {entry} was withdrawn before ({found.withdrawn}).", 409)
            connection.execute(entries.update().where(entries.c.id == entry).values(withdrawn=reason))
            note(connection, "instructor", "withdrew", entry=entry, reason=reason)
            _seen(connection)

    def rescore(self):
        """Have all scores and ranks made anew, and those entries verified again that were not found to be good."""
        with self.writing() as connection:
            for table in (scores, ranks, rankings):
                connection.execute(table.delete())
            connection.execute(verifications.delete().where(verifications.c.state.in_(["waiting", *rules.DONE[1:]])))
            note(connection, "instructor", "rescored")
            _seen(connection)

    def file(self, entry, name):
        """The bytes of a file of an entry: "random", "disjoint" or "notebook". Raises Refused where there is none."""
        with self.reading() as connection:
            content = connection.scalar(sql.select(files.c[name]).where(files.c.entry == entry))
        if content is None:
            raise Refused(f"there is no entry {entry}.", 404)
        return content

    def verdicts(self, entry):
        """Part -> what `verify_notebook` found, with state, said and since."""
        with self.reading() as connection:
            found = connection.execute(sql.select(verifications).where(verifications.c.entry == entry)).fetchall()
        known = {row.part: {"state": row.state, "said": row.said, "since": row.since} for row in found}
        return {row.part: known[row.part] | json.loads(row.verdict or "{}") for row in found}

    # -- what can be seen

    def counting(self, part):
        """The entries that count, a list of Counting with what became of each in this part, by the number of the group.

        The private part is for those who ask after the deadline: see `seen`.
        """
        with self.reading() as connection:
            return _counting(connection, part)

    def seen(self):
        """(Settings, part, version, counting, ranks) of one moment, as everybody may see them.

        part: the one that is scored now. counting: see there; without those that have no scores yet. ranks: (split,
        entry) -> rank, None for those that were refused; an entry that is not there has not been ranked yet.
        """
        with self.reading() as connection:
            settings = _settings(connection)
            part = rules.part(settings, rules.now())
            found = connection.execute(sql.select(ranks).where(ranks.c.part == part))
            placed = {(row.split, row.entry): row.rank for row in found}
            counted = [each for each in _counting(connection, part) if len(each.scores) == len(scene.SPLITS)]
            return settings, part, connection.scalar(sql.select(board.c.version)), counted, placed

    def history(self, group):
        """What a group handed in, a list of Past, newest first."""
        with self.reading() as connection:
            part = rules.part(_settings(connection), rules.now())
            chosen = connection.scalar(sql.select(groups.c.chosen).where(groups.c.id == group))
            own = connection.execute(
                sql.select(entries).where(entries.c.group == group).order_by(entries.c.id)
            ).fetchall()
            numbers = [entry.id for entry in own]
            scored = _scores(connection, scores.c.entry.in_(numbers))
            states = _states(connection, part, verifications.c.entry.in_(numbers))
        counts = rules.counting(own, chosen)
        parts = rules.PARTS if part == "private" else ("public",)
        return [
            Past(
                id=entry.id,
                received=entry.received,
                withdrawn=entry.withdrawn,
                evidence=json.loads(entry.evidence) if entry.evidence else None,
                receipt=entry.receipt,
                counts=entry.id == counts,
                chosen=entry.id == chosen,
                scores={each: scored[entry.id, each] for each in parts if (entry.id, each) in scored},
                **dict(
                    zip(
                        ("state", "said"),
                        states.get(entry.id, ("waiting" if entry.id == counts else "none", "")),
                        strict=True,
                    )
                ),
            )
            for entry in reversed(own)
        ]

    def left_today(self, group):
        """How many entries the group may still hand in today."""
        with self.reading() as connection:
            settings = _settings(connection)
            start, end = map(rules.written, rules.day(settings, rules.now()))
            today = connection.scalar(
                sql.select(sql.func.count()).where(
                    entries.c.group == group, entries.c.received >= start, entries.c.received < end
                )
            )
        return max(0, settings.per_day - today)

    def progress(self):
        """(group's name, received, split, overall on the public part) of each entry that stands, in order.

        That is, it was verified, or counts and was not refused: what nobody has looked at, nor will, is no progress.
        """
        with self.reading() as connection:
            part = rules.part(_settings(connection), rules.now())
            found = connection.execute(
                sql.select(groups.c.name, entries.c.id, entries.c.received, scores.c.split, scores.c.numbers)
                .join_from(entries, groups)
                .join(scores)
                .where(entries.c.withdrawn.is_(None), scores.c.part == "public")
                .order_by(entries.c.id)
            ).fetchall()
            states = {}
            for row in connection.execute(sql.select(verifications.c.entry, verifications.c.state)):
                states.setdefault(row.entry, set()).add(row.state)
            waiting = {each.id for each in _counting(connection, part) if each.state in ("waiting", "running")}
        stands = {entry for entry, had in states.items() if "verified" in had} | waiting
        stands -= {entry for entry, had in states.items() if had & {"refused", "flagged"}}
        return [
            (row.name, row.received, row.split, json.loads(row.numbers)["overall"]) for row in found if row.id in stands
        ]

    def lines(self):
        """The log, a list of rows (n, time, actor, action, detail as JSON text, hash), the first line first."""
        with self.reading() as connection:
            return connection.execute(sql.select(log).order_by(log.c.n)).fetchall()

    def as_logged(self):
        """(groups, entries): number -> what the log knows of each, as it is now; content: the digest of its files."""
        with self.reading() as connection:
            known = {
                row.id: {"name": row.name, "token": row.token, "hub": row.hub, "chosen": row.chosen}
                for row in connection.execute(sql.select(groups))
            }
            has = {}
            for row in connection.execution_options(yield_per=20).execute(
                sql.select(entries, files).join_from(entries, files, isouter=True)
            ):
                entry = rules.Entry(
                    row.random or b"",
                    row.disjoint or b"",
                    row.notebook or b"",
                    json.loads(row.evidence) if row.evidence else None,
                )
                has[row.id] = {
                    "group": row.group,
                    "received": row.received,
                    "digest": row.digest,
                    "content": entry.digest,
                    "receipt": row.receipt,
                    "withdrawn": row.withdrawn,
                }
            return known, has

    def head(self):
        """(n, hash) of the log's last line."""
        with self.reading() as connection:
            return _head(connection)

    # -- for the workers

    def unscored(self, part):
        """The ids of entries without scores: in the public part of all, in the private one of those that count.

        Nothing of the private part is scored before the deadline, whoever asks.
        """
        with self.reading() as connection:
            if rules.part(_settings(connection), rules.now()) == "public" and part == "private":
                return []
            done = sql.select(scores.c.entry).where(scores.c.part == part)
            found = connection.scalars(sql.select(entries.c.id).where(entries.c.id.not_in(done)).order_by(entries.c.id))
            if part == "public":
                return found.fetchall()
            counted = {each.id for each in _counting(connection, part)}
            return [entry for entry in found if entry in counted]

    def maps(self, entry, part):
        """Split -> the file of the map that counts in this part: in the private one that of the run, once verified."""
        with self.reading() as connection:
            found = None
            if part == "private":
                found = connection.execute(
                    sql.select(verifications).where(
                        verifications.c.entry == entry,
                        verifications.c.part == part,
                        verifications.c.state == "verified",
                    )
                ).first()
            if found is None:
                found = connection.execute(sql.select(files).where(files.c.entry == entry)).first()
        return {split: getattr(found, split) for split in scene.SPLITS}

    def put_scores(self, entry, part, numbers):
        """Keep the scores of an entry. numbers: split -> what `worker.numbers` gives."""
        key = {"entry": entry, "part": part}
        rows = [key | {"split": split, "numbers": rules.canonical(each)} for split, each in numbers.items()]
        with self.writing() as connection:
            if part == "private" and not _private_is_out(connection):
                note(connection, "board", PRIVATE_IS_OUT)
            connection.execute(scores.delete().where(scores.c.entry == entry, scores.c.part == part))
            connection.execute(scores.insert(), rows)

    def basis(self, part):
        """What the ranks of a part were made from, a text; None where there are none."""
        with self.reading() as connection:
            return connection.scalar(sql.select(rankings.c.basis).where(rankings.c.part == part))

    def put_ranks(self, part, basis, placed):
        """Keep the ranks of a part: split -> entry -> rank."""
        rows = [
            {"part": part, "split": split, "entry": entry, "rank": rank}
            for split, each in placed.items()
            for entry, rank in each.items()
        ]
        with self.writing() as connection:
            for table in (ranks, rankings):
                connection.execute(table.delete().where(table.c.part == part))
            if rows:
                connection.execute(ranks.insert(), rows)
            connection.execute(rankings.insert().values(part=part, basis=basis))
            _seen(connection)

    def to_verify(self):
        """(entry, part) that is verified next, and noted as running; None where there is none.

        For the one who verifies alone: what is noted as running already was left by one who died.
        """
        row = verifications.c
        with self.reading() as connection:  # those who hand in wait for who writes, so that is short
            part = rules.part(_settings(connection), rules.now())
            tried = connection.execute(sql.select(row.entry, row.part, row.state, row.since, row.tries)).fetchall()
            waiting = [each for each in _counting(connection, part) if each.state == "waiting" and each.scores]
        if any(each.state == "running" for each in tried):
            self._give_back()
            return self.to_verify()
        if not waiting:
            return None
        before = {each.entry: each for each in tried if each.part == part}
        # who was tried before comes after those who were not
        chosen = min(waiting, key=lambda each: (before[each.id].since if each.id in before else "", each.received))
        tries = before[chosen.id].tries if chosen.id in before else 0
        values = {"state": "running", "said": "", "since": rules.written(rules.now()), "tries": tries + 1}
        with self.writing() as connection:
            connection.execute(verifications.delete().where(row.entry == chosen.id, row.part == part))
            connection.execute(verifications.insert().values(entry=chosen.id, part=part, **values))
            _seen(connection)
        return chosen.id, part

    def _give_back(self):
        """What runs waits again, unless its verification died too often."""
        stale, now = verifications.c.state == "running", rules.written(rules.now())
        given_up = "its verification ended the verifier each time: tell your instructor."
        with self.writing() as connection:
            connection.execute(
                verifications.update()
                .where(stale, verifications.c.tries >= TRIES)
                .values(state="refused", said=given_up, since=now)
            )
            connection.execute(verifications.update().where(stale).values(state="waiting", since=now))
            _seen(connection)

    def put_verdict(self, entry, part, state, said, verdict=None, maps=None):
        """Keep what became of a verification. state: one of rules.DONE, or "waiting": it is tried again later."""
        with self.writing() as connection:
            values = {"state": state, "said": said, "since": rules.written(rules.now()), **(maps or {})}
            values |= {"tries": 0} if state != "waiting" else {"tries": verifications.c.tries - 1}
            row = (verifications.c.entry == entry, verifications.c.part == part)
            text = rules.canonical(verdict) if verdict else None
            connection.execute(verifications.update().where(*row).values(verdict=text, **values))
            if state in rules.DONE:
                note(connection, "verifier", state, entry=entry, part=part, said=said)
                if part == "private" and state == "verified":  # scored again, by the maps of the run
                    connection.execute(scores.delete().where(scores.c.entry == entry, scores.c.part == part))
            _seen(connection)

    # -- the whole of it

    def copy_to(self, other):
        """Copy every row into `other`, a Store whose tables are empty, as they are at one moment; returns the head."""
        with self.reading() as source, other.engine.connect().execution_options(writes=True) as target, target.begin():
            for table in TABLES:
                rows = source.execution_options(yield_per=20).execute(sql.select(table))
                for row in rows:
                    target.execute(table.insert().values(dict(row._mapping)))
            return _head(source)


def note(connection, actor, action, **detail):
    """Write a line into the log; returns its hash, which proves what came before it."""
    number, before = _head(connection)
    values = {"n": number + 1, "time": rules.written(rules.now()), "actor": actor, "action": action}
    values["detail"] = rules.canonical(detail)
    values["hash"] = audit.hashed(before, **values)
    connection.execute(log.insert().values(values))
    return values["hash"]


def migrate(engine):
    """Bring the tables of a database to their present form."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        _one_at_a_time(connection)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _prepare_sqlite(connection, _):
    connection.isolation_level = None  # SQLAlchemy's events say when a transaction begins
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection):
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _one_at_a_time(connection):
    """Wait until no other one writes: for SQLite the transaction itself does, see `_begin_sqlite`."""
    if connection.dialect.name == "postgresql":
        connection.execute(sql.select(sql.func.pg_advisory_xact_lock(_number("writing"))))


def _number(role):
    """The number of a lock of PostgreSQL's."""
    return sql.cast(int.from_bytes(hashlib.sha256(role.encode()).digest()[:4]), BigInteger)


def _reason(error):
    return str(error.orig).strip().splitlines()[0].rstrip(".")


def _settings(connection):
    row = connection.execute(sql.select(board)).one()
    return rules.Settings(
        row.name, row.code, rules.moment(row.deadline), row.per_day, row.time_zone, frozen=bool(row.frozen)
    )


def _columns(settings):
    values = dataclasses.asdict(settings)
    return values | {"deadline": rules.written(settings.deadline), "frozen": int(settings.frozen)}


def _told(settings):
    """The settings for the log, which many may read: without the code."""
    return {key: value for key, value in _columns(settings).items() if key not in ("code", "frozen")}


def _change(connection, changes, actor):
    before = _settings(connection)
    after = rules.settings(before, changes)
    if after == before:
        return after
    if after.deadline > before.deadline and _private_is_out(connection):
        raise Refused("the private results are out, so the deadline can no longer be moved to a later time.", 409)
    connection.execute(board.update().values(_columns(after)))
    differs = [key for key, value in _columns(after).items() if value != _columns(before)[key]]
    note(connection, actor, "set", **{key: _told(after).get(key, "(not told)") for key in differs})
    _seen(connection)
    return after


def _private_is_out(connection):
    """Whether there ever was a private score: rescoring takes scores away, and the log keeps that they were there."""
    return connection.scalar(sql.select(log.c.n).where(log.c.action == PRIVATE_IS_OUT).limit(1)) is not None


def _seen(connection):
    """There is something new to see."""
    connection.execute(board.update().values(version=board.c.version + 1))


def _next(connection, column):
    return (connection.scalar(sql.select(sql.func.max(column))) or 0) + 1


def _head(connection):
    row = connection.execute(sql.select(log.c.n, log.c.hash).order_by(log.c.n.desc()).limit(1)).first()
    return (row.n, row.hash) if row else (0, audit.START)


def _counting(connection, part):
    known = connection.execute(sql.select(groups).order_by(groups.c.id)).fetchall()
    of_group = {}
    for entry in connection.execute(sql.select(entries).order_by(entries.c.id)):
        of_group.setdefault(entry.group, []).append(entry)
    scored = _scores(connection, scores.c.part == part)
    states = _states(connection, part, verifications.c.part == part)
    found = []
    for group in known:
        own = of_group.get(group.id, [])
        number = rules.counting(own, group.chosen)
        for entry in [each for each in own if each.id == number]:
            state, said = states.get(number, ("waiting", ""))
            found.append(
                Counting(
                    id=number,
                    group=group.id,
                    name=group.name,
                    received=entry.received,
                    evidence=json.loads(entry.evidence) if entry.evidence else None,
                    scores=scored.get((number, part), {}),
                    state=state,
                    said=said,
                )
            )
    return found


def _scores(connection, where):
    """(entry, part) -> split -> numbers."""
    found = {}
    for row in connection.execute(sql.select(scores).where(where)):
        numbers = json.loads(row.numbers)
        numbers["recall"] = {int(c): value for c, value in numbers["recall"].items()}
        found.setdefault((row.entry, row.part), {})[row.split] = numbers
    return found


def _states(connection, part, where):
    """Entry -> (state, said) of the verification in a part."""
    columns = (verifications.c.entry, verifications.c.state, verifications.c.said)
    found = connection.execute(sql.select(*columns).where(verifications.c.part == part, where))
    return {row.entry: (row.state, row.said) for row in found}
