"""Faults of single elements: which are found, in which words, what mends each, and that nothing is
left to find where it was mended."""

from __future__ import annotations

from math import inf, nan, pi

import numpy as np
import pytest
from support import joint, link, robot

from nhmech import ModelError
from nhmech.errors import Remedy
from nhmech.urdf.text.fault import (
    Fault,
    FaultyFile,
    faulty_file,
    from_slip,
    mend,
    pass_faults,
)
from nhmech.urdf.text.slips import Slip
from nhmech.urdf.text.source import Source, read_source
from nhmech.urdf.text.validate_joint import check_joint
from nhmech.urdf.text.validate_looks import check_materials, check_shape, find_oddities
from nhmech.urdf.validate_inertia import (
    check_inertial,
    find_fault,
    nearest_possible,
    read_inertia,
)

LIMIT = '<limit lower="-1" upper="1" effort="2" velocity="3"/>'


def check(source: Source) -> list:
    joints = {one.get("name"): one for one in source.root.findall("joint")}
    return list(check_joint(source, source.root.find("joint"), joints))


def made(more="", kind="continuous", name="j", axis=None, rpy=None, mass=True) -> Source:
    text = joint(name, "a", "b", kind=kind, more=more)
    text = text if axis is None else text.replace('<axis xyz="0 1 0"/>', axis)
    text = text if rpy is None else text.replace('rpy="0 0 0"', f'rpy="{rpy}"')
    base = link("a") if mass else '<link name="a"/>'
    return read_source(robot(base, link("b"), link("c"), text,
                             joint("other", "b", "c", more='<mimic joint="universe"/>' * (
                                 name == "universe"))))


# what the joint has, the words of the faults, and what they are called when they are mended; "" of
# those that nothing mends, ? before what is a guess
@pytest.mark.parametrize("words, faults", [
    (dict(name="universe"), ["'universe' collides", "a name that Pinocchio has taken"]),
    (dict(name="z", kind="prismatic", more=LIMIT),
     ["'z' collides with a coordinate", "a name that the base has taken"]),
    (dict(name="z", kind="fixed"), []),
    (dict(kind="Revolute ", more=LIMIT), ["'Revolute ' does not exist; it is one of revolute",
                                          "a misspelt joint type"]),
    (dict(kind="continous"), ["'continous' does not exist", "a misspelt joint type"]),
    (dict(kind="contin"), ["'contin' does not exist", ""]),
    (dict(kind="evolut", more=LIMIT), ["'evolut' does not exist", "a misspelt joint type"]),
    (dict(kind="my_revolute"), ["'my_revolute' does not exist", ""]),
    (dict(kind="ball"), ["joint type 'ball' does not exist", ""]),
    (dict(kind="floating", mass=False), ["floating joints are not supported",
                                         "a joint that lets the base float is fixed"]),
    (dict(kind="planar"), ["planar joints are not supported", ""]),
    (dict(axis='<axis xyz="0 0 0"/>'), ["xyz='0 0 0' has no direction",
                                        "?an axis without direction"]),
    (dict(axis='<axis xyz="0 0 0.9e-9"/>'), ["has no direction", "?an axis without direction"]),
    (dict(axis='<axis xyz="0 0 1.1e-9"/>'), []),
    (dict(axis='<axis xyz="0 0 0"/>', kind="fixed"), []),
    (dict(more='<origin xyz="0 0"/>'), ["xyz='0 0' has 2 numbers; it needs 3", ""]),
    (dict(more='<limit effort="x" velocity="1"/>'), ["'x' is not a number",
                                                     "effort= that is no number to be used"]),
    (dict(rpy="90 0 45"), ["rpy='90 0 45' is more than a turn", "an rpy in degrees"]),
    (dict(more='<dynamics damping="0,5"/>'), ["write decimals with a point",
                                              "numbers with commas or odd spaces"]),
    (dict(more='<dynamics/>'), ["has neither damping= nor friction=",
                                "<dynamics> without numbers"]),
    (dict(more='<dynamics friction="0"/>'), []),
    (dict(more='<dynamics damping="-1e-9"/>'), ["damping=-1e-9 is negative and would create energy",
                                                "damping= that is no number to be used"]),
    (dict(more='<dynamics damping="x" friction="1"/>'), ["damping='x': 'x' is not a number",
                                                         "damping= that is no number to be used"]),
    (dict(more='<calibration rising="x"/>'), ["'x' is not a number",
                                              "rising= that is no number to be used"]),
    (dict(more='<safety_controller soft_lower_limit="1"/>'), [
        "k_velocity= is missing", "k_velocity= that is no number to be used"]),
    (dict(kind="revolute"), ["a revolute joint needs <limit lower= upper= effort= velocity=/>; add "
                             'it or make it type="continuous"',
                             "a revolute joint without <limit> is unlimited"]),
    (dict(kind="prismatic"), ["a prismatic joint needs <limit lower= upper= effort= velocity=/>; "
                              "add it", "a prismatic joint without <limit> is unlimited"]),
    (dict(more='<limit effort="1"/>'), ["attribute velocity= is missing; give it a number, or 0",
                                        "a limit without velocity="]),
    (dict(more='<limit velocity="1"/>'), ["effort= is missing", "a limit without effort="]),
    (dict(more=LIMIT.replace('"2"', '"-2"')), ["effort=-2 is negative; a limit is 0 or -1 (none)",
                                               "effort= that is no number to be used"]),
    (dict(more=LIMIT.replace('"3"', '"-1"')), []),
    (dict(more=LIMIT.replace('"3"', '"x"')), ["'x' is not a number",
                                              "velocity= that is no number to be used"]),
    (dict(more=LIMIT.replace('"-1"', '"1.5"'), kind="revolute"), [
        "lower=1.5 is greater than upper=1; exchange them",
        "limits whose lower is greater than the upper are dropped"]),
    (dict(more=LIMIT.replace('"-1"', '"1"'), kind="revolute"), []),
    (dict(more=LIMIT.replace('"-1"', '"1.5"')), []),
    (dict(more=LIMIT.replace('"-1"', '"-1,5"'), kind="revolute"), [
        "write decimals with a point", "", "is not a number", ""]),
    (dict(more='<mimic joint="nobody"/>'), ["mimics joint 'nobody', which does not exist; the "
                                            "joints are j, other",
                                            "?<mimic> of a joint that does not exist"]),
    (dict(more='<mimic joint="j"/>'), ["a joint cannot mimic itself",
                                       "a joint that mimics itself"]),
    (dict(more='<mimic joint="other" multiplier="2"/>'), []),
    (dict(more='<mimic joint="other" multiplier="x"/>'), [
        "'x' is not a number", "?multiplier= that is no number to be used"]),
])
def test_faults_of_joints(words, faults):
    source = made(**words)
    found = check(source)
    if faults[2:]:                # where the words of a number mend themselves
        assert all(fault in str(found) for fault in faults[::2])
        return
    assert [error.mend is not None for error in found] == [bool(what) for what in faults[1::2]]
    for error, text, what in zip(found, faults[::2], faults[1::2], strict=True):
        assert text in str(error) and ", line 1, <" in str(error)
        if error.mend is not None:
            assert (error.mend.what, error.mend.certain) == (what.lstrip("?"), what[0] != "?")
            error.mend.edit()
    if all(faults[1::2]):         # what lost its only number may be a fault itself
        for error in check(source):
            error.mend.edit()
        assert check(source) == []


def test_a_joint_needs_a_type_and_floats_only_from_a_world():
    text = robot(link("a"), link("b"), joint("j", "a", "b").replace('type="continuous" ', ""))
    text = text.replace(' type="continuous"', "")
    (error,) = check(read_source(text))
    assert "attribute type= is missing; it is one of revolute, continuous" in str(error)
    # a link that hangs on another, or has a mass, is no world
    parts = ['<link name="w"/>', '<link name="a"/>', link("b"),
             joint("j", "a", "b", kind="floating"), joint("k", "w", "a", kind="fixed")]
    (error,) = check(read_source(robot(*parts)))
    assert "not supported" in str(error) and error.mend is None
    (error,) = check(read_source(robot(*parts[1:4])))
    assert error.mend is not None


def test_what_is_mended_is_what_was_meant():
    turned = made(rpy="90 0 45")
    check(turned)[0].mend.edit()
    rpy = turned.triple(turned.root.find("joint/origin"), "rpy")
    assert rpy == pytest.approx((pi / 2, 0, pi / 4))
    unlimited = made(LIMIT.replace('"3"', '"-1"'))
    assert check(unlimited) == [] and unlimited.root.find("joint/limit").get("velocity") == "0"
    reversed_ = made(LIMIT.replace('"-1"', '"1.5"'), kind="revolute")
    check(reversed_)[0].mend.edit()
    assert dict(reversed_.root.find("joint/limit").attrib) == {"effort": "2", "velocity": "3"}
    renamed = made(name="universe")
    check(renamed)[0].mend.edit()
    assert renamed.root.find("joint").get("name") == "universe_of_file"
    assert renamed.root.find("joint/mimic").get("joint") == "universe_of_file"
    odd = made('<limit effort="x" velocity="1"/><safety_controller/>')
    for error in check(odd):
        error.mend.edit()
    assert check(odd) == [] and odd.root.find("joint/safety_controller") is None
    assert dict(odd.root.find("joint/limit").attrib) == {"effort": "0", "velocity": "1"}
    bare = made(kind="revolute")
    check(bare)[0].mend.edit()
    assert dict(bare.root.find("joint/limit").attrib) == {"effort": "0", "velocity": "0"}


# -- shapes and materials --------------------------------------------------------------------------
@pytest.mark.parametrize("shape, text, what", [
    ('<sphere radius="1"/>', None, ""), ('<mesh filename="a.stl" scale="1 1 1"/>', None, ""),
    ('<box size="0 1 2"/>', None, ""), ('<capsule radius="1" length="0"/>', None, ""),
    ('<cone/>', "it needs one of box, sphere, cylinder, capsule, mesh",
     "shapes that cannot be drawn are ignored"),
    ("", "<geometry> holds nothing", "shapes that cannot be drawn are ignored"),
    ('<sphere radius="-1e-9"/>', "-1e-09 is a negative size",
     "shapes that cannot be drawn are ignored"),
    ('<cylinder radius="1"/>', "length= is missing", "shapes that cannot be drawn are ignored"),
    ('<box size="1 1 -1"/>', "-1.0 is a negative size", "shapes that cannot be drawn are ignored"),
    ("<mesh/>", "filename= is missing; name the mesh", "shapes that cannot be drawn are ignored"),
    ('<mesh filename="a" scale="1 2 3 4"/>', "scale='1 2 3 4' has four numbers",
     "a scale of four numbers: the first three are used"),
    ('<mesh filename="a" scale="1 2"/>', "has 2 numbers; it needs 3",
     "shapes that cannot be drawn are ignored")])
def test_faults_of_shapes(shape, text, what):
    source = read_source(robot(link("a", body=f"<visual><geometry>{shape}</geometry></visual>")))
    visual = source.root.find("link/visual")
    found = list(check_shape(source, visual))
    assert len(found) == (text is not None)
    for error in found:
        assert text in str(error) and error.mend.what == what
        error.mend.edit()
        left = source.root.find("link/visual")
        assert left is None if "ignored" in what else left.find("geometry/mesh").get(
            "scale") == "1 2 3"


def test_where_a_shape_is_is_a_place():
    """An angle in degrees is one in radians; a place that is none takes the shape with it."""
    for origin, text, what in (('rpy="0 0 90"', "more than a turn", "an rpy in degrees"),
                               ('xyz="0 0"', "has 2 numbers", "shapes that cannot be drawn are")):
        body = f'<visual><origin {origin}/><geometry><sphere radius="1"/></geometry></visual>'
        source = read_source(robot(link("a", body=body)))
        (error,) = check_shape(source, source.root.find("link/visual"))
        assert text in str(error) and what in error.mend.what
        error.mend.edit()
        assert (source.root.find("link/visual") is None) == ("xyz" in origin)


@pytest.mark.parametrize("materials, texts", [
    ('<material name="m"><color rgba="1 0 0 1"/></material>', []),
    ('<material name="m"><texture filename="t.png"/></material>', []),
    ('<material><color rgba="1 0 0 1"/></material>', ["a material needs a name: <material"]),
    ('<material name="m"/>', ["has neither <color"]),
    ('<material name="m"><color rgba="1 0 0 1"/></material>' * 2, ["'m' is defined on line 1"]),
    ('<material name="m"><color rgba="1 0 0"/></material>', ["has 3 numbers; it needs 4"])])
def test_faults_of_materials(materials, texts):
    source = read_source(robot(link("a"), materials))
    found = list(check_materials(source))
    assert len(found) == len(texts)
    for error, text in zip(found, texts):
        assert text in str(error)
        error.mend.edit()
    assert list(check_materials(source)) == []
    if "needs 4" in str(texts):
        assert source.root.find("material/color").get("rgba") == "0.5 0.5 0.5 1"


def test_a_material_of_a_visual_needs_a_name():
    body = '<visual><geometry><sphere radius="1"/></geometry><material/></visual>'
    source = read_source(robot(link("a", body=body)))
    (error,) = check_materials(source)
    assert "or the whole link is dropped" in str(error)
    error.mend.edit()
    assert source.root.find("link/visual/material") is None


def test_second_and_empty_shapes_are_told():
    two = ('<collision><geometry><box size="1 {} 0.5"/><sphere radius="1"/><sphere radius="2"/>'
           "</geometry></collision>")
    seen = '<visual><geometry><sphere radius="0"/></geometry></visual>'
    source = read_source(robot(link("a", body=two.format(1) + seen), link("b", body=two.format(0))))
    second, empty = find_oddities(source)
    assert second.text.count("<sphere>") == 2
    assert second.text.endswith("in one <geometry> is ignored")
    assert empty.text == '<string>, line 1, <box> of <link name="b">: a collision shape has size 0'
    assert find_oddities(read_source(robot(link("a", body=seen)))) == []


# -- inertias --------------------------------------------------------------------------------------
FULL = '<mass value="2"/><inertia ixx="1" iyy="2" izz="3" ixy="0.1" ixz="0.2" iyz="0.3"/>'


@pytest.mark.parametrize("inside, text, what", [
    (FULL, None, ""), (FULL.replace('"2"/><i', '"0"/><i'), None, ""),
    (FULL.replace('<mass value="2"/>', ""), "<mass> is missing; add it",
     "an <inertial> without <mass> is ignored"),
    ('<mass value="2"/>', "<inertia> is missing; add it",
     "a mass without <inertia> is a point mass"),
    (FULL.replace('value="2"', 'value="-1e-9"'), "mass -1e-9 kg is negative", None),
    (FULL.replace(' ixz="0.2"', ""), "ixz= is missing; a product of inertia is mostly 0",
     "missing products of inertia are 0"),
    (FULL.replace(' iyy="2"', ""), "iyy= is missing; give it a number", None),
    ('<origin xyz="0 0"/>' + FULL, "has 2 numbers; it needs 3", None)])
def test_faults_of_inertials(inside, text, what):
    source = read_source(robot(f'<link name="a"><inertial>{inside}</inertial></link>'))
    element = source.root.find("link/inertial")
    found = list(check_inertial(source, element))
    assert len(found) == (text is not None)
    for error in found:
        assert text in str(error) and (error.mend.what if error.mend else None) == what
        if error.mend:
            error.mend.edit()
            assert source.root.find("link/inertial") is None or list(
                check_inertial(source, element)) == []
    if text is None:
        mass, X, inertia = read_inertia(source, element)
        assert inertia.tolist() == [[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 3]]
        assert X[:3, 3].tolist() == [0, 0, 0] and mass in (0.0, 2.0)
    elif "point mass" in str(what):
        assert not read_inertia(source, element)[2].any()


@pytest.mark.parametrize("moments, why", [
    ((0, 0, 0), None), ((1, 1, 1.99), None), ((0.8, 1, 1.99), None),
    ((0.8, 1, 2.01), "the largest may not exceed the sum of the others"),
    ((-0.99e-6, 1, 1), None), ((-1.01e-6, 1, 1), "none may be negative"),
    ((-1.01e6, 1e12, 1e12), "none may be negative"), ((0, 0, 1.05e-15), None),
    ((0, 0, 1.2e-15), "the largest may not exceed"), ((1, inf, 1), "its numbers are too large"),
    ((1, nan, 1), "its numbers are too large")])
def test_inertias_that_no_body_has(moments, why):
    """In axes that are turned; a tenth is rounding and measurement, and so is a millionth below
    zero."""
    found = find_fault(np.diag(moments).astype(float))
    assert found is None if why is None else why in found
    if np.isfinite(moments).all():
        R = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
        turned = R @ np.diag(moments) @ R.T
        assert (find_fault(turned) is None) == (why is None)
        nearest, moved = nearest_possible(turned)
        second = sum(moments) / 2 - np.array(moments)
        clipped = np.maximum(second, 0)
        expected = clipped.sum() - clipped
        np.testing.assert_allclose(np.linalg.eigvalsh(nearest), np.sort(expected), rtol=1e-9,
                                   atol=1e-9 * max(map(abs, moments)))
        size = np.linalg.norm(second)
        assert moved == pytest.approx(np.linalg.norm(clipped - second) / (size or 1), abs=1e-9)


def test_a_fault_says_whether_it_is_of_a_joint_or_of_what_is_seen():
    seen = '<visual><origin/><geometry><box size="1 1 1"/></geometry><material name="m"/></visual>'
    source = read_source(robot(link("a", body=seen + seen.replace("visual", "collision")),
                               link("b"), joint("j", "a", "b", more=LIMIT),
                               '<material name="m"><color rgba="1 1 1 1"/></material>'))
    for path, looks, name in (("link/visual/origin", True, ""), ("link/visual", True, ""),
                              ("link/collision/geometry/box", True, ""),
                              ("link/inertial", False, ""), ("material/color", True, ""),
                              ("joint", False, "j"),
                              ("joint/limit", False, "j"), ("link", False, "")):
        fault = source.error(source.root.find(path), "odd").fault
        assert (fault.looks, fault.joint, fault.is_mended) == (looks, name, False)
        assert fault.is_harmless(["j"]) is fault.is_harmless([]) is False


def test_what_is_mended_is_shown_before_and_after():
    """Of what was edited inside, what is inside; of what is gone, nothing."""
    text = robot('<link name="a"><inertial><mass value="2"/></inertial></link>', link("b"),
                 joint("j", "a", "b", more='<dynamics/><limit effort="-2" velocity="1"/>'))
    source = read_source(text)
    (error,) = check_inertial(source, source.root.find("link/inertial"))
    fault = mend(error)
    inertia = " ".join(f'{name}="0.0"' for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    assert (fault.before, fault.after) == ("<inertial>", f'<mass value="2"> <inertia {inertia}>')
    assert (fault.what, fault.name) == ("a mass without <inertia> is a point mass",
                                        '<inertial> of <link name="a">')
    found = [mend(error) for error in check(source)]
    assert [(one.before, one.after, one.joint, one.certain) for one in found] == [
        ('<limit effort="-2" velocity="1">', '<limit effort="0" velocity="1">', "j", True),
        ("<dynamics>", "nothing", "j", True)]


# -- what is said of faults ------------------------------------------------------------------------
def fault(line=1, joint_name="j", what="odd", before="a", **words) -> Fault:
    return Fault(line, f'<joint name="{joint_name}">', "is wrong", joint=joint_name, what=what,
                 before=before, after="b", **words)


def test_repairs_are_told_by_kind_with_three_of_their_changes():
    many = [fault(k, f"j{k}", before=f"<{k}>") for k in range(5)] + [fault(9, "k", what="other")]
    several, one = pass_faults("file", many, ["j0"], repair=True)
    assert several.text == ("j0, j1, j2, j3, j4: odd; repaired: <0> -> b; <1> -> b; <2> -> b and 2 "
                            "more")
    assert one.text == "k: other; repaired: a -> b"
    (three,) = pass_faults("file", many[:3] + many[:1], [], repair=False)
    assert three.text.endswith("repaired: <0> -> b; <1> -> b; <2> -> b")


@pytest.mark.parametrize("words, moving, repair, passes", [
    ({}, ["j"], True, True), ({}, ["j"], False, False), ({}, ["k"], False, True),
    (dict(certain=False), ["j"], True, False), (dict(certain=False), ["k"], True, True),
    (dict(looks=True), ["j"], False, True), (dict(what=""), ["j"], True, False)])
def test_faults_that_matter_to_the_motion_need_a_repair_that_is_sure(words, moving, repair, passes):
    words = {"what": "odd"} | words
    after = "b" * bool(words["what"])
    odd = Fault(3, "<x>", "is wrong", joint="j", before="a", after=after, **words)
    if passes:
        assert len(pass_faults("file", [odd], moving, repair)) == 1
        return
    with pytest.raises(FaultyFile, match="^file, line 3, <x>: is wrong"):
        pass_faults("file", [odd], moving, repair)


def test_an_error_has_the_remedies_of_what_is_not_mended():
    """And that of what is wrong besides, once the file is mended."""
    mended, other = fault(1), Fault(2, "<x>", "is odd", Remedy("Turn it", "--turn"))
    own = Fault(3, "<y>", "is odd", Remedy("Not this", "--not"), what="odd", after="b")
    assert faulty_file("file", [mended]).remedy.command == "Have this mended by --repair"
    assert faulty_file("file", [mended, own]).remedy.command == "Have all of it mended by --repair"
    assert faulty_file("file", [other, own]).remedy == Remedy("Turn it", "--turn")
    assert faulty_file("file", [other, other]).remedy.python == "Turn it. Turn it"
    further = ModelError("file: there is more", Remedy("Add it", "--add"))
    error = faulty_file("file", [mended], further)
    assert error.text.splitlines()[0] == "file: 2 things are wrong"
    assert error.text.splitlines()[2] == "  there is more"
    assert error.remedy.python == "Have the file mended by repair=True. Add it"
    assert faulty_file("file", [mended], ModelError("odd")).remedy.command == (
        "Have the file mended by --repair")
    assert faulty_file("file", [fault(1, certain=False)]).remedy is None
    assert [from_slip(Slip(4, "odd", "a", after)).after for after in ("", "b")] == ["nothing", "b"]


def test_an_error_lists_all_faults_in_their_order():
    faults = [fault(3, "c"), fault(1, "a"), fault(2, "b")]
    error = faulty_file("file", faults)
    assert str(error).splitlines() == [
        "file: 3 things are wrong", *(f'  line {k}, <joint name="{name}">: is wrong'
                                      for k, name in enumerate("abc", 1)),
        "Have all of it mended by repair=True"]
    assert faulty_file("file", faults[:1]).remedy.python == "Have this mended by repair=True"
    unsure = faulty_file("file", [*faults, fault(4, certain=False)])
    assert unsure.remedy is None and unsure.faults[0].line == 1
    for count, more in ((10, []), (11, ["  and 1 more"])):
        many = faulty_file("file", [fault(k) for k in range(count)])
        first, *lines = many.text.splitlines()
        assert first == f"file: {count} things are wrong" and lines[10:] == more
    further = faulty_file("file", faults, ModelError("file: it does not roll"))
    assert "  it does not roll" in str(further) and "Have the file mended by" in str(further)
