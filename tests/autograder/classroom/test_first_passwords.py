"""First passwords, as the Hub's process checks them: guesses count, and a mistake in a table is said as such."""

import asyncio
import contextlib
from types import SimpleNamespace

import bcrypt
import pytest
from nativeauthenticator.orm import UserInfo
from sqlalchemy import create_engine
from sqlalchemy.orm import Session
from tornado.web import HTTPError

from autograder.classroom import first_passwords, serve
from autograder.classroom.first_passwords import FirstPasswords
from autograder.classroom.folder import Folder
from course.errors import Problem


@pytest.fixture
def folder(tmp_path):
    """A class with one student, whose account is open."""
    folder = Folder(tmp_path / "ml")
    folder.prepare()
    folder.students.write_text("name,password\nada,first-of-ada\n")
    return folder


@pytest.fixture
def authenticator(folder, monkeypatch):
    """The class's authenticator, which blocks after three failures; with one account and no database."""
    account = SimpleNamespace(password=bcrypt.hashpw(b"first-of-ada", bcrypt.gensalt(4)))
    monkeypatch.setattr(FirstPasswords, "get_user", lambda self, name: account)
    return FirstPasswords(
        add_new_table=False, classroom=str(folder.root), allowed_failed_logins=3, seconds_before_next_try=60
    )


def log_in(authenticator, *passwords):
    """The answers to these passwords of ada, given at the same time."""

    async def give():
        data = [{"username": "ada", "password": password} for password in passwords]
        return await asyncio.gather(*(authenticator.authenticate(None, each) for each in data))

    return asyncio.run(give())


def test_guesses_at_the_same_time_count_like_others(authenticator, monkeypatch):
    checked = []
    monkeypatch.setattr(first_passwords.bcrypt, "checkpw", lambda password, hashed: checked.append(password))
    assert log_in(authenticator, *map(str, range(20))) == [None] * 20
    assert len(checked) == 3


def test_the_right_password_logs_in_and_failures_before_it_are_forgotten(authenticator):
    assert log_in(authenticator, "wrong", "wrong") == [None, None]
    assert log_in(authenticator, "first-of-ada") == ["ada"]
    assert authenticator.login_attempts == {}


def test_a_mistake_in_a_table_is_said_and_is_no_wrong_password(authenticator, folder):
    folder.students.write_text("name,password\nada,short\n")
    with pytest.raises(HTTPError, match="Nobody can log in at the moment"):
        log_in(authenticator, "first-of-ada")


def test_whoever_was_taken_out_of_the_table_has_to_log_in_again(authenticator, folder):
    ada = SimpleNamespace(name="ada")
    assert asyncio.run(authenticator.refresh_user(ada))
    folder.students.write_text("name,password\nada,short\n")
    assert asyncio.run(authenticator.refresh_user(ada))  # a mistake in the table logs nobody out
    folder.students.write_text("name,password\nbob,first-of-bob\n")
    assert not asyncio.run(authenticator.refresh_user(ada))


def test_nobody_changes_to_a_password_that_is_too_long_to_log_in_with(authenticator):
    assert authenticator.is_password_strong("x9" * 36)
    assert not authenticator.is_password_strong("x9" * 36 + "x")


def test_a_first_password_that_is_edited_after_the_first_log_in_is_said_once(folder, tmp_path):
    engine = create_engine(f"sqlite:///{tmp_path / 'hub.sqlite'}")
    UserInfo.metadata.create_all(engine)
    with Session(engine) as database:
        authenticator = FirstPasswords(add_new_table=False, db=database, classroom=str(folder.root))
        assert log_in(authenticator, "first-of-ada") == ["ada"]
        assert "ada" not in prepare(folder)
        folder.students.write_text("name,password\nada,second-of-ada\n")
        assert "The new first password of ada does not count, because the account is open already" in prepare(folder)
        assert "ada" not in prepare(folder)
        assert log_in(authenticator, "first-of-ada", "second-of-ada") == ["ada", None]
    engine.dispose()


def prepare(folder):
    """What is said of first passwords when the class starts."""
    said = []
    with contextlib.suppress(Problem):  # this machine may lack what serving needs
        serve.prepare(folder.root, said.append)
    return "\n".join(sentence for sentence in said if "first password" in sentence)
