"""Residuals of the constraints along runs that violate them by known amounts, and the summary of a
run that says so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import shipped
from test_herglotz import knife_edge

import nhmech
from nhmech import InputError
from nhmech.analysis import run_summary, run_validity
from nhmech.analysis.residuals import residuals
from nhmech.analysis.tyre_slip import tyre_slip
from nhmech.compile.pointwise import Pointwise
from nhmech.mechanics.algebroid import euclidean
from nhmech.mechanics.writing import constrain, lagrangian_system
from nhmech.simulation import Phase
from nhmech.simulation.contact.contact_columns import ContactColumns
from nhmech.simulation.state import planar_pose
from nhmech.systems import load_system

DIFF = "differential_drive"


@pytest.fixture(scope="module")
def run():
    """A robot that turns to the left ever faster."""
    vehicle = shipped(DIFF)
    simulator = nhmech.Simulator(vehicle, lambda t, state: np.array([0.1, 0.3]), dt=1e-3)
    simulator.reset((0.4, -0.3, 0.0, 0.0, 0.0, 0.5), xi={"forward_speed": 0.1, "yaw_rate": 0.2})
    return simulator.run(0.7)


def changed(run, name, k, values):
    """The run with other numbers at one moment."""
    array = getattr(run, name).copy()
    array[k] = values
    return replace(run, **{name: array})


@pytest.mark.parametrize("k", [0, 1, -1])
@pytest.mark.parametrize("speed", [0.0, 0.3, 5.0])
def test_a_wheel_that_slides_sideways_is_the_largest_residual(run, k, speed):
    """Two wheels slide by 0.01 m/s; it counts relative to speeds above one."""
    v = np.zeros(run.v.shape[1])
    names = run.simulated.vehicle.algebroid.v_names
    v[names.index("forward_speed")], v[names.index("lateral_speed")] = speed, 0.01
    for side in ("left", "right"):
        v[names.index(f"{side}_wheel_joint")] = speed / 0.1
    short = replace(run, **{name: getattr(run, name)[:40] for name in ("t", "q", "v", "xi", "u",
                                                                       "angles")})
    slip, height = residuals(changed(short, "v", k, v))
    assert slip == pytest.approx(0.01 * np.sqrt(2) / max(1.0, np.linalg.norm(v)), rel=1e-9)
    assert height < 1e-12 and max(residuals(short)) < 1e-12


@pytest.mark.parametrize("k", [0, -1])
@pytest.mark.parametrize("rise", [0.002, -0.003])
def test_a_vehicle_above_or_below_the_ground_is_off_by_its_height(run, k, rise):
    q = run.q[k].copy()
    q[2] += rise
    assert residuals(changed(run, "q", k, q))[1] == pytest.approx(abs(rise), rel=1e-9)


def test_constraints_are_looked_at_five_hundred_times_at_most(run, monkeypatch):
    """Evenly spread, with the first and the last moment."""
    seen, evaluate = [], Pointwise.__call__
    monkeypatch.setattr(Pointwise, "__call__",
                        lambda self, t, *rest: seen.append(t[:, 0]) or evaluate(self, t, *rest))
    residuals(run)
    (t,) = seen
    assert len(run) == 701 and len(t) == 500 and t[0] == run.t[0] and t[-1] == run.t[-1]
    assert np.diff(t).max() < 2.5e-3


def sliding(run, moments):
    """The run as one with friction in which wheels slide at some moments."""
    columns = ContactColumns.of(run.simulated.vehicle)
    contact = np.zeros((len(run), len(columns)))
    contact[np.setdiff1d(np.arange(len(run)), moments), :len(columns.forces)] = np.nan
    return replace(run, contact=contact, names=run.names | {"contact": columns.columns})


def test_moments_at_which_wheels_slide_are_left_out(run):
    skew = changed(run, "v", [3, 8], np.arange(8.0))
    assert residuals(skew)[0] > 0.1 and residuals(sliding(skew, [3]))[0] > 0.1
    assert residuals(sliding(skew, [3, 8]))[0] < 1e-12
    assert residuals(sliding(skew, range(len(run)))) == (0.0, 0.0)
    judged = run_validity(sliding(run, [0, 8, 700]), 0.7, every=4)
    assert judged.states.t == pytest.approx([t for k, t in enumerate(run.t) if k % 4 == 0
                                             and k not in (0, 8, 700)], rel=1e-14, abs=0)
    with pytest.raises(InputError, match="no wheel rolls at any of the checked times"):
        run_validity(sliding(run, range(len(run))), 0.7)
    # the last state is judged, and the first one after an event
    events = replace(run, events=((0.0105, "lift-off"), (0.0305, "something else")))
    assert [*run_validity(events, 0.7, every=300).states.t] == pytest.approx(
        [0.0, 0.011, 0.3, 0.6, 0.7], rel=1e-9)


@pytest.mark.parametrize("make", [
    lambda: (shipped(DIFF, nhmech.Ground(velocity=(0.3, -0.2, 0), angular_velocity=(0, 0, 0.4))),
             None), lambda: (knife_edge(), np.array([0.3, 0.2, 0.5, 0.1]))],
    ids=["ground that moves", "rows that are not linear"])
def test_rows_have_all_their_parts(make):
    """A v + b + flow, of which b is the ground's and flow that of an action."""
    system, q = make()
    simulator = nhmech.Simulator(system, dt=1e-3)
    simulator.reset(xi=[0.4, 0.7]) if q is None else simulator.reset(q=q, xi=[0.4, 0.7])
    made = simulator.run(0.05)
    assert np.abs(made.v).max() > 0.3 and residuals(made)[0] < 1e-11


def test_another_system_may_be_asked(run):
    """The residual of a run by the constraints of a robot with a wider track."""
    own = residuals(run)
    assert residuals(run, run.simulated) == own
    wide = shipped(DIFF).with_parameters({"left_wheel_joint.radius": 0.09})
    other = nhmech.Simulator(wide).run(0.01).simulated
    assert residuals(run, other)[0] > 1e-3 > own[0]


def along(system, q, duration):
    simulator = nhmech.Simulator(system, dt=0.01)
    simulator.reset(q=q)
    return simulator.run(duration)


# -- summaries -------------------------------------------------------------------------------------
def test_the_summary_of_a_vehicles_run_begins_and_ends_with_its_pose(run):
    found = run_summary(run)
    assert found["name"] == DIFF and found["t"] == [run.t[0], run.t[-1]]
    assert found["states"] == len(run) == 701 and found["stop"] == "duration"
    for name, k in (("start", 0), ("end", -1)):
        pose = planar_pose(run.q[k])
        assert [found[name][axis] for axis in ("x", "y", "yaw")] == [*map(float, pose)]
        assert {column: found[name][column] for column in run.columns()} == {
            column: values.values[k] for column, values in run.columns().items()}
    assert (found["start"]["x"], found["start"]["yaw"]) == pytest.approx((0.4, 0.5), rel=1e-12,
                                                                         abs=0)
    assert found["end"]["yaw"] > 0.6 and "phases" not in found
    assert found["residuals"] == dict(zip(("rows", "heights"), residuals(run)))


def test_the_summary_of_a_run_with_friction_has_what_slid_until_its_end(run):
    slides = sliding(run, range(100, 300))
    columns, contact = slides.names["contact"], slides.contact.copy()
    wheels = run.simulated.vehicle.contact_names
    for what, slope in (("slid", 0.1), ("lost", 3.0)):
        for i, wheel in enumerate(wheels, 1):
            contact[:, columns.index(f"{what}.{wheel}")] = i * slope * run.t
            contact[100:300, columns.index(f"phase.{wheel}")] = Phase.SLIDING
    found = run_summary(replace(slides, contact=contact))
    assert [*found["slid"].values()] == pytest.approx([0.07, 0.14, 0.21], rel=1e-12, abs=0)
    assert [*found["friction_loss"].values()] == pytest.approx([2.1, 4.2, 6.3], rel=1e-12)
    assert found["slid"].keys() == found["friction_loss"].keys() == dict.fromkeys(wheels).keys()
    assert [{*span["wheels"].values()} for span in found["phases"]] == [
        {"rolling"}, {"sliding"}, {"rolling"}]
    assert found["phases"][1]["start"] == pytest.approx(0.1, abs=1.1e-3)


def test_the_summary_of_what_is_no_vehicle_has_its_columns():
    """Under the name of the textbook system, or under none."""
    for system, name, n in ((load_system("sled"), "sled", 3), (constrain(lagrangian_system(
            euclidean("x"), lambda s: s.v.x ** 2 / 2)), None, 1)):
        made = along(system, np.zeros(n), 0.05)
        found = run_summary(made)
        assert found["name"] == name and found["states"] == 6
        assert found["start"].keys() == found["end"].keys() == made.columns().keys()
        assert found["end"]["t"] == pytest.approx(0.05, rel=1e-12, abs=0)
        assert found["start"]["t"] == 0.0


def test_only_a_run_on_tyres_has_slip(run):
    for other in (run, along(load_system("sled"), np.zeros(3), 0.01)):
        with pytest.raises(InputError, match="tyre_slip: no wheel of this run has a tyre; load"):
            tyre_slip(other)
