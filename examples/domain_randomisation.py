"""Where a thousand slightly different differential drives end up under the same wheel speeds.

Wheel radii, payload and where it lies are random; all robots are simulated side by side in one
call.

    python examples/domain_randomisation.py [--short] [OUT]      writes OUT/domain_randomisation.png
"""

import sys
from pathlib import Path

import casadi as ca
import numpy as np

import nhmech

ROBOTS, SEED = 1000, 0
RADIUS = 0.01                                # of a wheel, relative (one sigma)
# largest payload [kg], largest distance from the base's origin [m]
PAYLOAD, PLACE = 3.0, 0.1
SPEED, TURN, QUARTERS = 0.5, 0.6, 3          # [m/s], [rad/s], quarter turns after 2 s straight
GAIN = 0.5                                   # [N m s/rad] from a wheel's speed error to its torque
DT, CONTROL, EVERY = 2e-3, 10, 50            # [s], steps in a control period, steps between records


def main(out: Path, short: bool) -> None:
    nominal = nhmech.load(nhmech.urdf_path("differential_drive"))
    wheels = ("left_wheel_joint", "right_wheel_joint")
    radii = [f"{wheel}.radius" for wheel in wheels]
    vehicle = nominal.with_parameters(symbolic=[*radii, "payload.mass", "payload.x", "payload.y"])
    count, random = 20 if short else ROBOTS, np.random.default_rng(SEED)
    radius = nominal.parameters.values["left_wheel_joint.radius"]
    theta = np.column_stack([radius * (1 + RADIUS * random.standard_normal((count, 2))),
                             random.uniform(0, PAYLOAD, count),
                             random.uniform(-PLACE, PLACE, (count, 2))])
    theta[0] = vehicle.theta                                           # the first is as designed
    half = abs(nominal.contact_points(nominal.configuration())[0][1])      # of the track [m]
    rates = [vehicle.speeds.index(wheel) for wheel in wheels]
    first_rate = len(nhmech.start_states(vehicle, [(0, 0, 0)])[0]) - len(vehicle.speeds)

    def torques(t: float, x: np.ndarray) -> np.ndarray:
        """Of all robots: proportional to what the wheels' speeds lack, which are computed for the
        robot as designed."""
        turn = TURN if t >= 2.0 else 0.0
        wanted = np.array([SPEED - half * turn, SPEED + half * turn]) / radius
        return GAIN * (wanted - x[:, [first_rate + i for i in rates]])

    steps = 500 if short else round((2.0 + QUARTERS * np.pi / 2 / TURN) / DT)
    batch = nhmech.simulate_batch(vehicle, on_their_wheels(vehicle, theta), torques, dt=DT,
                                  duration=steps * DT, every=EVERY, control_period=CONTROL * DT,
                                  theta=theta)
    ends = batch.x[:, -1, :2]
    spread = 100 * np.linalg.norm(ends - ends[0], axis=1)
    print(f"{batch.ok.sum()} of {count} robots ran {batch.t[-1]:.2f} s; their ends are "
          f"{np.sqrt(np.mean(spread ** 2)):.1f} cm root mean square from that of the robot as "
          f"designed, {spread.max():.1f} cm at most")
    out.mkdir(parents=True, exist_ok=True)
    draw(batch, theta, out / "domain_randomisation.png")


def on_their_wheels(vehicle, theta) -> np.ndarray:
    """x0 (N, nx): height, roll and pitch at which robots with these wheels stand, from the heights
    phi(q) = 0."""
    system, phi = vehicle.constrained.system, vehicle.constrained.distribution.phi
    nominal = nhmech.start_states(vehicle, [(0, 0, 0)])[0]
    # height and two parts of the unit quaternion
    z = ca.SX.sym("z", 3)
    q = ca.vertcat(0, 0, z, 0, ca.sqrt(1 - z[1] ** 2 - z[2] ** 2), vehicle.configuration()[7:])
    stand = ca.rootfinder("stand", "newton",
                          {"x": z, "p": system.theta, "g": ca.substitute(phi, system.q, q)})
    x0 = np.tile(nominal, (len(theta), 1))
    for row, values in zip(x0, theta):
        row[2:5] = stand(nominal[2:5], values).full().ravel()
        row[6] = np.sqrt(1 - row[3] ** 2 - row[4] ** 2)
    return x0


def draw(batch, theta, file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    tracks, ends = figure.subplots(1, 2, width_ratios=(1.5, 1))
    for k in range(1, min(len(batch), 100)):
        label = "the first hundred" if k == 1 else None
        tracks.plot(batch.x[k, :, 0], batch.x[k, :, 1], "C0", lw=0.4, alpha=0.4, label=label)
    tracks.plot(batch.x[0, :, 0], batch.x[0, :, 1], "k", lw=1.2, label="as designed")
    tracks.set(xlabel="x [m]", ylabel="y [m]", aspect="equal",
               title="the same commands to robots that differ")
    tracks.legend(fontsize=8, loc="upper left")
    last = batch.x[:, -1]
    dots = ends.scatter(last[:, 0], last[:, 1], c=100 * (theta[:, 1] / theta[:, 0] - 1), s=6,
                        cmap="coolwarm")
    ends.plot(*last[0, :2], "k+", ms=12, mew=2)
    ends.set(xlabel="x [m]", ylabel="y [m]", aspect="equal",
             title=f"where {len(batch)} robots end\n(+ as designed)")
    figure.colorbar(dots, ax=ends, label="right wheel larger than the left by [%]", shrink=0.8)
    figure.savefig(file, dpi=120)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--short"]
    main(Path(words[0] if words else "out"), "--short" in sys.argv)
