#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cpu_fit.py: what products and conversions cost on a CPU, fitted to measured times, for the constants of host/src/spmv/cost_cpu.c.

usage: bench/lab/cpu_fit.py RECORDS...                    such as docs/records/cpu-costs.jsonl.gz
       bench/lab/cpu_fit.py --join FIGURES TIMES...       makes records, on the standard output

Records have a line for each matrix and type: figures, and for csr, sell, sell16 and sdia the milliseconds of a product back to back
and of the conversion. The fit takes the patterns that bench/lab/population does not hold out. It prints nanoseconds of one of the
--cores (default 2), and for 1000 and 100 products the regret of a choice by them, of both parts: the time of a conversion and the
products by the least of the four. --join makes records of the lines of csr-figures and of those that population leaves (--out).
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
FORMATS = ("csr", "sell", "sell16", "sdia")
CACHES = 8 << 20  # bytes of x beyond which it is read from memory
SDIA_PADDING = 1.5
GAIN, LAUNCH_MS, LEARNED, LEARNED_POW = 0.93, 0.005, 1.5e5, 1.5  # as in cost_cpu.c


def features(line, name):
    """{quantity: millions of it} of a product."""
    entries, rows = line["nnz"] * 1e-6, line["m"] * 1e-6
    padding = {"csr": 1, "sdia": 1}.get(name, line["padding"])
    of = {"element": entries * padding, "row": rows}
    if name == "csr":
        of["change"] = line["changes"] * 1e-6 * min(1, ((line["nnz"] + line["m"]) / line["cores"] / LEARNED) ** LEARNED_POW)
    size = 8 if line["type"] == "f64" else 4
    of["far"] = entries * far(line)
    of["far from memory"] = entries * (far(line) and line["n"] * size > CACHES)
    return {f"{name} {line['type']} {key}": value for key, value in of.items()}


def features_convert(line, name):
    of = {"fixed": 1e-6, "element": line["nnz"] * 1e-6 * (1 if name == "sdia" else line["padding"]), "row": line["m"] * 1e-6}
    return {f"convert {name} {line['type']} {key}": value for key, value in of.items()}


def price(of, weights):
    return sum(value * weights.get(key, 0) for key, value in of.items())


def chosen(line, products, weights):
    csr = price(features(line, "csr"), weights)
    costs = {"csr": products * csr}
    for name in FORMATS[1:]:
        run = price(features(line, name), weights)
        if name in line["ms"] and LAUNCH_MS + run <= GAIN * (LAUNCH_MS + csr):
            costs[name] = products * run + price(features_convert(line, name), weights)
    return min(costs, key=costs.get)


def judge(title, lines, products, weights):
    rows = []
    for line in lines:
        times = {name: ms[0] * products + ms[1] for name, ms in line["ms"].items()}
        mine = chosen(line, products, weights)
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
        line = found.setdefault((row["matrix"], row["type"]), dict(known[row["matrix"]], type=row["type"], part=part, ms={}))
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
    ms = line["ms"]
    if not isinstance(ms, dict) or "csr" not in ms or not all(
            isinstance(pair, list) and len(pair) == 2 and all(map(reader.is_number, pair)) and pair[0] for pair in ms.values()):
        raise ValueError("ms lacks csr, or has no two numbers for a format")


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--join", action="store_true")
    parser.add_argument("--cores", type=int, default=2)
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
    if arguments.cores < 1:
        raise Failed("--cores is a number from 1 on")
    lines = records_read(arguments.files, whole)
    for line in lines:
        line["cores"] = arguments.cores
    parts = {part: [line for line in lines if line["part"] == part] for part in ("fit", "held")}
    rows = [(features(line, name), ms[0]) for line in parts["fit"] for name, ms in line["ms"].items()]
    rows += [(features_convert(line, name), ms[1]) for line in parts["fit"] for name, ms in line["ms"].items() if name != "csr" and ms[1]]
    if not rows:
        raise Failed("no line of part fit")
    weights = fit(rows)
    for name, value in weights.items():
        print(f"{name:34} {value * arguments.cores:.3g}")
    for part, of in parts.items():
        for products in (1000, 100):
            if of:
                judge(part, of, products, weights)
    return 0


if __name__ == "__main__":
    reader.end("cpu_fit.py", main)
