"""A path from a word: `figure8`, `figure8:4`, or a file of waypoints."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path as File

import numpy as np

from ..checks import check_arguments
from ..errors import InputError, did_you_mean, listed
from ..paths import require_file
from ..vehicle.vehicle import Vehicle
from .path import Path
from .path_library import PATHS, make_path, spline
from .twist_limits import turning_radius

# default sizes of the paths, in the length that `scale` gives; the tightest radius on each is two
# of them or more
SIZES = {"line": 20.0, "circle": 4.0, "figure8": 6.0, "lane_change": 2.0, "dubins": 3.0,
         "slalom": 3.0}
SIDEWAYS = 1.0      # [m/s^2] speed^2 / scale: a gentle lateral acceleration
ROOM = 0.75         # scale / turning radius: half as much again is left for the tightest turn


def scale(vehicle: Vehicle, speed: float | None = None) -> float:
    """The length [m] that sizes paths: that of the vehicle's axles, or more if its steering or
    `speed` [m/s] requires wide turns."""
    radius = turning_radius(vehicle)
    return max(vehicle.steering.length, ROOM * radius if radius < math.inf else 0.0,
               (speed or 0.0) ** 2 / SIDEWAYS)


@check_arguments
def read_path(text: str, length: float) -> Path:
    """The path for a word, from the origin along x.

    Parameters
    ----------
    text
        NAME of `path_library.PATHS`; NAME:SIZE [m]; or a CSV file of waypoints x, y [m], with or
        without a line of titles. A cubic spline goes through them; closed where the last waypoint
        is the first one.
    length
        [m] that sizes a path without a SIZE.

    Raises
    ------
    InputError
        For unknown names, sizes that are not positive numbers, and files that cannot be read.
    """
    name, colon, size = text.partition(":")
    if name in PATHS:
        try:
            scaled = float(size) if colon else SIZES[name] * length
        except ValueError as error:
            meant = PATHS[name][0]
            raise InputError(f"path {text!r}: {size!r} is no number; the size of {name} [m] is "
                             f"{meant}") from error
        return make_path(name, scaled)
    if not text.lower().endswith(".csv"):
        raise InputError(f"no path {text!r}; there are {listed(PATHS)} (with a size in metres: "
                         f"{next(iter(PATHS))}:4), or give a file of waypoints x, y that ends in "
                         f".csv{did_you_mean(name, PATHS)}")
    points = np.array(list(_waypoints(File(text))))
    try:
        if len(points) > 3 and np.array_equal(points[0], points[-1]):
            return spline(points[:-1], closed=True)
        return spline(points)
    except InputError as error:
        raise InputError(f"{text}: {error}") from error


def _waypoints(file: File) -> Iterator[tuple[float, float]]:
    """Rows of x, y; a first row of titles, empty rows and those that begin with # are left out."""
    try:
        require_file(file)
        with open(file, newline="", encoding="utf-8") as stream:
            first = True
            for number, row in enumerate(csv.reader(stream), 1):
                if not row or row[0].lstrip().startswith("#"):
                    continue
                try:
                    x, y = (float(cell) for cell in row[:2])
                    yield x, y
                except ValueError as error:
                    if not first:
                        raise InputError(f"{file}, line {number}: {','.join(row)!r} must begin "
                                         "with two numbers, x and y [m]") from error
                first = False
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not a text file; write one waypoint x, y [m] per "
                         "line") from error
