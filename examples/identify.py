"""Identification: the radius of a worn wheel and where the mass is, from a noisy run, by multiple
shooting.

    python examples/identify.py [--short] [OUT]      writes OUT/identify.png
"""

import sys
from pathlib import Path

import casadi as ca
import numpy as np

import nhmech

UNKNOWN = ("left_wheel_joint.radius", "base_link.com_y")             # [m], [m]
TRUTH = (0.097, 0.012)
GUESS = (0.100, 0.0)
# of x, y [m], heading [rad], both wheels' angles [rad]
NOISE = np.array([0.005, 0.005, 0.005, 0.002, 0.002])
DURATION, SAMPLE, DT = 8.0, 0.05, 0.01                               # [s]
SAMPLES = 10                         # of each shooting interval
TORQUE = 0.25                        # [N m]
SEED = 1


def main(out: Path, short: bool) -> None:
    robot = nhmech.load(nhmech.urdf_path("differential_drive"))
    vehicle = robot.with_parameters(dict(zip(UNKNOWN, GUESS)), symbolic=UNKNOWN)
    f, u, seen = dynamics_and_run(vehicle, 2.0 if short else DURATION)
    estimate, sigma, history, residual = identify(f, u, seen)
    for name, value, error, truth in zip(UNKNOWN, estimate, sigma, TRUTH):
        print(f"{name} = {1e3 * value:.4f} +- {1e3 * error:.4f} mm, truth {1e3 * truth:g} mm "
              f"({(value - truth) / error:+.1f} sigma)")
    print(f"residuals: {np.sqrt(np.mean(residual ** 2)):.3f} of the noise, {len(history) - 1} "
          "Gauss-Newton steps")
    out.mkdir(parents=True, exist_ok=True)
    draw(history, sigma, residual, out / "identify.png")


def dynamics_and_run(vehicle, duration: float, seed: int = SEED):
    """The dynamics with theta open; efforts (n, nu) and noisy readings (n, 5) at every sample of
    the truth."""
    t = np.arange(round(duration / SAMPLE)) * SAMPLE
    u = TORQUE * np.column_stack([np.sin(1.1 * t) + np.sin(4.3 * t),
                                  np.sin(1.5 * t + 0.6) + np.sin(3.7 * t)])
    real = vehicle.with_parameters(dict(zip(UNKNOWN, TRUTH)), symbolic=())
    simulator = nhmech.Simulator(real, lambda t, state: u[round(t / SAMPLE)], dt=DT,
                                 control_period=SAMPLE)
    simulator.reset(pose=(0.0, 0.0, 0.0))
    states = [simulator.step() for _ in range(len(u) * round(SAMPLE / DT))][
        round(SAMPLE / DT) - 1 :: round(SAMPLE / DT)
    ]
    wheels = "left_wheel_joint", "right_wheel_joint"
    seen = np.array([[*state.pose,
                      *(state.encoder.angle[name] for name in wheels)] for state in states])
    return (nhmech.dynamics(vehicle), u,
            seen + NOISE * np.random.default_rng(seed).normal(size=seen.shape))


def identify(f, u, seen, steps: int = 20):
    """theta, its standard deviations, theta of all steps, and residuals in units of the noise (n,
    5).

    Unknown are theta and the state at the end of every interval; the intervals meet as equality
    constraints, which are linearised with the residuals (generalised Gauss-Newton: H. G. Bock,
    Recent advances in parameter identification techniques for ODE, 1983).
    """
    n, count = len(u) // SAMPLES, f.state_vector.nx
    x, w, theta = ca.MX.sym("x", count), ca.MX.sym("u", f.nu), ca.MX.sym("theta", len(UNKNOWN))
    after = x
    for _ in range(round(SAMPLE / DT)):
        after = f.step(0.0, after, w, DT, theta)
    shoot = ca.Function("sample", [x, w, theta], [after]).mapaccum(SAMPLES)
    angles = [x[f.coordinate(wheel)] for wheel in ("left_wheel_joint", "right_wheel_joint")]
    read = ca.Function("read", [x], [ca.vertcat(f.pose(x), *angles)])
    at_rest = ca.DM(nhmech.start_states(f.simulated.vehicle, [(0.0, 0.0, 0.0)])[0])
    placed = at_rest
    # the heights of the wheels depend on theta: Newton steps onto the ground
    for _ in range(3):
        placed = f.step(0.0, placed, ca.DM.zeros(f.nu), 0.0, theta)
    nodes = ca.MX.sym("nodes", count, n)
    residuals, gaps, start = [], [], placed
    for k in range(n):
        part = slice(k * SAMPLES, (k + 1) * SAMPLES)
        run = shoot(start, u[part].T, theta)
        off = read.map(SAMPLES)(run) - seen[part].T
        off[2, :] = ca.atan2(ca.sin(off[2, :]), ca.cos(off[2, :]))
        residuals.append(ca.vec(off / NOISE))
        gaps.append(run[:, -1] - nodes[:, k])
        start = nodes[:, k]
    z, r, c = ca.vertcat(theta, ca.vec(nodes)), ca.vertcat(*residuals), ca.vertcat(*gaps)
    linear = ca.Function("linear", [z], [r, ca.jacobian(r, z), c, ca.jacobian(c, z)])
    # of the nodes: at rest, only moved to where the robot was seen
    guess = np.tile(at_rest.full(), n)
    ends = seen[SAMPLES - 1::SAMPLES]
    guess[:2], guess[5], guess[6] = ends[:n, :2].T, np.sin(ends[:n, 2] / 2), np.cos(ends[:n, 2] / 2)
    for row, column in ((f.coordinate("left_wheel_joint"), 3),
                        (f.coordinate("right_wheel_joint"), 4)):
        guess[row] = ends[:n, column]
    value, history = np.concatenate([GUESS, guess.ravel(order="F")]), [np.array(GUESS)]
    for _ in range(steps):
        r, J, c, C = (part.full() for part in linear(value))
        inverse = np.linalg.inv(np.block([[J.T @ J, C.T], [C, np.zeros((len(c), len(c)))]]))
        change = (inverse @ np.vstack([-J.T @ r, -c]))[:len(value), 0]
        value = value + change
        history.append(value[:len(UNKNOWN)])
        if np.abs(change).max() < 1e-9:
            break
    errors, residuals = (np.sqrt(np.diag(inverse)[: len(UNKNOWN)]),
                         np.asarray(linear(value)[0]).reshape(-1, 5))
    return value[:len(UNKNOWN)], errors, np.array(history), residuals


def draw(history, sigma, residual, file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for values, error, truth, name in zip(history.T, sigma, TRUTH, UNKNOWN):
        left.semilogy(np.abs(values - truth) / error, "o-", label=name)
    left.axhspan(1e-3, 2, color="C2", alpha=0.2, label="within 2 sigma")
    left.set(xlabel="Gauss-Newton step", ylabel="|estimate - truth| / sigma")
    left.legend(fontsize=8)
    for column, name in zip(residual.T, ("x", "y", "heading", "left wheel", "right wheel")):
        right.plot((np.arange(len(column)) + 1) * SAMPLE, column, ".", ms=3, label=name)
    right.set(xlabel="t [s]", ylabel="residual / noise", ylim=(-4, 6))
    right.legend(fontsize=7, ncols=2, loc="upper left")
    figure.savefig(file, dpi=120)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--short"]
    main(Path(words[0] if words else "out"), "--short" in sys.argv)
