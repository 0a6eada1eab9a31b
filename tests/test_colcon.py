"""colcon builds the package in a workspace as a ROS user does, without a ROS installation."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("colcon_core", reason="colcon-common-extensions is not installed")
pytest.importorskip("colcon_ros", reason="colcon-common-extensions is not installed")

ROOT = Path(__file__).parents[1]
PARTS = ("config", "launch", "nhmech", "resource", "rviz", "scripts", "tests", "urdf", "README.md",
         "LICENSE", "package.xml", "pyproject.toml", "setup.cfg", "setup.py")


def colcon(workspace, *words):
    done = subprocess.run([sys.executable, "-m", "colcon", *words], cwd=workspace, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    workspace = tmp_path_factory.mktemp("workspace")
    package = workspace / "src" / "nhmech"
    package.mkdir(parents=True)
    for part in PARTS:
        copy = shutil.copy if (ROOT / part).is_file() else shutil.copytree
        copy(ROOT / part, package / part)
    assert "ros.ament_python" in colcon(workspace, "list")
    colcon(workspace, "build")
    return workspace


def test_what_is_installed(workspace):
    """The marker of the ament index, the executables of `ros2 run`, and all that is launched."""
    installed = workspace / "install" / "nhmech"
    share = installed / "share"
    assert (share / "ament_index" / "resource_index" / "packages" / "nhmech").is_file()
    assert {"nhmech", "simulate"} == {one.name for one in (installed / "lib" / "nhmech").iterdir()}
    for file in ("package.xml", "launch/simulate.launch.py", "launch/simulate.launch",
                 "config/simulate.yaml", "rviz/simulate.rviz", "urdf/mecanum.urdf"):
        assert (share / "nhmech" / file).is_file()


def test_executables_run(workspace):
    """Those of the workspace find their own copy of the package."""
    (library,) = (workspace / "install" / "nhmech" / "lib").glob("python3*/site-packages")
    words = [sys.executable, str(workspace / "install" / "nhmech" / "lib" / "nhmech" / "simulate")]
    done = subprocess.run(words, env={"PYTHONPATH": str(library)}, capture_output=True, text=True)
    # no ROS installation is sourced
    assert done.returncode == 1 and done.stderr.startswith("error: no module 'rclpy' here")


@pytest.mark.soak
def test_tests_are_found(workspace):
    colcon(workspace, "test", "--pytest-args", "tests/test_ros2.py", "-k", "launch_file")
    assert "0 errors, 0 failures" in colcon(workspace, "test-result")
