"""The charts of a run, and which of them serves where."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .chart import GOOD, Chart
from .integrators import POOR
from .moment import Moment
from .schemes import Scheme
from .simulated import Simulated


class Atlas:
    """The charts that a run has used so far, and the present one.

    All describe the same motion, each by other rows and independent speeds; a chart goes bad where
    its speeds stop determining the motion, and the run changes to another one there.

    Attributes
    ----------
    primary
        The first chart, which names the independent speeds of the run.
    charts
        All of them, in the order in which they were made.
    chart
        The present one.
    side
        Sign of its margin: on the other side of a singularity it serves as well, but no step leads
        across.
    """

    def __init__(self, simulated: Simulated, scheme: Scheme, kinematic: bool):
        self._simulated = simulated
        self.primary = Chart(simulated.equations, simulated.limits, scheme, kinematic)
        self.charts = [self.primary]
        self.chart = self.primary
        self.side = 1.0

    def __repr__(self) -> str:
        return f"<Atlas of {len(self.charts)} charts, now {self.chart!r}>"

    def start(self, moment: Moment) -> None:
        """Puts a moment with a configuration and no speeds into the primary chart, or into another
        one where that is bad. Raises as `change` does."""
        self.chart = self.primary
        moment.x[...] = self.chart.at_rest(moment.q)
        margin = self.chart.margin(moment.t, moment.x, self._simulated.theta)
        self.side = float(np.sign(margin))
        if abs(margin) < POOR:
            self.change(moment)

    def change(self, moment: Moment, end: np.ndarray | None = None) -> None:
        """Moves to a chart that serves here and at `end`, the configuration after the next step.
        The motion stays the same.

        Raises
        ------
        NhmechError
            Where there is none: the constraints lose rank.
        """
        ends = [moment.q] if end is None else [moment.q, end]
        best = max(self.charts, key=lambda chart: self._quality(chart, moment.t, ends))
        if self._quality(best, moment.t, ends) < GOOD:
            best = self._make(ends[-1])
            if not self._quality(best, moment.t, ends) > 0:
                raise self._simulated.rank_error(ends[-1],
                                                f"within a step from t = {moment.t:.6g} s")
        moment.x[...] = best.state_vector.assemble(moment.q, moment.v[best.speeds], near=moment.x)
        self.chart = best
        self.side = float(np.sign(best.margin(moment.t, moment.x, self._simulated.theta)))

    def _make(self, q: np.ndarray) -> Chart:
        """A new chart, with rows and speeds chosen at q."""
        chart = Chart(self._simulated.rechoose(q), self.primary.limits, self.primary.scheme,
                      self.primary.kinematic)
        self.charts.append(chart)
        return chart

    def _quality(self, chart: Chart, t: float, ends: Sequence[np.ndarray]) -> float:
        """Least margin of a chart at some configurations; zero where a singularity lies between
        them."""
        margins = [chart.margin(t, chart.at_rest(q), self._simulated.theta) for q in ends]
        return min(np.abs(margins)) if len(set(np.sign(margins))) == 1 else 0.0
