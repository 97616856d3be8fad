"""The benches of grading: misjudged answers are reported, and generated hand-ins get what they deserve."""

import shutil
from types import SimpleNamespace

import pytest

from autograder.bench import fairness, hints
from autograder.bench import grade as bench
from autograder.labs import answers, build, source
from autograder.testing.mini_lab import LAB, MINI, read_scores, run

ANSWERS = {
    "wrong/add-minus.py": "# task: add\n# loses: add-check\n# hint: add(1, 2) is 3\ndef add(x, y):\n    return x - y\n",
    "wrong/add-other-hint.py": "# task: add\n# loses: add-check\n# hint: no such words\ndef add(x, y):\n    return 0\n",
    "wrong/descend-not-caught.py": "# task: add\n# loses: add-check\n# hint: 3\ndef add(x, y):\n    return y + x\n",
    "right/add-sum.py": "# task: add\ndef add(x, y):\n    return sum([x, y], start=0 * x)\n",
}


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """The small lab with answers: one gets another hint than it names, and one that is called wrong is right."""
    shutil.copytree(MINI, tmp_path / "solutions")
    for name, content in ANSWERS.items():
        path = tmp_path / "solutions" / LAB / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    monkeypatch.setattr(source, "SOLUTIONS", tmp_path / "solutions")
    return tmp_path


@pytest.mark.long
def test_an_answer_that_is_not_caught_or_not_hinted_is_counted_and_named(lab):
    rows = list(fairness.rows())
    assert [row["way"] for row in rows] == ["plain", "outside"]
    for row in rows:
        assert (row["wrong"], row["caught"], row["hinted"], row["right"], row["passed"]) == (3, 2, 1, 1, 1)
        assert len(row["misjudged"]) == 2 and not fairness.summary([row])["met"]


@pytest.mark.long
def test_words_that_are_not_in_its_hint_are_no_diagnosis(lab):
    rows = {row["wrong"].removeprefix("wrong/"): row for row in hints.rows() if row["caught"]}
    assert rows["add-minus"]["diagnosis"] and not rows["add-other-hint"]["diagnosis"]
    assert not hints.summary(list(rows.values()))["met"]


def test_words_that_are_in_the_hint_of_another_diagnosis_are_no_diagnosis():
    def answer(name, hint):
        return SimpleNamespace(name=name, hint=hint)

    first, same, vague = answer("a", "divide by n"), answer("b", "by n, not"), answer("c", "not")
    messages = {"a": "divide by n, not by 2", "b": "divide by n, not by 2", "c": "the sum is not a mean"}
    assert not hints.is_mistaken_for(first, same, messages) and not hints.is_mistaken_for(same, first, messages)
    assert hints.is_mistaken_for(vague, first, messages) and not hints.is_mistaken_for(first, vague, messages)


@pytest.mark.long
def test_generated_hand_ins_get_the_points_that_they_deserve(lab, monkeypatch):
    given, _ = answers.read_all(LAB, build.solved(LAB))
    good = [answer for answer in given if answer.name != "wrong/descend-not-caught"]
    monkeypatch.setattr(answers, "read_all", lambda *_: (good, []))
    deserved = bench.generate(LAB, lab / "hand-ins", 6)
    assert len(deserved) == 6 and set(deserved.values()) == {3, 5}
    assert run(lab / "hand-ins", lab / "class")[0] == 0
    assert read_scores(lab / "class") == bench.scores(lab / "class") == deserved
    assert sorted(bench.graded(lab / "class", LAB)) == sorted(deserved)


def test_a_ratio_below_the_bound_or_a_wrong_grade_is_not_met():
    row = {"lab": "01-regression", "way": "course grade", "workers": 2, "ratio": 5.0, "as_expected": True}
    stock = {"lab": "01-regression", "way": "stock", "workers": 1}
    assert bench.summary([stock, row])["met"]
    assert not bench.summary([stock, row | {"ratio": 3.9}])["met"]
    assert not bench.summary([stock, row | {"as_expected": False}])["met"]
