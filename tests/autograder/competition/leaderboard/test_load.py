"""Many hand in at once and the server is killed meanwhile: nothing is lost, doubled, or too much."""

from autograder.bench import board


def held(row):
    """Whether a small crowd got what it was promised."""
    assert row["accepted"] == row["groups"] * board.PER_DAY, row
    assert row["refused"] == row["groups"], row  # each group sent one more than it may
    assert not any(row[name] for name in ("lost", "doubled", "overruns", "behind", "left")), row
    assert row["events"] >= 10 and row["repeated"] >= 1, row


SMALL = {"groups": 30, "watchers": 10, "seconds": 5, "kills": 1, "browser": False}


def test_on_sqlite_a_server_killed_among_concurrent_posts_loses_none_doubles_none_and_keeps_limits():
    held(board.crowd("SQLite", **SMALL))


def test_on_postgresql_a_server_killed_among_concurrent_posts_loses_none_doubles_none_and_keeps_limits(postgres):
    held(board.crowd("PostgreSQL", postgres, **SMALL))
