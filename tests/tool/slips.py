#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""slips.py WEFT BENCH: what people do that is not quite right, and what they meet: devices by word, with and without a driver, files of
another kind, words where options were meant. One line says what is wrong; what is harmless is taken. Output is TAP.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok, skip  # noqa: E402

WEFT, BENCH = map(os.path.abspath, sys.argv[1:3])
NOWHERE = {"OCL_ICD_VENDORS": "/nonexistent"}  # no device
REAL = "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1.5\n1 3 2.5\n2 2 3.5\n3 1 4.5\n"


def run(*words, given=None, **env):
    """Exit status, standard output, standard error."""
    source = {"stdin": subprocess.DEVNULL} if given is None else {"input": given}
    out = subprocess.run(words, **source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False, text=True,
                         env={**os.environ, **env})
    return out.returncode, out.stdout, out.stderr


def fails(status, want, words, given=None, **env):
    """It ends with that status and one line that holds `want`."""
    code, _, err = run(*words, given=given, **env)
    name = " ".join(os.path.basename(word) for word in words) + "".join(f", {k}={v}" for k, v in env.items())
    ok(code == status and err.count("\n") == 1 and want in err, name, f"status {code}, expected {status}: {err}", f"expected: {want}")


def put(path, text):
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return path


# ---- devices -------------------------------------------------------------------------------------------------------

def hidden():
    """Does the system's OpenCL loader look for drivers where NOWHERE says? CUDA's does not."""
    return run(WEFT, "devices", **NOWHERE)[0] == 3


def test_devices(folder):
    path, out = put(f"{folder}/a.mtx", REAL), f"{folder}/t.mtx"
    listed = json.loads(run(WEFT, "devices", "--json", "-")[1])["devices"]
    kinds = {one["type"].lower() for one in listed}
    bench = [BENCH, path, "--no-roof", "--reps", "1", "-b", "opencl"]
    for kind, named in (("gpu", "GPU"), ("accelerator", "accelerator")):
        if listed and kind not in kinds:
            for words in ([WEFT, "spmv", path], bench):
                fails(2, f"--device: no {named} is in the list", [*words, "-d", kind])
                fails(2, f"WEFT_DEVICE: no {named} is in the list", words, WEFT_DEVICE=kind)
    if listed:
        for words in ([WEFT, "spmv", path], [WEFT, "info", path], bench):
            fails(2, f"--device: there is no device 99: the list goes from 0 to {len(listed) - 1}", [*words, "-d", "99"])
    for command in ("spmv", "info"):
        fails(2, 'WEFT_DEVICE is "all", which weft-bench takes', [WEFT, command, path], WEFT_DEVICE="all")
    if not hidden():
        skip("no environment hides devices from this OpenCL loader")
        return
    for word in ("gpu", "nvidia", "0"):
        for words in ([WEFT, "spmv", path], [WEFT, "info", path], [WEFT, "transpose", path, out], bench):
            fails(3, "no OpenCL platform", [*words, "-d", word], **NOWHERE)
        fails(3, "no OpenCL platform", [WEFT, "spmv", path], WEFT_DEVICE=word, **NOWHERE)
        code, text, err = run(WEFT, "info", path, WEFT_DEVICE=word, **NOWHERE)
        ok(code == 0 and not err and "\nentropy " in text and "\ndevice      none: no OpenCL platform" in text,
           f"info with WEFT_DEVICE={word} and no driver prints the rest", code, text, err)


# ---- files of another kind -----------------------------------------------------------------------------------------

def test_tune(folder):
    small = ["-o", "scan", "-b", "opencl", "--no-roof", "-g", "band:100,3", "-d", "0"]
    code, out, err = run(BENCH, *small, "--reps", "1", "--json", "-")
    if code == 3:
        skip("tune files: no device")
        return
    record = json.loads(out.splitlines()[0])
    row = "\t".join([record["device"], record["driver"], "cpu", "scan", "8", "wg=1"]) + "\n"
    for name, text in (("results.json", out), ("a.csv", "a,b\n1,2\n"), ("notes.md", "# Notes\n\ntext\n"), ("only.txt", "# weft\n")):
        path = put(f"{folder}/{name}", text)
        fails(2, f"{path} is no tune file", [BENCH, *small, "--tune", "--tune-time", "0.1", "--tune-file", path])
        with open(path, encoding="utf-8") as file:
            ok(file.read() == text, name + " is as it was")
    for name, text in (("empty", ""), ("head", "# weft tune 1\n"), ("rows", "# mine\n\n" + row)):
        path = put(f"{folder}/{name}.tsv", text)
        code, _, err = run(BENCH, *small, "--tune", "--tune-time", "0.1", "--tune-file", path)
        ok(code == 0 and not err, "--tune replaces a tune file: " + name, code, err)
    other = "\t".join(["GPU 9", "1", "gpu", "scan", "4", "wg=64"]) + "\n"
    for name, text in (("passwd", "root:x:0:0:root:/root:/bin/bash\n"), ("other.tsv", "# weft tune 1\n" + other)):
        path = put(f"{folder}/{name}", text)
        code, _, err = run(BENCH, *small, "--reps", "1", "--tune-file", path)
        ok(code == 0 and err.count("\n") == 1 and f"weft-bench: {path} has no row of tuning for device 0, {record['device']}" in err,
           f"--tune-file without a row for the device: {name}", code, err)
        code, _, err = run(BENCH, *small, "--reps", "1", WEFT_TUNE=path)
        ok(code == 0 and not err, "nothing is said of what the environment names", code, err)
    rows = put(f"{folder}/mine.tsv", "# weft tune 1\n" + row + row.replace("\tcpu\t", "\tgpu\t"))
    for words in (["--tune-file", rows], ["--tune-file", ""]):
        code, _, err = run(BENCH, *small, "--reps", "1", *words)
        ok(code == 0 and not err, f"nothing is said of {words}", code, err)


def test_words(folder):
    """A word that begins with '-' is an option, not the file of the option before it."""
    path, before = put(f"{folder}/w.mtx", REAL), set(os.listdir("."))
    quick = [BENCH, path, "--no-roof", "--reps", "1"]
    for option, more in (("--csv", []), ("--trace", ["--profile"]), ("--html", ["--profile"]), ("--tune-file", ["--tune"])):
        fails(2, f'{option} wants a FILE, here is "-b": `-` is the standard output, a file of that name is ./-b', [*quick, *more, option, "-b"])
    for words in (["spy", path, "-o", "-x.png"], ["entropy", path, "-o", "--size"], ["spmv", path, "-o", "-d"]):
        fails(2, f'--output wants a FILE, here is "{words[-1]}"', [WEFT, *words])
    ok(set(os.listdir(".")) == before, "no such file is written", set(os.listdir(".")) - before)
    code, out, err = run(*quick, "-b", "ref", "--csv", "-")
    ok(code == 0 and out.startswith("matrix,") and not err, "--csv - is the standard output", code, out, err)


def main():
    for name in ("WEFT_DEVICE", "WEFT_TUNE"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory(prefix="weft-slips-") as folder:
        test_devices(folder)
        test_tune(folder)
        test_words(folder)
    return done()


sys.exit(main())
