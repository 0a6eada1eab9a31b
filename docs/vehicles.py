"""Writes the gallery: docs/gallery.md, docs/gallery/NAME.md for each shipped vehicle, and their
pictures.

    python docs/vehicles.py                    all pages
    python docs/vehicles.py --pictures         pictures too (needs Chromium and matplotlib; minutes)
    python docs/vehicles.py bicycle disc       these only
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from math import inf
from pathlib import Path

import numpy as np

import nhmech
from nhmech.analysis.summary import geometry_summary, mechanics_summary, mobility_summary

HERE = Path(__file__).parent / "gallery"
IMAGES = HERE / "images"
DURATION, SPEED = 6.0, 2.0         # of the pictures [s], times real time
SHOWN = 420, 280                   # of the page, so that the vehicle fills a third of the picture

# in the order of the gallery: what a stranger knows first
NAMES = ("differential_drive", "ackermann_car", "tricycle", "bicycle", "mecanum", "omni", "swerve",
         "rover", "skid_steer", "trailers", "pendulum", "carriage", "disc", "coin", "ball", "sled")
# forward speeds [m/s] over which straight running is interesting, and what the picture shows
STABILITY = {
    "bicycle": ((0.1, 10.0),
                "Between 4.292 and 6.024 m/s it steadies itself without a rider's help: "
                             "the weave and capsize speeds of the benchmark."),
    "disc": ((0.1, 3.0),
             "Below $v = \\sqrt{g r / 3} = 0.990$ m/s, the closed form for a uniform thin disc, it "
                         "falls over; above, its wobble neither grows nor decays."),
    "pendulum": ((0.1, 2.0), "Without a controller it falls at every speed."),
    "trailers": ((-2.0, 2.0),
                 "Forwards a train straightens itself. Backwards it jack-knifes, faster the faster "
                 "it "
                              "goes."),
    "sled": ((-2.0, 2.0),
             "Chaplygin's sleigh: stable with the centre of mass ahead of the runner, unstable "
                           "the other way round, so it turns about."),
    "carriage": ((-2.0, 2.0),
                 "With its wheels free to turn, the carriage is stable with its centre of mass "
                 "ahead of "
                              "the axle only."),
}


def title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def description(name: str) -> str:
    """The comment at the head of the URDF, as paragraphs."""
    return re.search(r"<!--\s*(.*?)\s*-->", nhmech.urdf_path(name).read_text(), re.S).group(1)


def names(items) -> str:
    return ", ".join(f"`{item}`" for item in items) or "none"


def vector(values) -> str:
    return f"({', '.join(map(str, values))})"


def page(name: str) -> str:
    """The page of one vehicle, from the same summaries as `nhmech inspect`."""
    vehicle = nhmech.load(nhmech.urdf_path(name))
    d, mechanics = vehicle.description, mechanics_summary(vehicle)
    mobility, geometry = mobility_summary(vehicle), geometry_summary(vehicle, inf)
    dropped, growth, here = (
        set(mechanics["dropped_rows"]),
        vector(geometry["growth"]),
        vector(geometry["growth_here"]),
    )
    rows = [f"`{row}`" + (" (repeats others)" if row in dropped
                          else "") for row in mechanics["rows"]]
    facts = [
        ("configuration", f"{mechanics['nq']} numbers, {mechanics['nv']} velocities"),
        ("constraints", f"{mobility['rows']} rows, {mobility['rank']} independent"),
        ("independent speeds", ", ".join(f"`{speed}` [{unit}]"
                                         for speed, unit in mechanics["speeds"].items())),
        ("inputs", names(mechanics["inputs"])),
        ("class", f"{vector(mobility['class'])}: {mobility['class_in_words']}"),
        ("rotation centre", mobility["rotation_centre"]),
        ("growth vector",
         f"{growth} of {len(geometry['variables'])}: {', '.join(geometry['variables'])}"
         + ("" if here == growth else f"; {here} in the zero pose")),
        ("controllable", geometry["controllable_in_words"]),
        ("symmetry", "; ".join(f"{group}: {kind}" for group, kind in geometry["symmetry"].items())),
        ("simplified by", mechanics["symmetry"]),
    ]
    if mechanics["followers"]:
        facts.insert(2, ("couplings",
                         f"{names(mechanics['followers'])}, led by {names(mechanics['leaders'])}"))
    if mobility["undetermined_dimension"]:
        dimension = mobility["undetermined_dimension"]
        facts.append(("undetermined forces",
                      f"{dimension} dimension{'s' if dimension > 1 else ''} of the split among "
                      "the wheels"))
    wheels = [(f"`{w.name}`", w.kind, f"{w.radius:.4g}" if w.radius else "",
               "yes" if w.joint in d.driven else "no")
              for w in d.wheels]
    lines = [
        f"<!-- written by docs/vehicles.py from urdf/{name}.urdf -->",
        f"# {title(name)}", "",
        f"![{title(name)}, moving](images/{name}.webp)", "",
        description(name), "",
        "```sh", f"nhmech run {name} --view", f"nhmech drive {name}",
        f"nhmech page {name} -o {name}.html", f"nhmech inspect {name}", "```", "",
        "## Wheels", "",
        "| contact | kind | radius [m] | driven |", "|---|---|---|---|",
        *[f"| {' | '.join(row)} |" for row in wheels], "",
        "## Constraints and mobility", "",
        "| | |", "|---|---|",
        *[f"| {key} | {value} |" for key, value in facts], "",
        "Rows: " + ", ".join(rows) + ".", "",
    ]
    if geometry["integrable"]:
        constants = [f"`{text.removesuffix(' is constant')}`" for text in geometry["integrable"]]
        lines += ["Constant along every motion: " + "; ".join(constants) + ".", ""]
    if geometry["curvature"]:
        words = geometry["curvature_in_words"].partition(" ... (")[0].rstrip(",; ")
        lines += [f"Curvature in the zero pose: {words}.", ""]
    if name in STABILITY:
        (low, high), words = STABILITY[name]
        lines += ["## Stability of straight running", "", words, "",
                  f"![Eigenvalues of {title(name).lower()} over its forward "
                  f"speed](images/{name}_eigenvalues.svg)", "", "```sh",
                  f"nhmech plot --eigenvalues {name} --range {low:g} {high:g} -o {name}.svg",
                  "```", ""]
    return "\n".join(lines)


def pictures(name: str) -> None:
    """The moving picture of the demonstration drive, and the eigenvalues where `STABILITY` has
    them."""
    from filming import FPS, film

    from nhmech.control import DemoDrive
    from nhmech.view import save_html

    vehicle = nhmech.load(nhmech.urdf_path(name))
    drive = DemoDrive(vehicle)
    simulator = nhmech.Simulator(vehicle, drive, control_period=0.01)
    simulator.reset(**drive.start)
    with tempfile.TemporaryDirectory() as folder:
        html = save_html(vehicle, simulator.run(DURATION), Path(folder) / "run.html", follow=True)
        film(html, IMAGES / f"{name}.webp", np.arange(0.0, DURATION, SPEED / FPS), shown=SHOWN)
    if name in STABILITY:
        low, high = STABILITY[name][0]
        subprocess.run([sys.executable, "-m", "nhmech", "plot", "--eigenvalues", name, "--range",
                        str(low), str(high),
                        "--points", "120", "-o", str(IMAGES / f"{name}_eigenvalues.svg")],
                       check=True)


def index() -> str:
    cells = []
    for name in NAMES:
        words = description(name).split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
        page = f"gallery/{name}.md"
        cells.append(f"[![{title(name)}](gallery/images/{name}.webp)]({page})<br>"
                     f"[**{title(name)}**]({page})<br>{words}")
    rows = [f"| {left} | {right} |" for left, right in zip(cells[::2], cells[1::2])]
    return "\n".join(["<!-- written by docs/vehicles.py -->", "# Gallery", "",
                      "Sixteen vehicles come with the package; `nhmech run NAME --view` drives "
                      "each of them. They are ordinary URDF files; some name their wheels in an "
                      "`<nhmech>` element.",
                      "In the pages that `make docs` builds, the picture of a vehicle leads to it: "
                      "one file in which it runs, `nhmech page NAME`, under your keys.",
                      "The pictures play at twice real time. "
                      "`python docs/vehicles.py --pictures` made them, and these pages.", "",
                      "| | |", "|---|---|", *rows, ""])


def main(words: list[str]) -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name in [word for word in words if not word.startswith("-")] or NAMES:
        (HERE / f"{name}.md").write_text(page(name))
        if "--pictures" in words:
            pictures(name)
        print(name, flush=True)
    (HERE.parent / "gallery.md").write_text(index())


if __name__ == "__main__":
    main(sys.argv[1:])
