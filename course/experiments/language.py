"""A small character-level transformer: the text, the model and the optimizer of the lab on language models.

The text is that of NumPy's documentation (`datasets/numpy-docs.md`). All weights of a model lie in one flat float32
array, so that a ring can send their gradient. The model is a transformer without biases (Vaswani and others, *Attention
is all you need*, 2017), with the norm before each part of a block (Xiong and others, *On layer normalization in the
transformer architecture*, 2020), norms that only divide by the root mean square (Zhang and Sennrich, *Root mean square
layer normalization*, 2019), and the characters' vectors used again for the output (Press and Wolf, *Using the output
embedding to improve language models*, 2017).
"""

import contextlib
import functools
import io
import math
from dataclasses import dataclass

import numpy as np

from course import data
from course.comm import Status

HELD_OUT = 0.1  # of the entries of the text
SEED = 0  # of the order of the entries: the same text for all
BETA1, BETA2, EPSILON = 0.9, 0.99, 1e-8  # of Adam


@dataclass(frozen=True)
class Size:
    """A model: numbers per character, heads of the attention, blocks, and the number of characters that it sees."""

    width: int
    heads: int
    blocks: int
    context: int


SIZES = {
    "tiny": Size(width=48, heads=3, blocks=1, context=32),  # 33,600 weights, for checks
    "small": Size(width=64, heads=4, blocks=2, context=32),  # 106,240 weights
    "large": Size(width=384, heads=6, blocks=6, context=256),  # 10,750,464 weights, for a GPU
}


def shapes(size):
    """The shapes of the weights, in their order in the flat array. size: a name in SIZES, here and in all functions."""
    d, block = SIZES[size].width, []
    for _ in range(SIZES[size].blocks):
        block += [(d, 3 * d), (d, d), (d, 4 * d), (4 * d, d)]
    return [(len(text()[2]), d), (SIZES[size].context, d), *block]


def parameters(size):
    """The number of weights."""
    return sum(math.prod(shape) for shape in shapes(size))


@functools.cache
def text():
    """(training, held_out, characters): whole numbers, int64, and the string whose character i has the number i."""
    with contextlib.redirect_stdout(io.StringIO()):
        entries = data.load("numpy-docs")["entry"]
    characters = "".join(sorted(set("".join(entries)) | {"\n"}))
    number = {character: i for i, character in enumerate(characters)}
    order = np.random.default_rng(SEED).permutation(len(entries))
    cut = round(HELD_OUT * len(entries))
    held_out, training = (
        np.array([number[character] for i in part for character in entries[i] + "\n\n"], dtype=np.int64)
        for part in (order[:cut], order[cut:])
    )
    return training, held_out, characters


def begin(seed, size):
    """The state of training before the first step: theta, m, v and residual, flat float32 arrays, and t = 0."""
    rng, width = np.random.default_rng(seed), SIZES[size].width
    scales = [0.05, 0.05] + SIZES[size].blocks * [width**-0.5, 0, width**-0.5, 0]
    parts = [scale * rng.standard_normal(shape).ravel() for scale, shape in zip(scales, shapes(size), strict=True)]
    theta = np.concatenate(parts).astype(np.float32)
    return {"t": 0, "theta": theta} | {name: np.zeros_like(theta) for name in ("m", "v", "residual")}


def gradient(theta, windows, size, device="cpu"):
    """The gradient of the mean loss in nats of all characters of windows but the first of each; float32, as theta.

    theta: float32, shape (weights,). windows: int64, shape (n, T + 1), T at most the context of the size. One thread
    computes, so the same arguments give the same bits.
    """
    import torch

    with one_thread():
        weights = torch.tensor(theta, device=device, requires_grad=True)
        compute_loss(weights, torch.tensor(windows, device=device), size).backward()
        return weights.grad.cpu().numpy()


def held_out_loss(theta, size, device="cpu"):
    """The mean loss in nats per character on the held-out text, cut into windows as long as the context."""
    import torch

    held_out, context = text()[1], SIZES[size].context
    starts = np.arange(0, len(held_out) - context, context)
    windows = torch.tensor(held_out[starts[:, None] + np.arange(context + 1)], device=device)
    weights = torch.tensor(theta, device=device)
    with torch.no_grad(), one_thread():
        losses = [compute_loss(weights, part, size).item() * len(part) for part in windows.split(64)]
    return sum(losses) / len(windows)


def write(theta, size, prompt, count, seed=0, device="cpu"):
    """The prompt and `count` characters that the model appends to it, each drawn with its probability."""
    import torch

    characters = text()[2]
    written, weights = [characters.index(each) for each in prompt], torch.tensor(theta, device=device)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad(), one_thread():
        for _ in range(count):
            seen = torch.tensor([written[-SIZES[size].context :]], device=device)
            chances = forward(weights, seen, size)[0, -1].softmax(dim=0).cpu()
            written.append(int(torch.multinomial(chances, 1, generator=generator)))
    return "".join(characters[i] for i in written)


def adam(theta, m, v, g, t, eta):
    """(new theta, new m, new v) of step t, counted from 1, with the gradient g and the learning rate eta.

    Kingma and Ba, *Adam: a method for stochastic optimization*, 2015, algorithm 1. New float32 arrays.
    """
    m = BETA1 * m + (1 - BETA1) * g
    v = BETA2 * v + (1 - BETA2) * g * g
    step = eta * (m / (1 - BETA1**t)) / (np.sqrt(v / (1 - BETA2**t)) + EPSILON)
    return tuple(np.asarray(each, np.float32) for each in (theta - step, m, v))


def exchange(comm, message):
    """The messages of all ranks in the order of ranks, a list of 1-D arrays; they may differ in length (lab 12)."""
    status, messages = Status(), {comm.rank: message}
    requests = [comm.isend(message, (comm.rank + distance) % comm.size) for distance in range(1, comm.size)]
    for distance in range(1, comm.size):
        source = (comm.rank - distance) % comm.size
        comm.probe(source=source, status=status)
        messages[source] = comm.recv(np.empty(status.count, message.dtype), source=source)
    comm.waitall(requests)
    return [messages[rank] for rank in range(comm.size)]


@contextlib.contextmanager
def one_thread():
    """Let PyTorch compute with one thread: the matrices are small, and the order of sums is the same everywhere."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def compute_loss(weights, windows, size):
    """The mean loss in nats, a tensor; weights: flat tensor, windows: tensor, as in `gradient`."""
    from torch.nn.functional import cross_entropy

    scores = forward(weights, windows[:, :-1], size)
    return cross_entropy(scores.flatten(0, 1), windows[:, 1:].flatten())


def forward(weights, x, size):
    """The scores of each next character, shape (n, T, characters); x: tensor, int64, shape (n, T)."""
    from torch.nn.functional import relu, scaled_dot_product_attention

    pieces = weights.split([math.prod(shape) for shape in shapes(size)])
    vectors, places, *parts = (piece.view(shape) for piece, shape in zip(pieces, shapes(size), strict=True))
    h = vectors[x] + places[: x.shape[1]]
    for read, mix, up, down in zip(*[iter(parts)] * 4, strict=True):
        heads = [
            each.unflatten(-1, (SIZES[size].heads, -1)).transpose(1, 2)
            for each in (normalize(h) @ read).chunk(3, dim=-1)
        ]
        seen = scaled_dot_product_attention(*heads, is_causal=True)
        h = h + seen.transpose(1, 2).flatten(-2) @ mix
        h = h + relu(normalize(h) @ up) @ down
    return normalize(h) @ vectors.T


def normalize(h):
    """h divided by the root mean square over its last axis."""
    return h * (h.square().mean(dim=-1, keepdim=True) + 1e-6).rsqrt()
