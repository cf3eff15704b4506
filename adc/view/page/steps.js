// The run: its steps, what is selected, and what this step does.
const nodes = facts.nodes.map(([parent, kind, phase, lines, fn, first, last, label, effects], number) =>
  ({ number, parent, kind, phase, lines, fn, first, last, label: label || sourceText(lines[0]), effects }));

function sourceText(line) {
  const found = facts.lines[line], source = found && facts.sources[found.source];
  const text = source ? source.lines[found.line - source.first].trim() : "";
  return text.length > 72 ? `${text.slice(0, 71)}…` : text;
}

const steps = facts.steps.map(([node, path, folded, changes, most, values, at, alive, reserved]) =>
  ({ node: nodes[node], path, folded, changes, most, values, at, alive, reserved }));
const PHASES = {
  forward: "Forward", reverse: "Reverse", recomputed: "Recomputed", both: "Forward and reverse at once",
};

// Listeners are told when the step, or the selected line or node, is another one.
const state = { step: 0, line: -1, node: -1 };
const listeners = [];
const onChange = (listener) => listeners.push(listener);
const tell = (what) => { for (const each of listeners) each(what); };

function go(step) {
  state.step = Math.max(0, Math.min(steps.length - 1, Math.round(step)));
  state.line = -1;
  state.node = -1;
  tell("step");
}

// Select a line everywhere, and go to the next step that comes from it.
function selectLine(line) {
  const found = next((each) => each.node.lines.includes(line));
  if (found >= 0) state.step = found;
  state.line = line;
  state.node = -1;
  tell("line");
}

function selectNode(number) {
  const found = next((each) => within(each.node.number, number));
  if (found >= 0) state.step = found;
  state.line = nodes[number]?.lines[0] ?? -1;
  state.node = number;
  tell("node");
}

function next(wanted) {
  for (let k = 1; k <= steps.length; k++) {
    const at = (state.step + k) % steps.length;
    if (wanted(steps[at])) return at;
  }
  return -1;
}

function within(number, outer) {
  for (let at = number; at >= 0; at = nodes[at].parent) if (at === outer) return true;
  return false;
}

// What is held after a step: series to bytes. Every so often all of it is remembered.
const EVERY = 256;
const held = [new Map()];
{
  const now = new Map();
  steps.forEach((step, k) => {
    if (k && k % EVERY === 0) held.push(new Map(now));
    apply(now, step);
  });
}

function apply(now, step) {
  for (const [series, change] of step.changes) {
    const size = (now.get(series) ?? 0) + change;
    if (size) now.set(series, size); else now.delete(series);
  }
}

function heldAfter(step) {
  const now = new Map(held[Math.floor(step / EVERY)]);
  for (let k = EVERY * Math.floor(step / EVERY); k <= step; k++) apply(now, steps[k]);
  return now;
}

function lineName(line) {
  const found = facts.lines[line];
  return found ? `line ${found.line}` : "no line";
}

function where(step) {
  const lines = [...new Set(step.node.lines.slice(0, 3).map((line) => facts.lines[line].line))];
  const text = lines.length > 1 ? `lines ${lines.join(", ")}` : lines.length ? `line ${lines[0]}` : "sizes and checks";
  return step.node.lines.length > 3 ? `${text}, …` : text;
}

function inIterations(step) {
  return step.path.map(([loop, k]) => `iteration ${k.toLocaleString("en")} of “${nodes[loop].label}”`).join(", ");
}

function showStep() {
  const step = steps[state.step];
  $("slider").value = state.step;
  $("position").value = `step ${(state.step + 1).toLocaleString("en")} of ${steps.length.toLocaleString("en")} · ${PHASES[step.node.phase].toLowerCase()} · ${where(step)}`;
  $("slider").setAttribute("aria-valuetext", $("position").value);
  const phase = el("span", { class: "phase", style: `color:${colour(step.node.phase)}` }, PHASES[step.node.phase]);
  const doing = [phase, `, ${where(step)}`];
  if (step.folded) {
    doing.push(`: iterations ${step.folded[0].toLocaleString("en")} to ${step.folded[1].toLocaleString("en")} of “${step.node.label}”, all in one step.`);
  } else if (step.node.kind === "function") {
    doing.push(": the results are returned.");
  } else {
    doing.push(": ", el("code", {}, step.node.label));
  }
  if (step.path.length) doing.push(el("span", { class: "quiet" }, ` — in ${inIterations(step)}`));
  clear($("doing"), doing);
  showIterations(step);
  showEffects(step);
  clear($("values"), step.values
    .map(([name, found]) => picture(facts.names[name][1], found, `${facts.names[name][1]} (%${facts.names[name][0]} in the IR)`)));
}

// The iterations of the loops around this step that were watched; others are folded.
function showIterations(step) {
  const loops = step.folded ? [...step.path.map(([loop]) => loop), step.node.number] : step.path.map(([loop]) => loop);
  clear($("iterations"), loops.slice(-2).map((loop) => {
    const depth = loops.indexOf(loop);
    const same = (other) => step.path.slice(0, depth).every(([a, k], n) => other.path[n] && other.path[n][0] === a && other.path[n][1] === k);
    let from = state.step, to = state.step;
    const inside = (other) => same(other) && (other.path[depth]?.[0] === loop || (other.folded && other.node.number === loop && other.path.length === depth));
    while (from > 0 && inside(steps[from - 1])) from--;
    while (to < steps.length - 1 && inside(steps[to + 1])) to++;
    const known = new Map();
    for (let k = from; k <= to; k++) {
      const other = steps[k];
      const text = other.path.length === depth && other.folded ? `${other.folded[0]}…${other.folded[1]}` : String(other.path[depth]?.[1]);
      if (!known.has(text)) known.set(text, k);
    }
    if (known.size < 2) return null;
    const mine = step.folded && step.node.number === loop ? `${step.folded[0]}…${step.folded[1]}` : String(step.path[depth]?.[1]);
    const nth = el("input", { type: "number", min: 0, style: "width:6em", "aria-label": "Go to iteration", placeholder: "nth",
      onchange: () => goTo(known, Number(nth.value)) });
    return el("div", { class: "options" }, el("span", { class: "quiet" }, `iterations of “${nodes[loop].label.slice(0, 40)}”:`),
      [...known].slice(0, 14).map(([text, k]) => el("button", { "aria-pressed": String(text === mine), onclick: () => go(k) }, text)), nth);
  }));
}

function goTo(known, wanted) {
  for (const [text, k] of known) {
    const [first, last] = text.split("…").map(Number);
    if (wanted >= first && wanted <= (last ?? first)) {
      go(k);
      // A page has no more than it was made with.
      if (last !== undefined) $("iterations").append(el("p", { class: "quiet" }, `Iteration ${wanted} is folded; --iteration ${wanted} (iterations=[${wanted}]) shows it.`));
      return;
    }
  }
}

function showEffects(step) {
  const items = [];
  const grouped = new Map();
  for (const [what, label] of step.node.effects) grouped.set(what, [...(grouped.get(what) ?? []), label]);
  const said = { made: "makes", kept: "keeps for the reverse pass", "read back": "reads back from the tape", reloaded: "reads again from arrays", recomputed: "computes again" };
  for (const [what, labels] of grouped) {
    items.push(el("li", {}, `${said[what]} `, labels.slice(0, 6).map((label, k) => [k ? ", " : "", el("code", {}, label)]), labels.length > 6 ? ", …" : ""));
  }
  const more = step.changes.filter(([, change]) => change > 0), fewer = step.changes.filter(([, change]) => change < 0);
  const what = ([series, change]) => `${bytes(Math.abs(change))} of ${KINDS[facts.series[series][0]]} (${lineName(facts.series[series][1])})`;
  if (more.length) items.push(el("li", {}, `now also held: ${more.slice(0, 5).map(what).join(", ")}${more.length > 5 ? ", …" : ""}`));
  if (fewer.length) items.push(el("li", {}, `freed: ${fewer.slice(0, 5).map(what).join(", ")}${fewer.length > 5 ? ", …" : ""}`));
  clear($("effects"), el("ul", {}, items));
}
const KINDS = {
  tape: "tape", workspace: "workspace", carried: "arrays handed on", gradients: "results", arguments: "arguments", parameters: "parameters",
};

function drawPhases() {
  const strip = $("phases"), style = getComputedStyle(document.documentElement);
  strip.width = Math.max(200, strip.clientWidth);
  const pen = strip.getContext("2d");
  steps.forEach((step, k) => {
    pen.fillStyle = style.getPropertyValue(`--${step.node.phase}`);
    pen.fillRect(strip.width * k / steps.length, 0, Math.max(1, strip.width / steps.length + 0.5), 6);
  });
}

function startSteps() {
  const slider = $("slider");
  slider.max = Math.max(0, steps.length - 1);
  slider.addEventListener("input", () => go(Number(slider.value)));
  let playing = 0;
  const play = () => {
    if (playing) { clearInterval(playing); playing = 0; } else {
      if (state.step === steps.length - 1) go(0);
      playing = setInterval(() => { if (state.step < steps.length - 1) go(state.step + 1); else play(); }, Math.max(60, Math.min(600, 20000 / steps.length)));
    }
    $("play").textContent = playing ? "■" : "▶";
    $("play").setAttribute("aria-label", playing ? "Pause" : "Play");
  };
  const buttons = { first: () => go(0), back: () => go(state.step - 1), play, next: () => go(state.step + 1), last: () => go(steps.length - 1) };
  for (const [id, act] of Object.entries(buttons)) $(id).addEventListener("click", act);
  const keys = { ArrowRight: buttons.next, ArrowLeft: buttons.back, Home: buttons.first, End: buttons.last, PageDown: () => go(state.step + 10), PageUp: () => go(state.step - 10), " ": play };
  document.addEventListener("keydown", (event) => {
    const inside = event.target.closest("input, button, select, [role=tab], svg, [data-keys]");
    if (inside || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  onChange(showStep);
  drawPhases();
}
