"""What is round among vertices, and which of them hang together: against circles, areas and
unions that are formed here."""

from __future__ import annotations

from math import pi
from pathlib import Path

import numpy as np
import pytest
from placed import laid, shape
from support import joint, link

from nhmech.urdf.layout import Joint, Layout
from nhmech.urdf.mesh_files import Mesh
from nhmech.urdf.wheels.revolution import find_solid
from nhmech.urdf.wheels.rollers import find_rollers, find_tyre


# -- surfaces and parts ----------------------------------------------------------------------------
def joined(places: np.ndarray, faces: np.ndarray) -> set[frozenset[int]]:
    """Parts by union of sets: corners of one triangle, and vertices at one place."""
    owner = [*range(len(places))]

    def root(k: int) -> int:
        while owner[k] != k:
            k = owner[k]
        return k
    first: dict[tuple, int] = {}
    pairs = [(k, first.setdefault(tuple(place), k)) for k, place in enumerate(places)]
    for one, other in [*pairs, *((face[0], face[k]) for face in faces for k in (1, 2))]:
        owner[root(one)] = root(other)
    return {frozenset(k for k in range(len(places)) if root(k) == top)
            for top in {*map(root, range(len(places)))}}


@pytest.mark.parametrize("seed", range(6))
def test_parts_of_a_mesh_are_unions_of_triangles_that_share_places(seed):
    """Places of a lattice, which many vertices have, so that parts are large and small."""
    rng = np.random.default_rng(seed)
    lattice = rng.integers(0, 6, size=(40, 3))
    faces = rng.permutation(40)[:39].reshape(13, 3)
    stretch = rng.uniform(0.5, 2.0, size=3)
    found = Mesh(lattice * stretch + rng.normal(size=3), faces).parts
    assert {frozenset(part.tolist()) for part in found} == joined(lattice, faces)


@pytest.mark.parametrize("first, second, count", [
    ((0, 0.001, 0), (0, 0, 0.999), 2), ((0, 0, 0), (0, 0, 0.0006), 2), ((0, 0, 0), (0, 0, 4e-4), 1),
    ((0, 0, 0), (6e-4, 0, 0), 2), ((0, 0, 0), (0, 4e-4, 4e-4), 1)])
def test_places_are_told_apart_along_every_axis(first, second, count):
    """By a grid of a thousandth of the longest side, of triangles that are elsewhere."""
    faces = [first, (1, 1, 1), (0.5, 0.7, 0.3), second, (0.2, 0.6, 0.6), (0.3, 0.1, 0.8)]
    found = Mesh(np.array(faces) + (5, 0, 0), np.array([(0, 1, 2), (3, 4, 5)])).parts
    assert len(found) == count


def test_the_surface_around_a_vertex_is_a_third_of_its_triangles():
    """By Heron's formula."""
    rng = np.random.default_rng(7)
    vertices, faces = rng.normal(size=(9, 3)), np.array([rng.permutation(9)[:3] for _ in range(7)])
    expected = np.zeros(9)
    for face in faces:
        a, b, c = (np.linalg.norm(vertices[face[k]] - vertices[face[k - 1]]) for k in range(3))
        s = (a + b + c) / 2
        expected[face] += np.sqrt(s * (s - a) * (s - b) * (s - c)) / 3
    np.testing.assert_allclose(Mesh(vertices, faces).areas(), expected, rtol=1e-9)


# -- circles beside their axle ---------------------------------------------------------------------
AXLE = np.array([0.6, 0.0, 0.8])
ACROSS = np.array([[0.8, 0.0, -0.6], [0.0, 1.0, 0.0]])


def placed(flat: np.ndarray, along: float = 0.0) -> np.ndarray:
    """Points (n, 2) of the plane across the axle, so far along it."""
    return flat @ ACROSS + along * AXLE


def circle(radius=1.0, centre=(0.0, 0.0), count=360) -> np.ndarray:
    a = 2 * pi * (np.arange(count) + 0.5) / count
    return radius * np.column_stack([np.cos(a), np.sin(a)]) + centre


@pytest.mark.parametrize("lumps", [0, 1, 2])
@pytest.mark.parametrize("centre", [(0.02, 0.01), (-0.012, 0.014), (0.0, -0.022)])
def test_a_circle_beside_the_axle_has_its_own_radius_and_its_distance(centre, lumps):
    """As if the wheel turned about its own middle: the radius is told to where it reaches farthest
    from the axle, and what sticks out in one place or two moves neither."""
    out = np.array([(1.035, 0.0), (0.0, -1.03)])[:lumps] + centre
    cloud = np.concatenate([placed(np.concatenate([circle(centre=centre), out]), y)
                            for y in (0.3, 0.5)])
    solid = find_solid(cloud, AXLE)
    assert solid.radius == pytest.approx(1 + np.hypot(*centre), rel=1e-9)
    assert (solid.along, solid.width) == pytest.approx((0.4, 0.2), rel=1e-9)


@pytest.mark.parametrize("side", range(4))
def test_a_tread_that_is_rough_within_a_hundredth_is_where_its_axle_is(side):
    """On a third of it lugs stand out by four thousandths: in more than a tenth of the sectors."""
    a = 2 * pi * (np.arange(144) + 0.5) / 144
    rough = 1 + 0.004 * (np.abs((a - side * pi / 2 + pi) % (2 * pi) - pi) < pi / 3)
    flat = rough[:, None] * np.column_stack([np.cos(a), np.sin(a)])
    assert find_solid(placed(flat), AXLE).radius == pytest.approx(1.004, rel=1e-12)
    # what stands out farther is no tread, in however many sectors
    out = 1.5 * np.column_stack([np.cos(a), np.sin(a)])[3::36]
    assert find_solid(placed(np.concatenate([circle(), out])), AXLE).radius == pytest.approx(1.0)
    # nor are points below the outermost ones
    inner = np.concatenate([circle(), 0.96 * circle()])
    assert find_solid(placed(inner), AXLE).radius == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("off, is_found", [(0.0255, True), (0.0258, False)])
def test_eight_points_beside_the_axle_are_a_circle_within_a_twentieth(off, is_found):
    """The nearest is at 1 - off, of more than 0.95 (1 + off)."""
    a = np.arange(8) * pi / 4
    solid = find_solid(placed(np.column_stack([np.cos(a) + off, np.sin(a)])), AXLE)
    assert (solid is not None) == is_found
    assert not is_found or solid.radius == pytest.approx(1 + off, rel=1e-9)


@pytest.mark.parametrize("far, is_found", [(1 / 0.01995, True), (1 / 0.0197, False)])
def test_a_circle_is_looked_for_down_to_a_fiftieth_of_the_largest_distance(far, is_found):
    cloud = placed(np.concatenate([circle(), [(far, 0.0)]]))
    assert (find_solid(cloud, AXLE) is not None) == is_found


@pytest.mark.parametrize("count, is_found", [(120, True), (121, False)])
def test_a_quarter_of_the_surface_may_stick_out(count, is_found):
    """Of 360 on the circle and so many that stand 1.5 out, as many in number."""
    cloud = placed(np.concatenate([circle(), np.tile([(1.5, 0.0)], (count, 1))]))
    assert (find_solid(cloud, AXLE) is not None) == is_found


def test_a_tenth_of_the_sectors_counts_for_neither_radius_nor_width():
    """One point of each end in each of 24: quantiles of what these reach."""
    rng = np.random.default_rng(4)
    radii, low, high = (rng.permutation(24) * step for step in (4e-4, -0.01, 0.02))
    a = (np.arange(24) + 0.37) * pi / 12
    flat = (1 + radii)[:, None] * np.column_stack([np.cos(a), np.sin(a)])
    ends = [point @ ACROSS + y * AXLE for side in (low - 0.1, high) for point, y in zip(flat, side)]
    solid = find_solid(np.array(ends), AXLE)
    assert solid.radius == pytest.approx(1 + 4e-4 * 20.7, rel=1e-9)
    first, last = -0.1 - 0.01 * 20.7, 0.02 * 20.7
    assert (solid.along, solid.width) == pytest.approx(((first + last) / 2, last - first), rel=1e-9)


@pytest.mark.parametrize("far, is_round", [(1.0, True), (1.009, True), (1.011, False)])
def test_eight_points_are_a_circle_of_which_one_may_be_a_little_farther(far, is_round):
    flat = circle(count=8)
    flat[3] *= far
    assert (find_solid(placed(flat), AXLE) is not None) == is_round
    assert find_solid(placed(flat[:1]), AXLE) is None


@pytest.mark.parametrize("which", range(8))
def test_of_eight_points_beside_the_axle_one_that_is_farther_does_not_move_the_centre(which):
    """The seven others are on a circle; of what all reach, nine tenths count: three tenths of the
    way from the seventh to the last."""
    flat = circle(count=8)
    flat[which] *= 1.006
    solid = find_solid(placed(flat + (0.018, 0.01)), AXLE)
    assert solid.radius == pytest.approx(1 + 0.3 * 0.006 + np.hypot(0.018, 0.01), rel=1e-9)


@pytest.mark.parametrize("turn", np.arange(6) * pi / 3)
def test_a_circle_with_a_gap_beside_its_axle_does_not_count_its_hub(turn):
    """In a gap of three sectors the hub is the outermost part."""
    a = np.arange(360) * pi / 180 + turn
    radii = np.where(np.arange(360) < 45, 0.5, 1.0)
    flat = np.column_stack([radii * np.cos(a), radii * np.sin(a)])
    solid = find_solid(placed(flat + (0.015, 0.01)), AXLE)
    assert solid.radius == pytest.approx(1 + np.hypot(0.015, 0.01), rel=1e-9)


@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0])
def test_nothing_is_round_that_lies_on_the_axle_or_is_a_crank(size):
    assert find_solid(np.outer(np.linspace(0, 1, 20), AXLE) * 0.0, AXLE) is None
    assert find_solid(size * placed(circle(centre=(0.035, 0.0))), AXLE) is None
    assert find_solid(size * placed(circle()), AXLE).radius == pytest.approx(size, rel=1e-9)


# -- rollers and treads, each a part of a mesh -----------------------------------------------------
Y = np.array([0.0, 1.0, 0.0])


def write(file: Path, parts) -> str:
    """A visual whose mesh has these clouds (n, 3), each connected in itself alone."""
    faces = [cloud[[0, k, k + 1]] for cloud in map(np.asarray, parts)
             for k in range(1, len(cloud) - 1)]
    made = np.zeros(len(faces), [("n", "<f4", 3), ("c", "<f4", (3, 3)), ("m", "<u2")])
    made["c"] = faces
    file.write_bytes(bytes(80) + len(made).to_bytes(4, "little") + made.tobytes())
    return shape("mesh", tag="visual", filename=file)


def on_joint(body: str) -> tuple[Layout, Joint]:
    """A wheel with a hub that is no mesh, and one that is missing."""
    hub = shape("box", size="0.1 0.1 0.1") + shape("mesh", filename="nowhere.stl")
    layout = laid(link("base"), link("w", body=body + hub + hub.replace("collision", "visual")),
                  joint("j", "base", "w", (1, 2, 3)))
    return layout, layout.joints["j"]


def roller(k: int, far=0.08, half=0.02, long=2.0, thin=1.0, angle=0.7, lean=0.0, count=6):
    """The ends of three axes: `half` outward, as long as that times `thin` across and times `long`
    along the roller, which is turned from the axle and points outward by so much."""
    a = 2 * pi * k / count + 0.1
    outward = np.array([np.sin(a), 0, np.cos(a)])
    forward = np.cross(Y, -outward)
    way = np.cos(angle) * Y + np.sin(angle) * forward
    across = np.cross(way, outward)
    along = np.sqrt(1 - lean ** 2) * way + lean * outward
    up = np.cross(across, along)
    axes = half * np.array([up, thin * across, long * along])
    return far * outward + 0.013 * Y + np.concatenate([axes, -axes])


@pytest.mark.parametrize("first, count", [
    (dict(), 6), (dict(long=1 / 0.749), 6), (dict(long=1 / 0.751), 5),
    (dict(thin=0.801), 6), (dict(thin=0.799), 5), (dict(lean=0.199), 6), (dict(lean=0.201), 5),
    (dict(half=0.0151), 6), (dict(half=0.0149), 5),
    (dict(far=0.0771, half=0.019), 6), (dict(far=0.0769, half=0.019), 5),
    (dict(far=0.0829, half=0.017), 6), (dict(far=0.0831, half=0.0169), 5),
    (dict(angle=0.7 + np.radians(5.95)), 6), (dict(angle=0.7 + np.radians(6.05)), 5),
    (dict(angle=0.7 - np.radians(6.05)), 5)])
def test_rollers_of_a_mesh_are_slender_round_and_alike(tmp_path, first, count):
    """One of six is different: three quarters as wide as it is long, four fifths as thick as wide,
    a fifth out of the way around, short of the radius by a twentieth, three hundredths of it nearer
    to the axle, or turned by five degrees from the mean of all."""
    parts = [roller(k, **(first if k == 0 else {})) for k in range(6)]
    layout, one = on_joint(write(tmp_path / "w.stl", parts))
    found = find_rollers(layout, one)
    assert found.source == f"{count} rollers in the mesh 'w.stl'" and not found.turn
    angles = np.array([0.7] * 5 + [first.get("angle", 0.7)] * (count == 6))
    assert found.angle == pytest.approx(np.angle(np.exp(2j * angles).sum()) / 2, abs=1e-5)
    assert find_tyre(layout, one) is None


@pytest.mark.parametrize("count, points, is_one", [(5, 6, True), (4, 6, False), (5, 5, False)])
def test_five_rollers_of_six_points_are_enough(tmp_path, count, points, is_one):
    parts = [roller(k, count=count)[:points] for k in range(count)]
    layout, one = on_joint(write(tmp_path / "w.stl", parts))
    assert (find_rollers(layout, one) is not None) == is_one


@pytest.mark.parametrize("far, is_one", [(0.1999, False), (0.2001, True)])
def test_what_is_about_the_axle_is_no_roller(tmp_path, far, is_one):
    """Up to a fifth of the radius, 1, beside it."""
    parts = [roller(k, far=far, half=1 - far, long=1.4, angle=0.0) for k in range(6)]
    layout, one = on_joint(write(tmp_path / "w.stl", parts))
    assert (find_rollers(layout, one) is not None) == is_one


def test_a_ring_of_rollers_across_the_axle_has_one_angle(tmp_path):
    """Those at -90 and at 90 degrees are one line."""
    parts = [roller(k, angle=pi / 2 + (0.01 if k % 2 else -0.01)) for k in range(6)]
    found = find_rollers(*on_joint(write(tmp_path / "w.stl", parts)))
    assert abs(found.angle) == pytest.approx(pi / 2, abs=1e-6) and not found.is_oblique


def tread(points: int, step=0.02, reach=1.0, middle=0.0) -> list[np.ndarray]:
    """So many points of an outline along the axle, each at 12 angles, beside it by `middle`, and a
    stud that reaches farther if it does not reach to 1."""
    ring = [(reach * np.sin(a) + middle, step * k, reach * np.cos(a))
            for a in pi / 6 * np.arange(12) for k in range(points)]
    return [np.array(ring), np.array([(np.sin(a), 0.0, np.cos(a)) for a in (1e-3, 2e-3, 3e-3)])]


@pytest.mark.parametrize("words, is_tyre", [
    (dict(points=13), True), (dict(points=12), False), (dict(points=30, step=0.008), True),
    (dict(points=29, step=0.008), False), (dict(points=13, reach=0.951), True),
    (dict(points=13, reach=0.949), False), (dict(points=14, middle=0.249), True),
    (dict(points=14, middle=0.251), False)])
def test_a_tread_reaches_the_radius_and_has_an_outline_of_more_than_a_drum(tmp_path, words,
                                                                          is_tyre):
    """More than twelve points of a grid of a fiftieth of the radius; its middle is beside the axle
    by less than a fifth of the radius, which is 1 + `middle`."""
    layout, one = on_joint(write(tmp_path / "w.stl", tread(**words)))
    assert find_tyre(layout, one) == ("w.stl" if is_tyre else None)
