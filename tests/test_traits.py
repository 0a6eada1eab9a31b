"""Traits of machines that roll: what each of these small descriptions is found to be."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

import pytest
from support import joint, link, robot

from nhmech.urdf.describe import describe

Z = (0, 0, 1)
SIDES = (("left", 1), ("right", -1))
CORNERS = [(f"{end}_{side}", x, y) for end, x in (("front", 1), ("rear", -1)) for side, y in SIDES]
LIMIT = '<limit lower="-0.6" upper="0.6" effort="50" velocity="3"/>'


@dataclass(frozen=True)
class Truth:
    """Rolling joint -> kind, who steers, who is driven (None: the file leaves it open), and how
    many balls carry."""

    wheels: dict[str, str]
    steering: set[str]
    driven: set[str] | None
    balls: int = 0


def body(name: str, mass: float = 30.0) -> str:
    return link(name, mass, (1.0,) * 3, (0, 0, 0.15))


def wheel(name: str, parent: str, xyz, radius: float, width: float = 0.04) -> str:
    shape = (f'<collision><origin rpy="{pi / 2} 0 0"/><geometry><cylinder radius="{radius}" '
             f'length="{width}"/></geometry></collision>')
    return link(name, 1.0, body=shape) + joint(f"{name}_joint", parent, name, xyz)


def ball(name: str, parent: str, xyz, radius: float) -> str:
    shape = f'<collision><geometry><sphere radius="{radius}"/></geometry></collision>'
    return link(name, 0.1, body=shape) + joint(f"{name}_joint", parent, name, xyz, kind="fixed")


def pair(radius: float = 0.1, z: float = 0.0, parent: str = "base") -> str:
    return "".join(wheel(side, parent, (0, 0.25 * y, z), radius) for side, y in SIDES)


def upright(name: str, parent: str, xyz, kind: str = "revolute", more: str = LIMIT) -> str:
    return link(name, 0.5) + joint(f"{name}_joint", parent, name, xyz, axis=Z, kind=kind,
                                   more=more if kind == "revolute" else "")


PAIR = {"left_joint": "disc", "right_joint": "disc"}


def bed() -> tuple[str, Truth]:
    """Four castors, and a fifth wheel that drives and steers."""
    castors = "".join(upright(f"{c}_castor", "base", (0.9 * x, 0.4 * y, 0), "continuous")
                      + wheel(f"{c}_roll", f"{c}_castor", (-0.04, 0, 0), 0.075)
                      for c, x, y in CORNERS)
    fifth = upright("drive", "base", (0, 0, 0)) + wheel("fifth", "drive", (0, 0, 0), 0.075)
    return robot(body("base"), castors, fifth), Truth(
        {"fifth_joint": "disc", **{f"{c}_roll_joint": "disc" for c, _, _ in CORNERS}},
        {"drive_joint", *(f"{c}_castor_joint" for c, _, _ in CORNERS)},
        {"drive_joint", "fifth_joint"})


def wagon() -> tuple[str, Truth]:
    """Its front axle turns as one."""
    rear = "".join(wheel(f"rear_{s}", "base", (-0.5, 0.3 * y, 0), 0.15) for s, y in SIDES)
    front = upright("bogie", "base", (0.5, 0, 0.1)) + "".join(
        wheel(f"front_{s}", "bogie", (0, 0.3 * y, -0.1), 0.15) for s, y in SIDES)
    return robot(body("base"), rear, front), Truth(
        {f"{e}_{s}_joint": "disc" for e in ("front", "rear") for s, _ in SIDES},
        {"bogie_joint"}, {"bogie_joint", "rear_left_joint", "rear_right_joint"})


def gripper() -> tuple[str, Truth]:
    """Rollers on an arm are no wheels."""
    arm = (upright("arm", "base", (0, 0, 0.5)) + link("wrist", 1.0)
           + joint("wrist_joint", "arm", "wrist", (0.2, 0, 0), kind="revolute", more=LIMIT)
           + "".join(wheel(f"roller_{s}", "wrist", (0.1, 0.04 * y, 0), 0.03) for s, y in SIDES))
    return robot(body("base"), pair(), ball("foot", "base", (-0.3, 0, -0.05), 0.05), arm), Truth(
        PAIR, set(), {*PAIR}, 1)


def conveyor() -> tuple[str, Truth]:
    """Nor are those of the load's bed."""
    bed_ = "".join(wheel(f"roll{k}", "base", (0.1 * k - 0.3, 0, 0.5), 0.03, 0.5) for k in range(7))
    return robot(body("base"), pair(), ball("foot", "base", (-0.3, 0, -0.07), 0.03), bed_), Truth(
        PAIR, set(), {*PAIR}, 1)


def virtual_steering() -> tuple[str, Truth]:
    """The joint that is commanded carries no wheel; those that do mimic it."""
    knuckles = "".join(
        upright(f"{s}_knuckle", "base", (0.8, 0.4 * y, 0),
                more=LIMIT + '<mimic joint="wheel_angle"/>')
        + wheel(f"front_{s}", f"{s}_knuckle", (0, 0, 0), 0.2) for s, y in SIDES)
    rear = "".join(wheel(f"rear_{s}", "base", (-0.8, 0.4 * y, 0), 0.2) for s, y in SIDES)
    leader = '<link name="rack"/>' + joint("wheel_angle", "base", "rack", (0.8, 0, 0), axis=Z,
                                           kind="revolute", more=LIMIT)
    moved = ("wheel_angle", "position"), *((f"rear_{s}_joint", "velocity") for s, _ in SIDES)
    told = "".join(f'<joint name="{n}"><command_interface name="{w}"/></joint>' for n, w in moved)
    text = robot(body("base"), leader, knuckles, rear,
                 f'<ros2_control name="hardware" type="system">{told}</ros2_control>')
    steering = {f"{s}_knuckle_joint" for s, _ in SIDES}
    return text, Truth({f"{e}_{s}_joint": "disc" for e in ("front", "rear") for s, _ in SIDES},
                       steering, {*steering, "rear_left_joint", "rear_right_joint"})


def ball_of_joints() -> tuple[str, Truth]:
    """A ball that three joints let turn any way is a caster, and they are held."""
    shape = '<collision><geometry><sphere radius="0.03"/></geometry></collision>'
    chain = "".join(
        link(name, 0.02, (1e-5,) * 3, body=shape if name == "c" else "")
        + joint(f"{name}_joint", parent, name, (-0.3, 0, -0.07) if name == "a" else (0, 0, 0),
                axis=axis)
        for parent, name, axis in (("base", "a", (1, 0, 0)), ("a", "b", (0, 1, 0)), ("b", "c", Z)))
    return robot(body("base"), pair(), chain), Truth(PAIR, set(), {*PAIR}, 1)


def waist() -> tuple[str, Truth]:
    """The root is a torso, which turns upon the base."""
    feet = "".join(ball(name, "base", (x, 0, -0.05), 0.05) for name, x in (("f", 0.3), ("r", -0.3)))
    return robot(body("torso"), body("base"), joint("waist", "torso", "base", (0, 0, -0.6), axis=Z,
                                                    kind="revolute", more=LIMIT),
                 pair(), feet), Truth(PAIR, {"waist"}, {*PAIR, "waist"}, 2)


def rollers() -> tuple[str, Truth]:
    """Three wheels with a joint for each roller."""
    def omni(name: str, at: float) -> str:
        hub = ('<collision><geometry><cylinder radius="0.05" length="0.03"/></geometry>'
               '</collision>')
        parts = [link(name, 0.3, body=hub), joint(
            f"{name}_joint", "base", name, (0.15 * cos(at), 0.15 * sin(at), 0),
            (pi / 2, 0, at + pi / 2), Z)]
        for k in range(8):
            turn = k * pi / 4
            shape = (f'<collision><origin rpy="{pi / 2} 0 {turn}"/><geometry><cylinder '
                     'radius="0.01" length="0.03"/></geometry></collision>')
            parts += [link(f"{name}_{k}", 0.01, (1e-6,) * 3, body=shape), joint(
                f"{name}_{k}_joint", name, f"{name}_{k}", (0.045 * cos(turn), 0.045 * sin(turn), 0),
                axis=(-sin(turn), cos(turn), 0))]
        return "".join(parts)

    return robot(body("base"), *(omni(f"omni{k}", 2 * pi / 3 * k) for k in range(3))), Truth(
        {f"omni{k}_joint": "omni" for k in range(3)}, set(), None)


MACHINES = (bed, wagon, gripper, conveyor, virtual_steering, ball_of_joints, waist, rollers)


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.__name__)
def test_a_machine_is_what_it_is(machine):
    text, truth = machine()
    found = describe(text)
    assert {w.joint: w.kind for w in found.wheels if w.joint is not None} == truth.wheels
    assert set(found.steering) == truth.steering
    assert sum(w.joint is None for w in found.wheels) == truth.balls
    assert truth.driven is None or set(found.driven) == truth.driven
