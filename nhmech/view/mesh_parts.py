"""The parts of a mesh file with the colours and textures that the file gives them; coal keeps the
triangles alone."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..urdf.mesh_scene import MeshScene, Primitive, read_scene
from .messages import data_url

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
    """All parts of a mesh file; none where Assimp is not found or cannot read it."""
    scene = read_scene(path)
    if scene is None:
        return []
    paints = _Paints(scene, Path(path).parent)
    return [paints.put_on(primitive) for primitive in scene.primitives()]


class _Paints:
    """The materials of a scene, of which the colours are read and all finer points left."""

    def __init__(self, scene: MeshScene, folder: Path):
        self._scene, self._folder = scene, folder
        self._textures: dict[int, str | None] = {}

    def put_on(self, primitive: Primitive) -> MeshPart:
        """The triangles with their colour or texture."""
        vertices, faces, said = primitive
        attributes = said["attributes"]
        colour, texture = self._paint(said.get("material"))
        uv = None
        if texture is not None and "TEXCOORD_0" in attributes:
            uv = self._scene.array(attributes["TEXCOORD_0"])[:, :2] * (1, -1) + (0, 1)
        return MeshPart(vertices, faces, colour, uv, None if uv is None else texture)

    def _paint(self, index: int | None) -> tuple[tuple[float, ...] | None, str | None]:
        """Colour and texture of a material."""
        material = {} if index is None else self._scene.said["materials"][index]
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

        said = self._scene.said
        image = said["images"][said["textures"][index]["source"]]
        try:
            if "bufferView" in image:
                file: Any = io.BytesIO(self._scene.view(image["bufferView"]))
            else:
                file = self._folder / image["uri"].replace("\\", "/").removeprefix("file://")
            with Image.open(file) as picture:
                shown = picture.convert("RGBA" if "A" in picture.getbands() else "RGB")
                shown.thumbnail((_PIXELS, _PIXELS))
                return data_url(shown)
        except (OSError, ValueError, KeyError):
            return None
