#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""table.py: bench/lab/table.py on records with known ratios. Output is TAP."""
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok, skip  # noqa: E402

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "lab", "table.py")
HOST = {"op": "transpose", "type": "f32", "index": 32, "device": "CPU", "version": "1.0", "verified": True,
        "matrix": "a", "m": 3000, "n": 40, "nnz": 7, "gbps": 1, "noise": 0.01, "date": "2026-01-02T00:00:00Z",
        "command": "weft-bench -b ref"}
GPU = {**HOST, "device": "GPU", "device_index": 0, "driver": "99", "backend": "opencl", "copy_gbps": 10,
       "command": "weft-bench -b all"}
FIRST = [{**HOST, "backend": "ref", "algo": "ref", "median_ms": 12},
         {**GPU, "algo": "merge", "median_ms": 11.9, "noise": 0.1},
         {**GPU, "algo": "scan", "verified": False, "error": "row_idx[3]"},
         {**GPU, "backend": "cusparse", "algo": "alg1", "version": "cuSPARSE 12.6", "median_ms": 24},
         {**GPU, "algo": "scan", "median_ms": 3},
         {**GPU, "algo": "scan", "median_ms": 1, "tune": "wg=64"}]
SECOND = [{**HOST, "matrix": "b", "backend": "ref", "algo": "ref", "median_ms": 4, "date": "2026-01-03T00:00:00Z"},
          {**GPU, "matrix": "b", "algo": "scan", "median_ms": 4, "verified": True},
          {**GPU, "matrix": "b", "algo": "merge", "verified": False, "error": "row_idx[3]"},
          {**GPU, "matrix": "b", "backend": "rocsparse", "algo": "csr2csc", "version": "2.3", "median_ms": 2},
          *({**GPU, "matrix": m, "backend": "hip", "algo": "any", "verified": False, "skipped": "no device"} for m in "ab")]
TABLE = """\
### transpose, f32, 32-bit offsets, GPU

- device: GPU, driver 99, copies 10 GB/s; host: CPU
- versions: weft 1.0; cuSPARSE 12.6; rocSPARSE 2.3
- date: 2026-01-02T00:00:00Z to 2026-01-03T00:00:00Z
- command: `weft-bench -b ref`
- command: `weft-bench -b all`

Median times in ms:

| matrix |     m |  n | entries | serial (ref) |  merge | scan | cuSPARSE | rocSPARSE |
| :----- | ----: | -: | ------: | -----------: | -----: | ---: | -------: | --------: |
| a      | 3 000 | 40 |       7 |           12 |   11.9 |    3 |       24 |           |
| b      | 3 000 | 40 |       7 |            4 | failed |    4 |          |         2 |

- merge on b: failed: row_idx[3]
- hip on a, b: skipped: no device

Speedup against serial (ref):

| matrix         |     m |  n | entries | merge |  scan | cuSPARSE | rocSPARSE |
| :------------- | ----: | -: | ------: | ----: | ----: | -------: | --------: |
| a              | 3 000 | 40 |       7 | 1.01~ |  4.00 |     0.50 |           |
| b              | 3 000 | 40 |       7 |       | 1.00~ |          |      2.00 |
| geometric mean |       |    |         |       |  2.00 |          |           |

Speedup against the fastest of cuSPARSE, rocSPARSE:

| matrix         |     m |  n | entries | serial (ref) | merge | scan |
| :------------- | ----: | -: | ------: | -----------: | ----: | ---: |
| a              | 3 000 | 40 |       7 |         2.00 |  2.02 | 8.00 |
| b              | 3 000 | 40 |       7 |         0.50 |       | 0.50 |
| geometric mean |       |    |         |         1.00 |       | 2.00 |

"""
def run(*args, **env):
    done = subprocess.run([sys.executable, TOOL, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env={**os.environ, **env}, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


def write(path, records, end=""):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
        file.write(end)
    return path


def write_text(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def heads(out):
    return [line for line in out.splitlines() if line.startswith("| matrix")]


def refused(name, want, *args, **env):
    code, out, err = run(*args, **env)
    ok(code == 2 and want in err and err.count("\n") == 1 and not out, name, f"status {code}; stderr:", err)


def test_tables(folder):
    first, second = write(os.path.join(folder, "1.json"), FIRST), write(os.path.join(folder, "2.json"), SECOND)
    code, out, err = run(first, second)
    ok(code == 0 and out == TABLE and not err, "two runs make one table: times, speedups, what is unclear or failed", out, err)
    path = os.path.join(folder, "out.md")
    code, out, err = run("-o", path, first, second)
    with open(path, encoding="utf-8") as file:
        ok(code == 0 and file.read() == TABLE and not out and not err, "-o writes the same to a file", out, err)
    code, out, err = run("--against", "cusparse", first)
    ok(code == 0 and "| a      | 3 000 | 40 |       7 |         2.00 |  2.02 | 8.00 |" in out and len(heads(out)) == 2,
       "--against a column", out, err)
    host = write(os.path.join(folder, "host.json"), [*FIRST[:1], {**FIRST[3], "b2b_ms": 6}, {**FIRST[4], "b2b_ms": 2, "noise": 0.9}])
    code, out, err = run("--clock", "host", "--against", "cusparse", host)
    out = re.sub(" +", " ", out)
    ok(code == 0 and "| a | 3 000 | 40 | 7 | 12 | 2 | 6 |" in out and "| a | 3 000 | 40 | 7 | 0.50 | 3.00 |" in out and
       "in ms, by the host's clock" in out, "--clock host: runs back to back, where they were timed", out, err)
    ok("*" not in out and "~" not in out, "and nothing to say where they all were", out)
    mixed = write(os.path.join(folder, "mixed.json"), [*FIRST[:1], {**FIRST[3], "b2b_ms": 6, "b2b_low_ms": 5.9, "b2b_high_ms": 6.1},
                                                       FIRST[4], {**FIRST[1], "clock": "host"},
                                                       {**FIRST[1], "algo": "auto", "b2b_ms": 6.05, "b2b_low_ms": 6, "b2b_high_ms": 6.1}])
    code, out, err = run("--clock", "host", "--against", "cusparse", mixed)
    out = re.sub(" +", " ", out)
    ok(code == 0 and "| a | 3 000 | 40 | 7 | 12 | 3* | 11.9 | 6.05 | 6 |" in out and "| 0.50 | 2.00* | 0.50 | 0.99~ |" in out and
       "* by device events" in out, "a time of device events is marked among those of the host's clock, and so is what it makes", out, err)
    code, out, err = run("--columns", "scan,rocSPARSE,ref", first, second)
    ok(code == 0 and heads(out)[0].split("|")[5:-1] == [" scan ", " rocSPARSE ", " serial (ref) "] and
       "cuSPARSE" not in out, "--columns picks and orders", out, err)
    code, out, err = run("--op", "spmv,copy", write(os.path.join(folder, "ops.json"), FIRST + [
        {**FIRST[0], "op": "spmv", "backend": "omp"}, {**FIRST[4], "op": "spmv", "algo": "csr", "type": "f64"},
        {**GPU, "op": "copy", "algo": "copy", "median_ms": 1}]))
    blocks = [line for line in out.splitlines() if line.startswith("###")]
    ok(code == 0 and blocks == ["### spmv, f32, 32-bit offsets, CPU", "### spmv, f64, 32-bit offsets, GPU",
                                "### copy, f32, 32-bit offsets, GPU"],
       "--op picks, each operation, type and device by itself", out, err)
    code, out, err = run(write(os.path.join(folder, "cases.json"), [
        {**r, "op": "merge", "algo": case, "median_ms": ms} for case, ms in (("small", 6), ("two", 8))
        for r, ms in ((FIRST[0], ms), (FIRST[4], 2))]))
    rows = [line.replace(" ", "") for line in out.splitlines() if line.startswith("| a,")]
    ok(code == 0 and rows == ["|a,small|3000|40|7|6|2|", "|a,two|3000|40|7|8|2|", "|a,small|3000|40|7|3.00|",
                              "|a,two|3000|40|7|4.00|"],
       "cases of an operation are rows, each against its own reference", out, err)
    refused("a column that is not there", "ref, merge, scan, cusparse", "--against", "nosuch", first)
    refused("an operation that is not there", "no operation \"sort\" in these records; there are: transpose\n", "--op", "transpose,sort", first)
    refused("one of the columns that is not there", "no column \"nope\" in these records; there are: ref, merge, scan, cusparse\n",
            "--columns", "ref,nope", first)
    code, out, err = run("--columns", "ref,hip", first, second)
    ok(code == 0 and "- hip on a, b: skipped: no device" in out and "cusparse" not in out, "a column of which nothing ran has its reason", out, err)
    refused("a record of --profile", "2.json is a record of weft-bench --profile: weft-profile-table", write_text(
        os.path.join(folder, "2.json"), json.dumps({"schema": "weft-profile-1", "runs": []}, indent=1)))
    refused("a clock that is not there", "--clock", "--clock", "sun", first)
    refused("no file", "/nonexistent.json", "/nonexistent.json")
    refused("a file that is no JSON", "3.json:7: no record", write(os.path.join(folder, "3.json"), FIRST, "no JSON\n"))
    refused("JSON that is no record", "4.json:1: no record", write(os.path.join(folder, "4.json"), [3]))
    good = FIRST[0]
    for name, wrong, want in [("no number", {**good, "median_ms": "12"}, "median_ms"), ("no text", {**good, "matrix": 3}, "matrix"),
                              ("a number that JSON lacks", {**good, "noise": float("nan")}, "NaN"),
                              ("no time", {k: v for k, v in good.items() if k != "median_ms"}, "no median_ms"),
                              ("a time of 0", {**good, "median_ms": 0}, "median_ms is 0"),
                              ("less than nothing", {**good, "gbps": -1}, "gbps"), ("verified by half", {**good, "verified": 0.5}, "verified")]:
        refused("a record with " + name, want, write(os.path.join(folder, "5.json"), [good, wrong]))
    refused("JSON without a bottom", "6.json:1: no record", write(os.path.join(folder, "6.json"), [], "[" * 200000 + "\n"))
    with open(os.path.join(folder, "7.json"), "wb") as file:
        file.write(b"\xff\xfe\n")
    refused("a file that is no text", "7.json is no text", os.path.join(folder, "7.json"))
    plain = run(first)[1]
    packed = os.path.join(folder, "8.json.gz")
    with gzip.open(packed, "wb") as file, open(first, "rb") as whole:
        file.write(whole.read())
    code, out, err = run(packed)
    ok(code == 0 and out == plain and not err, "gzip is read", out, err)
    with open(packed, "rb") as file:
        half = file.read()[:-20]
    with open(packed, "wb") as file:
        file.write(half)
    refused("half a gzip file", "8.json.gz", packed)
    refused("what is no gzip file", "9.json.gz", write(os.path.join(folder, "9.json.gz"), FIRST))
    refused("an option that is not there", "--bogus", "--bogus", first)
    refused("an output that cannot be written", "/nonexistent/o.md", "-o", "/nonexistent/o.md", first)
    link, kept = os.path.join(folder, "link.json"), os.path.join(folder, "kept.mtx")
    os.symlink("1.json", link)
    write_text(kept, "no sign of it inside")
    matrix = write_text(os.path.join(folder, "matrix"), "%%MatrixMarket matrix array real general\n1 1\n1\n")
    for name, path, want in (("its input", first, "cannot be written: it is an input"), ("by a link", link, "cannot be written: it is an input"),
                             ("a matrix by its name", kept, "looks like a matrix"), ("a matrix by its first bytes", matrix, "looks like a matrix")):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        refused("an output that is " + name, want, "-o", path, first)
        with open(path, encoding="utf-8") as file:
            ok(file.read() == text, "it stays as it was: " + name)
    odd = os.path.join(folder, "odd.json")
    with open(odd, "w", encoding="utf-8") as file:
        file.write(json.dumps({**good, "matrix": "a|b\u2028c"}, ensure_ascii=False) + "\n\n")
    code, out, err = run(odd)
    ok(code == 0 and "| a\\|b\u2028c " in out and not err, "a name with a bar, and a separator of lines inside of a line", out, err)
    if os.path.exists("/dev/full"):
        for args in ([], ["-o", "/dev/full"]):
            with open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([sys.executable, TOOL, *args, first], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            ok(done.returncode == 2 and done.stderr.count("\n") == 1 and "No space left" in done.stderr, "a full disk", done.stderr)


def test_noise(folder):
    """Samples that are far apart leave a comparison unclear where quartiles overlap; bench and tables agree on what is noisy."""
    with open(os.path.join(os.path.dirname(TOOL), "..", "..", "host", "common", "stats.h"), encoding="utf-8") as file:
        limit = float(re.search(r"define BENCH_NOISE_MAX +([0-9.]+)", file.read())[1])
    sys.path.insert(0, os.path.dirname(TOOL))
    import reader  # noqa: E402
    ok(reader.NOISE_MAX == limit, "one limit", reader.NOISE_MAX, limit)
    for ms, noise, shown in ((0.5, limit * 1.1, "24.00"), (10, limit * 2, "1.20~")):
        path = write(os.path.join(folder, "noisy.json"), [FIRST[0], {**GPU, "algo": "scan", "median_ms": ms, "noise": noise}])
        code, out, err = run(path)
        ok(code == 0 and f"| {shown} |" in re.sub(" +", " ", out), f"noise of {noise} at {ms} ms: {shown}", out, err)


def test_plots(folder):
    records = write(os.path.join(folder, "1.json"), FIRST + SECOND)
    absent = os.path.join(folder, "absent")
    os.mkdir(absent)
    with open(os.path.join(absent, "matplotlib.py"), "w", encoding="utf-8") as file:
        file.write("raise ImportError\n")
    refused("plots without matplotlib: what to install", "python3-matplotlib", "--plot", absent, records, PYTHONPATH=absent)
    nothing = os.path.join(folder, "nothing")
    os.makedirs(os.path.join(nothing, "matplotlib"))
    with open(os.path.join(nothing, "matplotlib", "__init__.py"), "w", encoding="utf-8"):
        pass
    refused("nor with one that has nothing in it", "python3-matplotlib", "--plot", absent, records, PYTHONPATH=nothing)
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        skip("no matplotlib: plots are not drawn")
        return
    page = os.path.join(folder, "page.md")
    code, _, err = run("--plot", os.path.join(folder, "p.svg"), "-o", page, "--title", "A title", records)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    ok(code == 0 and "![transpose](p-transpose-speedup.svg)" in text and "![transpose](p-transpose-roof.svg)" in text,
       "plots are named in the page", text, err)
    pictures = {}
    for name in ("speedup", "roof"):
        with open(os.path.join(folder, f"p-transpose-{name}.svg"), encoding="utf-8") as file:
            pictures[name] = file.read()
    ok(all(f">{word}<" in pictures["speedup"] for word in ("4.00x", "1.01x~", "2.00x", "0.50x", "cuSPARSE", "A title")) and
       ">serial (ref)<" not in pictures["speedup"], "bars of speedup say how much")
    ok("within the noise" in pictures["speedup"] and "caches hold" not in pictures["roof"], "the noise is in the legend")
    fast = write(os.path.join(folder, "fast.json"), [{**r, "gbps": 11} for r in FIRST])
    run("--plot", os.path.join(folder, "f.svg"), fast)
    with open(os.path.join(folder, "f-transpose-roof.svg"), encoding="utf-8") as file:
        ok("caches hold" in file.read(), "bars past the copies explain themselves")
    ok("copies, 10 GB/s" in pictures["roof"] and ">serial (ref)<" in pictures["roof"], "the roof is the copy")
    code, _, err = run("--plot", os.path.join(folder, "p"), records)
    with open(os.path.join(folder, "p-transpose-roof.png"), "rb") as file:
        ok(code == 0 and file.read(8) == b"\x89PNG\r\n\x1a\n", "PNG", err)
    refused("no folder for pictures", "/nonexistent/p-", "--plot", "/nonexistent/p", records)
    odd = write(os.path.join(folder, "odd.json"), [{**r, "matrix": "$\\frac$", "op": "../x"} for r in FIRST])
    code, out, err = run("--plot", os.path.join(folder, "q"), odd)
    ok(code == 0 and os.path.exists(os.path.join(folder, "q-.._x-roof.png")), "names are no formulas and no folders", out, err)


def main():
    with tempfile.TemporaryDirectory() as folder:
        test_tables(folder)
        test_noise(folder)
        test_plots(folder)
    return done()


sys.exit(main())
