"""The nonholonomic bracket: its Hamiltonian field is the motion, and Jacobi's identity tells
holonomic from nonholonomic."""

import casadi as ca
import numpy as np
import pytest

from nhmech.errors import MechanicsError
from nhmech.mechanics import (
    change_of_basis,
    chaplygin,
    constrain,
    euclidean,
    gibbs_appell,
    lagrangian_system,
    lie_algebra,
    nonholonomic_bracket,
    special_orthogonal,
    symmetry,
)
from nhmech.systems import load_system


def states(example, made, count=3):
    rng = np.random.default_rng(4)
    for q in example.constrained.configurations[:count]:
        xi = rng.normal(size=len(made.names))
        yield q, xi, made.momentum(q, xi, made.parameters).full().ravel()


def magnetic():
    """A charged knife edge with a centre of mass ahead, in a field that grows with x."""
    charged = lagrangian_system(euclidean("x", "y", "yaw"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + 0.4 * s.v.yaw ** 2) / 2 + 0.3 * s.v.yaw * (
        s.v.y * ca.cos(s.q.yaw) - s.v.x * ca.sin(s.q.yaw)) + 1.7 * s.q.x ** 2 * s.v.y - s.q.x)
    return constrain(charged, rows={
        "blade": lambda s: s.v.y * ca.cos(s.q.yaw) - s.v.x * ca.sin(s.q.yaw)})


def reduced_ball():
    across = {"x": lambda s: {"x": 1}, "y": lambda s: {"y": 1}}
    return chaplygin(symmetry(load_system("chaplygin_ball"), across), ("wx", "wy", "wz"))


MADE = {"magnetic": magnetic, "reduced ball": reduced_ball}


@pytest.mark.paper("004 IV.1")
@pytest.mark.parametrize("name", ["nonholonomic_particle", "chaplygin_sleigh", "carriage", "suslov",
                                  "chaplygin_ball", "falling_disc", "heavy_top",
                                  "capri_kobayashi", *MADE])
def test_the_bracket_with_the_energy_is_the_motion(name):
    example = MADE[name]() if name in MADE else load_system(name)
    made = nonholonomic_bracket(example, getattr(example, "speeds", None))
    equations = gibbs_appell(example, made.names)
    theta = made.parameters
    q, p = ca.SX.sym("q", made.tensor.size1_in(0)), ca.SX.sym("p", len(made.names))
    gradient = ca.Function("dH", [q, p], [ca.gradient(made.hamiltonian(q, p, theta),
                                                      ca.vertcat(q, p))])
    xi = ca.SX.sym("xi", len(made.names))
    momentum = made.momentum(q, xi, theta)
    rate = equations.drift(0, q, xi, np.zeros(example.constrained.system.u.numel()), theta)
    moved = ca.Function("z_rate", [q, xi], [ca.vertcat(rate[0], ca.jtimes(
        momentum, ca.vertcat(q, xi), ca.vertcat(*rate)))])
    for at, speeds, momenta in states(example, made):
        tensor = made.tensor(at, momenta, theta).full()
        np.testing.assert_allclose(tensor, -tensor.T, rtol=1e-12, atol=1e-13)
        expected = moved(at, speeds).full()
        np.testing.assert_allclose(tensor @ gradient(at, momenta).full(), expected,
                                   rtol=1e-10, atol=1e-10 * np.abs(expected).max())


@pytest.mark.paper("beyond bracket")
@pytest.mark.parametrize("name, holonomic", [
    ("heavy_top", True), ("bead_parabola", True), ("chaplygin_sleigh", False),
    ("nonholonomic_particle", False), ("carriage", False)])
def test_jacobi_holds_for_holonomic_systems_alone(name, holonomic):
    example = load_system(name)
    made = nonholonomic_bracket(example, example.speeds)
    worst = max(np.abs(made.jacobiator(q, p)).max() for q, _, p in states(example, made))
    assert worst < 1e-10 if holonomic else worst > 1e-3


@pytest.mark.parametrize("name", ["nonholonomic_particle", "chaplygin_sleigh"])
def test_the_jacobiator_is_the_cyclic_sum(name):
    """{z_i, {z_j, z_k}} = Pi_il d_l Pi_jk and its cyclic sum, entry by entry; it changes its sign
    where two of its places are exchanged."""
    example = load_system(name)
    made = nonholonomic_bracket(example, example.speeds)
    for q, _, p in states(example, made):
        z = ca.SX.sym("z", len(q) + len(p))
        tensor = ca.densify(made.tensor(z[:len(q)], z[len(q):], made.parameters))
        n, slope = z.numel(), ca.Function("slope", [z], [tensor, ca.jacobian(ca.vec(tensor), z)])
        pi, d = (part.full() for part in slope(np.r_[q, p]))
        once = np.einsum("il,jkl->ijk", pi, d.reshape(n, n, n, order="F"))
        found = made.jacobiator(q, p)
        np.testing.assert_allclose(found, once + once.transpose(2, 0, 1) + once.transpose(1, 2, 0),
                                   rtol=1e-9, atol=1e-12)
        for exchanged in ((1, 0, 2), (0, 2, 1), (2, 1, 0)):
            np.testing.assert_allclose(found.transpose(exchanged), -found, rtol=1e-9, atol=1e-12)


@pytest.mark.paper("beyond bracket")
def test_rank_and_refusals():
    example = load_system("heavy_top")
    made = nonholonomic_bracket(example)
    q, _, p = next(states(example, made))
    assert made.rank(q, p) == 6                    # T*SO(3) in seven coordinates: |q| is a Casimir
    for name in ("ball_on_turntable", "bead_rod"):
        with pytest.raises(MechanicsError, match="linear in the velocities"):
            nonholonomic_bracket(load_system(name))
    idle = lagrangian_system(euclidean("x", "y"), lambda s: s.v.x ** 2 + s.q.y)
    with pytest.raises(MechanicsError, match="Hessian of L is singular"):
        nonholonomic_bracket(idle)
    quartic = lagrangian_system(euclidean("x"), lambda s: s.v.x ** 4 + s.v.x ** 2)
    with pytest.raises(MechanicsError, match="quadratic"):
        nonholonomic_bracket(quartic)


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1.0, 1e3])
def test_the_rank_is_the_same_in_any_unit_of_the_speeds(unit):
    """4 of the particle; 6 of a body that turns, whose momenta rotate into each other; 2 of the
    reduced one."""
    space = change_of_basis(euclidean("x", "y", "z"), unit * ca.SX.eye(3), ("a", "b", "c"))
    tied = constrain(lagrangian_system(space, kinetic), rows={"r": lambda s: s.v.c - s.q.y * s.v.a})
    assert nonholonomic_bracket(tied, ("a", "b")).rank([0.1, 0.2, 0.3], [1.0, 0.5]) == 4
    for algebra, q, rank in (
            (lie_algebra("so(3)"), [], 2), (special_orthogonal(), [0, 0, 0, 1], 6)):
        turned = change_of_basis(algebra, unit * ca.SX.eye(3), ("a", "b", "c"))
        body = nonholonomic_bracket(constrain(lagrangian_system(turned, kinetic)))
        assert body.rank(q, [1.0, 0.5, 0.3]) == rank


def kinetic(s):
    return (s.v.a ** 2 + 2 * s.v.b ** 2 + 3 * s.v.c ** 2) / 2


@pytest.mark.parametrize("drag", [0.1, 1e-12])
def test_forces_are_refused(drag):
    """However small they are."""
    damped = lagrangian_system(euclidean("x"), lambda s: s.v.x ** 2 / 2, inputs=("push",),
                               force=lambda s: {"x": s.u.push - drag * s.v.x})
    for system in (damped, reduced_ball().base):
        with pytest.raises(MechanicsError, match="needs a system without forces: put a potential"):
            nonholonomic_bracket(system)
