"""Makes the pictures of the README and of the documentation; `make pictures` runs it in the
project's environment.

    python docs/pictures.py                    all of them, ten to twenty minutes
    python docs/pictures.py demo howto         some: demo, tutorial, wheels, howto, gallery (and its
                                               pages), examples, integrators

Moving pictures need Chromium, drawings need matplotlib.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import nhmech

DOCS = Path(__file__).parent
HERE = DOCS / "images"


def demo() -> None:
    """The moving picture of the front page."""
    from filming import film

    from nhmech.control import DemoDrive
    from nhmech.view import save_html

    vehicle = nhmech.load(nhmech.urdf_path("differential_drive"))
    simulator = nhmech.Simulator(vehicle, DemoDrive(vehicle), control_period=0.01)
    with tempfile.TemporaryDirectory() as folder:
        page = save_html(vehicle, simulator.run(9.0), Path(folder) / "demo.html", follow=True)
        film(page, HERE / "demo.webp", np.arange(0.0, 9.0, 0.1), (0, 0), (450, 285), 600, ["bar"],
             60)


def tutorial() -> None:
    """The run of section 2, filmed, and the plot of section 4."""
    from filming import film

    from nhmech.cli import main
    from nhmech.view import save_html

    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/figure8.npz"
        main(["run", "differential_drive", "--controller", "pure_pursuit", "--path", "figure8",
              "--speed", "0.5", "--duration", "12", "--save", file], standalone_mode=False)
        main(["plot", file, "--mu", "0.8", "-o", str(HERE / "tutorial_plot.svg")],
             standalone_mode=False)
        file = f"{folder}/run.npz"
        main(["run", "differential_drive", "--duration", "9", "--save", file],
             standalone_mode=False)
        run = nhmech.Trajectory.load(file)
        page = save_html(run.simulated.vehicle, run, Path(folder) / "run.html")
        film(page, HERE / "tutorial_run.webp", np.linspace(0.0, 8.8, 36), shown=(600, 380))


def wheels() -> None:
    from wheel_pictures import wheels

    wheels()


def howto() -> None:
    from howto_pictures import howto

    howto()


def skid() -> None:
    from skid_pictures import skid

    skid()


def slip() -> None:
    from slip_films import main

    main([])


def gallery() -> None:
    subprocess.run([sys.executable, DOCS / "vehicles.py", "--pictures"], check=True)


def examples() -> None:
    subprocess.run([sys.executable, DOCS / "example_pictures.py"], check=True)


def integrators() -> None:
    subprocess.run([sys.executable, DOCS.parent / "benchmarks" / "integrators.py", "--steps",
                    "20000", "--plots", HERE], check=True)


def architecture() -> None:
    from architecture import architecture

    architecture()


MADE = {made.__name__: made
        for made in (demo, tutorial, wheels, howto, skid, slip, gallery, examples, integrators,
                     architecture)}

if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    if unknown := set(sys.argv[1:]) - set(MADE):
        sys.exit(f"no pictures {', '.join(sorted(unknown))}; there are {', '.join(MADE)}")
    for name in sys.argv[1:] or MADE:
        print(f"== {name}", flush=True)
        MADE[name]()
