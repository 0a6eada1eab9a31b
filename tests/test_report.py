"""The report of a run: what stands on it is what the run says, whatever kind of run it was."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from browser import needs_chromium, pixels
from support import command_line, shipped

import nhmech
from nhmech.analysis.rolling_limits import friction_limit, run_validity
from nhmech.control.path_library import make_path
from nhmech.control.path_reference import path_error
from nhmech.control.pure_pursuit import PurePursuit
from nhmech.control.wheel_servo import WheelServo
from nhmech.systems import load_system

pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
from nhmech.view.judgement import judgement  # noqa: E402
from nhmech.view.report import report_html  # noqa: E402


class Page(HTMLParser):
    """Text outside of pictures, headings, and what a page would fetch."""

    def __init__(self, text: str):
        super().__init__()
        self.words, self.headings, self.fetched, self.open, self.ids = [], [], [], [], []
        self.feed(text)
        self.close()
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids += [given["id"]] if "id" in given else []
        self.fetched += [value for key, value in attributes
                         if key in ("src", "href", "xlink:href") and not value.startswith("#")]
        if tag not in ("meta", "br", "path", "use", "rect", "line", "circle", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.open:
            assert self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        if not {"svg", "style"} & set(self.open):
            self.words.append(data)
            if self.open and self.open[-1] in ("h1", "h2"):
                self.headings.append(data)


@pytest.fixture(scope="module")
def tracked(tmp_path_factory):
    """A figure-eight by pure pursuit over a wheel servo, and its file."""
    vehicle = shipped("differential_drive")
    robot = WheelServo(vehicle, commands=PurePursuit(vehicle, make_path("figure8", 1.0), speed=0.6))
    simulator = nhmech.Simulator(vehicle, robot, dt=1e-3, control_period=5e-3)
    simulator.reset(**robot.start)
    file = tmp_path_factory.mktemp("report") / "eight.npz"
    return simulator.run(3.0, every=10, save=file), file


@pytest.fixture(scope="module")
def text(tracked):
    """Its report."""
    return report_html(tracked[0], mu=0.8)


def report(*words):
    return command_line("report", *words)


def read(file) -> Page:
    return Page(file.read_text(encoding="utf-8"))


def test_what_a_path_follower_did(tracked):
    run, file = tracked
    assert report(file, "--mu", "0.8").exit_code == 0
    page = read(file.with_suffix(".html"))
    assert page.headings == ["differential drive",
                             "Contacts (directions in parentheses follow from the others)",
                             "Path", "Forces against friction", "Controller error", "Twist",
                             "Energy balance",
                             "Quasi-velocities", "Efforts", "Constraints", "How it was run"]
    verdict = run_validity(run, 0.8, every=5)
    hardest = max(verdict.states, key=lambda state: state.use[0])
    found = re.search(
        r"Ideal rolling held with mu = 0.8; most used ([\d.]+) by (left|right) wheel "
        r"at t = ([\d.]+) s",
        page.text,
    )
    assert float(found[1]) == pytest.approx(hardest.worst.kindest, rel=0.05)
    error = path_error(run.simulated.vehicle, run)
    assert (error.describe() in page.text
            and f"{1e3 * np.sqrt(np.mean(error.lateral**2)):.3g} mm" in page.text)
    assert ("rk4, dt = 0.001 s" in page.text
            and "WheelServo(PurePursuit), every 0.005 s" in page.text
            and f"nhmech {nhmech.__version__}" in page.text)
    assert "7, of which 6 are independent" in page.text and "(lateral)" in page.text


def test_a_ball_without_friction_has_no_coefficient(text):
    """Though all wheels were given one."""
    words = Page(text).text
    assert re.search(r"caster caster ball 30 normal – [\d.]+ … [\d.]+ – –", words)
    assert re.search(r"left wheel \(driven\) disc 100 .*? 0\.8 [\d.]+ … ", words)


def test_a_page_needs_nothing_else(tracked, text):
    """No script, nothing to fetch, ids that no two pictures share, and references that lead
    somewhere."""
    page = Page(text)
    assert page.fetched == [] and "<script" not in text and "@import" not in text
    assert not re.findall(r"url\((?!#)", text)
    assert len(page.ids) == len(set(page.ids))
    assert set(re.findall(r'(?:href="|url\()#([^")]+)', text)) <= set(page.ids)
    assert (len(text) < 500_000 and text.count("<svg") == 7
            and text == report_html(tracked[0], mu=0.8))


def test_the_reference_survives_the_file(tracked):
    run, file = tracked
    again = nhmech.Trajectory.load(file)
    assert (again.settings == run.settings
            and again.settings["controller"] == "WheelServo(PurePursuit)")
    follower = PurePursuit(run.simulated.vehicle, make_path("figure8", 1.0), speed=0.6)
    expected, found = follower.errors(run), path_error(again.simulated.vehicle, again)
    np.testing.assert_allclose(found.lateral, expected[:, 1], rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.heading, expected[:, 2], rtol=0, atol=1e-4)


def test_a_path_with_corners_in_its_curvature_is_kept_too():
    vehicle = shipped("ackermann_car")
    path = make_path("dubins", 8.0)
    follower = PurePursuit(vehicle, path, speed=2.0)
    simulator = nhmech.Simulator(vehicle, follower, control_period=1e-2)
    simulator.reset(**follower.start)
    run = simulator.run(3.0, every=20)
    for found in (path_error(vehicle, run), path_error(vehicle, run, path)):
        np.testing.assert_allclose(found.lateral, follower.errors(run)[:, 1], rtol=0, atol=1e-4)


def test_a_path_that_is_given(tracked):
    """A circle of radius 1 m whose centre is (0, 1): the distance from it is known in closed
    form."""
    run, file = tracked
    found = path_error(run.simulated.vehicle, run, make_path("circle", 1.0))
    np.testing.assert_allclose(found.lateral, 1 - np.hypot(run.q[:, 0], run.q[:, 1] - 1), rtol=0,
                               atol=1e-9)
    out = file.with_name("circle.html")
    assert report(file, "--path", "circle:1", "-o",
                  out).exit_code == 0 and found.describe() in read(out).text


def test_trailers_and_bicycles_say_what_is_to_stay_on_the_path():
    """The tracked axle is the last trailer's, and it goes backwards."""
    from nhmech.control.trailer_backing import TrailerBacking

    vehicle = shipped("trailers")
    backing = TrailerBacking(vehicle, speed=0.5)
    simulator = nhmech.Simulator(vehicle, backing, control_period=1e-2)
    simulator.reset(**backing.start)
    run = simulator.run(0.5, every=50)
    found = path_error(vehicle, run)
    z, _ = backing.regulator.error(run.t[-1], simulator.state, backing.path, None)
    turned = dict(zip(backing.regulator.names, z))
    assert (run.settings["path"]["backwards"] and abs(found.lateral[-1] - turned["lateral"]) < 1e-9
            and abs(found.heading[-1] - turned["yaw"]) < 1e-9)
    assert np.abs(found.point[0]).max() < 1e-9


def test_a_run_that_slipped():
    """The moment of the event stands in the headline."""
    vehicle = shipped("differential_drive")
    events = [friction_limit(vehicle, 0.05, terminal=False)]
    simulator = nhmech.Simulator(vehicle, lambda t, state: np.array([0.5 * t, 0.5 * t]),
                                 events=events)
    run = simulator.run(1.0, every=10)
    found = judgement(run, vehicle, 0.05)
    (moment, _), = run.events
    assert (found.kind == "bad"
            and f"stopped being valid at t = {moment:.6g} s (friction limit)" in found.headline)
    assert Page(report_html(run, mu=0.05)).text.count(found.headline) == 1


def test_a_run_that_slid_left_rolling_at_its_event():
    vehicle = shipped("differential_drive")
    simulator = nhmech.Simulator(vehicle, lambda t, state: np.array([0.4 * t, 0.4 * t]),
                                 contact="coulomb", mu=0.05, dt=2e-3)
    run = simulator.run(1.0)
    (moment, _), = run.events
    assert 0 < moment < 1 and not run.rolled[-1]
    found, report = judgement(run, vehicle), Page(report_html(run)).text
    assert found.headline == f"Wheels left ideal rolling at t = {moment:.4g} s"
    assert found.headline in report and "Spans are shaded" not in report


def test_what_is_shaded_is_explained():
    vehicle = shipped("differential_drive")
    run = nhmech.Simulator(vehicle, lambda t, state: np.array([100.0, 100.0]),
                           on_lift="ignore").run(0.02)
    assert run.limits and "shaded in which a joint is at one of its" in Page(report_html(run)).text


@pytest.mark.parametrize("mu, kind", [(None, "good"), (0.8, "good"), (0.01, "bad"),
                                      ({"left_wheel_joint": np.inf, "right_wheel_joint": np.inf},
                                       "none")])
def test_the_verdict_is_that_of_the_friction(tracked, mu, kind):
    assert judgement(tracked[0], tracked[0].simulated.vehicle, mu).kind == kind


def test_a_kinematic_run_has_no_forces(tmp_path):
    vehicle = shipped("differential_drive")
    command = nhmech.JointVelocity({"left_wheel_joint": 2.0, "right_wheel_joint": 3.0})
    file = tmp_path / "kinematic.npz"
    nhmech.Simulator(vehicle, lambda t, state: command,
                     mode="kinematic").run(0.5, every=10, save=file)
    assert report(file).exit_code == 0
    page = read(tmp_path / "kinematic.html")
    assert ("Speeds were commanded: no forces, no verdict on friction" in page.text
            and "kinematic: speeds are commanded" in page.text)
    assert ("Forces against friction" not in page.headings and "Efforts" not in page.headings
            and "Path" in page.headings)


@pytest.mark.parametrize("name, heading",
                         [("falling_disc", "Falling disc"), ("capri_kobayashi", None),
                                           ("ball_on_turntable", None)])
def test_textbook_systems(name, heading, tmp_path):
    """With shapes, without shapes, and with a ground that does work."""
    file = tmp_path / f"{name}.npz"
    assert command_line("systems", "run", name, "--duration", "0.2", "--save", file).exit_code == 0
    assert report(file).exit_code == 0
    page = read(file.with_suffix(".html"))
    assert (page.headings[0] == load_system(name).title
            and "No wheels, no verdict on friction" in page.text)
    assert ("Path" in page.headings) == bool(
        load_system(name).shapes
    ) and "Coordinates" in page.headings
    assert ("unaccounted for" in page.text) == (name != "ball_on_turntable")
    assert heading is None or heading in page.headings
    refused = report(file, "--mu", "0.8")
    assert refused.exit_code == 2 and "has no wheels and no path" in refused.stderr


def test_a_run_that_was_cut_off(tracked, tmp_path, monkeypatch):
    """A .part, and an .npz of before runs had settings."""
    run, _ = tracked
    monkeypatch.setattr("nhmech.simulation.runs.recorder.FLUSH", 0.0)
    vehicle = run.simulated.vehicle
    copies = []
    simulator = nhmech.Simulator(vehicle, PurePursuit(vehicle, make_path("circle", 2.0), speed=0.5),
                                 control_period=1e-2)
    simulator.run(1.0, save=tmp_path / "a.npz", progress=lambda t, state: copies.append(
        (tmp_path / "a.npz.part").read_bytes()))
    (tmp_path / "b.part").write_bytes(copies[1])
    assert report(tmp_path / "b.part", "-o", tmp_path / "b.html").exit_code == 0
    page = read(tmp_path / "b.html")
    assert ("cut off: what the file holds so far" in page.text
            and "Controller error" in page.headings
            and "PurePursuit" in page.text)
    from dataclasses import replace

    old = Page(report_html(replace(nhmech.Trajectory.load(tmp_path / "a.npz"), settings={})))
    assert "not noted in this file" in old.text and "Controller error" not in old.headings


@pytest.mark.parametrize("words, says",
                         [(["none.npz"], "no such file"), (["setup.cfg"], "is not a run"),
                                         (["none.npz", "-o", "a.pdf"], "must end in .html"),
                                         (["none.npz", "--skid", "mid-axle"], "knows its robot")])
def test_bad_input(words, says):
    done = report(*words)
    assert done.exit_code == 2 and says in done.output


def test_names_are_numbered_and_replaced_only_when_given(tracked, text, tmp_path, monkeypatch):
    monkeypatch.setattr("nhmech.view.report.report_html", lambda *given, **options: text)
    run, _ = tracked
    file = run.save(tmp_path / "run.npz")
    (tmp_path / "run.html").write_text("mine")
    assert "run-2.html" in report(file).output and (tmp_path / "run.html").read_text() == "mine"
    assert (report(file, "-o", tmp_path / "run.html").exit_code == 0
            and (tmp_path / "run.html").stat().st_size > 10_000)


@pytest.mark.browser
@needs_chromium
def test_it_is_as_wide_as_a_phone(text, tmp_path):
    from nhmech.view.browser import Browser

    (tmp_path / "r.html").write_text(text, encoding="utf-8")
    with Browser((tmp_path / "r.html").as_uri(), (390, 844)) as browser:
        browser.wait_for("document.querySelectorAll('footer').length")
        assert browser.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.browser
@needs_chromium
def test_it_looks_like_a_report_in_a_browser(text, tmp_path):
    """Nothing is wider than the page, the verdict is green, and pictures have ink."""
    from nhmech.view.browser import Browser

    (tmp_path / "r.html").write_text(text, encoding="utf-8")
    with Browser((tmp_path / "r.html").as_uri(), (1000, 1400)) as browser:
        browser.wait_for("document.readyState === 'complete' && "
                         "document.querySelectorAll('footer').length")
        assert browser.evaluate("document.documentElement.scrollWidth") <= 1000
        boxes = browser.evaluate(
            "JSON.stringify([...document.querySelectorAll('figure svg')].map(s => "
            "[s.getBoundingClientRect().width, s.getBoundingClientRect().height, "
            "[...s.querySelectorAll('text')].filter(t => "
            "{const a = t.getBoundingClientRect(), b = s.getBoundingClientRect(); "
            "return a.right > b.right + 2 || a.left < b.left - 2}).length]))")
        import json

        for width, height, outside in json.loads(boxes):
            assert 300 < width < 520 and 150 < height < 520 and outside == 0, (
                "no word leaves its picture"
            )
        picture = pixels(browser.picture())
    ink = picture[:, :, 1] - picture[:, :, 0]
    assert (ink > 60).sum() > 200, "the green of the verdict"
