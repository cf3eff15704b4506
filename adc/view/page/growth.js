// Formulas of memory, evaluated for any sizes.
function value(formula, names) {
  if (formula === null) return null;
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
  const sliders = found.sizes.map((size) => {
    const number = el("input", { type: "number", min: 1, value: size.value, "aria-label": size.label });
    const slider = el("input", { type: "range", min: -4, max: 10, step: 0.25, value: 0, "aria-label": `${size.label}, times a power of two` });
    const set = (to) => { for (const name of size.names) names[name] = to; show(); };
    slider.addEventListener("input", () => { number.value = Math.max(1, Math.round(size.value * 2 ** Number(slider.value))); set(Number(number.value)); });
    number.addEventListener("input", () => { if (Number(number.value) >= 0) { slider.value = Math.log2(Number(number.value) / Math.max(1, size.value)); set(Number(number.value)); } });
    return el("div", { class: "size" }, el("code", {}, size.label), slider, number);
  });
  const power = (n) => (n ? (n === 1 ? "n" : `n${"⁰¹²³⁴⁵⁶⁷⁸⁹"[n] ?? `^${n}`}`) : "–");
  function show() {
    const policies = Object.entries(found.policies);
    const said = { auto: "no budget", store: "store all", recompute: "recompute all" };
    const parts = policies[0][1].parts.map((part) => part.name);
    const peaks = policies.map(([, each]) => value(each.peak, names));
    const most = Math.max(1, ...peaks.filter((size) => size !== null));
    clear(table, el("table", { id: "growth-table" },
      el("tr", {}, el("th", {}, "part"), policies.map(([policy]) => el("th", { class: "n" }, said[policy] ?? policy)), found.sizes.map((size) => el("th", { class: "n", title: size.label }, `in ${size.names[0]}`)), el("th", {}, "formula without a budget")),
      parts.map((name, k) => el("tr", {}, el("td", {}, name), policies.map(([, each]) => el("td", { class: "n" }, sizeText(value(each.parts[k].formula, names)))),
        found.sizes.map((size) => el("td", { class: "n" }, power(exponent(policies[0][1], name, size)))), el("td", {}, el("code", { title: policies[0][1].parts[k].text }, policies[0][1].parts[k].text)))),
      el("tr", {}, el("td", {}, el("b", {}, "peak of a call")), peaks.map((size, k) => el("td", { class: "n", "data-peak": policies[k][0], "data-bytes": size }, el("b", {}, sizeText(size)), el("div", { style: `height:5px;background:${colour("workspace")};width:${100 * (size ?? 0) / most}%` }))),
        found.sizes.map((size) => el("td", { class: "n" }, el("b", {}, policies.map(([, each]) => power(each.exponents[size.names[0]]?.peak)).filter((text, k, all) => all.indexOf(text) === k).join(" / ")))), el("td", {}, el("code", { title: policies[0][1].text }, policies[0][1].text)))));
  }
  const exponent = (policy, name, size) => {
    const known = policy.exponents[size.names[0]] ?? {};
    return name === "workspace" ? known.workspace ?? known.peak : known[name];
  };
  const sizeText = (size) => (size === null ? "–" : bytes(size));
  const steep = found.sizes.filter((size) => Object.values(found.policies)[0].exponents[size.names[0]]?.peak > 1).map((size) => size.label);
  clear(host, el("p", {}, "Move the sizes: the peak and its parts are formulas. The peak leaves out parameters, arguments and gradients, which are the caller’s. ",
    steep.length ? `Memory grows faster than ${steep.join(" and ")}. ` : "No size has more than a linear effect. "),
  sliders, el("button", { onclick: () => startGrowth() }, "back to the run"), table,
  facts.budgets.length ? [el("h3", {}, "What a budget does"), el("div", { class: "scroll" }, el("table", { id: "budget-table" }, el("tr", {}, ["budget", "peak of the plan", "the run needed", "slower by"].map((text) => el("th", { class: "n" }, text))),
    facts.budgets.map((each) => el("tr", {}, el("td", { class: "n" }, `1/${each.part}: ${bytes(each.budget)}`), el("td", { class: "n" }, each.fits ? bytes(each.peak) : `does not fit; at least ${bytes(each.peak)}`), el("td", { class: "n" }, each.run === undefined ? "–" : bytes(each.run)), el("td", { class: "n" }, each.fits ? seconds(each.seconds) : "–")))))] : null);
  show();
}
