// What the contacts leave on the ground: strips through their latest points. Where they flew there
// is none, and where they slid a dark one lies on it.
const openTrails = (viewer, { colors, width, normal, skid }) => {
  const THREE = MeshCat.THREE, MOST = 3000, WIDER = 1.2;
  const ROLLS = 0, SLIDES = 1, FLIES = 2;
  const QUAD = [0, 1, 3, 0, 3, 2];  // the triangles between two points, from the first one's corner
  const up = new THREE.Vector3(...normal);
  const along = new THREE.Vector3(), side = new THREE.Vector3(), at = new THREE.Vector3();
  const root = viewer.scene_tree.find(["trails"]).object;

  // Tells the graphics card of numbers [from, to) alone.
  function renew(attribute, from, to) {
    const range = attribute.updateRange;
    const end = Math.max(to, range.count < 0 ? 0 : range.offset + range.count);
    range.offset = range.count < 0 ? from : Math.min(from, range.offset);
    range.count = end - range.offset;
    attribute.needsUpdate = true;
  }
  function makeStrip(color, number, wide) {
    const geometry = new THREE.BufferGeometry();
    const places = new THREE.BufferAttribute(new Float32Array(6 * MOST), 3);
    const faces = new THREE.BufferAttribute(new Uint16Array(6 * (MOST - 1)), 1);
    geometry.setAttribute("position", places);
    geometry.setIndex(faces);
    const material = new THREE.MeshBasicMaterial({ side: THREE.DoubleSide, polygonOffset: true,
      polygonOffsetFactor: -2 - number, polygonOffsetUnits: -2 - number });
    material.color.setRGB(...color);
    const mesh = new THREE.Mesh(geometry, material);
    mesh.frustumCulled = mesh.visible = false;
    root.add(mesh);
    return { mesh, places, faces, lift: (0.06 + 0.02 * number) * width, half: 0.5 * wide };
  }
  const lines = colors.map((color, i) => ({
    points: new Float32Array(3 * MOST), phases: new Uint8Array(MOST), count: 0,
    strip: makeStrip(color, i, width),
    mark: skid && makeStrip(skid, colors.length + i, WIDER * width) }));

  // The strip about points [from, count): its corners, and its triangles up to each point.
  function shape(line, strip, from, isShown) {
    const { points, phases, count } = line, { places, faces, lift, half } = strip;
    const first = Math.max(from - 1, 0);  // whose direction the new points change
    for (let k = first; k < count; ++k) {
      const before = Math.max(k - 1, 0), after = Math.min(k + 1, count - 1);
      along.fromArray(points, 3 * after).sub(at.fromArray(points, 3 * before));
      if (along.lengthSq() > 0) side.crossVectors(up, along).setLength(half);
      at.fromArray(points, 3 * k).addScaledVector(up, lift);
      at.sub(side).toArray(places.array, 6 * k);
      at.addScaledVector(side, 2).toArray(places.array, 6 * k + 3);
      if (k > 0) {
        const shown = isShown(phases[k]);
        strip.mesh.visible = strip.mesh.visible || shown;
        for (let i = 0; i < 6; ++i)
          faces.array[6 * (k - 1) + i] = shown ? 2 * (k - 1) + QUAD[i] : 0;
      }
    }
    renew(places, 6 * first, 6 * count);
    if (count > 1) renew(faces, 6 * Math.max(first - 1, 0), 6 * (count - 1));
    strip.mesh.geometry.setDrawRange(0, 6 * Math.max(count - 1, 0));
  }
  function draw(line, from) {
    shape(line, line.strip, from, phase => phase !== FLIES);
    const { mark } = line;
    if (mark && (mark.mesh.visible || line.phases.includes(SLIDES)))
      shape(line, mark, mark.mesh.visible ? from : 0, phase => phase === SLIDES);
  }
  function push(line, points, offset, phase) {
    line.points.set(points.subarray(offset, offset + 3), 3 * line.count);
    line.phases[line.count] = phase;
    line.count += 1;
  }
  function forgetOlderHalf() {
    for (const line of lines) {
      line.points.copyWithin(0, 3 * MOST / 2);
      line.phases.copyWithin(0, MOST / 2);
      line.count = MOST / 2;
      draw(line, 0);
    }
    base = Math.max(base - MOST / 2, 0);
  }
  // One more point (3,) of each contact, a width away or more from the last one.
  function add(points) {
    if (lines.some(line => line.count === MOST)) forgetOlderHalf();
    lines.forEach((line, i) => {
      const k = 3 * (line.count - 1);
      at.fromArray(points, 3 * i);
      if (line.count && along.fromArray(line.points, k).distanceTo(at) < width) return;
      push(line, points, 3 * i, ROLLS);
      draw(line, line.count - 1);
    });
  }
  // Points (m, n, 3) of all n contacts, and what each did up to each of them; a piece that was
  // shown before is replaced, and the next one begins with its last two points.
  let piece = null, base = 0;
  function show(c) {
    const n = lines.length, m = c.points.length / 3 / n;
    if (c.path !== piece) base = Math.max(lines[0].count - (piece === null ? 0 : 2), 0);
    if (base + m > MOST) forgetOlderHalf();
    piece = c.path;
    lines.forEach((line, i) => {
      line.count = base;
      for (let k = 0; k < m; ++k)
        push(line, c.points, 3 * (k * n + i), c.phases.length ? c.phases[k * n + i] : ROLLS);
      draw(line, base);
    });
  }
  function clear() {
    piece = null;
    base = 0;
    for (const line of lines) {
      line.count = 0;
      line.phases.fill(ROLLS);
      for (const strip of [line.strip, line.mark]) if (strip) strip.mesh.visible = false;
    }
    viewer.set_dirty();
  }
  return { add, show, clear };
};

// The trails of a page that a program sends them to.
const openLiveTrails = nhmech => {
  let trails = null;
  Object.assign(nhmech.on, {
    trails: c => { trails = trails || openTrails(nhmech.viewer, c); },
    trail: c => trails.show(c),
    delete: c => { if (trails) trails.clear(); } });
};
