// Curves of what a vehicle does, beside the picture and in step with it: a line stands where the
// picture is, and a click takes the picture there.
const openPlots = (nhmech, { now, seek }) => {
  const $ = id => document.getElementById(id);
  const DEGREES = 180 / Math.PI, KEPT = 3000;
  const DASHES = [[], [7, 3], [2, 2], [9, 3, 2, 3], [4, 4], [12, 4], [1, 3], [6, 2, 1, 2, 1, 2]];
  const store = { wheels: [], readings: [], columns: [], t: null };
  let isNew = true, drawnAt = null;

  const own = i => getComputedStyle(document.documentElement).getPropertyValue(i).trim();
  const hue = color => `rgb(${color.map(x => Math.round(255 * x)).join()})`;
  const times = () => store.readings.map(reading => reading.t);
  const of = pick => store.readings.map(reading => {
    const value = pick(reading);
    return typeof value === "number" ? value : NaN;
  });
  const perWheel = pick => store.wheels.map((wheel, k) => ({
    name: wheel.name, color: hue(wheel.color), values: of(reading => pick(reading, k, wheel)) }));
  const one = (name, pick) => ({ name, values: of(pick) });
  const list = (reading, key, k) => reading[key] ? reading[key][k] : null;
  // name -> unit, the series, and a value that is a limit; of the path x and y
  const GROUPS = {
    "path from above": () => ({ unit: "m", path: [of(r => r.pose[0]), of(r => r.pose[1])] }),
    "speed": () => ({ unit: "m/s", series: [one("speed", r => r.twist && r.twist[0])] }),
    "sideways": () => ({ unit: "m/s", series: [one("sideways", r => r.twist && r.twist[1])] }),
    "turn": () => ({ unit: "\u00b0/s",
                     series: [one("turn", r => r.twist && DEGREES * r.twist[2])] }),
    "wheel rates": () => ({ unit: "rad/s", series: perWheel((r, k) => list(r, "rates", k)) }),
    "friction used": () => ({ unit: "%", limit: 100, series: perWheel((r, k, wheel) => {
      const needed = list(r, "needed", k);
      return needed === null || needed === undefined || !wheel.mu ? null : 100 * needed / wheel.mu;
    }) }),
    "friction needed": () => ({ unit: "\u00b5", series: perWheel((r, k) => list(r, "needed", k)) }),
    "load on wheels": () => ({ unit: "N", limit: 0,
                               series: perWheel((r, k) => list(r, "normal", k)) }) };
  function curves(name) {
    if (GROUPS[name]) return { t: times(), ...GROUPS[name]() };
    const k = store.columns.findIndex(one => one.name === name), { unit, values } = store.columns[k];
    if (values) return { t: store.t, unit, series: [{ name, values }] };
    return { t: times(), unit, series: [one(name, r => list(r, "columns", k))] };
  }
  const isThere = name => store.readings.length > 0 && (!GROUPS[name]().series
    || GROUPS[name]().series.some(line => line.values.some(Number.isFinite)));

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
  function chart(choice, canvas) {
    let x0 = 0, scale = 1, left = 0;
    function draw() {
      const ratio = window.devicePixelRatio || 1;
      const width = canvas.clientWidth, height = canvas.clientHeight;
      if (!width || !store.readings.length) return;
      canvas.width = width * ratio;
      canvas.height = height * ratio;
      const g = canvas.getContext("2d"), c = curves(choice.value), ink = own("--ink");
      g.scale(ratio, ratio);
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
      g.save();
      g.beginPath();
      g.rect(box.left, box.top - 2, box.right - box.left, box.bottom - box.top + 4);
      g.clip();
      if (c.limit !== undefined) {
        g.strokeStyle = own("--alarm");
        g.lineWidth = 1.5;
        g.beginPath(); g.moveTo(box.left, Y(c.limit)); g.lineTo(box.right, Y(c.limit)); g.stroke();
      }
      const lines = c.path ? [{ values: c.path[1] }] : c.series;
      lines.forEach((line, k) => {
        g.strokeStyle = line.color || own("--strong");
        g.setLineDash(DASHES[k % DASHES.length]);
        g.lineWidth = 1.6;
        g.beginPath();
        let pen = false;
        for (let i = 0; i < xs.length; i += 1) {
          const y = line.values[i];
          if (!Number.isFinite(y)) { pen = false; continue; }
          if (pen) g.lineTo(X(xs[i]), Y(y)); else g.moveTo(X(xs[i]), Y(y));
          pen = true;
        }
        g.stroke();
      });
      g.setLineDash([]);
      const k = nearest(c.t, now());
      g.strokeStyle = g.fillStyle = ink;
      if (c.path) {
        g.beginPath(); g.arc(X(xs[k]), Y(c.path[1][k]), 4, 0, 7); g.fill();
      } else {
        g.lineWidth = 1;
        g.beginPath(); g.moveTo(X(now()), box.top); g.lineTo(X(now()), box.bottom); g.stroke();
      }
      g.restore();
      const at = line => {
        const y = line.values[k];
        return `${line.name} ${Number.isFinite(y) ? y.toPrecision(4) : "\u2013"}`;
      };
      choice.title = c.path ? choice.value : c.series.map(at).join("\n");
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
  function offer() {
    const names = [...Object.keys(GROUPS).filter(isThere), ...store.columns.map(one => one.name)];
    for (const { choice } of charts) {
      if (choice.length !== names.length) {
        choice.textContent = "";
        for (const name of names) choice.append(new Option(name, name));
      }
      const other = names[Math.min(1, names.length - 1)];
      choice.value = names.includes(choice.wanted) ? choice.wanted : other;
    }
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
    if (panel.hidden || time < due || !(isNew || now() !== drawnAt)) return;
    if (isNew) offer();
    for (const { draw } of charts) draw();
    isNew = false;
    drawnAt = now();
    due = time + 60;
  }
  requestAnimationFrame(tick);

  function add(reading) {
    const { readings } = store, last = readings[readings.length - 1];
    if (last && reading.t < last.t) readings.length = 0;
    if (!last || reading.t > last.t || !readings.length) readings.push(reading);
    if (readings.length > KEPT) readings.splice(0, KEPT / 10);
    button.hidden = false;
    document.body.classList.add("charted");
    isNew = true;
  }
  const at = () => store.readings.length ? store.readings[nearest(times(), now())] : null;
  // the wheels; and what columns the readings have, of a program that runs
  function setUp({ wheels, columns = [] }) { Object.assign(store, { wheels, columns }); }
  function setColumns(c) { Object.assign(store, { t: c.t, columns: c.columns }); isNew = true; }
  Object.assign(nhmech.on, { instruments: setUp, columns: setColumns, reading: () => {},
                             readings: c => c.readings.forEach(add) });
  return { store, add, at, setUp, toggle, charts };
};
