"""The language model: its text, its gradient, its optimizer, and the exchange of messages of unequal length."""

import numpy as np
import pytest
import torch

from course.experiments import language
from course.spmd import spmd


def test_the_held_out_entries_are_not_in_the_training_text():
    training, held_out, characters = language.text()
    texts = ["".join(characters[i] for i in part) for part in (training, held_out)]
    assert not any(entry in texts[0] for entry in texts[1].split("\n\n") if len(entry) > 400)
    assert len(characters) == 92 and 0.05 < len(held_out) / len(training) < 0.2


@pytest.mark.parametrize(("size", "weights"), [("tiny", 33_600), ("small", 106_240), ("large", 10_750_464)])
def test_the_sizes_have_the_numbers_of_weights_that_the_lab_states(size, weights):
    assert language.parameters(size) == weights


def test_the_gradient_is_that_of_the_loss_along_any_direction():
    rng = np.random.default_rng(0)
    theta = language.begin(0, "tiny")["theta"] + rng.normal(0, 0.05, 33_600).astype(np.float32)
    windows = rng.integers(92, size=(2, 9))
    direction = rng.standard_normal(33_600) / 33_600**0.5

    def loss_at(step):
        weights = torch.tensor(theta + step * direction, dtype=torch.float64)
        return language.compute_loss(weights, torch.tensor(windows), "tiny").item()

    slope = (loss_at(1e-3) - loss_at(-1e-3)) / 2e-3
    g = language.gradient(theta, windows, "tiny")
    assert g.dtype == np.float32 and g @ direction == pytest.approx(slope, rel=1e-3, abs=1e-5)
    assert g.tobytes() == language.gradient(theta, windows, "tiny").tobytes()


def test_a_character_is_predicted_from_those_before_it_only():
    weights = torch.tensor(language.begin(1, "tiny")["theta"])
    weights += 0.1 * torch.randn(len(weights), generator=torch.Generator().manual_seed(0))
    x = torch.arange(20)[None]
    changed = x.clone()
    changed[0, 10:] = 7
    before, after = (language.forward(weights, each, "tiny") for each in (x, changed))
    assert torch.allclose(before[0, :10], after[0, :10], atol=1e-5)
    assert not torch.allclose(before[0, 10:], after[0, 10:], atol=1e-2)


def test_adam_is_that_of_pytorch():
    rng, theta = np.random.default_rng(2), np.ones(5, np.float32)
    m = v = np.zeros(5, np.float32)
    parameter = torch.nn.Parameter(torch.ones(5))
    optimizer = torch.optim.Adam([parameter], lr=0.1, betas=(language.BETA1, language.BETA2), eps=language.EPSILON)
    for t in range(1, 6):
        g = rng.standard_normal(5).astype(np.float32)
        theta, m, v = language.adam(theta, m, v, g, t, 0.1)
        parameter.grad = torch.from_numpy(g)
        optimizer.step()
    np.testing.assert_allclose(theta, parameter.detach().numpy(), rtol=1e-5)
    assert theta.dtype == m.dtype == v.dtype == np.float32


def test_messages_of_unequal_length_come_in_the_order_of_ranks():
    run = spmd(language.exchange, [np.arange(n) for n in (3, 0, 5)], carrier="simulated")
    assert all([len(each) for each in got] == [3, 0, 5] for got in run)


def test_the_untrained_model_knows_nothing_and_writes_what_it_is_asked_for():
    theta = language.begin(0, "small")["theta"]
    assert language.held_out_loss(theta, "small") == pytest.approx(np.log(92), abs=0.1)
    written = language.write(theta, "small", "Return ", 40)
    assert written.startswith("Return ") and len(written) == 47
