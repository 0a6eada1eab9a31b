"""A car goes faster and faster round a circle: how much friction rolling needs, and when a wheel
would slip or lift.

The simulation rolls on past the friction limit, where a real car slides; what follows is what
unlimited grip would give.

    python examples/when_rolling_fails.py [--short] [OUT]      writes OUT/when_rolling_fails.png
"""

import sys
from pathlib import Path

import numpy as np

import nhmech
from nhmech.analysis import friction_limit, run_validity
from nhmech.control import TwistDrive

RADIUS = 20.0                        # of the circle that the rear axle's middle goes round [m]
START, RATE = 4.0, 0.5               # speed at the start [m/s] and how fast it grows [m/s^2]
MU = 0.8                             # dry asphalt
BEGUN = 0.5                          # [s] in which the drive comes up to this pace
DURATION = 30.0                      # [s]
DT, CONTROL = 1e-2, 0.05             # simulation step and control period [s]


def faster(t: float, state) -> tuple[float, float, float]:
    """Twist of the base, which is on the rear axle."""
    speed = START + RATE * t
    return speed, 0.0, speed / RADIUS


def main(out: Path, short: bool) -> None:
    vehicle = nhmech.load(nhmech.urdf_path("ackermann_car"))
    drive = TwistDrive(vehicle, faster)
    # it also ends where a wheel lifts off
    simulator = nhmech.Simulator(vehicle, drive, dt=DT, control_period=CONTROL,
                                 events=[friction_limit(vehicle, MU, terminal=False)])
    axle = next(axle for axle in vehicle.steering.steered if axle.steering in vehicle.driven)
    simulator.reset(
        joints={
            axle.steering: axle.angle_for(np.array((1.0, 0.0, vehicle.steering.length / RADIUS)))
        },
        xi={"forward_speed": START},
    )
    run = simulator.run(1.0 if short else DURATION, every=10)
    limits = run_validity(run, MU, every=2)
    print(limits.describe())
    speeds = {name.partition(":")[0]: float(np.interp(t, run.t, run.column("forward_speed")))
              for t, name in limits.events}
    for name, speed in speeds.items():
        print(f"{name}: {speed:.2f} m/s, v^2 / (g R) = {speed ** 2 / (9.81 * RADIUS):.3f}")
    out.mkdir(parents=True, exist_ok=True)
    draw(run, limits, speeds, out / "when_rolling_fails.png")


def draw(run, limits, speeds, file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5.6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    states = [state for state in limits if state.t >= BEGUN]
    v = np.interp([state.t for state in states], run.t, run.column("forward_speed"))
    above.plot(v, [MU * state.use[0] for state in states],
               label="friction needed, loads shared as kindly as can be")
    above.plot(v, v ** 2 / (9.81 * RADIUS), "k:", label="v$^2$ / (g R), a point on the rear axle")
    above.axhline(MU, color="C3", lw=1, label=f"friction there is, {MU}")
    above.set(ylabel="friction coefficient",
              title=f"a car on a circle of {RADIUS:g} m, ever faster", ylim=(0, 2))
    above.legend(fontsize=8, loc="upper left")
    for k, wheel in enumerate(limits[0].wheels):
        label = wheel.wheel.removesuffix("_wheel_joint").replace("_", " ")
        below.plot(v, [state.wheels[k].normal / 1000 for state in states], label=label)
    below.axhline(0, color="k", lw=0.5)
    below.set(xlabel="speed [m/s]", ylabel="normal force [kN]")
    below.legend(fontsize=8, ncols=2, loc="upper left")
    for name, speed in speeds.items():
        for axes in (above, below):
            axes.axvline(speed, color="0.4", lw=0.8, ls="--")
        above.text(speed, 0.04, f"{name} ", transform=above.get_xaxis_transform(), ha="right",
                   fontsize=8)
    figure.savefig(file, dpi=120)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--short"]
    main(Path(words[0] if words else "out"), "--short" in sys.argv)
