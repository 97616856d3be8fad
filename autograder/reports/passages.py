"""Renders the page of passages that hand-ins have in common: similarity.py finds them. Writes nothing."""

from autograder.labs import answers, source
from autograder.reports import render, similarity

MOST_PASSAGES = 8  # per pair
MOST_LINES = 40  # of one passage
MOST_CHARACTERS = 160  # of one line


def render_passages(lab, hand_ins, solution, release):
    """The page of one lab, as HTML."""
    given = [cell.source for cell in release.cells if cell.cell_type == "code"]
    given += [cell.source for cell in solution.cells if source.is_task(cell)]
    given += [answer.source for answer in answers.read_all(lab, solution)[0] if answer.right]
    pairs, more = similarity.compare(
        {hand_in.student: select_code(hand_in.cells) for hand_in in hand_ins}, [("", each) for each in given]
    )
    rows = [describe_pair(pair) for pair in pairs]
    return render.render("report/similarity.html.j2", lab=lab, students=len(hand_ins), pairs=rows, more=more)


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
