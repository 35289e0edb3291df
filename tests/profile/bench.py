#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench.py WEFT_BENCH WEFT_BENCH_BAD: weft-bench --profile, its outputs and its exit statuses. Output is TAP."""
import csv
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import schema  # noqa: E402
from tap import done, ok, skip  # noqa: E402

BENCH, BAD = (os.path.abspath(path) for path in sys.argv[1:3])
TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "lab", "profile_table.py")
M, N, NNZ, REPS = 3000, 2000, 40000, 3
SAMPLE = os.environ.get("WEFT_SAMPLE") == "1"
SIZE = [str(M), str(N), str(NNZ)]


def run(program, *args):
    got = subprocess.run([program, "--profile", "--no-roof", *args], stdin=subprocess.DEVNULL, text=True, timeout=300,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return got.returncode, got.stdout, got.stderr


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def test_usage(folder):
    for args, want in [(["--sweep"], "--sweep"), (["--min-time", "1"], "--min-time"), (["--hash"], "--hash"), (["--calls", "3"], "--calls"),
                       (["--json", "-", "--csv", "-"], "standard output")]:
        code, _, err = run(BENCH, "-b", "ref", *args, *SIZE)
        ok(code == 2 and want in err and err.count("\n") == 1, "usage: " + " ".join(args), code, err)
    for option in ["--trace", "--html", "--overhead"]:
        got = subprocess.run([BENCH, option, *([os.path.join(folder, "x")] if option != "--overhead" else []), *SIZE], text=True, timeout=60, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        ok(got.returncode == 2 and "--profile" in got.stderr, f"usage: {option} without --profile", got.stderr)
    code, _, err = run(BENCH, "-b", "ref", "--trace", "/nonexistent/t.json", *SIZE)
    ok(code == 2 and "/nonexistent/t.json" in err, "a trace that cannot be written", code, err)
    path = os.path.join(folder, "seed.json")
    code, _, err = run(BENCH, "-b", "ref", "--reps", "1", "--seed", str(2**53 + 1), "--json", path, *SIZE)
    ok(code == 0 and load(path)["runs"][0]["seed"] == 2**53 + 1, "a seed has all its digits", code, err)
    code, _, err = run(BENCH, "-b", "ref", "--reps", "1", "--json", "/dev/full", *SIZE)
    ok(code == 2 and "cannot be written" in err, "a full disk", code, err)


def test_op(folder, op, backends, least=None):
    """Profile of an operation; `least`: bytes to write and to read, at least."""
    name = lambda end: os.path.join(folder, op + end)  # noqa: E731
    code, out, err = run(BENCH, "-o", op, "-b", backends, "--reps", str(REPS), "--json", name(".json"), "--csv",
                         name(".csv"), "--trace", name(".trace"), "--html", name(".html"), *SIZE)
    if not ok(code == 0 and not err, f"{op} by {backends}", code, err):
        return
    document = load(name(".json"))
    wrong = schema.document_wrong(document)
    ok(not wrong, f"{op}: the record is as documented", wrong)
    ok(all(r["verified"] for r in document["runs"]), f"{op}: every line is verified")
    wrong = schema.trace_wrong(load(name(".trace")))
    ok(not wrong, f"{op}: the trace is as Chrome's format wants it", wrong)
    with open(name(".csv"), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    ok(len(rows) == sum(1 + len(r["phases"]) + len(r["kernels"]) for r in document["runs"]) and
       all(None not in row and float(row["median_ms"]) >= 0 for row in rows),
       f"{op}: a row of CSV for each total, phase and kernel", len(rows))
    ok(max(map(len, out.splitlines())) <= 125 and out.count("profile of " + op) == len(document["runs"]),
       f"{op}: a table for each line", out)
    for r in document["runs"]:
        label = f"{op} {r['backend']} {r['algo']}"
        phases = {p["name"]: p for p in r["phases"]}
        ok(r["reps"] == REPS and "kernel" in phases, f"{label}: {REPS} repetitions, kernels", phases.keys())
        if r["backend"] != "opencl":
            continue
        ok(r["overlaps"] == 0 and min(r.get("gap_us", {"samples": [0]})["samples"]) >= 0, f"{label}: no negative gaps")
        ok(r["clock"]["checked"] > 0 and r["clock"]["outside"] == 0, f"{label}: events agree with the host's clock",
           r["clock"])
        if r.get("gap_us"):
            between = [p["ms"]["samples"] for p in r["phases"] if p["name"] == "gap"]
            ok(all(abs(a * 1000 - b) < 0.01 + 0.01 * b for a, b in zip(between[0] if between else [], r["gap_us"]["samples"])),
               f"{label}: the phase gap is the gaps between kernels", between, r["gap_us"])
        sizes = r["bytes"]
        ok(sizes["write"] >= sizes["write_min"] and sizes["read"] >= sizes["read_min"],
           f"{label}: no fewer bytes than the least", sizes)
        if least:
            ok((sizes["write_min"], sizes["read_min"]) == least, f"{label}: the least bytes", sizes, least)
        commands = r["timeline"]["commands"]
        ok(sum(c["bytes"] for c in commands if c["kind"] == "write") == sizes["write"],
           f"{label}: the bytes are those of the commands")
        ok({c["section"] for c in commands} <= {"setup", "launch", "read"}, f"{label}: every command has its section")
        ok("resources" in r["kernels"][0] or "registers" in r["kernels"][0], f"{label}: registers, or why not")


def test_outcomes(folder):
    path = os.path.join(folder, "bad.json")
    code, out, _ = run(BAD, "-o", "spmv", "-b", "bad", "-a", "far", "--json", path, *SIZE)
    document = load(path)
    r = document["runs"][0]
    ok(code == 1 and not r["verified"] and "error" in r and "phases" not in r and "WRONG" in out,
       "a result that is wrong has no profile", code, r)
    ok(not schema.document_wrong(document), "its record is as documented", schema.document_wrong(document))
    code, out, err = run(BENCH, "-o", "scan", "-b", "ref", "-t", "f64", "--json", "-", *SIZE)
    ok(code == 0 and "skipped" in json.loads(out)["runs"][0], "what is skipped, on standard output", code, out, err)


def test_table(folder):
    """bench/lab/profile_table.py: the pair for study, its bytes and its times."""
    path = os.path.join(folder, "pair.json")
    code, _, err = run(BENCH, "-o", "spmv", "-b", "opencl", "-a", "csr_naive,csr_private", "-t", "f64", "--reps", str(REPS),
                       "--json", path, *SIZE)
    ok(code == 0 and not schema.document_wrong(load(path)), "csr_naive and csr_private", code, err)
    got = subprocess.run([sys.executable, TABLE, path], text=True, timeout=60, check=False, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    wrote, read = NNZ * 12 + (M + 1) * 4 + N * 8, M * 8
    ok(got.returncode == 0 and got.stdout.count(f"| {wrote} | {wrote} | 1 |") == got.stdout.count(f"| {read} | {read} | 1 |") == 2,
       "profile_table.py: bytes of both", got.stdout, got.stderr)
    run_of = {r["algo"]: r for r in load(path)["runs"]}
    lines = [line.split(" | ") for line in got.stdout.splitlines() if line.startswith("| uniform") and line.count("|") == 9]
    kernels = [next(p for p in run_of[a]["phases"] if p["name"] == "kernel")["device_ms"]["median"]
               for a in ("csr_naive", "csr_private")]
    pair = [line for line in lines if "%" in line[3]]
    ok(len(pair) == 1 and all(abs(float(cell) / ms - 1) < 0.01 for cell, ms in zip(pair[0][1:3], kernels)),
       "profile_table.py: the pair's kernels beside each other", pair, kernels)
    document, bad = load(path), os.path.join(folder, "other.json")
    first = document["runs"][0]
    for name, what in [("another document", {}), ("no document", [3]), ("no runs", {**document, "runs": 3}),
                       ("no device", {**document, "devices": []}), ("no command", {**document, "command": None}),
                       ("no phases", {**document, "runs": [{**first, "phases": None}]}), ("no bytes", {**document, "runs": [{**first, "bytes": 1}]}),
                       ("words for times", {**document, "runs": [{**first, "end_to_end_ms": {**first["end_to_end_ms"], "samples": ["1"]}}]})]:
        with open(bad, "w", encoding="utf-8") as file:
            json.dump(what, file)
        got = subprocess.run([sys.executable, TABLE, bad], text=True, timeout=60, check=False, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        ok(got.returncode == 2 and got.stderr.count("\n") == 1 and "other.json is no record" in got.stderr and not got.stdout,
           f"profile_table.py: {name}", got.stderr)


def test_overhead(folder):
    path = os.path.join(folder, "overhead.json")
    code, out, err = run(BENCH, "-o", "expand", "-b", "opencl", "--overhead", "--reps", str(REPS), "--json", path, *SIZE)
    document = load(path)
    r = document["runs"][0]
    ok(code == 0 and not schema.document_wrong(document) and len(r["plain_ms"]["samples"]) == REPS and
       "recording costs" in out, "--overhead: as many repetitions unrecorded", code, err, schema.document_wrong(document))
    ok(r["end_to_end_ms"]["min"] < 3 * r["plain_ms"]["max"] + 5, "recording does not change the order of magnitude",
       r["end_to_end_ms"], r["plain_ms"])


def test_many(folder):
    """Each repetition makes a queue; in the trace they are one track."""
    path = os.path.join(folder, "many.trace")
    code, _, err = run(BENCH, "-o", "spmv", "-b", "opencl", "-a", "csr_private,csr", "--reps", "70", "--trace", path, *SIZE)
    trace = load(path)
    tracks = {(e["pid"], e["args"]["name"]) for e in trace["traceEvents"] if e["ph"] == "M" and e["args"]["name"].startswith("queue")}
    ok(code == 0 and not schema.trace_wrong(trace), "a trace of many repetitions", code, err, schema.trace_wrong(trace))
    ok(tracks == {(1, "queue 0"), (2, "queue 0")}, "the queues of all repetitions are one", tracks)


def test_killed(folder):
    """What is complete is in the files while the next matrix is being made."""
    path, table = os.path.join(folder, "killed.json"), os.path.join(folder, "killed.txt")
    with open(table, "w", encoding="utf-8") as out, \
         subprocess.Popen([BENCH, "--profile", "--no-roof", "-o", "spmv", "-b", "ref", "--reps", "2", "--json", path, "-g",
                           "stencil27:8", "-g", "stencil27:150"], stdin=subprocess.DEVNULL, stdout=out,
                          stderr=subprocess.DEVNULL) as bench:
        runs = []
        while not runs and bench.poll() is None:
            time.sleep(0.01)
            try:
                runs = load(path)["runs"]
            except (OSError, ValueError):
                pass  # not there yet, or half written
        early = bench.poll() is None
        bench.kill()
    with open(table, encoding="utf-8") as file:
        text = file.read()
    ok(early and len(runs) == 1 and runs[0]["verified"] and not schema.document_wrong(load(path)) and
       text.count("profile of") == 1, "a bench that is killed leaves what it had measured", early, runs, text)


def test_roof(folder):
    path = os.path.join(folder, "roof.json")
    got = subprocess.run([BENCH, "--profile", "-o", "spmv", "-b", "opencl", "-a", "csr", "--reps", "2", "--json", path, *SIZE],
                         text=True, timeout=300, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    document = load(path)
    ceilings, r = document["devices"][0]["ceilings"], document["runs"][0]
    ok(got.returncode == 0 and ceilings["copy_gbps"] > 0 and ceilings["triad_gbps"] > 0 and
       ceilings["queue_us"]["median"] > 0, "ceilings of the device", ceilings)
    roof = r["roofline"]
    ok(abs(roof["copy_share"] * ceilings["copy_gbps"] / roof["gbps"] - 1) < 1e-3 and
       abs(roof["intensity"] - roof["flops"] / roof["bytes"]) < 1e-4, "the place below the roof", roof)


def main(folder):
    test_usage(folder)
    test_outcomes(folder)
    test_op(folder, "expand", "ref")
    test_killed(folder)
    listed = subprocess.run([BENCH, "--list"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    if listed.returncode:
        skip("no OpenCL device")
        return
    matrix = NNZ * 8 + (M + 1) * 4
    test_op(folder, "spmv", "ref,opencl", (matrix + N * 4, M * 4))
    test_op(folder, "scan", "opencl", (NNZ * 4, NNZ * 4))
    if not SAMPLE:
        test_op(folder, "transpose", "omp,opencl", (matrix, NNZ * 8 + (N + 1) * 4))
    test_table(folder)
    test_many(folder)
    test_overhead(folder)
    test_roof(folder)


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
sys.exit(done())
