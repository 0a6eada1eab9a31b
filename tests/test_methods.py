"""Every shipped vehicle at random states: two methods, two libraries, and the identities that
mechanics owes us."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support import (
    VARIED,
    joint,
    link,
    moved,
    random_states,
    robot,
    sampled,
    shipped,
    velocity,
)

import nhmech
from nhmech.vehicle.reactions import solve_saddle

every_vehicle = pytest.mark.parametrize("name", VARIED)
STATES = 8


def relative(value, reference, size=None) -> float:
    """Largest deviation over the largest entry of the reference, or of another vector whose terms
    cancel in it."""
    reference = np.asarray(reference)
    size = np.abs(reference if size is None else size).max(initial=0.0)
    return float(np.abs(np.asarray(value) - reference).max(initial=0.0) / max(size, 1e-300))


@every_vehicle
def test_gibbs_appell_agrees_with_multipliers(name):
    """Symbolic elimination of the constraints against the saddle system on Pinocchio's `crba` and
    `nle`."""
    for vehicle, q, xi, u in random_states(shipped(name), STATES, seed=1):
        equations = vehicle.equations
        v = velocity(vehicle, 0.0, q, xi)
        reference = solve_saddle(vehicle, 0.0, q, v, u)
        dv = equations.acceleration(0.0, q, xi, u, vehicle.theta).full().ravel()
        assert relative(dv, reference.acceleration) <= 1e-10
        assert relative(equations.multipliers(0.0, q, xi, u, vehicle.theta).full().ravel(),
                        reference.lam) <= 1e-10
        q_rate, xi_rate = equations.drift(0.0, q, xi, u, vehicle.theta)
        wanted = reference.acceleration[list(vehicle.frame.speeds)]
        assert relative(xi_rate.full().ravel(), wanted, reference.acceleration) <= 1e-10
        step = 1e-6
        ends = [pin.integrate(vehicle.model, q, s * step * v) for s in (1, -1)]
        assert q_rate.full().ravel() == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-8,
                                                      abs=1e-7)


@every_vehicle
def test_the_frame_solves_all_rows_dropped_ones_too(name):
    """A E = 0 and A v + b = 0, scaled by the motion; every row is in the span of those that were
    kept."""
    for vehicle, q, xi, _ in random_states(shipped(name), STATES, seed=2):
        s, frame = vehicle.constrained.system, vehicle.frame
        E = ca.Function("E", [s.t, s.q, s.theta], frame.constrained.system.expand(frame.E))(
            0.0, q, vehicle.theta).full()
        A = vehicle.functions.constraints(0.0, q, vehicle.theta)[0].full()
        assert np.abs(A @ E).max() <= 1e-12 * max(1.0, np.abs(E).max())
        assert np.linalg.matrix_rank(A, tol=1e-9) == len(frame.kept) == vehicle.model.nv - frame.nxi
        v = velocity(vehicle, 0.0, q, xi)
        rows, phi = vehicle.constraint_error(0.0, q, v)
        assert np.abs(rows).max() <= 1e-12 * np.abs(v).max()
        assert np.abs(phi).max() <= 1e-12
        assert v[list(frame.speeds)] == pytest.approx(xi, rel=1e-12, abs=0)


@every_vehicle
def test_energy_is_pinocchios(name):
    vehicle = shipped(name)
    model, rng = vehicle.model, np.random.default_rng(3)
    data = model.createData()
    for _ in range(STATES):
        q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
        v = rng.normal(size=model.nv)
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        kinetic, potential = v @ M @ v / 2, pin.computePotentialEnergy(model, data, q)
        assert vehicle.energy(0.0, q, v) - vehicle.energy(0.0, q, 0 * v) == pytest.approx(
            kinetic, rel=1e-11
        )
        assert vehicle.energy(0.0, q, 0 * v) == pytest.approx(potential, rel=1e-11, abs=1e-11)


def gradient_error(vehicle, seed: int) -> float:
    """dS/da against M a + nle of Pinocchio at random (q, v, a), on and off the constraints."""
    s, model, rng = vehicle.constrained.system, vehicle.model, np.random.default_rng(seed)
    gradient = ca.Function("gradient", [s.t, s.q, s.v, s.a, s.theta], [ca.gradient(s.gibbs, s.a)])
    data, worst = model.createData(), 0.0
    for _ in range(STATES):
        q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
        v, a = rng.normal(size=(2, model.nv)) * 3
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        worst = max(worst, relative(gradient(0.0, q, v, a, vehicle.theta).full().ravel(),
                                    M @ a + pin.nonLinearEffects(model, data, q, v)))
    return worst


@every_vehicle
def test_gradient_of_the_gibbs_function_is_pinocchios_inverse_dynamics(name):
    assert gradient_error(shipped(name), 4) <= 1e-10


def test_gradient_with_payload_rotors_and_a_wheel_out_of_balance():
    """An off-centre wheel cannot be seen from a frame that does not spin with it;
    its angle must come back into the equations."""
    vehicle = shipped("carriage").with_parameters(
        {"payload.mass": 2.0, "payload.x": 0.1, "payload.y": -0.2, "payload.z": 0.3,
         "left_wheel_joint.rotor_inertia": 1e-4, "left_wheel_joint.gear_ratio": 30.0}
    )
    assert gradient_error(vehicle, 5) <= 1e-10
    text = nhmech.urdf_path("carriage").read_text()
    whole = nhmech.load(text)
    link = next(w.link for w in whole.description.wheels if w.name == "left_wheel_joint")
    unbalanced = whole.with_parameters({f"{link}.com_x": 0.03, f"{link}.com_z": 0.01,
                                        f"{link}.Ixz": 1e-3})
    assert gradient_error(unbalanced, 6) <= 1e-10


@pytest.mark.parametrize("rpy", [(0.4, 0, 0), (0, 0, 0.5), (0.4, -0.3, 0.5)],
                         ids=["camber", "toe", "both"])
def test_gradient_with_a_wheel_whose_axle_leans(rpy):
    """Its inertia, axial and across, is turned into the frame of what carries it."""
    text = robot(link("base", 7.0, (0.3, 0.4, 0.5)), link("wheel", 1.5, (0.02, 0.07, 0.02)),
                 joint("wheel_joint", "base", "wheel", (0.1, 0.2, 0), rpy),
                 *(f'<link name="{name}"/>' for name in ("left", "right")),
                 joint("left_mount", "base", "left", (0.4, 0.3, -0.2), kind="fixed"),
                 joint("right_mount", "base", "right", (0.4, -0.3, -0.2), kind="fixed"))
    balls = [nhmech.Wheel(None, "caster_ball", 0.05, link=name) for name in ("left", "right")]
    vehicle = nhmech.load(text, wheels=[nhmech.Wheel("wheel_joint", "disc", 0.25), *balls])
    assert vehicle.equations.frame.nxi == 2
    assert gradient_error(vehicle, 9) <= 1e-10


@every_vehicle
def test_power_is_the_rate_of_energy(name):
    """dE/dt = tau . v on ground at rest: ideal rolling does no work."""
    for vehicle, q, xi, u in random_states(shipped(name), STATES, seed=7):
        rate, power = power_balance(vehicle, 0.0, q, xi, u)
        assert abs(rate - power) <= 1e-10 * flow(vehicle, q, xi, u)


def power_balance(vehicle, t, q, xi, u) -> tuple[float, float]:
    """dE/dt along the drift by automatic differentiation; tau . v [W]."""
    s, equations = vehicle.constrained.system, vehicle.equations
    x = ca.SX.sym("xi", vehicle.frame.nxi)
    v = equations.velocity(s.t, s.q, x, s.theta)
    energy = ca.substitute(s.energy, s.v, v)
    q_rate, xi_rate = equations.drift(s.t, s.q, x, s.u, s.theta)
    rate = (
        ca.jtimes(energy, s.q, q_rate)
        + ca.jtimes(energy, x, xi_rate)
        + ca.jtimes(energy, s.t, ca.SX(1))
    )
    power = ca.dot(ca.substitute(s.force, s.v, v), v)
    evaluate = ca.Function("power", [s.t, s.q, x, s.u, s.theta], [rate, power])
    values = evaluate(t, q, xi, u, vehicle.theta)
    return tuple(float(value) for value in values)


def flow(vehicle, q, xi, u) -> float:
    """Size of the powers that have to cancel [W]: inertial and gravity forces times speeds."""
    v = velocity(vehicle, 0.0, q, xi)
    a = vehicle.equations.acceleration(0.0, q, xi, u, vehicle.theta).full().ravel()
    return float(np.abs(pin.rnea(vehicle.model, vehicle.model.createData(), q, v,
                                 a)) @ np.abs(v)) + 1.0


@every_vehicle
def test_plane_symmetry(name):
    """Where a vehicle stands on level ground and where it heads changes nothing in dv/dt
    (d xi/dt is part of it) and lambda."""
    rng = np.random.default_rng(9)
    for vehicle, q, xi, u in random_states(shipped(name), STATES, seed=9):
        there = moved(q, *rng.normal(size=2) * 5, rng.uniform(-np.pi, np.pi))
        for former in (vehicle.equations.acceleration, vehicle.equations.multipliers):
            here, elsewhere = (former(0.0, p, xi, u,
                                      vehicle.theta).full().ravel() for p in (q, there))
            assert relative(elsewhere, here) <= 1e-11


@pytest.mark.parametrize("name", ["ball", "carriage", "bicycle"])
def test_plane_symmetry_of_a_turntable_is_about_its_axis(name):
    """Turning about the table's axis is a symmetry, turning about another point is not,
    for the affine rows know where they are."""
    ground = nhmech.Ground(point=(0.3, -0.2, 0.0), angular_velocity=(0, 0, 1.5))
    for vehicle, q, xi, u in random_states(shipped(name, ground), 4, seed=10):
        turned, shifted = moved(q, 0, 0, 1.1, about=ground.point), moved(q, 0.5, 0.2, 0.0)
        here, there, off = (
            vehicle.equations.acceleration(0.0, p, xi, u, vehicle.theta).full().ravel()
            for p in (q, turned, shifted)
        )
        assert relative(there, here) <= 1e-11
        assert relative(off, here) > 1e-6


OTHER_SPEEDS = {
    "ackermann_car": ("front_left_steering_joint", "forward_speed"),
    "ball": ("forward_speed", "lateral_speed", "yaw_rate"),
    "bicycle": ("roll_rate", "steering_joint", "forward_speed"),
    "carriage": ("forward_speed", "yaw_rate"),
    "differential_drive": ("yaw_rate", "right_wheel_joint"),
    "disc": ("roll_rate", "yaw_rate", "forward_speed"),
    "mecanum": ("forward_speed", "lateral_speed", "yaw_rate"),
    "omni": ("forward_speed", "lateral_speed", "yaw_rate"),
    "pendulum": ("forward_speed", "yaw_rate", "pitch_rate"),
    "rover": ("rear_right_steering_joint", "front_right_wheel_joint"),
    "swerve": ("front_left_steering_joint", "rear_right_steering_joint", "front_right_wheel_joint"),
    "tricycle": ("steering_joint", "forward_speed"),
}


@pytest.mark.parametrize("name", sampled(OTHER_SPEEDS, 6))
def test_the_flow_does_not_depend_on_the_speeds(name):
    """The same q, v, u give the same dv/dt in other coordinates of the distribution."""
    vehicle, other = shipped(name), shipped(name, speeds=OTHER_SPEEDS[name])
    assert other.speeds == OTHER_SPEEDS[name]
    index = list(other.frame.speeds)
    compared = 0
    for chosen, q, xi, u in random_states(vehicle, STATES, seed=12):
        v = velocity(chosen, 0.0, q, xi)
        again = velocity(other, 0.0, q, v[index])
        if not np.all(np.isfinite(again)) or relative(again, v) > 1e-11:
            # the other speeds do not determine the motion here
            continue
        a = chosen.equations.acceleration(0.0, q, xi, u, chosen.theta).full().ravel()
        assert (
            relative(other.equations.acceleration(0.0, q, v[index], u, other.theta).full().ravel(),
                     a)
            <= 1e-10
        )
        compared += 1
    assert compared >= STATES // 2
