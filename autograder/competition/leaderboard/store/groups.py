"""Groups, and the tokens that identify them."""

import dataclasses
import hmac

import sqlalchemy as sql

from autograder.competition.leaderboard import rules
from autograder.competition.leaderboard.rules import RequestRefused
from autograder.competition.leaderboard.store import log
from autograder.competition.leaderboard.store.database import next_number
from autograder.competition.leaderboard.store.settings import read_settings
from autograder.competition.leaderboard.store.tables import groups
from autograder.competition.leaderboard.store.tokens import hash_token, make_token


@dataclasses.dataclass(frozen=True)
class Group:
    """A group that has joined."""

    id: int
    name: str


def read_group(connection, condition):
    """The Group whose row fulfils a condition, or None."""
    row = connection.execute(sql.select(groups.c.id, groups.c.name).where(condition)).first()
    return Group(row.id, row.name) if row else None


def read_groups(connection):
    """All Groups, in the order of their names."""
    rows = connection.execute(sql.select(groups.c.id, groups.c.name).order_by(groups.c.folded))
    return [Group(row.id, row.name) for row in rows]


class StoredGroups:
    """Lets groups join, and finds them by token, number or identity at a Hub."""

    def __init__(self, database):
        self.database = database

    def join(self, name, code):
        """(Group, its token) of a new group. Raises RequestRefused for a wrong code, a bad name or a full board."""
        name, token = rules.check_name(name), make_token()
        with self.database.writing() as connection:
            if not hmac.compare_digest(code.encode(errors="replace"), read_settings(connection).code.encode()):
                raise RequestRefused("the code is not that of this board: ask your instructor for it.", 403)
            return _add(connection, name, token), token

    def join_from_hub(self, identity, name):
        """The Group with this identity at a Hub; a new one called `name`, or similar, if there is none.

        Raises RequestRefused.
        """
        name = rules.check_name(name)
        with self.database.writing() as connection:
            if group := read_group(connection, groups.c.hub == identity):
                return group
            taken = set(connection.scalars(sql.select(groups.c.folded)))
            numbered = (f"{name[: rules.MAX_NAME - 7]} ({n})" for n in range(2, rules.MAX_GROUPS + 2))
            free = next(each for each in (name, *numbered) if rules.fold_name(each) not in taken)
            return _add(connection, free, make_token(), identity)

    def renew_token(self, group):
        """A new token for the group with this number; the old one becomes invalid. Raises RequestRefused."""
        token = make_token()
        with self.database.writing() as connection:
            update = groups.update().where(groups.c.id == group).values(token=hash_token(token))
            if not connection.execute(update).rowcount:
                raise RequestRefused(f"there is no group {group}.", 404)
            log.append(connection, "instructor", "gave a new token", group=group, token=hash_token(token))
        return token

    def find_by_token(self, token):
        """The Group with this token, or None."""
        with self.database.reading() as connection:
            return read_group(connection, groups.c.token == hash_token(token))

    def find_by_number(self, number):
        """The Group with this number, or None."""
        with self.database.reading() as connection:
            return read_group(connection, groups.c.id == number)


def _add(connection, name, token, identity=None):
    if read_group(connection, groups.c.folded == rules.fold_name(name)):
        raise RequestRefused(f"there is already a group {name}: choose another name, or use that group's token.", 409)
    number = next_number(connection, groups.c.id)
    if number > rules.MAX_GROUPS:
        raise RequestRefused(f"the board has {rules.MAX_GROUPS} groups and is full: tell your instructor.", 403)
    values = {"id": number, "name": name, "folded": rules.fold_name(name), "token": hash_token(token), "hub": identity}
    connection.execute(groups.insert().values(joined=rules.format_time(rules.now()), **values))
    log.append(connection, f"group {number}", "joined", name=name, token=hash_token(token), hub=identity)
    return Group(number, name)
