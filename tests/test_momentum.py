"""Momentum maps and the momentum equation, along the exact flow and against published numbers."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from symmetric_systems import (
    SE2,
    SPIN,
    TORUS,
    X,
    Y,
    capri_kobayashi,
    carriage,
    particle,
    rigid_body,
    skate_with_flywheel,
    sleigh,
    vertical_disk,
)

from nhmech import InputError, MechanicsError
from nhmech.mechanics.algebroid import euclidean
from nhmech.mechanics.gibbs_appell import gibbs_appell
from nhmech.mechanics.lagrange_multipliers import lagrange_multipliers
from nhmech.mechanics.momentum import momentum_map, nonholonomic_momentum
from nhmech.mechanics.symmetry import symmetry
from nhmech.mechanics.symmetry_search import find_symmetry
from nhmech.mechanics.writing import constrain, lagrangian_system

XZ = {"x": lambda s: {"x": 1}, "z": lambda s: {"z": 1}}
DISK = {**X, **Y, "turn": lambda s: {"x": -s.q.y, "y": s.q.x, "theta1": 1},
        "roll": lambda s: {"theta2": 1}}
WHEELS = {**SE2, "psi1": lambda s: {"psi1": 1}, "psi2": lambda s: {"psi2": 1}}


def pushed():
    """A carriage whose wheels are driven and braked."""
    return carriage(force=lambda s: {"psi1": s.u.left - 0.1 * s.v.psi1, "psi2": s.u.right},
                    inputs=("left", "right"))


def along_the_flow(equations, constrained, momentum, q, xi, u):
    """dJ/dt by automatic differentiation of J(t, q, v(q, xi)) along the equations of motion."""
    s = constrained.system
    x = ca.SX.sym("x", len(equations.names))
    J = momentum(s.t, s.q, equations.velocity(s.t, s.q, x, s.theta), s.theta)
    q_rate, xi_rate = equations.drift(s.t, s.q, x, s.u, s.theta)
    rate = ca.jtimes(J, s.q, q_rate) + ca.jtimes(J, x, xi_rate) + ca.jtimes(J, s.t, ca.SX(1))
    evaluate = ca.Function("rate", [s.t, s.q, x, s.u, s.theta], [rate])
    return evaluate(0.0, q, xi, u, constrained.parameters).full().ravel()


SYSTEMS = {"carriage": (carriage, WHEELS), "driven carriage": (pushed, WHEELS),
           "disk": (vertical_disk, DISK),
           "sleigh": (sleigh, SE2), "unicycle": (lambda: sleigh(a=0.0), SE2),
           "particle": (particle, XZ)}


@pytest.mark.paper("004 (24)")
@pytest.mark.parametrize("name", SYSTEMS)
def test_momentum_equation_along_the_flow(name):
    """Eq. (24) against d/dt of the momentum on the exact accelerations, at random states;
    the multipliers do not enter."""
    system, generators = SYSTEMS[name]
    constrained = system()
    made = symmetry(constrained, generators)
    J = nonholonomic_momentum(made)
    equations, rng, seen = gibbs_appell(constrained), np.random.default_rng(4), 0.0
    assert len(J.names) == made.dim_horizontal
    for q in constrained.configurations:
        xi, u = rng.normal(size=len(equations.names)), rng.normal(size=constrained.system.u.numel())
        v = equations.velocity(0.0, q, xi, constrained.parameters)
        rate = J.rate(0.0, q, v, u, constrained.parameters).full().ravel()
        expected = along_the_flow(equations, constrained, J.momentum, q, xi, u)
        assert rate == pytest.approx(expected, rel=1e-10, abs=1e-10 * (1 + np.abs(expected).max()))
        seen = max(seen, np.abs(rate).max())
    assert seen > 1e-3 or name == "disk"


@pytest.mark.parametrize("name", SYSTEMS)
def test_noether_with_reactions(name):
    """dJ/dt = s . (tau + A^T lambda) for all generators, horizontal or not."""
    system, generators = SYSTEMS[name]
    constrained = system()
    J = momentum_map(symmetry(constrained, generators))
    equations, rng, s = (lagrange_multipliers(constrained), np.random.default_rng(5),
                         constrained.system)
    reaction = ca.Function("reaction", [s.q, s.theta],
                           [constrained.distribution.A[list(equations.frame.kept), :].T])
    for q in constrained.configurations:
        xi, u = rng.normal(size=len(equations.names)), rng.normal(size=s.u.numel())
        v = equations.velocity(0.0, q, xi, constrained.parameters)
        lam = equations.multipliers(0.0, q, xi, u, constrained.parameters)
        rate = J.rate(0.0, q, v, u, reaction(q, constrained.parameters) @ lam,
                      constrained.parameters).full().ravel()
        expected = along_the_flow(equations, constrained, J.momentum, q, xi, u)
        assert rate == pytest.approx(expected, rel=1e-10, abs=1e-10 * (1 + np.abs(expected).max()))


def test_chaplygin_sleigh(case):
    """p = (I + m a^2) omega, p' = -(m a/(I + m a^2)) v p, in the section "turn about the blade",
    along a run."""
    reference = case("sleigh")
    P = reference["parameters"]
    constrained = sleigh(P["m"], P["I"], P["a"])
    J = nonholonomic_momentum(
        symmetry(constrained, SE2),
        {"turn about the blade": lambda s: {"turn": 1, "x": s.q.y, "y": -s.q.x}},
    )
    assert J.names == ("turn about the blade",)
    equations, start = gibbs_appell(constrained, ("x'", "phi'")), reference["initial_state"]
    samples = reference["expected"]["samples"]
    times = [sample["t"] for sample in samples]

    def rate(t, y):
        q_rate, xi_rate = equations.drift(t, y[:3], y[3:5], [], [])
        v = equations.velocity(t, y[:3], y[3:5], [])
        return np.r_[q_rate.full().ravel(), xi_rate.full().ravel(),
                     J.rate(t, y[:3], v, [], []).full().ravel()]

    speed = start["v"] * np.array([np.cos(start["phi"]), np.sin(start["phi"])])
    q0 = [start["x"], start["y"], start["phi"]]
    p0 = float(J.momentum(0.0, q0, [*speed, start["omega"]], []))
    # x' is no speed of a blade across x
    keep = [i for i, sample in enumerate(samples) if sample["phi"] < 1.5]
    run = solve_ivp(rate, (0, times[keep[-1]]), [*q0, speed[0], start["omega"], p0],
                    method="DOP853", t_eval=[times[i] for i in keep], rtol=1e-13, atol=1e-15)
    inertia = P["I"] + P["m"] * P["a"] ** 2
    assert len(keep) >= 3
    for y, i in zip(run.y.T, keep):
        v = equations.velocity(0.0, y[:3], y[3:5], []).full().ravel()
        forward = v[0] * np.cos(y[2]) + v[1] * np.sin(y[2])
        # the integral of the momentum equation
        assert y[5] == pytest.approx(samples[i]["momentum_p"], rel=1e-11)
        assert float(J.momentum(0.0, y[:3], v, [])) == pytest.approx(
            samples[i]["momentum_p"], rel=1e-11
        )
        closed = -P["m"] * P["a"] / inertia * forward * samples[i]["momentum_p"]
        assert float(J.rate(0.0, y[:3], v, [], [])) == pytest.approx(closed, rel=1e-10)


def test_nonholonomic_particle_in_closed_form():
    """Section d/dx + y d/dz: J = x' + y z', dJ/dt = y' z'; J/sqrt(1 + y^2) is constant."""
    J = nonholonomic_momentum(symmetry(particle(), XZ), {"slope": lambda s: {"x": 1, "z": s.q.y}})
    for y, vx, vy in np.random.default_rng(6).normal(size=(5, 3)):
        q, v = [0.4, y, -0.3], [vx, vy, y * vx]
        assert float(J.momentum(0.0, q, v, [])) == pytest.approx(vx * (1 + y ** 2), rel=1e-13,
                                                                 abs=0)
        assert float(J.rate(0.0, q, v, [], [])) == pytest.approx(vy * y * vx, rel=1e-13, abs=0)


def test_disk_turns_and_rolls_evenly():
    """I1 theta1' in "turn about the contact", (m R^2 + I2) theta2' in "roll":
    no horizontal generator, yet conserved."""
    J = nonholonomic_momentum(symmetry(vertical_disk(), DISK), {
        "turn about the contact": lambda s: {"turn": 1, "x": s.q.y, "y": -s.q.x},
        "roll": lambda s: {"roll": 1, "x": s.p.R * ca.cos(s.q.theta1),
                           "y": s.p.R * ca.sin(s.q.theta1)}})
    theta = vertical_disk().parameters
    for q, (w1, w2) in zip(vertical_disk().configurations,
                           np.random.default_rng(6).normal(size=(8, 2))):
        v = [0.4 * np.cos(q[2]) * w2, 0.4 * np.sin(q[2]) * w2, w1, w2]
        assert J.momentum(0.0, q, v, theta).full().ravel() == pytest.approx(
            [0.05 * w1, (1.3 * 0.4 ** 2 + 0.1) * w2], rel=1e-12, abs=0)
        assert np.abs(J.rate(0.0, q, v, [], theta).full()).max() <= 1e-14


def test_horizontal_symmetries_are_conserved():
    """The flywheel's spin is in D: J_w is conserved where J_w is all there is, and x,
    y shifts are no symmetry of this skate."""
    skate = skate_with_flywheel()
    made = symmetry(skate, SPIN)
    assert made.kind == "horizontal"
    J, equations, rng = momentum_map(made), gibbs_appell(skate), np.random.default_rng(7)
    for q in skate.configurations:
        assert np.abs(along_the_flow(equations, skate, J.momentum, q, rng.normal(size=3),
                                     [])).max() <= 1e-11


def test_capri_kobayashi_momenta(case):
    """J_i = x_i py_i - y_i px_i along the reference motion, with p from the case and v from p."""
    reference = case("capri_kobayashi")
    J = momentum_map(symmetry(capri_kobayashi(False), TORUS))
    masses = reference["parameters"]
    for sample in reference["expected"]["samples"]:
        q, v = [0, 0], [0, 0]
        for i in (2, 3):
            x, y, px, py = (sample[f"{name}{i}"] for name in ("x", "y", "px", "py"))
            q, v = q + [x, y], v + [(px + y) / (2 * masses[f"m{i}"]),
                                    (py - x) / (2 * masses[f"m{i}"])]
        assert J.momentum(0.0, q, v, []).full().ravel() == pytest.approx(
            [sample["J2"], sample["J3"]], rel=1e-11
        )


def test_rigid_body_momentum_is_the_angular_momentum_in_space(case):
    """J of the turns about space axes is R I omega, at each sample of the reference motion."""
    reference = case("euler_poincare")["expected"]["samples"]
    from scipy.spatial.transform import Rotation

    J = momentum_map(find_symmetry(rigid_body()))
    for sample in reference:
        q = Rotation.from_matrix(sample["rotation"]).as_quat()
        assert J.momentum(0.0, q, sample["omega_body"], []).full().ravel() == pytest.approx(
            sample["momentum_world"], rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("samples", [None, np.array([[0.0, 0.0, 0.3]])], ids=["many", "one"])
def test_wrong_sections_are_named(samples):
    made = symmetry(replace(sleigh(), samples=samples), SE2)
    with pytest.raises(MechanicsError,
                       match="section 'sideways' is not in the distribution: row 'blade'"):
        nonholonomic_momentum(made, {"sideways": lambda s: {"y": 1}})
    with pytest.raises(MechanicsError, match="no generator 'spin'; there are x, y, turn"):
        nonholonomic_momentum(made, {"spin": lambda s: {"spin": 1}})
    with pytest.raises(MechanicsError, match="no momentum equation: no combination of x, y, "
                                             "turn lies in the .*purely kinematic"):
        nonholonomic_momentum(symmetry(carriage(), SE2))


def test_a_row_that_binds_some_generators_in_closed_form():
    """z' = y x' binds d/dx and d/dz, not d/dw: (x' + y z')' = y' z' + f_x + y f_z, w'' = f_w."""
    free = lagrangian_system(euclidean("x", "y", "z", "w"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2 + s.v.w ** 2) / 2,
        force=lambda s: {"x": 3.0, "z": 5.0, "w": 7.0})
    tied = constrain(free, rows={"slope": lambda s: s.v.z - s.q.y * s.v.x})
    found = nonholonomic_momentum(symmetry(tied, {
        name: lambda s, name=name: {name: 1} for name in ("x", "z", "w")}))
    assert found.names == ("w", "x")
    q, v = [0.1, 0.4, 0.2, 0.3], [0.7, 0.5, 0.28, 1.1]
    np.testing.assert_allclose(found.momentum(0, q, v, []), [[1.1], [0.7 + 0.4 * 0.28]], rtol=1e-14)
    np.testing.assert_allclose(found.rate(0, q, v, [], []),
                               [[7.0], [0.5 * 0.28 + 3.0 + 0.4 * 5.0]], rtol=1e-14)


@pytest.mark.parametrize("row", [1e-10, 1.0, 1e10])
@pytest.mark.parametrize("generator", [1e-10, 1.0, 1e10])
def test_the_units_of_rows_and_generators_decide_nothing(row, generator):
    """Momenta scale as their sections do."""
    tied, at = sleigh(), ([0.1, 0.2, 0.3], [0.4 * np.cos(0.3), 0.4 * np.sin(0.3), 0.7])
    scaled = replace(tied, distribution=replace(tied.distribution, A=row * tied.distribution.A))
    made = symmetry(scaled, {name: lambda s, of=of: {
        key: generator * value for key, value in of(s).items()} for name, of in SE2.items()})
    found, expected = nonholonomic_momentum(made), nonholonomic_momentum(symmetry(tied, SE2))
    assert found.names == expected.names == ("x", "turn")
    for one, other, rest in ((found.momentum, expected.momentum, [[]]),
                             (found.rate, expected.rate, [[], []])):
        np.testing.assert_allclose(one(0, *at, *rest), generator * other(0, *at, *rest).full(),
                                   rtol=1e-12)
    with pytest.raises(MechanicsError, match="section 'sideways' is not in the distribution"):
        nonholonomic_momentum(made, {"sideways": lambda s: {"y": 1 / generator}})


def test_a_basis_of_sections_has_ones_and_sections_may_be_large():
    """Coefficient 1 on the free generators, 0 on the others; a section may have any unit, and is
    held to a billionth of it and of one."""
    made = symmetry(sleigh(), SE2)
    found, s = nonholonomic_momentum(made), made.constrained.system
    free = [made.names.index(name) for name in found.names]
    values = ca.Function("f", [s.q], [ca.densify(found.coefficients)])([0.3, -0.2, 0.7]).full()
    np.testing.assert_allclose(values[free], np.eye(len(free)), rtol=1e-12, atol=1e-14)
    for size in (1e-9, 1.0, 1e9):
        for off in (1e-11, 1e-7, 1e-3):
            given = {"along": lambda s, size=size, off=off: {
                "x": size * ca.cos(s.q.phi), "y": size * ca.sin(s.q.phi) * (1 + off)}}
            if min(size, 1.0) * off < 1e-9:
                assert nonholonomic_momentum(made, given).names == ("along",)
            else:
                with pytest.raises(MechanicsError, match="'along' is not in the distribution"):
                    nonholonomic_momentum(made, given)
    with pytest.raises(InputError, match="must have one section or more"):
        nonholonomic_momentum(made, {})
