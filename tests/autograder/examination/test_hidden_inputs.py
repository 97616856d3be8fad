"""What hidden tests pass to a student's function does not come back in the hint on an error that it raises."""

import pytest

from autograder.examination.checks import run_check
from autograder.examination.examine import Examination
from autograder.examination.kernel import Kernel

GIVEN = """
def keep(*given):
    return given[0] if len(given) == 1 else given

def tell(*given):
    raise ValueError(given)

def name(given):
    raise type("X" + given, (KeyError,), {})(given)

def look_up(given):
    return {}[given]

def rename(given):
    exec(compile(f"def {given}(): 1 / 0\\n{given}()", "ipykernel_x", "exec"))

def problem(given):
    from course.errors import Problem
    raise Problem(given)

def change(x):
    change.__name__ = repr(x)
    x *= 2
    return x

def change_on_ranks(comm, x):
    return change(x)

def on_ranks(comm, x):
    raise ValueError(x)

def with_tags(comm, x):
    comm.recv(x, source=(comm.rank + 1) % comm.size, tag=int(x[0]))
"""
SPMD = "from course.spmd import spmd\nimport numpy as np\nspmd({}, [np.array([471100.0])] * 2, carrier='simulated')"
CALL = "from course.checks import call, call_on_ranks\nimport numpy as np\n{}"
CALLS = {
    "arguments": ("tell(471100)", "ValueError (line 5 of `tell`: `raise ValueError(given)`)"),
    "a class": ("name('x471100')", "KeyError (line 8 of `name`"),
    "a key": ("look_up('x471100')", "KeyError (line 11 of `look_up`: `return {}[given]`)"),
    "a function": ("rename('x471100')", "ZeroDivisionError"),
    "of the course": ("problem('x471100')", "Problem (line 18 of `problem`"),
    "a value": ("int(keep('x471100'))", "ValueError"),
    "a name": (CALL.format("call(change, np.array([471100.0]))"), "`the function` changes `x`"),
    "a name on ranks": (
        CALL.format("call_on_ranks(change_on_ranks, [np.array([471100.0])])"),
        "`change_on_ranks` changes `x`",
    ),
    "a named run": (CALL.format("call_on_ranks(on_ranks, [np.array([471100.0])])"), "run: on_ranks on 1 ranks"),
    "ranks": (SPMD.format("on_ranks"), "Rank 0 raised ValueError (line 29 of `on_ranks`"),
    "tags": (SPMD.format("with_tags"), "Ranks 0 and 1 all wait to receive from one another"),
}
HIDDEN = "### BEGIN HIDDEN TESTS\n{}\n### END HIDDEN TESTS"


@pytest.fixture(scope="module")
def kernel():
    with Kernel() as kernel:
        kernel.run(GIVEN, 60)
        yield kernel


@pytest.mark.parametrize(("call", "words"), CALLS.values(), ids=CALLS)
def test_a_hint_on_an_error_in_a_hidden_test_has_its_class_and_line_and_not_what_was_passed(kernel, call, words):
    hint = run_check(HIDDEN.format(call), kernel, 30)
    assert words in hint and "4711" not in hint


def test_a_hint_on_an_error_in_the_visible_part_has_the_message(kernel):
    kernel.has_seen_hidden_tests = False
    hint = run_check(f"tell(1)\n{HIDDEN.format('tell(471100)')}", kernel, 30)
    assert hint == "your code raised ValueError: (1,) (line 5 of `tell`: `raise ValueError(given)`)"


def test_what_a_hidden_test_passed_before_is_not_told_by_a_visible_test_or_a_later_cell(kernel, mini):
    kernel.run("kept = []\ndef remember(x):\n    kept.append(x)", 30)
    assert run_check(HIDDEN.format("remember(471100)"), kernel, 30) is None
    hint = run_check("tell(kept_by())", kernel, 30)
    assert hint == "`kept_by` is not defined: its cell is empty, was deleted or raised an error."
    kernel.run("def recall():\n    raise RuntimeError(kept)", 30)
    hint = run_check("recall()", kernel, 30)
    assert "RuntimeError (line 2 of `recall`" in hint and "4711" not in hint
    cell = mini.solution.cells[-1]
    for text, words in (("raise ValueError(kept)", "left out"), ("def f(:", "invalid syntax (line 1)")):
        cell.source = text
        (output,) = Examination(kernel, 30, 600).run_in_kernel(cell, 30)
        assert words in output.evalue and "4711" not in output.ename + output.evalue
