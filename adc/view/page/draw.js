// Elements, numbers and small pictures. Text always goes in as text, never as HTML.
const facts = JSON.parse(document.getElementById("facts").textContent);
const $ = (id) => document.getElementById(id);

function fill(parent, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) parent.append(child);
  }
  return parent;
}

function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else if (key === "style") made.style.cssText = value;
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
  }
  return fill(made, children);
}

function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
  }
  return fill(made, children);
}

const clear = (element, ...children) => { element.replaceChildren(); return fill(element, children); };
const colour = (name) => `var(--${name})`;

function digits(number) {
  return String(Number(number.toPrecision(3)));
}

function bytes(size) {
  if (size === null || size === undefined) return "unknown";
  const found = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"]].find(([one]) => Math.abs(size) >= one);
  return found ? `${digits(size / found[0])} ${found[1]}` : `${Math.round(size)} ${size === 1 ? "byte" : "bytes"}`;
}

function seconds(time) {
  for (const unit of ["s", "ms", "µs"]) {
    if (time >= 1) return `${digits(time)} ${unit}`;
    time *= 1e3;
  }
  return `${digits(time)} ns`;
}

const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

function options(host, label, names, chosen, choose) {
  const group = el("span", { role: "radiogroup", "aria-label": label, class: "options" });
  const buttons = names.map(([key, text]) => el("button", {
    role: "radio", "aria-checked": String(key === chosen), onclick: () => {
      for (const each of buttons) each.setAttribute("aria-checked", String(each.dataset.key === key));
      choose(key);
    }, "data-key": key,
  }, text));
  fill(group, buttons);
  host.append(group);
}

// The cells of a picture are hexadecimal digits, the shades.
function shades(cells, rows, columns, width, height) {
  const made = el("canvas", { width: columns, height: rows, style: `width:${width}px;height:${height}px` });
  const pen = made.getContext("2d");
  pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--accent");
  for (let k = 0; k < cells.length; k++) {
    pen.globalAlpha = 0.06 + 0.94 * parseInt(cells[k], 16) / 15;
    pen.fillRect(k % columns, Math.floor(k / columns), 1, 1);
  }
  return made;
}

function histogram(bins) {
  const made = el("canvas", { width: 64, height: 16, style: "width:128px;height:26px", title: "How often values are how large" });
  const pen = made.getContext("2d");
  pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--quiet");
  for (let k = 0; k < bins.length; k++) {
    const high = Math.max(parseInt(bins[k], 16), bins[k] === "0" ? 0 : 1);
    pen.fillRect(4 * k, 16 - high - 1, 3, high + 1);
  }
  return made;
}

function picture(name, found, title = name) {
  if (typeof found === "string") found = { number: found };
  const host = el("div", { class: "value" }, el("code", { title }, name));
  if (found.number !== undefined) host.append(el("b", {}, found.number));
  if (found.hidden) host.append(el("span", { class: "quiet" }, found.shape ? `${found.shape.join(" × ")}, not shown` : "an argument’s; not shown"));
  if (found.cells) {
    const side = Math.min(9, Math.floor(140 / Math.max(found.columns, found.rows)));
    const high = found.rows === 1 ? 16 : side * found.rows;
    host.append(shades(found.cells, found.rows, found.columns, side * found.columns, high));
  }
  if (found.histogram) host.append(histogram(found.histogram));
  const about = [];
  if (found.shape && !found.hidden) about.push(found.shape.join(" × "));
  if (found.least !== undefined) about.push(found.least === found.most ? `all ${found.least}` : `${found.least} to ${found.most}`);
  if (found.lost) about.push(`${found.lost} not finite`);
  if (about.length) host.append(el("div", { class: "quiet" }, about.join(", ")));
  if (found.values) host.append(el("div", { class: "quiet" }, found.values.join(", ")));
  return host;
}
