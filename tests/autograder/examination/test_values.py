"""Only data crosses between a student's kernel and the grader, and it is limited in every direction."""

import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from autograder.examination import values
from course.comm.hang import FailureReport
from course.comm.trace import Trace
from course.spmd import Run, spmd

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.complex_numbers(allow_nan=False)
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=20,
)
arrays = st_numpy.arrays(
    st_numpy.scalar_dtypes().filter(lambda d: values.ARRAY_DTYPE.fullmatch(d.str) is not None),
    st_numpy.array_shapes(min_dims=0, min_side=0),
)


def no_handle(value):
    raise AssertionError(f"{value!r} is plain")


def crossed(value):
    return values.loads(values.dumps(value, no_handle), None)


@given(plain)
def test_a_plain_value_arrives_as_it_was(value):
    there = crossed(value)
    assert there == value and type(there) is type(value)


@given(arrays)
def test_an_array_arrives_with_its_dtype_shape_and_bits(array):
    there = crossed(array)
    assert there.dtype == array.dtype and there.shape == array.shape
    assert there.tobytes() == array.tobytes() and there.flags.writeable


def test_nan_infinity_and_numpy_scalars_arrive():
    assert math.isnan(crossed(math.nan)) and crossed(-math.inf) == -math.inf
    assert type(crossed(np.float32(1.5))) is np.float32


def test_a_subclass_arrives_as_its_base_type():
    class Sly(float):
        def __eq__(self, other):
            return True

    assert type(crossed(Sly(2))) is float


def test_an_array_of_objects_is_not_plain():
    assert values.loads(values.dumps(np.array([{}]), lambda v: ("ndarray", 1)), lambda kind, key: kind) == "ndarray"


@pytest.mark.parametrize(
    "data",
    [
        "",
        "{}",
        "[]",
        '["?"]',
        '["a", "O", [1], ""]',
        '["a", "<f8", [3], "AAAA"]',
        '["a", "<f8", [-1], ""]',
        '["a", "<f8", [1000000000000], ""]',
        '["i", "zz"]',
        '["b", "é"]',
        '["d", 1]',
        '["d", [["l"], 1]]',
        '["h", 1]',
        "[" * 3_000_000,
        json.dumps(["l"] + [0] * 1_000_001),
        '["l",' * 100 + "1" + "]" * 100,
        pickle.dumps({}).hex(),
    ],
)
def test_a_text_that_is_no_value_is_refused_and_nothing_of_it_is_run(data):
    with pytest.raises(values.NotPlain):
        values.loads(data, lambda kind, key: pytest.fail("nothing to look up"))


def test_a_value_that_is_too_large_or_contains_itself_is_refused():
    with pytest.raises(values.NotPlain, match="64 MB"):
        values.dumps(np.zeros(9_000_000), no_handle)
    loop = []
    loop.append(loop)
    with pytest.raises(values.NotPlain, match="too deeply"):
        values.dumps(loop, no_handle)


def ring(comm, x):
    got = np.empty_like(x)
    return comm.sendrecv(x, (comm.rank + 1) % comm.size, recvbuf=got, source=(comm.rank - 1) % comm.size)


@pytest.fixture
def run():
    return spmd(ring, [np.full(3, float(r)) for r in range(4)], carrier="simulated")


def test_a_run_arrives_as_a_run_with_a_trace(run):
    there = crossed({"deep": [run]})["deep"][0]
    assert type(there) is Run and [got[0] for got in there] == [3, 0, 1, 2]
    assert type(there.trace) is Trace and there.trace.to_plain().keys() == run.trace.to_plain().keys()
    for name, value in vars(run.trace).items():
        np.testing.assert_array_equal(getattr(there.trace, name), value)


def test_a_result_that_is_not_plain_stays_a_handle(run):
    there = values.loads(
        values.dumps(Run([object()], run.trace), lambda v: ("object", 7)), lambda kind, key: (kind, key)
    )
    assert there[0] == ("object", 7)


def test_a_report_arrives_as_a_report():
    report = FailureReport("Rank 0 waits.", ["rank 0 waits", "rank 1 computes"], [0, 1])
    assert crossed(report) == report


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64", "bfloat16", "uint8"])
def test_a_tensor_arrives_with_its_dtype_shape_and_elements(dtype):
    torch = pytest.importorskip("torch")
    tensor = torch.arange(6).reshape(2, 3).to(getattr(torch, dtype)).T
    there = crossed(tensor)
    assert there.dtype == tensor.dtype and torch.equal(there, tensor)
    assert crossed(torch.ones((), requires_grad=True)).requires_grad
    assert crossed(torch.ones(2, dtype=torch.cfloat).conj()).tolist() == [1, 1]


def broken_traces(good):
    """`good`, the JSON of a trace, each time with one part made into something else, missing or too many."""
    junk = ["x", -1, 2**62, None, True, ["l"], ["d"], ["l", 1, 2], ["a", "<i8", [2], "AA=="], ["h", "object", 1]]
    junk += [["a", "<i8", [1], "AAAAAAAAAAA="], ["a", "<f8", [2, 2], "A" * 43 + "="], ["d", ["rank", 1]]]
    tag, (kind, *parts) = good
    for number, (name, _) in enumerate(parts):
        for other in junk:
            yield name, [tag, [kind, *parts[:number], [name, other], *parts[number + 1 :]]]
        yield name, [tag, [kind, *parts[:number], *parts[number + 1 :]]]
        yield name, [tag, [kind, *parts, [f"_{name}", 1]]]


def test_a_trace_of_any_other_form_is_refused_or_has_another_number_in_it(run):
    good = json.loads(values.dumps(run.trace, no_handle))
    taken = []
    for name, bad in broken_traces(good):
        try:
            trace = values.loads(json.dumps(bad), lambda kind, key: object())
        except values.NotPlain:
            continue
        taken.append(name)
        assert isinstance(getattr(trace, name), str | bool | int | float | None | np.ndarray)
    assert set(taken) <= {"carrier", "seconds", "full", "alpha", "beta", "step_bytes"}


def test_the_columns_of_a_trace_have_one_length(run):
    parts = run.trace.to_plain()
    parts["calls"] = parts["calls"] | {"rank": parts["calls"]["rank"][:-1]}
    with pytest.raises(values.NotPlain, match="calls has columns of different length"):
        values.rebuild("trace", parts)


@pytest.mark.parametrize(
    "data",
    [
        '["run"]',
        '["run", 1]',
        '["run", ["l", ["l"], ["l"]]]',
        '["run", ["t", ["l", 1], ["d"]]]',
        '["trace", ["d", ["ranks", 1000000], ["link_bytes", 1]]]',
        '["trace", ["d", ["ranks", 3], ["link_bytes", ["a", "<i8", [0], ""]]]]',
        '["trace", ["d"]]',
        '["report", ["d", ["cause", 1], ["lines", ["l"]], ["ring", ["l"]]]]',
        '["report", ["d", ["cause", "x"], ["lines", ["l", 1]], ["ring", ["l"]]]]',
        '["report", ["d", ["cause", "x"], ["lines", 1], ["ring", ["l"]]]]',
        '["report", 3]',
        '["tensor", false, false, 3]',
        '["tensor", false, true, ["a", "<i8", [1], "AAAAAAAAAAA="]]',
        '["tensor", false, false, ["a", "<U1", [1], "AAAAAA=="]]',
        '["tensor"]',
    ],
)
def test_a_text_that_is_no_run_trace_report_or_tensor_is_refused(data):
    with pytest.raises(values.NotPlain):
        values.loads(data, lambda kind, key: pytest.fail("nothing to look up"))
