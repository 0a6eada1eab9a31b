"""Model predictive control: what one solution takes, against the control period,
by vehicle and length of the horizon."""

from __future__ import annotations

import os

# at these sizes its threads cost more than they do
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from common.report import aim, machine, measured
from common.timing import Spent

import nhmech
from nhmech.control.mpc import MPC
from nhmech.control.path_library import make_path

PERIOD, DURATION = 0.02, 4.0            # [s]
# and the size of their figure-eight [m]
VEHICLES = {"differential_drive": 1.0, "mecanum": 1.0, "tricycle": 2.0}
STAGES = 10, 20, 40


def main() -> None:
    print(machine())
    rows = []
    for name, size in VEHICLES.items():
        vehicle = nhmech.load(nhmech.urdf_path(name))
        for stages in STAGES:
            took, rms = solutions(vehicle, MPC(vehicle, make_path("figure8", size), speed=0.5,
                                               stages=stages))
            median, most = 1e3 * np.median(took), 1e3 * np.quantile(took, 0.99)
            rows.append((f"{name}, {stages} stages", median, most, f"{median / PERIOD / 10:.1f} %",
                         1e3 * rms))
            if stages == 20:
                aim(f"MPC of {name}, 20 stages: median solution [ms] of a {1e3 * PERIOD:g} ms "
                    "period", median, 1e3 * PERIOD / 2, least=False)
    print(measured(("", "median [ms]", "99 % [ms]", f"of {1e3 * PERIOD:g} ms",
                    "lateral RMS [mm]"), rows, "\nOne solution"))


def solutions(vehicle, controller: MPC) -> tuple[list[float], float]:
    """Seconds of every call but the first, and the lateral RMS [m]."""
    took: list[float] = []

    def timed(t, state):
        with Spent() as one:
            u = controller(t, state)
        took.append(one.wall)
        return u

    simulator = nhmech.Simulator(vehicle, timed, dt=PERIOD / 10, control_period=PERIOD)
    simulator.reset(**controller.start)
    run = simulator.run(DURATION, every=10)
    return took[1:], float(np.sqrt(np.mean(controller.errors(run)[:, 1] ** 2)))


if __name__ == "__main__":
    main()
