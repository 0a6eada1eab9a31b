"""The text of a robot, letter by letter: numbers, encodings, declarations, slips, capsules, and the
dress of xacro."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.dom.minidom import parseString

import numpy as np
import pinocchio as pin
import pytest
from lxml import etree
from support import joint, link, robot

from nhmech import InputError, ModelError
from nhmech.urdf.text.capsules import split_capsules
from nhmech.urdf.text.fault import element_name, joint_of, mend
from nhmech.urdf.text.macros import uncalled_error
from nhmech.urdf.text.slips import Slip, decode, drop_declaration, mend_slips
from nhmech.urdf.text.source import read_source
from nhmech.urdf.text.validate import validate
from nhmech.urdf.text.xacro_file import (
    Macro,
    expand,
    expand_xacro,
    find_uncalled,
    has_expression,
    is_xacro_path,
    uses_xacro,
)

SPACE = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'


# --- numbers --------------------------------------------------------------------------------------

def read(attribute: str, text: str, length: int):
    source = read_source(f'<robot name="r"><x {attribute}="{text}"/></robot>')
    return source.numbers(source.root[0], attribute, length)


@pytest.mark.parametrize("attribute, text, expected", [
    ("value", "1", (1.0,)), ("value", " -1e3\t", (-1000.0,)), ("xyz", "1  2\n3", (1.0, 2.0, 3.0)),
    ("value", "1e12", (1e12,)), ("value", "-1e-99", (-1e-99,)), ("value", "1e-101", (0.0,)),
    ("upper", "1e16", (1e16,)), ("xyz", "1e-200 1 -1e-200", (0.0, 1.0, 0.0))])
def test_numbers_are_read_as_a_urdf_has_them(attribute, text, expected):
    """What is too small to be meant is 0; limits may be as large as they like."""
    assert read(attribute, text, len(expected)) == expected


@pytest.mark.parametrize("attribute, text, length, words, mended", [
    ("value", "x", 1, "value='x': 'x' is not a number", None),
    ("xyz", "1 b 3", 3, "'b' is not a number", None),
    ("xyz", "1 2 0x3", 3, "'0x3' is not a number", None),
    ("value", "1_000", 1, "'1_000' is not a number", None),
    ("value", "\u0663", 1, "'\u0663' is not a number", None),
    ("xyz", "1\xa02 3", 3, "is not a number", "1 2 3"),
    ("xyz", "1,2,3", 3, "'1,2,3' is not a number; write decimals with a point", "1 2 3"),
    ("xyz", "0,5 1 2", 3, "write decimals with a point", "0.5 1 2"),
    ("value", "1,5", 1, "write decimals with a point", "1.5"),
    ("value", "1,500", 1, "write decimals with a point", None),
    ("xyz", "1,500, 2, 3,", 3, "write decimals with a point", None),
    ("xyz", "1,2", 3, "write decimals with a point", None),
    ("xyz", "1,0000 2 3", 3, "write decimals with a point", "1.0000 2 3"),
    ("value", "1 2", 1, "value='1 2' must be one number", None),
    ("xyz", "1 2", 3, "xyz='1 2' has 2 numbers; it needs 3, separated by spaces", None),
    ("value", "", 1, "must be one number", None),
    ("xyz", "1 nan 3", 3, "is not finite", None), ("upper", "-inf", 1, "is not finite", None),
    ("xyz", "1 -1.1e12 1", 3, "is larger than 1e+12, which no robot needs", None)])
def test_what_is_no_number_is_told_and_mended_where_its_meaning_is_plain(attribute, text, length,
                                                                         words, mended):
    with pytest.raises(ModelError, match="line 1, <x>") as caught:
        read(attribute, text, length)
    assert words in caught.value.text
    assert ("point" in caught.value.text) == ("," in text)
    assert (caught.value.mend is not None) == (mended is not None)
    if mended is not None:
        assert mend(caught.value).after == f'<x {attribute}="{mended}">'


def test_attributes_and_children_that_are_missing():
    source = read_source('<robot name="r"><x/></robot>')
    x = source.root[0]
    for call, words in ((lambda: source.number(x, "value"), "value= is missing; give it a number"),
                        (lambda: source.numbers(x, "xyz", 3), "give it 3 numbers separated by"),
                        (lambda: source.triple(x, "xyz"), "xyz= is missing"),
                        (lambda: source.child(x, "mass"), "<mass> is missing; add it")):
        with pytest.raises(ModelError, match=words):
            call()
    assert source.number(x, "value", 2.0) == 2.0 and source.triple(x, "xyz", None) is None
    x.set("xyz", "1 2 3")
    assert source.triple(x, "xyz", None) == source.triple(x, "xyz") == (1.0, 2.0, 3.0)
    assert source.child(source.root, "x") is x


# --- encodings and declarations -------------------------------------------------------------------

def test_bytes_in_no_encoding_are_a_slip_of_their_line():
    text, [slip] = decode(b"<a>\n\n\xf6</a>")
    assert text == "<a>\n\n\xf6</a>"
    assert (slip.line, slip.before, slip.after) == (3, r"'\xf6'", repr("\xf6"))
    assert "not UTF-8" in slip.what and not slip.harmless
    assert decode(b"\n\xf6")[1][0].line == 2
    _, [slip] = decode(b"\xf6")
    assert slip.line == 1 and slip.before == r"'\xf6'"
    text, [slip] = decode(b'<?xml version="1.0" encoding="ascii"?>\n\n\xf6')
    assert slip == Slip(1, "the text is not in the encoding 'ascii' that it declares",
                        "encoding='ascii'", "Windows-1252")
    _, [slip] = decode(b'<?xml encoding="odd"?><a/>')
    assert "'odd'" in slip.what


@pytest.mark.parametrize("content, text", [
    (b'<?xml encoding="utf-16"?><a/>', '<?xml encoding="utf-16"?><a/>'),
    ("<a/>".encode("utf-16-le"), "<a/>"), ("<a/>".encode("utf-16-be"), "<a/>"),
    ('<?xml encoding="utf-16"?>'.encode("utf-16"), '<?xml encoding="utf-16"?>'),
    ("\xf6".encode("utf-8-sig"), "\xf6"), ("\u20ac".encode("utf-32"), "\u20ac"),
    (b"<?xml encoding='latin-1'?>\xf6", "<?xml encoding='latin-1'?>\xf6")])
def test_texts_say_their_encoding_by_mark_or_by_declaration(content, text):
    """A declaration that is read byte by byte is not in UTF-16, whatever it says."""
    assert decode(content) == (text, [])


@pytest.mark.parametrize("text, indented, left, fault, line", [
    ("<a/>", False, "<a/>", None, 0), ('<?xml version="1.0"?><a/>', False, "<a/>", None, 0),
    ('\ufeff<?xml version="1.1"\n?>\r\n<a/>\r<b/>', False, "\n\n<a/>\n<b/>", None, 0),
    ('\n\n <?xml version="1.0"?>\n<a/>', False, "\n\n\n<a/>", "white space before", 3),
    ('\n\n <?xml version="1.0"?>\n<a/>', True, "\n\n\n<a/>", None, 0),
    ('<?xml version="1.0">\n<a/>', False, "\n<a/>", "not closed", 1),
    ('\n<?xml version="2.0"?><a/>', True, "\n<a/>", "without a version that exists", 2)])
def test_a_declaration_is_dropped_and_lines_are_kept(text, indented, left, fault, line):
    found, slips = drop_declaration(text, indented)
    assert found == left and [slip.line for slip in slips] == [line] * bool(fault)
    for slip in slips:
        assert fault in slip.what and slip.harmless and slip.after == '<?xml version="1.0"?>'
        assert slip.before == text[text.index("<"):text.index(">") + 1]


# --- slips ----------------------------------------------------------------------------------------

def fails(text: str) -> tuple[int, int] | None:
    try:
        etree.fromstring(text)
    except etree.XMLSyntaxError as error:
        return error.position
    return None


@pytest.mark.parametrize("text, mended, what, line", [
    ("<a>\n\x01</a>", "<a>\n</a>", "control characters", 2),
    ('<a\n b="1"\n c=d/>', '<a\n b="1"\n c="d"/>', "a value without quotation marks", 3),
    ("robot:\n<a/>", "\n<a/>", "text outside the root element", 1),
    ("\n\n robot\n<a/>", "\n\n\n<a/>", "text outside the root element", 3),
    ("\n<a b=c/>", '\n<a b="c"/>', "a value without quotation marks", 2),
    ("<a>&\n</a>", "<a>&amp;\n</a>", "an & that is not", 1),
    ('<a xmlns:x="y"><x:b/><z:c/></a>', '<a xmlns:z="z" xmlns:x="y"><x:b/><z:c/></a>', "a prefix",
     1),
    ("<!-- x:y= --><r:a b='1'/>", "<!-- x:y= --><r:a xmlns:r=\"r\" b='1'/>", "a prefix", 1),
    ("<a/>\nend", "<a/>", "text outside the root element", 2),
    ('<a>\n<b c="x & y"/></a>', '<a>\n<b c="x &amp; y"/></a>', "an & that is not", 2),
    ("<a>x & y &lt; &#65; z</a>", "<a>x &amp; y &lt; &#65; z</a>", "an & that is not", 1),
    ("<a>\n<!-- b -- c --- --></a>", "<a>\n<!-- b == c === --></a>", "-- inside a comment", 2),
    ("<a><!-- b ---></a>", "<a><!-- b =--></a>", "-- inside a comment", 1),
    ("<a b=\u201cc\u201d d= \u201ee\u201c/>", '<a b="c" d= "e"/>'.replace('"e"', '"e"'),
     "quotation marks that are not", 1),
    ("<a b='<'/>", "<a b='&lt;'/>", "a < in a value", 1),
    ("<a b=c d='e'/>", '<a b="c" d=\'e\'/>', "a value without quotation marks", 1),
    ('<a b=c/>', '<a b="c"/>', "a value without quotation marks", 1),
    ("<a b='x=y' c=d/>", "<a b='x=y' c=\"d\"/>", "a value without quotation marks", 1),
    ('<a b="1"c=\'2\'d="3"/>', '<a b="1" c=\'2\' d="3"/>', "no space between two", 1),
    ('<a>\n<b c="1" d="1" c="1"/></a>', '<a>\n<b c="1" d="1"/></a>', "an attribute twice with", 2),
    ("<a>\n<x:b x:c='1' xml:d='2'/></a>", '<a xmlns:x="x">\n<x:b x:c=\'1\' xml:d=\'2\'/></a>',
     "a prefix that is not declared", 2),
    ("<!-- x:y --><r:a b='1'/>", "<!-- x:y --><r:a xmlns:r=\"r\" b='1'/>", "a prefix", 1),
    ("<a><xacro:b/></a>", f"<a {SPACE}><xacro:b/></a>", "a prefix that is not declared", 1)])
def test_a_slip_is_mended_where_it_is(text, mended, what, line):
    found, slips = mend_slips(text, fails)
    assert found == mended and fails(found) is None
    assert all(what in slip.what for slip in slips) and slips[0].line == line


@pytest.mark.parametrize("text", ['<a b="1" b="2"/>', "<a><b></a>", "no tag", ">", "<", "<a",
                                  "</x:a>"])
def test_what_has_no_plain_meaning_is_left(text):
    assert mend_slips(text, fails) == (text, [])


def test_several_prefixes_are_declared_at_once():
    """Each is a slip where it is used first; in the order of their names, after those there are."""
    text = '<a xmlns:b="c">\n<z:b b:y="1"/>\n<y:c z:d="2"/><z:e/></a>'
    found, slips = mend_slips(text, fails)
    assert found == text.replace("<a", '<a xmlns:y="y" xmlns:z="z"', 1) and fails(found) is None
    assert [(one.line, one.before, one.after) for one in slips] == [
        (3, "y:", '<a xmlns:y="y" ...>'), (2, "z:", '<a xmlns:z="z" ...>')]


def test_slips_of_several_kinds_are_mended_one_after_the_other():
    """As far as the parser gets; what it does not stop at is left as it is."""
    text = '<a b=c>\n<!-- d -- -->\n<e f="1"f="1" g="x & y"/>\n</a>'
    found, slips = mend_slips(text, fails)
    assert fails(found) is None and found.count("\n") == text.count("\n")
    assert sorted(slip.line for slip in slips) == [1, 2, 3, 3, 3]
    fine = '<a b="x" c = "y"><!-- d - e --><![CDATA[ & x=y -- ]]><?f g=h?></a>'
    assert mend_slips(fine, fails) == (fine, [])
    inside = "<a><![CDATA[ x & y -- ]]><?f g=h & ?> & </a>"
    assert mend_slips(inside, fails)[0] == inside.replace(" & <", " &amp; <")
    # from 4 MiB on, none
    asked = []
    for length, count in ((1 << 22, 1), ((1 << 22) + 1, 0)):
        asked.clear()
        mend_slips("x" * length, lambda text: asked.append(1) or None)
        assert len(asked) == count
    long = mend_slips(f'<a b="1"b="{"x" * 50}"/>', fails)[1][0]
    assert len(long.before) == 40 and long.before.endswith(" ...")


# --- what a text is -------------------------------------------------------------------------------

def test_a_file_is_as_large_as_a_robot_can_be(tmp_path):
    file = tmp_path / "large.urdf"
    file.touch()
    os.truncate(file, (1 << 26) + 1)
    with pytest.raises(ModelError, match=f"has {(1 << 26) + 1} bytes; a robot description has at"):
        read_source(file)


def test_a_name_that_no_file_can_have_cannot_be_read():
    with pytest.raises(ModelError, match="cannot be read: embedded null byte"):
        read_source(Path("a\0b.urdf"))


@pytest.mark.parametrize("text, words", [
    ("<robot name='r'/><robot name='s'/>", "there are 2 <robot> elements in it; a file holds one"),
    ("<robot name='r'/><b/>", "Extra content"),
    ("<a><robot name='r'/><robot name='s'/></a>", "there are 2 <robot> elements in it; give each"),
    ("<a><robot name='r'/><robot name='s'></a>", "not well-formed XML"),
    ("<x:sdf xmlns:x='y'/>", "this is SDF"), ("<urdf/>", "a URDF starts with <robot name=...>"),
    ("<robot>", "the file is cut off"), ("<robot></link>", "mismatch"),
    ("<!DOCTYPE robot><robot name='r'/>", "has a DOCTYPE"),
    ("<!DOCTYPE robot SYSTEM 'r.dtd'><robot name='r'/>", "has a DOCTYPE"),
    ("<robot name='r'>&odd;</robot>", "odd")])
def test_what_is_no_robot_is_named_for_what_it_is(text, words):
    with pytest.raises(ModelError, match="<string>.*") as caught:
        read_source(text)
    assert words in caught.value.text


def test_a_namespace_of_the_robot_is_dropped():
    source = read_source('<r:robot xmlns:r="urn:x" name="a">\n<r:link name="b"/></r:robot>')
    assert [one.tag for one in source.root.iter()] == ["robot", "link"]
    [fault] = source.faults
    assert fault.before == 'xmlns="urn:x"' and fault.looks


def test_only_xacro_takes_arguments():
    with pytest.raises(InputError, match="arguments a: only a xacro file takes arguments"):
        read_source("<robot name='a'/>", arguments={"a": "1"})


def test_elements_are_called_by_their_names_and_their_joints():
    source = read_source('<robot name="r" xmlns:x="y"><joint name="j"><limit/><x:odd/></joint>'
                         '<link name="l"><inertial><mass/></inertial></link>'
                         '<transmission><joint name="t"/></transmission><gazebo><a><b/></a>'
                         "</gazebo></robot>")
    names = {one: element_name(one) for one in source.root.iter("*")}
    assert [*names.values()] == [
        '<robot name="r">', '<joint name="j">', '<limit> of <joint name="j">',
        '<x:odd> of <joint name="j">', '<link name="l">', '<inertial> of <link name="l">',
        '<mass> of <link name="l">', "<transmission>", '<joint name="t">', "<gazebo>", "<a>", "<b>"]
    made = etree.SubElement(source.root, "made")
    assert source.error(made, "odd").text == "<string>, line 1, <made>: odd"
    assert [joint_of(one) for one in names] == ["", "j", "j", "j", *[""] * 8]


# --- a tree ---------------------------------------------------------------------------------------

def faults(*parts: str) -> str:
    with pytest.raises(ModelError) as caught:
        validate(read_source(robot(*parts)))
    return caught.value.text


FIXED = {"kind": "fixed"}


@pytest.mark.parametrize("parts, words", [
    ((), "there is no <link> in it"),
    ((link("a"), link("b")), "there are 2 links without a parent: 'a', 'b'"),
    ((link("a"), link("b"), joint("j", "a", "b", **FIXED), joint("k", "a", "b", **FIXED)),
     "link 'b' already hangs on joint 'j' (line 1)"),
    ((link("a"), joint("j", "a", "a", **FIXED)), "link 'a' is its own parent"),
    ((link("a"), link("b"), joint("j", "a", "b", **FIXED), joint("k", "b", "a", **FIXED)),
     "every link hangs on another"),
    ((*map(link, "abc"), joint("j", "b", "c", **FIXED), joint("k", "c", "b", **FIXED)),
     "link 'b' is part of a loop that does not reach the root 'a'"),
    ((link("a"), link("a")), "the name 'a' is taken by the link on line 1"),
    ((link("a"), link(" ")), 'a link needs a name: <link name="...">'),
    ((link("a"), link("\u202e")), "has characters that cannot be shown: name it 'link'"),
    ((link("a"), link("b\u202ec")), "has characters that cannot be shown: name it 'bc'"),
    ((link("a", body='<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" '
                     'iyz="0"/></inertial>'),), "a link has one <inertial>; merge the two"),
    ((link("a"), '<x:y xmlns:x="xacro"/>'), "is not expanded"),
    ((link("a"), '<y xmlns="xacro"/>'), "is not expanded"),
    ((link("a", "x"), '<material name="m"/>'), "2 things are wrong")])
def test_links_and_joints_make_one_tree(parts, words):
    """And each of these faults comes alone."""
    text = faults(*parts)
    assert words in text
    assert ("things are wrong" in text) == ("things" in words)
    sound = robot(*map(link, "abc"), joint("j", "a", "b", **FIXED), joint("k", "b", "c", **FIXED))
    assert validate(read_source(sound)) == ((), [])


def test_what_is_mended_may_show_what_it_hid():
    """Beside what nothing mends; and a capsule is split once all is sound."""
    text = faults(link("a", "x"), link("b"), joint("j", "a", "b", more='<dynamics damping="y"/>'))
    assert text.startswith("<string>: 3 things are wrong")
    body = '<visual><geometry><capsule radius="1" length="1"/></geometry></visual>'
    source = read_source(robot(link("a", body=body)))
    assert validate(source) == ((), []) and len(source.root.findall("link/visual")) == 3


def test_joints_without_ends_are_told_before_the_tree():
    parts = link("a"), link("b"), joint("j", "a", "c", **FIXED)
    text = faults(*parts)
    assert "link 'c' does not exist; the links are a, b" in text and "without a parent" not in text
    text = faults(*parts[:2], joint("j", "a", "b", **FIXED).replace('<child link="b"/>', ""))
    assert '<child link="..."/> is missing; add it' in text and "without a parent" not in text


# --- capsules -------------------------------------------------------------------------------------

@pytest.mark.parametrize("origin", ['<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/>', ""])
@pytest.mark.parametrize("tag", ["collision", "visual"])
def test_a_capsule_is_a_cylinder_with_a_ball_at_each_end(tag, origin):
    """Along the z axis of its own frame; another shape stays what it is."""
    body = f'<{tag}>{origin}<geometry><capsule radius="0.1" length="0.7"/></geometry></{tag}>'
    source = read_source(robot(link("a", body=body), link("b", body=body.replace(
        "capsule", "cylinder")), link("c", body=f"<{tag}/>")))
    split_capsules(source)
    shapes = source.root.findall(f"link[@name='a']/{tag}")
    assert [next(one.iterfind("geometry/*")).tag for one in shapes] == ["cylinder", "sphere",
                                                                        "sphere"]
    cylinder, *balls = shapes
    place = cylinder.find("origin")
    xyz, rpy = (np.zeros(3), np.zeros(3)) if place is None else (
        np.array(source.triple(place, name)) for name in ("xyz", "rpy"))
    ends = [np.array(source.triple(ball.find("origin"), "xyz")) for ball in balls]
    way = pin.rpy.rpyToMatrix(*rpy) @ (0, 0, 0.35)
    np.testing.assert_allclose(sorted(map(tuple, ends)), sorted(map(tuple, (xyz - way, xyz + way))),
                               rtol=0, atol=1e-15)
    for ball in balls:
        assert dict(ball.find("geometry/sphere").attrib) == {"radius": "0.1"}
    assert dict(cylinder.find("geometry/cylinder").attrib) == {"radius": "0.1", "length": "0.7"}
    assert len(source.root.findall(f"link[@name='b']/{tag}")) == 1


# --- xacro ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, is_xacro", [
    ("a.xacro", True), ("a.urdf.xacro", True), ("a.XACRO.urdf", True), ("xacro.urdf", False),
    ("a.urdf", False), ("a", False)])
def test_a_file_s_name_says_whether_it_is_xacro(tmp_path, name, is_xacro):
    assert is_xacro_path(tmp_path / name) == is_xacro


@pytest.mark.parametrize("inside, uses", [
    ("", False), ('<xacro:a xmlns:xacro="http://www.ros.org/xacro"/>', True),
    ('<property name="a"/>', True), ("<property/>", False), ('<include filename="a"/>', True),
    ('<link name="${a}"/>', True), ('<link name="a" more="$(find b)"/>', True),
    ('<link name="$a"/>', False), ('<gazebo><include filename="a"/><b c="${d}"/></gazebo>', False),
    ('<gazebo d="${e}"/>', False), ('<xacro name="a"/>', False)])
def test_what_in_a_file_is_xacro(inside, uses):
    root = etree.fromstring(f"<robot name='r'><link name='l'/>{inside}</robot>")
    assert uses_xacro(root) == uses
    assert any(map(has_expression, root.iter("*"))) == (uses and "$" in inside)


def test_macros_that_nothing_calls_longest_first():
    root = etree.fromstring(
        f'<robot {SPACE}><xacro:macro name="small" params="a b:=1 c:=^|2 *block **blocks d"/>'
        f'<macro name="large">{"<link/>" * 9}</macro><xacro:macro name="used"/>'
        '<gazebo><macro name="foreign"/></gazebo><xacro:macro/><xacro:used/><other name="o"/>'
        "</robot>")
    assert find_uncalled(root) == (Macro("large", (), 0), Macro("small", ("a", "d"), 2))


@pytest.fixture
def modules(monkeypatch):
    """Leaves `expand`, which works in a process of its own, without a trace in this one."""
    xacro = pytest.importorskip("xacro")
    monkeypatch.setattr(xacro, "parse", xacro.parse)
    for name in ("ament_index_python", "ament_index_python.packages"):
        monkeypatch.setitem(sys.modules, name, sys.modules.get(name))


@pytest.fixture
def at_hand(modules, monkeypatch):
    """What another process would do is done here, and counts less time."""
    def run(words, input, **_) -> subprocess.CompletedProcess:
        job = {name: value for name, value in json.loads(input).items() if name != "modules"}
        return subprocess.CompletedProcess(words, 0, json.dumps(expand(**job)), "")
    monkeypatch.setattr(subprocess, "run", run)


def expanded(text: str, folder, **packages) -> list[str]:
    answer = expand(text, str(folder / "main.xacro"), packages, {"given": "g"})
    assert "text" in answer, answer
    return [one.getAttribute("name") for one in parseString(answer["text"]).getElementsByTagName(
        "link")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_files_are_included_in_any_dress_and_encoding(modules, tmp_path, encoding):
    (tmp_path / "sub").mkdir()
    (tmp_path / "parts.xacro").write_bytes(
        ('<?xml version="1.0"?><robot><macro name="part" params="n"><link name="${n}\xf6"/></macro>'
         '<include filename="sub/more.xacro"/></robot>').encode(encoding))
    (tmp_path / "sub" / "more.xacro").write_text(
        f'<robot {SPACE}><macro name="other"><link name="o"/></macro>'
        '<xacro:include filename="../parts.xacro"/></robot>'.replace(
            '<xacro:include filename="../parts.xacro"/>', ""))
    text = (f'<robot name="r" {SPACE}><xacro:arg name="given" default=""/>'
            '<include filename="parts.xacro"/><part n="a"/><nhmech><part n="b"/></nhmech>'
            '<gazebo><part n="c"/></gazebo><other/><macro name="two"><part n="d"/></macro><two/>'
            '<link name="$(arg given)"/></robot>')
    assert expanded(text, tmp_path) == ["a\xf6", "o", "d\xf6", "g"]
    # one that includes itself ends
    (tmp_path / "main.xacro").write_text(text.replace("parts.xacro", "main.xacro"))
    answer = expand((tmp_path / "main.xacro").read_text(), str(tmp_path / "main.xacro"), {}, {})
    assert [*answer] == ["error"]


def test_packages_are_found_and_those_that_are_not_are_named(modules, tmp_path):
    (tmp_path / "p.xacro").write_text('<robot><link name="p"/></robot>')
    text = f'<robot name="r" {SPACE}><xacro:include filename="$(find near)/p.xacro"/></robot>'
    assert expanded(text, tmp_path, near=str(tmp_path)) == ["p"]
    assert expand(text, str(tmp_path / "m"), {}, {}) == {"packages": ["near"]}
    more = text.replace("</robot>", '<xacro:include filename="$( find far )/q.xacro"/></robot>')
    assert expand(more, str(tmp_path / "m"), {"near": str(tmp_path)}, {}) == {"packages": ["far"]}
    # only a mesh comes from it
    mesh = f'<robot name="r" {SPACE}><link name="$(find far)"/></robot>'
    assert expanded(mesh, tmp_path) == ["package://far"]


@pytest.mark.parametrize("inside, words", [
    ('<xacro:include filename="nowhere.xacro"/>', "nowhere.xacro"),
    ("<xacro:odd/>", 'unknown macro name: xacro:odd'), ('<link name="${1/0}"/>', "division"),
    ('<link name="${zzz}"/>', "zzz")])
def test_what_xacro_says_is_kept(modules, tmp_path, inside, words):
    answer = expand(f'<robot name="r" {SPACE}>{inside}</robot>', str(tmp_path / "m"), {}, {})
    assert [*answer] == ["error"] and words in answer["error"]


@pytest.mark.parametrize("name, why", [
    ("nowhere.xacro", "No such file or directory"),
    (".", "it is no file, but a folder, a pipe or a device")])
def test_what_cannot_be_included_is_told_with_its_place(modules, tmp_path, name, why):
    text = f'<robot name="r" {SPACE}><xacro:include filename="{name}"/></robot>'
    answer = expand(text, str(tmp_path / "m"), {}, {})
    assert answer["error"].startswith(f"{why}: {tmp_path}")


def test_an_argument_without_a_default_is_asked_for(at_hand, tmp_path):
    """And an expression that fails has a line."""
    text = f'<robot name="r" {SPACE}>\n<link name="$(arg a)"/></robot>'
    with pytest.raises(ModelError, match="^r.xacro: xacro could not expand it") as caught:
        expand_xacro(text, tmp_path / "r.xacro", {})
    assert caught.value.remedy.command == (
        "It is an argument without a default: pass --arg a:=VALUE")
    text = f'<robot name="r" {SPACE}>\n\n<link name="${{zzz + 1}}"/></robot>'
    with pytest.raises(ModelError, match="^<string>, line 3: xacro could not expand it") as caught:
        expand_xacro(text, None, {})
    assert caught.value.remedy is None
    text = f'<robot name="r" {SPACE}><xacro:include filename="$(find aa)/a"/></robot>'
    with pytest.raises(ModelError, match=r": \$\(find aa\): no such ROS package. Say") as caught:
        expand_xacro(text, None, {})
    assert caught.value.remedy.python.startswith("Say where it is: ")


# --- macros that nobody calls ---------------------------------------------------------------------

MACROS = (f'<robot {SPACE}><xacro:macro name="cart" params="n"><link name="${{n}}base"/>'
          "</xacro:macro></robot>")


def test_the_file_that_calls_a_macro_is_the_one_to_load(at_hand, tmp_path):
    """Beside it or in a folder beside; one that is too large, that fails, or that only has the same
    words is none."""
    folder = tmp_path / "a"
    folder.mkdir()
    file = folder / "cart.xacro"
    file.write_text(MACROS)

    def call(include: str) -> str:
        return (f'<robot name="r" {SPACE}><xacro:include filename="{include}"/>'
                '<xacro:cart n="x"/></robot>')

    def told() -> str:
        return str(uncalled_error(read_source(file), lambda robot: True))
    free = folder / "cart_robot.urdf.xacro"
    assert f"Write this file and load it, {free}:" in told()
    (folder / "large.xacro").write_text(call("cart.xacro") + " " * (1 << 20))
    (folder / "other.xacro").write_text(call("cart.xacro").replace(":cart ", ":dog "))
    (folder / "words.xacro").write_text(call("dog.xacro"))
    (folder / "fails.xacro").write_text(call("cart.xacro").replace("<xacro:cart", "<xacro:odd/>"
                                                                   "<xacro:cart"))
    assert f"Write this file and load it, {free}:" in told()
    (tmp_path / "b").mkdir()
    far = tmp_path / "b" / "far.xacro"
    far.write_text(call("cart.xacro").replace("cart.xacro", "../a/cart.xacro"))
    assert f"far.xacro calls it; load that: {far}" in told()
    (folder / "near.xacro").write_text(call("cart.xacro"))
    assert "near.xacro calls it" in told()
    # names that are taken
    for name in ("far", "near"):
        [one.unlink() for one in tmp_path.glob(f"*/{name}.xacro")]
    free.write_text("<robot/>")
    assert str(folder / "cart_robot2.urdf.xacro") in told()
    # none of the robots is sound: what is left to fill in is asked for
    assert "with the values of N" in str(uncalled_error(read_source(file), lambda robot: False))
