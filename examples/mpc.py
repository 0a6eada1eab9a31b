"""Model predictive control: a robot that starts beside a figure-eight, driven by the efforts that
are optimal over a horizon.

    python examples/mpc.py [--short] [OUT]      writes OUT/mpc.html and OUT/mpc.png
"""

import sys
import time
from pathlib import Path

import numpy as np

import nhmech
from nhmech.control import MPC, make_path

SPEED = 0.5                          # [m/s]
HALF_WIDTH = 1.2                     # of the figure-eight [m]
BESIDE, TURNED = 0.25, 0.6           # put down left of the path [m], turned away from it [rad]
PERIOD = 0.02                        # of the controller [s]
STAGES = 20
EFFORT = 1.0                         # weight of the efforts; with less, a wheel lifts at the start
BEGINNING = 2.5                      # shown larger [s]; from then on the error is called settled


def main(out: Path, short: bool) -> None:
    vehicle, path = (nhmech.load(nhmech.urdf_path("differential_drive")),
                     make_path("figure8", HALF_WIDTH))
    controller = MPC(vehicle, path, speed=SPEED, stages=STAGES, effort=EFFORT)
    took = []

    def timed(t, state):
        begun = time.perf_counter()
        u = controller(t, state)
        took.append(time.perf_counter() - begun)
        return u

    simulator = nhmech.Simulator(vehicle, timed, dt=PERIOD / 10, control_period=PERIOD)
    x, y, heading, _ = path.at(path.length / 8)
    simulator.reset(pose=(x - BESIDE * np.sin(heading), y + BESIDE * np.cos(heading),
                          heading + TURNED))
    run = simulator.run(3.0 if short else path.length / SPEED)
    lateral = controller.errors(run)[:, 1]
    settled = np.abs(lateral[run.t > BEGINNING]).max()
    print(f"lateral error {lateral[0]:.3f} m at the start, at most {1e3 * settled:.3f} mm after "
          f"{BEGINNING:g} s; one solution takes {1e3 * np.median(took):.2f} ms (median) of the "
          f"{1e3 * PERIOD:g} ms control period")
    out.mkdir(parents=True, exist_ok=True)
    nhmech.save_html(vehicle, run, out / "mpc.html")
    draw(run, path, lateral, out / "mpc.png")


def draw(run, path, lateral, file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.2), layout="constrained")
    layout = [["path", "error"], ["path", "effort"]]
    seen, errors, efforts = figure.subplot_mosaic(layout, width_ratios=(1.5, 1)).values()
    seen.plot(*path.point(np.linspace(0, path.length, 400)).T, "k--", lw=0.8, label="path")
    seen.plot(run.q[:, 0], run.q[:, 1], "C0", label="robot")
    seen.plot(*run.q[0, :2], "C0o", label="start")
    seen.set(xlabel="x [m]", ylabel="y [m]", aspect="equal",
             title=f"a figure-eight at {SPEED} m/s, by prediction")
    seen.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=3)
    errors.plot(run.t, 1e3 * lateral)
    errors.set(ylabel="lateral error [mm]", title=f"the first {BEGINNING:g} s", xlim=(0, BEGINNING))
    errors.tick_params(labelbottom=False)
    for column, name in zip(run.u.T, ("left wheel", "right wheel")):
        efforts.plot(run.t, column, label=name)
    efforts.set(xlabel="t [s]", ylabel="effort [N m]", xlim=(0, BEGINNING))
    efforts.legend(fontsize=8)
    figure.savefig(file, dpi=120)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--short"]
    main(Path(words[0] if words else "out"), "--short" in sys.argv)
