#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""csr_fit.py: what the CSR schedules of a GPU cost, fitted to measured times, for the constants of host/src/spmv/cost.c.

usage: bench/lab/csr_fit.py RECORDS...                          such as docs/records/csr-costs.jsonl.gz
       bench/lab/csr_fit.py --join PART FIGURES TIMES...        makes records, on the standard output

Records have a line for each matrix and type: figures, microseconds of each schedule back to back, what cost.c expected, and a part,
`fit` or `held`. The fit takes part `fit` alone. It prints its constants, and for each part the regret of its costs and of those of
cost.c: the time of the schedule with the least cost by the best of the four. --join makes records of the lines of csr-figures and of `weft-bench -o spmv -b opencl -t f32,f64 -a
csr,csr_lanes,csr_merge,csr_flags,csr_scalar --json TIMES`, in microseconds, the least of a schedule's times.
Exit status: 0 done; 2 bad usage or files.
"""
import json
import math
import os
import re
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import reader  # noqa: E402
from reader import Failed  # noqa: E402

PARTS = ("fit", "held")
FIGURES = ("matrix", "m", "n", "nnz", "max_row", "empty", "far", "steps", "expected")  # and "single", not in older records
SCHEDULES = ("csr_lanes", "csr_scalar", "csr_merge", "csr_flags")
ALONE = {("csr_lanes", "f32"): 0.068, ("csr_lanes", "f64"): 0.125, ("csr_scalar", "f32"): 0.042, ("csr_scalar", "f64"): 0.065}
EMPTY_ALONE, TILE = 0.65e-3, 1024  # csr_flags: microseconds of an empty row, entries of a tile
COMMON = ("x", "x beyond the second cache", "memory")  # columns that all schedules share, so that they choose nothing


def far(line, lone=True):
    """As weft__spmv_x_near; lone: of a GPU, where rows side by side count, too."""
    taken = line["m"] - line["empty"]
    pairs = max(0, min(taken - line.get("single", 0), line["nnz"] - taken))
    return line["n"] * (8 if line["type"] == "f64" else 4) > 128 << 10 and \
        line["far"] > 512 * math.ceil(pairs / 32) and (not lone or line.get("lone", line["far"]) > 256 * math.ceil(pairs / 32))


def alone(line, name):
    """Microseconds of the longest row by itself, or of the empty rows that the group of a tile writes."""
    if name == "csr_flags":
        return EMPTY_ALONE * line["empty"] / math.ceil(max(line["nnz"], 1) / TILE)
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
            of["groups far"] = of["groups"] * x_far
    else:
        of.update({"rows": rows, "rows far": rows * x_far, "empty": empty, "entries": entries, "entries f64": entries * wide})
        if name == "csr_merge":
            of["entries shared"] = entries * (line["max_row"] >= 64)
    out = {f"{name} {k}": v for k, v in of.items()}
    size = 8 if wide else 4
    moved = line["nnz"] * (4 + size) + line["m"] * (4 + size)
    out.update(zip(COMMON, (entries * x_far, entries * (x_far and line["n"] * size > 25e6), max(0, moved - 30e6) * 1e-6)))
    return out


def fit(rows, counts=None):
    """The constants, none below zero, with the least squares of 1 - predicted / measured, times what a row counts: by coordinates in turn."""
    names = sorted({k for row, _ in rows for k in row})
    counts = counts or [1.0] * len(rows)
    columns = [[row.get(k, 0) / us * count for (row, us), count in zip(rows, counts)] for k in names]
    weights, left = [0.0] * len(names), list(counts)
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
    if name == "csr_scalar" and (line["nnz"] > (1 if far(line) else 6) * line["m"] or line["m"] < 2048 * 132):
        return math.inf
    work = sum(v * weights.get(k, 0) for k, v in features(line, name).items() if k not in COMMON)
    return max(weights.get(f"{name} launch", 0) + alone(line, name), work)


def expected_of(line):
    """{schedule: its cost by cost.c}; ValueError where a line has none."""
    try:
        costs = line["expected"][line["type"]]
        out = {name: costs[name][line["lanes"].bit_length() - 2] if name == "csr_lanes" else costs[name] for name in SCHEDULES}
    except (TypeError, KeyError, IndexError):
        raise ValueError("no expected costs of its type and lanes") from None
    if not all(value is None or reader.is_number(value) for value in out.values()):
        raise ValueError("expected costs are no numbers from 0 on")
    return {name: math.inf if value is None else value for name, value in out.items()}


def whole(line):
    """Raises ValueError where a line is none of RECORDS."""
    reader.check(line, FIGURES + ("type", "part", "us", "lanes"))
    steps, us = line["steps"], line["us"]
    if line["part"] not in PARTS or line["type"] not in ("f32", "f64") or line["lanes"] not in (2, 4, 8, 16, 32):
        raise ValueError("part, type or lanes is none that is known")
    if not isinstance(steps, list) or len(steps) != 6 or not all(map(reader.is_number, steps)) or not line["m"]:
        raise ValueError("steps are no six numbers, or there are no rows")
    if not all(reader.is_number(line[key]) for key in ("max_row", "empty", "far")):
        raise ValueError("max_row, empty or far is no number from 0 on")
    if not isinstance(us, dict) or not all(reader.is_number(us.get(name)) and us[name] for name in SCHEDULES):
        raise ValueError("us lacks a schedule's time")
    expected_of(line)


def join(part, figures, times):
    """Prints records."""
    if part not in PARTS:
        raise Failed("a part is " + " or ".join(PARTS))
    known = {line["matrix"]: line for line in reader.records([figures], lambda _: True, lambda _: FIGURES)}
    found = {}

    def wanted(row):
        return row.get("backend") == "opencl" and row.get("matrix") in known

    def needed(row):
        return ("type", "algo", "b2b_ms") + (("chosen",) if row.get("algo") == "csr_lanes" else ())
    for row in reader.records(times, wanted, needed):
        line = found.setdefault((row["matrix"], row["type"]), dict(known[row["matrix"]], type=row["type"], part=part, us={}))
        line["us"][row["algo"]] = round(min(line["us"].get(row["algo"], math.inf), row["b2b_ms"] * 1e3), 3)
        lanes = re.search(r"lanes=(\d+)", str(row.get("chosen")))
        if row["algo"] == "csr_lanes" and lanes:
            line["lanes"] = int(lanes[1])
    for line in found.values():
        print(json.dumps(line, separators=(",", ":")))


def regret_print(title, rows):
    """Prints the regret of rows, their first column; returns the rows, the worst first."""
    rows = sorted(rows, key=lambda row: -row[0])
    values = [row[0] for row in rows]
    print(f"\n{title}: {len(rows)} lines, regret median {statistics.median(values):.3f}, 95 % {values[len(values) // 20]:.3f}, "
          f"most {values[0]:.3f}")
    return rows


def records_read(paths, whole_of):
    """The lines of files, each of which whole_of takes or refuses by ValueError."""
    lines = []
    for path in paths:
        for number, line in reader.lines(path):
            try:
                whole_of(line)
            except ValueError as error:
                raise Failed(f"{path}:{number}: no record: {error}") from error
            lines.append(line)
    return lines


def judge(title, lines, costs_of):
    """Prints the regret of lines by these costs, and the three worst."""
    rows = []
    for line in lines:
        costs = costs_of(line)
        chosen = min(SCHEDULES, key=costs.get)
        best = min(SCHEDULES, key=lambda name: line["us"][name])
        rows.append((line["us"][chosen] / line["us"][best], line, chosen, best))
    for value, line, chosen, best in regret_print(title, rows)[:3]:
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
    lines = records_read(words, whole)
    parts = {part: [line for line in lines if line["part"] == part] for part in PARTS}
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
            judge(part + ", costs of this fit", of, lambda line: {name: cost(line, name, weights) for name in SCHEDULES})
            judge(part + ", costs of cost.c", of, expected_of)
    return 0


if __name__ == "__main__":
    reader.end("csr_fit.py", main)
