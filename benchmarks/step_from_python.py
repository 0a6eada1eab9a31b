"""What a call from Python costs: one `step` with a trivial controller, one `run`, one compiled call
of the dynamics over its arithmetic."""

from __future__ import annotations

import numpy as np
from common.report import machine, measured
from common.timing import interleaved, seconds

import nhmech
from nhmech.compile.status import Status

VEHICLES = ("differential_drive", "mecanum", "ackermann_car", "pendulum")
CALLS = 2000
DT = 1e-3


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

    def many() -> None:
        assert steps.run(CALLS) == Status.DONE

    # what is called, and how many steps it takes
    calls = {"step() with a controller": (stepped.step, 1),
             "run() of one step": (lambda: called.run(DT), 1),
             "run(), controller at each step": (lambda: ran.run(CALLS * DT), CALLS),
             "one call of the compiled step": (lambda: steps.one(steps.pointer), 1),
             "its arithmetic": (many, CALLS), "an empty Python function": (lambda: None, 1)}
    return {what: lambda call=call, count=count: 1e6 * seconds(call) / count
            for what, (call, count) in calls.items()}


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
