"""Checks the log of a board: each line holds a hash of itself and of the line before, so a change of the past shows.

`find_faults` reads the chain and then replays it: the groups, entries, choices and withdrawals that the log describes
must be those of the board. Cutting lines off at the end leaves an intact chain; therefore each group gets the hash of
its entry's line as a receipt, backups and the server print the last hash, and `find_faults` requires the hashes that
it is given. Whoever can write to the database can write another chain, but not one with those hashes. Reads only.
"""

import hashlib
import json

from autograder.competition.leaderboard import rules

START = "0" * 64  # the hash before the first line


def hash_line(before, n, time, actor, action, detail):
    """The hash of a line that follows the line with the hash `before`; hexadecimal."""
    return hashlib.sha256(rules.to_canonical_json([before, n, time, actor, action, detail]).encode()).hexdigest()


def find_faults(log, receipts=()):
    """Sentences on what was changed in the log, or in the board afterwards; [] if nothing was.

    log: the store's. receipts: hashes that must be in it.
    """
    lines = log.read_lines()
    faults = find_broken_line(lines)
    missing = set(receipts) - {line.hash for line in lines}
    faults += [f"no line has the hash {each}: lines were cut off, or all were rewritten." for each in sorted(missing)]
    return faults or _find_differences(lines, *log.read_audited())


def find_broken_line(lines):
    """[a sentence on the first line that does not follow from the one before]; [] if all do."""
    before = START
    for number, line in enumerate(lines, 1):
        if line.n != number:
            return [f"line {number} of the log is missing."]
        if line.hash != hash_line(before, line.n, line.time, line.actor, line.action, line.detail):
            return [
                f"line {number} of the log ({line.time}, {line.actor}: {line.action}) was changed, or one before it."
            ]
        before = line.hash
    return []


def _find_differences(lines, groups, entries):
    """Sentences on groups and entries that are not as the log describes them. groups, entries: as they are now."""
    faults = []
    logged_groups, logged_entries = _replay(lines)
    for what, logged, present in (("group", logged_groups, groups), ("entry", logged_entries, entries)):
        for number in sorted(logged.keys() | present.keys()):
            if number not in present:
                faults.append(f"{what} {number} is in the log but not on the board.")
            elif number not in logged:
                faults.append(f"{what} {number} is on the board but not in the log.")
            else:
                differing = [key for key in logged[number] if logged[number][key] != present[number][key]]
                faults += [f"{what} {number}: its {key} is not as the log says." for key in differing]
    return faults


def _replay(lines):
    """(groups, entries): number -> the properties that follow from the log."""
    groups, entries = {}, {}
    for line in lines:
        detail = json.loads(line.detail)
        group = int(line.actor.partition(" ")[2] or 0) if line.actor.startswith("group") else 0
        if line.action == "joined":
            groups[group] = {**detail, "chosen": None, "second": None, "members": "", "baseline": 0, "gone": None}
        elif line.action == "gave a new token":
            groups[detail["group"]]["token"] = detail["token"]
        elif line.action == "chose":
            groups[group] |= {"chosen": detail["entry"], "second": detail.get("second")}
        elif line.action in ("renamed", "members", "baseline"):
            groups[detail["group"]] |= {key: value for key, value in detail.items() if key != "group"}
        elif line.action == "deleted":
            groups[detail["group"]]["gone"] = 0
        elif line.action == "merged":
            groups[detail["group"]]["gone"] = detail["into"]
            for entry in entries.values():
                entry["group"] = detail["into"] if entry["group"] == detail["group"] else entry["group"]
        elif line.action == "handed in":
            entries[detail["entry"]] = {
                "group": group, "received": detail["received"], "digest": detail["digest"], "content": detail["digest"],
                "receipt": line.hash, "withdrawn": None, "note": "",
            }  # fmt: skip
        elif line.action == "noted":
            entries[detail["entry"]]["note"] = detail["note"]
        elif line.action == "withdrew":
            entries[detail["entry"]]["withdrawn"] = detail["reason"]
    return groups, entries
