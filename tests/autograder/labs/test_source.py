"""Reading a lab's text: titles become cells, and what the convention does not know is an error with its line."""

import pytest

from autograder.labs import source
from course.errors import Problem

GOOD = """\
# %% [markdown]
# Hello

# %% task ring
def ring():
    ### BEGIN SOLUTION
    return 1
    ### END SOLUTION

# %% check ring points=3
assert ring() == 1

# %% check ring-uneven points=0.5
assert ring() != 2

# %% measure
print(1)

# %%
# %px import numpy

# %% [markdown] answer why points=2
# Say why.
"""


@pytest.fixture
def read(tmp_path):
    def read(content):
        path = tmp_path / "01-ring" / "lab.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
        return source.read(path)

    return read


def test_titles_say_what_cells_are(read):
    cells = read(GOOD).cells
    kinds = [source.is_task, source.is_check, source.is_measure, source.is_answer]
    assert [[kind(cell) for kind in kinds].index(True) if any(k(cell) for k in kinds) else None for cell in cells] == [
        None, 0, 1, 1, 2, None, 3,
    ]  # fmt: skip
    assert [cell.id for cell in cells][1:4] == ["ring", "ring-check", "ring-uneven-check"]
    assert [source.nbgrader(cell).get("points") for cell in cells] == [None, None, 3, 0.5, None, None, 2]
    assert source.tasks_of_checks(cells) == {"ring-check": "ring", "ring-uneven-check": "ring"}


def test_a_check_opens_collapsed_and_its_first_line_says_what_it_checks_and_gives(read):
    checks = [cell for cell in read(GOOD).cells if source.is_check(cell)]
    assert [cell.source.splitlines()[0] for cell in checks] == [
        "# check: ring, 3 points",
        "# check: ring-uneven, 0.5 points",
    ]
    assert all(cell.metadata["jupyter"] == {"source_hidden": True} for cell in checks)
    others = [cell for cell in read(GOOD).cells if not source.is_check(cell)]
    assert others and not any("jupyter" in cell.metadata for cell in others)


def test_a_magic_is_uncommented(read):
    assert read(GOOD).cells[5].source == "%px import numpy"


def test_equal_cells_get_ids_of_their_own_that_do_not_change(read):
    content = GOOD + "\n# %%\nx = 1\n\n# %%\nx = 1\n"
    first, second = ([cell.id for cell in read(content).cells] for _ in range(2))
    assert first == second and len(set(first)) == len(first)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("check ring points=3", "chek ring points=3", "line 10: 'chek ring' is not a title of a code cell"),
        ("check ring points=3", "check ring", "line 10: points=N belongs to"),
        ("check ring points=3", "check ring points=-1", "line 10: points must be a positive number"),
        ("measure", "measure points=1", "line 16: points=N belongs to"),
        ("check ring-uneven", "check ring", "line 13: the name ring-check is taken"),
        ("    ### END SOLUTION\n", "", "line 4: a solution is not closed"),
        (
            "    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\n",
            "    return 1\n",
            "line 4: task ring has no sol",
        ),
        ("print(1)", "### BEGIN SOLUTION\n### END SOLUTION", "line 16: a solution is in a cell that is not"),
        ("print(1)", "### BEGIN HIDDEN TESTS\n### END HIDDEN TESTS", "line 16: a hidden test is in a cell"),
        ("# %%\n# %px import numpy", "x = 1\n# %%px\n# y = 1", "line 20: a cell magic must be in a cell of its own"),
        ("# %% [markdown]\n# Hello", "x = 1", "there is text above the first cell"),
        ("task ring\n", "measure\n", "a solution is in a cell that is not"),
        ("assert ring() == 1", "ring = 2", "check ring-check binds or deletes ring, which belongs to the student"),
        ("assert ring() == 1", "del ring", "check ring-check binds or deletes ring, which belongs to the student"),
        ("[markdown] answer why", "answer why", "'answer why' is not a title of a code cell"),
    ],
)
def test_a_cell_that_the_convention_does_not_have_is_an_error_with_its_line(read, old, new, words):
    assert old in GOOD
    with pytest.raises(Problem, match=words.replace("(", r"\(")):
        read(GOOD.replace(old, new, 1))


def test_a_check_without_a_task_is_an_error(read):
    with pytest.raises(Problem, match="check a-check has no task above it"):
        read("# %% check a points=1\nassert True\n")


def test_extra_credit_is_kept_beside_nbgraders_points_which_are_0(read):
    cell = next(cell for cell in read(GOOD.replace("check ring points=3", "check ring extra=3")
        .replace("check ring-uneven points=0.5", "check ring-uneven extra=0.5")).cells if source.is_check(cell))
    assert (source.nbgrader(cell)["points"], source.extra_points(cell)) == (0, 3)
    assert cell.source.splitlines()[0] == "# check: ring, 3 points of extra credit"


@pytest.mark.parametrize(
    "before, after, words",
    [
        ("check ring points=3", "check ring extra=3", "task ring has checks with points=N and with extra=N"),
        ("check ring points=3", "check ring points=3 extra=1", "points=N belongs to"),
        ("check ring points=3", "check ring extra=-1", "positive"),
        ("task ring", "task ring extra=1", "belongs to check cells only"),
    ],
)
def test_extra_credit_that_cannot_be_counted_is_a_problem(read, before, after, words):
    with pytest.raises(Problem, match=words):
        read(GOOD.replace(before, after))


def test_labs_are_selected_by_number_or_name_and_an_unknown_one_is_a_problem():
    assert source.select_labs("4 05-ring") == ["04-collectives", "05-ring"]
    assert source.select_labs("") == source.lab_names()
    with pytest.raises(Problem, match="there is no lab 99"):
        source.select_labs("99")
