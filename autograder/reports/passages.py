"""Renders the page of what hand-ins have in common: passages of code, which similarity.py finds, and written answers.

Written answers are compared as a whole: those with the same words count as equal, whatever their layout, punctuation
and capitals. Writes nothing.
"""

import re

from autograder.labs import answers, source
from autograder.reports import inert, render, similarity

MOST_PASSAGES = 8  # per pair
MOST_LINES = 40  # of one passage
MOST_CHARACTERS = 160  # of one line
LEAST_WORDS = 6  # of an equal answer: a shorter one may be the same by chance


def render_passages(lab, hand_ins, solution, release):
    """The page of one lab, as HTML."""
    given = [cell.source for cell in release.cells if cell.cell_type == "code"]
    given += [cell.source for cell in solution.cells if source.is_task(cell)]
    given += [answer.source for answer in answers.read_all(lab, solution)[0] if answer.right]
    pairs, more = similarity.compare(
        {hand_in.student: select_code(hand_in.cells) for hand_in in hand_ins}, [("", each) for each in given]
    )
    rows = [describe_pair(pair) for pair in pairs]
    equal = find_equal_answers(hand_ins, [solution, release])
    return render.render(
        "report/similarity.html.j2", lab=lab, students=len(hand_ins), pairs=rows, more=more, equal=equal
    )


def find_equal_answers(hand_ins, given):
    """One dict per written answer that several hand-ins have: its cell, text and students, those of fewest first.

    given: notebooks whose answers do not count, because the lab contains them.
    """
    known = {read_words(cell.source) for notebook in given for cell in notebook.cells if source.is_answer(cell)}
    groups = {}
    for hand_in in hand_ins:
        for cell in filter(source.is_answer, hand_in.cells):
            text = inert.read_text(cell)
            words = read_words(text)
            if len(words) >= LEAST_WORDS and words not in known:
                groups.setdefault((source.nbgrader(cell)["grade_id"], words), []).append((hand_in.student, text))
    equal = [
        {"cell": name, "text": group[0][1], "students": [student for student, _ in group]}
        for (name, _), group in groups.items()
        if len(group) > 1
    ]
    return sorted(equal, key=lambda each: (len(each["students"]), each["cell"], each["students"]))


def read_words(text):
    """The words and numbers of a text, in small letters."""
    return tuple(re.findall(r"\w+", text.casefold()))


def select_code(cells):
    """(name, source) of each cell in which a student wrote code."""
    graded = [cell for cell in cells if cell.cell_type == "code" and not source.is_measure(cell)]
    theirs = [cell for cell in graded if source.is_task(cell) or not source.nbgrader(cell)]
    return [(source.nbgrader(cell).get("grade_id", "an additional cell"), cell.source) for cell in theirs]


def describe_pair(pair):
    """A pair as the template needs it."""
    joined = similarity.join_passages(pair)
    listed = joined[:MOST_PASSAGES]
    return {
        "tokens": pair.tokens,
        "weight": pair.weight,
        "names": [pair.left.name, pair.right.name],
        "shares": [pair.share(pair.left), pair.share(pair.right)],
        "passages": [[describe_side(pair.left, each.left), describe_side(pair.right, each.right)] for each in listed],
        "others": len(joined) - len(listed),
    }


def describe_side(code, tokens):
    """A passage in one of the two hand-ins: the student, the cell, the line numbers and the lines."""
    cell, first, lines = code.excerpt(tokens)
    listed = [render.clean(line, MOST_CHARACTERS) for line in lines[:MOST_LINES]]
    return {
        "student": code.name,
        "cell": cell,
        "first": first,
        "last": first + len(lines) - 1,
        "text": "\n".join(listed),
        "left_out": len(lines) - len(listed),
    }
