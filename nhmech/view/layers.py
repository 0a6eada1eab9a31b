"""What can be laid over any vehicle and switched on and off on the page: the numbers behind its
looks."""

from __future__ import annotations

import coal
import numpy as np
import pinocchio as pin
from scipy.spatial import ConvexHull, QhullError

from ..vehicle.model import body_names, joint_axis
from ..vehicle.vehicle import Vehicle
from .camera import View
from .drawable import Colour, Snapshot
from .messages import Part, lines, rgb, set_group
from .overlays.overlay import Layer, Overlay, Poses
from .scene import Scene
from .shapes import convert, line_geometry, mesh_geometry, outline, pose_along, strip

INERTIA: Colour = (0.46, 0.25, 0.66)
COLLISION: Colour = (0.80, 0.38, 0.05)
AXIS: Colour = (0.0, 0.45, 0.55)
CENTRE: Colour = (0.75, 0.10, 0.30)
SUPPORT: Colour = (0.10, 0.50, 0.20)
GLASS = 0.28                     # opacity of what is seen through the bodies
# shares of the vehicle's size: radius and length of a joint's axis, radius of the centre of mass,
# widths of lines on the ground
THIN, LONG, BALL, LINE = 0.004, 0.25, 0.022, 0.012
MOST = 3000                      # triangles of a collision mesh; of a finer one the hull is drawn


def make_layers(scene: Scene) -> list[Overlay]:
    """All layers of a vehicle; none of anything else."""
    if not isinstance(scene.vehicle, Vehicle):
        return []
    return [kind(scene, scene.vehicle)
            for kind in (CollisionShapes, Inertias, JointAxes, MassCentre, SupportPolygon, Names)]


class _BodyLayer(Overlay):
    """Objects that are fixed to bodies, and lie below these on the page: they move along."""

    name = ""

    def __init__(self, scene: Scene, vehicle: Vehicle):
        self.vehicle = vehicle
        word = self.name.replace(" ", "_")
        self._paths = {joint: f"{path}/{word}" for joint, path in scene.paths.items()}
        self.layer = Layer(self.name, tuple(self._paths.values()))

    def objects(self, view: View) -> list[dict]:
        return [set_group(path, parts, casts_shadow=False)
                for joint, path in self._paths.items() if (parts := self.parts(joint, view))]

    def parts(self, joint: int, view: View) -> list[Part]:
        """What is drawn on a body, in its joint's frame."""
        return []


class CollisionShapes(_BodyLayer):
    """The URDF's collision shapes; of a fine mesh its convex hull."""

    name = "collision shapes"

    def parts(self, joint: int, view: View) -> list[Part]:
        found: list[Part] = []
        for shape in self.vehicle.collision_model.geometryObjects:
            if shape.parentJoint == joint:
                place = shape.placement.homogeneous
                found += [(geometry, _glass(COLLISION), place @ pose)
                          for geometry, pose in _simple(shape.geometry)]
                if len(edges := outline(shape.geometry)):
                    found.append((line_geometry(edges), lines(COLLISION), place))
        return found


class Inertias(_BodyLayer):
    """The solid ellipsoid that has mass and inertia of a body, of semi-axes a, b, c:
    I_a = m (b^2 + c^2) / 5."""

    name = "inertia"

    def parts(self, joint: int, view: View) -> list[Part]:
        body = self.vehicle.model.inertias[joint]
        if not body.mass > 0:
            return []
        moments, axes = np.linalg.eigh(body.inertia)
        squares = 2.5 * (moments.sum() - 2 * moments) / body.mass
        pose = np.eye(4)
        pose[:3, :3] = axes * np.sqrt(np.maximum(squares, (0.002 * view.size) ** 2))
        pose[:3, 3] = body.lever
        return [(geometry, _glass(INERTIA), pose @ turned)
                for geometry, turned in convert(coal.Sphere(1.0))]


class JointAxes(_BodyLayer):
    """The axis of every joint that moves."""

    name = "joint axes"

    def parts(self, joint: int, view: View) -> list[Part]:
        if joint < 2:                       # the root has none
            return []
        axis = joint_axis(self.vehicle.model, joint)
        length = LONG * view.size
        pose = pose_along(np.zeros(3), axis, 1.0, 1.0)
        return [(geometry, _glass(AXIS, 1.0), pose @ turned)
                for geometry, turned in convert(coal.Cylinder(THIN * view.size, length))]


class Names(_BodyLayer):
    """The name of the link that each joint moves."""

    name = "names"

    def __init__(self, scene: Scene, vehicle: Vehicle):
        super().__init__(scene, vehicle)
        names = body_names(vehicle.model)
        self.layer = Layer(self.name, (), labels={scene.paths[joint]: names[joint]
                                                  for joint in self._paths if joint > 0})


class MassCentre(Overlay):
    """The centre of mass of the whole vehicle, and its plumb line to the ground."""

    def __init__(self, scene: Scene, vehicle: Vehicle):
        root = "/layers/mass_centre"
        self.vehicle, self._data = vehicle, vehicle.model.createData()
        self._ball, self._line = f"{root}/ball", f"{root}/line"
        self.layer = Layer("centre of mass", (root,))

    def objects(self, view: View) -> list[dict]:
        ball = convert(coal.Sphere(BALL * view.size))
        line = convert(coal.Cylinder(0.3 * BALL * view.size, 1.0))
        return [set_group(path, [(geometry, _glass(CENTRE, 1.0), turned)
                                 for geometry, turned in shape], casts_shadow=False)
                for path, shape in ((self._ball, ball), (self._line, line))]

    def at(self, moment: Snapshot, view: View) -> Poses:
        centre = pin.centerOfMass(self.vehicle.model, self._data, moment.q)
        n = np.array(self.vehicle.ground.normal)
        height = float(n @ (centre - self.vehicle.ground.point))
        place = np.eye(4)
        place[:3, 3] = centre
        return {self._ball: place,
                self._line: pose_along(centre - 0.5 * height * n, height * n, 1.0, height)
                if abs(height) > BALL * view.size else None}


class SupportPolygon(Overlay):
    """The hull of the contacts: the vehicle stands while the plumb line ends inside."""

    def __init__(self, scene: Scene, vehicle: Vehicle):
        self._scene, self._ground = scene, vehicle.ground
        root = "/layers/support"
        self._edges = [f"{root}/{i}" for i in range(len(vehicle.contacts))]
        self.layer = Layer("support polygon", (root,))

    def objects(self, view: View) -> list[dict]:
        shape = strip(LINE * view.size)
        return [set_group(path, [(shape, _glass(SUPPORT, 1.0), np.eye(4))], casts_shadow=False)
                for path in self._edges]

    def at(self, moment: Snapshot, view: View) -> Poses:
        points = self._scene.contacts(moment.q)
        t1, t2 = self._ground.tangents
        corners = _corners(points @ np.column_stack([t1, t2]))
        n = np.array(self._ground.normal)
        found: dict[str, np.ndarray | None] = dict.fromkeys(self._edges)
        for path, i, k in zip(self._edges, corners, np.roll(corners, -1)):
            along = points[k] - points[i]
            length = np.linalg.norm(along)
            if length > LINE * view.size:
                pose = np.eye(4)
                pose[:3, :3] = np.column_stack([along, np.cross(n, along / length), n])
                pose[:3, 3] = points[i] + 0.002 * view.size * n
                found[path] = pose
        return found


def _corners(points: np.ndarray) -> np.ndarray:
    """Indices of the corners of the hull of points (n, 2), in order; the ends of those on one
    line."""
    if len(points) < 3:
        return np.arange(len(points))
    try:
        return ConvexHull(points).vertices
    except QhullError:
        _, _, axes = np.linalg.svd(points - points.mean(axis=0))
        return np.argsort(points @ axes[0])[[0, -1]]


def _simple(shape: coal.CollisionGeometry) -> list[tuple[dict, np.ndarray]]:
    """As `convert`; the hull of a fine mesh."""
    if not isinstance(shape, coal.BVHModelBase) or shape.num_tris <= MOST:
        return convert(shape)
    vertices = np.array(shape.vertices())
    try:
        return [(mesh_geometry(vertices, ConvexHull(vertices).simplices), np.eye(4))]
    except QhullError:          # flat
        return convert(shape)


def _glass(colour: Colour, opacity: float = GLASS) -> dict:
    """A material that shows through what is before it."""
    return {"type": "MeshBasicMaterial", "color": rgb(colour), "side": 2, "transparent": True,
            "opacity": opacity, "depthTest": False, "depthWrite": False}
