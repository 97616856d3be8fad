"""The parts on single tensors, messages between ranks, and iterations: labs 03, 04, 05, 07 and 08."""

import functools
import os

from autograder.testing.gpu.ranks import compare_carriers, join_group, run_ranks, times_of_ranks
from autograder.testing.gpu.tools import TRIAL, Skipped, device_of, milliseconds, part

# ---------------------------------------------------------------------- lab 03


@part("03-step", "03", "a network of 64 units gains little from a GPU, one of 1,024 much")
def step_of_a_network():
    import torch

    figures = {}
    for hidden in (64, 1024):
        for name, device in (("cpu", torch.device("cpu")), ("gpu", device_of())):
            X = torch.rand(1000, 784, device=device)
            y = torch.randint(10, (1000,), device=device)
            layers = torch.nn.Linear(784, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 10)
            model = torch.nn.Sequential(*layers).to(device)

            def step(model=model, X=X, y=y):
                model.zero_grad()
                torch.nn.functional.cross_entropy(model(X), y).backward()

            figures[f"{hidden} units, {name} ms"] = milliseconds(step)
    return figures


@part("03-precision", "03", "float32 has about 7 digits, products of matrices on newer GPUs about 3 (TF32)")
def precision_of_products():
    import torch

    a, b = torch.rand(2, 1024, 1024, dtype=torch.float64)
    right, figures = a @ b, {}
    for setting in ("highest", "high"):
        torch.set_float32_matmul_precision(setting)
        got = (a.float().to(device_of()) @ b.float().to(device_of())).double().cpu()
        figures[f"relative error, precision {setting}"] = float(((got - right).abs() / right).max())
    return figures


# ---------------------------------------------------------------------- lab 04


@part("04-copies", "04", "a copy between GPU and host costs some ten microseconds, and then ten GB/s or more")
def copies():
    import torch

    figures = {}
    for nbytes in (8, 64 * 2**20):
        host, there = torch.ones(nbytes // 4), torch.ones(nbytes // 4, device=device_of())
        for name, copy in (("to the GPU", there.copy_), ("from the GPU", host.copy_)):
            ms = milliseconds(functools.partial(copy, host if name == "to the GPU" else there))
            figures[f"{nbytes} bytes {name}, us"] = round(1e3 * ms, 1)
            figures[f"{nbytes} bytes {name}, GB/s"] = round(nbytes / ms / 1e6, 3)
    return figures


@part("04-broadcast", "04", "the tree works on GPU tensors, which travel through the host's memory")
def broadcast_on_ranks():
    return compare_carriers("local", "04", "broadcast_tree", (4096, 16 * 2**20), 4)


# ---------------------------------------------------------------------- lab 05


@part("05-ring-one-gpu", "05", "several ranks share one GPU: the same ring, slower than without a GPU")
def ring_on_shared_gpu():
    return compare_carriers("torch", "05", "ring_allreduce", (4096, 16 * 2**20), 4)


@part("05-nccl-carrier", "05", "one rank per GPU: the carrier sends over NCCL, from GPU to GPU", "two GPUs")
def ring_over_nccl():
    import torch

    size = min(torch.cuda.device_count(), 4) if not TRIAL else 2
    sizes = (4096, 64 * 2**20)
    ours = run_ranks(times_of_ranks, size, "torch", "05", "ring_allreduce", sizes, True)[0]
    theirs = run_ranks(all_reduce_times, size, sizes)[0]
    return {f"{each} bytes": {"ring_ms": ours[each], "all_reduce_ms": theirs[each]} for each in sizes}


def all_reduce_times(rank, size, folder, sizes):
    """Return the median ms of torch.distributed's own all-reduce per size; a rank of run_ranks."""
    import torch

    dist = join_group(rank, size, folder, "nccl")
    times = {}
    for nbytes in sizes:
        x = torch.ones(nbytes // 4, device=device_of(rank))
        times[nbytes] = milliseconds(lambda x=x: dist.all_reduce(x))
    dist.destroy_process_group()
    return times


# ---------------------------------------------------------------------- lab 07


@part(
    "07-logical-gpus", "07", "four logical GPUs on one card give the outputs of one device, and no speed", "tensorflow"
)
def logical_gpus():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import numpy as np
    import tensorflow as tf

    kind = "CPU" if TRIAL else "GPU"
    cards = tf.config.list_physical_devices(kind)
    if not cards:
        raise Skipped("TensorFlow sees no GPU here: it is a build for processors, or lacks CUDA's libraries.")
    memory = None if TRIAL else 1024
    configuration = [tf.config.LogicalDeviceConfiguration(memory_limit=memory) for _ in range(4)]
    tf.config.set_logical_device_configuration(cards[0], configuration)
    names = [each.name for each in tf.config.list_logical_devices(kind)][:4]
    W = tf.constant(np.random.default_rng(0).normal(size=(512, 512)).astype(np.float32))
    X = np.random.default_rng(1).normal(size=(1024, 512)).astype(np.float32)

    def product(devices):
        parts = []
        for device, rows_of_device in zip(devices, np.array_split(X, len(devices)), strict=True):
            with tf.device(device):
                parts.append(tf.tanh(tf.constant(rows_of_device) @ W))
        return np.concatenate([each.numpy() for each in parts])

    strategy = tf.distribute.MirroredStrategy(names, cross_device_ops=tf.distribute.ReductionToOneDevice())
    return {
        "logical_devices": len(names),
        "largest_difference": float(np.abs(product(names) - product(names[:1])).max()),
        "one_device_ms": milliseconds(lambda: product(names[:1])),
        "four_devices_ms": milliseconds(lambda: product(names)),
        "replicas_of_MirroredStrategy": strategy.num_replicas_in_sync,
    }


# ---------------------------------------------------------------------- lab 08


@part("08-iterations", "08", "an iteration with 8,192 images takes hardly longer than one with 1,024")
def iterations():
    import torch

    layers = torch.nn
    figures = {}
    for batch in (8, 16) if TRIAL else (256, 1024, 8192):
        model = layers.Sequential(
            *(layers.Conv2d(1, 32, 3), layers.BatchNorm2d(32), layers.ReLU(), layers.MaxPool2d(2)),
            *(layers.Conv2d(32, 64, 3), layers.BatchNorm2d(64), layers.ReLU(), layers.MaxPool2d(2)),
            *(layers.Flatten(), layers.Linear(1600, 10)),
        ).to(device_of())
        X, y = torch.rand(batch, 1, 28, 28, device=device_of()), torch.randint(10, (batch,), device=device_of())

        def step(model=model, X=X, y=y):
            model.zero_grad()
            torch.nn.functional.cross_entropy(model(X), y).backward()

        figures[f"{batch} images, ms"] = milliseconds(step)
    return figures
