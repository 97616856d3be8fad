"""Arrays and tensors as bytes: what a message carries, without pickling and without a copy where memory allows.

A NumPy array or torch tensor that is contiguous in the host's memory is sent from there and received into it. A slice
with gaps is staged: copied once, and back after a receive. So is a CUDA tensor when a carrier asks for its bytes in the
host's memory; one that can move it from device to device asks for the tensor. torch is never imported here; whoever
passes a tensor has imported it.
"""

import functools
import sys

import numpy as np

BYTE = np.dtype(np.uint8)


class Buffer:
    """The bytes behind one array or tensor.

    given: the object itself. data: uint8, shape (nbytes,), its memory or the staging copy.
    dtype: the elements' type as text ("<f8", "bfloat16"); the same type of NumPy and torch has the same text.
    count: number of elements. nbytes: number of bytes.
    """

    __slots__ = ("count", "data", "dtype", "given", "nbytes", "staged")
    tensor = None  # on a device, where there is one

    def __init__(self, given, array, dtype, staged):
        self.given, self.dtype, self.staged = given, dtype, staged
        self.count = array.size
        # a view of at least one dimension; an empty array has no bytes to look at, whatever its strides
        flat = array if array.ndim == 1 else array.reshape(-1)
        self.data = flat.view(BYTE) if self.count else np.empty(0, BYTE)
        self.nbytes = self.data.size

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


class OnDevice:
    """The bytes behind a tensor on a device: in `tensor`, contiguous, and on the host once `data` is asked for.

    fills: whether it is to be filled. given, dtype, count, nbytes: as in Buffer.
    """

    def __init__(self, given, fills):
        self.given, self.fills, self._host = given, fills, None
        tensor = given.detach()
        in_place = tensor.is_contiguous()
        self.tensor = tensor if in_place else tensor.new_empty(tensor.shape) if fills else tensor.contiguous()
        self.count, self.nbytes = tensor.numel(), tensor.numel() * tensor.element_size()
        self.dtype = outgoing(tensor[:0].cpu() if tensor.dim() else tensor.new_empty(0).cpu()).dtype

    @property
    def data(self):
        if self._host is None:
            host = self.tensor.new_empty(self.tensor.shape, device="cpu") if self.fills else self.tensor.cpu()
            self._host = _of_tensor(host, host, None)
        return self._host.data

    def finish(self):
        """After a receive: bring it to where it belongs."""
        if self._host is not None:
            self.tensor.copy_(self._host.given)
        if self.tensor.data_ptr() != self.given.data_ptr():
            self.given.detach().copy_(self.tensor)

    __str__ = Buffer.__str__


def plain_name(dtype):
    """'float64' for '<f8'."""
    name, on_gpu, _ = dtype.partition(ON_GPU)
    return (name if name in TORCH_ONLY.values() else np.dtype(name).name) + on_gpu


ON_GPU = " on a GPU"  # added to a dtype by carriers that move from device to device and not otherwise
TORCH_ONLY = {"torch.bfloat16": "bfloat16"}  # types that NumPy has no name for; they travel as integers of their size


def outgoing(given):
    """The Buffer of what is to be sent; raises TypeError for what is no array of plain numbers."""
    if isinstance(given, np.ndarray):
        array = given if given.flags.c_contiguous else np.ascontiguousarray(given)
        return Buffer(given, array, _plain_dtype(given.dtype), None)
    tensor = _as_tensor(given).detach()
    if tensor.device.type != "cpu":
        return OnDevice(given, fills=False)
    return _of_tensor(given, tensor.resolve_conj().resolve_neg().contiguous(), None)


def incoming(given):
    """The Buffer that is to be filled; raises TypeError for what is no array of plain numbers or cannot be written."""
    if isinstance(given, np.ndarray):
        if not given.flags.writeable:
            raise TypeError("the array to receive into is read-only: receive into a copy of it.")
        staged = None if given.flags.c_contiguous else np.empty(given.shape, given.dtype)
        return Buffer(given, given if staged is None else staged, _plain_dtype(given.dtype), staged)
    tensor = _as_tensor(given).detach()
    if tensor.device.type != "cpu":
        return OnDevice(given, fills=True)
    if tensor.is_contiguous() and not tensor.is_conj() and not tensor.is_neg():
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
    if given is None:
        raise TypeError("a message is an array, and this is None: the rank has none, or a function returned nothing.")
    if torch is None or not isinstance(given, torch.Tensor):
        raise TypeError(
            f"a message is a NumPy array or a torch tensor, not a {type(given).__name__}: "
            "put the value into np.array([...]) first."
        )
    if given.layout != torch.strided or given.is_quantized:
        raise TypeError("a sparse or quantized tensor cannot be sent: make it dense first.")
    return given


NOTHING = outgoing(np.empty(0, np.uint8))  # the message of a barrier
