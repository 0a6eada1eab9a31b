"""A ROS 1 user of two vehicles at once, for tests/test_ros1.py: drives them, sends what cannot be
followed, and writes down what comes back.

    python ros1_pair.py twists OUTPUT.json
    python ros1_pair.py joints OUTPUT.json
"""

import itertools
import json
import math
import sys
import time

import numpy as np

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


def go_on(what, is_so, act=lambda: None, period=0.05):
    """Acts, until something is so."""
    until = time.monotonic() + WAIT
    while True:
        act()
        if is_so():
            return
        assert time.monotonic() < until, f"not so: {what}"
        time.sleep(period)


def is_said(words):
    return lambda: any(words in line for line in seen["said"])


def diagnosed(name):
    return seen["troubles"].get(f"{name}/nhmech: commands", [None, None])[1]


def publisher(topic, kind):
    made = rospy.Publisher(topic, kind, queue_size=10)
    go_on(f"somebody listens to {topic}", made.get_num_connections)
    return made


def follows(name, *twist):
    return np.allclose(seen["odom"][name][4:], twist, rtol=0, atol=5e-3)


def twist(x, y, yaw):
    message = Twist()
    message.linear.x, message.linear.y, message.angular.z = x, y, yaw
    return message


def drive_two():
    """`left` by twists, `right` by stamped ones."""
    left, right = publisher("/left/cmd_vel", Twist), publisher("/right/cmd_vel", TwistStamped)
    pose = publisher("/left/initialpose", PoseWithCovarianceStamped)
    go_on("both have odometry", lambda: {"left", "right"} <= seen["odom"].keys())

    angles = itertools.chain(np.arange(0.0, 2.0, 0.1), itertools.repeat(2.0))

    def command(late=0.0, lateral=0.0):
        left.publish(twist(0.2, 0.1 * math.sin(next(angles)), 0.3))
        told = TwistStamped()
        told.header.stamp = rospy.Time.now() - rospy.Duration(late)
        told.twist = twist(0.3, lateral, 0.06)
        right.publish(told)

    go_on("both follow", lambda: follows("left", 0.2, 0.1 * math.sin(2.0), 0.3)
          and follows("right", 0.3, 0.0, 0.06), command)
    seen["driven"] = dict(seen["odom"])
    left.publish(twist(math.nan, 0.0, 0.0))
    go_on("NaN is ignored", is_said("because it is not finite"), command)
    go_on("the pose is refused", is_said("initialpose"),
          lambda: (pose.publish(PoseWithCovarianceStamped()), command()))    # a quaternion of zeros
    go_on("a lateral speed is refused", is_said("lateral speed 0.2"),
          lambda: command(lateral=0.2))
    go_on("diagnostics say so", lambda: diagnosed("left") == 0 and diagnosed("right") == 1,
          lambda: command(lateral=0.2))
    seen["diagnosed"] = dict(seen["troubles"])
    go_on("there is a time so long ago", lambda: rospy.Time.now().to_sec() > 3.0, command)
    go_on("an old command is dropped", is_said("a cmd_vel is dropped"), lambda: command(late=2.5))
    go_on("both brake", is_said("no cmd_vel for 0.5 s"))


def drive_joints():
    """`third` by commands of joints and by a clock from here, which goes back."""
    clock = rospy.Publisher("/clock", Clock, queue_size=10)
    names = ["left_wheel_joint", "right_wheel_joint"]
    commands = rospy.Publisher("/third/joint_commands", JointState, queue_size=10)
    times = itertools.count(200)       # [0.05 s]

    def tick():
        clock.publish(Clock(rospy.Time.from_sec(0.05 * next(times))))

    go_on("the node follows the clock",
          lambda: commands.get_num_connections() and "third" in seen["odom"], tick)
    for words, told in [("joint 'wheel' does not exist", JointState(name=["wheel"], velocity=[1])),
                        ("velocity has 3 numbers", JointState(name=names, velocity=[1] * 3))]:
        go_on(words, is_said(words), lambda: (commands.publish(told), tick()), 0.01)
    go_on("the wheels turn", lambda: seen["odom"]["third"][4] > 0.1,
          lambda: (commands.publish(JointState(name=names, velocity=[2, 2])), tick()), 0.01)
    seen["driven"] = dict(seen["odom"])
    times = itertools.repeat(100)
    go_on("the clock has gone back", is_said("time went back to 5.0"), tick)
    go_on("it is back", lambda: abs(seen["odom"]["third"][2]) < 1e-6)


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
