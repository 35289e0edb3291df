# SPDX-License-Identifier: Apache-2.0
"""Plans: a matrix prepared for products."""
from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Dict, Tuple

import numpy as np

from . import _c
from ._arrays import Arrays
from ._c import ffi
from ._context import _Owner

if TYPE_CHECKING:
    from ._matrix import csr


class _Prepared:
    """The C plan of a matrix for one type, and the buffers that it reads."""

    def __init__(self, owner: _Owner, of: Arrays, kind: int, data: np.ndarray, products: int, reproducible: bool) -> None:
        """data: the values of `of` in the type of the device"""
        self.owner, self.shape, self.arrays = owner, of.describe(kind), (of.indptr, of.indices, data)
        self.made_of, self.products, self.reproducible = weakref.ref(of), products, reproducible  # of has its plans itself
        with owner:
            self.buffers = [owner.buffer(array) for array in self.arrays]
            made = _c.spmv_plan(owner.ctx, owner.queue, _c.device_csr(self.shape, *self.buffers), products, reproducible)
        self.plan = ffi.gc(made, lambda p, keep=(owner, self.buffers): _c.spmv_destroy(p))
        self.vectors: Any = None

    def _vectors(self, x: np.ndarray, y: np.ndarray) -> Tuple[Any, Any]:
        """Buffers of both; where nothing can be shared they are the plan's own, kept for the next product."""
        owner = self.owner
        if owner.device.unified:
            return owner.buffer(x), owner.buffer_out(y)
        if self.vectors is None:
            self.vectors = owner.empty(x.nbytes), owner.empty(y.nbytes)
        owner.write(self.vectors[0], x)
        return self.vectors

    def run(self, x: np.ndarray, y: np.ndarray) -> None:
        """y = A @ x for contiguous vectors of the plan's own type."""
        owner = self.owner
        with owner:
            given, made = self._vectors(x, y)
            try:
                _c.spmv_run(owner.ctx, self.plan, owner.queue, given, made)
                owner.take(made, y)
            finally:
                owner.finish()

    def run_columns(self, x: np.ndarray, y: np.ndarray) -> None:
        """Y = A @ X for arrays of the plan's own type whose columns are contiguous: enqueued together, then waited for."""
        owner = self.owner
        if not owner.device.unified:
            for given, made in zip(x.T, y.T):
                self.run(given, made)
            return
        with owner:
            used = [(owner.buffer(given), owner.buffer_out(made), made) for given, made in zip(x.T, y.T)]
            try:
                for given, made, _ in used:
                    _c.spmv_run(owner.ctx, self.plan, owner.queue, given, made)
                for _, made, array in used:
                    owner.take(made, array)
            finally:
                owner.finish()


class Plan:
    """A matrix prepared for products: analysed once, and converted where `products` says that it pays.

    >>> import numpy as np, scipy.sparse as sp, weft
    >>> p = weft.csr(sp.csr_array([[2.0, 1.0], [0.0, 3.0]])).plan(products=1000)
    >>> p @ np.array([1.0, 10.0])
    array([12., 30.])

    When the matrix was updated, the plan is made again at its next product.
    """

    def __init__(self, matrix: "csr", prepared: _Prepared) -> None:
        self._matrix, self._prepared = matrix, prepared

    @property
    def info(self) -> Dict[str, Any]:
        """The algorithm that runs and why, figures of the rows, bytes, times of analysis and conversion in ms."""
        was = self._prepared
        return _c.spmv_info(self._matrix._plan_for(was.owner, was.shape.type, self).plan)

    def __matmul__(self, x: Any) -> Any:
        return self._matrix._product(x, self)

    __call__ = __matmul__

    def __repr__(self) -> str:
        (m, n), made = self._matrix.shape, self._prepared
        return (f"<weft.Plan of {m} x {n}, {made.shape.nnz} entries of {_c.DTYPES[made.shape.type]}, "
                f"{_c.spmv_info(made.plan)['algorithm']} on {made.owner.device.name!r}>")
