"""Boards in SQLite and in PostgreSQL."""

import contextlib

import pytest

from autograder.competition.leaderboard.store import Store
from autograder.testing.board import CODE, BoardWithGroups, make_patchy_entry, make_settings, open_board, serve_board
from autograder.testing.board_command import RunningBoard
from autograder.testing.board_pages import NASTY, log_in


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """The URL of an empty database, of each of the two kinds."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'board.sqlite'}"
    return request.getfixturevalue("postgres")


@pytest.fixture
def store(url):
    """A new board in each of the two kinds of database."""
    with contextlib.closing(Store(url)) as store:
        store.token = store.open(make_settings())
        yield store


@pytest.fixture
def group(store):
    """The number of a group that has joined."""
    return store.groups.join("One", CODE)[0].id


@pytest.fixture
def small(tmp_path):
    """A new board in SQLite."""
    with open_board(tmp_path) as store:
        yield store


@pytest.fixture
def board(small):
    """A new board that answers requests, without workers."""
    with serve_board(small) as board:
        yield board


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """Three groups, one of a nasty name with a worse entry that does not count; two verified, one refused."""
    board = BoardWithGroups(tmp_path_factory.mktemp("three"), ["Ann & Bob", NASTY[:40], "Ähren"])
    for n, evidence in enumerate([{"ranks": 4, "seconds": 12.34}, None, None], 1):
        board.store.entries.accept(n, "first", make_patchy_entry(n, (0.02 + n / 100, 0.25 + n / 10), evidence))
    board.store.entries.accept(2, "second", make_patchy_entry(2, (0.02, 0.3)))
    board.score()
    board.verify("verified", "verified", "refused", remark=f"it {NASTY} says so.")
    return board


@pytest.fixture
def asking(three):
    """A browser that nobody has logged in on."""
    return log_in(three)


@pytest.fixture
def start():
    """A function that starts a board. All boards are stopped at the end."""
    started = []

    def run(*arguments, **options):
        started.append(RunningBoard(*arguments, **options))
        return started[-1]

    yield run
    for running in started:
        if running.process.poll() is None:
            running.kill()
