"""PyTorch's own model parallelism on the ranks of a run: the last steps of lab 13.

Each function in WAYS trains the same small network in float64, takes the communicator first, and returns (largest
difference from one process, the collectives of a step, or what was compared or kept, in words). They need engines and
carrier="torch".
"""

import contextlib
import logging
import warnings

BATCH = 32  # rows


def make_network():
    """16-64-16-64-4 with ReLU, float64, the same weights on every rank."""
    import torch

    torch.manual_seed(0)
    layers = [torch.nn.Linear(a, b) for a, b in ((16, 64), (64, 16), (16, 64), (64, 4))]
    relus = [torch.nn.ReLU() for _ in layers]
    both = [each for pair in zip(layers, relus, strict=True) for each in pair]
    return torch.nn.Sequential(*both[:-1]).double()


def make_batch():
    """Inputs, shape (32, 16), and targets, shape (32, 4); the same on every rank."""
    import torch

    random = torch.Generator().manual_seed(1)
    return tuple(torch.randn(BATCH, width, generator=random, dtype=torch.float64) for width in (16, 4))


def train(model, optimizer, X, Y, steps=3):
    """Train by the mean squared error; X, Y: all rows, or those of this rank."""
    for _ in range(steps):
        optimizer.zero_grad()
        ((model(X) - Y) ** 2).mean().backward()
        optimizer.step()


def train_alone(optimizer):
    """The weights after `train` on one process, a list; optimizer(parameters) makes the optimizer."""
    model = make_network()
    train(model, optimizer(model.parameters()), *make_batch())
    return [each.detach() for each in model.parameters()]


def find_farthest(parameters, right):
    """The largest difference of weights, which may be DTensors, from those of one process."""
    whole = [each.full_tensor() if hasattr(each, "full_tensor") else each for each in parameters]
    return max(float((a.detach() - b).abs().max()) for a, b in zip(whole, right, strict=True))


@contextlib.contextmanager
def counting():
    """Count collectives: yields a function that returns their number by kind, as text."""
    from torch.distributed.tensor.debug import CommDebugMode

    def count():
        kinds = {name_kind(kind): number for kind, number in mode.get_comm_counts().items()}
        return ", ".join(f"{number} {kind}" for kind, number in kinds.items())

    with CommDebugMode() as mode:
        yield count


def name_kind(kind):
    """The name of a collective, such as "all-gather", for one of torch's operators, such as c10d._allgather_base_."""
    name = str(kind).split(".")[-1].strip("_").removesuffix("_base").removesuffix("_into_tensor")
    return name.removesuffix("_tensor").replace("allgather", "all_gather").replace("_", "-")


@contextlib.contextmanager
def quiet():
    """Silence PyTorch's warnings about its own internals."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.getLogger("torch").setLevel(logging.ERROR)
        yield


def own_rows(comm, *arrays):
    """This rank's rows of each array."""
    return [each.tensor_split(comm.size)[comm.rank] for each in arrays]


def join(comm):
    """Join the process group; returns a mesh of all ranks, in one dimension."""
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh

    dist.init_process_group("gloo", init_method="spmd://")
    return init_device_mesh("cpu", (comm.size,))


def train_by_tensor(comm):
    """Two pairs of layers, each cut by columns, then by rows."""
    import torch
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    with quiet():
        plan = {"0": ColwiseParallel(), "2": RowwiseParallel(), "4": ColwiseParallel(), "6": RowwiseParallel()}
        model = parallelize_module(make_network(), join(comm), plan)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        train(model, optimizer, *make_batch(), steps=2)
        with counting() as count:
            train(model, optimizer, *make_batch(), steps=1)
    right = train_alone(lambda parameters: torch.optim.SGD(parameters, 0.1))
    return find_farthest(model.parameters(), right), f"one step: {count()}"


def train_by_pipeline(comm, schedule):
    """A pipeline of four stages and eight micro-batches; schedule: a class of torch.distributed.pipelining."""
    import torch
    from torch.distributed import pipelining

    with quiet():
        join(comm)
        layers, (X, Y) = list(make_network()), make_batch()
        stage = torch.nn.Sequential(*layers[2 * comm.rank : 2 * comm.rank + 2])
        place = pipelining.PipelineStage(stage, comm.rank, comm.size, torch.device("cpu"))
        runner = getattr(pipelining, schedule)(place, 8, loss_fn=lambda output, target: ((output - target) ** 2).mean())
        last = comm.size - 1
        runner.step(*([X] if comm.rank == 0 else []), **({"target": Y} if comm.rank == last else {}))
    whole = make_network()
    ((whole(X) - Y) ** 2).mean().backward()
    right = [each.grad for each in whole[2 * comm.rank : 2 * comm.rank + 2].parameters()]
    return find_farthest([each.grad for each in stage.parameters()], right), "gradients after one mini-batch of 8 parts"


def train_by_zero(comm):
    """Data parallel, with Adam's moments divided among the ranks by whole arrays."""
    import torch
    from torch.distributed.optim import ZeroRedundancyOptimizer
    from torch.nn.parallel import DistributedDataParallel

    with quiet():
        join(comm)
        model = DistributedDataParallel(make_network())
        optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=1e-2)
        train(model, optimizer, *own_rows(comm, *make_batch()))
    kept = sum(each.nbytes for state in optimizer.optim.state.values() for each in state.values() if each.numel() > 1)
    right = train_alone(lambda parameters: torch.optim.Adam(parameters, 1e-2))
    everything = 16 * sum(each.numel() for each in right)
    return find_farthest(model.parameters(), right), f"rank 0 keeps {kept:,} of {everything:,} bytes of moments"


def train_by_fsdp(comm):
    """Data parallel, with weights, gradients and moments divided among the ranks."""
    import torch
    from torch.distributed.fsdp import fully_shard

    with quiet():
        mesh, model = join(comm), make_network()
        for layer in [*model[::2], model]:
            fully_shard(layer, mesh=mesh)
        optimizer = torch.optim.Adam(model.parameters(), 1e-2)
        rows = own_rows(comm, *make_batch())
        train(model, optimizer, *rows, steps=2)
        with counting() as count:
            train(model, optimizer, *rows, steps=1)
    right = train_alone(lambda parameters: torch.optim.Adam(parameters, 1e-2))
    return find_farthest(model.parameters(), right), f"one step: {count()}"


WAYS = {  # name -> (function, keyword arguments)
    "tensor (DTensor)": (train_by_tensor, {}),
    "pipeline, ScheduleGPipe": (train_by_pipeline, {"schedule": "ScheduleGPipe"}),
    "pipeline, Schedule1F1B": (train_by_pipeline, {"schedule": "Schedule1F1B"}),
    "ZeroRedundancyOptimizer": (train_by_zero, {}),
    "fully_shard (FSDP2)": (train_by_fsdp, {}),
}
