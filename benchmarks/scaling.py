"""Cost against size: trailers, wheels, and joints that are locked.

Prints operations, microseconds of the processor a step and the fitted exponents, and draws them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from common.generated import dead_joints, trailers, wheels
from common.report import machine, measured
from common.timing import Spent, interleaved, window

import nhmech
from nhmech.compile.status import Status

SERIES = {"trailers": (trailers, (1, 2, 3, 4, 5, 6, 7, 8)),
          "wheels": (wheels, (2, 4, 6, 8, 10, 12)),
          "dead joints": (dead_joints, (0, 5, 10, 20, 40))}
STEPS = 5000
PICTURE = Path("out/scaling.png")


def main() -> None:
    print(machine())
    found = {name: series(*SERIES[name]) for name in SERIES}
    for name, rows in found.items():
        print(measured((name, "nv", "nxi", "operations", "load and build [s]", "step [us]"), rows,
                       name))
        print(f"operations ~ n^{exponent(rows, 3):.2f}, us/step ~ n^{exponent(rows, 5):.2f} over "
              "the upper half")
    draw(found)


def series(make, sizes) -> list[tuple]:
    steps, rows = {}, []
    for n in sizes:
        with Spent(children=True) as built:
            text, options = make(n)
            vehicle = nhmech.load(text, **options)
            simulator = nhmech.Simulator(vehicle, dt=1e-4)
            loop = simulator.atlas.primary.loop(build=True)
        if loop is None:
            raise SystemExit("no C compiler: nothing to measure")
        simulator.reset(xi={vehicle.speeds[0]: 0.5})
        steps[n] = run_of(simulator, simulator.propagator.prepare(loop))
        rows.append((str(n), str(vehicle.constrained.system.algebroid.nv), str(len(vehicle.speeds)),
                     str(operations(vehicle)), built.processor))
    cost = interleaved(steps)
    return [(*row, cost[n]) for row, n in zip(rows, sizes)]


def run_of(simulator, compiled):
    start = simulator.propagator.bookmark()

    def measure() -> Spent:
        simulator.propagator.restore(start)
        with Spent(STEPS) as took:
            status = compiled.run(STEPS)
        assert status == Status.DONE, f"refused after {compiled.setup.done} steps"
        return took

    return lambda: 1e6 * window(measure)


def operations(vehicle) -> int:
    """Arithmetic instructions of one evaluation of the equations: no constant, input or output."""
    import casadi as ca

    drift = vehicle.equations.drift
    drift = drift.expand() if not drift.is_a("SXFunction") else drift
    idle = (ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_PARAMETER)
    return sum(drift.instruction_id(k) not in idle for k in range(drift.n_instructions()))


def exponent(rows, column: int) -> float:
    """Slope of log cost over log n, by least squares over the upper half of the sizes."""
    n = np.array([float(row[0]) for row in rows])
    cost = np.array([float(row[column]) for row in rows])
    upper = n >= n[len(n) // 2]
    return float(np.polyfit(np.log(n[upper]), np.log(cost[upper]), 1)[0])


def draw(found) -> None:
    try:
        import matplotlib
    except ImportError:
        print("no picture: matplotlib is missing")
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(found), figsize=(12, 3.6))
    for axis, (name, rows) in zip(axes, found.items()):
        n = [float(row[0]) for row in rows]
        axis.plot(n, [row[5] for row in rows], "o-", color="tab:blue")
        axis.set(xlabel=name, ylabel="µs per step", ylim=(0, None),
                 title=f"n^{exponent(rows, 5):.2f}")
        other = axis.twinx()
        other.plot(n, [float(row[3]) for row in rows], "s--", color="tab:orange")
        other.set(ylabel="operations of one evaluation", ylim=(0, None))
    figure.tight_layout()
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=120)
    print(f"drawn in {PICTURE}")


if __name__ == "__main__":
    main()
