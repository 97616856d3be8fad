"""Which first passwords opened an account: says when one is edited in a table afterwards, where it changes nothing.

One file in the class's folder, written by the Hub at each first log-in. It holds digests, and the tables beside it the
passwords themselves.
"""

import hashlib
import json

from course.files import write_whole


def note(folder, person):
    """Note that a Person has opened the account."""
    write_whole(folder.used_passwords, json.dumps(read(folder) | {person.name: make_digest(person)}), mode=0o600)


def describe_changes(folder, people, url):
    """Return a sentence on first passwords that were edited since they opened an account, or nothing; once per edit.

    people: name -> Person of the tables. url: of the class.
    """
    used = read(folder)
    changed = [name for name in used if name in people and make_digest(people[name]) != used[name]]
    if not changed:
        return []
    write_whole(folder.used_passwords, json.dumps(used | {n: make_digest(people[n]) for n in changed}), mode=0o600)
    return [
        f"The new first password of {', '.join(sorted(changed))} does not count, because the account is open already: "
        f"set a password at {url}/hub/change-password/NAME."
    ]


def read(folder):
    """Return name -> digest of the first password with which an account was opened."""
    return json.loads(folder.used_passwords.read_text()) if folder.used_passwords.exists() else {}


def make_digest(person):
    """Return what tells one first password of a Person from another."""
    return hashlib.sha256(f"{person.name}\n{person.password}".encode()).hexdigest()
