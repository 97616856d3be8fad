"""`course board` as a person runs it: it starts, is killed, goes on, and is looked after."""

import contextlib
import csv
import io
import json
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import alembic.command
import httpx
import psutil
import pytest
import sqlalchemy as sql
from alembic.config import Config

from autograder.competition.leaderboard import worker
from autograder.competition.leaderboard.folder import open_store, prepare_board
from autograder.competition.leaderboard.store import Store
from autograder.competition.leaderboard.store.database import MIGRATIONS
from autograder.labs import converter
from autograder.testing import board as boards
from autograder.testing.board import ServedBoard, open_board
from autograder.testing.needs import needs_sandbox
from course import command

LINE = re.compile(r"http://[\d.]+:\d+")


class Running:
    """`course board FOLDER` in a process of its own. said: what it printed."""

    def __init__(self, folder, *arguments):
        self.folder, self.said = folder, ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "course.command", "board", str(folder), "--port", "0", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for line in self.process.stdout:
            self.said += line
            if "Ctrl-C" in line:
                break
        assert self.process.poll() is None and LINE.search(self.said), self.said
        self.url = LINE.search(self.said)[0]
        self.client = httpx.Client(base_url=self.url, trust_env=False, timeout=30)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.said += line

    def workers(self):
        return psutil.Process(self.process.pid).children()

    def end(self, number):
        """Send it the signal; its exit status, and what is left of its workers some seconds later."""
        workers = self.workers()
        self.process.send_signal(number)
        status = self.process.wait(60)
        self.reader.join()
        self.process.stdout.close()
        self.client.close()
        return status, psutil.wait_procs(workers, timeout=20)[1]

    @property
    def board(self):
        return ServedBoard(None, self.url, self.client)


def wait_for(what):
    """The first true value of `what()`."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if found := what():
            return found
        time.sleep(0.1)
    raise AssertionError("it did not happen")


def board(*arguments):
    """(exit status, what was printed) of `course board`."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        status = command.main(["board", *map(str, arguments)])
    return status, out.getvalue()


@pytest.fixture
def start():
    """A function that starts a board; whatever runs at the end is ended."""
    started = []

    def run(*arguments):
        started.append(Running(*arguments))
        return started[-1]

    yield run
    for running in started:
        if running.process.poll() is None:
            running.end(signal.SIGKILL)


@pytest.fixture
def join_by_its_code(monkeypatch):
    """A function: groups join by the code that a new board printed."""

    def read(running):
        monkeypatch.setattr(boards, "CODE", re.search(r"join with the code (\S+) ", running.said)[1])

    return read


def header_of(folder):
    """The header of the instructor."""
    return {"Authorization": f"Bearer {(folder / 'instructor-token').read_text().strip()}"}


def settings_of(running, folder):
    """The settings of a running board, as the API answers them."""
    return running.client.get("/api/settings", headers=header_of(folder)).json()


@needs_sandbox
def test_it_is_killed_goes_on_and_loses_nothing(start, tmp_path, join_by_its_code):
    """kill -9 of all in turn: nothing is left, nothing lost, none twice; then scored, ranked, verified."""
    home = tmp_path / "board"
    running = start(home)
    join_by_its_code(running)
    assert (home / "instructor-token").stat().st_mode & 0o777 == 0o600
    assert (home / "board.sqlite").stat().st_mode & 0o077 == 0
    first, second = running.board.join("Ada"), running.board.join("Bob")
    content = boards.make_files(notebook=NOTHING)
    got = running.board.enter(first, "key", **content)
    assert got.status_code == 201
    status, left = running.end(signal.SIGKILL)
    assert status == -signal.SIGKILL and left == []
    running = start(home)
    assert running.board.enter(first, "key", **content).json()["id"] == got.json()["id"] == 1
    assert "instructor's token" not in running.said
    for process in wait_for(lambda: running.workers()[1:] and running.workers()):
        process.kill()
    assert running.board.enter(second).status_code == 201
    wait_for(lambda: running.said.count("it is started again") == 2)
    rows = wait_for(lambda: ranked(running, 2))
    assert {row["group"] for row in rows} == {"Ada", "Bob"}
    wait_for(lambda: {"running", "refused"} & {row["verification"]["state"] for row in ranked(running, 2)})
    with running.client.stream("GET", "/api/events") as events:
        next(events.iter_lines())
        status, left = running.end(signal.SIGINT)
    assert status == 0 and left == [], running.said
    assert "Cancel" not in running.said and "Traceback" not in running.said
    assert "the last one's hash is" in running.said.splitlines()[-1]


NOTHING = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
    {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None,
     "source": "print('nothing to call here')"}]}).encode()  # fmt: skip


def ranked(running, count):
    """The rows of the standing, once there are so many, all with their rank or verdict."""
    rows = running.client.get("/api/standing").json()["rows"]["random"]
    return rows if len(rows) == count else None


@needs_sandbox
def test_a_notebook_is_run_in_the_sandbox_and_refused_where_it_defines_nothing_to_call(tmp_path):
    with open_board(tmp_path) as store:
        group = store.groups.join("Ada", boards.CODE)[0].id
        store.entries.accept(group, "a", boards.rules.check_entry(**boards.make_files(notebook=NOTHING)))
        worker.Scoring(store).step()
        assert worker.verify_next(store) and not worker.verify_next(store)
        (past,) = store.visible.history(group).entries
        assert past.state == "refused" and "defines no classify" in past.remark
        assert store.entries.read_verdicts(1)["public"]["cpu_seconds"] > 0
        assert [line.action for line in store.log.lines()][-1] == "refused"


TOML = """\
name = "Fields"
code = "seed-1234"
deadline = 2199-01-01T00:00:00
per_day = 6
"""


def test_board_toml_seeds_an_empty_board_and_is_not_read_afterwards(start, tmp_path):
    toml = tmp_path / "board.toml"
    toml.write_text(TOML)
    running = start(tmp_path)
    assert "Made a board with the settings of board.toml." in running.said and "not read" not in running.said
    assert settings_of(running, tmp_path) == {
        "name": "Fields", "code": "seed-1234", "deadline": "2199-01-01T00:00:00.000000Z", "per_day": 6,
        "time_zone": "UTC", "frozen": False,
    }  # fmt: skip
    running.client.put("/api/settings", json={"per_day": 7}, headers=header_of(tmp_path))
    running.end(signal.SIGTERM)
    toml.write_text(TOML.replace("Fields", "Other fields"))
    for content, words in (
        (toml.read_bytes(), "differs from the board's settings (name, per_day): change settings with `course board"),
        (b"per_day = ", "is not valid (" + f"{toml} cannot be read as TOML"),
        (b"\xff", "is not valid (" + f"{toml} cannot be read as TOML"),
        (b"colour = 3", "is not valid (there is no setting 'colour'"),
        (b"per_day = 7", None),
        (None, None),
    ):
        toml.unlink() if content is None else toml.write_bytes(content)
        running = start(tmp_path)
        lines = [line for line in running.said.splitlines() if "board.toml" in line]
        assert len(lines) == bool(words) and all("is not read any more" in line and words in line for line in lines)
        assert "Made" not in running.said and toml.exists() == (content is not None)
        got = settings_of(running, tmp_path)
        assert (got["per_day"], got["name"]) == (7, "Fields")
        assert running.end(signal.SIGTERM) == (0, [])


def test_a_board_toml_that_makes_no_sense_makes_no_board(tmp_path):
    for content, words in (("per_day = ", "TOML"), ('code = "abcd"', "deadline is not set"), ("x = 1", "no setting")):
        (tmp_path / "board.toml").write_text(content)
        status, said = board(tmp_path, "--port", "0")
        assert status == 1 and words in said and said.count("\n") == 1
        assert not (tmp_path / "instructor-token").exists()
    with contextlib.closing(Store(f"sqlite:///{tmp_path / 'board.sqlite'}")) as store:
        assert not store.settings.exist()


def test_a_board_of_the_version_before_keeps_the_settings_of_its_database(tmp_path, capsys):
    """Its tables had what board.toml said last, and .board.toml lay beside it."""
    with contextlib.closing(open_store(tmp_path)) as store:
        with store.database.engine.connect().execution_options(writes=True) as connection, connection.begin():
            config = Config()
            config.set_main_option("script_location", str(MIGRATIONS))
            config.attributes["connection"] = connection
            alembic.command.upgrade(config, "0001")
            values = {
                "id": 1, "name": "Old", "code": "old-code", "deadline": "2199-01-01T00:00:00.000000Z", "per_day": 4,
                "time_zone": "UTC", "frozen": 0, "instructor": "", "file": "", "version": 9,
            }  # fmt: skip
            connection.execute(sql.table("board", *map(sql.column, values)).insert().values(values))
        for name in ("board.toml", ".board.toml"):
            (tmp_path / name).write_text(TOML.replace("per_day = 6", "per_day = 4"))
        prepare_board(tmp_path, store)
        assert (store.settings.read().name, store.settings.read().per_day) == ("Old", 4)
        assert "differs from the board's settings (name, code)" in capsys.readouterr().out
        assert store.settings.is_instructor((tmp_path / "instructor-token").read_text().strip())


def test_settings_are_changed_from_the_command_line_while_the_board_runs(start, tmp_path):
    running = start(tmp_path)
    before = running.client.get("/api/standing").json()["version"]
    status, said = board(tmp_path, "--set", "per_day=9", "--set", "name=A=B", "--set", "time_zone=Europe/Berlin",
                         "--set", "deadline=2030-05-01T12:00")  # fmt: skip
    assert status == 0 and "per_day is now 9.\nname is now A=B." in said, said
    got = settings_of(running, tmp_path)
    assert (got["per_day"], got["name"], got["deadline"]) == (9, "A=B", "2030-05-01T10:00:00.000000Z")
    standing = running.client.get("/api/standing").json()
    assert standing["name"] == "A=B" and standing["version"] > before
    assert board(tmp_path, "--set", "per_day=9") == (0, "The settings are so already.\n")
    for arguments, words in (
        (["--set", "name=Good", "--set", "per_day=0"], "whole number"), (["--set", "per_day=x"], "whole number"),
        (["--set", "colour=red"], "there is no setting 'colour'"), (["--set", "per_day"], "is not NAME=VALUE"),
        (["--set", "deadline=soon"], "not a date and a time"),
    ):  # fmt: skip
        status, said = board(tmp_path, *arguments)
        assert status == 1 and words in said and said.count("\n") == 1, said
    assert settings_of(running, tmp_path) == got
    lines = running.client.get("/api/audit", headers=header_of(tmp_path)).json()["lines"]
    assert [line["actor"] for line in lines if line["action"] == "set"] == ["command line"]
    for process in wait_for(lambda: running.workers()[1:] and running.workers()):
        process.kill()
    wait_for(lambda: running.said.count("it is started again") == 2)
    status, said = board(tmp_path)
    assert status == 1 and "a board is running in" in said
    assert running.end(signal.SIGTERM) == (0, [])
    assert board(tmp_path, "--set", "per_day=8") == (0, "per_day is now 8.\n")


def test_a_second_machine_on_the_same_postgresql_shows_the_same_board_and_goes_on_alone(
    start, tmp_path, postgres, join_by_its_code
):
    first = start(tmp_path / "one", "--db", postgres)
    join_by_its_code(first)
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "board.toml").write_text(TOML)
    second = start(tmp_path / "two", "--db", postgres)
    assert "differs from the board's settings (name, code, deadline, per_day)" in second.said
    assert "is in the folder where the board was made" in second.said and "Made" not in second.said
    assert not (tmp_path / "two" / "instructor-token").exists()
    token = header_of(tmp_path / "one")
    group = first.board.join("Ada")
    number = second.board.enter(group).json()["id"]
    assert [entry["id"] for entry in first.client.get("/api/entries", headers=group).json()["entries"]] == [number]
    assert board(tmp_path / "two", "--db", postgres, "--set", "per_day=9")[0] == 0
    for running in (first, second):
        assert running.client.get("/api/settings", headers=token).json()["per_day"] == 9
    first.end(signal.SIGKILL)
    second.board.enter(group)
    rows = wait_for(lambda: ranked(second, 1))
    assert rows[0]["entry"] == number + 1 and second.end(signal.SIGTERM) == (0, [])


def test_an_instructors_token_that_a_person_wrote_is_long_enough(tmp_path):
    (tmp_path / "instructor-token").write_text("secret\n")
    status, said = board(tmp_path, "--port", "0")
    assert status == 1 and "has 6 characters: write at least 20" in said


@pytest.fixture
def past(tmp_path):
    """The folder of a board on which something has happened."""
    folder = tmp_path / "past"
    folder.mkdir()
    with open_board(folder) as store:
        for name, wrong in (("Ada", 0.02), ("Bob", 0.3), ("=Cy()", 0.1)):
            store.entries.accept(store.groups.join(name, boards.CODE)[0].id, name, boards.make_entry(wrong))
        worker.Scoring(store).step()
        for _ in range(2):
            store.work.put_verdict(*store.work.take_next_to_verify(), "verified", "as it is")
        worker.Scoring(store).step()
    return folder


def test_a_backup_is_one_file_from_which_all_comes_back(start, past, tmp_path):
    status, said = board("backup", past)
    (made,) = (past / "backups").iterdir()
    assert status == 0 and str(made) in said and made.stat().st_mode & 0o077 == 0
    assert not (past / "backups" / "x").exists() and board("backup", past, made)[0] == 1
    head = re.search("hash is ([0-9a-f]{64})", said)[1]
    status, said = board("restore", tmp_path / "again", made)
    assert status == 0 and head in said and "The instructor's token" in said, said
    status, said = board("audit", tmp_path / "again", "--receipt", head)
    assert status == 0 and "Nothing in the log was changed" in said
    for folder in (past, tmp_path / "again"):
        assert board("export", folder, tmp_path / f"{folder.name}.csv")[0] == 0
    assert (tmp_path / "past.csv").read_text() == (tmp_path / "again.csv").read_text()
    status, said = board("restore", tmp_path / "again", made)
    assert status == 1 and "there is a board already" in said
    running = start(tmp_path / "again")  # its settings are as they were, and there is a new token
    assert running.client.get("/api/standing").json()["name"] == "Test"
    token = (tmp_path / "again" / "instructor-token").read_text().strip()
    assert running.client.get("/api/audit", headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_a_backup_goes_into_postgresql_and_back(past, tmp_path, postgres):
    board("backup", past, tmp_path / "one.sqlite")
    assert board("restore", tmp_path / "pg", tmp_path / "one.sqlite", "--db", postgres)[0] == 0
    assert board("audit", tmp_path / "pg", "--db", postgres)[0] == 0
    assert board("backup", tmp_path / "pg", tmp_path / "two.sqlite", "--db", postgres)[0] == 0
    dumps = []
    for name in ("one", "two"):
        with contextlib.closing(sqlite3.connect(tmp_path / f"{name}.sqlite")) as connection:
            dumps.append(sorted(line for line in connection.iterdump() if 'INTO "board"' not in line))
    added = set(dumps[1]) - set(dumps[0])  # who restores gets a token of the instructor's
    assert set(dumps[0]) < set(dumps[1]) and len(added) == 1 and "new instructor" in added.pop()


def test_a_changed_past_is_said_with_exit_status_1(past):
    with contextlib.closing(sqlite3.connect(past / "board.sqlite")) as connection:
        connection.execute("UPDATE entries SET received = '2020' WHERE id = 2")
        connection.commit()
    status, said = board("audit", past)
    assert status == 1 and "entry 2: its received is not as the log says." in said


def test_what_cannot_be_done_is_one_sentence(past, tmp_path):
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
        status, said = board(*arguments)
        assert status == 1 and words in said and said.count("\n") == 1, (arguments, said)


def test_the_standing_goes_into_the_gradebook_of_a_class(past, tmp_path):
    converter.ensure_path()  # a gradebook is made here
    from autograder.gradebook.classroom import Classroom

    room = Classroom(tmp_path / "class")
    with room.gradebook() as book:
        for student in ("ada", "eve", "bob", "cy"):
            book.add_student(student)
    status, said = board("grade", past, tmp_path / "class")
    assert status == 1 and "Ada" in said and "--members" in said
    members = tmp_path / "members.csv"
    members.write_text("group,student\nAda,ada\nada,eve\nBob,bob\n=Cy(),cy\n")
    for _ in range(2):  # again makes it no other
        status, said = board("grade", past, tmp_path / "class", "--members", members)
        assert status == 0 and "not final yet" in said, said
    rows = {row["student_id"]: row for row in csv.DictReader((tmp_path / "class" / "grades.csv").open())}
    with open_board(past) as store:
        counted = {each.name: each for each in store.visible.instructor().counting}
    points = {
        each.name: sum(round(100 * got["overall"], 2) for got in each.scores.values()) for each in counted.values()
    }
    assert float(rows["ada"]["score"]) == float(rows["eve"]["score"]) == pytest.approx(points["Ada"], abs=0.01)
    assert float(rows["bob"]["score"]) == pytest.approx(points["Bob"], abs=0.01) and float(rows["cy"]["score"]) == 0
    assert {row["max_score"] for row in rows.values()} == {"200.0"}
    members.write_text("group,student\nNobody,ada\n")
    assert "which has no entry on the board" in board("grade", past, tmp_path / "class", "--members", members)[1]
    members.write_text("a,b\n1,2\n")
    assert "needs the columns" in board("grade", past, tmp_path / "class", "--members", members)[1]
