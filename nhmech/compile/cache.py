"""Compiled libraries, kept between runs in a private folder of the user."""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, overload

import casadi as ca

from ..errors import CompileError
from ..private_folder import EQUATIONS, private_folder, temporary_folder
from ..version import __version__
from .compiler import NO_COMPILER, Compiler, CompileTimeout


class Library(NamedTuple):
    """A loaded library, and the path of its file."""

    path: Path
    code: ctypes.CDLL

    def function(self, name: str) -> Any:
        """A function of the library. Raises `CompileError` if it has none of that name."""
        try:
            return getattr(self.code, name)
        except AttributeError as error:
            raise CompileError(f"{self.path} was compiled without {name!r}. {NO_COMPILER}; "
                               "`nhmech cache --clear` removes what is there") from error


@dataclass(frozen=True)
class Cache:
    """A private folder of libraries, each named by the hash of its code, compiler, flags and
    versions.

    An entry is written under a temporary name and then moved, so that processes may share the
    folder. Each entry has a checksum file; if they do not match, the entry is built again.
    """

    folder: Path
    temporary: bool      # whether it is gone when the process ends

    @overload
    def library(self, code: str, compiler: Compiler, instructions: int) -> Path: ...

    @overload
    def library(self, code: str, compiler: Compiler, instructions: int,
                build: bool) -> Path | None: ...

    def library(self, code: str, compiler: Compiler, instructions: int,
                build: bool = True) -> Path | None:
        """Path of the compiled code; None if the cache does not have it and `build` is not set.
        Raises `CompileError` if the compiler fails, and if no folder can be written to."""
        parts = (code, str(compiler), compiler.version, " ".join(compiler.flags(instructions)),
                 ca.__version__, __version__)
        key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
        library, checksum = self.folder / f"{key}.so", self.folder / f"{key}.sha256"
        if _matches(library, checksum):
            return library
        if not build:
            return None
        try:
            with _work_folder(self.folder) as work:
                source = work / "code.c"
                made, sealed = source.with_suffix(".so"), source.with_suffix(".sha256")
                source.write_text(code)
                compiler.build(source, made, instructions)
                sealed.write_text(hashlib.sha256(made.read_bytes()).hexdigest())
                # the library is executed, so set its mode whatever the umask is
                made.chmod(0o700)
                os.replace(made, library)
                os.replace(sealed, checksum)
        except OSError as error:         # a full disk, above all
            if not self.temporary:
                _say_unwritable(str(self.folder), str(error))
                return Cache(*temporary_folder()).library(code, compiler, instructions)
            raise CompileError(f"no compiled code can be kept in {self.folder} ({error}); "
                               "NHMECH_CACHE names another folder, CC=none does without") from error
        return library

    def load(self, code: str, compiler: Compiler, instructions: int,
             build: bool = True) -> Library | None:
        """The compiled code, loaded. An entry that cannot be loaded, for instance because another
        machine made it, is built again once.

        None if the cache does not have it and `build` is not set, and if the compiler takes too
        long; the log then says so once, and this process does not try again. Raises `CompileError`
        if the compiler fails, and if the library cannot be loaded.
        """
        key = hash((compiler, code))
        for _ in range(2):
            try:
                path = self.library(code, compiler, instructions, build and key not in _slow)
            except CompileTimeout as error:
                _slow.add(key)
                _say_slow(str(error))
                path = None
            if path is None:
                return None
            try:
                return Library(path, ctypes.CDLL(str(path)))
            except OSError as error:
                why = error
                path.unlink(missing_ok=True)
        raise CompileError(f"{path} cannot be loaded ({why}). `nhmech cache --clear` removes what "
                           "is there, NHMECH_CACHE names another folder (programs may not run from "
                           "every disk), CC=none does without compiled code") from why

    def entries(self) -> list[Path]:
        """Paths of all libraries in the cache."""
        return sorted(self.folder.glob("*.so"))

    def equations(self) -> list[Path]:
        """Paths of the equations of motion that are kept in the same folder
        (`mechanics.kept_equations`)."""
        return sorted(self.folder.glob(f"*{EQUATIONS}"))

    def clear(self) -> int:
        """Removes all entries, and the leftovers of builds that were killed; returns the number of
        entries."""
        entries = self.entries() + self.equations()
        for path in [*entries, *self.folder.glob("*.sha256")]:
            path.unlink(missing_ok=True)
        for path in self.folder.glob("build-*"):
            shutil.rmtree(path, ignore_errors=True)
        return len(entries)


@contextmanager
def _work_folder(place: Path) -> Iterator[Path]:
    """A folder for one build, which removes it at its end. `TemporaryDirectory` also removes it
    when the main thread ends, under the hands of the build, and when a forked process ends."""
    work = Path(tempfile.mkdtemp(dir=place, prefix="build-"))
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def default_cache() -> Cache:
    """The cache in the `private_folder`."""
    return Cache(*private_folder())


_slow: set[int] = set()      # hashes of compiler and code on which the compiler has taken too long


@cache
def _say_slow(why: str) -> None:
    logging.getLogger("nhmech").warning("%s. Until then this code runs in CasADi's virtual "
                                        "machine, thirty times slower or more", why)


@cache
def _say_unwritable(folder: str, why: str) -> None:
    logging.getLogger("nhmech").warning("no compiled code can be kept in %s (%s): it is kept until "
                                        "the process ends; NHMECH_CACHE names another folder",
                                        folder, why)


def _matches(library: Path, checksum: Path) -> bool:
    try:
        return hashlib.sha256(library.read_bytes()).hexdigest() == checksum.read_text().strip()
    except (OSError, ValueError):                                # not there, or no text
        return False
