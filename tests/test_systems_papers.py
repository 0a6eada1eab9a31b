"""The systems of papers 000, 001 and 002: their own checks, agreement of methods,
and the reference cases at their tolerances."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from nhmech import MechanicsError
from nhmech.mechanics.algebroid import rotation
from nhmech.mechanics.algebroid_makers import special_orthogonal, structure_constants
from nhmech.mechanics.gibbs_appell import gibbs_appell
from nhmech.mechanics.quasi_velocities import change_of_basis
from nhmech.systems import connection_curvature, load_system, rolling_ball
from nhmech.systems._checks import along
from nhmech.systems.areal_velocity import example as areal_velocity
from nhmech.systems.example import solve

RTOL = 1e-13        # of the integration


def column(samples, *names) -> np.ndarray:
    """Values of a case's samples, (N, k)."""
    return np.array([np.hstack([sample[name] for name in names]) for sample in samples],
                    dtype=float)


def motion(example, samples, method="gibbs_appell"):
    """times (N,), q (N, nq), xi (N, nxi) at the samples' times, which begin at 0."""
    times = column(samples, "t")[:, 0]
    return times, *solve(example, times, method=method, rtol=RTOL)


def near(value, expected, tolerance) -> bool:
    """Relative to the larger of one and the largest expected value."""
    return np.abs(np.asarray(value) - expected).max() <= tolerance * max(
        1.0, np.abs(expected).max()
    )


@pytest.mark.paper("001 10")
@pytest.mark.parametrize("method", load_system("bead_parabola").methods)
def test_bead_on_a_parabola(case, method):
    reference, example = case("bead_parabola"), load_system("bead_parabola")
    samples, tolerance = reference["expected"]["samples"], reference["tolerance"]
    times, q, xi = motion(example, samples, method)
    assert near(np.c_[q, xi], column(samples, "x1", "x2", "x1_rate"), tolerance["state"])
    lam = along(example, "multipliers", times, q, xi)
    assert near(lam, column(samples, "lambda"), tolerance["multiplier"])
    assert near(lam[:, 0] * np.hypot(1, 2 * q[:, 0]), column(samples, "normal_force")[:, 0],
                tolerance["multiplier"])
    assert near(along(example, example.constrained.system.energy, times, q, xi),
                reference["expected"]["energy"], tolerance["state"])
    period = reference["expected"]["period"]
    assert near(solve(example, (0, period), method=method, rtol=RTOL)[0][-1], q[0],
                tolerance["state"])


def test_the_motion_does_not_depend_on_the_dependent_coordinate():
    """x1 instead of x2 follows from the other (paper 001, section 10):
    it may, except at x1 = 0, where its pivot vanishes."""
    constrained = load_system("bead_parabola").constrained
    own, other = gibbs_appell(constrained, ("x1'",)), gibbs_appell(constrained, ("x2'",))
    for x in (-0.7, 0.2, 1.1):
        for part in ("acceleration", "multipliers"):
            one, two = (getattr(formed, part)(0, (x, x ** 2), speed, [],
                                              constrained.parameters).full()
                        for formed, speed in ((own, 0.8), (other, 1.6 * x)))
            assert near(two, one, 1e-12)
    q = constrained.system.q
    pivots = [np.abs(ca.Function("pivots", [q],
                                 [formed.frame.factors.pivots])((0.0, 0.0)).full()).min()
              for formed in (own, other)]
    assert pivots[0] > 0.1 and pivots[1] == 0


def test_projection_refuses_the_singular_rod():
    with pytest.raises(MechanicsError,
                       match="projection needs a regular system: the Hessian of L has rank 2 of 3"):
        load_system("bead_rod").equations("projection")


@pytest.mark.parametrize("method", load_system("bead_rod").methods)
def test_rod_along_either_axis(method):
    """Quarter turns, where cos or sin of the angle is zero: pivots that look good at t = 0 alone do
    not serve there."""
    example = load_system("bead_rod")
    m, omega = example.constrained.parameters
    equations = example.equations(method)
    for angle in (np.pi / 2, np.pi, 3 * np.pi / 2):
        q = 0.4 * np.array([np.cos(angle), np.sin(angle), 1])
        lam = equations.multipliers(angle / omega, q, 0.7, [], (m, omega)).full().ravel()
        lam = lam[np.argsort(equations.frame.kept)]
        assert near(lam, 2 * m * omega * 0.7 * np.array([-np.sin(angle), np.cos(angle)]), 1e-11)


@pytest.mark.paper("001 11")
@pytest.mark.parametrize("method", load_system("bead_rod").methods)
def test_bead_on_a_turning_rod(case, method):
    reference, example = case("bead_rod"), load_system("bead_rod")
    samples, tolerance = reference["expected"]["samples"], reference["tolerance"]
    times, q, xi = motion(example, samples, method)
    assert near(np.c_[q, xi], column(samples, "x", "y", "r", "r_rate"), tolerance["state"])
    assert near(along(example, "multipliers", times, q, xi), column(samples, "lambda1", "lambda2"),
                tolerance["multiplier"])
    energy = along(example, example.constrained.system.energy, times, q, xi)
    assert near(energy, column(samples, "energy"), tolerance["multiplier"])
    assert np.ptp(energy) > 1                          # it is not conserved


@pytest.mark.paper("002 5.1")
@pytest.mark.parametrize("part, parameters",
                         [("kepler", {"k": 1.3, "c": 0.0}), ("cubic_force", {"k": 0.0, "c": 2.0})])
def test_areal_velocity(case, part, parameters):
    reference = case("areal_velocity")
    example, samples, tolerance = (areal_velocity(**parameters), reference["expected"][part],
                                   reference["tolerance"]["state"])
    _, q, xi = motion(example, samples)
    assert near(np.c_[q, xi[:, 0]], column(samples, "r", "theta", "r_rate"), tolerance)
    assert near(xi[:, 1], reference["initial_state"]["w2"], tolerance)
    if part == "kepler":
        assert near(xi[:, 1] / q[:, 0] ** 2, column(samples, "theta_rate")[:, 0], tolerance)
        end = solve(example, (0, reference["expected"]["period"]), rtol=RTOL)[0][-1]
        assert near(end, q[0] + (0, 2 * np.pi), tolerance)
    assert all(check.error() <= check.tolerance for check in example.checks)


@pytest.mark.paper("002 5.2")
def test_rigid_body(case):
    reference, example = case("euler_poincare"), load_system("rigid_body")
    samples, tolerance = reference["expected"]["samples"], reference["tolerance"]["state"]
    times, q, w = motion(example, samples)
    assert near(w, column(samples, "omega_body"), tolerance)
    assert near([rotation(ca.DM(x)).full() for x in q], [sample["rotation"] for sample in samples],
                tolerance)
    assert near(2 * along(example, example.constrained.system.energy, times, q, w),
                reference["expected"]["twice_energy"], tolerance)
    assert near(solve(example, (0, reference["expected"]["period"]), rtol=RTOL)[1][-1], w[0],
                tolerance)


@pytest.mark.paper("002 6.1")
def test_charged_particle(case):
    reference, example = case("charged_particle"), load_system("charged_particle")
    samples, B = reference["expected"]["samples"], reference["parameters"]["B"]
    _, q, v = motion(example, samples)
    fibre = v[:, 3] - B / 2 * (q[:, 0] * v[:, 1] - q[:, 1] * v[:, 0])               # xi = e - A q'
    assert near(np.c_[q, v[:, :3], fibre], column(samples, "q", "v", "xi"),
                reference["tolerance"]["state"])
    assert near(v[:, 3], reference["initial_state"]["fibre_momentum"],
                reference["tolerance"]["state"])


@pytest.mark.paper("002 7.1", "002 (16)")
@pytest.mark.parametrize("method", load_system("nonholonomic_particle").methods)
def test_nonholonomic_particle(case, method):
    reference, example = case("nonholonomic_particle"), load_system("nonholonomic_particle")
    samples, tolerance = reference["expected"]["samples"], reference["tolerance"]
    times, q, xi = motion(example, samples, method)
    assert near(np.c_[q, xi], column(samples, "x", "y", "z", "xd", "yd"), tolerance["state"])
    assert near(along(example, "multipliers", times, q, xi), column(samples, "lambda"),
                tolerance["multiplier"])
    assert near(along(example, example.constrained.system.v[2], times, q, xi),
                column(samples, "zd"), tolerance["state"])


@pytest.mark.paper("002 7.2", "002 (17)")
def test_rolling_ball(case):
    reference, example = case("rolling_ball_gibbs_appell"), load_system("rolling_ball")
    samples, tolerance = reference["expected"]["samples"], reference["tolerance"]["state"]
    times, q, xi = motion(example, samples)
    assert near(np.c_[q, xi[:, :2]], column(samples, "x", "y", "vx", "vy"), tolerance)
    assert near(along(example, example.constrained.system.v[2:], times, q, xi),
                column(samples, "omega"), tolerance)
    assert near(along(example, "multipliers", times, q, xi),
                column(samples, "contact_force")[:, :2], tolerance)
    _, q, _ = motion(rolling_ball.with_attitude(), samples)
    assert near([rotation(ca.DM(x[2:])).full() for x in q],
                [sample["rotation"] for sample in samples], tolerance)


@pytest.mark.paper("002 change")
def test_right_invariant_fields_have_minus_the_structure_constants():
    """World components of the angular velocity on SO(3), by a change of basis:
    [e_3, e_4] = -e_5 and cyclic (paper 002, example 7.2)."""
    body = special_orthogonal()
    world = change_of_basis(body, rotation(body.q).T, ("wx", "wy", "wz"))
    found = ca.Function("structure", [body.q], [ca.densify(c) for c in world.structure])
    used = load_system("rolling_ball").constrained.system.algebroid.structure
    for q in np.random.default_rng(4).normal(size=(5, 4)):
        c = np.array([part.full() for part in found(q / np.linalg.norm(q))])
        assert np.abs(c + structure_constants("so(3)")).max() <= 1e-13
        assert np.abs(c - [ca.DM(part).full()[2:, 2:] for part in used[2:]]).max() <= 1e-13


@pytest.mark.paper("000 (3.4)")
def test_curvature_term(case):
    reference = case("marsden_curvature")
    errors = {check.what: check.error() for check in load_system("connection_curvature").checks}
    assert errors["(3.4) is (3.2)"] <= reference["tolerance"]["identity"]
    # dw(h_1, h_2) = -w([h_1, h_2]), so the bracket B_12 is the case's ratio of -1
    assert reference["expected"]["dw^b(X_1, X_2) / B^b_12"] == [-1.0, -1.0]
    assert (
        errors["curvature is the bracket of horizontal lifts"] <= reference["tolerance"]["identity"]
    )


def test_curvature_of_an_integrable_connection_is_zero():
    """s^a = const f_a(r): A = -s d(log f). Then the motion is that of L_c without a curvature
    term (paper 000, after eq. (3.5))."""
    q = ca.SX.sym("q", 4)
    logs = ca.vertcat(ca.sin(q[0]) + q[1] ** 2, q[0] * q[1])
    flat = -ca.diag(q[2:]) @ ca.jacobian(logs, q[:2])
    generic = connection_curvature.connection(q)
    values = ca.Function(
        "curvature",
        [q],
        [ca.vertcat(*connection_curvature.curvature(q, A)) for A in (flat, generic)],
    )
    for place in np.random.default_rng(3).normal(size=(5, 4)):
        zero, some = (value.full() for value in values(place))
        assert np.abs(zero).max() <= 1e-13
        assert np.abs(some).max() > 1e-2
