"""What is asked of a run beside its steps: ground forces, judgements, exports, reports; processor
time of commands and calls, here and, interleaved, in another checkout of the project:

    python benchmarks/after_a_run.py [CHECKOUT]
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from common.report import machine, table  # noqa: E402

HERE = Path(__file__).resolve().parent.parent
ROUNDS = 3

COMMANDS = {
    "nhmech run, 20 s": "run differential_drive --duration 20 --save {run}",
    "nhmech run --mu 0.8, 20 s": "run differential_drive --duration 20 --mu 0.8 --save {run}",
    "export of 20,001 states, CSV": "export {run} {folder}/run.csv",
    "export of 20,001 states, MCAP": "export {run} {folder}/run.mcap",
    "report of 20,001 states": "report {run} --out {folder}/run.html",
    "plot of 20,001 states": "plot {run} --out {folder}/run.pdf",
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


def environment(checkout: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(checkout)}


def command_seconds(checkout: Path, words: str) -> float:
    """Processor time of a command [s]."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "nhmech", *words.split()], env=environment(checkout),
                   cwd=checkout, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def call_microseconds(checkout: Path, code: str) -> float:
    done = subprocess.run([sys.executable, "-c", code], env=environment(checkout),
                          cwd=checkout, check=True, capture_output=True, text=True)
    return float(done.stdout)


def main() -> None:
    print(machine())
    checkouts = {"here": HERE, **{path: Path(path).resolve() for path in sys.argv[1:]}}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        words = {name: text.format(run=f"{folder}/run.npz", folder=folder)
                 for name, text in COMMANDS.items()}
        for names, measure, unit in ((words, command_seconds, "s"),
                                     (CALLS, call_microseconds, "us")):
            for name, what in names.items():
                found: dict[str, list[float]] = {checkout: [] for checkout in checkouts}
                for _ in range(ROUNDS):
                    for checkout, path in checkouts.items():
                        found[checkout].append(measure(path, what))
                rows.append((f"{name} [{unit}]", *map(min, found.values())))
    print(table(("processor time, least of " + str(ROUNDS), *checkouts), rows))


if __name__ == "__main__":
    main()
