#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""strict.py WEFT_BENCH LAYER FOLDER: weft-bench --profile before a driver that looks like NVIDIA's (strict.c), with the
stand-ins of NVML and CUPTI in FOLDER: no handle is used after its release, nothing is left, everything is told.

Output is TAP."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import schema  # noqa: E402
from tap import done, ok, skip  # noqa: E402

BENCH, LAYER, STANDINS = (os.path.abspath(path) for path in sys.argv[1:4])


def bench(*args):
    # Without a cache, so that no program is made of a binary but by the recorder.
    env = {**os.environ, "OPENCL_LAYERS": LAYER, "LD_LIBRARY_PATH": STANDINS, "WEFT_COUNTERS": "dram",
           "XDG_CACHE_HOME": "/dev/null/none"}
    got = subprocess.run([BENCH, *args], env=env, text=True, check=False, timeout=300, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return got.returncode, got.stdout, got.stderr


def main(folder):
    code, out, _ = bench("--list")
    if code:
        skip("no OpenCL device")
        return
    if " GPU " not in out:
        skip("this loader takes no layers")
        return
    name = lambda end: os.path.join(folder, "x" + end)  # noqa: E731
    code, out, err = bench("--profile", "--no-roof", "-o", "spmv", "-b", "opencl", "-a", "csr,csr_private,ell", "--reps", "2",
                           "--overhead", "--json", name(".json"), "--csv", name(".csv"), "--trace", name(".trace"), "--html",
                           name(".html"), "3000", "2000", "40000")
    if not ok(code == 0 and not err, "nothing dead is used, nothing is left", code, err):
        return
    ok("nan" not in out and "32 registers, 0 bytes local\n" in out and "64 warps" in out, "the table says what is known, and no more", out)
    with open(name(".json"), encoding="utf-8") as file:
        document = json.load(file)
    with open(name(".trace"), encoding="utf-8") as file:
        trace = json.load(file)
    wrong = schema.document_wrong(document) or schema.trace_wrong(trace)
    ok(not wrong and len(document["runs"]) == 3, "the record and the trace are as documented", wrong)
    kernels = [(r["algo"], k) for r in document["runs"] for k in r["kernels"]]
    ok({k["phase"] for _, k in kernels} == {"kernel", "analyse"} and
       all(k.get("registers") == 32 and ("reason" if k["name"] == "fill" else "model") in k["occupancy"] for _, k in kernels),
       "registers and occupancy of every kernel, also of an analysis", [(a, k["name"], k.get("registers")) for a, k in kernels])
    ok(min(s for _, k in kernels for s in k["queue_us"]["samples"] + k["submit_us"]["samples"]) >= 0,
       "clocks that are apart give no negative waits")
    ok(all(r["clock"]["method"] == "markers" and not r["clock"]["contradicts"] for r in document["runs"]),
       "a timer that is not there is not asked, microseconds do not contradict", [r["clock"] for r in document["runs"]])
    items = document["runs"][0]["counters"]["items"]
    ok(items["dram_read"].get("value", 0) > 0 and items["power"].get("value", 0) > 0, "counters of NVML and CUPTI", items)


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
sys.exit(done())
