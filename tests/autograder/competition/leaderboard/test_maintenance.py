"""`course board` with backup, restore, audit, export and grade."""

import contextlib
import csv
import re
import sqlite3

import alembic.command
import pytest
import sqlalchemy as sql
from alembic.config import Config

from autograder.competition.leaderboard.store import Store
from autograder.competition.leaderboard.store.database import MIGRATIONS
from autograder.testing import board as boards
from autograder.testing.board import compute_scores, open_board
from autograder.testing.board_command import run_board_command


@pytest.fixture
def past(tmp_path):
    """The folder of a board with some history."""
    folder = tmp_path / "past"
    folder.mkdir()
    with open_board(folder) as store:
        for name, wrong in (("Ada", 0.02), ("Bob", 0.3), ("=Cy()", 0.1)):
            store.entries.accept(store.groups.join(name, boards.CODE)[0].id, name, boards.make_entry(wrong))
        compute_scores(store)
        for _ in range(2):
            store.work.put_verdict(*store.work.take_next_to_verify(), "verified", "as it is")
        compute_scores(store)
    return folder


@pytest.mark.long
def test_a_whole_board_is_restored_from_one_file(start, past, tmp_path):
    status, output = run_board_command("backup", past)
    (made,) = (past / "backups").iterdir()
    assert status == 0 and str(made) in output and made.stat().st_mode & 0o077 == 0
    assert not (past / "backups" / "x").exists() and run_board_command("backup", past, made)[0] == 1
    head = re.search("hash is ([0-9a-f]{64})", output)[1]
    status, output = run_board_command("restore", tmp_path / "again", made)
    assert status == 0 and head in output and "The instructor's token" in output, output
    status, output = run_board_command("audit", tmp_path / "again", "--receipt", head)
    assert status == 0 and "Nothing in the log was changed" in output
    for folder in (past, tmp_path / "again"):
        assert run_board_command("export", folder, tmp_path / f"{folder.name}.csv")[0] == 0
    assert (tmp_path / "past.csv").read_text() == (tmp_path / "again.csv").read_text()
    status, output = run_board_command("restore", tmp_path / "again", made)
    assert status == 1 and "there is already a board" in output
    running = start(tmp_path / "again")  # with its old settings and a new token
    assert running.client.get("/api/standing").json()["name"] == "Test"
    token = (tmp_path / "again" / "instructor-token").read_text().strip()
    assert running.client.get("/api/audit", headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_a_backup_goes_into_postgresql_and_back(past, tmp_path, postgres):
    run_board_command("backup", past, tmp_path / "one.sqlite")
    assert run_board_command("restore", tmp_path / "pg", tmp_path / "one.sqlite", "--db", postgres)[0] == 0
    assert run_board_command("audit", tmp_path / "pg", "--db", postgres)[0] == 0
    assert run_board_command("backup", tmp_path / "pg", tmp_path / "two.sqlite", "--db", postgres)[0] == 0
    dumps = []
    for name in ("one", "two"):
        with contextlib.closing(sqlite3.connect(tmp_path / f"{name}.sqlite")) as connection:
            dumps.append(sorted(line for line in connection.iterdump() if 'INTO "board"' not in line))
    added = set(dumps[1]) - set(dumps[0])  # a restored board gets a new instructor's token
    assert set(dumps[0]) < set(dumps[1]) and len(added) == 1 and "new instructor" in added.pop()


def test_an_audit_of_a_changed_past_exits_with_status_1(past):
    with contextlib.closing(sqlite3.connect(past / "board.sqlite")) as connection:
        connection.execute("UPDATE entries SET received = '2020' WHERE id = 2")
        connection.commit()
    status, output = run_board_command("audit", past)
    assert status == 1 and "entry 2: its received is not as the log says." in output


def test_every_error_is_one_sentence(past, tmp_path):
    nothing = tmp_path / "nothing"
    (tmp_path / "text").write_text("no database")
    for arguments, words in (
        (["backup", nothing], "has no board"), (["audit", nothing], "has no board"),
        (["export", past], "name the file"), (["grade", past], "name the class"),
        (["restore", nothing, tmp_path / "x"], "does not exist"),
        (["restore", nothing, tmp_path / "text"], "is not a backup"),
        (["grade", past, nothing], "is not the folder of a class"), (["export", past, tmp_path], "cannot be written"),
        ([tmp_path / "text"], "cannot be a board's folder"), ([nothing, "--host", "256.1.1.1"], "cannot listen"),
        ([nothing, "--port", "99999"], "cannot listen"), ([nothing, "--set", "per_day=3"], "has no board"),
        (["audit", past, "--set", "per_day=3"], "--set stands alone"),
        ([nothing, "--db", "mysql://x"], "the database's URL cannot be used"),
    ):  # fmt: skip
        status, output = run_board_command(*arguments)
        assert status == 1 and words in output and output.count("\n") == 1, (arguments, output)


def test_the_standing_goes_into_the_gradebook_of_a_class(past, tmp_path):
    from autograder.gradebook.classroom import Classroom

    room = Classroom(tmp_path / "class")
    with room.gradebook() as book:
        for student in ("ada", "eve", "bob", "cy"):
            book.add_student(student)
    status, output = run_board_command("grade", past, tmp_path / "class")
    assert status == 1 and "Ada" in output and "--members" in output
    members = tmp_path / "members.csv"
    members.write_text("group,student\nAda,ada\nada,eve\nBob,bob\n=Cy(),cy\n")
    for _ in range(2):  # the second time changes nothing
        status, output = run_board_command("grade", past, tmp_path / "class", "--members", members)
        assert status == 0 and "not final yet" in output, output
    rows = {row["student_id"]: row for row in csv.DictReader((tmp_path / "class" / "grades.csv").open())}
    with open_board(past) as store:
        counted = {each.name: each for each in store.visible.read_instructor_view().counting}
    points = {
        each.name: sum(round(100 * got["overall"], 2) for got in each.scores.values()) for each in counted.values()
    }
    assert float(rows["ada"]["score"]) == float(rows["eve"]["score"]) == pytest.approx(points["Ada"], abs=0.01)
    assert float(rows["bob"]["score"]) == pytest.approx(points["Bob"], abs=0.01) and float(rows["cy"]["score"]) == 0
    assert {row["max_score"] for row in rows.values()} == {"200.0"}
    members.write_text("group,student\nNobody,ada\n")
    assert (
        "which has no entry on the board"
        in run_board_command("grade", past, tmp_path / "class", "--members", members)[1]
    )
    members.write_text("a,b\n1,2\n")
    assert "needs the columns" in run_board_command("grade", past, tmp_path / "class", "--members", members)[1]


def test_a_backup_of_an_older_version_is_restored(tmp_path):
    """The version whose groups could not be renamed and whose board had no phases."""
    with (
        contextlib.closing(Store(f"sqlite:///{tmp_path / 'old.sqlite'}")) as old,
        old.database.engine.connect().execution_options(writes=True) as connection,
        connection.begin(),
    ):
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        alembic.command.upgrade(config, "0002")
        board = {
            "id": 1, "name": "Old", "code": "old-code", "deadline": "2199-01-01T00:00:00.000000Z", "per_day": 4,
            "time_zone": "UTC", "frozen": 0, "instructor": "", "version": 9,
        }  # fmt: skip
        group = {"id": 1, "name": "Ada", "folded": "ada", "token": "x", "joined": "2026-01-01T00:00:00.000000Z"}
        for table, values in (("board", board), ("groups", group)):
            connection.execute(sql.table(table, *map(sql.column, values)).insert().values(values))
    status, output = run_board_command("restore", tmp_path / "new", tmp_path / "old.sqlite")
    assert status == 0, output
    with contextlib.closing(Store(f"sqlite:///{tmp_path / 'new' / 'board.sqlite'}")) as store:
        settings = store.settings.read()
        assert (settings.name, settings.joining, settings.choices, settings.phases) == ("Old", "code", 1, ())
        assert store.groups.find_by_number(1).name == "Ada"
