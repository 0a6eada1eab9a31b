"""Faulty files: all faults in one error, the repair that it suggests, and what needs none."""

import pickle
import re
from ast import literal_eval

import numpy as np
import pinocchio as pin
import pytest
from lxml import etree
from support import command_line, joint, link

import nhmech
from nhmech.analysis.summary import mechanics_summary
from nhmech.errors import InputError, ModelError
from nhmech.urdf.describe import describe
from nhmech.urdf.notice import NoticeKind
from nhmech.urdf.text.fault import FaultyFile
from nhmech.urdf.text.source import read_source
from nhmech.urdf.text.validate import validate
from nhmech.urdf.validate_inertia import find_fault, nearest_possible

TYRE = ('<collision><origin rpy="1.5707963267948966 0 0"/><geometry>'
        '<cylinder radius="0.1" length="0.04"/></geometry></collision>')
BALL = ('<collision><origin xyz="-0.3 0 -0.05"/><geometry><sphere radius="0.05"/></geometry>'
        '</collision>')
LIMIT = '<limit lower="-1" upper="1" effort="2" velocity="3"/>'


def cart(left: str = "", arm: str = LIMIT, wheel: str | None = None) -> str:
    """Two wheels, a ball behind them, and an arm that driving does not need."""
    wheels = {side: link(f"{side}_wheel", 1, (0.003, 0.005, 0.003), body=TYRE)
              for side in ("left", "right")}
    if wheel is not None:
        wheels["left"] = wheel
    return "\n".join([
        '<robot name="cart">', link("base", 10, (0.1, 0.3, 0.35), (-0.1, 0, 0.05)),
        link("caster", 0.1, (1e-4, 1e-4, 1e-4), body=BALL), *wheels.values(), link("arm"),
        joint("caster_joint", "base", "caster", kind="fixed"),
        joint("left_wheel_joint", "base", "left_wheel", (0, 0.2, 0), more=left),
        joint("right_wheel_joint", "base", "right_wheel", (0, -0.2, 0)),
        joint("arm_joint", "base", "arm", (0, 0, 0.2), kind="revolute", more=arm), "</robot>"])


def repairs(description) -> list[str]:
    return [n.text for n in description.notices if n.kind is NoticeKind.REPAIR]


SOUND = describe(cart())
# what is wrong with a joint's elements -> (elements, before, after)
JOINT_FAULTS = {
    "reversed limits": (LIMIT.replace('"-1"', '"2"'), 'lower="2"', '<limit effort="2"'),
    "negative effort": (LIMIT.replace('effort="2"', 'effort="-2"'), 'effort="-2"', 'effort="0"'),
    "negative velocity": (LIMIT.replace('"3"', '"-3"'), 'velocity="-3"', 'velocity="0"'),
    "no effort": (LIMIT.replace('effort="2" ', ""), "<limit lower", 'effort="0"'),
    "velocity NaN": (LIMIT.replace('"3"', '"nan"'), 'velocity="nan"', 'velocity="0"'),
    "negative damping": (LIMIT + '<dynamics damping="-1" friction="0"/>', 'damping="-1"',
                         '<dynamics friction="0">'),
    "empty dynamics": (LIMIT + "<dynamics/>", "<dynamics>", "nothing"),
    "mimics itself": (LIMIT + '<mimic joint="{name}"/>', "<mimic", "nothing"),
}


@pytest.mark.parametrize("what", JOINT_FAULTS)
def test_a_joint_that_moves_is_repaired_by_option_and_another_one_always(what):
    elements, before, after = JOINT_FAULTS[what]
    unneeded = describe(cart(arm=elements.format(name="arm_joint")))
    assert unneeded.wheels == SOUND.wheels
    [text] = repairs(unneeded)
    assert text.startswith("arm_joint") and re.search(f"{before}.*->.*{after}", text), text

    needed = cart(left=elements.format(name="left_wheel_joint")).replace(
        'name="left_wheel_joint" type="continuous"', 'name="left_wheel_joint" type="revolute"')
    with pytest.raises(FaultyFile) as caught:
        describe(needed)
    assert "left_wheel_joint" in str(caught.value)
    assert caught.value.remedy.python.endswith("repair=True")
    assert caught.value.remedy.command.endswith("--repair")
    repaired = describe(needed, repair=True)
    assert repaired.wheels == SOUND.wheels
    [text] = repairs(repaired)
    assert text.startswith("left_wheel_joint") and re.search(f"{before}.*->.*{after}", text), text
    assert validate(read_source(repaired.xml)) == ((), [])


@pytest.mark.parametrize("element", ["mass", "inertia"])
def test_an_inertial_of_which_half_is_missing(element):
    text = re.sub(rf"<{element} [^>]*/>", "", cart(), count=1)
    with pytest.raises(FaultyFile, match=rf"line 2, .*<{element}> is missing.*repair=True"):
        describe(text)
    repaired = describe(text, repair=True)
    assert repaired.wheels == SOUND.wheels and '<link name="base">' in repairs(repaired)[0]


@pytest.mark.parametrize("given, read", [
    ("0, 0.2, 0", "0 0.2 0"), ("0 0.2 0,", "0 0.2 0"), ("0,0.2,0", "0 0.2 0"),
    ("0,0 0,2 0,0", "0.0 0.2 0.0"), ("0 0,2 0", "0 0.2 0"), ("0\xa00.2\u20030", "0 0.2 0")])
def test_numbers_with_commas(given, read):
    text = cart().replace('xyz="0 0.2 0"', f'xyz="{given}"')
    with pytest.raises(ModelError, match=r"is not a number.*repair=True"):
        describe(text)
    repaired = describe(text, repair=True)
    assert repaired.wheels == SOUND.wheels
    assert f'xyz="{given}"' in repairs(repaired)[0] and f'xyz="{read}"' in repairs(repaired)[0]


@pytest.mark.parametrize("given", ["0,0.2,0,1", "a,b,c", "1,000 0 0"])
def test_commas_that_could_mean_anything(given):
    with pytest.raises(FaultyFile) as caught:
        describe(cart().replace('xyz="0 0.2 0"', f'xyz="{given}"'), repair=True)
    assert caught.value.remedy is None


def test_all_faults_in_one_error_with_one_command_that_cures_them(tmp_path):
    text = cart(left='<limit effort="-2" velocity="1"/>', arm=JOINT_FAULTS["reversed limits"][0])
    text = text.replace('xyz="0 -0.2 0"', 'xyz="0, -0.2, 0"')
    text = text.replace('name="cart"', 'name="cart & co"')
    file = tmp_path / "cart.urdf"
    file.write_text(text)
    with pytest.raises(FaultyFile) as caught:
        nhmech.load(file)
    error = caught.value
    assert error.text.startswith("cart.urdf: 3 things are wrong\n")
    for fragment in ("& that is not written &amp;", "effort=-2 is negative", "0, -0.2, 0"):
        assert fragment in error.text
    assert "arm_joint" not in error.text               # driving does not need it
    assert [fault.line for fault in error.faults] == sorted(fault.line for fault in error.faults)
    assert {fault.joint for fault in error.faults} == {"", "left_wheel_joint", "right_wheel_joint"}
    assert all(fault.is_mended for fault in error.faults)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.faults == error.faults

    shown = command_line("inspect", file)
    assert shown.exit_code == 2 and shown.stderr.rstrip().endswith("--repair")
    shown = command_line("inspect", file, "--repair")
    assert shown.exit_code == 0 and "cart & co" in shown.stdout and "-> " in shown.stdout


def test_faults_that_nothing_mends_are_listed_too_and_nothing_is_suggested():
    text = cart(left='<limit effort="-2" velocity="1"/>').replace(
        '<mass value="10"/>', '<mass value="nan"/>').replace('child link="arm"', 'child link="ar"')
    for repair in (False, True):
        with pytest.raises(FaultyFile) as caught:
            describe(text, repair=repair)
        assert caught.value.text.startswith("<string>: 3 things are wrong")
        assert caught.value.remedy is None
        assert [f.is_mended for f in caught.value.faults].count(False) == 2


def test_of_many_faults_ten_are_shown():
    links = "".join(link(f"l{i}") + joint(f"j{i}", "base", f"l{i}", xyz=("x", 0, 0), kind="fixed")
                    for i in range(25))
    with pytest.raises(FaultyFile) as caught:
        describe(cart().replace("</robot>", links + "</robot>"))
    assert len(caught.value.faults) == 25
    assert len(caught.value.text.splitlines()) == 12 and caught.value.text.endswith("and 15 more")


def test_what_is_wrong_besides_the_file_is_said_in_the_same_error():
    text = cart(left='<limit effort="-2" velocity="1"/>').replace('"continuous"', '"fixed"')
    with pytest.raises(FaultyFile) as caught:
        describe(text)
    assert "effort=-2 is negative" in caught.value.text
    assert "no rolling joint" in caught.value.text
    with pytest.raises(ModelError, match="no rolling joint"):
        describe(text, repair=True)


@pytest.mark.parametrize("xyz, words", [
    ("0 0", "xyz='0 0' has 2 numbers; it needs 3"), ("0 zero 1", "'zero' is not a number"),
    ("0 0 0", "has no direction"), ("0 nan 0", "is not finite")])
@pytest.mark.parametrize("both", [True, False])
def test_an_axis_that_cannot_be_read_is_told_alone(xyz, words, both):
    """What follows from the axis that a joint without <axis> has would contradict the file."""
    text = cart()
    for side in ("left", "right")[:1 + both]:
        sound = next(line for line in text.splitlines() if f'name="{side}_wheel_joint"' in line)
        text = text.replace(sound, sound.replace('<axis xyz="0 1 0"', f'<axis xyz="{xyz}"'))
    for repair in (False, True):
        with pytest.raises(FaultyFile) as caught:
            describe(text, repair=repair)
        lines = [number for number, line in enumerate(text.splitlines(), 1)
                 if f'<axis xyz="{xyz}"' in line]
        faults = caught.value.faults
        assert [fault.line for fault in faults] == lines and len(lines) == 1 + both
        assert all(words in f.text and f.text.endswith('xyz="0 1 0"') for f in faults)
        assert "has no <axis>" not in str(caught.value) and "cylinder" not in str(caught.value)


def test_a_root_on_its_side_does_not_hide_the_faults_of_its_file():
    """z of this root lies along the axle of a wheel, and a joint has a negative effort."""
    text = cart(left='<limit effort="-2" velocity="1"/>').replace("</robot>", link("root") + joint(
        "lying", "root", "base", kind="fixed", rpy=(1.5707963, 0, 0)) + "</robot>")
    with pytest.raises(FaultyFile, match="effort=-2 is negative.*\n.*z of a root has to be"):
        describe(text)


def test_repair_is_true_or_false():
    with pytest.raises(InputError, match="True or False"):
        describe(cart(), repair="yes")


SLIPS = {
    "text outside the root element": lambda t: "robot: " + t + " end",
    "an & that is not written": lambda t: t.replace('name="cart"', 'name="a & b"'),
    "-- inside a comment": lambda t: t.replace("</robot>", "<!-- a -- b --- --></robot>"),
    'quotation marks that are not': lambda t: t.replace('name="cart"', "name=\u201ccart\u201d"),
    "a < in a value": lambda t: t.replace('name="cart"', 'name="a < b"'),
    "a value without quotation": lambda t: t.replace('link="arm"', "link=arm"),
    "no space between": lambda t: t.replace('name="arm_joint" ', 'name="arm_joint"'),
    "twice with the same value": lambda t: t.replace('link="arm"', 'link="arm" link="arm"'),
    "a prefix that is not declared": lambda t: t.replace("</robot>", "<x:y a='1'/></robot>"),
    "control characters": lambda t: t.replace("</robot>", "\1</robot>"),
    "not UTF-8": lambda t: t.replace("</robot>", "<!-- gr\xf6\xdfe --></robot>").encode("latin-1"),
    "the encoding 'utf-99'": lambda t: '<?xml version="1.0" encoding="utf-99"?>' + t,
}


@pytest.mark.parametrize("what", SLIPS)
def test_a_slip_of_xml_is_repaired_by_option(what, tmp_path):
    text = SLIPS[what](cart())
    file = tmp_path / "cart.urdf"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ModelError, match=r"(?s)cart\.urdf.*line \d+: ") as caught:
        describe(file)
    assert what in caught.value.text and caught.value.remedy.python.endswith("repair=True")
    repaired = describe(file, repair=True)
    assert repaired.wheels == SOUND.wheels
    [text] = repairs(repaired)
    assert what in text and " -> " in text


def test_several_slips_at_once():
    text = cart()
    for what in ("an & that is not written", "-- inside a comment", "a value without quotation",
                 "a prefix that is not declared"):
        text = SLIPS[what](text)
    assert describe(text, repair=True).wheels == SOUND.wheels
    with pytest.raises(FaultyFile) as caught:
        describe(text)
    assert len({fault.what for fault in caught.value.faults}) == 4


@pytest.mark.parametrize("what, change", [
    ("white space", lambda t: b'\n  <?xml version="1.0"?>\n' + t.encode()),
    ("a version that exists", lambda t: b'<?xml version="0.0"?>\n' + t.encode()),
    ("a version that exists", lambda t: b"<?xml?>\n" + t.encode()),
    ("not closed", lambda t: b'<?xml version="1.0">\n' + t.encode()),
])
def test_a_declaration_means_nothing_to_a_robot(what, change):
    description = describe(change(cart()))
    assert description.wheels == SOUND.wheels
    [text] = repairs(description)
    assert what in text and "->" in text


def test_a_namespace_means_nothing_to_a_robot():
    text = cart().replace('<robot name="cart">', '<robot xmlns="http://ros.org/urdf" name="cart">')
    description = describe(text)
    assert description.wheels == SOUND.wheels
    assert "http://ros.org/urdf" in repairs(description)[0]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32",
                                      "latin-1", "cp1252", "shift_jis"])
def test_encodings_and_line_ends(encoding):
    declared = {"utf-8-sig": "utf-8"}.get(encoding, encoding)
    text = f'<?xml version="1.0" encoding="{declared}"?>\n' + cart()
    for content in (text, text.replace("\n", "\r\n")):
        description = describe(content.encode(encoding))
        assert description.wheels == SOUND.wheels and not repairs(description)


def test_a_declared_encoding_that_is_not_that_of_the_text_is_a_slip_of_the_first_line():
    text = "\n" * 3 + cart().replace("</robot>", "<!-- gr\xf6\xdfe --></robot>")
    broken = ('<?xml version="1.0" encoding="ascii"?>' + text).encode("latin-1")
    with pytest.raises(FaultyFile, match=r"^<string>, line 1: .*not in the encoding 'ascii'"):
        describe(broken)


@pytest.mark.parametrize("text, fragment", [
    ("", "neither a path nor XML"), (b"", "the file is empty"),
    (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
    (b"solid cube", "there is no <robot>"),
    ("<sdf version='1.6'><model name='x'/></sdf>", "SDF"), ("<mujoco/>", "MJCF"),
    ("<html><body/></html>", "web page"), ("<COLLADA/>", "mesh"), ("<launch/>", "launch file"),
    ("<robot name='a'/><robot name='b'/>", "2 <robot> elements"),
    ("<robots><robot name='a'/><robot name='b'/></robots>", "2 <robot> elements"),
    (cart().rpartition("</robot>")[0], "cut off"), (b"\x7fELF\1\0<a>", "a binary file"),
])
def test_what_is_no_urdf_is_named(text, fragment):
    with pytest.raises((ModelError, InputError)) as caught:
        describe(text, repair=True)
    assert fragment in str(caught.value)


# -- inertias

@pytest.mark.parametrize("seed", range(20))
def test_the_nearest_possible_inertia_is_possible_and_nearest(seed):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(3, 3))
    inertia = (a + a.T) / 2
    nearest, moved = nearest_possible(inertia)
    values = np.linalg.eigvalsh(nearest)
    assert values[0] >= -1e-12 and values[0] + values[1] >= values[2] - 1e-12

    def second(matrix):
        return np.trace(matrix) / 2 * np.eye(3) - matrix

    distance = np.linalg.norm(second(nearest) - second(inertia))
    assert moved == pytest.approx(distance / np.linalg.norm(second(inertia)))
    for _ in range(200):        # of no other body is it nearer
        points = rng.normal(size=(3, 4)) * rng.uniform(0, 1.5)
        assert np.linalg.norm(points @ points.T - second(inertia)) >= distance - 1e-12
    assert np.allclose(nearest_possible(nearest)[0], nearest, atol=1e-13)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    assert np.allclose(nearest_possible(turn @ inertia @ turn.T)[0], turn @ nearest @ turn.T,
                       atol=1e-12)


def test_an_inertia_is_judged_by_what_it_does_to_the_body_that_moves():
    """The same impossible part on the same robot: heavy, light, and on an arm that is held."""
    def with_part(parent, size):
        part = link("part", 0.01, (size, size, 10 * size))
        return cart().replace("</robot>", part + joint("part_joint", parent, "part", kind="fixed")
                              + "</robot>")

    for parent in ("base", "arm"):
        light = describe(with_part(parent, 1e-5))
        [notice] = [n for n in light.notices if n.kind is NoticeKind.IMPOSSIBLE_INERTIA]
        assert notice.text.startswith("part: ") and notice.remedy.python.endswith("repair=True")
        assert 'ixx="1e-05"' in light.xml                     # used as it is
        heavy = with_part(parent, 1.0)
        with pytest.raises(FaultyFile, match=r'<inertia> of <link name="part">.*repair=True'):
            describe(heavy)
        repaired = describe(heavy, repair=True)
        assert any("part (1, 1, 10 -> " in text for text in repairs(repaired))
        for element in etree.fromstring(repaired.xml).iterfind("link/inertial/inertia"):
            xx, xy, xz, yy, yz, zz = (float(element.get(k)) for k in ("ixx", "ixy", "ixz", "iyy",
                                                                      "iyz", "izz"))
            assert find_fault(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])) is None


def test_a_wheel_of_revolution_is_judged_together_with_its_carrier():
    thin = link("left_wheel", 1, (0.001, 0.005, 0.001), body=TYRE)      # 2 I_across < I_axle
    description = describe(cart(wheel=thin))
    [notice] = [n for n in description.notices if n.kind is NoticeKind.IMPOSSIBLE_INERTIA]
    assert notice.text.startswith("left_wheel: ")
    with pytest.raises(FaultyFile, match="may not exceed the sum"):     # not of revolution: alone
        describe(cart(wheel=link("left_wheel", 1, (0.001, 0.005, 0.003), body=TYRE)))
    negative = link("left_wheel", 1, (0.003, -0.5, 0.003), body=TYRE)
    with pytest.raises(FaultyFile, match="none may be negative"):
        describe(cart(wheel=negative))


@pytest.mark.parametrize("mass, moment", [(1, 0.005), (0, 0.005), (0, 0), (1, 0)])
def test_mass_and_inertia_count_each_by_itself(mass, moment):
    """Against the saddle-point equations with Pinocchio's mass matrix."""
    wheel = link("left_wheel", mass, (0.6 * moment, moment, 0.6 * moment), body=TYRE)
    vehicle = nhmech.load(cart(wheel=wheel))
    q, model = vehicle.configuration(), vehicle.model
    _, rates = vehicle.equations.drift(0, q, np.zeros(2), np.array([1.0, 0.0]), vehicle.theta)
    A, M = vehicle.constraint_matrix(q), pin.crba(model, vehicle.data, q)
    joints = [model.joints[model.getJointId(f"{side}_wheel_joint")].idx_v
              for side in ("left", "right")]
    force = -pin.computeGeneralizedGravity(model, vehicle.data, q)
    force[joints[0]] += 1
    saddle = np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]])
    expected = np.linalg.lstsq(saddle, np.r_[force, np.zeros(len(A))], rcond=None)[0][joints]
    assert rates.full().ravel() == pytest.approx(expected, rel=1e-9)


# -- motions without mass

def steered(front: str, knuckle: str = '<link name="{side}_knuckle"/>') -> str:
    """A car whose knuckles have no mass."""
    text = ['<robot name="car">', link("base", 10, (0.1, 0.3, 0.35), (0, 0, 0.1))]
    for side, y in (("left", 0.2), ("right", -0.2)):
        text += [link(f"rear_{side}_wheel", 1, (0.003, 0.005, 0.003), body=TYRE),
                 joint(f"rear_{side}_wheel_joint", "base", f"rear_{side}_wheel", (-0.3, y, 0)),
                 knuckle.format(side=side), front.format(name=f"front_{side}_wheel"),
                 joint(f"{side}_steer_joint", "base", f"{side}_knuckle", (0.3, y, 0),
                       axis=(0, 0, 1), kind="revolute",
                       more='<limit lower="-0.6" upper="0.6" effort="10" velocity="3"/>'),
                 joint(f"front_{side}_wheel_joint", f"{side}_knuckle", f"front_{side}_wheel")]
    return "".join(text) + "</robot>"


@pytest.mark.filterwarnings("error")
def test_wheels_without_mass_are_refused_where_a_motion_has_none_and_repaired_as_rubber(tmp_path):
    file = tmp_path / "car.urdf"
    file.write_text(steered('<link name="{name}">' + TYRE + "</link>"))
    with pytest.raises(ModelError, match="steer_joint can move without moving any mass") as caught:
        nhmech.load(file)
    assert caught.value.remedy.python.endswith("repair=True")
    vehicle = nhmech.load(file, repair=True)
    mass = 920 * np.pi * 0.1 ** 2 * 0.04
    for side in ("left", "right"):
        wheel = f"front_{side}_wheel"
        assert vehicle.parameters.values[f"{wheel}.mass"] == pytest.approx(mass)
        assert vehicle.parameters.values[f"{wheel}.Iyy"] == pytest.approx(mass * 0.1 ** 2 / 2)
    assert any("front_left_wheel_joint 0 -> 1.16 kg" in n.text for n in vehicle.notices)
    assert mechanics_summary(vehicle)["nxi"] == 2


def test_a_robot_without_any_mass_is_not_made_of_its_wheels():
    text = re.sub("<inertial>.*?</inertial>", "", cart()).replace(BALL, "")
    with pytest.raises(ModelError, match="no link has a mass") as caught:
        nhmech.load(text)
    assert caught.value.remedy is None


@pytest.mark.parametrize("tag", ["collision", "visual"])
def test_a_robot_that_is_only_drawn_has_a_base_of_water(tag):
    """As most first descriptions, which are made to be looked at."""
    box = f'<{tag}><origin xyz="0.1 0 0.2"/><geometry><box size="0.4 0.3 0.2"/></geometry></{tag}>'
    text = re.sub("<inertial>.*?</inertial>", "", cart())
    text = text.replace('<link name="base">', f'<link name="base">{box}')
    with pytest.raises(ModelError, match="no link has a mass") as caught:
        nhmech.load(text)
    assert caught.value.remedy.python.endswith("repair=True")
    vehicle = nhmech.load(text, repair=True)
    values, box, ball = vehicle.parameters.values, 1000 * 0.4 * 0.3 * 0.2, 1000 * 0.1 ** 3
    assert values["base.mass"] == pytest.approx(box + ball)
    # the box's own, the ball's (a box about it), and that of their distance, Steiner
    assert values["base.Izz"] == pytest.approx(
        box * (0.4 ** 2 + 0.3 ** 2) / 12 + ball * 0.1 ** 2 / 6
        + box * ball / (box + ball) * 0.4 ** 2)
    assert any("its base has that of water (1000 kg/m^3) in its shapes, 0 -> 25 kg" in n.text
               for n in vehicle.notices)
    assert len(vehicle.speeds) == 2


def test_what_turns_wheels_that_weigh_next_to_nothing_is_held():
    """Repair leaves a mass that is given; what was locked stays so."""
    mast = link("mast") + joint("mast_joint", "base", "mast", axis=(0, 0, 1))
    text = steered(link("{name}", 1e-20, (1e-20, 1e-20, 1e-20), body=TYRE)).replace(
        "</robot>", mast + "</robot>")
    with pytest.raises(ModelError, match="steer_joint can move without moving any mass") as caught:
        nhmech.load(text, locked={"mast_joint": 0.3})
    advice, _, locked = caught.value.remedy.python.partition("locked=")
    assert advice == "Hold what has no mass by "
    held = {"mast_joint": 0.3, "left_steer_joint": 0.0, "right_steer_joint": 0.0}
    assert literal_eval(locked) == held
    assert all(f"--lock {name}={value:g}" in caught.value.remedy.command
               for name, value in held.items())
    assert len(nhmech.load(text, locked=held).speeds) == 1      # straight on


def test_where_no_repair_helps_the_joints_are_held(tmp_path):
    text = cart(arm=LIMIT).replace(link("arm"), '<link name="arm"/>')
    with pytest.raises(ModelError, match="arm_joint can move without") as caught:
        nhmech.load(text, free=["arm_joint"])
    assert caught.value.remedy is None       # it was released by name: nothing to suggest
    assert nhmech.load(text).driven


@pytest.mark.parametrize("element", ["<limit/>", '<limit effort="x"/>', '<limit velocity="1"/>',
                                     '<calibration rising="x"/>', '<dynamics damping="x"/>'])
def test_what_a_fixed_joint_has_no_use_for_is_mended(element):
    """Parsers of URDF refuse it all the same."""
    text = cart().replace('<joint name="caster_joint" type="fixed">',
                          f'<joint name="caster_joint" type="fixed">{element}')
    assert any(str(notice).startswith("caster_joint: ") for notice in nhmech.load(text).notices)


def test_what_is_left_after_repair_is_told_alone():
    """Not a second time with the file's name, and without the repair that has been made."""
    text = cart(arm=LIMIT.replace('effort="2"', 'effort="-2"')).replace(
        '<joint name="right_wheel_joint" type="continuous">',
        '<joint name="right_wheel_joint" type="fixed">')
    with pytest.raises(ModelError, match="2 things are wrong") as caught:
        nhmech.load(text)
    assert str(caught.value).count("<string>") == 1
    with pytest.raises(ModelError, match="^<string>, line .* no joint lets it roll") as caught:
        nhmech.load(text, repair=True)
    assert str(caught.value).count("<string>") == 1 and "repair" not in str(caught.value)


def test_a_link_that_does_not_exist_is_told_with_the_nearest_name():
    with pytest.raises(ModelError, match="'leftwheel' does not exist.* mean 'left_wheel'"):
        nhmech.load(cart().replace('child link="left_wheel"', 'child link="leftwheel"'))
