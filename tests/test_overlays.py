"""What is drawn on top of a vehicle: rotation centre, forces in their cones, reference path,
ghosts; in recordings and live."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from browser import needs_chromium, pixels
from stand_in_cart import Cart, drive
from support import command_line, shipped, velocity

from nhmech import InputError, NhmechError, Simulator, Trajectory
from nhmech.control.path_library import make_path
from nhmech.control.path_reference import path_of
from nhmech.control.pure_pursuit import PurePursuit
from nhmech.systems import load_system
from nhmech.vehicle.ground import Ground
from nhmech.view import Ghost, Viewer, save_html
from nhmech.view.animation import animate
from nhmech.view.browser import Browser
from nhmech.view.camera import Extent, frame
from nhmech.view.drawable import Snapshot
from nhmech.view.overlays import OVERLAYS, make_overlays, overlay_class
from nhmech.view.overlays.rotation_centre import PATH
from nhmech.view.scene import Scene

VIEW = frame(Extent(3.0, 1.4, 1.0), np.zeros((1, 3)), (0, 0, 1), (1, 0, 0))
STEER = "front_left_steering_joint"


def drawn(vehicle, q, v=None) -> dict:
    overlay, = make_overlays(vehicle, ["rotation_centre"])
    found = overlay.at(Snapshot(q, 0.0, v), VIEW)
    assert set(found) == {message["path"] for message in overlay.objects(VIEW)}
    return found


@pytest.mark.parametrize("steer", [0.4, -0.3])
def test_lines_lie_on_the_axles_of_a_car(steer):
    """Each ends at the mark, starts at its wheel's contact, and is at right angles to the wheel's
    way."""
    car = shipped("ackermann_car")
    q = car.configuration((0.4, -0.1, 0.8), {STEER: steer})
    found = drawn(car, q)
    mark = found[f"{PATH}/mark"][:3, 3]
    points, directions = car.contact_points(q), car.contact_directions(q)
    for i, (point, held) in enumerate(zip(points, directions)):
        line = found[f"{PATH}/axles/{i}"]
        np.testing.assert_allclose(line[:3, 3] + line[:3, 0], mark, rtol=0, atol=1e-9)
        np.testing.assert_allclose(line[:2, 3], point[:2], rtol=0, atol=1e-12)
        assert abs(line[:3, 0] @ held["longitudinal"]) < 1e-9 * np.linalg.norm(line[:3, 0])


def test_nothing_is_drawn_where_nothing_meets():
    car, mecanum = shipped("ackermann_car"), shipped("mecanum")
    assert set(drawn(car, car.configuration()).values()) == {None}
    far = drawn(car, car.configuration(None, {STEER: 1e-4}))
    assert set(far.values()) == {None}, "further away than the ground is drawn"
    assert set(drawn(mecanum, mecanum.configuration()).values()) == {None}


@pytest.mark.parametrize("name", ["differential_drive", "mecanum", "skid_steer"])
def test_where_it_turns_now(name):
    """Of a vehicle whose axles leave a choice: the point of the base without velocity."""
    vehicle = shipped(name)
    q = vehicle.configuration((0.2, 0.1, 0.5))
    v = velocity(vehicle, 0.0, q, np.array([1.0, 3.0, 0.5])[:vehicle.frame.nxi])
    if name == "skid_steer":
        assert drawn(vehicle, q)[f"{PATH}/mark"] is None, "at rest"
    mark = drawn(vehicle, q, v)[f"{PATH}/mark"][:3, 3]
    c, s = np.cos(0.5), np.sin(0.5)
    at_mark = np.array([[c, -s],
                        [s, c]]) @ v[:2] + v[5] * np.array([-(mark[1] - q[1]), mark[0] - q[0]])
    np.testing.assert_allclose(at_mark, 0, rtol=0, atol=1e-9)


def test_names(tmp_path):
    with pytest.raises(NhmechError, match="overlay 'shadow' does not exist; there are rotation"):
        make_overlays(shipped("carriage"), ["shadow"])
    with pytest.raises(NhmechError, match="must be a Vehicle"):
        make_overlays(Cart(), ["rotation_centre"])
    done = command_line("run", "tricycle", "--duration", "0.1", "--html", tmp_path / "a.html",
                        "--overlay", "rotation-centre")
    assert done.exit_code == 0, done.output
    refused = command_line("run", "tricycle", "--overlay", "shadow")
    assert refused.exit_code == 2 and "there are rotation-centre, forces, path" in refused.output


def purple(picture: np.ndarray) -> int:
    red, green, blue = picture[40:480, :640].transpose(2, 0, 1)
    return np.count_nonzero((blue - green > 45) & (red - green > 20))


@needs_chromium
@pytest.mark.browser
def test_it_comes_and_goes_in_a_recording_and_live(tmp_path):
    car = shipped("ackermann_car")
    poses = np.array([car.configuration(None, {STEER: angle}) for angle in (0.0, 0.0, 0.5, 0.5)])
    page = save_html(car, SimpleNamespace(t=np.array([0.0, 1.0, 1.1, 2.0]), q=poses),
                     tmp_path / "car.html", overlays=["rotation_centre"])
    with Browser(page.as_uri() + "#t=0", (800, 560)) as browser:
        browser.wait_for("nhmech.state.ready")
        seen = []
        for t in (0.5, 1.7, 0.4):
            browser.evaluate(f"nhmech.seek({t}), 0")
            seen.append(purple(pixels(browser.picture())))
        assert "rotation centre" in browser.evaluate(
            "document.getElementById('legend').textContent"
        )
    assert seen[1] > 100 and seen[0] < 20 and seen[2] < 20
    with (Viewer(car, overlays=["rotation_centre"]) as viewer,
          Browser(viewer.url, (800, 560)) as browser):
        viewer.display(poses[-1])
        assert viewer.wait_for_browser(120)
        browser.wait_for("nhmech.state.ready")
        turning = purple(pixels(browser.picture()))
        viewer.display(poses[0])
        browser.wait_for(
            "!nhmech.viewer.scene_tree.find("
            f"{PATH.strip('/').split('/') + ['mark']}).object.visible"
        )
        assert turning > 100 and purple(pixels(browser.picture())) < 20


# ---------------------------------------------------------------- forces


def test_arrows_carry_the_weight_and_stay_in_their_cones_while_friction_lasts():
    """At rest: arrows upright, their lengths over the scale sum up to the weight, the mean as
    long as the largest wheel is high."""
    car = shipped("ackermann_car")
    forces, = make_overlays(car, ["forces"], mu=0.8)
    q = car.configuration((0.3, 0.2, 0.7))
    found = forces.at(Snapshot(q, 0.0, np.zeros(car.model.nv), np.zeros(len(car.driven))), VIEW)
    assert set(found) == {message["path"] for message in forces.objects(VIEW)}
    lengths = []
    for i, point in enumerate(car.contact_points(q)):
        shaft, head, cone = (found[f"/overlays/forces/{i}/{part}"]
                             for part in ("shaft", "head", "cone"))
        np.testing.assert_allclose(shaft[:3, 3], point, rtol=0, atol=1e-12)
        tip = head[:3, 3] + head[:3, 2]
        np.testing.assert_allclose(head[:3, 3], shaft[:3, 3] + shaft[:3, 2], rtol=0, atol=1e-12)
        np.testing.assert_allclose((tip - point)[:2], 0, rtol=0, atol=1e-9)
        lengths.append(tip[2] - point[2])
        # its half angle has the tangent mu, and its side is as long as the arrow
        high, *wide = (np.linalg.norm(cone[:3, i]) for i in (2, 0, 1))
        assert cone[:3, 2] == pytest.approx([0, 0, high])
        assert wide == pytest.approx([0.8 * high] * 2)
        assert np.hypot(high, wide[0]) == pytest.approx(lengths[-1], rel=1e-9)
    assert np.mean(lengths) == pytest.approx(2 * max(c.mount.wheel.radius for c in car.contacts),
                                             rel=1e-9)


def test_colour_and_number_say_how_much_friction_is_used():
    """A car at rest across a slope a: the lateral forces sum up to m g sin a, the normals to m g
    cos a, so that tan a is needed on the whole."""
    slope = 0.2
    car = shipped("ackermann_car", ground=Ground(normal=(0.0, np.sin(slope), np.cos(slope))))
    moment = Snapshot(car.configuration(), 0.0, np.zeros(car.model.nv), np.zeros(len(car.driven)))
    colours, weight, n = {}, pin.computeTotalMass(car.model) * 9.81, np.array(car.ground.normal)
    for mu in (0.05, 10.0, np.inf):
        forces, = make_overlays(car, ["forces"], mu=mu)
        rows, ground = forces.rows(moment), forces.reactions_at(moment)
        world = [ground.world[wheel] for wheel in car.contact_names]
        along = [np.linalg.norm(force - n * (n @ force)) for force in world]
        assert [sum(along), sum(n @ force for force in world)] == pytest.approx(
            [weight * np.sin(slope), weight * np.cos(slope)], rel=1e-9)
        for i, (row, wheel) in enumerate(zip(rows, car.contact_names)):
            of = "" if mu == np.inf else f" of {mu:g}"
            assert (
                row.text
                == f"{wheel} needs \N{GREEK SMALL LETTER MU} {along[i] / (n @ world[i]):.2f}{of}"
            )
            assert set(row.paints) == {f"/overlays/forces/{i}/{part}"
                                       for part in ("shaft", "head", "cone")}
        colours[mu] = [row.colour for row in rows]
    assert any(red > 0.75 and green < 0.2
               for red, green, _ in colours[0.05]), "beyond the friction: red"
    assert all(green > 2 * red for red, green, _ in colours[10.0]), "far from it: green"
    shown = [path for path, pose in forces.at(moment, VIEW).items() if pose is not None]
    assert not any(path.endswith("cone") for path in shown), "a cone, though nobody said what mu is"


def test_forces_want_speeds_and_inputs():
    car = shipped("ackermann_car")
    forces, = make_overlays(car, ["forces"])
    with pytest.raises(NhmechError, match="needs speeds v and inputs u"):
        forces.at(Snapshot(car.configuration()), VIEW)
    with pytest.raises(NhmechError, match="has 9 inputs"):
        forces.at(Snapshot(car.configuration(), 0.0, np.zeros(car.model.nv), np.zeros(9)), VIEW)
    with pytest.raises(NhmechError, match="wheel 'tail' does not exist"):
        make_overlays(car, ["forces"], mu={"tail": 0.5})
    with Viewer(car, overlays=["forces"]) as viewer:
        viewer.display(car.configuration())
        with pytest.raises(NhmechError, match="needs speeds v and inputs u"):
            viewer.flush()


@pytest.mark.parametrize("name", OVERLAYS)
def test_every_overlay_keeps_its_contract(name):
    """Objects at paths of their own; the same paths and as many lines at all moments; a picture of
    the run with it."""
    car = shipped("ackermann_car")
    run = Simulator(car).run(0.2)
    overlay, = make_overlays(car, [name], mu=0.8, path=make_path("circle", 2.0))
    assert type(overlay) is overlay_class(name) and set(overlay.needs) <= {"mu", "path"}
    assert overlay.points.ndim == 2 and overlay.points.shape[1] == 3
    paths = [message["path"] for message in overlay.objects(VIEW)]
    assert len(set(paths)) == len(paths) > 0
    seen = [Snapshot(run.q[k], run.t[k], run.v[k], run.u[k]) for k in (0, -1)]
    for moment in seen:
        poses = overlay.at(moment, VIEW)
        assert list(poses) == list(overlay.at(seen[0], VIEW)) and set(poses) <= set(paths)
        assert all(pose is None or np.isfinite(pose).all() for pose in poses.values())
        assert len(overlay.rows(moment)) == len(overlay.rows(seen[0]))
    assert animate(Scene(car), run, 30.0, [overlay])[-1]["type"] == "set_animation"


# ---------------------------------------------------------------- path, ghosts


@pytest.mark.parametrize("normal", [(0, 0, 1), (0.2, -0.1, 1)])
def test_the_path_lies_on_the_ground(normal):
    car, path = shipped("differential_drive",
                        ground=Ground(normal=normal, point=(0, 0, 0.4))), make_path("circle", 2.0)
    line, = make_overlays(car, ["path"], path=path)
    message, = line.objects(VIEW)
    attributes = message["object"]["geometries"][0]["data"]["attributes"]
    vertices = np.frombuffer(attributes["position"]["array"].data, "<f4").reshape(-1, 3)
    heights = (vertices - car.ground.point) @ car.ground.normal
    assert heights.min() > 0 and heights.max() < 2e-3 * VIEW.size
    if normal[2] == 1 and not any(normal[:2]):
        s = path.nearest(vertices[:, :2].astype(float))
        distance = np.linalg.norm(path.point(s) - vertices[:, :2], axis=1)
        np.testing.assert_allclose(distance, 0.014 * VIEW.size, rtol=1e-3)
    for nothing, words in ((None, "overlay 'path': there is no path"),
                           ("figure8", "must be a Path")):
        with pytest.raises(NhmechError, match=words):
            make_overlays(car, ["path"], path=nothing)


def test_a_run_knows_the_path_to_draw(tmp_path):
    """By its name alone, from the run itself or from its file; a run that followed none is
    refused."""
    car = shipped("differential_drive")
    tracker = PurePursuit(car, make_path("circle", 2.0), speed=0.5)
    run = Simulator(car, tracker, control_period=0.01).run(0.2)
    for known in (run, Trajectory.load(run.save(tmp_path / "run.npz"))):
        line, = make_overlays(car, ["path"], path=path_of(known))
        np.testing.assert_allclose(line.points, [(*tracker.path.point(s), 0.0)
                                                 for s in np.linspace(0, tracker.path.length, 200)],
                                   rtol=0, atol=1e-8)
        plain, with_path = (save_html(car, known, tmp_path / "run.html",
                                      overlays=names).stat().st_size
                            for names in ((), ["path"]))
        assert with_path > plain + 10_000
    with pytest.raises(NhmechError, match="there is no path"):
        save_html(car, Simulator(car).run(0.1), tmp_path / "none.html", overlays=["path"])


def test_a_ghost_is_where_its_run_was():
    cart = Cart()
    run = drive(cart, 2.0)
    ghost = Ghost(cart, run, "other/run", 1)
    assert all(message["path"].startswith("/ghosts/other_run/") for message in ghost.objects(VIEW))
    for t, row in ((-1.0, 0), (0.5, 25), (9.0, -1)):
        pose = ghost.at(Snapshot(run.q[0], t), VIEW)["/ghosts/other_run/bodies/root_joint"]
        np.testing.assert_allclose(pose[:3, 3], run.q[row, :3], rtol=0, atol=1e-9)


@pytest.mark.parametrize("draws", [
    lambda thing, run, path: save_html(thing, run, path),
    lambda thing, run, path: Ghost(thing, run),
    lambda thing, run, path: Viewer.play(SimpleNamespace(vehicle=thing), run)],
    ids=["page", "ghost", "play"])
def test_the_run_of_another_robot_is_not_shown(draws, tmp_path):
    """The pendulum has the coordinates of the robot of the run, and other contacts."""
    run = Simulator(shipped("differential_drive")).run(0.01)
    with pytest.raises(InputError, match="is of 'differential_drive', .* of 'pendulum'. "
                                         r"Give trajectory\.simulated\.vehicle"):
        draws(shipped("pendulum"), run, tmp_path / "no.html")


def test_the_run_of_another_system_is_not_shown(tmp_path):
    disk = load_system("vertical_disk")
    simulator = Simulator(disk)
    simulator.reset(**disk.start)
    for thing, run, remedy in (
            (shipped("pendulum"), simulator.run(0.01), "simulated"),
            (disk, Simulator(shipped("pendulum")).run(0.01), "simulated.vehicle")):
        with pytest.raises(InputError, match=rf"are not those of .*\. Give trajectory\.{remedy}$"):
            save_html(thing, run, tmp_path / "no.html")


@needs_chromium
@pytest.mark.browser
def test_a_page_with_everything(tmp_path):
    """Recorded: the legend's numbers are those of the moment, the arrows in its colours, the ghost
    beside, the title in the corner. Live: the same numbers."""
    car = shipped("differential_drive")
    run = Simulator(car).run(2.0)
    away = SimpleNamespace(t=run.t, q=run.q + np.eye(len(run.q[0]))[1])
    overlays = [*make_overlays(car, ["forces", "path"], mu=0.6, path=make_path("circle", 1.0)),
                Ghost(car, away, "beside")]
    page = save_html(car, run, tmp_path / "all.html", overlays=overlays, title="a <named> scene",
                     follow=True)
    assert page.stat().st_size < 2.5e6
    with Browser(page.as_uri() + "#t=0", (800, 560)) as browser:
        browser.wait_for("nhmech.state.ready")
        assert (browser.evaluate("[document.title, document.getElementById('title').textContent]")
                == ["a <named> scene"] * 2)
        assert browser.evaluate("document.getElementById('follow').checked")
        legend = browser.evaluate("document.getElementById('legend').textContent")
        assert all(word in legend for word in ("path to follow", "beside", "of 0.6"))
        for t in (0.2, 1.9):
            browser.evaluate(f"nhmech.seek({t}), 0")
            k = int(np.argmin(np.abs(run.t - round(t * 30) / 30)))
            wanted = [row.text
                      for row in overlays[0].rows(Snapshot(run.q[k], run.t[k], run.v[k], run.u[k]))]
            said = browser.evaluate("[...document.getElementById('rows').children].map(row => "
                                    "row.textContent)")
            assert [text.rsplit(" ", 3)[0] for text in said] == [
                text.rsplit(" ", 3)[0] for text in wanted
            ]
            numbers = [[float(text.split()[-3]) for text in texts] for texts in (said, wanted)]
            np.testing.assert_allclose(*numbers, rtol=0, atol=0.02)
        y = browser.evaluate("nhmech.viewer.scene_tree.find(['ghosts', 'beside', 'bodies', "
                             "'root_joint']).object.position.y")
        assert y == pytest.approx(run.q[k, 1] + 1.0, abs=1e-2)
        picture = pixels(browser.picture())[40:480, :640]
        green = (picture[..., 1] - picture[..., 0] > 40) & (picture[..., 1] - picture[..., 2] > 30)
        assert np.count_nonzero(green) > 100, "no arrow is seen"
    with Viewer(car, overlays=overlays,
                title="live") as viewer, Browser(viewer.url, (800, 560)) as browser:
        viewer.display(Snapshot(run.q[-1], run.t[-1], run.v[-1], run.u[-1]))
        browser.wait_for("document.getElementById('rows') && "
                         "document.getElementById('rows').children.length == 3")
        assert browser.evaluate("document.getElementById('title').textContent") == "live"
        colour = browser.evaluate("nhmech.viewer.scene_tree.find(['overlays', 'forces', '0', "
                                  "'shaft', "
                                  "'<object>']).object.children[0].material.color.toArray()")
        np.testing.assert_allclose(colour, overlays[0].rows(viewer._newest)[0].colour, rtol=0,
                                   atol=1e-6)
