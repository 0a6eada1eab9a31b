"""Where friction just suffices, and where it contradicts itself: bends, brakes, Painleve's rod."""

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import brentq
from support import at_length, shipped

import nhmech
from nhmech import JointTorque, JointVelocity, SimulationError, Simulator
from nhmech.analysis import reactions
from nhmech.simulation import Phase
from nhmech.simulation.contact.motion import to_body
from nhmech.simulation.contact.nonsmooth import NonsmoothStep
from nhmech.simulation.contact.nonsmooth_terms import NonsmoothTerms
from nhmech.urdf import Wheel

G = 9.81
DRIVES = ("left_wheel_joint", "right_wheel_joint")


# -- a bend ----------------------------------------------------------------------------------------
class Bend:
    """A differential drive on a circle of radius R by statics: loads with their transfer by the
    centrifugal force and by gyroscopic moments, of Pinocchio's momentum alone."""

    def __init__(self, vehicle, radius, mu):
        self.vehicle, self.radius, self.mu = vehicle, radius, mu
        self.q, self.data = vehicle.configuration(), vehicle.model.createData()
        self.feet = dict(zip(vehicle.contact_names, vehicle.contact_points(self.q)))
        self.wheels = {w.name: w.radius for w in vehicle.description.wheels}

    def speeds(self, speed):
        """Of the wheels."""
        yaw = speed / self.radius
        return {name: (speed - yaw * self.feet[name][1]) / self.wheels[name] for name in DRIVES}

    def reserve(self, speed):
        """What is left of the friction sideways [N]: the two wheels of an axle share it as they
        can."""
        model, yaw, names = self.vehicle.model, speed / self.radius, self.vehicle.algebroid.v_names
        v = np.zeros(len(names))
        v[[0, 5]] = speed, yaw
        for name, rate in self.speeds(speed).items():
            v[names.index(name)] = rate
        momentum = pin.computeCentroidalMomentum(model, self.data, self.q, v)
        com, turn = pin.centerOfMass(model, self.data, self.q), np.array([0, 0, yaw])
        force = np.cross(turn, momentum.linear) + [0, 0, pin.computeTotalMass(model) * G]
        moment = np.cross(turn, momentum.angular)
        # loads of three feet, force along of two, force across of the axle as a whole
        left, right = (self.feet[name] for name in DRIVES)
        axle = (left + right) / 2
        columns = [(np.array([0, 0, 1.0]), foot) for foot in self.feet.values()]
        columns += [(np.array([1.0, 0, 0]), left), (np.array([1.0, 0, 0]), right),
                    (np.array([0, 1.0, 0]), axle)]
        matrix = np.array([np.concatenate([way, np.cross(at - com, way)]) for way, at in columns])
        found = np.linalg.solve(matrix.T, np.concatenate([force, moment]))
        loads = dict(zip(self.feet, found))
        room = [(self.mu * loads[name]) ** 2 - along ** 2
                for name, along in zip(DRIVES, found[3:5])]
        return sum(np.sqrt(np.maximum(room, 0.0))) - abs(found[5])


@pytest.mark.parametrize("mu", [0.2, *at_length(0.5)])
def test_a_drive_leaves_a_bend_outward_above_its_limit(mu):
    """Below the limit it rolls, above it slides away from the centre; near v^2/R = mu g, less what
    stands on the caster."""
    vehicle, radius = shipped("differential_drive"), 0.6
    bend = Bend(vehicle, radius, mu)
    limit = brentq(bend.reserve, 0.2, 2 * np.sqrt(mu * G * radius))
    assert 0.6 < limit ** 2 / radius / (mu * G) < 1.0
    for part in (0.999, 1.001):
        speed = part * limit
        hold = JointVelocity(bend.speeds(speed))
        simulator = Simulator(vehicle, lambda t, state: hold, dt=1e-3, contact="coulomb", mu=mu,
                              on_fall="ignore")
        simulator.reset(xi={"forward_speed": speed, "yaw_rate": speed / radius})
        run = simulator.run(0.5)
        slid = any(phase is Phase.SLIDING for span in run.phases for phase in span.wheels.values())
        away = np.hypot(run.q[:, 0], run.q[:, 1] - radius) - radius
        assert slid == (part > 1)
        assert away[-1] > 1e-5 if slid else np.abs(away).max() < 1e-6


# -- brakes ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("part", [0.99, 1.01])
def test_brakes_below_the_limit_do_not_slide(part):
    """The limit by Lagrange multipliers on Pinocchio's matrices, load transfer included."""
    vehicle, mu = shipped("ackermann_car"), 0.4
    rear = ("rear_left_wheel_joint", "rear_right_wheel_joint")
    start = Simulator(vehicle).reset(xi={"forward_speed": 6.0})

    def use(torque):
        u = np.zeros(len(vehicle.driven))
        u[[vehicle.driven.index(name) for name in rear]] = -torque
        found = reactions(vehicle, 0.0, start.q, start.v, u).components[rear[0]]
        return np.hypot(found["longitudinal"], found["lateral"]) / found["normal"] - mu

    torque = part * brentq(use, 1.0, 3000.0)
    brake = JointTorque(dict.fromkeys(rear, -torque))
    simulator = Simulator(vehicle, lambda t, state: brake, dt=1e-3, contact="coulomb", mu=mu)
    simulator.reset(xi={"forward_speed": 6.0})
    run = simulator.run(0.2)
    assert run.rolled.all() == (part < 1)


# -- Painleve --------------------------------------------------------------------------------------
HALF, TIP = 0.5, 0.01


def rod():
    """A thin rod of 1 m whose end is a small ball that cannot turn against it."""
    inertia = HALF ** 2 / 3
    return nhmech.load(f"""<robot name="rod"><link name="rod"><inertial>
        <origin xyz="0 0 {HALF}"/><mass value="1"/>
        <inertia ixx="{inertia}" iyy="{inertia}" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
        </link></robot>""", wheels=[Wheel(None, "sphere", TIP, link="rod")])


@pytest.mark.parametrize("mu", [0.5, 1.5, 3.0])
def test_a_painleve_rod_ends_with_a_named_stop_or_a_percussion(mu):
    """A rod that slides while it leans against its way: above mu = 4/3 its tip may accelerate into
    the ground under the force that should stop it, p = 1 + 3 cos(a) (cos(a) - mu sin(a)) < 0 at the
    angle a over the ground, and no rigid acceleration exists (Painleve 1895)."""
    vehicle = rod()
    terms = NonsmoothTerms.of(vehicle, mu)
    step, odd, ended = NonsmoothStep(terms, np.zeros(1)), 0, 0
    for angle in np.radians([15, 30, 40, 50, 65, 80]):
        for speed in (-4.0, 4.0):
            for rate in (-2.0, 0.0, 2.0):
                # the centre of mass is over +x of the tip
                lean = np.pi / 2 - angle
                p = 1 + 3 * np.cos(angle) * (np.cos(angle) - np.sign(-speed) * mu * np.sin(angle))
                odd += p < 0
                x = np.array([0, 0, TIP, 0, np.sin(lean / 2), 0, np.cos(lean / 2)])
                w = np.array([speed, 0, 0, 0, rate, 0])
                try:
                    motion = step.start(0.0, x, w)
                    energy = at(vehicle, terms, motion)
                    for _ in range(40):
                        motion = step.advance(motion, np.zeros(0), 1e-3)
                        P = motion.impulses
                        assert P[0] >= 0 and np.hypot(P[1], P[2]) <= mu * P[0] * (1 + 1e-9) + 1e-12
                        assert motion.heights[0] >= -1e-8
                        before, energy = energy, at(vehicle, terms, motion)
                        assert energy <= before + 1e-5 * (1 + abs(before))
                except SimulationError as error:
                    ended += 1
                    assert "friction and normal forces contradict each other" in str(error)
    assert (odd > 0) == (mu > 4 / 3)
    assert ended == 0 or odd


def at(vehicle, terms, motion):
    """Energy [J]."""
    q = terms.configuration(motion.x)
    return vehicle.energy(0.0, q, to_body(q, motion.w))
