"""Runs of a hundred million steps and of a day: what drifts, and that memory does not grow."""

from __future__ import annotations

import resource

import numpy as np
import pytest
from runs import attitude
from support import shipped

from nhmech import Simulator
from nhmech.analysis.equilibria import SteadyMotions
from nhmech.systems import load_system

GROWTH = 16 * 1024      # [kB] that a process may grow by while a hundred rows are recorded
ROUNDING = 3e-14        # of a step, which add up as a random walk does; 1e-14 is seen


def peak() -> int:
    """Largest memory of this process so far [kB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.mark.soak
@pytest.mark.parametrize("steps", [10 ** 7, 10 ** 8])
def test_a_hundred_million_steps_of_the_disc(steps, capsys):
    """Energy by Gauss's method in steps of 20 ms, for 2 days of rolling, and for 23: it keeps to
    the law of a random walk, which a drift of the method would leave."""
    disc = load_system("falling_disc")
    simulator = Simulator(disc, dt=0.02, integrator="gauss")
    simulator.reset(q=np.array(disc.start["q"]), xi=dict(zip(disc.speeds, disc.start["xi"])))
    start = simulator.run(2000.0, every=1000).energy[0]
    before = peak()
    run = simulator.run(0.02 * steps, every=steps // 100)
    drift = np.abs(run.energy / start - 1)
    with capsys.disabled():
        print(f"\n{steps:.0e} steps of the disc: energy within {drift.max():.2g} of its start, "
              f"memory {peak() - before} kB more")
    assert drift.max() < ROUNDING * np.sqrt(steps) and peak() - before < GROWTH


@pytest.mark.soak
def test_a_day_of_a_bicycle_in_a_turn(capsys):
    """A hands-free turn with a lean of 10 mrad, which leaves itself at 1.5e-4 1/s: rounding grows
    by a factor of half a million in a day."""
    motions = SteadyMotions(shipped("bicycle"))
    vehicle = motions.variations.simulated.vehicle
    turn = motions.find(vehicle.configuration((0, 0, 0.3, 0.01, 0, 0)), motions.straight(6.0).xi,
                        conditions={"roll": 0.01})
    simulator = Simulator(vehicle, dt=0.02, integrator="gauss")
    simulator.reset(q=turn.q, xi=dict(zip(vehicle.speeds, turn.xi)))
    start = simulator.run(200.0, every=1000)
    before = peak()
    run = simulator.run(24 * 3600.0 - 200.0, every=50_000)
    drift = np.abs(run.energy / start.energy[0] - 1).max()
    lean = np.array([attitude(q)[1] for q in run.q])
    away = np.abs(lean - attitude(turn.q)[1]).max()
    with capsys.disabled():
        print(f"\na day of the bicycle: energy within {drift:.2g} of its start, lean within "
              f"{away:.2g} rad, memory {peak() - before} kB more")
    assert drift < 1e-10 and away < 1e-5 and peak() - before < GROWTH
