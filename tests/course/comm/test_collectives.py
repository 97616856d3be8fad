"""Every collective of lab 04's solution against NumPy: any number of ranks up to 9, any root, size and type."""

import functools
import operator
import sys

import cloudpickle
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.labs import build
from course.spmd import spmd

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # as a notebook's functions are: engines have no tests

MOST = {"simulated": 9, "local": 4, "torch": 4, "mpi": 4}
EXAMPLES = {"simulated": 150, "local": 8, "torch": 4, "mpi": 4}  # a run on engines takes about 30 ms


@pytest.fixture(scope="module")
def lab():
    """The names that the cells of the lab's tasks and of its given functions define."""
    names = {"np": np, "__name__": "lab_04"}  # not a module that engines can import, so its functions travel by value
    for cell in build.solved("04-collectives").cells:
        its = cell.metadata.get("nbgrader", {})
        if (
            cell.cell_type == "code"
            and not its.get("grade")
            and (its.get("solution") or cell.source.startswith("def "))
        ):
            exec(cell.source, names)
    return names


class Case:
    """Ranks, a root and one array per rank, of one shape and dtype: small whole numbers, so that sums are exact."""

    def __init__(self, ranks, root, shape, dtype, seed):
        self.ranks, self.root = ranks, root % ranks
        numbers = np.random.default_rng(seed)
        self.xs = [numbers.integers(0, 9, shape).astype(dtype) for _ in range(ranks)]

    def __repr__(self):
        return f"{self.ranks} ranks, root {self.root}, {self.xs[0].shape} of {self.xs[0].dtype}"

    def parts(self, of):
        return np.array_split(of, self.ranks)


def cases(most):
    shapes = st.one_of(st.tuples(st.integers(0, 20)), st.tuples(st.integers(0, 20), st.integers(0, 3)))
    dtypes = st.sampled_from(["int64", "float32", "float64", "complex64", "uint8"])
    return st.builds(Case, st.integers(1, most), st.integers(0, 8), shapes, dtypes, st.integers(0, 99))


def check_all(carrier, test):
    """Try `test` on many cases, as many as the carrier can carry out in a few seconds."""
    quietly = settings(
        max_examples=EXAMPLES[carrier],
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    quietly(given(cases(MOST[carrier]))(test))()


def are(got, expected):
    """Whether the ranks have these arrays, with the same dtypes; None stands for no array."""
    assert len(got) == len(expected)
    for mine, right in zip(got, expected, strict=True):
        assert (mine is None) == (right is None)
        if right is not None:
            np.testing.assert_array_equal(mine, right, strict=True)


def only(case, value):
    """`value` for the root, None for the others."""
    return [value if rank == case.root else None for rank in range(case.ranks)]


def keep_first(a, b):
    """An operation that does not commute: entries of `a`, but where they are 0 those of `b`."""
    return np.where(a == 0, b, a)


@pytest.mark.parametrize("name", ["broadcast_loop", "broadcast_tree", "broadcast_line"])
def test_broadcast(carrier, lab, name):
    def right(case):
        run = spmd(lab[name], case.xs, carrier=carrier, root=case.root)
        are(run, [case.xs[case.root]] * case.ranks)
        assert run.trace.messages_sent.sum() == case.ranks - 1

    check_all(carrier, right)


def test_scatter_and_gather(carrier, lab):
    def right(case):
        whole = case.xs[0]
        empty = [np.zeros_like(part) for part in case.parts(whole)]
        run = spmd(lab["scatter"], only(case, whole), empty, carrier=carrier, root=case.root)
        are(run, case.parts(whole))
        run = spmd(lab["gather"], list(run), only(case, np.zeros_like(whole)), carrier=carrier, root=case.root)
        are(run, only(case, whole))
        assert run.trace.bytes_sent.sum() == whole.nbytes - case.parts(whole)[case.root].nbytes

    check_all(carrier, right)


@pytest.mark.parametrize("op", [operator.add, np.maximum, keep_first], ids=["add", "maximum", "keep first"])
def test_reduce_all_reduce_and_reduce_scatter(carrier, lab, op):
    def right(case):
        total = functools.reduce(op, case.xs)
        are(spmd(lab["reduce"], case.xs, carrier=carrier, op=op, root=case.root), only(case, total))
        are(spmd(lab["all_reduce"], case.xs, carrier=carrier, op=op), [total] * case.ranks)
        are(spmd(lab["reduce_scatter"], case.xs, carrier=carrier, op=op), case.parts(total))

    check_all(carrier, right)


def test_all_gather(carrier, lab):
    def right(case):
        whole = case.xs[0]
        wholes = [np.zeros_like(whole) for _ in range(case.ranks)]
        are(spmd(lab["all_gather"], case.parts(whole), wholes, carrier=carrier), [whole] * case.ranks)

    check_all(carrier, right)


def test_all_to_all(carrier, lab):
    def right(case):
        rows = [np.stack([x + dest for dest in range(case.ranks)]) for x in case.xs]
        run = spmd(lab["all_to_all"], rows, carrier=carrier)
        are(run, [np.stack([x[dest] for x in rows]) for dest in range(case.ranks)])
        assert run.trace.messages_sent.tolist() == [case.ranks - 1] * case.ranks

    check_all(carrier, right)


def test_matrix_products_are_kept_in_the_order_of_ranks(carrier, lab):
    matrices = [np.array([[1.0, rank], [0, 2]]) for rank in range(MOST[carrier])]
    run = spmd(lab["all_reduce"], matrices, carrier=carrier, op=np.matmul)
    are(run, [np.linalg.multi_dot(matrices)] * len(matrices))
