"""The ground's forces in a page in which a robot runs: Node shares the load as Python does."""

import json
from dataclasses import replace

import numpy as np
import pytest
from browser import needs_chromium, press
from support import random_states, run_in_node, sampled, shipped
from test_written_page import opened

import nhmech
from nhmech.control.twist_limits import moves_sideways, turning_radius
from nhmech.simulation.contact.force_reader import reactions_at
from nhmech.vehicle.least_norm import impose_signs, orthonormal
from nhmech.vehicle.placements import placement_function
from nhmech.view.static import read_static
from nhmech.view.written_content import vehicle_content
from nhmech.view.written_forces import force_functions

KNOB = """(() => { const knob = [...document.querySelectorAll('.knob')].find(
    one => one.firstChild.title === '%s').querySelector('input');
    knob.value = %s; knob.dispatchEvent(new Event('input')); return Number(knob.value); })()"""


def split_in_node(cases: list) -> list:
    return run_in_node(f"""{read_static("motion.js")}{read_static("forces.js")}
        const found = {json.dumps(cases)}.map(([forces, kernel, pressing]) =>
          splitLoad(forces, kernel, pressing));
        console.log(JSON.stringify(found));""")


def test_the_shortest_split_that_presses_is_that_of_lawson_and_hanson():
    """With kernels of any rank, columns that repeat, and splits that there are not."""
    rng = np.random.default_rng(3)
    cases, expected = [], []
    for k in range(300):
        n, d = int(rng.integers(3, 12)), int(rng.integers(1, 5))
        kernel = rng.normal(size=(n, d))
        if k % 3 == 0:
            kernel[:, -1] = 2 * kernel[:, 0] if d > 1 else 0.0
        basis = orthonormal(kernel)
        forces = rng.normal(size=n)
        forces -= basis @ (basis.T @ forces)
        normal = rng.random(n) < 0.6
        expected.append(impose_signs(forces, basis, normal))
        cases.append([forces.tolist(), kernel.ravel("F").tolist(),
                      np.flatnonzero(normal).tolist()])
    feasible = 0
    for found, (split, supported) in zip(split_in_node(cases), expected):
        assert found["supported"] == bool(supported)
        np.testing.assert_allclose(found["split"], split, rtol=0,
                                   atol=1e-9 * (1 + np.abs(split).max()))
        feasible += bool(supported)
    assert 50 < feasible < 250


@pytest.mark.parametrize("name", sampled(["ackermann_car", "rover", "trailers", "mecanum",
                                          "swerve", "differential_drive", "sled"], 4))
def test_forces_and_directions_are_those_of_the_reactions(name):
    """Of all charts, with the sum along the directions that the page draws."""
    vehicle = shipped(name)
    functions = force_functions(vehicle, [vehicle.equations])
    n = len(vehicle.contact_rows)
    normals = [i for i, row in enumerate(vehicle.contact_rows) if row.direction == "normal"]
    cases, expected = [], []
    for serving, q, xi, u in random_states(vehicle, 6, seed=4):
        if serving is not vehicle:
            continue
        v = np.asarray(vehicle.equations.velocity(0.0, q, xi, vehicle.theta)).ravel()
        vector = functions[0]
        x = state_vector(vehicle, q, xi)
        forces, kernel = (part.full() for part in vector(0.0, x, u, vehicle.theta))
        directions = placement_function(vehicle)(0.0, q, vehicle.theta)[2].full()
        cases.append([forces.ravel().tolist(), kernel.ravel("F").tolist(), normals])
        expected.append((directions, reactions_at(vehicle, 0.0, q, v, u)))
    assert cases
    for found, (directions, reactions) in zip(split_in_node(cases), expected):
        size = max(np.abs(force).max() for force in reactions.world.values())
        for contact, force in reactions.world.items():
            places = [i for i, row in enumerate(vehicle.contact_rows) if row.contact == contact]
            mine = directions[:, places] @ np.array(found["split"])[places]
            np.testing.assert_allclose(mine, force, rtol=0, atol=1e-9 * size)
        assert len(found["split"]) == n


def state_vector(vehicle, q, xi):
    from nhmech.simulation.state_vector import StateVector

    return StateVector.of(vehicle.equations).assemble(q, xi)


def test_wheels_are_drawn_with_their_radius():
    """A matrix of the joint's pose, larger by the ratio of the radii about the wheel's centre: the
    drawn tread ends where the contact point is."""
    vehicle = shipped("differential_drive").with_parameters(
        symbolic=("left_wheel_joint.radius", "slope"))
    content = vehicle_content(vehicle, None, None, None, 1e-3, None, None)
    radius = vehicle.parameters.values["left_wheel_joint.radius"]
    nv, nu = vehicle.model.nv, 0
    joint = vehicle.model.getJointId("left_wheel_joint")
    for factor in (1.0, 1.5):
        q = vehicle.with_parameters({"left_wheel_joint.radius": factor * radius}).configuration()
        poses, points, *_, up = (part.full() for part in content.place(
            0.0, q, np.zeros(nv), [factor * radius, 0.1]))
        pose = poses[:, joint - 1].reshape(4, 4).T
        np.testing.assert_allclose(pose[:3, :3].T @ pose[:3, :3], factor ** 2 * np.eye(3),
                                   rtol=0, atol=1e-12)
        i = vehicle.contact_names.index("left_wheel_joint")
        assert np.linalg.norm(points[:, i] - pose[:3, 3]) == pytest.approx(factor * radius)
        np.testing.assert_allclose(up.ravel() / 9.81, [np.sin(0.1), 0, np.cos(0.1)], atol=1e-12)
    assert content.fields["note"] == "" and nu == 0


@needs_chromium
@pytest.mark.browser
def test_slope_radius_and_the_end_of_rolling(tmp_path):
    """A slope turns the picture and needs tan(slope) of friction of a robot at rest; a radius that
    lifts a wheel of four is refused; what would slide is said until a reset."""
    vehicle = shipped("ackermann_car")
    page = nhmech.save_page(vehicle, tmp_path / "robot.html", mu=0.3, parameters=(
        "slope", "front_left_wheel_joint.radius"))
    with opened(page) as browser:
        press(browser, "KeyP", "p")
        browser.evaluate(KNOB % ("slope", 0.1))
        up = browser.evaluate("nhmech.viewer.camera.up.toArray()")
        np.testing.assert_allclose(up, [np.sin(0.1), np.cos(0.1), 0], atol=1e-12)
        browser.evaluate("nhmech.written.advance(2, [0, 0, 0]), 0")
        used = browser.evaluate("""[...document.querySelectorAll('.use .mark')].map(
            one => Number(one.textContent.split(' ')[0]))""")
        assert np.mean(used) == pytest.approx(100 * np.tan(0.1) / 0.3, abs=8)
        note = "document.getElementById('note').textContent"
        assert browser.evaluate(KNOB % ("front_left_wheel_joint.radius", 0.6)) == 0.32
        assert "not all wheels" in browser.evaluate(note)
        browser.evaluate("nhmech.written.advance(0.3, [0, 0, 0]), 0")
        assert not browser.evaluate("nhmech.written.motion.state.stop")
        browser.evaluate(KNOB % ("slope", 0.34))
        browser.evaluate("nhmech.written.advance(0.1, [0, 0, 0]), 0")
        said = browser.evaluate(note)
        assert "would slide, which this page does not simulate" in said and "of 0.3" in said
        browser.evaluate(KNOB % ("slope", 0))
        browser.evaluate("nhmech.written.advance(1, [0, 0, 0]), 0")
        assert browser.evaluate(note) == said
        press(browser, "KeyR", "r")
        browser.wait_for("!nhmech.written.state.slid")
        arrows = browser.evaluate("""['shaft', 'head', 'cone'].map(part => nhmech.viewer.scene_tree
            .find(['overlays', 'forces', '0', part]).object.visible)""")
        assert arrows == [True, True, True]


def with_law(name: str, law: str, mu: float) -> nhmech.Vehicle:
    wheels = [replace(wheel, law=law, mu=mu) if wheel.traits.held else wheel
              for wheel in shipped(name).description.wheels]
    return nhmech.load(nhmech.urdf_path(name), wheels=wheels)


def test_what_the_page_leaves_out_of_the_ground_is_said():
    def fields(vehicle):
        return vehicle_content(vehicle, None, None, None, 1e-3, None, None).fields

    assert fields(shipped("differential_drive"))["remarks"] == ""
    slides = fields(with_law("differential_drive", "coulomb", 0.2))
    assert [wheel["slides"] for wheel in slides["wheels"]] == [True, True, False]
    assert "it stops" in slides["remarks"]
    scrubs = fields(shipped("skid_steer", skid="coulomb"))
    assert "mid-axle" in scrubs["remarks"] and scrubs["driving"]["limits"][2] > 0


def test_a_car_on_tyres_is_driven_like_one_that_rolls():
    """Its tyres' deflections are constraints that are not linear; where it can go is that of its
    wheels."""
    car = shipped("ackermann_car", tyres="passenger_car")
    assert not moves_sideways(car)
    assert turning_radius(car) == pytest.approx(turning_radius(shipped("ackermann_car")), rel=1e-9)


@needs_chromium
@pytest.mark.browser
def test_what_would_slide_by_its_law_stops(tmp_path):
    page = nhmech.save_page(with_law("differential_drive", "coulomb", 0.05), tmp_path / "r.html")
    with opened(page) as browser:
        press(browser, "ArrowUp", "ArrowUp", up=False)
        browser.wait_for("nhmech.written.motion.state.stop")
        browser.wait_for("document.getElementById('note').textContent.includes('rolling ends')")
