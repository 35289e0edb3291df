#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""covers.py HEADERS SOURCE...: is each public function that may fail called where allocations and OpenCL calls fail?

Every function of the folder HEADERS that returns weft_status must be called in one of the sources, the lives of suite `fault`, or
stand in OTHERS with a reason. A row there for a function that is called, or that no header has, is an error too. Output is TAP.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok  # noqa: E402

PURE = "allocates nothing and makes no call of OpenCL"
OTHERS = {
    "weft_csr_rebase": PURE,
    "weft_csr_validate": PURE,
    "weft_csr_validate_columns": PURE,
    "weft_density_hierarchy": PURE,
    "weft_load_imbalance": PURE,
    "weft_vector_permute": PURE,
    "weft_selftest": "whole programs: test program_faults lets calls fail below `weft selftest`",
}


def functions(text):
    """Names of the functions of a header that return a status, but for those that read a word."""
    names = re.findall(r"^WEFT_API weft_status (\w+)\(", text, re.MULTILINE)
    return {name for name in names if not name.endswith("_parse")}


def calls(text):
    """Names before a parenthesis, outside of comments and strings."""
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(\\.|[^"\\\n])*"', " ", text, flags=re.DOTALL)
    return set(re.findall(r"\b(weft_\w+)\(", text))


def judged(public, called, others):
    """Functions without a life, and rows of `others` that are not needed."""
    return sorted(public - called - others), sorted(others & called | others - public)


def main():
    folder, sources = sys.argv[1], sys.argv[2:]
    public, called = set(), set()
    for name in sorted(os.listdir(folder)):
        if name.endswith(".h"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                public |= functions(file.read())
    for path in sources:
        with open(path, encoding="utf-8") as file:
            called |= calls(file.read())
    missing, stale = judged(public, called, set(OTHERS))
    ok(not missing and len(public) > 60, f"{len(public)} public functions may fail: each has a life, or a reason", *missing)
    ok(not stale, f"{len(OTHERS)} reasons are needed", *stale)
    header = "\nWEFT_API weft_status weft_a(int b);\nWEFT_API void weft_b(void);\nWEFT_API weft_status weft_c_parse(int *c);\n"
    source = 'weft_x(); // weft_a();\nf("weft_a(");\n/* weft_a( */'
    ok(functions(header) == {"weft_a"} and calls(source) == {"weft_x"} and judged({"weft_a"}, set(), set()) == (["weft_a"], []) and
       judged({"weft_a"}, {"weft_a"}, {"weft_a", "weft_y"}) == ([], ["weft_a", "weft_y"]), "one without a life is found")
    return done()


sys.exit(main())
