"""What summaries of a vehicle have in them: plain values that agree with each other."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support import shipped

from nhmech.analysis.structure import structure
from nhmech.analysis.summary import geometry_summary, mechanics_summary, mobility_summary

STEERING = [f"{end}_{side}_steering_joint" for end in ("front", "rear")
            for side in ("left", "right")]
WHEELS = [f"{end}_{side}_wheel_joint" for end in ("front", "rear") for side in ("left", "right")]


@pytest.mark.parametrize("name, leaders, followers", [
    ("ackermann_car", {"rear_left_wheel_joint", STEERING[0]}, {STEERING[1]}),
    ("swerve", {STEERING[0], STEERING[2]}, {STEERING[1], STEERING[3]}),
    ("tricycle", set(), set()), ("differential_drive", set(), set())])
def test_leaders_steer_and_followers_are_coupled_to_them(name, leaders, followers):
    found = mechanics_summary(shipped(name))
    assert json.loads(json.dumps(found)) == found
    assert {*found["leaders"]} == leaders and {*found["followers"]} == followers
    assert sorted(found["kept_rows"] + found["dropped_rows"]) == sorted(found["rows"])
    assert len(found["kept_rows"]) + found["nxi"] == found["nv"]
    assert found["speeds"].keys() == dict.fromkeys(shipped(name).frame.names).keys()


def test_what_to_free_is_asked_of_what_skids():
    """All wheels gripping, whether one axle is freed, or the mid-axle model holds both."""
    for skid in (None, ("rear_left_wheel_joint", "rear_right_wheel_joint")):
        found = mobility_summary(shipped("skid_steer", skid=skid) if skid
                                 else shipped("skid_steer"))
        assert found["to_free"] == [WHEELS[:2], WHEELS[2:]]
        assert found["why_locked"].startswith("none, straight only: the axle of")
        assert ("mid-axle model" in found["rotation_centre"]) == (skid is None)
        assert found["class"] == [2, 0] and found["manoeuvrability"] == 2
    plain = mobility_summary(shipped("differential_drive"))
    assert plain["to_free"] == [] and plain["why_locked"] is None
    assert plain["rotation_centre"].startswith("any point of the common axle")


@pytest.mark.parametrize("name", ["differential_drive", "ackermann_car", "skid_steer"])
def test_loads_at_rest_add_up_to_the_weight(name):
    vehicle = shipped(name)
    found = mobility_summary(vehicle)["normals_at_rest"]
    mass = sum(inertia.mass for inertia in vehicle.model.inertias)
    assert found.keys() == dict.fromkeys(vehicle.contact_names).keys()
    assert sum(found.values()) == pytest.approx(9.81 * mass, rel=1e-9)


@pytest.mark.parametrize("name", ["differential_drive", "tricycle"])
def test_the_gap_is_between_all_that_counts_and_all_that_is_rounding(name):
    vehicle = shipped(name)
    summary = geometry_summary(vehicle)
    found = structure(vehicle, vehicle.constrained.configurations[0])
    low, high = summary["gap"]
    assert len(found.growth.kept) > 1 and low > 1e3 * high
    assert low in found.growth.kept and np.all(low <= np.array(found.growth.kept))
    assert high in found.growth.dropped and np.all(high >= np.array(found.growth.dropped))
    assert summary["growth"] == list(found.growth.ranks) and summary["controllable"] is True
    assert summary["growth_here"] == list((found.here or found.growth).ranks)


def test_the_curvature_of_a_train_is_that_of_the_straight_one():
    """Steering on the way turns the car against the first trailer and not this against the next,
    and their wheels on both sides alike."""
    found = {part["of"]: part["value"] for part in geometry_summary(shipped("trailers"))[
        "curvature"]}
    assert found["hitch_1_joint"] == pytest.approx(-found["yaw_rate"], rel=1e-9)
    assert "hitch_2_joint" not in found
    for k in (1, 2):
        assert found[f"trailer_{k}_left_wheel_joint"] == pytest.approx(
            found[f"trailer_{k}_right_wheel_joint"], rel=1e-9)
