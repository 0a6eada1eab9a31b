"""The viewer: the page shows a vehicle that moves, and nothing hangs or stays behind."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from browser import Undrawn, hue, needs_chromium, pixels
from stand_in_cart import Cart, drive
from support import run_in_node

from nhmech.errors import NhmechError
from nhmech.simulation import Phase
from nhmech.vehicle.ground import Ground
from nhmech.view import Viewer, save_html, screenshot
from nhmech.view.browser import Browser, share_chromium
from nhmech.view.floor import floor_pose, motion, ribbon
from nhmech.view.sampling import sample
from nhmech.view.static import read_static
from nhmech.view.trails import trail_piece

GREEN = 1  # the channel of the cart's body; no other part of the picture is green
TESTS = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    cart = Cart()
    return save_html(cart, drive(cart), tmp_path_factory.mktemp("page") / "cart.html")


def listening(url: str) -> bool:
    host, port = url.split("/")[2].split(":")
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((host, int(port))) == 0


def held() -> set[str]:
    """Child processes, threads and sockets of this process."""
    found = {f"thread {one.ident}" for one in threading.enumerate()}
    for tasks in Path("/proc/self/task").glob("*/children"):
        found |= {f"process {pid}" for pid in tasks.read_text().split()}
    for file in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            if (target := os.readlink(file)).startswith("socket:"):
                found.add(f"socket {target}")
    return found


# ---------------------------------------------------------------- recordings


@needs_chromium
@pytest.mark.browser
def test_recording_moves_and_is_not_blank(recording):
    with Browser(recording.as_uri(), (800, 560)) as browser:
        browser.wait_for("nhmech.state.ready && nhmech.state.playing")
        browser.wait_for("nhmech.state.t > 0.2")  # plays by itself
        fetched = ("performance.getEntriesByType('resource')"
                   ".filter(e => !e.name.startsWith('data:')).length")
        assert browser.evaluate(fetched) == 0
        pictures = []
        for t in (0.3, 3.6):
            browser.evaluate(f"nhmech.seek({t}), 0")
            # without title, legend and controls
            pictures.append(pixels(browser.picture())[40:480, :640])
    early, late = pictures
    assert early.std() > 5 and len(np.unique(early.reshape(-1, 3), axis=0)) > 200
    assert np.mean(np.abs(early - late).max(axis=-1) > 30) > 0.01
    bodies = [np.argwhere(hue(picture, GREEN)) for picture in pictures]
    assert min(map(len, bodies)) > 500, "the cart's body is not in the picture"
    assert np.linalg.norm(bodies[0].mean(axis=0) - bodies[1].mean(axis=0)) > 60
    red, blue = (np.count_nonzero(hue(late, c)) - np.count_nonzero(hue(early, c)) for c in (0, 2))
    assert red > 150 and blue > 150, "the trails have not grown"


@needs_chromium
@pytest.mark.browser
def test_screenshot_and_address(recording, tmp_path):
    png = screenshot(recording, tmp_path / "a.png", at=2.0, size=(400, 300))
    assert pixels(png.read_bytes()).shape == (300, 400, 3)
    with Browser(recording.as_uri() + "#t=1.5", (400, 300)) as browser:
        browser.wait_for("nhmech.state.ready")
        assert browser.evaluate("[nhmech.state.t, nhmech.state.playing]") == [1.5, False]


@needs_chromium
@pytest.mark.browser
def test_pages_share_a_chromium_and_get_another_when_it_has_ended():
    """Two windows beside each other both draw; a browser that died is a clear error for its pages,
    and the next page has one that lives."""
    blank = "data:text/html,<title>{}</title>".format
    with Browser(blank("left"), (200, 150)) as left, Browser(blank("right"), (160, 120)) as right:
        shapes = [pixels(browser.picture()).shape for browser in (left, right, left)]
        assert shapes == [(150, 200, 3), (120, 160, 3), (150, 200, 3)]
        left.wait_for("document.title == 'left'")
        right.wait_for("document.title == 'right'")
        assert share_chromium() is share_chromium()
        share_chromium().close()
        with pytest.raises(NhmechError, match="Chromium"):
            right.evaluate("1")
        with Browser(blank("next"), (160, 120)) as later:
            later.wait_for("document.title == 'next'")


@needs_chromium
@pytest.mark.browser
def test_nothing_is_drawn_where_tests_do_not_look():
    with Undrawn("data:text/html,", (160, 120)) as browser:
        assert browser.evaluate("WebGL2RenderingContext.prototype.drawElements.length") == 0


def test_recording_starts_nothing(tmp_path):
    code = (
        "import sys, threading; sys.path.insert(0, sys.argv[1])\n"
        "from stand_in_cart import Cart, drive\n"
        "from nhmech.view import save_html\n"
        "save_html(Cart(), drive(Cart(), 0.5), sys.argv[2])\n"
        "assert threading.active_count() == 1\n"
        "assert not {'tornado', 'zmq', 'meshcat'} & set(sys.modules)\n"
    )
    page = tmp_path / "page.html"
    subprocess.run([sys.executable, "-c", code, TESTS, page], check=True, timeout=120)
    text = page.read_text()
    assert "<title>stand-in &lt;cart&gt;</title>" in text
    for element in ("title", "legend", "bar", "time", "clock"):
        assert f'id="{element}"' in text and f"\n#{element} {{" in text, "it has no style"
    assert page.stat().st_size < 2e6


def test_sampling_interpolates_on_the_manifold():
    cart = Cart()
    run = drive(cart)
    times, q = sample(cart.model, run, fps=30)
    assert times[0] == run.t[0] and times[-1] == run.t[-1] and np.ptp(np.diff(times)) < 1e-12
    np.testing.assert_allclose(q[[0, -1]], run.q[[0, -1]], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(q[:, 3:7], axis=1), 1, atol=1e-12)
    one, _ = sample(cart.model, SimpleNamespace(t=run.t[:1], q=run.q[:1]), fps=30)
    assert len(one) == 1


def test_bad_trajectories_are_refused_with_numbers(tmp_path):
    cart = Cart()
    run = drive(cart, 0.2)
    bad = run.q.copy()
    bad[3] = np.nan
    for trajectory, words in ((SimpleNamespace(t=run.t, q=run.q[:, :-1]), "shape"),
                              (SimpleNamespace(t=run.t, q=bad), "t = 0.06 s")):
        with pytest.raises(NhmechError, match=words):
            save_html(cart, trajectory, tmp_path / "x.html")
    with pytest.raises(NhmechError, match="fps"):
        save_html(cart, run, tmp_path / "x.html", fps=0)
    with pytest.raises(NhmechError, match="does not exist"):
        screenshot(tmp_path / "x.html", tmp_path / "x.png")


def test_one_row_is_a_still_picture(tmp_path):
    cart = Cart(Ground(normal=(0.2, 0.1, 1.0)))
    run = drive(cart, 0.1)
    save_html(cart, SimpleNamespace(t=run.t[:1], q=run.q[:1]), tmp_path / "still.html")


# ---------------------------------------------------------------- ground


@pytest.mark.parametrize("ground", [
    Ground(velocity=(0.3, -0.1, 0.0)), Ground(angular_velocity=(0, 0, 0.7)),
    Ground(point=(1, 2, 0), velocity=(0.2, 0.5, 0), angular_velocity=(0, 0, -0.4)),
])
def test_drawn_ground_moves_as_the_ground_does(ground):
    h, t = 1e-5, 1.3
    for start in np.random.default_rng(0).normal(size=(5, 3)) * [1, 1, 0]:
        before, now, after = ((motion(ground, s) @ [*start, 1])[:3] for s in (t - h, t, t + h))
        expected = ground.velocity + np.cross(ground.angular_velocity, now - ground.point)
        np.testing.assert_allclose((after - before) / (2 * h), expected, atol=1e-8)


def test_drawn_ground_lies_in_the_plane_and_its_grid_keeps_its_place():
    ground = Ground(normal=(0.3, -0.2, 1.0), point=(0.1, 0.2, 0.3))
    poses = [floor_pose(ground, near, 2.0) for near in ([0, 0, 0], [7.3, -4.1, 0.9])]
    for pose in poses:
        np.testing.assert_allclose(pose[:3, 2], ground.normal, atol=1e-12)
        assert abs(np.dot(ground.normal, pose[:3, 3] - ground.point)) < 1e-12
    steps = poses[0][:3, :3].T @ (poses[1][:3, 3] - poses[0][:3, 3]) / 2.0
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)


# ---------------------------------------------------------------- live


@needs_chromium
@pytest.mark.browser
def test_live_viewer_follows_a_simulation():
    cart = Cart()
    run = drive(cart)
    with Viewer(cart) as viewer, Browser(viewer.url, (640, 420)) as browser:
        assert viewer.wait_for_browser(120)
        viewer.display(run.q[0])
        browser.wait_for("nhmech.state.ready")
        first = pixels(browser.picture())
        for row in run.q[:100]:
            viewer.display(row)
        x = float(run.q[99, 0])
        browser.wait_for("Math.abs(nhmech.viewer.scene_tree.find(['vehicle', "
                         f"'root_joint']).object.position.x - {x}) < 1e-6")
        second = pixels(browser.picture())
        browser.evaluate("document.getElementById('follow').checked = false, 0")
        viewer.display(run.q[-1])
        viewer.flush()
        browser.wait_for("Math.abs(nhmech.viewer.scene_tree.find(['focus']).object.position.x - "
                         f"{viewer._live._poses['/focus'][0, 3]}) < 1e-6")
        third = pixels(browser.picture())
        with Browser(viewer.url, (640, 420)) as late:  # one that comes late sees the same
            late.wait_for("nhmech.state.ready")
            assert np.count_nonzero(hue(pixels(late.picture()), GREEN)) > 500
    assert np.count_nonzero(hue(first, GREEN)) > 500
    centres = [np.argwhere(hue(picture, GREEN)).mean(axis=0) for picture in (first, second, third)]
    assert np.linalg.norm(centres[1] - centres[0]) < 40, "the camera does not go along"
    assert np.linalg.norm(centres[2] - centres[1]) > 40
    assert np.count_nonzero(hue(second, 0)) > np.count_nonzero(hue(first, 0)) + 100, "no trail"


@needs_chromium
@pytest.mark.browser
def test_a_live_page_looks_back_and_catches_up():
    cart = Cart()
    run = drive(cart)
    where = "nhmech.viewer.scene_tree.find(['vehicle', 'root_joint']).object.position.x"
    with Viewer(cart) as viewer, Browser(viewer.url, (640, 420)) as browser:
        def show(k):
            viewer.display(SimpleNamespace(q=run.q[k], t=float(run.t[k])))
            viewer.flush()
            browser.wait_for(f"nhmech.history.state.end > {run.t[k] - 1e-9}")

        viewer.display(SimpleNamespace(q=run.q[0], t=0.0))
        browser.wait_for("nhmech.state.ready")
        for k in range(0, 60, 5):
            show(k)
        # by the slider, as a mouse does; what comes in meanwhile is kept and not shown
        browser.wait_for(f"Number(document.getElementById('time').max) > {run.t[50]}")
        browser.evaluate(f"""(() => {{ const slider = document.getElementById('time');
            slider.value = {run.t[20]} + 1e-3; slider.oninput(); return 0; }})()""")
        assert abs(browser.evaluate(where) - run.q[20, 0]) < 1e-6
        show(60)
        assert abs(browser.evaluate(where) - run.q[20, 0]) < 1e-6
        assert browser.evaluate("document.getElementById('clock').textContent").startswith(
            f"{run.t[20]:.2f}")
        # played on, it comes back to now
        browser.evaluate("nhmech.history.play(), 0")
        browser.wait_for("nhmech.history.state.live")
        browser.wait_for(f"Math.abs({where} - {run.q[60, 0]}) < 1e-6")
        browser.evaluate("document.getElementById('dark').click(), nhmech.history.seek(0.0), 0")
        assert abs(browser.evaluate(where) - run.q[0, 0]) < 1e-6
        assert max(browser.evaluate(        # what the page itself has chosen stays
            "nhmech.viewer.scene_tree.find(['Background']).object.top_color.slice()")) < 80
        browser.evaluate("document.getElementById('live').click(), 0")
        assert abs(browser.evaluate(where) - run.q[60, 0]) < 1e-6
        # a clock that goes back begins a new past
        viewer.display(SimpleNamespace(q=run.q[2], t=float(run.t[2])))
        browser.wait_for(f"Math.abs(nhmech.history.state.begin - {run.t[2]}) < 1e-9")


@needs_chromium
@pytest.mark.browser
def test_a_page_without_a_graphics_card_draws_once_for_each_message_and_is_sharp_at_rest():
    cart = Cart(Ground(normal=(0.2, 0.1, 1.0)))
    run = drive(cart)
    with Viewer(cart) as viewer, Browser(viewer.url, (640, 420)) as browser:
        viewer.display(run.q[0])
        browser.wait_for("nhmech.state.ready && nhmech.state.plain")
        browser.wait_for("nhmech.viewer.renderer.getPixelRatio() === 2")
        browser.evaluate("""(() => { window.drawn = window.got = 0; window.ratios = [];
            const viewer = nhmech.viewer, draw = viewer.render, take = viewer.connection.onmessage;
            viewer.render = () => { drawn += 1; draw();
                                    ratios.push(viewer.renderer.getPixelRatio()); };
            viewer.connection.onmessage = event => { got += 1; take(event); }; return 0; })()""")
        for row in run.q[:100:5]:
            viewer.display(row)
            viewer.flush()
            time.sleep(0.03)
        # at rest, every edge is smooth
        browser.wait_for("drawn > 0 && nhmech.viewer.renderer.getPixelRatio() === 2")
        drawn, got, ratios = browser.evaluate("[drawn, got, ratios]")
        assert 0 < drawn <= got, "frames that show nothing new"
        assert max(ratios) <= 1
        shadow, sky, floor = browser.evaluate("""[nhmech.viewer.renderer.info.programs.length > 0
            && nhmech.viewer.scene_tree.find(["focus", "lights", "<object>"])
                .object.children[1].shadow.mapSize.x,
            document.getElementById("meshcat-pane").style.background,
            nhmech.viewer.renderer.info.programs.some(
                program => /floor/.test(program.cacheKey))]""")
        assert shadow == 2048 and "rgb(184" in sky and floor
        picture = pixels(browser.picture())
    ground = picture[120:200, 20:120]
    assert 200 < np.median(ground) < 250 and ground.std() > 2, (
        "the floor has lost its light or its grid"
    )


@needs_chromium
@pytest.mark.browser
def test_the_trails_that_a_live_page_draws_are_those_of_a_recording():
    """Corner by corner, sent in pieces that grow and overlap; without those of wheels in the air,
    with marks where they slide; and none once they are cleared."""
    cart, normal = Cart(), np.array([0.0, 0.0, 1.0])
    n, m = len(cart.contact_names), 70
    angle = np.linspace(0.0, 3.0, m)
    points = np.stack([np.stack([(1 + i) * np.cos(angle), (1 + i) * np.sin(angle), 0 * angle], 1)
                       for i in range(n)], axis=1)
    phases = np.zeros((m, n), dtype=int)
    phases[20:25, 0], phases[40:50, 1] = Phase.AIRBORNE, Phase.SLIDING
    strips = "nhmech.viewer.scene_tree.find(['trails']).object.children"
    with Viewer(cart) as viewer, Browser(viewer.url, (300, 200)) as browser:
        viewer.display(drive(cart).q[0])
        browser.wait_for("nhmech.state.ready")
        size = viewer._live._view.size
        for number, (first, last) in enumerate([(0, 32), (30, 60), (58, m)]):
            for end in (first + 2, first + 9, last):
                viewer._window.send([trail_piece(number, points[first:end], phases[first:end])])
                time.sleep(0.05)
        viewer._window.send([{"type": "time", "t": 7.0}])
        browser.wait_for("nhmech.history.state.end === 7")
        drawn = browser.evaluate(f"{strips}.map(({{ geometry, visible }}) => [visible,"
                                 "geometry.drawRange.count, [...geometry.index.array],"
                                 "[...geometry.attributes.position.array]])")
        viewer.clear_trails()
        browser.wait_for(f"{strips}.every(strip => !strip.visible)")
    for i in range(n):
        shown = phases[1:, i] != Phase.AIRBORNE
        recorded = ribbon("/trails", points[:, i], size, normal, i, shown=shown)
        whole, = recorded["object"]["geometries"]
        visible, count, index, places = drawn[2 * i]
        corners = np.frombuffer(whole["data"]["attributes"]["position"]["array"].data, "<f4")
        faces = np.frombuffer(whole["data"]["index"]["array"].data, "<u4")
        assert visible and count == len(faces)
        np.testing.assert_allclose(places[:len(corners)], corners, rtol=0, atol=1e-6)
        np.testing.assert_array_equal(index[:count], faces)
    assert [one[0] for one in drawn[1::2]] == [i == 1 for i in range(n)]
    marked = np.array(drawn[3][2][:drawn[3][1]]).reshape(-1, 6).any(axis=1)
    np.testing.assert_array_equal(marked, phases[1:, 1] == Phase.SLIDING)


SLOW_BROWSER = """
let clock = 0;
const MeshCat = { THREE: {} }, performance = { now: () => clock }, window = { devicePixelRatio: 1 };
$code
const shadow = { map: null, normalBias: 1, mapSize: { x: 2048, set(size) { this.x = size; } } };
const seen = [];  // of each picture: its pixels, whether its shadows have a map, and a new one
const viewer = { needs_render: false, render() {
  const { shadowMap } = this.renderer, isNew = shadowMap.needsUpdate;
  if (isNew) shadow.map = { size: shadow.mapSize.x, dispose() {} };
  shadowMap.needsUpdate = false;
  seen.push([this.renderer.ratio, shadow.map?.size === shadow.mapSize.x, isNew]); },
  renderer: { ratio: 1, shadowMap: {}, domElement: { clientWidth: 100, clientHeight: 100 },
              getPixelRatio() { return this.ratio; },
              setPixelRatio(ratio) { this.ratio = ratio; } } };
const tick = software.adapt(viewer, () => [{ castShadow: true, shadow }]);
for (let frame = 0; frame < 40; ++frame) { viewer.render(); clock += $frame; tick(clock); }
const moved = seen.length;
for (let frame = 0; frame < 40; ++frame) { clock += $frame; tick(clock); }
console.log(JSON.stringify([seen, moved]));
"""


@pytest.mark.parametrize("frame", [60, 300, 1000])
def test_a_slow_page_draws_less_and_takes_a_long_frame_for_no_rest(frame):
    """While it moves no picture is finer than the window, the last ones are coarse, and shadows are
    drawn now and then, but never without a map of their size; at rest there is one fine picture."""
    code = SLOW_BROWSER.replace("$code", read_static("software.js")).replace("$frame", str(frame))
    pictures, moved = run_in_node(code)
    ratios = [ratio for ratio, _, _ in pictures]
    assert moved == 40 and max(ratios[:moved]) == 1 and ratios[moved - 1] == 0.5
    assert all(has_map for _, has_map, _ in pictures)
    assert 5 <= sum(is_new for _, _, is_new in pictures[20:moved]) <= 10
    assert ratios[moved:] == [2]


def test_display_sends_only_what_moved_and_never_waits():
    cart = Cart()
    q = drive(cart).q[0]
    with Viewer(cart) as viewer:
        sent = []
        send, viewer._window.send = (viewer._window.send,
                                     lambda messages: (sent.extend(messages), send(messages)))
        viewer.display(q)
        viewer.flush()
        sent.clear()
        viewer.display(q)
        viewer.flush()
        assert [m["type"] for m in sent] == ["time"]
        turned = pin.integrate(cart.model, q, np.array([0, 0, 0, 0, 0, 0, 0.3, 0.0]))
        sent.clear()
        viewer.display(SimpleNamespace(q=turned, t=0.5))
        viewer.flush()
        assert [m["path"] for m in sent if m["type"] == "set_transform"] == ["/vehicle/left_joint"]
        with pytest.raises(NhmechError, match="finite"):
            viewer.display(q * np.nan)


def test_a_notebook_shows_the_page():
    import urllib.request

    with Viewer(Cart()) as viewer:
        address = re.search('<iframe src="([^"]+)"', viewer._repr_html_())[1]
        assert "127.0.0.1" in address
        with urllib.request.urlopen(address, timeout=120) as page:
            assert page.status == 200 and b"<html" in page.read().lower()


def test_play_takes_the_time_of_the_run():
    cart = Cart()
    with Viewer(cart) as viewer:
        begin = time.monotonic()
        viewer.play(drive(cart, 1.0), speed=2.0)
        assert time.monotonic() - begin >= 0.5
        with pytest.raises(NhmechError, match="speed"):
            viewer.play(drive(cart, 1.0), speed=0)


# ---------------------------------------------------------------- nothing hangs, nothing stays


def test_nothing_remains_after_close():
    cart = Cart()
    before = held()
    viewer = Viewer(cart)
    viewer.display(drive(cart, 0.1).q[0])
    assert viewer.url.startswith("http://127.0.0.1:") and listening(viewer.url)
    assert {one.partition(" ")[0] for one in held() - before} == {"thread", "socket"}
    viewer.close()
    viewer.close()
    assert not listening(viewer.url)
    assert held() <= before       # what other tests have left may end meanwhile
    with pytest.raises(NhmechError, match="closed"):
        viewer.display(drive(cart, 0.1).q[1])


def test_nothing_remains_when_the_program_is_killed():
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1])\n"
        "from stand_in_cart import Cart, drive\n"
        "from nhmech.view import Viewer\n"
        "viewer = Viewer(Cart()); viewer.display(drive(Cart(), 0.1).q[0])\n"
        "print(viewer.url, flush=True); time.sleep(60)\n"
    )
    program = subprocess.Popen([sys.executable, "-c", code, TESTS], stdout=subprocess.PIPE,
                               text=True, start_new_session=True)
    try:
        url = program.stdout.readline().strip()
        assert listening(url)
        os.kill(program.pid, signal.SIGKILL)
        program.wait(120)
        assert not listening(url)
        with pytest.raises(ProcessLookupError):
            os.killpg(program.pid, 0)  # nobody of its session is left
    finally:
        program.kill()
        program.wait()
        program.stdout.close()


def test_a_program_ends_without_closing_its_viewer():
    code = ("import sys; sys.path.insert(0, sys.argv[1])\nfrom stand_in_cart import Cart\n"
            "from nhmech.view import Viewer\nViewer(Cart())\n")
    subprocess.run([sys.executable, "-c", code, TESTS], check=True, timeout=120)


def test_meshcat_server_that_dies_gives_an_error_in_time():
    command = [sys.executable, "-u", "-m", "meshcat.servers.zmqserver"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = server.stdout.readline().strip().removeprefix("zmq_url=")
        cart = Cart()
        run = drive(cart, 0.5)
        with Viewer(cart, window=address) as viewer:
            assert viewer.url.startswith("http://127.0.0.1:")
            for row in run.q[:-1]:
                viewer.display(row)
            server.kill()
            server.wait()
            begin = time.monotonic()
            viewer.display(run.q[-1])
            with pytest.raises(NhmechError, match="does not answer within 2 s"):
                viewer.flush()
            assert time.monotonic() - begin < 30.0, "hangs"
            with pytest.raises(NhmechError, match="does not answer within 2 s"):
                viewer.display(run.q[-1])
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


def test_a_wrong_address_is_an_error():
    with pytest.raises(NhmechError, match="not the address"):
        Viewer(Cart(), window="nonsense")


def test_no_chromium_is_a_clear_error(tmp_path, monkeypatch):
    (tmp_path / "a.html").write_text("")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("nhmech.view.browser._running", [])
    with pytest.raises(NhmechError, match="apt install chromium"):
        screenshot(tmp_path / "a.html", tmp_path / "a.png")
