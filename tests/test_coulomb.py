"""Wheels that slide, fly and land with Coulomb friction, against closed forms and invariants."""

import numpy as np
import pinocchio as pin
import pytest
from support import command_line, shipped

import nhmech
from nhmech import Ground, InputError, JointTorque, JointVelocity, Simulator, Trajectory
from nhmech.compile.compiler import find_compiler
from nhmech.simulation.contact.contact_problem import Cone, ContactProblem
from nhmech.simulation.contact.implicit_step import Unsolved
from nhmech.simulation.contact.motion import to_body, to_world
from nhmech.simulation.contact.nonsmooth import NonsmoothStep
from nhmech.simulation.contact.nonsmooth_terms import NonsmoothTerms
from nhmech.simulation.contact.phases import Phase
from nhmech.simulation.contact.rolling_bound import RollingBound

G = 9.81
BALL, RADIUS = "ball", 0.06
MASS = 0.5
CAR_WHEELS = tuple(f"{end}_{side}_wheel_joint" for end in ("front", "rear")
                   for side in ("left", "right"))


def ball_run(v, mu=0.2, dt=0.01, duration=2.0, **options):
    simulator = Simulator(shipped(BALL), dt=dt, contact="coulomb", mu=mu, **options)
    simulator.reset(v=v)
    return simulator.run(duration)


def world_velocity(run):
    """Of the base along the axes of W, (N, 6)."""
    return np.array([to_world(q, v)[:6] for q, v in zip(run.q, run.v)])


# -- a ball ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("v0, spin", [(3.0, 0.0), (1.0, -40.0), (2.0, 60.0)])
def test_a_sliding_ball_ends_rolling(v0, spin):
    """Skid, backspin that brings it back, and forward spin that drives it on: angular momentum
    about the line of contact is kept (Coriolis 1835)."""
    mu, dt = 0.2, 0.005
    run = ball_run({"forward_speed": v0, "pitch_rate": spin}, mu, dt)
    end = (5 * v0 + 2 * RADIUS * spin) / 7
    assert np.allclose(world_velocity(run)[-1], [end, 0, 0, 0, end / RADIUS, 0], atol=1e-12)
    stick = 2 * abs(v0 - RADIUS * spin) / (7 * mu * G)
    assert abs(run.phases[0].end - stick) <= dt
    assert [set(span.wheels.values()) for span in run.phases] == [{Phase.SLIDING}, {Phase.ROLLING}]
    lost = MASS * (v0 - RADIUS * spin) ** 2 / 7
    assert run.friction_loss["ball"][-1] == pytest.approx(lost, rel=1e-12)
    assert run.energy[0] - run.energy[-1] == pytest.approx(lost, rel=1e-12)
    assert run.slid["ball"][-1] == pytest.approx(abs(v0 - RADIUS * spin) * stick / 2, rel=2e-3)


def test_its_place_is_of_order_two():
    step = NonsmoothStep(NonsmoothTerms.of(shipped(BALL), 0.2), np.zeros(1))
    stick = 2 * 3.0 / (7 * 0.2 * G)
    exact = 3.0 * stick - 0.2 * G * stick ** 2 / 2 + 15 / 7 * (2.0 - stick)
    for n in (100, 200, 400):
        motion = step.start(0.0, shipped(BALL).configuration(), np.array([3.0, 0, 0, 0, 0, 0]))
        for _ in range(n):
            motion = step.advance(motion, np.zeros(0), 2.0 / n)
        # what it depends on is where in a step the ball sticks: mu g dt^2 / 8 at most
        assert abs(motion.x[0] - exact) <= 0.2 * G / 8 * (2.0 / n) ** 2
        assert abs(motion.w[0] - 15 / 7) < 1e-13 and motion.x[2] == pytest.approx(RADIUS, abs=1e-15)


def test_a_billiard_ball_runs_along_a_parabola():
    """With sidespin the slip keeps its direction, so that friction is constant until it rolls."""
    v0, omega, mu = np.array([2.0, 0.0, 0.0]), np.array([30.0, 5.0, 7.0]), 0.1
    run = ball_run({"forward_speed": v0[0], "roll_rate": omega[0], "pitch_rate": omega[1],
                    "yaw_rate": omega[2]}, mu, 0.01, 0.4)
    slip = v0 + np.cross(omega, [0, 0, -RADIUS])
    way = slip / np.linalg.norm(slip)
    assert run.t[-1] < 2 * np.linalg.norm(slip) / (7 * mu * G)
    along = v0 * run.t[:, None] - mu * G * way * run.t[:, None] ** 2 / 2
    assert np.allclose(run.q[:, :2], along[:, :2], rtol=0, atol=1e-12)
    assert abs(along[-1, 1]) > 0.05
    assert np.allclose(run.force("ball", "lateral"), -mu * MASS * G * way[1], rtol=0, atol=1e-12)


def test_a_ball_bounces_through_its_accumulation_point():
    run = ball_run({"vertical_speed": 2.0, "forward_speed": 0.0}, dt=0.002, restitution=0.5,
                   duration=1.2)
    rest = 2 * 2.0 / G / (1 - 0.5)            # the sum of all flights
    grounded = [span for span in run.phases if span.wheels["ball"] is not Phase.AIRBORNE]
    assert grounded[-1].end == pytest.approx(1.2,
                                             rel=1e-12) and abs(grounded[-1].start - rest) < 0.01
    first = np.argmin(np.abs(run.t - 2.0 / G))
    assert run.q[first, 2] - RADIUS == pytest.approx(2.0 ** 2 / (2 * G), abs=1e-5)
    assert run.q[-1, 2] == pytest.approx(RADIUS, abs=1e-14)
    assert (run.q[:, 2] >= RADIUS - 1e-12).all() and np.abs(run.v[-1]).max() < 1e-12


def test_a_hoop_with_backspin_comes_back():
    """A disc upright on its edge: m and J about its axle decide where it ends."""
    vehicle = shipped("disc")
    simulator = Simulator(vehicle, dt=0.005, contact="coulomb", mu=0.3, on_fall="ignore")
    wheel = vehicle.description.wheels[0]
    r = wheel.radius
    inertia = vehicle.model.inertias[2]
    J = inertia.inertia[1, 1]
    simulator.reset(v={"forward_speed": 1.0, wheel.joint: -60.0})
    run = simulator.run(3.0)
    end = (inertia.mass * 1.0 + J / r * -60.0) / (inertia.mass + J / r ** 2)
    assert end < 0 and run.column("forward_speed")[-1] == pytest.approx(end, abs=1e-9)
    assert run.rolled[-1]


# -- vehicles --------------------------------------------------------------------------------------
def locked_car(ground=Ground()):
    """A car whose brakes hold all wheels."""
    vehicle = nhmech.load(nhmech.urdf_path("ackermann_car"), ground=ground)
    return vehicle.with_parameters({f"{wheel}.damping": 1e10 for wheel in CAR_WHEELS})


@pytest.fixture(scope="module")
def car():
    return locked_car()


def test_locked_wheels_stop_a_car(car):
    mu, v0 = 0.5, 5.0
    simulator = Simulator(car, dt=0.005, contact="coulomb", mu=mu)
    simulator.reset(v={"forward_speed": v0})
    run = simulator.run(1.0)                       # it stands after 1.02 s
    assert np.allclose(world_velocity(run)[:, 0], v0 - mu * G * run.t, rtol=0, atol=1e-6)
    assert np.allclose(run.q[:, 0] - run.q[0, 0], v0 * run.t - mu * G * run.t ** 2 / 2, rtol=0,
                       atol=1e-6)

    # load transfer by statics about the contacts of the other axle
    q, data = run.q[20], car.model.createData()
    com = pin.centerOfMass(car.model, data, q)
    mass = pin.computeTotalMass(car.model)
    points = dict(zip(car.contact_names, car.contact_points(q)))
    rear, front = (points[f"{end}_left_wheel_joint"][0] for end in ("rear", "front"))
    at_front = mass * G * ((com[0] - rear) + mu * com[2]) / (front - rear)
    normal = [run.force(f"front_{side}_wheel_joint")[20] for side in ("left", "right")]
    assert sum(normal) == pytest.approx(at_front, rel=1e-8)
    assert normal[0] == pytest.approx(normal[1], rel=1e-6)


def test_a_car_whose_brakes_are_stiff_stands_in_the_end(car):
    """The scheme of ideal rolling would be unstable by their damping: it is not gone back to."""
    simulator = Simulator(car, dt=0.005, contact="coulomb", mu=0.5)
    simulator.reset(v={"forward_speed": 2.0})
    run = simulator.run(1.0)
    assert run.stop == "duration" and np.abs(run.v[-1]).max() < 1e-6
    assert run.q[-1, 0] - run.q[0, 0] == pytest.approx(2.0 ** 2 / (2 * 0.5 * G), abs=1e-4)
    assert set(run.phases[-1].wheels.values()) == {Phase.ROLLING} and not run.rolled[-1]


@pytest.mark.parametrize("part", [0.999, 1.001])
def test_a_car_slides_down_from_the_slope_of_its_friction(part):
    slope = np.arctan(0.4)
    ground = Ground(normal=(np.sin(slope), 0.0, np.cos(slope)))
    vehicle = locked_car(ground)
    simulator = Simulator(vehicle, dt=0.01, contact="coulomb", mu=0.4 / part)
    simulator.reset(v={})
    run = simulator.run(0.02)
    along = G * (np.sin(slope) - 0.4 / part * np.cos(slope))
    wanted = max(along, 0.0) * 0.02
    assert np.linalg.norm(run.v[-1, :3]) == pytest.approx(wanted, rel=1e-6, abs=1e-8)


def test_a_drive_slides_and_rolls_again_in_one_run(tmp_path):
    vehicle = shipped("differential_drive")
    wheels = ("left_wheel_joint", "right_wheel_joint")

    def controller(t, state):
        if t >= 0.8:                                   # let go, and the wheels catch up
            return JointVelocity(dict.fromkeys(wheels, state.xi["forward_speed"] / 0.1))
        return JointTorque(dict.fromkeys(wheels, 0.2 if t < 0.3 else 1.2))

    options = {"control_period": 0.01, "dt": 2e-3}
    ideal = Simulator(vehicle, controller, **options).run(0.3)
    run = Simulator(vehicle, controller, contact="coulomb", mu=0.2, **options).run(
        2.0, save=tmp_path / "run.npz")
    names = [name for _, name in run.events if name.startswith("rolling")]
    assert names == ["rolling ends", "rolling begins"]
    assert run.events[0][0] == pytest.approx(0.3, rel=1e-12, abs=0)
    n = len(ideal) - 1
    assert np.array_equal(run.q[:n], ideal.q[:n]) and np.array_equal(run.v[:n], ideal.v[:n])
    assert run.rolled[0] and run.rolled[-1] and not run.rolled.all()
    assert {span.names(Phase.SLIDING) for span in run.phases} >= {wheels}

    # friction and the energy that it takes
    k = np.flatnonzero(run.t > 0.5)[0]
    for wheel in wheels:
        assert run.force(wheel, "longitudinal")[k] == pytest.approx(0.2 * run.force(wheel)[k],
                                                                     rel=1e-9)
    power = (run.u * run.v[:, [vehicle.algebroid.v_names.index(w) for w in vehicle.driven]]).sum(1)
    work = np.sum((power[:-1] + (run.u[:-1] * run.v[1:, -2:]).sum(1)) / 2 * np.diff(run.t))
    assert list(vehicle.algebroid.v_names[-2:]) == list(vehicle.driven)
    lost = sum(loss[-1] for loss in run.friction_loss.values())
    damping = np.trapezoid(sum(vehicle.parameters[f"{w}.damping"] * run.v[:, -2 + i] ** 2
                               for i, w in enumerate(vehicle.driven)), run.t)
    assert run.energy[-1] - run.energy[0] == pytest.approx(work - lost - damping, abs=1e-10)

    # what a file and a table keep
    again = Trajectory.load(tmp_path / "run.npz")
    assert again.phases == run.phases and again.settings["mu"] == dict.fromkeys(wheels, 0.2)
    assert np.array_equal(again.force(wheels[0]), run.force(wheels[0]))
    assert {"phase.left_wheel_joint", "slid.left_wheel_joint",
            "lost.left_wheel_joint"} <= set(run.columns())
    assert again.validity.until == pytest.approx(0.3, rel=1e-12, abs=0)


def test_with_large_friction_the_run_is_the_ideal_one():
    vehicle, wheels = shipped("ackermann_car"), ("rear_left_wheel_joint", "rear_right_wheel_joint")

    def controller(t, state):
        return [JointTorque({wheels[0]: 200.0, wheels[1]: 150.0}),
                JointVelocity({"front_left_steering_joint": 0.2 * np.cos(t)})]

    ideal = Simulator(vehicle, controller, dt=2e-3).run(0.5)
    run = Simulator(vehicle, controller, dt=2e-3, contact="coulomb", mu=50.0).run(0.5)
    assert np.array_equal(run.q, ideal.q) and np.array_equal(run.u, ideal.u)
    assert run.rolled.all() and len(run.phases) == 1


@pytest.mark.parametrize("name", ["differential_drive", "mecanum", "bicycle"])
def test_sticking_steps_tend_to_ideal_rolling_with_order_two(name):
    """The same motion by other equations: full velocities, mass and rows at mid-step."""
    vehicle = shipped(name)
    u = 0.3 * np.random.default_rng(1).normal(size=len(vehicle.driven))
    simulator = Simulator(vehicle, lambda t, state: u, dt=1e-3, on_fall="ignore",
                          on_limit="ignore")
    simulator.reset(xi=dict.fromkeys(vehicle.speeds, 0.7))
    x, q, v = simulator.moment.x.copy(), simulator.moment.q.copy(), simulator.moment.v.copy()
    exact = simulator.run(0.2).v[-1]
    terms = NonsmoothTerms.of(vehicle, 50.0)
    step = NonsmoothStep(terms, np.zeros(len(terms.contacts)))
    errors = []
    for n in (10, 20):
        motion = step.start(0.0, x[:7 + len(vehicle.joint_names)], to_world(q, v))
        for _ in range(n):
            motion = step.advance(motion, u, 0.2 / n)
            assert not motion.phases.any()
        end = terms.configuration(motion.x)
        errors.append(np.abs(to_body(end, motion.w) - exact).max())
        rates, heights = vehicle.constraint_error(motion.t, end, to_body(end, motion.w))
        assert np.abs(rates).max() < 1e-13 and np.abs(heights).max() < 1e-13
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_a_robot_that_is_driven_hard_rears_up_and_lands():
    """It comes down on its caster, rocks from there to the wheels and back, ever quicker, and rolls
    on; once the motors are off its energy never grows."""
    vehicle, wheels = shipped("differential_drive"), ("left_wheel_joint", "right_wheel_joint")
    hard = JointTorque(dict.fromkeys(wheels, 3.0))
    run = Simulator(vehicle, lambda t, state: hard if t < 0.1 else np.zeros(2), dt=1e-3,
                    contact="coulomb", mu=2.0, on_fall="ignore").run(1.0)
    caster = [span.wheels["caster_link"] is Phase.AIRBORNE for span in run.phases]
    assert caster[0] and not caster[-1] and run.rolled[-1]
    after = run.energy[run.t >= 0.1]
    assert np.diff(after).max() <= 1e-6 * after[0]
    heights = np.array([vehicle.constraint_error(t, q, v)[1] for t, q, v in
                        zip(run.t, run.q, run.v)])
    assert heights.min() >= -1e-8


# -- single steps ----------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["differential_drive", "tricycle", "mecanum", "omni", "bicycle"])
def test_compiled_steps_are_those_of_python(name):
    """LAPACK and least squares on one side, elimination and Tikhonov's on the other."""
    vehicle, rng = shipped(name), np.random.default_rng(2)
    terms = NonsmoothTerms.of(vehicle, dict(zip(vehicle.contact_names, rng.uniform(0.1, 1.2, 9))))
    step = NonsmoothStep(terms, np.zeros(len(terms.contacts)))
    u = rng.normal(size=vehicle.constrained.system.u.numel())
    q = vehicle.configuration()
    x, done = np.array([*q[:7], *vehicle.joint_positions(q).values()]), 0
    for _ in range(5):
        motion = step.start(0.0, x, rng.normal(size=terms.nv) / vehicle.constrained.scales)
        for _ in range(3):
            found = step.implicit.take_in_c(motion, u, 1e-3, motion.closed, motion.impulses,
                                                 False)
            plain = step.implicit.take_in_python(motion, u, 1e-3, np.flatnonzero(motion.closed),
                                                 False)
            motion = step.advance(motion, u, 1e-3)
            if found is None:                       # Python is for what is hard
                continue
            done += 1
            for one, other in ((found.x, plain.x), (found.w, plain.w), (found.slid, plain.slid),
                               (found.lost, plain.lost), (found.impulses, plain.impulses)):
                assert np.allclose(one, other, rtol=1e-9, atol=1e-10)
            assert (found.phases == plain.phases).all()
    assert done >= 10


def leaning_step(lean: float):
    """A step in Python of a mecanum base that is turned about a level axis, in the ground."""
    vehicle = shipped("mecanum")
    terms = NonsmoothTerms.of(vehicle, 0.5)
    step, q = NonsmoothStep(terms, np.zeros(len(terms.contacts))), vehicle.configuration()
    x = np.array([*q[:7], *vehicle.joint_positions(q).values()])
    x[3:7] = [0.6 * np.sin(lean / 2), 0.8 * np.sin(lean / 2), 0.0, np.cos(lean / 2)]
    return step.implicit.take_in_python(step.start(0.0, x, np.zeros(terms.nv)),
                                     np.zeros(len(vehicle.driven)), 1e-3,
                                     np.arange(len(terms.contacts)), False)


@pytest.mark.parametrize("lean", [0.4, 1.15])
def test_a_step_in_python_leaves_no_wheel_off_the_ground(lean):
    assert np.abs(leaning_step(lean).heights).max() <= 1e-9


def test_wheels_that_cannot_come_onto_the_ground_are_told():
    with pytest.raises(Unsolved, match="m off it at t = 0.001 s"):
        leaning_step(np.pi / 2)


def test_random_contact_problems_are_solved():
    """With redundant contacts, large friction and any velocities."""
    rng = np.random.default_rng(7)
    for _ in range(100):
        n = int(rng.integers(1, 6))
        J = rng.normal(size=(3 * n, 6))
        W = J @ J.T
        W += 1e-9 * np.trace(W) * np.eye(3 * n)
        g = J @ rng.normal(size=6)
        cones = [Cone(3 * i, (3 * i + 1, 3 * i + 2), float(rng.uniform(0, 1.0))) for i in range(n)]
        P, error = ContactProblem(W, g, cones).solve(np.zeros(3 * n))
        u = W @ P + g
        assert error < 1e-9
        for cone in cones:
            i, j = cone.normal, list(cone.along)
            assert P[i] >= 0 and u[i] >= -1e-9 and abs(P[i] * u[i]) < 1e-8 * (1 + abs(P[i]))
            assert np.linalg.norm(P[j]) <= cone.mu * P[i] + 1e-9


# -- what is refused -------------------------------------------------------------------------------
@pytest.mark.parametrize("name, options, words", [
    ("ball", {"contact": "coulomb"}, "needs the friction coefficient of ball"),
    ("ball", {"contact": "coulomb", "mu": -0.1}, "positive"),
    ("ball", {"contact": "coulomb", "mu": float("nan")}, "positive"),
    ("ball", {"contact": "coulomb", "mu": float("inf")}, "lets every wheel slip"),
    ("ball", {"contact": "coulomb", "mu": {"bal": 0.3}}, "bal"),
    ("ball", {"contact": "coulomb", "mu": 0.3, "restitution": 1.5}, "restitution"),
    ("ball", {"contact": "coulomb", "mu": 0.3, "mode": "kinematic"}, "kinematic"),
    ("ball", {"contact": "soft"}, "contact"),
    ("ball", {"mu": 0.3}, "no effect on ideal rolling"),
])
def test_arguments_that_do_not_go_together(name, options, words):
    with pytest.raises(InputError, match=words):
        Simulator(shipped(name), **options)


def test_starts_that_are_none():
    with pytest.raises(InputError, match="coulomb"):
        Simulator(shipped(BALL)).reset(v={"forward_speed": 1.0})
    simulator = Simulator(shipped(BALL), contact="coulomb", mu=0.3)
    with pytest.raises(InputError, match="not both"):
        simulator.reset(xi={"yaw_rate": 1.0}, v={"forward_speed": 1.0})
    with pytest.raises(InputError, match="speed"):
        simulator.reset(v={"forward": 1.0})
    with pytest.raises(InputError, match="coulomb"):
        Simulator(nhmech.systems.load_system("falling_disc"), contact="coulomb", mu=0.3)


def test_a_gyro_and_an_accelerometer_of_a_sliding_robot():
    """On the flat, what slides with friction mu feels mu g backwards and g upwards."""
    vehicle = locked_car()
    simulator = Simulator(vehicle, contact="coulomb", mu=0.4)
    simulator.reset(v={"forward_speed": 4.0})
    state = simulator.step()
    assert np.allclose(state.accelerometer(), [-0.4 * G, 0, G], atol=1e-8)
    assert np.allclose(state.gyro(), 0, atol=1e-10)


def test_an_accelerometer_in_free_fall_reads_nothing():
    """In the centre of mass, however the body tumbles."""
    simulator = Simulator(shipped(BALL), dt=1e-3, contact="coulomb", mu=0.2)
    speeds = ("forward_speed", "lateral_speed", "vertical_speed", "roll_rate", "pitch_rate",
              "yaw_rate")
    simulator.reset(v=dict(zip(speeds, (0.7, -0.4, 2.0, 3.0, -5.0, 2.0))))
    state = simulator.step()
    assert np.allclose(state.accelerometer(), 0, atol=1e-12)
    assert np.allclose(state.gyro(), (3, -5, 2), rtol=0, atol=1e-12)


def test_the_command_line_goes_on(tmp_path):
    result = command_line("run", "differential_drive", "--mu", "0.02", "--on-slip", "go-on",
                          "--duration", "0.3", "--dt", "0.005", "--save", tmp_path / "run.npz")
    assert result.exit_code == 0, result.output
    assert "all wheels roll" in result.output and "slide" in result.output
    result = command_line("run", "ball", "--on-slip", "go-on", "--duration", "0.1")
    assert result.exit_code == 2 and "--mu 0.6" in result.output


# -- what it costs to roll -------------------------------------------------------------------------
@pytest.mark.parametrize("period", [1e-3, 1e-2])
def test_wheels_that_roll_are_watched_in_compiled_code(period, monkeypatch):
    """The run is that of ideal rolling, bit by bit, and Python looks at its start alone."""
    vehicle, looks = shipped("differential_drive"), []
    runs = []
    for how in ({}, {"contact": "coulomb", "mu": 0.8}):
        simulator = Simulator(vehicle, lambda t, state: np.array([0.1, 0.12]) * np.cos(3 * t),
                              control_period=period, on_lift="ignore", **how)
        simulator.propagator.compile(wait=True)
        if how:
            margins = RollingBound.margins
            monkeypatch.setattr(RollingBound, "margins", lambda grip, state: looks.append(state.t)
                                or margins(grip, state))
        runs.append(simulator.run(1.0))
    assert all(np.array_equal(getattr(runs[0], name), getattr(runs[1], name))
               for name in ("t", "q", "v", "u"))
    assert not runs[1].events
    assert len(looks) <= (2 if find_compiler() else np.inf)
