"""Shapes of coal as three.js objects, in the JSON that meshcat's page reads.

three.js has cylinders, cones and capsules along y, coal along z; coal's lengths are half lengths.
"""

from __future__ import annotations

import coal
import numpy as np
import umsgpack
from numpy.typing import ArrayLike

Y_TO_Z = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
CREASE = np.cos(np.radians(40))  # edges sharper than that stay sharp: wheels round, boxes not
SEGMENTS = 48  # of a circle: corners cannot be seen


def floats(values: ArrayLike) -> umsgpack.Ext:
    """Numbers as meshcat's Float32Array."""
    return umsgpack.Ext(0x17, np.ascontiguousarray(values, dtype="<f4").tobytes())


def line_geometry(ends: np.ndarray) -> dict:
    """Lines as a three.js geometry: their ends (n, 2, 3) [m]."""
    return {"type": "BufferGeometry", "data": {"attributes": {
        "position": _attribute(ends.reshape(-1, 3), "Float32Array", floats(ends.reshape(-1, 3)))}}}


def buffer_geometry(vertices: np.ndarray, faces: np.ndarray, **attributes: np.ndarray) -> dict:
    """Triangles as a three.js geometry: vertices (n, 3) [m], faces (k, 3), others (n, size), such
    as `uv`, `color`."""
    arrays = {"position": vertices, **attributes}
    index = umsgpack.Ext(0x16, np.ascontiguousarray(faces, dtype="<u4").tobytes())
    return {"type": "BufferGeometry",
            "data": {"attributes": {name: _attribute(array, "Float32Array", floats(array))
                                    for name, array in arrays.items()},
                     "index": {"itemSize": 1, "type": "Uint32Array", "array": index,
                               "normalized": False}}}


def _attribute(array: np.ndarray, kind: str, packed: umsgpack.Ext) -> dict:
    return {"itemSize": array.shape[1], "type": kind, "array": packed, "normalized": False}


def convert(shape: coal.CollisionGeometry) -> list[tuple[dict, np.ndarray]]:
    """Three.js geometries of a coal shape, each with its pose (4, 4) in the shape's frame; none
    without a surface."""
    if isinstance(shape, coal.Box):
        x, y, z = 2 * shape.halfSide
        return [({"type": "BoxGeometry", "width": x, "height": y, "depth": z}, np.eye(4))]
    if isinstance(shape, coal.Sphere):
        return [(_sphere(shape.radius), Y_TO_Z)]
    if isinstance(shape, coal.Ellipsoid):
        return [(_sphere(1.0), np.diag([*shape.radii, 1.0]) @ Y_TO_Z)]
    if isinstance(shape, coal.Cylinder):
        return [(_cylinder(shape.radius, shape.radius, 2 * shape.halfLength), Y_TO_Z)]
    if isinstance(shape, coal.Cone):
        return [(_cylinder(0.0, shape.radius, 2 * shape.halfLength), Y_TO_Z)]
    if isinstance(shape, coal.Capsule):
        ends = [(_sphere(shape.radius), _raise_pose(sign * shape.halfLength)) for sign in (1, -1)]
        return [(_cylinder(shape.radius, shape.radius, 2 * shape.halfLength), Y_TO_Z), *ends]
    if isinstance(shape, coal.BVHModelBase):
        faces = [[t[0], t[1], t[2]] for t in map(shape.tri_indices, range(shape.num_tris))]
        return [(mesh_geometry(np.array(shape.vertices()), np.array(faces, dtype=int)), np.eye(4))]
    if isinstance(shape, coal.ConvexBase) and hasattr(shape, "polygons"):
        faces = [[t[0], t[1], t[2]] for t in map(shape.polygons, range(shape.num_polygons))]
        return [(mesh_geometry(np.array(shape.points()), np.array(faces, dtype=int)), np.eye(4))]
    return []


def mesh_geometry(vertices: np.ndarray, faces: np.ndarray, uv: np.ndarray | None = None) -> dict:
    """A triangle mesh with normals that are smooth except across creases: vertices (n, 3) [m],
    faces (k, 3), uv (n, 2) on a texture."""
    corners = vertices[faces]  # (k, 3, 3)
    area_normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    flat = _unit(area_normals)
    _, place = np.unique(np.round(corners.reshape(-1, 3), 6), axis=0, return_inverse=True)
    place = place.ravel()
    summed = np.zeros((place.max() + 1, 3))
    np.add.at(summed, place, np.repeat(area_normals, 3, axis=0))
    smooth, own = _unit(summed)[place], np.repeat(flat, 3, axis=0)
    normals = np.where(np.sum(smooth * own, axis=1, keepdims=True) > CREASE, smooth, own)
    columns = [corners.reshape(-1, 3), normals] + ([] if uv is None else [uv[faces].reshape(-1, 2)])
    rows, index = np.unique(np.round(np.hstack(columns), 6), axis=0, return_inverse=True)
    attributes = {"normal": rows[:, 3:6]} | ({} if uv is None else {"uv": rows[:, 6:]})
    return buffer_geometry(rows[:, :3], index.reshape(-1, 3), **attributes)


def outline(shape: coal.CollisionGeometry) -> np.ndarray:
    """Ends (n, 2, 3) [m] of the lines that draw the edges of a shape: a box's own, two rims of a
    cylinder, three great circles of a ball; none of a mesh."""
    if isinstance(shape, coal.Box):
        corners = np.array(list(np.ndindex(2, 2, 2)))
        near = np.abs(corners[:, None] - corners[None]).sum(axis=2) == 1
        return (2.0 * corners - 1)[np.argwhere(np.triu(near))] * shape.halfSide
    angles = np.linspace(0, 2 * np.pi, SEGMENTS + 1)
    flat = np.column_stack([np.cos(angles), np.sin(angles), 0 * angles])
    circle = np.stack([flat[:-1], flat[1:]], axis=1)
    if isinstance(shape, coal.Sphere):
        return shape.radius * np.vstack([np.roll(circle, k, axis=2) for k in range(3)])
    if isinstance(shape, coal.Cylinder):
        rims = shape.radius * circle
        return np.vstack([rims + (0, 0, z * shape.halfLength) for z in (-1, 1)])
    return np.zeros((0, 2, 3))


def pose_along(origin: np.ndarray, direction: np.ndarray, width: float,
                length: float) -> np.ndarray:
    """Pose whose z axis is the direction, scaled by `width` across and by `length` along."""
    z = direction / np.linalg.norm(direction)
    x = np.cross(z, [1.0, 0.0, 0.0] if abs(z[0]) < 0.9 else [0.0, 1.0, 0.0])
    x /= np.linalg.norm(x)
    pose = np.eye(4)
    pose[:3, :3] = np.column_stack([width * x, width * np.cross(z, x), length * z])
    pose[:3, 3] = origin
    return pose


def strip(width: float) -> dict:
    """A flat strip of length 1 m along x, normal along z, by its width [m]."""
    y = 0.5 * width
    corners = np.array([[0, -y, 0], [1, -y, 0], [1, y, 0], [0, y, 0]])
    return buffer_geometry(corners, np.array([[0, 1, 2], [0, 2, 3]]))


def _sphere(radius: float) -> dict:
    return {"type": "SphereGeometry", "radius": radius, "widthSegments": SEGMENTS,
            "heightSegments": SEGMENTS // 2}


def _cylinder(top: float, bottom: float, height: float) -> dict:
    return {"type": "CylinderGeometry", "radiusTop": top, "radiusBottom": bottom, "height": height,
            "radialSegments": SEGMENTS}


def _raise_pose(z: float) -> np.ndarray:
    pose = Y_TO_Z.copy()
    pose[2, 3] = z
    return pose


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30)
