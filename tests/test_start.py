"""The speeds of a start, which must be those of one motion."""

from __future__ import annotations

import numpy as np
import pytest
from support import shipped

from nhmech import InputError, Simulator


@pytest.mark.parametrize("forward, most", [(0.01, 1e-9), (1.0, 1e-9), (1e3, 1e-6)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_speeds_may_contradict_each_other_by_rounding(forward, most, sign):
    """By a billionth of the largest of them, or of 1; here by a carriage's speed to its side."""
    simulator = Simulator(shipped("carriage"))
    speeds = {"forward_speed": forward, "yaw_rate": 0.0, "lateral_speed": 0.9 * sign * most}
    state = simulator.reset(xi=speeds)
    np.testing.assert_allclose([state.xi[name] for name in speeds], [forward, 0, 0], rtol=1e-12,
                               atol=1e-12)
    speeds["lateral_speed"] = 1.1 * sign * most
    with pytest.raises(InputError, match=rf"contradict the constraints by {1.1 * most:.3g}; "
                                         "independent here are left_wheel_joint, right_wheel_j"):
        simulator.reset(xi=speeds)
