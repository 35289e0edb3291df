#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables and plots of a study of permutations: records that weft-bench --study permute --json has written.

usage: bench/lab/permute_plots.py [options] FILE...
  -o, --output FILE  Markdown to FILE instead of the standard output
  --quantile Q       of the trials, for the summary (default 0.5; 0.75 on a machine that others use too, since their work
                     only makes trials slower)
  --brief            of the tables only the summary and H
  --plot PREFIX      PREFIX-MATRIX-TYPE-box.png and -histogram.png as well (needs matplotlib); PREFIX ends in .svg: SVG
  --matrix LIST      only these matrices
  --type LIST        only these types
  --device INDEX     of the devices only this one (and the host)
  --kernels LIST     only these, in this order: "ref coo", "omp csr_rows", "opencl csr_merge" ...

Prints Markdown: what ran where; for each type a summary, a row a kernel and a column an order: the geometric mean over
the matrices of the median GFLOP/s (--quantile) of the order over that of the regular matrix, and on how many matrices it was faster
(slower) by more than 5 % and by more than the spread of the trials (down to the quarter below); H of each matrix and order; then for each
matrix and type a table as in the paper: GFLOP/s, mean of the trials (least to most). Of several records with one
matrix, type, kernel and order the last one counts; one that is not verified has its reason below the table.
"""
import sys

sys.dont_write_bytecode = True
import reader  # noqa: E402
from reader import Failed  # noqa: E402

ORDERS = reader.ORDERS + reader.SHUFFLES
COLOURS = ["#555555", "#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677", "#aa3377", "#bbbbbb", "#000000"]
CLEAR = 0.05  # less than this is no difference


def choose(records, arguments):
    def wanted(record):
        return ((not arguments.matrix or record["matrix"] in arguments.matrix.split(",")) and
                (not arguments.type or record["type"] in arguments.type.split(",")) and
                (arguments.device is None or record.get("device_index", arguments.device) == arguments.device))
    records = [r for r in records if wanted(r)]
    devices = {r["device_index"] for r in records if "device_index" in r}
    for record in records:
        record["kernel"] = f"{record['backend']} {record['algo']}"
        if len(devices) > 1 and "device_index" in record:
            record["kernel"] += f" ({record['device_index']})"
    if arguments.kernels:
        records = [r for r in records if r["kernel"] in arguments.kernels.split(",")]
    if not records:
        raise Failed("no record is left of what was asked for")
    return {(r["matrix"], r["type"], r["kernel"], r["order"]): r for r in records}


def present(table, place):
    """What stands at `place` of the keys, in the order of the records."""
    return list(dict.fromkeys(key[place] for key in table))


def quantile(values, q):
    """Between the sorted values, linear."""
    at = q * (len(values) - 1)
    values, low = sorted(values), int(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def change(record, regular, q):
    """Quantile over that of the regular order, and 1, -1 or 0: faster, slower, or neither clearly."""
    ratio = quantile(record["gflops"], q) / quantile(regular["gflops"], q)
    if ratio > 1 + CLEAR and quantile(record["gflops"], q - 0.25) > quantile(regular["gflops"], q):
        return ratio, 1
    return ratio, -1 if ratio < 1 / (1 + CLEAR) and quantile(record["gflops"], q) < quantile(regular["gflops"], q - 0.25) else 0


def measured(record):
    return record is not None and record["verified"] and min(record["gflops"]) > 0


def summary(table, kind, q):
    orders = [o for o in ORDERS[1:] if o in present(table, 3)]
    rows = []
    for kernel in present(table, 2):
        cells = [kernel]
        for order in orders:
            ratios, faster, slower = [], 0, 0
            for matrix in present(table, 0):
                records = table.get((matrix, kind, kernel, order)), table.get((matrix, kind, kernel, "regular"))
                if all(map(measured, records)):
                    ratio, sign = change(*records, q)
                    ratios.append(ratio)
                    faster, slower = faster + (sign > 0), slower + (sign < 0)
            cells.append(f"{reader.geometric_mean(ratios):.3f} ({faster} up, {slower} down of {len(ratios)})" if ratios else "")
        rows.append(cells)
    return ["", f"### {kind}: GFLOP/s of an order over those of the regular matrix", "",
            *reader.table(["kernel", *orders], rows)]


def entropies(table):
    orders = [o for o in ORDERS if o in present(table, 3)]
    found = {(key[0], key[3]): r for key, r in table.items()}
    rows = []
    for matrix in present(table, 0):
        cells = [matrix]
        for order in orders:
            r = found.get((matrix, order))
            text = f"{r['entropy_mean']:.3f}" if r else ""
            if r and f"{r['entropy_min']:.3f}" != f"{r['entropy_max']:.3f}":
                text += f" ({r['entropy_min']:.3f} to {r['entropy_max']:.3f})"
            cells.append(text)
        rows.append(cells)
    return ["", "### H, mean of the trials (least to most where they differ)", "", *reader.table(["matrix", *orders], rows)]


def block(table, matrix, kind):
    """The table of one matrix and type."""
    mine = {key[2:]: r for key, r in table.items() if key[:2] == (matrix, kind)}
    if not mine:
        return []
    first = next(iter(mine.values()))
    orders = [o for o in ORDERS if any(key[1] == o for key in mine)]
    rows, notes = [], []
    for kernel in dict.fromkeys(key[0] for key in mine):
        cells = [kernel]
        for order in orders:
            r = mine.get((kernel, order))
            if measured(r):
                cells.append(f"{r['gflops_mean']:.3f} ({r['gflops_min']:.3f} to {r['gflops_max']:.3f})")
            else:
                cells.append("")
                if r:
                    notes += ["", f"{kernel}, {order}: {r.get('error', r.get('skipped', 'no time'))}"]
        rows.append(cells)
    return ["", f"### {matrix}, {kind}: {first['m']} x {first['n']}, {first['nnz']} entries; {first['trials']} trials of "
            f"{first['trial_s']} s, seeds from {first['seed']}", "", *reader.table(["GFLOP/s", *orders], rows), *notes]


def markdown(table, brief, q):
    where = dict.fromkeys((r["device"], r.get("driver", ""), r["version"], r["date"][:10], r["command"])
                          for r in table.values())
    out = []
    for device, driver, version, date, command in where:
        out += [f"{device}{', driver ' + driver if driver else ''}, {version}, {date}: `{command}`", ""]
    for kind in present(table, 1):
        out += summary(table, kind, q)
    out += entropies(table)
    for matrix in present(table, 0) if not brief else []:
        for kind in present(table, 1):
            out += block(table, matrix, kind)
    return "\n".join(out) + "\n"


# ---- plots -------------------------------------------------------------------------------------------------------

def figure_of(pyplot, mine, kernels, draw, title, path):
    """One subplot for each kernel."""
    across = min(4, len(kernels))
    down = -(-len(kernels) // across)
    figure, axes = pyplot.subplots(down, across, figsize=(2.6 + 2.9 * across, 1.2 + 2.5 * down), squeeze=False,
                                   layout="constrained")
    for place, kernel in enumerate(kernels):
        ax = axes[place // across][place % across]
        series = {o: mine[kernel, o]["gflops"] for o in ORDERS if measured(mine.get((kernel, o)))}
        draw(ax, series)
        ax.set_title(kernel, fontsize=11)
        ax.tick_params(labelsize=9)
        reader.frame_open(ax)
    for place in range(len(kernels), down * across):
        axes[place // across][place % across].axis("off")
    figure.suptitle(title, fontsize=13)
    orders = [o for o in ORDERS if any(key[1] == o for key in mine)]
    reader.legend_below(pyplot, figure, dict(zip(orders, [COLOURS[ORDERS.index(o)] for o in orders])), 10, len(orders))
    reader.picture_write(pyplot, figure, path, 100)
    return path


def plots(pyplot, table, prefix):
    """Draws boxes and histograms for each matrix and type; the paths written."""
    prefix, ending = reader.prefix_split(prefix)
    paths = []

    def boxes(ax, series):
        drawn = ax.boxplot(list(series.values()), patch_artist=True, widths=0.7, whis=(0, 100),
                           medianprops={"color": "black"})
        for patch, order in zip(drawn["boxes"], series):
            patch.set_facecolor(COLOURS[ORDERS.index(order)])
        ax.set_xticks([])
        ax.set_ylim(bottom=0)
        ax.set_ylabel("GFLOP/s", fontsize=9)

    def histograms(ax, series):  # one above the other
        low, high = min(map(min, series.values())), max(map(max, series.values()))
        width = (high - low or 1) / 40
        for place, (order, values) in enumerate(series.items()):
            counts = [0] * 40
            for value in values:
                counts[min(39, int((value - low) / width))] += 1
            ax.bar([low + (i + 0.5) * width for i in range(40)], [0.9 * c / max(counts) for c in counts], width,
                   bottom=-place, color=COLOURS[ORDERS.index(order)])
            ax.axhline(-place, color="#cccccc", linewidth=0.6, zorder=0)
        ax.set_yticks([])
        ax.set_xlabel("GFLOP/s", fontsize=9)
    for matrix in present(table, 0):
        for kind in present(table, 1):
            mine = {key[2:]: r for key, r in table.items() if key[:2] == (matrix, kind)}
            kernels = [k for k in dict.fromkeys(key[0] for key in mine)
                       if any(measured(r) for key, r in mine.items() if key[0] == k)]
            if not kernels:
                continue
            name = f"{prefix}-{reader.name_of_file(matrix)}-{reader.name_of_file(kind)}"
            trials = next(iter(mine.values()))["trials"]
            paths.append(figure_of(pyplot, mine, kernels, boxes, f"{matrix}, {kind}: {trials} trials of each order",
                                   f"{name}-box{ending}"))
            paths.append(figure_of(pyplot, mine, kernels, histograms, f"{matrix}, {kind}: {trials} trials of each order",
                                   f"{name}-histogram{ending}"))
    return paths


def main():
    parser = reader.Options(__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("-o", "--output")
    parser.add_argument("--quantile", type=float, default=0.5)
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--plot")
    parser.add_argument("--matrix")
    parser.add_argument("--type")
    parser.add_argument("--device", type=int)
    parser.add_argument("--kernels")
    arguments = parser.parse_args()
    if not 0.25 <= arguments.quantile <= 1:
        raise Failed("--quantile is not a number from 0.25 to 1")
    reader.outputs_check(arguments.files, output=arguments.output)
    pyplot = reader.pyplot_get() if arguments.plot else None
    records = reader.studies(arguments.files)
    if not records:
        raise Failed("there is no record of a study of permutations")
    table = choose(records, arguments)
    reader.write(arguments.output, markdown(table, arguments.brief, arguments.quantile))
    if pyplot:
        for path in plots(pyplot, table, arguments.plot):
            print(path, file=sys.stderr)


if __name__ == "__main__":
    reader.end("permute_plots.py", main)
