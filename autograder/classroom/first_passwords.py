"""Accounts of students.csv: each begins with the first password of its line, which its owner changes on a page.

Runs in the Hub's process. Reads the tables at each log-in, so that a new line counts at once and nobody logs in whose
line was taken out; the Hub asks those who are logged in again within minutes. Keeps passwords, hashed, in the Hub's
database.
"""

import asyncio

import bcrypt
from nativeauthenticator import NativeAuthenticator
from nativeauthenticator.handlers import ChangePasswordAdminHandler, ChangePasswordHandler
from nativeauthenticator.orm import UserInfo
from traitlets import Unicode

from autograder.classroom import settings, used_passwords
from autograder.classroom.accounts import refuse_all
from autograder.classroom.folder import Folder
from course.errors import Problem

MOST_BYTES = 72  # of a password: bcrypt takes no more


class FirstPasswords(NativeAuthenticator):
    """NativeAuthenticator without its sign-up: the accounts are the lines of the tables."""

    classroom = Unicode(help="the folder of the class").tag(config=True)

    def get_handlers(self, app):
        """The pages on which passwords are changed, by their owners and by instructors.

        NativeAuthenticator's log-in page needs a `statsd` that JupyterHub 6 no longer has; the Hub's takes its place.
        """
        return [
            (r"/change-password", ChangePasswordHandler),
            (r"/change-password/([^/]+)", ChangePasswordAdminHandler),
        ]

    async def authenticate(self, handler, data):
        """Return the name of a user whose password is right, else None."""
        name, password = self.normalize_username(data["username"]), data["password"].encode()
        try:
            person = self.find_person(name)
        except Problem as problem:
            raise refuse_all(self, problem) from problem
        if person is None or len(password) > MOST_BYTES or self.is_blocked(name):
            return None
        self.add_login_attempt(name)  # before the check, so that guesses at the same time count, too
        user = self.get_user(name)
        if user is None:
            user = await self.open_account(person)
        # bcrypt takes a fifth of a second on purpose, during which the Hub shall answer others.
        if await asyncio.to_thread(bcrypt.checkpw, password, user.password):
            self.successful_login(name)
            return name
        return None

    async def refresh_user(self, user, handler=None):
        """Return whether somebody who is logged in still has a line in the tables; asked every few minutes."""
        try:
            return self.find_person(user.name) is not None
        except Problem:
            return True

    def is_password_strong(self, password):
        """Whether somebody may change to this password."""
        return len(password.encode()) <= MOST_BYTES and super().is_password_strong(password)

    def find_person(self, name):
        """Return the Person of a name in the tables, or None. Raises Problem where they cannot be read."""
        folder = Folder(self.classroom)
        return settings.find_people(folder, settings.read(folder)).get(name)

    async def open_account(self, person):
        """Put a person who logs in for the first time into the database."""
        hashed = await asyncio.to_thread(bcrypt.hashpw, person.password.encode(), bcrypt.gensalt())
        user = self.get_user(person.name)  # a second log-in may have come meanwhile
        if user is None:
            user = UserInfo(username=person.name, password=hashed, is_authorized=True)
            self.db.add(user)
            self.db.commit()
            used_passwords.note(Folder(self.classroom), person)
        return user
