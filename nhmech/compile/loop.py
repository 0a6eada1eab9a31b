"""The step loop in C: one call takes many steps with constant inputs."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca

from .background import Build
from .cache import Library
from .compiled_function import Source, begin_library, generate, library_of, workspace
from .loop_bounds import APART, HAS_MOVED, STRIDE, Bounding, bounding_source, has_moved_words
from .loop_error import ESTIMATE, ESTIMATE_EVERY, PATH, WRONG, richardson_factor
from .pieces import in_pieces
from .repeated import with_loops
from .status import CODES

# Newton steps onto the constraints, at most, after a step that one Newton step leaves too far off
NEWTON = 5
# A scheme that keeps the constraints by itself is projected only every so many steps: the rounding
# errors of so many steps stay below 1e-13 m.
MENDED = 64

# Inlining the step into the loop saves a quarter of the time of a short step. A long step would be
# compiled twice without gain.
FLAT, SHORT = "__attribute__((flatten))", 3000      # lines of C
# Hidden functions can be inlined, so that CasADi's helpers, such as the square, cost no calls.
HIDDEN = """
#include <math.h>
#pragma GCC visibility push(hidden)
{}
#pragma GCC visibility pop
"""

# The data that every loop works on. A recorded row has t, q, v, u with the numbers beside it, and
# the unwrapped angles of x. The clock has t, the number k of steps, and t0 = t - k dt.
SETUP = """
#include <math.h>
#include <string.h>

typedef struct {{
  double dt, side;
  const double *theta, *signs, *split;
  double *trend, *q, *v, *x, *u, *health, *clock, *work, *gauge;
  const long long* angles;
  double* record;
  long long steps, every, phase, limit, done, rows, beside;{fields}
}} nhmech_setup;

/* what a call of CasADi's code needs */
#define NHMECH_MEMORY const double* arg[{sz_arg}]; double* res[{sz_res}]; \\
  casadi_int iw[{sz_iw} + 1]; double w[{sz_w} + 1]
"""
SHELL = SETUP + """
static double* nhmech_row(const nhmech_setup* s, double t, const double* x, double* record) {{
  NHMECH_MEMORY;
  int j;
  *record++ = t;
  arg[0] = &t; arg[1] = x; arg[2] = s->theta;
  res[0] = record; res[1] = record + {nq};
  {read}(arg, res, iw, w, 0);
  record += {nq} + {nv};
  for (j = 0; j < {nu} + s->beside; ++j) *record++ = s->u[j];
  for (j = 0; j < {na}; ++j) *record++ = x[s->angles[j]];
  return record;
}}

/* projects x onto the constraints, in place, by at most so many Newton steps; returns the status
   of a step that began with this guard and ends there */
static {apart} int nhmech_project_state(const nhmech_setup* s, double t, double* x, double guard,
                                        double* health, int times) {{
  NHMECH_MEMORY;
  double raw[{nx} + 1], status = {OFF};
  while (status == {OFF} && times-- > 0) {{
    memcpy(raw, x, {nx} * sizeof(double));
    arg[0] = &t; arg[1] = raw; arg[2] = s->theta; arg[3] = &s->side; arg[4] = &guard;
    res[0] = x; res[1] = health; res[2] = &status;
    {settle}(arg, res, iw, w, 0);
  }}
  return (int)status;
}}

{crossed}
static void nhmech_read_out(nhmech_setup* s, long long done) {{
  NHMECH_MEMORY;
  s->done = done;
  if (!done) return;
  s->clock[1] += (double)done;
  s->clock[0] = s->clock[2] + s->clock[1] * s->dt;
  arg[0] = s->clock; arg[1] = s->x; arg[2] = s->theta;
  res[0] = s->q; res[1] = s->v;
  {read}(arg, res, iw, w, 0);
}}
"""

_LOOP = """
static {flat} int nhmech_run(nhmech_setup* s, long long steps, double* record) {{
  const double dt = s->dt, t0 = s->clock[2];
  double *health = s->health;
  const long long k0 = (long long)s->clock[1];
  NHMECH_MEMORY;
  double t, found[3], answer, room[2][{nx} + 1], *x = s->x, *next = room[0];
  /* the latest state at which all watched normal forces were positive */
  double sure_x[{nx} + 1], sure_health[3], *trend = s->trend, least;{kept}
  long long i, sure = 0, sure_rows = s->rows;
  int status = {DONE};
  arg[0] = &t; arg[2] = s->u; arg[3] = s->theta; arg[4] = &dt; arg[5] = &s->side;
  arg[6] = health + 2;
  res[1] = found; res[2] = &answer;
  for (i = 0; i < steps && !status; ) {{
    t = t0 + (double)(k0 + i) * dt;{ask}
    if (record && (s->phase + i) % s->every == 0) {{
      record = nhmech_row(s, t, x, record);
      ++s->rows;
    }}
    arg[1] = x; res[0] = next;
    {step}(arg, res, iw, w, 0);
    status = (int)answer;
    if ({unsettled}) status = nhmech_project_state(s, t + dt, next, health[2], found, {NEWTON});
    if (!status) status = nhmech_estimate(s, t, x, next, k0 + i);
    if (!status && !(nhmech_least_margin(s, t + dt, next) > 0)) status = {LIMIT};
    if (!status) {{
      x = next;
      next = room[x == room[0]];
      memcpy(health, found, sizeof(found));
      ++i;
    }}
    if ({lifts} && i - sure >= (status || i == steps{look}
                                || nhmech_has_moved(sure ? sure_x : s->x, x)
                                ? 1 : (long long)trend[2])) {{
      least = nhmech_least_normal(s, t0 + (double)(k0 + i) * dt, x);
      if (!(least > 0)) {{
        status = {LIFTED};
        i = sure;
        s->rows = sure_rows;
        if (sure) memcpy(health, sure_health, sizeof(found));
        x = sure ? sure_x : s->x;{back}
      }} else {{
        sure = i;
        sure_rows = s->rows;
        memcpy(sure_health, health, sizeof(found));
        memcpy(sure_x, x, {nx} * sizeof(double));{keep}
        if ((double)(k0 + i) < trend[1] || (double)(k0 + i) >= trend[1] + {STRIDE}) {{
          trend[2] = least + 2 * (least - trend[0]) > 0 ? {STRIDE} : 1;
          trend[0] = least;
          trend[1] = (double)(k0 + i);
        }}
      }}
    }}
  }}
  if (x != s->x) memcpy(s->x, x, {nx} * sizeof(double));
  nhmech_read_out(s, i);
  return status;
}}
"""

CALLS = """
int nhmech_many(nhmech_setup* s) {{
  return nhmech_run(s, s->steps, s->record);
}}

/* one whole step: an adaptive method returns now and then before the step is complete */
static int nhmech_whole_step(nhmech_setup* s, double* record) {{
  int status;
  s->limit = (long long)s->clock[1] + 1;
  do status = nhmech_run(s, 1, record); while (!status && !s->done);
  return status;
}}

int nhmech_one(nhmech_setup* s) {{
  return nhmech_whole_step(s, 0);
}}

int nhmech_turn(nhmech_setup* s) {{
  const long long before = s->rows;
  const int status = nhmech_whole_step(s, s->record);
  s->record += (s->rows - before) * (1 + {nq} + {nv} + {nu} + {na} + s->beside);
  s->phase = (s->phase + 1) % s->every;
  return status;
}}
"""


# Parts of the text that evaluate a controller at the beginning of each control period.
NO_CONTROLLER = {"fields": "", "kept": "", "ask": "", "look": "", "back": "", "keep": ""}
CONTROLLER_PARTS = {
    "fields": "\n  const double* references;\n  long long hold;",
    # the inputs at the latest state at which all watched normal forces were positive
    "kept": "\n  int asked;\n  double sure_u[{nu} + 1];"
            "\n  memcpy(sure_u, s->u, {nu} * sizeof(double));",
    "ask": "\n    asked = (k0 + i) % s->hold == 0;\n    if (asked) nhmech_ask(s, t, x);",
    # forces jump with the inputs
    "look": " || asked",
    "back": "\n        memcpy(s->u, sure_u, {nu} * sizeof(double));",
    "keep": "\n        memcpy(sure_u, s->u, {nu} * sizeof(double));",
}
CONTROLLER = """
static void nhmech_ask(const nhmech_setup* s, double t, const double* x) {{
  NHMECH_MEMORY;
  arg[0] = &t; arg[1] = x; arg[2] = s->references; arg[3] = s->theta;
  res[0] = s->u;
  {name}(arg, res, iw, w, 0);
}}
"""


class Setup(ctypes.Structure):
    """The arguments and results of the loop, kept from call to call.

    (They are fields rather than arguments because ctypes converts an argument more slowly.)

    Attributes
    ----------
    record, steps, every, phase
        Step i of `steps` writes a row of the state at its beginning to the address `record` if
        (phase + i) % every == 0.
    limit
        Number of the step up to which u is constant; an adaptive method may integrate that far
        ahead.
    done, rows
        Number of steps taken by the last call; number of rows written, which calls add to.
    gauge
        The numbers named by `GAUGE`, followed by a row.
    split, trend
        For the bounds on forces: how the wheels share the load; the least margin at the last
        evaluation, the number of that step, and the stride from there.
    beside
        How many numbers follow u in memory and are recorded with it; steps do not use them.
    references, hold
        Of a controller inside the loop: its references, and the number of steps in its period.
    """

    _fields_ = [
        *((name, ctypes.c_double) for name in ("dt", "side")),
        *((name, ctypes.c_void_p)
          for name in ("theta", "signs", "split", "trend", "q", "v", "x", "u", "health", "clock",
                       "work", "gauge", "angles", "record")),
        *((name, ctypes.c_longlong)
          for name in ("steps", "every", "phase", "limit", "done", "rows", "beside")),
        ("references", ctypes.c_void_p), ("hold", ctypes.c_longlong),
    ]


@dataclass(frozen=True)
class Loop:
    """A compiled loop over steps. Its functions advance x, q, v, health and the clock of a `Setup`
    in place and return a `Status`; a step with another status than DONE is not taken.
    """

    many: Callable[..., int]  # (byref(setup)): `setup.steps` steps; releases Python's lock
    one: Callable[..., int]  # (byref(setup)): one step without a record, with the least overhead
    turn: Callable[..., int]  # (byref(setup)): one step that continues the record
    # (byref(setup), t, dt, steps, address of x): steps of any length outside the run; see `PATH`.
    # None for a method that chooses its own steps.
    path: Callable[..., int] | None = None
    work: int = 0  # number of doubles that the loop keeps from call to call


def loop_source(step: ca.Function, settle: ca.Function, read: ca.Function, *, angles: int,
                kept: bool, bounds: Bounding, order: int,
                control: ca.Function | None) -> Source:
    """The loop around `step` (t, x, u, theta, dt, side, guard) -> (x, health, status).

    `settle` (t, x, theta, side, guard) -> (x, health, status) projects a step that ends off the
    constraints; if the step keeps them by itself (`kept`), every `MENDED`-th step. `read` (t, x,
    theta) -> (q, v) is evaluated for recorded rows and at the end. The error of some steps of a
    scheme of this `order` is estimated and stored in the setup's gauge (`GAUGE`); a step without
    any correct digit is refused. A step across one of the `bounds`, whose signs are in the setup,
    is refused. The bounds on forces are evaluated only after some steps (`STRIDE`) and at the end;
    where one is crossed, the steps since the last evaluation are undone. `control` (t, x,
    references, theta) -> u gives the inputs of each control period.
    """
    unsettled = (f"(k0 + i + 1) % {MENDED} == 0 && (!status || status == {CODES['OFF']})" if kept
                 else f"status == {CODES['OFF']}")
    functions = step, settle, read
    nu = step.size1_in(2)
    parts = NO_CONTROLLER if control is None else CONTROLLER_PARTS
    words = {key: part.format(nu=nu) for key, part in parts.items()}
    text = SHELL + ESTIMATE + PATH + HAS_MOVED + _LOOP + CALLS
    return source_of(functions, text, bounds, control, **words, step=step.name(),
                     unsettled=unsettled, ESTIMATE_EVERY=ESTIMATE_EVERY, WRONG=WRONG,
                     SHARE=richardson_factor(order),
                     **shapes(functions, nu, angles),
                     **has_moved_words(bounds[1], read.nnz_out(0) - angles))


class LoopCode:
    """The code of a loop, and its compiled library as soon as there is one."""

    def __init__(self, source: Source):
        self._source = source
        self._loop: Loop | None = None
        self._build: Build | None = None
        self._is_sought = False

    def loop(self, build: bool) -> Loop | None:
        """The loop. If `build` is set it is compiled now, else in the background (`background`)
        unless the cache has it.

        None until it is compiled; also without a compiler, and if that takes too long (the log says
        so once). Raises `CompileError`, if `build` is set, if the compiler fails or its library
        cannot be loaded.
        """
        if self._loop is None:
            library = library_of(self._source, True) if build else self._seek()
            self._loop = None if library is None else loop_of(library, path_function(library))
        return self._loop

    def _seek(self) -> Library | None:
        if self._build is not None:
            return self._build.library
        if self._is_sought:
            return None
        self._is_sought = True
        library = library_of(self._source, False)
        if library is None:
            self._build = begin_library(self._source)
        return library


def shapes(functions: Sequence[ca.Function], nu: int, angles: int) -> dict[str, int | str]:
    """The numbers and names that `SHELL` needs of these functions, which end with `settle` and
    `read`."""
    *_, settle, read = functions
    return {
        "nx": settle.nnz_out(0), "nq": read.nnz_out(0), "nv": read.nnz_out(1), "nu": nu,
        "na": angles, "settle": settle.name(), "read": read.name()}


def source_of(functions: Sequence[ca.Function], text: str, bounds: Bounding = (None, None),
              control: ca.Function | None = None, **words: object) -> Source:
    """C of the functions, followed by `text` with the words filled in."""
    functions = (*functions, *(part for part in (*bounds, control) if part is not None))
    crossed = bounding_source(bounds)
    if control is not None:
        crossed += CONTROLLER.format(name=control.name())
    functions_in_c = with_loops(generate("step.c", functions))
    flat = FLAT if functions_in_c.count("\n") < SHORT else ""
    loop = text.format(
        **NO_CONTROLLER | workspace(*functions) | words, **CODES, flat=flat, apart=APART,
        NEWTON=NEWTON, STRIDE=STRIDE, crossed=crossed, lifts=int(bounds[1] is not None))
    lines = functions_in_c.count("\n") + loop.count("\n")
    return Source(HIDDEN.format(in_pieces(functions_in_c, functions[0].name())) + loop,
                      functions[0].n_instructions() + lines // 2)


def path_function(library: Library) -> Callable[..., int]:
    """`Loop.path` of a library."""
    path = library.function("nhmech_path")
    real, integer, pointer = ctypes.c_double, ctypes.c_longlong, ctypes.c_void_p
    path.argtypes, path.restype = [pointer, real, real, integer, pointer], integer
    return path


def loop_of(library: Library, path: Callable[..., int] | None = None, work: int = 0) -> Loop:
    many = library.function("nhmech_many")
    # keeps Python's lock, which saves taking it again
    short = ctypes.PyDLL(str(library.path))
    return Loop(many, short.nhmech_one, short.nhmech_turn, path, work)
