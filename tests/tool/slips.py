#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""slips.py WEFT BENCH: what people do that is not quite right, and what they meet: devices by word, with and without a driver, files of
another kind, words where options were meant. One line says what is wrong; what is harmless is taken. Output is TAP.
"""
import json
import os
import pty
import re
import stat
import subprocess
import sys
import tempfile
import threading
import time

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
        want = f"weft-bench: tune file {path}:1: no row of tuning, left out\n" if name == "passwd" else ""
        ok(code == 0 and err == want, f"of what the environment names, lines that are no rows are said: {name}", code, err)
    os.symlink(f"{folder}/other.tsv", f"{folder}/link.tsv")
    code, _, err = run(BENCH, *small, "--reps", "1", "--tune-file", f"{folder}/link.tsv")
    ok(code == 0 and err.count("\n") == 1 and "cannot be read: " in err, "why --tune-file was not read", code, err)
    code, _, err = run(BENCH, *small, "--reps", "1", WEFT_TUNE="/nonexistent")
    ok(code == 0 and err == "weft-bench: WEFT_TUNE is /nonexistent, which is not there: it runs with the defaults\n",
       "so is a file that is not there", code, err)
    for values, want in (("wg=8 foo=1", "scan has no value foo: row left out"), ("wg=4096 ipt=3", "row of scan left out: ")):
        path = put(f"{folder}/refused.tsv", "# weft tune 1\n" + "".join(row.replace("wg=1", values).replace("\t8\t", "\t4\t").replace(
            "\tcpu\t", f"\t{kind}\t") for kind in ("cpu", "gpu")))
        for words, env in (([], {"WEFT_TUNE": path}), (["--tune-file", path], {})):
            code, _, err = run(BENCH, *small, "-t", "i32", "--reps", "1", *words, **env)
            ok(code == 0 and err.startswith("weft-bench: tune file: " + want) and err.count("\n") == 1, f"values that are refused: {values}", code, err)
    rows = put(f"{folder}/mine.tsv", "# weft tune 1\n" + row + row.replace("\tcpu\t", "\tgpu\t"))
    for words in (["--tune-file", rows], ["--tune-file", ""]):
        code, _, err = run(BENCH, *small, "--reps", "1", *words)
        ok(code == 0 and not err, f"nothing is said of {words}", code, err)


def test_environment(folder):
    """What the library would pass over in its environment."""
    small = ["-g", "band:9,3"]
    for words in ([WEFT, "info", *small], [BENCH, "-b", "ref", "--reps", "1", "--no-roof", *small]):
        for value in ("many", "65", "1,2,3,4,5", "4,-1", "16,", "16,x"):
            fails(2, "WEFT_STAGE wants up to four numbers", words, WEFT_STAGE=value)
        for value in ("no", "00", "2"):
            fails(2, "WEFT_SELFTEST is 0", words, WEFT_SELFTEST=value)
        for env in ({"WEFT_STAGE": "16,2048,16,256"}, {"WEFT_STAGE": ""}, {"WEFT_STAGE": "0"}, {"WEFT_SELFTEST": "1"}, {"WEFT_SELFTEST": ""}):
            code, _, err = run(*words, **env)
            ok(code == 0 and not err, f"taken: {env}", code, err)


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


def test_hints(folder):
    path, twice = put(f"{folder}/h.mtx", REAL), put(f"{folder}/scan", "no matrix")
    for words in ([path], [f"{folder}/none.mtx"], ["none.npz"]):
        fails(2, f'no command is named "{words[0]}": did you mean weft info {words[0]}?', [WEFT, *words])
    fails(2, "spmv: cannot open: No such file or directory (the operation spmv is -o spmv)", [BENCH, "-b", "ref", "--no-roof", "spmv"])
    code, _, err = run(BENCH, "-b", "ref", "--no-roof", twice)
    ok(code == 2 and "-o scan" not in err, "a file that is there is no operation", err)
    fails(2, "x.pn: no such form is written: .mtx, .mtx.gz, .txt, .npz, .rb and .weft are", [WEFT, "convert", path, f"{folder}/x.pn"])
    for out in ("plain", "y.txt", "z.mtx"):
        code, _, err = run(WEFT, "convert", path, f"{folder}/{out}")
        ok(code == 0 and open(f"{folder}/{out}", encoding="ascii").read().startswith("%%MatrixMarket"), "convert to " + out, code, err)
    fails(2, "--seconds goes with --litmus", [WEFT, "selftest", "--seconds", "3"])
    code, text, err = run(WEFT, "info", path, "--products", "0", **NOWHERE)
    ok(code == 0 and not err and "runs" not in text, "--products 0 is not known, as of weft-bench", code, text, err)
    for words, want in (([WEFT, "info", "--limit", "10", path], "(raise it with --limit)"), ([BENCH, "-b", "ref", "--limit", "10", path], "(raise it with --limit)"),
                        ([WEFT, "spmv", "-g", "dense:9,7", "--limit", "20"], "vectors for 9 rows and 7 columns: 128 bytes, the limit is 20 (raise it with --limit)")):
        if words[1] != "spmv" or run(WEFT, "devices")[0] == 0:
            fails(2, want, words)
    for command, want in (("spy", "300 to 10000"), ("selftest", "1 to 1000000"), ("permute", ".npz"), ("transpose", ".npz")):
        ok(want in run(WEFT, "help", command)[1], f"help {command} has {want}")


# ---- what is printed -----------------------------------------------------------------------------------------------

def test_complex(folder):
    """What looks at no values reads complex files; info says that it left them out."""
    path = put(f"{folder}/c.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n3 3 3\n1 1 1 0\n2 1 3 4\n3 3 2 0\n")
    real = put(f"{folder}/r.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n2 1 3\n3 3 2\n")
    code, text, err = run(WEFT, "info", path, **NOWHERE)
    ok(code == 0 and not err and "4 (44.4 % of all places), pattern; the file holds 3: complex, hermitian; its values are left out "
       "(--complex real|imag takes a part of each)\n" in text and "\nsymmetry    pattern 100 %\n" in text, "info of a complex file", code, text, err)
    code, text, err = run(WEFT, "info", path, "--json", "-", **NOWHERE)
    said = json.loads(text) if code == 0 else {}
    ok(said.get("field") == "complex" and said["type"] == "pattern" and "value_symmetry" not in said and said["pattern_symmetry"] == 1,
       "the same as JSON", text, err)
    npz = f"{folder}/c.npz"
    made = subprocess.run([sys.executable, "-c", "import sys, scipy.sparse as s; s.save_npz(sys.argv[1], s.csr_matrix([[1j, 0], [2, 3]]))", npz],
                          capture_output=True, check=False)
    if made.returncode:
        skip("no scipy here")
    else:
        code, text, err = run(WEFT, "info", npz, **NOWHERE)
        ok(code == 0 and not err and "pattern; the file holds 3: complex" in text and "its values are left out" in text, "info of a complex .npz", code, text, err)
    code, text, err = run(WEFT, "info", path, "--complex", "imag", "--json", "-", **NOWHERE)
    ok(code == 0 and json.loads(text)["type"] == "f64" and "value_symmetry" in json.loads(text), "a part of them is read", text, err)
    fails(2, "(--complex real|imag, or -t pattern)", [WEFT, "info", "-"], given=open(path, encoding="ascii").read(), **NOWHERE)
    fails(2, "(--complex real|imag, or -t pattern)", [BENCH, "-b", "ref", "--no-roof", path])
    got, want = (run(WEFT, "entropy", one, **NOWHERE) for one in (path, real))
    ok(got[0] == 0 and got[1].split("\n")[1:] == want[1].split("\n")[1:], "entropy is that of the pattern", got, want)
    code, _, err = run(WEFT, "spy", path, "-o", f"{folder}/c.svg", **NOWHERE)
    ok(code == 0 or "cairo" in err, "spy draws it", code, err)


def test_text(folder):
    path, gone = put(f"{folder}/t.mtx", REAL), f"{folder}/gone.mtx"
    one = run(WEFT, "info", path, **NOWHERE)[1]
    for words, count in (([gone, path], 1), ([path, gone, path], 2), ([path, path], 2), ([path, gone], 1)):
        code, text, _ = run(WEFT, "info", *words, **NOWHERE)
        ok(code == (2 if gone in words else 0) and text == "\n".join([one] * count), "a blank line between two matrices alone", text)
    if run(WEFT, "devices")[0]:
        skip("what is printed of a device: there is none")
        return
    code, text, err = run(WEFT, "info", path)
    ok(code == 0 and re.search(r"^formats +csr +\d+ B$", text, re.M) and " 0.000 " not in text, "bytes of a small matrix", text, err)
    code, text, err = run(WEFT, "info", "-g", "band:3000,3")
    ok(code == 0 and re.search(r"^formats +csr +\d+\.\d{3} kB$", text, re.M), "of a larger one", text, err)
    for spec in ("uniform:0,0,0", "uniform:5,7,0"):
        code, text, err = run(WEFT, "advise", "-g", spec)
        if "no model" in err:
            skip("no model for this kind of device")
            return
        ok(code == 0 and text.endswith("\nadvice: leave the matrix as it is: without entries every order takes the same time\n") and
           text.count("\n") == 2, "advise of " + spec, code, text, err)
        orders = json.loads(run(WEFT, "advise", "-g", spec, "--json", "-")[1])["orders"][1:]
        ok(all(o["ratio"] == 1 and not o["pays"] and "pays_after" not in o for o in orders), "as JSON", orders)
    code, text, err = run(WEFT, "advise", "-g", "uniform:20,20,30")
    rows = [line for line in text.splitlines() if re.match(r"(order|row|row-gradient|col-gradient|row-col|degree|rcm) ", line)]
    ok(code == 0 and len(rows) == 7 and len({len(row) for row in rows}) == 1 and "e+" not in text, "columns of advise", text, err)
    ok("leave the matrix as it is: no order saves more than 5 % of the time, permuting included" in
       run(WEFT, "advise", "-g", "uniform:300,300,3000", "--products", "1")[1], "the rule of advise")


def test_outputs(folder):
    path = put(f"{folder}/o.mtx", REAL)
    if os.path.exists("/dev/full"):
        for words in (["help"], ["info", path], ["info", *[path] * 40]):
            with open("/dev/full", "wb") as full:
                said = subprocess.run([WEFT, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False, env={**os.environ, **NOWHERE})
            ok(said.returncode == 2 and said.stderr == "weft: standard output cannot be written: No space left on device\n",
               f"a full standard output has its reason: {words[0]}, {len(words)}", said)
        if run(WEFT, "devices")[0] == 0:
            with open("/dev/full", "wb") as full, subprocess.Popen([WEFT, "selftest"], stdout=full, stderr=subprocess.PIPE) as child:
                err = child.communicate(timeout=120)[1].decode()
            ok(child.returncode == 2 and err.endswith("cannot be written: No space left on device\n") and err.count("\n") == 1, "selftest there", err)
    pipe = f"{folder}/pipe"
    os.mkfifo(pipe)
    for words, want in ((["entropy", path, "--json", pipe], b'"nnz"'), (["convert", path, pipe], b"%%MatrixMarket"),
                        (["entropy", path, "--json", pipe, "-o", f"{folder}/beside-a-pipe.svg"], b'"nnz"')):
        with subprocess.Popen([WEFT, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, **NOWHERE}) as child:
            with open(pipe, "rb") as reader:
                text = reader.read()
            err = child.communicate(timeout=60)[1]
        ok(child.returncode == 0 and want in text and not err, f"{words[0]} into a pipe that has a name", child.returncode, text, err)
    ok(stat.S_ISFIFO(os.stat(pipe).st_mode), "it is one still")
    try:
        os.mknod(f"{folder}/null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))  # what /dev/null is
        code, _, err = run(WEFT, "entropy", path, "--json", f"{folder}/null", **NOWHERE)
    except OSError as why:
        skip(f"no device file is made here: {why}")
        return
    if code == 2 and "ermission" in err:
        skip("no device file is opened here")
        return
    ok(code == 0 and not err and stat.S_ISCHR(os.stat(f"{folder}/null").st_mode), "--json to a device that takes everything", code, err)
    fails(2, "no regular file", [WEFT, "entropy", path, "--json", folder], **NOWHERE)


def test_terminal(folder):
    """No escape sequences where the terminal knows none."""
    try:
        main, side = pty.openpty()
    except OSError as why:
        skip(f"no terminal here: {why}")
        return
    pipe = f"{folder}/slow.mtx"
    os.mkfifo(pipe)

    def feed():
        with open(pipe, "w", encoding="ascii") as file:
            time.sleep(2.4)
            file.write(REAL)
    feeder = threading.Thread(target=feed)
    feeder.start()
    with subprocess.Popen([WEFT, "entropy", pipe], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=side,
                          env={**os.environ, "TERM": "dumb"}) as child:
        code = child.wait(timeout=60)
    feeder.join()
    os.write(side, b"end\n")
    seen = os.read(main, 4096)
    os.close(side)
    os.close(main)
    ok(code == 0 and seen == b"end\r\n", "TERM=dumb: no progress", code, seen)


def main():
    for name in ("WEFT_DEVICE", "WEFT_TUNE"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory(prefix="weft-slips-") as folder:
        test_devices(folder)
        test_tune(folder)
        test_environment(folder)
        test_words(folder)
        test_hints(folder)
        test_complex(folder)
        test_text(folder)
        test_outputs(folder)
        test_terminal(folder)
    return done()


sys.exit(main())
