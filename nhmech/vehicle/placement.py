"""Placement of a vehicle on the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pinocchio as pin

from ..errors import REPR, ModelError, listed
from ..once import cached_property
from ..symbolic.buffered import ThreadBuffered
from ..urdf.remedy import option, suggest
from ..urdf.wheel import Wheel
from ..urdf.wheels.stance import tolerance
from .contact import Contact
from .context import BuildContext

CLOSED = 1e-13           # [m] a point this near is on the ground
# of Newton's method, which doubles the digits each time, but not in shortened steps
ITERATIONS = 25
LARGEST = 0.5            # [rad] largest rotation in one step; the heights are not linear beyond it
# smaller singular values of unit-sized forms are zero: heights do not depend on that rotation
DEPENDENT = 1e-9
ASKEW = 0.1, 0.07        # [rad] roll and pitch of a generic attitude
# [m/rad] with a smaller slope, a rotation of the base does not move the contacts
FLAT = 1e-6
# of the smallest radius: a smaller distance from the plane counts as rounding
OFFSET_TOLERANCE = 0.05
# of the smallest radius: three contacts that are no farther from a plane are in it; a base that
# tilts by the rounding of a file would tilt the steering axes too
ROUNDING = 0.01
SIZE = 0.1               # [m] of a vehicle that has no radius, only blades
# rotations that are tried in turn: none, pitch, roll, both
TURNS: tuple[tuple[int, ...], ...] = ((), (4,), (3,), (3, 4))


@dataclass(frozen=True, eq=False)
class Support:
    """The support of the vehicle by its contacts."""

    # whether there are more contacts than a rigid body needs, or three that rounding puts out of
    # the plane; then the base is upright on the normal, and each contact keeps its offset
    level: bool
    offsets: np.ndarray  # delta_i [m], so that height_i - delta_i = 0


@dataclass(frozen=True, eq=False)
class Placer:
    """Moves the base until all contacts touch the ground."""

    model: pin.Model  # for `integrate`
    heights: ca.Function  # (t, q, theta) -> heights (k,), and their forms in v (k, nv)
    normal: np.ndarray
    names: tuple[str, ...]
    theta: np.ndarray

    def __repr__(self) -> str:
        return f"<Placer of {listed(self.names, REPR)}>"

    def evaluate(self, q: np.ndarray, t: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Heights (k,) [m], and their forms (k, nv)."""
        height, forms = self._evaluate(t, q, self.theta)
        return height, forms

    @cached_property
    def _evaluate(self) -> ThreadBuffered:
        return ThreadBuffered(self.heights, matrices=[1])

    def upright(self, q: np.ndarray) -> np.ndarray:
        """q with the base rotated by the smallest angle that aligns its z axis with the normal."""
        q = q.copy()
        R = pin.Quaternion(q[3:7]).toRotationMatrix()
        turn = pin.Quaternion.FromTwoVectors(R[:, 2], self.normal)
        q[3:7] = (turn * pin.Quaternion(q[3:7])).normalized().coeffs()
        return q

    def support(self, q: np.ndarray, bearing: np.ndarray, rounding: float) -> Support:
        """Whether the contacts over-determine the attitude, or would but for offsets of up to
        `rounding` [m], and the offsets that they then keep; `bearing` (k,) marks the contacts that
        determine the height (wheels rather than balls)."""
        q = self.upright(q)
        height, forms = self.evaluate(q)
        k = len(height)
        free = Support(False, np.zeros(k))
        if k <= 1:
            return free
        offsets = height - height[bearing if bearing.any() else slice(None)].mean()
        offsets[np.abs(offsets) < CLOSED] = 0.0
        if _rank(forms) == k and not (k == 3 and 0 < np.abs(offsets).max() <= rounding
                                      and self._keeps_heights(q, height)):
            return free
        return Support(True, offsets)

    def _keeps_heights(self, q: np.ndarray, height: np.ndarray) -> bool:
        """Whether no joint moves a contact up or down."""
        turned = np.r_[np.zeros(6), np.linspace(-1.0, 0.9, self.model.nv - 6)]
        moved, _ = self.evaluate(pin.integrate(self.model, q, turned))
        return bool(np.abs(moved - height).max() <= 10 * CLOSED)

    def place(self, q: np.ndarray, support: Support, t: float = 0.0) -> np.ndarray:
        """q moved along the normal; pitched or rolled only if all contacts cannot touch otherwise.
        Raises `ModelError` with the remaining heights if no placement is found."""
        q = self.upright(q) if support.level else q.copy()
        if not len(support.offsets):
            return q
        height, _ = self.evaluate(q, t)
        q[:3] -= self.normal * (height - support.offsets).mean()
        height, _ = self.evaluate(q, t)
        for turns in TURNS:
            placed = self._newton(q, support.offsets, turns, t)
            if placed is not None:
                return placed
        listed = ", ".join(f"{name} {1e3 * h:+.3f} mm"
                           for name, h in zip(self.names, height - support.offsets))
        raise ModelError(f"no height, pitch and roll put the vehicle on the ground: {listed}. "
                         "Correct radii and heights, which are in metres")

    def _newton(self, q: np.ndarray, offsets: np.ndarray, turns: tuple[int, ...],
                t: float) -> np.ndarray | None:
        """Newton's method for the height above ground and the given rotations of the base (3: roll
        about the heading, 4: pitch)."""
        height, forms = self.evaluate(q, t)
        for _ in range(ITERATIONS):
            defect = height - offsets
            before = np.abs(defect).max()
            # the place and the levers of the contacts, of which heights are differences; no less
            # than 1, because a form has the unit normal in it
            if before <= CLOSED * np.linalg.norm([*q[:3], *forms.ravel()]):
                return q
            moves = self._moves(q, turns)
            step, _, rank, sizes = np.linalg.lstsq(forms[:, :6] @ moves, -defect, rcond=None)
            if rank < len(step) or sizes[-1] <= FLAT:
                return None
            longest = np.abs(step[1:]).max(initial=0.0)
            if longest > LARGEST:
                step *= LARGEST / longest
            # one after the other, so that neither turns the heading
            for k, angle in enumerate(step[1:], 1):
                change = np.zeros(self.model.nv)
                change[3:6] = self._moves(q, turns)[3:, k] * angle
                q = pin.integrate(self.model, q, change)
            q[:3] += step[0] * self.normal
            height, forms = self.evaluate(q, t)
            after = np.abs(height - offsets).max()
            if not after < before:
                return None
        return None

    def _moves(self, q: np.ndarray, turns: tuple[int, ...]) -> np.ndarray:
        """Twists of the base that raise and turn it, (6, 1 + len(turns))."""
        R = pin.Quaternion(q[3:7]).toRotationMatrix()
        moves = np.zeros((6, 1 + len(turns)))
        moves[:3, 0] = R.T @ self.normal
        if 4 in turns:
            # pitch about the base's own y axis keeps heading and lean
            moves[4, 1] = 1.0
        if 3 in turns:
            heading = np.cross(R[:, 1], self.normal)
            moves[3:, -1] = R.T @ (heading / np.linalg.norm(heading))
        return moves


def _rank(forms: np.ndarray) -> int:
    """Rank of the one-forms of the heights in height, roll and pitch of the base."""
    return int(np.linalg.matrix_rank(forms[:, [2, 3, 4]], tol=DEPENDENT))


def make_placer(context: BuildContext, contacts: Sequence[Contact]) -> Placer:
    """The placer of some contacts."""
    heights = ca.vertcat(ca.SX(0, 1), *[c.height for c in contacts])
    forms = ca.vertcat(ca.SX(0, context.algebroid.nv),
                       *[ca.jacobian(c.speed("normal"), context.v) for c in contacts])
    return Placer(context.model, context.function("heights", heights, ca.densify(forms)),
                  context.normal, tuple(c.name for c in contacts), context.parameters.numbers)


def find_support(placer: Placer, contacts: Sequence[Contact]) -> Support:
    """How the contacts carry the base in the zero pose; wheels rather than balls determine the
    height. Raises `ModelError` if the contacts are too far from one plane, or if they lie on one
    line that one of them would leave."""
    wheels = [c.mount.wheel for c in contacts]
    _check_line(placer, wheels)
    bearing = np.array([bool(wheel.traits.held) for wheel in wheels], dtype=bool)
    held = [wheel for wheel, bears in zip(wheels, bearing, strict=True) if bears] or wheels
    least = min((wheel.radius for wheel in held if wheel.radius > 0), default=SIZE)
    support = placer.support(pin.neutral(placer.model), bearing, ROUNDING * least)
    allowed = np.where(bearing, OFFSET_TOLERANCE * least,
                       max(OFFSET_TOLERANCE * least, tolerance(held)))
    _check_offsets(placer.names, wheels, allowed, support.offsets)
    return support


def _check_offsets(names: Sequence[str], wheels: Sequence[Wheel], allowed: np.ndarray,
                   offsets: np.ndarray) -> None:
    """Raises `ModelError` if a contact is farther from the plane than `allowed` (k,) [m]. A ball
    may be as far from it as those that are inferred: two casters are seldom at exactly the same
    height, and the robot rocks on them. For a wheel the same distance would mean another radius.
    """
    excess = np.abs(offsets) - allowed
    if not np.any(excess > 0):
        return
    worst = int(np.argmax(excess))
    heights = ", ".join(f"{name}: {1e3 * d:+.2f} mm" for name, d in zip(names, offsets))
    fitting = [replace(w, radius=float(f"{w.radius + d:.4g}")) if 0 < w.radius > -d else w
               for w, d in zip(wheels, offsets)]
    raise ModelError(
        f"{len(wheels)} contacts do not lie in one plane: {names[worst]!r} is "
        f"{1e3 * offsets[worst]:+.2f} mm off, more than the {1e3 * allowed[worst]:.2f} mm accepted "
        f"as rounding ({heights})",
        suggest("If all of them should touch the ground: ", option("wheels", fitting),
                "; or correct the joints' origins, or remove a wheel"))


def _check_line(placer: Placer, wheels: Sequence[Wheel]) -> None:
    """Raises `ModelError` for contacts on one line, about which the base can rotate, if one of them
    would leave the ground then, such as a caster below the axle: it carries nothing, so it must not
    constrain the base.
    """
    q = placer.upright(pin.neutral(placer.model))
    change = np.zeros(placer.model.nv)
    change[3:5] = ASKEW
    standing, askew = (placer.evaluate(at)[1] for at in (q, pin.integrate(placer.model, q, change)))
    rank = _rank(standing)
    if _rank(askew) <= rank:
        return
    idle = [i for i in range(len(wheels)) if _rank(np.delete(askew, i, axis=0)) == rank]
    if not idle:
        raise ModelError(f"the contacts {listed(placer.names)} are in one line, and some would "
                         "leave the ground as soon as the vehicle turns about it")
    # name a caster rather than a driven wheel
    odd = min(idle, key=lambda i: len(wheels[i].traits.held))
    raise ModelError(
        f"the contacts {listed(placer.names)} are in one line: nothing supports the vehicle "
        f"sideways, and {placer.names[odd]!r} would leave the ground as soon as it tilts",
        suggest("Correct the position of that contact, or remove it so that the vehicle can tilt: ",
                option("wheels", [wheel for i, wheel in enumerate(wheels) if i != odd])))
