"""A page in which a robot runs by itself: in a folder without network, under a real browser's
keys."""

import json
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from browser import Undrawn, needs_chromium, press
from support import SHIPPED, at_length, command_line, sampled, shipped

import nhmech
from nhmech.errors import InputError, NhmechError
from nhmech.systems import load_system, system_names
from nhmech.systems.example import drawn_parameters
from nhmech.systems.shapes import Shape
from nhmech.view.browser import Browser
from nhmech.view.system_picture import SystemPicture
from nhmech.view.written_content import vehicle_content
from nhmech.view.written_system import system_content

ARROWS = {"ArrowUp": "ArrowUp", "ArrowLeft": "ArrowLeft", "KeyQ": "q", "KeyW": "w", "KeyA": "a",
          "Space": " ", "KeyR": "r", "KeyP": "p", "KeyV": "v", "KeyI": "i"}


def opened(page, size=(640, 420), kind=Undrawn) -> Browser:
    browser = kind(page.resolve().as_uri(), size)
    browser.wait_for("nhmech.state.ready && nhmech.written.motion.state.t > 0")
    return browser


def configuration(browser) -> np.ndarray:
    return np.array(browser.evaluate("Array.from(nhmech.written.motion.q)"))


def drawn(browser, path="['vehicle', 'root_joint']") -> np.ndarray:
    return np.array(browser.evaluate(
        f"nhmech.viewer.scene_tree.find({path}).object.position.toArray()"))


@pytest.fixture(scope="module")
def page_of(tmp_path_factory):
    """Name -> the page of a shipped robot, written once."""
    folder = tmp_path_factory.mktemp("pages")
    return cache(lambda name: nhmech.save_page(shipped(name), folder / f"{name}.html"))


@pytest.mark.parametrize("name", sampled(SHIPPED, 3))
def test_a_page_of_every_robot_has_two_megabytes_at_most(name, page_of):
    """Meshes included, and meshcat's viewer, which is 0.7 MB of it; nothing is fetched."""
    page = page_of(name)
    assert 500_000 < page.stat().st_size <= 2_000_000
    text = page.read_text(encoding="utf-8")
    outside = text.replace(next(iter(re.findall(r"<script>.*?</script>", text, re.S))), "")
    assert not re.findall(r"""(?:src|href)=["']?https?:""", outside)
    assert "import(" not in outside and "fetch(" not in outside


SHAPELESS = ("capri_kobayashi", "connection_curvature")


@pytest.mark.parametrize("name", sampled([name for name in system_names()
                                          if name not in SHAPELESS], 8))
def test_shapes_of_textbook_systems_are_placed_by_symbols_as_by_numbers(name):
    example = load_system(name)
    picture, content = SystemPicture(example), system_content(example, 1e-3, None)
    nv = example.constrained.system.v.numel()
    for q in example.constrained.configurations[:4]:
        poses, points, *_ = (found.full() for found in content.place(
            0.0, q, np.zeros(nv), example.constrained.parameters))
        shown = picture.configuration(q)
        for column, shape in zip(poses.T, picture.shapes):
            assert np.allclose(column.reshape(4, 4).T, shape.pose(q), rtol=0, atol=1e-12)
        assert np.allclose(points.T, picture.contact_points(shown).reshape(-1, 3), atol=1e-12)


def test_a_textbook_system_has_a_page(tmp_path):
    page = tmp_path / "disc.html"
    done = command_line("page", "falling_disc", "-o", page)
    assert done.exit_code == 0 and 0 < page.stat().st_size <= 1_200_000
    mistyped = command_line("page", "faling_disc", "-o", page)
    assert mistyped.exit_code == 2 and "did you mean 'falling_disc'?" in mistyped.output
    for words in (("--mu", "0.5"), ("--slope", "5deg"), ("--repair",)):
        refused = command_line("page", "falling_disc", "-o", page, *words)
        assert refused.exit_code == 2 and "textbook system" in refused.output
    with pytest.raises(InputError, match="no shapes"):
        nhmech.save_page(load_system("connection_curvature"), page)


@pytest.mark.parametrize("name, drawn", [
    ("falling_disc", {"r"}), ("car_with_trailers", {"wheelbase", "behind_1", "drawbar_1",
                                                    "behind_2", "drawbar_2"}), ("sled", set())])
def test_what_the_shapes_depend_on_has_no_slider(name, drawn):
    """The equations would move and the picture stay; the page says so. The sliders that are left
    set the parameters of their names."""
    example = load_system(name)
    fields = system_content(example, 1e-3, None).fields
    names = example.constrained.system.theta_names
    assert {slider["name"] for slider in fields["parameters"]} == set(names) - drawn
    assert all(names[slider["index"]] == slider["name"] for slider in fields["parameters"])
    _, _, said = fields["note"].rpartition("\n\nno slider for ")
    assert all(name in said for name in drawn) and ("no slider" in fields["note"]) == bool(drawn)


def test_a_page_says_what_the_letters_of_its_sliders_stand_for():
    """In the words of the system's own docstring, whose lines are broken where a sentence is."""
    note = system_content(load_system("falling_disc"), 1e-3, None).fields["note"]
    assert "moments of inertia across and along the axle A, C [kg m^2], those of a uniform" in note
    assert "\n(C + m r^2) u2' = -m r^2 u1 u3\nA u3' = " in note
    sections = system_content(load_system("snakeboard"), 1e-3, None).fields["note"]
    assert "Raises" not in sections and "`" not in sections
    nameless = replace(load_system("falling_disc"), make=None)
    assert system_content(nameless, 1e-3, None).fields["note"] == ""


@needs_chromium
@pytest.mark.browser
def test_a_slow_browser_leaves_out_no_part_of_the_way(page_of):
    """Frames of 80 ms; the moments that it keeps, and with them its trails, are 1/30 s apart."""
    with opened(page_of("differential_drive")) as browser:
        browser.evaluate("""setInterval(() => { const end = performance.now() + 80;
            while (performance.now() < end); }, 1), 0""")
        begin = browser.evaluate("nhmech.written.motion.state.t")
        browser.wait_for(f"nhmech.written.motion.state.t > {begin + 1}")
        t = np.array(browser.evaluate("nhmech.written.state.history.map(one => one.state.t)"))
        assert np.diff(t[t > begin + 0.2]).max() < 0.05


def test_what_another_number_is_refused_for_has_no_slider():
    """Nobody knows how it would be drawn."""
    def make(r=0.3):
        if r != 0.3:
            raise ValueError("this disc is 0.3 m large")
        return load_system("falling_disc")

    assert drawn_parameters(replace(make(), make=make)) == ("r",)
    assert drawn_parameters(replace(make(), make=None)) == ()


def test_what_moves_a_contact_and_is_drawn_as_it_was_is_said():
    """Wheels grow with their radius; a ball that is a part of the base does not."""
    def note(*names):
        vehicle = shipped("differential_drive").with_parameters(symbolic=names)
        return vehicle_content(vehicle, None, None, None, 1e-3, None, None).fields["note"]

    assert note("payload.mass", "left_wheel_joint.radius") == ""
    said = note("payload.mass", "left_wheel_joint.radius", "caster_link.radius")
    assert "caster_link.radius" in said and "payload" not in said and "left" not in said


def test_pushes_are_named_by_the_coordinates_that_they_move():
    """u1 = lean', u2 = spin' + yaw' sin(lean), u3 = yaw' cos(lean): a push of u3 changes both."""
    speeds = system_content(load_system("falling_disc"), 1e-3, None).fields["speeds"]
    assert [speed["moves"] for speed in speeds] == [["lean"], ["spin"], ["yaw", "spin"]]


def test_shapes_that_lose_their_symbols_are_refused(tmp_path):
    """NumPy makes NaN of a symbol in an array of numbers, in silence."""
    def lost(q):
        T = np.eye(4)
        T[0, 3] = float(q[0]) if q.dtype == object else q[0]
        return T

    example = replace(load_system("falling_disc"), shapes=(Shape("box", (1.0, 1.0, 1.0), lost),))
    with pytest.raises(InputError, match="symbols of their pose|placed by symbols"):
        nhmech.save_page(example, tmp_path / "lost.html")


def test_what_cannot_be_a_page_is_refused(tmp_path):
    page = tmp_path / "robot.html"
    with pytest.raises(InputError, match="payload.mass"):
        nhmech.save_page(shipped("disc"), page, parameters=["payload.mas"])
    with pytest.raises(InputError, match="dt"):
        nhmech.save_page(shipped("disc"), page, dt=-1.0)
    with pytest.raises(NhmechError):
        nhmech.save_page(shipped("disc"), page, xi={"no_speed": 1.0})
    with pytest.raises(InputError, match="at rest"):
        nhmech.save_page(shipped("ball", nhmech.Ground(angular_velocity=(0, 0, 1.0))), page)
    assert not page.exists()


def test_the_command_writes_one(tmp_path):
    page = tmp_path / "robot.html"
    done = command_line("page", "differential_drive", "-o", page, "--slider", "base_link.mass",
                        "--mu", "0.4", "--title", "mine")
    assert done.exit_code == 0 and str(page) in done.output and "MB" in done.output
    assert "<title>mine</title>" in page.read_text(encoding="utf-8")
    assert '"name": "base_link.mass"' in page.read_text(encoding="utf-8")
    refused = command_line("page", "differential_drive", "-o", page, "--slider", "mass")
    assert refused.exit_code == 2 and "nearest to it" in refused.output


def test_a_start_without_speeds_is_pushed_off_all_the_same(tmp_path):
    """A bicycle whose bars are turned a little; at rest it would fall."""
    page = nhmech.save_page(shipped("bicycle"), tmp_path / "b.html",
                            joints={"steering_joint": 0.05})
    (start,) = re.findall(r'"start":(\[[^]]*\])', page.read_text(encoding="utf-8"))
    assert max(map(abs, json.loads(start)[-3:])) > 10.0


def test_a_name_does_not_end_the_script(tmp_path):
    text = nhmech.urdf_path("disc").read_text()
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = text.replace("spin_joint", "&lt;/script&gt;&lt;!--")
    robot = tmp_path / "robot.urdf"
    robot.write_text(text)
    pages = [nhmech.save_page(vehicle, tmp_path / f"{i}.html").read_text(encoding="utf-8")
             for i, vehicle in enumerate((shipped("disc"), nhmech.load(robot)))]
    assert "script>" in pages[1]
    for mark in ("</script>", "<!--"):
        assert pages[0].count(mark) == pages[1].count(mark)


@needs_chromium
@pytest.mark.browser
@pytest.mark.parametrize("name, keys, axis", [
    *at_length(("differential_drive", ["ArrowUp"], 0), ("ackermann_car", ["KeyW", "KeyA"], 1)),
    ("mecanum", ["KeyQ"], 1)])
def test_keys_of_a_real_browser_drive_it(name, keys, axis, page_of):
    vehicle = shipped(name)
    length = vehicle.steering.length
    with opened(page_of(vehicle.name), kind=Browser) as browser:
        assert browser.evaluate("performance.getEntriesByType('resource').length") == 0
        # what stands still is drawn once more, sharply, and not again
        browser.wait_for("nhmech.state.plain && nhmech.viewer.renderer.getPixelRatio() === 2")
        for key in keys:
            press(browser, key, ARROWS[key], up=False)
        browser.wait_for(f"nhmech.written.motion.q[{axis}] > {0.5 * length}")
        assert drawn(browser)[axis] > 0.4 * length
        press(browser, "Space", " ")        # stops, though the keys are down
        browser.wait_for("nhmech.written.state.twist.every(x => x === 0)")
        browser.wait_for("nhmech.written.motion.v.every(x => Math.abs(x) < 1e-3)")
        for key in keys:
            press(browser, key, ARROWS[key], down=False)
        q = configuration(browser)
        _, phi = vehicle.constraint_error(0.0, q, np.zeros(vehicle.model.nv))
        assert np.abs(phi).max(initial=0.0) <= 1e-12
        text = browser.evaluate("document.getElementById('instruments').innerText")
        assert "friction used" in text and "m/s" in text
        press(browser, "KeyR", "r")
        browser.wait_for(f"Math.abs(nhmech.written.motion.q[{axis}]) < {0.1 * length}")


@needs_chromium
@pytest.mark.browser
def test_pause_scrub_parameters_and_a_fall(page_of):
    """Of a pendulum: a payload so heavy that its balance is lost ends in a fall, which is said."""
    vehicle = shipped("pendulum")
    with opened(page_of(vehicle.name)) as browser:
        browser.wait_for("nhmech.written.motion.state.t > 1")
        press(browser, "KeyP", "p")
        t = browser.evaluate("nhmech.written.motion.state.t")
        assert "paused" in browser.evaluate("document.getElementById('note').textContent")
        kept = browser.evaluate("nhmech.written.state.history.map(one => one.state.t)")
        asked = browser.evaluate("""(() => { const time = document.getElementById('time');
            time.value = 0.5; time.dispatchEvent(new Event('input'));
            return Number(time.value); })()""")
        assert asked == pytest.approx(0.5, abs=0.04)
        shown = browser.evaluate("nhmech.written.motion.state.t")
        # of the moments that this machine has drawn
        assert shown < t and abs(shown - asked) == min(abs(one - asked) for one in kept)
        press(browser, "KeyV", "v")
        browser.evaluate("""(() => { const knob = document.querySelectorAll('#values input');
            for (const [i, part] of [[1, 1], [0, 1], [2, 1]]) {
              knob[i].value = knob[i].max; knob[i].dispatchEvent(new Event('input')); }
            return 0; })()""")
        theta = browser.evaluate("Array.from(nhmech.written.motion.state.theta)")
        assert theta[0] == pytest.approx(sum(i.mass for i in vehicle.model.inertias), rel=1e-6)
        press(browser, "KeyP", "p")
        browser.wait_for("nhmech.written.motion.state.stop")
        browser.wait_for("document.getElementById('note').textContent.includes('fallen')")
        press(browser, "KeyR", "r")
        browser.wait_for("!nhmech.written.motion.state.stop")


@needs_chromium
@pytest.mark.browser
def test_the_drive_before_goes_along_as_a_ghost(page_of):
    """At the same time, where it was then."""
    ghost = "nhmech.viewer.scene_tree.find(['ghost']).object"
    vehicle = shipped("differential_drive")
    with opened(page_of(vehicle.name)) as browser:
        press(browser, "KeyP", "p")
        browser.evaluate("nhmech.written.reset(), nhmech.written.advance(2, [0.3, 0, 0]), 0")
        x = configuration(browser)[0]
        assert x > 0.3 and not browser.evaluate(f"{ghost}.children.length")
        browser.evaluate("nhmech.written.reset(), nhmech.written.advance(1.9, [0.3, 0, 0.5]), 0")
        place = browser.evaluate(f"{ghost}.children[0].matrix.elements.slice(12, 15)")
        assert abs(place[1]) < 1e-6 and x - 0.06 < place[0] < x
        assert browser.evaluate(f"{ghost}.visible")
        press(browser, "KeyG", "g")
        assert not browser.evaluate(f"{ghost}.visible")
        browser.evaluate("nhmech.written.advance(2, [0.3, 0, 0]), 0")
        press(browser, "KeyG", "g")
        assert not browser.evaluate(f"{ghost}.visible")      # it has come to its end


@needs_chromium
@pytest.mark.browser
def test_what_has_no_motor_is_pushed(page_of):
    vehicle = shipped("disc")
    with opened(page_of(vehicle.name)) as browser:
        press(browser, "KeyP", "p")
        before = browser.evaluate("Array.from(nhmech.written.motion.v)")
        browser.evaluate("nhmech.written.state.paused = false, 0")
        press(browser, "ArrowUp", "ArrowUp")
        after = browser.evaluate("Array.from(nhmech.written.motion.v)")
        spin = vehicle.algebroid.v_names.index(vehicle.speeds[0])
        assert after[spin] - before[spin] > 0.1
        assert browser.evaluate("document.querySelectorAll('.push').length") == 3


@needs_chromium
@pytest.mark.browser
@pytest.mark.parametrize("name", ["trailers", *at_length("disc")])
def test_its_keys_are_named(name, page_of):
    """`?` names every key that does something."""
    with opened(page_of(name), (1280, 800)) as browser:
        press(browser, "Slash", "?")
        named = browser.evaluate("""[...document.querySelectorAll('#help tr')].filter(
            row => row.offsetParent).map(row => row.innerText).join(' ').toLowerCase()""")
        keys = browser.evaluate("Object.keys(nhmech.keys)")
        words = {" ": "space", "ArrowUp": "\u2191", "ArrowDown": "\u2193", "ArrowLeft": "\u2190",
                 "ArrowRight": "\u2192"}
        silent = {"Escape"} | ({" "} if name == "disc" else set())
        assert not [key for key in keys if words.get(key, key).lower() not in named
                    and key not in silent]


@needs_chromium
@pytest.mark.browser
@pytest.mark.parametrize("name, size", [
    ("trailers", (1280, 800)), ("mecanum", (390, 844)),
    *at_length(("trailers", (390, 844)), ("mecanum", (1280, 800)))])
def test_nothing_sticks_out_of_the_window(size, name, page_of):
    """With the parameters open, and the hands within reach; with the keys shown too."""
    with opened(page_of(name), size) as browser:
        press(browser, "KeyV", "v")
        hidden = browser.evaluate("""['values', 'hand-speed', 'hand-turn', 'stop', 'reset', ...(
            document.body.classList.contains('sideways') ? ['hand-sideways'] : [])].filter(id => {
              const e = document.getElementById(id), box = e.getBoundingClientRect();
              const found = document.elementFromPoint((box.left + box.right) / 2,
                                                      (box.top + box.bottom) / 2);
              return !e.contains(found); })""")
        assert hidden == []
        press(browser, "Slash", "?")
        assert browser.evaluate("document.getElementById('help').getBoundingClientRect().top") >= 0
        press(browser, "Slash", "?")
        out = browser.evaluate("""[...document.querySelectorAll(
            '#bar *, #instruments, #values, #hands *, #title, #note')].filter(e => {
              const box = e.getBoundingClientRect();
              return e.offsetParent && box.width && (box.left < -1 || box.right > innerWidth + 1
                     || box.bottom > innerHeight + 1); }).map(e => e.id || e.className)""")
        assert out == []


@needs_chromium
@pytest.mark.browser
@pytest.mark.parametrize("name, moves", [
    ("omni", True), *at_length(("differential_drive", False))])
def test_a_finger_moves_sideways_what_can(name, moves, page_of):
    with opened(page_of(name), (390, 844)) as browser:
        found = browser.evaluate("""(() => {
            const hand = document.querySelector('#hand-sideways input');
            hand.value = 1; hand.dispatchEvent(new Event('input'));
            const there = nhmech.written.controls.read();
            hand.dispatchEvent(new Event('pointerup'));
            return [Boolean(hand.offsetParent), there, nhmech.written.controls.read()]; })()""")
        assert found == [moves, [0, -1 if moves else 0, 0], [0, 0, 0]]
