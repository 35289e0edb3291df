# SPDX-License-Identifier: Apache-2.0
"""Matrices that the tests of the Python package draw, and how they compare them. Import it after common.begin."""
import os

import numpy as np
import scipy.sparse as sp

RNG = np.random.default_rng(int(os.environ.get("WEFT_SEED", "1")))
TYPES = "?bBhHiIlLqQfdgFDG"


def matrix(m=60, n=40, count=300, dtype="d", duplicates=True, kind=sp.csr_array):
    """Random coordinates in CSR, columns of a row in any order, some twice."""
    row, col = RNG.integers(0, m, count), RNG.integers(0, n, count)
    order = np.argsort(row, kind="stable")
    row, col = row[order], col[order]
    indptr = np.searchsorted(row, np.arange(m + 1)).astype(np.int32)
    return values(kind, (indptr, col.astype(np.int32)), (m, n), dtype, duplicates)


def numbers(count, dtype):
    whole = RNG.integers(0, 2 if dtype == "?" else 9, count)
    if dtype in "FDG":
        return (whole + 1j * RNG.integers(0, 9, count)).astype(dtype)
    return whole.astype(dtype)


def values(kind, pattern, shape, dtype, duplicates):
    a = kind((numbers(len(pattern[1]), dtype), pattern[1], pattern[0]), shape=shape)
    if not duplicates:
        a.sum_duplicates()
    return a


def same(a, b):
    """Class, type, shape, arrays; the numbers here are whole and none is NaN."""
    return (type(a) is type(b) and a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a.indptr, b.indptr) and
            np.array_equal(a.indices, b.indices) and np.array_equal(a.data, b.data))


def raises(call):
    """The exception that a call ends with, else None."""
    try:
        call()
    except Exception as why:
        return why
    return None
