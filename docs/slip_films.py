"""The moving pictures of `howto/slip.md`: a turn of a skid steer, a car that loses its rear, and a
wheelie. They need Chromium.

    python docs/slip_films.py
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from filming import FPS, film

import nhmech
from nhmech import JointPosition, JointTorque, JointVelocity, Simulator, Trajectory, Wheel

IMAGES = Path(__file__).parent / "images"
REAR = ("rear_left_wheel_joint", "rear_right_wheel_joint")


def skid_turn() -> Trajectory:
    """The wheels of the right turn faster: all four slide."""
    vehicle = nhmech.load(nhmech.urdf_path("skid_steer"))
    rates = {wheel.name: 0.5 if "left" in wheel.name else 6.0
             for wheel in vehicle.description.wheels}
    command = JointVelocity(rates, acceleration=10.0)
    simulator = Simulator(vehicle, lambda t, state: command, dt=4e-3, contact="coulomb", mu=0.6)
    return simulator.run(4.0)


def lost_rear() -> Trajectory:
    """The hand brake locks the rear wheels, on a road that is slippery below them."""
    vehicle = nhmech.load(nhmech.urdf_path("ackermann_car"))
    vehicle = vehicle.with_parameters({f"{name}.damping": 1e4 for name in REAR})
    mu = {name: 0.5 if name in REAR else 0.9 for name in vehicle.contact_names}
    steer = JointPosition({"front_left_steering_joint": 0.08})
    simulator = Simulator(vehicle, lambda t, state: steer, dt=4e-3, contact="coulomb", mu=mu)
    front = {name: 9.0 / wheel.radius for wheel in vehicle.description.wheels
             if (name := wheel.name) not in REAR}
    simulator.reset(v={"forward_speed": 9.0, **front})
    return simulator.run(2.6)


def wheelie() -> Trajectory:
    """A tricycle that stands and is driven behind: more torque than its front wheel stays down
    with, and then none."""
    wheels = [Wheel("front_wheel_joint", "disc", 0.18),
              *(Wheel(name, "disc", 0.12, driven=True) for name in REAR)]
    vehicle = nhmech.load(nhmech.urdf_path("tricycle"), wheels=wheels)

    def drive(t: float, state: nhmech.State) -> JointTorque:
        return JointTorque(dict.fromkeys(REAR, 15.0 if 0.3 <= t < 0.66 else 0.0))

    simulator = Simulator(vehicle, drive, dt=4e-3, contact="coulomb", mu=0.9, on_fall="go-on")
    return simulator.run(2.2)


class Shot(NamedTuple):
    """A run, and how it is filmed."""

    run: Callable[[], Trajectory]
    shown: tuple[int, int]  # as in `film`
    aside: tuple[int, int] = (0, 0)
    slower: float = 1.0  # than the run
    quality: int | None = None  # as in `film`


FILMS = {"slip_skid_turn": Shot(skid_turn, (405, 270), (5, 22)),
         "slip_lost_rear": Shot(lost_rear, (390, 260), (-25, 0)),
         "slip_wheelie": Shot(wheelie, (240, 160), slower=2.0, quality=26)}


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in names or FILMS:
            shot = FILMS[name]
            run = shot.run()
            print(name, *run.phases, sep="\n  ")
            html = nhmech.save_html(run.simulated, run, Path(folder) / f"{name}.html")
            at = np.arange(run.t[0], run.t[-1], 1 / FPS / shot.slower)
            film(html, IMAGES / f"{name}.webp", at, aside=shot.aside, shown=shot.shown,
                 quality=shot.quality)


if __name__ == "__main__":
    main(sys.argv[1:])
