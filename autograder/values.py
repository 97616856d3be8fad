"""Plain values as tagged JSON: the only thing that crosses between a student's kernel and the grader.

The same text runs on both sides: the grader imports it, and `kernel.py` puts it into the kernel beside `agent.py`, so
it may import nothing but the standard library and numpy. Numbers, strings, bytes, None, lists, tuples, sets, dicts and
arrays cross by value (a subclass arrives as its base type). Anything else stays where it is and crosses as a handle.
Nothing is pickled or executed in either direction, and what is decoded is bounded in bytes, nodes and depth.
"""

import base64
import json
import re

import numpy as np

MAX_BYTES = 64 * 2**20
MAX_NODES = 1_000_000
MAX_DEPTH = 60
TOO_MANY = "the value has more than a million parts"
ARRAY_DTYPE = re.compile(r"[<>|=]?(b1|[iuf][1248]|f16|c8|c16|c32|[SU]\d{1,6}|[mM]8(\[\w+\])?)")


class NotPlain(Exception):
    """A value that is too large, too deep or too odd to cross."""


def dumps(value, handle):
    """`value` as text; `handle(object)` gives the JSON for what is not plain."""
    budget = [MAX_NODES, MAX_BYTES]
    return json.dumps(encode(value, handle, budget, 0), ensure_ascii=True)


def loads(text, resolve):
    """The value that `text` describes; `resolve(kind, key)` gives the object that a handle stands for.

    Raises NotPlain for text that is no value or breaks a bound, whatever it holds.
    """
    if len(text) > 2 * MAX_BYTES:
        raise NotPlain("the value is larger than 64 MB")
    try:
        return decode(json.loads(text), resolve, [MAX_NODES], 0)
    except NotPlain:
        raise
    except (
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        RecursionError,
        OverflowError,
        MemoryError,
    ) as error:
        raise NotPlain(f"the value could not be read ({type(error).__name__})") from None


def spend(budget, depth, size=0):
    """Count one node, and `size` bytes where the budget has a second entry."""
    budget[0] -= 1
    if budget[0] < 0:
        raise NotPlain(TOO_MANY)
    if depth > MAX_DEPTH:
        raise NotPlain("the value is nested too deeply")
    if len(budget) > 1:
        budget[1] -= size
        if budget[1] < 0:
            raise NotPlain("the value is larger than 64 MB")


def encode(value, handle, budget, depth):
    """The JSON for one value; see `dumps`."""
    spend(budget, depth)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, np.generic | np.ndarray):
        return encode_array(value, handle, budget, depth)
    if isinstance(value, int):
        value = int(value)
        return value if abs(value) < 2**63 else ["i", hex(value)]
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        spend(budget, depth, len(value))
        return str(value)
    if isinstance(value, complex):
        return ["c", value.real, value.imag]
    if isinstance(value, bytes | bytearray):
        spend(budget, depth, len(value))
        return ["b", base64.b64encode(value).decode()]
    if isinstance(value, list | tuple | set | frozenset | dict) and len(value) > budget[0]:
        raise NotPlain(TOO_MANY)  # before a second is spent on its parts
    for tag, kind in (("l", list), ("t", tuple), ("s", set), ("z", frozenset)):
        if isinstance(value, kind):
            return [tag, *(encode(item, handle, budget, depth + 1) for item in value)]
    if isinstance(value, dict):
        pairs = list(value.items())
        return [
            "d",
            *([encode(k, handle, budget, depth + 1), encode(v, handle, budget, depth + 1)] for k, v in pairs),
        ]
    return ["h", *handle(value)]


def encode_array(value, handle, budget, depth):
    """An array or a NumPy scalar as dtype, shape and bytes in C order."""
    array = np.asarray(value)
    if not ARRAY_DTYPE.fullmatch(array.dtype.str):
        return ["h", *handle(value)]
    spend(budget, depth, array.nbytes)
    raw = base64.b64encode(array.tobytes()).decode()
    return ["n" if isinstance(value, np.generic) else "a", array.dtype.str, list(array.shape), raw]


def decode(data, resolve, budget, depth):
    """The value of one piece of JSON; see `loads`."""
    spend(budget, depth)
    if data is None or isinstance(data, bool | int | float | str):
        return data
    if not isinstance(data, list) or not data:
        raise NotPlain("the value has an unknown form")
    tag, *rest = data
    if tag in ("l", "t", "s", "z"):
        items = [decode(item, resolve, budget, depth + 1) for item in rest]
        return {"l": list, "t": tuple, "s": set, "z": frozenset}[tag](items)
    if tag == "d":
        return {
            decode(key, resolve, budget, depth + 1): decode(value, resolve, budget, depth + 1) for key, value in rest
        }
    if tag in ("a", "n"):
        return decode_array(*rest, scalar=tag == "n")
    if tag == "i":
        return int(rest[0], 16)
    if tag == "c":
        return complex(float(rest[0]), float(rest[1]))
    if tag == "b":
        return base64.b64decode(rest[0], validate=True)
    if tag == "h":
        kind, key = rest
        return resolve(str(kind), key)
    raise NotPlain("the value has an unknown form")


def decode_array(dtype, shape, raw, scalar):
    """A writable array of its own memory, or the NumPy scalar."""
    if not ARRAY_DTYPE.fullmatch(dtype) or len(shape) > 32 or any(n < 0 for n in shape):
        raise NotPlain("the array has an unknown form")
    data = base64.b64decode(raw, validate=True)
    array = np.frombuffer(data, dtype=np.dtype(dtype)).reshape(shape).copy()
    return array[()] if scalar else array
