"""A loader that steers with the hinge between its two halves: what the file commands is driven."""

from __future__ import annotations

import numpy as np
import pytest
from support import joint, link, robot

import nhmech
from nhmech.control import TwistDrive
from nhmech.urdf.notice import NoticeKind

HINGE, REACH, RADIUS = "centre_joint", 0.7, 0.3
BEHIND, AHEAD = 0.6, 0.8           # [m] from the hinge to the rear and the front axle
WHEELS = [f"{end}_{side}_joint" for end in ("rear", "front") for side in ("left", "right")]


def _wheel(end: str, side: str, x: float, y: float) -> str:
    name = f"{end}_{side}"
    shape = (f'<collision><origin rpy="1.5707963267948966 0 0"/><geometry><cylinder '
             f'radius="{RADIUS}" length="0.2"/></geometry></collision>')
    return (link(name, 10.0, (0.3, 0.4, 0.3), body=shape)
            + joint(f"{name}_joint", end, name, (x, y, 0.0)))


LOADER = "".join([
    link("rear", 100.0, (15.0, 20.0, 20.0), com=(-0.5, 0.0, 0.2)),
    link("front", 100.0, (15.0, 20.0, 20.0), com=(0.5, 0.0, 0.2)),
    joint(HINGE, "rear", "front", axis=(0, 0, 1), kind="revolute",
          more=f'<limit lower="-{REACH}" upper="{REACH}" effort="500" velocity="2"/>'),
    *(_wheel(end, side, x, y) for end, x in (("rear", -BEHIND), ("front", AHEAD))
      for side, y in (("left", 0.5), ("right", -0.5)))])


def controlled(**interfaces: str) -> str:
    return '<ros2_control name="loader" type="system">' + "".join(
        f'<joint name="{name}"><command_interface name="{interface}"/></joint>'
        for name, interface in interfaces.items()) + "</ros2_control>"


def geared(name: str) -> str:
    return (f'<transmission name="gear"><type>transmission_interface/SimpleTransmission</type>'
            f'<joint name="{name}"/><actuator name="motor"/></transmission>')


def served(name: str) -> str:
    return ('<gazebo><plugin filename="gz-sim-joint-position-controller-system" '
            'name="gz::sim::systems::JointPositionController">'
            f"<joint_name>{name}</joint_name></plugin></gazebo>")


ROLLING = controlled(**dict.fromkeys(WHEELS, "velocity"))
MARKED = {"one controller": controlled(**dict.fromkeys(WHEELS, "velocity"), **{HINGE: "position"}),
          "a transmission beside it": ROLLING + geared(HINGE),
          "a plugin beside it": ROLLING + served(HINGE),
          "the hinge alone": controlled(**{HINGE: "position"}),
          "a transmission alone": geared(HINGE)}


@pytest.mark.parametrize("case", MARKED)
def test_a_hinge_that_the_file_commands_is_driven(case):
    description = nhmech.load(robot(LOADER, MARKED[case])).description
    assert HINGE in description.driven and {*description.driven} & {*WHEELS}


@pytest.mark.parametrize("more", ["", ROLLING])
def test_a_hinge_without_a_mark_follows(more):
    assert HINGE not in nhmech.load(robot(LOADER, more)).description.driven


def test_wheels_without_a_mark_beside_a_hinge_with_one_are_told():
    description = nhmech.load(robot(LOADER, MARKED["the hinge alone"])).description
    assert set(description.driven) == {HINGE, "rear_left_joint", "rear_right_joint"}
    (told,) = (n for n in description.notices if n.kind is NoticeKind.DRIVEN_FROM)
    assert "<ros2_control>, which names no wheel" in told.text and "<drive joint" in str(told)


@pytest.mark.parametrize("mode", ["kinematic", "dynamic"])
@pytest.mark.parametrize("case", ["one controller", "the hinge alone"])
def test_a_loader_drives_the_circle_of_its_closed_form(case, mode):
    """Both axles point at one centre: yaw rate = v sin g / (BEHIND cos g + AHEAD)."""
    vehicle, speed, yaw_rate = nhmech.load(robot(LOADER, MARKED[case])), 0.3, 0.08
    run = nhmech.Simulator(vehicle, TwistDrive(vehicle, (speed, 0.0, yaw_rate)), mode=mode,
                           dt=5e-3, control_period=0.01).run(8.0, every=10)
    angle, rtol = run.q[-1, vehicle.algebroid.q_names.index(HINGE)], 1e-5
    radius = (BEHIND * np.cos(angle) + AHEAD) / np.sin(angle)
    assert run.t[-1] == pytest.approx(8.0)
    assert run.column("forward_speed")[-1] == pytest.approx(speed, rel=rtol)
    assert run.column("yaw_rate")[-1] == pytest.approx(yaw_rate, rel=rtol)
    assert speed / yaw_rate == pytest.approx(radius, rel=rtol)


def test_a_bend_beyond_the_hinge_is_driven_at_its_limit_and_told():
    vehicle, speed = nhmech.load(robot(LOADER, MARKED["one controller"])), 0.3
    drive = TwistDrive(vehicle, (speed, 0.0, 0.4))
    run = nhmech.Simulator(vehicle, drive, mode="kinematic", dt=5e-3,
                           control_period=0.01).run(6.0, every=10)
    most = speed * np.sin(REACH) / (BEHIND * np.cos(REACH) + AHEAD)
    assert run.t[-1] == pytest.approx(6.0)
    assert run.column("yaw_rate")[-1] == pytest.approx(most, rel=1e-5)
    assert "is beyond the limits of the joints" in drive.shortfall
