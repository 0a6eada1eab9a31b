"""Colours of meshes: what the page is told is what stands in the file, or in the URDF, or in the
palette."""

from __future__ import annotations

import base64
import io

import numpy as np
import pinocchio as pin
import pytest
from meshes import COLOURS, ORANGE, TEAL, write_dae, write_glb, write_obj, write_stl
from support import joint, link, robot

import nhmech
from nhmech.urdf.describe import describe
from nhmech.urdf.mesh_files import MeshFiles
from nhmech.urdf.notice import NoticeKind
from nhmech.urdf.wheel import Wheel
from nhmech.vehicle.palette import ARMS, BODY, PART, WHEEL
from nhmech.view.drawable import Snapshot
from nhmech.view.live import LiveScene
from nhmech.view.mesh_parts import read_parts
from nhmech.view.messages import rgb
from nhmech.view.scene import Scene

WRITERS = {"dae": write_dae, "obj": write_obj, "glb": write_glb, "stl": write_stl}
BLUE = '<material name="blue"><color rgba="0.2 0.4 0.8 1"/></material>'
NAMED = '<material name="blue"/>'


def cart(base: str, top: str = "", arm: str = "") -> str:
    """Two wheels without shapes of their own but cylinders to collide with; a base, something
    fixed to it, an arm."""
    wheel = ('<collision><origin rpy="1.5707963 0 0"/><geometry><cylinder radius="0.1" '
             'length="0.04"/></geometry></collision>')
    return robot(
        top, link("base", body=base), link("plate", body=BOX), link("arm", body=arm or BOX),
        *(link(f"{side}_wheel", body=wheel) for side in ("left", "right")),
        joint("left_wheel_joint", "base", "left_wheel", (0, 0.2, 0)),
        joint("right_wheel_joint", "base", "right_wheel", (0, -0.2, 0)),
        joint("on_top", "base", "plate", (0, 0, 0.1), kind="fixed"),
        joint("shoulder", "plate", "arm", (0, 0, 0.1), kind="revolute",
              more='<limit lower="-1" upper="1" effort="1" velocity="1"/>'))


BOX = '<visual><geometry><box size="0.1 0.1 0.1"/></geometry></visual>'


def visual(mesh: str, material: str = "") -> str:
    return f'<visual><geometry><mesh filename="{mesh}"/></geometry>{material}</visual>'


def drawn(text: str, folder, body: str = "base") -> list[dict]:
    """The materials of the body's group, as the page is told."""
    path = folder / "robot.urdf"
    path.write_text(text)
    vehicle = nhmech.load(path, wheels=[Wheel("left_wheel_joint", "disc", 0.1),
                                        Wheel("right_wheel_joint", "disc", 0.1)])
    joint = vehicle.model.names[1] if body == "base" else body
    group, = (m for m in Scene(vehicle).groups() if m["path"].endswith(joint))
    return group["object"]["materials"]


def colours(text: str, folder, body: str = "base") -> list[int]:
    return [material["color"] for material in drawn(text, folder, body)]


def palette(*names: str) -> list[int]:
    return [rgb([float(part) for part in name.split()]) for name in names]


REST = palette(PART, ARMS[1])   # plate and arm, which follow the base in its group


@pytest.mark.parametrize("form", ["dae", "obj", "glb"])
def test_each_part_of_a_mesh_keeps_its_colour(form, tmp_path):
    name = WRITERS[form](tmp_path / f"two.{form}").name
    expected = sorted(map(rgb, COLOURS))
    for material in ("", BLUE):     # as in RViz, the file's own colours go before the URDF's
        found = colours(cart(visual(name, material)), tmp_path)
        assert sorted(found[:2]) == expected and found[2:] == REST


@pytest.mark.parametrize("top, material", [("", BLUE), (BLUE, NAMED)])
def test_a_mesh_without_colours_takes_the_urdfs(top, material, tmp_path):
    name = write_stl(tmp_path / "one.stl").name
    blue = rgb((0.2, 0.4, 0.8))
    assert colours(cart(visual(name, material), top), tmp_path) == [blue, *REST]
    bare = write_obj(tmp_path / "bare.obj", library=False).name    # its MTL file is missing
    assert colours(cart(visual(bare, material), top), tmp_path) == [blue, *REST]


def test_a_name_may_be_defined_in_another_link(tmp_path):
    name = write_stl(tmp_path / "one.stl").name
    blue, red = rgb((0.2, 0.4, 0.8)), rgb((0.8, 0.2, 0.2))
    text = cart(visual(name, NAMED), arm=visual(name, BLUE))
    assert colours(text, tmp_path) == [blue, REST[0], blue]
    # and two links may give one name to two colours, as some exporters do
    text = cart(visual(name, BLUE), arm=visual(name, BLUE.replace("0.2 0.4 0.8", "0.8 0.2 0.2")))
    assert colours(text, tmp_path) == [blue, REST[0], red]


def test_without_any_colour_the_palette_tells_the_links_apart(tmp_path):
    name = write_stl(tmp_path / "one.stl").name
    text = cart(visual(name))
    assert colours(text, tmp_path) == [*palette(BODY), *REST]
    left, right = (colours(text, tmp_path, f"{side}_wheel_joint") for side in ("left", "right"))
    assert left == right and left[0] == palette(WHEEL)[0]
    undefined = cart(visual(name, '<material name="never_defined"/>'))
    assert colours(undefined, tmp_path) == [*palette(BODY), *REST]


def picture(path, size=(64, 16)):
    """Left half orange, right half teal."""
    image = pytest.importorskip("PIL.Image").new("RGB", size)
    halves = np.empty((size[1], size[0], 3), np.uint8)
    halves[:, :size[0] // 2], halves[:, size[0] // 2:] = (np.round(255 * np.array(c))
                                                          for c in (ORANGE, TEAL))
    image.frombytes(halves.tobytes())
    image.save(path)
    return path.name


def test_a_texture_is_sent_with_its_picture(tmp_path):
    texture = picture(tmp_path / "halves.png", (1024, 256))
    name = write_obj(tmp_path / "two.obj", texture=texture).name
    path = tmp_path / "robot.urdf"
    path.write_text(cart(visual(name)))
    vehicle = nhmech.load(path, wheels=[Wheel(f"{side}_wheel_joint", "disc", 0.1)
                                        for side in ("left", "right")])
    group, = (m["object"] for m in Scene(vehicle).groups()
              if m["path"].endswith(vehicle.model.names[1]))
    image, = group["images"]        # two materials, one picture
    textured = [m for m in group["materials"] if "map" in m]
    assert {m["map"] for m in textured} == {group["textures"][0]["uuid"]}
    assert all(m["color"] == 0xFFFFFF for m in textured) and len(textured) == 2
    sent = pytest.importorskip("PIL.Image").open(
        io.BytesIO(base64.b64decode(image["url"].partition(",")[2])))
    assert max(sent.size) == 512, "a page needs no larger picture"
    assert sent.getpixel((10, 10)) == (230, 102, 26)
    uv = np.frombuffer(group["geometries"][0]["data"]["attributes"]["uv"]["array"].data, "<f4")
    np.testing.assert_allclose(np.sort(uv.reshape(-1, 2)[:, 0]), [0.05, 0.2, 0.95], atol=1e-6)
    np.testing.assert_allclose(uv.reshape(-1, 2)[:, 1], 0.5, atol=1e-6)


def test_a_texture_of_the_urdf_is_its_mean_colour(tmp_path):
    texture = picture(tmp_path / "halves.png")
    material = f'<material name="t"><texture filename="{texture}"/></material>'
    mean = rgb(np.mean([np.round(255 * np.array(c)) for c in COLOURS], axis=0) / 255)
    name = write_stl(tmp_path / "one.stl").name
    for top, used in (("", material), (material, '<material name="t"/>')):
        assert colours(cart(visual(name, used), top), tmp_path) == [mean, *REST]
    lost = material.replace(texture, "nowhere.png")
    assert colours(cart(visual(name, lost)), tmp_path) == [*palette(BODY), *REST]


def test_a_part_stands_where_its_node_does_and_units_are_metres(tmp_path):
    write_dae(tmp_path / "two.dae", unit=0.01)
    parts = read_parts(tmp_path / "two.dae")
    corners = np.vstack([part.vertices for part in parts])
    # y up is not applied, as in RViz; the unit is the URDF reader's business
    np.testing.assert_allclose([corners.min(axis=0), corners.max(axis=0)], [[0] * 3, [1] * 3])
    path = tmp_path / "robot.urdf"
    path.write_text(cart(visual("two.dae")))
    vehicle = nhmech.load(path, wheels=[Wheel(f"{side}_wheel_joint", "disc", 0.1)
                                        for side in ("left", "right")])
    group = next(m["object"] for m in Scene(vehicle).groups()
                 if m["path"].endswith(vehicle.model.names[1]))
    position = group["geometries"][0]["data"]["attributes"]["position"]["array"].data
    assert np.frombuffer(position, "<f4").max() == pytest.approx(0.01)


@pytest.mark.parametrize("content", [b"", b"junk", b"glTF" + b"\0" * 40])
def test_a_file_that_cannot_be_read_has_no_parts(content, tmp_path):
    for form in WRITERS:
        path = tmp_path / f"bad.{form}"
        path.write_bytes(content)
        assert read_parts(path) == []
    assert read_parts(tmp_path / "absent.dae") == []


def test_what_stands_in_for_a_mesh_is_faint_and_outlined(tmp_path):
    materials = drawn(cart(visual("gone.dae", BLUE)), tmp_path)
    kinds = [(m["type"], m.get("opacity", 1.0) < 1) for m in materials]
    assert kinds[:2] == [("MeshPhongMaterial", True), ("LineBasicMaterial", False)]
    assert materials[0]["color"] == palette(BODY)[0]


def notices(text: str, folder, **options) -> list:
    path = folder / "robot.urdf"
    path.write_text(text)
    described = describe(path, wheels=[Wheel(f"{side}_wheel_joint", "disc", 0.1)
                                       for side in ("left", "right")], **options)
    return [n for n in described.notices if n.kind is NoticeKind.MISSING_MESH]


def test_one_notice_names_all_missing_meshes_and_the_line_that_finds_them(tmp_path):
    names = ("package://arm_meshes/visual/arm.dae", "package://base_meshes/base.stl")
    text = cart(visual(names[1]) + visual(names[1]) + visual("beside.stl"), arm=visual(names[0]))
    notice, = notices(text, tmp_path)
    assert "3 of 3 mesh files" in notice.text and repr(names[1]) in notice.text
    for line, form in ((notice.remedy.command, "--package {}=FOLDER"),
                       (notice.remedy.python, "'{}': 'FOLDER'")):
        assert all(form.format(name) in line for name in ("arm_meshes", "base_meshes"))
        assert "'base.stl'" in line     # what FOLDER holds
    # with the folders given, the files are found; what is still missing is said without the line
    folders = {name: tmp_path / name for name in ("arm_meshes", "base_meshes")}
    (folders["arm_meshes"] / "visual").mkdir(parents=True)
    folders["base_meshes"].mkdir()
    write_dae(folders["arm_meshes"] / "visual" / "arm.dae")
    notice, = notices(text, tmp_path, packages=folders)
    assert "2 of 3 mesh files" in notice.text and notice.remedy is None
    write_stl(folders["base_meshes"] / "base.stl")
    write_stl(tmp_path / "beside.stl")
    assert notices(text, tmp_path, packages=folders) == []


def test_the_page_says_what_an_outline_means(tmp_path):
    path = tmp_path / "robot.urdf"
    for mesh, words in (("gone.dae", ["outlined: no mesh file"]), ("there.stl", [])):
        write_stl(tmp_path / "there.stl")
        path.write_text(cart(visual(mesh)))
        vehicle = nhmech.load(path, wheels=[Wheel(f"{side}_wheel_joint", "disc", 0.1)
                                            for side in ("left", "right")])
        sent = LiveScene(vehicle, (), True, None).messages(Snapshot(pin.neutral(vehicle.model)))
        view, = (m for m in sent if m["type"] == "view")
        assert [entry["name"] for entry in view["contacts"]][2:] == words


def test_a_material_may_have_a_name_in_any_encoding(tmp_path):
    """ISO 8859-1, of which `\xe4` alone is no UTF-8."""
    (tmp_path / "a.mtl").write_bytes(b"newmtl R\xe4der\nKd 0.9 0.4 0.1\n")
    (tmp_path / "a.obj").write_bytes(b"mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\n"
                                     b"usemtl R\xe4der\nf 1 2 3\n")
    part, = read_parts(tmp_path / "a.obj")
    assert part.colour == pytest.approx((*ORANGE, 1.0), rel=0, abs=1e-6)
    assert len(MeshFiles().mesh(tmp_path / "a.obj").faces) == 1
