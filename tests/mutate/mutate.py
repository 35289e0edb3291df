#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutate.py: does a test notice when a kernel, or the index arithmetic of the library, is changed in one place?

    mutate.py --list                  every mutant: number, key, kind, file, line, change
    mutate.py --work FOLDER [--jobs J] [--count N] [--only PATTERN] [--take new,survived] [--oclgrind] [--hostile]
              [--seconds N] [--seed S] [--verdicts FILE]
                                      judge of the first N mutants those that judged.tsv has not (new), and those that
                                      survived without a reason `equivalent` or `speed`; verdicts are added to FILE, or
                                      judged.tsv. After N seconds what runs is stopped, without a verdict
    mutate.py --merge FILE            add the verdicts of a FILE from another machine to judged.tsv
    mutate.py --report                killed and survived, by kind; survivors with the reason in survivors.tsv
    mutate.py --self-test

A mutant changes one place of a copy of the sources in FOLDER, builds the tests of its operation there, and runs them with
WEFT_SAMPLE=1, short ones first, on every device found. It is killed at the first check that fails, or when a test computes for much longer
than usual without a line. With --oclgrind the device is Oclgrind, and any message of it kills: for mutants of kernels. With --hostile it is the
hostile build; both may be given. The order is random by the seed and takes the kinds in turn, so that the first N are a sample of every
kind.
"""
import argparse
import collections
import hashlib
import itertools
import json
import os
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
JUDGED = os.path.join(HERE, "judged.tsv")
COLUMNS = ("key", "kind", "place", "verdict", "by")
SLEEP_SECONDS = 60
SPARE_SECONDS = 8  # of the processor without a line, beside five times the longest without a mutant
CACHED = ("choice", "spmv_plan", "spmv_sdia", "spmv_sell")  # tests of what is kept in weft's cache

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
    ("cl/segsort/", ("segsort", "schedules")), ("cl/transpose/mirror", ("transpose_mirror",)), ("cl/transpose/permute", ("permute",)),
    ("cl/transpose/gather", ("transpose_plan",)), ("cl/transpose/scan", ("transpose", "convert", "transpose_whole")),
    ("cl/transpose/", ("transpose", "convert")),
    ("cl/spmv/sdia", ("spmv_sdia", "spmv")), ("cl/spmv/sell16", ("spmv_sell", "spmv")),
    ("cl/spmv/hubs", ("spmv_hubs",)), ("cl/spmv/panels", ("spmv_panels",)), ("cl/spmv/push", ("spmv_panels",)), ("cl/spmv/", ("spmv", "spmv_plan")),
    ("cl/lib/lanes", ("probe",)), ("cl/matrix/", ("canonical", "validate", "rebase")), ("cl/lib/", ("scan", "segsort", "transpose")),
    ("host/src/primitive/segsort", ("segsort",)), ("host/src/primitive/scan", ("scan",)),
    ("host/src/primitive/histogram", ("histogram",)), ("host/src/primitive/expand", ("expand",)),
    ("host/src/primitive/merge", ("merge",)), ("host/src/transpose/permute", ("permute",)),
    ("host/src/transpose/mirror", ("transpose_mirror",)), ("host/src/transpose/refill", ("transpose_plan",)),
    ("host/src/transpose/convert", ("convert",)),
    ("host/src/transpose/scan", ("transpose", "transpose_errors", "transpose_large", "transpose_trial", "transpose_whole")),
    ("host/src/transpose/", ("transpose", "transpose_errors", "transpose_large")),
    ("host/src/spmv/sdia", ("spmv_sdia",)), ("host/src/spmv/sell16", ("spmv_sell",)),
    ("host/src/spmv/hubs", ("spmv_hubs",)), ("host/src/spmv/panels", ("spmv_panels",)), ("host/src/spmv/push", ("spmv_panels",)),
    ("host/src/spmv/again", ("spmv_panels", "choice")),
    ("host/src/spmv/", ("spmv_errors", "choice", "spmv_plan", "spmv")), ("host/src/matrix/permut", ("permutation", "memory")),
    ("host/src/matrix/rcm", ("permutation",)), ("host/src/matrix/generate", ("generate", "memory")),
    ("host/src/matrix/measure", ("measure", "memory")), ("host/src/matrix/density", ("density", "memory")),
    ("host/src/matrix/distance", ("distance", "memory")), ("host/src/matrix/rebase", ("rebase",)),
    ("host/src/matrix/keys", ("permutation", "canonical")), ("host/src/matrix/canonical", ("canonical",)),
    ("host/src/matrix/validate", ("validate", "canonical")),
    ("host/src/matrix/device", ("rebase", "canonical", "spmv_plan")), ("host/src/matrix/", ("matrix", "mtx")),
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
    macro = variants = False
    for number, line in enumerate(text.split("\n"), 1):
        code, was = code_part(line), macro
        macro = line.endswith("\\")
        variants = line != "}" and (variants or line.startswith(("void weft__", "static void")) and "variants(weft__variant_fn" in line)
        if variants:
            continue
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


def verdicts_read(path):
    """By key, the last of each: killed, where one of them says so."""
    out = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for line in file:
                row = dict(zip(COLUMNS, line.rstrip("\n").split("\t")))
                if not line.startswith("#") and out.get(row["key"], row)["verdict"] in ("survived", row["verdict"]):
                    out[row["key"]] = row
    return out


def verdict_add(path, row):
    with open(path, "a", encoding="utf-8") as file:
        file.write("\t".join(row) + "\n")


def merge(path):
    """Add what is news: other verdicts than those known."""
    known = verdicts_read(JUDGED)
    for key, row in verdicts_read(path).items():
        if key not in known or known[key]["verdict"] == "survived" != row["verdict"]:
            verdict_add(JUDGED, row.values())
    return 0


def used(pid):
    """What a process has used so far: seconds of the processor, and page faults of children that ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            words = file.read().rpartition(")")[2].split()
    except OSError:
        return 0, 0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK"), int(words[9])


class Silence:
    """Whether a program says nothing for so long that it does not end: seconds of the processor, or SLEEP_SECONDS in which
    it hardly computes. A kernel that was compiled counts as a word: PoCL calls the linker for it."""

    def __init__(self, pid, most):
        self.pid, self.most, self.longest = pid, most, 0
        self.heard()

    def heard(self):
        now, self.children = used(self.pid)
        self.longest = max(self.longest, now - getattr(self, "since", now))
        self.since = self.moved = now
        self.at = time.monotonic()

    def verdict(self):
        now, children = used(self.pid)
        if children != self.children:
            self.heard()
        elif now - self.since > self.most:
            return "computes without end"
        elif now - self.moved > 0.2:
            self.moved, self.at = now, time.monotonic()
        elif time.monotonic() - self.at > SLEEP_SECONDS:
            return "does not end"
        return None


class Stopped(Exception):
    """No time is left for a verdict."""


def run(words, cwd, env=None, most=None, wall=None, end=None):
    """(what failed or None, the output, the longest silence); a test (with `env`) stops at the first line that says that a
    check failed, or names a kernel that Oclgrind has caught, or after `most` seconds of the processor without a line, or
    `wall` seconds. At the time `end`: Stopped."""
    began = time.monotonic()

    def limited():
        os.setsid()
        os.nice(19)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (16 << 30, 16 << 30))  # drivers of GPUs reserve far more addresses

    with subprocess.Popen(words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=env, preexec_fn=limited) as child:
        out, why, silence = b"", None, Silence(child.pid, most or 1e9)
        while not why:
            if select.select([child.stdout], [], [], 0.5)[0]:
                more = os.read(child.stdout.fileno(), 1 << 16)
                if not more:
                    break
                out += more
                silence.heard()
                failed = re.search(rb"^(not ok|Bail out!|\s*Kernel: ).*$", out, re.M) if env else None
                why = failed and failed.group().decode(errors="replace")[:120]
            elif env:
                why = silence.verdict() if most else None
            if wall and time.monotonic() - began > wall:
                why = why or "does not end"
            if end and time.monotonic() > end:
                why = "stopped"
        silence.heard()
        if why:
            os.killpg(child.pid, signal.SIGKILL)
        code = child.wait()
    if why == "stopped":
        raise Stopped
    if why and why.startswith(("computes", "does not")):
        why += " after: " + out.decode(errors="replace").strip().rpartition("\n")[2][:100]
    return why or (f"status {code}" if code else None), out.decode(errors="replace"), silence.longest


def sources():
    """Files of the checkout; where git knows none, all but what was built."""
    files = subprocess.run("git ls-files -z", shell=True, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if files.stdout:
        return list(filter(None, files.stdout.decode().split("\0")))
    out = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [f for f in folders if not f.startswith((".", "build"))]
        out += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
    return out


class Tree:
    """A copy of the sources with a build of its own."""

    def __init__(self, work, form, end):
        self.work, self.source, self.build = work, os.path.join(work, "source"), os.path.join(work, "build")
        self.oclgrind, self.by, self.end, self.devices = "oclgrind" in form, form and form + ": ", end, set()
        hostile = "hostile" in form
        if hostile:
            self.build += "-hostile"
        for name in sources():
            to, here = os.path.join(self.source, name), os.path.join(ROOT, name)
            os.makedirs(os.path.dirname(to), exist_ok=True)
            if not os.path.exists(here):
                continue
            with open(here, "rb") as file:
                data = file.read()
            if not os.path.exists(to) or open(to, "rb").read() != data:
                shutil.copy(here, to)
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            why, out, _ = run(["meson", "setup", self.build, self.source, "--buildtype=debug", "-Doptimization=1",
                               "-Dtests=enabled", "-Dbench=disabled", "-Dtool=disabled", f"-Dhostile={str(hostile).lower()}"], work)
            if why:
                sys.exit(out)
        # No folder for weft's own cache: PoCL compiles each kernel once more for a binary. Its own cache is kept, so that
        # what has no mutant is compiled once. gold links in half the time, and there is a link for each kernel.
        path, gold = os.environ["PATH"], shutil.which("ld.gold")
        if gold:
            os.makedirs(os.path.join(work, "bin"), exist_ok=True)
            if not os.path.exists(os.path.join(work, "bin", "ld")):
                os.symlink(gold, os.path.join(work, "bin", "ld"))
            path = os.path.join(work, "bin") + ":" + path
        own = {"PATH": path, "POCL_CACHE_DIR": os.path.join(os.path.dirname(work), "pocl"), "WEFT_TUNE": "", "WEFT_SELFTEST": "0",
               "WEFT_SAMPLE": "1", "POCL_SIGFPE_HANDLER": "0", "CUDA_CACHE_PATH": os.path.join(os.path.dirname(work), "nvidia")}
        self.env = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")} | own
        os.makedirs(self.env["POCL_CACHE_DIR"], exist_ok=True)

    def put(self, path, text):
        with open(os.path.join(self.source, path), "w", encoding="utf-8") as file:
            file.write(text)

    def test(self, name, schedule, most=None):
        """(what failed or None, the longest silence)"""
        env = {**self.env, "WEFT_SCHEDULE": schedule}
        if name in CACHED:
            env["XDG_CACHE_HOME"] = os.path.join(self.work, "cache")
        words = [os.path.join(self.build, "tests", "test-" + name)]
        if self.oclgrind:
            words = ["sh", os.path.join(ROOT, "tests", "lint", "oclgrind.sh"), *words]
            why, out, silence = run(words, self.build, env, wall=most, end=self.end)
            said = re.findall(r"^(?!ok|not ok|#|1\.\.|\s*$).*", out, re.M)
            return why and (" ".join(said[:2])[:120] if said else why), silence
        why, out, silence = run(words, self.build, env, most, end=self.end)
        self.devices.update(re.findall(r"^(?:not )?ok \d+ - \d+ ([^,:]+)[,:]", out, re.M))
        return why, silence

    def build_tests(self, tests):
        """None, or the first error."""
        why, out, _ = run(["ninja", *(f"tests/test-{t}" for t in tests)], self.build, end=self.end)
        return "".join(re.findall(r"error: (.*)", out)[:1])[:120] or why if why else None

    def judge(self, path, usual, texts):
        """(verdict, by which test)"""
        tests = sorted(filter(usual.get, tests_of(path)), key=lambda t: usual.get(t)[0])
        if not tests:
            return "no test", ""
        self.devices = set()
        error = self.build_tests(tests)
        if error is not None:
            return "no build", error
        for schedule in texts.schedules(path) if path.startswith("cl/") else [""]:
            for test in tests:
                seconds, silence = usual.get(test)
                most = 120 + 4 * seconds if self.oclgrind else SPARE_SECONDS + 5 * silence
                why, _ = self.test(test, schedule, most)
                if why:
                    return "killed", f"{self.by}{test}: {why}"
        return "survived", f"{self.by}{' '.join(tests)} on {', '.join(sorted(self.devices)) or 'the host'}"


def compiled(words, text):
    """What a compiler makes of a text; None where it says no, or there is none."""
    if not shutil.which(words[0]):
        return None
    done = subprocess.run(words, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return None if done.returncode else done.stdout


class Texts:
    """The programs that the library makes for the devices of the tests, by both schedules."""

    def __init__(self, folder, tree):
        self.folder = folder
        if not os.path.exists(folder):
            os.makedirs(folder)
            for words in ["ninja", "tests/lint/weft-kernels"], ["tests/lint/weft-kernels", folder, "generic", "cpu"]:
                why, out, _ = run(words, tree.build)
                if why:
                    sys.exit(out)
        self.names = collections.defaultdict(list)
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for part in re.findall(r'^#line 1 "(.*)"', file.read(), re.M):
                    self.names["cl/" + part].append(name)

    def schedules(self, path):
        """Those of the schedules that take programs with this file, the GPU's first."""
        return [s for s, part in (("gpu", ".generic."), ("cpu", ".cpu.")) if any(part in n for n in self.names[path])]

    def same(self, path, before, after):
        """Whether an optimising compiler makes the same of both texts of a file in every program."""
        words = [shutil.which("clang-19") or "clang", "-xcl", "-cl-std=CL1.2", "-target", "spir64-unknown-unknown", "-w", "-O2",
                 "-emit-llvm", "-S", "-", "-o", "-"]
        head = f'#line 1 "{os.path.relpath(path, "cl")}"\n'
        for name in self.names[path]:
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                whole = file.read()
            ours = compiled(words, whole)
            if head + before not in whole or ours is None or ours != compiled(words, whole.replace(head + before, head + after)):
                return False
        return bool(self.names[path])


def host_words(tree, path):
    """The compiler's call for a file of the host, up to what to do with it."""
    with open(os.path.join(tree.build, "compile_commands.json"), encoding="utf-8") as file:
        command = next(c["command"] for c in json.load(file) if c["file"].endswith("/" + path))
    return ["cc", *(w for w in command.split() if w.startswith(("-D", "-std", "-ff"))), "-O2", "-xc", "-",
            "-iquote", os.path.join(tree.source, os.path.dirname(path)),
            *("-I" + os.path.join(tree.source, f) for f in ("", "host/include", "host"))]


def same_code(tree, texts, path, before, after):
    """Whether an optimising compiler makes the same of both texts of a file."""
    if path.startswith("cl/"):
        return texts.same(path, before, after)
    words = [*host_words(tree, path), "-w", "-S", "-o", "-"]
    ours = compiled(words, before)
    return ours is not None and ours == compiled(words, after)


def warned(tree, path, text):
    """Whether a build with the warnings of ./dev as errors refuses a text; not for && and || without parentheses."""
    words = [*host_words(tree, path), "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wno-unknown-pragmas", "-Wno-parentheses",
             "-Werror", "-S", "-o", "-"]
    return compiled(words, text) is None


class Usual:
    """Of each test without a mutant: seconds and longest silence, from the file of earlier runs or measured."""

    def __init__(self, path):
        self.path, self.locks, self.known = path, collections.defaultdict(threading.Lock), {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.known = json.load(file)

    def measure(self, tree, tests):
        """Those that nobody measured, in a tree without a mutant."""
        for test in tests:
            with self.locks[test]:
                if test in self.known:
                    continue
                began, (why, silence) = time.monotonic(), (tree.build_tests([test]), 0)
                if not why:
                    why, silence = tree.test(test, "")
                if why:
                    print(f"left out, since it fails without a mutant: {test}: {why}", flush=True)
                self.known[test] = None if why else [round(time.monotonic() - began, 1), round(silence, 2)]
                with open(self.path, "w", encoding="utf-8") as file:
                    json.dump(self.known, file)

    def get(self, test):
        """None where it fails."""
        return self.known[test]


def in_turn(mutants, seed):
    """Random by the seed, the kinds in turn."""
    kinds = collections.defaultdict(list)
    for m in sorted(mutants, key=lambda m: hashlib.sha256(f"{seed} {m.key}".encode()).digest()):
        kinds[m.kind].append(m)
    return [m for row in itertools.zip_longest(*(kinds[k] for k in sorted(kinds))) for m in row if m]


def judge_one(tree, mutant, usual, texts):
    """(verdict, why)"""
    usual.measure(tree, tests_of(mutant.path))
    with open(os.path.join(ROOT, mutant.path), encoding="utf-8") as file:
        text = file.read()
    lines = text.split("\n")
    lines[mutant.line - 1] = mutant.after
    tree.put(mutant.path, "\n".join(lines))
    try:
        verdict, why = tree.judge(mutant.path, usual, texts)
        if verdict == "survived" and not tree.by and same_code(tree, texts, mutant.path, text, "\n".join(lines)):
            verdict = "same code"
        elif verdict == "survived" and mutant.path.startswith("host/") and warned(
                tree, mutant.path, "\n".join(lines)) and not warned(tree, mutant.path, text):
            verdict, why = "killed", "the compiler warns"
        return verdict, why
    finally:
        tree.put(mutant.path, text)


def judge_all(tree, todo, usual, texts, verdicts, lock):
    """Judge the mutants that the iterator gives, which other trees take from too."""
    while time.monotonic() < tree.end:
        with lock:
            mutant = next(todo, None)
        if not mutant:
            return
        began = time.monotonic()
        try:
            verdict, why = judge_one(tree, mutant, usual, texts)
        except Stopped:
            return
        row = (mutant.key, mutant.kind, f"{mutant.path}:{mutant.line}", verdict, why.replace("\t", " "))
        with lock:
            if verdict != "no test" and (verdict != "survived" or not tree.by):
                verdict_add(verdicts, row)
            print(f"{time.monotonic() - began:.0f} s", *row, mutant.after.strip(), sep="  ", flush=True)


def attempt(options):
    form = " ".join(["hostile"] * options.hostile + ["oclgrind"] * options.oclgrind)
    end, known, why = time.monotonic() + options.seconds, verdicts_read(JUDGED), reasons()
    here = verdicts_read(options.verdicts) if options.verdicts != JUDGED else {}
    done = {"new": [], "survived": []}
    for m in in_turn(all_mutants(ROOT), options.seed)[:options.count]:
        if m.key in here:
            continue
        if m.key not in known:
            done["new"].append(m)
        elif known[m.key]["verdict"] == "survived" and not why.get(m.key, "").startswith(("equivalent", "speed")):
            done["survived"].append(m)
    todo = [m for what in options.take.split(",") for m in done[what]
            if re.search(options.only, f"{m.path} {m.kind} {m.key}") and (m.path.startswith("cl/") or not options.oclgrind)]
    trees = []
    for job in range(options.jobs):
        folder = os.path.join(os.path.abspath(options.work), str(job))
        os.makedirs(folder, exist_ok=True)
        trees.append(Tree(folder, form, end))
    usual, lock = Usual(os.path.join(options.work, f"usual{form.replace(' ', '')}.json")), threading.Lock()
    texts = Texts(os.path.join(options.work, "texts"), trees[0])
    queue = iter(todo)
    threads = [threading.Thread(target=judge_all, args=(t, queue, usual, texts, options.verdicts, lock)) for t in trees]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return 0


def reasons():
    path = os.path.join(HERE, "survivors.tsv")
    with open(path, encoding="utf-8") as file:
        rows = (line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#"))
        return {row[0]: row[-1] for row in rows}


def report():
    mutants, why = {m.key: m for m in all_mutants(ROOT)}, reasons()
    known = {key: row for key, row in verdicts_read(JUDGED).items() if key in mutants}
    table, classes = collections.defaultdict(collections.Counter), collections.Counter()
    for key, row in known.items():
        table[row["kind"]][row["verdict"]] += 1
        if row["verdict"] == "survived":
            classes[why.get(key, "open").partition(":")[0]] += 1
            print(f"{key}  {row['place']}  {mutants[key].after.strip()}\n    {why.get(key, 'NO REASON YET')}")
    for kind in sorted(table):
        print(f"{kind}: {dict(table[kind])}")
    total = sum(table.values(), collections.Counter())
    judged = total["killed"] + total["survived"] + total["same code"]
    other = judged - total["same code"] - classes["equivalent"] - classes["speed"]
    print(f"{judged} of {len(mutants)} mutants judged, {total['killed']} killed, {total['survived']} survived {dict(classes)}, "
          f"{total['same code']} have the same code, {total['no build']} do not build; "
          f"{100 * total['killed'] / max(other, 1):.1f} % of those that give other results are killed")
    return 1 if classes["open"] else 0


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
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--take", default="new")
    parser.add_argument("--oclgrind", action="store_true")
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("--verdicts", default=JUDGED)
    parser.add_argument("--merge")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--seconds", type=float, default=1e8)
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if options.list:
        for number, m in enumerate(all_mutants(ROOT)):
            print(f"{number}\t{m.key}\t{m.kind}\t{m.path}:{m.line}\t{m.before.strip()}\t{m.after.strip()}")
        return 0
    if options.report:
        return report()
    if options.merge:
        return merge(options.merge)
    if not options.work:
        parser.error("--work FOLDER")
    return attempt(options)


if __name__ == "__main__":
    sys.exit(main())
