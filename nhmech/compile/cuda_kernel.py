"""The loop over steps as a CUDA kernel around the C of one step: a case is a thread."""

from __future__ import annotations

import casadi as ca

from .compiled_function import generate
from .lanes import step_call, step_words

# NVRTC has the functions of math.h, and no file of that name.
_HEAD = """
#ifdef __CUDACC_RTC__
#define INFINITY __longlong_as_double(0x7ff0000000000000LL)
#define NAN __longlong_as_double(0x7ff8000000000000LL)
#else
#include <math.h>
#endif
"""

# Arrays are (entry, case), so that neighbouring threads read neighbouring numbers. A launch reads
# the state once and writes it once; between, it stays in registers as far as they suffice.
_KERNEL = """
extern "C" __global__ void nhmech_kernel(long long count, double dt, long long k0, long long steps,
                                         const double* u, long long hold, const double* theta,
                                         double* x, double* health, const double* side,
                                         long long* status, long long* done, long long every,
                                         double* record, long long mended) {{
  const int nx = {nx}, nu = {nu}, ntheta = {ntheta};
  const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= count) return;
  const double* arg[{sz_arg}];
  double* res[{sz_res}];
  casadi_int iw[{sz_iw} + 1];
  double w[{sz_w} + 1], now[nx + 1], next[nx + 1], input[nu + 1], parameter[ntheta + 1];
  double found[3], time, sign = side[at], guard = health[2 * count + at], answer;
  // a division of such integers takes as long as a short step: only at the start of a launch
  long long left = mended - k0 % mended;      // steps up to the next thorough one
  long long held = hold - k0 % hold, kept = (every - k0 % every) % every;
  int ended = (int)status[at];
  for (int j = 0; j < nx; ++j) now[j] = x[j * count + at];
  for (int j = 0; j < 2; ++j) found[j] = health[j * count + at];
  for (int j = 0; j < ntheta; ++j) parameter[j] = theta[j * count + at];
  for (int j = 0; j < nu; ++j) input[j] = u[j * count + at];
  for (long long k = k0; k < k0 + steps; ++k) {{
    if (record && !kept--) {{
      for (int j = 0; j < nx; ++j) record[j * count + at] = now[j];
      record += nx * count;
      kept = every - 1;
    }}
    if (!held--) {{
      u += nu * count;
      for (int j = 0; j < nu; ++j) input[j] = u[j * count + at];
      held = hold - 1;
    }}
    if (ended) continue;
    time = (double)k * dt;
    arg[0] = &time; arg[1] = now; arg[2] = input; arg[3] = parameter; arg[4] = &dt;
    arg[5] = &sign; arg[6] = &guard;
    res[0] = next; res[1] = found; res[2] = &answer;
    {step}
    ended = (int)answer;
    if (ended) {{
      done[at] = k;
      continue;
    }}
    guard = found[2];
    for (int j = 0; j < nx; ++j) now[j] = next[j];
  }}
  for (int j = 0; j < nx; ++j) x[j * count + at] = now[j];
  for (int j = 0; j < 2; ++j) health[j * count + at] = found[j];
  health[2 * count + at] = guard;
  status[at] = ended;
}}
"""


def kernel_source(step: ca.Function, swift: ca.Function | None = None) -> str:
    """Source of `nhmech_kernel` around a step (t, x, u, theta, dt, side, guard) -> (x, health,
    status) and its `swift` form, as in `compile_lanes`. It is plain C++ except for CUDA's five
    words, and NVRTC compiles it with `-default-device`."""
    steps = [step] if swift is None else [step, swift]
    code = generate(f"{step.name()}.cpp", steps).replace("#include <math.h>\n", "")
    return _HEAD + code + _KERNEL.format(step=step_call(*steps), **step_words(*steps))
