"""44 published robots, loaded with their meshes and nothing else, against what they are
(`wheels.json` beside them; tests/robot_table.py); where they are not at hand, what holds of any
robot is asked of ours."""

from collections import Counter
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from robot_table import (
    ABSENT,
    FOLDER,
    PACKAGES,
    Verdict,
    command_lines,
    fleet,
    judged,
    published,
    real,
)
from support import command_line

from nhmech.errors import NhmechError
from nhmech.urdf.describe import describe
from nhmech.urdf.tag import format_tag

of_the_44 = pytest.mark.skipif(not published(), reason=ABSENT)

# how many of the 44 at least, and at most; these numbers only get better
RIGHT = 39
WRONG, STUCK = 0, 0

each = pytest.mark.parametrize("name", fleet())


@of_the_44
def test_the_table_has_every_robot():
    files = {str(p.relative_to(FOLDER)) for p in FOLDER.rglob("*.urdf")}
    assert set(published()) == files and len(files) == 44


@of_the_44
def test_most_are_right_and_none_is_wrong():
    found = {file: judged(file) for file in published()}
    count = Counter(result.verdict for result in found.values())
    lines = "\n".join(f"{file}: {r.verdict.value}: {r.why}" for file, r in found.items()
                      if r.verdict in (Verdict.WRONG, Verdict.MISLED, Verdict.STUCK))
    assert count[Verdict.RIGHT] + count[Verdict.NOTICED] >= RIGHT, lines
    assert count[Verdict.WRONG] + count[Verdict.MISLED] <= WRONG, lines
    assert count[Verdict.STUCK] <= STUCK, lines


@of_the_44
@pytest.mark.parametrize("file", published(), ids=lambda file: Path(file).stem)
def test_the_command_line_says_the_same(file):
    """A refusal in the words of the command line, and a line of it that loads there."""
    if judged(file).verdict in (Verdict.RIGHT, Verdict.NOTICED, Verdict.WRONG):
        return
    options = [word for name, folder in PACKAGES.items()
               for word in ("--package", f"{name}={folder}")]
    with pytest.raises(NhmechError) as caught:
        describe(FOLDER / file, packages=PACKAGES)
    refused = command_line("inspect", FOLDER / file, *options)
    assert refused.exit_code == 2 and refused.stderr == f"error: {caught.value.command_line}\n"
    assert "Wheel(" not in refused.stderr and "wheels=" not in refused.stderr
    if judged(file).verdict is not Verdict.CURED:
        return
    lines = list(command_lines(caught.value.remedy))
    assert all(line[0] in refused.stderr for line in lines)
    assert any(command_line("inspect", FOLDER / file, *options, *line).exit_code == 0
               for line in lines)


@each
def test_roles_are_disjoint(name):
    d = real(name).description
    assert d.rolling == tuple(w.joint for w in d.wheels if w.joint)
    moving = {*d.rolling, *d.steering, *d.free}
    assert not moving & set(d.locked) and set(d.driven) <= moving and set(d.limits) == moving
    assert all(np.isfinite(q) for q in d.locked.values())


@each
def test_the_printed_tag_says_the_same(name):
    first = real(name).description
    again = describe(first.xml.replace("</robot>", format_tag(first) + "</robot>"),
                     packages=PACKAGES)
    for a, b in zip(first.wheels, again.wheels, strict=True):
        assert (a.joint, a.kind, a.radius, a.link, a.point, a.roller_angle) == (
            b.joint, b.kind, b.radius, b.link, b.point, b.roller_angle)
        assert (a.axis is None) == (b.axis is None) and (
            a.axis is None or np.allclose(a.axis, b.axis, atol=1e-12))
    assert (first.rolling, first.steering, first.driven, first.locked, first.skid) == (
        again.rolling, again.steering, again.driven, again.locked, again.skid)


@each
def test_axles_are_level(name):
    """As Pinocchio reads the text, every wheel on a joint stands upright."""
    d = real(name).description
    model = pin.buildModelFromXML(d.xml)
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    for wheel in d.wheels:
        if wheel.joint is not None:
            axle = data.oMi[model.getJointId(wheel.joint)].rotation @ np.array(wheel.axis)
            assert abs(axle[2]) < 1e-9, f"{wheel.joint} leans by {axle[2]:.1e} rad"

