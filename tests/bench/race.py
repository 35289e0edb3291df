#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""race.py WEFT_BENCH: bench/lab/race on records with known ratios, and once with tiny matrices. Output is TAP."""
import glob
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok  # noqa: E402

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "lab", "race")
BENCH = os.path.abspath(sys.argv[1])
A, B = "uniform:1,1,6000000", "band:9,9"


def run(*args, **env):
    made = subprocess.run([sys.executable, TOOL, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env={**os.environ, **env}, timeout=300, check=False)
    return made.returncode, made.stdout, made.stderr


def record(op, backend, algo, ms, matrix=A, **more):
    return {"matrix": matrix, "op": op, "backend": backend, "algo": algo, "type": "f32", "nnz": 6000000, "verified": True,
            "median_ms": ms, "noise": 0.01, "copy_gbps": 4000, "roof": 0.5, **more}


def transposes(matrix, vendor, scan, merge, auto, **more):
    return [record("transpose", "cusparse", "alg1", vendor, matrix), record("transpose", "opencl", "scan", scan, matrix, **more),
            record("transpose", "opencl", "merge", merge, matrix, roof=0.1),
            record("transpose", "opencl", "auto", auto, matrix, **more)]


def judged(folder, marks, *jobs):
    """Exit status, summary by mark, output. A job: kind, matrices, records, and what else it has."""
    path = tempfile.mkdtemp(dir=folder)
    described = []
    for number, (kind, matrices, records, more) in enumerate(jobs):
        described.append({"kind": kind, "marks": marks, "matrices": matrices, "arguments": ["-o", "scan,segsort,histogram"],
                          "file": f"{number}.jsonl", "status": 0, "why": "", **more})
        with open(os.path.join(path, f"{number}.jsonl"), "w", encoding="utf-8") as file:
            file.writelines((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records)
    with open(os.path.join(path, "race.json"), "w", encoding="utf-8") as file:
        json.dump({"quick": False, "marks": marks, "about": {"device": "GPU"}, "jobs": described}, file)
    summary = os.path.join(path, "summary.json")
    code, out, err = run("--from", path, "--json", summary)
    marks = {}
    if os.path.exists(summary):
        with open(summary, encoding="utf-8") as file:
            marks = {m["mark"]: m for m in json.load(file)["marks"]}
    return code, marks, out + err


def verdicts(mark):
    return [r["verdict"] for r in mark["rows"]]


def test_transposes(folder):
    sorts = [record("transpose", "cub", "pairs", 5), record("transpose", "cub", "gather", 4), record("transpose", "cub", "pairs", 9, B)]
    code, marks, out = judged(folder, [1, 2, 3, 10], ("gpu", [A, B], transposes(A, 8.2, 2, 4, 2.05) + transposes(B, 6, 2, 4, 2) + sorts, {}))
    ok(code == 0 and [marks[k]["verdict"] for k in (1, 2, 3, 10)] == ["pass"] * 4, "everything within the limits passes", out)
    ok(abs(marks[1]["mean"] - 12 ** 0.5) < 1e-9 and [round(r["got"], 3) for r in marks[1]["rows"]] == [4, 1.025, 3, 1],
       "speedups are those of auto, their mean is geometric", marks[1])
    ok([round(r["got"], 3) for r in marks[10]["rows"]] == [1.951, 4.5], "beside CUB's best", marks[10])
    ok([r["got"] for r in marks[3]["rows"]] == [2, 2] and "mark 1" in out and "pass" in out, "floors are what the roof says", marks[3])
    code, marks, out = judged(folder, [1, 10], ("gpu", [A], transposes(A, 8, 2, 4, 2, b2b_ms=4) + [
        record("transpose", "cub", "pairs", 1, b2b_ms=4.4)], {}))
    ok(marks[1]["rows"][0]["got"] == 2 and round(marks[10]["rows"][0]["got"], 3) == 1.1 and verdicts(marks[10]) == ["short"] and
       "4 ms (events 2)" in out, "the host's clock decides, device events are told", out)
    code, marks, out = judged(folder, [1, 2, 3], ("gpu", [A, B], transposes(A, 40, 2, 39, 2) + transposes(B, 2.8, 2, 3, 2), {}))
    ok(code == 0 and marks[1]["verdict"] == "short" and verdicts(marks[1]) == ["pass", "pass", "short", "pass"] and
       marks[1]["mean"] > 3, "one matrix under its limit is short, whatever the mean; the exit status is 0", out)
    ok(marks[2]["verdict"] == "short" and verdicts(marks[2]) == ["pass", "short"] and
       any(line.split()[:1] == [B] and "short" in line for line in out.splitlines()), "so is merge behind", out)
    code, marks, out = judged(folder, [1], ("gpu", [A], transposes(A, 5, 2, 3, 2.3), {}))
    ok(verdicts(marks[1]) == ["pass", "short"] and marks[1]["verdict"] == "short", "auto beyond 5 % of the best is short", out)
    code, marks, out = judged(folder, [1], ("gpu", [A], transposes(A, 5, 2, 3, 2), {}))
    ok(verdicts(marks[1]) == ["pass", "pass"] and marks[1]["verdict"] == "short", "so is a mean under its limit", out)
    code, marks, out = judged(folder, [3], ("gpu", [A, B], transposes(A, 8, 2, 4, 2, roof=0.2) +
                                            transposes(B, 8, 2, 4, 2, roof=0.2, nnz=4000000), {}))
    ok(verdicts(marks[3]) == ["short"] and marks[3]["verdict"] == "short", "more than four floors are short, of many entries", out)
    wide = [{**r, "type": "f64"} for r in transposes(A, 1, 2, 4, 2)]
    code, marks, out = judged(folder, [1, 2], ("gpu", [A], transposes(A, 8, 2, 4, 2) + wide, {}))
    ok(verdicts(marks[1]) == ["pass", "pass", "reported"] and marks[1]["verdict"] == "pass" and marks[1]["mean"] == 4,
       "f64 is reported beside", out)


def test_refused(folder):
    false = [{**r, "verified": False, "error": "row_idx[3]"} for r in transposes(A, 8, 1, 4, 1) if r["algo"] in ("scan", "merge")]
    good = [r for r in transposes(A, 8, 2, 4, 2) if r["algo"] not in ("scan", "merge")]
    code, marks, out = judged(folder, [3], ("gpu", [A], good + false, {"status": 1}))
    ok(code == 1 and marks[3]["rows"][0]["got"] == 2 and "WRONG" in out and "row_idx[3]" in out,
       "the time of an unverified line is not taken, and the exit status is 1", out)
    good = [r for r in transposes(A, 8, 2, 4, 2) if r["algo"] not in ("scan", "auto")]
    bare = {k: v for k, v in record("transpose", "opencl", "auto", 1).items() if k != "verified"}
    code, marks, out = judged(folder, [1], ("gpu", [A], [good[0], bare], {}))
    ok(code == 1 and marks[1]["verdict"] == "not run", "nor one that says nothing of being verified", out)
    skip = {**record("transpose", "cusparse", "alg2", 0), "verified": False, "skipped": "not here"}
    code, marks, out = judged(folder, [2], ("gpu", [A], good + [skip], {}))
    ok(code == 0 and marks[2]["verdict"] == "pass", "a line that was skipped is no fault", out)
    code, marks, out = judged(folder, [2], ("gpu", [A], [*good, '{"op": "tran'], {}))
    ok(code == 0 and marks[2]["verdict"] == "pass", "half a line at the end, of a run that was stopped, is left out", out)
    code, marks, out = judged(folder, [2], ("gpu", [A], ["nonsense", *good], {}))
    ok(code == 2 and "0.jsonl:1: no record" in out, "a file that holds no records is refused", out)
    code, marks, out = judged(folder, [2], ("gpu", [A], good, {}), ("gpu", [B], [], {"why": "out of time: 3 s left"}))
    ok(code == 0 and marks[2]["verdict"] == "incomplete" and "out of time" in out, "what did not run says why", out)
    code, marks, out = judged(folder, [2], ("gpu", [A], good, {}), ("gpu", [B], [], {"status": 3, "why": "device lost"}))
    ok(code == 3 and "device lost" in out, "a run that failed gives exit status 3", out)
    lost = {**record("transpose", "cusparse", "alg1", 0), "verified": False, "error": "out of device memory", "fault": "failed"}
    code, marks, out = judged(folder, [2], ("gpu", [A], [*good[1:], lost], {"status": 3, "why": "a line failed"}))
    ok(code == 0 and marks[2]["verdict"] == "not run" and "not run " + A in out and "out of device memory" in marks[2]["rows"][0]["note"],
       "a library that failed is not run, and no fault", out)
    code, marks, out = judged(folder, [2], ("gpu", [A], [good[0], {**lost, "backend": "opencl", "algo": "merge"}], {"status": 3, "why": "lost"}))
    ok(code == 3 and "failed " + A in out, "a line of weft that failed is", out)
    code, marks, out = judged(folder, [2], ("gpu", [A], [*good, {**lost, "fault": "wrong"}], {"status": 1}))
    ok(code == 1 and "WRONG" in out, "a wrong result of a library is wrong", out)
    code, marks, out = judged(folder, [2], ("gpu", [A], good[1:], {}))
    ok(code == 0 and marks[2]["verdict"] == "not run", "without the other side nothing is judged", out)


def test_others(folder):
    products = [record("spmv", "cusparse", a, ms) for a, ms in (("csr_alg1", 2), ("csr_alg2", 3), ("sell", 1.5))] + [
        record("spmv", "opencl", "csr", 1.6), record("spmv", "opencl", "auto", 0.9, convert_ms=7)]
    code, marks, out = judged(folder, [4, 5, 6], ("gpu", [A], products + [record("refill", "opencl", "auto", 1, roof=0.3)], {}))
    ok([round(marks[5]["mean"], 3), round(marks[6]["mean"], 3)] == [1.25, 1.667] and marks[5]["verdict"] == "pass" and
       marks[6]["verdict"] == "pass", "CSR is compared with CSR and COO, auto with everything", out)
    dear = [{**products[0], "analyse_ms": 500, "products": 1000}, {**products[2], "convert_ms": 2000, "products": 1000}, products[3],
            {**products[4], "analyse_ms": 100, "tune_ms": 93, "products": 1000}]
    _, marks6, said = judged(folder, [6], ("gpu", [A], dear, {}))
    ok([(round(r["got"], 3), r["verdict"]) for r in marks6[6]["rows"]] == [(1.667, "pass"), (2.273, "reported")] and
       round(marks6[6]["mean"], 3) == 1.667, "the same with what is paid once is reported beside", said)
    ok(marks[4]["verdict"] == "short" and "conversion 7 ms" in out, "a refill of 3.3 floors is short; conversion is told", out)
    own = [record("scan", "opencl", "auto", 1), record("segsort", "opencl", "whole", 1), record("histogram", "opencl", "auto", 1)]
    cub = [record("scan", "cub", "exclusive_sum", 0.96), record("segsort", "cub", "whole", 0.89),
           record("histogram", "cub", "even", 0.5), record("histogram", "cub", "even_scan", 1.1)]
    code, marks, out = judged(folder, [7], ("primitives", [A], own, {}), ("cub", [A], cub, {}))
    ok([(r["asked"][:7], r["got"], r["verdict"]) for r in marks[7]["rows"]] ==
       [("scan >=", 0.96, "pass"), ("segsort", 0.89, "short"), ("histogr", 1.1, "pass"), ("", 0.5, "reported"),
        ("scan >=", 0.96, "pass"), ("segsort", 0.89, "short"), ("histogr", 1.1, "pass")],
       "primitives have limits of their own, and means; counts alone are reported", out)
    atomic = [record("histogram", "cub", "atomic", 0.4), record("histogram", "cub", "atomic_scan", 0.9)]
    code, marks, out = judged(folder, [7], ("primitives", [A], own, {}), ("cub", [A], cub + atomic, {}))
    ok([(r["got"], r["verdict"]) for r in marks[7]["rows"] if "histogram" in r["asked"] or not r["asked"]] ==
       [(0.9, "short"), (0.4, "reported"), (0.9, "short")], "beside the better of CUB's histogram and atomics", out)
    more = [record(op, b, a, ms, B) for op, b, a, ms in (
        ("scan", "opencl", "auto", 1), ("scan", "cub", "exclusive_sum", 0.8), ("segsort", "opencl", "whole", 1), ("segsort", "cub", "whole", 9))]
    code, marks, out = judged(folder, [7], ("primitives", [A], [own[0], own[1]], {"arguments": ["-o", "scan,segsort"]}), ("cub", [A], [
        record("scan", "cub", "exclusive_sum", 1.05), record("segsort", "cub", "whole", 9)], {}), (
            "primitives", [B], [r for r in more if r["backend"] == "opencl"], {"arguments": ["-o", "scan,segsort"]}), (
                "cub", [B], [r for r in more if r["backend"] == "cub"], {}))
    ok([(r["asked"], round(r["got"], 3), r["verdict"]) for r in marks[7]["rows"][-2:]] ==
       [("scan >= 0.95x", 0.917, "short"), ("segsort >= 0.9x", 9, "pass")], "one primitive does not make up for another", out)
    code, marks, out = judged(folder, [7], ("primitives", [A], own, {}), ("cub", [A], [], {"status": None, "why": "no CUDA device"}))
    ok(code == 0 and marks[7]["verdict"] == "not run" and "no CUDA device" in out, "without CUB's times: not run, and why", out)
    small = [record("transpose", "cusparse", "alg1", 9, b2b_ms=0.31), record("transpose", "cub", "pairs", 9, b2b_ms=0.14),
             record("transpose", "opencl", "auto", 1, b2b_ms=0.1), record("transpose", "opencl", "scan", 1, b2b_ms=0.01),
             record("spmv", "cusparse", "op", 9, b2b_ms=0.1), record("spmv", "opencl", "csr", 1, b2b_ms=0.11)]
    code, marks, out = judged(folder, [8], ("small", [A], small, {}), ("files", [B], [{**r, "matrix": B} for r in small[4:]], {}))
    ok([(round(r["got"], 3), r["verdict"]) for r in marks[8]["rows"]] ==
       [(3.1, "pass"), (1.4, "short"), (0.909, "short"), (0.909, "reported"), (0.909, "short"), (0.909, "reported")],
       "small problems are judged by the host's clock", out)
    random = "uniform:100000,100000,10000000"
    ms = [record("spmv", "opencl", "csr", 1, random, b2b_ms=0.05), record("spmv", "opencl", "sell", 1, random, b2b_ms=0.0279)]
    code, marks, out = judged(folder, [11], ("gpu", [A, random], ms + [record("spmv", "opencl", "csr", 1)], {}))
    ok([(r["got"], r["verdict"]) for r in marks[11]["rows"]] == [(0.0279, "pass")], "random patterns have milliseconds", out)
    huge = "uniform:8000000,8000000,100000000"
    wide = [record("transpose", "opencl", "auto", 1, huge, b2b_ms=3.2)]
    code, marks, out = judged(folder, [12], ("gpu", [huge], [record("transpose", "opencl", "auto", 1, huge, b2b_ms=2.7)], {}),
                              ("wide", [huge], wide, {}))
    ok([r["verdict"] for r in marks[12]["rows"]] == ["pass", "short"] and round(marks[12]["rows"][1]["got"], 3) == 1.185,
       "64-bit offsets beside those of 32", out)


def test_programs(folder):
    def question(name, value, matrix=A):
        return {"question": name, "matrix": matrix, "value": value, "verdict": "pass", "note": "so"}
    rows = [question("transpose by cuSPARSE", 3, A), question("transpose by cuSPARSE", 1.4, B)] + [
        question("regret of transpose", v) for v in [1.0] * 18 + [1.2, 1.31]]
    def programs(*jobs):
        path = tempfile.mkdtemp(dir=folder)
        described = []
        for kind, made in jobs:
            described.append({"kind": kind, "marks": [13, 14], "matrices": [], "arguments": [], "file": kind + ".json", "status": 0, "why": ""})
            if made is not None:
                with open(os.path.join(path, kind + ".json"), "w", encoding="utf-8") as file:
                    json.dump(made, file)
        with open(os.path.join(path, "race.json"), "w", encoding="utf-8") as file:
            json.dump({"quick": False, "marks": [13, 14], "about": {"device": "GPU"}, "jobs": described}, file)
        code, out, err = run("--from", path, "--json", path + "/s")
        if code > 1:
            return code, {}, out + err
        with open(path + "/s", encoding="utf-8") as file:
            return code, {m["mark"]: m for m in json.load(file)["marks"]}, out + err
    calls = [{"op": "spmv", "matrix": A, "asked": "4 x", "ms": 2.0, "cusparse_ms": 6.0, "times": 3.0, "verdict": "short"},
             {"op": "transpose", "matrix": A, "asked": "4 x", "ms": 2.0, "cusparse_ms": None, "times": None, "verdict": "alone"}]
    code, marks, out = programs(("population", {"rows": rows, "wrong": []}), ("calls", {"rows": calls, "wrong": []}))
    ok(code == 0 and [(round(r["got"], 2), r["verdict"]) for r in marks[13]["rows"] if r["got"] is not None] ==
       [(2.05, "short"), (1.4, "short"), (1.0, "pass"), (1.2, "short"), (1.31, "short")],
       "the population: mean and least, median, 95 % and most", out)
    ok([r["verdict"] for r in marks[14]["rows"]] == ["short", "not run"] and "theirs 6" in out, "calls say what they said", out)
    ok(sum(r["verdict"] == "not run" for r in marks[13]["rows"]) == 3, "a question without rows is not run", out)
    good = [question("transpose by cuSPARSE", 9), question("transpose by CUB", 9), question("csr by cuSPARSE", 9), question("auto by cuSPARSE", 9),
            question("regret of transpose", 1.0)]
    code, marks, out = programs(("population", {"rows": good, "wrong": []}), ("calls", None))
    ok(marks[13]["verdict"] == "pass" and "transpose by CUB (1 of 1)" in out, "every pattern of every question passes", out)
    late = [{**question("transpose by CUB", None, m), "verdict": "not run", "note": "out of time"} for m in (B, "band:9,7")]
    code, marks, out = programs(("population", {"rows": good + late, "wrong": [], "peers": ["lost"]}), ("calls", None))
    ok(code == 0 and marks[13]["verdict"] == "incomplete" and "transpose by CUB (1 of 3)" in out and "2 out of time" in out and
       "not run lost" in out, "patterns that were not judged make it incomplete, and are told", out)
    old = {"patterns": [["uniform", A, 9, True], ["band", B, 9, True]], "left_out": [B], "failed": []}
    code, marks, out = programs(("population", {"about": old, "rows": good, "wrong": []}), ("calls", None))
    ok(marks[13]["verdict"] == "incomplete" and "transpose by CUB (1 of 2)" in out and "1 out of time (" + B in out,
       "so do patterns that have no row", out)
    code, marks, out = programs(("population", {"rows": [r for r in good if "regret" not in r["question"]], "wrong": []}), ("calls", None))
    ok(marks[13]["verdict"] == "incomplete", "so does a question that nobody answered", out)
    code, marks, out = programs(("population", {"rows": rows, "wrong": ["x"]}), ("calls", None))
    ok(code == 1 and "WRONG x" in out and marks[14]["verdict"] == "not run", "what was wrong there is wrong here", out)
    code, marks, out = programs(("population", {"rows": good, "wrong": [], "failed": ["opencl auto: lost"], "peers": ["theirs"]}), ("calls", None))
    ok(code == 3 and "opencl auto: lost" in out and "not run theirs" in out, "what of weft failed there is told here, whatever failed beside it", out)
    code, marks, out = programs(("population", {"rows": good + [{**question("choosing, 1 products", None), "verdict": "not run"}], "wrong": []}), ("calls", None))
    ok(marks[13]["verdict"] == "pass", "a question without a limit leaves a mark as it is", out)
    code, marks, out = programs(("population", {"rows": 3}))
    ok(code == 2 and out.count("\n") == 1 and "holds no rows" in out, "a file that holds no rows", out)


def test_processors(folder):
    host = [record("transpose", "omp", "auto", 2), record("transpose", "graphblas", "auto", 3),
            record("transpose", "opencl", "scan", 2.02, noise=0.1), record("spmv", "omp", "csr", 2),
            record("spmv", "opencl", "csr", 2.5), record("spmv", "rsb", "blocks", 3)]
    code, marks, out = judged(folder, [9], ("cpu", [A], host, {"threads": 16}), ("cpu", [A], [], {"threads": 2, "why": "no"}))
    ok(verdicts(marks[9]) == ["not run", "pass", "short", "pass", "not run"] and "16 cores" in out and marks[9]["verdict"] == "short",
       "processors: the best of ours is not what users call", out)
    auto = [record("transpose", "opencl", "auto", 2.2, noise=0.2), record("spmv", "opencl", "auto", 1)]
    host = [r for r in host if r["op"] == "transpose"] + [record("spmv", "omp", "csr", 2), record("spmv", "opencl", "csr", 2), record("spmv", "rsb", "blocks", 3)]
    code, marks, out = judged(folder, [9], ("cpu", [A], host + auto, {"threads": 16}))
    ok(verdicts(marks[9]) == ["unclear", "pass", "pass", "pass"] and marks[9]["verdict"] == "unclear" and marks[9]["passed"] == 3,
       "quartiles that overlap are no loss, and no pass", out)
    clear = [{**auto[0], "b2b_ms": 2.2, "b2b_low_ms": 2.19, "b2b_high_ms": 2.21}, auto[1]]
    code, marks, out = judged(folder, [9], ("cpu", [A], host + clear, {"threads": 16}))
    ok(verdicts(marks[9])[0] == "short", "they are those of the time that is compared", out)
    mkl = [record("transpose", "mkl", "csr", 2.2), record("spmv", "mkl", "optimized", 0.9)]
    code, marks, out = judged(folder, [9], ("cpu", [A], host + auto + mkl, {"threads": 2}))
    ok([(r["asked"].split(">=")[0], round(r["got"], 2), r["verdict"]) for r in marks[9]["rows"]][4:] ==
       [("transpose auto/MKL ", 1.0, "pass"), ("auto/MKL ", 0.9, "short")], "and beside MKL where it runs, by auto alone", out)


def test_usage(folder):
    empty = tempfile.mkdtemp(dir=folder)
    for args, want in [(["--marks", "15"], "marks 1 to 14"), (["--marks", "x"], "--marks"), (["--bench", "/nonexistent"], "/nonexistent"),
                       (["--from", empty], "no race"), (["--bench", BENCH, "-d", "99"], "device 99"),
                       (["--bench", BENCH, "--out", "/proc/none"], "/proc/none"), (["--time", "-1"], "--time"), (["--time", "nan"], "--time"),
                       (["--from", ""], "--from is empty"), (["--json", "/nonexistent/x"], "/nonexistent/x"), (["--json", "/"], "directory"),
                       (["--plot", "/nonexistent/x"], "/nonexistent/x"), (["--bench", BENCH, "--cub", "/nonexistent"], "/nonexistent"),
                       (["--bench", BENCH, "--tune-file", "/nonexistent"], "/nonexistent"), (["--bench", sys.executable], "--list fails")]:
        code, out, err = run(*args)
        ok(code == 2 and not out and err.count("\n") == 1 and want in err, "usage: " + " ".join(args[-2:]), out, err)
    matrix, whole = os.path.join(empty, "v.mtx"), os.path.join(empty, "race.json")
    for path in (matrix, whole):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"quick": False, "marks": [], "about": {}, "jobs": []}, file)
    for args, want in [(["--bench", BENCH, "--quick", "--out", empty, "--json", matrix], "looks like a matrix"),
                       (["--from", empty, "--json", whole], "is an input"),
                       (["--bench", BENCH, "--quick", "--out", empty, "--json", os.path.join(empty, "00-gpu.jsonl")], "another output")]:
        code, out, err = run(*args)
        ok(code == 2 and not out and err.count("\n") == 1 and want in err and sorted(os.listdir(empty)) == ["race.json", "v.mtx"],
           "--json " + os.path.basename(args[-1]), out, err)
    code, out, err = run("--bench", BENCH, "--quick", OCL_ICD_VENDORS="/nonexistent")
    ok(code == 3 and not out and err.count("\n") == 1 and "install" in err, "no device: what to install", err)
    code, _, err = run("--bogus")
    ok(code == 2 and "--bogus" in err and err.count("\n") == 1, "an option that is not there", err)
    job = {"kind": "gpu", "marks": [1], "matrices": [A], "arguments": [], "file": "0.jsonl", "status": 0, "why": ""}
    for name, jobs in [("jobs that are none", 3), ("a job that is none", [3]), ("a job without matrices", [{**job, "matrices": None}]),
                       ("a job of no kind", [{k: v for k, v in job.items() if k != "kind"}]),
                       ("a file in another folder", [{**job, "file": "../0.jsonl"}]), ("a number for a matrix", [{**job, "matrices": [1]}]),
                       ("a job on no cores", [{**job, "kind": "cpu"}])]:
        with open(os.path.join(empty, "race.json"), "w", encoding="utf-8") as file:
            json.dump({"quick": False, "marks": [1], "about": {}, "jobs": jobs}, file)
        code, out, err = run("--from", empty)
        ok(code == 2 and not out and err.count("\n") == 1 and "holds no race" in err, "race.json with " + name, out, err)


def test_quick(folder):
    path, summary = os.path.join(folder, "quick"), os.path.join(folder, "quick.json")
    kept = os.path.join(path, "mine.jsonl")
    os.mkdir(path)
    with open(kept, "w", encoding="utf-8"), open(os.path.join(path, "99-gpu.jsonl"), "w", encoding="utf-8"):
        pass
    marks = [4, 8, 9, 12] if os.environ.get("WEFT_SAMPLE", "0") not in ("", "0") else list(range(1, 15))
    ops = {"refill", "transpose", "spmv"} | ({"scan", "segsort", "histogram"} if 7 in marks else set())
    code, out, err = run("--bench", BENCH, "--quick", "--marks", ",".join(map(str, marks)), "--out", path, "--json", summary)
    with open(summary, encoding="utf-8") as file:
        made = json.load(file)
    ran = {m["mark"]: m["ran"] for m in made["marks"]}
    ok(code == 0 and not err and made["quick"] and not made["wrong"] and sorted(ran) == marks and all(ran.values()),
       "a quick race runs every mark", out, err)
    lines = [json.loads(line) for name in glob.glob(os.path.join(path, "*.jsonl")) for line in open(name, encoding="utf-8")]
    ok(os.path.exists(kept) and not os.path.exists(os.path.join(path, "99-gpu.jsonl")),
       "it replaces the records of a race, and no others", os.listdir(path))
    ok(ops == {r["op"] for r in lines} and
       all(r["verified"] or "skipped" in r for r in lines), "and keeps the records")
    code, again, err = run("--from", path, "--marks", ",".join(map(str, marks)))
    ok(code == 0 and again == out and not err, "that say the same when they are judged again", again, err)
    code, _, err = run("--from", path, "--plot", "/nonexistent/p")
    ok(code == 2 and "--plot" in err and err.count("\n") == 1, "pictures that cannot be drawn", code, err)


def test_few(folder):
    """Marks that ask something of few matrices run no others. There is no time for any: the list says what would have run."""
    path = os.path.join(folder, "few")
    for marks, asked in (("12", [["uniform:8000000,8000000,100000000"]]),
                         ("11", [["uniform:500000,500000,10000000"], ["uniform:100000,100000,10000000"]]), ("1,12", None)):
        code, _, err = run("--bench", BENCH, "-d", "0", "--marks", marks, "--time", "0.001", "--out", path, WEFT_MATRICES="/nonexistent")
        with open(os.path.join(path, "race.json"), encoding="utf-8") as file:
            jobs = [job["matrices"] for job in json.load(file)["jobs"] if job["kind"] == "gpu"]
        ok(code == 0 and (jobs == asked if asked else len(jobs) > 10), f"the matrices of --marks {marks}", jobs, err)


def main():
    with tempfile.TemporaryDirectory() as folder:
        test_transposes(folder)
        test_refused(folder)
        test_others(folder)
        test_programs(folder)
        test_processors(folder)
        test_usage(folder)
        test_quick(folder)
        test_few(folder)
    return done()


sys.exit(main())
