"""A log of a robot made into a run of its vehicle."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation, Slerp

from ..checks import check_arguments, read_mapping
from ..errors import InputError, listed
from ..odometry.publishers import clean_joints
from ..odometry.referee import known_joints
from ..odometry.replay import positions
from ..odometry.samples import JointSamples, PoseSamples
from ..odometry.stamps import clean, interval
from ..simulation.runs.trajectory import Trajectory
from ..simulation.simulated import Simulated
from ..simulation.state_vector import StateVector
from ..vehicle.vehicle import Vehicle
from .recording import read_recording

STOP = "end of the log"
ON_GROUND = 1e-6      # [m] of heights: poses so near are taken as they are


@check_arguments
def import_run(path: str | PathLike[str], vehicle: Vehicle, *, joints: str | None = None,
               pose: str | None = None,
               rename: Mapping[str, str] | None = None) -> Trajectory:
    """Makes a run of logged joint states and poses, to be viewed, plotted and compared.

    It has the stamps of the denser of the two streams; the other is interpolated. Poses that are
    not on the ground of the vehicle keep x, y and heading, and stand on it. Rates that are not
    logged are differences. Where efforts of all driven joints are logged the run has forces; else
    it is kinematic. `settings["import"]` says what was mended.

    Parameters
    ----------
    path
        As of `read_recording`.
    vehicle
        The robot.
    joints, pose
        Topics; None chooses them.
    rename
        Names of joints in the log -> in the vehicle.

    Raises
    ------
    InputError
        For logs that do not fit the vehicle.

    Examples
    --------
    >>> run = Simulator(vehicle).run(0.1)
    >>> path = nhmech.logs.export_run(run, tmp_path / "log.mcap")
    >>> again = nhmech.logs.import_run(path, vehicle)
    >>> bool(abs(again.q - run.q).max() < 1e-9)
    True
    """
    log = read_recording(path)
    notes: list[str] = []
    seen, found = clean(log.poses(pose))
    notes += map(str, found)
    moved: JointSamples | None = None
    if vehicle.joint_names:
        names = read_mapping("rename", rename, "name in the log -> joint")
        moved = log.joints(joints).rename(names)
        moved, found = clean_joints(moved.select(known_joints(vehicle, moved)))
        notes += map(str, found)
        missing = [name for name in vehicle.joint_names if name not in moved.names]
        if missing:
            notes.append(f"not in the log, kept at their initial positions: {listed(missing)}")
    t = _moments(seen, moved)
    q, v, u, angles = _states(vehicle, t, seen, moved, notes)
    return _trajectory(vehicle, t, q, v, u, angles, {"import": {"file": str(path), "notes": notes}})


def _moments(seen: PoseSamples, moved: JointSamples | None) -> np.ndarray:
    """Stamps of the denser stream within the time of both."""
    if moved is None:
        return seen.t
    begin, end = max(seen.t[0], moved.t[0]), min(seen.t[-1], moved.t[-1])
    dense = seen.t if interval(seen.t) <= interval(moved.t) else moved.t
    t = dense[(dense >= begin) & (dense <= end)]
    if len(t) < 2:
        raise InputError(f"{moved.topic} ends at {moved.t[-1]:.6g} s and {seen.topic} begins at "
                         f"{seen.t[0]:.6g} s, or the other way round: they have no time in common")
    return t


def _states(vehicle: Vehicle, t: np.ndarray, seen: PoseSamples, moved: JointSamples | None,
            notes: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray]:
    """q (N, nq), v (N, nv), efforts (N, nu) where they are logged, and unwrapped angles (N, na)."""
    simulated = Simulated.of(vehicle)
    vector = StateVector.of(simulated.equations)
    rest = vehicle.configuration((0.0, 0.0, 0.0))
    names, n = vector.names(()), len(t)
    held = dict(zip(names, vector.assemble(rest, np.zeros(vector.nxi))))
    place: dict[str, np.ndarray] = {name: np.full(n, held[name]) for name in vehicle.joint_names}
    rate: dict[str, np.ndarray] = {name: np.zeros(n) for name in vehicle.joint_names}
    effort: dict[str, np.ndarray] = {}
    if moved is not None:
        for i, (name, angle) in enumerate(zip(moved.names, positions(moved).T)):
            place[name] = np.interp(t, moved.t, angle)
            rate[name] = _at(t, moved.t, moved.velocity[:, i], np.gradient(place[name], t))
            if np.isfinite(moved.effort[:, i]).all():
                effort[name] = np.interp(t, moved.t, moved.effort[:, i])
    q, v = np.repeat(rest[None], n, 0), np.zeros((n, vehicle.algebroid.nv))
    for ix, iq, turns in vector.slots:
        if names[ix] in place:
            angle = place[names[ix]]
            q[:, iq:iq + 1 + turns] = (np.column_stack([np.cos(angle), np.sin(angle)]) if turns
                                       else angle[:, None])
    q[:, :7] = _base(vehicle, t, seen, q, notes)
    v[:, :6] = _twist(t, seen, q)
    for i, name in enumerate(vehicle.joint_names):
        v[:, 6 + i] = rate[name]
    driven = [effort[name] for name in vehicle.driven if name in effort]
    u = np.column_stack(driven) if driven and len(driven) == len(vehicle.driven) else None
    return q, v, u, np.reshape([place[names[ix]] for ix in vector.angle_slots()], (-1, n)).T


def _at(t: np.ndarray, known: np.ndarray, values: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """A column at other times, or something else where it has no numbers."""
    return np.interp(t, known, values) if np.isfinite(values).all() else otherwise


def _base(vehicle: Vehicle, t: np.ndarray, seen: PoseSamples, q: np.ndarray,
          notes: list[str]) -> np.ndarray:
    """Pose of the root (N, 7) at the times."""
    position = np.column_stack([np.interp(t, seen.t, column) for column in seen.position.T])
    if np.array_equal(t, seen.t):
        rotation = seen.rotation / np.linalg.norm(seen.rotation, axis=1)[:, None]
    else:
        rotation = Slerp(seen.t, Rotation.from_quat(seen.rotation))(t).as_quat()
    found = np.column_stack([position, rotation])
    model, child = vehicle.model, seen.child
    if child != vehicle.description.root and model.existFrame(child, pin.FrameType.BODY):
        frame = model.frames[model.getFrameId(child, pin.FrameType.BODY)]
        if frame.parentJoint == 1:
            back = frame.placement.inverse()
            found = np.array([pin.SE3ToXYZQUAT(pin.XYZQUATToSE3(row) * back) for row in found])
    if not seen.is_planar:
        heights = np.array([vehicle.constraint_error(0.0, np.concatenate([row, state[7:]]),
                                                     np.zeros(vehicle.algebroid.nv))[1]
                            for row, state in zip(found[::1 + len(t) // 50],
                                                  q[::1 + len(t) // 50])])
        if np.abs(heights).max(initial=0.0) <= ON_GROUND:
            return found
        notes.append(f"the poses of {seen.topic} are up to {np.abs(heights).max():.3g} m off the "
                     "ground: x, y and heading are kept")
    R = Rotation.from_quat(rotation).as_matrix()
    yaw = np.arctan2(R[:, 1, 0], R[:, 0, 0])
    stands = Rotation.from_euler("z", yaw[:, None]) * Rotation.from_quat(q[0, 3:7])
    return np.column_stack([found[:, :2], np.full(len(t), q[0, 2]), stands.as_quat()])


def _twist(t: np.ndarray, seen: PoseSamples, q: np.ndarray) -> np.ndarray:
    """Twist of the root along its own axes (N, 6): as logged, else by differences."""
    if np.isfinite(seen.twist).all() and seen.twist.any():
        return np.column_stack([np.interp(t, seen.t, column) for column in seen.twist.T])
    R = Rotation.from_quat(q[:, 3:7])
    linear = R.inv().apply(np.gradient(q[:, :3], t, axis=0))
    turning = (R[:-1].inv() * R[1:]).as_rotvec() / np.diff(t)[:, None]
    return np.column_stack([linear, (np.vstack([turning, turning[-1:]])
                                     + np.vstack([turning[:1], turning])) / 2])


def _trajectory(vehicle: Vehicle, t: np.ndarray, q: np.ndarray, v: np.ndarray,
                u: np.ndarray | None, angles: np.ndarray, settings: dict) -> Trajectory:
    simulated = Simulated.of(vehicle)
    system, equations = simulated.constrained.system, simulated.equations
    vector = StateVector.of(equations)
    positions_ = vector.names(())
    names = {"q": system.algebroid.q_names, "v": system.algebroid.v_names, "xi": equations.names,
             "u": system.u_names, "angles": tuple(positions_[i] for i in vector.angle_slots())}
    inputs = np.zeros((len(t), system.u.numel()))
    if u is not None:
        inputs[:, :u.shape[1]] = u
    return Trajectory(t, q, v, v[:, list(equations.frame.speeds)], inputs, angles, STOP, names,
                      source=simulated.source, system=simulated, kinematic=u is None,
                      settings=settings)


