"""Wall time at equal error: a differential drive and a rolling disc, against other simulators and against hand-written C.

Every program gets the same motion of 10 s. Its step is the largest of a ladder at which it ends, with that step and with the next
finer one, within 1 cm (1 mm) of where *ideal rolling* ends; then all are timed with their own steps, in turn, in this one process.
Ideal rolling is what nhmech, Pinocchio in Python, SymPy, the hand-written C and Exudyn's joints solve; to a simulator of contacts
slip is part of the truth, and what is called error here is in part the motion that it means to show.
The two loops in C are timed over many steps; every other program over the motion, with its own call from Python.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support.motions import MOTIONS  # noqa: E402
from support.report import interleaved, machine, table  # noqa: E402

DURATION = 10.0
LADDER = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5)
PATIENCE = 8.0          # [s] of wall time: a run that takes longer ends the search
GOALS = {"1 cm": 1e-2, "1 mm": 1e-3}
PROGRAMS = {"nhmech, loop in C": "nhmech_loop", "nhmech, Simulator.run": "nhmech_urdf", "hand-written C": "hand_c",
            "MuJoCo": "mujoco_contacts", "Exudyn": "exudyn_joints", "Drake": "drake_contacts", "PyBullet": "pybullet_contacts",
            "Pinocchio in Python": "pinocchio_python", "SymPy Kane": "sympy_kane"}
SIMULATORS = ("MuJoCo", "Exudyn", "Drake", "PyBullet")
AIMS = {"differential_drive": (500, 2), "disc": (50, 4)}


def main() -> None:
    programs, missing = {}, []
    for name, module in PROGRAMS.items():
        try:
            programs[name] = importlib.import_module(f"peers.{module}")
        except ImportError as error:
            missing.append(f"{name} is left out: {error}")
    print(machine(("mujoco", "exudyn", "drake", "pybullet", "pin", "sympy")), *missing, sep="\n")
    for motion in MOTIONS.values():
        steps = {name: ladder(program, motion) for name, program in programs.items()}
        for goal, limit in GOALS.items():
            report(programs, motion, goal, {name: coarsest(found, limit) for name, found in steps.items()})


def ladder(program, motion) -> list[tuple[float, float]]:
    """(step, error) from coarse to fine, until the error is a third of the finest goal twice or the runs get long."""
    end, found = motion.end(DURATION), []
    for dt in LADDER:
        try:
            place, seconds = program.run(motion, dt, DURATION)
        except Exception as error:      # a program may give up on a step that is too coarse for it
            print(f"  {program.__name__.removeprefix('peers.')} gives up at {dt} s: {(str(error) or type(error).__name__).splitlines()[0][:100]}")
            continue
        found.append((dt, float(np.linalg.norm(place - end))))
        if seconds > PATIENCE or max((error for _, error in found[-2:]), default=1.0) < min(GOALS.values()) / 3 and len(found) > 1:
            break
    return found


def coarsest(found: list[tuple[float, float]], limit: float) -> tuple[float, float] | None:
    """The largest step that meets the limit together with the next finer one."""
    for (dt, error), (_, finer) in zip(found, found[1:]):
        if max(error, finer) <= limit:
            return dt, error
    return None


def report(programs, motion, goal: str, steps: dict[str, tuple[float, float] | None]) -> None:
    able = {name: step for name, step in steps.items() if step is not None}
    measures = {name: (lambda name=name: programs[name].run(motion, able[name][0], DURATION)[1] / DURATION) for name in able}
    cost = interleaved(measures)
    ours = cost["nhmech, loop in C"]
    rows = [(name, *able[name], cost[name] * able[name][0] * 1e6, cost[name], cost[name] / ours, programs[name].CHOSEN[motion.name])
            for name in sorted(cost, key=cost.get)]
    rows += [(name, "-", "-", "-", "-", "-", f"not within {goal} in runs of {PATIENCE:g} s; {programs[name].CHOSEN[motion.name]}")
             for name in steps if name not in able]
    print(table(("", "dt [s]", "end error [m]", "us/step", "s per s", "ratio", "   with"), rows,
                f"\n{motion.name}: wall seconds per simulated second, end within {goal} of ideal rolling after {DURATION:g} s"))
    times, factor = AIMS[motion.name]
    rivals = [name for name in SIMULATORS if name in cost]
    if rivals:
        best = min(rivals, key=cost.get)
        print(f"{cost[best] / ours:.0f} times the best simulator, {best} (aim {times}), counting the loop alone; "
              f"{cost[best] / cost['nhmech, Simulator.run']:.0f} times with Simulator.run around it")
    print(f"{ours / cost['hand-written C']:.2f} of the hand-written C (aim {factor})")


if __name__ == "__main__":
    main()
