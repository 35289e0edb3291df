# SPDX-License-Identifier: Apache-2.0
"""Sparse matrix transposition and products on any OpenCL device, for scipy's matrices.

>>> import numpy as np, scipy.sparse as sp, weft
>>> A = weft.csr(sp.random(1000, 800, 0.01, "csr", random_state=0))
>>> y = A @ np.ones(800)
>>> bool(np.allclose(y, A.toscipy() @ np.ones(800)))
True
>>> weft.transpose(A.toscipy()).shape
(800, 1000)
"""
from ._c import Device, WeftDeviceError, WeftError, WeftFileError, WeftMemoryError, WeftValueError
from ._c import version as _version
from ._context import Context, devices
from ._matrix import csr, transpose
from ._plan import Plan
from ._tools import info, read_mtx, spy, write_mtx

__version__ = ".".join(str(part) for part in _version())
__all__ = [
    "Context", "Device", "Plan", "WeftDeviceError", "WeftError", "WeftFileError", "WeftMemoryError", "WeftValueError",
    "csr", "devices", "info", "read_mtx", "spy", "transpose", "write_mtx",
]
