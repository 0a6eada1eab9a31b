"""The bounds of a loop in C: joint limits, falls, and normal forces that must stay positive."""

from __future__ import annotations

import casadi as ca

# (t, x, theta) -> margins, and (t, x, u, theta, split) -> margins; None if there are none
Bounding = tuple[ca.Function | None, ca.Function | None]

# The forces of the ground are evaluated once in so many steps, which costs 3 % of a run if one
# evaluation costs as much as a step. They are evaluated at each step if a margin that goes on
# shrinking at its present rate would be gone after twice as many.
STRIDE = 32
# They are evaluated sooner if the state has changed, because the margin of a periodic motion, such
# as a wheel out of balance, has no such rate: after an angle that affects them has changed by
# TURNED [rad] (a load that oscillates with this angle is at most a thousandth of its amplitude
# lower in between), or a speed by the fraction CHANGED of itself (as where an oscillation
# reverses), unless the speed is below NOTHING times the sum of all.
TURNED, CHANGED, NOTHING = 0.1, 0.5, 1e-6
# Functions that are seldom called are not inlined, unlike the others of a short loop (`loop.FLAT`).
APART = "__attribute__((noinline))"

# The least of some margins at x, each multiplied by its sign in the setup.
_LEAST = """
static {apart}double {function}(const nhmech_setup* s, double t, const double* x) {{
  NHMECH_MEMORY;
  double margins[{count}], least = INFINITY, side;
  int j;
  arg[0] = &t; arg[1] = x; {arguments}
  res[0] = margins;
  {name}(arg, res, iw, w, 0);
  for (j = 0; j < {count}; ++j) {{
    side = margins[j] * s->signs[{first} + j];
    if (!(side >= least)) least = side;
  }}
  return least;
}}
"""

HAS_MOVED = """
static int nhmech_has_moved(const double* from, const double* to) {{
  static const int felt[] = {{ {felt} }};
  double all = 0, a, b;
  int j;
  for (j = 0; felt[j] >= 0; ++j)
    if (fabs(to[felt[j]] - from[felt[j]]) > {TURNED}) return 1;
  for (j = {nq} - {na}; j < {nx}; ++j) all += fabs(to[j]);
  for (j = {nq} - {na}; j < {nx}; ++j) {{
    a = fabs(from[j]); b = fabs(to[j]);
    if (fabs(to[j] - from[j]) > {CHANGED} * fmax(a, b) + {NOTHING} * all) return 1;
  }}
  return 0;
}}
"""

_NO_BOUNDS = """
static double {function}(const nhmech_setup* s, double t, const double* x) {{ return INFINITY; }}
"""


def bounding_source(bounds: Bounding) -> str:
    """C of `nhmech_least_margin` and `nhmech_least_normal`: the least margin of each of the two
    functions."""
    margins, normals = bounds
    first = 0 if margins is None else margins.nnz_out(0)
    return (_least("nhmech_least_margin", margins, "arg[2] = s->theta;", 0)
            + _least("nhmech_least_normal", normals,
                     "arg[2] = s->u; arg[3] = s->theta; arg[4] = s->split;", first, f"{APART} "))


def has_moved_words(normals: ca.Function | None, nconf: int) -> dict[str, str | float]:
    """The numbers that `HAS_MOVED` needs, among them which positions affect the forces of the
    ground."""
    felt = [] if normals is None else sorted(set(normals.jac_sparsity(0, 1).get_col()))
    return {"felt": ", ".join(str(j) for j in [*(j for j in felt if j < nconf), -1]),
            "TURNED": TURNED, "CHANGED": CHANGED, "NOTHING": NOTHING}


def _least(function: str, margins: ca.Function | None, arguments: str, first: int,
           apart: str = "") -> str:
    """C of the least of these margins, whose signs begin at `first`."""
    if margins is None:
        return _NO_BOUNDS.format(function=function)
    return _LEAST.format(function=function, name=margins.name(), count=margins.nnz_out(0),
                         arguments=arguments, first=first, apart=apart)
