"""Wheels that slide: nhmech, MuJoCo and Drake with finer and finer steps, against an integration of
Newton's and Euler's laws that shares nothing with them.

Four motions of shipped robots: a car brakes with locked wheels, and spins with them; a skid steer
turns on the spot, and one braces its wheels against torques that are too small to turn it, where
nothing should move. The error is the larger of the distance of the base's origin from its true
place [m] and the difference of yaw [rad] at the end.
"""

from __future__ import annotations

import numpy as np
from common.programs import find_programs
from common.report import machine, measured
from common.timing import window
from sliding.motion import Sliding, error

STEPS = (4e-3, 1e-3, 2.5e-4)
GOAL = 1e-3            # [m, rad] of error: the time that the quickest good step takes is told
PROGRAMS = {"nhmech": "in_nhmech", "MuJoCo": "in_mujoco", "Drake": "in_drake"}
TRIED = {
    "nhmech": {"": {}},
    "MuJoCo": {"contacts of two steps": {}, "contacts of 20 ms": {"time": 0.02},
               "impratio 100": {"impratio": 100}, "noslip": {"noslip": 10},
               "cylinders": {"shape": "cylinder"}, "soft friction": {"slow": 100}},
    "Drake": {"SAP": {"solver": "kSap"}, "TAMSI": {"solver": "kTamsi"}},
}


def motions() -> list[tuple[Sliding, np.ndarray]]:
    """Each with its end. The skid steer turns above 7.5 N m a wheel (tests/test_scrubbing.py);
    wheels at rest begin with a rate that says which way they slide."""
    def skid(name, torque, rate):
        sides = (-1, 1, -1, 1)
        return Sliding(name, "skid_steer", 0.6, 2.0, torques=tuple(torque * s for s in sides),
                       rates=tuple(rate * s for s in sides))

    car = {"robot": "ackermann_car", "mu": 0.5, "locked": True}
    moving = [Sliding("braking car", duration=0.8, twist=(5.0, 0.0, 0.0), **car),
              Sliding("spinning car", duration=0.8, twist=(6.0, 0.5, 1.5), **car),
              skid("turning skid steer", 9.0, 1e-7)]
    return [*((motion, motion.end()) for motion in moving),
            (skid("braced skid steer", 7.0, 0.0), np.zeros(3))]


def main() -> None:
    programs, missing = find_programs("sliding", PROGRAMS)
    print(machine(("mujoco", "drake", "pin")), *missing, sep="\n")
    head = ("error [1] at dt =", *(f"{1e3 * dt:g} ms" for dt in STEPS), f"time to {GOAL:g} [ms]")
    for motion, truth in motions():
        rows = []
        for name, program in programs.items():
            for how, settings in TRIED[name].items():
                found = [program.run(motion, dt, **settings) for dt in STEPS]
                errors = [error(end, truth) for end, _ in found]
                good = next((dt for dt, wrong in zip(STEPS, errors) if wrong <= GOAL), None)
                rows.append((f"{name} {how}".strip(), *errors, "never" if good is None else
                             1e3 * cost(program, motion, good, **settings)))
        print(measured(head, rows, f"{motion.name}: ends at {np.round(truth, 6)}"))
    if "MuJoCo" in programs:
        print(flight(programs["MuJoCo"], motions()[0][0]))


def cost(program, motion: Sliding, dt: float, **settings) -> float:
    """Processor time of the motion [s]."""
    return window(lambda: program.run(motion, dt, **settings)[1])


def flight(mujoco, motion: Sliding) -> str:
    """What MuJoCo does with wheels that slide."""
    rows = [(f"{how} at {1e3 * dt:g} ms", *mujoco.flights(motion, dt, **TRIED["MuJoCo"][how]))
            for how in ("contacts of two steps", "contacts of 20 ms") for dt in STEPS[1:3]]
    return measured(("braking car in MuJoCo", "in the air [%]", "height [mm]"), rows)


if __name__ == "__main__":
    main()
