"""Twists to efforts as one function of the state: what the simulator does with `TwistDrive` or
`Balance`."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support import SHIPPED, joint, link, shipped

import nhmech
from nhmech.control import Balance, TwistDrive
from nhmech.control.drive_function import (
    commanded_joints,
    drive_function,
    effort_function,
    follows_twists,
)
from nhmech.simulation.least_squares import WELL
from nhmech.simulation.state_vector import StateVector

WATCHED = dict(on_limit="ignore", on_fall="ignore", on_lift="ignore")


@cache
def function_of(vehicle):
    return effort_function(vehicle, vehicle.equations)


@cache
def loaded():
    return shipped("pendulum").with_parameters({"payload.mass": 0.2, "payload.x": 0.01})


def efforts(vehicle, state, twist, most: float) -> np.ndarray:
    """u (nu,) of the function, where its closed form is too near to singular by NumPy, cut at the
    limits of the joints."""
    x = StateVector.of(vehicle.equations).assemble(state.q, state.v[list(vehicle.frame.speeds)])
    u, quality, A, b = (part.full() for part in function_of(vehicle)(
        0.0, x, vehicle.theta, twist, most))
    u = u.ravel()
    if quality.item() < WELL:
        u = np.zeros(len(vehicle.driven))
        u[[vehicle.driven.index(name) for name in commanded_joints(vehicle)]] = (
            np.linalg.lstsq(A, b.ravel(), rcond=1e-9)[0])
    limits = np.array([vehicle.limits[name].effort for name in vehicle.driven])
    return np.clip(u, -limits, limits)


@pytest.mark.parametrize("most", [None, 0.1, np.inf])
@pytest.mark.parametrize("name", ["differential_drive", "ackermann_car", "tricycle", "mecanum",
                                  "swerve", "trailers"])
def test_efforts_are_those_of_the_simulator(name, most):
    """Of its first step, from any speeds: driven on, held back, and with the steering held still
    where the twist is nothing."""
    vehicle, rng = shipped(name), np.random.default_rng(7)
    for twist in ((0.5, 0.0, 0.1), (0.02, 0.0, -0.003), (0.0, 0.0, 0.0)):
        drive = TwistDrive(vehicle, twist, acceleration=None if most == np.inf else most)
        drive.acceleration = np.inf if most == np.inf else drive.acceleration
        simulator = nhmech.Simulator(vehicle, drive, **WATCHED)
        state = simulator.reset(pose=(0.3, -0.2, 0.7), xi={
            speed: float(value) for speed, value in zip(
                vehicle.speeds, rng.uniform(-0.05, 0.05, len(vehicle.speeds)))}
            | {speed: 0.5 for speed in vehicle.speeds if "steering" in speed})
        found = efforts(vehicle, state, twist, drive.acceleration)
        expected = simulator.run(1e-3).u[0]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
        assert np.abs(expected).max() > 1e-3


@pytest.mark.parametrize("pitch, twist", [(0.0, (0.0, 0.0, 0.0)), (0.05, (0.3, 0.0, 0.4)),
                                          (-0.1, (-9.0, 0.0, 1.0)), (0.02, (9.0, 0.0, -2.0))])
def test_what_balances_has_the_efforts_of_its_regulator(pitch, twist):
    """Also where the lean that it calls for is at its limit; it stands leaning, by its load."""
    vehicle = loaded()
    balance = Balance(vehicle, twist)
    state = nhmech.Simulator(vehicle).reset(pose=(0.3, -0.2, 0.0, 0.0, pitch, 0.0), xi={
        "left_wheel_joint": 0.4, "right_wheel_joint": -0.3, "pitch_rate": 0.2})
    x = StateVector.of(vehicle.equations).assemble(state.q, state.v[list(vehicle.frame.speeds)])
    u, quality, A, b = function_of(vehicle)(0.0, x, vehicle.theta, twist, np.inf)
    expected = balance(0.0, state)
    np.testing.assert_allclose(u.full().ravel(), expected, rtol=1e-8,
                               atol=1e-9 * np.abs(expected).max())
    assert (float(quality), A.shape, b.shape, commanded_joints(vehicle)) == (1.0, (0, 0), (0, 1),
                                                                            ())


def test_what_is_balanced_by_more_is_not_for_pages():
    """An arm that swings, or the heading on a slope: states beside pitch and wheels."""
    arm = link("arm", 0.05, (1e-5, 1e-5, 1e-5), com=(0.0, 0.0, -0.05)) + joint(
        "arm_joint", "base_link", "arm", (0.0, 0.0, 0.1))
    text = nhmech.urdf_path("pendulum").read_text().replace("</robot>", arm + "</robot>")
    vehicle = nhmech.load(text, free=("arm_joint",))
    with pytest.raises(nhmech.ModelError, match="more than pitch and speeds: arm_joint; only"):
        effort_function(vehicle, vehicle.equations)
    slope = shipped("pendulum", nhmech.Ground.inclined(0.05))
    with pytest.raises(nhmech.ModelError, match="more than pitch and speeds: yaw; only `Balance`"):
        effort_function(slope, slope.equations)


def test_who_follows_twists():
    """What has driven wheels and does not fall over sideways."""
    assert {name for name in SHIPPED if not follows_twists(shipped(name))} == {
        "ball", "bicycle", "coin", "disc", "sled"}
    with pytest.raises(nhmech.ModelError, match="'sled' has no driven wheel"):
        drive_function(shipped("sled"), shipped("sled").equations)
    car = shipped("ackermann_car")
    assert commanded_joints(car) == ("front_left_steering_joint", "rear_left_wheel_joint",
                                     "rear_right_wheel_joint")
