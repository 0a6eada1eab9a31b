"""Gymnasium environments: steps a second of a random policy, one environment against many lanes, by
processor time."""

from __future__ import annotations

import sys
from pathlib import Path
from time import process_time

import numpy as np

sys.path[0] = str(Path(__file__).resolve().parent)

from common.report import aim, interleaved, machine, measured  # noqa: E402

from nhmech.gym import PathFollowing, PathFollowingVector  # noqa: E402

VEHICLES = "differential_drive", "ackermann_car"
LANES = 64, 1024
CALLS = 50


AIMS = {1: 2e4, 64: 8e5, 1024: 4e6}       # of the differential drive


def main() -> None:
    print(machine(("gymnasium",)))
    for name in VEHICLES:
        measures = {"1, PathFollowing": one(name)} | {
            f"{n}, PathFollowingVector": many(name, n) for n in LANES
        }
        rates = interleaved(measures)
        first = rates["1, PathFollowing"]
        print(measured(("environments", "steps/s per core", "of one"),
                    [(label, rate, rate / first) for label, rate in rates.items()],
                    f"\n{name}, a step of 0.05 s being 5 of the simulator"))
        if name == VEHICLES[0]:
            for (lanes, wanted), rate in zip(AIMS.items(), rates.values()):
                aim(f"gym, {name}: steps/s per core of {lanes} lanes", rate, wanted)


def one(name: str):
    env = PathFollowing(name)
    rng = np.random.default_rng(0)
    env.reset(seed=0)

    def measure() -> float:
        begun = process_time()
        for _ in range(CALLS):
            _, _, ended, cut, _ = env.step(rng.uniform(-1, 1, env.action_space.shape))
            if ended or cut:
                env.reset()
        return CALLS / (process_time() - begun)

    return measure


def many(name: str, lanes: int):
    env = PathFollowingVector(lanes, name)
    rng = np.random.default_rng(0)
    env.reset(seed=0)

    def measure() -> float:
        begun = process_time()
        for _ in range(CALLS):
            env.step(rng.uniform(-1, 1, env.action_space.shape))
        return lanes * CALLS / (process_time() - begun)

    return measure


if __name__ == "__main__":
    main()
