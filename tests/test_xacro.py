"""xacro in all its dress: in a .urdf or a string, without prefixes, uncalled, with packages that
are missing."""

import importlib.util
import json
import re
import subprocess
import sys
from functools import cache

import pytest
from lxml import etree
from support import command_line, joint, link

import nhmech
from nhmech.errors import ModelError
from nhmech.urdf.describe import describe
from nhmech.urdf.text.macros import uncalled_error
from nhmech.urdf.text.source import Source, read_source
from nhmech.urdf.text.validate import validate
from nhmech.urdf.text.xacro_file import expand_xacro, find_uncalled

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


@pytest.mark.parametrize("folder", ["robots", "my robots", "it's ours"])
def test_a_macro_that_nobody_calls_comes_with_the_file_that_does(folder, tmp_path):
    """The command that writes it runs in a shell as it is printed."""
    file = tmp_path / folder / "cart.xacro"
    file.parent.mkdir()
    file.write_text(MACRO)
    with pytest.raises(ModelError, match=r"defines the macros cart\(prefix\) and calls none"
                       ) as caught:
        nhmech.load(file)
    shown = command_line("inspect", file)
    assert shown.exit_code == 2 and shown.stderr == f"error: {caught.value.command_line}\n"
    [command] = re.findall(r"(cat > .* <<'END'\n.*\nEND)", shown.stderr, re.DOTALL)
    subprocess.run(["bash", "-c", command], check=True)
    check(describe(file.with_name("cart_robot.urdf.xacro")))
    # now there is a file that calls it
    with pytest.raises(ModelError, match="cart_robot.urdf.xacro calls it; load that") as caught:
        describe(file)


def test_the_file_that_calls_a_macro_is_found_among_many(tmp_path):
    """However many files the neighbouring folders hold, those beside the macro come first."""
    (tmp_path / "a").mkdir()
    for count in range(201):
        (tmp_path / "a" / f"{count}.xacro").touch()
    file = tmp_path / "z" / "cart.xacro"
    file.parent.mkdir()
    file.write_text(MACRO)
    (file.parent / "all.xacro").write_text(
        f'<robot name="cart" {SPACE}><xacro:include filename="cart.xacro"/>'
        '<xacro:cart prefix=""/></robot>')
    with pytest.raises(ModelError, match="all.xacro calls it; load that"):
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


# -- what another process answers ------------------------------------------------------------------

@pytest.fixture
def answering(monkeypatch):
    """Answers in the place of the process that expands; gives back what it was asked."""
    def answer(stdout: object, code: int = 0, stderr: str = "") -> dict:
        asked: dict = {}

        def run(words, input, timeout, **_):
            asked.update(json.loads(input), timeout=timeout)
            return subprocess.CompletedProcess(words, code, json.dumps(stdout), stderr)
        monkeypatch.setattr(subprocess, "run", run)
        return asked
    return answer


TWO = "<robot>\n\n<link name='${zz + 1}'/></robot>"


@pytest.mark.parametrize("answer, said, remedy", [
    (dict(stdout=None, code=1, stderr=" odd \n"), ": xacro could not expand it: odd", None),
    (dict(stdout=None, code=3), ": xacro could not expand it: exit code 3", None),
    (dict(stdout={"text": "<a/>"}, code=1, stderr="odd"), ": xacro could not expand it: odd", None),
    (dict(stdout={"packages": ["a"]}), ": $(find a): no such ROS package",
     "Say where it is: --package a=FOLDER"),
    (dict(stdout={"packages": ["a", "b"]}), ": $(find a), $(find b): no such ROS packages",
     "Say where they are: --package a=FOLDER --package b=FOLDER"),
    (dict(stdout={"error": "when evaluating expression 'zz + 1'"}),
     ", line 3: xacro could not expand it: when evaluating expression 'zz + 1'", None),
    (dict(stdout={"error": "when evaluating expression 'of another file'"}),
     ": xacro could not expand it: when evaluating expression 'of another file'", None),
    (dict(stdout={"error": "Undefined substitution argument 'side'"}),
     ": xacro could not expand it: Undefined substitution argument 'side'",
     "It is an argument without a default: pass --arg side:=VALUE")])
def test_what_went_wrong_elsewhere_is_told_with_what_to_do(answering, tmp_path, answer, said,
                                                           remedy):
    for path, label in ((tmp_path / "r.xacro", "r.xacro"), (None, "<string>")):
        answering(**answer)
        with pytest.raises(ModelError) as caught:
            expand_xacro(TWO, path, {})
        assert caught.value.text == label + said
        assert (caught.value.remedy and caught.value.remedy.command) == remedy


def test_another_process_is_told_all_that_it_needs(answering, tmp_path, monkeypatch):
    """And has a minute, which is longer than any robot takes."""
    asked = answering({"text": "<a/>"})
    assert expand_xacro(TWO, tmp_path / "r.xacro", {"p": tmp_path}, {"n": 3}) == "<a/>"
    assert asked == {"modules": sys.path, "text": TWO, "file": str(tmp_path / "r.xacro"),
                     "packages": {"p": str(tmp_path)}, "arguments": {"n": "3"},
                     "timeout": pytest.approx(60, abs=5)}
    expand_xacro(TWO, None, {})
    assert (asked["file"], asked["packages"], asked["arguments"]) == (None, {}, {})

    def hang(words, timeout, **_):
        raise subprocess.TimeoutExpired(words, timeout)
    monkeypatch.setattr(subprocess, "run", hang)
    with pytest.raises(ModelError, match="^<string>: xacro did not finish within .* recursion"):
        expand_xacro(TWO, None, {})
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match="is not installed: pip install xacro"):
        expand_xacro(TWO, None, {})


# -- macros that nothing calls ---------------------------------------------------------------------

def uncalled(*macros: str, path=None, works=lambda source: True) -> str:
    """The error about these macros; every call of a macro is a link of its name."""
    text = f'<robot {SPACE}>{"".join(macros)}</robot>'
    source = Source(etree.fromstring(text), "label", path,
                    macros=find_uncalled(etree.fromstring(text)))
    return str(uncalled_error(source, works))


BIG = f'<xacro:macro name="big" params="a b *c **d">{"<link/>" * 5}</xacro:macro>'
SMALL = '<xacro:macro name="small"><link/></xacro:macro>'


def test_the_longest_macro_is_the_one_to_call(answering, tmp_path):
    """With as many blocks as it takes; the first whose robot is sound."""
    said = uncalled(SMALL, BIG)
    block = '<origin xyz="0 0 0" rpy="0 0 0"/>'
    assert said.startswith("label: there is no <link> in it: it defines the macros big(a, b), "
                           "small() and calls none")
    assert f'such as <xacro:big a="" b="">{block}{block}</xacro:big>' in said
    assert "such as <xacro:small/>" in uncalled(SMALL)
    file = tmp_path / "parts.xacro"
    for name in ("big", "small"):
        answering({"text": f'<robot name="{name}"/>'})
        said = uncalled(BIG, SMALL, path=file, works=lambda source: True)
        assert "<xacro:big" in said and f"{tmp_path}/parts_robot.urdf.xacro" in said
    calls = []
    said = uncalled(BIG, SMALL, path=file, works=lambda source: bool(calls.append(source) or
                                                                     len(calls) > 1))
    assert len(calls) == 2 and "<xacro:small/>" in said and "<xacro:big" not in said
    said = uncalled(BIG, SMALL, path=file, works=lambda source: False)
    assert f'<xacro:big a="A" b="B">{block}{block}</xacro:big>' in said
    assert said.endswith("with the values of A, B")


@pytest.mark.parametrize("taken, name", [
    ([], "parts_robot.urdf.xacro"), ([""], "parts_robot2.urdf.xacro"),
    (["", 2, 4], "parts_robot3.urdf.xacro"), (["", *range(2, 99)], "parts_robot99.urdf.xacro"),
    (["", *range(2, 100)], "robot.urdf.xacro")])
def test_a_file_to_write_takes_no_name_that_is_taken(answering, tmp_path, taken, name):
    answering({"text": "<robot/>"})
    for count in taken:
        (tmp_path / f"parts_robot{count}.urdf.xacro").touch()
    said = uncalled(SMALL, path=tmp_path / "parts.urdf.xacro")
    assert f"Write this file and load it, {tmp_path / name}:\n" in said


@pytest.mark.parametrize("where, include, size, is_caller", [
    ("a", "parts.xacro", 1 << 20, True), ("a", "parts.xacro", (1 << 20) + 1, False),
    ("b", "a/parts.xacro", 0, True), ("b", "parts.xacro", 0, False), ("a", "other.xacro", 0, False),
    ("a/c", "parts.xacro", 0, False)])
def test_who_calls_a_macro_is_looked_for_beside_its_file(answering, tmp_path, where, include, size,
                                                         is_caller):
    """And in the folders beside, up to a MiB."""
    answering({"text": "<robot/>"})
    (tmp_path / "a").mkdir()
    (tmp_path / where).mkdir(exist_ok=True, parents=True)
    text = f'<robot {SPACE}><xacro:include filename="{include}"/><xacro:small/></robot>'
    caller = tmp_path / where / "caller.xacro"
    caller.write_text(text + " " * (size - len(text)))
    said = uncalled(SMALL, path=tmp_path / "a" / "parts.xacro")
    assert (f"caller.xacro calls it; load that: {caller}" in said) == is_caller
