// The page around meshcat's viewer: camera, clock, controls, trails and legend.
// plain: the browser draws without a graphics card.
const openPage = plain => {
  const $ = id => document.getElementById(id);
  const pane = $("meshcat-pane"), renderer = plain ? software.renderer(pane) : undefined;
  const viewer = new MeshCat.Viewer(pane, true, renderer);
  const original = viewer.handle_command.bind(viewer);
  const state = { plain, ready: false, t: 0, start: 0, duration: 0, playing: false,
                  trails: [], segments: 1, rows: [] };
  const parts = path => path.split("/").filter(Boolean);
  const node = path => viewer.scene_tree.find(path).object;
  // meshcat's scene has z up, three.js has y up
  const yUp = p => new MeshCat.THREE.Vector3(p[0], p[2], -p[1]);
  const lights = () => node(["focus", "lights", "<object>"]).children;
  const suns = () => lights().filter(light => light.isDirectionalLight);
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
    const now = (state.start + state.t).toFixed(2);
    $("clock").textContent = `${now} / ${(state.start + state.duration).toFixed(2)} s`;
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
      if (t >= state.duration) {
        state.playing = $("loop").checked;
        t = state.playing ? 0 : state.duration;
      }
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
