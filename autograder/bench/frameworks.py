"""Four kinds of data parallel training side by side: the time of a step, its messages, and whether the weights agree.

By hand (the ring of lab 05's solution on the course's communicator), PyTorch's DistributedDataParallel, Horovod and
TensorFlow's MirroredStrategy train one convolutional network from the same weights on the same digits, on 1 and 2
ranks; MirroredStrategy uses as many devices in one process instead. Each round times one step of each, one after the
other in the same processes, in an order that changes from round to round. The time of a step goes from the first rank's
start to the last rank's end. Starts and ends its own engines.
"""

import contextlib
import io
import itertools
import math
import os
import platform
import re
import statistics
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np

from autograder.bench import ring
from course import cluster, data
from course.spmd import spmd

RANKS = (1, 2)
WAYS = ("by hand", "DistributedDataParallel", "Horovod", "MirroredStrategy")
BATCH = 64  # samples per step, all ranks together
RATE = 0.05  # learning rate
COMPARED = 5  # steps, after which the weights are compared with those of one process
ROUNDS = 15
SECONDS = 300
BOUND = 1e-5  # on the largest difference of any weight


def rows():
    """One row per number of ranks and way: the median `ms` of a step, and its `ratio` to training by hand.

    all_reduces, bytes: per step, as passed to the all-reduce on one rank. difference: the largest difference of any
    weight from one process that trained on the whole batch, after 5 steps.
    """
    with contextlib.redirect_stdout(io.StringIO()):
        digits = data.load("mnist-5000")
    chosen = np.random.default_rng(6).permutation(5000)[: BATCH * COMPARED]
    images = (digits["pixels"][chosen] / 255).astype(np.float32).reshape(COMPARED, BATCH, 1, 28, 28)
    labels = digits["digit"][chosen].astype(np.int64).reshape(COMPARED, BATCH)
    all_reduce, _ = ring.solution()
    for ranks in RANKS:
        with contextlib.redirect_stdout(io.StringIO()):
            cluster.start(ranks)
        shares = [(images[:, first::ranks], labels[:, first::ranks]) for first in range(ranks)]
        alike = {"images": images, "labels": labels, "all_reduce": all_reduce, "rounds": ROUNDS}
        run = spmd(one_rank, shares, carrier="horovod", timeout=SECONDS, **alike)
        times = np.array([each["times"] for each in run])  # rank, round, way, start or end
        spans = times[..., 1].max(axis=0) - times[..., 0].min(axis=0)
        for place, way in enumerate(WAYS):
            yield {
                "ranks": ranks,
                "way": way,
                "ms": 1000 * statistics.median(spans[:, place]),
                "ratio": statistics.median(spans[:, place] / spans[:, 0]),
                **run[0]["sent"][way],
                "difference": max(each["differences"][way] for each in run if way in each["differences"]),
                "load": os.getloadavg()[0],
            }
    with contextlib.redirect_stdout(io.StringIO()):
        cluster.stop()


def summary(rows):
    """Whether all ways agree with one process, and the largest difference."""
    worst = max(row["difference"] for row in rows)
    return {
        "worst_difference": worst,
        "met": worst <= BOUND,
        "batch": BATCH,
        "cores": len(os.sched_getaffinity(0)),
        "load": statistics.median(row["load"] for row in rows),
        "versions": f"Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in ("torch", "tensorflow", "keras", "horovod")),
    }


def one_rank(comm, share, images, labels, all_reduce, rounds):
    """What one rank measures: times, differences, and what it sent, per way.

    share: (images, labels) of this rank, of shapes (steps, n, 1, 28, 28) and (steps, n). images, labels: of all ranks.
    all_reduce: a function of comm and a 1-D array that returns the sum over all ranks.
    """
    import time

    import torch

    torch.use_deterministic_algorithms(True)
    steps = [tuple(map(torch.from_numpy, pair)) for pair in zip(*share, strict=True)]
    start = weights_of(network(torch))
    right = one_process(torch, images, labels)
    sent, differences, timed = {}, {}, []
    for way, make in zip(WAYS, (by_hand, distributed, horovod, mirrored), strict=True):
        made = make(comm, torch, all_reduce, images, labels)
        if made is None:  # MirroredStrategy is one process, on rank 0
            timed.append(lambda _: None)
            continue
        step, weights, of_steps = made
        for pair in steps:
            step(pair)
        sent[way] = of_steps()
        differences[way] = max(float(np.abs(a - b).max()) for a, b in zip(weights(), right, strict=True))
        timed.append(step)
    assert any((a != b).any() for a, b in zip(start, right, strict=True)), "the network has not learned"
    times = []
    for turn in range(rounds + 1):
        spans = [None] * len(WAYS)
        for place in np.roll(np.arange(len(WAYS)), turn):
            comm.barrier()
            begin = time.monotonic()
            timed[place](steps[turn % len(steps)])
            spans[place] = [begin, time.monotonic()]
        times.append(spans)
    return {"times": times[1:], "sent": sent, "differences": differences}


def network(torch):
    """Two convolutions and two dense layers, with the same weights every time."""
    torch.manual_seed(3)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 8, 3),
        torch.nn.ReLU(),
        torch.nn.Conv2d(8, 16, 3),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(16 * 12 * 12, 64),
        torch.nn.ReLU(),
        torch.nn.Linear(64, 10),
    )


def weights_of(model):
    return [parameter.detach().numpy().copy() for parameter in model.parameters()]


def one_process(torch, images, labels):
    """The weights after one step on each whole batch, in this process alone."""
    model = network(torch)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    for x, y in zip(images, labels, strict=True):
        train(torch, model, optimizer, (torch.from_numpy(x), torch.from_numpy(y)))
    return weights_of(model)


def train(torch, model, optimizer, pair, between=lambda: None):
    """One step; `between` is called after back-propagation."""
    x, y = pair
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    between()
    optimizer.step()


def by_hand(comm, torch, all_reduce, *_):
    """All gradients in one array, summed by the ring and divided by the number of ranks."""
    model = network(torch)
    parameters = list(model.parameters())
    optimizer = torch.optim.SGD(parameters, lr=RATE)
    sizes = [parameter.numel() for parameter in parameters]
    sent = {}

    def average():
        flat = torch.cat([parameter.grad.reshape(-1) for parameter in parameters])
        sent.update(all_reduces=1, bytes=flat.nbytes)
        mean = all_reduce(comm, flat) / comm.size
        for parameter, part in zip(parameters, mean.split(sizes), strict=True):
            parameter.grad.copy_(part.view_as(parameter))

    return lambda pair: train(torch, model, optimizer, pair, average), lambda: weights_of(model), lambda: sent


def distributed(comm, torch, *_):
    """PyTorch's DistributedDataParallel over Gloo; a communication hook counts its buckets."""
    import torch.distributed as dist
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook

    os.environ["GLOO_SOCKET_IFNAME"] = "lo"  # else torch asks a name server for this machine's address
    dist.init_process_group("gloo", store=ring.store(comm), rank=comm.rank, world_size=comm.size)
    model = torch.nn.parallel.DistributedDataParallel(network(torch))
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    sent = {"all_reduces": 0, "bytes": 0}

    def counted(group, bucket):
        sent["all_reduces"] += 1
        sent["bytes"] += bucket.buffer().nbytes
        return allreduce_hook(group, bucket)

    model.register_comm_hook(None, counted)

    def step(pair):
        sent.update(all_reduces=0, bytes=0)
        train(torch, model, optimizer, pair)

    return step, lambda: weights_of(model), lambda: dict(sent)


def horovod(comm, torch, *_):
    """Horovod's optimizer, from rank 0's weights; its own timeline says what it sent."""
    os.environ["HOROVOD_TIMELINE"] = "DYNAMIC"
    import horovod.torch as hvd

    hvd.init()
    model = network(torch)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    folder = tempfile.TemporaryDirectory()
    hvd.start_timeline(f"{folder.name}/timeline")  # rank 0 writes it

    def sent():
        hvd.stop_timeline()
        timeline = Path(folder.name, "timeline").read_text() if comm.rank == 0 else ""
        return {"all_reduces": fused(timeline) / COMPARED, "bytes": reduced(timeline) / COMPARED}

    return lambda pair: train(torch, model, optimizer, pair), lambda: weights_of(model), sent


def fused(timeline):
    """The number of all-reduces in a timeline of Horovod; a fused one begins with one line per tensor."""
    events = re.findall(r'"ph": "(B|E)"(?:, "name": "(\w+)")?', timeline)
    begins = [event == ("B", "GLOO_ALLREDUCE") for event in events]
    return sum(begin and not before for before, begin in itertools.pairwise([False, *begins]))


def reduced(timeline):
    """The bytes of float32 that its all-reduces returned; the line that ends one has its shape."""
    shapes = re.findall(r'"dtype": "float32", "shape": "\[([\d, ]*)\]"', timeline)
    return sum(4 * math.prod(map(int, filter(None, shape.split(", ")))) for shape in shapes)


def mirrored(comm, torch, all_reduce, images, labels):
    """MirroredStrategy on one device per rank, in the process of rank 0."""
    if comm.rank > 0:
        return None
    from course.keras import logical_devices, quiet_import

    with contextlib.redirect_stdout(io.StringIO()):
        devices = logical_devices(comm.size)
    tf, keras = quiet_import()
    sent = {"all_reduces": 0, "bytes": 0}

    class Counted(tf.distribute.ReductionToOneDevice):
        """The reduction that MirroredStrategy uses on CPUs; counts its sums while the step is traced."""

        def reduce_implementation(self, op, value, destinations, options):
            sent["all_reduces"] += 1
            sent["bytes"] += 4 * value.values[0].shape.num_elements()
            return super().reduce_implementation(op, value, destinations, options)

    strategy = tf.distribute.MirroredStrategy(list(devices), cross_device_ops=Counted())
    layers = keras.layers
    with strategy.scope():
        model = keras.Sequential(
            [
                keras.Input((28, 28, 1)),
                layers.Conv2D(8, 3, activation="relu"),
                layers.Conv2D(16, 3, activation="relu"),
                layers.MaxPooling2D(),
                layers.Flatten(),
                layers.Dense(64, activation="relu"),
                layers.Dense(10),
            ]
        )
        model.set_weights(keras_layout(weights_of(network(torch))))
        optimizer = keras.optimizers.SGD(RATE)
        optimizer.build(model.trainable_variables)

    def replica_step(x, y):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x, training=True))
            loss = tf.reduce_sum(losses) / BATCH  # the strategy sums the gradients
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    compiled = tf.function(lambda x, y: strategy.run(replica_step, args=(x, y)))
    batches = itertools.cycle([(x.transpose(0, 2, 3, 1), y) for x, y in zip(images, labels, strict=True)])

    def on_devices(array):
        def of_one(context):
            return tf.constant(array[context.replica_id_in_sync_group :: comm.size])

        return strategy.experimental_distribute_values_from_function(of_one)

    def step(_):
        compiled(*map(on_devices, next(batches)))

    return step, lambda: torch_layout(model.get_weights()), lambda: dict(sent)


def keras_layout(weights):
    """The weights in the order of Keras: (height, width, in, out) where PyTorch has (out, in, height, width)."""
    first, b_1, second, b_2, dense, b_3, last, b_4 = weights
    dense = dense.reshape(64, 16, 12, 12).transpose(2, 3, 1, 0).reshape(-1, 64)
    return [first.transpose(2, 3, 1, 0), b_1, second.transpose(2, 3, 1, 0), b_2, dense, b_3, last.T, b_4]


def torch_layout(weights):
    """The inverse of keras_layout."""
    first, b_1, second, b_2, dense, b_3, last, b_4 = weights
    dense = dense.reshape(12, 12, 16, 64).transpose(3, 2, 0, 1).reshape(64, -1)
    return [first.transpose(3, 2, 0, 1), b_1, second.transpose(3, 2, 0, 1), b_2, dense, b_3, last.T, b_4]
