"""A thin disc rolls upright: slower than a critical spin it wobbles away from a straight line,
faster it stays on it.

The critical spin is found from the exact linearisation and compared with the textbook's sqrt(g / (3
r)).

    python examples/falling_disc.py [--short] [OUT]      writes OUT/falling_disc.html, the slowest
    disc, and .png
"""

import sys
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

import nhmech
from nhmech.analysis import linearise

RATIOS = (0.7, 0.95, 1.05, 1.5)      # of the critical spin
PUSH = 0.02                          # roll rate at the start [rad/s]
DURATION, DT = 12.0, 1e-3            # [s]
TEXTBOOK = np.sqrt(9.81 / (3 * 0.3))      # critical spin of a thin disc of 0.3 m [rad/s]


def main(out: Path, short: bool) -> None:
    vehicle = nhmech.load(nhmech.urdf_path("disc"))
    spin = critical_spin(vehicle)
    print(f"critical spin {spin:.9f} rad/s, textbook {TEXTBOOK:.9f} rad/s")
    runs = {}
    for ratio in RATIOS:
        simulator = nhmech.Simulator(vehicle, dt=DT)
        simulator.reset(xi={"spin_joint": ratio * spin, "yaw_rate": 0.0, "roll_rate": PUSH})
        run = runs[ratio] = simulator.run(0.5 if short else DURATION, every=10)
        print(f"{ratio:4} of it: leans by {np.abs(lean(run)).max():.2f} deg at most, "
              f"energy constant to {np.abs(run.energy / run.energy[0] - 1).max():.0e}")
    out.mkdir(parents=True, exist_ok=True)
    nhmech.save_html(vehicle, runs[RATIOS[0]], out / "falling_disc.html")
    draw(runs, out / "falling_disc.png")


def critical_spin(vehicle) -> float:
    """[rad/s] at which the square of the largest eigenvalue, that of leaning, changes its sign."""
    q = vehicle.configuration()

    def square(spin: float) -> float:
        upright = {"spin_joint": spin, "yaw_rate": 0.0, "roll_rate": 0.0}
        xi = nhmech.start_states(vehicle, [(0, 0, 0)], xi=upright)[0, -len(vehicle.speeds):]
        values = linearise(vehicle, q, xi).eigenvalues
        return float((values[np.argmax(np.abs(values))] ** 2).real)

    return brentq(square, 0.5 * TEXTBOOK, 2.0 * TEXTBOOK, xtol=1e-13)


def lean(run) -> np.ndarray:
    """[deg]: R_WB[2, 1] = 2 (y z + x w) of the quaternion is the sine."""
    x, y, z, w = run.q[:, 3:7].T
    return np.rad2deg(np.arcsin(2 * (y * z + x * w)))


def draw(runs, file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    track, angle = figure.subplots(2, 1, height_ratios=(1, 1.1))
    for ratio, run in runs.items():
        contact = run.contact_points()[:, 0]
        track.plot(*contact[:, :2].T, lw=1, label=f"{ratio:g} of the critical spin")
        angle.plot(run.t, lean(run), lw=1)
    track.plot(0, 0, "ko", ms=4, label="start")
    track.set(xlabel="x [m]", ylabel="y [m]", aspect="equal",
              title=f"where the disc touches the ground (critical spin {TEXTBOOK:.2f} rad/s)")
    track.legend(fontsize=8)
    angle.set(xlabel="time [s]", ylabel="lean [deg]")
    figure.savefig(file, dpi=120)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--short"]
    main(Path(words[0] if words else "out"), "--short" in sys.argv)
