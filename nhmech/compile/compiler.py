"""The system's C compiler."""

from __future__ import annotations

import logging
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from ..errors import CompileError

LARGE = 20_000      # instructions from which compile time counts for more than speed


@dataclass(frozen=True)
class Compiler:
    """A C compiler that answered: its path, words that always follow it (`CC="ccache gcc"`),
    and the first line of its version."""

    path: str
    version: str
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.path, *self.words))

    def flags(self, instructions: int) -> tuple[str, ...]:
        """-O2 for small code, -Og for large. No fast-math: NaN must stay NaN.

        On one function of 1e5 instructions gcc's -O1 spends minutes on the allocation of registers
        and the code is no faster than that of -Og, which takes seconds; -O0 makes it four times
        slower.
        """
        return ("-Og" if instructions > LARGE else "-O2", "-fPIC", "-shared")

    def build(self, source: Path, library: Path, instructions: int) -> None:
        """Compiles one file. Raises `CompileError` with the compiler's own words."""
        command = [self.path, *self.words, *self.flags(instructions), "-o", str(library),
                   str(source), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise CompileError(f"{self.path} failed on generated code ({' '.join(command)}): "
                               f"{done.stderr.strip()[:2000]}")


@lru_cache(maxsize=1)
def find_compiler() -> Compiler | None:
    """`CC` where it is set, else cc, gcc or clang; None where there is none. `CC=none` asks for
    none.

    Raises
    ------
    CompileError
        Where `CC` names something that does not run.
    """
    wanted = os.environ.get("CC", "").strip()
    if wanted.lower() == "none":
        return None
    try:
        candidates = [shlex.split(wanted)] if wanted else [["cc"], ["gcc"], ["clang"]]
    except ValueError as error:
        raise CompileError(f"CC={wanted} cannot be read: {error}") from error
    for name, *words in candidates:
        path = shutil.which(name)
        if path is None:
            continue
        answer = subprocess.run([path, *words, "--version"], capture_output=True, text=True,
                                stdin=subprocess.DEVNULL)
        if answer.returncode == 0:
            return Compiler(path, answer.stdout.splitlines()[0] if answer.stdout else "",
                            tuple(words))
    if wanted:
        raise CompileError(f"CC={wanted} is no compiler that runs; unset CC, or set CC=none to do "
                           "without")
    return None


@cache
def say_no_compiler() -> None:
    """Warns that there is none, once."""
    logging.getLogger("nhmech").warning("no C compiler found: steps run in CasADi's virtual "
                                        "machine, thirty times slower or more")
