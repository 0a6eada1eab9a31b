"""The base of a symmetry: what no generator moves, and functions of it."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from symmetric_systems import SE2, carriage

from nhmech.errors import MechanicsError
from nhmech.mechanics import (
    circle,
    constrain,
    euclidean,
    lagrangian_system,
    line,
    product,
    special_orthogonal,
    symmetry,
)
from nhmech.mechanics.base_space import (
    base_coordinates,
    base_space,
    fixed_speeds,
    onto_base,
    restrict_algebroid,
)

NOTHING = ca.SX(0, 1)


def kinetic(s):
    return sum(v ** 2 for v in vars(s.v).values()) / 2


def turned(*samples, unit=1.0):
    """A point of the plane with a height z, its turns about the origin, and a w that is held."""
    free = constrain(lagrangian_system(euclidean("x", "y", "z", "w"), kinetic),
                     rows={"held": lambda s: s.v.w})
    return symmetry(replace(free, samples=np.array(samples, dtype=float)), {
        "turn": lambda s: {"x": -unit * s.q.y, "y": unit * s.q.x}})


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_a_turn_moves_coordinates_that_it_leaves_alone_at_one_place(unit):
    found = turned([1, 0, 2, 3], [0, 1, 3, 2], [0.6, 0.8, 0, 0], unit=unit)
    assert base_coordinates(found) == (2, 3)
    # w' is constant, whatever moves
    assert fixed_speeds(found, 1) == ("z'",)
    assert fixed_speeds(found, 2) is None


def test_speeds_of_wheels_are_fixed():
    found = symmetry(carriage(), SE2)
    assert base_coordinates(found) == (3, 4)
    assert fixed_speeds(found, 2) == ("psi1'", "psi2'")


# -- brackets of base velocities -------------------------------------------------------------------
def test_brackets_of_base_velocities_have_a_part_in_the_base_and_one_outside():
    """b1 = (1, 0, y, 0), b2 = (x^2, 1 + y^2, 3 x, 0), b3 = (0, 0, x y, 1) over x, y, w:
    [b1, b2] = 2 x b1 + (2 - y^2 - 2 x y) d/dz, [b1, b3] = y d/dz and
    [b2, b3] = (x^2 y + (1 + y^2) x) d/dz."""
    free = constrain(lagrangian_system(euclidean("x", "y", "z", "w"), kinetic))
    found = symmetry(replace(free, samples=np.array([[0.0, 1, 2, 0], [0.3, -0.5, 0, 1]])), {
        "z": lambda s: {"z": 1}})
    x, y, _, _ = ca.vertsplit(found.constrained.system.q)
    B = ca.blockcat([[1, x ** 2, 0], [0, 1 + y ** 2, 0], [y, 3 * x, x * y], [0, 0, 1]])
    names = ("b1", "b2", "b3")
    made = base_space(found, B, ca.SX([0, 0, 1, 0]), names, ("m/s",) * 3)
    space, p = made.algebroid, ca.SX.sym("p", 4)
    assert (space.q_names, space.v_names, made.coordinates) == (("x", "y", "w"), names, (0, 1, 3))
    space.check()
    parts = ca.Function("parts", [found.constrained.system.q, p], [
        *space.structure, made.outside(p)])
    for x, y, w in np.random.default_rng(2).normal(size=(3, 3)):
        *c, outside = (part.full() for part in parts([x, y, 7.0, w], [1, 2, 0.5, 4]))
        inside = np.zeros((3, 3, 3))
        inside[0, 0, 1], inside[0, 1, 0] = 2 * x, -2 * x
        np.testing.assert_allclose(c, inside, rtol=1e-12, atol=1e-12)
        off = np.zeros((3, 3))
        off[0, 1], off[0, 2] = 2 - y ** 2 - 2 * x * y, y
        off[1, 2] = x ** 2 * y + (1 + y ** 2) * x
        np.testing.assert_allclose(outside, (off - off.T) / 2, rtol=1e-12, atol=1e-12)


def test_a_base_shows_its_velocities():
    """z alone stays where it is, and shows one velocity; without z there is none."""
    found = turned([1, 0, 2, 3], [0.6, 0.8, 0, 0])
    unit = ca.SX.eye(4)
    assert base_space(found, unit[:, 2], unit[:, [0, 1, 3]], ("b",), ("",)).coordinates == (2, 3)
    with pytest.raises(MechanicsError, match=r"moves \(z, w\) show 1 of 2 base velocities"):
        base_space(found, unit[:, [0, 2]], unit[:, [1, 3]], ("a", "b"), ("", ""))
    flat = constrain(lagrangian_system(euclidean("x", "y"), kinetic))
    with pytest.raises(MechanicsError, match=r"moves \(none\) show 0 of 1 base velocities"):
        base_space(symmetry(flat, {"turn": lambda s: {"x": -s.q.y, "y": s.q.x}}),
                   ca.SX([1, 0]), ca.SX([0, 1]), ("b",), ("",))


# -- parts of an algebroid -------------------------------------------------------------------------
def test_angles_and_attitudes_are_kept_with_their_coordinates():
    """An angle whose rate is no longer there is a pair of coordinates."""
    space = product(circle("a"), line("r"), special_orthogonal(), circle("b"))
    assert space.circles == ((0, 0), (7, 5)) and space.quaternions == (3,)

    def part(coordinates, names):
        anchor = ca.SX(len(coordinates), len(names))
        return restrict_algebroid(space, coordinates, anchor, tuple(
            ca.SX(len(names), len(names)) for _ in names), names, ("",) * len(names))

    made = part((2, 3, 4, 5, 6, 7, 8), ("b", "r"))
    assert made.q_names == ("r", "qx", "qy", "qz", "qw", "b.cos", "b.sin")
    assert made.circles == ((5, 0),) and made.quaternions == (1,)
    made = part((0, 1, 7, 8), ("a",))
    assert made.circles == ((0, 0),) and made.quaternions == ()


# -- functions of the base -------------------------------------------------------------------------
def along_z(space, **words):
    """A symmetry along z."""
    made = constrain(lagrangian_system(product(space, line("z")), kinetic), **words)
    return symmetry(made, {"z": lambda s: {"z": 1}})


def written(found, coordinates, value):
    """A function of q written in some of its coordinates, at the others' place in q."""
    made, = onto_base(found, coordinates, {"f": value}, NOTHING)
    return ca.Function("f", [found.constrained.system.q], [made])


@pytest.mark.parametrize("size, rest, invariant", [
    (0.0, 0.99e-9, True), (0.0, 1.01e-9, False), (1.0, 1.98e-9, True), (1.0, 2.02e-9, False),
    (1e3, 1e-6, True), (1e3, 1.01e-6, False), (0.0, -1.01e-9, False), (-1e3, 1e-6, True),
    (1.0, np.nan, False)])
def test_functions_are_invariant_to_a_billionth(size, rest, invariant):
    """Of one more than they are: `size` where z is not one, and a rest more where it is."""
    found = along_z(line("x"))
    found = replace(found, constrained=replace(found.constrained, samples=np.array([
        [0.3, 0.5], [0.2, 1.0], [0.7, 2.0]])))
    value = size + ca.if_else(found.constrained.system.q[1] == 1, rest, 0)
    if invariant:
        assert float(written(found, (0,), value)([0.3, 7.0])) == size
    else:
        with pytest.raises(MechanicsError, match="f still depends on z"):
            written(found, (0,), value)


def test_coordinates_of_the_group_are_put_to_the_origin():
    """Where angles have the cosine 1, and attitudes the last entry."""
    found = along_z(product(circle("a"), special_orthogonal(), line("x")))
    q = found.constrained.system.q
    f = ca.sumsqr(q[:2]) + 2 * ca.sumsqr(q[2:6]) + q[6]
    state = np.random.default_rng(0).normal(size=8)
    assert float(written(found, (6,), f)(state)) == pytest.approx(3 + state[6], rel=1e-15, abs=0)
    assert float(written(found, (0, 1, 6), f)(state)) == pytest.approx(
        state[0] ** 2 + state[1] ** 2 + 2 + state[6], rel=1e-15, abs=0)


def test_or_to_a_sample_where_the_origin_is_no_configuration():
    """y = 0.7 beside x = 0 is not at the origin."""
    found = along_z(euclidean("x", "y"), holonomic={
        "x": lambda s: s.q.x, "y": lambda s: s.q.y - 0.7})
    q = found.constrained.system.q
    assert float(written(found, (0,), q[1] * (2 + q[0]))([3.0, 0, 0])) == pytest.approx(
        3.5, rel=1e-12, abs=0)
