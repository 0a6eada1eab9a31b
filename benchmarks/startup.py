"""How long a vehicle takes from its file to the first steps in C, without the imports:
cold (compiled) and warm (from the cache). Times are of the processor, the compiler's included.

python benchmarks/startup.py [URDF ...]     further files are loaded with all their joints free
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from common.timing import Spent

REPEATS = 5
AIMS = {"differential_drive": (2.0, 0.3), "bicycle": (6.0, None)}      # [s] cold, warm
AIM_ALL_FREE = 60.0


def started(source: str, all_free: bool) -> dict[str, float]:
    """Times [s] of the stages in this process: load, equations and step function, code and library,
    and 10 steps."""
    import nhmech
    import nhmech.simulation
    import nhmech.vehicle

    for package in (nhmech.vehicle, nhmech.simulation):
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")

    free = locked_joints(source) if all_free else ()
    with Spent(children=True) as load:
        vehicle = nhmech.load(source, free=free)
    with Spent(children=True) as equations:
        chart = nhmech.Simulator(vehicle).atlas.primary
        _ = chart.advance
    with Spent(children=True) as library:
        chart.loop(build=True)
    with Spent(children=True) as steps:
        # an arm without a controller falls on the ground
        if not all_free:
            nhmech.Simulator(vehicle).run(0.01)
    stages = {"load": load, "equations": equations, "library": library, "steps": steps}
    return {name: took.processor for name, took in stages.items()} | {"nxi": vehicle.frame.nxi}


def locked_joints(source: str) -> tuple[str, ...]:
    """Moving joints of a file that `nhmech.load` holds unless told otherwise."""
    import pinocchio as pin

    import nhmech

    found = nhmech.load(source).algebroid.v_names
    return tuple(name for name in pin.buildModelFromUrdf(source).names[1:] if name not in found)


def measured(source: str, all_free: bool, cache: str) -> dict[str, float]:
    """`started` in a process of its own with the given cache folder."""
    words = [sys.executable, __file__, "--one", source, "--all-free" if all_free else "--plain"]
    done = subprocess.run(words, env={**os.environ, "NHMECH_CACHE": cache}, capture_output=True,
                          text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def row(title: str, times: list[dict[str, float]]) -> tuple[str, float]:
    """Medians of the stages and of the total; the total."""
    stages = ("load", "equations", "library", "steps")
    total = statistics.median(sum(t[stage] for stage in stages) for t in times)
    cells = "".join(f"{statistics.median(t[stage] for t in times):11.3f}" for stage in stages)
    return f"{title:<34}{times[0]['nxi']:4d}{cells}{total:9.3f}", total


def main(files: list[str]) -> None:
    from common.report import aim, machine

    import nhmech

    print(machine())
    print(f"\nprocessor seconds after imports, medians of {REPEATS}; all joints free: one")
    print(f"{'':<34}{'nxi':>4}{'load':>11}{'equations':>11}{'library':>11}{'steps':>11}{'all':>9}")
    jobs = [(nhmech.urdf_path(name), name, False) for name in AIMS]
    jobs += [(file, f"{Path(file).name}, all free", True) for file in files]
    verdicts = []
    for source, title, all_free in jobs:
        times = {"cold": [], "warm": []}
        for _ in range(1 if all_free else REPEATS):
            with tempfile.TemporaryDirectory() as cache:
                for kind in times:
                    times[kind].append(measured(source, all_free, cache))
        for kind, wanted in zip(times, (AIM_ALL_FREE, None) if all_free else AIMS[title]):
            text, total = row(f"{title}, {kind}", times[kind])
            print(text, flush=True)
            if wanted is not None:
                verdicts.append((f"from file to steps, {title}, {kind} [s]", total, wanted))
    for verdict in verdicts:
        aim(*verdict, least=False)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(started(sys.argv[2], sys.argv[3] == "--all-free")))
    else:
        main(sys.argv[1:])
