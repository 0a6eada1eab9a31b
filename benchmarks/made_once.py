"""What is made once and used again: equations of motion from run to run, charts and compiled steps
from simulator to simulator. Processor time here and, interleaved, in another checkout of the
project:

    python benchmarks/made_once.py [CHECKOUT]
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from common.checkouts import ROUNDS, checkouts, medians, printed_number
from common.report import machine, measured

# from the file to the first steps, without the imports
START = """
from common.timing import Spent
import nhmech, nhmech.vehicle.build, nhmech.simulation.simulator
with Spent() as took:
    nhmech.Simulator(nhmech.load({source}), on_fall="ignore").run(0.01)
print(took.processor)
"""
ANOTHER = """
from common.timing import median, seconds
import nhmech
vehicle = nhmech.load(nhmech.urdf_path({name!r}))
another = lambda: nhmech.Simulator(vehicle).run({seconds})
another()
print(median(lambda: seconds(another)) * 1e3)
"""
AIMS = {"warm start, bicycle [s]": 0.4, "warm start, pr2 [s]": 0.6,
        "another simulator and 10 s, differential_drive [ms]": 11.0}
# a folder of robots that are not shipped
ROBOTS = os.environ.get("NHMECH_ROBOTS", "")


def main() -> None:
    print(machine())
    sources = {name: f"nhmech.urdf_path({name!r})"
               for name in ("differential_drive", "ackermann_car", "bicycle")}
    sources |= {path.stem: repr(str(path)) for path in Path(ROBOTS or "/nowhere").glob("pr2.urdf")}
    warm = {f"warm start, {name}": START.format(source=source)
            for name, source in sources.items()}
    again = {f"another simulator and {seconds:g} s, {name}": ANOTHER.format(name=name,
                                                                           seconds=seconds)
             for name, seconds in (("differential_drive", 10.0), ("ackermann_car", 1.0))}
    with tempfile.TemporaryDirectory() as cache:
        os.environ["NHMECH_CACHE"] = cache
        rows = medians(printed_number, warm, "s") + medians(printed_number, again, "ms")
    print(measured((f"processor time, median of {ROUNDS}", *checkouts()), rows, aims=AIMS))


if __name__ == "__main__":
    main()
