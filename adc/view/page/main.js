// The page around: numbers at the top, tabs, the plan, IR and code.
const TABS = { code: "IR and code", plan: "Plan", graph: "Graph", schedule: "Schedule", growth: "As it grows" };

function startHeader() {
  $("title").textContent = facts.title;
  const found = facts.memory, kept = facts.lines.reduce((sum, each) => sum + (each.kept ?? 0), 0);
  const said = [`${plural(steps.length, "step")} of a run on the given arguments: forward, then reverse.`];
  const entries = facts.plan ? facts.plan.decisions : [];
  if (entries.length) {
    const counts = {};
    for (const decision of entries) counts[decision] = (counts[decision] ?? 0) + 1;
    said.push(`Of what the reverse pass needs, ${Object.entries(counts).map(([what, count]) => `${count} ${count === 1 ? "is" : "are"} ${what}`).join(", ")}.`);
  }
  $("summary").textContent = said.join(" ");
  const number = (value, text, title) => el("div", { class: "number", title }, el("b", {}, value), el("span", {}, text));
  clear($("numbers"),
    found.plan !== null ? number(bytes(found.plan), found.plan === found.run ? "peak, predicted and run" : "peak, predicted", found.formula) : null,
    found.plan !== found.run ? number(bytes(found.run), "peak of this run") : null,
    number(bytes(found.tape), "on the tape at most", `${bytes(kept)} if each line’s most are added up`),
    base.parameters ? number(bytes(base.parameters), "parameters") : null,
    found.predicted ? number(seconds(found.predicted), "a call, predicted") : null,
    found.seconds ? number(seconds(found.seconds), "a call, measured") : null,
    found.budget ? number(bytes(found.budget), "budget") : null);
  clear($("notes"), el("p", {}, `Made by ${facts.about}. `, facts.notes.map((each) => [each.split("`").map((text, k) => (k % 2 ? el("code", {}, text) : text)), " "])));
}

function openTab(name) {
  for (const each of Object.keys(TABS)) {
    $(each).classList.toggle("open", each === name);
    const tab = $(`tab-${each}`);
    tab.setAttribute("aria-selected", String(each === name));
    tab.tabIndex = each === name ? 0 : -1;
  }
  if (name === "code") showCode();
}

function startTabs() {
  const names = Object.keys(TABS);
  fill($("tabs"), names.map((name, k) => el("button", {
    role: "tab", id: `tab-${name}`, "aria-controls": name, onclick: () => openTab(name),
    onkeydown: (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      const other = names[(k + by + names.length) % names.length];
      openTab(other);
      $(`tab-${other}`).focus();
    },
  }, TABS[name])));
}

function startPlan() {
  const found = facts.plan;
  if (!found) { clear($("plan"), el("p", {}, "The code has no reverse part, and so no plan.")); return; }
  const shownRows = found.rows.slice(0, 1500);
  const table = el("table", {}, el("tr", {}, found.columns.map((text) => el("th", {}, text))), shownRows.map((row) => {
    const line = row.at(-1), act = () => { if (line >= 0) selectLine(line); };
    return el("tr", { tabindex: 0, "data-line": line, onclick: act, onkeydown: (event) => { if (event.key === "Enter") act(); } }, row.slice(0, -1).map((cell) => el("td", {}, cell)));
  }));
  clear($("plan"), el("p", { class: "quiet" }, `The plan (${found.policy}): what the reverse pass needs, and where it gets it from.`), el("div", { class: "scroll" }, table),
    found.rows.length > shownRows.length ? el("p", {}, `and ${found.rows.length - shownRows.length} more`) : null, found.text.map((line) => el("p", {}, line)),
    facts.arguments.length ? [el("h3", {}, "Arguments"), el("div", { class: "pictures" }, facts.arguments.slice(0, 24).map((each) => el("div", {}, picture(each.name, each.picture), each.wrt ? el("div", { class: "quiet small" }, "differentiated") : null)))] : null);
  onChange(() => { for (const row of document.querySelectorAll("#plan tr[data-line]")) row.classList.toggle("selected", Number(row.dataset.line) === current()); });
}

// Of long texts, what is around the current lines.
const AROUND = 60;
function excerpt(texts, isNow, first) {
  const from = Math.max(0, first - AROUND), to = Math.min(texts.length, first + 2 * AROUND);
  const host = el("div", { class: "listing", tabindex: 0, "data-keys": "" });
  if (from) host.append(el("div", { class: "ir quiet" }, `… ${plural(from, "line")} before`));
  let top = null;
  for (let k = from; k < to; k++) {
    const line = el("div", { class: isNow(k) ? "ir now" : "ir" }, texts[k] || " ");
    if (isNow(k) && !top) top = line;
    host.append(line);
  }
  if (to < texts.length) host.append(el("div", { class: "ir quiet" }, `… ${plural(texts.length - to, "line")} more`));
  return [host, () => { if (top) host.scrollTop = Math.max(0, top.offsetTop - host.offsetTop - 60); }];
}

function showCode() {
  if (!$("code").classList.contains("open") || !steps.length) return;
  const node = steps[state.step].node, lines = new Set(state.line >= 0 ? [state.line] : node.lines);
  const [ir, scrollIr] = excerpt(facts.ir[node.fn], (k) => k >= node.first && k <= node.last, node.first);
  const at = facts.code.from.findIndex((line) => lines.has(line));
  const [code, scrollCode] = excerpt(facts.code.lines, (k) => lines.has(facts.code.from[k]), Math.max(0, at));
  clear($("code"), el("div", { class: "two" }, el("div", {}, el("h3", {}, "IR of this step"), ir), el("div", {}, el("h3", {}, "Generated Python, from the same lines"), code)));
  scrollIr();
  scrollCode();
}

window.addEventListener("resize", () => { drawPhases(); drawMemory(); });
startHeader();
startTabs();
startSteps();
startSource();
startMemory();
startPlan();
startGraph();
startSchedule();
startGrowth();
onChange(showCode);
const pane = document.body.dataset.pane;
openTab(TABS[pane] ? pane : "code");
if (steps.length) go(0);
if (pane && $(pane)) $(TABS[pane] ? "tabs" : pane).scrollIntoView();
document.body.dataset.ready = "yes";
