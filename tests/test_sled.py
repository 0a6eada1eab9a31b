"""The Chaplygin sleigh as a sled on one blade: closed forms, and the cusp where it turns round."""

from __future__ import annotations

import numpy as np
import pytest
from runs import moment, rate, residuals, yaw

import nhmech

MASS, INERTIA, AHEAD, HEIGHT, GRAVITY = 2.0, 0.3, 0.25, 0.1, 9.81


@pytest.mark.parametrize("v, omega", [(0.4, 1.5), (-0.9, 0.05)])
def test_speeds_follow_the_closed_form(vehicle, v, omega):
    """v = V tanh(k t + c), omega = W sech(k t + c), m V^2 = m v0^2 + (I + m a^2) omega0^2,
    k = m a V / (I + m a^2). Bloch 2003, 1.7."""
    total = INERTIA + MASS * AHEAD ** 2
    V = np.sqrt(v ** 2 + total * omega ** 2 / MASS)
    k, c = MASS * AHEAD * V / total, np.arctanh(v / V)
    simulator = nhmech.Simulator(vehicle("sled"), dt=1e-3)
    simulator.reset((1.0, 2.0, 0.3), xi={"forward_speed": v, "yaw_rate": omega})
    run = simulator.run(10.0, every=10)
    np.testing.assert_allclose(rate(run, "forward_speed"), V * np.tanh(k * run.t + c), rtol=0,
                               atol=1e-11)
    np.testing.assert_allclose(rate(run, "yaw_rate"), omega * np.cosh(c) / np.cosh(k * run.t + c),
                               rtol=0, atol=1e-11)
    slip, height = residuals(vehicle("sled"), run)
    assert slip.max() <= 1e-12 and height.max() <= 1e-12


@pytest.mark.parametrize("name", ["sleigh", "sleigh_reversing"])
def test_trajectories_of_the_reference_cases(vehicle, case, name):
    reference, sled = case(name), vehicle("sled")
    start, tolerance = reference["initial_state"], reference["tolerance"]
    assert (reference["parameters"]["m"], reference["parameters"]["I"],
            reference["parameters"]["a"]) == (
        MASS, INERTIA, AHEAD)
    simulator = nhmech.Simulator(sled, dt=1e-3)
    simulator.reset((start["x"], start["y"], start["phi"]),
                    xi={"forward_speed": start["v"], "yaw_rate": start["omega"]})
    run = simulator.run(8.0, every=100)
    heading, rest = yaw(run), MASS * GRAVITY * HEIGHT
    for sample in reference["expected"]["samples"]:
        i = moment(run, sample["t"])
        contact = sled.contact_points(run.q[i])[0]
        found = [*contact, heading[i], rate(run, "forward_speed")[i], rate(run, "yaw_rate")[i],
                 run.energy[i] - rest]
        wanted = [sample["x"], sample["y"], 0.0, sample["phi"], sample["v"], sample["omega"],
                  reference["expected"]["energy"]]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance["state"],
                                   err_msg=f"t = {sample['t']}")
        force = run.reactions[i].components["sled"]["lateral"]
        assert force == pytest.approx(sample["blade_lateral_force"], abs=tolerance["force"])


def test_a_sled_with_its_mass_above_the_blade_runs_a_circle(vehicle, case):
    """The unit sled of Saunders, Sarlet and Cantrijn: phi'' = 0, speed constant, lateral force m v
    phi'."""
    reference = case("sled")
    start, tolerance = reference["initial_state"], reference["tolerance"]
    sled = vehicle("sled").with_parameters({"sled.mass": 1.0, "sled.com_x": 0.0, "sled.Izz": 1.0})
    simulator = nhmech.Simulator(sled, dt=1e-3)
    simulator.reset((start["x"], start["y"], start["phi"]),
                    xi={"forward_speed": start["speed"], "yaw_rate": start["phid"]})
    run = simulator.run(1.9, every=100)
    heading = yaw(run)
    for sample in reference["expected"]["samples"]:
        i = moment(run, sample["t"])
        speed = rate(run, "forward_speed")[i]
        found = [*run.q[i, :2], heading[i], speed * np.cos(heading[i]), speed * np.sin(heading[i])]
        np.testing.assert_allclose(found, [sample[name] for name in ("x", "y", "phi", "xd", "yd")],
                                   rtol=0, atol=tolerance["state"])
        force = run.reactions[i].components["sled"]["lateral"]
        assert force == pytest.approx(sample["lateral_force"], abs=tolerance["multiplier"])
        assert force * np.cos(heading[i]) == pytest.approx(sample["lambda_paper"],
                                                           abs=tolerance["multiplier"])
