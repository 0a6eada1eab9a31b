"""Four path trackers start 30 cm beside the same slalom: how each returns to it, and what error
remains.

A law guides the middle of the axle; Stanley's guides the point one wheelbase ahead, where a car has
its front axle.

    python examples/trackers_compared.py [--short] [OUT]      writes OUT/trackers_compared.png
"""

import sys
from pathlib import Path

import numpy as np

import nhmech
from nhmech.control import controller_class, make_path

ROBOT = "differential_drive"
TRACKERS = ("pure_pursuit", "stanley", "kanayama", "feedback_linearisation")
SIZE, SPEED = 0.6, 0.5               # how far its gates are to either side [m], [m/s]
ASIDE = 0.3                          # [m] to the left of the path at the start
SETTLED = 0.5                        # of the run: what counts as left over comes after it


def main(out: Path, short: bool) -> None:
    vehicle = nhmech.load(nhmech.urdf_path(ROBOT))
    path = make_path("slalom", SIZE)
    runs = {}
    for name in TRACKERS:
        tracker = controller_class(name)(vehicle, path, speed=SPEED)
        x, y, heading = tracker.start["pose"]
        pose = (x - ASIDE * np.sin(heading), y + ASIDE * np.cos(heading), heading)
        simulator = nhmech.Simulator(vehicle, tracker, dt=5e-3, control_period=0.02)
        simulator.reset(**{**tracker.start, "pose": pose})
        run = simulator.run((0.1 if short else 1.0) * path.length / SPEED, every=4)
        lateral = tracker.errors(run)[:, 1]
        rest = 1000 * np.sqrt(np.mean(lateral[run.t >= SETTLED * run.t[-1]] ** 2))
        runs[name] = run, guided(tracker, run), lateral, rest
        print(f"{name:24} lateral error {rest:6.2f} mm root mean square from "
              f"{SETTLED * run.t[-1]:.0f} s on")
    out.mkdir(parents=True, exist_ok=True)
    draw(path, runs, out / "trackers_compared.png")


def guided(tracker, run) -> np.ndarray:
    """The point that the law keeps on the path, (N, 2) [m]."""
    poses = (tracker.unicycle.pose((q[0], q[1], 2 * np.arctan2(q[5], q[6]))) for q in run.q)
    ahead = tracker.ahead
    return np.array([(x + ahead * np.cos(heading), y + ahead * np.sin(heading))
                     for x, y, heading in poses])


def draw(path, runs, file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplot_mosaic([["map", "map"], ["all", "rest"]])
    along = np.reshape(path.point(np.linspace(0, path.length, 400)), (-1, 2))
    axes["map"].plot(*along.T, "0.8", lw=4, label="path")
    for name, (run, points, lateral, rest) in runs.items():
        style = {"lw": 1.2, "ls": "--" if name == TRACKERS[-1] else "-"}
        axes["map"].plot(*points.T, **style, label=f"{name.replace('_', ' ')}, {rest:.1f} mm")
        axes["all"].plot(run.t, 100 * lateral, **style)
        late = run.t >= SETTLED * run.t[-1]
        axes["rest"].plot(run.t[late], 1000 * lateral[late], **style)
    axes["map"].set(xlabel="x [m]", ylabel="y [m]", aspect="equal",
                    title=f"{ROBOT.replace('_', ' ')} at {SPEED} m/s")
    figure.legend(*axes["map"].get_legend_handles_labels(), loc="outside lower center", ncols=5,
                  fontsize=8, title="root mean square of the second half", title_fontsize=8)
    axes["all"].set(xlabel="time [s]", ylabel="lateral error [cm]", title="coming back to the path")
    axes["rest"].set(xlabel="time [s]", ylabel="lateral error [mm]",
                     title="what is left in the second half")
    figure.savefig(file, dpi=120)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--short"]
    main(Path(words[0] if words else "out"), "--short" in sys.argv)
