"""Wheels with tyres, against the single-track model, the formula, and ideal rolling."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq

import nhmech
from nhmech.analysis import SteadyMotions, linearise, reactions
from nhmech.mechanics import lagrange_multipliers
from nhmech.urdf import TYRES, Grip, Tyre, Wheel
from nhmech.vehicle.reactions import solve_saddle
from nhmech.view.written_content import parameter_sliders

BODY, WHEEL = 1200.0, 20.0                 # [kg]
FRONT, REAR, RADIUS = 1.1, 1.6, 0.3        # [m] of the axles from the body's centre of mass
IZZ, DISC, SPIN = 1500.0, 0.5, 0.9         # [kg m^2]
GRAVITY = 9.81


def wheel_urdf(name: str, parent: str, origin: str) -> str:
    """A wheel on a continuous joint about y."""
    return f"""<link name="{name}"><inertial><mass value="{WHEEL}"/>
        <inertia ixx="{DISC}" iyy="{SPIN}" izz="{DISC}" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="{name}_joint" type="continuous"><parent link="{parent}"/>
        <child link="{name}"/><origin xyz="{origin}"/><axis xyz="0 1 0"/></joint>"""


def single_track(tyres, *, height: float = 0.5, steer: float = 0.0, front=FRONT, rear=REAR):
    """Two wheels one behind the other, a ball at the side so that it stands; steering held."""
    text = f"""<robot name="single_track">
    <link name="base"><inertial><origin xyz="0 0 {height - RADIUS}"/><mass value="{BODY}"/>
      <inertia ixx="400" iyy="1400" izz="{IZZ}" ixy="0" ixz="0" iyz="0"/></inertial></link>
    {wheel_urdf("rear", "base", f"{-rear} 0 0")}
    <link name="fork"/>
    <joint name="steer" type="revolute"><parent link="base"/><child link="fork"/>
      <origin xyz="{front} 0 0"/><axis xyz="0 0 1"/>
      <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
    {wheel_urdf("front", "fork", "0 0 0")}
    <link name="side"/><joint name="side_joint" type="fixed"><parent link="base"/>
      <child link="side"/><origin xyz="0 1 {0.05 - RADIUS}"/></joint></robot>"""
    wheels = [Wheel("rear_joint", "disc", RADIUS), Wheel("front_joint", "disc", RADIUS),
              Wheel(None, "caster_ball", 0.05, link="side")]
    return nhmech.load(text, wheels=wheels, locked={"steer": steer}, tyres=tyres)


def planar_numbers(front=FRONT, rear=REAR):
    """Mass, yaw inertia about the common centre of mass, and its distances a, b from the axles."""
    mass = BODY + 2 * WHEEL
    centre = WHEEL * (front - rear) / mass
    yaw = (IZZ + BODY * centre ** 2
           + sum(DISC + WHEEL * (x - centre) ** 2 for x in (front, -rear)))
    return mass, yaw, front - centre, rear + centre


def straight(vehicle, speed: float):
    """q, xi of straight running in which no wheel slips."""
    xi = np.array([speed / RADIUS if name.endswith("_joint") else
                   speed if name == "forward_speed" else 0.0 for name in vehicle.speeds])
    return vehicle.configuration(), xi


def lateral_dynamics(vehicle, speed: float) -> np.ndarray:
    """The part of the linearised dynamics that belongs to (lateral speed, yaw rate), (2, 2)."""
    linear = linearise(vehicle, *straight(vehicle, speed))
    rows = [linear.names.index(name) for name in ("lateral_speed", "yaw_rate")]
    others = [i for i, name in enumerate(linear.names) if i not in rows]
    assert np.abs(linear.A[np.ix_(rows, others)]).max() < 1e-9
    return linear.A[np.ix_(rows, rows)]


def expected_dynamics(stiffness_f, stiffness_r, speed: float, front=FRONT, rear=REAR):
    """Of the single-track model (Riekert and Schunck 1940), its speed taken at the base's origin,
    which lies `shift` behind the centre of mass."""
    mass, yaw, a, b = planar_numbers(front, rear)
    cf, cr = stiffness_f, stiffness_r
    at_centre = np.array([
        [-(cf + cr) / (mass * speed), -(a * cf - b * cr) / (mass * speed) - speed],
        [-(a * cf - b * cr) / (yaw * speed), -(a * a * cf + b * b * cr) / (yaw * speed)]])
    shift = front - a
    to_base = np.array([[1.0, -shift], [0.0, 1.0]])
    return to_base @ at_centre @ np.linalg.inv(to_base)


CONSTANT = {"front_joint": Tyre(Grip(90e3), Grip(60e3)), "rear_joint": Tyre(Grip(80e3), Grip(75e3))}


@pytest.mark.parametrize("speed", [3.0, 20.0, 45.0])
@pytest.mark.parametrize("height", [0.3, 0.9])
def test_straight_running_has_the_single_track_models_dynamics(speed, height):
    found = lateral_dynamics(single_track(CONSTANT, height=height), speed)
    np.testing.assert_allclose(found, expected_dynamics(60e3, 75e3, speed), rtol=1e-11)


def test_stiffness_for_a_load_grows_with_the_load_on_the_axle():
    # per newton of load: 15 in front, 18 behind
    tyres = {"front_joint": Tyre(Grip(4e4), Grip(15 * 2000.0), load=2000.0),
             "rear_joint": Tyre(Grip(4e4), Grip(18 * 3000.0), load=3000.0)}
    vehicle, (mass, _, a, b) = single_track(tyres), planar_numbers()
    weight = mass * GRAVITY / (a + b)
    found = lateral_dynamics(vehicle, 20.0)
    np.testing.assert_allclose(found, expected_dynamics(15 * weight * b, 18 * weight * a, 20.0),
                               rtol=1e-11)


def test_cornering_stiffness_is_degressive_in_the_load():
    """An axle under more load has less stiffness per newton: each tyre is that of its own load,
    K_y = 14.95 F_0 sin(2 atan(F / (2.13 F_0))), largest at F = 2.13 F_0 (Pacejka)."""
    mass, _, a, b = planar_numbers()
    weight = mass * GRAVITY / (a + b)
    loads = {"front_joint": weight * b, "rear_joint": weight * a}
    wanted = [14.95 * 4000 * np.sin(2 * np.arctan(load / 8520)) for load in loads.values()]
    vehicle = single_track({wheel: f"passenger_car@{load!r} longitudinal.relaxation=0 "
                            "lateral.relaxation=0" for wheel, load in loads.items()})
    np.testing.assert_allclose(lateral_dynamics(vehicle, 20.0), expected_dynamics(*wanted, 20.0),
                               rtol=1e-11)
    # the table's own tyre, rounded, and less than proportional growth
    same, more = Tyre.read("passenger_car@4000"), Tyre.read("passenger_car@8000")
    for name, value in TYRES["passenger_car"].numbers().items():
        assert same.numbers()[name] == pytest.approx(value, rel=2e-5)
    assert 1.29 < more.lateral.stiffness / same.lateral.stiffness < 1.31
    assert more.lateral.friction == pytest.approx(0.845, rel=1e-12, abs=0)
    assert more.longitudinal.stiffness == pytest.approx(
        8000 * (21.51 - 0.163) * np.exp(0.245), rel=1e-12)


def test_the_other_numbers_of_a_tyre_follow_its_load_too():
    """p1 + p2 df (+ p3 df^2) with df = F/F_0 - 1 = -1/4: Pacejka 2006, table A3.1."""
    tyre = Tyre.read("passenger_car@3000")
    numbers = (tyre.longitudinal.friction, tyre.longitudinal.curvature, tyre.lateral.friction,
               tyre.lateral.curvature)
    expected = (1.21 + 0.037 / 4, 0.344 - 0.095 / 4 - 0.02 / 16, 0.99 + 0.145 / 4,
                -1.003 + 0.537 / 4)
    assert numbers == pytest.approx(expected, rel=1e-12, abs=0)
    with pytest.raises(nhmech.InputError, match=r"cover a load of 1e\+06 N: it is for \d+ to \d+"):
        Tyre.read("passenger_car@1e6")


@pytest.mark.parametrize("speed", [5.0, 15.0, 30.0])
def test_yaw_gain_and_understeer_gradient(speed):
    steer = 1e-5
    vehicle = single_track(CONSTANT, steer=steer)
    motion = SteadyMotions(vehicle, vehicle.driven).find(
        *straight(vehicle, speed), conditions={"forward_speed": speed})
    mass, _, a, b = planar_numbers()
    gradient = mass * (b * 75e3 - a * 60e3) / ((a + b) * 60e3 * 75e3)   # [rad s^2/m]
    yaw_rate = motion.xi[vehicle.speeds.index("yaw_rate")]
    assert yaw_rate / steer == pytest.approx(speed / (a + b + gradient * speed ** 2), rel=1e-8)


def test_an_oversteering_car_is_unstable_above_the_critical_speed():
    tyres = {"front_joint": Tyre(Grip(90e3), Grip(80e3)),
             "rear_joint": Tyre(Grip(90e3), Grip(45e3))}
    vehicle = single_track(tyres)
    mass, _, a, b = planar_numbers()
    critical = np.sqrt((a + b) ** 2 * 80e3 * 45e3 / (mass * (a * 80e3 - b * 45e3)))
    found = brentq(lambda V: np.linalg.det(lateral_dynamics(vehicle, V)), 5.0, 60.0, xtol=1e-11)
    assert found == pytest.approx(critical, rel=1e-10)
    growth = [np.linalg.eigvals(lateral_dynamics(vehicle, V)).real.max()
              for V in (0.99 * critical, 1.01 * critical)]
    assert growth[0] < 0 < growth[1]


# -- the formula -----------------------------------------------------------------------------------
def magic(slip, stiffness, friction, shape, curvature):
    """Pacejka's formula as it is usually written, with B, C, D, E."""
    D, C, E = friction, shape, curvature
    B = stiffness / (C * D)
    return D * np.sin(C * np.arctan(B * slip - E * (B * slip - np.arctan(B * slip))))


def level(tyre):
    """The single-track vehicle whose centre of mass is in the ground and in the middle, so that no
    force shifts load."""
    return single_track(tyre, height=-2 * WHEEL * RADIUS / BODY, front=1.35, rear=1.35)


def deflections(vehicle) -> dict[str, int]:
    """Name of each deflection -> its place in q."""
    names = vehicle.algebroid.q_names
    return {name: names.index(name) for name in names if name.endswith("_deflection")}


def slipping(vehicle, kappa: float, tangent: float, speed: float = 15.0):
    """q, v, xi of straight running with slip of all wheels, of tyres that have relaxed."""
    q, xi = straight(vehicle, speed)
    for name, place in deflections(vehicle).items():
        wheel, direction = name.removesuffix("_deflection").split("/")
        sigma = vehicle.parameters.values[f"{wheel}.{direction}_relaxation"]
        q[place] = sigma * {"longitudinal": kappa, "lateral": -tangent}[direction]
    xi[vehicle.speeds.index("lateral_speed")] = speed * tangent
    wheels = [i for i, name in enumerate(vehicle.speeds) if name.endswith("_joint")]
    xi[wheels] *= 1 + kappa
    return q, np.array(vehicle.equations.velocity(0.0, q, xi, vehicle.theta)).ravel(), xi


def ground_forces(vehicle, q, v, xi) -> tuple[float, float, float]:
    """Sum of the forward, the lateral and the normal force [N], from the motion of the vehicle's
    centre of mass: Newton's law, with no word of tyres."""
    a = vehicle.equations.acceleration(0.0, q, xi, np.zeros(len(vehicle.driven)),
                                       vehicle.theta).full().ravel()
    mass = pin.computeTotalMass(vehicle.model)
    data = vehicle.model.createData()
    pin.centerOfMass(vehicle.model, data, q, v, a)
    force = mass * (data.acom[0] - np.array([0, 0, -GRAVITY]))
    return tuple(force)


@pytest.mark.parametrize("kappa, tangent", [(0.03, 0.0), (-0.2, 0.0), (0.9, 0.0), (0.0, 0.02),
                                            (0.0, -0.15), (0.0, 0.8)])
def test_pure_slip_gives_the_magic_formula(kappa, tangent):
    tyre = TYRES["passenger_car"]
    vehicle = level("passenger_car")
    x, y, z = ground_forces(vehicle, *slipping(vehicle, kappa, tangent))
    mass = BODY + 2 * WHEEL
    assert z == pytest.approx(mass * GRAVITY, rel=1e-9)
    for force, slip, grip in ((x, kappa, tyre.longitudinal), (y, -tangent, tyre.lateral)):
        expected = magic(slip, grip.stiffness / tyre.load, grip.friction, grip.shape,
                         grip.curvature)
        assert force == pytest.approx(expected * mass * GRAVITY, rel=1e-9, abs=1e-6)


def test_combined_slip_lies_on_the_friction_ellipse():
    # one shape in both directions: then the forces of equal rho lie on one ellipse
    tyre = Tyre(Grip(8e4, 1.2, 1.5, 0.2), Grip(5e4, 0.9, 1.5, 0.2), load=4000.0)
    vehicle, mass = level(tyre), BODY + 2 * WHEEL
    rho = 1.3
    for angle in np.linspace(0, 2 * np.pi, 9):
        kappa = rho * np.cos(angle) * 1.2 * 4000 / 8e4
        tangent = rho * np.sin(angle) * 0.9 * 4000 / 5e4
        x, y, z = ground_forces(vehicle, *slipping(vehicle, kappa, tangent))
        size = np.hypot(x / 1.2, y / 0.9) / z
        assert size == pytest.approx(magic(rho, 1.0, 1.0, 1.5, 0.2), rel=1e-9)
        np.testing.assert_allclose([x / 1.2, -y / 0.9],
                                   size * z * np.array([np.cos(angle), np.sin(angle)]), atol=1e-6)
    assert z == pytest.approx(mass * GRAVITY, rel=1e-9)


def test_braking_shifts_the_load_that_the_brakes_need():
    """All wheels locked: deceleration mu g, and loads by the statics of that deceleration."""
    tyre = Tyre(Grip(8e4, 1.0, 1.0), Grip(8e4, 1.0, 1.0), load=4000.0)
    vehicle = single_track(tyre, height=0.6)
    q, v, xi = slipping(vehicle, -1.0, 0.0)
    x, _, z = ground_forces(vehicle, q, v, xi)
    grip = magic(1.0, 8e4 / 4000.0, 1.0, 1.0, 0.0)
    assert x / z == pytest.approx(-grip, rel=1e-9)
    found = reactions(vehicle, 0.0, q, v, np.zeros(len(vehicle.driven)))
    mass, _, a, b = planar_numbers()
    # of pitch about the centre of mass: the wheels begin to turn, which takes up part of the moment
    front, rear = (found.components[f"{name}_joint"]["normal"] for name in ("front", "rear"))
    at = (BODY * 0.6 + 2 * WHEEL * RADIUS) / mass
    spinning = sum(grip * load * RADIUS for load in (front, rear))
    assert front * a - rear * b == pytest.approx(grip * mass * GRAVITY * at - spinning, rel=1e-9)


# -- coefficients that follow the load -------------------------------------------------------------
AT_ONCE = "longitudinal.relaxation=0 lateral.relaxation=0"


def coefficients(load: float) -> dict[str, tuple[float, ...]]:
    """K, mu, C, E at a load: Pacejka 2006, table A3.1, and (4.E9) to (4.E30)."""
    df = load / 4000 - 1
    return {"x": (load * (21.51 - 0.163 * df) * np.exp(0.245 * df), 1.21 - 0.037 * df, 1.685,
                  0.344 + 0.095 * df - 0.02 * df ** 2),
            "y": (14.95 * 4000 * np.sin(2 * np.arctan(load / (2.13 * 4000))), 0.99 - 0.145 * df,
                  1.193, -1.003 - 0.537 * df)}


@pytest.mark.parametrize("kappa", [-1.0, -0.05, 0.08])
def test_a_tyre_follows_the_load_that_braking_shifts(kappa):
    """Both axles with the same tyre, whatever it was read for: each has the coefficients of the
    load that statics of the deceleration gives it, a scalar equation."""
    tyre, shape = f"passenger_car@3000 {AT_ONCE}", {"height": 0.35, "front": 1.35, "rear": 1.35}

    def force(load):
        K, mu, C, E = coefficients(load)["x"]
        return load * magic(kappa, K / load, mu, C, E)

    mass, _, a, b = planar_numbers(1.35, 1.35)
    at, weight = (BODY * shape["height"] + 2 * WHEEL * RADIUS) / mass, mass * GRAVITY

    def missing(front):
        """Moment about the centre of mass; what turns the wheels is no moment on the body."""
        rear = weight - front
        return front * a - rear * b + (force(front) + force(rear)) * (at - RADIUS)

    front = brentq(missing, 100.0, weight - 100.0, xtol=1e-12, rtol=1e-15)
    vehicle = single_track(tyre, **shape)
    q, v, xi = slipping(vehicle, kappa, 0.0)
    found = reactions(vehicle, 0.0, q, v, np.zeros(len(vehicle.driven))).components
    assert found["front_joint"]["normal"] == pytest.approx(front, rel=1e-9)
    x, _, z = ground_forces(vehicle, q, v, xi)
    assert z == pytest.approx(weight, rel=1e-9)
    assert x == pytest.approx(force(front) + force(weight - front), rel=1e-9)
    fixed = single_track(f"passenger_car {AT_ONCE}", **shape)
    assert abs(ground_forces(fixed, q, v, xi)[0] / x - 1) > 1e-3


def axle_and_ball(tyre, *, half: float, ahead: float):
    """Two wheels side by side, a ball, and a body whose centre of mass is 0.4 m before the wheels'
    and as high: turning about the vertical takes no moment about other axes."""
    text = f"""<robot name="axle">
    <link name="base"><inertial><origin xyz="0.4 0 0"/><mass value="{BODY}"/>
      <inertia ixx="400" iyy="1400" izz="{IZZ}" ixy="0" ixz="0" iyz="0"/></inertial></link>
    {wheel_urdf("left", "base", f"0 {half} 0")}{wheel_urdf("right", "base", f"0 {-half} 0")}
    <link name="ball"/><joint name="ball_joint" type="fixed"><parent link="base"/>
      <child link="ball"/><origin xyz="{ahead} 0 {0.05 - RADIUS}"/></joint></robot>"""
    wheels = [Wheel("left_joint", "disc", RADIUS), Wheel("right_joint", "disc", RADIUS),
              Wheel(None, "caster_ball", 0.05, link="ball")]
    return nhmech.load(text, wheels=wheels, tyres=tyre)


@pytest.mark.parametrize("tangent", [0.03, -0.4])
def test_a_tyre_follows_the_load_that_cornering_shifts(tangent):
    """Both wheels slip alike and bear what the roll of the body has left them: moments about the
    forward axis through the centre of mass, and about the axle, are a scalar equation."""
    half, ahead = 0.8, 2.0
    vehicle = axle_and_ball(f"passenger_car@3000 {AT_ONCE}", half=half, ahead=ahead)
    mass = BODY + 2 * WHEEL
    axle = mass * GRAVITY * (1 - 0.4 * BODY / mass / ahead)

    def force(load):
        K, mu, C, E = coefficients(load)["y"]
        return -load * np.sign(tangent) * magic(abs(tangent), K / load, mu, C, E)

    def missing(left):
        return (2 * left - axle) * half + (force(left) + force(axle - left)) * RADIUS

    left = brentq(missing, 1.0, axle - 1.0, xtol=1e-12, rtol=1e-15)
    q, v, xi = slipping(vehicle, 0.0, tangent)
    found = reactions(vehicle, 0.0, q, v, np.zeros(len(vehicle.driven))).components
    assert abs(left / (axle - left) - 1) > 0.05
    assert found["left_joint"]["normal"] == pytest.approx(left, rel=1e-9)
    assert found["right_joint"]["normal"] == pytest.approx(axle - left, rel=1e-9)
    x, y, z = ground_forces(vehicle, q, v, xi)
    assert y == pytest.approx(force(left) + force(axle - left), rel=1e-9)
    assert abs(x) < 1e-9 * z and z == pytest.approx(mass * GRAVITY, rel=1e-9)


@pytest.mark.parametrize("kappa, tangent", [(-0.3, 0.0), (0.28, 0.4)])
def test_loads_near_lifting_are_found_to_rounding(kappa, tangent):
    """The equations of motion have the loads of Pinocchio's saddle system, which is iterated."""
    vehicle = single_track(f"passenger_car@3000 {AT_ONCE}", height=1.3, front=1.35, rear=1.35)
    q, v, xi = slipping(vehicle, kappa, tangent)
    u = np.zeros(len(vehicle.driven))
    found = vehicle.equations.multipliers(0.0, q, xi, u, vehicle.theta).full().ravel()
    expected = solve_saddle(vehicle, 0.0, q, v, u).lam
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())


def test_loads_and_the_friction_that_they_cause_settle_in_a_few_rounds(monkeypatch):
    """Each round, which has one mass matrix, leaves less than a quarter of the error of a low body:
    24 leave rounding, where last digits may go on changing for ever."""
    vehicle = single_track(f"passenger_car@3000 {AT_ONCE}", height=0.2)
    rng, mass_matrix, rounds = np.random.default_rng(1), pin.crba, []
    monkeypatch.setattr(pin, "crba", lambda *at: (rounds.append(at), mass_matrix(*at))[1])
    counts = []
    for kappa, tangent in rng.normal(0, 0.2, size=(100, 2)):
        q, v, _ = slipping(vehicle, kappa, tangent)
        rounds.clear()
        solve_saddle(vehicle, 0.0, q, v, np.zeros(len(vehicle.driven)))
        counts.append(len(rounds))
    assert min(counts) >= 3 and max(counts) <= 24


@pytest.mark.parametrize("speed", [5.0, 20.0])
def test_straight_running_knows_the_loads_of_both_axles(speed):
    """One tyre for both: their cornering stiffnesses are those of the axles' own loads."""
    mass, _, a, b = planar_numbers()
    weight = mass * GRAVITY / (a + b)
    wanted = [coefficients(load)["y"][0] for load in (weight * b, weight * a)]
    found = lateral_dynamics(single_track(f"passenger_car@4000 {AT_ONCE}"), speed)
    np.testing.assert_allclose(found, expected_dynamics(*wanted, speed), rtol=1e-11)


def test_given_coefficients_keep_their_ratio_to_those_of_the_set():
    tyre = Tyre.read(f"passenger_car@3000 lateral.friction=0.8 lateral.curvature=-0.5 {AT_ONCE}")
    vehicle, slip = level(tyre), -0.3
    _, y, z = ground_forces(vehicle, *slipping(vehicle, 0.0, -slip))
    (K, mu, C, E), (_, mu3, _, E3) = coefficients(z / 2)["y"], coefficients(3000.0)["y"]
    wanted = z * magic(slip, K / (z / 2), mu * 0.8 / mu3, C, E - 0.5 - E3)
    assert y == pytest.approx(wanted, rel=1e-9)
    assert Tyre.read(str(tyre)) == tyre and eval(repr(tyre)) == tyre


def test_loads_above_those_of_the_set_have_the_coefficients_of_its_largest():
    heavy = level(f"passenger_car@8000 {AT_ONCE}").with_parameters({
        "base.mass": 3 * BODY, "base.com_z": -2 * WHEEL * RADIUS / (3 * BODY) - RADIUS})
    slip = 0.6
    _, y, z = ground_forces(heavy, *slipping(heavy, 0.0, -slip))
    assert z / 2 > 8000
    K, mu, C, E = coefficients(8000.0)["y"]
    assert y == pytest.approx(z * magic(slip, K / 8000, mu, C, E), rel=1e-9)


# -- consistency -----------------------------------------------------------------------------------
@pytest.mark.parametrize("robot, tyre", [("ackermann_car", "robot_rubber"), ("bicycle", "bicycle"),
                                         ("ackermann_car", "passenger_car@3000"),
                                         ("skid_steer", "robot_rubber"),
                                         ("differential_drive", "robot_rubber")])
def test_three_derivations_agree(robot, tyre):
    """Gibbs-Appell, Lagrange multipliers, and Pinocchio's matrices, at random states."""
    vehicle, rng = nhmech.load(nhmech.urdf_path(robot), tyres=tyre), np.random.default_rng(5)
    assert deflections(vehicle)
    other = lagrange_multipliers(vehicle.reduced, frame=vehicle.frame)
    for q in vehicle.constrained.configurations[:3]:
        q = q.copy()
        q[list(deflections(vehicle).values())] = 1e-3 * rng.normal(size=len(deflections(vehicle)))
        xi, u = rng.normal(size=len(vehicle.speeds)), rng.normal(size=len(vehicle.driven))
        at = (0.0, q, xi, u, vehicle.theta)
        a, b = (form.acceleration(*at).full().ravel() for form in (vehicle.equations, other))
        v = vehicle.equations.velocity(0.0, q, xi, vehicle.theta).full().ravel()
        numeric = solve_saddle(vehicle, 0.0, q, v, u)
        np.testing.assert_allclose(b, a, rtol=0, atol=1e-10 * np.abs(a).max())
        # in Pinocchio's saddle system rows are linear: it has another rate of the deflections
        rigid = [not name.endswith("_deflection") for name in vehicle.algebroid.v_names]
        np.testing.assert_allclose(numeric.acceleration[rigid], a[rigid],
                                   rtol=0, atol=1e-10 * np.abs(a[rigid]).max())
        np.testing.assert_allclose(numeric.lam, vehicle.equations.multipliers(*at).full().ravel(),
                                   rtol=1e-9, atol=1e-9 * np.abs(numeric.lam).max())


# -- runs ------------------------------------------------------------------------------------------
PUSH = {"left_wheel_joint": 0.05, "right_wheel_joint": 0.1}


def drive(tyres, *, dt=1e-3, integrator="gauss", duration=1.0, speed=1.0):
    """The differential drive, rolling straight on at first, under constant torques."""
    robot = nhmech.load(nhmech.urdf_path("differential_drive"), tyres=tyres)
    simulator = nhmech.Simulator(robot, lambda t, state: nhmech.JointTorque(PUSH), dt=dt,
                                 integrator=integrator)
    simulator.reset(xi={"forward_speed": speed, "yaw_rate": 0.0})
    return simulator.run(duration)


def test_stiff_tyres_tend_to_ideal_rolling_with_order_one():
    ideal = drive(None).q[-1, :2]
    stiffness = np.array([1e3, 4e3, 16e3])
    error = [np.linalg.norm(drive(Tyre(Grip(K), Grip(K))).q[-1, :2] - ideal) for K in stiffness]
    order = -np.diff(np.log(error)) / np.diff(np.log(stiffness))
    assert error[0] < 1e-3
    np.testing.assert_allclose(order, 1.0, atol=0.01)


def test_a_steady_turn_tends_to_that_of_ideal_rolling():
    steer, speed, error = 0.1, 10.0, []
    _, _, a, b = planar_numbers()
    for stiffness in (1e6, 4e6, 16e6):
        vehicle = single_track(Tyre(Grip(stiffness), Grip(stiffness)), steer=steer)
        motion = SteadyMotions(vehicle, vehicle.driven).find(
            *straight(vehicle, speed), conditions={"forward_speed": speed})
        yaw_rate = motion.xi[vehicle.speeds.index("yaw_rate")]
        error.append(abs(yaw_rate - speed * np.tan(steer) / (a + b)))
        # axles that are both driven share what is asked of them
        np.testing.assert_allclose(motion.u[0], motion.u[1], rtol=0.05)
    np.testing.assert_allclose(np.log(np.divide(error[:-1], error[1:])) / np.log(4), 1, atol=0.02)


def test_a_run_begins_with_wheels_that_roll():
    vehicle = single_track("passenger_car")
    simulator = nhmech.Simulator(vehicle, dt=1e-3)
    state = simulator.reset(xi={"forward_speed": 12.0, "yaw_rate": 0.0})
    assert state.xi["front_joint"] == pytest.approx(12.0 / RADIUS, rel=1e-12)
    assert SteadyMotions(vehicle).straight(12.0).residual < 1e-9


@pytest.mark.parametrize("tyre", ["robot_rubber", Tyre(Grip(600.0), Grip(500.0))])
def test_what_slip_takes_is_missing_in_the_energy(tyre):
    """dE/dt = efforts + forces of the tyres on the speeds with which they slip."""
    robot = nhmech.load(nhmech.urdf_path("differential_drive"), tyres=tyre)
    rng = np.random.default_rng(2)
    for _ in range(5):
        q, z = robot.configuration(), 1e-3 * rng.normal(size=(2, 2))       # wheel, direction
        if deflections(robot):
            q[list(deflections(robot).values())] = z.ravel()
        xi = np.array([20.0, 20.0, 0.3, 1.0, 0.1]) * rng.uniform(0.5, 1.5, 5)
        u, step = rng.normal(size=2), 1e-5
        v, a = (f.full().ravel() for f in (
            robot.equations.velocity(0.0, q, xi, robot.theta),
            robot.equations.acceleration(0.0, q, xi, u, robot.theta)))
        rate = sum(sign * robot.energy(0.0, pin.integrate(robot.model, q, sign * step * v),
                                       v + sign * step * a) for sign in (1, -1)) / (2 * step)
        S, s = (part.full() for part in robot.functions.slip(0.0, q, robot.theta))
        speeds = (S @ v + s.ravel()).reshape(2, 2)
        found = reactions(robot, 0.0, q, v, u)
        power = u @ v[[robot.algebroid.v_names.index(name) for name in robot.driven]]
        for wheel, (x, y), deflection in zip(("left", "right"), speeds, z):
            hub = abs(x + 0.1 * xi[robot.speeds.index(f"{wheel}_wheel_joint")])
            if isinstance(tyre, Tyre):
                fx, fy = -600.0 * x / hub, -500.0 * y / hub
            else:
                grips = TYRES[tyre].longitudinal, TYRES[tyre].lateral
                sx, sy = (-grip.stiffness / 30.0 / grip.friction * part / grip.relaxation
                          for grip, part in zip(grips, deflection))
                rho, load = np.hypot(sx, sy), found.components[f"{wheel}_wheel_joint"]["normal"]
                fx, fy = (-load * slip / rho * magic(rho, grip.friction, grip.friction,
                                                     grip.shape, grip.curvature)
                          for grip, slip in zip(grips, (sx, sy)))
            power += fx * x + fy * y
        assert rate == pytest.approx(power, rel=1e-6)


def test_the_energy_balance_of_a_run_closes():
    balance = nhmech.analysis.energy_balance(drive("robot_rubber", dt=2e-4, integrator="rk4",
                                                   duration=0.3))
    assert balance.passive[-1] < 0
    assert np.abs(balance.rest).max() < 1e-5 * np.abs(balance.total).max()


def test_a_batch_and_dynamics_do_what_the_simulator_does():
    run = drive("robot_rubber", dt=2e-4, integrator="rk4", duration=0.1)
    robot = run.simulated.vehicle
    dynamics = nhmech.dynamics(robot)
    x0 = nhmech.start_states(robot, [(0.0, 0.0, 0.0)] * 3,
                             xi={"forward_speed": 1.0, "yaw_rate": 0.0})
    batch = nhmech.simulate_batch(robot, x0, np.array([PUSH[name] for name in robot.driven]),
                                  dt=2e-4, duration=0.1)
    for lane in range(3):
        np.testing.assert_allclose(batch.xi[lane, -1], run.xi[-1], rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(batch.q[lane, -1], run.q[-1], rtol=1e-11, atol=1e-12)
    rate = np.array(dynamics(0.0, x0[0], [0.05, 0.1], [])).ravel()
    assert np.isfinite(rate).all()


def test_a_batch_and_dynamics_follow_the_load_as_the_simulator_does():
    """A tyre whose coefficients follow the load that braking and cornering shift."""
    robot = single_track("passenger_car@3000", steer=0.02)
    x0 = nhmech.start_states(robot, [(0.0, 0.0, 0.0)] * 2,
                             xi={"forward_speed": 15.0, "yaw_rate": 0.0})
    u = np.full(len(robot.driven), -300.0)
    simulator = nhmech.Simulator(robot, lambda t, state: u, dt=1e-3, integrator="rk4")
    simulator.reset(xi={"forward_speed": 15.0, "yaw_rate": 0.0})
    run = simulator.run(0.1)
    assert abs(run.xi[-1, robot.speeds.index("yaw_rate")]) > 1e-3
    batch = nhmech.simulate_batch(robot, x0, u, dt=1e-3, duration=0.1)
    for lane in range(2):
        np.testing.assert_allclose(batch.xi[lane, -1], run.xi[-1], rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(batch.q[lane, -1], run.q[-1], rtol=1e-11, atol=1e-12)
    dynamics, x = nhmech.dynamics(robot), x0[0]
    for _ in range(100):
        x = np.array(dynamics.step(0.0, x, u, 1e-3)).ravel()
    np.testing.assert_allclose(x[-len(robot.speeds):], run.xi[-1], rtol=1e-9, atol=1e-10)


def test_a_standing_car_stays_where_it_is():
    vehicle = single_track("passenger_car")
    simulator = nhmech.Simulator(vehicle, dt=1e-4)
    simulator.reset()
    run = simulator.run(0.05)
    assert np.abs(run.xi).max() < 1e-9
    assert np.isfinite(linearise(vehicle, run.q[-1], run.xi[-1]).A).all()


# -- relaxation ------------------------------------------------------------------------------------
STIFF, LENGTH = (60e3, 75e3), (0.5, 0.4)         # in front, behind: [N/rad], [m]


def relaxing(**more):
    tyres = {f"{name}_joint": Tyre(Grip(90e3), Grip(K, relaxation=sigma))
             for name, K, sigma in zip(("front", "rear"), STIFF, LENGTH)}
    return single_track(tyres, **more)


def relaxing_model(speed: float) -> np.ndarray:
    """Single-track model with relaxation in (lateral speed of the centre of mass, yaw rate, both
    deflections), (4, 4)."""
    mass, yaw, a, b = planar_numbers()
    (kf, kr), (sf, sr) = STIFF, LENGTH
    return np.array([[0, -speed, kf / sf / mass, kr / sr / mass],
                     [0, 0, a * kf / sf / yaw, -b * kr / sr / yaw],
                     [-1, -a, -speed / sf, 0],
                     [-1, b, 0, -speed / sr]])


@pytest.mark.parametrize("speed", [2.0, 20.0])
def test_relaxation_in_the_linearised_dynamics(speed):
    vehicle = relaxing()
    linear = linearise(vehicle, *straight(vehicle, speed))
    order = ("lateral_speed", "yaw_rate", "front_joint/lateral_deflection",
             "rear_joint/lateral_deflection")
    rows = [linear.names.index(name) for name in order]
    to_base = np.eye(4)
    to_base[0, 1] = planar_numbers()[2] - FRONT
    expected = to_base @ relaxing_model(speed) @ np.linalg.inv(to_base)
    np.testing.assert_allclose(linear.A[np.ix_(rows, rows)], expected, rtol=1e-8, atol=1e-8)


def test_the_response_to_a_step_of_steering():
    steer, speed, dt = 1e-5, 20.0, 1e-3
    vehicle = relaxing(steer=steer)
    simulator = nhmech.Simulator(vehicle, dt=dt)
    simulator.reset(q=vehicle.configuration(), xi=straight(vehicle, speed)[1])
    run = simulator.run(0.2)
    model = np.zeros((5, 5))
    model[:4, :4] = relaxing_model(speed)
    model[2, 4] = speed * steer
    yaw_rate = run.xi[:, vehicle.speeds.index("yaw_rate")]
    front = run.q[:, vehicle.algebroid.q_names.index("front_joint/lateral_deflection")]
    for k in (20, 50, 100, 200):
        expected = expm(model * k * dt)[:4, 4]
        np.testing.assert_allclose([yaw_rate[k], front[k]], expected[1:3], rtol=1e-6)
    # at first the force grows as that of a tyre on a straight path: 1 - exp(-V t / sigma)
    assert front[5] == pytest.approx(0.5 * steer * (1 - np.exp(-speed * 5 * dt / 0.5)), rel=0.02)


@pytest.mark.parametrize("tyre", ["passenger_car", Tyre(Grip(90e3), Grip(60e3))])
def test_slip_and_forces_of_a_run(tyre):
    """The forces of the tyres are those that move the centre of mass."""
    vehicle = single_track(tyre, steer=0.05)
    simulator = nhmech.Simulator(vehicle, dt=1e-3)
    simulator.reset(q=vehicle.configuration(), xi=straight(vehicle, 10.0)[1])
    run = simulator.run(0.2)
    found = nhmech.analysis.tyre_slip(run)
    assert found.wheels == ("rear_joint", "front_joint")
    for k in (1, 50, 200):
        total = np.array(ground_forces(vehicle, run.q[k], run.v[k], run.xi[k]))
        sides = vehicle.contact_directions(run.q[k])[:2]
        own = np.zeros(3)
        R = pin.Quaternion(run.q[k, 3:7]).toRotationMatrix()
        for i, (angle, normal) in enumerate(zip((0.0, 0.05), sides)):
            along, left = R @ [np.cos(angle), np.sin(angle), 0], R @ [-np.sin(angle),
                                                                      np.cos(angle), 0]
            own += found.longitudinal[k, i] * along + found.lateral[k, i] * left
            own += found.load[k, i] * normal["normal"]
        np.testing.assert_allclose(own[:2], total[:2], rtol=0, atol=1e-9 * total[2])
    if tyre == "passenger_car":
        grip = TYRES[tyre].lateral
        expected = -found.load * magic(found.tan_alpha, grip.stiffness / 4000.0, grip.friction,
                                       grip.shape, grip.curvature)
        alone = np.abs(found.kappa) < 1e-4
        assert alone.any()
        np.testing.assert_allclose(found.lateral[alone], expected[alone], rtol=2e-3, atol=1e-6)
    with pytest.raises(nhmech.InputError, match="no wheel of this run has a tyre"):
        nhmech.analysis.tyre_slip(drive(None, duration=0.01))


@pytest.mark.parametrize("torque", [400.0, -400.0])
def test_slip_of_a_run_is_that_of_iso_8855(torque):
    """Straight on, R w = (1 + kappa) V, and the force is that of the magic formula."""
    numbers = (8e4, 1.2, 1.5, 0.2)
    vehicle = level(Tyre(Grip(*numbers), Grip(5e4, 0.9, 1.5, 0.2), load=4000.0))
    simulator = nhmech.Simulator(vehicle, lambda t, state: nhmech.JointTorque(
        {"rear_joint": torque}), dt=1e-3)
    simulator.reset(q=vehicle.configuration(), xi=straight(vehicle, 10.0)[1])
    run = simulator.run(0.03)
    found, columns = nhmech.analysis.tyre_slip(run), vehicle.algebroid.v_names
    speed, *spins = (run.v[:, columns.index(name)] for name in ("forward_speed", *found.wheels))
    np.testing.assert_allclose(found.kappa, (RADIUS * np.array(spins) / speed - 1).T, rtol=1e-9,
                               atol=1e-12)
    np.testing.assert_allclose(found.longitudinal, found.load * magic(
        found.kappa, numbers[0] / 4000.0, *numbers[1:]), rtol=1e-9, atol=1e-6)
    assert torque * found.kappa[-1, 0] > abs(torque) * 0.01


def test_ideal_wheels_and_tyres_in_one_vehicle():
    """Behind ideal rolling, in front a tyre: the rear wheel does not slip, three derivations
    agree."""
    vehicle, rng = single_track({"front_joint": "passenger_car"}), np.random.default_rng(3)
    other = lagrange_multipliers(vehicle.reduced, frame=vehicle.frame)
    assert "rear_joint/lateral" in vehicle.constrained.distribution.names
    assert len(vehicle.speeds) == 3
    q = vehicle.configuration()
    for _ in range(3):
        q[list(deflections(vehicle).values())] = 0.02 * rng.normal(size=2)
        xi = rng.normal(size=3) * 3
        at = (0.0, q, xi, np.zeros(0 if not vehicle.driven else len(vehicle.driven)), vehicle.theta)
        v = vehicle.equations.velocity(0.0, q, xi, vehicle.theta).full().ravel()
        a, b = (form.acceleration(*at).full().ravel() for form in (vehicle.equations, other))
        np.testing.assert_allclose(b, a, rtol=0, atol=1e-10 * np.abs(a).max())
        rigid = [not name.endswith("_deflection") for name in vehicle.algebroid.v_names]
        numeric = solve_saddle(vehicle, 0.0, q, v, at[3]).acceleration
        np.testing.assert_allclose(numeric[rigid], a[rigid], rtol=0,
                                   atol=1e-9 * np.abs(a[rigid]).max())
        rows, heights = vehicle.constraint_error(0.0, q, v)
        assert max(np.abs(rows).max(), np.abs(heights).max()) < 1e-12


def test_numbers_of_a_tyre_are_parameters():
    vehicle = single_track(CONSTANT)
    name, step = "front_joint.lateral_stiffness", 10.0
    free = vehicle.with_parameters(symbolic=[name])
    q, xi = straight(free, 20.0)
    xi[free.speeds.index("lateral_speed")] = 0.5
    s = free.equations.drift
    theta = ca.SX.sym("theta")
    slope = ca.Function("slope", [theta], [ca.jacobian(
        s(0.0, q, xi, np.zeros(len(free.driven)), theta)[1], theta)])(60e3).full().ravel()
    ends = [vehicle.with_parameters({name: 60e3 + sign * step}).equations.drift(
        0.0, q, xi, np.zeros(len(free.driven)), [])[1].full().ravel() for sign in (1, -1)]
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("name, value, words", [
    ("lateral_stiffness", -1.0, "must be a positive number"),
    ("lateral_shape", 5.0, "from 1 to 2"),
    ("lateral_curvature", 3.0, "at most 1"),
    ("lateral_friction", 0.0, "must be a positive coefficient"),
    ("low_speed", 0.0, "must be a speed"),
    ("lateral_relaxation", 0.0, "the tyre has 0.54"),
    ("longitudinal_relaxation", -0.1, "must be a length"),
])
def test_numbers_that_no_tyre_has_are_no_parameters(name, value, words):
    vehicle = single_track({"front_joint": "passenger_car"})
    with pytest.raises(nhmech.InputError, match=f"front_joint.{name}'? = .*{words}"):
        vehicle.with_parameters({f"front_joint.{name}": value})


def test_deflections_have_no_parameters():
    """They are coordinates; a mass of theirs would be no tyre's."""
    relaxed, stiff = single_track("passenger_car"), single_track(
        "passenger_car lateral.relaxation=0 longitudinal.relaxation=0")
    assert len(deflections(relaxed)) == 4
    assert set(relaxed.parameters.values) == set(stiff.parameters.values)


def test_relaxation_does_not_begin_by_a_parameter():
    vehicle = single_track(CONSTANT)
    with pytest.raises(nhmech.InputError, match="how many coordinates"):
        vehicle.with_parameters({"front_joint.lateral_relaxation": 0.1})


def test_a_slider_of_a_page_has_only_what_a_tyre_can_have():
    vehicle = single_track({"front_joint": "passenger_car"})
    names = [name for name in vehicle.parameters.values
             if name.removeprefix("front_joint.").startswith(("longitudinal_", "lateral_", "lo"))]
    assert len(names) == 12
    for slider in parameter_sliders(vehicle.with_parameters(symbolic=names)):
        assert slider["low"] < slider["value"] < slider["high"]
        for end in ("low", "high"):
            vehicle.with_parameters({slider["name"]: slider[end]})


@pytest.mark.parametrize("tyre", ["passenger_car", "robot_rubber"])
def test_steady_slip_does_not_know_relaxation(tyre):
    at_once = Tyre.read(f"{tyre} longitudinal.relaxation=0 lateral.relaxation=0")
    a, b = level(tyre), level(at_once)
    forces = [ground_forces(v, *slipping(v, 0.05, -0.03)) for v in (a, b)]
    np.testing.assert_allclose(*forces, rtol=1e-9)


# -- bad input -------------------------------------------------------------------------------------
@pytest.mark.parametrize("make, words", [
    (lambda: Tyre(Grip(-1.0), Grip(1.0)), "stiffness"),
    (lambda: Tyre(Grip(float("nan")), Grip(1.0)), "stiffness"),
    (lambda: Tyre(Grip(1.0, 0.8), Grip(1.0, 0.8)), "friction needs load="),
    (lambda: Tyre(Grip(1.0, 0.8), Grip(1.0), load=1.0), "longitudinal direction only"),
    (lambda: Tyre(Grip(1.0), Grip(1.0), load=0.0), "load"),
    (lambda: Tyre(Grip(1.0), Grip(1.0), low_speed=0.0), "low_speed"),
    (lambda: Tyre(Grip(1.0), 3.0), "must be a Grip"),
    (lambda: Grip(1.0, shape=0.5), "from 1 to 2"),
    (lambda: Grip(1.0, curvature=1.5), "at most 1"),
    (lambda: Grip(1.0, relaxation=-0.1), "relaxation"),
    (lambda: Tyre.read("pasenger_car"), "did you mean 'passenger_car'?"),
    (lambda: Tyre.read("passenger_car lateral.frictoin=1"), "did you mean 'lateral.friction'?"),
    (lambda: Tyre.read("passenger_car load=heavy"), "not a number"),
    (lambda: Tyre.read("passenger_car@heavy"), "not a number"),
    (lambda: Tyre.read("passenger_car@80000"), "it is for 800 to 8000 N"),
    (lambda: Tyre.read("passenger_car@-1"), "it is for 800 to 8000 N"),
    (lambda: Tyre.read("bicycle@400"), "has no dependence on the load"),
    (lambda: Tyre.read("lateral.stiffness=1"), "longitudinal.stiffness is missing"),
    (lambda: Wheel("a", "omni", 0.1, law="tyre", tyre="robot_rubber"), "it is for disc, torus"),
    (lambda: Wheel(None, "caster_ball", 0.1, link="a", law="tyre", tyre="robot_rubber"),
     "has no meaning for kind 'caster_ball'"),
    (lambda: Wheel("a", "disc", 0.1, law="tyre"), "needs tyre="),
    (lambda: Wheel("a", "disc", 0.1, tyre="robot_rubber"), 'write law="tyre"'),
    (lambda: Wheel("a", "disc", 0.1, law="tire"), "law 'tire' does not exist"),
    (lambda: nhmech.load(nhmech.urdf_path("omni"), tyres="robot_rubber"), "can have a tyre"),
    (lambda: nhmech.load(nhmech.urdf_path("skid_steer"), tyres={"wheel": "robot_rubber"}),
     "wheel 'wheel' does not exist"),
])
def test_refused(make, words):
    with pytest.raises(nhmech.InputError, match=words.replace("?", r"\?")):
        make()


def test_a_tyre_is_written_and_read():
    for tyre in (*TYRES.values(), Tyre(Grip(9e4), Grip(6e4)),
                 Tyre.read("passenger_car lateral.friction=0.8 load=3000")):
        assert Tyre.read(str(tyre)) == tyre
        assert eval(repr(tyre)) == tyre


def test_the_file_and_a_run_file_know_the_tyres(tmp_path):
    from nhmech.urdf.tag import format_tag
    vehicle = single_track({"rear_joint": "passenger_car lateral.friction=0.8"})
    tag = format_tag(vehicle.description)
    assert 'law="tyre" tyre="longitudinal.stiffness=' in tag
    text = vehicle.description.xml.replace("</robot>", tag + "</robot>")
    again = nhmech.load(text)
    assert [w.tyre for w in again.description.wheels] == [
        w.tyre for w in vehicle.description.wheels]
    simulator = nhmech.Simulator(vehicle, dt=1e-3)
    simulator.reset()
    simulator.run(0.01).save(tmp_path / "run.npz")
    loaded = nhmech.Trajectory.load(tmp_path / "run.npz")
    assert loaded.simulated.vehicle.description.wheels == vehicle.description.wheels
