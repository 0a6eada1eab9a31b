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
# what the loop keeps about that: least margin at a look, its count, and the stride from there
TREND = ("least", "count", "stride")

# The least margin of some bounds at x, each on the side of its sign: of those of a step, and of
# those of the forces of the ground, which cost more.
_LEAST = """
static double {function}(const nhmech_setup* s, double t, const double* x) {{
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

_NO_BOUNDS = """
static double {function}(const nhmech_setup* s, double t, const double* x) {{ return INFINITY; }}
"""


def bounding_source(bounds: Bounding) -> str:
    """C of `nhmech_crossed` and `nhmech_lifted`: the least margin of each of the two."""
    margins, normals = bounds
    first = 0 if margins is None else margins.nnz_out(0)
    return (_least("nhmech_crossed", margins, "arg[2] = s->theta;", 0)
            + _least("nhmech_lifted", normals,
                     "arg[2] = s->u; arg[3] = s->theta; arg[4] = s->split;", first))


def _least(function: str, margins: ca.Function | None, arguments: str, first: int) -> str:
    """C of the least margin, the signs of which begin at `first`."""
    if margins is None:
        return _NO_BOUNDS.format(function=function)
    return _LEAST.format(function=function, name=margins.name(), count=margins.nnz_out(0),
                         arguments=arguments, first=first, **workspace(margins))
