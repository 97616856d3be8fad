"""Every wrong and right answer of every lab, judged as a hand-in is and as on a student's machine.

A wrong answer is caught when it loses exactly the checks that it names, and hinted when one of their messages contains
the words that it names. A right answer passes when it loses nothing.
"""

import os

from autograder.authoring import judge
from autograder.labs import answers, build, source


def rows():
    """One row per lab and way of judge.py; `misjudged` says what is wrong, one sentence per answer.

    BENCH_FAIRNESS_LABS="04 05" takes some labs only.
    """
    for lab in source.select_labs(os.environ.get("BENCH_FAIRNESS_LABS", "")):
        solution = build.solved(lab)
        given, problems = answers.read_all(lab, solution)
        untouched = judge.untouched_version(lab, solution)
        for way in judge.WAYS:
            hints = judge.examine_lab(way, solution, untouched, given).answers
            yield {"lab": lab, "way": way} | count(given, hints, problems)


def count(given, hints, problems):
    """The rest of a row. hints: name of each answer -> check -> hint or None. problems: answers that do not fit."""
    verdicts = {answer.name: judge.verdict(answer, hints[answer.name]) for answer in given}
    lost = {name: {check for check, hint in by_check.items() if hint is not None} for name, by_check in hints.items()}
    caught = [answer for answer in given if not answer.right and lost[answer.name] == set(answer.loses)]
    return {
        "wrong": sum(not answer.right for answer in given),
        "caught": len(caught),
        "hinted": sum(verdicts[answer.name] == "" for answer in caught),
        "right": sum(answer.right for answer in given),
        "passed": sum(answer.right and not lost[answer.name] for answer in given),
        "misjudged": problems + list(filter(None, verdicts.values())),
    }


def summary(rows):
    """Is every answer judged as it should be?"""
    total = {key: sum(row[key] for row in rows) for key in ("wrong", "caught", "hinted", "right", "passed")}
    return total | {"met": not any(row["misjudged"] for row in rows)}
