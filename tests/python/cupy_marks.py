#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cupy_marks.py BUILT ROOT: bench/lab/cupy_marks.py beside a stand-in for CuPy, and without one. Output is TAP."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import begin, done, ok  # noqa: E402

BUILT, ROOT = sys.argv[1:3]
begin(BUILT)
STANDIN = os.path.join(ROOT, "tests/python/cupy_standin")


def run(*args, path=(STANDIN, BUILT), **env):
    """The marks with these options: status, output, errors."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    made = subprocess.run([sys.executable, os.path.join(ROOT, "bench/lab/cupy_marks.py"), *args], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300, check=False, cwd="/",
                          env={**kept, "PYTHONPATH": os.pathsep.join(path), **env})
    return made.returncode, made.stdout, made.stderr


def test_table():
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "out.json")
        status, said, errors = run("--entries", "1k,20000", "--runs", "3", "--json", name)
        with open(name, encoding="utf-8") as file:
            found = json.load(file)
    ok(status == 0 and not errors, "the marks run from a build folder", said, errors)
    want = [(e, t, w) for e in (1000, 20000) for t in ("f32", "f64") for w in ("transpose", "product", "first")]
    ok([(r["entries"], r["type"], r["what"]) for r in found["rows"]] == want, "a row for each size, type and call", found)
    ok(all(len(r["cupy_ms"]) == len(r["weft_ms"]) == 3 and min(r["cupy_ms"] + r["weft_ms"]) > 0 for r in found["rows"]),
       "three times of each", found)
    lines = [line.split(" | ") for line in said.splitlines() if line.startswith(("| transpose", "| product", "| first"))]
    ok([(int(c[1]), c[2], c[0][2:]) for c in lines] == want, "the table has them", said)
    ok(found["cupy_device"] == "stand-in" and found["device"] and found["wrong"] == [], "what ran is told", found)


def test_wrong():
    status, said, errors = run("--entries", "1k", "--type", "f64", "--runs", "2", CUPY_STANDIN="wrong")
    wrong = [line for line in said.splitlines() if line.startswith("WRONG: ")]
    ok(status == 1 and len(wrong) == 3 and all(line.endswith("f64: CuPy") for line in wrong),
       "wrong results are found, and whose they are", said, errors)


def test_refusals():
    for name, what, args, env in (
            ("no CuPy", 3, (), {"path": (BUILT,)}), ("CuPy has no device", 3, (), {"CUPY_STANDIN": "none"}),
            ("no weft: ", 3, (), {"path": (STANDIN,)}), ("--entries", 2, ("--entries", "many"), {}),
            ("--type", 2, ("--type", "f16"), {}), ("--runs", 2, ("--runs", "1"), {})):
        status, said, errors = run(*args, **env)
        if name == "no CuPy" and status == 0:
            continue  # this machine has it
        ok(status == what and errors.startswith(f"cupy_marks: {name}") and errors.count("\n") == 1 and not said,
           f"{name}: exit status {what}", status, said, errors)


test_table()
test_wrong()
test_refusals()
sys.exit(done())
