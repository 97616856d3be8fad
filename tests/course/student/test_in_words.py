"""Frequent errors are explained in words. Each test raises the real error, whose text may change with a version."""

import traceback

import numpy as np
import pytest

from course.student.in_words import MEANINGS, describe


def forget_return():
    return None


def needs_two(x, y):
    return x + y


def read_too_early():
    total += 1  # noqa: F821
    return [total]


def recurse(n):
    return recurse(n + 1)


def subtract_in_place():
    x = np.arange(3)
    x -= 0.5


def fill_a_slice():
    x = np.zeros(4)
    x[:2] = np.ones(3)


def change_a_tuple():
    run = (43, 3, True)
    run[0] = 22


def add_a_request():
    x = np.arange(3)
    x += object()


def append_and_assign():
    path = []
    path = path.append(1)
    path = path.append(2)


def call_a_number():
    mean = 3.0
    mean([1, 2])


def change_a_parameter():
    import torch

    param = torch.nn.Parameter(torch.ones(2))
    param /= 2


def convert_a_tensor():
    import torch

    torch.ones(2, requires_grad=True).numpy()


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda: np.ones(3) + np.ones(4), "have the shapes (3,) and (4,), which do not fit"),
        (fill_a_slice, "of shape (3,) does not fit into a place of shape (2,)"),
        (lambda: np.ones((2, 3)) @ np.ones((4, 2)), "here A has 3 and B has 4"),
        (lambda: np.dot(np.ones((2, 3)), np.ones((2, 3))), "(2,3) and (2,3) does not exist"),
        (lambda: np.ones(5)[5], "no index 5: axis 0 has 5 entries"),
        (lambda: np.ones(5)[0, 1], "more indices in the brackets"),
        (lambda: [1, 2][2], "no such index in this list"),
        (subtract_in_place, "holds whole numbers"),
        (lambda: len(forget_return()), "This value is None"),
        (lambda: np.zeross(3), "no zeross in numpy"),
        (change_a_tuple, "A tuple cannot be changed"),
        (lambda: np.stack([np.ones(2), np.ones(3)]), "use concat or concatenate"),
        (lambda: np.concatenate([np.ones((2, 2)), np.ones((2, 3))]), "Is it the right axis?"),
        (lambda: {"kind": 1}.kind, 'with brackets: ["kind"]'),
        (lambda: float(None), "A function that works in place"),
        (change_a_parameter, "with torch.no_grad()"),
        (add_a_request, "call its wait() first"),
        (append_and_assign, "A list's append changes the list and returns None"),
        (lambda: rank, "The communicator knows it: comm.rank."),  # noqa: F821
        (lambda: len(zip([1])), "Make a list of it"),
        (lambda: map(int, "12")[0], "Make a list of it"),
        (lambda: np.split(np.ones(10), 4), "np.array_split also cuts"),
        (lambda: list(3), "use range(n)"),
        (lambda: describe(1, 2), "describe takes 1 argument, and 2 were passed."),
        (lambda: np.ones(3) ^ 2, "Write ** for a power"),
        (lambda: 0.5 ^ 2, "Write ** for a power"),
        (lambda: 1 if np.ones(3) > 0 else 2, "neither true nor false"),
        (lambda: forget_return() * 2.0, "One of the two values is None"),
        (lambda: 2.0 - forget_return(), "One of the two values is None"),
        (lambda: forget_return()[0], "This value is None"),
        (lambda: forget_return().shape, "This value is None"),
        (call_a_number, "a value of type float, not a function"),
        (lambda: needs_two(1), "The call of needs_two lacks 'y'."),
        (lambda: needs_two(1, z=2), "needs_two has no parameter with the name z"),
        (lambda: needs_two(1, 2, 3), "needs_two takes 2 arguments, and 3 were passed"),
        (lambda: range(4 / 2), "A whole number is needed"),
        (lambda: [1, 2, 3][: 4 / 2], "A whole number is needed"),
        (lambda: np.ones(3)[1.0], "An index must be a whole number"),
        (read_too_early, "total is used before it gets a value"),
        (lambda: gama, "There is no gama here"),  # noqa: F821
        (lambda: 1 / 0, "divided by 0"),
        (lambda: recurse(0), "calls itself"),
        (lambda: {}["R"], "no key 'R'"),
        (convert_a_tensor, "x.detach().cpu().numpy()"),
    ],
)
def test_an_error_is_explained(function, words):
    with pytest.raises(Exception) as caught:
        function()
    assert words in describe("".join(traceback.format_exception_only(caught.value)).strip())


def test_an_error_that_is_not_known_has_no_words():
    assert describe("ValueError: only for even sizes") == ""


def test_no_sentence_names_a_group_that_its_pattern_lacks():
    import re

    for pattern, sentence in MEANINGS:
        groups = re.compile(pattern).groups
        assert sentence.format(*["x"] * groups).endswith((".", "?"))
