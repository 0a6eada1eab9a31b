"""Remedies in Python and in the words of the command line: what they say can be typed; and xacro
arguments."""

from __future__ import annotations

import pickle
import shlex

import pytest
from support import command_line

import nhmech
from nhmech import InputError, ModelError
from nhmech.errors import Remedy, SimulationError
from nhmech.urdf.notice import Notice, NoticeKind
from nhmech.urdf.remedy import OPTIONS, Blank, option, suggest, wheel_fields
from nhmech.urdf.wheel import Wheel

BLADE = {"joint": None, "kind": "blade", "link": "b", "axis": (0, 1, 0),
         "point": (0, 0, Blank.HEIGHT)}


@pytest.mark.parametrize("name, value, python, command", [
    ("wheels", [Wheel("a", "disc", 0.1), BLADE],
     "wheels=[Wheel('a', 'disc', 0.1), "
     "Wheel(None, 'blade', link='b', axis=(0, 1, 0), point=(0, 0, HEIGHT))]",
     "--wheel 'joint=a,kind=disc,radius=0.1' "
     "--wheel 'kind=blade,link=b,axis=0 1 0,point=0 0 HEIGHT'"),
    ("wheels", [wheel_fields(Wheel("a'b", "disc", 0.1), kind="mecanum", roller_angle=0.785398)],
     'wheels=[Wheel("a\'b", \'mecanum\', 0.1, roller_angle=0.785398)]',
     "--wheel 'joint=a'\"'\"'b,kind=mecanum,radius=0.1,roller_angle=0.785398'"),
    ("skid", "mid-axle", "skid='mid-axle'", "--skid mid-axle"),
    ("skid", 1.5, "skid=1.5", "--skid 1.5"),
    ("skid", ("a", "b"), "skid=('a', 'b')", "--skid a,b"),
    ("locked", {"arm": 0.3, "lift": 0}, "locked={'arm': 0.3, 'lift': 0}",
     "--lock arm=0.3 --lock lift=0"),
    ("free", ["a", "b"], "free=['a', 'b']", "--free a --free b"),
    ("packages", {"a": "/path/to/it"}, "packages={'a': '/path/to/it'}", "--package a=/path/to/it"),
    ("arguments", {"a": "VALUE"}, "arguments={'a': 'VALUE'}", "--arg a:=VALUE")])
def test_an_option_in_both_languages(name, value, python, command):
    assert option(name, value) == Remedy(python, command)


@pytest.mark.parametrize("word", ["left wheel", "it's", "a$b", "räder (links)"])
def test_a_shell_reads_names_as_they_are(word):
    for name, value, words in (("free", [word], ["--free", word]),
                               ("locked", {word: 0.3}, ["--lock", f"{word}=0.3"]),
                               ("packages", {"a": word}, ["--package", f"a={word}"]),
                               ("arguments", {"a": word}, ["--arg", f"a:={word}"]),
                               ("skid", ("b", word), ["--skid", f"b,{word}"]),
                               ("wheels", [Wheel(word, "disc", 0.1)],
                                ["--wheel", f"joint={word},kind=disc,radius=0.1"])):
        assert shlex.split(option(name, value).command) == words


@pytest.mark.parametrize("wheel", [
    Wheel("a", "disc", 0.1), Wheel("a", "torus", 0.1, crown=0.02), Wheel("a", "omni", 0.1),
    Wheel("a", "mecanum", 0.1, roller_angle=-0.7), Wheel(None, "caster_ball", 0.1, link="b"),
    Wheel(None, "sphere", 0.1, link="b", point=(1, 2, 3)),
    Wheel(None, "blade", link="b", axis=(0, 1, 0), point=(1, 2, 3)),
    Wheel("a", "disc", 0.1, law="tyre", tyre="robot_rubber")], ids=lambda wheel: wheel.kind)
def test_a_wheel_that_is_typed_is_the_wheel(wheel):
    typed = option("wheels", [wheel]).python
    assert eval(typed.removeprefix("wheels="), {"Wheel": Wheel}) == [wheel]


def test_every_option_of_a_remedy_is_one_of_load_and_of_the_command_line():
    from inspect import signature

    from nhmech.cli.inspect import inspect

    assert set(OPTIONS) <= {*signature(nhmech.load).parameters, "locked"}
    assert set(OPTIONS) <= {parameter.name for parameter in inspect.params}


def test_a_remedy_follows_its_text_in_errors_and_notices():
    remedy = suggest("Choose ", option("skid", "mid-axle"), " or ", option("skid", 1.5))
    for statement in (ModelError("it cannot turn", remedy),
                      SimulationError("it cannot turn", None, remedy),
                      Notice(NoticeKind.FREE_PITCH, "it cannot turn", remedy)):
        for one in (statement, pickle.loads(pickle.dumps(statement))):
            assert str(one) == "it cannot turn. Choose skid='mid-axle' or skid=1.5"
            assert one.command_line == "it cannot turn. Choose --skid mid-axle or --skid 1.5"
        if isinstance(statement, Notice):
            assert Notice.of_dict(statement.as_dict()) == statement
    lone = Notice(NoticeKind.MASSLESS, "mass=3")
    assert lone.as_dict() == {"kind": NoticeKind.MASSLESS.value, "text": "mass=3"}
    assert Notice.of_dict(lone.as_dict()) == lone
    for plain in (ModelError("mass=3"), lone):
        assert str(plain) == plain.command_line == "mass=3"


@pytest.mark.parametrize("option", ["kind=blade,link=b,axis=0 1 0,point=0 0 HEIGHT",
                                    "joint=a,kind=disc,radius=RADIUS"])
def test_a_word_that_stands_for_a_number(option):
    refused = command_line("inspect", nhmech.urdf_path("carriage"), "--wheel", option)
    said = " ".join(refused.stderr.split())
    assert (refused.exit_code == 2
            and f"{option.split()[-1].split('=')[-1]} stands for a number in metres" in said)


CART = """<robot name="cart" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="radius" default="0.1"/>
  <link name="base"><inertial><mass value="3"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="rim"><inertial><mass value="1"/>
    <inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin rpy="1.5707963 0 0"/>
      <geometry><cylinder radius="$(arg radius)" length="0.02"/></geometry></collision></link>
  <joint name="wheel" type="continuous"><parent link="base"/><child link="rim"/>
    <axis xyz="0 1 0"/></joint>
</robot>"""


def test_arguments_of_a_xacro_file(tmp_path):
    pytest.importorskip("xacro")
    file = tmp_path / "cart.urdf.xacro"
    file.write_text(CART)
    assert nhmech.load(file).description.wheels[0].radius == 0.1
    assert nhmech.load(file, arguments={"radius": 0.25}).description.wheels[0].radius == 0.25
    shown = command_line("inspect", file, "--arg", "radius:=0.2")
    assert shown.exit_code == 0 and "disc  0.2 " in shown.stdout
    file.write_text(CART.replace('<xacro:arg name="radius" default="0.1"/>', ""))
    missing = command_line("inspect", file)
    assert missing.exit_code == 2 and "pass --arg radius:=VALUE" in missing.stderr
    with pytest.raises(InputError, match="only a xacro file takes arguments"):
        nhmech.load(nhmech.urdf_path("carriage"), arguments={"radius": 0.2})
    with pytest.raises(InputError, match="only a xacro file takes arguments"):
        nhmech.load(nhmech.urdf_path("carriage").read_text(), arguments={"radius": 0.2})
    assert nhmech.load(CART, arguments={"radius": 0.2}).description.wheels[0].radius == 0.2
