"""Paths by arc length: unit speed, curvature, the nearest point, Dubins' words, splines."""

import json
from math import pi, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import gamma
from support import shipped

from nhmech import InputError
from nhmech.control.dubins import dubins, dubins_words
from nhmech.control.path import Arcs, relative_pose
from nhmech.control.path_library import (
    PATHS,
    Parametric,
    circle,
    lane_change,
    line,
    make_path,
    spline,
)
from nhmech.control.path_reference import PathError, SampledPath, path_of, path_reference

GATES = [(0.0, 0.0), (2.0, 1.0), (3.0, -1.0), (5.0, 0.5), (4.0, 3.0)]
ALL = {name: make_path(name, 1.3) for name in PATHS} | {
    "closed spline": spline(GATES, closed=True),
    "placed": make_path("figure8", 2.0).place(1.0, -2.0, 2.5),
    "right circle": circle(0.7, left=False),
}
# where curvature jumps
JOINTS = {"dubins": np.cumsum([length for _, length in make_path("dubins", 1.3).arcs])}
# differences of eighth order
CENTRAL = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])


def slope(function, s, h):
    return sum(c * (function(s + (i + 1) * h) - function(s - (i + 1) * h))
               for i, c in enumerate(CENTRAL)) / h


def inner_points(name, count=200, seed=3):
    """Random s, away from the ends and from what is not smooth: waypoints, joints of arcs."""
    path, rng = ALL[name], np.random.default_rng(seed)
    h = 1e-4 * path.length
    s = rng.uniform(8 * h, path.length - 8 * h, count)
    rough = list(JOINTS.get(name, ()))
    if name == "slalom":
        rough += [path.nearest(p) for p in 1.3 * np.array([(3, 1), (6, -1), (9, 1), (12, -1)])]
    if name == "closed spline":
        rough += [path.nearest(p) for p in GATES]
    if name == "lane_change":
        rough += [path.nearest((x, 0.0 if x < 3 * 1.3 else 1.3)) for x in (2 * 1.3, 8 * 1.3)]
    return s[np.all(np.abs(s[:, None] - np.array([-1.0, *rough])) > 5 * h, axis=1)], h


@pytest.mark.parametrize("name", ALL)
def test_arc_length_heading_and_curvature(name):
    """|dp/ds| = 1, dp/ds along the heading, dheading/ds = curvature."""
    path = ALL[name]
    s, h = inner_points(name)
    tangent = slope(path.point, s, h)
    assert len(s) > 100
    assert np.abs(np.hypot(*tangent.T) - 1).max() <= 1e-9
    assert np.abs(tangent - np.stack([np.cos(path.heading(s)), np.sin(path.heading(s))],
                                     axis=-1)).max() <= 1e-9
    assert np.abs(slope(path.heading, s, h) - path.curvature(s)).max() <= 1e-8


@pytest.mark.parametrize("name", ALL)
def test_one_s_is_many(name):
    """A number and an array give the same; a closed path repeats, an open one goes on straight."""
    path = ALL[name]
    s = np.linspace(0.05, 0.95, 7) * path.length
    assert np.allclose(path.point(s), [path.point(float(x)) for x in s], rtol=0, atol=1e-13)
    if path.closed:
        assert np.allclose(path.point(s + path.length), path.point(s), rtol=0,
                           atol=1e-12 * path.length)
        assert np.allclose(np.exp(1j * path.heading(s + 3 * path.length)),
                           np.exp(1j * path.heading(s)), rtol=0, atol=1e-11)
        seam = slope(path.heading, np.array([path.length]), 1e-3)
        # no jump of 2 pi
        assert np.allclose(seam, path.curvature(0.0), rtol=0, atol=1e-3)
    else:
        x, y, heading = path.end()
        assert np.allclose(path.point(path.length + 2.0),
                           (x + 2 * np.cos(heading), y + 2 * np.sin(heading)), rtol=0, atol=1e-12)
        x, y, heading = path.start()
        assert np.allclose(path.point(-2.0), (x - 2 * np.cos(heading), y - 2 * np.sin(heading)),
                           rtol=0, atol=1e-12)
        assert path.curvature(path.length + 0.1) == path.curvature(-0.1) == 0


@pytest.mark.parametrize("name", ALL)
def test_nearest(name):
    """From a point beside the path, back to where it was taken;
    with `near` on the right branch, and for many points at once."""
    path, rng = ALL[name], np.random.default_rng(5)
    s = rng.uniform(0.02, 0.98, 40) * path.length
    side = rng.uniform(-0.2, 0.2, 40)
    normal = np.stack([-np.sin(path.heading(s)), np.cos(path.heading(s))], axis=-1)
    points = path.point(s) + side[:, None] * normal
    near = path.nearest(points, near=s + rng.uniform(-0.01, 0.01, 40) * path.length)
    assert np.abs(near - s).max() <= 1e-9
    found = path.nearest(points)
    distance = np.linalg.norm(path.point(found) - points, axis=1)
    dense = path.point(np.linspace(0, path.length, 20001))
    # at a crossing another branch may be nearer
    assert np.all(distance <= np.abs(side) + 1e-12)
    assert np.all(distance <= [np.linalg.norm(dense - p, axis=1).min() + 1e-9 for p in points])
    assert [path.nearest(p, near=float(x)) for p, x in zip(points, s)] == pytest.approx(s,
                                                                                        abs=1e-11)
    assert [path.nearest(p) for p in points] == pytest.approx(found, abs=1e-11)


@pytest.mark.parametrize("jump", [0.0, 0.3])
@pytest.mark.parametrize("name", ALL)
def test_a_trace_is_what_a_follower_finds(name, jump):
    """Beside the path, over two laps of a closed one, also where the points leap ahead, it is
    `follow` from each point to the next."""
    path, n = ALL[name], 300
    s = np.linspace(0.0, (2.2 if path.closed else 0.6) * path.length, n)
    s[n // 2 + 5:] += jump * path.length
    heading = path.heading(s)
    side = 0.05 * path.length / 2 / pi * np.sin(np.arange(n) / 9)
    points = path.point(s) + side[:, None] * np.stack([-np.sin(heading), np.cos(heading)], axis=-1)
    expected = [float(path.entry(points[0], heading[0], 0.5))]
    for point in points[1:]:
        expected.append(float(path.nearest(point, near=expected[-1])))
    np.testing.assert_allclose(path.trace(points, heading, 0.5), expected, rtol=0,
                               atol=1e-9 * path.length)
    assert jump or path.closed == (expected[-1] > path.length)


@pytest.mark.parametrize("side", [-0.1, -0.01, 0.01, 0.1])
def test_entry_at_a_crossing_is_on_the_branch_that_runs_its_way(side):
    """Beside the crossing of a lemniscate, at right angles, the nearest point is on the other
    branch."""
    path = ALL["placed"]
    s = np.array([0.0, path.length / 2, path.length / 2 - 0.05])
    heading = path.heading(s)
    points = path.point(s) + side * np.stack([-np.sin(heading), np.cos(heading)], axis=-1)
    other = path.nearest(points[0])
    assert (np.linalg.norm(path.point(other) - points[0]) < 0.1 * abs(side)
            and abs(np.cos(path.heading(other) - heading[0])) < 0.3)
    for looks in (heading, heading + 0.5, heading - 0.5 + 2 * np.pi):
        found = path.entry(points, looks, 0.5)
        assert np.abs(np.remainder(found - s + 1.0, path.length) - 1.0).max() <= 1e-9
        assert [float(path.entry(p, h, 0.5))
                for p, h in zip(points, looks)] == pytest.approx(list(found), abs=1e-11)
    with pytest.raises(InputError, match="heading"):
        path.entry(points[0], np.nan, 0.5)


@pytest.mark.parametrize("unit", [0.01, 0.5, 4.0])
def test_an_entry_is_the_best_of_all_places(unit):
    """The least |p(s) - p|^2 + unit^2 |t(s) - t|^2, and from there the nearest point."""
    path, rng = ALL["placed"], np.random.default_rng(12)
    s = np.linspace(0, path.length, 20001)[:-1]
    p, tangent = path.point(s), np.exp(1j * path.heading(s))
    for _ in range(12):
        point, heading = rng.uniform((-1.5, -4.0), (3.5, 0.0)), rng.uniform(-pi, pi)
        cost = (np.sum((p - point) ** 2, axis=1)
                + unit ** 2 * np.abs(tangent - np.exp(1j * heading)) ** 2)
        best = path.nearest(point, near=s[np.argmin(cost)])
        found = float(path.entry(point, heading, unit))
        assert np.remainder(found - best + 1.0, path.length) == pytest.approx(1.0, abs=1e-11)


@pytest.mark.parametrize("unit, heading", [(0.7, 0.3), (0.7, -2.0), (0.3, 0.3)])
def test_entry_weighs_a_turn_against_a_way_aside(unit, heading):
    """Between the straights of a hairpin, 2 R apart: both cost the same where it is R + unit^2
    cos(heading) / R from the first."""
    R = 1.3
    path = Arcs([(0.0, 10.0), (1 / R, pi * R), (0.0, 10.0)])
    for share, s in ((0.99, 5.0), (1.01, 15.0 + pi * R)):
        way = (5.0, R + share * unit ** 2 * np.cos(heading) / R)
        if np.cos(heading) < 0:
            s = 20.0 + pi * R - s
        assert path.entry(way, heading, unit) == pytest.approx(s, abs=1e-11)


def test_a_closed_path_of_several_arcs_turns_on_from_lap_to_lap():
    """A running track: once round to the left in a lap, twice straight ahead."""
    track = Arcs([(0.0, 2.0), (1.0, pi), (0.0, 2.0), (1.0, pi)], (0.3, -0.2, 0.7), closed=True)
    assert track.length == pytest.approx(4 + 2 * pi, rel=1e-15)
    for s, heading, bend in ((1.0, 0.7, 0.0), (3.0, 1.7, 1.0), (3 + pi, 0.7 + pi, 0.0),
                             (5 + pi, 1.7 + pi, 1.0)):
        for lap in (-2, 0, 1, 3):
            x, y, found, curvature = track.station(s + lap * track.length)
            assert (found, curvature) == pytest.approx((heading + 2 * pi * lap, bend), abs=1e-12)
            assert (x, y) == pytest.approx(track.station(s)[:2], abs=1e-12)


def test_from_a_frame_a_relative_pose_leads_back():
    """Numbers and arrays of them; the turn is the one below half a turn."""
    rng = np.random.default_rng(2)
    poses, frames = rng.uniform(-4, 4, (2, 3, 30))
    x, y, turn = relative_pose(tuple(poses), tuple(frames))
    back = (frames[0] + 1j * frames[1]) + np.exp(1j * frames[2]) * (x + 1j * y)
    np.testing.assert_allclose(back, poses[0] + 1j * poses[1], rtol=0, atol=1e-14)
    np.testing.assert_allclose(np.exp(1j * (frames[2] + turn)), np.exp(1j * poses[2]), rtol=1e-11,
                               atol=1e-14)
    assert np.all((turn >= -pi) & (turn < pi))
    for k in range(30):
        one = relative_pose(tuple(map(float, poses[:, k])), tuple(map(float, frames[:, k])))
        assert one == pytest.approx((x[k], y[k], turn[k]), abs=1e-14)


def test_an_open_path_goes_on_straight_from_its_very_ends():
    """Also at one metre beyond an end, whatever the units."""
    path = make_path("dubins", 1.3)
    (x, y, heading), (x0, y0, heading0) = path.end(), path.start()
    for beyond in (1.0, 1e-3, 1e3):
        assert path.station(path.length + beyond) == pytest.approx(
            (x + beyond * np.cos(heading), y + beyond * np.sin(heading), heading, 0.0), abs=1e-11)
        assert path.station(-beyond) == pytest.approx(
            (x0 - beyond * np.cos(heading0), y0 - beyond * np.sin(heading0), heading0, 0.0),
            abs=1e-11)
    assert path.curvature(0.0) == path.curvature(-0.0) == 1 / 1.3


@pytest.mark.parametrize("radius", [1.0, 20.0])
@pytest.mark.parametrize("away", [0.85, 0.3, -3.0])
def test_nearest_to_a_circle_is_on_the_ray_from_its_centre(radius, away):
    """Near the centre too, where a Newton step would lead far away; from a `near` a good way
    off s counts on, and it is never a lap too far."""
    path, angle = circle(radius), np.linspace(0.3, 5.9, 9)
    points = radius * np.stack([(1 - away) * np.sin(angle), 1 - (1 - away) * np.cos(angle)], -1)
    for off in (0.0, 0.02, -0.3, 1.0, -1.2):
        found = path.nearest(points, near=radius * (angle + off + 2 * pi))
        np.testing.assert_allclose(found, radius * (angle + 2 * pi), rtol=0, atol=1e-9 * radius)
        assert [path.nearest(p, near=radius * (a + off)) for p, a in zip(points, angle)
                ] == pytest.approx(radius * angle, abs=1e-9 * radius)
    np.testing.assert_allclose(path.nearest(points), radius * angle, rtol=0, atol=1e-9 * radius)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("name", ["circle", "slalom", "figure8", "hairpins"])
def test_nearest_close_to_a_centre_of_curvature(name, size):
    """No place of a dense series is nearer, however close the point is to where all places of an
    arc are nearest; alone and among others."""
    bends = [(0.0, 0.4), (60.0, 3.0 / 60), (0.0, 0.3), (-90.0, 3.1 / 90), (0.0, 0.4), (1.0, 2.0)]
    path = (make_path(name, size) if name in PATHS
            else Arcs([(k / size, d * size) for k, d in bends]))
    rng = np.random.default_rng(4)
    s = rng.uniform(0.01, 0.99, 60) * path.length
    s = s[path.curvature(s) != 0]
    beside = ((1 + rng.choice([-1, 1], len(s)) * 10.0 ** rng.uniform(-9, -0.5, len(s)))
              / path.curvature(s))
    heading = path.heading(s)
    points = path.point(s) + beside[:, None] * np.stack([-np.sin(heading), np.cos(heading)], -1)
    found = path.nearest(points)
    near = np.linalg.norm(path.point(found) - points, axis=1)
    dense = path.point(np.linspace(0, path.length, 5001))
    assert np.all(near <= [np.linalg.norm(dense - p, axis=1).min() + 1e-12 * path.length
                           for p in points])
    inside = (path.length * 1e-9 < found) & (found < path.length * (1 - 1e-9))
    tangent = np.stack([np.cos(path.heading(found)), np.sin(path.heading(found))], -1)
    along = np.sum((points - path.point(found)) * tangent, axis=1)[inside | path.closed]
    assert len(along) > 15 and np.abs(along).max() <= 1e-11 * path.length
    alone = [np.linalg.norm(path.point(path.nearest(p)) - p) for p in points]
    np.testing.assert_allclose(alone, near, rtol=0, atol=1e-12 * path.length)


@pytest.mark.parametrize("name", ["hairpins", "closed spline"])
def test_a_point_alone_has_the_nearest_place_that_it_has_among_others(name):
    """From a `near` some way off too, where the path turns sharply in between and a Newton step
    leads too far: at right angles to the path, but at its ends."""
    bends = [(0.0, 0.4), (60.0, 3.0 / 60), (0.0, 0.3), (-90.0, 3.1 / 90), (0.0, 0.4), (1.0, 2.0)]
    path, rng = ALL.get(name) or Arcs(bends), np.random.default_rng(1)
    s = rng.uniform(0.1, 0.9, 400) * path.length
    near = s + rng.uniform(-0.1, 0.1, 400) * path.length
    points = path.point(s) + path.length / 10 * rng.normal(size=(400, 2))
    alone = [path.nearest(p, near=float(x)) for p, x in zip(points, near)]
    found = path.nearest(points, near=near)
    np.testing.assert_allclose(alone, found, rtol=0, atol=1e-9 * path.length)
    tangent = np.stack([np.cos(path.heading(found)), np.sin(path.heading(found))], -1)
    along = np.sum((points - path.point(found)) * tangent, axis=1)
    inside = (path.length * 1e-9 < found) & (found < path.length * (1 - 1e-9))
    assert np.abs(along[inside | path.closed]).max() <= 1e-9 * path.length


def test_at_the_centre_of_an_arc_every_place_is_nearest():
    for path, centre in ((circle(2.0), (0.0, 2.0)), (Arcs([(-0.5, 1.0)]), (0.0, -2.0))):
        for s in (path.nearest(centre), path.nearest(centre, near=0.3),
                  *path.nearest([centre, centre])):
            assert 0 <= s <= path.length
            assert np.linalg.norm(path.point(s) - centre) == pytest.approx(2.0, abs=1e-14)


def test_nearest_stays_on_an_open_path():
    path = lane_change(4.0, 1.0, before=1.0, after=2.0)
    beyond = np.array([(-3.0, 0.5), (20.0, 1.0)])
    assert path.nearest(beyond) == pytest.approx([0.0, path.length], abs=1e-12)
    assert path.nearest(beyond,
                        near=np.array([0.5, 6.0])) == pytest.approx([0.0, path.length], abs=1e-12)
    assert path.nearest(beyond[0],
                        near=0.5) == 0.0 and path.nearest(beyond[1], near=6.0) == path.length


@pytest.mark.parametrize("count", [1, 2, 17])
def test_a_short_trace_is_one_too(count):
    path = ALL["placed"]
    s = 0.3 + 0.02 * np.arange(count)
    np.testing.assert_allclose(path.trace(path.point(s), path.heading(s), 0.5), s, rtol=0,
                               atol=1e-12)


def test_points_of_a_square_of_arc_lengths_are_not_turned():
    s = np.array([[0.1, 0.2], [0.3, 0.4]])
    for path in ALL.values():
        assert np.array_equal(path.point(s), path.point(s.ravel()).reshape(2, 2, 2))
        assert path.point(np.zeros((0, 3))).shape == (0, 3, 2)


def test_figure_eight_closed_forms():
    """Lemniscate of half-width a: length Gamma(1/4)^2 a / sqrt(2 pi), crossing at right angles,
    curvature 3 r / a^2."""
    a = 2.7
    path = make_path("figure8", a)
    assert path.length == pytest.approx(gamma(0.25) ** 2 * a / sqrt(2 * pi), rel=1e-13)
    s = np.linspace(0, path.length, 97)
    x, y = path.point(s).T
    assert np.abs((x * x + y * y) ** 2 - a * a * (x * x - y * y)).max() <= 1e-12 * a ** 4
    assert np.allclose(np.abs(path.curvature(s)), 3 * np.hypot(x, y) / a ** 2, rtol=0, atol=1e-12)
    assert np.allclose(path.point(path.length / 4), (a, 0), rtol=0, atol=1e-12)
    assert float(path.heading(path.length / 2) - path.heading(0.0)) == pytest.approx(
        -3 * pi / 2, abs=1e-12
    )


def test_length_of_a_known_curve():
    """Arc length of a parametric curve, a parabola: y = x^2 on (-1, 1)."""
    def derivatives(u):
        return (np.stack([u, u * u], -1), np.stack([np.ones_like(u), 2 * u], -1),
                np.stack([np.zeros_like(u), np.full_like(u, 2.0)], -1))

    parabola = Parametric(derivatives, (-1.0, 1.0))
    assert parabola.length == pytest.approx(sqrt(5) + np.arcsinh(2) / 2, rel=1e-13, abs=0)
    assert parabola.curvature(parabola.length / 2) == pytest.approx(2.0, rel=1e-12)


def test_arc_length_of_an_uneven_curve_that_goes_round():
    """The unit circle three times, by a parameter that runs it fast and slowly: heading pi/2 + s,
    curvature 1."""
    def derivatives(u):
        angle, speed, change = u + 0.95 * np.sin(u), 1 + 0.95 * np.cos(u), -0.95 * np.sin(u)
        out, along = (np.stack(pair, -1) for pair in ((np.cos(angle), np.sin(angle)),
                                                      (-np.sin(angle), np.cos(angle))))
        return (out, along * speed[..., None],
                along * change[..., None] - out * speed[..., None] ** 2)

    path = Parametric(derivatives, (0.0, 6 * pi))
    s = np.random.default_rng(0).uniform(0, 6 * pi, 200)
    assert path.length == pytest.approx(6 * pi, rel=1e-12)
    assert np.abs(path.heading(s) - pi / 2 - s).max() <= 1e-9
    assert np.abs(path.point(s) - np.stack([np.cos(s), np.sin(s)], -1)).max() <= 1e-9
    assert np.abs(path.curvature(s) - 1).max() <= 1e-9


def test_arc_length_of_a_curve_that_begins_evenly():
    """The unit circle by its arc length up to a knot, then by a parameter that nearly stops."""
    def derivatives(u):
        late = np.maximum(u, 0.0)
        angle, speed = u - 0.48 * (late - np.sin(late)), 1 - 0.48 * (1 - np.cos(late))
        out, along = (np.stack(pair, -1) for pair in ((np.cos(angle), np.sin(angle)),
                                                      (-np.sin(angle), np.cos(angle))))
        return (out, along * speed[..., None], along * (-0.48 * np.sin(late))[..., None]
                - out * speed[..., None] ** 2)

    path = Parametric(derivatives, (-1.0, 0.0, 4 * pi))
    s = np.random.default_rng(0).uniform(0, path.length, 200)
    assert path.length == pytest.approx(1 + 0.52 * 4 * pi, rel=1e-12)
    assert np.abs(path.heading(s) - pi / 2 - s + 1).max() <= 1e-9


@pytest.mark.parametrize("begin, end", [(0.376, 0.389), (0.37525, 0.3754)])
def test_a_curve_that_stands_still_between_its_pieces_is_refused(begin, end):
    """Where none of them ends, however often they are halved, too."""
    def derivatives(u):
        moves = np.where((u > begin) & (u < end), 0.0, 1.0)
        along = np.stack([moves, 0 * u], -1)
        return np.stack([u, 0 * u], -1), along, 0 * along

    with pytest.raises(InputError, match="the curve stands still"):
        Parametric(derivatives, (0.0, 1.0))


@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("share, stands", [(0.97, True), (1.03, False)])
def test_a_curve_stands_still_at_a_millionth_of_its_mean_speed(size, share, stands):
    """x' = c + 3 u^2 on (-1, 1), whose mean is 1 + c; slowest at a knot, or between two."""
    slow = share * 1e-6

    def derivatives(u):
        return tuple(np.stack([size * one, 0 * u], -1) for one in (slow * u + u ** 3,
                                                                   slow + 3 * u * u, 6 * u))

    if stands:
        with pytest.raises(InputError, match="the curve stands still near"):
            Parametric(derivatives, (-1.0, 0.0, 1.0))
        return
    path = Parametric(derivatives, (-1.0, 0.0, 1.0))
    assert path.length == pytest.approx(2 * size * (1 + slow), rel=1e-12)
    assert path.point(path.length / 2) == pytest.approx((0, 0), abs=1e-9 * size)


@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
def test_waypoints_coincide_at_a_billionth_of_the_longest_chord(size):
    for share in (0.99, 1.01):
        points = size * np.array([(0.0, 0.0), (share * 1e-9, 0.0), (1.0, 0.0)])
        if share < 1:
            with pytest.raises(InputError, match="waypoints 0 and 1 coincide"):
                spline(points)
        else:
            assert spline(points).length == pytest.approx(size, rel=1e-9)


def test_a_sampled_circle_turns_once_a_lap():
    """x + i y = i (1 - exp(i s)): 41 samples know it to the 4th order, (2 pi / 40)^4 / 384."""
    angle = np.linspace(0, 2 * pi, 41)
    path = SampledPath(2 * pi, True, np.sin(angle), 1 - np.cos(angle), angle)
    for s in (0.3, 2.0, 6.1):
        x, y, heading, bend = path.at(s)
        assert np.hypot(x - np.sin(s), y - 1 + np.cos(s)) < 2e-6
        assert heading == pytest.approx(s, abs=1e-12) and bend == pytest.approx(1, abs=1e-12)
        for lap in (-2, 1, 3):
            there = path.at(s + 2 * pi * lap)
            np.testing.assert_allclose(there, (x, y, heading + 2 * pi * lap, bend), rtol=1e-10,
                                       atol=1e-12)


@pytest.mark.parametrize("name", ["line", "figure8", "placed", "right circle"])
def test_a_path_that_is_kept_is_the_path(name):
    """1024 pieces know a smooth one to the 4th order; what keeps none has none."""
    path = ALL[name]
    kept = path_reference(shipped("carriage"), path, joint=1, point=(0.1, 0.0, 0.0))
    again = path_of(SimpleNamespace(settings={"path": json.loads(json.dumps(kept))}))
    assert (again.length, again.closed) == (path.length, path.closed)
    s = np.linspace(-0.2, 1.9, 50) * path.length
    np.testing.assert_allclose(again.point(s), path.point(s), rtol=0, atol=1e-9 * path.length)
    np.testing.assert_allclose(again.heading(s), path.heading(s), rtol=0, atol=1e-4)
    assert (kept["point"], kept["axle"], kept["backwards"]) == ([0.1, 0, 0], [0, 1, 0], False)
    for nothing in (SimpleNamespace(settings={}), SimpleNamespace(settings={"path": None}), None):
        assert path_of(nothing) is None


@pytest.mark.parametrize("lateral, said", [
    ([0.003, -0.004], "lateral error 3.54 mm RMS, 4 mm at most"),
    ([-0.9994], "lateral error 999 mm RMS, 999 mm at most"),
    ([1.0, 0.0], "lateral error 0.707 m RMS, 1 m at most"), ([0.0], "lateral error 0 mm RMS, 0 mm "
                                                             "at most")])
def test_a_distance_from_a_path_is_told_in_a_unit_that_suits(lateral, said):
    lateral = np.array(lateral)
    assert PathError(ALL["line"], 0 * lateral, lateral, lateral, lateral).describe() == said


def test_spline_interpolates():
    for closed in (False, True):
        path = spline(GATES, closed)
        at = [path.nearest(p) for p in GATES]
        assert np.abs(path.point(np.array(at)) - GATES).max() <= 1e-12
        assert closed or at == sorted(at)
    assert abs(spline(GATES).curvature(1e-9)) <= 1e-7
    assert spline(GATES[:3], closed=True).closed
    assert spline(GATES[:2]).length == pytest.approx(sqrt(5), rel=1e-13, abs=0)
    assert spline([(0, 0), (2e-9, 0), (1, 0)]).length == pytest.approx(1, rel=1e-9)
    straight = spline([(0, 0), (1, 2), (2, 4)])
    assert straight.length == pytest.approx(sqrt(20), rel=1e-13, abs=0)
    assert np.abs(straight.curvature(np.linspace(0, 4, 9))).max() <= 1e-12


def test_lane_change():
    path = lane_change(10.0, 2.0, before=1.0, after=3.0)
    assert np.allclose(path.end(), (14, 2, 0), rtol=0, atol=1e-12)
    assert np.allclose(path.at(0.5), (0.5, 0, 0, 0), rtol=0, atol=1e-12)
    assert np.abs(path.curvature(np.array([1.0, path.length - 3.0]))).max() <= 1e-10


@pytest.mark.parametrize("size", [1.0, 0.4])
def test_paths_of_the_library_are_what_their_lines_say(size):
    """Length, radius, half width; a lane changed in six widths; three ahead and three to the left,
    heading left, on arcs of the size; gates three apart, to either side."""
    made = {name: make_path(name, size) for name in PATHS}
    assert {name for name, path in made.items() if path.closed} == {"circle", "figure8"}
    assert made["line"].length == size and made["circle"].curvature(0.3) == 1 / size
    assert made["circle"].length == pytest.approx(2 * pi * size, rel=1e-13, abs=0)
    assert circle(size, left=False).curvature(0.3) == -1 / size
    assert made["figure8"].point(made["figure8"].length / 4) == pytest.approx((size, 0), abs=1e-12)
    lane = made["lane_change"]
    rising = np.linspace(0, lane.length, 4001)
    x, y = lane.point(rising[np.abs(lane.curvature(rising)) > 1e-6]).T
    assert lane.end()[:2] == pytest.approx((12 * size, size), rel=1e-12, abs=0)
    assert (x.min(), np.ptp(x)) == pytest.approx((2 * size, 6 * size), rel=1e-2)
    assert made["dubins"].end() == pytest.approx((3 * size, 3 * size, pi / 2), rel=1e-12)
    bends = np.abs(made["dubins"].curvature(np.linspace(0, made["dubins"].length, 101)))
    assert set(bends) == {0.0, 1 / size}
    gates = [(0, 0), *((3 * k, (-1) ** (k + 1)) for k in range(1, 5)), (15, 0)]
    away = made["slalom"].point(made["slalom"].nearest(size * np.array(gates)))
    np.testing.assert_allclose(away, size * np.array(gates), rtol=0, atol=1e-11)
    assert made["slalom"].end()[:2] == pytest.approx((15 * size, 0), abs=1e-12)


def length_of(start, end, radius=1.0):
    return dubins(start, end, radius).length


@pytest.mark.parametrize("start, end, radius, length", [
    ((0, 0, 0), (5, 0, 0), 1.0, 5.0),                                               # straight
    ((0, 0, 0), (0, 2, pi), 1.0, pi),                                               # half a circle
    ((0, 0, 0), (0, 6, pi), 1.5, 1.5 * pi + 3),                                     # LSL
    # turning round: three arcs
    ((0, 0, 0), (0, 0, pi), 1.0, 7 * pi / 3),
    ((1, 2, pi / 2), (1, 2, -pi / 2), 2.0, 14 * pi / 3),
    ((0, 0, 0), (2, 2, pi / 2), 2.0, pi),                                           # a quarter
    # a quarter left, a quarter right
    ((0, 0, 0), (2, 2, 0), 1.0, pi),
    ((0, 0, 0), (0, 4, 0), 1.0, 2 * pi),                                            # two halves
])
def test_dubins_closed_forms(start, end, radius, length):
    assert length_of(start, end, radius) == pytest.approx(length, rel=1e-12)


@pytest.mark.parametrize("short, exists", [(1e-12, True), (1e-10, False)])
def test_circles_that_just_touch_do(short, exists):
    """Two turns one way need centres no more than 4 apart, two opposite ones no less than 2: to
    rounding."""
    three = dubins_words(4 * (1 + short), 0.0, 0.0)
    assert ({"LRL", "RLR"} <= set(three)) == exists
    opposite = dubins_words(4 * (1 - short), -pi / 2, -pi / 2)
    assert ("LSR" in opposite) == exists
    if exists:
        assert three["LRL"][1] == pytest.approx(pi, abs=1e-5)
        assert opposite["LSR"][1] == pytest.approx(0, abs=1e-5)


def test_dubins_words_end_exactly_and_the_shortest_is_taken():
    rng, seen = np.random.default_rng(11), set()
    for _ in range(400):
        a, b = (np.append(rng.uniform(-3, 3, 2), rng.uniform(-4, 4)) for _ in range(2))
        r = rng.uniform(0.3, 2.0)
        shortest = dubins(a, b, r)
        D = b[:2] - a[:2]
        course = np.arctan2(D[1], D[0])
        found = dubins_words(np.hypot(*D) / r, a[2] - course, b[2] - course)
        assert {"LSL", "RSR"} <= set(found)
        for word, parts in found.items():
            arcs = Arcs([({"L": 1 / r, "S": 0, "R": -1 / r}[letter], part * r)
                         for letter, part in zip(word, parts)],
                        tuple(a))
            x, y, heading = arcs.end()
            assert np.abs([x - b[0], y - b[1], np.sin((heading - b[2]) / 2)]).max() <= 1e-9
            assert shortest.length <= arcs.length + 1e-12
            if arcs.length == pytest.approx(shortest.length, rel=1e-12):
                seen.add(word)
        assert (
            np.abs(shortest.curvature(np.linspace(0, shortest.length, 50))).max() <= 1 / r + 1e-12
        )
    assert seen == {"LSL", "RSR", "LSR", "RSL", "LRL", "RLR"}


def test_dubins_lengths_are_those_of_shortest_paths():
    """No detour over a third pose is shorter, and the way back with both headings reversed is as
    long: formulas that miss a path do not pass."""
    rng = np.random.default_rng(12)
    for _ in range(400):
        a, b, c = (tuple(np.append(rng.uniform(-2, 2, 2), rng.uniform(-pi, pi))) for _ in range(3))
        assert length_of(a, c) <= length_of(a, b) + length_of(b, c) + 1e-9
        back = length_of((c[0], c[1], c[2] + pi), (a[0], a[1], a[2] + pi))
        assert back == pytest.approx(length_of(a, c), rel=1e-9)
        assert length_of(a, c) >= np.hypot(c[0] - a[0], c[1] - a[1]) - 1e-12


def test_dubins_detours_along_itself():
    """A pose on the shortest path parts it into shortest paths."""
    rng = np.random.default_rng(13)
    for _ in range(100):
        a, c = (tuple(np.append(rng.uniform(-2, 2, 2), rng.uniform(-pi, pi))) for _ in range(2))
        path = dubins(a, c, 0.8)
        s = rng.uniform(0.1, 0.9) * path.length
        b = tuple(float(value) for value in path.at(s)[:3])
        assert length_of(a, b, 0.8) == pytest.approx(s, rel=1e-12, abs=0)
        assert length_of(b, c, 0.8) == pytest.approx(path.length - s, rel=1e-11)


@pytest.mark.parametrize("make, said", [
    (lambda: make_path("figure9"), "figure9.*line, circle, figure8"),
    (lambda: make_path([(0, 0), (1, 1)]), r"line, circle.*; spline\(\[\(0, 0\).* waypoints x, y"),
    (lambda: make_path("line", -1.0), "-1.0 must be a positive number"),
    (lambda: circle(float("nan")), "nan must be a finite number"),
    (lambda: spline([(0, 0)]), "2 or more rows"),
    (lambda: spline([(0, 0), (1, 1), (1, 1)]), "waypoints 1 and 2 coincide"),
    (lambda: spline([(0, 0), (1, float("inf"))]), "finite"),
    (lambda: dubins((0, 0, 0), (0, 0, float("nan")), 1.0), "a finite number, and nan"),
    (lambda: dubins((0, 0, 0), (0, 0, 0), 1.0), "no length"),
    (lambda: lane_change(5.0, float("nan")), "finite"),
    (lambda: lane_change(5.0, 1.0, before=-0.1), "before = -0.1 must be a length"),
    (lambda: lane_change(5.0, 1.0, after=-0.1), "after = -0.1 must be a length"),
    (lambda: spline([(0, 0), (1, 0)], closed=True), "3 or more rows"),
    (lambda: spline([(0, 0), (0.9e-9, 0), (1, 0)]), "waypoints 0 and 1 coincide"),
    (lambda: line(1.0).place(float("nan")), "finite"),
    (lambda: line(1.0).at([0.5, float("nan")]), "must be an arc length"),
    (lambda: line(1.0).nearest((0.0, float("nan"))), "finite"),
    *((lambda near=near: line(1.0).nearest((0.5, 0.1), near=near),
       r"near = .* must be an arc length \[m\] for each point")
      for near in ([0.1, 0.2], float("nan"), "begin")),
    *((lambda near=near: line(1.0).nearest([(0.5, 0.1), (0.6, 0.1)], near=near),
       "arc length .m. for each poi") for near in (0.5, [0.5, float("nan")])),
    (lambda: line(1.0).nearest((0.5, 0.1, 0.2)), "must be x and y, two finite numbers"),
    (lambda: line(1.0).entry([(0, 0), (1, 0)], [0.0, float("nan")], 0.5), "heading = .* finite"),
    (lambda: line(1.0).nearest("here"), "must be x and y, two finite numbers"),
    (lambda: spline([(0, 0), (1, 0), (0, 0)]), r"stands still near \[1. +0.\]: its heading"),
])
def test_errors_say_what_is_wrong(make, said):
    with pytest.raises(InputError, match=said):
        make()
