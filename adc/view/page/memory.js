// Memory over the run: stacked areas by kind and line, the peak, and the plans for less memory.
let WIDE = 640;
const HIGH = 250, LEFT = 58, RIGHT = 12, TOP = 14, BOTTOM = 30;
const LAYERS = 10;
const memory = { by: "work", base: false, predicted: true, budgets: new Set() };
const base = {
  arguments: facts.arguments.filter((each) => !each.wrt).reduce((sum, each) => sum + each.bytes, 0),
  parameters: facts.arguments.filter((each) => each.wrt).reduce((sum, each) => sum + each.bytes, 0),
};
const runs = facts.budgets.filter((each) => each.curve);
// 0 is the plan that holds least, if half of the memory is too little for any.
const FRACTIONS = { 0: "the least", 2: "½", 4: "¼", 8: "⅛" };
const share = (each) => (each.part ? `${FRACTIONS[each.part]} of the memory` : "the least memory");
let layers = [];
let cursor = null;

function startMemory() {
  const size = facts.memory.most || 1;
  memory.base = base.arguments + base.parameters < 2 * size;
  for (const each of runs) memory.budgets.add(each.part);
  const host = $("memory-options");
  options(host, "Horizontal axis", [["work", "by work done"], ["step", "by step"]], "work", (key) => { memory.by = key; drawMemory(); });
  const toggle = (text, on, act) => {
    const button = el("button", { "aria-pressed": String(on), onclick: () => { on = !on; button.setAttribute("aria-pressed", String(on)); act(on); drawMemory(); } }, text);
    host.append(button);
  };
  toggle("arguments", memory.base, (on) => { memory.base = on; });
  toggle("predicted", true, (on) => { memory.predicted = on; });
  for (const each of runs) {
    toggle(share(each), true, (on) => { if (on) memory.budgets.add(each.part); else memory.budgets.delete(each.part); });
  }
  layers = stack();
  drawMemory();
  showPeak();
  onChange(() => { moveCursor(); emphasise(); });
}

// The series that are largest get layers of their own, the others one for each kind.
function stack() {
  const now = new Map(), tops = new Map();
  for (const step of steps) {
    apply(now, step);
    for (const [series] of step.changes) tops.set(series, Math.max(tops.get(series) ?? 0, now.get(series) ?? 0));
  }
  const own = [...tops].sort((a, b) => b[1] - a[1]).slice(0, LAYERS).map(([series]) => series);
  const found = [];
  for (const kind of ["gradients", "carried", "workspace", "tape"]) {
    const mine = own.filter((series) => facts.series[series][0] === kind).sort((a, b) => a - b);
    mine.forEach((series, k) => found.push({ kind, line: facts.series[series][1], series: new Set([series]), shade: k / Math.max(1, mine.length) }));
    const rest = [...tops.keys()].filter((series) => facts.series[series][0] === kind && !own.includes(series));
    if (rest.length) found.push({ kind, line: -1, series: new Set(rest), shade: 0.85 });
  }
  for (const layer of found) layer.sizes = new Float64Array(steps.length);
  const place = new Map(found.flatMap((layer, k) => [...layer.series].map((series) => [series, k])));
  const sizes = new Float64Array(found.length);
  steps.forEach((step, n) => {
    for (const [series, change] of step.changes) if (place.has(series)) sizes[place.get(series)] += change;
    found.forEach((layer, k) => { layer.sizes[n] = sizes[k]; });
  });
  return found;
}

function scales() {
  const work = Math.max(steps.at(-1)?.at ?? 1, ...runs.filter((each) => memory.budgets.has(each.part)).map((each) => each.statements), 1);
  const below = memory.base ? base.arguments + base.parameters : 0;
  let most = facts.memory.plan ?? 0;
  for (let n = 0; n < steps.length; n++) most = Math.max(most, steps[n].most + gradientsAt(n));
  most = (most + below) * 1.08 || 1;
  const wide = WIDE - LEFT - RIGHT, high = HIGH - TOP - BOTTOM;
  return {
    work, below, most,
    x: (n) => LEFT + wide * (memory.by === "step" ? (n + 1) / Math.max(1, steps.length) : (steps[n]?.at ?? 0) / work),
    share: (at, end) => LEFT + wide * (memory.by === "step" ? at / end : at / work),
    y: (size) => TOP + high * (1 - size / most),
  };
}

function gradientsAt(n) {
  let sum = 0;
  for (const layer of layers) if (layer.kind === "gradients") sum += layer.sizes[n];
  return sum;
}

function drawMemory() {
  WIDE = Math.max(300, $("chart").clientWidth || 640);
  const at = scales(), { x, y } = at;
  const thin = Math.max(1, Math.ceil(steps.length / 1500));
  const chosen = [];
  for (let n = 0; n < steps.length; n += thin) chosen.push(n);
  if (chosen.at(-1) !== steps.length - 1) chosen.push(steps.length - 1);
  const floor = new Float64Array(steps.length);
  const parts = [];
  for (const [kind, size] of memory.base ? Object.entries(base) : []) {
    if (!size) continue;
    parts.push(svg("rect", { x: LEFT, y: y(floor[0] + size), width: Math.max(0, x(steps.length - 1) - LEFT), height: Math.max(0, y(floor[0]) - y(floor[0] + size)), fill: colour(kind), opacity: 0.55 }, svg("title", {}, `${kind}: ${bytes(size)}`)));
    for (let n = 0; n < steps.length; n++) floor[n] += size;
  }
  layers.forEach((layer, k) => {
    let over = `M${LEFT} ${y(floor[0])}`;
    // What is held changes at once at a step, and little by little where iterations are folded.
    const before = (n) => `L${(n ? x(n - 1) : LEFT).toFixed(1)}`;
    for (const n of chosen) over += `${steps[n].folded ? "" : `${before(n)} ${y(floor[n] + layer.sizes[n]).toFixed(1)}`}L${x(n).toFixed(1)} ${y(floor[n] + layer.sizes[n]).toFixed(1)}`;
    for (const n of [...chosen].reverse()) over += `L${x(n).toFixed(1)} ${y(floor[n]).toFixed(1)}${steps[n].folded ? "" : `${before(n)} ${y(floor[n]).toFixed(1)}`}`;
    for (let n = 0; n < steps.length; n++) floor[n] += layer.sizes[n];
    parts.push(svg("path", { d: `${over}Z`, fill: colour(layer.kind), "fill-opacity": 0.85 - 0.6 * layer.shade, stroke: "var(--card)", "stroke-width": 0.5, "data-layer": k, class: "layer" }, svg("title", {}, layerName(layer))));
  });
  let most = "";
  for (const n of chosen) {
    const level = y(at.below + gradientsAt(n) + steps[n].most).toFixed(1);
    if (!most || !steps[n].folded) most += `${most ? "L" : "M"}${(n ? x(n - 1) : LEFT).toFixed(1)} ${level}`;
    most += `L${x(n).toFixed(1)} ${level}`;
  }
  parts.push(svg("path", { d: most, fill: "none", stroke: "var(--text)", "stroke-width": 1.2 }, svg("title", {}, "the most during each step")));
  const dashes = { 0: "none", 2: "none", 4: "7 3", 8: "2 3" };
  for (const each of runs.filter((one) => memory.budgets.has(one.part))) {
    const end = each.curve.at(-1)?.[0] || 1;
    let line = "", before = LEFT, last = y(at.below);
    for (const [done, size, phase] of each.curve) {
      const here = at.share(done, end);
      line += `${line ? "L" : "M"}${here.toFixed(1)} ${y(at.below + size).toFixed(1)}`;
      const height = y(at.below + size), floor = y(at.below);
      if (phase === "a") parts.push(svg("path", { d: `M${before.toFixed(1)} ${floor}V${last}L${here.toFixed(1)} ${height}V${floor}Z`, fill: colour("recomputed"), opacity: 0.22, class: "again" }), svg("rect", { x: before, y: HIGH - BOTTOM - 5, width: Math.max(0.6, here - before), height: 5, fill: colour("recomputed") }, svg("title", {}, `recomputed, with ${share(each)}`)));
      before = here;
      last = height;
    }
    parts.push(svg("path", { d: line, fill: "none", stroke: "var(--recomputed)", "stroke-width": 1.6, "stroke-dasharray": dashes[each.part], "data-budget": each.part }, svg("title", {}, `${share(each)}: ${bytes(each.run)}`)));
  }
  if (facts.memory.plan) {
    const level = y(at.below + facts.memory.plan);
    parts.push(svg("line", { x1: LEFT, x2: WIDE - RIGHT, y1: level, y2: level, stroke: "var(--quiet)", "stroke-dasharray": "4 4", id: "predicted" }, svg("title", {}, `predicted peak: ${bytes(facts.memory.plan)}`)));
  }
  if (memory.predicted) parts.push(...predictions(at, chosen));
  const peak = facts.memory["peak step"];
  if (steps.length) {
    const px = x(peak), py = y(at.below + gradientsAt(peak) + steps[peak].most);
    parts.push(svg("circle", { cx: px, cy: py, r: 4, fill: "var(--text)" }), svg("text", { x: px > WIDE - 150 ? px - 8 : px + 8, y: Math.max(11, py - 5), "text-anchor": px > WIDE - 150 ? "end" : "start" }, `most: ${bytes(facts.memory.most)}`));
  }
  const ten = Math.max(1, 10 ** Math.floor(Math.log10(at.most / 4))), tick = [1, 2, 5, 10].map((k) => k * ten).find((size) => size >= at.most / 4.5);
  for (let size = 0; size <= at.most; size += tick) {
    parts.push(svg("text", { class: "quiet", x: LEFT - 6, y: y(size) + 4, "text-anchor": "end" }, bytes(size).replace(" bytes", " B")), svg("line", { x1: LEFT, x2: WIDE - RIGHT, y1: y(size), y2: y(size), stroke: "var(--line)", "stroke-width": 0.6 }));
  }
  parts.push(svg("text", { class: "quiet", x: WIDE - RIGHT, y: HIGH - 8, "text-anchor": "end" }, memory.by === "step" ? "steps →" : "statements run →"));
  cursor = svg("line", { y1: TOP, y2: HIGH - BOTTOM, stroke: "var(--accent)", "stroke-width": 1.5, id: "cursor" });
  const host = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": `Memory over the run; the most is ${bytes(facts.memory.most)}`, "data-keys": "" }, parts, cursor);
  const pick = (event) => {
    const box = host.getBoundingClientRect(), wanted = (event.clientX - box.left) / box.width * WIDE;
    let low = 0, high = steps.length - 1;
    while (low < high) { const middle = (low + high) >> 1; if (x(middle) < wanted) low = middle + 1; else high = middle; }
    go(low);
  };
  host.addEventListener("pointerdown", (event) => { host.setPointerCapture(event.pointerId); pick(event); });
  host.addEventListener("pointermove", (event) => { if (event.buttons) pick(event); });
  clear($("chart"), host);
  const named = memory.base ? Object.entries(base).filter(([, size]) => size).map(([kind]) => ({ kind, shade: 0.4, name: kind })) : [];
  clear($("legend"), [...named, ...layers].map((layer) => el("span", {}, el("i", { style: `background:${colour(layer.kind)};opacity:${0.85 - 0.6 * layer.shade}` }), layer.name ?? layerName(layer))),
    el("span", { class: "quiet" }, "thin line: the most during a step; dashed grey: the plan’s peak"),
    memory.predicted ? el("span", { class: "quiet" }, "blue, as the plan predicts: dashed, held after a step; dotted, reserved by then") : null,
    runs.length ? el("span", { class: "quiet" }, "yellow: plans for less memory; shaded, and marked below: recomputed stretches") : null);
  moveCursor();
}

// What the plan’s analysis says: what is held after each step, and what is reserved by then.
function predictions({ x, y, below }, chosen) {
  let alive = "", reserved = "", gap = true;
  for (const n of chosen) {
    const from = (n ? x(n - 1) : LEFT).toFixed(1), to = x(n).toFixed(1);
    const height = y(below + steps[n].reserved).toFixed(1);
    reserved += `${!reserved ? `M${from} ${height}` : steps[n].folded ? "" : `L${from} ${height}`}L${to} ${height}`;
    if (steps[n].alive < 0) { gap = true; continue; }
    const level = y(below + gradientsAt(n) + steps[n].alive).toFixed(1);
    alive += gap ? `M${steps[n].folded ? to : from} ${level}` : steps[n].folded ? "" : `L${from} ${level}`;
    alive += `L${to} ${level}`;
    gap = false;
  }
  return [["reserved", reserved, "1.5 3", "reserved by then, as predicted"], ["held", alive, "6 3", "held after each step, as predicted"]].map(([key, d, dash, text]) =>
    svg("path", { d, fill: "none", stroke: "var(--accent)", "stroke-width": 1.6, "stroke-dasharray": dash, "data-predicted": key }, svg("title", {}, text)));
}

function layerName(layer) {
  return `${KINDS[layer.kind]}, ${layer.line >= 0 ? lineName(layer.line) : layer.series.size > 1 ? "other lines" : "no line"}`;
}

function moveCursor() {
  if (!cursor || !steps.length) return;
  const here = scales().x(state.step);
  cursor.setAttribute("x1", here);
  cursor.setAttribute("x2", here);
  const now = [...heldAfter(state.step)].sort((a, b) => b[1] - a[1]);
  const total = now.filter(([series]) => facts.series[series][0] !== "gradients").reduce((sum, [, size]) => sum + size, 0);
  const said = steps[state.step].alive;
  clear($("alive"), el("b", { id: "held", "data-bytes": total, "data-predicted": said }, `Held after this step: ${bytes(total)}`),
    el("span", { class: "quiet" }, said < 0 ? " Only the run knows that." : said === total ? " Predicted to the byte." : ` Predicted: at most ${bytes(said)}.`), el("ul", {}, now.slice(0, 5).map(([series, size]) => el("li", {}, `${bytes(size)} of ${KINDS[facts.series[series][0]]}, ${lineName(facts.series[series][1])}`))));
}

function emphasise() {
  for (const path of document.querySelectorAll("#chart .layer")) {
    const layer = layers[path.dataset.layer];
    path.setAttribute("opacity", state.line < 0 || layer.line === state.line || !layers.some((each) => each.line === state.line) ? 1 : 0.35);
  }
}

function course({ known, exact }) {
  if (exact === steps.length) return `After each of the ${plural(exact, "step")} as much was held as predicted. `;
  return `After ${exact.toLocaleString("en")} of ${plural(steps.length, "step")} as much was held as predicted${known < steps.length ? `; after ${(steps.length - known).toLocaleString("en")} only the run knows` : ""}. `;
}

function showPeak() {
  const found = facts.memory;
  const alive = found["at peak"].filter(([series]) => facts.series[series][0] !== "gradients").slice(0, 6)
    .map(([series, size]) => `${bytes(size)} of ${KINDS[facts.series[series][0]]} (${lineName(facts.series[series][1])})`).join(", ");
  const exact = found.plan === found.run;
  const said = found.plan === null ? `The run needed ${bytes(found.run)}:` : exact
    ? `The plan predicted ${bytes(found.plan)}, and the run needed exactly that:`
    : `The plan predicted at most ${bytes(found.plan)}; the run needed ${bytes(found.run)}:`;
  const none = facts.budgets.filter((each) => !each.fits);
  clear($("peak"), el("p", {}, el("b", {}, "The peak. "), said), el("ul", {}, [["workspace", "workspace"], ["tape", facts.memory.offload ? "tape, in files" : "tape"], ["carried", "arrays that loops hand on"]].filter(([key]) => found[key]).map(([key, text]) => el("li", {}, `${bytes(found[key])} of ${text}`))),
    el("p", {}, "Each is reserved for when it is fullest. ", alive ? `When most was held at once, it was ${alive}. ` : "",
      steps.length ? course(found.course) : "",
      found.measured ? `Compiled code measured ${bytes(found.measured)} of workspace and tape. ` : ""),
    none.length ? el("p", { class: "quiet" }, `No plan fits in ${none.map((each) => FRACTIONS[each.part]).join(", ")} of the memory; the least that was found is ${bytes(none[0].peak)}. `) : null,
    el("button", { onclick: () => go(found["peak step"]) }, "Show the peak"));
}
