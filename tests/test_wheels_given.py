"""Wheels and tyres as one writes them: which numbers they may have, just within and just beyond."""

from __future__ import annotations

import re
from math import inf, pi
from pathlib import Path

import numpy as np
import pytest

from nhmech import InputError, Wheel
from nhmech.urdf import TYRES, Grip, Tyre
from nhmech.urdf.remedy import ask_for_packages, option, suggest, wheel_fields
from nhmech.urdf.wheel import KINDS

DISC = {"joint": "j", "kind": "disc", "radius": 0.1}
BLADE = {"joint": None, "kind": "blade", "link": "l", "axis": (0, 1, 0), "point": (0, 0, 0)}


@pytest.mark.parametrize("fields, words", [
    ({"radius": -1e-9}, "radius = -1e-09 must be a positive length"),
    ({"radius": 1e-9}, ""), ({"radius": 0.0}, "needs radius=, a positive length in metres"),
    ({"kind": "torus", "crown": 0.1}, ""),
    ({"kind": "torus", "crown": 0.1001}, "crown 0.1001 must lie between 0 and the radius 0.1"),
    ({"kind": "torus", "crown": -0.1}, "crown = -0.1 must be a positive length"),
    ({"kind": "torus"}, "needs crown=, the radius of the tyre's cross-section"),
    ({"crown": 0.01}, "crown=0.01 has no meaning for kind 'disc'; leave it out"),
    ({"kind": "mecanum", "roller_angle": pi}, ""), ({"kind": "mecanum", "roller_angle": -pi}, ""),
    ({"kind": "mecanum", "roller_angle": 45}, "45 is more than half a turn; angles are in radians. "
                                              "If degrees were meant: 0.7853982"),
    ({"kind": "mecanum", "roller_angle": -3.15}, "more than half a turn"),
    ({"kind": "mecanum"}, "needs roller_angle=, usually"), ({"mu": 1e-9}, ""), ({"mu": inf}, ""),
    ({"mu": 0.0}, "mu = 0.0 must be a positive number"), ({"mu": float("nan")}, "mu = nan"),
    ({"stiffness": 1e-9}, ""), ({"stiffness": 0}, "stiffness = 0 must be a positive number"),
    ({"axis": (0, 1.01e-9, 0)}, ""), ({"axis": (0, 0.99e-9, 0)}, "has no direction"),
    ({"point": (0, 0)}, "three finite numbers"), ({"joint": 3}, "joint=3 must be a name"),
    ({"link": 3}, "link=3 must be a name"), ({"joint": None}, "a wheel needs the name of its"),
    ({"joint": None, "link": "l"}, "needs axis=, the axle"),
    ({"joint": None, "link": "l", "kind": "sphere"}, ""),
    ({"joint": None, "link": "l", "kind": "sphere", "driven": False}, "no meaning without a joint"),
    ({"law": "tyre"}, "law='tyre' needs tyre=, such as"),
    ({"law": "tyre", "kind": "omni", "tyre": "bicycle"}, "no meaning for kind 'omni', which has no "
                                                         "tyre; it is for disc, torus"),
    ({"tyre": "bicycle"}, "has no meaning with law='rolling'; write law=\"tyre\""),
    ({"law": "tyre", "tyre": "odd"}, "wheel 'j': tyre: there is no set 'odd'"),
    ({"law": "odd"}, "law 'odd'"), ({"law": "coulomb", "mu": 0.8}, ""),
    ({"law": "coulomb", "mu": inf}, "contradicts"),
    ({"law": "coulomb", "kind": "caster_ball"}, "which has no friction; it is for disc, torus"),
    (BLADE, ""), (BLADE | {"axis": None}, "needs axis="),
    (BLADE | {"point": None}, "needs point="), (BLADE | {"joint": "j"}, "joint='j' has no meaning"),
    (BLADE | {"radius": 0.1}, "radius=0.1 has no meaning")])
def test_numbers_of_a_wheel(fields, words):
    given = fields if fields.get("kind") == "blade" else DISC | fields
    if not words:
        assert eval(repr(Wheel(**given))) == Wheel(**given)
        return
    with pytest.raises(InputError) as caught:
        Wheel(**given)
    assert words in caught.value.text


def test_kinds_hold_and_grip():
    assert {kind for kind, traits in KINDS.items() if traits.grips} == {"disc", "torus"}
    assert {kind for kind, traits in KINDS.items() if traits.has_rollers} == {"omni", "mecanum"}
    assert {kind for kind, traits in KINDS.items() if not traits.held} == {"caster_ball"}
    assert Wheel("j", "disc", 0.1).held == ("longitudinal", "lateral")
    assert Wheel("j", "disc", 0.1, law="tyre", tyre="bicycle").held == ()
    assert Wheel("j", "disc", 0.1, link="l").name == "j"
    assert Wheel(None, "sphere", 0.1, link="l").name == "l"


# --- tyres ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("numbers, words", [
    ({"stiffness": 1e-9}, ""), ({"stiffness": 0}, "stiffness"), ({"friction": 1e-9}, ""),
    ({"friction": 0}, "friction"), ({"shape": 1}, ""), ({"shape": 2}, ""),
    ({"shape": 0.999}, "from 1 to 2"), ({"shape": 2.001}, "from 1 to 2"),
    ({"curvature": 1}, ""), ({"curvature": 1.001}, "must be at most 1"), ({"curvature": -9}, ""),
    ({"relaxation": 1e-9}, ""),
    ({"relaxation": -1e-9}, "must be a length [m], or 0"), ({"shape": "x"}, "shape")])
def test_numbers_of_a_grip(numbers, words):
    if not words:
        assert {**vars(Grip(**{"stiffness": 1.0} | numbers)), **numbers} == vars(
            Grip(**{"stiffness": 1.0} | numbers))
        return
    with pytest.raises(InputError, match=re.escape(words)):
        Grip(**{"stiffness": 1.0} | numbers)


LIMITED = {"longitudinal": Grip(1, 0.8), "lateral": Grip(1, 0.8)}


@pytest.mark.parametrize("more, words", [
    ({"load": 1e-9}, ""), ({"load": 0}, "load"), ({"low_speed": 1e-9}, ""),
    ({"low_speed": 0}, "low_speed"), ({"lateral": Grip(1, 0.8)}, "for the lateral direction only"),
    (LIMITED, "needs load="), (LIMITED | {"load": 1}, ""),
    ({"follows": "bicycle", "load": 400}, "has no dependence on the load"),
    ({"follows": "passenger_car"}, "does not cover a load of 0 N"),
    ({"follows": "passenger_car", "load": 799}, "it is for 800 to 8000 N"),
    ({"follows": "passenger_car", "load": 800}, "follows= needs friction= in both directions"),
    (LIMITED | {"follows": "passenger_car", "load": 800}, ""),
    (LIMITED | {"follows": "passenger_car", "load": 8000}, ""),
    ({"follows": "passenger_car", "load": 8001}, "it is for 800 to 8000 N"),
    ({"lateral": 1.0}, "lateral = 1.0 must be a Grip")])
def test_numbers_of_a_tyre(more, words):
    given = {"longitudinal": Grip(2.0), "lateral": Grip(1.0)} | more
    if words:
        with pytest.raises(InputError, match=re.escape(words)):
            Tyre(**given)
        return
    tyre = Tyre(**given)
    assert Tyre.read(str(tyre)) == tyre and tyre.is_limited == (tyre.lateral.friction is not None)
    assert ("load" in tyre.numbers()) == (tyre.load is not None)


@pytest.mark.parametrize("text, words", [
    ("", "must be a Tyre, or one of passenger_car"), (3, "tyre = 3 must be a Tyre"),
    ("longitudinal.stiffness=1", "lateral.stiffness is missing"),
    ("bicycle load", "'load' is not of the form NAME=NUMBER"),
    ("bicycle lateral.colour=1", "'lateral.colour=1' is not of the form"),
    ("bicycle follows=1", "is not of the form"), ("bicicle", "did you mean 'bicycle'?"),
    ("zzz", "there is no set 'zzz'; there are"), ("bicycle load=", "load='' is not a number"),
    ("passenger_car@", "load='' is not a number")])
def test_texts_of_a_tyre(text, words):
    with pytest.raises(InputError, match=re.escape(words)):
        Tyre.read(text)


def test_texts_change_what_they_name():
    tyre = Tyre.read("bicycle lateral.friction=0.5 load=300 low_speed=0.2")
    assert (tyre.lateral.friction, tyre.load, tyre.low_speed) == (0.5, 300.0, 0.2)
    assert tyre.longitudinal == TYRES["bicycle"].longitudinal
    made = Tyre.read("longitudinal.stiffness=1 lateral.stiffness=2 low_speed=3 load=4")
    assert made == Tyre(Grip(1.0), Grip(2.0), 4.0, 3.0)
    half = Tyre.read("passenger_car@4000 lateral.friction=0.5")
    assert half.follows == "passenger_car" and str(half) == (
        "passenger_car@4000.0 lateral.friction=0.5")


def test_the_page_about_tyres_has_the_numbers_of_the_sets():
    text = (Path(__file__).parents[1] / "docs" / "howto" / "tyres.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|(.*)\|$", text, re.MULTILINE)
    rows = {name: [cell.strip().replace(" ", "") for cell in cells.split("|")]
            for name, cells in rows if name in TYRES}
    assert rows.keys() == TYRES.keys()
    for name, (load, along, across, friction, relaxation, *_) in rows.items():
        tyre = Tyre.read(name)
        assert (float(load), float(along), float(across)) == (
            tyre.load, tyre.longitudinal.stiffness, tyre.lateral.stiffness)
        for words, what in ((friction, "friction"), (relaxation, "relaxation")):
            assert [*map(float, words.split(","))] == [
                getattr(grip, what) for grip in (tyre.longitudinal, tyre.lateral)]


# --- what is suggested ----------------------------------------------------------------------------

def test_options_are_spelled_in_python_and_for_a_shell():
    wheels = [Wheel("a'b", "mecanum", 0.123456789, roller_angle=pi / 4),
              Wheel(None, "blade", link="l", axis=(0, 1, 0), point=(0.1, 0, -0.1)),
              Wheel("t", "disc", 0.1, law="tyre", tyre="bicycle")]
    said = option("wheels", wheels)
    assert said.python == (
        "[Wheel(\"a'b\", 'mecanum', 0.123457, roller_angle=0.785398), Wheel(None, 'blade', "
        "link='l', axis=(0, 1, 0), point=(0.1, 0, -0.1)), Wheel('t', 'disc', 0.1, law='tyre', "
        "tyre='bicycle')]").join(["wheels=", ""])
    assert said.command == (
        "--wheel 'joint=a'\"'\"'b,kind=mecanum,radius=0.123457,roller_angle=0.785398' --wheel "
        "'kind=blade,link=l,axis=0 1 0,point=0.1 0 -0.1' --wheel "
        "'joint=t,kind=disc,radius=0.1,law=tyre,tyre=bicycle'")
    for name, value, python, command in (
            ("skid", ("a", "b"), "skid=('a', 'b')", "--skid a,b"),
            ("skid", 1.5, "skid=1.5", "--skid 1.5"), ("skid", "coulomb", "skid='coulomb'",
                                                     "--skid coulomb"),
            ("locked", {"a": 0.5}, "locked={'a': 0.5}", "--lock a=0.5"),
            ("free", ["a", "b"], "free=['a', 'b']", "--free a --free b"),
            ("packages", {"p": "F"}, "packages={'p': 'F'}", "--package p=F"),
            ("arguments", {"p": "F"}, "arguments={'p': 'F'}", "--arg p:=F"),
            ("repair", True, "repair=True", "--repair"),
            ("repair", False, "repair=False", "--no-repair")):
        assert vars(option(name, value)) == {"python": python, "command": command}
    assert wheel_fields(wheels[0], radius=1.0)["radius"] == 1.0
    assert [*wheel_fields(Wheel(None, "sphere", 0.1, link="l"))] == ["joint", "kind", "radius",
                                                                    "link"]


def test_packages_are_asked_for_once():
    assert ask_for_packages([None, None]) == []
    said = suggest(*ask_for_packages(["a", None, "b", "a"]), "this.")
    assert said.command == ("Say where the meshes are: --package a=FOLDER --package b=FOLDER, "
                            "FOLDER being the package's. Or: this.")


def test_profiles_have_their_point_where_the_normal_is_up():
    """K is the lowest point of the surface: C - flat d - crown n, at any angle to the ground."""
    for kind in ("disc", "torus", "sphere", "caster_ball"):
        for sine in np.linspace(0.1, 1.0, 5):
            crown = 0.03 if kind == "torus" else 0.0
            flat, own = KINDS[kind].profile(sine, np.sqrt(1 - sine ** 2), 0.2, crown)
            assert (flat, own) == ((0, 0.2) if "ball" in kind or kind == "sphere" else
                                   (0.2 - crown, crown))
