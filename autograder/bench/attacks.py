"""Attacks on the grader: what each hand-in deserves and what it gets, and whether it harms others or leaves traces.

autograder/testing/attacks describes the attacks. All are graded by `course grade` in one run. `held` says that an
attack earned exactly what it deserves; the summary, that no other row of the gradebook changed and nothing was left
behind: no process, file, socket or control group.
"""

from autograder.testing.attacks.hand_ins import read_attacks
from autograder.testing.attacks.run import grade_attacks


def rows():
    """One row per attack, and a last one for everything else."""
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
