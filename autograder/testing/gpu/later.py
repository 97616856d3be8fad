"""The parts of labs 10 to 17: what each of them expects of GPUs. Lab 11 says nothing about them."""

from autograder.testing.gpu.ranks import join_group, run_ranks
from autograder.testing.gpu.tools import TRIAL, device_of, milliseconds, part
from autograder.testing.gpu.training import wide_network

# ---------------------------------------------------------------------- lab 10


@part(
    "10-local-steps",
    "10",
    "inside a machine, averaging after every step costs little more than local steps",
    "two GPUs",
)
def local_steps():
    import torch

    size = 2 if TRIAL else min(torch.cuda.device_count(), 4)
    return {"ranks": size} | run_ranks(local_sgd_rank, size, (1, 8, 64))[0]


def local_sgd_rank(rank, size, folder, intervals):
    """Return the median ms per step for each number of local steps between two averages; a rank of run_ranks."""
    import torch

    dist = join_group(rank, size, folder, "gloo" if TRIAL else "nccl")
    model = wide_network().to(device_of(rank))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    X, y = (torch.randn(64, 256, device=device_of(rank)) for _ in range(2))

    def train(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            ((model(X) - y) ** 2).mean().backward()
            optimizer.step()
        with torch.no_grad():
            for param in model.parameters():
                dist.all_reduce(param)
                param /= size

    figures = {f"tau = {tau}, ms per step": milliseconds(lambda tau=tau: train(tau), 5) / tau for tau in intervals}
    dist.destroy_process_group()
    return figures


# ---------------------------------------------------------------------- lab 12


@part("12-top-k", "12", "selecting the largest entries on a GPU takes long beside the copy that it saves")
def top_k():
    import torch

    gradient, figures = torch.randn(2**18 if TRIAL else 25 * 2**20, device=device_of()), {}
    k = gradient.numel() // 1000
    figures["entries"] = gradient.numel()
    figures["top 0.1%, ms"] = milliseconds(lambda: gradient.abs().topk(k).indices, 10)
    figures["to 16 bits, ms"] = milliseconds(lambda: gradient.half(), 10)
    figures["copy to the host, ms"] = milliseconds(gradient.cpu, 10)
    return figures


# ---------------------------------------------------------------------- lab 13


@part("13-all-reduce", "13", "the cost model's alpha and beta, from all-reduces between GPUs", "two GPUs")
def cost_of_all_reduce():
    import torch

    size = 2 if TRIAL else min(torch.cuda.device_count(), 4)
    small, large = run_ranks(all_reduce_rank, size, (1, 10**5 if TRIAL else 10**7))[0]
    nbytes = 8e5 if TRIAL else 8e7
    return {
        "ranks": size,
        "alpha, us": round(1e3 * small / (2 * (size - 1)), 2),
        "beta, GB/s": round(2 * (size - 1) / size * nbytes / max(large - small, 1e-6) / 1e6, 3),
    }


def all_reduce_rank(rank, size, folder, counts):
    """Return the median ms of an all-reduce of so many numbers of float64, per count; a rank of run_ranks."""
    import torch

    dist = join_group(rank, size, folder, "gloo" if TRIAL else "nccl")
    xs = [torch.ones(count, dtype=torch.float64, device=device_of(rank)) for count in counts]
    times = [milliseconds(lambda x=x: dist.all_reduce(x)) for x in xs]
    dist.destroy_process_group()
    return times


# ---------------------------------------------------------------------- labs 14 and 15


@part("14-mapper", "14", "a GPU computes the distances of k-means faster than NumPy, and finds the same keys")
def k_means_mapper():
    import numpy as np
    import torch

    points = np.random.default_rng(0).normal(size=(2000 if TRIAL else 200_000, 64)).astype(np.float32)
    there = torch.from_numpy(points).to(device_of())

    def by_numpy():
        squares = (points**2).sum(1)[:, None] - 2 * points @ points[:10].T + (points[:10] ** 2).sum(1)
        return squares.argmin(1)

    def by_torch():
        return torch.cdist(there, there[:10]).argmin(dim=1)

    same = float((by_numpy() == by_torch().cpu().numpy()).mean())
    return {"numpy_ms": milliseconds(by_numpy, 5), "gpu_ms": milliseconds(by_torch, 5), "same_keys": same}


@part("15-forward", "15", "an LSTM's time grows with the number of steps, an attention's hardly at first")
def sequence_models():
    import torch

    lstm = torch.nn.LSTM(64, 256, batch_first=True).to(device_of())
    attention = torch.nn.MultiheadAttention(256, 4, batch_first=True).to(device_of())
    figures = {}
    with torch.no_grad():
        for T in (16, 32) if TRIAL else (128, 512, 2048):
            x, y = torch.zeros(16, T, 64, device=device_of()), torch.zeros(16, T, 256, device=device_of())
            figures[f"lstm, {T} steps, ms"] = milliseconds(lambda x=x: lstm(x), 5)
            figures[f"attention, {T} steps, ms"] = milliseconds(lambda y=y: attention(y, y, y, need_weights=False), 5)
    return figures


# ---------------------------------------------------------------------- labs 16 and 17


@part("16-gradient", "16", "a network of 10 units gains nothing from a GPU, one of 256 with 2,000 points much")
def gradient_of_a_small_network():
    import torch

    figures = {}
    for width, rows in ((10, 250), (256, 2000)):
        for name, device in (("cpu", torch.device("cpu")), ("gpu", device_of())):
            sizes, Tanh = (2, width, width, 2), torch.nn.Tanh
            first, second, last = (torch.nn.Linear(*sizes[i : i + 2]) for i in range(3))
            net = torch.nn.Sequential(first, Tanh(), second, Tanh(), last).to(device)
            inputs = torch.rand(rows, 2, device=device)
            step = milliseconds(lambda net=net, inputs=inputs: net(inputs).square().mean().backward())
            figures[f"{width} units, {rows} points, {name} ms"] = step
    return figures


@part("17-large-model", "17", "300 steps of the large model take about a minute on a current GPU", "environment")
def large_model():
    import numpy as np

    from course.experiments import language

    size, rows = ("small", 4) if TRIAL else ("large", 64)
    state, context = language.begin(1, size), language.SIZES[size].context
    windows = np.random.default_rng(0).integers(0, len(language.text()[2]), (rows, context + 1))
    device = str(device_of())
    step = milliseconds(lambda: language.gradient(state["theta"], windows, size=size, device=device), 5)
    return {"weights": language.parameters(size), "gradient_ms": step, "300_gradients_s": round(0.3 * step, 1)}
