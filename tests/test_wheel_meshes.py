"""Radii of wheels from meshes: made ones of every form, and those of real robots."""

import json
from pathlib import Path

import meshes
import numpy as np
import pytest
from metamorphic import write_stl

from nhmech.errors import ModelError, NhmechError
from nhmech.urdf.describe import describe
from nhmech.urdf.description import Witness
from nhmech.urdf.layout import Layout
from nhmech.urdf.mesh_files import MeshFiles
from nhmech.urdf.notice import NoticeKind
from nhmech.urdf.text.source import read_source
from nhmech.urdf.wheel import Wheel
from nhmech.urdf.wheels.revolution import find_solid
from nhmech.urdf.wheels.rims import find_reach, find_rim

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "robots"
R = 0.08
Y = np.array([0.0, 1.0, 0.0])


# --- solids: triangles (n, 3, 3) about the y axis, 0.04 m wide -------------------------------


def revolve(profile, sides=40, turn=0.0):
    """Triangles of a profile of (distance, along) turned about y."""
    angle = turn + 2 * np.pi * np.arange(sides + 1) / sides
    ring = np.array([[[d * np.cos(a), y, d * np.sin(a)] for d, y in profile] for a in angle])
    quads = [(ring[i, j], ring[i + 1, j], ring[i + 1, j + 1], ring[i, j + 1])
             for i in range(sides) for j in range(len(profile) - 1)]
    return np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


def cylinder(radius=R, width=0.04, sides=40):
    h = width / 2
    return revolve([(0, -h), (radius, -h), (radius, h), (0, h)], sides)


def torus(radius=R, section=0.02, sides=40):
    angle = 2 * np.pi * np.arange(17) / 16
    return revolve([(radius - section + section * np.cos(a), section * np.sin(a)) for a in angle],
                   sides)


def box(low, high):
    """A closed box between two corners."""
    low, high = np.array(low), np.array(high)
    corners = np.array([[(low, high)[b][k] for k, b in enumerate(bits)]
                        for bits in np.ndindex(2, 2, 2)])
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return np.array([corners[[a, b, c]] for f in faces
                     for a, b, c in (f[:3], (f[0], f[2], f[3]))])


def spoked(sides=48):
    """A thin rim, a hub and five spokes."""
    spokes = []
    for angle in 2 * np.pi * np.arange(5) / 5:
        c, s = np.cos(angle), np.sin(angle)
        spokes.append(box((0.01, -0.005, -0.003), (0.9 * R, 0.005, 0.003))
                      @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]))
    rim = revolve([(0.9 * R, -0.02), (R, -0.02), (R, 0.02), (0.9 * R, 0.02)], sides)
    return np.concatenate([rim, cylinder(0.015, 0.05), *spokes])


def lugged():
    """A tyre with 18 lugs, staggered left and right of its middle."""
    lugs = []
    for k, angle in enumerate(2 * np.pi * np.arange(18) / 18):
        c, s = np.cos(angle), np.sin(angle)
        y = 0.01 if k % 2 else -0.01
        lugs.append(box((0.9 * R, y - 0.01, -0.004), (np.sqrt(R ** 2 - 0.004 ** 2), y + 0.01,
                                                      0.004))
                    @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]))
    return np.concatenate([cylinder(0.94 * R), *lugs])


SHAPES = {
    "cylinder": cylinder(),
    "octagon": cylinder(sides=8),
    "dense": cylinder(sides=720),
    "tyre": torus(),
    "spokes": spoked(),
    "lugs": lugged(),
    "stray part": np.concatenate([spoked(), box((0.3, 0, 0.3), (0.34, 0.1, 0.38))]),
    "lump": np.concatenate([torus(), box((R - 0.01, -0.004, -0.004), (1.04 * R, 0.004, 0.004))]),
    "valve": np.concatenate([cylinder(), box((0.05, 0.0, 0.0), (1.006 * R, 0.003, 0.003))]),
    "1 mm beside": torus() + [0.001, 0, 0.0],
}


# --- files ----------------------------------------------------------------------------------


def write_obj(path, triangles):
    points = "".join(f"v {x:.9f} {y:.9f} {z:.9f}\n" for x, y, z in triangles.reshape(-1, 3))
    path.write_text(points + "".join(f"f {i + 1} {i + 2} {i + 3}\n"
                                     for i in range(0, 3 * len(triangles), 3)))


def write_dae(path, triangles, meter=1.0, up="Y_UP", node=""):
    points, count = triangles.reshape(-1, 3), 3 * len(triangles)
    path.write_text(
        '<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" '
        f'version="1.4.1"><asset><unit name="u" meter="{meter}"/><up_axis>{up}</up_axis></asset>'
        '<library_geometries><geometry id="g"><mesh><source id="p">'
        f'<float_array id="pa" count="{3 * count}">{" ".join(map(str, points.ravel()))}'
        f'</float_array><technique_common><accessor source="#pa" count="{count}" stride="3">'
        '<param name="X" type="float"/><param name="Y" type="float"/>'
        '<param name="Z" type="float"/></accessor></technique_common></source><vertices id="v">'
        '<input semantic="POSITION" source="#p"/></vertices>'
        f'<triangles count="{len(triangles)}"><input semantic="VERTEX" source="#v" offset="0"/>'
        f'<p>{" ".join(map(str, range(count)))}</p></triangles></mesh></geometry>'
        f'</library_geometries><library_visual_scenes><visual_scene id="s"><node>{node}'
        '<instance_geometry url="#g"/></node></visual_scene></library_visual_scenes><scene>'
        '<instance_visual_scene url="#s"/></scene></COLLADA>')


def shape(tag, geometry, rpy="0 0 0"):
    return f'<{tag}><origin xyz="0 0 0" rpy="{rpy}"/><geometry>{geometry}</geometry></{tag}>'


def mesh(name, scale=""):
    return f'<mesh filename="{name}"{scale and f""" scale="{scale}" """}/>'


def cart(left, right=None, axis="0 1 0", rpy="0 0 0", more="", names=("left", "right")):
    """A base on two wheels with these shapes, 0.1 m from the middle, and a ball of R before."""
    inertial = ('<inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" '
                'izz="0.1"/></inertial>')
    parts = [f'<link name="base">{inertial}<collision><origin xyz="0.3 0 0"/><geometry>'
             f'<sphere radius="{R}"/></geometry></collision></link>']
    for name, y, shapes in zip(names, (0.1, -0.1), (left, right or left), strict=True):
        parts.append(f'<link name="{name}_wheel">{inertial}{shapes}</link>'
                     f'<joint name="{name}_joint" type="continuous"><parent link="base"/>'
                     f'<child link="{name}_wheel"/><origin xyz="0 {y} 0" rpy="{rpy}"/>'
                     f'<axis xyz="{axis}"/></joint>')
    return f'<robot name="cart">{"".join(parts)}{more}</robot>'


@pytest.fixture
def write(tmp_path):
    def write_urdf(text):
        path = tmp_path / "cart.urdf"
        path.write_text(text)
        return path
    return write_urdf


def radii(description):
    return [w.radius for w in description.wheels if w.kind == "disc"]


def others(description):
    return [str(n) for n in description.notices if n.kind is NoticeKind.OTHER_RADIUS]


# --- the search alone -----------------------------------------------------------------------


@pytest.mark.parametrize("name", SHAPES)
def test_the_tread_is_found_in_every_direction(name):
    points = SHAPES[name].reshape(-1, 3)
    rng = np.random.default_rng(len(name))
    for _ in range(5):
        Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        shift = rng.normal()
        solid = find_solid((points + shift * Y) @ Q.T, Q @ Y)
        largest = R + (0.001 if "beside" in name else 0)
        assert solid.radius == pytest.approx(largest, rel=0.01)
        assert solid.along == pytest.approx(shift, abs=0.003)


def test_width_is_that_of_the_tread():
    points = np.concatenate([cylinder(width=0.03), cylinder(0.02, width=0.2)]).reshape(-1, 3)
    assert find_solid(points, Y).width == pytest.approx(0.03, rel=0.01)


@pytest.mark.parametrize("triangles", [
    box((-0.1, -0.1, -0.1), (0.1, 0.1, 0.1)),
    box((-0.1, -0.1, -0.1), (0.1, 0.1, 0.3)),
    cylinder(sides=4),
    cylinder(sides=6),
    cylinder() + [0.03, 0, 0],                                           # a crank
    revolve([(0, -0.02), (R, -0.02), (R, 0.02)], 40)[:100],              # a part of a circle
    np.concatenate([cylinder(0.01, 0.05), cylinder() + [0.06, 0, 0]]),   # a caster about its pin
    np.zeros((4, 3, 3)),
    np.zeros((0, 3, 3)),
    np.full((4, 3, 3), np.nan),
], ids=str(list(range(10))).split(","))
def test_what_is_not_round_is_none(triangles):
    assert find_solid(triangles.reshape(-1, 3), Y) is None


def test_a_cylinder_across_is_none():
    assert find_solid(cylinder().reshape(-1, 3), np.array([1.0, 0.0, 0.0])) is None


# --- whole robots ---------------------------------------------------------------------------


@pytest.mark.parametrize("tag", ["visual", "collision"])
@pytest.mark.parametrize(("name", "write_mesh", "factor", "scale"), [
    ("w.stl", write_stl, 1, ""),
    ("w.obj", write_obj, 1, ""),
    ("w.dae", write_dae, 1, ""),
    ("w.STL", write_stl, 1000, "0.001 0.001 0.001"),
    ("w.stl", write_stl, 1000, "0.001 -0.001 0.001"),
    ("w.dae", lambda p, t: write_dae(p, t, 0.001), 1000, ""),
    ("w.dae", lambda p, t: write_dae(p, t, 0.0254, "Z_UP"), 1 / 0.0254, ""),
    ("w.dae", lambda p, t: write_dae(p, t, node="<scale>2 2 2</scale>"), 0.5, ""),
])
def test_files_and_units(write, tmp_path, tag, name, write_mesh, factor, scale):
    write_mesh(tmp_path / name, torus() * factor)
    description = describe(write(cart(shape(tag, mesh(name, scale)))))
    assert radii(description) == pytest.approx([R, R], rel=0.01)
    assert f"from the coaxial {tag} mesh '{name}' of 'left_wheel'" in str(
        description.reasons["left_joint"])
    assert not others(description)


@pytest.mark.parametrize("flip", [0.0, np.pi])
@pytest.mark.parametrize("eighth", range(8))
def test_how_far_out_a_lug_beside_the_rim_stands(eighth, flip):
    """A cylinder 0.02 m thick from 0.1 m to 0.3 m off the axle: the edge of its outer end is at
    sqrt(0.3^2 + 0.01^2), wherever the wheel has turned, and whichever end of the cylinder it is."""
    angle = eighth * np.pi / 4
    text = f"""<robot name="lugged"><link name="base"/><link name="tyre">
      <collision><origin rpy="1.5707963267948966 0 0"/>
        <geometry><cylinder radius="0.15" length="0.04"/></geometry></collision>
      <collision>
        <origin xyz="{0.2 * np.sin(angle)} 0 {0.2 * np.cos(angle)}" rpy="0 {angle + flip} 0"/>
        <geometry><cylinder radius="0.01" length="0.2"/></geometry></collision></link>
      <joint name="axle" type="continuous"><parent link="base"/><child link="tyre"/>
        <axis xyz="0 1 0"/></joint></robot>"""
    layout = Layout(read_source(text))
    joint = layout.joints["axle"]
    assert find_reach(layout, joint, find_rim(layout, joint)) == pytest.approx(
        np.hypot(0.3, 0.01), rel=1e-12)


def test_frames_are_followed(write, tmp_path):
    write_stl(tmp_path / "w.stl", torus() @ np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]]))
    text = cart(shape("visual", mesh("w.stl")), axis="0 0 1", rpy="-1.5708 0 0")
    assert radii(describe(write(text))) == pytest.approx([R, R], rel=0.01)
    write_stl(tmp_path / "w.stl", torus())
    turned = cart(shape("visual", mesh("w.stl"), rpy="1.5707963 0 0"), axis="0 0 1",
                  rpy="-1.5707963 0 0")
    assert radii(describe(write(turned))) == pytest.approx([R, R], rel=0.01)
    with pytest.raises(ModelError, match="'w.stl' of link 'left_wheel' is not round about the axl"):
        describe(write(cart(shape("visual", mesh("w.stl"), rpy="0 0 1.5707963"))))


def test_the_tyre_may_hang_on_a_fixed_child(write, tmp_path):
    write_stl(tmp_path / "tyre.stl", torus())
    write_stl(tmp_path / "hub.stl", cylinder(0.05))
    tyres = "".join(
        f'<link name="{side}_tyre">{shape("visual", mesh("tyre.stl"))}</link>'
        f'<joint name="{side}_fix" type="fixed"><parent link="{side}_wheel"/>'
        f'<child link="{side}_tyre"/></joint>' for side in ("left", "right"))
    robots = [cart(shape(tag, mesh("hub.stl")), more=tyres) for tag in ("visual", "collision")]
    for robot in robots:
        assert radii(describe(write(robot))) == pytest.approx([R, R], rel=0.01)
    (tmp_path / "tyre.stl").unlink()       # then the hub alone must not pass for the wheel
    for robot in robots:
        with pytest.raises(ModelError, match=r"'tyre\.stl' of link 'left_tyre' was not found"):
            describe(write(robot))


def test_a_collision_cylinder_decides_and_the_mesh_checks_it(write, tmp_path):
    write_stl(tmp_path / "w.stl", torus())
    drawn = shape("visual", mesh("w.stl"))

    def load(radius):
        solid = shape("collision", f'<cylinder radius="{radius}" length="0.04"/>', "1.5707963 0 0")
        return describe(write(cart(drawn + solid).replace(f'sphere radius="{R}"',
                                                          f'sphere radius="{radius}"')))
    for radius in (R, 0.94 * R, 1.04 * R):
        assert radii(load(radius)) == [radius, radius] and not others(load(radius))
    description = load(0.05)
    assert radii(description) == [0.05, 0.05]
    first = others(description)[0]
    assert ("left_joint, right_joint: radius 0.05 m from the collision cylinder of 'left_wheel'"
            in first)
    assert "the visual mesh 'w.stl' of 'left_wheel' has 0.08" in first


def test_a_given_radius_is_checked(write, tmp_path):
    write_stl(tmp_path / "w.stl", torus())
    robot = write(cart(shape("visual", mesh("w.stl"))))
    ball = Wheel(None, "caster_ball", R, link="base", point=(0.3, 0, 0))

    def given(radius):
        return others(describe(robot, wheels=[Wheel("left_joint", "disc", radius),
                                              Wheel("right_joint", "disc", radius), ball]))
    assert given(R) == given(0.94 * R) == []
    for radius in (0.301, 0.022):
        assert f"left_joint, right_joint: radius {radius:g} m as given" in given(radius)[0]
        assert "visual mesh 'w.stl' of 'left_wheel' has 0.08" in given(radius)[0]


def test_a_missing_mesh_gets_the_line_that_finds_it(write, tmp_path):
    robot = write(cart(shape("visual", mesh("package://my_meshes/parts/w.stl"))))
    with pytest.raises(ModelError) as caught:
        describe(robot)
    assert "'package://my_meshes/parts/w.stl' of link 'left_wheel' was not found" in str(
        caught.value)
    assert "packages={'my_meshes': 'FOLDER'}" in caught.value.remedy.python
    assert "--package my_meshes=FOLDER" in caught.value.remedy.command
    folder = tmp_path / "elsewhere"
    (folder / "parts").mkdir(parents=True)
    write_stl(folder / "parts" / "w.stl", torus())
    description = describe(robot, packages={"my_meshes": folder})
    assert radii(description) == pytest.approx([R, R], rel=0.01)


def test_no_number_is_made_of_the_inertia(write):
    with pytest.raises(ModelError) as caught:
        describe(write(cart("")))
    assert "Wheel('left_joint', 'disc', RADIUS)" in str(caught.value)


def test_unreadable_and_millimetre_meshes_are_told(write, tmp_path):
    robot = write(cart(shape("visual", mesh("w.stl"))))
    (tmp_path / "w.stl").write_bytes(b"no mesh")
    with pytest.raises(ModelError, match="cannot be read"):
        describe(robot)
    write_stl(tmp_path / "w.stl", torus() * 1000)
    with pytest.raises(ModelError, match=r'wheel of 80 m.*scale="0.001 0.001 0.001"'):
        describe(robot)


def test_a_round_joint_beside_the_wheels_is_one_too(write, tmp_path):
    """A wheel without the word in its name, which stands where the others do, rolls."""
    write_stl(tmp_path / "w.stl", torus())
    text = cart(shape("visual", mesh("w.stl"))).replace("right_wheel", "right_foot")
    description = describe(write(text))
    assert [w.joint for w in description.wheels if w.joint] == ["left_joint", "right_joint"]
    assert "reaches the ground" in str(description.reasons["right_joint"])
    left, right = (description.reasons[name].facts for name in ("left_joint", "right_joint"))
    assert {f.witness for f in left} - {f.witness for f in right} == {Witness.NAME}
    assert all(f.agrees for f in right)


def test_a_caster_may_be_a_mesh(write, tmp_path):
    """Wheel and fork in one piece, fixed: it slides where it touches."""
    write_stl(tmp_path / "w.stl", torus())
    fork = np.concatenate([cylinder(0.05) - [0.02, 0, 0.03],
                           box((-0.03, -0.03, 0), (0, 0.03, 0.1))])
    write_stl(tmp_path / "c.stl", fork * 1000)
    caster = ('<link name="caster_link">'
              + shape("collision", mesh("c.stl", "0.001 0.001 0.001")) + "</link>"
              '<joint name="c" type="fixed"><parent link="base"/><child link="caster_link"/>'
              '<origin xyz="-0.3 0 0" rpy="0 0 3.14159265"/></joint>')
    text = cart(shape("visual", mesh("w.stl")), more=caster).replace(
        f'<sphere radius="{R}"/>', '<box size="0.01 0.01 0.01"/>')
    description = describe(write(text))
    ball = next(w for w in description.wheels if w.joint is None)
    assert ball.link == "caster_link" and ball.kind == "caster_ball"
    assert np.add(ball.point, [0, 0, -ball.radius]) == pytest.approx([-0.02, 0, -R], abs=2e-3)
    assert any("its mesh is taken as a caster ball" in str(n) for n in description.notices)
    (tmp_path / "c.stl").unlink()
    with pytest.raises(ModelError, match=r"the mesh 'c\.stl', which cannot be read"):
        describe(write(text))


def test_each_file_is_read_once(write, tmp_path, monkeypatch):
    import nhmech.urdf.mesh_files as files
    read, real = [], files._read_mesh
    monkeypatch.setattr(files, "_read_mesh", lambda path: read.append(path) or real(path))
    write_stl(tmp_path / "w.stl", torus())
    describe(write(cart(shape("visual", mesh("w.stl")) + shape("collision", mesh("w.stl")))))
    assert len(read) == 1


def in_materials(path, triangles, count):
    """An OBJ file in which each triangle is of the next of so many materials."""
    path.write_text("".join(
        "".join("v {} {} {}\n".format(*corner) for corner in triangle)
        + f"usemtl m{k % count}\nf {3 * k + 1} {3 * k + 2} {3 * k + 3}\n"
        for k, triangle in enumerate(triangles)))


@pytest.mark.parametrize("count", (1, 2, 5))
def test_a_binary_stl_file_and_one_of_several_materials_are_one_surface(tmp_path, count):
    """The one is read here and the other by Assimp."""
    triangles = spoked().astype(np.float32)
    write_stl(tmp_path / "w.stl", triangles)
    in_materials(tmp_path / "w.obj", triangles, count)
    ours, theirs = (MeshFiles().mesh(tmp_path / name) for name in ("w.stl", "w.obj"))
    a, b, c = triangles.astype(float).transpose(1, 0, 2)
    for mesh in (ours, theirs):
        assert len(mesh.faces) == len(triangles) and mesh.faces.max() < len(mesh.vertices)
        assert len(mesh.vertices) == len(np.unique(mesh.vertices, axis=0))
        assert mesh.areas().sum() == pytest.approx(
            np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2, rel=1e-9)
        assert len(mesh.parts) == 7
    np.testing.assert_allclose(np.unique(ours.vertices, axis=0),
                               np.unique(theirs.vertices, axis=0), rtol=0, atol=1e-12)
    sizes = [np.sort(mesh.areas()) for mesh in (ours, theirs)]
    np.testing.assert_allclose(*sizes, rtol=1e-9)


@pytest.mark.parametrize("suffix", ("dae", "obj", "glb", "stl"))
def test_each_triangle_has_its_own_corners(tmp_path, suffix):
    mesh = MeshFiles().mesh(getattr(meshes, f"write_{suffix}")(tmp_path / f"two.{suffix}"))
    np.testing.assert_allclose(np.sort(mesh.vertices[mesh.faces].reshape(2, -1), axis=0),
                               np.sort(meshes.TRIANGLES.reshape(2, -1), axis=0), rtol=0,
                               atol=1e-7)
    np.testing.assert_allclose(mesh.areas(), np.full(6, 1 / 6), rtol=1e-7)
    assert len(mesh.parts) == 2


# --- real robots ----------------------------------------------------------------------------


@pytest.mark.skipif(not (FOLDER / "wheels.json").is_file(),
                    reason=f"the real robots' wheels are not in {FOLDER}")
def test_real_meshes_agree_or_say_nothing():
    """Radii of all wheels whose meshes are there, with the primitives taken out of the file."""
    packages = {folder.name: folder for folder in (FOLDER / "meshes").glob("*/")}
    agree, refused = [], []
    for robot in json.loads((FOLDER / "wheels.json").read_text()):
        try:
            source = read_source(FOLDER / robot["file"], packages)
            for tag in ("cylinder", "sphere"):
                for element in list(source.root.iter(tag)):
                    element.getparent().remove(element)
            layout = Layout(source)
        except NhmechError:
            continue
        for contact in robot["contacts"]:
            joint = layout.joints.get(contact["joint"])
            meshes = [] if joint is None else [
                element for link in layout.rigid(joint.child)
                for element in layout.links[link].iterfind("*/geometry/mesh")]
            if not meshes or not contact["radius"]:
                continue
            rim = find_rim(layout, joint)
            name = f"{robot['file']} {joint.name}"
            if rim is None:
                refused.append(name)
                continue
            assert any(rim.radius == pytest.approx(r, rel=0.01) for r in contact["radius"]), (
                name, rim.radius, contact["radius"])
            agree.append(name)
    print(f"radii from meshes: {len(agree)} right, 0 wrong, {len(refused)} not told "
          "(files that are not there among them)")
    assert len(agree) >= 57
