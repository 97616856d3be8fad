"""Mutants are small changes, each as its operator says, and running none of them is needed to make them."""

import ast
import contextlib

import numpy as np
import pytest

from autograder.authoring.mutants import NO_CHANGE, OPERATORS, make_mutants

CASES = [  # operator, statement, what it becomes
    ("off_by_one", "x = y[2]", "x = y[3]"),
    ("off_by_one", "x = y[2]", "x = y[1]"),
    ("off_by_one", "for i in range(1, n):\n    f(i)", "for i in range(1, n - 1):"),
    ("off_by_one", "x = y[a:b]", "x = y[a + 1:b]"),
    ("off_by_one", "x = y[a:b]", "x = y[a:b - 1]"),
    ("swapped_comparison", "x = a < b", "x = a <= b"),
    ("swapped_comparison", "while a != b:\n    f(a)", "while a == b:"),
    ("swapped_arithmetic", "x = a + b", "x = a - b"),
    ("swapped_arithmetic", "x += b", "x -= b"),
    ("swapped_arithmetic", "x = a and b", "x = a or b"),
    ("dropped_line", "x = a", "pass"),
    ("dropped_line", "f(x)", "pass"),
    ("fixed_condition", "if a:\n    f(x)", "if False:"),
    ("dropped_sign", "x = -a", "x = a"),
    ("dropped_sign", "x = not a", "x = a"),
    ("in_place", "y = x * 2.0", "y = _numpy.multiply(x, 2.0, out=x)"),
    ("out_of_place", "x += b", "x = _array(x) + b"),
    ("dropped_copy", "x = y.copy()", "x = y"),
    ("dropped_copy", "x = np.empty_like(y)", "x = y"),
    ("other_generator", "x = rng.permutation(n)", "x = _numpy.random.permutation(n)"),
    ("other_generator", "rng = np.random.default_rng(seed)", "rng = np.random.default_rng(0)"),
    ("other_function", "x = np.mean(y)", "x = np.sum(y)"),
    ("swapped_arguments", "f(a, b, c)", "f(b, a, c)"),
    ("dropped_keyword", "f(a, axis=k)", "f(a)"),
    ("rank_0", "x = comm.rank", "x = 0"),
    ("rank_0", "f(root)", "f(0)"),
]


@pytest.mark.parametrize(("operator", "statement", "expected"), CASES)
def test_an_operator_changes_a_statement_as_it_says(operator, statement, expected):
    mutants = [mutant for mutant in make_mutants(statement) if mutant.operator == operator]
    assert expected in [mutant.after for mutant in mutants]
    assert {mutant.before for mutant in mutants} == {ast.unparse(ast.parse(statement)).splitlines()[0]}


def test_every_operator_has_a_case():
    assert {operator.__name__ for operator in OPERATORS} - {"rounded"} == {operator for operator, *_ in CASES}


@pytest.mark.parametrize("digits", ["float32", "float16"])
def test_a_returned_float_is_rounded_and_where_there_is_none_the_mutant_says_so(digits):
    (mutant,) = [each for each in make_mutants("def f(x):\n    return x") if digits in each.after]
    names = {}
    exec(mutant.source, names)
    assert names["f"](np.array([0.1])).dtype == digits and type(names["f"](0.1)) is getattr(np, digits)
    for value in (3, "text", None, np.array([1])):
        with pytest.raises(TypeError, match=NO_CHANGE):
            names["f"](value)


@pytest.mark.parametrize(
    ("start", "applies"), [("np.zeros(2)", True), ("[]", True), ("0", False), ("np.float64(1)", False)]
)
def test_a_sum_that_is_no_longer_taken_in_place_is_a_change_of_arrays_and_lists_alone(start, applies):
    lines = f"x = {start}\nx += type(x)([1]) if isinstance(x, list) else 1"
    (mutant,) = [each for each in make_mutants(lines) if each.operator == "out_of_place"]
    with contextlib.nullcontext() if applies else pytest.raises(TypeError, match=NO_CHANGE):
        exec(mutant.source, {"np": np})


def test_dropping_the_guard_of_zip_is_no_mutant():
    assert not [each for each in make_mutants("zip(a, b, strict=True)") if each.operator == "dropped_keyword"]


def test_mutants_differ_from_their_source_and_from_each_other_and_compile():
    source = "def f(comm, x, root=0):\n    y = x.copy()\n    if comm.rank == root:\n        y += 1\n    return y / 2\n"
    texts = [mutant.source for mutant in make_mutants(source)]
    assert len(texts) == len(set(texts)) > 10 and ast.unparse(ast.parse(source)) not in texts
    assert all(compile(text, "mutant", "exec") for text in texts)


def test_a_text_without_anything_to_change_has_no_mutants():
    assert make_mutants("def f():\n    '''A text.'''\n") == []
