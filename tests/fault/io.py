#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""io.py PRELOAD WEFT PICTURES (1 or 0): every call of the system on a command's files fails, once and from then on: the command says so in
one line or does without, no part of a file is left, the file that was there is as it was, and the next run works. Output is TAP.

WEFT_SAMPLE=1 takes the first calls of each kind, and every seventh of the others.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok  # noqa: E402

PRELOAD, WEFT = (os.path.abspath(path) for path in sys.argv[1:3])
SAMPLE = os.environ.get("WEFT_SAMPLE") == "1"
CALLS = ("open", "read", "write", "fsync", "rename", "close", "mmap")
MATRIX = "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1\n2 1 2\n3 2 3\n3 3 4\n"
NOWHERE = {"OCL_ICD_VENDORS": "/nonexistent"}

# Name, and words (IN and OUT stand for the files).
COMMANDS = (
    ("permute", (WEFT, "permute", "--order", "row", "--force", "IN", "OUT.mtx")),
    ("permute to .gz", (WEFT, "permute", "--order", "row", "--force", "IN", "OUT.mtx.gz")),
    ("info --json", (WEFT, "info", "--force", "--json", "OUT.json", "IN")),
    ("entropy --json", (WEFT, "entropy", "--force", "--json", "OUT.json", "IN.gz")),
    ("spy to .svg", (WEFT, "spy", "--force", "-o", "OUT.svg", "IN")),
    ("info", (WEFT, "info", "IN")),
)


def run(folder, words, **env):
    where = {"IN": os.path.join(folder, "in.mtx"), "IN.gz": os.path.join(folder, "in.mtx.gz")}
    words = [where.get(w, w.replace("OUT", os.path.join(folder, "out"))) for w in words]
    out = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
                         env={**os.environ, **NOWHERE, "LD_PRELOAD": PRELOAD, "WEFT_IO_UNDER": folder, **env}, check=False)
    return out.returncode, out.stdout, out.stderr


def listing(folder):
    out = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            out[name] = file.read()
    return out


def numbers(count):
    return [n for n in range(1, count + 1) if not SAMPLE or n <= 2 or n == count or n % 7 == 0]


def attempt(folder, words, call, n, ever, before, after):
    """What is wrong with one run, or None."""
    code, _, err = run(folder, words, WEFT_IO_CALL=call, WEFT_IO_N=str(n), WEFT_IO_EVER=str(ever))
    there = listing(folder)
    if code not in (0, 2) or (code and err.count("\n") != 1):
        return f"status {code}: {err!r}"
    if code == 0 and there != after:
        return "status 0, and the files are not those of a run without failures"
    if code and there != before:
        return f"status {code}, and the files are not as they were: {sorted(there)}"
    return None


def test(folder, name, words, counts_path):
    out = next((w for w in words if w.startswith("OUT")), None)
    for stale in os.listdir(folder):
        if not stale.startswith("in."):
            os.unlink(os.path.join(folder, stale))
    if out:
        with open(os.path.join(folder, out.replace("OUT", "out")), "w", encoding="ascii") as file:
            file.write("what was there\n")
    before = listing(folder)
    code, _, err = run(folder, words, WEFT_IO_COUNT=counts_path)
    after = listing(folder)
    if not ok(code == 0 and (not out or after != before), f"{name}: without failures", err):
        return
    with open(counts_path, encoding="ascii") as file:
        counts = {word: int(count) for word, count in (line.split() for line in file)}
    wrong, runs = [], 0
    for call in CALLS:
        for n in numbers(counts[call]):
            for ever in (0, 1):
                for path, data in before.items():
                    with open(os.path.join(folder, path), "wb") as file:
                        file.write(data)
                for path in set(os.listdir(folder)) - set(before):
                    os.unlink(os.path.join(folder, path))
                bad = attempt(folder, words, call, n, ever, before, after)
                runs += 1
                if bad:
                    wrong.append(f"{call} number {n}{' and later ones' if ever else ''}: {bad}")
    code, _, err = run(folder, words)
    ok(not wrong and runs and code == 0 and listing(folder) == after,
       f"{name}: {runs} failures of {', '.join(f'{counts[c]} {c}' for c in CALLS if counts[c])}", *wrong[:9], err)


def main():
    with open(WEFT, "rb") as file:
        program = file.read()
    if b"__asan_init" in program or b"__tsan_init" in program:
        print("1..0 # SKIP a sanitizer must be the first library")
        return 0
    began = time.monotonic()
    folder, counts = tempfile.mkdtemp(prefix="weft-io-"), tempfile.mkdtemp(prefix="weft-io-counts-")
    try:
        with open(os.path.join(folder, "in.mtx"), "w", encoding="ascii") as file:
            file.write(MATRIX)
        subprocess.run(["gzip", "-nk", os.path.join(folder, "in.mtx")], check=True)
        for name, words in COMMANDS:
            if words[1] == "spy" and sys.argv[3] != "1":
                continue
            test(folder, name, words, os.path.join(counts, "counts"))
    finally:
        shutil.rmtree(folder)
        shutil.rmtree(counts)
    print(f"# {time.monotonic() - began:.1f} s{', a sample' if SAMPLE else ''}")
    return done()


sys.exit(main())
