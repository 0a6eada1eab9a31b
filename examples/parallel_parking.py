"""Parallel parking: direct collocation minimises time and effort; then the plan drives the
simulator.

    python examples/parallel_parking.py [--short] [OUT]

writes OUT/parallel_parking.html and OUT/parallel_parking.png.
"""

import sys
from pathlib import Path

import casadi as ca
import numpy as np

import nhmech
from nhmech.control import Collocation
from nhmech.simulation import planar_pose

# base x, y [m] beside the front car, heading along x; the base is on the rear axle
START = (8.6, 2.3)
GOAL = (2.0, 0.0)                    # in the slot
SLOT = (0.0, 7.4)                    # [m] from the rear car's nose to the front car's tail
# the car: rear end, front end, half its width, from the base [m]
BODY = (-0.85, 3.5, 0.85)
CLEARANCE = 0.10                     # [m] from parked cars
KERB = -1.3                          # y [m]; the road's far side is at ROAD
ROAD = 4.5
SPEED, STEER, STEER_RATE = 1.5, 0.55, 0.6     # limits: [m/s], [rad], [rad/s]
TORQUE, STEER_TORQUE = 250.0, 20.0   # [N m]
WHEELBASE, RADIUS = 2.6, 0.32        # [m]
DURATION = 8.0                       # [s] of the first guess
# [s] of time that full effort all the way costs: smooths the plan
EFFORT = 0.5


def main(out: Path, short: bool) -> None:
    vehicle = nhmech.load(nhmech.urdf_path("ackermann_car"))
    plan = park(vehicle, intervals=30 if short else 40)
    h = plan.t[1]
    simulator = nhmech.Simulator(vehicle, plan, dt=h / 50, control_period=h)
    simulator.reset(pose=(*START, 0.0))
    run = simulator.run(plan.t[-1])
    f = nhmech.dynamics(vehicle)
    gap = np.abs(f.of(simulator.state) - plan.x[-1])
    x, y, heading = simulator.state.pose
    nearest = min(distance(np.array(footprint(ca.DM(planar_pose(q)))).T, parked)
                  for q in run.q[::10] for parked in parked_cars())
    print(f"parked in {plan.t[-1]:.2f} s at x = {x:.4f} m, y = {y:.4f} m, heading {heading:.5f} "
          f"rad; simulator and plan differ by {gap[:2].max():.1e} m and "
          f"{gap[f.state_vector.nconf:].max():.1e} rad/s at the end; it came to {nearest:.3f} m of "
          "a parked car")
    out.mkdir(parents=True, exist_ok=True)
    nhmech.save_html(vehicle, run, out / "parallel_parking.html")
    draw(plan, f, run, out / "parallel_parking.png")


def park(vehicle, intervals: int):
    f = nhmech.dynamics(vehicle)
    wheels, steer = ([i for i, name in enumerate(f.inputs) if "wheel" in name],
                     f.coordinate("front_left_steering_joint"))
    limits = np.array([TORQUE if i in wheels else STEER_TORQUE for i in range(f.nu)])
    problem = Collocation(vehicle, intervals, unit=limits)
    opti, x, w = problem.opti, problem.x, problem.u / limits
    pose = f.pose.map(intervals + 1)(x)
    start = nhmech.start_states(vehicle, [(*START, 0.0)])[0]
    opti.subject_to(x[:, 0] == start)
    opti.subject_to(pose[:, -1] == ca.DM([*GOAL, 0.0]))
    opti.subject_to(x[f.state_vector.nconf:, -1] == 0)
    opti.subject_to(x[steer, -1] == 0)
    problem.bound(w, -1, 1)
    problem.bound(x[steer, :], -STEER, STEER)
    problem.bound(x[f.speed("front_left_steering_joint"), :], -STEER_RATE, STEER_RATE)
    problem.bound(x[f.speed("rear_left_wheel_joint"), :] * RADIUS, -SPEED, SPEED)
    # a line for each interval has the car on one side, a parked one on the other
    for k in range(intervals):
        during = [problem.inner[:, k * problem.degree
                                + j] for j in range(problem.degree)] + [x[:, k + 1]]
        corners = ca.horzcat(*[footprint(f.pose(point)) for point in during])
        problem.bound(corners[1, :].T, KERB + CLEARANCE, ROAD)
        for parked, towards in zip(parked_cars(), (0.0, np.pi)):
            # its normal's angle [rad], its distance [m]
            line = opti.variable(2)
            normal = ca.vertcat(ca.cos(line[0]), ca.sin(line[0]))
            opti.subject_to(normal.T @ corners >= line[1] + CLEARANCE)
            opti.subject_to(line[1] >= normal.T @ parked.T)
            angle = np.pi / 2 if 2 * k < intervals else (towards + np.pi / 2) / 2
            opti.set_initial(line, [angle, np.max(parked @ (np.cos(angle), np.sin(angle)))])
    opti.minimize(problem.duration + EFFORT * problem.duration * ca.sumsqr(w) / intervals)
    problem.guess(two_arcs(f, start, intervals), duration=DURATION)
    return problem.solve(1000)


def two_arcs(f, start, intervals: int):
    """Backwards along an arc to the left and one to the right: where the search begins, (intervals
    + 1, nx)."""
    aside = START[1] - GOAL[1]
    # of each arc; their radius follows
    turn = 2 * np.arctan2(aside, START[0] - GOAL[0])
    radius = aside / (2 * (1 - np.cos(turn)))
    heading = turn * (1 - np.abs(np.linspace(-1, 1, intervals + 1)))
    late = np.arange(intervals + 1) > intervals / 2
    x = np.tile(start, (intervals + 1, 1))
    x[:, 0] = np.where(late, GOAL[0] + radius * np.sin(heading),
                       START[0] - radius * np.sin(heading))
    x[:, 1] = np.where(late, GOAL[1] + radius * (1 - np.cos(heading)),
                       START[1] - radius * (1 - np.cos(heading)))
    x[:, 5], x[:, 6] = np.sin(heading / 2), np.cos(heading / 2)
    for name in ("front_left_steering_joint", "front_right_steering_joint"):
        x[:, f.coordinate(name)] = np.where(late, 1, -1) * np.arctan(WHEELBASE / radius)
    x[:, f.speed("rear_left_wheel_joint")] = -2 * radius * turn / DURATION / RADIUS
    return x


def footprint(pose):
    """Corners of the car, (2, 4)."""
    rear, front, half = BODY
    corners = np.array([[rear, rear, front, front], [-half, half, half, -half]])
    c, s = ca.cos(pose[2]), ca.sin(pose[2])
    return ca.vertcat(ca.horzcat(c, -s), ca.horzcat(s, c)) @ corners + ca.repmat(pose[:2], 1, 4)


def parked_cars():
    """Corners of both, (4, 2)."""
    length = BODY[1] - BODY[0]
    spans = (SLOT[0] - length, SLOT[0]), (SLOT[1], SLOT[1] + length)
    return [np.array([(a, -0.85), (b, -0.85), (b, 0.85), (a, 0.85)]) for a, b in spans]


def distance(one, other) -> float:
    """Between two convex polygons that are apart, (n, 2) each [m]: from a corner of one to an edge
    of the other."""
    least = np.inf
    for corners, edges in ((one, other), (other, one)):
        begin, along = edges, np.roll(edges, -1, axis=0) - edges
        offset = corners[:, None] - begin
        share = np.clip(np.sum(offset * along, -1) / np.sum(along ** 2, -1), 0, 1)
        least = min(least, np.linalg.norm(offset - share[..., None] * along, axis=-1).min())
    return float(least)


def draw(plan, f, run, file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    for corners in parked_cars():
        axes.fill(*corners.T, color="0.7", label="parked cars" if corners[0, 0] < 0 else None)
    axes.axhline(KERB, color="k", lw=2, label="kerb")
    for k in range(0, len(plan.t), max(len(plan.t) // 12, 1)):
        body = np.array(footprint(ca.DM(f.pose(plan.x[k])))).T
        axes.fill(*body.T, fill=False, color="C0", alpha=0.25 + 0.7 * k / len(plan.t), lw=0.8)
    body = np.array(footprint(ca.DM(f.pose(plan.x[-1])))).T
    axes.fill(*body.T, fill=False, color="C3", lw=1.8, label="parked")
    axes.plot(run.q[:, 0], run.q[:, 1], "C1", lw=3, alpha=0.6, label="rear axle, simulated")
    axes.plot(plan.x[:, 0], plan.x[:, 1], "k.", ms=3, label="rear axle, planned")
    axes.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", ylim=(KERB - 0.6, ROAD + 1.6),
             title=f"parallel parking in {plan.t[-1]:.1f} s")
    axes.legend(loc="upper left", ncols=2, fontsize=8)
    figure.savefig(file, dpi=120)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--short"]
    main(Path(words[0] if words else "out"), "--short" in sys.argv)
