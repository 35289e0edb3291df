#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coverage.py: which lines of the library and its kernels did the tests of a build run?

    coverage.py host BUILD [PATH]   lines and branches of host/ and tool/, of a build with -Db_coverage=true (gcovr)
    coverage.py kernels BUILD       lines of cl/, of a build with -Dkernel_coverage=true (kernels.py)
    coverage.py --self-test

Prints a row for each file, then the lines that no test ran and that unreached.tsv gives no reason for; with PATH, a pattern,
also the branches of these files. A row of unreached.tsv is: a pattern of the path, `line` or `branch`, a pattern of the line (of
a kernel also of the conditions of #if around it, behind " | "), the reason. Where a line was not run and has a reason, its
branches have it too, and those of the condition in front of it that were not taken, for they lead to it.

Branches that only an exception of C++ takes do not count. The figure of branches is those taken of all but those with a reason.
Exit status 1: a line was not run and has no reason, or less than 95 % of the branches were taken. `./dev coverage` builds, runs
the tests and calls this."""
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

BRANCHES_WANTED = 0.95

Row = collections.namedtuple("Row", "number text ran branches taken end", defaults=(0,)) # end: of its statement's head
Reason = collections.namedtuple("Reason", "path what pattern text")


def reasons_read(text):
    rows = [line.split("\t") for line in text.splitlines() if line.strip() and not line.startswith("#")]
    bad = [row for row in rows if len(row) != 4 or row[1] not in ("line", "branch")]
    if bad:
        sys.exit(f"unreached.tsv: not a path, `line` or `branch`, a pattern and a reason: {bad[0]}")
    return [Reason(path, what, re.compile(pattern), why) for path, what, pattern, why in rows]


def reason_of(reasons, path, what, text):
    return next((i for i, r in enumerate(reasons)
                 if r.what == what and fnmatch.fnmatch(path, r.path) and r.pattern.search(text)), None)


def head_end(text, number):
    """The last line of the head of a statement, `if (...)`, of which line `number` is a part."""
    depth = 0
    while number <= len(text):
        code = re.sub(r'"(\\.|[^"\\])*"', '""', text[number - 1])
        code = re.sub(r"//.*|/\*.*?\*/", "", code).rstrip()
        depth += code.count("(") - code.count(")")
        if depth <= 0 and code[-1:] in (")", "{", ";", ":"):
            break
        number += 1
    return number


def lines_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read().split("\n")


def host(build):
    """{path: rows} of what gcov counted."""
    out = subprocess.run(["gcovr", "--json", "--root", ROOT, "--object-directory", build, "--filter", "host/", "--filter",
                          "tool/", "--exclude-unreachable-branches", "--gcov-ignore-parse-errors",
                          "--exclude-directories", ".*/dosdevices"],  # a link there, of wine's, leads to the whole system
                         cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    files = {}
    for file in json.loads(out)["files"]:
        text = lines_of(file["file"])
        for line in file["lines"]:
            line["branches"] = [b for b in line["branches"] if not b["throw"]]
        files[file["file"]] = [
            Row(line["line_number"], text[line["line_number"] - 1], line["count"] > 0, len(line["branches"]),
                sum(b["count"] > 0 for b in line["branches"]), head_end(text, line["line_number"]))
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


def judged(rows, path, reasons):
    """(row, the reason of a line that was not run, the reason of its branches that were not taken) of each; None: there is none."""
    line_why = {row.number: reason_of(reasons, path, "line", row.text) for row in rows if not row.ran}
    for i, row in enumerate(rows):
        why = line_why.get(row.number)
        branch_why = why
        if row.branches > row.taken and branch_why is None:
            behind = next((r.number for r in rows[i + 1:] if r.number > row.end), None)
            branch_why = line_why.get(behind) if row.ran else None
            if branch_why is None:
                branch_why = reason_of(reasons, path, "branch", row.text)
        yield row, why, branch_why if row.branches > row.taken else None


def report(files, reasons, out=sys.stdout, branches_of=""):
    """Print it; True: all is run that has no reason, and enough branches are taken."""
    bare, open_branches, used = [], [], collections.Counter()
    total = collections.Counter()
    print(f"{'file':46} {'lines':>6} {'run':>7} {'reason':>6} {'branches':>8} {'reason':>6} {'taken':>7}", file=out)

    def row_print(name, c):
        def part(a, b):
            return f"{100 * a / b:.1f} %" if b else "-"
        print(f"{name:46} {c['lines']:6} {part(c['ran'], c['lines']):>7} {c['reason']:6} {c['branches']:8} "
              f"{c['branch_reason']:6} {part(c['taken'], c['branches'] - c['branch_reason']):>7}", file=out)

    for path in sorted(files):
        c = collections.Counter()
        for row, why, branch_why in judged(files[path], path, reasons):
            left = row.branches - row.taken
            c.update(lines=1, ran=row.ran, reason=why is not None, branches=row.branches, taken=row.taken,
                     branch_reason=left if branch_why is not None else 0)
            used.update(i for i in {why, branch_why} if i is not None)
            if not row.ran and why is None:
                bare.append(f"{path}:{row.number}: {row.text.strip(' |')}")
            elif left and branch_why is None and branches_of and fnmatch.fnmatch(path, branches_of):
                open_branches.append(f"{path}:{row.number}: {left} of {row.branches} not taken: {row.text.strip()}")
        total += c
        if c["lines"]:
            row_print(path, c)
    row_print("all", total)
    for i, r in enumerate(reasons):
        if used[i]:
            what = "lines" if r.what == "line" else "lines with branches"
            print(f"{used[i]:4} {what} of {r.path}, {r.pattern.pattern}: {r.text}", file=out)
    for line in open_branches:
        print(line, file=out)
    print(f"{len(bare)} lines were not run, without a reason", file=out)
    for line in bare:
        print(line, file=out)
    enough = total["taken"] >= BRANCHES_WANTED * (total["branches"] - total["branch_reason"])
    if not enough:
        print(f"less than {100 * BRANCHES_WANTED:.0f} % of the branches were taken", file=out)
    return not bare and enough


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
    files = {"cl/x.cl": [Row(n, "y", n == 7, 0, 0) for n, *_ in got]}
    c = ["if (a &&", "    b) {", "    return 1; // once", "}", "f(a ? g() : 0);"]
    rows = [Row(1, c[0], True, 2, 2, head_end(c, 1)), Row(2, c[1], True, 2, 1, head_end(c, 2)), Row(3, c[2], False, 0, 0, 3),
            Row(5, c[4], True, 2, 1, head_end(c, 5))]
    one, both = "host/*\tline\treturn\tbecause\n", "host/*\tline\treturn\tbecause\nhost/*\tbranch\tg\\(\tbecause\n"
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        good = [report(files, reasons_read(text), nowhere)
                for text in ("", "cl/*\tline\ty\tbecause\n", "host/*\tline\ty\tbecause\n", "cl/*\tbranch\ty\tbecause\n")]
        taken = [report({"host/c": rows}, reasons_read(text), nowhere) for text in ("", one, both)]
    ends = [row.end for row in rows]
    whys = [(a, b) for _, a, b in judged(rows, "host/c", reasons_read(one))]
    checks = [(got == want, f"statements of a text {got if got != want else ''}"),
              (any(line.startswith("if (WEFT_LINE(1037), false) {} else") for line in counted), "a body is counted"),
              (good == [False, True, False, False], f"a line without a reason fails {good}"),
              (taken == [False, False, True], f"branches that are too few fail {taken}"),
              (ends == [2, 2, 3, 5], f"heads of statements {ends}"),
              (whys == [(None, None), (None, 0), (0, None), (None, None)], f"a branch to a line with a reason {whys}")]
    print(f"1..{len(checks)}")
    for number, (good, what) in enumerate(checks, 1):
        print("ok" if good else "not ok", number, "-", what)
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("host", "kernels"):
        sys.exit(__doc__)
    with open(os.path.join(HERE, "unreached.tsv"), encoding="utf-8") as file:
        reasons = reasons_read(file.read())
    files = (host if sys.argv[1] == "host" else of_kernels)(sys.argv[2])
    return 0 if report(files, reasons, branches_of="".join(sys.argv[3:])) else 1


if __name__ == "__main__":
    sys.exit(main())
