"""Quizzes give their point for trying and say what is right; the first prediction is the one that is kept."""

import json

import pytest

from course import questions
from course.questions import mark_quiz, outcome, predict, seal

QUIZ = seal([
    {"answer": 0.5, "tolerance": 0.005, "reason": "It is 2 divided by 4."},
    {"answer": "c", "reason": "All ranks get the sum."},
])  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(questions, "_predictions", {})
    return tmp_path


@pytest.fixture
def shown(monkeypatch):
    lines = []
    monkeypatch.setattr(questions, "show", lines.extend)
    return lines


@pytest.mark.parametrize(
    ("answers", "marks"),
    [([0.5, "c"], "✓✓"), ([0.503, "C)"], "✓✓"), ([1 / 2, "a"], "✓✗"), (["0.5", " c "], "✓✓"), ([2, "d"], "✗✗")],
)
def test_answers_to_all_questions_pass_right_or_wrong_and_are_marked(answers, marks, shown):
    assert mark_quiz(QUIZ, answers)
    assert "".join(line[0] for line in shown) == marks
    assert shown[0].endswith("It is 2 divided by 4.")
    assert marks[1] == "✓" or "it is c." in shown[1]


def test_large_numbers_are_shown_in_full(shown):
    mark_quiz(seal([{"answer": 1_600_000, "tolerance": 1, "reason": "Why."}]), [1_500_000])
    assert shown == ["✗ 1. You answered 1,500,000; it is 1,600,000. Why."]


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([None, None], "still empty"),
        ([0.5, None], "question 2 has no answer yet"),
        (["b", "c"], "question 1 asks for a number"),
        ([10**400, "c"], "question 1 asks for a number"),
        ([float("nan"), "c"], "question 1 asks for a number"),
        ([0.5, 3], "question 2 asks for one of the letters"),
        ([0.5, "e"], "question 2 asks for one of the letters"),
        ([0.5], "the list needs 2 answers"),
        (0.5, "the list needs 2 answers"),
    ],
)
def test_an_answer_that_is_missing_or_of_the_wrong_kind_gets_a_hint(answers, words, shown):
    with pytest.raises(AssertionError, match=words):
        mark_quiz(QUIZ, answers)
    assert not shown


def test_a_sealed_quiz_contains_neither_answer_nor_reason_in_clear():
    assert "sum" not in QUIZ and "0.5" not in QUIZ


def test_a_prediction_is_shown_beside_the_outcome(capsys):
    predict("crossover", 8)
    outcome("crossover", 12)
    assert "You predicted 8; the outcome is 12. That is 1.5 times your prediction." in capsys.readouterr().out
    outcome("crossover", 1364)
    assert "That is 170 times your prediction." in capsys.readouterr().out
    outcome("crossover", 8.02)
    outcome("crossover", 8)
    assert capsys.readouterr().out.splitlines() == [
        "You predicted 8; the outcome is 8.02, about as you said.",
        "You predicted 8; the outcome is 8, as you said.",
    ]
    predict("bytes", 407200)
    outcome("bytes", 50912)
    assert "You predicted 407,200; the outcome is 50,912." in capsys.readouterr().out
    predict("which", "b")
    outcome("which", "b")
    outcome("which", "c")
    assert capsys.readouterr().out.splitlines()[1:] == [
        "You predicted b; the outcome is b, as you said.",
        "You predicted b; the outcome is c.",
    ]


def test_a_number_with_commas_is_no_prediction(capsys):
    predict("bytes", 407, 200)
    assert "without commas" in capsys.readouterr().out and "bytes" not in questions.read_predictions()


def test_a_prediction_may_change_until_its_outcome_was_seen(capsys):
    predict("crossover", 8)
    predict("crossover", 9)
    outcome("crossover", 12)
    predict("crossover", 12)
    outcome("crossover", 12)
    assert "your first prediction, 9, is kept" in capsys.readouterr().out.replace("\n", " ")
    assert json.loads((questions.Path(questions.KEPT)).read_text())["crossover"] == {"value": 9, "seen": True}


def test_a_prediction_outlives_the_kernel(capsys):
    predict("crossover", 8)
    questions._predictions.clear()
    outcome("crossover", 4)
    assert "You predicted 8" in capsys.readouterr().out


def test_without_a_prediction_the_outcome_stands_alone_and_nothing_is_kept(capsys, folder):
    predict("crossover", None)
    outcome("crossover", 12)
    assert "Outcome: 12. You made no prediction." in capsys.readouterr().out
    assert not list(folder.iterdir())


@pytest.mark.parametrize("content", ["", "[]", "[1]", '{"crossover": 3}', "{"])
def test_a_damaged_file_of_predictions_is_no_prediction(content, folder, capsys):
    (folder / questions.KEPT).write_text(content)
    outcome("crossover", 12)
    assert "You made no prediction" in capsys.readouterr().out


@pytest.mark.parametrize(("typed", "kept"), [("B)", "b"), ("12", 12), (3, 3)])
def test_a_prediction_is_a_number_or_one_of_the_letters(typed, kept, capsys):
    predict("crossover", typed)
    assert f"Your prediction is {kept}." in capsys.readouterr().out.replace(".0", "")


@pytest.mark.parametrize("value", ["2 ms", "e", [1], float("nan")])
def test_another_value_is_no_prediction(value, capsys):
    predict("crossover", value)
    assert "A prediction is a number, such as 0.5, or one of the letters" in capsys.readouterr().out
    assert not questions.read_predictions()


def test_a_whole_number_is_shown_without_a_fraction(shown):
    mark_quiz(QUIZ, [16, "c"])
    assert shown[0].startswith("✗ 1. You answered 16; it is 0.5.")
