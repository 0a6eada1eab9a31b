"""The messages that meshcat's page understands, as plain dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .shapes import floats

Part = tuple[dict, dict, np.ndarray]  # geometry, material, pose (4, 4)
METADATA = {"version": 4.5, "type": "Object"}


def set_transform(path: str, pose: ArrayLike) -> dict:
    """Place what lies under `path`; `pose` is (4, 4), lengths in [m]."""
    return {"type": "set_transform", "path": path, "matrix": floats(np.asarray(pose).T)}


def set_property(path: str, name: str, value: object) -> dict:
    """Set a property of the object at `path`, such as `visible`."""
    return {"type": "set_property", "path": path, "property": name, "value": value}


def set_group(path: str, parts: Iterable[Part], casts_shadow: bool = True,
              images: Sequence[dict] = (), textures: Sequence[dict] = ()) -> dict:
    """Put one object at `path`, made of `parts`, with the images and textures that their materials
    name.

    It is a group, because meshcat's page makes every single mesh cast a shadow, and a ground that
    shadows itself looks striped.
    """
    geometries: list[dict] = []
    materials: list[dict] = []
    children: list[dict] = []
    for i, (geometry, material, pose) in enumerate(parts):
        names = {"geometry": f"{path} geometry {i}", "material": f"{path} material {i}"}
        geometries.append({"uuid": names["geometry"], **geometry})
        materials.append({"uuid": names["material"], **material})
        matrix = np.asarray(pose, dtype=float).T.ravel().tolist()
        children.append({"uuid": f"{path} {i}", "type": "Mesh", "matrix": matrix, **names,
                         "castShadow": casts_shadow, "receiveShadow": True})
    content = {"metadata": METADATA, "geometries": geometries, "materials": materials,
               "images": list(images), "textures": list(textures)}
    group = {"uuid": path, "type": "Group", "children": children}
    return {"type": "set_object", "path": path, "object": {**content, "object": group}}


def set_lights(path: str, lights: list[dict]) -> dict:
    """Put three.js lights at `path`, each given by its JSON fields `type`, `intensity` and so on; a
    group, so that only those cast shadows that say so."""
    children = [{"uuid": f"{path} {i}", "color": 0xFFFFFF, "castShadow": False, **light}
                for i, light in enumerate(lights)]
    group = {"uuid": path, "type": "Group", "children": children}
    return {"type": "set_object", "path": path, "object": {"metadata": METADATA, "object": group}}


def rgb(color: Sequence[float]) -> int:
    """(r, g, b, ...) in [0, 1] as the number 0xRRGGBB."""
    red, green, blue = (int(round(255 * min(max(float(c), 0.0), 1.0))) for c in color[:3])
    return 65536 * red + 256 * green + blue


def phong(color: Sequence[float]) -> dict:
    """A slightly glossy material of colour (r, g, b, alpha)."""
    alpha = float(color[3]) if len(color) > 3 else 1.0
    material = {"type": "MeshPhongMaterial", "color": rgb(color), "specular": 0x2A2A2A,
                "shininess": 40, "side": 2}
    return material | ({"transparent": True, "opacity": alpha} if alpha < 1 else {})
