"""C text of a step with sliding wheels, part 3 of 3: the iterations of the implicit step."""

# This text follows that of `contact_problem_code`; `ImplicitStep.take_in_python` takes the same
# step.
TEXT = """
/* after the step: which contacts end on the ground, and whether they roll or slide */
static void nhmech_classify(const nhmech_problem* p, const nhmech_rows* rows, const double* w,
                            const double* P, int* presses, int* phases) {{
  int c, i;
  for (c = 0; c < p->contacts; ++c) {{
    double slip = 0, u;
    for (i = 1; i < contact_size[p->of[c]]; ++i) {{
      u = nhmech_rate(rows, p->row[p->at[c] + i], w) + rows->b[p->row[p->at[c] + i]];
      slip += u * u;
    }}
    u = nhmech_rate(rows, p->row[p->at[c]], w) + rows->b[p->row[p->at[c]]];
    presses[c] = P[p->at[c]] > p->rho[p->at[c]] * u || u <= {STILL} * p->scale;
    phases[c] = !presses[c] ? {AIRBORNE} : sqrt(slip) > {STILL} * p->scale ? {SLIDING} : {ROLLING};
  }}
}}

/* lists the contacts on the ground and their rows; returns 0 if there is not enough memory */
static int nhmech_place(const nhmech_step* s, nhmech_problem* p) {{
  int c, i, first = 0;
  p->contacts = p->n = 0;
  for (c = 0; c < C; first += contact_size[c++]) if (s->closed[c]) {{
    if (p->n + contact_size[c] > N) return 0;
    p->of[p->contacts] = c; p->at[p->contacts] = p->n; p->mu[p->contacts++] = s->mu[c];
    for (i = 0; i < contact_size[c]; ++i) p->row[p->n++] = contact_rows[first + i];
  }}
  return 1;
}}

/* The contact point may jump within a step, as the lowest point of a rim that rocks over its flat
   side. The impulse then acts where the conditions at the end are imposed: elsewhere it would do
   work. */
static void nhmech_leap(const nhmech_step* s, const nhmech_problem* p, const nhmech_rows* rows,
                        double* G) {{
  int c, i, k, *leaps = s->room->leaps;
  for (c = 0; c < p->contacts; ++c) {{
    const int *row = p->row + p->at[c], m = contact_size[p->of[c]];
    double apart = 0, size = 0;
    for (k = 0; k < V; ++k) {{
      const double end = rows->A[row[0] * V + k] * s->per_metre[k];
      const double off = end - G[row[0] * V + k] * s->per_metre[k];
      apart += off * off; size += end * end;
    }}
    /* not for tyres: their loads also have components along the ground */
    leaps[c] = m > 1 && (s->stays || apart > {LEAP} * {LEAP} * size);
    if (leaps[c])
      for (i = 0; i < m; ++i)
        memcpy(G + row[i] * V, rows->A + row[i] * V, V * sizeof(double));
  }}
}}

/* uses the contact rows of the beginning at the end too */
static void nhmech_stay(const nhmech_problem* p, const nhmech_rows* before, nhmech_rows* rows) {{
  int i;
  for (i = 0; i < p->n; ++i) {{
    memcpy(rows->A + p->row[i] * V, before->A + p->row[i] * V, V * sizeof(double));
    rows->b[p->row[i]] = before->b[p->row[i]];
  }}
}}

/* the work of the impulses on contact c, with the mean of its speeds at both ends of the step; it
   is not positive, except at a point that jumps, as in an impact */
static double nhmech_work(const nhmech_step* s, const nhmech_problem* p, const nhmech_rows* before,
                          const nhmech_rows* after, const double* P, int c) {{
  double work = 0;
  int i;
  if (s->room->leaps[c]) before = after;
  for (i = p->at[c]; i < p->at[c] + contact_size[p->of[c]]; ++i) {{
    const int row = p->row[i];
    work += P[i] * (nhmech_rate(before, row, s->w) + before->b[row]
                    + nhmech_rate(after, row, s->w1) + after->b[row]);
  }}
  return s->room->leaps[c] ? work / 2 : nhmech_smaller(0, work / 2);
}}

static double nhmech_energy(const nhmech_step* s, double t, const double* x, const double* w) {{
  const double *arg[{sz_arg}] = {{ &t, x, w, s->theta }};
  double found, *res[{sz_res}] = {{ &found }}, work[{sz_w} + 1];
  casadi_int iw[{sz_iw} + 1];
  s->energy(arg, res, iw, work, 0);
  return found;
}}

/* the part of the mean momentum that must be added in the step so that the energy changes by the
   work of forces, friction and moving ground; M is the mass matrix, stored by columns */
static double nhmech_nudge(const nhmech_step* s, const nhmech_problem* p, const nhmech_rows* before,
                           const nhmech_rows* rows, const double* P, const double* held,
                           const double* mean, double power) {{
  const double *M = s->room->Q, *G = s->room->middle.A;
  double after, gap, inertia = 0, least;
  int c, i, j;
  /* both energies at the same time, because positions may be relative to moving ground */
  after = nhmech_energy(s, s->t, s->x1, s->w1);
  gap = s->room->energy - after - s->dt * power;
  for (j = 0; j < V; ++j) {{
    double momentum = 0;
    for (i = 0; i < V; ++i) momentum += M[i + V * j] * mean[i];
    inertia += momentum * mean[j];
    gap += momentum * (s->w1[j] - s->w[j]);
  }}
  for (c = 0; c < p->contacts; ++c) if (!contact_pulls[p->of[c]] && !s->room->leaps[c]) {{
    gap += nhmech_work(s, p, before, rows, P, c);
    for (i = p->at[c]; i < p->at[c] + contact_size[p->of[c]]; ++i) {{
      gap -= P[i] * (before->b[p->row[i]] + rows->b[p->row[i]]) / 2;
      for (j = 0; j < V; ++j) gap -= P[i] * G[p->row[i] * V + j] * mean[j];
    }}
  }}
  for (i = 0; i < B; ++i) {{
    const int row = bilateral_row[i];
    gap += held[i] * (nhmech_rate(before, row, s->w) + nhmech_rate(rows, row, s->w1)) / 2;
    for (j = 0; j < V; ++j) gap -= held[i] * G[row * V + j] * mean[j];
  }}
  least = {UNSEEN} * (fabs(s->room->energy) + fabs(after) + inertia);
  if (!(fabs(gap) > least)) return 0;
  gap = (gap - copysign(least, gap)) / inertia;
  return nhmech_larger(-{NUDGE}, nhmech_smaller({NUDGE}, gap));
}}

/* the residual (V + B) of the momentum balance over the step and of the bilateral rows at its end,
   for velocities w1, contact impulses P and bilateral impulses `held`; leaves mass and force
   directions in the room */
static void nhmech_residual(const nhmech_step* s, const nhmech_problem* p,
                            const nhmech_rows* before, const nhmech_rows* rows, int round,
                            const double* P, const double* held, double* lack) {{
  static const double none = 0;
  const double half = s->dt / 2, t = s->t + half, *arg[{sz_arg}], *w1 = s->w1;
  const double *Q = s->room->Q, *G = s->room->middle.A;
  double F[V], lam[OWN + 1], mean[V], middle[X], *res[{sz_res}], work[{sz_w} + 1], power, nudge;
  casadi_int iw[{sz_iw} + 1];
  int i, j, k;
  for (i = 0; i < V; ++i) mean[i] = (s->w[i] + w1[i]) / 2;
  nhmech_move(s->x, half, mean, middle);
  memset(lam, 0, sizeof(lam));
  for (i = 0; i < p->n; ++i) if (p->row[i] < OWN) lam[p->row[i]] = P[i] / s->dt;
  arg[0] = &t; arg[1] = middle; arg[2] = mean; arg[3] = s->u ? s->u : &none; arg[4] = s->theta;
  arg[5] = lam; arg[6] = s->touch; arg[7] = &half;
  res[0] = s->room->Q; res[1] = F; res[2] = s->room->D; res[3] = s->room->middle.A;
  res[4] = &power;
  s->momentum(arg, res, iw, work, 0);
  nhmech_touch(s, t, middle, &s->room->middle);
  nhmech_leap(s, p, rows, s->room->middle.A);
  nudge = round ? nhmech_nudge(s, p, before, rows, P, held, mean, power) : 0;
  for (i = 0; i < V; ++i) lack[i] = s->dt * F[i];
  for (j = 0; j < V; ++j) {{
    const double change = w1[j] - s->w[j] - nudge * mean[j];
    for (i = 0; i < V; ++i) lack[i] -= Q[i + V * j] * change;
  }}
  for (k = 0; k < p->n; ++k)
    for (i = 0; i < V; ++i) lack[i] += G[p->row[k] * V + i] * P[k];
  for (k = 0; k < B; ++k) {{
    const int row = bilateral_row[k];
    for (i = 0; i < V; ++i) lack[i] += G[row * V + i] * held[k];
    lack[V + k] = -rows->b[row] - nhmech_rate(rows, row, w1);
  }}
}}

/* the effect of unit impulses, for the present mass, force directions and rows: on the velocities,
   `moved`, and on those of the contacts, W; returns 0 if it is not determined */
static int nhmech_condense(const nhmech_step* s, nhmech_problem* p, const nhmech_rows* rows) {{
  const double *Q = s->room->Q, *D = s->room->D, *G = s->room->middle.A;
  double *matrix = s->room->matrix, *moved = s->room->moved, most = 0;
  const int n = p->n, side = V + B;
  int i, j, k;
  memset(matrix, 0, sizeof(s->room->matrix));
  memset(moved, 0, side * n * sizeof(double));
  for (i = 0; i < V; ++i) {{
    for (j = 0; j < V; ++j)
      matrix[i * side + j] = Q[i + V * j] - s->dt / 2 * D[i + V * j];
    for (k = 0; k < B; ++k) {{
      matrix[i * side + V + k] = -G[bilateral_row[k] * V + i];
      matrix[(V + k) * side + i] = rows->A[bilateral_row[k] * V + i];
    }}
    for (k = 0; k < n; ++k) moved[i * n + k] = G[p->row[k] * V + i];
  }}
  if (!nhmech_factor(side, matrix, s->room->pivot)) return 0;
  nhmech_substitute(side, n, matrix, s->room->pivot, moved);
  memset(p->W, 0, n * n * sizeof(double));
  for (i = 0; i < n; ++i) {{
    for (j = 0; j < V; ++j) {{
      const double a = rows->A[p->row[i] * V + j];
      if (a != 0) for (k = 0; k < n; ++k) p->W[i * n + k] += a * moved[j * n + k];
    }}
    most = nhmech_larger(most, p->W[i * n + i]);
  }}
  for (i = 0; i < p->contacts; ++i) {{
    const int a = p->at[i], m = contact_size[p->of[i]];
    for (j = a; j < a + m; ++j) {{
      p->give[j] = {COMPLIANCE} * most * s->give[p->of[i]];
      p->W[j * n + j] += p->give[j];
    }}
  }}
  nhmech_soften(p, 0);
  return 1;
}}

/* the slip at the beginning, `lag`, of contacts that go on sliding, whose friction opposes the mean
   slip of the step; zero for the others */
static void nhmech_follow(const nhmech_step* s, const nhmech_problem* p, const nhmech_rows* before,
                          const nhmech_rows* rows, double* lag) {{
  int c, i;
  for (c = 0; c < p->contacts; ++c) {{
    const int a = p->at[c], m = contact_size[p->of[c]];
    double way = 0, old = 0;
    for (i = a + 1; i < a + m; ++i) {{
      const int row = p->row[i];
      lag[i] = nhmech_rate(before, row, s->w) + before->b[row];
      way += lag[i] * (nhmech_rate(rows, row, s->w1) + rows->b[row]);
      old += lag[i] * lag[i];
    }}
    if (!(way > {ONWARD} * old)) for (i = a + 1; i < a + m; ++i) lag[i] = 0;
  }}
}}

/* the velocities g of the contacts without impulses, from w with the impulses P */
static void nhmech_free(nhmech_problem* p, const nhmech_rows* rows, const double* w,
                        const double* P, double* g) {{
  int i, k;
  p->scale = {FLOOR};
  for (i = 0; i < p->n; ++i) {{
    g[i] = rows->b[p->row[i]] + nhmech_rate(rows, p->row[i], w) + p->give[i] * P[i];
    for (k = 0; k < p->n; ++k) g[i] -= p->W[i * p->n + k] * P[k];
    p->scale = nhmech_larger(p->scale, fabs(g[i]));
  }}
}}

/* removes from w the motion that the compliance of the ground allowed along the held rows */
static int nhmech_hold(const nhmech_step* s, const nhmech_problem* p, const nhmech_rows* rows,
                       const int* phases, double* w) {{
  int which[R + 1], n = 0, c, i, round;
  double aims[R + 1], step[V];
  for (i = 0; i < B; ++i) which[n++] = bilateral_row[i];
  for (c = 0; c < p->contacts; ++c) if (phases[c] != {AIRBORNE})
    for (i = 0; i < (phases[c] == {ROLLING} ? contact_size[p->of[c]] : 1); ++i)
      which[n++] = p->row[p->at[c] + i];
  for (round = 0; round < 2 && n; ++round) {{
    for (i = 0; i < n; ++i) aims[i] = -rows->b[which[i]] - nhmech_rate(rows, which[i], w);
    if (!nhmech_reach(s, rows, n, which, aims, step)) return 0;
    for (i = 0; i < V; ++i) w[i] += step[i];
  }}
  return 1;
}}

static void nhmech_record(const nhmech_step* s, const nhmech_problem* p, const nhmech_rows* before,
                          const nhmech_rows* after, const double* P, const int* phases) {{
  int c, i;
  memset(s->impulses, 0, M * sizeof(double));
  for (c = 0; c < C; ++c) {{
    s->slid[c] = s->lost[c] = 0;
    s->phases[c] = {AIRBORNE};
    s->heights[c] = after->phi[contact_height[c]];
  }}
  for (c = 0; c < p->contacts; ++c) {{
    double way = 0;
    const int of = p->of[c];
    s->phases[of] = s->heights[of] < HUGE_VAL ? phases[c] : {AIRBORNE};
    s->lost[of] = -nhmech_work(s, p, before, after, P, c);
    for (i = 0; i < contact_size[of]; ++i) {{
      const int row = p->row[p->at[c] + i];
      const double u = (nhmech_rate(before, row, s->w) + before->b[row]
                        + nhmech_rate(after, row, s->w1) + after->b[row]) / 2;
      s->impulses[row] = P[p->at[c] + i];
      if (i) way += u * u;
    }}
    if (phases[c] == {SLIDING}) s->slid[of] = s->dt * sqrt(way);
  }}
}}

/* the contact problem alone: impulses P of the closed contacts for given W and g, from a first
   guess; returns the residual */
double nhmech_contact_problem(nhmech_step* s, const double* W, const double* g, double least,
                              double* P) {{
  nhmech_problem* p = &s->room->p;
  int i;
  if (!nhmech_place(s, p)) return HUGE_VAL;
  memcpy(p->W, W, p->n * p->n * sizeof(double));
  nhmech_soften(p, 0);
  for (p->scale = least, i = 0; i < p->n; ++i) p->scale = nhmech_larger(p->scale, fabs(g[i]));
  return nhmech_solve_contacts(p, g, P);
}}

int nhmech_contact_step(nhmech_step* s) {{
  nhmech_problem* p = &s->room->p;
  nhmech_rows *before = &s->room->before, *rows = &s->room->rows;
  double g[N + 1], P[N + 1], near[N + 1], lag[N + 1], more[N + 1], held[B + 1], lack[V + B];
  double was[V], mean[V], change = INFINITY, last, size = 0;
  int i, k, round, kept[C + 1], phases[C + 1];
  if (!nhmech_place(s, p)) return {REFUSED};
  nhmech_look(s, s->t, s->x, s->w, 0, before);
  s->room->energy = nhmech_energy(s, s->t, s->x, s->w);
  for (i = 0; i < p->contacts; ++i) kept[i] = 1;
  for (i = 0; i < p->n; ++i) {{ P[i] = s->guess[p->row[i]]; near[i] = lag[i] = 0; }}
  memset(held, 0, sizeof(held));
  memcpy(s->w1, s->w, sizeof(was));
  for (round = 0; round < {OUTER}; ++round) {{
    for (i = 0; i < V; ++i) mean[i] = (s->w[i] + s->w1[i]) / 2;
    nhmech_move(s->x, s->dt, mean, s->x1);
    if (!nhmech_land(s, s->t + s->dt, s->x1, p, kept, rows)) return {REFUSED};
    if (s->stays) nhmech_stay(p, before, rows);
    nhmech_residual(s, p, before, rows, round, P, held, lack);
    /* the effect of impulses is computed again only if the iterations converge slowly */
    if ((!round || change > {SLOWER} * last) && !nhmech_condense(s, p, rows)) return {REFUSED};
    nhmech_substitute(V + B, 1, s->room->matrix, s->room->pivot, lack);
    memcpy(was, s->w1, sizeof(was));
    for (i = 0; i < V; ++i) s->w1[i] += lack[i];
    nhmech_free(p, rows, s->w1, P, g);
    for (i = 0; i < p->n; ++i) g[i] += lag[i];
    memcpy(more, P, sizeof(more));
    if (!(nhmech_push(p, g, round < {NEARER}, near, P) <= {UNSOLVED})) return {FAILED};
    for (k = 0; k < p->n; ++k) more[k] = P[k] - more[k];
    for (i = 0; i < V + B; ++i) {{
      double sum = 0;
      for (k = 0; k < p->n; ++k) sum += s->room->moved[i * p->n + k] * more[k];
      if (i < V) s->w1[i] += sum;
      else held[i - V] += lack[i] + sum;
    }}
    nhmech_classify(p, rows, s->w1, P, kept, phases);
    if (!round) nhmech_follow(s, p, before, rows, lag);
    last = change; change = 0; size = {SPEED};
    for (i = 0; i < V; ++i) {{
      change = nhmech_larger(change, fabs(s->w1[i] - was[i]) / s->per_metre[i]);
      size = nhmech_larger(size, fabs(s->w1[i]) / s->per_metre[i]);
    }}
    if (round >= {NEARER} && change <= {CLOSE} * size) break;
  }}
  if (!(change <= {NEAR} * size)) return {OPEN};
  if (!nhmech_hold(s, p, rows, phases, s->w1)) return {REFUSED};
  nhmech_rise(s, s->t + s->dt, rows);
  nhmech_record(s, p, before, rows, P, phases);
  return {DONE};
}}
"""
