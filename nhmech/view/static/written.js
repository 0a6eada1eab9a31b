// The page in which a system runs by itself: written functions, hands, instruments, parameters.
// `content` is what `written_page.py` puts there.
const openWritten = (nhmech, content) => {
  const { picture, wheels, parameters, speeds, driving, start } = content;
  const motion = openMotion(content.motion), $ = id => document.getElementById(id);
  const BUDGET = 12, LONGEST = 0.1;  // [ms] of a frame for steps; [s] that a slow frame makes up
  const KEPT = 1800, EACH = 1 / 30;  // moments that can be returned to, and the time between two
  const SHORTEST = 0.5;  // [s] of a drive that leaves a ghost
  const make = (tag, properties, parent = document.body) =>
    Object.assign(parent.appendChild(document.createElement(tag)), properties);

  // -- what the page has beside the picture --------------------------------------------------------
  document.body.classList.add("drive", "live", "written");
  document.body.classList.toggle("pushed", !driving);
  document.body.classList.toggle("wheelless", !wheels.length);
  const panel = make("section", { id: "instruments", className: "panel" });
  panel.setAttribute("aria-label", "instruments");
  const instruments = openInstruments(panel);
  const bar = $("bar"), first = bar.firstChild, foot = $("foot");
  const pause = make("button", { id: "pause", title: "pause (P)", textContent: "pause",
                                 className: "plain" }, bar);
  const knobs = make("button", { id: "knobs", title: "parameters (V)", textContent: "parameters",
                                 className: "plain" }, bar);
  bar.insertBefore(pause, first);
  bar.insertBefore(knobs, $("look"));
  const values = make("section", { id: "values", className: "panel", hidden: true }, foot);
  values.setAttribute("aria-label", "parameters");
  const note = make("div", { id: "note", hidden: true }, foot);
  note.setAttribute("role", "status");
  const hands = make("div", { id: "hands" }, foot);
  foot.append(bar);
  if (driving) {
    instruments.setLimits(driving.limits, driving.lateral);
    document.body.classList.toggle("sideways", driving.lateral);
  }
  instruments.setUp({ wheels });
  for (const row of document.querySelectorAll("#legend .contact"))
    row.hidden = wheels.some(wheel => wheel.name === row.textContent);  // the instruments name them
  for (const told of document.querySelectorAll("#help [data-push]"))
    told.parentElement.hidden = told.dataset.push >= speeds.length;

  const controls = openControls(hands, { onChange: () => {}, onStop: rest, onReset: reset });
  controls.setLateral(Boolean(driving && driving.lateral));

  // -- parameters ----------------------------------------------------------------------------------
  const shown = (value, unit) => unit === "rad" ? `${(180 / Math.PI * value).toFixed(1)}\u00b0`
    : `${Number(value.toPrecision(3))} ${unit}`;
  function addSlider({ name, label, unit, value, low, high }, change) {
    const row = make("label", { className: "knob" }, values);
    const text = label || name.replace(/[._]/g, " ");
    make("span", { textContent: text, title: name || label }, row);
    const input = make("input", { type: "range", min: low, max: high, step: "any", value }, row);
    const number = make("output", { textContent: shown(value, unit) }, row);
    let held = value;
    input.oninput = () => {
      if (change(Number(input.value)) === false) input.value = held;
      else held = Number(input.value);
      number.textContent = shown(held, unit);
    };
    input.ondblclick = () => { input.value = value; input.oninput(); };
    return input;
  }
  parameters.forEach(({ index, ...parameter }) => addSlider(parameter, value => {
    const stands = motion.change(index, value);
    state.refused = stands ? "" : `${parameter.name.replace(/[._]/g, " ")} stays: with `
      + `${shown(value, parameter.unit)} not all wheels would touch the ground`;
    draw();
    return stands;
  }));
  if (wheels.some(wheel => wheel.along.length))
    addSlider({ label: "friction \u00b5", unit: "", value: content.mu, low: 0.05, high: 1.5 },
      value => {
        for (const wheel of wheels) if (wheel.along.length) wheel.mu = value;
        state.slid = null;
        instruments.setUp({ wheels });
        draw();
      });
  if (driving) {
    const limits = [...content.motion.drive.limits];
    if (limits.some(limit => limit < 1e299))
      addSlider({ label: "motor limits", unit: "\u00d7", value: 1, low: 0.02, high: 2 },
        value => limits.forEach((limit, i) => { content.motion.drive.limits[i] = value * limit; }));
    const fast = [...driving.limits];
    addSlider({ label: "top speed", unit: "\u00d7", value: 1, low: 0.1, high: 3 }, value => {
      driving.limits = fast.map(limit => value * limit);
      instruments.setLimits(driving.limits, driving.lateral);
    });
  }

  make("div", { id: "cannot", textContent: content.remarks }, panel);
  if (content.note) make("div", { className: "remark", textContent: content.note }, values);

  // -- pushes --------------------------------------------------------------------------------------
  // A blow that changes one independent speed.
  function push(k, sense) {
    if (motion.state.stop || state.paused) return;
    motion.push(k, sense * speeds[k].push);
    draw();
  }
  if (speeds.length) {
    const list = make("div", { className: "pushes" }, panel);
    make("div", { textContent: driving ? "push" : "push (arrow keys)" }, list);
    speeds.forEach((speed, k) => {
      const row = make("div", { className: "push" }, list);
      const moved = speed.moves.filter(name => name !== speed.name).join(", ");
      const text = speed.name.replace(/_/g, " ") + (moved && ` (${moved})`);
      make("span", { textContent: text, className: "name" }, row);
      const told = document.querySelector(`#help [data-push="${k}"]`);
      if (told) told.textContent = `push ${text}`;
      speed.number = make("span", { className: "number" }, row);
      for (const [sense, sign] of [[-1, "\u2212"], [1, "+"]]) {
        const button = make("button", { className: "plain", textContent: sign }, row);
        button.setAttribute("aria-label", `push ${speed.name} ${sense < 0 ? "down" : "up"}`);
        button.onclick = () => push(k, sense);
      }
    });
  }

  // -- time ----------------------------------------------------------------------------------------
  const state = { paused: false, twist: [0, 0, 0], history: [], before: [], behind: 0, lag: false,
                  slid: null, refused: "" };
  function wanted() {
    const parts = controls.read(), most = driving.limits;
    const twist = parts.map((part, i) => part * most[i]);
    // who steers turns only as tightly as the wheels go, and not at all while standing
    const tight = driving.radius > 0 ? Math.abs(twist[0]) / driving.radius : Infinity;
    twist[2] = Math.min(Math.max(twist[2], -tight), tight);
    return twist;
  }
  function ask(period) {
    state.twist = wanted().map((target, i) => {
      const before = state.twist[i], to = before * target < 0 ? 0 : target;
      const slows = Math.abs(to) < Math.abs(before);
      const most = (slows ? driving.decay : driving.growth)[i] * period;
      return before + Math.min(Math.max(to - before, -most), most);
    });
    motion.follow(state.twist);
  }
  function rest() { controls.release(); }
  function reset() {
    controls.release();
    if (motion.state.t > SHORTEST) state.before = state.history;
    Object.assign(state, { twist: [0, 0, 0], history: [], behind: 0, slid: null, refused: "" });
    motion.start(start);
    trails.clear();
    setPaused(false);
    keep();
    draw();
  }
  // When a moment was kept last.
  function latest() {
    const { history } = state;
    return history.length ? history[history.length - 1].state.t : -Infinity;
  }
  function keep() {
    const now = motion.state.t;
    if (now - latest() < EACH - 1e-9) return;
    state.history.push({ ...motion.save(), q: motion.q.slice(), twist: [...state.twist] });
    if (state.history.length > KEPT) state.history.shift();
    Object.assign($("time"), { min: state.history[0].state.t, max: Math.max(now, 1e-3) });
    $("time").value = now;
  }
  function setPaused(on) {
    state.paused = on;
    pause.textContent = on ? "go on" : "pause";
    document.body.classList.toggle("paused", on);
    if (!on) state.history = state.history.filter(({ state: { t } }) => t <= motion.state.t);
    say();
  }
  function say() {
    const { stop } = motion.state, { slid } = state;
    put(note, "textContent", stop ? `stopped: ${stop.what}. R resets`
      : state.refused || (slid ? `since t = ${slid.t.toFixed(2)} s it would slide, which this page does not simulate: `
        + `${slid.what}. R resets`
      : state.paused ? "paused: P goes on" : state.lag ? "slower than real time here" : ""));
    put(note, "hidden", !note.textContent);
  }
  pause.onclick = () => { setPaused(!state.paused); pause.blur(); };
  $("time").oninput = () => {
    if (!state.paused) setPaused(true);
    const t = Number($("time").value);
    const moment = state.history.reduce((best, one) =>
      Math.abs(one.state.t - t) < Math.abs(best.state.t - t) ? one : best);
    motion.restore(moment);
    state.twist = [...moment.twist];
    if (state.slid && moment.state.t < state.slid.t) state.slid = null;
    draw();
  };
  knobs.onclick = () => {
    values.hidden = !values.hidden;
    document.body.classList.toggle("tuning", !values.hidden);
    knobs.setAttribute("aria-expanded", !values.hidden);
  };
  const keys = nhmech.keys, arrows = { ArrowUp: [0, 1], ArrowDown: [0, -1],
                                       ArrowLeft: [1, 1], ArrowRight: [1, -1] };
  for (const key of ["ArrowLeft", "ArrowRight"]) delete keys[key];
  delete keys.d;
  Object.assign(keys, { " ": controls.stop, r: reset, p: () => pause.click(),
                        v: () => knobs.click(), g: () => { ghost.toggle(); draw(); },
                        i: () => { panel.hidden = !panel.hidden; } });
  if (!driving) for (const [key, [k, sense]] of Object.entries(arrows))
    if (k < speeds.length) keys[key] = () => push(k, sense);

  // -- the picture ---------------------------------------------------------------------------------
  const now = new Float64Array(1), count = picture.paths.length,
    points = picture.trails.colors.length;
  const poses = new Float64Array(16 * count), marks = new Float64Array(3 * points),
    twist = new Float64Array(3), focus = new Float64Array(3), up = new Float64Array(3);
  const { parts, kernel } = content.sizes;
  const directions = new Float64Array(3 * parts), places = [poses, marks, focus, twist, directions,
                                                            up];
  const forces = new Float64Array(parts), others = new Float64Array(kernel);
  const drawn = content.arrows && openArrows(nhmech.viewer, content.arrows);
  const trails = openTrails(nhmech.viewer, picture.trails);
  const ghost = openGhost(nhmech.viewer, picture);
  const seen = {};  // path -> where it was drawn
  // Messages that move what has moved.
  function move(poses) {
    const moved = poses.filter(([path, matrix]) => differ(matrix, seen[path], picture.unseen));
    return moved.map(([path, matrix]) => {
      seen[path] = matrix;
      return { type: "set_transform", path, matrix };
    });
  }
  // The drive before the last reset, at the same time.
  function haunt() {
    const { before } = state, t = motion.state.t;
    const k = before.findIndex(one => one.state.t >= t);
    if (k < 0) return ghost.hide();
    const [a, b] = [before[Math.max(k - 1, 0)], before[k]];
    now[0] = b.state.t;
    content.place([now, t - a.state.t < b.state.t - t ? a.q : b.q, motion.v, b.state.theta],
                  places);
    ghost.show(poses);
  }
  function place() {
    now[0] = motion.state.t;
    content.place([now, motion.q, motion.v, motion.state.theta], places);
  }
  // Where the trails pass now, and a moment that can be returned to.
  function mark() {
    place();
    trails.add(marks);
    keep();
  }
  function draw() {
    haunt();
    place();
    nhmech.lean(up);
    const at = new Float64Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, ...focus, 1]);
    const moved = move([
      ...picture.paths.map((path, i) => [path, poses.slice(16 * i, 16 * i + 16)]),
      [picture.focus, at], ["/ground", ground()]]);
    nhmech.viewer.handle_command([...moved, { type: "time", t: motion.state.t }]);
    read();
    say();
  }
  // The ground goes along by whole periods of its grid.
  function ground() {
    const { pose, period } = picture.ground, matrix = [...pose];
    for (const axis of [0, 1]) {
      const e = pose.slice(4 * axis, 4 * axis + 3);
      const way = e.reduce((sum, x, i) => sum + x * (focus[i] - pose[12 + i]), 0);
      e.forEach((x, i) => { matrix[12 + i] += x * period * Math.round(way / period); });
    }
    return matrix;
  }
  // How the wheels share the load: the shortest split in which all press the ground.
  function share() {
    const pressing = wheels.flatMap(wheel => wheel.normal === null ? [] : [wheel.normal]);
    const { split } = splitLoad(forces, others, pressing);
    const least = 1e-9 * split.reduce((most, f) => Math.max(most, Math.abs(f)), 0);
    const sum = places => [0, 1, 2].map(k =>
      places.reduce((total, i) => total + split[i] * directions[3 * i + k], 0));
    return wheels.map(({ normal, along, mu }, i) => {
      const pressure = normal === null ? 0 : split[normal], size = Math.hypot(...sum(along));
      const needed = along.length && pressure > 0 ? (size > least ? size / pressure : 0) : null;
      return { point: marks.slice(3 * i, 3 * i + 3), pressure, needed, mu,
               force: sum(normal === null ? along : [normal, ...along]),
               use: pressure < -least ? 1 : mu && needed ? needed / mu : 0 };
    });
  }
  // Where rolling ends: a wheel lifts off however the load is shared, or one would slide.
  function judge(loads) {
    const watched = wheels.filter(wheel => wheel.watched).map(wheel => wheel.normal);
    if (!motion.state.stop && !splitLoad(forces, others, watched).supported) {
      const lifted = wheels.find(wheel =>
        wheel.watched && forces[wheel.normal] === Math.min(...watched.map(i => forces[i])));
      motion.state.stop = { status: content.motion.codes.LIFTED,
                            what: `${lifted.name} lifts off the ground` };
    }
    const slides = loads.findIndex(load => load.use > 1);
    if (slides < 0 || state.slid || motion.state.stop) return;
    const what = `${wheels[slides].name} needs \u00b5 ${loads[slides].needed.toFixed(2)} of `
      + Number(wheels[slides].mu.toPrecision(3));
    if (wheels[slides].slides)
      motion.state.stop = { status: null, what: `rolling ends, ${what}` };
    else state.slid = { t: motion.state.t, what };
  }
  function read() {
    const chart = content.motion.charts[motion.state.chart];
    const found = { pose: [poses[12], poses[13], Math.atan2(poses[1], poses[0])],
                    twist: driving ? [...twist] : null,
                    rates: wheels.map(wheel => wheel.rate === null ? null : motion.v[wheel.rate]) };
    if (chart.forces) {
      chart.forces([now, motion.x, motion.state.u, motion.state.theta], [forces, others]);
      const loads = share();
      found.normal = loads.map(load => load.pressure);
      found.needed = loads.map(load => load.needed);
      judge(loads);
      drawn.show(loads, picture.normal);
    }
    instruments.show(found);
    speeds.forEach(speed => {
      const number = motion.v[speed.rate].toFixed(2).replace("-", "\u2212");
      put(speed.number, "textContent", `${number} ${speed.unit}`);
    });
  }

  let last = performance.now(), late = 0;
  function tick(time) {
    requestAnimationFrame(tick);
    const frame = Math.max(time - last, 0) / 1000, passed = Math.min(frame, LONGEST);
    last = time;
    late = frame > LONGEST ? late + 1 : 0;
    if (state.paused || motion.state.stop) return;
    state.behind = Math.min(state.behind + passed * Number($("rate").value), LONGEST);
    const { dt } = motion.state, until = performance.now() + BUDGET;
    let slow = false;
    while (state.behind >= dt && !slow) {
      if (driving && motion.state.k % content.period === 0) ask(content.period * dt);
      if (!motion.step()) break;
      state.behind -= dt;
      if (motion.state.t - latest() >= EACH) mark();
      if (motion.state.k % content.period === 0) slow = performance.now() > until;
    }
    // one long frame is a window that was covered; several are a slow computer
    state.lag = late > 2 || (slow && (state.lag || state.behind > 0.09));
    draw();
    mark();
  }
  // So many seconds with a twist, at once; then it rests. For pictures.
  function advance(seconds, twist) {
    const { dt } = motion.state, steps = Math.round(seconds / dt);
    for (let k = 0; k < steps && !motion.state.stop; ++k) {
      if (driving && k % content.period === 0) motion.follow(twist);
      motion.step();
      if (k % 20 === 19) { draw(); mark(); }
    }
    setPaused(true);
  }
  reset();
  requestAnimationFrame(tick);
  return { motion, state, controls, reset, push, draw, advance };
};
