"""The benchmark bicycle: linear and nonlinear, against published numbers.

The robot steers positively to the left, the published bicycles to the right.
Both count roll to the right and pitch forward positive.
"""

from __future__ import annotations

import numpy as np
import pytest
from runs import angle, attitude, moment, rate, residuals, rotation, yaw

import nhmech
from nhmech.analysis.linearise import linearise
from nhmech.vehicle.reactions import reactions

REAR, FRONT, STEER = "rear_wheel_joint", "front_wheel_joint", "steering_joint"
GRAVITY, R_REAR = 9.81, 0.3

# Meijaard, Papadopoulos, Ruina, Schwab, Proc. R. Soc. A 463 (2007) 1955, section 5.3:
# M x'' + v C1 x' + (g K0 + v^2 K2) x = 0, x = (roll, steer)
MASS = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
C1 = np.array([[0, 33.86641391492494], [-0.85035641456978, 1.6854039739756]])
K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
K2 = np.array([[0, 76.59734589573222], [0, 2.65431523794604]])

# Basu-Mandal, Chatterjee, Papadopoulos, Proc. R. Soc. A 463 (2007) 1983, table 1, in axes x
# forward, y left, z up;
# steering to the left
STATE = dict(roll=0.6206670416476966, pitch=-0.015885352100393237, steer=0.2311385135743,
             z=0.2440472102925, velocity=(2.8069345714545, 0.1480982396001, 0.1058778746261),
             omega=(-0.6068425835418, -0.009695631877471729, 0.7760717855311132),
             rear=8.912989661489, steering=0.4859824687093, front=8.0133620584155)
PUBLISHED = dict(xdd=-0.5041626315047, ydd=-0.3449706619454, zdd=-1.460452833298,
                 thetadd=0.8353281706379,
                 psidd=-7.8555281128244, phidd=0.1205543897884, psifdd=-4.6198904039403,
                 betardd=1.8472554144217, betafdd=2.454807290455)
THETAD, PSID, PHID = 0.7830033527065, 0.6068425835418, -0.0119185528069


def by_value(values) -> np.ndarray:
    """Sorted by real part, then by imaginary part; real parts of a pair are compared to nine
    digits."""
    values = np.asarray(values, dtype=complex)
    return values[np.lexsort((values.imag, np.round(values.real, 6)))]


def straight(bicycle, v: float):
    """Linearisation about straight running at v [m/s]."""
    q = bicycle.configuration((0.4, 0.2, 0.9))
    state = nhmech.Simulator(bicycle).reset(q=q,
                                            xi={REAR: v / R_REAR, STEER: 0.0, "roll_rate": 0.0})
    assert state.xi["forward_speed"] == pytest.approx(v, abs=1e-14)
    return linearise(bicycle, q, np.array(state.xi))


@pytest.mark.parametrize("v", [0, 0.5, 1, 2, 3, 4, 4.292382536341104, 5, 6, 6.024262015388359, 7, 8,
                               9, 10])
def test_eigenvalues_are_those_of_the_published_matrices(vehicle, v):
    linear = straight(vehicle("bicycle"), v)
    assert np.abs(linear.drift).max() < 1e-11
    assert linear.names == ("roll", STEER, f"{STEER}'", REAR, "roll_rate")
    inverse = np.linalg.inv(MASS)
    wanted = np.linalg.eigvals(
        np.block(
            [[np.zeros((2, 2)), np.eye(2)],
             [-inverse @ (GRAVITY * K0 + v**2 * K2), -inverse @ (v * C1)]]
        )
    )
    np.testing.assert_allclose(by_value(linear.eigenvalues), by_value([*wanted, 0]), rtol=1e-9,
                               atol=1e-9)


def test_eigenvalues_of_the_reference_case(vehicle, case):
    for v, pairs in case("whipple_linear")["expected"]["eigenvalues_re_im_by_speed"].items():
        wanted = [complex(*pair) for pair in pairs]
        np.testing.assert_allclose(by_value(straight(vehicle("bicycle"), float(v)).eigenvalues),
                                   by_value([*wanted, 0]),
                                   rtol=1e-9, atol=1e-9, err_msg=f"v = {v} m/s")


@pytest.mark.parametrize("v", [0.0, 3.0, 7.5])
def test_the_linear_equations_themselves_are_the_published_ones(vehicle, v):
    """Roll and steer accelerations per roll, steer and their rates, with the sign of the steering
    turned."""
    bicycle = vehicle("bicycle")
    linear = straight(bicycle, v)
    order = [linear.names.index(name) for name in ("roll", STEER, "roll_rate", f"{STEER}'")]
    turned = np.diag([1, -1, 1, -1])
    found = (turned @ linear.A[np.ix_(order, order)] @ turned)[2:]
    inverse = np.linalg.inv(MASS)
    wanted = np.hstack([-inverse @ (GRAVITY * K0 + v ** 2 * K2), -inverse @ (v * C1)])
    # `roll_rate` is a body rate, along an axis that heads with the frame:
    # at first order it is the rate of the roll angle
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())


def nonlinear(bicycle):
    """q and xi of Basu-Mandal's state."""
    q = bicycle.configuration((0.0, 0.0, STATE["z"], STATE["roll"], STATE["pitch"], 0.0),
                              {STEER: STATE["steer"]})
    state = nhmech.Simulator(bicycle).reset(
        q=q,
        xi={REAR: STATE["rear"], STEER: STATE["steering"],
            "roll_rate": rotation(q)[:, 0] @ STATE["omega"]},
    )
    return q, np.array(state.xi), state.v


def test_the_published_state_satisfies_the_constraints(vehicle):
    bicycle = vehicle("bicycle")
    q, _, v = nonlinear(bicycle)
    assert attitude(q) == pytest.approx((0.0, STATE["roll"], STATE["pitch"]), abs=1e-12)
    assert q[2] == pytest.approx(STATE["z"], abs=1e-12)
    R = rotation(q)
    np.testing.assert_allclose(R @ v[:3], STATE["velocity"], rtol=0, atol=2e-12)
    np.testing.assert_allclose(R @ v[3:6], STATE["omega"], rtol=0, atol=2e-12)
    assert v[bicycle.algebroid.v_names.index(FRONT)] == pytest.approx(STATE["front"], abs=2e-12)


def test_accelerations_of_basu_mandal(vehicle):
    """3-1-3 angles theta, psi, phi of a frame that faces -x: omega = theta' z + psi' e + phi' k,
    with e = -(cos theta, sin theta, 0) forward and k the frame's axis to the left; psi = pi/2 -
    roll."""
    bicycle = vehicle("bicycle")
    q, xi, v = nonlinear(bicycle)
    dv = bicycle.equations.acceleration(0, q, xi, [0, 0], []).full().ravel()
    R, joints = rotation(q), dict(zip(bicycle.algebroid.v_names, dv))
    linear, angular = R @ (dv[:3] + np.cross(v[3:6], v[:3])), R @ dv[3:6]
    # angular acceleration: rates of the three axes z (fixed), e (turns about z) and k (turns about
    # z and e)
    z, e, k = np.eye(3)[2], np.array([-1.0, 0, 0]), R[:, 1]
    turning = THETAD * z
    rest = PSID * np.cross(turning, e) + PHID * np.cross(turning + PSID * e, k)
    np.testing.assert_allclose(THETAD * z + PSID * e + PHID * k, R @ v[3:6], rtol=0, atol=2e-12)
    theta, psi, phi = np.linalg.solve(np.column_stack([z, e, k]), angular - rest)
    found = dict(xdd=-linear[0], ydd=-linear[1], zdd=linear[2], thetadd=theta, psidd=psi, phidd=phi,
                 psifdd=joints[STEER], betardd=joints[REAR], betafdd=joints[FRONT])
    for name, value in PUBLISHED.items():
        assert found[name] == pytest.approx(value, abs=2e-12), name


def test_accelerations_and_contact_forces_of_the_reference_case(vehicle, case):
    reference, bicycle = case("whipple_basu_mandal"), vehicle("bicycle")
    expected, tolerance = reference["expected"], reference["tolerance"]
    q, xi, v = nonlinear(bicycle)
    dv = bicycle.equations.acceleration(0, q, xi, [0, 0], []).full().ravel()
    R, joints, frame = rotation(q), dict(zip(bicycle.algebroid.v_names,
                                             dv)), expected["in_z_up_frame"]
    found = [*(R @ (dv[:3] + np.cross(v[3:6], v[:3]))), *(R @ dv[3:6]),
             joints[REAR], -joints[STEER], joints[FRONT]]
    wanted = [*frame["rear_centre_acc"], *frame["omega_dot_world"], frame["rear_spin_acc"],
              frame["steer_acc"], frame["front_spin_acc"]]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance["accelerations"])
    ground = reactions(bicycle, 0.0, q, v, np.zeros(2))
    assert ground.feasible and not ground.undetermined
    np.testing.assert_allclose(ground.world[REAR], expected["contact_force_rear_world"], rtol=0,
                               atol=tolerance["contact_forces"])
    np.testing.assert_allclose(ground.world[FRONT], expected["contact_force_front_world"], rtol=0,
                               atol=tolerance["contact_forces"])
    total = expected["kinetic_energy"] + expected["potential_energy"]
    assert bicycle.energy(0.0, q, v) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("integrator, dt", [("rk4", 5e-4), ("dop853", 1e-2)])
def test_trajectory_of_the_reference_case(vehicle, case, integrator, dt):
    reference, bicycle = case("whipple_trajectory"), vehicle("bicycle")
    start, tolerance = reference["initial_state"], reference["tolerance"]
    simulator = nhmech.Simulator(bicycle, dt=dt, integrator=integrator)
    simulator.reset(xi={"roll_rate": start["roll_rate"], REAR: start["rear_spin_rate"],
                        STEER: -start["steer_rate"]})
    np.testing.assert_allclose(simulator.state.v[:3], start["rear_centre_velocity"], rtol=0,
                               atol=1e-12)
    run = simulator.run(5.0, every=round(0.05 / dt))
    heading = yaw(run)
    for sample in reference["expected"]["samples"]:
        i = moment(run, sample["t"])
        q, v = run.q[i], run.v[i]
        _, roll, pitch = attitude(q)
        rates = np.linalg.solve(np.array([[0,
                                           np.cos(heading[i]), -np.sin(heading[i]) * np.cos(roll)],
                                          [0, np.sin(heading[i]),
                                           np.cos(heading[i]) * np.cos(roll)],
                                          [1, 0, np.sin(roll)]]),
                                rotation(q) @ v[3:6])          # of yaw, roll and pitch
        found = [heading[i], roll, pitch, -q[bicycle.algebroid.q_names.index(STEER)],
                 angle(run, REAR)[i],
                 angle(run, FRONT)[i], *rates, -rate(run, STEER)[i], rate(run, REAR)[i],
                 rate(run, FRONT)[i]]
        wanted = [
            sample[name]
            for name in ("yaw", "roll", "pitch", "steer", "rear_spin", "front_spin", "yaw_rate",
                         "roll_rate", "pitch_rate", "steer_rate", "rear_spin_rate",
                         "front_spin_rate")
        ]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance["angles"],
                                   err_msg=f"t = {sample['t']}")
        contacts = bicycle.contact_points(q)
        np.testing.assert_allclose(contacts, [sample["rear_contact"], sample["front_contact"]],
                                   rtol=0, atol=tolerance["positions"])
        ground = reactions(bicycle, run.t[i], q, v, run.u[i])
        np.testing.assert_allclose([ground.world[REAR], ground.world[FRONT]],
                                   [sample["force_rear"], sample["force_front"]], rtol=0,
                                   atol=tolerance["forces"], err_msg=f"forces at t = {sample['t']}")
    np.testing.assert_allclose(run.energy, reference["expected"]["total_energy"], rtol=1e-11)
    slip, height = residuals(bicycle, run)
    assert slip.max() <= 1e-12 and height.max() <= 1e-12
