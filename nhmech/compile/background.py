"""Compilation in a thread, while a run goes on in CasADi's virtual machine."""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
from threading import BoundedSemaphore, Lock, Thread

from ..errors import CompileError
from .cache import Library, default_cache
from .compiler import Compiler, end_compilers

COMPILERS = 2      # at the same time; other builds wait for them
PATIENCE = 5.0     # [s] for threads to clean up after compilers that were killed


class Build:
    """A library that a thread compiles. `library` is None until `is_done`, and after a failure,
    which the log explains. (It is a plain attribute because it is read at each step.)"""

    def __init__(self, code: str, compiler: Compiler, instructions: int):
        # dropped after compilation, because the text may be long
        self._order: tuple[str, Compiler, int] | None = (code, compiler, instructions)
        self._instructions = instructions
        self.library: Library | None = None
        self.is_done = False

    def __repr__(self) -> str:
        return (f"<Build of {self._instructions} instructions: "
                f"{'done' if self.is_done else 'going on'}>")

    def begin(self) -> None:
        """Starts the thread. It does not keep the process alive, and releases Python's lock while
        the compiler runs."""
        self._thread = Thread(target=self._make, name="nhmech compiler", daemon=True)
        self._thread.start()

    def wait(self, seconds: float | None = None) -> None:
        """Waits until it is done, or so many seconds."""
        self._thread.join(seconds)

    def _make(self) -> None:
        try:
            with _Builds.turn:
                if not _Builds.are_over:
                    assert self._order is not None, "of a build that is done"
                    self.library = default_cache().load(*self._order)
        except CompileError as error:
            if not _Builds.are_over:
                logging.getLogger("nhmech").warning(
                    "%s. Until then this code runs in CasADi's virtual machine, thirty times "
                    "slower or more", error)
        finally:
            self.is_done = True
            self._order = None


class _Builds:
    """The builds of this process."""

    lock = Lock()
    turn = BoundedSemaphore(COMPILERS)
    begun: dict[tuple[bytes, Compiler], Build] = {}
    are_over = False       # set when the process ends


def begin_build(code: str, compiler: Compiler, instructions: int) -> Build:
    """Compiles code in a thread; every call with the same code returns the same `Build`."""
    key = _digest(code), compiler
    with _Builds.lock:
        build = _Builds.begun.get(key)
        if build is None:
            build = _Builds.begun[key] = Build(code, compiler, instructions)
            build.begin()
        return build


def wait_for_build(code: str, compiler: Compiler) -> None:
    """Waits for a thread that compiles this code; returns at once if there is none."""
    with _Builds.lock:
        build = _Builds.begun.get((_digest(code), compiler))
    if build is not None:
        build.wait()


def _digest(code: str) -> bytes:
    return hashlib.sha256(code.encode()).digest()


@atexit.register
def _end_builds() -> None:
    """Kills all compilers when the process ends, and removes their folders."""
    _Builds.are_over = True
    end_compilers()
    with _Builds.lock:
        builds = list(_Builds.begun.values())
    for build in builds:
        build.wait(PATIENCE)


def _begin_again() -> None:
    """Restarts unfinished builds in a forked process, which has none of the threads."""
    _Builds.lock, _Builds.turn = Lock(), BoundedSemaphore(COMPILERS)
    for build in _Builds.begun.values():
        if not build.is_done:
            build.begin()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_again)
