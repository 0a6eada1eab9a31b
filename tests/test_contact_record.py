"""The contact part of a recorded row: what is written of wheels and of the points of bodies, and
what is read from it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from nhmech.simulation.contact.contact_columns import ContactColumns, ContactRecord
from nhmech.simulation.contact.contact_rows import ContactRows
from nhmech.simulation.contact.motion import Motion
from nhmech.simulation.contact.phases import Phase

R, S, F, L = Phase.ROLLING, Phase.SLIDING, Phase.AIRBORNE, Phase.LYING
UPRIGHT = np.array([0, 0, 0, 0, 0, 0, 1.0])       # q of a base that is not turned
SPEED = 3.0
STILL, SLOW = 1e-7, 1e-3      # slower contacts rest, relative to the fastest or to SPEED


def terms_of(links):
    """Two wheels, of which one has rows out of order and the other a bilateral row between them,
    then points of bodies."""
    wheels = (ContactRows("front", 2, (0,), 0, 0.5), ContactRows("rear", 4, (5, 3), 1, 0.5))
    points = tuple(ContactRows(link, 6 + 3 * i, (7 + 3 * i, 8 + 3 * i), 2 + i, 0.5)
                   for i, link in enumerate(links))
    vehicle = SimpleNamespace(contact_names=("front", "rear"), contact_rows={
        "front/normal": 2, "front/longitudinal": 0, "rear/normal": 4, "rear/lateral": 3,
        "rear/longitudinal": 5})
    m = 6 + 3 * len(links)
    return SimpleNamespace(vehicle=vehicle, contacts=wheels + points, m=m, speed=SPEED,
                           bodies=SimpleNamespace(links=links), normals=np.array(
                               [c.normal for c in wheels + points]))


LINKS = ("arm", "arm", "base", "arm")


def test_columns_have_names():
    record = ContactRecord(terms_of(LINKS))
    assert record.bodies == ("arm", "base") and len(record.columns) == 11 + 3 * 4
    assert record.columns.columns == (
        "force.front/normal", "force.front/longitudinal", "force.rear/normal",
        "force.rear/lateral", "force.rear/longitudinal",
        *(f"force.{body}/{way}" for body in ("arm", "base")
          for way in ("normal", "longitudinal", "lateral")),
        *(f"{what}.{name}" for what in ("phase", "slid", "lost")
          for name in ("front", "rear", "arm", "base")))
    assert ContactColumns.read(record.columns.columns) == record.columns
    assert record.resting.tolist() == [R, R, F, F]
    parts = record.columns.split(np.arange(23.0))
    assert [part.tolist() for part in parts] == [
        list(range(11)), [11, 12, 13, 14], [15, 16, 17, 18], [19, 20, 21, 22]]
    assert [part.shape for part in record.columns.split(np.zeros((5, 23)))] == [
        (5, 11), (5, 4), (5, 4), (5, 4)]


@pytest.mark.parametrize("phases, whole", [
    ((R, R, F, R), (L, F)), ((F, F, F, F), (F, F)), ((R, S, S, F), (S, S)), ((F, F, R, R), (L, L)),
    ((F, F, S, F), (F, S))])
def test_points_of_a_body_are_written_as_one(phases, whole):
    """It slides where one of them does, and lies where one is down; its forces and its losses are
    their sums, and it has slid as far as the farthest."""
    record, rng = ContactRecord(terms_of(LINKS)), np.random.default_rng(0)
    forces, slid, lost = rng.normal(size=18), rng.uniform(size=6), rng.uniform(size=6)
    motion = Motion(0.0, UPRIGHT, np.zeros(6), np.array([S, F, *phases]), forces, slid, lost)
    written = record.columns.split(record.write(motion, forces))
    arm = [0, 1, 3]
    np.testing.assert_allclose(written[0], [
        *forces[[2, 0, 4, 3, 5]], *sum(forces[6 + 3 * i:9 + 3 * i] for i in arm), *forces[12:15]],
        rtol=1e-12)
    assert written[1].tolist() == [S, F, *whole]
    points = slid[2:], lost[2:]
    np.testing.assert_allclose(written[2], [*slid[:2], points[0][arm].max(), points[0][2]],
                               rtol=1e-12)
    np.testing.assert_allclose(written[3], [*lost[:2], points[1][arm].sum(), points[1][2]],
                               rtol=1e-12)


def test_wheels_alone_are_read_as_they_were_written():
    """A wheel in the air has no impulse, whatever the row says."""
    record, rng = ContactRecord(terms_of(())), np.random.default_rng(1)
    for phases in ((R, S), (F, R), (F, F)):
        numbers = np.r_[rng.uniform(1, 2, 5), phases, rng.uniform(size=4)]
        v = rng.normal(size=6)
        motion = record.read(numbers, 0.5, UPRIGHT, UPRIGHT, v, 0.1)
        wanted = 0.1 * np.array([numbers[1], 0, numbers[0], numbers[3], numbers[2], numbers[4]])
        wanted[[0, 2]] *= phases[0] != F
        wanted[3:] *= phases[1] != F
        np.testing.assert_allclose(motion.impulses, wanted, rtol=1e-12)
        assert motion.t == 0.5 and motion.phases.tolist() == list(phases)
        np.testing.assert_array_equal(motion.w, v)
        np.testing.assert_array_equal(np.r_[motion.slid, motion.lost], numbers[7:])
        motion.slid[...] = motion.lost[...] = -1          # the row stays as it is
        assert (numbers > 0).sum() == len(numbers) - list(phases).count(R)


@pytest.mark.parametrize("speed, lands", [(-1.1, False), (-0.9, True), (5.0, True)])
def test_points_that_are_down_share_the_load_of_their_body(speed, lands):
    """Equally; what still comes down has not landed, unless it is as slow as nothing: relative to
    the fastest contact, or to a thousandth of the vehicle's speed."""
    terms = terms_of(LINKS)
    record, numbers = ContactRecord(terms), np.r_[np.arange(1.0, 12), R, F, L, F, np.arange(8.0)]
    for size in (0.0, 40.0):
        slow = STILL * max(SLOW * SPEED, size)
        speeds = np.zeros(18)
        speeds[0], speeds[[6, 9]] = size, speed * slow     # of the front wheel; two points of it
        asked = []
        terms.read_rows = lambda t, x, w, closed: asked.append(closed.tolist()) or (
            np.zeros((18, 6)), speeds, None)
        # the wheels' own phases stay; the last point is in the air, the one of the base slides
        terms.find_phases = lambda rows, w: np.array([F, R, R, R, S, F])
        motion = record.read(numbers, 0.5, UPRIGHT, UPRIGHT, np.zeros(6), 0.1)
        assert asked == [[True, False, True, True, False, True]]
        down = [R, R] if lands else [F, F]
        assert motion.phases.tolist() == [R, F, *down, S, F]
        arm, base = numbers[5:8] / 2 * 0.1 * lands, numbers[8:11] * 0.1
        np.testing.assert_allclose(motion.impulses[6:], [*arm, *arm, *base, 0, 0, 0], rtol=1e-12)
        np.testing.assert_allclose(motion.impulses[[2, 0]], 0.1 * numbers[:2], rtol=1e-12)
        assert motion.slid.tolist() == [0, 1, 2, 2, 3, 2]
        np.testing.assert_allclose(motion.lost, [4, 5, 2, 2, 7, 2], rtol=1e-12)
