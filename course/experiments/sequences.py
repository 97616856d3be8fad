"""Given functions of lab 15: a recurrent layer with a clock, small networks that read a sequence, and their training.

Sequences are arrays with time as the first axis: (T, rows, inputs). What trains is PyTorch on one thread, in float32.
"""

import contextlib

import numpy as np

UNITS = 32
NOISE = 0.2  # standard deviation of the inputs of the memory task after the first one
YEARS = 250  # of the sunspots, 1700 to 1949, for training; the other 59 years are held out
WINDOW = 30  # years that a network reads before its forecast


@contextlib.contextmanager
def one_thread():
    """PyTorch computes with one thread here: with small matrices, more threads mostly wait for one another."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def layer(comm, x, W, U, b, h):
    """The states h_1 ... h_n of the recurrent layer h_t = tanh(x_t W + h_{t-1} U + b), an array (n, rows, units).

    x: shape (n, rows, inputs). h: the state before the first step, shape (rows, units). On simulated ranks one step
    takes one virtual second.
    """
    comm.compute(float(len(x)))
    states = []
    for now in x:
        h = np.tanh(now @ W + h @ U + b)
        states.append(h)
    return np.array(states)


def uneven_sequences(seed, count=16, inputs=2):
    """`count` pairs (x, y) of random sequences of 3 to 39 steps: x of shape (T, 1, inputs), y of shape (T, 1)."""
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(T, 1, inputs)), rng.normal(size=(T, 1))) for T in rng.integers(3, 40, count)]


@one_thread()
def cell_gradients(bias, seed, T=100, rows=8):
    """The norms of the gradient of a random function of c_T with respect to c_0, ..., c_T, of an LSTM; shape (T + 1,).

    bias: added to the forget gates' biases, which are 0 otherwise. The inputs and weights are random, U of scale
    1 / sqrt(units).
    """
    import torch

    rng = np.random.default_rng(seed)
    W, U = rng.normal(size=(1, 4 * UNITS)) * 0.3, rng.normal(size=(UNITS, 4 * UNITS)) / np.sqrt(UNITS)
    b = np.repeat([0.0, bias, 0.0, 0.0], UNITS)
    W, U, b, x = (torch.tensor(each) for each in (W, U, b, rng.normal(size=(T, rows, 1))))
    h = torch.zeros(rows, UNITS, dtype=torch.float64)
    cells = [torch.zeros(rows, UNITS, dtype=torch.float64, requires_grad=True)]
    for now in x:
        i, f, g, o = (now @ W + h @ U + b).chunk(4, dim=1)
        cells.append(torch.sigmoid(f) * cells[-1] + torch.sigmoid(i) * torch.tanh(g))
        h = torch.sigmoid(o) * torch.tanh(cells[-1])
    loss = (cells[-1] * torch.tensor(rng.normal(size=(rows, UNITS)))).sum()
    return np.array([float(torch.linalg.norm(grad)) for grad in torch.autograd.grad(loss, cells)])


def make_reader(kind, T, units=UNITS, bias=0.0):
    """A torch module from sequences (rows, T, 1) to one number per step, (rows, T).

    kind: "rnn", "lstm" or "attention": one head with a causal mask, and a learned vector per place. bias: added to the
    forget gates' biases of the LSTM.
    """
    import torch
    from torch import nn
    from torch.nn.functional import scaled_dot_product_attention

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            if kind == "attention":
                self.embed, self.places = nn.Linear(1, units), nn.Parameter(torch.randn(T, units))
                self.project = nn.Linear(units, 3 * units)
            else:
                self.body = (nn.LSTM if kind == "lstm" else nn.RNN)(1, units, batch_first=True)
            if kind == "lstm":
                with torch.no_grad():
                    self.body.bias_ih_l0[units : 2 * units] += bias
            self.out = nn.Linear(units, 1)

        def forward(self, x):
            if kind != "attention":
                return self.out(self.body(x)[0])[:, :, 0]
            parts = self.project(self.embed(x) + self.places).chunk(3, dim=2)
            return self.out(scaled_dot_product_attention(*parts, is_causal=True))[:, :, 0]

    return Reader()


@one_thread()
def train_memory(kind, T, seed, bias=0.0, steps=300, rows=64):
    """The share of right answers in each step, an array (steps,), while a reader learns the memory task.

    The first of T inputs is +1 or -1, the others are noise. After the last one the reader says the sign of the first.
    Adam with the learning rate 0.003; gradients are clipped to the norm 1. See `make_reader` for kind and bias.
    """
    import torch

    torch.manual_seed(seed)
    reader = make_reader(kind, T, bias=bias)
    optimizer = torch.optim.Adam(reader.parameters(), 3e-3)
    right = []
    for _ in range(steps):
        x = NOISE * torch.randn(rows, T, 1)
        sign = torch.randint(2, (rows,)) * 2.0 - 1
        x[:, 0, 0] = sign
        said = reader(x)[:, -1]
        right.append(float((said * sign > 0).float().mean()))
        optimizer.zero_grad()
        torch.nn.functional.softplus(-sign * said).mean().backward()
        torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
    return np.array(right)


@one_thread()
def train_sunspots(y, kind, seed, units=8, steps=300):
    """The error (root mean square) of one-step forecasts of the years after the first YEARS, by a network.

    y: one number per year. kind: "rnn" or "lstm". It reads windows of WINDOW years; Adam with the learning rate 0.005.
    The number of steps is fixed: the held-out years do not choose it.
    """
    import torch

    torch.manual_seed(seed)
    mean, scale = y[:YEARS].mean(), y[:YEARS].std()
    z = torch.tensor((y - mean) / scale, dtype=torch.float32)
    train = z[:YEARS].unfold(0, WINDOW + 1, 1)
    test = z[YEARS - WINDOW :].unfold(0, WINDOW + 1, 1)
    reader = make_reader(kind, WINDOW, units)
    optimizer = torch.optim.Adam(reader.parameters(), 5e-3)
    for _ in range(steps):
        optimizer.zero_grad()
        error = reader(train[:, :-1, None]) - train[:, 1:]
        (error[:, 9:] ** 2).mean().backward()  # the first steps of a window have read too little
        torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
    with torch.no_grad():
        error = reader(test[:, :-1, None])[:, -1] - test[:, -1]
    return float(scale * (error**2).mean().sqrt())


def count_operations(kind, T):
    """Multiplications and additions in the matrix products of a reader's forward pass over one sequence of T steps.

    They are counted by PyTorch. An attention counts all pairs of steps, also those that the mask hides.
    """
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter, torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        make_reader(kind, T).double()(torch.zeros(1, T, 1, dtype=torch.float64))  # the LSTM of float32 is not counted
    return counter.get_total_flops()
