"""What a signed token says about a person: the name of the account in the class, and whether this is an instructor.

Shared by accounts from an OpenID Connect provider and from an LTI platform. Touches nothing.
"""

import hashlib
import re

from autograder.classroom.settings import NAME
from course.errors import Problem

MADE = re.compile(r".*--[0-9a-f]{12}")  # names made here, which nobody may choose


def read_claim(claims, path):
    """The claim at a path such as ("realm_access", "roles") of a token's claims; None where there is none."""
    for key in path:
        claims = claims.get(key) if isinstance(claims, dict) else None
    return claims


def read_list(value):
    """The strings of a claim that may be one string or a list of them."""
    values = value if isinstance(value, list) else [value]
    return {each for each in values if isinstance(each, str)}


def make_user_name(value, ignores_case=False):
    """The user name for the value of a claim: itself if it may be one, otherwise a name that no other value has.

    ignores_case: whether values that differ in case alone belong to one person, as with e-mail addresses. Otherwise
    such values need different names, since user names are in lower case.
    """
    value = value.lower() if ignores_case else value
    if NAME.fullmatch(value) and not MADE.fullmatch(value):
        return value
    readable = re.sub(r"[^a-z0-9]+", "-", value.lower()).strip("-")[:40].strip("-") or "user"
    return f"{readable}--{hashlib.sha256(value.encode()).hexdigest()[:12]}"


def require(accounts, needed, optional):
    """Check the table [accounts] of classroom.toml. Raises Problem with what is missing, unknown or of another type.

    needed, optional: name of a setting -> its type, str or list (of strings).
    """
    where, kind = "[accounts] of classroom.toml", f'kind = "{accounts["kind"]}"'
    for name, wanted in (needed | optional).items():
        example = f'{name} = "..."' if wanted is str else f'{name} = ["..."]'
        if name in needed and not accounts.get(name):
            raise Problem(f"{where} needs {example} for {kind}.")
        value = accounts.get(name, wanted())
        if not isinstance(value, wanted) or not all(isinstance(each, str) for each in value):
            raise Problem(f"{name} in {where} takes {'a text' if wanted is str else 'a list of texts'}: {example}.")
    known = needed | optional
    if unknown := sorted(accounts.keys() - known - {"kind"}):
        raise Problem(f"{where} has {unknown[0]}, which {kind} does not know. It knows {', '.join(known)}.")
