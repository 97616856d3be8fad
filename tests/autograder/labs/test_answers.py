"""Every lab's wrong and right answers, judged as hand-ins are and in a plain kernel: can a student be misjudged?"""

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from autograder.authoring import judge
from autograder.labs import answers, build, source

pytestmark = pytest.mark.usefixtures("horovod")
LABS = source.lab_names()
SOLUTIONS = {lab: build.solved(lab) for lab in LABS}
ANSWERS = {lab: answers.read_all(lab, SOLUTIONS[lab]) for lab in LABS}
CASES = [(lab, way, answer) for lab in LABS for answer in ANSWERS[lab][0] for way in judge.WAYS]


@pytest.fixture(scope="module")
def workers():
    """Where labs are examined in parallel: one more than there are cores, since a kernel that starts or ends waits."""
    with ProcessPoolExecutor(os.cpu_count() + 1, mp_context=get_context("spawn")) as pool:
        yield pool


def chosen(request, name):
    """The values of the parameter `name` of all tests of this file and run."""
    here = [item for item in request.session.items if item.path == request.path]
    return [item.callspec.params[name] for item in here if hasattr(item, "callspec") and name in item.callspec.params]


@pytest.fixture(scope="module")
def examined(workers, request):
    """A function: (lab, way) -> LabRun, with the answers that this run of the tests judges."""
    cases = [(lab, way, answer) for lab, way, answer in chosen(request, "case")]
    pairs = dict.fromkeys([(lab, way) for lab, way, _ in cases] + chosen(request, "pair"))
    runs = {}
    for lab, way in pairs:
        given = [answer for *its, answer in cases if its == [lab, way]]
        untouched = judge.untouched_version(lab, SOLUTIONS[lab])
        runs[lab, way] = workers.submit(judge.examine_lab, way, SOLUTIONS[lab], untouched, given)
    return lambda lab, way: runs[lab, way].result()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[2].name}-{case[1]}")
def test_an_answer_loses_exactly_the_checks_it_names_and_gets_its_hint(case, examined):
    lab, way, answer = case
    assert judge.verdict(answer, examined(lab, way).answers[answer.name]) == ""


@pytest.mark.parametrize("pair", [(lab, way) for lab in LABS for way in judge.WAYS], ids="-".join)
def test_the_solution_gets_all_automatic_points(pair, examined):
    hints = judge.read_hints(examined(*pair).solved)
    assert hints and not any(hints.values())


@pytest.mark.parametrize("pair", [(lab, way) for lab in LABS for way in judge.WAYS], ids="-".join)
def test_the_untouched_lab_gets_no_points_and_is_told_that_its_tasks_are_empty(pair, examined):
    hints = examined(*pair).untouched
    assert hints and all("still empty" in (hint or "") for hint in hints.values()), hints


@pytest.mark.parametrize("lab", LABS)
def test_every_answer_fits_its_lab(lab):
    assert ANSWERS[lab][1] == []


@pytest.mark.parametrize("lab", LABS)
def test_every_graded_task_has_three_wrong_answers_and_another_right_one_and_every_check_can_be_lost(lab):
    assert answers.find_gaps(ANSWERS[lab][0], SOLUTIONS[lab]) == []
    assert (answers.LEAST_WRONG, answers.LEAST_RIGHT) == (3, 1)
