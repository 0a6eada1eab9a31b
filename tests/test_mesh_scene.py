"""Binary glTF as `MeshScene` reads it, byte by byte, and what Assimp makes of other formats."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from meshes import TRIANGLES, write_dae

from nhmech.urdf import mesh_scene
from nhmech.urdf.mesh_scene import MeshScene, read_scene

POINTS = np.array([(1, 2, 3), (-1, 0, 5), (0.5, -2, 0.25), (4, 1, 7)])
FACES = np.array([(0, 1, 2), (3, 2, 0)])
NUMBERS = {"<u1": 5121, "<u2": 5123, "<u4": 5125, "<f4": 5126}      # componentType


def glb(said: dict, binary: bytes) -> bytes:
    text = json.dumps(said).encode()
    text += b" " * (-len(text) % 4)
    return (struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(binary))
            + struct.pack("<I4s", len(text), b"JSON") + text
            + struct.pack("<I4s", len(binary), b"BIN\0") + binary)


def columns(matrix: np.ndarray) -> list[float]:
    """As glTF has a matrix."""
    return matrix.T.ravel().tolist()


def stacked(meshes: list[list[dict]], nodes: list[dict], **scene) -> MeshScene:
    """Primitives of `POINTS` and `FACES`: vertices 20 bytes apart, from the eighth byte on."""
    vertices = np.zeros(len(POINTS), [("more", "<u4", 2), ("position", "<f4", 3)])
    vertices["position"] = POINTS
    faces = FACES.astype("<u2").tobytes()
    said = {"nodes": nodes, "meshes": [{"primitives": [
        {"attributes": {"POSITION": 0}, "indices": 1} | more for more in mesh]}
        for mesh in meshes], "accessors": [
            {"bufferView": 1, "byteOffset": 8, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 0, "componentType": 5123, "count": 6, "type": "SCALAR"}],
        "bufferViews": [{"byteLength": len(faces)},
                        {"byteOffset": len(faces), "byteLength": 80, "byteStride": 20}]}
    return MeshScene(glb(said | scene, faces + vertices.tobytes()))


def test_triangles_stand_where_their_nodes_do_below_the_root():
    """The placement of the root itself is not applied."""
    rng = np.random.default_rng(0)
    root, child, other = (np.vstack([rng.normal(size=(3, 4)), (0, 0, 0, 1)]) for _ in range(3))
    nodes = [{"children": [1, 2], "matrix": columns(root), "mesh": 0},
             {"children": [3], "matrix": columns(child)}, {"mesh": 1},
             {"matrix": columns(other), "mesh": 2}]
    lines = {"mode": 1}
    meshes = [[{"material": 0}, lines], [{"material": 1, "mode": 4}], [lines, {"material": 2}]]
    scene = stacked(meshes, nodes, scenes=[{"nodes": [0]}])
    found = sorted(scene.primitives(), key=lambda part: part.said["material"])
    assert len(found) == 3
    for part, pose in zip(found, (np.eye(4), np.eye(4), child @ other)):
        np.testing.assert_allclose(part.vertices, POINTS @ pose[:3, :3].T + pose[:3, 3],
                                   rtol=1e-12)
        np.testing.assert_array_equal(part.faces, FACES)


@pytest.mark.parametrize("chosen, material", [({}, 0), ({"scene": 0}, 0), ({"scene": 1}, 1)])
def test_one_of_several_scenes_is_read(chosen, material):
    """The first where none is named."""
    meshes, nodes = [[{"material": 0}], [{"material": 1}]], [{"mesh": 0}, {"mesh": 1}]
    scene = stacked(meshes, nodes, scenes=[{"nodes": [0]}, {"nodes": [1]}, {}], **chosen)
    assert [part.said["material"] for part in scene.primitives()] == [material]
    assert [*stacked(meshes, nodes, scenes=[{}]).primitives()] == []


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("name, width", [("SCALAR", 1), ("VEC2", 2), ("VEC3", 3), ("VEC4", 4)])
def test_numbers_of_each_sort_are_read(kind, name, width):
    """Beginning with the third, side by side."""
    values = np.arange(1, 15, dtype=kind)
    accessor = {"bufferView": 0, "byteOffset": 2 * values.itemsize, "count": 3, "type": name,
                "componentType": NUMBERS[kind]}
    scene = MeshScene(glb({"accessors": [accessor], "bufferViews": [
        {"byteLength": values.nbytes}]}, values.tobytes()))
    np.testing.assert_array_equal(scene.array(0), values[2:2 + 3 * width].reshape(3, width))
    assert scene.array(0).dtype == float and scene.view(0) == values.tobytes()


def test_what_assimp_makes_is_given_back(tmp_path, monkeypatch):
    """Its scene also where nothing can be made of it."""
    library, calls = mesh_scene._assimp(), []
    if library is None:
        pytest.skip("needs Assimp, which coal brings")

    class Watched:
        broken = False

        def __getattr__(self, name):
            calls.append(name)
            return (lambda *_: None) if self.broken and "Export" in name else getattr(library, name)

    path, watched = write_dae(tmp_path / "two.dae"), Watched()
    monkeypatch.setattr(mesh_scene, "_assimp", lambda: watched)
    vertices = np.concatenate([part.vertices for part in read_scene(path).primitives()])
    assert {*map(tuple, vertices)} == {*map(tuple, TRIANGLES.reshape(-1, 3))}
    assert sorted(calls) == ["aiExportSceneToBlob", "aiImportFile", "aiReleaseExportBlob",
                             "aiReleaseImport"]
    calls.clear()
    watched.broken = True
    assert read_scene(path) is None
    assert calls == ["aiImportFile", "aiExportSceneToBlob", "aiReleaseImport"]
    monkeypatch.setattr(mesh_scene, "_assimp", lambda: None)
    assert read_scene(path) is None
