"""The thin disc and the coin: rolling with lean, spin and turn at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from runs import angle, attitude, moment, rate, residuals, rotation, yaw

import nhmech
from nhmech.analysis.linearise import linearise
from nhmech.vehicle.reactions import reactions, solve_saddle

MASS, RADIUS, GRAVITY = 2.0, 0.3, 9.81
# moments of inertia of the disc
ACROSS, ALONG = MASS * RADIUS ** 2 / 4, MASS * RADIUS ** 2 / 2


def sines(trajectory) -> np.ndarray:
    """|axle x vertical| of the lean frame's y axis, (N,)."""
    return np.array([np.hypot(*rotation(q)[:2, 1]) for q in trajectory.q])


def speeds(lean: float, lean_rate: float, spin: float, turn: float) -> dict[str, float]:
    """Body rates of the lean frame that turns at `turn` about the vertical, and the spin on its
    axle [rad/s]."""
    return {"roll_rate": lean_rate, "spin_joint": spin, "yaw_rate": turn * np.cos(lean)}


def test_a_leaning_disc_keeps_height_and_energy_for_a_minute(vehicle):
    disc, lean = vehicle("disc"), np.deg2rad(20)
    simulator = nhmech.Simulator(disc, dt=1e-3, integrator="rk4")
    simulator.reset((0.0, 0.0, RADIUS, lean, 0.0, 0.0), xi=speeds(lean, 0.0, 8.0, 0.5))
    height = simulator.state.T_WB[2, 3]
    assert height == pytest.approx(RADIUS * np.cos(lean),
                                   abs=1e-15), "released at r cos(lean), not tilted to fit"
    run = simulator.run(60.0)
    np.testing.assert_allclose(run.q[:, 2], RADIUS * sines(run), rtol=0, atol=1e-12)
    assert np.abs(run.energy / run.energy[0] - 1).max() <= 1e-10
    slip, height = residuals(disc, run)
    assert slip.max() <= 1e-12 and height.max() <= 1e-12
    assert np.abs(rate(run, "roll_rate")).max() > 0.5, "the motion is a wobble, not a steady turn"


@pytest.mark.parametrize("integrator, dt", [("rk4", 2.5e-4), ("dop853", 1e-2)])
def test_trajectory_of_the_reference_case(vehicle, case, integrator, dt):
    reference = case("disc_trajectory")
    start, state, force = (reference["initial_state"], reference["tolerance"]["state"],
                           reference["tolerance"]["force"])
    disc, lean = vehicle("disc"), start["lean"]
    turn = start["u3"] / np.cos(lean)
    simulator = nhmech.Simulator(disc, dt=dt, integrator=integrator)
    simulator.reset((0.0, -RADIUS * np.sin(lean), RADIUS, lean, 0.0, start["yaw"]),
                    xi=speeds(lean, start["u1"], start["u2"] - turn * np.sin(lean), turn))
    run = simulator.run(reference["expected"]["samples"][-1]["t"], every=round(0.01 / dt))
    assert len(run.t) == 501
    heading = yaw(run)
    for sample in reference["expected"]["samples"]:
        i = moment(run, sample["t"])
        q, u3 = run.q[i], run.column("yaw_rate")[i]
        _, lean, pitch = attitude(q)
        contact = disc.contact_points(q)[0]
        found = [*contact, heading[i], lean, angle(run, "spin_joint")[i], rate(run, "roll_rate")[i],
                 rate(run, "spin_joint")[i] + rate(run, "pitch_rate")[i], u3, u3 / np.cos(lean),
                 *q[:3], pitch]
        wanted = [sample["contact_x"], sample["contact_y"], 0.0, *(sample[name] for name in (
            "yaw", "lean", "spin", "lean_rate", "axial_omega", "u3", "yaw_rate")),
                  *sample["centre"], 0.0]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=state,
                                   err_msg=f"state at t = {sample['t']}")
        force_W = reactions(disc, run.t[i], q, run.v[i], run.u[i]).world["spin_joint"]
        np.testing.assert_allclose(force_W, sample["contact_force_world"], rtol=0, atol=force,
                                   err_msg=f"contact force at t = {sample['t']}")
    np.testing.assert_allclose(run.energy, reference["expected"]["energy"], rtol=1e-11)


# lean [rad], turn about the vertical [rad/s], angular velocity along the axle [rad/s],
# square of the one pair of eigenvalues [1/s^2]
STEADY = [(0.2, -1.5, 2.896385183360608, 1.5640823977785623),
          (0.6, -2.0, 7.2688770531261016, -125.12415006218197),
          (1.2, 6.0, -8.413445141091733, -277.99794496183995),
          (-0.5, 3.0, 3.7300853235627764, -29.337260973783014)]


@pytest.mark.parametrize("lean, turn, axial, squared", STEADY)
def test_steady_turns_are_steady_and_as_stable_as_they_should_be(
    vehicle, lean, turn, axial, squared
):
    disc = vehicle("disc")
    u3 = turn * np.cos(lean)
    residual = (MASS * GRAVITY * RADIUS * np.sin(lean) - ACROSS * u3 ** 2 * np.tan(lean)
                + (ALONG + MASS * RADIUS ** 2) * axial * u3)
    assert abs(residual) < 1e-12
    q = disc.configuration((0.3, -0.2, RADIUS, lean, 0.0, 0.7))
    wanted = speeds(lean, 0.0, axial - turn * np.sin(lean), turn)
    xi = np.array([wanted[name] for name in disc.speeds])
    drift = disc.equations.drift(0, q, xi, [], disc.theta)[1].full()
    assert np.abs(drift).max() <= 1e-12 * GRAVITY / RADIUS
    linear = linearise(disc, q, xi)
    assert linear.names == ("roll", *disc.speeds), "position, heading and spin angle change nothing"
    eigenvalues = linear.eigenvalues ** 2
    pair = eigenvalues[np.argsort(np.abs(eigenvalues))[-2:]]
    np.testing.assert_allclose(pair, [squared, squared], rtol=1e-9)
    assert np.abs(np.sort(np.abs(eigenvalues))[:-2]).max(initial=0.0) < 1e-9 * abs(squared)


def test_steady_turns_agree_with_the_reference_case(case):
    motions = case("disc_steady")["expected"]["steady_motions"]
    assert [(m["lean"], m["yaw_rate"], m["axial_omega"],
             m["nonzero_eigenvalue_squared"]) for m in motions] == STEADY


@pytest.mark.parametrize("omega", [1.0, 3.0, 4.0, 10.0])
def test_an_upright_disc_is_stable_above_its_critical_speed(vehicle, omega):
    """lambda^2 = (m g r - C (C + m r^2) omega^2 / A) / (A + m r^2), negative above omega^2 = g / 3
    r."""
    disc = vehicle("disc")
    falls = MASS * GRAVITY * RADIUS - ALONG * (ALONG + MASS * RADIUS ** 2) * omega ** 2 / ACROSS
    squared = falls / (ACROSS + MASS * RADIUS ** 2)
    assert (squared < 0) == (omega ** 2 > GRAVITY / (3 * RADIUS))
    linear = linearise(disc, disc.configuration(),
                       [{"spin_joint": omega}.get(name, 0.0) for name in disc.speeds])
    assert np.abs(linear.drift).max() < 1e-12
    found = linear.eigenvalues[np.argsort(-np.abs(linear.eigenvalues))]
    np.testing.assert_allclose(found[:2] ** 2, [squared, squared], rtol=1e-9)
    # a double zero: steering off and rolling on
    assert np.abs(found[2:]).max(initial=0.0) < 1e-6


@pytest.mark.parametrize("name, radius", [("disc", 0.3), ("coin", 0.05)])
def test_the_level_axis_of_the_massless_root_takes_no_effort(vehicle, name, radius):
    """The root only names a frame: the multiplier of its gauge row is zero, in both methods."""
    v, rng = vehicle(name), np.random.default_rng(3)
    row = v.constrained.distribution.names.index("spin_joint/gauge")
    place = v.frame.kept.index(row)
    for _ in range(10):
        lean, spin = rng.uniform(-1.2, 1.2), rng.uniform(-3, 3)
        q = v.configuration((*rng.normal(size=2), radius, lean, spin, rng.uniform(-3, 3)))
        assert abs(attitude(q)[2]) < 1e-12, "a turn about the axle belongs to the spin joint"
        xi = rng.normal(size=3) * 5
        lam = v.equations.multipliers(0, q, xi, [], v.theta).full().ravel()
        other = solve_saddle(v, 0.0, q, v.equations.velocity(0, q, xi, v.theta).full().ravel(),
                             np.zeros(0)).lam
        np.testing.assert_allclose(lam, other, rtol=0, atol=1e-10 * np.abs(lam).max())
        assert (abs(lam[place]) <= 1e-12 * np.abs(lam).max()
                and abs(other[place]) <= 1e-12 * np.abs(lam).max())


@pytest.mark.parametrize("name", ["disc", "coin"])
def test_nothing_drives_the_spin_joint(vehicle, name):
    v = vehicle(name)
    assert v.driven == ()
    simulator = nhmech.Simulator(v, lambda t, state: nhmech.JointTorque({"spin_joint": 1.0}))
    simulator.reset()
    with pytest.raises(nhmech.SimulationError, match="not driven"):
        simulator.step()


def test_an_effort_on_the_spin_joint_is_refused():
    text = Path(nhmech.urdf_path("disc")).read_text().replace('driven="false"', 'driven="true"')
    with pytest.raises(nhmech.ModelError, match="spin_joint"):
        nhmech.load(text)


def test_a_coin_with_a_round_rim_conserves_energy_and_height(vehicle):
    """A torus: its contact wanders over the crown, centre height (r - rc) cos(lean) + rc."""
    coin = vehicle("coin")
    radius, crown = coin.parameters["spin_joint.radius"], coin.parameters["spin_joint.crown"]
    assert 0 < crown < radius
    simulator = nhmech.Simulator(coin, dt=5e-4, integrator="rk4")
    simulator.reset((0.0, 0.0, radius, 0.35, 0.0, 0.0),
                    xi={"roll_rate": 0.4, "spin_joint": 15.0, "yaw_rate": 1.0})
    run = simulator.run(10.0, every=4)
    np.testing.assert_allclose(run.q[:, 2], (radius - crown) * sines(run) + crown, rtol=0,
                               atol=1e-12)
    assert np.abs(run.energy / run.energy[0] - 1).max() <= 1e-10
    slip, height = residuals(coin, run)
    assert slip.max() <= 1e-12 and height.max() <= 1e-12


def test_a_torus_with_a_vanishing_crown_is_a_disc(vehicle):
    disc = vehicle("disc")
    wheel = nhmech.Wheel("spin_joint", "torus", RADIUS, crown=1e-13, driven=False)
    torus = nhmech.load(nhmech.urdf_path("disc"), wheels=[wheel])
    rng = np.random.default_rng(4)
    for _ in range(5):
        q = disc.configuration((0.0, 0.0, RADIUS, rng.uniform(-1, 1), 0.0, rng.uniform(-3, 3)))
        xi = rng.normal(size=3) * 4
        found, wanted = (v.equations.drift(0, q, xi, [], [])[1].full() for v in (torus, disc))
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def test_a_disc_given_by_its_own_attitude_rolls_like_the_one_on_a_leaning_root(vehicle):
    """The same disc as one rigid link whose base spins: slower to integrate, the same motion."""
    text = f"""<robot name="d"><link name="disc"><inertial><mass value="{MASS}"/>
        <inertia ixx="{ACROSS}" iyy="{ALONG}" izz="{ACROSS}" ixy="0" ixz="0" iyz="0"/></inertial>
        </link></robot>"""
    whole = nhmech.load(text,
                        wheels=[nhmech.Wheel(None, "disc", RADIUS, link="disc", axis=(0, 1, 0),
                                             point=(0, 0, 0))])
    split, lean, turn, spin = vehicle("disc"), 0.3, 0.4, 5.0
    runs = []
    for v in (split, whole):
        simulator = nhmech.Simulator(v, dt=1e-2, integrator="dop853")
        xi = speeds(lean, 0.2, spin, turn)
        if v is whole:
            xi = {"roll_rate": 0.2, "pitch_rate": turn * np.sin(lean) + spin,
                  "yaw_rate": turn * np.cos(lean)}
        simulator.reset((0.0, 0.0, RADIUS, lean, 0.0, 0.0), xi=xi)
        runs.append(simulator.run(2.0))
    np.testing.assert_allclose(runs[1].q[:, :3], runs[0].q[:, :3], rtol=0, atol=1e-9)
    axles = [np.array([rotation(q)[:, 1] for q in run.q]) for run in runs]
    np.testing.assert_allclose(axles[1], axles[0], rtol=0, atol=1e-9)
    turned = rotation(runs[0].q[-1]) @ pin.rpy.rpyToMatrix(0, angle(runs[0], "spin_joint")[-1], 0)
    np.testing.assert_allclose(rotation(runs[1].q[-1]), turned, rtol=0, atol=1e-9)
