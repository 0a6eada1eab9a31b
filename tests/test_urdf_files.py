"""The robots in `urdf/` are valid models, stand on one plane, and carry the numbers
of the cases they are named after."""

import numpy as np
import pinocchio as pin
import pytest
from lxml import etree
from support import reference_case

from nhmech.errors import InputError
from nhmech.paths import urdf_names, urdf_path
from nhmech.urdf.wheel import KINDS, Wheel

NAMES = ("ackermann_car", "ball", "bicycle", "carriage", "coin", "differential_drive", "disc",
         "mecanum", "omni",
         "pendulum", "rover", "skid_steer", "sled", "swerve", "trailers", "tricycle")

# name -> number of moving joints, contacts, mass [kg]: written from what the robots are
SHAPE = {"ackermann_car": (6, 4, 1150 + 4 * 18 + 2 * 9), "ball": (0, 1, 0.5), "bicycle": (3, 2, 94),
         "carriage": (2, 3, 4), "coin": (1, 1, 0.6), "differential_drive": (2, 3, 9.4),
         "disc": (1, 1, 2), "mecanum": (4, 4, 24 + 4 * 1.6), "omni": (3, 3, 6.5 + 3 * 0.35),
         "pendulum": (2, 2, 0.66), "rover": (10, 6, 48 + 6 * 1.9 + 4 * 1.1),
         "skid_steer": (4, 4, 36 + 4 * 2.6), "sled": (0, 3, 2),
         "swerve": (8, 4, 38 + 4 * 1.5 + 4 * 0.6),
         "trailers": (12, 8, 420 + 2 * 4 + 8 * 8 + 2 * 110),
         "tricycle": (4, 3, 22 + 3 + 2.5 + 2 * 1.4)}


def tree(name):
    return etree.parse(urdf_path(name), etree.XMLParser(resolve_entities=False)).getroot()


def model_of(name):
    return pin.buildModelFromXML(urdf_path(name).read_text(), pin.JointModelFreeFlyer())


def floats(text):
    return tuple(float(x) for x in text.split())


def wheels_of(name):
    """The `<wheel>` elements as `Wheel` objects, which checks their attributes as well."""
    convert = {"radius": float, "crown": float, "roller_angle": float, "mu": float, "axis": floats,
               "point": floats, "driven": lambda t: t == "true"}
    for element in tree(name).findall("nhmech/wheel"):
        values = {key: convert.get(key, str)(text) for key, text in element.attrib.items()}
        yield Wheel(values.pop("joint", None), **values)


def placed(name, q=None):
    model = model_of(name)
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model) if q is None else q)
    return model, data


def wheel_frames(name, q=None):
    """(wheel, centre in the root frame (3,), axle in the root frame (3,) or None) at q, by default
    the zero pose."""
    model, data = placed(name, q)
    for wheel in wheels_of(name):
        if wheel.link is not None:
            assert model.existFrame(wheel.link), wheel.link
            oMf = data.oMf[model.getFrameId(wheel.link)]
            yield (wheel, oMf.act(np.array(wheel.point)),
                   None if wheel.axis is None else oMf.rotation @ np.array(wheel.axis))
        else:
            joint = model.getJointId(wheel.joint)
            assert joint < model.njoints, wheel.joint
            axis = data.oMi[joint].rotation @ np.array(
                floats(tree(name).find(f"joint[@name='{wheel.joint}']/axis").get("xyz")))
            yield wheel, data.oMi[joint].translation.copy(), axis


def body(model, link):
    """Inertia of a link that is its joint's only massive body, about its centre of mass
    (mass, lever, rotational inertia)."""
    frame = model.frames[model.getFrameId(link)]
    inertia = frame.placement.actInv(model.inertias[frame.parentJoint])
    return inertia.mass, inertia.lever, inertia.inertia


def test_all_sixteen_are_there():
    assert set(NAMES) <= set(urdf_names())


@pytest.mark.parametrize("name", NAMES)
def test_path_by_any_ending(name):
    path = urdf_path(name)
    assert path.is_file() and path.is_absolute() and path.name == f"{name}.urdf"
    assert urdf_path(f"{name}.urdf") == path


@pytest.mark.parametrize("name", ["no_such_robot", "../urdf/ball", "/etc/passwd", "",
                                  "ball.urdf.xacro", None])
def test_unknown_name_lists_the_known_ones(name):
    with pytest.raises(InputError, match="carriage"):
        urdf_path(name)


@pytest.mark.parametrize("place", [("source", "urdf"), ("prefix", "share/nhmech/urdf")])
def test_path_in_other_layouts(tmp_path, monkeypatch, place):
    """A source tree and an installed prefix: the same rule, from wherever the package file really
    lies."""
    from nhmech import paths

    root, folder = tmp_path / place[0], tmp_path / place[0] / place[1]
    package = root / "lib" / "python3" / "site-packages" / "nhmech"
    folder.mkdir(parents=True)
    package.mkdir(parents=True)
    (package / "paths.py").touch()
    (folder / "toy.urdf.xacro").touch()
    link = tmp_path / "link.py"
    link.symlink_to(package / "paths.py")
    monkeypatch.setattr(paths, "__file__", str(link))
    assert (
        paths.urdf_path("toy")
        == paths.urdf_path("toy.urdf.xacro")
        == (folder / "toy.urdf.xacro").resolve()
    )
    assert "toy" in paths.urdf_names()


@pytest.mark.parametrize("name", NAMES)
def test_shape(name):
    model = model_of(name)
    joints, contacts, mass = SHAPE[name]
    assert model.name == name
    assert model.njoints - 2 == joints
    assert len(list(wheels_of(name))) == contacts
    assert pin.computeTotalMass(model) == pytest.approx(mass, rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_names_and_kinds(name):
    root = tree(name)
    joints = {j.get("name"): j for j in root.findall("joint")}
    links = {link.get("name") for link in root.findall("link")}
    assert "root_joint" not in joints
    assert len(joints) == len(root.findall("joint")) and len(links) == len(root.findall("link"))
    tag = root.find("nhmech")
    assert {e.tag for e in tag.iterchildren(etree.Element)} <= {"wheel", "drive", "speeds", "skid"}
    for wheel in wheels_of(name):
        assert wheel.kind in KINDS
        assert wheel.joint is None or joints[wheel.joint].get("type") == "continuous"
        assert wheel.link is None or wheel.link in links
    for drive in tag.findall("drive"):
        assert joints[drive.get("joint")].get("type") in ("continuous", "revolute")
    materials = {m.get("name") for m in root.findall("material")}
    assert {m.get("name") for m in root.findall("link/visual/material")} == materials


@pytest.mark.parametrize("name", NAMES)
def test_limits(name):
    for joint in tree(name).findall("joint"):
        if joint.get("type") == "fixed":
            continue
        limit = joint.find("limit")
        assert float(limit.get("velocity")) > 0 and float(limit.get("effort")) >= 0
        if joint.get("type") == "revolute":
            assert float(limit.get("lower")) < 0 < float(limit.get("upper"))


@pytest.mark.parametrize("name", NAMES)
def test_inertias_can_exist(name):
    """Positive mass, and no principal moment larger than the sum of the other two."""
    massive = tree(name).findall("link/inertial")
    assert massive
    for inertial in massive:
        entry = {k: float(x) for k, x in inertial.find("inertia").attrib.items()}
        tensor = np.array([[entry["i" + "".join(sorted(a + b))] for b in "xyz"] for a in "xyz"])
        moments = np.linalg.eigvalsh(tensor)
        assert float(inertial.find("mass").get("value")) > 0
        assert moments[0] > 0
        assert moments[2] <= (moments[0] + moments[1]) * (1 + 1e-12), inertial.getparent().get(
            "name"
        )


@pytest.mark.parametrize("name", NAMES)
def test_zero_pose_stands_on_one_plane(name):
    """All contacts lie at the same height, axles are horizontal, and positive rates roll
    forward."""
    bottoms = []
    for wheel, centre, axle in wheel_frames(name):
        bottoms.append(centre[2] - wheel.radius)
        if axle is not None:
            assert abs(axle[2]) < 1e-15 and np.linalg.norm(axle) == pytest.approx(1, abs=1e-12)
            assert name == "omni" or np.allclose(axle, [0, 1, 0], atol=1e-15, rtol=0)
    assert np.ptp(bottoms) <= 1e-12


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("ball", "sled")])
def test_wheels_have_their_collision_shape(name):
    """A cylinder of the wheel's radius around its axle, so that the wheel would be found without
    our element."""
    root = tree(name)
    for wheel in wheels_of(name):
        link = wheel.link or root.find(f"joint[@name='{wheel.joint}']/child").get("link")
        shape = root.find(f"link[@name='{link}']/collision/geometry")[0]
        assert shape.tag == ("sphere" if wheel.kind == "caster_ball" else "cylinder")
        assert float(shape.get("radius")) == wheel.radius


@pytest.mark.parametrize("name", NAMES)
def test_visuals_load_with_their_colours(name):
    model = model_of(name)
    geometry = pin.buildGeomFromUrdfString(model, urdf_path(name).read_text(),
                                           pin.GeometryType.VISUAL)
    assert geometry.ngeoms == len(tree(name).findall("link/visual"))
    assert len({tuple(o.meshColor) for o in geometry.geometryObjects}) >= 3
    assert not tree(name).findall(".//mesh")


@pytest.mark.parametrize("name",
                         [n for n in NAMES if n not in ("ball", "pendulum", "disc", "coin",
                                                        "bicycle")])
def test_weight_lies_inside_the_support(name):
    """Every contact of a standing vehicle can carry weight:
    the centre of mass is strictly inside the hull of the contacts."""
    from scipy.spatial import ConvexHull

    model, data = placed(name)
    com = pin.centerOfMass(model, data, pin.neutral(model))[:2]
    hull = ConvexHull([centre[:2] for _, centre, _ in wheel_frames(name)])
    assert np.all(hull.equations[:, :2] @ com + hull.equations[:, 2] < -1e-2)


def test_mecanum_rollers_make_an_x_and_can_be_driven_in_all_directions():
    """No-slip direction sin(a) x + cos(a) y of each wheel; wheel rates in terms of (vx, vy, yaw
    rate) have rank 3."""
    rows = []
    for wheel, centre, _ in wheel_frames("mecanum"):
        s, c = np.sin(wheel.roller_angle), np.cos(wheel.roller_angle)
        assert np.sign(wheel.roller_angle) == -np.sign(centre[0] * centre[1])
        rows.append([1, c / s, -centre[1] + c / s * centre[0]])
    values = np.linalg.svd(rows, compute_uv=False)
    assert values[2] > 0.1 * values[0]


def test_omni_equal_rates_turn_left():
    for _, centre, axle in wheel_frames("omni"):
        assert np.allclose(axle, -centre / np.linalg.norm(centre), atol=1e-12)
        assert np.linalg.norm(centre) == pytest.approx(0.17, abs=1e-12)
        assert np.cross(axle, [0, 0, 1]) @ np.cross([0, 0, 1], centre) > 0


@pytest.mark.parametrize("name", ["swerve", "rover", "tricycle"])
def test_steering_moves_no_wheel_centre(name):
    """Steered wheels stand under their steering axes: steering alone leaves every wheel centre
    where it is."""
    model = model_of(name)
    q = pin.neutral(model)
    for joint in (j for j in model.names if "steering" in j):
        q[model.joints[model.getJointId(joint)].idx_q] = 0.7
    for (_, before, _), (_, after, _) in zip(wheel_frames(name), wheel_frames(name, q)):
        assert np.allclose(before, after, atol=1e-15, rtol=0)


def test_trailers_hitches():
    """One hitch exactly over the tractor's axle, the other 0.35 m behind the axle of the first
    trailer."""
    centres = {wheel.joint: centre for wheel, centre, _ in wheel_frames("trailers")}
    model, data = placed("trailers")
    hitch = [data.oMi[model.getJointId(f"hitch_{i}_joint")].translation for i in (1, 2)]
    axle = [centres[f"{a}_left_wheel_joint"] / 2 + centres[f"{a}_right_wheel_joint"] / 2
            for a in ("rear", "trailer_1", "trailer_2")]
    assert np.allclose(hitch[0], axle[0], atol=1e-15)
    assert np.allclose(hitch[1] - axle[1], [-0.35, 0, 0], atol=1e-12)
    assert np.allclose(hitch[0] - axle[1], [1.4, 0, 0], atol=1e-12)
    assert np.allclose(hitch[1] - axle[2], [1.2, 0, 0], atol=1e-12)


def test_differential_drive_has_the_numbers_of_its_case():
    p = reference_case("diffdrive_coast")["parameters"]
    model = model_of("differential_drive")
    mass, com, inertia = body(model, "base_link")
    assert mass == p["chassis_mass"]
    assert np.allclose(com, [p["com_x"], 0, p["com_z"]], atol=1e-15, rtol=0)
    assert np.allclose(inertia, np.diag([p["Ixx"], p["Iyy"], p["Izz"]]), atol=1e-14, rtol=0)
    for wheel, centre, _ in wheel_frames("differential_drive"):
        if wheel.kind == "caster_ball":
            assert np.allclose(centre, [p["caster_x"], 0, wheel.radius - p["wheel_radius"]],
                               atol=1e-15, rtol=0)
            continue
        side = 1 if "left" in wheel.joint else -1
        assert wheel.radius == p["wheel_radius"]
        assert np.allclose(centre, [0, side * p["half_track"], 0], atol=1e-15, rtol=0)
        mass, com, inertia = body(model, wheel.joint.removesuffix("_joint"))
        assert mass == p["wheel_mass"] and not com.any()
        assert np.allclose(np.diag(inertia), [p["wheel_diametral_inertia"], p["wheel_spin_inertia"],
                                              p["wheel_diametral_inertia"]], atol=1e-15, rtol=0)


def test_carriage_has_the_numbers_of_its_case():
    c = reference_case("carriage")["parameters"]
    p, paper = c["physical"], c["paper"]
    model = model_of("carriage")
    mass, com, inertia = body(model, "base_link")
    assert mass == p["chassis_mass"] and com[0] == p["chassis_com_offset"] and com[1] == 0
    assert inertia[2, 2] == pytest.approx(p["chassis_Izz"], rel=1e-12)
    for wheel, centre, _ in wheel_frames("carriage"):
        if wheel.kind == "disc":
            assert (wheel.radius == p["wheel_radius"] and abs(centre[1]) == p["half_track"]
                    and centre[0] == centre[2] == 0)
            mass, _, inertia = body(model, wheel.joint.removesuffix("_joint"))
            assert mass == p["wheel_mass"]
            assert np.allclose(np.diag(inertia),
                               [p["wheel_diametral_inertia"], p["wheel_spin_inertia"],
                                                  p["wheel_diametral_inertia"]], atol=1e-15, rtol=0)
    data = model.createData()
    total = pin.crba(model, data, pin.neutral(model))[:6, :6]
    assert total[5, 5] == pytest.approx(paper["I"], rel=1e-12) and total[0, 0] == pytest.approx(
        paper["m"], rel=1e-12
    )


def test_pendulum_has_the_numbers_of_its_case():
    p = reference_case("segway")["parameters"]
    model = model_of("pendulum")
    mass, com, inertia = body(model, "base_link")
    assert mass == p["M"] and np.allclose(com, [0, 0, p["L"]], atol=1e-15, rtol=0)
    assert np.allclose(inertia, np.diag([p["body_roll_inertia"], p["Jpsi"], p["Jphi"]]), atol=1e-15,
                       rtol=0)
    for wheel, centre, _ in wheel_frames("pendulum"):
        assert wheel.radius == p["R"] and abs(centre[1]) == p["W"] / 2
        mass, _, inertia = body(model, wheel.joint.removesuffix("_joint"))
        assert mass == p["m"]
        assert np.allclose(np.diag(inertia),
                           [p["wheel_diametral_inertia"], p["Jw"], p["wheel_diametral_inertia"]],
                           atol=1e-18, rtol=0)


def test_sled_has_the_numbers_of_its_case():
    p = reference_case("sleigh")["parameters"]
    mass, com, inertia = body(model_of("sled"), "sled")
    assert (mass, inertia[2, 2]) == (p["m"], p["I"]) and np.allclose(
        com, [p["a"], 0, 0], atol=1e-15, rtol=0
    )
    blade = next(centre for wheel, centre, _ in wheel_frames("sled") if wheel.kind == "blade")
    assert blade[0] == blade[1] == 0


def test_bicycle_totals():
    """Mass, centre of mass and moments about the rear contact, summed from table 1 of Meijaard et
    al. 2007 (x forward, z down)."""
    table = {  # mass, x, z, Ixx, Iyy, Izz, Ixz
        "R": (2, 0, -0.3, 0.0603, 0.12, 0.0603, 0),
        "B": (85, 0.3, -0.9, 9.2, 11, 2.8, 2.4),
        "H": (4, 0.9, -0.7, 0.05892, 0.06, 0.00708, -0.00756),
        "F": (3, 1.02, -0.35, 0.1405, 0.28, 0.1405, 0),
    }
    m, x, z, ixx, iyy, izz, ixz = np.array(list(table.values())).T
    model, data = placed("bicycle")
    q = pin.neutral(model)
    q[2] = 0.3  # rear contact in the origin
    com = pin.centerOfMass(model, data, q)
    assert m.sum() == pin.computeTotalMass(model) == 94
    assert np.allclose(com, [m @ x / 94, 0, -(m @ z) / 94], atol=1e-14, rtol=0)
    shift = pin.SE3(np.eye(3), np.array([0, 0, 0.3]))
    about = (shift.toDualActionMatrix() @ pin.crba(model, data, pin.neutral(model))[:6, :6]
             @ shift.inverse().toActionMatrix())[3:, 3:]
    expected = [(ixx + m * z**2).sum(), (iyy + m * (x**2 + z**2)).sum(), (izz + m * x**2).sum()]
    assert np.allclose(np.diag(about), expected, atol=0, rtol=1e-13)
    assert about[0, 2] == pytest.approx(-(ixz - m * x * z).sum(), rel=1e-13)
    assert np.allclose(about[[0, 1], [1, 2]], 0, atol=1e-13, rtol=0)


def test_bicycle_geometry():
    """Wheelbase, trail and tilt; both knife edges on one plane; positive steering turns the front
    wheel to the left."""
    model, data = placed("bicycle")
    steer = model.getJointId("steering_joint")
    axis = np.array(floats(tree("bicycle").find("joint[@name='steering_joint']/axis").get("xyz")))
    assert np.allclose(axis, [-np.sin(np.pi / 10), 0, np.cos(np.pi / 10)], atol=1e-15, rtol=0)
    (rear, p_rear, _), (front, p_front, _) = wheel_frames("bicycle")
    assert (rear.radius, front.radius) == (0.3, 0.35)
    assert np.allclose(p_front - p_rear, [1.02, 0, 0.05], atol=1e-15, rtol=0)
    p = data.oMi[steer].translation
    on_ground = p - axis * (p[2] + 0.3) / axis[2]
    assert np.allclose(on_ground, [1.02 + 0.08, 0, -0.3], atol=1e-15, rtol=0)
    q = pin.neutral(model)
    q[model.joints[steer].idx_q] = 0.1
    _, data = placed("bicycle", q)
    heading = data.oMi[model.getJointId("front_wheel_joint")].rotation @ [1, 0, 0]
    assert heading[1] > 0.09


def test_bicycle_is_the_table_of_the_case():
    p = reference_case("whipple_linear")["parameters"]
    model = model_of("bicycle")
    for link, (m, xz, moments, ixz) in {
        "rear_frame": (p["mB"], (p["xB"], -p["zB"] - p["rR"]),
                       (p["IBxx"], p["IByy"], p["IBzz"]), -p["IBxz"]),
        "front_frame": (p["mH"], (p["xH"] - p["w"] - p["c"], -p["zH"]),
                        (p["IHxx"], p["IHyy"], p["IHzz"]), -p["IHxz"]),
        "rear_wheel": (p["mR"], (0, 0), (p["IRxx"], p["IRyy"], p["IRxx"]), 0),
        "front_wheel": (p["mF"], (0, 0), (p["IFxx"], p["IFyy"], p["IFxx"]), 0),
    }.items():
        mass, com, inertia = body(model, link)
        assert mass == m
        assert np.allclose(com, [xz[0], 0, xz[1]], atol=1e-15, rtol=0)
        assert np.allclose(inertia,
                           [[moments[0], 0, ixz], [0, moments[1], 0], [ixz, 0, moments[2]]],
                           atol=1e-14, rtol=0)


def test_disc_and_coin_keep_their_spin_out_of_a_massless_root():
    for name, m, across, along in (("disc", 2, 2 * 0.3**2 / 4, 2 * 0.3**2 / 2),
                                   ("coin", 0.6, 0.6 * (3 * 0.05**2 + 0.01**2) / 12,
                                    0.6 * 0.05**2 / 2)):
        model = model_of(name)
        assert model.inertias[1].mass == 0
        mass, com, inertia = body(model, name)
        assert mass == m and not com.any()
        assert np.allclose(inertia, np.diag([across, along, across]), atol=1e-15, rtol=0)


def test_ball_is_solid_and_homogeneous():
    mass, com, inertia = body(model_of("ball"), "ball")
    assert mass == 0.5 and not com.any()
    assert np.allclose(inertia, 0.4 * 0.5 * 0.06**2 * np.eye(3), atol=1e-17, rtol=0)
