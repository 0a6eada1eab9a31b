"""One CasADi function compiled to C, where there is a compiler."""

from __future__ import annotations

from collections.abc import Collection

import casadi as ca

from ..symbolic.buffered import Buffered
from .background import Build, begin_build
from .cache import Library, default_cache
from .compiler import find_compiler, say_no_compiler


def compile_function(function: ca.Function, matrices: Collection[int] = ()) -> Buffered:
    """The function in C, on fixed memory; in CasADi's virtual machine where there is no compiler
    or it takes too long (the log says so once). All outputs must be dense; `matrices` as in
    `Buffered`. Raises `CompileError` if the compiler fails or its library cannot be loaded."""
    return Buffered(in_c(function) or function, matrices)


def in_c(function: ca.Function, build: bool = True) -> ca.Function | None:
    """The same function, in C. None where `compile_function` uses the virtual machine, and, if
    `build` is not set, where the compiled code is not in the cache; errors as there."""
    library = library_in_c(function, build)
    if library is None:
        return None
    library.function(function.name())
    return ca.external(function.name(), str(library.path))


def library_in_c(function: ca.Function, build: bool = True) -> Library | None:
    """The compiled library that contains the function; None and errors as in `in_c`."""
    compiler = find_compiler()
    if compiler is None:
        say_no_compiler()
        return None
    code, instructions = _source(function)
    return default_cache().load(code, compiler, instructions, build)


def begin_function(function: ca.Function) -> Build | None:
    """Has the function compiled in the background, into the cache; None where there is no
    compiler."""
    compiler = find_compiler()
    if compiler is None:
        return None
    code, instructions = _source(function)
    return begin_build(code, compiler, instructions)


def _source(function: ca.Function) -> tuple[str, int]:
    """Its code in C, and about how many instructions that has."""
    generator = ca.CodeGenerator(f"{function.name()}.c")
    generator.add(function)
    code = generator.dump()
    return code, code.count("\n") // 2
