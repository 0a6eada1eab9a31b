"""The step loop in C for phases in which wheels slide or fly, around the step of `contact_step`."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from .compiled_function import library_of
from .contact_rows_code import STEP
from .contact_step import CompiledContactStep
from .loop import SETUP, Loop, source_of

_TEXT = SETUP + STEP + """
enum {{ X = {nx}, Q = {nq}, V = {nv}, U = {nu}, C = {contacts}, F = {forces}, L = {angles},
       S = {speeds}, G = {margins} }};
static const int force_row[F + 1] = {{ {rows} }};
typedef int nhmech_take(nhmech_step*);

/* w from v, or q and v from w, at x */
static void nhmech_turn_base(const double* x, const double* from, double* q, double* v) {{
  const double* arg[{sz_arg}] = {{ x, from }};
  double *res[{sz_res}] = {{ q, v }}, w[{sz_w} + 1];
  casadi_int iw[{sz_iw} + 1];
  if (q) {{ {leave}(arg, res, iw, w, 0); }}
  else {{ res[0] = v; {enter}(arg, res, iw, w, 0); }}
}}

/* whether every margin still has its sign */
static int nhmech_is_within(const nhmech_setup* s, double t, const double* q) {{
  const double* arg[{sz_arg}] = {{ &t, q }};
  double margins[G + 1], *res[{sz_res}] = {{ margins }}, w[{sz_w} + 1];
  casadi_int iw[{sz_iw} + 1];
  int j;
  {watch}
  for (j = 0; j < G; ++j) if (s->signs[j] > 0 ? !(margins[j] > 0) : margins[j] > 0) return 0;
  return 1;
}}

static double* nhmech_row(const nhmech_setup* s, double* record) {{
  int j;
  *record++ = s->clock[0];
  memcpy(record, s->q, Q * sizeof(double)); record += Q;
  memcpy(record, s->v, V * sizeof(double)); record += V;
  memcpy(record, s->u, (U + s->beside) * sizeof(double)); record += U + s->beside;
  for (j = 0; j < L; ++j) *record++ = s->x[s->angles[j]];
  return record;
}}

/* takes steps until one in which a wheel lands, the contact problem is not solved at the first
   attempt, a bound is crossed, or, if `rests_end` is set, all wheels end rolling; that step is not
   taken */
static int nhmech_slide(nhmech_setup* s, nhmech_step* c, nhmech_take* take, int rests_end,
                        long long steps, double* record) {{
  double *forces = s->u + U + s->beside - F - 3 * C, *phases = forces + F;
  double *slid = phases + C, *lost = slid + C, q[Q], v[V], sum;
  long long i;
  int j, rests, status = {DONE};
  c->dt = s->dt; c->stays = 0;
  for (i = 0; i < steps; ++i) {{
    for (rests = rests_end, j = 0; j < C; ++j) rests &= phases[j] == {ROLLING};
    if (rests) {{ status = {UNSOLVED}; break; }}
    c->t = s->clock[0];
    memcpy(c->x, s->x, X * sizeof(double));
    nhmech_turn_base(s->x, s->v, 0, c->w);
    memcpy(c->u, s->u, U * sizeof(double));
    for (j = 0; j < C; ++j)
      c->touch[j] = (double)(c->closed[j] = phases[j] != {AIRBORNE});
    for (j = 0; j < F; ++j) c->guess[force_row[j]] = s->dt * forces[j];
    if (take(c)) {{ status = {UNSOLVED}; break; }}
    for (rests = rests_end, j = 0; j < C; ++j) {{
      rests &= c->phases[j] == {ROLLING};
      if (!c->closed[j] && !(c->heights[j] >= -{LANDED})) status = {UNSOLVED};
    }}
    if (rests) status = {UNSOLVED};
    nhmech_turn_base(c->x1, c->w1, q, v);
    for (sum = 0, j = 0; j < Q; ++j) sum += q[j];
    for (j = 0; j < V; ++j) sum += v[j];
    if (!isfinite(sum)) status = {NOT_FINITE};
    if (status || !nhmech_is_within(s, s->clock[2] + (s->clock[1] + 1) * s->dt, q)) {{
      if (!status) status = {LIMIT};
      break;
    }}
    if (record && (s->phase + i) % s->every == 0) {{ record = nhmech_row(s, record); ++s->rows; }}
    memcpy(s->x, c->x1, X * sizeof(double));
    memcpy(s->q, q, sizeof(q)); memcpy(s->v, v, sizeof(v));
    for (j = 0; j < S; ++j) s->x[X + j] = v[s->angles[L + j]];
    for (j = 0; j < F; ++j) forces[j] = c->impulses[force_row[j]] / s->dt;
    for (j = 0; j < C; ++j) {{
      phases[j] = (double)c->phases[j];
      slid[j] += c->slid[j];
      lost[j] += c->lost[j];
    }}
    s->clock[1] += 1;
    s->clock[0] = s->clock[2] + s->clock[1] * s->dt;
  }}
  s->done = i;
  return status;
}}

int nhmech_many(nhmech_setup* s, nhmech_step* c, nhmech_take* take, int rests_end) {{
  return nhmech_slide(s, c, take, rests_end, s->steps, s->record);
}}

int nhmech_one(nhmech_setup* s, nhmech_step* c, nhmech_take* take, int rests_end) {{
  return nhmech_slide(s, c, take, rests_end, 1, 0);
}}

int nhmech_turn(nhmech_setup* s, nhmech_step* c, nhmech_take* take, int rests_end) {{
  const long long before = s->rows;
  const int status = nhmech_slide(s, c, take, rests_end, 1, s->record);
  s->record += (s->rows - before) * (1 + Q + V + U + L + s->beside);
  s->phase = (s->phase + 1) % s->every;
  return status;
}}
"""


@dataclass(frozen=True)
class SlidingLayout:
    """The constants of a vehicle that the loop needs."""

    rows: tuple[int, ...]  # the contact row of each recorded force
    contacts: int  # number of contacts
    speeds: int  # number of independent speeds, which follow the configuration in x
    rolling: int  # value of `Phase.ROLLING`
    airborne: int  # value of `Phase.AIRBORNE`
    landed: float  # a wheel in the air has landed when it is so far below the ground [m]
    # whether the loop stops at a step after which all wheels roll, where rolling may begin again
    rests_end: bool


def sliding_loop(step: CompiledContactStep, enter: ca.Function, leave: ca.Function,
                 watch: ca.Function, layout: SlidingLayout) -> Loop | None:
    """Compiles the loop around a step; None without a compiler.

    In the `Setup` that it advances, the places of the independent speeds of the present chart
    follow those of the angles. Python takes the steps that the loop refuses.

    Parameters
    ----------
    enter, leave
        (x, v) -> w, and (x, w) -> q, v, where x is without independent speeds.
    watch
        (t, q) -> margins whose signs must not change.

    Raises
    ------
    CompileError
        If the compiler fails or its library cannot be loaded.
    """
    functions: Sequence[ca.Function] = enter, leave, *([watch] if watch.nnz_out(0) else [])
    nx, nq, nv = enter.nnz_in(0), leave.nnz_out(0), enter.nnz_out(0)
    source = source_of(
        functions, _TEXT, (None, None), None, nx=nx, nq=nq, nv=nv,
        nu=len(step.arrays["u"]), contacts=layout.contacts, forces=len(layout.rows),
        angles=nq - nx, speeds=layout.speeds, margins=watch.nnz_out(0),
        rows=", ".join(map(str, (*layout.rows, 0))), enter=enter.name(), leave=leave.name(),
        watch=f"{watch.name()}(arg, res, iw, w, 0);" if watch.nnz_out(0) else "",
        LANDED=repr(layout.landed), ROLLING=layout.rolling, AIRBORNE=layout.airborne)
    library = library_of(source)
    if library is None:
        return None
    take, pointer = ctypes.cast(step.take, ctypes.c_void_p), step.pointer
    short = ctypes.PyDLL(str(library.path))      # does not release Python's lock

    def bind(function):
        return lambda setup: function(setup, pointer, take, layout.rests_end)
    return Loop(*map(bind, (library.function("nhmech_many"), short.nhmech_one, short.nhmech_turn)))
