"""`course board` as an instructor runs it: started, killed, started again; board.toml and --set."""

import contextlib
import json
import signal

import alembic.command
import pytest
import sqlalchemy as sql
from alembic.config import Config

from autograder.competition.leaderboard import worker
from autograder.competition.leaderboard.folder import open_store, prepare_board
from autograder.competition.leaderboard.store import Store
from autograder.competition.leaderboard.store.database import MIGRATIONS
from autograder.testing import board as boards
from autograder.testing.board import compute_scores, open_board
from autograder.testing.board_command import run_board_command, wait_for
from autograder.testing.needs import needs_sandbox

NOTHING = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
    {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None,
     "source": "print('nothing to call here')"}]}).encode()  # fmt: skip
TOML = """\
name = "Fields"
code = "seed-1234"
deadline = 2199-01-01T00:00:00
per_day = 6
"""


def header_of(folder):
    """The header of the instructor."""
    return {"Authorization": f"Bearer {(folder / 'instructor-token').read_text().strip()}"}


def settings_of(running, folder):
    """The settings of a running board, as the API answers them."""
    return running.client.get("/api/settings", headers=header_of(folder)).json()


@pytest.mark.long
@needs_sandbox
def test_a_board_that_is_killed_continues_and_loses_nothing(start, tmp_path):
    """kill -9 of each process in turn: none stays, no entry is lost or doubled; then all are scored and verified."""
    home = tmp_path / "board"
    running = start(home)
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
    assert "instructor's token" not in running.output
    for process in wait_for(lambda: running.workers()[1:] and running.workers()):
        process.kill()
    assert running.board.enter(second).status_code == 201
    wait_for(lambda: running.output.count("it is started again") == 2)
    rows = wait_for(lambda: rows_of(running, 2))
    assert {row["group"] for row in rows} == {"Ada", "Bob"}
    wait_for(lambda: {"running", "refused"} & {row["verification"]["state"] for row in rows_of(running, 2)})
    with running.client.stream("GET", "/api/events") as events:
        next(events.iter_lines())
        status, left = running.end(signal.SIGINT)
    assert status == 0 and left == [], running.output
    assert "Cancel" not in running.output and "Traceback" not in running.output
    assert "the last one's hash is" in running.output.splitlines()[-1]


def rows_of(running, count):
    """The rows of the standing when there are `count` of them, otherwise None."""
    rows = running.client.get("/api/standing").json()["rows"]["random"]
    return rows if len(rows) == count else None


@needs_sandbox
def test_a_notebook_is_run_in_the_sandbox_and_refused_if_it_does_not_define_classify(tmp_path):
    with open_board(tmp_path) as store:
        group = store.groups.join("Ada", boards.CODE)[0].id
        store.entries.accept(group, "a", boards.rules.check_entry(**boards.make_files(notebook=NOTHING)))
        compute_scores(store)
        verifying = worker.Verifying(store)
        assert verifying.step() and not verifying.step()  # it has begun
        wait_for(verifying.step)
        assert not verifying.step()
        (past,) = store.visible.read_history(group).entries
        assert past.state == "refused" and "defines no classify" in past.remark
        assert store.entries.read_verdicts(1)["public"]["cpu_seconds"] > 0
        assert [line.action for line in store.log.read_lines()][-1] == "refused"


@pytest.mark.long
def test_board_toml_seeds_an_empty_board_and_is_not_read_afterwards(start, tmp_path):
    toml = tmp_path / "board.toml"
    toml.write_text(TOML)
    running = start(tmp_path)
    assert "Made a board with the settings of board.toml." in running.output and "not read" not in running.output
    assert settings_of(running, tmp_path) == {
        "name": "Fields", "code": "seed-1234", "deadline": "2199-01-01T00:00:00.000000Z", "per_day": 6,
        "private_from": "2199-01-01T00:00:00.000000Z", "time_zone": "UTC", "frozen": False, "joining": "code",
        "choices": 1, "phases": "",
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
        lines = [line for line in running.output.splitlines() if "board.toml" in line]
        assert len(lines) == bool(words) and all("is not read any more" in line and words in line for line in lines)
        assert "Made" not in running.output and toml.exists() == (content is not None)
        got = settings_of(running, tmp_path)
        assert (got["per_day"], got["name"]) == (7, "Fields")
        assert running.end(signal.SIGTERM) == (0, [])


def test_an_invalid_board_toml_makes_no_board(tmp_path):
    for content, words in (("per_day = ", "TOML"), ('code = "abcd"', "deadline is not set"), ("x = 1", "no setting")):
        (tmp_path / "board.toml").write_text(content)
        status, output = run_board_command(tmp_path, "--port", "0")
        assert status == 1 and words in output and output.count("\n") == 1
        assert not (tmp_path / "instructor-token").exists()
    with contextlib.closing(Store(f"sqlite:///{tmp_path / 'board.sqlite'}")) as store:
        assert not store.settings.has_board()


def test_a_board_of_an_older_version_keeps_the_settings_of_its_database(tmp_path, capsys):
    """That version kept board.toml and the database equal, with a copy in .board.toml."""
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
    changes = ("per_day=9", "name=A=B", "time_zone=Europe/Berlin", "deadline=2030-05-01T12:00")
    status, output = run_board_command(
        tmp_path, *(word for change in changes for word in ("--set", change)), "--confirm"
    )
    assert status == 0 and output == (
        "per_day is now 9.\nname is now A=B.\ntime_zone is now Europe/Berlin.\ndeadline is now 2030-05-01 10:00 UTC.\n"
    )
    got = settings_of(running, tmp_path)
    assert (got["per_day"], got["name"], got["deadline"]) == (9, "A=B", "2030-05-01T10:00:00.000000Z")
    standing = running.client.get("/api/standing").json()
    assert standing["name"] == "A=B" and standing["version"] > before
    assert run_board_command(tmp_path, "--set", "per_day=9") == (0, "The board already has these settings.\n")
    for arguments, words in (
        (["--set", "name=Good", "--set", "per_day=0"], "whole number"), (["--set", "per_day=x"], "whole number"),
        (["--set", "colour=red"], "there is no setting 'colour'"), (["--set", "per_day"], "is not NAME=VALUE"),
        (["--set", "deadline=soon"], "not a date and a time"),
    ):  # fmt: skip
        status, output = run_board_command(tmp_path, *arguments)
        assert status == 1 and words in output and output.count("\n") == 1, output
    assert settings_of(running, tmp_path) == got
    lines = running.client.get("/api/audit", headers=header_of(tmp_path)).json()["lines"]
    assert [line["actor"] for line in lines if line["action"] == "set"] == ["command line"]
    for process in wait_for(lambda: running.workers()[1:] and running.workers()):
        process.kill()
    wait_for(lambda: running.output.count("it is started again") == 2)
    status, output = run_board_command(tmp_path)
    assert status == 1 and "a board is running in" in output
    assert running.end(signal.SIGTERM) == (0, [])
    assert run_board_command(tmp_path, "--set", "per_day=8") == (0, "per_day is now 8.\n")


@pytest.mark.long
def test_two_machines_on_one_postgresql_run_the_same_board_and_one_continues_alone(start, tmp_path, postgres):
    first = start(tmp_path / "one", "--db", postgres)
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "board.toml").write_text(TOML)
    second = start(tmp_path / "two", "--db", postgres)
    assert "differs from the board's settings (name, code, deadline, per_day)" in second.output
    assert "is in the folder where the board was made" in second.output and "Made" not in second.output
    assert not (tmp_path / "two" / "instructor-token").exists()
    token = header_of(tmp_path / "one")
    group = first.board.join("Ada")
    number = second.board.enter(group).json()["id"]
    assert [entry["id"] for entry in first.client.get("/api/entries", headers=group).json()["entries"]] == [number]
    assert run_board_command(tmp_path / "two", "--db", postgres, "--set", "per_day=9")[0] == 0
    for running in (first, second):
        assert running.client.get("/api/settings", headers=token).json()["per_day"] == 9
    first.end(signal.SIGKILL)
    second.board.enter(group)
    rows = wait_for(lambda: rows_of(second, 1))
    assert rows[0]["entry"] == number + 1 and second.end(signal.SIGTERM) == (0, [])


def test_a_short_instructors_token_is_refused(tmp_path):
    (tmp_path / "instructor-token").write_text("secret\n")
    status, output = run_board_command(tmp_path, "--port", "0")
    assert status == 1 and "has 6 characters: write at least 20" in output
