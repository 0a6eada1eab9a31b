"""The loop over steps as a CUDA kernel around the C of one step: a case is a thread."""

from __future__ import annotations

import casadi as ca

from .lanes import FALLEN, NOT_FINITE, OFF, SINGULAR

# NVRTC has the functions of math.h, and no file of that name.
_HEAD = """
#ifdef __CUDACC_RTC__
#define INFINITY __longlong_as_double(0x7ff0000000000000LL)
#define NAN __longlong_as_double(0x7ff8000000000000LL)
#else
#include <math.h>
#endif
"""

# Arrays are (entry, case), so that neighbouring threads read neighbouring numbers.
_KERNEL = """
extern "C" __global__ void nhmech_kernel(long long count, double dt, long long k0, long long steps,
                                         double poor, double flat, double loose, const double* u, long long hold,
                                         const double* theta, double* x, double* health, const double* side,
                                         long long* status, long long* done, long long every, double* record) {{
  const int nx = {nx}, nu = {nu}, ntheta = {ntheta};
  const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x, period = k0 / hold;
  if (at >= count) return;
  const double* arg[{sz_arg}];
  double* res[{sz_res}];
  casadi_int iw[{sz_iw} + 1];
  double w[{sz_w} + 1], now[nx + 1], next[nx + 1], input[nu + 1], parameter[ntheta + 1], found[3], time;
  for (int j = 0; j < nx; ++j) now[j] = x[j * count + at];
  for (int j = 0; j < ntheta; ++j) parameter[j] = theta[j * count + at];
  double guard = health[2 * count + at];
  int ended = (int)status[at];
  for (long long k = k0; k < k0 + steps; ++k) {{
    if (record && k % every == 0) {{
      for (int j = 0; j < nx; ++j) record[j * count + at] = now[j];
      record += nx * count;
    }}
    if (ended) continue;
    for (int j = 0; j < nu; ++j) input[j] = u[((k / hold - period) * nu + j) * count + at];
    time = (double)k * dt;
    arg[0] = &time; arg[1] = now; arg[2] = input; arg[3] = parameter; arg[4] = &dt;
    res[0] = next; res[1] = found;
    {name}(arg, res, iw, w, 0);
    bool bad = false;
    for (int j = 0; j < nx; ++j) bad |= !(next[j] - next[j] == 0);
    for (int j = 0; j < 3; ++j) bad |= !(found[j] - found[j] == 0);
    const double low = found[2] < guard ? found[2] : guard, high = found[2] < guard ? guard : found[2];
    ended = bad ? {NOT_FINITE} : found[0] > loose ? {OFF} : low < flat && high > 1.5 * low ? {FALLEN} :
            found[1] * side[at] < poor ? {SINGULAR} : 0;
    if (ended) {{
      done[at] = k;
      continue;
    }}
    guard = found[2];
    for (int j = 0; j < nx; ++j) now[j] = next[j];
    health[at] = found[0];
    health[count + at] = found[1];
  }}
  for (int j = 0; j < nx; ++j) x[j * count + at] = now[j];
  health[2 * count + at] = guard;
  status[at] = ended;
}}
"""


def kernel_source(step: ca.Function) -> str:
    """`nhmech_kernel` around (t, x, u, theta, dt) -> (x, health), for NVRTC with `-default-device`;
    plain C++ but for CUDA's five words."""
    generator = ca.CodeGenerator(f"{step.name()}.cpp", {"with_header": False, "cpp": True})
    generator.add(step)
    shapes = {"nx": step.nnz_out(0), "nu": step.nnz_in(2), "ntheta": step.nnz_in(3)}
    sizes = {"sz_arg": step.sz_arg(), "sz_res": step.sz_res(), "sz_iw": step.sz_iw(),
             "sz_w": step.sz_w()}
    codes = {"NOT_FINITE": NOT_FINITE, "OFF": OFF, "SINGULAR": SINGULAR, "FALLEN": FALLEN}
    kernel = _KERNEL.format(name=step.name(), **shapes, **sizes, **codes)
    return _HEAD + generator.dump().replace("#include <math.h>\n", "") + kernel
