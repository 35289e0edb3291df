#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""changes.py BUILT ROOT: matrices of the Python package in BUILT whose arrays change, their plans and transposes. TAP."""
import dataclasses
import gc
import os
import sys
import warnings
import weakref

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import begin, done, ok  # noqa: E402

weft = begin(sys.argv[1])

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402
from matrices import RNG, matrix, raises, same  # noqa: E402

warnings.simplefilter("ignore")


def agrees(w, a):
    """Do products, transposes and arrays say the same as scipy's?"""
    x, z = RNG.random(a.shape[1]), RNG.random(a.shape[0])
    return (np.allclose(w @ x, a @ x) and np.allclose(z @ w, z @ a) and np.allclose(w.T @ z, a.T @ z) and
            np.allclose(w.tocsc().toarray(), a.toarray()) and w.nnz == w.T.nnz == a.nnz and w.dtype == a.dtype)


# ---- structure -----------------------------------------------------------------------------------------------------


def test_structure():
    x, bad = RNG.random(40), []
    for dtype in "dD": # scipy adds up duplicates in place; its arrays are those of weft.csr too
        a = matrix(dtype=dtype)
        want = a @ x
        w = weft.csr(a)
        p = w.plan() if dtype == "d" else w
        w @ x
        a.sum_duplicates()
        if not (np.allclose(p @ x, want) and np.allclose(w @ x, want) and w.nnz == a.nnz and same(w.tocsc(), a.tocsc())):
            bad.append(dtype)
        w = weft.csr(matrix(dtype=dtype))
        want = w.toscipy() @ x
        w.toscipy().sum_duplicates()
        if not np.allclose(w.T.T @ x, want) or not w.has_canonical_format:
            bad.append(dtype + " before a product")
    ok(not bad, "duplicates that scipy adds up in place", bad)
    for shape in ((30, 40), (60, 50), (70, 40)):
        a = matrix()
        w = weft.csr(a)
        a.resize(shape)
        why = raises(lambda: w @ x)
        ok(isinstance(why, ValueError) and "resized" in str(why), f"a matrix that was resized: {why}", repr(why))
    for name, change, kind in (("indptr", lambda p: p[:-3], ValueError), ("indptr", lambda p: p[:0], ValueError),
                               ("indptr", lambda p: p.astype("d"), TypeError), ("indices", lambda p: p + 0.5, TypeError),
                               ("indices", lambda p: np.stack([p, p], 1), ValueError)):
        a = matrix()
        setattr(a, name, change(getattr(a, name)))
        for call in (weft.csr, weft.transpose):
            why = raises(lambda: call(a))
            ok(isinstance(why, kind), f"{name} that is none: {why}", repr(why))


def test_assigned():
    a = matrix(duplicates=False)
    w, x = weft.csr(a), np.ones(60)
    t, p = w.T, w.plan(1000)
    was = t @ x
    a[7, 9] = 50.0
    ok(agrees(w, a) and np.allclose(t @ x, a.T @ x) and np.allclose(p @ np.ones(40), a @ np.ones(40)) and
       not np.allclose(t @ x, was), "an entry more: the matrix, its transpose and its plan follow")
    a.data[:5] = 0
    a.eliminate_zeros()
    ok(np.allclose(t @ x, a.T @ x) and t.nnz == a.nnz and agrees(w, a), "entries less: the transpose is asked first")
    a.resize((60, 41))
    ok(isinstance(raises(lambda: t @ x), ValueError), "the transpose of a matrix that was resized")


# ---- update --------------------------------------------------------------------------------------------------------


def changed(make, change):
    """A matrix after its arrays changed: does it agree with scipy's after update()?"""
    a = make()
    w = weft.csr(a)
    agrees(w, a)
    change(a)
    w.update()
    return agrees(w, a) and w.toscipy() is a


def strided():
    a = matrix()
    a.data = np.stack([a.data, a.data], 1)[:, 0]
    return a


def swapped():
    a = matrix()
    a.data = a.data.astype(">f8")
    return a


def wide():
    a = matrix()
    a.indices, a.indptr = a.indices.astype(np.int64), a.indptr.astype(np.int64)
    return a


def test_sorted():
    x = np.ones(40) + np.arange(40)
    for make in (matrix, strided, swapped, wide):
        a = make()
        w = weft.csr(a)
        want, p, t = a @ x, w.plan(1000), w.T
        products = [w @ x, p @ x, t @ np.ones(60)]
        a.sort_indices()
        ok(np.allclose(products[0], want) and np.allclose(w @ x, want) and np.allclose(p @ x, want) and w.has_sorted_indices and
           np.allclose(t @ np.ones(60), products[2]) and np.array_equal(w.indices, a.indices), f"scipy sorts in place, {make.__name__}")
        now = w._there()
        ok(a.has_sorted_indices and w._there() is now and p @ x is not None and p._prepared.made_of() is now, "and that is all")


def test_update():
    def scale(a):
        a.data *= 3

    def replace(a):
        a.data = a.data * 3

    def retype(a):
        a.data = (a.data * 3).astype("f")

    def move(a):
        a.indices[:] = a.indices[::-1].copy()

    for make in (matrix, strided, swapped, wide, lambda: matrix(dtype="b"), lambda: matrix(dtype="D"), lambda: matrix(dtype="l")):
        for change in (scale, replace, move) + ((retype,) if make is matrix else ()):
            ok(changed(make, change), f"update after {change.__name__}, {make.__name__} {make().dtype}")
    for make in (matrix, strided, swapped):
        a = make()
        w = weft.csr(a)
        w.data[:] *= 10
        w.update()
        ok(agrees(w, a), f"values that are changed through the matrix, {make.__name__}")
    w = weft.csr(matrix())
    w.sum_duplicates()
    w.data[:] *= 2
    w.update()
    ok(agrees(w, w.toscipy()), "arrays of the matrix's own")


def test_checked():
    x = np.ones(40)
    for make in (matrix, wide):
        a = make()
        w = weft.csr(a)
        t, p = w.T, w.plan(1000)
        for use in (w.__matmul__, p.__matmul__):
            use(x)
        t @ np.ones(60)
        was = a.indices[5]
        a.indices[5] = 1500000000
        for what, call in (("update()", w.update), ("a product", lambda: w @ x), ("a plan", lambda: p @ x),
                           ("a transpose", lambda: t @ np.ones(60)), ("tocsc()", w.tocsc)):
            why = raises(call)
            ok(isinstance(why, weft.WeftValueError) and "1500000000" in str(why), f"a column out of range, {what}: {why}", repr(why))
        a.indices[5] = was
        ok(agrees(w, a) and np.allclose(p @ x, a @ x) and np.allclose(t @ np.ones(60), a.T @ np.ones(60)), "and in range again")
        a.indptr[3], a.indptr[4] = a.nnz, 0
        ok(isinstance(raises(w.update), weft.WeftValueError), "row pointers that descend")
        a.indptr = a.indptr[:-2]
        ok(isinstance(raises(w.update), ValueError), "row pointers too few")


# ---- plans and transposes that are held ------------------------------------------------------------------------------------


def formats():
    n = 3000
    ones = np.ones(n)
    yield sp.diags([ones[1:], 2 * ones, ones[1:]], [-1, 0, 1]).tocsr()
    yield sp.csr_matrix(sp.random(n, n, 0.003, "csr", random_state=0) + sp.eye(n))
    yield matrix(n, n, 60000, "d", duplicates=False)
    yield matrix(n, n, 60000, "f", duplicates=False)
    yield matrix(n, n, 60000, "i", duplicates=False)
    yield sp.vstack([sp.csr_matrix(np.ones((1, n))), sp.eye(n - 1, n)]).tocsr()
    yield sp.csr_matrix(np.ones((300, 200)))


def held(a, reproducible):
    """The algorithm of a plan that is held while values and columns change, and what went wrong."""
    w = weft.csr(a)
    x, z = np.ones(a.shape[1], a.dtype), np.ones(a.shape[0], a.dtype)
    p, t = w.plan(100000, reproducible=reproducible), w.T
    q = t.plan(100000)
    name, bad = p.info["algorithm"], []
    for _ in range(2):
        for change in (lambda: np.multiply(a.data, 3, a.data), lambda: np.copyto(a.indices, a.shape[1] - 1 - a.indices),
                       lambda: setattr(a, "data", a.data + 1)):
            for first, second in ((p, a @ x), (t, a.T @ z), (q, a.T @ z)):
                if not np.allclose(first @ (x if first is p else z), second, rtol=1e-4):
                    bad.append((type(first).__name__, "before"))
            change()
            w.update()
            for first, second in ((p, a @ x), (w, a @ x), (q, a.T @ z), (t, a.T @ z)):
                if not np.allclose(first @ (x if first in (p, w) else z), second, rtol=1e-4):
                    bad.append((type(first).__name__, "after"))
    if p.info["algorithm"] != name and reproducible or w.T is not t or t.T is not w:
        bad.append((name, p.info["algorithm"]))
    return name, bad


def test_held():
    seen, owner = set(), weft._context.current()._own()
    was, shares = owner.device, owner.shares
    for where in ("here", "through copies", "another memory"):
        owner.device = was if where != "another memory" else dataclasses.replace(was, unified=False)
        owner.shares = shares if where != "through copies" else lambda array: False
        for a in formats():
            for reproducible in (False, True):
                name, bad = held(a.copy(), reproducible)
                seen.add(name)
                ok(not bad, f"a plan of {name} and transposes that are held, {where}", bad)
    owner.device, owner.shares = was, shares
    ok(len(seen) > 2, f"algorithms: {', '.join(sorted(seen))}")
    a = matrix()
    w = weft.csr(a)
    p, t = w.plan(), w.T
    w.sum_duplicates()
    x = np.ones(40)
    ok(p._matrix is w and np.allclose(p @ x, a @ x) and t.nnz == w.nnz and p.info["longest_row"] == np.diff(w.indptr).max(),
       "after sum_duplicates()")


def test_transposes():
    a = matrix(duplicates=False)
    w, z = weft.csr(a), np.ones(60)
    t = w.T
    before = t @ z
    t.data[:] *= 2
    t.update()
    ok(np.allclose(t @ z, 2 * before) and np.allclose(w.T @ z, before) and w.T is not t and np.allclose(t.T @ np.ones(40), 2 * (a @ np.ones(40))),
       "a transpose that is changed itself is one no longer")
    a.data *= 3
    w.update()
    ok(np.allclose(t @ z, 2 * before) and np.allclose(w.T @ z, 3 * before), "and does not follow")
    s = w.T.toscipy()
    s.data[:7] = 0
    held_t = w.T
    s.eliminate_zeros()
    ok(held_t.nnz == s.nnz and np.allclose(held_t @ z, s @ z) and w.nnz == a.nnz and np.allclose(w.T @ z, a.T @ z),
       "nor does one whose scipy matrix is changed")
    t = weft.csr(matrix()).T
    want = t.T.toscipy().T @ z
    gc.collect()
    ok(np.allclose(t @ z, want) and np.allclose(t @ z, want), "a transpose outlives its matrix")
    gc.disable()
    for what, use in (("asked for", lambda w: w.T), ("used", lambda w: w.T @ z), ("multiplied from the left", lambda w: z @ w),
                      ("a plan's", lambda w: w.plan(1000) @ np.ones(40)), ("complex", lambda w: w @ (1j * np.ones(40)))):
        w = weft.csr(matrix(dtype="D" if what == "complex" else "d"))
        use(w)
        dead = weakref.ref(w), weakref.ref(w._there())
        del w
        ok(dead[0]() is None and dead[1]() is None, f"a matrix goes without the collector: {what}")
    gc.enable()
    w = weft.csr(matrix())
    w.T @ z
    ok(w.T is w.T and w._transposed is w.T, "a transpose is kept")


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
sys.exit(done())
