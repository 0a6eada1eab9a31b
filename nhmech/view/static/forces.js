// The ground's forces on the wheels: how they share the load, and their arrows.

// y >= 0 with the least |B y - right|, B given by its columns: the active-set method of Lawson and
// Hanson (Solving Least Squares Problems, 1974, chapter 23, NNLS).
const solveNonNegative = (columns, right) => {
  const OPTIMAL = 1e-12, RANK = 1e-10, dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  const y = columns.map(() => 0);
  let free = [];
  for (let round = 0; round < 3 * columns.length; ++round) {
    const gap = right.map((r, i) => r - columns.reduce((sum, c, k) => sum + c[i] * y[k], 0));
    const slopes = columns.map((c, k) => free.includes(k) ? -Infinity : dot(c, gap));
    const best = slopes.indexOf(Math.max(...slopes));
    if (!(slopes[best] > OPTIMAL)) break;
    free.push(best);
    for (let bad = free; bad.length;) {
      const found = leastSquares(free.flatMap(k => columns[k]), right, RANK);
      const wanted = new Map(free.map((k, i) => [k, found[i]]));
      const part = k => y[k] / (y[k] - wanted.get(k)) || 0;
      bad = free.filter(k => !(wanted.get(k) > 0));
      const least = Math.min(1, ...bad.map(part)), gone = bad.filter(k => part(k) <= least);
      for (const k of free) y[k] += least * (wanted.get(k) - y[k]);
      for (const k of gone) y[k] = 0;
      free = free.filter(k => !gone.includes(k));
    }
  }
  return y;
};

// Of all splits `forces` + `kernel` z of a load (columns of the kernel one after the other), the
// shortest in which the forces at the places `pressing` are not negative; `supported` says whether
// there is one, else `split` is the shortest of all, which `forces` has to be. As
// `vehicle.least_norm.impose_signs`. Needs no page.
const splitLoad = (forces, kernel, pressing) => {
  const NEGATIVE = 1e-9, LOOSE = 1e-9, RANK = 1e-10, IMPOSSIBLE = 1e-5, n = forces.length;
  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  const size = forces.reduce((most, f) => Math.max(most, Math.abs(f)), 1e-300);
  const plain = { split: Array.from(forces), supported: false };
  if (pressing.every(i => forces[i] >= -NEGATIVE * size)) return { ...plain, supported: true };
  const basis = [];  // orthonormal columns
  for (let j = 0; j < kernel.length; j += n) {
    const column = Array.from(kernel.slice(j, j + n)), before = Math.sqrt(dot(column, column));
    for (let twice = 0; twice < 2; ++twice) for (const e of basis) {
      const part = dot(e, column);
      e.forEach((x, i) => { column[i] -= part * x; });
    }
    const length = Math.sqrt(dot(column, column));
    if (length > LOOSE * before) basis.push(column.map(x => x / length));
  }
  const rows = pressing.map(i => basis.map(e => e[i])), lacks = pressing.map(i => -forces[i] / size);
  if (rows.some((row, k) => lacks[k] > NEGATIVE && dot(row, row) <= LOOSE * LOOSE)) return plain;
  const columns = rows.map((row, k) => [...row, lacks[k]]), target = [...basis.map(() => 0), 1];
  const dual = solveNonNegative(columns, target);
  const rest = target.map((x, i) => x - columns.reduce((sum, c, k) => sum + c[i] * dual[k], 0));
  if (!(Math.sqrt(dot(rest, rest)) >= IMPOSSIBLE)) return plain;
  // from the conditions that are tight, which keeps the digits that the residual has lost
  const tight = rows.map((_, k) => k).filter(k => dual[k] > 0);
  const z = leastSquares(basis.flatMap((_, j) => tight.map(k => rows[k][j])),
                         tight.map(k => lacks[k]), RANK);
  const split = plain.split.map((f, i) => f + size * basis.reduce((sum, e, j) =>
    sum + z[j] * e[i], 0));
  for (const i of pressing) split[i] = Math.max(split[i], 0);
  return { split, supported: true };
};

// Arrows of forces from the points where they act, in their friction cones; `measures` is what
// `describe_arrows` in Python gives.
const openArrows = (viewer, { paths, scale, head, shortest, shades, unseen }) => {
  const { Quaternion, Vector3 } = MeshCat.THREE, Z = new Vector3(0, 0, 1);
  const node = path => viewer.scene_tree.find(path.split("/").filter(Boolean)).object;
  const arrows = paths.map(path => {
    const [shaft, tip, cone] = ["shaft", "head", "cone"].map(part => node(`${path}/${part}`));
    for (const one of [shaft, tip, cone]) one.matrixAutoUpdate = false;
    return { shaft, tip, cone };
  });
  function put(object, origin, along, width, length) {
    object.visible = length > 0 && width > 0;
    if (!object.visible) return;
    const turned = new Quaternion().setFromUnitVectors(Z, along);
    object.matrix.compose(origin, turned, new Vector3(width, width, length));
    object.matrixWorldNeedsUpdate = true;
  }
  // green, through orange, to red
  function shade(use) {
    const k = shades.findIndex(([share]) => share > use);
    if (k <= 0) return shades[k < 0 ? shades.length - 1 : 0].slice(1);
    const [[a, ...from], [b, ...to]] = [shades[k - 1], shades[k]];
    return from.map((x, i) => x + (use - a) / (b - a) * (to[i] - x));
  }
  function paint(object, color) {
    object.traverse(part => { if (part.material) part.material.color.setRGB(...color); });
  }
  let drawn = null;
  // Of each wheel: where, force (3), normal force, mu, share of the friction that is used.
  function show(wheels, normal) {
    const now = wheels.flatMap(({ point, force, pressure, mu, use }) =>
      [...point, ...[...force, pressure].map(f => scale * f), mu || 0, use]);
    if (!differ(now, drawn, unseen)) return;
    drawn = now;
    viewer.set_dirty();
    const up = new Vector3(...normal);
    wheels.forEach(({ point, force, pressure, mu, use }, k) => {
      const { shaft, tip, cone } = arrows[k], along = new Vector3(...force);
      const length = scale * along.length(), color = shade(use), origin = new Vector3(...point);
      const seen = length > shortest, end = seen ? Math.min(head, 0.5 * length) : 0;
      along.normalize();
      put(shaft, origin, along, 1, seen ? length - end : 0);
      put(tip, origin.clone().addScaledVector(along, length - end), along, end / head, end);
      const high = scale * pressure / Math.hypot(1, mu || 0);  // its side is as long as the load
      put(cone, origin, up, mu * high, mu && high > shortest ? high : 0);
      for (const part of [shaft, tip, cone]) paint(part, color);
    });
  }
  return { show };
};
