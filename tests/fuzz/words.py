#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""words.py WEFT WEFT-BENCH [--seconds N] [--seed S]: random command lines of both programs, made of their own options
(--options), right and wrong values. There is no device. A program may say no, with lines on stderr, but never ends by a
signal, waits without end, or says nothing where it fails. What computes long is stopped. Output is TAP.
"""
import argparse
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok  # noqa: E402

VALUES = ("0", "1", "-1", "7", "1e3", "1e30", "99999999999999999999", "1.5", "1.5k", "nan", "", " ", "a", "f32", "f32,f64", ",",
          "uniform:9,9,9", "uniform:9,9,99999999999999", "band:10,3", "dense:3,3", "dense:-1,3", "web:5,9", "power:", ":", "=",
          "a.mtx", "none.mtx", "empty", "torn.mtx", "dir", "out.mtx", "out.json", "-", "--", "\x1b[2J", "\xff", "%s%n", "a" * 5000,
          "cpu", "gpu", "32", "64", "all", "list", "scan", "spmv", "wg=32", "ipt=4,8", "row", "rcm", "real", "1G", "8E")
MATRIX = "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 2\n2 3 -1\n3 2 1e3\n"
SECONDS = 2  # of the processor, for a line


def table(program):
    """(options with whether they take a value, commands, values that options name)."""
    text = subprocess.run([program, "--options"], stdout=subprocess.PIPE, check=True).stdout.decode()
    options, commands, words = [], [], []
    for line in text.split("\n"):
        fields = line.split("\t") + [""] * 4
        if fields[0] == "option":
            options += [("--" + fields[1], bool(fields[3]))] + ([("-" + fields[2], bool(fields[3]))] if fields[2] else [])
        elif fields[0] == "command":
            commands.append(fields[1])
        elif fields[0] == "word":
            words.append(fields[1])
    return options, commands, words


def line_make(rng, known):
    options, commands, words = known
    out = [rng.choice(commands)] if commands and rng.random() < 0.9 else []
    for _ in range(rng.randrange(5)):
        name, takes = rng.choice(options)
        value = rng.choice(VALUES) if rng.random() < 0.6 or not words else rng.choice(words)
        form = rng.random()
        if form < 0.1:
            name = name[:rng.randrange(2, len(name) + 1)]
        out += [f"{name}={value}"] if takes and form > 0.8 else [name, value] if takes == (form < 0.9) else [name]
    out += [rng.choice(VALUES[26:]) for _ in range(rng.randrange(3))]
    if rng.random() < 0.2:
        rng.shuffle(out)
    return out


def bounds():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 26, 1 << 26))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def complaint(program, words, folder):
    """What is wrong with a run; None: nothing."""
    env = {"PATH": "/usr/bin:/bin", "HOME": folder, "OCL_ICD_VENDORS": "/nonexistent", "OMP_NUM_THREADS": "2"}
    env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
    try:
        ran = subprocess.run([program, *words], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, timeout=120, preexec_fn=bounds, check=False)
    except subprocess.TimeoutExpired:
        return "does not end"
    said = ran.stderr.decode(errors="replace")
    if ran.returncode == -signal.SIGXCPU:
        return None
    if ran.returncode < 0 or "Sanitizer" in said or "runtime error" in said:
        return f"status {ran.returncode}: {said[-2000:]}"
    if ran.returncode and not said:
        return f"status {ran.returncode} without a word"
    if ran.returncode and not said.startswith(("weft", "usage")):
        return f"says what is not its own: {said[:300]}"
    return None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("programs", nargs=2)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    seed = options.seed or time.time_ns() % (1 << 32)
    rng, programs = random.Random(seed), [os.path.abspath(p) for p in options.programs]
    known = {p: table(p) for p in programs}
    began, count, bad = time.monotonic(), 0, []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("a.mtx", MATRIX), ("empty", ""), ("torn.mtx", MATRIX[:60])):
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write(text)
        os.mkdir(os.path.join(folder, "dir"))
        while time.monotonic() - began < options.seconds and len(bad) < 5:
            program = programs[count % 2]
            words = line_make(rng, known[program])
            why = complaint(program, words, folder)
            count += 1
            if why:
                bad.append(f"{os.path.basename(program)} {words!r}: {why}")
    ok(not bad, f"{count} command lines, seed {seed}", *bad)
    print(f"# executions: {count} in {time.monotonic() - began:.1f} s")
    return done()


if __name__ == "__main__":
    sys.exit(main())
