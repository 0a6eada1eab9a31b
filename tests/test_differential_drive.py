"""The differential drive against its two-degree-of-freedom equations.

About the middle M of the axle, with forward speed V and yaw rate W: the chassis (m, centre of mass
d ahead of M) has linear momentum m V forward and m d W to the left, each wheel m_w (V -+ b W)
forward. The wheels turn at (V -+ b W) / R. With E = T the Lagrangian equations with the one
constraint 'M does not move sideways' are

    (m + 2 m_w + 2 I_w / R^2) V' =  m d W^2 + (tau_l + tau_r) / R
    (I + m d^2 + 2 m_w b^2 + 2 I_d + 2 I_w b^2 / R^2) W' = -m d V W + b (tau_r - tau_l) / R
"""

from __future__ import annotations

import numpy as np
import pytest
from runs import angle, moment, rate, residuals, yaw
from scipy.integrate import solve_ivp

import nhmech
from nhmech.vehicle.reactions import reactions

M, D, I, M_W, I_W, I_D, R, B, GRAVITY = 8.0, 0.06, 0.2, 0.7, 0.0035, 0.002, 0.1, 0.22, 9.81
H, X_CASTER = 0.05, 0.25
M_EFF = M + 2 * M_W + 2 * I_W / R ** 2
J_EFF = I + M * D ** 2 + 2 * M_W * B ** 2 + 2 * I_D + 2 * I_W * B ** 2 / R ** 2
LEFT, RIGHT = "left_wheel_joint", "right_wheel_joint"


def closed_form(start, torques, times: np.ndarray) -> np.ndarray:
    """x, y, yaw, V, W and both wheel angles at `times`, (7, N)."""
    def slope(t, s):
        left, right = torques
        V, W = s[3], s[4]
        return [V * np.cos(s[2]), V * np.sin(s[2]), W,
                (M * D * W ** 2 + (left + right) / R) / M_EFF,
                (B * (right - left) / R - M * D * V * W) / J_EFF, (V - B * W) / R, (V + B * W) / R]

    solution = solve_ivp(slope, (0, times[-1]), start, method="DOP853", t_eval=times, rtol=1e-13,
                         atol=1e-14)
    assert solution.success
    return solution.y


def wheel_rates(V: float, W: float) -> dict[str, float]:
    return {LEFT: (V - B * W) / R, RIGHT: (V + B * W) / R}


@pytest.mark.parametrize("integrator, dt", [("rk4", 1e-3), ("dop853", 5e-2)])
@pytest.mark.parametrize("torques, V, W", [((0.05, 0.08), 0.3, -0.5), ((-0.04, 0.09), 0.0, 0.0)])
def test_unequal_torques_for_ten_seconds(vehicle, torques, V, W, integrator, dt):
    robot = vehicle("differential_drive")
    simulator = nhmech.Simulator(robot, lambda t,
                                 state: nhmech.JointTorque(dict(zip((LEFT, RIGHT), torques))),
                                 dt=dt, integrator=integrator)
    simulator.reset((0.5, -1.0, 0.4), xi=wheel_rates(V, W))
    run = simulator.run(10.0, every=max(1, round(0.05 / dt)))
    reference = closed_form([0.5, -1.0, 0.4, V, W, 0.0, 0.0], torques, run.t)
    found = np.array([run.q[:, 0], run.q[:, 1], yaw(run), rate(run, "forward_speed"),
                      rate(run, "yaw_rate"), angle(run, LEFT), angle(run, RIGHT)])
    assert np.hypot(*(found - reference)[:2]).max() <= 1e-9
    np.testing.assert_allclose(found, reference, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(run.q[:, 2], R, rtol=0, atol=1e-12)
    work = torques[0] * angle(run, LEFT) + torques[1] * angle(run, RIGHT)
    np.testing.assert_allclose(run.energy - run.energy[0], work, rtol=0,
                               atol=1e-9 * np.abs(run.energy).max())
    slip, height = residuals(robot, run)
    assert slip[1:].max() <= 1e-12 and height.max() <= 1e-12


def test_coasting_approaches_straight_running(vehicle):
    """V = Vf tanh(k t + c), W = W0 sech(k t + c): mass ahead of the axle straightens the path."""
    robot, V, W = vehicle("differential_drive"), 0.6, 1.8
    Vf = np.sqrt(V ** 2 + J_EFF / M_EFF * W ** 2)
    k, c = M * D * Vf / J_EFF, np.arctanh(V / Vf)
    simulator = nhmech.Simulator(robot, dt=1e-3)
    simulator.reset(xi=wheel_rates(V, W))
    run = simulator.run(8.0, every=20)
    np.testing.assert_allclose(rate(run, "forward_speed"), Vf * np.tanh(k * run.t + c), rtol=0,
                               atol=1e-11)
    np.testing.assert_allclose(rate(run, "yaw_rate"), W * np.cosh(c) / np.cosh(k * run.t + c),
                               rtol=0, atol=1e-11)


def ground_forces(V: float, W: float, left: float, right: float) -> dict[str, float]:
    """Newton and Euler of the whole robot: longitudinal F = (tau - I_w alpha) / R,
    normals from the moments about the contacts."""
    a, alpha = (M * D * W ** 2
                + (left + right) / R) / M_EFF, (B * (right - left) / R - M * D * V * W) / J_EFF
    spin = {"left": (a - B * alpha) / R, "right": (a + B * alpha) / R}
    forces = {"longitudinal_left": (left - I_W * spin["left"]) / R,
              "longitudinal_right": (right - I_W * spin["right"]) / R,
              "lateral_total": (M + 2 * M_W) * V * W + M * D * alpha}
    # of the chassis' centre of mass, R + H above the ground
    ahead, sideways = a - D * W ** 2, V * W + D * alpha
    # moment about the line between the wheel contacts, pitching forward positive, and about the
    # line of travel below M
    pitching = M * GRAVITY * D - M * ahead * (R + H) - 2 * M_W * a * R - 2 * I_W * a / R
    rolling = M * sideways * (R + H) + 2 * M_W * V * W * R + 2 * I_W * (V / R) * W
    forces["normal_caster"] = pitching / X_CASTER
    total = (M + 2 * M_W) * GRAVITY - forces["normal_caster"]
    forces["normal_left"], forces["normal_right"] = (total / 2 - rolling / (2 * B),
                                                     total / 2 + rolling / (2 * B))
    return forces


def found_forces(robot, t, q, v, u) -> dict[str, float]:
    ground = reactions(robot, t, q, v, u)
    assert ground.feasible and set(ground.undetermined) == {f"{LEFT}/lateral", f"{RIGHT}/lateral"}
    by = ground.components
    return {"longitudinal_left": by[LEFT]["longitudinal"],
            "longitudinal_right": by[RIGHT]["longitudinal"],
            "lateral_total": by[LEFT]["lateral"] + by[RIGHT]["lateral"],
            "normal_left": by[LEFT]["normal"],
            "normal_right": by[RIGHT]["normal"], "normal_caster": by["caster_link"]["normal"]}


@pytest.mark.parametrize("seed", range(5))
def test_ground_forces_by_newton_and_euler(vehicle, seed):
    robot, rng = vehicle("differential_drive"), np.random.default_rng(seed)
    V, W, torques = *rng.normal(size=2), 0.3 * rng.normal(size=2)
    state = nhmech.Simulator(robot).reset((*rng.normal(size=2), 0.7),
                                          joints={LEFT: 0.3, RIGHT: -2.0}, xi=wheel_rates(V, W))
    found, wanted = found_forces(robot, 0.0, state.q, state.v,
                                 torques), ground_forces(V, W, *torques)
    for name, value in wanted.items():
        assert found[name] == pytest.approx(value, abs=1e-9 * M * GRAVITY), name


def test_coasting_of_the_reference_case(vehicle, case):
    reference, robot = case("diffdrive_coast"), vehicle("differential_drive")
    state, force = reference["tolerance"]["state"], reference["tolerance"]["force"]
    start = reference["initial_state"]
    published = reference["expected"]["Me"], reference["expected"]["Je"]
    assert pytest.approx(published, rel=1e-14) == (M_EFF, J_EFF)
    simulator = nhmech.Simulator(robot, dt=5e-4)
    simulator.reset((start["x"], start["y"], start["yaw"]),
                    xi=wheel_rates(start["v"], start["yaw_rate"]))
    run = simulator.run(4.0, every=100)
    heading, rest = yaw(run), (M * (R + H) + 2 * M_W * R) * GRAVITY
    for sample in reference["expected"]["samples"]:
        i = moment(run, sample["t"])
        dv = robot.equations.acceleration(run.t[i], run.q[i], run.xi[i], run.u[i],
                                            robot.theta).full().ravel()
        found = [*run.q[i, :2], heading[i], rate(run, "forward_speed")[i], rate(run, "yaw_rate")[i],
                 angle(run, LEFT)[i], angle(run, RIGHT)[i], dv[0], dv[5], run.energy[i] - rest]
        wanted = [sample[name] for name in ("x", "y", "yaw", "v", "yaw_rate", "wheel_left",
                                            "wheel_right", "v_dot",
                                            "yaw_acc", "energy_without_gravity")]
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=state,
                                   err_msg=f"state at t = {sample['t']}")
        for name, value in found_forces(robot, run.t[i], run.q[i], run.v[i], run.u[i]).items():
            assert value == pytest.approx(sample[name], abs=force), f"{name} at t = {sample['t']}"


@pytest.mark.parametrize("which, wrong", [
    ("q", np.zeros(3)), ("v", np.zeros(30)), ("u", [0.5]), ("u", [0.5, np.nan])])
def test_reactions_of_vectors_of_another_length_are_refused(vehicle, which, wrong):
    robot = vehicle("differential_drive")
    space = robot.algebroid
    state = {"q": robot.configuration(), "v": np.zeros(space.nv), "u": np.zeros(2), which: wrong}
    with pytest.raises(nhmech.InputError, match=f"^{which} = .* finite numbers"):
        reactions(robot, 0.0, **state)
