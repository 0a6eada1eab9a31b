"""Wheels that somebody lists: what is filled in, in which frame; and wheels of one axle that turn
opposite ways."""

from __future__ import annotations

from math import pi

import numpy as np
import pinocchio as pin
import pytest
from placed import laid, limits, shape, stand
from support import joint, link

from nhmech import InputError, ModelError, Wheel
from nhmech.errors import Remedy
from nhmech.urdf.description import Witness
from nhmech.urdf.notice import NoticeKind
from nhmech.urdf.wheels.axis_hints import axis_error, axle_error, upright_axes
from nhmech.urdf.wheels.listed_wheels import Origin, complete_wheels, read_wheels
from nhmech.urdf.wheels.opposed import report_opposed

RPY, AT = (0.3, -0.2, 0.5), (0.1, 0.2, 0.3)
R = pin.rpy.rpyToMatrix(*RPY)


def rig(body: str = "", axis=(0, 1, 0), tyre: str = "", kind="continuous"):
    """A rotor `w` on the joint `j`, and `tyre`, fixed to it in a frame of its own."""
    more = limits(-1, 1) if kind != "continuous" else ""
    return laid(link("base"), link("w", body=body), joint("j", "base", "w", (0, 0, 0.4), axis=axis,
                                                          kind=kind, more=more),
                link("tyre", body=tyre), joint("t", "w", "tyre", AT, RPY, kind="fixed"),
                link("other"), joint("o", "base", "other", kind="fixed"))


def complete(wheel: Wheel, layout=None, origin=Origin.WHEELS):
    [contact], notices = complete_wheels(layout or rig(), [wheel], origin)
    return contact, notices


CYLINDER = shape("cylinder", (0, 0.02, 0), (pi / 2, 0, 0), radius=0.1, length=0.04)


@pytest.mark.parametrize("body, point, reason", [
    ("", (0, 0, 0), "its centre is the joint's origin"),
    (CYLINDER, (0, 0.02, 0), "its centre is that of the collision cylinder of 'w'")])
def test_a_wheel_on_a_joint_has_the_joint_s_axle_and_its_rim_s_centre(body, point, reason):
    contact, _ = complete(Wheel("j", "disc", 0.1), rig(body))
    assert (contact.wheel.link, contact.wheel.axis) == ("w", (0.0, 1.0, 0.0))
    assert contact.wheel.point == pytest.approx(point, abs=1e-12)
    assert str(contact.reason) == f"from the wheels given; {reason}"
    contact, _ = complete(Wheel("j", "disc", 0.1), rig(body), Origin.TAG)
    assert str(contact.reason).startswith("from <nhmech>; ")


def test_axis_and_point_of_another_link_are_those_of_the_rotor():
    """Of any length; in the frame of the link that is named."""
    axis = tuple(2.5 * R.T @ (0, 1, 0))
    wheel = Wheel("j", "disc", 0.1, link="tyre", axis=axis, point=(0.01, 0.02, 0.03))
    contact, _ = complete(wheel)
    assert contact.wheel.link == "w" and contact.wheel.axis == pytest.approx((0, 1, 0), abs=1e-12)
    assert contact.wheel.point == pytest.approx(AT + R @ (0.01, 0.02, 0.03), abs=1e-12)
    assert "its point is given" in str(contact.reason)


@pytest.mark.parametrize("wheel, words", [
    (Wheel("k", "disc", 0.1), "joint 'k' does not exist in <string>; joints that move: j"),
    (Wheel("t", "disc", 0.1), '"t"> is fixed and cannot roll'),
    (Wheel("j", "disc", 0.1, link="odd"), "link 'odd' does not exist in <string>; links: base, w"),
    (Wheel("j", "disc", 0.1, link="other"), "link 'other' does not turn with the joint; its rotor "
                                            "is w, tyre"),
    (Wheel("j", "disc", 0.1, axis=(0.0203, 1, 0)), "is not the joint's axis (0.0, 1.0, 0.0)"),
    (Wheel(None, "sphere", 0.1, link="odd"), "link 'odd' does not exist"),
    (Wheel(None, "disc", 0.1, link="other", axis=(0.0140, 0, 1)), "its axle (0.014 0 0.9999) is "
                                                                  "vertical"),
    (Wheel(None, "blade", link="other", axis=(0, 0, 1), point=(0, 0, 0)), None),
    (Wheel(None, "disc", 0.1, link="other", axis=(0.0142, 0, 1)), None),
    (Wheel(None, "caster_ball", 0.1, link="other", axis=(0, 0, 1)), None),
    (Wheel("j", "disc", 0.1, axis=(0.0197, 1, 0)), None),
    (Wheel("j", "sphere", 0.1, axis=(1, 0, 0)), None)])
def test_what_is_listed_fits_the_file(wheel, words):
    """An axis up to a fiftieth off, an axle up to 0.8 degrees from the vertical; a ball has any."""
    for origin, kind in ((Origin.WHEELS, InputError), (Origin.TAG, ModelError)):
        if words is None:
            complete(wheel, origin=origin)
            continue
        with pytest.raises(kind, match=f"^{origin.value}: ") as caught:
            complete(wheel, origin=origin)
        assert words in caught.value.text


def test_a_ball_that_no_joint_rolls_is_offered_with_all_above_it():
    layout = laid(link("base"), link("a"), joint("i", "base", "a", axis=(1, 0, 0)), link("w"),
                  joint("j", "a", "w", axis=(0, 0, 1)))
    with pytest.raises(InputError, match="its axis is vertical in the start pose") as caught:
        complete(Wheel("j", "sphere", 0.1), layout)
    assert caught.value.remedy.python.endswith(
        "wheels=[Wheel(None, 'sphere', 0.1, link='w')], free=['i', 'j']")


@pytest.mark.parametrize("body, kind, point, where", [
    ("", "disc", (0, 0, 0), "the link's origin"),
    (shape("box", (1, 0, 0), size="1 1 1") + shape("sphere", (0, 0, 0.2), radius=0.1),
     "caster_ball", (0, 0, 0.2), "that of the collision sphere"),
    (CYLINDER, "disc", (0, 0.02, 0), "that of the collision cylinder"),
    (CYLINDER, "caster_ball", (0, 0, 0), "the link's origin")])
def test_a_wheel_on_a_link_has_its_shape_s_centre(body, kind, point, where):
    axis = (0, 0, -3) if kind == "caster_ball" else (0, 2, 0)
    contact, _ = complete(Wheel(None, kind, 0.1, link="w", axis=axis), rig(body))
    assert contact.wheel.point == pytest.approx(point) and where in str(contact.reason)
    assert contact.wheel.axis == pytest.approx(np.sign(axis))
    given, _ = complete(Wheel(None, kind, 0.1, link="w", axis=axis, point=(1, 2, 3)), rig(body))
    assert given.wheel.point == (1, 2, 3) and "its point is given" in str(given.reason)
    assert complete(Wheel(None, "sphere", 0.1, link="w"))[0].wheel.axis is None


def test_a_radius_that_shapes_contradict_is_told():
    layout = rig(CYLINDER)
    contact, notices = complete(Wheel("j", "disc", 0.1), layout)
    assert not notices
    assert [(fact.witness, fact.agrees) for fact in contact.reason.facts] == [
        (Witness.PRIMITIVE, True)]
    contact, [said] = complete(Wheel("j", "disc", 0.2), layout)
    assert said.kind is NoticeKind.OTHER_RADIUS and said.text.startswith("j: radius 0.2 m as given")
    assert [fact.agrees for fact in contact.reason.facts] == [False]


@pytest.mark.parametrize("given, words", [
    (3, "3 is not a sequence of Wheel"), ([], "none; leave them out"),
    (["j"], "'j' is not a Wheel; write Wheel(joint, kind, radius)"),
    ([Wheel("j", "disc", 0.1)] * 2, "wheel 'j' is listed twice"),
    ([Wheel(None, "sphere", 0.1, link="j"), Wheel("j", "disc", 0.1)], "wheel 'j' is listed twice")])
def test_wheels_are_a_list_of_different_ones(given, words):
    with pytest.raises(InputError) as caught:
        read_wheels(given, Origin.WHEELS)
    assert words in caught.value.text
    one = Wheel("j", "disc", 0.1)
    assert read_wheels(one, Origin.WHEELS) == read_wheels(iter([one]), Origin.WHEELS) == (one,)


# --- axes that are not meant ----------------------------------------------------------------------

def upright(rpy=(0, 0, 0), axis=(0, 0, 1), body_rpy=(pi / 2, 0, 0), names=("l_wheel", "r_wheel"),
            at=((0, 0.2, 0), (0, -0.2, 0)), kind="continuous"):
    """Two joints with lying cylinders."""
    parts = [link("base")]
    for name, xyz in zip(names, at):
        parts += [link(name, body=shape("cylinder", rpy=body_rpy, radius=0.1, length=0.04)),
                  joint(f"{name}_j", "base", name, xyz, rpy, axis, kind,
                        more=limits(-1, 1) if kind == "revolute" else "")]
    return laid(*parts)


@pytest.mark.parametrize("words, count", [
    ({}, 2), ({"names": ("a", "b")}, 2), ({"kind": "revolute"}, 0),
    ({"axis": (0.71, 0, 0.704)}, 2), ({"axis": (0.72, 0, 0.694)}, 0), ({"axis": (1, 0, 0)}, 0),
    ({"body_rpy": (0, 0, 0)}, 0), ({"body_rpy": (pi / 2 - 0.019, 0, 0)}, 2),
    ({"body_rpy": (pi / 2 - 0.021, 0, 0)}, 0),
    ({"names": ("l_steer", "r_steer")}, 0), ({"names": ("pivot", "Caster")}, 0),
    # without the word they are wheels where they share a line, up to a twentieth of the radius
    ({"names": ("a", "b"), "at": ((0, 0.2, 0), (0.0049, -0.2, 0))}, 2),
    ({"names": ("a", "b"), "at": ((0, 0.2, 0), (0.0051, -0.2, 0))}, 0),
    ({"names": ("a", "wheel")}, 1)])
def test_upright_axes_of_lying_cylinders_are_mistakes(words, count):
    assert len(upright_axes(upright(**words))) == count


@pytest.mark.parametrize("rpy, body_rpy, meant", [
    ((0, 0, 0), (pi / 2, 0, 0), (0, 1, 0)), ((0, 0, 0), (-pi / 2, 0, 0), (0, 1, 0)),
    ((0, 0, 0), (0, pi / 2, 0), (1, 0, 0)), ((0, 0, 0), (0, -pi / 2, 0), (1, 0, 0)),
    ((0, 0, pi), (pi / 2, 0, 0), (0, -1, 0)), ((0, 0, 0.5), (pi / 2, 0, 0), (0, 1, 0))])
def test_the_axis_that_is_meant_points_to_the_left_or_forward(rpy, body_rpy, meant):
    """So that a positive speed rolls ahead, in the joint's frame."""
    layout = upright(rpy, body_rpy=body_rpy)
    for steer, word in ((True, "(If they steer a wheel"), (False, "")):
        text = axis_error(layout, upright_axes(layout), steer).text
        words = " ".join(f"{c:g}" for c in meant)
        assert f'Did you mean <axis xyz="{words}"/>? r_wheel_j, line 1: <axis xyz="{words}"/>.' in (
            text)
        assert (word in text) and ("If they steer" in text) == steer
    alone = axis_error(layout, upright_axes(layout)[:1], True).text
    assert "(If it steers a wheel" in alone
    assert "steer" not in axis_error(layout, upright_axes(layout)).text


@pytest.mark.parametrize("axis, along, words, remedied", [
    ((0, 1, 0), (0, 0, 1), ("stands along (0 0 1), across the axle (0 1 0)", "or correct <axis>"),
     True),
    ((0, 1, 0), (0, 0.3, -1), ("stands along (0 -0.3 1)",), True),
    ((0, 1, 0), (-0.6, 0, -0.8), ("stands along (0.6 0 0.8)",), True),
    (None, (0, 0, 1), ('write <axis xyz="0 1 0"/> and turn the shapes onto it',), False),
    (None, (0, 1, 0), ('write <axis xyz="0 1 0"/>',), False)])
def test_a_cylinder_across_an_axle_is_told_with_what_may_be_meant(axis, along, words, remedied):
    text = joint("j", "base", "w", axis=axis or (0, 1, 0))
    text = text if axis else text.replace('<axis xyz="0 1 0"/>', "")
    layout = laid(link("base"), link("w"), text)
    error = axle_error(layout, layout.joints["j"], 0.1, np.array(along, float), Remedy("a", "b"))
    assert all(word in error.text for word in words) and "radius 0.1 m" in error.text
    assert (error.remedy is not None) == remedied
    assert ("turn the shapes onto it" in error.text) == (axis is None and along[2] == 1)


# --- opposite ways --------------------------------------------------------------------------------

def opposed(*axles, links=(), steering=()):
    layout, wheels = stand(*((x, y, 0.1, 0.1, axis) for x, y, axis in axles), links=links)
    wheels.append(Wheel(None, "caster_ball", 0.1, link="base", point=(0, 0, 0)))
    return [n.text for n in report_opposed(layout, wheels, steering)]


Y, BACK, X = (0, 1, 0), (0, -1, 0), (1, 0, 0)


@pytest.mark.parametrize("axles, said", [
    (((0, 1, Y), (0, -1, Y)), None), (((0, 1, BACK), (0, -1, BACK)), None),
    (((0, 1, Y), (0, -1, BACK)), "j1: rolls backwards at a positive speed, j0 on"),
    (((0, 1, Y), (0, 0, BACK), (0, -1, BACK)), "j1, j2: roll backwards at a positive speed, j0 on"),
    (((0, 1, Y), (1, -1, BACK)), None),                      # on two axles
    # along x it is forward that rolls to the left
    (((1, 0, X), (-1, 0, (-1, 0, 0))), "j0: rolls"), (((1, 0, X), (1.5, 0, X)), None),
    (((1, 0, (1, 0.9e-6, 0)), (1.5, 0, (-1, 0.9e-6, 0))), "j0: rolls"),
    (((1, 0, (-1, 1.1e-6, 0)), (1.5, 0, (1, -1.1e-6, 0))), "j1: rolls")])
def test_wheels_of_one_axle_that_roll_opposite_ways_are_told(axles, said):
    found = opposed(*axles)
    assert len(found) == (said is not None) and all(said in text for text in found)
    if said is not None:
        name = said[:2]
        axis = np.array(axles[int(name[1])][2], float)
        words = " ".join(f"{c:g}" for c in np.round(-axis, 4) + 0.0)
        assert found[0].endswith(f'same way: <axis xyz="{words}"/> in {name}')
    # each that steers by itself is a body of its own
    assert opposed(*axles, steering=[f"j{k}" for k in range(len(axles))]) == []


@pytest.mark.parametrize("angle, said", [(0.1001, True), (0.1003, False)])
def test_a_star_of_axles_points_out_of_its_middle(angle, said):
    """Axles on different lines, that cross by a tenth and more, all point out or in."""
    star = ((0, 1, Y), (0, -1, BACK), (1, 0.1, (np.sin(angle), np.cos(angle), 0)))
    assert bool(opposed(*star)) == said
    far = tuple((x - 5, y - 7, axis) for x, y, axis in star)       # wherever the root is
    assert bool(opposed(*far)) == said
    inward = tuple((x, y, tuple(-c for c in axis)) for x, y, axis in star)
    assert bool(opposed(*inward)) == said
