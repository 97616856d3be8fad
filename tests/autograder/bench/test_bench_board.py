"""The bench of the board, small: a server is killed while many groups hand in, and no entry is lost or doubled."""

import types
from datetime import UTC, datetime

import pytest

from autograder.bench import board
from autograder.testing import entry_notebooks, final_standing

pytestmark = pytest.mark.long


def assert_promises_are_kept(row):
    """Check that a small crowd got what the board promised."""
    assert row["accepted"] == row["groups"] * board.PER_DAY, row
    assert row["refused"] == row["groups"], row  # each group sent one more than it may
    assert not any(row[name] for name in ("lost", "doubled", "overruns", "behind", "left")), row
    assert row["elsewhere_ms"] > 0, row
    assert row["events"] >= 10 and row["repeated"] >= 1, row


SLEEPS = "import time\ndef classify(cube, labels, seed):\n    while True:\n        time.sleep(1)"  # costs no other test
SMALL = {"groups": 30, "watchers": 10, "seconds": 5, "kills": 1, "browser": False, "silent": 300}


def test_on_sqlite_a_server_killed_among_concurrent_posts_loses_none_doubles_none_and_keeps_limits():
    assert_promises_are_kept(board.measure_board("SQLite", **SMALL))


def test_on_postgresql_a_server_killed_among_concurrent_posts_loses_none_doubles_none_and_keeps_limits(postgres):
    assert_promises_are_kept(board.measure_board("PostgreSQL", postgres, **SMALL))


def test_a_class_reaches_its_final_standing_although_one_group_hands_in_code_without_end(monkeypatch):
    monkeypatch.setattr(final_standing, "load_entries", quick)
    monkeypatch.setattr(final_standing, "ENDLESS", SLEEPS)
    row = final_standing.reach_final_standing(3, 1)
    assert row["is_final"] and (row["verified"], row["refused"]) == (2, 1), row


def quick():
    """The quickest of the honest solutions."""
    nearest_mean = entry_notebooks.load_entries().nearest_mean
    return types.SimpleNamespace(HONEST={"nearest mean": nearest_mean})


def test_a_crowd_that_would_hand_in_across_midnight_waits_for_the_new_day():
    assert board.seconds_to_midnight(datetime(2026, 11, 23, 23, 58, 30, tzinfo=UTC)) == 90
    assert board.seconds_to_midnight(datetime(2026, 12, 31, tzinfo=UTC)) == 24 * 3600
