"""Applies the patches in `patches/` to Horovod's source; each file begins with the reason for its change.

By hand, because neither `patch` nor `git` is on every machine, and no package of the environment applies unified diffs.
A patch must fit exactly: every line that it names must stand at the line number that it gives. Touches the source
folder that it is given.
"""

import re
from dataclasses import dataclass
from pathlib import Path

PATCHES = Path(__file__).with_name("patches")
HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@dataclass(frozen=True)
class Hunk:
    """One change of a file: from line `start` on, the lines `before` become the lines `after`."""

    start: int
    before: tuple
    after: tuple


def read_changes():
    """Return the changes of all patches: {file: [Hunk]}, the file relative to the source folder.

    Raises ValueError for a malformed patch, and for a file that two patches change.
    """
    changes = {}
    for patch in sorted(PATCHES.glob("*.patch")):
        try:
            parsed = parse_patch(patch.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{patch.name}: {error}") from None
        if shared := changes.keys() & parsed.keys():
            raise ValueError(f"{patch.name}: another patch also changes {', '.join(sorted(shared))}")
        changes |= parsed
    return changes


def parse_patch(text):
    """Return the changes in a unified diff: {file: [Hunk]}. Raises ValueError for a malformed one."""
    changes = {}
    lines = iter(text.splitlines())
    hunks = None  # of the current file; the text before the first file is the reason
    for line in lines:
        if line.startswith("+++ b/"):
            hunks = changes[line.removeprefix("+++ b/")] = []
        elif match := HUNK.match(line):
            if hunks is None:
                raise ValueError(f"{line!r} stands before the first `+++ b/FILE`")
            hunks.append(_read_hunk(int(match[1]), int(match[2] or 1), int(match[3] or 1), lines))
        elif hunks is not None and not line.startswith("--- a/"):
            raise ValueError(f"{line!r} belongs to no hunk: the hunk above it counts fewer lines")
    if not changes or not all(changes.values()):
        raise ValueError("it changes nothing")
    return changes


def _read_hunk(start, old_count, new_count, lines):
    before, after = [], []
    while len(before) < old_count or len(after) < new_count:
        line = next(lines, None)
        mark = " " if line == "" else line and line[0]  # editors strip the blank of an empty line
        if mark not in (" ", "-", "+"):
            raise ValueError(f"the hunk at line {start} counts more lines than it has")
        if mark != "+":
            before.append(line[1:])
        if mark != "-":
            after.append(line[1:])
    return Hunk(start, tuple(before), tuple(after))


def apply_changes(source, changes):
    """Change the files below the folder `source`. Raises ValueError, and changes nothing, where a hunk does not fit."""
    texts = {name: _patch_text((source / name).read_text(), hunks, name) for name, hunks in changes.items()}
    for name, text in texts.items():
        (source / name).write_text(text)


def _patch_text(text, hunks, name):
    lines = text.split("\n")
    shift = 0  # how many lines the hunks so far have added
    for hunk in hunks:
        first = hunk.start - 1 + shift
        place = slice(first, first + len(hunk.before))
        if tuple(lines[place]) != hunk.before:
            raise ValueError(f"the patch of {name} does not fit at line {hunk.start}")
        lines[place] = hunk.after
        shift += len(hunk.after) - len(hunk.before)
    return "\n".join(lines)
