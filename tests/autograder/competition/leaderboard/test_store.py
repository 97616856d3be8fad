"""The store: opening a board, transactions, copies, in SQLite and in PostgreSQL."""

import contextlib
import os
import signal
import subprocess
import sys
import threading

import pytest
import sqlalchemy as sql
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from autograder.competition.leaderboard import audit, rules
from autograder.competition.leaderboard.store import Store, database, tables
from autograder.testing.board import compute_scores, count_rows, make_entry, make_settings
from course.competition import scene
from course.errors import Problem


def test_the_tables_are_those_that_the_migrations_make(store):
    with store.database.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), tables.metadata) == []


def test_a_board_is_made_once_and_its_token_is_returned_once(store):
    assert store.settings.is_instructor(store.token)
    assert not store.settings.is_instructor("") and not store.settings.is_instructor("é\x00")
    assert store.open(make_settings(name="Another")) is None and store.settings.read().name == "Test"


@pytest.mark.long
def test_machines_that_open_a_board_at_the_same_instant_open_one(url):
    """Several machines start with one empty database."""
    program = (
        "import sys; from autograder.competition.leaderboard import store as s\n"
        "from autograder.testing.board import make_settings\n"
        "store = s.Store(sys.argv[1]); print('ready', flush=True); input()\n"
        "print(store.open(make_settings(name=sys.argv[2])) is not None, store.settings.read().name)"
    )
    others = [
        subprocess.Popen([sys.executable, "-c", program, url, name], stdin=-1, stdout=-1, text=True) for name in "ABC"
    ]
    assert [other.stdout.readline() for other in others] == ["ready\n"] * 3
    for other in others:
        other.stdin.write("\n")
        other.stdin.flush()
    answers = [other.communicate()[0].split() for other in others]
    assert sorted(made for made, _ in answers) == ["False", "False", "True"] and len({name for _, name in answers}) == 1


def test_sqlite_writes_to_the_disk_before_it_answers(small):
    with small.database.writing() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL


def test_what_a_page_shows_is_read_in_one_transaction(store, group):
    store.entries.accept(group, "a", make_entry())
    compute_scores(store)
    begun = []
    sql.event.listen(store.database.engine, "begin", begun.append)
    visible = store.visible
    for read in (
        visible.read_standing,
        visible.read_wall,
        lambda: visible.read_group_view(group),
        lambda: visible.read_instructor_view(group),
    ):
        begun.clear()
        read()
        assert len(begun) == 1


def test_the_wall_is_read_again_only_when_it_would_look_different(store, group, monkeypatch):
    store.entries.accept(group, "a", make_entry())
    compute_scores(store)
    wall = store.visible.read_wall()
    assert store.visible.read_wall(wall) is wall
    assert store.visible.read_group_view(group, wall.standing).standing is wall.standing
    store.settings.change({"name": "Another"})
    changed = store.visible.read_wall(wall)
    assert changed is not wall and changed.standing.settings.name == "Another"
    assert store.visible.read_group_view(group, wall.standing).standing == changed.standing
    deadline = store.settings.read().deadline
    monkeypatch.setattr(rules, "now", lambda: deadline)
    assert store.visible.read_wall(changed).standing.part == "private"


def test_readers_see_one_moment_and_do_not_wait_for_a_writer(store, group):
    writing, done = threading.Event(), threading.Event()

    def write():
        with store.database.writing() as connection:
            connection.execute(tables.board.update().values(name="half"))
            writing.set()
            done.wait(20)

    thread = threading.Thread(target=write)
    thread.start()
    assert writing.wait(20) and store.settings.read().name == "Test"
    done.set()
    thread.join()
    assert store.settings.read().name == "half"


def test_every_acknowledged_entry_is_there_after_kill_9(url, store, group):
    """A process accepts one entry after the other and prints each number when it has it; then it is killed."""
    store.settings.change({"per_day": 1000})
    program = (
        "import sys; from autograder.competition.leaderboard import store as s\n"
        "from autograder.testing.board import make_entry\n"
        "store, one = s.Store(sys.argv[1]), make_entry()\n"
        "for n in range(1000): print(store.entries.accept(1, f'k{n}', one)[0], flush=True)"
    )
    process = subprocess.Popen([sys.executable, "-c", program, url], stdout=subprocess.PIPE, text=True)
    acknowledged = [int(process.stdout.readline()) for _ in range(20)]
    os.kill(process.pid, signal.SIGKILL)
    acknowledged += [int(line) for line in process.stdout if line.strip()]
    process.wait()
    process.stdout.close()
    there = [past.id for past in store.visible.read_history(group).entries]
    assert set(acknowledged) <= set(there) and len(set(there)) == len(there) <= len(acknowledged) + 1
    again = store.entries.accept(group, "k0", read_entry(store, 1))
    assert again == (acknowledged[0], False) and not audit.find_faults(store.log)


def read_entry(store, number):
    return rules.Entry(*(store.entries.read_file(number, name) for name in (*scene.SPLITS, "notebook")))


def test_a_copy_has_every_row_and_can_go_into_the_other_database(store, group, tmp_path):
    store.entries.accept(group, "a", make_entry())
    compute_scores(store)
    with contextlib.closing(Store(f"sqlite:///{tmp_path / 'copy.sqlite'}")) as copy:
        copy.database.migrate()
        assert store.copy_to(copy) == store.log.read_head() == copy.log.read_head()
        assert (
            count_rows(copy) == count_rows(store)
            and copy.visible.read_standing() == store.visible.read_standing()
            and not audit.find_faults(copy.log)
        )
        assert copy.entries.accept(group, "b", make_entry()) == (2, True)


def test_a_database_that_cannot_be_used_is_a_problem(tmp_path):
    for url in ("mysql://x/y", "nonsense", "postgresql://nobody@127.0.0.1:1/x"):
        with pytest.raises(Problem):
            Store(url).open(make_settings())
    (tmp_path / "x").write_text("no database" * 1000)
    with pytest.raises(Problem):
        Store(f"sqlite:///{tmp_path / 'x'}").open(make_settings())


def test_one_query_alone_is_one_message_and_a_board_finds_a_database_that_was_started_again(postgres, monkeypatch):
    with contextlib.closing(Store(postgres)) as store:
        token = store.open(make_settings())
        assert store.settings.is_instructor(token)
        with store.database.looking() as connection:
            assert connection.connection.driver_connection.info.transaction_status.name == "IDLE"
            connection.execute(sql.text("SELECT 1"))
            assert connection.connection.driver_connection.info.transaction_status.name == "IDLE"
        monkeypatch.setattr(database, "UNUSED", 0)
        with store.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as other:
            assert store.settings.is_instructor(token)  # by a second connection of the pool
            other.execute(
                sql.text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE pid != pg_backend_pid() AND datname = current_database()"
                )
            )
        assert store.settings.is_instructor(token)
