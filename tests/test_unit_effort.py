"""Units of effort: what moves a vehicle as fast as it is to go, in the time that it has for it."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from support import shipped

import nhmech
from nhmech.control.unit_effort import effort_limits, speed_scales, unit_efforts


@pytest.mark.parametrize("name", ["differential_drive", "ackermann_car"])
def test_a_unit_effort_gives_some_speed_its_size_in_the_time(name):
    """The least that does, of each motor alone: the equations of motion say how speeds grow."""
    vehicle, speed, time = shipped(name), 0.7, 1.3
    f, x = nhmech.dynamics(vehicle), nhmech.start_states(vehicle, [(0.0, 0.0, 0.0)])[0]
    units, sizes = unit_efforts(vehicle, f, x, speed, time), speed_scales(vehicle, speed)
    q, places = vehicle.configuration(), [vehicle.algebroid.v_names.index(one)
                                          for one in vehicle.speeds]

    def growth(u):
        found = vehicle.equations.acceleration(0.0, q, np.zeros(len(places)), u, vehicle.theta)
        return found.full().ravel()[places]

    for unit, along in zip(units, np.eye(len(vehicle.driven))):
        gained = (growth(unit * along) - growth(0 * along)) * time
        assert np.abs(gained / sizes).max() == pytest.approx(1, rel=1e-9)
    assert unit_efforts(vehicle, f, x, 2 * speed, time) == pytest.approx(2 * units, rel=1e-12)
    assert unit_efforts(vehicle, f, x, speed, 2 * time) == pytest.approx(units / 2, rel=1e-12)


def test_speeds_have_the_size_of_a_motion():
    """The speed ahead itself; in a turn, that over the length of the vehicle."""
    vehicle = shipped("differential_drive", speeds=("yaw_rate", "forward_speed"))
    assert vehicle.speeds == ("yaw_rate", "forward_speed")
    assert speed_scales(vehicle, 0.6) == pytest.approx((0.6 / vehicle.steering.length, 0.6),
                                                       rel=1e-12)


def test_a_joint_without_a_limit_has_any_effort():
    vehicle = shipped("differential_drive")
    one, other = vehicle.driven
    limits = {one: replace(vehicle.limits[one], effort=0.7)}
    bare = replace(vehicle, description=replace(vehicle.description, limits=limits))
    assert effort_limits(bare, (other, one, other)).tolist() == [inf, 0.7, inf]
