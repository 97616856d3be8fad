"""Every wrong and right answer of every lab, graded as a hand-in is: caught, told its hint, passed.

A wrong answer is caught where it loses exactly the checks that it names, and hinted where one of them says the words
that it names. A right answer passes where it loses nothing.
"""

from autograder.labs import answers, build, source


def rows():
    """A row a lab; `misjudged` says what was wrong, a sentence an answer."""
    for lab in source.lab_names():
        solution, given = build.solved(lab), answers.answers(lab)
        found = answers.grade_all_outside(given, solution)
        lost = {name: {check for check, hint in hints.items() if hint is not None} for name, hints in found.items()}
        caught = [answer for answer in given if not answer.right and lost[answer.name] == set(answer.loses)]
        yield {
            "lab": lab,
            "wrong": sum(not answer.right for answer in given),
            "caught": len(caught),
            "hinted": sum(answers.verdict(answer, found[answer.name]) == "" for answer in caught),
            "right": sum(answer.right for answer in given),
            "passed": sum(answer.right and not lost[answer.name] for answer in given),
            "misjudged": list(filter(None, (answers.verdict(answer, found[answer.name]) for answer in given))),
        }


def summary(rows):
    """Is every answer judged as it should be?"""
    total = {key: sum(row[key] for row in rows) for key in ("wrong", "caught", "hinted", "right", "passed")}
    return total | {"met": not any(row["misjudged"] for row in rows)}
