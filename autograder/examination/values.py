"""Plain values as tagged JSON: the only thing that crosses between a student's kernel and the grader.

Written by hand, because pickle runs code while it decodes, and msgpack would still need every tag and limit below.

The same text runs on both sides: the grader imports it, and `kernel.py` puts it into the kernel beside `agent.py`, so
it imports only the standard library and NumPy. Numbers, strings, bytes, None, lists, tuples, sets, dicts and arrays
cross by value (a subclass arrives as its base type), and so do torch's tensors and what `course.spmd` returns or
raises: Run, Trace and FailureReport. Any other object stays where it is, and a handle crosses for it. Nothing is
executed in either direction, and what is decoded is limited in bytes, nodes and depth, and checked part by part.
"""

import base64
import importlib
import json
import re
import sys

import numpy as np

MAX_BYTES = 64 * 2**20
MAX_NODES = 1_000_000
MAX_DEPTH = 60
TOO_MANY = "the value has more than a million parts"
TOO_LARGE = "the value is larger than 64 MB"
MALFORMED = "the value has an unknown form"
OF_THE_COURSE = {
    "run": "course.spmd.Run",
    "trace": "course.comm.trace.Trace",
    "report": "course.comm.hang.FailureReport",
}
ARRAY_DTYPE = re.compile(r"[<>|=]?(b1|[iuf][1248]|f16|c8|c16|c32|[SU]\d{1,6}|[mM]8(\[\w+\])?)")


class NotPlain(Exception):
    """A value that is too large, too deep or too unusual to cross."""


def dumps(value, make_handle):
    """Return `value` as text; `make_handle(object)` returns (kind, key) for an object that is not plain.

    Raises NotPlain for a value that exceeds a limit.
    """
    budget = [MAX_NODES, MAX_BYTES]
    return json.dumps(encode(value, make_handle, budget, 0), ensure_ascii=True)


def loads(text, resolve):
    """Return the value that `text` describes; `resolve(kind, key)` returns the object that a handle stands for.

    Raises NotPlain for text that describes no value or exceeds a limit, whatever the text is.
    """
    if len(text) > 2 * MAX_BYTES:
        raise NotPlain(TOO_LARGE)
    try:
        return decode(json.loads(text), resolve, [MAX_NODES], 0)
    except NotPlain:
        raise
    except (
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        RuntimeError,
        OverflowError,
        MemoryError,
    ) as error:
        raise NotPlain(f"the value could not be read ({type(error).__name__})") from None


def spend(budget, depth, size=0):
    """Count one node, and `size` bytes if the budget has a second entry; raises NotPlain beyond a limit."""
    budget[0] -= 1
    if budget[0] < 0:
        raise NotPlain(TOO_MANY)
    if depth > MAX_DEPTH:
        raise NotPlain("the value is nested too deeply")
    if len(budget) > 1:
        budget[1] -= size
        if budget[1] < 0:
            raise NotPlain(TOO_LARGE)


def encode(value, make_handle, budget, depth):
    """Return the JSON for one value; see `dumps`."""
    spend(budget, depth)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, np.generic | np.ndarray):
        return encode_array(value, make_handle, budget, depth)
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
    for tag in OF_THE_COURSE:
        if isinstance(value, find_class(tag)):
            return [tag, encode(take_apart(tag, value), make_handle, budget, depth + 1)]
    if isinstance(value, list | tuple | set | frozenset | dict) and len(value) > budget[0]:
        raise NotPlain(TOO_MANY)  # before a second is spent on its parts
    for tag, kind in (("l", list), ("t", tuple), ("s", set), ("z", frozenset)):
        if isinstance(value, kind):
            return [tag, *(encode(item, make_handle, budget, depth + 1) for item in value)]
    if isinstance(value, dict):
        return ["d", *(encode_pair(pair, make_handle, budget, depth + 1) for pair in list(value.items()))]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, getattr(torch, "Tensor", ())):
        return encode_tensor(value, torch, make_handle, budget, depth)
    return ["h", *make_handle(value)]


def encode_pair(pair, make_handle, budget, depth):
    """Return the JSON for a dict's key and value."""
    key, value = pair
    return [encode(key, make_handle, budget, depth), encode(value, make_handle, budget, depth)]


def find_class(tag):
    """Return the course's class that `tag` stands for, or () if its module is not loaded: no object is one of those."""
    module, _, name = OF_THE_COURSE[tag].rpartition(".")
    return getattr(sys.modules.get(module), name, ())


def take_apart(tag, value):
    """Return the parts of one of the course's objects, for `rebuild`."""
    if tag == "run":
        return list(value), value.trace
    return value.to_plain() if tag == "trace" else dict(vars(value))


def encode_tensor(value, torch, make_handle, budget, depth):
    """Return a dense tensor as an array on the host, with what NumPy cannot express: bfloat16, requires_grad."""
    if value.layout != torch.strided or value.is_quantized:
        return ["h", *make_handle(value)]
    array, is_bfloat16 = value.detach().cpu().contiguous(), value.dtype == torch.bfloat16
    array = (array.view(torch.int16) if is_bfloat16 else array.resolve_conj().resolve_neg()).numpy()
    return ["tensor", is_bfloat16, bool(value.requires_grad), encode_array(array, make_handle, budget, depth)]


def encode_array(value, make_handle, budget, depth):
    """Return an array or a NumPy scalar as dtype, shape and bytes in C order."""
    array = np.asarray(value)
    if not ARRAY_DTYPE.fullmatch(array.dtype.str):
        return ["h", *make_handle(value)]
    spend(budget, depth, array.nbytes)
    raw = base64.b64encode(array.tobytes()).decode()
    return ["n" if isinstance(value, np.generic) else "a", array.dtype.str, list(array.shape), raw]


def decode(data, resolve, budget, depth):
    """Return the value of one piece of JSON; see `loads`."""
    spend(budget, depth)
    if data is None or isinstance(data, bool | int | float | str):
        return data
    if not isinstance(data, list) or not data:
        raise NotPlain(MALFORMED)
    tag, *rest = data
    if tag in ("l", "t", "s", "z"):
        items = [decode(item, resolve, budget, depth + 1) for item in rest]
        return {"l": list, "t": tuple, "s": set, "z": frozenset}[tag](items)
    if tag == "d":
        return {
            decode(key, resolve, budget, depth + 1): decode(value, resolve, budget, depth + 1) for key, value in rest
        }
    if tag in ("a", "n"):
        return decode_array(*rest, is_scalar=tag == "n")
    if tag == "i":
        return int(rest[0], 16)
    if tag == "c":
        return complex(float(rest[0]), float(rest[1]))
    if tag == "b":
        return base64.b64decode(rest[0], validate=True)
    if tag in OF_THE_COURSE:
        return rebuild(tag, decode(rest[0], resolve, budget, depth + 1))
    if tag == "tensor":
        is_bfloat16, requires_grad, array = rest
        return decode_tensor(is_bfloat16, requires_grad, decode(array, resolve, budget, depth + 1))
    if tag == "h":
        kind, key = rest
        return resolve(str(kind), key)
    raise NotPlain(MALFORMED)


def decode_array(dtype, shape, raw, is_scalar):
    """Return a writable array that owns its memory, or the NumPy scalar."""
    if not ARRAY_DTYPE.fullmatch(dtype) or len(shape) > 32 or any(n < 0 for n in shape):
        raise NotPlain("the array has an unknown form")
    data = base64.b64decode(raw, validate=True)
    array = np.frombuffer(data, dtype=np.dtype(dtype)).reshape(shape).copy()
    return array[()] if is_scalar else array


def decode_tensor(is_bfloat16, requires_grad, array):
    """Return the tensor on the host; torch is imported only when a tensor arrives."""
    torch = importlib.import_module("torch")
    tensor = torch.from_numpy(array)
    tensor = tensor.view(torch.bfloat16) if is_bfloat16 else tensor
    return tensor.requires_grad_() if requires_grad else tensor


def rebuild(tag, parts):
    """Return the course's object that has these parts; raises NotPlain for parts that no such object has."""
    kind = find_class(tag)
    if tag == "run":
        values, trace = parts
        if not isinstance(values, list) or not isinstance(trace, find_class("trace")):
            raise NotPlain("a run is a list of results and a trace")
        return kind(values, trace)
    if not isinstance(parts, dict):
        raise NotPlain(f"a {tag} has an unknown form")
    if tag == "trace":
        check_trace(parts, kind)
        return kind.from_plain(parts)
    cause, lines, ring = parts["cause"], parts["lines"], parts["ring"]
    texts, ranks = [cause, *lines], list(ring)
    if not all(type(text) is str for text in texts) or not all(type(rank) is int for rank in ranks):
        raise NotPlain("a report has an unknown form")
    return kind(cause, lines, ring)


def check_trace(parts, kind):
    """Raise NotPlain unless `parts` are those of a `kind`, which is Trace: names, types, dtypes and shapes."""
    ranks, links = parts["ranks"], parts["link_bytes"]
    if type(ranks) is not int or not isinstance(links, np.ndarray) or links.shape != (ranks, ranks):
        raise NotPlain("a trace has an unknown form")
    model = kind([None] * ranks, "", 0.0, alpha=0.0, beta=0.0).to_plain()
    if parts.keys() != model.keys():
        raise NotPlain("a trace has an unknown form")
    for name, like in model.items():
        columns, models = (parts[name], like) if isinstance(like, dict) else ({"": parts[name]}, {"": like})
        if not isinstance(columns, dict) or columns.keys() != models.keys():
            raise NotPlain(f"the trace's {name} has an unknown form")
        if not all(is_like(columns[column], models[column]) for column in models):
            raise NotPlain(f"the trace's {name} has an unknown form")
        if isinstance(like, dict) and len({len(column) for column in columns.values()}) > 1:
            raise NotPlain(f"the trace's {name} has columns of different length")


def is_like(value, model):
    """Whether `value` has the form of `model`, a part of a trace without messages."""
    if isinstance(model, np.ndarray):
        is_free = 0 in model.shape  # its length is the number of steps, calls or messages
        same = isinstance(value, np.ndarray) and value.dtype == model.dtype and value.ndim == model.ndim
        return same and (is_free or value.shape == model.shape)
    if isinstance(model, float):
        return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
    if isinstance(model, list | tuple):
        return type(value) is type(model) and len(value) == len(model) and all(map(is_like, value, model))
    return type(value) is type(model)
