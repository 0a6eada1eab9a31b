"""The parts of a mesh file with the colours and textures that the file gives them.

Assimp reads the file, the library by which coal reads it too; coal keeps the triangles alone. Here
the same scene is asked for once more, as binary glTF: a published format, so that nothing depends
on how this or that version of Assimp lays out its memory.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import io
import json
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import coal
import numpy as np

from .messages import data_url

_JOIN, _TRIANGULATE, _SORT = 0x2, 0x8, 0x8000   # aiPostProcessSteps
_TYPES = {5121: "<u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}   # glTF's componentType
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
_TRIANGLES = 4                                   # glTF's mode of a primitive
# what Assimp calls, and how it colours, a material of which the file says nothing
_NAMELESS, _UNSAID = "DefaultMaterial", (0.6, 0.6, 0.6, 1.0)
_PIXELS = 512   # of a texture's longer side: on a page a robot is no larger


@dataclass(frozen=True, eq=False)
class MeshPart:
    """Triangles of one material."""

    # vertices, faces: (n, 3) in the file's unit and (k, 3)
    vertices: np.ndarray
    faces: np.ndarray
    # (r, g, b, alpha) in [0, 1]; None if the file names none
    colour: tuple[float, ...] | None = None
    uv: np.ndarray | None = None  # (n, 2), where there is a texture
    texture: str | None = None  # a PNG as a data URL; the colour is white then


def read_parts(path: str | Path) -> list[MeshPart]:
    """All parts of a mesh file; none where Assimp is not found or cannot read it.

    As in RViz, the file's own up axis is not applied (the root's placement in Assimp's scene).
    """
    glb = _as_glb(str(path))
    return [] if glb is None else list(_Glb(glb, Path(path).parent).parts())


class _Glb:
    """One file of binary glTF 2.0, of which the colours are read and all finer points left."""

    def __init__(self, data: bytes, folder: Path):
        length, = struct.unpack_from("<I", data, 12)
        self._json = json.loads(data[20:20 + length])
        self._binary, self._folder = data[20 + length + 8:], folder
        self._textures: dict[int, str | None] = {}

    def parts(self) -> Iterator[MeshPart]:
        """The triangles of all meshes, each where its node stands under the root."""
        scene = self._json["scenes"][self._json.get("scene", 0)]
        pending = [(index, np.eye(4), True) for index in scene.get("nodes", ())]
        while pending:
            index, parent, is_root = pending.pop()
            node = self._json["nodes"][index]
            own = np.reshape(node.get("matrix", np.eye(4)), (4, 4)).T
            pose = np.eye(4) if is_root else parent @ own
            pending += [(child, pose, False) for child in node.get("children", ())]
            if "mesh" in node:
                for primitive in self._json["meshes"][node["mesh"]]["primitives"]:
                    if primitive.get("mode", _TRIANGLES) == _TRIANGLES:
                        yield self._part(primitive, pose)

    def _part(self, primitive: dict, pose: np.ndarray) -> MeshPart:
        attributes = primitive["attributes"]
        vertices = self._array(attributes["POSITION"]) @ pose[:3, :3].T + pose[:3, 3]
        faces = self._array(primitive["indices"]).reshape(-1, 3).astype(int)
        colour, texture = self._paint(primitive.get("material"))
        uv = None
        if texture is not None and "TEXCOORD_0" in attributes:
            uv = self._array(attributes["TEXCOORD_0"])[:, :2] * (1, -1) + (0, 1)
        return MeshPart(vertices, faces, colour, uv, None if uv is None else texture)

    def _paint(self, index: int | None) -> tuple[tuple[float, ...] | None, str | None]:
        """Colour and texture of a material."""
        material = {} if index is None else self._json["materials"][index]
        painted = material.get("pbrMetallicRoughness", {})
        texture = self._texture(painted.get("baseColorTexture", {}).get("index"))
        colour = tuple(round(part, 6) for part in painted.get("baseColorFactor", (1.0,) * 4))
        if texture is not None:     # stands in the place of a colour, in COLLADA and in URDF
            return (1.0, 1.0, 1.0, colour[3] or 1.0), texture
        if material.get("name", _NAMELESS) == _NAMELESS or colour == _UNSAID:
            return None, None
        # a material that cannot be seen at all is a slip of some exporters of COLLADA
        return (*colour[:3], colour[3] or 1.0), None

    def _texture(self, index: int | None) -> str | None:
        if index is None:
            return None
        if index not in self._textures:
            self._textures[index] = self._read_texture(index)
        return self._textures[index]

    def _read_texture(self, index: int) -> str | None:
        from PIL import Image

        image = self._json["images"][self._json["textures"][index]["source"]]
        try:
            if "bufferView" in image:
                file: Any = io.BytesIO(self._view(image["bufferView"]))
            else:
                file = self._folder / image["uri"].replace("\\", "/").removeprefix("file://")
            with Image.open(file) as picture:
                shown = picture.convert("RGBA" if "A" in picture.getbands() else "RGB")
                shown.thumbnail((_PIXELS, _PIXELS))
                return data_url(shown)
        except (OSError, ValueError, KeyError):
            return None

    def _view(self, index: int) -> bytes:
        view = self._json["bufferViews"][index]
        start = view.get("byteOffset", 0)
        return self._binary[start:start + view["byteLength"]]

    def _array(self, index: int) -> np.ndarray:
        accessor = self._json["accessors"][index]
        kind, width = np.dtype(_TYPES[accessor["componentType"]]), _WIDTHS[accessor["type"]]
        stride = self._json["bufferViews"][accessor["bufferView"]].get("byteStride")
        return np.ndarray((accessor["count"], width), kind, self._view(accessor["bufferView"]),
                          accessor.get("byteOffset", 0),
                          (stride or width * kind.itemsize, kind.itemsize)).astype(float)


class _Blob(ctypes.Structure):
    """The beginning of Assimp's aiExportDataBlob."""

    _fields_ = [("size", ctypes.c_size_t), ("data", ctypes.c_void_p)]


@cache
def _assimp() -> ctypes.CDLL | None:
    """Assimp's C interface: the library beside coal's own, else the system's; None without any."""
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
