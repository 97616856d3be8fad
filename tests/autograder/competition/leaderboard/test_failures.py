"""What goes wrong with the machine is one sentence: a newer board, a full disk, a locked database, a dead worker."""

import contextlib
import shutil
import signal
import sqlite3
import subprocess
import sys

import pytest
import sqlalchemy as sql

from autograder.competition.leaderboard import worker
from autograder.competition.leaderboard.store import Store, database
from autograder.testing import board as boards
from autograder.testing.board import compute_scores, make_files, open_board
from autograder.testing.board_command import run_board_command, wait_for
from autograder.testing.board_process import write_board_toml
from autograder.testing.needs import needs_sandbox


def set_form(store, revision):
    """Let the database say that it has the form of this revision."""
    with store.database.writing() as connection:
        connection.execute(sql.text("update alembic_version set version_num = :revision"), {"revision": revision})


def test_a_board_of_a_newer_or_an_older_version_is_one_sentence(tmp_path):
    with open_board(tmp_path) as store:
        set_form(store, "9999")
    arguments = ([], ["--set", "per_day=3"], ["backup"], ["audit"])
    for words in arguments:
        action, rest = (words[:1], []) if words and not words[0].startswith("-") else ([], words)
        status, output = run_board_command(*action, tmp_path, *rest, *(["--port", "0"] if not words else []))
        assert status == 1 and "by a newer version of the course" in output and output.count("\n") == 1, output
    with contextlib.closing(Store(f"sqlite:///{tmp_path / 'board.sqlite'}")) as store:
        set_form(store, "0001")
    status, output = run_board_command(tmp_path, "--set", "per_day=3")
    assert status == 1 and "by an older version of the course: start it once" in output and output.count("\n") == 1


def test_a_locked_database_is_one_sentence_at_the_command_line_and_for_a_group(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "PATIENCE", 0.5)
    with open_board(tmp_path) as store, boards.serve_board(store) as board:
        group = board.join("Ada")
        with contextlib.closing(sqlite3.connect(tmp_path / "board.sqlite")) as other:
            other.execute("begin immediate")
            status, output = run_board_command(tmp_path, "--set", "per_day=3")
            assert status == 1 and "another program has locked the database" in output and output.count("\n") == 1
            answer = board.enter(group)
            assert answer.status_code == 503 and "another program has locked" in answer.json()["detail"]
        assert board.enter(group).status_code == 201


def test_a_database_that_is_none_or_damaged_is_one_sentence(tmp_path):
    (tmp_path / "board.sqlite").write_bytes(b"this is no database" * 100)
    for arguments in (["--port", "0"], ["--set", "per_day=3"]):
        status, output = run_board_command(tmp_path, *arguments)
        assert status == 1 and "the database's file is damaged" in output and output.count("\n") == 1, output


def on_small_disk(folder, size):
    """The words before a command that run it with a disk of so many bytes in `folder`."""
    return ("bwrap", "--die-with-parent", "--dev-bind", "/", "/", "--size", str(size), "--tmpfs", str(folder))


@needs_sandbox
def test_a_disk_that_fills_up_refuses_entries_in_one_sentence_and_loses_none(start, tmp_path):
    toml = tmp_path / "board.toml"
    write_board_toml(tmp_path, per_day=500)
    home = tmp_path / "disk"
    home.mkdir()
    prefix = (*on_small_disk(home, 6_000_000), "--ro-bind", str(toml), str(home / "board.toml"))
    running = start(home, prefix=prefix)
    group, accepted = running.board.join("Ada"), 0
    notebook = boards.NOTEBOOK.encode() + b" " * 200_000
    while (answer := running.board.enter(group, **make_files(notebook=notebook))).status_code == 201:
        accepted += 1
        assert accepted < 100
    assert answer.status_code == 503 and "the disk is full" in answer.json()["detail"], answer.text
    listed = running.client.get("/api/entries", headers=group).json()["entries"]
    assert accepted and len(listed) == accepted
    assert "Traceback" not in running.output, running.output


@needs_sandbox
def test_a_board_on_a_full_disk_does_not_start_and_says_so_in_one_sentence(tmp_path):
    (tmp_path / "disk").mkdir()
    command = [sys.executable, "-m", "course.command", "board", str(tmp_path / "disk"), "--port", "0"]
    done = subprocess.run(
        [*on_small_disk(tmp_path / "disk", 20_000), *command], capture_output=True, text=True, timeout=300
    )
    output = done.stdout + done.stderr
    assert done.returncode == 1 and "the disk is full" in output and output.count("\n") == 1, output


def test_a_worker_that_dies_says_why_and_is_started_again(start, tmp_path):
    running = start(tmp_path)
    for process in wait_for(lambda: running.workers()[1:] and running.workers()):
        process.kill()
    wait_for(lambda: running.output.count("it is started again") == 2)
    assert "The worker `score` was killed (SIGKILL): by somebody, or by the system because" in running.output
    wait_for(lambda: running.workers()[1:])
    running.workers()[0].send_signal(signal.SIGTERM)
    wait_for(lambda: "was ended by the signal SIGTERM" in running.output)
    assert "Traceback" not in running.output


@pytest.mark.long
def test_a_worker_whose_database_is_gone_says_so_in_one_line_and_is_started_later_and_later(start, tmp_path):
    running = start(tmp_path)
    moved = shutil.copytree(tmp_path, tmp_path.parent / "copy")
    for path in tmp_path.glob("board.sqlite*"):
        path.write_bytes(b"no database" * 1000)
    wait_for(lambda: running.output.count("The worker `score` stops: ") >= 3)
    assert "the database's file is damaged" in running.output and "Traceback" not in running.output
    assert moved.exists()


def test_the_reason_of_a_worker_that_fails_names_the_line(small):
    try:
        worker.Scoring(None).step()
    except AttributeError as error:
        line = worker.explain_failure(error)
    assert line.startswith("AttributeError: ") and "worker.py, line " in line
    compute_scores(small)
