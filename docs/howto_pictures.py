"""The pictures of the pages in docs/howto: `python docs/pictures.py howto`."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from filming import film

import nhmech
from nhmech.control import PurePursuit, Stanley, TwistDrive, make_path
from nhmech.view import Ghost, plots, save_html
from nhmech.view.overlays import make_overlays

HERE = Path(__file__).parent / "images"
WIDE, LEGEND = 720, ("bar", "title")        # pixels; what is hidden where the legend is to be seen


def howto() -> None:
    with tempfile.TemporaryDirectory() as folder:
        viewing(Path(folder))
        plotting(Path(folder))
        slipping()
        sliding()
        tyres()
        written(Path(folder))


def driven(name: str, controller, duration: float, every: int = 1, **options):
    """The run of a shipped vehicle with the controller that `controller` makes for it."""
    vehicle = nhmech.load(nhmech.urdf_path(name))
    made = controller(vehicle)
    simulator = nhmech.Simulator(vehicle, made, control_period=0.01, **options)
    simulator.reset(**getattr(made, "start", {}))
    return vehicle, simulator.run(duration, every=every)


def viewing(folder: Path) -> None:
    path = make_path("figure8", 2.0)
    robot, run = driven("differential_drive", lambda robot: PurePursuit(robot, path, speed=1.2),
                        8.0)
    _, other = driven("differential_drive", lambda robot: Stanley(robot, path, speed=1.2), 8.0)
    forces = make_overlays(robot, ["forces"], mu=0.3)
    page = save_html(robot, run, folder / "forces.html", overlays=forces, follow=True)
    film(page, HERE / "viewing_forces.webp", [3.0], (0, 0), (420, 260), WIDE, LEGEND)
    page = save_html(robot, run, folder / "ghost.html",
                     overlays=["path", Ghost(robot, other, "Stanley")])
    film(page, HERE / "viewing_ghost.webp", [5.0], (0, 0), (600, 380), WIDE, LEGEND)

    def bends(t, state):
        return 0.4, 0.0, 0.45 * np.cos(0.9 * t)

    rover, run = driven("rover", lambda rover: TwistDrive(rover, bends), 7.0)
    page = save_html(rover, run, folder / "centre.html", overlays=["rotation_centre"])
    film(page, HERE / "viewing_centre.webp", np.arange(0.0, 7.0, 0.2), (0, 0), (600, 380))
    ball = nhmech.load(nhmech.urdf_path("ball"), ground=nhmech.Ground(angular_velocity=(0, 0, 2.0)))
    simulator = nhmech.Simulator(ball)
    simulator.reset(pose=(0.3, 0, 0), xi={"forward_speed": 0.0, "lateral_speed": 0.12})
    page = save_html(ball, simulator.run(8.0), folder / "turntable.html")
    film(page, HERE / "viewing_turntable.webp", np.arange(0.0, 8.0, 0.2), (0, 0), (600, 380))


def plotting(folder: Path) -> None:
    from nhmech.view import save_report
    from nhmech.view.browser import Browser

    path = make_path("figure8", 20.0)
    car, run = driven("ackermann_car", lambda car: Stanley(car, path, speed=4.0), 20.0, every=10)
    plots.write(plots.friction(car, run, mu=0.8)[0], HERE / "plots_friction.svg")
    figure, axes = plots.tracking(car, run)
    axes[0].set_title("Stanley's law, 4 m/s")
    figure.set_figheight(3.2)
    plots.write(figure, HERE / "plots_tracking.svg")
    page = save_report(run, folder / "car.html", mu=0.8)
    with Browser(page.as_uri(), (1000, 900)) as browser:
        still(browser.picture(), HERE / "plots_report.webp")


def slipping() -> None:
    path = make_path("figure8", 2.0)
    robot, run = driven("differential_drive", lambda robot: PurePursuit(robot, path, speed=1.5),
                        4.0)
    plots.write(plots.friction(robot, run, mu=0.2)[0], HERE / "limits_friction.svg")


def sliding() -> None:
    path = make_path("figure8", 2.0)
    robot, run = driven("differential_drive", lambda robot: PurePursuit(robot, path, speed=1.5),
                        4.0, contact="coulomb", mu=0.2)
    plots.write(plots.friction(robot, run, mu=0.2)[0], HERE / "slip_friction.svg")


def tyres() -> None:
    """Force over load of the passenger car's tyre, and how stiff tyres tend to ideal rolling."""
    from matplotlib import pyplot as plt

    from nhmech.urdf import TYRES, Grip, Tyre
    from nhmech.vehicle.tyres import DIRECTIONS, magic_formula
    from nhmech.view.drawing import plot_style

    tyre = TYRES["passenger_car"]
    number = {name.replace(".", "_"): value for name, value in tyre.numbers().items()}
    stiffness = {d: number[f"{d}_stiffness"] / tyre.load for d in DIRECTIONS}

    def force(kappa: float, alpha: float) -> tuple[float, float]:
        found = magic_formula({"longitudinal": -kappa, "lateral": np.tan(alpha)}, stiffness, number)
        return tuple(float(found[d]) for d in DIRECTIONS)

    with plot_style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.4), layout="constrained")
        slip = np.linspace(0, 0.5, 200)
        left.plot(slip, [force(s, 0)[0] for s in slip], label="longitudinal, alone")
        left.plot(slip, [-force(0, np.arctan(s))[1] for s in slip], label="lateral, alone")
        left.plot(slip, [-force(s, np.radians(4))[1] for s in slip], "--",
                  label="lateral at 4°, over longitudinal slip")
        left.set(xlabel="slip, kappa or tan(alpha)", ylabel="force over load", ylim=(0, None),
                 title="passenger_car")
        left.legend(loc=(0.45, 0.36))
        torque = nhmech.JointTorque({"left_wheel_joint": 0.05, "right_wheel_joint": 0.1})

        def end(tyres) -> np.ndarray:
            robot = nhmech.load(nhmech.urdf_path("differential_drive"), tyres=tyres)
            simulator = nhmech.Simulator(robot, lambda t, state: torque, integrator="gauss")
            simulator.reset(xi={"forward_speed": 1.0, "yaw_rate": 0.0})
            return simulator.run(1.0).q[-1, :2]

        ideal, sizes = end(None), np.geomspace(100, 1e5, 7)
        gaps = [np.linalg.norm(end(Tyre(Grip(K), Grip(K))) - ideal) for K in sizes]
        right.loglog(sizes, gaps, "o-")
        right.set(xlabel="stiffness K [N, N/rad]", ylabel="distance after 1 s [m]",
                  title="differential_drive, to ideal rolling")
    plots.write(figure, HERE / "tyres.svg")


def written(folder: Path) -> None:
    """A car in a page of its own, in a bend; with the parameters open."""
    from nhmech.view.browser import Browser

    page = nhmech.save_page(nhmech.load(nhmech.urdf_path("ackermann_car")), folder / "car.html")
    with Browser(page.as_uri(), (1160, 720)) as browser:
        browser.wait_for("nhmech.state.ready && nhmech.written")
        browser.evaluate("""nhmech.written.advance(2, [1.5, 0, 0]),
            nhmech.written.advance(2.5, [1.5, 0, 0.9]),
            document.getElementById("knobs").click(), 0""")
        browser.evaluate("new Promise(done => setTimeout(done, 1000))")
        still(browser.picture(), HERE / "driving_page.webp")


def still(png: bytes, file: Path) -> None:
    import io

    from PIL import Image

    Image.open(io.BytesIO(png)).convert("RGB").save(file, quality=80, method=6)
