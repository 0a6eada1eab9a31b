"""The step loop in C: many steps, with held inputs, in one call."""

from __future__ import annotations

import ctypes
import logging
from dataclasses import dataclass
from functools import cache

import casadi as ca
import numpy as np

from .cache import default_cache
from .compiler import find_compiler

DONE, NOT_FINITE, REFUSED = range(3)

# one row of the record: t, q, v, u, the angles in x
_LOOP = """
#include <math.h>
#include <string.h>

int nhmech_loop(double t0, long long k0, double dt, long long steps, double side, double poor, double flat, double loose, const double* u, const double* theta,
                double* x, double* q, double* v, double* health, long long every, long long phase, const long long* angles,
                double* record, long long* done) {{
  static const int nx = {nx}, nq = {nq}, nv = {nv}, nu = {nu}, na = {na};
  const double* arg[{sz_arg}];
  double* res[{sz_res}];
  casadi_int iw[{sz_iw} + 1];
  double w[{sz_w} + 1];
  double t, guard, least, most, sum, next[{nx} + 1];
  long long i;
  int j, status = 0;
  for (i = 0; i < steps && !status; ++i) {{
    t = t0 + (double)(k0 + i) * dt;
    if (record && (phase + i) % every == 0) {{
      *record++ = t;
      arg[0] = &t; arg[1] = x; arg[2] = theta; res[0] = record; res[1] = record + nq;
      {read}(arg, res, iw, w, 0);
      record += nq + nv;
      memcpy(record, u, nu * sizeof(double)); record += nu;
      for (j = 0; j < na; ++j) *record++ = x[angles[j]];
    }}
    guard = health[2];
    arg[0] = &t; arg[1] = x; arg[2] = u; arg[3] = theta; arg[4] = &dt; res[0] = next; res[1] = health;
    {advance}(arg, res, iw, w, 0);
    sum = 0;
    for (j = 0; j < nx; ++j) sum += 0 * next[j];
    for (j = 0; j < 3; ++j) sum += 0 * health[j];
    least = health[2] < guard ? health[2] : guard;
    most = health[2] < guard ? guard : health[2];
    if (sum != 0) status = 1;                                        /* 0 inf and 0 nan are nan, which is not 0 */
    else if (health[0] > loose || health[1] * side < poor || (least < flat && most > 1.5 * least)) status = 2;
    else memcpy(x, next, nx * sizeof(double));
  }}
  *done = status ? i - 1 : i;
  if (status) health[2] = guard;
  t = t0 + (double)(k0 + *done) * dt;
  arg[0] = &t; arg[1] = x; arg[2] = theta; res[0] = q; res[1] = v;
  {read}(arg, res, iw, w, 0);
  return status;
}}
"""


@dataclass(frozen=True)
class Loop:
    """A compiled step function with its loop."""

    call: ctypes._CFuncPtr

    def run(self, t0: float, k0: int, dt: float, steps: int, side: float, poor: float, flat: float, loose: float, u: np.ndarray, theta: np.ndarray, x: np.ndarray, q: np.ndarray,
            v: np.ndarray, health: np.ndarray, every: int, phase: int, angles: np.ndarray, record: np.ndarray | None) -> tuple[int, int]:
        """Advances x, q, v in place from t0 + k0 dt; returns a status and the steps that were done.

        A step that would end where the frame's margin times `side` is below `poor`, where a guard below `flat` has changed by half, or farther than
        `loose` from the constraints before its projection, is refused and not taken.
        Rows of the present state go to `record` before every step with (phase + i) % every == 0.
        """
        done = ctypes.c_longlong()
        status = self.call(t0, k0, dt, steps, side, poor, flat, loose, u.ctypes.data, theta.ctypes.data, x.ctypes.data, q.ctypes.data, v.ctypes.data,
                           health.ctypes.data, every, phase, angles.ctypes.data, None if record is None else record.ctypes.data, ctypes.byref(done))
        return status, done.value


def compiled_loop(advance: ca.Function, read: ca.Function, angles: int, build: bool = True) -> Loop | None:
    """The loop around `advance` (t, x, u, theta, dt) -> (x, health), with `read` (t, x, theta) -> (q, v) where a row is recorded and at the end.

    None where there is no compiler (said once), or where it is not in the cache and `build` is not set.
    Raises `CompileError` where the compiler refuses.
    """
    compiler = find_compiler()
    if compiler is None:
        _say_once()
        return None
    generator = ca.CodeGenerator("step.c", {"with_header": False})
    generator.add(advance)
    generator.add(read)
    shapes = {"nx": advance.nnz_out(0), "nq": read.nnz_out(0), "nv": read.nnz_out(1), "nu": advance.nnz_in(2), "na": angles}
    sizes = {size: max(getattr(f, size)() for f in (advance, read)) for size in ("sz_arg", "sz_res", "sz_iw", "sz_w")}
    code = generator.dump() + _LOOP.format(advance=advance.name(), read=read.name(), **shapes, **sizes)
    library = default_cache().library(code, compiler, advance.n_instructions() + code.count("\n") // 2, build)
    if library is None:
        return None
    call = ctypes.CDLL(str(library)).nhmech_loop
    pointer, integer, real = ctypes.c_void_p, ctypes.c_longlong, ctypes.c_double
    call.argtypes = [real, integer, real, integer, real, real, real, real, pointer, pointer, pointer, pointer, pointer, pointer, integer, integer, pointer, pointer, pointer]
    call.restype = ctypes.c_int
    return Loop(call)


@cache
def _say_once() -> None:
    logging.getLogger("nhmech").warning("no C compiler found: steps run in CasADi's virtual machine, about fifteen times slower")
