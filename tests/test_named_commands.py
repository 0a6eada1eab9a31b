"""Commands by name, and the small linear problems behind them."""

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from support import shipped

from nhmech import InputError, JointPosition, JointTorque, JointVelocity, SimulationError, Simulator
from nhmech.mechanics import constrain, euclidean, lagrangian_system
from nhmech.simulation.command import BadCommand
from nhmech.simulation.command_function import CommandFunction, CommandSymbols
from nhmech.simulation.command_reader import CommandReader
from nhmech.simulation.inverse_dynamics import InverseDynamics, Target
from nhmech.simulation.least_squares import WELL, LeastSquares, closed_form
from nhmech.simulation.simulated import Simulated
from nhmech.simulation.state_vector import StateVector
from nhmech.systems import load_system
from nhmech.urdf.description import JointLimits

LEFT, RIGHT = "left_wheel_joint", "right_wheel_joint"
SHAPES = [(1, 1), (2, 2), (4, 3), (3, 4), (1, 3), (4, 4)]


# -- least squares ---------------------------------------------------------------------------------
def in_closed_form(shape) -> ca.Function:
    A, b = ca.SX.sym("A", *shape), ca.SX.sym("b", shape[0])
    return ca.Function("closed", [A, b], closed_form(A, b))


@pytest.mark.parametrize("rank", [1, 4])
@pytest.mark.parametrize("shape", SHAPES)
def test_least_squares_are_those_of_numpy(shape, rank):
    """By singular values, and of full rank in closed form, which knows that rank one is none."""
    random = np.random.default_rng(sum(shape))
    (m, n), most = shape, min(*shape, rank)
    closed, by_numbers, good = in_closed_form(shape), LeastSquares(m, n), 0
    for _ in range(10):
        A = random.normal(size=(m, most)) @ random.normal(size=(most, n))
        b = random.normal(size=m)
        wanted = np.linalg.lstsq(A, b, rcond=1e-9)[0]
        np.testing.assert_allclose(by_numbers(A, b), wanted, rtol=1e-10, atol=1e-11)
        x, quality = (found.full().ravel() for found in closed(A, b))
        if most == min(shape):
            pivots = np.abs(np.diag(np.linalg.qr(A if m >= n else A.T)[1]))
            assert float(quality[0]) == pytest.approx(pivots.min() / pivots.max(), rel=1e-9)
        if quality > WELL:
            np.testing.assert_allclose(x, wanted, rtol=1e-10, atol=1e-11)
            good += 1
    assert good > 5 if most == min(shape) else good == 0


@pytest.mark.parametrize("least", [1e-3, 1e-8, 1.1e-9, 0.9e-9, 1e-11, 0.0])
def test_nearly_singular_ones_too(least):
    """Singular values 1 and `least`, which counts as zero from 1e-9 down."""
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    A, b = turn @ np.diag([1.0, least]) @ turn, np.array([0.3, 0.5])
    wanted = np.linalg.lstsq(A, b, rcond=1e-9)[0]
    np.testing.assert_allclose(LeastSquares(2, 2)(A, b), wanted,
                               rtol=1e-13 / max(least, 1e-9) ** 0.9)
    assert not in_closed_form((2, 2))(A, b)[1] > WELL


def test_no_equation_and_no_unknown():
    assert LeastSquares(0, 3)(np.zeros((0, 3)), np.zeros(0)).tolist() == [0.0, 0.0, 0.0]
    assert LeastSquares(2, 0)(np.zeros((2, 0)), np.ones(2)).shape == (0,)
    for m, n in ((0, 3), (2, 0)):
        x, quality = closed_form(ca.SX.sym("A", m, n), ca.SX.sym("b", m))
        assert x.shape == (n, 1) and x.is_zero() and float(quality) == 1


# -- one joint -------------------------------------------------------------------------------------
@pytest.mark.parametrize("is_position, position, wanted, acceleration, speed", [
    # (p* - p) / T^2 - 2 rate / T, and (p* - p) / T, T = 0.1 s, within what the limits allow
    (True, 0.5, 0.52, 2 - 6, 0.2), (True, 1.9, 5.0, 10 - 6, 1.0), (True, -0.95, -5.0, -5 - 6, -0.5),
    (True, -1.0, 2.0, 2 * (4 - 0.3) / 0.1, 4.0), (True, 2.0, -1.0, 2 * (-4 - 0.3) / 0.1, -4.0),
    # (rate* - rate) / T, T = 0.05 s
    (False, 0.0, 1.0, 0.7 / 0.05, 1.0), (False, 0.0, 9.0, 3.7 / 0.05, 4.0),
    (False, 0.0, -9.0, -4.3 / 0.05, -4.0),
    # to rest at a limit, as if that position were commanded; away from it as far as one likes
    (False, 1.9, 3.0, 0.2 / 0.05, 1.0), (False, 1.9, -3.0, -3.3 / 0.05, -3.0),
    (False, -0.95, -3.0, -0.55 / 0.05, -0.5), (False, -0.95, 3.0, 2.7 / 0.05, 3.0),
    # not back from beyond, unless that is commanded
    (False, 2.5, 1.0, -0.3 / 0.05, 0.0), (False, 2.5, -1.0, -1.3 / 0.05, -1.0),
    (False, -1.5, -1.0, -0.3 / 0.05, 0.0), (False, -1.5, 1.0, 0.7 / 0.05, 1.0)])
def test_how_a_joint_is_brought_to_what_is_commanded(is_position, position, wanted, acceleration,
                                                    speed):
    """Of a joint between -1 and 2, at most at 4 a second, that moves at 0.3."""
    v, x = np.array([9.0, 0.3]), np.array([8.0, 7.0, position])
    target = Target(1, 2, JointLimits(-1.0, 2.0, 4.0, 9.0), is_position)
    assert float(target.acceleration(wanted, v, x)) == pytest.approx(acceleration, rel=1e-12)
    assert float(target.speed(wanted, x)) == pytest.approx(speed, rel=1e-12, abs=1e-15)
    # with one limit, which decides on its own side alone; with none
    above, below, free = (Target(1, 2, JointLimits(*ends, np.inf, np.inf), is_position)
                          for ends in ((-1.0, np.inf), (-np.inf, 2.0), (-np.inf, np.inf)))
    if abs(wanted) < 4 and position > -0.9:
        assert float(above.speed(wanted, x)) == pytest.approx(float(free.speed(wanted, x)))
    if abs(wanted) < 4 and position < 1.9:
        assert float(below.speed(wanted, x)) == pytest.approx(float(free.speed(wanted, x)))
    if not is_position:
        assert float(Target(1, None, free.limits, False).acceleration(wanted, v, x)) == (
            pytest.approx((wanted - 0.3) / 0.05, rel=1e-12))


@pytest.mark.parametrize("lower, upper", [(-1.0, 2.0), (-1.0, np.inf), (-np.inf, 2.0),
                                          (-np.inf, np.inf)])
def test_a_limit_on_one_side_is_one(lower, upper):
    """Commanded speeds look at the position of a joint that has one; commanded positions always."""
    vehicle, name = shipped("ackermann_car"), "front_left_steering_joint"
    vector, q = StateVector.of(vehicle.equations), vehicle.configuration(None, {name: 0.2})
    (place,) = np.flatnonzero(np.isclose(vector.assemble(q, np.zeros(vector.nxi)), 0.2, atol=1e-12))
    made = InverseDynamics(vehicle.equations, {name: JointLimits(lower, upper, 4.0, 9.0)}, 3)
    for is_position in (False, True):
        target = made.target(name, is_position)
        is_watched = is_position or lower > -np.inf or upper < np.inf
        assert target.position == (place if is_watched else None)
        assert target.limits.upper == upper and target.is_position is is_position
        assert target.rate == vehicle.algebroid.v_names.index(name)
    assert made.target("rear_left_wheel_joint", False).position is None


# -- reading ---------------------------------------------------------------------------------------
def reader(names=("a", "b")) -> CommandReader:
    """Whose plans are the parts themselves, and which says how often it made one."""
    made = []

    def plan(parts):
        made.append(parts)
        if parts is not None and any("none" in part.joints for part in parts):
            raise BadCommand("there is no such joint")
        return parts
    found = CommandReader(plan, "efforts", names)
    found.made = made
    return found


MOMENT = SimpleNamespace(t=0.5)
READ = [
    (JointTorque({"a": 1.0}), [1.0]), (JointTorque({"b": 2.0, "a": 1.0}), [2.0, 1.0]),
    (JointPosition({"a": 1.0}), [1.0]), (JointVelocity({"a": 1.0}), [1.0, np.inf]),
    (JointVelocity({"a": 1.0, "b": 2.0}, 3.0), [1.0, 2.0, 3.0]),
    ([JointVelocity({"a": 1.0}, 3.0), JointTorque({"b": 2.0})], [1.0, 2.0, 3.0]),
    ((JointVelocity({"a": 1.0}), JointVelocity({"b": 2.0}, 4.0)), [1.0, 2.0, np.inf, 4.0]),
    ([JointTorque({"a": 1.0})], [1.0]), (JointTorque({}), [])]


def test_a_command_is_its_names_and_its_numbers(monkeypatch):
    """Limits follow the numbers. What has been read once is read again without a check, in any
    order with others."""
    read = reader()
    for command, numbers in [*READ, *READ[::-1]]:
        plan, found = read.read(command, MOMENT)
        parts = command if isinstance(command, (list, tuple)) else [command]
        assert [*found] == numbers
        assert plan == tuple((type(part), tuple(part.values)) for part in parts)
        with monkeypatch.context() as patch:
            patch.setattr(read, "check", None)      # an error, if it were called
            again, found = read.read(command, MOMENT)
        assert again is plan and [*found] == numbers
    assert len(read.made) == len(read.plans) == len(READ) - 1
    # whole numbers are read as floats, at each time
    for value in (3, np.float64(4.0), np.int8(5)):
        assert [*read.read(JointTorque({"a": value}), MOMENT)[1]] == [float(value)]


def test_a_reader_forgets_names_that_are_ever_new(monkeypatch):
    monkeypatch.setattr("nhmech.simulation.command_reader.KEPT", 3)
    read, other = reader(), reader()
    for name in ("p", "q", "r", "p"):
        read.read(JointTorque({name: 1.0}), MOMENT)
    assert len(read.made) == len(read.plans) == 3
    other.learn(read)
    assert other.plans == read.plans and [*other.made] == [*read.made]
    read.read(JointTorque({"s": 1.0}), MOMENT)
    assert len(read.plans) == 1


@pytest.mark.parametrize("command, message", [
    ([1.0, 2.0, 3.0], r"returned shape \(3,\), expected \(2,\): efforts of a, b"),
    (1.0, r"returned shape \(\)"), ([1.0, np.nan], r"returned \[ 1. nan\]: not finite"),
    ([np.inf, 1.0], "not finite"), ("push", "returned str; return an array"),
    (np.array([1j, 0]), "returned complex128"), (None, "returned NoneType|returned object"),
    ([], r"returned shape \(0,\)"), ([1.0, JointTorque({"a": 1.0})], "returned list"),
    ([JointTorque({"a": 1.0}), 1.0], "returned float; return"),
    (JointTorque([("a", 1.0)]), "JointTorque takes a mapping"),
    ([JointTorque({"a": 1.0}), JointVelocity({"a": 1.0})], "joint 'a' is commanded twice"),
    (JointTorque({"none": 1.0}), "t = 0.5 s: there is no such joint"),
    (JointTorque({"a": 1.0, "b": np.nan}), "JointTorque for 'b' is nan; expected a finite"),
    (JointTorque({"a": "1"}), "JointTorque for 'a' is '1'; expected")])
def test_what_is_no_command_is_refused(command, message):
    read = reader()
    for look in (lambda: read.check(command, 0.5), *[lambda: read.read(command, MOMENT)] * (
            not isinstance(command, np.ndarray))):       # whose function looks at it
        with pytest.raises(BadCommand, match=message):
            look()
        assert [*read.check([1, 2], 0.5)[1]] == [1.0, 2.0]
        assert read.read(np.zeros(2), MOMENT)[0] is None


def carried_out(A, t=0.7) -> tuple[CommandFunction, SimpleNamespace]:
    """Solves A y = numbers, and has y and three times y for results; A may contain t."""
    symbols = CommandSymbols(ca.SX, (1, 1, 1, 0), len(A), 1)
    A = ca.densify(ca.vertcat(*(ca.horzcat(*(one(symbols.t) if callable(one) else one
                                             for one in row)) for row in A)))
    moment = SimpleNamespace(clock=np.array([t, 0.0, 0.0]), q=np.zeros(1), v=np.zeros(1),
                             x=np.zeros(1))
    return CommandFunction(symbols, A, symbols.numbers, lambda y: [ca.densify(y), 3 * y]), moment


@pytest.mark.parametrize("A", [
    [[1.0, 2.0], [3.0, lambda t: 4 * t]], [[1.0, 2.0], [2.0, 4.0]], [[1.0], [2.0]], [[0.0], [0.0]],
    [[0.0]], [[2.0]], [[1.0, 2.0, 3.0]], [[1.0, 1e-7], [1.0, 0.0]]])
def test_a_function_of_a_command_solves_in_the_least_squares_sense(A):
    """In closed form if that is good, else by singular values."""
    function, moment = carried_out(A)
    numbers = np.array([0.3, -0.5])[:len(A)]
    given = np.append(numbers, np.inf)           # the limit need not be finite
    matrix = [[one(0.7) if callable(one) else one for one in row] for row in A]
    wanted = np.linalg.lstsq(matrix, numbers, rcond=1e-9)[0]
    quality = function.follow(given, moment, np.zeros(0))
    assert not quality < 0 and (quality > WELL) == (
        np.linalg.cond(matrix) < 100 and np.isfinite(np.linalg.cond(matrix)))
    if not quality > WELL:
        function.finish(function.least_squares())
    y, thrice = function.results
    np.testing.assert_allclose(y, wanted, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(thrice, 3 * wanted, rtol=1e-9, atol=1e-12)
    # what was solved otherwise is not remembered, and other moments and numbers are read
    function.finish(np.ones(len(wanted)))
    assert y.tolist() == [1.0] * len(wanted)
    moment.clock[0] = 0.9
    function.follow(-given, moment, np.zeros(0))
    if quality > WELL:
        matrix = [[one(0.9) if callable(one) else one for one in row] for row in A]
        np.testing.assert_allclose(y, np.linalg.lstsq(matrix, -numbers, rcond=1e-9)[0], rtol=1e-9)


@pytest.mark.parametrize("numbers", [[np.nan, 1.0, 1.0], [1.0, np.inf, 1.0], [1e308, 1e308, 1.0],
                                     [1.0, 2.0], [1.0, 2.0, 3.0, 4.0], np.zeros((3, 1))])
def test_numbers_that_are_none_are_known_to_a_function(numbers):
    function, moment = carried_out([[1.0, 2.0], [3.0, 4.0]])
    assert function.follow(np.array(numbers), moment, np.zeros(0)) < 0
    assert function.follow(np.array([1.0, 2.0, 3.0]), moment, np.zeros(0)) > WELL
    assert function.follow(np.array([1, 2, 3]), moment, np.zeros(0)) < 0


@pytest.mark.parametrize("count", [0, 1, 2, 5])
@pytest.mark.parametrize("slips", [False, True])
def test_speeds_fit_as_well_as_they_can(count, slips):
    """On a turntable, whose rows are affine: what is left is perpendicular to what the wanted rows
    can do, and, in the directions that they leave free, the slip to what those can do; without
    slip, the speeds have no part in these directions."""
    rng = np.random.default_rng(count)
    simulated = Simulated.of(load_system("ball_on_turntable"))
    equations, theta, q = simulated.equations, simulated.theta, simulated.constrained.configurations
    nxi, q = len(equations.names), q[0]

    def velocity(xi):
        return equations.velocity(0.3, q, xi, theta).full().ravel()
    e0 = velocity(np.zeros(nxi))
    E = np.column_stack([velocity(one) for one in np.eye(nxi)]) - e0[:, None]
    rows = sorted(rng.choice(len(e0), count, replace=False))
    wanted, S, offset = rng.normal(size=count), rng.normal(size=(4, len(e0))), rng.normal(size=4)
    slip = ca.Function("slip", [ca.SX.sym("t"), ca.SX.sym("q", len(q)),
                                ca.SX.sym("theta", len(theta))], [ca.SX(S), ca.SX(offset)])
    xi, error = InverseDynamics(equations, {}, 0).fit_speeds(
        0.3, q, theta, rows, wanted, slip if slips else None)
    left = velocity(xi)[rows] - wanted
    assert error == pytest.approx(np.abs(left).max(initial=0.0), abs=1e-13)
    np.testing.assert_allclose(E[rows].T @ left, 0, atol=1e-12)
    _, s, vt = np.linalg.svd(E[rows])
    free = vt[int((s > 1e-9).sum()):].T
    if slips:
        np.testing.assert_allclose((S @ E @ free).T @ (S @ velocity(xi) + offset), 0, atol=1e-11)
    else:
        np.testing.assert_allclose(free.T @ xi, 0, atol=1e-12)
    assert np.abs(e0).max() > 0.1 and (count == 5) == bool(np.abs(left).max(initial=0.0) > 1e-9)


# -- commands --------------------------------------------------------------------------------------
def commanded(command, mode="dynamic"):
    simulator = Simulator(shipped("differential_drive"), lambda t, state: command, dt=1e-2,
                          mode=mode)
    simulator.reset()
    return simulator


def test_a_command_that_is_changed_and_returned_again_is_followed():
    """Numbers, names and order of one and the same object."""
    torques = JointTorque({LEFT: 0.1, RIGHT: 0.2})
    simulator = commanded(torques)
    assert simulator.step().u.tolist() == [0.1, 0.2]
    torques.values[LEFT] = 0.3
    assert simulator.step().u.tolist() == [0.3, 0.2]
    del torques.values[LEFT]
    assert simulator.step().u.tolist() == [0.0, 0.2]
    torques.values.update({LEFT: 1})                 # behind the other one, and a whole number
    assert simulator.step().u.tolist() == [1.0, 0.2]
    torques.values["lift"] = 0.0
    with pytest.raises(SimulationError, match="'lift' is not driven"):
        simulator.step()
    del torques.values["lift"]
    torques.values[RIGHT] = np.nan
    with pytest.raises(SimulationError, match=f"{RIGHT!r} is nan; expected a finite number"):
        simulator.step()


def test_an_array_that_is_changed_and_returned_again_is_followed():
    efforts = np.zeros(2)
    simulator = commanded(efforts)
    before = simulator.step()
    efforts[...] = 0.1, 0.2
    assert simulator.step().u.tolist() == [0.1, 0.2] and before.u.tolist() == [0.0, 0.0]


def test_one_set_of_names_means_something_else_in_another_class():
    class Push(JointTorque):
        pass

    commands = [JointTorque({LEFT: 0.5}), JointVelocity({LEFT: 0.5}), JointPosition({LEFT: 0.5}),
                Push({LEFT: 0.5}), [JointVelocity({LEFT: 0.5})],
                [JointTorque({RIGHT: 0.0}), JointVelocity({LEFT: 0.5})]]
    found = []
    simulator = Simulator(shipped("differential_drive"),
                          lambda t, state: commands[len(found)], dt=1e-2)
    for _ in commands:
        simulator.reset()
        found.append(simulator.step().u.copy())
    torque, velocity, position, push, listed, mixed = found
    assert torque.tolist() == push.tolist() == [0.5, 0.0]
    np.testing.assert_allclose(listed, velocity, rtol=1e-13)
    np.testing.assert_allclose(mixed, velocity, rtol=1e-13)
    assert not np.allclose(velocity, torque) and not np.allclose(position, velocity)


def test_values_that_are_no_mapping_are_refused_after_ones_that_are():
    torques = {LEFT: 0.1}
    commands = [JointTorque(torques), JointTorque([LEFT])]
    simulator = Simulator(shipped("differential_drive"), lambda t, state: commands.pop(0))
    simulator.reset()
    simulator.step()
    with pytest.raises(SimulationError, match="takes a mapping of joint names"):
        simulator.step()


@pytest.mark.parametrize("most, share", [(0.1, 0.5), (0.199, 0.995), (0.201, 1.0), (None, 1.0)])
def test_accelerations_are_held_back_together(most, share):
    """From rest: of 0.2 and 0.1 rad/s^2, by one factor."""
    simulator = commanded(JointVelocity({LEFT: 0.01, RIGHT: 0.005}, most))
    state = simulator.step()
    found = [state.joint_velocity[name] / 0.01 for name in (LEFT, RIGHT)]
    assert found == pytest.approx([0.2 * share, 0.1 * share], rel=1e-6)


@pytest.mark.parametrize("mode, reader", [("dynamic", "servos"), ("kinematic", "courses")])
def test_other_equations_learn_which_commands_there_are(mode, reader):
    simulator = commanded(JointVelocity({LEFT: 0.01}), mode)
    simulator.step()
    one = simulator.atlas.chart.inverse_dynamics
    other = InverseDynamics(one.equations, one.limits, one.nu)
    other.learn(one)
    assert getattr(other, reader).plans.keys() == getattr(one, reader).plans.keys() != set()


def test_an_input_that_is_no_joint_takes_efforts_alone():
    cart = constrain(lagrangian_system(euclidean("x"), lambda s: s.v.x ** 2 / 2, inputs=("push",),
                                       force=lambda s: {"x": s.u.push}), rows={})
    for command, words in ((JointVelocity({"push": 1.0}), "'push' is no joint; command its effort"),
                           (JointTorque({"x'": 1.0}), "\"x'\" is not driven; .* push")):
        simulator = Simulator(cart, lambda t, state, command=command: command)
        simulator.reset(q=[0.0])
        with pytest.raises(SimulationError, match=words):
            simulator.step()
    simulator = Simulator(cart, lambda t, state: JointTorque({"push": 3.0}), dt=0.5)
    simulator.reset(q=[0.0])
    assert simulator.step().v[0] == pytest.approx(1.5, rel=1e-12)


def test_a_speed_that_cannot_be_is_left_out():
    """Of one of two coordinates, which a row holds, as where there are more."""
    held = constrain(lagrangian_system(euclidean("x", "y"), lambda s: s.v.x ** 2 + s.v.y ** 2),
                     rows={"still": lambda s: s.v.y})
    simulator = Simulator(held, lambda t, state: JointVelocity({"y'": 1.0}), mode="kinematic")
    simulator.reset(q=[0.2, 0.3])
    run = simulator.run(0.01)
    assert run.stop == "duration" and (run.q == [0.2, 0.3]).all()


@pytest.mark.parametrize("mode", ["dynamic", "kinematic"])
def test_redundant_wheels_follow_in_the_least_squares_sense(mode):
    """Four wheels of a base with three freedoms, at rates that contradict each other."""
    vehicle = shipped("mecanum")
    rates = dict(zip(vehicle.driven, (1.0, 0.5, -0.5, 2.0), strict=True))
    simulator = Simulator(vehicle, lambda t, state: JointVelocity(rates), mode=mode, dt=1e-3)
    start = simulator.reset()
    state = simulator.step()
    chart = simulator.atlas.chart.inverse_dynamics
    rows = [chart.v_names.index(name) for name in rates]
    if mode == "kinematic":
        # v = E xi is linear, so its projection is that of the rates onto what v can be
        E = np.column_stack([
            np.array(simulator.atlas.chart.equations.velocity(0, start.q, xi, [])).ravel()[rows]
            for xi in np.eye(3)])
        wanted = E @ np.linalg.pinv(E) @ list(rates.values())
        np.testing.assert_allclose([state.joint_velocity[name] for name in rates], wanted,
                                   rtol=1e-12, atol=1e-12)
    else:
        a0, effect = (found.full() for found in chart.accelerations(0, start.q, np.zeros(3), []))
        wanted = np.linalg.pinv(effect[rows], rcond=1e-9) @ (
            np.array(list(rates.values())) / 0.05 - a0[rows].ravel())
        np.testing.assert_allclose(state.u, wanted, rtol=1e-11)


def test_states_are_kept_by_value():
    simulator = commanded(None)
    state = simulator.step()
    values = state.values
    copy = type(state)(state.t, values.astype(np.float32), state.layout)
    values[...] = np.nan
    assert np.isfinite(state.q).all() and np.isfinite(copy.q).all()
    with pytest.raises(ValueError, match="read-only"):
        state.q[0] = 1.0
    with pytest.raises(ValueError, match="WRITEABLE"):
        state.q.setflags(write=True)
    with pytest.raises(InputError, match="no 'lift' here"):
        state.joint_velocity["lift"]


def test_a_run_with_a_controller_is_its_steps():
    """Bit by bit, with a record of each third state and an error on the way."""
    def drive(t, state):
        if t > 0.5:
            raise RuntimeError("cable loose")
        return JointVelocity({LEFT: 1.0 + t, RIGHT: state.joint_velocity[LEFT]})

    by_run, by_steps = (Simulator(shipped("differential_drive"), drive) for _ in range(2))
    by_run.reset()
    with pytest.raises(SimulationError, match="cable loose") as caught:
        by_run.run(1.0, every=3)
    run, states = caught.value.trajectory, [by_steps.reset()]
    while states[-1].t <= 0.5:
        states.append(by_steps.step())
    assert len(states) == 502 and len(run) == 168
    for i in (0, 1, 100, 166):
        assert np.array_equal(run.q[i], states[3 * i].q) and run.t[i] == states[3 * i].t
    assert np.array_equal(run.q[-1], states[-1].q)


def test_efforts_alone_need_no_inverse_dynamics():
    """Only what joints are to do forms the servo's accelerations, and efforts beside it stay."""
    vehicle = shipped("differential_drive")
    left, right = vehicle.driven
    simulator = Simulator(vehicle)
    dynamics, moment = simulator.atlas.primary.inverse_dynamics, simulator.moment
    pushed, _ = dynamics.servos.read(JointTorque({right: 0.2, left: 0.1}), moment)
    assert "accelerations" not in vars(dynamics) and not pushed.rows and not pushed.columns
    mixed, _ = dynamics.servos.read([JointTorque({right: 0.2}), JointVelocity({left: 1.0})], moment)
    assert "accelerations" in vars(dynamics) and mixed.columns == (0,)
