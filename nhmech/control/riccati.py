"""The linear-quadratic regulator of a linear system, and why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..checks import read_number, read_time, read_word
from ..errors import ModelError

# a mode whose distance from being reached, and from the edge of stability, is below this, relative
# to the size of A and B in units of cost
UNREACHED, MARGINAL = 1e-6, 1e-6


def read_weights(weights: Mapping[str, float] | None, names: Sequence[str]) -> dict[str, float]:
    """Weights by name of a state. Raises `InputError` for a name that does not exist, and for a
    weight below zero."""
    for name, weight in (weights or {}).items():
        read_word("weights: state", name, names)
        read_number(f"weights: {name}", weight, "a weight, zero or more", least=0.0)
    return dict(weights or {})


def regulator(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, *, names: Sequence[str],
              inputs: Sequence[str], of: str = "the system",
              period: float | None = None) -> tuple[np.ndarray, np.ndarray]:
    """K (nu, n) and P (n, n): u = -K x minimises J = int x'Q x + u'R u dt for dx/dt = A x + B u,
    and min J = x0'P x0; Q and R are diagonal.

    A'P + P A - P B R^-1 B'P + Q = 0, K = R^-1 B'P (Kalman, Bol. Soc. Mat. Mexicana 5 (1960) 102).
    With a `period` [s] the input is held that long, and K minimises the same J under that
    restriction (`discretise`). Raises `ModelError` with the name of a mode that does not decay by
    itself and that no input reaches or Q does not weight; `names`, `inputs` and `of` are for this
    message; `InputError` for a period that is not positive.
    """
    from scipy.linalg import solve_continuous_are, solve_discrete_are

    if period is not None:
        read_time("period", period)
    q, r = np.diag(Q), np.diag(R)
    # units of cost, then of time
    x, u = 1 / np.sqrt(np.where(q > 0, q, 1.0)), 1 / np.sqrt(r)
    A, B, Q = A / x[:, None] * x, B / x[:, None] * u, np.diag(np.where(q > 0, 1.0, 0.0))
    pace = float(np.linalg.norm(np.hstack([A, B]))) or 1.0
    A, B = A / pace, B / pace
    _check(A, B, Q, tuple(names), tuple(inputs), of, pace)
    try:
        if period is None:
            P = solve_continuous_are(A, B, Q, np.eye(len(u)))
            K = B.T @ P
        else:
            A, B, Q, N, R = discretise(A, B, Q, np.eye(len(u)), pace * period)
            P = solve_discrete_are(A, B, Q, R, s=N)
            K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A + N.T)
            # an oscillation that has gone round when the input changes is not moved by it
            slowest = np.abs(np.linalg.eigvals(A - B @ K)).max()
            if not slowest < np.exp(-UNREACHED * pace * period):
                raise np.linalg.LinAlgError("what is held for this period does not reach a mode")
    except (np.linalg.LinAlgError, ValueError) as error:
        raise ModelError(f"no regulator was found for {of}: the Riccati equation of "
                         f"{', '.join(names)} has no stabilising solution ({error}); change the "
                         "weights or the period, or remove a state with drop=") from error
    return u[:, None] * K / x, P / x[:, None] / x / pace


def discretise(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray,
            period: float) -> tuple[np.ndarray, ...]:
    """A_d, B_d, Q_d, N_d, R_d: the system and its cost with u held for `period` [s], exactly.

    J = sum x'Q_d x + 2 x'N_d u + u'R_d u, from one matrix exponential (Van Loan, IEEE Trans.
    Automatic Control 23 (1978) 395).
    """
    from scipy.linalg import expm

    n, nu = B.shape
    whole = np.zeros((n + nu, n + nu))
    whole[:n, :n], whole[:n, n:] = A, B
    cost = np.zeros_like(whole)
    cost[:n, :n], cost[n:, n:] = Q, R
    size = len(whole)
    result = expm(np.block([[-whole.T, cost], [np.zeros_like(whole), whole]]) * period)
    held = result[size:, size:]
    cost = held.T @ result[:size, size:]
    cost = (cost + cost.T) / 2
    return held[:n, :n], held[:n, n:], cost[:n, :n], cost[:n, n:], cost[n:, n:]


def _check(A: np.ndarray, B: np.ndarray, Q: np.ndarray, names: tuple[str, ...],
           inputs: tuple[str, ...], of: str, pace: float) -> None:
    """The test of Popov, Belevitch and Hautus for every mode that does not decay, of A and B over
    `pace` [1/s]."""
    from scipy.linalg import eig

    values = eig(A, right=False)
    for value in values[values.real >= -MARGINAL]:
        left = A - value * np.eye(len(A))
        for stacked, what in ((np.hstack([left, B]).conj().T, "reached"),
                              (np.vstack([left, Q]), "seen")):
            _, s, v = np.linalg.svd(stacked)
            if s[len(A) - 1] > UNREACHED:
                continue
            share = np.abs(v[len(A) - 1])
            parts = ", ".join(names[i] for i in np.argsort(-share) if share[i] > 0.3 * share.max())
            turn = f" {pace * value.imag:+.3g}i" if abs(value.imag) > MARGINAL else ""
            rate = f"{pace * value.real + 0.0:.3g}{turn}"
            if what == "reached":
                raise ModelError(f"{of} cannot be stabilised: to first order no input "
                                 f"({', '.join(inputs) or 'there is none'}) reaches {parts}, a "
                                 f"mode with eigenvalue {rate} 1/s. Remove it from the state with "
                                 "drop= if it may drift, drive another joint, or linearise about a "
                                 "motion in which it can be controlled (steering has no effect at "
                                 "rest)")
            raise ModelError(f"the cost does not see {parts} of {of}, a mode with eigenvalue "
                             f"{rate} 1/s that does not decay by itself: give it a weight in "
                             "weights=, or remove it with drop=")
