"""The machine's description, and tables of what was measured."""

from __future__ import annotations

import json
import os
import platform
import re
from dataclasses import astuple, dataclass
from importlib import metadata
from pathlib import Path

from nhmech.compile.compiler import find_compiler
from nhmech.version import __version__

# environment: a file that each `Row` is added to, of which `make bench` makes one table
ROWS = "NHMECH_BENCH_ROWS"
UNIT = re.compile(r" ?\[([^\]]*)\]")


@dataclass(frozen=True)
class Row:
    """One thing that was measured; its name has the unit in brackets, where there is one.

    Attributes
    ----------
    aim
        What it should be: at least (`least`) or at most; None where nothing was set.
    """

    what: str
    value: float
    aim: float | None = None
    least: bool = True

    @property
    def name(self) -> str:
        """Without the unit."""
        return UNIT.sub("", self.what)

    @property
    def unit(self) -> str:
        units = UNIT.findall(self.what)
        return units[-1] if units else ""

    @property
    def verdict(self) -> tuple[str, str]:
        """The aim, and whether it is met."""
        if self.aim is None:
            return "", ""
        met = self.value >= self.aim if self.least else self.value <= self.aim
        return f"{'>=' if self.least else '<='} {self.aim:g}", "met" if met else "MISSED"

    def add(self) -> None:
        """To the table of all benchmarks, where one is made."""
        if os.environ.get(ROWS):
            with open(os.environ[ROWS], "a") as file:
                file.write(json.dumps(astuple(self)) + "\n")


def read_rows(file: Path) -> list[Row]:
    """What was added to a file."""
    return [Row(*json.loads(line)) for line in file.read_text().splitlines()]


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


def aim(what: str, found: float, wanted: float, least: bool = True) -> None:
    """Says whether a number is as large (`least`) or as small as it should be."""
    row = Row(what, found, wanted, least)
    row.add()
    print(f"{what}: {found:.3g} (aim {' '.join(row.verdict)})")


def measured(head: tuple[str, ...], rows: list[tuple], title: str = "",
             aims: dict[str, float] | None = None) -> str:
    """A table whose numbers are also rows of that of all benchmarks: what the title, the row and
    the column say, with the unit in brackets. Aims, which are to be at most, are by the row."""
    for label, *cells in rows:
        for column, value in zip(head[1:], cells):
            if not isinstance(value, str):
                words = title.strip().partition(":")[0], label, column
                Row(", ".join(filter(None, words)), float(value), (aims or {}).get(label),
                    least=False).add()
    return table(head, rows, title)


def table(head: tuple[str, ...], rows: list[tuple], title: str = "") -> str:
    """Columns as wide as what stands in them; the first one flush left."""
    cells = [head, *[tuple(cell if isinstance(cell, str) else f"{cell:.3g}"
                           for cell in row) for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = ["  ".join([row[0].ljust(widths[0]),
                        *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in cells]
    rule = "-" * max(map(len, lines))
    return "\n".join([*([title] if title else []), lines[0], rule, *lines[1:], ""])
