"""What a bag tells beside the motion: IMUs, the path, the friction in use, and how noisy it was."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support import mcap_messages, shipped

import nhmech
from nhmech.control import Delay, MeasurementNoise, Stanley, make_path
from nhmech.logs import write_mcap
from nhmech.simulation import imu_along
from nhmech.urdf.imus import find_imus

pytest.importorskip("rosbags")

IMU = ('<link name="{0}"/><joint name="to_{0}" type="fixed"><parent link="base_link"/>'
       '<child link="{0}"/><origin xyz="0.1 0.02 0.2" rpy="0.1 0 1.57"/></joint>')
SENSOR = '<gazebo reference="{}"><sensor name="s" type="imu"/></gazebo>'
NOISE = {"position": 0.01, "heading": 0.02, "velocity": 0.03, "gyro": 0.04, "accelerometer": 0.5}


@cache
def robot(*links: str, sensors: tuple[str, ...] = ()) -> nhmech.Vehicle:
    text = nhmech.urdf_path("differential_drive").read_text()
    more = "".join(IMU.format(link) for link in links) + "".join(map(SENSOR.format, sensors))
    return nhmech.load(text.replace("</robot>", f"{more}</robot>"))


def follow(vehicle, **noise):
    inside = Stanley(vehicle, make_path("figure8", 2.0), speed=0.3)
    controller = Delay(MeasurementNoise(inside, **noise), 0.01) if noise else inside
    simulator = nhmech.Simulator(vehicle, controller, control_period=0.01)
    simulator.reset(**inside.start)
    return simulator.run(0.5, every=10)


def read(path):
    """Topic -> messages."""
    return {topic: [message for _, message in found]
            for topic, found in mcap_messages(path)[0].items()}


def vector(v):
    return np.array([v.x, v.y, v.z])


@pytest.mark.parametrize("links, sensors, found", [
    ((), (), ()), (("imu_link",), (), ("imu_link",)),
    (("base_imu", "IMU"), (), ("base_imu", "IMU")),
    (("simulated", "imu_link", "chip"), ("chip",), ("chip",)), (("a",), ("nowhere",), ())])
def test_links_with_an_imu(links, sensors, found):
    assert find_imus(robot(*links, sensors=sensors).description.xml) == found


@pytest.mark.parametrize("name, xi", [("differential_drive", {"left_wheel_joint": 3.0}),
                                      ("bicycle", {"rear_wheel_joint": 15.0, "roll_rate": 0.3}),
                                      ("trailers", {"forward_speed": 1.0})])
@pytest.mark.parametrize("mode", ["dynamic", "kinematic"])
def test_along_a_run_an_imu_reads_what_it_reads_in_the_loop(name, xi, mode):
    vehicle = shipped(name)
    link = vehicle.description.wheels[0].link
    seen = []

    def watch(t, state):
        seen.append((state.gyro(link), state.accelerometer(link)))
        return [0.3] * (len(vehicle.driven) if mode == "dynamic" else len(vehicle.speeds))

    simulator = nhmech.Simulator(vehicle, watch, mode=mode, on_limit="ignore")
    if mode == "dynamic":
        simulator.reset(xi=xi)
    run = simulator.run(0.05)
    found = imu_along(run, link)
    # in the loop a controller sees the inputs of before: those of all later states are the same
    for k in range(2, 50):
        np.testing.assert_allclose(found.gyro[k], seen[k][0], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.accelerometer[k], seen[k][1], rtol=1e-9, atol=1e-9)
    some = imu_along(run, link, states=[3, 40])
    assert np.array_equal(some.gyro, found.gyro[[3, 40]])


def test_where_wheels_slide_an_imu_feels_friction():
    """A base whose wheels spin is pushed by mu times what they carry."""
    vehicle = shipped("differential_drive")
    simulator = nhmech.Simulator(vehicle, lambda t, state: np.array([0.5, 0.5]), contact="coulomb",
                                 mu=0.02)
    run = simulator.run(0.2)
    assert not run.rolled[50:].any()
    mass = sum(i.mass for i in vehicle.model.inertias)
    normals = run.force("left_wheel_joint", "normal") + run.force("right_wheel_joint", "normal")
    pushed = 0.02 * normals[100] / mass
    assert imu_along(run).accelerometer[100, 0] == pytest.approx(pushed, rel=1e-3)


def test_imu_messages(tmp_path):
    vehicle = robot("imu_link")
    run = follow(vehicle, **NOISE)
    told = read(write_mcap(run, tmp_path / "run.mcap"))["/imu"]
    found = imu_along(run, "imu_link")
    assert len(told) == len(run) and {m.header.frame_id for m in told} == {"imu_link"}
    for k in (0, 17, 50):
        assert np.array_equal(vector(told[k].angular_velocity), found.gyro[k])
        assert np.array_equal(vector(told[k].linear_acceleration), found.accelerometer[k])
        r = told[k].orientation
        x, y, z, w = r.x, r.y, r.z, r.w
        # gravity in W, seen by a level base on level ground, is along the third row of R_WL
        up = np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])
        assert up @ found.accelerometer[k] == pytest.approx(9.81, rel=1e-9)
        np.testing.assert_allclose(told[k].orientation_covariance,
                                   np.diag([0, 0, 0.02 ** 2]).ravel(), rtol=1e-12)
        np.testing.assert_allclose(told[k].angular_velocity_covariance,
                                   np.diag([0.04 ** 2] * 3).ravel(), rtol=1e-12)
        np.testing.assert_allclose(told[k].linear_acceleration_covariance,
                                   np.diag([0.5 ** 2] * 3).ravel(), rtol=1e-12)


def test_covariances_of_odometry_are_those_of_the_noise(tmp_path):
    vehicle = robot()
    noisy = read(write_mcap(follow(vehicle, **NOISE), tmp_path / "a.mcap"))["/odom"][-1]
    assert np.diag(np.reshape(noisy.pose.covariance, (6, 6))) == pytest.approx(
        [0.01 ** 2] * 3 + [0, 0, 0.02 ** 2], rel=1e-12)
    assert np.diag(np.reshape(noisy.twist.covariance, (6, 6))) == pytest.approx(
        [0.03 ** 2] * 3 + [0] * 3, rel=1e-12)
    exact = read(write_mcap(follow(vehicle), tmp_path / "b.mcap"))
    assert not np.any(exact["/odom"][-1].pose.covariance) and "/imu" not in exact


def test_noise_is_kept_in_the_file_of_a_run(tmp_path):
    run = follow(robot(), **NOISE)
    again = nhmech.Trajectory.load(run.save(tmp_path / "run.npz"))
    assert {name: value for name, value in again.settings["noise"].items() if value} == NOISE
    assert "noise" not in follow(robot()).settings


def test_several_imus_have_topics_of_their_own(tmp_path):
    run = follow(robot("imu_link", "imu_2"))
    assert {"/imu/imu_link", "/imu/imu_2"} <= set(read(write_mcap(run, tmp_path / "a.mcap")))
    one = read(write_mcap(run, tmp_path / "b.mcap", imus=["base_link"]))
    assert one["/imu"][0].header.frame_id == "base_link"
    with pytest.raises(nhmech.InputError, match="imus: link 'imu_3' does not exist.*'imu_2'"):
        write_mcap(run, tmp_path / "c.mcap", imus=["imu_3"])


def test_markers_of_the_path_and_of_the_friction_in_use(tmp_path):
    vehicle = robot()
    run = follow(vehicle)
    messages = read(write_mcap(run, tmp_path / "run.mcap"))
    (line,) = messages["/markers/path"][0].markers
    points = np.array([vector(p) for p in line.points])
    path = make_path("figure8", 2.0)
    assert line.header.frame_id == "odom" and line.type == 4
    np.testing.assert_allclose(points[:, :2], path.point(np.linspace(0, path.length, 1000)),
                               atol=1e-6)
    told = messages["/markers/friction"]
    assert len(told) == len(run)
    mu = {wheel.name: wheel.mu for wheel in vehicle.description.wheels if wheel.mu}
    for k in (0, 5, 50):
        for bar in told[k].markers:
            parts = run.reactions[k].components[bar.ns]
            along = np.hypot(parts["longitudinal"], parts["lateral"])
            used = along / (mu[bar.ns] * parts["normal"])
            assert bar.header.frame_id == f"{bar.ns}_contact" and bar.type == 3
            assert bar.scale.z == pytest.approx(max(0.1 * used, 1e-3), rel=1e-9)
            assert bar.pose.position.z == pytest.approx(bar.scale.z / 2, rel=1e-12)
            assert bar.color.r == pytest.approx(min(1, 2 * used), abs=1e-6)
    assert [bar.ns for bar in told[0].markers] == list(mu)
    kinematic = nhmech.Simulator(vehicle, mode="kinematic").run(0.01)
    assert not [topic for topic in read(write_mcap(kinematic, tmp_path / "k.mcap"))
                if topic.startswith("/markers")]


def test_a_path_on_a_slope_lies_on_the_slope(tmp_path):
    ground = nhmech.Ground.inclined(0.1, 0.3)
    vehicle = shipped("differential_drive", ground)
    messages = read(write_mcap(follow(vehicle), tmp_path / "run.mcap"))
    points = np.array([vector(p) for p in messages["/markers/path"][0].markers[0].points])
    assert np.abs(points @ ground.normal).max() < 1e-12 and np.ptp(points[:, 2]) > 0.1
