"""The small rules of a run, each at its bounds: events, limits, phases, twists, periods, and the
contact problem against its own definition."""

from __future__ import annotations

import re
from math import inf, nan, pi
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from support import shipped

from nhmech import Event, InputError, SimulationError
from nhmech.compile.lanes import LaneState
from nhmech.compile.loop_error import GAUGE
from nhmech.compile.mapped_lanes import MappedLanes
from nhmech.compile.status import Status
from nhmech.mechanics import circle, line, product, special_euclidean
from nhmech.mechanics.distribution import Component
from nhmech.simulation import LimitKind, Phase, pacing
from nhmech.simulation.arguments import check_run, read_period, read_speeds
from nhmech.simulation.batch_input import read_inputs, read_rows, read_steps
from nhmech.simulation.contact.contact_problem import Cone, ContactProblem, projection_to_cone
from nhmech.simulation.contact.impulses import independent_rows
from nhmech.simulation.contact.lift_off import lift_notice
from nhmech.simulation.contact.phases import ContactSpan, contact_spans
from nhmech.simulation.events import read_events
from nhmech.simulation.integration.integrators import Step
from nhmech.simulation.pacing import Pace, is_second_press, keep_pace
from nhmech.simulation.runs.driven_twist import planar_twist, twist_notice
from nhmech.simulation.runs.forces_along import BatchReactions
from nhmech.simulation.runs.limit_spans import LimitColumns, LimitSpan, span_events
from nhmech.simulation.state_vector import StateVector
from nhmech.simulation.step_error import Trial, step_notice
from nhmech.urdf.description import JointLimits

NO_PRESS = pacing._last_press      # of a new process


# -- events ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("before, after, rises, falls", [
    (-1.0, 1.0, True, False), (1.0, -1.0, False, True), (-1.0, 0.0, True, False),
    (1.0, 0.0, False, True), (0.0, 1.0, False, False), (0.0, -1.0, False, False),
    (-2.0, -1.0, False, False), (1.0, 2.0, False, False), (0.0, 0.0, False, False)])
def test_a_zero_counts_where_it_is_come_to_and_not_where_it_is_left(before, after, rises, falls):
    for direction, expected in ((1, rises), (-1, falls), (0, rises or falls)):
        event = Event("e", abs, direction=direction)
        assert event.is_crossed(before, after) == expected
        both = event.is_crossed(np.array([before, 1.0]), np.array([after, 1.0]))
        assert both.tolist() == [expected, False]


def test_an_event_is_a_finite_number():
    state = SimpleNamespace(t=0.5)
    assert Event("half", lambda t, state: 2 * t).value(state) == 1.0
    for odd in (nan, inf, "one", None):
        with pytest.raises(SimulationError, match="event 'odd' is .* at t = 0.5 s; expected"):
            Event("odd", lambda t, state, odd=odd: odd).value(state)
    event = Event("e", abs)
    assert read_events([event]) == (event,) == read_events(event)
    assert event == Event("e", abs, terminal=True, direction=0, limit=False)
    with pytest.raises(InputError, match="list of Event.*and 3 is none"):
        read_events([event, 3])


# -- limits of joints ------------------------------------------------------------------------------
def columns(driven=("a",), part="q") -> LimitColumns:
    joint = JointLimits(-1.0, 2.0, 4.0, 8.0)
    vehicle = SimpleNamespace(driven=driven)
    names = {"q": ("z", "a") if part == "q" else ("z",), "v": ("z", "y", "a"), "u": ("a",),
             "angles": ("a",) if part == "angles" else ()}
    return LimitColumns.of(SimpleNamespace(limits={"a": joint}, vehicle=vehicle), names)


def rows(n=6, part="q", **places) -> dict[str, np.ndarray]:
    """A run of n moments, 50 ms apart, with these columns of the joint."""
    found = {"t": 0.05 * np.arange(n), "q": np.zeros((n, 2)), "angles": np.zeros((n, 1)),
             "v": np.zeros((n, 3)), "u": np.zeros((n, 1))}
    for name, values in places.items():
        found[name][:, -1] = values
    return found


@pytest.mark.parametrize("part, value, kind", [
    ("q", 2 - 0.99e-3, LimitKind.UPPER), ("q", 2 - 1.01e-3, None),
    ("q", -1 + 0.99e-3, LimitKind.LOWER), ("q", -1 + 1.01e-3, None),
    ("v", 4 * 0.9901, LimitKind.VELOCITY), ("v", 4 * 0.9899, None),
    ("v", -4 * 0.9901, LimitKind.VELOCITY), ("u", 8 * (1 - 0.9e-9), LimitKind.EFFORT),
    ("u", 8 * (1 - 1.1e-9), None), ("u", -8.0, LimitKind.EFFORT)])
def test_a_joint_is_at_its_limit_up_to_what_a_servo_leaves(part, value, kind):
    spans, end = columns().spans([rows(**{part: value})])
    assert end == pytest.approx(0.25) and [span.kind for span in spans] == [kind] * bool(kind)
    if kind:
        (span,) = spans
        assert (span.joint, span.start, span.end) == ("a", 0.0, pytest.approx(0.25))
        assert span.most == pytest.approx(value if part == "q" else abs(value), rel=1e-12, abs=0)
        # an angle that turns on, and joints that nothing drives
        turned = columns(part="angles").spans([rows(**{"angles" if part == "q" else part: value})])
        assert turned == ((span,), end)
        passive = columns(driven=()).spans([rows(**{part: value})])[0]
        assert bool(passive) == (part == "q")


@pytest.mark.parametrize("seed", range(4))
def test_spans_do_not_depend_on_the_blocks_of_a_run(seed):
    """Of one moment or more; nor on when it began."""
    rng = np.random.default_rng(seed)
    run = rows(40, q=rng.choice([-1.5, -1.2, 0, 2.1, 2.5], 40), v=rng.choice([0, 4.5, -5], 40),
               u=rng.choice([0, 8.0, -8.0], 40))
    run["t"] = 7 + np.cumsum(rng.choice([0.02, 0.06, 0.12], 40))
    whole, end = columns().spans([run])
    cuts = [0, *sorted(rng.choice(np.arange(1, 40), 12, replace=False)), 40]
    parts = [{name: values[a:b] for name, values in run.items()} for a, b in zip(cuts, cuts[1:])]
    assert columns().spans(parts) == (whole, end) and end == run["t"][-1]
    assert [*whole] == sorted(whole, key=lambda one: (one.start, one.joint, one.kind.value))
    assert {one.kind for one in whole} == {*LimitKind}
    for one in whole:
        name = {LimitKind.VELOCITY: "v", LimitKind.EFFORT: "u"}.get(one.kind, "q")
        within = run[name][(run["t"] >= one.start) & (run["t"] <= one.end), -1]
        assert one.most == (within.min() if one.kind is LimitKind.LOWER else
                            np.abs(within).max() if name != "q" else within.max())


def test_spans_are_joined_over_short_gaps():
    """Up to a tenth of a second; an effort lasts until the next moment."""
    t = np.array([0.0, 0.1, 0.2, 0.301, 0.5, 0.6])
    for part, touching, most in (("q", [1, 0, 1, 0, 0, 0], 2.5), ("u", [1, 0, 0, 0, 1, 0], 8.0)):
        limit = 2.0 if part == "q" else 8.0
        values = np.where(touching, most, 0.0)
        values[2] *= 0.9
        run = rows(**{part: values}) | {"t": t}
        found = columns().spans([run])[0]
        if part == "q":
            assert [(one.start, one.end, one.most) for one in found] == [(0.0, 0.0, 2.5),
                                                                         (0.2, 0.2, 2.25)]
        else:
            assert [(one.start, one.end) for one in found] == [(0.0, 0.1), (0.5, 0.6)]
        assert {one.limit for one in found} == {limit}
    close = rows(q=[2.5, 0, 2.6, 0, 0, 2.7]) | {"t": np.array([0, 0.05, 0.0999, 0.15, 0.2, 0.2004])}
    spans = columns().spans([close])[0]
    assert [(one.start, one.end, one.most) for one in spans] == [(0, 0.0999, 2.6),
                                                                 (0.2004, 0.2004, 2.7)]


@pytest.mark.parametrize("kind, limit, most, words", [
    (LimitKind.UPPER, 2.0, 2.0 + 0.99e-6, "at its upper position limit (2)"),
    (LimitKind.UPPER, 2.0, 2.0 + 1.01e-6, "beyond its upper position limit, by up to 1.01e-06,"),
    (LimitKind.LOWER, -2.0, -2.0 - 1.01e-6, "beyond its lower position limit, by up to 1.01e-06,"),
    (LimitKind.LOWER, -2.0, -1.9999, "at its lower position limit (-2)"),
    (LimitKind.VELOCITY, 4.0, 4.0 + 3.99e-6, "at its velocity limit (4)"),
    (LimitKind.VELOCITY, 4.0, 4.0 + 4.01e-6, "beyond its velocity limit, by up to 4.01e-06,")])
def test_what_is_beyond_a_limit_by_more_than_rounding_is_said(kind, limit, most, words):
    assert str(LimitSpan("a", kind, limit, 0.5, 1.0, most)) == f"a {words} from t = 0.5 to 1 s"


def test_beginnings_and_ends_of_spans_are_events_of_driven_joints():
    span = LimitSpan("a", LimitKind.EFFORT, 1.0, 0.5, 1.0, 1.0)
    held = SimpleNamespace(vehicle=None)
    assert span_events(held, [span], 2.0) == [(0.5, "a at its effort limit"),
                                              (1.0, "a off its effort limit")]
    assert span_events(held, [span], 1.0) == [(0.5, "a at its effort limit")]
    assert span_events(held, [], 1.0) == []
    # of a hitch the run itself watches the position
    train = SimpleNamespace(vehicle=shipped("trailers"))
    for joint, kind, is_said in (("hitch_1_joint", LimitKind.UPPER, False),
                                 ("hitch_1_joint", LimitKind.VELOCITY, True),
                                 ("rear_left_wheel_joint", LimitKind.UPPER, True)):
        span = LimitSpan(joint, kind, 1.0, 0.5, 1.0, 1.0)
        assert bool(span_events(train, [span], 2.0)) == is_said


# -- the twist that was driven ---------------------------------------------------------------------
NORMAL = (0.0, 0.6, 0.8)
ROBOT = SimpleNamespace(placer=SimpleNamespace(normal=np.array(NORMAL)),
                        steering=SimpleNamespace(length=0.5))


def driven(t, twist) -> SimpleNamespace:
    """A run on level ground along x that drives these twists, (N, 3)."""
    n = len(t)
    q, v = np.zeros((n, 7)), np.zeros((n, 8))
    q[:, 6], v[:, [0, 1, 5]], v[:, 6:] = 1.0, twist, 50.0      # and wheels
    return SimpleNamespace(t=np.asarray(t, dtype=float), q=q, v=v)


FLAT = SimpleNamespace(placer=SimpleNamespace(normal=np.array([0.0, 0, 1])),
                       steering=SimpleNamespace(length=0.5))
TIMES = 5 + np.linspace(0, 2, 201)


def test_the_twist_in_the_plane_of_the_ground():
    """Of a base that leans: along the trace of its plane, aside, and about the normal."""
    import pinocchio as pin
    R = pin.rpy.rpyToMatrix(0.3, -0.4, 0.9)
    q = np.r_[1, 2, 3, pin.Quaternion(R).coeffs()]
    v = np.array([0.3, -0.2, 0.5, 0.7, -0.1, 0.4])
    n = np.array(NORMAL)
    ahead = np.cross(R[:, 1], n) / np.linalg.norm(np.cross(R[:, 1], n))
    expected = [ahead @ R @ v[:3], np.cross(n, ahead) @ R @ v[:3], n @ R @ v[3:]]
    np.testing.assert_allclose(planar_twist(ROBOT, q, v), expected, rtol=1e-12)
    np.testing.assert_allclose(planar_twist(ROBOT, np.array([[q]]), np.array([[v]]))[0, 0],
                               expected, rtol=1e-12)


@pytest.mark.parametrize("wanted, found, is_said", [
    ((1, 0, 0), (0.9901, 0, 0), False), ((1, 0, 0), (0.9899, 0, 0), True),
    ((1, 0, 0), (1, 0, 0.0199), False), ((1, 0, 0), (1, 0, 0.0201), True),
    # aside it is judged where a part of the command asks for it
    ((1, 0, 0), (1, 0.5, 0), False), ((1, 0.0099, 0), (1, 0.5, 0), False),
    ((1, 0.0101, 0), (1, 0.5, 0), True), ((0, 0, 0), (1, 0, 0), False),
    ((1, 0.02, 0), (1, 0.02998, 0), False), ((1, 0.02, 0), (1, 0.03002, 0), True),
    # a yaw rate counts as much as the speed half a metre from the middle
    ((1, 0, 0.01), (1, 0, 0.0299), False), ((0, 0, 4), (0.0199, 0, 4), False),
    ((0, 0, 4), (0.0201, 0, 4), True)])
def test_a_twist_that_is_off_by_more_than_a_hundredth_is_said(wanted, found, is_said):
    for size in (9.0, 1.0):
        run = driven(TIMES, np.tile(size * np.array(found), (201, 1)))
        notice = twist_notice(FLAT, run, np.tile(size * np.array(wanted, float), (201, 1)), [])
        assert (notice is not None) == is_said
    if is_said:
        assert f"commanded forward {wanted[0]:.4g} m/s, lateral {wanted[1]:.4g} m/s" in notice.text
        assert f"driven forward {found[0]:.4g} m/s" in notice.text and "t = 7 s" in notice.text
        assert f"yaw {wanted[2]:.4g} rad/s; driven" in notice.text
    assert twist_notice(FLAT, run, None, []) is None
    assert twist_notice(FLAT, driven(TIMES[:1], [found]), np.ones((1, 3)), []) is None


def test_the_latest_of_the_worst_moments_is_shown():
    """Up to a tenth better than the worst."""
    wanted = np.tile([2.0, 0.0, 0.0], (201, 1))
    share = np.full(201, 0.6)
    share[150], share[160], share[170] = 0.5, 0.549, 0.551
    notice = twist_notice(FLAT, driven(TIMES, share[:, None] * wanted), wanted, [])
    assert notice is not None
    share[:150] = 0.6
    assert f"by up to {1 - share[160]:.2g} of it: at t = {TIMES[160]:.6g} s" in notice.text


@pytest.mark.parametrize("rate, settled, is_said", [
    (0.0, 1.001, True), (0.0, 0.999, False), (0.0999, 1.5, True), (0.1001, 1.5, False)])
def test_a_command_is_judged_a_second_after_it_was_steady(rate, settled, is_said):
    """Up to a tenth of itself a second; at standstill nothing is."""
    t = np.linspace(0, 1, 1001) * settled
    wanted = np.zeros((len(t), 3))
    wanted[:, 0] = (1 + rate / 1000 * settled) ** np.arange(len(t))
    found = wanted.copy()
    found[-1] *= 0.5
    span = LimitSpan("a", LimitKind.EFFORT, 1.0, 0.5, settled, 1.0)
    early = LimitSpan("b", LimitKind.EFFORT, 1.0, 0.5, 0.6, 1.0)
    notice = twist_notice(FLAT, driven(t, found), wanted, [span, early])
    assert (notice is not None) == is_said
    if is_said:
        assert notice.text.count("; a at its effort limit") == 1 and "; b" not in notice.text
        assert "up to 0.5 of it" in notice.text
        wanted[0] = nan              # not yet commanded: the second begins later
        late = twist_notice(FLAT, driven(t, found), wanted, [])
        assert (late is None) == (settled < 1.01)


def test_a_part_of_a_command_that_is_never_driven_is_said():
    """Where it changes too fast to be judged moment by moment, for a second or more."""
    wave = np.sin(40 * TIMES)
    for aside, made, is_said in ((0.0101, 0.0, True), (0.0099, 0.0, False), (0.5, 0.0051, False),
                                 (0.5, 0.0049, True)):
        wanted = 9 * np.column_stack([wave, aside * wave, 0 * wave])
        found = 9 * np.column_stack([wave, made * wave, 0 * wave])
        notice = twist_notice(FLAT, driven(TIMES, found), wanted, [])
        assert (notice is not None) == is_said
        if is_said:
            assert f"lateral (up to {np.abs(wanted[:, 1]).max():.4g} m/s) was never" in notice.text
            for n in (100, 101):          # a second has 101 moments
                short = twist_notice(FLAT, driven(TIMES[:n], found[:n]), wanted[:n], [])
                assert (short is None) == (n == 100)
    turn = 9 * np.column_stack([wave, 0 * wave, 0.5 * wave])
    notice = twist_notice(FLAT, driven(TIMES, turn * [1, 1, 0]), turn, [])
    assert f"yaw (up to {turn[:, 2].max():.4g} rad/s) was never" in notice.text
    for made, is_said in ((0.0099, True), (0.0101, False)):
        notice = twist_notice(FLAT, driven(TIMES, turn * [1, 1, made]), turn, [])
        assert (notice is not None) == is_said
    # what is slower than a thousandth of the fastest is standstill
    for slow, is_said in ((0.00101, True), (0.00099, False)):
        wanted = np.zeros((201, 3))
        wanted[:, 0], wanted[0, 0] = 9 * slow, 9.0
        notice = twist_notice(FLAT, driven(TIMES, 0.5 * wanted), wanted, [])
        assert (notice is not None) == is_said


# -- phases of contacts ----------------------------------------------------------------------------
def test_spans_of_phases():
    t = np.arange(6) / 10
    phases = np.array([[9, 9], [0, 2], [0, 2], [1, 3], [1, 3], [0, 3]])
    spans = contact_spans(t, phases, ["w"], ["b"])
    R, S, A, L = Phase
    assert [(one.start, one.end, *one.wheels.values()) for one in spans] == [
        (0.0, 0.2, R, A), (0.2, 0.4, S, L), (0.4, 0.5, R, L)]
    assert [str(one).partition(" s ")[2] for one in spans] == [
        "all wheels roll", "w slides, b lies", "b lies"]
    assert spans[0].names(A) == ("b",) and spans[0].bodies == ("b",)
    (start,) = contact_spans(t[:1], phases[1:2], ["w"], ["b"])
    assert (start.start, start.end, start.wheels) == (0.0, 0.0, {"w": R, "b": A})
    both = ContactSpan(0.0, 1.0, {"a": A, "b": A, "c": S, "d": S})
    assert str(both) == "from t = 0 to 1 s c, d slide, a, b are in the air"


def forces(normals, supported) -> SimpleNamespace:
    components = [Component("a", "normal"), Component("a", "rolling"), Component("b", "normal")]
    shares = np.column_stack([normals[0], np.full(len(normals[0]), -9.0), normals[1]])
    return SimpleNamespace(split=(shares, np.array(supported)), normal=[0, 2],
                           components=components)


def test_the_first_and_the_worst_pull_are_said():
    """Of a vehicle that stands well at rest."""
    t, vehicle = np.arange(4) / 10, shipped("differential_drive")
    q = np.tile(vehicle.configuration(), (4, 1))
    pull = forces(([1, 1, -2, -1], [3, -0.5, 1, 1]), [True, False, False, True])
    text = lift_notice(vehicle, t, q, pull).text
    assert "from t = 0.1 s (b), in 50 % of the recorded moments; most at t = 0.2 s, a with 2 N" in (
        text) and "at rest" not in text
    for small, is_said in ((1.01e-6, True), (0.99e-6, False)):
        just = forces(([1, -small], [1, 1]), [True, False])
        assert (lift_notice(vehicle, t[:2], q, just) is not None) == is_said
    assert lift_notice(vehicle, t[:2], q, forces(([1, -1], [1, 1]), [True, True])) is None


def test_forces_of_a_batch():
    """5 = |(3, 4)| over 2; none is needed where there is no force, and none is enough where only
    the normal one is missing."""
    parts = tuple(Component(*one) for one in (("a", "rolling"), ("a", "lateral"), ("a", "normal"),
                                              ("b", "lateral")))
    forces = [[3.0, -4.0, 2.0, 1.0], [0.0, 0.0, -1.0, 0.0], [0.0, 0.2, 0.5, 1e-9],
              [3.0, 4.0, 0.0, 0.0]]
    found = BatchReactions(parts, np.array([forces]), ("a", "b"), np.ones((1, 4), bool))
    assert found.component("a", "lateral").tolist() == [[-4.0, 0.0, 0.2, 4.0]]
    np.testing.assert_array_equal(found.normal, [[[2.0, nan], [-1.0, nan], [0.5, nan], [0.0, nan]]])
    np.testing.assert_array_equal(found.friction,
                                  [[[2.5, inf], [0.0, 0.0], [0.4, inf], [inf, 0.0]]])


# -- times, speeds and periods ---------------------------------------------------------------------
@pytest.mark.parametrize("dt, period, every", [
    (1e-3, None, 1), (1e-3, 5e-3, 5), (0.1, 0.3, 3), (1e-3, 5e-3 * (1 + 0.9e-9), 5),
    (1e-3, 5e-3 * (1 + 1.1e-9), None), (1.0, 1 + 0.9e-9, 1), (1.0, 1 + 1.1e-9, None),
    (1.0, 0.4, None), (1.0, 0.6, None), (1.0, -1.0, None), (1.0, inf, None), (1.0, "a", None)])
def test_a_control_period_is_a_multiple_of_the_step(dt, period, every):
    if every:
        assert read_period(dt, period) == (dt, every)
        return
    with pytest.raises(InputError, match=f"must be a multiple of dt = {dt} s"):
        read_period(dt, period)


def test_speeds_by_name_or_in_order():
    names, every = ("a", "b"), ("x", "a", "b")
    assert read_speeds(None, names, every) == {}
    assert read_speeds([1, 2.5], names, every) == {"a": 1.0, "b": 2.5}
    assert read_speeds({"x": 3}, names, every) == {"x": 3.0}
    for odd, words in (([1], "2 finite numbers: a, b"), ({"y": 1.0}, "speed 'y' = 1.0: give"),
                       ({"a": nan}, "speed 'a' = nan: give .* of x, a, b$"),
                       ({"a": "1"}, "speed 'a' = '1'"),
                       ({"aa": 1.0}, "speed 'aa' = 1.0: give .* of x, a, b; did you mean 'a'")):
        with pytest.raises(InputError, match=words):
            read_speeds(odd, names, every)


@pytest.mark.parametrize("words, match", [
    (dict(duration=-1e-300), "duration"), (dict(duration=5.05e13), "1.01e\\+14 steps.*5e\\+13"),
    (dict(duration=nan), "duration"), (dict(every=0), "every"), (dict(progress=3), "progress"),
    (dict(save=3), "save = 3 must be the path"), (dict(save=""), "save = '' must be"),
    (dict(save=b"run"), "save = b'run' must be")])
def test_a_run_that_cannot_be(words, match):
    given = dict(duration=1.0, dt=0.5, every=1, progress=None, save=None)
    check_run(**given)
    check_run(**given | dict(duration=2.5e13, save="run.npz"))
    with pytest.raises(InputError, match=match):
        check_run(**given | words)


def test_the_steps_between_two_looks_double_and_halve():
    pace = Pace()
    assert pace.steps == 200
    for _ in range(3):
        pace.learn(0.0999)
    assert pace.steps == 1600
    pace.learn(0.1001)
    assert pace.steps == 800
    for _ in range(9):
        pace.learn(0.0)
    assert pace.steps == 20_000
    for _ in range(20):
        pace.learn(1.0)
    assert pace.steps == 1


def test_a_second_press_comes_within_two_seconds(monkeypatch):
    times = iter([10.0, 12.0, 14.1, 15.0])
    monkeypatch.setattr(pacing, "time", SimpleNamespace(monotonic=lambda: next(times)))
    monkeypatch.setattr(pacing, "_last_press", NO_PRESS)
    assert [is_second_press() for _ in range(4)] == [False, True, False, True]


def test_a_loop_keeps_pace_and_skips_what_it_missed(monkeypatch):
    """Four ticks a second, of which the second takes 0.6 s: the next is at once."""
    now, ticks, slow = [0.0], [], iter([0.0, 0.6, 0.0, 0.0, 0.1])

    def tick():
        ticks.append(now[0])
        now[0] += next(slow)

    def sleep(seconds):
        assert seconds >= 0
        now[0] += seconds
    monkeypatch.setattr("nhmech.simulation.pacing.time",
                        SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    keep_pace(4.0, lambda: len(ticks) == 5, tick)
    assert ticks == pytest.approx([0.0, 0.25, 0.85, 1.1, 1.35],
                                  rel=1e-12) and now[0] == pytest.approx(1.6, rel=1e-12)


# -- steps on trial --------------------------------------------------------------------------------
class Growing:
    """A chart with a clock, x[0], and a speed that a step of dt multiplies by `growth(dt)`."""

    def __init__(self, growth, margin: float, until: float = inf, longest: float = inf):
        self.growth, self._margin, self.until, self.longest = growth, margin, until, longest
        self.speeds, self.state_vector = [1], SimpleNamespace(assemble=lambda q, xi: np.r_[q, xi])

    def at_rest(self, q):
        return np.r_[q, 0.0]

    def margin(self, t, x, theta):
        assert (t, x[0]) == (2.0, 2.0)
        return self._margin

    def project(self, t, x, theta):
        return x, x[:1], x[1:], np.array([0.0, self._margin, 7.0])

    def loop(self, build):
        assert not build

    def advance(self, t, x, u, theta, dt, side, guard):
        """Each step begins where the one before ends, with its guard."""
        assert t == pytest.approx(x[0], abs=1e-12) and side == np.sign(self._margin)
        assert u.tolist() == [5.0] and guard in (7.0, pytest.approx(100 + t, rel=1e-12))
        end = x + [dt, x[1] * (self.growth(dt) - 1)]
        is_good = t + dt < self.until and dt <= self.longest
        status = Status.DONE if is_good else Status.OFF
        return Step(end, end[:1], end[1:], np.array([0.0, 1.0, 100 + end[0]]), status, t + dt)


def trial(*charts: Growing, speed: float = 1e-3) -> Trial:
    """Of the worst step, from t = 2 on."""
    moment = SimpleNamespace(q=np.zeros(1), v=np.zeros(2), u=np.zeros(1))
    values = np.r_[np.zeros(len(GAUGE)), 2.0, 2.0, 9.0, speed, 5.0, 99.0]
    return Trial(SimpleNamespace(values=values), SimpleNamespace(charts=charts), moment,
                 np.zeros(0))


def fifth(dt: float) -> float:
    return 1 + 1e-6 * dt ** 5


def test_the_error_of_a_step_is_its_difference_from_two_halves():
    """Relative to 1 + |x|, in the chart that is farthest from its singularity."""
    poor, good = Growing(lambda dt: nan, 0.2), Growing(fifth, -0.6)
    for speed in (1e-3, 3.0):
        found = trial(poor, good, speed=speed)
        assert found.chart is good and found.x.tolist() == [2.0, speed]
        for dt in (0.5, 1.0):
            halves = abs(fifth(dt / 2) ** 2 - fifth(dt))
            assert found.error(dt) == pytest.approx(speed * halves / (1 + speed * fifth(dt)),
                                                    rel=1e-6)
    late = trial(Growing(fifth, 0.5, until=2.75))
    assert [late.error(dt) < inf for dt in (0.7, 0.8, 1.0, 2.0)] == [True, False, False, False]
    assert trial(Growing(fifth, 0.5, longest=0.6)).error(1.0) == inf


@pytest.mark.parametrize("share", [1.0, 0.99, 0.9, 0.3])
def test_what_remains_of_the_errors_of_64_steps(share):
    """All of them where nothing decays. Where a step leaves a share s of what was before it, errors
    are s^(k - 1) of the first, of which s^(n - k) is left after n: n s^(n - 1), at its largest from
    the 49th step on, of their sum."""
    def growth(dt: float) -> float:
        return share ** dt * fifth(dt)
    n = np.arange(1, 65)
    left = (n * share ** (n - 1.0))[48:].max() / (share ** (n - 1.0)).sum()
    assert trial(Growing(growth, 1.0)).persistence(1.0) == pytest.approx(left, rel=1e-2)
    # nothing where each step forgets what was before it
    forgets = Growing(lambda dt: 0.0 if dt == 1 else 0.5, 1.0)
    assert trial(forgets).persistence(1.0) < 1e-20
    # all of them count if there are none, and if not all steps can be taken
    assert trial(Growing(lambda dt: 1.0, 1.0)).persistence(1.0) == 1.0
    for until in (30.0, 66.0):
        assert trial(Growing(growth, 1.0, until)).persistence(1.0) == 1.0


@pytest.mark.parametrize("total, divisor", [
    (0.25e-3 * 15.9, 2), (0.25e-3 * 16.1, 4), (0.25e-3 * 255, 4), (0.25e-3 * 257, 5),
    (0.25e-3 * 624, 5), (0.25e-3 * 626, 10), (0.25e-3 * 1.01e4, 20)])
def test_a_shorter_step_is_a_round_part_that_is_four_times_good_enough(total, divisor):
    """Of a scheme of order 4: n steps have n^-4 of the error of one."""
    assert trial(Growing(fifth, 1.0), speed=1e3).better_step(2.0, total) == 2.0 / divisor


def test_a_notice_of_long_steps_needs_errors_that_last():
    for growth, words in ((fifth, "their errors add up to 0.25 of .*Try dt=.*--dt "),
                          (lambda dt: 0.3 ** dt * fifth(dt), None),
                          (lambda dt: 1.01, "Try integrator='dop853'")):
        chart = Growing(growth, 1.0)
        held = trial(chart, speed=10.0)
        gauge = SimpleNamespace(values=np.r_[np.zeros(len(GAUGE)), 2.0, 2.0, 9.0, 10.0, 5.0],
                                total=lambda k: 0.25)
        moment = SimpleNamespace(q=np.zeros(1), v=np.zeros(2), u=np.zeros(1), k=70)
        notice = step_notice(gauge, SimpleNamespace(charts=[chart]), moment, held.theta, 1.0)
        assert (notice is None) == (words is None)
        if words:
            assert re.search(words, str(notice))


# -- the contact problem ---------------------------------------------------------------------------
@pytest.mark.parametrize("y, mu, p", [
    ((2, 0.6, 0.8), 0.6, (2, 0.6, 0.8)), ((2, 3, 4), 0.5, (2, 0.6, 0.8)),
    ((-1, 3, 4), 0.5, (0, 0, 0)), ((2, 30, 40), inf, (2, 30, 40)), ((2, 3, 0), 0.0, (2, 0, 0)),
    ((0, 3, 4), 0.5, (0, 0, 0))])
def test_a_point_is_projected_to_the_cone(y, mu, p):
    found, slope = projection_to_cone()(np.array(y, dtype=float), mu)
    np.testing.assert_allclose(np.array(found).ravel(), p, rtol=1e-12, atol=1e-15)
    if y[0]:
        step = 1e-6
        for k, one in enumerate(np.eye(3) * step):
            ends = [np.array(projection_to_cone()(np.array(y) + s * one, mu)[0]) for s in (1, -1)]
            np.testing.assert_allclose(np.array(slope)[:, k],
                                       (ends[0] - ends[1]).ravel() / 2 / step, atol=1e-8)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("method", ["solve", "sweep"])
def test_impulses_obey_signorini_and_coulomb(seed, method):
    """Three contacts, with two, one and no direction along the ground, at random."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(6, 9))
    cones = (Cone(0, (1, 2), 0.3), Cone(3, (4,), 0.5), Cone(5, (), 0.0))
    W, g = J @ J.T + 0.1 * np.eye(6), rng.normal(size=6) - 0.5
    problem = ContactProblem(W, g, cones)
    if method == "solve":
        P, error = problem.solve(np.zeros(6))
        assert error < 1e-12
    else:
        P = np.zeros(6)
        for _ in range(20):
            P = problem.sweep(P)
    u = W @ P + g
    size = 1e-9 * np.abs(g).max()
    for cone in cones:
        n, along = cone.normal, list(cone.along)
        assert P[n] >= 0 and u[n] >= -size and abs(P[n] * u[n]) < size
        force, slip = P[along], u[along]
        assert np.linalg.norm(force) <= cone.mu * P[n] + size
        if along and np.linalg.norm(slip) > 1e-6:
            np.testing.assert_allclose(force, -cone.mu * P[n] * slip / np.linalg.norm(slip),
                                       rtol=0, atol=1e-12)
    scaled = ContactProblem(W, 1e6 * g, cones).solve(np.zeros(6))[0]
    assert method == "sweep" or scaled == pytest.approx(1e6 * P, rel=1e-6, abs=1e-3)


def test_a_residual_is_relative_to_the_velocities_or_a_floor():
    one = ContactProblem(np.array([[2.0]]), np.array([-3.0]), (Cone(0, (), 0.0),))
    P, error = one.solve(np.zeros(1))
    assert pytest.approx([1.5], rel=1e-12) == P and error < 1e-13
    assert one.newton(np.array([1.5 + 1e-3]), 4.0)[1] < 1e-13
    assert ContactProblem(np.eye(1), np.zeros(1), (Cone(0, (), 0.0),)).solve(np.zeros(1)) == (0, 0)


# -- lanes without a compiler, and rows ------------------------------------------------------------
def test_lanes_of_the_virtual_machine_hold_record_and_stop():
    """x' = u theta; a case is refused where x leaves 1, stays as before, and the others go on."""
    t, dt, side, guard = (ca.SX.sym(name) for name in ("t", "dt", "side", "guard"))
    x, u, theta = ca.SX.sym("x"), ca.SX.sym("u"), ca.SX.sym("theta")
    after = x + dt * u * theta
    step = ca.Function("step", [t, x, u, theta, dt, side, guard], [
        after, ca.vertcat(t, side, after), ca.if_else(after > 1, 5, 0)])
    lanes = MappedLanes(step)
    state = LaneState.of(np.array([[0.0], [0.5], [0.9]]), 1)
    state.side[:], state.health[2] = [1.0, -1.0, 1.0], 0.0
    periods = np.array([[1.0, 1.0, 1.0], [3.0, 0.0, 1.0], [3.0, 0.0, 1.0]])[..., None]
    record = np.full((3, 1, 3), nan)
    lanes.run(state, periods, np.array([[1.0], [2.0], [1.0]]), dt=0.1, k0=0, steps=5, hold=2,
              every=2, record=record)
    expected = np.array([[0.0, 0.5, 0.9], [0.2, 0.9, 1.0], [0.8, 0.9, 1.0]])
    np.testing.assert_allclose(record[:, 0], expected, rtol=0, atol=1e-12)
    assert state.status.tolist() == [5, 0, 5] and state.done.tolist() == [4, 0, 1]
    assert state.x[0] == pytest.approx([0.8, 0.9, 1.0], rel=1e-12, abs=0)
    # the health of a refused step is that of its trial, without its guard
    np.testing.assert_allclose(state.health[0], [0.4, 0.4, 0.1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(state.health[2], [0.8, 0.9, 1.0], rtol=0, atol=1e-12)
    other = LaneState.of(np.array([[0.0], [0.5]]), 1)
    other.side[:], other.health[2] = 1.0, 0.0
    go = lanes.bind(other, np.ones((2, 1)), np.ones((2, 1)), dt=0.1, steps=2)
    go()
    assert other.x[0] == pytest.approx([0.2, 0.7], rel=1e-12, abs=0)
    assert other.health[0] == pytest.approx([0.1, 0.1], rel=1e-12, abs=0)
    padded = LaneState.of(np.arange(3.0)[:, None], 2)
    assert padded.room == 4 and padded.x[0].tolist() == [0, 1, 2, 2]
    assert padded.cases.tolist() == [[0], [1], [2]] and not padded.cases.flags.writeable


def test_independent_rows_are_kept_whatever_their_norms():
    rows = np.array([[0, 0, 0], [1, 0, 0], [1e-9, 0, 0], [1, 2e-9, 0], [0, 0, 1e12], [5, 0, 7]])
    assert independent_rows(rows, range(len(rows))) == [1, 3, 4]
    assert independent_rows(rows, [0, 1, 2]) == [1] and independent_rows(rows, []) == []
    assert independent_rows(np.array([[1, 0, 0], [1, 0.5e-9, 0]]), [0, 1]) == [0]


# -- numbers of a batch ----------------------------------------------------------------------------
def test_inputs_of_a_batch_have_one_of_three_shapes():
    names, table = ("a", "b"), np.arange(24.0).reshape(3, 4, 2)       # cases, periods, inputs
    np.testing.assert_array_equal(read_inputs(table, 3, 4, names), table.swapaxes(0, 1))
    np.testing.assert_array_equal(read_inputs(table[:, 0], 3, 4, names), table[:, 0])
    np.testing.assert_array_equal(read_inputs([1, 2], 3, 4, names), [[1, 2]] * 3)
    np.testing.assert_array_equal(read_inputs(None, 3, 4, names), np.zeros((3, 2)))
    three = r"shape \(2, 4, 2\), expected \(3, 4, 2\) or \(3, 2\) or \(2,\)"
    for odd, words in ((table[:2], three),
                       (table[0], r"u has shape \(4, 2\)"), ([1, 2, 3], r"columns a, b"),
                       ([[1, nan]] * 3, r"u\[0, 1\] \(b\) = nan must be finite"),
                       ([[1, 2], [3, 4], [5, inf]], r"u\[2, 1\] \(b\) = inf"),
                       ([["x", 1]] * 3, "u is not an array of numbers")):
        with pytest.raises(InputError, match=words):
            read_inputs(odd, 3, 4, names)
    with pytest.raises(InputError, match=r"x has shape \(0, 2\), expected \(N, 2\)"):
        read_rows("x", np.zeros((0, 2)), [(None, 2)], names)


@pytest.mark.parametrize("duration, dt, steps", [
    (1.0, 1e-3, 1000), (0.3, 0.1, 3), (1 + 0.9e-9, 1.0, 1), (1 + 1.1e-9, 1.0, None),
    (0.4, 1.0, None), (0.6, 1.0, None)])
def test_the_duration_of_a_batch_is_a_multiple_of_the_step(duration, dt, steps):
    if steps:
        assert read_steps(duration, dt) == steps
        return
    with pytest.raises(InputError, match="must be a multiple of dt = 1.0 s"):
        read_steps(duration, dt)


# -- the state vector ------------------------------------------------------------------------------
def test_states_are_configurations_with_angles_that_count_turns():
    """Of a pose with a quaternion, a joint that turns on, a line, and another circle."""
    space = product(special_euclidean(), circle("a"), line("s", "m/s"), circle("b"))
    vector = StateVector(space, 2)
    assert (vector.nconf, vector.nx, vector.angle_slots()) == (10, 12, (7, 9))
    assert vector.names(("u", "w"))[7:] == ("a", "s", "b", "u", "w")
    rng = np.random.default_rng(4)
    conf = np.r_[rng.normal(size=7), 7.5, 0.3, -20.0]
    q = vector.configuration(conf)
    assert q == pytest.approx(np.r_[conf[:7], np.cos(7.5), np.sin(7.5), 0.3, np.cos(20),
                                    -np.sin(20)], rel=1e-12, abs=0)
    np.testing.assert_allclose(np.array(ca.evalf(vector.configuration(ca.SX(ca.DM(conf))))).ravel(),
                               q, rtol=1e-12)
    x = vector.assemble(q, np.array([1.0, 2.0]), np.r_[conf + 3.1, 0, 0])
    np.testing.assert_allclose(x, np.r_[conf, 1, 2], rtol=1e-12, atol=1e-12)
    wrapped = vector.assemble(q, np.array([1.0, 2.0]))
    np.testing.assert_allclose(wrapped[[7, 9]], [7.5 - 2 * pi, 6 * pi - 20], rtol=0, atol=1e-12)
    unit = np.array(ca.evalf(vector.unit(ca.SX(ca.DM(conf))))).ravel()
    np.testing.assert_allclose(unit[3:7], conf[3:7] / np.linalg.norm(conf[3:7]), rtol=1e-12)
    np.testing.assert_array_equal(np.delete(unit, range(3, 7)), np.delete(conf, range(3, 7)))
    # dx/dt: of an angle its rate, of everything else that of its coordinate
    v, xi_rate = rng.normal(size=9), np.array([5.0, 6.0])
    q_rate = np.array(ca.evalf(ca.substitute(space.anchor, space.q, ca.DM(q)) @ ca.DM(v))).ravel()
    rate = np.array(vector.rate(ca.DM(q_rate), ca.DM(v), ca.DM(xi_rate))).ravel()
    np.testing.assert_allclose(rate, np.r_[q_rate[:7], v[6], v[7], v[8], 5, 6], rtol=1e-12)
    ends = [vector.configuration(conf + s * 1e-6 * rate[:10]) for s in (1, -1)]
    np.testing.assert_allclose((ends[0] - ends[1]) / 2e-6, q_rate, atol=1e-8)
