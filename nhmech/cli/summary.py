"""What a run came to, on one screen."""

from __future__ import annotations

from math import atan2, degrees

import click
import numpy as np

_SAMPLES = 500  # states at which the constraints are evaluated, spread over the run


def residuals(vehicle, trajectory) -> tuple[float, float]:
    """Largest |A v + b| / max(1, |v|) and largest |phi| [m] over the run; dropped rows are among them."""
    slip = height = 0.0
    last = len(trajectory.t) - 1
    for i in np.unique(np.linspace(0, last, min(_SAMPLES, last + 1)).astype(int)):
        v = np.asarray(trajectory.v[i])
        rates, phi = vehicle.constraint_error(trajectory.t[i], trajectory.q[i], v)
        slip = max(slip, np.linalg.norm(rates) / max(1.0, np.linalg.norm(v)))
        height = max(height, np.max(np.abs(phi), initial=0.0))
    return slip, height


def planar_pose(q) -> tuple[float, float, float]:
    """x, y [m] and yaw [rad] of a free-flyer base, q = (x, y, z, qx, qy, qz, qw, ...)."""
    x, y, _, qx, qy, qz, qw = (float(part) for part in q[:7])
    return x, y, atan2(2 * (qw * qz + qx * qy), 1 - 2 * (qy * qy + qz * qz))


def print_summary(vehicle, trajectory, wall: float) -> None:
    """Prints duration, end pose, what is left of the constraints, energy and speed of a run that took `wall` seconds."""
    t, energy = np.asarray(trajectory.t), np.asarray(trajectory.energy)
    x, y, yaw = planar_pose(trajectory.q[-1])
    slip, height = residuals(vehicle, trajectory)
    duration = t[-1] - t[0]
    rows = [
        ("time", f"{duration:.4g} s simulated in {wall:.3g} s, {duration / max(wall, 1e-9):.3g} x real time"),
        ("end", f"x {x:+.4f} m  y {y:+.4f} m  yaw {degrees(yaw):+.2f} deg"),
        ("rolling", f"max |A v + b| / max(1, |v|) {slip:.1e}   max |phi| {height:.1e} m"),
        ("energy", f"{energy[0]:.6g} J at the start, {energy[-1]:.6g} J at the end"),
        ("stopped", str(trajectory.stop)),
    ]
    for name, text in rows:
        click.echo(f"{name:<8} {text}")
