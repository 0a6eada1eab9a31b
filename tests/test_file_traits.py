"""Traits of robot files that their authors write and that change what a wheel is: each shown by a
small robot of its own."""

from __future__ import annotations

import re
from math import pi
from pathlib import Path

import coal
import numpy as np
import pytest
from robot_table import python_lines
from support import joint, link, robot

import nhmech
from nhmech import InputError, ModelError
from nhmech.urdf.describe import describe
from nhmech.urdf.notice import NoticeKind
from nhmech.vehicle.geometry import moving_geometry

RADIUS, TRACK = 0.1, 0.4
LIMIT = '<limit lower="-0.02" upper="0.02" effort="9" velocity="1"/>'
LYING = f"{pi / 2} 0 0"


def shape(kind: str, rpy: str = "0 0 0", xyz: str = "0 0 0") -> str:
    return (f'<collision><origin xyz="{xyz}" rpy="{rpy}"/><geometry><{kind}/></geometry>'
            "</collision>")


WHEEL = shape(f'cylinder radius="{RADIUS}" length="0.04"', LYING)
BALL = shape('sphere radius="0.05"')


def cart(wheel: str = WHEEL, *parts: str, unit: float = 1.0, right_axis=(0, 1, 0),
         ball: str = "fixed") -> str:
    """Two wheels and a ball behind them, on a joint of some type; origins in another unit."""
    at = [tuple(unit * p for p in place) for place in (
        (0, TRACK / 2, RADIUS), (0, -TRACK / 2, RADIUS), (-0.3, 0, 0.05))]
    return robot(
        link("base", 10, com=(-0.05, 0, 0.1)), link("left", body=wheel), link("right", body=wheel),
        link("ball", 0.1, (1e-4, 1e-4, 1e-4), body=BALL),
        joint("left_joint", "base", "left", at[0]),
        joint("right_joint", "base", "right", at[1], axis=right_axis),
        joint("ball_joint", "base", "ball", at[2], axis=(0, 0, 1), kind=ball, more=LIMIT), *parts)


def said(found, kind: NoticeKind) -> list[str]:
    return [notice.text for notice in found.notices if notice.kind is kind]


def test_a_capsule_is_its_cylinder_and_its_ends():
    """About an axle it is as round as a cylinder; and what collides is the same set of points, of
    which the support function tells: h(n) = c.n + l |a.n| / 2 + r."""
    capsule = shape(f'capsule radius="{RADIUS}" length="0.03"', "1.2 0.3 -0.4", "0.01 0.02 0.03")
    standing = f'capsule radius="{RADIUS}" length="0.03"'
    found = describe(cart(shape(standing, LYING)))
    assert [(w.kind, w.radius) for w in found.wheels][:2] == [("disc", RADIUS)] * 2
    vehicle = nhmech.load(cart(WHEEL, link("box", 1.0, body=capsule), joint(
        "box_joint", "base", "box", (0, 0, 0.5), kind="fixed")))
    parts = [g for g in moving_geometry(vehicle.description).collision.geometryObjects
             if g.name.startswith("box")]
    assert sorted(type(g.geometry).__name__ for g in parts) == ["Cylinder", "Sphere", "Sphere"]
    from pinocchio.rpy import rpyToMatrix
    a, c = rpyToMatrix(1.2, 0.3, -0.4)[:, 2], np.array([0.01, 0.02, 0.53])
    for n in np.random.default_rng(0).normal(size=(20, 3)):
        n /= np.linalg.norm(n)
        reach = []
        for g in parts:
            along = g.placement.rotation[:, 2] @ n
            if isinstance(g.geometry, coal.Sphere):
                reach.append(g.placement.translation @ n + g.geometry.radius)
            else:
                reach.append(g.placement.translation @ n + g.geometry.halfLength * abs(along)
                             + g.geometry.radius * np.sqrt(1 - along ** 2))
        assert max(reach) == pytest.approx(c @ n + 0.015 * abs(a @ n) + RADIUS, rel=1e-12)


def test_casters_on_springs_support():
    """A ball on an upright prismatic joint, which is held, is as good as one that is fixed."""
    found, plain = describe(cart(ball="prismatic")), describe(cart())
    assert [(w.kind, w.link, w.radius) for w in found.wheels] == [
        (w.kind, w.link, w.radius) for w in plain.wheels]
    assert found.wheels[-1].kind == "caster_ball" and found.locked == {"ball_joint": 0.0}


def test_mecanum_wheels_beside_wheels_that_measure():
    """Four that are named mecanum stand as they do alone, whatever stands beside them."""
    def mobile(*parts: str) -> str:
        places = {"fl": (0.2, 0.2), "fr": (0.2, -0.2), "bl": (-0.2, 0.2), "br": (-0.2, -0.2)}
        own = [part for name, (x, y) in places.items() for part in (
            link(f"mecanum_{name}", body=WHEEL),
            joint(f"{name}_joint", "base", f"mecanum_{name}", (x, y, RADIUS)))]
        return robot(link("base", 10, com=(0, 0, 0.1)), *own, *parts)
    small = shape('cylinder radius="0.02" length="0.01"', LYING)
    pods = [part for name, xyz, yaw in (("along", (0, 0.1, 0.02), 0), ("across", (-0.1, 0, 0.02),
                                                                        pi / 2))
            for part in (link(f"omni_{name}", 0.02, body=small),
                         joint(f"{name}_joint", "base", f"omni_{name}", xyz, (0, 0, yaw)))]
    alone, beside = describe(mobile()), describe(mobile(*pods))
    assert [w.roller_angle for w in alone.wheels] == [w.roller_angle for w in beside.wheels[:4]]
    assert [w.kind for w in beside.wheels] == ["mecanum"] * 4 + ["omni"] * 2
    assert len(nhmech.load(mobile(*pods)).speeds) == 3


def test_opposed_axes_of_one_axle_are_said_with_their_cure():
    opposed = cart(right_axis=(0, -1, 0))
    text, = said(describe(opposed), NoticeKind.OPPOSED_AXES)
    assert text.startswith("right_joint: rolls backwards at a positive speed, left_joint on the "
                           "same axle forwards")
    cure = re.search(r'<axis xyz="[^"]*"/>', text)
    assert cure is not None
    mended = opposed.replace('<axis xyz="0 -1 0"/>', cure.group())
    assert mended != opposed and not said(describe(mended), NoticeKind.OPPOSED_AXES)
    assert not said(describe(cart()), NoticeKind.OPPOSED_AXES)


def test_origins_in_millimetres_are_refused_with_the_origin_in_metres():
    with pytest.raises(ModelError, match='400 m from all other wheels.*xyz="0 0.2 0.1"') as caught:
        describe(cart(unit=1000.0))
    assert "left_joint" in str(caught.value)
    assert describe(cart()).wheels


def test_casters_beside_a_turntable_follow():
    """Two wheels on one axle below a pivot that they trail turn it; a single one beside does not,
    and is no motor of the robot's."""
    small = shape('cylinder radius="0.05" length="0.02"', LYING)
    parts = [part for name, y in (("one", 0.15), ("two", -0.15)) for part in (
        link(f"{name}_fork", 0.2), link(name, 0.3, body=small),
        joint(f"{name}_swivel", "base", f"{name}_fork", (-0.3, y, 0.05), axis=(0, 0, 1)),
        joint(f"{name}_joint", f"{name}_fork", name, (-0.04, 0, 0)))]
    drive = [part for name, y in (("left", 0.15), ("right", -0.15)) for part in (
        link(name, 0.5, body=small), joint(f"{name}_joint", "table", name, (0.1, y, 0)))]
    found = describe(robot(link("base", 20, com=(0, 0, 0.2)), link("table", 2), joint(
        "table_joint", "base", "table", (0, 0, 0.05), axis=(0, 0, 1)), *drive, *parts))
    assert set(found.driven) == {"table_joint", "left_joint", "right_joint"}


@pytest.mark.parametrize("name", ["wheel", "tekerlek", "J"])
def test_wheels_whose_axis_is_across_their_cylinders_are_told_the_axis(name):
    """By their cylinders, which lie on one line, whatever they are called."""
    standing = shape(f'cylinder radius="{RADIUS}" length="0.04"')
    def made(axis):
        return robot(link("base", 10, com=(-0.05, 0, 0.1)), link("ball", 0.1, body=BALL), joint(
            "ball_joint", "base", "ball", (-0.3, 0, 0.05), kind="fixed"), *(
            part for side, y in (("left", 0.2), ("right", -0.2)) for part in (
                link(f"{side}_{name}_link", body=standing),
                joint(f"{side}_{name}", "base", f"{side}_{name}_link", (0, y, RADIUS),
                      (pi / 2, 0, 0), axis=axis))))
    with pytest.raises(ModelError, match=r'Did you mean <axis xyz="0 0 -1"/>') as caught:
        describe(made((0, 1, 0)))
    assert f"right_{name}" in str(caught.value)
    assert len(describe(made((0, 0, -1))).wheels) == 3


def write_wheel(path: Path, centre: tuple[float, float, float]) -> str:
    """An OBJ file of a cylinder about y through a point, and the link's shape made of it."""
    turns = 2 * pi * np.arange(24) / 24
    rims = [(centre[0] + RADIUS * np.sin(a), centre[1] + y, centre[2] + RADIUS * np.cos(a))
            for y in (-0.02, 0.02) for a in turns]
    faces = [f"f {i + 1} {(i + 1) % 24 + 1} {(i + 1) % 24 + 25}\nf {i + 1} {(i + 1) % 24 + 25} "
             f"{i + 25}" for i in range(24)]
    path.write_text("\n".join([*(f"v {x:.9f} {y:.9f} {z:.9f}" for x, y, z in rims), *faces]))
    return (f'<collision><origin xyz="0 0 0"/><geometry><mesh filename="{path.name}"/></geometry>'
            "</collision>")


def test_joints_that_an_exporter_left_at_the_origin_are_told_their_place(tmp_path):
    """The wheels are drawn where they are, and their joints are not; the cure is tried."""
    places = {"left": (0.1, 0.2, RADIUS), "right": (0.1, -0.2, RADIUS)}
    file = tmp_path / "robot.urdf"
    file.write_text(robot(
        link("base", 10, com=(0, 0, 0.1)), link("ball", 0.1, body=BALL),
        joint("ball_joint", "base", "ball", (-0.2, 0, 0.05), kind="fixed"), *(
            part for name, centre in places.items() for part in (
                link(name, body=write_wheel(tmp_path / f"{name}.obj", centre)),
                joint(f"{name}_joint", "base", name, ("0.0", "0.0", "0.0"))))))
    with pytest.raises(ModelError, match="0.1414 m beside its wheel.*radius of 0.1 m") as caught:
        describe(file)
    origin, shift = re.findall(r'origin xyz="([^"]*)" ...>, and add \(([^)]*)\)',
                               str(caught.value))[0]
    text = file.read_text().replace('xyz="0.0 0.0 0.0"', f'xyz="{origin}"').replace(
        '<collision><origin xyz="0 0 0"/><geometry><mesh',
        f'<collision><origin xyz="{shift}"/><geometry><mesh')
    file.write_text(text)
    assert [(w.name, w.radius) for w in describe(file).wheels][:2] == [
        ("left_joint", RADIUS), ("right_joint", RADIUS)]


@pytest.mark.parametrize("more", [(), ((0, 0, 1),), ((0, 0, 1), (1, 0, 0))])
def test_a_robot_on_a_ball_is_told_how_it_stands_on_it(more):
    """Two joints or more turn the ball every way, whatever the last one's axis; the cure is tried:
    6 + n velocities less 3."""
    axes = [(1, 0, 0), (0, 1, 0), *more]
    text = robot(link("body", 10, com=(0, 0, 0.6)),
                 *(link(f"between{k}", 0.01) for k in range(1, len(axes))),
                 link("ball", 2, body=BALL),
                 *(joint(f"joint{k}", f"between{k}" if k else "body",
                         "ball" if k + 1 == len(axes) else f"between{k + 1}", axis=axis)
                   for k, axis in enumerate(axes)))
    with pytest.raises(ModelError, match="If it rolls on the ball 'ball'") as caught:
        describe(text)
    cure = re.search(r"wheels=(.*\]), free=(.*\])", str(caught.value))
    assert cure is not None
    wheels, free = (eval(part, {"Wheel": nhmech.Wheel}) for part in cure.groups())
    assert len(nhmech.load(text, wheels=wheels, free=free).speeds) == 3 + len(axes)


@pytest.mark.parametrize("kind", ["sphere", "disc"])
def test_what_is_to_roll_about_an_upright_joint_is_refused(kind):
    text = robot(link("body", 10, com=(0, 0, 0.6)), link("ball", 2, body=BALL),
                 joint("spin", "body", "ball", axis=(0, 0, 1)))
    with pytest.raises(InputError, match="is vertical in the start pose") as caught:
        describe(text, wheels=[nhmech.Wheel("spin", kind, 0.1)])
    if kind == "sphere":
        line = next(python_lines(caught.value.remedy))
        assert len(nhmech.load(text, **line).speeds) == 4
