#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""csr_fit.py: what the CSR schedules of a GPU cost, fitted to measured times, for the constants of host/src/spmv/cost.c.

usage: bench/lab/csr_fit.py RECORDS...                          such as docs/records/csr-costs.jsonl.gz
       bench/lab/csr_fit.py --join PART FIGURES TIMES...        makes records, on the standard output

Records have a line for each matrix and type: figures, microseconds of each schedule back to back, and a part, `fit` or `held`. The
fit takes part `fit` alone. It prints its constants, and for each part the regret: the time of the schedule with the least cost by
the best of the four. --join makes records of the lines of csr-figures and of `weft-bench -o spmv -b opencl -t f32,f64 -a
csr,csr_lanes,csr_merge,csr_flags,csr_scalar --json TIMES`, in microseconds, the least of a schedule's times.
Exit status: 0 done; 2 bad usage or files.
"""
import json
import math
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import reader  # noqa: E402
from reader import Failed  # noqa: E402

SCHEDULES = ("csr_lanes", "csr_scalar", "csr_merge", "csr_flags")
ALONE = {("csr_lanes", "f32"): 0.068, ("csr_lanes", "f64"): 0.125, ("csr_scalar", "f32"): 0.042, ("csr_scalar", "f64"): 0.065}
TILE_ALONE, TILE = 0.65e-3, 1024  # csr_flags: microseconds of a row in a tile, entries of a tile
COMMON = ("x", "x beyond the second cache", "memory")  # columns that all schedules share, so that they choose nothing


def far(line):
    """As weft__spmv_x_near."""
    return line["n"] * (8 if line["type"] == "f64" else 4) > 128 << 10 and line["far"] > 512 * math.ceil(line["m"] / 32)


def alone(line, name):
    """Microseconds of the longest row or the emptiest tile by itself."""
    if name == "csr_flags":
        return TILE_ALONE * line["m"] / math.ceil(max(line["nnz"], 1) / TILE)
    lanes = line["lanes"] if name == "csr_lanes" else 1
    return line["max_row"] / lanes * ALONE.get((name, line["type"]), 0)


def features(line, name):
    """{column: its quantity} of a schedule's time."""
    wide, x_far = line["type"] == "f64", far(line)
    rows, entries, empty = line["m"] * 1e-6, line["nnz"] * 1e-6, line["empty"] * 1e-6
    of = {"launch": 1.0}
    if name in ("csr_lanes", "csr_scalar"):
        lanes = line["lanes"] if name == "csr_lanes" else 1
        steps = line["steps"][lanes.bit_length() - 1] * 1e-3
        of.update({"groups": math.ceil(line["m"] * lanes / 32) * 1e-3, "steps": steps, "steps f64": steps * wide})
        if name == "csr_lanes":
            of.update({"steps far": steps * x_far, "steps far f64": steps * x_far * wide})
    else:
        of.update({"rows": rows, "rows far": rows * x_far, "empty": empty, "entries": entries, "entries f64": entries * wide})
        if name == "csr_merge":
            of["entries shared"] = entries * (line["max_row"] >= 64)
    out = {f"{name} {k}": v for k, v in of.items()}
    size = 8 if wide else 4
    moved = line["nnz"] * (4 + size) + line["m"] * (4 + size)
    out.update(zip(COMMON, (entries * x_far, entries * (x_far and line["n"] * size > 25e6), max(0, moved - 30e6) * 1e-6)))
    return out


def fit(rows):
    """The constants, none below zero, with the least squares of 1 - predicted / measured: by coordinates in turn."""
    names = sorted({k for row, _ in rows for k in row})
    columns = [[row.get(k, 0) / us for row, us in rows] for k in names]
    weights, left = [0.0] * len(names), [1.0] * len(rows)
    norms = [sum(v * v for v in c) for c in columns]
    for _ in range(3000):
        moved = 0.0
        for j, column in enumerate(columns):
            if norms[j]:
                new = max(0.0, weights[j] + sum(a * b for a, b in zip(column, left)) / norms[j])
                step = new - weights[j]
                if step:
                    weights[j] = new
                    left = [b - step * a for a, b in zip(column, left)]
                    moved = max(moved, abs(step) * math.sqrt(norms[j]))
        if moved < 1e-6:
            break
    return dict(zip(names, weights))


def cost(line, name, weights):
    """As the functions of cost.c; infinite where a schedule is not to be taken."""
    if name == "csr_scalar" and (line["nnz"] > 3 * line["m"] or line["m"] < 2048 * 132 or far(line)):
        return math.inf
    work = sum(v * weights.get(k, 0) for k, v in features(line, name).items() if k not in COMMON)
    return max(weights.get(f"{name} launch", 0) + alone(line, name), work)


def join(part, figures, times):
    """Prints records."""
    known = {line["matrix"]: line for _, line in reader.lines(figures)}
    found = {}
    for path in times:
        for _, row in reader.lines(path):
            if row["backend"] != "opencl" or row["matrix"] not in known:
                continue
            line = found.setdefault((row["matrix"], row["type"]), dict(known[row["matrix"]], type=row["type"], part=part, us={}))
            line["us"][row["algo"]] = round(min(line["us"].get(row["algo"], math.inf), row["b2b_ms"] * 1e3), 3)
            if row["algo"] == "csr_lanes":
                line["lanes"] = int(row["chosen"].split("lanes=")[1])
    for line in found.values():
        print(json.dumps(line, separators=(",", ":")))


def judge(part, lines, weights):
    """Prints the regret of a part, and the three worst."""
    rows = []
    for line in lines:
        chosen = min(SCHEDULES, key=lambda name: cost(line, name, weights))
        best = min(SCHEDULES, key=lambda name: line["us"][name])
        rows.append((line["us"][chosen] / line["us"][best], line, chosen, best))
    rows.sort(key=lambda row: -row[0])
    values = [row[0] for row in rows]
    print(f"\n{part}: {len(rows)} lines, regret median {statistics.median(values):.3f}, 95 % {values[len(values) // 20]:.3f}, "
          f"most {values[0]:.3f}")
    for value, line, chosen, best in rows[:3]:
        print(f"  {value:.2f} {line['matrix']} {line['type']}: {chosen} {line['us'][chosen]:.1f} us, {best} {line['us'][best]:.1f}")


def main():
    words = sys.argv[1:]
    if not words or words[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if words else 2
    if words[0] == "--join":
        if len(words) < 4:
            raise Failed("--join wants a part, figures and times (--help explains)")
        join(words[1], words[2], words[3:])
        return 0
    lines = [line for path in words for _, line in reader.lines(path)]
    lines = [line for line in lines if all(name in line.get("us", {}) for name in SCHEDULES)]
    parts = {part: [line for line in lines if line["part"] == part] for part in ("fit", "held")}
    rows = []
    for line in parts["fit"]:
        for name in SCHEDULES:
            us = line["us"][name]
            if alone(line, name) <= 0.3 * us and not (name == "csr_scalar" and line["nnz"] > 4 * line["m"]):
                rows.append((features(line, name), us))
    if not rows:
        raise Failed("no line of part fit has the times of the four schedules")
    weights = fit(rows)
    for name, value in weights.items():
        print(f"{name:30} {value:.3g}")
    for part, of in parts.items():
        if of:
            judge(part, of, weights)
    return 0


if __name__ == "__main__":
    reader.end("csr_fit.py", main)
