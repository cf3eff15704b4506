// What runs when: snapshots and sweeps of checkpointed loops, and the order of all steps.
function startSchedule() {
  const host = $("schedule");
  clear(host, facts.schedules.map((each) => {
    const row = each.kind === "calls";
    const title = row ? `Calls in a row, ${lineName(each.lines[0])}${each.lines.at(-1) === each.lines[0] ? "" : ` to ${lineName(each.lines.at(-1))}`}` : `Checkpointed ${each.kind === "while" ? "while " : ""}loop, ${lineName(each.line)}`;
    const said = row ? `${plural(each.iterations, "call")}; ${each.plain.toLocaleString("en")} of them run a second time, from what they were called with. Time goes down, calls across.`
      : `${plural(each.iterations, "iteration")}; ${each.plain.toLocaleString("en")} run ahead of the tape, from at most ${plural(each.snapshots, "snapshot")} at once${each.times > 1 ? `; the loop runs ${each.times} times so` : ""}. ${each.kind === "while" ? "How many iterations there are is not known before: a state is kept for a while, then its slot gets a later one. " : ""}Time goes down, iterations across.`;
    return [el("h3", {}, title), el("p", {}, said),
      sweeps(each), each.left_out ? el("p", { class: "quiet" }, "Only the beginning is drawn.") : null];
  }), el("h3", {}, "The order of the steps"), el("p", { class: "quiet" }, "Time goes down, lines of the source across: what is forward, reverse and recomputed. Click to go to a step."), order());
  onChange(() => { const mark = $("order-cursor"); if (mark) { const y = orderY(state.step); mark.setAttribute("y1", y); mark.setAttribute("y2", y); } });
}

function key(items) {
  return el("p", { class: "quiet" }, items.map(([name, text]) => [el("span", { style: `color:${colour(name)}` }, "■ "), `${text}  `]));
}

function sweeps(each) {
  const wide = Math.max(300, Math.min(640, window.innerWidth - 60)), left = 8, top = 22;
  const length = each.events.reduce((sum, [what, , count]) => sum + (what === "ahead" || what === "tape" || what === "reverse" ? count : 0), 0) || 1;
  const high = Math.max(160, Math.min(560, 90 + 4 * each.events.length));
  const x = (k) => left + (wide - 2 * left) * k / Math.max(1, each.iterations);
  const y = (time) => top + (high - top - 8) * time / length;
  const parts = [];
  const stored = new Map();
  let time = 0;
  const drop = (first) => {
    if (!stored.has(first)) return;
    parts.unshift(svg("line", { x1: x(first), x2: x(first), y1: y(stored.get(first)), y2: y(time), stroke: colour("carried"), "stroke-width": 2, opacity: 0.7 }, svg("title", {}, `snapshot before ${each.kind === "calls" ? `call ${first + 1}` : `iteration ${first}`}`)));
    stored.delete(first);
  };
  for (const [what, first, count] of each.events) {
    if (what === "store") {
      if (!stored.has(first)) stored.set(first, time);
      parts.push(svg("circle", { cx: x(first), cy: y(time), r: 3, fill: colour("carried") }));
    } else if (what === "restore" || what === "drop") drop(first);
    else {
      const [from, to] = what === "reverse" ? [first + count, first] : [first, first + count];
      const name = { ahead: "recomputed", tape: "forward", reverse: "reverse" }[what];
      parts.push(svg("line", { x1: x(from), x2: x(to), y1: y(time), y2: y(time + count), stroke: colour(name), "stroke-width": 2 }, svg("title", {}, each.kind === "calls" ? `${what}: call ${first + 1}, ${lineName(each.lines[first])}` : `${what}: iterations ${first} to ${first + count - 1}`)));
      time += count;
    }
  }
  for (const first of [...stored.keys()]) drop(first);
  parts.push(svg("text", { class: "quiet", x: left, y: 13 }, "0"), svg("text", { class: "quiet", x: wide - left, y: 13, "text-anchor": "end" }, `${each.kind === "calls" ? "call" : "iteration"} ${each.iterations.toLocaleString("en")}`));
  return [key([["recomputed", "run ahead, nothing kept"], ["forward", "run with a tape"], ["reverse", "reversed"], ["carried", "snapshot"]]),
    svg("svg", { viewBox: `0 0 ${wide} ${high}`, style: `width:100%;max-width:${wide * 1.4}px`, class: "sweeps", role: "img", "aria-label": "Schedule of a checkpointed loop" }, parts)];
}

let orderY = () => 0;
function order() {
  const wide = Math.max(300, Math.min(640, window.innerWidth - 60)), high = 300, top = 18;
  const lines = facts.lines.length || 1;
  const x = (line) => 10 + (wide - 20) * (line + 0.5) / lines;
  orderY = (n) => top + (high - top - 6) * (n + 0.5) / Math.max(1, steps.length);
  const paths = { forward: "", reverse: "", recomputed: "", both: "" };
  const wider = Math.max(3, Math.min(24, (wide - 20) / lines - 1)), thick = Math.max(1.2, Math.min(9, (high - top) / Math.max(1, steps.length) - 0.5));
  const thin = Math.max(1, Math.ceil(steps.length / 4000));
  for (let n = 0; n < steps.length; n += thin) {
    for (const line of steps[n].node.lines.slice(0, 8)) paths[steps[n].node.phase] += `M${(x(line) - wider / 2).toFixed(1)} ${orderY(n).toFixed(1)}h${wider.toFixed(1)}`;
  }
  const labels = facts.lines.map((each, k) => [each, k]).filter((_, k) => k % Math.ceil(lines / 20) === 0);
  const host = svg("svg", { viewBox: `0 0 ${wide} ${high}`, style: `width:100%;max-width:${wide * 1.4}px;cursor:crosshair`, role: "img", "aria-label": "The order of the steps", id: "order" },
    labels.map(([each, k]) => svg("text", { class: "quiet", x: x(k), y: 12, "text-anchor": "middle" }, String(each.line))),
    Object.entries(paths).map(([phase, d]) => svg("path", { d, fill: "none", stroke: colour(phase), "stroke-width": thick })),
    svg("line", { x1: 0, x2: wide, y1: orderY(0), y2: orderY(0), stroke: "var(--accent)", "stroke-dasharray": "3 3", id: "order-cursor" }));
  host.addEventListener("click", (event) => {
    const box = host.getBoundingClientRect(), at = (event.clientY - box.top) / box.height * high;
    go((at - top) / (high - top - 6) * steps.length - 0.5);
  });
  return [key([["forward", "forward"], ["reverse", "reverse"], ["recomputed", "recomputed"], ["both", "forward and reverse in one loop"]]), host];
}
