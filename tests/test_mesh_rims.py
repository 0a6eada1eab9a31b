"""Which of the meshes and cylinders of a rotor is its rim, what is said of the others, and what a
wheel in no mesh may be."""

from __future__ import annotations

from math import pi
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from placed import laid, mesh, shape
from support import joint, link

from nhmech.urdf.description import Reason, Witness
from nhmech.urdf.layout import Joint, Layout
from nhmech.urdf.notice import NoticeKind
from nhmech.urdf.wheels.radii import read_radii, report_radii
from nhmech.urdf.wheels.rims import (
    RimSource,
    beside_mesh,
    equal_rims,
    find_mesh,
    find_reach,
    find_rim,
    is_partial,
    largest_rims,
    read_vertices,
    unused_meshes,
)

ALONG = (pi / 2, 0, 0)
GONE = shape("mesh", filename="package://lost/gone.stl")
GONE_DRAWN = shape("mesh", tag="visual", filename="gone.stl")


@pytest.fixture
def wheel(tmp_path: Path):
    """A round mesh about the y axis: its radius [m], where it is along y and how wide."""
    def make(radius: float, tag="collision", y=0.0, width=0.1, **placed) -> str:
        a = np.arange(48) * pi / 24
        ring = [(radius * np.sin(t), y + side * width / 2, radius * np.cos(t))
                for t in a for side in (-1, 1)]
        return mesh(tmp_path / f"{tag}{radius:.6g}.stl", ring, tag, **placed)
    return make


def cylinder(radius: float, tag="collision") -> str:
    return shape("cylinder", rpy=ALONG, tag=tag, radius=radius, length=0.05)


def rotor(hub: str = "", tyre: str = "", at=(0, 0.2, 0), rpy=(0, 0, 0)) -> tuple[Layout, Joint]:
    """Shapes of the link that turns about y, and of one that is fixed to it."""
    layout = laid(link("base"), link("hub", body=hub), link("tyre", body=tyre),
                  joint("j", "base", "hub", (1, 2, 3), (0.3, 0.2, 0.1)),
                  joint("f", "hub", "tyre", at, rpy, kind="fixed"))
    return layout, layout.joints["j"]


BEYOND = 0.1 / (1 - 0.07)          # a hub of 0.1 is the rim of no larger mesh


@pytest.mark.parametrize("hub, tyre, radius, source", [
    (("c", 0.1), ("m", 0.9995 * BEYOND), 0.1, RimSource.COLLISION_PRIMITIVE),
    (("c", 0.1), ("m", 1.0005 * BEYOND), 1.0005 * BEYOND, RimSource.COLLISION_MESH),
    (("c", 0.1), ("vm", 0.9995 * BEYOND), 0.1, RimSource.COLLISION_PRIMITIVE),
    (("c", 0.1), ("vm", 1.0005 * BEYOND), 1.0005 * BEYOND, RimSource.VISUAL_MESH),
    (("m", 0.1), ("vm", 0.9995 * BEYOND), 0.1, RimSource.COLLISION_MESH),
    (("m", 0.1), ("vc", 1.0005 * BEYOND), 1.0005 * BEYOND, RimSource.VISUAL_PRIMITIVE),
    (("m", 0.1), ("m", 0.101), 0.101, RimSource.COLLISION_MESH),
    (("vm", 0.1), ("vc", 0.101), 0.101, RimSource.VISUAL_PRIMITIVE),
    (("vc", 0.1), ("vm", 0.101), 0.101, RimSource.VISUAL_MESH),
    (("c", 0.1), ("c", 0.101), 0.101, RimSource.COLLISION_PRIMITIVE)])
def test_a_better_source_counts_unless_it_is_only_the_hub(wheel, hub, tyre, radius, source):
    """Smaller than what is on another link by seven hundredths of that."""
    def make(kind: str, size: float) -> str:
        tag = "visual" if "v" in kind else "collision"
        return wheel(size, tag) if "m" in kind else cylinder(size, tag)
    layout, axle = rotor(make(*hub), make(*tyre))
    rim = find_rim(layout, axle)
    assert (rim.radius, rim.source) == (pytest.approx(radius, rel=1e-3), source)
    assert rim.link == ("hub" if radius == 0.1 else "tyre")
    assert rim.is_mesh == ("mesh" in source.value) and not rim.is_ball
    # beside a primitive of its own link a mesh is only its picture
    layout, axle = rotor(make(*hub) + make(*tyre))
    assert find_rim(layout, axle).radius == pytest.approx(
        0.1 if hub[0] == "c" and tyre[0] != "c" else radius, rel=1e-3)


def test_a_rim_in_a_mesh_is_where_it_is(wheel):
    """In any frame; rounded to four digits, its middle to a thousandth of a millimetre."""
    rpy, at = (0.4, 0.5, 0.6), (0.0, 0.2, 0.0)
    turn = pin.rpy.matrixToRpy(pin.rpy.rpyToMatrix(*rpy).T)
    placed = wheel(0.123456, y=0.3, width=0.08, rpy=tuple(turn), scale="1 1 1")
    layout, axle = rotor(tyre=placed, at=at, rpy=rpy)
    rim = find_rim(layout, axle)
    assert rim.radius == 0.1235 and rim.shape == "collision0.123456.stl"
    assert rim.centre == pytest.approx((0, 0.5, 0), abs=1e-6)
    assert rim.width == pytest.approx(0.08, rel=1e-5)
    assert str(rim.reason) == "collision mesh 'collision0.123456.stl' of 'tyre'"
    assert [one and one.radius for one in largest_rims(layout, axle)] == [None, 0.1235, None]
    assert [one.link for one in equal_rims(layout, axle, rim)] == ["tyre"]
    assert find_reach(layout, axle, rim) == 0.1235                     # no primitive is beside it


@pytest.mark.parametrize("more, count", [(0.00698, 2), (0.00702, 1), (-0.00698, 2), (-0.00702, 1)])
def test_rims_are_equal_up_to_seven_hundredths(wheel, more, count):
    layout, axle = rotor(cylinder(0.1), cylinder(0.1 + more))
    (first, *_) = rims = equal_rims(layout, axle, find_rim(rotor(cylinder(0.1))[0], axle))
    assert first.link == "hub" and len(rims) == count


@pytest.mark.parametrize("hub, tyre, without, with_", [
    ("c", "", "c", "c"), ("c", "v", None, "c"), ("cv", "", "c", "c"), ("", "c", "c", "c"),
    ("m", "", None, "m"), ("m", "c", None, "c"), ("b", "c", "c", "c"), ("v", "", None, "v"),
    ("", "", None, None), ("b", "", None, None), ("bv", "", None, "v"), ("bv", "c", "c", "c")])
def test_without_its_meshes_a_rim_is_known_only_where_none_could_count(wheel, hub, tyre, without,
                                                                      with_):
    """`c` a cylinder of 0.1 m, `b` a box, `m` and `v` meshes that collide and are drawn."""
    made = {"c": cylinder(0.1), "b": shape("box", size="0.1 0.1 0.1"), "m": wheel(0.1),
            "v": wheel(0.1, "visual")}
    layout, axle = rotor(*("".join(made[one] for one in kinds) for kinds in (hub, tyre)))
    for meshes, expected in ((False, without), (True, with_)):
        rim = find_rim(layout, axle, meshes=meshes)
        assert {None: None, "c": RimSource.COLLISION_PRIMITIVE, "m": RimSource.COLLISION_MESH,
                "v": RimSource.VISUAL_MESH}[expected] == (rim and rim.source)


@pytest.mark.parametrize("hub, tyre, radius", [
    ("v", "", 0.1), ("vG", "", None), ("v", "G", None), ("vg", "", None), ("mg", "", 0.2),
    ("mG", "", 0.2), ("m", "g", None), ("m", "G", None), ("c", "G", 0.3), ("cG", "", 0.3),
    ("v", "bG", 0.1), ("v", "mG", 0.2), ("", "G", None)])
def test_a_mesh_that_is_missing_may_be_the_tyre(wheel, hub, tyre, radius):
    """`G` is only drawn, `g` collides: what is drawn of its link is no evidence, and no mesh is
    while all of a link's that collide, or all that is drawn, are missing."""
    made = {"c": cylinder(0.3), "b": shape("box", size="0.1 0.1 0.1"), "m": wheel(0.2),
            "v": wheel(0.1, "visual"), "g": GONE, "G": GONE_DRAWN}
    layout, axle = rotor(*("".join(made[one] for one in kinds) for kinds in (hub, tyre)))
    rim = find_rim(layout, axle)
    assert rim is None if radius is None else rim.radius == pytest.approx(radius)
    assert is_partial(layout, axle) == ("g" in (hub + tyre).lower())


def test_no_wheel_is_larger_than_three_metres(wheel, tmp_path):
    """And each mesh that gives no radius is told once, with the reason."""
    for radius, is_one in ((2.99, True), (3.01, False)):
        layout, axle = rotor(wheel(radius))
        assert (find_rim(layout, axle) is not None) == is_one
        assert len(unused_meshes(layout, axle)) == (not is_one)
    (tmp_path / "odd.stl").write_text("odd")
    square = mesh(tmp_path / "square.stl", [(1, 0, 1), (-1, 0, 1), (1, 0, -1), (-1, 0, -1)])
    odd = shape("mesh", filename=tmp_path / "odd.stl")
    layout, axle = rotor(wheel(3.01) + wheel(0.1), square + odd + GONE_DRAWN + GONE + GONE)
    found = {Path(one.filename).name: (one.link, one.package, str(one).partition("' ")[2]
                                       .partition("' ")[2]) for one in unused_meshes(layout, axle)}
    assert found == {
        "collision3.01.stl": ("hub", None, "would make a wheel of 3.01 m: is it in millimetres? "
                                           'Then give it scale="0.001 0.001 0.001"'),
        "square.stl": ("tyre", None, "is not round about the axle"),
        "odd.stl": ("tyre", None, "cannot be read")} | {
        "gone.stl": found["gone.stl"]}
    lost = [one for one in unused_meshes(layout, axle) if "gone" in one.filename]
    assert [(one.package, str(one)) for one in lost] == [
        ("lost", "the mesh 'package://lost/gone.stl' of link 'tyre' was not found"),
        (None, "the mesh 'gone.stl' of link 'tyre' was not found")]


@pytest.mark.parametrize("off, is_beside", [(0.00301, True), (0.00299, False), (0.5, True)])
@pytest.mark.parametrize("tag", ["collision", "visual"])
def test_a_mesh_about_a_line_beside_the_axle(wheel, tag, off, is_beside):
    """By more than three hundredths of its radius."""
    layout, axle = rotor(GONE, wheel(0.1, tag, 0.3, xyz=(0.6 * off, 0, 0.8 * off)))
    found = beside_mesh(layout, axle)
    assert (found is not None) == is_beside
    if is_beside:
        name, radius, middle = found
        assert (name, radius) == (f"{tag}0.1.stl", pytest.approx(0.1, rel=1e-6))
        assert middle == pytest.approx((0.6 * off, 0.5, 0.8 * off), abs=1e-6)


def test_vertices_are_in_the_frame_that_was_asked_and_finite(tmp_path):
    points = np.array([(1.0, 2, 3), (4, 5, 7), (-2, 0, 1)])
    body = mesh(tmp_path / "a.stl", points, xyz=(0.1, 0.2, 0.3), rpy=(0, 0, pi / 2),
                scale="1 2 -1")
    layout, _ = rotor(body, mesh(tmp_path / "nan.stl", [*points, (np.nan, 0, 0)])
                      + mesh(tmp_path / "none.stl", np.zeros((0, 3))) + cylinder(0.1) + GONE)
    for frame, shift in (("hub", 0.0), ("tyre", -0.2)):
        (one,) = layout.shapes("hub", frame)
        expected = [(-2 * y + 0.1, x + 0.2 + shift, 0.3 - z) for x, y, z in points]
        np.testing.assert_allclose(sorted(map(tuple, read_vertices(layout, one))),
                                   sorted(expected), atol=1e-6)
    nan, none, drum, gone = layout.shapes("tyre")
    assert [read_vertices(layout, one) for one in (nan, none, drum, gone)] == [None] * 4
    assert [find_mesh(layout, one) is None for one in (nan, drum, gone)] == [False, True, True]


# -- what each source says of a radius -------------------------------------------------------------
def told(layout: Layout, axle: Joint) -> list[tuple]:
    return [(one.witness, round(one.value, 6), round(one.value - one.below, 6),
             round(one.value + one.above, 6)) for one in read_radii(layout, axle)]


def test_sources_of_a_radius_with_what_may_be_off(wheel):
    """A cylinder by a tenth; a mesh by seven hundredths below, for loaded tyres, and five above;
    a plugin by a tenth."""
    layout, axle = rotor(cylinder(0.1) + wheel(0.11) + wheel(0.12, "visual"))
    assert told(layout, axle) == [(Witness.PRIMITIVE, 0.1, 0.09, 0.11),
                                  (Witness.COLLISION_MESH, 0.11, 0.1023, 0.1155),
                                  (Witness.DRAWN, 0.12, 0.1116, 0.126)]
    # while a mesh is missing, what is left is perhaps only a part
    layout, axle = rotor(cylinder(0.1) + wheel(0.11) + wheel(0.12, "visual") + GONE_DRAWN)
    assert [one[3] for one in told(layout, axle)] == [0.11, np.inf, np.inf]
    # what is smaller on another link is another part, what is larger is not
    layout, axle = rotor(cylinder(0.1), wheel(0.099, "visual"))
    assert [one[1] for one in told(layout, axle)] == [0.1]
    layout, axle = rotor(cylinder(0.1), wheel(0.101, "visual"))
    assert [one[1] for one in told(layout, axle)] == [0.1, 0.101]
    plugin = ('<gazebo><plugin filename="diff_drive.so" name="d"><left_joint>j</left_joint>'
              "<wheel_radius>0.2</wheel_radius></plugin></gazebo>")
    layout = laid(link("base"), link("hub"), joint("j", "base", "hub"), plugin)
    assert told(layout, layout.joints["j"]) == [(Witness.ELEMENT, 0.2, 0.18, 0.22)]
    assert read_radii(layout, layout.joints["j"])[0].rim is None


def test_wheels_that_differ_in_names_alone_share_what_is_said():
    why = {name: Reason("radius {} is odd", (name,)) for name in "abc"}
    same, other = report_radii(why | {"d": Reason("radius of {} is even", ("d",))})
    assert (same.kind, same.text) == (NoticeKind.OTHER_RADIUS, "a, b, c: radius 'a' is odd")
    assert other.text == "d: radius of 'd' is even" and report_radii({}) == []
