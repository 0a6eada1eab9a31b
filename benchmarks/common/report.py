"""The machine's description, interleaved timing, and tables."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

from nhmech.compile.compiler import find_compiler
from nhmech.version import __version__

ROUNDS = 7
# environment: a file that every `aim` is added to, which `make bench` shows at the end
SUMMARY = "NHMECH_BENCH_SUMMARY"


def machine(packages: tuple[str, ...] = ()) -> str:
    """Processor, compiler, and the versions of what is compared."""
    compiler = find_compiler()
    versions = [f"nhmech {__version__}", f"Python {platform.python_version()}"]
    for package in ("casadi", "numpy", *packages):
        try:
            versions.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    load = os.getloadavg()[0]
    built = compiler.version if compiler else "no C compiler"
    return (f"{_processor()}, {os.cpu_count()} cores, load {load:.1f} at the start\n{built}\n"
            f"{', '.join(versions)}")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def interleaved(measures: dict[str, Callable[[], float]], rounds: int = ROUNDS,
                enough: float = 4.0) -> dict[str, float]:
    """Medians of what each function returns, one round after another so that all see the same
    machine.

    After three rounds, a function that has had `enough` seconds sits out.
    """
    found: dict[str, list[float]] = {name: [] for name in measures}
    spent = dict.fromkeys(measures, 0.0)
    for i in range(rounds):
        for name, measure in measures.items():
            if i < 3 or spent[name] < enough:
                begin = time.perf_counter()
                found[name].append(measure())
                spent[name] += time.perf_counter() - begin
    return {name: statistics.median(values) for name, values in found.items()}


def aim(what: str, found: float, wanted: float, least: bool = True) -> None:
    """Says whether a number is as large (`least`) or as small as it should be; the line goes into
    the summary too."""
    met = found >= wanted if least else found <= wanted
    aim = f"aim {'at least' if least else 'at most'} {wanted:g}"
    line = f"{what}: {found:.3g} ({aim}) {'met' if met else 'MISSED'}"
    print(line)
    if os.environ.get(SUMMARY):
        with open(os.environ[SUMMARY], "a") as file:
            file.write(line + "\n")


def table(head: tuple[str, ...], rows: list[tuple], title: str = "") -> str:
    """Columns as wide as what stands in them; the first one flush left."""
    cells = [head, *[tuple(cell if isinstance(cell, str) else f"{cell:.3g}"
                           for cell in row) for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = ["  ".join([row[0].ljust(widths[0]),
                        *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in cells]
    rule = "-" * max(map(len, lines))
    return "\n".join([*([title] if title else []), lines[0], rule, *lines[1:], ""])
