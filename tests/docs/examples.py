#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples.py ROOT TRANSPOSE PRIMITIVES: the examples of the pages on transposition and primitives are the ones that are
compiled, and do what they say. TAP."""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok, skip  # noqa: E402

ROOT, TRANSPOSE, PRIMITIVES = sys.argv[1:4]
def text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def run(*args, program=TRANSPOSE):
    done = subprocess.run([program, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


example = text("docs/examples/transpose.c").split("\n", 1)[1].strip()
ok(f"```c\n{example}\n```" in text("docs/transpose.md"), "docs/transpose.md shows docs/examples/transpose.c as it is")
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "a.mtx")
    with open(path, "w", encoding="ascii") as file:
        file.write("%%MatrixMarket matrix coordinate real general\n3 2 4\n1 2 4\n3 1 -2\n2 2 0.5\n1 1 3\n")
    code, out, err = run(path)
    if code and "no OpenCL" in err:
        skip(err.strip())
    else:
        ok(code == 0 and out == "1 1 3\n3 1 -2\n1 2 4\n2 2 0.5\n", "it prints the matrix by columns", code, out, err)
code, out, err = run("/nonexistent.mtx")
ok(code == 1 and "/nonexistent.mtx" in err and not out, "and says what is wrong with a file", code, out, err)
code, out, err = run()
ok(code == 1 and "usage" in err, "or with its arguments", code, out, err)

compiled = text("docs/examples/primitives.c")
PAGES = {"scan": ["scan: 0 3 4 4 8"], "histogram": ["histogram: 0 1 1 3 4"], "expand": ["expand: 0 0 2"],
         "merge": ["merge, two: 1 2 3 3 3", "merge, two, payload: 0 3 1 2 4", "merge, blocks: 1 4 5 7 2 3 9",
                   "merge, blocks, payload: 2 0 3 1 4 6 5"],
         "segsort": ["segsort, rows: 1 4 5 2 9", "segsort, rows, payload: 1 2 0 4 3", "segsort, blocks: 1 5 4 9 2"],
         "permute": ["permute, row_ptr: 0 3 4 4", "permute, col: 0 2 3 1", "permute, val: 6 7 8 5",
                     "permute, y: 20 30 10"],
         "canonical": ["canonical, row_ptr: 0 2 2 4", "canonical, col: 0 2 0 1", "canonical, val: 6 12 3 3"]}
code, out, err = run(program=PRIMITIVES)
for page, lines in PAGES.items():
    blocks = [b for b in re.findall(r"(?:^    .*\n)+", text(f"docs/{page}.md"), re.M) if "struct weft_" in b]
    ok(len(blocks) == 1 and blocks[0] in compiled, f"docs/{page}.md shows docs/examples/primitives.c as it is", *blocks)
    if code and "no OpenCL" in err:
        skip(err.strip())
    else:
        ok(code == 0 and not err and [line for line in out.splitlines() if re.split("[:,]", line)[0] == page] == lines,
           f"and it prints what docs/{page}.md says", code, out, err)
sys.exit(done())
