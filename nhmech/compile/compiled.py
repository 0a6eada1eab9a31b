"""One CasADi function as compiled C, called through its buffers."""

from __future__ import annotations

import casadi as ca

from .buffered import Buffered
from .cache import default_cache
from .compiler import find_compiler, say_no_compiler


def compile_function(function: ca.Function) -> Buffered:
    """The function in C; in CasADi's virtual machine where there is no compiler or it takes too
    long (said once). All its outputs must be dense.

    Raises
    ------
    CompileError
        Where the compiler refuses, or what it made cannot be loaded.
    """
    compiler = find_compiler()
    if compiler is None:
        say_no_compiler()
        return Buffered(function)
    generator = ca.CodeGenerator(f"{function.name()}.c")
    generator.add(function)
    code = generator.dump()
    library = default_cache().load(code, compiler, code.count("\n") // 2)
    if library is None:
        return Buffered(function)
    library.function(function.name())
    return Buffered(ca.external(function.name(), str(library.path)))
