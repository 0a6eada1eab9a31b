"""One contract for every kind of wheel, on every mounting and every ground.

The reference is geometry alone: the lowest point of the wheel is searched on its surface, the
velocity of its material is a central difference of that material point's position under
`pinocchio.integrate`.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import brentq
from support import joint, kinematics, link, robot

import nhmech
from nhmech.urdf.wheel import KINDS
from nhmech.vehicle.contact import HELD

R, CROWN, ROLLER = 0.31, 0.07, 0.6
POINT, LATERAL = (0.3, 0.05, -0.2), (0.1, 0.97, 0.2)          # of the blade, in its link

WHEELS = {
    "disc": nhmech.Wheel("wheel_joint", "disc", R),
    "torus": nhmech.Wheel("wheel_joint", "torus", R, crown=CROWN),
    "sphere": nhmech.Wheel(None, "sphere", R, link="wheel"),
    "sphere on an axle": nhmech.Wheel("wheel_joint", "sphere", R),
    "caster_ball": nhmech.Wheel(None, "caster_ball", R, link="wheel"),
    "omni": nhmech.Wheel("wheel_joint", "omni", R),
    "mecanum": nhmech.Wheel("wheel_joint", "mecanum", R, roller_angle=ROLLER),
    "blade": nhmech.Wheel(None, "blade", link="wheel", point=POINT, axis=LATERAL),
}
# where the wheel hangs: on a free base; below a raked fork, its axle off the fork's axis and
# cambered
MOUNTS = {
    "free base": dict(xyz=(0.2, -0.1, -0.3)),
    "steered": dict(xyz=(0.08, 0.02, -0.4), rpy=(0.15, 0, 0.1)),
}
GROUNDS = {
    "level": nhmech.Ground(),
    "tilted": nhmech.Ground(normal=(0.3, -0.2, 0.9), point=(0.4, 0.1, -0.2)),
    "moving": nhmech.Ground(point=(0.4, 0.1, -0.2), velocity=(0.5, -0.3, 0.2),
                            angular_velocity=(0, 0, 1.7)),
    "tilted, moving": nhmech.Ground(normal=(0.0, 0.6, 0.8), point=(0.4, 0.1, -0.2),
                                    velocity=(0.5, -0.3, 0.2), angular_velocity=(0, 0.9, 1.2)),
}
T = 0.7          # [s] on moving ground the rows depend on time
H = 1e-5         # [s] step of the central differences


@cache
def rig(wheel: str, mount: str, ground: str):
    given = WHEELS[wheel]
    parts = [link("base_link", 5.0)]
    parent = "base_link"
    if mount == "steered":
        limit = '<limit lower="-1.2" upper="1.2" effort="9" velocity="9"/>'
        parts += [link("fork"), joint("steering_joint", "base_link", "fork", (0.5, 0.0, 0.1),
                                      (0, -0.3, 0), (0, 0, 1), "revolute", limit)]
        parent = "fork"
    rolls = given.joint is not None
    parts += [link("wheel"), joint("wheel_joint", parent, "wheel",
                                   kind="continuous" if rolls else "fixed", **MOUNTS[mount])]
    free = ("steering_joint",) if mount == "steered" and not rolls else ()
    return nhmech.load(robot(*parts), wheels=[given], ground=GROUNDS[ground], free=free)


def lowest(n, a, b) -> np.ndarray:
    """The unit vector cos(s) a + sin(s) b that points down most, by search on the circle."""
    grid = np.linspace(0, 2 * np.pi, 49)
    start = grid[np.argmin([n @ (np.cos(s) * a + np.sin(s) * b) for s in grid])]
    s = brentq(lambda s: n @ (np.cos(s) * b - np.sin(s) * a), start - 0.2, start + 0.2, xtol=1e-15)
    return np.cos(s) * a + np.sin(s) * b


class Geometry:
    """The wheel as a surface that moves with its link, and the ground below it at time t;
    knows nothing of the package's formulas."""

    def __init__(self, vehicle, t: float):
        self.vehicle, self.wheel, ground = vehicle, vehicle.description.wheels[0], vehicle.ground
        self.n, self.tangents, self.spin = (
            np.array(ground.normal), ground.tangents, np.array(ground.angular_velocity),
        )
        self.velocity = np.array(ground.velocity)
        self.origin = np.array(ground.point) + self.velocity * t
        self.frame = vehicle.model.getFrameId("wheel", pin.FrameType.BODY)

    def place(self, q) -> pin.SE3:
        """X_WL of the wheel's link."""
        return pin.updateFramePlacement(self.vehicle.model, kinematics(self.vehicle, q),
                                        self.frame).copy()

    def contact(self, q) -> np.ndarray:
        """p_WK: the lowest point of the wheel."""
        X, n, kind = self.place(q), self.n, self.wheel.kind
        if kind == "blade":
            return X.act(np.array(POINT))
        ahead, axle, up = X.rotation.T
        down = lowest(n, ahead, up)
        if kind in ("sphere", "caster_ball"):
            return X.translation + R * lowest(n, down, axle)
        return (
            X.translation + (R - self.wheel.crown) * down + self.wheel.crown * lowest(n, down, axle)
        )

    def height(self, q) -> float:
        return float(self.n @ (self.contact(q) - self.origin))

    def ground_at(self, p) -> np.ndarray:
        """Velocity of the ground's material at p."""
        return self.velocity + np.cross(self.spin, p - self.origin)

    def direction(self, q, name: str) -> np.ndarray:
        """What a row of that name holds still, in W."""
        if name == "normal":
            return self.n
        axis = np.array(LATERAL) if self.wheel.kind == "blade" else np.array([0.0, 1.0, 0.0])
        axle = self.place(q).rotation @ axis
        if self.wheel.kind == "sphere" and self.wheel.joint is None:
            return self.tangents[0 if name == "longitudinal" else 1]
        lateral = axle - self.n * (self.n @ axle)
        lateral /= np.linalg.norm(lateral)
        ahead = np.cross(lateral, self.n)
        return {"lateral": lateral, "longitudinal": ahead,
                "roller": np.sin(ROLLER) * ahead + np.cos(ROLLER) * lateral}[name]

    def slip(self, q, v) -> np.ndarray:
        """Velocity (3,) of the wheel's material point that is at K now, relative to the ground,
        by central differences."""
        K = self.contact(q)
        material = self.place(q).actInv(K)
        ends = [self.place(pin.integrate(self.vehicle.model, q,
                                         s * H * v)).act(material) for s in (1, -1)]
        return (ends[0] - ends[1]) / (2 * H) - self.ground_at(K)


RIGS = [(wheel, mount, ground) for wheel in WHEELS for mount in MOUNTS for ground in GROUNDS]
contract = pytest.mark.parametrize("wheel, mount, ground", RIGS, ids=[", ".join(r) for r in RIGS])


def random_poses(vehicle, count: int, seed: int):
    """q anywhere in space, off the ground too, the axle at least 12 degrees away from the normal;
    and v."""
    rng = np.random.default_rng(seed)
    geometry = Geometry(vehicle, 0.0)
    while count:
        q = pin.integrate(vehicle.model, pin.neutral(vehicle.model),
                          rng.normal(size=vehicle.model.nv) * 1.5)
        blade = vehicle.description.wheels[0].kind == "blade"
        axle = geometry.place(q).rotation @ np.array(LATERAL if blade else [0, 1, 0])
        if np.linalg.norm(np.cross(axle, geometry.n)) > 0.2:
            count -= 1
            yield q, rng.normal(size=vehicle.model.nv)


def test_every_kind_is_here():
    assert {wheel.kind for wheel in WHEELS.values()} == set(KINDS) == set(HELD)


@contract
def test_contact_point_and_height(wheel, mount, ground):
    vehicle = rig(wheel, mount, ground)
    geometry = Geometry(vehicle, T)
    for q, _ in random_poses(vehicle, 4, 1):
        assert vehicle.contact_points(q,
                                      T)[0] == pytest.approx(geometry.contact(q), rel=0, abs=1e-12)
        phi = vehicle.constraint_error(T, q, np.zeros(vehicle.model.nv))[1]
        assert phi == pytest.approx([geometry.height(q)], rel=0, abs=1e-12)


@contract
def test_rows_are_the_velocity_of_the_material_point(wheel, mount, ground):
    vehicle = rig(wheel, mount, ground)
    geometry = Geometry(vehicle, T)
    held = ("normal", *HELD[WHEELS[wheel].kind])
    assert vehicle.constrained.distribution.names == tuple(
        f"{WHEELS[wheel].name}/{direction}" for direction in held
    )
    for q, v in random_poses(vehicle, 4, 2):
        rows, _ = vehicle.constraint_error(T, q, v)
        slip = geometry.slip(q, v)
        assert rows == pytest.approx([slip @ geometry.direction(q, d) for d in held], rel=0,
                                     abs=1e-7)
        for d, seen in vehicle.contact_directions(q, T)[0].items():
            assert seen == pytest.approx(geometry.direction(q, d), rel=0, abs=1e-12)


@contract
def test_normal_row_is_the_gradient_of_the_height(wheel, mount, ground):
    vehicle = rig(wheel, mount, ground)
    for q, v in random_poses(vehicle, 4, 3):
        row = vehicle.constraint_error(T, q, v)[0][0]
        ends = [
            Geometry(vehicle, T + s * H).height(pin.integrate(vehicle.model, q, s * H * v))
            for s in (1, -1)
        ]
        assert row == pytest.approx((ends[0] - ends[1]) / (2 * H), rel=0, abs=1e-7)


@contract
def test_gamma_is_the_rate_of_the_rows(wheel, mount, ground):
    """gamma = (dA/dt) v + db/dt with v held: the migration of the contact point along the wheel is
    in it."""
    vehicle = rig(wheel, mount, ground)
    for q, v in random_poses(vehicle, 4, 4):
        gamma = vehicle.function("gamma")(T, q, v, vehicle.theta).full().ravel()
        ends = [vehicle.constraint_error(T + s * H, pin.integrate(vehicle.model, q, s * H * v),
                                         v)[0] for s in (1, -1)]
        assert gamma == pytest.approx((ends[0] - ends[1]) / (2 * H), rel=1e-7, abs=1e-7)


@contract
def test_placement_stands_on_the_geometry(wheel, mount, ground):
    """A leaning pose is moved along the normal only, and then the lowest point of the wheel is on
    the ground."""
    vehicle = rig(wheel, mount, ground)
    pose = (0.3, -0.4, 1.0, 0.25, 0.1, 0.8)
    q = vehicle.configuration(pose, {"steering_joint": 0.3} if mount == "steered" else {})
    assert abs(Geometry(vehicle, 0.0).height(q)) <= 1e-12
    R_WB = (
        pin.rpy.rpyToMatrix(0, 0, 0.8)
        @ pin.rpy.rpyToMatrix(0.25, 0, 0)
        @ pin.rpy.rpyToMatrix(0, 0.1, 0)
    )
    assert pin.Quaternion(q[3:7]).toRotationMatrix() == pytest.approx(R_WB, rel=0, abs=1e-12)
    assert np.cross(q[:3] - pose[:3],
                    vehicle.ground.normal) == pytest.approx(np.zeros(3), abs=1e-12)


def test_a_free_wheel_spinning_above_its_contact_keeps_its_hub():
    """A point-contact model that pins the material point would give the hub -r omega^2; here it
    does not accelerate."""
    vehicle = rig("disc", "free base", "level")
    q = vehicle.configuration((0, 0, 0))
    v = np.zeros(vehicle.model.nv)
    v[vehicle.model.joints[vehicle.model.getJointId("wheel_joint")].idx_v] = 11.0
    forward = vehicle.constrained.distribution.names.index("wheel_joint/longitudinal")
    gamma = vehicle.function("gamma")(0.0, q, v, vehicle.theta).full().ravel()
    assert np.abs(gamma).max() <= 1e-12
    assert vehicle.constraint_error(0.0, q, v)[0][forward] == pytest.approx(-11.0 * R, abs=1e-13)
