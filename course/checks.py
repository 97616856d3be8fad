"""What checks ask of a call besides its value: that arguments keep their values, new arrays, and full precision.

    got = call(centre, x)            # what centre(x) returns; a hint where it changes x or rounds to float32
    got = call(centre, x, new=True)  # and a hint where it returns x itself, or a part of it
    got = call(unpack, x, float32=True)  # where the task asks for float32
    got = call_seeded(start, seed)   # what start(seed) returns; a hint where it uses NumPy's global generator
    run = call_on_ranks(ring, xs)    # as `call`, on simulated ranks, as `spmd` runs them
    part, callers = watch(tally)     # `part` does what `tally` does, also on engines; `callers` is a list that
                                     # gets, for each call, the number of the engine that made it, None: no engine
    assert is_close(got, right)      # as exact as float64 is; float32 is not

A call gets copies, so a check's own arrays never change. When hand-ins are graded, the function is in another process
and is observed there (`make_calls`), and names in what comes back are what the student's process says they are.
"""

import functools
import inspect
import sys

import numpy as np

from course import callers
from course.spmd import spmd

PRECISION = 1e-9  # of the largest entry: far above the rounding of float64, far below that of float32
HUGE = 0x7F  # a byte; a number made of such bytes is close to the largest of its type, or NaN
SPOILED = 2**16  # bytes: filling the memory of larger arrays takes too long
SMALL = range(8, 257, 8)  # bytes of arrays of up to 32 numbers in float64
KEPT = 8  # arrays of each size, since NumPy keeps 7 freed blocks per size to use again
DIGITS = {"float32": 7, "float16": 3}


def observe(function, args, kwargs):
    """Call function(*args, **kwargs); returns the call as a dict.

    value: what the function returned. name: the function's. changed, returned: names of the parameters whose value was
    changed, and of those that share memory with an array of the value. narrow: "float32" or "float16" if numbers of the
    value are of this dtype and none of the arguments is, else None. draws: whether NumPy's global generator was used.
    Arrays may lie in lists, tuples and dicts.
    """
    given = name_arguments(function, args, kwargs)
    before = {name: take_snapshot(value) for name, value in given.items()}
    found, narrow = np.random.get_state(), find_narrow(given)
    np.random.random()  # otherwise a function that seeds would leave the state in which its last call left it
    state = take_snapshot(np.random.get_state())
    spoil_free_memory(given)
    value = function(*args, **kwargs)
    draws = take_snapshot(np.random.get_state()) != state
    if not draws:
        np.random.set_state(found)
    results = list(find_arrays(value))
    return {
        "value": value,
        "name": getattr(function, "__name__", "the function"),
        "changed": [name for name in given if take_snapshot(given[name]) != before[name]],
        "returned": [
            name
            for name in given
            if any(np.may_share_memory(one, other) for one in find_arrays(given[name]) for other in results)
        ],
        "narrow": None if narrow else find_narrow(value),
        "draws": draws,
    }


def make_observed(function):
    """Return a function of the same name that calls `function` and returns what `observe` returns."""

    @functools.wraps(function)
    def observed(*args, **kwargs):
        return observe(function, args, kwargs)

    return observed


def make_calls(find_module, spmd, is_known=lambda name: True):
    """Return `call`, `call_seeded` and `call_on_ranks`.

    find_module(function): this module, in the process that has the function. is_known(name): whether a hint may contain
    this name, which comes from that process.
    """

    def hide(seen):
        """Return what `observe` has returned, without names that are not known."""
        name = seen["name"] if is_known(seen["name"]) else "the function"
        changed, returned = (
            [each if is_known(each) else "an argument" for each in seen[key]] for key in ("changed", "returned")
        )
        narrow = seen["narrow"] if isinstance(seen["narrow"], str) and seen["narrow"] in DIGITS else None
        return seen | {"name": name, "changed": changed, "returned": returned, "narrow": narrow}

    def call(function, *args, new=False, float32=False, **kwargs):
        """Return function(*args, **kwargs), called with copies.

        AssertionError where it changes an argument, or where the result has numbers of float32 or float16 and no
        argument has. new: also where the result shares memory with an argument. float32: the task asks for float32.
        """
        return judge(
            hide(find_module(function).observe(function, copy_arrays(args), copy_arrays(kwargs))), new, float32
        )

    def call_seeded(function, *args, **kwargs):
        """Return function(*args, **kwargs), called with copies; AssertionError where it uses the global generator."""
        seen = hide(find_module(function).observe(function, copy_arrays(args), copy_arrays(kwargs)))
        assert not seen["draws"], (
            f"`{seen['name']}` used NumPy's global generator, as `np.random.permutation(n)` or `np.random.seed(0)` do. "
            "Draw from the generator of the task only, as `rng.permutation(n)` does: then no other code can change the "
            "numbers you get."
        )
        return seen["value"]

    def call_on_ranks(function, *args, new=False, float32=False, carrier="simulated", **kwargs):
        """Return the Run of spmd(function, *args, carrier=carrier, **kwargs); the rest as in `call`."""
        run = spmd(find_module(function).make_observed(function), *args, carrier=carrier, **kwargs)
        return type(run)([judge(hide(seen), new, float32) for seen in run], run.trace)

    return call, call_seeded, call_on_ranks


def judge(seen, new, float32=False):
    """Return the value in what `observe` has returned; AssertionError as in `call`."""
    names = {key: ", ".join(f"`{name}`" for name in seen[key]) for key in ("changed", "returned")}
    assert not names["changed"], (
        f"`{seen['name']}` changes {names['changed']}, which the caller still needs. Compute in a new array, x - a and "
        "not x -= a, or work on a copy."
    )
    assert not (new and names["returned"]), (
        f"`{seen['name']}` returns {names['returned']} itself, or a part of it: what the caller does to the result "
        "would happen to the argument too. Return a new array or a copy."
    )
    narrow = seen["narrow"]
    assert narrow is None or (float32 and narrow == "float32"), (
        f"`{seen['name']}` returned {narrow}, which keeps about {DIGITS[narrow]} digits. Leave the numbers in "
        "float64, NumPy's default."
    )
    return seen["value"]


call, call_seeded, call_on_ranks = make_calls(lambda function: sys.modules[__name__], spmd)


def make_watch(find_module):
    """Return `watch`. find_module: returns `course.callers`, in the process whose engines will call the function."""

    def watch(function):
        """Return (function, numbers): a copy that engines can call, and a list of who has called it so far.

        The list has one entry per call: the number of the engine, or None if the call was made in the notebook. It is
        kept by the process that runs the check: when hand-ins are graded, by the grader's.
        """
        numbers = []
        return find_module().notify(function, numbers.append), numbers

    return watch


watch = make_watch(lambda: callers)


def is_close(got, right):
    """Whether two numbers or arrays have the same shape and are equal up to the rounding of float64; NaN never is."""
    got, right = np.asarray(got), np.asarray(right)
    scale = np.abs(right).max(initial=0) or 1
    return got.shape == right.shape and bool(np.all(np.abs(got - right) <= PRECISION * scale))


def name_arguments(function, args, kwargs):
    """Parameter -> argument; by position where the signature is unknown."""
    try:
        return inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return {f"argument {number}": value for number, value in enumerate(args, 1)} | kwargs


def copy_arrays(value):
    """Return `value` with copies of the arrays and tensors in it."""
    if type(value) in (list, tuple):
        return type(value)(map(copy_arrays, value))
    if type(value) is dict:
        return {key: copy_arrays(each) for key, each in value.items()}
    if hasattr(value, "detach"):
        return value.detach().clone().requires_grad_(value.requires_grad)
    return value.copy() if isinstance(value, np.ndarray) else value


def find_arrays(value):
    """Yield the arrays in `value`; a tensor is an array on the same memory."""
    if isinstance(value, list | tuple | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from find_arrays(each)
    elif isinstance(value, np.ndarray):
        yield value
    elif hasattr(value, "detach"):
        yield as_array(value)


def as_array(tensor):
    """Return an array on the memory of a tensor; of bfloat16, which NumPy does not have, the bits."""
    tensor = tensor.detach().cpu()
    torch = sys.modules["torch"]
    return (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy()


def spoil_free_memory(given):
    """Fill the memory that np.empty will probably return for small arrays, and for arrays of the sizes in `given`.

    Otherwise an entry that the function never writes could be right by luck: it may hold the result of an earlier call.
    """
    for size in {array.nbytes for array in find_arrays(list(given.values()))}.union(SMALL):
        if size <= SPOILED:
            blocks = [np.empty(size, np.uint8) for _ in range(KEPT)]
            for block in blocks:
                block.fill(HUGE)
            del block, blocks


def find_narrow(value):
    """Return "float32" or "float16", whichever is first in `value`, None if there is neither."""
    if isinstance(value, list | tuple | dict):
        found = map(find_narrow, value.values() if isinstance(value, dict) else value)
        return next(filter(None, found), None)
    if hasattr(value, "detach"):
        value = as_array(value)
    return value.dtype.name if isinstance(value, np.ndarray | np.generic) and value.dtype.name in DIGITS else None


def take_snapshot(value):
    """Return the numbers in `value` in a form that can be compared; other objects count as equal."""
    if isinstance(value, list | tuple):
        return [take_snapshot(each) for each in value]
    if isinstance(value, dict):
        return {key: take_snapshot(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if hasattr(value, "detach"):
        return take_snapshot(as_array(value))
    return repr(value) if isinstance(value, int | float | complex | str | np.generic) else None
