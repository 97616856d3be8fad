"""A board, in SQLite or in PostgreSQL, entries to hand in, and a server that answers on this machine's own address."""

import contextlib
import dataclasses
import io
import itertools
import threading
import time
from datetime import timedelta

import httpx
import nbformat
import numpy as np
import pytest
import sqlalchemy as sql
import uvicorn
from nbformat.v4 import new_code_cell, new_notebook

from autograder.competition.leaderboard import app, rules
from autograder.competition.leaderboard import store as stores
from course.competition import scene

CODE = "otter-4821"
NOTEBOOK = nbformat.writes(new_notebook(cells=[new_code_cell("def classify(cube, labels, seed):\n    return labels")]))
NUMBERS = itertools.count()


def settings(**changes):
    """The Settings of a board that closes in a day."""
    values = {"name": "Test", "code": CODE, "time_zone": "UTC", "per_day": 5}
    return rules.settings(None, values | {"deadline": rules.now() + timedelta(days=1)} | changes)


def label_map(wrong=0.1, seed=None):
    """A map that is wrong at this share of the pixels; each one is another, unless the seed is the same."""
    rng = np.random.default_rng(next(NUMBERS) if seed is None else seed)
    made = scene.load()[1].copy()
    where = rng.random(made.shape) < wrong
    made[where] = rng.integers(1, 17, where.sum())
    return made


def as_file(array):
    """An array as np.save writes it."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def files(wrong=0.1, **others):
    """The files of an entry, keywords for `rules.entry`."""
    maps = {split: as_file(label_map(wrong)) for split in scene.SPLITS}
    return maps | {"notebook": NOTEBOOK.encode()} | others


def entry(wrong=0.1):
    return rules.entry(**files(wrong))


def has(store):
    """How many rows each table has."""
    with store.reading() as connection:
        return {
            table.name: connection.scalar(sql.select(sql.func.count()).select_from(table)) for table in stores.TABLES
        }


def pass_deadline(store):
    """The deadline is now."""
    store.change({"deadline": (rules.now() - timedelta(seconds=1)).isoformat()})


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """Where a store may be, in each of the two databases."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'board.sqlite'}"
    return request.getfixturevalue("postgres")


@pytest.fixture
def store(url):
    """A new board in each of the two databases."""
    with contextlib.closing(stores.Store(url)) as store:
        store.token = store.open(settings())
        yield store


@contextlib.contextmanager
def opened(folder):
    """A new board in SQLite."""
    with contextlib.closing(stores.Store(f"sqlite:///{folder / 'board.sqlite'}")) as store:
        store.token = store.open(settings())
        yield store


@pytest.fixture
def small(tmp_path):
    """A new board in SQLite."""
    with opened(tmp_path) as store:
        yield store


@dataclasses.dataclass
class Board:
    """A board that answers. client: asks as nobody in particular."""

    store: stores.Store
    url: str
    client: httpx.Client

    def join(self, name):
        """The header of a new group."""
        got = self.client.post("/api/groups", json={"name": name, "code": CODE})
        assert got.status_code == 201, got.text
        return {"Authorization": f"Bearer {got.json()['token']}"}

    @property
    def instructor(self):
        """The header of the instructor."""
        return {"Authorization": f"Bearer {self.store.token}"}

    def enter(self, group, key=None, ranks=None, seconds=None, **content):
        """The answer to an entry of the group with this header."""
        content = content or files()
        return self.client.post(
            "/api/entries",
            headers={"Idempotency-Key": key or f"key-{next(NUMBERS)}"} | group,
            files={name: (name, file) for name, file in content.items()},
            data={name: value for name, value in (("ranks", ranks), ("seconds", seconds)) if value is not None},
        )


@contextlib.contextmanager
def answering(app):
    """The address of a server of this app, in a thread."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@contextlib.contextmanager
def served(folder, store):
    """A Board that answers, without workers."""
    with (
        answering(app.make_app(app.Config(folder, store))) as address,
        httpx.Client(base_url=address, trust_env=False, timeout=30) as client,
    ):
        yield Board(store, address, client)


@pytest.fixture
def board(small, tmp_path):
    """A new board that answers, without workers."""
    with served(tmp_path, small) as board:
        yield board
