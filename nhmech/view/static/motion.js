// x of least |x| with the least |A x - b|, for A column by column: Hestenes' rotations make its
// columns orthogonal, whose lengths are the singular values then; those below `singular` of the
// largest are zero. Needs no page.
const leastSquares = (A, b, singular) => {
  const m = b.length, n = A.length / m;
  const V = Array.from({ length: n }, (_, j) => new Float64Array(n).fill(1, j, j + 1));
  const U = Array.from({ length: n }, (_, j) => Array.from(A.slice(j * m, (j + 1) * m)));
  const dot = (a, c) => a.reduce((sum, value, i) => sum + value * c[i], 0);
  const turn = (a, c, cos, sin) => a.forEach((value, i) => {
    a[i] = cos * value - sin * c[i];
    c[i] = sin * value + cos * c[i];
  });
  for (let sweep = 0, turned = true; turned && sweep < 30; ++sweep) {
    turned = false;
    for (let i = 0; i < n; ++i) for (let j = i + 1; j < n; ++j) {
      const p = dot(U[i], U[i]), q = dot(U[j], U[j]), r = dot(U[i], U[j]);
      if (!(Math.abs(r) > 1e-15 * Math.sqrt(p * q))) continue;
      turned = true;
      const zeta = (q - p) / (2 * r);
      const tan = (zeta < 0 ? -1 : 1) / (Math.abs(zeta) + Math.sqrt(1 + zeta * zeta));
      const cos = 1 / Math.sqrt(1 + tan * tan);
      turn(U[i], U[j], cos, cos * tan);
      turn(V[i], V[j], cos, cos * tan);
    }
  }
  const squares = U.map(column => dot(column, column)), x = new Float64Array(n);
  const least = Math.max(...squares) * singular * singular;
  squares.forEach((square, j) => {
    if (!(square > least)) return;
    const share = dot(U[j], b) / square;
    V[j].forEach((value, i) => { x[i] += share * value; });
  });
  return x;
};

// The motion of a system from written functions: step after step, as the simulator makes them.
// It needs no page; Node runs it too.
const openMotion = model => {
  const { nx, nq, nv, nu, nconf } = model.sizes, { codes, rules } = model;
  const array = n => new Float64Array(n);
  const place = () => ({ x: array(nx), q: array(nq), v: array(nv), health: array(3) });
  const state = { t: 0, k: 0, t0: 0, dt: model.dt, u: array(nu),
                  theta: Float64Array.from(model.theta), chart: 0, side: 1, stop: null,
                  margins: array(model.bounds.length) };
  let here = place(), next = place();
  const raw = array(nx), at = array(1), dt = array(1), answer = array(1), side = array(1),
    guard = array(1), now = array(1), margins = array(model.bounds.length);
  // what the k-th stage is given, and where its rate goes
  const rates = model.stages.slice(1).map(() => array(nx));
  const begin = array(1);
  const given = model.stages.map((_, i) => [begin, null, dt, ...rates.slice(0, i)]);
  const point = array(nx), effort = array(nu);
  const asked = [at, point], inputs = [at, point, state.u, state.theta], found = [null];

  const chart = () => model.charts[state.chart];
  function project(which, t, from, into) {
    now[0] = t;
    model.charts[which].project([now, from, state.theta],
                                [into.x, into.q, into.v, into.health]);
  }
  function judge(into, before) {
    side[0] = state.side;
    guard[0] = before;
    model.accept([into.x, into.health, side, guard], [answer]);
    return answer[0];
  }
  // One step of length h from `here` to `next`; its status.
  function tryStep(h) {
    dt[0] = h;
    begin[0] = state.t;
    for (let i = 0; i < model.stages.length; ++i) {
      given[i][1] = here.x;
      model.stages[i](given[i], asked);
      if (i < rates.length) {
        found[0] = rates[i];
        chart().rate(inputs, found);
      }
    }
    project(state.chart, state.t + h, point, next);
    let status = judge(next, here.health[2]);
    for (let k = 0; status === codes.OFF && k < rules.newton; ++k) {
      raw.set(next.x);
      project(state.chart, state.t + h, raw, next);
      status = judge(next, here.health[2]);
    }
    return status;
  }
  // Least margin of a chart at some places; zero where a singularity lies between them.
  function quality(which, places) {
    const found = places.map(([t, x]) => {
      raw.fill(0);
      raw.set(x.subarray(0, nconf));
      project(which, t, raw, scratch);
      return Number.isFinite(scratch.health[1]) ? scratch.health[1] : 0;
    });
    const same = found.every(m => Math.sign(m) === Math.sign(found[0]));
    return same ? Math.min(...found.map(Math.abs)) : 0;
  }
  const scratch = place();
  // Moves to the chart that serves best here and where the step leads; whether one does.
  function changeChart(places) {
    const qualities = model.charts.map((_, i) => quality(i, places));
    const chosen = qualities.indexOf(Math.max(...qualities));
    if (!(qualities[chosen] > 0)) return false;
    here.x.set(model.charts[chosen].speeds.map(i => here.v[i]), nconf);
    state.chart = chosen;
    settle();
    state.side = Math.sign(here.health[1]);
    return true;
  }
  function settle() {
    raw.set(here.x);
    project(state.chart, state.t, raw, here);
  }
  // The same after a change that lifts it by more than one step of Newton's mends: another radius.
  // Whether all constraints are met then.
  function close() {
    settle();
    for (let k = 0; here.health[0] > rules.closed && k < rules.most; ++k) settle();
    // the largest of |phi| passes over what is no number
    return here.health[0] <= rules.loose && here.x.every(Number.isFinite);
  }
  // Another value of a parameter, at which all constraints have to be met; whether they are. If not,
  // nothing changes.
  function change(index, value) {
    const { theta } = state, before = theta[index], moment = save();
    theta[index] = value;
    if (state.stop || close()) return true;
    theta[index] = before;
    restore(moment);
    return false;
  }
  function readMargins(t, x, into) {
    if (!chart().margins) return;
    now[0] = t;
    chart().margins([now, x, state.theta], [into]);
  }
  // Where the rank is lost beside a wheel that nearly lies down, that is the reason.
  function stop(status, what) {
    if (status === codes.SINGULAR && here.health[2] < rules.flat) status = codes.FALLEN;
    state.stop = { status, what: what || model.sentences[status] };
    return false;
  }

  // Puts it at a state of the first chart, at t = 0.
  function start(x) {
    Object.assign(state, { t: 0, k: 0, t0: 0, chart: 0, stop: null });
    here.x.set(x);
    state.u.fill(0);
    const isClosed = close();
    state.side = Math.sign(here.health[1]);
    if (!(Math.abs(here.health[1]) >= rules.poor) && !changeChart([[0, here.x]]))
      return stop(codes.SINGULAR);
    if (!isClosed) return stop(codes.OFF);
    readMargins(0, here.x, state.margins);
    return true;
  }
  // One step; whether it was taken. `state.stop` says why not.
  function step() {
    if (state.stop) return false;
    const h = state.dt;
    let status = tryStep(h);
    if (status === codes.SINGULAR) {
      const end = [state.t + h, Float64Array.from(next.x)];
      if (!changeChart([[state.t, Float64Array.from(here.x)], end])) return stop(status);
      status = tryStep(h);
      if (status === codes.SINGULAR) status = codes.DONE;
    }
    if (status !== codes.DONE) return stop(status);
    readMargins(state.t + h, next.x, margins);
    const reached = model.bounds.findIndex((_, i) => state.margins[i] > 0 && !(margins[i] > 0));
    if (reached >= 0) return stop(model.bounds[reached].status, model.bounds[reached].name);
    state.margins.set(margins);
    [here, next] = [next, here];
    state.k += 1;
    state.t = state.t0 + state.k * h;
    return true;
  }
  // A blow that changes one independent speed of the first chart.
  function push(k, change) {
    raw.set(here.x);
    raw.set(model.charts[0].speeds.map(i => here.v[i]), nconf);
    raw[nconf + k] += change;
    project(0, state.t, raw, scratch);
    here.x.set(chart().speeds.map(i => scratch.v[i]), nconf);
    settle();
  }
  // A moment to come back to.
  function save() {
    const { u, theta, margins: before } = state;
    return { x: here.x.slice(), state: { ...state, u: u.slice(), theta: theta.slice(),
                                         margins: before.slice() } };
  }
  function restore(moment) {
    const { u, theta, margins: before } = state, saved = moment.state;
    u.set(saved.u);
    before.set(saved.margins);
    Object.assign(state, saved, { u, theta, margins: before });
    here.x.set(moment.x);
    settle();
  }
  // The efforts that follow a twist, cut at the limits of the joints, into u; `most` is the largest
  // acceleration of the base.
  function follow(twist, most = model.drive.acceleration) {
    const { size, columns, limits } = model.drive;
    const m = columns.length, A = array(m * m), b = array(m);
    now[0] = state.t;
    chart().drive([now, here.x, state.theta, Float64Array.from(twist), Float64Array.of(most)],
                  [effort, answer, A, b]);
    if (!(answer[0] > rules.well)) {
      effort.fill(0);
      leastSquares(A, b, rules.singular).forEach((value, i) => { effort[columns[i]] = value; });
    }
    for (let i = 0; i < size; ++i)
      state.u[i] = Math.min(Math.max(effort[i], -limits[i]), limits[i]);
  }
  return { state, start, step, follow, close, change, push, save, restore,
           get x() { return here.x; }, get q() { return here.q; }, get v() { return here.v; } };
};
