"""What is asked of a run beside its steps: ground forces, judgements, exports, reports; processor
time of commands and calls, here and, interleaved, in another checkout of the project:

    python benchmarks/after_a_run.py [CHECKOUT]
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from common.checkouts import (
    ROUNDS,
    checkouts,
    command_seconds,
    medians,
    printed_number,
)
from common.report import machine, measured

COMMANDS = {
    "nhmech run, 20 s": "run differential_drive --duration 20 --save {folder}/run.npz",
    "nhmech run --mu 0.8, 20 s":
        "run differential_drive --duration 20 --mu 0.8 --save {folder}/run.npz",
    "export of 20,001 states, CSV": "export {folder}/run.npz -o {folder}/run.csv",
    "export of 20,001 states, MCAP": "export {folder}/run.npz -o {folder}/run.mcap",
    "report of 20,001 states": "report {folder}/run.npz -o {folder}/run.html",
    "plot of 20,001 states": "plot {folder}/run.npz -o {folder}/run.pdf",
}
AIMS = {"export of 20,001 states, CSV [s]": 1.0, "export of 20,001 states, MCAP [s]": 4.0,
        "report of 20,001 states [s]": 3.0, "plot of 20,001 states [s]": 1.5,
        "a run of 1e6 recorded steps [s]": 0.5, "the same with save [s]": 0.8,
        "reactions of a recorded state, differential_drive [us]": 5.0}
# prints seconds, or with `save` what the memory of the process peaks at [MiB]
RECORDED = """
import math, resource, tempfile, nhmech
from common.timing import Spent
vehicle = nhmech.load(nhmech.urdf_path("differential_drive"))
drive = lambda t, state: nhmech.JointTorque(
    {{name: 0.3 * math.sin((1 + 0.1 * i) * t) for i, name in enumerate(vehicle.driven)}})
simulator = nhmech.Simulator(vehicle, drive, control_period=1.0)
simulator.run(1.0)
with tempfile.TemporaryDirectory() as folder:
    with Spent() as took:
        simulator.run({seconds}, save={save})
    found = took.processor
print({found})
"""
PEAK = "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024"
SAVED = 'folder + "/run.npz"'
RUNS = {"a run of 1e6 recorded steps": RECORDED.format(seconds=1e3, save=None, found="found"),
        "the same with save": RECORDED.format(seconds=1e3, save=SAVED, found="found")}
PEAKS = {"peak memory, 1e5 recorded steps": RECORDED.format(seconds=1e2, save=None, found=PEAK),
         "peak memory, 1e6 recorded steps": RECORDED.format(seconds=1e3, save=None, found=PEAK),
         "the same, 1e5 with save": RECORDED.format(seconds=1e2, save=SAVED, found=PEAK),
         "the same, 1e6 with save": RECORDED.format(seconds=1e3, save=SAVED, found=PEAK)}
# prints microseconds
CALLS = {
    f"reactions of a recorded state, {name}": f"""
import nhmech
from common.timing import median, seconds
vehicle = nhmech.load(nhmech.urdf_path({name!r}))
run = nhmech.Simulator(vehicle).run({seconds})
wheel = vehicle.contact_names[0]
forces = lambda: nhmech.Trajectory(**{{**vars(run), "system": run.system}}).force(wheel)
forces()       # from then on in compiled code, if it was worth it
print(median(lambda: seconds(forces)) / len(run) * 1e6)
""" for name, seconds in (("differential_drive", 20.0), ("ackermann_car", 20.0), ("trailers", 20.0))
}


def main() -> None:
    print(machine())
    with tempfile.TemporaryDirectory() as folder:

        def seconds(checkout: Path, command: str) -> float:
            """Of a command, with the runs of each checkout in a folder of their own."""
            own = Path(folder) / checkout.name
            own.mkdir(exist_ok=True)
            return command_seconds(checkout, command.format(folder=own).split())

        rows = (medians(seconds, COMMANDS, "s") + medians(printed_number, RUNS, "s")
                + medians(printed_number, PEAKS, "MiB") + medians(printed_number, CALLS, "us"))
    print(measured((f"processor time, median of {ROUNDS}", *checkouts()), rows, aims=AIMS))


if __name__ == "__main__":
    main()
