"""Attacks on the grader: what each hand-in deserves and what it gets, and whether it harms others or leaves traces.

autograder/testing/attacks describes the attacks. Those on labs of the course are examined two at once, and points are
counted in checks; all others are graded by `course grade` in one run. `held` says that an attack earned exactly what it
deserves; the summary, that no other row of the gradebook changed and nothing was left behind: no process, file, socket
or control group.
"""

from autograder.testing.attacks import on_labs
from autograder.testing.attacks.hand_ins import read_attacks
from autograder.testing.attacks.run import grade_attacks


def rows():
    """One row per attack, and a last one for everything else."""
    attacks = on_labs.read_attacks()
    for first in range(0, len(attacks), 2):
        for attack, deserved, passed in on_labs.grade_at_once(attacks[first : first + 2]):
            yield {
                "attack": attack.name,
                "deserved": len(deserved),
                "got": len(passed),
                "held": passed == deserved,
                "weakness": "",
                "why": ", ".join(sorted(passed ^ deserved)),
            }
    yield from grade_attacks(read_attacks())


def summary(rows):
    """Whether every attack was held off, no other grade changed and nothing was left behind."""
    attacks, (rest,) = rows[:-1], rows[-1:]
    return {
        "attacks": len(attacks),
        "not_held": [row["attack"] for row in attacks if not row["held"]],
        "weaknesses": [row["attack"] for row in attacks if row["weakness"]],
        **rest,
        "met": all(row["held"] or row["weakness"] for row in attacks) and not rest["changed"] and not rest["left"],
    }
