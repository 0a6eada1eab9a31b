"""The mid-axle model of skid steering: which point does not slip, relative to which ground."""

import numpy as np
import pytest

import nhmech
from nhmech import InputError
from nhmech.urdf import MidAxle, Released
from nhmech.urdf.wheels.skid import read_skid

BODY = ('<link name="{name}"><inertial><origin xyz="{x} 0 0"/><mass value="{m}"/>'
        '<inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>')
WHEEL = ('<link name="{n}"><inertial><mass value="1"/><inertia ixx="0.003" iyy="0.005" '
         'izz="0.003" ixy="0" '
         'ixz="0" iyz="0"/></inertial></link>'
         '<joint name="{n}_joint" type="continuous"><parent link="base"/><child '
                                               'link="{n}"/><origin xyz="{x} {y} 0"/><axis xyz="0 '
                                               '{a} 0"/></joint>')
CENTRE = 0.35      # [m] of the wheels ahead of the base's origin


def skid_steer(mixed_axes: bool = False, **arguments):
    wheels = [(f"{end}_{side}", CENTRE + dx, dy) for end, dx in (("front", 0.2), ("rear", -0.2))
              for side, dy in (("left", 0.25), ("right", -0.25))]
    text = BODY.format(name="base", x=CENTRE, m=10) + "".join(
        WHEEL.format(n=name, x=x, y=y, a=-1 if mixed_axes and y < 0 else 1)
        for name, x, y in wheels)
    given = [nhmech.Wheel(f"{name}_joint", "disc", 0.1) for name, _, _ in wheels]
    return nhmech.load(f'<robot name="skid">{text}</robot>', wheels=given, **arguments)


@pytest.mark.parametrize("mixed_axes", [False, True])
def test_the_middle_of_the_wheels_does_not_slip_sideways(mixed_axes):
    vehicle = skid_steer(mixed_axes, skid=1.5)
    q = vehicle.configuration()
    E = vehicle.functions.constraints(0.0, q, vehicle.theta)[0].full()
    _, s, vt = np.linalg.svd(E)
    kernel = vt[int(np.sum(s > 1e-9)):]
    assert len(kernel) == 2
    # lateral velocity at x = CENTRE: v_y + yaw rate * CENTRE
    for v in kernel:
        assert v[1] + v[5] * CENTRE == pytest.approx(0.0, abs=1e-12)
    turn = kernel[np.argmax(np.abs(kernel[:, 5]))]
    names = vehicle.algebroid.v_names
    left, right = (turn[names.index(f"front_{side}_joint")] for side in ("left", "right"))
    right = -right if mixed_axes else right
    assert (right - left) * 0.1 == pytest.approx(1.5 * 0.5 * turn[5], rel=1e-12, abs=0)


@pytest.mark.parametrize("skid", [MidAxle(1.5), Released(("a", "b")), None])
def test_what_was_read_is_taken_as_it_is(skid):
    assert read_skid(skid) is skid


@pytest.mark.parametrize("skid", [np.array(1.5), b"mid-axle", [], [3], True, -1.0, object()])
def test_anything_else_is_refused(skid):
    with pytest.raises(InputError, match="skid"):
        read_skid(skid)


def test_it_rides_along_on_moving_ground():
    """At rest on a belt that moves sideways, everything moves with the belt."""
    vehicle = skid_steer(skid="mid-axle", ground=nhmech.Ground(velocity=(0.2, 1.0, 0.0)))
    v = np.zeros(vehicle.algebroid.nv)
    v[:2] = 0.2, 1.0
    rates, _ = vehicle.constraint_error(0.0, vehicle.configuration(), v)
    assert np.abs(rates).max() < 1e-14


def test_it_is_refused_where_no_wheel_is_fixed_to_the_base():
    with pytest.raises(nhmech.ModelError, match="fixed to the base"):
        nhmech.load(nhmech.urdf_path("swerve"), skid="mid-axle")
