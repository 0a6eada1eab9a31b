"""The laws of contact of shipped and random vehicles, at random states and inputs: none is
skipped."""

import numpy as np
import pytest
from made_robots import make
from support import sampled, shipped

import nhmech
from nhmech.simulation.contact.implicit_step import ImplicitStep
from nhmech.simulation.contact.motion import to_body
from nhmech.simulation.contact.nonsmooth import NonsmoothStep
from nhmech.simulation.contact.nonsmooth_terms import NonsmoothTerms
from nhmech.simulation.contact.phases import Phase
from nhmech.vehicle.friction import with_scrubbing

COUNT, STEPS, DT = 300, 20, 1e-3
SHIPPED = ("differential_drive", "ackermann_car", "tricycle", "mecanum", "omni", "ball", "bicycle",
           "rover")
ROUNDING = 1e-12       # of the energy, by which it may grow beyond the work of efforts


def check_laws(terms, before, motion):
    """Signorini, the cone, friction against slip, bilateral rows, sticking wheels and heights."""
    vehicle = terms.vehicle
    q = terms.configuration(motion.x)
    v = to_body(q, motion.w)
    rates, heights = vehicle.constraint_error(motion.t, q, v)
    speed, size = max(1.0, np.abs(v).max()), max(1e-3, np.abs(motion.impulses).max())
    assert np.abs(rates[list(terms.bilateral)]).max(initial=0.0) <= 1e-12 * speed
    assert heights[list(terms.heights)].min() >= -1e-8
    # what bounces within a step makes several of it, with directions of their own
    steady = (before.phases == motion.phases).all() and not any(
        motion.impulses[c.normal] for c, phase in zip(terms.contacts, motion.phases)
        if phase == Phase.AIRBORNE)
    for c, phase in zip(terms.contacts, motion.phases):
        normal, along = motion.impulses[c.normal], motion.impulses[list(c.along)]
        assert normal >= -1e-9 * size
        assert np.linalg.norm(along) <= c.mu * normal + 1e-9 * size
        if phase != Phase.AIRBORNE:
            assert abs(heights[c.height]) <= 1e-8 and abs(rates[c.normal]) <= 1e-9 * speed
        if phase == Phase.ROLLING:
            assert np.abs(rates[list(c.rows)]).max() <= 1e-12 * speed
        if phase == Phase.SLIDING and steady:
            slip = rates[list(c.along)]
            assert along @ slip <= 1e-9 * size * speed
            assert np.linalg.norm(along) == pytest.approx(c.mu * normal, rel=1e-6, abs=1e-9 * size)


class Works:
    """Notes from where each part of a step came, and what the inputs did on the way."""

    def __init__(self, terms, monkeypatch):
        self.terms, self.came, take = terms, {}, ImplicitStep.take

        def note(glide, now, u, dt, *how):
            found = take(glide, now, u, dt, *how)
            q = terms.configuration(now.x)
            pull, = terms.effect(now.t, q, to_body(q, now.w), u, terms.vehicle.theta)
            # joints have the same rates in the axes of the world
            self.came[id(found.x)] = found.x, now.x, dt * (now.w + found.w) / 2 @ (pull @ u)
            return found
        monkeypatch.setattr(ImplicitStep, "take", note)

    def growth(self, before, motion):
        """How much the energy has grown beyond the work of the inputs, over what there is."""
        old, new = (self.terms.vehicle.energy(0.0, q, to_body(q, one.w)) for one in (before, motion)
                    for q in (self.terms.configuration(one.x),))
        x, work = motion.x, 0.0
        while x is not before.x:              # impacts leave the place as it is
            _, x, part = self.came[id(x)]
            work += part
        return (new - old - work) / (1 + abs(old) + abs(work))


@pytest.mark.parametrize("which", [*sampled(range(COUNT), 4), *SHIPPED])
def test_laws_of_contact_hold_for_any_vehicle(which, tmp_path, monkeypatch):
    """From random velocities, with random efforts for some steps and none for the others; the
    energy grows by no more than their work."""
    if which in SHIPPED:
        vehicle, seed = shipped(which), SHIPPED.index(which)
    else:
        seed = which
        text, _ = make(seed, tmp_path)
        vehicle = nhmech.load(text, packages={"made": tmp_path})
    vehicle, rng = with_scrubbing(vehicle), np.random.default_rng(seed)
    terms = NonsmoothTerms.of(vehicle, {wheel: float(rng.uniform(0.1, 1.2))
                                        for wheel in vehicle.contact_names})
    step = NonsmoothStep(terms, rng.uniform(0, 0.6, len(terms.contacts)))
    q = vehicle.configuration((0.0, 0.0, rng.uniform(-3, 3)))
    x = np.array([*q[:7], *vehicle.joint_positions(q).values()])
    w = rng.normal(size=terms.nv) / vehicle.constrained.scales
    none = np.zeros(vehicle.constrained.system.u.numel())
    w[2:5] *= 0.1                       # it comes down, on its wheels for the most part
    w[2] = -abs(w[2])
    works = Works(terms, monkeypatch)
    motion = step.start(0.0, x, w)
    for k in range(STEPS):
        u = none if k % 4 else rng.normal(size=len(none))
        before, motion = motion, step.advance(motion, u, DT)
        check_laws(terms, before, motion)
        assert works.growth(before, motion) <= ROUNDING
