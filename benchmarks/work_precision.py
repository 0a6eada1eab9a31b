"""Time at equal error, and at an equal controlled step: a differential drive and a rolling disc,
against other simulators and against hand-written C.

Every program gets the same motions of 10 s: a gentle and a lively one of the drive, and the disc.
Each simulator is tried with several settings (`TRIED` in its file), and each of them with finer and
finer steps, until it ends, with that step and with the next finer one, within 1 cm (1 mm) of where
*ideal rolling* ends; the settings and the step that need least time are taken, a last step between
the coarsest good one and the next coarser one tried too. Then all are timed in turn in this one
process.

Ideal rolling is what nhmech, Pinocchio in Python, SymPy, the hand-written C and Exudyn's joints
solve; to a simulator of contacts slip is part of the truth, and what is called error here is in
part the motion that it means to show. The two loops in C are timed over many steps of the same
motion; every other program over the motion, with its own call from Python. Times are of the
processor, which on an idle machine are those of the clock, for every program runs on one thread.

Beside that, what a user with a controller in Python pays: each simulator takes steps of 10 ms, with
the settings that served best above, and asks a function for the torques before each of them.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass

import numpy as np
from common.motions import MOTIONS
from common.programs import find_programs
from common.report import Row, aim, machine, table
from common.timing import Spent, interleaved, window

DURATION = 10.0
LADDER = (2.5, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5)
PATIENCE = 3.0          # [s] of processor time: a run that would take longer is not tried
GOALS = {"1 cm": 1e-2, "1 mm": 1e-3}
CONTROLLED = 0.01       # [s] step whose torques a controller in Python gives
LOOP, RUN, HAND = "nhmech, loop in C", "nhmech, Simulator.run", "hand-written C"
PROGRAMS = {LOOP: "nhmech_loop", RUN: "nhmech_urdf", HAND: "hand_c", "MuJoCo": "mujoco_contacts",
            "Exudyn": "exudyn_joints", "Drake": "drake_contacts", "PyBullet": "pybullet_contacts",
            "Pinocchio in Python": "pinocchio_python", "SymPy Kane": "sympy_kane"}
SIMULATORS = ("MuJoCo", "Exudyn", "Drake", "PyBullet")
AIMS = {"differential_drive": (500, 2), "disc": (50, 4)}


@dataclass(frozen=True)
class Rung:
    """One run: its steps, how far from the end of ideal rolling it ends [m], its processor
    time [s], and with which settings."""

    steps: int
    error: float
    seconds: float
    settings: dict


def main() -> None:
    programs, missing = find_programs("peers", PROGRAMS)
    print(machine(("mujoco", "exudyn", "drake", "pybullet", "pin", "sympy")), *missing, sep="\n")
    for motion in MOTIONS.values():
        with silence():
            chosen = {name: choose(program, motion) for name, program in programs.items()}
        for goal in GOALS:
            report(programs, motion, goal,
                   {name: found.get(goal) for name, found in chosen.items()})
        if hasattr(motion, "torques"):
            report_controlled(programs, motion, chosen)


def tried(program, motion) -> list[dict]:
    return getattr(program, "TRIED", {}).get(motion.robot, [{}])


def choose(program, motion) -> dict[str, Rung]:
    """For each goal that is met, the run that needs least time."""
    found: dict[str, Rung] = {}
    for settings in tried(program, motion):
        patience = max(found[goal].seconds
                       for goal in GOALS) if len(found) == len(GOALS) else PATIENCE
        rungs = ladder(program, motion, settings, patience)
        for goal, limit in GOALS.items():
            rung = coarsest(rungs, limit)
            if rung is not None and (goal not in found or rung.seconds < found[goal].seconds):
                found[goal] = between(program, motion, rungs, rung, limit)
    return found


def ladder(program, motion, settings: dict, patience: float) -> list[Rung]:
    """Runs from coarse to fine, until the error is a third of the finest goal twice
    or the next one would take too long."""
    found = []
    for dt in (dt for dt in LADDER if dt <= getattr(program, "COARSEST", np.inf)):
        if found and found[-1].seconds * DURATION / dt / found[-1].steps > patience:
            break
        rung = climb(program, motion, round(DURATION / dt), settings)
        if rung is None:
            continue
        found.append(rung)
        if len(found) > 1 and max(r.error for r in found[-2:]) < min(GOALS.values()) / 3:
            break
    return found


def climb(program, motion, steps: int, settings: dict) -> Rung | None:
    """None where the program gives up on a step that is too coarse for it."""
    places = []

    def run():
        place, took = program.run(motion, DURATION / steps, DURATION, **settings)
        places.append(place)
        return took

    try:
        seconds = window(run)
    except Exception:
        return None
    place = places[-1]
    return Rung(steps,
                float(np.nan_to_num(np.linalg.norm(place - motion.end(DURATION)), nan=np.inf)),
                seconds, settings)


def coarsest(rungs: list[Rung], limit: float) -> Rung | None:
    """The one with fewest steps that meets the limit together with the next finer one."""
    return next((rung for rung,
                 finer in zip(rungs, rungs[1:]) if max(rung.error, finer.error) <= limit), None)


def between(program, motion, rungs: list[Rung], rung: Rung, limit: float) -> Rung:
    """A run half-way to the next coarser one, where that meets the limit too; else the given
    one."""
    at = rungs.index(rung)
    if at:
        middle = climb(program, motion, round((rung.steps * rungs[at - 1].steps) ** 0.5),
                       rung.settings)
        if middle is not None and middle.error <= limit and middle.seconds < rung.seconds:
            return middle
    return rung


def report(programs, motion, goal: str, chosen: dict[str, Rung | None]) -> None:
    able = {name: rung for name, rung in chosen.items() if rung is not None}

    def measure(program, rung: Rung):
        return lambda: window(lambda: program.run(motion, DURATION / rung.steps, DURATION,
                                                  **rung.settings)[1]) / DURATION

    measures = {name: measure(programs[name], rung) for name, rung in able.items()}
    with silence():
        cost = interleaved(measures)
    ours, step = cost[LOOP], {name: cost[name] * DURATION / able[name].steps * 1e6 for name in cost}
    rows = [(name, DURATION / able[name].steps, able[name].error, step[name], cost[name],
             cost[name] / ours, cost[name] / cost[RUN]) for name in sorted(cost, key=cost.get)]
    rows += [(name, *["-"] * 6) for name in chosen if name not in able]
    print(table(("", "dt [s]", "error [m]", "us/step", "s per s", "of the loop",
                 "of Simulator.run"), rows,
                f"\n{motion.name}: processor seconds per simulated second; error: distance to the "
                f"end of ideal rolling after {DURATION:g} s, within {goal}"))
    for name in SIMULATORS:
        if name in programs:
            count = len(tried(programs[name], motion))
            words = (f"not within {goal} in runs of {PATIENCE:g} s"
                     if name not in able else described(programs[name], able[name].settings))
            print(f"  {name}: {programs[name].ABOUT[motion.robot]}; {words} ({count} settings "
                  "tried)")
    for name, seconds in cost.items():
        Row(f"{motion.name}, {goal}, {name}: processor time over simulated [s/s]", seconds).add()
    times, factor = AIMS[motion.robot]
    rivals = [name for name in SIMULATORS if name in able]
    if rivals:
        best, where = min(rivals, key=cost.get), f"{motion.name}, {goal}"
        aim(f"{where}: loop in C against the best simulator, {best}", cost[best] / ours, times)
        aim(f"{where}: Simulator.run against the same", cost[best] / cost[RUN], times)
    aim(f"{motion.name}, {goal}: loop in C over hand-written C at equal error", ours / cost[HAND],
        factor, least=False)
    aim(f"{motion.name}, {goal}: the same, a step", step[LOOP] / step[HAND], factor, least=False)


def report_controlled(programs, motion, chosen: dict[str, dict[str, Rung]]) -> None:
    """A step of one length whose torques a function in Python gives, by each simulator."""
    torques = np.array(motion.torques)
    names = [name for name in (RUN, *SIMULATORS) if name in programs]
    best = {name: next(iter(chosen[name].values()), None) for name in names}
    calls = {name: (programs[name].run, {} if rung is None else rung.settings)
             for name, rung in best.items()}
    calls["nhmech, step()"] = programs[RUN].step, {}
    ends: dict[str, float] = {}

    def measure(name: str):
        run, settings = calls[name]

        def once() -> Spent:
            place, took = run(motion, CONTROLLED, DURATION, control=give, **settings)
            ends[name] = float(np.linalg.norm(place - motion.end(DURATION)))
            return took
        return lambda: window(once) * CONTROLLED / DURATION * 1e6

    def give(t: float) -> np.ndarray:
        return torques

    with silence():
        cost = interleaved({name: measure(name) for name in calls})
    rows = [(name, ends[name], cost[name], cost[name] / cost[RUN])
            for name in sorted(cost, key=cost.get)]
    print(table(("", "error [m]", "us/step", "of Simulator.run"), rows,
                f"\n{motion.name}: steps of {1e3 * CONTROLLED:g} ms, the torques of each from a "
                f"controller in Python; error as above, whatever it is"))
    for name, micros in cost.items():
        Row(f"{motion.name}, controlled steps of {1e3 * CONTROLLED:g} ms, {name}: a step [us]",
            micros, least=False).add()


def described(program, settings: dict) -> str:
    return ", ".join(f"{key} {value}" for key, value in {**program.USUAL, **settings}.items())


@contextlib.contextmanager
def silence():
    """What solvers print from C goes nowhere."""
    sys.stdout.flush()
    kept = [os.dup(1), os.dup(2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1), os.dup2(nowhere, 2)
        yield
    finally:
        sys.stdout.flush(), sys.stderr.flush()
        for handle, target in zip(kept, (1, 2)):
            os.dup2(handle, target), os.close(handle)
        os.close(nowhere)


if __name__ == "__main__":
    main()
