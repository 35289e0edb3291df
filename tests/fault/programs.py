#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""programs.py LAYER PROBE-LAYER WEFT WEFT-BENCH PROFILE-LAYER: OpenCL calls fail below whole programs, once and from then on: the modes of
weft-bench, commands of weft that use a device, and the profiler's layer below a program. A program then says so, or does
without; it ends by itself, and its files are whole or not there. A device that leaves out kernels is found. Where the loader
does not call the layer PROBE-LAYER either, all is skipped. Output is TAP.

WEFT_SAMPLE=1 takes a part of the calls in each mode; without it, as many run at a time as there are processors.
"""
from concurrent.futures import ThreadPoolExecutor
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok  # noqa: E402

LAYER, PROBE, WEFT, BENCH, PROFILE = (os.path.abspath(path) for path in sys.argv[1:6])
SAMPLE = os.environ.get("WEFT_SAMPLE") == "1"
SMALL = ("-b", "opencl", "-g", "band:90,3", "--no-roof", "--no-compile")
FAST = (*SMALL, "--reps", "1")
RESULTS = ("--json", "out.json")
# Name, what is above the faults, and words.
MODES = (
    ("bench", "", (BENCH, "-o", "spmv,transpose", *FAST, *RESULTS)),
    ("primitives", "", (BENCH, "-o", "scan,histogram,expand", *FAST, *RESULTS)),
    ("values", "", (BENCH, "-o", "expand", "--tune", "wg=1", *FAST, *RESULTS)),
    ("tune", "", (BENCH, "--tune", "--tune-time", "1", "--tune-file", "out.tsv", "-o", "expand", *FAST)),
    ("profile", "", (BENCH, "--profile", "-o", "spmv", *FAST, *RESULTS)),
    ("study", "", (BENCH, "--study", "permute", "--orders", "row", "--trials", "1", "--trial-time", "0.1", *SMALL, *RESULTS)),
    ("list", "", (BENCH, "--list")),
    ("devices", "", (WEFT, "devices")),
    ("transpose", "", (WEFT, "transpose", "in.mtx", "out.mtx")),
    ("the layer", PROFILE, (WEFT, "transpose", "in.mtx", "out.mtx")),
)
# Kernels of either schedule that a command runs, and what it says when they are left out.
LIES = (
    (("transpose", "in.mtx", "out.mtx"), "cpu_move cpu_local scan_partition merge_sort merge_sort_last", "transposes wrongly"),
    (("permute", "--device", "0", "--order", "row", "in.mtx", "out.mtx"), "permute_entries cpu_move scan_partition", "permutes wrongly"),
    (("spmv", "in.mtx"), "spmv_csr_cpu spmv_csr_scalar spmv_csr_lanes", "multiplies wrongly"),
    (("advise", "--measure", "in.mtx"), "spmv_csr_cpu spmv_csr_scalar spmv_csr_lanes", "wrong SpMV"),
    (("selftest", "--litmus", "--seconds", "1"), "litmus", "loses words between work-groups"),
)
MATRIX = "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1\n2 1 2\n3 2 3\n3 3 4\n"


def run(folder, above, words, **env):
    layers = f"{above}:{LAYER}" if above else LAYER
    if above:
        env["WEFT_PROFILE"] = "out.json"
    try:
        out = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             timeout=300, env={**os.environ, "OPENCL_LAYERS": layers, **env}, check=False)
        return out.returncode, (out.stderr + out.stdout).decode(errors="replace")
    except subprocess.TimeoutExpired:
        return "no end", ""


def takes_layers(folder):
    """Whether the loader calls a layer that is named in OPENCL_LAYERS."""
    said = os.path.join(folder, "probe")
    subprocess.run((WEFT, "devices"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300,
                   env={**os.environ, "OPENCL_LAYERS": PROBE, "WEFT_PROBE": said}, check=False)
    if not os.path.exists(said):
        return False
    os.unlink(said)
    return True


def matrix_write(folder):
    with open(os.path.join(folder, "in.mtx"), "w", encoding="ascii") as file:
        file.write(MATRIX)


def files_wrong(folder):
    """What is wrong with the files of a run; they are removed."""
    wrong = None
    for name in sorted(set(os.listdir(folder)) - {"in.mtx", "counts"}):
        path = os.path.join(folder, name)
        if name not in ("out.json", "out.mtx", "out.tsv"):
            wrong = f"{name} is left"
        elif name == "out.json":
            with open(path, encoding="utf-8") as file:
                text = file.read()
            try:
                json.loads(text if text.startswith("{\n") or text.count("\n") < 2 else f"[{','.join(text.splitlines())}]")
            except ValueError:
                wrong = f"{name} is torn"
        os.unlink(path)
    return wrong


def attempt(above, words, **env):
    with tempfile.TemporaryDirectory(prefix="weft-faults-") as folder:
        matrix_write(folder)
        code, err = run(folder, above, words, **env)
        if code not in (0, 1, 2, 3):
            return f"status {code}: {err[-500:]}"
        if code and not err:
            return f"status {code} without a word"
        return files_wrong(folder)


def test(number, folder, name, above, words):
    counts_path = os.path.join(folder, "counts")
    run(folder, above, words)  # programs into the cache
    files_wrong(folder)
    code, err = run(folder, above, words, WEFT_FAULT_COUNT=counts_path)
    good = ok(code == 0 and not files_wrong(folder), f"{name}: without faults", code, err)
    if not good or not os.path.exists(counts_path):
        ok(not good, f"{name}: the layer is there")
        return
    with open(counts_path, encoding="ascii") as file:
        counts = {word: int(count) for word, count in (line.split() for line in file) if count != "0"}
    os.unlink(counts_path)
    failures = [(call, n, ever) for call, count in sorted(counts.items())
                for n in sorted({1, 2, (count + 1) // 2, count}) if n <= count for ever in (0, 1)]
    if SAMPLE:  # six, others in each mode
        failures = failures[number % 5::max(1, len(failures) // 6)]
    def attempt_one(failure):
        call, n, ever = failure
        bad = attempt(above, words, WEFT_FAULT_CALL=call, WEFT_FAULT_N=str(n), WEFT_FAULT_EVER=str(ever))
        return bad and f"{call} number {n}{' and later ones' if ever else ''}: {bad}"

    with ThreadPoolExecutor(1 if SAMPLE else os.cpu_count()) as pool:
        wrong = [bad for bad in pool.map(attempt_one, failures) if bad]
    ok(not wrong and failures, f"{name}: {len(failures)} failures of {len(counts)} calls", *wrong)


def test_lies(folder):
    for words, names, want in LIES:
        code, err = run(folder, "", (WEFT, *words), WEFT_FAULT_LIE=f" {names} ")
        wrong = files_wrong(folder)
        ok(code == 1 and want in err and not wrong and "out.mtx" not in os.listdir(folder),
           f"{words[0]}: a device that computes wrong numbers", code, err, wrong)


def test_never(folder):
    """Calls that never work: what a command says, or does without."""
    for call, words, status, want in (("clCreateBuffer", ("info", "in.mtx"), 0, "device      none: "),
                                      ("clCreateBuffer", ("info", "in.mtx", "--json", "-"), 0, '"error":'),
                                      ("clCreateCommandQueue", ("spmv", "in.mtx"), 3, "gives no queue"),
                                      ("clCreateKernel", ("advise", "--measure", "in.mtx"), 3, "CL_OUT_OF_HOST_MEMORY")):
        code, text = run(folder, "", (WEFT, *words), WEFT_FAULT_CALL=call, WEFT_FAULT_N="1", WEFT_FAULT_EVER="1")
        ok(code == status and want in text, f"{words[0]}: {call} never works", code, text)


def test_selftest(folder):
    """No program compiles: each problem says so, and the command ends."""
    never = {"WEFT_FAULT_CALL": "clCreateProgramWithSource", "WEFT_FAULT_N": "1", "WEFT_FAULT_EVER": "1",
             "XDG_CACHE_HOME": "/proc/nowhere"}
    code, text = run(folder, "", (WEFT, "selftest"), **never)
    ok(code == 3 and "\nfailed " in text and "0 right, 0 wrong, " in text and "CL_OUT_OF_RESOURCES" in text,
       "selftest: no program compiles", code, text[-500:])
    code, text = run(folder, "", (WEFT, "selftest", "--json", "out.json"), **never)
    with open(os.path.join(folder, "out.json"), encoding="utf-8") as file:
        said = json.load(file)
    ok(code == 3 and said["failed"] == len(said["results"]) > 20 and all(row["result"] == "failed" and row["error"]
                                                                         for row in said["results"]), "the same as JSON", code, text, said)
    files_wrong(folder)


def main():
    with open(WEFT, "rb") as file:
        program = file.read()
    if b"__asan_init" in program or b"__tsan_init" in program:
        print("1..0 # SKIP a sanitizer must be the first library")
        return 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="weft-faults-") as folder:
        if not takes_layers(folder):
            print("1..0 # SKIP this loader takes no layers")
            return 0
        matrix_write(folder)
        for number, (name, above, words) in enumerate(MODES):
            if not above or os.path.isfile(above):
                test(number, folder, name, above, words)
        test_lies(folder)
        test_never(folder)
        test_selftest(folder)
    print(f"# {time.monotonic() - began:.1f} s{', a sample' if SAMPLE else ''}")
    return done()


sys.exit(main())
