"""The path trackers on every class of vehicle, held to the table of tracking_table.py.

One lobe of the figure-eight; the whole lap is a soak test. `pytest -s` prints what is measured."""

import pytest
import tracking_table as table

EVERY = [pytest.param(name, real, id=f"{mobility}-{name}")
         for real, classes in ((False, table.CLASSES), (True, table.REAL))
         for mobility, names in classes.items() for name in names]
# every other one of ours, and one of the others; `make soak` has whole laps of all
CHOSEN = {*range(0, 10, 2), 10}
SOME = [case if i in CHOSEN else pytest.param(*case.values, id=case.id, marks=pytest.mark.soak)
        for i, case in enumerate(EVERY)]


def check(rows, laps):
    for row in rows:
        length, rms = table.lap(row, laps)
        print(f"{row.baseline:24} {row.mobility:24} {row.vehicle:20} {row.path} of {length:5.1f} "
              f"m, {laps:g} laps: {1000 * rms:6.2f} mm, bound {1000 * row.bound:.0f}")
        assert rms <= row.bound


@pytest.mark.parametrize("name, real", SOME)
def test_one_lobe(name, real):
    check((row for row in table.TABLE if (row.vehicle, row.real) == (name, real)), 0.5)


@pytest.mark.parametrize("law", [law for law in table.TRACKERS if law != "pure_pursuit"])
def test_what_sampling_adds_is_of_first_order(law):
    """Wheels that do as they are told leave the laws exact but for the control period: half of it,
    half the error. (Pure pursuit cuts corners by itself.)"""
    errors = [table.sampled_lap(law, period) for period in (0.04, 0.02, 0.01)]
    assert errors[0] / errors[1] == pytest.approx(2, abs=0.05)
    assert errors[1] / errors[2] == pytest.approx(2, abs=0.03)
    assert errors[2] < 3e-4


@pytest.mark.soak
@pytest.mark.parametrize("name, real", EVERY)
def test_whole_lap(name, real):
    check((row for row in table.TABLE if (row.vehicle, row.real) == (name, real)), 1.0)


@pytest.mark.parametrize("name, real", SOME)
def test_driving_up_to_a_pose(name, real):
    row = next(row for row in table.GOALS if (row.vehicle, row.real) == (name, real))
    distance, heading = table.arrival(row)
    print(f"{row.baseline:24} {row.mobility:24} {name:20} {row.path}: {1000 * distance:.2f} mm, "
          f"{1000 * heading:.3f} mrad, bounds {1000 * row.bound:.0f}, {1000 * table.GOAL[1]:.0f}")
    assert distance <= row.bound and heading <= table.GOAL[1]

