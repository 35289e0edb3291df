#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""limits.py WEFT WEFT-BENCH: small files that promise much, in 512 MiB of address space: the exit status, one line of
message, and the memory at its peak. Output is TAP.
"""
import gzip
import json
import os
import resource
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok, skip  # noqa: E402

WEFT, BENCH = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SPACE, FEW = 512 << 20, 40 << 20  # of addresses; of memory where little is needed
BENCH_SPACE = 4 << 30  # vendors' libraries, where it is linked with them, take much of it
BENCH_FEW = 256 << 20  # theirs, mostly
SANITIZED = b"__asan_init" in open(WEFT, "rb").read()  # the address sanitizer reserves terabytes, and memory for itself
COORDINATE = "%%MatrixMarket matrix coordinate "
PATTERN, REAL = COORDINATE + "pattern general\n", COORDINATE + "real general\n"


def run(*words):
    """Exit status, standard output, standard error, and bytes of memory at the peak."""
    def bounds():
        if not SANITIZED:
            space = BENCH_SPACE if words[0] == BENCH else SPACE
            resource.setrlimit(resource.RLIMIT_AS, (space, space))
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=bounds,
                              env={**os.environ, "OCL_ICD_VENDORS": "/nonexistent", "OMP_NUM_THREADS": "2"}) as child:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return child.returncode, out.read().decode(), err.read().decode(), usage.ru_maxrss * 1024


def little(peak, most=FEW):
    return SANITIZED or peak <= most


def refused(name, want, words, most=FEW):
    code, out, err, peak = run(*words)
    ok(code == 2 and err.count("\n") == 1 and all(word in err for word in want) and little(peak, most),
       f"{name}: {peak >> 20} MiB: {err.strip()}", f"status {code}, output {out!r}, expected {want}")


def info(name, path, *words, most=FEW):
    code, out, err, peak = run(WEFT, "info", *words, "--json", "-", path)
    ok(code == 0 and not err and little(peak, most), f"{name}: info in {peak >> 20} MiB", f"status {code}: {err}")
    return json.loads(out) if code == 0 else {}


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def hypersparse(folder):
    wide = write(f"{folder}/wide.mtx", PATTERN + "1 2147483647 0\n")
    got = info("1 x 2^31-1 without an entry", wide)
    ok(got.get("n") == 2147483647 and got.get("columns", {}).get("empty") == 2147483647, "all columns are empty", got)
    tall = write(f"{folder}/tall.mtx", PATTERN + "2147483647 1 0\n")
    got = info("2^31-1 x 1 without an entry", tall)
    ok(got.get("m") == 2147483647 and got.get("rows", {}).get("empty") == 2147483647, "all rows are empty", got)
    ok("--limit" in got.get("device", {}).get("error", ""), "the device is not asked: the limit", got)
    got = info("64-bit offsets", tall, "--index", "64")
    ok(got.get("m") == 2147483647, "2^31-1 rows", got)
    both = write(f"{folder}/both.mtx", REAL + "2147483647 2147483647 4\n1 1 1\n2147483647 5 2\n5 2147483647 2\n70000 6 2\n")
    got = info("2^31-1 x 2^31-1 with four entries", both)
    ok(got.get("lower") == 2147483642 and got.get("upper") == 2147483642 and
       abs(got.get("pattern_symmetry", 0) - 2 / 3) < 1e-12 and got.get("rows", {}).get("empty") == 2147483643 and
       got.get("profile") == 2147483642 + 69994 and got.get("x_lines") == 0.5,
       "its figures: bandwidth, symmetry, empty rows, profile, lines of x", got)
    half = write(f"{folder}/half.mtx", COORDINATE + "real symmetric\n2147483647 2147483647 2\n1 1 1\n2147483647 5 2\n")
    got = info("a symmetric file", half)
    ok(got.get("nnz") == 3 and got.get("pattern_symmetry") == 1 and got.get("value_symmetry") == 1 and
       got.get("rows", {}).get("empty") == 2147483644, "both triangles", got)
    few = write(f"{folder}/few.mtx", REAL + "3000000 3000000 2\n1 1 1\n3000000 5 2\n")
    got = info("3 000 000 rows, two entries", few)
    ok(got.get("rows", {}).get("empty") == 2999998 and got.get("imbalance", {}).get("2") == 1, "one entry in each half", got)
    # What holds something for each row and column says so.
    for name, path, words in [("spy", tall, ["spy", "-o", f"{folder}/x.svg"]), ("entropy", tall, ["entropy"])]:
        refused(f"{name} of 2^31-1 rows", ["far more rows", "limit is 268435456", "--limit"], [WEFT, *words, path])
    for order in ["row-col", "rcm", "col-gradient"]:
        refused(f"permute {order} of 2^31-1 columns", ["2147483647 columns", "limit is 268435456", "--limit"],
                [WEFT, "permute", "--order", order, wide, f"{folder}/out.mtx"])
    refused("spy --order of 2^31-1 columns", ["2147483647 columns", "--limit"],
            [WEFT, "spy", "--order", "row-col", "-o", f"{folder}/x.svg", wide])
    for path in [wide, tall]:
        refused("weft-bench of " + os.path.basename(path), ["268435456", "--limit"],
                [BENCH, "-b", "ref", "--no-roof", path], BENCH_FEW)
    code, _, err, _ = run(WEFT, "entropy", wide)
    ok(code == 0, "entropy of 2^31-1 columns without entries holds one bucket", err)
    return wide, tall


def promises(folder):
    for name, header, want in [
            ("2 000 000 000 entries", REAL + "100 100 2000000000\n1 1 1\n", ["the file holds 1"]),
            ("an array of 2e9 numbers", "%%MatrixMarket matrix array real general\n2000000 1000\n1\n", ["the file holds 1"]),
            ("2^62 entries", REAL + "2147483647 2147483647 4611686018427387904\n1 1 1\n", ["32-bit offsets"])]:
        path = write(f"{folder}/promise.mtx", header)
        refused(name, want, [WEFT, "info", path])
        refused(name + ", weft-bench", want, [BENCH, "-b", "ref", "--no-roof", path], BENCH_FEW)


class Text:
    """A header and the same line again and again, never whole in memory: a child's peak begins with that of its parent."""

    def __init__(self, head, line, times):
        self.part, self.line, self.left = head.encode(), line.encode() * 10000, times // 10000
        self.size = len(self.part) + self.left * len(self.line)

    def read(self, size):
        while len(self.part) < size and self.left:
            self.part += self.line
            self.left -= 1
        part, self.part = self.part[:size], self.part[size:]
        return part


def bombs(folder):
    def text():
        return Text(PATTERN + "10 10 20000000\n", "1 1\n", 20000000)
    comments = Text(PATTERN + "10 10 1\n1 1\n", "%\n", 20000000)
    for name, data, limit, want in [("bomb", text(), [], "entries take more memory"),
                                    ("before", Text(PATTERN, "%\n", 20000000), ["--limit", "16M"], "unpacks to more text"),
                                    ("comments", comments, ["--limit", "16M"], "unpacks to more text")]:
        path, length = f"{folder}/{name}.mtx.gz", data.size
        with gzip.open(path, "wb", 6) as file:
            while part := data.read(1 << 20):
                file.write(part)
        size = os.path.getsize(path)
        refused(f"{size} bytes of gzip, {length} of text", [want, "limit of", "--limit"], [WEFT, "info", *limit, path],
                SPACE // 2)
        refused("the same, weft-bench", [want, "--limit"], [BENCH, "-b", "ref", "--no-roof", *limit, path], 2 * BENCH_FEW)
    code, _, err, peak = run(WEFT, "info", "--limit", "64M", f"{folder}/comments.mtx.gz")
    ok(code == 0 and little(peak), f"--limit 64M reads 40 MB of comments in {peak >> 20} MiB", err)
    refused("--limit 1M refuses less", ["limit of 1048576", "--limit"], [WEFT, "info", "--limit", "1M", f"{folder}/bomb.mtx.gz"])
    with tarfile.open(f"{folder}/bomb.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("bomb/bomb.mtx")
        source = text()
        member.size = source.size
        archive.addfile(member, source)
    code, _, err, peak = run(WEFT, "info", f"{folder}/bomb.tar.gz")
    if "libarchive" in err:
        skip("an archive: this build reads none")
    else:
        ok(code == 2 and "--limit" in err and err.count("\n") == 1 and little(peak, SPACE // 2),
           f"the same in an archive: {peak >> 20} MiB: {err.strip()}", code)
        other, matrix = ("other.txt", "", "%\n", 20000000), ("a/a.mtx", PATTERN + "1 1 0\n", "", 0)
        for where, members in (("before", (other, matrix)), ("behind", (matrix, other))):  # unpacked, too; behind for the checksum
            with tarfile.open(f"{folder}/{where}.tar.gz", "w:gz") as archive:
                for name, *words in members:
                    member = tarfile.TarInfo(name)
                    source = Text(*words)
                    member.size = source.size
                    archive.addfile(member, source)
            refused(f"members {where} the matrix", ["members unpack", "limit of", "--limit"],
                    [WEFT, "info", "--limit", "16M", f"{folder}/{where}.tar.gz"])
            code, _, err, _ = run(WEFT, "info", "--limit", "64M", f"{folder}/{where}.tar.gz")
            ok(code == 0, f"--limit 64M passes over 40 MB {where} the matrix", err)


def options(folder, tall):
    for program in [WEFT, BENCH]:
        words = [program, "info"] if program == WEFT else [program]
        for text in ["", "0", "-1", "1X", "1KK", "9999999T", "K", "1.5", "1e-3G"]:
            code, _, err, _ = run(*words, "--limit", text, tall)
            ok(code == 2 and "--limit" in err and err.count("\n") == 1, f"--limit {text!r}: {err.strip()}", code)
    million = write(f"{folder}/million.mtx", PATTERN + "1000000 1 1\n7 1\n")
    refused("--limit 1M for a million rows", ["limit is 1048576"], [WEFT, "entropy", "--limit", "1M", million])
    code, _, err, _ = run(WEFT, "entropy", "--limit", "8M", million)
    ok(code == 0, "--limit 8M reads them", err)
    code, _, err, _ = run(BENCH, "-b", "ref", "--no-roof", "--reps", "1", "--limit", "64M", million)
    ok(code == 0, "weft-bench --limit 64M runs them", err)
    refused("weft-bench --limit 8M refuses", ["limit is 8388608"], [BENCH, "-b", "ref", "--no-roof", "--limit", "8M", million],
            BENCH_FEW)
    code, _, err, _ = run(WEFT, "convert", "--limit", "64M", million, f"{folder}/million.weft")
    ok(code == 0, "weft convert writes a .weft", err)
    code, out, err, _ = run(BENCH, "-b", "ref", "--no-roof", "--reps", "1", "--json", "-", f"{folder}/million.weft")
    ok(code == 0 and '"m":1000000' in out.replace(" ", ""), "which weft-bench reads", out, err)
    refused("weft --limit 3M refuses the arrays of a .weft", ["million.weft", "the limit is 3145728"], [WEFT, "entropy", "--limit", "3M", f"{folder}/million.weft"])
    refused("weft-bench --limit 3M as well", ["the limit is 3145728"], [BENCH, "-b", "ref", "--no-roof", "--limit", "3M", f"{folder}/million.weft"], BENCH_FEW)
    code, _, err, _ = run(WEFT, "entropy", "--limit", "5M", f"{folder}/million.weft")
    ok(code == 0, "weft --limit 5M reads it", err)
    wide = write(f"{folder}/wide.mtx", REAL + "1 2147483647 1\n1 1 2\n")
    for words in (["convert"], ["permute", "--order", "regular"]):
        refused(words[0] + " of 2^31-1 columns to .rb", ["2147483647 columns", "limit is 268435456", "--limit"], [WEFT, *words, wide, f"{folder}/out.rb"])
    ok(not os.path.exists(f"{folder}/out.rb"), "nothing is written")
    code, _, err, _ = run(WEFT, "convert", "--limit", "64M", million, f"{folder}/out.rb")
    ok(code == 0, "and of a million rows it is", err)
    refused("weft-bench --limit 8M refuses it too", ["limit is 8388608"], [BENCH, "-b", "ref", "--no-roof", "--limit", "8M",
                                                                          f"{folder}/million.weft"], BENCH_FEW)


def main():
    with tempfile.TemporaryDirectory() as folder:
        _, tall = hypersparse(folder)
        promises(folder)
        bombs(folder)
        options(folder, tall)
    return done()


sys.exit(main())
