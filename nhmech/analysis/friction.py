"""The splits of a contact load that Coulomb friction allows: |tangential| <= mu normal at every
wheel."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from ..errors import InputError, Remedy
from ..vehicle.friction import own_friction, read_friction
from ..vehicle.vehicle import Vehicle
from .cone_programme import Cones, minimise
from .contact_load import NOTHING, ContactLoad

# how far short of its optimum a programme may end that is a start for others, and the last one
ROUGH, EXACT = 1e-3, 1e-11
# Part of the slack found by which a programme on the way may end short of the most, and the first
# weight of the next one, whose optimum is about as far away as that slack, times it.
ENOUGH, NEAR = 0.2, 10.0
# Part of the load below which a wheel's ratio is not scaled further: rows that are larger by the
# inverse of a vanishing load leave the programme no digits.
LIGHT = 1e-3
ROUNDS = 50      # of the ratio's improvement, which doubles its digits at each


def coefficients(vehicle: Vehicle, mu: float | Mapping[str, float] | None) -> dict[str, float]:
    """Friction coefficient of each contact: `mu`, or its entry for the wheel, else the wheel's own,
    else infinite. Raises `InputError` for wheels that do not exist and numbers that are not
    positive."""
    given = read_friction(vehicle, mu)
    return {wheel: float(given.get(wheel, np.inf if own is None else own))
            for wheel, own in own_friction(vehicle).items()}


def known_coefficients(vehicle: Vehicle,
                       mu: float | Mapping[str, float] | None) -> dict[str, float]:
    """`coefficients`, of which one at least is finite."""
    known = coefficients(vehicle, mu)
    if not any(np.isfinite(value) for value in known.values()):
        raise InputError(f"no wheel of {vehicle.name!r} has a friction coefficient", Remedy(
            "Give mu=, or mu to its wheels",
            "Give --mu 0.8, or --mu WHEEL=0.8, or mu=\"0.8\" to the wheels in the file's <nhmech>"))
    return known


def shares(load: ContactLoad, f: np.ndarray) -> dict[str, float]:
    """|tangential| / normal of each wheel that is held along the ground, in the split f: the
    friction it needs."""
    result = {}
    for wheel, (normal, along) in _places(load).items():
        if along:
            force = float(np.hypot(*_pair(f, along)))
            needed = float(force / f[normal]) if f[normal] > 0 else np.inf
            result[wheel] = 0.0 if force < NOTHING * load.size else needed
    return result


def slack(load: ContactLoad, mu: Mapping[str, float]) -> float:
    """max over all splits of min over the wheels of mu N - |tangential| [N], negative where no
    split holds.

    A wheel that only carries load, or that cannot slip, enters with its normal force alone.
    This is a second-order cone programme.
    """
    return widest_split(load, mu)[0]


def widest_split(load: ContactLoad, mu: Mapping[str, float], *,
                 sign: bool = False) -> tuple[float, np.ndarray]:
    """The slack, and the split (n,) that leaves it. `sign`: return any number of the right sign,
    and a split that leaves as much."""
    parts = [_cone(load, places, mu[wheel]) for wheel, places in _places(load).items()]
    left, change = _widest(parts, load.kernel, part=np.inf if sign else 0.0)
    return load.size * left, load.split + load.size * change


def least_use(load: ContactLoad, mu: Mapping[str, float],
              f: np.ndarray | None = None) -> tuple[float, np.ndarray]:
    """min over splits of max over wheels of |tangential| / (mu normal), and the split (n,); no
    split holds if it is above 1. The normals are those of the split `f` if it is given.

    For given normals this is one cone programme, otherwise a sequence of them (generalised
    fractional programming, Crouzeix, Ferland and Schaible, Journal of Optimization Theory and
    Applications 47, 1985, 35-49).
    """
    if f is not None:
        return _least_along(load, mu, f)
    if not load.supported:
        return np.inf, load.split
    is_determined = load.lifting.shape[1] == 0
    gap = EXACT if is_determined else ROUGH
    use, best = _least_along(load, mu, load.split, gap)
    if not np.isfinite(use):      # a wheel without load must hold: start from the middle
        use, best = _least_along(load, mu, load.corners.mean(axis=0), gap)
    if is_determined or not 0 < use < np.inf:
        return use, best
    return _improve(load, mu, use, best)


def _least_along(load: ContactLoad, mu: Mapping[str, float], split: np.ndarray,
                 gap: float = EXACT) -> tuple[float, np.ndarray]:
    """`least_use` for the normals of a split."""
    f, kernel = _relieve(load, split)
    if f is None:
        return np.inf, load.split
    held = [(places, mu[wheel] * f[places[0]]) for wheel, places in _places(load).items()
            if places[1] and np.isfinite(mu[wheel]) and f[places[0]] > NOTHING * load.size]
    if not held:
        return 0.0, f
    start = np.array([np.hypot(*_pair(f, along)) / room for (_, along), room in held])
    if start.max() < NOTHING:
        return 0.0, f
    kernel = kernel @ _felt_directions(np.vstack([kernel[along] for (_, along), _ in held]))
    if kernel.shape[1]:
        # use in units of what it is for the start
        m, scale = kernel.shape[1], start.max()
        P = np.array([np.column_stack([_pair(kernel, along),
                                       np.zeros(2)]) * load.size / (room * scale)
                      for (_, along), room in held])
        p = np.array([_pair(f, along) / (room * scale) for (_, along), room in held])
        if m == 1:
            z = _least_on_a_line(P[:, :, 0], p)
        else:
            cones = Cones(P, p, np.tile(np.eye(m + 1)[m], (len(held), 1)), np.zeros(len(held)))
            z = minimise(np.eye(m + 1)[m], cones, np.r_[np.zeros(m), 2.0], gap)[:m]
        f = f + kernel @ z * load.size
    return max(float(np.hypot(*_pair(f, along)) / room) for (_, along), room in held), f


def rough_use(load: ContactLoad, mu: Mapping[str, float]) -> tuple[float, float]:
    """Numbers that `least_use` and `most_use` do not exceed, without a programme: with the forces
    along the ground as they are in the shortest split and at the corners."""
    if not load.supported:
        return np.inf, np.inf
    uses = [max((need / mu[wheel] for wheel, need in shares(load, f).items()), default=0.0)
            for f in (load.split, *load.corners)]
    return uses[0], max(uses)


def most_use(load: ContactLoad, mu: Mapping[str, float]) -> float:
    """max over splits of the normals of `least_use` with these normals.

    Over the normals it is quasi-convex, so that the largest is at a corner of the admissible ones.
    """
    if not load.supported or any(_relieve(load, corner)[0] is None for corner in load.corners):
        return np.inf
    return max(least_use(load, mu, corner)[0] for corner in load.corners)


def _improve(load: ContactLoad, mu: Mapping[str, float], use: float,
              best: np.ndarray) -> tuple[float, np.ndarray]:
    """Better splits of the normals, until none leaves slack at the use found. The programmes on the
    way are solved roughly: any split with slack is better."""
    left = 1.0
    for _ in range(ROUNDS):
        parts = [_cone(load, places, use * mu[wheel]) for wheel, places in _places(load).items()]
        # the least ratios then move together
        rooms = [max(float(best[normal]) / load.size, LIGHT)
                 * (mu[wheel] if along and np.isfinite(mu[wheel]) else 1.0)
                 for wheel, (normal, along) in _places(load).items()]
        parts = [(P / room, p / room, r / room, s / room)
                 for (P, p, r, s), room in zip(parts, rooms)]
        left, f = _widest(parts, load.kernel, (best - load.split) / load.size, max(left, EXACT),
                          part=ENOUGH)
        f = load.split + load.size * f
        found = max((need / mu[wheel]
                     for wheel, need in shares(load, f).items() if np.isfinite(mu[wheel])),
                    default=0.0)
        is_last = left <= EXACT or found >= use * (1 - EXACT)
        if found < use:
            use, best = found, f
        if is_last:
            break
    return use, best


def _places(load: ContactLoad) -> dict[str, tuple[int, list[int]]]:
    """Wheel -> entry of its normal, entries of its forces along the ground."""
    return _places_of(load.names)


@lru_cache(maxsize=64)
def _places_of(names: tuple[tuple[str, str], ...]) -> dict[str, tuple[int, list[int]]]:
    result: dict[str, tuple[int, list[int]]] = {}
    for i, (wheel, direction) in enumerate(names):
        if direction == "normal":
            result[wheel] = (i, [])
        else:
            result[wheel][1].append(i)
    return result


def _pair(values: np.ndarray, along: list[int]) -> np.ndarray:
    """The entries along the ground, always two."""
    pair = np.zeros((2, *values.shape[1:]))
    pair[:len(along)] = values[along]
    return pair


def _cone(load: ContactLoad, places: tuple[int, list[int]],
          mu: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """P, p, r, s of |tangential| <= mu normal in the kernel's coordinates, forces in units of the
    largest."""
    normal, along = places
    if not along or not np.isfinite(mu):
        along, mu = [], 1.0
    return (_pair(load.kernel, along), _pair(load.split, along) / load.size,
            mu * load.kernel[normal], mu * load.split[normal] / load.size)


def _widest(parts: list[tuple], kernel: np.ndarray, change: np.ndarray | None = None,
            scale: float = 1.0, *, part: float = 0.0) -> tuple[float, np.ndarray]:
    """max over z of min over cones of right - |left|, and the `change` of the split there (n,),
    which also says where to begin; its slack is about `scale` below the maximum. `part` is that of
    `minimise`."""
    P, p, r, s = (np.array(column) for column in zip(*parts))
    basis = _felt_directions(np.vstack([P.reshape(2 * len(P), kernel.shape[1]), r]))
    P, r, m = P @ basis, r @ basis, basis.shape[1]
    z = np.zeros(m) if change is None else basis.T @ (kernel.T @ change)
    if m:
        n = len(s)
        cones = Cones(np.concatenate([P, np.zeros((n, 2, 1))], axis=2), p,
                      np.column_stack([r, -np.ones(n)]), s)
        z = minimise(-np.eye(m + 1)[m], cones, np.r_[z, _room(P, p, r, s, z) - scale], EXACT,
                     part=part, weight=1.0 if change is None else max(NEAR / scale, 1.0))[:m]
    return _room(P, p, r, s, z), kernel @ (basis @ z)


def _room(P: np.ndarray, p: np.ndarray, r: np.ndarray, s: np.ndarray, z: np.ndarray) -> float:
    """min over cones of right - |left|."""
    left, right = P @ z + p, r @ z + s
    return float(np.min(right - np.hypot(left[:, 0], left[:, 1])))


def _least_on_a_line(P: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The z (1,) with the least max over i of |P_i z + p_i|, for P and p (n, 2): at the bottom of
    one of these parabolas, or where two of them meet."""
    a, b, c = (P * P).sum(axis=1), (P * p).sum(axis=1), (p * p).sum(axis=1)
    i, j = np.triu_indices(len(a), 1)
    A, B, C = a[i] - a[j], b[i] - b[j], c[i] - c[j]
    with np.errstate(divide="ignore", invalid="ignore"):
        # without cancellation
        q = -(B + np.copysign(np.sqrt(B * B - A * C), B))
        z = np.concatenate([-b / a, q / A, C / q])
    z = z[np.isfinite(z)]
    return z[[np.argmin((a[:, None] * z ** 2 + 2 * b[:, None] * z + c[:, None]).max(axis=0))]]


def _felt_directions(rows: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the directions that some row feels."""
    _, s, vt = np.linalg.svd(rows)
    return vt[:int(np.sum(s > NOTHING))].T


def _relieve(load: ContactLoad, f: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    """The split without force along the ground at unloaded wheels (None without one), and the
    preloads that keep it."""
    rows = [i for normal, along in _places(load).values() if f[normal] <= NOTHING * load.size
            for i in along]
    kernel = load.preload
    if not rows:
        return f, kernel
    z = np.linalg.lstsq(kernel[rows], -f[rows], rcond=NOTHING)[0]
    f = f + kernel @ z
    if np.abs(f[rows]).max() > 1e3 * NOTHING * load.size:
        return None, kernel
    _, s, vt = np.linalg.svd(kernel[rows])
    return f, kernel @ vt[int(np.sum(s > NOTHING)):].T
