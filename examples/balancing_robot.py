"""A two-wheeled inverted pendulum, let go at 15 degrees, catches itself, drives, stops, and turns
on the spot.

    python examples/balancing_robot.py [--short] [OUT]      writes OUT/balancing_robot.html and .png
"""

import sys
from pathlib import Path

import numpy as np

import nhmech
from nhmech.control import Balance

PITCH = 15.0                                     # [deg] at the start, at rest
SPEED, TURN = 0.4, 1.5                           # [m/s], [rad/s]
# until [s], speed, turning rate
PLAN = ((2.0, 0.0, 0.0), (5.0, SPEED, 0.0), (8.0, 0.0, 0.0), (8.0 + 2 * np.pi / TURN, 0.0, TURN),
        (14.0, 0.0, 0.0))
DT, CONTROL = 1e-3, 5e-3                         # simulation step and control period [s]


def wanted(t: float, state=None) -> tuple[float, float, float]:
    """Forward speed, lateral speed and turning rate by the plan."""
    forward, turn = next(((forward, turn) for until, forward, turn in PLAN if t < until),
                         PLAN[-1][1:])
    return forward, 0.0, turn


def main(out: Path, short: bool) -> None:
    vehicle = nhmech.load(nhmech.urdf_path("pendulum"))
    simulator = nhmech.Simulator(vehicle, Balance(vehicle, wanted), dt=DT, control_period=CONTROL)
    simulator.reset(pose=(0.0, 0.0, 0.04, 0.0, np.deg2rad(PITCH), 0.0))
    run = simulator.run(0.5 if short else PLAN[-1][0], every=10)
    x, y, z, w = run.q[:, 3:7].T
    pitch = np.rad2deg(np.arctan2(2 * (w * y - x * z), 1 - 2 * (x * x + y * y)))
    heading = np.rad2deg(np.unwrap(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))))
    late = run.t >= PLAN[0][0]
    most = np.abs(pitch[late]).max(initial=0.0)
    print(f"pitch from {pitch[0]:.1f} deg, within {most:.2f} deg after {PLAN[0][0]:g} s, "
          f"{pitch[-1]:.3f} deg at the end; turned by {heading[-1]:.1f} deg, in which the middle "
          f"moved by {1000 * drift(run):.1f} mm")
    out.mkdir(parents=True, exist_ok=True)
    nhmech.save_html(vehicle, run, out / "balancing_robot.html")
    draw(run, pitch, heading, out / "balancing_robot.png")


def drift(run) -> float:
    """How far the middle of the axle went during the turn [m]."""
    turning = run.q[(run.t >= PLAN[2][0]) & (run.t <= PLAN[3][0]), :2]
    return float(np.linalg.norm(turning - turning[0], axis=1).max()) if len(turning) else 0.0


def draw(run, pitch, heading, file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 6), layout="constrained")
    axes = figure.subplots(4, 1, sharex=True)
    plan = np.array([wanted(t) for t in run.t])
    axes[0].plot(run.t, pitch)
    axes[0].axhline(0, color="k", lw=0.5)
    axes[0].set(ylabel="pitch [deg]",
                title="a balancing robot catches itself, drives, stops, turns on the spot")
    axes[1].plot(run.t, plan[:, 0], "0.7", lw=2, label="wanted")
    axes[1].plot(run.t, run.column("forward_speed"), label="speed of the axle")
    axes[1].set(ylabel="speed [m/s]")
    axes[1].legend(fontsize=8)
    axes[2].plot(run.t, heading)
    axes[2].set(ylabel="heading [deg]", yticks=range(0, 361, 90))
    for name, torque in zip(run.names["u"], run.u.T):
        axes[3].plot(run.t, torque, label=name.removesuffix("_wheel_joint") + " wheel")
    axes[3].set(xlabel="time [s]", ylabel="torque [N m]")
    axes[3].legend(fontsize=8)
    figure.savefig(file, dpi=120)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--short"]
    main(Path(words[0] if words else "out"), "--short" in sys.argv)
