"""What the path trackers are held to, written down before any gain was chosen:
(baseline, mobility class, vehicle, path, bound).

Every tracker has one set of gains for all vehicles. The path of the first table is a figure-eight
at `SPEED`, one lap from its crossing, whose tightest radius is the larger of two lengths of the
vehicle (`vehicle.steering.length`) and 1.5 times the smallest radius it can turn on. The bound is
on the root mean square of the lateral error [m] of the point that the law guides: the middle of the
fixed axle, of Stanley that of the front axle, of a vehicle without fixed axles the base's origin.
The second table is of driving up to a pose; its bound is on the distance that is left [m], and on
the heading [rad].

`python tests/tracking_table.py` prints both with what is measured.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache

import numpy as np
from robot_table import real as real_robot
from support import shipped

import nhmech
from nhmech.control.path_library import make_path
from nhmech.control.registry import controller_class
from nhmech.control.unicycle import unicycle

SPEED = 0.5                                                       # [m/s]

CLASSES = {"differential": ("differential_drive", "carriage"), "Ackermann": ("ackermann_car",),
           "car with trailers": ("trailers",), "tricycle": ("tricycle",), "mecanum": ("mecanum",),
           "omni": ("omni",), "swerve": ("swerve",), "rover": ("rover",), "skid": ("skid_steer",)}
REAL = {"differential": ("linorobot2_2wd",), "differential on swivels": ("mir100",),
        "Ackermann": ("gz_ackermann_drive",), "tricycle": ("gz_tricycle_drive",),
        "mecanum": ("clearpath_do100",)}
TRACKERS = ("pure_pursuit", "stanley", "kanayama", "feedback_linearisation")
LATERAL = 0.02                                                    # [m] root mean square
GOAL = (0.02, 0.02)                                               # [m], [rad]


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    baseline: str
    mobility: str
    vehicle: str
    path: str
    bound: float
    real: bool


TABLE = tuple(Row(baseline, mobility, vehicle, "figure8", LATERAL, real)
              for baseline in TRACKERS for real, classes in ((False, CLASSES), (True, REAL))
              for mobility, vehicles in classes.items() for vehicle in vehicles)
GOALS = tuple(Row("polar", mobility, vehicle, "lane_change", GOAL[0], real)
              for real, classes in ((False, CLASSES), (True, REAL))
              for mobility, vehicles in classes.items()
              for vehicle in vehicles)


@cache
def vehicle_of(name: str, real: bool):
    if not real:
        return shipped(name)
    return real_robot(name)


def tightest(vehicle) -> float:
    """Smallest radius of the vehicle's path [m]."""
    return max(2 * vehicle.steering.length, 1.5 * unicycle(vehicle).turning_radius)


def simulator_of(vehicle, tracker) -> nhmech.Simulator:
    """With a control period in which the vehicle goes a 25th of its length, but 20 to 50 ms."""
    period = float(np.clip(round(vehicle.steering.length / SPEED / 25, 2), 0.02, 0.05))
    simulator = nhmech.Simulator(vehicle, tracker, dt=0.01, control_period=period)
    simulator.reset(**tracker.start)
    return simulator


def lap(row: Row, laps: float = 1.0) -> tuple[float, float]:
    """Length of the figure-eight [m] and the lateral error's root mean square [m] over so many
    laps."""
    vehicle = vehicle_of(row.vehicle, row.real)
    path = make_path(row.path, 3 * tightest(vehicle))
    tracker = controller_class(row.baseline)(vehicle, path, speed=SPEED)
    trajectory = simulator_of(vehicle, tracker).run(laps * path.length / SPEED, every=10)
    way = np.linalg.norm(np.diff(trajectory.q[:, :2], axis=0), axis=1).sum()
    if way < 0.8 * laps * path.length:
        return path.length, float("inf")            # who stands still leaves no path
    return path.length, float(np.sqrt(np.mean(tracker.errors(trajectory)[:, 1] ** 2)))


def sampled_lap(law: str, period: float) -> float:
    """The lateral error's root mean square [m] of a differential drive over one lobe, its wheels
    ideal."""
    vehicle, path = shipped("differential_drive"), make_path("figure8", 1.2)
    tracker = controller_class(law)(vehicle, path, speed=SPEED)
    simulator = nhmech.Simulator(vehicle, tracker, dt=period / 2, control_period=period,
                                 mode="kinematic")
    simulator.reset(**tracker.start)
    run = simulator.run(0.5 * path.length / SPEED, every=4)
    return float(np.sqrt(np.mean(tracker.errors(run)[:, 1] ** 2)))


def arrival(row: Row) -> tuple[float, float]:
    """Distance [m] and heading [rad] that are left at the goal."""
    vehicle = vehicle_of(row.vehicle, row.real)
    path = make_path(row.path, tightest(vehicle))
    tracker = controller_class(row.baseline)(vehicle, path, speed=SPEED)
    trajectory = simulator_of(vehicle, tracker).run((path.length + 8 * tracker.unit) / SPEED,
                                                    every=10)
    along, lateral, heading = tracker.errors(trajectory)[-1]
    return float(np.hypot(along, lateral)), float(abs(heading))


def main() -> None:
    print(f"figure-eight at {SPEED} m/s, lateral error's root mean square [mm], bound "
          f"{1000 * LATERAL:.0f}")
    print(f"{'mobility class':24} {'vehicle':20} {'lap [m]':>8}"
          + "".join(f" {name:>22}" for name in TRACKERS))
    for first in TABLE[:len(TABLE) // len(TRACKERS)]:
        rows = [row for row in TABLE if (row.vehicle, row.real) == (first.vehicle, first.real)]
        measured = [lap(row) for row in rows]
        numbers = "".join(f" {1000 * rms:22.2f}" for _, rms in measured)
        print(f"{first.mobility:24} {first.vehicle:20} {measured[0][0]:8.2f}{numbers}", flush=True)
    bounds = f"bounds {1000 * GOAL[0]:.0f} and {1000 * GOAL[1]:.0f}"
    print(f"\npolar, to the end of a lane change: distance [mm] and heading [mrad] left, {bounds}")
    for row in GOALS:
        distance, heading = arrival(row)
        print(f"{row.mobility:24} {row.vehicle:20} {1000 * distance:8.3f} {1000 * heading:8.3f}",
              flush=True)


if __name__ == "__main__":
    sys.exit(main())
