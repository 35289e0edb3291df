#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""population.py WEFT_BENCH: bench/lab/population on records with known ratios, and once with tiny patterns. Output is TAP."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok  # noqa: E402

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "lab"))
from reader import total  # noqa: E402

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "lab", "population")
BENCH = os.path.abspath(sys.argv[1])
A, B = "uniform:1000,1000,3000", "band:200,5"


def run(*args):
    made = subprocess.run([sys.executable, TOOL, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    return made.returncode, made.stdout, made.stderr


def record(matrix, op, backend, algo, b2b, **more):
    return {"matrix": matrix, "op": op, "backend": backend, "algo": algo, "type": "f32", "verified": True, "median_ms": 9 * b2b,
            "b2b_ms": b2b, **more}


def judged(folder, files, patterns, **about):
    """Exit status, rows by question and matrix, output. files: the records of each, of a round each where `about` says nothing."""
    path = tempfile.mkdtemp(dir=folder)
    for number, records in enumerate(files):
        with open(os.path.join(path, f"{number:02d}-0.jsonl"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(r) + "\n" for r in records)
    with open(os.path.join(path, "population.json"), "w", encoding="utf-8") as file:
        json.dump({"device": "GPU", "date": "today", "took": "1 s", "type": "f32", "patterns": patterns, "failed": [],
                   "left_out": [], **about}, file)
    summary = os.path.join(path, "summary.json")
    code, out, err = run("--from", path, "--json", summary)
    rows = {}
    if os.path.exists(summary):
        with open(summary, encoding="utf-8") as file:
            rows = {(r["question"], r["matrix"]): r for r in json.load(file)["rows"]}
    return code, rows, out + err


def test_judge(folder):
    records = [record(A, "transpose", "opencl", "auto", 2.8), record(A, "transpose", "opencl", "scan", 2),
               record(A, "transpose", "opencl", "merge", 4), record(A, "transpose", "cusparse", "alg1", 3.5),
               record(B, "transpose", "opencl", "auto", 2), record(B, "transpose", "opencl", "scan", 2.1),
               record(B, "transpose", "cusparse", "alg1", 8),
               record(A, "spmv", "opencl", "csr", 1, products=100),
               record(A, "spmv", "opencl", "sell", 0.5, convert_ms=30, products=100),
               record(A, "spmv", "opencl", "auto", 0.5, convert_ms=30, products=100, chosen="sell"),
               record(A, "spmv", "opencl", "auto", 3, products=10, chosen="coo"),
               record(A, "spmv", "opencl", "auto", 2.5, chosen="csr_flags", products=1),
               record(A, "spmv", "opencl", "csr_flags", 1.25, products=100), record(A, "spmv", "opencl", "csr", 1, products=1),
               record(A, "spmv", "opencl", "csr", 2, products=10),
               record(A, "spmv", "cusparse", "csr_alg1", 0.9), record(A, "spmv", "cusparse", "sell", 0.45)]
    alone = [record(A, "transpose", "opencl", "scan", 1)]  # of a second round, in which auto did not run
    code, rows, out = judged(folder, [records, alone], [["uniform", A, 3000, False], ["band", B, 1000, True]])
    ok(code == 0, "known records are judged", out)
    found = rows.get(("regret of transpose", A), {})
    ok(found.get("value") == 1.4 and found.get("verdict") == "short", "auto by the best of ours, by the host's clock", out)
    found = rows.get(("regret of transpose", B), {})
    ok(found.get("value") == 1 and found.get("verdict") == "pass" and found.get("held"), "auto may be the best itself", out)
    ok(rows.get(("transpose by cuSPARSE", A), {}).get("verdict") == "short" and
       rows.get(("transpose by cuSPARSE", B), {}).get("value") == 4, "beside cuSPARSE", out)
    ok(rows.get(("regret of spmv, 100 products", A), {}).get("value") == 1 and
       rows.get(("regret of spmv, 10 products", A), {}).get("value") == 1.5, "a conversion counts; a slow run is scaled by csr", out)
    ok(rows.get(("regret of spmv, 1 products", A), {}).get("value") == 1.875,
       "the time of auto's plan is the median of its own and of that of the algorithm that it took", out)
    ok(rows.get(("csr by cuSPARSE", A), {}).get("value") == 0.9 and
       rows.get(("auto by cuSPARSE", A), {}).get("value") == 0.9, "csr and auto beside cuSPARSE's, auto of the most products", out)
    again = [record(A, "transpose", "opencl", "auto", 2.8, chosen="scan"), record(A, "transpose", "opencl", "scan", 2),
             record(A, "transpose", "opencl", "merge", 1.6), record(A, "transpose", "cusparse", "alg1", 5.6)]
    code, found, said = judged(folder, [again], [["uniform", A, 3000, False]])
    ok(found.get(("regret of transpose", A), {}).get("value") == 1.5 and
       found.get(("transpose by cuSPARSE", A), {}).get("value") == 2, "of scan too; beside others auto has its own alone", said)
    rounds = [[record(A, "transpose", backend, algo, ms, **more)
               for backend, algo, ms, more in zip(("opencl", "opencl", "cusparse"), ("auto", "merge", "alg1"), times,
                                                  ({"chosen": "scan"}, {}, {}))] for times in ((2, 1.6, 6), (3, 2.9, 3), (2, 1, 2))]
    code, found, said = judged(folder, rounds, [["uniform", A, 3000, False]])
    ok(found.get(("regret of transpose", A), {}).get("value") == 1.25 and
       found.get(("transpose by cuSPARSE", A), {}).get("value") == 1, "of three rounds the median of what each says", said)
    ok("held out" in out and "| regret of transpose" in out and "short:" in out, "the table has both parts", out)
    records[0]["verified"] = False
    code, rows, out = judged(folder, [records], [["uniform", A, 3000, False]])
    found = rows.get(("regret of transpose", A), {})
    ok(code == 1 and "WRONG: " + A in out and found.get("verdict") == "not run" and "opencl auto: not verified" in found["note"],
       "a wrong result is told, and has no time", out)


def test_rounds(folder):
    """A record that failed in a round leaves the others where they are."""
    def of(auto, merge, vendor):
        return [record(A, "transpose", "opencl", "auto", auto, chosen="scan"), record(A, "transpose", "opencl", "merge", merge),
                record(A, "transpose", "cusparse", "alg1", vendor)]
    slow, fast = of(20, 10, 40), of(2, 1, 4)  # twice the time of merge, and half of cuSPARSE's, however fast the machine was
    failed = {**slow[0], "verified": False, "error": "out of memory", "fault": "failed"}
    for name, about in (("told", {"rounds": [0, 1]}), ("that the files tell", {})):
        code, rows, out = judged(folder, [[failed, *slow[1:]], fast], [["uniform", A, 3000, False]], **about)
        ok(code == 3 and rows[("regret of transpose", A)]["value"] == 2 and rows[("transpose by cuSPARSE", A)]["value"] == 2,
           "rounds are those of files, " + name, out)


def test_missing(folder):
    """What was asked and not answered has a row that says why."""
    skip = {**record(A, "transpose", "opencl", "auto", 1), "verified": False, "skipped": "no memory"}
    padded = {**record(B, "transpose", "opencl", "merge", 1), "verified": False, "skipped": "mostly padding"}
    lost = {**record(B, "transpose", "cub", "pairs", 1), "verified": False, "error": "out of device memory", "fault": "failed"}
    records = [skip, record(A, "transpose", "opencl", "scan", 1), record(A, "transpose", "cusparse", "alg1", 2),
               record(B, "transpose", "opencl", "auto", 1), record(B, "transpose", "opencl", "scan", 1),
               record(B, "transpose", "cusparse", "alg1", 2), lost, padded]
    code, rows, out = judged(folder, [records], [["uniform", A, 3000, True], ["band", B, 1000, True], ["band", "band:9,3", 27, True]],
                             op=["transpose"], left_out=["band:9,3"])
    ok(code == 0 and len(rows) == 9, "three questions of each of three patterns, and a peer that failed is no fault", out)
    ok([rows["transpose by cuSPARSE", m]["verdict"] for m in (A, B, "band:9,3")] == ["not run", "pass", "not run"] and
       "no memory" in rows["transpose by cuSPARSE", A]["note"] and rows["transpose by cuSPARSE", "band:9,3"]["note"] == "out of time" and
       "out of device memory" in rows["transpose by CUB", B]["note"], "each says why", out)
    ok("mostly padding" not in out, "what another algorithm is skipped for is no reason", out)
    ok("1 of 3" in out and "0 of 3" in out and "not run:" in out and "failed beside weft: " + B in out, "the table has how many of how many", out)
    code, rows, out = judged(folder, [[{k: v for k, v in {**skip, "error": "lost", "fault": "failed"}.items() if k != "skipped"}]],
                             [["uniform", A, 3000, True]])
    ok(code == 3 and "failed: " + A in out, "a failure of weft's own is one of the run", out)


def test_prepared(folder):
    """What is paid once counts on both sides; what auto pays beyond its plan is a question of its own."""
    records = [record(A, "spmv", "opencl", "auto", 1, products=100, chosen="csr_flags", analyse_ms=180, tune_ms=20),
               record(A, "spmv", "opencl", "csr_flags", 1, products=100, analyse_ms=100),
               record(A, "spmv", "opencl", "csr_lanes", 1.2, products=100, analyse_ms=10),
               record(A, "spmv", "opencl", "csr", 2, products=100), record(A, "spmv", "cusparse", "csr_alg1", 1, products=100, analyse_ms=300)]
    code, rows, out = judged(folder, [records], [["uniform", A, 3000, False]], op=["spmv"])
    ok(code == 0 and rows["regret of spmv, 100 products", A]["value"] == round(200 / 130, 4), "analysis of a plan is in its regret", out)
    choosing = rows["choosing, 100 products", A]
    ok(choosing["value"] == 1.5 and choosing["verdict"] == "reported", "what auto took beside its plan is told", out)
    found = rows["auto by cuSPARSE, prepared, 100 products", A]
    ok(rows["auto by cuSPARSE", A]["value"] == 1 and found["value"] == round(400 / 300, 4) and found["verdict"] == "reported",
       "beside others the same is reported", out)


def test_options():
    code, out, _ = run("--list", "--most", "1e9")
    with tempfile.TemporaryDirectory() as folder:
        for name, want in (("population.json", "is an input"), ("00-0.jsonl", "is an input"), ("a.mtx", "looks like a matrix")):
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write("{}\n")
            _, _, err = run("--from", folder, "--json", path)
            ok(want in err and err.count("\n") == 1 and os.path.getsize(path) == 3, "--json " + name, err)
        for text, want in (("[]", "are not what a population writes"), ("3", "are not what"), ('{"patterns": [[1]]}', "are not what"), ("{}", "no 'patterns'")):
            with open(os.path.join(folder, "population.json"), "w", encoding="utf-8") as file:
                file.write(text)
            status, _, err = run("--from", folder)
            ok(status == 2 and "holds no population: " in err and want in err and err.count("\n") == 1, "population.json is " + text, err)
    held = out.count("held out")
    count = out.count("\n") - 2
    ok(code == 0 and count >= 120 and count / 4 < held < count / 2, f"{count} patterns, {held} held out")
    ok(run("--list", "--part", "held", "--most", "1e9")[1].count("\n") - 2 == held, "--part held")
    parts = {row[1]: row[3] for row in listed("--most", "1e9")}
    orders = [(spec, spec.partition("+")[0]) for spec in parts if "+" in spec and spec.partition("+")[0] in parts]
    ok(len(orders) > 5 and all(parts[spec] == parts[base] for spec, base in orders), "orders of one pattern are in one part", orders)
    for arguments, words in ((["--family", "x"], "x is none of"), (["--products", "0"], "above 0"), (["--op", "scan"], "--op is"),
                             (["--part", "x"], "--part"), (["--from", "/nonexistent"], "/nonexistent"),
                             (["--least", "1e11", "--most", "1e11"], "no pattern"), (["--bench", "/nonexistent"], "no program"),
                             (["--from", ""], "--from is empty"), (["--bench="], "--bench is empty"), (["--time", "nan"], "--time is nan"),
                             (["--time", "0"], "--time is 0"), (["--draw", "-1"], "--draw is -1"),
                             (["--draw", "3", "--quick"], "--quick"),
                             (["--least", "-1"], "--least is -1"), (["--most", "nan"], "--most is nan"), (["--least", "9", "--most", "3"], "the least first"),
                             (["--seed", "3"], "--seed is of --draw"), (["--list", "--json", "x"], "--list runs"), (["--list", "--plot", "x"], "--list runs"),
                             (["--small", "-1"], "--small is -1"), (["--small", "x"], "--small"), (["--reps", "0"], "--reps is 0"),
                             (["--rounds", "0"], "--rounds is 0"), (["--rounds", "100"], "--rounds is 100"),
                             (["--json", "/nonexistent/x"], "/nonexistent/x"),
                             (["--json", "/"], "Is a directory"), (["--plot", "/nonexistent/x"], "/nonexistent/x")):
        code, _, err = run(*arguments)
        ok(code == 2 and words in err and err.count("\n") == 1, f"{' '.join(arguments)}: one line", err)


def listed(*args):
    """The rows of --list: family, specification, entries, part."""
    out = run("--list", *args)[1]
    return [[word.strip() for word in line.split("|")[1:5]] for line in out.splitlines()[2:]]


def drawn(*args):
    return listed("--draw", "63", "--least", "2000", "--most", "60000", *args)


def test_draw():
    rows = drawn("--seed", "5")
    ok(len(rows) == 63 and rows == drawn("--seed", "5") and rows != drawn("--seed", "6"), "a seed draws the same patterns, another others")
    ok(all(2000 <= int(entries) <= 60000 and part == "held out" for _, _, entries, part in rows), "of the sizes asked for, all held out")
    ok({row[0] for row in rows} == {row[0] for row in listed("--most", "1e9")} - {"huge"}, "of every family but the huge ones")
    ok({row[0] for row in drawn("--family", "lp,power")} == {"lp", "power"}, "--family")
    square = [row[1].split(":")[1].split(",") for row in listed("--draw", "300", "--family", "web,rmat,block", "--seed", "3801")]
    ok(square and all(2 * int(numbers[1]) <= int(numbers[0]) ** 2 + 2 * int(numbers[0]) for numbers in square),
       "square ones have places for twice their entries")
    specs = [word for row in rows for word in ("-g", row[1])]
    made = subprocess.run([BENCH, "-o", "spmv", "-b", "ref", "--reps", "1", "--quiet", "--no-roof", *specs], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    ok(made.returncode == 0, "weft-bench takes all of them", made.stderr)


def test_quick(folder):
    code, out, err = run("--quick", "--bench", BENCH, "--out", os.path.join(folder, "quick"), "--json",
                         os.path.join(folder, "quick.json"))
    if code == 3 and "no OpenCL device" in err:
        ok(True, "no device # SKIP no OpenCL device")
        return
    ok(code == 0 and "3 patterns" in out and "| regret of spmv, 1000 products | all" in " ".join(out.split()),
       "a population of three tiny patterns", out + err)
    with open(os.path.join(folder, "quick.json"), encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    ok(len({r["matrix"] for r in rows}) == 3 and {r["question"] for r in rows} >= {
        "regret of transpose", "regret of spmv, 1 products", "regret of spmv, 100 products"}, "every question of every pattern")
    ok({"00-0.jsonl", "02-2.jsonl"} < set(os.listdir(os.path.join(folder, "quick"))), "small patterns run three times")
    with open(os.path.join(folder, "quick", "00-0.jsonl"), encoding="utf-8") as first, \
            open(os.path.join(folder, "quick", "02-0.jsonl"), encoding="utf-8") as last:
        ran = [[json.loads(line) for line in file] for file in (first, last)]
    near, groups = {"auto", "csr"}, {}
    for r in (r for r in ran[0] if r.get("verified") and r.get("median_ms", 0) > 0):
        groups.setdefault((r["matrix"], r["op"], r["backend"]), []).append(r)
    for rows in groups.values():
        for products in (1, 100, 1000):
            best = min(total(r, products) for r in rows)
            near |= {r["algo"] for r in rows if total(r, products) <= 1.5 * best}
    names = [{r["algo"] for r in rows} for rows in ran]
    ok(len(names[0]) > 10 and names[1] == names[0] & near, "later rounds have what came near the best, auto and csr",
       f"{names[0] ^ names[1]}, near {near}")


with tempfile.TemporaryDirectory() as home:
    test_judge(home)
    test_rounds(home)
    test_missing(home)
    test_prepared(home)
    test_options()
    test_draw()
    test_quick(home)
done()
