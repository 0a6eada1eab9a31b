"""The memory that functions want in C."""

from __future__ import annotations

import casadi as ca


def workspace(*functions: ca.Function) -> dict[str, int]:
    """Lengths of the arrays that CasADi's C needs to call any one of the functions, by its own
    names for them: `sz_arg`, `sz_res`, `sz_iw`, `sz_w`."""
    return {size: max(getattr(function, size)() for function in functions)
            for size in ("sz_arg", "sz_res", "sz_iw", "sz_w")}
