"""Combinations of coordinates that are constant along every motion, in closed form."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from support import joint, link, robot, shipped

import nhmech
from nhmech import Ground, Wheel
from nhmech.analysis import structure
from nhmech.analysis.integrable import integrable_combinations
from nhmech.mechanics import constrain, euclidean, lagrangian_system


def vehicle(wheels: dict[str, tuple[str, float, float, float]], *more: str, **options):
    """Wheels: name -> (link that carries it, x, y, radius), of axles along its y axis; all stand on
    z = -0.1 of the base."""
    parts = [link("base", 5.0), *more]
    for name, (carrier, x, y, radius) in wheels.items():
        parts += [link(f"{name}_link", 0.5), joint(name, carrier, f"{name}_link",
                                                   (x, y, radius - 0.1))]
    return nhmech.load(robot(*parts), **options, wheels=[
        Wheel(name, "disc", radius) for name, (_, _, _, radius) in wheels.items()])


def coefficients(made) -> list[dict[str, float]]:
    return [found.coefficients for found in integrable_combinations(made)]


FRONT = [link("fork", 0.5), joint("steer", "base", "fork", (0.8, 0, 0), axis=(0, 0, 1))]
THREE = {"left": ("base", 0, 0.3, 0.1), "right": ("base", 0, -0.2, 0.15),
         "front": ("fork", 0, 0, 0.2)}


def test_wheels_of_unequal_radii_and_a_trailer_about_its_axle():
    """r_l left - r_r right = -(y_l - y_r) yaw; those of the trailer tell hitch + yaw, which does
    not come first although its joint does."""
    hitch = [link("cart", 3.0), joint("hitch", "base", "cart", (-0.5, 0, 0), axis=(0, 0, 1))]
    made = vehicle({"left": ("base", 0, 0.3, 0.1), "right": ("base", 0, -0.2, 0.15),
                    "one": ("cart", 0, 0.25, 0.05), "two": ("cart", 0, -0.25, 0.08)}, *hitch)
    names = made.algebroid.v_names
    assert names.index("hitch") < names.index("one")
    expected = [{"one": -0.05, "two": 0.08, "hitch": -0.5, "yaw": -0.5},
                {"left": -0.1, "right": 0.15, "yaw": -0.5}]
    assert coefficients(made) == [pytest.approx(one, rel=1e-12) for one in expected]


@pytest.mark.parametrize("angle", [0.5, -0.4])
def test_steering_that_is_held_leaves_turns_about_one_point(angle):
    """At c = 0.8 / tan(angle) to the left: each wheel turns by its way, (c - y) yaw, and so does
    the front wheel by 0.8 / sin(angle) yaw."""
    made, centre = vehicle(THREE, *FRONT, locked={"steer": angle}), 0.8 / np.tan(angle)
    ways = {"left": centre - 0.3, "right": centre + 0.2, "front": 0.8 / np.sin(angle)}
    radii = {name: radius for name, (_, _, _, radius) in THREE.items()}
    for found, (name, way) in zip(coefficients(made), ways.items(), strict=True):
        sign = np.sign(way)
        assert found == pytest.approx({name: sign * radii[name], "yaw": -sign * way}, rel=1e-12)


def test_wheels_that_are_all_held_straight_keep_the_yaw():
    expected = [{"left": 0.1, "front": -0.2}, {"right": 0.15, "front": -0.2}, {"yaw": -1.0}]
    assert coefficients(vehicle(THREE, *FRONT, locked={"steer": 0.0})) == [
        pytest.approx(one, rel=1e-12) for one in expected]


def test_what_holonomic_constraints_hold_is_left_out():
    """z = 2 x; w' = 3 y' + z' is w - 3 y - z up to a multiple of it; x' = w y' is none."""
    space = lagrangian_system(euclidean("x", "y", "z", "w"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2 + s.v.w ** 2))
    held = {"plane": lambda s: s.q.z - 2 * s.q.x}
    (found,) = coefficients(constrain(space, holonomic=held,
                                      rows={"row": lambda s: s.v.w - 3 * s.v.y - s.v.z}))
    assert found["w"] / found["y"] == pytest.approx(-1 / 3, rel=1e-12)
    part = found.get("z", 0) + found.get("x", 0) / 2
    assert part / found["y"] == pytest.approx(1 / 3, rel=1e-12)
    assert coefficients(constrain(space, holonomic=held,
                                  rows={"row": lambda s: s.v.x - s.q.w * s.v.y})) == []
    assert coefficients(constrain(space, holonomic=held)) == []


def test_on_a_table_that_turns_wheels_do_not_tell_the_yaw():
    """r (right - left) - track yaw moves by minus the track times the table's turn; on one that
    slides along it stays."""
    left, right = "left_wheel_joint", "right_wheel_joint"
    for words, turn in (({"velocity": (0.3, -0.2, 0.0)}, 0.0),
                        ({"angular_velocity": (0, 0, 0.5)}, 0.5)):
        made = shipped("differential_drive", Ground(**words))
        told = [{*found} for found in coefficients(made)]
        assert told == ([] if turn else [{left, right, "yaw"}])
        run = nhmech.Simulator(made, lambda t, state: [0.1, 0.2]).run(0.7, every=100)
        yaw = np.unwrap(np.arctan2(run.T_WB[:, 1, 0], run.T_WB[:, 0, 0]))
        turned = run.column(f"{right}.position") - run.column(f"{left}.position")
        total = 0.1 * turned - 0.44 * yaw
        assert total[-1] - total[0] == pytest.approx(-0.44 * turn * 0.7, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("row", [
    lambda s: s.v.y - 1, lambda s: s.v.y - s.v.x - s.q.z, lambda s: s.v.y - ca.sin(s.t) * s.v.x,
    lambda s: s.v.y - s.v.x - ca.sin(s.t)])
def test_what_moves_along_affine_or_moving_rows_is_not_constant(row):
    """x - y and y were called so; neither is, nor is a function known that is."""
    free = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2)
    found = structure(constrain(free, rows={"row": row}))
    assert found.combinations == () and found.further is None
