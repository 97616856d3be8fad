"""The labs as a student meets them: the solved lab runs from top to bottom, and pictures have their text."""

import pytest

from autograder.authoring import judge
from autograder.labs import build, source

pytestmark = pytest.mark.usefixtures("horovod")
LABS = source.lab_names()


@pytest.fixture(scope="module", params=LABS)
def solved(request):
    """A solved lab, run with its cells for show."""
    notebook = build.solved(request.param)
    with judge.open_kernel("plain") as examination:
        judge.run_cells(notebook, examination, with_measures=True)
    return notebook


def outputs(notebook):
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def test_the_solved_lab_runs_without_an_error_or_a_warning(solved):
    assert [o.evalue for o in outputs(solved) if o.output_type == "error"] == []
    assert [o.text for o in outputs(solved) if o.output_type == "stream" and o.name == "stderr"] == []


def test_every_picture_has_a_text_twin(solved):
    pictures = [
        o.data
        for o in outputs(solved)
        if "data" in o and ("image/png" in o.data or "<img" in o.data.get("text/html", ""))
    ]
    assert len(pictures) >= 3
    for data in pictures:
        assert "image/png" not in data, "a bare picture has no alternative text: return the plot of course.plots"
        assert 'alt="' in data["text/html"] and 'alt=""' not in data["text/html"]


def test_a_passed_check_says_so(solved):
    for cell in filter(source.is_check, solved.cells):
        assert any("passed" in o.get("text", "") for o in cell.outputs), cell.id


@pytest.mark.parametrize("lab", LABS)
def test_a_lab_says_what_to_expect_in_time_and_ends_with_questions_and_a_way_to_hand_in(lab):
    solution = build.solved(lab)
    assert "minutes" in solution.cells[0].source + solution.cells[1].source
    assert sum(map(source.is_answer, solution.cells)) >= 2
    assert "hand_in" in solution.cells[-1].source
