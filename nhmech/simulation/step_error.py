"""The estimated error of a run's steps, and the notice if dt is too long."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref

import numpy as np

from ..compile.loop import Setup
from ..compile.loop_error import ESTIMATE_EVERY, GAUGE, WRONG, richardson_factor
from ..compile.status import Status
from ..errors import Remedy
from ..urdf.notice import Notice, NoticeKind
from .atlas import Atlas, Chart
from .integration.integrators import Step
from .moment import Moment

# a run with a larger total error, relative to 1 + |x|, gets a notice
TOLERANCE = 1e-3
MARGIN = 4.0       # the step that a notice suggests is more accurate than needed by this factor
WINDOW = 64        # steps over which the persistence of errors is tested
DIVISORS = tuple(n * 10 ** k for k in range(5) for n in (2, 4, 5, 10))
ROW = len(GAUGE)

Retake = Callable[[], np.ndarray]      # -> x after the two halves of a step


class StepGauge:
    """The estimated total error of the steps since the start.

    Some steps are taken again as two halves. The difference gives the error of the step
    (Richardson), relative to 1 + |x|, and is assumed of all steps since the last such step.
    Compiled code does the same, in the same memory; `compile.loop_error.GAUGE` names its entries.
    """

    def __init__(self, moment: Moment, order: int):
        self.values = np.zeros(ROW + moment.block.size + moment.x.size)
        self._share = richardson_factor(order)

    def clear(self) -> None:
        """Forgets all errors, at a new start."""
        self.values[:] = 0.0

    def rest(self, k: int) -> None:
        """Stops the estimate at step k, from which on another scheme is used."""
        self.values[:2] = self.total(k), 0.0

    def is_coarse(self, moment: Moment) -> bool:
        """Whether the steps so far may have been too long."""
        total, latest, count = self.values[:3].tolist()
        return total + latest * max(moment.clock.item(1) - count, 0.0) > TOLERANCE

    def total(self, k: int) -> float:
        """The total error up to step k."""
        total, latest, count = self.values[:3].tolist()
        return total + latest * max(k - count, 0.0)

    def is_suspect(self, steps: int) -> bool:
        """Whether the error of so many steps like the latest one may exceed the tolerance."""
        return self.values[1] * steps > TOLERANCE

    def judge(self, moment: Moment, x: np.ndarray, nconf: int, retake: Retake) -> bool:
        """Whether a step from the moment to x has any correct digit; stores its error if an
        estimate was due."""
        values, k = self.values, moment.k
        speeds = float(np.abs(x[nconf:]).sum())
        if k % ESTIMATE_EVERY and k & (k - 1) and speeds <= 2 * values[3] + 1:
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
    """x after the same step in two halves."""
    middle = chart.advance(t, x, u, theta, dt / 2, side, guard)
    return chart.advance(t + dt / 2, middle.x, u, theta, dt / 2, side, middle.health[2])


class Trial:
    """Repeats the step with the worst error with other step lengths. `gauge`, `atlas`, `moment`: of
    a run with fixed steps. `theta`: parameters (ntheta,)."""

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
        """The difference between a step of dt and its two halves."""
        coarse, halves = self._path(dt, 1), self._path(dt / 2, 2)
        return float(_apart(coarse, halves[1:])[0]) if len(coarse) and len(halves) > 1 else np.inf

    def _path(self, dt: float, steps: int, k: int = 0, x: np.ndarray | None = None) -> np.ndarray:
        """The states after each of so many steps from x, (n, nx), up to the first that fails."""
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
        """The fraction of the errors of `WINDOW` steps that remains after them: 1 if they add up,
        nearly 0 if stiff dampers remove them."""
        coarse, fine = self._path(dt, WINDOW), self._path(dt / 2, 2 * WINDOW)
        halves = [self._path(dt / 2, 2, 2 * k, x) for k, x in enumerate((self.x, *coarse[:-1]))]
        if len(coarse) + len(fine) < 3 * WINDOW or min(map(len, halves)) < 2:
            return 1.0
        own = _apart(coarse, np.array(halves)[:, 1])
        if not own.any():
            return 1.0
        return float(_apart(coarse, fine[1::2])[-WINDOW // 4:].max() / own.sum())

    def better_step(self, dt: float, total: float) -> float | None:
        """The longest step that meets the tolerance, if steps of dt have the total error `total`;
        None if none was found."""
        allowed = self.error(dt) * TOLERANCE / (MARGIN * total)
        return next((dt / n for n in DIVISORS if self.error(dt / n) * n <= allowed), None)


def _apart(coarse: np.ndarray, fine: np.ndarray) -> np.ndarray:
    """Distance of states (n, nx) from others, relative to 1 + |x|, (n,)."""
    return (np.abs(fine - coarse) / (1 + np.abs(coarse))).max(axis=1)


def step_notice(gauge: StepGauge, atlas: Atlas, moment: Moment, theta: np.ndarray,
                dt: float) -> Notice | None:
    """The notice about steps that are too long, with a step that would do; None if their errors did
    not persist."""
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
