"""Steady motions, their stability, and how it depends on speed and parameters,
against published numbers and closed forms."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from robot_table import real
from runs import attitude
from scipy.spatial.transform import Rotation
from support import shipped

import nhmech
from nhmech import InputError, MechanicsError
from nhmech.analysis.equilibria import Equilibrium, SteadyMotions, pitch_of, standing
from nhmech.analysis.linearise import linearise
from nhmech.analysis.sensitivity import eigenvalue_sensitivities
from nhmech.analysis.stability import (
    Sweep,
    branches,
    critical_speeds,
    critical_value,
    growth_rate,
    speed_sweep,
)
from nhmech.control.balance import Balance
from nhmech.mechanics.algebroid import euclidean
from nhmech.mechanics.writing import constrain, lagrangian_system
from nhmech.vehicle.reactions import reactions

G = 9.81
REAR, FRONT, STEER = "rear_wheel_joint", "front_wheel_joint", "steering_joint"
# [m/s] Meijaard et al., Proc. R. Soc. A 463 (2007) 1955, section 7
WEAVE, CAPSIZE = 4.29238253634111, 6.02426201538837
STRAIGHT = {"lateral_speed": 0.0, "yaw_rate": 0.0}


@pytest.fixture(scope="module")
def bicycle():
    return SteadyMotions(shipped("bicycle"))


def test_weave_and_capsize_speed(bicycle):
    found = critical_speeds(bicycle.variations, np.linspace(0.5, 10, 20))
    np.testing.assert_allclose(found, [WEAVE, CAPSIZE], rtol=0, atol=1e-11)


@pytest.mark.parametrize("points", [8, 31])
def test_a_speed_where_growth_ends_without_decay(points):
    """A rolling disc is upright from v = sqrt(g r / 3) on; above, its eigenvalues are
    imaginary and their real parts rounding."""
    disc = shipped("disc")
    radius, g = disc.contacts[0].mount.wheel.radius, disc.parameters.values["gravity"]
    assert critical_speeds(disc, np.linspace(0.3, 3.0, points)) == pytest.approx(
        [np.sqrt(g * radius / 3)], rel=1e-10
    )


def test_eigenvalue_branches_are_continuous(bicycle):
    sweep = speed_sweep(bicycle.variations, np.linspace(1, 10, 46))
    assert sweep.neutral == 1, "running faster costs nothing"
    assert sweep.eigenvalues.shape == (46,
                                       5) and np.abs(np.diff(sweep.eigenvalues, axis=0)).max() < 1.0
    assert [member.residual < 1e-11 for member in sweep.members] == [True] * 46


@pytest.fixture(scope="module")
def turns(bicycle):
    """Hands-free steady turns, lean to the right [rad], from the capsize speed on."""
    vehicle = bicycle.variations.simulated.vehicle
    start = bicycle.find(vehicle.configuration((0, 0, 0.3, 0.01, 0, 0)), bicycle.straight(6.0).xi,
                         conditions={"roll": 0.01})
    return bicycle.family(start, "roll", [0.01, 0.02, *np.arange(0.04, 0.40, 0.02)])


def velocity(motions, member):
    return (
        motions.variations.equations.velocity(0, member.q, member.xi, motions.variations.theta)
        .full()
        .ravel()
    )


@pytest.mark.parametrize("speeds", [[1.0, 1.0], [2.0, 1.0], np.zeros(10 ** 6)])
def test_speeds_of_a_sweep_increase(bicycle, speeds):
    with pytest.raises(InputError, match="must increase"):
        critical_speeds(bicycle.variations, speeds)


def test_hands_free_turns_start_at_the_capsize_speed(bicycle, turns):
    """v = v_capsize + a lean^2 + b lean^4 + ...: two members take the first term out."""
    one, two = (np.linalg.norm(velocity(bicycle, member)[:1]) for member in turns[:2])
    assert (4 * one - two) / 3 == pytest.approx(CAPSIZE, abs=1e-6)
    assert two < one < CAPSIZE
    assert {member.family for member in turns} == {0}, "the lean singles out the turn"


def test_hands_free_turns_balance_forces_from_outside(bicycle, turns):
    """Newton: the ground carries the weight, and pulls all centres of mass round the vertical axis
    of the turn; nobody steers or drives."""
    import pinocchio as pin

    vehicle = bicycle.variations.simulated.vehicle
    for member in turns[::4]:
        v = velocity(bicycle, member)
        data = vehicle.model.createData()
        pin.centerOfMass(vehicle.model, data, member.q, v)
        R = pin.Quaternion(member.q[3:7]).toRotationMatrix()
        spin = R @ v[3:6]
        assert np.abs(spin[:2]).max() < 1e-11 and np.all(member.u == 0)
        total = sum(reactions(vehicle, 0.0, member.q, v, member.u).world.values())
        mass = data.mass[0]
        wanted = mass * (np.cross(spin, data.vcom[0]) + [0, 0, G])
        np.testing.assert_allclose(total, wanted, rtol=0, atol=1e-9 * mass * G)


def test_hands_free_turns_go_on_and_keep_their_energy(bicycle, turns):
    vehicle, member = bicycle.variations.simulated.vehicle, turns[6]
    simulator = nhmech.Simulator(vehicle, dt=1e-3)
    simulator.reset(q=member.q, xi=dict(zip(vehicle.speeds, member.xi)))
    run = simulator.run(2.0, every=100)
    assert np.abs(run.energy / run.energy[0] - 1).max() < 1e-11
    _, lean, pitch = attitude(member.q)
    for q in run.q:
        np.testing.assert_allclose(attitude(q)[1:], [lean, pitch], rtol=0, atol=1e-11)
    np.testing.assert_allclose(run.xi, np.tile(member.xi, (len(run), 1)), rtol=0, atol=1e-11)


def test_steady_turns_of_the_disc(vehicle):
    """m g r sin(lean) - A u3^2 tan(lean) + (C + m r^2) axial u3 = 0 with u3 = turn cos(lean)."""
    disc = vehicle("disc")
    mass, r = 2.0, 0.3
    A, C = mass * r ** 2 / 4, mass * r ** 2 / 2
    motions = SteadyMotions(disc)
    q = disc.configuration((0.1, 0.2, r, 0.25, 0.0, 0.4))
    guess = [{"spin_joint": 3.0, "yaw_rate": -1.5}.get(name, 0.0) for name in disc.speeds]
    member = motions.find(q, guess, conditions={"roll": 0.3, "yaw_rate": -1.2})
    v = dict(zip(disc.algebroid.v_names, velocity(motions, member)))
    axial, u3 = v["spin_joint"] + v["pitch_rate"], v["yaw_rate"]
    assert (member.family == 0 and u3 == pytest.approx(-1.2, abs=1e-12)
            and v["roll_rate"] == pytest.approx(0, abs=1e-12))
    assert (
        abs(mass * G * r * np.sin(0.3) - A * u3**2 * np.tan(0.3) + (C + mass * r**2) * axial * u3)
        < 1e-10
    )


def critical_spin(vehicle, high: float) -> float:
    """Where an upright wheel stops falling over [rad/s]: the square of the oscillating pair goes
    through zero."""
    motions = SteadyMotions(vehicle)
    q = vehicle.configuration()

    def squared(spin: float) -> float:
        xi = np.array([{"spin_joint": spin}.get(name, 0.0) for name in vehicle.speeds])
        values = linearise(motions.variations, q, xi).eigenvalues ** 2
        return float(values[np.argmax(np.abs(values))].real)

    return critical_value(squared, 0.1 * high, high)


def test_critical_spin_of_disc_and_hoop(vehicle):
    disc, r, mass = vehicle("disc"), 0.3, 2.0
    assert critical_spin(disc, 10.0) ** 2 == pytest.approx(G / (3 * r), rel=1e-10)
    link = next(name.removesuffix(".mass") for name, value in disc.parameters.values.items()
                if name.endswith(".mass") and value == mass)
    hoop = disc.with_parameters({f"{link}.Iyy": mass * r ** 2, f"{link}.Ixx": mass * r ** 2 / 2,
                                 f"{link}.Izz": mass * r ** 2 / 2})
    assert critical_spin(hoop, 10.0) ** 2 == pytest.approx(G / (4 * r), rel=1e-10)


def test_critical_spin_of_the_torus_coin(vehicle):
    """Upright with spin Omega, lean phi, heading psi: about the centre, at first order and with
    lateral force m (-r phi'' + r Omega psi'), A phi'' - C Omega psi' = m g (r - rc) phi + r m (r
    Omega psi' - r phi'') and A psi'' + C Omega phi' = 0, so (A + m r^2) phi'' = (m g (r - rc) - C
    (C + m r^2) Omega^2 / A) phi."""
    coin = vehicle("coin")
    mass, r, crown, A, C = 0.6, 0.05, 0.005, 0.00038, 0.00075
    assert critical_spin(coin, 30.0) ** 2 == pytest.approx(
        A * mass * G * (r - crown) / (C * (C + mass * r**2)), rel=1e-10
    )


NAMES = ("rear_frame.mass", "front_wheel_joint.radius", "rear_frame.com_x")


def test_sensitivities_of_eigenvalues_against_finite_differences(bicycle):
    """Central differences, extrapolated to fourth order; mass, radius and offset."""
    vehicle, speed = bicycle.variations.simulated.vehicle, 5.0
    motions = SteadyMotions(vehicle.with_parameters(symbolic=NAMES))
    values, slopes = eigenvalue_sensitivities(motions, motions.straight(speed),
                                              {"forward_speed": speed, **STRAIGHT})
    simple = np.all(np.isfinite(slopes), axis=1)
    assert simple.sum() == 4

    def at(name: str, change: float) -> np.ndarray:
        other = SteadyMotions(
            vehicle.with_parameters({name: vehicle.parameters.values[name] + change})
        )
        member = other.straight(speed)
        return linearise(other.variations, member.q, member.xi).eigenvalues

    for i, (name, h) in enumerate(zip(NAMES, (0.05, 1e-4, 5e-4))):
        coarse, fine = ((at(name, s) - at(name, -s)) / (2 * s) for s in (2 * h, h))
        np.testing.assert_allclose(slopes[simple, i], ((4 * fine - coarse) / 3)[simple], rtol=1e-7,
                                   err_msg=name)


def test_balance_from_fifteen_degrees(vehicle):
    pendulum = vehicle("pendulum")
    simulator = nhmech.Simulator(pendulum, Balance(pendulum, (0.0, 0.0, 0.0)), dt=1e-3)
    simulator.reset((0, 0, 0.04, 0.0, np.deg2rad(15), 0.0))
    run = simulator.run(8.0, every=100)
    pitch = np.array([attitude(q)[2] for q in run.q])
    assert (np.abs(pitch).max() < np.deg2rad(25) and abs(pitch[-1]) < 1e-4
            and np.abs(run.xi[-1]).max() < 1e-2)


def test_the_whole_linear_model_of_the_segway(vehicle, case):
    """With its motors: torque = alpha volt - beta (relative rate), rotors on the wheels' joints;
    theta is the mean absolute wheel angle."""
    reference = case("segway")
    p, expected = reference["parameters"], reference["expected"]
    joints = ("left_wheel_joint", "right_wheel_joint")
    motor = {f"{joint}.{name}": value for joint in joints for name, value in (
        ("damping", p["beta"]), ("rotor_inertia", p["Jm"] * p["n"] ** 2), ("gear_ratio", 1.0))}
    pendulum = vehicle("pendulum").with_parameters(motor)
    linear = linearise(pendulum, pendulum.configuration(), np.zeros(3))
    rows = [linear.names.index(name) for name in (*joints, "pitch_rate")]
    # (theta', psi') of (left', right', pitch_rate)
    to = np.array([[0.5, 0.5, 1.0], [0.0, 0.0, 1.0]])
    back = np.array([[1.0, -1.0], [1.0, -1.0], [0.0, 1.0]])
    pitch = to @ linear.A[rows, linear.names.index("pitch")]
    np.testing.assert_allclose(pitch, np.array(expected["A1"])[2:, 1], rtol=1e-10)
    np.testing.assert_allclose(to @ linear.A[np.ix_(rows, rows)] @ back,
                               np.array(expected["A1"])[2:, 2:], rtol=1e-10)
    np.testing.assert_allclose(to @ linear.B[rows] * p["alpha"], np.array(expected["B1"])[2:],
                               rtol=1e-10)
    # its yaw model has thin wheels
    thin = pendulum.with_parameters({"base_link.Izz": p["Jphi"] - 2 * p["wheel_diametral_inertia"]})
    linear = linearise(thin, thin.configuration(), np.zeros(3))
    # yaw' of (left', right', pitch_rate)
    yaw = p["R"] / p["W"] * np.array([-1.0, 1.0, 0.0])
    turning = p["W"] / p["R"] * np.array([-0.5, 0.5, 0.0])                     # and back
    np.testing.assert_allclose(yaw @ linear.A[np.ix_(rows, rows)] @ turning, expected["A2"][1][1],
                               rtol=1e-10)
    np.testing.assert_allclose(yaw @ linear.B[rows] * p["alpha"], expected["B2"][1], rtol=1e-10)


def test_outputs_have_names_units_and_feedthrough(vehicle):
    """C and D against differences of the nonlinear functions, for a speed of the base and for a
    force of the ground."""
    pendulum = vehicle("pendulum")
    q, row = pendulum.configuration(), "left_wheel_joint/longitudinal"
    linear = linearise(pendulum, q, np.zeros(3), outputs=("pitch", "forward_speed", row))
    assert linear.output_units == ("rad", "m/s",
                                   "N") and linear.units[linear.names.index("pitch")] == "rad"
    equations, h = pendulum.equations, 1e-4
    place = pendulum.frame.kept.index(pendulum.constrained.distribution.names.index(row))

    def force(u):
        return equations.multipliers(0, q, np.zeros(3), u, pendulum.theta).full().ravel()[place]

    for i, direction in enumerate(np.eye(2)):
        assert linear.D[2, i] == pytest.approx(
            (force(h * direction) - force(-h * direction)) / (2 * h), rel=1e-9
        )
    assert np.all(linear.D[:2] == 0) and linear.C[0, linear.names.index("pitch")] == 1.0
    with pytest.raises(nhmech.errors.InputError,
                       match="output 'sideways' does not exist"):
        linearise(pendulum, q, np.zeros(3), outputs=("sideways",))


def test_control_state_space(vehicle):
    control = pytest.importorskip("control", reason="the extra `control` is not installed")
    pendulum = vehicle("pendulum")
    linear = linearise(pendulum, pendulum.configuration(), np.zeros(3))
    model = linear.state_space()
    assert model.state_labels == list(linear.names) and model.input_labels == list(linear.inputs)
    gain, _, poles = control.lqr(model, np.eye(4), np.eye(2))
    assert (poles.real.max() < 1e-9
            and np.linalg.eigvals(linear.A - linear.B @ gain).real.max() < 1e-9)


def test_what_is_no_steady_motion_is_said(bicycle, vehicle):
    with pytest.raises(nhmech.errors.MechanicsError, match="no steady motion found"):
        asked = {"roll": 0.1, "forward_speed": 3.0, STEER + " angle": 0.5}
        bicycle.find(bicycle.straight(5.0).q, bicycle.straight(5.0).xi, conditions=asked)
    with pytest.raises(nhmech.errors.InputError, match="quantity 'lean' does not exist"):
        bicycle.find(bicycle.straight(5.0).q, bicycle.straight(5.0).xi, conditions={"lean": 0.1})
    with pytest.raises(nhmech.errors.MechanicsError, match="same sign"):
        critical_value(lambda v: 1 + v, 0.0, 1.0)
    assert growth_rate(np.array([0.0, -1.0]), 1) == -1.0


# -- families with folds, standing -----------------------------------------------------------------
@pytest.fixture(scope="module")
def folded():
    """x'' = push - (x^3 - 3 x): equilibria push = x^3 - 3 x, with folds in push at
    x = -1 (push 2) and x = 1 (push -2)."""
    system = lagrangian_system(euclidean("x"),
                               lambda s: s.v.x ** 2 / 2 - s.q.x ** 4 / 4 + 3 * s.q.x ** 2 / 2,
                               inputs=("push",), force=lambda s: {"x": s.u.push})
    return SteadyMotions(constrain(system), inputs=["push"])


def test_a_branch_passes_folds(folded):
    start = folded.find([-2.2], [0.0], [-4.0], {"q x": -2.2})
    members = folded.branch(start, "q x", 0.05, 400)
    x, push = (np.array([getattr(member, name)[0] for member in members]) for name in ("q", "u"))
    np.testing.assert_allclose(push, x ** 3 - 3 * x, rtol=0, atol=1e-11)
    assert np.all(np.diff(x) > 0) and x[-1] > 2.2
    turning = np.flatnonzero(np.diff(np.sign(np.diff(push))))
    np.testing.assert_allclose([push[turning[0] + 1], push[turning[1] + 1]], [2, -2], rtol=0,
                               atol=0.01)
    assert len(turning) == 2
    back = folded.branch(members[-1], "q x", -0.05, 5)
    assert np.all(np.diff([member.q[0] for member in back]) < 0)


def test_hands_free_turns_by_arc_length(bicycle, turns):
    """The same family as by lean, one member at each lean."""
    branch = bicycle.branch(turns[2], "roll", 0.2, 4)
    for member in branch:
        lean = bicycle.value(member, "roll")
        same = bicycle.family(turns[2], "roll", [lean])[0]
        np.testing.assert_allclose(velocity(bicycle, member), velocity(bicycle, same), rtol=0,
                                   atol=1e-9)
        assert member.residual < 1e-10
    assert lean > 0.05


def test_branches_that_are_none(folded):
    start = folded.find([0.5], [0.0], [0.0], {"q x": 0.5})
    with pytest.raises(MechanicsError, match="a family of dimension 0, not 1"):
        folded.branch(start, "q x", 0.1, 1, {"q x": 0.5})
    held = SteadyMotions(folded.variations)
    with pytest.raises(MechanicsError,
                       match="followed to q x = 1.73.*not to 1.9.*`branch` goes on"):
        held.family(held.find([1.7], [0.0]), "q x", [3 ** 0.5, 1.9])


@pytest.mark.parametrize("offset", [0.03, -0.05])
def test_where_a_pendulum_stands(offset):
    """With its body's centre of mass moved forward, it leans back until that is above the axle:
    tan(pitch) = -x / z."""
    plain = shipped("pendulum")
    body = next(name.removesuffix(".com_x") for name in plain.parameters.values
                if name.endswith(".com_x") and "wheel" not in name)
    vehicle = plain.with_parameters({f"{body}.com_x": offset})
    found = standing(vehicle)
    place = pin.Data(vehicle.model)
    pin.forwardKinematics(vehicle.model, place, vehicle.configuration())
    axle = (
        place.oMi[vehicle.model.getJointId("left_wheel_joint")].translation
        - place.oMi[1].translation
    )
    height = vehicle.parameters.values[f"{body}.com_z"] - axle[2]
    assert pitch_of(found.q) == pytest.approx(-np.arctan2(offset - axle[0], height), rel=1e-10)
    np.testing.assert_allclose(found.u, 0, rtol=0, atol=1e-10)
    com = pin.centerOfMass(vehicle.model, place, found.q)
    np.testing.assert_allclose(com[:2], vehicle.contact_points(found.q).mean(axis=0)[:2], rtol=0,
                               atol=1e-11)


def test_where_a_robot_with_uneven_wheels_stands():
    """Its centre of mass is above the line of the contacts; running, it would rock."""
    upkie = real("upkie")
    found, data = standing(upkie), upkie.model.createData()
    assert pin.centerOfMass(upkie.model, data, found.q)[0] == pytest.approx(
        upkie.contact_points(found.q)[:, 0].mean(), abs=1e-11)
    assert 0.01 < pitch_of(found.q) < 0.04
    with pytest.raises(MechanicsError,
                       match="no steady straight running: the mass of left_wheel.*, right_wheel"):
        SteadyMotions(upkie, upkie.driven).straight(0.5)


ROD = {"rod": lambda s: s.q.x ** 2 + s.q.y ** 2 - 1}


def hanging(**samples):
    point = lagrangian_system(euclidean("x", "y"),
                              lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2 - 9.81 * s.q.y)
    return constrain(point, holonomic=ROD, **samples)


def test_speeds_that_are_singular_at_a_point_are_named():
    """y' says nothing of a pendulum at its lowest point; x' does, which a sample there chooses."""
    other = hanging()
    assert SteadyMotions(other).variations.equations.names == ("y'",)
    for call in (lambda: linearise(other, [0.0, -1.0], [0.0]),
                 lambda: SteadyMotions(other).find([0.0, -1.0], [0.0])):
        with pytest.raises(MechanicsError, match=r"the speeds y' do not .* at q = 0, -1; .*samp"):
            call()
    linear = linearise(hanging(samples=[[0.0, -1.0]]), [0.0, -1.0], [0.0])
    np.testing.assert_allclose(linear.eigenvalues ** 2, [-9.81, -9.81], rtol=1e-12)
    assert linear.names == ("x", "x'")


def test_one_sample_makes_no_symmetry():
    """Gravity is along the rod at the lowest point, the only sample given, and nowhere else."""
    low = SteadyMotions(hanging(samples=[[0.0, -1.0]])).find([0.3, -0.9], [0.0])
    np.testing.assert_allclose(low.q, [0.0, -1.0], rtol=0, atol=1e-12)


def spring(stiffness, at=1.0):
    """x'' = -stiffness (x - at)."""
    system = lagrangian_system(euclidean("x"), lambda s: (
        s.v.x ** 2 - stiffness * (s.q.x - at) ** 2) / 2)
    return SteadyMotions(constrain(system))


@pytest.mark.parametrize("pull, lasts", [
    (lambda s: ca.sin(s.t), False), (lambda s: s.t ** 2, False), (lambda s: -s.t * s.v.x, True),
    # at rest in y, too
    (lambda s: ca.sin(s.t) * s.q.y, True), (lambda s: ca.sin(s.q.y - 2 * s.t), False)])
def test_what_is_steady_at_one_moment_alone_is_not_steady(pull, lasts):
    """x'' = -x + pull(t), y'' = 0: x = 0 is steady at t = 0, and from then on where nothing pulls
    later."""
    motions = SteadyMotions(constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 - s.q.x ** 2) / 2, force=lambda s: {"x": pull(s)})))
    guess = [0.0, 0.0], [0.0, 2.0]
    if lasts:
        np.testing.assert_allclose(motions.find(*guess).q[0], 0, rtol=0, atol=1e-9)
        return
    with pytest.raises(MechanicsError, match="no steady motion: the system depends on time, and x' "
                                             "is constant at t = 0 s alone"):
        motions.find(*guess)


@pytest.mark.parametrize("stiffness, conditions, says", [
    # half-way between both equations, in the unit of time of the spring
    (2.0, {"q x": 3.0}, r"(q x differs from the value it should have by -1|"
     r"x' keeps changing, every second by -2); .*conditions \(q x\)"),
    (0.5, {"q x": -3.0}, r"(q x differs from the value it should have by 2|"
     r"x' keeps changing, every second by 1); .*guess or the conditions \(q x\)"),
    (1.0, {"x'": 1.0}, "x' (does not vanish, it is 0.5|differs from .* should have by -0.5);")])
def test_the_equation_that_fails_most_is_named_with_its_sign(stiffness, conditions, says):
    with pytest.raises(MechanicsError, match=f"no steady motion found near the guess: {says}"):
        spring(stiffness).find([0.2], [0.0], conditions=conditions)


@pytest.mark.parametrize("second", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("x, y, says", [(2.0, 4.0, "y"), (40.0, 2.0, "x")])
def test_what_fails_most_is_the_same_in_any_unit_of_time(second, x, y, says):
    """Of two springs, one of them nine times as stiff, that are to be stretched."""
    both = SteadyMotions(constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 - (s.q.x ** 2 + 9 * s.q.y ** 2) / second ** 2) / 2)))
    with pytest.raises(MechanicsError, match=f"near the guess: (q {says} differs|{says}' keeps)"):
        both.find([0.2, 0.1], [0.0, 0.0], conditions={"q x": x, "q y": y})


def test_free_particles_stand_anywhere_and_move_at_any_speed():
    """The dimension of a family is what conditions leave of it, one each."""
    free = SteadyMotions(constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2) / 2)))
    for conditions, left in (({}, 2), ({"x'": 1.5}, 1), ({"x'": 1.5, "y'": -2.0}, 0)):
        found = free.find([0.3, 0.4], [0.1, 0.2], conditions=conditions)
        assert found.family == left
        for name, value in conditions.items():
            assert free.value(found, name) == pytest.approx(value, abs=1e-14)
    rail = SteadyMotions(constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 - 1e8 * (s.q.x * np.cos(0.7) + s.q.y * np.sin(0.7)) ** 2) / 2)))
    assert rail.find([0.3, 0.4], [0.0, 0.0]).family == 1          # along the rail, up to rounding
    stiff = spring(1e7, at=1 / 3).find([5.0], [0.0])
    assert stiff.family == 0 and stiff.q == pytest.approx(1 / 3, rel=1e-13, abs=0)


def test_quantities_are_those_of_the_pose(bicycle):
    """R = Rz(yaw) Rx(roll) Ry(pitch), angles of joints, and entries of q."""
    vehicle, (yaw, roll, pitch) = bicycle.variations.simulated.vehicle, (2.1, -0.4, 0.7)
    names = vehicle.algebroid.q_names
    q = vehicle.configuration()
    q[3:7] = Rotation.from_euler("ZXY", (yaw, roll, pitch)).as_quat()
    q[names.index(STEER)] = 0.3
    wheel = names.index(f"{REAR}.cos")
    q[wheel:wheel + 2] = np.cos(-2.5), np.sin(-2.5)
    at = Equilibrium(q, bicycle.straight(3.0).xi, np.zeros(0), np.zeros(0), 0.0, 0)
    for name, value in {"roll": roll, "pitch": pitch, f"{STEER} angle": 0.3,
                        f"{REAR} angle": -2.5, "q z": q[2]}.items():
        assert bicycle.value(at, name) == pytest.approx(value, abs=1e-14)
    assert bicycle.value(at, REAR) == pytest.approx(velocity(bicycle, at)[
        vehicle.algebroid.v_names.index(REAR)], rel=1e-12)


# -- branches of eigenvalues -----------------------------------------------------------------------
def test_straight_branches_cross_and_stay_straight():
    """Rows in any order; where two meet they go on in their own direction."""
    rng, t = np.random.default_rng(1), np.linspace(0.03, 4, 40)
    lines = np.array([1 + t, 4 - t, 1 + 1j * t, 1 + 1j * (3 - t), -2 + 0 * t]).T
    found = branches([rng.permutation(row) for row in lines])
    np.testing.assert_allclose(np.diff(found, 2, axis=0), 0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(lines), rtol=1e-15)
    assert branches([]).shape == (0,) and branches([lines[0]]).shape == (1, 5)


@pytest.mark.parametrize("values, neutral, growth", [
    ([-1, 0.2 + 3j, 0.2 - 3j, 1e-9], 1, 0.2), ([-1, -2, 5e-9, -5e-9], 2, -1),
    ([3.0, -4.0, 1e-7], 0, 3.0), ([1e-9], 1, -np.inf)])
def test_growth_leaves_out_what_is_neutral(values, neutral, growth):
    values = np.array(values)
    assert growth_rate(values, neutral) == growth
    made = Sweep("forward speed", "m/s", np.array([2.0]), values[None, :], neutral, ())
    assert made.growth == [growth]
    # a rounding error is relative to the largest, and to 1 / s
    assert made.marginal == pytest.approx(1e-6 * max(1.0, np.abs(values).max()), rel=1e-9)


def test_a_sweep_says_where_it_goes(bicycle):
    made = speed_sweep(bicycle.variations, [2.0, 4.5])
    assert repr(made) == "Sweep(forward speed 2 to 4.5 m/s, 2 steady motions)"
    assert made.growth[0] > 0 > made.growth[1]      # unstable, and stable above the weave speed
    assert critical_speeds(bicycle.variations, sweep=made) == pytest.approx([WEAVE], abs=1e-11)
    # what is zero at one speed alone is not neutral
    assert speed_sweep(bicycle.variations, [5.0, CAPSIZE]).neutral == 1
    none = speed_sweep(bicycle.variations, [])
    assert repr(none) == "Sweep(forward speed, 0 steady motions)" and none.neutral == 0
    assert critical_speeds(bicycle.variations, sweep=none) == []
    line = critical_value(lambda v: (v - 0.3) ** 3, 0.0, 0.3)          # a zero at an end counts
    assert line == 0.3
