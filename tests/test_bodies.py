"""Bodies that meet the ground: robots that tip over, fall and lie."""

import subprocess
import sys
from functools import cache

import casadi as ca
import coal
import numpy as np
import pinocchio as pin
import pytest
import umsgpack
from meshes import TRIANGLES, write_obj
from support import at_length, command_line, joint, link, robot, shipped

import nhmech
from nhmech import Ground, InputError, Simulator, Trajectory, Wheel
from nhmech.compile import contact_step
from nhmech.compile.compiler import find_compiler
from nhmech.compile.pointwise import Pointwise
from nhmech.simulation.contact.contact_columns import ContactRecord
from nhmech.simulation.contact.coulomb import lowest_body_function
from nhmech.simulation.contact.implicit_step import ImplicitStep
from nhmech.simulation.contact.motion import Motion, to_body
from nhmech.simulation.contact.nonsmooth import NonsmoothStep
from nhmech.simulation.contact.nonsmooth_terms import NonsmoothTerms
from nhmech.simulation.contact.phases import Phase
from nhmech.vehicle.bodies import ROUND, BodyContacts
from nhmech.vehicle.clearance import REACHES, clearance
from nhmech.vehicle.friction import with_scrubbing
from nhmech.view.floor import ribbon
from nhmech.view.overlays.contact_phases import ContactPhases, draw_trail, phases_along
from nhmech.view.sampling import snapshots

G = 9.81
SHAPES = {"box": '<box size="0.3 0.2 0.5"/>', "sphere": '<sphere radius="0.15"/>',
          "cylinder": '<cylinder radius="0.12" length="0.4"/>'}


def shape(text, xyz=(0, 0, 0), rpy=(0, 0, 0)):
    at, turned = (" ".join(map(str, values)) for values in (xyz, rpy))
    return (f'<collision><origin xyz="{at}" rpy="{turned}"/><geometry>{text}</geometry>'
            '</collision>')


@cache
def tall_robot():
    """Four wheels with brakes under a tall box: 10.4 kg, centre of mass 0.5608 m above the ground
    and 0.2 m behind the front axle."""
    parts = [link("base", 10.0, (0.6, 0.6, 0.1), (0, 0, 0.5),
                  shape('<box size="0.3 0.2 1.0"/>', (0, 0, 0.5)))]
    wheels = []
    for end, x in (("front", 0.2), ("rear", -0.2)):
        for side, y in (("left", 0.15), ("right", -0.15)):
            name = f"{end}_{side}"
            parts += [link(name, 0.1, (2e-4, 3e-4, 2e-4)),
                      joint(f"{name}_wheel", "base", name, (x, y, 0),
                            more='<dynamics damping="0.5"/>')]
            wheels.append(Wheel(f"{name}_wheel", "disc", 0.08, driven=True))
    return nhmech.load(robot(*parts), wheels=wheels)


def cart(base, *parts, **options):
    """Two wheels and a ball under a base, with further parts."""
    parts = [base, *parts, link("ball", 0.1),
             joint("to_ball", "base", "ball", (-0.3, 0, -0.05), kind="fixed")]
    for side, y in (("left", 0.3), ("right", -0.3)):
        parts += [link(side, 0.2, (1e-3, 2e-3, 1e-3)), joint(f"{side}_wheel", "base", side,
                                                             (0, y, 0))]
    wheels = [Wheel("left_wheel", "disc", 0.1), Wheel("right_wheel", "disc", 0.1),
              Wheel(None, "caster_ball", 0.05, link="ball")]
    return nhmech.load(robot(*parts), wheels=wheels, **options)


def with_arm(body, xyz=(0.3, 0, 0)):
    """A cart with an arm on a free joint, about y."""
    return cart(link("base", 4.0, (0.05, 0.05, 0.05)),
                link("arm", 0.5, (0.01, 0.01, 0.01), (0, 0, 0.1), body),
                joint("shoulder", "base", "arm", xyz), free=("shoulder",))


@cache
def shaped(kind):
    """A cart with a body of one shape, which stands askew."""
    body = shape(SHAPES[kind], (0.1, 0, 0.5), (0.4, 0.7, 0.2))
    return cart(link("base", 4.0, (0.05, 0.05, 0.05), (0, 0, 0.3), body))


def simulator(vehicle, mu=0.6, dt=2e-3, **options):
    return Simulator(vehicle, dt=dt, contact="coulomb", mu=mu, on_fall="go-on", **options)


def lowest(vehicle, run):
    """Height of the lowest point of a body at each moment, (N,)."""
    return Pointwise(lowest_body_function(vehicle))(run.t[:, None], run.q, vehicle.theta)[0][:, 0]


# -- where they touch ------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", SHAPES)
def test_the_lowest_point_of_a_shape_is_a_contact(kind):
    """Against the support function of the shape, at random attitudes."""
    vehicle, rng = shaped(kind), np.random.default_rng(1)
    bodies = BodyContacts.of(vehicle)
    s = vehicle.constrained.system
    heights = ca.Function("heights", [s.q], [bodies.heights])
    place = vehicle.collision_model.geometryObjects[0].placement
    mine = [i for i, name in enumerate(bodies.links) if name == "base"]
    for _ in range(50):
        q = vehicle.configuration()
        q[:3], q[3:7] = rng.normal(size=3), pin.Quaternion(pin.SE3.Random().rotation).coeffs()
        pose = pin.XYZQUATToSE3(q[:7]) * place
        down = -pose.rotation[2]
        reach = {"box": np.abs(down) @ [0.15, 0.1, 0.25], "sphere": 0.15,
                 "cylinder": 0.12 * np.hypot(*down[:2]) + 0.2 * abs(down[2])}[kind]
        found = heights(q).full().ravel()[mine]
        assert found.min() == pytest.approx(pose.translation[2] - reach, abs=1e-13)


def test_a_capsule_touches_as_its_two_balls():
    """Its support function along n: p.n + r + l/2 |a.n|, for a capsule of length l about a at p."""
    rng, place = np.random.default_rng(2), pin.SE3(pin.exp3(np.array([0.3, 1.1, -0.4])),
                                                   np.array([0.5, -0.2, 0.9]))
    points = ROUND[coal.Capsule](coal.Capsule(0.2, 0.6), place)
    for n in rng.normal(size=(5, 3)):
        n /= np.linalg.norm(n)
        reach = max(n @ ca.DM(point.centre).full().ravel() + point.ball for point in points)
        depth = 0.2 + 0.3 * abs(n @ place.rotation[:, 2])
        assert reach == pytest.approx(n @ place.translation + depth, rel=1e-12, abs=0)
        along = ca.SX(place.rotation.T @ n)
        found = float(REACHES[coal.Capsule](coal.Capsule(0.2, 0.6))(along))
        assert found == pytest.approx(depth, rel=1e-12, abs=0)


@pytest.mark.parametrize("checked", ["", '<collision_checking><convex name="hull"/>'
                                         '</collision_checking>'], ids=["mesh", "hull"])
def test_a_mesh_touches_with_its_corners(checked, tmp_path):
    """As the file has it, and where the file asks for its convex hull (Pinocchio then makes another
    shape of it): its lowest point, of the contacts and of what a fall is seen by."""
    mesh = f'<mesh filename="{write_obj(tmp_path / "a.obj")}" scale="0.1 0.2 0.3"/>'
    body = shape(mesh, (0.1, 0, 0.2), (0.4, 0.7, 0.2)).replace(
        "<collision>", '<collision name="hull">')
    vehicle = with_arm(body + checked, (0.3, 0, 0.4))
    place = vehicle.collision_model.geometryObjects[-1].placement
    bodies, model, s = BodyContacts.of(vehicle), vehicle.model, vehicle.constrained.system
    heights = ca.Function("heights", [s.q], [bodies.heights])
    mine = [i for i, name in enumerate(bodies.links) if name == "arm"]
    for angle in (0.3, 1.5, 3.0, -2.0):
        q, data = vehicle.configuration((0.3, 0.2, 0.1), {"shoulder": angle}), model.createData()
        pin.forwardKinematics(model, data, q)
        at = data.oMi[model.getJointId("shoulder")] * place
        lowest = min(at.act(corner * [0.1, 0.2, 0.3])[2] for corner in TRIANGLES.reshape(-1, 3))
        assert heights(q).full().ravel()[mine].min() == pytest.approx(lowest, abs=1e-12)
        assert clearance(vehicle).heights(0.0, q) == pytest.approx(lowest, abs=1e-12)
    assert clearance(vehicle).links == ("arm",)


@pytest.mark.parametrize("name", ["tricycle", "trailers", "bicycle"])
def test_their_rows_are_the_rates_of_their_heights(name):
    ground = Ground(normal=(0.1, 0.2, 1), velocity=(0.1, 0.2, 0.3),
                    angular_velocity=(0.03, 0.06, 0.3))
    vehicle, rng, h = shipped(name, ground), np.random.default_rng(0), 1e-6
    terms = NonsmoothTerms.of(vehicle, 0.5, bodies=BodyContacts.of(vehicle))
    for _ in range(5):
        x, w = rng.normal(size=terms.nconf), rng.normal(size=terms.nv)
        x[3:7] /= np.linalg.norm(x[3:7])
        at = w, np.ones(len(terms.contacts))
        A, b, phi = terms.read_rows(0.3, x, *at)
        later, before = (terms.read_rows(0.3 + step, terms.mover(x, step, w)[0], *at)[2]
                         for step in (h, -h))
        there = np.isfinite(phi) & np.isfinite(later) & np.isfinite(before)
        assert there.sum() > len(vehicle.contacts)
        assert np.allclose((A @ w + b)[list(terms.forms)][there],
                           (later[there] - before[there]) / (2 * h), rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", ["tricycle", "bicycle"])
def test_their_accelerations_are_the_rates_of_their_velocities(name):
    """Along a motion with w held."""
    ground = Ground(normal=(0.1, 0.2, 1), velocity=(0.1, 0.2, 0.3),
                    angular_velocity=(0.03, 0.06, 0.3))
    vehicle, rng, h = shipped(name, ground), np.random.default_rng(0), 1e-6
    terms = NonsmoothTerms.of(vehicle, 0.5, bodies=BodyContacts.of(vehicle))
    closed = np.ones(len(terms.contacts))
    for _ in range(3):
        x, w = rng.normal(size=terms.nconf), rng.normal(size=terms.nv)
        x[3:7] /= np.linalg.norm(x[3:7])
        speeds = []
        for step in (h, -h):
            A, b, _ = terms.read_rows(0.3 + step, terms.mover(x, step, w)[0].copy(), w, closed)
            speeds.append(A @ w + b)
        v = to_body(terms.configuration(x), w)
        assert np.allclose(terms.gamma(0.3, x, v, closed), (speeds[0] - speeds[1]) / (2 * h),
                           rtol=1e-6, atol=1e-6)


def test_what_is_recorded_of_a_body_is_that_of_all_its_points():
    """Read and written again it is the same; those of its points that are on the ground bear its
    load in equal parts, and in the air nothing does."""
    vehicle, dt = tall_robot(), 1e-3
    record = ContactRecord(NonsmoothTerms.of(vehicle, 0.5, bodies=BodyContacts.of(vehicle)))
    terms, names, rng = record.terms, list(record.columns.names), np.random.default_rng(3)
    s = vehicle.constrained.system
    heights = ca.Function("heights", [s.q], [terms.bodies.heights])
    base = np.array([name == "base" for name in terms.bodies.links])
    forces = rng.uniform(1, 2, len(record.columns.forces))
    lost, slid = rng.uniform(1, 2, (2, len(names)))
    q = vehicle.configuration()
    for above, bears in ((0.0, True), (0.1, False)):
        q[2] += above - heights(q).full().ravel()[base].min()
        numbers = np.concatenate((forces, record.resting, slid, lost))
        x = np.array([*q[:7], *vehicle.joint_positions(q).values()])
        motion = record.read(numbers, 0.0, x, q, np.zeros(terms.nv), dt)
        again = record.columns.split(record.write(motion, motion.impulses / dt))
        assert np.concatenate(again[2:]) == pytest.approx(numbers[-2 * len(names):], rel=1e-12)
        kept = np.repeat([True, *(bears and name == "base" for name in record.bodies)],
                         [len(vehicle.contact_rows), *[3] * len(record.bodies)])
        assert again[0] == pytest.approx(forces * kept, rel=1e-12)


def test_points_of_a_body_share_its_code():
    """An arm of boxes: a box more on a body that has one adds points, and no instructions."""
    sizes = []
    for boxes in (1, 4):
        vehicle = with_arm("".join(
            shape('<box size="0.1 0.1 0.2"/>', (0, 0, 0.3 + 0.1 * i), (0.1 * i, 0, 0))
            for i in range(boxes)), (0, 0, 0.2))
        terms = NonsmoothTerms.of(vehicle, 0.5, bodies=BodyContacts.of(vehicle))
        assert terms.bodies.links.count("arm") == 8 * boxes
        code = terms.functions.rows, terms.functions.momentum, *terms.body_rows.functions
        sizes.append([function.n_instructions() for function in code])
    assert sizes[0] == sizes[1]


# -- falls -----------------------------------------------------------------------------------------
def test_a_robot_that_brakes_hard_tips_over_and_lies():
    """Its centre of mass h above the ground and l behind the front axle, it tips where mu > l / h;
    friction below that holds it down."""
    vehicle = tall_robot()
    limit = 0.2 / ((10 * 0.58 + 0.4 * 0.08) / 10.4)
    for mu, falls in ((1.2 * limit, True), (0.9 * limit, False)):
        moving = simulator(vehicle, mu, dt=4e-3)
        moving.reset(xi={"forward_speed": 9.0})
        run = moving.run(4.0)
        assert np.diff(run.energy).max() < 1e-10 * run.energy[0]
        assert run.phases[-1].wheels["base"] is (Phase.LYING if falls else Phase.AIRBORNE)
        if falls:
            assert "base lies" in str(run.phases[-1])
            assert np.abs(run.v[-1, :6]).max() < 1e-9
            assert np.abs(lowest(vehicle, run)[-1]) < 1e-8
            assert run.force("base", "normal")[-1] + sum(
                run.force(c, "normal")[-1] for c in vehicle.contact_names) == pytest.approx(
                10.4 * G, rel=1e-9)


def test_what_lies_on_its_roof_slides_to_rest():
    """Dropped without slip of the fall: v^2 / (2 mu g) from the speed that the impact left."""
    vehicle, mu = shipped("omni"), 0.5
    moving = simulator(vehicle, mu, dt=1e-3)
    moving.reset(pose=(0, 0, 0, np.pi, 0, 0), drop=0.0, v={"forward_speed": 2.0})
    run = moving.run(1.0)
    assert run.q[-1, 0] == pytest.approx(2.0 ** 2 / (2 * mu * G), abs=mu * G * 1e-6)
    assert run.slid["base_link"][-1] == pytest.approx(run.q[-1, 0], rel=1e-5)
    assert run.friction_loss["base_link"][-1] == pytest.approx(run.energy[0] - run.energy[-1],
                                                              rel=1e-9)
    assert run.phases[0].wheels["base_link"] is Phase.SLIDING
    assert run.phases[-1].wheels["base_link"] is Phase.LYING


def test_a_body_may_have_a_friction_of_its_own():
    vehicle, mu = shipped("omni"), {**dict.fromkeys(shipped("omni").contact_names, 0.9),
                                    "base_link": 0.25}
    moving = simulator(vehicle, mu, dt=1e-3)
    moving.reset(pose=(0, 0, 0, np.pi, 0, 0), drop=0.0, v={"forward_speed": 1.0})
    run = moving.run(0.6)
    assert run.q[-1, 0] == pytest.approx(1.0 ** 2 / (2 * 0.25 * G), abs=0.25 * G * 1e-6)
    assert run.settings["mu"]["base_link"] == 0.25
    with pytest.raises(InputError, match="mu: wheel 'base' does not exist; .*base_link"):
        simulator(vehicle, {"base": 0.5})
    with pytest.raises(InputError, match="mu of base_link is inf"):
        simulator(vehicle, {**mu, "base_link": np.inf})


def test_a_start_below_the_ground_is_told():
    vehicle = tall_robot()
    q = vehicle.configuration()
    q[2] -= 0.02
    for options in {}, {"v": {}}:
        with pytest.raises(InputError, match="wheel' is 0.02 m below the ground at this q; the ne"):
            simulator(vehicle).reset(q=q, **options)
    moving = simulator(with_arm(shape('<sphere radius="0.02"/>', (0, 0, 0.3))))
    moving.reset(joints={"shoulder": 1.5})
    with pytest.raises(InputError, match="arm is 0.22 m below the ground at this start"):
        moving.reset(joints={"shoulder": np.pi})
    moving.reset(joints={"shoulder": np.pi}, drop=0.0)
    assert moving.state.q[2] == pytest.approx(0.32, abs=1e-12)


@pytest.mark.parametrize("name, kick", [("tricycle", 8.0), *at_length(("bicycle", 2.0)),
                                        ("sled", 14.0)])
def test_a_robot_that_is_thrown_over_comes_to_rest(name, kick):
    vehicle = shipped(name)
    moving = simulator(vehicle)
    moving.reset(v={"forward_speed": 0.3, "roll_rate": kick})
    run = moving.run(4.0)
    assert run.phases[-1].names(Phase.LYING)
    assert np.diff(run.energy).max() < 1e-10 * run.energy[0]
    assert np.abs(run.v[-1, :6]).max() < 1e-9
    heights = lowest(vehicle, run)
    assert heights.min() > -1e-8 and abs(heights[-1]) < 1e-8


@pytest.mark.parametrize("is_compiled", [True, False])
def test_what_rocks_over_the_flat_of_its_rims_gains_no_energy(is_compiled, monkeypatch):
    """Thrown over, a mecanum base stands on two rims that lie in one plane: as it rocks over, their
    lowest points jump to the other side. (It gained 18 J of 88 there.)"""
    if not is_compiled:
        monkeypatch.setattr(ImplicitStep, "take_in_c", lambda *given: None)
    vehicle = shipped("mecanum")
    moving = Simulator(vehicle, contact="coulomb", mu=0.06443411317057333, dt=2e-3,
                       on_fall="go-on")
    speeds = (1.0801634125378852, -0.2887665059953775, 0.08347535610700986, -0.8496059556101431,
              -0.5106224678981267, -0.011533061686586776)
    moving.reset(pose=(0, 0, 0, 1.9362376810890112, -0.2538478878863262, 1.9788239116686164),
                 drop=0.05, v=dict(zip(vehicle.algebroid.v_names, speeds)))
    energy = moving.run(0.3).energy
    assert np.diff(energy).max() < 1e-10 * energy[0]


@pytest.mark.parametrize("dt", [1e-3, 2e-3, 4e-3])
def test_rims_that_rock_until_they_lie_flat_do_not_end_a_run(dt):
    """Neither side of a rim that comes to lie flat is the lowest at the end of such a step."""
    moving = Simulator(shipped("mecanum"), contact="coulomb", mu=0.064, dt=dt, on_fall="go-on")
    moving.reset(pose=(0, 0, 0, 1.94, -0.25, 1.98), drop=0.05, v=dict(zip(
        moving.simulated.vehicle.algebroid.v_names, (1.08, -0.29, 0.08, -0.85, -0.51, -0.01))))
    run = moving.run(0.6)
    assert run.stop == "duration" and np.diff(run.energy).max() < 1e-10 * run.energy[0]
    assert lowest(shipped("mecanum"), run).min() > -1e-8


def test_no_step_ends_below_the_ground():
    """What presses is put back to height zero, and takes along what moves away from the ground."""
    vehicle, rng = shipped("ackermann_car"), np.random.default_rng(0)
    terms = NonsmoothTerms.of(vehicle, 0.5)
    q = vehicle.configuration()
    x = np.array([*q[:7], *vehicle.joint_positions(q).values()])
    none, closed = np.zeros(vehicle.constrained.system.u.numel()), np.ones(4)
    glide = ImplicitStep(terms, closed)
    for _ in range(40):
        w = np.r_[rng.normal(size=6) * (1, 1, 0.03, 0.03, 0.03, 1), np.zeros(terms.nv - 6)]
        rows = terms.read_rows(0.0, x, w, closed)
        now = Motion(0.0, x, w, np.zeros(4, int), np.zeros(terms.m), np.zeros(4), np.zeros(4),
                     rows[2][terms.heights])
        for moved in (glide.take_in_c(now, none, 2e-4, closed, now.impulses, False),
                      glide.take_in_python(now, none, 2e-4, np.arange(4), False)):
            assert moved is None or moved.heights.min() > -1e-12


def test_wheels_that_tip_onto_their_sides_lie_flat():
    """The lowest point of a rim is nowhere then: others of it bear the load."""
    vehicle = shipped("skid_steer")
    moving = simulator(vehicle, 0.7, dt=1e-3)
    moving.reset(pose=(0, 0, 0, 1.57, 0, 0.4), drop=0.0, v={"forward_speed": 1.5})
    run = moving.run(0.02)
    assert set(vehicle.contact_names) <= set(run.phases[-1].names(Phase.AIRBORNE))
    assert abs(run.T_WB[-1][2, 1]) == pytest.approx(1.0, abs=1e-15)      # on its side
    assert np.diff(run.energy).max() < 1e-10 * run.energy[0]


FLAT = [(0.5, 0.5, 0.5, 0.5), (-0.5, 0.5, -0.5, 0.5)]     # quaternions that take y to z


@pytest.mark.parametrize("name", ["ackermann_car", "bicycle", "disc", "mecanum", "skid_steer",
                                  "tricycle"])
@pytest.mark.parametrize("attitude", FLAT)
def test_rims_that_lie_exactly_flat_have_no_rows_that_are_not_finite(name, attitude):
    """The direction of rolling is axle x n over its length, which is zero there."""
    vehicle = with_scrubbing(shipped(name))
    terms = NonsmoothTerms.of(vehicle, 0.5, bodies=BodyContacts.of(vehicle))
    q, all_of_them = vehicle.configuration(), np.ones(len(terms.contacts))
    x = np.array([*q[:7], *vehicle.joint_positions(q).values()])
    x[3:7] = attitude
    x[2] -= terms.read_heights(x).min()
    w = np.random.default_rng(0).normal(size=terms.nv)
    u = np.zeros(vehicle.constrained.system.u.numel())
    sines = np.array([c.sine is not None for c in vehicle.contacts])
    A, b, phi = terms.read_rows(0.0, x, w, all_of_them, 1e-3)
    assert np.isinf(phi[terms.heights[:len(sines)]][sines]).all()
    assert not A[[row for c, flat in zip(terms.contacts, sines) if flat for row in c.rows]].any()
    gamma = terms.gamma(0.0, x, to_body(terms.configuration(x), w), all_of_them)
    forces = terms.momentum(0.0, x, w, u, np.ones(terms.m), all_of_them, 1e-3)
    assert all(np.isfinite(part).all() for part in (A, b, gamma, *forces))
    # it comes down on them, and goes on
    step = NonsmoothStep(terms, np.zeros(len(terms.contacts)))
    w[2] = -1.0
    motion = step.start(0.0, x, w)
    assert (motion.closed[len(sines):]).any() and motion.w[2] > -1.0
    before = motion.w
    motion = step.advance(motion, u, 1e-3)
    assert np.isfinite(motion.x).all() and np.isfinite(motion.w).all() and before is not motion.w
    assert motion.heights.min() > -1e-12


@pytest.mark.parametrize("kind", SHAPES)
def test_every_shape_falls_and_lies(kind):
    vehicle = shaped(kind)
    moving = simulator(vehicle, dt=4e-3)
    moving.reset(pose=(0, 0, 0, 1.2, 0.3, 0), drop=0.3, v={"roll_rate": 1.0})
    run = moving.run(2.0)
    heights = lowest(vehicle, run)
    assert heights.min() > -1e-8 and np.isfinite(run.q).all()
    assert np.diff(run.energy).max() < 1e-10 * run.energy[0]
    assert any("base" in span.names(Phase.SLIDING) + span.names(Phase.LYING)
               for span in run.phases)


def test_a_run_that_falls_can_be_saved(tmp_path):
    moving = simulator(tall_robot(), 0.8)
    moving.reset(pose=(0, 0, 0, 0, 1.4, 0), drop=0.1)
    run = moving.run(0.6)
    found = Trajectory.load(run.save(tmp_path / "fall.npz"))
    assert found.phases == run.phases and "base" in found.phases[-1].bodies
    assert np.array_equal(found.slid["base"], run.slid["base"])
    assert np.array_equal(found.force("base", "normal"), run.force("base", "normal"))


# -- memory ----------------------------------------------------------------------------------------
SMALL_THREAD = """
import threading
import nhmech

moving = nhmech.Simulator(nhmech.load(nhmech.urdf_path("trailers")), contact="coulomb", mu=0.6,
                          on_fall="go-on", dt=2e-3)
moving.reset(pose=(0, 0, 0, 1.3, 0, 0), drop=0.05)
moving.step()
threading.stack_size(256 * 1024)
thread = threading.Thread(target=lambda: [moving.step() for _ in range(10)])
thread.start()
thread.join()
print(moving.t)
"""


def test_a_step_needs_little_of_its_threads_stack():
    """That of a thread is 512 kB on some systems; three arrays of 216 x 216 are 1.1 MB."""
    done = subprocess.run([sys.executable, "-c", SMALL_THREAD], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0 and float(done.stdout) == pytest.approx(0.022, rel=1e-12,
                                                                        abs=0), done.stderr


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler here (or CC=none)")
def test_what_has_no_room_in_compiled_code_is_done_in_python(monkeypatch):
    """The same fall, with room for two contacts at once."""
    runs = []
    for room in (contact_step.AT_ONCE, 6):
        monkeypatch.setattr(contact_step, "AT_ONCE", room)
        moving = simulator(tall_robot(), 0.8, dt=4e-3)
        moving.reset(pose=(0, 0, 0, 0, 1.4, 0), drop=0.1)
        runs.append(moving.run(0.6))
    assert len(runs[0]) == len(runs[1]) and runs[0].phases[-1].wheels["base"] is Phase.LYING
    assert np.allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-9)


# -- lift and landing ------------------------------------------------------------------------------
@pytest.mark.parametrize("part, lifts", [(1 - 1e-6, False), (1 + 1e-6, True)])
def test_the_front_wheel_lifts_at_the_torque_of_statics(part, lifts):
    """A tricycle that is driven behind. With the centre of mass x in front of the rear axle and h
    high, and J_i, r_i of the wheels, N_front = 0 where M g x = a (M h + sum J_i / r_i): a wheel
    that is spun up turns the rest backwards. The torque is r (M + sum J_i / r_i^2) a."""
    file = nhmech.urdf_path("tricycle")
    rear = ("rear_left_wheel_joint", "rear_right_wheel_joint")
    wheels = [Wheel("front_wheel_joint", "disc", 0.18),
              *(Wheel(name, "disc", 0.12, driven=True) for name in rear)]
    vehicle = nhmech.load(file, wheels=wheels)
    model, q = vehicle.model, vehicle.configuration()
    data = model.createData()
    com, M = pin.centerOfMass(model, data, q), pin.computeTotalMass(model)
    x = com[0] - vehicle.contact_points(q)[vehicle.contact_names.index(rear[0])][0]
    spun = [(model.inertias[model.getJointId(wheel.joint)].inertia[1, 1], wheel.radius)
            for wheel in wheels]
    a = M * G * x / (M * com[2] + sum(J / r for J, r in spun))
    torque = 0.12 * (M + sum(J / r ** 2 for J, r in spun)) * a
    efforts = nhmech.JointTorque(dict.fromkeys(rear, part * torque / 2))
    run = Simulator(vehicle, lambda t, state: efforts, dt=1e-4).run(1e-3)
    assert run.stop == ("event: lift-off: front_wheel_joint" if lifts else "duration")
    # a wheel that hardly presses does not roll: it slips first, and has little to lift by then
    efforts = nhmech.JointTorque(dict.fromkeys(rear, (1.05 if lifts else 0.95) * torque / 2))
    moving = Simulator(vehicle, lambda t, state: efforts, dt=1e-3, contact="coulomb", mu=50.0)
    run = moving.run(0.02)
    assert run.rolled.all() != lifts
    assert (run.phases[-1].wheels["front_wheel_joint"] is Phase.AIRBORNE) == lifts


@pytest.mark.parametrize("v_t, v_n, spin", [(3.0, 2.0, 0.0), (0.3, 2.0, 10.0), (-1.0, 1.0, 60.0)])
@pytest.mark.parametrize("e", [0.0, 0.5])
def test_a_ball_lands_with_friction(v_t, v_n, spin, e):
    """P_n = (1 + e) m v_n; P_t is mu P_n against the slip, or the 2/7 m of it that stops it."""
    m, r, mu = 0.5, 0.06, 0.2
    moving = Simulator(shipped("ball"), contact="coulomb", mu=mu, restitution=e)
    state = moving.reset(v={"forward_speed": v_t, "vertical_speed": -v_n, "pitch_rate": spin})
    slip = v_t - r * spin
    P = -np.sign(slip) * min(mu * (1 + e) * m * v_n, 2 / 7 * m * abs(slip))
    assert np.allclose(state.v, [v_t + P / m, 0, e * v_n, 0, spin - P * r / (2 / 5 * m * r ** 2),
                                 0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("mu", [0.1, 5.0])
def test_a_robot_lands_on_its_edge_as_a_plastic_impact_has_it(mu):
    """The impulse goes through the edge: momentum changes by it, angular momentum about the edge
    does not, and the edge stops, or slides with |P_t| = mu P_n."""
    vehicle = tall_robot()
    given = {"forward_speed": 0.5, "vertical_speed": 1.0, "pitch_rate": 0.3}
    moving = simulator(vehicle, mu)
    state = moving.reset(pose=(0, 0, 0, 0, 2.4, 0), drop=0.0, v=given)
    before = np.array([given.get(name, 0.0) for name in vehicle.algebroid.v_names])
    model, data, momenta = vehicle.model, vehicle.model.createData(), []
    corners = [pin.XYZQUATToSE3(state.q[:7]).act(np.array([0.15, y, 1.0])) for y in (0.1, -0.1)]
    edge = np.mean(corners, axis=0)
    assert np.allclose([corner[2] for corner in corners], 0.0, atol=1e-12)
    for v in (before, state.v):
        h = pin.computeCentroidalMomentum(model, data, state.q, v)
        momenta.append(np.r_[h.linear, np.cross(data.com[0] - edge, h.linear) + h.angular])
    impulse = momenta[1] - momenta[0]
    assert impulse[2] > 0 and np.allclose(impulse[3:], 0.0, atol=1e-9)
    R, u = pin.XYZQUATToSE3(state.q[:7]).rotation, state.v
    moves = R @ (u[:3] + np.cross(u[3:6], [0.15, 0.0, 1.0]))
    assert abs(moves[2]) < 1e-12
    if mu > 1:
        assert np.abs(moves).max() < 1e-9 and abs(impulse[0]) < mu * impulse[2]
    else:
        assert abs(impulse[0]) == pytest.approx(mu * impulse[2], rel=1e-9)
        assert impulse[0] * moves[0] < 0


# -- starts in the air -----------------------------------------------------------------------------
def test_a_drop_falls_freely_until_it_lands():
    vehicle = shipped("tricycle")
    moving = simulator(vehicle, dt=1e-3)
    state = moving.reset(drop=0.2)
    height = state.pose[2] if len(state.pose) > 3 else state.q[2]
    run = moving.run(0.5)
    lands = np.sqrt(2 * 0.2 / G)
    flies = run.t < lands
    assert np.allclose(run.q[flies, 2], height - G * run.t[flies] ** 2 / 2, rtol=0, atol=1e-12)
    assert abs(run.phases[0].end - lands) <= 1e-3
    assert set(run.phases[0].wheels[name] for name in vehicle.contact_names) == {Phase.AIRBORNE}
    assert run.rolled[-1]


def test_a_run_goes_on_from_any_moment_of_another():
    """In the air, and while it lands."""
    vehicle = shipped("tricycle")
    moving, again = simulator(vehicle, dt=1e-3), simulator(vehicle, dt=1e-3)
    moving.reset(drop=0.02, v={"forward_speed": 0.5, "roll_rate": 1.0})
    run = moving.run(0.12)
    for k in (30, 80):
        assert vehicle.constraint_error(0.0, run.q[k], run.v[k])[1].max() > 1e-3
        again.reset(q=run.q[k], v=dict(zip(vehicle.algebroid.v_names, run.v[k])))
        assert np.allclose(again.run(0.12 - 1e-3 * k).q[-1], run.q[-1], rtol=0, atol=1e-9)
    with pytest.raises(InputError, match="m above the ground at this q"):
        again.reset(q=run.q[30])
    low = run.q[0].copy()
    low[2] -= 0.1
    with pytest.raises(InputError, match="m below the ground at this q"):
        again.reset(q=low, v={})


@pytest.mark.parametrize("arguments, words", [
    ({"drop": -0.1}, "drop = -0.1"), ({"drop": float("nan")}, "drop = nan"),
    ({"drop": 0.1, "xi": {"forward_speed": 1.0}}, "xi= or drop="),
    ({"drop": 0.1, "q": np.zeros(7)}, "q= or drop="),
])
def test_impossible_drops_are_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        simulator(shipped("tricycle")).reset(**arguments)


def test_what_needs_friction_says_so():
    with pytest.raises(InputError, match="contact=\"coulomb\""):
        Simulator(shipped("tricycle")).reset(drop=0.1)
    with pytest.raises(InputError, match="on_fall"):
        Simulator(shipped("tricycle"), on_fall="go-on")


def test_the_command_line_drops_a_robot():
    found = command_line("run", "tricycle", "--mu", "0.6", "--on-slip", "go-on", "--on-fall",
                         "go-on", "--drop", "0.1", "--start", "0,0,0,170deg,0,0", "--duration",
                         "0.4")
    assert found.exit_code == 0 and "fork slides" in found.output
    found = command_line("run", "tricycle", "--drop", "0.1", "--duration", "0.1")
    assert found.exit_code == 2 and "--on-slip go-on --mu 0.6" in found.output


# -- pages -----------------------------------------------------------------------------------------
def test_a_page_shows_skid_marks_and_wheels_in_the_air():
    """A wheel leaves a trail where it is on the ground, and a mark on it where it slides."""
    vehicle = shipped("tricycle")
    moving = simulator(vehicle, 0.03)
    moving.reset(drop=0.05, v={"forward_speed": 2.0})
    run = moving.run(0.4)
    slides = ContactPhases.of(vehicle, run)
    times = np.linspace(0.0, 0.4, 41)
    q = run.q[np.searchsorted(run.t, times - 1e-9)]
    points = np.array([vehicle.contact_points(row) for row in q])
    phases = phases_along(vehicle, run, (times[1:] + times[:-1]) / 2)
    drawn = {one["path"] for i in range(3)
             for one in draw_trail(i, points[:, i], phases[:, i], 1.0, np.array([0, 0, 1.0]), 3)}
    flight = np.sqrt(2 * 0.05 / G)
    front = list(vehicle.contact_names).index("front_wheel_joint")
    assert {f"/trails/{front}", f"/trails/skid {front}"} <= drawn
    poses = [slides.at(moment, None) for moment in snapshots(vehicle.model, run, times, q)]
    for t, pose in zip(times, poses):
        shown = list(pose.values())[front] is not None
        assert shown == (t < flight) or abs(t - flight) < 5e-3
    assert [name for name, _ in slides.legend] == ["skid mark", "wheel in the air"]
    assert ContactPhases.of(vehicle, Simulator(vehicle).run(0.01)) is None


def test_hidden_segments_of_a_trail_keep_their_place():
    points = np.column_stack([np.arange(5.0), np.zeros(5), np.zeros(5)])
    shown = np.array([True, False, False, True])
    whole, part = (umsgpack.packb(ribbon("/trails/0", points, 1.0, (0, 0, 1), 0, shown=one))
                   for one in (None, shown))
    assert whole != part and len(whole) == len(part)
