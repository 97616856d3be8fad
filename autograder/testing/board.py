"""Leaderboards for tests: settings and entries, boards that answer on a port of this machine, boards with groups."""

import contextlib
import dataclasses
import itertools
import threading
import time
from datetime import timedelta

import httpx
import nbformat
import sqlalchemy as sql
import uvicorn
from nbformat.v4 import new_code_cell, new_notebook

from autograder.competition.leaderboard import rules, worker
from autograder.competition.leaderboard.store import Store, tables
from autograder.competition.leaderboard.web import app
from autograder.testing import maps
from course.competition import scene, score

CODE = "otter-4821"
NOTEBOOK = nbformat.writes(new_notebook(cells=[new_code_cell("def classify(cube, labels, seed):\n    return labels")]))
NUMBERS = itertools.count()


def make_settings(**changes):
    """The Settings of a board that closes in a day."""
    values = {"name": "Test", "code": CODE, "time_zone": "UTC", "per_day": 5}
    return rules.check_settings(None, values | {"deadline": rules.now() + timedelta(days=1)} | changes)


def make_files(wrong=0.1, **others):
    """The files of an entry: name -> bytes, keywords for `rules.check_entry`."""
    label_maps = {split: maps.to_npy(maps.make_noisy_map(wrong)) for split in scene.SPLITS}
    return label_maps | {"notebook": NOTEBOOK.encode()} | others


def make_entry(wrong=0.1):
    """An Entry whose maps are wrong at this share of the pixels."""
    return rules.check_entry(**make_files(wrong))


def make_patchy_entry(seed, wrong=(0.02, 0.3), evidence=None):
    """An Entry whose maps of the two splits are wrong to these shares, in patches."""
    label_maps = (maps.to_npy(maps.make_patchy_map(seed, share)) for share in wrong)
    return rules.Entry(*label_maps, NOTEBOOK.encode(), evidence)


def score_patchy_map(seed, wrong, split, part="public"):
    """The numbers that the board shows for a patchy map."""
    return worker.as_numbers(score.score(maps.make_patchy_map(seed, wrong), split, part))


def count_rows(store):
    """Name -> number of rows of each table."""
    with store.database.reading() as connection:
        return {table.name: connection.scalar(sql.select(sql.func.count()).select_from(table)) for table in tables.ALL}


def pass_deadline(store):
    """Let the deadline be one second ago, as if it had been known for long."""
    values = {"deadline": rules.format_time(rules.now() - timedelta(seconds=1)), "deadline_set": None}
    with store.database.writing() as connection:
        connection.execute(tables.board.update().values(version=tables.board.c.version + 1, **values))


def compute_scores(store):
    """Do the worker's part: compute the scores and ranks of all entries."""
    worker.Scoring(store).step()


def read_ranks(store, split="random"):
    """Group's name -> its rank on a split, as everybody may see it."""
    return {row.group: row.rank for row in store.visible.read_standing().rows[split]}


def read_counting(store):
    """The entries that count and have scores, in the order of their groups."""
    return [entry for entry in store.visible.read_instructor_view().counting if entry.is_scored]


@contextlib.contextmanager
def open_board(folder):
    """Open a new board in SQLite; yields its Store."""
    with contextlib.closing(Store(f"sqlite:///{folder / 'board.sqlite'}")) as store:
        store.token = store.open(make_settings())
        yield store


@dataclasses.dataclass
class ServedBoard:
    """A board that answers requests. client: sends them without a token."""

    store: Store
    url: str
    client: httpx.Client
    code: str = CODE

    def join(self, name):
        """Add a group; returns its header."""
        got = self.client.post("/api/groups", json={"name": name, "code": self.code})
        assert got.status_code == 201, got.text
        return {"Authorization": f"Bearer {got.json()['token']}"}

    @property
    def instructor(self):
        """The header of the instructor."""
        return {"Authorization": f"Bearer {self.store.token}"}

    def enter(self, group, key=None, ranks=None, seconds=None, **content):
        """Send an entry of the group with this header; returns the response."""
        content = content or make_files()
        return self.client.post(
            "/api/entries",
            headers={"Idempotency-Key": key or f"key-{next(NUMBERS)}"} | group,
            files={name: (name, file) for name, file in content.items()},
            data={name: value for name, value in (("ranks", ranks), ("seconds", seconds)) if value is not None},
        )


@contextlib.contextmanager
def serve_app(app, port=0):
    """Serve an application in a thread, on a free port unless `port` is given; yields its URL."""
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@contextlib.contextmanager
def serve_board(store):
    """Serve the board of this Store, without workers; yields a ServedBoard."""
    with (
        serve_app(app.make_app(app.Config(store))) as address,
        httpx.Client(base_url=address, trust_env=False, timeout=30) as client,
    ):
        yield ServedBoard(store, address, client)


class BoardWithGroups:
    """A board in a folder, for tests of its pages. names: of the groups that join at once."""

    def __init__(self, folder, names=(), **settings):
        self.folder, self.url = folder, f"sqlite:///{folder}/board.sqlite"
        self.store = Store(self.url)
        first = rules.Settings("The class of 2026", CODE, rules.now() + timedelta(hours=51), 5, "Europe/Berlin")
        self.instructor = self.store.open(dataclasses.replace(first, **settings))
        self.tokens = {}
        for name in names:
            self.join(name)

    def app(self):
        """A new application that serves this board."""
        return app.make_app(app.Config(self.store))

    def join(self, name):
        """Add a group; returns the Group."""
        group, self.tokens[name] = self.store.groups.join(name, CODE)
        return group

    def score(self):
        """Do the worker's part: see `compute_scores`."""
        compute_scores(self.store)

    def verify(self, *states, remark="its code makes maps like these."):
        """Do the verifier's part: the waiting entries, in the order of their receipt, get these states."""
        for state in states:
            number, part = self.store.work.take_next_to_verify()
            again = {split: self.store.entries.read_file(number, split) for split in scene.SPLITS}
            self.store.work.put_verdict(number, part, state, remark, maps=again)
        self.score()
