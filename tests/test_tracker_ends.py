"""Where trackers measure: what of the way is left by the clock, and the axle that follows the path.
"""

from __future__ import annotations

import pytest
from support import shipped

from nhmech import Simulator
from nhmech.control.kanayama import Kanayama
from nhmech.control.path_library import line
from nhmech.control.stanley import Stanley
from nhmech.control.unicycle import unicycle
from nhmech.simulation.inverse_dynamics import POSITION_TIME, VELOCITY_TIME


def test_by_the_clock_what_is_left_falls_at_the_speed_to_nothing():
    """Wherever the vehicle is, from the call with which the run begins."""
    vehicle = shipped("differential_drive")
    law = Kanayama(vehicle, line(3.0), speed=0.5)
    law(1.0, Simulator(vehicle).reset(**law.start))
    left = [law.remaining(t, (9.0, 9.0, 1.0), 0.7) for t in (1.0, 3.0, 4.0, 100.0)]
    assert left == pytest.approx([3.0, 2.0, 1.5, 0.0], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name, lag", [("tricycle", 2 * POSITION_TIME),
                                       ("differential_drive", VELOCITY_TIME)])
def test_the_unit_of_a_tracker_is_the_length_and_twice_the_way_in_its_lag(name, lag):
    """The mean delay of the servo that turns the vehicle: of a steering angle, critically damped,
    twice its time constant; of a wheel's rate its time constant."""
    vehicle = shipped(name)
    law = Stanley(vehicle, line(3.0), speed=0.7)
    assert law.lag == lag
    assert law.unit == pytest.approx(unicycle(vehicle).length + 2 * 0.7 * lag, rel=1e-14, abs=0)


@pytest.mark.parametrize("name", ["tricycle", "ackermann_car", "differential_drive"])
def test_the_axle_that_steers_follows_the_path(name):
    """As far ahead as the steered wheels stand; without any, a unit of the vehicle ahead."""
    vehicle = shipped(name)
    law = Stanley(vehicle, line(3.0))
    steered = vehicle.steering.steered
    if not steered:
        assert law.ahead == law.unit
        return
    ahead = steered[0].straight[2] - vehicle.steering.fixed[0].straight[2]
    assert law.ahead == pytest.approx(ahead * vehicle.steering.length, rel=1e-9)
    assert abs(law.ahead / law.unit - 1) > 1e-3 or name == "ackermann_car"
