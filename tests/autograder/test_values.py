"""What crosses between a student's kernel and the grader is data, bounded in every direction."""

import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from autograder import values

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
def test_what_is_no_value_is_refused_and_nothing_of_it_is_run(data):
    with pytest.raises(values.NotPlain):
        values.loads(data, lambda kind, key: pytest.fail("nothing to look up"))


def test_a_value_that_is_too_large_or_contains_itself_is_refused():
    with pytest.raises(values.NotPlain, match="64 MB"):
        values.dumps(np.zeros(9_000_000), no_handle)
    loop = []
    loop.append(loop)
    with pytest.raises(values.NotPlain, match="too deeply"):
        values.dumps(loop, no_handle)
