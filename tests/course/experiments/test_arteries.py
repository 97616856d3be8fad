"""The reference of lab 16: finite volumes keep what physics keeps, and the stored fields are what they compute."""

import numpy as np
import pytest

from course.experiments import arteries


def waves(vessel, A, u):
    """W+ and W-."""
    rise = 4 * ((vessel.beta / 2) ** 0.5 * A**0.25 - vessel.c0)
    return u + rise, u - rise


def test_a_junction_keeps_mass_and_total_pressure():
    outgoing = np.random.default_rng(0).uniform(-0.2, 0.2, (3, 7))
    incoming = arteries.meet(outgoing)
    states = []
    for i, vessel in enumerate(arteries.TREE):
        plus, minus = (outgoing[i], incoming[i]) if i == 0 else (incoming[i], outgoing[i])
        A, u = (2 * (vessel.c0 + (plus - minus) / 8) ** 2 / vessel.beta) ** 2, (plus + minus) / 2
        states.append((A * u, arteries.pressure(vessel, A) + u**2 / 2))
    (flow, total), (flow_2, total_2), (flow_3, total_3) = states
    np.testing.assert_allclose(flow, flow_2 + flow_3, atol=1e-13)
    np.testing.assert_allclose([total_2, total_3], [total, total], atol=1e-13)


def test_a_tiny_pulse_is_reflected_as_linear_theory_says():
    t, _, A, u = arteries.solve(arteries.TREE, T=3.0, tau=1.0, height=1e-4, cells=80)
    plus, minus = waves(arteries.PARENT, A[0, :, 40], u[0, :, 40])
    Y = [vessel.A0 / vessel.c0 for vessel in arteries.TREE]
    assert abs(np.max(-minus) / np.max(plus[t < 2]) - (Y[0] - Y[1] - Y[2]) / sum(Y)) < 0.005


def test_a_pulse_leaves_a_vessel_without_reflection_and_nothing_is_lost_before():
    t, _, A, u = arteries.solve((arteries.PARENT,), T=3.0, tau=1.0, cells=80)
    inflow = np.trapezoid(arteries.pulse(np.linspace(0, 1, 1001), 1.0), dx=1e-3)
    assert 1.0 < (A[0, t == 1.0] - 1).sum() / 80 / inflow < 1.2  # the section at the inlet is up to 20% larger
    assert np.abs(u[0, -1]).max() < 1e-3 and np.abs(A[0, -1] - 1).max() < 2e-3


def test_a_steady_flow_through_an_outlet_has_the_pressure_of_both_resistances():
    # A pulse so long that the flow is almost steady at its middle.
    _, _, A, u = arteries.solve((arteries.PARENT,), T=40.0, tau=80.0, outlets=((1.0, 2.0, 0.5),), height=1e-4, cells=20)
    assert arteries.pressure(arteries.PARENT, A[0, -1, -1]) / (A[0, -1, -1] * u[0, -1, -1]) == pytest.approx(
        3, rel=0.02
    )


@pytest.mark.parametrize("name", arteries.CASES)
def test_few_cells_are_close_to_the_stored_fields(name):
    case = arteries.CASES[name]
    t, x, A_right, u_right = arteries.reference(name)
    seconds, _, A, u = arteries.solve(**case, cells=40)
    assert np.array_equal(t, seconds) and A_right.shape == (len(case["vessels"]), len(t), len(x))
    errors = arteries.relative_errors(case["vessels"], A, u, A_right, u_right)
    assert max(errors) < 0.03


@pytest.mark.long
def test_the_stored_fields_are_what_the_solver_computes(tmp_path, monkeypatch):
    shipped = {name: arteries.reference(name) for name in arteries.CASES}
    monkeypatch.setattr(arteries, "STORED", tmp_path / "again.npz")
    arteries.write_reference()
    for name, fields in shipped.items():
        for again, its in zip(arteries.reference(name), fields, strict=True):
            np.testing.assert_allclose(again, its, atol=1e-6)
