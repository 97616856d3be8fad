"""The networks of lab 16: derivatives are exact, the optimizers lower the loss, and a tree is trained on ranks."""

import numpy as np
import pytest
import torch

from course.experiments import arteries, least_squares, physics
from course.spmd import spmd


@pytest.fixture
def network():
    torch.set_num_threads(1)
    return physics.ArteryNetwork(arteries.TREE[1], 2.0, 0, physics.LAWS, unknowns=(0.5, 1.0, 2.0))


def all_terms(network):
    zeros = np.zeros(physics.TIMES)
    return [
        network.equation(),
        network.velocity(0.0, zeros),
        network.incoming(1.0, zeros),
        network.outlet(),
        network.measured(0.5, zeros + 1, zeros + 0.4, zeros),
    ]


def test_the_jacobian_is_that_of_finite_differences(network):
    terms = all_terms(network)
    J = least_squares.jacobian_of(network.theta, terms)
    rng = np.random.default_rng(0)
    for k in [*rng.integers(len(network.theta), size=5), -3, -2, -1]:
        moved = [network.theta.clone(), network.theta.clone()]
        moved[0][k] += 1e-6
        moved[1][k] -= 1e-6
        slope = (least_squares.residuals_of(moved[0], terms) - least_squares.residuals_of(moved[1], terms)) / 2e-6
        torch.testing.assert_close(J[:, k], slope, rtol=1e-5, atol=1e-6)


def test_slopes_in_the_equation_are_those_of_autograd(network):
    x, t = (each.clone().requires_grad_() for each in network.points)
    A, u = network.state(network.theta, x, t).unbind(-1)
    slopes = [torch.autograd.grad(field.sum(), (x, t), retain_graph=True) for field in (A, u)]
    _, along_x, along_t = network._with_slopes(network.theta, *network.points)
    for i, (by_x, by_t) in enumerate(slopes):
        torch.testing.assert_close(along_x[i], by_x)
        torch.testing.assert_close(along_t[i], by_t)


@pytest.mark.parametrize("way", [least_squares.levenberg_marquardt, least_squares.lbfgs, least_squares.adam])
def test_each_optimizer_lowers_the_loss_and_leaves_the_start_alone(network, way):
    terms, before = all_terms(network), network.theta.clone()
    theta = next(way(network.theta, terms, 5))
    loss, first = ((least_squares.residuals_of(each, terms) ** 2).sum() for each in (theta, before))
    assert loss < 0.9 * first and torch.equal(network.theta, before) and not theta.requires_grad


def test_a_vessel_of_zero_outputs_is_at_rest_and_its_residuals_are_those_of_the_inflow():
    network = physics.ArteryNetwork(arteries.PARENT, 3.0, 0, physics.LAWS)
    network.theta = 0 * network.theta
    inflow = arteries.pulse(network.times, 1.0)
    terms = [network.equation(), network.velocity(0.0, inflow), network.incoming(1.0, 0 * inflow)]
    loss = (least_squares.residuals_of(network.theta, terms) ** 2).sum().item()
    assert loss == pytest.approx(physics.OF_ENDS * np.mean((inflow / arteries.U) ** 2))
    assert np.array_equal(network.leaving(1.0), 0 * inflow)


@pytest.mark.long
def test_rounds_bring_the_tree_closer_to_the_reference():
    def exchange(comm, outgoing, meet):
        if comm.rank:
            comm.send(outgoing, 0)
            return comm.recv(np.empty_like(outgoing), 0)
        back = meet([outgoing] + [comm.recv(np.empty_like(outgoing), rank) for rank in (1, 2)])
        for rank in (1, 2):
            comm.send(back[rank].copy(), rank)
        return back[0]

    options = {"exchange": exchange, "laws": physics.LAWS, "rounds": 3, "seed": 1}
    run = np.array(spmd(physics.train_tree, ranks=3, carrier="simulated", timeout=300, **options))
    _, _, A, u = arteries.reference("tree")
    errors = [arteries.relative_errors(arteries.TREE, run[:, k, 0], run[:, k, 1], A, u)[0] for k in range(3)]
    assert errors[0] > 0.5 and errors[1] < 0.15 and errors[2] < 0.05


@pytest.mark.long
def test_an_outlet_is_discovered_from_the_inlet():
    path, errors = physics.discover(physics.LAWS, seed=0)
    assert np.all(np.abs(path[-1] / arteries.OUTLET - 1) < 0.1) and max(errors) < 0.05
    assert np.array_equal(path[0], (0.5, 1.0, 1.0))
