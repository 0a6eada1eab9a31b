"""The two-wheeled carriage of Neimark and Fufaev: the reduced equations, and rows that hold for
ever."""

from __future__ import annotations

import numpy as np
import pytest
from runs import angle, moment, rate, residuals, yaw

import nhmech
from nhmech.analysis.summary import mechanics_summary

# letters of the paper: a wheel radius, 2 r track
A, R, L, M0, M, I, C = 0.1, 0.25, 0.12, 3.0, 4.0, 0.1885, 0.0025
# psi1 is minus the turn of the right wheel, psi2 of the left
LEFT, RIGHT = "left_wheel_joint", "right_wheel_joint"


def reduced_acceleration(psi1: float, psi2: float) -> np.ndarray:
    """J psi'' = (m0 l a^3 / 4 r^2) (psi1' - psi2') (psi2', -psi1'). Cantrijn et al., J. Math.
    Phys. 40 (1999) 795, example VII.2."""
    near, far = M * A**2 / 4 + I * A**2 / (4 * R**2) + C, M * A**2 / 4 - I * A**2 / (4 * R**2)
    return np.linalg.solve([[near, far], [far, near]],
                           M0 * L * A ** 3 / (4 * R ** 2) * (psi1 - psi2) * np.array([psi2, -psi1]))


def test_accelerations_are_those_of_the_reduced_system(vehicle):
    carriage, rng = vehicle("carriage"), np.random.default_rng(5)
    assert carriage.speeds == (LEFT, RIGHT)
    for _ in range(20):
        left, right = rng.normal(size=2) * 8
        q = carriage.configuration((*rng.normal(size=2), rng.uniform(-3, 3)),
                                   {LEFT: rng.uniform(-3, 3), RIGHT: rng.uniform(-3, 3)})
        psi1, psi2 = reduced_acceleration(-right, -left)
        found = carriage.equations.drift(0, q, [left, right], [0, 0], [])[1].full().ravel()
        np.testing.assert_allclose(found, [-psi2, -psi1], rtol=1e-10, atol=1e-12)


def test_trajectory_of_the_reference_case(vehicle, case):
    reference, carriage = case("carriage"), vehicle("carriage")
    start, tolerance = reference["initial_state"], reference["tolerance"]["state"]
    simulator = nhmech.Simulator(carriage, dt=5e-4)
    simulator.reset((start["x"], start["y"], start["phi"]),
                    xi={LEFT: -start["psi2_rate"], RIGHT: -start["psi1_rate"]})
    assert simulator.state.xi["forward_speed"] == pytest.approx(start["forward_speed"], rel=1e-13,
                                                                abs=0)
    assert simulator.state.xi["yaw_rate"] == pytest.approx(start["yaw_rate"], rel=1e-13, abs=0)
    run = simulator.run(4.0, every=50)
    heading = yaw(run)
    for sample in reference["expected"]["samples"]:
        i = moment(run, sample["t"])
        found = [*run.q[i, :2],
                 heading[i], -angle(run, RIGHT)[i], -angle(run, LEFT)[i], -rate(run, RIGHT)[i],
                 -rate(run, LEFT)[i], rate(run, "forward_speed")[i], rate(run, "yaw_rate")[i]]
        wanted = [sample[name] for name in ("x", "y", "phi", "psi1", "psi2", "psi1_rate",
                                            "psi2_rate", "forward_speed", "yaw_rate")]
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=tolerance,
                                   err_msg=f"t = {sample['t']}")
    # all centres of mass are at the height of the axle
    weight = A * M * 9.81
    np.testing.assert_allclose(run.energy - weight, reference["expected"]["energy"], rtol=0,
                               atol=1e-11)
    np.testing.assert_allclose(reduced_acceleration(start["psi1_rate"], start["psi2_rate"]),
                               reference["expected"]["psi_acc_at_t0"], rtol=1e-12)


def test_dropped_rows_are_among_those_that_are_checked(vehicle):
    carriage = vehicle("carriage")
    summary = mechanics_summary(carriage)
    assert (len(summary["rows"]) == 7 and len(summary["dropped_rows"]) == 1
            and summary["dropped_rows"][0].endswith("/lateral"))


@pytest.mark.parametrize("name, count", [("ackermann_car", 1), ("rover", 3), ("swerve", 2)])
def test_followers_are_the_steering_joints_that_do_not_lead(vehicle, name, count):
    robot = vehicle(name)
    found, leaders = mechanics_summary(robot)["followers"], robot.steering.pair()
    assert len(found) == count
    assert {*found} == ({axle.steering for axle in robot.steering.steered}
                        - {axle.steering for axle in leaders})


@pytest.mark.parametrize("steps", [100_000, pytest.param(1_000_000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("left, right", [(10.0, 10.0), (10.0, -10.0)])
def test_rows_hold_after_each_of_many_steps(vehicle, steps, left, right):
    """|A v| <= 1e-12 |v| of all rows, |phi| <= 1e-12 max(1 m, |p|), with steps of 1 ms."""
    carriage = vehicle("carriage")
    simulator = nhmech.Simulator(carriage, dt=1e-3)
    simulator.reset((0.2, 0.1, 0.5), xi={LEFT: left, RIGHT: right})
    block = min(steps, 100_000)
    for _ in range(steps // block):
        run = simulator.run(block * 1e-3)
        assert len(run.t) == block + 1
        slip, height = residuals(carriage, run)
        assert slip.max() <= 1e-12 and height.max() <= 1e-12
        assert np.abs(run.energy / run.energy[0] - 1).max() < 1e-9
    assert simulator.t == pytest.approx(steps * 1e-3, rel=1e-12)
