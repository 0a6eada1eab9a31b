"""A ROS 1 user, for tests/test_ros1.py: sends commands for three seconds of the vehicle's time, and
writes down what comes back.

    python ros1_driver.py OUTPUT.npz
"""

import math
import sys
import time

import numpy as np

from nhmech.ros.start import import_ros

rospy = import_ros("rospy", "")
tf2_ros = import_ros("tf2_ros", "")
from geometry_msgs.msg import Twist  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from std_srvs.srv import Empty  # noqa: E402

SECONDS, PERIOD = 3.0, 0.05
rows, frames = [], []


def listen(message):
    place, turned = message.pose.pose.position, message.pose.pose.orientation
    twist = message.twist.twist
    rows.append((message.header.stamp.to_sec(), place.x, place.y, place.z, turned.x, turned.y,
                 turned.z, turned.w, twist.linear.x, twist.angular.z))


rospy.init_node("driver")
buffer = tf2_ros.Buffer()
listener = tf2_ros.TransformListener(buffer)
publisher = rospy.Publisher("cmd_vel", Twist, queue_size=1)
rospy.Subscriber("odom", Odometry, listen, queue_size=1000, tcp_nodelay=True)
while publisher.get_num_connections() == 0 or not rows:
    time.sleep(0.05)
begin = rows[-1][0]
while (t := rows[-1][0] - begin) < SECONDS:
    message = Twist()
    message.linear.x, message.angular.z = 0.4, 0.6 * math.sin(2 * t)
    publisher.publish(message)
    time.sleep(PERIOD)
while max(map(abs, rows[-1][8:])) > 1e-3:       # until it has braked
    time.sleep(PERIOD)
found = buffer.lookup_transform("odom", "left_wheel", rospy.Time(0), rospy.Duration(2.0))
place, turned = found.transform.translation, found.transform.rotation
wheel = (found.header.stamp.to_sec(), place.x, place.y, place.z, turned.x, turned.y, turned.z,
         turned.w)
driven = len(rows)
rospy.ServiceProxy("/nhmech/reset", Empty)()
while math.hypot(*rows[-1][1:3]) > 1e-9:
    time.sleep(PERIOD)
np.savez(sys.argv[1], rows=rows[:driven], wheel=wheel, after=rows[-1])
