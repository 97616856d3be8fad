"""Groups, the tokens that identify them, and the codes with which they join.

A group that the instructor deletes or merges into another keeps its row and its number, so that the log can be checked
against the board, but takes no part any more: `is_there` is the condition for all others.
"""

import dataclasses
import hmac

import sqlalchemy as sql

from autograder.competition.leaderboard import lines, rules
from autograder.competition.leaderboard.rules import RequestRefused
from autograder.competition.leaderboard.store import log
from autograder.competition.leaderboard.store.database import next_number
from autograder.competition.leaderboard.store.settings import increase_version, read_settings, set_joining
from autograder.competition.leaderboard.store.tables import codes, entries, groups
from autograder.competition.leaderboard.store.tokens import hash_token, make_code, make_token


@dataclasses.dataclass(frozen=True)
class Group:
    """A group that has joined. members: as it wrote them. is_baseline: whether it is displayed without a rank."""

    id: int
    name: str
    members: str = ""
    is_baseline: bool = False


is_there = groups.c.gone.is_(None)
DELETED = 0  # in the column `gone`


def read_group(connection, condition):
    """The Group whose row fulfils a condition, or None."""
    row = connection.execute(sql.select(groups).where(condition, is_there)).first()
    return _as_group(row) if row else None


def read_groups(connection):
    """All Groups, in the order of their names."""
    return [_as_group(row) for row in connection.execute(sql.select(groups).where(is_there).order_by(groups.c.folded))]


def _as_group(row):
    return Group(row.id, row.name, row.members, bool(row.baseline))


class StoredGroups:
    """Lets groups join, and finds them by token, number or identity at a Hub."""

    def __init__(self, database):
        self.database = database

    def join(self, name, code):
        """(Group, its token) of a new group. Raises RequestRefused for a wrong code, a bad name or a full board."""
        name, token = lines.check_name(name), make_token()
        with self.database.writing() as connection:
            _require_code(connection, code)
            group = _add(connection, name, token)
            connection.execute(codes.update().where(codes.c.checksum == _hash_code(code)).values(group=group.id))
            return group, token

    def make_codes(self, count):
        """Make codes that are valid for one group each, and let groups join with such codes only. Returns the codes.

        The board keeps their checksums, so they are returned this once. Raises RequestRefused.
        """
        if not 1 <= count <= rules.MAX_CODES:
            raise RequestRefused(f"{count} codes cannot be made at once: ask for 1 to {rules.MAX_CODES}.")
        made = [make_code() for _ in range(count)]
        with self.database.writing() as connection:
            connection.execute(codes.insert(), [{"checksum": _hash_code(code), "group": None} for code in made])
            set_joining(connection, "single-use")
            log.append(connection, "instructor", "made codes", count=count)
        return made

    def join_from_hub(self, identity, name):
        """The Group with this identity at a Hub; a new one called `name`, or similar, if there is none.

        The identity of a group that was merged is that of the other one. Raises RequestRefused.
        """
        name = lines.check_name(name)
        with self.database.writing() as connection:
            if row := connection.execute(sql.select(groups).where(groups.c.hub == identity)).first():
                return _follow(connection, row)
            taken = [group.name for group in read_groups(connection)]
            numbered = (f"{name[: lines.MAX_NAME - 7]} ({n})" for n in range(2, rules.MAX_GROUPS + 2))
            free = next(each for each in (name, *numbered) if not any(lines.look_alike(each, other) for other in taken))
            return _add(connection, free, make_token(), identity)

    def renew_token(self, group):
        """A new token for the group with this number; the old one becomes invalid. Raises RequestRefused."""
        token = make_token()
        with self.database.writing() as connection:
            _require_group(connection, group)
            connection.execute(groups.update().where(groups.c.id == group).values(token=hash_token(token)))
            log.append(connection, "instructor", "gave a new token", group=group, token=hash_token(token))
        return token

    def find_by_token(self, token):
        """The Group with this token, or None."""
        with self.database.looking() as connection:
            return read_group(connection, groups.c.token == hash_token(token))

    def find_by_number(self, number):
        """The Group with this number, or the one that it was merged into; None if it was deleted."""
        with self.database.reading() as connection:
            row = connection.execute(sql.select(groups).where(groups.c.id == number)).first()
            return _follow(connection, row) if row and row.gone != DELETED else None

    # -- changes by the group and by the instructor

    def set_members(self, group, members):
        """Set the line with the names of a group's members. Raises RequestRefused."""
        self._change(group, f"group {group}", "members", members=lines.check_members(members))

    def set_baseline(self, group, is_baseline):
        """Display a group without a rank, for comparison; or rank it again. Raises RequestRefused."""
        self._change(group, "instructor", "baseline", baseline=int(is_baseline))

    def rename(self, group, name):
        """Give a group another name. Raises RequestRefused."""
        name = lines.check_name(name)
        with self.database.writing() as connection:
            _require_group(connection, group)
            lines.check_new_name(name, [other.name for other in read_groups(connection) if other.id != group])
            values = {"name": name, "folded": lines.fold_name(name)}
            connection.execute(groups.update().where(groups.c.id == group).values(values))
            log.append(connection, "instructor", "renamed", group=group, name=name)
            increase_version(connection)

    def merge(self, group, into):
        """Give all entries of a group to another one. The first group is gone, and its token invalid.

        Raises RequestRefused.
        """
        with self.database.writing() as connection:
            _require_group(connection, group)
            _require_group(connection, into)
            if group == into:
                raise RequestRefused("a group cannot be merged into itself: choose another one.")
            # A space is in no key that a client may send, so that no key is there twice.
            key = sql.literal(f"group {group} ") + entries.c.key
            connection.execute(entries.update().where(entries.c.group == group).values(group=into, key=key))
            _let_go(connection, group, into)
            log.append(connection, "instructor", "merged", group=group, into=into)
            increase_version(connection)

    def delete(self, group):
        """Take a group and its entries off the board for good; its token is invalid. Raises RequestRefused."""
        with self.database.writing() as connection:
            _require_group(connection, group)
            _let_go(connection, group, DELETED)
            log.append(connection, "instructor", "deleted", group=group)
            increase_version(connection)

    def _change(self, group, actor, action, **values):
        with self.database.writing() as connection:
            _require_group(connection, group)
            connection.execute(groups.update().where(groups.c.id == group).values(values))
            log.append(connection, actor, action, group=group, **values)
            increase_version(connection)


def _add(connection, name, token, identity=None):
    lines.check_new_name(name, [group.name for group in read_groups(connection)])
    number = next_number(connection, groups.c.id)
    if number > rules.MAX_GROUPS:
        raise RequestRefused(f"the board has {rules.MAX_GROUPS} groups and is full: tell your instructor.", 403)
    values = {"id": number, "name": name, "folded": lines.fold_name(name), "token": hash_token(token), "hub": identity}
    values |= {"joined": rules.format_time(rules.now()), "members": "", "baseline": 0}
    connection.execute(groups.insert().values(values))
    log.append(connection, f"group {number}", "joined", name=name, token=hash_token(token), hub=identity)
    return Group(number, name)


def _require_group(connection, group):
    if read_group(connection, groups.c.id == group) is None:
        raise RequestRefused(f"there is no group {group}.", 404)


def _follow(connection, row):
    """The Group of a row, or the one that it was merged into. Raises RequestRefused if it was deleted."""
    while row.gone:
        row = connection.execute(sql.select(groups).where(groups.c.id == row.gone)).one()
    if row.gone == DELETED:
        raise RequestRefused(f"the group {row.name} was deleted: ask your instructor.", 403)
    return _as_group(row)


def _let_go(connection, group, gone):
    """Mark a group as gone. Its name is free again: no name has the character in its `folded`."""
    connection.execute(groups.update().where(groups.c.id == group).values(gone=gone, folded=f"\n{group}"))


def _require_code(connection, code):
    """Raise RequestRefused unless a group may join with this code now."""
    settings = read_settings(connection)
    if settings.joining == "closed":
        raise RequestRefused("no more groups may join: ask your instructor.", 403)
    if settings.joining == "single-use":
        row = connection.execute(sql.select(codes).where(codes.c.checksum == _hash_code(code))).first()
        if row is None:
            raise RequestRefused("the code is not one of this board's: each group gets its own.", 403)
        if row.group is not None:
            raise RequestRefused("the code has been used by another group: ask your instructor for a new one.", 403)
    elif not hmac.compare_digest(code.encode(errors="replace"), settings.code.encode()):
        raise RequestRefused("the code is not that of this board: ask your instructor for it.", 403)


def _hash_code(code):
    return hash_token(code.encode(errors="replace").decode())
