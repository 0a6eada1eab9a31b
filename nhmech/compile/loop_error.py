"""The estimated error of some steps of a loop: when it is estimated, and how, in C.

The step is repeated as two half steps; the difference gives the error (Richardson).
"""

# The error is estimated once in so many steps, more often at the beginning of a run, and after a
# step in which the speeds have doubled.
ESTIMATE_EVERY = 256
# A step with this error, relative to 1 + |x|, is refused if the speeds grow. If they shrink, a
# stiff damper may be bringing them to rest.
WRONG = 0.5
# Numbers that the loop keeps: the error so far; the error, the number and the speeds of the latest
# step that was estimated; and the worst error, which is followed by the row of that state.
GAUGE = ("total", "latest", "count", "speeds", "worst")


def steps_to_estimate(k: int) -> int:
    """Number of steps, from the k-th on, up to and including the next whose error is estimated
    because of its number."""
    return min(-k % ESTIMATE_EVERY, (1 << (k - 1).bit_length()) - k) + 1 if k else 1


# The status of a step of dt to `next` by its estimated error, which is stored.
ESTIMATE = """
static {apart} int nhmech_halve(const nhmech_setup* s, double t, const double* x,
                                const double* next, long long k, double before, double speeds) {{
  NHMECH_MEMORY;
  const double half = s->dt / 2;
  double middle[{nx} + 1], end[{nx} + 1], found[3], answer, error = 0, e, *g = s->gauge;
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

static int nhmech_estimate(const nhmech_setup* s, double t, const double* x, const double* next,
                           long long k) {{
  double before = 0, speeds = 0;
  int j;
  for (j = {nq} - {na}; j < {nx}; ++j) {{
    before += fabs(x[j]);
    speeds += fabs(next[j]);
  }}
  if (k % {ESTIMATE_EVERY} && k & (k - 1) && speeds <= 2 * s->gauge[3] + 1) return {DONE};
  return nhmech_halve(s, t, x, next, k, before, speeds);
}}
"""

# Takes steps of dt from the first x, and writes the x after each one behind the other; returns the
# number of steps that succeed.
PATH = """
{apart} long long nhmech_path(const nhmech_setup* s, double t, double dt, long long steps,
                              double* x) {{
  NHMECH_MEMORY;
  double at, guard = s->health[2], found[3], answer;
  long long i;
  arg[0] = &at; arg[2] = s->u; arg[3] = s->theta; arg[4] = &dt; arg[5] = &s->side; arg[6] = &guard;
  res[1] = found; res[2] = &answer;
  for (i = 0; i < steps; ++i, x += {nx}) {{
    at = t + (double)i * dt;
    arg[1] = x; res[0] = x + {nx};
    {step}(arg, res, iw, w, 0);
    if (answer == {OFF})
      answer = nhmech_project_state(s, at + dt, x + {nx}, guard, found, {NEWTON});
    if (answer != {DONE}) break;
    guard = found[2];
  }}
  return i;
}}
"""


def richardson_factor(order: int) -> float:
    """Ratio of the error of a step to its difference from two half steps (Richardson)."""
    return 2.0 ** order / (2.0 ** order - 1.0)
