#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: make.py              write lshape.mtx.gz and includes.mtx in this folder
       make.py check WEFT   lshape.mtx.gz is what would be written, and the program WEFT reads every matrix here.

lshape    stiffness matrix of linear triangles for the Laplace equation on an L-shaped plate, refined towards its inner corner
includes  which C file of weft includes which, as the files are when the script runs
"""
import gzip
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SIDE = 72  # squares along the long side


def lshape():
    """Lines of the matrix: points of (-1, 1)^2 without the upper right quarter, zero on the boundary."""
    half = SIDE // 2
    at = [(abs(i - half) / half) ** 1.5 * (1 if i > half else -1) for i in range(SIDE + 1)]

    def inside(i, j):
        return 0 <= i < SIDE and 0 <= j < SIDE and not (i >= half and j >= half)  # of squares

    number = {}
    for j in range(1, SIDE):
        for i in range(1, SIDE):
            if all(inside(i - a, j - b) for a in (0, 1) for b in (0, 1)):
                number[i, j] = len(number) + 1
    entries = {}
    for j in range(SIDE):
        for i in range(SIDE):
            if not inside(i, j):
                continue
            for corners in (((i, j), (i + 1, j), (i + 1, j + 1)), ((i, j), (i + 1, j + 1), (i, j + 1))):
                xy = [(at[a], at[b]) for a, b in corners]
                edge = [(xy[(k + 2) % 3][0] - xy[(k + 1) % 3][0], xy[(k + 2) % 3][1] - xy[(k + 1) % 3][1]) for k in range(3)]
                area = abs(edge[0][0] * edge[1][1] - edge[0][1] * edge[1][0]) / 2
                for a in range(3):
                    for b in range(3):
                        row, col = number.get(corners[a], 0), number.get(corners[b], 0)
                        if row >= col > 0:
                            share = (edge[a][0] * edge[b][0] + edge[a][1] * edge[b][1]) / (4 * area)
                            entries[col, row] = entries.get((col, row), 0.0) + share
    lines = ["%%MatrixMarket matrix coordinate real symmetric", "% " + __doc__.split("\n")[3][10:].strip() + ".",
             f"{len(number)} {len(number)} {len(entries)}"]
    return lines + [f"{row} {col} {value:.9g}" for (col, row), value in sorted(entries.items())]


def includes():
    sys.path.insert(0, os.path.join(HERE, "..", "tests", "lint"))
    import rooms
    graph = rooms.includes(os.path.join(HERE, ".."))
    number = {name: k + 1 for k, name in enumerate(sorted(graph))}
    pairs = sorted((number[a], number[b]) for a, targets in graph.items() for b in targets)
    return ["%%MatrixMarket matrix coordinate pattern general",
            "% Which C file of weft 0.1.0 (row) includes which other (column), files in the order of their names.",
            f"{len(number)} {len(number)} {len(pairs)}"] + [f"{a} {b}" for a, b in pairs]


def text(lines):
    return ("\n".join(lines) + "\n").encode()


if sys.argv[1:] in (["--help"], ["-h"]):
    print(__doc__.strip())
    sys.exit(0)
if sys.argv[1:] and (sys.argv[1] != "check" or len(sys.argv) != 3):
    print(f"make.py: no such arguments: {' '.join(sys.argv[1:])} (--help explains)", file=sys.stderr)
    sys.exit(2)
if sys.argv[1:]:
    with gzip.open(os.path.join(HERE, "lshape.mtx.gz")) as file:
        if file.read() != text(lshape()):
            sys.exit("lshape.mtx.gz is not what make.py writes")
    found = sorted(name for name in os.listdir(HERE) if ".mtx" in name)
    for name in found:
        subprocess.run([sys.argv[2], "info", "--quiet", os.path.join(HERE, name)], check=True, stdout=subprocess.DEVNULL)
    sys.exit(0 if len(found) == 3 else f"not three matrices: {found}")
with open(os.path.join(HERE, "lshape.mtx.gz"), "wb") as file:
    file.write(gzip.compress(text(lshape()), mtime=0))
with open(os.path.join(HERE, "includes.mtx"), "wb") as file:
    file.write(text(includes()))
