#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coverage.py: which lines of the library and its kernels did the tests of a build run?

    coverage.py host BUILD      lines and branches of host/ and tool/, of a build with -Db_coverage=true (gcovr)
    coverage.py kernels BUILD   lines of cl/, of a build with -Dkernel_coverage=true (kernels.py)
    coverage.py --self-test

Prints a row for each file, then the lines that no test ran and that unreached.tsv gives no reason for. A row of that file is: a
pattern of the path, a pattern of the line (of a kernel also of the conditions of #if around it, behind " | "), the reason.
`./dev coverage` builds, runs the tests and calls this."""
import collections
import fnmatch
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import kernels  # noqa: E402

Row = collections.namedtuple("Row", "number text ran branches taken")


def reasons_read(text):
    rows = [line.split("\t") for line in text.splitlines() if line.strip() and not line.startswith("#")]
    bad = [row for row in rows if len(row) != 3]
    if bad:
        sys.exit(f"unreached.tsv: not three columns: {bad[0]}")
    return [(path, re.compile(pattern), reason) for path, pattern, reason in rows]


def lines_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read().split("\n")


def host(build):
    """{path: rows} of what gcov counted."""
    out = subprocess.run(["gcovr", "--json", "--root", ROOT, "--object-directory", build, "--filter", "host/", "--filter",
                          "tool/", "--exclude-unreachable-branches", "--gcov-ignore-parse-errors"],
                         cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    files = {}
    for file in json.loads(out)["files"]:
        text = lines_of(file["file"])
        files[file["file"]] = [
            Row(line["line_number"], text[line["line_number"] - 1], line["count"] > 0, len(line["branches"]),
                sum(b["count"] > 0 for b in line["branches"]))
            for line in file["lines"] if not line.get("gcovr/noncode")]
    return files


def of_kernels(build):
    """{path: rows} of the statements of cl/."""
    with open(os.path.join(build, "cl", "kernel-lines"), "rb") as file:
        ran = file.read()
    names = sorted(os.path.relpath(os.path.join(folder, name), os.path.join(ROOT, "cl"))
                   for folder, _, found in os.walk(os.path.join(ROOT, "cl")) for name in found
                   if name.endswith((".cl", ".clh")))
    files = {}
    for index, name in enumerate(names):
        text = lines_of("cl/" + name)
        files["cl/" + name] = [
            Row(number, f"{text[number - 1]} | {conditions}", ran[index * kernels.LINES_OF_FILE + number] != 0, 0, 0)
            for number, _, _, conditions in kernels.statements("\n".join(text))]
    return files


def report(files, reasons, out=sys.stdout):
    """Print it; the number of lines that were not run and have no reason."""
    bare, used = [], collections.Counter()
    total = collections.Counter()
    print(f"{'file':46} {'lines':>6} {'run':>7} {'reason':>6} {'branches':>8} {'taken':>7}", file=out)

    def row_print(name, c):
        def part(a, b):
            return f"{100 * a / b:.1f} %" if b else "-"
        print(f"{name:46} {c['lines']:6} {part(c['ran'], c['lines']):>7} {c['reason']:6} {c['branches']:8} "
              f"{part(c['taken'], c['branches']):>7}", file=out)

    for path in sorted(files):
        c = collections.Counter()
        for row in files[path]:
            why = next((i for i, (p, pattern, _) in enumerate(reasons)
                        if fnmatch.fnmatch(path, p) and pattern.search(row.text)), None) if not row.ran else None
            c.update(lines=1, ran=row.ran, reason=why is not None, branches=row.branches, taken=row.taken)
            if why is not None:
                used[why] += 1
            elif not row.ran:
                bare.append(f"{path}:{row.number}: {row.text.strip(' |')}")
        total += c
        if c["lines"]:
            row_print(path, c)
    row_print("all", total)
    for i, (path, pattern, reason) in enumerate(reasons):
        if used[i]:
            print(f"{used[i]:4} lines of {path}, {pattern.pattern}: {reason}", file=out)
    print(f"{len(bare)} lines were not run, without a reason", file=out)
    for line in bare:
        print(line, file=out)
    return len(bare)


def self_test():
    text = """// f(a);
struct s {
    int a;
};
WEFT_INLINE int f(int a)
{
    int b[2] = {
        1, 2};
#pragma unroll
    for (int i = 0; i < a;
         i++)
        if (a)
            b[0]++;
        else
            return 1;
#ifdef X
    while (a)
#endif
        b[1]++; // } {
    do {
        a--;
    } while (a);
    switch (a) {
    case 1:
        return 2;
    }
    return b[0];
}
"""
    got = [(n, p, h, c) for n, p, h, c in kernels.statements(text)]
    want = [(7, 7, False, ""), (10, 9, False, ""), (12, 12, True, ""), (13, 13, True, ""), (15, 15, True, ""),
            (17, 17, False, "ifdef X"), (19, 19, True, ""), (20, 20, False, ""), (21, 21, False, ""), (23, 23, False, ""),
            (25, 25, False, ""), (27, 27, False, "")]
    counted = kernels.counted(1, "x.cl", text).split("\n")
    files = {"cl/x.cl": [Row(n, "y", n == 7, 2, 1) for n, *_ in got]}
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        bare = [report(files, reasons_read(rows), nowhere) for rows in ("", "cl/*\ty\tbecause\n", "host/*\ty\tbecause\n")]
    checks = [(got == want, f"statements of a text {got if got != want else ''}"),
              (any(line.startswith("if (WEFT_LINE(1037), false) {} else") for line in counted), "a body is counted"),
              (bare == [11, 0, 11], f"reasons {bare}")]
    print(f"1..{len(checks)}")
    for number, (good, what) in enumerate(checks, 1):
        print("ok" if good else "not ok", number, "-", what)
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 3 or sys.argv[1] not in ("host", "kernels"):
        sys.exit(__doc__)
    with open(os.path.join(HERE, "unreached.tsv"), encoding="utf-8") as file:
        reasons = reasons_read(file.read())
    return 1 if report((host if sys.argv[1] == "host" else of_kernels)(sys.argv[2]), reasons) else 0


if __name__ == "__main__":
    sys.exit(main())
