// What a live page has shown: it can be held, gone back through and played again while the program
// goes on, and caught up with.
const openHistory = nhmech => {
  const KEPT = 120;  // [s] of the past
  const $ = id => document.getElementById(id);
  const state = { live: true, playing: false, t: 0, begin: 0, end: 0 };
  // path and property -> when it changed, and to what: the messages as they came
  let tracks = new Map(), trimmed = 0, painted = 0;
  // what else happens when somebody looks back, and with what is kept
  const on = { hold: () => {}, keep: () => {} };
  // type of a message -> what it says something new of; null for the page's own looks
  const SAYS = { set_transform: c => c.path, rows: () => "rows", reading: () => "reading",
                 set_property: c => ["visible", "color"].includes(c.property)
                   ? `${c.path} ${c.property}` : null };
  const subject = c => SAYS[c.type] ? SAYS[c.type](c) : null;

  function forget() {
    tracks = new Map();
    state.begin = state.end = trimmed = 0;
  }
  // the last place in rising numbers that is at most t; -1 where there is none
  function place(times, t) {
    let low = -1, high = times.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= t) low = middle; else high = middle;
    }
    return low;
  }
  function trim() {
    const first = state.end - KEPT;
    for (const track of tracks.values()) {
      const gone = place(track.times, first);
      if (gone > 0) { track.times.splice(0, gone); track.messages.splice(0, gone); }
    }
    state.begin = Math.max(state.begin, first);
    trimmed = state.end;
  }
  // Keeps what a message says, and whether it may be shown now. All that comes between two times
  // belongs to the second.
  let waiting = [];
  function take(c) {
    if (c.type === "time") keep(c.t);
    else if (subject(c)) {
      waiting.push(c);
      on.keep(c);
    }
    return state.live || !(subject(c) || c.type === "time");
  }
  function keep(t) {
    if (t < state.end) { forget(); state.begin = t; goLive(); }
    if (!tracks.size) state.begin = t;
    state.end = t;
    for (const c of waiting) {
      const key = subject(c);
      if (!tracks.has(key)) tracks.set(key, { times: [], messages: [] });
      const track = tracks.get(key);
      track.times.push(t);
      track.messages.push(c);
    }
    waiting = [];
    if (t - trimmed > 10) trim();
    if (state.live) state.t = t;
  }
  function show(t) {
    state.t = Math.min(Math.max(t, state.begin), state.end);
    const past = [];
    for (const { times, messages } of tracks.values()) {
      const k = place(times, state.t);
      if (messages.length) past.push(messages[Math.max(k, 0)]);
    }
    nhmech.draw([...past, { type: "time", t: state.t }]);
  }
  function hold() {
    state.live = state.playing = false;
    on.hold();
    paint();
  }
  function goLive() {
    if (!state.live && tracks.size) show(state.end);
    state.live = true;
    state.playing = false;
    paint();
  }
  function seek(t) { hold(); show(t); paint(); }
  function play() {
    if (state.live) hold();
    else { state.playing = !state.playing; paint(); }
  }
  function paint() {
    const runs = state.live || state.playing;
    put($("play"), "textContent", runs ? "\u275a\u275a" : "\u25b6");
    put($("live"), "hidden", state.live);
    document.body.classList.toggle("held", !state.live);
    Object.assign($("time"), { min: state.begin, max: state.end, value: state.t });
    painted = performance.now();
  }
  let last = performance.now();
  function tick(now) {
    requestAnimationFrame(tick);
    const passed = (now - last) / 1000 * Number($("rate").value);
    last = now;
    if (state.playing) {
      if (state.t + passed >= state.end) goLive(); else show(state.t + passed);
    }
    // at the end the slider stays where it is, whatever its numbers are
    if (!state.live || now - painted > 250) paint();
  }
  $("play").onclick = play;
  $("time").oninput = () => seek(Number($("time").value));
  $("live").onclick = goLive;
  Object.assign(nhmech.keys, { " ": play, ArrowRight: () => seek(state.t + 0.1),
                               ArrowLeft: () => seek(state.t - 0.1) });
  nhmech.hooks.take = take;
  requestAnimationFrame(tick);
  return { state, on, seek, hold, goLive, play };
};
