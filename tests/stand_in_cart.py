"""A two-wheeled cart made from Pinocchio alone: what a viewer needs of a vehicle, and a run of
it."""

from types import SimpleNamespace

import numpy as np
import pinocchio as pin

from nhmech.vehicle.ground import Ground

RADIUS, HALF_TRACK = 0.1, 0.13
INERTIAL = ('<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
            '</inertial>')
WHEEL = """
<link name="{name}">{inertial}
  <visual><origin rpy="1.5707963 0 0"/><geometry><cylinder radius="0.1" length="0.04"/></geometry>
    <material name="black"><color rgba=".1 .1 .1 1"/></material></visual>
  <visual><geometry><box size="0.14 0.044 0.02"/></geometry>
    <material name="white"><color rgba="1 1 1 1"/></material></visual>
</link>
<joint name="{name}_joint" type="continuous"><parent link="base"/><child link="{name}"/>
  <origin xyz="0 {y} 0"/><axis xyz="0 1 0"/></joint>
"""
BASE = """
<link name="base">{inertial}
  <visual><origin xyz="0 0 0.05"/><geometry><box size="0.3 0.2 0.1"/></geometry>
    <material name="green"><color rgba="0.1 0.7 0.1 1"/></material></visual>
</link>
"""
WHEELS = (WHEEL.format(name="left", y=HALF_TRACK, inertial=INERTIAL)
          + WHEEL.format(name="right", y=-HALF_TRACK, inertial=INERTIAL))
URDF = f'<robot name="cart">{BASE.format(inertial=INERTIAL)}{WHEELS}</robot>'


class Cart:
    """Stands on any ground with both wheels."""

    name = "stand-in <cart>"
    contact_names = ["left_joint", "right_joint"]

    def __init__(self, ground: Ground = Ground()):
        self.ground = ground
        self.model = pin.buildModelFromXML(URDF, pin.JointModelFreeFlyer())
        self.visual_model = pin.buildGeomFromUrdfString(self.model, URDF, pin.GeometryType.VISUAL)
        self._data = self.model.createData()

    def contact_points(self, q):
        pin.forwardKinematics(self.model, self._data, q)
        wheels = [self._data.oMi[self.model.getJointId(name)].translation
                  for name in self.contact_names]
        return np.array(wheels) - RADIUS * np.array(self.ground.normal)


def drive(cart: Cart, duration: float = 4.0, speed: float = 0.3, dt: float = 0.02):
    """An S-curve without slip; t (N,) [s], q (N, nq)."""
    t = np.arange(int(round(duration / dt)) + 1) * dt
    q = pin.neutral(cart.model)
    axes = np.column_stack([*cart.ground.tangents, cart.ground.normal])
    q[:3] = np.array(cart.ground.point) + RADIUS * axes[:, 2]
    q[3:7] = pin.Quaternion(axes).coeffs()
    rows = [q]
    for now in t[:-1]:
        yaw_rate = 0.8 * np.sin(1.5 * now)
        rates = [(speed - yaw_rate * HALF_TRACK) / RADIUS, (speed + yaw_rate * HALF_TRACK) / RADIUS]
        rows.append(pin.integrate(cart.model, rows[-1],
                                  dt * np.array([speed, 0, 0, 0, 0, yaw_rate, *rates])))
    return SimpleNamespace(t=t, q=np.array(rows))
