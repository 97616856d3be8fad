"""What the book's directives write from a lab, and what they say where the lab does not have it."""

import pytest
from docutils import nodes
from nbformat.v4 import new_markdown_cell, new_notebook

from autograder.book.generated import ModelAnswer, make_entry
from autograder.labs.answers import Answer
from course.errors import Problem

QUESTION = "Some text.\n\n**Question 1.** Why?"
ANSWER = "### BEGIN SOLUTION\nBecause.\n### END SOLUTION"


class Directive(ModelAnswer):
    """The directive in a page, whose lab has one written answer, "why", between two other cells."""

    def __init__(self, question=QUESTION, answer=ANSWER):
        graded = {"nbgrader": {"grade": True, "solution": True, "points": 2}}
        cells = [new_markdown_cell(question), new_markdown_cell(answer, id="why", metadata=graded)]
        self.lab = new_notebook(cells=[*cells, new_markdown_cell("The end.")])

    def read_lab(self, name):
        return self.lab


def test_a_model_answer_is_written_below_its_question():
    assert Directive().write("05-ring", "why") == "> **Question 1.** Why?\n\n**Model answer** (2 points).\n\nBecause."


def test_names_of_the_code_in_a_hint_are_set_as_code():
    wrong = Answer("wrong/sgd-in-place", "sgd", "", right=False, hint="changes `theta0` twice")
    entry = make_entry("sgd", [wrong])
    assert "in place: “changes theta0 twice”" in entry.astext()
    assert [each.astext() for each in entry.findall(nodes.literal)] == ["sgd", "theta0"]


@pytest.mark.parametrize(
    ("directive", "arguments", "said"),
    [
        (Directive(), ["05-ring", "how"], "lab 05-ring has no written answer how."),
        (Directive(), ["05-ring"], "the directive takes the names of a lab and of one answer, as in"),
        (Directive(question="Why?"), ["05-ring", "why"], "above answer why of lab 05-ring has no text after"),
        (Directive(answer="Because."), ["05-ring", "why"], "answer why of lab 05-ring has no text between"),
        (Directive(answer=ANSWER.replace("Because.", "")), ["05-ring", "why"], "05-ring has no text between"),
    ],
)
def test_a_model_answer_that_is_missing_is_told_in_one_sentence(directive, arguments, said):
    with pytest.raises(Problem, match=said):
        directive.write(*arguments)
