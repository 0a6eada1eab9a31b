"""Hints in the words of the command line: what they say can be typed; and xacro arguments."""

from __future__ import annotations

import re
import shlex

import pytest
from click.testing import CliRunner
from robots_table import ROBOTS
from test_mobility import FOLDER

import nhmech
from nhmech import ModelError
from nhmech.cli import main
from nhmech.cli.wording import in_options


@pytest.mark.parametrize("said, shown", [
    ("Say it: wheels=[Wheel('a', 'disc', 0.1), Wheel(None, 'blade', link='b', axis=(0, 1, 0), "
     "point=(0, 0, HEIGHT))] (and casters)",
     "Say it: --wheel 'joint=a,kind=disc,radius=0.1' --wheel 'kind=blade,link=b,axis=0 1 0,point=0 "
     "0 HEIGHT' (and casters)"),
    ("skid='mid-axle' or skid=1.5, or skid=[names]",
     "--skid mid-axle or --skid 1.5, or --skid WHEEL,WHEEL"),
    ("pass packages={'a': '/path/to/it'}", "pass --package a=/path/to/it"),
    ("such as locked={'arm_joint': 0.3}", "such as --lock arm_joint=0.3"),
    ("the wheels=[...] that touch", "the --wheel ... that touch"),
    ("slipped; run with friction_limit and lift_off for the exact moment",
     "slipped; run with --on-slip warn for the exact moment"),
    ("can be left out of load(wheels=...)", "can be left out of --wheel"),
    ("a message without hints: mass=3", "a message without hints: mass=3")])
def test_python_becomes_options(said, shown):
    assert in_options(said) == shown


@pytest.mark.parametrize("robot", [robot for robot in ROBOTS if robot.refused],
                         ids=lambda robot: robot.file)
def test_what_a_refused_robot_is_told_can_be_typed(robot):
    """The wheels that are suggested are read as wheels, and where nothing is left to fill in, they
    load."""
    path = FOLDER / f"{robot.file}.urdf"
    if not path.is_file():
        pytest.skip(f"no robot {path}")
    refused = CliRunner().invoke(main, ["inspect", str(path)])
    assert (
        refused.exit_code == 2
        and "Wheel(" not in refused.stderr
        and "wheels=" not in refused.stderr
    )
    options = [word for pair in re.findall(r"--wheel '[^']*'",
                                           refused.stderr) for word in shlex.split(pair)]
    skid = ["--skid", "mid-axle"] if "--skid mid-axle" in refused.stderr else []
    assert options or skid
    if skid:
        assert CliRunner().invoke(main, ["inspect", str(path), *skid]).exit_code == 0
    if options and not any(word.isupper() for word in re.split(r"[=, ']", " ".join(options))):
        again = CliRunner().invoke(main, ["inspect", str(path), *options])
        assert again.exit_code == 0, again.stderr


@pytest.mark.parametrize("option", ["kind=blade,link=b,axis=0 1 0,point=0 0 HEIGHT",
                                    "joint=a,kind=disc,radius=RADIUS"])
def test_a_word_that_stands_for_a_number(option):
    refused = CliRunner().invoke(main,
                                 ["inspect", str(nhmech.urdf_path("carriage")), "--wheel", option])
    said = " ".join(refused.stderr.split())
    assert (
        refused.exit_code == 2
        and f"{option.split()[-1].split('=')[-1]} stands for a number in metres" in said
    )


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
    shown = CliRunner().invoke(main, ["inspect", str(file), "--arg", "radius:=0.2"])
    assert shown.exit_code == 0 and "disc  0.2 " in shown.stdout
    file.write_text(CART.replace('<xacro:arg name="radius" default="0.1"/>', ""))
    missing = CliRunner().invoke(main, ["inspect", str(file)])
    assert missing.exit_code == 2 and "pass --arg radius:=VALUE" in missing.stderr
    with pytest.raises(ModelError, match="only a xacro file takes arguments"):
        nhmech.load(nhmech.urdf_path("carriage"), arguments={"radius": 0.2})
    with pytest.raises(ModelError, match="only a xacro file takes arguments"):
        nhmech.load(CART, arguments={"radius": 0.2})
