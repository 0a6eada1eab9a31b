"""Dormand and Prince's adaptive method of order 8 in C, around a compiled rate."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import casadi as ca
import numpy as np

from .cache import default_cache
from .compiler import find_compiler
from .loop import _say_once

REACHED, TOO_SMALL, NOT_FINITE = range(3)

# SciPy's control of the step; the first trial comes from state and rate alone, so that the result does not depend on spans before this one
_DRIVER = """
#include <math.h>
#include <string.h>

int nhmech_dop853(double t, double span, const double* u, const double* theta, double* x, double rtol, double atol, double* now) {{
  static const double A[12][12] = {A}, B[12] = {B}, C[12] = {C}, E3[13] = {E3}, E5[13] = {E5};
  static const int n = {n};
  const double end = t + span;
  const double* arg[{sz_arg}];
  double* res[{sz_res}];
  casadi_int iw[{sz_iw} + 1];
  double w[{sz_w} + 1], k[13][{n}], y[{n}], h = span, at, sum, e3, e5, scale, error, factor;
  int i, j, s, rejected = 0;
  arg[0] = &t; arg[1] = x; arg[2] = u; arg[3] = theta; res[0] = k[0];
  {rate}(arg, res, iw, w, 0);
  for (e3 = 0, e5 = 0, i = 0; i < n; ++i) {{
    scale = atol + rtol * fabs(x[i]);
    e3 += x[i] * x[i] / (scale * scale);
    e5 += k[0][i] * k[0][i] / (scale * scale);
  }}
  if (!isfinite(e5)) {{ *now = t; return 2; }}
  if (e3 > 0 && e5 > 0) h = copysign(fmin(fabs(span), 0.1 * sqrt(e3 / e5)), span);
  while (fabs(end - t) > 0) {{
    *now = t;
    if (fabs(h) <= 1e-15 * fmax(fabs(t), 1e-3)) return 1;
    if (fabs(h) >= fabs(end - t)) h = end - t;
    for (s = 1; s <= 12; ++s) {{                                             /* the last stage is the rate at the end */
      for (i = 0; i < n; ++i) {{
        for (sum = 0, j = 0; j < s; ++j) sum += (s < 12 ? A[s][j] : B[j]) * k[j][i];
        y[i] = x[i] + h * sum;
      }}
      at = t + (s < 12 ? C[s] : 1) * h;
      arg[0] = &at; arg[1] = y; arg[2] = u; arg[3] = theta; res[0] = k[s];
      {rate}(arg, res, iw, w, 0);
    }}
    for (e3 = 0, e5 = 0, i = 0; i < n; ++i) {{                               /* infinite ends are refused: 0 inf is nan */
      e5 += 0 * y[i];
      scale = atol + rtol * fmax(fabs(x[i]), fabs(y[i]));
      for (sum = 0, j = 0; j < 13; ++j) sum += E3[j] * k[j][i];
      e3 += sum * sum / (scale * scale);
      for (sum = 0, j = 0; j < 13; ++j) sum += E5[j] * k[j][i];
      e5 += sum * sum / (scale * scale);
    }}
    error = e5 + e3 == 0 ? 0 : fabs(h) * e5 / sqrt((e5 + 0.01 * e3) * n);
    if (!isfinite(error)) {{ h *= 0.2; rejected = 1; continue; }}              /* a trial may leave the domain */
    factor = error > 0 ? 0.9 * pow(error, -0.125) : 10;
    if (error >= 1) {{ h *= fmax(factor, 0.2); rejected = 1; continue; }}
    t = h == end - t ? end : t + h;
    memcpy(x, y, sizeof(y));
    memcpy(k[0], k[12], sizeof(k[0]));
    h *= fmin(factor, rejected ? 1 : 10);
    rejected = 0;
  }}
  *now = t;
  return 0;
}}
"""


@dataclass(frozen=True)
class Adaptive:
    """A compiled rate (t, x, u, theta) -> dx/dt with DOP853 around it."""

    call: ctypes._CFuncPtr

    def run(self, t: float, span: float, u: np.ndarray, theta: np.ndarray, x: np.ndarray, rtol: float, atol: float) -> tuple[int, float]:
        """Advances x in place from t by `span` [s]; returns REACHED, TOO_SMALL or NOT_FINITE, and the time that was reached."""
        now = ctypes.c_double(t)
        return self.call(t, span, u.ctypes.data, theta.ctypes.data, x.ctypes.data, rtol, atol, ctypes.byref(now)), now.value


def compiled_adaptive(rate: ca.Function) -> Adaptive | None:
    """None where there is no compiler (said once). Raises `CompileError` where the compiler refuses.

    Source: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, section II.5; coefficients from SciPy.
    """
    compiler = find_compiler()
    if compiler is None:
        _say_once()
        return None
    from scipy.integrate import DOP853

    generator = ca.CodeGenerator("rate.c", {"with_header": False})
    generator.add(rate)
    tableau = {name: _literal(getattr(DOP853, name)) for name in ("A", "B", "C", "E3", "E5")}
    sizes = {"sz_arg": rate.sz_arg(), "sz_res": rate.sz_res(), "sz_iw": rate.sz_iw(), "sz_w": rate.sz_w()}
    code = generator.dump() + _DRIVER.format(rate=rate.name(), n=rate.nnz_out(0), **tableau, **sizes)
    call = ctypes.CDLL(str(default_cache().library(code, compiler, code.count("\n") // 2))).nhmech_dop853
    pointer, real = ctypes.c_void_p, ctypes.c_double
    call.argtypes, call.restype = [real, real, pointer, pointer, pointer, real, real, pointer], ctypes.c_int
    return Adaptive(call)


def _literal(array: np.ndarray) -> str:
    """A C initialiser."""
    return "{" + ", ".join(_literal(row) if np.ndim(row) else repr(float(row)) for row in array) + "}"
