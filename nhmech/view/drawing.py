"""Style, colours, axes and files of all pictures. Needs matplotlib, the extra `plot`."""

from __future__ import annotations

import io
import logging
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from itertools import cycle
from os import PathLike
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from ..errors import FEW as NAMES, InputError, NhmechError, listed
from ..simulation.runs.trajectory import Trajectory
from ..simulation.simulated import Simulated
from ..vehicle.vehicle import Vehicle
from .colours import CONTACTS as COLOURS, contact_colour

Options = ParamSpec("Options")
Found = TypeVar("Found")
Drawn = TypeVar("Drawn", bound=Vehicle | Simulated)
Plot = tuple[Any, Any]  # matplotlib's figure, and its axes or an array of them
OTHERS = ("#332288", "#882255", "#117733", "#661100", "#6699CC", "#AA4499")  # not wheels
GREY = "0.45"
MARKERS = "os^Dv*P<Xh>p"     # of wheels, for whom colours are not enough
START, SPIKE = 0.02, 3.0     # a part of a run, and how far beyond the rest it may go there
FEW = 20                     # states: in so few, a start cannot be distinguished from the rest
SHADE = 0.15  # opacity of a time at a limit
LETTER, LINE = 0.047, 0.14  # [inches] width of a letter and height of a line of a legend, about
DASHED, DOTTED = (0, (4, 2)), (0, (1, 1.5))
# of scripts that the fonts of STYLE lack, on Linux, Windows and macOS
OTHER_SCRIPTS = ("Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Micro Hei", "Microsoft YaHei",
                 "Yu Gothic", "Malgun Gothic", "PingFang SC", "Hiragino Sans", "Arial Unicode MS")
STYLE: dict[Any, Any] = {"font.size": 8, "axes.labelsize": 8, "axes.titlesize": 8,
         "legend.fontsize": 7, "xtick.labelsize": 7, "ytick.labelsize": 7,
         "font.sans-serif": ["Arial", "Helvetica", "Liberation Sans", "DejaVu Sans"],
         "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.6,
         "lines.linewidth": 1.1, "legend.frameon": False,
         "axes.grid": True, "grid.linewidth": 0.3, "grid.color": "0.85",
         "axes.axisbelow": True, "axes.titlelocation": "left",
         "legend.handlelength": 1.6, "legend.columnspacing": 1.2,
         "legend.borderaxespad": 0.2, "legend.handletextpad": 0.5,
         "xtick.major.width": 0.6, "ytick.major.width": 0.6, "xtick.major.size": 2.5,
         "ytick.major.size": 2.5,
         "pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "nhmech",
         "axes.formatter.useoffset": False, "figure.constrained_layout.use": True}


def picture_of_run(draw: Callable[Concatenate[Drawn, Trajectory, Options], Found],
                   ) -> Callable[Concatenate[Drawn, Trajectory, Options], Found]:
    """A picture that is drawn of a vehicle and a run, and refuses the run of another one."""
    @wraps(draw)
    def checked(vehicle: Drawn, trajectory: Trajectory, *given: Options.args,
                **named: Options.kwargs) -> Found:
        trajectory.check_is_of(vehicle)
        return draw(vehicle, trajectory, *given, **named)
    return checked


@contextmanager
def plot_style() -> Iterator[None]:
    """matplotlib without a window, in the style of this file. Raises `NhmechError` if it is not
    installed."""
    try:
        import matplotlib
    except ImportError as error:
        raise NhmechError("pictures need matplotlib: pip install matplotlib") from error
    with matplotlib.rc_context(STYLE | {"font.family": _families()}):
        yield


@cache
def _families() -> list[str]:
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return ["sans-serif", *(name for name in OTHER_SCRIPTS if name in installed)]


@contextmanager
def _told_once(kind: str) -> Iterator[None]:
    """Says in one line what matplotlib says of each character that no font has; nothing of a .svg,
    which is shown with the fonts of whoever looks at it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    lacking: dict[str, None] = {}
    for one in caught:
        if found := re.match(r"Glyph (\d+) ", str(one.message)):
            lacking[chr(int(found[1]))] = None
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    if lacking and kind != "svg":
        logging.getLogger("nhmech").warning(
            "no font here has %s: install one, such as Noto Sans CJK, or write .svg, which is "
            "shown with the fonts of whoever looks at it", listed(lacking, NAMES))


def new_figure(width: float, height: float) -> Any:
    """An empty figure [inches] that can be saved, and shows itself in a notebook."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = _figure_class()(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


@cache
def _figure_class() -> type[Any]:
    """matplotlib's `Figure`, made when it is needed, with a picture of itself for notebooks, which
    draw a figure without a window only if it has one."""
    from matplotlib.figure import Figure

    class NotebookFigure(Figure):
        def _repr_png_(self) -> bytes:
            stream = io.BytesIO()
            with _told_once("png"):
                self.savefig(stream, format="png", dpi=150)
            return stream.getvalue()

    return NotebookFigure


def axes_of(axes: Any, width: float = 3.4, height: float = 2.4, rows: int = 1) -> Plot:
    """(figure, axes): those given, or new ones [inches]; of several rows they are an array and
    share the abscissa."""
    if axes is None:
        figure = new_figure(width, height)
        return figure, figure.subplots(rows, 1, sharex=rows > 1)
    return (axes if rows == 1 and not np.iterable(axes) else axes[0]).figure, axes


def colour(vehicle: Vehicle, wheel: str) -> str:
    """The wheel's colour, that of its trail in the viewer."""
    return contact_colour(vehicle.contact_names.index(wheel))


def line_colours(vehicle: Vehicle | None, names: Sequence[str]) -> dict[str, str]:
    """A colour for each name: that of the wheel for the name of its joint, others for the rest."""
    wheels = {}
    if vehicle is not None:
        wheels = {wheel.joint: colour(vehicle, name) for wheel, name
                  in zip(vehicle.description.wheels, vehicle.contact_names)}
    others = cycle((*OTHERS, *COLOURS) if wheels else COLOURS)
    return {name: wheels[name] if name in wheels else next(others) for name in names}


def as_words(name: str) -> str:
    """A name as words."""
    return name.removesuffix("_joint").removesuffix("_link").replace("_", " ")


def as_label(name: str) -> str:
    """A name that matplotlib does not take for a formula."""
    return name.replace("$", r"\$")


def legend(axes: Any) -> None:
    """The legend above the axes, in as many columns as fit."""
    handles, labels = axes.get_legend_handles_labels()
    if labels:
        columns = axes.get_gridspec().ncols if axes.get_gridspec() is not None else 1
        room = axes.figure.get_figwidth() / columns - 0.5
        fit = max(1, min(len(labels), int(room / (0.38 + LETTER * max(map(len, labels))))))
        figure: Any = axes.figure
        if isinstance(figure, _figure_class()):  # one of ours grows with its legends
            figure.set_figheight(figure.get_figheight() + LINE * (-(-len(labels) // fit) - 1))
        with plot_style():
            axes.legend(handles, labels, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=fit)


def spread_states(trajectory: Trajectory, most: int) -> np.ndarray:
    """Indices of recorded states, evenly spread over the run, at most a given number."""
    return np.unique(np.linspace(0, len(trajectory) - 1, min(most, len(trajectory))).astype(int))


def check_axes(axes: Any, labels: Sequence[str]) -> Any:
    """The axes as an array. Raises `InputError` if there are not as many as labels."""
    found = np.atleast_1d(axes)
    if len(found) != len(labels):
        raise InputError(f"axes: {len(found)} given, {len(labels)} are needed: "
                         f"{', '.join(labels)}")
    return found


def settle(axes: Any, values: np.ndarray, nothing: float = 1e-9) -> None:
    """Sets the range of ordinates that are constant up to rounding, so that noise is not magnified;
    values below `nothing` are zero."""
    low, high = float(np.min(values)), float(np.max(values))
    size = max(abs(low), abs(high))
    if size < nothing:
        axes.set_ylim(-1, 1)
    elif high - low < 1e-6 * size:
        axes.set_ylim(low - 0.1 * size, high + 0.1 * size)


def clip_start(axes: Any) -> None:
    """Excludes a peak at the very start from the range of ordinates, and writes its height: a jump
    in the first milliseconds must not make the rest of a run a flat line."""
    lines = [line for line in axes.lines if len(line.get_xdata()) >= FEW]
    if not lines:
        return
    pairs = [np.array([line.get_xdata(), line.get_ydata()], dtype=float) for line in lines]
    t, y = np.concatenate(pairs, axis=1)
    t, y = t[np.isfinite(y)], y[np.isfinite(y)]
    later = y[t >= t.min() + START * np.ptp(t)] if len(t) else y
    if not len(later):
        return
    low, high = float(later.min()), float(later.max())
    room = max(high - low, 0.1 * max(abs(low), abs(high)))
    if room == 0.0 or np.ptp(y) <= SPIKE * room:
        return
    axes.set_ylim(low - 0.1 * room, high + 0.1 * room)
    beyond = [(peak, arrow, place) for peak, arrow, place in
              ((float(y.max()), "\u2191", "top"), (float(y.min()), "\u2193", "bottom"))
              if not low - 0.1 * room <= peak <= high + 0.1 * room]
    for peak, arrow, place in beyond:
        axes.text(0.02, 0.97 if place == "top" else 0.03, f"{arrow} {peak:.3g} at the start",
                  transform=axes.transAxes, va=place, fontsize=6)


def wheel_line(vehicle: Vehicle, wheel: str, states: int) -> dict[str, Any]:
    """The look of a wheel in every picture: its colour, its mark, its name."""
    k = vehicle.contact_names.index(wheel)
    # marks of different wheels are at different places, so that of two equal lines both are seen
    first = int((0.06 + 0.03 * k) * states)
    return {"color": colour(vehicle, wheel), "label": as_label(as_words(wheel)), "ms": 3.0,
            "marker": MARKERS[k % len(MARKERS)], "markevery": (first, max(1, states // 3))}


def shade_limits(axes: Any, trajectory: Trajectory, lines: Mapping[str, str] | None = None) -> None:
    """Shade the times in which joints were at their limits: those of `lines` in their colours, all
    of them in grey if None."""
    if not trajectory.is_system_known:
        return
    for span in trajectory.limits:
        if lines is None or span.joint in lines:
            shade = GREY if lines is None else lines[span.joint]
            # a moment shows too
            axes.axvspan(span.start, span.end, color=shade, alpha=SHADE, lw=0.6, zorder=0)


@contextmanager
def _lay_out(figure: Any, kind: str, dpi: float) -> Iterator[None]:
    """Lays out the axes for a file of this kind, and switches the layout off meanwhile:
    matplotlib's `savefig` would draw the whole figure once more for that."""
    from matplotlib import rc_context
    from matplotlib.backend_bases import get_registered_canvas_class

    layout, canvas, before = figure.get_layout_engine(), figure.canvas, figure.dpi
    made = get_registered_canvas_class(kind)
    with plot_style(), _told_once(kind):
        if layout is not None and made is not None:
            figure.dpi = dpi
            made(figure)
            layout.execute(figure)
            with rc_context({"figure.constrained_layout.use": False}):
                figure.set_layout_engine(None)
        figure.dpi = before
        figure.set_canvas(canvas)
        try:
            yield
        finally:
            figure.set_layout_engine(layout)


def write(figure: Any, file: str | PathLike[str]) -> None:
    """Writes a figure as the file's name says: .pdf or .svg (vectors), .png (300 dots an inch).
    Without the date: the same figure is the same file."""
    kind = Path(file).suffix.lower()[1:]
    date = {"svg": "Date", "pdf": "CreationDate"}.get(kind)
    with _lay_out(figure, kind, 300):
        figure.savefig(file, dpi=300, metadata={date: None} if date else None)


def svg(figure: Any, prefix: str, label: str) -> str:
    """The figure as an <svg> element for a page: `prefix` keeps its ids apart from those of other
    figures, `label` says what it shows."""
    stream = io.StringIO()
    with _lay_out(figure, "svg", figure.dpi):
        figure.savefig(stream, format="svg", transparent=True,
                       metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg"):], flags=re.S)
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = re.sub(r'(href="|url\()#', rf"\1#{prefix}-", text)
    box = re.search(r'viewBox="[^"]*"', text)
    assert box is not None  # matplotlib writes one
    return re.sub(r"<svg\b[^>]*>", '<svg xmlns:xlink="http://www.w3.org/1999/xlink" '
                                   f'xmlns="http://www.w3.org/2000/svg" {box[0]} role="img" '
                                   f'aria-label="{label}">', text, count=1)
