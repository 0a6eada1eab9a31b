"""What compiled loops cost a step, alone and in batches, and the first steps from an empty cache;
processor time here and, interleaved, in another checkout of the project:

    python benchmarks/loops.py [CHECKOUT]
"""

from __future__ import annotations

from common.checkouts import ROUNDS, checkouts, medians, printed_number
from common.report import machine, measured

# vehicle -> speeds at the start
STARTS = {"differential_drive": {"left_wheel_joint": 3.0, "right_wheel_joint": 2.0},
          "ackermann_car": {"rear_left_wheel_joint": 3.0},
          "bicycle": {"rear_wheel_joint": 15.0}}
LOOP = """
import nhmech
from common.timing import Spent, median, window
vehicle = nhmech.load(nhmech.urdf_path({name!r}))
simulator = nhmech.Simulator(vehicle)
simulator.reset()
simulator.atlas.primary.loop(build=True)
def runs():
    simulator.reset(xi={xi})
    with Spent(20000) as took:
        run = simulator.run(20.0, every=20000)
    assert run.stop == "duration"
    return took
print(median(lambda: window(runs)) * 1e6)
"""
BATCH = """
import nhmech
import numpy as np
from common.timing import median, seconds
vehicle = nhmech.load(nhmech.urdf_path({name!r}))
x0 = np.tile(nhmech.start_states(vehicle, [(0, 0, 0)], xi={xi}), (1000, 1))
u = np.random.default_rng(0).normal(size=(1000, vehicle.constrained.system.u.numel())) * 1e-3
batch = lambda: nhmech.simulate_batch(vehicle, x0, u, dt=1e-3, duration=2.0, every=2000, threads=1)
batch()
print(median(lambda: seconds(batch)) / 2000 * 1e6)
"""
# the longest of the steps that begin within some seconds; by the clock, for a stall waits, but
# without the time in which other programs had the processor
FIRST = """
import os, tempfile
from pathlib import Path
from time import monotonic
from common.timing import Spent
def kept_waiting(file=Path("/proc/thread-self/schedstat")):
    return int(file.read_text().split()[1]) * 1e-9 if file.exists() else 0.0
with tempfile.TemporaryDirectory() as cache:
    os.environ["NHMECH_CACHE"] = cache
    import nhmech
    vehicle = nhmech.load(nhmech.urdf_path({name!r}))
    simulator = nhmech.Simulator(vehicle, lambda t, state: None)
    simulator.reset(xi={xi})
    simulator.step()
    end, longest = monotonic() + 6.0, 0.0
    while monotonic() < end:
        if simulator.t > 2.0:
            simulator.reset(xi={xi})
        before = kept_waiting()
        with Spent() as took:
            simulator.step()
        longest = max(longest, took.wall - (kept_waiting() - before))
print(longest * 1e3)
"""
AIMS = {"loop, bicycle [us]": 1.3, "batch of 1000, differential_drive [us]": 1e3 / 120}


def main() -> None:
    print(machine())
    loops = {f"loop, {name}": LOOP.format(name=name, xi=xi) for name, xi in STARTS.items()}
    batches = {f"batch of 1000, {name}": BATCH.format(name=name, xi=xi)
               for name, xi in STARTS.items()}
    first = {"bicycle, longest step() of the first 6 s from an empty cache":
             FIRST.format(name="bicycle", xi=STARTS["bicycle"])}
    rows = (medians(printed_number, loops | batches, "us") + medians(printed_number, first, "ms"))
    print(measured((f"median of {ROUNDS}", *checkouts()), rows, aims=AIMS))


if __name__ == "__main__":
    main()
