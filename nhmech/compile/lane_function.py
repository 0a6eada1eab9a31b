"""One CasADi function evaluated for many cases at once, in SIMD lanes.

Arrays have one row for each entry and one column for each case.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..errors import CompileError
from .compiled_function import workspace
from .lanes import library_in_lanes

_LOOP = """
extern "C" __attribute__((visibility("default"))) int nhmech_lane_count(void) {{ return LANES; }}

extern "C" __attribute__((visibility("default")))
void nhmech_lane_function(long long room, const double* const* from, double* const* to) {{
  const lane* arg[{sz_arg}];
  lane* res[{sz_res}];
  casadi_int iw[{sz_iw} + 1];
  lane w[{sz_w} + 1];
  {inputs}
  {outputs}
  for (long long at = 0; at < room; at += LANES) {{
    {read}
    {name}(arg, res, iw, w, 0);
    {write}
  }}
}}
"""


@dataclass(frozen=True, eq=False)
class LaneFunction:
    """A function on fixed memory, for `room` cases."""

    inputs: Sequence[np.ndarray]  # (n, room) each
    outputs: Sequence[np.ndarray]  # (n, room) each
    run: Callable[[], object]  # computes the outputs from the inputs


def compile_lane_function(function: ca.Function, inputs: Sequence[np.ndarray]) -> LaneFunction:
    """Compiles a function of dense vectors; uses CasADi's virtual machine if there is no compiler
    for SIMD vectors. `inputs`: C-ordered memory (n, room) of the arguments, where room is a
    multiple of the number of lanes (`LaneState`)."""
    room = inputs[0].shape[1]
    outputs = [np.zeros((function.nnz_out(i), room)) for i in range(function.n_out())]
    try:
        made = _compile(function)
    except CompileError:         # `compile_lanes` has reported it
        made = None
    if made is None or room % made[1]:
        mapped = function.map(room)

        def run() -> None:
            for output, found in zip(outputs, mapped.call(list(inputs))):
                output[...] = found.full()

        return LaneFunction(inputs, outputs, run)
    pointers = [(ctypes.c_void_p * max(len(arrays), 1))(*(array.ctypes.data for array in arrays))
                for arrays in (inputs, outputs)]
    call, words = made[0], (ctypes.c_longlong(room), *map(ctypes.byref, pointers))
    return LaneFunction(inputs, outputs, lambda: call(*words))


def _compile(function: ca.Function) -> tuple[Callable, int] | None:
    """The compiled loop over the cases, and the number of lanes; None without a compiler."""
    ins = [function.nnz_in(i) for i in range(function.n_in())]
    outs = [function.nnz_out(i) for i in range(function.n_out())]
    text = {
        "inputs": " ".join(f"lane in{i}[{n} + 1];" for i, n in enumerate(ins)),
        "outputs": " ".join(f"lane out{i}[{n} + 1];" for i, n in enumerate(outs)),
        "read": "\n    ".join(
            f"for (int j = 0; j < {n}; ++j) memcpy(&in{i}[j], from[{i}] + j * room + at, "
            f"sizeof(pack)); arg[{i}] = in{i};" for i, n in enumerate(ins)),
        "write": "\n    ".join(
            f"for (int j = 0; j < {n}; ++j) memcpy(to[{i}] + j * room + at, &out{i}[j], "
            "sizeof(pack));" for i, n in enumerate(outs)),
    }
    text["read"] += "\n    " + " ".join(f"res[{i}] = out{i};" for i in range(len(outs)))
    library = library_in_lanes([function], _LOOP.format(name=function.name(),
                                                        **workspace(function), **text))
    if library is None:
        return None
    call = library.function("nhmech_lane_function")
    call.restype = None
    return call, library.function("nhmech_lane_count")()
