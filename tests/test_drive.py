"""A vehicle driven from its page: the loop, what the page may say, the file, and real keys."""

import asyncio
import json
import threading
import time

import numpy as np
import pytest
import umsgpack
from browser import Undrawn, needs_chromium
from support import SHIPPED, VARIED, at_length, command_line, joint, link, robot, shipped

import nhmech
from nhmech.control import DemoDrive, WheelServo
from nhmech.control.combinators import Exchange
from nhmech.control.speed_limits import SpeedLimits
from nhmech.control.teleoperation import OWN, Teleoperation
from nhmech.control.twist_limits import TwistLimits, easy_limits, turning_radius
from nhmech.errors import InputError, SimulationError
from nhmech.view import Drive, Viewer
from nhmech.view.page_commands import PageCommands

TICK = 0.01


def run(drive, seconds, parts=None):
    """Turns of the loop by a clock of one's own, with a hand on the page; the twist at the end."""
    now = drive.now = getattr(drive, "now", 0.0)
    drive.advance(now)
    for _ in range(round(seconds / TICK)):
        if parts is not None:
            say(drive, parts=parts)
        now += TICK
        drive.advance(now)
    drive.now = now
    return measured(drive)


def say(drive, **words):
    drive.viewer.commands.receive(json.dumps(words))


def measured(drive):
    """Forward speed, lateral speed, yaw rate, as the page shows them."""
    state = drive.teleoperation.simulator.state
    reading = drive.viewer._live._instruments.read(nhmech.view.viewer.Snapshot.of(state))
    assert umsgpack.unpackb(umsgpack.packb(reading)) == reading
    return np.array(reading["twist"])


# ---------------------------------------------------------------- the loop


@pytest.mark.parametrize("name", VARIED)
def test_every_vehicle_is_driven_by_the_same_twists(name, monkeypatch):
    """It comes to the speed that is asked for, within its limits, turns to the side that is asked
    for, and stops; one that cannot is pushed, and says so. No code is built meanwhile."""
    with Drive(shipped(name)) as drive:
        built = []
        monkeypatch.setattr("nhmech.compile.loop.library_of", lambda *a: built.append(a))
        limits = [limit.max_velocity for limit in drive.limits]
        assert all(0 < limit < np.inf for limit in limits)
        if drive.teleoperation.coasts:
            run(drive, 0.3, [1, 0, 0])
            assert "keys push it" in drive.cannot()[0]
            assert drive.teleoperation.simulator.t == pytest.approx(0.3)
            return
        straight = run(drive, 2.5, [1, 0, 0])
        assert straight[0] == pytest.approx(limits[0], rel=0.02) and abs(straight[2]) < 1e-3
        wanted = drive.twist((1.0, 0.0, 0.5))
        bend = run(drive, 3.0, [1, 0, 0.5])
        assert bend[[0, 2]] == pytest.approx(np.array(wanted)[[0, 2]], rel=0.02)
        rest = run(drive, 3.0, [0, 0, 0])
        assert np.abs(rest * [1, 1, drive.vehicle.steering.length]).max() < 0.02 * limits[0]
        assert not drive.teleoperation.failure and not built


@pytest.mark.parametrize("name", ["ball", "sled"])
def test_a_hand_pushes_what_has_no_motor_and_lets_go(name):
    with Drive(shipped(name), start={"xi": {}}) as drive:
        limit = drive.limits[0].max_velocity
        assert run(drive, 2.0, [1, 0, 0])[0] == pytest.approx(limit, rel=0.02)
        run(drive, 2.0, [1, 0, 1])
        x, y = drive.teleoperation.simulator.state.q[:2]
        assert y > 0.1 * abs(x)
        run(drive, 0.5, [0, 0, 0])
        energy = drive.teleoperation.vehicle.energy
        state = drive.teleoperation.simulator.state
        before = energy(state.t, state.q, state.v)
        run(drive, 1.0, [0, 0, 0])
        state = drive.teleoperation.simulator.state
        assert energy(state.t, state.q, state.v) == pytest.approx(before, rel=1e-6)


def test_a_hand_does_not_hold_back():
    with Drive(shipped("sled"), start={"xi": {"forward_speed": 2.0}}) as drive:
        assert run(drive, 1.0, [1, 0, 0])[0] == pytest.approx(2.0, rel=1e-9)


def test_keys_reach_their_limit_in_the_time_that_is_promised():
    """0.4 s, and 0.2 s back."""
    for limit in easy_limits(shipped("differential_drive")):
        assert limit.max_velocity / limit.max_acceleration == pytest.approx(0.4)
        assert limit.max_velocity / limit.max_deceleration == pytest.approx(-0.2)
    assert [limit.max_velocity for limit in easy_limits(shipped("differential_drive"), 0.0)] == [
        0.0, 0.0, 0.0]


@pytest.mark.parametrize("name", ["trailers", "ackermann_car"])
def test_the_wheels_hold_whatever_the_keys_say(name):
    """Large vehicles, too, speed up, turn, brake and reverse without slip on a dry road."""
    vehicle = shipped(name)
    limits = easy_limits(vehicle)
    drive = Teleoperation(vehicle, limits=limits, mu=0.8, timeout=0.0)
    for ahead, turn, seconds in [(1, 0, 2.2), (1, 1, 2.0), (0, 0, 1.0), (-1, -1, 2.0)]:
        drive.take(ahead * limits.forward.max_velocity, 0.0, turn * limits.yaw.max_velocity)
        for _ in range(round(seconds / 0.1)):
            drive.advance(0.1)
            assert drive.slips is None and not drive.failure
    assert drive.simulator.state.pose[0] > 3.0


def test_without_a_hand_what_has_no_motor_stays():
    alone = Teleoperation(shipped("sled"), start={"xi": {"forward_speed": 0.0, "yaw_rate": 0.0}})
    alone.take(1.0, 0.0, 0.0)
    alone.advance(0.2)
    assert abs(alone.simulator.state.pose[0]) < 1e-12


@pytest.mark.parametrize("name", ["mecanum", "swerve", "omni"])
def test_what_moves_sideways_does(name):
    with Drive(shipped(name)) as drive:
        assert not any("sideways" in line for line in drive.cannot())
        speed = run(drive, 3.0, [0, 1, 0])
        assert speed == pytest.approx([0, drive.limits[1].max_velocity, 0], abs=1e-2)


def test_what_only_goes_straight_says_so():
    """Wheels one behind the other, between two balls. Of a vehicle that turns on the spot nothing
    is said."""
    text = robot(link("base", 5.0), *(
        link(name, 0.3) + joint(f"{name}_joint", "base", name, xyz=(x, 0, 0))
        for name, x in (("front", 0.2), ("rear", -0.2))), *(
        link(name, 0.1) + joint(f"{name}_joint", "base", name, xyz=(0, y, -0.03), kind="fixed")
        for name, y in (("left", 0.1), ("right", -0.1))))
    wheels = [nhmech.Wheel(f"{name}_joint", "disc", 0.05) for name in ("front", "rear")]
    balls = [nhmech.Wheel(None, "caster_ball", 0.02, link=name)
             for name in ("left", "right")]
    with Drive(nhmech.load(text, wheels=[*wheels, *balls])) as drive:
        assert "can only go straight" in drive.cannot()[0]
    with Drive(shipped("skid_steer")) as drive:
        assert drive.cannot() == ["does not move sideways"]


def test_what_a_vehicle_cannot_do_is_said_and_left_out():
    with Drive(shipped("ackermann_car")) as drive:
        assert len(drive.cannot()) == 2
        assert "3.48 m is its smallest turning radius" in drive.cannot()[0]
        assert drive.twist((0.0, 0.0, 1.0)) == (0.0, 0.0, 0.0)
        forward, _, yaw = drive.twist((-0.5, 0.0, 1.0))
        assert yaw == pytest.approx(-forward / drive.turning_radius)
        run(drive, 0.1, [0.5, 1.0, 0])
        assert "cannot move sideways" in drive.status()["note"]
        assert drive.teleoperation.twist[1] == 0.0


def test_a_page_that_falls_silent_lets_the_vehicle_brake():
    with Drive(shipped("differential_drive")) as drive:
        run(drive, 1.0, [1, 0, 0])
        assert run(drive, 0.4)[0] > 0.9 * drive.limits[0].max_velocity
        assert abs(run(drive, 1.5)[0]) < 1e-3


def test_pause_stop_and_reset():
    with Drive(shipped("differential_drive")) as drive:
        run(drive, 0.5, [1, 0, 0.3])
        say(drive, action="pause")
        before = drive.teleoperation.simulator.t
        run(drive, 0.5)
        assert drive.teleoperation.simulator.t == before and drive.status()["paused"]
        say(drive, action="go on")
        run(drive, 0.2, [1, 0, 0])
        assert drive.teleoperation.simulator.t == pytest.approx(before + 0.2)
        say(drive, action="stop")
        run(drive, 0.3)
        assert drive.teleoperation.twist == (0.0, 0.0, 0.0)
        say(drive, action="reset")
        run(drive, TICK)
        state = drive.teleoperation.simulator.state
        assert state.t == pytest.approx(TICK) and np.abs(state.q[:2]).max() < 1e-9


def test_a_controller_takes_over_and_hands_back():
    vehicle = shipped("differential_drive")
    with Drive(vehicle, controllers={"demo": DemoDrive(vehicle)}) as drive:
        assert drive.status()["controllers"] == ["twists", "demo"]
        run(drive, 0.5, [1, 0, 0])
        say(drive, choose="demo")
        say(drive, choose="nobody")
        run(drive, 2.0)
        assert drive.status()["chosen"] == "demo"
        state = drive.teleoperation.simulator.state
        assert abs(state.xi["left_wheel_joint"] - state.xi["right_wheel_joint"]) > 0.5
        say(drive, action="stop")       # always the hand's
        rest = run(drive, 2.0)
        assert drive.status()["chosen"] == "twists" and np.abs(rest).max() < 1e-3


@pytest.mark.parametrize("others", [1.5, TICK])
def test_a_hand_over_keeps_the_limits_of_acceleration(others):
    """However long another controller commanded, and whatever it made of the speed."""
    vehicle, most = shipped("differential_drive"), 0.5
    limits = TwistLimits(SpeedLimits(1.0, max_acceleration=most))
    driven = Teleoperation(vehicle, others={"halt": WheelServo(vehicle, (0.0, 0.0, 0.0))},
                           limits=limits, timeout=0.0)

    def drive(seconds):
        for _ in range(round(seconds / TICK)):
            driven.advance(TICK)
        return driven.simulator.state.xi["forward_speed"]

    driven.take(0.4, 0.0, 0.0)
    assert drive(1.5) == pytest.approx(0.4, abs=0.01)
    driven.choose("halt")
    speed = drive(others)
    driven.take(1.0, 0.0, 0.0)
    driven.choose(OWN)
    drive(TICK)
    assert driven.twist[0] - speed == pytest.approx(most * TICK, abs=1e-9)
    drive(10 * TICK)
    assert driven.twist[0] - speed == pytest.approx(11 * most * TICK, abs=1e-9)


def test_one_that_takes_over_begins_anew_and_unknown_ones_are_refused():
    class Counter:
        resets = 0

        def reset(self):
            self.resets += 1

        def __call__(self, t, state):
            return None

    one, other = Counter(), Counter()
    exchange = Exchange({"one": one, "other": other})
    exchange.choose("other")
    exchange.choose("other")
    exchange.choose("one")
    assert (one.resets, other.resets) == (1, 1) and exchange.commanded_twist is None
    with pytest.raises(InputError, match="controller"):
        exchange.choose("nobody")
    with pytest.raises(InputError, match="there is only 'twists'"):
        Teleoperation(shipped("coin")).choose("demo")


@pytest.mark.parametrize("name", SHIPPED)
def test_easy_limits_are_within_those_of_the_joints(name):
    limits = easy_limits(shipped(name))
    assert all(0 < limit.max_velocity < np.inf for limit in limits)
    asked, radius = easy_limits(shipped(name), 0.2, 0.4), turning_radius(shipped(name))
    assert asked.forward.max_velocity == 0.2
    # one that follows no path has no radius that is the smallest: it may turn on the spot
    bound = 0.2 / radius if 0 < radius < np.inf else np.inf
    assert asked.yaw.max_velocity == min(0.4, bound)


@pytest.mark.parametrize("words", [dict(speed=0.0), dict(yaw_rate=-1.0), dict(speed=np.nan)])
def test_limits_that_are_none_are_refused(words):
    with pytest.raises(InputError, match="positive|finite"):
        Drive(shipped("carriage"), **words)


# ---------------------------------------------------------------- the file


def test_steps_made_one_by_one_are_recorded_as_a_run_is(tmp_path):
    vehicle = shipped("differential_drive")

    def simulator():
        made = nhmech.Simulator(vehicle, WheelServo(vehicle, (0.5, 0.0, 0.5)), control_period=TICK)
        made.reset()
        return made

    whole, by_hand = simulator().run(0.5, every=10), simulator()
    by_hand.record(every=10, save=tmp_path / "drive.npz")
    with pytest.raises(SimulationError, match="is already recording"):
        by_hand.record()
    for _ in range(500):
        by_hand.step()
    for call in (by_hand.reset, lambda: by_hand.run(0.1)):
        with pytest.raises(SimulationError, match="end_record"):
            call()
    recorded = by_hand.end_record()
    read = nhmech.Trajectory.load(tmp_path / "drive.npz")
    for run in (recorded, read):
        assert run.stop == "ended"
        for name in ("t", "q", "v", "u", "commanded_twist"):
            np.testing.assert_array_equal(getattr(run, name), getattr(whole, name))
    with pytest.raises(SimulationError, match="nothing is recorded"):
        by_hand.end_record()


def test_a_saved_drive_is_a_run_and_a_reset_begins_another(tmp_path):
    path = tmp_path / "drive.npz"
    with Drive(shipped("carriage"), save=path) as drive:
        say(drive, parts=[1, 0, 0])
        drive.run(0.3)
        assert drive.saved == [path]
        drive.teleoperation.restart()
        say(drive, action="reset")
        drive.run(0.2)
    first, second, third = map(nhmech.Trajectory.load, drive.saved)
    assert [file.name for file in drive.saved] == ["drive.npz", "drive-2.npz", "drive-3.npz"]
    assert first.q[-1, 0] > first.q[0, 0] and second.stop == "reset" and third.t[0] == 0.0
    page = tmp_path / "drive.html"
    assert command_line("view", path, "--html", page).exit_code == 0 and page.exists()


def test_a_drive_that_fails_keeps_its_record(tmp_path, monkeypatch):
    path = tmp_path / "drive.npz"
    with Drive(shipped("carriage"), save=path) as drive:
        drive.reset()                   # nothing is recorded yet
        with monkeypatch.context() as patch:
            patch.setattr(drive.viewer, "display", lambda state: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                drive.run(0.3)
        assert nhmech.Trajectory.load(path).stop == "failed"
        assert drive.run(0.1).stop == "ended"
    assert [file.name for file in sorted(tmp_path.iterdir())] == ["drive-2.npz", "drive.npz"]


def test_the_command_says_where_and_what(tmp_path):
    path = tmp_path / "a.npz"
    result = command_line("drive", "tricycle", "--duration", "0.2", "--save", path, "--mu", "0.5",
                          "--controller", "pure_pursuit", "--path", "circle", "--top-speed", "0.3")
    assert result.exit_code == 0 and "http://127.0.0.1:" in result.output
    assert "does not turn on the spot" in result.output and f"saved    {path}" in result.output
    run = nhmech.Trajectory.load(path)
    assert set(run.simulated.vehicle.contacts[0].mount.wheel.mu for _ in "x") == {0.5}


@pytest.mark.parametrize("words", [
    ["bicycle", "--overlay", "forces", "--mu", "0.7"], ["pendulum"], ["ball"], ["rover"]])
def test_the_command_drives_what_falls_balances_rolls_or_steers(words):
    result = command_line("drive", *words, "--duration", "0.2")
    assert result.exit_code == 0 and "drive    http" in result.output


def test_the_command_drives_under_conditions(tmp_path):
    """As `nhmech run` has them; a reset goes back to them."""
    path = tmp_path / "a.npz"
    result = command_line("drive", "trailers", "--duration", "0.2", "--save", path,
                          "--slope", "5deg", "--start", "1,-2,30deg", "--payload", "20@0,0,0.5",
                          "--joint", "hitch_1_joint=20deg", "--xi", "forward_speed=0.5")
    assert result.exit_code == 0, result.output
    run = nhmech.Trajectory.load(path)
    vehicle = run.simulated.vehicle
    assert vehicle.ground == nhmech.Ground.inclined(np.deg2rad(5))
    assert vehicle.parameters.values["payload.mass"] == 20
    start = nhmech.Simulator(vehicle).reset((1, -2, np.deg2rad(30)), xi={"forward_speed": 0.5},
                                            joints={"hitch_1_joint": np.deg2rad(20)})
    np.testing.assert_array_equal(run.q[0], start.q)
    np.testing.assert_array_equal(run.v[0], start.v)
    refused = command_line("drive", "trailers", "--joint", "hitch=1")
    assert refused.exit_code == 2 and "--joint hitch=1" in refused.output


@pytest.mark.parametrize("begin", [(1.0, 2.0, 0.5), (1.0, 2.0, 0.0, 0.0, 0.0, 0.5)])
def test_a_restart_goes_back_to_the_heading(begin):
    driven = Teleoperation(shipped("carriage"), start={"pose": begin})
    for place, found in ((None, begin), ((3.0, 1.0, -0.4), (3.0, 1.0, -0.4))):
        driven.restart(place)
        q = driven.simulator.state.q
        yaw = 2 * np.arctan2(q[5], q[6])
        assert [*q[:2], yaw] == pytest.approx([found[0], found[1], found[-1]])


def test_a_path_that_nothing_follows_is_refused():
    result = command_line("drive", "carriage", "--path", "circle", "--duration", "0.1")
    assert result.exit_code == 2 and "no controller follows it" in result.output


# ---------------------------------------------------------------- what a page may say


@pytest.mark.parametrize("message", [
    "", "{", b"\xff", "[1]", "3", '{"parts": [1, 2]}', '{"parts": [1, 0, NaN]}',
    '{"parts": [1, 0, true]}', '{"parts": "abc"}', '{"action": "rm"}', '{"choose": 3}',
    '{"action": ["stop"]}', '{"parts": [0, 0, 0], "action": "stop"}', "[" * 3000,
    '{"parts": [1e999, 0, 0]}',
])
def test_what_is_no_command_is_dropped(message):
    commands = PageCommands()
    commands.receive(message)
    assert commands.take_parts() is None and commands.take_action() is None


def test_commands_are_cut_to_the_limits_and_only_the_newest_counts():
    commands = PageCommands()
    for parts in ([0.1, 0, 0], [9, -9, 0.5]):
        commands.receive(json.dumps({"parts": parts}))
    assert commands.take_parts() == (1.0, -1.0, 0.5) and commands.take_parts() is None


@pytest.mark.parametrize("origin, host, outcome", [
    ("own", None, "obeyed"), ("http://localhost:{port}", "localhost:{port}", "obeyed"),
    (None, None, "ignored"), ("http://evil.example", None, "refused"),
    ("http://127.0.0.1:1", None, "refused"), ("null", None, "refused"),
    ("http://evil.example", "evil.example", "refused"), ("file://", None, "refused"),
])
def test_only_the_page_itself_commands(origin, host, outcome):
    from tornado.httpclient import HTTPClientError, HTTPRequest
    from tornado.websocket import websocket_connect

    with Viewer(shipped("carriage"), drive=True) as viewer:
        port = viewer.url.split(":")[-1].strip("/")
        own = viewer.url.rstrip("/")
        headers = {} if origin is None else {
            "Origin": own if origin == "own" else origin.format(port=port)}
        headers |= {} if host is None else {"Host": host.format(port=port)}

        async def drive():
            line = await websocket_connect(HTTPRequest(f"ws{own[4:]}/scene", headers=headers))
            await line.write_message('{"action": "stop"}')
            line.close()
            while await line.read_message() is not None:      # what was sent before has been read
                pass

        if outcome == "refused":
            with pytest.raises(HTTPClientError, match="403"):
                asyncio.run(drive())
        else:
            asyncio.run(drive())
        assert (viewer.commands.take_action() is not None) == (outcome == "obeyed")


def test_a_page_without_controls_is_told_nothing():
    with Viewer(shipped("carriage")) as viewer:
        assert viewer._window._receive is None
    for words, expected in (({"window": "tcp://127.0.0.1:9"}, "leave window= out"),):
        with pytest.raises(InputError, match=expected):
            Viewer(shipped("carriage"), drive=True, **words)


# ---------------------------------------------------------------- real keys


CODES = {"ArrowUp": "ArrowUp", "ArrowLeft": "ArrowLeft", "KeyQ": "q", "KeyW": "w", "KeyA": "a",
         "Space": " ", "KeyR": "r", "KeyP": "p", "KeyC": "c"}


def press(browser, code, down=True, up=True):
    """A key of the real keyboard, as the browser hears it."""
    words = dict(code=code, key=CODES[code])
    if down:
        browser._page("Input.dispatchKeyEvent", type="rawKeyDown", **words)
    if up:
        browser._page("Input.dispatchKeyEvent", type="keyUp", **words)


def wait_until(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not come about"
        time.sleep(0.02)


@pytest.fixture
def driven(request):
    """A drive that goes on in a thread, and a browser that looks at it."""
    vehicle = shipped(request.param)
    drive = Drive(vehicle, controllers={"demo": DemoDrive(vehicle)})
    ends = threading.Event()

    def loop():
        while not ends.is_set():
            drive.advance(time.monotonic())
            time.sleep(TICK)

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        with Undrawn(drive.viewer.url, (640, 420)) as browser:
            browser.wait_for("nhmech.state.ready && nhmech.drive.state.limits")
            yield drive, browser
    finally:
        ends.set()
        thread.join()
        drive.close()


def shown(browser):
    """x, y of the root body on the page, and what the instruments say."""
    return browser.evaluate("""(() => { const p = nhmech.viewer.scene_tree.find(
        ['vehicle', 'root_joint']).object.position;
        return [p.x, p.y, document.getElementById('instruments').innerText]; })()""")


@needs_chromium
@pytest.mark.browser
@pytest.mark.parametrize("driven", ["mecanum"], indirect=True)
def test_a_finger_moves_sideways(driven):
    drive, browser = driven
    browser.evaluate("""(() => { const hand = document.querySelector('#hand-sideways input');
        hand.value = 1; hand.dispatchEvent(new Event('input')); return 0; })()""")
    simulator = drive.teleoperation.simulator
    wait_until(lambda: simulator.state.q[1] < -0.1 * drive.vehicle.steering.length)
    assert browser.evaluate("document.querySelector('#hand-sideways').offsetParent !== null")


@needs_chromium
@pytest.mark.browser
@pytest.mark.parametrize("driven, keys, axis", [
    *at_length(("differential_drive", ["ArrowUp"], 0), ("mecanum", ["KeyQ"], 1)),
    ("ackermann_car", ["KeyW", "KeyA"], 1)], indirect=["driven"])
def test_keys_of_a_real_browser_drive_and_the_pose_follows(driven, keys, axis):
    drive, browser = driven
    simulator, length = drive.teleoperation.simulator, drive.vehicle.steering.length
    for key in keys:
        press(browser, key, up=False)
    wait_until(lambda: simulator.state.q[axis] > 0.5 * length)
    browser.wait_for("nhmech.viewer.scene_tree.find(['vehicle', 'root_joint']).object.position."
                     f"{'xy'[axis]} > {0.4 * length}")
    for key in keys:
        press(browser, key, down=False)
    wait_until(lambda: drive.teleoperation.twist == (0.0, 0.0, 0.0))
    press(browser, "KeyR")
    wait_until(lambda: abs(simulator.state.q[axis]) < 0.1 * length)
    text = shown(browser)[2]
    assert "friction used" in text and "speed" in text and "rad/s" in text


@needs_chromium
@pytest.mark.browser
@pytest.mark.parametrize("driven", ["tricycle"], indirect=True)
def test_space_stops_though_a_key_is_down_and_other_keys_do_what_the_page_says(driven):
    drive, browser = driven
    teleoperation = drive.teleoperation
    press(browser, "ArrowUp", up=False)
    wait_until(lambda: teleoperation.twist[0] > 0.1)
    press(browser, "Space")
    wait_until(lambda: teleoperation.twist == (0.0, 0.0, 0.0))
    press(browser, "ArrowUp", up=False)          # it repeats, as a key that is held does
    time.sleep(0.3)
    assert teleoperation.twist == (0.0, 0.0, 0.0)
    press(browser, "ArrowUp", down=False)
    press(browser, "KeyC")
    wait_until(lambda: teleoperation.chosen == "demo")
    browser.wait_for("document.getElementById('controller').value === 'demo'")
    # the limits of the keys are not the controller's
    assert "of" not in browser.evaluate("document.querySelector('.speed .limit').textContent")
    press(browser, "KeyP")
    wait_until(lambda: teleoperation.is_paused)
    browser.wait_for("document.getElementById('note').textContent.startsWith('paused')")
    press(browser, "KeyP")
    press(browser, "Space")
    wait_until(lambda: teleoperation.chosen == "twists" and not teleoperation.is_paused)
    browser.evaluate("""(() => { const hand = document.querySelector('#hand-speed input');
        hand.value = 0.5; hand.dispatchEvent(new Event('input')); return 0; })()""")
    half = 0.5 * drive.limits[0].max_velocity
    wait_until(lambda: abs(teleoperation.twist[0] - half) < 1e-9)
    browser.evaluate("""document.querySelector('#hand-speed input')
        .dispatchEvent(new Event('pointerup')), 0""")
    wait_until(lambda: teleoperation.twist == (0.0, 0.0, 0.0))
    browser.evaluate("""(() => { window.pad = { connected: true, axes: [-0.5, -1, 0.05, 0],
        buttons: Array.from({ length: 12 }, () => ({ pressed: false })) };
        navigator.getGamepads = () => [pad]; return 0; })()""")
    forward, yaw = drive.limits[0].max_velocity, drive.limits[2].max_velocity
    wait_until(lambda: np.allclose(teleoperation.twist, (forward, 0.0, 0.5 * yaw)))
    browser.evaluate("pad.axes = [0, 0, 0, 0], pad.buttons[9].pressed = true, 0")
    wait_until(lambda: teleoperation.simulator.t < 1.0 and not any(teleoperation.twist))
