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
  double t, guard, next[{nx} + 1], nextq[{nq} + 1], nextv[{nv} + 1];
  long long i;
  int j;
  for (i = 0; i < steps; ++i) {{
    if (record && (phase + i) % every == 0) {{
      *record++ = t0 + (double)(k0 + i) * dt;
      memcpy(record, q, nq * sizeof(double)); record += nq;
      memcpy(record, v, nv * sizeof(double)); record += nv;
      memcpy(record, u, nu * sizeof(double)); record += nu;
      for (j = 0; j < na; ++j) *record++ = x[angles[j]];
    }}
    t = t0 + (double)(k0 + i) * dt;
    guard = health[2];
    arg[0] = &t; arg[1] = x; arg[2] = u; arg[3] = theta; arg[4] = &dt;
    res[0] = next; res[1] = nextq; res[2] = nextv; res[3] = health;
    {name}(arg, res, iw, w, 0);
    for (j = 0; j < nx; ++j) if (!isfinite(next[j])) {{ health[2] = guard; *done = i; return 1; }}
    for (j = 0; j < 3; ++j) if (!isfinite(health[j])) {{ health[2] = guard; *done = i; return 1; }}
    if (health[0] > loose || health[1] * side < poor || (fmin(health[2], guard) < flat && fmax(health[2], guard) > 1.5 * fmin(health[2], guard))) {{ health[2] = guard; *done = i; return 2; }}
    memcpy(x, next, nx * sizeof(double));
    memcpy(q, nextq, nq * sizeof(double));
    memcpy(v, nextv, nv * sizeof(double));
  }}
  *done = steps;
  return 0;
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


def compiled_loop(step: ca.Function, angles: int, build: bool = True) -> Loop | None:
    """The loop around (t, x, u, theta, dt) -> (x, q, v, health).

    None where there is no compiler (said once), or where it is not in the cache and `build` is not set.
    Raises `CompileError` where the compiler refuses.
    """
    compiler = find_compiler()
    if compiler is None:
        _say_once()
        return None
    generator = ca.CodeGenerator(f"{step.name()}.c", {"with_header": False})
    generator.add(step)
    shapes = {"nx": step.nnz_out(0), "nq": step.nnz_out(1), "nv": step.nnz_out(2), "nu": step.nnz_in(2), "na": angles}
    sizes = {"sz_arg": step.sz_arg(), "sz_res": step.sz_res(), "sz_iw": step.sz_iw(), "sz_w": step.sz_w()}
    code = generator.dump() + _LOOP.format(name=step.name(), **shapes, **sizes)
    library = default_cache().library(code, compiler, step.n_instructions() + code.count("\n") // 2, build)
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
