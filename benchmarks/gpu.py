"""Batches of a million cases on an NVIDIA GPU: steps per second of whole calls and of the kernel
alone, and how far the result is from the processor's.

The time on the wall is counted, since the GPU does not work on the processor's clock. A whole call
begins and ends with arrays of NumPy; the kernel's rate is that of the steps by which one call is
longer than another. Without a GPU nothing is measured, and the reason is printed. Aim: differential
drive 1e9 steps/s.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from common.report import aim, machine, measured
from common.timing import Spent, interleaved

import nhmech
from nhmech.simulation.batch_input import stepper

CASES, FEW, DT = 1_000_000, 10_000, 1e-3
LONGER = 5      # times as many steps
# vehicle -> speeds at the start, steps of the shorter run
VEHICLES = {"differential_drive": ({"left_wheel_joint": 3.0, "right_wheel_joint": 2.0}, 1000),
            "mecanum": ({}, 1000),
            "ackermann_car": ({"rear_left_wheel_joint": 2.0}, 200),
            "bicycle": ({"rear_wheel_joint": 15.0, "roll_rate": 0.1}, 100)}
HEAD = ("", "steps/s of a call", "steps/s of the kernel", "of the processor's, all threads",
        "deviation from it", "kernel ready after [s]")


def main() -> None:
    print(machine(("cuda-bindings", "nvidia-cuda-nvrtc")))
    try:
        rows = [row(name, xi, steps) for name, (xi, steps) in VEHICLES.items()]
    except nhmech.CompileError as error:
        print(f"batches on a GPU are left out: {error}")
        return
    print(measured(HEAD, rows, f"\n{CASES} cases on {graphics()}, dt = {DT} s"))
    aim("batch of differential_drive on a GPU: steps/s", rows[0][1], 1e9)


def row(name: str, xi: dict[str, float], steps: int) -> tuple:
    """What stands under `HEAD`."""
    vehicle = nhmech.load(nhmech.urdf_path(name))
    with Spent() as ready:
        stepper(vehicle, device="gpu")
    x0 = np.tile(nhmech.start_states(vehicle, [(0, 0, 0)], xi=xi), (CASES, 1))
    u = np.random.default_rng(0).normal(size=(CASES, vehicle.constrained.system.u.numel())) * 1e-3

    def run(count: int, length: int, device: str) -> nhmech.Batch:
        done = nhmech.simulate_batch(vehicle, x0[:count], u[:count], dt=DT, duration=length * DT,
                                     every=length, device=device)
        if not done.ok.all():
            raise RuntimeError(done.stop[int(np.argmin(done.ok))])
        return done

    def waited(*given) -> float:
        with Spent() as took:
            run(*given)
        return took.wall

    cpu, gpu = (run(FEW, steps, device).x for device in ("cpu", "gpu"))
    deviation = (np.abs(gpu - cpu) / (1 + np.abs(cpu))).max()
    found = interleaved({"call": partial(waited, CASES, steps, "gpu"),
                         "longer": partial(waited, CASES, LONGER * steps, "gpu"),
                         "processor": partial(waited, FEW, steps, "cpu")})
    rate = CASES * steps / found["call"]
    kernel = (LONGER - 1) * CASES * steps / (found["longer"] - found["call"])
    return name, rate, kernel, rate / (FEW * steps / found["processor"]), deviation, ready.wall


def graphics() -> str:
    """The GPU's name."""
    from cuda.bindings import driver

    return driver.cuDeviceGetName(100, 0)[1].partition(b"\0")[0].decode()


if __name__ == "__main__":
    main()
