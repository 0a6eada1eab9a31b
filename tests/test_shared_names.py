"""Names that mean two things: of a joint and a link, or of a joint and the base."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support import joint, link, robot

from nhmech import Simulator, load
from nhmech.vehicle.geometry import moving_geometry

LIMIT = '<limit lower="0.2" upper="1" effort="9" velocity="9"/>'
BALL = '<visual><geometry><sphere radius="{}"/></geometry></visual>'
TYRE = ('<collision><origin rpy="1.5707963267948966 0 0"/><geometry>'
        '<cylinder radius="0.1" length="0.04"/></geometry></collision>')


def test_a_joint_may_be_called_like_its_link_or_another_one():
    """Nothing else depends on the names: bodies, joints and shapes stay. Beside wheels: an arm, a
    slide on it and what is fixed to that, all held."""
    text = robot(
        link("base", 5.0, com=(0.02, 0, 0), body=BALL.format(0.05)),
        *(link(f"{side}_tyre", body=TYRE) for side in ("left", "right")),
        joint("left_wheel", "base", "left_tyre", (0.1, 0.2, 0)),
        joint("right_wheel", "base", "right_tyre", (0.1, -0.2, 0)),
        link("ball", 0.1, body=BALL.format(0.03)),
        joint("ball_joint", "base", "ball", (-0.1, 0, -0.07), kind="fixed"),
        link("arm", 2.0, com=(0.1, 0, 0), body=BALL.format(0.02)),
        joint("arm_joint", "base", "arm", (0, 0, 0.1), kind="revolute", more=LIMIT),
        link("rail", 0.5),
        joint("rail_joint", "arm", "rail", (0.2, 0, 0), kind="prismatic", more=LIMIT),
        link("camera", 0.1, body=BALL.format(0.01)),
        joint("camera_joint", "rail", "camera", (0.1, 0, 0.1), kind="fixed"))
    apart = load(text)
    own = re.sub(r'<joint name="(\w+)_joint"', r'<joint name="\1"', text)
    others = text.replace('"arm_joint"', '"base"').replace('"rail_joint"', '"left_tyre"').replace(
        '"camera_joint"', '"arm"').replace('"ball_joint"', '"camera"')
    for shared in (own, others, text.replace("_wheel", "_tyre")):
        vehicle = load(shared)
        assert [wheel.radius for wheel in vehicle.description.wheels] == [0.1, 0.1, 0.03]
        np.testing.assert_allclose([i.toDynamicParameters() for i in vehicle.model.inertias],
                                   [i.toDynamicParameters() for i in apart.model.inertias],
                                   rtol=1e-14, atol=0)
        np.testing.assert_array_equal([X.homogeneous for X in vehicle.model.jointPlacements],
                                      [X.homogeneous for X in apart.model.jointPlacements])
        for one, other in zip(moving_geometry(vehicle.description).visual.geometryObjects,
                              moving_geometry(apart.description).visual.geometryObjects,
                              strict=True):
            assert (one.name, one.parentJoint) == (other.name, other.parentJoint)
            np.testing.assert_array_equal(one.placement.homogeneous, other.placement.homogeneous)


def test_no_column_of_a_run_has_the_name_of_another():
    """Not even with joints called like coordinates and speeds of the base; names of one letter have
    units too."""
    text = robot(
        link("base", 5.0), *(link(f"{side}_tyre", body=TYRE) for side in ("left", "right")),
        joint("l", "base", "left_tyre", (0.1, 0.2, 0)),
        joint("yaw_rate", "base", "right_tyre", (0.1, -0.2, 0)),
        link("ball", 0.1, body=BALL.format(0.03)),
        joint("ball_joint", "base", "ball", (-0.1, 0, -0.07), kind="fixed"),
        link("carriage", 0.5),
        joint("z", "base", "carriage", kind="prismatic", more=LIMIT))
    vehicle = load(text, free=["z_of_file"])
    assert vehicle.joint_names == ("l", "yaw_rate_of_file", "z_of_file")
    run = Simulator(vehicle, dt=1e-3).run(1e-3)
    for part in ("q", "v", "u"):
        units = run.simulated.units(part)
        assert len(units) == len(run.names[part]) == len(set(run.names[part])), part
    assert (run.column("z")[0], run.column("z_of_file.position")[0]) == pytest.approx(
        (0.1, 0.2), rel=1e-12, abs=0)
    assert run.simulated.units("u") == {"l": "N m", "yaw_rate_of_file": "N m"}
