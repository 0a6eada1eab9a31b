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
    assert float(written(found, (6,), f)(state)) == pytest.approx(3 + state[6], rel=1e-15)
    assert float(written(found, (0, 1, 6), f)(state)) == pytest.approx(
        state[0] ** 2 + state[1] ** 2 + 2 + state[6], rel=1e-15)


def test_or_to_a_sample_where_the_origin_is_no_configuration():
    """y = 0.7 beside x = 0 is not at the origin."""
    found = along_z(euclidean("x", "y"), holonomic={
        "x": lambda s: s.q.x, "y": lambda s: s.q.y - 0.7})
    q = found.constrained.system.q
    assert float(written(found, (0,), q[1] * (2 + q[0]))([3.0, 0, 0])) == pytest.approx(3.5)
