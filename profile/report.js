// SPDX-License-Identifier: Apache-2.0
// The report: what is drawn of a record. Each part leaves out what the record does not have.
// ---- of a run ----------------------------------------------------------------------------------------------------

const good = run => run.verified !== false && Array.isArray(run.phases);
const phasesOf = run => [...run.phases].sort((a, b) => ORDER.indexOf(a.name) - ORDER.indexOf(b.name));
const deviceOf = run => devices[run.device] || {};
const algo = run => [run.backend, run.algo].filter(Boolean).join(" ");
const title = run => [run.op || "program", algo(run)].filter(Boolean).join(" · ");
const phaseMs = (run, name) => median(((run.phases || []).find(p => p.name === name) || {}).ms);
const number = run => runs.indexOf(run) + 1;
const rowName = run => `${number(run)}  ${title(run)}`;

// ---- all runs: times and bytes -----------------------------------------------------------------------------------

// What differs between runs gets a column; what all share stands in the line above.
const FACTS = [["matrix", r => r.matrix], ["type", r => r.type], ["device", r => deviceOf(r).name]];
const shared = value => runs.length > 0 && new Set(runs.map(value)).size === 1;

function glance() {
  const facts = FACTS.filter(([, value]) => !shared(value));
  const rows = runs.map(run => {
    const roof = run.roofline || {}, link = "#run-" + number(run);
    const what = [el("a", {href: link}, title(run))]; // a reason is a sentence: below the name, not in a column of numbers
    if (!good(run))
      what.push(el("div", {class: "bad"}, run.skipped ? "skipped: " + run.skipped : run.error || "not verified"));
    return [el("a", {href: link}, String(number(run))), el("div", {}, ...what),
      ...facts.map(([, value]) => value(run) || ""),
      el("span", {title: "median of " + (run.reps || "?") + " repetitions"},
        ms(median(run.end_to_end_ms)) + spread(run.end_to_end_ms)),
      ms(phaseMs(run, "kernel")), has(roof.gbps) ? digits(roof.gbps, 3) : "–", percent(roof.copy_share)];
  });
  return table(["", "what", ...facts.map(([name]) => name), "#end to end", "#kernels", "#GB/s", "#of copy"], rows);
}

function phasesPlot(list) {
  const timeOf = p => has(p.middle_ms) ? p.middle_ms : median(p.ms) || 0;
  const total = run => run.phases.reduce((sum, p) => sum + timeOf(p), 0);
  let share = Math.max(...list.map(total)) > 10 * Math.min(...list.map(total)); // else short ones cannot be seen
  const box = plot("phases of each run, stacked", width => {
    const left = Math.min(230, Math.max(...list.map(r => wide(rowName(r)))) + 14), row = 34;
    const longest = Math.max(...list.map(total)), room = width - left - 84, children = [];
    const steps = share ? [0, 0.25, 0.5, 0.75, 1] : ticks(0, longest, Math.max(2, room / 110));
    for (const t of steps) {
      const x = left + room * t / (share ? 1 : longest);
      children.push(line(x, 4, x, list.length * row + 4, "grid"),
        label(x, list.length * row + 20, share ? brief(percent(t)) : t ? brief(ms(t)) : "0", "middle", "dim"));
    }
    list.forEach((run, i) => {
      const sum = total(run), y = i * row + 8;
      let x = left;
      children.push(label(left - 10, y + 17, short(rowName(run), left - 12), "end"));
      for (const phase of phasesOf(run)) {
        const value = timeOf(phase), w = room * value / (share ? sum : longest);
        if (!value) continue;
        children.push(svg("rect", {x, y, width: Math.max(w, 0.5), height: 24, fill: color(phase.name), class: "hit"},
          tip(`${phase.name}: ${ms(value)}, median ${ms(median(phase.ms))}${spread(phase.ms)}, ` +
              `${percent(value / sum)} of ${ms(sum)}\n` +
              (PHASES[phase.name] || "") + (has(phase.bytes) ? `\n${bytes(phase.bytes)}, ${gbps(phase.gbps)}` : ""))));
        const text = phase.name + " " + percent(value / sum);
        if (w > wide(text) + 8) children.push(label(x + w / 2, y + 16, text, "middle", "inside"));
        else if (w > wide(phase.name) + 6) children.push(label(x + w / 2, y + 16, phase.name, "middle", "inside"));
        x += w;
      }
      children.push(label(x + 8, y + 17, ms(sum)));
    });
    return {height: list.length * row + 28, children};
  });
  const names = ORDER.filter(n => list.some(r => r.phases.some(p => p.name === n && median(p.ms) > 0)));
  const name = () => share ? "as times" : "each to 100 %";
  const button = el("button", {type: "button"}, name());
  button.addEventListener("click", () => {
    share = !share;
    button.textContent = name();
    box.again();
  });
  if (list.length > 1) box.prepend(el("div", {class: "controls"}, button));
  box.append(legend(names));
  return box;
}

function bytesPlot(list) {
  const rows = [];
  for (const run of list)
    for (const way of ["write", "read"])
      if (run.bytes && has(run.bytes[way]) && (run.bytes[way] > 0 || run.bytes[way + "_min"] > 0))
        rows.push({run, way, moved: run.bytes[way], least: run.bytes[way + "_min"]});
  if (!rows.length) return null;
  return plot("bytes across the bus against the least possible", width => {
    const left = Math.min(280, Math.max(...rows.map(r => wide(rowName(r.run) + "  write"))) + 14), row = 26;
    const most = Math.max(...rows.map(r => Math.max(r.moved, r.least || 0))), room = width - left - 170, children = [];
    for (const t of ticks(0, most, Math.max(2, room / 110))) {
      const x = left + room * t / most;
      children.push(line(x, 4, x, rows.length * row + 4, "grid"),
        label(x, rows.length * row + 20, t ? brief(bytes(t)) : "0", "middle", "dim"));
    }
    rows.forEach((r, i) => {
      const y = i * row + 7, w = room * r.moved / most;
      const times = r.least > 0 ? ", " + digits(r.moved / r.least, 3) + " × least" : "";
      children.push(label(left - 10, y + 14, short(rowName(r.run) + "  " + r.way, left - 12), "end"),
        svg("rect", {x: left, y, width: Math.max(w, 0.5), height: 18, fill: color(r.way), class: "hit"},
          tip(`${r.way}: ${count(r.moved)} bytes; least ${count(r.least)}`)),
        label(left + Math.max(w, r.least > 0 ? room * r.least / most : 0) + 8, y + 14, bytes(r.moved) + times));
      if (r.least > 0) {
        const x = left + room * r.least / most;
        children.push(line(x, y - 3, x, y + 21, "least"));
      }
    });
    return {height: rows.length * row + 28, children};
  });
}

// ---- ceilings ----------------------------------------------------------------------------------------------------

// Frame with logarithmic axes; gives the scales.
function logFrame(children, width, height, xs, ys, xText, yText, xName, yName) {
  const at = {left: 62, right: width - 26, top: 26, bottom: height - 44};
  const X = x => at.left + (at.right - at.left) * Math.log(x / xs[0]) / Math.log(xs[1] / xs[0]);
  const Y = y => at.bottom - (at.bottom - at.top) * Math.log(y / ys[0]) / Math.log(ys[1] / ys[0]);
  for (const t of decades(...xs))
    children.push(line(X(t), at.top, X(t), at.bottom, "grid"), label(X(t), at.bottom + 16, xText(t), "middle", "dim"));
  for (const t of decades(...ys))
    children.push(line(at.left, Y(t), at.right, Y(t), "grid"), label(at.left - 6, Y(t) + 4, yText(t), "end", "dim"));
  children.push(line(at.left, at.bottom, at.right, at.bottom, "axis"), line(at.left, at.top, at.left, at.bottom, "axis"),
    label((at.left + at.right) / 2, height - 8, xName, "middle", "dim"), label(4, 14, yName, "start", "dim"));
  return {X, Y, at};
}
const around = (values, low, high) => {
  const real = values.filter(v => v > 0);
  return [10 ** Math.floor(Math.log10(Math.min(...real) * low)), 10 ** Math.ceil(Math.log10(Math.max(...real) * high))];
};
const plain = x => x >= 1 ? count(x) : String(+x.toPrecision(3));

// A name beside its point where there is room: `taken` are boxes that stay free. The others have it as their tip.
function nameAt(children, taken, x, y, text, at) {
  const w = wide(text);
  for (const dy of [0, -15, 15, -30, 30, -45, 45, -60, 60])
    for (const a of [x + 10, x - 10 - w]) {
      const top = y + dy - 9;
      if (a + w > at.right || a < at.left || top < at.top || top + 14 > at.bottom) continue;
      if (taken.some(b => a < b[2] && a + w > b[0] && top < b[3] && top + 14 > b[1])) continue;
      taken.push([a, top, a + w, top + 14]);
      if (dy) children.push(line(x, y, a > x ? a - 2 : a + w + 2, y + dy, "leader"));
      children.push(label(a, y + dy + 4, text));
      return;
    }
}

// Boxes along a curve of points, which names stay clear of.
function boxesAlong(points) {
  return points.slice(1).map(([x, y], i) => {
    const [a, b] = points[i];
    return [Math.min(a, x) - 1, Math.min(b, y) - 2, Math.max(a, x) + 1, Math.max(b, y) + 2];
  });
}
const between = (a, b, n) => Array.from({length: n + 1}, (_, i) => a * (b / a) ** (i / n)); // on a scale of logarithms

// GB/s over bytes: the copy bandwidth at the top, what a launch costs at the left.
function ceilingPlot(device, list) {
  const points = [], ceilings = device.ceilings || {}, queue = median(ceilings.queue_us);
  const most = 1.5 * Math.max(ceilings.copy_gbps || 0, ceilings.triad_gbps || 0);
  for (const run of list) {
    const kernels = (run.kernels || []).filter(k => k.phase === "kernel");
    for (const k of kernels.length > 1 ? kernels : []) { // one alone is the whole operation
      const time = median(k.ms), each = k.gbps > 0 && time ? k.gbps * time * 1e6 / (k.launches || 1) : 0;
      if (!(each > 0) || (k.gbps_of === "bound" && k.gbps > most)) continue; // it cannot touch all of its buffers
      points.push({x: each, y: k.gbps, name: number(run) + " " + k.name, run,
        text: `${k.name} of run ${number(run)}: ${gbps(k.gbps)} (${k.gbps_of || "min"} bytes), ${bytes(each)} a launch`});
    }
    const roof = run.roofline;
    if (roof && roof.gbps > 0 && roof.bytes > 0)
      points.push({x: roof.bytes, y: roof.gbps, name: `${number(run)} ${algo(run) || title(run)}`, run, whole: 1,
        text: `run ${number(run)}, ${title(run)}, whole operation: ${gbps(roof.gbps)} of ${bytes(roof.bytes)}, ` +
              `${percent(roof.copy_share)} of copy`});
  }
  if (!points.length || !(ceilings.copy_gbps > 0)) return null;
  return plot("bandwidth against the measured ceilings", width => {
    const height = 340, children = [], xs = around(points.map(p => p.x), 0.3, 3);
    const ys = around([...points.map(p => p.y), ceilings.copy_gbps], 0.6, 1.4);
    const {X, Y, at} = logFrame(children, width, height, xs, ys, x => brief(bytes(x)), plain,
      "bytes of a launch, the least", "GB/s");
    const taken = [];
    const ceiling = (value, name, dy) => {
      children.push(line(at.left, Y(value), at.right, Y(value), "ceiling"),
        label(at.left + 8, Y(value) + dy, `${name} ${gbps(value)}`));
      taken.push([at.left, Y(value) + dy - 12, at.left + 8 + wide(name + " 9999 GB/s"), Y(value) + dy + 4],
        [at.left, Y(value) - 2, at.right, Y(value) + 2]);
    };
    ceiling(ceilings.copy_gbps, "copy", ceilings.copy_gbps >= (ceilings.triad_gbps || 0) ? -6 : 16);
    if (ceilings.triad_gbps > 0)
      ceiling(ceilings.triad_gbps, "triad", ceilings.copy_gbps >= ceilings.triad_gbps ? 16 : -6);
    if (queue > 0) {
      const curve = between(xs[0], xs[1], 80).map(b => [b, b / (queue * 1e3 + b / ceilings.copy_gbps)])
        .filter(([, v]) => v >= ys[0]).map(([b, v]) => [X(b), Y(v)]);
      const path = curve.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
      taken.push(...boxesAlong(curve));
      children.push(svg("path", {d: path, class: "roof"}, tip(`one launch in ${us(queue)} and the copy bandwidth`)));
    }
    for (const p of points)
      children.push(svg("circle", {cx: X(p.x), cy: Y(p.y), r: p.whole ? 6 : 4.5, class: "hit",
        fill: p.whole ? color("kernel") : color("copy"), stroke: "var(--ground)", "stroke-width": 1.5}, tip(p.text)));
    for (const p of points) taken.push([X(p.x) - 6, Y(p.y) - 6, X(p.x) + 6, Y(p.y) + 6]);
    for (const p of [...points].sort((a, b) => (b.whole || 0) - (a.whole || 0) || b.y - a.y))
      nameAt(children, taken, X(p.x), Y(p.y), short(p.name, 190), at);
    return {height, children};
  });
}

// The roofline, for operations that count arithmetic.
function rooflinePlot(device, list) {
  const points = list.filter(r => r.roofline && r.roofline.intensity > 0 && r.roofline.gflops > 0);
  const ceilings = device.ceilings || {};
  if (!points.length || !(ceilings.copy_gbps > 0)) return null;
  return plot("roofline", width => {
    const height = 340, children = [], xs = around(points.map(r => r.roofline.intensity), 0.5, 2);
    const tops = points.map(r => r.roofline.intensity * ceilings.copy_gbps);
    const ys = around([...points.map(r => r.roofline.gflops), ...tops], 0.5, 1.5);
    const {X, Y, at} = logFrame(children, width, height, xs, ys, plain, plain, "operations a byte, of the least bytes",
      "GFLOP/s");
    const taken = [], clip = "clip-" + drawings.length;
    children.push(svg("clipPath", {id: clip}, svg("rect", {x: at.left, y: at.top, width: at.right - at.left,
      height: at.bottom - at.top})));
    for (const [name, value] of [["copy", ceilings.copy_gbps], ["triad", ceilings.triad_gbps]])
      if (value > 0) children.push(svg("line", {x1: X(xs[0]), y1: Y(xs[0] * value), x2: X(xs[1]), y2: Y(xs[1] * value),
        class: name === "copy" ? "ceiling" : "roof", "clip-path": `url(#${clip})`}, tip(`${name} ${gbps(value)}`)));
    const high = ys[0] * (ys[1] / ys[0]) ** 0.88 / ceilings.copy_gbps, name = `copy ${gbps(ceilings.copy_gbps)}`;
    children.push(label(X(high) - 10, Y(high * ceilings.copy_gbps), name, "end"));
    taken.push([X(high) - 10 - wide(name), Y(high * ceilings.copy_gbps) - 12, X(high) - 10, Y(high * ceilings.copy_gbps) + 4]);
    for (const value of [ceilings.copy_gbps, ceilings.triad_gbps])
      if (value > 0) taken.push(...boxesAlong(between(xs[0], xs[1], 80).map(x => [X(x), Y(x * value)])));
    for (const run of points) taken.push([X(run.roofline.intensity) - 6, Y(run.roofline.gflops) - 6,
      X(run.roofline.intensity) + 6, Y(run.roofline.gflops) + 6]);
    for (const run of points) {
      const r = run.roofline;
      children.push(line(X(r.intensity), Y(r.gflops), X(r.intensity), Y(r.intensity * ceilings.copy_gbps), "grid"));
      taken.push(...boxesAlong([[X(r.intensity), Y(r.gflops)], [X(r.intensity), Y(r.intensity * ceilings.copy_gbps)]]));
    }
    for (const run of points) {
      const r = run.roofline, x = X(r.intensity), y = Y(r.gflops);
      children.push(svg("circle", {cx: x, cy: y, r: 6, fill: color("kernel"), class: "hit", stroke: "var(--ground)",
        "stroke-width": 1.5},
        tip(`run ${number(run)}: ${digits(r.gflops, 3)} GFLOP/s, ${percent(r.copy_share)} of copy`)));
      nameAt(children, taken, x, y, short(`${number(run)} ${algo(run)} ${percent(r.copy_share)}`, 240), at);
    }
    return {height, children};
  });
}

// ---- one run: timeline -------------------------------------------------------------------------------------------

// Rows for bars that overlap; gives how many.
function stack(bars) {
  const ends = [];
  for (const bar of bars.sort((a, b) => a.from - b.from)) {
    let row = ends.findIndex(end => end <= bar.from + 1e-9);
    if (row < 0) row = ends.push(0) - 1;
    ends[row] = bar.to;
    bar.row = row;
  }
  return ends.length;
}

function lanesOf(timeline) {
  const lanes = [], commands = timeline.commands || [];
  const lane = (name, bars) => bars.length && lanes.push({name, bars, rows: stack(bars)});
  lane("phases", (timeline.spans || []).map(s => ({from: s.begin_us, to: s.end_us, phase: s.phase, name: s.phase,
    text: `phase ${s.phase}: ${us(s.end_us - s.begin_us)} from ${us(s.begin_us)}`})));
  // One lane each, but for crowds, which share one.
  const named = (list, one, many) => list.length > 6 ? lane(one, list.flatMap(([, bars]) => bars))
    : list.forEach(([id, bars]) => lane(list.length > 1 ? many + " " + id : one, bars));
  const groups = (key, made) => [...new Set(commands.map(c => c[key]).filter(has))].sort((a, b) => a - b)
    .map(id => [id, commands.filter(c => c[key] === id).map(made).filter(b => has(b.from) && has(b.to))]);
  const about = c => `${c.kind} ${c.name || ""}` + (has(c.bytes) ? `, ${bytes(c.bytes)}` : "") +
    (c.wg ? `, global ${c.global.join("×")}, groups of ${c.wg.join("×")}` : "");
  named(groups("thread", c => ({from: c.call_us, to: c.return_us, phase: "call", name: c.name || c.kind,
    text: `call of ${about(c)}: ${us(c.return_us - c.call_us)} from ${us(c.call_us)}` +
      (c.blocking ? ", blocking" : "")})), "host", "thread");
  named(groups("queue", c => ({from: c.start_us, to: c.end_us, phase: c.phase || c.kind,
    name: c.kind === "kernel" ? c.name : c.kind,
    text: `${about(c)}: ${us(c.end_us - c.start_us)} from ${us(c.start_us)}` +
      (has(c.queued_us) ? `; queued ${us(c.start_us - c.queued_us)} before` : "")})), "device", "queue");
  return lanes;
}

function timelinePlot(run) {
  const lanes = lanesOf(run.timeline);
  const all = lanes.flatMap(l => l.bars);
  if (!all.length) return null;
  const whole = [Math.min(0, ...all.map(b => b.from)), Math.max(...all.map(b => b.to))];
  const inside = (run.timeline.spans || []).filter(s => ["kernel", "gap", "launch"].includes(s.phase));
  let view = whole.slice(), scale, dragFrom = null;
  const readout = el("div", {class: "readout", "aria-live": "polite"});
  const box = plot("timeline of one repetition", width => {
    const left = 84, right = width - 8, row = 22, children = [];
    scale = {left, right};
    const X = t => left + (right - left) * (t - view[0]) / (view[1] - view[0]);
    const rows = lanes.reduce((sum, l) => sum + l.rows, 0), height = rows * row + lanes.length * 10 + 30;
    for (const t of ticks(view[0], view[1], Math.max(2, (right - left) / 110)))
      children.push(line(X(t), 4, X(t), height - 22, "grid"),
        label(X(t), height - 6, t ? brief(us(t)) : "0", "middle", "dim"));
    let y = 6;
    for (const lane of lanes) {
      children.push(label(4, y + 15, lane.name, "start", "dim"));
      let last = -1;
      for (const bar of lane.bars) {
        if (bar.to < view[0] || bar.from > view[1]) continue;
        const a = Math.max(X(bar.from), left), b = Math.min(X(bar.to), right), w = Math.max(b - a, 1);
        if (w <= 1 && a - last < 0.7) continue; // one of several in the same pixel
        last = a;
        const top = y + bar.row * row;
        children.push(svg("rect", {x: a, y: top, width: w, height: row - 3, fill: color(bar.phase), class: "hit",
          tabindex: w > 12 ? 0 : undefined, "data-text": bar.text}, tip(bar.text)));
        if (w > 34) children.push(label(a + 5, top + 14, short(bar.name, (w - 8) * 0.88), "start", "inside"));
      }
      y += lane.rows * row + 10;
    }
    return {height, children};
  });
  const image = box.querySelector("svg");
  const at = event => {
    const rect = image.getBoundingClientRect();
    const x = (event.clientX - rect.left) * image.viewBox.baseVal.width / rect.width;
    return view[0] + (view[1] - view[0]) * Math.min(1, Math.max(0, (x - scale.left) / (scale.right - scale.left)));
  };
  const show = (a, b) => {
    const least = (whole[1] - whole[0]) * 1e-6;
    if (b - a < least) return;
    view = [Math.max(a, whole[0]), Math.min(b, whole[1])];
    box.again();
  };
  const zoom = (factor, move) => {
    const half = (view[1] - view[0]) / 2 * factor, mid = (view[0] + view[1]) / 2 + move * half;
    show(mid - half, mid + half);
  };
  image.addEventListener("pointerdown", event => { dragFrom = at(event); event.preventDefault(); });
  image.addEventListener("pointerup", event => {
    const to = at(event), from = dragFrom;
    dragFrom = null;
    if (from !== null && Math.abs(to - from) > (view[1] - view[0]) * 0.01) show(Math.min(from, to), Math.max(from, to));
  });
  for (const kind of ["pointerover", "focusin"])
    image.addEventListener(kind, event => {
      if (event.target.dataset.text) readout.textContent = event.target.dataset.text;
    });
  const button = (text, name, action) => {
    const b = el("button", {type: "button", "aria-label": name}, text);
    b.addEventListener("click", action);
    return b;
  };
  box.prepend(el("div", {class: "controls"},
    button("whole", "show the whole repetition", () => show(...whole)),
    inside.length ? button("launch", "show the launch", () => {
      const a = Math.min(...inside.map(s => s.begin_us)), b = Math.max(...inside.map(s => s.end_us));
      show(a - (b - a) * 0.03, b + (b - a) * 0.03);
    }) : null,
    button("+", "closer", () => zoom(0.5, 0)), button("−", "farther", () => zoom(2, 0)),
    button("◀", "earlier", () => zoom(1, -0.8)), button("▶", "later", () => zoom(1, 0.8)),
    el("span", {class: "dim"}, "drag across the plot to look closer")));
  box.append(readout, legend(ORDER.filter(n => all.some(b => b.phase === n))));
  return box;
}

// ---- one run: kernels, phases, counters --------------------------------------------------------------------------

function kernelsPlot(all) {
  const kernels = all.slice(0, 24);
  return plot("time of each kernel, with its spread", width => {
    const left = Math.min(260, Math.max(...kernels.map(k => wide(k.name + " ×" + k.launches))) + 14), row = 34;
    const most = Math.max(...kernels.map(k => (k.ms && k.ms.max) || median(k.ms) || 0)), room = width - left - 190;
    const children = [];
    for (const t of ticks(0, most, Math.max(2, room / 110))) {
      const x = left + room * t / most;
      children.push(line(x, 4, x, kernels.length * row + 4, "grid"),
        label(x, kernels.length * row + 20, t ? brief(ms(t)) : "0", "middle", "dim"));
    }
    kernels.forEach((k, i) => {
      const y = i * row + 8, value = median(k.ms) || 0, w = room * value / most, mid = y + 12;
      children.push(label(left - 10, y + 16, short(k.name + (k.launches > 1 ? " ×" + k.launches : ""), left - 12), "end"),
        svg("rect", {x: left, y, width: Math.max(w, 1), height: 24, fill: color(k.phase || "kernel"), class: "hit"},
          tip(`${k.name}: median ${ms(value)}${spread(k.ms)}, ${k.launches} launches`)));
      if (k.ms && has(k.ms.min) && (k.ms.samples || []).length > 1) {
        const a = left + room * k.ms.min / most, b = left + room * k.ms.max / most;
        children.push(line(a, mid, b, mid, "whisker"), line(a, mid - 5, a, mid + 5, "whisker"),
          line(b, mid - 5, b, mid + 5, "whisker"));
        for (const s of (k.ms.samples || []).slice(0, 200))
          children.push(svg("circle", {cx: left + room * s / most, cy: mid, r: 2.5, class: "sample"}));
      }
      const end = left + room * Math.max(value, (k.ms && k.ms.max) || 0) / most + 8;
      children.push(label(end, y + 16, ms(value) + (has(k.gbps) && k.gbps_of !== "bound" ? `, ${gbps(k.gbps)}` : "")));
    });
    return {height: kernels.length * row + 28, children};
  });
}

function kernelsTable(kernels) {
  const said = x => x === undefined || x === null ? "–" : String(x);
  return table(["kernel", "phase", "#launches", "#time", "#share", "#GB/s", "#of copy", "#groups", "#group", "#local",
    "#registers", "#spills", "#occupancy"], kernels.map(k => {
    const fill = k.occupancy || {};
    return [k.name, k.phase || "", said(k.launches), ms(median(k.ms)) + spread(k.ms), percent(k.share),
      has(k.gbps) ? el("span", {title: k.gbps_of === "bound" ? "of the bytes of all its buffers" : "of the least bytes"},
        digits(k.gbps, 3) + (k.gbps_of === "bound" ? " *" : "")) : "–",
      percent(k.copy_share), said(k.groups), k.wg ? k.wg.join("×") : k.global ? "driver's" : "–",
      has(k.local_bytes) ? count(k.local_bytes) + " B" : "–",
      has(k.registers) ? String(k.registers) : "–", has(k.spill_bytes) ? count(k.spill_bytes) + " B" : "–",
      has(fill.share) ? el("span", {title: `${fill.waves} of ${fill.waves_max} waves, limited by ${fill.limit}`},
        percent(fill.share)) : "–"];
  }));
}

function phasesTable(run) {
  const sum = run.phases.reduce((s, p) => s + (median(p.ms) || 0), 0);
  return table(["phase", "what", "#median", "#least", "#most", "#share", "#by events", "#bytes", "#GB/s"],
    phasesOf(run).filter(p => p.ms && p.ms.max > 0).map(p => [
      el("span", null, el("i", {style: `display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:6px;` +
        `background:${color(p.name)}`}), p.name),
      PHASES[p.name] || "", ms(median(p.ms)), ms(p.ms.min), ms(p.ms.max), percent(median(p.ms) / sum),
      ms(median(p.device_ms)), has(p.bytes) ? bytes(p.bytes) : "–", has(p.gbps) ? digits(p.gbps, 3) : "–"]));
}

function countersTable(counters) {
  const rows = [], missing = new Map(), items = counters.items || {};
  for (const name of Object.keys(items)) {
    const c = items[name];
    if (c.reason !== undefined) {
      const key = c.source + "\n" + c.reason;
      missing.set(key, [...(missing.get(key) || []), name]);
      continue;
    }
    const unit = c.unit === "C" ? " °C" : c.unit && c.unit !== "1" ? " " + c.unit : "";
    const value = typeof c.value !== "number" ? c.value : c.unit === "bytes" ? bytes(c.value)
      : c.unit === "ms" ? ms(c.value) : count(c.value) + unit;
    rows.push([name, value, has(c.min) ? `${count(c.min)} to ${count(c.max)}` : "", has(c.samples) ? count(c.samples) : "",
      c.source]);
  }
  if (items.cycles && items.instructions && has(items.cycles.value) && has(items.instructions.value))
    rows.push(["instructions a cycle", digits(items.instructions.value / items.cycles.value, 3), "", "", "of the two"]);
  const out = [];
  if (counters.throttled !== undefined)
    out.push(el("p", {class: counters.throttled ? "bad" : "dim"},
      counters.throttled ? "The device lowered its clocks while it ran: times are not its best." : "No throttling was seen."));
  if (rows.length) out.push(table(["counter", "#value", "#from, to", "#samples", "source"], rows));
  if (missing.size) {
    const list = [...missing].map(([key, names]) => [names.join(", "), key.split("\n")[1], key.split("\n")[0]]);
    out.push(el("p", {class: "dim", style: "margin-top:12px"}, "Not available:"), table(["counter", "why", "source"], list));
  }
  if (has(counters.launches)) out.push(el("p", {class: "dim"}, `Counts are sums over ${count(counters.launches)} launches, ` +
    `${ms(counters.sum_ms)} in all.`));
  if (!out.length) out.push(el("p", {class: "dim"}, "Not available: " + (counters.reason || "nothing was counted")));
  return out;
}

function runSection(run) {
  const section = el("section", {id: "run-" + number(run)}, el("h2", null, `${number(run)}. ${title(run)}`));
  const shape = has(run.m) ? `${count(run.m)} × ${count(run.n)}, ${count(run.nnz)} entries` : "";
  section.append(el("p", {class: "dim"}, [run.matrix, shape, run.type, has(run.index) ? run.index + "-bit offsets" : "",
    deviceOf(run).name, run.library, run.chosen, run.tune, run.reps > 1 ? run.reps + " repetitions" : ""]
    .filter(Boolean).join(" · ")));
  if (!good(run)) {
    section.append(el("p", {class: "bad"}, run.skipped ? "skipped: " + run.skipped : run.error || "not verified"));
    return section;
  }
  const part = (name, about, ...nodes) => {
    const real = nodes.filter(Boolean);
    if (real.length) section.append(el("h3", null, name), about ? el("p", {class: "dim"}, about) : "", ...real);
  };
  const once = run.reps === 1;
  if (run.timeline) part(once ? "Timeline" : "One repetition", (once ? "" : "The one with the median time. ") +
      "Calls of the host, and what the device did by its events, on one clock.",
    timelinePlot(run));
  const kernels = run.kernels || [];
  if (kernels.length) {
    const bound = kernels.some(k => k.gbps_of === "bound");
    part("Kernels", (run.reps > 1 ? "Bars are medians, dots the repetitions, whiskers the least and the most." : "") +
      (kernels.length > 24 ? " The plot shows the 24 that take most time." : ""), kernelsPlot(kernels), kernelsTable(kernels),
      bound ? el("p", {class: "dim"}, "* of the bytes of all buffers that it is given, each once") : null);
    const facts = [];
    if (has(run.launches)) facts.push(`${count(run.launches)} launch${run.launches === 1 ? "" : "es"} a repetition`);
    if (run.gap_us && has(median(run.gap_us))) facts.push(`${us(median(run.gap_us))} in gaps between kernels`);
    if (run.roofline && has(run.roofline.floor_ms))
      facts.push(`least time by launches and copy bandwidth ${ms(run.roofline.floor_ms)}`);
    if (facts.length) section.append(el("p", {class: "dim"}, facts.join(" · ")));
  }
  part("Phases", "", phasesTable(run));
  if (run.counters) part("Counters", "", ...countersTable(run.counters));
  return section;
}

// ---- environment -------------------------------------------------------------------------------------------------

function facts(pairs) {
  return el("dl", null, ...pairs.filter(([, value]) => value !== undefined && value !== null && value !== "")
    .flatMap(([name, value]) => [el("dt", null, name), el("dd", null, value)]));
}

function environment() {
  const host = record.host || {}, section = el("section", null, el("h2", null, "Environment"), facts([
    // `version` is that of weft: another program's own is not known.
    ["program", record.program === "weft-bench" ? `weft-bench ${record.version || ""}`.trim() : record.program],
    ["recorded by", record.program !== "weft-bench" && record.version ? `weft ${record.version}` : ""], ["date", record.date],
    ["command", record.command && el("code", null, record.command)], ["host", host.name], ["system", host.system],
    ["threads", host.threads]]));
  for (const d of devices) {
    const clock = d.clock || {}, top = d.ceilings || {};
    section.append(el("h3", null, d.name || "device"), facts([
      ["index", has(d.index) ? d.index : undefined], ["type", d.type], ["vendor", d.vendor],
      ["platform", [d.platform, d.platform_version].filter(Boolean).join(", ")], ["driver", d.driver], ["version", d.version],
      ["compute units", has(d.compute_units) ? count(d.compute_units) : undefined],
      ["clock", has(d.max_clock_mhz) ? d.max_clock_mhz + " MHz at most" : undefined],
      ["memory", has(d.global_bytes) ? bytes(d.global_bytes) : undefined],
      ["local memory", has(d.local_bytes) ? bytes(d.local_bytes) : undefined],
      ["cache", has(d.cache_bytes) ? bytes(d.cache_bytes) : undefined],
      ["event clock", [has(d.timer_ns) ? d.timer_ns + " ns steps" : "", clock.method ? "to host by " + clock.method : "",
        has(clock.error_ns) ? "error " + us(clock.error_ns * 1e-3) : "",
        has(clock.checked) ? `${count(clock.outside)} of ${count(clock.checked)} commands outside of their calls` : ""]
        .filter(Boolean).join(", ")],
      ["copy", has(top.copy_gbps) ? gbps(top.copy_gbps) : undefined],
      ["triad", has(top.triad_gbps) ? gbps(top.triad_gbps) : undefined],
      ["one empty launch", top.launch_us ? us(median(top.launch_us)) + spread(top.launch_us) : undefined],
      ["of many launches, one", top.queue_us ? us(median(top.queue_us)) + spread(top.queue_us) : undefined]]));
  }
  return section;
}

// ---- the page ----------------------------------------------------------------------------------------------------

const fine = runs.filter(good);
document.title = "weft profile" + (runs.length ? ": " + [...new Set(runs.map(r => r.op).filter(Boolean))].join(", ") : "");
report.append(el("h1", null, document.title),
  el("p", {class: "dim"}, [...FACTS.filter(([, value]) => shared(value)).map(([, value]) => value(runs[0])), record.date]
    .filter(Boolean).join(" · ")));
if (record.command) report.append(el("p", null, el("code", null, record.command)));
report.append(glance());
if (fine.length) {
  report.append(el("h2", null, "Where the time goes"),
    el("p", {class: "dim"}, "End to end: from the caller's arrays to the caller's result" +
      (fine.some(r => r.reps > 1) ? ", of the repetition with the median time." : ", or the whole program.")), phasesPlot(fine));
  const moved = bytesPlot(fine);
  if (moved) report.append(el("h2", null, "Bytes across the bus"),
    el("p", {class: "dim"}, "Measured at the calls. The upright line is the least: each input written once, each output " +
      "read once."), moved);
  for (const device of devices) {
    const list = fine.filter(r => deviceOf(r) === device);
    const plots = [ceilingPlot(device, list), rooflinePlot(device, list)].filter(Boolean);
    if (!plots.length) continue;
    report.append(el("h2", null, "Against the ceilings" + (devices.length > 1 ? " of " + device.name : "")),
      el("p", {class: "dim"}, "Ceilings measured in the same run. Large points are whole operations by their least bytes, " +
        "small ones kernels. " +
        "Dashed: what a launch costs, then the copy bandwidth."),
      el("div", {class: plots.length > 1 ? "pair" : ""}, ...plots));
  }
}
report.append(...runs.map(runSection), environment());
let pending;
const redraw = () => { cancelAnimationFrame(pending); pending = requestAnimationFrame(() => drawings.forEach(d => d())); };
drawings.forEach(d => d());
window.addEventListener("resize", redraw);
