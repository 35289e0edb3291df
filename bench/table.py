#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables and plots of records that weft-bench --json has written.

usage: bench/table.py [options] FILE...
  --op NAME         only this operation (default: every one in the files, apart)
  --against NAME    column that speedups refer to (default ref)
  --plot PREFIX     PREFIX-OP-speedup.png and PREFIX-OP-roof.png as well (needs matplotlib); ends in .svg: SVG
  --title TEXT      of the plots (default: the device)

Prints Markdown: for each operation, type and device a table of median times, a row a matrix, a column a backend and
algorithm, and one of speedups. "~" marks a speedup that is unclear: the quartiles of the two times overlap.
"""
import argparse
import json
import sys

ORDER = ["ref", "omp", "opencl"]  # of columns; vendors and others follow


def read(paths):
    """Verified records of all files, oldest first."""
    records = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                try:
                    record = json.loads(line)
                except ValueError as error:
                    sys.exit(f"{path}:{number}: no JSON: {error}")
                if record.get("verified") and "tune" not in record:
                    records.append(record)
    return records


def blocks(records):
    """{(op, type, index, device): records}, with host records in the block of every device."""
    keys = sorted({(r["op"], r.get("type", ""), r.get("index", 0), r["device"]) for r in records if "device_index" in r})
    if not keys:
        keys = sorted({(r["op"], r.get("type", ""), r.get("index", 0), r["device"]) for r in records})
    return {key: [r for r in records if (r["op"], r.get("type", ""), r.get("index", 0)) == key[:3] and
                  (r["device"] == key[3] or "device_index" not in r)] for key in keys}


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


def cells(records):
    """Rows, columns and {(row, column): record}; a later record replaces an earlier one."""
    rows, columns, table = [], [], {}
    for record in records:
        row, column = record.get("matrix", record["op"]), label(record, records)
        row += ", " + record["algo"] if is_case(record) else ""
        rows += [row] if row not in rows else []
        columns += [(ORDER.index(record["backend"]) if record["backend"] in ORDER else len(ORDER), column)] \
            if column not in [c for _, c in columns] else []
        table[row, column] = record
    return rows, [column for _, column in sorted(columns, key=lambda c: c[0])], table


def four_digits(value):
    text = f"{value:.4g}"
    return f"{value:.0f}" if "e+" in text else text


def ratio(base, record):
    """Speedup of record over base, and whether the quartiles of the times part."""
    def quartiles(r):
        return r["median_ms"] * (1 - r["noise"] / 2), r["median_ms"] * (1 + r["noise"] / 2)
    (low, high), (base_low, base_high) = quartiles(record), quartiles(base)
    return base["median_ms"] / record["median_ms"], high < base_low or base_high < low


def markdown(head, rows):
    """Lines of a table whose columns line up."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    align = [":" + "-" * (widths[0] - 1)] + ["-" * (width - 1) + ":" for width in widths[1:]]
    pad = [[cell.ljust(widths[i]) if i == 0 else cell.rjust(widths[i]) for i, cell in enumerate(row)]
           for row in [head, align, *rows]]
    return ["| " + " | ".join(row) + " |" for row in pad]


def print_block(key, records, against):
    op, kind, index, device = key
    rows, columns, table = cells(records)
    sample = next((r for r in records if r["device"] == device), records[0])
    print(f"### {op}" + (f", {kind}, {index}-bit offsets" if kind else "") + f", {device}\n")
    print(f"weft {sample['version']}" + (f", driver {sample['driver']}" if "driver" in sample else "") +
          (f", copies {sample['copy_gbps']:.4g} GB/s" if "copy_gbps" in sample else "") +
          (f", {sample['date']}" if "date" in sample else "") +
          (f": `{sample['command']}`" if "command" in sample else "") + "\n")
    shape = op != "copy"

    def left(row):
        record = next(table[row, column] for column in columns if (row, column) in table)
        return [row, f"{record['nnz']:,}".replace(",", " ")] if shape else [row]
    head = ["matrix", "entries"] if shape else ["operation"]
    print("Median times in ms:\n")
    print(*markdown(head + columns, [left(row) + [
        four_digits(table[row, c]["median_ms"]) if (row, c) in table else "" for c in columns] for row in rows]), sep="\n")
    if against in columns and len(columns) > 1:
        others = [c for c in columns if c != against]
        lines = []
        for row in rows:
            line = left(row)
            for column in others:
                if (row, column) in table and (row, against) in table:
                    value, clear = ratio(table[row, against], table[row, column])
                    line.append(f"{value:.2f}" + ("" if clear else "~"))
                else:
                    line.append("")
            lines.append(line)
        print(f"\nSpeedup against {against}:\n")
        print(*markdown(head + others, lines), sep="\n")
    print()


def colours(columns):
    wheel = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#222255", "#994f00"]
    return {column: wheel[i % len(wheel)] for i, column in enumerate(columns)}


def plot(key, records, against, prefix, title):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    matplotlib.rcParams["svg.hashsalt"] = "weft"  # the same data, the same file
    op, kind, _, device = key
    prefix, ending = (prefix[:-4], ".svg") if prefix.endswith(".svg") else (prefix, ".png")
    rows, columns, table = cells(records)
    paint = colours(columns)
    height = 1.6 + 0.24 * sum((row, c) in table for row in rows for c in columns) + 0.12 * len(rows)
    paths = []

    def bars(name, shown, value, text, mark, note):
        figure, axes = pyplot.subplots(figsize=(10, max(3.0, height)), layout="constrained")
        at, ticks = 0.0, []
        for row in rows:
            first = at
            for column in [c for c in shown if (row, c) in table]:
                number = value(row, column)
                axes.barh(at, number, 0.9, color=paint[column])
                axes.annotate(text(number), (number, at), (4, 0), textcoords="offset points", va="center", fontsize=10,
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
        axes.set_title((title or f"{op} {kind}, {device}") + "\n" + note, fontsize=12)
        axes.tick_params(axis="x", labelsize=10)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        figure.legend(handles=[pyplot.Rectangle((0, 0), 1, 1, color=paint[c], label=c) for c in shown], fontsize=11,
                      loc="outside lower center", ncols=min(len(shown), 6), frameon=False)
        path = f"{prefix}-{op}-{name}{ending}"
        figure.savefig(path, dpi=120, metadata={"Date": None} if ending == ".svg" else None)
        pyplot.close(figure)
        paths.append(path)

    if against in columns and len(columns) > 1:
        bars("speedup", [c for c in columns if c != against],
             lambda row, c: ratio(table[row, against], table[row, c])[0] if (row, against) in table else 0,
             lambda number: f"{number:.2f}x", 1,
             f"speedup against {against} (dashed: as fast)")
    copies = [r["copy_gbps"] for r in records if r["device"] == device and "copy_gbps" in r]
    bars("roof", columns, lambda row, c: table[row, c]["gbps"], lambda number: four_digits(float(f"{number:.3g}")),
         copies[-1] if copies else None,
         "GB/s of the least traffic possible" + (f" (dashed: copies, {copies[-1]:.4g} GB/s)" if copies else ""))
    return paths


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0], add_help=True)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--op")
    parser.add_argument("--against", default="ref")
    parser.add_argument("--plot")
    parser.add_argument("--title")
    arguments = parser.parse_args()
    records = [r for r in read(arguments.files) if arguments.op in (None, r["op"])]
    if not records:
        sys.exit("no verified record in " + " ".join(arguments.files))
    for key, part in blocks(records).items():
        print_block(key, part, arguments.against)
        if arguments.plot:
            several = len({k[:2] for k in blocks(records) if k[0] == key[0]}) > 1
            prefix = arguments.plot
            if several:
                stem, dot, end = prefix.rpartition(".svg")
                prefix = (stem or prefix) + f"-{key[1]}" + ((dot + end) if stem else "")
            for path in plot(key, part, arguments.against, prefix, arguments.title):
                print("wrote", path, file=sys.stderr)


main()
