"""One contract for every kind of wheel in the catalogue, on every mounting and every ground.

The reference is geometry alone: the lowest point of the wheel is searched on its surface, the
velocity of its material is a central difference of that material point's position under
`pinocchio.integrate`. A kind that joins the catalogue is tested without a change here: its surface
is what its profile says, and it has to be the surface that its profile's normals belong to.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import brentq
from support import joint, kinematics, link, robot

import nhmech
from nhmech.urdf.wheel import KINDS

R, CROWN, ROLLER = 0.31, 0.07, 0.6
POINT, LATERAL = (0.3, 0.05, -0.2), (0.1, 0.97, 0.2)          # of the blade, in its link

FIELDS = {"radius": R, "crown": CROWN, "roller_angle": ROLLER, "point": POINT, "axis": LATERAL}


def wheels_of(kind: str):
    """(name, wheel) of a kind: fixed to a link if it needs no axle, on a joint if it may roll."""
    needed = {what: FIELDS[what] for what in KINDS[kind].needed}
    if KINDS[kind].is_ball or "joint" in KINDS[kind].refused:
        yield kind, nhmech.Wheel(None, kind, link="wheel", **needed)
    if "joint" not in KINDS[kind].refused:
        name = f"{kind} on an axle" if KINDS[kind].is_ball else kind
        yield name, nhmech.Wheel("wheel_joint", kind, **needed)


WHEELS = dict(pair for kind in KINDS for pair in wheels_of(kind))
# (distance from the axle, position along it) of the outline, by the angle of its normal against the
# wheel's middle plane
OUTLINES = {"torus": lambda s: (R - CROWN + CROWN * np.cos(s), -CROWN * np.sin(s)),
            **dict.fromkeys(("disc", "omni", "mecanum"), lambda s: (R, 0 * s)),
            **dict.fromkeys(("sphere", "caster_ball"), lambda s: (R * np.cos(s), -R * np.sin(s)))}
# where the wheel hangs: on a free base; below a raked fork, its axle off the fork's axis and
# cambered
MOUNTS = {"free base": dict(xyz=(0.2, -0.1, -0.3)),
          "steered": dict(xyz=(0.08, 0.02, -0.4), rpy=(0.15, 0, 0.1))}
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
    free = ("steering_joint",) if mount == "steered" else ()
    return nhmech.load(robot(*parts), wheels=[given], ground=GROUNDS[ground], free=free)


def lowest(n, a, b) -> np.ndarray:
    """The unit vector cos(s) a + sin(s) b that points down most, by search on the circle."""
    grid = np.linspace(0, 2 * np.pi, 49)
    start = grid[np.argmin([n @ (np.cos(s) * a + np.sin(s) * b) for s in grid])]
    s = brentq(lambda s: n @ (np.cos(s) * b - np.sin(s) * a), start - 0.2, start + 0.2, xtol=1e-15)
    return np.cos(s) * a + np.sin(s) * b


def outline(wheel, s) -> np.ndarray:
    if wheel.kind in OUTLINES:
        return np.array(OUTLINES[wheel.kind](s))
    profile = KINDS[wheel.kind].profile
    flat, crown = profile(np.cos(s), np.sin(s), wheel.radius, wheel.crown)
    return np.array([flat + crown * np.cos(s), -crown * np.sin(s)])


def lowest_of_outline(wheel, n, down, axle) -> np.ndarray:
    """K - C, by search along the outline, whose slope is a complex step's."""
    slopes = np.array([n @ down, n @ axle])
    grid = np.linspace(-1.5, 1.5, 49)
    start = grid[np.argmin([slopes @ outline(wheel, s) for s in grid])]
    s = brentq(lambda s: slopes @ outline(wheel, s + 1e-30j).imag, start - 0.1, start + 0.1,
               xtol=1e-15)
    radial, axial = outline(wheel, s)
    return radial * down + axial * axle


class Geometry:
    """The wheel as a surface that moves with its link, and the ground below it at time t;
    knows nothing of the package's formulas."""

    def __init__(self, vehicle, t: float):
        self.vehicle, self.wheel, ground = vehicle, vehicle.description.wheels[0], vehicle.ground
        self.n, self.tangents, self.spin = (np.array(ground.normal), ground.tangents,
                                            np.array(ground.angular_velocity))
        self.velocity = np.array(ground.velocity)
        self.origin = np.array(ground.point) + self.velocity * t
        self.frame = vehicle.model.getFrameId("wheel", pin.FrameType.BODY)

    def place(self, q) -> pin.SE3:
        """X_WL of the wheel's link."""
        return pin.updateFramePlacement(self.vehicle.model, kinematics(self.vehicle, q),
                                        self.frame).copy()

    def axle(self, q) -> np.ndarray:
        """In W; of a blade its lateral direction."""
        axis = LATERAL if not self.wheel.radius else (0.0, 1.0, 0.0)
        return self.place(q).rotation @ np.array(axis) / np.linalg.norm(axis)

    def contact(self, q) -> np.ndarray:
        """p_WK: the lowest point of the wheel."""
        X = self.place(q)
        if not self.wheel.radius:
            return X.act(np.array(POINT))
        ahead, axle, up = X.rotation.T
        down = lowest(self.n, ahead, up)
        return X.translation + lowest_of_outline(self.wheel, self.n, down, axle)

    def height(self, q) -> float:
        return float(self.n @ (self.contact(q) - self.origin))

    def ground_at(self, p) -> np.ndarray:
        """Velocity of the ground's material at p."""
        return self.velocity + np.cross(self.spin, p - self.origin)

    def direction(self, q, name: str) -> np.ndarray:
        """What a row of that name holds still, in W."""
        if name == "normal":
            return self.n
        if self.wheel.axis is None:
            return self.tangents[0 if name == "longitudinal" else 1]
        axle = self.axle(q)
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
# the ground that has everything, and the others in turn; `make soak` has them all
CHOSEN = [rig for k, rig in enumerate(RIGS)
          if rig[2] == "tilted, moving" or (k // len(GROUNDS) + k) % (len(GROUNDS) - 1) == 0]
contract = pytest.mark.parametrize("wheel, mount, ground", [
    pytest.param(*rig, id=", ".join(rig), marks=() if rig in CHOSEN else pytest.mark.soak)
    for rig in RIGS])


def random_poses(vehicle, count: int, seed: int):
    """q anywhere in space, off the ground too, the axle at least 12 degrees away from the normal;
    and v."""
    rng = np.random.default_rng(seed)
    geometry = Geometry(vehicle, 0.0)
    while count:
        q = pin.integrate(vehicle.model, pin.neutral(vehicle.model),
                          rng.normal(size=vehicle.model.nv) * 1.5)
        if np.linalg.norm(np.cross(geometry.axle(q), geometry.n)) > 0.2:
            count -= 1
            yield q, rng.normal(size=vehicle.model.nv)


@pytest.mark.parametrize("wheel", WHEELS)
def test_fields_of_a_kind(wheel):
    """What a kind needs cannot be left out, and what means nothing for it is refused."""
    given, traits = WHEELS[wheel], KINDS[WHEELS[wheel].kind]
    empty = {"radius": 0.0, "crown": 0.0}
    for what in traits.needed:
        with pytest.raises(nhmech.errors.InputError, match=f"needs {what}="):
            replace(given, **{what: empty.get(what)})
    for what in traits.refused:
        with pytest.raises(nhmech.errors.InputError, match=f"{what}=.* has no meaning for kind"):
            replace(given, **{what: FIELDS.get(what, "wheel_joint")})
    assert eval(repr(given), {"Wheel": nhmech.Wheel}) == given


@pytest.mark.parametrize("angle, radians", [(45, "0.7853982"), (-135.0, "-2.356194")])
def test_degrees_are_no_roller_angle(angle, radians):
    """45 rad would roll as 58 degrees do."""
    with pytest.raises(nhmech.errors.InputError, match=f"degrees were meant: {radians}$"):
        nhmech.Wheel("wheel_joint", "mecanum", R, roller_angle=angle)


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
    held = ("normal", *KINDS[WHEELS[wheel].kind].held)
    assert vehicle.constrained.distribution.names == tuple(f"{WHEELS[wheel].name}/{direction}"
                                                           for direction in held)
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
        ends = [Geometry(vehicle, T + s * H).height(pin.integrate(vehicle.model, q, s * H * v))
                for s in (1, -1)]
        assert row == pytest.approx((ends[0] - ends[1]) / (2 * H), rel=0, abs=1e-7)


@contract
def test_gamma_is_the_rate_of_the_rows(wheel, mount, ground):
    """gamma = (dA/dt) v + db/dt with v held: the migration of the contact point along the wheel is
    in it."""
    vehicle = rig(wheel, mount, ground)
    for q, v in random_poses(vehicle, 4, 4):
        gamma = vehicle.functions.gamma(T, q, v, vehicle.theta).full().ravel()
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


@pytest.mark.parametrize("size", [0.3, 7.0])
def test_an_axle_has_no_length(size):
    """The lateral direction of a blade of a link: a row in m/s whatever its axis is written as."""
    plain = nhmech.load(nhmech.urdf_path("sled"))
    wheels = [replace(w, axis=tuple(size * x for x in w.axis)) if w.axis else w
              for w in plain.description.wheels]
    vehicle = nhmech.load(nhmech.urdf_path("sled"), wheels=wheels)
    q = plain.configuration((0.1, 0.2, 0.3))
    assert vehicle.constraint_matrix(q) == pytest.approx(plain.constraint_matrix(q), abs=1e-15)
