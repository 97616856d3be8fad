"""Every wrong answer of every lab: whether it is caught, and whether its hint is the diagnosis of this mistake only.

A wrong answer names words that its hint must contain. `diagnosis` is true where its own hint contains them, and no hint
of an answer with another diagnosis does: words such as "wait" would let a wrong hint pass. Two answers have the same
diagnosis if each one's words are in the hint that the other one gets.
"""

import os

from autograder.authoring import judge
from autograder.labs import answers, build, source


def rows():
    """One row per wrong answer; `also` names the answers with other diagnoses in whose hints its words are.

    BENCH_HINTS_LABS="04 05" takes some labs only.
    """
    for lab in source.select_labs(os.environ.get("BENCH_HINTS_LABS", "")):
        solution = build.solved(lab)
        given, _ = answers.read_all(lab, solution)
        wrong = [answer for answer in given if not answer.right]
        hints = judge.examine_lab("outside", solution, judge.untouched_version(lab, solution), wrong).answers
        messages = {answer.name: "\n".join(filter(None, hints[answer.name].values())) for answer in wrong}
        for answer in wrong:
            also = [other.name for other in wrong if is_mistaken_for(answer, other, messages)]
            yield {
                "lab": lab,
                "wrong": answer.name,
                "caught": {check for check, hint in hints[answer.name].items() if hint} == set(answer.loses),
                "diagnosis": answer.hint in messages[answer.name] and not also,
                "also": also,
            }


def is_mistaken_for(answer, other, messages):
    """Whether the words of `answer` are in the hint of `other`, which has another diagnosis, and gets that."""
    is_other = other.hint in messages[other.name] and other.hint not in messages[answer.name]
    return is_other and answer.hint in messages[other.name]


def summary(rows):
    """Whether all are caught, and all words are those of one diagnosis."""
    return {
        "wrong": len(rows),
        "caught": sum(row["caught"] for row in rows),
        "diagnosis": sum(row["diagnosis"] for row in rows),
        "met": all(row["caught"] and row["diagnosis"] for row in rows),
    }
