"""A system other than a robot, written as a Lagrangian: Chaplygin's sleigh, a blade with its
centre of mass ahead.

There is no friction and the energy is constant, and yet every motion ends straight. The picture
shows what is conserved and what is not, beside the closed form.

    python examples/chaplygin_sleigh.py [--short] [OUT]      writes OUT/chaplygin_sleigh.png
"""

import sys
from pathlib import Path

import numpy as np

import nhmech
from nhmech.mechanics import constrain, lagrangian_system, special_euclidean_2

# mass [kg], inertia about the centre of mass [kg m^2], its way ahead of the blade [m]
M, I, A = 2.0, 0.3, 0.25
SPEED, TURN = -1.0, 0.3              # at the start, backwards [m/s], [rad/s]
DURATION, DT = 10.0, 1e-3            # [s]


def lagrangian(s):
    """Kinetic energy; v and w are speed along the blade and turning rate, `lateral_speed` is
    forbidden by the blade."""
    v, across, w = s.v.forward_speed, s.v.lateral_speed, s.v.yaw_rate
    return s.p.m * (v ** 2 + (across + s.p.a * w) ** 2) / 2 + s.p.I * w ** 2 / 2


def main(out: Path, short: bool) -> None:
    body = lagrangian_system(special_euclidean_2(), lagrangian, parameters=("m", "I", "a"))
    sleigh = constrain(body, {"m": M, "I": I, "a": A}, rows={"blade": lambda s: s.v.lateral_speed})
    simulator = nhmech.Simulator(sleigh, dt=DT)
    simulator.reset(q=np.zeros(3), xi={"forward_speed": SPEED, "yaw_rate": TURN})
    run = simulator.run(1.0 if short else DURATION, every=10)
    v, w = run.column("forward_speed"), run.column("yaw_rate")
    exact = closed_form(run.t)
    first, last = (I + M * A ** 2) * w[[0, -1]]
    print(f"energy {run.energy[0]:.6f} J, constant to "
          f"{np.abs(run.energy - run.energy[0]).max():.1e} J; closed form met to "
          f"{np.abs(np.stack([v, w]) - exact).max():.1e} m/s, rad/s; angular momentum about the "
          f"blade from {first:.3f} to {last:.6f} kg m^2/s")
    out.mkdir(parents=True, exist_ok=True)
    draw(run, exact, out / "chaplygin_sleigh.png")


def closed_form(t) -> np.ndarray:
    """v = V tanh(k t + c), w = W / cosh(k t + c), (2, N)."""
    inertia = I + M * A ** 2
    V = np.sqrt(SPEED ** 2 + inertia * TURN ** 2 / M)
    k, c = M * A * V / inertia, np.arctanh(SPEED / V)
    return np.stack([V * np.tanh(k * t + c), V * np.sqrt(M / inertia) / np.cosh(k * t + c)])


def draw(run, exact, file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.4), layout="constrained")
    axes = figure.subplot_mosaic([["map", "speeds"], ["map", "kept"]])
    x, y, heading = run.q.T
    axes["map"].plot(x, y, label="blade")
    axes["map"].plot(x + A * np.cos(heading), y + A * np.sin(heading), "C1", lw=0.8,
                     label="centre of mass")
    for k in range(0, len(run), max(len(run) // 50, 1)):
        axes["map"].plot([x[k], x[k] + A * np.cos(heading[k])],
                         [y[k], y[k] + A * np.sin(heading[k])], "0.6", lw=0.8)
    axes["map"].plot(x[0], y[0], "ko", ms=4, label="start, backwards")
    axes["map"].set(xlabel="x [m]", ylabel="y [m]", aspect="equal",
                    title="Chaplygin's sleigh from above")
    axes["map"].legend(fontsize=8)
    labels = {"forward_speed": "speed along the blade [m/s]", "yaw_rate": "turning rate [rad/s]"}
    for k, (name, label) in enumerate(labels.items()):
        axes["speeds"].plot(run.t, run.column(name), f"C{k}", label=label)
        axes["speeds"].plot(run.t, exact[k], "k:", lw=1.2, label="closed form" if k else None)
    axes["speeds"].set(ylabel="speeds", ylim=(-1.3, 3.6), title="it turns round and goes straight")
    axes["speeds"].legend(fontsize=8, loc="upper right")
    axes["kept"].plot(run.t, run.energy / run.energy[0], label="energy")
    turning = run.column("yaw_rate")
    axes["kept"].plot(run.t, turning / turning.max(), "C1",
                      label="angular momentum about the blade")
    axes["kept"].set(xlabel="time [s]", ylabel="part of start or most", ylim=(0, 1.6),
                     title="conserved, and not")
    axes["kept"].legend(fontsize=8, loc="upper right")
    figure.savefig(file, dpi=120)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--short"]
    main(Path(words[0] if words else "out"), "--short" in sys.argv)
