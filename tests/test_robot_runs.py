"""The published robots drive, or ours where they are not at hand: five seconds of the demo
controller and a figure-eight (tests/robot_runs.py). `pytest -s` prints what is measured."""

import pytest
from robot_runs import demo, figure_eight
from robot_table import fleet, real
from support import sampled
from tracking_table import LATERAL


@pytest.mark.parametrize("name", sampled(fleet(), 3))
def test_the_demo_controller_drives_it(name):
    run = demo(real(name), 2.0)
    print(f"{name}: {run}")
    assert run.seconds == pytest.approx(2.0) and run.distance > 0.02
    assert 0 < run.energy < run.plausible
    assert run.height <= 1e-11 and run.slip <= 1e-11


@pytest.mark.soak
@pytest.mark.parametrize("name", fleet())
def test_the_demo_controller_drives_it_for_five_seconds(name):
    run = demo(real(name))
    print(f"{name}: {run}")
    assert run.seconds == pytest.approx(5.0) and run.distance > 0.1
    assert 0 < run.energy < run.plausible
    assert run.height <= 1e-11 and run.slip <= 1e-11


@pytest.mark.parametrize("name", sampled(fleet(), 3))
def test_it_follows_a_figure_eight(name):
    rms = figure_eight(real(name))
    if rms is None:
        pytest.skip(f"{name}: balances")
    print(f"{name}: {1000 * rms:.2f} mm")
    assert rms <= LATERAL
