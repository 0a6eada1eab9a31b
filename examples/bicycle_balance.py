"""A bicycle at 3 m/s, where it falls over by itself, is balanced by torque on its handlebars while
it changes lanes.

    python examples/bicycle_balance.py [--short] [OUT]      writes OUT/bicycle_balance.html and .png
"""

import sys
from pathlib import Path

import numpy as np

import nhmech
from nhmech.control import BicycleBalance, lane_change
from nhmech.view import ReferencePath

SPEED = 3.0                          # [m/s]; hands off, this bicycle is stable only from 4.3 to 6.0
LANE, WITHIN = 3.0, 10.0             # [m] to the left, within so many metres
BEFORE, AFTER = 8.0, 24.0            # [m] straight
DT, CONTROL = 1e-3, 0.01             # simulation step and control period [s]
LEAN = 1.0                           # [deg] at the start of the bicycle that is left alone
FALLEN = 30.0                        # [deg]: where its run ends


def main(out: Path, short: bool) -> None:
    vehicle = nhmech.load(nhmech.urdf_path("bicycle"))
    path = lane_change(WITHIN, LANE, BEFORE, AFTER)
    rider = BicycleBalance(vehicle, path, speed=SPEED, period=CONTROL)
    simulator = nhmech.Simulator(vehicle, rider, dt=DT, control_period=CONTROL)
    simulator.reset(**rider.start)
    ridden = simulator.run(0.5 if short else (BEFORE + WITHIN + AFTER / 2) / SPEED, every=20)

    fallen = nhmech.Event("fallen", lambda t,
                          state: np.deg2rad(FALLEN) - abs(np.arcsin(state.T_WB[2, 1])))
    simulator = nhmech.Simulator(vehicle, dt=DT, events=(fallen,))
    simulator.reset(pose=(0, 0, 0.3, np.deg2rad(LEAN), 0, 0), xi=rider.start["xi"])
    alone = simulator.run(0.5 if short else 10.0, every=20)

    beside = rear(ridden)[-1, 1] - LANE
    leant, turned = np.abs(lean(ridden)).max(), np.abs(torque(ridden)).max()
    print(f"ridden: lean at most {leant:.2f} deg, torque at most {turned:.2f} N m, "
          f"{1000 * beside:.1f} mm beside the new lane at the end; hands off: stopped by "
          f"{alone.stop} at {alone.t[-1]:.2f} s")
    out.mkdir(parents=True, exist_ok=True)
    nhmech.save_html(vehicle, ridden, out / "bicycle_balance.html",
                     overlays=[ReferencePath(vehicle, path)])
    draw(path, ridden, alone, out / "bicycle_balance.png")


def lean(run) -> np.ndarray:
    """To the right [deg]: height of the frame's left side, R_WB[2, 1] = 2 (y z + x w) of its
    quaternion."""
    x, y, z, w = run.q[:, 3:7].T
    return np.rad2deg(np.arcsin(2 * (y * z + x * w)))


def torque(run) -> np.ndarray:
    """On the handlebars [N m]."""
    return run.u[:, run.names["u"].index("steering_joint")]


def rear(run) -> np.ndarray:
    """Contact points of the rear wheel [m], (N, 3)."""
    return run.contact_points()[:, 0]


def draw(path, ridden, alone, file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5.4), layout="constrained")
    track, angle, effort = figure.subplots(3, 1, height_ratios=(1, 1.3, 1))
    track.plot(*np.reshape(path.point(np.linspace(0, path.length, 200)), (-1, 2)).T, "0.75", lw=4,
               label="path")
    track.plot(*rear(ridden)[:, :2].T, "C0", label="rear wheel")
    track.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", xlim=(-1, ridden.q[-1, 0] + 1),
              title=f"a lane change at {SPEED} m/s, balanced by the handlebars")
    track.legend(fontsize=8, loc="upper left")
    angle.plot(ridden.t, lean(ridden), "C0", label="lean to the right")
    steering = np.rad2deg(ridden.q[:, ridden.names["q"].index("steering_joint")])
    angle.plot(ridden.t, steering, "C2", label="steering to the left")
    angle.plot(alone.t, lean(alone), "C3--", label=f"lean, hands off from {LEAN:g} deg")
    angle.set(xlabel="time [s]", ylabel="angle [deg]", ylim=(-FALLEN, FALLEN))
    angle.legend(fontsize=8, ncols=3, loc="lower right")
    effort.plot(ridden.t, torque(ridden), "C1")
    effort.set(xlabel="time [s]", ylabel="torque [N m]")
    figure.savefig(file, dpi=120)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--short"]
    main(Path(words[0] if words else "out"), "--short" in sys.argv)
