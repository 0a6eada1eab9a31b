"""The reduced equations and RK4 as a person writes them in C, compiled by the compiler and flags
that nhmech uses."""

from __future__ import annotations

import ctypes
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from common.timing import Spent

from nhmech.compile.compiler import find_compiler

# steps of the same motion that are timed: a run of a hundred would time the call from Python
LONG = 20_000

RATES = {"differential_drive": """
#define N 7
static void rate(const double* s, const double* c, const double* u, double* d) {
  double V = s[3], W = s[4], turn = c[3] * W;
  d[0] = V * cos(s[2]); d[1] = V * sin(s[2]); d[2] = W;
  d[3] = (c[2] * W * W + (u[0] + u[1]) / c[4]) * c[0];
  d[4] = (c[3] * (u[1] - u[0]) / c[4] - c[2] * V * W) * c[1];
  d[5] = (V - turn) / c[4]; d[6] = (V + turn) / c[4];
}
""", "disc": """
#define N 8
static void rate(const double* s, const double* c, const double* u, double* d) {
  double sine = sin(s[3]), cosine = cos(s[3]), tangent = sine / cosine;
  double spin = s[6] - s[7] * tangent;
  d[0] = c[5] * spin * cos(s[2]); d[1] = c[5] * spin * sin(s[2]);
  d[2] = s[7] / cosine; d[3] = s[5]; d[4] = spin;
  d[5] = c[0] * sine - c[1] * s[7] * s[7] * tangent + c[2] * s[6] * s[7];
  d[6] = -c[3] * s[5] * s[7]; d[7] = s[5] * (s[7] * tangent - c[4] * s[6]);
}
"""}

LOOP = """
void run(double dt, long steps, double* s, const double* c, const double* u) {
  double k1[N], k2[N], k3[N], k4[N], y[N];
  long i; int j;
  for (i = 0; i < steps; ++i) {
    rate(s, c, u, k1);
    for (j = 0; j < N; ++j) y[j] = s[j] + dt / 2 * k1[j];
    rate(y, c, u, k2);
    for (j = 0; j < N; ++j) y[j] = s[j] + dt / 2 * k2[j];
    rate(y, c, u, k3);
    for (j = 0; j < N; ++j) y[j] = s[j] + dt * k3[j];
    rate(y, c, u, k4);
    for (j = 0; j < N; ++j) s[j] += dt / 6 * (k1[j] + 2 * (k2[j] + k3[j]) + k4[j]);
  }
}
"""


@cache
def _built(name: str):
    compiler = find_compiler()
    if compiler is None:
        raise ImportError("no C compiler")
    folder = Path(tempfile.mkdtemp(prefix="nhmech-bench-"))
    (folder / "hand.c").write_text("#include <math.h>\n" + RATES[name] + LOOP)
    compiler.build(folder / "hand.c", folder / "hand.so", 0)
    call = ctypes.CDLL(str(folder / "hand.so")).run
    call.argtypes, call.restype = [ctypes.c_double, ctypes.c_long] + 3 * [ctypes.c_void_p], None
    return call


def run(motion, dt: float, duration: float) -> tuple[np.ndarray, Spent]:
    call, state, constants = _built(motion.robot), motion.start.copy(), np.array(motion.constants)
    torques = np.array(getattr(motion, "torques", (0.0, 0.0)))
    pointers = [array.ctypes.data for array in (state, constants, torques)]
    steps = round(duration / dt)
    call(dt, steps, *pointers)
    place = motion.place(state)
    state[:] = motion.start
    with Spent(LONG / steps) as took:
        call(duration / LONG, LONG, *pointers)
    return place, took
