"""Ranks of a part: new processes with torch.distributed, or with the course's communicator and without engines."""

import importlib.util
import multiprocessing
import secrets
import sys
import tempfile
import time
import types
from pathlib import Path

from autograder.testing.gpu.tools import TRIAL, device_of, lab_functions, milliseconds


def run_ranks(function, size, *arguments):
    """Call function(rank, size, folder, *arguments) in `size` new processes; returns the list of results."""
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        pipes, processes = [], []
        for rank in range(size):
            ours, theirs = context.Pipe()
            process = context.Process(target=be_rank, args=(theirs, function, rank, size, folder, arguments))
            process.start()
            theirs.close()
            pipes.append(ours)
            processes.append(process)
        try:
            results = [pipe.recv() for pipe in pipes]
        except EOFError:
            raise RuntimeError("a rank ended without a result") from None
        finally:
            for process in processes:
                process.join(20)
                process.kill()
    for kind, content in results:
        if kind == "error":
            raise RuntimeError(content)
    return [content for _, content in results]


def be_rank(pipe, function, rank, size, folder, arguments):
    """Be one rank of run_ranks."""
    try:
        pipe.send(("result", function(rank, size, folder, *arguments)))
    except Exception as error:
        pipe.send(("error", f"rank {rank}: {type(error).__name__}: {error}"))


def join_group(rank, size, folder, backend):
    """Join torch.distributed's process group through a file in the folder."""
    import torch
    import torch.distributed as dist

    if device_of(rank).type == "cuda":
        torch.cuda.set_device(device_of(rank))
    backend = "gloo" if TRIAL else backend
    dist.init_process_group(backend, init_method=f"file://{folder}/group", rank=rank, world_size=size)
    return dist


def course_communicator(rank, size, folder, kind):
    """Return a communicator of the course and its carrier, without engines: ranks find each other by files."""
    import pickle
    import socket

    if importlib.util.find_spec("cloudpickle") is None:
        import course

        # It carries functions to engines. These ranks have theirs already, and send none.
        course.functions = sys.modules["course.functions"] = types.SimpleNamespace(FunctionPickler=pickle.Pickler)
    from course.comm import carriers, worker
    from course.comm.communicator import Communicator

    class Silent:
        """Stands for the connection to a notebook, which says nothing and hears nothing."""

        def __init__(self):
            self.own, self.other = socket.socketpair()

        def fileno(self):
            return self.own.fileno()

        def send(self, *_):
            return None

    place, secret = Path(folder), (Path(folder) / "secret").read_bytes()
    reporter = worker.Reporter(Silent())
    carrier = carriers.ON_ENGINES[kind].load()(rank, size, reporter, secret, place, f"run-{rank}")
    share(place, rank, carrier.address)
    carrier.join([collect(place, each) for each in range(size)], 1, None)
    comm = reporter.comm = Communicator(carrier, ())
    comm._recorder.enter(carrier.now())
    comm.barrier()
    return comm, carrier


def share(place, rank, value):
    """Leave a value for the other ranks."""
    import pickle

    unfinished = place / f".{rank}"
    unfinished.write_bytes(pickle.dumps(value))
    unfinished.rename(place / f"address-{rank}")


def collect(place, rank):
    """Wait for the value of a rank."""
    import pickle

    while not (place / f"address-{rank}").exists():
        time.sleep(0.002)
    return pickle.loads((place / f"address-{rank}").read_bytes())


def times_of_ranks(rank, size, folder, kind, lab, function, sizes, on_gpu):
    """Return the median ms of a lab's function on arrays of these sizes (bytes), per size; a rank of run_ranks."""
    import torch

    if rank == 0:
        (Path(folder) / ".secret").write_bytes(secrets.token_bytes(32))
        (Path(folder) / ".secret").rename(Path(folder) / "secret")
    while not (Path(folder) / "secret").exists():
        time.sleep(0.002)
    device = device_of(rank) if on_gpu else torch.device("cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    torch.set_num_threads(1)
    comm, _ = course_communicator(rank, size, folder, kind)
    call, times = lab_functions(lab)[function], {}
    for nbytes in sizes:
        x = torch.full((nbytes // 4,), float(rank + 1), device=device)

        def one(x=x):
            comm.barrier()
            return call(comm, x.clone())

        times[nbytes] = milliseconds(one, 7)
        got = one()
        if function == "ring_allreduce" and abs(float(got.ravel()[0]) - size * (size + 1) / 2) > 1e-4:
            raise RuntimeError(f"the sum is {float(got.ravel()[0])}")
    comm.barrier()
    return times


def compare_carriers(kind, lab, function, sizes, size):
    """Return {bytes: {"gpu_ms", "host_ms"}} of a lab's function on ranks with tensors on GPUs and in host memory."""
    on_gpu, on_host = (run_ranks(times_of_ranks, size, kind, lab, function, sizes, where)[0] for where in (True, False))
    return {f"{nbytes} bytes": {"gpu_ms": on_gpu[nbytes], "host_ms": on_host[nbytes]} for nbytes in sizes}
