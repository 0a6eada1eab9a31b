"""Small mesh files of the formats that URDFs name: two triangles, each of its own colour."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

TRIANGLES = np.array([[[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 0, 1], [1, 0, 1], [0, 1, 1]]], float)
ORANGE, TEAL = (0.9, 0.4, 0.1), (0.1, 0.5, 0.6)
COLOURS = (ORANGE, TEAL)


def write_stl(path: Path) -> Path:
    """Without colours, as most are."""
    facets = "".join("facet normal 0 0 1\nouter loop\n"
                     + "".join("vertex {} {} {}\n".format(*corner) for corner in triangle)
                     + "endloop\nendfacet\n" for triangle in TRIANGLES)
    path.write_text(f"solid a\n{facets}endsolid a\n")
    return path


def write_obj(path: Path, colours: Sequence[Sequence[float]] = COLOURS, texture: str = "",
              library: bool = True) -> Path:
    """With materials m0 and m1 in an MTL file beside it."""
    name = path.with_suffix(".mtl").name
    text = f"mtllib {name}\nvt 0.05 0.5\nvt 0.2 0.5\nvt 0.95 0.5\n"
    for k, triangle in enumerate(TRIANGLES):
        text += "".join("v {} {} {}\n".format(*corner) for corner in triangle)
        text += f"usemtl m{k}\nf " + " ".join(f"{3 * k + i}/{i}" for i in (1, 2, 3)) + "\n"
    path.write_text(text)
    if library:
        path.with_name(name).write_text("".join(
            "newmtl m{}\nKd {} {} {}\n{}".format(k, *colour, f"map_Kd {texture}\n" * bool(texture))
            for k, colour in enumerate(colours)))
    return path


def write_dae(path: Path, colours: Sequence[Sequence[float]] = COLOURS, unit: float = 1.0) -> Path:
    """With an effect for each triangle; y is up, which URDF's readers do not apply."""
    effects = "".join(
        f'<effect id="e{k}"><profile_COMMON><technique sid="common"><lambert><diffuse><color>'
        f'{" ".join(map(str, colour))} 1</color></diffuse></lambert></technique></profile_COMMON>'
        "</effect>" for k, colour in enumerate(colours))
    materials = "".join(f'<material id="m{k}"><instance_effect url="#e{k}"/></material>'
                        for k in range(2))
    numbers = " ".join(f"{x:g}" for x in TRIANGLES.ravel())
    faces = "".join(f'<triangles count="1" material="s{k}"><input semantic="VERTEX" '
                    f'source="#v" offset="0"/><p>{3 * k} {3 * k + 1} {3 * k + 2}</p></triangles>'
                    for k in range(2))
    bound = "".join(f'<instance_material symbol="s{k}" target="#m{k}"/>' for k in range(2))
    path.write_text(
        '<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" '
        f'version="1.4.1"><asset><unit meter="{unit}"/><up_axis>Y_UP</up_axis></asset>'
        f"<library_effects>{effects}</library_effects>"
        f"<library_materials>{materials}</library_materials>"
        '<library_geometries><geometry id="g"><mesh><source id="p"><float_array id="a" '
        f'count="18">{numbers}</float_array><technique_common><accessor source="#a" count="6" '
        'stride="3"><param name="X" type="float"/><param name="Y" type="float"/>'
        '<param name="Z" type="float"/></accessor></technique_common></source>'
        '<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>'
        f"{faces}</mesh></geometry></library_geometries>"
        '<library_visual_scenes><visual_scene id="scene"><node id="n"><instance_geometry url="#g">'
        f"<bind_material><technique_common>{bound}</technique_common></bind_material>"
        "</instance_geometry></node></visual_scene></library_visual_scenes>"
        '<scene><instance_visual_scene url="#scene"/></scene></COLLADA>')
    return path


def write_glb(path: Path, colours: Sequence[Sequence[float]] = COLOURS) -> Path:
    """Binary glTF 2.0, one primitive for each triangle."""
    binary = TRIANGLES.astype("<f4").tobytes()
    views = [{"buffer": 0, "byteOffset": 36 * k, "byteLength": 36} for k in range(2)]
    accessors = [{"bufferView": k, "componentType": 5126, "count": 3, "type": "VEC3",
                  "min": TRIANGLES[k].min(axis=0).tolist(),
                  "max": TRIANGLES[k].max(axis=0).tolist()} for k in range(2)]
    primitives = [{"attributes": {"POSITION": k}, "material": k} for k in range(2)]
    materials = [{"name": f"m{k}", "pbrMetallicRoughness": {"baseColorFactor": [*colour, 1.0]}}
                 for k, colour in enumerate(colours)]
    text = json.dumps({"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
                       "nodes": [{"mesh": 0}], "meshes": [{"primitives": primitives}],
                       "materials": materials, "accessors": accessors, "bufferViews": views,
                       "buffers": [{"byteLength": len(binary)}]}).encode()
    text += b" " * (-len(text) % 4)
    chunks = (struct.pack("<I4s", len(text), b"JSON") + text
              + struct.pack("<I4s", len(binary), b"BIN\0") + binary)
    path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)
    return path
