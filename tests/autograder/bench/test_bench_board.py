"""The bench of the board, small: a server is killed while many groups hand in, and no entry is lost or doubled."""

import pytest

from autograder.bench import board

pytestmark = pytest.mark.long


def assert_promises_are_kept(row):
    """Check that a small crowd got what the board promised."""
    assert row["accepted"] == row["groups"] * board.PER_DAY, row
    assert row["refused"] == row["groups"], row  # each group sent one more than it may
    assert not any(row[name] for name in ("lost", "doubled", "overruns", "behind", "left")), row
    assert row["events"] >= 10 and row["repeated"] >= 1, row


SMALL = {"groups": 30, "watchers": 10, "seconds": 5, "kills": 1, "browser": False}


def test_on_sqlite_a_server_killed_among_concurrent_posts_loses_none_doubles_none_and_keeps_limits():
    assert_promises_are_kept(board.crowd("SQLite", **SMALL))


def test_on_postgresql_a_server_killed_among_concurrent_posts_loses_none_doubles_none_and_keeps_limits(postgres):
    assert_promises_are_kept(board.crowd("PostgreSQL", postgres, **SMALL))
