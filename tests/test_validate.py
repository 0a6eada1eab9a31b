"""Every bad input that Pinocchio would swallow, or refuse without a cause:
an error with file, element, line and remedy."""

import re

import pytest

from nhmech.errors import ModelError
from nhmech.urdf.describe import describe
from nhmech.urdf.notice import NoticeKind
from nhmech.urdf.text.source import read_source
from nhmech.urdf.text.validate import validate

LINK = """<link name="{name}">
  <inertial><origin xyz="0 0 0" rpy="0 0 0"/><mass value="1"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
  <collision><origin rpy="1.5707963267948966 0 0"/>
    <geometry><cylinder radius="0.1" length="0.02"/></geometry></collision>
</link>"""
JOINT = """<joint name="{side}_wheel_joint" type="continuous">
  <parent link="base"/><child link="{side}_wheel"/><origin xyz="0 {y} 0"/><axis xyz="0 1 0"/>
  <limit effort="1" velocity="10"/><dynamics damping="0.1" friction="0.2"/>
</joint>"""
ARM = """<joint name="arm_joint" type="revolute">
  <parent link="base"/><child link="arm"/><origin xyz="0 0 0.3"/><axis xyz="0 0 1"/>
  <limit lower="0.2" upper="1" effort="1" velocity="1"/><mimic joint="left_wheel_joint"/>
</joint>"""
ROBOT = "\n".join(
    [
        '<robot name="cart">',
        *(LINK.format(name=n).replace("cylinder radius=\"0.1\"", f'cylinder radius="{r}"')
          for n, r in (("base", 0.05), ("left_wheel", 0.1), ("right_wheel", 0.1), ("arm", 0.05))),
        *(JOINT.format(side=s, y=y) for s, y in (("left", 0.2), ("right", -0.2))),
        ARM,
        "</robot>",
    ]
)

BAD = {
    "NaN mass": ('<mass value="1"/>', '<mass value="nan"/>', "not finite"),
    "infinite inertia": ('ixx="0.1"', 'ixx="inf"', "not finite"),
    "huge number": ('ixx="0.1"', 'ixx="1e300"', "larger than"),
    "negative mass": ('<mass value="1"/>', '<mass value="-1"/>', "negative"),
    "missing mass": ('<mass value="1"/>', "", "<mass> is missing"),
    "missing inertia": (re.compile(r"<inertia [^>]*>"), "", "<inertia> is missing"),
    "missing entry": (' izz="0.1"', "", "izz= is missing"),
    "negative moment": ('izz="0.1"', 'izz="-0.1"', "none may be negative"),
    "indefinite inertia": ('ixy="0"', 'ixy="0.2"', "none may be negative"),
    "triangle inequality": ('izz="0.1"', 'izz="1"', "may not exceed the sum"),
    "not a number": ('<mass value="1"/>', '<mass value="heavy"/>', "not a number"),
    "decimal comma": ('<mass value="1"/>', '<mass value="1,5"/>', "decimals with a point"),
    "python number": ('<mass value="1"/>', '<mass value="1_0"/>', "not a number"),
    "degrees": ('xyz="0 0 0.3"', 'xyz="0 0 0.3" rpy="0 -90 45"',
                'rpy="0 -1.570796326794897 0.7853981633974483"'),
    "two numbers": ('xyz="0 0.2 0"', 'xyz="0 0.2"', "it needs 3"),
    "zero axis": ('axis xyz="0 1 0"', 'axis xyz="0 0 0"', "no direction"),
    "limits reversed": ('lower="0.2"', 'lower="2"', "exchange them"),
    "no limit": ('<limit lower="0.2" upper="1" effort="1" velocity="1"/>', "", "needs <limit"),
    "limit without effort": (' effort="1" velocity="1"', ' velocity="1"', "effort= is missing"),
    "negative limit": ('effort="1" velocity="10"', 'effort="-2" velocity="10"', "negative"),
    "link twice": ('<link name="arm">', '<link name="base">', "names must differ"),
    "joint twice": ('"arm_joint"', '"left_wheel_joint"', "names must differ"),
    "name that turns lines": ('"arm_joint"', '"arm\u202ejoint"',
                              "cannot be shown: name it 'armjoint'"),
    "name that moves cursors": ('<robot name="cart">', '<robot name="c\x9bart">',
                                "cannot be shown"),
    "no link name": ('<link name="arm">', "<link>", "needs a name"),
    "no robot name": ('<robot name="cart">', "<robot>", "a robot needs a name"),
    "unknown child": ('child link="arm"', 'child link="leg"', "does not exist"),
    "unknown parent": ('parent link="base"', 'parent link="bass"', "does not exist"),
    "no child": ('<child link="arm"/>', "", "<child"),
    "no parent": ('<parent link="base"/><child link="arm"/>', '<child link="arm"/>', "<parent"),
    "own parent": ('<parent link="base"/><child link="arm"/>',
                   '<parent link="arm"/><child link="arm"/>', "its own parent"),
    "two parents": ('child link="arm"', 'child link="left_wheel"', "a link has one parent"),
    "two roots": (ARM, "", "without a parent"),
    "unknown type": ('type="revolute"', 'type="revolt"', "does not exist"),
    "no type": (' type="revolute"', "", "type= is missing"),
    "floating": ('type="revolute"', 'type="floating"', "not supported"),
    "planar": ('type="revolute"', 'type="planar"', "not supported"),
    "mimic of nobody": ('<mimic joint="left_wheel_joint"/>', '<mimic joint="leg"/>',
                        "does not exist"),
    "mimic of itself": ('<mimic joint="left_wheel_joint"/>', '<mimic joint="arm_joint"/>',
                        "mimic itself"),
    "empty dynamics": ('damping="0.1" friction="0.2"', "", "neither damping"),
    "negative damping": ('damping="0.1"', 'damping="-0.1"', "create energy"),
}

# no motion depends on how the arm looks: left out, with a notice
LOOKS = {
    "no geometry": ('<geometry><cylinder radius="0.05" length="0.02"/></geometry>', "",
                    "it needs one of"),
    "unknown shape": ('<cylinder radius="0.05" length="0.02"/>', "<cone/>", "it needs one of"),
    "no radius": ('radius="0.05" ', "", "radius= is missing"),
    "negative radius": ('radius="0.05"', 'radius="-0.05"', "negative size"),
    "mesh scale": ('<cylinder radius="0.05" length="0.02"/>', '<mesh filename="a.stl" scale="1"/>',
                   "it needs 3"),
    "material without colour": ("</robot>", '<material name="red"/></robot>', "neither <color"),
    "bad colour": ("</robot>", '<material name="red"><color rgba="1 0 0"/></material></robot>',
                   "it needs 4"),
}


@pytest.mark.parametrize("what", BAD)
def test_refused(what):
    old, new, fragment = BAD[what]
    text = (
        old.sub(new, ROBOT, count=1) if isinstance(old, re.Pattern) else ROBOT.replace(old, new, 1)
    )
    assert text != ROBOT
    with pytest.raises(ModelError) as caught:
        describe(text, free=["arm_joint"] * ('name="arm_joint"' in text))
    message = str(caught.value)
    assert fragment in message
    assert re.search(r"line \d+, <\w+", message) and message.startswith("<string>"), message


@pytest.mark.parametrize("what", LOOKS)
def test_left_out(what):
    old, new, fragment = LOOKS[what]
    text = ROBOT.replace(old, new, 1)
    assert text != ROBOT
    description = describe(text, free=["arm_joint"])
    [notice] = [n for n in description.notices if n.kind is NoticeKind.REPAIR]
    assert "->" in notice.text
    assert len(validate(read_source(description.xml))[0]) == 0


@pytest.mark.parametrize("name", ["root_joint", "universe"])
def test_a_joint_may_have_a_name_of_pinocchio(name):
    description = describe(ROBOT.replace('"arm_joint"', f'"{name}"'))
    assert f"{name}_of_file" in description.locked
    assert [n.kind for n in description.notices if name in n.text] == [NoticeKind.HELD,
                                                                       NoticeKind.REPAIR]


def test_more_than_a_turn_may_be_radians():
    """No number of degrees that anybody writes."""
    turned = ROBOT.replace('xyz="0 0 0.3"', 'xyz="0 0 0.3" rpy="0 0 9.42477796"')
    assert len(validate(read_source(turned))[0]) == 0


def test_the_line_is_the_line_of_the_element():
    text = ROBOT.replace('lower="0.2"', 'lower="2"')
    line = 1 + text[: text.index('lower="2"')].count("\n")
    with pytest.raises(ModelError,
                       match=rf'<string>, line {line}, <limit> of <joint name="arm_joint">'):
        describe(text, free=["arm_joint"])


def test_a_loop_that_never_reaches_the_root():
    ring = "".join(f'<link name="{n}"/>' for n in "xy")
    ring += "".join(f'<joint name="j{p}" type="fixed"><parent link="{p}"/><child '
                    f'link="{c}"/></joint>'
                    for p, c in ("xy", "yx"))
    with pytest.raises(ModelError, match="part of a loop"):
        describe(ROBOT.replace("</robot>", ring + "</robot>"))
    with pytest.raises(ModelError, match="form a loop"):
        describe(f'<robot name="ring">{ring}</robot>')


def test_what_is_odd_but_usable():
    massless = re.sub(r'(<link name="left_wheel">\s*)<inertial>.*?</inertial>', r"\1", ROBOT,
                      flags=re.S)
    [notice] = [n for n in describe(massless).notices if n.kind is NoticeKind.MASSLESS]
    assert "left_wheel" in str(notice)
    zero = ROBOT.replace('<mass value="1"/>', '<mass value="0"/>')
    assert describe(zero).wheels
    # A fixed sensor with an impossible inertia is reported, as long as the body that it is fixed to
    # hardly feels it.
    sensor = ('<link name="cam"><inertial><mass value="{m}"/>'
              '<inertia ixx="{i}" ixy="0" ixz="0" iyy="{i}" iyz="0" izz="{j}"/></inertial></link>')
    sensor += ('<joint name="cam_joint" type="fixed"><parent link="base"/>'
               '<child link="cam"/></joint></robot>')
    small = ROBOT.replace("</robot>", sensor.format(m=0.01, i=1e-5, j=1e-4))
    [notice] = [n for n in describe(small).notices if n.kind is NoticeKind.IMPOSSIBLE_INERTIA]
    assert "cam" in str(notice) and "may not exceed" in str(notice)
    with pytest.raises(ModelError, match="moves as one with it"):
        describe(ROBOT.replace("</robot>", sensor.format(m=0.01, i=1, j=10)))


def test_comments_gazebo_and_processing_instructions_are_passed_over():
    extra = ('<!-- ${not_xacro} --><?pi x?><gazebo><plugin name="${ns}"/></gazebo><link '
             'name="dot"><!-- c -->'
             '<visual><geometry><!-- c --><sphere radius="1"/></geometry></visual></link>')
    extra += ('<joint name="dot_joint" type="fixed"><!-- c --><parent link="base"/>'
              '<child link="dot"/></joint></robot>')
    assert validate(read_source(ROBOT.replace("</robot>", extra))) == ((), [])


@pytest.mark.parametrize("text, match", [
    ('<material name="m"/>', "has neither <color"),
    ('<link name="b"><visual/></link>', "<visual>"),
    ('<link name="b"><inertial/></link>', "<mass> is missing"),
    ('<joint name="j" type="fixed"><parent link="a"/><child link="c"/></joint>', "'c' does not"),
    ('<joint name="j" type="fixed"><mimic joint="k"/><parent link="a"/><child link="b"/></joint>'
     '<link name="b"/>', "<mimic")])
def test_all_parts_of_a_file_are_looked_at(text, match):
    """What is mended is found, and what is not is refused."""
    try:
        mended, _ = validate(read_source(f'<robot name="r"><link name="a"/>{text}</robot>'))
        found = " ".join(f"{fault.name} {fault.text}" for fault in mended)
    except ModelError as error:
        found = str(error)
    assert match in found


def test_a_capsule_is_split_once_a_file_is_sound():
    body = '<collision><geometry><capsule radius="0.1" length="1"/></geometry></collision>'
    source = read_source(f'<robot name="r"><link name="a">{body}</link></robot>')
    assert validate(source) == ((), [])
    assert [shape.tag for shape in source.root.iterfind("link/collision/geometry/*")].count(
        "sphere") == 2 and source.root.find("link/collision/geometry/capsule") is None
