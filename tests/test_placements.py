"""Poses and contact points as one function, against Pinocchio's kinematics."""

import numpy as np
import pinocchio as pin
import pytest
from support import VARIED, shipped

from nhmech.vehicle.placements import placement_function


@pytest.mark.parametrize("name", VARIED)
def test_bodies_and_contacts_are_where_pinocchio_has_them(name):
    vehicle = shipped(name)
    place, data = placement_function(vehicle), vehicle.model.createData()
    for q in vehicle.constrained.configurations[:5]:
        poses, points, _ = (found.full() for found in place(0.0, q, vehicle.theta))
        pin.forwardKinematics(vehicle.model, data, q)
        for i, column in enumerate(poses.T):
            expected = data.oMi[i + 1].homogeneous
            assert np.allclose(column.reshape(4, 4).T, expected, rtol=0, atol=1e-13)
        assert np.allclose(points.T, vehicle.contact_points(q), rtol=0, atol=1e-13)
