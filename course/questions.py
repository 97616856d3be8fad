"""Questions that a lab asks before it tells: quizzes on earlier labs, and predictions of an experiment's outcome.

    mark_quiz("eNp...", opening)    in the check of a quiz: says which answers are right, and why
    predict("crossover", 8)         keeps the reader's prediction
    outcome("crossover", 12)        shows the prediction beside what came out

A quiz gives its point for answers to all questions, right or wrong: recalling is what helps (Roediger and Karpicke,
Psychological Science 17, 2006, 249-255). Predictions are kept beside the notebook in `.predictions.json`. One that was
changed after the outcome was seen does not replace the first.
"""

import base64
import contextlib
import json
import math
import zlib
from pathlib import Path

from course.files import write_whole
from course.plots import texts

KEPT = ".predictions.json"
LETTERS = ("a", "b", "c", "d")
EXACT = 0.01  # of the right number: an answer this close is right, unless the question states a tolerance

_predictions = {}  # name -> {"value": the prediction, "seen": whether the outcome was shown}; read from KEPT once


def seal(questions):
    """Encode the answers of a quiz, so that nobody reads them by accident.

    questions: one dict per question with `answer` (a number, or a letter), `tolerance` (of a number) and `reason`.
    """
    return base64.b64encode(zlib.compress(json.dumps(questions).encode(), 9)).decode()


def mark_quiz(sealed, answers):
    """Show for each answer whether it is right, the right one, and why. Returns True.

    sealed: what `seal` returned. answers: a list with a number or letter per question. Raises AssertionError, with a
    hint, while an answer is missing or is not of the kind that the question asks for.
    """
    questions = json.loads(zlib.decompress(base64.b64decode(sealed)))
    assert isinstance(answers, list | tuple) and len(answers) == len(questions), (
        f"the list needs {len(questions)} answers, one per question, in the order of the questions."
    )
    assert any(answer is not None for answer in answers), "this task is still empty: replace each None by your answer."
    lines = []
    for number, (question, answer) in enumerate(zip(questions, answers, strict=True), 1):
        answer, right = read_answer(number, question, answer), question["answer"]
        if isinstance(right, str):
            is_right, shown, given = answer == right, right, answer
        else:
            is_right = math.isclose(answer, right, rel_tol=0, abs_tol=question["tolerance"] + 1e-12)
            shown, given = format_number(right), format_number(answer)
        verdict = f"✓ {number}. {shown}." if is_right else f"✗ {number}. You answered {given}; it is {shown}."
        lines.append(f"{verdict} {question['reason']}")
    show(lines)
    return True


def format_number(value):
    """Return a number with six digits, a large one in full: 1,600,000 and not 1.6e+06."""
    return f"{value:,.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:g}"


def read_answer(number, question, answer):
    """Return an answer as a float or a letter. Raises AssertionError where the question asks for something else."""
    is_choice = isinstance(question["answer"], str)
    asked = 'one of the letters "a", "b", "c" and "d", in quotes' if is_choice else "a number, such as 0.5 or 1 / 3"
    assert answer is not None, f"question {number} has no answer yet: replace its None by {asked}."
    if is_choice:
        answer = answer.strip().rstrip(")").lower() if isinstance(answer, str) else answer
        assert isinstance(answer, str) and answer in LETTERS, f"question {number} asks for {asked}."
        return answer
    try:
        value = float(answer)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    assert math.isfinite(value), f"question {number} asks for {asked}."
    return value


def show(lines):
    """Display lines as Markdown, so that formulas are set, where there is a notebook to show them in."""
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        return
    if get_ipython() is not None:
        display({"text/markdown": "\n\n".join(lines), "text/plain": "\n".join(lines)}, raw=True)


def predict(name, value, *rest):
    """Keep the prediction `value`, a number or a letter, for `outcome`; None, which stands in the cell, is not one."""
    if rest:  # 50,900 is two arguments
        print("Write the number without commas, such as 50900, and run this cell again.")
        return
    if value is None:
        print("Replace None by your prediction and run this cell again. A rough guess is enough.")
        return
    value = read_prediction(value)
    if value is None:
        print('A prediction is a number, such as 0.5, or one of the letters "a", "b", "c" and "d", in quotes.')
        return
    predictions = read_predictions()
    earlier = predictions.get(name)
    if earlier and earlier["seen"] and earlier["value"] != value:
        print(f"You have seen the outcome, so your first prediction, {earlier['value']}, is kept.")
        return
    predictions[name] = {"value": value, "seen": bool(earlier and earlier["seen"])}
    save_predictions()
    print(f"Your prediction is {value}. The outcome is measured further down.")


def read_prediction(value):
    """Return a prediction as a number or a letter, None if it is neither."""
    if isinstance(value, str) and (letter := value.strip().rstrip(")").lower()) in LETTERS:
        return letter
    try:
        is_finite = math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return None
    return (float(value) if isinstance(value, str) else value) if is_finite else None


def outcome(name, measured):
    """Print the prediction beside the outcome `measured`, a number or a letter."""
    measured = measured if isinstance(measured, str) else float(measured)
    shown = measured if isinstance(measured, str) else texts.number(measured)
    prediction = read_predictions().get(name)
    if prediction is None:
        print(f"Outcome: {shown}. You made no prediction.")
        return
    value = prediction["value"]
    prediction["seen"] = True
    save_predictions()
    if isinstance(value, int | float) and not isinstance(measured, str):
        times = float(f"{measured / value:.2g}") if value > 0 and measured > 0 else None  # 170 and not 1.7e+02
        if times == 1:
            close = "as you said" if texts.number(value) == shown else "about as you said"
            print(f"You predicted {texts.number(value)}; the outcome is {shown}, {close}.")
        else:
            comparison = f" That is {times:g} times your prediction." if times else ""
            print(f"You predicted {texts.number(value)}; the outcome is {shown}.{comparison}")
    else:
        print(f"You predicted {value}; the outcome is {shown}{', as you said' if str(value) == shown else ''}.")


def read_predictions():
    """Return the predictions made in this folder, name -> dict, which may be changed."""
    if not _predictions:
        with contextlib.suppress(
            OSError, ValueError, AttributeError, TypeError
        ):  # none were kept, or the file is damaged
            kept = json.loads(Path(KEPT).read_text(encoding="utf-8"))
            _predictions.update({name: each for name, each in kept.items() if {"value", "seen"} <= each.keys()})
    return _predictions


def save_predictions():
    """Write the predictions beside the notebook; where that is not possible they live as long as the kernel."""
    with contextlib.suppress(OSError, TypeError):
        write_whole(Path(KEPT), json.dumps(_predictions))
