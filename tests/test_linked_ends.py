"""Front and rear steering that a file links by `<mimic>`: one angle is left to choose."""

from __future__ import annotations

import numpy as np
import pytest
from support import joint, link, robot

import nhmech
from nhmech.analysis import limits, mobility
from nhmech.control import PurePursuit, TwistDrive, make_path
from nhmech.errors import ModelError
from nhmech.urdf.notice import NoticeKind
from nhmech.view import Drive

FRONT, REAR, TRACK = 0.6, -0.4, 0.3        # [m]: axles before and behind the base's origin


def rover(links: dict[str, tuple[str, float]], rear_steers: bool = True) -> str:
    """Four wheels below upright joints; `links`: joint -> its leader and multiplier."""
    parts = [link("base", 30.0, (1.0, 2.0, 2.5), com=(0.1, 0.0, 0.1))]
    shape = ('<collision><origin rpy="1.5707963267948966 0 0"/><geometry><cylinder radius="0.15" '
             'length="0.06"/></geometry></collision>')
    for end, x in (("front", FRONT), ("rear", REAR)):
        for side, y in (("left", TRACK), ("right", -TRACK)):
            name = f"{end}_{side}"
            steers = end == "front" or rear_steers
            more = '<limit lower="-1" upper="1" effort="50" velocity="3"/>'
            if name in links:
                leader, multiplier = links[name]
                more += f'<mimic joint="{leader}_steer" multiplier="{multiplier}"/>'
            if steers:
                parts += [link(f"{name}_fork"),
                          joint(f"{name}_steer", "base", f"{name}_fork", (x, y, 0.15),
                                axis=(0, 0, 1), kind="revolute", more=more)]
            parts += [link(f"{name}_wheel", 1.0, (0.006, 0.011, 0.006), body=shape),
                      joint(f"{name}_spin", f"{name}_fork" if steers else "base", f"{name}_wheel",
                            (0, 0, 0) if steers else (x, y, 0.15))]
    return robot(*parts)


def linked(multiplier: float) -> str:
    """All four joints follow the first one, as files have it."""
    return rover({"front_right": ("front_left", 1.0), "rear_left": ("front_left", multiplier),
                  "rear_right": ("front_left", multiplier)})


def driven(vehicle, twist, mode):
    """Forward, lateral and yaw rate at the end, and the steering angles."""
    simulator = nhmech.Simulator(vehicle, TwistDrive(vehicle, twist), mode=mode, dt=5e-3,
                                 control_period=0.01)
    run = simulator.run(5.0, every=10)
    moved = [run.column(name)[-1] for name in ("forward_speed", "lateral_speed", "yaw_rate")]
    return np.array(moved), simulator.state.joint_position


@pytest.mark.parametrize("multiplier", [-1.0, 1.0])
def test_linked_ends_leave_one_angle(multiplier):
    vehicle = nhmech.load(linked(multiplier))
    (kept,) = vehicle.description.mimic
    assert (kept.joint, kept.leader, kept.multiplier) == ("rear_left_steer", "front_left_steer",
                                                          multiplier)
    (told,) = (n.text for n in vehicle.notices if n.kind is NoticeKind.DROPPED_MIMIC)
    assert told.startswith("front_right_steer, rear_right_steer: <mimic> is dropped")
    assert mobility(vehicle).type == (1, 1)
    assert mobility(nhmech.load(rover({}))).type == (1, 2)


@pytest.mark.parametrize("mode", ["kinematic", "dynamic"])
def test_opposite_ends_turn_about_a_point_half_way_between_them(mode):
    """The centre is beside the middle, at v / w; each axle points at it."""
    speed, yaw_rate, middle = 0.3, 0.12, (FRONT + REAR) / 2
    moved, angles = driven(nhmech.load(linked(-1.0)), (speed, 0.0, yaw_rate), mode)
    assert moved == pytest.approx([speed, -middle * yaw_rate, yaw_rate], rel=1e-5, abs=1e-9)
    for side, y in (("left", TRACK), ("right", -TRACK)):
        angle = np.arctan((FRONT - middle) / (speed / yaw_rate - y))
        assert angles[f"front_{side}_steer"] == pytest.approx(angle, rel=1e-5)
        assert angles[f"rear_{side}_steer"] == pytest.approx(-angle, rel=1e-5)


@pytest.mark.parametrize("mode", ["kinematic", "dynamic"])
def test_ends_that_turn_alike_go_aslant(mode):
    moved, angles = driven(nhmech.load(linked(1.0)), (0.3, 0.1, 0.0), mode)
    assert moved == pytest.approx([0.3, 0.1, 0.0], rel=1e-5, abs=1e-9)
    assert [angle for name, angle in angles.items() if name.endswith("steer")] == pytest.approx(
        [np.arctan2(0.1, 0.3)] * 4, rel=1e-5)


def test_ends_that_turn_alike_do_not_turn_the_base_and_say_so():
    vehicle = nhmech.load(linked(1.0))
    drive = TwistDrive(vehicle, (0.3, 0.0, 0.1))
    nhmech.Simulator(vehicle, drive, mode="kinematic", dt=5e-3, control_period=0.01).run(0.1)
    assert drive.possible_twist == pytest.approx([0.3, 0.0, 0.0], rel=1e-9, abs=1e-12)
    assert "linked by <mimic>, does not let it turn" in drive.shortfall
    found = limits(vehicle, 0.6, radius=2.0)
    assert "does not let it turn" in found.slip.reason and found.acceleration.value > 1.0


def test_what_the_limits_of_linked_steering_leave_of_a_way_aslant_is_told():
    """Across is 90 degrees of steering, of which it has 57."""
    drive = TwistDrive(nhmech.load(linked(1.0)), (0.0, 0.3, 0.0))
    nhmech.Simulator(drive.vehicle, drive, mode="kinematic", dt=5e-3, control_period=0.01).run(0.1)
    assert drive.possible_twist == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    assert "beyond the limits of the joints" in drive.shortfall


def test_no_path_is_followed_by_what_cannot_turn():
    """A start on the path was 1e15 m away, and the run ended by a failure."""
    with pytest.raises(ModelError, match="cannot both drive forward and turn"):
        PurePursuit(nhmech.load(linked(1.0)), make_path("figure8", 4.0))


BESIDE, DIAGONAL, BEHIND = "beside each other", "at a diagonal", "one behind the other"


@pytest.mark.parametrize("links, rear_steers, why", [
    ({"front_right": ("front_left", 1.0)}, True, BESIDE),      # parallel axles
    ({"rear_right": ("front_left", -1.0)}, True, DIAGONAL),
    ({"rear_left": ("front_left", -0.5)}, True, BEHIND),
    ({"front_right": ("front_left", 1.0)}, False, BESIDE)])    # a fixed axle says where it turns
def test_other_links_of_steering_are_dropped_and_told(links, rear_steers, why):
    description = nhmech.load(rover(links, rear_steers)).description
    assert not description.mimic
    (told,) = (n.text for n in description.notices if n.kind is NoticeKind.DROPPED_MIMIC)
    assert [word for word in (BESIDE, DIAGONAL, BEHIND) if word in told] == [why]


def test_what_goes_aslant_is_driven_to_the_side():
    """By hand too; that it does not turn is said, and that its wheels allow no path is not."""
    with Drive(nhmech.load(linked(1.0))) as drive:
        (said,) = drive.cannot()
        assert said.startswith("does not turn: its steering, linked by <mimic>")
        speed = drive.limits[1].max_velocity
        drive.teleoperation.take(0.5 * speed, 0.5 * speed, 0.0)
        drive.teleoperation.advance(0.2)
        assert drive.teleoperation.simulator.state.pose[1] > 1e-3
