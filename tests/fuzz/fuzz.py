#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fuzz.py: runs the fuzz targets of a build, and keeps the number of executions.

    fuzz.py BUILD [--seconds N] [--jobs N] [--record] [--log FILE] [--programs FOLDER] [TARGET...]
                        each target (default: all) for N seconds, default 60; --jobs N at a time, default one
    fuzz.py --total     what executions.tsv says, by target and in total

With clang's libFuzzer (./dev fuzz makes such a build) what was found grows in BUILD/fuzz-corpus, so that a later run goes on
from there. --record adds a line for each target to executions.tsv. Exit status 1: a target ended badly.
"""
import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LEDGER = os.path.join(HERE, "executions.tsv")
COLUMNS = ("date", "target", "executions", "seconds", "by")


def targets_of(build):
    """{name: path}"""
    folder = os.path.join(build, "tests", "fuzz")
    return {name[5:]: os.path.join(folder, name) for name in sorted(os.listdir(folder))
            if name.startswith("fuzz-") and os.access(os.path.join(folder, name), os.X_OK) and
            os.path.isfile(os.path.join(folder, name))}


def words_of(name, program, build, seconds):
    """The command line and what runs it."""
    if name == "words":
        return [sys.executable, os.path.join(HERE, "words.py"), *program, "--seconds", str(seconds)], "words.py"
    seeds = os.path.join(HERE, "corpus", name)
    with open(program, "rb") as file:
        guided = b"libFuzzer" in file.read()
    if not guided:
        return [program, "--seconds", str(seconds), "--seed", str(time.time_ns() % (1 << 32)), seeds], "driver"
    grown = os.path.join(build, "fuzz-corpus", name)
    os.makedirs(grown, exist_ok=True)
    return [program, f"-max_total_time={seconds}", "-print_final_stats=1", "-rss_limit_mb=4096", "-timeout=120", "-verbosity=0",
            f"-artifact_prefix={build}/crash-{name}-", grown, seeds], "libFuzzer"


def run(name, program, build, seconds):
    """(executions, seconds, by whom, good, what it said where it is bad)"""
    words, by = words_of(name, program, build, seconds)
    env = {"POCL_SIGFPE_HANDLER": "0", "WEFT_TUNE": "", **os.environ}
    if name == "words":  # gcc's sanitizers, as in pass sanitize
        env["ASAN_OPTIONS"] = "detect_stack_use_after_return=1:intercept_tls_get_addr=0:use_sigaltstack=0:symbolize=0"
        env["LSAN_OPTIONS"] = f"print_suppressions=0:suppressions={os.path.join(os.path.dirname(HERE), 'lint', 'lsan.supp')}"
    began = time.monotonic()
    ran = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=build,
                         check=False, env=env)
    text = ran.stdout.decode(errors="replace")
    found = re.findall(r"(?:number_of_executed_units|executions): *(\d+)", text)
    good = ran.returncode == 0 and bool(found)
    return int(found[-1]) if found else 0, time.monotonic() - began, by, good, "" if good else text[-4000:]


def rows_read():
    with open(LEDGER, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return [dict(zip(COLUMNS, row)) for row in rows if len(row) == len(COLUMNS)]


def line_print(done, count, name, executions, seconds, by, good, said):
    """As `meson test` prints a test, for tests/lint/progress.py."""
    print(f"{done}/{count} fuzz_{name} {'OK' if good else 'FAIL'} {seconds:.0f} s, {executions:,} executions by {by}")
    print(said, end="\n" if said else "", flush=True)


def record(name, executions, seconds, by, good, said):
    del good, said
    row = (datetime.date.today().isoformat(), name, str(executions), f"{seconds:.0f}", by)
    with open(LEDGER, "a", encoding="utf-8") as file:
        file.write("\t".join(row) + "\n")


def log_write(path, results):
    with open(path, "w", encoding="utf-8") as file:
        for name, executions, seconds, by, good, said in results:
            file.write(json.dumps({"name": f"fuzz_{name}", "result": "OK" if good else "FAIL", "duration": seconds,
                                   "stdout": said or f"# {executions} executions by {by}"}) + "\n")


def total():
    count = collections.Counter()
    for row in rows_read():
        count[row["target"]] += int(row["executions"])
    for name, executions in sorted(count.items()):
        print(f"{name:12} {executions:15,}")
    print(f"{'total':12} {sum(count.values()):15,}")
    return 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", nargs="?")
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--log")
    parser.add_argument("--programs")
    parser.add_argument("--total", action="store_true")
    options = parser.parse_intermixed_args()
    if options.total:
        return total()
    if not options.build:
        parser.error("BUILD")
    build = os.path.abspath(options.build)
    known = targets_of(build)
    if options.programs:
        known["words"] = [os.path.abspath(os.path.join(options.programs, name)) for name in ("tool/weft", "bench/weft-bench")]
    unknown = set(options.targets) - set(known)
    if unknown or not known:
        sys.exit(f"no target {' '.join(sorted(unknown))}; there are: {' '.join(known)}")
    names, results = options.targets or list(known), []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = {pool.submit(run, name, known[name], build, options.seconds): name for name in names}
        for job in concurrent.futures.as_completed(jobs):
            results.append((jobs[job], *job.result()))
            line_print(len(results), len(names), *results[-1])
            if options.record:
                record(*results[-1])
    print(f"{sum(r[1] for r in results):,} executions of {len(names)} targets, {options.seconds} s each", flush=True)
    if options.log:
        log_write(options.log, results)
    return not all(r[4] for r in results)


if __name__ == "__main__":
    sys.exit(main())
