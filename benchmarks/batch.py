"""Batches: steps per second and core of 1000 cases side by side, against the scalar loop
in C and against MuJoCo's rollout.

All run in turn in this one process, and processor time is counted, so that other programs on the
machine matter little. Aims: differential drive 1e7 and bicycle 5e5 steps/s per core, 100 times
MuJoCo on as many threads.
"""

from __future__ import annotations

import os
from functools import cache

import numpy as np
from common.motions import MOTIONS
from common.report import aim, machine, measured
from common.timing import Spent, interleaved, seconds, window

import nhmech
from nhmech.simulation.batch_input import stepper

CASES, DT = 1000, 1e-3
# vehicle -> speeds at the start, steps of a run, aim [steps/s per core]
VEHICLES = {"differential_drive": ({"left_wheel_joint": 3.0, "right_wheel_joint": 2.0}, 1000, 1e7),
            "bicycle": ({"rear_wheel_joint": 15.0, "roll_rate": 0.1}, 200, 5e5)}


def main() -> None:
    print(machine(("mujoco",)))
    threads = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    for name, (xi, steps, wanted) in VEHICLES.items():
        measures = nhmech_measures(name, xi, steps, threads)
        if name == "differential_drive":
            measures |= mujoco_measures(threads)
        rates = interleaved(measures)
        scalar, core = rates["scalar loop in C"], rates["batch, 1 thread"]
        rows = [(label, rate, rate / scalar, core / rate) for label, rate in rates.items()]
        print(measured(("", "steps/s per core", "of the scalar loop", "batch on one core is"), rows,
                    f"\n{name}, {CASES} cases, dt = {DT} s, {stepper(shipped(name)).runner.width} "
                    "lanes"))
        aim(f"batch of {name}: steps/s per core", core, wanted)
        for label in rates:
            if label.startswith("MuJoCo"):
                ours = label.replace("MuJoCo rollout", "batch")
                aim(f"{ours}, of MuJoCo's rollout on as many", rates[ours] / rates[label], 100)


@cache
def shipped(name: str):
    return nhmech.load(nhmech.urdf_path(name))


def nhmech_measures(name: str, xi: dict, steps: int, threads: int) -> dict:
    vehicle = shipped(name)
    rng = np.random.default_rng(0)
    one = nhmech.start_states(vehicle, [(0, 0, 0)], xi=xi)
    x0 = np.tile(one, (CASES, 1))
    u = rng.normal(size=(CASES, vehicle.constrained.system.u.numel())) * 1e-3
    simulator = nhmech.Simulator(vehicle, dt=DT)

    def scalar() -> float:
        count = steps * 50

        def run() -> Spent:
            simulator.reset(xi=xi)
            with Spent(count) as took:
                simulator.run(count * DT, every=count)
            return took

        return 1 / window(run)

    def batch(inputs, **options):
        def run() -> None:
            done = nhmech.simulate_batch(vehicle, x0, inputs, dt=DT, duration=steps * DT,
                                         **{"every": steps, "threads": 1, **options})
            if not done.ok.all():
                raise RuntimeError(done.stop[int(np.argmin(done.ok))])

        return lambda: CASES * steps / seconds(run)

    gain = 0.01 * np.ones(u.shape[1])
    measures = {
        "scalar loop in C": scalar,
        "batch, 1 thread": batch(u),
        "batch, 1 thread, each 10th step recorded": batch(u, every=10),
        "batch, 1 thread, a policy each 10 steps": batch(
            lambda t, x: u - gain * x[:, -u.shape[1] :] * 1e-3, control_period=10 * DT
        ),
    }
    for measure in measures.values():
        measure()  # compiles
    return (
        measures
        if threads == 1
        else measures | {f"batch, {threads} threads": batch(u, threads=threads)}
    )


def mujoco_measures(threads: int) -> dict:
    try:
        import mujoco
        from mujoco import rollout
        from peers.mujoco_contacts import PYRAMID, model as drive
    except ImportError as error:
        print(f"MuJoCo's rollout is left out: {error}")
        return {}
    model = drive(MOTIONS["drive, gentle"], DT, **PYRAMID)
    state = mujoco.mjtState.mjSTATE_FULLPHYSICS
    data = [mujoco.MjData(model) for _ in range(threads)]
    initial = np.zeros(mujoco.mj_stateSize(model, state))
    mujoco.mj_getState(model, data[0], initial, state)
    steps = 20
    applied = np.zeros((CASES, steps, model.nv))
    applied[:, :, 6:] = np.random.default_rng(0).normal(size=(CASES, 1, 2)) * 1e-3

    def measure(pool, n: int):
        def run() -> None:
            pool.rollout(model, data[:n], np.tile(initial, (CASES, 1)), applied,
                         control_spec=mujoco.mjtState.mjSTATE_QFRC_APPLIED)

        return lambda: CASES * steps / seconds(run)

    pools = {n: rollout.Rollout(nthread=n if n > 1 else 0) for n in sorted({1, threads})}
    return {f"MuJoCo rollout, {n} thread{'s' * (n > 1)}": measure(pool, n)
            for n, pool in pools.items()}


if __name__ == "__main__":
    main()
