"""What 26 real robots are: their wheels, radii [m] and mobility, written down from
the URDFs and from the robots themselves.

`wheels` maps the joint (or, for a contact fixed to a link, the link) to (kind, radius). `nxi` is
the number of independent speeds: the dimension of the velocities that ideal rolling leaves,
swivelling joints included. A robot whose file does not say enough is refused: `refused` is a part
of the message, `arguments` is what makes it load.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi

from nhmech.urdf.wheel import Wheel


@dataclass(frozen=True)
class Robot:
    """One row of the table."""

    file: str
    wheels: dict[str, tuple[str, float]]
    nxi: int
    steering: tuple[str, ...] = ()
    driven: tuple[str, ...] | None = None
    refused: str | None = None
    arguments: dict = field(default_factory=dict)


def discs(radius: float, *names: str) -> dict[str, tuple[str, float]]:
    return {name: ("disc", radius) for name in names}


def balls(radius: float, *names: str) -> dict[str, tuple[str, float]]:
    return {name: ("caster_ball", radius) for name in names}


CORNERS = ("front_left_wheel_joint", "front_right_wheel_joint", "rear_left_wheel_joint",
           "rear_right_wheel_joint")


def mecanum(radius: float) -> list[Wheel]:
    """The usual assembly: seen from above, the rollers that touch make a diamond,
    so that left front and right rear push alike."""
    angles = (-pi / 4, pi / 4, pi / 4, -pi / 4)
    return [Wheel(name, "mecanum", radius, roller_angle=angle)
            for name, angle in zip(CORNERS, angles, strict=True)]


PR2_CASTERS = ("fl", "fr", "bl", "br")
PR2_STEERING = tuple(f"{c}_caster_rotation_joint" for c in PR2_CASTERS)
PR2_WHEELS = tuple(f"{c}_caster_{side}_wheel_joint" for c in PR2_CASTERS for side in "lr")

ROBOTS = (
    # Differential drive; the swivel caster is drawn as fixed boxes and a cylinder of 15 mm that
    # touches the ground.
    Robot("andino", discs(0.0331, "left_wheel_joint",
                          "right_wheel_joint") | balls(0.015, "caster_wheel_link"), 2),
    # Ackermann car. Its front wheels hang directly on their steering joints:
    # nothing in the file can roll them, so each is a contact without lateral slip.
    # The two virtual wheels only lead the others by mimic.
    Robot(
        "carlikebot",
        discs(0.05, "rear_left_wheel_joint", "rear_right_wheel_joint")
        | {"front_left_wheel": ("blade", 0.0), "front_right_wheel": ("blade", 0.0)},
        2,
        steering=("front_left_wheel_joint", "front_right_wheel_joint"),
        driven=("rear_left_wheel_joint", "rear_right_wheel_joint", "front_left_wheel_joint",
                "front_right_wheel_joint"),
        arguments={
            "wheels": [
                Wheel("rear_right_wheel_joint", "disc", 0.05),
                Wheel("rear_left_wheel_joint", "disc", 0.05),
                Wheel(None, "blade", link="front_right_wheel", axis=(1, 0, 0), point=(0, 0, -0.05)),
                Wheel(None, "blade", link="front_left_wheel", axis=(1, 0, 0), point=(0, 0, -0.05)),
            ]
        },
    ),
    # Husky A200: skid-steer, four equal wheels.
    Robot("clearpath_a200", discs(0.1651, *CORNERS), 2,
          arguments={"skid": "mid-axle"}),
    # Dingo-D: two driven wheels in front, one caster behind.
    Robot("clearpath_dd100", discs(0.049, "front_left_wheel_joint", "front_right_wheel_joint")
          | balls(0.01, "rear_caster"), 2),
    # Dingo-O: mecanum, drawn as cylinders.
    Robot("clearpath_do100", {n: ("mecanum", 0.05) for n in CORNERS}, 3,
          arguments={"wheels": mecanum(0.05)}),
    # Two wheels on spring-loaded sliders (held up), one caster ball in front.
    Robot("create3", discs(0.03575, "left_wheel_joint",
                           "right_wheel_joint") | balls(0.01, "front_caster_link"), 2),
    Robot("diffbot", discs(0.015, "left_wheel_joint", "right_wheel_joint")
          | balls(0.015, "caster_frontal_wheel", "caster_rear_wheel"), 2),
    # Ackermann car: speed and steering rate.
    Robot(
        "gz_ackermann_drive",
        discs(0.3, *CORNERS),
        2,
        steering=("left_wheel_steering_joint", "right_wheel_steering_joint"),
        driven=("rear_left_wheel_joint", "rear_right_wheel_joint", "left_wheel_steering_joint",
                "right_wheel_steering_joint"),
    ),
    Robot("gz_diff_drive", discs(0.3, "left_wheel_joint",
                                 "right_wheel_joint") | balls(0.2, "caster"), 2),
    # Tricycle: the steered front wheel drives.
    Robot(
        "gz_tricycle_drive",
        discs(0.3, "left_wheel_joint", "right_wheel_joint", "traction_joint"),
        2,
        steering=("steering_joint",),
        driven=("traction_joint", "steering_joint"),
    ),
    # Ackermann car whose wheels are meshes of 0.1348 to 0.1351 m. front_steer_joint and
    # rear_wheel_joint are dummies of 5 g.
    Robot(
        "hunter_se",
        discs(0.1348, "fr_left_joint") | discs(0.1351, "fr_right_joint")
        | discs(0.135, "re_left_joint", "re_right_joint"),
        2,
        steering=("fr_steer_left_joint", "fr_steer_right_joint"),
    ),
    Robot(
        "limo_ackerman",
        discs(0.045, "front_left_wheel", "front_right_wheel", "rear_left_wheel",
              "rear_right_wheel"),
        2,
        steering=("left_steering_hinge_wheel", "right_steering_hinge_wheel"),
    ),
    Robot("linorobot2_2wd", discs(0.045, "left_wheel_joint", "right_wheel_joint")
          | balls(0.0375, "front_caster_wheel_link", "rear_caster_wheel_link"), 2),
    Robot("linorobot2_mecanum", {n: ("mecanum", 0.07162) for n in CORNERS}, 3,
          arguments={"wheels": mecanum(0.07162)}),
    # Differential drive on four true swivel casters, each of which adds two rates and two rolling
    # rows.
    Robot(
        "mir100",
        discs(0.0625, "left_wheel_joint", "right_wheel_joint",
              *(f"{c}_caster_wheel_joint" for c in PR2_CASTERS)),
        2,
        steering=PR2_STEERING,
        driven=("left_wheel_joint", "right_wheel_joint"),
    ),
    # The real casters swivel; in the file they are fixed spheres.
    Robot(
        "neobotix_mp_400",
        discs(0.0765, "mp_400_fixed_wheel_left_joint", "mp_400_fixed_wheel_right_joint")
        | balls(0.038, *(f"mp_400_caster_wheel_{end}_{side}_link" for end in ("front", "back")
                         for side in ("left", "right"))),
        2,
    ),
    # Four steered and driven modules with twin wheels and no trail: 3 + 4 + 8 velocities; each
    # module has two
    # rows along and one across; the four rows across have rank 2 only where the axles meet, which
    # couples the four
    # steering angles: 15 - 8 - 2 - 2 = 3.
    Robot("pr2", discs(0.074792, *PR2_WHEELS), 3, steering=PR2_STEERING,
          driven=PR2_WHEELS + PR2_STEERING),
    # Ackermann car. The rear wheels are fixed to the side gears of a differential;
    # its ring is held, so the sides turn freely.
    Robot(
        "racecar",
        discs(0.05, "left_front_wheel_joint", "right_front_wheel_joint", "diff_sideA_ring",
              "diff_sideB_ring"),
        2,
        steering=("left_steering_hinge_joint", "right_steering_hinge_joint"),
        driven=("left_front_wheel_joint", "right_front_wheel_joint", "left_steering_hinge_joint",
                "right_steering_hinge_joint"),
    ),
    # Four steered modules, wheel and fork in one mesh, no rolling joints: each is a contact
    # without lateral slip on its
    # steering axis, here 0.1 m below the joint (two of the axes lean by up to 2.4 degrees in the
    # file, which is taken
    # as upright). 3 + 4 velocities, two rows across, two couplings.
    Robot(
        "ranger_mini_v3",
        {f"{c}_Link": ("blade", 0.0) for c in ("fr", "fl", "br", "bl")},
        3,
        steering=("fr_joint", "fl_joint", "br_joint", "bl_joint"),
        refused="no rolling joint",
        arguments={
            "wheels": [
                Wheel(None, "blade", link="fr_Link", axis=(0, 1, 0), point=(0, 0, -0.1)),
                Wheel(None, "blade", link="fl_Link", axis=(0, -1, 0), point=(0, 0, 0.1)),
                Wheel(None, "blade", link="br_Link", axis=(0, 1, 0), point=(0, 0, -0.1)),
                Wheel(None, "blade", link="bl_Link", axis=(0, -1, 0), point=(0, 0, 0.1)),
            ]
        },
    ),
    Robot(
        "rosbot",
        discs(0.0425, "fr_wheel_joint", "fl_wheel_joint", "rl_wheel_joint", "rr_wheel_joint"),
        2,
        arguments={"skid": "mid-axle"},
    ),
    Robot(
        "scout_v2",
        discs(0.16459, "front_right_wheel", "front_left_wheel", "rear_left_wheel",
              "rear_right_wheel"),
        2,
        arguments={"skid": "mid-axle"},
    ),
    # Differential drive below an arm and a hand, all held; the casters are fixed spheres.
    Robot(
        "tiago",
        discs(0.0985, "wheel_left_joint", "wheel_right_joint")
        | balls(0.025, *(f"caster_{end}_{side}_2_link"
                         for end in ("front", "back") for side in ("left", "right"))),
        2,
    ),
    # The casters are boxes of 30 x 9 x 20 mm, 9 mm high as mounted.
    Robot("turtlebot3_burger", discs(0.033, "wheel_left_joint", "wheel_right_joint")
          | balls(0.0045, "caster_back_link"), 2),
    Robot("turtlebot3_waffle", discs(0.033, "wheel_left_joint", "wheel_right_joint")
          | balls(0.0045, "caster_back_left_link", "caster_back_right_link"), 2),
    Robot("turtlebot4", discs(0.03575, "left_wheel_joint",
                              "right_wheel_joint") | balls(0.01, "front_caster_link"), 2),
    # Two wheels at the end of held legs, no caster: it balances. Speed, yaw rate and pitch rate.
    # The radius is that of the tyres.
    Robot("upkie", discs(0.05, "left_wheel", "right_wheel"), 3),
)
