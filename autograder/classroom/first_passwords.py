"""Accounts of students.csv: each begins with the first password of its line, which its owner changes on a page.

Runs in the Hub's process. Reads the tables at each log-in, so that a new line counts at once and a line that is taken
out closes the account; keeps passwords, hashed, in the Hub's database.
"""

import asyncio

import bcrypt
from nativeauthenticator import NativeAuthenticator
from nativeauthenticator.handlers import ChangePasswordAdminHandler, ChangePasswordHandler
from nativeauthenticator.orm import UserInfo
from traitlets import Unicode

from autograder.classroom import settings
from autograder.classroom.folder import Folder
from course.errors import Problem


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
        person = self.find_person(name)
        if person is None or len(password) > 72 or self.is_blocked(name):
            return None
        user = self.get_user(name)
        if user is None:
            user = await self.open_account(person)
        # bcrypt takes a fifth of a second on purpose, during which the Hub shall answer others.
        if await asyncio.to_thread(bcrypt.checkpw, password, user.password):
            self.successful_login(name)
            return name
        self.add_login_attempt(name)
        return None

    def find_person(self, name):
        """Return the Person of a name in the tables, None where there is none or a table cannot be read."""
        folder = Folder(self.classroom)
        try:
            return settings.find_people(folder, settings.read(folder)).get(name)
        except Problem as problem:  # the tables were changed while the Hub runs
            self.log.error("%s", problem)
            return None

    async def open_account(self, person):
        """Put a person who logs in for the first time into the database."""
        hashed = await asyncio.to_thread(bcrypt.hashpw, person.password.encode(), bcrypt.gensalt())
        user = self.get_user(person.name)  # a second log-in may have come meanwhile
        if user is None:
            user = UserInfo(username=person.name, password=hashed, is_authorized=True)
            self.db.add(user)
            self.db.commit()
        return user
