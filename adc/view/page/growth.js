// Formulas of memory, evaluated for any sizes.
function value(formula, names) {
  if (formula === null) return null;
  if (!Array.isArray(formula)) return sampled(formula, names).bytes;
  let total = 0;
  for (const [count, atoms] of formula) {
    let product = count;
    for (const atom of atoms) {
      const number = typeof atom === "string" ? names[atom] : called(atom, names);
      if (number === null || number === undefined) return null;
      product *= number;
    }
    total += product;
  }
  return total;
}

// A formula with schedules is known where one size differs from the run, at some numbers.
function sampled(formula, names) {
  const moved = facts.growth.sizes.filter((size) => names[size.names[0]] !== size.value);
  const mine = moved.filter((size) => formula.at[size.names[0]]);
  if (!moved.length) return { bytes: formula.here, exact: true };
  if (moved.length > 1 && mine.length) return { bytes: null, exact: true };
  if (!mine.length) return { bytes: formula.here, exact: true };
  const wanted = names[mine[0].names[0]], far = ([number]) => Math.abs(Math.log(number / Math.max(1, wanted)));
  const [number, bytes, exact] = formula.at[mine[0].names[0]].reduce((best, each) => (far(each) < far(best) ? each : best));
  return { bytes, exact: exact && number === wanted };
}

// Long names may go on in the next line.
const breakable = (text) => text.replace(/[_.]/g, "$&\u200b");

// A loop of more iterations than this is not added up.
const MOST = 20000;
function called({ kind, name, args }, names) {
  if (kind === "total" || kind === "most") {
    const trips = value(args[0], names);
    if (trips === null || trips > MOST) return null;
    let found = 0;
    for (let k = 0; k < trips; k++) {
      const each = value(args[1], { ...names, [name]: k });
      if (each === null) return null;
      found = kind === "total" ? found + each : k ? Math.max(found, each) : each;
    }
    return found;
  }
  const numbers = args.map((arg) => value(arg, names));
  if (kind === "if") {
    if (numbers[0] === null) return numbers[1] === null || numbers[2] === null ? null : Math.max(numbers[1], numbers[2]);
    return numbers[0] > 0 ? numbers[1] : numbers[2];
  }
  if (numbers.some((number) => number === null)) return null;
  const [a, b, c] = numbers;
  switch (kind) {
    case "max": return Math.max(...numbers);
    case "min": return Math.min(...numbers);
    case "//": return b ? Math.floor(a / b) : null;
    case "range": return c ? Math.max(-Math.floor((a - b) / c), 0) : null;
    case "count": case "upto": return Math.max(a, 0);
    case "rounded": return Math.ceil(a / b) * b;
    case "call": return a;
  }
  return null;
}

function startGrowth() {
  const host = $("growth"), found = facts.growth;
  if (!found || !Object.keys(found.policies).length) { clear(host, el("p", {}, "There is no formula: the code has no reverse part.")); return; }
  const names = {};
  for (const size of found.sizes) for (const name of size.names) names[name] = size.value;
  const table = el("div", { class: "scroll" });
  // The sizes that the peak grows with, the steepest first; then the others.
  const steepness = (size) => Math.max(0, ...Object.values(found.policies).map((each) => each.exponents[size.names[0]]?.peak ?? 0));
  const sizes = found.sizes.filter(steepness).sort((a, b) => steepness(b) - steepness(a));
  const slide = (size) => {
    const number = el("input", { type: "number", min: 1, value: size.value, "aria-label": size.label });
    const slider = el("input", { type: "range", min: -4, max: 10, step: 0.5, value: 0, "aria-label": `${size.label}, times a power of two` });
    const set = (to) => { for (const name of size.names) names[name] = to; show(); };
    slider.addEventListener("input", () => { number.value = Math.max(1, Math.round(size.value * 2 ** Number(slider.value))); set(Number(number.value)); });
    number.addEventListener("input", () => { if (Number(number.value) >= 0) { slider.value = Math.log2(Number(number.value) / Math.max(1, size.value)); set(Number(number.value)); } });
    return el("div", { class: "size" }, el("code", {}, breakable(size.label)), slider, number);
  };
  const sliders = sizes.map(slide), rest = found.sizes.filter((size) => !steepness(size)).map(slide);
  const power = (n) => (n ? (n === 1 ? "n" : `n${"⁰¹²³⁴⁵⁶⁷⁸⁹"[n] ?? `^${n}`}`) : "–");
  function show() {
    const rank = ["auto", "store", "recompute", "budget", "part2", "part4", "part8", "least"];
    const policies = Object.entries(found.policies).sort(([a], [b]) => rank.indexOf(a) - rank.indexOf(b));
    const said = { auto: "no budget", store: "store all", recompute: "recompute all", budget: `within ${bytes(facts.memory.budget ?? 0)}`, part2: "½ of that", part4: "¼ of that", part8: "⅛ of that", least: "the least found" };
    const parts = policies[0][1].parts.map((part) => part.name);
    const peaks = policies.map(([, each]) => value(each.peak, names));
    const most = Math.max(1, ...peaks.filter((size) => size !== null));
    clear(table, el("table", { id: "growth-table" },
      el("tr", {}, el("th", {}, "part"), policies.map(([policy]) => el("th", { class: "n" }, said[policy] ?? policy)), sizes.map((size) => el("th", { class: "n", title: size.label }, `in ${breakable(size.label.split(" = ")[0])}`)), el("th", {}, "formula without a budget")),
      parts.map((name, k) => el("tr", {}, el("td", {}, name), policies.map(([, each]) => el("td", { class: "n" }, about(each.parts[k].formula))),
        sizes.map((size) => el("td", { class: "n" }, power(exponent(policies[0][1], name, size)))), el("td", {}, el("code", { title: policies[0][1].parts[k].text }, policies[0][1].parts[k].text)))),
      el("tr", {}, el("td", {}, el("b", {}, "peak of a call")), peaks.map((size, k) => el("td", { class: "n", "data-peak": policies[k][0], "data-bytes": size }, el("b", {}, about(policies[k][1].peak)), el("div", { style: `height:5px;background:${colour("workspace")};width:${100 * (size ?? 0) / most}%` }))),
        sizes.map((size) => el("td", { class: "n" }, el("b", {}, policies.filter(([, each]) => each.exponents[size.names[0]]).map(([, each]) => power(each.exponents[size.names[0]].peak)).filter((text, k, all) => all.indexOf(text) === k).join(" / ")))), el("td", {}, el("code", { title: policies[0][1].text }, policies[0][1].text)))));
  }
  const exponent = (policy, name, size) => {
    const known = policy.exponents[size.names[0]] ?? {};
    return name === "workspace" ? known.workspace ?? known.peak : known[name];
  };
  const about = (formula) => {
    const size = value(formula, names);
    return size === null ? "–" : `${!Array.isArray(formula) && !sampled(formula, names).exact ? "≈ " : ""}${bytes(size)}`;
  };
  const first = found.policies.auto ?? Object.values(found.policies)[0];
  const budgeted = Object.keys(found.policies).some((policy) => ["budget", "least"].includes(policy) || policy.startsWith("part"));
  const steep = found.sizes.filter((size) => first.exponents[size.names[0]]?.peak > 1).map((size) => size.label);
  clear(host, el("p", {}, "Move the sizes: the peak and its parts are formulas. The peak leaves out parameters, arguments and gradients, which are the caller’s. ",
    steep.length ? `Memory grows faster than ${steep.join(" and ")}. ` : "No size has more than a linear effect. "),
  budgeted ? el("p", { class: "quiet", id: "growth-budgets" }, "A plan for a budget is made for the sizes of the run. Its columns show what that very code would hold at other sizes, one size at a time: a schedule keeps its room, what is stored otherwise grows. A call with other sizes gets a plan of its own that fits in the budget, or an error.") : null,
  sliders, rest.length ? el("details", {}, el("summary", {}, `${plural(rest.length, "size")} without effect on the peak`), rest) : null, el("button", { onclick: () => startGrowth() }, "back to the run"), table,
  facts.budgets.length ? [el("h3", {}, "What a budget does"), el("div", { class: "scroll" }, el("table", { id: "budget-table" }, el("tr", {}, ["budget", "peak of the plan", "the run needed", "slower by"].map((text) => el("th", { class: "n" }, text))),
    facts.budgets.map((each) => el("tr", {}, el("td", { class: "n" }, `${FRACTIONS[each.part]}: ${bytes(each.budget)}`), el("td", { class: "n" }, each.fits ? bytes(each.peak) : `does not fit; at least ${bytes(each.peak)}`), el("td", { class: "n" }, each.run === undefined ? "–" : bytes(each.run)), el("td", { class: "n" }, each.fits ? seconds(each.seconds) : "–")))))] : null);
  show();
}
