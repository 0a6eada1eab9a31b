"""The system's C compiler."""

from __future__ import annotations

import hashlib
import logging
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from ..errors import CompileError

LARGE = 20_000      # instructions from which compile time counts for more than speed
# For this very processor, with instructions ordered for its registers: up to a fifth faster. No
# operation is left out, contracted or reassociated, so that every processor gives the same results,
# bit for bit, and NaN stays NaN.
NATIVE = "-march=native"
SWIFT = (NATIVE, "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fschedule-insns",
         "-fsched-pressure")
# [s] for one file, unless NHMECH_COMPILE_SECONDS is set: ten times the time of the largest shipped
# vehicle
SECONDS = 60.0
LONGEST = 1e6      # [s] poll() takes at most 2^31 ms
ANSWER_SECONDS = 10.0      # [s] in which a compiler says its version


class CompileTimeout(CompileError):
    """The compiler took too long."""


@dataclass(frozen=True)
class Compiler:
    """A C compiler that works: its path, words that always follow it (`CC="ccache gcc"`), and the
    first line of its version."""

    path: str
    version: str
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.path, *self.words))

    def flags(self, instructions: int) -> tuple[str, ...]:
        """-O2 for small code, with `SWIFT` if the compiler accepts it; -Og for large code. The
        flags name the processor too, so that no cache serves another one.

        On one function of 1e5 instructions gcc's -O1 spends minutes on the allocation of registers
        and the code is no faster than that of -Og, which takes seconds; -O0 makes it four times
        slower.
        """
        if instructions > LARGE:
            return "-Og", "-fPIC", "-shared"
        processor = processor_of(self, SWIFT)
        swift = () if processor is None else (*SWIFT, f"-DPROCESSOR={processor}")
        return "-O2", *swift, "-fPIC", "-shared"

    def build(self, source: Path, library: Path, instructions: int) -> None:
        """Compiles one file. Raises `CompileError` with the compiler's message, and
        `CompileTimeout` if it does not finish."""
        command = [self.path, *self.words, *self.flags(instructions), "-o", str(library),
                   str(source), "-lm"]
        seconds = compile_seconds()
        try:
            done = run_compiler(command, seconds, folder=library.parent)
        except subprocess.TimeoutExpired as error:
            raise CompileTimeout(f"{self.path} did not finish within {seconds:g} s; "
                                 "NHMECH_COMPILE_SECONDS gives it longer, CC names another "
                                 "compiler") from error
        if done.returncode:
            raise CompileError(f"{self.path} failed on generated code ({' '.join(command)}): "
                               f"{done.stderr.strip()[:2000]}")
        if not library.is_file():
            raise CompileError(f"{self.path} reported success and made no library "
                               f"({' '.join(command)}). {NO_COMPILER}")


@cache
def processor_of(compiler: Compiler, flags: tuple[str, ...]) -> str | None:
    """An identifier of the processor that code is compiled for with these flags: a hash of the
    compiler's predefined macros. None if the compiler does not accept the flags."""
    command = [compiler.path, *compiler.words, *flags, "-dM", "-E", "-x", "c", "-"]
    try:
        answer = run_compiler(command, min(ANSWER_SECONDS, compile_seconds()))
    except (OSError, subprocess.TimeoutExpired):
        return None
    known = "\n".join(sorted(answer.stdout.splitlines()))
    return hashlib.sha256(known.encode()).hexdigest()[:16] if answer.returncode == 0 else None


NO_COMPILER = "CC names another compiler, CC=none does without compiled code"


def compile_seconds() -> float:
    """Time limit for one file [s]. Raises `CompileError` if NHMECH_COMPILE_SECONDS is not a
    positive number."""
    given = os.environ.get("NHMECH_COMPILE_SECONDS", "").strip()
    try:
        seconds = float(given or SECONDS)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise CompileError(f"NHMECH_COMPILE_SECONDS={given} is not a positive number of seconds")
    return seconds


def run_compiler(command: Sequence[str], seconds: float,
                 folder: Path | None = None) -> subprocess.CompletedProcess:
    """Runs a compiler with all that it starts, which ends with it. What it writes on the way is in
    `folder`, for one that is ended leaves it there. Raises `subprocess.TimeoutExpired`."""
    place = os.environ if folder is None else {**os.environ, "TMPDIR": str(folder)}
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace", env=place,
                          start_new_session=True) as process:
        _running.add(process)
        if _Ending.has_begun:
            _end(process)
        try:
            out, err = process.communicate(timeout=min(seconds, LONGEST))
        except BaseException:
            _end(process)
            raise
        finally:
            _running.discard(process)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


_running: set[subprocess.Popen] = set()


class _Ending:
    has_begun = False      # of the process


def end_compilers() -> None:
    """Ends those that other threads wait for, and all that they still start."""
    _Ending.has_begun = True
    for process in list(_running):
        _end(process)


def _end(process: subprocess.Popen) -> None:
    # a wrapper's children would hold the pipes open
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_running.clear)      # they are the parent's


@lru_cache(maxsize=1)
def find_compiler() -> Compiler | None:
    """`CC` if it is set, a path or a command with its words, else cc, gcc or clang; None if there
    is none. `CC=none` asks for none.
    """
    wanted = os.environ.get("CC", "").strip()
    if wanted.lower() == "none":
        return None
    try:
        candidates = ([[wanted], shlex.split(wanted)] if wanted else
                      [["cc"], ["gcc"], ["clang"]])
    except ValueError as error:
        raise CompileError(f"CC={wanted} cannot be read: {error}") from error
    for name, *words in candidates:
        path = shutil.which(name)
        if path is None:
            continue
        try:
            answer = run_compiler([path, *words, "--version"], ANSWER_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if answer.returncode == 0:
            return Compiler(path, answer.stdout.splitlines()[0] if answer.stdout else "",
                            tuple(words))
    if wanted:
        raise CompileError(f"CC={wanted} is not a working compiler; unset CC, or set CC=none to do "
                           "without")
    return None


@cache
def say_no_compiler() -> None:
    """Warns that there is none, once."""
    logging.getLogger("nhmech").warning("no C compiler found: steps run in CasADi's virtual "
                                        "machine, thirty times slower or more, those of batches a "
                                        "hundred times")
