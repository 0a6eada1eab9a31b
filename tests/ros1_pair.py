"""A ROS 1 user of two vehicles at once, for tests/test_ros1.py: drives them, sends what cannot be
followed, and writes down what comes back.

    python ros1_pair.py twists OUTPUT.json
    python ros1_pair.py joints OUTPUT.json
"""

import json
import math
import sys
import time

from nhmech.ros.start import import_ros

rospy = import_ros("rospy", "")
from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from geometry_msgs.msg import PoseWithCovarianceStamped, Twist, TwistStamped  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rosgraph_msgs.msg import Clock, Log  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402

seen = {"said": [], "frames": {}, "troubles": {}, "odom": {}}
WAIT = 60.0


def listen(topic, kind, take):
    rospy.Subscriber(topic, kind, take, queue_size=1000, tcp_nodelay=True)


def keep_frames(topic):
    def keep(message):
        for edge in message.transforms:
            seen["frames"].setdefault(topic, {})[edge.child_frame_id] = edge.header.frame_id
    for name in (topic, f"{topic}_static"):
        listen(name, TFMessage, keep)


def keep_odometry(name):
    def keep(message):
        place, twist = message.pose.pose.position, message.twist.twist
        seen["odom"][name] = [message.header.frame_id, message.child_frame_id, place.x, place.y,
                              twist.linear.x, twist.linear.y, twist.angular.z]
    listen(f"/{name}/odom", Odometry, keep)


def keep_troubles(message):
    for status in message.status:
        seen["troubles"][status.name] = [status.hardware_id, status.level, status.message]


def wait_for(*names):
    until = time.monotonic() + WAIT
    while not all(name in seen["odom"] for name in names):
        assert time.monotonic() < until, f"no odometry of {names}"
        time.sleep(0.05)


def publisher(topic, kind):
    made = rospy.Publisher(topic, kind, queue_size=10)
    until = time.monotonic() + WAIT
    while made.get_num_connections() == 0:
        assert time.monotonic() < until, f"nobody listens to {topic}"
        time.sleep(0.05)
    return made


def twist(x, y, yaw):
    message = Twist()
    message.linear.x, message.linear.y, message.angular.z = x, y, yaw
    return message


def drive_two():
    """`left` by twists, `right` by stamped ones."""
    left, right = publisher("/left/cmd_vel", Twist), publisher("/right/cmd_vel", TwistStamped)
    pose = publisher("/left/initialpose", PoseWithCovarianceStamped)
    wait_for("left", "right")

    def command(t, late=0.0, lateral=0.0):
        left.publish(twist(0.2, 0.1 * math.sin(min(t, 2.0)), 0.3))
        told = TwistStamped()
        told.header.stamp = rospy.Time.now() - rospy.Duration(late)
        told.twist = twist(0.3, lateral, 0.06)
        right.publish(told)
        time.sleep(0.05)

    for k in range(80):
        command(0.05 * k)
    seen["driven"] = dict(seen["odom"])
    left.publish(twist(math.nan, 0.0, 0.0))
    for _ in range(30):
        command(0.0, lateral=0.2)
    pose.publish(PoseWithCovarianceStamped())      # a quaternion of zeros
    command(0.0, late=2.0)
    time.sleep(1.5)


def drive_joints():
    """`third` by commands of joints and by a clock from here, which goes back."""
    clock = rospy.Publisher("/clock", Clock, queue_size=10)

    def run(begin, seconds):
        for k in range(round(seconds / 0.01)):
            clock.publish(Clock(rospy.Time.from_sec(begin + 0.01 * k)))
            time.sleep(0.005)

    names = ["left_wheel_joint", "right_wheel_joint"]
    commands = rospy.Publisher("/third/joint_commands", JointState, queue_size=10)
    until = time.monotonic() + WAIT
    while commands.get_num_connections() == 0 or "third" not in seen["odom"]:
        assert time.monotonic() < until, "the node does not follow the clock"
        run(10.0, 0.02)
    commands.publish(JointState(name=["wheel"], velocity=[1.0]))
    run(20.0, 1.2)
    commands.publish(JointState(name=names, velocity=[1.0, 1.0, 1.0]))
    run(21.2, 1.2)
    commands.publish(JointState(name=names, velocity=[2.0, 2.0]))
    run(22.4, 1.2)
    seen["driven"] = dict(seen["odom"])
    run(5.0, 0.5)


rospy.init_node("driver")
listen("/rosout", Log, lambda message: seen["said"].append(message.msg))
listen("/diagnostics", DiagnosticArray, keep_troubles)
for name in ("left", "right", "third"):
    keep_odometry(name)
for topic in ("/tf", "/left/tf"):
    keep_frames(topic)
{"twists": drive_two, "joints": drive_joints}[sys.argv[1]]()
with open(sys.argv[2], "w") as file:
    json.dump(seen, file)
