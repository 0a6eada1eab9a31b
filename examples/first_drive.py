"""A robot follows a figure-eight by pure pursuit: its track, its distance from the path, and its
torques.

    python examples/first_drive.py [--short] [OUT]      writes OUT/first_drive.html, which plays the
    run, and .png
"""

import sys
from pathlib import Path

import numpy as np

import nhmech
from nhmech.control import PurePursuit, make_path
from nhmech.view import ReferencePath

# a vehicle that comes with the package, or the path of any URDF
ROBOT = "differential_drive"
SIZE = 1.5                           # half the width of the eight [m]
SPEED = 0.5                          # [m/s]
DT, CONTROL = 1e-3, 0.02             # simulation step and control period [s]


def main(out: Path, short: bool) -> None:
    vehicle = nhmech.load(nhmech.urdf_path(ROBOT))
    path = make_path("figure8", SIZE)
    tracker = PurePursuit(vehicle, path, speed=SPEED)
    simulator = nhmech.Simulator(vehicle, tracker, dt=DT, control_period=CONTROL)
    simulator.reset(**tracker.start)
    run = simulator.run((0.1 if short else 1.0) * path.length / SPEED, every=10)
    lateral = tracker.errors(run)[:, 1]
    rms = np.sqrt(np.mean(lateral ** 2))
    print(f"{SPEED * run.t[-1]:.2f} m driven, beside the path by {1000 * rms:.2f} mm root mean "
          f"square, {1000 * np.abs(lateral).max():.2f} mm at most")
    out.mkdir(parents=True, exist_ok=True)
    nhmech.save_html(vehicle, run, out / "first_drive.html",
                     overlays=[ReferencePath(vehicle, path)])
    draw(path, run, lateral, out / "first_drive.png")


def draw(path, run, lateral, file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplot_mosaic([["map", "map"], ["error", "torque"]], height_ratios=(1.2, 1))
    along = path.point(np.linspace(0, path.length, 400))
    axes["map"].plot(*np.reshape(along, (-1, 2)).T, "0.7", lw=4, label="path")
    axes["map"].plot(run.q[:, 0], run.q[:, 1], "C0", label="driven, middle of the axle")
    axes["map"].plot(*run.q[0, :2], "ko", ms=4, label="start")
    axes["map"].set(xlabel="x [m]", ylabel="y [m]", aspect="equal", ylim=(-0.45 * SIZE, 0.6 * SIZE),
                    title=f"figure-eight by pure pursuit, {SPEED} m/s")
    axes["map"].legend(loc="upper center", ncols=3, fontsize=8)
    axes["error"].plot(run.t, 1000 * lateral, "C0")
    axes["error"].set(xlabel="time [s]", ylabel="lateral error [mm]",
                      title="beside the path, positive to the left")
    for name, torque in zip(run.names["u"], run.u.T):
        axes["torque"].plot(run.t, torque, label=name.removesuffix("_wheel_joint") + " wheel")
    axes["torque"].set(xlabel="time [s]", ylabel="torque [N m]", title="what the motors give")
    axes["torque"].legend(fontsize=8)
    figure.savefig(file, dpi=120)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--short"]
    main(Path(words[0] if words else "out"), "--short" in sys.argv)
