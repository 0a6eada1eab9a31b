// A driver's hands: keys, a gamepad and sliders, each a part in [-1, 1] of a limit: forward,
// to the left, turning to the left. Nothing here knows who is driven.
const openControls = (parent, { onChange, onStop, onReset }) => {
  const AXES = { KeyW: [1, 0, 0], ArrowUp: [1, 0, 0], KeyS: [-1, 0, 0], ArrowDown: [-1, 0, 0],
                 KeyA: [0, 0, 1], ArrowLeft: [0, 0, 1], KeyD: [0, 0, -1], ArrowRight: [0, 0, -1],
                 KeyQ: [0, 1, 0], KeyE: [0, -1, 0] };
  const SLOW = 0.4, DEAD = 0.12, STOP_BUTTON = 0, RESET_BUTTON = 9;
  const held = new Set(), pressed = new Set();
  let lateral = false, slow = false, stopped = false;

  const make = (tag, properties, inside = parent) =>
    Object.assign(inside.appendChild(document.createElement(tag)), properties);
  function slider(id, label, title, inside = parent) {
    const box = make("label", { id, className: "hand panel", title }, inside);
    const input = make("input", { type: "range", min: -1, max: 1, step: 0.05, value: 0 }, box);
    make("span", { textContent: label }, box);
    const spring = () => { input.value = 0; input.blur(); onChange(); };
    input.addEventListener("input", onChange);
    for (const end of ["pointerup", "pointercancel"]) input.addEventListener(end, spring);
    return input;
  }
  const speed = slider("hand-speed", "speed", "speed, forward and back: springs back to zero");
  const level = make("div", { className: "hand-level" });
  const sideways = slider("hand-sideways", "sideways",
    "sideways, left and right: springs back to zero", level);
  const turn = slider("hand-turn", "turn", "turn, left and right: springs back to zero", level);
  const buttons = make("div", { className: "hand-buttons" });
  const stopButton = make("button", { id: "stop", textContent: "stop", title: "stop (space)" },
    buttons);
  const resetButton = make("button", { id: "reset", className: "plain", textContent: "reset",
                                       title: "back to the start (R)" }, buttons);

  function release() {
    held.clear();
    speed.value = sideways.value = turn.value = 0;
    onChange();
  }
  function stop() {
    release();
    stopped = pressed.size > 0;  // keys that are down count again once all are up
    onStop();
  }
  stopButton.onclick = () => { stop(); stopButton.blur(); };
  resetButton.onclick = () => { release(); onReset(); resetButton.blur(); };

  document.addEventListener("keydown", e => {
    slow = e.shiftKey;
    const own = e.target.closest("input[type=range], select");
    if (!AXES[e.code] || own || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    pressed.add(e.code);
    if (!stopped) held.add(e.code);
    onChange();
  });
  document.addEventListener("keyup", e => {
    slow = e.shiftKey;
    pressed.delete(e.code);
    held.delete(e.code);
    stopped = stopped && pressed.size > 0;
    onChange();
  });
  for (const event of ["blur", "pagehide"])
    window.addEventListener(event, () => { pressed.clear(); stopped = false; release(); });
  document.addEventListener("visibilitychange", () => { if (document.hidden) release(); });

  let wasDown = {};
  function gamepad() {
    const pad = [...navigator.getGamepads()].find(one => one && one.connected);
    if (!pad) return [0, 0, 0];
    const axis = i => Math.abs(pad.axes[i] || 0) > DEAD ? -pad.axes[i] : 0;
    const down = i => Boolean(pad.buttons[i] && pad.buttons[i].pressed);
    for (const [i, act] of [[STOP_BUTTON, stop], [RESET_BUTTON, onReset]]) {
      if (down(i) && !wasDown[i]) act();
      wasDown[i] = down(i);
    }
    return lateral ? [axis(1), axis(0), axis(2)] : [axis(1), 0, axis(2) || axis(0)];
  }
  const clip = x => Math.min(Math.max(x, -1), 1);
  function read() {
    const parts = [0, 0, 0];
    const share = slow ? SLOW : 1;
    for (const code of held) AXES[code].forEach((part, i) => { parts[i] += share * part; });
    gamepad().forEach((part, i) => { parts[i] += part; });
    parts[0] += Number(speed.value);
    parts[1] -= Number(sideways.value);  // what is to the right goes, and turns, to the right
    parts[2] -= Number(turn.value);
    if (!lateral) parts[1] = 0;
    return parts.map(clip);
  }
  return { read, release, stop, setLateral: on => { lateral = on; } };
};
