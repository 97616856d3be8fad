"""What lab 15 gives: a recurrent layer with a clock, sequences, and small networks."""

import numpy as np
import pytest
import torch

from course.comm import Simulated
from course.experiments import sequences
from course.spmd import spmd


def run_layer(comm, **given):
    return sequences.layer(comm, **given)


def test_the_layer_computes_what_pytorchs_rnn_does_and_takes_a_second_per_step():
    rng = np.random.default_rng(1)
    given = {"x": rng.normal(size=(5, 2, 3)), "W": rng.normal(size=(3, 4)), "U": rng.normal(size=(4, 4))}
    given |= {"b": rng.normal(size=4), "h": rng.normal(size=(2, 4))}
    before = {name: each.copy() for name, each in given.items()}
    run = spmd(run_layer, ranks=1, carrier=Simulated(alpha=0.0, beta=1e18), **given)
    theirs = torch.nn.RNN(3, 4).double()
    weights = [torch.tensor(each) for each in (given["W"].T, given["U"].T, given["b"], 0 * given["b"])]
    theirs.load_state_dict(dict(zip(theirs.state_dict(), weights, strict=True)))
    right = theirs(torch.tensor(given["x"]), torch.tensor(given["h"])[None])[0].detach().numpy()
    assert np.allclose(run[0], right, rtol=1e-12, atol=1e-12)
    assert run.trace.seconds == 5
    assert all(np.array_equal(given[name], before[name]) for name in given)


def test_sequences_have_different_lengths_and_the_same_ones_for_the_same_seed():
    first, again = sequences.uneven_sequences(3), sequences.uneven_sequences(3)
    assert len({len(x) for x, _ in first}) > 1
    assert all(x.shape == (len(y), 1, 2) and 3 <= len(x) < 40 for x, y in first)
    assert all(np.array_equal(x, other) for (x, _), (other, _) in zip(first, again, strict=True))


def test_a_larger_forget_bias_lets_the_gradient_reach_farther_back():
    far = [sequences.cell_gradients(bias, 0, T=30)[0] for bias in (0, 1, 3)]
    assert far[0] < far[1] < far[2]


@pytest.mark.parametrize("kind", ["rnn", "lstm", "attention"])
def test_a_reader_does_not_see_later_steps(kind):
    torch.manual_seed(0)
    reader = sequences.make_reader(kind, 6)
    x = torch.randn(2, 6, 1)
    changed = x.clone()
    changed[:, 4:] += 1
    one, other = reader(x), reader(changed)
    assert one.shape == (2, 6)
    assert torch.allclose(one[:, :4], other[:, :4], atol=1e-6) and not torch.allclose(one[:, 4:], other[:, 4:])


def test_the_forget_bias_is_added_to_the_forget_gates_alone():
    biases = []
    for bias in (0.0, 3.0):
        torch.manual_seed(0)
        biases.append(sequences.make_reader("lstm", 5, bias=bias).body.bias_ih_l0.detach())
    change = (biases[1] - biases[0]).reshape(4, sequences.UNITS)
    assert torch.allclose(change, torch.tensor([0.0, 3, 0, 0])[:, None].expand(4, sequences.UNITS), atol=1e-6)


def test_attention_learns_a_short_memory_task_in_the_same_way_each_time():
    shares = sequences.train_memory("attention", 8, 0, steps=150)
    assert shares.shape == (150,) and shares[-20:].mean() > 0.95
    assert np.array_equal(shares[:20], sequences.train_memory("attention", 8, 0, steps=20))


def test_a_forecast_of_a_plain_oscillation_is_better_than_its_deviation():
    y = 50 + 40 * np.sin(np.arange(309) * 2 * np.pi / 11)
    assert sequences.train_sunspots(y, "rnn", 0, steps=100) < 15 < y.std()
