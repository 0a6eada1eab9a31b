"""Reduced systems that are Hamiltonian in another time, in any dimension."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from nhmech.errors import MechanicsError
from nhmech.mechanics import (
    chaplygin,
    constrain,
    euclidean,
    hamiltonise,
    lagrangian_system,
    lie_algebra,
    nonholonomic_bracket,
    symmetry,
)

Z = {"z": lambda s: {"z": 1}}


def phi_simple(n, kept=None, size=1.0, bend=1.0, theta=None):
    """A reduced system with G_ab^c = delta_a^c d_b phi - delta_b^c d_a phi on an unflat base of n
    dimensions, and phi; with a form `theta` in place of d phi."""
    names = [f"r{i}" for i in range(n)]
    free = lagrangian_system(euclidean(*names, "z"), lambda s: sum(
        v ** 2 for v in vars(s.v).values()) / 2)
    tied = constrain(free, rows={"slope": lambda s: s.v.z - s.q.r1 * s.v.r0})
    reduced = chaplygin(symmetry(tied, Z))
    system = reduced.base.system
    r, xi = system.q, system.v
    mass = size * ca.diag(ca.vertcat(*[1 + (i + 1) * r[i - 1] ** 2 for i in range(n)]))
    phi = bend * (0.3 * ca.sin(r[0]) * r[n - 1] + 0.2 * r[1] ** 2)
    slope, p = ca.gradient(phi, r) if theta is None else theta(r), mass @ xi
    G = p @ slope.T - slope @ p.T
    if kept is not None:
        G += kept(r, p)
    made = system.transfer(system.algebroid, xi, system.a, ca.dot(xi, p) / 2, -G @ xi)
    return replace(reduced, base=replace(reduced.base, system=made), gyroscopic=G,
                   alpha=-G @ xi), ca.Function("phi", [r], [phi])


@pytest.mark.paper("beyond measure")
@pytest.mark.parametrize("n", [2, 3, 4])
def test_systems_that_are_phi_simple_in_any_dimension(n):
    """f = exp(phi), N = exp((n - 1) phi) (Garcia-Naranjo and Marrero 2020)."""
    reduced, phi = phi_simple(n)
    found = hamiltonise(reduced)
    assert found.is_hamiltonian and found.simple <= 1e-14
    end, start = np.random.default_rng(2).normal(size=(2, n))
    height = float(phi(end) - phi(start))
    assert found.multiplier(end, start) == pytest.approx(np.exp(height), rel=1e-10)
    assert found.density(end, start) == pytest.approx(np.exp((n - 1) * height), rel=1e-10)


@pytest.mark.parametrize("size, simple", [(1e-11, True), (1e-7, False)])
def test_what_is_hardly_phi_simple_is_not(size, simple):
    """A term with the trace zero changes nothing of the measure."""
    def twist(r, p):
        made = ca.SX(3, 3)
        made[0, 1], made[1, 0] = size * p[2], -size * p[2]
        return made

    found = hamiltonise(phi_simple(3, twist)[0])
    assert found.has_measure and found.is_hamiltonian is simple
    assert simple or 1e-8 < found.simple < 1e-6


def test_how_far_a_system_is_from_simple_has_no_unit():
    """The gyroscopic tensor, in 1 over length, and off by a share."""
    def twist(r, p, bend):
        made = ca.SX(3, 3)
        made[0, 1], made[1, 0] = 0.1 * bend * p[2], -0.1 * bend * p[2]
        return made

    one, *others = (hamiltonise(phi_simple(3, lambda r, p: twist(r, p, bend), bend=bend)[0]).simple
                    for bend in (1.0, 1e-6, 1e6))
    assert 0.01 < one < 1
    assert others == pytest.approx([one, one], rel=1e-12, abs=0)
    straight = hamiltonise(phi_simple(3, bend=0.0)[0])
    assert straight.simple == 0 and straight.is_hamiltonian


@pytest.mark.parametrize("size", [1e-12, 1e12])
def test_how_far_a_measure_fails_does_not_depend_on_the_unit_of_mass(size):
    """Theta = r0 dr1 is not closed."""
    one, other = (hamiltonise(phi_simple(3, size=mass, theta=lambda r: ca.vertcat(0, r[0], 0))[0])
                  for mass in (1.0, size))
    assert not one.has_measure and one.measure.closed > 1e-2
    assert other.measure.closed == pytest.approx(one.measure.closed, rel=1e-9)


def test_one_dimension_has_no_multiplier():
    bead = constrain(lagrangian_system(euclidean("x", "z"), lambda s: (
        s.v.x ** 2 + s.v.z ** 2) / 2), rows={"slope": lambda s: s.v.z - s.q.x * s.v.x})
    with pytest.raises(MechanicsError, match="one dimension has no gyroscopic force"):
        hamiltonise(chaplygin(symmetry(bead, Z)))


def test_a_base_without_coordinates_is_refused():
    """Of a ball without its attitude and its place, on the algebra R^2 x so(3)."""
    constants = np.zeros((5, 5, 5))
    constants[2:, 2:, 2:] = [ca.DM(c).full() for c in lie_algebra("so(3)").structure]
    space = lie_algebra(constants, ("x'", "y'", "wx", "wy", "wz"))
    rolling = constrain(lagrangian_system(space, lambda s: sum(v ** 2 for v in vars(s.v).values())),
                        rows={"x": lambda s: s.v.x - s.v.wy, "y": lambda s: s.v.y + s.v.wx})
    across = {"x": lambda s: {"x": 1}, "y": lambda s: {"y": 1}}
    with pytest.raises(MechanicsError, match="on which wx, wy, wz are the velocities of no coord"):
        hamiltonise(chaplygin(symmetry(rolling, across)))


@pytest.mark.parametrize("first", [0.0, 0.5])
def test_speeds_have_to_be_those_of_coordinates_at_every_sample(first):
    """x' = x w is none where x = 0."""
    plane = euclidean("x", "y", "z")
    basis = replace(plane, v_names=("w", "y'", "z'"), anchor=ca.diag(ca.vertcat(plane.q[0], 1, 1)))
    tied = constrain(lagrangian_system(basis, lambda s: s.v.w ** 2 + s.v.y ** 2 + s.v.z ** 2),
                     rows={"slope": lambda s: s.v.z - s.q.y * s.v.w},
                     samples=np.array([[first, 0.2, 0.0]]))
    made = chaplygin(symmetry(tied, Z), ("w", "y'"))
    if first:
        assert hamiltonise(made).is_hamiltonian
    else:
        with pytest.raises(MechanicsError, match="on which w, y' are the velocities of x, y"):
            hamiltonise(made)


@pytest.mark.parametrize("words, refused", [
    ({"force": lambda s: {"x": 1e-5 * s.v.x}}, True), ({"force": lambda s: {"x": s.u.f}}, False)])
def test_forces_are_refused_unless_they_are_inputs(words, refused):
    free = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2, inputs=("f",), **words)
    made = chaplygin(symmetry(constrain(free, rows={"slope": lambda s: s.v.z - s.q.y * s.v.x}), Z))
    if refused:
        with pytest.raises(MechanicsError, match="hamiltonise needs a system without forces"):
            hamiltonise(made)
    else:
        assert hamiltonise(made).is_hamiltonian


@pytest.mark.parametrize("share, refused", [(1e-11, False), (1e-7, True)])
@pytest.mark.parametrize("method", [hamiltonise, nonholonomic_bracket])
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e6])
def test_a_gyroscopic_force_is_all_that_acts(method, size, share, refused):
    """To a billionth of it, in any unit of mass."""
    reduced, _ = phi_simple(3, size=size)
    system = reduced.base.system
    stronger = replace(reduced, base=replace(reduced.base, system=replace(
        system, force=(1 + share) * system.force)))
    if refused:
        with pytest.raises(MechanicsError, match="needs a system without forces"):
            method(stronger)
    else:
        method(stronger)
