"""Curvature, combinations, mobility and structure in words, of results that are made by hand."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np
import pytest

from nhmech.analysis.curvature import Curvature, describe_curvature
from nhmech.analysis.integrable import Combination
from nhmech.analysis.mobility import CLASSES, Dependence, Mobility, _dependence
from nhmech.analysis.structure import Structure
from nhmech.analysis.summary import controllability, geometry_lines, mobility_lines, size_lines
from nhmech.errors import InputError
from nhmech.mechanics.brackets import Growth


# -- curvature, combinations and mobility ----------------------------------------------------------
def curvature_of(values, fibre=("x'", "y'"), base=("a", "b", "c"), units=None):
    units = units or {**dict.fromkeys(fibre, "m/s"), **dict.fromkeys(base, "rad/s")}
    return Curvature(base, fibre, units, values, False)


def antisymmetric(*entries, shape=(2, 3, 3)):
    values = np.zeros(shape)
    for b, i, j, value in entries:
        values[b, i, j], values[b, j, i] = value, -value
    return values


def test_components_of_the_curvature():
    found = curvature_of(antisymmetric((0, 0, 1, 2.0), (1, 1, 2, -3.0), (1, 0, 1, 1e-9)))
    assert found.components == {("x'", "a", "b"): 2.0, ("y'", "b", "c"): -3.0}
    assert found.component("y'", "c", "b") == 3.0 and found.component("x'", "a", "a") == 0.0
    for names in (("z'", "a", "b"), ("x'", "x'", "b"), ("x'", "a", "y'")):
        with pytest.raises(InputError, match="fibre coordinate"):
            found.component(*names)
    # small ones count where none is larger than one
    assert curvature_of(antisymmetric((0, 0, 1, 2e-9))).components == {("x'", "a", "b"): 2e-9}
    assert repr(found) == "<Curvature of x', y' over a, b, c>"


@pytest.mark.parametrize("found, words", [
    (None, "not defined: the independent speeds are those of no fibration"),
    (replace(curvature_of(antisymmetric()), flat=True), "zero: the constraints are integrable"),
    (curvature_of(antisymmetric()), "zero here, not elsewhere"),
    (curvature_of(antisymmetric((0, 0, 1, 2.0))), "a small loop in a and b shifts x' 2 m/rad^2"),
    (curvature_of(antisymmetric((0, 0, 1, 2.0), (0, 1, 2, -5.0), (1, 1, 2, 1.0),
                                (0, 0, 2, 4.0)), ("forward_speed", "yaw_rate")),
     "a small loop in b and c shifts the base: forward -5 m/rad^2, turn 1 m/rad^2; a small loop in "
     "a and c shifts the base: forward 4 m/rad^2; 1 more pairs (--json)"),
    (curvature_of(antisymmetric((0, 0, 1, 2.0), (1, 0, 1, 3.0)), ("lateral_speed", "other")),
     "a small loop in a and b shifts the base: sideways 2 m/rad^2"),
    (curvature_of(antisymmetric((0, 0, 1, 2.0), shape=(1, 2, 2)), ("z'",), ("a", "b"),
                  {"z'": "m/s", "a": "m/s", "b": "rad/s"}),
     "a small loop in a and b shifts z' 2 m/(m rad)"),
    (curvature_of(antisymmetric((0, 0, 1, 2.0), shape=(1, 2, 2)), ("z'",), ("a", "b"),
                  {"z'": "m/s", "a": "", "b": ""}), "a small loop in a and b shifts z' 2 m"),
    *((curvature_of(antisymmetric((0, 0, 1, 2.0), shape=(1, 2, 2)), ("z'",), ("a", "b"),
                    {"z'": "m/s", "a": first, "b": second}),
       "a small loop in a and b shifts z' 2 m/rad")
      for first, second in (("rad/s", ""), ("", "rad/s"))),
], ids=str)
def test_curvature_in_words(found, words):
    assert describe_curvature(found) == words


@pytest.mark.parametrize("coefficients, words", [
    ({"a": 1.0}, "a is constant"), ({"a": -1.0, "b": 1.0}, "b - a is constant"),
    ({"a": 0.5, "b": 0.5}, "0.5 (a + b) is constant"), ({"a": -0.5}, "- 0.5 a is constant"),
    ({"r": 0.1, "l": -0.1, "yaw": -0.5}, "0.1 (r - l) - 0.5 yaw is constant"),
    ({"a": -2.0, "b": -2.0 - 1e-10}, "- 2 (a + b) is constant"),
    ({"a": -1.0, "b": -1.0}, "- (a + b) is constant"),
    ({"a": 2.0, "b": 2.0 + 1e-8}, "2 a + 2 b is constant"),
    ({"b": 1.0, "a": 1 + 1e-10, "c": -3.0}, "a + b - 3 c is constant")])
def test_a_combination_in_words(coefficients, words):
    assert str(Combination(coefficients)) == words


@pytest.mark.parametrize("coefficients, constant, words", [
    ({"a": 1.0}, True, "row = a"), ({"a": -1 - 1e-10, "b": 0.5}, True, "row = - a + 0.5 b"),
    ({}, True, "row = 0"), ({"a": 1.0 + 1e-8, "b": -2.00004}, False,
                            "row = 1 a - 2 b (in the zero pose)")])
def test_a_dependent_row_in_words(coefficients, constant, words):
    assert str(Dependence("row", coefficients, constant)) == words


@pytest.mark.parametrize("change, constant", [(1.8e-8, True), (2.2e-8, False)])
def test_coefficients_of_a_dependent_row_are_constant_but_for_rounding(change, constant):
    """2 a - 0.5 b at the first sample, which counts where they change."""
    forms = np.array([[[1, 0, 0], [0, 1, 0], [2 + k * change, -0.5, 0]] for k in range(2)])
    found = _dependence(forms, (0, 1), 2, ("a", "b", "c"))
    assert found.row == "c" and found.constant is constant
    assert found.coefficients == pytest.approx({"a": 2, "b": -0.5}, rel=1e-14)
    large = _dependence(forms * np.array([[[1.0], [1], [10]]]), (0, 1), 2, ("a", "b", "c"))
    assert large.constant is constant
    # of coefficients below one it is the same for all
    for part in (0.995e-8, 1.005e-8):
        forms = np.array([[[1, 0], [0.5 + k * part, 0]] for k in range(2)])
        assert _dependence(forms, (0,), 1, ("a", "b")).constant is (part < 1e-8)


def test_small_coefficients_of_a_dependent_row_are_told_and_rounding_is_not():
    forms = np.array([[[1, 0, 0], [0, 1, 0], [0, 0, 1], [5e-4, 1.1e-9, 0.9e-9]]])
    found = _dependence(forms, (0, 1, 2), 3, ("a", "b", "c", "d"))
    assert found.coefficients == pytest.approx({"a": 5e-4, "b": 1.1e-9}, rel=1e-12, abs=0)


def mobility_of(**changes):
    return Mobility(**{**dict(rows=5, rank=4, speeds=2, dependent=(), undetermined=(), splits=0,
                              degree=2, steerability=0, leaning=False), **changes})


@pytest.mark.parametrize("found, words", [
    (mobility_of(degree=None), "no wheels"), (mobility_of(steerability=None), "no wheels"),
    (mobility_of(), CLASSES[2, 0]), (mobility_of(fixed=1), f"{CLASSES[2, 0]}, one fixed axle"),
    (mobility_of(fixed=2), f"{CLASSES[2, 0]}, all fixed axles in line"),
    (mobility_of(fixed=1, trailing=("f", "g")), f"{CLASSES[2, 0]}, one fixed axle, the wheels "
     "that f and g turn trail without constraining the motion"),
    (mobility_of(trailing=("f",)), CLASSES[2, 0]),
    (mobility_of(degree=1, steerability=1, fixed=1, trailing=("f",), leaning=True),
     f"{CLASSES[1, 1]}, leaning or pitching not counted"),
    (mobility_of(degree=0), "none of the five classes"),
    (mobility_of(steerability=1), "one steered wheel, no fixed axle"),
    (mobility_of(degree=1, steerability=2), "two independent steerings, no fixed axle"),
    (mobility_of(degree=1, steerability=1), "car-like: one steering beside a fixed axle"),
    (mobility_of(degree=3),
     "omnidirectional: any motion is possible at once, without steering")])
def test_the_class_in_words(found, words):
    assert found.type_in_words == words
    assert found.manoeuvrability == (None if words == "no wheels"
                                     else found.degree + found.steerability)
    assert repr(found) == f"<Mobility: 2 speeds, 5 rows of rank 4, {words}>"


# -- structure -------------------------------------------------------------------------------------
def growth_of(*ranks, complete=True):
    count = len(ranks)
    return Growth(ranks=ranks, complete=complete, kept=(0.5,) * count, dropped=(1e-12,) * count)


def structure_of(growth, here=None, further=0):
    return Structure(("x", "y", "yaw"), (), (), growth, here, (), further, None, ())


@pytest.mark.parametrize("found, answer, words", [
    (structure_of(growth_of(2, 3)), True, "yes: the brackets span all 3 of x, y, yaw"),
    (structure_of(growth_of(2, 3, complete=False)), True,
     "yes: the brackets span all 3 of x, y, yaw"),
    (structure_of(growth_of(2, 3), growth_of(2)), False,
     "no: the brackets span 2 of 3 of x, y, yaw"),
    (structure_of(growth_of(1), further=2), False, "no: the brackets span 1 of 3 of x, y, yaw; 2 "
     "conserved functions of them are not linear in joint angles and yaw"),
    (structure_of(growth_of(2, complete=False)), None,
     "undecided: the brackets that were tried span 2 of 3"),
    (structure_of(growth_of(2, 3), growth_of(4)), None, "undecided: the zero pose is singular: the "
     "contacts leave 4 directions free there, 3 elsewhere: x, y, yaw")])
def test_controllability_in_words(found, answer, words):
    assert found.controllable is answer and controllability(found) == words


def test_sizes_in_lines():
    found = {"mass": 12.3456, "centre_of_mass": (0.12, -0.03, 0.5), "wheelbase": 1.25,
             "track": None, "tip_angles": {"ahead": pi / 6, "left": None, "right": pi / 4}}
    assert size_lines(found) == {
        "mass": "12.35 kg, its centre 0.12 m ahead of and 0.03 m right of the base's origin, 0.5 m "
                "above the ground",
        "wheels": "wheelbase 1.25 m, no track",
        "tips at": "ahead 30, right 45 degrees of slope, at rest and without slip"}
    for centre, words in (((-0.12, 1e-7, 0.5), "0.12 m behind"), ((1e-7, 2e-6, 0.5), "0 m ahead of "
                          "and 2e-06 m left of"), ((-1e-7, 0.0, 0.5), "0 m ahead of")):
        assert f"its centre {words} the base" in size_lines({**found, "centre_of_mass": centre})[
            "mass"]
    assert size_lines({**found, "centre_of_mass": None, "tip_angles": {"ahead": None}}) == {
        "mass": "12.35 kg", "wheels": "wheelbase 1.25 m, no track",
        "tips at": "no angle: the contacts are in one line, which supports no lean"}


def test_mobility_in_lines():
    def of(wheel, direction):
        return {"contact": wheel, "direction": direction}

    found = {"class": [1, 1], "manoeuvrability": 2, "class_in_words": "car-like",
             "rotation_centre": "at infinity", "dependent_rows": ["a = b", "c = d"],
             "undetermined": [], "undetermined_dimension": 0, "normals_at_rest": {"l": 12.3456},
             "why_locked": None, "to_free": []}
    assert mobility_lines(found) == {
        "class": "(1, 1), manoeuvrability 2: car-like", "rotation centre": "at infinity",
        "dependent rows": "a = b; c = d",
        "undetermined": "nothing: every contact force follows from the motion",
        "load at rest": "l 12.35 N"}
    loose = [of("l", "lateral"), of("r", "lateral"), of("l", "normal")]
    found |= {"dependent_rows": ["a = b", "c = d", "e = f"], "undetermined": loose,
              "undetermined_dimension": 1, "normals_at_rest": None, "why_locked": "none, locked",
              "to_free": [["a", "b"], ["c"]]}
    lines = mobility_lines(found)
    assert lines["dependent rows"] == "a = b; c = d; 1 more (--json)"
    assert "load at rest" not in lines
    assert lines["undetermined"] == ("the lateral forces of 2 wheels and the normal forces of 1 "
                                     "wheels: 1 dimension of their split; what they add up to is "
                                     "determined")
    assert lines["all gripping"] == "none, locked"
    assert lines["what to free"] == "the lateral rows of a and b or c"
    found |= {"undetermined_dimension": 2, "to_free": [], "dependent_rows": []}
    lines = mobility_lines(found)
    assert "2 dimensions of their split" in lines["undetermined"]
    assert lines["what to free"] == "nothing" and lines["dependent rows"] == "none"


def test_geometry_in_lines():
    found = {"frozen": ["roll", "pitch"], "left_out": ["l", "r"], "variables": ["x", "y", "yaw"],
             "growth": [2, 3], "growth_here": [2, 3], "gap": [0.123, 1.2e-12],
             "controllable_in_words": "yes", "integrable": ["a", "b", "c", "d"],
             "curvature_in_words": "zero", "symmetry": {"SE(2)": "horizontal", "T^2": "general"}}
    assert geometry_lines(found) == {
        "growth vector": "(2, 3) of 3: x, y, yaw; singular values >= 0.12 or <= 1e-12",
        "modulo": "roll, pitch (frozen) and 2 joint angles", "controllable": "yes",
        "integrable": "a; b; c; 1 more (--json)", "curvature": "zero",
        "symmetry": "SE(2): horizontal; T^2: general"}
    bare = geometry_lines(found | {"frozen": [], "left_out": [], "growth_here": [2],
                                   "integrable": [], "symmetry": {}})
    assert bare["growth vector"].startswith("(2, 3) of 3, in the zero pose (2): x, y, yaw")
    assert (bare["modulo"], bare["integrable"], bare["symmetry"]) == ("nothing", "none",
                                                                      "none found")
