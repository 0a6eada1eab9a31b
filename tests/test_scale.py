"""A robot as small as a coin, and one as large as a house, are found, placed and driven as the
robot is: no length is in the rules but those of the robot itself."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from lxml import etree
from support import SHIPPED, joint, link, robot, sampled

import nhmech
from nhmech.analysis import reactions
from nhmech.analysis.mobility import mobility
from nhmech.control import TwistDrive
from nhmech.control.unicycle import barred_twists
from nhmech.errors import NhmechError
from nhmech.urdf.describe import describe

SCALES = [0.01, 30.0]      # of 100, a passenger car's inertia is beyond what a file may say
LENGTHS = {"origin": ("xyz",), "cylinder": ("radius", "length"), "sphere": ("radius",),
           "box": ("size",), "limit": (), "wheel": ("radius", "point", "crown")}


def multiply(element: etree._Element, name: str, factor: float) -> None:
    if element.get(name) is not None:
        element.set(name, " ".join(repr(float(x) * factor) for x in element.get(name).split()))


def scaled(xml: str, k: float, *, keep_tag: bool = True) -> str:
    """All lengths k times as large, masses k^3 times, inertias k^5 times."""
    root = etree.fromstring(xml.encode())
    for element in root.iter("*"):
        for name in LENGTHS.get(element.tag, ()):
            multiply(element, name, k)
    for mass in root.iter("mass"):
        multiply(mass, "value", k ** 3)
    for inertia in root.iter("inertia"):
        for name in inertia.attrib:
            multiply(inertia, name, k ** 5)
    for prismatic in root.iterfind("joint[@type='prismatic']/limit"):
        multiply(prismatic, "lower", k)
        multiply(prismatic, "upper", k)
    if not keep_tag:
        for tag in root.findall("nhmech"):
            root.remove(tag)
    return etree.tostring(root).decode()


def found(xml: str, k: float) -> object:
    """What a file is found to be, lengths in units of k; or why it is refused, without numbers."""
    try:
        description = describe(scaled(xml, k, keep_tag=False))
    except NhmechError as error:
        return "".join(c for c in str(error) if c.isalpha())[:60]
    return [(w.name, w.kind, float(f"{w.radius / k:.9g}")) for w in description.wheels], (
        description.driven, description.steering, sorted(n.kind for n in description.notices))


@pytest.mark.parametrize("k", SCALES)
@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_robots_without_their_tags_are_found_alike(name, k):
    xml = nhmech.urdf_path(name).read_text()
    assert found(xml, k) == found(xml, 1.0)


def cart(off: float, beside: float) -> str:
    """Two wheels of 50 mm on one axle but for `beside`, and a ball `off` above the ground [m]."""
    wheel = ('<collision><origin rpy="1.5707963267948966 0 0"/><geometry><cylinder radius="0.05" '
             'length="0.02"/></geometry></collision>')
    ball = '<collision><geometry><sphere radius="0.02"/></geometry></collision>'
    even = (0.02, 0.03, 0.02)
    return robot(link("base", 5, com=(-0.05, 0, 0.05)), link("left", 1.0, even, body=wheel),
                 link("right", 1.0, even, body=wheel), link("ball", 0.1, body=ball),
                 joint("left_joint", "base", "left", (0, 0.1, 0.05)),
                 joint("right_joint", "base", "right", (beside, -0.1, 0.05)),
                 joint("ball_joint", "base", "ball", (-0.15, 0, 0.02 + off), kind="fixed"))


@pytest.mark.parametrize("k", SCALES)
@pytest.mark.parametrize("off", [0.0, 0.002, 0.006, 0.009, 0.02])
@pytest.mark.parametrize("beside", [0.0, 0.001, 0.004])
def test_what_is_off_by_a_part_of_a_radius_is_judged_by_that_part(off, beside, k):
    xml = cart(off, beside)
    assert found(xml, k) == found(xml, 1.0)


@pytest.mark.parametrize("name, k", sampled(list(product(
    ["differential_drive", "ackermann_car", "mecanum", "swerve"], SCALES)), 3))
def test_scaled_robots_stand_and_drive_alike(name, k):
    """Loads as k^3; a twist (k V, k U, w) gives the paths k times as large."""
    vehicle = nhmech.load(nhmech.urdf_path(name))
    other = nhmech.load(scaled(nhmech.urdf_path(name).read_text(), k))
    assert (mobility(vehicle).type, vehicle.speeds) == (mobility(other).type, other.speeds)
    loads = [np.array([part["normal"] for part in reactions(
        robot, 0.0, robot.configuration(), np.zeros(robot.algebroid.nv),
        np.zeros(len(robot.driven))).components.values()]) for robot in (vehicle, other)]
    np.testing.assert_allclose(loads[1] / k ** 3, loads[0], rtol=1e-9)
    runs = [nhmech.Simulator(robot, TwistDrive(robot, (0.2 * size, 0.0, 0.05)), mode="kinematic",
                             dt=0.01).run(2.0) for robot, size in ((vehicle, 1.0), (other, k))]
    np.testing.assert_allclose(runs[1].q[:, :3] / k, runs[0].q[:, :3], rtol=0, atol=1e-9)
    np.testing.assert_allclose(runs[1].q[:, 3:7], runs[0].q[:, 3:7], rtol=0, atol=1e-9)


@pytest.mark.parametrize("k", [0.001, 100.0])
def test_a_bicycle_of_any_size_is_barred_from_moving_sideways_alone(k):
    """Roll and pitch count as the other rows do, however small the vehicle."""
    small = nhmech.load(scaled(nhmech.urdf_path("bicycle").read_text(), k))
    np.testing.assert_allclose(np.abs(barred_twists(small)), [[0, 1, 0]], rtol=0, atol=1e-9)
