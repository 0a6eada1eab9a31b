"""C text of a step with sliding wheels, part 1 of 3: its data, contact rows and heights, linear
algebra, and the correction of heights."""

# The inputs and results of a step.
STEP = """
typedef int nhmech_function(const double** arg, double** res, casadi_int* iw, double* w, int mem);

typedef struct {{
  double t, dt;
  /* whether the contact rows of the beginning are used throughout */
  long long stays;
  const double *theta, *mu, *give, *per_metre, *points;
  double *x, *w, *u, *guess, *touch, *x1, *w1, *impulses, *slid, *lost, *heights;
  long long *closed, *phases;
  struct nhmech_room* room;
  /* functions of the equations of motion, compiled once, and used by Python too */
  nhmech_function *look, *momentum, *energy, *move_bodies;
}} nhmech_step;
"""

# This text follows the generated functions and `STEP`. Matrices are stored by rows; CasADi stores
# them by columns, so its functions return the transpose.
ROWS = """
/* lets the compiler vectorise the loops over small matrices, where all the work is */
#pragma GCC optimize ("O3")
#include <math.h>
#include <string.h>

enum {{ X = {nx}, V = {nv}, OWN = {own}, K = {heights}, C = {contacts}, B = {bilateral},
       H = {bilateral_heights}, N = {at_once}, R = B + N, E = {bodies}, POINTS = {points},
       M = OWN + 3 * POINTS }};
static const int contact_size[C + 1] = {{ {size} }};
static const int contact_rows[] = {{ {along} }}, contact_height[C + 1] = {{ {height} }};
static const int bilateral_row[B + 1] = {{ {held} }};
static const int bilateral_phi[H + 1] = {{ {phi} }}, bilateral_form[H + 1] = {{ {form} }};
static const int contact_form[C + 1] = {{ {contact_form} }};
/* whether a contact has a tyre, whose force is along the direction of its load, not its row */
static const int contact_pulls[C + 1] = {{ {pulls} }};
static const int point_body[POINTS + 1] = {{ {owners} }};

/* A w + b and heights; rows of points of bodies only for those on the ground */
typedef struct {{ double A[M * V], b[M], phi[K + 1], pose[12 * E + 1]; }} nhmech_rows;

/* the contact problem: contacts on the ground, their rows among the unknowns, W, and the slope that
   Newton's method has factorised */
typedef struct {{
  int contacts, n, of[C + 1], at[C + 1], row[N + 1], pivot[N + 1], is_factored;
  double mu[C + 1], give[N + 1], W[N * N + 1], slope[N * N + 1], rho[N + 1], scale;
}} nhmech_problem;

/* working memory that is too large for the stack of a thread */
typedef struct nhmech_room {{
  nhmech_rows before, rows, middle;
  nhmech_problem p;
  double reach[(R + H) * (R + H) + 1], matrix[(V + B) * (V + B)], moved[(V + B) * N + 1];
  double energy, Q[V * V], D[V * V], twist[6 * V * E + 1];
  /* leaps: whether the point of each contact on the ground jumps within the step */
  int pivot[V + B], leaps[C + 1];
}} nhmech_room;

long long nhmech_contact_room(void) {{ return sizeof(nhmech_room) / sizeof(double); }}

/* returns a if b is NaN; inline, unlike fmax */
static double nhmech_larger(double a, double b) {{ return b > a ? b : a; }}
static double nhmech_smaller(double a, double b) {{ return b < a ? b : a; }}

static void nhmech_move(const double* x, double by, const double* w, double* moved) {{
  const double *arg[{sz_arg}] = {{ x, &by, w }};
  double *res[{sz_res}] = {{ moved }}, work[{sz_w} + 1];
  casadi_int iw[{sz_iw} + 1];
  {move}(arg, res, iw, work, 0);
}}

{points_code}
/* all rows, linearised near the velocities w; deflections of tyres grow for a time h */
static void nhmech_look(const nhmech_step* s, double t, const double* x, const double* w, double h,
                        nhmech_rows* found) {{
  const double *arg[{sz_arg}] = {{ &t, x, w, s->theta, s->touch, &h }};
  double *res[{sz_res}] = {{ found->A, found->b, found->phi }}, work[{sz_w} + 1];
  casadi_int iw[{sz_iw} + 1];
  s->look(arg, res, iw, work, 0);
  nhmech_touch(s, t, x, found);
}}

static double nhmech_rate(const nhmech_rows* rows, int i, const double* w) {{
  double sum = 0;
  int j;
  for (j = 0; j < V; ++j) sum += rows->A[i * V + j] * w[j];
  return sum;
}}

/* LU factorisation of a (n, n) in place, with row pivots; returns 0 if a is singular */
static int nhmech_factor(int n, double* a, int* pivot) {{
  double most[R + V + H + 1];
  int c, i, j, best;
  for (i = 0; i < n; ++i)
    for (most[i] = 0, j = 0; j < n; ++j) most[i] = nhmech_larger(most[i], fabs(a[i * n + j]));
  for (c = 0; c < n; ++c) {{
    for (best = c, i = c + 1; i < n; ++i)
      if (fabs(a[i * n + c]) > fabs(a[best * n + c])) best = i;
    if (!(fabs(a[best * n + c]) > {TINY} * most[best])) return 0;
    pivot[c] = best;
    if (best != c) {{
      most[best] = most[c];
      for (j = 0; j < n; ++j) {{
        double kept = a[c * n + j]; a[c * n + j] = a[best * n + j]; a[best * n + j] = kept;
      }}
    }}
    for (i = c + 1; i < n; ++i) if (a[i * n + c] != 0) {{
      const double factor = a[i * n + c] /= a[c * n + c];
      for (j = c + 1; j < n; ++j) a[i * n + j] -= factor * a[c * n + j];
    }}
  }}
  return 1;
}}

/* solves a x = b (n, k) in place, with the factors of a */
static void nhmech_substitute(int n, int k, const double* a, const int* pivot, double* b) {{
  int c, i, j;
  for (c = 0; c < n; ++c) if (pivot[c] != c) for (j = 0; j < k; ++j) {{
    double kept = b[c * k + j]; b[c * k + j] = b[pivot[c] * k + j]; b[pivot[c] * k + j] = kept;
  }}
  for (i = 1; i < n; ++i) for (c = 0; c < i; ++c) {{
    const double factor = a[i * n + c];
    if (factor != 0) for (j = 0; j < k; ++j) b[i * k + j] -= factor * b[c * k + j];
  }}
  for (i = n - 1; i >= 0; --i) {{
    for (c = i + 1; c < n; ++c) {{
      const double factor = a[i * n + c];
      if (factor != 0) for (j = 0; j < k; ++j) b[i * k + j] -= factor * b[c * k + j];
    }}
    for (j = 0; j < k; ++j) b[i * k + j] /= a[i * n + i];
  }}
}}

static int nhmech_solve(int n, double* a, double* b) {{
  int pivot[R + V + H + 1];
  if (!nhmech_factor(n, a, pivot)) return 0;
  nhmech_substitute(n, 1, a, pivot, b);
  return 1;
}}

/* the shortest step, in metres, with rows @ step = aims for n consistent rows */
static int nhmech_reach(const nhmech_step* s, const nhmech_rows* rows, int n, const int* which,
                        double* aims, double* step) {{
  double *G = s->room->reach, most = 0;
  int i, j, k;
  for (i = 0; i < n; ++i)
    for (j = 0; j <= i; ++j) {{
      double sum = 0;
      for (k = 0; k < V; ++k)
        sum += rows->A[which[i] * V + k] * rows->A[which[j] * V + k]
               * s->per_metre[k] * s->per_metre[k];
      G[i * n + j] = G[j * n + i] = sum;
    }}
  for (i = 0; i < n; ++i) most = nhmech_larger(most, G[i * n + i]);
  for (i = 0; i < n; ++i) G[i * n + i] += {FAINT} * most;
  if (!nhmech_solve(n, G, aims)) return 0;
  for (k = 0; k < V; ++k) {{
    step[k] = 0;
    for (i = 0; i < n; ++i)
      step[k] += aims[i] * rows->A[which[i] * V + k] * s->per_metre[k] * s->per_metre[k];
  }}
  return 1;
}}

/* Newton's method for x: the heights of the kept contacts and all bilateral functions become zero,
   and no contact that began the step on the ground ends below it; also gives the rows there */
static int nhmech_land(const nhmech_step* s, double t, double* x, const nhmech_problem* p,
                       const int* kept, nhmech_rows* rows) {{
  double off[C + H + 1], step[V], moved[X], worst = INFINITY, before;
  int which[C + H + 1], i, n, round;
  for (round = 0; ; ++round) {{
    nhmech_look(s, t, x, s->w1, s->dt / 2, rows);
    n = 0; before = worst; worst = 0;
    /* a rim that lies flat has no lowest point: its height is infinite */
    for (i = 0; i < p->contacts; ++i) {{
      const double height = rows->phi[contact_height[p->of[i]]];
      if (height < 0 || (kept[i] && height < HUGE_VAL)) {{
        which[n] = contact_form[p->of[i]];
        off[n++] = -height;
      }}
    }}
    for (i = 0; i < H; ++i) {{
      which[n] = bilateral_form[i];
      off[n++] = -rows->phi[bilateral_phi[i]];
    }}
    for (i = 0; i < n; ++i) worst = nhmech_larger(worst, fabs(off[i]));
    /* a small residual that a step does not halve is rounding */
    if (!(worst > {LEVEL}) || (worst < {HIGH} && worst > before / 2) || round == {ONTO})
      return worst < {HIGH};
    if (!nhmech_reach(s, rows, n, which, off, step)) return 0;
    nhmech_move(x, 1.0, step, moved);
    memcpy(x, moved, sizeof(moved));
  }}
}}
"""

# For a vehicle whose bodies can touch the ground: the rows of those points that do, and the heights
# of all points.
POINTS = """
static void nhmech_touch(const nhmech_step* s, double t, const double* x, nhmech_rows* found) {{
  const double *arg[{sz_arg}] = {{ x }};
  double *res[{sz_res}] = {{ found->pose, s->room->twist }}, work[{sz_w} + 1], slope[18], sum;
  casadi_int iw[{sz_iw} + 1];
  int i, j, k, l;
  s->move_bodies(arg, res, iw, work, 0);
  for (i = 0; i < POINTS; ++i) if (s->closed[C - POINTS + i]) {{
    const double* twist = s->room->twist + 6 * V * point_body[i];
    double* row = found->A + (OWN + 3 * i) * V;
    arg[0] = &t; arg[1] = found->pose + 12 * point_body[i]; arg[2] = s->points + 10 * i;
    res[0] = slope; res[1] = found->b + OWN + 3 * i; res[2] = found->phi + K - POINTS + i;
    {touch}(arg, res, iw, work, 0);
    for (j = 0; j < 3; ++j)
      for (k = 0; k < V; ++k) {{
        for (sum = 0, l = 0; l < 6; ++l) sum += slope[j + 3 * l] * twist[l * V + k];
        *row++ = sum;
      }}
  }}
}}

static void nhmech_rise(const nhmech_step* s, double t, nhmech_rows* found) {{
  const double *arg[{sz_arg}] = {{ &t }};
  double *res[{sz_res}] = {{ 0 }}, work[{sz_w} + 1];
  casadi_int iw[{sz_iw} + 1];
  int i;
  for (i = 0; i < POINTS; ++i) {{
    arg[1] = found->pose + 12 * point_body[i]; arg[2] = s->points + 10 * i;
    res[0] = found->phi + K - POINTS + i;
    {rise}(arg, res, iw, work, 0);
  }}
}}
"""
NO_POINTS = """
#define nhmech_touch(s, t, x, found)
#define nhmech_rise(s, t, found)
"""
