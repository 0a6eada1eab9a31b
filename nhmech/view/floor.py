"""The drawn ground: a disc with a grid that fades out, tilted and moving as the `Ground`
is; and trails."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ..vehicle.ground import Ground
from .colours import contact_rgb
from .drawable import Colour
from .messages import data_url, rgb, set_group
from .shapes import buffer_geometry

FLOOR = "/ground/plane"
TILE = 1024  # pixels of the texture, which is 2 x 2 fields of 10 x 10 cells: 51 pixels a cell
RIBBON = 0.028  # width of a trail, as a share of the vehicle's size: about that of a tyre


def grid_cell(size: float) -> float:
    """Width of a grid cell [m] below a vehicle of this size [m]: a power of ten, 2 to 18 cells."""
    return 10.0 ** np.floor(np.log10(max(size, 1e-3) / 1.8))


def floor(reach: float, cell: float) -> dict:
    """The message that draws the ground in its own frame: normal along z, radius `reach` [m], grid
    of `cell` [m]."""
    angles = np.linspace(0, 2 * np.pi, 97)[:-1]
    rings = np.array([0.0, 0.25, 0.5, 0.7, 0.8, 0.9, 1.0])
    alpha = np.array([1.0, 1.0, 1.0, 0.85, 0.5, 0.15, 0.0])
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    xy = reach * (rings[:, None, None] * circle).reshape(-1, 2)
    n = len(angles)
    ring = n * np.arange(len(rings) - 1)[:, None]
    a, b = (ring + np.arange(n)).ravel(), (ring + (np.arange(n) + 1) % n).ravel()
    faces = np.vstack([np.stack([a, a + n, b + n], axis=1), np.stack([a, b + n, b], axis=1)])
    up = np.tile([0.0, 0.0, 1.0], (len(xy), 1))
    color = np.ones((len(xy), 4))
    color[:, 3] = np.repeat(alpha, n)
    geometry = buffer_geometry(np.column_stack([xy, np.zeros(len(xy))]), faces, normal=up,
                               uv=xy / (20 * cell), color=color)
    texture = {"url": _tile(), "wrap": [1000, 1000], "anisotropy": 16}
    material = {"type": "MeshLambertMaterial", "color": 0xFFFFFF, "side": 2, "transparent": True,
                "vertexColors": True, "map": texture, "depthWrite": False}
    return set_group(FLOOR, [(geometry, material, np.eye(4))], casts_shadow=False)


def floor_pose(ground: Ground, near: ArrayLike, period: float, t: float = 0.0) -> np.ndarray:
    """Pose (4, 4) of the drawn disc at time t [s]: its centre on the plane near the point `near`
    [m], moved by whole `period`s [m] so that the grid keeps its place, then carried along by the
    ground's motion."""
    t1, t2 = ground.tangents
    n, point = np.array(ground.normal), np.array(ground.point)
    offset = np.asarray(near) - point
    pose = np.eye(4)
    pose[:3, :3] = np.column_stack([t1, t2, n])
    steps = (tangent * np.round(tangent @ offset / period) for tangent in (t1, t2))
    pose[:3, 3] = point + period * sum(steps)
    return motion(ground, t) @ pose


def motion(ground: Ground, t: float) -> np.ndarray:
    """The motion (4, 4) of the ground's material from time 0 to t [s]: a translation, or a turn
    about the fixed centre of its velocity field."""
    n, v = np.array(ground.normal), np.array(ground.velocity)
    rate = float(np.dot(ground.normal, ground.angular_velocity))
    moved = np.eye(4)
    if rate == 0.0:
        moved[:3, 3] = v * t
        return moved
    centre = np.array(ground.point) + np.cross(n, v) / rate
    moved[:3, :3] = pin.exp3(rate * t * n)
    moved[:3, 3] = centre - moved[:3, :3] @ centre + n * (n @ v) * t
    return moved


def is_moving(ground: Ground) -> bool:
    """Whether the ground's material moves."""
    return any(ground.velocity) or any(ground.angular_velocity)


def describe_ground(ground: Ground) -> str:
    """Slope and motion of the ground, to append to other words; empty for level ground at rest."""
    slope = float(np.degrees(np.arccos(np.clip(ground.normal[2], -1, 1))))
    speed = float(np.linalg.norm(ground.velocity))
    rate = float(np.dot(ground.normal, ground.angular_velocity))
    words = [f"slopes {slope:.3g}\N{DEGREE SIGN}"] if slope > 1e-6 else []
    words += [f"moves at {speed:.3g} m/s"] if speed else []
    words += [f"turns at {rate:.3g} rad/s"] if rate else []
    return ", the ground " + " and ".join(words) if words else ""


def ribbon(path: str, points: np.ndarray, size: float, normal: ArrayLike, number: int,
           colour: Colour | None = None, shown: np.ndarray | None = None) -> dict:
    """The message that draws a trail through `points` (n, 3) [m]: a flat strip just above the
    ground, whose width depends on the vehicle's `size` [m].

    Segment k is the triangles 2k and 2k + 1; `shown` (n - 1,) selects segments. The `number` of the
    contact sets the colour, unless one is given, and the height: trails lie one above the other, so
    that they do not flicker where they cross.
    """
    width, normal = RIBBON * size, np.asarray(normal)
    padded = np.vstack([points[:1], points, points[-1:]])
    sideways = np.cross(normal, padded[2:] - padded[:-2])
    length = np.sqrt((sideways**2).sum(axis=1))
    moving = np.flatnonzero(length > 1e-9)
    if len(moving):  # where it rests, keep the direction of the last motion
        latest = np.maximum.accumulate(np.where(length > 1e-9, np.arange(len(points)), moving[0]))
        sideways, length = sideways[latest], length[latest]
    sideways *= 0.5 * width / np.maximum(length, 1e-30)[:, None]
    lifted = points + (0.06 + 0.02 * number) * width * normal
    vertices = np.stack([lifted - sideways, lifted + sideways], axis=1).reshape(-1, 3)
    k = 2 * np.arange(len(points) - 1)
    faces = np.stack([k, k + 1, k + 3, k, k + 3, k + 2], axis=1).reshape(-1, 3)
    if shown is not None:
        faces[~np.repeat(shown, 2)] = 0         # they keep their place, without extent
    material = {"type": "MeshBasicMaterial", "color": rgb(colour or contact_rgb(number)), "side": 2,
                "polygonOffset": True, "polygonOffsetFactor": -2 - number,
                "polygonOffsetUnits": -2 - number}
    return set_group(path, [(buffer_geometry(vertices, faces), material, np.eye(4))],
                     casts_shadow=False)


@cache
def _tile() -> str:
    """Picture of the grid: thin lines between cells, stronger ones between fields, fields
    alternating in tint."""
    from PIL import Image

    pixel = np.arange(TILE)
    field = (pixel // (TILE // 2)) % 2
    shade = np.where(field[:, None] == field[None, :], 0.985, 0.95)
    cell, half = TILE / 20, TILE // 2
    thin = np.abs((pixel + cell / 2) % cell - cell / 2) < 0.9
    thick = np.abs((pixel + half // 2) % half - half // 2) < 2.2
    shade = np.where(thin[:, None] | thin[None, :], 0.84, shade)
    shade = np.where(thick[:, None] | thick[None, :], 0.66, shade)
    pixels = np.round(255 * shade[..., None] * [0.955, 0.98, 1.0]).astype(np.uint8)
    return data_url(Image.fromarray(pixels))
