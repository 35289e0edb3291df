# SPDX-License-Identifier: Apache-2.0
"""Arrays of a matrix as the device reads them, from scipy's and back to them."""
from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import numpy as np
import scipy.sparse as sp

from . import _c
from ._c import Shape
from ._types import narrow, plain


class Arrays:
    """The arrays of a matrix, checked for their shapes, and all that was made from them.

    A matrix that changed has another one: by that its plans and transposes know that they are old.
    """

    def __init__(self, shape: Tuple[int, int], arrays: Tuple[np.ndarray, np.ndarray, np.ndarray], origin: Any = None) -> None:
        """arrays: indptr, indices, data; origin: the matrix of scipy that has them, if there is one"""
        indptr, indices, data = arrays
        if max(shape) > _c.INT32_MAX:
            raise ValueError(f"a matrix of {shape[0]} x {shape[1]}: sizes are up to 2^31-1")
        if (indptr.ndim, indices.ndim, data.ndim) != (1, 1, 1) or len(indptr) != shape[0] + 1:
            raise ValueError(f"the arrays have the shapes {indptr.shape}, {indices.shape}, {data.shape}; "
                             f"{shape[0]} rows need {shape[0] + 1} row pointers")
        nnz = int(indptr[-1])
        if nnz < 0 or nnz > min(len(indices), len(data)):
            raise ValueError(f"indptr ends with {nnz}, there are {len(indices)} indices and {len(data)} values")
        self.shape, self.nnz, self.origin = shape, nnz, origin
        self.indptr = narrow(indptr, "row pointers") if nnz <= _c.INT32_MAX else np.ascontiguousarray(indptr, np.int64)
        self.indices = narrow(indices[:nnz], "column indices")
        self.given = data[:nnz]  # where the values may change: `data` is a copy of them if the device cannot read them
        self.data = plain(self.given)
        self.sorted, self.canonical = known_flags(origin) if origin is not None else (None, None)
        self.plans: Dict[Any, Any] = {}
        self.parts: Any = None  # matrices of the real and of the imaginary parts

    def describe(self, kind: int) -> Shape:
        return Shape(self.shape[0], self.shape[1], self.nnz, kind, self.indptr.dtype.itemsize == 8)

    def check(self) -> "Arrays":
        """Row pointers ascend, and column indices are in range; WeftValueError: not so."""
        _c.validate(self.describe(_c.PATTERN), self.indptr, self.indices)
        return self

    def outdated(self) -> bool:
        """Has scipy's matrix another structure by now? It sorts and adds up duplicates in place, also unasked (`a.max(axis=1)`)."""
        a = self.origin
        return a is not None and (a.nnz != self.nnz or a.shape != self.shape or bool(known_flags(a)[0]) and not self.sorted)

    def reread(self) -> "Arrays":
        """The arrays as they are now, checked once more."""
        a = self.origin
        if a is None:
            return Arrays(self.shape, (self.indptr, self.indices, self.given)).check()
        if a.shape != self.shape:
            raise ValueError(f"the matrix was {self.shape[0]} x {self.shape[1]} and was resized to {a.shape[0]} x {a.shape[1]}")
        return Arrays(self.shape, (a.indptr, a.indices, a.data), a).check()


def is_array(container: type) -> bool:
    """Is a class of scipy one of arrays, whose products are arrays?"""
    return hasattr(sp, "sparray") and issubclass(container, sp.sparray) or container.__name__.endswith("_array")


def other(container: type, name: str) -> type:
    """The class of scipy for another format: arrays stay arrays, matrices stay matrices."""
    kind = "matrix" if issubclass(container, sp.spmatrix) and not is_array(container) else "array"
    return getattr(sp, f"{name}_{kind}")


def known_flags(a: Any) -> Tuple[Optional[bool], Optional[bool]]:
    """What scipy knows already of a matrix's order and duplicates, without a look at it."""
    found = a.__dict__
    return found.get("_has_sorted_indices"), found.get("_has_canonical_format")


def build(container: type, shape: Tuple[int, int], arrays: Tuple[np.ndarray, np.ndarray, np.ndarray],
          ordered: Optional[bool], canonical: Optional[bool]) -> Any:
    """A matrix of scipy on these arrays."""
    indptr, indices, data = arrays
    out = container((data, indices, indptr), shape=shape, copy=False)
    if ordered is not None:
        out.has_sorted_indices = ordered
    if canonical is not None:
        out.has_canonical_format = canonical
    return out
