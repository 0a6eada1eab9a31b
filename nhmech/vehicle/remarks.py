"""Notices about a vehicle after it was built."""

from __future__ import annotations

import numpy as np

from ..urdf.notice import Notice, NoticeKind
from .couplings import PLANAR
from .least_norm import solve_shortest
from .plausibility import implausible
from .stiffness import describe_stiffness
from .vehicle import Vehicle

USUAL_STEP = 1e-3   # [s] of the simulator
PERFECT = 5e-6      # [m] smaller offsets are rounding errors of numbers in the file
RANK = 1e-9         # smaller singular values of a part of an orthonormal basis are rounding


def remarks(vehicle: Vehicle) -> tuple[Notice, ...]:
    """Notices about accepted offsets, wheels without effect, and implausible numbers."""
    found = []
    offsets = [f"{name} {1e3 * offset:+.2f} mm"
               for name, offset in zip(vehicle.contact_names, vehicle.support.offsets)
               if abs(offset) > PERFECT]
    if offsets:
        found.append(Notice(NoticeKind.SUPPORT_OFFSETS,
                            "contacts out of the common plane, which keep their distance from the "
                            "ground: " + ", ".join(offsets)))
    rollers = [c.mount.spin for c in vehicle.contacts
               if c.mount.wheel.traits.has_rollers and c.mount.spin is not None]
    if len(rollers) >= 3:
        rank, most = _rank_of_rates(vehicle, rollers), _rank_of_rates(vehicle, [*PLANAR])
        if rank < most:
            found.append(Notice(NoticeKind.ROLLER_RANK,
                                f"the speeds of the {len(rollers)} roller wheels determine only "
                                f"{rank} of the base's {most} motions: check the roller angles; "
                                "diagonal wheels should have equal angles, neighbours opposite "
                                "ones"))
    if stiff := describe_stiffness(vehicle, USUAL_STEP):
        found.append(Notice(NoticeKind.STIFFNESS, stiff))
    if unguarded := _find_unguarded(vehicle):
        leaders = " and ".join(axle.steering for axle in vehicle.steering.pair())
        found.append(Notice(
            NoticeKind.UNENFORCED_LIMITS,
            f"the limits of {', '.join(unguarded)} are not enforced: with two leaders ({leaders}) "
            "and no fixed axle, the angles that keep all wheels within their limits are not "
            "intervals; watch joint_position, or lock steering joints"))
    return (*found, *implausible(vehicle))


def _find_unguarded(vehicle: Vehicle) -> list[str]:
    """Followers of two leaders, whose limits do not narrow those of other joints
    (`narrow_limits`)."""
    if not vehicle.steering.coupled or vehicle.steering.fixed:
        return []
    limits, pair = vehicle.description.limits, vehicle.steering.pair()
    followers = [axle.steering for axle in vehicle.steering.steered if axle not in pair]
    return [name for name in followers
            if name in limits and np.isfinite([limits[name].lower, limits[name].upper]).any()]


def _rank_of_rates(vehicle: Vehicle, rates: list[int]) -> int:
    """Rank of some coordinates of v, such as wheel rates, on the distribution, in the neutral
    pose."""
    A = vehicle.constraint_matrix(vehicle.constrained.configurations[0])
    _, kernel = solve_shortest(A, np.zeros(len(A)))
    return int(np.linalg.matrix_rank(kernel[rates], tol=RANK))
