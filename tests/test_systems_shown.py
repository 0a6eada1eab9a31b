"""Every textbook system, by the commands: it runs, is saved, drawn and plotted."""

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.spatial.transform import Rotation
from support import command_line, sampled

from nhmech.systems import (
    car_with_trailers,
    chaplygin_ball,
    falling_disc,
    load_system,
    rolling_ball,
    system_names,
    torus_coin,
    unbalanced_ball,
    vertical_disk,
)
from nhmech.systems.example import drawn_parameters
from nhmech.systems.shapes import placed, pose
from nhmech.view.system_picture import SystemPicture


@pytest.mark.parametrize("name", sampled(system_names(), 6))
def test_a_system_runs_and_is_seen(name, tmp_path):
    page, run, figure = tmp_path / "a.html", tmp_path / "a.npz", tmp_path / "a.png"
    done = command_line("systems", "run", name, "--duration", "0.2", "--html", str(page), "--save",
                        str(run))
    # an abstract one has nothing to draw, and says so; the run is kept all the same
    assert (done.exit_code, page.exists()) in [(0, True), (2, False)], done.output
    assert page.exists() or "shape" in done.output
    assert run.stat().st_size > 500
    plotted = command_line("plot", str(run), "-o", str(figure))
    assert plotted.exit_code == 0, plotted.output
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_a_lone_body_is_called_by_what_it_is():
    assert SystemPicture(load_system("falling_disc")).contact_names == ["Falling disc"]
    assert SystemPicture(load_system("snakeboard")).contact_names[:2] == ["body 1", "body 2"]


WHEELED = ("car_with_trailers", "carriage", "differential_drive", "roller_racer", "snakeboard",
           "wheeled_snake")


@pytest.mark.parametrize("name", WHEELED)
def test_drawn_wheels_stand_and_do_not_slide_along_their_axle(name):
    """On the ground, at a radius's height; and J_y v = 0 of each axle's middle for all v that the
    constraints allow, so the picture has its wheels where the equations have them."""
    example = load_system(name)
    system = example.constrained.system
    q = np.array(ca.vertsplit(system.q), dtype=object)
    poses = [ca.vertcat(*(ca.SX(x) for x in shape.pose(q)[:3].ravel())) for shape in example.shapes
             if shape.kind == "cylinder" and shape.trail]
    moving = [ca.jacobian(pose, system.q) @ system.q_rate for pose in poses]
    at = ca.Function("wheels", [system.t, system.q, system.v, system.theta],
                     [ca.horzcat(*poses), ca.horzcat(*moving), example.constrained.distribution.A])
    rng, theta = np.random.default_rng(4), example.constrained.parameters
    for place in example.constrained.configurations[:3]:
        A = at(0.0, place, np.zeros(system.v.numel()), theta)[2].full()
        v = null_space(A) @ rng.normal(size=A.shape[1] - np.linalg.matrix_rank(A))
        where, rate, _ = (x.full() for x in at(0.0, place, v, theta))
        assert where.shape[1] >= 2
        for T, T_rate in zip(where.T.reshape(-1, 3, 4), rate.T.reshape(-1, 3, 4)):
            axle = T[:, 2]
            assert abs(axle[2]) < 1e-12 and 0.01 < T[2, 3] < 1.0
            np.testing.assert_allclose(axle @ T_rate[:, 3], 0.0, atol=1e-12)


@pytest.mark.parametrize("name", WHEELED)
def test_drawn_wheels_are_under_what_they_carry(name):
    """Each somewhere along the length of a box."""
    example = load_system(name)
    q = example.constrained.configurations[0]
    boxes = [(shape.pose(q), shape.size[0] / 2) for shape in example.shapes if shape.kind == "box"]
    wheels = [shape.pose(q)[:3, 3] for shape in example.shapes if shape.kind == "cylinder"]
    for wheel in wheels:
        assert any(abs(T[:3, 0] @ (wheel - T[:3, 3])) <= half for T, half in boxes)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_drawbars_reach_from_axles_to_the_hitches_ahead(n):
    """Each trailer has two wheels, a deck over its axle and a bar before it; the car has three
    wheels and a deck."""
    shapes = car_with_trailers.example(n).shapes
    kinds = [shape.kind[0] for shape in shapes]
    assert "".join(kinds) == "cccb" + "ccbb" * n
    q = np.random.default_rng(3).uniform(-0.8, 0.8, 4 + n)
    behind, place, heading = 0.0, q[:2], q[2]
    for i in range(n):
        T, length = shapes[7 + 4 * i].pose(q), shapes[7 + 4 * i].size[0]
        hitch = place - behind * np.array([np.cos(heading), np.sin(heading)])
        np.testing.assert_allclose(T[:2, 3] + length / 2 * T[:2, 0], hitch, atol=1e-14)
        wheels = [shape.pose(q)[:2, 3] for shape in shapes[4 + 4 * i:6 + 4 * i]]
        place, heading, behind = np.mean(wheels, axis=0), heading + q[4 + i], 0.35
        np.testing.assert_allclose(place + 1.2 * T[:2, 0], hitch, atol=1e-14)


def test_the_drawn_bars_of_a_rattleback_cross_in_the_middle_of_its_ellipsoid():
    """h above the centre of mass, and as high as the ellipsoid reaches downwards."""
    example = load_system("rattleback")
    for q in example.constrained.configurations:
        n = Rotation.from_quat(q[3:]).as_matrix()[2]
        for shape in example.shapes:
            T = shape.pose(q)
            np.testing.assert_allclose(T[:3, 3] - 0.01 * T[:3, 2], q[:3], atol=1e-15)
            assert T[2, 3] == pytest.approx(np.linalg.norm(n * [0.2, 0.03, 0.02]), rel=1e-12)
            np.testing.assert_allclose(T[2, :3], n, atol=1e-14)


def test_the_drawn_links_of_a_snake_lie_along_them_about_their_axles():
    """Nine tenths of the way to the joints, one link length l from each axle."""
    made = load_system("wheeled_snake").shapes
    q = np.array([0.3, -0.2, 0.4, 0.5, -0.6])
    axles = [np.mean([shape.pose(q)[:2, 3] for shape in made[k:k + 2]], axis=0) for k in (0, 3, 6)]
    decks = [made[k] for k in (2, 5, 8)]
    for deck, axle, heading in zip(decks, axles, q[2] + np.array([q[3], 0, q[4]])):
        pose = deck.pose(q)
        np.testing.assert_allclose(pose[:2, 3], axle, atol=1e-15)
        np.testing.assert_allclose(pose[:2, 0], [np.cos(heading), np.sin(heading)], atol=1e-15)
    for one, other, a, b in zip(axles, axles[1:], decks, decks[1:]):
        lengths = [deck.size[0] / 0.9 / 2 * deck.pose(q)[:2, 0] for deck in (a, b)]
        np.testing.assert_allclose(other - one, sum(lengths), atol=1e-15)


@pytest.mark.parametrize("name", ["ball_on_turntable", "chaplygin_ball", "chaplygin_sleigh",
                                  "rolling_ball", "vertical_disk"])
def test_a_picture_moves_as_its_place_does(name):
    """dp/d(x, y), of the middle p of each part: the unit matrix, or nothing for what stands. Bars
    through a ball stand out of it by a little."""
    example = load_system(name)
    system = example.constrained.system
    assert system.algebroid.q_names[:2] == ("x", "y")
    q = np.array(ca.vertsplit(system.q), dtype=object)
    for shape in example.shapes:
        middle = ca.vertcat(*(ca.SX(x) for x in shape.pose(q)[:3, 3]))
        moved = ca.Function("moved", [system.q], [ca.jacobian(middle, system.q)[:, :2]])
        moved = moved(example.constrained.configurations[0]).full()
        np.testing.assert_allclose(moved, np.eye(3, 2) if moved.any() else 0.0, atol=1e-15)
    balls = [shape.size[0] for shape in example.shapes if shape.kind == "sphere"]
    for shape in example.shapes if "ball" in name else ():
        assert shape.kind == "sphere" or balls[0] < max(shape.size) / 2 < 1.1 * balls[0]


@pytest.mark.parametrize("name", [
    "car_with_trailers", "carriage", "chaplygin_sleigh", "differential_drive", "elroys_beanie",
    "falling_disc", "roller_racer", "sled", "snakeboard", "torus_coin", "two_wheeled_pendulum",
    "wheeled_snake"])
def test_a_picture_moves_and_turns_with_the_plane(name):
    """Seen from x, y and heading, parts stand as they do at none of them: whatever the others."""
    example, rng = load_system(name), np.random.default_rng(5)
    for _ in range(2):
        q = rng.uniform(-0.8, 0.8, example.constrained.system.algebroid.nq)
        at_home = np.array([0.0, 0.0, 0.0, *q[3:]])
        for shape in example.shapes:
            np.testing.assert_allclose(shape.pose(q), pose((*q[:2], 0.0), q[2])
                                       @ shape.pose(at_home), rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ["falling_disc", "torus_coin"])
def test_a_disc_is_drawn_at_the_height_of_its_weight(name):
    """V = m g z of its middle, at any lean; its bar lies in it, and stands out of both faces."""
    example, rng = load_system(name), np.random.default_rng(7)
    system, theta = example.constrained.system, example.constrained.parameters
    weight = dict(zip(system.theta_names, theta))
    disc, bar = example.shapes
    for q in rng.uniform(-0.9, 0.9, (3, system.algebroid.nq)):
        height = float(system.energy_function(0.0, q, np.zeros(system.v.numel()), theta))
        assert disc.pose(q)[2, 3] == pytest.approx(height / (weight["m"] * weight["g"]), rel=1e-12)
        np.testing.assert_array_equal(disc.pose(q), bar.pose(q))
        # the axle leans, and does not turn with the spin
        assert abs(disc.pose(q)[2, 2]) == pytest.approx(abs(np.sin(q[3])), rel=1e-12)
    assert disc.size[1] < bar.size[2] < 1.5 * disc.size[1]
    assert name == "falling_disc" or disc.size[1] == pytest.approx(2 * weight["crown"])
    assert bar.size[1] < bar.size[0] / 4 < disc.size[0] / 2 and bar.size[0] < 2 * disc.size[0]


O = (0.0, 0.0, 0.0)


@pytest.mark.parametrize("name, places", [
    ("appell_hamel", lambda x, y, z: [(x, y, z), (x, y, 0)]),
    ("areal_velocity", lambda r, theta: [O, (r * np.cos(theta), r * np.sin(theta), 0)]),
    ("bead_parabola", lambda x1, x2: [(x1, 0, x2)]), ("bead_rod", lambda x, y, r: [O, (x, y, 0)]),
    ("benenti", lambda x1, y1, x2, y2: [(x1, y1, 0.05), (x2, y2, 0.05)]),
    ("charged_particle", lambda x, y, z: [(x, y, z)]),
    ("heisenberg_drift", lambda x, y, z: [(x, y, z)]),
    ("knife_edge_on_incline", lambda x, y, phi: [(x, y, 0.05)]),
    ("nonholonomic_particle", lambda x, y, z: [(x, y, z)]),
    ("two_constraints_spring", lambda x, y, z: [(x, y, z)]),
    ("veselova_sphere", lambda x, y, z: [(x, y, z)]),
    ("wong_particle", lambda x, y, z: [O, (x, y, z)])])
def test_particles_are_drawn_where_they_are(name, places):
    example = load_system(name)
    q = np.random.default_rng(6).uniform(0.2, 0.9, example.constrained.system.algebroid.nq)
    drawn = [shape.pose(q) for shape in example.shapes]
    np.testing.assert_allclose([T[:3, 3] for T in drawn], places(*q), rtol=0, atol=1e-15)
    turned = {"bead_rod": np.arctan2(q[1], q[0]), "knife_edge_on_incline": q[-1]}.get(name, 0.0)
    np.testing.assert_allclose(drawn[0][:2, 0], (np.cos(turned), np.sin(turned)), atol=1e-15)


def beside(q, ahead, left, height, turned=0.0):
    """Place and heading of a part, `ahead` and to the `left` of what q begins with."""
    c, s = np.cos(q[2]), np.sin(q[2])
    return (q[0] + ahead * c - left * s, q[1] + ahead * s + left * c, height), q[2] + turned


def truck(q, ahead, turned):
    """Two wheels of a snakeboard, and what holds them."""
    return [*[beside(q, ahead - left * np.sin(turned), left * np.cos(turned), 0.03, turned)
              for left in (-0.08, 0.08)], beside(q, ahead, 0, 0.05, turned)]


@pytest.mark.parametrize("name, parts", [
    ("carriage", lambda q: [beside(q, 0.12, 0, 0.1), beside(q, 0, -0.25, 0.1),
                            beside(q, 0, 0.25, 0.1)]),
    ("chaplygin_sleigh", lambda q: [beside(q, 0.25, 0, 0.075), beside(q, 0, 0, 0.0375)]),
    ("elroys_beanie", lambda q: [beside(q, 0, 0, 0.05), beside(q, 0, 0, 0.1, q[3])]),
    ("sled", lambda q: [beside(q, 0, 0, 0.1), beside(q, 0, 0, 0.05)]),
    ("snakeboard", lambda q: [beside(q, 0, 0, 0.09), beside(q, 0, 0, 0.14, q[3]),
                              *truck(q, 0.2, q[5]), *truck(q, -0.2, q[4])]),
    ("two_wheeled_pendulum", lambda q: [
        beside(q, 0, -0.07, 0.04), beside(q, 0, 0.07, 0.04),
        beside(q, 0.072 * np.sin(q[3]), 0, 0.04 + 0.072 * np.cos(q[3]))]),
    ("differential_drive", lambda q: [beside(q, 0, -0.22, 0.1), beside(q, 0, 0.22, 0.1),
                                      beside(q, 0.065, 0, 0.1)])])
def test_bodies_are_drawn_where_they_are(name, parts):
    """By the numbers of the example; headings are those of the parts' first axes."""
    example, rng = load_system(name), np.random.default_rng(8)
    for q in rng.uniform(-0.9, 0.9, (3, example.constrained.system.algebroid.nq)):
        for shape, (place, heading) in zip(example.shapes, parts(q)):
            T = shape.pose(q)
            np.testing.assert_allclose(T[:3, 3], place, rtol=0, atol=1e-14)
            np.testing.assert_allclose(T[:2, 0] / np.linalg.norm(T[:2, 0]),
                                       (np.cos(heading), np.sin(heading)), rtol=0, atol=1e-14)


def disc_below(axle, radius, crown=0.0):
    """From the middle of a disc to its contact."""
    down = axle[2] * axle - np.array([0, 0, 1.0])
    return (radius - crown) * down / np.linalg.norm(down) - [0, 0, crown]


@pytest.mark.parametrize("make, below", [
    (falling_disc.example, lambda axle: disc_below(axle, 0.3)),
    (vertical_disk.example, lambda axle: disc_below(axle, 0.4)),
    (torus_coin.example, lambda axle: disc_below(axle, 0.15, 0.04)),
    (chaplygin_ball.example, lambda axle: [0, 0, -0.12]),
    (unbalanced_ball.example, lambda axle: [0, 0, -0.1]),
    (rolling_ball.with_attitude, lambda axle: [0, 0, -0.1])])
def test_what_is_drawn_stands_on_the_plane_and_rolls(make, below):
    """The lowest point of the body, carried along with its picture, is on the plane and at rest."""
    example, rng = make(), np.random.default_rng(9)
    system, velocity = example.constrained.system, example.equations().velocity
    q = np.array(ca.vertsplit(system.q), dtype=object)
    for shape in example.shapes[:2]:
        T = ca.vertcat(*(ca.SX(x) for x in shape.pose(q)[:3].ravel()))
        at = ca.Function("at", [system.q, system.v], [T, ca.jtimes(T, system.q, system.q_rate)])
        for place in example.constrained.configurations[:3]:
            v = velocity(0, place, rng.normal(size=len(example.start["xi"])),
                         example.constrained.parameters)
            (R, p), (R_rate, p_rate) = ((M[:, :3], M[:, 3]) for M in (
                x.full().reshape(3, 4) for x in at(place, v)))
            arm = np.array(below(R[:, 2]))
            assert p[2] + arm[2] == pytest.approx(0.0, abs=1e-12)
            np.testing.assert_allclose(p_rate + R_rate @ R.T @ arm, 0.0, atol=1e-12)


STANDING = {"bead_parabola", "bead_rod", "elroys_beanie", "heavy_top", "rigid_body", "suslov",
            "two_constraints_spring", "veselova"}
BLADES = {"chaplygin_sleigh", "knife_edge_on_incline", "knife_edge_on_turning_incline", "sled"}
HANGS = ("appell_hamel", 0)          # above the wheel that leaves a trail


@pytest.mark.parametrize("name", system_names())
def test_parts_are_drawn_in_a_size_to_be_seen(name):
    """Of some millimetres to metres; wheels are flat, and so are decks above them."""
    shapes = load_system(name).shapes
    for shape in shapes:
        assert min(shape.size) > 0.004 and max(shape.size) <= 3.0, shape
        assert shape.kind != "cylinder" or shape.size[1] < shape.size[0]
        assert name not in WHEELED or shape.kind != "box" or shape.size[2] < min(shape.size[:2])
    assert not shapes or max(max(shape.size) for shape in shapes) > 0.03


@pytest.mark.parametrize("name", system_names())
def test_what_rolls_or_flies_about_leaves_a_trail_and_so_does_a_blade(name):
    example = load_system(name)
    here, there = example.constrained.configurations[:2]
    for i, shape in enumerate(example.shapes):
        goes = shape.kind != "box" and (shape.pose(here) != shape.pose(there)).any()
        blade = name in BLADES and i == len(example.shapes) - 1
        assert shape.trail == ((goes or blade) and name not in STANDING and (name, i) != HANGS)


@pytest.mark.parametrize("name, drawn", [
    ("falling_disc", ("r",)), ("torus_coin", ("r", "crown")), ("carriage", ("l", "a", "r")),
    ("veselova", ()), ("capri_kobayashi", ()), ("chaplygin_ball", ("r",)),
    ("differential_drive", ("radius", "half_track"))])
def test_a_picture_depends_on_lengths_alone(name, drawn):
    assert drawn_parameters(load_system(name)) == drawn


@pytest.mark.parametrize("factor", [0.6, 3.0])
@pytest.mark.parametrize("name", [
    "ball_on_turntable", "carriage", "chaplygin_ball", "chaplygin_sleigh", "falling_disc",
    "rattleback", "rolling_ball", "torus_coin", "two_wheeled_pendulum", "unbalanced_ball",
    "vertical_disk"])
def test_a_picture_grows_with_its_lengths(name, factor):
    """All that are drawn times a factor, and x, y, z too: sizes and places are so many times as
    large, and parts are turned as before."""
    example, rng = load_system(name), np.random.default_rng(10)
    system, theta = example.constrained.system, example.constrained.parameters
    lengths = dict(zip(system.theta_names, theta.tolist()))
    grown = example.make(**{each: factor * lengths[each] for each in drawn_parameters(example)})
    q = rng.uniform(-0.9, 0.9, system.algebroid.nq)
    far = q * [factor if each in ("x", "y", "z") else 1.0 for each in system.algebroid.q_names]
    assert len(grown.shapes) == len(example.shapes) > 0
    for small, large in zip(example.shapes, grown.shapes):
        np.testing.assert_allclose(large.size, factor * np.array(small.size), rtol=1e-13)
        here, there = small.pose(q), large.pose(far)
        np.testing.assert_allclose(there[:3, 3], factor * here[:3, 3], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(there[:3, :3], here[:3, :3], rtol=0, atol=1e-14)


def test_a_pose_is_of_numbers_or_of_symbols():
    x, turned = ca.SX.sym("x"), np.array([ca.SX(value) for value in np.eye(3).ravel()])
    for R, position in ((np.eye(3), (0.0, x, 0.0)), (turned.reshape(3, 3), (0.0, 1.0, 2.0))):
        T = placed(R, position)
        assert T.dtype == object and [float(ca.SX(value)) for value in T[3]] == [0, 0, 0, 1]
        assert ca.is_equal(ca.SX(T[1, 3]), ca.SX(position[1])) and float(ca.SX(T[1, 1])) == 1
    assert placed(np.eye(3), (1, 2.0, 3)).dtype == float
