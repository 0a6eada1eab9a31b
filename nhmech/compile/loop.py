"""The step loop in C: many steps, with held inputs, in one call."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from .cache import default_cache
from .compiler import find_compiler, say_no_compiler

DONE, NOT_FINITE, REFUSED = range(3)
# further steps towards the constraints where an integrator's step was a coarse one
NEWTON = 5
# steps between two projections of a scheme that keeps the constraints: rounding has not made 1e-13
# m of them by then
MENDED = 64

# What every loop shares. A row of the record is t, q, v, u and what stands beside it, the angles
# in x;
# the clock is t, the count k of steps, and t0 = t - k dt
SHELL = """
#include <math.h>
#include <string.h>

typedef struct {{
  double dt, side, poor, flat, loose;
  const double* theta;
  double *q, *v, *x, *u, *health, *clock, *work;
  const long long* angles;
  double* record;
  long long steps, every, phase, limit, done, rows, beside;
}} nhmech_setup;

static double* nhmech_row(const nhmech_setup* s, double t, const double* x, double* record) {{
  const double* arg[{sz_arg}];
  double* res[{sz_res}];
  casadi_int iw[{sz_iw} + 1];
  double w[{sz_w} + 1];
  int j;
  *record++ = t;
  arg[0] = &t; arg[1] = x; arg[2] = s->theta; res[0] = record; res[1] = record + {nq};
  {read}(arg, res, iw, w, 0);
  record += {nq} + {nv};
  for (j = 0; j < {nu} + s->beside; ++j) *record++ = s->u[j];
  for (j = 0; j < {na}; ++j) *record++ = x[s->angles[j]];
  return record;
}}

/* whether a step may end here: numbers, on the constraints, its frame's margin on the same side,
   no guard on its way through zero */
static int nhmech_judged(const nhmech_setup* s, double guard, const double* x, const double* found) {{
  double least = found[2] < guard ? found[2] : guard, most = found[2] < guard ? guard : found[2];
  int j, bad = 0;
  for (j = 0; j < {nx}; ++j) bad |= x[j] - x[j] != 0;            /* inf - inf and nan - nan are nan, which is not 0 */
  for (j = 0; j < 3; ++j) bad |= found[j] - found[j] != 0;
  if (bad) return 1;
  return found[0] > s->loose || found[1] * s->side < s->poor || (least < s->flat && most > 1.5 * least) ? 2 : 0;
}}

/* further steps towards the constraints after a coarse one */
static void nhmech_mend(const nhmech_setup* s, double t, double* x, double* found, int times) {{
  const double* arg[{sz_arg}];
  double *res[{sz_res}], raw[{nx} + 1];
  casadi_int iw[{sz_iw} + 1];
  double w[{sz_w} + 1];
  while (times-- > 0) {{
    memcpy(raw, x, {nx} * sizeof(double));
    arg[0] = &t; arg[1] = raw; arg[2] = s->theta; res[0] = x; res[1] = res[2] = 0; res[3] = found;
    {project}(arg, res, iw, w, 0);
    if (found[0] <= s->loose) return;
  }}
}}

static void nhmech_show(nhmech_setup* s, long long done) {{
  const double* arg[{sz_arg}];
  double* res[{sz_res}];
  casadi_int iw[{sz_iw} + 1];
  double w[{sz_w} + 1];
  s->done = done;
  if (!done) return;
  s->clock[1] += (double)done;
  s->clock[0] = s->clock[2] + s->clock[1] * s->dt;
  arg[0] = s->clock; arg[1] = s->x; arg[2] = s->theta; res[0] = s->q; res[1] = s->v;
  {read}(arg, res, iw, w, 0);
}}
"""

_LOOP = """
static int nhmech_run(nhmech_setup* s, long long steps, double* record) {{
  const double dt = s->dt, *u = s->u, *theta = s->theta, t0 = s->clock[2];
  double *x = s->x, *health = s->health;
  const long long k0 = (long long)s->clock[1];
  const double* arg[{sz_arg}];
  double* res[{sz_res}];
  casadi_int iw[{sz_iw} + 1];
  double w[{sz_w} + 1];
  double t, next[{nx} + 1], found[3];
  long long i;
  int status = 0;
  for (i = 0; i < steps && !status; ++i) {{
    t = t0 + (double)(k0 + i) * dt;
    if (record && (s->phase + i) % s->every == 0) {{
      record = nhmech_row(s, t, x, record);
      ++s->rows;
    }}
    arg[0] = &t; arg[1] = x; arg[2] = u; arg[3] = theta; arg[4] = &dt; res[0] = next;
    {step}
    status = nhmech_judged(s, health[2], next, found);
    if (!status) {{
      memcpy(x, next, {nx} * sizeof(double));
      memcpy(health, found, sizeof(found));
    }}
  }}
  nhmech_show(s, status ? i - 1 : i);
  return status;
}}
"""

_PROJECTED = """res[1] = found;
    {advance}(arg, res, iw, w, 0);
    t += dt;
    if (found[0] > s->loose) nhmech_mend(s, t, next, found, {NEWTON});"""

_KEPT = """res[1] = found + 1;
    found[0] = health[0];
    found[2] = health[2];
    {advance}(arg, res, iw, w, 0);
    if ((k0 + i + 1) % {MENDED} == 0) nhmech_mend(s, t + dt, next, found, {NEWTON} + 1);"""

CALLS = """
int nhmech_loop(nhmech_setup* s) {{
  return nhmech_run(s, s->steps, s->record);
}}

int nhmech_step(nhmech_setup* s) {{
  s->limit = (long long)s->clock[1] + 1;
  return nhmech_run(s, 1, 0);
}}
"""


class Setup(ctypes.Structure):
    """What a run keeps from call to call: constants and addresses;
    what the next call is to do, and what the last one did.

    (As fields rather than arguments, for ctypes takes longer over an argument than over a field.)

    Attributes
    ----------
    record, steps, every, phase
        Rows of the present state go to the address `record` before every step with (phase + i) %
        every == 0.
    limit
        Count of steps up to which u will be held; an adaptive method goes ahead as far.
    done, rows
        Steps that were done; rows that were written, added to what stands there.
    beside
        Numbers that follow u in memory and go with it into a row; no step looks at them.
    """

    _fields_ = [
        *((name, ctypes.c_double) for name in ("dt", "side", "poor", "flat", "loose")),
        *(
            (name, ctypes.c_void_p)
            for name in ("theta", "q", "v", "x", "u", "health", "clock", "work", "angles", "record")
        ),
        *(
            (name, ctypes.c_longlong)
            for name in ("steps", "every", "phase", "limit", "done", "rows", "beside")
        ),
    ]


@dataclass(frozen=True)
class Loop:
    """A compiled step function with its loop. Both calls advance x, q, v, health and the clock of
    a `Setup` in place and return a status.

    A step that would end where the frame's margin times `side` is below `poor`, where a guard below
    `flat` has changed by half, or farther than `loose` from the constraints before its last
    projection, is refused and not taken.

    Attributes
    ----------
    many
        (byref(setup)): `setup.steps` of them; lets go of Python's lock.
    one
        (byref(setup)): one step, without a record, by the shortest way from Python.
    work
        Doubles that the loop wants to keep from call to call.
    """

    many: ctypes._CFuncPtr
    one: ctypes._CFuncPtr
    work: int = 0


def compiled_loop(advance: ca.Function, project: ca.Function, read: ca.Function, angles: int,
                  build: bool = True, kept: bool = False) -> Loop | None:
    """The loop around `advance` (t, x, u, theta, dt) -> (x, health);
    (x, margin) where it keeps the constraints and guards by itself.

    `project` (t, x, theta) -> (x, q, v, health) follows a coarse step, and now and then one of
    those that keep the constraints; `read` (t, x, theta) -> (q, v) is for a row that is recorded
    and for the end.

    None where there is no compiler (said once), or where it is not in the cache and `build` is not
    set.

    Raises
    ------
    CompileError
        Where the compiler refuses, or what it made cannot be loaded.
    """
    step = (_KEPT if kept else _PROJECTED).format(
        advance=advance.name(), NEWTON=NEWTON, MENDED=MENDED
    )
    functions, nu = (advance, project, read), advance.size1_in(2)
    library = library_of(functions, SHELL + _LOOP + CALLS, build, step=step,
                         **shapes(functions, nu, angles))
    return None if library is None else loop_of(library)


def shapes(functions: Sequence[ca.Function], nu: int, angles: int) -> dict[str, int | str]:
    """What `SHELL` wants to know of functions the last two of which are `project` and `read`."""
    *_, project, read = functions
    room = {size: max(getattr(function, size)() for function in functions)
            for size in ("sz_arg", "sz_res", "sz_iw", "sz_w")}
    return room | {"nx": project.nnz_out(0), "nq": read.nnz_out(0), "nv": read.nnz_out(1), "nu": nu,
                   "na": angles, "project": project.name(), "read": read.name()}


def library_of(functions: Sequence[ca.Function], text: str, build: bool,
               **words) -> ctypes.CDLL | None:
    """C of the functions followed by a text with the words put in, compiled and loaded;
    None and errors as in `compiled_loop`."""
    compiler = find_compiler()
    if compiler is None:
        say_no_compiler()
        return None
    generator = ca.CodeGenerator("step.c", {"with_header": False})
    for function in functions:
        generator.add(function)
    code = generator.dump() + text.format(**words)
    return default_cache().load(code, compiler,
                                functions[0].n_instructions() + code.count("\n") // 2, build)


def loop_of(library: ctypes.CDLL, work: int = 0) -> Loop:
    # a lock that is kept costs nothing to take again
    return Loop(library.nhmech_loop, ctypes.PyDLL(library._name).nhmech_step, work)
