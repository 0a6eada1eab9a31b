// Curves of what a vehicle does, beside the picture and in step with it: a line stands where the
// picture is, and a click takes the picture there.
const openPlots = (nhmech, { now, seek }) => {
  const $ = id => document.getElementById(id);
  const DEGREES = 180 / Math.PI, KEPT = 3000;
  const AGAIN = 100;  // [ms] until curves are drawn again at the earliest
  const DASHES = [[], [7, 3], [2, 2], [9, 3, 2, 3], [4, 4], [12, 4], [1, 3], [6, 2, 1, 2, 1, 2]];
  const store = { wheels: [], readings: [], columns: [], t: null };
  let isNew = true, drawnAt = null, drawnIn = "";

  const own = i => getComputedStyle(document.documentElement).getPropertyValue(i).trim();
  // a wheel's colour, towards white where the page is dark
  const hue = color => {
    const most = document.documentElement.classList.contains("dark") ? 0.6 : 1;
    return `rgb(${color.map(x => Math.round(255 * (1 - most * (1 - x)))).join()})`;
  };
  const times = () => store.readings.map(reading => reading.t);
  const list = (reading, key, k) => reading[key] ? reading[key][k] : null;
  const number = value => typeof value === "number" ? value : NaN;
  // name -> unit, a value that is a limit, and what is read: of each wheel, or of the vehicle
  const GROUPS = {
    "path from above": { unit: "m", one: r => r.pose[0] },
    "speed": { unit: "m/s", one: r => r.twist && r.twist[0] },
    "sideways": { unit: "m/s", one: r => r.twist && r.twist[1] },
    "turn": { unit: "\u00b0/s", one: r => r.twist && DEGREES * r.twist[2] },
    "wheel rates": { unit: "rad/s", each: (r, k) => list(r, "rates", k) },
    "friction used": { unit: "%", limit: 100, each: (r, k, wheel) => {
      const needed = list(r, "needed", k);
      return needed === null || needed === undefined || !wheel.mu ? null : 100 * needed / wheel.mu;
    } },
    "friction needed": { unit: "\u00b5", each: (r, k) => list(r, "needed", k) },
    "load on wheels": { unit: "N", limit: 0, each: (r, k) => list(r, "normal", k) } };
  const found = new Set();  // groups of which some reading has a number
  function look(reading) {
    for (const [name, { one, each }] of Object.entries(GROUPS)) if (!found.has(name)) {
      const values = one ? [one(reading)] : store.wheels.map((wheel, k) => each(reading, k, wheel));
      if (values.some(Number.isFinite)) { found.add(name); isNew = true; }
    }
  }
  const series = (name, pick, color) =>
    ({ name, color, values: store.readings.map(reading => number(pick(reading))) });
  function curves(name) {
    const { unit, limit, one, each } = GROUPS[name] || {}, t = times();
    if (name === "path from above")
      return { t, unit, path: [0, 1].map(i => series(name, r => r.pose[i]).values) };
    if (one) return { t, unit, series: [series(name, one)] };
    if (each) return { t, unit, limit, series: store.wheels.map((wheel, k) =>
      series(wheel.name, reading => each(reading, k, wheel), hue(wheel.color))) };
    const k = store.columns.findIndex(column => column.name === name), column = store.columns[k];
    if (column.values) return { t: store.t, unit: column.unit, series: [column] };
    return { t, unit: column.unit, series: [series(name, r => list(r, "columns", k))] };
  }

  // ---- one chart
  function nice(span, count) {
    const rough = span / count, ten = 10 ** Math.floor(Math.log10(rough));
    return ten * [1, 2, 5, 10].find(step => step * ten >= rough);
  }
  function ticks(low, high, count) {
    const step = nice(high - low, count), found = [];
    for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k += 1)
      found.push(k * step);
    return { step, found };
  }
  const written = (x, step) => x.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9)))
    .replace("-", "\u2212");
  function range(values) {
    let low = Infinity, high = -Infinity;
    for (const x of values) if (Number.isFinite(x)) {
      low = Math.min(low, x);
      high = Math.max(high, x);
    }
    if (!(high >= low)) return [-1, 1];
    const margin = Math.max(0.06 * (high - low), 1e-3 * Math.abs(high), 1e-6);
    return [low - margin, high + margin];
  }
  // The curve through these points [pixels]: of many in one column of pixels the first, the
  // lowest, the highest and the last are drawn, of a path none within a pixel of the one before.
  function trace(g, xs, ys, isPath) {
    let pen = false, x = 0, y = 0, low = 0, high = 0, last = 0, column = NaN;
    const end = () => {
      if (low !== high) { g.lineTo(x, low); g.lineTo(x, high); g.lineTo(x, last); }
      column = NaN;
    };
    g.beginPath();
    for (let i = 0; i < xs.length; ++i) {
      if (!Number.isFinite(ys[i])) { if (pen) end(); pen = false; continue; }
      if (pen && !isPath && Math.floor(xs[i]) === column) {
        [low, high, last] = [Math.min(low, ys[i]), Math.max(high, ys[i]), ys[i]];
        continue;
      }
      if (pen && isPath && Math.hypot(xs[i] - x, ys[i] - y) < 1) continue;
      if (pen && !isPath) end();
      [x, y] = [xs[i], ys[i]];
      low = high = last = y;
      column = Math.floor(x);
      if (pen) g.lineTo(x, y); else g.moveTo(x, y);
      pen = true;
    }
    if (pen && !isPath) end();
    g.stroke();
  }
  function chart(choice, canvas) {
    // the browser need not ask a graphics card: the picture is small and drawn anew all the time
    const front = canvas.getContext("2d", { willReadFrequently: true });
    const back = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    let x0 = 0, scale = 1, left = 0, drawn = null;
    // Axes and curves; what is left to draw when only the time has changed.
    function drawCurves(g, width, height) {
      const c = curves(choice.value), ink = own("--ink");
      g.font = "11px system-ui, sans-serif";
      const box = { left: 46, top: 16, right: width - 8, bottom: height - 18 };
      let xs = c.t, low, high;
      let first = c.t[0], last = Math.max(c.t[c.t.length - 1], first + 1e-3);
      if (c.path) {
        [first, last] = range(c.path[0]);
        [low, high] = range(c.path[1]);
        const pixel = Math.max((last - first) / (box.right - box.left), (high - low)
          / (box.bottom - box.top)), wide = pixel * (box.right - box.left) - last + first;
        const tall = pixel * (box.bottom - box.top) - high + low;
        first -= wide / 2; last += wide / 2; low -= tall / 2; high += tall / 2;
        xs = c.path[0];
      } else {
        const all = c.series.map(line => range(line.values));
        low = Math.min(...all.map(one => one[0]));
        high = Math.max(...all.map(one => one[1]));
        // a limit is shown where the curves come near it
        const span = high - low;
        if (c.limit > low - span && c.limit < high + 2 * span) {
          low = Math.min(low, c.limit - 0.04 * span);
          high = Math.max(high, c.limit + 0.04 * span);
        }
      }
      const X = x => box.left + (x - first) / (last - first) * (box.right - box.left);
      const Y = y => box.bottom - (y - low) / (high - low) * (box.bottom - box.top);
      [x0, scale, left] = [first, (last - first) / (box.right - box.left), c.path ? -1 : box.left];
      g.strokeStyle = own("--groove");
      g.fillStyle = ink;
      g.lineWidth = 1;
      g.textAlign = "right";
      g.textBaseline = "middle";
      const up = ticks(low, high, 4), along = ticks(first, last, Math.max(3, width / 90));
      for (const y of up.found) {
        g.beginPath(); g.moveTo(box.left, Y(y)); g.lineTo(box.right, Y(y)); g.stroke();
        g.fillText(written(y, up.step), box.left - 5, Y(y));
      }
      g.textAlign = "center";
      for (const x of along.found) g.fillText(written(x, along.step), X(x), box.bottom + 10);
      g.textAlign = "left";
      g.fillText(c.path ? "y [m] over x [m]" : `[${c.unit || "1"}] over t [s]`, box.left, 7);
      g.beginPath();
      g.rect(box.left, box.top - 2, box.right - box.left, box.bottom - box.top + 4);
      g.clip();
      if (c.limit !== undefined) {
        g.strokeStyle = own("--alarm");
        g.lineWidth = 1.5;
        g.beginPath(); g.moveTo(box.left, Y(c.limit)); g.lineTo(box.right, Y(c.limit)); g.stroke();
      }
      const lines = c.path ? [{ values: c.path[1] }] : c.series, places = xs.map(X);
      lines.forEach((line, k) => {
        g.strokeStyle = line.color || own("--strong");
        g.setLineDash(DASHES[k % DASHES.length]);
        g.lineWidth = 1.6;
        trace(g, places, line.values.map(Y), Boolean(c.path));
      });
      return { c, box, X, Y, ink };
    }
    function draw() {
      const ratio = window.devicePixelRatio || 1;
      const width = canvas.clientWidth, height = canvas.clientHeight;
      if (!width || !store.readings.length) return;
      const looks = [width, height, ratio, choice.value, own("--ink")].join();
      if (!drawn || isNew || drawn.looks !== looks) {
        for (const { canvas: one } of [front, back])
          Object.assign(one, { width: width * ratio, height: height * ratio });
        back.scale(ratio, ratio);
        drawn = { looks, ...drawCurves(back, width, height) };
      }
      const { c, box, X, Y, ink } = drawn, k = nearest(c.t, now()), g = front;
      g.setTransform(1, 0, 0, 1, 0, 0);
      g.clearRect(0, 0, g.canvas.width, g.canvas.height);
      g.drawImage(back.canvas, 0, 0);
      g.scale(ratio, ratio);
      g.strokeStyle = g.fillStyle = ink;
      g.beginPath();
      if (c.path) { g.arc(X(c.path[0][k]), Y(c.path[1][k]), 4, 0, 7); g.fill(); }
      else if (X(now()) >= box.left - 1 && X(now()) <= box.right + 1) {
        g.moveTo(X(now()), box.top); g.lineTo(X(now()), box.bottom); g.stroke();
      }
      const at = line => {
        const y = line.values[k];
        return `${line.name} ${Number.isFinite(y) ? y.toPrecision(4) : "\u2013"}`;
      };
      put(choice, "title", c.path ? choice.value : c.series.map(at).join("\n"));
    }
    canvas.onclick = event => {
      if (left < 0) return;
      seek(x0 + (event.offsetX - left) * scale);
    };
    return { draw };
  }
  function nearest(t, wanted) {
    let low = 0, high = t.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (t[middle] <= wanted) low = middle; else high = middle;
    }
    return wanted - t[low] <= t[high] - wanted ? low : high;
  }
  // ---- the panel
  const panel = document.body.appendChild(document.createElement("section"));
  panel.id = "plots";
  panel.className = "panel";
  panel.hidden = true;
  panel.setAttribute("aria-label", "plots");
  const charts = ["friction used", "path from above"].map(wanted => {
    const box = panel.appendChild(document.createElement("div"));
    const choice = box.appendChild(document.createElement("select"));
    choice.setAttribute("aria-label", "what is plotted");
    choice.wanted = wanted;
    choice.onchange = () => { choice.wanted = choice.value; choice.blur(); isNew = true; };
    return { choice, ...chart(choice, box.appendChild(document.createElement("canvas"))) };
  });
  // Which line is whose, where a chart has one of each wheel.
  const key = panel.appendChild(document.createElement("div"));
  key.className = "key";
  function nameLines() {
    key.hidden = !charts.some(({ choice }) => (GROUPS[choice.value] || {}).each);
    key.textContent = "";
    const names = shorten(store.wheels.map(wheel => wheel.name));
    store.wheels.forEach(({ color }, k) => {
      const label = key.appendChild(document.createElement("span"));
      label.innerHTML = `<svg width="26" height="6" aria-hidden="true"><path d="M0 3h26"
        stroke="${hue(color)}" stroke-width="2" stroke-dasharray="${DASHES[k % DASHES.length]}"/>
        </svg>`;
      label.append(names[k]);
    });
  }
  function offer() {
    const names = [...Object.keys(GROUPS).filter(name => found.has(name)),
                   ...store.columns.map(one => one.name)];
    for (const { choice } of charts) {
      if (choice.length !== names.length) {
        choice.textContent = "";
        for (const name of names) choice.append(new Option(name, name));
      }
      const other = names[Math.min(1, names.length - 1)];
      choice.value = names.includes(choice.wanted) ? choice.wanted : other;
    }
    nameLines();
  }
  const button = document.createElement("button");
  Object.assign(button, { id: "graph", className: "plain", textContent: "plot",
                          title: "plots (T)", hidden: true });
  $("bar").insertBefore(button, $("look"));
  function toggle() {
    panel.hidden = !panel.hidden || !store.readings.length;
    button.setAttribute("aria-expanded", !panel.hidden);
    document.body.classList.toggle("plotted", !panel.hidden);
    isNew = true;
  }
  button.onclick = toggle;
  nhmech.keys.t = toggle;
  let due = 0;
  function tick(time) {
    requestAnimationFrame(tick);
    const looks = [innerWidth, innerHeight, document.documentElement.className].join();
    if (looks !== drawnIn) isNew = true;
    if (panel.hidden || time < due || !(isNew || now() !== drawnAt)) return;
    if (isNew) offer();
    for (const { draw } of charts) draw();
    isNew = false;
    [drawnAt, drawnIn] = [now(), looks];
    due = time + AGAIN;
  }
  requestAnimationFrame(tick);

  function add(reading) {
    const { readings } = store, last = readings[readings.length - 1];
    if (last && reading.t < last.t) readings.length = 0;
    if (!last || reading.t > last.t || !readings.length) readings.push(reading);
    if (readings.length > KEPT) readings.splice(0, KEPT / 10);
    look(reading);
    put(button, "hidden", false);
    document.body.classList.add("charted");
    isNew = true;
  }
  const at = () => store.readings.length ? store.readings[nearest(times(), now())] : null;
  // the wheels; and what columns the readings have, of a program that runs
  function setUp({ wheels, columns = [] }) {
    Object.assign(store, { wheels, columns });
    store.readings.forEach(look);
  }
  function setColumns(c) { Object.assign(store, { t: c.t, columns: c.columns }); isNew = true; }
  Object.assign(nhmech.on, { instruments: setUp, columns: setColumns, reading: () => {},
                             readings: c => c.readings.forEach(add) });
  return { store, add, at, setUp, toggle, charts };
};
