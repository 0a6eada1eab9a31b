"""The web page: meshcat's viewer, a bar with controls, and either a recorded scene or a line to a
running program.

One self-contained file.
"""

from __future__ import annotations

import base64
import html
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import umsgpack

from ..errors import NhmechError
from .software import SOFTWARE

STYLE = """
body { margin: 0; background: #eef1f4; color: #2b333d;
       font: 13px/1.4 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
#meshcat-pane { width: 100vw; height: 100vh; overflow: hidden; }
.dg.main { display: none; }
.dg.main.shown { display: block; }
# title { position: absolute; left: 18px; top: 14px; font-size: 17px; font-weight: 600;
# pointer-events: none; }
# legend { position: absolute; right: 14px; top: 12px; padding: 4px 8px; text-align: right;
# pointer-events: none;
          background: rgba(240, 243, 245, 0.72); border-radius: 8px; }
#legend i { display: inline-block; width: 18px; height: 4px; border-radius: 2px; margin-left: 7px;
            vertical-align: middle; }
#bar { position: absolute; left: 14px; right: 14px; bottom: 14px; padding: 6px 12px;
       display: flex; gap: 12px; align-items: center;
       background: rgba(255, 255, 255, .82); border-radius: 10px; box-shadow: 0 1px 5px rgba(30, 50, 70, .18); }
# bar button { width: 34px; height: 28px; border: 0; border-radius: 7px; background: #2f6fad;
# color: #fff;
              font-size: 13px; cursor: pointer; }
#bar button.plain { background: #dfe5eb; color: #2b333d; width: auto; padding: 0 9px; }
#time { flex: 1; min-width: 60px; }
#clock { font-variant-numeric: tabular-nums; min-width: 92px; text-align: right; }
.live #play, .live #time, .live #rate, .live label.loop { display: none; }
.live #bar { left: auto; }
"""

BODY = """
<div id="meshcat-pane"></div>
<div id="title"></div><div id="legend"></div>
<div id="bar"><button id="play" title="play or pause (space)">&#9654;</button>
<input id="time" type="range" min="0" max="1" step="any" value="0">
<span id="clock"></span><select id="rate" title="speed"><option>0.1</option><option>0.25</option><option>0.5</option>
<option selected>1</option><option>2</option><option>4</option></select>
<label class="loop"><input id="loop" type="checkbox" checked> loop</label>
<label><input id="follow" type="checkbox"> follow</label>
<button id="tree" class="plain" title="meshcat's scene tree">scene</button></div>
"""

SCRIPT = """
const openPage = plain => {  // plain: for a browser that draws without a graphics card
  const $ = id => document.getElementById(id);
  const pane = $("meshcat-pane"), viewer = new MeshCat.Viewer(pane, true, plain ? software.renderer(pane) : undefined);
  const original = viewer.handle_command.bind(viewer);
  const state = { plain, ready: false, t: 0, start: 0, duration: 0, playing: false, trails: [], segments: 1, rows: [] };
  const parts = path => path.split("/").filter(Boolean);
  const node = path => viewer.scene_tree.find(path).object;
  const yUp = p => new MeshCat.THREE.Vector3(p[0], p[2], -p[1]);  // meshcat's scene has z up, three.js has y up
  const suns = () => node(["focus", "lights", "<object>"]).children.filter(light => light.isDirectionalLight);
  const adapt = plain ? software.adapt(viewer, suns) : () => {};
  let anchor = null;

  function setView(c) {
    document.title = $("title").textContent = c.title;
    const camera = viewer.camera;
    camera.fov = 38; camera.near = c.near; camera.far = c.far;
    camera.position.copy(yUp(c.eye));
    viewer.controls.target.copy(yUp(c.target));
    camera.updateProjectionMatrix();
    viewer.controls.update();
    $("follow").checked = c.follow;
    const legend = $("legend");
    legend.textContent = "";
    for (const contact of c.contacts) addRow(legend, contact.name, contact.color);
    legend.appendChild(document.createElement("div")).id = "rows";
    const cell = c.cell < 0.1 ? 100 * c.cell + " cm" : c.cell + " m";
    legend.appendChild(document.createElement("div")).textContent = `grid ${cell}${c.ground}`;
    anchor = yUp(c.focus);
  }
  function addRow(parent, text, color) {
    const row = parent.appendChild(document.createElement("div"));
    row.textContent = text;
    const rgb = Array.from(color, x => Math.round(255 * x)).join();
    row.appendChild(document.createElement("i")).style.background = `rgb(${rgb})`;
  }
  function showRows(rows) {
    $("rows").textContent = "";
    for (const row of rows) addRow($("rows"), row.text, row.color);
  }
  function paint(path, color) {
    node(parts(path)).traverse(o => { if (o.material) o.material.color.setRGB(...color); });
  }
  function setAnimation(c) {
    original(c);
    viewer.animator.pause();
    const { start, trails, segments, rows } = c, duration = viewer.animator.duration;
    Object.assign(state, { start, trails, segments, rows, duration, playing: duration > 0 });
    $("time").max = state.duration;
    show(0);
  }
  function handle(c) {
    (Array.isArray(c) ? c : [c]).forEach(obey);
    if (!state.playing) followVehicle();  // before it is drawn
    viewer.set_dirty();
  }
  function obey(c) {
    if (c.type === "view") setView(c);
    else if (c.type === "time") $("clock").textContent = c.t.toFixed(2) + " s";
    else if (c.type === "rows") showRows(c.rows);
    else if (c.type === "set_animation") setAnimation(c);
    else original(c);
  }
  function show(t) {
    state.t = Math.min(Math.max(t, 0), state.duration);
    viewer.animator.seek(state.t);
    const passed = state.duration ? state.t / state.duration * state.segments : 0;
    const drawn = Math.ceil(passed), k = Math.round(passed);
    const rows = state.rows.map(
      row => ({ text: row.texts[k], color: row.colors.slice(3 * k, 3 * k + 3), paths: row.paths }));
    showRows(rows);
    for (const row of rows) for (const path of row.paths) paint(path, row.color);
    for (const path of state.trails) {
      const trail = node([...parts(path), "<object>"]).children[0];
      if (trail) trail.geometry.setDrawRange(0, 6 * drawn);
    }
    $("time").value = state.t;
    $("clock").textContent = `${(state.start + state.t).toFixed(2)} / ${(state.start + state.duration).toFixed(2)} s`;
    $("play").innerHTML = state.playing ? "&#10074;&#10074;" : "&#9654;";
    followVehicle();
  }
  function followVehicle() {
    const focus = yUp(node(["focus"]).position.toArray());
    if (anchor && $("follow").checked) {
      const moved = focus.clone().sub(anchor);
      if (moved.lengthSq() > 0) {
        viewer.controls.target.add(moved);
        viewer.camera.position.add(moved);
        viewer.set_dirty();
      }
    }
    anchor = focus;
  }
  function settle() {  // what three.js makes of the messages
    for (const light of suns()) light.target = node(["focus"]);
    const ground = node(["ground", "plane", "<object>"]).children[0];
    if (plain && viewer.scene.background) software.paintSky(viewer, pane);
    if (plain && ground && ground !== state.ground) software.lean(ground.material);
    state.ground = ground;
    state.ready = ground !== undefined;
  }
  function seek(t) { state.playing = false; show(t); }
  function play(on) {
    state.playing = on && state.duration > 0;
    show(on && state.t >= state.duration ? 0 : state.t);
  }
  let last = performance.now();
  function tick(now) {
    requestAnimationFrame(tick);
    const passed = Math.max(now - last, 0) / 1000 * Number($("rate").value);
    last = now;
    settle();
    if (state.playing) {
      let t = state.t + passed;
      if (t >= state.duration) { state.playing = $("loop").checked; t = state.playing ? 0 : state.duration; }
      show(t);
    }
    adapt(now);
  }
  $("play").onclick = () => play(!state.playing);
  $("time").oninput = () => seek(Number($("time").value));
  $("tree").onclick = () => document.querySelector(".dg.main").classList.toggle("shown");
  document.addEventListener("keydown", e => {
    if (state.duration === 0) return;
    if (e.key === " ") { e.preventDefault(); play(!state.playing); }
    else if (e.key === "ArrowRight") seek(state.t + 0.1);
    else if (e.key === "ArrowLeft") seek(state.t - 0.1);
  });
  viewer.handle_command = handle;
  requestAnimationFrame(tick);
  return { viewer, state, seek, play };
};
"""

RECORDED = """
const nhmech = openPage(false);
nhmech.viewer.handle_command_bytearray(Uint8Array.from(atob("{scene}"), c => c.charCodeAt(0)));
const wanted = /[#&]t=([0-9.]+)/.exec(location.hash);
if (wanted) nhmech.seek(Number(wanted[1]));
"""

LIVE = """
document.body.classList.add("live");
const nhmech = openPage(software.found());
nhmech.viewer.connect(`ws://${location.host}/scene`);
"""


def recorded_page(messages: list[dict], title: str) -> str:
    """A page that shows these messages and plays their animation, from `file://` too.

    `#t=1.5` at the end of its address opens it at 1.5 s, paused.
    """
    packed = base64.b64encode(umsgpack.packb(messages)).decode()
    return _page(RECORDED.replace("{scene}", packed), title)


def live_page(title: str) -> str:
    """A page that draws what the program which serves it sends."""
    return _page(LIVE, title)


def _page(script: str, title: str) -> str:
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}</style>'
    scripts = "".join(f"<script>{code}</script>\n"
                      for code in (_meshcat(), SOFTWARE, SCRIPT, script))
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{BODY}{scripts}</body></html>\n'


@lru_cache(maxsize=1)
def _meshcat() -> str:
    """The JavaScript of the meshcat package, found without importing it."""
    spec = find_spec("meshcat")
    path = Path(spec.submodule_search_locations[0], "viewer", "dist",
                "main.min.js") if spec else None
    if path is None or not path.is_file():
        raise NhmechError(f"meshcat's page {path or ''} is missing; install it with: pip install "
                          "meshcat")
    return path.read_text(encoding="utf-8")
