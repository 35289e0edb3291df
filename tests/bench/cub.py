#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cub.py STANDIN [WEFT_CUB]: weft-cub with a stand-in of CUB on the host, and itself where there is a GPU. Output is TAP."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok, skip  # noqa: E402

CASES = [("scan", "exclusive_sum"), ("segsort", "whole"), ("histogram", "even"), ("histogram", "even_scan"),
         ("histogram", "atomic"), ("histogram", "atomic_scan")]


def run(program, *args, **env):
    made = subprocess.run([program, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env={**os.environ, **env}, timeout=300, check=False)
    return made.returncode, made.stdout, made.stderr


def cases(program, name):
    code, out, err = run(program, "-g", "uniform:3000,700,50000", "--reps", "3")
    lines = [json.loads(line) for line in out.splitlines()]
    return ok(code == 0 and not err and [(r["op"], r["algo"]) for r in lines] == CASES and
              all(r["verified"] and r["backend"] == "cub" and r["samples"] == 3 and r["median_ms"] > 0 and r["m"] == 3000 and
                  r["nnz"] == 50000 for r in lines), name, out, err), lines


def test_standin(program):
    for args in (["--bogus"], ["--reps", "0"], ["--reps", "x"], ["--seed", "-"], ["--seed", ""], ["--seed", "-1"],
                 ["-o", "x"], ["-o", ""], ["-o", "scan,"], ["-o", "scanner"], ["more"], ["-g"], ["-g", "nosuch:3"],
                 ["-g", "uniform:3,3,0"], ["--json", "/nonexistent/x"]):
        code, out, err = run(program, *args)
        ok(code == 2 and not out and err.count("\n") == 1, "usage: " + " ".join(args), code, out, err)
    code, out, err = run(program, "--help")
    ok(code == 0 and out.startswith("usage: weft-cub") and not err, "--help", out, err)
    _, lines = cases(program, "every primitive agrees with the reference of weft-bench")
    ok([r["median_ms"] for r in lines] == [2] * 6 and [r["bytes_min"] for r in lines] ==
       [400000, 2 * 400000 + 8, *[200000 + 701 * 4] * 4] and [r["type"] for r in lines] == ["i32", *["f32"] * 5],
       "medians, bytes and types are those of weft-bench", *lines)
    code, out, err = run(program, "-g", "band:100,3", "-g", "uniform:9,9,9", "-o", "histogram", "--reps", "1", "--json", "-")
    ok(code == 0 and [json.loads(line)["matrix"] for line in out.splitlines()] == ["band:100,3"] * 4 + ["uniform:9,9,9"] * 4,
       "-g and -o pick", out, err)
    code, out, err = run(program, "-g", "uniform:9,9,90", WEFT_STANDIN="wrong")
    lines = [json.loads(line) for line in out.splitlines()]
    ok(code == 1 and len(lines) == 6 and not any(r["verified"] or "median_ms" in r for r in lines) and
       all("error" in r and r["fault"] == "wrong" for r in lines),
       "a wrong result has no times, and the exit status is 1", out, err)
    code, out, err = run(program, "-g", "uniform:9,9,90", WEFT_STANDIN="memory")
    ok(code == 0 and all("memory" in json.loads(line)["skipped"] for line in out.splitlines()), "too little memory is skipped", out)
    code, out, err = run(program, WEFT_STANDIN="none")
    ok(code == 3 and not out and err == "weft-cub: no CUDA device\n", "without a GPU one line says so", out, err)
    code, out, err = run(program, "--like", "another")
    ok(code == 3 and not out and err.count("\n") == 1 and "another" in err, "a GPU that is not there", err)


def main():
    test_standin(sys.argv[1])
    if len(sys.argv) < 3:
        skip("weft-cub is not built here (nvcc)")
    elif run(sys.argv[2])[2] == "weft-cub: no CUDA device\n":
        skip("no CUDA device")
    else:
        cases(sys.argv[2], "CUB on a GPU agrees with the reference")
    return done()


sys.exit(main())
