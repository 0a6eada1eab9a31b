// What the contacts leave on the ground: strips of the latest points, a width apart or more.
const openTrails = (viewer, { colors, width, normal }) => {
  const THREE = MeshCat.THREE, MOST = 3000;
  const up = new THREE.Vector3(...normal);
  const root = viewer.scene_tree.find(["trails"]).object;
  const trails = colors.map((color, i) => {
    const geometry = new THREE.BufferGeometry(), places = new Float32Array(6 * MOST);
    geometry.setAttribute("position", new THREE.BufferAttribute(places, 3));
    const faces = Array.from({ length: MOST - 1 }, (_, k) => {
      const a = 2 * k;
      return [a, a + 1, a + 3, a, a + 3, a + 2];
    });
    geometry.setIndex(faces.flat());
    geometry.setDrawRange(0, 0);
    const material = new THREE.MeshBasicMaterial({ side: THREE.DoubleSide, polygonOffset: true,
      polygonOffsetFactor: -2 - i, polygonOffsetUnits: -2 - i });
    material.color.setRGB(...color);
    const mesh = new THREE.Mesh(geometry, material);
    mesh.frustumCulled = false;
    root.add(mesh);
    return { geometry, places, count: 0, latest: null, lift: (0.06 + 0.02 * i) * width };
  });
  function addPoint(trail, point) {
    if (trail.latest && trail.latest.distanceTo(point) < width) return;
    const along = trail.latest ? point.clone().sub(trail.latest) : new THREE.Vector3(1, 0, 0);
    const side = up.clone().cross(along).setLength(0.5 * width);
    if (trail.count === MOST) {  // the older half goes
      trail.places.copyWithin(0, 3 * MOST);
      trail.count = MOST / 2;
    }
    const lifted = point.clone().addScaledVector(up, trail.lift);
    [lifted.clone().sub(side), lifted.clone().add(side)].forEach((p, i) =>
      p.toArray(trail.places, 6 * trail.count + 3 * i));
    trail.count += 1;
    trail.latest = point;
    trail.geometry.attributes.position.needsUpdate = true;
    trail.geometry.setDrawRange(0, 6 * Math.max(trail.count - 1, 0));
  }
  return {
    add: points => trails.forEach((trail, i) =>
      addPoint(trail, new THREE.Vector3().fromArray(points, 3 * i))),
    clear: () => trails.forEach(trail => {
      Object.assign(trail, { count: 0, latest: null });
      trail.geometry.setDrawRange(0, 0);
    }) };
};

// A pale copy of the bodies.
const openGhost = (viewer, { paths }) => {
  const THREE = MeshCat.THREE, FAINT = 0.28;
  const node = path => viewer.scene_tree.find(path.split("/").filter(Boolean)).object;
  const root = viewer.scene_tree.find(["ghost"]).object;
  const pale = new THREE.MeshPhongMaterial({ color: 0x3b5b80, transparent: true, opacity: FAINT,
                                             depthWrite: false });
  let copies = null, wanted = true;
  function copy(path) {
    const made = node(path).clone(true);
    made.traverse(part => {
      part.castShadow = part.receiveShadow = false;
      if (part.isMesh) part.material = pale;
      part.renderOrder = 1;  // the floor, which is transparent too, comes first
      part.visible = part.visible && !part.isLine;
    });
    made.matrixAutoUpdate = false;
    root.add(made);
    return made;
  }
  return {
    show: poses => {
      copies = copies || paths.map(copy);
      root.visible = wanted;
      copies.forEach((made, i) => {
        made.matrix.fromArray(poses, 16 * i);
        made.matrixWorldNeedsUpdate = true;
      });
    },
    hide: () => { root.visible = false; },
    toggle: () => { wanted = !wanted; } };
};
