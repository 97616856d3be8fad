"""Every lab's wrong and right answers, graded as hand-ins are and in a plain kernel: can a student be misjudged?"""

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from autograder.intake import tidy
from autograder.labs import answers, build, source

pytestmark = pytest.mark.usefixtures("horovod")
WAYS = {"outside": answers.grade_outside, "plain": answers.grade_plain}
ALL = {"outside": answers.grade_all_outside, "plain": answers.grade_all_plain}
CASES = [(lab, way, answer) for lab in source.lab_names() for answer in answers.answers(lab) for way in WAYS]


@pytest.fixture(scope="module")
def solutions():
    return {lab: build.solved(lab) for lab in source.lab_names()}


@pytest.fixture(scope="module")
def workers():
    """Where examinations run at once: one more than there are cores, since a kernel that starts or ends waits."""
    with ProcessPoolExecutor(os.cpu_count() + 1, mp_context=get_context("spawn")) as pool:
        yield pool


def chosen(request, fixture):
    """The parameters of all tests of this file and run that use `fixture`."""
    here = [item for item in request.session.items if item.path == request.path]
    return [item.callspec.params for item in here if fixture in item.fixturenames]


@pytest.fixture(scope="module")
def found(solutions, workers, request):
    """A function: case -> what the checks say of it; the labs' two ways are under way at once."""
    cases = [params["case"] for params in chosen(request, "found")]
    graded = {
        (lab, way): workers.submit(ALL[way], [answer for *its, answer in cases if its == [lab, way]], solutions[lab])
        for lab, way in dict.fromkeys((lab, way) for lab, way, _ in cases)
    }
    return lambda case: graded[case[:2]].result()[case[2].name]


@pytest.fixture(scope="module")
def whole(solutions, workers, request):
    """A function: ("solved" or "untouched", lab, way) -> what the checks say of that lab; all are under way at once."""
    under_way = {}
    for lab, way in {(params["lab"], params["way"]) for params in chosen(request, "whole")}:
        untouched = tidy.as_graded(build.student_version(lab, solutions[lab]), solutions[lab])
        under_way["untouched", lab, way] = workers.submit(WAYS[way], untouched)
        under_way["solved", lab, way] = workers.submit(WAYS[way], solutions[lab])
    return lambda *case: under_way[case].result()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[2].name}-{case[1]}")
def test_an_answer_loses_exactly_the_checks_it_names_and_gets_its_hint(case, found):
    assert answers.verdict(case[2], found(case)) == ""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("lab", source.lab_names())
def test_the_solution_gets_all_automatic_points(lab, way, whole):
    hints = whole("solved", lab, way)
    assert hints and not any(hints.values())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("lab", source.lab_names())
def test_the_untouched_lab_gets_no_points_and_is_told_that_its_tasks_are_empty(lab, way, whole):
    hints = whole("untouched", lab, way)
    assert hints and all("still empty" in (hint or "") for hint in hints.values()), hints


@pytest.mark.parametrize("lab", source.lab_names())
def test_every_graded_task_has_three_wrong_answers_and_another_right_one(lab, solutions):
    graded = set(source.tasks_of_checks(solutions[lab].cells).values())
    given = answers.answers(lab)
    for task in graded:
        assert sum(answer.task == task and not answer.right for answer in given) >= 3, task
        assert sum(answer.task == task and answer.right for answer in given) >= 1, task


@pytest.mark.parametrize("lab", source.lab_names())
def test_every_check_can_be_lost(lab, solutions):
    lost = {check for answer in answers.answers(lab) for check in answer.loses}
    assert lost == set(source.tasks_of_checks(solutions[lab].cells))
