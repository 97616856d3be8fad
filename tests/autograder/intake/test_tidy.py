"""Whatever came in becomes the lab's form again, with everything the student wrote, and says what was mended."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.intake import tidy
from autograder.labs import build, source


def ids(notebook):
    return [source.nbgrader(cell).get("grade_id") for cell in notebook.cells if source.nbgrader(cell)]


def sources(notebook, grade_id):
    return [cell.source for cell in notebook.cells if source.nbgrader(cell).get("grade_id") == grade_id]


@pytest.fixture(scope="session")
def whole(mini):
    return ids(mini.release)


def test_a_good_hand_in_is_left_as_it_is_and_nothing_is_said(mini, whole):
    notebook, remarks = mini.graded(mini.hand_in())
    assert ids(notebook) == whole and remarks == []
    assert [cell.source for cell in notebook.cells if source.is_task(cell)] == list(mini.work.values())


def test_checks_are_whole_again_and_no_solution_enters(mini):
    notebook, _ = mini.graded(mini.release)
    assert "HIDDEN TESTS" in sources(notebook, "add-check")[0]
    assert "return x + y" not in "".join(cell.source for cell in notebook.cells)
    empty, _ = mini.graded(tidy.new_notebook(cells=[]))
    assert "Because" not in "".join(cell.source for cell in empty.cells)


@pytest.mark.parametrize("missing", ["add", "add-check", "descend", "descend-check", "why"])
def test_a_deleted_cell_is_there_again_and_said(mini, whole, missing):
    hand_in = mini.hand_in()
    hand_in.cells = [cell for cell in hand_in.cells if cell.id != missing]
    notebook, remarks = mini.graded(hand_in)
    assert sorted(ids(notebook)) == sorted(whole)
    assert len(remarks) == 1 and remarks[0].startswith(f"{missing} is missing")


def test_a_missing_task_does_not_bring_back_a_stub_that_would_undo_the_students_code(mini):
    hand_in = mini.hand_in()
    hand_in.cells[2].metadata.nbgrader.grade_id = "renamed"
    notebook, remarks = mini.graded(hand_in)
    assert sources(notebook, "add") == [""] and mini.work["add"] in [cell.source for cell in notebook.cells]
    assert any("'renamed' is not one of the lab's" in remark for remark in remarks)


def test_of_copies_of_a_task_all_run_and_the_last_bears_the_name(mini):
    hand_in = mini.hand_in()
    hand_in.cells.append(mini.copy_of(hand_in.cells[2], "copy"))
    hand_in.cells[-1].source = "def add(x, y): return 7"
    notebook, remarks = mini.graded(hand_in)
    assert sources(notebook, "add") == ["def add(x, y): return 7"]
    order = [cell.source for cell in notebook.cells]
    assert order.index(mini.work["add"]) < order.index("def add(x, y): return 7")
    assert ids(notebook).index("add") < ids(notebook).index("add-check")
    assert "add is there 2 times: the last one counts" in remarks


def test_of_copies_of_an_answer_the_one_written_in_counts(mini):
    hand_in = mini.hand_in()
    stub = hand_in.cells[-1]
    hand_in.cells.append(mini.copy_of(stub, "copy"))
    stub.source = "Since it is convex."
    notebook, _ = mini.graded(hand_in)
    assert sources(notebook, "why") == ["Since it is convex."]


def test_no_check_runs_before_its_task_in_whatever_order_the_cells_are(mini):
    hand_in = mini.hand_in()
    hand_in.cells.reverse()
    notebook, remarks = mini.graded(hand_in)
    order = ids(notebook)
    assert order.index("add") < order.index("add-check") and order.index("descend") < order.index("descend-check")
    assert any("another order" in remark for remark in remarks)


def test_a_changed_check_is_the_labs_again_and_said(mini):
    hand_in = mini.hand_in()
    hand_in.cells[3].source = "assert True"
    hand_in.cells[3].metadata.nbgrader.points = 1000
    notebook, remarks = mini.graded(hand_in)
    assert remarks == ["add-check was changed: the lab's own ran"]
    assert [source.nbgrader(c)["points"] for c in notebook.cells if source.is_check(c)] == [2, 3]


def test_a_task_turned_into_text_is_code_again(mini):
    hand_in = mini.hand_in()
    hand_in.cells[2] = tidy.new_markdown_cell(mini.work["add"], metadata=hand_in.cells[2].metadata)
    notebook, remarks = mini.graded(hand_in)
    assert next(c for c in notebook.cells if source.is_task(c)).cell_type == "code" and len(remarks) == 1


@given(st.data())
def test_any_mixture_of_cells_gives_each_graded_cell_once_with_its_check_after_it(mini, whole, data):
    cells = data.draw(st.lists(st.sampled_from(range(len(mini.release.cells))), max_size=14))
    hand_in = mini.hand_in()
    hand_in.cells = [mini.copy_of(hand_in.cells[i], f"c{n}") for n, i in enumerate(cells)]
    order = ids(mini.graded(hand_in)[0])
    assert sorted(order) == sorted(whole)
    for check, task in source.tasks_of_checks(mini.release.cells).items():
        assert order.index(task) < order.index(check)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"hello", "not a notebook"),
        (b"\x80\x04\x95", "not a notebook"),
        (b"[1, 2]", "not a notebook"),
        (b"{}", "not a notebook"),
        (b'{"cells": 3, "nbformat": 4}', "not a notebook"),
        (b'{"cells": [3], "nbformat": 4}', "not a notebook"),
        (b"null", "not a notebook"),
        (b"[" * 100_000, "not a notebook"),
        (b'{"nbformat": 3, "worksheets": []}', "not a notebook"),
    ],
)
def test_what_is_no_notebook_is_said_to_be_none(tmp_path, content, words):
    path = tmp_path / "a.ipynb"
    path.write_bytes(content)
    notebook, remarks = tidy.read_hand_in(path)
    assert notebook is None and words in remarks[0]


def test_odd_metadata_and_outputs_of_a_notebook_are_left_behind(tmp_path, mini):
    data = json.loads(build.to_bytes(mini.hand_in()))
    data["metadata"] = {"kernelspec": {"name": "r"}, "x": [1] * 1000}
    data["cells"][2]["metadata"] = ["no dict"]
    data["cells"][3]["outputs"] = "nonsense"
    data["cells"][4]["source"] = ["a\n", 1]
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(data))
    notebook, remarks = tidy.read_hand_in(path)
    assert remarks == [] and notebook.metadata.kernelspec.name == "python3"
    assert notebook.cells[4].source == "a\n1"


def test_half_a_surrogate_pair_in_a_cell_does_not_keep_it_from_being_written(tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_bytes(b'{"cells": [{"cell_type": "code", "source": "x = 1 # \\ud800", "metadata": {}}], "nbformat": 4}')
    notebook, remarks = tidy.read_hand_in(path)
    assert remarks == [] and build.to_bytes(notebook)
    assert notebook.cells[0].source == "x = 1 # ?"


def test_a_file_cut_off_anywhere_gives_the_cells_that_are_whole(tmp_path, mini):
    raw, path = build.to_bytes(mini.hand_in()), tmp_path / "a.ipynb"
    counts = []
    for end in range(0, len(raw) - 2, 97):
        path.write_bytes(raw[:end])
        notebook, remarks = tidy.read_hand_in(path)
        counts.append(len(notebook.cells) if notebook else 0)
        assert remarks
    assert counts == sorted(counts) and counts[-1] == len(mini.release.cells)
