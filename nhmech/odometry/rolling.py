"""Displacements of the base that follow from logged wheels by the vehicle's own constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
import pinocchio as pin

from ..errors import InputError, listed
from ..once import cached_property
from ..vehicle.contact import Contact
from ..vehicle.vehicle import Vehicle

BLOCK = 2000           # configurations that are worked out at once
SAME = 1e-6            # [m] of wheels on one axle, or in the middle plane
HELD = 1e-9            # of unit-sized rates, below which the contacts hold them
DETERMINED = 1e-6      # of the largest singular value of the rows: below it nothing is measured


@dataclass(frozen=True)
class Group:
    """Wheels whose radius is one unknown."""

    name: str  # the joint of a single wheel; else their side
    wheels: tuple[str, ...]  # contacts
    side: int  # 1 left, -1 right, 0 in the middle
    steers: bool  # whether a joint steers them


@dataclass(frozen=True, eq=False)
class Displacements:
    """Displacements of the base, (K, 3), and the remaining sliding of wheels that contradict each
    other, row by row (K, m) [m]; with derivatives by all multipliers, (G + 2, K, ...)."""

    base: np.ndarray
    d_base: np.ndarray
    slid: np.ndarray
    d_slid: np.ndarray


@dataclass(frozen=True, eq=False)
class Rows:
    """Sliding that the wheels' rows forbid, of K displacements: a P + s = 0, row by row.

    P has the displacement of the base (dx, dy, dyaw) in its heading's frame and, where the
    attitude moves, its rise. All are affine in the radii.
    """

    # a, s: (K, m, p) and (K, m) [m]
    a: np.ndarray
    s: np.ndarray
    # a_radius, s_radius: their derivatives by the multiplier of each group's radius, (G, K, m, p)
    # and (G, K, m)
    a_radius: np.ndarray
    s_radius: np.ndarray
    # where the contact of each row is, from the middle (y) and from the unsteered axle (x), (m, 2)
    # [m]; zero for rows that no single wheel of the base has
    arms: np.ndarray

    def displacements(self, radius: np.ndarray, track: float,
                      wheelbase: float) -> Displacements:
        """The displacements P with the least sliding, for multipliers `radius` (G,) of the groups'
        radii.

        P solves the normal equations a'a P = -a's; derivatives are those of the solution.
        """
        by_track = np.zeros_like(self.a)
        by_track[..., 2] = -self.arms[:, 1] * self.a[..., 0]
        by_base = np.zeros_like(self.a)
        by_base[..., 2] = self.arms[:, 0] * self.a[..., 1]
        d_a = np.concatenate([self.a_radius, [by_track, by_base]])
        d_s = np.concatenate([self.s_radius, np.zeros((2, *self.s.shape))])
        change = np.concatenate([radius, [track, wheelbase]]) - 1
        a = self.a + np.einsum("g,gkmp->kmp", change, d_a)
        s = self.s + np.einsum("g,gkm->km", change, d_s)
        inverse = np.linalg.inv(np.einsum("kmp,kmq->kpq", a, a))
        P = -np.einsum("kpq,kmq,km->kp", inverse, a, s, optimize=True)
        left = np.einsum("kmp,kp->km", a, P) + s
        slope = np.einsum("gkmp,kp->gkm", d_a, P) + d_s
        force = (np.einsum("kmp,gkm->gkp", a, slope, optimize=True)
                 + np.einsum("gkmp,km->gkp", d_a, left, optimize=True))
        d_P = -np.einsum("kpq,gkq->gkp", inverse, force, optimize=True)
        d_left = slope + np.einsum("kmp,gkp->gkm", a, d_P, optimize=True)
        return Displacements(P[:, :3], d_P[..., :3], left, d_left)


class Rolling:
    """The rows of a vehicle that depend only on its measured `joints` and its base, without those
    of a trailer whose hitch is not measured, or of wheels on a steering joint that is not."""

    def __init__(self, vehicle: Vehicle, joints: Sequence[str]):
        self.joints = tuple(name for name in vehicle.joint_names if name in joints)
        missing = [name for name in vehicle.joint_names if name not in joints]
        contacts = {c.name: c for c in vehicle.contacts}
        self.q0 = vehicle.configuration((0.0, 0.0, 0.0))
        self.attitude_moves = _attitude_moves(vehicle, self.q0)
        self.vehicle = vehicle.with_parameters(
            symbolic=[f"{name}.radius" for name in contacts])
        self.groups = _groups(vehicle, self.joints, self._places(contacts))
        self._function, self.names = self._rows(missing)
        self._mapped: dict[int, ca.Function] = {}
        self.arms = self._arms(contacts)
        self._check(missing)

    def __repr__(self) -> str:
        return f"<Rolling of {self.vehicle.name!r}: {len(self.names)} rows>"

    def _places(self, contacts: dict[str, Contact]) -> dict[str, np.ndarray]:
        """Contact -> where it is in the plane as the base sees it, (2,) [m]."""
        points = self.vehicle.contact_points(self.q0)[:, :2] - self.q0[:2]
        return dict(zip(contacts, points))

    def _rows(self, missing: Sequence[str]) -> tuple[ca.Function, list[tuple[str, str]]]:
        """(q, multipliers - 1) -> coefficients [base 6, joints n, 1] of the rows, and what each
        adds for each group's radius, side by side; and what each row holds of which contact."""
        vehicle, d = self.vehicle, self.vehicle.constrained.distribution
        q = ca.SX.sym("q", vehicle.algebroid.nq)
        change = ca.SX.sym("change", max(len(self.groups), 1))
        scale = {name: change[i] for i, group in enumerate(self.groups) for name in group.wheels}
        theta = ca.vertcat(*[value * (1 + scale.get(name.removesuffix(".radius"), 0))
                             for name, value in zip(vehicle.parameters.symbolic, vehicle.theta)])
        A, b, _ = vehicle.functions.constraints(0.0, q, theta)
        columns = [vehicle.algebroid.v_names.index(name) for name in self.joints]
        unknown = [vehicle.algebroid.v_names.index(name) for name in missing]
        places = [i for name in missing for i in self._q_slots(name)]
        kept: list[int] = []
        for i, component in enumerate(d.components):
            wanted = component is not None and (self.attitude_moves
                                                or not component.is_normal)
            blind = A[i, unknown].nnz() or ca.jacobian(ca.vec(A[i, :]), q[places]).nnz()
            if wanted and not blind:
                kept.append(i)
        if not kept:
            raise self._undetermined_error(missing)
        rows = ca.horzcat(A[kept, :6], A[kept, columns], b[kept])
        slopes = [ca.reshape(ca.jacobian(ca.vec(ca.densify(rows)), change[g]), rows.shape)
                  for g in range(len(self.groups))]
        both = ca.substitute(ca.horzcat(rows, *slopes), change, ca.DM.zeros(change.shape))
        both = ca.densify(ca.SX(both))
        moving = [i for name in self.joints for i in self._q_slots(name)]
        self.is_constant = not (self.attitude_moves
                                or ca.jacobian(ca.vec(both), q[moving]).nnz())
        names = [tuple(d.components[i] or ("", "")) for i in kept]
        return ca.Function("rows", [q], [both], {"cse": True}), [(n[0], n[1]) for n in names]

    def _q_slots(self, joint: str) -> range:
        found = self.vehicle.model.joints[self.vehicle.model.getJointId(joint)]
        return range(found.idx_q, found.idx_q + found.nq)

    def _arms(self, contacts: dict[str, Contact]) -> np.ndarray:
        steering = self.vehicle.description.steering
        model, places = self.vehicle.model, self._places(contacts)
        fixed = {name for name, c in contacts.items()
                 if c.mount.body == 1 or model.names[c.mount.body] in steering}
        on_base = [places[name] for name, c in contacts.items()
                   if c.mount.body == 1 and name in {row[0] for row in self.names}]
        used = [places[name] for name, _ in self.names if name in fixed]
        if not used:
            return np.zeros((len(self.names), 2))
        ends = np.array(used)
        middle = np.array([np.mean(on_base or used, axis=0)[0],
                           (ends[:, 1].max() + ends[:, 1].min()) / 2])
        arms = np.array([places[name] - middle if name in fixed else np.zeros(2)
                         for name, _ in self.names])
        return np.where(np.abs(arms) < SAME, 0.0, arms)

    def _check(self, missing: Sequence[str]) -> None:
        """Raises `InputError` if the rows leave a motion of the base open."""
        some = np.zeros((1, len(self.joints)))
        a = self.rows(some, some, None, None).a[0]
        sizes = np.linalg.svd(a, compute_uv=False)
        if len(a) < a.shape[1] or sizes[-1] < DETERMINED * sizes[0]:
            raise self._undetermined_error(missing)

    def _undetermined_error(self, missing: Sequence[str]) -> InputError:
        what = f"the log lacks {listed(missing)}" if missing else "no joint of it is missing"
        return InputError(f"the motion of {self.vehicle.name} does not follow from the joints "
                          f"{listed(self.joints)}: {what}")

    @cached_property
    def _planar(self) -> np.ndarray:
        """Base twist of a planar motion at the attitude of `q0`, (6, 3)."""
        return planar_columns(pin.Quaternion(self.q0[3:7]).toRotationMatrix()[None])[0, :, :3]

    def rows(self, position: np.ndarray, change: np.ndarray, tilt: np.ndarray | None,
             tilting: np.ndarray | None) -> Rows:
        """Rows of K displacements, from the joint positions in the middle of each, (K, n) [rad, m],
        their changes over each, (K, n), and where the attitude moves, rotations of the base without
        its heading, `tilt` (K, 3, 3), and their changes along its own axes, `tilting` (K, 3)
        [rad]."""
        K = len(change)
        q = np.repeat(self.q0[None], 1 if self.is_constant else K, axis=0)
        if not self.is_constant:
            for name, angle in zip(self.joints, position.T):
                slots = self._q_slots(name)
                q[:, slots] = (np.column_stack([np.cos(angle), np.sin(angle)])
                               if len(slots) == 2 else angle[:, None])
        if tilt is not None:
            q[:, 3:7] = [pin.Quaternion(R).coeffs() for R in tilt]
        parts = [self._contract(q if self.is_constant else q[i:i + BLOCK], change[i:i + BLOCK],
                                None if tilt is None else tilt[i:i + BLOCK],
                                None if tilting is None else tilting[i:i + BLOCK])
                 for i in range(0, K, BLOCK)]
        a, s = (np.concatenate(part, 1) for part in zip(*parts))
        return Rows(a[0], s[0], a[1:], s[1:], self.arms)

    def _contract(self, q: np.ndarray, change: np.ndarray, tilt: np.ndarray | None,
                  tilting: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """a (1 + G, K, m, p) and s (1 + G, K, m)."""
        n, m, G = len(self.joints), len(self.names), len(self.groups)
        if len(q) not in self._mapped:
            self._mapped[len(q)] = self._function.map(len(q))
        found = self._mapped[len(q)](q.T).full()
        found = found.reshape(m, len(q), 1 + G, 7 + n).transpose(2, 1, 0, 3)
        if tilt is None and self.attitude_moves:
            tilt = pin.Quaternion(self.q0[3:7]).toRotationMatrix()[None]
        columns = self._planar[None] if tilt is None else planar_columns(tilt)
        a = np.einsum("gkmi,kip->gkmp", found[..., :6], columns)
        s = np.einsum("gkmj,kj->gkm", found[..., 6:6 + n], change)
        if tilting is not None:
            s = s + np.einsum("gkmi,ki->gkm", found[..., 3:6], tilting)
        a = np.broadcast_to(a, (*a.shape[:1], len(change), *a.shape[2:]))
        return a, s


def planar_columns(tilt: np.ndarray) -> np.ndarray:
    """Twist of the base along its own axes (K, 6, 4) for unit speeds forward, left, of turning
    about the vertical, and up, at rotations without heading (K, 3, 3)."""
    found = np.zeros((len(tilt), 6, 4))
    axes = tilt.transpose(0, 2, 1)
    found[:, :3, 0], found[:, :3, 1] = axes[:, :, 0], axes[:, :, 1]
    found[:, 3:, 2], found[:, :3, 3] = axes[:, :, 2], axes[:, :, 2]
    return found


def _attitude_moves(vehicle: Vehicle, q: np.ndarray) -> bool:
    """Whether roll, pitch or height do not depend on the contacts alone."""
    A = vehicle.constraint_matrix(q)
    _, sizes, rows = np.linalg.svd(A)
    free = rows[(sizes > HELD * sizes[0]).sum():]
    R = pin.Quaternion(q[3:7]).toRotationMatrix()
    rates = np.column_stack([(free[:, 3:6] @ R.T)[:, :2], (free[:, :3] @ R.T)[:, 2]])
    return bool(np.abs(rates).max(initial=0.0) > HELD)


def _groups(vehicle: Vehicle, joints: Sequence[str],
            places: dict[str, np.ndarray]) -> tuple[Group, ...]:
    """Wheels whose rate is measured, by side and by whether they steer."""
    found: dict[tuple[int, bool], list[str]] = {}
    for c in vehicle.contacts:
        spin = c.mount.spin
        if spin is None or vehicle.algebroid.v_names[spin] not in joints:
            continue
        y = places[c.name][1]
        side = 0 if abs(y) < SAME else int(np.sign(y))
        steers = vehicle.model.names[c.mount.body] in vehicle.description.steering
        found.setdefault((side, steers), []).append(c.name)
    words = {1: "left", -1: "right", 0: "middle"}
    return tuple(
        Group(wheels[0] if len(wheels) == 1
              else f"{'steered ' if steers else ''}{words[side]} wheels", tuple(wheels), side,
              steers)
        for (side, steers), wheels in found.items())
