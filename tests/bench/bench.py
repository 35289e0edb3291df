#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench.py WEFT_BENCH WEFT_BENCH_BAD BROKEN_DRIVER: what runs, its exit statuses and its outputs (usage.py: the command line).

WEFT_BENCH_BAD is the same program with the backends of backends.c; BROKEN_DRIVER is the shared library made of
broken_driver.c. Output is TAP.
"""
import csv
import glob
import io
import json
import os
import pty
import re
import stat
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok, skip  # noqa: E402

BENCH, BAD, DRIVER = (os.path.abspath(path) for path in sys.argv[1:4])
FAST = ["--reps", "2", "--no-roof", "--no-compile"]
SMALL = ["300", "200", "4000"]
ALWAYS = {"op", "backend", "algo", "device", "version", "verified", "date", "command"}
OF_MATRIX = {"matrix", "m", "n", "nnz", "type", "index"}
MEASURED = {"samples", "median_ms", "min_ms", "max_ms", "noise", "end_to_end_ms", "bytes_min", "gbps"}
OF_DEVICE = {"device_index", "driver", "platform"}
KNOWN = ALWAYS | OF_MATRIX | MEASURED | OF_DEVICE | {
    "chosen", "tune", "seed", "error", "skipped", "stop", "fault", "clock", "first_ms", "run_ms", "b2b_ms", "b2b_low_ms", "b2b_high_ms",
    "write_ms", "read_ms", "convert_ms", "analyse_ms", "tune_ms",
    "compile_cold_ms", "compile_cached_ms", "gflops", "copy_gbps", "roof", "speedup_ref", "speedup_best_vendor", "regret",
    "workspace_bytes", "format_bytes", "peak_bytes", "products", "products_ms", "hash", "calls"}
def run(program, *args, **env):
    done = subprocess.run([program, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env={**os.environ, **env}, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


def one_line(text):
    return text.startswith("weft-bench: ") and text.count("\n") == 1 and text.endswith("\n")


def exits(status, out, name, want=None):
    """Exit status, and for a failure one line that holds `want`."""
    code, _, err = out
    good = code == status and (not err if want is None else one_line(err) and want in err)
    return ok(good, name, f"status {code}, expected {status}; stderr:", err, f"expected in it: {want}")


def records(text):
    return [json.loads(line) for line in text.splitlines()]


def check_record(record):
    """What is wrong with a verified record, or ''."""
    need = ALWAYS | MEASURED | (OF_MATRIX if record["op"] != "copy" else set())
    if "device_index" in record:
        need |= OF_DEVICE
    if need - record.keys():
        return "lacks " + " ".join(sorted(need - record.keys()))
    if record.keys() - KNOWN:
        return "unknown key " + " ".join(sorted(record.keys() - KNOWN))
    if record["verified"] is not True:
        return "is not verified"
    for key, value in record.items():
        if key in ("convert_ms", "analyse_ms", "tune_ms", "compile_cold_ms", "compile_cached_ms",
                                           "speedup_best_vendor", "gflops", "copy_gbps") and not value > 0:
            return f"{key} is {value}: a key that does not apply is absent"
    if not 0 < record["min_ms"] <= record["median_ms"] <= record["max_ms"]:
        return "times are out of order"
    if record["clock"] != ("events" if "device_index" in record else "host"):
        return "whose clock the times are of is not told"
    if "b2b_ms" in record and not 0 < record["b2b_low_ms"] <= record["b2b_ms"] <= record["b2b_high_ms"]:
        return "back to back is not between its quartiles"
    if abs(record["gbps"] * record["median_ms"] * 1e6 / record["bytes_min"] - 1) > 1e-3:
        return "gbps is not bytes_min/median"
    if "roof" in record and abs(record["roof"] * record["copy_gbps"] / record["gbps"] - 1) > 1e-3:
        return "roof is not gbps/copy_gbps"
    return ""


def all_good(text):
    bad = [f"{why}: {r}" for r in records(text) for why in [check_record(r)] if why]
    return bad


def test_input(folder):
    exits(2, run(BENCH, "-b", "ref", *FAST, "/nonexistent.mtx"), "no such file", "/nonexistent.mtx")
    broken = os.path.join(folder, "broken.mtx")
    with open(broken, "w", encoding="ascii") as file:
        file.write("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1.0\n")
    exits(2, run(BENCH, "-b", "ref", *FAST, broken), "a file with an index out of range", "broken.mtx:3")
    for spec in ["nosuch:3", "uniform:3,4", "stencil5:x", "band:10,4", "uniform:-1,2,3", "dense:99999999999,2"]:
        exits(2, run(BENCH, "-b", "ref", *FAST, "-g", spec), "specification " + spec, spec)
    good, unreal = os.path.join(folder, "good.mtx"), os.path.join(folder, "unreal.mtx")
    with open(good, "w", encoding="ascii") as file:
        file.write("%%MatrixMarket matrix coordinate real general\n2 3 2\n1 3 1.5\n2 1 -2\n")
    with open(unreal, "w", encoding="ascii") as file:
        file.write("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1.0 2.0\n")
    code, out, err = run(BENCH, "-b", "ref", *FAST, "--json", "-", unreal, good)
    lines = records(out)
    ok(code == 2 and one_line(err) and "complex" in err, "a complex matrix is refused in one line", err)
    code, out, err = run(BENCH, "-b", "ref", *FAST, "--json", "-", "--complex", "imag", unreal)
    ok(code == 0 and not err and records(out)[0]["nnz"] == 1, "--complex takes a part", out, err)
    ok([r["matrix"] for r in lines] == ["good"] and lines[0]["verified"], "and the file after it still runs", out)
    ok(lines[0]["m"] == 2 and lines[0]["n"] == 3 and lines[0]["nnz"] == 2 and "seed" not in lines[0],
       "a file has its shape and no seed", lines)
    code, out, _ = run(BENCH, "-b", "ref", *FAST, "--json", "-", "-g", "stencil5:9", "-g", "band:50,3", good)
    ok(code == 0 and [r["matrix"] for r in records(out)] == ["stencil5:9", "band:50,3", "good"],
       "several specifications and files", out)
    odd = os.path.join(os.fsencode(folder), b"\xc3\xa9\xff\n" + 70 * b"\xe2\x82\xac" + b"\xe2\x82.mtx")
    table = os.path.join(folder, "odd.json")
    os.symlink(os.fsencode(good), odd)
    code, _, err = run(BENCH, "-b", "ref", *FAST, "--json", table, odd)
    with open(table, encoding="utf-8") as file:
        r = json.load(file)
    ok(code == 0 and not err and r["matrix"] == "\xe9?\n" + 70 * "\u20ac" + "??" and "\xe9?\n" in r["command"],
       "a name that is no text", r)
    for spec in ["uniform:0,0,0", "uniform:5,0,0", "uniform:0,7,0", "uniform:1,1,1"]:
        code, out, err = run(BAD, "-b", "ref,vendor", "-o", "transpose,spmv", *FAST, "--json", "-", "-g", spec)
        ok(code == 0 and not err and records(out) and all(r["verified"] for r in records(out)), "runs on " + spec, out, err)


def test_records(folder):
    path, table = os.path.join(folder, "out.json"), os.path.join(folder, "out.csv")
    with open(path, "w", encoding="ascii") as file:
        file.write("old contents\n")
    code, out, err = run(BENCH, "--reps", "3", "-o", "all", "-t", "f32,f64,i32,pattern", "--json", path, "--csv", table,
                         "--no-compile", "--seed", "7", "--hash", *SMALL)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    lines = records(text)
    ok(code == 0 and not err, "every operation and type", err, out)
    everything = lines # one operation of weft lacks one type, vendors' libraries lack more, and they say so
    absent = [r for r in everything if "skipped" in r]
    lines = [r for r in everything if "skipped" not in r]
    own = [r for r in absent if r["backend"] in ("ref", "omp", "opencl")]
    ok({r["backend"] for r in own} == {r["backend"] for r in lines if r["op"] == "scan"} and
       all((r["op"], r["type"], r["skipped"]) in (("scan", "f64", "there is no scan of f64"),
                                                  ("refill", "pattern", "a pattern has no values")) for r in own) and
       all(r["verified"] is False and not MEASURED & r.keys() and not (ALWAYS | OF_MATRIX) - r.keys() and
           not r.keys() - KNOWN for r in absent),
       "a type that an operation lacks is skipped, without numbers", *absent)
    status, said, why = run(BENCH, "-b", "opencl", "-o", "spmv", "-a", "ell,sell,sell16,sdia", *FAST, "--json", "-",
                            "-g", "heavy:400,4000,4500,3900")
    padded = records(said)
    ok(status == 0 and len(padded) % 4 == 0 and padded and all("would hold" in r.get("skipped", "") for r in padded),
       "a format that would be mostly padding is skipped", status, said, why)
    status, said, why = run(BENCH, "--regret", "-o", "spmv,transpose", "--products", "1000", *FAST, "--json", "-",
                            "-g", "web:400,3000")
    chosen = records(said)
    ok(status == 0 and not why and chosen and {r["backend"] for r in chosen} == {"opencl"} and
       all(("regret" in r) == (r["algo"] == "auto" and r["verified"]) for r in chosen), "regret stands on the lines of auto",
       status, said, why)
    def once(r):
        return sum(r.get(key, 0) for key in ("analyse_ms", "tune_ms", "convert_ms"))
    products = [r for r in chosen if r["op"] == "spmv" and r["verified"]]
    ok(any(map(once, products)) and all(abs(r["products_ms"] / (once(r) + 1000 * r["median_ms"]) - 1) < 1e-4 for r in products),
       "what is paid once counts with the products", *products[:2])
    status, said, why = run(BENCH, "-o", "spmv", "-b", "opencl", "-d", "0", "-a", "tuned", "--products", "10", *FAST, "--json", "-",
                            "-g", "web:400,3000")
    r = records(said)[0]
    ok(status == 0 and r["tune_ms"] > 0 and abs(r["products_ms"] / (once(r) + 10 * r["median_ms"]) - 1) < 1e-4, "so does measuring", r, why)
    for op in ("spmv", "transpose"):
        ours = [r for r in chosen if r["op"] == op and r["verified"]]
        ok(ours and ours[-1]["algo"] == "auto" and len(ours) > 1 and
           abs(ours[-1]["regret"] * min(r["median_ms"] for r in ours) / ours[-1]["median_ms"] - 1) < 1e-3,
           f"{op}: auto comes last, and its regret is its time over the least", *ours)
    ok(run(BENCH, "--regret", "--sweep")[0] == 2, "--regret and --sweep exclude each other")
    bad = [f"{why}: {r}" for r in lines for why in [check_record(r)] if why]
    ok(lines and not bad, "every record is whole, and the file was truncated first", *bad)
    ok({r["op"] for r in lines} == {"transpose", "refill", "spmv", "scan", "segsort", "merge", "histogram", "expand", "copy"} and
       {r["type"] for r in lines if "type" in r} == {"f32", "f64", "i32", "pattern"}, "operations and types are there")
    for op, cases in [("segsort", ["blocks", "rows", "mixed", "whole"]), ("merge", ["small", "large", "two"])]:
        found = {(r["type"], r["backend"], r["algo"]): r for r in lines if r["op"] == op}
        backends = {r["backend"] for r in lines if r["op"] == "scan"}
        ok(found.keys() == {(t, b, c) for t in ("f32", "f64", "i32", "pattern") for b in backends for c in cases} and
           all(r["verified"] for r in found.values()), f"every case of {op} is verified for every type", *found)
        ok(all(abs(r["speedup_ref"] * r["median_ms"] / found[t, "ref", c]["median_ms"] - 1) < 1e-4
               for (t, _, c), r in found.items()), f"each case of {op} is compared with its own reference")
        key = {"f32": 8, "f64": 16, "i32": 8, "pattern": 4}
        ofs = {"rows": 301 * 4, "whole": 2 * 4}
        ok(all(r["bytes_min"] == 2 * 4000 * key[t] + ofs.get(c, 0) for (t, _, c), r in found.items() if c != "mixed"),
           f"bytes_min of {op}")
    ok(all(("run_ms" in r) == (r["op"] in ("transpose", "spmv") and r["backend"] in ("opencl", "cusparse")) and
           r.get("run_ms", 1) > 0 for r in lines), "run_ms is there where one run was timed by the host's clock alone")
    ok(all(r["bytes_min"] == 4000 * (20 if r["type"] == "f64" else 12) for r in lines if r["op"] == "refill"),
       "bytes_min of a refill: a position of 4 bytes, a value read, a value written")
    ok(all(r["seed"] == 7 for r in lines if r["op"] == "transpose"), "the seed is in the record")
    ok(all("matrix" not in r and "m" not in r and "type" not in r for r in lines if r["op"] == "copy"),
       "copy has no matrix")
    ok(all(r["samples"] == 3 and r["stop"] == "reps" for r in lines), "--reps is the number of samples")
    ok(all(len({r["hash"] for r in lines if r["op"] == "transpose" and r["type"] == t}) == 1
           for t in ("f32", "f64", "i32", "pattern")), "one hash for a type, whoever transposes")
    ok(all("hash" in r for r in lines if r["op"] == "spmv") and
       len({r["hash"] for r in lines if r["op"] == "spmv" and r["type"] == "i32"}) == 1,
       "products have a hash, of integers the same whoever multiplies")
    ok(all(r.get("speedup_ref") == 1 for r in lines if r["backend"] == "ref") and
       all("speedup_ref" in r for r in lines if r["op"] == "transpose"), "speedups against ref")
    with open(table, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    ok(len(rows) == len(everything) and all(
        row[key] == ("" if key not in r else "true" if r[key] is True else row[key]) and
        (key not in r or isinstance(r[key], bool) or str(r[key]) == row[key] or float(row[key]) == r[key])
        for r, row in zip(everything, rows) for key in row), "the CSV file says the same")
    blocks = out.count("transpose of uniform:300,200,4000")
    ok(blocks == 4 and all(len(line) <= 100 for line in out.splitlines()) and out.isascii(),
       "a table for each type, at most 100 columns of ASCII", out)
    code, out, err = run(BENCH, "-b", "ref", "--index", "64", "-t", "f64", "--json", "-", *FAST, *SMALL)
    wide = records(out)[0]
    ok(code == 0 and wide["index"] == 64 and wide["bytes_min"] == 4000 * 2 * (4 + 8) + (301 + 201) * 8,
       "--index 64 and bytes_min by the contract", out)
    narrow = [r for r in lines if r["op"] == "transpose" and r["type"] == "pattern"][0]
    ok(narrow["bytes_min"] == 4000 * 2 * 4 + (301 + 201) * 4, "bytes_min of a pattern", narrow)
    code, out, err = run(BENCH, "-b", "ref", "--quiet", *FAST, *SMALL)
    ok(code == 0 and not out and not err, "--quiet prints nothing", out, err)
    code, out, err = run(BENCH, "-b", "ref", "--min-time", "0.05", "--no-roof", "--json", "-", *SMALL)
    r = records(out)[0]
    ok(r["stop"] == "min-time" and r["samples"] >= 10 and "roof" not in r and "copy_gbps" not in r,
       "--min-time and --no-roof", out)
    code, out, err = run(BENCH, "-b", "ref", "--csv", "-", *FAST, *SMALL)
    ok(code == 0 and len(list(csv.DictReader(io.StringIO(out)))) == 1, "--csv - is the only thing on stdout", out)
    if os.path.exists("/dev/full"):
        code, _, err = run(BENCH, "-b", "ref", "--quiet", "--json", "/dev/full", *FAST, *SMALL)
        ok(code == 2 and "/dev/full" in err, "a full disk is reported", err)
        for args in (["-b", "ref", *FAST, *SMALL], ["--help"], ["--version"]):
            exits(2, shell(">/dev/full", *args), f"{args[0]}: a full disk behind the standard output", "standard output")


def shell(redirect, *args):
    """The same with a redirection of a shell."""
    return run("/bin/sh", "-c", f'exec "$@" {redirect}', "sh", BENCH, *args)


def test_outputs(folder):
    """No result is lost, and nothing that is read is written over."""
    plain, path = ["-b", "ref", *FAST], os.path.join(folder, "taken.mtx")
    text = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1.5\n"
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    os.symlink(path, os.path.join(folder, "link"))
    for option in ("--json", "--csv"):
        exits(2, run(BENCH, *plain, option, os.path.join(folder, "link"), path), f"{option} is the input", "link cannot be written")
    with open(path, encoding="ascii") as file:
        ok(file.read() == text, "and the input stays")
    out = os.path.join(folder, "one.json")
    exits(2, run(BENCH, *plain, "--json", out, "--csv", os.path.join(folder, ".", "one.json"), *SMALL),
          "two outputs in one file", "another output")
    exits(2, run(BENCH, "-b", "ref", "--profile", "--html", "-", "--json", "-", *SMALL), "two on the standard output", "--html")
    ok(run(BENCH, *plain, "--json", "/dev/null", "--csv", "/dev/null", *SMALL)[0] == 0, "/dev/null takes several")
    run(BENCH, *plain, "--json", out, *SMALL)
    with open(out, encoding="utf-8") as file:
        text = file.read()
    exits(2, run(BENCH, "--compare", out, out, "--json", out), "a comparison over what it compares", "one.json")
    with open(out, encoding="utf-8") as file:
        ok(records(text) and file.read() == text, "leaves it alone")
    exits(2, shell(">&-", *plain, *SMALL), "a standard output that is closed", "standard output")
    shell(">&- 2>&- <&-", *plain, "--json", out, *SMALL)
    with open(out, encoding="utf-8") as file:
        ok([r["verified"] for r in records(file.read())] == [True], "never has a file in its place")
    ok(shell(">&-", *plain, "--quiet", *SMALL)[0] == 0, "and is not missed by --quiet")


def test_progress():
    """A long step shows itself on a terminal, and only there."""
    args = [BENCH, "-b", "ref", "--no-roof", "--min-time", "2.6", "--json", "-", "500", "500", "20000"]
    _, _, err = run(*args)
    ok(not err, "no progress in a pipe", err)
    try:
        main, side = pty.openpty()
    except OSError as why: # a chroot without /dev/pts
        skip(f"no terminal here: {why}")
        return
    with subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=side, text=True) as process:
        out = process.communicate(timeout=60)[0]
    os.close(side)
    shown = b""
    try:
        while piece := os.read(main, 4096):
            shown += piece
    except OSError: # the other end is closed
        pass
    os.close(main)
    ok(b"ref ref on the host: 2 s" in shown and shown.endswith(b"\r\x1b[K") and records(out)[0]["verified"],
       "progress on a terminal, wiped at the end", shown)


def test_rest(folder):
    """Threads of a backend on the host do not wait actively while others are timed."""
    second = os.path.join(folder, "second.mtx")
    if not re.search(r"^omp .*runs$", run(BENCH, "--list", OCL_ICD_VENDORS="/nonexistent")[1], re.M):
        skip("this build has no omp")
        return
    os.mkfifo(second)
    out = os.path.join(folder, "rest.json")
    command = [BENCH, "-b", "ref,omp", *FAST, "--json", out, "-g", "uniform:20000,20000,400000", second]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "active"}) as process:
        def spent():
            with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
                return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")
        writer = os.open(second, os.O_WRONLY)  # when it is being read, all has run on the first one
        threads, begin = len(os.listdir(f"/proc/{process.pid}/task")), spent()
        time.sleep(1)
        used = spent() - begin
        os.close(writer)
        err = process.communicate(timeout=60)[1]
    with open(out, encoding="utf-8") as file:
        lines = records(file.read())
    ok([r["backend"] for r in lines] == ["ref", "omp"] and threads == 1 and used < 0.2,
       "threads of omp end with their line", f"{threads} threads, {used} s of processor time in 1 s", lines, err)


def tune_rows(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def test_tune(folder):
    """--tune writes a file in bounded time and keeps what others wrote there; a row of it is what the library takes."""
    small, path = ["-o", "scan,expand", "--quiet", "-d", "0", "-g", "uniform:3000,2000,40000"], os.path.join(folder, "a", "tune.tsv")
    begin = time.monotonic()
    exits(2, run(BENCH, "--tune", "--tune-time", "60", "--tune-file", path, *small), "a path whose folder is not there", "tune.tsv cannot be written")
    ok(time.monotonic() - begin < 20 and not os.path.exists(os.path.dirname(path)), "no time is spent, and no folder is made")
    code, _, err = run(BENCH, "--tune", "--tune-time", "0.1", *small, "-o", "expand", WEFT_TUNE="/nonexistent/t.tsv")
    ok(code == 2 and "/nonexistent/t.tsv cannot be written" in err and not os.path.exists("/nonexistent"), "nor by WEFT_TUNE", code, err)
    env = {k: v for k, v in os.environ.items() if k != "WEFT_TUNE"}
    got = subprocess.run([BENCH, "--tune", "--tune-time", "0.1", *small, "-o", "expand"], stdin=subprocess.DEVNULL, capture_output=True,
                         text=True, env={**env, "XDG_CONFIG_HOME": os.path.join(folder, "config")}, timeout=300, check=False)
    ok(got.returncode == 0 and os.path.exists(os.path.join(folder, "config", "weft", "tune.tsv")), "those of the default place are made", got)
    os.mkdir(os.path.dirname(path))
    begin = time.monotonic()
    code, out, err = run(BENCH, "--tune", "--tune-time", "2", "--tune-file", path, "--json", "-", *small)
    took, lines = time.monotonic() - begin, records(out)
    ok(code == 0 and not err and took < 30 and os.listdir(os.path.dirname(path)) == ["tune.tsv"], "--tune ends and writes a file",
       took, out, err)
    ok({r["op"] for r in lines} <= {"scan", "expand"} and lines and all(r["verified"] for r in lines) and
       (took > 4 or {r.get("tune") for r in lines} != {None}), "every point is verified", out)
    form = re.compile(r"[^\t]+\t[^\t]+\t(cpu|gpu)\t(scan|expand)\t4\t\w+=\d+( \w+=\d+)*\t[\d.]+\t[\d.]+\t\d{4}-\d\d-\d\d")
    rows = tune_rows(path)
    ok(rows[0] == "# weft tune 1" and all(line.startswith("#") or form.fullmatch(line) for line in rows), "its rows are whole", *rows)
    cpu = " CPU " in run(BENCH, "--list")[1].splitlines()[0]
    here = [lines[0]["device"], lines[0]["driver"], "cpu" if cpu else "gpu"]
    others = ["# a comment", "\t".join(["GPU 9", *here[1:], "scan", "4", "wg=64"]), "\t".join([*here, "segsort", "8", "wg=1"])]
    stale = "\t".join([*here, "expand", "4", "wg=7777777"])
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*others, "\0", stale]))
    link = os.path.join(folder, "link.tsv")
    os.symlink(path, link)
    code, _, err = run(BENCH, "--tune", "--tune-time", "0.1", "--tune-file", link, *small, "-o", "expand")
    rows = tune_rows(path)
    ok(code == 0 and not err and rows[0] == "# weft tune 1" and [r for r in rows if r in others] == others and stale not in rows,
       "rows of others stay, its own are replaced", *rows, err)
    ok(os.path.islink(link), "and a link stays one")
    os.mkfifo(os.path.join(folder, "pipe"))
    exits(2, run(BENCH, "--tune", "--tune-file", os.path.join(folder, "pipe"), *small), "a pipe is not replaced", "no regular file")
    ok(stat.S_ISFIFO(os.stat(os.path.join(folder, "pipe")).st_mode), "it is there")
    exits(2, run(BENCH, "--tune", "--tune-time", "0.1", "--tune-file", "/proc/none/tune", *small), "a file that cannot be written",
          "/proc/none/tune")
    tune = ["--tune", "--tune-time", "0.1", "--tune-file", path, "--quiet", "-d", "0", "-g", "uniform:300,200,4000"]
    for op in ["refill", "copy", *(["spmv"] if cpu else [])]:
        exits(2, run(BENCH, *tune, "-o", op), f"--tune -o {op} says what can be tuned", "scan, segsort")
    code, _, err = run(BENCH, *tune, "-o", "expand,copy")
    ok(code == 0 and one_line(err) and "copy has nothing" in err, "and goes on with the others", code, err)
    exits(2, run(BENCH, "--sweep", "-o", "refill", "-b", "opencl", "-d", "0", *FAST, *SMALL), "--sweep without axes", "tuning axes")
    code, out, _ = run(BENCH, "--sweep", "-o", "refill", "-b", "opencl", "-d", "0", *FAST, *SMALL)
    ok("has no tuning axes here" in out, "and the table names each", out)
    code, _, err = run(BENCH, "--tune", *small, WEFT_TUNE="", HOME="", XDG_CONFIG_HOME="")
    ok(code == 2 and one_line(err) and "--tune-file" in err, "no place for a file", err)
    values, shown = ("wg=1 ipt=2048", "wg 1, ipt 2048") if cpu else ("wg=64 ipt=4", "wg 64, ipt 4")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\t".join([*here, "scan", "4", values]) + "\n")
    plain = ["-o", "scan", "-b", "opencl", "-d", "0", *FAST, "--json", "-", *SMALL]
    chosen = [records(run(BENCH, *args, *plain, **env)[1])[0] for args, env in [
        ([], {"WEFT_TUNE": ""}), ([], {"WEFT_TUNE": path}), (["--tune-file", path], {"WEFT_TUNE": ""})]]
    ok(all(r["verified"] for r in chosen) and [shown in r["chosen"] for r in chosen] == [False, True, True],
       "the library takes a row of the file", *chosen)


def test_bad_backends():
    code, out, err = run(BAD, *FAST, "-b", "ref,vendor,bad", "-a", "all", "--json", "-", *SMALL)
    lines = {r["algo"]: r for r in records(out)}
    ok(code == 1, "a wrong result: exit status 1", f"status {code}", err)
    for algo, want in [("wrong_ptr", "col_ptr[100]"), ("wrong_row", "row_idx[3999]"), ("wrong_val", "val[2000]"),
                       ("wrong_shape", "shape"), ("idle", "row_idx[0]")]:
        r = lines[algo]
        ok(r["verified"] is False and want in r["error"] and r["fault"] == "wrong" and not MEASURED & r.keys() and
           "speedup_ref" not in r, algo + " is seen, and no number of it is printed", r)
    ok(lines["refusing"]["error"] == "the device" and "launch" in lines["failing"]["error"] and
       lines["refusing"]["fault"] == lines["failing"]["fault"] == "failed" and
       not MEASURED & (lines["refusing"].keys() | lines["failing"].keys()), "failures are records with a reason", lines)
    ok("f32" in lines["unable"]["skipped"] and "error" not in lines["unable"], "what cannot be done is skipped", lines)
    ok(lines["alg1"]["verified"] and lines["alg1"]["version"] == "12.5" and lines["alg1"]["chosen"] == "simple",
       "others still run, with their version", lines["alg1"])
    e2e = lines["alg1"]["end_to_end_ms"]
    ok(lines["alg1"]["write_ms"] == 0.25 and lines["alg1"]["read_ms"] == 0.125 and 0.375 <= e2e < 0.5 and
       "convert_ms" not in lines["alg1"], "end to end is write + run + read by the host's clock", lines["alg1"])
    code, out, err = run(BAD, *FAST, "-b", "ref,vendor", "-a", "all", "--calls", "2", "--json", "-", *SMALL)
    lines = {r["algo"]: r for r in records(out)}
    ok(code == 1 and lines["alg1"]["calls"] == 2 and lines["alg1"]["end_to_end_ms"] > 0 and "calls" not in lines["ref"] and
       "one call: " in lines["alg2"]["error"] and not MEASURED & lines["alg2"].keys(),
       "whole calls are timed where there are any, and a wrong one is seen", out, err)
    code, out, err = run(BAD, *FAST, "-b", "ref,bad", "-a", "all", *SMALL)
    ok(code == 1 and out.count("WRONG") == 5 and out.count("failed:") == 2 and out.count("skipped:") == 1,
       "the table says so", out)
    code, out, _ = run(BAD, *FAST, "-b", "bad", "-a", "failing", "--json", "-", *SMALL)
    ok(code == 3, "only a failure: exit status 3", code, out)
    code, out, _ = run(BAD, *FAST, "-b", "bad", "-a", "unable", "--json", "-", *SMALL)
    ok(code == 0, "only something skipped: exit status 0", code, out)
    code, out, _ = run(BAD, *FAST, "-o", "spmv", "-b", "ref,vendor,bad", "-a", "all", "--json", "-", *SMALL)
    lines = {r["algo"]: r for r in records(out)}
    ok(code == 1 and "row 0" in lines["far"]["error"], "a product beyond its bound is wrong", out)
    ok("row 0" in lines["idle"]["error"], "so is one that was not computed again", out)
    ok("small integers" in lines["near"]["error"], "a product within it, but not exact on integers, is wrong", out)
    bad = all_good(json.dumps(lines["csr"]))
    ok(not bad and lines["csr"]["gflops"] == 2 * 4000 / 0.5e6 and
       lines["csr"]["bytes_min"] == 4000 * 8 + 301 * 4 + 500 * 4, "a right one is whole", *bad)
    # cJSON writes 15 digits where these are within one unit of the last bit.
    code, out, _ = run(BAD, *FAST, "-o", "spmv", "-b", "ref", "--products", "100", "--json", "-", *SMALL)
    r = records(out)[0]
    ok(code == 0 and r["products"] == 100 and abs(r["products_ms"] / r["median_ms"] - 100) < 1e-12 * 100 and
       r["format_bytes"] == 4000 * 8 + 301 * 4, "--products adds up the time of many", r)
    exits(2, run(BAD, *FAST, "-b", "absent", *SMALL), "a backend asked for that this build lacks", "not compiled in")


def test_devices(folder):
    code, out, err = run(BENCH, "--list", OCL_ICD_VENDORS="/nonexistent")
    ok(code == 3 and one_line(err) and "install" in err and re.search(r"^ref +runs$", out, re.M),
       "--list without a device: status 3, what to install, backends still listed", out, err)
    listed = dict(line.split(None, 1) for line in out.split("backends\n")[1].splitlines())
    for name, option in [("cusparse", "cusparse"), ("rocsparse", "rocsparse"), ("viennacl", "viennacl"),
                         ("graphblas", "peers"), ("rsb", "peers"), ("rocalution", "rocalution"),
                         ("petsc", "petsc_peer")]:
        # "this build has no cuSPARSE (-Dcusparse=enabled)", "cuSPARSE 12.6.3: no OpenCL device", "librsb 1.3.0: runs",
        # "rocSPARSE 2.3.3 (headers): no HIP device"
        why = listed.get(name, "")
        absent = why.startswith("this build has no ")
        ok(f"(-D{option}=enabled)" in why if absent else re.match(r"\w\S+ \d+\.\d+\S*( \(headers\))?: \S", why),
           f"--list says of {name} what is there", out)
        if not why.endswith(": runs"):
            exits(2 if absent else 3, run(BENCH, "-b", name, *FAST, *SMALL, OCL_ICD_VENDORS="/nonexistent"),
                  f"-b {name} where it cannot run", "this build has no" if absent else "install")
    exits(3, run(BENCH, "-d", "0", *SMALL, OCL_ICD_VENDORS="/nonexistent"), "no device, and one asked for", "install")
    exits(3, run(BENCH, "-b", "opencl", *SMALL, OCL_ICD_VENDORS="/nonexistent"), "no device for opencl", "install")
    code, out, err = run(BENCH, *FAST, *SMALL, "--json", "-", OCL_ICD_VENDORS="/nonexistent")
    ok(code == 0 and "ref" in {r["backend"] for r in records(out)} and err.count("\n") == 1 and
       "only backends of the host run" in err, "no device: what runs on the host runs, and a line says so", code, out, err)
    code, out, err = run(BENCH, "-b", "ref", *FAST, *SMALL, OCL_ICD_VENDORS="/nonexistent")
    ok(code == 0 and not err, "host backends need no device", err)
    code, out, err = run(BENCH, "--list")
    devices = [line for line in out.split("\nbackends\n")[0].splitlines() if line]
    if code == 3:
        skip("no device: nothing more to list")
        return
    ok(code == 0 and [int(line.split()[0]) for line in devices] == list(range(len(devices))),
       "--list numbers the devices from 0", out, err)
    chosen = [i for i, line in enumerate(devices) if line.endswith("  default")]
    ok(len(chosen) == 1, "--list marks one device", out)
    ok(all("  GPU  " not in line for line in devices) or "  GPU  " in devices[chosen[0]], "a GPU where there is one", out)
    both = {"POCL_DEVICES": "pthread pthread", "WEFT_DEVICE": ""}  # PoCL's device twice
    pair = [line for line in run(BENCH, "--list", **both)[1].split("\nbackends\n")[0].splitlines() if line]
    marked = [i for i, line in enumerate(pair) if line.endswith("  default")]
    last = len(pair) - 1
    for given, env, want in (([], "", marked[0]), (["-d", "0"], "", 0), (["-d", "0"], "1", 0),
                             (["-d", str(last)], "", last), ([], str(last), last)):
        code, text, err = run(BENCH, *FAST, "-b", "opencl", "--json", "-", *given, *SMALL, **{**both, "WEFT_DEVICE": env})
        ok(code == 0 and {r["device_index"] for r in records(text)} == {want},
           f"device {want} of {len(pair)}: {given}, WEFT_DEVICE={env}", text, err)
    ok(run(BENCH, "-d", "list")[1] == out, "-d list is --list")
    code, text, err = run(BENCH, "--list", "--json", "-")
    listed = json.loads(text)
    ok(code == 0 and [d["index"] for d in listed["devices"]] == list(range(len(devices))) and
       [d["default"] for d in listed["devices"]].index(True) == chosen[0] and
       [b["name"] for b in listed["backends"]] == [line.split()[0] for line in out.split("backends\n")[1].splitlines()],
       "--list --json says the same", text, err)
    ok(all(run(BENCH, *bare) == (code, text, err) for bare in (["--list", "--json"], ["--json", "--list"])),
       "without FILE it goes to the standard output")
    word = listed["devices"][0]["platform"].split()[0].lower()
    for name in (listed["devices"][0]["type"].lower(), word):
        code, text, err = run(BENCH, *FAST, "-b", "opencl", "--json", "-", "-d", name, *SMALL)
        ok(code == 0 and records(text), f"-d {name}", text, err)
    exits(2, run(BENCH, "-b", "ref,omp,opencl", "-a", "scna", *SMALL), "-a scna", "did you mean scan?")
    code, text, err = run(BENCH, *FAST, "-b", "ref", "--json", "-", "0.3k", "2e2", "4k")
    ok(code == 0 and [(r["m"], r["n"], r["nnz"]) for r in records(text)] == [(300, 200, 4000)], "0.3k 2e2 4k", text, err)
    lines = dict(line.split(None, 1) for line in out.split("backends\n")[1].splitlines())
    for name in ("cusparse", "rocsparse", "viennacl"):
        why = lines[name].split(": ", 1)[-1]
        if "runs" not in why:
            exits(2 if why.startswith("this build has no") else 3, run(BENCH, "-b", name, "-d", "0", *FAST, *SMALL),
                  f"-b {name} fails with what --list says", why)
    exits(2, run(BAD, "-d", str(len(devices)), *SMALL), "an index too high", "from 0 to")
    exits(2, run(BAD, *SMALL, WEFT_DEVICE="99"), "WEFT_DEVICE too high", "no device 99")
    if any("cannot be used" in line for line in devices):
        skip("a device here is broken already")
        return
    vendors = os.path.join(folder, "vendors")
    os.mkdir(vendors)
    place = os.environ.get("OCL_ICD_VENDORS", "/etc/OpenCL/vendors")
    for icd in glob.glob(os.path.join(place, "*.icd")) if os.path.isdir(place) else [place]:
        name = os.path.join(vendors, "b_" + os.path.basename(icd))
        with open(name if name.endswith(".icd") else name + ".icd", "w", encoding="utf-8") as file:
            file.write(open(icd, encoding="utf-8").read() if icd.endswith(".icd") else icd + "\n")
    with open(os.path.join(vendors, "a_broken.icd"), "w", encoding="utf-8") as file:
        file.write(DRIVER + "\n")
    code, out, err = run(BENCH, "--list", OCL_ICD_VENDORS=vendors)
    listed = [line for line in out.split("\nbackends\n")[0].splitlines() if line]
    refuser = [line for line in listed if "Refuser" in line]
    ok(code == 0 and len(listed) == len(devices) + 2 and len(refuser) == 1 and
       "cannot be used: clCreateContext: CL_OUT_OF_RESOURCES" in refuser[0], "a broken device shows its reason", out, err)
    code, text, err = run(BENCH, "--list", "--json", "-", OCL_ICD_VENDORS=vendors)
    name = [d for d in json.loads(text)["devices"] if d["name"].startswith("Refuser")]
    ok(code == 0 and len(name) == 1 and name[0]["name"] == "Refuser? " + "n" * 118 and name[0]["platform"] == "Refusing?" and
       name[0]["vendor"] == "\xe9" * 63, "texts of a driver: the beginning, and no byte that is no UTF-8", name)
    ok(any("Mute" in line and "CL_OUT_OF_HOST_MEMORY" in line for line in listed), "so does a broken platform", out)
    ok(all(any(d.split("  ", 1)[1].strip().split("  ")[0] in line and "cannot" not in line for line in listed)
           for d in devices), "and neither hides another", out)
    code, out, err = run(BAD, *FAST, "-b", "opencl", "-d", "all", "--json", "-", *SMALL, OCL_ICD_VENDORS=vendors)
    ok(code == 0 and len(records(out)) == len(devices) and err.count("left out") == 2,
       "-d all runs the devices that work", out, err)
    code, out, err = run(BAD, *FAST, "-b", "opencl", "--json", "-", *SMALL, OCL_ICD_VENDORS=vendors, WEFT_DEVICE="all")
    ok(code == 0 and len(records(out)) == len(devices), "so does WEFT_DEVICE=all", out, err)
    index = refuser[0].split()[0] if refuser else "0"
    exits(3, run(BAD, "-b", "opencl", "-d", index, *SMALL, OCL_ICD_VENDORS=vendors), "a broken device asked for",
          "CL_OUT_OF_RESOURCES")
    code, out, err = run(BAD, *FAST, "-d", "0", "--json", "-", *SMALL, "-a", "good", "-b", "ref,vendor,opencl")
    lines = {r["backend"]: r for r in records(out)}
    ok(code == 0 and set(lines) == {"ref", "vendor", "opencl"}, "backends without the algorithm run their own", out, err)
    ok("speedup_best_vendor" in lines["opencl"] and "speedup_best_vendor" not in lines["ref"] and
       "x vendor" not in run(BENCH, "-b", "ref", *FAST, *SMALL)[1], "speedup against the vendor", out)
    code, out, err = run(BENCH, "--reps", "2", "--no-roof", "-b", "opencl", "-a", "scan", "-d", "0", "--json", "-", *SMALL,
                         *["-g", "uniform:9,9,9"])
    first, second = records(out)
    ok(code == 0 and first["compile_cold_ms"] > first["compile_cached_ms"] and second["peak_bytes"] >= 2 * 4000 * 8 and
       all(first[key] == second[key] for key in ("compile_cold_ms", "compile_cached_ms")),
       "compiling is measured once for an algorithm, and costs more when cold", out, err)
    ok({"write_ms", "read_ms", "workspace_bytes"} <= first.keys(), "transfers and memory of a device are recorded", out)
    code, out, err = run(BAD, "--no-roof", "-b", "opencl", "--reps", "1", "--sweep", *SMALL, "-d", "0")
    ok(code == 0 and "best: groups" in out and out.count("*") == 1 and re.search(r"128 +- $", out, re.M),
       "--sweep marks one best point, and a refused point is empty", out, err)
    sweep = ["-o", "merge", "-a", "small", "-b", "opencl", "--sweep", "--no-roof", "--reps", "1", "-d", "0", "-g", "uniform:50,50,1000"]
    code, out, err = run(BENCH, *sweep, "--tune", "ipt=8", "--json", "-")
    tunes = [r["tune"].split(",") for r in records(out)]
    ok(code == 0 and len(tunes) > 1 and all(t[0] == "ipt=8" and not any("ipt" in v for v in t[1:]) for t in tunes) and
       len({tuple(t) for t in tunes}) == len(tunes), "--sweep with --tune leaves that axis where it is", out, err)
    code, out, err = run(BENCH, *sweep, "--tune", "ipt=2000000000")
    ok(code == 0 and "no point could be run" in out, "and leaves out what is refused", code, out, err)
    code, out, err = run(BAD, *FAST, "-b", "opencl", "--tune", "groups=4", "--json", "-", *SMALL, "-d", "0")
    ok(code == 0 and records(out)[0]["tune"] == "groups=4", "--tune runs one point", out, err)
    exits(2, run(BAD, *FAST, "-b", "opencl", "--tune", "nosuch=4", *SMALL, "-d", "0"), "an axis that nothing has", "nosuch")
    point = ["-b", "opencl", "-d", "0", "--tune", "groups=128", "--json", "-"]
    code, out, err = run(BAD, *FAST, *point, *SMALL)
    ok(code == 2 and not err and "must be in 1..64" in records(out)[0]["error"], "a point that is refused is bad usage", code, out, err)
    code, out, err = run(BAD, *FAST[:2], "--no-roof", "--profile", *point, *SMALL)
    ok(code == 2 and "must be in 1..64" in json.loads(out)["runs"][0]["error"], "so it is of a profile", code, out, err)


def main():
    for name in ("WEFT_DEVICE",):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory() as folder:
        test_input(folder)
        test_records(folder)
        test_outputs(folder)
        test_progress()
        test_rest(folder)
        test_tune(folder)
        test_bad_backends()
        test_devices(folder)
    return done()


sys.exit(main())
