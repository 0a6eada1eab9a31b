// The page of a vehicle that the program which serves it drives: what the hands say goes there,
// what the vehicle does comes back.
const openDrive = nhmech => {
  // [ms] between two looks at a gamepad, and two messages of hands that rest: after 500 the vehicle
  // brakes
  const LOOK = 20, AGAIN = 100;
  const make = (tag, properties, parent = document.body) =>
    Object.assign(parent.appendChild(document.createElement(tag)), properties);
  document.body.classList.add("drive");
  const panel = make("section", { id: "instruments", className: "panel" });
  panel.setAttribute("aria-label", "instruments");
  const instruments = openInstruments(panel);
  const cannot = make("div", { id: "cannot" }, panel);
  const bar = document.getElementById("bar"), first = bar.firstChild, foot = bar.parentElement;
  const note = make("div", { id: "note", hidden: true }, foot);
  note.setAttribute("role", "status");
  const hands = make("div", { id: "hands" }, foot);
  foot.append(bar);
  const pause = make("button", { id: "pause", title: "pause (P)", textContent: "pause",
                                 className: "plain" }, bar);
  const choice = make("select", { id: "controller", title: "who drives (C)", hidden: true }, bar);
  choice.setAttribute("aria-label", "who drives");
  bar.insertBefore(pause, first);
  bar.insertBefore(choice, first);

  const state = { limits: null, controllers: [], chosen: "", paused: false, sent: [0, 0, 0] };
  let told = 0;
  const say = message => {
    const line = nhmech.viewer.connection;
    if (line && line.readyState === WebSocket.OPEN) line.send(JSON.stringify(message));
  };
  const act = action => say({ action });
  const choose = name => say({ choose: name });
  const controls = openControls(hands, { onChange: tell, onStop: () => act("stop"),
                                         onReset: () => act("reset") });

  function setUp(c) {
    const differs = key => JSON.stringify(c[key]) !== JSON.stringify(state[key]);
    if (differs("limits") || differs("chosen")) {
      instruments.setLimits(c.limits, c.lateral, c.chosen === c.controllers[0]);
      controls.setLateral(c.lateral);
      document.body.classList.toggle("sideways", c.lateral);
    }
    if (c.controllers.length !== state.controllers.length) {
      choice.textContent = "";
      c.controllers.forEach((name, i) =>
        make("option", { value: name, textContent: i ? name : "keys" }, choice));
    }
    Object.assign(state, c);
    choice.hidden = c.controllers.length < 2;
    choice.value = c.chosen;
    pause.textContent = c.paused ? "go on" : "pause";
    cannot.textContent = c.cannot.join("; ");
    note.textContent = c.paused ? "paused: P goes on, the slider looks back" : c.note;
    note.hidden = !note.textContent;
  }
  function setWheels(c) {
    instruments.setUp(c);
    nhmech.plots.setUp(c);
    const names = new Set(c.wheels.map(wheel => wheel.name));
    for (const row of document.querySelectorAll("#legend .contact"))
      row.hidden = names.has(row.textContent);  // the instruments name them
  }
  // tells the hands' parts where they have changed, and while they move anything
  function tell() {
    const parts = controls.read(), moves = parts.some(Boolean), now = performance.now();
    const changed = parts.some((part, i) => Math.abs(part - state.sent[i]) > 0.005)
      || (!moves && state.sent.some(Boolean));
    if (!changed && !(moves && now - told >= AGAIN)) return;
    say({ parts });
    state.sent = parts;
    told = now;
  }
  const exchange = () => {
    const names = state.controllers;
    if (names.length > 1) choose(names[(names.indexOf(state.chosen) + 1) % names.length]);
  };
  const holdOrGoOn = () => {
    if (state.paused) { nhmech.history.goLive(); act("go on"); } else act("pause");
  };
  nhmech.history.on.hold = () => { if (!state.paused) act("pause"); };
  pause.onclick = holdOrGoOn;
  choice.onchange = () => { choose(choice.value); choice.blur(); };
  Object.assign(nhmech.keys, {
    " ": controls.stop, r: () => { controls.release(); act("reset"); }, p: holdOrGoOn,
    c: exchange, i: () => { panel.hidden = !panel.hidden; } });
  delete nhmech.keys.d;
  for (const key of ["ArrowLeft", "ArrowRight"]) delete nhmech.keys[key];
  Object.assign(nhmech.on, { drive: setUp, instruments: setWheels,
                             reading: instruments.show });
  setInterval(tell, LOOK);
  return { state, controls };
};
