"""What several tests need of runs: readings of a finished one, and one that is killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

import casadi as ca
import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

from nhmech.simulation.runs.run_file import RunFile

# how some of the shipped robots are set going: arguments of `Simulator.reset`
MOTIONS = {
    "disc": dict(pose=(0, 0, 0, 0.35, 0, 0.2),
                 xi={"spin_joint": 8.0, "yaw_rate": 0.5, "roll_rate": 0.3}),
    "bicycle": dict(pose=(0, 0, 0, 0.1, 0, 0.3), joints={"steering_joint": 0.15},
                    xi={"rear_wheel_joint": 15.0, "roll_rate": 0.4, "steering_joint": 0.5}),
    "trailers": dict(joints={"front_left_steering_joint": 0.4, "hitch_1_joint": 0.5,
                             "hitch_2_joint": -0.4},
                     xi={"rear_left_wheel_joint": 12.0, "front_left_steering_joint": -0.9}),
}


def killed(work: Callable[[], object], writes: int, delay: float) -> list[int]:
    """Does `work`, a run that is saved and does not end, in another process; SIGKILL comes `delay`
    [s] after so many writes to its run file beyond the header, however busy the machine. Offsets
    [bytes] that all its writes came to."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(60)
            write = RunFile.write

            def told(self, offset, data):
                end = write(self, offset, data)
                os.write(writing, end.to_bytes(8, "little"))
                return end

            RunFile.write = told                                        # in this process only
            work()
        finally:
            os._exit(1)
    os.close(writing)
    told_of = b"".join(os.read(reading, 8) for _ in range(1 + writes))
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    with open(reading, "rb") as pipe:
        told_of += pipe.read()
    return np.frombuffer(told_of, dtype="<u8").tolist()


def moment(trajectory, t: float) -> int:
    """Index of the recorded state at time t [s]."""
    i = int(np.argmin(np.abs(trajectory.t - t)))
    assert abs(trajectory.t[i] - t) < 1e-9, f"no state was recorded at t = {t}"
    return i


def rate(trajectory, joint: str) -> np.ndarray:
    """(N,) [rad/s]."""
    return trajectory.v[:, trajectory.names["v"].index(joint)]


def angle(trajectory, joint: str) -> np.ndarray:
    """(N,) [rad], unwrapped."""
    return trajectory.angles[:, trajectory.names["angles"].index(joint)]


def rotation(q: np.ndarray) -> np.ndarray:
    """R_WB."""
    return pin.Quaternion(q[3:7]).toRotationMatrix()


def attitude(q: np.ndarray) -> tuple[float, float, float]:
    """yaw, roll, pitch [rad] of R = Rz(yaw) Rx(roll) Ry(pitch)."""
    R = rotation(q)
    return (float(np.arctan2(-R[0, 1], R[1, 1])), float(np.arcsin(R[2, 1])),
            float(np.arctan2(-R[2, 0], R[2, 2])))


def yaw(trajectory) -> np.ndarray:
    """Heading [rad], unwrapped, (N,)."""
    return np.unwrap([attitude(q)[0] for q in trajectory.q])


def residuals(vehicle, trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Largest |A v + b| of all rows relative to |v|, and largest |phi| relative to max(1 m, |p|),
    at each recorded state, (N,), (N,)."""
    s, d = vehicle.constrained.system, vehicle.constrained.distribution
    evaluate = ca.Function("residuals", [s.t, s.q, s.v], [
        ca.norm_inf(d.A @ s.v + d.b) / ca.norm_2(s.v),
        ca.norm_inf(d.phi) / ca.fmax(1, ca.norm_2(s.q[:3]))])
    slip, height = evaluate.map(len(trajectory.t))(trajectory.t[None, :], trajectory.q.T,
                                                   trajectory.v.T)
    return slip.full().ravel(), height.full().ravel()


def by_scipy(equations, theta, q, v, times, u=()) -> tuple[np.ndarray, np.ndarray]:
    """q (N, nq) and v (N, nv) at the times, from `equations.drift` by SciPy's DOP853, to
    rounding."""
    nq = len(q)

    def rate(t, z):
        return np.concatenate(
            [part.full().ravel() for part in equations.drift(t, z[:nq], z[nq:], u, theta)])

    solution = solve_ivp(rate, (times[0], times[-1]), np.concatenate([q, v]).astype(float),
                         method="DOP853", t_eval=times, rtol=3e-14, atol=1e-15)
    assert solution.success
    return solution.y[:nq].T, solution.y[nq:].T
