#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""package.py BUILT ROOT: the Python package in BUILT against scipy: types, shapes, errors, flags, memory, threads. TAP."""
import copy
import dataclasses
import gc
import os
import pickle
import re
import sys
import tempfile
import threading
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import alone, begin, done, ok, skip  # noqa: E402

BUILT, ROOT = sys.argv[1:3]
weft = begin(BUILT)

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402
import scipy.sparse.linalg as la  # noqa: E402

from matrices import RNG, TYPES, matrix, numbers, raises, same  # noqa: E402

warnings.simplefilter("ignore")


# ---- every public function -----------------------------------------------------------------------------------------


def test_functions():
    from weft import _c
    names = set()
    folder = os.path.join(ROOT, "host/include/weft")
    for name in os.listdir(folder):
        if name.endswith(".h"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                names |= set(re.findall(r"^WEFT_API[^;{}]*?\b(weft_\w+)\(", file.read(), re.M))
    missing = sorted(name for name in names if not hasattr(_c.lib, name))
    ok(len(names) > 60 and not missing, f"{len(names)} public functions can be called", missing)


# ---- transposition -------------------------------------------------------------------------------------------------


def test_transpose():
    bad = []
    for kind in (sp.csr_array, sp.csr_matrix):
        for dtype in TYPES:
            a = matrix(dtype=dtype, kind=kind)
            if not same(weft.transpose(a), a.T.tocsr()):
                bad.append((kind.__name__, dtype))
            c = a.tocsc()
            if not same(weft.transpose(c), c.T.tocsc()):
                bad.append((kind.__name__, dtype, "csc"))
            if not same(weft.csr(a).tocsc(), a.tocsc()):
                bad.append((kind.__name__, dtype, "tocsc"))
    ok(not bad, f"transposes of {len(TYPES)} types, arrays and matrices, are scipy's", bad)
    bad = []
    for m, n, count in ((0, 0, 0), (0, 5, 0), (5, 0, 0), (7, 9, 0), (1, 1, 1), (1, 500, 90), (500, 1, 90), (3, 4, 5000)):
        a = matrix(m or 1, n or 1, count)[:m, :n] if not m * n else matrix(m, n, count)
        a = sp.csr_array(a)
        if not same(weft.transpose(a), a.T.tocsr()):
            bad.append((m, n, count))
    ok(not bad, "transposes of shapes at the edge", bad)
    a = matrix()
    for name in ("coo", "lil", "dok", "bsr", "dia"):
        b = getattr(a, "to" + name)()
        t = weft.transpose(b)
        ok(t.format == "csr" and (t != b.T.tocsr()).nnz == 0, f"transpose of {name} is CSR")
    ok(isinstance(raises(lambda: weft.transpose(np.eye(3))), TypeError), "a dense matrix is a TypeError")


def test_flags():
    a = matrix()
    t = weft.transpose(a)
    ok(t.has_sorted_indices, "a transpose is sorted")
    ok(not t.has_canonical_format, "duplicates are seen in the transpose", t.has_canonical_format)
    b = matrix(duplicates=False)
    ok(weft.transpose(b).has_canonical_format and weft.csr(b).T.has_canonical_format and weft.csr(b).has_canonical_format,
       "without duplicates it is canonical")
    w = weft.csr(a)
    ok(w.has_sorted_indices == bool(sp.csr_array((a.data, a.indices, a.indptr), a.shape).has_sorted_indices) and
       not w.has_canonical_format, "flags are those of scipy")
    before = a.copy()
    w.sum_duplicates()
    c = a.copy()
    c.sum_duplicates()
    ok(same(w.toscipy(), c) and w.has_canonical_format and same(a, before), "sum_duplicates is scipy's, the input stays")
    bad = []
    for dtype in TYPES:
        b = matrix(dtype=dtype)
        summed, want = weft.csr(b.copy()), b.copy()
        summed.sum_duplicates()
        want.sum_duplicates()
        if not same(summed.toscipy(), want) or summed.nnz == b.nnz:
            bad.append(dtype)
    ok(not bad, f"sum_duplicates of {len(TYPES)} types is scipy's", bad)
    w = weft.csr(before.copy())
    w.sort_indices()
    ok(w.has_sorted_indices and (w.toscipy() != c).nnz == 0 and w.nnz == before.nnz, "sort_indices keeps duplicates")


def test_indices():
    a = matrix()
    wide = sp.csr_array(a)
    wide.indices, wide.indptr = a.indices.astype(np.int64), a.indptr.astype(np.int64)
    t = weft.transpose(wide)
    ok(t.indices.dtype == np.int32 and (t != a.T.tocsr()).nnz == 0, "64-bit indices are narrowed")
    ok(np.array_equal(weft.csr(wide) @ np.ones(40), a @ np.ones(40)), "a product with 64-bit indices")
    for what, change in (("a column of 2^32", 2**32), ("a column below 0", -1), ("a column of n", 40)):
        wide.indices = a.indices.astype(np.int64)
        wide.indices[7] = change
        why = raises(lambda: weft.transpose(wide))
        ok(isinstance(why, ValueError), f"{what} is a ValueError: {why}")
        ok(isinstance(raises(lambda: weft.csr(wide)), ValueError), f"{what}: so it is for weft.csr")
    bad = a.copy()
    bad.indptr[3] = 200
    bad.indptr[4] = 100
    ok(isinstance(raises(lambda: weft.csr(bad)), weft.WeftValueError), "row pointers that descend are refused")


# ---- products ------------------------------------------------------------------------------------------------------


def test_products():
    bad = []
    for kind in (sp.csr_array, sp.csr_matrix):
        for ta in TYPES:
            a = matrix(dtype=ta, kind=kind)
            w = weft.csr(a)
            for tx in TYPES:
                x = numbers(40, tx)
                want, got = a @ x, w @ x
                if want.dtype != got.dtype or want.shape != got.shape or not np.allclose(want, got):
                    bad.append((kind.__name__, ta, tx, want.dtype, got.dtype))
    ok(not bad, f"products of {len(TYPES)}^2 pairs of types, arrays and matrices", bad[:5])
    a = matrix()
    w = weft.csr(a)
    for x in (np.ones((40, 1)), np.ones((40, 3)), np.asfortranarray(RNG.random((40, 5))), RNG.random((40, 6))[:, ::2],
              RNG.random(80)[::2], np.ones((40, 0)), [1.0] * 40, np.matrix(np.ones((40, 2))), np.ones(40, ">f8")):
        want, got = a @ x, w @ x
        ok(type(want) is type(got) and want.shape == got.shape and want.dtype == got.dtype and np.allclose(want, got),
           f"A @ {type(x).__name__} {np.shape(x)}", type(want), type(got), want.dtype, got.dtype)
    for dtype in "bfdFD": # more columns than go at a time
        for x in (numbers(40 * 37, dtype).reshape(40, 37), numbers(40 * 37, dtype).reshape(37, 40).T):
            want, got = a @ x, w @ x
            ok(want.dtype == got.dtype and got.flags.c_contiguous and np.allclose(want, got), f"A @ X of 37 columns of {dtype}")
    left = RNG.random((3, 60))
    ok(np.allclose(left @ w, left @ a) and np.allclose(np.ones(60) @ w, np.ones(60) @ a), "x @ A, X @ A")
    ok(np.allclose(w.T @ np.ones(60), a.T @ np.ones(60)) and w.T.T is w, "A.T @ x, A.T.T is A")
    ok((w @ sp.eye(40, format="csr") != a).nnz == 0, "A @ B for a sparse B is scipy's")
    for name in ("csr", "csc", "coo"):
        left = matrix(30, 60).asformat(name)
        want, got = left @ a, raises(lambda: left @ w) or left @ w
        ok(type(want) is type(got) and (want != got).nnz == 0, f"B @ A for a sparse B in {name} is scipy's", repr(got))
    ok((w.dot(2.0).toscipy() != a * 2).nnz == 0, "A.dot(number)")
    for bad_x in (np.ones(39), np.ones((39, 2)), np.ones((40, 2, 2))):
        want, got = raises(lambda: a @ bad_x), raises(lambda: w @ bad_x)
        ok(type(want) is type(got) and str(want) == str(got), f"A @ {np.shape(bad_x)}: {got}", repr(want), repr(got))
    x = tuple(range(40))
    ok(np.array_equal(w @ x, a @ x) and np.array_equal((1,) * 60 @ w, (1,) * 60 @ a), "tuples are vectors")
    for call in (lambda x: w @ x, lambda x: x @ w, w.plan().__matmul__):
        for number in (3.0, np.float64(2), 2**70, np.array(3)):
            why = raises(lambda: call(number))
            ok(isinstance(why, ValueError) and "A.dot(2.0)" in str(why), f"a number is a ValueError: {why}", repr(why))
        for what in (None, "abc", b"abc", {}):
            why = raises(lambda: call(what))
            ok(isinstance(why, TypeError) and type(what).__name__ in str(why), f"{what!r} is a TypeError: {why}", repr(why))
    e = weft.csr(sp.csr_array((5, 7)))
    ok(np.array_equal(e @ np.ones(7), np.zeros(5)) and np.array_equal(e.T @ np.ones(5), np.zeros(7)), "no entries")
    small = sp.csr_array(np.array([[100, 100], [0, 1]], np.int8))
    ok(np.array_equal(weft.csr(small) @ np.array([2, 2], np.int8), small @ np.array([2, 2], np.int8)), "int8 wraps alike")


def test_plans():
    a = matrix(500, 400, 9000, "f", duplicates=False)
    w = weft.csr(a)
    x = RNG.random(400).astype("f")
    p = w.plan(products=100000)
    ok(np.allclose(p @ x, a @ x, rtol=1e-5) and p.info["why"] and p.info["longest_row"] > 0, f"a plan: {p.info['why']}")
    ok(w._plan_for(w._where(), weft._c.F32) is p._prepared, "the matrix keeps it")
    ok((p @ x.astype("d")).dtype == np.float64, "a plan of f32 gives f64 for x in f64")
    first = w.plan(reproducible=True)
    ok(first.info["algorithm"] == "csr_fixed" and np.array_equal(first @ x, first @ x), "reproducible: csr_fixed")
    before = w @ x
    w.data[:] *= 2
    w.update()
    ok(np.allclose(w @ x, 2 * before, rtol=1e-5) and np.allclose(w.T @ np.ones(500, "f"), a.T @ np.ones(500, "f"), rtol=1e-4),
       "values that changed, after update()")
    with weft.csr(a) as inner:
        ok(np.allclose(inner @ x, a @ x, rtol=1e-5) and inner._there().plans, "a matrix in `with`")
    ok(not inner._there().plans and np.allclose(inner @ x, a @ x, rtol=1e-5), "its plans are gone, and it can be used")
    ok(isinstance(raises(lambda: weft.csr(matrix(dtype="D")).plan()), ValueError), "a plan of complex values is refused")
    ok(all(text in repr(p) for text in ("500 x 400", "float32", p.info["algorithm"], p._prepared.owner.device.name)), f"{p!r}")
    for products in (-1, 2**63, 2**64):
        why = raises(lambda: w.plan(products))
        ok(isinstance(why, ValueError) and str(products) in str(why), f"a plan for so many products: {why}", repr(why))


# ---- zero copy -----------------------------------------------------------------------------------------------------


def far(owner, a):
    """What runs on devices with memory of their own, as if this were one."""
    was = owner.device
    owner.device = dataclasses.replace(was, unified=False)
    for kind in (sp.csr_array, sp.csc_matrix):
        b = kind(a)
        ok(same(weft.transpose(b), b.T.asformat(b.format)), f"another memory: a transpose of {kind.__name__}")
    wide = sp.csr_array(a)
    wide.indptr = wide.indptr.astype(np.int64)
    for b in (a.astype("F"), a.astype("H"), wide, sp.csr_array((3, 5))):
        t = weft.transpose(b)
        ok((t != b.T.tocsr()).nnz == 0 and t.dtype == b.dtype, f"another memory: {b.dtype}, {b.nnz} entries, {b.indptr.dtype}")
    t = weft.transpose(a)
    data = t.data
    del t
    gc.collect()
    ok(np.array_equal(data, a.T.tocsr().data), "another memory: an array outlives its matrix")
    w, X = weft.csr(a), RNG.random((2000, 19))
    ok(all(np.allclose(w @ X[:, i], a @ X[:, i]) for i in range(3)) and np.allclose(w @ X, a @ X) and
       np.allclose(w.T @ np.ones(3000), a.T @ np.ones(3000)), "another memory: products by the buffers of a plan")
    bad = sp.csr_array(a)
    bad.indices = bad.indices.copy()
    bad.indices[7] = 2000
    ok(isinstance(raises(lambda: weft.transpose(bad)), weft.WeftValueError), "another memory: an index out of range is refused")
    owner.device = was
    ok(isinstance(raises(lambda: weft.transpose(bad)), weft.WeftValueError), "an index out of range is refused")


def test_memory():
    a = matrix(3000, 2000, 50000, "d", duplicates=False)
    w = weft.csr(a)
    ok(w.data is a.data or np.shares_memory(w.data, a.data), "the matrix has scipy's arrays")
    ok(np.shares_memory(w.indices, a.indices) and np.shares_memory(w.toscipy().data, a.data), "and gives them back")
    owner = weft._context.current()._own()
    if owner.device.unified and owner.cpu_kernels:
        calls = []
        real = owner.cl

        class Watch:
            def __getattr__(self, name):
                calls.append(name)
                return getattr(real, name)
        owner.cl = Watch()
        weft.transpose(a)
        y = w @ np.ones(2000)
        owner.cl = real
        ok(not [c for c in calls if "Read" in c or "Write" in c or "Copy" in c] and "clEnqueueMapBuffer" in calls,
           "nothing is copied where the device shares memory", calls)
        ok(np.allclose(y, a @ np.ones(2000)), "the result is in numpy's memory")
        was = owner.shares
        owner.shares = lambda array: False
        ok(same(weft.transpose(a), a.T.tocsr()), "a transpose through copies, as on other devices")
        ok(np.allclose(weft.csr(a) @ np.ones(2000), a @ np.ones(2000)), "a product through copies")
        owner.shares = was
        far(owner, a)
    else:
        skip("the device does not share memory")
    for offset in (1, 2, 3, 5, 8):
        x = np.ones(2000 + offset)[offset:]
        ok(np.allclose(w @ x, a @ x), f"x begins at element {offset} of an array")
    raw = np.frombuffer(bytes(2000 * 8 + 3), np.uint8)[3:][:16000].view("d") if False else np.ones(2000)
    crooked = np.zeros(2000 * 8 + 1, np.uint8)[1:].view("d")
    crooked[:] = raw
    ok(not crooked.flags.aligned and np.allclose(w @ crooked, a @ raw), "an array that is not aligned")
    for array in (a.data, a.indices, a.indptr, raw):
        array.setflags(write=False)
    ok(same(weft.transpose(a), a.T.tocsr()) and np.allclose(weft.csr(a) @ raw, a @ raw), "arrays that cannot be written")
    mapped = tempfile.NamedTemporaryFile()
    mapped.write(np.ones(2000).tobytes())
    mapped.flush()
    ok(np.allclose(w @ np.memmap(mapped.name, "d", "r"), a @ raw), "a file mapped to be read")
    y, t = w @ raw, weft.transpose(a)
    want = y.copy()
    for _ in range(20):
        w @ RNG.random(2000)
        weft.transpose(a)
    ok(np.array_equal(y, want) and y.flags.owndata and y.flags.writeable and same(t, a.T.tocsr()),
       "results stay as they are when more are made")


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_leaks():
    a = matrix(20000, 20000, 400000, "d", duplicates=False)

    def use():
        w = weft.csr(a.copy())
        w @ np.ones(20000)
        w.T @ np.ones(20000)
        weft.transpose(a)
        weft.info(a)
        raises(lambda: w.plan(products=-1))
    for _ in range(5):
        use()
    gc.collect()
    before = resident()
    for _ in range(40):
        use()
    gc.collect()
    grown = resident() - before
    ok(grown < 64 << 20, f"40 matrices of 5 MB each leave {grown >> 20} MiB")


def test_threads():
    a = matrix(2000, 2000, 40000, "d", duplicates=False)
    w, x, bad = weft.csr(a), RNG.random(2000), []
    want, t = a @ x, a.T.tocsr()

    def work():
        for _ in range(20):
            if not np.allclose(w @ x, want) or not same(weft.transpose(a), t):
                bad.append(1)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ok(not bad, "four threads with one matrix")


# ---- scipy.sparse.linalg -------------------------------------------------------------------------------------------


def test_linalg():
    n = 400
    a = sp.csr_matrix(sp.diags([-np.ones(n - 1), 2.5 * np.ones(n), -np.ones(n - 1)], [-1, 0, 1]).tocsr())
    w, b = weft.csr(a), RNG.random(n)
    x, state = la.cg(w, b)
    ok(state == 0 and np.allclose(a @ x, b, atol=1e-4), "cg")
    ok(np.allclose(la.lsqr(w, b, atol=1e-12, btol=1e-12)[0], la.lsqr(a, b, atol=1e-12, btol=1e-12)[0], atol=1e-6), "lsqr")
    ok(np.allclose(np.sort(la.eigsh(w, 4)[0]), np.sort(la.eigsh(a, 4)[0])), "eigsh")
    c = matrix(80, 50, 600, duplicates=False)
    ok(np.allclose(np.sort(la.svds(weft.csr(c), 3)[1]), np.sort(la.svds(sp.csr_matrix(c), 3)[1])), "svds")
    ok(np.allclose(la.gmres(w, b)[0], la.gmres(a, b)[0], atol=1e-3), "gmres")
    op = la.aslinearoperator(weft.csr(matrix(dtype="D")))
    v = numbers(60, "D")
    ok(op.dtype == np.complex128 and np.isclose(np.vdot(op.rmatvec(v), np.ones(40)), np.vdot(v, op.matvec(np.ones(40)))),
       "rmatvec of complex values is the adjoint")


# ---- the rest ------------------------------------------------------------------------------------------------------


def test_making():
    a = matrix(duplicates=False)
    ok(same(weft.csr((a.data, a.indices, a.indptr), a.shape).toscipy(), a), "from (data, indices, indptr)")
    c = a.tocoo()
    ok((weft.csr((c.data, (c.row, c.col)), a.shape).toscipy() != a).nnz == 0, "from coordinates")
    ok((weft.csr(a.toarray()).toscipy() != a).nnz == 0, "from a dense matrix")
    ok(weft.csr(a, dtype="f").dtype == np.float32 and weft.csr(weft.csr(a)).shape == a.shape, "a type; a copy of another")
    ok((weft.csr(a.tocsc()).toscipy() != a).nnz == 0, "from CSC")
    ok(not np.shares_memory(weft.csr(a, copy=True).data, a.data), "copy=True")
    ok(isinstance(raises(lambda: weft.csr(a, shape=(3, 3))), ValueError), "a shape that is not the matrix's")

    class Producer:  # no array of numpy, but one by DLPack
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **kw):
            return self.array.__dlpack__(**kw)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()
    x = np.ones(40)
    ok(np.allclose(weft.csr(a) @ Producer(x), a @ x), "x by DLPack")
    ok(np.allclose((a.toarray(), weft.csr(a).toarray()), a.toarray()) and "60 x 40" in repr(weft.csr(a)), "toarray, repr")


def test_misuse():
    a, x = matrix(), np.ones(40)
    w = weft.csr(a)
    w @ x
    for what, made in (("pickled", lambda: pickle.loads(pickle.dumps(w))), ("copied", lambda: copy.deepcopy(w)),
                       ("copied flat", lambda: copy.copy(w))):
        why = raises(made)
        ok(why is None and np.allclose(made() @ x, a @ x), f"a matrix that is {what}", repr(why))
    why = raises(lambda: copy.deepcopy(weft.Context()))
    ok(isinstance(why, TypeError) and "process" in str(why), f"a context that is copied: {why}")
    why = raises(lambda: w.plan(dtype="D"))
    ok(isinstance(why, ValueError) and "complex128" in str(why), f"a plan for complex vectors: {why}")
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "a.mtx")
        for call in (lambda: weft.write_mtx(name + "\0b", a), lambda: weft.read_mtx(name + "\0b"),
                     lambda: weft.Context("cpu\0b"), lambda: weft.Context(cache_dir=folder + "\0b")):
            why = raises(call)
            ok(isinstance(why, ValueError) and "null byte" in str(why), f"a text with a null byte: {why}")
        ok(not os.listdir(folder), "nothing was written")
        weft.write_mtx(os.fsencode(name), a)
        ok((weft.read_mtx(os.fsencode(name)) != weft.read_mtx(name)).nnz == 0, "a path of bytes")
    for call in (lambda: weft.Context(queue=3), lambda: weft.Context(context=3), lambda: weft.csr(a, context=3),
                 lambda: w.plan(context=3), lambda: weft.transpose(a, context=3)):
        why = raises(call)
        ok(isinstance(why, TypeError) and "int" in str(why), f"what is no context: {why}")
    ok(isinstance(raises(lambda: setattr(w, "shape", (5, 5))), AttributeError) and w.shape == (60, 40), "a shape stays")
    ok(isinstance(raises(lambda: weft.Context(schedule=None)), ValueError), "a schedule that is no text")
    bad, both = [], threading.Barrier(2)
    ctx = weft.Context()

    def enter():
        try:
            with ctx:
                both.wait(60)
                weft.csr(a) @ x
                both.wait(60)
                with ctx:
                    pass
                weft.csr(a) @ x
        except Exception as why:
            bad.append(repr(why))
    threads = [threading.Thread(target=enter) for _ in range(2)]
    for step in (threading.Thread.start, threading.Thread.join):
        for thread in threads:
            step(thread)
    ok(not bad and isinstance(raises(lambda: ctx.device), ValueError), "one context in `with` of two threads, and twice in each", bad)


def test_context():
    device = weft.devices()[0]
    a, x = matrix(), np.ones(40)
    for given in (0, device, device.name[:8], device.kind):
        with weft.Context(given) as ctx:
            ok(ctx.device.index == 0 and np.allclose(weft.csr(a) @ x, a @ x), f"a context on {type(given).__name__}")
        ok(isinstance(raises(lambda: ctx.device), ValueError), "it is closed after `with`")
    ctx = weft.Context(schedule="gpu")
    w = weft.csr(a, context=ctx)
    ok(np.allclose(w @ x, a @ x) and same(weft.transpose(a, context=ctx), a.T.tocsr()), "kernels for GPUs")
    p, t, b = w.plan(), w.T, weft.csr(matrix(), context=ctx)
    want = b.toscipy() @ x
    ctx.close()
    ok(np.allclose(p @ x, a @ x) and np.allclose(p @ (x + 2j), a @ (x + 2j)), "a plan outlives its context")
    ok(np.allclose(w @ x, a @ x) and np.allclose(t @ np.ones(60), a.T @ np.ones(60)) and same(w.tocsc(), a.tocsc()) and
       np.allclose(w.copy() @ x, a @ x), "so do a matrix and its transpose")
    b.sum_duplicates()
    ok(np.allclose(b @ x, want) and w.copy()._where() is w._where(), "and what is made from them")
    ok(isinstance(raises(lambda: weft.csr(a, context=ctx)), ValueError), "a closed context takes no more")
    ok(isinstance(raises(lambda: weft.Context(99)), weft.WeftDeviceError), "device 99")
    kinds = {one.kind for one in weft.devices()}
    for name in ["no such"] + [kind for kind in ("gpu", "accelerator") if kind not in kinds]:
        why = raises(lambda: weft.Context(name))
        said = {"gpu": "no GPU is in the list", "accelerator": "no accelerator is in the list"}.get(name, f'no device of the list is "{name}"')
        ok(isinstance(why, weft.WeftDeviceError) and said in str(why), f"what no device is: {why}")
    ok(isinstance(raises(lambda: weft.Context(schedule="tpu")), ValueError), "schedule tpu")


def test_pyopencl():
    try:
        import pyopencl as cl
        import pyopencl.array
    except ImportError as why:
        skip(str(why))
        return
    a = matrix(dtype="f", duplicates=False)
    queue = cl.CommandQueue(cl.create_some_context(interactive=False))
    x = pyopencl.array.to_device(queue, np.arange(40, dtype="f"))
    known = weft.Context(queue=queue)
    w = weft.csr(a, context=known)
    y = w @ x
    ok(isinstance(y, pyopencl.array.Array) and np.allclose(y.get(), a @ x.get()), "x of pyopencl gives y of pyopencl")
    other = weft.csr(a) @ x
    ok(np.allclose(other.get(), a @ x.get()), "in a context that the matrix does not know")
    ok(np.allclose((w @ x[::1][0:40]).get(), a @ x.get()), "a slice")
    fixed, quick = w.plan(reproducible=True), w.plan(1000)
    kept = fixed.info["algorithm"]
    for changed in (False, True):
        if changed:
            a.data[:] *= 2
            w.update()
        ok(np.array_equal((fixed @ x).get(), fixed @ x.get()) and np.allclose((quick @ x).get(), a @ x.get()) and
           fixed.info["algorithm"] == kept == "csr_fixed", f"plans take x of pyopencl, each as itself{', after an update' * changed}")
    why = raises(lambda: w @ pyopencl.array.to_device(queue, np.arange(80, dtype="f"))[::2])
    ok(isinstance(why, ValueError), f"a slice with steps: {why}")
    for m, n in ((0, 40), (3, 40), (3, 0)):
        made = weft.csr((np.zeros(0, "f"), np.zeros(0, "i4"), np.zeros(m + 1, "i4")), (m, n), context=known) @ x[:n]
        ok(np.array_equal(made.get(), np.zeros(m)), f"no entries in {m} x {n}")
    ok(isinstance(raises(lambda: weft.csr(a, dtype="d") @ x), TypeError) and isinstance(raises(lambda: w @ x[:5]), ValueError),
       "types and shapes that do not go")
    for owner in (w, weft.csr(a)):
        made = owner @ x.base_data
        y = np.empty(60, "f")
        cl.enqueue_copy(queue, y, made)
        ok(isinstance(made, cl.Buffer) and np.allclose(y, a @ x.get()), "a buffer gives a buffer")
    ok(isinstance(raises(lambda: w @ cl.Buffer(queue.context, cl.mem_flags.READ_ONLY, 39 * 4)), ValueError) and
       isinstance(raises(lambda: weft.csr(a, dtype="D") @ x.base_data), TypeError), "buffers that do not go")
    d = weft.csr((pyopencl.array.to_device(queue, a.data), pyopencl.array.to_device(queue, a.indices),
                  pyopencl.array.to_device(queue, a.indptr)), a.shape)
    ok((d.toscipy() != a).nnz == 0, "a matrix of arrays of pyopencl")


def exact(path):
    """Values come back as they were, or are refused."""
    for dtype, kept, lost in (("?", [True], []), ("b", [-128, 127], []), ("H", [65535], []), ("i8", [-2**31, 2**31 - 1], []),
                              ("u8", [1, 2], []), ("i8", [2**31, -2**53, 2**60], [2**53 + 1, -2**53 - 1, 2**63 - 1]),
                              ("u8", [2**63], [2**63 + 1, 2**64 - 1]), ("u4", [2**32 - 1], []), ("e", [0.5, np.inf], []),
                              ("g", [0.5, np.nan, 2**60], [np.longdouble(1) / 3])):
        whole = dtype not in "eg" and all(-2**31 <= value < 2**31 for value in kept)
        weft.write_mtx(path, sp.csr_array((np.array(kept, dtype), np.arange(len(kept)), [0, len(kept)])))
        with open(path, encoding="ascii") as file:
            ok(("integer" if whole else "real") in file.readline(), f"{kept} of {dtype} is written")
        ok(np.array_equal(weft.read_mtx(path).data, kept, equal_nan=True), f"{kept} of {dtype} is read", weft.read_mtx(path).data)
        for value in lost if np.dtype(dtype) != np.float64 else []:
            why = raises(lambda: weft.write_mtx(path, sp.csr_array((np.array([1, value], dtype), [0, 1], [0, 2]))))
            ok(isinstance(why, ValueError) and str(value) in str(why), f"not exact: {why}", repr(why))
    ok(isinstance(raises(lambda: weft.write_mtx(path, matrix(dtype="D"))), TypeError), "complex values are not written")


def complex_files(folder, a):
    path = os.path.join(folder, "complex.mtx")
    with open(path, "w", encoding="ascii") as file:
        file.write("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2 3\n")
    why = raises(lambda: weft.read_mtx(path))
    ok(isinstance(why, weft.WeftFileError) and 'complex="real"' in str(why) and why.status, f"complex values: {why}", repr(why))
    ok([weft.read_mtx(path, complex=part).data[0] for part in ("real", "imag")] == [2.0, 3.0], "parts of them")
    sp.save_npz(os.path.join(folder, "a.npz"), a * 1j)
    why = raises(lambda: weft.read_mtx(os.path.join(folder, "a.npz")))
    ok(isinstance(why, weft.WeftFileError) and "\n" not in str(why), f"scipy's own form: {why}", repr(why))


def test_files():
    a = matrix(duplicates=False)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.mtx", "a.mtx.gz"):
            path = os.path.join(folder, name)
            weft.write_mtx(path, a)
            ok(same(weft.read_mtx(path), a), f"{name} is written and read")
        import tarfile
        with tarfile.open(os.path.join(folder, "a.tar.gz"), "w:gz") as archive:
            archive.add(os.path.join(folder, "a.mtx"), "a/a.mtx")
        ok(same(weft.read_mtx(os.path.join(folder, "a.tar.gz")), a), "an archive")
        with open(os.path.join(folder, "a.tar.gz"), "rb") as file:
            whole = file.read()
        for what, text in (("no archive", b"\x1f\x8b nonsense"), ("a cut one", whole[:len(whole) // 2]),
                           ("a damaged one", whole[:600] + bytes(40) + whole[640:])):
            with open(os.path.join(folder, "bad.tar.gz"), "wb") as file:
                file.write(text)
            why = raises(lambda: weft.read_mtx(os.path.join(folder, "bad.tar.gz")))
            ok(isinstance(why, weft.WeftFileError) and "\n" not in str(why), f"{what}: {why}", repr(why))
        promised = tarfile.TarInfo("a/a.mtx")
        promised.size = 257 << 20
        with tarfile.open(os.path.join(folder, "a.tar.gz"), "w:gz", compresslevel=6) as archive, open("/dev/zero", "rb") as zeros:
            archive.addfile(promised, zeros)
        why = raises(lambda: weft.read_mtx(os.path.join(folder, "a.tar.gz")))
        ok(isinstance(why, weft.WeftValueError) and "limit" in str(why), f"an archive of much from little: {why}", repr(why))
        ok(weft.read_mtx(os.path.join(folder, "a.mtx"), "f").dtype == np.float32, "as float32")
        exact(os.path.join(folder, "exact.mtx"))
        with open(os.path.join(folder, "bad.mtx"), "w", encoding="ascii") as file:
            file.write("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1.0\n")
        why = raises(lambda: weft.read_mtx(os.path.join(folder, "bad.mtx")))
        ok(isinstance(why, ValueError) and "3" in str(why), f"a bad file: {why}")
        complex_files(folder, a)
    ok(isinstance(raises(lambda: weft.read_mtx("/nonexistent.mtx")), OSError), "no such file is an OSError")
    figures = weft.info(a)
    ok(figures["nnz"] == a.nnz and figures["row"]["most"] == int(np.diff(a.indptr).max()), "info")
    counts = weft.spy(a, 6, 4)
    ok(counts.shape == (6, 4) and counts.sum() == a.nnz and counts[0, 0] == a[:10, :10].nnz, "spy")
    for dtype in "?bIlLeDg":
        b = matrix(dtype=dtype)
        ok(weft.spy(b).sum() == b.nnz and weft.info(b)["nnz"] == b.nnz, f"spy and info of {dtype}")
    objects = sp.csr_array(a)
    objects.data = a.data.astype(object)
    ok(weft.spy(objects).sum() == a.nnz and weft.info(objects)["row"] == figures["row"], "spy and info of objects")


def test_nothing():
    """Without a loader, and without a driver."""
    code, said = alone(BUILT, "import ctypes.util, weft\n"
                       "weft._c._loader_paths = lambda: ['/nonexistent/libOpenCL.so.1']\n"
                       "import scipy.sparse as sp\n"
                       "print(weft.info(sp.eye(3, format='csr'))['nnz'])\n"
                       "try:\n    weft.devices()\nexcept RuntimeError as why:\n    print(why)")
    ok(code == 0 and said.startswith("3\n") and "/nonexistent/libOpenCL.so.1" in said and "weft[cpu]" in said,
       "without a loader it imports, and says what was searched", said)
    code, said = alone(BUILT, "import weft\ntry:\n    weft.transpose(__import__('scipy.sparse').sparse.eye(3, format='csr'))\n"
                       "except RuntimeError as why:\n    print(why)", OCL_ICD_VENDORS="/nonexistent")
    ok(code == 0 and "no OpenCL platform" in said and "weft[cpu]" in said, "without a driver it says what to install", said)
    code, said = alone(BUILT, "import weft, numpy as np, scipy.sparse as sp\nA = weft.csr(sp.eye(9, format='csr'))\nprint((A @ np.ones(9)).sum())\n"
                       "B = A.plan(products=9)")
    ok(code == 0 and said == "9.0\n", "a process ends well with plans alive", code, said)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
sys.exit(done())
