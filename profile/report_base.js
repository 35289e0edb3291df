// SPDX-License-Identifier: Apache-2.0
// Of the report: the record, elements, numbers, drawing. report.js puts it together; both run inside one function.
const record = JSON.parse(document.getElementById("record").textContent);
const report = document.getElementById("report");
const runs = record.runs || [], devices = record.devices || [];
const SVG = "http://www.w3.org/2000/svg";
// In the order in which a repetition mostly goes through them.
const PHASES = {
  host: "the host's own code", call: "other OpenCL calls", wait: "a transfer waits for what is before it",
  build: "programs and kernels made", allocate: "buffers made",
  write: "host to device", stage: "copies to and from pinned memory", copy: "copies on the device", analyse: "analysis, conversion",
  launch: "from the call to the kernel, and back", gap: "between kernels", kernel: "kernels of the operation",
  read: "device to host"};
const ORDER = [...new Set([...Object.keys(PHASES), // and any that this page does not know
  ...runs.flatMap(r => (r.phases || []).map(p => p.name))])];

// ---- elements; texts of the record come in as text nodes only ----------------------------------------------------

function add(node, attributes, children) {
  for (const key in attributes || {})
    if (attributes[key] !== undefined && attributes[key] !== null) node.setAttribute(key, attributes[key]);
  for (const child of children)
    if (child !== undefined && child !== null && child !== "")
      node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  return node;
}
const el = (tag, attributes, ...children) => add(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => add(document.createElementNS(SVG, tag), attributes, children);
const tip = text => svg("title", null, text);
const color = phase => phase in PHASES ? `var(--${phase})` : "var(--call)";

// ---- numbers -----------------------------------------------------------------------------------------------------

const has = x => typeof x === "number" && isFinite(x);
function digits(x, n) {
  if (!has(x)) return "–";
  if (x === 0) return "0";
  const whole = Math.floor(Math.log10(Math.abs(x))) + 1;
  return x.toFixed(Math.max(0, Math.min(9, n - whole)));
}
function scaled(x, units, step) {
  let i = 0;
  while (i + 1 < units.length && Math.abs(x) >= step * 0.9995) { x /= step; i++; }
  return digits(x, 3) + " " + units[i];
}
const ms = x => !has(x) ? "–" : scaled(x * 1e6, ["ns", "µs", "ms", "s"], 1000);
const us = x => ms(x * 1e-3);
const brief = text => text.replace(/(\.\d*?)0+(?= |$)/, "$1").replace(/\.(?= |$)/, ""); // "10.0 ms": "10 ms", on axes
const bytes = x => !has(x) ? "–" : scaled(x, ["B", "kB", "MB", "GB", "TB"], 1000);
const count = x => has(x) ? x.toLocaleString("en-US", {maximumFractionDigits: 3}) : "–";
const percent = x => has(x) ? digits(100 * x, x < 0.1 ? 2 : 3) + " %" : "–";
const gbps = x => has(x) ? digits(x, 3) + " GB/s" : "–";
const median = stat => stat && has(stat.median) ? stat.median : undefined;
const spread = stat => stat && has(stat.noise) && (stat.samples || []).length > 1 ? " ± " + percent(stat.noise) : "";

// Round steps for an axis from a to b, about n of them.
function ticks(a, b, n) {
  const raw = (b - a) / n, power = 10 ** Math.floor(Math.log10(raw)), out = [];
  const step = power * [1, 2, 5, 10].find(f => f * power >= raw);
  for (let t = Math.ceil(a / step - 1e-9) * step; t <= b + step * 1e-9; t += step) out.push(t);
  return out;
}
function decades(a, b) {
  const out = [];
  for (let p = Math.ceil(Math.log10(a) - 1e-9); p <= Math.log10(b) + 1e-9; p++) out.push(10 ** p);
  return out;
}

// ---- drawing -----------------------------------------------------------------------------------------------------

const drawings = [];
// A plot that is drawn at the width it has, and again when that changes. draw(width) gives the children and a height.
function plot(label, draw) {
  const image = svg("svg", {role: "img", "aria-label": label});
  const box = el("div", {class: "plot"}, image);
  const again = () => {
    const width = Math.max(320, box.clientWidth - 26);
    const drawn = draw(width);
    image.setAttribute("viewBox", `0 0 ${width} ${drawn.height}`);
    image.setAttribute("height", drawn.height);
    image.replaceChildren(...drawn.children);
  };
  drawings.push(again);
  return Object.assign(box, {again});
}
const line = (x1, y1, x2, y2, name) => svg("line", {x1, y1, x2, y2, class: name});
const label = (x, y, text, anchor, name) => svg("text", {x, y, "text-anchor": anchor || "start", class: name}, text);
const wide = text => 6.6 * String(text).length;
function short(text, width) {
  text = String(text);
  const room = Math.max(1, Math.floor(width / 6.6));
  return text.length <= room ? text : text.slice(0, Math.max(0, room - 1)) + "…";
}
function legend(names) {
  return el("ul", {class: "legend"}, ...names.map(name =>
    el("li", {title: PHASES[name]}, el("i", {style: `background:${color(name)}`}), name)));
}

function table(heads, rows) {
  const cell = (tag, value, number) => el(tag, number ? {class: "number"} : null, value);
  return el("div", {class: "scroll"}, el("table", null,
    el("thead", null, el("tr", null, ...heads.map(h => cell("th", h.replace(/^#/, ""), h[0] === "#")))),
    el("tbody", null, ...rows.map(row => el("tr", null, ...row.map((v, i) => cell("td", v, heads[i][0] === "#")))))));
}
