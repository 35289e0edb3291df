#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nodes_fit.py: what csr_nodes saves of CSR on an H200, fitted to measured times, for the constants of host/src/spmv/cost_nodes.c.

usage: bench/lab/nodes_fit.py FIGURES TIMES...      docs/records/nodes-figures.jsonl.gz docs/records/h200-nodes.jsonl.gz

FIGURES are lines of csr-figures, TIMES lines of `weft-bench -o spmv -b opencl -t f32,f64 -a csr_lanes,csr_flags,csr_nodes --json`. For each
type it prints microseconds saved for each one that the columns left out take at full speed, those lost for a thousand nodes times the
share of entries far from the one before, the same without the second, and the errors: parts of CSR's time, root of the mean square.
Exit status: 0 done; 2 bad usage or files.
"""
import math
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import reader  # noqa: E402
from reader import Failed  # noqa: E402

FIGURES = ("matrix", "m", "n", "nnz", "max_row", "empty", "single", "far", "alike")
CSR = ("csr_lanes", "csr_flags")
BYTES = 32300.0 * 132  # of an H200, in a microsecond
MOST = 8               # rows of a node


def lanes(mean):
    """As weft__spmv_nodes_lanes, of a device that is full."""
    out = 2
    while out < 32 and 5 * out <= mean:
        out *= 2
    return out


def features(line, wide):
    """(microseconds of the columns left out, thousands of nodes times the share of far entries); None where nodes are not taken."""
    value = 8 if wide else 4
    us = (line["nnz"] * (4 + value) + line["m"] * 4 + (line["m"] + line["n"]) * value) / BYTES
    if line["nnz"] < 16 * line["m"] or us < 2.5 or line["max_row"] / (2 * lanes(line["nnz"] / line["m"])) * 0.5 > 3 + us:
        return None
    alike = min(line["alike"] / 1024 / math.ceil(line["m"] / 32), 1 - 1 / MOST)
    taken = line["m"] - line["empty"]
    pairs = max(0, min(taken - line["single"], line["nnz"] - taken))
    far = min(line["far"] / 1024 / max(math.ceil(pairs / 32), 1), 1)
    return alike * 4 * line["nnz"] / BYTES, (1 - alike) * line["m"] * 1e-3 * far


def solve(rows, count):
    """Constants of the first `count` features, and the error, by least squares of parts of CSR's time; rows: (features, saved, csr)."""
    scaled = [([v / csr for v in of[:count]], saved / csr) for of, saved, csr in rows]
    a = [[sum(of[i] * of[j] for of, _ in scaled) for j in range(count)] for i in range(count)]
    b = [sum(of[i] * saved for of, saved in scaled) for i in range(count)]
    if count == 2:
        det = a[0][0] * a[1][1] - a[0][1] * a[1][0]
        out = [(b[0] * a[1][1] - b[1] * a[0][1]) / det, (a[0][0] * b[1] - a[1][0] * b[0]) / det] if det else [0.0, 0.0]
    else:
        out = [b[0] / a[0][0]]
    errors = [sum(w * v for w, v in zip(out, of)) - saved for of, saved in scaled]
    return out, math.sqrt(sum(e * e for e in errors) / len(errors))


def main():
    words = sys.argv[1:]
    if not words or words[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if words else 2
    if len(words) < 2:
        raise Failed("it wants figures and times (--help explains)")
    known = {line["matrix"]: line for line in reader.records(words[:1], lambda _: True, lambda _: FIGURES)}
    times = {}
    for row in reader.records(words[1:], lambda row: row.get("backend") == "opencl" and row.get("matrix") in known and
                              row.get("algo") in CSR + ("csr_nodes",), lambda _: ("type", "algo", "b2b_ms")):
        us = times.setdefault((row["matrix"], row["type"]), {})
        us[row["algo"]] = min(us.get(row["algo"], math.inf), row["b2b_ms"] * 1e3)
    for kind in ("f32", "f64"):
        rows = []
        for (matrix, of_kind), us in times.items():
            of = features(known[matrix], kind == "f64")
            csr = min((us[name] for name in CSR if name in us), default=0)
            if of_kind == kind and of and csr and "csr_nodes" in us and of[0]:
                rows.append((of, csr - us["csr_nodes"], csr))
        if not rows:
            raise Failed(f"no matrix in {kind} has figures, nodes and the times of both")
        (both, far), error = solve(rows, 2)
        (alone,), plain = solve(rows, 1)
        print(f"{kind}, {len(rows)} cases: {both:.3f} of the columns, {-far:.3f} us for 1000 far nodes, error {error:.3f}; "
              f"{alone:.3f} of the columns alone, error {plain:.3f}")
    return 0


if __name__ == "__main__":
    reader.end("nodes_fit.py", main)
