#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cpu_fit.py: what products and conversions cost on a CPU, fitted to measured times, for the constants of host/src/spmv/cost_cpu.c.

usage: bench/lab/cpu_fit.py [options] RECORDS...          such as docs/records/cpu-costs.jsonl.gz
       bench/lab/cpu_fit.py --join FIGURES TIMES...       makes records, on the standard output
  --cores N        cores that ran (default: 2)
  --vector N       floats of the processor's vectors, 8 or 16, or intel: 16 by Intel; what it learns and what repays differ (default: 16)
  --cache BYTES    beyond which a matrix comes from memory (default: 33554432)

Records have a line for each matrix and type: figures, and for csr, sell, sell16, sdia and hyb the milliseconds of a product back to
back and of the conversion. The fit takes the patterns that bench/lab/population does not hold out. It prints nanoseconds of one of
the cores, microseconds of a launch, and how wrong they are. Then it prints for 1000 and 100 products the regret of choices, of both
parts: the time of a conversion and the products by that of the best. One choice has the least of the fitted times, the other is
what saves most by cost_cpu.c, where the figures tell.
--join makes records of the lines of csr-figures and of those that population leaves (--out).
Exit status: 0 done; 2 bad usage or files.
"""
import argparse
import json
import math
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import reader  # noqa: E402
from csr_fit import far, fit, records_read, regret_print  # noqa: E402
from reader import Failed, held_out  # noqa: E402

FIGURES = ("matrix", "m", "n", "nnz", "max_row", "empty", "far", "changes", "padding")
TOLD = ("windows", "heaviest", "hyb", "repays")  # what figures may hold besides
FORMATS = ("csr", "sell", "sell16", "sdia", "hyb")
SDIA_PADDING = 1.5
# As in cost_cpu.c, by floats of a vector: entries and rows of a core that are learned, bytes of x that cost nothing more, and the gain.
LEARNED = {"8": 1.5e4, "16": 1.2e5, "intel": 3e4}
CACHED = {"8": 256 << 10, "16": 32 << 10, "intel": 1 << 20}
GAIN = {"8": 0.96, "16": 0.95, "intel": 0.95}
LEARNED_POW, LEARNED_ROW, X_LARGE, LOOPS_ROW, HYB_COLUMNS = 1.5, 12, 2 << 20, 64, 64
ROUNDS, CLOSE = 5, 0.05  # of the fit; parts of a time within which a row counts fully
HEAVY = 0.35  # of all elements: where one work-item has more, it decides, and nothing is fitted


def features(line, name):
    """{quantity: millions of it, or launches} of a product."""
    vector, size = line["vector"], 8 if line["type"] == "f64" else 4
    entries, rows, x = line["nnz"] * 1e-6, line["m"] * 1e-6, line["n"] * size
    if name == "hyb":  # of its ELL part, which has so many columns; rest is added
        columns, rest, rest_rows = line["hyb"]
        padding = columns * line["m"] / max(line["nnz"], 1)
    else:
        padding = 1 if name in ("csr", "sdia") else line.get("windows", line["padding"])
    x_far = far(line, lone=False) and x > CACHED[vector]
    memory = line["nnz"] * padding * (2 if name == "sell16" else 4 + size) > line["cache"]
    streamed = min(1, max(0, 4 * line["nnz"] * (4 + size) / line["cache"] - 1))
    of = {"launch": line["cores"] * 1e-3, "row": rows, "element from memory" if memory else "element": entries * padding}
    if name == "csr":
        mean = line["nnz"] / max(line["m"], 1)
        load = max(1, mean / LEARNED_ROW) * (line["nnz"] + line["m"]) / line["cores"] / LEARNED[vector]
        changes = line["changes"] * 1e-6 * min(1, load ** LEARNED_POW)
        of.update({"change": changes, "change of loops": changes * (line["max_row"] >= LOOPS_ROW > mean),
                   "taken": (line["m"] - line["empty"]) * 1e-6, "far": entries * x_far})
    elif name != "sdia":
        of.update({"far": entries * (x_far and x <= X_LARGE), "far, large": entries * (x_far and x > X_LARGE)})
    if name == "hyb":
        of.update({"rest": rest * 1e-6, "row of the rest": rest_rows * 1e-6})
    of["far, streamed"] = entries * x_far * streamed if name != "sdia" else 0
    of["far from memory"] = entries * (x_far and x > line["cache"] / 2)
    return {f"{name} {line['type']} {key}": value for key, value in of.items()}


def features_convert(line, name):
    padding = 1 if name in ("sdia", "hyb") else line.get("windows", line["padding"])
    of = {"launches": line["cores"] * 1e-3, "element": line["nnz"] * 1e-6 * padding, "row": line["m"] * 1e-6}
    return {f"convert {name} {line['type']} {key}": value for key, value in of.items()}


def price(of, weights):
    return sum(value * weights.get(key, 0) for key, value in of.items())


def tells(line, name):
    """Whether a time tells of these costs: CSR may walk entries where rows hold few, one work-item may decide."""
    if name == "csr":
        return line["nnz"] >= 2 * line["m"]
    if name == "hyb":
        return 0 < line.get("hyb", (0,))[0] <= HYB_COLUMNS
    return name == "sdia" or line.get("heaviest", 0) <= HEAVY


def fit_most(rows):
    """As fit(), but a row that is far off counts less: kernels differ in more than these quantities, and times have noise."""
    counts = [1.0] * len(rows)
    for _ in range(ROUNDS):
        weights = fit(rows, counts)
        counts = [min(1, math.sqrt(CLOSE / max(abs(1 - price(of, weights) / ms), 1e-9))) for of, ms in rows]
    return weights


def chosen(line, products, weights):
    """By the least of the fitted times."""
    csr = price(features(line, "csr"), weights)
    costs = {"csr": products * csr}
    for name in FORMATS[1:]:
        if name not in line["ms"] or not tells(line, name):
            continue
        run = price(features(line, name), weights)
        if run <= GAIN[line["vector"]] * csr:
            costs[name] = products * run + price(features_convert(line, name), weights)
    return min(costs, key=costs.get)


def repaying(line, products, _):
    """What saves most by cost_cpu.c."""
    return next((name for name in line["repays"][line["vector"]][line["type"]][products < 1000] if name in line["ms"]), "csr")


def judge(title, lines, products, choice, weights=None):
    rows = []
    for line in lines:
        times = {name: ms[0] * products + ms[1] for name, ms in line["ms"].items()}
        mine = choice(line, products, weights)
        best = min(times, key=times.get)
        rows.append((times[mine] / times[best], line, mine, best))
    for value, line, mine, best in regret_print(f"{title}, {products} products", rows)[:4]:
        print(f"  {value:.2f} {line['matrix']} {line['type']}: {mine} {line['ms'][mine]}, {best} {line['ms'][best]}")


def join(figures, times):
    """Prints records."""
    known = {line["matrix"]: line for line in reader.records([figures], lambda _: True, lambda _: FIGURES)}
    found = {}

    def wanted(row):
        return (row.get("backend") == "opencl" and row.get("op") == "spmv" and row.get("algo") in FORMATS and
                row.get("matrix") in known and row.get("products", 0) >= 1000)
    for row in reader.records(times, wanted, lambda _: ("type", "algo", "b2b_ms")):
        part = "held" if held_out(row["matrix"]) else "fit"
        of = {key: value for key, value in known[row["matrix"]].items() if key in FIGURES + TOLD}
        line = found.setdefault((row["matrix"], row["type"]), dict(of, type=row["type"], part=part, ms={}))
        name = row["algo"]
        size = 8 if row["type"] == "f64" else 4
        if name != "csr" and row.get("chosen", name) != name:
            continue  # handed over to another format
        if name == "sdia" and row.get("format_bytes", 0) > SDIA_PADDING * (size + 0.25) * row["nnz"]:
            continue  # which auto does not take
        best = line["ms"].get(name, [math.inf, math.inf])
        line["ms"][name] = [min(best[0], round(row["b2b_ms"], 6)), min(best[1], round(row.get("convert_ms", 0), 4))]
    for line in found.values():
        if "csr" in line["ms"]:
            print(json.dumps(line, separators=(",", ":")))


def whole(line):
    """Raises ValueError where a line is none of RECORDS."""
    reader.check(line, FIGURES + ("type", "part", "ms"))
    if line["part"] not in ("fit", "held") or line["type"] not in ("f32", "f64"):
        raise ValueError("part or type is none that is known")
    if not all(reader.is_number(line[key]) for key in FIGURES[1:]):
        raise ValueError("a figure is no number from 0 on")
    if not all(reader.is_number(line.get(key, 0)) for key in TOLD[:2]):
        raise ValueError("windows or heaviest is no number from 0 on")
    if "hyb" in line and not (isinstance(line["hyb"], list) and len(line["hyb"]) == 3 and all(map(reader.is_number, line["hyb"]))):
        raise ValueError("hyb is no list of three numbers from 0 on")
    if "repays" in line:
        try:
            lists = [names for vector in line["repays"] for names in line["repays"][vector][line["type"]]]
        except (KeyError, TypeError):
            raise ValueError("repays has no lists for vectors and types") from None
        whole_lists = all(isinstance(names, list) and set(names) <= set(FORMATS) for names in lists)
        if not {"8", "16"} <= set(line["repays"]) <= set(LEARNED) or len(lists) != 2 * len(line["repays"]) or not whole_lists:
            raise ValueError("repays has no lists of formats for 1000 and 100 products")
    ms = line["ms"]
    if not isinstance(ms, dict) or "csr" not in ms or not all(
            isinstance(pair, list) and len(pair) == 2 and all(map(reader.is_number, pair)) and pair[0] for pair in ms.values()):
        raise ValueError("ms lacks csr, or has no two numbers for a format")


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--join", action="store_true")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--vector", default="16")
    parser.add_argument("--cache", type=int, default=32 << 20)
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    if arguments.help or not arguments.files:
        print(__doc__.strip())
        return 0 if arguments.help else 2
    if arguments.join:
        if len(arguments.files) < 2:
            raise Failed("--join wants figures and times (--help explains)")
        join(arguments.files[0], arguments.files[1:])
        return 0
    if arguments.cores < 1 or arguments.vector not in LEARNED or arguments.cache < 1:
        raise Failed("--cores and --cache are numbers from 1 on, --vector is 8, 16 or intel")
    lines = records_read(arguments.files, whole)
    for line in lines:
        line.update(cores=arguments.cores, vector=arguments.vector, cache=arguments.cache)
    parts = {part: [line for line in lines if line["part"] == part] for part in ("fit", "held")}
    weights, misses = {}, []
    for name in FORMATS:
        for kind in ("f32", "f64"):
            of = [(line, line["ms"][name]) for line in parts["fit"] if line["type"] == kind and name in line["ms"]]
            runs = [(features(line, name), ms[0]) for line, ms in of if tells(line, name)]
            makes = [(features_convert(line, name), ms[1]) for line, ms in of if name != "csr" and ms[1]]
            for what, rows in (f"{name} {kind}", runs), (f"convert {name} {kind}", makes):
                if rows:
                    of_rows = fit_most(rows)
                    weights.update(of_rows)
                    for key, value in of_rows.items():
                        print(f"{key:34} {value * arguments.cores:.3g}")
                    wrong = sorted(abs(1 - price(row, of_rows) / ms) for row, ms in rows)
                    misses.append(f"{what}: {len(rows)} times, wrong by {wrong[len(wrong) // 2]:.2f} in the median, "
                                  f"{wrong[len(wrong) * 9 // 10]:.2f} in 90 %")
    if not weights:
        raise Failed("no line of part fit")
    print("\n" + "\n".join(misses))
    for part, of in parts.items():
        told = [line for line in of if line["vector"] in line.get("repays", {})]
        for products in (1000, 100):
            if of:
                judge(f"{part}, costs of this fit", of, products, chosen, weights)
            if told:
                judge(f"{part}, costs of cost_cpu.c", told, products, repaying)
    return 0


if __name__ == "__main__":
    reader.end("cpu_fit.py", main)
