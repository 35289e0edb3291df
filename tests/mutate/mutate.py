#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutate.py: does a test notice when a kernel, or the index arithmetic of the library, is changed in one place?

    mutate.py --list                  every mutant: number, key, kind, file, line, change
    mutate.py --work FOLDER [--count N] [--only WORD] [--minutes M] [--seed S] [--again]
                                      judge mutants; results are added to FOLDER/results.jsonl, and those there are not
                                      judged again (--again: the survivors are)
    mutate.py --work FOLDER --report  killed and survived, by kind; survivors with the reason in survivors.tsv
    mutate.py --self-test

A mutant changes one place of a copy of the sources in FOLDER, builds the tests of its operation there, and runs them with
WEFT_SAMPLE=1, short ones first. It is killed at the first check that fails, or when a test takes much more time of the
processor than without mutants. The order is random by the seed and takes the kinds in turn, so that the first N are a
sample of every kind.
"""
import argparse
import collections
import hashlib
import itertools
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WALL_SECONDS = 900  # of a test that waits for ever; one that computes for ever ends by the processor's time
SPARE_SECONDS = 60  # of the processor, beside twice what the test takes without a mutant

# Kinds of change: name, pattern, what stands there instead. Spaces around operators are those of clang-format.
KINDS = (
    ("comparison", r" < ", " <= "), ("comparison", r" <= ", " < "), ("comparison", r" > ", " >= "),
    ("comparison", r" >= ", " > "), ("comparison", r" == ", " != "), ("comparison", r" != ", " == "),
    ("off by one", r" \+ 1\b(?!\.)", ""), ("off by one", r" - 1\b(?!\.)", ""), ("off by one", r"\+\+(?=\))", " += 2"),
    ("dropped barrier", r"\bbarrier\([A-Z_| ]+\);", ";"), ("dropped barrier", r"\bweft_barrier\([^;]*\);", ";"),
    ("dropped fence", r"\b\w*fence\([A-Z_| a-z]*\);", ";"),
    ("swapped index", r"\[(\w+)\](?= )", r"[\1 + 1]"), ("swapped index", r"\b(\w+) \* (\w+) \+ (\w+)\b", r"\3 * \2 + \1"),
    ("logic", r" && ", " || "), ("logic", r" \|\| ", " && "), ("logic", r" << ", " >> "), ("logic", r" >> ", " << "),
    ("bounds", r"\bmin\(", "max("), ("bounds", r"\bmax\(", "min("), ("bounds", r"\bweft__min\(", "weft__max("),
)
# Sorts and merges: which of two equals goes first.
TIES = ("merge", "segsort")

# Tests by where the mutant is; the first that fails kills it.
TESTS = (
    ("cl/scan/", ("scan",)), ("cl/histogram/", ("histogram",)), ("cl/expand/", ("expand",)), ("cl/merge/", ("merge",)),
    ("cl/segsort/", ("segsort",)), ("cl/transpose/mirror", ("transpose_mirror",)), ("cl/transpose/permute", ("permute",)),
    ("cl/transpose/gather", ("transpose_plan",)), ("cl/transpose/", ("transpose", "convert")),
    ("cl/spmv/sdia", ("spmv_sdia", "spmv")), ("cl/spmv/sell16", ("spmv_sell16", "spmv")), ("cl/spmv/", ("spmv", "spmv_plan")),
    ("cl/lib/lanes", ("probe",)), ("cl/matrix/", ("canonical", "validate", "rebase")), ("cl/lib/", ("scan", "segsort", "transpose")),
    ("host/src/primitive/segsort", ("segsort",)), ("host/src/primitive/scan", ("scan",)),
    ("host/src/primitive/histogram", ("histogram",)), ("host/src/primitive/expand", ("expand",)),
    ("host/src/primitive/merge", ("merge",)), ("host/src/transpose/permute", ("permute",)),
    ("host/src/transpose/mirror", ("transpose_mirror",)), ("host/src/transpose/refill", ("transpose_plan",)),
    ("host/src/transpose/convert", ("convert",)), ("host/src/transpose/", ("transpose", "transpose_errors", "transpose_large")),
    ("host/src/spmv/sdia", ("spmv_sdia",)), ("host/src/spmv/sell16", ("spmv_sell16",)),
    ("host/src/spmv/", ("spmv", "spmv_plan", "choice")), ("host/src/matrix/permut", ("permutation",)),
    ("host/src/matrix/rcm", ("permutation",)), ("host/src/matrix/generate", ("generate",)),
    ("host/src/matrix/measure", ("measure",)), ("host/src/matrix/density", ("density",)),
    ("host/src/matrix/distance", ("distance",)), ("host/src/matrix/rebase", ("rebase",)), ("host/src/matrix/", ("matrix", "mtx")),
)
# Not index arithmetic: the choice of tuning values and texts, tables of variants, self-tests.
LEFT_OUT = re.compile(r"/(trial|variants|tune|cost|choose|defines)\.[ch]$|^cl/measure/")

Mutant = collections.namedtuple("Mutant", "key kind path line before after column")


def tests_of(path):
    return next((tests for start, tests in TESTS if path.startswith(start)), ())


def code_part(line):
    """The line with comments and strings blanked, same length."""
    line = re.sub(r'"(\\.|[^"\\])*"', lambda m: '"' + " " * (len(m.group()) - 2) + '"', line)
    at = line.find("//")
    return line if at < 0 else line[:at] + " " * (len(line) - at)


def of_text(path, text):
    """Mutants of one file."""
    seen = collections.Counter()
    macro = False
    for number, line in enumerate(text.split("\n"), 1):
        code, was = code_part(line), macro
        macro = line.endswith("\\")
        if code.lstrip().startswith(("#error", "#if", "#elif", "#include")) or (path.startswith("host/") and (
                was or code.lstrip().startswith("#") or "weft__fail" in code or "snprintf" in code)):
            continue
        for kind, pattern, instead in KINDS:
            for match in re.finditer(pattern, code):
                after = line[:match.start()] + match.expand(instead) + line[match.end():]
                if after == line:
                    continue
                name = "tie order" if kind == "comparison" and any(t in path for t in TIES) and path.startswith("cl/") else kind
                seen[(line.strip(), after.strip())] += 1
                key = hashlib.sha256(f"{path}\n{line.strip()}\n{after.strip()}\n{seen[(line.strip(), after.strip())]}"
                                     .encode()).hexdigest()[:12]
                yield Mutant(key, name, path, number, line, after, match.start())


def all_mutants(root):
    out = []
    for top in ("cl", "host/src/primitive", "host/src/transpose", "host/src/spmv", "host/src/matrix"):
        for folder, _, files in os.walk(os.path.join(root, top)):
            for name in files:
                path = os.path.relpath(os.path.join(folder, name), root)
                if name.endswith((".cl", ".clh", ".c")) and tests_of(path) and not LEFT_OUT.search(path):
                    with open(os.path.join(root, path), encoding="utf-8") as file:
                        out += of_text(path, file.read())
    return sorted(out)  # by key, which is as good as random


def results_read(work):
    """By key, the last of each."""
    path = os.path.join(work, "results.jsonl")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return {row["key"]: row for row in map(json.loads, file)}


def run(words, cwd, env=None, wall=WALL_SECONDS, cpu=None):
    """(what failed or None, the output); stops at the first line that says that a check failed."""
    def limited():
        os.setpgid(0, 0)
        os.nice(19)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
        if cpu:
            resource.setrlimit(resource.RLIMIT_CPU, (int(cpu), int(cpu) + 5))

    with subprocess.Popen(words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **(env or {})}, preexec_fn=limited) as child:
        late = threading.Timer(wall, os.killpg, (child.pid, signal.SIGKILL))
        late.start()
        out, why = [], None
        for line in child.stdout:
            out.append(line.decode(errors="replace"))
            if env and out[-1].startswith(("not ok", "Bail out!")):
                why = out[-1].strip()[:120]
                os.killpg(child.pid, signal.SIGKILL)
                break
        code = child.wait()
        late.cancel()
    if not why and code:
        why = {-signal.SIGKILL: "does not end", -signal.SIGXCPU: "computes without end"}.get(code, f"status {code}")
    return why, "".join(out)


class Tree:
    """A copy of the sources with a build of its own."""

    def __init__(self, work):
        self.source, self.build = os.path.join(work, "source"), os.path.join(work, "build")
        files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
        for name in filter(None, files.decode().split("\0")):
            to, here = os.path.join(self.source, name), os.path.join(ROOT, name)
            os.makedirs(os.path.dirname(to), exist_ok=True)
            if not os.path.exists(here):
                continue
            with open(here, "rb") as file:
                data = file.read()
            if not os.path.exists(to) or open(to, "rb").read() != data:
                shutil.copy(here, to)
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            why, out = run(["meson", "setup", self.build, self.source, "--buildtype=debug", "-Doptimization=1",
                            "-Dtests=enabled", "-Dbench=disabled", "-Dtool=disabled"], work)
            if why:
                sys.exit(out)
        caches = os.path.join(work, "cache")
        self.env = {"POCL_CACHE_DIR": os.path.join(work, "pocl"), "XDG_CACHE_HOME": caches, "WEFT_TUNE": "",
                    "WEFT_SELFTEST": "0", "WEFT_SAMPLE": "1", "POCL_SIGFPE_HANDLER": "0"}
        os.makedirs(self.env["POCL_CACHE_DIR"], exist_ok=True)

    def put(self, path, text):
        with open(os.path.join(self.source, path), "w", encoding="utf-8") as file:
            file.write(text)

    def test(self, name, env, seconds):
        """(what failed or None, seconds of the processor)"""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        why, _ = run([os.path.join(self.build, "tests", "test-" + name)], self.build, {**self.env, **env}, cpu=seconds)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return why, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def build_tests(self, tests):
        """None, or the first error."""
        why, out = run(["ninja", *(f"tests/test-{t}" for t in tests)], self.build)
        return "".join(re.findall(r"error: (.*)", out)[:1])[:120] if why else None

    def judge(self, path, usual):
        """(verdict, by which test); the schedule that the file's name tells comes first."""
        tests = sorted(tests_of(path), key=usual.get)
        error = self.build_tests(tests)
        if error is not None:
            return "no build", error
        first = ("cpu", "gpu") if "cpu" in os.path.basename(path) else ("gpu", "cpu")
        for schedule in first if path.startswith("cl/") else ("",):
            for test in tests:
                why, _ = self.test(test, {"WEFT_SCHEDULE": schedule}, 2 * usual[test] + SPARE_SECONDS)
                if why:
                    return "killed", f"{test}: {why}"
        return "survived", " ".join(tests)

    def usual(self, tests, known):
        """Seconds of each test without a mutant, from the file of earlier runs or measured."""
        path = os.path.join(os.path.dirname(self.build), "usual.json")
        if not known and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                known.update(json.load(file))
        missing = [t for t in tests if t not in known]
        error = self.build_tests(missing) if missing else None
        for test in missing:
            why, seconds = (error, 0) if error else self.test(test, {}, None)
            if why:
                sys.exit(f"without a mutant: {test}: {why}")
            known[test] = seconds
        with open(path, "w", encoding="utf-8") as file:
            json.dump(known, file)


def in_turn(mutants, seed):
    """Random by the seed, the kinds in turn."""
    kinds = collections.defaultdict(list)
    for m in sorted(mutants, key=lambda m: hashlib.sha256(f"{seed} {m.key}".encode()).digest()):
        kinds[m.kind].append(m)
    return [m for row in itertools.zip_longest(*(kinds[k] for k in sorted(kinds))) for m in row if m]


def attempt(options):
    os.makedirs(options.work, exist_ok=True)
    tree, known = Tree(os.path.abspath(options.work)), results_read(options.work)
    todo = [m for m in in_turn(all_mutants(ROOT), options.seed) if options.only in f"{m.path} {m.kind} {m.key}"]
    todo = [m for m in todo if (m.key in known) == options.again and (
        not options.again or known[m.key]["verdict"] == "survived")][:options.count]
    usual, end = {}, time.monotonic() + options.minutes * 60
    for mutant in todo:
        if time.monotonic() > end:
            break
        tree.usual(tests_of(mutant.path), usual)
        with open(os.path.join(ROOT, mutant.path), encoding="utf-8") as file:
            text = file.read()
        lines = text.split("\n")
        lines[mutant.line - 1] = mutant.after
        tree.put(mutant.path, "\n".join(lines))
        began = time.monotonic()
        try:
            verdict, why = tree.judge(mutant.path, usual)
        finally:
            tree.put(mutant.path, text)
        row = {"key": mutant.key, "verdict": verdict, "kind": mutant.kind, "place": f"{mutant.path}:{mutant.line}",
               "change": mutant.after.strip(), "by": why, "seconds": round(time.monotonic() - began)}
        with open(os.path.join(options.work, "results.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(*list(row.values())[1:], sep="  ", flush=True)
    return 0


def reasons():
    path = os.path.join(HERE, "survivors.tsv")
    with open(path, encoding="utf-8") as file:
        rows = (line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#"))
        return {row[0]: row[-1] for row in rows}


def report(options):
    known, why, mutants = results_read(options.work), reasons(), {m.key: m for m in all_mutants(ROOT)}
    table = collections.defaultdict(collections.Counter)
    for key, row in known.items():
        if key in mutants:
            table[row["kind"]][row["verdict"]] += 1
    for kind in sorted(table):
        print(f"{kind}: {dict(table[kind])}")
    total = sum(table.values(), collections.Counter())
    judged = total["killed"] + total["survived"]
    print(f"{judged} of {len(mutants)} mutants judged, {total['killed']} killed, {total['survived']} survived, "
          f"{total['no build']} do not build")
    bare = 0
    for key, row in known.items():
        if row["verdict"] == "survived" and key in mutants:
            bare += key not in why
            print(f"{key}  {row['place']}  {row['change']}\n    {why.get(key, 'NO REASON YET')}")
    return 1 if bare else 0


def self_test():
    text = 'if (a < b) // a < c\n    x[i] = "p < q"[0];\n#error a < b\nbarrier(CLK_LOCAL_MEM_FENCE);\n'
    got = [(m.kind, m.line, m.after.strip()) for m in of_text("cl/scan/x.cl", text)]
    want = [("comparison", 1, "if (a <= b) // a < c"), ("swapped index", 2, 'x[i + 1] = "p < q"[0];'),
            ("dropped barrier", 4, ";")]
    count = len(all_mutants(ROOT))
    kinds = {m.kind for m in all_mutants(ROOT)}
    print("1..3")
    print(("ok" if got == want else f"not ok # {got}"), "1 - mutants of a text")
    print(("ok" if count >= 300 else "not ok"), f"2 - {count} mutants")
    missing = {"comparison", "off by one", "dropped barrier", "swapped index", "tie order"} - kinds
    print(("not ok" if missing else "ok"), f"3 - every kind {missing or ''}")
    return 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--work")
    parser.add_argument("--count", type=int, default=1 << 30)
    parser.add_argument("--only", default="")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--minutes", type=float, default=1e6)
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if options.list:
        for number, m in enumerate(all_mutants(ROOT)):
            print(f"{number}\t{m.key}\t{m.kind}\t{m.path}:{m.line}\t{m.before.strip()}\t{m.after.strip()}")
        return 0
    if not options.work:
        parser.error("--work FOLDER")
    return report(options) if options.report else attempt(options)


if __name__ == "__main__":
    sys.exit(main())
