#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""calls.py WEFT_BENCH: bench/lab/calls with tiny matrices, and with a bench that gives known times. Output is TAP."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok  # noqa: E402

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "lab", "calls")
BENCH = os.path.abspath(sys.argv[1])
# A bench whose calls take what TIMES says: {entries: [ours, theirs]}; null: not verified.
FAKE = """#!{python}
import json, os, sys
times = json.loads(os.environ["TIMES"])
spec = sys.argv[sys.argv.index("-g") + 1]
ours, theirs = times[spec.split(",")[-1]]
with open(sys.argv[sys.argv.index("--json") + 1], "w") as file:
    for op in sys.argv[sys.argv.index("-o") + 1].split(","):
        for backend, algo, ms in [("cusparse", "alg1", theirs), ("cusparse", "alg2", theirs and theirs + 5), ("opencl", "auto", ours)]:
            r = {{"op": op, "backend": backend, "algo": algo, "device": "GPU", "verified": ms is not None, "calls": 3}}
            r.update({{"end_to_end_ms": ms}} if ms is not None else {{"error": "col[3] is 1, not 2"}})
            r.update({{"fault": "failed"}} if ms is None and "FAILED" in os.environ else {{}})
            file.write(json.dumps(r) + "\\n")
sys.exit(3 if "FAILED" in os.environ else 1 if ours is None else 0)
"""


def run(*args, **env):
    made = subprocess.run([sys.executable, TOOL, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env={**os.environ, **env}, timeout=300, check=False)
    return made.returncode, made.stdout, made.stderr


def rows_of(folder, times, *args, **env):
    path = os.path.join(folder, "fake")
    with open(path, "w", encoding="utf-8") as file:
        file.write(FAKE.format(python=sys.executable))
    os.chmod(path, 0o755)
    summary = os.path.join(folder, "calls.json")
    code, out, err = run("--bench", path, "--json", summary, *args, TIMES=json.dumps(times), **env)
    with open(summary, encoding="utf-8") as file:
        made = json.load(file)
    return code, {(r["op"], r["entries"]): r["verdict"] for r in made["rows"]}, made["wrong"], out + err


def main():
    with tempfile.TemporaryDirectory() as folder:
        code, out, err = run("--quick", "--bench", BENCH, "--json", os.path.join(folder, "quick.json"))
        with open(os.path.join(folder, "quick.json"), encoding="utf-8") as file:
            made = json.load(file)
        ok(code == 0 and not err and len(made["rows"]) == 4 and not made["wrong"] and
           all(r["verdict"] == "pass" and r["ms"] > 0 for r in made["rows"]) and out.count("pass") == 4,
           "a quick run passes on any device", out, err)
        times = {"10000": [1, 0.9], "100000": [1, 1.1], "1000000": [2, 2], "3000000": [2, 7.9], "10000000": [15.5, 90],
                 "100000000": [109, 440]}
        code, verdicts, wrong, text = rows_of(folder, times)
        ok(code == 0 and not wrong and verdicts == {
            **{("transpose", 10 ** 4): "short", ("transpose", 10 ** 5): "pass", ("transpose", 10 ** 6): "pass"},
            **{("transpose", 3 * 10 ** 6): "short", ("transpose", 10 ** 7): "short", ("transpose", 10 ** 8): "pass"},
            **{("spmv", 10 ** 4): "short", ("spmv", 10 ** 5): "pass", ("spmv", 10 ** 6): "pass"},
            **{("spmv", 3 * 10 ** 6): "short", ("spmv", 10 ** 7): "pass", ("spmv", 10 ** 8): "pass"}},
           "times and limits decide", text)
        code, verdicts, wrong, text = rows_of(folder, {"10000": [None, 1], "100000": [1, 1]}, "--most", "1e5", "-o", "transpose")
        ok(code == 1 and len(wrong) == 1 and "col[3]" in wrong[0] and "WRONG: transpose opencl auto" in text and
           verdicts == {("transpose", 10 ** 4): "not run", ("transpose", 10 ** 5): "pass"}, "a wrong result has no time", text)
        code, verdicts, wrong, text = rows_of(folder, {"10000": [1, None]}, "--most", "1e4", "-o", "transpose", FAILED="1")
        ok("failed beside weft: transpose cusparse alg1" in text and not wrong and code == 0, "a library that failed is no wrong result", text)
        code, verdicts, wrong, text = rows_of(folder, {"10000": [None, 1]}, "--most", "1e4", "-o", "transpose", FAILED="1")
        ok(code == 3 and not wrong and "failed: transpose opencl auto" in text, "a line of weft that failed is a failure", text)
        kept = os.path.join(folder, "kept.mtx")
        with open(kept, "w", encoding="utf-8") as file:
            file.write("1 1 1\n")
        for args, want in [(["--json", kept], "looks like a matrix"), (["--bogus"], "--bogus"), (["--most", "-1"], "--most is -1"),
                           (["--most", "nan"], "--most is nan"), (["--calls", "0"], "--calls is 0"), (["--most", "1e6", "--quick"], "without --most"),
                           (["--bench", "/nonexistent"], "/nonexistent"), (["-o", "scan"], "--op"),
                           (["--json", "/nonexistent/x"], "/nonexistent/x"), (["--json", ""], "--json is empty")]:
            code, out, err = run(*args)
            ok(code == 2 and not out and err.count("\n") == 1 and want in err, "usage: " + args[0], out, err)
    return done()


sys.exit(main())
