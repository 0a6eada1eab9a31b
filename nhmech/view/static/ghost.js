// A pale copy of the bodies.
const openGhost = (viewer, { paths, unseen }) => {
  const THREE = MeshCat.THREE, FAINT = 0.28;
  const node = path => viewer.scene_tree.find(path.split("/").filter(Boolean)).object;
  const root = viewer.scene_tree.find(["ghost"]).object;
  const pale = new THREE.MeshPhongMaterial({ color: 0x3b5b80, transparent: true, opacity: FAINT,
                                             depthWrite: false });
  let copies = null, wanted = true, drawn = null;
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
  function setVisible(on) {
    if (root.visible !== on) viewer.set_dirty();
    root.visible = on;
  }
  function show(poses) {
    copies = copies || paths.map(copy);
    setVisible(wanted);
    if (!differ(poses, drawn, unseen)) return;
    drawn = poses.slice();
    copies.forEach((made, i) => {
      made.matrix.fromArray(poses, 16 * i);
      made.matrixWorldNeedsUpdate = true;
    });
    viewer.set_dirty();
  }
  return { show, hide: () => setVisible(false), toggle: () => { wanted = !wanted; } };
};
