#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""study.py WEFT_BENCH WEFT_BENCH_BAD: the study of permutations, its records and what it refuses; then the scripts that
make tables and coefficients of records. Output is TAP."""
import csv
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok, skip  # noqa: E402

BENCH, BAD = (os.path.abspath(path) for path in sys.argv[1:3])
SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "lab")
ORDERS = ["regular", "row", "row-gradient", "col-gradient", "row-col", "degree", "rcm"]
SHUFFLES = ["row-entries", "row-col-entries"]
FAST = ["--study", "permute", "--trials", "3", "--trial-time", "0.0002"]


def run(*args, **env):
    out = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         env={**os.environ, **env}, timeout=300, check=False)
    return out.returncode, out.stdout, out.stderr


def records(text):
    return [json.loads(line) for line in text.splitlines()]


def test_usage():
    for args, want in [(["--study", "fft"], "fft"), (["--trials", "3"], "want --study"), (["--orders", "row"], "want --study"),
                       (["--trial-time", "1"], "want --study"), (["--study", "permute", "--trials", "0"], "--trials"),
                       (["--study", "permute", "--trial-time", "0"], "--trial-time"),
                       (["--study", "permute", "--orders", "row,fast"], "rcm"), (["--study", "permute", "-t", "i32"], "i32"),
                       (["--study", "permute", "--reps", "3"], "--reps"), (["--study", "permute", "--sweep"], "--sweep"),
                       (["--study", "permute", "--tune"], "no --sweep, --tune"), (["--study", "permute", "--calls", "3"], "--calls"),
                       (["--study", "permute", "-o", "scan"], "no other --op"), (["-o", "spmv,copy", "--study", "permute"], "no other --op")]:
        code, _, err = run(BENCH, *args)
        ok(code == 2 and err.startswith("weft-bench: ") and err.count("\n") == 1 and want in err, "usage: " + " ".join(args),
           code, err)


def test_records(folder):
    table = os.path.join(folder, "s.csv")
    code, out, err = run(BENCH, *FAST, "--seed", "7", "--json", "-", "--csv", table, "-g", "power:60,50,700")
    found = records(out)
    ok(code == 0 and not err and all(r["verified"] for r in found if "skipped" not in r), "a study runs", err, out[:2000])
    ok({r["order"] for r in found} == set(ORDERS + SHUFFLES) and {r["type"] for r in found} == {"f32", "f64"},
       "every order, f32 and f64")
    kernels = {(r["backend"], r["algo"]) for r in found}
    ok({("ref", "csr"), ("ref", "coo"), ("omp", "csr_rows"), ("omp", "csr_nnz"), ("opencl", "csr_merge"), ("opencl", "coo"),
        ("opencl", "auto")} <= kernels, "the kernels of the paper and weft's", kernels)
    ok(len(found) == 2 * 9 * len(kernels), "a record for each")
    for r in found:
        if r["order"] == "regular" and r["algo"] == "csr" and r["backend"] == "ref":
            ok(r["trials"] == 3 and r["seeds"] == [7, 8, 9] and len(r["gflops"]) == 3 and len(r["entropy"]) == 3 and
               r["runs_min"] >= 1 and r["trial_s"] == 0.0002 and r["seed"] == 7, "trials, seeds and times are there", r)
        if "gflops" in r and not (0 < r["gflops_min"] <= r["gflops_mean"] <= r["gflops_max"] and
                                  abs(sum(r["gflops"]) / 3 - r["gflops_mean"]) < 1e-9 and
                                  min(r["gflops"]) == r["gflops_min"] and r["entropy_min"] <= r["entropy_max"]):
            ok(False, "min, max and mean are those of the trials", r)
    by_order = {r["order"]: r for r in found if r["algo"] == "coo" and r["backend"] == "ref" and r["type"] == "f32"}
    ok(len(set(by_order["regular"]["entropy"])) == 1 and len(set(by_order["row"]["entropy"])) == 3 and
       len(set(by_order["rcm"]["entropy"])) == 1, "random orders differ from trial to trial, the others do not", by_order)
    ok(all(len(set(by_order[o]["entropy"])) == 3 and by_order[o]["order_ms"] > 0 and "permute_ms" not in by_order[o]
           for o in SHUFFLES), "shuffled entries differ from trial to trial, and no device permutes them", by_order)
    ok(by_order["degree"]["surprises"] <= by_order["row"]["surprises"] and by_order["degree"]["waste"] <=
       by_order["row"]["waste"], "sorted rows surprise less and waste less")
    with open(table, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    ok(len(rows) == len(found) and all(row["order"] == r["order"] and ("gflops_mean" not in r or
                                       math.isclose(float(row["gflops_mean"]), r["gflops_mean"], rel_tol=1e-12)) and row["command"] == r["command"]
                                       for row, r in zip(rows, found)), "CSV says the same")
    again = {r["order"]: r["entropy"] for r in records(run(BENCH, *FAST, "-b", "ref", "-t", "f32", "--seed", "7", "--json", "-",
                                                           "-g", "power:60,50,700")[1])}
    ok(again == {order: r["entropy"] for order, r in by_order.items()}, "the same seed, the same orders", again)
    code, out, err = run(BENCH, *FAST, "-b", "ref", "-a", "coo", "--orders", "rcm", "-t", "pattern", "-g", "band:90,3")
    ok(code == 0 and not err and "study of permutations: 1 matrix x 1 type x 2 orders x 1 kernel x 3 trials" in out and
       re.search(r"^rcm ", out, re.M) and not re.search(r"^row ", out, re.M) and out.count("ref        coo") == 2 and
       max(map(len, out.splitlines())) <= 140, "the table, what it costs before, chosen kernels and orders", out, err)
    code, out, err = run(BENCH, *FAST, "-b", "ref", "-a", "coo,all", "--orders", "rcm,all", "-t", "pattern", "-g", "band:90,3")
    ok(code == 0 and not err and "x 9 orders x 2 kernels" in out and re.search(r"^row ", out, re.M),
       "all in a list of orders or kernels is all of them", out, err)
    code, out, err = run(BENCH, *FAST, "-b", "ref", "--json", "-", "-g", "uniform:0,0,0", "-g", "uniform:5,0,0",
                         "-g", "uniform:0,7,0", "-g", "uniform:1,1,1")
    ok(code == 0 and not err and len(records(out)) == 4 * 2 * 9 * 2, "empty matrices", err, out[-500:])
    big = 2**53 + 1  # no double
    code, out, err = run(BENCH, *FAST, "-b", "ref", "-a", "coo", "--orders", "rcm", "-t", "f32", "--seed", str(big), "--json", "-", "--csv", table,
                         "-g", "band:90,3")
    with open(table, newline="", encoding="utf-8") as file:
        seeds = {row["seed"] for row in csv.DictReader(file)}
    ok(code == 0 and all((r["seed"], r["seeds"]) == (big, [big, big + 1, big + 2]) for r in records(out)) and seeds == {str(big)},
       "seeds have all their digits", code, err, out[-500:], seeds)
    code, out, err = run(BENCH, *FAST, "-b", "ref", "/nonexistent.mtx")
    ok(code == 2 and "/nonexistent.mtx" in err, "no such file", code, err)


def test_wrong():
    code, out, err = run(BAD, *FAST, "-b", "bad", "-t", "f32", "--json", "-", "-g", "uniform:50,50,400")
    far = [r for r in records(out) if r["algo"] == "far"]
    ok(code == 1 and len(far) == 9 and all(not r["verified"] and "y[" in r["error"] and "gflops" not in r and
                                           "gflops_mean" not in r for r in far),
       "a wrong product is seen in every order, and no number of it is printed", code, err, *far[:1])
    near = [r for r in records(out) if r["algo"] == "near"]  # every product of this backend takes half a millisecond
    ok(len(near) == 9 and all(math.isclose(g, 2e-6 * r["nnz"] / 0.5, rel_tol=1e-12) for r in near
                              for g in (*r["gflops"], r["gflops_min"], r["gflops_mean"], r["gflops_max"])),
       "GFLOP/s are two operations for each entry in the time of a product", *near[:1])
    code, out, _ = run(BAD, *FAST, "-b", "bad", "-t", "f32", "-g", "uniform:50,50,400")
    ok(code == 1 and out.count("WRONG: y[") == 9, "the table says so", out)


def test_special(folder):
    """Values whose products are inf, NaN, too large or subnormal are compared like others."""
    names = {"inf": ["1 1 inf", "2 2 3", "3 1 -inf"], "nan": ["1 1 nan", "2 1 inf", "2 2 -inf", "3 3 4"],
             "large": ["1 1 1.7e308", "1 2 1.7e308", "2 1 -1.7e308", "2 3 1.7e308", "3 3 2"],
             "subnormal": ["1 1 1e-40", "2 2 3e-41", "3 3 7e-42"]}
    paths = [write(os.path.join(folder, name + ".mtx"),
                   ["%%MatrixMarket matrix coordinate real general", f"3 3 {len(lines)}", *lines]) for name, lines in names.items()]
    for more in (FAST, ["-o", "spmv", "--reps", "2", "--no-roof", "--no-compile"]):
        for kind in ("f64", "f32"):
            read = [p for p in paths if kind == "f64" or "large" not in p]  # f32 has no such numbers
            code, out, err = run(BENCH, *more, "-t", kind, "-b", "ref,omp,opencl", "--json", "-", *read)
            found = records(out)
            ok(code == 0 and not err and len({r["matrix"] for r in found}) == len(read) and
               all(r["verified"] for r in found if "skipped" not in r), f"special values, {more[1]}, {kind}", code, err,
               *[r for r in found if not r.get("verified")][:3])
    path = write(os.path.join(folder, "wrap.mtx"), ["%%MatrixMarket matrix coordinate integer general", "2 2 3", "1 1 2147483647",
                                                    "1 2 2147483647", "2 2 -2147483648"])
    code, out, err = run(BENCH, "-o", "spmv", "-b", "ref,omp,opencl", "-a", "all", "-t", "i32", "--reps", "2", "--no-roof",
                         "--no-compile", "--json", "-", path)
    found = records(out)
    ok(code == 0 and not err and len(found) > 9 and all(r["verified"] for r in found if "skipped" not in r), "integers that wrap around",
       code, err, *[r for r in found if not r.get("verified")][:3])
    code, out, err = run(BENCH, *FAST, "-b", "ref", "-t", "f32", "-g", "uniform:0,5,0")
    ok(code == 0 and not err and "nan" not in out and len(re.findall(r" 0\.000      -$", out, re.M)) == 2 * 8,
       "no ratio where there is no time", code, out, err)


# ---- scripts -----------------------------------------------------------------------------------------------------

BASE = {"study": "permute", "m": 10, "n": 20, "nnz": 30, "type": "f32", "backend": "opencl", "algo": "csr", "device": "GPU",
        "device_index": 1, "driver": "9", "version": "1.0", "verified": True, "seed": 0, "trials": 3, "trial_s": 1,
        "entropy_min": 2, "entropy_max": 2, "entropy_mean": 2, "date": "2026-01-02T00:00:00Z", "command": "weft-bench"}


def record(matrix, order, *gflops, **more):
    return {**BASE, "matrix": matrix, "order": order, "gflops": list(gflops), "gflops_min": min(gflops),
            "gflops_max": max(gflops), "gflops_mean": sum(gflops) / len(gflops), **more}


def write(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    return path


def test_plots(folder):
    script = os.path.join(SCRIPTS, "permute_plots.py")

    def broken(name, **more):
        return write(os.path.join(folder, name + ".json"), [{**record("a", "regular", 4, 4, 4), **more}])
    bad = {**BASE, "matrix": "b", "order": "row", "verified": False, "error": "y[3] is 1, not 2"}
    lines = [record("a", "regular", 4, 4, 4), record("a", "row", 2, 2, 2), record("a", "rcm", 8, 8.5, 8, entropy_max=3),
             record("a", "row-entries", 1, 1, 1),
             record("b", "regular", 4, 4, 4.1), bad, record("b", "rcm", 4, 2, 8)]
    path = write(os.path.join(folder, "r.json"), lines)
    code, out, err = run(sys.executable, script, path)
    ok(code == 0 and not err and
       "| opencl csr | 0.500 (0 up, 1 down of 1) | 1.414 (1 up, 0 down of 2) | 0.250 (0 up, 1 down of 1) |" in out,
       "geometric means of medians, and how many are clearly faster or slower", out, err)
    ok("| a | 2.000 | 2.000 | 2.000 (2.000 to 3.000) | 2.000 |" in out, "H of each order", out)
    ok("| opencl csr | 4.000 (4.000 to 4.000) | 2.000 (2.000 to 2.000) | 8.167 (8.000 to 8.500) | 1.000 (1.000 to 1.000) |" in out and
       "opencl csr, row: y[3] is 1, not 2" in out, "a table of each matrix, with what was wrong", out)
    ok("### a" not in run(sys.executable, script, "--brief", path)[1], "--brief leaves the matrices out")
    ok("### b, f32" in run(sys.executable, script, "--matrix", "b", path)[1] and
       "### a, f32" not in run(sys.executable, script, "--matrix", "b", path)[1], "--matrix picks")
    for name, args, want in [("no file", ["/nonexistent.json"], "/nonexistent.json"),
                             ("no JSON", [write(os.path.join(folder, "x.json"), [*lines, "no JSON"])], "x.json:8"),
                             ("no study", [write(os.path.join(folder, "y.json"), [{"op": "spmv"}])], "no record of a study"),
                             ("no such matrix", ["--matrix", "c", path], "no record is left"),
                             ("no speeds", [broken("s", gflops=[])], "gflops"), ("words", [broken("w", gflops_mean="4")], "gflops_mean"),
                             ("no number", ["--quantile", "x", path], "--quantile"), ("no option", ["--bogus", path], "--bogus"),
                             ("an output that is the input", [path, "-o", path], "is an input")]:
        code, _, err = run(sys.executable, script, *args)
        ok(code == 2 and want in err and err.count("\n") == 1, "plots: " + name, code, err)
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        skip("no matplotlib: plots are not drawn")
        return
    code, _, err = run(sys.executable, script, path, "-o", os.path.join(folder, "p.md"), "--plot", os.path.join(folder, "p.svg"))
    with open(os.path.join(folder, "p-a-f32-box.svg"), encoding="utf-8") as file:
        text = file.read()
    ok(code == 0 and all(word in text for word in ("regular", "rcm", "opencl csr", "a, f32: 3 trials")) and
       os.path.exists(os.path.join(folder, "p-b-f32-histogram.svg")), "boxes and histograms", err)


def test_nodes_fit(folder):
    """Times made from known constants give these back."""
    script = os.path.join(SCRIPTS, "nodes_fit.py")
    rng, figures, times = random.Random(9), [], []
    for k in range(40):
        m, mean, alike, far = rng.randint(100000, 900000), rng.randint(20, 120), rng.uniform(0.3, 0.8), rng.uniform(0, 0.5)
        blocks, name = math.ceil(m / 32), f"m{k}"
        figures.append({"matrix": name, "m": m, "n": m, "nnz": m * mean, "max_row": mean, "empty": 0, "single": 0,
                        "far": int(1024 * far * blocks), "alike": int(1024 * alike * blocks)})
        for kind, of_columns, of_nodes in (("f32", 0.9, 0.05), ("f64", 1.4, 0.0)):
            saved = of_columns * alike * 4 * m * mean / (32300.0 * 132) - of_nodes * (1 - alike) * m * 1e-3 * far
            for algo, us in (("csr_lanes", 300.0), ("csr_flags", 310.0), ("csr_nodes", 300.0 - saved)):
                times.append({"matrix": name, "type": kind, "op": "spmv", "backend": "opencl", "algo": algo, "b2b_ms": us * 1e-3,
                              "verified": True})
    known, timed = write(os.path.join(folder, "figures.json"), figures), write(os.path.join(folder, "times.json"), times)
    code, out, err = run(sys.executable, script, known, timed)
    ok(code == 0 and not err and "f32, 40 cases: 0.900 of the columns, 0.050 us" in out and "f64, 40 cases: 1.400 of the columns" in out,
       "what nodes save comes back", out, err)
    code, _, err = run(sys.executable, script, known)
    ok(code == 2 and err.count("\n") == 1, "figures alone are refused in one line", code, err)
    bad = write(os.path.join(folder, "bad.json"), [{key: value for key, value in figures[0].items() if key != "alike"}])
    code, _, err = run(sys.executable, script, bad, timed)
    ok(code == 2 and "alike" in err and err.count("\n") == 1, "figures without rows alike are refused", code, err)
    code, _, err = run(sys.executable, script, known, write(os.path.join(folder, "none.json"), times[:1]))
    ok(code == 2 and "no matrix in f32" in err, "times without nodes are refused", code, err)


def test_csr_fit(folder):
    """Times made from known constants give these back; records are joined, and parts kept apart."""
    script = os.path.join(SCRIPTS, "csr_fit.py")
    rng, lines = random.Random(7), []
    for k in range(80):
        m, mean, lanes = rng.randint(1000, 2000000), rng.choice([1, 2, 4, 8, 16, 32]), 2
        steps = [(m * (1 << i) // 32 + 1) * (-(-mean // (1 << i))) for i in range(6)]
        lines.append({"matrix": f"m{k}", "type": ("f32", "f64")[k % 2], "part": ("fit", "fit", "held")[k % 3], "m": m, "n": m,
                      "nnz": m * mean, "max_row": mean, "empty": m // (mean * mean * 3), "far": 0, "steps": steps, "lanes": lanes,
                      "us": {"csr_lanes": 5 + 1e-4 * math.ceil(m / 16) + 2e-5 * steps[1],
                             "csr_scalar": 5 + 1e-4 * math.ceil(m / 32) + 3e-5 * steps[0],
                             "csr_merge": 7 + 3e-6 * m + 1e-6 * m * mean, "csr_flags": 6 + 5e-6 * m + 2e-6 * m * mean}})
        us = lines[-1]["us"]
        lines[-1]["expected"] = {lines[-1]["type"]: {**us, "csr_lanes": [us["csr_lanes"], None, 0, 0, 0]}}
    code, out, err = run(sys.executable, script, write(os.path.join(folder, "costs.json"), lines))
    found = {words[0] + " " + " ".join(words[1:-1]): float(words[-1])
             for words in (line.split() for line in out.splitlines()) if len(words) > 2 and words[0] in ("csr_merge", "csr_flags")}
    ok(code == 0 and not err and abs(found["csr_merge rows"] - 3) < 0.2 and abs(found["csr_merge entries"] - 1) < 0.1 and
       abs(found["csr_merge launch"] - 7) < 0.2, "constants come back", out, err)
    for part, count in ("fit", 54), ("held", 26):
        ok(f"{part}, costs of this fit: {count} lines, regret median 1.000" in out and
           f"{part}, costs of cost.c: {count} lines, regret median 1.000, 95 % 1.000, most 1.000" in out, f"regret of part {part}", out)
    for key, value in (("us", {}), ("steps", [1]), ("lanes", "2"), ("part", "all"), ("expected", {}), ("empty", "x"), ("m", None)):
        code, _, err = run(sys.executable, script, write(os.path.join(folder, "bad.json"), lines[:1] + [{**lines[1], key: value}]))
        ok(code == 2 and "bad.json:2: no record" in err and err.count("\n") == 1, f"costs: a line whose {key} is {value}", code, err)
    for line in lines:
        line["part"] = "held"
    code, _, err = run(sys.executable, script, write(os.path.join(folder, "none.json"), lines))
    ok(code == 2 and "no line of part fit" in err, "nothing to fit to", err)
    code, _, err = run(sys.executable, script, "--join", "none", "none.json", "none.json")
    ok(code == 2 and "a part is fit or held" in err, "a part that is none", err)
    times = [{"matrix": "m0", "backend": "opencl", "type": "f32", "algo": "csr_lanes", "chosen": "csr_lanes, lanes=4", "b2b_ms": ms}
             for ms in (0.02, 0.01)]
    code, out, err = run(sys.executable, script, "--join", "held", write(os.path.join(folder, "figures.json"), lines[:1]),
                         write(os.path.join(folder, "times.json"), times))
    joined = json.loads(out)
    ok(code == 0 and joined["lanes"] == 4 and joined["us"] == {"csr_lanes": 10.0} and joined["part"] == "held", "joined", out, err)


def test_cpu_fit(folder):
    """Times made from known constants give these back; a choice by them is the best; records are joined, bad ones refused."""
    script = os.path.join(SCRIPTS, "cpu_fit.py")
    ok("usage: bench/lab/cpu_fit.py" in run(script, "--help")[1], "cpu: it runs as its usage says")
    rng, lines = random.Random(11), []
    for k in range(120):
        m, mean, padding = rng.randint(300000, 2000000), rng.choice([2, 5, 10, 30]), rng.uniform(1, 2)
        changes, empty, n = rng.choice([0, m // 3, m - 1]), rng.randint(0, m // 2), rng.choice([1000, 300000, 1000000])
        nnz, cores, launch = m * mean, 2, 0.005
        csr, sell = nnz * (0.4 if nnz * 8 <= 32 << 20 else 0.5), nnz * padding * (0.3 if nnz * padding * 8 <= 32 << 20 else 0.45)
        csr += 0.7 * nnz * (n > 131072)
        sell += {1000: 0, 300000: 0.2, 1000000: 0.8}[n] * nnz
        ms = {"csr": [launch + (csr + 0.5 * m + 1.5 * (m - empty) + 6 * changes) * 1e-6 / cores, 0],
              "sell": [launch + (sell + 0.9 * m) * 1e-6 / cores, 0.5 + (2 * nnz * padding + 5 * m) * 1e-6 / cores]}
        columns, rest, longer = rng.randint(1, 9), rng.randint(0, nnz // 2), rng.randint(0, m // 4)
        beside = columns * m * (0.3 if columns * m * 8 <= 32 << 20 else 0.6)
        ms["hyb"] = [0.01 + (beside + 1.2 * rest + 4 * longer) * 1e-6 / cores, 0.5 + (4 * nnz + 6 * m) * 1e-6 / cores]
        names = [name for name in (min(ms, key=lambda name: 1000 * ms[name][0] + ms[name][1]),) if name != "csr"]
        lines.append({"matrix": f"m{k}", "type": "f32", "part": ("fit", "fit", "held")[k % 3], "m": m, "n": n, "nnz": nnz,
                      "max_row": 2 * mean, "empty": empty, "far": 1e9, "changes": changes, "padding": 3, "windows": padding,
                      "hyb": [columns, rest, longer], "heaviest": 0.01, "repays": {"8": {"f32": [["sell"], ["sell"]]}, "16": {"f32": [names, []]}}, "ms": ms})
    code, out, err = run(sys.executable, script, write(os.path.join(folder, "cpu.json"), lines))
    found = {line[:35].strip(): float(line[35:]) for line in out.split("\n\n")[0].splitlines()}
    known = {"csr f32 element": 0.4, "csr f32 element from memory": 0.5, "csr f32 row": 0.5, "csr f32 taken": 1.5, "csr f32 change": 6,
             "csr f32 far": 0.7, "sell f32 element": 0.3, "sell f32 element from memory": 0.45, "sell f32 far": 0.2,
             "sell f32 far, large": 0.8, "convert sell f32 element": 2, "convert sell f32 row": 5, "convert sell f32 launches": 500,
             "hyb f32 element": 0.3, "hyb f32 element from memory": 0.6, "hyb f32 rest": 1.2, "hyb f32 row of the rest": 4}
    ok(code == 0 and not err and all(abs(found[key] - value) < 0.1 * value for key, value in known.items()), "cpu: constants come back",
       out, err)
    for title in "fit, costs of this fit, 100 products: 80", "held, costs of this fit, 1000 products: 40", "held, costs of cost_cpu.c, 1000 products: 40":
        ok(f"{title} lines, regret median 1.000, 95 % 1.0" in out, f"cpu: {title}", out)
    code, out, _ = run(sys.executable, script, "--vector", "8", write(os.path.join(folder, "cpu.json"), lines))
    ok(code == 0 and "held, costs of cost_cpu.c, 1000 products: 40 lines" in out and
       "held, costs of cost_cpu.c, 1000 products: 40 lines, regret median 1.000, 95 % 1.0" not in out, "cpu: what repays by narrow vectors", out)
    for line in lines:
        line["repays"]["intel"] = line["repays"]["16"]
    code, out, _ = run(sys.executable, script, "--vector", "intel", write(os.path.join(folder, "cpu.json"), lines))
    ok(code == 0 and "held, costs of cost_cpu.c, 1000 products: 40 lines, regret median 1.000, 95 % 1.0" in out, "cpu: what repays by Intel", out)
    for line in lines:
        del line["repays"]["intel"]
    code, out, _ = run(sys.executable, script, "--vector", "intel", write(os.path.join(folder, "cpu.json"), lines))
    ok(code == 0 and "costs of this fit" in out and "costs of cost_cpu.c" not in out, "cpu: records without Intel", out)
    code, out, _ = run(sys.executable, script, "--cores", "4", write(os.path.join(folder, "cpu.json"), lines))
    ok(code == 0 and abs(float(out.split("csr f32 element from memory")[1].split()[0]) - 1) < 0.1, "cpu: nanoseconds of one of four cores", out)
    for key, value in (("ms", {}), ("ms", {"csr": [0, 0]}), ("part", "all"), ("type", "i32"), ("padding", "x"), ("changes", None),
                       ("windows", "x"), ("hyb", [1, 2]), ("hyb", [1, -2, 3]), ("repays", []), ("repays", {"8": {"f32": [["x"], []]}, "16": {"f32": [[], []]}}),
                       ("repays", {key: {"f32": [[], []]} for key in ("8", "16", "amd")})):
        code, _, err = run(sys.executable, script, write(os.path.join(folder, "bad.json"), lines[:1] + [{**lines[1], key: value}]))
        ok(code == 2 and "bad.json:2: no record" in err and err.count("\n") == 1, f"cpu: a line whose {key} is {value}", code, err)
    ok(run(sys.executable, script, "--cores", "0", "x")[0] == 2, "cpu: no cores")
    ok(run(sys.executable, script, "--vector", "4", "x")[0] == 2, "cpu: vectors that are none")
    ok("--join wants figures and times" in run(sys.executable, script, "--join", "x")[2], "cpu: nothing to join")
    times = [{"matrix": "m0", "backend": "opencl", "op": "spmv", "type": "f32", "algo": algo, "chosen": chosen, "b2b_ms": ms, "nnz": 100,
              "products": 1000, "convert_ms": 3, "format_bytes": size}
             for algo, chosen, ms, size in (("csr", "csr_merge", 0.2, 800), ("csr", "csr_merge", 0.1, 800), ("sell", "sell", 0.05, 900),
                                            ("sell16", "sell", 0.05, 900), ("sdia", "sdia", 0.05, 3000))]
    code, out, err = run(sys.executable, script, "--join", write(os.path.join(folder, "figures.json"), lines[:1]),
                         write(os.path.join(folder, "times.json"), times))
    ok(code == 0 and json.loads(out)["ms"] == {"csr": [0.1, 3], "sell": [0.05, 3]},
       "cpu: joined, but for what another format took over and what auto does not take", out, err)


def test_fit(folder):
    """Records made from known coefficients give these coefficients back."""
    script = os.path.join(SCRIPTS, "advice_fit.py")
    costs, lines = [0.5, 12.0, 0.1, 2.0, 3.0, 30.0], []
    rng = random.Random(5)
    for k in range(12):
        m = n = 2000 * 3 ** (k % 6)
        nnz = m * rng.randint(3, 12)
        for order in ORDERS:
            measures = {"surprises": rng.uniform(0, 0.2), "waste": rng.uniform(1, 4), "x_lines": rng.uniform(0, 1),
                        "imbalance": 1}
            far = max(0.0, math.log2(n * 4 / 2 ** 18))
            terms = [m / nnz, measures["surprises"], measures["waste"] - 1, measures["x_lines"], measures["x_lines"] * far,
                     1000 / nnz]
            speed = 1 / (1 + sum(c * t for c, t in zip(costs, terms)))
            regular = speed if order == "regular" else regular
            product_ms = 2e-6 * nnz / regular
            lines.append(record(f"m{k}", order, speed, speed, speed, algo="auto", m=m, n=n, nnz=nnz, order_ms=0, permute_ms=
                                product_ms * ORDERS.index(order) * (nnz / 1e5) ** -0.5, device_type="GPU", **measures))
    code, out, err = run(sys.executable, script, write(os.path.join(folder, "fit.json"), lines))
    row = [float(number) for number in re.findall(r"[-0-9.e+]+", out.splitlines()[0])] if out else []
    ok(code == 0 and not err and out.startswith("{CL_DEVICE_TYPE_GPU, {") and len(row) == 6 + 2 + 7 + 2 and
       all(abs(a - b) < 0.02 * b for a, b in zip(row, costs)) and row[6] == 2 ** 18, "coefficients come back", out, err)
    ok(row[7] < 0.01 and row[8] == 0 and all(abs(a - k) < 0.01 * k for k, a in enumerate(row[9:15], 1)) and
       abs(row[15] + 0.5) < 0.01, "so do the costs of permuting, and nothing is left of the spread", row)
    ok("(100 %)" in out and "right on 12 (100 %)" in out, "and every piece of advice is right", out)
    code, _, err = run(sys.executable, script, write(os.path.join(folder, "few.json"), lines[:14]))
    ok(code == 2 and "too few" in err, "fit: too few matrices", err)
    code, out, err = run(sys.executable, script, "/nonexistent.json")
    ok(code == 2 and "/nonexistent.json" in err and err.count("\n") == 1, "fit: no file", code, err)
    lines[3] = {k: v for k, v in lines[3].items() if k != "waste"}
    code, out, err = run(sys.executable, script, write(os.path.join(folder, "less.json"), lines))
    ok(code == 2 and "less.json:4: no record: no waste" in err and err.count("\n") == 1, "fit: a measure that is not there", code, err)


def main():
    os.environ.pop("WEFT_DEVICE", None)
    with tempfile.TemporaryDirectory() as folder:
        test_usage()
        test_records(folder)
        test_wrong()
        test_special(folder)
        test_plots(folder)
        test_nodes_fit(folder)
        test_csr_fit(folder)
        test_cpu_fit(folder)
        test_fit(folder)
    return done()


sys.exit(main())
