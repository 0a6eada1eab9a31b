"""The step loop in C: many steps, with held inputs, in one call."""

from __future__ import annotations

import ctypes
import logging
from dataclasses import dataclass
from functools import cache

import casadi as ca

from .cache import default_cache
from .compiler import find_compiler

DONE, NOT_FINITE, REFUSED = range(3)
NEWTON = 5        # further steps towards the constraints where an integrator's step was a coarse one

# one row of the record: t, q, v, u, the angles in x
_LOOP = """
#include <math.h>
#include <string.h>

typedef struct {{
  double dt, side, poor, flat, loose;
  const double *u, *theta;
  double *x, *q, *v, *health;
  const long long* angles;
  long long done;
}} nhmech_setup;

int nhmech_loop(nhmech_setup* s, double t0, long long k0, long long steps, long long every, long long phase, double* record) {{
  const double dt = s->dt, *u = s->u, *theta = s->theta;
  double *x = s->x, *health = s->health;
  static const int nx = {nx}, nq = {nq}, nv = {nv}, nu = {nu}, na = {na};
  const double* arg[{sz_arg}];
  double* res[{sz_res}];
  casadi_int iw[{sz_iw} + 1];
  double w[{sz_w} + 1];
  double t, guard, least, most, next[{nx} + 1], raw[{nx} + 1];
  long long i;
  int j, bad, status = 0;
  for (i = 0; i < steps && !status; ++i) {{
    t = t0 + (double)(k0 + i) * dt;
    if (record && (phase + i) % every == 0) {{
      *record++ = t;
      arg[0] = &t; arg[1] = x; arg[2] = theta; res[0] = record; res[1] = record + nq;
      {read}(arg, res, iw, w, 0);
      record += nq + nv;
      memcpy(record, u, nu * sizeof(double)); record += nu;
      for (j = 0; j < na; ++j) *record++ = x[s->angles[j]];
    }}
    guard = health[2];
    arg[0] = &t; arg[1] = x; arg[2] = u; arg[3] = theta; arg[4] = &dt; res[0] = next; res[1] = health;
    {advance}(arg, res, iw, w, 0);
    t += dt;
    for (j = 0; j < {NEWTON} && health[0] > s->loose; ++j) {{            /* a coarse step: further ones towards the constraints */
      memcpy(raw, next, nx * sizeof(double));
      arg[0] = &t; arg[1] = raw; arg[2] = theta; res[0] = next; res[1] = res[2] = 0; res[3] = health;
      {project}(arg, res, iw, w, 0);
    }}
    bad = 0;
    for (j = 0; j < nx; ++j) bad |= next[j] - next[j] != 0;               /* inf - inf and nan - nan are nan, which is not 0 */
    for (j = 0; j < 3; ++j) bad |= health[j] - health[j] != 0;
    least = health[2] < guard ? health[2] : guard;
    most = health[2] < guard ? guard : health[2];
    if (bad) status = 1;
    else if (health[0] > s->loose || health[1] * s->side < s->poor || (least < s->flat && most > 1.5 * least)) status = 2;
    else memcpy(x, next, nx * sizeof(double));
  }}
  s->done = status ? i - 1 : i;
  if (status) health[2] = guard;
  t = t0 + (double)(k0 + s->done) * dt;
  arg[0] = &t; arg[1] = x; arg[2] = theta; res[0] = s->q; res[1] = s->v;
  {read}(arg, res, iw, w, 0);
  return status;
}}
"""


class Setup(ctypes.Structure):
    """What a run keeps from call to call: constants, addresses, and the count of steps that the last call did."""

    _fields_ = [*((name, ctypes.c_double) for name in ("dt", "side", "poor", "flat", "loose")),
                *((name, ctypes.c_void_p) for name in ("u", "theta", "x", "q", "v", "health", "angles")), ("done", ctypes.c_longlong)]


@dataclass(frozen=True)
class Loop:
    """A compiled step function with its loop: `call(byref(setup), t0, k0, steps, every, phase, record)` advances x, q, v in place from
    t0 + k0 dt and returns a status.

    A step that would end where the frame's margin times `side` is below `poor`, where a guard below `flat` has changed by half, or farther
    than `loose` from the constraints before its last projection, is refused and not taken.
    Rows of the present state go to `record` before every step with (phase + i) % every == 0.
    """

    call: ctypes._CFuncPtr


def compiled_loop(advance: ca.Function, project: ca.Function, read: ca.Function, angles: int, build: bool = True) -> Loop | None:
    """The loop around `advance` (t, x, u, theta, dt) -> (x, health).

    `project` (t, x, theta) -> (x, q, v, health) follows a coarse step; `read` (t, x, theta) -> (q, v) is for a row that is recorded and
    for the end.

    None where there is no compiler (said once), or where it is not in the cache and `build` is not set.
    Raises `CompileError` where the compiler refuses.
    """
    compiler = find_compiler()
    if compiler is None:
        _say_once()
        return None
    generator = ca.CodeGenerator("step.c", {"with_header": False})
    for function in (advance, project, read):
        generator.add(function)
    shapes = {"nx": advance.nnz_out(0), "nq": read.nnz_out(0), "nv": read.nnz_out(1), "nu": advance.nnz_in(2), "na": angles}
    sizes = {size: max(getattr(f, size)() for f in (advance, project, read)) for size in ("sz_arg", "sz_res", "sz_iw", "sz_w")}
    names = {"advance": advance.name(), "project": project.name(), "read": read.name(), "NEWTON": NEWTON}
    code = generator.dump() + _LOOP.format(**names, **shapes, **sizes)
    library = default_cache().library(code, compiler, advance.n_instructions() + code.count("\n") // 2, build)
    if library is None:
        return None
    call = ctypes.CDLL(str(library)).nhmech_loop
    call.argtypes = [ctypes.POINTER(Setup), ctypes.c_double, *[ctypes.c_longlong] * 4, ctypes.c_void_p]
    call.restype = ctypes.c_int
    return Loop(call)


@cache
def _say_once() -> None:
    logging.getLogger("nhmech").warning("no C compiler found: steps run in CasADi's virtual machine, thirty times slower or more")
