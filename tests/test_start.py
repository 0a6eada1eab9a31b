"""The speeds of a start, which must be those of one motion."""

from __future__ import annotations

import numpy as np
import pytest
from support import shipped
from test_bodies import shape, simulator, with_arm

from nhmech import Ground, InputError, Simulator
from nhmech.simulation.contact.nonsmooth_terms import NonsmoothTerms
from nhmech.vehicle.bodies import BodyContacts


@pytest.mark.parametrize("forward, most", [(0.01, 1e-9), (1.0, 1e-9), (1e3, 1e-6)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_speeds_may_contradict_each_other_by_rounding(forward, most, sign):
    """By a billionth of the largest of them, or of 1; here by a carriage's speed to its side."""
    simulator = Simulator(shipped("carriage"))
    speeds = {"forward_speed": forward, "yaw_rate": 0.0, "lateral_speed": 0.9 * sign * most}
    state = simulator.reset(xi=speeds)
    np.testing.assert_allclose([state.xi[name] for name in speeds], [forward, 0, 0], rtol=1e-12,
                               atol=1e-12)
    speeds["lateral_speed"] = 1.1 * sign * most
    with pytest.raises(InputError, match=rf"contradict the constraints by {1.1 * most:.3g}; "
                                         "independent here are left_wheel_joint, right_wheel_j"):
        simulator.reset(xi=speeds)


@pytest.mark.parametrize("deep, starts", [(0.9, True), (1.1, False)])
def test_a_body_may_start_below_the_ground_by_rounding(deep, starts):
    """By a billionth of the vehicle's size: a ball of 20 mm at 0.3 m from a shoulder that is 0.1 m
    high. The wheels are on the ground, as low as the ball."""
    made = simulator(with_arm(shape('<sphere radius="0.02"/>', (0, 0, 0.3))))
    below = deep * 1e-9 * made.propagator.coulomb.terms.size
    angle = np.arccos(-(0.08 + below) / 0.3)
    if starts:
        made.reset(joints={"shoulder": angle})
        return
    with pytest.raises(InputError, match=rf"arm is {below:.6g} m below the ground at this start"):
        made.reset(joints={"shoulder": angle})


def test_a_start_with_all_velocities_may_be_above_the_ground_one_that_rolls_may_not():
    """Nor may either be below it."""
    vehicle = shipped("differential_drive")
    made = Simulator(vehicle, contact="coulomb", mu=0.5)
    for height, side in ((0.3, "above"), (-0.3, "below")):
        q = vehicle.configuration()
        q[2] += height
        with pytest.raises(InputError, match=f"is 0.3 m {side} the ground at this q"):
            made.reset(q=q)
        if height > 0:
            np.testing.assert_allclose(made.reset(q=q, v={}).q, q, rtol=0, atol=1e-12)
        else:
            with pytest.raises(InputError, match="is 0.3 m below the ground at this q"):
                made.reset(q=q, v={})


@pytest.mark.parametrize("on_fall", ["stop", "go-on"])
@pytest.mark.parametrize("pose", [None, (0.4, -0.3, 0.7), (0.4, -0.3, 0.2, 2.0, 0.3, -0.5)])
def test_a_drop_is_the_height_of_the_lowest_point(pose, on_fall):
    """Above a slope, of wheels and bodies; also where bodies are not watched."""
    vehicle = shipped("tricycle", Ground(normal=(0.2, -0.1, 1.0)))
    made = Simulator(vehicle, contact="coulomb", mu=0.5, on_fall=on_fall)
    state = made.reset(pose=pose, drop=0.07)
    terms = NonsmoothTerms.of(vehicle, 0.5, bodies=BodyContacts.of(vehicle))
    heights = terms.read_heights(made.propagator.moment.x[:terms.nconf])
    assert heights.min() == pytest.approx(0.07, abs=1e-12) and heights.max() > 0.1
    hung = vehicle.configuration(pose) if pose is None or len(pose) == 3 else (
        vehicle.posing.in_the_air(pose, None))
    lift = state.q[:3] - hung[:3]
    np.testing.assert_allclose(np.cross(lift, vehicle.ground.normal), 0, atol=1e-12)
    np.testing.assert_allclose(state.q[3:], hung[3:], atol=1e-12)
