"""Runs of reduced systems and their reconstruction: starts, times, tolerances, inputs."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from symmetric_systems import carriage_in_body_speeds

from nhmech.errors import InputError, MechanicsError
from nhmech.mechanics import (
    change_of_basis,
    chaplygin,
    circle,
    constrain,
    euclidean,
    gibbs_appell,
    lagrangian_system,
    product,
    quotient,
    reconstruct,
    run_reduced,
    symmetry,
)
from nhmech.mechanics.base_space import base_coordinates, onto_base

TIMES = np.linspace(0.0, 2.0, 5)


def pushed():
    """x'' = f on the base, and z' = 3 x' on the fibre: every motion has a closed form."""
    free = lagrangian_system(euclidean("x", "z"), lambda s: (s.v.x ** 2 + s.v.z ** 2) / 20,
                             inputs=("f",), force=lambda s: {"x": s.u.f})
    tied = constrain(free, rows={"slope": lambda s: s.v.z - 3 * s.v.x})
    return chaplygin(symmetry(tied, {"z": lambda s: {"z": 1}}))


@pytest.mark.parametrize("u, force", [
    (None, lambda t: 0 * t), (lambda t: [2 * t], lambda t: t / 3)])
def test_a_pushed_bead_in_closed_form(u, force):
    """x'' = u, x = t^3 / 3 beside the free motion; z is three times as much, and so is its rate."""
    reduced = pushed()
    motion = run_reduced(reduced, TIMES, [0.5], [0.4], u)
    x = 0.5 + 0.4 * TIMES + force(TIMES) * TIMES ** 2
    v = 0.4 + 3 * force(TIMES) * TIMES
    np.testing.assert_allclose(motion.r[:, 0], x, rtol=1e-12)
    np.testing.assert_allclose(motion.xi[:, 0], v, rtol=1e-12)
    assert float(motion.velocity(1.3)[0]) == pytest.approx(0.4 + 3 * force(1.3) * 1.3, rel=1e-11)
    full = reconstruct(reduced, motion, [0.5, -1.0])
    np.testing.assert_allclose(full.q, np.column_stack([x, -1 + 3 * (x - 0.5)]), rtol=1e-11)
    np.testing.assert_allclose(full.v, np.column_stack([v, 3 * v]), rtol=1e-11)
    assert repr(motion) == "<ReducedMotion of x': 5 states, 0 to 2 s>"
    assert repr(full) == "<FullMotion of 2 coordinates: 5 states, 0 to 2 s>"


@pytest.mark.parametrize("r, xi", [([0.5, 1.0], [0.4]), ([0.5], [0.4, 1.0]), ([], [0.4])])
def test_a_start_of_another_size_is_refused(r, xi):
    with pytest.raises(MechanicsError, match=r"starts from 1 coordinates \(x\) and 1 velocities"):
        run_reduced(pushed(), TIMES, r, xi)


@pytest.mark.parametrize("off, over", [(0.0, True), (0.99e-9, True), (1.01e-9, False)])
@pytest.mark.parametrize("z", [0.0, 9.0])
def test_a_start_stands_over_the_start_of_the_motion(off, over, z):
    """To a billionth of one, and of the largest coordinate."""
    reduced = pushed()
    motion = run_reduced(reduced, TIMES, [0.0], [0.4])
    start = [off * (1 + z), z]
    if over:
        assert reconstruct(reduced, motion, start).q[-1] == pytest.approx([0.8, z + 2.4], abs=1e-7)
    else:
        with pytest.raises(MechanicsError, match="q does not project to .*: x are .* starts at"):
            reconstruct(reduced, motion, start)
    with pytest.raises(MechanicsError, match=r"q has shape \(1,\), expected \(2,\)"):
        reconstruct(reduced, motion, [0.0])


@pytest.mark.parametrize("times, words, message", [
    ([0.0], {}, "must be two or more"), ([0.0, 1.0, 1.0], {}, "each after the last"),
    ([0.0, 1.0], {"rtol": 1.0}, "less than 1"), ([0.0, 1.0], {"rtol": 0.9e-14}, "1e-14"),
    ([1.0, 0.0], {}, "each after the last")])
def test_times_and_tolerances_that_are_refused(times, words, message):
    with pytest.raises(InputError, match=message):
        run_reduced(pushed(), times, [0.5], [0.4], **words)


def test_times_and_tolerances_that_are_taken():
    for times, rtol in (([0.0, 1.0], 0.99), ([-1.0, 3.0], 3e-14)):
        assert len(run_reduced(pushed(), times, [0.5], [0.4], rtol=rtol).t) == 2
    with pytest.raises(InputError, match="1 finite numbers"):
        run_reduced(pushed(), TIMES, [0.5], [0.4], lambda t: [1.0, 2.0])


def test_where_the_integrator_gives_up():
    """x'' = x'^3 from 1 m/s ends at 0.5 s."""
    base = chaplygin(symmetry(constrain(
        lagrangian_system(euclidean("x", "z"), lambda s: (s.v.x ** 2 + s.v.z ** 2) / 2,
                          force=lambda s: {"x": s.v.x ** 3}),
        rows={"still": lambda s: s.v.z}), {"z": lambda s: {"z": 1}}))
    with pytest.raises(MechanicsError, match=r"integration stopped at t = 0\.[0-5]\d* s: "):
        run_reduced(base, [0.0, 0.4, 1.0], [0.0], [1.0])


def test_a_row_that_moves_the_base_by_itself_is_refused():
    """y = 0.3 t is a coordinate of the base."""
    free = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2)
    driven = constrain(free, rows={"slope": lambda s: s.v.z - s.q.y * s.v.x},
                       holonomic={"belt": lambda s: s.q.y - 0.3 * s.t})
    with pytest.raises(MechanicsError, match=r"moves the base by itself, at 0\.3: no velocity of"):
        chaplygin(symmetry(driven, {"z": lambda s: {"z": 1}}), ("x'",))


@pytest.mark.parametrize("speed", [0.01, 100.0])
@pytest.mark.parametrize("share, moves", [(0.99, False), (1.01, True)])
def test_a_base_is_at_rest_to_a_billionth_of_what_moves(speed, share, moves):
    """z' = y x' + speed carries the fibre along; y drifts by a billionth of that."""
    free = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2)
    driven = symmetry(constrain(
        free, rows={"slope": lambda s: s.v.z - s.q.y * s.v.x - speed},
        holonomic={"belt": lambda s: s.q.y - share * 1e-9 * speed * s.t}),
        {"z": lambda s: {"z": 1}})
    if moves:
        with pytest.raises(MechanicsError, match="moves the base by itself"):
            chaplygin(driven, ("x'",))
    else:
        assert chaplygin(driven, ("x'",)).base.system.algebroid.q_names == ("x", "y")


def test_angles_stay_angles_on_the_base():
    """Of the carriage in its own frame: by the plane's motions its wheels are left, by translations
    its heading too."""
    carriage = carriage_in_body_speeds()

    def fields(s):
        c, si, x, y = s.q._2, s.q._3, s.q.x, s.q.y
        return {"x": {"forward": c, "lateral": -si}, "y": {"forward": si, "lateral": c},
                "turn": {"forward": x * si - y * c, "lateral": x * c + y * si, "yaw": 1}}

    plane = {name: lambda s, name=name: fields(s)[name] for name in ("x", "y", "turn")}
    wheels = chaplygin(symmetry(carriage, plane)).base.system.algebroid
    assert wheels.q_names == ("psi1.cos", "psi1.sin", "psi2.cos", "psi2.sin")
    assert wheels.circles == ((0, 0), (2, 1)) and wheels.v_names == ("psi1", "psi2")
    across = {name: plane[name] for name in "xy"}
    base = quotient(symmetry(carriage, across)).base.system.algebroid
    assert base.circles == ((0, 2), (2, 3), (4, 4)) and base.v_names[:2] == ("forward", "lateral")
    assert base.v_units == carriage.system.algebroid.v_units


@pytest.mark.parametrize("size, slope, holds", [
    (1.0, 1.95e-9, True), (1.0, 2.05e-9, False), (1e3, 0.99e-9, True), (1e3, 1.02e-9, False),
    (0.0, 0.0, True), (1.0, np.nan, False)])
def test_what_depends_on_the_group_to_a_billionth_does_not(size, slope, holds):
    """Of one and its size: size (1 + slope z) at z = 1, against z = 0."""
    free = lagrangian_system(euclidean("x", "z"), lambda s: s.v.x ** 2 + s.v.z ** 2)
    tied = constrain(free, rows={"slope": lambda s: s.v.z - 3 * s.v.x})
    made = symmetry(replace(tied, samples=np.array([[0.5, 1.0], [0.7, -1.0]])),
                    {"z": lambda s: {"z": 1}})
    assert base_coordinates(made) == (0,)
    value = size * (1 + slope * ca.SX(free.q[1])) + free.q[0] * 0
    given = {"good": free.q[0] ** 2, "the value": value}
    if holds:
        found = onto_base(made, (0,), given, ca.SX(0, 1))
        assert not any(ca.depends_on(part, free.q[1]) for part in found)
        assert float(ca.substitute(found[0], free.q, ca.DM([3, 7]))) == 9
    else:
        with pytest.raises(MechanicsError, match=r"the value still depends on z \(by (1.0|inf)"):
            onto_base(made, (0,), given, ca.SX(0, 1))


def moving_alike(given, reduced, speeds, count=4):
    """Accelerations on the base are those of the whole."""
    whole, base, rng = gibbs_appell(given, speeds), reduced.equations(), np.random.default_rng(3)
    assert base.names == speeds
    for q in given.configurations[:count]:
        xi = rng.normal(size=len(speeds))
        np.testing.assert_allclose(base.drift(0, reduced.place(q), xi, [], [])[1].full(),
                                   whole.drift(0, q, xi, [], [])[1].full(), rtol=1e-11, atol=1e-12)


def test_places_at_which_something_vanishes_are_no_others():
    """w1 = x' / x moves nothing at x = 0, where the bracket of w2 = y' / (1 + x^2) and w1 is zero
    too."""
    plane = euclidean("x", "y", "z")
    x = plane.q[0]
    space = change_of_basis(plane, ca.diagcat(x, 1 + x ** 2, 1), ("w1", "w2", "z'"))
    tied = constrain(lagrangian_system(space, lambda s: (
        s.v.w1 ** 2 + s.v.w2 ** 2 * (2 + ca.sin(s.q.y)) + s.v.z ** 2) / 2),
        rows={"slope": lambda s: s.v.z - s.q.y * s.v.w1})
    given = replace(tied, samples=np.array([[0.0, 0.3, 0.1], [0.7, -0.4, 0.2], [1.0, 0.5, 0.0]]))
    reduced = chaplygin(symmetry(given, {"z": lambda s: {"z": 1}}), ("w1", "w2"))
    reduced.base.system.algebroid.check()
    moving_alike(given, reduced, ("w1", "w2"), 3)


def test_a_wire_beside_a_rolling_row():
    """w = x^2 stays a function of the base."""
    free = lagrangian_system(euclidean("x", "y", "w", "z"), lambda s: (
        s.v.x ** 2 + 2 * s.v.y ** 2 + s.v.w ** 2 + s.v.z ** 2) / 2 - s.q.w)
    given = constrain(free, rows={"slope": lambda s: s.v.z - s.q.y * s.v.x},
                      holonomic={"wire": lambda s: s.q.w - s.q.x ** 2})
    made = chaplygin(symmetry(given, {"z": lambda s: {"z": 1}}), ("x'", "y'"))
    moving_alike(given, made, ("x'", "y'"))


def test_angles_of_the_group_count_as_points_of_a_circle():
    """A Lagrangian that depends on cos^2 + sin^2."""
    space = product(circle("a"), euclidean("x"))
    given = constrain(lagrangian_system(space, lambda s: (
        (s.q._0 ** 2 + s.q._1 ** 2) * s.v.a ** 2 + s.v.x ** 2 * (1 + s.q.x ** 2)) / 2),
        rows={"roll": lambda s: s.v.a - 3 * s.v.x})
    moving_alike(given, chaplygin(symmetry(given, {"turn": lambda s: {"a": 1}}), ("x'",)), ("x'",))
