"""Which coordinates of a vehicle are ignorable and which components of its attitude contacts hold,
where that is known: on a slope, on a turntable, with wheels out of balance, with a tilted frame."""

from __future__ import annotations

import numpy as np
import pytest
from support import joint, link, robot, shipped

import nhmech
from nhmech import Ground, Wheel
from nhmech.analysis.ignorable import describe_symmetry, frozen_parts, ignorable

WHEELS = ("left", "right")


def cart(mass: float = 1.0, size: float = 1.0, *, tilt=(0, 0, 0), more=(), com=(0, 0, 0),
         **options):
    """Two wheels and a caster ball behind them."""
    def body(name, part, radius, **place):
        inertia = mass * part * (radius * size) ** 2 * np.array([0.6, 0.9, 0.6])
        return link(name, mass * part, tuple(inertia), **place)

    def at(*xyz):
        return tuple(size * np.array(xyz))

    parts = ['<link name="frame"/>', joint("tilted", "frame", "base", rpy=tilt, kind="fixed"),
             body("base", 5.0, 0.4, com=at(0.05, 0.02, 0.1)),
             *(body(name, 0.5, 0.1, com=at(*com)) for name in WHEELS), body("ball", 0.1, 0.05),
             *(joint(f"{name}_joint", "base", name, at(0, y, 0))
               for name, y in zip(WHEELS, (0.3, -0.3))),
             joint("to_ball", "base", "ball", at(-0.4, 0, -0.05), kind="fixed")]
    return nhmech.load(robot(*parts, *more), wheels=[
        *(Wheel(f"{name}_joint", "disc", 0.1 * size) for name in WHEELS),
        Wheel(None, "caster_ball", 0.05 * size, link="ball")], **options)


ALL = "x, y, yaw, left_joint and right_joint are ignorable; pitch, roll and height are frozen"


@pytest.mark.parametrize("name, words", [
    # upright a disc does not sink as it leans
    ("disc", "x, y, yaw and spin_joint are ignorable; pitch is frozen"),
    ("ball", "x, y and yaw are ignorable; height is frozen"),
    ("pendulum", "x, y, yaw, left_wheel_joint and right_wheel_joint are ignorable; roll and height "
                 "are frozen"),
    ("sled", "x, y and yaw are ignorable; pitch, roll and height are frozen")])
def test_symmetry_of_the_shipped(name, words):
    assert describe_symmetry(shipped(name)) == words


@pytest.mark.parametrize("mass, size", [(1.0, 1.0), (1e-6, 1e-3)])
def test_wheels_in_balance_are_ignorable_in_any_size(mass, size):
    """Of a gram and a millimetre, on which torques of a newton metre make 1e15 rad/s^2."""
    assert describe_symmetry(cart(mass, size)) == ALL
    uneven = ignorable(cart(mass, size, com=(0.01, 0.0, 0.0)))
    assert uneven == ["x", "y", "yaw"]


def test_what_a_short_lever_can_still_move_is_not_held():
    """A caster on an arm of ten micrometres that swings: the base pitches by a 40,000th of it."""
    parts = [link("base", 5.0, com=(0.05, 0, 0.1)), *(link(name, 0.5) for name in WHEELS),
             *(joint(f"{name}_joint", "base", name, (0, y, 0))
               for name, y in zip(WHEELS, (0.3, -0.3))),
             link("arm", 0.1), joint("swing", "base", "arm", (-0.4 + 1e-5, 0, -0.05)),
             link("ball", 0.1), joint("to_ball", "arm", "ball", (-1e-5, 0, 0), kind="fixed")]
    wheels = [*(Wheel(f"{name}_joint", "disc", 0.1) for name in WHEELS),
              Wheel(None, "caster_ball", 0.05, link="ball")]
    assert frozen_parts(nhmech.load(robot(*parts), wheels=wheels)) == ["pitch", "roll", "height"]
    assert frozen_parts(nhmech.load(robot(*parts), wheels=wheels, free=("swing",))) == [
        "roll", "height"]


def test_accelerations_agree_relative_to_the_largest():
    """Of a leaning disc under a weight beside which its turning about the vertical is nothing."""
    heavy = shipped("disc").with_parameters({"gravity": 1e12})
    assert ignorable(heavy) == ["x", "y", "yaw", "spin_joint"]


def test_what_contacts_hold_does_not_depend_on_the_frame_of_the_base():
    assert describe_symmetry(cart(tilt=(0.2, 0.1, 0.5))) == ALL


@pytest.mark.parametrize("normal", [(1e-4, 0.0, 1.0), (0.2, -0.3, 1.0)])
def test_a_slope_takes_the_heading_however_little_it_falls(normal):
    """Also of a robot with a flywheel, which turns alike wherever it heads."""
    fly = [link("fly", 0.3, (0.01, 0.02, 0.01)), joint("spins", "base", "fly", (-0.2, 0.1, 0.3))]
    sloping = cart(more=fly, ground=Ground(normal=normal), free=("spins",),
                   speeds=("left_joint", "right_joint", "spins"))
    assert ignorable(sloping) == ["x", "y", "left_joint", "right_joint", "spins"]


@pytest.mark.parametrize("point, words", [
    ((0.0, 0.0, 0.0), "yaw is ignorable; height is frozen"),
    ((1.0, 0.5, 0.0), "nothing is ignorable; height is frozen")])
def test_a_turntable_takes_the_place(point, words):
    """And the heading with it, where it does not turn about the origin."""
    turntable = Ground(point=point, angular_velocity=(0.0, 0.0, 0.7))
    assert describe_symmetry(shipped("ball", turntable)) == words


@pytest.mark.parametrize("rise, held", [(0.0, ["pitch", "roll", "height"]),
                                        (1e-6, ["roll", "height"])])
def test_a_caster_on_a_slide_that_rises_a_little_holds_no_pitch(rise, held):
    """By a millionth of its way; the wheels alone hold their axle."""
    leans = 0.4       # of the joint's frame: an axis nearly along one of a frame is set upon it
    slide = (link("base", 5.0), *(link(name, 0.5) for name in WHEELS), link("ball", 0.1),
             *(joint(f"{name}_joint", "base", name, (0, y, 0))
               for name, y in zip(WHEELS, (0.3, -0.3))),
             joint("slide", "base", "ball", (-0.4, 0, -0.05), (0, leans, 0),
                   (np.cos(leans - rise), 0, np.sin(leans - rise)), "prismatic",
                   more='<limit lower="-0.2" upper="0.2" effort="9" velocity="9"/>'))
    made = nhmech.load(robot(*slide), free=("slide",), wheels=[
        *(Wheel(f"{name}_joint", "disc", 0.1) for name in WHEELS),
        Wheel(None, "caster_ball", 0.05, link="ball")])
    assert frozen_parts(made) == held
