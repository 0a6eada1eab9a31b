"""The loop over steps for many cases at once, in C++: SIMD lanes within a thread, and several
threads.

A pack is one SIMD vector, which holds as many cases as it has lanes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import casadi as ca
import numpy as np

from ..errors import CompileError
from .cache import Library
from .compiled_function import Source, generate, library_of, workspace
from .compiler import LARGE, NATIVE, Compiler, find_compiler, processor_of
from .lane_type import vectorise
from .loop import MENDED

# One pack takes all its steps before the next one starts, so that its state stays in the
# processor's cache.
_LOOP = """
static inline pack gather(const double* from, long long lane, long long last, long long stride) {{
  pack p;
  for (int i = 0; i < LANES; ++i) p[i] = from[(lane + i < last ? lane + i : last) * stride];
  return p;
}}

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int nhmech_lane_count(void) {{ return LANES; }}

EXPORTED void nhmech_lanes(long long first, long long end, long long room, long long count,
                           double dt, long long k0, long long steps, const double* u,
                           long long u_period, long long u_lane, long long u_entry, long long hold,
                           const double* theta, long long theta_lane, long long theta_entry,
                           double* x, double* health, const double* sides, long long* status,
                           long long* done, long long every, double* record, long long mended) {{
  static const int nx = {nx}, nu = {nu}, ntheta = {ntheta};
  const lane* arg[{sz_arg}];
  lane* res[{sz_res}];
  casadi_int iw[{sz_iw} + 1];
  lane w[{sz_w} + 1], states[2][nx + 1], input[nu + 1], parameter[ntheta + 1];
  lane *now = states[0], *next = states[1], found[3], time, length = dt, side, guard, answer;
  for (long long at = first; at < end; at += LANES) {{
    mask alive;
    for (int j = 0; j < nx; ++j) memcpy(&now[j], x + j * room + at, sizeof(pack));
    for (int j = 0; j < 3; ++j) memcpy(&found[j], health + j * room + at, sizeof(pack));
    memcpy(&side, sides + at, sizeof(pack));
    memcpy(&alive, status + at, sizeof(mask));
    guard = found[2];
    alive = alive == 0;
    bool whole = !any(~alive);
    long long left = mended - k0 % mended;      // steps up to the next thorough one
    for (int j = 0; j < ntheta; ++j)
      parameter[j] = gather(theta + j * theta_entry, at, count - 1, theta_lane);
    for (long long k = k0; k < k0 + steps; ++k) {{
      if (record && k % every == 0)
        for (int j = 0; j < nx; ++j)
          memcpy(record + ((k / every) * nx + j) * room + at, &now[j], sizeof(pack));
      if (k == k0 || (u_period && k % hold == 0))
        for (int j = 0; j < nu; ++j)
          input[j] = gather(u + (k / hold) * u_period + j * u_entry, at, count - 1, u_lane);
      if (!any(alive)) continue;
      time = (double)k * dt;
      arg[0] = &time; arg[1] = now; arg[2] = input; arg[3] = parameter; arg[4] = &length;
      arg[5] = &side; arg[6] = &guard;
      res[0] = next; res[1] = found; res[2] = &answer;
      {step}
      const mask bad = (answer.v != all(0.)) & alive;
      if (__builtin_expect(any(bad), 0)) {{
        for (int l = 0; l < LANES; ++l) if (bad[l]) {{
          status[at + l] = (long long)answer.v[l];
          done[at + l] = k;
        }}
        alive &= ~bad;
        whole = false;
      }}
      if (!whole) {{
        found[2] = alive ? found[2].v : guard.v;
        for (int j = 0; j < nx; ++j) next[j] = alive ? next[j].v : now[j].v;
      }}
      guard = found[2];
      lane* free = now;
      now = next;
      next = free;
    }}
    found[2] = guard;
    for (int j = 0; j < nx; ++j) memcpy(x + j * room + at, &now[j], sizeof(pack));
    for (int j = 0; j < 3; ++j) memcpy(health + j * room + at, &found[j], sizeof(pack));
  }}
}}
"""


_SWIFT = """if (--left) {swift}
      else {{
        {step}
        left = mended;
      }}"""


@dataclass(frozen=True, eq=False)
class LaneState:
    """The state of `count` cases in `room` columns: a whole number of packs, padded with copies of
    the last case.
    """

    count: int
    x: np.ndarray  # (nx, room)
    # (3, room): |phi| before the projection and the margin of the frame, both of the last step that
    # was tried; the least guard. NaN at the start, when no guard is known.
    health: np.ndarray
    side: np.ndarray  # (room,) sign of the margin at the start; NaN before the first step
    # (room,) `Status`: DONE until a step is refused, then its status; x stays as before that step
    status: np.ndarray
    done: np.ndarray  # (room,) number of the refused step

    @classmethod
    def of(cls, x0: np.ndarray, width: int) -> LaneState:
        """The state for initial x0 (count, nx) and packs of `width` cases."""
        count, room = len(x0), -(-len(x0) // width) * width
        x = np.ascontiguousarray(np.concatenate([x0, np.repeat(x0[-1:], room - count, axis=0)]).T)
        return cls(count, x, np.full((3, room), np.nan), np.full(room, np.nan),
                   np.zeros(room, np.int64), np.zeros(room, np.int64))

    @property
    def room(self) -> int:
        return self.x.shape[1]

    @property
    def cases(self) -> np.ndarray:
        """x as a read-only view (count, nx)."""
        view = self.x[:, :self.count].T
        view.setflags(write=False)
        return view


@dataclass(frozen=True)
class Lanes:
    """The compiled loop, for `width` cases in one vector."""

    call: Callable[..., None]
    width: int

    def run(self, state: LaneState, u: np.ndarray, theta: np.ndarray, *, dt: float, k0: int,
            steps: int, hold: int = 1, every: int = 1, record: np.ndarray | None = None,
            spread: Callable = map, parts: int = 1, mended: int = MENDED) -> None:
        """Advances `state` in place by the steps k0 to k0 + steps - 1, from the time k0 dt.

        Parameters
        ----------
        u
            (count, nu), or (periods, count, nu), of which entry k // hold is used at step k; any
            strides.
        theta
            (count, ntheta).
        record
            (K, nx, room): the state before each step k with k % every == 0 goes to row k // every.
        spread
            `map`, or the `map` of a thread pool, which is applied to `parts` parts of the cases.
        mended
            Steps k with (k + 1) % mended == 0 are thorough: constraints and guard are evaluated in
            full.
        """
        period = u.strides[0] // 8 if u.ndim == 3 else 0
        edges = np.linspace(0, state.room // self.width, parts + 1).astype(int) * self.width
        memory = [array.ctypes.data
                  for array in (state.x, state.health, state.side, state.status, state.done)]

        def part(i: int) -> None:
            self.call(edges[i], edges[i + 1], state.room, state.count, dt, k0, steps,
                      u.ctypes.data, period, u.strides[-2] // 8, u.strides[-1] // 8, hold,
                      theta.ctypes.data, theta.strides[0] // 8, theta.strides[1] // 8,
                      *memory, every, None if record is None else record.ctypes.data, mended)

        for _ in spread(part, range(parts)):
            pass

    def bind(self, state: LaneState, u: np.ndarray, theta: np.ndarray, *, dt: float,
             steps: int) -> Callable[[], None]:
        """A function that takes so many steps from time zero on fixed memory at each call, which is
        faster than `run` if it is called often. Every 64th step (`MENDED`) is thorough, or the last
        one if there are fewer."""
        words = [ctypes.c_longlong(n) for n in (
            0, state.room, state.room, state.count, 0, steps, 0, u.strides[0] // 8,
            u.strides[1] // 8, 1, theta.strides[0] // 8, theta.strides[1] // 8, 1)]
        at = [ctypes.c_void_p(array.ctypes.data) for array in (
            u, theta, state.x, state.health, state.side, state.status, state.done)]
        held = (*words[:4], ctypes.c_double(dt), *words[4:6], at[0], *words[6:10], at[1],
                *words[10:12], *at[2:], words[12], None, ctypes.c_longlong(min(steps, MENDED)))
        call, kept = self.call, (state, u, theta)       # C has their addresses

        def run(_kept: object = kept) -> None:
            call(*held)

        return run


@dataclass(frozen=True)
class VectorCompiler(Compiler):
    """The same compiler, for C++ with the SIMD vectors of this machine."""

    def flags(self, instructions: int) -> tuple[str, ...]:
        """Reciprocals of repeated and constant divisors are allowed: up to a sixth faster, and
        exact to one ulp. NaN stays NaN.

        Names of generated functions are hidden, so that no other library replaces them.
        """
        level = "-Og" if instructions > LARGE else "-O2"
        return ("-x", "c++", level, NATIVE, "-fno-math-errno", "-freciprocal-math",
                f"-DPROCESSOR={processor_of(self, (NATIVE,))}", "-fvisibility=hidden", "-fPIC",
                "-shared")


@lru_cache(maxsize=1)
def find_vector_compiler() -> VectorCompiler | None:
    """The compiler for SIMD vectors; None if there is no C compiler. Raises `CompileError` if the
    compiler cannot name the processor that it compiles for."""
    compiler = find_compiler()
    if compiler is None:
        return None
    found = VectorCompiler(compiler.path, compiler.version, compiler.words)
    if processor_of(found, (NATIVE,)) is None:
        raise CompileError(f"{compiler} {NATIVE} does not say for which processor it compiles")
    return found


def library_in_lanes(functions: Sequence[ca.Function], text: str) -> Library | None:
    """C++ of the functions on SIMD vectors, followed by `text`; None and errors as `library_of`."""
    code = vectorise(generate("lanes.cpp", functions)) + text
    return library_of(Source(code, code.count("\n")), compiler=find_vector_compiler())


def step_words(step: ca.Function, *others: ca.Function) -> dict[str, int | str]:
    """Names and sizes that the text of a loop needs of a step (t, x, u, theta, dt, side, guard) ->
    (x, health, status), and of others with the same arguments."""
    return {"nx": step.nnz_out(0), "nu": step.nnz_in(2), "ntheta": step.nnz_in(3),
            **workspace(step, *others)}


def step_call(step: ca.Function, swift: ca.Function | None = None) -> str:
    """The text that takes one step in a loop. With a `swift` step it takes that one, and the
    thorough one when `left`, the number of steps until then, has run down."""
    call = f"{step.name()}(arg, res, iw, w, 0);"
    return call if swift is None else _SWIFT.format(step=call, swift=step_call(swift))


def compile_lanes(step: ca.Function, swift: ca.Function | None = None) -> Lanes | None:
    """Compiles the loop around a step (t, x, u, theta, dt, side, guard) -> (x, health, status), as
    C++ on vectors of 8 (AVX-512), 4 (AVX) or 2 doubles.

    With a `swift` step, most steps use it: it neither projects nor updates the guard, so that both
    drift by rounding errors until the next thorough step, and it needs the guard at its beginning.

    None and errors as `library_of`.
    """
    steps = [step] if swift is None else [step, swift]
    library = library_in_lanes(steps, _LOOP.format(step=step_call(*steps), **step_words(*steps)))
    if library is None:
        return None
    call = library.function("nhmech_lanes")
    pointer, integer, real = ctypes.c_void_p, ctypes.c_longlong, ctypes.c_double
    call.argtypes = [*[integer] * 4, real, integer, integer, pointer, *[integer] * 4,
                     pointer, integer, integer, *[pointer] * 5, integer, pointer, integer]
    call.restype = None
    return Lanes(call, library.function("nhmech_lane_count")())
