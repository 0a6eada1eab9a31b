"""Gymnasium environments: steps a second of random actions, one environment against many lanes, by
processor time, here and, interleaved, in another checkout of the project:

    python benchmarks/gym.py [CHECKOUT]
"""

from __future__ import annotations

from common.checkouts import ROUNDS, checkouts, medians, printed_number
from common.report import machine, measured

VEHICLES = "differential_drive", "ackermann_car"
LANES = 64, 1024
# prints microseconds per step and lane; a step of 0.05 s
CODE = """
import numpy as np
from common.timing import median, seconds
from nhmech.gym import PathFollowingEnv, PathFollowingVectorEnv
env, lanes = {environment}, {lanes}
rng = np.random.default_rng(0)
env.reset(seed=0)
def step():
    _, _, ended, cut, _ = env.step(rng.uniform(-1, 1, env.action_space.shape))
    if lanes == 1 and (ended or cut):
        env.reset()
step()
print(median(lambda: seconds(step)) / lanes * 1e6)
"""
ONE, MANY = "PathFollowingEnv({name!r})", "PathFollowingVectorEnv({lanes}, {name!r})"
# of a differential drive: 2e4, 8e5 and 4e6 steps a second
AIMS = {1: 50.0, 64: 1.25, 1024: 0.25}


def main() -> None:
    print(machine(("gymnasium",)))
    codes = {label(name, lanes): CODE.format(
        environment=(ONE if lanes == 1 else MANY).format(name=name, lanes=lanes), lanes=lanes)
             for name in VEHICLES for lanes in (1, *LANES)}
    print(measured((f"processor time, median of {ROUNDS}", *checkouts()),
                   medians(printed_number, codes, "us"),
                   aims={f"{label(VEHICLES[0], lanes)} [us]": aim for lanes, aim in AIMS.items()}))


def label(name: str, lanes: int) -> str:
    return f"a step of one of {lanes} lanes, {name}" if lanes > 1 else f"a step, {name}"


if __name__ == "__main__":
    main()
