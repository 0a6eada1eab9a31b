"""The messages that meshcat's page understands, as plain dictionaries."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .shapes import floats

if TYPE_CHECKING:
    from PIL.Image import Image

Part = tuple[dict, dict, np.ndarray]  # geometry, material, pose (4, 4)
METADATA = {"version": 4.5, "type": "Object"}
LINES = "LineBasicMaterial"


def set_transform(path: str, pose: ArrayLike) -> dict:
    """Place what lies under `path`; `pose` is (4, 4), lengths in [m]."""
    return {"type": "set_transform", "path": path, "matrix": floats(np.asarray(pose).T)}


def set_property(path: str, name: str, value: object) -> dict:
    """Set a property of the object at `path`, such as `visible`."""
    return {"type": "set_property", "path": path, "property": name, "value": value}


def set_group(path: str, parts: Iterable[Part], casts_shadow: bool = True) -> dict:
    """Put one object at `path`, made of `parts`: triangles, and lines where the material is one of
    lines. A material's `map` is a three.js texture with the `url` of its picture.

    It is a group, because meshcat's page makes every single mesh cast a shadow, and a ground that
    shadows itself looks striped.
    """
    content: dict[str, list[dict]] = {
        name: [] for name in ("geometries", "materials", "images", "textures")}
    children: list[dict] = []
    textures: dict[str, str] = {}
    for i, (geometry, material, pose) in enumerate(parts):
        names = {"geometry": f"{path} geometry {i}", "material": f"{path} material {i}"}
        if "map" in material:
            texture = dict(material["map"])
            url = texture.pop("url")
            if url not in textures:
                textures[url] = f"{path} texture {i}"
                content["images"].append({"uuid": f"{path} image {i}", "url": url})
                content["textures"].append({"uuid": textures[url], "image": f"{path} image {i}",
                                            **texture})
            material = {**material, "map": textures[url]}
        content["geometries"].append({"uuid": names["geometry"], **geometry})
        content["materials"].append({"uuid": names["material"], **material})
        matrix = np.asarray(pose, dtype=float).T.ravel().tolist()
        kind = ({"type": "LineSegments"} if material["type"] == LINES else
                {"type": "Mesh", "castShadow": casts_shadow, "receiveShadow": True})
        children.append({"uuid": f"{path} {i}", "matrix": matrix, **names, **kind})
    group = {"uuid": path, "type": "Group", "children": children}
    return {"type": "set_object", "path": path,
            "object": {"metadata": METADATA, **content, "object": group}}


def set_lights(path: str, lights: list[dict]) -> dict:
    """Put three.js lights at `path`, each given by its JSON fields `type`, `intensity` and so on; a
    group, so that only those cast shadows that say so."""
    children = [{"uuid": f"{path} {i}", "color": 0xFFFFFF, "castShadow": False, **light}
                for i, light in enumerate(lights)]
    group = {"uuid": path, "type": "Group", "children": children}
    return {"type": "set_object", "path": path, "object": {"metadata": METADATA, "object": group}}


def data_url(image: Image) -> str:
    """A picture of Pillow's as a PNG in a URL."""
    stream = io.BytesIO()
    image.save(stream, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()


def rgb(color: Sequence[float]) -> int:
    """(r, g, b, ...) in [0, 1] as the number 0xRRGGBB."""
    red, green, blue = (int(round(255 * min(max(float(c), 0.0), 1.0))) for c in color[:3])
    return 65536 * red + 256 * green + blue


def phong(color: Sequence[float], texture: str | None = None) -> dict:
    """A slightly glossy material of colour (r, g, b, alpha), times a picture by its URL."""
    alpha = float(color[3]) if len(color) > 3 else 1.0
    material = {"type": "MeshPhongMaterial", "color": rgb(color), "specular": 0x3A3A3A,
                "shininess": 22, "side": 2}
    material |= {"transparent": True, "opacity": alpha} if alpha < 1 else {}
    return material | ({"map": {"url": texture, "wrap": [1000, 1000]}} if texture else {})


def lines(color: Sequence[float]) -> dict:
    """The material of thin lines."""
    return {"type": LINES, "color": rgb(color)}
