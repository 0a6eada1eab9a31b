"""Exact nonholonomic simulation of wheeled robots from their URDF. ::

    import nhmech
    vehicle = nhmech.load("robot.urdf")
    trajectory = nhmech.Simulator(vehicle, controller).run(10.0)
    nhmech.save_html(vehicle, trajectory, "run.html")

The names in `__init__.pyi` are imported when they are first used, so `import nhmech` costs nothing.
"""

from . import lazy

lazy.attach_stub(__name__, __file__)
