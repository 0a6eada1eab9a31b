"""What an archive of the sources holds, and what each installation asks for."""

import os
import re
import subprocess
import sys
import tarfile
from configparser import ConfigParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# name on PyPI -> rosdep keys; where there are none, the manifest says that pip has it
ROSDEP = {
    "casadi": ["casadi-pip"],
    "click": ["python3-click"],
    "lxml": ["python3-lxml"],
    "meshcat": [],
    "numpy": ["python3-numpy"],
    "pillow": ["python3-pil"],
    "pin": ["pinocchio", "coal"],      # one wheel brings both
    "pyzmq": ["python3-zmq"],
    "rich": ["python3-rich"],
    "scipy": ["python3-scipy"],
    "sympy": ["python3-sympy"],
    "tornado": ["python3-tornado"],
    "u-msgpack-python": [],
    "xacro": ["xacro"],
}


def setup_python(*words: str, **options) -> None:
    subprocess.run([sys.executable, "setup.py", "-q", *words], cwd=ROOT, check=True,
                   capture_output=True, **options)


def tracked() -> set[str]:
    """Files that Git keeps; skips where there is no Git, as in an archive of the sources."""
    try:
        told = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True,
                              check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no Git repository to compare with")
    return {name for name in told if (ROOT / name).is_file()}


def test_an_archive_of_the_sources_holds_every_file(tmp_path):
    wanted = tracked()
    setup_python("egg_info", "--egg-base", str(tmp_path))
    listed = (tmp_path / "nhmech.egg-info" / "SOURCES.txt").read_text().splitlines()
    assert wanted - set(listed) == set()


@pytest.mark.soak
def test_an_unpacked_archive_collects_its_tests(tmp_path):
    """From the archive alone: every test file imports its helpers, no robot of others is needed."""
    setup_python("egg_info", "--egg-base", str(tmp_path), "sdist", "--dist-dir", str(tmp_path))
    archive, = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(tmp_path)
    folder = tmp_path / archive.name.removesuffix(".tar.gz")
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]

    def collected(root: Path) -> set[str]:
        done = subprocess.run(collect, cwd=root, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(root)})
        assert done.returncode == 0, done.stdout[-3000:]
        return {name.split("::")[0] for name in done.stdout.splitlines() if "::" in name}

    assert collected(folder) == collected(ROOT)


def test_the_ros_package_asks_for_what_pip_asks_for():
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    assert set(re.findall(r"^[\w-]+", config["options"]["install_requires"], re.M)) == set(ROSDEP)
    manifest = (ROOT / "package.xml").read_text()
    keys = {key for keys in ROSDEP.values() for key in keys}
    asked = re.findall(r"<exec_depend>(.*)</exec_depend>", manifest)
    assert len(set(asked)) == len(asked)
    # what ROS brings has an underscore in its name, or is one of these
    of_ros = {key for key in asked if "_" in key or key in ("launch", "rclpy", "rviz2")}
    assert set(asked) - of_ros == keys
    comment, = re.findall(r"<!-- (.*?) come from pip", manifest)
    assert set(re.split(r", | and ", comment)) == {name for name, keys in ROSDEP.items()
                                                   if not keys}
