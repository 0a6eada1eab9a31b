"""The picture of docs/howto/skid.md and its numbers: `python docs/skid_pictures.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import nhmech
from nhmech.view.drawing import new_figure, plot_style, write

HERE = Path(__file__).parent / "images"
TRACK, BASE, RADIUS = 0.57, 0.512, 0.165      # [m] of the shipped skid steer


def track_factor(robot, speed: float, radius: float, mu: float) -> tuple[float, float]:
    """Of a steady turn: the yaw rate that the wheel speeds stand for over the one that comes of
    them, and the lateral acceleration [m/s^2]."""
    yaw = speed / radius
    rates = {wheel: (speed + (-1 if "left" in wheel else 1) * TRACK / 2 * yaw) / RADIUS
             for wheel in robot.driven}
    command = nhmech.JointVelocity(rates, acceleration=20.0)
    run = nhmech.Simulator(robot, lambda t, state: command, dt=2e-3, control_period=0.01,
                           contact="coulomb", mu=mu).run(6.0, every=50)
    turned = float(run.v[-1, 5])
    return yaw / turned, abs(float(run.v[-1, 0]) * turned)


def skid() -> None:
    """The track factor, by lateral acceleration and by payload."""
    with plot_style():
        draw()


def draw() -> None:
    robot = nhmech.load(nhmech.urdf_path("skid_steer"))
    figure = new_figure(6.8, 2.6)
    left, right = figure.subplots(1, 2, sharey=True)
    for mu, mark in ((0.3, "o"), (0.6, "s"), (0.9, "^")):
        found = [track_factor(robot, speed, radius, mu) for radius in (0.7, 1.0, 2.0)
                 for speed in (0.2, 0.4, 0.6, 0.8, 1.0)]
        factors, accelerations = np.array(found).T
        left.plot(accelerations / (mu * 9.81), factors, mark, label=f"mu = {mu}", markersize=5)
        print(f"mu {mu}: " + " ".join(f"{factor:.4f}" for factor in factors))
    left.axhline(1 + (BASE / TRACK) ** 2, linewidth=0.8, color="grey")
    left.set(xlabel="lateral acceleration / (mu g)", ylabel="track factor")
    left.legend()
    places = np.linspace(-0.25, 0.25, 11)
    for mass in (5.0, 20.0, 40.0):
        loaded = [robot.with_parameters({"payload.mass": mass, "payload.x": float(x),
                                         "payload.z": 0.2}) for x in places]
        factors = [track_factor(one, 0.3, 1.0, 0.6)[0] for one in loaded]
        print(f"payload {mass} kg: " + " ".join(f"{factor:.4f}" for factor in factors))
        right.plot(places, factors, ".-", label=f"{mass:g} kg")
    right.set(xlabel="payload ahead of the middle [m]")
    right.legend()
    write(figure, HERE / "track_factor.svg")


if __name__ == "__main__":
    skid()
