"""The links of a robot that carry an inertial measurement unit."""

from __future__ import annotations

import re

from lxml import etree

IMU = re.compile(r"(^|[^a-z])imu([^a-z]|$)", re.I)      # a word of a name, not a part of one


def find_imus(xml: str) -> tuple[str, ...]:
    """Links that the file says carry an IMU: those with a sensor of that type in `<gazebo>`, or,
    where there is none, those that are called so (REP-145: `imu_link`).
    """
    robot = etree.fromstring(xml.encode())
    links = [link.get("name", "") for link in robot.iterfind("link")]
    told = [gazebo.get("reference") for gazebo in robot.iterfind("gazebo")
            for sensor in gazebo.iter("sensor") if sensor.get("type", "").startswith("imu")]
    found = [link for link in links if link in told]
    return tuple(found or [link for link in links if IMU.search(link)])
