// A click on a wheel shows its numbers, at the moment that the picture shows.
const openWheels = (nhmech, plots) => {
  const STILL = 4;  // [pixels] that a click may move
  const card = document.body.appendChild(document.createElement("section"));
  card.id = "card";
  card.className = "panel";
  card.hidden = true;
  card.setAttribute("aria-live", "polite");
  const pane = document.getElementById("meshcat-pane");
  const { THREE } = MeshCat, caster = new THREE.Raycaster();
  let chosen = -1, from = null;

  const body = wheel => wheel.path
    && nhmech.viewer.scene_tree.find(wheel.path.split("/").filter(Boolean)).object;
  function hit(x, y) {
    const place = new THREE.Vector2(2 * x / window.innerWidth - 1, 1 - 2 * y / window.innerHeight);
    caster.setFromCamera(place, nhmech.viewer.camera);
    const found = caster.intersectObjects([nhmech.viewer.scene], true)
      .find(({ object }) => object.isMesh && isSeen(object));
    const bodies = plots.store.wheels.map(body);
    for (let object = found && found.object; object; object = object.parent)
      if (bodies.includes(object)) return bodies.indexOf(object);
    return -1;
  }
  function isSeen(object) {
    for (let one = object; one; one = one.parent) if (!one.visible) return false;
    return true;
  }
  function show(k) {
    chosen = k;
    card.hidden = k < 0;
    if (k >= 0) tell();
  }
  function tell() {
    const wheel = plots.store.wheels[chosen], reading = plots.at() || {};
    const value = (key, unit, digits) => {
      const x = reading[key] ? reading[key][chosen] : null;
      if (typeof x !== "number") return "\u2013";
      return `${x.toFixed(digits).replace("-", "\u2212")} ${unit}`;
    };
    const phase = reading.phases ? reading.phases[chosen] : "rolls";
    const rows = [["turns at", value("rates", "rad/s", 2)], ["carries", value("normal", "N", 1)],
                  [phase === "slides" ? "slides at \u00b5" : "needs \u00b5",
                   phase === "in the air" ? phase
                     : value("needed", wheel.mu ? `of ${wheel.mu}` : "", 3)],
                  ["radius", `${wheel.radius} m`], ["kind", wheel.kind]];
    card.textContent = "";
    card.appendChild(document.createElement("b")).textContent = wheel.name;
    const table = card.appendChild(document.createElement("table"));
    for (const row of rows) {
      const line = table.appendChild(document.createElement("tr"));
      for (const text of row) line.appendChild(document.createElement("td")).textContent = text;
    }
  }
  pane.addEventListener("pointerdown", e => { from = [e.clientX, e.clientY]; }, true);
  pane.addEventListener("pointerup", e => {
    if (from && Math.hypot(e.clientX - from[0], e.clientY - from[1]) < STILL)
      show(hit(e.clientX, e.clientY));
    from = null;
  }, true);
  setInterval(() => { if (chosen >= 0) tell(); }, 100);
  return { show, hit };
};
