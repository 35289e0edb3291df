#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables and plots of records that weft-bench --json has written; gzip is read too (.gz).

usage: bench/lab/table.py [options] FILE...
  --op LIST         only these operations (default: every one in the files, apart)
  --columns LIST    only these columns, in this order: ref, omp, scan, cusparse, "cusparse alg1", ...
  --against NAME    column that speedups refer to; vendor: the fastest of other people's libraries on each row
                    (default: ref, and vendor where there is one)
  --clock NAME      device: times by device events (default); host: by the host's clock, of runs back to back, where it was taken
  -o, --output FILE Markdown to FILE instead of the standard output
  --plot PREFIX     PREFIX-OP-speedup.png and PREFIX-OP-roof.png as well (needs matplotlib); ends in .svg: SVG
  --title TEXT      of the plots (default: the device)

Prints Markdown: for each operation, type and device what ran where, a table of median times, a row a matrix, a column
a backend and algorithm, and tables of speedups. "~" marks a speedup that is unclear: the quartiles of the two times
overlap; times of the host's clock have quartiles from 2026-11-30 on. With --clock host "*" marks a time of device events,
where the host's clock took none. The last row of speedups is their geometric mean. Of several records with one matrix and
column the last one counts, and where it is not verified its reason stands in place of a number.
"""
import os
import sys

sys.dont_write_bytecode = True
import reader  # noqa: E402
from reader import Failed  # noqa: E402

OURS = ["ref", "omp", "opencl"]  # their columns come first; the others are other people's libraries
NAMES = {"ref": "serial (ref)", "cusparse": "cuSPARSE", "rocsparse": "rocSPARSE", "viennacl": "ViennaCL",
         "graphblas": "GraphBLAS", "rsb": "librsb"}


def read(paths):
    """Records of all files, oldest first, without the points of sweeps."""
    def needed(record):
        if record.get("verified") and not record.get("median_ms", 1):
            raise ValueError("median_ms is 0")
        return reader.NEEDED + (("median_ms", "gbps") if record.get("verified") else ())
    return reader.records(paths, lambda record: "tune" not in record, needed)


def by_host(record):
    """A record with the time of the host's clock in place of that of device events, or one that says that it has none."""
    if not record.get("verified"):
        return record
    if not record.get("b2b_ms"):
        on_device = "device_index" in record and record.get("clock") != "host"
        return {**record, "by_events": True} if on_device else record
    low, high = reader.clock_quartiles(record) if "b2b_low_ms" in record else (0, 0)
    return {**record, "median_ms": record["b2b_ms"], "gbps": record["gbps"] * record["median_ms"] / record["b2b_ms"],
            "noise": (high - low) / record["b2b_ms"], "by_host": True, **({"quartiles_ms": (low, high)} if high else {})}


def blocks(records):
    """{(op, type, index, device): records}, with host records in the block of every device."""
    def key(record):
        return record["op"], record.get("type", ""), record.get("index", 0), record["device"]
    with_device = {key(r)[:3] for r in records if "device_index" in r}
    keys = dict.fromkeys(key(r) for r in records if "device_index" in r or key(r)[:3] not in with_device)
    return {k: [r for r in records if key(r)[:3] == k[:3] and (r["device"] == k[3] or "device_index" not in r)]
            for k in keys}


def is_case(record):
    """Whether the algorithm is a task of its own, which every backend does in its way."""
    return record["op"] in ("segsort", "merge")


def label(record, records):
    """Name of a record's column: the algorithm for weft's own, the backend (and algorithm if it has several) else."""
    if is_case(record):
        return record["backend"]
    if record["backend"] == "opencl":
        return record["algo"]
    algos = {r["algo"] for r in records if r["backend"] == record["backend"]}
    return record["backend"] if len(algos) == 1 else record["backend"] + " " + record["algo"]


def shown(column):
    """The name of a column as people write it."""
    backend, _, algo = column.partition(" ")
    return (NAMES.get(backend, backend) + " " + algo).strip()


class Block:
    """The records of one operation, type and device as a table."""

    def __init__(self, key, records, wanted=None):
        self.op, self.type, self.index, self.device = key
        self.records, self.rows, self.table, self.notes = records, [], {}, {}
        columns, self.backends = {}, {}
        for record in records:
            row, column = record.get("matrix", record["op"]), label(record, records)
            self.backends[column] = record["backend"]
            row += ", " + record["algo"] if is_case(record) else ""
            if record.get("verified"):
                self.rows += [row] if row not in self.rows else []
                columns.setdefault(column, OURS.index(record["backend"]) if record["backend"] in OURS else len(OURS))
                self.table[row, column] = record
                self.notes.pop((row, column), None)
            else:
                self.notes[row, column] = "skipped: " + record["skipped"] if "skipped" in record else \
                    "failed: " + record.get("error", "not verified")
                self.table.pop((row, column), None)
        self.columns = sorted(columns, key=columns.get)
        if wanted:
            self.columns = [c for name in wanted for c in self.columns if name in self.names(c)]
            self.notes = {key: note for key, note in self.notes.items() if not self.names(key[1]).isdisjoint(wanted)}
        self.rows = [row for row in self.rows if any((row, c) in self.table for c in self.columns)]

        host = any(record.get("by_host") for record in self.table.values())
        self.clock = ", by the host's clock over runs back to back" if host else ""
        self.spread = not host or all("b2b_low_ms" in record for record in self.table.values() if record.get("by_host"))

    def backend(self, column):
        return self.backends[column]

    def names(self, column):
        """What --columns may call it."""
        return {column, shown(column), self.backend(column)}

    def base(self, row, against):
        """The record that speedups of a row refer to, or None."""
        if against != "vendor":
            return self.table.get((row, against))
        vendors = [self.table[row, c] for c in self.columns if (row, c) in self.table and self.backend(c) not in OURS]
        return min(vendors, key=lambda r: r["median_ms"], default=None)

    def speedups(self, against):
        """Columns worth a speedup against this one; none where there is nothing to compare."""
        if not any(self.base(row, against) for row in self.rows):
            return []
        return [c for c in self.columns if c != against and (against != "vendor" or self.backend(c) in OURS)]

    def copy(self):
        """Copy bandwidth of the device in GB/s, or None."""
        speeds = [r["copy_gbps"] for r in self.records if r["device"] == self.device and "copy_gbps" in r]
        return speeds[-1] if speeds else None


def four_digits(value):
    text = f"{value:.4g}"
    return f"{value:.0f}" if "e" in text and value >= 1 else text


def spaced(number):
    return f"{number:,}".replace(",", " ")


def experiment(block):
    """What ran where, when and how: lines of Markdown."""
    def each(key, records):
        return list(dict.fromkeys(str(r[key]) for r in records if key in r))
    used = [block.table[row, c] for row in block.rows for c in block.columns if (row, c) in block.table]
    here = [r for r in used if r["device"] == block.device]
    ours, lines = [r for r in used if r["backend"] in OURS], []
    host = each("device", [r for r in used if "device_index" not in r and r["device"] != block.device])
    drivers = each("driver", here)
    lines.append("device: " + block.device + (f", driver {', '.join(drivers)}" if drivers else "") +
                 (f", copies {four_digits(block.copy())} GB/s" if block.copy() else "") +
                 (f"; host: {', '.join(host)}" if host else ""))
    versions = ["weft " + ", ".join(each("version", ours))] if ours else []
    for backend in dict.fromkeys(r["backend"] for r in used if r["backend"] not in OURS):
        name = NAMES.get(backend, backend)
        theirs = each("version", [r for r in used if r["backend"] == backend])
        versions.append(name + " " + ", ".join(version.replace(name + " ", "") for version in theirs))
    lines.append("versions: " + "; ".join(versions))
    dates = sorted(each("date", used))
    if dates:
        lines.append("date: " + dates[0] + (f" to {dates[-1]}" if len(dates) > 1 else ""))
    lines += [f"command: `{command}`" for command in each("command", used)]
    return ["- " + line for line in lines]


def mark(record):
    """The sign behind a time, or a speedup, that is not of the clock that the table is by."""
    return "*" * record.get("by_events", False)


def tables(block, against):
    """Markdown of a block."""
    out = [f"### {block.op}" + (f", {block.type}, {block.index}-bit offsets" if block.type else "") +
           f", {block.device}", "", *experiment(block), ""]
    shape = block.op != "copy"
    head = ["matrix", "m", "n", "entries"] if shape else ["operation"]

    def left(row):
        record = next(block.table[row, c] for c in block.columns if (row, c) in block.table)
        return [row] + ([spaced(record[key]) if key in record else "" for key in ("m", "n", "nnz")] if shape else [])

    def time(row, column):
        if (row, column) in block.notes:
            return block.notes[row, column].split(":")[0]
        record = block.table.get((row, column))
        return four_digits(record["median_ms"]) + mark(record) if record else ""
    out += [f"Median times in ms{block.clock}:", ""]
    out += reader.table_padded(head + [shown(c) for c in block.columns],
                    [left(row) + [time(row, c) for c in block.columns] for row in block.rows])
    reasons = {}
    for (row, column), note in block.notes.items():
        reasons.setdefault((column, note), []).append(row)
    if any(mark(record) for record in block.table.values()):
        out += ["", "\\* by device events: the host's clock took no time there. Speedups beside such a time compare two clocks."]
    out += [""] * bool(reasons) + [f"- {shown(column)} on {', '.join(on)}: {note}" for (column, note), on in reasons.items()]
    for name in against:
        others = block.speedups(name)
        if not others:
            continue
        lines, values = [], {column: [] for column in others}
        for row in block.rows:
            line, base = left(row), block.base(row, name)
            for column in others:
                if base and (row, column) in block.table:
                    record = block.table[row, column]
                    values[column].append(base["median_ms"] / record["median_ms"])
                    line.append(f"{values[column][-1]:.2f}" + "~" * reader.overlap(base, record) +
                                (mark(record) or mark(base)))
                else:
                    line.append("")
            lines.append(line)
        most = max(map(len, values.values()))
        if most > 1:  # a mean over other rows than its neighbours' would mislead
            lines.append(["geometric mean" + (f" of {most}" if most < len(block.rows) else "")] + [""] * (len(head) - 1) + [
                f"{reader.geometric_mean(v):.2f}" if len(v) == most else "" for v in values.values()])
        vendors = [block.backend(c) for c in block.columns if block.backend(c) not in OURS]
        out += ["", "Speedup against " + (shown(name) if name != "vendor" else "the fastest of " * (len(vendors) > 1) +
                                          ", ".join(dict.fromkeys(map(shown, vendors)))) + ":", ""]
        out += reader.table_padded(head + [shown(c) for c in others], lines)
    return out + [""]


def plots(pyplot, block, against, prefix, ending, title):
    """Draws bars of speedup and of GB/s against the copy; the paths written."""
    wheel = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#222255", "#994f00", "#88ccaa",
             "#ddaa77", "#7755cc", "#555555", "#cc99cc", "#aacc22"]
    paint = {column: wheel[i % len(wheel)] for i, column in enumerate(block.columns)}
    paths = []

    def bars(name, columns, value, text, mark, note, span, hazy):
        places = {row: [c for c in columns if value(row, c) is not None] for row in block.rows}
        height = 1.6 + 0.24 * sum(map(len, places.values())) + 0.12 * len(places)
        figure, axes = pyplot.subplots(figsize=(10, max(3.0, height)), layout="constrained")
        at, ticks = 0.0, []
        for row, present in places.items():
            first = at
            for column in present:
                number = value(row, column)
                pale = hazy(row, column)
                axes.barh(at, number, 0.9, color=paint[column], alpha=0.45 if pale else 1)
                low, high = span(row, column)
                high = min(high, 2 * number) if high > 0 else 2 * number  # quartiles of much noise may lie at no time
                axes.hlines(at, low, high, color="black", linewidth=1)
                axes.annotate(text(number) + "~" * pale, (max(number, high), at), (4, 0), textcoords="offset points", va="center", fontsize=10,
                              bbox={"boxstyle": "square,pad=0.1", "color": "white"})
                at += 1
            ticks.append(((first + at - 1) / 2, row))
            at += 0.7
        axes.set_yticks([place for place, _ in ticks], [row for _, row in ticks], fontsize=11)
        axes.invert_yaxis()
        axes.margins(x=0.12, y=0.02)
        axes.set_xlim(left=0)
        if mark is not None:
            axes.axvline(mark, color="black", linewidth=1.2, linestyle="--")
        axes.set_title((title or f"{block.op} {block.type}, {block.device}") + "\n" + note, fontsize=12)
        axes.tick_params(axis="x", labelsize=10)
        reader.frame_open(axes)
        reader.legend_below(pyplot, axes, {shown(c): paint[c] for c in columns}, 11, min(len(columns), 6), 0.5 / max(3.0, height))
        path = f"{prefix}-{reader.name_of_file(block.op)}-{name}{ending}"
        reader.picture_write(pyplot, figure, path, 120)
        paths.append(path)

    def speedup(row, column):
        base, record = block.base(row, against), block.table.get((row, column))
        return base["median_ms"] / record["median_ms"] if base and record else None

    def speedup_span(row, column):
        (base_low, base_high), (low, high) = map(reader.quartiles, (block.base(row, against), block.table[row, column]))
        return max(base_low, 0) / high, base_high / low if low > 0 else 0

    def unclear(row, column):
        return reader.overlap(block.base(row, against), block.table[row, column])

    def gbps(row, column):
        return block.table[row, column]["gbps"] if (row, column) in block.table else None

    def gbps_span(row, column):
        record = block.table[row, column]
        low, high = reader.quartiles(record)
        work = record["gbps"] * record["median_ms"]
        return work / high, work / low if low > 0 else 0

    def noisy(row, column):
        return block.table[row, column].get("noise", 0) > reader.NOISE_MAX
    others, spans = block.speedups(against), "" if not block.spread else "; black: from quartile to quartile; pale, ~: within the noise"
    if others:
        bars("speedup", others, speedup, lambda number: f"{number:.2f}x", 1,
             f"speedup against {'the fastest vendor' if against == 'vendor' else shown(against)}{block.clock}\n(dashed: as fast{spans})", speedup_span, unclear)
    copy = block.copy()
    past = copy and any(record["gbps"] > copy for record in block.table.values())
    bars("roof", block.columns, gbps, lambda number: four_digits(float(f"{number:.3g}")), copy,
         f"GB/s of the least traffic possible{block.clock}" + (f" (dashed: copies, {copy:.4g} GB/s)" if copy else "") +
         ("\nBars past it: caches hold what is read again; copies are of arrays that no cache holds." if past else "") +
         ("\n(black: from quartile to quartile; pale, ~: noisy)" if spans else ""), gbps_span, noisy)
    return paths


def page(pyplot, all_blocks, arguments, against):
    """Markdown of every block, with its plots."""
    lines = []
    for block in all_blocks:
        lines += tables(block, against)
        if pyplot:
            several = len({(b.type, b.device) for b in all_blocks if b.op == block.op}) > 1
            prefix, ending = reader.prefix_split(arguments.plot)
            if several:
                same = [b for b in all_blocks if (b.op, b.type) == (block.op, block.type)]
                prefix += f"-{reader.name_of_file(block.type)}" + (f"-{same.index(block)}" if len(same) > 1 else "")
            for path in plots(pyplot, block, against[0], prefix, ending, arguments.title):
                folder = os.path.dirname(os.path.abspath(arguments.output)) if arguments.output else os.getcwd()
                lines += [f"![{block.op}]({os.path.relpath(path, folder)})", ""]
    return "\n".join(lines) + "\n"


def known(wanted, there, what):
    """Fails at a word that is among none of `there`, {name: what it may be called}."""
    for word in wanted or []:
        if there and not any(word in names for names in there.values()):
            raise Failed(f"no {what} \"{word}\" in these records; there are: {', '.join(there)}")


def main():
    parser = reader.Options(__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--op", type=lambda text: text.split(","))
    parser.add_argument("--columns", type=lambda text: text.split(","))
    parser.add_argument("--against")
    parser.add_argument("--clock", default="device", choices=("device", "host"))
    parser.add_argument("-o", "--output")
    parser.add_argument("--plot")
    parser.add_argument("--title")
    arguments = parser.parse_args()
    reader.outputs_check(arguments.files, output=arguments.output)
    pyplot = reader.pyplot_get() if arguments.plot else None
    records = read(arguments.files)
    known(arguments.op, {r["op"]: {r["op"]} for r in records}, "operation")
    records = [r for r in records if not arguments.op or r["op"] in arguments.op]
    if arguments.clock == "host":
        records = list(map(by_host, records))
    parts = blocks(records)
    if arguments.columns:
        whole = [(b, c) for b in (Block(*part) for part in parts.items()) for c in [*b.columns, *(c for _, c in b.notes)]]
        known(arguments.columns, {c: b.names(c) for b, c in whole}, "column")
    all_blocks = [b for b in (Block(key, part, arguments.columns) for key, part in parts.items()) if b.rows]
    if not all_blocks:
        raise Failed("no verified record in " + " ".join(arguments.files))
    against = [arguments.against] if arguments.against else ["ref", "vendor"]
    if arguments.against and not any(b.speedups(arguments.against) for b in all_blocks):
        raise Failed(f"no column \"{arguments.against}\" to compare with; there are: " +
                     ", ".join(dict.fromkeys(c for b in all_blocks for c in b.columns)))
    reader.write(arguments.output, page(pyplot, all_blocks, arguments, against))


reader.end("table.py", main)
