// Writes what has changed since it was last written here: whatever is written, the browser paints.
const put = (object, property, value) => {
  const kept = object.kept || (object.kept = {});
  if (kept[property] !== value) kept[property] = object[property] = value;
};
// Whether numbers differ from those before, if there are any, by more than `least`.
const differ = (numbers, before, least) =>
  !before || numbers.some((x, i) => !(Math.abs(x - before[i]) <= least));
// Names without what they have in common, and without what all wheels are called.
const shorten = names => {
  const words = names.map(name => name.replace(/(_wheel)?(_joint|_link)?$/, "").split("_"));
  let k = 0;
  while (words.length > 1 && words.every(one => one.length > k + 1 && one[k] === words[0][k]))
    k += 1;
  if (words.some(one => one.slice(k).join("").length < 2)) k = Math.max(k - 1, 0);
  return words.map(one => one.slice(k).join(" "));
};
// The page around meshcat's viewer: cameras, clock, controls, trails, legend, layers, names.
// plain: the browser draws without a graphics card.
const openPage = plain => {
  const $ = id => document.getElementById(id);
  const pane = $("meshcat-pane"), renderer = plain ? software.renderer(pane) : undefined;
  const viewer = new MeshCat.Viewer(pane, true, renderer);
  const original = viewer.handle_command.bind(viewer);
  const state = { plain, ready: false, t: 0, start: 0, duration: 0, playing: false,
                  trails: [], moments: [0], rows: [], chase: false };
  const UP = [0, 0, 1], NARROW = 1.35;  // width over height below which the camera steps back:
                                        // there the picture ends where Python wants it filled
  // messages that change nothing of the picture itself
  const WORDS = ["time", "rows", "reading", "readings", "columns", "instruments", "drive"];
  const SHADES = {  // sky above, sky below, and what the floor's picture is multiplied by
    light: [[0.72, 0.81, 0.90], [0.97, 0.98, 0.99], 0xffffff],
    dark: [[0.10, 0.12, 0.15], [0.19, 0.22, 0.26], 0x47525e] };
  const parts = path => path.split("/").filter(Boolean);
  const node = path => viewer.scene_tree.find(path).object;
  // meshcat's scene has z up, three.js has y up
  const yUp = p => new MeshCat.THREE.Vector3(p[0], p[2], -p[1]);
  const lights = () => node(["focus", "lights", "<object>"]).children;
  const suns = () => lights().filter(light => light.isDirectionalLight);
  const adapt = plain ? software.adapt(viewer, suns) : () => {};
  const on = {};  // type of a message -> what further parts of the page make of it
  const hooks = { take: () => true };  // whether a message that comes in is shown now
  let anchor = null, course = 0, view = null, names = [], stepped = 1;

  function setView(c) {
    document.title = $("title").textContent = c.title;
    const camera = viewer.camera;
    view = c;
    camera.fov = 38; camera.near = c.near; camera.far = c.far;
    camera.updateProjectionMatrix();
    anchor = yUp(c.focus);
    $("follow").checked = c.follow;
    look("home");
    setLayers(c.layers);
    const legend = $("legend");
    legend.textContent = "";
    for (const { name, color } of c.contacts) addRow(legend, name, color).className = "contact";
    legend.appendChild(document.createElement("div")).id = "rows";
    const cell = c.cell < 0.1 ? 100 * c.cell + " cm" : c.cell + " m";
    legend.appendChild(document.createElement("div")).textContent = `grid ${cell}${c.ground}`;
  }
  // Where the vehicle heads, as an angle about the vertical: from its left side, which a wheel that
  // rolls by itself keeps level.
  function heading() {
    if (!view || !view.body) return 0;
    const left = new MeshCat.THREE.Vector3(0, 1, 0);
    left.applyQuaternion(node(parts(view.body)).quaternion);
    return Math.atan2(-left.x, left.y);
  }
  // Puts the camera: where the page began, above, beside or behind the vehicle.
  function look(from) {
    if (!view) return;
    const minus = (a, b) => a.map((x, i) => x - b[i]);
    const reach = Math.hypot(...minus(view.eye, view.target));
    const turn = course = heading(), forward = [Math.cos(turn), Math.sin(turn), 0];
    const right = [forward[1], -forward[0], 0];
    const mix = (a, b, c) => forward.map((x, i) => a * x + b * right[i] + c * UP[i]);
    const stands = { home: minus(view.eye, view.target).map(x => x / reach),
                     top: mix(-0.002, 0, 1), side: mix(0, 0.98, 0.2), chase: mix(-0.9, 0, 0.44) };
    state.chase = from === "chase";
    if (state.chase) $("follow").checked = true;
    // with the vehicle, if the camera goes along
    const moved = $("follow").checked ? anchor.clone().sub(yUp(view.focus)) : yUp([0, 0, 0]);
    stepped = stepBack();
    const away = reach * stepped * (state.chase ? 0.8 : 1);
    const target = $("follow").checked && !view.follow ? anchor.clone().add(yUp(view.lift))
      : yUp(view.target).add(moved);
    viewer.controls.target.copy(target);
    viewer.camera.position.copy(yUp(stands[from])).multiplyScalar(away).add(target);
    viewer.controls.update();
    viewer.set_dirty();
  }
  // How many times farther away the camera stands in a narrow window.
  function stepBack() {
    // a camera that goes along has room around the vehicle to spare
    return Math.max(1, NARROW * (view.follow ? 0.63 : 1) * window.innerHeight / window.innerWidth);
  }
  // A window that is turned or made narrower shows as much as before.
  window.addEventListener("resize", () => {
    if (!view) return;
    const { target } = viewer.controls, before = stepped;
    stepped = stepBack();
    viewer.camera.position.sub(target).multiplyScalar(stepped / before).add(target);
    viewer.controls.update();
    viewer.set_dirty();
  });
  // Turns the picture until `up` [in W] points upward.
  function lean(up) {
    viewer.camera.up.copy(yUp(up)).normalize();
    viewer.controls.update();
  }
  function setLayers(layers) {
    const list = $("layers");
    list.textContent = $("labels").textContent = "";
    names = [];
    for (const layer of layers) {
      const row = list.appendChild(document.createElement("label"));
      const box = row.appendChild(document.createElement("input"));
      box.type = "checkbox";
      box.checked = layer.is_shown;
      row.append(" " + layer.name);
      const tags = Object.entries(layer.labels).map(([path, text]) => {
        const tag = $("labels").appendChild(document.createElement("span"));
        tag.textContent = text;
        return { path, tag };
      });
      names.push(...tags);
      box.onchange = () => {
        for (const path of layer.paths) node(parts(path)).visible = box.checked;
        for (const { tag } of tags) tag.hidden = !box.checked;
        viewer.set_dirty();
      };
      box.onchange();
    }
  }
  const place = new MeshCat.THREE.Vector3();
  function placeNames() {
    const width = window.innerWidth, height = window.innerHeight;
    for (const { path, tag } of names) {
      if (tag.hidden) continue;
      const p = node(parts(path)).getWorldPosition(place);
      p.project(viewer.camera);
      put(tag.style, "visibility", p.z < 1 ? "visible" : "hidden");
      const [x, y] = [(1 + p.x) * width / 2 + 6, (1 - p.y) * height / 2 - 9];
      put(tag.style, "transform", `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`);
    }
  }
  function darken() {
    const shade = SHADES[$("dark").checked ? "dark" : "light"];
    document.documentElement.classList.toggle("dark", $("dark").checked);
    ["top_color", "bottom_color"].forEach((property, i) => original(
      { type: "set_property", path: "/Background", property, value: shade[i] }));
    if (state.ground) state.ground.material.color.setHex(shade[2]);
    viewer.set_dirty();
  }
  function addRow(parent, text, color) {
    const row = parent.appendChild(document.createElement("div"));
    row.textContent = text;
    const rgb = Array.from(color, x => Math.round(255 * x)).join();
    row.appendChild(document.createElement("i")).style.background = `rgb(${rgb})`;
    return row;
  }
  let written = "";
  function showRows(rows) {
    const text = JSON.stringify(rows);
    if (text === written) return;
    written = text;
    $("rows").textContent = "";
    for (const row of rows) addRow($("rows"), row.text, row.color);
  }
  function paint(path, color) {
    node(parts(path)).traverse(o => { if (o.material) o.material.color.setRGB(...color); });
  }
  function setAnimation(c) {
    original(c);
    viewer.animator.pause();
    const { start, trails, moments, rows } = c, duration = viewer.animator.duration;
    Object.assign(state, { start, trails, moments, rows, duration, playing: duration > 0 });
    $("time").max = state.duration;
    show(0);
  }
  function handle(c) {
    const messages = Array.isArray(c) ? c : [c];
    messages.forEach(obey);
    if (!state.playing) followVehicle();  // before it is drawn
    if (messages.some(({ type }) => !WORDS.includes(type))) viewer.set_dirty();
  }
  function obey(c) { if (hooks.take(c)) apply(c); }
  function draw(messages) {
    messages.forEach(apply);
    followVehicle();
    viewer.set_dirty();
  }
  function apply(c) {
    if (c.type === "view") setView(c);
    else if (c.type === "time") put($("clock"), "textContent", c.t.toFixed(2) + " s");
    else if (c.type === "rows") showRows(c.rows);
    else if (c.type === "set_animation") setAnimation(c);
    else if (on[c.type]) on[c.type](c);
    else original(c);
  }
  function show(t) {
    state.t = Math.min(Math.max(t, 0), state.duration);
    viewer.animator.seek(state.t);
    const passed = state.duration ? state.t / state.duration : 0;
    const after = state.moments.findIndex(moment => moment >= state.t - 1e-6);
    const drawn = after < 0 ? state.moments.length - 1 : after;
    const rows = state.rows.map(row => {
      const k = Math.round(passed * (row.texts.length - 1));
      return { text: row.texts[k], color: row.colors.slice(3 * k, 3 * k + 3), paths: row.paths };
    });
    showRows(rows);
    for (const row of rows) for (const path of row.paths) paint(path, row.color);
    for (const path of state.trails) {
      const trail = node([...parts(path), "<object>"]).children[0];
      if (trail) trail.geometry.setDrawRange(0, 6 * drawn);
    }
    $("time").value = state.t;
    const now = (state.start + state.t).toFixed(2);
    put($("clock"), "textContent", `${now} / ${(state.start + state.duration).toFixed(2)} s`);
    put($("play"), "textContent", state.playing ? "\u275a\u275a" : "\u25b6");
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
    if (!state.chase || !$("follow").checked) return;
    const turn = heading(), target = viewer.controls.target;
    viewer.camera.position.sub(target).applyAxisAngle(yUp(UP), turn - course).add(target);
    viewer.controls.update();
    course = turn;
  }
  function settle() {  // what three.js makes of the messages
    for (const light of suns()) light.target = node(["focus"]);
    const ground = node(["ground", "plane", "<object>"]).children[0];
    if (plain && viewer.scene.background) software.paintSky(viewer, pane);
    const isNew = ground !== state.ground;
    if (plain && ground && isNew) software.lean(ground.material);
    state.ground = ground;
    if (ground && isNew) darken();
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
      if (t >= state.duration) {
        state.playing = $("loop").checked;
        t = state.playing ? 0 : state.duration;
      }
      show(t);
    }
    adapt(now);
    placeNames();
  }
  // Opens or closes one of the panels, and closes the other.
  function open(panel) {
    for (const [button, name] of [["look", "views"], ["ask", "help"]]) {
      $(name).hidden = name !== panel || !$(name).hidden;
      $(button).setAttribute("aria-expanded", !$(name).hidden);
    }
    document.body.classList.toggle("opened", !$("views").hidden || !$("help").hidden);
  }
  $("play").onclick = () => play(!state.playing);
  $("time").oninput = () => seek(Number($("time").value));
  $("look").onclick = () => open("views");
  $("ask").onclick = () => open("help");
  $("dark").checked = matchMedia("(prefers-color-scheme: dark)").matches;
  $("dark").onchange = darken;
  for (const button of document.querySelectorAll("[data-camera]"))
    button.onclick = () => look(button.dataset.camera);
  const runs = action => () => { if (state.duration > 0) action(); };
  const keys = {
    " ": runs(() => play(!state.playing)),
    ArrowRight: runs(() => seek(state.t + 0.1)), ArrowLeft: runs(() => seek(state.t - 0.1)),
    1: () => look("home"), 2: () => look("top"), 3: () => look("side"), 4: () => look("chase"),
    f: () => $("follow").click(), d: () => $("dark").click(),
    l: () => open("views"), "?": () => open("help"), Escape: () => open("") };
  document.addEventListener("keydown", e => {
    const action = keys[e.key.length > 1 ? e.key : e.key.toLowerCase()];
    // an element that has the focus keeps the keys that it knows itself
    const own = e.target.closest("select") || (e.key === " " && e.target.closest("button, input"))
      || (e.key.startsWith("Arrow") && e.target.closest("input"));
    if (!action || own || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    action();
  });
  viewer.handle_command = handle;
  requestAnimationFrame(tick);
  return { viewer, state, keys, on, hooks, draw, seek, play, look, lean };
};
