"""Learning: random search finds a linear policy for a differential drive; all candidates of a round
run side by side.

    python examples/gym_random_search.py [--short] [OUT]

writes OUT/gym_random_search.html and OUT/gym_random_search.png.
"""

import sys
from pathlib import Path

import numpy as np

import nhmech
from nhmech.gym import PathFollowingVectorEnv

VEHICLE = "differential_drive"
CANDIDATES, ROUNDS, BEST = 128, 40, 16     # policies in a round, rounds, how many make the next one
PERIODS = 120                              # of 0.05 s in an episode
SPREAD, LEAST = 1.0, 0.1                   # of the weights at first and at last
SEED = 0


def main(out: Path, short: bool) -> None:
    rounds, rng = 4 if short else ROUNDS, np.random.default_rng(SEED)
    lanes = PathFollowingVectorEnv(CANDIDATES, VEHICLE, duration=PERIODS * 0.05)
    mean = np.zeros((lanes.single_action_space.shape[0], lanes.single_observation_space.shape[0]))
    spread, returns = np.full(mean.shape, SPREAD), []
    for _ in range(rounds):                                        # the cross-entropy method
        weights = mean + spread * rng.normal(size=(CANDIDATES, *mean.shape))
        weights[0] = mean
        scores = episode(lanes, weights)
        best = weights[np.argsort(-scores)[:BEST]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + LEAST
        returns.append((scores.mean(), scores.max()))
    print(f"return of {PERIODS} periods: {returns[0][0]:.1f} on average at first, "
          f"{returns[-1][0]:.1f} after {rounds} rounds; the most is {PERIODS}")
    task = lanes.task
    controller = task.controller(lambda seen: mean @ seen)
    simulator = nhmech.Simulator(task.vehicle, controller, dt=task.dt, control_period=task.period)
    x, y, heading = task.path.start()
    simulator.reset(pose=(x, y, heading))
    run = simulator.run(2.0 if short else task.path.length / task.speed)
    out.mkdir(parents=True, exist_ok=True)
    nhmech.save_html(task.vehicle, run, out / "gym_random_search.html")
    draw(np.array(returns), run, task.path, out / "gym_random_search.png")


def episode(lanes: PathFollowingVectorEnv, weights) -> np.ndarray:
    """Return of each policy's episode, (CANDIDATES,): what comes after its end does not count."""
    seen, _ = lanes.reset(seed=SEED)
    scores, going = np.zeros(len(weights)), np.ones(len(weights), dtype=bool)
    for _ in range(PERIODS):
        seen, reward, ended, cut, _ = lanes.step(np.einsum("nij,nj->ni", weights, seen))
        scores += reward * going
        going &= ~(ended | cut)
    return scores


def draw(returns, run, path, file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    learning, driven = figure.subplots(1, 2)
    learning.plot(returns[:, 0], label="average of the round")
    learning.plot(returns[:, 1], label="best of the round")
    learning.axhline(PERIODS, color="k", lw=0.8, ls="--", label="the most there is")
    learning.set(xlabel="round", ylabel="return")
    learning.legend(fontsize=8)
    driven.plot(*path.point(np.linspace(0, path.length, 400)).T, "k--", lw=0.8, label="path")
    driven.plot(run.q[:, 0], run.q[:, 1], label="learned policy")
    driven.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", ylim=(-1, 1.2))
    driven.legend(fontsize=8)
    figure.savefig(file, dpi=120)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--short"]
    main(Path(words[0] if words else "out"), "--short" in sys.argv)
