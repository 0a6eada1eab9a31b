"""Finding ROS packages without ROS: `package://NAME/...` and, in xacro files, `$(find NAME)`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import unquote

from ..errors import InputError
from .notice import Notice, NoticeKind
from .remedy import option, suggest

# besides AMENT_PREFIX_PATH, variables that name folders of packages or of Gazebo's models
_VARIABLES = ("ROS_PACKAGE_PATH", "GAZEBO_MODEL_PATH", "GZ_SIM_RESOURCE_PATH")
_DEPTH = 6  # folders looked into above the URDF, and below each entry of ROS_PACKAGE_PATH


def read_packages(packages: Mapping | None) -> dict[str, Path]:
    """The user's `packages=` as name -> existing folder."""
    if packages is None:
        return {}
    if not isinstance(packages, Mapping):
        raise InputError(f"packages {packages!r} must be a mapping of names to folders",
                         suggest("For example ",
                                 option("packages", {"my_robot_description": "/path/to/it"})))
    found = {}
    for name, folder in packages.items():
        path = Path(os.path.expanduser(str(folder)))
        if not path.is_dir():
            raise InputError(f"packages: {str(folder)!r}, given for {name!r}, is not a folder")
        found[str(name)] = path.resolve()
    return found


def find_package(name: str, packages: Mapping[str, Path], near: Path | None = None) -> Path | None:
    """The folder of ROS package `name`, or None.

    Looked for in `packages`, then AMENT_PREFIX_PATH (PREFIX/share/NAME), then ROS_PACKAGE_PATH,
    then upwards from `near` (the folder of the URDF): a folder with a package.xml of that name, or
    a folder called `name` beside one on the way.
    """
    if name in packages:
        return Path(packages[name])
    if not name or name in (".", "..") or "/" in name or "\\" in name:
        return None
    for prefix in _paths("AMENT_PREFIX_PATH"):
        if _exists(prefix / "share" / name):
            return prefix / "share" / name
    for base in _paths("ROS_PACKAGE_PATH"):
        if found := _below(base, name, 3):
            return found
    return _above(near, name) if near is not None else None


def package_of(filename: str) -> str | None:
    """The package that a mesh name begins with; None for a plain path."""
    for scheme in ("package://", "model://"):
        if filename.startswith(scheme):
            return filename[len(scheme):].partition("/")[0]
    return None


def find_file(filename: str, packages: Mapping[str, Path], urdf: Path | None) -> Path | None:
    """The file that a URDF's mesh name means, or None.

    `package://NAME/REST` and `model://NAME/REST` are looked up in `packages`, in the folders above
    the URDF (one called NAME, or one that holds NAME), and in those of `_VARIABLES`; then REST
    itself in the URDF's folder and the one above, since folders are renamed and copied in part. A
    relative name is looked up in the URDF's folder and above. Nothing is ever fetched from a
    network.
    """
    filename = filename.replace("\\", "/")      # of Windows
    package = package_of(filename)
    above = list(urdf.resolve().parents) if urdf else []
    if package is None:
        rest = unquote(filename.removeprefix("file://")) if "://" in filename else filename
        candidates = [folder / rest for folder in above] or [Path(rest)]
    else:
        rest = filename.partition("://")[2].partition("/")[2]
        candidates = [Path(packages[package]) / rest] if package in packages else []
        shared = [prefix / "share" for prefix in _paths("AMENT_PREFIX_PATH")]
        for folder in [*above, *shared, *(f for name in _VARIABLES for f in _paths(name))]:
            candidates += [folder / rest] if folder.name == package else []
            candidates.append(folder / package / rest)
        candidates += [folder / rest for folder in above[:2]]
    return next((path for path in candidates if _exists(path) and path.is_file()), None)


def is_within(file: Path, packages: Mapping[str, Path], urdf: Path | None) -> bool:
    """Whether a file lies below one of the packages, or of the folders that ROS looks for packages
    in, or below the robot's own: that of its package, else of its file."""
    folders = [Path(folder) for folder in packages.values()]
    folders += [prefix / "share" for prefix in _paths("AMENT_PREFIX_PATH")]
    folders += [folder for name in _VARIABLES for folder in _paths(name)]
    if urdf is not None:
        above = list(Path(os.path.abspath(urdf)).parents)
        folders.append(next((folder for folder in above if _exists(folder / "package.xml")),
                            above[0]))
    # as it is spelled: a package that was installed as links points elsewhere
    path = Path(os.path.abspath(file))
    roots = [Path(os.path.abspath(folder)) for folder in folders]
    return any(root in path.parents for root in roots if root != Path(root.anchor))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):      # a name that no file can have
        return False


def missing_meshes(filenames: Iterable[str], packages: Mapping[str, Path],
                   urdf: Path | None) -> list[Notice]:
    """One notice for all meshes, of those that are drawn, that are not there. `filenames`: as the
    URDF names them. `packages`: the user's: name -> folder."""
    named = list(dict.fromkeys(filenames))
    missing = [name for name in named if find_file(name, packages, urdf) is None]
    if not missing:
        return []
    text = (f"{len(missing)} of {len(named)} mesh files to draw are not there, for example "
            f"{missing[0]!r}; outlines are drawn in their place: collision shapes, or boxes of the "
            "same mass and inertia")
    near = None if urdf is None else urdf.resolve().parent
    unknown: dict[str, str] = {}
    for name in missing:
        if (package := package_of(name)) and find_package(package, packages, near) is None:
            unknown.setdefault(package, name)
    if not unknown:
        return [Notice(NoticeKind.MISSING_MESH, text)]
    first, name = next(iter(unknown.items()))
    rest = name.partition("://")[2].partition("/")[2]
    folders = option("packages", dict.fromkeys(unknown, "FOLDER"))
    return [Notice(NoticeKind.MISSING_MESH, text, suggest(
        "Say where they are: ", folders, f", where FOLDER of {first!r} is the one that holds "
        f"{rest!r}"))]


def _paths(variable: str) -> list[Path]:
    return [Path(p) for p in os.environ.get(variable, "").split(os.pathsep) if p]


def _is_package(folder: Path, name: str) -> bool:
    manifest = folder / "package.xml"
    try:
        if not manifest.is_file():
            return False
        return folder.name == name or f"<name>{name}</name>" in manifest.read_text(
            errors="replace"
        ).replace(" ", "")
    except OSError:
        return False


def _below(base: Path, name: str, depth: int) -> Path | None:
    """Breadth first, so that the nearest package wins; unreadable folders are passed over."""
    level = [base]
    for _ in range(depth):
        following = []
        for folder in level:
            if _is_package(folder, name):
                return folder
            if (folder / "package.xml").is_file():
                continue
            try:
                following += sorted(c for c in folder.iterdir() if c.is_dir()
                                    and not c.name.startswith("."))
            except OSError:
                continue
        level = following
    return None


def _above(near: Path, name: str) -> Path | None:
    folders = [near.resolve(), *near.resolve().parents][:_DEPTH]
    for folder in folders:
        if _is_package(folder, name):
            return folder
    for folder in folders:
        if _exists(folder / name / "package.xml"):
            return folder / name
    return None
