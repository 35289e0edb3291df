#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layer.py PLAIN LAYER BUSY: the program of plain.c without and with the layer: the same output, and a record of what it
did. The program of busy.c, which ends in the midst of things.

Output is TAP.
"""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import schema  # noqa: E402
from tap import done, ok, skip  # noqa: E402

PLAIN, LAYER, BUSY = (os.path.abspath(path) for path in sys.argv[1:4])
LIMIT = 40000  # less than the page, more than what PoCL writes
BYTES, TIMES, THREADS = 65536 * 4, 3, 2


def run(folder, *args, **env):
    """The program in `folder`: status, stdout, stderr."""
    got = subprocess.run([PLAIN, *args], cwd=folder, env={**os.environ, **env}, text=True, check=False, timeout=300,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return got.returncode, got.stdout, got.stderr


def main(folder):
    code, out, err = plain = run(folder)
    if code == 0 and out == "no device\n":
        skip("no OpenCL device")
        return
    ok(code == 0 and not err, "the program alone", code, err)
    layered = run(folder, OPENCL_LAYERS=LAYER, WEFT_PROFILE_TRACE="trace-%p.json", WEFT_PROFILE_CSV="rows.csv",
                  WEFT_PROFILE_HTML="page.html")
    ok(layered == plain, "the layer changes nothing that the program prints, and prints nothing", plain, layered)
    names = sorted(os.listdir(folder))
    records = [n for n in names if n.startswith("weft-profile-")]
    if not ok(len(records) == 1 and len([n for n in names if n.startswith("trace-")]) == 1 and "rows.csv" in names
              and "page.html" in names, "one record, named after the process, and the other files", names):
        return
    with open(os.path.join(folder, records[0]), encoding="utf-8") as file:
        document = json.load(file)
    ok(not schema.document_wrong(document), "the record is as documented", schema.document_wrong(document))
    program = document["runs"][0]
    wrote = THREADS * (1 + TIMES) * BYTES
    ok(program["bytes"]["write"] == wrote, "bytes written, with those of clCreateBuffer", program["bytes"], wrote)
    ok(program["bytes"]["read"] == THREADS * BYTES and program["bytes"]["map"] == THREADS * 4096 and
       program["bytes"]["copy"] == THREADS * TIMES * 4096, "bytes read, mapped, copied", program["bytes"])
    queues = program["queues"]
    ok(len(queues) == THREADS and all("untimed" not in q for q in queues),
       "both queues keep times, though made without profiling", queues)
    kernels = {k["name"]: k for k in program["kernels"]}
    ok(set(kernels) == {"twice", "join"} and all(k["launches"] == THREADS * TIMES for k in kernels.values()),
       "every launch of both kernels", kernels.keys())
    ok(kernels["join"].get("wg") == [64] and "wg" not in kernels["twice"], "sizes of work-groups, where they were given")
    ok(kernels["join"]["bound_bytes"] == 2 * BYTES and kernels["twice"]["bound_bytes"] == BYTES, "bytes of their buffers")
    commands = program["timeline"]["commands"]
    ok(len({c["thread"] for c in commands}) == THREADS, "threads are told apart")
    timed = [c for c in commands if "untimed" not in c]
    ok(len(commands) - len(timed) == THREADS and
       {c["untimed"] for c in commands if "untimed" in c} == {"part of clCreateBuffer"},
       "every command has times but the writes within clCreateBuffer")
    ok(program["clock"]["outside"] == 0, "no command starts before its call or ends after what waited for it",
       program["clock"])
    with open(os.path.join(folder, [n for n in names if n.startswith("trace-")][0]), encoding="utf-8") as file:
        trace = json.load(file)
    ok(not schema.trace_wrong(trace), "the trace is as Chrome's format wants it", schema.trace_wrong(trace))
    code, _, err = run(folder, OPENCL_LAYERS=LAYER, WEFT_PROFILE="/nonexistent/x.json")
    ok(code == 0 and "/nonexistent/x.json" in err and err.count("\n") == 1, "a record that cannot be written is said", err)
    matrix = os.path.join(folder, "a.mtx")
    with open(matrix, "w", encoding="ascii") as file:
        file.write("%%MatrixMarket matrix coordinate real general\n1 1 0\n")
    code, _, err = run(folder, OPENCL_LAYERS=LAYER, WEFT_PROFILE="a.mtx")
    with open(matrix, encoding="ascii") as file:
        ok(code == 0 and "a.mtx cannot be written" in err and err.count("\n") == 1 and file.read().startswith("%%"),
           "a matrix is not replaced by a record", err)
    test_full(folder)
    limited = run(folder, OPENCL_LAYERS=LAYER, WEFT_PROFILE="few.json", WEFT_PROFILE_LIMIT="5")
    with open(os.path.join(folder, "few.json"), encoding="utf-8") as file:
        few = json.load(file)["runs"][0]
    ok(limited == plain and len(few["timeline"]["commands"]) == 5 and few["dropped"] > 0,
       "beyond the limit commands are counted, not kept", few.get("dropped"))
    run(folder, b"a\xff\nb", OPENCL_LAYERS=LAYER, WEFT_PROFILE="bytes.json")
    with open(os.path.join(folder, "bytes.json"), encoding="utf-8") as file:
        ok(json.load(file)["command"].endswith(" a?\nb"), "bytes of a command that are no text become question marks")
    odd = os.path.join(os.fsencode(folder), b"plain\xae")
    shutil.copy(PLAIN, odd)
    got = subprocess.run([odd], cwd=folder, env={**os.environ, "OPENCL_LAYERS": LAYER, "WEFT_PROFILE": "odd.json", "WEFT_PROFILE_TRACE": "odd.trace"},
                         check=False, timeout=300, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with open(os.path.join(folder, "odd.json"), encoding="utf-8") as file, open(os.path.join(folder, "odd.trace"), encoding="utf-8") as trace:
        names = [e["args"]["name"] for e in json.load(trace)["traceEvents"] if e["name"] == "process_name"]
        ok(got.returncode == 0 and json.load(file)["program"] == "plain?" and names == ["plain?"], "so do those of a program's name", got, names)
    os.remove(odd)
    for bad in ("0", "-3", "5x", "99999999999999999999"):
        code, out, err = run(folder, OPENCL_LAYERS=LAYER, WEFT_PROFILE="bad.json", WEFT_PROFILE_LIMIT=bad)
        ok((code, out) == plain[:2] and err.count("\n") == 1 and f'"{bad}"' in err, f"a limit of {bad} is said", err)
    test_busy(folder)


def test_full(folder):
    """A record that does not fit leaves the one before as it is; so does a program that a signal ends."""
    old, before = os.path.join(folder, "old.html"), sorted(os.listdir(folder))
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
    subprocess.run([PLAIN], cwd=folder, check=False, timeout=300, stdout=subprocess.DEVNULL) # PoCL writes what it compiles
    for number in (0, signal.SIGXFSZ):
        with open(old, "w", encoding="utf-8") as file:
            file.write("old record\n")
        got = subprocess.run([PLAIN], cwd=folder, text=True, check=False, timeout=300, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env={**os.environ, "OPENCL_LAYERS": LAYER, "WEFT_PROFILE": "", "WEFT_PROFILE_HTML": old}, preexec_fn=limit if not number else
                             lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT)))
        with open(old, encoding="utf-8") as file:
            text = file.read()
        said = "libweft-profile: " + old + " cannot be written: File too large\n"
        ok(text == "old record\n" and sorted(os.listdir(folder)) == sorted([*before, "old.html"]) and
           (got.returncode == -number or not number and said in got.stderr), # PoCL may fail with less than it needs
           f"a full disk leaves the record before{', also where the signal of it ends the program' if number else ''}",
           got.returncode, got.stderr, text[:80], os.listdir(folder))
    os.remove(old)


def test_busy(folder):
    """Threads that go on while the program ends; a locale with a comma before the decimals, where it can be made."""
    env = {**os.environ, "OPENCL_LAYERS": LAYER, "WEFT_PROFILE": "busy.json", "WEFT_PROFILE_TRACE": "busy-trace.json",
           "WEFT_PROFILE_LIMIT": "2000"}
    source = os.path.join(folder, "comma.txt")
    with open(source, "w", encoding="ascii") as file:
        file.write('LC_NUMERIC\ndecimal_point ","\nthousands_sep ""\ngrouping -1\nEND LC_NUMERIC\n')
    if shutil.which("localedef"):  # of all else in a locale it takes the default, and says so by its status
        subprocess.run(["localedef", "-c", "-f", "ANSI_X3.4-1968", "-i", source, os.path.join(folder, "comma")],
                       check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        env.update(LOCPATH=folder, LC_ALL="comma")
    got = subprocess.run([BUSY], cwd=folder, env=env, text=True, check=False, timeout=300, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    if not ok(got.returncode == 0 and not got.stderr, "a program that ends in the midst of calls", got.returncode,
              got.stderr):
        return
    with open(os.path.join(folder, "busy.json"), encoding="utf-8") as file:
        document = json.load(file)
    ok(not schema.document_wrong(document) and len(document["runs"][0]["queues"]) == 2, "its record is as documented",
       schema.document_wrong(document))
    with open(os.path.join(folder, "busy-trace.json"), encoding="utf-8") as file:
        try:
            wrong = schema.trace_wrong(json.load(file))
        except ValueError as error:
            wrong = str(error)
    ok(not wrong, "its trace is as Chrome's format wants it", wrong)
    if "0,5" not in got.stdout:
        skip("no locale with a comma before the decimals: %s" % got.stdout.strip())


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
sys.exit(done())
