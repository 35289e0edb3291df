# SPDX-License-Identifier: Apache-2.0
"""Matrices: the arrays of scipy on a device, their products and transposes."""
from __future__ import annotations

import weakref
from typing import Any, Dict, Optional, Tuple

import numpy as np
import scipy.sparse as sp

from . import _c
from ._arrays import Arrays, build, is_array, other
from ._c import ffi
from ._context import Context, _Owner, current
from ._plan import Plan, _Prepared
from ._types import ARITHMETIC, as_type, char, host, is_pyopencl, number, plain, result_dtype

_PARTS: Dict[str, np.dtype] = {"F": np.dtype("f4"), "D": np.dtype("f8")}
_SUMMED = {"f4": _c.F32, "f8": _c.F64, "i4": _c.I32, "u4": _c.I32}  # types whose sums the device makes
_COLUMNS = 16  # of X in A @ X that are brought into order and multiplied at a time


def _no_ref() -> None:
    """A weak reference to nothing."""


class csr:
    """A sparse matrix whose products and transposes run on an OpenCL device.

    Its arrays are those of the scipy matrix that it is made from, without a copy. It has scipy's rules for types and shapes.
    Arrays that change in place are seen after `update()`, also by its plans and its transpose.

    >>> import numpy as np, scipy.sparse as sp, weft
    >>> A = weft.csr(sp.csr_array([[2.0, 1.0], [0.0, 3.0]]))
    >>> A @ np.array([1.0, 10.0])
    array([12., 30.])
    >>> A.T @ np.array([1.0, 10.0])
    array([ 2., 31.])
    >>> A.tocsc().indptr
    array([0, 1, 3], dtype=int32)
    """

    ndim = 2
    format = "csr"
    __array_priority__ = 20.0
    __array_ufunc__ = None  # numpy leaves x @ A to __rmatmul__

    def _init(self, arrays: Optional[Arrays], shape: Tuple[int, int], owner: Optional[_Owner], container: type) -> None:
        self._shape = (int(shape[0]), int(shape[1]))
        self._owner = owner  # None: the one of the context that is current when it is used
        self._container = container
        self._arrays: Any = arrays  # None: those of a transpose that nobody asked for yet
        self._unread = False  # have the arrays to be read again before they are used?
        # A keeps A.T as soon as A.T has arrays. A.T keeps A until then: neither has the other longer than it needs it.
        self._transposed_ref: Any = _no_ref  # A.T, if it is still there
        self._transposed: Optional["csr"] = None
        self._source: Optional["csr"] = None  # the matrix that this is the transpose of, before it has arrays,
        self._source_ref: Any = _no_ref  # and afterwards, if it is still there,
        self._made_of: Any = _no_ref  # and its arrays that these were made of

    def __init__(self, arg: Any, shape: Optional[Tuple[int, int]] = None, dtype: Any = None, *,
                 context: Optional[Context] = None, copy: bool = False) -> None:
        """
        arg: a sparse matrix or array of scipy, arrays (data, indices, indptr) or (data, (row, col)), a dense matrix (also
            through DLPack), or another weft.csr
        shape, dtype: as of scipy.sparse.csr_array; 64-bit indices are checked and narrowed
        context: where it runs; default: the innermost `with weft.Context()`, else the default device
        copy: take copies of the arrays
        """
        owner = current(context)._own() if context is not None else None
        if isinstance(arg, csr):
            arg = arg.toscipy()
        if isinstance(arg, tuple):
            arg = tuple(tuple(host(p) for p in part) if isinstance(part, tuple) else host(part) for part in arg)
        elif not sp.issparse(arg):
            arg = host(arg)
        if not sp.issparse(arg):
            arg = sp.csr_array(arg, shape=shape)
        a = arg.tocsr()
        if a.ndim != 2:
            raise ValueError(f"weft.csr needs two dimensions, not {a.ndim}")
        if shape is not None and tuple(shape) != tuple(a.shape):
            raise ValueError(f"the matrix is {a.shape[0]} x {a.shape[1]}, not {shape[0]} x {shape[1]}")
        if dtype is not None:
            a = a.astype(dtype, copy=False)
        if copy:
            a = a.copy()
        self._init(Arrays(a.shape, (a.indptr, a.indices, a.data), a).check(), a.shape, owner, type(a))

    def _like(self, a: Any) -> "csr":
        """Another matrix, which runs where this one does."""
        out = csr(a)
        out._owner = self._owner
        return out

    def _where(self) -> _Owner:
        """Where it runs: its own context, also when that was closed since, else the current one."""
        return self._owner or current()._own()

    # -- the arrays ------------------------------------------------------------------------------------------------

    def _there(self) -> Arrays:
        """The arrays as they have to be now, and what was made from them."""
        source = self._source or self._source_ref()
        if source is not None:
            of = source._there()
            if self._made_of() is not of:
                self._transpose_of(source, of)
        if self._unread or self._arrays.outdated():
            self._detach()
            self._arrays = self._arrays.reread()
            self._unread = False
        return self._arrays

    def _transpose_of(self, source: "csr", of: Arrays) -> None:
        """Become the transpose of a matrix that has these arrays."""
        made = Arrays(self._shape, self._where().transpose(*source._shape, of.indptr, of.indices, of.data))
        made.sorted, made.canonical = True, of.canonical or None
        self._arrays, self._made_of, self._source_ref = made, weakref.ref(of), weakref.ref(source)
        self._source = None
        if source._transposed_ref() is self:
            source._transposed = self

    def _detach(self) -> None:
        """The arrays are no longer made from those of another matrix."""
        source = self._source or self._source_ref()
        if source is not None and source._transposed_ref() is self:
            source._transposed_ref, source._transposed = _no_ref, None
        self._source, self._source_ref, self._made_of = None, _no_ref, _no_ref
        self._transposed = None

    @property
    def shape(self) -> Tuple[int, int]:
        return self._shape

    @property
    def dtype(self) -> np.dtype:
        source = self._source
        return source.dtype if source is not None else self._arrays.given.dtype

    @property
    def nnz(self) -> int:
        source = self._source
        return source.nnz if source is not None else self._there().nnz

    @property
    def size(self) -> int:
        return self.nnz

    @property
    def indptr(self) -> np.ndarray:
        return self._there().indptr

    @property
    def indices(self) -> np.ndarray:
        return self._there().indices

    @property
    def data(self) -> np.ndarray:
        return self._there().given

    @property
    def has_sorted_indices(self) -> bool:
        """Do the columns of every row ascend?"""
        of = self._there()
        if of.sorted is None:
            of.sorted = bool(self.toscipy().has_sorted_indices)
        return of.sorted

    @property
    def has_canonical_format(self) -> bool:
        """Do they, and is there no entry twice?"""
        of = self._there()
        if of.canonical is None:
            of.canonical = self.has_sorted_indices and bool(self.toscipy().has_canonical_format)
        return of.canonical

    # -- as scipy --------------------------------------------------------------------------------------------------

    def toscipy(self) -> Any:
        """The CSR matrix or array of scipy on the same arrays."""
        of = self._there()
        if of.origin is None:
            of.origin = build(self._container, self._shape, (of.indptr, of.indices, of.given), of.sorted, of.canonical)
        return of.origin

    tocsr = toscipy

    def tocsc(self) -> Any:
        """The CSC matrix or array of scipy, transposed on the device.

        >>> import scipy.sparse as sp, weft
        >>> weft.csr(sp.csr_array([[2.0, 1.0], [0.0, 3.0]])).tocsc().data
        array([2., 1., 3.])
        """
        t = self.T._there()
        return build(other(self._container, "csc"), self._shape, (t.indptr, t.indices, t.given), True, t.canonical or None)

    def tocoo(self) -> Any:
        return self.toscipy().tocoo()

    def toarray(self) -> np.ndarray:
        return self.toscipy().toarray()

    todense = toarray

    def copy(self) -> "csr":
        return self._like(self.toscipy().copy())

    def astype(self, dtype: Any) -> "csr":
        return self._like(self.toscipy().astype(dtype))

    def conj(self) -> "csr":
        return self._like(self.toscipy().conj()) if self.dtype.kind == "c" else self

    conjugate = conj

    # -- transposes ------------------------------------------------------------------------------------------------

    @property
    def T(self) -> "csr":
        """A^T in CSR; made on the device when its arrays or a product are first asked for, kept, and made again after changes."""
        t = self._transposed_ref()
        if t is None:
            t = self._source or self._source_ref()
        if t is None:
            t = csr.__new__(csr)
            t._init(None, self._shape[::-1], self._owner, self._container)
            t._source = self
            self._transposed_ref = weakref.ref(t)
        return t

    def transpose(self, axes: Any = None, copy: bool = False) -> "csr":
        if axes is not None and tuple(axes) != (1, 0):
            raise ValueError("Sparse arrays/matrices do not support an 'axes' parameter because swapping dimensions is the "
                             "only logical permutation.")
        return self.T.copy() if copy else self.T

    @property
    def H(self) -> "csr":
        return self.T.conj()

    def sort_indices(self) -> None:
        """Let the columns of every row ascend, equal ones in their order: two transpositions. New arrays."""
        if self.has_sorted_indices:
            return
        owner, of, (m, n) = self._where(), self._there(), self._shape
        once = owner.transpose(m, n, of.indptr, of.indices, of.data)
        self._replace(owner.transpose(n, m, *once), of.canonical)

    def sum_duplicates(self) -> None:
        """Add up entries of one place, as scipy does; columns then ascend. New arrays.

        >>> import scipy.sparse as sp, weft
        >>> A = weft.csr(([1.0, 2.0, 4.0], [1, 0, 1], [0, 3]), shape=(1, 2))
        >>> A.sum_duplicates()
        >>> A.data
        array([2., 5.])
        """
        if self.has_canonical_format:
            return
        of, (m, n) = self._there(), self._shape
        if of.data.dtype.str[1:] in _SUMMED:
            made = self._where().canonical(m, n, of.indptr, of.indices, of.data, _SUMMED[of.data.dtype.str[1:]])
            if made is not None:
                self._replace(made, True)
                return
        self.sort_indices()
        of = self._there()
        a = build(self._container, self._shape, (of.indptr.copy(), of.indices.copy(), of.data.copy()), True, None)
        a.sum_duplicates()
        self._replace((a.indptr, a.indices, a.data), True)

    def _replace(self, arrays: Tuple[np.ndarray, np.ndarray, np.ndarray], canonical: Optional[bool]) -> None:
        made = Arrays(self._shape, arrays)
        made.sorted, made.canonical = True, canonical
        self._detach()
        self._arrays = made

    def update(self) -> None:
        """Arrays were changed: read them again, check them, and forget what was made from them.

        Plans and transposes that the caller holds are made again when they are next used.

        >>> import numpy as np, scipy.sparse as sp, weft
        >>> A = weft.csr(sp.csr_array([[2.0, 1.0], [0.0, 3.0]]))
        >>> A.data[:] *= 10
        >>> A.update()
        >>> A @ np.array([1.0, 10.0])
        array([120., 300.])
        """
        self._there()
        self._unread = True  # until they have passed the checks
        self._there()

    # -- products --------------------------------------------------------------------------------------------------

    def plan(self, products: int = 0, *, dtype: Any = None, reproducible: bool = False,
             context: Optional[Context] = None) -> Plan:
        """Prepare `products` multiplications, and let later `A @ x` use what is made.

        products: how many are expected; 0: not known, the arrays are used as they are
        dtype: of the vectors, where it is not that of the matrix
        reproducible: the same bits on every device

        After `update()` the plan that this gives is made again, with the same arguments, at its next product.

        >>> import numpy as np, scipy.sparse as sp, weft
        >>> A = weft.csr(sp.csr_array([[2.0, 1.0], [0.0, 3.0]]))
        >>> A.plan(reproducible=True).info["algorithm"]
        'csr_fixed'
        """
        result = result_dtype(self.dtype, np.dtype(dtype) if dtype is not None else self.dtype)
        kind = ARITHMETIC.get(char(result))
        if kind is None:
            raise ValueError(f"no device multiplies values of type {result}: plan the parts, or let scipy multiply")
        count = int(products)
        if not 0 <= count < 2**63:
            raise ValueError(f"products is {count}, it must be from 0 to 2^63-1")
        owner = current(context)._own() if context is not None else self._where()
        return Plan(self, self._plan_make(owner, kind, count, reproducible))

    def _plan_make(self, owner: _Owner, kind: int, products: int, reproducible: bool) -> _Prepared:
        of = self._there()
        data = of.data if of.data.dtype == _c.DTYPES[kind] else as_type(of.data, _c.DTYPES[kind])
        plan = of.plans[owner, kind] = _Prepared(owner, of, kind, data, products, reproducible)
        return plan

    def _plan_for(self, owner: _Owner, kind: int, given: Optional[Plan] = None) -> _Prepared:
        """The plan given, brought up to date, if it is of this type; else the matrix's own."""
        of = self._there()
        if given is None or given._prepared.shape.type != kind:
            return of.plans.get((owner, kind)) or self._plan_make(owner, kind, 0, False)
        was = given._prepared
        if was.made_of() is not of:
            given._prepared = self._plan_make(was.owner, kind, was.products, was.reproducible)
        return given._prepared

    def _vector(self, x: np.ndarray, owner: Optional[_Owner], given: Optional[Plan]) -> np.ndarray:
        """A @ x for one vector of n elements, or for the columns of a matrix, in scipy's type. None: where the matrix runs."""
        of = self._there()
        result = result_dtype(of.data.dtype, x.dtype)
        if result.char in _PARTS:
            return self._complex(of, x, result, owner, given)
        kind = ARITHMETIC.get(char(result))
        if kind is None:  # 64-bit integers, long double, objects
            return self.toscipy() @ x
        if of.nnz == 0:
            return np.zeros((self.shape[0],) + x.shape[1:], result)
        want = _c.DTYPES[kind]
        if x.dtype != want:
            x = as_type(x, want)
        y = np.empty((self.shape[0],) + x.shape[1:], want)
        plan = self._plan_for(owner or self._where(), kind, given)
        if x.ndim == 1:
            plan.run(plain(x), y)
        else:
            for first in range(0, x.shape[1], _COLUMNS):
                part = np.require(x[:, first:first + _COLUMNS], want, ["F", "A"])
                made = np.empty((self.shape[0], part.shape[1]), want, order="F")
                plan.run_columns(part, made)
                y[:, first:first + _COLUMNS] = made
        if result == want:
            return y
        return y != 0 if result.kind == "b" else y.view(result) if result.itemsize == 4 else y.astype(result)

    def _complex(self, of: Arrays, x: np.ndarray, result: np.dtype, owner: Optional[_Owner],
                 given: Optional[Plan]) -> np.ndarray:
        """Products of the parts, which are matrices of their own on the same pattern."""
        real = _PARTS[result.char]
        xs = (x.real, x.imag) if x.dtype.kind == "c" else (x, None)
        mats: Tuple[csr, Optional[csr]] = (self, None)
        if of.data.dtype.kind == "c":
            if of.parts is None:
                of.parts = tuple(self._with(of, part.copy()) for part in (of.data.real, of.data.imag))
            mats = of.parts
        y = np.empty((self.shape[0],) + x.shape[1:], result)

        def times(a: Optional[csr], v: Optional[np.ndarray]) -> Any:
            if a is None or v is None:
                return 0
            return a._vector(np.ascontiguousarray(v, dtype=real), owner, given if a is self else None)

        y.real = times(mats[0], xs[0]) - times(mats[1], xs[1])
        y.imag = times(mats[0], xs[1]) + times(mats[1], xs[0])
        return y

    def _with(self, of: Arrays, data: np.ndarray) -> "csr":
        out = csr.__new__(csr)
        out._init(Arrays(self._shape, (of.indptr, of.indices, data)), self._shape, self._owner, self._container)
        return out

    def _product(self, x: Any, plan: Optional[Plan] = None) -> Any:
        if is_pyopencl(x):
            return self._product_pyopencl(x, plan)
        if sp.issparse(x) or isinstance(x, csr):
            return self.toscipy() @ (x.toscipy() if isinstance(x, csr) else x)
        x = _operand(x)
        if x.ndim not in (1, 2) or x.shape[0] != self.shape[1] or x.dtype.kind not in "biufc":
            return self.toscipy() @ x  # scipy's own answer, or its error
        y = self._vector(np.asarray(x), plan._prepared.owner if plan is not None else None, plan)
        return np.asmatrix(y) if isinstance(x, np.matrix) and not is_array(self._container) else y

    def _product_pyopencl(self, x: Any, plan: Optional[Plan]) -> Any:
        """A @ x for a vector in device memory, a buffer or an array: nothing comes to the host."""
        import pyopencl.array
        if isinstance(x, pyopencl.Buffer):
            return self._product_buffer(x, pyopencl, plan)
        if x.ndim != 1 or x.shape[0] != self.shape[1]:
            raise ValueError(f"the matrix is {self.shape[0]} x {self.shape[1]}, the vector has the shape {x.shape}")
        kind = _c.TYPES.get(x.dtype.str[1:])
        result = result_dtype(self.dtype, x.dtype)
        if kind is None or result != x.dtype:
            raise TypeError(f"a matrix of {self.dtype} times a pyopencl array of {x.dtype}: convert it to {result}")
        if not x.flags.c_contiguous:
            raise ValueError("x is a pyopencl array whose elements do not lie side by side")
        if self.nnz == 0:  # arrays of nothing have no buffer
            return pyopencl.array.zeros(x.queue, self.shape[0], x.dtype)
        owner = self._owner_of(x, plan)
        y: Any = pyopencl.array.empty(x.queue, self.shape[0], x.dtype)
        x = x if not x.offset else x.copy()
        x.finish()
        self._product_there(owner, kind, x.base_data, y.base_data, plan)
        return y

    def _product_buffer(self, x: Any, cl: Any, plan: Optional[Plan]) -> Any:
        """The same for values of the matrix's type in a buffer of pyopencl, which nobody writes any more."""
        kind = _c.TYPES.get(self.dtype.str[1:])
        if kind is None:
            raise TypeError(f"a matrix of {self.dtype} times a buffer: float32, float64 and int32 have buffers")
        size = self.dtype.itemsize
        if x.size < self.shape[1] * size:
            raise ValueError(f"x is a buffer of {x.size} bytes, {self.shape[1]} values of {self.dtype} need {self.shape[1] * size}")
        y = cl.Buffer(x.context, cl.mem_flags.READ_WRITE, max(1, self.shape[0] * size))
        self._product_there(self._owner_of(x, plan), kind, x, y, plan)
        return y

    def _product_there(self, owner: _Owner, kind: int, x: Any, y: Any, given: Optional[Plan]) -> None:
        plan = self._plan_for(owner, kind, given if given is not None and given._prepared.owner is owner else None)
        with owner:
            _c.spmv_run(owner.ctx, plan.plan, owner.queue, ffi.cast("cl_mem", x.int_ptr), ffi.cast("cl_mem", y.int_ptr))
            owner.finish()

    def _owner_of(self, x: Any, plan: Optional[Plan] = None) -> _Owner:
        """The owner of the array's OpenCL context: the plan's or the matrix's own where it is the same, else one that is kept."""
        for known in ([plan._prepared.owner] if plan is not None else []) + [self._where()]:
            if int(ffi.cast("uintptr_t", known.cl_context)) == x.context.int_ptr:
                return known
        for owner, _ in list(self._there().plans):
            if int(ffi.cast("uintptr_t", owner.cl_context)) == x.context.int_ptr:
                return owner
        return Context(context=x.context, queue=getattr(x, "queue", None))._own()

    def __matmul__(self, x: Any) -> Any:
        return self._product(x)

    def __rmatmul__(self, x: Any) -> Any:
        x = x if sp.issparse(x) else _operand(x)
        if sp.issparse(x) or x.ndim not in (1, 2) or x.shape[-1] != self.shape[0]:
            return x @ self.toscipy()
        return (self.T @ x.T).T

    def dot(self, x: Any) -> Any:
        """A @ x; a number is a factor."""
        return self._like(self.toscipy() * x) if number(x) else self._product(x)

    # What scipy.sparse.linalg.aslinearoperator asks for.
    def matvec(self, x: Any) -> Any:
        return self._product(x)

    def rmatvec(self, x: Any) -> Any:
        return (self.T._product(np.conj(x))).conj() if self.dtype.kind == "c" else self.T._product(x)

    def matmat(self, x: Any) -> Any:
        return self._product(x)

    def rmatmat(self, x: Any) -> Any:
        return self.rmatvec(x)

    # -- the rest --------------------------------------------------------------------------------------------------

    def __enter__(self) -> "csr":
        return self

    def __exit__(self, *why: Any) -> None:
        """Give back device memory; the matrix stays usable."""
        self._transposed = None
        if self._arrays is not None:
            self._arrays.plans.clear()
            self._arrays.parts = None

    def __reduce__(self) -> Tuple[Any, ...]:
        """Pickled as scipy's matrix: plans and the context stay here."""
        return csr, (self.toscipy(),)

    def __repr__(self) -> str:
        return f"<weft.csr of {self.shape[0]} x {self.shape[1]}, {self.nnz} entries of {self.dtype}>"


def _operand(x: Any) -> np.ndarray:
    """A vector or a matrix to multiply with, as an array of numpy."""
    array = host(x)
    if array.ndim == 0 and (number(x) or array.dtype.kind in "biufc"):
        raise ValueError("Scalar operands are not allowed: A.dot(2.0) multiplies by a number")
    if array.ndim == 0:
        raise TypeError(f"a matrix cannot be multiplied with {type(x).__name__}: a vector or a matrix of numbers is needed")
    return array


def transpose(a: Any, *, context: Optional[Context] = None) -> Any:
    """A^T of a scipy matrix in the same format and class: CSR gives CSR, CSC gives CSC, others give CSR.

    Entries of one place keep their order, indices ascend: the same bits as scipy's A.T.tocsr().

    >>> import scipy.sparse as sp, weft
    >>> weft.transpose(sp.csr_array([[2.0, 1.0], [0.0, 3.0]])).toarray()
    array([[2., 0.],
           [1., 3.]])
    """
    if isinstance(a, csr):
        return a.T.toscipy()
    if not sp.issparse(a):
        raise TypeError(f"weft.transpose needs a sparse matrix of scipy or a weft.csr, not {type(a).__name__}")
    if a.format not in ("csr", "csc"):
        a = a.tocsr()
    by_columns = a.format == "csc"
    m, n = a.shape[::-1] if by_columns else a.shape
    of, owner = Arrays((m, n), (a.indptr, a.indices, a.data), a), current(context)._own()
    if of.nnz == 0 or not owner.checks():
        of.check()
    made = owner.transpose(m, n, of.indptr, of.indices, of.data)
    return build(type(a), (m, n) if by_columns else (n, m), made, True, of.canonical or None)
