#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lint_test.py: circles, private includes and missing sentences that are planted, and what lint says of them. TAP."""
import contextlib
import io
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from tap import done, ok  # noqa: E402

sys.path.insert(0, HERE)
import interface  # noqa: E402
import purpose  # noqa: E402
import rooms  # noqa: E402

HEAD = "// SPDX-License-Identifier: Apache-2.0\n"


def planted(files):
    """(exit status, graph by floors, complaints) of a project with these files, {path: paths that it includes}."""
    with tempfile.TemporaryDirectory() as root:
        for path, targets in files.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.writelines(f'#include "{target}"\n' for target in targets)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = rooms.main(root)
        return code, out.getvalue(), err.getvalue()


def test_rooms():
    code, graph, said = planted({
        "host/src/core/error.h": [], "host/src/core/error.c": ["error.h", "missing.h"],
        "host/src/spmv/spmv.c": ["host/src/core/error.h"], "host/internal/core.h": ["host/src/core/error.h"],
        "bench/main.c": ["host/internal/core.h"], "tests/core/error.c": ["host/internal/core.h"]})
    ok(code == 0 and not said, "a project without a circle", said)
    ok([line.split() for line in graph.splitlines()] == [
        ["floor", "1", "host/src/core"], ["floor", "2", "host/internal", "host/src/core"],
        ["floor", "2", "host/src/spmv", "host/src/core"], ["floor", "3", "bench", "host/internal"]], "its floors", graph)
    code, graph, said = planted({
        "bench/a.c": ["tool/b.h"], "tool/b.h": ["profile/c.h"], "profile/c.h": ["bench/d.h"], "bench/d.h": []})
    ok(code == 1 and "circle of folders: bench -> tool -> profile -> bench" in said and
       "    tool/b.h includes profile/c.h" in said and not graph, "a circle of three folders", graph, said)
    for top in "host/src/core", "profile":
        files = {f"{top}/a.c": ["a.h", "b.h"], f"{top}/a.h": [], f"{top}/b.h": [], f"{top}/b.c": ["b.h", f"{top}/a.h"]}
        code, _, said = planted(files)
        ok(code == 1 and f"circle of files: {top}/a -> {top}/b -> {top}/a" in said, f"a circle of files in {top}", said)
    code, _, said = planted({"bench/a.c": ["a.h", "b.h"], "bench/a.h": [], "bench/b.h": ["a.h"]})
    ok(code == 0, "elsewhere files of a folder may", said)
    code, _, said = planted({"host/src/core/error.h": [], "tests/core/error.c": ["host/src/core/error.h"]})
    ok(code == 1 and "tests/core/error.c includes host/src/core/error.h: private" in said, "a private header", said)


def test_purpose():
    for text, wanted in [
            (HEAD + "// Reads a matrix.\n#include <a.h>\n", ""),
            (HEAD + "// y[i], i = 0 .. n-1, of\n// the vector x.\n", ""),
            ("// Reads a matrix.\n", "line 1"), ("", "line 1"), (HEAD + "\n// Reads a matrix.\n", "line 2"),
            (HEAD + "#include <a.h>\n", "line 2"), (HEAD + "//\n// Reads a matrix.\n", "line 2"),
            (HEAD + "// Reads a matrix\n", "no sentence"), (HEAD + "// Reads.\n", "no sentence"),
            (HEAD + 4 * "// one word and the next\n" + "// end.\n", "no sentence")]:
        why = purpose.complaint(text)
        ok(why.startswith(wanted) if wanted else not why, f"{text.replace(HEAD, '')!r}: {wanted or 'good'}", why)


def test_interface():
    text = """typedef enum weft_s { WEFT_A = 0, WEFT_B = -1,
        WEFT_C } weft_s;
    struct weft_x { int a; struct { int b; } c; };
    struct weft_y;
    extern "C" const char weft_v;
    void  weft_f(void (*fn)(int),
                 int n);
    static inline int weft_i(int a) { if (a) { return 1; } return 2; }
    int weft_g(void);"""
    found = interface.declarations(text)
    ok(len(found) == 7 and "void weft_f(void (*fn)(int), int n)" in found and "static inline int weft_i(int a)" in found,
       "declarations of a header", *found)
    ok(interface.names_of(found) == (["weft_x"], ["WEFT_A", "WEFT_B", "WEFT_C"], ["weft_v", "weft_g", "weft_f"]),
       "their structs, enumerators and functions", interface.names_of(found))


test_rooms()
test_purpose()
test_interface()
sys.exit(done())
