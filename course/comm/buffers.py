"""Arrays and tensors as bytes: what a message carries, without pickling and without a copy where memory allows.

A NumPy array or torch tensor that is contiguous in the host's memory is sent from there and received into it. Anything
else (a slice with gaps, a CUDA tensor) is staged: copied once to the host, and back after a receive. torch is never
imported here; whoever passes a tensor has imported it.
"""

import functools
import sys

import numpy as np

BYTE = np.dtype(np.uint8)


class Buffer:
    """The bytes behind one array or tensor.

    given: the object itself. data: uint8, shape (nbytes,), its memory or the staging copy.
    dtype: the elements' type as text ("<f8", "bfloat16"); the same type of NumPy and torch has the same text.
    count: number of elements.
    """

    __slots__ = ("count", "data", "dtype", "given", "staged")

    def __init__(self, given, array, dtype, staged):
        self.given, self.dtype, self.staged = given, dtype, staged
        self.count = array.size
        # a view of at least one dimension; an empty array has no bytes to look at, whatever its strides
        flat = array if array.ndim == 1 else array.reshape(-1)
        self.data = flat.view(BYTE) if self.count else np.empty(0, BYTE)

    def finish(self):
        """After a receive: bring what was staged to where it belongs."""
        if self.staged is None or not self.count:
            return
        if isinstance(self.given, np.ndarray):
            self.given[...] = self.staged
        else:
            self.given.detach().copy_(self.staged)

    def __str__(self):
        return f"{self.count} × {plain_name(self.dtype)}"


def plain_name(dtype):
    """'float64' for '<f8'."""
    return dtype if dtype in TORCH_ONLY.values() else np.dtype(dtype).name


TORCH_ONLY = {"torch.bfloat16": "bfloat16"}  # types that NumPy has no name for; they travel as integers of their size


def outgoing(given):
    """The Buffer of what is to be sent; raises TypeError for what is no array of plain numbers."""
    if isinstance(given, np.ndarray):
        array = given if given.flags.c_contiguous else np.ascontiguousarray(given)
        return Buffer(given, array, _plain_dtype(given.dtype), None)
    tensor = _as_tensor(given).detach()
    return _of_tensor(given, tensor.cpu().contiguous(), None)


def incoming(given):
    """The Buffer that is to be filled; raises TypeError for what is no array of plain numbers or cannot be written."""
    if isinstance(given, np.ndarray):
        if not given.flags.writeable:
            raise TypeError("the array to receive into is read-only: receive into a copy of it.")
        staged = None if given.flags.c_contiguous else np.empty(given.shape, given.dtype)
        return Buffer(given, given if staged is None else staged, _plain_dtype(given.dtype), staged)
    tensor = _as_tensor(given).detach()
    in_place = tensor.device.type == "cpu" and tensor.is_contiguous()
    if in_place:
        return _of_tensor(given, tensor, None)
    staged = sys.modules["torch"].empty(tensor.shape, dtype=tensor.dtype)
    return _of_tensor(given, staged, staged)


def _of_tensor(given, tensor, staged):
    """The Buffer of a contiguous tensor in the host's memory."""
    name = TORCH_ONLY.get(str(tensor.dtype))
    if name:
        return Buffer(given, tensor.view(sys.modules["torch"].int16).numpy(), name, staged)
    array = tensor.numpy()
    return Buffer(given, array, array.dtype.str, staged)


@functools.cache
def _plain_dtype(dtype):
    if dtype.hasobject or dtype.names:
        raise TypeError(f"an array of {dtype} cannot be sent: its elements must be plain numbers.")
    return dtype.str


def _as_tensor(given):
    """`given`, if it is a dense tensor."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(given, torch.Tensor):
        raise TypeError(
            f"a message is a NumPy array or a torch tensor, not a {type(given).__name__}: "
            "put the value into np.array([...]) first."
        )
    if given.layout != torch.strided or given.is_quantized:
        raise TypeError("a sparse or quantized tensor cannot be sent: make it dense first.")
    return given


NOTHING = outgoing(np.empty(0, np.uint8))  # the message of a barrier
