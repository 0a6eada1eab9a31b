"""The C code of a step in which wheels may slide: the iterations around what a vehicle's equations
say."""

# What follows the generated functions. A row of A is written as for CasADi, by columns; a system
# of equations by rows.
TEXT = """
#include <math.h>
#include <string.h>

enum {{ X = {nx}, V = {nv}, M = {rows}, K = {heights}, C = {contacts}, B = {bilateral},
       H = {bilateral_heights}, N = {at_once}, R = B + N }};
static const int contact_size[C + 1] = {{ {size} }};
static const int contact_rows[] = {{ {along} }}, contact_height[C + 1] = {{ {height} }};
static const int bilateral_row[B + 1] = {{ {held} }};
static const int bilateral_phi[H + 1] = {{ {phi} }}, bilateral_form[H + 1] = {{ {form} }};
static const int contact_form[C + 1] = {{ {contact_form} }};

typedef struct {{
  double t, dt;
  const double *x, *w, *u, *theta, *mu, *give, *per_metre, *guess, *touch;
  double *x1, *w1, *impulses, *slid, *lost, *heights;
  const long long* closed;
  long long* phases;
  struct nhmech_room* room;
}} nhmech_step;

typedef struct {{ double A[M * V], b[M], phi[K + 1]; }} nhmech_rows;

/* contacts on the ground, their rows among the unknowns, and the conditions on these */
typedef struct {{
  int contacts, n, of[C + 1], at[C + 1], row[N + 1];
  double mu[C + 1], give[N + 1], W[N * N + 1], slope[N * N + 1], rho[N + 1], scale;
}} nhmech_problem;

/* what is too large for the stack of a thread */
typedef struct nhmech_room {{
  nhmech_rows before, rows;
  nhmech_problem p;
  double reach[(R + H) * (R + H) + 1], matrix[(V + B) * (V + B)], found[(V + B) * (1 + N) + 1];
  double Q[V * V], D[V * V], G[M * V];
}} nhmech_room;

long long nhmech_contact_room(void) {{ return sizeof(nhmech_room); }}

static void nhmech_move(const double* x, double by, const double* w, double* moved) {{
  const double *arg[{sz_arg}] = {{ x, &by, w }};
  double *res[{sz_res}] = {{ moved }}, work[{sz_w} + 1];
  casadi_int iw[{sz_iw} + 1];
  {move}(arg, res, iw, work, 0);
}}

/* all rows near velocities w, whose deflections of tyres end a half step of h later */
static void nhmech_look(const nhmech_step* s, double t, const double* x, const double* w, double h,
                        nhmech_rows* found) {{
  const double *arg[{sz_arg}] = {{ &t, x, w, s->theta, s->touch, &h }};
  double *res[{sz_res}] = {{ found->A, found->b, found->phi }}, work[{sz_w} + 1];
  casadi_int iw[{sz_iw} + 1];
  {look}(arg, res, iw, work, 0);
}}

static double nhmech_rate(const nhmech_rows* rows, int i, const double* w) {{
  double sum = 0;
  int j;
  for (j = 0; j < V; ++j) sum += rows->A[i + M * j] * w[j];
  return sum;
}}

/* a (n, n) x = b (n, k), in place, by elimination with pivots; 0 where it is singular */
static int nhmech_solve(int n, int k, double* a, double* b) {{
  int c, i, j, best;
  for (c = 0; c < n; ++c) {{
    for (best = c, i = c + 1; i < n; ++i)
      if (fabs(a[i * n + c]) > fabs(a[best * n + c])) best = i;
    if (!(fabs(a[best * n + c]) > {TINY})) return 0;
    if (best != c) {{
      for (j = c; j < n; ++j) {{
        double kept = a[c * n + j]; a[c * n + j] = a[best * n + j]; a[best * n + j] = kept;
      }}
      for (j = 0; j < k; ++j) {{
        double kept = b[c * k + j]; b[c * k + j] = b[best * k + j]; b[best * k + j] = kept;
      }}
    }}
    for (i = c + 1; i < n; ++i) {{
      double factor = a[i * n + c];
      if (factor == 0) continue;
      factor /= a[c * n + c];
      for (j = c + 1; j < n; ++j) a[i * n + j] -= factor * a[c * n + j];
      for (j = 0; j < k; ++j) b[i * k + j] -= factor * b[c * k + j];
    }}
  }}
  for (c = n - 1; c >= 0; --c)
    for (j = 0; j < k; ++j) {{
      double sum = b[c * k + j];
      for (i = c + 1; i < n; ++i) sum -= a[c * n + i] * b[i * k + j];
      b[c * k + j] = sum / a[c * n + c];
    }}
  return 1;
}}

/* the shortest step, in metres, with n rows @ step = aims, where these agree with each other */
static int nhmech_reach(const nhmech_step* s, const nhmech_rows* rows, int n, const int* which,
                        double* aims, double* step) {{
  double *G = s->room->reach, most = 0;
  int i, j, k;
  for (i = 0; i < n; ++i)
    for (j = 0; j <= i; ++j) {{
      double sum = 0;
      for (k = 0; k < V; ++k)
        sum += rows->A[which[i] + M * k] * rows->A[which[j] + M * k]
               * s->per_metre[k] * s->per_metre[k];
      G[i * n + j] = G[j * n + i] = sum;
    }}
  for (i = 0; i < n; ++i) most = fmax(most, G[i * n + i]);
  for (i = 0; i < n; ++i) G[i * n + i] += {FAINT} * most;
  if (!nhmech_solve(n, 1, G, aims)) return 0;
  for (k = 0; k < V; ++k) {{
    step[k] = 0;
    for (i = 0; i < n; ++i)
      step[k] += aims[i] * rows->A[which[i] + M * k] * s->per_metre[k] * s->per_metre[k];
  }}
  return 1;
}}

/* x with the heights of some contacts and all bilateral functions zero, and the rows there */
static int nhmech_land(const nhmech_step* s, double t, double* x, const nhmech_problem* p,
                       const int* kept, nhmech_rows* rows) {{
  double off[C + H + 1], step[V], moved[X], worst;
  int which[C + H + 1], i, n, round;
  for (round = 0; ; ++round) {{
    nhmech_look(s, t, x, s->w1, s->dt / 2, rows);
    n = 0; worst = 0;
    for (i = 0; i < p->contacts; ++i) if (kept[i]) {{
      which[n] = contact_form[p->of[i]];
      off[n++] = -rows->phi[contact_height[p->of[i]]];
    }}
    for (i = 0; i < H; ++i) {{
      which[n] = bilateral_form[i];
      off[n++] = -rows->phi[bilateral_phi[i]];
    }}
    for (i = 0; i < n; ++i) worst = fmax(worst, fabs(off[i]));
    if (!(worst > {LEVEL}) || round == {ONTO}) return worst < {HIGH};
    if (!nhmech_reach(s, rows, n, which, off, step)) return 0;
    nhmech_move(x, 1.0, step, moved);
    memcpy(x, moved, sizeof(moved));
  }}
}}

/* P - projection(P - rho u) of all contacts, as a velocity; its slope where it is wanted */
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
    for (i = 0; i < m; ++i) {{
      double u = g[a + i];
      for (j = 0; j < n; ++j) u += p->W[(a + i) * n + j] * P[j];
      y[i] = P[a + i] - p->rho[a + i] * u;
    }}
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

/* semismooth Newton with a line search, of P in place; returns the residual */
static double nhmech_newton(nhmech_problem* p, const double* g, double* P) {{
  double *slope = p->slope, value[N + 1], trial[N + 1], next[N + 1], size, new_size;
  int i, round, half;
  size = nhmech_law(p, g, P, value, slope);
  for (round = 0; round < {ROUNDS} && size > {SOLVED} * p->scale; ++round) {{
    if (!nhmech_solve(p->n, 1, slope, value)) break;
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
  return size / p->scale;
}}

/* impulses on a ground that gives way to what they have grown by since they were `from`, which
   follows if it is told to; returns the residual */
static double nhmech_push(nhmech_problem* p, const double* g, int follow, double* from,
                          double* P) {{
  double near[N + 1], error;
  int i;
  for (i = 0; i < p->n; ++i) near[i] = g[i] - p->give[i] * from[i];
  error = nhmech_newton(p, near, P);
  if (follow) memcpy(from, P, p->n * sizeof(double));
  return error;
}}

static void nhmech_judge(const nhmech_problem* p, const nhmech_rows* rows, const double* w,
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

/* 0 where more contacts are on the ground at once than there is room for */
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

/* what the impulses do: found (V, 1 + n), W and g; 0 where that is not determined */
static int nhmech_condense(const nhmech_step* s, nhmech_problem* p, const double* w1,
                           const nhmech_rows* rows, const double* P, double* found, double* g) {{
  static const double none = 0;
  const double half = s->dt / 2, t = s->t + half, *arg[{sz_arg}];
  double *Q = s->room->Q, *D = s->room->D, *G = s->room->G, *matrix = s->room->matrix;
  double F[V], lam[M], mean[V], middle[X], most = 0, *right = found;
  double *res[{sz_res}], work[{sz_w} + 1];
  casadi_int iw[{sz_iw} + 1];
  int i, j, k, n = p->n, wide = 1 + n, side = V + B;
  for (i = 0; i < V; ++i) mean[i] = (s->w[i] + w1[i]) / 2;
  nhmech_move(s->x, s->dt / 2, mean, middle);
  memset(lam, 0, sizeof(lam));
  for (i = 0; i < n; ++i) lam[p->row[i]] = P[i] / s->dt;
  arg[0] = &t; arg[1] = middle; arg[2] = mean; arg[3] = s->u ? s->u : &none; arg[4] = s->theta;
  arg[5] = lam; arg[6] = s->touch; arg[7] = &half;
  res[0] = Q; res[1] = F; res[2] = D; res[3] = G;
  {momentum}(arg, res, iw, work, 0);
  memset(matrix, 0, sizeof(s->room->matrix));
  memset(right, 0, side * wide * sizeof(double));
  for (i = 0; i < V; ++i) {{
    right[i * wide] = s->dt * F[i];
    for (j = 0; j < V; ++j) {{
      matrix[i * side + j] = Q[i + V * j] - s->dt / 2 * D[i + V * j];
      right[i * wide] += Q[i + V * j] * s->w[j] - s->dt / 2 * D[i + V * j] * w1[j];
    }}
    for (k = 0; k < B; ++k) {{
      matrix[i * side + V + k] = -G[bilateral_row[k] + M * i];
      matrix[(V + k) * side + i] = rows->A[bilateral_row[k] + M * i];
    }}
    for (k = 0; k < n; ++k) right[i * wide + 1 + k] = G[p->row[k] + M * i];
  }}
  for (k = 0; k < B; ++k) right[(V + k) * wide] = -rows->b[bilateral_row[k]];
  if (!nhmech_solve(side, wide, matrix, right)) return 0;
  for (i = 0; i < n; ++i) {{
    const int row = p->row[i];
    g[i] = rows->b[row];
    for (k = 0; k < n; ++k) p->W[i * n + k] = 0;
    for (j = 0; j < V; ++j) {{
      const double a = rows->A[row + M * j];
      if (a == 0) continue;
      g[i] += a * found[j * wide];
      for (k = 0; k < n; ++k) p->W[i * n + k] += a * found[j * wide + 1 + k];
    }}
    most = fmax(most, p->W[i * n + i]);
  }}
  p->scale = {FLOOR};
  for (i = 0; i < p->contacts; ++i)
    for (j = p->at[i]; j < p->at[i] + contact_size[p->of[i]]; ++j) {{
      p->give[j] = {COMPLIANCE} * most * s->give[p->of[i]];
      p->W[j * n + j] += p->give[j];
      p->scale = fmax(p->scale, fabs(g[j]));
    }}
  for (i = 0; i < p->contacts; ++i) {{
    const int a = p->at[i], m = contact_size[p->of[i]];
    for (j = 0; j < m; ++j) p->rho[a + j] = 1 / p->W[(a + j) * n + a + j];
    if (m == 3) p->rho[a + 1] = p->rho[a + 2] = fmin(p->rho[a + 1], p->rho[a + 2]);
  }}
  return 1;
}}

/* friction of contacts that go on sliding is against their mean slip: of the others lag is zero */
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

static void nhmech_speed(const double* found, int n, const double* P, double* w) {{
  int i, k;
  for (i = 0; i < V; ++i) {{
    w[i] = found[i * (1 + n)];
    for (k = 0; k < n; ++k) w[i] += found[i * (1 + n) + 1 + k] * P[k];
  }}
}}

/* w without what the ground's compliance let the held rows move */
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
    s->phases[of] = phases[c];
    for (i = 0; i < contact_size[of]; ++i) {{
      const int row = p->row[p->at[c] + i];
      const double u = (nhmech_rate(before, row, s->w) + before->b[row]
                        + nhmech_rate(after, row, s->w1) + after->b[row]) / 2;
      s->impulses[row] = P[p->at[c] + i];
      s->lost[of] -= P[p->at[c] + i] * u;
      if (i) way += u * u;
    }}
    if (phases[c] == {SLIDING}) s->slid[of] = s->dt * sqrt(way);
  }}
}}

int nhmech_contact_step(nhmech_step* s) {{
  nhmech_problem* p = &s->room->p;
  nhmech_rows *before = &s->room->before, *rows = &s->room->rows;
  double *found = s->room->found, g[N + 1], P[N + 1], near[N + 1], lag[N + 1], was[V], mean[V];
  double change = 1, size = 0;
  int i, round, kept[C + 1], phases[C + 1];
  if (!nhmech_place(s, p)) return {REFUSED};
  nhmech_look(s, s->t, s->x, s->w, 0, before);
  for (i = 0; i < p->contacts; ++i) kept[i] = 1;
  for (i = 0; i < p->n; ++i) {{ P[i] = s->guess[p->row[i]]; near[i] = lag[i] = 0; }}
  memcpy(s->w1, s->w, sizeof(was));
  for (round = 0; round < {OUTER}; ++round) {{
    for (i = 0; i < V; ++i) mean[i] = (s->w[i] + s->w1[i]) / 2;
    nhmech_move(s->x, s->dt, mean, s->x1);
    if (!nhmech_land(s, s->t + s->dt, s->x1, p, kept, rows)) return {REFUSED};
    if (!nhmech_condense(s, p, s->w1, rows, P, found, g)) return {REFUSED};
    for (i = 0; i < p->n; ++i) g[i] += lag[i];
    if (!(nhmech_push(p, g, round < {NEARER}, near, P) <= {GOOD})) return {REFUSED};
    memcpy(was, s->w1, sizeof(was));
    nhmech_speed(found, p->n, P, s->w1);
    nhmech_judge(p, rows, s->w1, P, kept, phases);
    if (!round) nhmech_follow(s, p, before, rows, lag);
    change = size = 0;
    for (i = 0; i < V; ++i) {{
      change = fmax(change, fabs(s->w1[i] - was[i]));
      size = fmax(size, fabs(s->w1[i]));
    }}
    if (round >= {NEARER} && change <= {CLOSE} * fmax(1, size)) break;
  }}
  if (!(change <= {NEAR} * fmax(1, size))) return {OPEN};
  if (!nhmech_hold(s, p, rows, phases, s->w1)) return {REFUSED};
  nhmech_record(s, p, before, rows, P, phases);
  return {DONE};
}}
"""
