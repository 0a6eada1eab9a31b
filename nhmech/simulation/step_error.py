"""How far a run may be from the exact motion: the error of its steps, judged on the way."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref

import numpy as np

from ..compile.judging import GAUGE, JUDGED, WRONG, judged_share
from ..compile.loop import Setup
from ..compile.status import Status
from ..errors import Remedy
from ..urdf.notice import Notice, NoticeKind
from .atlas import Atlas, Chart
from .integration.integrators import Step
from .moment import Moment

# a run whose steps add up to more than this, relative to 1 + |x|, has a notice
TOLERANCE = 1e-3
MARGIN = 4.0       # by which the step that a notice names is more accurate than it must be
WINDOW = 64        # steps over which it is tried whether errors stay
DIVISORS = tuple(n * 10 ** k for k in range(5) for n in (2, 4, 5, 10))
ROW = len(GAUGE)

Retake = Callable[[], np.ndarray]      # -> x after the two halves of a step


class StepGauge:
    """The error that the steps of a scheme have added up to, since the start.

    Some steps are taken again as two halves; their difference is the error of the step
    (Richardson), relative to 1 + |x|, and stands for all steps since the one judged before.
    Compiled code does the same, in the same memory; `compile.judging.GAUGE` says what stands there.
    """

    def __init__(self, moment: Moment, order: int):
        self.values = np.zeros(ROW + moment.block.size + moment.x.size)
        self._share = judged_share(order)

    def clear(self) -> None:
        """Nothing is known of a new start."""
        self.values[:] = 0.0

    def rest(self, k: int) -> None:
        """Steps from k on are another scheme's."""
        self.values[:2] = self.total(k), 0.0

    def is_coarse(self, moment: Moment) -> bool:
        """Whether the steps up to now may have been too long."""
        total, latest, count = self.values[:3].tolist()
        return total + latest * max(moment.clock.item(1) - count, 0.0) > TOLERANCE

    def total(self, k: int) -> float:
        """The error up to step k of the run."""
        total, latest, count = self.values[:3].tolist()
        return total + latest * max(k - count, 0.0)

    def is_suspect(self, steps: int) -> bool:
        """Whether so many steps like the latest one may lead away further than the tolerance."""
        return self.values[1] * steps > TOLERANCE

    def judge(self, moment: Moment, x: np.ndarray, nconf: int, retake: Retake) -> bool:
        """Whether a step from the moment to x is believed; notes its error where it was due."""
        values, k = self.values, moment.k
        speeds = float(np.abs(x[nconf:]).sum())
        if k % JUDGED and k & (k - 1) and speeds <= 2 * values[3] + 1:
            return True
        error = float((self._share * np.abs(retake() - x) / (1 + np.abs(x))).max())
        if not (error <= WRONG or speeds <= float(np.abs(moment.x[nconf:]).sum())):
            return False
        values[0] += (error + values[1]) / 2 * max(k - values[2], 0.0)
        values[1:4] = error, k, speeds
        if error > values[4]:
            values[4] = error
            row = np.concatenate([[moment.t], moment.q, moment.v, moment.u])
            values[ROW:ROW + len(row)] = row
        return True


def retake(chart: Chart, t: float, x: np.ndarray, u: np.ndarray, theta: np.ndarray, dt: float,
           side: float, guard: float) -> Step:
    """A step in two halves."""
    middle = chart.advance(t, x, u, theta, dt / 2, side, guard)
    return chart.advance(t + dt / 2, middle.x, u, theta, dt / 2, side, middle.health[2])


class Trial:
    """The worst step that a gauge noted, to be taken again with other lengths. `gauge`, `atlas`,
    `moment`: of a run whose scheme has fixed steps. `theta`: parameters (ntheta,)."""

    def __init__(self, gauge: StepGauge, atlas: Atlas, moment: Moment, theta: np.ndarray):
        nq, nv = len(moment.q), len(moment.v)
        t, q, v, self.u = np.split(gauge.values[ROW:ROW + 1 + nq + nv + len(moment.u)],
                                   [1, 1 + nq, 1 + nq + nv])
        self.t, self.theta = float(t[0]), theta
        self.chart = max(atlas.charts, key=lambda one: abs(
            one.margin(self.t, one.at_rest(q), theta)))
        self.x = self.chart.state_vector.assemble(q, v[self.chart.speeds])
        self.side = float(np.sign(self.chart.margin(self.t, self.x, theta)))
        self._loop = self.chart.loop(build=False)
        self._health = self.chart.project(self.t, self.x, theta)[3].copy()
        self._setup = Setup(side=self.side, u=self.u.ctypes.data, theta=theta.ctypes.data,
                            health=self._health.ctypes.data)

    def error(self, dt: float) -> float:
        """How far the step and its halves are apart."""
        coarse, halves = self._path(dt, 1), self._path(dt / 2, 2)
        return float(_apart(coarse, halves[1:])[0]) if len(coarse) and len(halves) > 1 else np.inf

    def _path(self, dt: float, steps: int, k: int = 0, x: np.ndarray | None = None) -> np.ndarray:
        """The states after each of so many steps from x, (n, nx), as far as they may be taken."""
        found = np.empty((1 + steps, len(self.x)))
        found[0] = self.x if x is None else x
        t, count, guard = self.t + k * dt, 0, self._health[2]
        if self._loop is not None and self._loop.path is not None:
            count = self._loop.path(byref(self._setup), t, dt, steps, found.ctypes.data)
            return found[1:1 + count]
        while count < steps:
            step = self.chart.advance(t + count * dt, found[count], self.u, self.theta, dt,
                                      self.side, guard)
            if step.status is not Status.DONE:
                break
            count, guard = count + 1, step.health[2]
            found[count] = step.x
        return found[1:1 + count]

    def persistence(self, dt: float) -> float:
        """How much of the errors of `WINDOW` steps is still there after them: 1 where they add up,
        next to nothing where stiff dampers take them away."""
        coarse, fine = self._path(dt, WINDOW), self._path(dt / 2, 2 * WINDOW)
        halves = [self._path(dt / 2, 2, 2 * k, x) for k, x in enumerate((self.x, *coarse[:-1]))]
        if len(coarse) + len(fine) < 3 * WINDOW or min(map(len, halves)) < 2:
            return 1.0
        own = _apart(coarse, np.array(halves)[:, 1])
        if not own.any():
            return 1.0
        return float(_apart(coarse, fine[1::2])[-WINDOW // 4:].max() / own.sum())

    def better_step(self, dt: float, total: float) -> float | None:
        """The longest one that keeps to the tolerance, where steps of dt led `total` away."""
        allowed = self.error(dt) * TOLERANCE / (MARGIN * total)
        return next((dt / n for n in DIVISORS if self.error(dt / n) * n <= allowed), None)


def _apart(coarse: np.ndarray, fine: np.ndarray) -> np.ndarray:
    """How far states (n, nx) are from others, relative to 1 + |x|, (n,)."""
    return (np.abs(fine - coarse) / (1 + np.abs(coarse))).max(axis=1)


def step_notice(gauge: StepGauge, atlas: Atlas, moment: Moment, theta: np.ndarray,
                dt: float) -> Notice | None:
    """What to say of a run whose steps are suspected, with a step that would do; None where their
    errors did not stay."""
    trial = Trial(gauge, atlas, moment, theta)
    total = gauge.total(moment.k) * trial.persistence(dt)
    if total <= TOLERANCE:
        return None
    better = trial.better_step(dt, total)
    text = (f"steps of {dt:g} s are too long for this motion: their errors add up to {total:.2g} "
            "of the state's size")
    if better is None:
        remedy = Remedy("Try integrator='dop853' (--integrator dop853), which chooses its steps",
                        "Try --integrator dop853, which chooses its steps")
    else:
        remedy = Remedy(f"Try dt={better:g} (--dt {better:g}), or integrator='auto' (--integrator "
                        "auto)", f"Try --dt {better:g}, or --integrator auto")
    return Notice(NoticeKind.COARSE_STEPS, text, remedy)
