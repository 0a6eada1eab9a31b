"""The shapes of a robot: missing and broken meshes never stop a load, and what replaces them is
right."""

from pathlib import Path

import coal
import numpy as np
import own_robots
import pinocchio as pin
import pytest
from meshes import write_dae

from nhmech.urdf.description import Description
from nhmech.urdf.wheel import Wheel
from nhmech.vehicle.geometry import THINNEST, find_mesh_file, inertia_box, load_geometry
from nhmech.view.shapes import convert

ROBOTS = Path(__file__).resolve().parents[2] / "shared" / "robots"
FACET = (
    "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
)
TRIANGLE = f"solid a\n{2 * FACET}endsolid a\n"


def robot(base: str, wheel: str = "") -> str:
    inertial = ('<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" '
                'iyz="0"/></inertial>')
    joint = ('<joint name="spin" type="continuous"><parent link="base"/><child link="wheel"/>'
             '<origin xyz="0.2 0 0"/><axis xyz="0 1 0"/></joint>')
    links = f'<link name="base">{inertial}{base}</link><link name="wheel">{inertial}{wheel}</link>'
    return f'<robot name="r">{links}{joint}</robot>'


def shapes(xml: str, path=None, wheels=()):
    model = pin.buildModelFromXML(xml, pin.JointModelFreeFlyer())
    description = Description(xml=xml, name="r", root="base", wheels=wheels, rolling=(), path=path)
    found = load_geometry(description, model)
    by_link, stand_ins = {}, set()
    for shape in found.visual.geometryObjects:
        link = model.frames[shape.parentFrame].name
        by_link.setdefault(link, []).append(shape.geometry)
        if shape.name in found.stand_ins:
            stand_ins.add(link)
    return by_link, found.collision, stand_ins


def mesh(name: str, tag: str = "visual") -> str:
    return f'<{tag}><geometry><mesh filename="{name}"/></geometry></{tag}>'


CYLINDER = ('<collision><origin rpy="1.5708 0 0"/>'
            '<geometry><cylinder radius="0.1" length="0.05"/></geometry></collision>')


def test_missing_mesh_is_drawn_by_the_collision_shape():
    visual, collision, stand_ins = shapes(robot("", mesh("package://nowhere/w.dae")
                                              + mesh("w.dae", "collision") + CYLINDER))
    assert isinstance(visual["wheel"][0], coal.Cylinder) and visual["wheel"][0].radius == 0.1
    assert isinstance(visual["wheel"][1], coal.Box)  # the bar that shows the rolling
    assert collision.ngeoms == 1
    assert stand_ins == {"wheel"}


def test_missing_mesh_without_collision_gets_a_stand_in():
    wheel = Wheel("spin", radius=0.15, axis=(0.0, 1.0, 0.0), link="wheel", point=(0.0, 0.0, 0.0))
    xml = robot(mesh("b.stl"), mesh("w.stl"))
    visual, _, stand_ins = shapes(xml, wheels=(wheel,))
    assert visual["wheel"][0].radius == 0.15
    assert isinstance(visual["base"][0], coal.Box)
    assert stand_ins == {"base", "wheel"}
    model = pin.buildModelFromXML(xml, pin.JointModelFreeFlyer())
    shown = load_geometry(Description(xml=xml, name="r", root="base", wheels=(wheel,),
                                      rolling=()), model).visual
    axle = next(s.placement.rotation[:, 2] for s in shown.geometryObjects
                if isinstance(s.geometry, coal.Cylinder))
    np.testing.assert_allclose(np.abs(axle), [0, 1, 0], rtol=0, atol=1e-12)


def test_links_without_visual_show_their_collision_shapes():
    visual, _, stand_ins = shapes(robot("", CYLINDER))
    assert isinstance(visual["wheel"][0], coal.Cylinder)
    assert not stand_ins


@pytest.mark.parametrize("name, content", [
    ("junk.stl", b"junk"), ("empty.stl", b""),
    ("short.stl", b"\0" * 80 + b"\xff\xff\xff\x7f" + b"\0" * 50),
    ("junk.dae", b"<COLLADA>"), ("junk.obj", b"v 1 2\nf 9 9 9\n"), ("picture.png", b"\x89PNG"),
])
def test_unreadable_meshes_never_crash(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    visual, _, stand_ins = shapes(robot(mesh(name) + mesh(name, "collision")),
                                  path=tmp_path / "r.urdf")
    assert isinstance(visual["base"][0], coal.Box)
    assert stand_ins == {"base"}


@pytest.mark.parametrize("broken", ["<visual/>", "<visual><geometry/></visual>",
                                    '<visual><geometry><capsule radius="1" '
                                    'length="1"/></geometry></visual>'])
def test_shapes_that_urdfdom_cannot_parse_do_not_hide_the_others(broken):
    good = '<visual><geometry><sphere radius="0.3"/></geometry></visual>'
    visual, _, _ = shapes(robot(good + broken))
    assert [type(shape) for shape in visual["base"]] == [coal.Sphere]


def test_meshes_are_found_without_ros(tmp_path, monkeypatch):
    def made(*parts):
        path = tmp_path.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TRIANGLE)
        return path

    urdf = tmp_path / "ws" / "bot_description" / "urdf" / "bot.urdf"

    def found(name, **packages):
        return find_mesh_file(name, Description(xml="", name="r", root="", wheels=(), rolling=(),
                                                path=urdf, packages=packages))

    urdf.parent.mkdir(parents=True)
    beside = made("ws", "bot_description", "meshes", "a.stl")
    sibling = made("ws", "parts", "b.stl")
    ament = made("install", "share", "arm", "c.stl")
    ros1 = made("ros", "leg", "d.stl")
    given = made("else", "e.stl")
    assert found("package://bot_description/meshes/a.stl") == beside
    assert found("package://parts/b.stl") == sibling
    assert found("../meshes/a.stl").resolve() == beside
    assert found(f"file://{sibling}") == sibling
    assert found("package://arm/c.stl") is None
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "install"))
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ros"))
    assert found("package://arm/c.stl") == ament
    assert found("package://leg/d.stl") == ros1
    assert found("package://other/e.stl", other=tmp_path / "else") == given
    visual, _, stand_ins = shapes(robot(mesh("package://parts/b.stl")), path=urdf)
    assert isinstance(visual["base"][0], coal.BVHModelBase) and not stand_ins


def test_the_box_of_a_missing_shape_has_mass_and_inertia_of_its_link():
    sides, mass, turn = np.array([0.4, 0.3, 0.1]), 6.0, pin.rpy.rpyToMatrix(0.3, -0.5, 1.1)
    squares = sides**2
    moments = mass / 12 * (squares.sum() - squares)
    I = turn @ np.diag(moments) @ turn.T
    inertial = (f'<inertial><origin xyz="0.1 0.2 0.3"/><mass value="{mass}"/><inertia '
                + " ".join(f'i{"xyz"[a]}{"xyz"[b]}="{I[a, b]:.15g}"'
                           for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
                + "/></inertial>")
    xml = f'<robot name="r"><link name="base">{inertial}{mesh("gone.stl")}</link></robot>'
    model = pin.buildModelFromXML(xml, pin.JointModelFreeFlyer())
    box, = load_geometry(Description(xml=xml, name="r", root="base", wheels=(), rolling=()),
                         model).visual.geometryObjects
    R, half = box.placement.rotation, box.geometry.halfSide
    np.testing.assert_allclose(box.placement.translation, [0.1, 0.2, 0.3], rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(R), 1.0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.sort(2 * half), np.sort(sides), rtol=1e-9)
    np.testing.assert_allclose(R @ np.diag(mass / 3 * (np.sum(half**2) - half**2)) @ R.T, I,
                               rtol=0, atol=1e-9)


def test_a_wrong_inertia_makes_no_box_larger_than_the_robot():
    """One larger than the robot, or one so light that no machine is: 1 kg of 100 kg/m^3."""
    heavy = robot(mesh("gone.stl")).replace('mass value="1"', 'mass value="1000"')
    visual, _, _ = shapes(heavy.replace('ixx="1"', 'ixx="9000"').replace('iyy="1"', 'iyy="9000"'))
    assert 2 * visual["base"][0].halfSide.max() == pytest.approx(0.2, rel=1e-12,
                                                                 abs=0)   # from joint to joint
    visual, _, _ = shapes(robot(mesh("gone.stl")).replace('xyz="0.2 0 0"', 'xyz="3 0 0"'))
    assert np.prod(2 * visual["base"][0].halfSide) == pytest.approx(0.01, rel=1e-11, abs=0)


def test_a_mesh_in_inches_is_drawn_in_metres(tmp_path):
    write_dae(tmp_path / "a.dae", unit=0.0254)
    model = pin.buildModelFromXML(robot(""), pin.JointModelFreeFlyer())
    found = load_geometry(Description(xml=robot(mesh("a.dae")), name="r", root="base", wheels=(),
                                      rolling=(), path=tmp_path / "r.urdf"), model)
    drawn, = found.visual.geometryObjects
    np.testing.assert_allclose(np.max(drawn.geometry.vertices()), 0.0254, rtol=1e-12)


@pytest.mark.parametrize("urdf", [*sorted(ROBOTS.glob("*.urdf")), *own_robots.DESIGNS],
                         ids=lambda robot: getattr(robot, "stem", robot))
def test_every_robot_has_shapes(urdf):
    """Published ones, where they are at hand, and ours."""
    path = urdf if isinstance(urdf, Path) else None
    xml = own_robots.text(urdf) if path is None else path.read_text()
    model = pin.buildModelFromXML(xml, pin.JointModelFreeFlyer())
    visual = load_geometry(Description(xml=xml, name="robot", root="", wheels=(),
                                       rolling=(), path=path), model).visual
    assert visual.ngeoms >= 4
    assert all(convert(shape.geometry) for shape in visual.geometryObjects)


@pytest.mark.parametrize("shape, extent", [
    (coal.Box(1.0, 2.0, 3.0), [1, 2, 3]), (coal.Sphere(0.5), [1, 1, 1]),
    (coal.Cylinder(0.5, 3.0), [1, 1, 3]),
    (coal.Cone(0.5, 3.0), [1, 1, 3]), (coal.Capsule(0.5, 2.0), [1, 1, 3]),
    (coal.Ellipsoid(1.0, 2.0, 3.0), [2, 4, 6]),
])
def test_shapes_keep_size_and_axis(shape, extent):
    corners = []
    for geometry, pose in convert(shape):
        if geometry["type"] == "BoxGeometry":
            half = np.array([geometry[k] for k in ("width", "height", "depth")]) / 2
        elif geometry["type"] == "SphereGeometry":
            half = np.full(3, geometry["radius"])
        else:
            radius = max(geometry["radiusTop"], geometry["radiusBottom"])
            half = np.array([radius, geometry["height"] / 2, radius])  # three.js: along y
        for sign in (1, -1):
            corners.append(sign * np.abs(pose[:3, :3]) @ half + pose[:3, 3])
    np.testing.assert_allclose(np.ptp(corners, axis=0), extent, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("sides", [(0.3, 0.5, 0.2), (1.0, 2.0, 0.0)])
def test_the_box_of_an_inertia(sides):
    """I = m/12 (b^2 + c^2) and so on, turned by R, has that box again; a plate gets a thickness
    that shows."""
    a, b, c = sides
    R = pin.exp3(np.array([0.4, -0.7, 1.2])) if c else np.eye(3)
    moments = 12.0 / 12 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    found, axes = inertia_box(pin.Inertia(12.0, np.zeros(3), R @ np.diag(moments) @ R.T), 10.0)
    order = np.argsort(np.abs(R.T @ axes).argmax(axis=0))
    np.testing.assert_allclose(found[order], np.maximum(sides, THINNEST * max(sides)), rtol=1e-9)
    np.testing.assert_allclose(np.abs(R.T @ axes)[:, order], np.eye(3), rtol=0, atol=1e-9)
    assert np.linalg.det(axes) == pytest.approx(1.0, rel=1e-12)
