"""Mesh files, each read once, and the round parts in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..once import cached_property
from .mesh_scene import read_scene
from .packages import find_file
from .wheels.revolution import Solid, find_solid

_LARGEST = 1 << 28             # bytes; a mesh of a wheel has a hundredth of it
_HEAD = 1 << 16                # bytes in which a COLLADA file names its unit
_UNIT = re.compile(rb"<unit\b[^>]*\bmeter\s*=\s*[\"']([^\"']+)[\"']")
_WELD = 1e-3                   # of a mesh's size: vertices as near as this are one
# a binary STL file: a head, the number of triangles, and of each its normal, corners and two bytes
_STL_HEAD = 80
_STL_FACE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
_MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)   # odd, without a pattern
_DIGITS = 9                    # of placements that are compared


@dataclass(frozen=True)
class Mesh:
    """vertices (n, 3) [m] before the URDF's scale, no two at one place, and of each triangle three
    of them, faces (m, 3)."""

    vertices: np.ndarray
    faces: np.ndarray

    def areas(self) -> np.ndarray:
        """The surface (n,) [m^2] around each vertex: a third of its triangles."""
        faces = self.faces
        a, b, c = (self.vertices[faces[:, k]] for k in range(3))
        third = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6
        return np.bincount(faces.ravel(), np.repeat(third, 3), len(self.vertices))

    @cached_property
    def parts(self) -> list[np.ndarray]:
        """Vertices of each connected part, as indices; vertices at one place are one."""
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        cells = np.round((self.vertices - self.vertices.min(axis=0))
                         / (_WELD * np.ptp(self.vertices, axis=0).max() or 1.0)).astype(np.int64)
        side = int(cells.max()) + 1
        same = np.unique(cells @ (side * side, side, 1), return_inverse=True)[1].ravel()
        corners, count = same[self.faces], int(same.max()) + 1
        edges = np.concatenate([corners[:, :2], corners[:, 1:]])
        graph = coo_matrix((np.ones(len(edges)), edges.T), shape=(count, count))
        labels = connected_components(graph)[1][same]
        order = np.argsort(labels, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)


@dataclass(frozen=True)
class MeshFiles:
    """The meshes opened while one robot is read."""

    _paths: dict[str, Path | None] = field(default_factory=dict)
    _meshes: dict[Path, Mesh | None] = field(default_factory=dict)
    _solids: dict[tuple[object, ...], Solid | None] = field(default_factory=dict)

    def path(self, filename: str, packages: Mapping[str, Path], urdf: Path | None) -> Path | None:
        """The file that a URDF's mesh name means, looked for once; None where it is not found."""
        if filename not in self._paths:
            self._paths[filename] = find_file(filename, packages, urdf)
        return self._paths[filename]

    def mesh(self, path: Path) -> Mesh | None:
        """The mesh; None where the file cannot be read."""
        if path not in self._meshes:
            self._meshes[path] = _read_mesh(path)
        return self._meshes[path]

    def solid(self, path: Path, scale: tuple[float, float, float], X: np.ndarray,
              axis: np.ndarray) -> Solid | None:
        """The wheel in a mesh; None where nothing in it is round about the axle. `X`: placement (4,
        4) of the mesh in a frame whose origin is on the axle. `axis`: direction (3,) of the axle in
        that frame, of length one."""
        placed = X[:3, :3] * scale
        key = (path, *np.round(np.concatenate([placed.ravel(), X[:3, 3], axis]), _DIGITS))
        if key not in self._solids:
            mesh = self.mesh(path)
            self._solids[key] = None if mesh is None else find_solid(
                mesh.vertices @ placed.T + X[:3, 3], axis, mesh.areas)
        return self._solids[key]


def _read_mesh(path: Path) -> Mesh | None:
    try:
        if path.stat().st_size > _LARGEST:
            return None
        if path.suffix.lower() == ".stl" and (corners := _read_stl(path)) is not None:
            return _weld(corners, np.arange(len(corners)).reshape(-1, 3))
        scene = read_scene(path)
        parts = [] if scene is None else [*scene.primitives()]
        if not parts:
            return None
        firsts = np.cumsum([0, *(len(part.vertices) for part in parts[:-1])])
        mesh = _weld(np.concatenate([part.vertices for part in parts]).astype(np.float32),
                     np.concatenate([part.faces + k for k, part in zip(firsts, parts)]))
        return replace(mesh, vertices=mesh.vertices * length_unit(path))
    except (OSError, ValueError):
        return None


def _read_stl(path: Path) -> np.ndarray | None:
    """The corners (3 m, 3) of a binary STL file; None of one in text. The same as Assimp reads,
    many times faster."""
    content = path.read_bytes()
    count = int.from_bytes(content[_STL_HEAD:_STL_HEAD + 4], "little")
    if len(content) != _STL_HEAD + 4 + count * _STL_FACE.itemsize:
        return None
    faces = np.frombuffer(content, _STL_FACE, count, _STL_HEAD + 4)["corners"]
    return faces.reshape(-1, 3)


def _weld(corners: np.ndarray, faces: np.ndarray) -> Mesh:
    """Triangles between corners (n, 3), in single precision, of which equal ones are one vertex."""
    corners = corners + np.float32(0)      # a negative zero becomes one
    # one number for each corner sorts faster than three
    keys = corners.view("<u4").astype(np.uint64) @ np.array(_MIX, dtype=np.uint64)
    _, first, same = np.unique(keys, return_index=True, return_inverse=True)
    if not np.array_equal(corners[first][same], corners):
        first = same = np.arange(len(corners))
    return Mesh(corners[first].astype(float), same[faces])


def length_unit(path: Path) -> float:
    """Metres in a length of a COLLADA file, which Assimp takes as metres whatever the file says; 1
    for any other file. The file's up axis is not applied, as in RViz."""
    if path.suffix.lower() != ".dae":
        return 1.0
    with path.open("rb") as file:
        found = _UNIT.search(file.read(_HEAD))
    return float(found[1]) if found else 1.0
