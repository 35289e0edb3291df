#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tool.py WEFT PICTURES: the command-line tool: every command, its errors, exit statuses and files. PICTURES is 1 where
the build draws them. Pictures are decoded and looked at where the entries must be. Output is TAP.
"""
import fcntl
import gzip
import json
import math
import os
import pty
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from picture import cells, size  # noqa: E402
from tap import done, ok, skip  # noqa: E402

WEFT, PICTURES = os.path.abspath(sys.argv[1]), sys.argv[2] == "1"
COMMANDS = ["info", "spy", "entropy", "permute", "convert", "transpose", "spmv", "devices", "advise", "selftest"]
SAMPLE = os.environ.get("WEFT_SAMPLE") == "1"  # a part of the cases of each kind
NOWHERE = {"OCL_ICD_VENDORS": "/nonexistent"}  # no device
ORDERS = ["regular", "row", "row-gradient", "col-gradient", "row-col", "degree", "rcm"]


# Values that are no ordinary numbers, or whose sums are none, and their sums by rows. Of subnormal ones it is the status that counts.
SPECIAL = [("inf", "real", ["1 1 inf", "2 2 3", "3 1 -inf"], ["inf", "3", "-inf"]),
           ("nan", "real", ["1 1 nan", "2 1 inf", "2 2 -inf", "3 3 4"], ["nan", "nan", "4"]),
           ("large", "real", ["1 1 1.7e308", "1 2 1.7e308", "2 1 -1.7e308", "2 3 -1.7e308", "3 3 2"], ["inf", "-inf", "2"]),
           ("subnormal", "real", ["1 1 1e-40", "2 2 3e-41", "3 3 7e-42"], None),
           ("wrapping", "integer", ["1 1 2147483647", "1 2 1", "2 1 -2147483648", "2 2 -1", "3 3 7"],
            ["-2147483648", "2147483647", "7"])]


def special(kind, lines):
    return f"%%MatrixMarket matrix coordinate {kind} general\n3 3 {len(lines)}\n" + "\n".join(lines) + "\n"


def run(*args, limit=None, stdin=None, **env):
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    source = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
    out = subprocess.run([WEFT, *args], **source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         env={**os.environ, **env}, timeout=300, check=False, preexec_fn=small_files if limit else None)
    return out.returncode, out.stdout, out.stderr


def hidden():
    """Does the system's OpenCL loader look for drivers where NOWHERE says? CUDA's does not."""
    ask = ("import ctypes; n = ctypes.c_uint(0); "
           "ctypes.CDLL('libOpenCL.so.1').clGetPlatformIDs(0, None, ctypes.byref(n)); print(n.value)")
    out = subprocess.run([sys.executable, "-c", ask], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                         env={**os.environ, **NOWHERE}, check=False)
    return out.stdout.strip() == "0"


def exits(status, out, name, want=None):
    """Exit status, and for a failure one line that holds `want`."""
    code, _, err = out
    good = code == status and (not err if want is None else
                               err.startswith("weft: ") and err.count("\n") == 1 and want in err)
    return ok(good, name, f"status {code}, expected {status}; stderr:", err, f"expected in it: {want}")


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="ascii") as file:
        return file.read()


def entries(text):
    """Head line, shape and entries of a file."""
    head, *lines = [line for line in text.splitlines() if line and not line.startswith("%") or line.startswith("%%")]
    m, n, _ = map(int, lines[0].split())
    return head, m, n, [(int(i), int(j), *value) for i, j, *value in map(str.split, lines[1:])]


def test_usage(folder):
    for args, want in [
            ([], "which command"), (["magic"], "magic"), (["help", "magic"], "magic"), (["info"], "usage: weft info"),
            (["spy", "a", "b"], "usage: weft spy"), (["info", "a", "b", "--json", "c"], "takes one matrix"),
            (["inof"], "did you mean info?"), (["info", "--sed", "1", "a"], "did you mean --seed?"), (["info", "-Z", "a"], "-Z"), (["info", "--bogus", "a"], "--bogus"),
            (["info", "--seed"], "--seed wants"), (["info", "-d"], "-d wants"), (["info", "-d", "x", "a"], "\"x\""),
            (["info", "--seed", "-1", "a"], "--seed"), (["info", "--index", "16", "a"], "--index"),
            (["info", "-t", "f16", "a"], "f16"), (["info", "--complex", "polar", "a"], "polar"),
            (["info", "--products", "-1", "a"], "--products"), (["info", "--size", "500", "a"], "no option --size"),
            (["info", "-g", "band:5,3", "a"], "usage: weft info"), (["info", "-g", "band:5,3", "-g", "band:5,3"], "twice"),
            (["spy", "a"], "where to"), (["spy", "a", "-o", "b.png", "--size", "9"], "--size"),
            (["entropy", "--order", "fast", "a"], "row-gradient"), (["permute", "a", "b"], "which order"),
            (["permute", "--order", "row", "a"], "usage: weft permute"), (["transpose", "a"], "usage: weft transpose"),
            (["devices", "a"], "usage: weft devices"), (["devices", "--seed", "1"], "no option --seed"),
            (["advise"], "usage: weft advise"), (["info", ""], "word 1 of FILE"), (["convert", "a", ""], "word 2 of FILE and OUT"),
            (["info", "a", "--json="], "--json is empty"), (["spmv", "a", "-o", ""], "--output is empty"),
            (["spy", "a", "-o", ""], "--output is empty"), (["spy", "a", "-o", "b.png", "-o", "c.png"], "--output is given twice"),
            (["info", "a", "--json", "b", "--json"], "--json is given twice"), (["help", "info", "spy"], "of one command"), (["--version", "x"], "\"x\"")]:
        exits(2, run(*args), "usage: " + " ".join(args), want)
    exits(2, run("info", "a", WEFT_DEVICE="abc"), "usage: WEFT_DEVICE=abc", "WEFT_DEVICE")
    for args in (["info", "--help"], ["entropy", "-g", "band:5,3"], ["info", "-d", "0", "-g", "band:5,3"]):
        ok(run(*args, WEFT_DEVICE="all", **NOWHERE)[0] in (0, 3), "WEFT_DEVICE is not read: " + " ".join(args))
    for spec in ["nosuch:3", "uniform:3,4", "band:10,4", "uniform:-1,2,3"]:
        exits(2, run("info", "-g", spec), "specification " + spec, spec)
    exits(2, run("info", "/nonexistent.mtx"), "no such file", "/nonexistent.mtx")
    broken = write(os.path.join(folder, "broken.mtx"), "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1.0\n")
    for command in (["info"], ["advise", "--measure"], ["entropy"], ["permute", "--order", "row"], ["transpose"]):
        out = os.path.join(folder, "never.mtx")
        exits(2, run(*command, broken, *[out] * (command[0] in ("permute", "transpose"))),
              command[0] + " of a file with an index out of range", "broken.mtx:3")
        ok(not os.path.exists(out), "writes nothing then")
    unreal = write(os.path.join(folder, "unreal.mtx"),
                   "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1.0 2.0\n")
    exits(2, run("convert", unreal, "-"), "a complex matrix is refused", "(--complex real|imag, or -t pattern)")
    code, out, err = run("info", "--complex", "imag", "--json", "-", unreal, **NOWHERE)
    ok(code == 0 and json.loads(out)["field"] == "complex", "--complex takes a part", out, err)


def test_help():
    code, out, err = run("help")
    ok(code == 0 and not err and all(f"\n  {c} " in out for c in COMMANDS), "help lists the commands", out, err)
    ok(run("--help")[1] == out and run("-h")[1] == out, "--help and -h are help")
    ok(all(run("help", word)[:2] == (0, out) for word in ("help", "--help", "-h")), "help of help is help")
    for command in COMMANDS:
        code, text, err = run("help", command)
        ok(code == 0 and not err and text.startswith(f"usage: weft {command} [options]") and "exit status" in text and
           max(map(len, text.splitlines())) <= 110, "help " + command, text, err)
        ok(run(command, "--help")[1] == text, f"{command} --help is the same")
        for option in re.findall(r"--([a-z]+)", text.split("\n\n", 2)[2] if command != "devices" else "")[::4 if SAMPLE else 1]:
            ok("no option" not in run(command, "--" + option, "0", "a", "b", "c")[2], f"{command} takes --{option}")
    code, out, _ = run("--version")
    ok(code == 0 and re.fullmatch(r"weft \d+\.\d+\.\d+\n", out), "--version", out)


# 4 x 3, rows of 2, 0, 3 and 1 entries
SMALL = "%%MatrixMarket matrix coordinate {} general\n4 3 6\n1 1{}\n1 3{}\n3 1{}\n3 2{}\n3 3{}\n4 2{}\n"
REAL, WHOLE, PATTERN = ("real", *[f" {k}.5" for k in range(6)]), ("integer", *[f" {k}" for k in range(6)]), ("pattern", *[""] * 6)


def test_litmus():
    code, out, err = run("selftest", "--litmus", "--seconds", "1")
    rows = re.findall(r"^(right|unused|found|unseen) +\w+ .* times, .* met, .* wrong, .* s; .+$", out, re.M)
    ok(code == 0 and not err and len(rows) > 7 and re.search(r"\n\d protocols right, 0 wrong; \d+ of \d+ mutants found\n$", out),
       "selftest --litmus", out, err)
    code, out, err = run("selftest", "--litmus", "--seconds", "1", "--json", "-")
    found = json.loads(out) if code == 0 else {}
    ok(found.get("wrong") == 0 and len(found["results"]) == len(rows) and found["mutants"] > 4, "the same as JSON", out, err)
    exits(2, run("selftest", "--litmus", "--seconds", "0"), "selftest --seconds 0", "--seconds")


def test_info(folder):
    path = write(os.path.join(folder, "small.mtx"), SMALL.format(*REAL))
    code, out, err = run("info", path, "--json", "-")
    ok(code == 0 and not err, "info --json", err)
    found = json.loads(out)
    want = {"matrix": "small", "m": 4, "n": 3, "nnz": 6, "type": "f64", "field": "real", "symmetry": "general", "stored": 6,
            "lower": 2, "upper": 2}
    ok({key: found[key] for key in want} == want, "shape and field", out)
    ok(found["rows"]["empty"] == 1 and found["rows"]["mean"] == 1.5 and found["rows"]["quantiles"][0] == 0 and
       found["rows"]["quantiles"][-1] == 3 and found["columns"]["mean"] == 2, "lengths of rows and columns", out)
    ok(abs(found["imbalance"]["2"] - 4 / 3) < 1e-12, "the fullest half of the rows", out)
    ok("pattern_symmetry" not in found, "no symmetry of what is not square", out)
    device = found["device"]
    ok(device["format_bytes"]["csr"] == 6 * 12 + 5 * 4 and device["format_bytes"]["coo"] == 6 * 16 and
       device["choice"]["algo"].startswith("csr") and device["choice"]["why"], "formats and choice of the device", out)
    code, out, err = run("info", write(os.path.join(folder, "none.mtx"), "%%MatrixMarket matrix coordinate real general\n0 0 0\n"))
    ok(code == 0 and not err and "\nchoice " in out and not any(line.rstrip().endswith(":") for line in out.splitlines()),
       "no reason for a choice without entries", code, out, err)
    for name, values, kind in [("whole", WHOLE, "i32"), ("pattern", PATTERN, "pattern"), ("real", REAL, "f64")]:
        other = write(os.path.join(folder, name + ".mtx"), SMALL.format(*values))
        ok(json.loads(run("info", other, "--json", "-", **NOWHERE)[1])["type"] == kind, f"a file of {name} values has type {kind}")
        ok(json.loads(run("info", other, "-t", "f32", "--json", "-", **NOWHERE)[1])["type"] == "f32", "--type is followed")
    large = write(os.path.join(folder, "large.mtx"), SMALL.format("integer", *[" 3000000000"] * 6))
    ok(json.loads(run("info", large, "--json", "-", **NOWHERE)[1])["type"] == "f64", "integers beyond 32 bits become f64")
    huge = write(os.path.join(folder, "huge.mtx"), "%%MatrixMarket matrix coordinate integer general\n1 2 2\n1 1 9007199254740993\n1 2 7\n")
    head, _, _, values = entries(run("convert", huge, "-")[1])
    ok(head == "%%MatrixMarket matrix coordinate real general" and [float(v) for *_, v in values] == [2.0 ** 53, 7],
       "beyond 2^53 they are rounded, and written as real", head, values)
    code, text, err = run("info", path)
    ok(code == 0 and not err and all(re.search(f"^{word} ", text, re.M) for word in
                                     ("matrix", "shape", "entries", "rows", "columns", "symmetry", "bandwidth", "locality",
                                      "entropy", "split", "device", "formats", "choice")), "info as text", text, err)
    mirrored = write(os.path.join(folder, "mirrored.mtx"),
                     "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n2 1 2\n3 2 3\n")
    found = json.loads(run("info", mirrored, "--json", "-", **NOWHERE)[1])
    ok(found["nnz"] == 5 and found["stored"] == 3 and found["pattern_symmetry"] == 1 and found["value_symmetry"] == 1,
       "a symmetric file is expanded", found)
    padded = json.loads(run("info", "-g", "heavy:3000,3000,9000,3000", "-t", "f64", "--json", "-")[1])["device"]
    ok("ell" in padded["refused"] and "ell" not in padded["format_bytes"], "a format that would be padding is refused", padded)
    ok(json.loads(run("info", "-g", "band:300,3", "-t", "f64", "--products", "7", "--json", "-")[1])["device"]["choice"]["products"] == 7,
       "--products is passed on")
    both = os.path.join(folder, "both.json")
    code, text, _ = run("info", path, "--json", both)
    ok(code == 0 and json.loads(read(both))["nnz"] == 6 and "matrix " in text, "--json FILE beside the text")
    exits(2, run("info", path, "--json", both), "JSON refuses a file that exists", "--force")
    ok(run("info", path, "--json", both, "--force", "--products", "9")[0] == 0 and "products" in read(both), "--force replaces it")
    exits(2, run("info", path, "--json", "/nonexistent/a.json"), "JSON that cannot be written", "/nonexistent/a.json")
    if os.path.exists("/dev/full"):
        for more in (["--json", "-"], []):
            with open("/dev/full", "w", encoding="ascii") as full:
                out = subprocess.run([WEFT, "entropy", path, *more], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            ok(out.returncode == 2 and "standard output" in out.stderr, "a full disk behind the standard output", out)
        with open("/dev/full", "w", encoding="ascii") as full:
            for args in (["help"], ["help", "info"], ["--version"]):
                out = subprocess.run([WEFT, *args], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
                ok(out.returncode == 2 and "standard output" in out.stderr, " ".join(args) + " to a full disk", out)
    for spec in ["uniform:0,0,0", "uniform:5,0,0", "uniform:0,7,0", "uniform:1,1,1"]:
        code, out, err = run("info", "-g", spec, "-t", "f64", "--json", "-")
        ok(code == 0 and not err and json.loads(out)["device"]["choice"], "info of " + spec, out, err)
        code, out, err = run("entropy", "-g", spec, "--json", "-")
        ok(code == 0 and not err and json.loads(out)["entropy"] == 0, "entropy of " + spec, out, err)
    exits(2, run("info", path, "-d", "99"), "info on a device that is not there", "99")
    if hidden():
        code, out, err = run("info", path, "--json", "-", **NOWHERE)
        ok(code == 0 and not err and "error" in json.loads(out)["device"], "info without any device gives the rest", out, err)
    else:
        skip("no environment hides devices from this OpenCL loader")
    code, out, _ = run("info", "-g", "uniform:300000,300000,900000", "--json", "-")
    wide = json.loads(out)["device"]["refused"]["sell16"] if code == 0 else ""
    ok(wide.startswith("columns of 32 bits"), "a matrix too wide for 16 bits", wide)


def test_matrices(folder):
    small = write(os.path.join(folder, "m.mtx"), SMALL.format(*REAL))
    before = entries(read(small))
    out = os.path.join(folder, "out.mtx")
    exits(0, run("transpose", small, out), "transpose")
    head, m, n, values = entries(read(out))
    ok((m, n) == (3, 4) and sorted((j, i, float(v)) for i, j, v in before[3]) == [(i, j, float(v)) for i, j, v in values],
       "the transpose has its rows in order", values)
    for name, values in [("whole", WHOLE), ("pattern", PATTERN)]:
        path = write(os.path.join(folder, name + ".mtx"), SMALL.format(*values))
        exits(0, run("permute", "--order", "row", path, out, "--force"), "permute " + name)
        ok(entries(read(out))[0] == f"%%MatrixMarket matrix coordinate {values[0]} general", f"{name} stays {values[0]}")
    text = read(out)
    for command in (["transpose"], ["permute", "--order", "row"]):
        exits(2, run(*command, small, out), command[0] + " refuses a file that exists", "--force")
        ok(read(out) == text, "and leaves it alone")
        exits(2, run(*command, small, folder, "--force"), "a folder is no file", "regular")
        exits(2, run(*command, small, "/nonexistent/o.mtx"), "no such folder", "/nonexistent/o.mtx")
        fresh = os.path.join(folder, "fresh.mtx")
        exits(2, run(*command, small, fresh, "-d", "99"), "no such device", "99")
        code, _, err = run(*command, "-t", "f64", "-g", "uniform:3000,3000,200000", fresh, limit=1 << 21) # PoCL's files are smaller
        ok(code == 2 and err.count("\n") == 1 and "fresh.mtx" in err, "a file that gets too large is an error", code, err)
        ok(not [f for f in os.listdir(folder) if f.startswith("fresh")], "nothing is left of it", os.listdir(folder))
        exits(0, run(*command, small, os.path.join(folder, command[0] + ".mtx.gz")), "compressed")
        ok(len(entries(read(os.path.join(folder, command[0] + ".mtx.gz")))[3]) == 6, "it is gzip, and whole")
        piped = run(*command, "-", "-", stdin=read(small))
        exits(0, piped, command[0] + " from the standard input to the standard output")
        ok(piped[1] == read(os.path.join(folder, command[0] + ".mtx.gz")), "the same text as in a file", piped[1])
        with open("/dev/full", "w", encoding="ascii") as full:
            broken = subprocess.run([WEFT, *command, small, "-"], stdin=subprocess.DEVNULL, stdout=full,
                                    stderr=subprocess.PIPE, text=True, timeout=300, check=False)
        exits(2, (broken.returncode, "", broken.stderr), "what cannot be written is an error", "standard output")
    ok(not os.path.exists("-"), "no file is named -")
    exits(0, run("transpose", small, small, "--force"), "a file may take its own place")
    ok(entries(read(small))[1:3] == (3, 4), "with --force")
    spec = [os.path.join(folder, "spec.mtx")]
    exits(0, run("permute", "--order", "regular", "-g", "power:40,30,300", "-t", "f64", *spec), "a matrix made up")
    exits(0, run("permute", "--order", "regular", *spec, out, "--force"), "order regular")
    ok(read(out) == read(*spec), "changes nothing")
    plain = entries(read(out))[3]
    rows = {i: sorted((j, v) for r, j, v in plain if r == i) for i in range(1, 41)}
    for order in ORDERS if not SAMPLE else ["row-col", "degree"]:
        exits(0, run("permute", "--order", order, "--seed", "5", *spec, out, "--force"), "order " + order)
        text = read(out)
        moved = entries(text)[3]
        ok(sorted(v for *_, v in moved) == sorted(v for *_, v in plain), "no value is lost")
        if order in ("row", "row-gradient", "degree"):
            after = {i: sorted((j, v) for r, j, v in moved if r == i) for i in range(1, 41)}
            ok(sorted(after.values()) == sorted(rows.values()) and (order == "regular" or after != rows), "rows move as wholes")
            if order == "degree":
                lengths = [len(after[i]) for i in range(1, 41)]
                ok(lengths == sorted(lengths, reverse=True), "degree sorts the rows", lengths)
        exits(0, run("permute", "--order", order.upper(), "--seed", "5", *spec, out, "--force", "-d", "0"),
              "the device gives the same, and capitals are read")
        ok(read(out) == text, "and writes the same")
    for order in ("row-entries", "ROW-COL-ENTRIES"):
        exits(0, run("permute", "--order", order, "--seed", "5", *spec, out, "--force"), "order " + order)
        moved = entries(read(out))[3]
        ok(moved != plain and sorted(i for i, *_ in moved) == sorted(i for i, *_ in plain) and
           sorted(j for _, j, _ in moved) == sorted(j for _, j, _ in plain) and
           (sorted(e[1:] for e in moved) == sorted(e[1:] for e in plain)) == (order == "row-entries"),
           "entries move one by one", moved[:5])
        exits(2, run("permute", "--order", order, *spec, out, "--force", "-d", "0"), "which no device does", "no permutation")
    run("permute", "--order", "row", "--seed", "6", *spec, out, "--force")
    ok(entries(read(out))[3] != plain, "another seed, another order")
    if hidden():
        exits(3, run("transpose", small, os.path.join(folder, "o2.mtx"), **NOWHERE), "no device at all", "OpenCL")
        exits(3, run("devices", **NOWHERE), "devices without any", "OpenCL")
    else:
        skip("no environment hides devices from this OpenCL loader")
    code, text, err = run("devices", "--json", "-")
    ok(code == 0 and json.loads(text)["devices"][0]["index"] == 0, "devices --json", text, err)
    ok(run("devices", "--json") == (code, text, err), "without FILE it goes to the standard output")
    code, text, err = run("info", "-g", "stencil5:3", "--json", "--index", "64")
    ok(code == 0 and json.loads(text)["m"] == 9, "also before another option", text, err)
    code, text, err = run("spmv", "-g", "stencil5:2", "-o", "-")
    ok(code == 0 and text.split("\n") == ["%%MatrixMarket matrix array real general", "4 1", *4 * ["2"], ""],
       "spmv writes y", text, err)
    for kind in ("f64", "i32"):
        code, text, err = run("spmv", "-g", "stencil5:2", "-t", kind, "--json", "-")
        said = json.loads(text) if code == 0 else {}
        ok(said.get("type") == kind and said["m"] == 4 and said["nnz"] == 12 and said["runs"] == 20 and said["algo"] and
           0 < said["quartile1_ms"] <= said["median_ms"] <= said["quartile3_ms"], f"spmv of {kind} as JSON", text, err)
    for name, kind, lines, want in SPECIAL:
        path = write(os.path.join(folder, name + ".mtx"), special(kind, lines))
        code, text, err = run("spmv", path, "-o", "-", *(["-t", "f32"] if name == "subnormal" else []))
        ok(code == 0 and not err and (want or text.split()[-3:]) == text.split()[-3:], f"spmv of values that are {name}", code, text, err)
    code, text, err = run("spmv", "-g", "stencil5:50", "-d", "cpu" if "  CPU " in run("devices")[1] else "gpu")
    ok(code == 0 and "2 500 x 2 500, 12 300 entries" in text and "equal to the reference" in text, "spmv", text, err)
    code, text, err = run("devices")
    ok(code == 0 and not err and re.match(r" 0  .*  (CPU|GPU|accelerator) .*GiB(  default)?\n", text), "devices", text, err)


def test_json(folder):
    """One result a stream, one a file; what --json takes for its FILE; several matrices."""
    small = write(os.path.join(folder, "j.mtx"), SMALL.format(*PATTERN))
    for end in ("mtx.gz", "npz", "weft", "mtx.bz2", "png", "foo"):
        exits(2, run("spmv", small, "-o", "y." + end), "y under a name that ends with ." + end, "plain Matrix Market text")
    exits(2, run("spmv", small, "--json", "-o", "-"), "JSON and y to the standard output", "not both")
    exits(2, run("entropy", small, "--json", "-", "-o", "-"), "JSON and a picture there", "not both")
    os.mkdir(os.path.join(folder, "way"))
    new, way = os.path.join(folder, "y.out"), os.path.join(folder, "way", "..", "y.out")
    for out in (new, way):
        exits(2, run("spmv", small, "--json", out, "-o", new), "one new file for both", "are the same file")
        ok(not os.path.exists(new), "and it is not made")
    link, old = os.path.join(folder, "y.link"), write(os.path.join(folder, "y.old.svg"), "old")
    os.link(old, link)
    for out in (old, link):
        for command in ("spmv", "entropy"):
            exits(2, run(command, small, "--json", out, "-o", old, "--force"), f"{command}: one old file for both", "are the same file")
            ok(read(old) == "old", "which stays as it was")
    for args in (["info", "--json", small], ["spmv", "--json", small], ["advise", "--json", small, "--force"]):
        exits(2, run(*args), " ".join(args[:2]) + " FILE", f'"{small}" was taken as the file of --json; use --json -')
        ok(read(small) == SMALL.format(*PATTERN), "the matrix is there")
    code, text, err = run("info", small, small, "--json", "-", **NOWHERE)
    ok(code == 0 and [json.loads(line)["nnz"] for line in text.splitlines()] == [6, 6], "two matrices are two lines", text, err)
    code, text, err = run("entropy", small, "--json", "-")
    ok(code == 0 and json.loads(text)["m"] == 4 and text.count("\n") > 5, "one is indented", text, err)


def test_convert(folder):
    for kind, values in (("f64", REAL), ("i32", WHOLE), ("pattern", PATTERN)):
        text = write(os.path.join(folder, kind + ".mtx"), SMALL.format(*values))
        binary, back = os.path.join(folder, kind + ".weft"), os.path.join(folder, kind + "-back.mtx")
        exits(0, run("convert", text, binary), f"convert {kind} to .weft")
        exits(0, run("convert", binary, back), "and back")
        direct = run("convert", text, "-")[1]
        ok(direct and read(back) == direct, f"{kind} comes back as it was", direct)
        found, want = (json.loads(run("info", path, "--json", "-", **NOWHERE)[1]) for path in (binary, text))
        ok(all(found[k] == want[k] for k in ("m", "n", "nnz", "type", "rows", "columns")), f"info of {kind}.weft", found)
        for form in (".rb", ".npz"):
            other = os.path.join(folder, kind + form)
            code, _, err = run("convert", text, other)
            if "no libarchive" in err:
                continue
            found = json.loads(run("info", other, "--json", "-", **NOWHERE)[1]) if not code else {}
            ok(found.get("type") == kind and all(found[k] == want[k] for k in ("m", "n", "nnz")), f"{kind} as {form}", err, found)
    binary = os.path.join(folder, "f64.weft")
    with open(binary, "rb") as file:
        whole = file.read()
    ok(run("convert", "-t", "f32", binary, "-")[1].count("\n") == 8, "values of another type")
    exits(2, run("convert", "-t", "i32", binary, "-"), "values that are no integers", "does not fit i32")
    exits(2, run("convert", binary, os.path.join(folder, "i32.weft")), "a file that exists", "exists")
    exits(2, run("convert", binary, folder + "/slip.nzp"), "a slip", "slip.nzp: no kind of file ends with .nzp: did you mean npz?")
    ok(run("convert", binary, folder + "/a.txt")[0] == 0 and not os.path.exists(folder + "/slip.nzp"), ".txt is no slip")
    for end in ("pn", "json", "mtx.bz2", "mtx.xz", "mtx.zst", "zip", "tar", "tgz", "tar.gz", "mat"):
        for command in (["convert"], ["permute", "--order", "row"], ["transpose"]):
            exits(2, run(*command, binary, f"{folder}/foreign.{end}"), f"{command[0]} to .{end}", "no such form is written: .mtx")
            ok(not os.path.exists(f"{folder}/foreign.{end}"), "writes nothing")
    for name, data, want in (("cut", whole[:-1], "not as long"), ("long", whole + b"x", "not as long"), ("head", whole[:40], "cannot be read"),
                             ("order", whole[:16] + whole[19:15:-1] + whole[20:], "order of bytes"),
                             ("rows", whole[:32] + b"\xff" * 8 + whole[40:], "no matrix"),
                             ("many", whole[:48] + b"\xff" * 7 + b"\x7f" + whole[56:], "not as long"),
                             ("index", whole[:64 + 5 * 4] + b"\x09" + whole[64 + 5 * 4 + 1:], "col")):
        damaged = os.path.join(folder, name + ".weft")
        with open(damaged, "wb") as file:
            file.write(data)
        exits(2, run("info", damaged, **NOWHERE), "a .weft that is damaged: " + name, want)


def test_entropy():
    found = json.loads(run("entropy", "-g", "dense:64,64", "--json", "-")[1])
    ok(found["bucket_rows"] * found["bucket_cols"] == 64 * 64 and abs(found["entropy"] - math.log(4096)) < 1e-9 and
       abs(found["entropy_max"] - math.log(4096)) < 1e-9, "a full matrix has the largest entropy", found)
    found = json.loads(run("entropy", "-g", "power:500,700,9000", "--json", "-")[1])
    ok(all(abs(sum(found["parts"][k]) - found["entropy"]) < 1e-9 for k in ("2x2", "4x4", "8x8")) and
       [len(found["parts"][k]) for k in ("2x2", "4x4", "8x8")] == [4, 16, 64], "the parts add up to H", found)
    ok("jensen_shannon" not in found, "no distance without --order")
    same = json.loads(run("entropy", "-g", "power:500,700,9000", "--order", "regular", "--json", "-")[1])["jensen_shannon"]
    other = json.loads(run("entropy", "-g", "power:500,700,9000", "--order", "row-col", "--json", "-")[1])
    ok(same["distance"] == 0 and other["jensen_shannon"]["distance"] > 0.1 and other["order"] == "row-col" and
       other["jensen_shannon"]["low"] < other["jensen_shannon"]["distance"] < other["jensen_shannon"]["high"] and
       other["seed"] == 0 and other["entropy_before"] == found["entropy"], "distance to the order before", same, other)
    code, text, err = run("entropy", "-g", "power:500,700,9000", "--order", "row")
    ok(code == 0 and not err and f"before {found['entropy']:.4f}" in text and "shares of H, 8 x 8" in text,
       "entropy as text", text, err)


def test_longest(folder):
    """The number beside the bars of `entropy` is the longest row, not the bar of the rows that share its pixel."""
    if not PICTURES:
        return
    pictures = []
    for first in ((0, 1), (0, 0), (1, 1)): # the rows of two entries that share pixels: 1 and 1, 2 and 0, 0 and 2 of them
        name, out = os.path.join(folder, "longest.mtx"), os.path.join(folder, "longest.png")
        rows = [*first, *range(2, 20000)]
        write(name, "%%MatrixMarket matrix coordinate pattern general\n20000 20000 20000\n" +
              "".join(f"{row + 1} {col + 1}\n" for col, row in enumerate(rows)))
        exits(0, run("entropy", name, "-o", out, "--force", **NOWHERE), "a picture of the bars")
        with open(out, "rb") as file:
            pictures.append(file.read())
    ok(pictures[1] == pictures[2], "rows of 2 and 0 entries, or 0 and 2, in the same pixels: the same picture")
    ok(pictures[0] != pictures[1], "rows of 1 and 1 entries there: the longest row is another")


def test_advise(folder):
    out = os.path.join(folder, "advice.json")
    code, text, err = run("advise", "-g", "power:3000,3000,30000", "--json", out)
    bare = code == 2 and "no model" in err  # neither a processor nor a GPU
    if bare:
        skip("no model for this kind of device")
    else:
        found = json.loads(read(out))
        orders = {o["order"]: o for o in found["orders"]}
        ok(code == 0 and not err and list(orders) == ORDERS and found["type"] == "f32" and found["model"], "advise", err, found)
        ok(all(o["low"] < o["ratio"] < o["high"] and o["permute_low"] <= o["permute_products"] <= o["permute_high"] and
               o["pays"] == (o["ratio"] < 0.95) for name, o in orders.items() if name != "regular"),
           "each order has a ratio inside its interval, and pays when it is below 0.95", found)
        ok(all(("pays_after" in o) == (o["ratio"] < 1) and ("pays_after" not in o or o["pays_after"] ==
               math.ceil(o["permute_products"] / (1 - o["ratio"]))) for name, o in orders.items() if name != "regular"),
           "when an order has paid", found)
        best = min(ORDERS[1:], key=lambda name: orders[name]["ratio"])
        said = f"order {best}" if orders[best]["pays"] else "leave the matrix as it is"
        ok(found["advice"] == (best if orders[best]["pays"] else "regular") and said in text and
           orders["degree"]["surprises"] < orders["regular"]["surprises"], "the advice is the best order", found, text)
        few = json.loads(run("advise", "-g", "power:3000,3000,30000", "--products", "1", "--seed", str(2**53 + 1), "--json", "-")[1])
        ok(few["seed"] == 2**53 + 1 and few["advice"] == "regular" and not any(o.get("pays") for o in few["orders"]), "nothing pays for one product", few)
        ok("leave the matrix as it is" in run("advise", "-g", "power:3000,3000,30000", "--products", "1")[1], "and it says so")
        sure = set()
        for spec in ("power:3000,3000,30000", "power:300,300,900", "uniform:300,300,3000"):
            text = run("advise", "-g", spec, "--json", out, "--force")[1]
            found = json.loads(read(out))
            advised = {o["order"]: o for o in found["orders"]}[found["advice"]]
            if found["advice"] != "regular": # an interval that holds 1 is no promise
                sure.add(advised["high"] < 1)
                ok(("perhaps order" in text) == (advised["high"] >= 1), f"advice for {spec} is sure, or perhaps", text, advised)
        ok(sure == {True, False}, "advice of both kinds", sure)
    code, text, err = run("advise", "--measure", "-t", "f64", "-g", "band:2000,7", "--json", "-")
    found = json.loads(text)
    ok(code == 0 and not err and all(o["measured"]["ratio"] > 0 and o["measured"]["product_ms"] > 0 for o in found["orders"]) and
       found["orders"][0]["measured"]["ratio"] == 1 and found["measured_best"] in ORDERS and ("right" in found) != bare,
       "--measure runs every order", text, err)
    code, text, err = run("advise", "--measure", "-t", "f64", "-g", "uniform:0,7,0")
    ok(code == 0 and not err and "measured: " in text and "nan" not in text and
       len(re.findall(r" 1\.00 +- +never$", text, re.M)) == len(ORDERS) - 1, "--measure without rows, as text", text, err)
    for name, kind, lines, _ in SPECIAL:
        if kind == "real":
            path = write(os.path.join(folder, name + ".mtx"), special(kind, lines))
            code, text, err = run("advise", "--measure", "-t", "f64" if name == "large" else "f32", path)
            ok(code == 0 and not err and "measured: " in text, f"--measure with values that are {name}", code, text, err)
    for spec in ["uniform:0,0,0", "uniform:5,0,0", "uniform:1,1,1"] if not bare else []:
        code, text, err = run("advise", "-g", spec)
        ok(code == 0 and not err, "advise of " + spec, text, err)
    exits(2, run("advise", "-t", "i32", "-g", "band:9,3"), "no advice for integers", "f32")
    exits(2, run("advise", "-d", "99", "-g", "band:9,3"), "advise for a device that is not there", "99")


def test_pictures(folder):
    small = write(os.path.join(folder, "p.mtx"), SMALL.format(*PATTERN))
    png, svg = os.path.join(folder, "p.png"), os.path.join(folder, "p.svg")
    if not PICTURES:
        for command in ("spy", "entropy"):
            exits(2, run(command, small, "-o", png), command + " in a build without cairo", "cairo")
        ok(not os.path.exists(png), "and there is no file")
        return
    want = {(0, 0), (0, 2), (2, 0), (2, 1), (2, 2), (3, 1)}
    exits(0, run("spy", small, "-o", png), "spy")
    ok(max(size(png)) == 1200, "the longer side has 1200 pixels", size(png))
    exits(2, run("spy", small, "-o", png), "spy refuses a file that exists", "--force")
    exits(0, run("spy", small, "-o", png, "--force", "--size", "400"), "spy of another size")
    ok(max(size(png)) == 400 and cells(png, 4, 3) == want, "spy shows the entries where they are", cells(png, 4, 3))
    odd = os.path.join(os.fsencode(folder), b"p\xff\x1b.mtx")
    os.symlink(os.fsencode(small), odd)
    for command in ("spy", "entropy"):
        exits(0, run(command, odd, "-o", svg, "--force"), command + " of a file whose name is no text")
    os.remove(svg)
    exits(0, run("spy", small, "-o", png, "--force", "--size", "500", "--order", "degree"), "spy of an order")
    ok(cells(png, 4, 3) == {(0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (2, 1)}, "shows the permuted matrix", cells(png, 4, 3))
    exits(0, run("spy", "-g", "dense:3000,3000", "-o", png, "--force", "--size", "400"), "more rows than pixels")
    ok(len(cells(png, 20, 20)) == 400, "a full matrix fills the frame")
    exits(0, run("spy", "-g", "uniform:70,70,0", "-o", png, "--force", "--size", "400"), "an empty matrix")
    ok(not cells(png, 70, 70), "leaves the frame empty")
    exits(0, run("spy", small, "-o", svg), "spy as SVG")
    root = xml.etree.ElementTree.parse(svg).getroot()
    ok(root.tag.endswith("svg") and any(node.tag.endswith("image") for node in root.iter()), "is SVG with the map in it")
    exits(0, run("entropy", small, "-o", png, "--force"), "entropy draws")
    ok(size(png) == (1200, 900), "1200 x 900 pixels", size(png))
    exits(0, run("entropy", small, "-o", png, "--force", "--size", "600"), "entropy of another size")
    ok(cells(png, 4, 3) == want, "the map of entropy", cells(png, 4, 3))
    for spec in ["uniform:0,0,0", "dense:1,5000", "uniform:0,7,0", "uniform:1,1,1", "dense:5000,1"][:2 if SAMPLE else 5]:
        for command in ("spy", "entropy"):
            exits(0, run(command, "-g", spec, "-o", png, "--force"), f"{command} of {spec}")
    for command in ("spy", "entropy"):
        exits(2, run(command, small, "-o", os.path.join(folder, "p.gif")), command + " of another format", ".png")
        exits(2, run(command, small, "-o", "/nonexistent/p.png"), command + " into no folder", "/nonexistent/p.png")
        fresh = os.path.join(folder, "fresh.png")
        exits(2, run(command, small, "-o", fresh, limit=1000), command + " with a full disk", "fresh.png")
        ok(not [f for f in os.listdir(folder) if f.startswith("fresh")], "nothing is left of it", os.listdir(folder))


def test_progress(folder):
    """A long step shows itself on a terminal; that it does not in a pipe, every other test sees."""
    try:
        main, side = pty.openpty()
    except OSError as why:  # a chroot without /dev/pts
        skip(f"no terminal here: {why}")
        return
    pipe = os.path.join(folder, 20 * "\u00e9" + ".mtx")
    columns = len(f"reading {folder}/") + 1 + len(": 2 s") + 1  # ends within the first letter of the name
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def feed():
        with open(pipe, "w", encoding="ascii") as file:
            file.write(SMALL.format(*REAL)[:60])
            file.flush()
            time.sleep(2.4)
            file.write(SMALL.format(*REAL)[60:])
    os.mkfifo(pipe)
    feeder = threading.Thread(target=feed)
    feeder.start()
    with subprocess.Popen([WEFT, "entropy", pipe], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=side) as process:
        code = process.wait(timeout=60)
    feeder.join()
    os.close(side)
    seen = b""
    try:
        while piece := os.read(main, 4096):
            seen += piece
    except OSError:  # the other end is closed
        pass
    os.close(main)
    ok(code == 0 and b"reading" in seen and seen.endswith(b"\r\x1b[K"), "progress on a terminal, wiped at the end", code, seen)
    ok(f"\r\x1b[Kreading {folder}/: 2 s".encode() in seen and all(len(line) < columns for line in seen.split(b"\r\x1b[K")),
       "and not wider than it", seen)


def test_selftest(folder):
    exits(2, run("selftest", "extra"), "selftest takes no words", "usage: weft selftest")
    exits(2, run("selftest", "--json", os.path.join(folder, "none", "x")), "selftest: JSON in no folder", "none")
    if hidden():
        exits(3, run("selftest", **NOWHERE), "selftest without a device", "no OpenCL platform")
    if os.environ.get("WEFT_SAMPLE") == "1":
        return skip("selftest on the device: a sample; test `selftest` does the same")
    code, out, err = run("selftest", "--json", "-")
    said = json.loads(out) if code == 0 else {}
    ok(code == 0 and said["wrong"] == said["failed"] == 0 and said["right"] == len(said["results"]) > 100 and
       all(r["result"] == "right" and r["kernels"] for r in said["results"]) and said["driver"],
       f"selftest: {said.get('right')} problems are right on {said.get('device')}", err)
    return None


def main():
    os.environ.pop("WEFT_DEVICE", None)
    with tempfile.TemporaryDirectory() as folder:
        test_usage(folder)
        test_help()
        test_litmus()
        test_info(folder)
        test_matrices(folder)
        test_json(folder)
        test_convert(folder)
        test_entropy()
        test_pictures(folder)
        test_progress(folder)
        test_longest(folder)
        test_advise(folder)
        test_selftest(folder)
    return done()


sys.exit(main())
