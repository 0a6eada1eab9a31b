"""What a call from Python costs: one `step` with a trivial controller, one `run`, one compiled call
of the dynamics over its arithmetic."""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from common.report import interleaved, machine, measured  # noqa: E402

import nhmech  # noqa: E402
from nhmech.compile.status import Status  # noqa: E402

VEHICLES = ("differential_drive", "mecanum", "ackermann_car", "pendulum")
CALLS = 2000
DT = 1e-3


def microseconds(call, times: int = CALLS) -> float:
    begin = perf_counter()
    for _ in range(times):
        call()
    return (perf_counter() - begin) / times * 1e6


def measures(name: str) -> dict:
    """Of one vehicle at rest with no effort, so that every repetition does the same."""
    vehicle = nhmech.load(nhmech.urdf_path(name))
    u = np.zeros(len(vehicle.driven))
    stepped, ran = (nhmech.Simulator(vehicle, lambda t, state: u, dt=DT) for _ in range(2))
    for simulator in (stepped, ran):
        simulator.atlas.primary.loop(build=True)
        simulator.reset()
        simulator.step()
    called = nhmech.Simulator(vehicle, dt=DT)
    called.reset()
    steps = called.propagator.prepare(called.atlas.primary.loop(build=True))

    def arithmetic() -> float:
        """A step within one long call."""
        begin = perf_counter()
        assert steps.run(20 * CALLS) == Status.DONE
        return (perf_counter() - begin) / (20 * CALLS) * 1e6

    return {
        "step() with a controller": lambda: microseconds(stepped.step),
        "run() of one step": lambda: microseconds(lambda: called.run(DT)),
        "run(), controller at each step": lambda: (
            microseconds(lambda: ran.run(CALLS * DT), 1) / CALLS
        ),
        "one call of the compiled step": lambda: microseconds(lambda: steps.one(steps.pointer)),
        "its arithmetic": arithmetic,
        "an empty Python function": lambda: microseconds(lambda: None),
    }


def main() -> None:
    print(machine())
    rows = []
    for name in VEHICLES:
        cost = interleaved(measures(name))
        rows.append((name, *cost.values(),
                     cost["one call of the compiled step"] - cost["its arithmetic"]))
    print(measured(("microseconds", *cost, "call over arithmetic"), rows,
                "\nfrom Python, medians; aims: step 5 us, call over arithmetic 1 us"))


if __name__ == "__main__":
    main()
