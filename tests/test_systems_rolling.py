"""Sleds, discs, carriages and balls of `nhmech.systems` against the reference cases,
and what theory says is not conserved."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nhmech.errors import MechanicsError
from nhmech.mechanics.writing import symbols
from nhmech.systems import (
    ball_on_turntable,
    capri_kobayashi,
    carriage,
    chaplygin_ball,
    chaplygin_sleigh,
    falling_disc,
    sled,
    torus_coin,
    unbalanced_ball,
    vertical_disk,
)
from nhmech.systems._checks import along, motion_at, wander
from nhmech.systems.example import METHODS, solve

FINE = 3e-14        # relative tolerance of the integration, as small as SciPy allows


def run(example, reference, q, xi, method="gibbs_appell"):
    """q, xi at the samples of a reference case; the samples' values by name."""
    samples = reference["expected"]["samples"]
    q, xi = solve(example, [sample["t"] for sample in samples], start={"q": q, "xi": xi},
                  method=method, rtol=FINE)
    return q, xi, lambda *names: np.array([[sample[name] for name in names] for sample in samples])


def at(example, expression, q, xi) -> np.ndarray:
    """An expression in (q, v, theta) at states (q, xi)."""
    return along(example, expression, np.zeros(len(q)), q, xi)


def strays(example, expression) -> float:
    return wander(example, expression, rtol=1e-8)


def close(found, wanted, tolerance: float):
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("fibration", ["x", "body"])
@pytest.mark.parametrize("method", METHODS)
def test_sled(case, fibration, method):
    reference = case("sled")
    made, tolerance, begin = (sled.example(fibration=fibration), reference["tolerance"],
                              reference["initial_state"])
    q, xi, wanted = run(made, reference, (0, 0, begin["phi"]),
                        (begin["xd"] if fibration == "x" else begin["speed"], begin["phid"]),
                        method)
    heading, phi = q[:, 2:], wanted("phi")
    speed = xi[:, :1] if fibration == "x" else xi[:, :1] * np.cos(heading)
    close(np.hstack([q, speed, speed * np.tan(heading)]), wanted("x", "y", "phi", "xd", "yd"),
          tolerance["state"])
    name = "lambda_paper" if fibration == "x" else "lateral_force"
    exact = wanted("xd") if fibration == "x" else np.full_like(phi, begin["speed"])
    lam = motion_at(made, phi * [[0, 0, 1]],
                    np.hstack([exact, np.full_like(exact, begin["phid"])]))[2]
    close(lam, wanted(name), tolerance["multiplier"])


def test_sled_fibration_is_named():
    with pytest.raises(MechanicsError, match="x, y, body"):
        sled.example(fibration="z")


def test_the_sled_starts_alike_over_each_fibration():
    """At one speed along its heading."""
    for fibration, across in (("x", np.tan), ("y", lambda phi: 1 / np.tan(phi))):
        made = sled.example(fibration=fibration)
        speed, turn = made.start["xi"]
        assert np.hypot(speed, across(made.start["q"][2]) * speed) == pytest.approx(1.5, rel=1e-12)
        assert (turn, made.start["q"]) == (0.7, (0.0, 0.0, 0.2))
    assert sled.example(fibration="body").start["xi"] == (1.5, 0.7)


def test_sled_over_y_is_the_sled_over_x():
    """Both fibrations from one state, where both serve: one motion, two multipliers of one
    force."""
    phi, turn, t = 0.4, 0.5, np.linspace(0, 1.5, 4)
    over_x, over_y = sled.example(m=1.7, J=0.6), sled.example(m=1.7, J=0.6, fibration="y")
    (q, xi), (p, eta) = (solve(made, t, start={"q": (0, 0, phi), "xi": (speed, turn)}, rtol=FINE)
                         for made, speed in ((over_x, 1.2 * np.cos(phi)),
                                             (over_y, 1.2 * np.sin(phi))))
    close(p, q, 1e-12)
    close(eta[:, 0], xi[:, 0] * np.tan(q[:, 2]), 1e-12)
    close(motion_at(over_y, p, eta)[2][:, 0], -np.tan(q[:, 2]) * motion_at(over_x, q, xi)[2][:, 0],
          1e-12)


def test_capri_kobayashi(case):
    reference = case("capri_kobayashi")
    numbers, begin = reference["parameters"], reference["initial_state"]
    made = capri_kobayashi.example(**numbers)
    place, speed = ([begin[n] for n in names]
                    for names in (("x2", "y2", "x3", "y3"), ("vx2", "vy2", "vx3", "vy3")))
    q, xi, wanted = run(made, reference, (0, 0, *place), speed)
    names = ("x1", "y1", "x2", "y2", "x3", "y3")
    system = made.constrained.system
    momenta = at(made, ca.gradient(system.lagrangian, system.v), q, xi)
    close(np.hstack([q, momenta[:, 2:]]), wanted(*names, "px2", "py2", "px3", "py3"),
          reference["tolerance"]["state"])
    close(momenta[:, :2], 0, 1e-15)
    close(at(made, system.energy, q, xi), wanted("H"), reference["tolerance"]["state"])
    for name, m in numbers.items():
        close(capri_kobayashi.frequencies(m), reference["expected"]["frequencies"][name], 1e-14)


def test_capri_kobayashi_is_refused_where_the_hessian_must_be_regular():
    made = capri_kobayashi.example()
    assert "projection" not in made.methods and "rank 4 of 6" in made.why_not
    with pytest.raises(MechanicsError, match="rank 4 of 6"):
        METHODS["projection"](made.constrained)


def test_vertical_disk(case):
    reference = case("vertical_disk")
    tolerance, begin = reference["tolerance"], reference["initial_state"]
    made = vertical_disk.example(**reference["parameters"])
    q, xi, wanted = run(made, reference, [begin[n] for n in ("x", "y", "theta1", "theta2")],
                        (begin["theta1_rate"], begin["theta2_rate"]))
    close(q, wanted("x", "y", "theta1", "theta2"), tolerance["state"])
    close(motion_at(made, q, xi)[2], wanted("multipliers")[:, 0], tolerance["multiplier"])
    close(at(made, made.constrained.system.energy, q, xi), reference["expected"]["energy"],
          tolerance["state"])


def test_carriage(case):
    reference = case("carriage")
    tolerance, expected = reference["tolerance"]["state"], reference["expected"]
    numbers = reference["parameters"]["paper"]
    made = carriage.example(**numbers)
    rates = [reference["initial_state"][n] for n in ("psi1_rate", "psi2_rate")]
    q, xi, wanted = run(made, reference, np.zeros(5), rates)
    a, r = numbers["a"], numbers["r"]
    speeds = np.stack([-a / 2 * xi.sum(axis=1), -a / (2 * r) * (xi[:, 0] - xi[:, 1])], axis=1)
    names = ("x", "y", "phi", "psi1", "psi2", "psi1_rate", "psi2_rate", "forward_speed", "yaw_rate")
    close(np.hstack([q, xi, speeds]), wanted(*names), tolerance)
    close(motion_at(made, q[:1], xi[:1])[1][0, 3:], expected["psi_acc_at_t0"], tolerance)
    close(at(made, made.constrained.system.energy, q, xi), expected["energy"], tolerance)
    m0, l = numbers["m0"], numbers["l"]
    close(carriage.form_coefficient(m0, l, a, r, rates),
          expected["reduced_2form_coefficient_dpsi1_dpsi2_at_t0"], tolerance)
    close(carriage.gyroscopic_force(m0, l, a, r, rates), expected["gyroscopic_force_at_t0"],
          tolerance)
    close(carriage.mass_matrix(numbers["m"], numbers["I"], numbers["C"], a, r),
          expected["mass_matrix"], tolerance)


@pytest.mark.parametrize("name", ["sleigh", "sleigh_reversing"])
def test_chaplygin_sleigh(case, name):
    reference = case(name)
    tolerance, begin = reference["tolerance"], reference["initial_state"]
    made = chaplygin_sleigh.example(**reference["parameters"], v0=begin["v"], w0=begin["omega"])
    q, xi, wanted = run(made, reference, (0, 0, 0), (begin["v"], begin["omega"]))
    close(np.hstack([q, xi]), wanted("x", "y", "phi", "v", "omega"), tolerance["state"])
    close(motion_at(made, q, xi)[2], wanted("blade_lateral_force"), tolerance["force"])
    close(at(made, made.constrained.system.energy, q, xi), reference["expected"]["energy"],
          tolerance["state"])
    q, xi = solve(made, [0, 60], rtol=FINE)
    close([xi[-1, 0], q[-1, 2]],
          [reference["expected"][n] for n in ("final_speed", "final_heading")], tolerance["state"])


def test_falling_disc(case):
    reference = case("disc_trajectory")
    tolerance, begin, numbers = (reference["tolerance"], reference["initial_state"],
                                 reference["parameters"])
    made = falling_disc.example(numbers["m"], numbers["r"], numbers["A_transverse"],
                                numbers["C_axial"])
    q, xi, wanted = run(made, reference, (0, 0, begin["yaw"], begin["lean"], begin["spin"]),
                        [begin[n] for n in ("u1", "u2", "u3")])
    lean, r = q[:, 3], numbers["r"]
    names = ("contact_x", "contact_y", "yaw", "lean", "spin", "lean_rate", "axial_omega", "u3",
             "yaw_rate")
    close(np.hstack([q, xi, (xi[:, 2] / np.cos(lean))[:, None]]), wanted(*names),
          tolerance["state"])
    close([made.shapes[0].pose(state)[:3, 3] for state in q], wanted("centre")[:, 0],
          tolerance["state"])
    _, rates, level = motion_at(made, q, xi)
    rise = -r * (np.sin(lean) * rates[:, 2] + np.cos(lean) * xi[:, 0] ** 2)
    force = np.column_stack([level, numbers["m"] * (numbers["g"] + rise)])
    close(force, wanted("contact_force_world")[:, 0], tolerance["force"])
    close(at(made, made.constrained.system.energy, q, xi), reference["expected"]["energy"],
          tolerance["state"])


def test_falling_disc_steady_motions_and_thresholds(case):
    reference = case("disc_steady")
    expected, tolerance, numbers = (reference["expected"], reference["tolerance"],
                                    reference["parameters"])
    m, r = numbers["m"], numbers["r"]
    disc = falling_disc.example(m, r, numbers["A_transverse"], numbers["C_axial"])
    hoop = falling_disc.example(m, r, m * r ** 2 / 2, m * r ** 2)
    for motion in expected["steady_motions"]:
        u2, u3 = motion["axial_omega"], motion["yaw_rate"] * np.cos(motion["lean"])
        rates = motion_at(disc, [(0, 0, 0.4, motion["lean"], 0.3)], [(0, u2, u3)])[1][0, 2:]
        assert (
            np.abs((numbers["A_transverse"] + m * r**2) * rates).max()
            <= tolerance["steady_residual"]
        )
        close(falling_disc.growth(disc, motion["lean"], 0, u2, u3),
              motion["nonzero_eigenvalue_squared"], tolerance["eigenvalues"])
    for speed, growth in expected["upright_roll_lambda_squared"].items():
        close(falling_disc.growth(disc, 0, 0, float(speed), 0), growth, tolerance["eigenvalues"])
    for made, name in ((disc, "disc"), (hoop, "hoop")):
        close(critical(made, lambda speed: (speed, 0)), expected[f"{name}_critical_roll_omega"],
              tolerance["thresholds"])
        close(critical(made, lambda speed: (0, speed)), expected[f"{name}_critical_vertical_spin"],
              tolerance["thresholds"])


@pytest.mark.parametrize("make", [falling_disc.example, torus_coin.example])
def test_a_disc_is_uniform_unless_its_moments_are_given(make):
    """m r^2 / 4 across the axle, m r^2 / 2 about it."""
    for given, expected in (({}, (0.12, 0.24)), ({"A": 0.5}, (0.5, 0.24)),
                            ({"C": 0.7}, (0.12, 0.7))):
        made = make(m=3.0, r=0.4, **given)
        found = dict(zip(made.constrained.system.theta_names, made.constrained.parameters))
        assert (found["A"], found["C"]) == pytest.approx(expected, rel=1e-13, abs=0)


def critical(made, speeds) -> float:
    """The speed at which the upright disc's squared growth rate, a quadratic in it, is zero."""
    at_rest, at_one = (falling_disc.growth(made, 0, 0, *speeds(speed)) for speed in (0, 1))
    return np.sqrt(at_rest / (at_rest - at_one))


def test_spaces_obey_the_structure_equations():
    for space in (falling_disc.space(), chaplygin_ball.ball_space(),
                  chaplygin_ball.ball_space(world=True)):
        space.check()


def test_chaplygin_ball(case):
    reference = case("chaplygin_ball")
    tolerance, begin, numbers = (reference[name]
                                 for name in ("tolerance", "initial_state", "parameters"))
    made = chaplygin_ball.example(numbers["m"], numbers["r"], numbers["I"])
    q, xi, wanted = run(made, reference, (0, 0, *Rotation.from_matrix(begin["rotation"]).as_quat()),
                        begin["omega_body"])
    rotation = Rotation.from_quat(q[:, 2:]).as_matrix()
    close(q[:, :2], wanted("x", "y"), tolerance["state"])
    close(rotation, wanted("rotation")[:, 0], tolerance["state"])
    close(xi, wanted("omega_body")[:, 0], tolerance["state"])
    close(np.einsum("nij,nj->ni", rotation, xi), wanted("omega_world")[:, 0], tolerance["state"])
    conserved, system = reference["expected"]["conserved"], made.constrained.system
    close(at(made, chaplygin_ball.momentum(symbols(system)), q, xi),
          np.tile(conserved["K_world"], (len(q), 1)), tolerance["conserved"])
    close(at(made, system.energy, q, xi), conserved["energy"], tolerance["conserved"])
    force = np.column_stack([motion_at(made, q, xi)[2],
                             np.full(len(q), numbers["m"] * numbers["g"])])
    close(force, wanted("contact_force")[:, 0], tolerance["force"])


@pytest.mark.parametrize("name", ["ball_turntable", "ball_turntable_shell"])
def test_ball_on_turntable(case, name):
    reference = case(name)
    tolerance, begin = reference["tolerance"], reference["initial_state"]
    numbers = dict(reference["parameters"])
    g = numbers.pop("g")
    made = ball_on_turntable.example(**numbers)
    q, xi, wanted = run(made, reference, (begin["x"], begin["y"], 0, 0, 0, 1), begin["omega"])
    system = made.constrained.system
    rotation = Rotation.from_quat(q[:, 2:]).as_matrix()
    close(np.hstack([q[:, :2], at(made, system.v[:2], q, xi)]), wanted("x", "y", "vx", "vy"),
          tolerance["state"])
    close(rotation, wanted("rotation")[:, 0], tolerance["state"])
    close(xi, wanted("omega")[:, 0], tolerance["state"])
    force = np.column_stack([motion_at(made, q, xi)[2],
                             np.full(len(q), numbers["m"] * g * np.cos(numbers["tilt"]))])
    close(force, wanted("contact_force")[:, 0], tolerance["force"])
    close(at(made, system.energy, q, xi), wanted("kinetic_energy"), tolerance["state"])
    close(at(made, ball_on_turntable.moving_energy(symbols(system)), q, xi),
          wanted("moving_energy"), tolerance["state"])


def test_what_is_not_conserved():
    """Over 100 s. A symmetry gives no conserved momentum where its generator leaves the
    constraints, an affine constraint works."""
    ball = unbalanced_ball.example(I=(0.0031, 0.0027, 0.0024))
    s = symbols(ball.constrained.system)
    assert strays(ball, unbalanced_ball.jellett(s)) > 1e-3, (
        "Jellett's integral needs a body of revolution"
    )
    assert strays(ball, unbalanced_ball.routh(s)) > 1e-3, "so does Routh's"
    table = ball_on_turntable.example()
    assert strays(table, table.constrained.system.energy) > 0.1, "the table works on the ball"
    slope = ball_on_turntable.example(tilt=0.002)
    moving = ball_on_turntable.moving_energy(symbols(slope.constrained.system))
    assert strays(slope, moving) > 0.1, "a slope does not turn with the table"
    sleigh = chaplygin_sleigh.example()
    s = symbols(sleigh.constrained.system)
    assert strays(sleigh,
                  s.v.yaw_rate * (s.p.I
                                  + s.p.m * s.p.a ** 2)) > 0.9, "the sleigh's turning dies out"
    disc = falling_disc.example()
    s = symbols(disc.constrained.system)
    vertical = s.p.A * s.v.u3 * ca.cos(s.q.lean) + s.p.C * s.v.u2 * ca.sin(s.q.lean)
    assert strays(disc, vertical) > 0.1, "the ground turns the disc about the vertical"
    chaplygin = chaplygin_ball.example()
    s = symbols(chaplygin.constrained.system)
    inner = chaplygin_ball.body_rotation(s) @ (
        ca.vertcat(s.p.I1, s.p.I2, s.p.I3) * chaplygin_ball.spin(s)
    )
    assert strays(chaplygin, inner) > 0.1, (
        "the angular momentum about the contact is constant, not about the middle"
    )
