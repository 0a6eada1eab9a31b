"""The web page: meshcat's viewer, a bar with controls, and either a recorded scene or a line to a
running program.

One self-contained file.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from string import Template

import umsgpack

from ..errors import NhmechError
from .static import escape, read_static

RECORDED = """
const nhmech = openPage(false);
nhmech.plots = openPlots(nhmech, { now: () => nhmech.state.start + nhmech.state.t,
                                   seek: t => nhmech.seek(t - nhmech.state.start) });
nhmech.wheels = openWheels(nhmech, nhmech.plots);
nhmech.viewer.handle_command_bytearray(Uint8Array.from(atob("{scene}"), c => c.charCodeAt(0)));
const wanted = /[#&]t=([0-9.]+)/.exec(location.hash);
if (wanted) nhmech.seek(Number(wanted[1]));
"""

LIVE = """
document.body.classList.add("live");
const nhmech = openPage(software.found());
nhmech.history = openHistory(nhmech);
openLiveTrails(nhmech);
{further}nhmech.viewer.connect(`ws://${location.host}/scene`);
"""
PLOTS = """
nhmech.plots = openPlots(nhmech, { now: () => nhmech.history.state.t, seek: nhmech.history.seek });
nhmech.wheels = openWheels(nhmech, nhmech.plots);
nhmech.history.on.keep = c => { if (c.type === "reading") nhmech.plots.add(c); };
"""
DRIVE = """
nhmech.drive = openDrive(nhmech);
"""


def render_recording(messages: list[dict], title: str) -> str:
    """A page that shows these messages and plays their animation, from `file://` too.

    `#t=1.5` at the end of its address opens it at 1.5 s, paused.
    """
    packed = base64.b64encode(umsgpack.packb(messages)).decode()
    return render(RECORDED.replace("{scene}", packed), title, ("plots.js", "wheels.js"))


def render_live(title: str, drive: bool = False, plots: bool = True) -> str:
    """A page that draws what the program which serves it sends; with plots of what it reads, and
    with controls and instruments, whose words go back to it, if `drive`."""
    further, codes = "", ["history.js", "trails.js"]
    if plots:
        further, codes = PLOTS, [*codes, "plots.js", "wheels.js"]
    if drive:
        further, codes = further + DRIVE, [*codes, "controls.js", "instruments.js", "drive.js"]
    return render(LIVE.replace("{further}", further), title, codes,
                  ("drive.css",) if drive else ())


def render(script: str, title: str, codes: Sequence[str] = (),
            styles: Sequence[str] = ()) -> str:
    """The page with further scripts and styles of this package."""
    texts = (_meshcat(), *map(read_static, ("software.js", "page.js", *codes)), script)
    scripts = "".join(f"<script>{code}</script>\n" for code in texts)
    return Template(read_static("page.html")).substitute(
        title=escape(title), style="".join(map(read_static, ("page.css", *styles))),
        scripts=scripts)


@cache
def _meshcat() -> str:
    """The JavaScript of the meshcat package, found without importing it."""
    spec = find_spec("meshcat")
    folders = spec.submodule_search_locations if spec is not None else None
    path = Path(folders[0], "viewer", "dist", "main.min.js") if folders else None
    if path is None or not path.is_file():
        raise NhmechError(f"meshcat's page {path or ''} is missing; install it with: pip install "
                          "meshcat")
    return path.read_text(encoding="utf-8")
