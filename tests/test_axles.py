"""Which wheels constrain the base in the plane and which joint steers each, against plane geometry:
a wheel at (x, y) turned by g does not move along its axle, (-sin g, cos g, x cos g + y sin g)."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from support import joint, link, robot

import nhmech
from nhmech import Ground, Wheel
from nhmech.vehicle.build import build

SLOPE = Ground(normal=(0.1, -0.2, 1.0), point=(0.3, 0.2, -0.4))
BESIDE = {"left": (0.0, 0.3), "right": (0.0, -0.3)}


def wagon(fixed=BESIDE, forks=None, *, radius=0.1, free=(), driven=(), blades=(), more=(),
          laws=None, ground=Ground(), limits=1.5, **options):
    """Wheels on the base at (x, y); forks: name -> (x, y, trail, lean of the steering axis), each
    with a wheel of its name; points of the base that slide along it."""
    parts, wheels = [link("base", 9.0, (0.3, 0.4, 0.5), (0.1, 0, 0.2))], []
    for name, (x, y) in fixed.items():
        parts += [link(f"{name}_wheel", 0.4), joint(name, "base", f"{name}_wheel", (x, y, 0))]
    for name, (x, y, trail, lean) in (forks or {}).items():
        parts += [link(f"{name}_fork", 0.3), link(f"{name}_wheel", 0.4),
                  joint(f"{name}_steer", "base", f"{name}_fork", (x, y, 0), (0, lean, 0), (0, 0, 1),
                        "revolute", f'<limit lower="{-limits}" upper="{limits}" effort="9" '
                                    'velocity="9"/>'),
                  joint(name, f"{name}_fork", f"{name}_wheel", (-trail, 0, 0))]
    for name in (*fixed, *(forks or {})):
        law = (laws or {}).get(name, {})
        wheels.append(Wheel(name, **{"kind": "disc", "radius": radius, **law}))
    for i, (x, y) in enumerate(blades):
        parts += [link(f"blade{i}", 0.1), joint(f"to_blade{i}", "base", f"blade{i}", (x, y, 0),
                                                kind="fixed")]
        wheels.append(Wheel(None, "blade", link=f"blade{i}", axis=(0, 1, 0), point=(0, 0, 0)))
    return nhmech.load(robot(*parts, *more), wheels=wheels, free=free, ground=ground, **options)


def row(x, y, angle, length, trail=0.0):
    s, c = np.sin(angle), np.cos(angle)
    return -s, c, (x * c + y * s - trail) / length


@pytest.mark.parametrize("ground", [Ground(), SLOPE], ids=["level", "slope"])
def test_fixed_and_steered_axles_are_those_of_plane_geometry(ground):
    """In lengths of the largest distance from the middle of all contacts."""
    forks = {"a": (0.9, 0.2, 0.0, 0.0), "b": (-0.6, -0.1, 0.0, 0.0)}
    steering = wagon(forks=forks, ground=ground).steering
    places = np.array([*BESIDE.values(), *(fork[:2] for fork in forks.values())])
    length = np.linalg.norm(places - places.mean(axis=0), axis=1).max()
    assert steering.length == pytest.approx(length, rel=1e-12, abs=0)
    assert [axle.wheel for axle in steering.fixed] == ["left", "right"] and not steering.trailing
    assert [(axle.wheel, axle.steering) for axle in steering.steered] == [("a", "a_steer"),
                                                                          ("b", "b_steer")]
    for axle, (x, y, *_) in zip((*steering.fixed, *steering.steered),
                                (*((*xy, 0, 0) for xy in BESIDE.values()), *forks.values())):
        for angle in (-0.4, 0.0, 1.1) if axle.steering else (0.0,):
            np.testing.assert_allclose(axle.at(angle), row(x, y, angle, length), rtol=0, atol=1e-12)
    assert repr(steering.fixed[0]) == "<Axle of 'left', fixed>"


@pytest.mark.parametrize("trail, lean, found", [
    (0.05, 0.0, "trailing"), (-0.05, 0.0, "trailing"), (0.0, 0.0, "steered"),
    # the trail of an axis that leans changes as it turns
    (0.05, 0.3, ""), (0.0, 0.3, "")])
def test_a_wheel_trails_behind_an_upright_axis_or_is_steered_by_it(trail, lean, found):
    made = wagon({"left": (0, 0.3)}, {"a": (0.9, 0.2, trail, lean)}, free=("a_steer",))
    steering = made.steering
    assert [kind for kind in ("steered", "trailing") if getattr(steering, kind)] == [found] * bool(
        found)
    for axle in (*steering.steered, *steering.trailing):
        for angle in (-0.4, 1.1):
            np.testing.assert_allclose(axle.at(angle), row(0.9, 0.2, angle, steering.length, trail),
                                       rtol=0, atol=1e-12)
        assert axle.trail == pytest.approx(-trail / steering.length, abs=1e-15)
        expression = ca.Function("row", [made.algebroid.q], [axle.row])
        for angle in (-0.4, 1.1):
            q = made.posing.in_the_air(None, {"a_steer": angle})
            np.testing.assert_allclose(expression(q).full().ravel(), axle.at(angle), rtol=0,
                                       atol=1e-12)


@pytest.mark.parametrize("part, found", [(0.99e-6, "steered"), (1.01e-6, "trailing")])
@pytest.mark.parametrize("size", [1e-4, 1.0, 100.0])
def test_a_trail_below_a_millionth_of_the_length_is_none(part, found, size):
    """Of wheels 0.8 apart in any unit."""
    made = wagon({"left": (0, 0)}, {"a": (0.8 * size, 0, 0.1 * size, 0)}, free=("a_steer",),
                 radius=0.1 * size)
    before, after = (f'xyz="{-trail * size} 0 0"' for trail in (0.1, 0.4 * part))
    assert before in made.description.xml
    made = build(replace(made.description, xml=made.description.xml.replace(before, after)),
                 made.ground)
    assert made.steering.length == pytest.approx(0.4 * size, rel=1e-5)
    assert len(getattr(made.steering, found)) == 1


def test_the_first_wheel_of_a_fork_counts_and_one_below_two_joints_does_not():
    twin = [link("beside", 0.4), joint("twin", "a_fork", "beside", (0, 0.1, 0))]
    made = wagon(forks={"a": (0.9, 0, 0, 0)}, more=twin, laws={})
    description = made.description
    both = nhmech.load(description.xml, wheels=[*description.wheels, Wheel("twin", "disc", 0.1)])
    assert [axle.wheel for axle in both.steering.steered] == ["a"]
    arm = [link("arm", 0.4), link("fork", 0.4), link("end", 0.4),
           joint("swing", "base", "arm", (0.9, 0, 0), axis=(0, 0, 1)),
           joint("steer", "arm", "fork", (0.2, 0, 0), axis=(0, 0, 1)), joint("last", "fork", "end")]
    text = wagon(more=arm).description.xml
    far = nhmech.load(text, wheels=[Wheel(name, "disc", 0.1) for name in ("left", "right", "last")],
                      free=("swing", "steer")).steering
    assert len(far.fixed) == 2 and not far.steered and not far.trailing


@pytest.mark.parametrize("options, fixed", [
    (dict(skid=["left", "b"]), ["right", "a"]), (dict(skid=1.3), []), (dict(skid="coulomb"), [])])
def test_what_slips_sideways_is_no_axle(options, fixed):
    """Released wheels, and all of them where they scrub; the length is that of all."""
    places = {**BESIDE, "a": (-0.8, 0.3), "b": (-0.8, -0.3)}
    steering = wagon(places, **options).steering
    assert [axle.wheel for axle in steering.fixed] == fixed
    assert steering.length == pytest.approx(0.5, rel=1e-12, abs=0)


@pytest.mark.parametrize("places, radius, blades, length", [
    ({"left": (0, 0.3)}, 0.2, (), 0.2), (BESIDE, 0.1, (), 0.3), (BESIDE, 0.5, (), 0.5),
    ({}, 0.0, [(0.7, 0.2)], 0.1), ({}, 0.0, [(0.7, 0.2), (-0.7, 0.2)], 0.7)])
def test_the_length_is_that_of_the_contacts_or_of_a_wheel(places, radius, blades, length):
    """Of one blade a tenth of a metre."""
    assert wagon(places, radius=radius, blades=blades).steering.length == pytest.approx(
        length, rel=1e-12, abs=0)


def test_heights_do_not_count_for_the_length():
    """A wheel of another size, whose centre is higher."""
    high = [link("w", 0.4), joint("big", "base", "w", (0.8, 0, 0.4))]
    text = wagon(more=high).description.xml
    made = nhmech.load(text, wheels=[Wheel("left", "disc", 0.1), Wheel("right", "disc", 0.1),
                                     Wheel("big", "disc", 0.5)])
    places = np.array([(0, 0.3), (0, -0.3), (0.8, 0)])
    assert made.steering.length == pytest.approx(
        np.linalg.norm(places - places.mean(axis=0), axis=1).max(), rel=1e-12, abs=0)


def test_a_ball_that_rolls_has_no_axle_of_its_own():
    parts = [link("ball", 0.1), joint("to_ball", "base", "ball", (0.5, 0, -0.05), kind="fixed")]
    text = wagon(more=parts).description.xml
    made = nhmech.load(text, wheels=[Wheel("left", "disc", 0.1), Wheel("right", "disc", 0.1),
                                     Wheel(None, "sphere", 0.05, link="ball")])
    assert [axle.wheel for axle in made.steering.fixed] == ["left", "right"]


FORKS = {"a": (0.9, 0.2, 0, 0), "b": (0.9, -0.2, 0, 0), "c": (-0.6, 0.2, 0, 0)}


@pytest.mark.parametrize("speeds, order", [(None, "abc"), (("c_steer", "a"), "cab"),
                                           (("b_steer", "c_steer"), "bca")])
def test_named_speeds_lead(speeds, order):
    steering = wagon(forks=FORKS, speeds=speeds).steering
    assert "".join(axle.wheel for axle in steering.steered) == order


def test_driven_joints_lead_undriven_ones():
    """Their followers are left to themselves."""
    made = wagon(forks=FORKS)
    description = replace(made.description, driven=("c_steer", "b_steer"))
    steering = build(description, made.ground).steering
    assert [axle.wheel for axle in steering.steered] == ["b", "c", "a"]


@pytest.mark.parametrize("slipping, fixed", [
    ((), ["left", "right", "behind"]), (("left",), ["right", "behind"]),
    (("left", "behind"), ["right"]), (("left", "right", "behind"), ["left", "right"])])
def test_axles_that_cannot_slip_determine_where_the_others_meet(slipping, fixed):
    """Where all have tyres, the first and those on its line."""
    tyre = dict(law="tyre", tyre="longitudinal.stiffness=1e4 lateral.stiffness=1e4")
    laws = {name: tyre for name in slipping}
    laws |= dict.fromkeys(["behind"] if "behind" not in slipping else [], {})
    made = wagon({**BESIDE, "behind": (0.0, 0.1)} if not slipping else
                 {**BESIDE, "behind": (-0.5, 0.0)}, {"a": (0.9, 0, 0, 0)}, laws=laws)
    assert [axle.wheel for axle in made.steering.fixed] == fixed


@pytest.mark.parametrize("multiplier", [-1.0, 1.0])
def test_two_steered_axles_that_are_linked_act_as_one_fixed_one(multiplier):
    """Turned oppositely, one half way between them; turned alike, they forbid to turn."""
    text = wagon({}, {"a": (0.9, 0, 0, 0), "b": (-0.5, 0, 0, 0)}).description.xml.replace(
        '<child link="b_fork"/>', '<child link="b_fork"/>'
        f'<mimic joint="a_steer" multiplier="{multiplier}"/>')
    steering = nhmech.load(text, wheels=[Wheel("a", "disc", 0.1), Wheel("b", "disc", 0.1)]).steering
    (made,) = steering.fixed
    assert (made.wheel, made.steering) == ("b_steer with a_steer", "")
    expected = (0, 1, 0.2 / 0.7) if multiplier < 0 else (0, 0, -1)
    np.testing.assert_allclose(made.straight, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.array(ca.evalf(made.row)).ravel(),
                               expected, rtol=0, atol=1e-12)
