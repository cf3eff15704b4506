// The graph, folded: a picture of what is inside of a function or loop; frames open their own.
const shown = { picture: 0, trail: [0], box: null };

function startGraph() {
  const host = $("graph");
  const pictures = facts.graph.pictures;
  if (!pictures.length) { clear(host, el("p", {}, facts.graph.missing ?? "There is no graph.")); return; }
  clear(host, el("p", { class: "quiet" }, "Forward flows down on the left, reverse flows up on the right. Orange: what the tape keeps; dashed: arrays that stay. Click, or press Enter, to open a frame (⊞) or to go to a line; drag to move, scroll or press + and − to zoom, 0 to fit, Backspace to go out."),
    el("div", { class: "options crumbs", id: "crumbs" }), el("div", { id: "canvas" }));
  open(0, [0]);
  onChange(markGraph);
}

// The items of a picture; those that are a node have its label.
const itemsOf = (picture) => facts.graph.pictures[picture].items.map(([node, label, ...rest]) => [node, label || nodes[node]?.label || "", ...rest]);

function open(picture, trail) {
  shown.picture = picture;
  shown.trail = trail;
  const found = facts.graph.pictures[picture];
  const wide = Math.max(200, ...found.items.map((each) => each[4] + each[6] / 2)) + 20;
  const high = Math.max(120, ...found.items.map((each) => each[5] + each[7] / 2)) + 30;
  shown.box = [-10, -22, wide + 10, high + 10];
  shown.whole = [...shown.box];
  clear($("crumbs"), trail.map((each, k) => el("button", { onclick: () => open(each, trail.slice(0, k + 1)), "aria-pressed": String(k === trail.length - 1) }, facts.graph.pictures[each].label || "all")),
    [["+", 0.8], ["−", 1.25]].map(([text, by]) => el("button", { "aria-label": text === "+" ? "Zoom in" : "Zoom out", onclick: () => zoom(by) }, text)),
    el("button", { onclick: () => fit() }, "fit"));
  const host = svg("svg", { "data-keys": "", role: "group", "aria-label": `Graph of ${found.label}`, tabindex: 0 });
  const places = found.items.map(([, , , , x, y, w, h]) => ({ x, y, w, h }));
  for (const [a, b, kind, names] of found.edges) host.append(edge(places[a], places[b], kind, names));
  itemsOf(picture).forEach(([node, label, phase, inside, x, y, w, h], k) => {
    const act = () => { if (inside >= 0) open(inside, [...trail, inside]); else if (node >= 0) selectNode(node); };
    const text = (inside >= 0 ? "⊞ " : "") + label;
    const room = Math.floor(w / 6.1);
    host.append(svg("g", {
      class: "item", tabindex: 0, role: "button", "data-node": node, "data-open": inside, "data-item": k, "aria-label": `${label}, ${PHASES[phase].toLowerCase()}${inside >= 0 ? ", opens" : ""}`,
      onclick: act, onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); event.stopPropagation(); act(); } },
    }, svg("title", {}, label), svg("rect", { x: x - w / 2, y: y - h / 2, width: w, height: h, rx: 5, stroke: colour(phase) }),
    svg("text", { x, y: y + 4, "text-anchor": "middle" }, text.length > room ? `${text.slice(0, room - 1)}…` : text)));
  });
  drag(host);
  clear($("canvas"), host);
  fit();
  markGraph();
}

function edge(a, b, kind, names) {
  const across = Math.abs(a.x - b.x) > (a.w + b.w) / 2 && kind !== "data";
  const side = a.x < b.x ? 1 : -1;
  const up = b.y < a.y ? -1 : 1;
  const path = across
    ? `M${a.x + side * a.w / 2} ${a.y}C${a.x + side * (a.w / 2 + 40)} ${a.y} ${b.x - side * (b.w / 2 + 40)} ${b.y} ${b.x - side * b.w / 2} ${b.y}`
    : `M${a.x} ${a.y + up * a.h / 2}C${a.x} ${a.y + up * (a.h / 2 + 16)} ${b.x} ${b.y - up * (b.h / 2 + 16)} ${b.x} ${b.y - up * b.h / 2}`;
  const looks = { tape: ["var(--tape)", 2.2, "none"], held: ["var(--workspace)", 1.2, "5 3"], data: ["var(--quiet)", 1, "none"] }[kind];
  return svg("path", { d: path, fill: "none", stroke: looks[0], "stroke-width": looks[1], "stroke-dasharray": looks[2], opacity: 0.75 }, svg("title", {}, `${kind}: ${names.join(", ")}`));
}

const view = () => document.querySelector("#canvas svg");
function zoom(by, px = 0.5, py = 0.5) {
  const [x, y, w, h] = shown.box;
  const wide = Math.min(Math.max(w * by, 60), shown.whole[2] * 6);
  const high = h * wide / w;
  shown.box = [x + (w - wide) * px, y + (h - high) * py, wide, high];
  view()?.setAttribute("viewBox", shown.box.map((n) => n.toFixed(1)).join(" "));
}
function fit() {
  shown.box = [...shown.whole];
  zoom(1);
}
function drag(host) {
  let from = null;
  host.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY, ...shown.box]; });
  host.addEventListener("pointermove", (event) => {
    if (!from || !event.buttons) return;
    const scale = Math.max(shown.box[2] / host.clientWidth, shown.box[3] / host.clientHeight);
    shown.box = [from[2] - (event.clientX - from[0]) * scale, from[3] - (event.clientY - from[1]) * scale, from[4], from[5]];
    zoom(1);
  });
  host.addEventListener("pointerup", () => { from = null; });
  host.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = host.getBoundingClientRect();
    zoom(event.deltaY > 0 ? 1.15 : 0.87, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
  }, { passive: false });
  host.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] };
    if (moves[event.key]) {
      shown.box[0] += moves[event.key][0] * shown.box[2];
      shown.box[1] += moves[event.key][1] * shown.box[3];
      zoom(1);
    } else if (event.key === "+" || event.key === "=") zoom(0.8);
    else if (event.key === "-") zoom(1.25);
    else if (event.key === "0") fit();
    else if (event.key === "Backspace" && shown.trail.length > 1) open(shown.trail.at(-2), shown.trail.slice(0, -1));
    else return;
    event.preventDefault();
  });
}

function markGraph() {
  const step = steps[state.step];
  for (const item of document.querySelectorAll("#canvas .item")) {
    const found = facts.graph.pictures[shown.picture].items[item.dataset.item];
    const node = found[0];
    const inside = node >= 0 ? step && within(step.node.number, node) : found[3] >= 0 && step && holds(found[3], step.node.number);
    item.classList.toggle("now", Boolean(inside));
    item.classList.toggle("selected", node >= 0 && (node === state.node || (state.line >= 0 && nodes[node].lines.includes(state.line))));
  }
}

function holds(picture, node) {
  return facts.graph.pictures[picture].items.some((each) => each[0] >= 0 ? within(node, each[0]) : each[3] >= 0 && holds(each[3], node));
}
