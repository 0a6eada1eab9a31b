"""The step loop in C: many steps, with held inputs, in one call."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca

from .asking import ASK, ASKED, ASKING
from .background import Build, begin_build, wait_for_build
from .bounding import APART, MOVED, STRIDE, Bounding, bounding_source, moved_words
from .cache import Library, default_cache
from .compiler import find_compiler, say_no_compiler
from .judging import JUDGE, JUDGED, PATH, WRONG, judged_share
from .status import CODES
from .workspace import workspace

# further steps towards the constraints where an integrator's step was a coarse one
NEWTON = 5
# steps between two projections of a scheme that keeps the constraints: rounding has not made 1e-13
# m of them by then
MENDED = 64

# A loop that has its step within itself, rather than a call, costs a short step a quarter less; a
# long one would be compiled twice for nothing.
FLAT, SHORT = "__attribute__((flatten))", 3000      # lines of C
# What a library keeps to itself can be put in line: then CasADi's helpers, such as the square, are
# no calls.
HIDDEN = """
#include <math.h>
#pragma GCC visibility push(hidden)
{}
#pragma GCC visibility pop
"""

# What every loop shares. A row of the record is t, q, v, u and what stands beside it, the angles
# in x; the clock is t, the count k of steps, and t0 = t - k dt.
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
"""
SHELL = SETUP + """
static double* nhmech_row(const nhmech_setup* s, double t, const double* x, double* record) {{
  const double* arg[{sz_arg}];
  double* res[{sz_res}];
  casadi_int iw[{sz_iw} + 1];
  double w[{sz_w} + 1];
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

/* steps towards the constraints, in place; says whether a step that began with this guard may
   end there */
static {apart} int nhmech_settled(const nhmech_setup* s, double t, double* x, double guard,
                                  double* health, int times) {{
  const double* arg[{sz_arg}];
  double *res[{sz_res}], raw[{nx} + 1], status = {OFF};
  casadi_int iw[{sz_iw} + 1];
  double w[{sz_w} + 1];
  while (status == {OFF} && times-- > 0) {{
    memcpy(raw, x, {nx} * sizeof(double));
    arg[0] = &t; arg[1] = raw; arg[2] = s->theta; arg[3] = &s->side; arg[4] = &guard;
    res[0] = x; res[1] = health; res[2] = &status;
    {settle}(arg, res, iw, w, 0);
  }}
  return (int)status;
}}

{crossed}
static void nhmech_show(nhmech_setup* s, long long done) {{
  const double* arg[{sz_arg}];
  double* res[{sz_res}];
  casadi_int iw[{sz_iw} + 1];
  double w[{sz_w} + 1];
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
  const double* arg[{sz_arg}];
  double* res[{sz_res}];
  casadi_int iw[{sz_iw} + 1];
  double w[{sz_w} + 1];
  double t, found[3], answer, room[2][{nx} + 1], *x = s->x, *next = room[0];
  /* the latest state at which the ground was seen to press */
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
    if ({unsettled}) status = nhmech_settled(s, t + dt, next, health[2], found, {NEWTON});
    if (!status) status = nhmech_judge(s, t, x, next, k0 + i);
    if (!status && !(nhmech_crossed(s, t + dt, next) > 0)) status = {LIMIT};
    if (!status) {{
      x = next;
      next = room[x == room[0]];
      memcpy(health, found, sizeof(found));
      ++i;
    }}
    if ({lifts} && i - sure >= (status || i == steps{look} || nhmech_moved(sure ? sure_x : s->x, x)
                                ? 1 : (long long)trend[2])) {{
      least = nhmech_lifted(s, t0 + (double)(k0 + i) * dt, x);
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
  nhmech_show(s, i);
  return status;
}}
"""

CALLS = """
int nhmech_many(nhmech_setup* s) {{
  return nhmech_run(s, s->steps, s->record);
}}

/* a whole step: an adaptive method comes back now and then before it is one */
static int nhmech_whole(nhmech_setup* s, double* record) {{
  int status;
  s->limit = (long long)s->clock[1] + 1;
  do status = nhmech_run(s, 1, record); while (!status && !s->done);
  return status;
}}

int nhmech_one(nhmech_setup* s) {{
  return nhmech_whole(s, 0);
}}

int nhmech_turn(nhmech_setup* s) {{
  const long long before = s->rows;
  const int status = nhmech_whole(s, s->record);
  s->record += (s->rows - before) * (1 + {nq} + {nv} + {nu} + {na} + s->beside);
  s->phase = (s->phase + 1) % s->every;
  return status;
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
    gauge
        What `GAUGE` names, and a row.
    split, trend
        In which way wheels share the load, for the bounds of forces; and what `TREND` names.
    beside
        Numbers that follow u in memory and go with it into a row; no step looks at them.
    references, hold
        Of a controller within the loop, which is asked before every step whose count since the
        start is a multiple of `hold`.
    """

    _fields_ = [
        *((name, ctypes.c_double) for name in ("dt", "side")),
        *(
            (name, ctypes.c_void_p)
            for name in ("theta", "signs", "split", "trend", "q", "v", "x", "u", "health", "clock",
                         "work", "gauge", "angles", "record")
        ),
        *(
            (name, ctypes.c_longlong)
            for name in ("steps", "every", "phase", "limit", "done", "rows", "beside")
        ),
        ("references", ctypes.c_void_p), ("hold", ctypes.c_longlong),
    ]


@dataclass(frozen=True)
class Loop:
    """A compiled step function with its loop. The calls advance x, q, v, health and the clock of
    a `Setup` in place and return a `Status`; a step of another status than DONE is not taken.
    """

    many: Callable[..., int]  # (byref(setup)): `setup.steps` of them; lets go of Python's lock
    # (byref(setup)): one step, without a record, by the shortest way from Python
    one: Callable[..., int]
    # (byref(setup)): one step, with a record that goes on where the last one ended
    turn: Callable[..., int]
    # (byref(setup), t, dt, steps, address of x): steps of any length that are nobody's run; see
    # `PATH`. None where a method chooses its steps.
    path: Callable[..., int] | None = None
    work: int = 0  # doubles that the loop wants to keep from call to call


class LoopSource(NamedTuple):
    """Code in C, and how many instructions of CasADi's are in it."""

    code: str
    instructions: int


def loop_source(step: ca.Function, settle: ca.Function, read: ca.Function, angles: int,
                kept: bool, bounds: Bounding, order: int,
                control: ca.Function | None) -> LoopSource:
    """The loop around `step` (t, x, u, theta, dt, side, guard) -> (x, health, status).

    `settle` (t, x, theta, side, guard) -> (x, health, status) follows a step that ends off the
    constraints; where the step keeps them by itself (`kept`), now and then. `read` (t, x, theta) ->
    (q, v) is for a row that is recorded and for the end. The error of some steps of a scheme of
    this `order` is noted in the setup's gauge (`GAUGE`), and what is no solution at all is not
    taken. No step is taken that takes one of the `bounds` to the other side than that of its sign
    in the setup; those of forces are looked at after some steps (`STRIDE`) and at the end, and the
    steps since the latest look are taken back where one is crossed. `control` (t, x, references,
    theta) -> u gives the inputs of each control period.
    """
    unsettled = f"(k0 + i + 1) % {MENDED} == 0" if kept else f"status == {CODES['OFF']}"
    functions = step, settle, read
    nu = step.size1_in(2)
    asked = {key: word.format(nu=nu) for key, word in
             (ASKED if control is None else ASKING).items()}
    text = SHELL + JUDGE + PATH + MOVED + _LOOP + CALLS
    return source_of(functions, text, bounds, control, **asked, step=step.name(),
                     unsettled=unsettled, JUDGED=JUDGED, WRONG=WRONG, SHARE=judged_share(order),
                     **shapes(functions, nu, angles),
                     **moved_words(bounds[1], read.nnz_out(0) - angles))


class LoopCode:
    """The code of a loop, and what becomes of it."""

    def __init__(self, source: LoopSource):
        self._source = source
        self._loop: Loop | None = None
        self._build: Build | None = None
        self._is_sought = False

    def loop(self, build: bool) -> Loop | None:
        """The loop, built here and now; where `build` is not set, as soon as it is there: what is
        not in the cache is compiled in the background (`background`).

        None as long as it is not there, and without a compiler or where that takes too long (said
        once). Raises `CompileError`, if `build` is set, where the compiler refuses, or what it made
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
        library, compiler = library_of(self._source, False), find_compiler()
        if library is None and compiler is not None:
            self._build = begin_build(self._source.code, compiler, self._source.instructions)
        return library


def shapes(functions: Sequence[ca.Function], nu: int, angles: int) -> dict[str, int | str]:
    """What `SHELL` wants to know of functions the last two of which are `settle` and `read`."""
    *_, settle, read = functions
    return {
        **workspace(*functions),
        "nx": settle.nnz_out(0), "nq": read.nnz_out(0), "nv": read.nnz_out(1), "nu": nu,
        "na": angles, "settle": settle.name(), "read": read.name()}


def source_of(functions: Sequence[ca.Function], text: str, bounds: Bounding = (None, None),
              control: ca.Function | None = None, **words: object) -> LoopSource:
    """C of the functions followed by a text with the words put in."""
    generator = ca.CodeGenerator("step.c", {"with_header": False})
    for function in (*functions, *(part for part in (*bounds, control) if part is not None)):
        generator.add(function)
    crossed = bounding_source(bounds)
    if control is not None:
        crossed += ASK.format(name=control.name(), **workspace(control))
    functions_in_c = generator.dump()
    flat = FLAT if functions_in_c.count("\n") < SHORT else ""
    code = HIDDEN.format(functions_in_c) + text.format(
        **ASKED | words, **CODES, flat=flat, apart=APART, NEWTON=NEWTON, STRIDE=STRIDE,
        crossed=crossed, lifts=int(bounds[1] is not None))
    return LoopSource(code, functions[0].n_instructions() + code.count("\n") // 2)


def library_of(source: LoopSource, build: bool) -> Library | None:
    """The code compiled and loaded; None without a compiler or where it takes too long (said once),
    and where it is not in the cache and `build` is not set. Raises `CompileError` where the
    compiler refuses, or what it made cannot be loaded."""
    compiler = find_compiler()
    if compiler is None:
        say_no_compiler()
        return None
    if build:
        wait_for_build(source.code, compiler)
    return default_cache().load(source.code, compiler, source.instructions, build)


def path_function(library: Library) -> Callable[..., int]:
    """`Loop.path` of code that has one."""
    path = library.function("nhmech_path")
    real, integer, pointer = ctypes.c_double, ctypes.c_longlong, ctypes.c_void_p
    path.argtypes, path.restype = [pointer, real, real, integer, pointer], integer
    return path


def loop_of(library: Library, path: Callable[..., int] | None = None, work: int = 0) -> Loop:
    many = library.function("nhmech_many")
    # a lock that is kept costs nothing to take again
    short = ctypes.PyDLL(str(library.path))
    return Loop(many, short.nhmech_one, short.nhmech_turn, path, work)
