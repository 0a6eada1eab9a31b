"""The page as an instrument: layers, cameras, trails, keys, light and dark."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from browser import Undrawn, needs_chromium
from stand_in_cart import Cart, drive
from support import shipped

from nhmech.view import save_html
from nhmech.view.animation import CHORD, animate
from nhmech.view.camera import ALONG, FARTHEST, LENS, Extent, frame
from nhmech.view.drawable import Snapshot
from nhmech.view.floor import RIBBON
from nhmech.view.layers import make_layers
from nhmech.view.scene import Scene
from nhmech.view.static import read_static


def layers(name: str):
    """Scene, view and layers of a shipped vehicle, by their names."""
    scene = Scene(shipped(name))
    q = shipped(name).configuration()
    view = frame(scene.extent(q), scene.middle(q), (0, 0, 1), scene.forward(q))
    return scene, view, {layer.layer.name: layer for layer in make_layers(scene)}


def floats(packed) -> np.ndarray:
    return np.frombuffer(packed.data, "<f4")


# --- layers ----------------------------------------------------------------------------------


def test_a_page_has_a_switch_for_each_layer_and_shows_none_at_first():
    scene, view, found = layers("rover")
    message, = (m for m in scene.messages(view, [*found.values()]) if m["type"] == "view")
    assert [layer["name"] for layer in message["layers"]] == list(found)
    assert len(found) == 6 and not any(layer["is_shown"] for layer in message["layers"])
    drawn = {m["path"] for layer in found.values() for m in layer.objects(view)}
    for path in drawn:      # nothing is drawn that no switch hides
        assert any(path == root or path.startswith(root + "/")
                   for layer in message["layers"] for root in layer["paths"])
    assert set(found["names"].layer.labels.values()) >= {"front_left_wheel", "base_link"}
    assert make_layers(Scene(Cart())) == []


def test_ellipsoids_have_mass_and_inertia_of_the_bodies():
    scene, view, found = layers("trailers")
    model, drawn = shipped("trailers").model, {}
    for message in found["inertia"].objects(view):
        child, = message["object"]["object"]["children"]
        drawn[message["path"]] = np.reshape(child["matrix"], (4, 4)).T
    for joint, path in scene.paths.items():
        body = model.inertias[joint]
        if body.mass > 0:
            axes = drawn[f"{path}/inertia"]
            half = axes[:3, :3] @ axes[:3, :3].T       # R diag(a^2, b^2, c^2) R^T
            np.testing.assert_allclose(axes[:3, 3], body.lever, rtol=0, atol=1e-12)
            np.testing.assert_allclose(body.mass / 5 * (np.trace(half) * np.eye(3) - half),
                                       body.inertia, rtol=1e-6, atol=1e-9 * body.mass)


def test_the_plumb_line_hangs_from_the_centre_of_mass_to_the_ground():
    vehicle = shipped("differential_drive")
    _, view, found = layers("differential_drive")
    q = vehicle.configuration((0.4, -0.2, 0.7))
    poses = found["centre of mass"].at(Snapshot(q), view)
    centre = pin.centerOfMass(vehicle.model, vehicle.model.createData(), q)
    root = vehicle.model.names[1]
    base = pin.XYZQUATToSE3(q[:7]).homogeneous      # the marks lie below the root's body
    ball, line = (base @ poses[f"/vehicle/{root}/centre_of_mass/{part}"]
                  for part in ("ball", "line"))
    np.testing.assert_allclose(ball[:3, 3], centre, rtol=0, atol=1e-12)
    ends = [line[:3, 3] + side * line[:3, 2] for side in (-0.5, 0.5)]
    np.testing.assert_allclose(ends, [[centre[0], centre[1], 0], centre], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name, corners", [("rover", 4), ("differential_drive", 3), ("bicycle", 2),
                                           ("disc", 0)])
def test_the_support_polygon_is_the_hull_of_the_contacts(name, corners):
    vehicle = shipped(name)
    _, view, found = layers(name)
    q = vehicle.configuration()
    base = pin.XYZQUATToSE3(q[:7]).homogeneous
    poses = [None if pose is None else base @ pose
             for pose in found["support polygon"].at(Snapshot(q), view).values()]
    strips = [(pose[:3, 3], pose[:3, 3] + pose[:3, 0]) for pose in poses if pose is not None]
    assert len(strips) == corners
    points, n = vehicle.contact_points(q), np.array(vehicle.ground.normal)
    for (_, end), (start, _) in zip(strips, [*strips[1:], *strips[:1]]):
        np.testing.assert_allclose(start, end, rtol=0, atol=1e-12)       # closed
    for start, end in strips:
        inward = (points - start) @ np.cross(n, end - start)
        assert np.all(inward > -1e-9) or np.all(inward < 1e-9)  # all contacts on one side


def test_fine_collision_meshes_are_drawn_by_their_hull():
    import coal

    from nhmech.view.layers import MOST, _simple

    angle = np.linspace(0, 2 * np.pi, MOST, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle), 0.1 * (np.arange(MOST) % 2)])
    model = coal.BVHModelOBBRSS()
    model.beginModel(MOST, MOST)
    model.addVertices(np.vstack([ring, [[0, 0, 0.05]]]))
    model.addTriangles(np.array([[i, (i + 1) % MOST, MOST] for i in range(MOST)] * 2, int))
    model.endModel()
    (geometry, _), = _simple(model)
    corners = floats(geometry["data"]["attributes"]["position"]["array"]).reshape(-1, 3)
    np.testing.assert_allclose(np.linalg.norm(corners[:, :2], axis=1), 1.0, atol=1e-6)
    assert set(np.round(corners[:, 2], 6)) == {np.float32(0.0), np.float32(0.1)}


# --- trails ----------------------------------------------------------------------------------


@pytest.mark.parametrize("fps", [2.0, 30.0])
def test_trails_pass_every_recorded_state(fps):
    cart = Cart()
    run = drive(cart, 4.0, speed=0.6)
    scene = Scene(cart)
    messages = animate(scene, run, fps)
    animation = messages[-1]
    moments = floats(animation["moments"])
    assert np.all(np.diff(moments) > 0) and moments[-1] == pytest.approx(run.t[-1], rel=1e-12)
    width = RIBBON * scene.extent(run.q[0]).size
    contacts = np.array([cart.contact_points(q) for q in run.q])
    for i, path in enumerate(animation["trails"]):
        message, = (m for m in messages if m.get("path") == path)
        geometry, = message["object"]["geometries"]
        edges = floats(geometry["data"]["attributes"]["position"]["array"]).reshape(-1, 2, 3)
        assert len(edges) == len(moments)
        line = edges.mean(axis=1)[:, :2]
        for point in contacts[:, i, :2]:
            start, along = line[:-1], np.diff(line, axis=0)
            share = np.clip(np.sum((point - start) * along, axis=1)
                            / np.maximum(np.sum(along**2, axis=1), 1e-20), 0, 1)
            nearest = np.linalg.norm(start + share[:, None] * along - point, axis=1).min()
            assert nearest < 3 * CHORD * width + 1e-5


def test_a_straight_trail_has_no_more_points_than_frames():
    cart = Cart()
    run = drive(cart, 2.0)
    straight = SimpleNamespace(t=run.t, q=np.array([run.q[0]] * len(run.t)))
    straight.q[:, 0] += 0.5 * run.t
    moments = floats(animate(Scene(cart), straight, 5.0)[-1]["moments"])
    np.testing.assert_allclose(moments, np.linspace(0.0, 2.0, 11), atol=1e-6)


# --- camera ----------------------------------------------------------------------------------


@pytest.mark.parametrize("height", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("length", [0.0, 1.0, 3.0, 40.0])
def test_the_vehicle_is_in_the_picture_and_fills_a_good_part_of_it(height, length):
    extent = Extent(2 * np.hypot(1.0, height), 1.0, height)
    path = np.linspace([0, 0, 0], [length, 0.3 * length, 0], 40)
    view = frame(extent, path, (0, 0, 1), (1, 0, 0))
    away = (view.eye - view.target) / np.linalg.norm(view.eye - view.target)
    right = np.cross([0, 0, 1], away) / np.linalg.norm(np.cross([0, 0, 1], away))
    angle = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    rim = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    body = np.vstack([rim, rim + (0, 0, height)])

    def seen(places):
        """Across and upward in the picture, 1 at the edge of what it should fill."""
        offsets = (np.reshape(places, (-1, 1, 3)) + body).reshape(-1, 3) - view.eye
        depth = -offsets @ away
        return np.column_stack([offsets @ right / LENS[0], offsets @ np.cross(away, right)
                                / LENS[1]]) / depth[:, None]

    shown = path[:1] if view.follow else path
    assert np.abs(seen(shown)).max() < 1 / np.cos(np.pi / 12)   # the circle has twelve corners
    assert view.follow == (length == 40.0)
    fill = 0.5 * np.ptp(seen(path[:1]), axis=0).max()
    assert fill > 0.75 / max(FARTHEST, ALONG)      # the start may be the far end


# --- the page --------------------------------------------------------------------------------


def keys_of(file: str, table: str) -> set[str]:
    names = {" ": "space", "ArrowLeft": "&larr;", "ArrowRight": "&rarr;", "ArrowUp": "&uarr;",
             "ArrowDown": "&darr;"}
    block = re.search(table, read_static(file), re.S)[1]
    found = re.findall(r'(?:^|[{,])\s*"?([^\s":,]+| )"?: (?:runs|\(\)|\[|\w)', block)
    return {names.get(key, key.removeprefix("Key").upper()) for key in found} - {"ESCAPE"}


def told_on_the_page(*modes: str) -> set[str]:
    rows = re.findall(r'<tr(?: class="(.*?)")?>(.*?)</tr>', read_static("page.html"), re.S)
    return {key for mode, row in rows if set(mode.split()) <= set(modes)
            for key in re.findall(r"<kbd>(.*?)</kbd>", row)}


def test_every_key_is_on_the_page():
    page = keys_of("page.js", r"const keys = \{(.*?)\};")
    page |= {key.upper() for key in re.findall(r"nhmech\.keys\.(\w) =", read_static("plots.js"))}
    assert told_on_the_page("", "replay-only", "plot-only") == page
    driven = (page - {"D", "space", "&larr;", "&rarr;"}) | {"shift"}
    driven |= keys_of("drive.js", r"Object.assign\(nhmech.keys, \{(.*?)\}\);")
    driven |= keys_of("controls.js", r"const AXES = \{(.*?)\};")
    assert told_on_the_page("", "drive-only", "sideways-only", "plot-only", "exchange-only",
                            "twist-only") == driven


@needs_chromium
@pytest.mark.browser
def test_keys_cameras_and_layers(tmp_path):
    rover = shipped("rover")
    q = np.array([rover.configuration((0.2 * k, 0.0, 0.3 * k)) for k in range(6)])
    run = SimpleNamespace(t=np.arange(6.0), q=q)
    page = save_html(rover, run, tmp_path / "page.html")
    press = ("document.body.dispatchEvent(new KeyboardEvent('keydown', "
             "{{key: '{}', bubbles: true}})), 0")
    scene = "nhmech.viewer.camera.position.clone().sub(nhmech.viewer.controls.target)"
    with Undrawn(page.as_uri() + "#t=0", (390, 700)) as browser:
        browser.wait_for("nhmech.state.ready")
        browser.evaluate("nhmech.seek(1), 0")
        browser.evaluate(press.format("2"))
        x, y, z = browser.evaluate(f"{scene}.toArray()")        # y is up
        assert y > 100 * np.hypot(x, z)
        browser.evaluate(press.format("4"))
        for t in (1.0, 4.0):                                    # behind, wherever it heads
            browser.evaluate(f"nhmech.seek({t}), 0")
            x, y, z = browser.evaluate(f"{scene}.toArray()")
            yaw = 0.3 * t
            away = np.array([x, -z]) / np.hypot(x, z)
            np.testing.assert_allclose(away, [-np.cos(yaw), -np.sin(yaw)], atol=1e-3)
        far = [browser.evaluate(f"{scene}.length()")]
        for width, height in ((700, 390), (390, 700)):          # a phone that is turned, and back
            browser._page("Emulation.setDeviceMetricsOverride", width=width, height=height,
                          deviceScaleFactor=1, mobile=False)
            browser.wait_for(f"innerWidth === {width} && nhmech.viewer.camera.aspect "
                             f"{'><'[width < height]} 1")
            far.append(browser.evaluate(f"{scene}.length()"))
        assert far[0] == pytest.approx(far[2], rel=1e-9) and far[1] < 0.7 * far[0]
        browser.evaluate(press.format("d"))
        assert browser.evaluate("document.documentElement.classList.contains('dark')")
        panels = "['views', 'help'].map(id => !document.getElementById(id).hidden)"
        for key, opened in (("l", [True, False]), ("?", [False, True]), ("Escape", [False, False])):
            browser.evaluate(press.format(key))
            assert browser.evaluate(panels) == opened
        shown = "nhmech.viewer.scene_tree.find(['vehicle', 'root_joint', 'centre_of_mass'])" \
            ".object.visible"
        assert browser.evaluate(shown) is False
        browser.evaluate("[...document.querySelectorAll('#layers label')].find(row => "
                         "row.textContent.includes('centre of mass')).firstChild.click(), 0")
        assert browser.evaluate(shown) is True
        # all of the page is on the screen of a phone, and nothing of the library covers it
        assert browser.evaluate("document.documentElement.scrollWidth") <= 390
        box = browser.evaluate("(box => [box.left, box.right])(document.getElementById('bar')"
                               ".getBoundingClientRect())")
        assert box[0] >= 0 and box[1] <= 390
        assert browser.evaluate("getComputedStyle(document.querySelector('.dg.main')).display"
                                ) == "none"
