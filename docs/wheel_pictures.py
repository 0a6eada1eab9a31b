"""The drawings of the wheel catalogue: `python docs/pictures.py wheels`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nhmech.urdf.wheel import KINDS

HERE = Path(__file__).parent / "images"
GROUND, STEEL, HELD, FREE, FRAME = "#8d8778", "#4f5964", "#c0392b", "#2e8b57", "#1f4e8c"
LEAN = np.deg2rad(22)
MARK = {"fontsize": 9, "ha": "center", "va": "center"}
BODY = {"facecolor": "0.93", "edgecolor": STEEL, "lw": 1.6}


def wheels() -> None:
    """One drawing for each kind: seen from behind, leaning, and from above, with what is held."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "nhmech", "font.size": 9})
    import matplotlib.pyplot as plt

    for kind in KINDS:
        figure, (behind, above) = plt.subplots(1, 2, figsize=(6.4, 2.7), layout="constrained",
                                               width_ratios=(1.15, 1))
        _behind(behind, kind)
        _above(above, kind)
        for axes in (behind, above):
            axes.set_aspect("equal")
            axes.axis("off")
        figure.savefig(HERE / f"wheel_{kind}.svg", metadata={"Date": None})
        plt.close(figure)


def _arrow(axes, start, vector, colour, text="", shift=1.18, **style):
    start, vector = np.asarray(start, dtype=float), np.asarray(vector, dtype=float)
    shape = {"arrowstyle": "-|>", "color": colour, "lw": 1.4, "shrinkA": 0, "shrinkB": 0, **style}
    axes.annotate("", start + vector, start, arrowprops=shape)
    if text:
        axes.text(*(start + shift * vector), text, color=colour, **MARK)


def _rounded(corner, width, height, radius, **style):
    from matplotlib.patches import FancyBboxPatch

    return FancyBboxPatch(corner, width, height, boxstyle=f"round,pad=0,rounding_size={radius}",
                          **style)


def _dot(axes, point, text, offset, colour="black"):
    axes.plot(*point, "o", color=colour, ms=4, zorder=5)
    axes.text(*(np.asarray(point) + offset), text, color=colour, **MARK)


def _behind(axes, kind: str) -> None:
    """Seen along the rolling direction e, which points into the page: left of the page is left of
    the wheel."""
    from matplotlib.patches import Circle, Polygon

    axes.set(xlim=(-2.1, 2.3), ylim=(-0.55, 2.75))
    axes.fill_between([-2.1, 2.3], -0.22, 0, color=GROUND, alpha=0.35, lw=0)
    axes.plot([-2.1, 2.3], [0, 0], color=GROUND, lw=1.2)
    axes.text(2.25, -0.4, "seen from behind", fontsize=8, ha="right", color="0.35")
    n, r = np.array([0.0, 1.0]), 1.0
    if kind in ("sphere", "caster_ball"):
        C = np.array([0.0, r])
        axes.add_patch(Circle(C, r, **BODY))
        _dot(axes, C, "C", (-0.2, 0.05))
        _dot(axes, (0, 0), "K", (0.25, 0.2), HELD)
        _arrow(axes, C, (0, 1.25), FRAME, "n", 1.12)
        axes.plot([0, 0], [0, r], color="0.4", ls=(0, (3, 2)), lw=0.9)
        axes.text(0.13, 0.5, "r", **MARK)
        return
    if kind == "blade":
        outline = [(-0.75, 1.3), (0.75, 1.3), (0.75, 1.05), (0.09, 1.0), (0.0, 0.0), (-0.09, 1.0),
                   (-0.75, 1.05)]
        axes.add_patch(Polygon(outline, **BODY))
        _dot(axes, (0, 0), "K = p, fixed in the body", (1.15, 0.22), HELD)
        _arrow(axes, (0, 1.3), (0, 1.0), FRAME, "n", 1.14)
        _arrow(axes, (-0.1, 0.55), (-1.1, 0), FRAME, "axis", 1.25)
        return
    lean = LEAN if kind in ("disc", "torus") else 0.0
    d, a = np.array([np.sin(lean), np.cos(lean)]), np.array([-np.cos(lean), np.sin(lean)])
    crown = 0.3 if kind == "torus" else 0.0
    C = (r - crown) * d + crown * n
    K = C - (r - crown) * d - crown * n
    if kind == "torus":
        ends = C + (r - crown) * d, C - (r - crown) * d
        for end in ends:
            axes.add_patch(Circle(end, crown, **BODY))
        axes.plot(*np.array(ends).T, color=STEEL, lw=3)
        axes.plot(*np.array([ends[1], K]).T, color="0.4", lw=0.9, ls=(0, (3, 2)))
        axes.text(*(ends[1] + (-0.14, -0.12)), "$r_c$", **MARK)
    elif kind == "disc":
        axes.plot(*np.array([C + r * d, C - r * d]).T, color=STEEL, lw=4, solid_capstyle="round")
    else:
        width = 0.36
        axes.add_patch(_rounded(C - (width / 2, r), width, 2 * r, 0.08, **BODY))
        for z in np.linspace(0.2, 1.8, 7):
            if kind == "mecanum":
                axes.plot([-0.15, 0.15], [z - 0.12, z + 0.12], color=STEEL, lw=3.2, alpha=0.55)
            # an omni wheel's rollers lie along the rim
            else:
                axes.add_patch(_rounded((-0.12, z - 0.07), 0.24, 0.14, 0.07, facecolor=STEEL,
                                        alpha=0.55, lw=0))
    _dot(axes, C, "C", np.array([0.34, 0.02]))
    _dot(axes, K, "K", (0.36, 0.14), HELD)
    _arrow(axes, C, 1.25 * a, FRAME, "axle a", 1.27)
    _arrow(axes, (-1.85, 0.0), (0, 0.5), FRAME, "n", 1.35)
    if lean:
        _arrow(axes, C, 1.35 * d, FRAME, "d", 1.1)
    middle = (C + K) / 2 if kind == "disc" else C - 0.45 * d
    axes.text(*(middle + (0.34 if kind != "torus" else 0.55, -0.02)),
              "r" if kind != "torus" else "$r - r_c$", **MARK)


def _above(axes, kind: str) -> None:
    """Seen from above, forward up the page: what the contact holds (red bars), what it leaves free
    (green arrows)."""
    from matplotlib.patches import Circle

    axes.set(xlim=(-1.9, 1.9), ylim=(-1.65, 1.65))
    axes.text(1.85, -1.58, "seen from above", fontsize=8, ha="right", color="0.35")
    if kind in ("sphere", "caster_ball"):
        axes.add_patch(Circle((0, 0), 0.75, **BODY))
    elif kind == "blade":
        axes.plot([0, 0], [-0.85, 0.85], color=STEEL, lw=4, solid_capstyle="round")
    else:
        width = 0.12 if kind == "disc" else 0.42
        axes.add_patch(_rounded((-width / 2, -0.85), width, 1.7, 0.05, **BODY))
    names = {(0, 1): "longitudinal", (-1, 0): "lateral"}
    for direction in [bar for bar, name in names.items() if name in KINDS[kind].held]:
        direction = np.array(direction, dtype=float)
        across = np.array([-direction[1], direction[0]])
        tip = 1.2 * direction
        axes.plot(*np.array([0.12 * direction if kind == "blade" else (0, 0), tip]).T, color=HELD,
                  lw=1.2)
        axes.plot(*np.array([tip - 0.17 * across, tip + 0.17 * across]).T, color=HELD, lw=2.6)
        place = 1.42 * direction if direction[1] else tip + (-0.1, 0.3)
        axes.text(*place, names[tuple(int(c) for c in direction)], color=HELD, **MARK)
    if kind == "omni":
        for k, y in enumerate(np.linspace(-0.66, 0.66, 5)):
            axes.plot([(-1) ** k * 0.1] * 2, [y - 0.13, y + 0.13], color=STEEL, lw=4, alpha=0.55)
        _arrow(axes, (0.25, 0), (0.9, 0), FREE)
        axes.text(1.2, -0.25, "slides", color=FREE, **MARK)
    if kind == "mecanum":
        # from left to forward: +45 degrees
        roller = np.array([-1.0, 1.0]) / np.sqrt(2)
        for y in np.linspace(-0.6, 0.6, 5):
            axes.plot(*np.array([(0.0, y) - 0.2 * roller, (0.0, y) + 0.2 * roller]).T, color=STEEL,
                      lw=3.2, alpha=0.55)
        across = np.array([roller[1], -roller[0]])
        axes.plot(*np.array([0 * roller, 1.45 * roller]).T, color=HELD, lw=1.2)
        axes.plot(*np.array([1.45 * roller - 0.17 * across, 1.45 * roller + 0.17 * across]).T,
                  color=HELD, lw=2.6)
        axes.text(-0.8, 1.45, "along the roller", color=HELD, **MARK)
        _arrow(axes, 0.3 * across, 1.0 * across, FREE)
        axes.text(1.25, 0.65, "slides", color=FREE, **MARK)
        axes.plot([0, -1.35], [0, 0], color=FRAME, lw=0.9, ls=(0, (3, 2)))
        axes.text(-1.5, -0.18, "axle", color=FRAME, **MARK)
        angle = np.linspace(np.pi, 0.75 * np.pi, 30)
        axes.plot(0.75 * np.cos(angle), 0.75 * np.sin(angle), color=FRAME, lw=1)
        axes.text(-0.92, 0.36, r"$\beta$", color=FRAME, **MARK)
    if kind == "blade":
        _arrow(axes, (0, 0.9), (0, 0.55), FREE)
        axes.text(0.45, 1.25, "slides", color=FREE, **MARK)
    if kind == "caster_ball":
        for direction in ((0, 1), (0, -1), (1, 0), (-1, 0)):
            _arrow(axes, 0.15 * np.array(direction), 1.05 * np.array(direction), FREE)
        axes.text(1.05, 0.75, "slides", color=FREE, **MARK)
    if kind == "sphere":
        angle = np.linspace(-0.3, 1.7 * np.pi / 2, 40)
        axes.plot(0.42 * np.cos(angle), 0.42 * np.sin(angle), color=FREE, lw=1.4)
        _arrow(axes, (0.42 * np.cos(angle[-1]), 0.42 * np.sin(angle[-1])), (-0.06, -0.04), FREE)
        axes.text(1.15, 0.35, "spins", color=FREE, **MARK)
