"""26 real robots, loaded and driven: mobility as tests/robots_table.py has it,
every row of the constraints kept along a run."""

from pathlib import Path

import numpy as np
import pytest
from robots_table import ROBOTS

import nhmech
from nhmech.control.twist import TwistDrive

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "robots"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(),
                                reason=f"the real robots' URDFs are not in {FOLDER}")


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: r.file)
def test_mobility_and_rolling(robot):
    vehicle = nhmech.load(FOLDER / f"{robot.file}.urdf", **robot.arguments)
    assert len(vehicle.speeds) == robot.nxi
    if any(contact.mount.wheel.joint in vehicle.driven for contact in vehicle.contacts):
        speed = vehicle.steering.length
        drive = TwistDrive(vehicle, (speed, 0.0, 0.3))
    else:                                                    # blades only: it is pushed
        drive = None
    simulator = nhmech.Simulator(vehicle, drive, dt=2e-3, control_period=0.01)
    simulator.reset(xi=None if drive else {"forward_speed": 0.5})
    trajectory = simulator.run(1.0, every=25)
    for t, q, v in zip(trajectory.t, trajectory.q, trajectory.v):
        rates, phi = vehicle.constraint_error(t, q, v)
        assert np.abs(rates).max() <= 1e-12 * max(1.0, np.linalg.norm(v))
        assert np.abs(phi).max() <= 1e-12 * max(1.0, np.abs(q[:3]).max())
    assert np.linalg.norm(trajectory.q[-1, :2] - trajectory.q[0, :2]) > 0.1 * (
        speed if drive else 0.5
    )
