"""The charts of a run (equations of motion in one choice of independent speeds, with their step
functions), and the choice among them."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ..compile.adaptive import Adaptive, compile_adaptive
from ..compile.compiled_function import Source
from ..compile.loop import Loop, LoopCode, loop_source
from ..compile.loop_bounds import Bounding
from ..errors import REPR, NhmechError, listed
from ..mechanics.equations import Equations
from ..once import cached_property, once
from ..symbolic.buffered import Buffered
from ..urdf.description import JointLimits
from ..vehicle.joint_ranges import far_configurations
from .bounds import Bounds
from .feedback import Feedback, feedback_function
from .integration.integrators import (
    POOR,
    Advance,
    loop_step,
    projection_function,
    python_step,
    rate_function,
    reading_function,
    settle_function,
)
from .integration.schemes import Scheme
from .inverse_dynamics import InverseDynamics
from .moment import Moment
from .simulated import Simulated
from .state_vector import StateVector

GOOD = 0.25      # a chart made for a place has at least this pivot margin there
FAIR = 0.12      # an existing chart is used from this margin on; near POOR it would soon be left

Place = tuple[float, np.ndarray]     # time [s] and configuration


@dataclass(frozen=True, eq=False)
class Chart:
    """The equations of motion in one frame, with the step, the projection and the inverse dynamics
    that are built from them."""

    equations: Equations
    limits: Mapping[str, JointLimits]
    nu: int
    scheme: Scheme
    kinematic: bool
    bounds: Bounds
    feedback: Feedback | None = None

    def __repr__(self) -> str:
        return f"<Chart in the speeds {listed(self.equations.names, REPR)}, {self.scheme.name}>"

    @cached_property
    def state_vector(self) -> StateVector:
        return StateVector.of(self.equations)

    @cached_property
    def advance(self) -> Advance:
        """One step, for calls from Python."""
        return python_step(self.equations, self.scheme, self.kinematic,
                           None if self.scheme.method else self._adaptive)

    @cached_property
    def _adaptive(self) -> Adaptive | None:
        rate = rate_function(self.equations, self.kinematic)
        return compile_adaptive(rate, _ends(self.equations),
                                len(self.state_vector.angle_slots()), self._margins)

    def loop(self, build: bool) -> Loop | None:
        """The step loop in C. If `build` is set it is compiled now, else in the background, and is
        None until it is ready; None without a compiler. (That of DOP853 is always compiled now,
        because its steps in Python differ.)"""
        if self.scheme.method is None:
            return None if self._adaptive is None else self._adaptive.loop
        return self._code.loop(build)

    @cached_property
    def _code(self) -> LoopCode:
        words = self.equations, self.scheme, self.kinematic, self._margins
        return LoopCode(_loop_source(*words) if self.feedback is None
                        else _controlled_source(self.feedback.function, *words))

    @property
    def runs_feedback(self) -> bool:
        """Whether its loop evaluates the controller itself."""
        return self.feedback is not None and self.scheme.method is not None

    @cached_property
    def _margins(self) -> Bounding:
        support = self.bounds.support
        return (self.bounds.along(self.equations),
                None if support is None else support.along(self.equations))

    @cached_property
    def project(self) -> Buffered:
        """(t, x, theta) -> x on the constraints, q, v, health."""
        return Buffered(projection_function(self.equations))

    @cached_property
    def inverse_dynamics(self) -> InverseDynamics:
        return InverseDynamics(self.equations, self.limits, self.nu)

    @property
    def speeds(self) -> list[int]:
        return list(self.equations.frame.speeds)

    def at_rest(self, q: np.ndarray) -> np.ndarray:
        """x at q with all speeds zero."""
        return self.state_vector.assemble(q, np.zeros(self.state_vector.nxi))

    def margin(self, t: float, x: np.ndarray, theta: np.ndarray) -> float:
        """The margin of the frame at x, whose sign differs on the two sides of a singularity; zero
        if it is NaN."""
        value = float(self.project(t, x, theta)[3][1])
        return value if np.isfinite(value) else 0.0


def _ends(equations: Equations) -> tuple[ca.Function, ca.Function]:
    """`settle` and `read` of `loop_source`."""
    return settle_function(equations), reading_function(equations)


@once
def _loop_source(equations: Equations, scheme: Scheme, kinematic: bool,
                 margins: Bounding) -> Source:
    return _write_loop(equations, scheme, kinematic, margins, None)


@once
def _controlled_source(law: ca.Function, equations: Equations, scheme: Scheme, kinematic: bool,
                       margins: Bounding) -> Source:
    """The source of a loop with a controller, cached with its law."""
    control = feedback_function(law, equations)
    return _write_loop(equations, scheme, kinematic, margins, control)


def _write_loop(equations: Equations, scheme: Scheme, kinematic: bool, margins: Bounding,
                control: ca.Function | None) -> Source:
    assert scheme.method is not None, "an adaptive scheme has its own loop"
    step, kept = loop_step(equations, scheme.method, kinematic)
    angles = len(StateVector.of(equations).angle_slots())
    return loop_source(step, *_ends(equations), angles=angles, kept=kept, bounds=margins,
                       order=scheme.order, control=control)


class Atlas:
    """The `charts` that a run has used so far, among them the `primary` one, whose independent
    speeds the run records, and the present `chart`.

    All charts describe the same motion by different rows and independent speeds. Where the speeds
    of a chart become singular, the run changes to another chart. `side` is the sign of the present
    chart's margin: beyond the singularity the chart is valid again, but no step may cross it.
    """

    def __init__(self, simulated: Simulated, scheme: Scheme, kinematic: bool, bounds: Bounds,
                 feedback: Feedback | None = None):
        self._simulated = simulated
        self.primary = Chart(simulated.equations, simulated.limits, simulated.nu, scheme,
                             kinematic, bounds, feedback)
        self.charts = [self.primary]
        self.chart = self.primary
        self.side = 1.0

    def __repr__(self) -> str:
        return f"<Atlas of {len(self.charts)} charts, now {self.chart!r}>"

    def start(self, moment: Moment) -> None:
        """Starts at the configuration of a moment, at rest, in the primary chart, or in another one
        if that is nearly singular there. Raises as `change` does."""
        self.chart = self.primary
        moment.x[...] = self.chart.at_rest(moment.q)
        margin = self.chart.margin(moment.t, moment.x, self._simulated.theta)
        self.side = float(np.sign(margin))
        if abs(margin) < POOR:
            self.change(moment)

    def resume(self, moment: Moment) -> None:
        """Starts at the configuration and velocities of a moment, in a regular chart. Raises as
        `change` does."""
        chart = self.chart
        moment.x[...] = chart.state_vector.assemble(moment.q, moment.v[chart.speeds],
                                                    near=moment.x)
        margin = chart.margin(moment.t, moment.x, self._simulated.theta)
        self.side = float(np.sign(margin))
        if abs(margin) < POOR:
            self.change(moment)

    def use(self, scheme: Scheme) -> None:
        """Continues with another scheme, in the same charts."""
        place = self.charts.index(self.chart)
        self.charts[:] = [replace(chart, scheme=scheme) for chart in self.charts]
        self.primary, self.chart = self.charts[0], self.charts[place]

    def change(self, moment: Moment, end: Place | None = None) -> None:
        """Changes to a chart that is regular at this moment and at `end`, the place after the next
        step. The motion does not change.
        """
        here = moment.t, moment.q
        ends = [here] if end is None else [here, end]
        best = max(self.charts, key=lambda chart: self._quality(chart, ends))
        if self._quality(best, ends) < FAIR:
            best = self._make(*ends[-1])
            if not self._quality(best, ends) > 0:
                t, q = ends[-1]
                where = f"within a step from t = {moment.t:.6g} s"
                raise self._simulated.rank_error(t, q, where)
        moment.x[...] = best.state_vector.assemble(moment.q, moment.v[best.speeds], near=moment.x)
        self.chart = best
        self.side = float(np.sign(best.margin(moment.t, moment.x, self._simulated.theta)))

    def cover(self, places: Sequence[np.ndarray], most: float = np.inf) -> None:
        """Makes charts in advance, at most `most`, until each of the configurations (nq,) has one
        that is well conditioned there; the worst configuration comes first. Configurations at which
        the constraints lose rank are skipped."""
        ends = [[(0.0, q)] for q in places]
        served = np.array([max(self._quality(chart, end) for chart in self.charts) for end in ends])
        while served.min(initial=GOOD) < GOOD and len(self.charts) < most:
            worst = int(served.argmin())
            with suppress(NhmechError):
                chart = replace(self.primary, equations=self._simulated.rechoose(*ends[worst][0]))
                if self._quality(chart, ends[worst]) > served[worst]:
                    self.charts.append(chart)
                    served = np.maximum(served, [self._quality(chart, end) for end in ends])
            served[worst] = np.inf       # no chart is better there

    def cover_range(self, most: float = np.inf) -> None:
        """Covers the whole range of configurations of a vehicle, and the samples of any other
        system."""
        vehicle = self._simulated.vehicle
        self.cover([*self._simulated.constrained.configurations,
                    *([] if vehicle is None else far_configurations(vehicle))], most)

    def compile(self, wait: bool) -> None:
        """Compiles the loop of each chart, now or in the background, and prepares each for the
        commands that any of them has been given."""
        for build in (False, True)[:1 + wait]:       # starts all builds, then waits for each
            for chart in self.charts:
                chart.loop(build)
        for chart in self.charts:
            _ = chart.advance, chart.project
            for other in self.charts:
                chart.inverse_dynamics.learn(other.inverse_dynamics)

    def _make(self, t: float, q: np.ndarray) -> Chart:
        """A new chart, with rows and independent speeds chosen at a place. Logs a message, because
        this takes some time."""
        logging.getLogger("nhmech").warning(
            "t = %.6g s: the speeds %s are becoming singular; deriving the equations in others "
            "(chart %d of this run)", t, listed(self.chart.equations.names, REPR),
            len(self.charts) + 1)
        chart = replace(self.primary, equations=self._simulated.rechoose(t, q))
        self.charts.append(chart)
        return chart

    def _quality(self, chart: Chart, ends: Sequence[Place]) -> float:
        """The least margin of a chart at some places; zero if a singularity lies between them."""
        margins = [chart.margin(t, chart.at_rest(q), self._simulated.theta) for t, q in ends]
        return min(np.abs(margins)) if len(set(np.sign(margins))) == 1 else 0.0
