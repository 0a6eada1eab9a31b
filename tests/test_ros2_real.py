"""The node on the real rclpy: a client in this process, the node in another. Neither Debian nor
pip has rclpy; where a ROS 2 installation is sourced, this runs."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

rclpy = pytest.importorskip("rclpy", reason="no rclpy here: source a ROS 2 installation")


def test_a_client_drives_and_reads():
    from geometry_msgs.msg import Twist
    from nav_msgs.msg import Odometry

    environment = os.environ | {"ROS_DOMAIN_ID": str(60 + os.getpid() % 40)}
    os.environ["ROS_DOMAIN_ID"] = environment["ROS_DOMAIN_ID"]
    node = subprocess.Popen([sys.executable, "-m", "nhmech.ros.ros2"], env=environment,
                            cwd=Path(__file__).parents[1])
    rclpy.init()
    try:
        client, found = rclpy.create_node("client"), []
        publisher = client.create_publisher(Twist, "cmd_vel", 10)
        client.create_subscription(Odometry, "odom", found.append, 10)
        message = Twist()
        message.linear.x = 0.4
        end = time.monotonic() + 60
        while time.monotonic() < end and not (found and found[-1].twist.twist.linear.x > 0.38):
            publisher.publish(message)
            rclpy.spin_once(client, timeout_sec=0.05)
        assert found[-1].twist.twist.linear.x == pytest.approx(0.4, abs=0.02)
        assert found[-1].header.frame_id == "odom"
    finally:
        rclpy.shutdown()
        node.terminate()
        node.wait(120)
