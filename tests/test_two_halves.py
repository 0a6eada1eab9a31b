"""The two halves of the package check each other: accelerations from a description,
and from a Lagrangian written by hand."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from halves import (
    N,
    Placed,
    Rx,
    Ry,
    Rz,
    difference,
    numbers,
    origin,
    rigid_bodies,
    samples_of,
    slip,
)
from support import joint, link, robot, shipped

import nhmech
from nhmech.mechanics.writing import constrain
from nhmech.systems import (
    ball_on_turntable,
    car_with_trailers,
    carriage,
    chaplygin_ball,
    chaplygin_sleigh,
    differential_drive,
    falling_disc,
    roller_racer,
    rolling_ball,
    sled,
    snakeboard,
    two_wheeled_pendulum,
    unbalanced_ball,
)

TOLERANCE = 1e-10
LEFT, RIGHT = "left_wheel_joint", "right_wheel_joint"


def agrees(vehicle, example, place, torques=()) -> None:
    assert difference(vehicle, example.constrained, example.speeds, place,
                      torques=torques) <= TOLERANCE


def on_the_plane(p: Placed) -> tuple:
    return p.x, p.y, p.yaw


def two_wheels(vehicle) -> dict:
    """Wheel numbers by the names of `differential_drive` and `two_wheeled_pendulum`."""
    wheel = numbers(vehicle, "left_wheel")
    return dict(radius=vehicle.parameters[f"{LEFT}.radius"], half_track=origin(vehicle, LEFT)[1],
                wheel_mass=wheel.mass, spin_inertia=wheel.J[1, 1], wheel_inertia=wheel.J[0, 0])


# -- robots of this package ------------------------------------------------------------------------
def test_carriage():
    vehicle = shipped("carriage")
    body, w = numbers(vehicle, "base_link"), two_wheels(vehicle)
    m0, mw, l, r = body.mass, w["wheel_mass"], body.com[0], w["half_track"]
    total = body.J[2, 2] + m0 * l ** 2 + 2 * mw * r ** 2 + 2 * w["wheel_inertia"]
    example = carriage.example(m=m0 + 2 * mw, m0=m0, l=l, I=total, C=w["spin_inertia"],
                               a=w["radius"], r=r)
    # psi1 of the paper is on the right
    agrees(vehicle, example, lambda p: (*on_the_plane(p), -p.angle(RIGHT), -p.angle(LEFT)))


def test_differential_drive():
    vehicle = shipped("differential_drive")
    body = numbers(vehicle, "base_link")
    example = differential_drive.example(mass=body.mass, ahead=body.com[0], inertia=body.J[2, 2],
                                         **two_wheels(vehicle))
    agrees(vehicle, example, lambda p: (*on_the_plane(p), p.angle(LEFT), p.angle(RIGHT)),
           (LEFT, RIGHT))


def test_two_wheeled_pendulum():
    vehicle = shipped("pendulum")
    body = numbers(vehicle, "base_link")
    roll, pitch, yaw = np.diag(body.J)
    example = two_wheeled_pendulum.example(mass=body.mass, above=body.com[2], roll_inertia=roll,
                                           pitch_inertia=pitch,
                                           yaw_inertia=yaw, **two_wheels(vehicle))
    agrees(vehicle, example, lambda p: (*on_the_plane(p), p.pitch, p.angle(LEFT), p.angle(RIGHT)),
           (LEFT, RIGHT))


def test_sleigh():
    vehicle = shipped("sled")
    body = numbers(vehicle, "sled")
    agrees(vehicle, chaplygin_sleigh.example(m=body.mass, I=body.J[2, 2], a=body.com[0]),
           on_the_plane)


# seen from its body nothing about this sled changes
@pytest.mark.parametrize("fibration", ["x", "y"])
def test_knife_edge_sled(fibration):
    vehicle = shipped("sled").with_parameters({"sled.com_x": 0.0})
    body = numbers(vehicle, "sled")
    agrees(vehicle, sled.example(m=body.mass, J=body.J[2, 2], fibration=fibration), on_the_plane)


def test_disc():
    """Coordinates of the Lagrangian are those of the contact, at C - r (n - a (a.n)) / |...| for
    the axle a."""
    vehicle = shipped("disc")
    body, radius = numbers(vehicle, "disc"), vehicle.parameters["spin_joint.radius"]

    def place(p: Placed) -> tuple:
        axle = p.R[:, 1]
        contact = ca.vertcat(p.x, p.y,
                             p.z) - radius * (N - axle * axle[2]) / ca.sqrt(1 - axle[2] ** 2)
        return contact[0], contact[1], p.yaw, p.roll, p.angle("spin_joint") + p.pitch

    agrees(vehicle, falling_disc.example(m=body.mass, r=radius, A=body.J[0, 0], C=body.J[1, 1]),
           place)


def with_attitude(p: Placed) -> tuple:
    return p.x, p.y, p.quaternion


def test_homogeneous_ball_under_a_force():
    vehicle = shipped("ball").with_wrench("ball")
    body, radius, force = numbers(vehicle,
                                  "ball"), vehicle.parameters["ball.radius"], np.array([0.4, -0.3])
    # the Lagrangian has unit mass
    fx, fy = force / body.mass
    example = rolling_ball.with_attitude(r=radius, k2=body.J[0, 0] / body.mass, fx=fx, fy=fy)
    efforts = {"ball.fx": force[0], "ball.fy": force[1]}
    assert difference(vehicle, example.constrained, example.speeds, with_attitude,
                      efforts=efforts) <= TOLERANCE


def test_chaplygin_ball():
    vehicle = shipped("ball").with_parameters({"ball.Ixx": 0.0006, "ball.Iyy": 0.0008,
                                               "ball.Izz": 0.0011})
    body = numbers(vehicle, "ball")
    agrees(vehicle, chaplygin_ball.example(m=body.mass, r=vehicle.parameters["ball.radius"],
                                           I=np.diag(body.J)),
           with_attitude)


def test_unbalanced_ball():
    vehicle = shipped("ball").with_parameters({"ball.com_z": 0.02, "ball.Ixx": 0.0006,
                                               "ball.Iyy": 0.0008})
    body = numbers(vehicle, "ball")
    example = unbalanced_ball.example(m=body.mass, r=vehicle.parameters["ball.radius"],
                                      c=body.com[2], I=np.diag(body.J))
    agrees(vehicle, example, with_attitude)


def test_ball_on_a_turntable():
    rate = 2.3
    vehicle = shipped("ball", nhmech.Ground(angular_velocity=(0, 0, rate)))
    body = numbers(vehicle, "ball")
    example = ball_on_turntable.example(m=body.mass, r=vehicle.parameters["ball.radius"],
                                        I=body.J[0, 0], Omega=rate)
    agrees(vehicle, example, with_attitude)


def test_bicycle():
    """Nine coordinates: centre of the rear wheel, yaw, roll, pitch of the rear frame, steering,
    both wheels. Steering axis Ry(tilt) e_z."""
    vehicle = shipped("bicycle")
    kingpin, front = origin(vehicle, "steering_joint"), origin(vehicle, "front_wheel_joint")
    tilt, names = -np.pi / 10, ("x", "y", "z", "yaw", "roll", "pitch", "steer", "rear", "front")

    def frames(q):
        p, R = ca.vertcat(q.x, q.y, q.z), Rz(q.yaw) @ Rx(q.roll) @ Ry(q.pitch)
        fork = R @ Ry(tilt) @ Rz(q.steer) @ Ry(-tilt)
        root = p + R @ kingpin
        return {"rear_frame": (p, R), "rear_wheel": (p, R @ Ry(q.rear)),
                "front_frame": (root, fork),
                "front_wheel": (root + fork @ front, fork @ Ry(q.front))}

    def height(wheel: str, radius: float):
        def phi(s):
            C, R = frames(s.q)[wheel]
            return C[2] - radius * ca.sqrt(1 - R[2, 1] ** 2)
        return phi

    def place(p: Placed) -> tuple:
        return (p.x, p.y, p.z, p.yaw, p.roll, p.pitch, p.angle("steering_joint"),
                p.angle("rear_wheel_joint"), p.angle("front_wheel_joint"))

    radii = {wheel: vehicle.parameters[f"{wheel}_joint.radius"]
             for wheel in ("rear_wheel", "front_wheel")}
    rows = {f"{wheel}_{k}": slip(frames, wheel, wheel, r, lambda R, k=k: ca.DM.eye(3)[:, k])
            for wheel, r in radii.items() for k in (0, 1)}
    system = rigid_bodies(vehicle, names, frames, {"rear": "rear", "steer": "steer"})
    heights = {wheel: height(wheel, r) for wheel, r in radii.items()}
    constrained = constrain(system, rows=rows, holonomic=heights,
                            samples=samples_of(vehicle, place))
    torques = ("rear_wheel_joint", "steering_joint")
    assert difference(vehicle, constrained, ("roll'", "steer'", "rear'"), place,
                      torques=torques) <= TOLERANCE


def test_tractor_with_two_trailers():
    """Fifteen coordinates in the plane, eight rolling wheels, and Ackermann steering as a holonomic
    condition."""
    vehicle = shipped("trailers")
    mounts = {side: origin(vehicle, f"front_{side}_steering_joint") for side in ("left", "right")}
    carriers = {f"{axle}_{side}_wheel": {"rear": "base_link",
                                         "front": f"front_{side}_knuckle"}.get(axle, axle)
                for axle in ("rear", "front", "trailer_1",
                             "trailer_2") for side in ("left", "right")}
    names = ("x", "y", "yaw", "steer_left", "steer_right", "hitch_1", "hitch_2", *carriers)
    radius = vehicle.parameters["rear_left_wheel_joint.radius"]

    def frames(q):
        p, R = ca.vertcat(q.x, q.y, radius), Rz(q.yaw)
        found = {"base_link": (p, R)}
        for side, at in mounts.items():
            found[f"front_{side}_knuckle"] = p + R @ at, R @ Rz(vars(q)[f"steer_{side}"])
        for k, before in ((1, "base_link"), (2, "trailer_1")):
            hitch = found[before][0] + found[before][1] @ origin(vehicle, f"hitch_{k}_joint")
            found[f"trailer_{k}"] = hitch, found[before][1] @ Rz(vars(q)[f"hitch_{k}"])
        for wheel, carrier in carriers.items():
            p, R = found[carrier]
            found[wheel] = p + R @ origin(vehicle, f"{wheel}_joint"), R @ Ry(vars(q)[wheel])
        return found

    def ackermann(s):
        """Both knuckles' normals meet the rear axle at one distance d: tan(steer) = L / (d - y)."""
        left, right = s.q.steer_left, s.q.steer_right
        (L, y_l, _), (_, y_r, _) = mounts["left"], mounts["right"]
        return (ca.sin(left) * (L * ca.cos(right) + y_r * ca.sin(right))
                - ca.sin(right) * (L * ca.cos(left) + y_l * ca.sin(left)))

    rows = {f"{wheel}_rolls": slip(frames, wheel, carrier, radius, lambda R: R[:, 0])
            for wheel, carrier in carriers.items()}
    # the right ones repeat them
    left = {wheel: carrier for wheel, carrier in carriers.items() if "left" in wheel}
    rows |= {f"{wheel}_lateral": slip(frames, wheel, carrier, radius, lambda R: R[:, 1])
             for wheel, carrier in left.items()}

    def place(p: Placed) -> tuple:
        joints = [*(f"front_{side}_steering" for side in mounts), "hitch_1", "hitch_2", *carriers]
        return (*on_the_plane(p), *[p.angle(f"{name}_joint") for name in joints])

    inputs = {"left": "rear_left_wheel", "right": "rear_right_wheel", "steer": "steer_left"}
    system = rigid_bodies(vehicle, names, frames, inputs)
    constrained = constrain(system, rows=rows, holonomic={"ackermann": ackermann},
                            samples=samples_of(vehicle, place))
    assert difference(vehicle, constrained, ("steer_left'", "rear_left_wheel'"), place, torques=(
        "rear_left_wheel_joint", "rear_right_wheel_joint",
        "front_left_steering_joint")) <= TOLERANCE


# -- robots written for this test: wheels without mass, so that they are the planar
# systems of the literature --------------
R = 0.05        # of those wheels [m]


def axle(parent: str, name: str, ahead: float, half_track: float) -> tuple[list[str], str]:
    """Two wheels without mass (one where the track is zero) on an axle `ahead` of
    the parent's origin, and their tags."""
    parts, tags = [], ""
    for left in sorted({half_track, -half_track}):
        wheel = f"{name}_{'left' if left > 0 else 'right'}" if half_track else name
        parts += [f'<link name="{wheel}_wheel"/>',
                  joint(f"{wheel}_wheel_joint", parent, f"{wheel}_wheel",
                                                         (ahead, left, 0))]
        tags += f'<wheel joint="{wheel}_wheel_joint" kind="disc" radius="{R}"/>'
    return parts, tags


def ball_under(link_name: str, ahead: float) -> str:
    return (
        f'<wheel link="{link_name}" kind="caster_ball" radius="0.02" point="{ahead} 0 {0.02 - R}"/>'
    )


def revolute(name: str, parent: str, child: str, xyz, driven: bool = True) -> tuple[str, str]:
    """A vertical joint, and the tag that frees it or drives it."""
    text = joint(name, parent, child, xyz, axis=(0, 0, 1))
    return text, (f'<drive joint="{name}"/>' if driven else "") + f'<free joint="{name}"/>'


def test_roller_racer():
    d1, d2, m1, I1, m2, I2 = 0.35, 0.12, 2.0, 0.08, 0.3, 0.01
    rear, rear_tags = axle("rear", "rear", 0, 0.1)
    front, front_tags = axle("front", "front", d2, 0.08)
    hinge, drive = revolute("handlebar", "rear", "front", (d1, 0, 0))
    text = robot(link("rear", m1, (0.1, 0.1, I1)), *rear,
                 link("front", m2, (0.01, 0.01, I2), (d2, 0, 0)), *front,
                 hinge, f"<nhmech>{rear_tags}{front_tags}{ball_under('rear', 0.2)}{drive}</nhmech>")
    vehicle = nhmech.load(text)
    example = roller_racer.example(d1=d1, d2=d2, m1=m1, I1=I1, m2=m2, I2=I2)
    agrees(vehicle, example, lambda p: (*on_the_plane(p), p.angle("handlebar")), ("handlebar",))


def test_snakeboard():
    """Trucks that steer independently; their mass sits at the distance r."""
    r, m_board, J_board, J0, m_truck, J1, m_rotor = 0.2, 2.0, 0.05, 0.06, 0.4, 0.005, 0.7
    parts = [link("board", m_board, (0.05, 0.05, J_board)),
             link("rotor", m_rotor, (0.04, 0.04, J0))]
    tags = ball_under("board", 0.3)
    hub, drive = revolute("rotor_joint", "board", "rotor", (0, 0, 0.05))
    parts, tags = [*parts, hub], tags + drive
    for name, ahead in (("back", -r), ("front", r)):
        wheels, wheel_tags = axle(name, name, 0, 0.06)
        pin, drive = revolute(f"{name}_truck", "board", name, (ahead, 0, 0))
        parts += [link(name, m_truck, (0.01, 0.01, J1)), *wheels, pin]
        tags += wheel_tags + drive
    vehicle = nhmech.load(robot(*parts, f"<nhmech>{tags}</nhmech>"))
    example = snakeboard.example("independent", m=m_board + m_rotor + 2 * m_truck,
                                 J=J_board + 2 * m_truck * r ** 2, J0=J0, J1=J1, r=r)
    joints = ("rotor_joint", "back_truck", "front_truck")
    agrees(vehicle, example, lambda p: (*on_the_plane(p), *[p.angle(name) for name in joints]),
           joints)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_car_with_trailers(n):
    car, trailer = car_with_trailers.CAR, car_with_trailers.TRAILER
    parts, tags = axle("car", "rear", 0, 0.4)
    tags += '<drive joint="rear_left_wheel_joint"/><drive joint="rear_right_wheel_joint"/>'
    front, front_tags = axle("fork", "front", 0, 0)
    pin, drive = revolute("steering", "car", "fork", (car["wheelbase"], 0, 0))
    # on the kingpin; the rest of the car's mass and inertia on its link
    fork_mass = 5.0
    mass = car["mass"] - fork_mass
    ahead = (car["mass"] * car["ahead"] - fork_mass * car["wheelbase"]) / mass
    inertia = (
        car["inertia"]
        - mass * (ahead - car["ahead"]) ** 2
        - fork_mass * (car["wheelbase"] - car["ahead"]) ** 2
    )
    fork = link("fork", fork_mass, (0.8, 0.8, car["steering_inertia"]))
    parts += [link("car", mass, (inertia, inertia, inertia), (ahead, 0, 0)), fork, *front, pin]
    tags += front_tags + drive
    before, behind, chain = "car", 0.0, []
    for i in range(1, n + 1):
        name, off = f"trailer_{i}", 0.0 if i == 1 else trailer["behind"]
        wheels, wheel_tags = axle(name, name, -trailer["drawbar"], 0.4)
        pin, _ = revolute(f"hitch_{i}", before, name, (-behind - off, 0, 0), driven=False)
        parts += [link(name, trailer["mass"], (trailer["inertia"],) * 3,
                       (trailer["ahead"] - trailer["drawbar"], 0, 0)),
                  *wheels, pin]
        tags += wheel_tags + f'<free joint="hitch_{i}"/>'
        before, behind = name, trailer["drawbar"]
        chain.append(f"hitch_{i}")
    vehicle = nhmech.load(robot(*parts, f"<nhmech>{tags}</nhmech>"))
    agrees(vehicle, car_with_trailers.example(n), lambda p: (*on_the_plane(p), p.angle("steering"),
                                                             *[p.angle(name) for name in chain]),
           ({"rear_left_wheel_joint": R / 2, "rear_right_wheel_joint": R / 2}, "steering"))
