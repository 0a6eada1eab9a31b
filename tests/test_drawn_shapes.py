"""What is drawn of each link, and in which colour: the file's own shapes, what replaces those that
are missing, and nothing that hides the others."""

from __future__ import annotations

from types import SimpleNamespace

import coal
import numpy as np
import pinocchio as pin
import pytest
from meshes import write_stl
from support import joint, link, robot

import nhmech
from nhmech import ModelError, Wheel
from nhmech.urdf.description import Description
from nhmech.vehicle.geometry import find_mesh_file, load_geometry
from nhmech.vehicle.palette import BODY, PART, STRIPE, WHEEL


def shape(form: str, tag: str = "visual", more: str = "", origin: str = "") -> str:
    return f"<{tag}>{origin}<geometry>{form}</geometry>{more}</{tag}>"


BOX, BALL = '<box size="1 2 3"/>', '<sphere radius="0.3"/>'
DRUM = '<cylinder radius="0.1" length="0.05"/>'
GONE, MESH = '<mesh filename="gone.stl"/>', '<mesh filename="there.stl"/>'
SEEN = {coal.Box: "box", coal.Sphere: "ball", coal.Cylinder: "drum"}


def draw(tmp_path, wheel: str, base: str = "", kind: str = "continuous", top: str = "", **fields):
    """Name of each visual of the wheel's link -> its geometry; the names of stand-ins; and all."""
    write_stl(tmp_path / "there.stl")
    text = robot(top, link("base", body=base), link("wheel", body=wheel),
                 joint("spin", "base", "wheel", (0.2, 0, 0), kind=kind))
    model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    found = load_geometry(Description(**{
        "xml": text, "name": "r", "root": "base", "wheels": (), "rolling": ("spin",),
        "path": tmp_path / "r.urdf"} | fields), model)
    shapes = {one.name: one for one in found.visual.geometryObjects
              if one.name.startswith("wheel")}
    words = {name: SEEN.get(type(one.geometry), "mesh") for name, one in shapes.items()}
    return words, found.stand_ins, SimpleNamespace(shapes=shapes, found=found, model=model)


def collision(form: str) -> str:
    return shape(form, "collision")


@pytest.mark.parametrize("body, drawn, stand_ins", [
    (shape(BALL) + collision(DRUM), ["ball"], []),
    (shape(GONE) + collision(DRUM), ["drum", "box"], [0, 1]),
    (shape(BALL) + shape(GONE) + collision(DRUM), ["ball", "drum", "box"], [1, 2]),
    # primitives rather than meshes, which only draw what has no other shape
    (shape(BALL) + shape(GONE) + collision(MESH), ["ball"], []),
    (shape(GONE) + collision(MESH), ["mesh"], [0]),
    (shape(GONE) + collision(MESH) + collision(BALL), ["ball"], [0]),
    (collision(MESH), ["mesh"], []), (collision(DRUM) + collision(BALL), ["drum", "box", "ball"],
                                      []),
    (collision(GONE), [], []), ("", [], []), (shape(GONE), ["box"], [0]),
    (shape(GONE) + collision(GONE), ["box"], [0]), (shape(MESH), ["mesh"], []),
    (shape(BALL) + collision(GONE), ["ball"], [])])
def test_a_missing_shape_is_replaced_by_what_the_link_collides_with(body, drawn, stand_ins,
                                                                   tmp_path):
    """Those of a drum that turns on have a bar."""
    words, found, _ = draw(tmp_path, body)
    assert words == {f"wheel_{k}": word for k, word in enumerate(drawn)}
    assert found == {f"wheel_{k}" for k in stand_ins}


@pytest.mark.parametrize("broken", [
    "<visual/>", shape(""), shape('<capsule radius="1" length="1"/>'), shape('<box size="1 2"/>'),
    shape("<box/>"), shape('<cylinder radius="1"/>'), shape('<cylinder length="1"/>'),
    shape('<sphere radius="one"/>'), shape("<sphere/>"),
    *(shape(BALL, origin=f'<origin {what}="1 2"/>') for what in ("xyz", "rpy")),
    shape(BALL, origin='<origin xyz="1 2 3" rpy="a b c"/>')])
@pytest.mark.parametrize("tag", ["visual", "collision"])
def test_a_broken_shape_hides_no_other(broken, tag, tmp_path):
    body = shape(BOX, origin='<origin xyz="1 2 3"/>') + collision(BOX)
    words, _, all_of_it = draw(tmp_path, body + broken.replace("visual", tag))
    # a visual that is no shape is replaced as one that is missing
    assert [*words.values()] == ["box"] * (2 if tag == "visual" else 1)
    assert all_of_it.found.collision.ngeoms == 1


def test_shapes_on_another_robot_are_no_shapes():
    text = robot(link("base", body=shape(BOX)))
    other = pin.Model()
    other.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "spin")
    with pytest.raises(ModelError, match="^r: shapes cannot be read: No link base in model$"):
        load_geometry(Description(xml=text, name="r", root="base", wheels=(), rolling=()), other)


@pytest.mark.parametrize("scale, factors", [
    ("", (1, 1, 1)), ('scale="2"', (2, 2, 2)), ('scale="2 3 4"', (2, 3, 4))])
def test_a_mesh_is_scaled(scale, factors, tmp_path):
    _, _, plain = draw(tmp_path, shape(MESH))
    _, _, scaled = draw(tmp_path, shape(MESH.replace("/>", f" {scale}/>")))
    one, other = (np.asarray(made.shapes["wheel_0"].geometry.vertices())
                  for made in (plain, scaled))
    np.testing.assert_allclose(other, one * factors, rtol=1e-6)
    with_words, stand_ins, _ = draw(tmp_path, shape(MESH.replace("/>", ' scale="big"/>')))
    assert with_words == {"wheel_0": "box"} and stand_ins == {"wheel_0"}


def test_a_mesh_without_a_triangle_is_none(tmp_path):
    (tmp_path / "there.stl").write_text("solid a\nendsolid a\n")
    (tmp_path / "point.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\n")
    words, stand_ins, _ = draw(tmp_path, shape('<mesh filename="point.obj"/>'))
    assert words == {"wheel_0": "box"} and stand_ins == {"wheel_0"}


@pytest.mark.parametrize("wheel, drawn", [
    (Wheel("spin", radius=0.15, link="wheel", axis=(0, 1, 0)), "drum"),
    (Wheel(None, "caster_ball", 0.15, link="wheel"), "ball"),
    (Wheel(None, "blade", link="wheel", axis=(0, 1, 0), point=(0, 0, 0)), "box"),
    (Wheel("spin", radius=0.15, link="base", axis=(0, 1, 0)), "box")])
def test_a_link_that_is_no_wheel_with_a_radius_is_a_box(wheel, drawn, tmp_path):
    """Its centre is that of its frame unless the wheel says more."""
    words, _, made = draw(tmp_path, shape(GONE), wheels=(wheel,))
    assert words == {"wheel_0": drawn}
    frame = made.model.frames[made.model.getFrameId("wheel", pin.FrameType.BODY)]
    np.testing.assert_allclose(made.shapes["wheel_0"].placement.translation,
                               frame.placement.translation, atol=1e-12)


@pytest.mark.parametrize("joints, size, centre", [
    ([], (0.03, 0.03, 0.03), (0, 0, 0)), (["0.2 0.1 0"], (0.16, 0.08, 0.03), (0.1, 0.05, 0)),
    (["1 0 0", "-0.5 0.25 0.1", None], (1.2, 0.2, 0.15), (0.25, 0.125, 0.05))])
def test_a_link_without_mass_is_a_box_that_reaches_to_its_joints(joints, size, centre):
    """Four fifths of the way, at least a tenth of the longest, and 30 mm."""
    text = f'<link name="base">{shape(GONE)}</link>' + "".join(
        link(f"l{k}") + f'<joint name="j{k}" type="fixed"><parent link="base"/><child link="l{k}"/>'
        + (f'<origin xyz="{xyz}"/>' if xyz else "") + "</joint>" for k, xyz in enumerate(joints))
    model = pin.buildModelFromXML(robot(text), pin.JointModelFreeFlyer())
    found = load_geometry(Description(xml=robot(text), name="r", root="base", wheels=(),
                                      rolling=()), model)
    box, = (one for one in found.visual.geometryObjects if one.name == "base_0")
    assert 2 * box.geometry.halfSide == pytest.approx(size)
    np.testing.assert_allclose(box.placement.translation, centre, atol=1e-12)


def test_no_file_is_read_through_an_entity(tmp_path):
    (tmp_path / "inner.xml").write_text(BALL)
    text = robot(link("base", body=shape("&inner;")))
    told = f'<!DOCTYPE robot [<!ENTITY inner SYSTEM "{(tmp_path / "inner.xml").as_uri()}">]>{text}'
    model = pin.buildModelFromXML(robot(link("base")), pin.JointModelFreeFlyer())
    found = load_geometry(Description(xml=told, name="r", root="base", wheels=(), rolling=()),
                          model)
    assert [type(one.geometry) for one in found.visual.geometryObjects] == [coal.Box]


def test_a_robot_of_another_folder_reads_no_files_beside_it_where_it_is_confined(tmp_path):
    """As one from a run that somebody else made."""
    inside, outside = tmp_path / "robot", tmp_path / "other"
    for folder in (inside, outside):
        folder.mkdir()
        write_stl(folder / "a.stl")
    for confined in (False, True):
        description = Description(xml="", name="r", root="base", wheels=(), rolling=(),
                                  path=inside / "r.urdf", confined=confined)
        assert find_mesh_file("a.stl", description) == inside / "a.stl"
        assert (find_mesh_file(str(outside / "a.stl"), description) is None) == confined
        assert find_mesh_file("b.stl", description) is None
    assert not Description(xml="", name="r", root="base", wheels=(), rolling=()).confined


# -- colours ---------------------------------------------------------------------------------------
def colour(name: str, rgba: str = "") -> str:
    return f'<material name="{name}">' + (f'<color rgba="{rgba}"/>' if rgba else "") + "</material>"


def numbers(text: str) -> list[float]:
    return [float(word) for word in text.split()]


RED, BLUE = "1 0 0 1", "0 0 1 0.5"


@pytest.mark.parametrize("top, wheel, base, expected", [
    ("", "", "", WHEEL), ("", colour("a", RED), "", RED), (colour("a", RED), colour("a"), "", RED),
    # the first definition counts, wherever it is, and a colour of one's own before it
    ("", colour("a"), shape(BOX, more=colour("a", RED)) + shape(BOX, more=colour("a", BLUE)), RED),
    ("", colour("a"), shape(BOX, more=colour("a", BLUE)), BLUE),
    (colour("a", RED), colour("a", BLUE), "", BLUE), ("", colour("b"), "", WHEEL),
    # of several, the last that has one
    ("", colour("a", RED) + colour("b"), "", RED), ("", colour("a", RED) + colour("b", BLUE), "",
                                                   BLUE)])
def test_a_shape_has_the_colour_of_its_material_or_of_its_link(top, wheel, base, expected,
                                                              tmp_path):
    _, _, made = draw(tmp_path, shape(BALL, more=wheel), base, top=top)
    assert made.shapes["wheel_0"].meshColor.tolist() == pytest.approx(numbers(expected), abs=1e-6)


def test_a_collision_shape_that_is_drawn_has_the_colour_of_its_link(tmp_path):
    """And its bar that of a bar."""
    _, _, made = draw(tmp_path, collision(DRUM), shape(BOX))
    for name, expected in (("wheel_0", WHEEL), ("wheel_1", STRIPE)):
        assert made.shapes[name].meshColor.tolist() == pytest.approx(numbers(expected), abs=1e-6)
    base, = (one for one in made.found.visual.geometryObjects if one.name == "base_0")
    assert base.meshColor.tolist() == pytest.approx(numbers(BODY), abs=1e-6)
    _, _, made = draw(tmp_path, collision(DRUM), kind="fixed", rolling=())
    assert made.shapes["wheel_0"].meshColor.tolist() == pytest.approx(numbers(PART), abs=1e-6)


@pytest.mark.parametrize("content, expected", [(True, [0.25, 0.5, 0.0, 1.0]), (False, None)])
def test_a_texture_is_its_mean_colour(content, expected, tmp_path):
    """Of a picture that cannot be read there is none."""
    image = pytest.importorskip("PIL.Image").new("RGBA", (4, 2), (0, 0, 0, 255))
    for x in range(4):
        for y in range(2):
            image.putpixel((x, y), (255 * (x == 3), 255 * (y == 1), 0, 40 * x))
    image.save(tmp_path / "t.png")
    if not content:
        (tmp_path / "t.png").write_bytes(b"\x89PNG")
    texture = '<material name="t"><texture filename="t.png"/></material>'
    _, _, made = draw(tmp_path, shape(BALL, more=texture))
    assert made.shapes["wheel_0"].meshColor.tolist() == pytest.approx(
        numbers(WHEEL) if expected is None else expected, abs=1e-6)


# -- on the moving joints --------------------------------------------------------------------------
@pytest.mark.parametrize("angle", [None, 0.4])
def test_shapes_of_held_joints_are_where_these_are_held(angle):
    """Seen from the body that carries them."""
    arm = [link("arm", 0.5, body=shape(BOX, origin='<origin xyz="0.1 0.2 0.3"/>')),
           joint("swing", "base", "arm", (1, 2, 3), (0.1, 0.2, 0.3), (0, 0, 1), "revolute",
                 '<limit lower="-1" upper="1" effort="1" velocity="1"/>')]
    parts = [link("base", 3.0), *arm]
    for side, y in (("left", 0.3), ("right", -0.3)):
        parts += [link(f"{side}_wheel", 0.4), joint(side, "base", f"{side}_wheel", (0, y, 0))]
    vehicle = nhmech.load(robot(*parts), wheels=[Wheel("left", "disc", 0.1),
                                                 Wheel("right", "disc", 0.1)],
                          locked={} if angle is None else {"swing": angle},
                          free=() if angle is not None else ("swing",))
    drawn, = (one for one in vehicle.visual_model.geometryObjects if one.name == "arm_0")
    place = pin.SE3(np.eye(3), np.array([0.1, 0.2, 0.3]))
    if angle is None:
        assert drawn.parentJoint == vehicle.model.getJointId("swing")
    else:
        place = pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.2, 0.3), np.array([1.0, 2, 3])) * pin.SE3(
            pin.exp3(np.array([0, 0, angle])), np.zeros(3)) * place
        assert drawn.parentJoint == 1
    np.testing.assert_allclose(drawn.placement.homogeneous, place.homogeneous, atol=1e-12)
    assert not vehicle.stand_ins
