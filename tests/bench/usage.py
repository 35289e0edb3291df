#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage.py WEFT_BENCH WEFT_SOAK: the command line of weft-bench, and of weft-soak: what they refuse, and in which words. Output is TAP."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok  # noqa: E402

BENCH, SOAK = (os.path.abspath(path) for path in sys.argv[1:3])
FAST = ["--reps", "2", "--no-roof", "--no-compile"]
SMALL = ["300", "200", "4000"]


def run(program, *args, **env):
    got = subprocess.run([program, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, env={**os.environ, **env}, timeout=300, check=False)
    return got.returncode, got.stdout, got.stderr


def exits(status, out, name, want):
    """Exit status, and one line that holds `want`."""
    code, _, err = out
    good = code == status and err.startswith("weft-bench: ") and err.count("\n") == 1 and err.endswith("\n") and want in err
    return ok(good, name, f"status {code}, expected {status}; stderr:", err, f"expected in it: {want}")


def test_usage():
    for args, want in [
            (["--bogus"], "--bogus"), (["-Z"], "-Z"), (["--reps"], "--reps"), (["-d"], "-d"), (["--reps", "0"], "--reps"),
            (["--reps=x"], "--reps"), (["--min-time", "-1"], "--min-time"), (["--min-time", "nan"], "--min-time"),
            (["--seed", "x"], "--seed"), (["--index", "33"], "--index"), (["-t", "f16"], "f16"), (["-t", ""], "type"),
            (["-o", "fft"], "fft"), (["-o", ",copy"], "operation"), (["-o", "copy,"], "operation"), (["-b", "ref,"], "\"\""),
            (["-t", "f32,"], "type"),
            (["-b", "magic"], "magic"), (["-d", "x"], "\"x\""), (["-d", "nodevice"], "\"nodevice\""),
            (["-o", "spvm"], "did you mean spmv?"), (["-b", "opncl"], "did you mean opencl?"),
            (["--tipe", "f32"], "did you mean --type?"), (["-g", "unifrom:1,1,1"], "did you mean uniform?"),
 (["-d", "-1"], "-1"),
            (["1000", "2000"], "three numbers"), (["1", "2", "3", "4"], "three numbers"), (["1", "2", "x"], "\"x\""),
            (["-5", "2", "3"], "-5"), (["4000000000", "2", "3"], "4000000000"), (["--tune=wg"], "--tune"),
            (["--tune", "wg=0"], "--tune"), (["--tune", "wg=1,wg=2"], "wg twice"),
            (["--reps", "3", "--min-time", "1"], "exclude"), (["--json", "-", "--csv", "-"], "standard output"),
            (["--tune-file", "/nonexistent"], "/nonexistent cannot be read"), (["--tune-file", "/"], "/ cannot be read: no regular file"),
            (["--tune-time", "0", "--tune"], "--tune-time"), (["--tune-time", "3"], "goes with --tune"),
            (["--tune", "--sweep"], "exclude"), (["--tune", "--profile", "--html", "x"], "without --profile"),
            (["--tune", "--tune", "wg=1"], "not both"),
            (["--products", "-3"], "--products"), (["--complex", "polar"], "polar"),
            (["--json", "a", "--json", "b"], "--json is given twice"), (["--csv", "a", "--csv", "a"], "--csv is given twice"),
            (["--json="], "--json is \"\""), (["--csv", ""], "--csv is \"\""), (["a.mtx", ""], "FILE 2 is empty"),
            (["--list", "--csv", "-"], "--list goes with"), (["--tune", "--tune-file", "-"], "not the standard output")]:
        exits(2, run(BENCH, *args), "usage: " + " ".join(args), want)
    listed = run(BENCH, "--list")[0] == 0
    for args, env in (([], {"WEFT_DEVICE": "abc"}), (["-d", "abc"], {}), (["-d", "99"], {}), ([], {"WEFT_DEVICE": "99"})):
        code, _, err = run(BENCH, "-b", "ref", *FAST, *args, *SMALL, **env)
        if listed:
            ok(code == 2 and err.count("\n") == 1 and (args[1] if args else env["WEFT_DEVICE"]) in err,
               f"a device that is not there, on the host alone: {args} {env}", code, err)
    code, _, err = run(BENCH, "-b", "ref", "-d", "0", *FAST, *SMALL, OCL_ICD_VENDORS="/nonexistent")
    ok(code == 0 and not err, "without drivers there is no list", code, err)
    code, _, err = run(BENCH, "-o", "copy", "-b", "ref", *FAST, "/nonexistent.mtx")
    ok(code == 2 and err == "weft-bench: /nonexistent.mtx: cannot open: No such file or directory\n", "a file that copy does not read", code, err)
    exits(2, run(BENCH, WEFT_DEVICE="abc"), "usage: WEFT_DEVICE=abc", "WEFT_DEVICE")
    ok(run(BENCH, "--help", WEFT_DEVICE="abc")[0] == 0, "--help wants no device")
    exits(3, run(BENCH, "-d", "0", *SMALL, WEFT_DEVICE="abc", OCL_ICD_VENDORS="/nonexistent"), "-d says another", "install")
    exits(2, run(BENCH, "-b", "ref", "-a", "nosuch", *SMALL), "an algorithm that nobody has", "transpose has no algorithm \"nosuch\"")
    exits(2, run(BENCH, "-b", "ref", "-a", "csr", *SMALL), "one that another operation has", "transpose has no algorithm \"csr\"")
    exits(2, run(BENCH, "-b", "ref", "-o", "transpose,spmv", "-a", "nosuch", *SMALL), "of several operations",
          "no operation has an algorithm \"nosuch\"")
    exits(2, run(BENCH, "-b", "ref", "-a", "all,nosuch", *SMALL), "one beside all", "nosuch")
    code, out, err = run(BENCH, "-b", "ref", "-o", "spmv", "-a", "csr,all", *FAST, *SMALL)
    ok(code == 0 and not err and re.search(r"ref +coo ", out), "all in a list of algorithms is all of them", out, err)
    exits(2, run(BENCH, "-b", "ref", "--json", "/nonexistent/x.json", *SMALL), "an output that cannot be written",
          "/nonexistent/x.json")
    code, out, err = run(BENCH, "--help")
    longs = re.findall(r"--[a-z][a-z-]*", out)
    ok(code == 0 and not err and {"--list", "--device", "--op", "--backend", "--algo", "--generate", "--seed", "--type",
                                  "--index", "--reps", "--min-time", "--json", "--csv", "--quiet"} <= set(longs),
       "--help names every option of the contract")
    ok(max(map(len, out.splitlines())) <= 110, "--help is narrow")
    before, (_, out, _), limit = os.getloadavg()[0], run(BENCH, "-b", "ref", *FAST, *SMALL), 0.75 * os.cpu_count()
    if max(before, os.getloadavg()[0]) < limit or min(before, os.getloadavg()[0]) > limit:
        ok(("load average" in out) == (before > limit), "a machine with other work is named", before, out)
    code, out, _ = run(BENCH, "--version")
    ok(code == 0 and re.fullmatch(r"weft-bench \d+\.\d+\.\d+\n", out), "--version", out)


def test_idle():
    """What would change nothing of the run is refused before anything runs."""
    for args, want in [
            (["--profile", "--calls", "3"], "--calls"), (["--regret", "-b", "ref"], "--regret is of backend opencl"),
            (["--hash", "--quiet"], "--quiet prints none"), (["--hash", "--sweep"], "--sweep prints none"),
            (["--hash", "-o", "scan,refill"], "--hash is of transpose and spmv"), (["--products", "9"], "--products is of spmv"),
            (["--calls", "9", "-o", "copy"], "--calls is of transpose and spmv"), (["--calls", "9", "-o", "scan,refill"], "--calls is of"),
            (["--calls", "9", "--sweep"], "--calls has no place"),
            (["--hyb-width", "9", "-o", "transpose,scan"], "--hyb-width is of spmv"), (["--tune", "--products", "9"], "without a point"),
            (["--tune", "-o", "scan", "-t", "f64"], "without --type"), (["--tune", "--index", "64"], "without --type, --index"),
            (["--tune", "-a", "scan"], "and --algo"), (["--tune", "-b", "ref"], "is of backend opencl"), (["--tune", "-b", "ref,opencl"], "is of backend opencl"),
            (["--study", "permute", "--hyb-width", "9"], "--hyb-width"), (["--list", "--reps", "3"], "not with --reps"),
            (["--list", "-d", "1"], "not with --device"), (["-d", "list", "-b", "ref"], "not with --backend"),
            (["--compare", "a", "b", "--reps", "3"], "not with --reps"), (["--compare", "a", "b", "--seed", "0"], "not with --seed")]:
        exits(2, run(BENCH, *args, *(SMALL if args[0] not in ("--list", "-d", "--compare") else [])), "idle: " + " ".join(args), want)
    for args in (["--list", "extra"], ["-d", "list", *SMALL], ["--list", "-g", "band:9,3"]):
        exits(2, run(BENCH, *args), "idle: " + " ".join(args), "--list takes no matrix")
    for args in (["--hash", "--quiet", "--json", "/dev/null"], ["--products", "9", "-o", "transpose,spmv"], ["--hash", "-o", "all"],
                 ["--hyb-width", "9", "-o", "spmv", "--calls", "2"], ["--calls", "2", "-o", "transpose,scan"]):
        code, _, err = run(BENCH, "-b", "ref", *FAST, *args, *SMALL)
        ok(code == 0 and not err, "taken: " + " ".join(args), code, err)


def test_soak():
    code, out, err = run(SOAK, "--help")
    ok(code == 0 and out.startswith("usage: weft-soak [options]\n") and "--hostile" in out and not err, "weft-soak --help", code, out, err)
    for args in (["--bogus"], ["--seed"], ["--cases", "x"], ["word"], ["--op", "nosuch"]):
        code, out, err = run(SOAK, *args)
        ok(code == 2 and not out and err.startswith("weft-soak: ") and err.count("\n") == 1, "weft-soak " + " ".join(args), code, out, err)


def main():
    os.environ.pop("WEFT_DEVICE", None)
    test_usage()
    test_idle()
    test_soak()
    return done()


sys.exit(main())
