"""A check that may mean something else outside the student's kernel runs inside it; the text alone decides."""

import pytest

from autograder.examination.placement import list_functions, needs_kernel

CELLS = ["import numpy as np", "def squares(n):\n    total = 0\n    return total", "answer = 5", "%matplotlib inline"]
FUNCTIONS = list_functions(CELLS)


def test_functions_are_those_that_a_cell_defines_at_its_top():
    assert {"squares"} == FUNCTIONS


@pytest.mark.parametrize(
    "check",
    [
        '"""Compares."""\nassert squares(2) == [1, 4]',
        "for n in range(3):\n    assert squares(n) == n, f'squares({n})'",
        "assert sum(squares(i) for i in range(3)) == 5\nprint('well done')",
        "import numpy\nnumpy.testing.assert_allclose(squares(numpy.arange(3)), [1, 2])",
        "try:\n    squares(0)\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError('did not raise')",
        "total = squares(1)\nassert total == 0",
        "",
    ],
)
def test_a_check_that_only_calls_and_compares_runs_outside(check):
    assert not needs_kernel(check, FUNCTIONS, CELLS, ["assert squares(1) == 1"])


@pytest.mark.parametrize(
    "check",
    [
        "kept = squares\ndel squares\nsquares = kept",
        "answer = 6\nassert squares(1) == 6",
        "assert answer == 5",
        "assert np.sum(squares(2)) == 5",
        "values = [3, 1]\nsquares(values)\nassert values == [1, 3]",
        "assert squares.__doc__",
        "assert squares(1).shape == (1,)",
        "%timeit squares(3)",
        "assert await squares(1) == 1",
        "score = 0.5 * (squares(1) == 1)\nscore",
        "squares(1)",
        "import random\nrandom.seed(1)",
        "from numpy import random\nrandom.seed(1)",
        "assert open('data.txt').read()",
        "shared = squares(1)",
        "assert shared == 1",
        "globals()['squares'](1)",
        "class Student:\n    pass",
        "def squares(",
    ],
)
def test_any_other_check_runs_inside_the_kernel(check):
    assert needs_kernel(check, FUNCTIONS, CELLS, ["assert shared == 1" if check != "assert shared == 1" else "x = 1"])


def test_a_check_that_uses_a_name_which_the_notebook_took_from_python_runs_inside():
    assert needs_kernel("assert sum([1]) == 2", {"sum"}, ["def sum(values):\n    return 2"], [])
