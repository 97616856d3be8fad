"""What a check asks of a call besides its value, here and where hand-ins are graded."""

import numpy as np
import pytest
import torch

from autograder.examination.checks import run_check
from autograder.examination.kernel import Kernel
from course.checks import call, call_on_ranks, is_close

GIVEN = """
import numpy as np


def centred(x):
    return x - x.mean()


def centred_in_place(x):
    x -= x.mean()
    return x.copy()


def first_rows(x, n):
    return x[:n]


def appended(xs):
    xs.append(1)
    return len(xs)


def step(comm, weights, gamma):
    return [w - gamma for w in weights]


def step_in_place(comm, weights, gamma):
    for w in weights:
        w -= gamma
    return [w.copy() for w in weights]


def mean_of_7_digits(x):
    return np.float32(x.mean())


def nested(theta, pairs):
    pairs[0][1][0] = 7
    return 1.0


def called_back(function, x):
    return function(x) + 1


def draws(seed):
    return np.random.default_rng(seed).normal()


def draws_globally(seed):
    np.random.seed(seed)
    return np.random.normal()


def unfinished(x):
    raise NotImplementedError("still empty")
"""
CHECK = "import numpy as np\nfrom course.checks import call, call_on_ranks, call_seeded\nx = np.arange(3.0)\n"
CASES = [  # the last line of a check, and words of its hint
    ("assert call(centred, x, new=True).tolist() == [-1, 0, 1]", None),
    ("call(centred_in_place, x)", "`centred_in_place` changes `x`"),
    ("call(centred_in_place, x=x)", "`centred_in_place` changes `x`"),
    ("assert call(first_rows, x, 2).tolist() == [0, 1]", None),
    ("call(first_rows, x, 2, new=True)", "`first_rows` returns `x` itself"),
    ("call(appended, [2])", "`appended` changes `xs`"),
    ("run = call_on_ranks(step, [[x], [x]], gamma=1, new=True)\nassert run[1][0].tolist() == [-1, 0, 1]", None),
    ("assert call_on_ranks(step, [[x]], gamma=1).trace.messages_sent.tolist() == [0]", None),
    ("call_on_ranks(step_in_place, [[x], [x]], gamma=1)", "`step_in_place` changes `weights`"),
    ("assert call(lambda a: a.sum(), x) == 3", None),
    ("call(nested, 1, [(1, x)])", "`nested` changes `pairs`"),
    ("assert call(called_back, lambda a: 2 * a, x).tolist() == [1, 3, 5]", None),
    ("call(mean_of_7_digits, x.astype(np.float32))", None),
    ("call(mean_of_7_digits, x)", "`mean_of_7_digits` returned float32, which keeps about 7 digits"),
    ("assert call(mean_of_7_digits, x, float32=True) == 1", None),
    ("call(lambda a: a.astype(np.float16), x, float32=True)", "returned float16"),
    ("assert call_seeded(draws, 1) == call(draws, 1)", None),
    ("call(draws_globally, 1)", None),
    ("call_seeded(draws_globally, 1)", "`draws_globally` used NumPy's global generator"),
    ("call(unfinished, x)", "still empty"),
]


@pytest.fixture(scope="module")
def kernel():
    with Kernel(unsafe=True) as kernel:
        kernel.run(GIVEN, 60)
        yield kernel


@pytest.mark.parametrize(("line", "words"), CASES)
def test_a_call_is_observed_on_a_student_s_machine(line, words):
    names = {}
    exec(GIVEN + CHECK, names)
    hint = ""
    try:
        exec(line, names)
    except (AssertionError, NotImplementedError) as error:
        hint = str(error)
    assert (words or "") in hint and bool(words) == bool(hint)
    assert names["x"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(("line", "words"), CASES)
def test_a_call_is_observed_where_hand_ins_are_graded(kernel, line, words):
    hint = run_check(CHECK + line + "\nassert x.tolist() == [0, 1, 2]", kernel, 60)
    assert (words or "") in (hint or "") and bool(words) == bool(hint)


def test_tensors_are_observed_too():
    x = torch.ones(2, requires_grad=True)
    assert call(lambda x: x + 1, x, new=True).tolist() == [2, 2]
    with pytest.raises(AssertionError, match="returns `x` itself"):
        call(lambda x: x.view(1, 2), x, new=True)
    with pytest.raises(AssertionError, match="changes `x`"):
        call(lambda x: x.detach().add_(1).sum(), x)


def test_a_tensor_of_bfloat16_is_observed_by_its_bits():
    x = torch.ones(2, dtype=torch.bfloat16)
    assert call(lambda x: x * 2, x, new=True).tolist() == [2, 2]
    with pytest.raises(AssertionError, match="changes `x`"):
        call(lambda x: x.add_(1).sum(), x)


def test_numpys_generator_is_as_it_was_unless_the_function_used_it():
    np.random.seed(3)
    before = np.random.get_state()[1].tolist()
    call(lambda x: x + 1, np.ones(2))
    assert np.random.get_state()[1].tolist() == before


def test_a_rank_that_returns_its_own_array_is_found():
    with pytest.raises(AssertionError, match="returns `x` itself"):
        call_on_ranks(lambda comm, x: x, [np.ones(2)], new=True)


def test_close_means_float64_and_the_same_shape():
    right = np.array([1.0, 1 / 3])
    assert is_close(right * (1 + 1e-12), right)
    assert is_close(0.0, 0)
    for other in (np.float32(right), right[:1], right[None], right * np.nan, right + 1e-8):
        assert not is_close(other, right)


@pytest.mark.parametrize("dtype", [float, np.float32, int, np.complex128])
def test_an_entry_that_is_never_written_is_not_right_by_luck(dtype):
    def forgets_the_last(x):
        result = np.empty_like(x)
        result[:-1] = x[:-1] + 1
        return result

    x = np.arange(6).astype(dtype)
    for _ in range(20):
        x + 1  # the right result, in memory that is free afterwards
        assert not is_close(call(forgets_the_last, x), x + 1)


@pytest.mark.parametrize("count", [1, 4, 32])
def test_an_entry_of_a_small_result_is_not_right_by_luck_where_no_argument_has_its_size(count):
    for _ in range(20):
        np.arange(count) + 0.5  # the right result, in memory that is free afterwards
        assert not is_close(call(np.empty, count), np.arange(count) + 0.5)
