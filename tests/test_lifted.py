"""A run in which the ground would have had to pull says so, without a friction coefficient."""

from __future__ import annotations

import numpy as np
import pytest
from support import SHIPPED, command_line, shipped

import nhmech
from nhmech import InputError, JointTorque, Simulator
from nhmech.analysis import run_validity
from nhmech.control.demo import DemoDrive
from nhmech.urdf.notice import NoticeKind

WHEELS = "left_wheel_joint", "right_wheel_joint"


def pushed(effort: float, **options) -> nhmech.Trajectory:
    """A cart with the same effort on both wheels from 0.1 s on."""
    push = JointTorque(dict.fromkeys(WHEELS, effort))
    return Simulator(shipped("differential_drive", **options),
                     lambda t, state: push if t > 0.1 - 1e-9 else None).run(0.3)


def test_a_caster_that_is_pulled_down_is_told():
    run = pushed(6.0)
    notice, = run.notices
    normal = run.force("caster_link", "normal")
    assert notice.kind is NoticeKind.LIFTED and run.stop == "duration"
    assert "from t = 0.1 s (caster_link)" in notice.text
    assert f"caster_link with {-normal.min():.3g} N" in notice.text and normal.min() < -40
    assert pushed(0.1).notices == ()


def test_on_a_ceiling_everything_is():
    notice, = Simulator(shipped("differential_drive", nhmech.Ground((0.0, 0.0, -1.0)))).run(
        0.01).notices
    assert "from t = 0 s" in notice.text and "in 1 of the recorded moments" in notice.text


@pytest.mark.parametrize("name", SHIPPED)
def test_no_demo_is_told_so(name):
    """Four wheels share a load that is not determined; a part that only touches is not pulled."""
    vehicle = shipped(name)
    controller = DemoDrive(vehicle)
    simulator = Simulator(vehicle, controller, control_period=0.01)
    simulator.reset(**controller.start)
    run = simulator.run(1.0, every=10)
    assert run.notices == () and run.events == ()


def test_validity_is_that_of_the_run():
    run = pushed(6.0)
    found, judged = run.validity, run_validity(run, every=1)
    assert found.until == judged.until == pytest.approx(0.099)
    assert np.isclose(found.first(found.states[-1].verdict).t, 0.1)
    kinematic = Simulator(shipped("differential_drive"), mode="kinematic").run(0.01)
    assert kinematic.notices == ()
    with pytest.raises(InputError, match="kinematic"):
        kinematic.validity    # noqa: B018 (a property that raises)


def test_the_summary_leads_with_it(tmp_path):
    control = tmp_path / "hard.py"
    control.write_text("from nhmech import JointTorque\n\n\ndef push(t, state):\n    return "
                       f"JointTorque(dict.fromkeys({WHEELS!r}, 6.0))\n")
    found = command_line("run", "differential_drive", "--duration", 0.1, "--controller",
                         f"{control}:push")
    assert found.stdout.startswith("notice   ideal rolling is not valid where the ground would")
