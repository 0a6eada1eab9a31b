"""Runs benchmarks one after the other and prints one table of all that they measure.

    python benchmarks/common/summary.py [--out FOLDER] BENCHMARK ...

What each of them prints itself, with settings, versions and peers that are left out, goes to a file
in FOLDER (out/bench). One that has not ended after ten minutes of processor time, or half an hour,
is ended; what it has measured by then is in the table.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import IO

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common.report import ROWS, Row, machine, read_rows, table  # noqa: E402

HEAD = "measured", "figure", "unit", "aim", ""
# [s] of processor time for one benchmark, three times what the longest takes; and of waiting, so
# that one beside other work comes to its end and one that hangs does not
LIMIT, WAIT = 600, 1800.0


def run(file: Path, out: Path) -> tuple[list[Row], bool]:
    """What a benchmark measures, and whether it came to its end."""
    with tempfile.TemporaryDirectory() as folder, open(out / f"{file.stem}.txt", "w") as text:
        rows = Path(folder) / "rows"
        ended = _end_in_time([sys.executable, str(file)], {**os.environ, ROWS: str(rows)}, text)
        return (read_rows(rows) if rows.exists() else []), ended


def _end_in_time(words: list[str], environment: dict[str, str], text: IO[str]) -> bool:
    """Whether a program ends well within `LIMIT` and `WAIT`; else it goes with all that it
    started."""
    with subprocess.Popen(words, env=environment, stdout=text, stderr=subprocess.STDOUT,
                          start_new_session=True, preexec_fn=_limit_processor_time) as process:
        try:
            code = process.wait(WAIT)
        except subprocess.TimeoutExpired:
            print(f"ended after {WAIT:g} s", file=text)
            return False
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        if code == -signal.SIGXCPU:
            print(f"ended after {LIMIT} s of processor time", file=text)
        return code == 0


def _limit_processor_time() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 10))


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
