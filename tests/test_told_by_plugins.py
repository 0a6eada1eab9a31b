"""What simulators and controllers are told about wheels, element by element."""

from __future__ import annotations

import pytest
from lxml import etree

from nhmech.urdf.elements import DriveType, Interface, LinkFriction, read_elements, recognise


def read(*parts: str):
    return read_elements(etree.fromstring(f"<robot>{''.join(parts)}</robot>"))


def plugin(inside: str, file="libgazebo_ros_diff_drive.so", name="p") -> str:
    return f'<gazebo><plugin filename="{file}" name="{name}">{inside}</plugin></gazebo>'


@pytest.mark.parametrize("name, drive", [
    ("libgazebo_ros_skid_steer_drive.so", DriveType.SKID_STEER),
    ("MecanumDrive", DriveType.MECANUM),
    ("omni_wheel_controller", DriveType.OMNI), ("holonomic", DriveType.OMNI),
    ("omnidirectional", DriveType.OMNI), ("omni-drive", DriveType.OMNI),
    ("AckermannSteering", DriveType.ACKERMANN), ("steerbot_hw", DriveType.ACKERMANN),
    ("tricycle_drive", DriveType.TRICYCLE), ("differential_drive", DriveType.DIFFERENTIAL),
    ("planar_move", DriveType.PLANAR), ("force_based_move", DriveType.PLANAR),
    ("VelocityControl", DriveType.PLANAR), ("camera", None), ("", None)])
def test_drives_are_recognised_by_their_letters(name, drive):
    assert recognise(name) is drive


@pytest.mark.parametrize("mu1, mu2, way, mu, is_oblique", [
    (0.8, 0.6, None, 0.6, False), (0.8, None, None, 0.8, False), (None, 0.6, None, 0.6, False),
    (0.0, 0.6, None, None, False), (None, None, None, None, False),
    (0.8, 0.0799, (1, 1, 0), 0.8, True), (0.8, 0.0801, (1, 1, 0), 0.0801, False),
    (0.8, 0.0, (1, -0.301, 0), 0.8, True), (0.8, 0.0, (-0.299, 1, 0), None, False),
    (0.8, 0.0, (10, 1, 0), None, False), (0.8, 0.0, (0.1, 0.04, 9), 0.8, True),
    (0.0, 0.0, (1, 1, 0), None, False), (0.8, None, (1, 1, 0), 0.8, False)])
def test_friction_holds_along_one_direction_or_all(mu1, mu2, way, mu, is_oblique):
    """Below a tenth of the other a wheel slips that way; from 0.3 of a component on a way is no
    axis."""
    one = LinkFriction(mu1, mu2, way)
    assert (one.mu, one.is_oblique) == (mu, is_oblique)


def test_friction_and_stiffness_of_links():
    found = read('<gazebo reference="a"><mu1>0.8</mu1><mu2 value="0.5"/>'
                 '<fdir1 gz:expressed_in=" base " xmlns:gz="x">1 2 0</fdir1>'
                 "<kp> 1e6 </kp></gazebo>",
                 '<gazebo reference="b"><mu>0.3</mu><kp>0</kp></gazebo>',
                 '<gazebo reference="c"><fdir1 other="a">0 0 0</fdir1><kp>-1</kp></gazebo>',
                 '<gazebo reference="e"><fdir1 other="a">1 0 0</fdir1></gazebo>',
                 '<gazebo reference="f"><fdir1 expressed_in=" " other="a">0 1 0</fdir1></gazebo>',
                 '<gazebo reference="d"/>', "<gazebo><mu1>1</mu1><kp>1</kp></gazebo>")
    assert found.friction == {"a": LinkFriction(0.8, 0.5, (1.0, 2.0, 0.0), "base"),
                              "b": LinkFriction(0.3, None), "c": LinkFriction(None, None),
                              "e": LinkFriction(None, None, (1.0, 0.0, 0.0)),
                              "f": LinkFriction(None, None, (0.0, 1.0, 0.0))}
    assert found.stiffness == {"a": 1e6}


def test_a_plugin_that_drives():
    inside = ("<leftJoint>l1 l2</leftJoint><right_joint>r1</right_joint>"
              "<encoderJoint>e</encoderJoint><steering_joint>s</steering_joint>"
              "<steerJoint>s t</steerJoint>"
              "<wheel_separation>0.7</wheel_separation><track_width>9</track_width>"
              "<wheelDiameter>0.3</wheelDiameter>")
    one, = read(plugin(inside)).drives
    assert (one.drive, one.name) == (DriveType.DIFFERENTIAL, "libgazebo_ros_diff_drive.so")
    assert one.wheels == ("l1", "l2", "r1", "e") and one.idle == ("e",)
    assert one.steering == ("s", "t") and one.separation == 0.7
    assert one.radii == dict.fromkeys(one.wheels, 0.15)
    # of another name: two wheels, and how far they are apart
    pair = ("<left_joint>l</left_joint><right_joint>r</right_joint>"
            "<wheel_separation>0.7</wheel_separation>")
    assert read(plugin(pair, "libmine.so")).drives[0].wheels == ("l", "r")
    assert not read(plugin(pair.replace("0.7", "-0.7"), "libmine.so")).drives
    assert not read(plugin(pair + "<a_joint>x</a_joint>", "libmine.so")).drives
    assert not read(plugin(pair + "<steer_joint>x</steer_joint>", "libmine.so")).drives
    # a class is a name; what a user calls a classic plugin is none
    assert read(plugin("", "x.so", "gz::sim::systems::DiffDrive")).drives
    assert not read(plugin("", "x.so", "diff_drive")).drives


def test_radii_go_to_the_tags_that_begin_alike():
    inside = ("<front_left_joint>a</front_left_joint><front_right_joint>b</front_right_joint>"
              "<rear_joint>c</rear_joint><rear_joint>d</rear_joint><rear_joint>e</rear_joint>"
              "<wheelRadius>0.1</wheelRadius><front_wheel_radius>0.2</front_wheel_radius>"
              "<rearWheelDiameter>0.6</rearWheelDiameter><rearWheelDiameter>0.8</rearWheelDiameter>")
    found = read(plugin(inside))
    assert found.drives[0].radii == {"a": 0.2, "b": 0.2, "c": 0.3, "d": 0.4, "e": 0.4}
    assert found.wheel_radii("a", ("x",)) == {
        "plugin libgazebo_ros_diff_drive.so (line 1)": 0.2}
    slip = read(plugin('<wheel link_name="w"><wheel_radius>0.25</wheel_radius></wheel>'
                       '<wheel link_name="v"><wheel_radius>0</wheel_radius></wheel>'))
    assert slip.radii == {"w": 0.25}
    assert slip.wheel_radii("j", ("v", "w")) == {"wheel slip of w": 0.25}


def test_who_commands_a_joint():
    found = read(
        '<ros2_control><hardware><plugin> mine/Hardware </plugin></hardware>'
        '<joint name="r"><command_interface name="velocity"/></joint>'
        '<joint name="s"><command_interface name="position"/></joint>'
        '<joint name="b"><command_interface name="effort"/><command_interface name="position"/>'
        '</joint><joint name="n"/><joint name="o"><command_interface name="odd"/></joint>'
        "</ros2_control>",
        '<transmission><joint name="t"/><actuator><hardwareInterface>hardware_interface/'
        "VelocityJointInterface</hardwareInterface></actuator></transmission>",
        '<transmission><joint name="u"/><joint/></transmission>',
        plugin("<joint_name>g</joint_name><other>x</other>", "gz-sim-joint-position-controller"),
        plugin("<joint_name>h</joint_name>", "gz-sim-joint-controller"),
        plugin("<left_joint>l</left_joint><steering_joint>m</steering_joint>"))
    P, V, E = Interface.POSITION, Interface.VELOCITY, Interface.EFFORT
    assert [(one.joint, one.interfaces, one.tag) for one in found.commands] == [
        ("r", {V}, "ros2_control"), ("s", {P}, "ros2_control"), ("b", {E, P}, "ros2_control"),
        ("o", set(), "ros2_control"), ("t", {V}, "transmission"), ("u", set(), "transmission"),
        ("g", {P}, "gazebo"), ("h", {V}, "gazebo")]
    assert [one.turns_on for one in found.commands] == [True, False, True, False, True, False,
                                                       False, True]
    assert found.words == ("mine/Hardware",)
    file = "plugin libgazebo_ros_diff_drive.so"
    assert [found.rolls(name) for name in "rslm"] == [["<ros2_control>"], [], [file], []]
    assert [found.steers(name) for name in "rsbm"] == [[], ["<ros2_control>"], [], [file]]
    words = read("<gazebo><plugin><parameters>a.yaml</parameters></plugin></gazebo>",
                 "<gazebo><plugin><parameters> </parameters></plugin></gazebo>").words
    assert words == ("a.yaml",)


JOINTS = '<joint name="l"/><joint name="m"/><joint name="r"/>'


@pytest.mark.parametrize("inside, left, right, separation", [
    ("<left_joint>l</left_joint><right_joint>r</right_joint>", ("l",), ("r",), None),
    ("<left_joint>l m</left_joint>\n<wheel_separation>0.4</wheel_separation>"
     "<right_joint>r x</right_joint><wheel_track>0.5</wheel_track>", ("l", "m"), ("r",), (2, 0.4)),
    ("<track_width>0</track_width>\n<rightJoint>r</rightJoint><trackWidth>3</trackWidth>"
     "<leftJoint>l</leftJoint>", ("l",), ("r",), (2, 3.0)),
    ("<left_joint>l</left_joint><right_joint>x</right_joint>", None, None, None),
    ("<left_joint>l</left_joint><left_right_joint>r</left_right_joint>", None, None, None)])
def test_sides_are_joints_of_the_robot_that_names_tell(inside, left, right, separation):
    """With the first separation above zero that an element tells, and where it stands."""
    as_param = inside
    for tag in ("left_joint", "right_joint", "left_right_joint", "rightJoint", "leftJoint",
                "wheel_separation", "wheel_track", "track_width", "trackWidth"):
        as_param = as_param.replace(f"<{tag}>", f'<param name="{tag}">').replace(
            f"</{tag}>", "</param>")
    for text in (plugin(inside), f"<ros2_control><hardware>{as_param}</hardware></ros2_control>"):
        found = read(JOINTS, text).sides
        if left is None:
            assert found == ()
            continue
        (one,) = found
        assert (one.left, one.right) == (left, right)
        assert one.element.text.split()[0] == ("r" if "3<" in inside else "l")
        told = None if one.apart is None else (one.apart.sourceline, one.separation)
        assert told == separation and (one.separation is None) == (separation is None)
    drawn = "".join(f'<transmission name="{side}_motor"><joint name="{name}"/></transmission>'
                    for side, name in (("right", "r"), ("left", "l"), ("left", "x")))
    (one,) = read(JOINTS, drawn).sides
    assert (one.left, one.right, one.element.get("name")) == (("l",), ("r",), "right_motor")


def test_a_controller_s_radius_is_for_all_joints_of_its_block():
    """Unless its parameters tell several; the first line counts."""
    def block(*radii: str, joints: str) -> str:
        names = "".join(f'<joint name="{name}"/>' for name in joints)
        return "<ros2_control>" + "".join(radii) + names + "</ros2_control>"

    def param(name: str, value: float) -> str:
        return f'\n<param name="{name}">{value}</param>'
    one = block(param("wheel_radius", 0.2), param("left_wheel_diameter", 0.4), joints="ab")
    two = block(param("wheel_radius", 0.2), param("rear_wheel_radius", 0.3), joints="c")
    found = read(one, two, block(param("radius", 0.2), joints="d"),
                 block(param("wheel_radius", 0.0), joints="e"))
    assert found.controlled == {"a": (2, 0.2), "b": (2, 0.2)}
    assert found.wheel_radii("a") == {"<ros2_control> (line 2)": 0.2}
    assert found.wheel_radii("c") == found.wheel_radii("d") == {}
