"""What simulators and controllers are told in a file: evidence, never an error."""

import pytest
from lxml import etree

from nhmech.urdf.elements import DriveType, Interface, read_elements


def read(text: str):
    return read_elements(etree.fromstring(f'<robot name="r">{text}</robot>'))


def plugin(filename: str, inside: str = "", name: str = "mine"):
    return read(f'<gazebo><plugin filename="{filename}" name="{name}">{inside}</plugin></gazebo>')


# filename, name, inside -> drive, wheels, steering, radius of each
PLUGINS = {
    "ROS 1 differential": (
        "libgazebo_ros_diff_drive.so", "x",
        "<leftJoint>l</leftJoint><rightJoint>r</rightJoint>"
        "<wheelSeparation>0.5</wheelSeparation><wheelDiameter>0.3</wheelDiameter>",
        DriveType.DIFFERENTIAL, ("l", "r"), (), {"l": 0.15, "r": 0.15}),
    "ROS 2 with two pairs": (
        "libgazebo_ros_diff_drive.so", "x",
        "<num_wheel_pairs>2</num_wheel_pairs><left_joint>a</left_joint>"
        "<right_joint>b</right_joint><left_joint>c</left_joint><right_joint>d</right_joint>"
        "<wheel_separation>0.5</wheel_separation><wheel_separation>0.6</wheel_separation>"
        "<wheel_diameter>0.2</wheel_diameter><wheel_diameter>0.4</wheel_diameter>",
        DriveType.DIFFERENTIAL, ("a", "b", "c", "d"), (), {"a": 0.1, "b": 0.1, "c": 0.2, "d": 0.2}),
    "skid steer": (
        "libgazebo_ros_skid_steer_drive.so", "x",
        "<leftFrontJoint>a</leftFrontJoint><rightFrontJoint>b</rightFrontJoint>"
        "<wheelSeparation>0.5</wheelSeparation><wheelDiameter>0.2</wheelDiameter>",
        DriveType.SKID_STEER, ("a", "b"), (), {"a": 0.1, "b": 0.1}),
    "tricycle": (
        "libgazebo_ros_tricycle_drive.so", "x",
        "<steeringJoint>s</steeringJoint><actuatedWheelJoint>f</actuatedWheelJoint>"
        "<actuatedWheelDiameter>0.2</actuatedWheelDiameter>"
        "<encoderWheelLeftJoint>l</encoderWheelLeftJoint>"
        "<encoderWheelDiameter>0.4</encoderWheelDiameter>"
        "<encoderWheelSeparation>0.5</encoderWheelSeparation>",
        DriveType.TRICYCLE, ("f", "l"), ("s",), {"f": 0.1, "l": 0.2}),
    "Ackermann, ROS 1": (
        "libgazebo_ros_ackerman.so", "x",
        "<leftFrontJoint>f</leftFrontJoint><leftHingeJoint>s</leftHingeJoint>"
        "<wheelSeparation>0.5</wheelSeparation><wheelDiameter>0.2</wheelDiameter>",
        DriveType.ACKERMANN, ("f",), ("s",), {"f": 0.1}),
    "Ackermann, Gazebo": (
        "gz-sim-ackermann-steering-system", "gz::sim::systems::AckermannSteering",
        "<left_joint>l</left_joint><left_steering_joint>s</left_steering_joint>"
        "<wheel_separation>0.5</wheel_separation><wheel_radius>0.2</wheel_radius>",
        DriveType.ACKERMANN, ("l",), ("s",), {"l": 0.2}),
    "mecanum, by its class": (
        "some-system", "ignition::gazebo::systems::MecanumDrive",
        "<front_left_joint>a</front_left_joint><wheel_radius>0.2</wheel_radius>"
        "<wheel_separation>0.5</wheel_separation>",
        DriveType.MECANUM, ("a",), (), {"a": 0.2}),
    "of a maker's own": (
        "libgazebo_ros_turtle.so", "x",
        "<left_wheel_joint_name>l</left_wheel_joint_name><imu_name>i</imu_name>"
        "<right_wheel_joint_name>r</right_wheel_joint_name>"
        "<wheel_separation>0.5</wheel_separation><wheel_diameter>0.3</wheel_diameter>",
        DriveType.DIFFERENTIAL, ("l", "r"), (), {"l": 0.15, "r": 0.15}),
    "omni": ("libOmniDrivePlugin.so", "x", "<wheel_separation>0.5</wheel_separation>",
             DriveType.OMNI, (), (), {}),
    "planar move": ("libgazebo_ros_planar_move.so", "diff_drive",
                    "<wheel_separation>0.5</wheel_separation>", DriveType.PLANAR, (), (), {}),
}


@pytest.mark.parametrize("case", PLUGINS)
def test_a_drive_is_read_with_its_joints_and_sizes(case):
    filename, name, inside, drive, wheels, steering, radii = PLUGINS[case]
    (found,) = plugin(filename, inside, name).drives
    assert (found.drive, found.wheels, found.steering) == (drive, wheels, steering)
    assert found.radii == pytest.approx(radii)
    assert found.separation == 0.5


@pytest.mark.parametrize("filename, name", [
    ("libgazebo_ros_camera.so", "mecanum_camera"),     # a user's name says nothing
    ("libgazebo_ros_create_ir_opcode.so", "ir_omni_plugin"),
    ("", ""),
])
def test_other_plugins_drive_nothing(filename, name):
    assert plugin(filename, name=name).drives == ()


@pytest.mark.parametrize("number", ["", "wide", "-0.2", "0", "nan", "inf", "1e999", "0.1 0.2"])
def test_a_number_that_is_none_is_absent(number):
    elements = read(
        '<gazebo><plugin filename="libgazebo_ros_diff_drive.so" name="x">'
        f"<leftJoint>l</leftJoint><wheelDiameter>{number}</wheelDiameter>"
        f"<wheelSeparation>{number}</wheelSeparation></plugin></gazebo>"
        '<gazebo><plugin filename="slip" name="x"><wheel link_name="w">'
        f"<wheel_radius>{number}</wheel_radius></wheel></plugin></gazebo>"
        f'<gazebo reference="w"><mu1>{number}</mu1><fdir1>{number}</fdir1></gazebo>')
    (drive,) = elements.drives
    assert drive.radii == {} and drive.separation is None
    assert elements.radii == {}
    assert elements.friction["w"].mu is None and elements.friction["w"].direction is None
    beside = read(f'<gazebo reference="w"><fdir1>1 {number or "wide"} 1</fdir1></gazebo>')
    assert beside.friction["w"].direction in (None, (1, 0, 1), (1, -0.2, 1))


def test_comments_and_foreign_names_are_passed_over():
    elements = read("<gazebo><!-- a --><plugin filename='libgazebo_ros_diff_drive.so' name='x'>"
                    "<!-- <leftJoint>no</leftJoint> --><?php no?>"
                    "<leftJoint>l</leftJoint></plugin></gazebo>")
    assert elements.drives[0].wheels == ("l",)


def test_what_is_told_is_the_same_on_other_lines():
    told = ('<gazebo><plugin filename="libgazebo_ros_diff_drive.so" name="x"><left_joint>l'
            "</left_joint><right_joint>r</right_joint><wheel_separation>0.5</wheel_separation>"
            '</plugin></gazebo><joint name="l"/><joint name="r"/>')
    one, other = read(told), read("\n\n" + told)
    assert one == other and one.sides[0].separation == 0.5
    assert (one.sides[0].left, one.sides[0].right) == (("l",), ("r",))
    assert one != read(told.replace("0.5", "0.4"))


def test_who_is_commanded_and_by_what():
    elements = read("""
      <ros2_control name="a" type="system">
        <hardware><plugin>maker/DiffDriveMine</plugin></hardware>
        <joint name="wheel"><command_interface name="velocity"/></joint>
        <joint name="steer"><command_interface name="position"/></joint>
        <joint name="sensor"><state_interface name="position"/></joint>
      </ros2_control>
      <transmission name="b"><joint name="other">
        <hardwareInterface>hardware_interface/EffortJointInterface</hardwareInterface></joint>
      </transmission>
      <transmission name="c"><joint name="old"/></transmission>""")
    assert {c.joint: c.interfaces for c in elements.commands} == {
        "wheel": {Interface.VELOCITY}, "steer": {Interface.POSITION},
        "other": {Interface.EFFORT}, "old": frozenset()}
    assert elements.rolls("wheel") == ["<ros2_control>"] and elements.rolls("old") == []
    assert elements.steers("steer") == ["<ros2_control>"] and elements.steers("wheel") == []
    assert elements.words == ("maker/DiffDriveMine",)


def test_friction_in_both_ways_of_writing_it():
    elements = read("""
      <gazebo reference="a"><mu1 value="0.5"/><mu2 value="0.5"/><fdir1 value="1 0 0"/></gazebo>
      <gazebo reference="b"><collision><surface><friction><ode><mu>1.0</mu><mu2>0.0</mu2>
        <fdir1 xmlns:gz="urn:x" gz:expressed_in="base">1 -1 0</fdir1>
      </ode></friction></surface></collision></gazebo>
      <gazebo reference="c"><mu1>0.9</mu1><mu2>0.7</mu2></gazebo>
      <gazebo reference="d"><material>Gazebo/Black</material></gazebo>""")
    assert set(elements.friction) == {"a", "b", "c"}
    assert elements.friction["a"].mu == 0.5 and not elements.friction["a"].is_oblique
    roller = elements.friction["b"]
    assert roller.is_oblique and roller.frame == "base" and roller.mu == 1.0
    assert elements.friction["c"].mu == 0.7     # the smaller one


@pytest.mark.parametrize("mu2, direction, is_oblique", [
    (0.0499, "1 -1 0", True), (0.0501, "1 -1 0", False), (0.0, "0.301 -1 7", True),
    (0.0, "0.299 -1 0", False), (0.0, "1 0.301 0", True), (0.0, "1 0.299 0", False)])
def test_rollers_hold_along_one_oblique_direction(mu2, direction, is_oblique):
    """With less than a tenth across it; the smaller component is three tenths of the larger."""
    text = f"<mu1>0.5</mu1><mu2>{mu2}</mu2><fdir1>{direction}</fdir1>"
    found = read(f'<gazebo reference="w">{text}</gazebo>').friction["w"]
    assert found.is_oblique == is_oblique
    assert found.mu == (0.5 if is_oblique else mu2 or None)


def test_the_radius_of_a_wheel_is_told_by_plugins_and_by_wheel_slip():
    elements = read("""
      <gazebo><plugin filename="libgazebo_ros_diff_drive.so" name="x"><leftJoint>j</leftJoint>
        <wheelDiameter>0.2</wheelDiameter></plugin></gazebo>
      <gazebo><plugin filename="slip" name="gz::sim::systems::WheelSlip">
        <wheel link_name="w"><wheel_radius>0.11</wheel_radius></wheel></plugin></gazebo>""")
    assert elements.wheel_radii("j", ["w"]) == {
        "plugin libgazebo_ros_diff_drive.so (line 2)": 0.1, "wheel slip of w": 0.11}
