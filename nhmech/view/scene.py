"""The scene of a vehicle: its bodies, one group for each joint, and the ground and light around
them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import coal
import numpy as np
import pinocchio as pin

from ..errors import printable
from ..vehicle.vehicle import Vehicle
from .camera import Extent, View
from .colours import contact_rgb
from .drawable import Colour, Drawable
from .floor import describe_ground, floor, floor_pose, grid_cell
from .mesh_parts import MeshPart, read_parts
from .messages import Part, lines, phong, set_group, set_lights, set_property, set_transform
from .overlays.overlay import Overlay
from .shapes import convert, line_geometry, mesh_geometry, outline

FOCUS = "/focus"  # a group that stays with the vehicle; the camera and the lights go along with it
TRANSLUCENT = 0.32  # opacity of a tinted vehicle: less than a body, more than a shadow
# of what stands in for a missing shape: opacity of its faces, colour of its edges
FAINT, OUTLINE = 0.45, (0.30, 0.35, 0.41)
DEFAULT_COLOR = (0.60, 0.66, 0.74, 1.0)  # where the URDF names none
UNPAINTED = [0.9, 0.9, 0.9, 1.0]  # what Pinocchio gives a shape without a colour
HIDDEN = ("/Grid", "/Axes", "/Lights/SpotLight", "/Lights/PointLightNegativeX",
          "/Lights/PointLightPositiveX", "/Lights/FillLight", "/Lights/AmbientLight")


class Scene:
    """The bodies of one vehicle under the path `root` of the page, all translucent in one colour
    with a `tint`; `paths` maps a joint to the path of the group that it moves."""

    def __init__(self, vehicle: Drawable, root: str = "/vehicle", tint: Colour | None = None):
        self.vehicle = vehicle
        self._data, self._has_shadow = vehicle.model.createData(), tint is None
        self._latest: tuple[np.ndarray | None, np.ndarray] = (None, np.zeros((0, 3)))
        self._parts: dict[int, list[Part]] = {}
        self._files: dict[str, list[MeshPart]] = {}
        self._stand_ins = vehicle.stand_ins if isinstance(vehicle, Vehicle) else frozenset()
        for shape in vehicle.visual_model.geometryObjects:
            self._parts.setdefault(shape.parentJoint, []).extend(
                (geometry, material, shape.placement.homogeneous @ pose)
                for geometry, material, pose in self._draw(shape, tint))
        names = vehicle.model.names
        for joint in range(1, vehicle.model.njoints):
            self._parts.setdefault(joint, [])
        self.paths = {joint: f"{root}/{names[joint].replace('/', '_')}" for joint in self._parts}

    def _draw(self, shape: pin.GeometryObject, tint: Colour | None) -> Iterator[Part]:
        is_painted = shape.overrideMaterial or not np.allclose(shape.meshColor, UNPAINTED)
        colour = shape.meshColor if is_painted else DEFAULT_COLOR
        if tint is not None:
            yield from _paint(shape, phong((*tint, TRANSLUCENT)))
        elif shape.name in self._stand_ins:
            yield from _paint(shape, phong((*colour[:3], FAINT)))
            yield line_geometry(outline(shape.geometry)), lines(OUTLINE), np.eye(4)
        elif parts := self._read_coloured(shape):
            for part in parts:
                yield (mesh_geometry(part.vertices * shape.meshScale, part.faces, part.uv),
                       phong(part.colour or colour, part.texture), np.eye(4))
        else:
            yield from _paint(shape, phong(colour))

    def _read_coloured(self, shape: pin.GeometryObject) -> list[MeshPart]:
        """The parts of a shape's file, if that has colours."""
        if not isinstance(shape.geometry, coal.BVHModelBase):
            return []
        if shape.meshPath not in self._files:
            parts = read_parts(shape.meshPath)
            self._files[shape.meshPath] = parts if any(part.colour for part in parts) else []
        return self._files[shape.meshPath]

    def poses(self, q: np.ndarray, contacts: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """Path of each body's group, and of the focus -> its pose (4, 4) in W at q (nq,)."""
        focus = np.eye(4)
        focus[:3, 3] = self.middle(q, contacts)
        return self.bodies(q) | {FOCUS: focus}

    def bodies(self, q: np.ndarray) -> dict[str, np.ndarray]:
        """The same without the focus."""
        self._place(q)
        return {path: self._data.oMi[joint].homogeneous for joint, path in self.paths.items()}

    def groups(self) -> list[dict]:
        """The messages that draw the bodies."""
        return [set_group(path, self._parts[joint], self._has_shadow)
                for joint, path in self.paths.items()]

    def contacts(self, q: np.ndarray) -> np.ndarray:
        """Contact points (n, 3) in W [m]; those of the last q are kept."""
        if q is not self._latest[0]:
            points = np.asarray(self.vehicle.contact_points(q), dtype=float).reshape(-1, 3)
            self._latest = q, points
        return self._latest[1]

    def middle(self, q: np.ndarray, contacts: np.ndarray | None = None) -> np.ndarray:
        """The mean (3,) [m] of the contacts, which may be given; without any, the point of the
        ground below the first joint."""
        contacts = self.contacts(q) if contacts is None else contacts
        if len(contacts):
            return contacts.mean(axis=0)
        n = np.array(self.vehicle.ground.normal)
        origin = self._first_body(q).translation
        return origin - n * (n @ (origin - self.vehicle.ground.point))

    def forward(self, q: np.ndarray) -> np.ndarray:
        """The x axis (3,) of the first moving body, in W."""
        return self._first_body(q).rotation[:, 0].copy()

    def extent(self, q: np.ndarray) -> Extent:
        """The largest distance of the vehicle from `middle(q)`; at least 1 cm."""
        self._place(q)
        corners = [self.contacts(q)]
        for shape in self.vehicle.visual_model.geometryObjects:
            if not isinstance(shape.geometry, (coal.Plane, coal.Halfspace)):
                shape.geometry.computeLocalAABB()
                low, high = shape.geometry.aabb_local.min_, shape.geometry.aabb_local.max_
                local = np.stack(np.meshgrid(*zip(low, high)), axis=-1).reshape(-1, 3)
                place = self._data.oMi[shape.parentJoint] * shape.placement
                corners.append(local @ place.rotation.T + place.translation)
        offsets = np.vstack(corners) - self.middle(q)
        heights = offsets @ np.array(self.vehicle.ground.normal)
        level = np.linalg.norm(offsets - np.outer(heights, self.vehicle.ground.normal), axis=1)
        distances = np.linalg.norm(offsets, axis=1)
        return Extent(max(0.01, 2 * float(np.max(distances, initial=0.0))),
                      max(0.005, float(np.max(level, initial=0.0))),
                      float(np.max(heights, initial=0.0)))

    def messages(self, view: View, overlays: Sequence[Overlay] = (),
                 title: str | None = None) -> list[dict]:
        """Everything that is drawn once: background, light, ground, bodies, overlays; and what the
        page has to say: where the camera stands, the legend, the switches. `title` replaces the
        vehicle's name."""
        cell = grid_cell(view.size)
        named = [(name, contact_rgb(i)) for i, name in enumerate(self.vehicle.contact_names)]
        outlined = [("outlined: no mesh file", OUTLINE)] if self._stand_ins else []
        further = [entry for overlay in overlays for entry in overlay.legend]
        legend = [{"name": name, "color": color} for name, color in [*named, *further, *outlined]]
        layers = [overlay.layer.message() for overlay in overlays if overlay.layer is not None]
        return [
            *(set_property(path, "visible", False) for path in HIDDEN),
            set_property("/Background", "top_color", [0.72, 0.81, 0.90]),
            set_property("/Background", "bottom_color", [0.97, 0.98, 0.99]),
            set_lights(FOCUS + "/lights", _lights(view, np.array(self.vehicle.ground.normal))),
            floor(view.reach, cell),
            set_transform("/ground", floor_pose(self.vehicle.ground, view.ground, 20 * cell)),
            *self.groups(),
            {"type": "view", "title": printable(title or self.vehicle.name), "cell": cell,
             "ground": describe_ground(self.vehicle.ground), "contacts": legend,
             "layers": layers, "body": self.paths.get(1, ""), **view.camera()},
            *(message for overlay in overlays for message in overlay.objects(view)),
        ]

    def _place(self, q: np.ndarray) -> None:
        pin.forwardKinematics(self.vehicle.model, self._data, np.asarray(q, dtype=float))

    def _first_body(self, q: np.ndarray) -> pin.SE3:
        self._place(q)
        return self._data.oMi[min(1, self.vehicle.model.njoints - 1)]


def _paint(shape: pin.GeometryObject, material: dict) -> Iterator[Part]:
    for geometry, pose in convert(shape.geometry):
        yield geometry, material, pose


def _lights(view: View, normal: np.ndarray) -> list[dict]:
    """Sky, a sun behind the camera's left shoulder with shadows around the vehicle, weak light from
    the other side."""
    s, toward = view.size, view.eye - view.target
    toward = toward - normal * (normal @ toward)
    toward = toward / np.linalg.norm(toward)
    left = np.cross(toward, normal)
    sun, fill = np.eye(4), np.eye(4)
    sun[:3, 3] = (1.7 * toward + 1.2 * left + 3.2 * normal) * s
    fill[:3, 3] = (-1.0 * toward - 2.0 * left + 1.2 * normal) * s
    sides = {"left": -1.6 * s, "right": 1.6 * s, "top": 1.6 * s, "bottom": -1.6 * s,
             "near": 0.5 * s, "far": 9 * s}
    camera = {"uuid": "sun camera", "type": "OrthographicCamera", "zoom": 1, **sides}
    shadow = {"camera": camera, "mapSize": [2048, 2048], "bias": -0.0005, "normalBias": 0.004 * s,
              "radius": 3}
    return [
        {"type": "HemisphereLight", "intensity": 0.62, "groundColor": 0xB8B4AE},
        {"type": "DirectionalLight", "intensity": 0.42, "matrix": sun.T.ravel().tolist(),
         "castShadow": True, "shadow": shadow},
        {"type": "DirectionalLight", "intensity": 0.12, "matrix": fill.T.ravel().tolist()},
    ]
