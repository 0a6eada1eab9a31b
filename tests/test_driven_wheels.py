"""Rates that a twist gives to driven wheels: each rolls along itself, on ground that moves too."""

from __future__ import annotations

import numpy as np
import pytest
from support import shipped

import nhmech
from nhmech.control.twist import TwistDrive
from nhmech.control.twist_rule import driven_wheels


@pytest.mark.parametrize("normal", [(0, 0, 1), (-0.1, 0.06, 1)])
@pytest.mark.parametrize("name", ["differential_drive", "mecanum", "omni"])
def test_wheels_roll_on_ground_that_moves(name, normal):
    """A v + b = 0 along each wheel, with v from the twist and the rates."""
    n = np.array(normal) / np.linalg.norm(normal)
    along = np.array([0.3, -0.2, 0.0]) - n * (n @ (0.3, -0.2, 0.0))
    vehicle = shipped(name, nhmech.Ground(normal=normal, velocity=tuple(along)))
    state = nhmech.Simulator(vehicle).reset(pose=(0.2, 0.1, 0.7))
    twist = np.array([0.2, 0.1 * (name != "differential_drive"), -0.3])
    drive = TwistDrive(vehicle, twist)
    rates = drive(0.0, state)[1].values
    assert drive.possible_twist == pytest.approx(twist, rel=1e-12)
    R = state.T_WB[:3, :3]
    ahead = np.cross(R[:, 1], n)
    ahead /= np.linalg.norm(ahead)
    v = np.zeros(vehicle.algebroid.nv)
    v[:3] = R.T @ (twist[0] * ahead + twist[1] * np.cross(n, ahead))
    v[3:6] = R.T @ n * twist[2]
    wheels = driven_wheels(vehicle)
    v[[wheel.place for wheel in wheels]] = [rates[wheel.joint] for wheel in wheels]
    A, b, _ = vehicle.functions.rows(0.0, state.q, vehicle.theta)
    slip = dict(zip([(row.contact, row.direction) for row in vehicle.contact_rows],
                    A @ v + np.ravel(b)))
    told = {contact.name for contact in vehicle.contacts if contact.mount.wheel.joint in rates}
    rolled = [speed for (contact, direction), speed in slip.items()
              if contact in told and direction in ("longitudinal", "roller")]
    assert len(rolled) == len(rates) and np.abs(b).max() > 0.01
    np.testing.assert_allclose(rolled, 0.0, rtol=0, atol=1e-12)


def test_a_wheel_on_a_tyre_is_turned_as_if_it_rolled():
    """By what its hub goes ahead relative to the belt, over its radius."""
    text = nhmech.urdf_path("differential_drive").read_text()
    tyre = dict(law="tyre", tyre="longitudinal.stiffness=1e4 lateral.stiffness=1e4")
    own = shipped("differential_drive")
    vehicle = nhmech.load(text, ground=nhmech.Ground(velocity=(0.3, 0.0, 0.0)), wheels=[
        nhmech.Wheel(wheel.joint, "disc", wheel.radius, **tyre) if wheel.joint else wheel
        for wheel in own.description.wheels])
    state = nhmech.Simulator(vehicle).reset()
    rates = TwistDrive(vehicle, (0.5, 0.0, 0.4))(0.0, state)[1].values
    for contact in own.contacts:
        if (joint := contact.mount.wheel.joint) in rates:
            hub = 0.5 - 0.4 * contact.mount.centre[1]
            assert contact.mount.wheel.radius * rates[joint] == pytest.approx(hub - 0.3, rel=1e-9)
