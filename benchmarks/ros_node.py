"""The node in real time: how late its ticks come from an empty compile cache, what one costs, and
that it neither grows nor loses pace.

    python benchmarks/ros_node.py [SECONDS [MESSAGES]]

SECONDS (20) is the length of each run at 100 Hz, with commands at 20 Hz that turn, stop and drive
back; MESSAGES (100,000) are made without a pause. Lateness is that of the machine too: look at
it on one that is idle, and for minutes, since late ticks are rare.
"""

from __future__ import annotations

import gc
import math
import os
import sys
import tempfile
import time
from pathlib import Path

from common.report import machine, measured
from common.timing import Spent

VEHICLES = ("differential_drive", "ackermann_car", "swerve", "trailers")
RATE, EVERY = 100.0, 5          # ticks in a second, and in the time between two commands


def make_node(name, **parameters):
    import numpy as np
    from rosbags.typesys import Stores, get_typestore

    import nhmech
    from nhmech.logs.messages import Messages
    from nhmech.ros import Node, Settings

    store = get_typestore(Stores.ROS2_JAZZY)
    vehicle = nhmech.load(nhmech.urdf_path(name))
    node = Node(vehicle, Settings.read(parameters), Messages(store.types.__getitem__, np.array),
                lambda stamp: 0.0, lambda line: print(f"  {name}: {line}"))
    vector, twist = (store.types[f"geometry_msgs/msg/{kind}"] for kind in ("Vector3", "Twist"))

    def command(t):
        stops = math.sin(0.7 * t) > -0.8
        return twist(vector(0.4 * math.cos(0.3 * t) * stops, 0.0, 0.0),
                     vector(0.0, 0.0, 0.5 * math.sin(1.3 * t) * stops))

    return node, command


def run_in_real_time(name, seconds, **parameters):
    """(seconds to the first tick, latest tick, its 99.9 % and median [s], most and mean processor
    time of one [s], simulated over real time)."""
    begin = time.monotonic()
    node, command = make_node(name, **parameters)
    started = time.monotonic() - begin
    gc.collect()
    late, cost = [], []
    start = due = time.monotonic()
    for k in range(round(seconds * RATE)):
        due = start + k / RATE
        time.sleep(max(due - time.monotonic(), 0.0))
        late.append(time.monotonic() - due)
        with Spent() as took:
            if k % EVERY == 0:
                node.inputs["cmd_vel"].take(command(k / RATE), time.monotonic())
            node.tick(time.monotonic())
        cost.append(took.processor)
    late.sort()
    passed = time.monotonic() - start
    return (started, late[-1], late[int(0.999 * len(late))], late[len(late) // 2], max(cost),
            sum(cost) / len(cost), node.bridge.simulator.t / passed)


def resident():
    """Memory of the process [MB]."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def run_for_long(name, messages):
    """[MB] of the process at the first tenth of so many messages and at the end, and processor
    time [s]."""
    node, command = make_node(name, dt=0.01, cmd_vel_timeout=0.0)
    made = ticks = 0
    early = 0.0
    with Spent() as took:
        while made < messages:
            if ticks % EVERY == 0:
                node.inputs["cmd_vel"].take(command(ticks / RATE), ticks / RATE)
                made += 1
            made += len(node.tick(ticks / RATE))
            ticks += 1
            if not early and made > messages / 10:
                gc.collect()
                early = resident()
        gc.collect()

    return early, resident(), took.processor


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    messages = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    print(machine())
    rows = []
    for name, factor in [*((name, 1.0) for name in VEHICLES), ("differential_drive", 10.0)]:
        with tempfile.TemporaryDirectory() as cache:
            os.environ["NHMECH_CACHE"] = cache
            start, *ticks, pace = run_in_real_time(name, seconds, speed_factor=factor,
                                                   cmd_vel_timeout=0.0)
        rows.append((name if factor == 1 else f"{name}, speed_factor {factor:g}", start,
                     *(1e3 * tick for tick in ticks), pace))
    head = ("", "start [s]", "latest tick [ms]", "99.9 % [ms]", "median [ms]",
            "most of a tick [ms]", "mean [ms]", "vehicle's over real time")
    print(measured(head, rows, f"\n{seconds:g} s at {RATE:g} Hz from an empty compile cache"))
    early, late, passed = run_for_long("differential_drive", messages)
    print(measured((f"{messages:,} messages", ""), [
        ("processor time [s]", passed), ("memory after a tenth [MB]", early),
        ("memory at the end [MB]", late)]))


if __name__ == "__main__":
    main()
