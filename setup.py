"""The metadata is in setup.cfg. Here are the files that are installed beside the package, as ROS
expects them."""

from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent
SHARE = "share/nhmech"


def tree(folder):
    """(target folder, files) of a whole folder, subfolders with meshes included."""
    by_target = {}
    for path in sorted((HERE / folder).rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            path = path.relative_to(HERE)
            by_target.setdefault(f"{SHARE}/{path.parent.as_posix()}", []).append(path.as_posix())
    return list(by_target.items())


setup(
    # here, since colcon cannot read the object that setup.cfg would make of it
    python_requires=">=3.10",
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/nhmech"]),
        (SHARE, ["package.xml"]),
        *(files for folder in ("urdf", "launch", "config", "rviz") for files in tree(folder)),
    ],
)
