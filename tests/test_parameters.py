"""Changing a vehicle's numbers, and derivatives by them."""

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support import at_length, joint, link, robot, shipped

import nhmech
from nhmech.analysis.summary import mechanics_summary
from nhmech.errors import InputError
from nhmech.mechanics.gibbs_appell import gibbs_appell
from nhmech.simulation.state import base_pose
from nhmech.urdf.notice import NoticeKind
from nhmech.vehicle.reactions import solve_saddle


@pytest.fixture(scope="module")
def base():
    return shipped("differential_drive")


def accelerations(vehicle, xi, u, seed=0):
    """From the Gibbs-Appell equations and from Pinocchio's matrices, at one configuration."""
    q = vehicle.constrained.samples[3]
    v = vehicle.equations.velocity(0.0, q, xi, vehicle.theta).full().ravel()
    return (vehicle.equations.acceleration(0.0, q, xi, u, vehicle.theta).full().ravel(),
            solve_saddle(vehicle, 0.0, q, v, np.asarray(u)).acceleration)


@pytest.mark.parametrize("changes", [
    {"payload.mass": 3.0, "payload.x": 0.1, "payload.y": -0.05, "payload.z": 0.2},
    {"left_wheel_joint.rotor_inertia": 2e-5, "left_wheel_joint.gear_ratio": 30.0},
    {"base_link.mass": 5.0, "left_wheel.Iyy": 0.004},
    {"right_wheel_joint.damping": 0.02},
], ids=["payload", "rotor behind a gear", "inertia", "damping"])
def test_changed_vehicle_against_the_second_method(base, changes):
    changed = base.with_parameters(changes)
    first, second = accelerations(changed, [3.0, -2.0], [0.2, -0.1])
    np.testing.assert_allclose(first, second, rtol=1e-10, atol=1e-10)
    assert np.abs(first - accelerations(base, [3.0, -2.0], [0.2, -0.1])[0]).max() > 1e-3


def test_the_numbers_of_bodies_are_those_of_the_file():
    """All ten of them, against Pinocchio's own reader."""
    body = link("base", 6.0, (0.3, 0.4, 0.5), (0.05, 0.02, 0.15)).replace(
        'ixy="0" ixz="0" iyz="0"', 'ixy="0.02" ixz="-0.03" iyz="0.05"')
    assert "0.05\"/></inertial>" in body
    text = robot(body, link("left"), joint("left_wheel", "base", "left", (0, 0.2, 0)),
                 link("right"), joint("right_wheel", "base", "right", (0, -0.2, 0)))
    wheels = [nhmech.Wheel(f"{side}_wheel", "disc", 0.1) for side in ("left", "right")]
    wheels.append(nhmech.Wheel(None, "caster_ball", 0.05, link="base", point=(0.3, 0, -0.05)))
    found = nhmech.load(text, wheels=wheels).model.inertias
    for mine, its in zip(found, pin.buildModelFromXML(text, pin.JointModelFreeFlyer()).inertias):
        np.testing.assert_allclose(mine.matrix(), its.matrix(), rtol=1e-12, atol=1e-15)


def test_a_payload_above_the_axle_adds_to_the_effective_mass(base):
    """Straight on, (Me + m) dv/dt = (tau_l + tau_r) / R with Me = mc + 2 mw + 2 Iw / R^2."""
    load, R = 4.0, base.parameters.values["left_wheel_joint.radius"]
    heavy = base.with_parameters({"payload.mass": load})
    q = base.constrained.samples[0]
    inverse = [
        R**2
        / 0.2
        * vehicle.equations.drift(0.0, q, [0, 0], [0.1, 0.1], vehicle.theta)[1].full()[0, 0]
        for vehicle in (base, heavy)
    ]
    assert 1 / inverse[1] - 1 / inverse[0] == pytest.approx(load, rel=1e-9)


def test_unequal_radii_turn_the_vehicle(base):
    """Equal wheel rates w with radii r and r + d turn by w d / track."""
    r = base.parameters.values["left_wheel_joint.radius"]
    odd = base.with_parameters({"right_wheel_joint.radius": r + 1e-3})
    q = odd.configuration()
    v = odd.equations.velocity(0.0, q, [10.0, 10.0], odd.theta).full().ravel()
    R = base_pose(q)[:3, :3]
    left, right = odd.contact_points(q)[:2]
    turn = (R @ v[3:6])[2]
    # the base leans by 1 mm over the track
    assert turn == pytest.approx(10.0 * 1e-3 / np.linalg.norm((left - right)[:2]), rel=1e-4)
    rates, phi = odd.constraint_error(0.0, q, v)
    assert np.abs(rates).max() < 1e-12 and np.abs(phi).max() < 1e-12


def test_rolling_resistance_slows_down_and_does_not_push_back(base):
    dragging = base.with_parameters({"left_wheel_joint.rolling_resistance": 0.05,
                                     "right_wheel_joint.rolling_resistance": 0.05})
    simulator = nhmech.Simulator(dragging, dt=5e-3)
    simulator.reset(xi={"forward_speed": 0.3, "yaw_rate": 0.0})
    run = simulator.run(6.0)
    assert np.all(np.diff(run.energy) <= 1e-12) and 0 <= run.column("forward_speed")[-1] < 1e-2


def test_derivatives_by_parameters(base):
    """d(dxi/dt)/d theta by automatic differentiation against central differences of vehicles with
    other numbers.

    At the same q, which is on the manifold of the first only: a frozen attitude would be that of
    each vehicle, so the full equations are compared.
    """
    names = ("left_wheel_joint.radius", "base_link.com_x", "base_link.Izz", "payload.mass")
    base = base.with_parameters({"payload.mass": 0.5})
    symbolic = base.with_parameters(symbolic=names)
    system, equations = symbolic.constrained.system, symbolic.equations
    assert system.theta_names == names and symbolic.theta == pytest.approx(
        [base.parameters.values[name] for name in names], rel=1e-15)
    q, xi, u = base.constrained.samples[2], np.array([4.0, 2.0]), np.array([0.1, 0.3])
    theta = ca.MX.sym("theta", len(names))
    rate = equations.drift(0.0, q, xi, u, theta)[1]
    exact = ca.Function("J", [theta], [ca.jacobian(rate, theta)])(symbolic.theta).full()
    for k, name in enumerate(names):
        h = 1e-6
        sides = [
            gibbs_appell(
                base.with_parameters({name: base.parameters.values[name] + s * h}).constrained,
                base.speeds,
            )
            for s in (1, -1)
        ]
        plus, minus = (e.drift(0.0, q, xi, u, [])[1].full().ravel() for e in sides)
        np.testing.assert_allclose(exact[:, k], (plus - minus) / (2 * h), rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("number", [np.float32, np.float64, np.int64, np.array],
                         ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", ["base_link.Izz", *at_length(
    "payload.mass", "base_link.mass", "left_wheel_joint.rotor_inertia")])
def test_numbers_of_numpy_are_numbers(base, name, number):
    """As they come out of its arrays: the same vehicle as from Python's."""
    given, plain = (base.with_parameters({name: value}) for value in (number(2), 2.0))
    assert (given.parameters.values == plain.parameters.values
            and type(given.parameters.values[name]) is float)
    xi, u = np.array([1.0, -2.0]), np.array([0.1, 0.2])
    for found, expected in zip(accelerations(given, xi, u), accelerations(plain, xi, u)):
        assert np.array_equal(found, expected)


def test_a_wheel_whose_balance_is_a_parameter_is_not_taken_for_round(base):
    """Its angle matters as soon as the centre of mass leaves the axle, which the numbers that the
    equations were made with do not show."""
    name, value = "left_wheel.com_x", 0.02
    symbolic = base.with_parameters(symbolic=(name,))
    heavy = base.with_parameters({name: value})
    open_, fixed = (gibbs_appell(v.constrained, base.speeds).drift for v in (symbolic, heavy))
    states = base.constrained.samples[1:4], ([4.0, 2.0], [-1.0, 3.0], [0.5, 6.0])
    for q, xi in zip(*states):
        np.testing.assert_allclose(open_(0, q, xi, [0.1, 0.3], [value])[1].full(),
                                   fixed(0, q, xi, [0.1, 0.3], [])[1].full(), rtol=1e-9)


def test_unknown_names_and_bad_numbers_are_refused(base):
    with pytest.raises(InputError, match="base_link.mass"):
        base.with_parameters({"base_link.masss": 1.0})
    for value in (float("nan"), np.inf, 10 ** 400, "3", None):
        with pytest.raises(InputError, match="'base_link.mass' = .* must be a finite number"):
            base.with_parameters({"base_link.mass": value})
    for name in (3, "%"):                   # four names, although they have no letter of it
        with pytest.raises(InputError, match=f"^unknown parameter {name!r}; "
                                             r"nearest to it: [\w.]+(, [\w.]+){3}$"):
            base.with_parameters({name: 1.0})
    with pytest.raises(InputError, match="unknown parameter"):
        base.with_parameters(symbolic=["wheel"])
    for changes, words in (({"left_wheel.mass": -1.0}, "left_wheel.mass.*negative"),
                           ({"base_link.Izz": -1.0}, "base_link.*none that a body"),
                           ({"left_wheel_joint.radius": -0.08},
                            "left_wheel_joint.radius.*negative")):
        with pytest.raises(InputError, match=words):
            base.with_parameters(changes)


ROBOT = nhmech.urdf_path("differential_drive")


@pytest.mark.parametrize("call, message", [
    (lambda base: nhmech.load(ROBOT, arguments=3), "arguments = 3 must be a mapping"),
    (lambda base: nhmech.load(ROBOT, arguments={1: "2"}), "arguments = .* must be a mapping"),
    (lambda base: nhmech.load(ROBOT, speeds=("x",)).speeds, "speed 'x' does not exist; there are "),
    (lambda base: nhmech.load(ROBOT, speeds=("yaw_rate",)).speeds, "1 independent .* has 2"),
    (lambda base: nhmech.load(ROBOT, speeds=("yaw_rate", "yaw_rate")).speeds, "do not determine"),
    (lambda base: nhmech.gibbs_appell(base, 3), "speeds = 3 must be a sequence"),
    (lambda base: nhmech.start_states(base, 4), "pose has shape \\(\\); give \\(x, y, yaw\\)"),
    (lambda base: base.configuration(joints=3), "joints = 3 must be a mapping"),
    (lambda base: base.with_parameters(3), "changes = 3 must be a mapping"),
    (lambda base: base.with_parameters(symbolic=3), "symbolic = 3 must be a sequence of names"),
    (lambda base: base.with_wrench(3), "bodies = \\(3,\\) must be a sequence of names"),
])
def test_arguments_of_a_vehicle_that_cannot_be(base, call, message):
    with pytest.raises(InputError, match=message):
        call(base)


@pytest.mark.parametrize("name", ["differential_drive", "rover", "trailers"])
def test_the_parts_of_a_vehicle_show_themselves_in_a_line_or_three(name):
    vehicle = nhmech.load(nhmech.urdf_path(name))
    system = vehicle.constrained.system
    for part in (vehicle, vehicle.description, vehicle.ground, vehicle.parameters, vehicle.frame,
                 vehicle.equations, vehicle.constrained, vehicle.functions, vehicle.posing, system,
                 system.algebroid, vehicle.constrained.distribution, vehicle.contacts[0],
                 vehicle.description.wheels[0]):
        assert len(repr(part)) < 600 and "\n" not in repr(part), type(part).__name__


@pytest.mark.parametrize("side", [1, -1])
def test_a_follower_at_its_limit_stops_the_leader(side):
    """The inner front wheel turns more: where it is the follower, the leader may go less far than
    its own limit."""
    car = shipped("ackermann_car")
    leader, follower = "front_left_steering_joint", "front_right_steering_joint"
    own, drawn = car.description.limits, car.limits
    end = drawn[leader].upper if side > 0 else drawn[leader].lower
    q = car.configuration(joints={leader: end})
    turned = car.joint_positions(q)[follower]
    limit = own[follower].upper if side > 0 else own[follower].lower
    # turning left, the left wheel is the inner one and meets its own limit first
    if side > 0:
        assert end == own[leader].upper and turned < limit
    else:
        assert end > own[leader].lower and turned == pytest.approx(limit, abs=1e-9)
    simulator = nhmech.Simulator(car, lambda t, state: nhmech.JointPosition({leader: side * 1.5}),
                                 dt=5e-3)
    state = simulator.reset()
    for _ in range(600):
        state = simulator.step()
    assert state.joint_position[leader] == pytest.approx(end, abs=1e-3)


def test_remarks_about_what_was_built():
    mecanum = shipped("mecanum")
    symmetry = mechanics_summary(mecanum)["symmetry"]
    assert "x, y, yaw" in symmetry and "pitch, roll and height are frozen" in symmetry
    assert not any(notice.kind is NoticeKind.ROLLER_RANK for notice in mecanum.notices)
    names = [f"{end}_{side}_wheel_joint" for end in ("front", "rear") for side in ("left", "right")]
    alike = nhmech.load(nhmech.urdf_path("mecanum"),
                        wheels=[nhmech.Wheel(name, "mecanum", 0.1,
                                             roller_angle=0.7) for name in names])
    assert any("only 2 of the base's 3 motions" in notice.text for notice in alike.notices)
    uneven = nhmech.load(
        nhmech.urdf_path("skid_steer"),
        wheels=[nhmech.Wheel(w.joint, "disc", w.radius + (0.002 if "front" in w.joint else 0.0))
                for w in shipped("skid_steer").description.wheels],
        skid=1.2,
    )
    assert any("mm" in notice.text and notice.kind is NoticeKind.SUPPORT_OFFSETS
               for notice in uneven.notices)
