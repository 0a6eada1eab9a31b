"""The description of 26 real robots against what they are (tests/robots_table.py)."""

from pathlib import Path

import numpy as np
import pytest
from robots_table import ROBOTS

from nhmech.errors import ModelError
from nhmech.urdf.describe import describe
from nhmech.urdf.tag import format_tag
from nhmech.urdf.wheel import Wheel

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "robots"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(),
                                reason=f"the real robots' URDFs are not in {FOLDER}")


def path(robot) -> Path:
    return FOLDER / f"{robot.file}.urdf"


PACKAGES = {folder.name: folder for folder in (FOLDER / "meshes").glob("*/")}
each = pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: r.file)


def test_the_table_has_every_robot():
    assert sorted(r.file for r in ROBOTS) == sorted(p.stem for p in FOLDER.glob("*.urdf"))
    assert sum(r.refused is None for r in ROBOTS) >= 15


@each
def test_wheels_kinds_and_radii(robot):
    description = describe(path(robot), packages=PACKAGES, **robot.arguments)
    assert {w.name: w.kind for w in description.wheels} == {
        name: kind for name, (kind, _) in robot.wheels.items()
    }
    for wheel in description.wheels:
        assert wheel.radius == pytest.approx(robot.wheels[wheel.name][1], rel=1e-12)
        assert wheel.link and wheel.point is not None and description.reasons[wheel.name]
        assert wheel.axis is None or np.linalg.norm(wheel.axis) == pytest.approx(1, abs=1e-12)


@each
def test_roles(robot):
    description = describe(path(robot), packages=PACKAGES, **robot.arguments)
    assert description.rolling == tuple(w.joint for w in description.wheels if w.joint)
    assert set(description.steering) == set(robot.steering)
    moving = {*description.rolling, *description.steering, *description.free}
    assert (not moving & set(description.locked) and set(description.driven) <= moving
            and set(description.limits) == moving)
    if robot.driven is not None:
        assert set(description.driven) == set(robot.driven)
    assert description.driven
    assert all(np.isfinite(q) for q in description.locked.values())


@each
def test_refusals_say_what_to_do(robot):
    if robot.refused is None:
        describe(path(robot), packages=PACKAGES)
        return
    with pytest.raises(ModelError) as caught:
        describe(path(robot), packages=PACKAGES)
    assert robot.refused in str(caught.value) and ("wheels=[Wheel(" in str(caught.value))


@each
def test_the_line_in_a_refusal_loads(robot):
    """The `wheels=` of the message, typed in as it stands, is accepted wherever the file held the
    numbers."""
    if robot.refused is None:
        return
    with pytest.raises(ModelError) as caught:
        describe(path(robot), packages=PACKAGES)
    line = str(caught.value).split("wheels=", 1)[1]
    # ranger_mini_v3's file does not hold this number
    line = line[: line.index("]") + 1].replace("HEIGHT", "-0.1")
    assert describe(path(robot), packages=PACKAGES, wheels=eval(line, {"Wheel": Wheel})).wheels


@each
def test_the_printed_tag_says_the_same(robot):
    first = describe(path(robot), packages=PACKAGES, **robot.arguments)
    again = describe(first.xml.replace("</robot>", format_tag(first) + "</robot>"),
                     packages=PACKAGES)
    for a, b in zip(first.wheels, again.wheels, strict=True):
        assert (a.joint, a.kind, a.radius, a.link, a.point, a.roller_angle) == (
            b.joint, b.kind, b.radius, b.link, b.point, b.roller_angle)
        assert (a.axis is None) == (b.axis is None) and (
            a.axis is None or np.allclose(a.axis, b.axis, atol=1e-12)
        )
    assert (first.rolling, first.steering, first.driven, first.locked, first.skid) == (
        again.rolling, again.steering, again.driven, again.locked, again.skid)


@each
def test_pinocchio_reads_it_and_axles_are_level(robot):
    pin = pytest.importorskip("pinocchio")
    description = describe(path(robot), packages=PACKAGES, **robot.arguments)
    model = pin.buildModelFromXML(description.xml)
    data = model.createData()
    q = pin.neutral(model)
    pin.forwardKinematics(model, data, q)
    for wheel in description.wheels:
        if wheel.joint is not None:
            axle = data.oMi[model.getJointId(wheel.joint)].rotation @ np.array(wheel.axis)
            assert abs(axle[2]) < 1e-9, f"{wheel.joint} leans by {axle[2]:.1e} rad"
