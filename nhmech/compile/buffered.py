"""CasADi functions on fixed memory in compiled C, where there is a compiler."""

from __future__ import annotations

import casadi as ca

from ..symbolic.buffered import Buffered
from .cache import Library, default_cache
from .compiler import find_compiler, say_no_compiler


def compile_function(function: ca.Function) -> Buffered:
    """The function in C; in CasADi's virtual machine where there is no compiler or it takes too
    long (said once). All its outputs must be dense. Raises `CompileError` where the compiler
    refuses, or what it made cannot be loaded."""
    return Buffered(in_c(function) or function)


def in_c(function: ca.Function, build: bool = True) -> ca.Function | None:
    """The same function, in C; None and errors as in `compile_function`, and None where the code is
    not in the cache and `build` is not set."""
    library = library_in_c(function, build)
    if library is None:
        return None
    library.function(function.name())
    return ca.external(function.name(), str(library.path))


def library_in_c(function: ca.Function, build: bool = True) -> Library | None:
    """What has the function `in_c`; None and errors as there."""
    compiler = find_compiler()
    if compiler is None:
        say_no_compiler()
        return None
    generator = ca.CodeGenerator(f"{function.name()}.c")
    generator.add(function)
    code = generator.dump()
    return default_cache().load(code, compiler, code.count("\n") // 2, build)
