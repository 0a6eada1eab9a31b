"""Impossible inertias, judged by what they do to the body that moves: against Pinocchio's sums of
inertias, just within the twentieth that passes and just beyond."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from placed import laid
from scipy.optimize import brentq
from support import joint, link

from nhmech import Wheel
from nhmech.urdf.notice import NoticeKind
from nhmech.urdf.text.source import read_source
from nhmech.urdf.validate_inertia import (
    check_bodies,
    nearest_possible,
    read_inertia,
    repair_inertias,
)

ODD = np.array([1.0, 0.5, 2.5])           # principal moments: 1 + 0.5 < 0.9 * 2.5
HARM = 0.05
PLACE, TURN = np.array([0.3, -0.2, 0.4]), (0.3, -0.5, 0.7)
BASE = 4.0, (2.0, 2.5, 1.8), (0.1, 0.0, 0.2)


def base() -> str:
    mass, moments, com = BASE
    return link("base", mass, moments, com)


def change(size: float, held: float = 0.0) -> float:
    """By how much the body's inertia changes where the part's is replaced by the nearest possible
    one: both about their common centre of mass, which stays."""
    bodies = []
    for moments in (ODD * size, np.diag(nearest_possible(np.diag(ODD * size))[0])):
        part = pin.SE3(pin.rpy.rpyToMatrix(*TURN) @ pin.rpy.rpyToMatrix(0, 0, held), PLACE).act(
            pin.Inertia(1.0, np.array([0.05, 0, 0.1]), np.diag(moments)))
        mass, own, com = BASE
        bodies.append((part + pin.Inertia(mass, np.array(com), np.diag(own))).inertia)
    given, nearest = bodies
    return float(np.linalg.norm(nearest - given) / np.linalg.norm(nearest))


def judge(size: float, kind: str = "fixed", held: float = 0.0, mass: float = 1.0):
    layout = laid(base(), link("part", mass, ODD * size, (0.05, 0, 0.1)),
                  joint("j", "base", "part", PLACE, TURN, (0, 0, 1), kind), j=held)
    return check_bodies(layout, (), [])


@pytest.mark.parametrize("kind, held", [("fixed", 0.0), ("continuous", 0.8)])
def test_a_part_matters_from_a_twentieth_of_its_body_on(kind, held):
    """Also one that is held where it is by its joint."""
    size = brentq(lambda s: change(s, held) - HARM, 1e-3, 1.0)
    faults, [said] = judge(0.99 * size, kind, held)
    assert faults == [] and said.kind is NoticeKind.IMPOSSIBLE_INERTIA
    assert said.text.startswith("part: no body can have this inertia (of part, its principal")
    assert f"by {100 * change(0.99 * size, held):.1g} % only" in said.text
    assert said.remedy.python == "Have it replaced by repair=True"
    [fault], notices = judge(1.01 * size, kind, held)
    assert notices == [] and fault.what == "an inertia that no body can have"
    assert fault.name == '<inertia> of <link name="part">'
    assert f"moves as one with it by {100 * change(1.01 * size, held):.2g} %" in fault.text


def test_a_part_that_moves_alone_is_a_body_of_its_own():
    layout = laid(base(), link("part", 1.0, ODD * 1e-6), joint("j", "base", "part"))
    [fault], notices = check_bodies(layout, ("j",), [])
    assert notices == [] and fault.name == '<inertia> of <link name="part">'
    assert "the largest may not exceed the sum of the others" in fault.text
    # a sound sum that no part explains, and parts without mass or inertia
    assert check_bodies(laid(base()), (), []) == ([], [])
    assert check_bodies(laid('<link name="base"/>'), (), []) == ([], [])
    assert check_bodies(laid(link("base", 0.0, (0, 0, 0))), (), []) == ([], [])


def test_of_several_bodies_the_largest_change_is_told():
    """Two that move alone, each with a sound link and a small impossible one; in either order."""
    nearest = np.diag(nearest_possible(np.diag(ODD * 0.2))[0])
    most = np.linalg.norm(nearest - ODD * 0.2) / np.linalg.norm(3.0 + nearest)
    for sizes in ((0.2, 0.05), (0.05, 0.2)):
        parts = [base()]
        for name, size in zip("ab", sizes):
            parts += [link(name, 1.0, (3.0, 3.0, 3.0)), link(f"odd_{name}", 0.0, ODD * size),
                      joint(name, "base", name), joint(f"to_odd_{name}", name, f"odd_{name}",
                                                       kind="fixed")]
        faults, [said] = check_bodies(laid(*parts), ("a", "b"), [])
        assert faults == [] and said.text.startswith("odd_a, odd_b: no body")
        assert f"by {100 * most:.1g} % only" in said.text


def test_a_sum_may_be_impossible_although_its_links_are_nearly_sound():
    """Up to a tenth each: of the same plane, they are together what each of them is."""
    thin = (1.0, 1.0, 2.2)
    layout = laid(link("base", 1.0, thin), link("part", 1.0, thin), link("more", 1.0, (0, 0, 0.3)),
                  joint("j", "base", "part", kind="fixed"),
                  joint("k", "base", "more", kind="fixed"))
    faults, _ = check_bodies(layout, (), [])
    assert [fault.name for fault in faults] == ['<inertia> of <link name="more">']
    # a wheel that is nearly sound, on a carrier that has nothing to set against it
    bare = laid(link("base", 0.0, (0, 0, 0)), link("w", 1.0, (0.95, 2.0, 0.95)),
                joint("j", "base", "w"))
    [fault], _ = check_bodies(bare, ("j",), [Wheel("j", radius=1.0, axis=(0, 1, 0))])
    assert "none may be negative; it is the sum of the links that move as one" in fault.text
    assert fault.what == "" and fault.name == '<inertia> of <link name="base">'


# --- wheels of revolution -------------------------------------------------------------------------
RADIUS, THIN = 0.1, np.array([0.3, 1.0, 0.3])    # across, about and across the axle: 0.6 < 0.9


def rolls(size: float, mass: float = 1.0, moments=THIN, com=(0.0, 0.0, 0.0)):
    """A wheel about y beside a base, and a ball below it."""
    layout = laid(base(), link("w", mass, np.array(moments) * size, com),
                  joint("j", "base", "w", PLACE))
    return check_bodies(layout, ("j",), [
        Wheel("j", radius=RADIUS, axis=(0, 1, 0), point=(0, 0, 0)),
        Wheel(None, "caster_ball", 0.1, link="base", point=(0, 0, 0))])


def test_a_wheel_of_revolution_is_judged_by_what_it_does_to_its_carrier():
    """About the axle the nearest possible inertia is the same; across it, the carrier has it."""
    def carrier(size: float) -> float:
        lumps = []
        for moments in (THIN * size, np.diag(nearest_possible(np.diag(THIN * size))[0])):
            assert moments[1] == pytest.approx(size, rel=1e-12, abs=0)
            rest = (moments[0] - moments[1] / 2) * np.diag((1.0, 0.0, 1.0))
            mass, own, com = BASE
            lumps.append(rest + (pin.Inertia(1.0, PLACE, np.zeros((3, 3)))
                                 + pin.Inertia(mass, np.array(com), np.diag(own))).inertia)
        return float(np.linalg.norm(lumps[1] - lumps[0]) / np.linalg.norm(lumps[1]))

    size = brentq(lambda s: carrier(s) - HARM, 1e-6, 10.0)
    faults, notices = rolls(0.999 * size)
    assert faults == [] and notices[0].text.startswith("w: no body can have this inertia")
    faults, notices = rolls(1.001 * size)
    assert [fault.name for fault in faults] == ['<inertia> of <link name="w">'] and not notices
    assert faults[0].text.startswith("its principal moments are")
    assert f"by {100 * carrier(1.001 * size):.1g} %" in faults[0].text


@pytest.mark.parametrize("moments, com, is_shared", [
    (THIN, (0, 0, 0), True), (THIN, (0, 0.5, 0), True), (THIN * (1, 1, 1.0064), (0, 0, 0), True),
    (THIN * (1, 1, 1.0069), (0, 0, 0), False), (THIN, (3.1e-4, 0, 0), True),
    (THIN, (3.2e-4, 0, 0), False), ((0.3, -1e-2, 0.3), (0, 0, 0), False)])
def test_what_is_no_wheel_of_revolution_is_judged_alone(moments, com, is_shared):
    """Moments across the axle alike up to a thousandth, and the centre of mass on it."""
    faults, notices = rolls(1e-4, moments=moments, com=com)
    assert bool(faults) != is_shared and bool(notices) == is_shared


def test_a_wheel_without_mass_is_judged_alone():
    faults, _ = rolls(1e-4, mass=0.0)
    assert [fault.name for fault in faults] == ['<inertia> of <link name="w">']


def test_how_a_wheel_shares_with_its_carrier_changes_nothing():
    """Of a disc about the axle the rest, across it, is as good in the carrier: a robot with that
    in a link of its own is judged alike."""
    across, axial = 0.5, 1.0
    odd = link("odd", 1.0, ODD * 0.3)
    verdicts = []
    for wheel, rest in ((np.array([across, axial, across]), None),
                        (np.array([axial / 2, axial, axial / 2]), across - axial / 2)):
        layout = laid(base(), odd, joint("o", "base", "odd", kind="fixed"),
                      link("w", 1.0, wheel), joint("j", "base", "w", PLACE),
                      *([] if not rest else [link("rest", 0.0, (rest, 0, rest)),
                                             joint("r", "base", "rest", PLACE, kind="fixed")]))
        verdicts.append(check_bodies(layout, ("j",), [
            Wheel("j", radius=RADIUS, axis=(0, 1, 0), point=(0, 0, 0))]))
    assert verdicts[0] == verdicts[1]


# --- repair ---------------------------------------------------------------------------------------

def test_repair_moves_each_impossible_inertia_to_the_nearest_and_tells_the_first():
    parts = "".join(link(f"p{k}", 1.0, ODD * (k + 1)) for k in range(10)) + link("sound")
    source = read_source(f'<robot name="r">{parts}</robot>')
    [said] = repair_inertias(source)
    nearest, moved = nearest_possible(np.diag(ODD))
    shown = ", ".join(f"{moment:.4g}" for moment in np.linalg.eigvalsh(nearest))
    assert f"p0 (0.5, 1, 2.5 -> {shown} kg m^2, moved by {100 * moved:.2g} %)" in said.text
    assert said.text.endswith("and 2 more")
    for k, inertial in enumerate(source.root.iterfind("link/inertial")):
        _, _, inertia = read_inertia(source, inertial)
        expected = (k + 1) * nearest if k < 10 else np.diag((0.02, 0.03, 0.025))
        np.testing.assert_allclose(inertia, expected, rtol=1e-12, atol=1e-15)
    assert repair_inertias(source) == []
