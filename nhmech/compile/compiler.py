"""The system's C compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..errors import CompileError

LARGE = 20_000      # instructions from which compile time counts for more than speed


@dataclass(frozen=True)
class Compiler:
    """A C compiler that answered: its path and the first line of its version."""

    path: str
    version: str

    def flags(self, instructions: int) -> tuple[str, ...]:
        """-O2 for small code, -O1 for large: the optimiser's time grows faster than what it saves. No fast-math: NaN must stay NaN."""
        return ("-O1" if instructions > LARGE else "-O2", "-fPIC", "-shared")

    def build(self, source: Path, library: Path, instructions: int) -> None:
        """Compiles one file. Raises `CompileError` with the compiler's own words."""
        command = [self.path, *self.flags(instructions), "-o", str(library), str(source), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise CompileError(f"{self.path} failed on generated code ({' '.join(command)}): {done.stderr.strip()[:2000]}")


@lru_cache(maxsize=1)
def find_compiler() -> Compiler | None:
    """`CC` where it is set, else cc, gcc or clang; None where there is none. `CC=none` asks for none.

    Raises `CompileError` where `CC` names something that does not run.
    """
    wanted = os.environ.get("CC", "").strip()
    if wanted.lower() == "none":
        return None
    for name in [wanted] if wanted else ["cc", "gcc", "clang"]:
        path = shutil.which(name)
        if path is None:
            continue
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if answer.returncode == 0:
            return Compiler(path, answer.stdout.splitlines()[0] if answer.stdout else "")
    if wanted:
        raise CompileError(f"CC={wanted} is no compiler that runs; unset CC, or set CC=none to do without")
    return None
