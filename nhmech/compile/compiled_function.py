"""CasADi functions in C: their source, their compiled library, and the decision between C and
CasADi's virtual machine (`library_of`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

import casadi as ca

from ..symbolic.buffered import Buffered
from .background import Build, begin_build, wait_for_build
from .cache import Library, default_cache
from .compiler import Compiler, find_compiler, say_no_compiler


class Source(NamedTuple):
    """C code, and about how many CasADi instructions are in it."""

    code: str
    instructions: int


# -- C code ----------------------------------------------------------------------------------------
def generate(file: str, functions: Iterable[ca.Function]) -> str:
    """CasADi's C of some functions, which C++ takes too."""
    generator = ca.CodeGenerator(file, {"with_header": False})
    for function in functions:
        generator.add(function)
    return generator.dump()


def workspace(*functions: ca.Function) -> dict[str, int]:
    """Lengths of the arrays that CasADi's C needs to call any one of the functions, by its own
    names for them: `sz_arg`, `sz_res`, `sz_iw`, `sz_w`."""
    return {size: max(getattr(function, size)() for function in functions)
            for size in ("sz_arg", "sz_res", "sz_iw", "sz_w")}


def _source(function: ca.Function) -> Source:
    code = generate(f"{function.name()}.c", [function])
    return Source(code, code.count("\n") // 2)


# -- libraries -------------------------------------------------------------------------------------
def library_of(source: Source, build: bool = True,
               compiler: Compiler | None = None) -> Library | None:
    """The code, compiled and loaded, by `find_compiler` if no other compiler is given. None, so
    that CasADi's virtual machine is used, if there is no compiler or it takes too long (the log
    says so once), and, if `build` is not set, if the cache does not have it. Raises `CompileError`
    if the compiler fails or its library cannot be loaded."""
    compiler = compiler or find_compiler()
    if compiler is None:
        say_no_compiler()
        return None
    if build:
        wait_for_build(source.code, compiler)
    return default_cache().load(source.code, compiler, source.instructions, build)


def begin_library(source: Source) -> Build | None:
    """Compiles code in the background, into the cache; None if there is no compiler."""
    compiler = find_compiler()
    return None if compiler is None else begin_build(source.code, compiler, source.instructions)


# -- single functions ------------------------------------------------------------------------------
def compile_function(function: ca.Function, matrices: Collection[int] = ()) -> Buffered:
    """The function in C, on fixed memory, or in CasADi's virtual machine; errors as `library_of`.
    All outputs must be dense; `matrices` as in `Buffered`."""
    return Buffered(in_c(function) or function, matrices)


def in_c(function: ca.Function, build: bool = True) -> ca.Function | None:
    """The same function in C; None and errors as `library_of`."""
    library = library_of(_source(function), build)
    if library is None:
        return None
    library.function(function.name())
    return ca.external(function.name(), str(library.path))


def library_in_c(function: ca.Function) -> Library | None:
    """`library_of` the function."""
    return library_of(_source(function))


def begin_function(function: ca.Function) -> Build | None:
    """`begin_library` of the function."""
    return begin_library(_source(function))
