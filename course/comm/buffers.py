"""Arrays and tensors as bytes: what a message carries, without pickling, and without a copy if the memory allows it.

A NumPy array or torch tensor that is contiguous in the host's memory is sent from there and received into it. A slice
with gaps is staged: copied once before it is sent, or back after it is received. A CUDA tensor is staged too, unless
the carrier can move it from device to device and asks for the tensor. torch is never imported here; a program that
passes a tensor has imported it.
"""

import functools
import sys

import numpy as np

BYTE = np.dtype(np.uint8)
ON_GPU = " on a GPU"  # added to a dtype by carriers that move tensors from device to device
OBJECT = "object"  # the dtype of the bytes of a message that `send_object` sends
TORCH_ONLY = {"torch.bfloat16": "bfloat16"}  # types that NumPy has no name for; they travel as integers of their size


class Buffer:
    """The bytes of one array or tensor in the host's memory.

    given: the array or tensor itself. data: uint8, shape (nbytes,), its memory or the staging copy.
    dtype: the elements' type as text ("<f8", "bfloat16"), the same text for the same type of NumPy and torch.
    count: number of elements. nbytes: number of bytes.
    """

    __slots__ = ("count", "data", "dtype", "given", "nbytes", "staged")
    tensor = None  # on a device; see OnDevice

    def __init__(self, given, array, dtype, staged):
        self.given, self.dtype, self.staged = given, dtype, staged
        self.count = array.size
        # A view needs at least one dimension; an empty array has no bytes to view, whatever its strides.
        flat = array if array.ndim == 1 else array.reshape(-1)
        self.data = flat.view(BYTE) if self.count else np.empty(0, BYTE)
        self.nbytes = self.data.size

    def finish(self, count):
        """Copy what was staged to where it belongs, after a receive of `count` elements."""
        if self.staged is None or not count:
            return
        target = self.given if isinstance(self.given, np.ndarray) else self.given.detach()
        if count < self.count:  # the rest of the target stays as it was
            fill_the_rest(self.staged, target, count)
        target[...] = self.staged

    def __str__(self):
        return "an object" if self.dtype == OBJECT else f"{self.count} × {name_dtype(self.dtype)}"


class OnDevice:
    """The bytes of a tensor on a device: in `tensor`, contiguous, and on the host once `data` is read.

    fills: whether a message will fill it. given, dtype, count, nbytes: as in Buffer.
    """

    def __init__(self, given, fills):
        self.given, self.fills, self._host = given, fills, None
        tensor = given.detach()
        in_place = tensor.is_contiguous()
        self.tensor = tensor if in_place else tensor.new_empty(tensor.shape) if fills else tensor.contiguous()
        self.count, self.nbytes = tensor.numel(), tensor.numel() * tensor.element_size()
        self.dtype = wrap_outgoing(tensor[:0].cpu() if tensor.dim() else tensor.new_empty(0).cpu()).dtype

    @property
    def data(self):
        if self._host is None:
            host = self.tensor.new_empty(self.tensor.shape, device="cpu") if self.fills else self.tensor.cpu()
            self._host = _wrap_tensor(host, host, None)
        return self._host.data

    def finish(self, count):
        """Copy what was received, `count` elements, to where it belongs."""
        if self._host is not None:
            self.tensor.reshape(-1)[:count].copy_(self._host.given.reshape(-1)[:count])
        if self.tensor.data_ptr() != self.given.data_ptr():
            if count < self.count:
                fill_the_rest(self.tensor, self.given.detach(), count)
            self.given.detach().copy_(self.tensor)

    __str__ = Buffer.__str__


def fill_the_rest(staged, given, count):
    """Copy all but the first `count` elements of `given` to `staged`, an array or tensor of the same shape."""
    staged.reshape(-1)[count:] = given.reshape(-1)[count:]


def name_dtype(dtype):
    """'float64' for '<f8'."""
    name, on_gpu, _ = dtype.partition(ON_GPU)
    return (name if name in TORCH_ONLY.values() else np.dtype(name).name) + on_gpu


def wrap_outgoing(given):
    """The Buffer of an array or tensor to send; raises TypeError unless it holds plain numbers."""
    if isinstance(given, np.ndarray):
        array = given if given.flags.c_contiguous else np.ascontiguousarray(given)
        return Buffer(given, array, _check_dtype(given.dtype), None)
    tensor = _check_tensor(given).detach()
    if tensor.device.type != "cpu":
        return OnDevice(given, fills=False)
    return _wrap_tensor(given, tensor.resolve_conj().resolve_neg().contiguous(), None)


def wrap_incoming(given):
    """The Buffer of an array or tensor to fill; raises TypeError unless it holds plain numbers and can be written."""
    if isinstance(given, np.ndarray):
        if not given.flags.writeable:
            raise TypeError("the array to receive into is read-only. Receive into a copy of it.")
        staged = None if given.flags.c_contiguous else np.empty(given.shape, given.dtype)
        return Buffer(given, given if staged is None else staged, _check_dtype(given.dtype), staged)
    tensor = _check_tensor(given).detach()
    if tensor.device.type != "cpu":
        return OnDevice(given, fills=True)
    if tensor.is_contiguous() and not tensor.is_conj() and not tensor.is_neg():
        return _wrap_tensor(given, tensor, None)
    staged = sys.modules["torch"].empty(tensor.shape, dtype=tensor.dtype)
    return _wrap_tensor(given, staged, staged)


def _wrap_tensor(given, tensor, staged):
    """The Buffer of a contiguous tensor in the host's memory."""
    name = TORCH_ONLY.get(str(tensor.dtype))
    if name:
        return Buffer(given, tensor.view(sys.modules["torch"].int16).numpy(), name, staged)
    array = tensor.numpy()
    return Buffer(given, array, array.dtype.str, staged)


@functools.cache
def _check_dtype(dtype):
    """The dtype as text; raises TypeError unless its elements are plain numbers."""
    if dtype.hasobject or dtype.names:
        raise TypeError(f"an array of {dtype} cannot be sent. Its elements must be plain numbers.")
    return dtype.str


def _check_tensor(given):
    """Returns `given`, a dense tensor; raises TypeError for anything else."""
    torch = sys.modules.get("torch")
    if given is None:
        raise TypeError("a message is an array, and this is None: this rank has no array, or a function returned None.")
    if torch is None or not isinstance(given, torch.Tensor):
        raise TypeError(
            f"a message is a NumPy array or a torch tensor, and this is of type {type(given).__name__}. Put the value "
            "into np.array([...]) first."
        )
    if given.layout != torch.strided or given.is_quantized:
        raise TypeError("a sparse or quantized tensor cannot be sent. Make it dense first.")
    return given


NOTHING = wrap_outgoing(np.empty(0, np.uint8))  # the message of a barrier
