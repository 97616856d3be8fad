"""Judging a lab and its answers in one kernel: an answer that ends the kernel, or hangs, costs no other its verdict."""

import pytest

from autograder.authoring import judge
from autograder.labs.answers import Answer
from autograder.testing.mini_lab import LAB

DIES = Answer("wrong/add-dies", "add", "import os\nos._exit(1)", ("add-check",), "add")
HANGS = Answer("wrong/add-hangs", "add", "while True:\n    pass", ("add-check",), "add")
MINUS = Answer("wrong/add-minus", "add", "def add(x, y):\n    return x - y", ("add-check",), "add(1, 2) is 3")
SUM = Answer("right/add-sum", "add", "def add(x, y):\n    return sum([x, y])", right=True)


@pytest.mark.parametrize("way", judge.WAYS)
def test_a_lab_and_its_answers_are_judged_in_one_kernel(way, mini, monkeypatch):
    monkeypatch.setattr(judge, "PATIENCE", 3)
    untouched = judge.untouched_version(LAB, mini.solution)
    run = judge.examine_lab(way, mini.solution, untouched, [DIES, MINUS, HANGS, SUM])
    assert all("still empty" in hint for hint in run.untouched.values()) and len(run.untouched) == 2
    assert judge.read_hints(run.solved) == {"add-check": None, "descend-check": None}
    assert 0 < run.seconds < 60
    texts = [output.text for cell in run.solved.cells for output in cell.get("outputs", []) if "text" in output]
    assert ("measured\n" in texts) == (way == "plain"), "measure cells run in the plain way alone"
    assert judge.verdict(MINUS, run.answers[MINUS.name]) == judge.verdict(SUM, run.answers[SUM.name]) == ""
    assert list(run.answers) == ["wrong/add-dies", "wrong/add-minus", "wrong/add-hangs", "right/add-sum"]


def test_a_verdict_says_what_an_answer_lost_and_what_it_was_told():
    answer = Answer("wrong/a", "add", "", ("add-check",), "is 3")
    assert judge.verdict(answer, {"add-check": "it is 3, not 4"}) == ""
    assert judge.verdict(answer, {"add-check": None}) == "wrong/a loses nothing instead of add-check. Messages: []"
    assert judge.verdict(answer, {"add-check": "no"}) == "wrong/a gets no hint with 'is 3'. Messages: ['no']"
    right = Answer("right/a", "add", "", right=True)
    assert judge.verdict(right, {"add-check": None}) == ""
    assert judge.verdict(right, {"add-check": "no"}) == "right/a loses add-check instead of nothing. Messages: ['no']"
