"""Controllers made of controllers, what they see, and what happens to bad commands on the way."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support import shipped

import nhmech
from nhmech import InputError, JointPosition, JointTorque, JointVelocity, SimulationError, Simulator
from nhmech.control.combinators import Delay, Exchange, Hold, Saturation, Sum, Switch
from nhmech.control.measurement import MeasurementNoise, Quantise
from nhmech.control.twist import TwistDrive
from nhmech.systems import load_system

DT = 1e-3
LEFT, RIGHT = "left_wheel_joint", "right_wheel_joint"


class Counting:
    """A wave of efforts; keeps count of calls and resets, and every state it saw."""

    start = {"xi": {"forward_speed": 0.2, "yaw_rate": 0.1}}

    def __init__(self, scale: float = 1.0):
        self.scale, self.resets = scale, 0
        self.reset()

    def reset(self):
        self.resets += 1
        self.seen = []

    def __call__(self, t, state):
        self.seen.append(state)
        return self.scale * np.array([np.sin(20 * t), np.cos(20 * t)])


def run(controller, steps: int = 200, **arguments):
    simulator = Simulator(shipped("differential_drive"), controller, dt=DT, on_lift="ignore",
                          **arguments)
    simulator.reset(**getattr(controller, "start", {}))
    return simulator.run(steps * DT)


EACH = {"Hold": lambda inner: Hold(inner, 0.02), "Delay": lambda inner: Delay(inner, 0.02),
        "Saturation": lambda inner: Saturation(inner, effort=0.5),
        "MeasurementNoise": lambda inner: MeasurementNoise(inner, position=0.01),
        "Quantise": lambda inner: Quantise(inner, 1024),
        "Switch": lambda inner: Switch(inner, inner, 0.05), "Sum": lambda inner: Sum(inner)}


@pytest.mark.parametrize("name", EACH)
def test_every_one_forwards_reset_and_start_and_says_its_name(name):
    inner = Counting()
    outer = EACH[name](EACH["Hold"](inner))
    assert outer.start == Counting.start and outer.name.startswith(f"{name}(Hold(Counting)")
    before = inner.resets
    Simulator(shipped("differential_drive"), outer).reset()
    assert inner.resets > before
    assert not hasattr(outer, "law") and EACH[name](lambda t, state: None).start == {}


@pytest.mark.parametrize("name", EACH)
def test_two_runs_of_one_are_the_same(name):
    controller = EACH[name](TwistDrive(shipped("differential_drive"),
                                       lambda t, state: (0.3 - state.pose[0], 0, np.sin(9 * t))))
    first, second = run(controller), run(controller)
    assert np.array_equal(first.q, second.q) and np.array_equal(first.u, second.u)


def test_hold_asks_once_a_period():
    inner = Counting()
    held = run(Hold(inner, 0.013), 200)
    assert [s.t for s in inner.seen] == pytest.approx(np.arange(0, 0.2, 0.013), abs=1e-12)
    expected = np.repeat([[np.sin(20 * t), np.cos(20 * t)] for t in np.arange(0, 0.2, 0.013)], 13,
                         axis=0)[:200]
    assert held.u[:-1] == pytest.approx(expected, rel=0, abs=1e-12)


def test_hold_slower_than_the_control_period_takes_the_next_call():
    inner = Counting()
    run(Hold(inner, 0.013), 100, control_period=5e-3)
    assert [s.t for s in inner.seen] == pytest.approx(
        [0, 0.015, 0.030, 0.040, 0.055, 0.065, 0.080, 0.095], abs=1e-12
    )


def test_hold_keeps_its_beat_after_it_was_not_asked():
    """From a moment in the middle of a run, without a reset."""
    asked = []
    held = Hold(lambda t, state: asked.append(t), 0.1)
    for t in (3.0, 3.05, 3.57, 3.58, 3.6, 3.65, 4.2, 4.25, 4.3):
        held(t, None)
    assert asked == [3.0, 3.57, 3.6, 4.2, 4.3]


@pytest.mark.parametrize("name", EACH)
def test_a_new_one_needs_no_reset(name):
    state = Simulator(shipped("differential_drive")).state
    seen = []
    EACH[name](lambda t, state: seen.append(t))(0.3, state)
    assert seen == [0.3]


@pytest.mark.parametrize("steps", [1, 7, 50])
def test_delay_shifts_exactly(steps):
    """The command is a function of time alone: that of the delayed run is the other's,
    so many steps later, and nothing before."""
    plain, late = run(Counting()), run(Delay(Counting(), steps * DT))
    assert np.array_equal(late.u[steps:-1], plain.u[:-1 - steps])
    assert not late.u[:steps].any()


def test_saturation_bounds_what_is_bounded_and_nothing_else():
    inner = Counting(3.0)
    free = run(Counting(3.0))
    cut = run(Saturation(inner, effort=1.2))
    assert cut.u == pytest.approx(np.clip(free.u, -1.2, 1.2),
                                  rel=1e-15) and np.abs(free.u).max() > 2
    each = run(Saturation(Counting(3.0), plain=(1.0, 2.5)))
    assert each.u == pytest.approx(np.clip(free.u, (-1.0, -2.5), (1.0, 2.5)), rel=1e-15)

    answer = [JointTorque({"a": 5.0, "b": -5.0}), JointVelocity({"a": -3.0}),
              JointPosition({"a": 0.4})]
    saturated = Saturation(lambda t, state: answer, effort={"a": 2.0}, velocity=1.0, position=1.0)
    torque, velocity, position = saturated(0.0, None)
    assert (torque.values == {"a": 2.0, "b": -5.0} and velocity.values == {"a": -1.0}
            and position.values == {"a": 0.4})
    assert answer[0].values == {"a": 5.0, "b": -5.0}, "the inner command is left alone"
    assert Saturation(lambda t, state: None, effort=1.0)(0.0, None) is None


@pytest.mark.parametrize("bound", [0, 0.0, 1.5, np.float64(1.5), {"a": 1.5}])
@pytest.mark.parametrize("value", [-1.6, -1.5, -0.2, 0.0, 1.4, 1.5, 1.6, 1e300, np.inf, -np.inf])
def test_a_bound_cuts_what_is_beyond_it_and_finite(bound, value):
    """Numbers and names alike; zero is a bound, and infinity is left to the simulator."""
    most = bound["a"] if isinstance(bound, dict) else bound
    cut = value if np.isinf(value) else float(np.clip(value, -most, most))
    for kind, words in ((JointTorque, {"effort": bound}), (JointVelocity, {"velocity": bound}),
                        (JointPosition, {"position": bound})):
        named = Saturation(lambda t, state, kind=kind: kind({"a": value, "b": 9.0}), **words)
        assert named(0.0, None).values == {"a": cut,
                                           "b": 9.0 if isinstance(bound, dict) else float(most)}
    if not isinstance(bound, dict):
        plain = Saturation(lambda t, state: np.array([value, 0.0]), plain=bound)
        assert plain(0.0, None).tolist() == [cut, 0.0]
        for other in (lambda t, state: "word", lambda t, state: [1.0]):
            assert np.array_equal(Saturation(other, plain=(9.0, 9.0))(0.0, None), other(0.0, None))


@pytest.mark.parametrize("limits, most", [((2.0, 3.0), 5.0), ((2.0, None), None),
                                          ((None, None), None)])
def test_a_sum_of_rates_may_change_as_fast_as_both(limits, most):
    """Where one of them may change at once, so may the sum."""
    one, other = (lambda t, state, limit=limit: JointVelocity({"a": 1.0}, limit)
                  for limit in limits)
    assert Sum(one, other)(0.0, None) == [JointVelocity({"a": 2.0}, most)]
    assert Sum(one, lambda t, state: None)(0.0, None) == JointVelocity({"a": 1.0}, limits[0])
    assert Sum(lambda t, state: None, lambda t, state: None)(0.0, None) is None


def test_the_twist_of_a_sum_is_the_sum_of_twists():
    """Of those that command one; none yet before the first call, None where nobody ever does."""
    vehicle, state = shipped("differential_drive"), Simulator(shipped("differential_drive")).state
    twists = [(0.1, 0.0, 0.2), (0.3, 0.0, -0.5), (0.05, 0.0, 0.0)]
    both = Sum(*(TwistDrive(vehicle, twist) for twist in twists), lambda t, state: None)
    assert both.commanded_twist.shape == (3,) and np.isnan(both.commanded_twist).all()
    both(0.0, state)
    np.testing.assert_allclose(both.commanded_twist, np.sum(twists, axis=0), rtol=1e-15)
    assert Sum(lambda t, state: None).commanded_twist is None


def test_an_exchange_resets_who_takes_over():
    first, second = Counting(), Counting(2.0)
    both = Exchange({"first": first, "second": second})
    counts = [first.resets, second.resets]
    for name, more in (("first", (0, 0)), ("second", (0, 1)), ("second", (0, 0)),
                       ("first", (1, 0))):
        both.choose(name)
        counts = [count + extra for count, extra in zip(counts, more)]
        assert [first.resets, second.resets] == counts and both.chosen == name
        chosen = first if name == "first" else second
        assert np.array_equal(both(0.3, None), chosen(0.3, None))
    with pytest.raises(InputError, match="controller 'third' does not exist"):
        both.choose("third")


def test_switch_by_time_and_by_predicate():
    first, second = Counting(), Counting(-2.0)
    u = run(Switch(first, second, 0.05)).u
    wave = np.array([[np.sin(20 * t), np.cos(20 * t)] for t in np.arange(200) * DT])
    assert u[:50] == pytest.approx(wave[:50], abs=1e-12) and u[50:-1] == pytest.approx(
        -2 * wave[50:], abs=1e-12
    )
    assert len(first.seen) == 50 and len(second.seen) == 150

    high = lambda t, state: np.sin(20 * t) > 0.5          # noqa: E731
    for latch, expected in ((True, np.maximum.accumulate(np.sin(20 * np.arange(200) * DT) > 0.5)),
                            (False, np.sin(20 * np.arange(200) * DT) > 0.5)):
        second = Counting()
        controller = Switch(Counting(), second, high, latch=latch)
        run(controller)
        assert [s.t for s in second.seen] == pytest.approx(np.flatnonzero(expected) * DT, abs=1e-12)
        assert len(second.seen) > 10
    controller.reset()
    assert not controller._switched


def test_sum_adds():
    assert run(Sum(Counting(), Counting(2.0), lambda t, state: None)).u == pytest.approx(
        run(Counting(3.0)).u, rel=1e-14, abs=1e-14)
    both = Sum(lambda t, s: JointTorque({"a": 1.0}), lambda t, s: JointTorque({"a": 2.0, "b": 3.0}))
    assert both(0.0, None) == [JointTorque({"a": 3.0, "b": 3.0})]
    two = Sum(lambda t, s: (JointPosition({"a": 1.0}), JointVelocity({"b": 1.0})),
              lambda t, s: JointVelocity({"b": 2.0}))
    assert two(0.0, None) == [JointPosition({"a": 1.0}), JointVelocity({"b": 3.0})]
    with pytest.raises(SimulationError, match=r"cannot add JointTorque of <lambda>, ndarray\[2\]"):
        Sum(lambda t, s: JointTorque({"a": 1.0}), lambda t, s: np.zeros(2))(0.0, None)
    with pytest.raises(SimulationError, match=r"controller Sum\(<lambda>, <lambda>\) at t = 0 s: "
                                              r"Sum cannot add ndarray\[2\].*ndarray\[3\]"):
        run(Sum(lambda t, s: np.zeros(2), lambda t, s: np.zeros(3)))


# -- what is measured ------------------------------------------------------------------------------
class Reading:
    """Reads everything there is, drives a little, and keeps it."""

    def __init__(self):
        self.rows = []

    def reset(self):
        self.rows = []

    def __call__(self, t, state):
        tilt = state.T_WB[:3, :3] @ (0, 0, 1)
        self.rows.append([*state.q[:3], state.pose[2], tilt[0], tilt[1], *state.v[:6],
                          state.joint_position[LEFT],
                          state.encoder.angle[RIGHT], np.arctan2(*state.q[7:9][::-1]),
                          state.joint_velocity[LEFT], state.encoder.rate[RIGHT], *state.gyro(),
                          *state.accelerometer("caster_link")])
        once, again = state.accelerometer("caster_link"), state.accelerometer("caster_link")
        assert np.array_equal(once, again), "one state reads the same however often"
        return np.zeros(2)


SIZES = dict(position=0.01, heading=0.02, tilt=0.03, velocity=0.04, angular_velocity=0.05,
             joint_position=0.06, joint_velocity=0.07, gyro=0.08, accelerometer=0.09)


def noise(seed: int, count: int, **sizes) -> np.ndarray:
    """What noise adds to so many readings of a vehicle at rest, (calls, readings)."""
    reading = Reading()
    run(MeasurementNoise(reading, seed=seed, **sizes), count)
    still = Reading()
    run(still, 1)
    return np.array(reading.rows) - still.rows[0]


def test_noise_has_the_deviation_it_was_given_and_is_white():
    """4000 draws: the sample deviation is within 5 / sqrt(2 * 4000) of the true one,
    the mean and the correlation within 5 / sqrt(4000)."""
    errors = noise(3, 4000, **SIZES)
    s = SIZES
    expected = np.array([s["position"]] * 3
                        + [s["heading"], s["tilt"], s["tilt"]] + [s["velocity"]] * 3
                        + [s["angular_velocity"]] * 3 + [s["joint_position"]] * 3
                        + [s["joint_velocity"]] * 2
                        + [s["gyro"]] * 3 + [s["accelerometer"]] * 3)
    n = len(errors)
    # for tilt and heading of some hundredths the angles are those of the rotation vector to second
    # order
    assert np.std(errors, axis=0) == pytest.approx(expected, rel=5 / np.sqrt(2 * n))
    scaled = errors / expected
    assert np.abs(scaled.mean(axis=0)).max() < 5 / np.sqrt(n)
    assert np.abs((scaled[1:] * scaled[:-1]).mean(axis=0)).max() < 5 / np.sqrt(n)
    # the left wheel's angle, read from x and from q
    same = {(12, 14)}
    correlation = scaled.T @ scaled / n
    for i in range(len(expected)):
        for j in range(i):
            assert (abs(correlation[i, j]) < 5 / np.sqrt(n) or (j, i) in same
                    or correlation[i, j] == pytest.approx(1, abs=1e-2))


def test_noise_comes_from_its_seed():
    first = noise(3, 200, **SIZES)
    assert np.array_equal(first, noise(3, 200, **SIZES))
    assert not np.any(first[0] == noise(4, 1, **SIZES)[0])
    # without a run too
    state = Simulator(shipped("differential_drive")).reset()
    seen = [MeasurementNoise(Reading(), seed=3, **SIZES).measure(state).q for _ in range(2)]
    assert np.array_equal(*seen) and not np.array_equal(seen[0], state.q)
    reading = Reading()
    controller = MeasurementNoise(reading, seed=1, **SIZES)
    run(controller, 20)
    first = reading.rows
    run(controller, 20)
    assert reading.rows == first, "reset winds the generator back"


def test_without_deviations_nothing_changes():
    assert np.abs(noise(3, 200)).max() < 1e-15


def test_noise_leaves_a_state_that_is_one():
    seen = []
    controller = MeasurementNoise(lambda t, state: seen.append(state), **SIZES)
    run(controller, 3)
    state = seen[1]
    assert np.linalg.norm(state.q[3:7]) == pytest.approx(1, abs=1e-15)
    assert isinstance(state, nhmech.State) and state.t == DT and state.xi["yaw_rate"] == state.v[5]
    with pytest.raises(InputError, match="no link 'nose'.*base_link"):
        state.gyro("nose")
    with pytest.raises(InputError, match="tilt = -1"):
        MeasurementNoise(lambda t, state: None, tilt=-1)


@pytest.mark.parametrize("name", ["position", "heading", "tilt", "velocity", "angular_velocity"])
def test_a_base_that_is_not_there_has_no_noise(name):
    """One deviation is enough; coordinates and rates of any system are measured."""
    state = Simulator(load_system("sled")).reset(q=[0.1, 0.2, 0.3], xi=[0.5, 0.6])
    with pytest.raises(nhmech.ModelError, match="no base to add noise to"):
        MeasurementNoise(lambda t, state: None, **{name: 0.1}).measure(state)
    seen = MeasurementNoise(lambda t, state: None, joint_position=1e-3).measure(state)
    assert 0 < np.abs(seen.q - state.q).max() < 0.01 and np.array_equal(seen.v, state.v)


def test_quantised_encoders():
    """Angles are whole ticks, less than one behind; a rate is the ticks since the last
    call, and on average the true one."""
    seen, true, ticks = [], [], 500
    controller = Sum(Quantise(lambda t, state: seen.append(state), ticks), lambda t,
                     state: true.append(state))
    simulator = Simulator(shipped("differential_drive"), controller, dt=DT, control_period=5e-3)
    simulator.reset(xi={"forward_speed": 0.5, "yaw_rate": 0.4})
    simulator.run(1.0)
    step = 2 * np.pi / ticks
    for joint in (LEFT, RIGHT):
        angle = np.array([s.encoder.angle[joint] for s in seen])
        exact = np.array([s.encoder.angle[joint] for s in true])
        assert np.abs(angle / step - np.round(angle / step)).max() < 1e-9
        assert np.all((exact - angle > -1e-12) & (exact - angle < step))
        at = 9 if joint == RIGHT else 7
        assert [np.arctan2(*s.q[at:at + 2][::-1]) for s in seen] == pytest.approx(
            [np.angle(np.exp(1j * a)) for a in angle], abs=1e-12)
        rate = np.array([s.encoder.rate[joint] for s in seen])
        assert rate[1:] == pytest.approx(np.diff(angle) / 5e-3, rel=1e-9, abs=1e-9) and rate[0] == 0
        assert rate[1:].mean() == pytest.approx(np.mean([s.encoder.rate[joint] for s in true]),
                                                abs=step / 1.0)
    with pytest.raises(InputError, match="ticks = 0"):
        Quantise(lambda t, state: None, 0)


# -- what is refused -------------------------------------------------------------------------------
@pytest.mark.parametrize("make, message", [
    (lambda: Hold(3, 0.1), "Hold takes controllers.*not 3"),
    (lambda: Hold(Counting(), 0.0), "period = 0.0 must be a positive time"),
    (lambda: Delay(Counting(), float("nan")), "delay = nan"),
    (lambda: Saturation(Counting(), effort=-1.0), "effort = -1.0"),
    (lambda: Saturation(Counting(), plain=-1.0), "plain = -1.0 must be bounds"),
    (lambda: Saturation(Counting(), plain=(1.0, -1e-9)), "must be bounds"),
    (lambda: Saturation(Counting(), plain="all"), "plain = all must be bounds"),
    (lambda: Saturation(Counting(), velocity={"a": "b"}), "velocity = "),
    (lambda: Switch(Counting(), Counting(), -1.0), "when = -1.0"),
    (lambda: Sum(), "Sum needs at least one controller"),
    (lambda: MeasurementNoise(Counting(), seed=-1), "seed = -1 must be a whole number, 0 or more"),
    (lambda: Quantise(Counting(), -64), "ticks = -64 must be"),
])
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


class Breaks:
    """Well-behaved until t = 0.05 s."""

    def __init__(self, good, then):
        self.good, self.then = good, then

    def __call__(self, t, state):
        return self.good if t < 0.0499 else self.then(state)


def divide(state):
    return 1 / 0


DYNAMIC = [
    (lambda state: np.zeros(3),
     rf"returned shape \(3,\), expected \(2,\): efforts of {LEFT}, {RIGHT}"),
    (lambda state: np.array([0.0, np.nan]),
     rf"returned \[ 0. nan\]: not finite \(efforts of {LEFT}, {RIGHT}"),
    (lambda state: np.array([np.inf, 0.0]), "not finite"),
    (lambda state: JointTorque({LEFT: np.nan}), rf"JointTorque for '{LEFT}' is nan"),
    (lambda state: JointVelocity({"lift": 1.0}),
     rf"'lift' is not driven; driven joints are {LEFT}, {RIGHT}"),
    (lambda state: [JointTorque({LEFT: 1.0}), JointTorque({LEFT: 1.0})],
     f"'{LEFT}' is commanded twice"),
    (lambda state: JointTorque([1.0, 2.0]), "takes a mapping of joint names"),
    (lambda state: {LEFT: 1.0}, "returned dict; return an array"),
    (lambda state: "left", "returned str; return an array"),
    (
        divide,
        r"raised ZeroDivisionError at t = 0\.05 s: division by zero "
        r"\(test_combinators.py, line \d+\)",
    ),
    (lambda state: state.xi["sideways"], r"no 'sideways' here; there are .*yaw_rate"),
    (lambda state: state.gyro("nose"), "no link 'nose' for a sensor; there are base_link"),
]
KINEMATIC = [
    (lambda state: np.zeros(3),
     rf"returned shape \(3,\), expected \(2,\): speeds of {LEFT}, {RIGHT}"),
    (lambda state: np.array([0.0, np.nan]), "not finite"),
    (lambda state: JointTorque({LEFT: 1.0}), "efforts mean nothing in kinematic mode"),
    (lambda state: JointVelocity({"lift": 1.0}), rf"unknown joint 'lift'; there are .*{LEFT}"),
    (lambda state: JointPosition({"forward_speed": 1.0}),
     rf"unknown joint 'forward_speed'; there are {LEFT}, {RIGHT}"),
    (lambda state: JointVelocity({LEFT: np.inf}), rf"JointVelocity for '{LEFT}' is inf"),
    (lambda state: [JointVelocity({LEFT: 1.0}), JointVelocity({LEFT: 1.0})],
     f"'{LEFT}' is commanded twice"),
    (lambda state: {LEFT: 1.0}, "returned dict; return an array"),
    (divide, r"raised ZeroDivisionError at t = 0\.05 s"),
]
AROUND = {
    "Breaks": lambda inner: inner,
    r"Hold\(Delay\(Breaks\)\)": lambda inner: Hold(Delay(inner, DT), DT),
    r"Saturation\(MeasurementNoise\(Quantise\(Breaks\)\)\)": lambda inner:
    Saturation(MeasurementNoise(Quantise(inner, 64), position=0.1), effort=1.0, velocity=9.0),
    r"Switch\(Breaks, Breaks\)": lambda inner: Switch(inner, inner, 0.02),
    r"Sum\(Breaks\)": Sum,
}


@pytest.mark.parametrize("who", AROUND)
@pytest.mark.parametrize("mode, then, message", [("dynamic", *case) for case in DYNAMIC]
                         + [("kinematic", *case) for case in KINEMATIC])
def test_bad_commands_stop_with_a_name_and_keep_the_run(mode, then, message, who):
    """Whoever is around it, the message has the controller's name, the moment and what was wrong;
    the trajectory ends there."""
    controller = AROUND[who](Breaks(np.zeros(2), then))
    simulator = Simulator(shipped("differential_drive"), controller, dt=DT, mode=mode)
    simulator.reset(xi={"forward_speed": 0.3, "yaw_rate": 0.0})
    with pytest.raises(SimulationError, match=message) as caught:
        simulator.run(1.0)
    assert pytest.approx(0.05, abs=2e-3) == caught.value.trajectory.t[-1]
    assert re.match(rf"controller {who} .*at t = 0\.05", str(caught.value)), str(caught.value)
    kept = caught.value.trajectory
    assert (kept.stop == str(caught.value) and len(kept) > 49 and np.isfinite(kept.q).all()
            and np.isfinite(kept.v).all())


def test_kinematic_commands_are_checked_after_the_equations_changed():
    """Beyond 90 degrees of steer a tricycle runs on other speeds; plain numbers still mean those of
    the start."""
    vehicle = shipped("tricycle", speeds=("steering_joint", "forward_speed"))
    for bad, message in (
        (np.zeros(3), r"shape \(3,\), expected \(2,\): speeds of steering_joint, forward_speed"),
        (np.array([np.nan, 0.0]), "not finite"),
    ):
        simulator = Simulator(vehicle, lambda t, state,
                              bad=bad: np.array([2.0, 0.0]) if t < 0.3 else bad,
                              mode="kinematic", dt=DT)
        simulator.reset(joints={"steering_joint": 1.25})
        with pytest.raises(SimulationError,
                           match=rf"controller <lambda> at t = 0\.3 s.*{message}") as caught:
            simulator.run(1.0)
        assert len(simulator.atlas.charts) > 1 and caught.value.trajectory.t[-1] == pytest.approx(
            0.3, abs=1e-9
        )


def test_a_reset_that_fails_is_named():
    class Stubborn(Counting):
        def reset(self):
            if hasattr(self, "seen"):
                raise ValueError("not now")
            super().reset()

    with pytest.raises(SimulationError,
                       match=r"reset of controller Stubborn raised ValueError at t = 0 s: not now"):
        Simulator(shipped("differential_drive"), Stubborn()).reset()
    with pytest.raises(InputError, match="controller = 3 must be a callable"):
        Simulator(shipped("differential_drive"), 3)


@pytest.mark.parametrize("then, message", [
    (lambda x: 1 / 0, r"policy Policy raised ZeroDivisionError at t = 0\.05 s: division by zero "
                      r"\(test_combinators.py, line \d+\)"),
    (lambda x: np.zeros(3), r"policy Policy gave shape \(3,\) at t = 0\.05 s, expected \(4, 2\)"),
    (lambda x: {"a": 1}, r"policy Policy at t = 0\.05 s returned dict, no array of numbers"),
])
def test_a_policy_that_fails_is_named_and_the_batch_kept(then, message):
    class Policy:
        def __call__(self, t, x):
            return np.full((len(x), 2), 0.1) if t < 0.0499 else then(x)

    vehicle = shipped("differential_drive")
    x0 = nhmech.start_states(vehicle, [(0, 0, yaw) for yaw in range(4)])
    with pytest.raises(SimulationError, match=message) as caught:
        nhmech.simulate_batch(vehicle, x0, Policy(), dt=DT, duration=100 * DT, every=20,
                              control_period=10 * DT)
    kept = caught.value.trajectory
    whole = nhmech.simulate_batch(vehicle, x0, np.full(2, 0.1), dt=DT, duration=50 * DT, every=20)
    assert kept.t == pytest.approx([0, 0.02, 0.04, 0.05], abs=1e-15)
    assert (np.array_equal(kept.x, whole.x) and np.array_equal(kept.u, whole.u)
            and kept.stopped_at == pytest.approx([0.05] * 4, abs=1e-15))


def test_a_policy_that_answers_nan_stops_those_cases():
    vehicle = shipped("differential_drive")
    x0 = nhmech.start_states(vehicle, [(0, 0, yaw) for yaw in range(3)])

    def policy(t, x):
        return np.where((np.arange(3) == 1)[:, None] & (t > 0.0199), np.nan, np.zeros((3, 2)))

    batch = nhmech.simulate_batch(vehicle, x0, policy, dt=DT, duration=50 * DT,
                                  control_period=10 * DT)
    assert list(batch.ok) == [True, False,
                              True] and batch.stopped_at[1] == pytest.approx(0.02, abs=1e-15)
    assert np.isfinite(batch.x).all() and "not finite" in batch.stop[1]


@pytest.mark.parametrize("given", [lambda t, state: "push", lambda t, state: None, lambda t,
                                   state: np.zeros(3), lambda t, state: [0, 0, np.nan, 0, 0, 0]])
def test_wrenches_and_events_that_are_no_numbers_are_named(given):
    simulator = Simulator(shipped("differential_drive"),
                          wrench={"base_link": lambda t,
                                  state: np.zeros(6) if t < 0.0499 else given(t, state)}, dt=DT)
    simulator.reset()
    with pytest.raises(SimulationError,
                       match=r"wrench on 'base_link' at t = 0\.05 s is .*expected 6 "
                                              r"finite numbers") as caught:
        simulator.run(0.1)
    assert caught.value.trajectory.t[-1] == pytest.approx(0.05, abs=1e-12)
    event = nhmech.Event("odd", lambda t, state: 1.0 if t < 0.0499 else given(t, state))
    simulator = Simulator(shipped("differential_drive"), events=[event], dt=DT)
    simulator.reset()
    with pytest.raises(SimulationError, match="event 'odd'") as caught:
        simulator.run(0.1)
    assert len(caught.value.trajectory) >= 50


def test_plain_numbers_have_their_own_bound():
    """One for plain numbers beside one for efforts by name; what is not a command passes."""
    answer = [np.array([5.0, -5.0])]
    cut = Saturation(lambda t, state: answer[0], effort=1.0, plain=2.0)
    assert cut(0.0, None).tolist() == [2.0, -2.0]
    answer[0] = JointTorque({"a": 5.0})
    assert cut(0.0, None).values == {"a": 1.0}
    answer[0] = [JointTorque({"a": 5.0}), "word"]
    assert cut(0.0, None) == [JointTorque({"a": 1.0}), "word"]
    for other in ("word", None, np.array(["a"]), np.zeros(2, dtype=complex)):
        answer[0] = other
        assert cut(0.0, None) is other
    free = Saturation(lambda t, state: answer[0], velocity=1.0)
    answer[0] = np.array([5.0])
    assert free(0.0, None) is answer[0]
    for bad in (dict(plain=-1.0), dict(plain=(1.0, -1.0)), dict(plain="a"), dict(effort="a"),
                dict(velocity={"a": -1.0})):
        with pytest.raises(InputError, match="must be (a )?bound"):
            Saturation(lambda t, state: None, **bad)


def test_lists_of_numbers_are_added_as_arrays():
    found = Sum(lambda t, state: [1.0, 2.0], lambda t, state: (3, 4), lambda t, state: None)
    assert found(0.0, None).tolist() == [4.0, 6.0]
    with pytest.raises(SimulationError, match="cannot add list.2. of <lambda>, str of <lambda>"):
        Sum(lambda t, state: [1.0, 2.0], lambda t, state: "word")(0.0, None)


@pytest.mark.parametrize("make", [lambda a, b: Exchange({"a": a, "b": b}),
                                  lambda a, b: Switch(a, b, 1.0)])
def test_the_twist_of_whom_it_leaves_to_others_is_unknown(make):
    """Where the one that commands has no twist, but another has."""
    state = Simulator(shipped("carriage")).state
    for kinds, wanted in (("td", [0.1, 0, 0.2]), ("dt", [np.nan] * 3), ("dd", None)):
        both = make(*(TwistDrive(shipped("carriage"), (0.1, 0.0, 0.2)) if kind == "t" else
                      lambda t, state: None for kind in kinds))
        both(0.0, state)
        found = both.commanded_twist
        assert found is wanted is None or np.array_equal(found, wanted, equal_nan=True)


def test_noise_of_a_joint_is_in_every_reading_of_it():
    """Of one that turns to and fro as of one that turns right round; about W's axes of a base that
    is turned."""
    vehicle, steer = shipped("ackermann_car"), "front_left_steering_joint"
    state = Simulator(vehicle).reset(pose=(0, 0, 1.2), joints={steer: 0.2})
    seen = MeasurementNoise(lambda t, state: None, joint_position=0.1).measure(state)
    model = vehicle.model
    for name in (steer, "rear_left_wheel_joint"):
        joint, angle = model.joints[model.getJointId(name)], seen.joint_position[name]
        q = seen.q[joint.idx_q:joint.idx_q + joint.nq]
        expected = [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
        np.testing.assert_allclose(q, expected, rtol=0, atol=1e-14)
        assert abs(angle - state.joint_position[name]) > 1e-4
    tilted = MeasurementNoise(lambda t, state: None, heading=0.1).measure(state)
    np.testing.assert_allclose(tilted.T_WB[:3, 2], state.T_WB[:3, 2], rtol=0, atol=1e-14)
    assert abs(tilted.pose[2] - 1.2) > 1e-4
