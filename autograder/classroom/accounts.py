"""Who may log in: the part of the Hub's configuration that depends on `[accounts] kind` of classroom.toml.

Each kind is one function `configure_KIND(c, folder, settings)`, which sets an authenticator; the rest of its keys in
[accounts] is its own. The names that an authenticator gives are those of `settings.NAME`: folders, student ids and
parts of addresses are made of them.
"""

import importlib
import importlib.util
import os
from pathlib import Path

from tornado.web import HTTPError

from autograder.classroom.settings import NAME, find_people
from course.errors import Problem


def configure(c, folder, settings):
    """Set the authenticator of the Hub's configuration `c`. Raises Problem where the accounts cannot be used."""
    c.Authenticator.admin_users = set(settings.instructors)
    c.Authenticator.username_pattern = f"^{NAME.pattern}$"
    c.Authenticator.manage_groups = True
    kind = settings.accounts["kind"]
    if kind in ("csv", "pam"):
        if unknown := sorted(settings.accounts.keys() - {"kind"}):
            raise Problem(
                f'{folder.settings}: {unknown[0]} is in [accounts], where kind = "{kind}" has no such setting: the '
                "settings of the class stand above [accounts]."
            )
        {"csv": configure_csv, "pam": configure_pam}[kind](c, folder, settings)
        return
    importlib.import_module(f"autograder.classroom.{kind}").configure(c, folder, settings)


def check(folder, settings):
    """Raise Problem where the accounts cannot be used: configuring them must work before the Hub starts."""
    from traitlets.config import Config

    configure(Config(), folder, settings)


def configure_csv(c, folder, settings):
    """Accounts of students.csv and instructors.csv, with passwords that their owners can change."""
    templates = Path(importlib.util.find_spec("nativeauthenticator").origin).with_name("templates")
    c.JupyterHub.authenticator_class = "autograder.classroom.first_passwords.FirstPasswords"
    c.JupyterHub.template_paths = [str(templates)]
    c.FirstPasswords.classroom = str(folder.root)
    c.NativeAuthenticator.enable_signup = False
    c.NativeAuthenticator.minimum_password_length = 8
    c.NativeAuthenticator.check_common_password = True
    c.NativeAuthenticator.allowed_failed_logins = 20
    c.NativeAuthenticator.seconds_before_next_try = 60
    c.Authenticator.allow_all = True  # everybody with a line in the tables: there are no other accounts
    c.Authenticator.post_auth_hook = make_groups_hook(folder, settings)


def configure_pam(c, folder, settings):
    """Accounts of this machine. Who may log in is in students.csv, with an empty password."""
    if os.geteuid() != 0:
        raise Problem(f"{folder.settings}: accounts of the kind pam need a Hub that runs as root: start it with sudo.")
    c.JupyterHub.authenticator_class = "pam"
    c.Authenticator.allowed_users = set(find_people(folder, settings)) | set(settings.instructors)
    c.Authenticator.allow_existing_users = False  # whoever was taken out of students.csv is still in the database
    c.PAMAuthenticator.open_sessions = False
    c.Authenticator.post_auth_hook = make_groups_hook(folder, settings)


def refuse_all(authenticator, problem):
    """Return the error for a log-in while the class's files cannot be read, and write the reason into the Hub's log."""
    authenticator.log.error("%s", problem)
    return HTTPError(
        503,
        "Nobody can log in at the moment, because a file of the class has a mistake in it. Tell your "
        "instructor, who finds the reason at the end of the Hub's log.",
    )


def make_groups_hook(folder, settings):
    """Return a hook of authenticators that takes a user's groups from students.csv at each log-in."""

    def add_groups(authenticator, handler, model):
        try:
            person = find_people(folder, settings).get(model["name"])
        except Problem as problem:  # the tables were changed while the Hub runs
            raise refuse_all(authenticator, problem) from problem
        return model | {"groups": list(person.groups) if person else []}

    return add_groups
