"""Systems written by hand: names, forces, samples, and what is said where they are wrong."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from nhmech.errors import InputError, MechanicsError
from nhmech.mechanics import (
    constrain,
    constraint_algorithm,
    euclidean,
    gibbs_appell,
    lagrangian_system,
    product,
)
from nhmech.mechanics.algebroid import circle
from nhmech.mechanics.distribution import Component, Row, assemble
from nhmech.mechanics.system import ConstrainedSystem, LagrangianSystem
from nhmech.mechanics.writing import symbols


def kinetic(s):
    return sum(v ** 2 for v in vars(s.v).values()) / 2


PLANE = lagrangian_system(euclidean("x", "y"), kinetic)


def test_symbols_are_those_of_the_system():
    system = lagrangian_system(product(euclidean("x"), circle("left wheel")), kinetic,
                               parameters=("m", "k"), inputs=("f", "g"))
    s = symbols(system)
    assert sorted(vars(s.q)) == ["_1", "_2", "x"] and sorted(vars(s.v)) == ["_1", "x"]
    pairs = ((s.q.x, system.q[0]), (s.q._1, system.q[1]), (s.q._2, system.q[2]),
             (s.v.x, system.v[0]), (s.v._1, system.v[1]), (s.p.m, system.theta[0]),
             (s.p.k, system.theta[1]), (s.u.f, system.u[0]), (s.u.g, system.u[1]), (s.t, system.t))
    assert all(ca.is_equal(one, other) for one, other in pairs)
    assert [str(x) for x in ca.vertsplit(system.a)] == ["x''", "left wheel'"]
    rate = ca.Function("rate", [system.q, system.v, system.t], [
        s.rate(s.q.x * s.q._1 + s.t ** 2), s.rate(3.0)])
    found, none = rate([2.0, 0.6, 0.8], [5.0, 7.0], 1.5)
    assert float(found) == pytest.approx(5 * 0.6 + 2 * (-0.8 * 7) + 3, rel=1e-15)
    assert float(none) == 0


def test_forces_act_on_the_coordinates_that_are_named():
    pushed = lagrangian_system(euclidean("x", "y", "z"), kinetic, inputs=("f",),
                               force=lambda s: {"y": 2 * s.u.f, "z'": -s.v.x})
    found = gibbs_appell(pushed, ("x'", "y'", "z'")).acceleration(0, [0, 0, 0], [3, 0, 0], [5], [])
    assert found.full().ravel().tolist() == [0, 10, -3]
    with pytest.raises(MechanicsError, match="no fibre coordinate 'yy'; did you mean 'y'. There "
                                             "are x', y'$"):
        lagrangian_system(euclidean("x", "y"), kinetic, force=lambda s: {"yy": 1.0})
    with pytest.raises(MechanicsError, match="no fibre coordinate 'w'. There are x', y'$"):
        lagrangian_system(euclidean("x", "y"), kinetic, force=lambda s: {"w": 1.0})
    with pytest.raises(MechanicsError, match="the force must be a mapping of names .*, not "):
        lagrangian_system(euclidean("x"), kinetic, force=lambda s: [1.0])


@pytest.mark.parametrize("name, other", [
    ("lambda", "lambda_"), ("left wheel", "left_wheel"), ("2nd", "p_2nd"), ("a-b", "a_b"),
    ("%", "_")])
def test_another_name_is_proposed(name, other):
    for kind in ("parameters", "inputs"):
        with pytest.raises(InputError, match=f"{kind[:-1]} '{name}' is not .*; call it '{other}'"):
            lagrangian_system(euclidean("x"), kinetic, **{kind: (name,)})


@pytest.mark.parametrize("given, message", [
    ({}, "parameters are m, k: no number for m, k"), ({"m": 1.0}, "no number for k$"),
    ({"m": 1.0, "k": 2.0, "g": 3.0, "h": 4.0}, "parameters are m, k: unknown g, h")])
def test_each_parameter_has_a_number(given, message):
    made = lagrangian_system(euclidean("x"), lambda s: s.p.m * s.v.x ** 2 - s.p.k * s.q.x,
                             parameters=("m", "k"))
    with pytest.raises(MechanicsError, match=message):
        constrain(made, given)
    assert constrain(made, {"k": 2.0, "m": 1.0}).parameters.tolist() == [1.0, 2.0]
    with pytest.raises(MechanicsError, match="parameters are none: unknown m"):
        constrain(PLANE, {"m": 1.0})


@pytest.mark.parametrize("words, message", [
    ({"rows": {"r": lambda s: s.v.x * s.v.y}}, "'r' is not affine in the velocities; .*chetaev"),
    ({"rows": {"r": lambda s: s.q.x * s.t}}, "'r' of rows contains no velocity; .* holonomic="),
    ({"holonomic": {"r": lambda s: s.v.x}}, "'r' of holonomic contains a velocity")])
def test_rows_are_affine_and_functions_of_place_are_none(words, message):
    with pytest.raises(MechanicsError, match=message):
        constrain(PLANE, **words)


def test_rows_and_functions_become_a_distribution():
    """Rows first, then functions with their rates."""
    made = constrain(PLANE, rows={"belt": lambda s: 2 * s.v.x + s.q.y * s.v.y - ca.sin(s.t)},
                     holonomic={"rod": lambda s: s.q.x * s.q.y - s.t ** 3})
    d = made.distribution
    assert d.names == ("belt", "rod") and d.phi_rows == (1,) and d.priority == (0, 0)
    A, b, phi = (part.full() for part in made.constraint_function()(0.7, [3.0, 5.0], []))
    np.testing.assert_allclose(A, [[2, 5], [5, 3]], rtol=1e-15)
    np.testing.assert_allclose(b.ravel(), [-np.sin(0.7), -3 * 0.7 ** 2], rtol=1e-15)
    np.testing.assert_allclose(phi.ravel(), [15 - 0.7 ** 3], rtol=1e-15)


# -- samples ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_eight_places_near_the_samples_are_added(size):
    """On the manifold, as near as a tenth of the samples' size is beside a normal distribution; a
    coordinate that is zero everywhere counts as one."""
    given = size * np.array([[3.0, 4.0, 0.0], [-5.0, 0.0, 0.0], [0.0, 5.0, 0.0]])
    space = lagrangian_system(euclidean("x", "y", "z"), kinetic)
    made = constrain(space, holonomic={"pipe": lambda s: (s.q.x ** 2 + s.q.y ** 2) / size ** 2
                                       - 25}, samples=given)
    samples = made.configurations
    assert np.array_equal(samples[:3], given) and samples.shape == (11, 3)
    np.testing.assert_allclose(np.hypot(*samples.T[:2]), 5 * size, rtol=1e-12)
    apart = np.linalg.norm(samples[3:, None, :2] - given[None, :, :2], axis=2).min(axis=1)
    assert 0.01 * size < apart.max() < 2 * size and 0.01 < np.abs(samples[3:, 2]).max() < 0.5
    assert len({tuple(q) for q in samples}) == 11


def test_places_at_which_nothing_is_finite_are_left_out():
    """Where the energy is finite for x > 0.99 alone, which is half of what is near x = 1."""
    space = lagrangian_system(euclidean("x"), lambda s: s.v.x ** 2 / 2 + ca.sqrt(s.q.x - 0.99))
    samples = constrain(space, samples=np.array([[1.0]])).configurations
    assert 6 <= len(samples) <= 9 and samples.min() > 0.99
    free = constrain(PLANE, samples=np.zeros((0, 2)))
    assert free.samples is None and len(free.configurations) == 8


@pytest.mark.parametrize("off, place, holds", [
    (0.99e-6, 0.0, True), (1.01e-6, 0.0, False), (-1.01e-6, 0.0, False), (0.99e-3, -1e3, True),
    (1.01e-3, -1e3, False)])
def test_samples_lie_on_the_manifold_to_a_millionth(off, place, holds):
    """Of their largest entry, or of one."""
    walls = {"floor": lambda s: 0 * s.q.y, "wall": lambda s: s.q.x - 0.1}
    samples = [[0.1, place], [0.1 + off, place]]
    if holds:
        assert len(constrain(PLANE, holonomic=walls, samples=samples).samples) == 10
    else:
        with pytest.raises(MechanicsError, match="'wall', which is (1.01e-06|0.00101) there"):
            constrain(PLANE, holonomic=walls, samples=samples)


# -- what is left out ------------------------------------------------------------------------------
def test_what_a_system_does_not_have_is_empty():
    plane = euclidean("x", "y")
    v, a = ca.SX.sym("v", 2), ca.SX.sym("a", 2)
    made = LagrangianSystem.from_lagrangian(plane, v, a, ca.sumsqr(v) / 2)
    assert made.u.shape == made.theta.shape == (0, 1) and made.force.shape == (2, 1)
    assert made.force.is_zero() and made.t.shape == (1, 1)
    whole = ConstrainedSystem(made, assemble([], 2))
    assert whole.guards.shape == whole.invariant.shape == (0, 1)
    assert whole.parameters.shape == (0,) and whole.moment == 0 and whole.rubbing == ()
    assert whole.distribution.A.shape == (0, 2) and whole.distribution.b.shape == (0, 1)
    assert whole.fibre_scales.tolist() == [1, 1]
    assert replace(whole, scales=np.array([2.0, 3.0])).fibre_scales.tolist() == [2, 3]
    assert whole.flow_function()(0, [1, 2], [3, 4], []).shape == (0, 1)
    assert LagrangianSystem(plane, v, a, ca.SX(0), ca.SX(0), ca.SX(2, 1)).u.shape == (0, 1)
    with pytest.raises(MechanicsError, match=r"force has shape \(3, 1\), .* fibre has dimension 2"):
        LagrangianSystem(plane, v, a, ca.SX(0), ca.SX(0), ca.SX(3, 1))


def test_energy_momentum_and_rates_of_a_lagrangian():
    """L = x'^2 + x x' y' + 3 t y' - x y: the linear term has momentum, and no energy."""
    made = lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.q.x * s.v.x * s.v.y + 3 * s.t * s.v.y - s.q.x * s.q.y))
    x, y, u, v, t = 0.7, -0.4, 1.1, 0.3, 2.0
    values = ca.Function("values", [made.t, made.q, made.v], [
        made.energy, made.momentum, made.rate(made.momentum),
        replace(made, lagrangian=None).momentum])
    energy, momentum, rate, of_energy = (part.full().ravel() for part in values(t, [x, y], [u, v]))
    np.testing.assert_allclose(energy, [u ** 2 + x * u * v + x * y], rtol=1e-14)
    np.testing.assert_allclose(momentum, [2 * u + x * v, x * u + 3 * t], rtol=1e-14)
    np.testing.assert_allclose(rate, [u * v, u * u + 3], rtol=1e-14)    # with v held
    np.testing.assert_allclose(of_energy, [2 * u + x * v, x * u], rtol=1e-14)


def test_rows_are_stacked_with_what_each_of_them_has():
    x = ca.SX.sym("x")
    rows = [Row("a", ca.SX([[1, 0, 2]]), ca.SX(3), x ** 2, 5),
            Row("b", ca.SX([[0, 1, 0]]), ca.SX(0), follower=1, flow=ca.SX(7)),
            Row("c", ca.SX([[0, 0, 1]]), x, priority=-1, component=Component("wheel", "normal"))]
    made = assemble(rows, 3)
    assert made.names == ("a", "b", "c") and made.priority == (5, 0, -1) and made.m == 3
    assert ca.DM(made.A).full().tolist() == [[1, 0, 2], [0, 1, 0], [0, 0, 1]]
    assert made.phi.shape == (1, 1) and made.phi_rows == (0,) and made.followers == {1: 1}
    assert ca.DM(made.flow).full().ravel().tolist() == [0, 7, 0]
    assert made.components == (None, None, ("wheel", "normal")) and made.components[2].is_normal
    assert str(made.components[2]) == "wheel/normal"
    assert not Component("wheel", "lateral").is_normal
    assert assemble(rows[:1], 3).flow is None and assemble(rows[:1], 3).followers == {}
    with pytest.raises(MechanicsError, match=r"'a' has shape \(1, 3\), expected \(1, 2\)"):
        assemble(rows, 2)
    with pytest.raises(MechanicsError, match="two constraints are called 'a'"):
        assemble([rows[0], rows[2], rows[0]], 3)


# -- in words --------------------------------------------------------------------------------------
def test_the_constraint_algorithm_in_words():
    """x'' = y / m and 0 = x: x, x', y and y' vanish. Rows that say the same share the reaction."""
    singular = constrain(lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.p.m * s.v.x ** 2 / 2 + s.q.y * s.q.x + s.v.z ** 2 / 2), parameters=("m",)), {"m": 2.0})
    assert constraint_algorithm(singular).describe().splitlines() == [
        "Hessian of rank 2 of 3: singular.",
        "Step 0: rank 2 of 3; new: x = 0; dimension 5.",
        "Step 1: rank 2 of 3; new: -x' = 0; dimension 4.",
        "Step 2: rank 2 of 3; new: y = 0; dimension 3.",
        "Step 3: rank 2 of 3; new: -y' = 0; dimension 2.",
        "Step 4: rank 3 of 3; no new constraint.",
        "Final manifold of dimension 2, 4 constraints.",
        "On the momentum side 0 of first class, 4 of second class.",
        "All accelerations are determined."]
    twice = constrain(lagrangian_system(euclidean("x", "y"), lambda s: s.v.x ** 2 / 2), rows={
        "one": lambda s: s.v.x, "again": lambda s: 2 * s.v.x})
    assert constraint_algorithm(twice).describe().splitlines() == [
        "Hessian of rank 1 of 2: singular.", "Given constraint: x' = 0.",
        "Step 0: rank 2 of 4; no new constraint.", "Final manifold of dimension 3, 1 constraints.",
        "Undetermined accelerations (gauge): 1.", "Undetermined reactions: 1."]
