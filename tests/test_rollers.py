"""Rollers and tyres in the meshes of wheels that are made here."""

import numpy as np
import pytest

from nhmech.urdf.describe import describe
from nhmech.urdf.layout import Layout
from nhmech.urdf.text.source import read_source
from nhmech.urdf.wheels.rollers import find_rollers, find_tyre

RADIUS, ROLLER = 0.1, 0.02


def revolve(profile, sides):
    """Vertices (n, 3) and triangles of a profile of (distance, along) turned about y."""
    turns = 2 * np.pi * np.arange(sides) / sides
    points = [(d * np.sin(a), y, d * np.cos(a)) for a in turns for d, y in profile]
    rows = len(profile)
    at = np.arange(sides)[:, None] * rows + np.arange(rows - 1)
    on = (np.arange(sides)[:, None] + 1) % sides * rows + np.arange(rows - 1)
    quads = np.stack([at, on, on + 1, at + 1], axis=-1).reshape(-1, 4)
    return np.array(points), np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def wheel_of_rollers(degrees, count=9):
    """Barrels around a hub; at the bottom each is turned from the axle (y) to forward (x)."""
    angle = np.radians(degrees)
    profile = [(ROLLER * np.cos(t), 0.045 * np.sin(t)) for t in np.linspace(-1.4, 1.4, 7)]
    barrel, faces = revolve(profile, 10)
    turn = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0],
                     [0.0, 0.0, 1.0]])
    turned = barrel @ turn - (0.0, 0.0, RADIUS - ROLLER)
    solids = [revolve([(0.0, -0.03), (0.06, -0.03), (0.06, 0.03), (0.0, 0.03)], 24)]
    for k in range(count):
        c, s = np.cos(2 * np.pi * k / count), np.sin(2 * np.pi * k / count)
        solids.append((turned @ np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]]), faces))
    return join(solids)


def tyre():
    """A tread with grooves, and bolts in the hub."""
    profile = [(0.03, -0.02), (0.08, -0.02), (0.095, -0.02), (0.1, -0.015), (0.1, -0.005),
               (0.097, -0.004), (0.097, 0.004), (0.1, 0.005), (0.1, 0.015), (0.095, 0.02),
               (0.08, 0.02), (0.06, 0.018), (0.05, 0.018), (0.03, 0.02)]
    bolt, faces = revolve([(0.0, -0.02), (0.004, -0.02), (0.004, 0.02)], 6)
    return join([revolve(profile, 36), *((bolt + (0.04 * np.cos(a), 0.0, 0.04 * np.sin(a)), faces)
                                         for a in (0.0, 2.0, 4.0))])


def drum():
    return revolve([(0.0, -0.02), (RADIUS, -0.02), (RADIUS, 0.02), (0.0, 0.02)], 30)


def join(solids):
    points, faces, count = [], [], 0
    for more, triangles in solids:
        points.append(more)
        faces.append(triangles + count)
        count += len(more)
    return np.concatenate(points), np.concatenate(faces)


def write(path, solid):
    points, faces = solid
    path.write_text("".join(f"v {x!r} {y!r} {z!r}\n" for x, y, z in points.tolist())
                    + "".join(f"f {a} {b} {c}\n" for a, b, c in (faces + 1).tolist()))


def layout(folder, solid, axis="0 1 0"):
    write(folder / "wheel.obj", solid)
    return Layout(read_source(f"""<robot name="r"><link name="base"/><link name="wheel"><visual>
      <geometry><mesh filename="file://{folder}/wheel.obj"/></geometry></visual></link>
      <joint name="j" type="continuous"><parent link="base"/><child link="wheel"/>
      <axis xyz="{axis}"/></joint></robot>"""))


@pytest.mark.parametrize("axis", ["0 1 0", "0 -1 0"])
@pytest.mark.parametrize("degrees", [45, -45, 30, 90])
def test_rollers_are_seen_with_their_angle(tmp_path, degrees, axis):
    place = layout(tmp_path, wheel_of_rollers(degrees), axis)
    found = find_rollers(place, place.joints["j"])
    assert found is not None and not found.turn and "9 rollers in the mesh" in found.source
    off = (np.degrees(found.angle) - degrees + 90) % 180 - 90      # a line has no direction
    assert off == pytest.approx(0.0, abs=0.5)
    assert found.is_oblique == (degrees != 90)
    assert find_tyre(place, place.joints["j"]) is None


@pytest.mark.parametrize("solid, name", [(tyre(), "wheel.obj"), (drum(), None)])
def test_a_tyre_is_told_from_a_drum_that_stands_for_any_wheel(tmp_path, solid, name):
    place = layout(tmp_path, solid)
    assert find_rollers(place, place.joints["j"]) is None
    assert find_tyre(place, place.joints["j"]) == name


@pytest.mark.parametrize("solid, kind", [(wheel_of_rollers(45), "mecanum"), (tyre(), "disc"),
                                         (drum(), "mecanum"), (wheel_of_rollers(90), "omni")])
def test_a_mesh_outweighs_friction_that_may_be_left_over(tmp_path, solid, kind):
    write(tmp_path / "wheel.obj", solid)
    wheels = "".join(
        f'<link name="{n}"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" '
        'ixy="0" ixz="0" iyz="0"/></inertial><visual><geometry>'
        f'<mesh filename="file://{tmp_path}/wheel.obj"/></geometry></visual></link>'
        f'<joint name="{n}_joint" type="continuous"><parent link="base"/><child link="{n}"/>'
        f'<origin xyz="{x} {y} 0"/><axis xyz="0 1 0"/></joint>'
        f'<gazebo reference="{n}"><mu1>1</mu1><mu2>0</mu2><fdir1>1 {-1 if x * y > 0 else 1} 0'
        "</fdir1></gazebo>"
        for n, x, y in (("a", 0.3, 0.2), ("b", 0.3, -0.2), ("c", -0.3, 0.2), ("d", -0.3, -0.2)))
    text = ('<robot name="r"><link name="base"><inertial><mass value="9"/><inertia ixx="0.1" '
            f'iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>{wheels}</robot>')
    assert {w.kind for w in describe(text).wheels} == {kind}
