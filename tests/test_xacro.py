"""xacro in all its dress: in a .urdf or a string, without prefixes, uncalled, with packages that
are missing."""

import re
import subprocess
from functools import cache

import pytest
from support import command_line, joint, link

import nhmech
from nhmech.errors import ModelError
from nhmech.urdf.describe import describe
from nhmech.urdf.text.source import read_source
from nhmech.urdf.text.validate import validate

pytest.importorskip("xacro")
SPACE = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
TYRE = ('<collision><origin rpy="${pi/2} 0 0"/><geometry>'
        '<cylinder radius="${radius}" length="0.04"/></geometry></collision>')
BALL = ('<collision><origin xyz="-0.3 0 ${0.05 - radius}"/><geometry><sphere radius="0.05"/>'
        '</geometry></collision>')
PARTS = ('<xacro:property name="radius" value="0.1"/>'
         '<xacro:macro name="wheel" params="side y *block">'
         + link("${side}_wheel", 1, (0.003, 0.005, 0.003), body=TYRE)
         + joint("${side}_wheel_joint", "${prefix}base", "${side}_wheel", ("0", "${y}", "0"))
         + '<xacro:insert_block name="block"/></xacro:macro>')
CALLS = (link("${prefix}base", 10, (0.1, 0.3, 0.35), (-0.1, 0, 0.05), BALL)
         + '<xacro:wheel side="left" y="0.2"><gazebo/></xacro:wheel>'
         + '<xacro:wheel side="right" y="-0.2"><gazebo/></xacro:wheel>')
CART = f'<robot name="cart" {SPACE}><xacro:arg name="prefix" default=""/>' \
       f'<xacro:property name="prefix" value="$(arg prefix)"/>{PARTS}{CALLS}</robot>'
MACRO = f'<robot {SPACE}>{PARTS}<xacro:macro name="cart" params="prefix scale:=1">{CALLS}' \
        '</xacro:macro></robot>'


@cache
def sound():
    return describe(CART)


def check(description):
    assert {w.joint or w.link for w in description.wheels} == {
        "left_wheel_joint", "right_wheel_joint", "base"}
    assert [w.radius for w in description.wheels] == [0.1, 0.1, 0.05]


def old(text: str) -> str:
    """As it was written for ROS Jade."""
    return text.replace("<xacro:", "<").replace("</xacro:", "</")


def test_xacro_in_a_string_and_in_a_urdf_is_expanded(tmp_path):
    check(sound())
    file = tmp_path / "cart.urdf"
    file.write_text(CART)
    check(describe(file))
    assert "a_base" in describe(file, arguments={"prefix": "a_"}).xml
    file.write_bytes(('<?xml version="1.0" encoding="utf-16"?>' + CART).encode("utf-16"))
    check(describe(file))


@pytest.mark.parametrize("dress", [old, lambda t: old(t).replace(SPACE, "")])
def test_xacro_without_prefixes_is_expanded(dress, tmp_path):
    check(describe(dress(CART)))
    # macros of another file, called without a prefix
    (tmp_path / "parts.xacro").write_text(dress(f"<robot {SPACE}>{PARTS}</robot>"))
    file = tmp_path / "cart.urdf"
    file.write_text(dress(CART.replace(PARTS, '<xacro:include filename="parts.xacro"/>')))
    check(describe(file))


@pytest.mark.parametrize("dress", [str, old])
def test_a_macro_called_wheel_leaves_the_wheels_of_nhmech(dress):
    text = CART.replace("</robot>", """
        <nhmech><wheel joint="left_wheel_joint" kind="disc" radius="${0.05 * 2}"/>
        <wheel joint="right_wheel_joint" kind="disc" radius="0.1"/>
        <wheel link="base" kind="caster_ball" radius="0.05" point="0.2 0 -0.05"/></nhmech>
        </robot>""")
    assert [w.radius for w in describe(dress(text)).wheels] == [0.1, 0.1, 0.05]


def test_words_of_other_programs_are_no_xacro():
    """A <gazebo> element may hold <include>, <property> and ${...} of its own."""
    gazebo = ('<gazebo><include filename="${x}"/><property name="a" value="$(find nowhere)"/>'
              '<plugin name="${ns}" filename="a.so"/></gazebo>')
    plain = read_source(sound().xml.replace("</robot>", gazebo + "</robot>"))
    assert plain.label == "<string>" and validate(plain) == ((), [])


def test_what_xacro_left_is_refused():
    left = CART.replace("</robot>", '<link name="$${x}"/></robot>')
    with pytest.raises(ModelError, match=r"holds \$\{\.\.\.\}"):
        describe(left)
    text = sound().xml.replace('value="10"', 'value="${mass}"')
    line = 1 + text[:text.index("${mass}")].count("\n")
    with pytest.raises(ModelError, match=f"<string>, line {line}: .*name 'mass' is not defined"):
        describe(text)


def test_a_prefix_that_is_not_declared_is_a_slip():
    with pytest.raises(ModelError, match=r"a prefix that is not declared.*repair=True"):
        describe(CART.replace(SPACE, ""))
    check(describe(CART.replace(SPACE, ""), repair=True))


def test_all_missing_packages_are_named_at_once_and_meshes_need_none(tmp_path):
    file = tmp_path / "cart.xacro"
    (tmp_path / "more.xacro").write_text(f'<robot {SPACE}><xacro:include '
                                         'filename="$(find second_pkg)/a.xacro"/></robot>')
    file.write_text(CART.replace(PARTS, '<xacro:include filename="more.xacro"/>'
                                        '<xacro:include filename="$(find first_pkg)/p.xacro"/>'))
    with pytest.raises(ModelError) as caught:
        describe(file)
    remedy = caught.value.remedy
    assert "--package first_pkg=FOLDER --package second_pkg=FOLDER" in remedy.command
    (tmp_path / "p.xacro").write_text(f"<robot {SPACE}>{PARTS}</robot>")
    (tmp_path / "a.xacro").write_text(f"<robot {SPACE}/>")
    check(describe(file, packages={"first_pkg": tmp_path, "second_pkg": tmp_path}))

    mesh = '<visual><geometry><mesh filename="$(find lost_pkg)/a.stl"/></geometry></visual></link>'
    description = describe(CART.replace("</link>", mesh, 1))
    check(description)
    assert "package://lost_pkg/a.stl" in description.xml
    assert any("lost_pkg=FOLDER" in n.command_line for n in description.notices)


def test_a_macro_that_nobody_calls_comes_with_the_file_that_does(tmp_path):
    file = tmp_path / "cart.xacro"
    file.write_text(MACRO)
    with pytest.raises(ModelError, match=r"defines the macros cart\(prefix\) and calls none"
                       ) as caught:
        nhmech.load(file)
    shown = command_line("inspect", file)
    assert shown.exit_code == 2 and shown.stderr == f"error: {caught.value.command_line}\n"
    [command] = re.findall(r"(cat > \S+ <<'END'\n.*\nEND)", shown.stderr, re.DOTALL)
    subprocess.run(["bash", "-c", command], check=True)
    [wrapper] = re.findall(r"cat > (\S+)", command)
    check(describe(wrapper))
    # now there is a file that calls it
    with pytest.raises(ModelError, match="cart_robot.urdf.xacro calls it; load that") as caught:
        describe(file)


def test_a_macro_whose_numbers_nobody_knows_is_left_to_be_filled_in(tmp_path):
    file = tmp_path / "cart.xacro"
    file.write_text(MACRO.replace("scale:=1", "radius *block").replace(
        '<xacro:property name="radius" value="0.1"/>', ""))
    with pytest.raises(ModelError) as caught:
        describe(file)
    assert '<xacro:cart prefix="PREFIX" radius="RADIUS"><origin' in caught.value.remedy.python
    assert caught.value.remedy.python.endswith("with the values of PREFIX, RADIUS")
    with pytest.raises(ModelError, match=r'Put a call before </robot>, such as <xacro:cart prefix'):
        describe(MACRO)


@pytest.mark.parametrize("loop", [
    '<xacro:macro name="a"><xacro:a/></xacro:macro><xacro:a/>',
    '<xacro:property name="a" value="${b}"/><xacro:property name="b" value="${a}"/>'
    '<link name="${a}"/>'])
def test_what_calls_itself_ends(loop):
    with pytest.raises(ModelError, match="xacro could not expand it"):
        describe(f'<robot name="x" {SPACE}>{loop}</robot>')


def test_a_file_that_includes_itself_ends(tmp_path):
    file = tmp_path / "a.xacro"
    file.write_text(f'<robot name="x" {SPACE}><xacro:include filename="a.xacro"/></robot>')
    with pytest.raises(ModelError, match="xacro could not expand it"):
        describe(file)
