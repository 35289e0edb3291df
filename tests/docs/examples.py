#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples.py ROOT TRANSPOSE: the example of the README is the one that is compiled, and does what it says. TAP."""
import os
import subprocess
import sys
import tempfile

ROOT, TRANSPOSE = sys.argv[1:3]
count = failed = 0


def ok(good, name, *notes):
    global count, failed
    count += 1
    failed += not good
    print("ok" if good else "not ok", count, "-", name)
    if not good:
        for note in notes:
            print("# ", str(note).replace("\n", "\n#  "))


def text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def run(*args):
    done = subprocess.run([TRANSPOSE, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


example = text("docs/examples/transpose.c").split("\n", 1)[1].strip()
ok(f"```c\n{example}\n```" in text("README.md"), "the README shows docs/examples/transpose.c as it is")
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "a.mtx")
    with open(path, "w", encoding="ascii") as file:
        file.write("%%MatrixMarket matrix coordinate real general\n3 2 4\n1 2 4\n3 1 -2\n2 2 0.5\n1 1 3\n")
    code, out, err = run(path)
    if code and "no OpenCL" in err:
        print("ok 2 # SKIP", err.strip())
        count += 1
    else:
        ok(code == 0 and out == "1 1 3\n3 1 -2\n1 2 4\n2 2 0.5\n", "it prints the matrix by columns", code, out, err)
code, out, err = run("/nonexistent.mtx")
ok(code == 1 and "/nonexistent.mtx" in err and not out, "and says what is wrong with a file", code, out, err)
code, out, err = run()
ok(code == 1 and "usage" in err, "or with its arguments", code, out, err)
print(f"1..{count}")
sys.exit(failed != 0)
