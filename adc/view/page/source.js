// The user's source with bars, and why the plan decides as it does.
const rows = new Map();
const HEATS = {
  memory: ["memory", (f) => (f.kept ?? 0) + (f.workspace ?? 0) + (f.carried ?? 0), bytes, "workspace"],
  kept: ["kept", (f) => f.kept ?? 0, bytes, "tape"],
  again: ["computed again", (f) => (f.recomputed ?? 0) + (f.reloaded ?? 0) + (f.restored ?? 0), bytes, "recomputed"],
  forward: ["time forward", (f) => f.forward ?? 0, seconds, "forward"],
  reverse: ["time reverse", (f) => f.reverse ?? 0, seconds, "reverse"],
};

function startSource() {
  const host = $("listing");
  host.classList.toggle("long", facts.sources.reduce((sum, each) => sum + each.lines.length, 0) > 400);
  const byPlace = new Map(facts.lines.map((each, k) => [`${each.source} ${each.line}`, k]));
  facts.sources.forEach((source, k) => {
    host.append(el("div", { class: "file" }, source.file));
    source.lines.forEach((text, n) => {
      const line = byPlace.get(`${k} ${source.first + n}`);
      const bar = el("div", { class: "bar" });
      const row = el("div", { class: line === undefined ? "row without" : "row", "data-line": line, title: line === undefined ? null : hint(line) },
        el("div", { class: "at" }, String(source.first + n)), el("div", { class: "text" }, text), bar);
      if (line !== undefined) {
        row.addEventListener("click", () => selectLine(line));
        rows.set(line, { row, bar });
      }
      host.append(row);
    });
  });
  options($("heat"), "What the bars show", Object.entries(HEATS).map(([key, [text]]) => [key, text]), "memory", heat);
  heat("memory");
  host.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const known = [...rows.keys()], at = known.indexOf(current());
    selectLine(known[Math.max(0, Math.min(known.length - 1, at + (event.key === "ArrowDown" ? 1 : -1)))]);
  });
  onChange(showSource);
}

const current = () => (state.line >= 0 ? state.line : steps[state.step]?.node.lines[0] ?? -1);

function hint(line) {
  return (facts.lines[line].entries ?? []).slice(0, 6).map((each) => `${each.text} ${each.otherwise}`).join("\n") || null;
}

function heat(key) {
  const [, measure, text, name] = HEATS[key];
  const most = Math.max(1e-30, ...facts.lines.map(measure));
  for (const [line, { bar }] of rows) {
    const size = measure(facts.lines[line]);
    clear(bar, size > 0 && [el("i", { style: `width:${Math.max(2, 100 * size / most)}%;background:${colour(name)}` }), el("b", {}, text(size))]);
  }
}

let marked = [];
function showSource() {
  for (const row of marked) row.classList.remove("now", "selected");
  marked = [];
  const mark = (line, name) => {
    const found = rows.get(line);
    if (found) { found.row.classList.add(name); marked.push(found.row); }
    return found;
  };
  for (const line of steps[state.step]?.node.lines ?? []) mark(line, "now");
  const line = current(), found = mark(line, "selected");
  if (found) {
    const host = $("listing"), top = found.row.offsetTop - host.offsetTop;
    if (top < host.scrollTop || top > host.scrollTop + host.clientHeight - 40) host.scrollTop = top - host.clientHeight / 3;
  }
  showWhy(line);
}

function showWhy(line) {
  const found = facts.lines[line];
  if (!found) { clear($("why")); return; }
  const chips = [];
  const chip = (value, text, name) => value && chips.push(el("span", { class: "chip", style: `color:${colour(name)}` }, text));
  chip(found.kept, `keeps ${bytes(found.kept)}`, "tape");
  chip(found.carried, `hands on ${bytes(found.carried)}`, "carried");
  chip(found.workspace, `workspace ${bytes(found.workspace)}`, "workspace");
  chip(found.gradients, `results ${bytes(found.gradients)}`, "gradients");
  chip(found.recomputed, `computes ${bytes(found.recomputed)} again`, "recomputed");
  chip(found.reloaded, `reads ${bytes(found.reloaded)} again`, "forward");
  chip(found.restored, `restores ${bytes(found.restored)}`, "both");
  chip(found.forward, `forward ${seconds(found.forward)}`, "forward");
  chip(found.reverse, `reverse ${seconds(found.reverse)}`, "reverse");
  const entries = found.entries ?? [];
  clear($("why"), el("b", {}, `Line ${found.line}. `), chips,
    chips.length && (found.forward || found.reverse) ? el("span", { class: "quiet" }, facts["measured times"] ? "times measured" : "times from the cost model") : null,
    entries.length ? el("ul", {}, entries.slice(0, 8).map((each) => el("li", {}, each.text, each.count > 1 ? ` (${each.count} values)` : "", " ", el("span", { class: "quiet" }, each.otherwise)))) : el("p", { class: "quiet" }, "The reverse pass needs nothing of this line that would have to be kept or computed again."),
    entries.length > 8 ? el("p", { class: "quiet" }, `and ${entries.length - 8} more: see the plan`) : null);
}
