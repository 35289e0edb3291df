#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""spmv_examples.py ROOT SPMV CG BELLMAN_FORD: the examples of products are the ones that are compiled, and their results
are right. TAP."""
import heapq
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok  # noqa: E402

ROOT, SPMV, CG, BELLMAN_FORD = sys.argv[1:5]
def text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def run(program, *args):
    done = subprocess.run([program, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def mtx(path, n, edges):
    with open(path, "w", encoding="ascii") as file:
        file.write(f"%%MatrixMarket matrix coordinate real general\n{n} {n} {len(edges)}\n")
        file.writelines(f"{i} {j} {w}\n" for i, j, w in edges)


def dijkstra(n, edges, start):
    out = [[] for _ in range(n + 1)]
    for i, j, w in edges:
        out[i].append((j, w))
    best, heap = {}, [(0, start)]
    while heap:
        d, i = heapq.heappop(heap)
        if i not in best:
            best[i] = d
            for j, w in out[i]:
                heapq.heappush(heap, (d + w, j))
    return best


code, out, err = run(SPMV)
if code and "no OpenCL" in err:
    print("1..0 # SKIP", err.strip())
    sys.exit(0)
example = text("docs/examples/spmv.c").split("\n", 1)[1].strip()
ok(f"```c\n{example}\n```" in text("README.md"), "the README shows docs/examples/spmv.c as it is")
ok(code == 0 and out == "12 30\n" and not err, "it multiplies", code, out, err)

for spec, unknowns in ("stencil27:12", 1728), ("stencil5:40", 1600), ("stencil5:1", 1):
    code, out, err = run(CG, spec)
    lines = out.splitlines()
    shown = [float(line.split()[-1]) for line in lines if line.startswith("round")]
    last = re.fullmatch(r"converged after (\d+) rounds, largest error (\S+)", lines[-1] if lines else "")
    ok(code == 0 and not err and lines[0].startswith(f"{unknowns} unknowns") and last and shown and
       shown[-1] <= 1e-5 and float(last[2]) < 1e-3, f"cg converges on {spec}", code, out, err)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "graph.mtx")
    mtx(path, 3, [(1, 1, 1), (2, 2, -1), (3, 3, 2)])
    code, out, err = run(CG, path)
    ok(code in (0, 1) and "converged" in out and "nan" not in out, "cg ends on a matrix that is not definite", out, err)
    mtx(path, 0, [])
    code, out, err = run(CG, path)
    ok(code == 0 and not err and out.endswith("converged after 0 rounds, largest error 0.00e+00\n") and "NOT" not in out,
       "cg without unknowns has converged", code, out, err)
    code, out, err = run(CG, os.path.join(folder, "absent.mtx"))
    ok(code == 1 and "absent.mtx" in err and not out, "cg says what it cannot read", code, out, err)

    random.seed(7)
    for n, m in (12, 30), (400, 1500):
        edges = sorted({(random.randint(1, n), random.randint(1, n)) for _ in range(m)})
        edges = [(i, j, random.randint(1, 9)) for i, j in edges]
        mtx(path, n, edges)
        start = edges[0][0]
        best = dijkstra(n, edges, start)
        code, out, err = run(BELLMAN_FORD, path, str(start))
        lines = out.splitlines()
        last = re.fullmatch(r"(\d+) of (\d+) vertices reached in \d+ rounds, the farthest at (\S+)", lines[-1])
        want = [f"{i} {best[i]}" for i in sorted(best)] if n <= 20 else []
        ok(code == 0 and not err and lines[:-1] == want and last and int(last[1]) == len(best) and
           float(last[3]) == max(best.values()), f"shortest paths in a graph of {n} vertices", code, out, err)
        code, out, err = run(BELLMAN_FORD, "--reach", path, str(start))
        lines = out.splitlines()
        want = [str(i) for i in sorted(best)] if n <= 20 else []
        ok(code == 0 and lines[:-1] == want and lines[-1].startswith(f"{len(best)} of {n} vertices reached in "),
           f"what can be reached in a graph of {n} vertices", code, out, err)
    code, out, err = run(BELLMAN_FORD, path, "401")
    ok(code == 1 and "no such vertex" in err, "a vertex that is not there", code, out, err)
code, out, err = run(BELLMAN_FORD)
ok(code == 1 and "usage" in err, "no graph", code, out, err)
sys.exit(done())
