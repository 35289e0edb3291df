#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py WEFT_BENCH: weft-bench --compare on files made here. Output is TAP."""
import copy
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "profile"), os.path.join(HERE, "..", "support")]
import example  # noqa: E402
from tap import done, ok  # noqa: E402

BENCH = os.path.abspath(sys.argv[1])
FOLDER = tempfile.TemporaryDirectory()


def line(algo, ms, noise=0.01, device="D", verified=True, **more):
    found = {"matrix": "m1", "m": 3, "n": 3, "nnz": 5, "op": "spmv", "backend": "opencl", "algo": algo, "type": "f32",
             "index": 32, "device": device, "version": "0.1.0", "verified": verified, "samples": 10, "median_ms": ms,
             "noise": noise, "bytes_min": 100, "copy_gbps": 40, "roof": 0.5, "date": "2026-01-01T00:00:00Z", **more}
    return found if verified else {k: v for k, v in found.items() if not k.endswith("_ms")}


def file(name, content):
    """A file of lines (a list), a document (a dict) or of that text."""
    path = os.path.join(FOLDER.name, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(content if isinstance(content, str) else json.dumps(content) if isinstance(content, dict)
                  else "".join(json.dumps(each) + "\n" for each in content))
    return path


def compare(a, b, *options):
    ran = subprocess.run([BENCH, "--compare", *options, file("a.json", a), file("b.json", b)], stdin=subprocess.DEVNULL,
                         capture_output=True, text=True, check=False, timeout=60)
    return ran.returncode, ran.stdout, ran.stderr


def pairs(a, b):
    """The record of a comparison, its pairs by algorithm."""
    code, out, err = compare(a, b, "--json", "-")
    record = json.loads(out) if code == 0 else {}
    ok(code == 0 and not err, "compares", out, err)
    return record, {p["algo"]: p for p in record.get("pairs", []) if "algo" in p}


def refused(a, b, want, name):
    _, wild = pairs([line("one", 1.0, 0.01), line("other", 1.0, 170), line("calm", 1.0, 0.2), line("both", 1.0, 0.5)],
                    [line("one", 13105.0, 1.2), line("other", 50.0, 0.01), line("calm", 9.0, 0.2), line("both", 1.4, 0.5)])
    ok({k: p["verdict"] for k, p in wild.items()} == {"one": "slower", "other": "unclear", "calm": "slower", "both": "unclear"},
       "of a noisy time something is said where its quartiles leave the other's", wild)
    code, out, err = compare(a, b)
    ok(code == 2 and not out and re.fullmatch(r"weft-bench: .*\n", err) and want in err, name, code, out, err)


def test_verdicts():
    a = [line("plainly", 1.0), line("slow", 1.0), line("noise", 1.0, 0.3), line("near", 1.0, 0.0001),
         line("touch", 1.0, 0.2), line("part", 1.0, 0.2), line("same", 1.0, 0)]
    b = [line("plainly", 0.5), line("slow", 2.0), line("noise", 0.9, 0.3), line("near", 0.995, 0.0001),
         line("touch", 0.82, 0.2), line("part", 0.8, 0.2), line("same", 1.0, 0)]
    record, found = pairs(a, b)
    want = {"plainly": "faster", "slow": "slower", "noise": "unclear", "near": "unclear", "touch": "unclear",
            "part": "faster", "same": "unclear"}
    ok({k: p["verdict"] for k, p in found.items()} == want, "faster and slower where quartiles part by 1 % and more", found)
    ok((record["faster"], record["slower"], record["unclear"]) == (2, 1, 4), "they are counted")
    ok(abs(found["plainly"]["speedup"] - 2) < 1e-9 and found["plainly"]["a_ms"] == 1 and found["plainly"]["b_noise"] == 0.01,
       "ratio, times and noise", found["plainly"])
    product = 1
    for p in found.values():
        product *= p["speedup"]
    ok(abs(record["geomean_speedup"] / product ** (1 / 7) - 1) < 1e-4, "geometric mean of the speedups", record)
    _, drifted = pairs([line("x", 1.0, copy_gbps=40), line("y", 1.0, copy_gbps=40), line("z", 1.0, copy_gbps=40)],
                       [line("x", 1.2, copy_gbps=32), line("y", 1.3, copy_gbps=32), line("z", 1.2, copy_gbps=32, device="E")])
    ok({k: p["verdict"] for k, p in drifted.items()} == {"x": "unclear", "y": "slower", "z": "slower"} and
       abs(drifted["x"]["copy_drift"] - 1.25) < 1e-9,
       "what the same device's copy lost, too, is no verdict", drifted)
    code, out, err = compare(a, b)
    ok(code == 0 and not err and re.search(r"opencl +plainly +1\.000 +1\.0% +0\.5000 +1\.0%  2\.00 x faster", out) and
       re.search(r"slow .* 2\.00 x slower", out) and re.search(r"noise .*  unclear \(1\.11 x faster\)", out) and
       "B of 7: 2 faster, 1 slower, 4 unclear" in out, "the table says so", out, err)
    ok(max(map(len, out.splitlines())) <= 110 and out.isascii(), "and is narrow", out)
    ok(compare(a, b, "--quiet")[:2] == (0, ""), "--quiet prints nothing")
    if os.path.exists("/dev/full"):
        code, _, err = compare(a, b, "--quiet", "--json", "/dev/full")
        ok(code == 2 and err == "weft-bench: /dev/full cannot be written: No space left on device\n", "a full disk", code, err)


def test_endless():
    text = json.dumps(line("x", 1.5)).replace("1.5", "1e999") + "\n"
    refused(text, text, "verified", "a time that has no end is no time")
    ran = subprocess.run([BENCH, "--compare", "/dev/zero", "/dev/zero"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         check=False, timeout=60)
    ok(ran.returncode == 2 and ran.stderr == "weft-bench: /dev/zero is no text\n", "a file that has no end", ran.stderr)


def test_matching():
    _, found = pairs([line("x", 1.0, device="old GPU")], [line("x", 0.5, device="new GPU")])
    ok(found["x"]["device_a"] == "old GPU" and found["x"]["device_b"] == "new GPU", "two devices are compared", found)
    record, found = pairs([line("x", 1.0, device="P"), line("x", 3.0, device="Q")],
                          [line("x", 2.0, device="Q"), line("x", 0.5, device="P")])
    got = sorted((p["device_a"], p["device_b"], p["a_ms"], p["b_ms"]) for p in record["pairs"])
    ok(got == [("P", "P", 1, 0.5), ("Q", "Q", 3, 2)], "of several devices equal ones go together", got)
    record, found = pairs([line("x", 1.0, device="P"), line("x", 3.0, device="Q"), line("y", 1.0)],
                          [line("x", 0.5, device="R"), line("y", 1.0)])
    ok(set(found) == {"y"} and len(record["rest_a"]) == 2 and len(record["rest_b"]) == 1,
       "of several and none equal nothing is guessed", record)
    record, found = pairs([line("x", 9.0), line("x", 1.0)], [line("x", 1.0)])
    ok(found["x"]["a_ms"] == 1 and len(record["rest_a"]) == 1, "of two with one device the last counts", record)
    for key, value in [("matrix", "m2"), ("op", "transpose"), ("backend", "ref"), ("algo", "z"), ("type", "f64"),
                       ("index", 64), ("tune", "wg=64"), ("nnz", 6), ("seed", 4)]:
        other = line("x", 1.0)
        other[key] = value
        record, found = pairs([line("x", 1.0), line("y", 1.0)], [other, line("y", 1.0)])
        ok(set(found) == {"y"} and len(record["rest_a"]) == len(record["rest_b"]) == 1, f"another {key} is another task", record)
    record, found = pairs([line("x", 1.0), line("y", 1.0)], [line("x", 1.0, verified=False, error="wrong"), line("y", 1.0)])
    ok(set(found) == {"y"} and [r["algo"] for r in record["rest_b"]] == ["x"], "what was wrong has no time to compare", record)
    _, out, _ = compare([line("x", 1.0), line("y", 1.0)], [line("x", 1.0, verified=False, error="wrong"), line("y", 1.0)])
    ok("not verified in B: spmv m1 opencl x f32" in out, "and is named", out)


def test_where():
    a = [line("x", 1.0, write_ms=12.0, read_ms=0.5, peak_bytes=5e6)]
    b = [line("x", 2.0, write_ms=9.0, read_ms=0.501, convert_ms=4.0, peak_bytes=9e6, copy_gbps=4000, roof=0.25)]
    code, out, _ = compare(a, b)
    ok(code == 0 and re.search(r"phases +convert only in B, 4\.000 ms; write 12\.00 -> 9\.000 ms\n", out) and
       re.search(r"bytes +peak_bytes 5\.000 -> 9\.000 MB", out) and "50.0 % of 40 GB/s -> 25.0 % of 4000 GB/s" in out,
       "where the time of a line went", out)

    before = example.document()
    after = copy.deepcopy(before)
    run = after["runs"][0]
    for samples in ([p["ms"] for p in run["phases"] if p["name"] == "kernel"] + [run["kernels"][0]["ms"]]):
        samples["samples"] = [s / 2 for s in samples["samples"]]
        samples["median"] /= 2
    run["end_to_end_ms"]["samples"] = [s - 2.6 for s in run["end_to_end_ms"]["samples"]]
    run["kernels"][1]["name"] = "other_join"
    run["bytes"]["write"] += 8000000
    after["devices"][0]["name"] = "Another processor"
    code, out, err = compare(before, after)
    ok(code == 0 and re.search(r"opencl +csr_merge .* x faster", out) and
       re.search(r"phases +kernel 5\.226 -> 2\.613 ms", out) and
       re.search(r"kernels  +spmv_csr_merge 4\.322 -> 2\.161 ms; spmv_join only in A, 0\.9045 ms", out) and
       re.search(r"bytes +write 126\.0 -> 134\.0 MB", out) and "A processor (A), Another processor (B)" in out,
       "phases, kernels and bytes of two profiles", out, err)
    ok(re.search(r"csr_lanes .* unclear \(1\.00 x\)", out) and "clocks   lowered while both ran" in out,
       "what stayed is unclear, lowered clocks are noted", out)
    ok("not verified" in out or "only in" in out, "the run that was wrong is named", out)
    record, found = pairs(before, after)
    kernels = {k["name"]: k for k in found["csr_merge"]["kernels"]}
    ok(record["of"] == "end_to_end_ms" and kernels["spmv_csr_merge"]["verdict"] == "faster" and
       "b_ms" not in kernels["spmv_join"] and "a_ms" not in kernels["other_join"], "and for programs", kernels)


    program = example.document()
    program["runs"] = program["runs"][:1]
    for key in ("matrix", "m", "n", "nnz", "type", "index", "backend", "algo", "verified"):
        del program["runs"][0][key]
    program["runs"][0]["op"] = "program"
    _, found = pairs(program, program)
    ok(found == {} and compare(program, program)[1].count("unclear (1.00 x)") == 1, "programs under the layer are compared")


def test_refused():
    good = [line("x", 1.0)]
    refused(good, [line("y", 1.0)], "no result of", "files without anything in common")
    refused(good, example.document(), "is of --profile", "a profile and lines")
    refused(good, "", "holds no results", "an empty file")
    refused(good, {"schema": "weft-profile-1", "runs": []}, "holds no results", "a profile without runs")
    refused(good, json.dumps(good[0]) + "\n{\"op\": ", "b.json:2", "a line that is cut off")
    refused(good, "\n[1]\n", "b.json:2", "a line of something else")
    refused(good, "{}\n", "b.json:1", "an object of something else")
    for ms in (-1.0, "1.0", None):
        refused(good, [*good, line("y", ms)], "b.json:2: it is verified, and its median_ms is no time", f"a time of {ms!r}")
    refused(good, {"schema": "weft-compare-1"}, "weft-compare-1", "a document of something else")
    refused(good, "\0\1\2", "no text", "no text at all")
    refused(good, [line("x", 1.0, verified=False)], "verified", "only what is not verified")
    for bad in [{"schema": "weft-profile-1", "runs": [{"op": "spmv", "device": 7, "verified": True, "end_to_end_ms": {}}]},
                {"schema": "weft-profile-1", "runs": [1, "x", None], "devices": {}}]:
        refused(example.document(), bad, "weft-bench", "a profile of odd parts")
    for args, want in [(["--compare"], "two files"), (["--compare", "a"], "two files"),
                       (["--compare", "a", "b", "c"], "two files"), (["--compare", "/nonexistent", "b"], "/nonexistent"),
                       (["--compare", "--csv", "-", "a", "b"], "--json"), (["--compare", FOLDER.name, FOLDER.name], "irectory")]:
        ran = subprocess.run([BENCH, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)
        ok(ran.returncode == 2 and ran.stderr.count("\n") == 1 and want in ran.stderr, "refuses " + " ".join(args)[:40],
           ran.stderr)


def main():
    test_verdicts()
    test_endless()
    test_matching()
    test_where()
    test_refused()
    return done()


sys.exit(main())
