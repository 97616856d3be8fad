"""The labs: the solved one runs without an error, and no student is misjudged by the checks.

A lab is run in one kernel per way (see autograder/authoring/judge.py): untouched, solved, and with its wrong and right
answers. The way "outside" is that of grading, and judges all answers. The way "plain" is that of a student's machine,
and judges a sample, in which each check is lost and some answers are right; `course bench fairness` judges all of them
there, too. `make test` runs the lab in PLAIN only, which uses engines, in the plain way, the long tier the
others.
"""

import functools

import pytest

from autograder.authoring import judge
from autograder.labs import answers, build, expectations, source

LABS = source.lab_names()
PLAIN = ("04-collectives",)

solve = functools.cache(build.solved)


@functools.cache
def read_answers(lab):
    """(answers, problems) of a lab."""
    return answers.read_all(lab, solve(lab))


def tasks_of_checks(lab):
    """Check -> its task, of the tasks that need answers: a quiz needs none."""
    return source.tasks_that_need_answers(solve(lab).cells)


def judged(lab, way):
    """The answers of a lab that are judged in this way."""
    given = read_answers(lab)[0]
    return given if way == "outside" else judge.sample(given)


def make_case(lab, way, *more):
    """A test's parameters; all tests of a lab and way run in one process, which runs the lab once."""
    names = [getattr(each, "name", each) for each in (lab, *more, way)]
    long = [pytest.mark.long] if way == "plain" and lab not in PLAIN else []
    return pytest.param(lab, way, *more, id="-".join(names), marks=[pytest.mark.xdist_group(f"{lab}-{way}"), *long])


BOTH_WAYS = pytest.mark.parametrize(("lab", "way"), [make_case(lab, way) for way in judge.WAYS for lab in LABS])
PLAIN_WAY = pytest.mark.parametrize(("lab", "way"), [make_case(lab, "plain") for lab in LABS])


ANSWERS = [make_case(lab, way, answer) for way in ("outside", "plain") for lab in LABS for answer in judged(lab, way)]


def outputs(notebook):
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


@pytest.mark.parametrize(("lab", "way", "answer"), ANSWERS)
def test_an_answer_loses_exactly_the_checks_it_names_and_gets_its_hint(lab, way, answer, run_lab):
    assert judge.verdict(answer, run_lab(lab, way).answers[answer.name]) == ""


@BOTH_WAYS
def test_the_solution_gets_all_automatic_points(lab, way, run_lab):
    hints = judge.read_hints(run_lab(lab, way).solved)
    assert hints and not any(hints.values())


@BOTH_WAYS
def test_the_untouched_lab_gets_no_points_and_is_told_that_its_tasks_are_empty(lab, way, run_lab):
    hints = run_lab(lab, way).untouched
    assert hints and all("still empty" in (hint or "") for hint in hints.values()), hints


@PLAIN_WAY
def test_the_solved_lab_runs_without_an_error_or_a_warning(lab, way, run_lab):
    solved = run_lab(lab, way).solved
    assert [o.evalue for o in outputs(solved) if o.output_type == "error"] == []
    assert [o.text for o in outputs(solved) if o.output_type == "stream" and o.name == "stderr"] == []


@PLAIN_WAY
def test_every_picture_has_a_text_twin(lab, way, run_lab):
    pictures = [
        o.data
        for o in outputs(run_lab(lab, way).solved)
        if "data" in o and ("image/png" in o.data or "<img" in o.data.get("text/html", ""))
    ]
    assert len(pictures) >= expectations.read(lab).pictures
    for data in pictures:
        assert "image/png" not in data, "a bare picture has no alternative text: return the plot of course.plots"
        assert 'alt="' in data["text/html"] and 'alt=""' not in data["text/html"]


@PLAIN_WAY
def test_a_passed_check_says_so(lab, way, run_lab):
    for cell in filter(source.is_check, run_lab(lab, way).solved.cells):
        assert any("passed" in o.get("text", "") for o in cell.outputs), cell.id


@pytest.mark.parametrize("lab", LABS)
def test_a_lab_says_what_to_expect_in_time_and_ends_with_questions_and_a_way_to_hand_in(lab):
    solution = solve(lab)
    assert "minutes" in solution.cells[0].source + solution.cells[1].source
    assert sum(map(source.is_answer, solution.cells)) >= 2
    assert "hand_in" in solution.cells[-1].source


@pytest.mark.parametrize("lab", LABS)
def test_every_answer_fits_its_lab(lab):
    assert read_answers(lab)[1] == []


@pytest.mark.parametrize("lab", LABS)
def test_every_graded_task_has_three_wrong_answers_and_another_right_one(lab):
    given = read_answers(lab)[0]
    for task in set(tasks_of_checks(lab).values()):
        assert sum(answer.task == task and not answer.right for answer in given) >= answers.LEAST_WRONG, task
        assert sum(answer.task == task and answer.right for answer in given) >= answers.LEAST_RIGHT, task


@pytest.mark.parametrize("lab", LABS)
def test_every_check_can_be_lost(lab):
    lost = {check for answer in read_answers(lab)[0] for check in answer.loses}
    assert lost == set(tasks_of_checks(lab))


@pytest.mark.parametrize("lab", LABS)
def test_in_the_plain_way_each_check_is_lost_and_some_answers_are_right(lab):
    sample = judged(lab, "plain")
    assert {check for answer in sample for check in answer.loses} == set(tasks_of_checks(lab))
    assert any(answer.right for answer in sample)
