"""Runs for other programs: CSV, Parquet, and MCAP with ROS 2 messages."""

from .. import lazy

lazy.attach_stub(__name__, __file__)
