"""Where symplectic reduction stops: at what is no symmetry, and at points off the manifold."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from symmetric_systems import vertical_disk

from nhmech import MechanicsError
from nhmech.mechanics import (
    bates_sniatycki,
    constrain,
    euclidean,
    lagrangian_system,
    momentum_side,
    on_level,
)


@pytest.mark.parametrize("share, kept", [(1e-11, True), (1e-7, False)])
def test_an_invariance_holds_to_a_billionth(share, kept):
    """Of momenta of which a part is no symmetry, and of a motion that is hardly in F."""
    model = momentum_side(vertical_disk())
    motion, p = model.solve(), model.space.q[4:]
    z = motion.manifold.states[0]
    leaning = momentum_side(constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2) / 2 + s.q.y * 1.0)))
    fall, down = leaning.solve(), leaning.space.q[2:]
    drifting = replace(motion, section=motion.section + share * ca.DM(np.r_[1.0, np.zeros(7)]))
    for call, message in (
            (lambda: bates_sniatycki(motion, p[0] + share * p[2], z), "M is not invariant"),
            (lambda: bates_sniatycki(fall, down[0] + share * down[1], [0.1, 0.2, 1.0, 2.0]),
             "H is not invariant"),
            (lambda: bates_sniatycki(drifting, p[:2], z), "the motion is not in F")):
        if kept:
            assert len(call().velocity) == len(call().slope)
        else:
            with pytest.raises(MechanicsError, match=message):
                call()


@pytest.mark.parametrize("generator", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("mass", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("share, kept", [(0.0, True), (0.99, True), (1.01, False)])
def test_the_units_of_generators_and_masses_decide_nothing(generator, mass, share, kept):
    """H = p_x^2 / 2 m + ... + m (y + share x / 10^9) changes along x by a billionth of what it
    changes by along y; the speeds are none, and x is turned into no other direction."""
    model = momentum_side(constrain(lagrangian_system(euclidean("x", "y"), lambda s: mass * (
        (s.v.x ** 2 + s.v.y ** 2) / 2 - s.q.y - share * 1e-9 * s.q.x))))
    p = model.space.q[2:]

    def reduce():
        return bates_sniatycki(model.solve(), generator * p[0], [0.1, 0.2, 0.0, 0.0])

    if kept:
        made = reduce()
        assert made.is_symplectic and made.omega.shape == (2, 2)
        np.testing.assert_allclose(np.abs(made.vertical.ravel()), [1, 0, 0, 0], rtol=1e-12,
                                   atol=1e-14)
    else:
        with pytest.raises(MechanicsError, match="H is not invariant under the action there"):
            reduce()


@pytest.mark.parametrize("row, second", [(1e4, 1.0), (1e-4, 1.0), (1.0, 1e4), (1.0, 1e-4)])
@pytest.mark.parametrize("share, kept", [(1e-11, True), (1e-7, False)])
def test_the_units_of_rows_and_of_time_decide_nothing(row, second, share, kept):
    """Of a motion that is hardly in F."""
    model = momentum_side(vertical_disk())
    motion, x = model.solve(), ca.DM(np.eye(8)[0])
    drifting = replace(motion, section=(motion.section + share * x) / second,
                       model=replace(model, forms=row * model.forms))
    z = motion.manifold.states[0]
    if kept:
        made = bates_sniatycki(drifting, model.space.q[4:6], z)
        np.testing.assert_allclose(second * made.velocity, bates_sniatycki(
            motion, model.space.q[4:6], z).velocity, rtol=1e-9, atol=1e-10)
    else:
        with pytest.raises(MechanicsError, match="the motion is not in F"):
            bates_sniatycki(drifting, model.space.q[4:6], z)


def test_a_point_that_is_near_no_motion():
    """On the way to a circle that is not there."""
    space = momentum_side(vertical_disk()).solve()
    with pytest.raises(MechanicsError, match="not near the final manifold"):
        bates_sniatycki(space, space.model.space.q[4:6], np.full(8, np.nan))
    with pytest.raises(MechanicsError, match="on_level needs the forms of F"):
        on_level(momentum_side(constrain(lagrangian_system(
            euclidean("x"), lambda s: s.v.x ** 2)), hinds=True), ca.SX(0, 1), [])


def test_a_generator_that_vanishes_is_no_direction():
    """Of a free particle in the plane, by d/dx and by nothing: p_y and its rate are left."""
    model = momentum_side(constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + 2 * s.v.y ** 2) / 2)))
    p = model.space.q[2:]
    made = bates_sniatycki(model.solve(), ca.vertcat(p[0], 0), [0.1, 0.2, 3.0, 4.0])
    assert made.vertical.shape == (4, 1) and made.omega.shape == (2, 2) and made.is_symplectic
    np.testing.assert_allclose(np.abs(made.vertical.ravel()), [1, 0, 0, 0], atol=1e-14)
    np.testing.assert_allclose(made.basis @ made.velocity, [0, 2, 0, 0], atol=1e-14)
    np.testing.assert_allclose(made.omega.T @ made.velocity, made.slope, rtol=1e-12, atol=1e-14)
