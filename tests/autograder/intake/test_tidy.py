"""Every hand-in gets the lab's form again, keeps everything the student wrote, and names each repair."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_markdown_cell, new_notebook

from autograder.labs import source
from course.student import stubs


def ids(notebook):
    return [source.nbgrader(cell).get("grade_id") for cell in notebook.cells if source.nbgrader(cell)]


def sources(notebook, grade_id):
    return [cell.source for cell in notebook.cells if source.nbgrader(cell).get("grade_id") == grade_id]


@pytest.fixture(scope="session")
def whole(mini):
    return ids(mini.release)


def test_a_good_hand_in_is_not_changed_and_has_no_remarks(mini, whole):
    notebook, remarks = mini.graded(mini.hand_in())
    assert ids(notebook) == whole and remarks == []
    assert [cell.source for cell in notebook.cells if source.is_task(cell)] == list(mini.work.values())


def test_checks_are_whole_again_and_no_solution_enters(mini):
    notebook, _ = mini.graded(mini.release)
    assert "HIDDEN TESTS" in sources(notebook, "add-check")[0]
    assert "return x + y" not in "".join(cell.source for cell in notebook.cells)
    empty, _ = mini.graded(new_notebook(cells=[]))
    assert "Because" not in "".join(cell.source for cell in empty.cells)


@pytest.mark.parametrize("missing", ["add", "add-check", "descend", "descend-check", "why"])
def test_a_deleted_cell_is_put_back_with_a_remark(mini, whole, missing):
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
    assert any("'renamed' does not belong to the lab" in remark for remark in remarks)


def test_all_copies_of_a_task_run_and_the_last_one_has_its_name(mini):
    hand_in = mini.hand_in()
    hand_in.cells.append(mini.copy_of(hand_in.cells[2], "copy"))
    hand_in.cells[-1].source = "def add(x, y): return 7"
    notebook, remarks = mini.graded(hand_in)
    assert sources(notebook, "add") == ["def add(x, y): return 7"]
    order = [cell.source for cell in notebook.cells]
    assert order.index(mini.work["add"]) < order.index("def add(x, y): return 7")
    assert ids(notebook).index("add") < ids(notebook).index("add-check")
    assert "add appears 2 times; the last one counts." in remarks


def test_of_several_copies_of_an_answer_the_one_written_in_counts(mini):
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
    assert any("a different order" in remark for remark in remarks)


def test_a_changed_check_is_replaced_by_the_labs_own_with_a_remark(mini):
    hand_in = mini.hand_in()
    hand_in.cells[3].source = "assert True"
    hand_in.cells[3].metadata.nbgrader.points = 1000
    notebook, remarks = mini.graded(hand_in)
    assert remarks == ["add-check was changed; the lab's own version ran."]
    assert [source.nbgrader(c)["points"] for c in notebook.cells if source.is_check(c)] == [2, 3]


def test_a_task_that_became_a_text_cell_is_code_again(mini):
    hand_in = mini.hand_in()
    hand_in.cells[2] = new_markdown_cell(mini.work["add"], metadata=hand_in.cells[2].metadata)
    notebook, remarks = mini.graded(hand_in)
    assert next(c for c in notebook.cells if source.is_task(c)).cell_type == "code" and len(remarks) == 1


def test_a_remark_that_holds_for_many_cells_is_one_sentence(mini):
    hand_in = mini.hand_in()
    for cell in hand_in.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.grade_id = "../" + cell.metadata.nbgrader.grade_id
    _, remarks = mini.graded(hand_in)
    foreign = [remark for remark in remarks if "'../" in remark]
    assert len(foreign) == 1 and len(remarks) < len(hand_in.cells)
    assert "does not belong to the lab; it ran as an added cell. The same holds for 5 other cells" in foreign[0]
    assert ": '../add', '../add-check', " in foreign[0]


@pytest.mark.parametrize("metadata", [7, {}, {"remarks": "text"}, {"remarks": [1, "It is odd."]}])
def test_remarks_in_the_metadata_are_kept_and_odd_ones_of_a_student_break_nothing(mini, metadata):
    hand_in = mini.hand_in()
    hand_in.metadata["course"] = metadata
    notebook, remarks = mini.graded(hand_in)
    kept = ["1", "It is odd."] if metadata == {"remarks": [1, "It is odd."]} else []
    assert remarks == [] and notebook.metadata.course.remarks == kept


@given(st.data())
def test_any_mixture_of_cells_gives_each_graded_cell_once_with_its_check_after_it(mini, whole, data):
    cells = data.draw(st.lists(st.sampled_from(range(len(mini.release.cells))), max_size=14))
    hand_in = mini.hand_in()
    hand_in.cells = [mini.copy_of(hand_in.cells[i], f"c{n}") for n, i in enumerate(cells)]
    order = ids(mini.graded(hand_in)[0])
    assert sorted(order) == sorted(whole)
    for check, task in source.tasks_of_checks(mini.release.cells).items():
        assert order.index(task) < order.index(check)


@pytest.mark.parametrize("empty", [*stubs.EARLIER_ANSWERS, stubs.ANSWER, "", " \n"])
def test_an_answer_in_which_nothing_was_written_is_the_labs_own_also_in_earlier_editions(mini, empty):
    hand_in = mini.hand_in()
    (answer,) = [cell for cell in hand_in.cells if source.is_answer(cell)]
    answer.source = empty
    notebook, remarks = mini.graded(hand_in)
    assert sources(notebook, answer.id) == [stubs.ANSWER] and remarks == []
