# SPDX-License-Identifier: Apache-2.0
"""Types of numpy: which the device computes with, and arrays as it reads them."""
from __future__ import annotations

from typing import Any, Dict, Tuple

import numpy as np
import scipy.sparse as sp

from . import _c

# Which type of the device does the arithmetic of a numpy type. Small integers wrap as the 32-bit sum of their products
# does; bool counts its terms and asks whether there was one.
ARITHMETIC = {"?": _c.I32, "b": _c.I32, "B": _c.I32, "h": _c.I32, "H": _c.I32, "i": _c.I32, "I": _c.I32, "f": _c.F32,
              "d": _c.F64}


def char(dtype: np.dtype) -> str:
    """One letter for a type: long and long long are the integers of their size."""
    if dtype.kind in "iu" and dtype.itemsize in (4, 8):
        return ("i" if dtype.itemsize == 4 else "l") if dtype.kind == "i" else ("I" if dtype.itemsize == 4 else "L")
    return dtype.char


def _upcast(a: np.dtype, b: np.dtype) -> np.dtype:
    """The type of a product, by scipy's rule."""
    return np.dtype((sp.csr_matrix((0, 0), dtype=a.newbyteorder("=")) @ np.empty(0, b)).dtype)


_upcasts: Dict[Tuple[np.dtype, np.dtype], np.dtype] = {}


def result_dtype(a: np.dtype, b: np.dtype) -> np.dtype:
    if (a, b) not in _upcasts:
        _upcasts[a, b] = _upcast(a, b)
    return _upcasts[a, b]


def narrow(index: np.ndarray, what: str) -> np.ndarray:
    """Indices of 32 bits, checked; the same array where it has them."""
    if index.dtype == np.int32 and index.flags.c_contiguous and index.flags.aligned and index.dtype.isnative:
        return index
    if index.dtype.kind not in "iu":
        raise TypeError(f"{what} are of type {index.dtype}, not integers")
    if index.size and (int(index.max()) > _c.INT32_MAX or int(index.min()) < 0):
        raise ValueError(f"{what} are outside 0 .. 2^31-1")
    return np.ascontiguousarray(index, np.int32)


def plain(array: np.ndarray) -> np.ndarray:
    """The same values as the device reads them: contiguous, aligned, native."""
    if array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative:
        return array
    return np.require(array, array.dtype.newbyteorder("="), ["C", "A"])


def as_type(array: np.ndarray, want: np.dtype) -> np.ndarray:
    """Values in the device's type; those of uint32 are the same bits."""
    return array.view(want) if array.dtype == np.uint32 and want == np.int32 and array.flags.c_contiguous else array.astype(want)


def is_pyopencl(x: Any) -> bool:
    """An array or a buffer of pyopencl."""
    return type(x).__module__.startswith("pyopencl") and (hasattr(x, "base_data") or hasattr(x, "get_info"))


def host(x: Any) -> Any:
    """An array of numpy: also from DLPack, from pyopencl, from lists and tuples."""
    if isinstance(x, np.ndarray):
        return x
    if is_pyopencl(x) and hasattr(x, "get"):
        return x.get()
    if hasattr(x, "__dlpack__") and not hasattr(x, "__array__") and hasattr(np, "from_dlpack"):
        return np.from_dlpack(x)
    return np.asanyarray(x)


def number(x: Any) -> bool:
    """One number, of Python or numpy."""
    return bool(np.isscalar(x)) and not isinstance(x, (str, bytes))
