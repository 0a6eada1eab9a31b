"""The published robots drive: five seconds of the demo controller and a figure-eight
(tests/robot_runs.py). `pytest -s` prints what is measured."""

from pathlib import Path

import pytest
from robot_runs import demo, figure_eight
from robot_table import ABSENT, judged, published
from support import sampled
from tracking_table import LATERAL

pytestmark = pytest.mark.skipif(not published(), reason=ABSENT)


def loaded(file):
    vehicle = judged(file).vehicle
    if vehicle is None:
        pytest.skip(f"{file}: {judged(file).verdict.value}")
    return vehicle


@pytest.mark.parametrize("file", sampled(published(), 6))
def test_the_demo_controller_drives_it(file):
    run = demo(loaded(file), 2.0)
    print(f"{Path(file).stem}: {run}")
    assert run.seconds == pytest.approx(2.0) and run.distance > 0.02
    assert 0 < run.energy < run.plausible
    assert run.height <= 1e-11 and run.slip <= 1e-11


@pytest.mark.soak
@pytest.mark.parametrize("file", published())
def test_the_demo_controller_drives_it_for_five_seconds(file):
    run = demo(loaded(file))
    print(f"{Path(file).stem}: {run}")
    assert run.seconds == pytest.approx(5.0) and run.distance > 0.1
    assert 0 < run.energy < run.plausible
    assert run.height <= 1e-11 and run.slip <= 1e-11


@pytest.mark.parametrize("file", sampled(published(), 4))
def test_it_follows_a_figure_eight(file):
    rms = figure_eight(loaded(file))
    if rms is None:
        pytest.skip(f"{file}: balances")
    print(f"{Path(file).stem}: {1000 * rms:.2f} mm")
    assert rms <= LATERAL
