"""Makes the moving picture of the README: python docs/picture.py (needs Chromium)."""

from pathlib import Path

import numpy as np

import nhmech
from nhmech.control.demo import DemoDrive
from nhmech.view import save_gif, save_html

ROBOT, DURATION, FRAMES = "differential_drive", 9.0, 72
HERE = Path(__file__).parent / "images"

vehicle = nhmech.load(nhmech.urdf_path(ROBOT))
simulator = nhmech.Simulator(vehicle, DemoDrive(vehicle), control_period=0.01)
page = save_html(vehicle, simulator.run(DURATION), HERE / "demo.html")
print(save_gif(page, HERE / "demo.gif", np.linspace(0, DURATION, FRAMES, endpoint=False), size=(600, 380), fps=FRAMES / DURATION))
page.unlink()
