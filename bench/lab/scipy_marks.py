#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scipy_marks.py [--rows 500000] [--entries 10000000] [--runs 11]: weft from Python against scipy.

A uniform random square matrix, f32 and f64. Transposition is weft.transpose(a) against a.T.tocsr(), both from a scipy matrix to
a scipy matrix. The product is A @ x with the plan that the matrix keeps; `first` makes the matrix, checks it and plans as well,
with kernels in the cache. Calls of both take turns, results are compared, and the load of the machine stands above the table.
A mark holds where the ratio of medians is reached; the marks are those of docs/results/python.md.
"""
import argparse
import os
import statistics
import sys
import time

sys.dont_write_bytecode = True
import reader  # noqa: E402

ABSENT = None
try:
    import numpy as np
    import scipy
    import scipy.sparse as sp
    import weft
except ImportError as why:
    ABSENT = why

MARKS = {("transpose", "f"): 4.5, ("transpose", "d"): 4.0, ("product", "f"): 1.7, ("product", "d"): 1.7,
         ("first", "f"): 0.5, ("first", "d"): 0.5}


def uniform(rows, entries, dtype, seed=1):
    """Rows of Poisson lengths, columns anywhere, sorted within a row."""
    rng = np.random.default_rng(seed)
    place = rng.integers(0, rows * rows, entries)
    place.sort()
    indptr = np.searchsorted(place, np.arange(rows + 1, dtype=np.int64) * rows).astype(np.int32)
    return sp.csr_matrix((rng.random(entries).astype(dtype), (place % rows).astype(np.int32), indptr), shape=(rows, rows))


def timed(call):
    start = time.perf_counter()
    result = call()
    return (time.perf_counter() - start) * 1e3, result


def race(theirs, ours, runs):
    """Times in ms of two calls that take turns, and their last results."""
    times = [], []
    for _ in range(runs):
        for which, call in enumerate((theirs, ours)):
            ms, last = timed(call)
            times[which].append(ms)
            del last
    return times


def quartiles(times):
    low, middle, high = statistics.quantiles(times, n=4)
    return f"{middle:.1f} ({low:.1f} .. {high:.1f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--entries", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=11)
    args = parser.parse_args()
    if ABSENT:
        raise reader.Failed(f"{ABSENT}: it needs numpy, scipy and weft (PYTHONPATH=build/bindings/python of a build folder)", 3)
    device = weft.Context().device
    print(f"{device.name}, {device.compute_units} units, {device.platform} {device.driver}; weft {weft.__version__}, numpy "
          f"{np.__version__}, scipy {scipy.__version__}; load {os.getloadavg()[0]:.2f} of {os.cpu_count()}")
    print(f"{args.rows} x {args.rows}, {args.entries} entries, uniform; medians of {args.runs} runs and quartiles, ms\n")
    print("| what | type | scipy | weft | times as fast | mark |\n|---|---|---|---|---|---|")
    reached = True
    for dtype in "fd":
        a = uniform(args.rows, args.entries, dtype)
        x = np.random.default_rng(2).random(args.rows).astype(dtype)
        want, got = a.T.tocsr(), weft.transpose(a)  # kernels are compiled, results compared
        assert np.array_equal(want.indptr, got.indptr) and np.array_equal(want.indices, got.indices)
        assert np.array_equal(want.data, got.data)
        A = weft.csr(a)
        assert np.allclose(A @ x, a @ x, rtol=1e-3 if dtype == "f" else 1e-9)
        del want, got
        races = {
            "transpose": race(lambda: a.T.tocsr(), lambda: weft.transpose(a), args.runs),
            "product": race(lambda: a @ x, lambda: A @ x, args.runs),
            "first": race(lambda: a @ x, lambda: weft.csr(a) @ x, args.runs),
        }
        for what, (theirs, ours) in races.items():
            ratio = statistics.median(theirs) / statistics.median(ours)
            mark = MARKS[what, dtype]
            reached &= ratio >= mark
            print(f"| {what} | {np.dtype(dtype).name} | {quartiles(theirs)} | {quartiles(ours)} | {ratio:.2f} | "
                  f"{mark} {'reached' if ratio >= mark else 'missed'} |")
    return 0 if reached else 1


if __name__ == "__main__":
    reader.end("scipy_marks.py", main)
