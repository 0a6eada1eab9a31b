"""Dormand and Prince's adaptive method of order 8 (DOP853) in C: over one span of time, or as the
loop of a whole run."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from .compiled_function import library_of
from .loop import (
    CALLS,
    SHELL,
    Bounding,
    Loop,
    loop_of,
    shapes,
    source_of,
)
from .status import Status

# of a run, whose steps are as long as these and dt allow: the error of five seconds of a wobbling
# disc is then below 1e-10
RTOL = ATOL = 1e-13
ATTEMPTS = 2000                # at most so many steps between two checks for Ctrl-C

# The step size is controlled as in SciPy. The first trial step depends on the state and its rate
# alone, so that the result does not depend on earlier spans.
_METHOD = """
/* a step from t, x to end, y with its stages k; h is the length to try next */
typedef struct {{ double t, end, h, x[{n}], y[{n}], k[16][{n}]; int dense; }} nhmech_piece;

static const double A[12][12] = {A}, B[12] = {B}, C[12] = {C}, E3[13] = {E3}, E5[13] = {E5};
static const double A_EXTRA[3][16] = {A_EXTRA}, C_EXTRA[3] = {C_EXTRA}, D[4][16] = {D};

static void nhmech_rate(double t, const double* x, const double* u, const double* theta,
                        double* k) {{
  const double* arg[{rate_arg}];
  double* res[{rate_res}];
  casadi_int iw[{rate_iw} + 1];
  double w[{rate_w} + 1];
  arg[0] = &t; arg[1] = x; arg[2] = u; arg[3] = theta; res[0] = k;
  {rate}(arg, res, iw, w, 0);
}}

/* begins at t, x; chooses the first trial step towards t + span */
static int nhmech_first(nhmech_piece* p, double t, const double* x, double span, const double* u,
                        const double* theta, double rtol, double atol) {{
  double e3 = 0, e5 = 0, scale;
  int i;
  p->t = p->end = t;
  memcpy(p->x, x, sizeof(p->x));
  nhmech_rate(t, x, u, theta, p->k[0]);
  for (i = 0; i < {n}; ++i) {{
    scale = atol + rtol * fabs(x[i]);
    e3 += x[i] * x[i] / (scale * scale);
    e5 += p->k[0][i] * p->k[0][i] / (scale * scale);
  }}
  p->h = e3 > 0 && e5 > 0 ? copysign(fmin(fabs(span), 0.1 * sqrt(e3 / e5)), span) : span;
  return isfinite(e5) ? {DONE} : {NOT_FINITE};
}}

/* one accepted step from t, x with its rate k[0], not beyond `end`; fails if the step becomes too
   small. The last of the 12 stages is the rate at the end of the step. A trial step may leave the
   domain of the equations: infinite values make the error nan (0 inf is nan), so it is rejected. */
static int nhmech_next(nhmech_piece* p, double end, const double* u, const double* theta,
                       double rtol, double atol) {{
  static const int n = {n};
  double h = p->h, sum, e3, e5, scale, error, factor;
  int i, j, s, rejected = 0;
  p->dense = 0;
  for (;;) {{
    if (fabs(h) <= 1e-15 * fmax(fabs(p->t), 1e-3)) return {TOO_SMALL};
    if (fabs(h) >= fabs(end - p->t)) h = end - p->t;
    for (s = 1; s <= 12; ++s) {{
      for (i = 0; i < n; ++i) {{
        for (sum = 0, j = 0; j < s; ++j) sum += (s < 12 ? A[s][j] : B[j]) * p->k[j][i];
        p->y[i] = p->x[i] + h * sum;
      }}
      nhmech_rate(p->t + (s < 12 ? C[s] : 1) * h, p->y, u, theta, p->k[s]);
    }}
    for (e3 = 0, e5 = 0, i = 0; i < n; ++i) {{
      e5 += 0 * p->y[i];
      scale = atol + rtol * fmax(fabs(p->x[i]), fabs(p->y[i]));
      for (sum = 0, j = 0; j < 13; ++j) sum += E3[j] * p->k[j][i];
      e3 += sum * sum / (scale * scale);
      for (sum = 0, j = 0; j < 13; ++j) sum += E5[j] * p->k[j][i];
      e5 += sum * sum / (scale * scale);
    }}
    error = e5 + e3 == 0 ? 0 : fabs(h) * e5 / sqrt((e5 + 0.01 * e3) * n);
    if (!isfinite(error)) {{ h *= 0.2; rejected = 1; continue; }}
    factor = error > 0 ? 0.9 * pow(error, -0.125) : 10;
    if (error >= 1) {{ h *= fmax(factor, 0.2); rejected = 1; continue; }}
    p->end = h == end - p->t ? end : p->t + h;
    p->h = h * fmin(factor, rejected ? 1 : 10);
    return {DONE};
  }}
}}

int nhmech_dop853(double t, double span, const double* u, const double* theta, double* x,
                  double rtol, double atol, double* now) {{
  nhmech_piece p;
  const double end = t + span;
  int status = nhmech_first(&p, t, x, span, u, theta, rtol, atol);
  *now = t;
  while (!status && fabs(end - p.t) > 0) {{
    status = nhmech_next(&p, end, u, theta, rtol, atol);
    if (status) break;
    *now = p.t = p.end;
    memcpy(x, p.y, sizeof(p.y));
    memcpy(p.x, p.y, sizeof(p.x));
    memcpy(p.k[0], p.k[12], sizeof(p.k[0]));
  }}
  return status;
}}
"""

# The integration runs ahead of the time grid and continues from call to call in `work`; it starts
# again if the state or the inputs have changed in between. `now` is the latest step, x and found
# its end after the projection; `held` is the step that contains the last grid point before it.
_LOOP = """
typedef struct {{
  double t, limit, shown[{n}], u[{nu} + 1], x[{n}], found[3];
  nhmech_piece held, now;
}} nhmech_ahead;

int nhmech_room(void) {{
  return sizeof(nhmech_ahead) / sizeof(double) + 1;
}}

/* the state at t within a step, by interpolation of order 7 */
static void nhmech_within(const nhmech_setup* s, nhmech_piece* p, double t, double* x,
                          double* found) {{
  const double h = p->end - p->t, a = (t - p->t) / h, b = 1 - a;
  double y, d, f;
  int i, j, e;
  for (e = p->dense ? 3 : 0; e < 3; ++e) {{
    for (i = 0; i < {n}; ++i) {{
      for (d = 0, j = 0; j < 13 + e; ++j) d += A_EXTRA[e][j] * p->k[j][i];
      x[i] = p->x[i] + h * d;
    }}
    nhmech_rate(p->t + C_EXTRA[e] * h, x, s->u, s->theta, p->k[13 + e]);
  }}
  p->dense = 1;
  for (i = 0; i < {n}; ++i) {{
    d = p->y[i] - p->x[i];
    for (y = 0, e = 3; e >= 0; --e) {{
      for (f = 0, j = 0; j < 16; ++j) f += D[e][j] * p->k[j][i];
      y = (y + h * f) * (e % 2 ? a : b);
    }}
    y = (y + 2 * d - h * (p->k[12][i] + p->k[0][i])) * a;
    y = (y + h * p->k[0][i] - d) * b;
    x[i] = p->x[i] + (y + d) * a;
  }}
  nhmech_project_state(s, t, x, NAN, found, {NEWTON});
}}

/* one more step, not longer than dt, because the errors of many steps add up */
static int nhmech_further(const nhmech_setup* s, nhmech_ahead* w) {{
  const double guard = w->found[2];
  int status;
  w->now.h = copysign(fmin(fabs(w->now.h), fabs(s->dt)), w->now.h);
  status = nhmech_next(&w->now, w->limit, s->u, s->theta, {rtol}, {atol});
  if (status) return status;
  memcpy(w->x, w->now.y, sizeof(w->x));
  status = nhmech_project_state(s, w->now.end, w->x, guard, w->found, {NEWTON});
  if (!status && !(nhmech_least_margin(s, w->now.end, w->x) > 0)) status = {LIMIT};
  if (!status && !(nhmech_least_normal(s, w->now.end, w->x) > 0)) status = {LIFTED};
  return status;
}}

/* the state at t, which is not before the latest step */
static void nhmech_at(const nhmech_setup* s, nhmech_ahead* w, double t, double* x, double* found) {{
  if (t < w->now.end) {{
    nhmech_within(s, &w->now, t, x, found);
  }} else {{
    memcpy(x, w->x, sizeof(w->x));
    memcpy(found, w->found, sizeof(w->found));
  }}
}}

static int nhmech_run(nhmech_setup* s, long long steps, double* record) {{
  nhmech_ahead* w = (nhmech_ahead*)s->work;
  const double dt = s->dt, t0 = s->clock[2], limit = t0 + (double)s->limit * dt;
  const long long k0 = (long long)s->clock[1];
  double t = s->clock[0], before = t, x[{n}], found[3];
  long long i;
  int status = 0, whole = 0, attempts = {ATTEMPTS};
  if (w->t != t || w->limit != limit || memcmp(w->shown, s->x, sizeof(w->shown))
      || memcmp(w->u, s->u, {nu} * sizeof(double))) {{
    w->t = t;
    w->limit = limit;
    memcpy(w->u, s->u, {nu} * sizeof(double));
    memcpy(w->shown, s->x, sizeof(w->shown));
    memcpy(w->x, s->x, sizeof(w->x));
    memcpy(w->found, s->health, sizeof(w->found));
    status = nhmech_first(&w->now, t, s->x, limit - t, s->u, s->theta, {rtol}, {atol});
  }}
  memcpy(x, s->x, sizeof(x));
  for (i = 0; !status; ++i) {{
    before = t;
    t = t0 + (double)(k0 + i) * dt;
    while (w->now.end < t && !status && attempts-- > 0) {{
      if (w->now.t < w->now.end) {{
        if (w->now.t <= before) w->held = w->now;
        w->now.t = w->now.end;
        memcpy(w->now.x, w->x, sizeof(w->x));
        nhmech_rate(w->now.t, w->x, s->u, s->theta, w->now.k[0]);
      }}
      status = nhmech_further(s, w);
    }}
    if (status || w->now.end < t) break;
    if (i < steps && (!record || (s->phase + i) % s->every)) continue;
    if (i) nhmech_at(s, w, t, x, found);
    if (i == steps) {{ whole = 1; break; }}
    record = nhmech_row(s, t, x, record);
    ++s->rows;
  }}
  /* back to the last grid point that was reached */
  if (!whole && --i > 0) {{
    if (status || before < w->now.t) nhmech_within(s, &w->held, before, x, found);
    else nhmech_at(s, w, before, x, found);
  }}
  /* the next call will record this row */
  if (!whole && !status && i >= 0 && record && (s->phase + i) % s->every == 0) --s->rows;
  if (i > 0) {{
    memcpy(s->x, x, sizeof(x));
    memcpy(s->health, found, sizeof(found));
  }}
  nhmech_read_out(s, i > 0 ? i : 0);
  w->t = s->clock[0];
  memcpy(w->shown, s->x, sizeof(w->shown));
  if (status) w->limit = NAN;      /* the next call starts again */
  return status;
}}
"""


@dataclass(frozen=True)
class Adaptive:
    """A compiled rate (t, x, u, theta) -> dx/dt with DOP853 around it."""

    call: Callable[..., int]  # over one span
    loop: Loop | None = None  # the loop of a whole run, if compiled with a projection

    def run(self, t: float, x: np.ndarray, u: np.ndarray, theta: np.ndarray, span: float,
            rtol: float = RTOL, atol: float = ATOL) -> tuple[np.ndarray, Status, float]:
        """x after a `span` [s] from t; the status DONE, TOO_SMALL or NOT_FINITE; and the time that
        was reached [s]."""
        now, end = ctypes.c_double(t), np.array(x)
        u, theta = np.ascontiguousarray(u), np.ascontiguousarray(theta)
        status = self.call(t, span, u.ctypes.data, theta.ctypes.data, end.ctypes.data, rtol, atol,
                           ctypes.byref(now))
        return end, Status(status), now.value


def compile_adaptive(rate: ca.Function, ends: tuple[ca.Function, ca.Function] | None = None,
                     angles: int = 0, bounds: Bounding = (None, None)) -> Adaptive | None:
    """Compiles DOP853 around a rate (t, x, u, theta) -> dx/dt.

    With `ends`, which are `settle` and `read`, and `bounds`, as in `loop_source`, a whole run is
    one call. Its steps are as long as dt and the tolerance allow, each followed by a projection;
    the states at multiples of dt, where no step need end, are interpolated.

    None if there is no compiler (the log says so once). Raises `CompileError` if the compiler fails
    or its library cannot be loaded.

    Source: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, sections II.5 and
    II.6; coefficients from SciPy.
    """
    from scipy.integrate import DOP853

    tables = ("A", "B", "C", "E3", "E5", "A_EXTRA", "C_EXTRA", "D")
    words: dict[str, object] = {name: _literal(getattr(DOP853, name)) for name in tables}
    words |= {"rate": rate.name(), "n": rate.nnz_out(0), "rtol": RTOL, "atol": ATOL,
              "ATTEMPTS": ATTEMPTS}
    words |= {f"rate_{size}": getattr(rate, f"sz_{size}")() for size in ("arg", "res", "iw", "w")}
    functions: tuple[ca.Function, ...] = (rate,)
    text = "#include <math.h>\n#include <string.h>\n" + _METHOD
    if ends is not None:
        functions, text = (rate, *ends), SHELL + _METHOD + _LOOP + CALLS
        words |= shapes(functions, rate.size1_in(2), angles)
    library = library_of(source_of(functions, text, bounds, **words))
    if library is None:
        return None
    call, pointer, real = library.function("nhmech_dop853"), ctypes.c_void_p, ctypes.c_double
    call.argtypes = [real, real, pointer, pointer, pointer, real, real, pointer]
    if ends is None:
        return Adaptive(call)
    return Adaptive(call, loop_of(library, work=library.function("nhmech_room")()))


def _literal(array: np.ndarray) -> str:
    """A C initialiser."""
    rows = (_literal(row) if np.ndim(row) else repr(float(row)) for row in array)
    return "{" + ", ".join(rows) + "}"
