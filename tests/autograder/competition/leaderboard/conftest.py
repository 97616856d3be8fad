"""Boards in SQLite and in PostgreSQL."""

import contextlib

import pytest

from autograder.competition.leaderboard import store as stores
from autograder.testing.board import make_settings, open_board, serve_board


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """The URL of an empty database, of each of the two kinds."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'board.sqlite'}"
    return request.getfixturevalue("postgres")


@pytest.fixture
def store(url):
    """A new board in each of the two kinds of database."""
    with contextlib.closing(stores.Store(url)) as store:
        store.token = store.open(make_settings())
        yield store


@pytest.fixture
def small(tmp_path):
    """A new board in SQLite."""
    with open_board(tmp_path) as store:
        yield store


@pytest.fixture
def board(small, tmp_path):
    """A new board that answers requests, without workers."""
    with serve_board(tmp_path, small) as board:
        yield board
