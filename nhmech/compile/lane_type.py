"""The number that generated code computes with when it runs many cases at once:
a C++ class over a vector type of the compiler."""

from __future__ import annotations

import re

# Ternaries on vectors choose lane by lane. Comparisons give 0. and 1., as CasADi expects.
# Functions without a vector form go lane by lane.
LANE_TYPE = r"""
#include <math.h>
#include <string.h>

#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif

typedef double pack __attribute__((vector_size(8 * LANES)));
typedef long long mask __attribute__((vector_size(8 * LANES)));

static inline pack all(double s) { return s - pack{}; }
static inline bool any(mask m) {
  long long found = 0;
  for (int i = 0; i < LANES; ++i) found |= m[i];
  return found;
}

struct lane {
  pack v;
  lane() = default;
  lane(double s) : v(all(s)) {}
  lane(pack p) : v(p) {}
  lane& operator+=(lane b) { v += b.v; return *this; }
  lane& operator-=(lane b) { v -= b.v; return *this; }
  lane& operator*=(lane b) { v *= b.v; return *this; }
  lane& operator/=(lane b) { v /= b.v; return *this; }
};

/* what CasADi branches on: true where it is so for any lane */
static inline bool casadi_to_int(lane a) { return any(a.v != all(0.)); }
static inline lane truth(mask m) { return lane(m ? all(1.) : all(0.)); }
static inline lane operator+(lane a, lane b) { return a.v + b.v; }
static inline lane operator-(lane a, lane b) { return a.v - b.v; }
static inline lane operator*(lane a, lane b) { return a.v * b.v; }
static inline lane operator/(lane a, lane b) { return a.v / b.v; }
static inline lane operator-(lane a) { return -a.v; }
static inline lane operator<(lane a, lane b) { return truth(a.v < b.v); }
static inline lane operator<=(lane a, lane b) { return truth(a.v <= b.v); }
static inline lane operator==(lane a, lane b) { return truth(a.v == b.v); }
static inline lane operator!=(lane a, lane b) { return truth(a.v != b.v); }
static inline lane operator!(lane a) { return truth(a.v == all(0.)); }
static inline lane operator&&(lane a, lane b) { return truth((a.v != all(0.)) & (b.v != all(0.))); }
static inline lane operator||(lane a, lane b) { return truth((a.v != all(0.)) | (b.v != all(0.))); }
static inline lane casadi_if_else_zero(lane c, lane a) { return c.v != all(0.) ? a.v : all(0.); }
static inline lane casadi_sq(lane a) { return a.v * a.v; }
static inline lane casadi_sign(lane a) {
  return a.v < all(0.) ? all(-1.) : a.v > all(0.) ? all(1.) : a.v;
}
static inline lane casadi_fabs(lane a) { return (pack)((mask)a.v & 0x7fffffffffffffffLL); }
static inline lane casadi_fmin(lane a, lane b) { return (a.v < b.v) | (b.v != b.v) ? a.v : b.v; }
static inline lane casadi_fmax(lane a, lane b) { return (a.v > b.v) | (b.v != b.v) ? a.v : b.v; }

static inline lane sqrt(lane a) {
  pack r;
  for (int i = 0; i < LANES; ++i) r[i] = sqrt(a.v[i]);
  return r;
}

#define BY_LANE(name, f) static inline lane name(lane a) { \
  pack r; for (int i = 0; i < LANES; ++i) r[i] = f(a.v[i]); return r; }
#define BY_LANE_2(name, f) static inline lane name(lane a, lane b) { \
  pack r; for (int i = 0; i < LANES; ++i) r[i] = f(a.v[i], b.v[i]); return r; }
BY_LANE(asin, asin) BY_LANE(acos, acos) BY_LANE(atan, atan)
BY_LANE(sinh, sinh) BY_LANE(cosh, cosh) BY_LANE(tanh, tanh)
BY_LANE(asinh, asinh) BY_LANE(acosh, acosh) BY_LANE(atanh, atanh)
BY_LANE(exp, exp) BY_LANE(log, log) BY_LANE(erf, erf)
BY_LANE(floor, floor) BY_LANE(ceil, ceil) BY_LANE(casadi_log1p, log1p) BY_LANE(casadi_expm1, expm1)
BY_LANE_2(atan2, atan2) BY_LANE_2(pow, pow) BY_LANE_2(fmod, fmod) BY_LANE_2(remainder, remainder)
BY_LANE_2(copysign, copysign) BY_LANE_2(casadi_hypot, hypot)

/* sin and cos: Cody and Waite's reduction by pi/2 in three parts to r + y, y below the last digit
   of r, then the polynomials of fdlibm (k_sin.c, k_cos.c): within 2 ulp. Where an argument is too
   large for it, or not finite, the C library answers. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))
struct angle { pack sin, cos; mask quadrant, far; };

ALWAYS_INLINE angle reduced(pack x) {
  const pack shift = all(0x1.8p52), n = x * 6.36619772367581382433e-01 + shift, k = n - shift;
  const pack far = x - k * 1.57079632673412561417e+00, next = k * 6.07710050630396597660e-11;
  const pack near = far - next, rest = k * 2.02226624879595063154e-21 - ((far - near) - next);
  const pack r = near - rest, y = (near - r) - rest;
  const pack z = r * r, w = 1. - .5 * z;
  const pack s = -1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * (
      -1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * (
      -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10))));
  const pack c = 4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (
      2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * (
      2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))));
  const pack size = casadi_fabs(x).v;
  return {r + ((r * z) * s + y * w), w + (((1. - w) - .5 * z) + ((z * z) * c - r * y)), (mask)n,
          ~(size < all(1e6))};
}

ALWAYS_INLINE pack turned(pack even, pack odd, mask quadrant) {
  return (pack)((mask)((quadrant & 1) != 0 ? odd : even) ^ ((quadrant & 2) << 62));
}

#define ANGULAR(name, turns) \
  static __attribute__((noinline, cold)) pack far_##name(pack r, pack x, mask far) { \
    for (int i = 0; i < LANES; ++i) if (far[i]) r[i] = name(x[i]); \
    return r; \
  } \
  ALWAYS_INLINE lane name(lane a) { \
    const angle p = reduced(a.v); \
    const pack r = turned(p.sin, p.cos, p.quadrant + turns); \
    return __builtin_expect(any(p.far), 0) ? far_##name(r, a.v, p.far) : r; \
  }
ANGULAR(sin, 0) ANGULAR(cos, 1)

static inline lane tan(lane a) { return sin(a) / cos(a); }

#define casadi_real lane
"""


def vectorise(code: str) -> str:
    """CasADi's C made to compile as C++ on lanes: its helpers give way to those above."""
    code = re.sub(r"^#define casadi_(\w+) CASADI_PREFIX\(\1\)\n", "", code, flags=re.M)
    code = re.sub(r"^#define casadi_to_int.*\n", "", code, flags=re.M)
    code = re.sub(r"^casadi_real casadi_\w+\([^)]*\) \{(?:[^\n]*\}\n|\n.*?^\}\n)", "", code,
                  flags=re.M | re.S)
    code = re.sub(r"\((\w+)\?(\w+):0\)", r"casadi_if_else_zero(\1,\2)", code)
    return LANE_TYPE + code
