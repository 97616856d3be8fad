"""`course new`: a lab that passes, in the order of the index, and clear words where there can be none."""

import pytest

from autograder.authoring import conventions
from autograder.labs import answers, build, source


def test_a_new_lab_has_everything_that_the_generic_tests_ask_for(scratch, course):
    status, output, _ = course("new", "10-big-batches")
    assert status == 0 and "course check 10-big-batches" in output[0]
    solution = build.solved("10-big-batches")
    assert solution.cells[0].source.startswith("# Lab 10: Big batches")
    assert "NN-name" not in "".join(cell.source for cell in solution.cells)
    given, problems = answers.read_all("10-big-batches", solution)
    expected, unexpected = conventions.check_expectations("10-big-batches", solution)
    assert problems + unexpected + answers.find_gaps(given, solution) == []
    assert conventions.check_frame("10-big-batches", solution) == [] and expected.pictures >= 1
    kinds = [source.is_task, source.is_check, source.is_measure, source.is_answer, source.is_given]
    assert all(any(map(kind, solution.cells)) for kind in kinds)
    assert any(source.HIDDEN[0] in cell.source for cell in solution.cells)


@pytest.mark.parametrize(
    ("name", "above", "below"),
    [
        ("00-first", None, "01 Regression"),
        ("10-last", "09 The competition", None),
        ("99-toy", source.lab_names()[-1], None),
    ],
)
def test_the_row_in_the_index_stands_in_the_order_of_the_numbers(scratch, course, name, above, below):
    before = (scratch / "solutions" / "index.py").read_text().splitlines()
    assert course("new", name)[0] == 0
    after = (scratch / "solutions" / "index.py").read_text().splitlines()
    (row,) = [line for line in after if line not in before]
    assert f"]({name}/{name}.ipynb) |" in row and [line for line in after if line != row] == before
    at = after.index(row)
    assert (above or "|---|") in after[at - 1] and (below or "#") in after[at + 1]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("toy", "'toy' is not a name for a lab"),
        ("1-toy", "is not a name for a lab"),
        ("10-Toy", "is not a name for a lab"),
        ("10-../toy", "is not a name for a lab"),
        ("10-other", "the number 10 is taken by 10-toy"),
        ("10-toy", "solutions/10-toy exists already"),
    ],
)
def test_a_name_that_does_not_fit_or_is_taken_is_refused_and_nothing_is_written(scratch, course, name, words):
    assert course("new", "10-toy")[0] == 0
    before = {path: path.read_bytes() for path in scratch.rglob("*") if path.is_file()}
    status, output, error = course("new", name)
    assert status == 1 and output == [] and words in error
    assert {path: path.read_bytes() for path in scratch.rglob("*") if path.is_file()} == before


def test_an_index_without_a_table_of_labs_is_reported(scratch, course):
    (scratch / "solutions" / "index.py").write_text("# %% [markdown]\n# # Labs\n")
    status, _, error = course("new", "10-toy")
    assert status == 1 and "has no table of labs" in error
    assert not (scratch / "solutions" / "10-toy").exists()
