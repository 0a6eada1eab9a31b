"""Which steps of a loop are judged, by the error of two halves, and the C of it."""

# steps between two that are taken again as two halves, which tells the error of both; the first
# ones are judged more often, and so is a step after which the speeds have doubled
JUDGED = 256
# an error of a step, relative to 1 + |x|, at which it is not taken if speeds grow; where they
# shrink, it may be a stiff damper that brings them to rest
WRONG = 0.5
# what the loop keeps about that: error so far, that of the latest judged step and its count, the
# speeds then; and the worst error, followed by a row of the state with it
GAUGE = ("total", "latest", "count", "speeds", "worst")



def steps_to_judge(k: int) -> int:
    """How many steps from the k-th on end with one that is judged for its count alone."""
    return min(-k % JUDGED, (1 << (k - 1).bit_length()) - k) + 1 if k else 1


# Whether a step of dt to `next` is believed; notes its error.
JUDGE = """
static {apart} int nhmech_take_again(const nhmech_setup* s, double t, const double* x,
                                     const double* next, long long k, double before,
                                     double speeds) {{
  const double half = s->dt / 2, *arg[{sz_arg}];
  double *res[{sz_res}], *g = s->gauge;
  casadi_int iw[{sz_iw} + 1];
  double w[{sz_w} + 1], middle[{nx} + 1], end[{nx} + 1], found[3], answer;
  double error = 0, e;
  int j;
  arg[0] = &t; arg[1] = x; arg[2] = s->u; arg[3] = s->theta; arg[4] = &half; arg[5] = &s->side;
  arg[6] = s->health + 2;
  res[0] = middle; res[1] = found; res[2] = &answer;
  {step}(arg, res, iw, w, 0);
  t += half;
  arg[1] = middle; arg[6] = found + 2; res[0] = end;
  {step}(arg, res, iw, w, 0);
  for (j = 0; j < {nx}; ++j) {{
    e = {SHARE} * fabs(end[j] - next[j]) / (1 + fabs(next[j]));
    if (!(e <= error)) error = e;
  }}
  if (!(error <= {WRONG} || speeds <= before)) return {COARSE};
  if (k > g[2]) g[0] += (error + g[1]) / 2 * ((double)k - g[2]);
  g[1] = error;
  g[2] = (double)k;
  g[3] = speeds;
  if (error > g[4]) {{
    g[4] = error;
    nhmech_row(s, t - half, x, g + 5);
  }}
  return {DONE};
}}

static int nhmech_judge(const nhmech_setup* s, double t, const double* x, const double* next,
                        long long k) {{
  double before = 0, speeds = 0;
  int j;
  for (j = {nq} - {na}; j < {nx}; ++j) {{
    before += fabs(x[j]);
    speeds += fabs(next[j]);
  }}
  if (k % {JUDGED} && k & (k - 1) && speeds <= 2 * s->gauge[3] + 1) return {DONE};
  return nhmech_take_again(s, t, x, next, k, before, speeds);
}}
"""

# x after each of some steps of dt, side by side behind the x that they begin with; says how many of
# them may be taken.
PATH = """
{apart} long long nhmech_path(const nhmech_setup* s, double t, double dt, long long steps,
                              double* x) {{
  const double *arg[{sz_arg}];
  double *res[{sz_res}], at, guard = s->health[2], found[3], answer;
  casadi_int iw[{sz_iw} + 1];
  double w[{sz_w} + 1];
  long long i;
  arg[0] = &at; arg[2] = s->u; arg[3] = s->theta; arg[4] = &dt; arg[5] = &s->side; arg[6] = &guard;
  res[1] = found; res[2] = &answer;
  for (i = 0; i < steps; ++i, x += {nx}) {{
    at = t + (double)i * dt;
    arg[1] = x; res[0] = x + {nx};
    {step}(arg, res, iw, w, 0);
    if (answer == {OFF}) answer = nhmech_settled(s, at + dt, x + {nx}, guard, found, {NEWTON});
    if (answer != {DONE}) break;
    guard = found[2];
  }}
  return i;
}}
"""


def judged_share(order: int) -> float:
    """The error of a step, as a multiple of its difference from two halves (Richardson)."""
    return 2.0 ** order / (2.0 ** order - 1.0)
