"""C text of a step with sliding wheels, part 2 of 3: the contact solver (Signorini's condition and
Coulomb friction at several contacts)."""

# This text follows that of `contact_rows_code`. The method is that of
# `simulation.contact.contact_problem`, which has its equations.
PROBLEM = """
/* entry i of P - rho u */
static double nhmech_pull(const nhmech_problem* p, const double* g, const double* P, int i) {{
  double u = g[i];
  int j;
  for (j = 0; j < p->n; ++j) u += p->W[i * p->n + j] * P[j];
  return P[i] - p->rho[i] * u;
}}

/* the residual P - projection(P - rho u) of all contacts, and its derivative if `slope` is given;
   returns its norm as a velocity */
static double nhmech_law(const nhmech_problem* p, const double* g, const double* P, double* value,
                         double* slope) {{
  const int n = p->n;
  double y[3], found[3], D[9], work[{sz_w} + 1], size = 0;
  const double* arg[{sz_arg}];
  double* res[{sz_res}];
  casadi_int iw[{sz_iw} + 1];
  int c, i, j, k, a, m;
  for (c = 0; c < p->contacts; ++c) {{
    a = p->at[c]; m = contact_size[p->of[c]];
    y[0] = y[1] = y[2] = 0;
    for (i = 0; i < m; ++i) y[i] = nhmech_pull(p, g, P, a + i);
    arg[0] = y; arg[1] = &p->mu[c]; res[0] = found; res[1] = D;
    {project}(arg, res, iw, work, 0);
    for (i = 0; i < m; ++i) {{
      value[a + i] = P[a + i] - found[i];
      size += value[a + i] * value[a + i] / (p->rho[a + i] * p->rho[a + i]);
      if (slope) for (j = 0; j < n; ++j) {{
        double sum = j == a + i;
        for (k = 0; k < m; ++k)
          sum -= D[i + 3 * k] * ((j == a + k) - p->rho[a + k] * p->W[(a + k) * n + j]);
        slope[(a + i) * n + j] = sum;
      }}
    }}
  }}
  return sqrt(size);
}}

/* semismooth Newton's method with a line search, for P in place. Its first step uses the factorised
   slope of the previous problem, if there is one. Returns the relative residual. */
static double nhmech_newton(nhmech_problem* p, const double* g, double* P) {{
  double *slope = p->slope, value[N + 1], trial[N + 1], next[N + 1], size, new_size;
  int i, round, half;
  size = nhmech_law(p, g, P, value, p->is_factored ? 0 : slope);
  if (p->is_factored && size > {SOLVED} * p->scale) {{
    nhmech_substitute(p->n, 1, slope, p->pivot, value);
    for (i = 0; i < p->n; ++i) trial[i] = P[i] - value[i];
    new_size = nhmech_law(p, g, trial, next, 0);
    if (new_size < size) {{ memcpy(P, trial, p->n * sizeof(double)); size = new_size; }}
    if (size > {SOLVED} * p->scale) nhmech_law(p, g, P, value, slope);
  }}
  for (round = 0; round < {ROUNDS} && size > {SOLVED} * p->scale; ++round) {{
    if (!(p->is_factored = nhmech_factor(p->n, slope, p->pivot))) break;
    nhmech_substitute(p->n, 1, slope, p->pivot, value);
    for (half = 0; half < {HALVES}; ++half) {{
      for (i = 0; i < p->n; ++i) trial[i] = P[i] - value[i];
      new_size = nhmech_law(p, g, trial, next, 0);
      if (new_size < size || size <= {GOOD} * p->scale) break;
      for (i = 0; i < p->n; ++i) value[i] /= 2;
    }}
    if (!(new_size < size)) break;
    memcpy(P, trial, p->n * sizeof(double));
    size = new_size;
    if (size > {SOLVED} * p->scale) nhmech_law(p, g, P, value, slope);
  }}
  return size > 0 ? size / p->scale : 0;
}}

/* projected Gauss-Seidel, contact by contact, for P in place */
static void nhmech_sweep(const nhmech_problem* p, const double* g, double* P) {{
  int round, c, i;
  for (round = 0; round < {SWEEPS}; ++round) {{
    double change = 0, most = 0;
    for (c = 0; c < p->contacts; ++c) {{
      const int a = p->at[c], m = contact_size[p->of[c]];
      double next[3] = {{ nhmech_larger(0, nhmech_pull(p, g, P, a)) }}, length = 0, reach;
      const double first = P[a];
      P[a] = next[0];
      for (i = 1; i < m; ++i) {{
        next[i] = nhmech_pull(p, g, P, a + i);
        length += next[i] * next[i];
      }}
      length = sqrt(length); reach = P[a] > 0 ? p->mu[c] * P[a] : 0;
      P[a] = first;
      for (i = 0; i < m; ++i) {{
        if (i && length > reach) next[i] *= reach / length;
        change = nhmech_larger(change, fabs(next[i] - P[a + i]));
        P[a + i] = next[i];
        most = nhmech_larger(most, fabs(next[i]));
      }}
    }}
    if (change <= 1e-15 * most) break;
  }}
}}

/* adds a compliance to the ground */
static void nhmech_soften(nhmech_problem* p, double by) {{
  int c, i;
  for (i = 0; i < p->n; ++i) p->W[i * p->n + i] += by;
  for (c = 0; c < p->contacts; ++c) {{
    const int a = p->at[c], m = contact_size[p->of[c]];
    for (i = a; i < a + m; ++i) p->rho[i] = 1 / p->W[i * p->n + i];
    if (m == 3) p->rho[a + 1] = p->rho[a + 2] = nhmech_smaller(p->rho[a + 1], p->rho[a + 2]);
  }}
  p->is_factored = 0;
}}

/* Newton's method; where that fails, continuation from compliant ground to rigid ground */
static double nhmech_solve_contacts(nhmech_problem* p, const double* g, double* P) {{
  static const double stiffen[] = {{ {STIFFEN} }};
  double error = nhmech_newton(p, g, P), found[N + 1], diagonal[N + 1], most = 0, softness, other;
  int k, i;
  for (i = 0; i < p->n; ++i) {{
    diagonal[i] = p->W[i * p->n + i];
    most = nhmech_larger(most, diagonal[i]);
  }}
  for (k = 0; k < (int)(sizeof(stiffen) / sizeof(*stiffen)) && !(error <= {GOOD}); ++k) {{
    memset(found, 0, sizeof(found));
    for (softness = 1; softness > {SOFTEST}; softness /= stiffen[k]) {{
      nhmech_soften(p, softness * most);
      if (!(nhmech_newton(p, g, found) <= {GOOD})) {{
        nhmech_sweep(p, g, found);
        p->is_factored = 0;
        nhmech_newton(p, g, found);
      }}
      for (i = 0; i < p->n; ++i) p->W[i * p->n + i] = diagonal[i];
    }}
    nhmech_soften(p, 0);
    other = nhmech_newton(p, g, found);
    if (other < error || !(error < HUGE_VAL)) {{
      error = other;
      memcpy(P, found, p->n * sizeof(double));
    }}
  }}
  return error;
}}

/* a round of the proximal point method: the ground gives way under the change of the impulses since
   `from`, which becomes P if `follow` is set; returns the residual */
static double nhmech_push(nhmech_problem* p, const double* g, int follow, double* from,
                          double* P) {{
  double near[N + 1], error;
  int i;
  for (i = 0; i < p->n; ++i) near[i] = g[i] - p->give[i] * from[i];
  error = nhmech_solve_contacts(p, near, P);
  if (follow) memcpy(from, P, p->n * sizeof(double));
  return error;
}}
"""
