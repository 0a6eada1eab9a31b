"""Poses and contact points as one function, against Pinocchio's kinematics; and far away."""

import numpy as np
import pinocchio as pin
import pytest
from support import VARIED, joint, link, robot, shipped

import nhmech
from nhmech import Ground, Wheel
from nhmech.vehicle.placements import placement_function


@pytest.mark.parametrize("name", VARIED)
def test_bodies_and_contacts_are_where_pinocchio_has_them(name):
    vehicle = shipped(name)
    place, data = placement_function(vehicle), vehicle.model.createData()
    for q in vehicle.constrained.configurations[:5]:
        poses, points, directions = (found.full() for found in place(0.0, q, vehicle.theta))
        pin.forwardKinematics(vehicle.model, data, q)
        for i, column in enumerate(poses.T):
            expected = data.oMi[i + 1].homogeneous
            assert np.allclose(column.reshape(4, 4).T, expected, rtol=0, atol=1e-13)
        assert np.allclose(points.T, vehicle.contact_points(q), rtol=0, atol=1e-13)
        held = dict(zip(vehicle.contact_names, vehicle.contact_directions(q)))
        expected = [held[row.contact][row.direction] for row in vehicle.contact_rows]
        np.testing.assert_allclose(directions.T, expected, rtol=0, atol=1e-13)


def test_a_rail_moves_what_is_on_it():
    """Its one contact, a ball, is held along the normal alone."""
    text = robot(link("base", 3.0), link("slider", 0.5), link("arm", 0.5), joint(
        "rail", "base", "slider", (0.1, 0.2, 0.3), (0.2, 0.3, 0.4), (0.6, 0, 0.8), "prismatic",
        '<limit lower="-1" upper="1" effort="1" velocity="1"/>'), joint(
        "swing", "slider", "arm", (0.3, 0, 0), (0.1, 0, 0.5), (0, 0.6, 0.8)))
    vehicle = nhmech.load(text, wheels=[Wheel(None, "caster_ball", 0.1, link="base")],
                          free=("rail", "swing"))
    q = vehicle.configuration((1, 2, 0.7), {"rail": 0.4, "swing": 2.0})
    poses, points, directions = placement_function(vehicle).call([0.0, q, vehicle.theta])
    data = vehicle.model.createData()
    pin.forwardKinematics(vehicle.model, data, q)
    for i, column in enumerate(poses.full().T):
        np.testing.assert_allclose(column.reshape(4, 4).T, data.oMi[i + 1].homogeneous, atol=1e-13)
    assert points.shape == directions.shape == (3, 1)
    np.testing.assert_allclose(directions.full().ravel(), (0, 0, 1), atol=1e-15)


@pytest.mark.parametrize("name", ["bicycle", "omni", "rover"])
def test_a_vehicle_stands_alike_wherever_it_is(name):
    """A thousand kilometres away along a slope, where heights are rounded to a hundredth of a
    nanometre."""
    ground = Ground.inclined(0.2, 0.3)
    vehicle, n = shipped(name, ground), np.array(ground.normal)
    away = np.array([1e6, -2e6, 0.0])
    home, far = (vehicle.configuration((*xy, 0.7)) for xy in ((0, 0), away[:2]))
    np.testing.assert_allclose(far[:3] - home[:3], away - n * (n @ away), rtol=0, atol=1e-8)
    np.testing.assert_allclose(far[3:], home[3:], rtol=0, atol=1e-8)
