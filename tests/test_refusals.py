"""What a stranger reads whose robot is refused, and whether the line to paste helps."""

import re

import numpy as np
import pytest
from robot_table import python_lines
from support import joint, link, robot

import nhmech
from nhmech.analysis.mobility import mobility
from nhmech.errors import ModelError, Remedy
from nhmech.urdf.describe import describe
from nhmech.vehicle.model import joint_axis

LYING = ('<collision><origin xyz="{xyz}" rpy="1.5707963267948966 0 0"/><geometry>'
         '<cylinder radius="0.1" length="0.05"/></geometry></collision>')
STANDING = LYING.format(xyz="0 0 0").replace("1.5707963267948966", "0")
LOST = '<visual><geometry><mesh filename="package://lost/{name}.stl"/></geometry></visual>'


def refusal(text: str) -> ModelError:
    with pytest.raises(ModelError) as caught:
        describe(text)
    return caught.value


def pasted(error: ModelError, **words: float) -> list[dict]:
    """The keywords that the error offers, with numbers in the place of its blanks."""
    text = error.remedy.python
    for word, number in words.items():
        text = text.replace(word, repr(number))
    return [line for line in python_lines(Remedy(text, "")) if "packages" not in line]


def three(rollers: int = 0) -> str:
    """Three wheels about the middle, of which no mesh is there, with so many rollers each."""
    parts = [link("base", 5, com=(0, 0, 0.05))]
    for i, angle in enumerate((0.0, 2.0944, 4.1888)):
        c, s = np.cos(angle), np.sin(angle)
        parts += [link(f"rim_{i}", 0.2, body=LOST.format(name="rim")),
                  joint(f"rim_{i}_joint", "base", f"rim_{i}", (0.2 * c, 0.2 * s, 0.05),
                        axis=(c, s, 0))]
        for k in range(rollers):
            turn = 2 * np.pi * k / rollers
            out = np.cos(turn) * np.array([-s, c, 0]) + np.sin(turn) * np.array([0, 0, 1])
            along = np.cross(out, (c, s, 0))
            parts += [link(f"roller_{i}_{k}", 0.01, body=LOST.format(name="roller")),
                      joint(f"roller_{i}_{k}_joint", f"rim_{i}", f"roller_{i}_{k}", 0.04 * out,
                            axis=along)]
    return robot(*parts)


@pytest.mark.parametrize("rollers", [0, 8])
def test_wheels_about_a_middle_are_offered_as_omni_wheels(rollers):
    error = refusal(three(rollers))
    [line] = pasted(error, RADIUS=0.05)
    assert [w.kind for w in line["wheels"]] == ["omni"] * 3
    assert mobility(nhmech.load(three(rollers), **line)).type == (3, 0)


def test_a_half_of_which_no_mesh_is_there_is_no_balancing_vehicle():
    """The rear half of a vehicle that bends: its wheels may be drawn in missing meshes."""
    text = robot(
        link("front", 10, com=(0.1, 0, 0)), link("left", body=LYING.format(xyz="0 0 0")),
        link("right", body=LYING.format(xyz="0 0 0")), link("rear", 10, com=(-0.5, 0, 0)),
        link("rear_wheels", body=LOST.format(name="wheels").replace("visual", "collision")),
        joint("left_joint", "front", "left", (0, 0.2, 0)),
        joint("right_joint", "front", "right", (0, -0.2, 0)),
        joint("bend", "front", "rear", (-0.4, 0, 0), axis=(0, 0, 1), kind="revolute",
              more='<limit lower="-0.7" upper="0.7" effort="9" velocity="9"/>'),
        joint("rear_joint", "rear", "rear_wheels", (-0.4, 0, 0), kind="fixed"))
    error = refusal(text)
    assert "would tip over" in error.text and "rear_wheels" in error.text
    assert error.remedy.python.startswith("Say where the meshes are: packages={'lost': ")


@pytest.mark.parametrize("own_links", [True, False])
def test_wheels_that_are_only_drawn_are_named(own_links):
    places = [(x, y, 0.1) for x in (0, 0.5) for y in (0.3, -0.3)]
    if own_links:
        text = robot(link("base", 10), *(
            link(f"tyre_{i}", body=LYING.format(xyz="0 0 0"))
            + joint(f"tyre_{i}_joint", "base", f"tyre_{i}", xyz, kind="fixed")
            for i, xyz in enumerate(places)))
    else:
        text = robot(link("base", 10, body="".join(
            LYING.format(xyz="{} {} {}".format(*xyz)) for xyz in places)))
    error = refusal(text)
    links = "tyre_0, tyre_1, tyre_2, tyre_3" if own_links else "base"
    assert (f"4 cylinders of {links} that lie on one plane look like wheels, but no joint lets "
            "them roll") in error.text
    if own_links:
        assert "make their joints continuous, with " in error.text
        cured = text.replace('type="fixed"', 'type="continuous"')
        assert [w.radius for w in describe(cured).wheels] == [0.1] * 4
    else:
        assert "give each a link of its own, on a continuous joint" in error.text


def test_the_axes_that_drawn_wheels_are_given_roll_them_ahead():
    """Whichever way their frames are turned, and with angles that people rounded."""
    text = robot(link("base", 10), *(
        link(f"tyre_{i}", body=STANDING)
        + joint(f"tyre_{i}_joint", "base", f"tyre_{i}", (0.5 * (i // 2), 0.3 - 0.6 * (i % 2), 0.1),
                (turn, 0, 0), kind="fixed")
        for i, turn in enumerate((1.57, -1.57, 1.57, 1.57))))
    said = re.findall(r'(<axis xyz="[-01 ]+"/>) for ([\w, ]+)', refusal(text).text)
    given = {name: axis for axis, names in said for name in re.findall(r"\w+", names)}
    axes = [given[f"tyre_{i}"] for i in range(4)]
    cured = re.sub('<axis xyz="[^"]*"/>', lambda _: axes.pop(0),
                   text.replace('type="fixed"', 'type="continuous"'))
    model = nhmech.load(cured).model
    np.testing.assert_allclose(
        [model.jointPlacements[j].rotation @ joint_axis(model, j) for j in range(2, 6)],
        [(0, 1, 0)] * 4, rtol=0, atol=1e-14)
