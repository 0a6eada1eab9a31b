// What a driven vehicle does, in numbers and bars: pose, speeds within their limits, and of each
// wheel its rate and how much of its friction is used. Nothing by colour alone.
const openInstruments = parent => {
  const make = (inside, tag, className, text = "") => {
    const made = inside.appendChild(document.createElement(tag));
    made.className = className;
    made.textContent = text;
    return made;
  };
  const pose = make(parent, "div", "pose"), speeds = make(parent, "div", "speeds");
  const table = make(parent, "table", "wheels");
  let axes = [], wheels = [];
  const DEGREES = 180 / Math.PI, TIGHT = 0.8;
  const fixed = (x, digits) => (Math.abs(x) < 0.5 / 10 ** digits ? 0 : x).toFixed(digits)
    .replace("-", "\u2212");
  // green, through orange, to red
  const shade = use => `hsl(${Math.round(130 * (1 - Math.min(Math.max((use - 0.4) / 0.6, 0), 1)))}`
    + " 75% var(--shade))";

  // `areHeld`: whether who drives keeps to these limits; else the numbers stand alone
  function setLimits(limits, lateral, areHeld = true) {
    speeds.textContent = "";
    axes = [["speed", 0, 1, "m/s", 2], ["sideways", 1, 1, "m/s", 2],
            ["turn", 2, DEGREES, "\u00b0/s", 0]]
      .filter(axis => axis[1] !== 1 || lateral)
      .map(([name, i, factor, unit, digits]) => {
        const most = limits[i], row = make(speeds, "div", "speed");
        make(row, "span", "name", name);
        const number = make(row, "span", "number");
        const bar = make(row, "span", "bar centred"), fill = make(bar, "i", "");
        bar.style.visibility = areHeld ? "" : "hidden";
        make(row, "span", "limit", areHeld ? `of ${fixed(factor * most, digits)} ${unit}` : unit);
        return { i, factor, digits, most, number, fill };
      });
  }
  function setUp(c) {
    table.textContent = "";
    const head = make(make(table, "thead", ""), "tr", "");
    for (const text of ["wheel", "rad/s", "friction used"]) make(head, "th", "", text);
    const body = make(table, "tbody", ""), names = shorten(c.wheels.map(wheel => wheel.name));
    wheels = c.wheels.map(({ name, color, mu }, k) => {
      const row = make(body, "tr", ""), label = make(row, "td", "wheel");
      make(label, "i", "swatch").style.background =
        `rgb(${color.map(x => Math.round(255 * x)).join()})`;
      make(label, "span", "", names[k]);
      label.title = name;
      const rate = make(row, "td", "rate"), cell = make(row, "td", "use");
      const bar = make(cell, "span", "bar"), fill = make(bar, "i", "");
      const text = make(cell, "span", "mark");
      bar.setAttribute("role", "meter");
      bar.setAttribute("aria-label", `friction used by ${name}`);
      bar.setAttribute("aria-valuemin", 0);
      bar.setAttribute("aria-valuemax", 100);
      return { row, rate, bar, fill, text, mu };
    });
  }
  function showUse(wheel, needed, normal, phase) {
    let text = "", use = 0, known = false;
    if (phase === "in the air") text = phase;
    else if (phase === "slides") { text = "slides !"; use = 1; known = true; }
    else if (normal !== undefined && normal < 0) { text = "lifts off !"; use = 1; known = true; }
    else if (needed === null || needed === undefined) text = "\u2013";
    else if (wheel.mu === null) { text = `needs \u00b5 ${needed.toFixed(2)}`; use = needed; }
    else {
      use = needed / wheel.mu;
      known = true;
      text = `${Math.round(100 * use)} %` + (use > 1 ? " over !" : use > TIGHT ? " !" : "");
    }
    const share = Math.round(100 * Math.min(use, 1));
    if (wheel.shown === `${share} ${text}`) return;
    wheel.shown = `${share} ${text}`;
    wheel.fill.style.width = `${share}%`;
    wheel.fill.style.background = known ? shade(use) : "var(--quiet)";
    wheel.text.textContent = text;
    wheel.row.classList.toggle("tight", known && use > TIGHT);
    wheel.bar.setAttribute("aria-valuenow", share);
    wheel.bar.setAttribute("aria-valuetext", text);
  }
  function show(c) {
    const [x, y, yaw] = c.pose;
    put(pose, "textContent",
        `x ${fixed(x, 2)} m   y ${fixed(y, 2)} m   yaw ${fixed(DEGREES * yaw, 0)}\u00b0`);
    if (c.twist) for (const axis of axes) {
      const value = c.twist[axis.i], part = axis.most > 0 ? value / axis.most : 0;
      const left = axis.i > 0;  // of these a bar to the left is to the left
      put(axis.number, "textContent", fixed(axis.factor * value, axis.digits));
      const size = Math.round(50 * Math.min(Math.abs(part), 1));
      put(axis.fill.style, "width", `${size}%`);
      put(axis.fill.style, "left", (part < 0) !== left ? `${50 - size}%` : "50%");
    }
    wheels.forEach((wheel, k) => {
      const rate = c.rates && c.rates[k];
      put(wheel.rate, "textContent", typeof rate === "number" ? fixed(rate, 1) : "");
      showUse(wheel, c.needed && c.needed[k], c.normal && c.normal[k], c.phases && c.phases[k]);
    });
  }
  return { setLimits, setUp, show };
};
