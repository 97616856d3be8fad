"""The log of a board: each line holds a hash of itself and of the line before, so a change of the past shows.

`faults` reads the chain, and then does again what it says: what the board has of groups, entries, choices and
withdrawals must come out. Lines cut off at the end leave a chain that is whole; so each group gets the hash of its
entry's line as a receipt, backups and the server print the last one, and `faults` wants those that it is given to be
there. Who can write the database can write another chain, but not one that has those hashes.
"""

import hashlib
import json

from autograder.competition.leaderboard import rules

START = "0" * 64  # before the first line


def hashed(before, n, time, actor, action, detail):
    """The hash of a line that comes after the one with the hash `before`; hexadecimal."""
    return hashlib.sha256(rules.canonical([before, n, time, actor, action, detail]).encode()).hexdigest()


def faults(store, receipts=()):
    """Sentences on what in the log, or in the board beside it, is not as it was; none where all is.

    receipts: hashes that must be in the log.
    """
    lines = store.lines()
    found = broken(lines)
    missing = set(receipts) - {line.hash for line in lines}
    found += [f"no line has the hash {each}: lines were cut off, or all written anew." for each in sorted(missing)]
    return found or differing(store, lines)


def broken(lines):
    """A sentence on the first line that does not follow from the one before, in a list; [] where all do."""
    before = START
    for number, line in enumerate(lines, 1):
        if line.n != number:
            return [f"line {number} of the log is missing."]
        if line.hash != hashed(before, line.n, line.time, line.actor, line.action, line.detail):
            return [
                f"line {number} of the log ({line.time}, {line.actor}: {line.action}) was changed, or one before it."
            ]
        before = line.hash
    return []


def differing(store, lines):
    """Sentences on groups and entries that are not as the log says."""
    groups, entries = {}, {}
    for line in lines:
        detail, group = (
            json.loads(line.detail),
            int(line.actor.partition(" ")[2] or 0) if line.actor[:5] == "group" else 0,
        )
        if line.action == "joined":
            groups[group] = {**detail, "chosen": None}
        elif line.action == "gave a new token":
            groups[detail["group"]]["token"] = detail["token"]
        elif line.action == "chose":
            groups[group]["chosen"] = detail["entry"]
        elif line.action == "handed in":
            entries[detail["entry"]] = {
                "group": group, "received": detail["received"], "digest": detail["digest"], "content": detail["digest"],
                "receipt": line.hash, "withdrawn": None,
            }  # fmt: skip
        elif line.action == "withdrew":
            entries[detail["entry"]]["withdrawn"] = detail["reason"]
    has_groups, has_entries = store.as_logged()
    found = []
    for what, wanted, has in (("group", groups, has_groups), ("entry", entries, has_entries)):
        for number in sorted(wanted.keys() | has.keys()):
            if number not in has:
                found.append(f"{what} {number} is in the log and not on the board.")
            elif number not in wanted:
                found.append(f"{what} {number} is on the board and not in the log.")
            else:
                differs = [key for key in wanted[number] if wanted[number][key] != has[number][key]]
                found += [f"{what} {number}: its {key} is not as the log says." for key in differs]
    return found
