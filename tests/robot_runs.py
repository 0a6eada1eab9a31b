"""The published robots in motion: five seconds of the demo controller, and a figure-eight.

`python tests/robot_runs.py [NAME ...]` prints the table.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from robot_table import ABSENT, judged, published
from tracking_table import LATERAL, SPEED, tightest

import nhmech
from nhmech.analysis.energy_balance import energy_balance
from nhmech.control.demo import DemoDrive
from nhmech.control.path_library import make_path
from nhmech.control.pure_pursuit import PurePursuit
from nhmech.control.wheel_servo import WheelServo
from nhmech.vehicle.vehicle import Vehicle


@dataclass(frozen=True)
class Run:
    """What a run with the demo controller was like.

    Attributes
    ----------
    seconds
        How long it lasted.
    distance
        Way of the base over the ground [m].
    energy
        Largest kinetic energy [J].
    plausible
        Twice that of the whole mass, with its wheels, at the fastest commanded motion [J].
    height
        Largest error of a wheel's height over the ground [m].
    slip
        Largest speed against a constraint [m/s].
    """

    seconds: float
    distance: float
    energy: float
    plausible: float
    height: float
    slip: float


def demo(vehicle: Vehicle, duration: float = 5.0) -> Run:
    """Drive as `nhmech run FILE` does."""
    controller = DemoDrive(vehicle)
    simulator = nhmech.Simulator(vehicle, controller, dt=1e-3, control_period=0.01)
    simulator.reset(**controller.start)
    run = simulator.run(duration, every=20)
    xy = run.q[:, :2]
    kinetic = energy_balance(run).kinetic
    fastest = controller.speed + controller.turn * vehicle.steering.length
    errors = [vehicle.constraint_error(t, q, v) for t, q, v in zip(run.t, run.q, run.v)]
    return Run(run.t[-1], float(np.linalg.norm(np.diff(xy, axis=0), axis=1).sum()),
               float(kinetic.max()), 2 * _energy_at(vehicle, fastest),
               max(float(np.abs(phi).max()) for _, phi in errors),
               max(float(np.abs(rates).max()) for rates, _ in errors))


def _energy_at(vehicle: Vehicle, speed: float) -> float:
    """Kinetic energy [J] of the whole mass at a speed [m/s], and of wheels that roll so."""
    data = vehicle.model.createData()
    M = pin.crba(vehicle.model, data, pin.neutral(vehicle.model))
    energy = 0.5 * sum(inertia.mass for inertia in vehicle.model.inertias) * speed ** 2
    for wheel in vehicle.description.wheels:
        if wheel.joint is not None:
            at = vehicle.model.joints[vehicle.model.getJointId(wheel.joint)].idx_v
            energy += 0.5 * M[at, at] * (speed / wheel.radius) ** 2
    return energy


def comfortable(vehicle: Vehicle) -> float:
    """`SPEED`, or two thirds of what the slowest driven joint can do [m/s].

    A wheel turns as fast as its limit lets it, and as its effort can against its damping; a
    steering joint turns by a radian while the vehicle goes its own length.
    """
    radii = {wheel.joint: wheel.radius for wheel in vehicle.description.wheels}
    most = []
    for name in vehicle.driven:
        limits = vehicle.limits[name]
        damping = vehicle.description.damping.get(name, 0.0)
        rate = min(limits.velocity, limits.effort / damping if damping else np.inf)
        most.append(rate * radii.get(name, vehicle.steering.length))
    return min([SPEED, *(2 / 3 * speed for speed in most)])


def figure_eight(vehicle: Vehicle, laps: float = 1.0) -> float | None:
    """Root mean square of the lateral error [m], with motor drivers that take up friction; None for
    a vehicle that has to balance, whose controller follows no path."""
    if "pitch_rate" in vehicle.speeds:
        return None
    path = make_path("figure8", 3 * tightest(vehicle))
    speed = comfortable(vehicle)
    tracker = PurePursuit(vehicle, path, speed=speed)
    simulator = nhmech.Simulator(vehicle, WheelServo(vehicle, commands=tracker), dt=1e-3,
                                 control_period=0.01)
    simulator.reset(**tracker.start)
    run = simulator.run(laps * path.length / speed, every=100)
    errors = tracker.errors(run)
    if abs(errors[-1, 0]) > 0.25 * path.length:
        return float("inf")                # it stays behind
    return float(np.sqrt(np.mean(errors[:, 1] ** 2)))


def main(names: list[str]) -> None:
    """Prints the table."""
    if not published():
        sys.exit(ABSENT)
    print(f"{'':21s} demo, 5 s: way [m]  energy [J]  plausible   slip [m/s]   figure-eight at "
          f"{SPEED} m/s or less, lateral RMS [mm], bound {1000 * LATERAL:.0f}")
    for file in published():
        vehicle = judged(file).vehicle
        if vehicle is None or (names and Path(file).stem not in names):
            continue
        try:
            run = demo(vehicle)
            text = (f"{run.seconds:8.1f} {run.distance:9.2f} {run.energy:11.3g} "
                    f"{run.plausible:10.3g} {run.slip:12.1e}")
        except Exception as error:      # the table goes on, and has the error
            text = f"{type(error).__name__}: {error}"
        try:
            rms = figure_eight(vehicle)
            text += " balances" if rms is None else f"{1000 * rms:12.2f}"
        except Exception as error:      # the table goes on, and has the error
            text += f" {type(error).__name__}: {error}"
        print(f"{Path(file).stem:21s} {text}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
