"""Small Python objects as messages: plain values as JSON. Unlike a pickle, nothing that arrives is executed.

The bytes travel as a buffer with a dtype of its own: no receive for an array takes them, and none for an object takes
an array.
"""

import json

import numpy as np

from course.comm.buffers import OBJECT, Buffer

MOST_BYTES = 2**16  # of one object; more is data, and belongs in an array
PLAIN = "None, bool, int, float, str, and lists, tuples and dicts (with str keys) of them"


def wrap_object(value):
    """The Buffer of a plain value to send.

    Raises TypeError if it is not plain, ValueError if it takes more than MOST_BYTES bytes as JSON.
    """
    try:
        _check(value)
        content = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    except RecursionError:
        raise ValueError("an object that contains itself, or is nested very deeply, cannot be sent.") from None
    if len(content) > MOST_BYTES:
        raise ValueError(
            f"this object takes {len(content):,} bytes, and the most are {MOST_BYTES:,}: send numbers as an array."
        )
    return Buffer(value, np.frombuffer(content, np.uint8), OBJECT, None)


def wrap_room():
    """A Buffer with room for any object, to receive into."""
    return Buffer(None, np.empty(MOST_BYTES, np.uint8), OBJECT, None)


def read_object(buffer, count):
    """The value in the first `count` bytes of a Buffer; tuples have become lists."""
    return json.loads(buffer.data[:count].tobytes().decode("utf-8", "surrogatepass"))


def _check(value):
    """Raise TypeError unless a value is plain."""
    if isinstance(value, dict):
        if not all(type(key) is str for key in value):
            raise TypeError("an object to send may have dicts with str keys only, and this one has others.")
        for each in value.values():
            _check(each)
    elif isinstance(value, list | tuple):
        for each in value:
            _check(each)
    elif isinstance(value, np.ndarray) or (hasattr(value, "detach") and hasattr(value, "numpy")):
        raise TypeError("this is an array: send it with comm.send, and receive it with comm.recv.")
    elif not (value is None or isinstance(value, bool | int | float | str)):
        raise TypeError(f"{type(value).__name__} cannot be sent as an object. What can: {PLAIN}.")
