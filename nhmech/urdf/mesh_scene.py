"""The triangles of a mesh file and what they are painted with, as Assimp reads them.

Assimp is the library by which coal reads mesh files too; but coal numbers the vertices of several
materials from the same one on. Here the scene is asked for as binary glTF: a published format, so
that nothing depends on how this or that version of Assimp lays out its memory.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

_JOIN, _TRIANGULATE, _SORT = 0x2, 0x8, 0x8000   # aiPostProcessSteps
_TYPES = {5121: "<u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}   # glTF's componentType
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
_TRIANGLES = 4                                   # glTF's mode of a primitive


class Primitive(NamedTuple):
    """Triangles of one material: vertices (n, 3) in the file's unit, faces (k, 3), and what glTF
    says of them."""

    vertices: np.ndarray
    faces: np.ndarray
    said: dict[str, Any]


class MeshScene:
    """One file of binary glTF 2.0: `said`, its JSON, and its arrays."""

    def __init__(self, data: bytes):
        length, = struct.unpack_from("<I", data, 12)
        # names of materials are as the file has them, in whatever encoding
        self.said: dict[str, Any] = json.loads(data[20:20 + length].decode(errors="replace"))
        self._binary = data[20 + length + 8:]

    def primitives(self) -> Iterator[Primitive]:
        """The triangles of all meshes, each where its node stands under the root.

        As in RViz, the file's own up axis is not applied (the root's placement in Assimp's scene).
        """
        scene = self.said["scenes"][self.said.get("scene", 0)]
        pending = [(index, np.eye(4), True) for index in scene.get("nodes", ())]
        while pending:
            index, parent, is_root = pending.pop()
            node = self.said["nodes"][index]
            own = np.reshape(node.get("matrix", np.eye(4)), (4, 4)).T
            pose = np.eye(4) if is_root else parent @ own
            pending += [(child, pose, False) for child in node.get("children", ())]
            if "mesh" in node:
                for said in self.said["meshes"][node["mesh"]]["primitives"]:
                    if said.get("mode", _TRIANGLES) == _TRIANGLES:
                        vertices = self.array(said["attributes"]["POSITION"])
                        faces = self.array(said["indices"]).reshape(-1, 3).astype(int)
                        yield Primitive(vertices @ pose[:3, :3].T + pose[:3, 3], faces, said)

    def view(self, index: int) -> bytes:
        """A stretch of the binary part."""
        view = self.said["bufferViews"][index]
        start = view.get("byteOffset", 0)
        return self._binary[start:start + view["byteLength"]]

    def array(self, index: int) -> np.ndarray:
        """Numbers (n, width)."""
        accessor = self.said["accessors"][index]
        kind, width = np.dtype(_TYPES[accessor["componentType"]]), _WIDTHS[accessor["type"]]
        stride = self.said["bufferViews"][accessor["bufferView"]].get("byteStride")
        return np.ndarray((accessor["count"], width), kind, self.view(accessor["bufferView"]),
                          accessor.get("byteOffset", 0),
                          (stride or width * kind.itemsize, kind.itemsize)).astype(float)


def read_scene(path: str | Path) -> MeshScene | None:
    """A mesh file of any format; None where Assimp is not found or cannot read it."""
    glb = _as_glb(str(path))
    return None if glb is None else MeshScene(glb)


class _Blob(ctypes.Structure):
    """The beginning of Assimp's aiExportDataBlob."""

    _fields_ = [("size", ctypes.c_size_t), ("data", ctypes.c_void_p)]


@cache
def _assimp() -> ctypes.CDLL | None:
    """Assimp's C interface: the library beside coal's own, else the system's; None without any."""
    import coal

    beside = Path(coal.__file__).parents[3]   # lib/pythonX/site-packages/coal/__init__.py
    names = [*map(str, sorted(beside.glob("libassimp*"))), ctypes.util.find_library("assimp")]
    for name in filter(None, names):
        try:
            library = ctypes.CDLL(name)
            library.aiImportFile.restype = ctypes.c_void_p
            library.aiImportFile.argtypes = [ctypes.c_char_p, ctypes.c_uint]
            library.aiReleaseImport.argtypes = [ctypes.c_void_p]
            library.aiExportSceneToBlob.restype = ctypes.POINTER(_Blob)
            library.aiExportSceneToBlob.argtypes = [ctypes.c_void_p, ctypes.c_char_p,
                                                    ctypes.c_uint]
            library.aiReleaseExportBlob.argtypes = [ctypes.POINTER(_Blob)]
        except (OSError, AttributeError):
            continue
        return library
    return None


def _as_glb(path: str) -> bytes | None:
    """A mesh file of any format as binary glTF; None if that fails."""
    assimp = _assimp()
    scene = assimp and assimp.aiImportFile(os.fsencode(path), _JOIN | _TRIANGULATE | _SORT)
    if assimp is None or not scene:
        return None
    try:
        blob = assimp.aiExportSceneToBlob(scene, b"glb2", 0)
        if not blob:
            return None
        try:
            return ctypes.string_at(blob.contents.data, blob.contents.size)
        finally:
            assimp.aiReleaseExportBlob(blob)
    finally:
        assimp.aiReleaseImport(scene)
