"""What results of analysis say and derive, of results that are made by hand."""

from __future__ import annotations

from dataclasses import replace
from math import inf, pi
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nhmech.analysis.axles import Axles, _meet
from nhmech.analysis.energy_balance import EnergyBalance
from nhmech.analysis.equilibria import pitch_of
from nhmech.analysis.limits import Cause, Limit, Limits, _least
from nhmech.analysis.linearise import Linearisation, _displacement_unit
from nhmech.analysis.mobility import planar
from nhmech.analysis.rolling_limits import RunValidity
from nhmech.analysis.stability import Sweep, branches, critical_value, growth_rate
from nhmech.analysis.validity import Validity, Verdict, WheelLoad
from nhmech.errors import InputError, MechanicsError


# -- eigenvalues -----------------------------------------------------------------------------------
@pytest.mark.parametrize("values, neutral, growth", [
    ([-1, -2 + 3j, 0.5], 0, 0.5), ([1e-9, -0.5, 3], 1, 3.0), ([0.1, -0.2, -3], 1, -0.2),
    ([0.1, -0.2, -3], 2, -3.0), ([0.1], 1, -inf), ([], 0, -inf), ([2j, -2j], 0, 0.0)])
def test_growth_is_the_largest_real_part_but_for_those_nearest_to_zero(values, neutral, growth):
    assert growth_rate(np.array(values, dtype=complex), neutral) == growth


def test_branches_cross_as_straight_lines_do():
    """And go on in order of the first row, whatever the order of the others."""
    rows = [np.array([s, 1 - s, -2 + 0.1j * s]) for s in np.linspace(0, 1, 8)]
    mixed = [row[order] for row, order in zip(rows, [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0]]
                                              * 2)]
    np.testing.assert_array_equal(branches(mixed), rows)
    assert branches([]).shape == (0,) and branches(rows[:1]).tolist() == [rows[0].tolist()]


def test_a_sweep_knows_what_is_growth_and_what_is_rounding():
    members = (SimpleNamespace(),) * 2
    sweep = Sweep("forward speed", "m/s", np.array([1.0, 2.5]),
                  np.array([[1e-9, -1 + 2j, -30], [2e-9, 0.5, -40]]), 1, members)
    assert sweep.growth.tolist() == [-1, 0.5] and sweep.marginal == pytest.approx(40e-6, rel=1e-12)
    assert repr(sweep) == "Sweep(forward speed 1 to 2.5 m/s, 2 steady motions)"
    small = replace(sweep, eigenvalues=sweep.eigenvalues / 1e3, members=())
    assert small.marginal == pytest.approx(1e-6, rel=1e-12)
    assert repr(small) == "Sweep(forward speed, 0 steady motions)"


def test_a_critical_value_is_exact_and_lies_between():
    assert critical_value(lambda v: v ** 2 - 2, 0, 3) == pytest.approx(2 ** 0.5, rel=1e-15)
    assert critical_value(lambda v: v, 0.0, 1.0) == 0 == critical_value(lambda v: -v, -1.0, 0.0)
    with pytest.raises(MechanicsError, match="the same sign at 2 and 3: 2 and 7"):
        critical_value(lambda v: v ** 2 - 2, 2, 3)


def test_eigenvalues_come_by_their_real_part():
    made = Linearisation(np.diag([-3.0, 2.0, -1.0]), np.zeros((3, 0)), ("a", "b", "c"), (),
                         np.zeros(1), ("", "", ""), np.eye(3), np.zeros((3, 0)), (), ())
    assert made.eigenvalues.tolist() == [2, -1, -3]


# -- axles -----------------------------------------------------------------------------------------
def rows_of(*axles):
    """Lateral rows of wheels at (x, y), turned by an angle: unit vectors in (forward, lateral,
    length * yaw rate), length 1."""
    made = []
    for x, y, angle in axles:
        across = np.array([-np.sin(angle), np.cos(angle)])
        made.append([*across, across @ (-y, x)])
    made = np.array(made).reshape(-1, 3)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def axles_of(kind, *axles, steerable=False, centre=None, direction=None):
    return Axles(tuple("abcdef"[:len(axles)]), rows_of(*axles), 1.0, kind, centre, direction,
                 steerable)


LOCKED = axles_of("locked", (0, 0.3, 0), (0, -0.3, 0), (1, 0, 0))       # one axle, and one in front


@pytest.mark.parametrize("found, free", [
    (LOCKED, (("c",),)),                                            # one wheel rather than two
    (axles_of("locked", (0, 0, 0), (1, 0, 0)), (("a",), ("b",))),
    (axles_of("locked", (0, 0, 0), (1, 0, 0), (2, 0, 0)), (("a", "b"), ("a", "c"), ("b", "c"))),
    (axles_of("locked", (0, 1, 0), (0, -1, 0), (1, 1, 0), (1, -1, 0)), (("a", "b"), ("c", "d"))),
    (axles_of("parallel", (0, 0, 0)), ()),
    (axles_of("point", (0, 0, 0), (1, 0, 0.5)), ()), (axles_of("line", (0, 0, 0)), ()),
    (axles_of("anywhere"), ())], ids=lambda value: getattr(value, "kind", None))
def test_the_smallest_sets_of_wheels_to_free(found, free):
    """Wheels of one axle go together; of sets as small as can be, those of the fewest wheels."""
    assert found.to_free() == free and found.turns == (found.kind in ("point", "line", "anywhere"))


@pytest.mark.parametrize("found, words", [
    (LOCKED, "none, locked: the axle of a does not meet that of c; free the lateral rows of c"),
    (axles_of("anywhere"), "anywhere: no axle binds the base"),
    (axles_of("point", (0, 0, 0), centre=np.array([-1e-12, 1.23456])),
     "the axles meet at (0, 1.235) m of the base"),
    (axles_of("line", (0, 0, 0), centre=np.array([0.5, -1e-10]), direction=np.array([0, 1.0])),
     "any point of the common axle, which passes at (0.5, 0) m of the base along (0, 1)"),
    (axles_of("parallel", (0, 0, 0), (1, 0, 0), steerable=True),
     "at infinity: it moves straight on until it steers"),
    (axles_of("parallel", (0, 0, 0), (1, 0, 0)), "none, straight only: the axle of a does not meet "
     "that of b; free the lateral rows of a or b"),
    (axles_of("locked", (0, 0, 0), (1, 0, 0), (0, 0, 1.0), steerable=True),
     "none, locked: the axle of a does not meet that of b, c; free the lateral rows of a or b")])
def test_where_axles_meet_in_words(found, words):
    assert found.describe() == words
    assert repr(found) == f"Axles({', '.join(found.wheels) or 'none'}: {words})"


@pytest.mark.parametrize("length", [1.0, 0.4, 3.0])
def test_where_axles_meet(length):
    """In a point, on the line that they share, at infinity, everywhere, or nowhere: of wheels at
    random places."""
    rng = np.random.default_rng(7)

    def meet(*wheels):
        rows = rows_of(*wheels) * (1, 1, 1 / length)
        return _meet(rows / np.linalg.norm(rows, axis=1, keepdims=True), length)

    for _ in range(4):
        centre, places = rng.normal(size=2), rng.normal(size=(3, 2))
        towards = [np.arctan2(*(place - centre)[::-1]) - np.pi / 2 for place in places]
        kind, found, direction = meet(*((*place, angle) for place, angle in zip(places, towards)))
        assert kind == "point" and direction is None
        np.testing.assert_allclose(found, centre, rtol=0, atol=1e-9)
        assert meet(*((*place, angle + 0.1 * k) for k, (place, angle) in enumerate(
            zip(places, towards))))[0] == "locked"
        angle = rng.uniform(-1.5, 1.5)
        along, ahead = np.array([-np.sin(angle), np.cos(angle)]), rng.uniform(-2, 2)
        middle = ahead * np.array([along[1], -along[0]])
        kind, found, direction = meet(*((*(middle + k * along), angle) for k in (-1, 0.5, 2)))
        assert kind == "line"
        np.testing.assert_allclose(found, middle, rtol=0, atol=1e-12)
        np.testing.assert_allclose(direction, along, rtol=0, atol=1e-12)
        kind, found, direction = meet(*((*place, angle) for place in places))
        assert kind == "parallel" and found is None
        assert abs(direction @ along) == pytest.approx(1, rel=1e-9)
    assert _meet(np.zeros((0, 3)), length) == ("anywhere", None, None)


# -- loads -----------------------------------------------------------------------------------------
WHEEL = WheelLoad("left", 12.3456, -1.5, 0.25, 0.12345, 0.1, 0.6, {"lateral": (-inf, inf)})
BALL = WheelLoad("ball", 3.0, 0.0, 0.0, 0.0, 0.0, inf, {"normal": (1.0, 2.5)})


def judged(**changes):
    return Validity(**{**dict(t=1.5, wheels=(WHEEL, BALL), verdict=Verdict.HOLDS, use=(0.2, 0.3),
                              lifted=False, sums=(("left/lateral + right/lateral", 2.0),),
                              free=("front",)), **changes})


def test_the_load_of_a_wheel_in_words():
    assert WHEEL.margin == pytest.approx(0.6 - 0.12345, rel=1e-15)
    line = "left: normal 12.35 N, longitudinal -1.5 N, lateral 0.25 N, needs mu = 0.123"
    assert WHEEL.describe() == f"{line} of 0.6" and replace(WHEEL, mu=inf).describe() == line
    assert BALL.describe() == "ball: normal 3 N, longitudinal 0 N, lateral 0 N"


def test_a_judgement_in_lines():
    found = judged()
    lines = found.describe().split("\n")
    assert lines[0] == f"t = 1.5 s: {Verdict.HOLDS.value} ({found.reason()})"
    assert lines[1:] == [
        f"  {WHEEL.describe()}", f"  {BALL.describe()}",
        "  undetermined: left/lateral, any force, because the wheels can press against each other",
        "  undetermined: ball/normal, between 1 and 2.5 N",
        "  determined: left/lateral + right/lateral = 2 N",
        "  slides sideways by the model, not judged: front"]
    assert len(judged(free=()).describe().split("\n")) == 6
    assert found["ball"] is BALL and found.worst is WHEEL
    with pytest.raises(InputError, match="right"):
        found["right"]
    assert repr(found) == f"Validity(t=1.5, HOLDS: {found.reason()})"


@pytest.mark.parametrize("other, lifted, worst", [
    (dict(kindest=0.3, mu=0.9), False, "left"), (dict(kindest=0.3, mu=0.7), False, "other"),
    (dict(normal=1.0), True, "other"), (dict(normal=20.0), True, "left")])
def test_the_worst_wheel_uses_most_of_its_friction_or_bears_least(other, lifted, worst):
    wheel = replace(WHEEL, kindest=0.2, mu=0.5)
    wheels = (wheel, replace(wheel, wheel="other", **other))
    assert judged(wheels=wheels, lifted=lifted).worst.wheel == worst


# -- limits ----------------------------------------------------------------------------------------
SLIP = Limit(2.5, Cause.SLIP, ("l",), when="turning left")
NONE = Limit(None, reason="nothing sets one")


def limits_of(**changes):
    return Limits(**{**dict(mu={"l": 0.6}, radius=1.5, speed=2.0, slip=SLIP, lift_off=NONE,
                            top_speed=replace(SLIP, value=1.0, cause=Cause.VELOCITY),
                            acceleration=replace(SLIP, names=("l", "r"), when=""),
                            deceleration=replace(SLIP, value=4.0), up=replace(SLIP, value=pi / 6),
                            down=NONE, across=NONE), **changes})


@pytest.mark.parametrize("limit, words", [
    (SLIP, "5 m: l slips, turning left"), (NONE, "none: nothing sets one"),
    (Limit(1.23456, Cause.LIFT_OFF, ("a", "b")), "2.469 m: a, b lift off"),
    (Limit(0.0, Cause.EFFORT, ("a",)), "0 m: a is at its effort limit"),
    (Limit(1.0, Cause.VELOCITY, tuple("abc")), "2 m: a, b, c are at their velocity limits"),
    (Limit(1.0, Cause.SLIP, tuple("abcdef")), "2 m: a, b, c, d and 2 more slip")])
def test_a_limit_in_words(limit, words):
    assert limit.describe("m", 2.0) == words
    assert limit.event == words.partition(": ")[2].removesuffix(", turning left")


def test_limits_in_lines():
    found = limits_of()
    assert found.stopping_distance == 0.5 and found.margin(SLIP) == 0.25
    assert found.margin(NONE) is None
    assert found.describe().split("\n") == [
        "first slip      2.5 m/s: l slips, turning left; 25 % above 2 m/s",
        "first lift-off  none: nothing sets one",
        "top speed       1 m/s: l is at its velocity limit, turning left; 50 % below 2 m/s",
        "acceleration    2.5 m/s^2: l, r slip", "deceleration    4 m/s^2: l slips, turning left",
        "stopping        0.5 m from 2 m/s", "slope up        30 degrees: l slips, turning left",
        "slope down      none: nothing sets one", "slope across    none: nothing sets one"]
    assert "; 2 times 1.25 m/s" in limits_of(speed=1.25).describe()
    assert "; 99.2 % above" in limits_of(speed=1.255).describe()
    assert "; 0 % above" in limits_of(speed=2.5).describe()
    last = limits_of(not_judged=("f", "g")).describe().split("\n")[-1]
    assert last == "not judged      f, g: slide sideways by the model"
    assert repr(found) == ("<Limits on a circle of 1.5 m: first slip 2.5 m/s: l slips, turning "
                           "left; first lift-off none: nothing sets one>")


def test_the_least_limit_is_the_first_of_those_that_are_equal_to_four_digits():
    one, less, same = (replace(SLIP, value=value) for value in (2.0, 1.9, 1.9 * (1 + 0.9e-4)))
    more = replace(SLIP, value=1.9 * (1 + 1.1e-4))
    assert _least(one, less) is less and _least(less, one) is less
    assert _least(NONE, one) is one and _least(NONE, replace(NONE)) is NONE
    assert _least(same, less) is same and _least(more, less) is less


def test_who_cannot_brake_does_not_stop():
    still = limits_of(deceleration=Limit(0.0, Cause.SLIP, ("l",)))
    assert still.stopping_distance is None and "none: it cannot brake" in still.describe()
    assert "stopping        none: nothing sets one" in limits_of(deceleration=NONE).describe()
    alike = dict.fromkeys(("slip", "lift_off", "top_speed", "acceleration", "deceleration", "up",
                           "down", "across"), NONE)
    assert limits_of(**alike).describe() == "limits  none: nothing sets one"


# -- runs ------------------------------------------------------------------------------------------
def test_an_energy_balance_adds_up():
    t, parts = np.arange(3.0), np.random.default_rng(0).normal(size=(5, 3))
    balance = EnergyBalance(t, *parts, False, True)
    kinetic, potential, inputs, passive, contacts = parts
    np.testing.assert_allclose(balance.total, kinetic + potential, rtol=1e-15)
    np.testing.assert_allclose(balance.work, inputs + passive + contacts, rtol=1e-15)
    np.testing.assert_allclose(balance.rest + balance.work + balance.total[0], balance.total,
                               rtol=1e-14)


class States(list):
    """Judged states at the times 0, 1, 2, ..."""

    rolls = True

    @property
    def t(self):
        return [state.t for state in self]

    @property
    def verdicts(self):
        return [state.verdict for state in self]

    @property
    def hardest(self):
        return max(self, key=lambda state: state.use[0])


def run_of(*verdicts, events=(), rolls=True, mu=0.6):
    states = States(judged(t=float(k), verdict=verdict, use=(0.1 * k, 0.5),
                           wheels=(replace(WHEEL, mu=mu), BALL))
                    for k, verdict in enumerate(verdicts))
    states.rolls = rolls
    return RunValidity(states, events)


H, P, F = Verdict.HOLDS, Verdict.POSSIBLE, Verdict.FAILS
REASON = judged().reason()
BARE = judged(wheels=(replace(WHEEL, mu=inf), BALL)).reason()


@pytest.mark.parametrize("run, until, words", [
    (run_of(H, H, H), None, f"ideal rolling was valid from t = 0 to 2 s; closest to slip at t = 2 "
     f"s, {REASON}"),
    (run_of(H, P, P, P, H), None, "ideal rolling was possible from t = 0 to 4 s; closest to slip "
     f"at t = 4 s, {REASON}\nwhether it held between t = 1 and 3 s depends on how the wheels share "
     "the load, which rigid bodies do not determine"),
    (run_of(H, P, rolls=False), None, "contact with the ground was possible from t = 0 to 1 s\n"
     "whether it held at t = 1 s depends on how the wheels share the load, which rigid bodies do "
     "not determine"),
    (run_of(H, H, F, H, F), 1.0, f"ideal rolling was not valid at t = 2 s, {REASON}; run with "
     "friction_limit and lift_off for the exact moment"),
    (run_of(F, H), 0.0, f"ideal rolling was not valid at t = 0 s, {REASON}; run with "
     "friction_limit and lift_off for the exact moment"),
    (run_of(H, F, H, events=((1.0, "friction limit"), (2.0, "lift-off"))), 1.0,
     f"ideal rolling stopped being valid at t = 1 s (friction limit), {REASON}"),
    (run_of(H, H, F, events=((1.5, "lift-off"),)), 1.5, "ideal rolling stopped being valid at "
     f"t = 1.5 s (lift-off), {REASON} at t = 2 s"),
    (run_of(H, H, events=((5.0, "lift-off"),)), 5.0, "ideal rolling stopped being valid at t = 5 s "
     f"(lift-off), {REASON}")], ids=str)
def test_a_judged_run_in_words(run, until, words):
    assert run.until == until and run.describe() == words
    assert (run.failure() is None) == words.startswith((
        "ideal rolling was valid", "ideal rolling was possible", "contact"))
    assert repr(run) == f"RunValidity({len(run)} states, {len(run.events)} events, until={until})"


def test_the_remedy_finds_the_exact_moment():
    known, unknown = run_of(H, F), run_of(H, F, mu=inf)
    assert known.describe(command_line=True).endswith(
        "; run with --on-slip warn for the exact moment")
    assert unknown.remedy.command == "run with --mu 0.8 --on-slip warn for the exact moment"
    assert run_of(F).remedy.command == "run with --on-slip warn for the exact moment"
    assert run_of(H, P).remedy is None and run_of(F, events=((0.0, "lift-off"),)).remedy is None
    assert run_of(H, P, F, P).first(P).t == 1 and run_of(H).first(P) is None
    named = known.failure(lambda wheel: wheel.upper())
    assert named == f"ideal rolling was not valid at t = 1 s, {judged().reason(str.upper)}"
    assert "LEFT" in named


@pytest.mark.parametrize("kindest, mu, lifted, words", [
    (0.5, 0.4, False, "left, needs mu = 0.5 > 0.4"),
    (0.3, 0.4, False, "left, needs mu = 0.3 <= 0.4"), (0.5, inf, False, "left, needs mu = 0.5"),
    (0.40004, 0.4, False, "left, needs mu = 0.40004 > 0.4"),
    (0.4004, 0.4, False, "left, needs mu = 0.4004 > 0.4"),
    (0.4 - 1e-8, 0.4, False, "left, needs mu = 0.39999999 <= 0.4"),
    (0.123456789, 0.4, False, "left, needs mu = 0.123 <= 0.4"),
    (0.400123456789, 0.4, False, "left, needs mu = 0.4001 > 0.4"),
    (0.400012345678, 0.4, False, "left, needs mu = 0.400012 > 0.4"),
    (0.400000012345, 0.4, False, "left, needs mu = 0.400000012 > 0.4"),
    (0.4 + 1e-12, 0.4, False, "left, needs all of mu = 0.4"),
    (0.5, 0.4, True, "left lifts off: the ground would have to pull it with 12.3 N")])
def test_the_reason_has_as_many_digits_as_tell_the_two_numbers_apart(kindest, mu, lifted, words):
    wheel = replace(WHEEL, kindest=kindest, mu=mu, normal=-12.3456)
    assert judged(wheels=(wheel,), lifted=lifted).reason() == words


# -- the base's planar twist -----------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(3))
def test_the_planar_twist_is_that_of_the_x_axis_laid_on_the_ground(seed):
    """Forward, lateral and turning speed in W, of a base in any attitude on any slope."""
    rng = np.random.default_rng(seed)
    R, n = Rotation.random(random_state=seed).as_matrix(), rng.normal(size=3)
    n = n / np.linalg.norm(n)
    vehicle = SimpleNamespace(placer=SimpleNamespace(normal=n))
    q = np.r_[0, 0, 0, Rotation.from_matrix(R).as_quat()]
    velocity, omega = rng.normal(size=(2, 3))              # in the base's frame
    forward = R[:, 0] - (R[:, 0] @ n) * n
    forward /= np.linalg.norm(forward)
    expected = [R @ velocity @ forward, R @ velocity @ np.cross(n, forward), R @ omega @ n]
    np.testing.assert_allclose(planar(vehicle, q) @ np.r_[velocity, omega], expected, rtol=1e-12)
    # standing on its nose: the y axis stands in for what has no direction on the ground
    straight = SimpleNamespace(placer=SimpleNamespace(normal=np.array([1.0, 0, 0])))
    rows = planar(straight, np.r_[np.zeros(6), 1.0])
    assert rows.tolist() == [[0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0]]


def test_pitch_is_that_about_the_leaning_axis():
    for yaw, roll, pitch in ((0.3, 0.2, -0.5), (-2.0, -1.1, 2.5), (1.0, 0.7, -3.0)):
        attitude = Rotation.from_euler("z", yaw) * Rotation.from_euler("x", roll) \
            * Rotation.from_euler("y", pitch)
        assert pitch_of(np.r_[np.zeros(3), attitude.as_quat()]) == pytest.approx(pitch, rel=1e-12)


@pytest.mark.parametrize("rate, displacement", [("m/s", "m"), ("rad/s", "rad"), ("1/s", "1"),
                                                ("", "s"), ("N", "N s")])
def test_the_unit_of_a_displacement_is_that_of_its_rate_times_a_second(rate, displacement):
    assert _displacement_unit(rate) == displacement
