#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cupy_marks.py: weft from Python against CuPy on a GPU, from host memory to host memory.

usage: cupy_marks.py [options]
  --entries LIST   entries of the uniform square matrices, 20 a row (default: 1M,10M)
  -t, --type LIST  of f32, f64 (default: both)
  --runs N         calls of each for a median, beside those whose results are compared (default: 9)
  -d, --device D   weft's device, as weft.Context takes it (default: its default device, a GPU where there is one)
  --json FILE      the rows, and what ran

  transpose  weft.transpose(a); CuPy: csr_matrix(a) to the GPU, .T.tocsr(), .get() back
  product    A @ x with A on the GPU: x goes there, y comes back
  first      the same with the copy of A, and weft's checks and plan

Calls of both take turns. Every result of a pair's first call is compared with scipy's. Kernels are compiled by then, and CuPy has its
pools of memory. The package is found in a build folder with PYTHONPATH=build/bindings/python.
Exit status: 0 all results were right; 1 one was wrong; 2 bad usage or file; 3 there is no CuPy, no weft or no device.
"""
import json
import os
import platform
import statistics
import sys

sys.dont_write_bytecode = True
import reader  # noqa: E402
from reader import Failed  # noqa: E402

PER_ROW = 20
UNITS = {"k": 10**3, "M": 10**6}


def modules():
    """numpy, CuPy, its sparse matrices and weft; Failed with what is not there."""
    try:
        import numpy
        import cupy
        import cupyx.scipy.sparse as sparse
        cupy.cuda.runtime.getDeviceCount()
    except ImportError as why:
        raise Failed(f"no CuPy: {why}", 3) from why
    except Exception as why:  # CUDARuntimeError: of a module that may be missing
        raise Failed(f"CuPy has no device: {why}", 3) from why
    try:
        import weft
        weft.devices()
    except ImportError as why:
        raise Failed(f"no weft: {why}; PYTHONPATH=build/bindings/python names the one of a build folder", 3) from why
    except weft.WeftDeviceError as why:
        raise Failed(str(why), 3) from why
    return numpy, cupy, sparse, weft


def number(text):
    try:
        return int(text[:-1]) * UNITS[text[-1]] if text[-1:] in UNITS else int(text)
    except ValueError:
        raise Failed(f"--entries: {text!r} is no number") from None


def quartiles(times):
    return "{1:.3g} ({0:.3g} .. {2:.3g})".format(*statistics.quantiles(times, n=4))


def same_matrix(got, want, np):
    """The same pattern and values; entries of one place may have changed places, as CuPy leaves open."""
    return (got.shape == want.shape and got.dtype == want.dtype and np.array_equal(got.indptr, want.indptr) and
            np.array_equal(got.indices, want.indices) and (got.nnz == 0 or abs(got - want).max() <= 1e-6))


def calls(a, x, cupy, sparse, weft):
    """For each row of the table: its name, CuPy's call, weft's, scipy's."""
    there, ours = sparse.csr_matrix(a), weft.csr(a)
    return [
        ("transpose", lambda: sparse.csr_matrix(a).T.tocsr().get(), lambda: weft.transpose(a), lambda: a.T.tocsr()),
        ("product", lambda: cupy.asnumpy(there @ cupy.asarray(x)), lambda: ours @ x, lambda: a @ x),
        ("first", lambda: cupy.asnumpy(sparse.csr_matrix(a) @ cupy.asarray(x)), lambda: weft.csr(a) @ x, lambda: a @ x),
    ]


def rows(entries, dtype, runs, found, wrong):
    """The rows of one matrix."""
    np, cupy, sparse, weft = found
    import scipy_marks
    a = scipy_marks.uniform(max(1, entries // PER_ROW), entries, dtype)
    x = np.random.default_rng(2).random(a.shape[1]).astype(dtype)
    name = {"f": "f32", "d": "f64"}[dtype]
    for what, theirs, ours, judge in calls(a, x, cupy, sparse, weft):
        want = judge()
        for who, call in (("CuPy", theirs), ("weft", ours)):
            got = call()
            right = same_matrix(got, want, np) if what == "transpose" else np.allclose(got, want, rtol=1e-3 if dtype == "f" else 1e-9)
            if not right:
                wrong.append(f"{what} of {entries} entries, {name}: {who}")
        del got, want
        times = scipy_marks.race(theirs, ours, runs)
        yield {"what": what, "entries": entries, "type": name, "cupy_ms": times[0], "weft_ms": times[1],
               "times": statistics.median(times[0]) / statistics.median(times[1])}


def about(found):
    """What ran, as a dictionary."""
    import scipy
    np, cupy, _, weft = found
    device = weft.Context().device
    gpu = cupy.cuda.runtime.getDeviceProperties(0)["name"]
    return {"device": device.name, "driver": device.driver, "cupy_device": gpu.decode() if isinstance(gpu, bytes) else gpu,
            "cuda": cupy.cuda.runtime.runtimeGetVersion(), "cupy": cupy.__version__, "weft": weft.__version__,
            "numpy": np.__version__, "scipy": scipy.__version__, "python": platform.python_version(), "cores": os.cpu_count(),
            "load": os.getloadavg()[0]}


def main():
    options = reader.Options(__doc__)
    options.add_argument("--entries", default="1M,10M")
    options.add_argument("-t", "--type", default="f32,f64")
    options.add_argument("--runs", type=int, default=9)
    options.add_argument("-d", "--device")
    options.add_argument("--json")
    arguments = options.parse_args()
    sizes = [number(text) for text in arguments.entries.split(",")]
    types = arguments.type.split(",")
    if not set(types) <= {"f32", "f64"}:
        raise Failed("--type: f32, f64 or both")
    if arguments.runs < 2:
        raise Failed("--runs: at least 2")
    reader.outputs_check(json=arguments.json)
    found = modules()
    device = int(arguments.device) if (arguments.device or "").isdigit() else arguments.device
    with found[3].Context(device) as context:
        return table(sizes, types, arguments, found, context)


def table(sizes, types, arguments, found, context):
    what = about(found)
    what["device"], what["driver"] = context.device.name, context.device.driver
    print(", ".join(f"{key} {value}" for key, value in what.items()))
    print(f"medians of {arguments.runs} runs and quartiles, ms\n")
    print("| what | entries | type | CuPy | weft | times as fast |\n|---|---|---|---|---|---|")
    kept, wrong = [], []
    for entries in sizes:
        for dtype in types:
            for row in rows(entries, {"f32": "f", "f64": "d"}[dtype], arguments.runs, found, wrong):
                kept.append(row)
                print(f"| {row['what']} | {entries} | {dtype} | {quartiles(row['cupy_ms'])} | {quartiles(row['weft_ms'])} | "
                      f"{row['times']:.2f} |", flush=True)
    for line in wrong:
        print(f"WRONG: {line}")
    if arguments.json:
        reader.write(arguments.json, json.dumps({**what, "runs": arguments.runs, "rows": kept, "wrong": wrong}, indent=1) + "\n")
    return 1 if wrong else 0


reader.end("cupy_marks", main)
