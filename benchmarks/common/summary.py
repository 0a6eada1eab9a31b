"""Runs benchmarks one after the other and prints one table of all that they measure.

    python benchmarks/common/summary.py [--out FOLDER] BENCHMARK ...

What each of them prints itself, with settings, versions and peers that are left out, goes to a file
in FOLDER (out/bench).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common.report import ROWS, Row, machine, read_rows, table  # noqa: E402

HEAD = "measured", "figure", "unit", "aim", ""


def run(file: Path, out: Path) -> tuple[list[Row], bool]:
    """What a benchmark measures, and whether it came to its end."""
    with tempfile.TemporaryDirectory() as folder, open(out / f"{file.stem}.txt", "w") as text:
        rows = Path(folder) / "rows"
        done = subprocess.run([sys.executable, str(file)], env={**os.environ, ROWS: str(rows)},
                              stdout=text, stderr=subprocess.STDOUT)
        return (read_rows(rows) if rows.exists() else []), done.returncode == 0


def main() -> int:
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("out/bench"), metavar="FOLDER")
    parser.add_argument("benchmarks", type=Path, nargs="+", metavar="BENCHMARK")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    found, failed = [], []
    for file in given.benchmarks:
        begun = time.monotonic()
        print(f"{file} ...", end=" ", file=sys.stderr, flush=True)
        rows, ended = run(file, given.out)
        print(f"{time.monotonic() - begun:.0f} s", file=sys.stderr)
        found += [(f"{file.stem}: {row.name}", row.value, row.unit, *row.verdict) for row in rows]
        if not ended:
            failed.append(f"{file}: see {given.out / file.stem}.txt")
    print(machine())
    print(table(HEAD, found))
    print(*(f"failed: {one}" for one in failed), sep="\n")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
