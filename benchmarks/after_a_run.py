"""What is asked of a run beside its steps: ground forces, judgements, exports, reports; processor
time of commands and calls, here and, interleaved, in another checkout of the project:

    python benchmarks/after_a_run.py [CHECKOUT]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from common.checkouts import (  # noqa: E402
    ROUNDS,
    checkouts,
    command_seconds,
    least,
    printed_number,
)
from common.report import machine, table  # noqa: E402

COMMANDS = {
    "nhmech run, 20 s": "run differential_drive --duration 20 --save {run}",
    "nhmech run --mu 0.8, 20 s": "run differential_drive --duration 20 --mu 0.8 --save {run}",
    "export of 20,001 states, CSV": "export {run} {folder}/run.csv",
    "export of 20,001 states, MCAP": "export {run} {folder}/run.mcap",
    "report of 20,001 states": "report {run} -o {folder}/run.html",
    "plot of 20,001 states": "plot {run} -o {folder}/run.pdf",
}
# prints microseconds
CALLS = {
    f"reactions of a recorded state, {name}": f"""
import nhmech
from time import process_time
vehicle = nhmech.load(nhmech.urdf_path({name!r}))
run = nhmech.Simulator(vehicle).run({seconds})
wheel = vehicle.contact_names[0]
for again in range(2):     # the second time in compiled code, if it was worth it
    begin = process_time()
    nhmech.Trajectory(**{{**vars(run), "system": run.system}}).force(wheel)
    found = process_time() - begin
print(found / len(run) * 1e6)
""" for name, seconds in (("differential_drive", 20.0), ("ackermann_car", 20.0), ("trailers", 20.0))
}


def main() -> None:
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        words = {name: text.format(run=f"{folder}/run.npz", folder=folder)
                 for name, text in COMMANDS.items()}
        rows = least(command_seconds, words, "s") + least(printed_number, CALLS, "us")
    print(table((f"processor time, least of {ROUNDS}", *checkouts()), rows))


if __name__ == "__main__":
    main()
