"""Reading robots: paths, strings, xacro, packages, and what is refused before anything is read."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from nhmech.errors import InputError, ModelError
from nhmech.urdf.packages import find_file, find_package
from nhmech.urdf.text.source import read_source

CART = """<?xml version="1.0" encoding="iso-8859-1"?>
<robot name="cart">
  <link name="base"><inertial><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual><geometry><mesh filename="package://cart_description/meshes/base.stl"/></geometry></visual></link>
</robot>
"""
XACRO = """<?xml version="1.0"?>
<robot name="cart" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="m" value="2.5"/>
  <xacro:include filename="$(find cart_description)/base.xacro"/>
</robot>
"""
BASE = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <link name="base"><inertial><mass value="${2*m}"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
</robot>
"""


def test_path_string_and_bytes_give_the_same(tmp_path):
    file = tmp_path / "cart.urdf"
    file.write_text(CART, encoding="latin-1")
    from_path, from_string, from_bytes = (read_source(file), read_source(CART),
                                          read_source(CART.encode()))
    assert (
        from_path.root.get("name")
        == from_string.root.get("name")
        == from_bytes.root.get("name")
        == "cart"
    )
    assert from_path.path == file.resolve() and from_string.path is None
    assert from_path.label == "cart.urdf"
    link = from_string.root.find("link")
    assert from_string.at(link) == '<string>, line 3, <link name="base">'
    assert "<mass> of <link name=" in from_string.at(link.find("inertial/mass"))
    assert read_source(str(file)).text == from_path.text


@pytest.mark.parametrize(
    ("source", "fragment"),
    [
        ("nowhere/at/all.urdf", "does not exist"),
        ("differential_drive", 'nhmech.urdf_path("differential_drive")'),
        ("<robot name='x'><link></robot>", "line 1: not well-formed XML"),
        ("<sdf/>", "root element is <sdf>"),
        ("<!DOCTYPE robot><robot name='x'/>", "DOCTYPE"),
        ("<!DOCTYPE robot [<!ENTITY m SYSTEM 'file:///etc/hostname'>]><robot name='x'>&m;</robot>",
         "DOCTYPE"),
        ("<robot name='x'>&unknown;</robot>", "unknown"),
    ],
)
def test_refused(source, fragment):
    with pytest.raises(ModelError, match=".") as caught:
        read_source(source)
    assert fragment in str(caught.value)


@pytest.mark.parametrize(
    ("source", "fragment"),
    [("", "neither a path nor XML"), ("two\nlines", "neither a path nor XML"),
     ("a\0b", "neither a path nor XML"), (42, "not int"), (None, "not NoneType")],
)
def test_what_is_no_source(source, fragment):
    with pytest.raises(InputError) as caught:
        read_source(source)
    assert fragment in str(caught.value)


def test_growing_entities_do_not_grow():
    levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    with pytest.raises(ModelError):
        read_source(f'<!DOCTYPE robot [<!ENTITY e0 "ha">{levels}]><robot name="x"><link '
                    'name="&e11;"/></robot>')


def test_a_folder_and_a_missing_file_say_what_is_there(tmp_path):
    (tmp_path / "cart.urdf").write_text(CART)
    with pytest.raises(ModelError, match="is a folder"):
        read_source(tmp_path)
    with pytest.raises(ModelError, match=r"cart\.urdf"):
        read_source(tmp_path / "crat.urdf")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A ROS package cart_description with a URDF in it, and no ROS around."""
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(variable, raising=False)
    folder = tmp_path / "src" / "cart_description"
    (folder / "urdf").mkdir(parents=True)
    (folder / "package.xml").write_text("<package><name>cart_description</name></package>")
    (folder / "urdf" / "cart.urdf").write_text(CART)
    (folder / "urdf" / "cart.urdf.xacro").write_text(XACRO)
    (folder / "base.xacro").write_text(BASE)
    return folder


def test_packages_by_mapping_environment_and_walking_up(package, tmp_path, monkeypatch):
    assert read_source(package / "urdf" / "cart.urdf").packages == {"cart_description": package}
    assert read_source(CART).packages == {}
    assert read_source(CART, packages={"cart_description": package}).packages == {
        "cart_description": package
    }
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path))
    assert read_source(CART).packages == {"cart_description": package}
    share = tmp_path / "install" / "share" / "cart_description"
    share.mkdir(parents=True)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "install"))
    assert read_source(CART).packages == {"cart_description": share}
    assert find_package("../../etc", {}, package) is None
    with pytest.raises(InputError, match="not a folder"):
        read_source(CART, packages={"cart_description": tmp_path / "nowhere"})
    with pytest.raises(InputError, match="must be a mapping"):
        read_source(CART, packages="cart_description")


def test_xacro_expands_without_ros(package):
    pytest.importorskip("xacro")
    source = read_source(package / "urdf" / "cart.urdf.xacro")
    assert float(source.root.find("link/inertial/mass").get("value")) == 5.0
    assert source.label == "cart.urdf.xacro (expanded)"


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        (XACRO.replace("cart_description", "no_such_package"), "no_such_package"),
        (XACRO.replace('value="2.5"',
                       'value="${1/0}"').replace("$(find cart_description)/base.xacro",
                                                 "../base.xacro"),
         "division"),
        ('<!DOCTYPE robot><robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"/>',
         "DOCTYPE"),
        ('<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:nothing/></robot>',
         "nothing"),
        ('<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include '
         'filename="cart.xacro"/></robot>', "xacro could not expand"),
    ],
)
def test_xacro_that_does_not_expand(package, text, fragment):
    pytest.importorskip("xacro")
    file = package / "urdf" / "cart.xacro"
    file.write_text(text)
    with pytest.raises(ModelError) as caught:
        read_source(file)
    assert fragment in str(caught.value) and "cart.xacro" in str(caught.value)


def test_xacro_files_expand_side_by_side(package):
    """In threads, each with packages of its own, and without a trace in this process."""
    pytest.importorskip("xacro")
    modules = set(sys.modules)
    files = []
    for mass in (2.0, 3.0, 4.0):
        folder = package.parent / f"mass_{mass:g}"
        folder.mkdir()
        (folder / "base.xacro").write_text(BASE)
        file = folder / "cart.xacro"
        file.write_text(XACRO.replace("2.5", str(mass)).replace("cart_description", "parts"))
        files.append((file, folder, mass))
    with ThreadPoolExecutor(3) as threads:
        read = threads.map(lambda job: read_source(job[0], packages={"parts": job[1]}), files)
        masses = [float(s.root.find("link/inertial/mass").get("value")) for s in read]
    assert masses == [2 * mass for _, _, mass in files]
    assert not {"xacro", "ament_index_python"} & (set(sys.modules) - modules)


@pytest.mark.parametrize("name", [
    "package://cart_description/a b.stl", "model://cart_description/a b.stl", "../a b.stl",
    "..\\a b.stl", "file://{}/a%20b.stl", "{}/a b.stl"])
def test_where_a_mesh_may_be(package, name):
    (package / "a b.stl").touch()
    urdf = package / "urdf" / "cart.urdf"
    assert find_file(name.format(package), {}, urdf).resolve() == package / "a b.stl"


@pytest.mark.parametrize("folder, is_found", [("urdf", True), ("", True), ("urdf/old", False)])
def test_a_package_may_have_another_folder_and_no_manifest(tmp_path, folder, is_found):
    """Its files are below that of the URDF or the one above, if no package has its name."""
    mesh, name = tmp_path / "meshes" / "rim.stl", "package://cart_description/meshes/rim.stl"
    urdf = tmp_path / folder / "cart.urdf"
    for file in (mesh, urdf):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    assert (find_file(name, {}, urdf) == mesh) == is_found
    named = tmp_path / "cart_description" / "meshes" / "rim.stl"
    named.parent.mkdir(parents=True)
    named.touch()
    assert find_file(name, {}, urdf) == named


@pytest.mark.parametrize("name", ["x" * 5000, "package://" + "x" * 5000 + "/a.stl", "a\0b",
                                  "https://example.org/a.stl", "package://", "file://", "", "."])
def test_names_of_meshes_that_are_nowhere(package, name):
    assert find_file(name, {}, package / "urdf" / "cart.urdf") is None
    assert find_package(name.removeprefix("package://").partition("/")[0], {}, package) is None
