# SPDX-License-Identifier: Apache-2.0
"""Matrices: the arrays of scipy on a device, their products and transposes."""
from __future__ import annotations

import weakref
from typing import Any, Dict, Optional, Tuple

import numpy as np
import scipy.sparse as sp

from . import _c
from ._c import Shape, ffi
from ._context import Context, _Owner, current
from ._plan import Plan, _Prepared
from ._types import ARITHMETIC, as_type, char, narrow, plain, result_dtype

_PARTS: Dict[str, np.dtype] = {"F": np.dtype("f4"), "D": np.dtype("f8")}
_SUMMED = {"f4": _c.F32, "f8": _c.F64, "i4": _c.I32, "u4": _c.I32}  # types whose sums the device makes
_COLUMNS = 16  # of X in A @ X that are brought into order and multiplied at a time


class csr:
    """A sparse matrix whose products and transposes run on an OpenCL device.

    Its arrays are those of the scipy matrix that it is made from, without a copy. It has scipy's rules for types and shapes.
    Values that change in place are seen after `update()`.

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

    def _init(self, shape: Any, arrays: Any, context: Optional[Context], container: type) -> None:
        self.shape: Tuple[int, int] = (int(shape[0]), int(shape[1]))
        self._context = context
        self._container = container
        self._plans: Dict[Any, _Prepared] = {}
        self._parts: Optional[Tuple["csr", "csr"]] = None
        self._transposed: Optional["csr"] = None
        self._source: Any = None
        self._back: Any = lambda: None
        self._scipy: Any = None
        self._sorted: Optional[bool] = None
        self._canonical: Optional[bool] = None
        if max(self.shape) > _c.INT32_MAX:
            raise ValueError(f"a matrix of {self.shape[0]} x {self.shape[1]}: sizes are up to 2^31-1")
        if arrays is not None:
            self._set(*arrays)

    def __init__(self, arg: Any, shape: Optional[Tuple[int, int]] = None, dtype: Any = None, *,
                 context: Optional[Context] = None, copy: bool = False) -> None:
        """
        arg: a sparse matrix or array of scipy, arrays (data, indices, indptr) or (data, (row, col)), a dense matrix (also
            through DLPack), or another weft.csr
        shape, dtype: as of scipy.sparse.csr_array; 64-bit indices are checked and narrowed
        context: where it runs; default: the innermost `with weft.Context()`, else the default device
        copy: take copies of the arrays
        """
        if isinstance(arg, csr):
            arg = arg.toscipy()
        if isinstance(arg, tuple):
            arg = tuple(_host(part) for part in arg)
        elif not sp.issparse(arg):
            arg = _host(arg)
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
        self._init(a.shape, (a.indptr, a.indices, a.data), context, type(a))
        self._sorted, self._canonical = _flags(a)
        self._scipy = a
        self._check()

    def _set(self, indptr: np.ndarray, indices: np.ndarray, data: np.ndarray) -> None:
        if (indptr.ndim, indices.ndim, data.ndim) != (1, 1, 1) or len(indptr) != self.shape[0] + 1:
            raise ValueError(f"the arrays have the shapes {indptr.shape}, {indices.shape}, {data.shape}; "
                             f"{self.shape[0]} rows need {self.shape[0] + 1} row pointers")
        nnz = int(indptr[-1])
        if nnz < 0 or nnz > min(len(indices), len(data)):
            raise ValueError(f"indptr ends with {nnz}, there are {len(indices)} indices and {len(data)} values")
        self._dtype, self._nnz = data.dtype, nnz
        self._indptr = narrow(indptr, "row pointers") if nnz <= _c.INT32_MAX else np.ascontiguousarray(indptr, np.int64)
        self._indices = narrow(indices[:nnz], "column indices")
        self._data = plain(data[:nnz])

    # -- the arrays ------------------------------------------------------------------------------------------------

    def _there(self) -> None:
        """Transpose now, where this is a transpose whose arrays nobody asked for yet; else look whether they are as they were."""
        source = self._source
        if source is None:
            self._follow()
            return
        m, n = source.shape
        ctx = current(self._context)
        self._set(*ctx._transpose(m, n, source.indptr, source.indices, source.data))
        self._sorted = True
        self._back = weakref.ref(source)
        self._source = None

    def _follow(self) -> None:
        """scipy adds up duplicates in place, also unasked (`a.max(axis=1)`): take the arrays of the same matrix again."""
        a = self._scipy
        if a is None or a.nnz == self._nnz:
            return
        if a.shape != self.shape:
            raise ValueError(f"the matrix was {self.shape[0]} x {self.shape[1]} and was resized to {a.shape[0]} x {a.shape[1]}")
        self._set(a.indptr, a.indices, a.data)
        self._sorted, self._canonical = _flags(a)
        self._check()
        self._forget()

    def _check(self) -> None:
        shape = Shape(self.shape[0], self.shape[1], self._nnz, _c.PATTERN, self._indptr.dtype.itemsize == 8)
        _c.validate(shape, self._indptr, self._indices)

    @property
    def dtype(self) -> np.dtype:
        source = self._source
        return source.dtype if source is not None else self._dtype

    @property
    def nnz(self) -> int:
        source = self._source
        if source is not None:
            return source.nnz
        self._follow()
        return self._nnz

    @property
    def size(self) -> int:
        return self.nnz

    @property
    def indptr(self) -> np.ndarray:
        self._there()
        return self._indptr

    @property
    def indices(self) -> np.ndarray:
        self._there()
        return self._indices

    @property
    def data(self) -> np.ndarray:
        self._there()
        return self._data

    @property
    def has_sorted_indices(self) -> bool:
        """Do the columns of every row ascend?"""
        self._there()
        if self._sorted is None:
            self._sorted = bool(self.toscipy().has_sorted_indices)
        return self._sorted

    @property
    def has_canonical_format(self) -> bool:
        """Do they, and is there no entry twice?"""
        self._there()
        if self._canonical is None:
            self._canonical = self.has_sorted_indices and bool(self.toscipy().has_canonical_format)
        return self._canonical

    # -- as scipy --------------------------------------------------------------------------------------------------

    def toscipy(self) -> Any:
        """The CSR matrix or array of scipy on the same arrays."""
        self._there()
        if self._scipy is None:
            self._scipy = _build(self._container, self.shape, (self._indptr, self._indices, self._data), self._sorted,
                                 self._canonical)
        return self._scipy

    tocsr = toscipy

    def tocsc(self) -> Any:
        """The CSC matrix or array of scipy, transposed on the device.

        >>> import scipy.sparse as sp, weft
        >>> weft.csr(sp.csr_array([[2.0, 1.0], [0.0, 3.0]])).tocsc().data
        array([2., 1., 3.])
        """
        t = self.T
        return _build(_other(self._container, "csc"), self.shape, (t.indptr, t.indices, t.data), True,
                      self._canonical or None)

    def tocoo(self) -> Any:
        return self.toscipy().tocoo()

    def toarray(self) -> np.ndarray:
        return self.toscipy().toarray()

    todense = toarray

    def copy(self) -> "csr":
        return csr(self.toscipy(), context=self._context, copy=True)

    def astype(self, dtype: Any) -> "csr":
        return csr(self.toscipy().astype(dtype), context=self._context)

    def conj(self) -> "csr":
        return csr(self.toscipy().conj(), context=self._context) if self.dtype.kind == "c" else self

    conjugate = conj

    # -- transposes ------------------------------------------------------------------------------------------------

    @property
    def T(self) -> "csr":
        """A^T in CSR; made on the device when its arrays or a product are first asked for, and kept."""
        if self._transposed is None:
            back = self._back()
            if back is not None:
                return back
            t = csr.__new__(csr)
            t._init((self.shape[1], self.shape[0]), None, self._context, self._container)
            t._source = self
            t._canonical = True if self._canonical else None
            self._transposed = t
        return self._transposed

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
        ctx, (m, n) = current(self._context), self.shape
        once = ctx._transpose(m, n, self._indptr, self._indices, self._data)
        canonical = self._canonical
        self._replace(*ctx._transpose(n, m, *once))
        self._sorted, self._canonical = True, canonical

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
        if self._dtype.str[1:] in _SUMMED:
            ctx, (m, n) = current(self._context), self.shape
            made = ctx._canonical(m, n, self._indptr, self._indices, self._data, _SUMMED[self._dtype.str[1:]])
            if made is not None:
                self._replace(*made)
                self._sorted = self._canonical = True
                return
        self.sort_indices()
        a = _build(self._container, self.shape, (self._indptr.copy(), self._indices.copy(), self._data.copy()), True, None)
        a.sum_duplicates()
        self._replace(a.indptr, a.indices, a.data)
        self._sorted = self._canonical = True

    def _replace(self, indptr: np.ndarray, indices: np.ndarray, data: np.ndarray) -> None:
        self.update()
        self._scipy = None
        self._set(indptr, indices, data)

    def update(self) -> None:
        """Values were changed in place: forget plans, transposes and copies on the device.

        >>> import numpy as np, scipy.sparse as sp, weft
        >>> A = weft.csr(sp.csr_array([[2.0, 1.0], [0.0, 3.0]]))
        >>> A.data[:] *= 10
        >>> A.update()
        >>> A @ np.array([1.0, 10.0])
        array([120., 300.])
        """
        self._there()
        self._forget()

    def _forget(self) -> None:
        self._plans.clear()
        self._parts = None
        self._transposed = None
        self._back = lambda: None

    # -- products --------------------------------------------------------------------------------------------------

    def plan(self, products: int = 0, *, dtype: Any = None, reproducible: bool = False,
             context: Optional[Context] = None) -> Plan:
        """Prepare `products` multiplications, and let later `A @ x` use what is made.

        products: how many are expected; 0: not known, the arrays are used as they are
        dtype: of the vectors, where it is not that of the matrix
        reproducible: the same bits on every device

        >>> import numpy as np, scipy.sparse as sp, weft
        >>> A = weft.csr(sp.csr_array([[2.0, 1.0], [0.0, 3.0]]))
        >>> A.plan(reproducible=True).info["algorithm"]
        'csr_fixed'
        """
        result = result_dtype(self.dtype, np.dtype(dtype) if dtype is not None else self.dtype)
        kind = ARITHMETIC.get(char(result))
        if kind is None:
            raise ValueError(f"no device multiplies values of type {result}: plan the parts, or let scipy multiply")
        owner = current(context if context is not None else self._context)._own()
        return Plan(self, self._plan_make(owner, kind, int(products), reproducible))

    def _plan_make(self, owner: _Owner, kind: int, products: int, reproducible: bool) -> _Prepared:
        self._there()
        shape = Shape(self.shape[0], self.shape[1], self.nnz, kind, self._indptr.dtype.itemsize == 8)
        data = self._data
        want = _c.DTYPES[kind]
        if data.dtype != want:
            data = as_type(data, want)
        plan = _Prepared(owner, shape, (self._indptr, self._indices, data), products, reproducible)
        self._plans[owner, kind] = plan
        return plan

    def _plan_for(self, kind: int) -> _Prepared:
        owner = current(self._context)._own()
        return self._plans.get((owner, kind)) or self._plan_make(owner, kind, 0, False)

    def _vector(self, x: np.ndarray, given: Optional[_Prepared]) -> np.ndarray:
        """A @ x for one vector of n elements, or for the columns of a matrix, in scipy's type."""
        self._there()
        result = result_dtype(self.dtype, x.dtype)
        if result.char in _PARTS:
            return self._complex(x, result)
        kind = ARITHMETIC.get(char(result))
        if kind is None:  # 64-bit integers, long double, objects
            return self.toscipy() @ x
        if self.nnz == 0:
            return np.zeros((self.shape[0],) + x.shape[1:], result)
        want = _c.DTYPES[kind]
        if x.dtype != want:
            x = as_type(x, want)
        y = np.empty((self.shape[0],) + x.shape[1:], want)
        plan = given if given is not None and (given.shape.type, given.shape.nnz) == (kind, self._nnz) else self._plan_for(kind)
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

    def _complex(self, x: np.ndarray, result: np.dtype) -> np.ndarray:
        """Products of the parts, which are matrices of their own on the same pattern."""
        real = _PARTS[result.char]
        xs = (x.real, x.imag) if x.dtype.kind == "c" else (x, None)
        if self.dtype.kind == "c":
            if self._parts is None:
                self._parts = (self._with(self.data.real.copy()), self._with(self.data.imag.copy()))
            mats: Tuple[csr, Optional[csr]] = self._parts
        else:
            mats = (self, None)
        y = np.empty((self.shape[0],) + x.shape[1:], result)

        def times(a: Optional[csr], v: Optional[np.ndarray]) -> Any:
            return 0 if a is None or v is None else a._vector(np.ascontiguousarray(v, dtype=real), None)

        y.real = times(mats[0], xs[0]) - times(mats[1], xs[1])
        y.imag = times(mats[0], xs[1]) + times(mats[1], xs[0])
        return y

    def _with(self, data: np.ndarray) -> "csr":
        out = csr.__new__(csr)
        out._init(self.shape, (self.indptr, self.indices, data), self._context, self._container)
        return out

    def _product(self, x: Any, plan: Optional[_Prepared] = None) -> Any:
        if _is_pyopencl(x):
            return self._product_pyopencl(x)
        if sp.issparse(x) or isinstance(x, csr):
            return self.toscipy() @ (x.toscipy() if isinstance(x, csr) else x)
        x = _host(x)
        if x.ndim not in (1, 2) or x.shape[0] != self.shape[1] or x.dtype.kind not in "biufc":
            return self.toscipy() @ x  # scipy's own answer, or its error
        y = self._vector(np.asarray(x), plan)
        return np.asmatrix(y) if isinstance(x, np.matrix) and not _is_array(self._container) else y

    def _product_pyopencl(self, x: Any) -> Any:
        """A @ x for a vector in device memory, a buffer or an array: nothing comes to the host."""
        import pyopencl.array
        if isinstance(x, pyopencl.Buffer):
            return self._product_buffer(x, pyopencl)
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
        owner = self._owner_of(x)
        y: Any = pyopencl.array.empty(x.queue, self.shape[0], x.dtype)
        x = x if not x.offset else x.copy()
        x.finish()
        self._product_there(owner, kind, x.base_data, y.base_data)
        return y

    def _product_buffer(self, x: Any, cl: Any) -> Any:
        """The same for values of the matrix's type in a buffer of pyopencl, which nobody writes any more."""
        kind = _c.TYPES.get(self.dtype.str[1:])
        if kind is None:
            raise TypeError(f"a matrix of {self.dtype} times a buffer: float32, float64 and int32 have buffers")
        size = self.dtype.itemsize
        if x.size < self.shape[1] * size:
            raise ValueError(f"x is a buffer of {x.size} bytes, {self.shape[1]} values of {self.dtype} need {self.shape[1] * size}")
        y = cl.Buffer(x.context, cl.mem_flags.READ_WRITE, max(1, self.shape[0] * size))
        self._product_there(self._owner_of(x), kind, x, y)
        return y

    def _product_there(self, owner: _Owner, kind: int, x: Any, y: Any) -> None:
        self._there()
        plan = self._plans.get((owner, kind)) or self._plan_make(owner, kind, 0, False)
        with owner.lock:
            _c.spmv_run(owner.ctx, plan.plan, owner.queue, ffi.cast("cl_mem", x.int_ptr), ffi.cast("cl_mem", y.int_ptr))
            owner.finish()

    def _owner_of(self, x: Any) -> _Owner:
        """The owner of the array's OpenCL context: the matrix's own where it is the same, else one that is kept."""
        known = current(self._context)._own()
        if int(ffi.cast("uintptr_t", known.cl_context)) == x.context.int_ptr:
            return known
        for owner, _ in self._plans:
            if int(ffi.cast("uintptr_t", owner.cl_context)) == x.context.int_ptr:
                return owner
        return Context(context=x.context, queue=getattr(x, "queue", None))._own()

    def __matmul__(self, x: Any) -> Any:
        if np.isscalar(x):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self._product(x)

    def __rmatmul__(self, x: Any) -> Any:
        if np.isscalar(x):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        x = x if sp.issparse(x) else _host(x)
        if sp.issparse(x) or x.ndim not in (1, 2) or x.shape[-1] != self.shape[0]:
            return x @ self.toscipy()
        return (self.T @ x.T).T

    def dot(self, x: Any) -> Any:
        """A @ x; a number is a factor."""
        return csr(self.toscipy() * x, context=self._context) if np.isscalar(x) else self._product(x)

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
        self.update()

    def __reduce__(self) -> Tuple[Any, ...]:
        """Pickled as scipy's matrix: plans and the context stay here."""
        return csr, (self.toscipy(),)

    def __repr__(self) -> str:
        return f"<weft.csr of {self.shape[0]} x {self.shape[1]}, {self.nnz} entries of {self.dtype}>"


def _is_pyopencl(x: Any) -> bool:
    """An array or a buffer of pyopencl."""
    return type(x).__module__.startswith("pyopencl") and (hasattr(x, "base_data") or hasattr(x, "get_info"))


def _host(x: Any) -> Any:
    """An array of numpy: also from DLPack, from pyopencl and from lists."""
    if isinstance(x, (np.ndarray, tuple)):
        return tuple(_host(part) for part in x) if isinstance(x, tuple) else x
    if _is_pyopencl(x) and hasattr(x, "get"):
        return x.get()
    if hasattr(x, "__dlpack__") and not hasattr(x, "__array__") and hasattr(np, "from_dlpack"):
        return np.from_dlpack(x)
    return np.asanyarray(x)


def _other(container: type, name: str) -> type:
    """The class of scipy for another format: arrays stay arrays, matrices stay matrices."""
    kind = "matrix" if issubclass(container, sp.spmatrix) and not _is_array(container) else "array"
    return getattr(sp, f"{name}_{kind}")


def _is_array(container: type) -> bool:
    return hasattr(sp, "sparray") and issubclass(container, sp.sparray) or container.__name__.endswith("_array")


def _flags(a: Any) -> Tuple[Optional[bool], Optional[bool]]:
    """What scipy knows already of a matrix's order and duplicates, without a look at it."""
    known = a.__dict__
    return known.get("_has_sorted_indices"), known.get("_has_canonical_format")


def _build(container: type, shape: Tuple[int, int], arrays: Tuple[np.ndarray, np.ndarray, np.ndarray],
           ordered: Optional[bool], canonical: Optional[bool]) -> Any:
    indptr, indices, data = arrays
    out = container((data, indices, indptr), shape=shape, copy=False)
    if ordered is not None:
        out.has_sorted_indices = ordered
    if canonical is not None:
        out.has_canonical_format = canonical
    return out


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
    of = csr.__new__(csr)
    by_columns = a.format == "csc"
    of._init(a.shape[::-1] if by_columns else a.shape, (a.indptr, a.indices, a.data), context, type(a))
    m, n = of.shape
    ctx = current(context)
    if of.nnz == 0 or not ctx._checks():
        _c.validate(Shape(m, n, of.nnz, _c.PATTERN, of.indptr.dtype.itemsize == 8), of.indptr, of.indices)
    made = ctx._transpose(m, n, of.indptr, of.indices, of.data)
    return _build(type(a), (m, n) if by_columns else (n, m), made, True, _flags(a)[1] or None)
