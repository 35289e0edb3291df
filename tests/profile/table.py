#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""table.py PROFILE_TABLE: the tables of made-up records: a GPU with the pair for study, cuSPARSE whose transfers have no
times of the device, what was skipped and what failed, and a second device. Output is TAP."""
import itertools
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok  # noqa: E402

TABLE = sys.argv[1]


def stat(*samples):
    middle = sorted(samples)[len(samples) // 2]
    return {"samples": list(samples), "min": min(samples), "median": middle, "max": max(samples), "noise": 0.02}


def run(backend, algo, write, kernel, read, whole, device=0, timed=True, **more):
    phases = [{"name": name, "ms": stat(*ms), **({"device_ms": stat(*ms)} if timed or name == "kernel" else {})}
              for name, ms in (("kernel", kernel), ("write", write), ("read", read))]
    return {"matrix": "cage11", "nnz": 559722, "type": "f64", "op": "spmv", "backend": backend, "algo": algo,
            "device": device, "verified": True, "reps": 3, "end_to_end_ms": stat(*whole), "phases": phases,
            "bytes": {"write": 7185276, "read": 313464, "write_min": 7185276, "read_min": 313456}, **more}


def record(folder, name, runs):
    ceilings = {"copy_gbps": 4300.4, "triad_gbps": 4100, "launch_us": stat(9, 8, 10)}
    document = {"schema": "weft-profile-1", "command": "weft-bench --profile", "date": "2026-11-21T00:00:00Z", "version": "0",
                "devices": [{"name": "NVIDIA H200", "driver": "580.1", "ceilings": ceilings}, {"name": "host"}], "runs": runs}
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    return path


def tables(*paths):
    got = subprocess.run([sys.executable, TABLE, *paths], text=True, timeout=60, check=False, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    ok(got.returncode == 0 and not got.stderr, "tables are made", got.stderr)
    return got.stdout.splitlines()


def main(folder):
    same = {"matrix": "boyd1", "type": "f64", "op": "spmv", "device": 0, "verified": False}
    lines = tables(record(folder, "a.json", [
        run("cusparse", "csr_alg1", (2, 2, 2), (.03, .03, .03), (.2, .2, .2), (4, 4, 4), timed=False),
        run("opencl", "csr_naive", (2, 2.2, 2.1), (.06, .05, .055), (.1, .1, .1), (2.5, 2.6, 2.7)),
        run("opencl", "csr_private", (2, 2, 2), (.04, .04, .04), (.1, .1, .1), (2.4, 2.4, 2.4)),
        {**same, "backend": "opencl", "algo": "ell", "skipped": "too wide"},
        {**same, "backend": "viennacl", "algo": "csr", "error": "out of device memory"},
        run("ref", "serial", (1, 1, 1), (2, 2, 2), (0, 0, 0), (3, 3, 3), device=1, bytes={"write": 0, "read": 0})]))
    for line in ["| cage11 | 559722 | cusparse csr_alg1 | 2 | 0.03 | 0.2 | 1.77 | 4 | 2 % |",
                 "| cage11 | 559722 | opencl csr_naive | 2.1 | 0.055 | 0.1 | 0.34 | 2.6 | 2 % |",
                 "| cage11 | cusparse csr_alg1 | 7185276 | 7185276 | 1 |",
                 "| cage11 | opencl csr_private | 313464 | 313456 | 1.000026 |",
                 "| cage11 | 0.055 | 0.04 | 27.3 % | 0.05 | 0.04 | 20.0 % | 2 % |",
                 "| cage11 | less | 4.8 % | 27.3 % | 0.0 % | 23.5 % | 7.7 % |",
                 "- boyd1, opencl ell: too wide",
                 "- boyd1, viennacl csr: out of device memory",
                 "**NVIDIA H200, driver 580.1, copy 4300 GB/s, triad 4100 GB/s, an empty kernel 9 us**", "**host**",
                 "| cage11 | 559722 | ref serial | 1 | 2 | 0 | 0 | 3 | 2 % |"]:
        ok(lines.count(line) == 1, line, "\n".join(lines))
    for figure in range(2, 7):
        ok(any(f"figure {figure})" in line for line in lines), f"figure {figure}")
    widths = [{line.count("|") for line in group} for is_row, group in itertools.groupby(lines, lambda line: line[:1] == "|")
              if is_row]
    ok(len(widths) == 6 and all(len(w) == 1 for w in widths), "six tables, each with as many cells in every row", widths)
    lines = tables(record(folder, "b.json", [run("opencl", "csr", (1, 1, 1), (1, 1, 1), (1, 1, 1), (4, 4, 4)),
                                             run("opencl", "csr", (1, 1, 1), (1, 1, 1), (1, 1, 1), (4, 4, 4), type="f32")]),
                   record(folder, "c.json", [run("opencl", "csr", (2, 2, 2), (2, 2, 2), (2, 2, 2), (8, 8, 8))]))
    ok(any(line.startswith("| cage11, f64 | 559722 | opencl csr | 2 |") for line in lines) and
       any(line.startswith("| cage11, f32 | 559722 | opencl csr | 1 |") for line in lines),
       "types are told apart, and the last file counts", "\n".join(lines))


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
sys.exit(done())
