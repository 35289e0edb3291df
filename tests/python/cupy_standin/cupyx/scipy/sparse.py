# SPDX-License-Identifier: Apache-2.0
"""Matrices of the stand-in. CUPY_STANDIN=wrong: one value of a transpose and one of a product are not right."""
import os

import cupy
import scipy.sparse as sp


def spoil(values):
    if os.environ.get("CUPY_STANDIN") == "wrong" and len(values):
        values[0] += 1


class csr_matrix:
    def __init__(self, a):
        assert sp.issparse(a) and a.format in ("csr", "csc")
        self.a = a.copy()

    @property
    def T(self):
        return csr_matrix(self.a.T)

    def tocsr(self):
        made = self.a.tocsr()
        spoil(made.data)
        return csr_matrix(made)

    def get(self):
        return self.a

    def __matmul__(self, x):
        assert isinstance(x, cupy.ndarray)
        y = self.a @ x.array
        spoil(y)
        return cupy.ndarray(y)
