"""Layers that can be switched on and off on the page: shapes, inertias, axes, names, centre of
mass, support."""

from __future__ import annotations

import coal
import numpy as np
import pinocchio as pin
from scipy.spatial import ConvexHull, QhullError

from ..vehicle.model import body_names, joint_axis
from ..vehicle.proportions import convex_hull
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
    kinds = CollisionShapes, Inertias, JointAxes, MassCentre, SupportPolygon, LinkNames
    return [kind(scene, scene.vehicle) for kind in kinds]


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
        """The objects drawn on a body, in its joint's frame."""
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


class LinkNames(_BodyLayer):
    """The name of the link that each joint moves."""

    name = "names"

    def __init__(self, scene: Scene, vehicle: Vehicle):
        super().__init__(scene, vehicle)
        names = body_names(vehicle.model)
        self.layer = Layer(self.name, (), labels={scene.paths[joint]: names[joint]
                                                  for joint in self._paths if joint > 0})


class _RootLayer(Overlay):
    """Objects that move little against the root's body, below which they lie on the page: while
    they rest there, nothing need be sent."""

    name = ""

    def __init__(self, scene: Scene, vehicle: Vehicle):
        self.vehicle, self._scene, self._data = vehicle, scene, vehicle.model.createData()
        self._axes = np.array([*vehicle.ground.tangents, vehicle.ground.normal])
        self._root = f"{scene.paths[1]}/{self.name.replace(' ', '_')}"
        self.layer = Layer(self.name, (self._root,))

    def at(self, moment: Snapshot, view: View) -> Poses:
        pin.forwardKinematics(self.vehicle.model, self._data, moment.q)
        back = self._data.oMi[1].inverse().homogeneous
        return {path: None if pose is None else back @ pose
                for path, pose in self.poses(moment.q, view).items()}

    def poses(self, q: np.ndarray, view: View) -> Poses:
        """The poses in W."""
        return {}


class MassCentre(_RootLayer):
    """The centre of mass of the whole vehicle, and its plumb line to the ground."""

    name = "centre of mass"

    def __init__(self, scene: Scene, vehicle: Vehicle):
        super().__init__(scene, vehicle)
        self._ball, self._line = f"{self._root}/ball", f"{self._root}/line"

    def objects(self, view: View) -> list[dict]:
        ball = convert(coal.Sphere(BALL * view.size))
        line = convert(coal.Cylinder(0.3 * BALL * view.size, 1.0))
        return [set_group(path, [(geometry, _glass(CENTRE, 1.0), turned)
                                 for geometry, turned in shape], casts_shadow=False)
                for path, shape in ((self._ball, ball), (self._line, line))]

    def poses(self, q: np.ndarray, view: View) -> Poses:
        centre = pin.centerOfMass(self.vehicle.model, self._data, q)
        t1, t2, n = self._axes
        height = float(n @ (centre - self.vehicle.ground.point))
        ball, line = np.eye(4), np.eye(4)
        ball[:3, 3] = centre
        line[:3] = np.column_stack([t1, t2, height * n, centre - 0.5 * height * n])
        return {self._ball: ball, self._line: line if height > BALL * view.size else None}


class SupportPolygon(_RootLayer):
    """The hull of the contacts: the vehicle stands while the plumb line ends inside."""

    name = "support polygon"

    def __init__(self, scene: Scene, vehicle: Vehicle):
        super().__init__(scene, vehicle)
        self._edges = [f"{self._root}/{i}" for i in range(len(vehicle.contacts))]

    def objects(self, view: View) -> list[dict]:
        shape = strip(LINE * view.size)
        return [set_group(path, [(shape, _glass(SUPPORT, 1.0), np.eye(4))], casts_shadow=False)
                for path in self._edges]

    def poses(self, q: np.ndarray, view: View) -> Poses:
        points, n = self._scene.contacts(q), self._axes[2]
        corners = points[convex_hull(points @ self._axes[:2].T)]
        along = np.roll(corners, -1, axis=0) - corners
        poses = np.zeros((len(corners), 4, 4))
        poses[:, :3, 0] = along
        lengths = np.maximum(np.linalg.norm(along, axis=1), 1e-9)
        poses[:, :3, 1] = along @ pin.skew(n).T / lengths[:, None]
        poses[:, :3, 2], poses[:, :3, 3] = n, corners + 0.002 * view.size * n
        poses[:, 3, 3] = 1.0
        drawn = list(poses) if len(corners) > 1 else []
        return dict(zip(self._edges, [*drawn, *[None] * (len(self._edges) - len(drawn))]))


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
    """A material that remains visible behind other objects."""
    return {"type": "MeshBasicMaterial", "color": rgb(colour), "side": 2, "transparent": True,
            "opacity": opacity, "depthTest": False, "depthWrite": False}
