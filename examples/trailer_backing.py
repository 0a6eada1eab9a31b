"""A car with two trailers backs up straight although the first hitch is bent by 20 degrees; hands
off it jack-knifes.

    python examples/trailer_backing.py [--short] [OUT]      writes OUT/trailer_backing.html and .png
"""

import sys
from pathlib import Path

import numpy as np

import nhmech
from nhmech.control import TrailerBacking, TwistDrive

HITCHES = {"hitch_1_joint": 20.0, "hitch_2_joint": 0.0}      # [deg] at the start
SPEED = 0.5                                                  # [m/s] backwards
DURATION = 50.0                                              # [s]
# [deg]: here the run with straight wheels ends
JACK_KNIFED = 80.0
# simulation step and control period [s]
DT, CONTROL = 1e-2, 0.05


def main(out: Path, short: bool) -> None:
    vehicle = nhmech.load(nhmech.urdf_path("trailers"))
    bent = {name: np.deg2rad(angle) for name, angle in HITCHES.items()}

    def most(state):
        return max(abs(state.joint_position[name]) for name in HITCHES)

    folded = nhmech.Event("jack-knife", lambda t, state: np.deg2rad(JACK_KNIFED) - most(state))
    runs = {}
    for name, controller, events in (("backing controller",
                                      TrailerBacking(vehicle, speed=SPEED, period=CONTROL), ()),
                                     ("wheels straight", TwistDrive(vehicle, (-SPEED, 0.0, 0.0)),
                                      (folded,))):
        simulator = nhmech.Simulator(vehicle, controller, dt=DT, control_period=CONTROL,
                                     events=events)
        simulator.reset(None, bent)
        run = runs[name] = simulator.run(1.0 if short else DURATION, every=5)
        print(f"{name:20} stopped by {run.stop} at {run.t[-1]:.2f} s, hitches at "
              + ", ".join(f"{a:.2f}" for a in hitches(run)[-1]) + " deg")
    out.mkdir(parents=True, exist_ok=True)
    nhmech.save_html(vehicle, runs["backing controller"], out / "trailer_backing.html", follow=True)
    draw(vehicle, runs, out / "trailer_backing.png")


def hitches(run) -> np.ndarray:
    """Hitch angles [deg], (N, 2)."""
    return np.rad2deg([run.angles[:, run.names["angles"].index(name)] for name in HITCHES]).T


def draw(vehicle, runs, file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.2), layout="constrained")
    track, angle = figure.subplots(2, 1, height_ratios=(1, 1.7))
    run = runs["backing controller"]
    points = run.contact_points()
    names = vehicle.contact_names
    for body, label in (("rear", "car, rear axle"), ("trailer_1", "trailer 1"),
                        ("trailer_2", "trailer 2")):
        wheels = [i for i, name in enumerate(names) if name.startswith(body)]
        middle = points[:, wheels].mean(axis=1)
        line, = track.plot(middle[:, 0], middle[:, 1], label=label)
        # the axle itself, at both ends of the run
        for k in (0, len(middle) - 1):
            track.plot(*points[k, wheels, :2].T, color=line.get_color(), lw=4 if k else 2,
                       solid_capstyle="butt")
    track.set(xlabel="x [m]", ylabel="y [m]", aspect="equal",
              title=f"backing towards -x at {SPEED} m/s: paths of the axles, which are drawn at "
                    "start and end")
    track.legend(fontsize=8, loc="lower left", ncols=3)
    for name, style in (("backing controller", "-"), ("wheels straight", "--")):
        for k, values in enumerate(hitches(runs[name]).T):
            angle.plot(runs[name].t, values, style, color=f"C{k + 1}",
                       label=f"hitch {k + 1}, {name}")
    angle.axhline(0, color="k", lw=0.5)
    angle.set(xlabel="time [s]", ylabel="hitch angle [deg]")
    angle.legend(fontsize=8, ncols=2)
    figure.savefig(file, dpi=120)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--short"]
    main(Path(words[0] if words else "out"), "--short" in sys.argv)
