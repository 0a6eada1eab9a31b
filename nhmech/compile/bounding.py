"""The C that says whether a step of a loop keeps on this side of its bounds."""

from __future__ import annotations

import casadi as ca

from .workspace import workspace

# (t, x, theta) -> margins, and (t, x, u, theta, split) -> margins; None where there are none
Bounding = tuple[ca.Function | None, ca.Function | None]

# steps between two looks at the forces of the ground: three percent of a run for each step that
# such a look costs. Where a margin would be gone after twice as many, at the rate at which it
# shrinks, each step is looked at
STRIDE = 32
# and sooner where the state is no longer near that of the last look, for what comes back to where
# it was, as a wheel that is out of balance does in a turn, has no such rate: where an angle that
# counts has changed by so much [rad], between two of which a load that swings with it is a
# thousandth of its swing lower than at both; or a speed by this part of itself, as it does where an
# oscillation turns back, unless it is next to nothing beside the others
TURNED, CHANGED, NOTHING = 0.1, 0.5, 1e-6
# what is seldom called is no part of a loop, all else of a short one is (`loop.FLAT`)
APART = "__attribute__((noinline))"
# what the loop keeps about that: least margin at a look, its count, and the stride from there
TREND = ("least", "count", "stride")

# The least margin of some bounds at x, each on the side of its sign: of those of a step, and of
# those of the forces of the ground, which cost more.
_LEAST = """
static {apart}double {function}(const nhmech_setup* s, double t, const double* x) {{
  const double* arg[{sz_arg}];
  double *res[{sz_res}], margins[{count}], least = INFINITY, side;
  casadi_int iw[{sz_iw} + 1];
  double w[{sz_w} + 1];
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

MOVED = """
static int nhmech_moved(const double* from, const double* to) {{
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
    """C of `nhmech_crossed` and `nhmech_lifted`: the least margin of each of the two."""
    margins, normals = bounds
    first = 0 if margins is None else margins.nnz_out(0)
    return (_least("nhmech_crossed", margins, "arg[2] = s->theta;", 0)
            + _least("nhmech_lifted", normals,
                     "arg[2] = s->u; arg[3] = s->theta; arg[4] = s->split;", first, f"{APART} "))


def moved_words(normals: ca.Function | None, nconf: int) -> dict[str, str | float]:
    """What `MOVED` wants to know: which of the positions count for the forces of the ground."""
    felt = [] if normals is None else sorted(set(normals.jac_sparsity(0, 1).get_col()))
    return {"felt": ", ".join(str(j) for j in [*(j for j in felt if j < nconf), -1]),
            "TURNED": TURNED, "CHANGED": CHANGED, "NOTHING": NOTHING}


def _least(function: str, margins: ca.Function | None, arguments: str, first: int,
           apart: str = "") -> str:
    """C of the least margin, the signs of which begin at `first`."""
    if margins is None:
        return _NO_BOUNDS.format(function=function)
    return _LEAST.format(function=function, name=margins.name(), count=margins.nnz_out(0),
                         arguments=arguments, first=first, apart=apart, **workspace(margins))
