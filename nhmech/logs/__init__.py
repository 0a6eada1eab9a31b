"""Runs for other programs: CSV, Parquet, and MCAP with ROS 2 messages."""
