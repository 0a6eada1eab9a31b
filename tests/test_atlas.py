"""When a run changes its independent speeds, on a circle of charts each of which is good around its
own angle."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from nhmech import SimulationError
from nhmech.simulation import atlas
from nhmech.simulation.atlas import FAIR, GOOD, Atlas, Chart
from nhmech.simulation.integration.integrators import POOR
from nhmech.simulation.integration.schemes import SCHEMES


class Around:
    """Equations whose frame has the margin cos(q - centre): singular a quarter turn away."""

    def __init__(self, centre: float, at=np.cos):
        self.centre, self.at, self.names = centre, at, (f"speed {centre:g}",)
        self.frame = SimpleNamespace(speeds=(0,))


class System:
    """Chooses equations for a place; from t = 5 on there are none, and nobody knows from t = 6."""

    limits, nu, theta = {}, 0, np.zeros(0)
    equations = Around(0.0)
    vehicle = None

    def __init__(self, configurations=()):
        self.constrained = SimpleNamespace(configurations=[np.array([q]) for q in configurations])
        self.asked = []

    def rechoose(self, t, q):
        self.asked.append((t, float(q[0])))
        if t >= 7:
            raise SimulationError("the constraints lose rank here")
        bad = np.zeros_like if t < 6 else lambda angle: angle * np.nan
        return Around(float(q[0]), np.cos if t < 5 else bad)

    def rank_error(self, t, q, where):
        return SimulationError(f"no rank at {q[0]:g} {where}")


@pytest.fixture(autouse=True)
def circle(monkeypatch):
    def assemble(q, xi, near=None):
        return np.r_[q, xi if near is None else xi + 100.0]
    monkeypatch.setattr(Chart, "state_vector", SimpleNamespace(assemble=assemble, nxi=1))
    monkeypatch.setattr(Chart, "project", property(lambda chart: lambda t, x, theta: (
        x, x, x, np.array([9.0, chart.equations.at(x[0] - chart.equations.centre), 9.0]))))


def made(*others: float, configurations=()) -> Atlas:
    """With the chart around 0 and others."""
    found = Atlas(System(configurations), SCHEMES["rk4"], False, SimpleNamespace(support=None))
    found.charts += [Chart(Around(centre), {}, 0, SCHEMES["rk4"], False, found.primary.bounds)
                     for centre in others]
    return found


def moment(q: float, t: float = 0.0) -> SimpleNamespace:
    return SimpleNamespace(t=t, q=np.array([q]), v=np.array([3.0]), x=np.zeros(2))


def place(margin: float, side: int = 1) -> float:
    """Where the chart around 0 has this margin."""
    return side * float(np.arccos(margin))


@pytest.mark.parametrize("margin", [1.0, 1.01 * POOR, -1.01 * POOR, -1.0, 0.99 * POOR,
                                    -0.99 * POOR])
def test_a_run_begins_in_its_own_speeds_unless_they_are_nearly_singular(margin):
    found, here = made(), moment(place(margin))
    found.chart = None
    found.start(here)
    is_own = abs(margin) >= POOR
    assert (found.chart is found.primary) == is_own
    assert found.side == (np.sign(margin) if is_own else 1.0)
    assert here.x.tolist() == ([here.q[0], 0.0] if is_own else [here.q[0], 103.0])
    # after wheels have slid, with the velocities that there are, in the chart that there is
    found, here = made(0.7), moment(0.7 + place(margin))
    found.chart = found.charts[1]
    found.resume(here)
    assert (found.chart is found.charts[1]) == is_own and here.x[1] == 103.0
    assert found.side == np.sign(np.cos(here.q[0] - found.chart.equations.centre))


@pytest.mark.parametrize("margin, is_kept", [(1.01 * FAIR, True), (0.99 * FAIR, False)])
def test_a_chart_that_is_there_serves_if_it_is_fair(margin, is_kept, caplog):
    """Else one is made for the place, and said so."""
    found, here = made(-0.05), moment(place(margin))
    found.change(here)
    assert (found.chart is found.primary) == is_kept
    assert len(found.charts) == 3 - is_kept and bool(caplog.messages) != is_kept
    if not is_kept:
        assert found._simulated.asked == [(0.0, here.q[0])]
        (said,) = caplog.messages
        assert "t = 0 s: the speeds speed 0 are becoming singular" in said
        assert "(chart 3 of this run)" in said
    assert here.x.tolist() == [here.q[0], 103.0] and found.side == 1.0


def test_the_best_chart_for_both_ends_of_a_step_is_taken():
    """None that has its singularity between them."""
    found = made(1.0, 2.0, 2.9)
    found.change(moment(1.4), (0.1, np.array([1.9])))
    assert found.chart is found.charts[2] and found.side == 1.0
    with pytest.raises(SimulationError, match="no rank at 4.54"):      # all have it there
        found.change(moment(1.4), (0.1, np.array([1.4 + np.pi])))
    assert found._simulated.asked == [(0.1, 1.4 + np.pi)]
    # beyond its singularity a chart is as good
    other = made(np.pi + 0.1)
    other.change(moment(-0.1), (0.1, np.array([-0.05])))
    assert other.chart is other.primary
    other.change(moment(0.05), (0.1, np.array([0.15])))
    assert other.chart is other.charts[1] and other.side == -1.0


@pytest.mark.parametrize("t, message", [(5.0, "no rank at 1.57 within a step from t = 5 s"),
                                        (6.0, "no rank at 1.57 within a step from t = 6 s"),
                                        (7.0, "lose rank here")])
def test_where_no_speeds_serve_the_rank_is_lost(t, message):
    with pytest.raises(SimulationError, match=message):
        made().change(moment(1.57, t))


def test_another_scheme_keeps_charts_and_place():
    found = made(1.0, 2.0)
    found.chart = found.charts[1]
    equations = [chart.equations for chart in found.charts]
    found.use(SCHEMES["dop853"])
    assert [chart.equations for chart in found.charts] == equations
    assert {chart.scheme.name for chart in found.charts} == {"dop853"}
    assert found.primary is found.charts[0] and found.chart is found.charts[1]


@pytest.mark.parametrize("places, most, centres", [
    ([0.0, place(1.01 * GOOD)], 9, [0.0]),
    ([0.0, place(0.99 * GOOD)], 9, [0.0, place(0.99 * GOOD)]),
    # the worst first, whose chart may serve others
    ([1.4, 1.5, 1.7], 9, [0.0, 1.5]), ([1.4, place(0.02), 3.0, place(0.02, -1)], 9,
                                       [0.0, place(0.02)]),
    ([place(0.2), place(0.0), np.pi - 0.1], 1, [0.0]), ([], 9, [0.0])])
def test_charts_are_made_in_advance_until_each_place_has_a_good_one(places, most, centres):
    found = made()
    found.cover([np.array([q]) for q in places], most)
    assert [chart.equations.centre for chart in found.charts] == pytest.approx(centres)
    found.cover([np.array([q]) for q in places], most)      # each place has its chart now
    assert len(found.charts) == len(centres)
    again = made(configurations=places)
    again.cover_range(most)
    assert [chart.equations.centre for chart in again.charts] == pytest.approx(centres)


def test_places_without_rank_are_skipped(monkeypatch):
    """And those where no chart is better than what there is."""
    found, asked = made(), []

    def rechoose(t, q):
        asked.append(float(q[0]))
        if q[0] == 1.5:
            raise SimulationError("no rank")
        return Around(0.0 if q[0] == 1.6 else float(q[0]))
    monkeypatch.setattr(found._simulated, "rechoose", rechoose)
    found.cover([np.array([q]) for q in (1.45, 1.5, 1.6)])
    assert asked == [1.6, 1.5, 1.45] and [one.equations.centre for one in found.charts] == [0, 1.45]


def test_all_builds_begin_before_any_is_waited_for(monkeypatch):
    asked, learnt = [], []
    monkeypatch.setattr(Chart, "loop", lambda chart, build: asked.append(
        (chart.equations.centre, build)))
    monkeypatch.setattr(Chart, "advance", None)
    monkeypatch.setattr(Chart, "inverse_dynamics", property(lambda chart: SimpleNamespace(
        learn=lambda other: learnt.append((chart.equations.centre, other.of)),
        of=chart.equations.centre)))
    found = made(1.0)
    found.compile(wait=False)
    assert asked == [(0.0, False), (1.0, False)]
    assert learnt == [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]
    found.compile(wait=True)
    assert asked[2:] == [(0.0, False), (1.0, False), (0.0, True), (1.0, True)]


def test_a_margin_that_is_no_number_is_none():
    chart = Chart(Around(0.0, lambda angle: np.nan), {}, 0, SCHEMES["rk4"], False,
                  SimpleNamespace(support=None))
    assert chart.margin(0.0, np.zeros(2), np.zeros(0)) == 0.0
    assert atlas.POOR == POOR < FAIR < GOOD
