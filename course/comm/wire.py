"""Messages between the notebook and the ranks of a run: any value, with its arrays beside the pickle.

A frame consists of the number of its parts, their lengths, and the parts: a pickle (by cloudpickle, so that functions
of the notebook can travel) and the memory of each array and tensor in it. Both ends are processes of one user, and each
connection begins with a secret, so nothing from outside is ever unpickled. Knows sockets; knows nothing of ranks.
"""

import pickle
import socket
import struct
import sys

from course import functions

COUNT, LENGTH = struct.Struct("!I"), struct.Struct("!Q")
BACKLOG = 4096  # connections that may wait to be accepted: all ranks may connect at once
SECONDS_TO_CONNECT = 5
SECRET_BYTES = 16


class _Pickler(functions.FunctionPickler):
    """Leaves the memory of a tensor out of the pickle, as NumPy does with that of an array.

    What a function assigns to global names ends with its run, so that each run begins alike.
    """

    keeps_assignments = False

    def reducer_override(self, value):
        torch = sys.modules.get("torch")
        if torch and type(value) is torch.Tensor and _is_plain(value, torch):
            return _make_tensor, (value.numpy(),)
        return super().reducer_override(value)


def _is_plain(tensor, torch):
    """Whether the tensor is nothing but memory that NumPy can share."""
    return (
        tensor.device.type == "cpu"
        and tensor.layout == torch.strided
        and not tensor.requires_grad
        and tensor.dtype != torch.bfloat16
        and tensor.is_contiguous()
        and not tensor.is_conj()
        and not tensor.is_neg()
        and not tensor.is_quantized
    )


def _make_tensor(array):
    import torch

    return torch.from_numpy(array)


def pack(value):
    """The parts of a frame, to be sent one after the other."""
    file, buffers = functions.dump(value, protocol=5, make_pickler=_Pickler)
    parts = [file.getbuffer(), *(buffer.raw() for buffer in buffers)]
    head = COUNT.pack(len(parts)) + b"".join(LENGTH.pack(part.nbytes) for part in parts)
    return [head, *parts]


class Connection:
    """One end of a stream socket over which frames travel."""

    def __init__(self, sock):
        self.sock = sock
        self._expect("count", [COUNT.size])

    def fileno(self):
        return self.sock.fileno()

    def send(self, *value):
        """Send a tuple. Raises OSError if the other end is gone or reads nothing for too long."""
        self.send_packed(pack(value))

    def send_packed(self, parts):
        """Send a frame that `pack` made."""
        for part in parts:
            self.sock.sendall(part)

    def receive(self):
        """Wait for the next tuple and return it. Raises EOFError if the other end is gone."""
        while (value := self.receive_some()) is None:
            pass
        return value

    def receive_some(self):
        """Read once; returns a tuple if one is complete now, else None. Raises EOFError if the other end is gone."""
        try:
            n = self.sock.recv_into(memoryview(self._parts[self._at])[self._filled :])
        except (BlockingIOError, InterruptedError):
            return None
        except ConnectionError:
            n = 0
        if not n:
            raise EOFError
        self._filled += n
        while self._filled == len(self._parts[self._at]):  # a part may be empty
            self._filled, self._at = 0, self._at + 1
            if self._at == len(self._parts):
                parts = self._parts
                if self._stage == "count":
                    self._expect("lengths", [LENGTH.size * COUNT.unpack(parts[0])[0]])
                elif self._stage == "lengths":
                    self._expect("parts", [length for (length,) in LENGTH.iter_unpack(parts[0])])
                else:
                    self._expect("count", [COUNT.size])
                    return pickle.loads(parts[0], buffers=parts[1:])
        return None

    def _expect(self, stage, lengths):
        self._stage, self._parts, self._at, self._filled = stage, [bytearray(n) for n in lengths], 0, 0

    def close(self):
        self.sock.close()


def listen(directory, name):
    """(listening socket, its address): a file of this name, or a port of this machine if `directory` is None."""
    if directory is None:
        sock = socket.create_server(("", 0), backlog=BACKLOG)
        return sock, (list_own_hosts(), sock.getsockname()[1])
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(str(directory / name))
    sock.listen(BACKLOG)
    return sock, str(directory / name)


def list_own_hosts():
    """Addresses under which other machines may reach this one, loopback last."""
    try:
        hosts = socket.gethostbyname_ex(socket.gethostname())[2]
    except OSError:
        hosts = []
    return [*(host for host in hosts if not host.startswith("127.")), "127.0.0.1"]


def connect(address, secret):
    """A socket connected to an address that `listen` returned; the secret is sent first. Raises OSError."""
    if isinstance(address, str):
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(address)
        sock.sendall(secret)
        return sock
    hosts, port = address
    for host in hosts:
        try:
            sock = socket.create_connection((host, port), timeout=SECONDS_TO_CONNECT)
        except OSError as error:
            failed = error
            continue
        sock.settimeout(None)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.sendall(secret)
        return sock
    raise failed
