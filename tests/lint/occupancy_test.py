#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""occupancy_test.py WEFT_KERNELS: bench/lab/occupancy finds a text for every tile that it compiles, and chooses by its rules. TAP."""
import importlib.machinery
import importlib.util
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from tap import done, ok  # noqa: E402

sys.dont_write_bytecode = True
path = os.path.join(HERE, "..", "..", "bench", "lab", "occupancy")
loader = importlib.machinery.SourceFileLoader("lab_occupancy", path)
lab = importlib.util.module_from_spec(importlib.util.spec_from_loader("lab_occupancy", loader))
loader.exec_module(lab)


def rows(*of):
    """(elements, row) of (elements, waves of 32, groups, spills)."""
    return [(size, {"waves": waves, "waves_max": 32, "groups": groups, "spills": spills, "stack_bytes": 0})
            for size, waves, groups, spills in of]


def test_choice():
    falling = rows((1024, 32, 8, 0), (2048, 24, 6, 0), (3072, 16, 4, 0), (4096, 8, 2, 0), (8192, 8, 1, 0))
    for rule, want in ("passing", 1), ("counting", 2), ("sorting", 3):
        got = lab.choice([falling], rule, 8192)
        ok(got == want, f"{rule}: the largest tile that leaves enough waves and two groups", got)
    more = rows((1024, 32, 8, 0), (2048, 32, 8, 0), (3072, 32, 8, 0), (4096, 24, 6, 0), (8192, 16, 4, 0))
    for columns, most, want, why in [
            ([more], 8192, 3, "by itself"), ([falling, more], 8192, 1, "with a target that holds less"), ([more], 3500, 2, "no larger than the best of an H200"),
            ([rows((1024, 24, 6, 0), (2048, 24, 6, 3))], 8192, 0, "none that spills"),
            ([rows((1024, 24, 6, 0), (1024, 28, 7, 0))], 8192, 1, "of tiles as large the one with more waves"),
            ([rows((1024, 20, 5, 0), (2048, 16, 4, 0))], 8192, 0, "where none leaves enough, the most waves")]:
        ok(lab.choice(columns, "passing", most) == want, why, lab.choice(columns, "passing", most))


def test_texts(program):
    with tempfile.TemporaryDirectory() as out:
        texts = lab.kernels.texts_of(program, out, "amd")
        missing = []
        for operation, rule, _, sources, candidates, _ in lab.WORK:
            ok(rule in lab.RULES, f"{operation}: a rule")
            for source, has, lacks, names in sources:
                for which in lab.kernels.SETS["amd"]:
                    text = next((t for t in texts if t["set"] == which and lab.fits(t, source, has, lacks)), None)
                    if not text:
                        missing.append(f"{source} {has} ({which})")
                        continue
                    with open(text["path"], encoding="utf-8") as file:
                        body = file.read()
                    missing += [name for name in names if f"void {name}(" not in body]
                    made = [lab.variant_of(text, candidate, out) for candidate in candidates]
                    ok(len({one["path"] for one in made}) == len(candidates) and all(f"WG{one['wg']}_" in one["path"] for one in made),
                       f"{operation}: {source} ({which}) in {len(candidates)} tiles")
        ok(not missing, "every variant and kernel is there", *missing)


test_choice()
test_texts(sys.argv[1])
sys.exit(done())
