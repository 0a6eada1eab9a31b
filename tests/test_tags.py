"""What the `<nhmech>` element says, attribute by attribute, and where packages and meshes are."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from meshes import TRIANGLES, write_dae
from placed import laid
from support import joint, link

from nhmech import InputError, ModelError, Wheel
from nhmech.urdf.description import Description, MidAxle, Released, Scrubbing
from nhmech.urdf.mesh_files import MeshFiles, length_unit
from nhmech.urdf.packages import (
    find_file,
    find_package,
    is_within,
    missing_meshes,
    package_of,
    read_packages,
)
from nhmech.urdf.tag import Tag, format_tag, parse_tag
from nhmech.urdf.text.source import read_source

BASE = link("base") + link("w") + joint("j", "base", "w")


def parse(*lines: str) -> Tag:
    inside = "".join(lines)
    return parse_tag(read_source(f'<robot name="r">{BASE}<nhmech>{inside}</nhmech></robot>'))


@pytest.mark.parametrize("line, wheel", [
    ('<wheel joint="j" radius="0.1"/>', Wheel("j", "disc", 0.1)),
    ('<wheel joint="j" kind="torus" radius="0.1" crown="0.01" driven="true"/>',
     Wheel("j", "torus", 0.1, crown=0.01, driven=True)),
    ('<wheel joint="j" kind="mecanum" radius="0.1" roller_angle="-0.7" driven="false" mu="0.8"/>',
     Wheel("j", "mecanum", 0.1, roller_angle=-0.7, driven=False, mu=0.8)),
    ('<wheel link="w" kind="blade" axis="0 1 0" point="1 2 3" stiffness="1e5"/>',
     Wheel(None, "blade", link="w", axis=(0, 1, 0), point=(1, 2, 3), stiffness=1e5)),
    ('<wheel joint="j" radius="0.1" law="coulomb"/>', Wheel("j", "disc", 0.1, law="coulomb")),
    ('<wheel joint="j" radius="0.1" law="tyre" tyre="robot_rubber"/>',
     Wheel("j", "disc", 0.1, law="tyre", tyre="robot_rubber"))])
def test_a_wheel_of_the_element_is_the_one_of_python_and_back(line, wheel):
    assert parse(line).wheels == (wheel,)
    printed = format_tag(Description("", "r", "base", (wheel,), ("j",)))
    again = parse(printed.removeprefix("<nhmech>").removesuffix("</nhmech>"))
    kept = {**wheel.__dict__, "driven": None if wheel.joint is None else False}
    assert again.wheels == (Wheel(**kept),)


@pytest.mark.parametrize("skid, line", [
    (MidAxle(), 'model="mid-axle"'), (MidAxle(1.25), 'track_factor="1.25"'),
    (Scrubbing(), 'model="coulomb"'), (Released(("a", "b")), 'free="a b"'), (None, None)])
def test_all_that_a_description_says_is_printed_and_read_again(skid, line):
    description = Description(
        "", "r", "base", (Wheel("j", "disc", 0.1),), ("j",), driven=("j", "k"), skid=skid,
        locked={"a": 0.3, "b": 0.0, "c": -1e-9}, free=("d", "e"), speeds=("x", "y") if skid else ())
    printed = format_tag(description)
    assert ("<skid" in printed) == (skid is not None) == ("<speeds>" in printed)
    assert line is None or line in printed
    tag = parse(printed.removeprefix("<nhmech>").removesuffix("</nhmech>"))
    assert (tag.drive, tag.lock, tag.free, tag.skid, tag.speeds) == (
        ("j", "k"), {"a": 0.3, "c": -1e-9}, ("d", "e"), skid, ("x", "y") if skid else None)
    assert tag.wheels == (Wheel("j", "disc", 0.1),)


def test_numbers_are_printed_with_all_digits_and_no_negative_zero():
    wheel = Wheel(None, "blade", link="w", axis=(-0.0, 1, 0), point=(1 / 3, -0.0, -0.1), mu=1)
    printed = format_tag(Description("", "r", "base", (wheel,), ()))
    assert ('mu="1.0" axis="0.0 1.0 0.0" point="0.3333333333333333 0.0 -0.1"/>') in printed
    odd = Description("", 'r', "base", (Wheel(None, "sphere", 0.1, link='a"<&'),), ())
    assert 'link="a&quot;&lt;&amp;"' in format_tag(odd)


def test_what_is_not_said_is_none():
    assert parse_tag(read_source(f'<robot name="r">{BASE}</robot>')) == Tag()
    assert parse() == Tag() == parse("<!-- nothing -->")
    assert parse('<lock joint="j"/><lock joint="k" position="0.2"/>').lock == {"j": 0.0, "k": 0.2}


@pytest.mark.parametrize("lines, words", [
    ("<odd/>", "<odd> does not exist in <nhmech>; it may hold wheel, drive"),
    ('<drive joint="j" law="x"/>', "attribute 'law' does not exist here; allowed: joint"),
    ("<free/>", "attribute joint= is missing"), ('<lock joint=""/>', "joint= is missing"),
    ("<speeds> </speeds>", "is empty; write the names"),
    ("<speeds>a</speeds><speeds>b</speeds>", "<speeds> is there already on line 1; keep one"),
    ('<wheel joint="j" radius="0.1" driven="1"/>', "driven='1' must be true or false"),
    ('<wheel joint="j" radius="0.1" mu="x"/>', "'x' is not a number"),
    ('<wheel joint="j" kind="cube"/>', "kind 'cube' does not exist"),
    ("<skid/>", "needs exactly one of"), ('<skid model="mid-axle" free="a"/>', "needs exactly one"),
    ('<skid model="odd"/>', "model='odd' does not exist"), ('<skid free=" "/>', "free= is empty"),
    ('<skid track_factor="0"/>', "track_factor=0 must be positive"),
    ("</nhmech><nhmech>", "there is another <nhmech> on line 1; merge them"),
    ("</nhmech><nhmech odd='1'>", "there is another <nhmech>")])
def test_what_the_element_cannot_say_is_told_with_its_line(lines, words):
    with pytest.raises(ModelError, match="^<string>, line 1, <") as caught:
        parse(lines)
    assert words in caught.value.text
    with pytest.raises(ModelError, match="attribute 'odd' does not exist; <nhmech> has elements"):
        parse_tag(read_source(f'<robot name="r">{BASE}<nhmech odd="1"/></robot>'))


# --- packages and meshes --------------------------------------------------------------------------

@pytest.fixture
def bare(monkeypatch):
    for name in ("AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH", "GAZEBO_MODEL_PATH",
                 "GZ_SIM_RESOURCE_PATH"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def made(folder, name: str):
    """A package of that name in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.xml").write_text(f"<package>\n <name> {name} </name></package>")
    return folder


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_a_package_is_found_below_the_folders_of_ros(bare, tmp_path, depth):
    """Up to two folders down, whatever its own folder is called."""
    folder = made(tmp_path.joinpath(*"abc"[:depth]), "p")
    bare.setenv("ROS_PACKAGE_PATH", str(tmp_path))
    assert find_package("p", {}) == (folder if depth <= 2 else None)


def test_which_of_several_packages_is_the_one(bare, tmp_path):
    """The one that is given, that of the prefix, that of the path, one above or beside the file."""
    given, prefix, path, above = (tmp_path / name for name in ("given", "prefix", "path", "above"))
    share = made(prefix / "share" / "p", "other")
    made(path / "p", "p"), made(above / "p", "p")
    near = above / "robots" / "deep"
    near.mkdir(parents=True)
    bare.setenv("AMENT_PREFIX_PATH", f"{os.pathsep}{prefix}")
    bare.setenv("ROS_PACKAGE_PATH", str(path))
    assert find_package("p", {"p": given}, near) == given
    assert find_package("p", {}, near) == share
    bare.delenv("AMENT_PREFIX_PATH")
    assert find_package("p", {}, near) == path / "p"
    bare.delenv("ROS_PACKAGE_PATH")
    assert find_package("p", {}, near) == above / "p"
    assert find_package("p", {}) is None and find_package("q", {}, near) is None
    # the folder's own package goes before one beside it, and is found six folders up
    own = made(above / "robots", "p")
    assert find_package("p", {}, near) == own
    deep = own.joinpath(*"abcde")
    deep.mkdir(parents=True)
    assert find_package("p", {}, deep) == own and find_package("p", {}, deep / "f") is None
    for name in ("", ".", "..", "a/b", "a\\b"):
        assert find_package(name, {}, near) is None
    # hidden folders, and what is inside of another package, are passed over
    bare.setenv("ROS_PACKAGE_PATH", str(tmp_path / "more"))
    made(tmp_path / "more" / ".git" / "q", "q"), made(tmp_path / "more" / "r" / "q", "q")
    assert find_package("q", {}) == tmp_path / "more" / "r" / "q"
    made(tmp_path / "more" / "r", "r")
    assert find_package("q", {}) is None


@pytest.mark.parametrize("what", ["read_text", "iterdir"])
def test_packages_that_cannot_be_read_are_passed_over(bare, tmp_path, what):
    """A manifest, or a folder, of somebody else."""
    made(tmp_path / "a_closed" / "own", "p"), made(tmp_path / "b_open" / "own", "p")
    bare.setenv("ROS_PACKAGE_PATH", str(tmp_path))
    assert find_package("p", {}) == tmp_path / "a_closed" / "own"
    real = getattr(Path, what)

    def refuse(path, *words, **more):
        if "a_closed" in str(path):
            raise PermissionError(path)
        return real(path, *words, **more)
    bare.setattr(Path, what, refuse)
    assert find_package("p", {}) == tmp_path / "b_open" / "own"


def test_a_mesh_is_looked_for_in_packages_and_above_the_file(bare, tmp_path):
    urdf = tmp_path / "robot" / "urdf" / "r.urdf"
    urdf.parent.mkdir(parents=True)
    mesh = tmp_path / "robot" / "meshes" / "a.stl"
    mesh.parent.mkdir()
    mesh.touch()
    for name in ("package://robot/meshes/a.stl", "model://robot/meshes/a.stl", "meshes/a.stl",
                 "../meshes/a.stl", "..\\meshes\\a.stl", f"file://{mesh}"):
        assert find_file(name, {}, urdf).resolve() == mesh
        assert find_file(name, {}, None) == (mesh if "file:" in name else None)
    assert find_file("package://x/meshes/a.stl", {"x": mesh.parents[1]}, None) == mesh
    assert find_file("package://x/a.stl", {}, urdf) is None
    assert find_file("package://robot/meshes", {}, urdf) is None          # a folder
    for variable in ("GAZEBO_MODEL_PATH", "GZ_SIM_RESOURCE_PATH", "ROS_PACKAGE_PATH"):
        for folder in (tmp_path, tmp_path / "robot"):
            bare.setenv(variable, str(folder))
            assert find_file("package://robot/meshes/a.stl", {}, None) == mesh
        bare.delenv(variable)
    bare.setenv("AMENT_PREFIX_PATH", str(tmp_path / "install"))
    installed = tmp_path / "install" / "share" / "robot" / "b.stl"
    installed.parent.mkdir(parents=True)
    installed.touch()
    assert find_file("package://robot/b.stl", {}, urdf) == installed
    assert [package_of(name) for name in ("package://a/b", "model://a", "a/b", "file://a")] == [
        "a", "a", None, None]


def test_files_below_the_packages_and_the_robot_s_own(bare, tmp_path):
    urdf = tmp_path / "p" / "urdf" / "r.urdf"
    inside, outside = tmp_path / "p" / "a.stl", tmp_path / "q" / "a.stl"
    assert is_within(urdf.parent / "x" / "a.stl", {}, urdf) and not is_within(inside, {}, urdf)
    assert not is_within(urdf.parent, {}, urdf) and not is_within(inside, {}, None)
    made(tmp_path / "p", "p")
    assert is_within(inside, {}, urdf) and not is_within(outside, {}, urdf)
    assert is_within(outside, {"q": tmp_path / "q"}, urdf)
    assert not is_within(tmp_path / "p" / ".." / "q" / "a.stl", {}, urdf)
    assert not is_within(outside, {"root": tmp_path.anchor}, None)
    for variable, folder in (("GAZEBO_MODEL_PATH", tmp_path / "q"),
                             ("AMENT_PREFIX_PATH", tmp_path)):
        bare.setenv(variable, str(folder))
        at = outside if folder != tmp_path else tmp_path / "share" / "a.stl"
        assert is_within(at, {}, None)
        bare.delenv(variable)


def test_meshes_that_are_not_there_are_told_with_their_packages(bare, tmp_path):
    urdf = tmp_path / "r.urdf"
    (tmp_path / "a.stl").touch()
    made(tmp_path / "known", "known")
    assert missing_meshes(["a.stl", "a.stl"], {}, urdf) == []
    [said] = missing_meshes(["a.stl", "b.stl", "package://known/c.stl", "b.stl"], {}, urdf)
    assert said.text.startswith("2 of 3 mesh files to draw are not there, for example 'b.stl'")
    assert said.remedy is None
    names = ["package://x/m/c.stl", "model://y/d.stl", "package://x/e.stl", "package://known/f"]
    [said] = missing_meshes(names, {}, urdf)
    assert said.text.startswith("4 of 4 mesh files")
    assert said.remedy.command == (
        "Say where they are: --package x=FOLDER --package y=FOLDER, where FOLDER of 'x' is the one "
        "that holds 'm/c.stl'")


def test_packages_are_names_of_folders(tmp_path):
    assert read_packages(None) == {} and read_packages({"a": str(tmp_path)}) == {"a": tmp_path}
    for wrong, words in ((["a"], "must be a mapping"), ({"a": tmp_path / "b"}, "is not a folder")):
        with pytest.raises(InputError, match=words):
            read_packages(wrong)


# --- files of meshes ------------------------------------------------------------------------------

TRIANGLE = np.array([[(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(1, 0, 0), (1, 1, 0), (-0.0, 1, 0)]])


def stl(file, faces, count=None) -> None:
    made_of = np.zeros(len(faces), [("n", "<f4", 3), ("c", "<f4", (3, 3)), ("m", "<u2")])
    made_of["c"], made_of["n"], made_of["m"] = faces, 1.1, 7        # which nobody reads
    count = len(faces) if count is None else count
    file.write_bytes(bytes(80) + count.to_bytes(4, "little") + made_of.tobytes())


def test_corners_of_a_mesh_that_are_equal_are_one_vertex(tmp_path):
    """In a binary file and in one of text; -0 is 0."""
    file = tmp_path / "a.STL"
    stl(file, TRIANGLE)
    mesh = MeshFiles().mesh(file)
    assert len(mesh.vertices) == 4
    np.testing.assert_array_equal(mesh.vertices[mesh.faces], TRIANGLE)
    np.testing.assert_allclose(mesh.areas().sum(), 1.0, rtol=1e-12)
    text = tmp_path / "b.stl"
    facets = "".join("facet normal 0 0 1\nouter loop\n" + "".join(
        "vertex {} {} {}\n".format(*corner) for corner in face) + "endloop\nendfacet\n"
        for face in TRIANGLE)
    text.write_text(f"solid x\n{facets}endsolid x\n")
    np.testing.assert_allclose(MeshFiles().mesh(text).areas().sum(), 1.0, rtol=1e-12)


def test_what_is_no_mesh_is_none_and_is_read_once(tmp_path, monkeypatch):
    files = MeshFiles()
    for name, content in (("a.stl", b"odd"), ("b.obj", b""), ("c.odd", b"x")):
        (tmp_path / name).write_bytes(content)
        assert files.mesh(tmp_path / name) is None
    assert files.mesh(tmp_path / "nowhere.stl") is None
    stl(tmp_path / "nowhere.stl", TRIANGLE)
    assert files.mesh(tmp_path / "nowhere.stl") is None           # as it was when it was looked for
    short = tmp_path / "short.stl"
    stl(short, TRIANGLE, count=3)
    assert files.mesh(short) is None
    large = tmp_path / "large.stl"
    large.touch()
    os.truncate(large, (1 << 28) + 1)
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} is read"))
    assert files.mesh(large) is None


@pytest.mark.parametrize("name, text, unit", [
    ("a.dae", '<unit name="inch" meter="0.0254"/>', 0.0254), ("a.DAE", "<unit meter = '2'/>", 2.0),
    ("a.dae", "", 1.0), ("a.obj", '<unit meter="2"/>', 1.0),
    ("a.dae", " " * (1 << 16) + '<unit meter="2"/>', 1.0)])
def test_the_unit_of_a_mesh(tmp_path, name, text, unit):
    """COLLADA tells it in its head."""
    (tmp_path / name).write_text(text)
    assert length_unit(tmp_path / name) == unit


@pytest.mark.parametrize("unit", [1.0, 0.0254])
def test_a_mesh_of_another_unit_is_in_metres(tmp_path, unit):
    found = MeshFiles().mesh(write_dae(tmp_path / "a.dae", unit=unit))
    expected = sorted((unit * TRIANGLES.reshape(-1, 3)).tolist())
    np.testing.assert_allclose(sorted(found.vertices.tolist()), expected, rtol=1e-9)


def test_a_wheel_in_a_mesh_is_found_for_each_scale_and_place(tmp_path):
    a = np.linspace(0, 2 * np.pi, 49)[:-1]
    points = np.array([(np.sin(t), y, np.cos(t)) for t in a for y in (-0.1, 0.1)])
    stl(tmp_path / "a.stl", points.reshape(-1, 3, 3))
    layout, files = laid(link("base")), MeshFiles()
    X, axle = layout.X_RL["base"].copy(), np.array([0, 1.0, 0])
    for scale, along in (((1, 1, 1), 0.0), ((2, 2, 2), 0.3), ((1, 1, 1), -0.1)):
        X[1, 3] = along
        solid = files.solid(tmp_path / "a.stl", scale, X, axle)
        assert (solid.radius, solid.along) == pytest.approx((scale[0], along), rel=1e-6, abs=1e-6)
        assert files.solid(tmp_path / "a.stl", scale, X, axle) is solid
    assert files.solid(tmp_path / "a.stl", (1, 1, 1), X, np.array([1.0, 0, 0])) is None
    assert files.solid(tmp_path / "b.stl", (1, 1, 1), X, axle) is None
