# SPDX-License-Identifier: Apache-2.0
"""Files and figures of matrices: Matrix Market, spy, info."""
from __future__ import annotations

import lzma
import os
import tarfile
import zlib
from typing import Any, Dict

import numpy as np
import scipy.sparse as sp

from . import _c
from ._matrix import csr


def _struct(a: Any) -> Any:
    """A matrix for C, and what has to stay alive meanwhile."""
    of = a if isinstance(a, csr) else csr(a)
    data = of.data
    kind = _c.TYPES.get(data.dtype.str[1:])
    if kind is None and data.dtype.kind in "biuf":
        data = data.astype(np.int32 if data.dtype.kind in "bi" and data.dtype.itemsize < 4 else np.float64)
        kind = _c.TYPES[data.dtype.str[1:]]
    if kind is None:
        raise TypeError(f"values of type {data.dtype} are not for this")
    shape = _c.Shape(of.shape[0], of.shape[1], of.nnz, kind, of.indptr.dtype.itemsize == 8)
    return _c.csr_struct(shape, of.indptr, of.indices, data), (of, data)


def read_mtx(path: Any, dtype: Any = np.float64, *, complex: str = "refuse", threads: int = 0) -> sp.csr_array:
    """Read a Matrix Market file, plain, .gz or an archive .tar.gz of SuiteSparse, by all processors at once.

    Files of Rutherford-Boeing and Harwell-Boeing are read too.

    dtype: of the values: float32, float64 or int32
    complex: "refuse", or take the "real" or "imag" parts

    >>> import os, tempfile, scipy.sparse as sp, weft
    >>> name = os.path.join(tempfile.mkdtemp(), "small.mtx")
    >>> weft.write_mtx(name, sp.csr_array([[2.0, 1.0], [0.0, 3.0]]))
    >>> weft.read_mtx(name).toarray()
    array([[2., 1.],
           [0., 3.]])
    """
    want = np.dtype(dtype)
    if want.str[1:] not in _c.TYPES:
        raise TypeError(f"dtype is {want}, it must be float32, float64 or int32")
    name = os.fsdecode(path)
    if name.endswith((".tar.gz", ".tgz", ".tar")):
        shape, indptr, indices, data = _c.mtx_parse(name, _unpacked(name), want, complex, threads)
    else:
        shape, indptr, indices, data = _c.mtx_read(name, want, complex, threads)
    return sp.csr_array((data, indices, indptr if shape.nnz > _c.INT32_MAX else indptr.astype(np.int32)),
                        shape=(shape.m, shape.n))


def _unpacked(name: str) -> bytes:
    """The matrix of an archive: NAME/NAME.mtx, or the only .mtx file."""
    try:
        with tarfile.open(name) as archive:
            files = [f for f in archive.getmembers() if f.isfile() and f.name.endswith(".mtx")]
            stem = os.path.basename(name).split(".tar")[0].split(".tgz")[0]
            wanted = [f for f in files if os.path.basename(f.name) == stem + ".mtx"] or files
            most = max(1000 * os.path.getsize(name), 256 << 20)  # as the library's own: what a few bytes promise is not believed
            if len(wanted) == 1 and wanted[0].size > most:
                raise _c.fail(_c.lib.WEFT_ERANGE, f"{name}: {wanted[0].name} has {wanted[0].size} bytes, the limit for this file is {most}")
            stream = archive.extractfile(wanted[0]) if len(wanted) == 1 else None
            if stream is None:
                raise _c.fail(_c.lib.WEFT_EFORMAT, f"{name}: {len(files)} .mtx files, none of them {stem}.mtx")
            text = stream.read()
            while archive.fileobj is not None and archive.fileobj.read(1 << 20):
                pass  # the checksum stands at the end
            return text
    except (OSError, tarfile.TarError, EOFError, zlib.error, lzma.LZMAError) as why:
        raise _c.fail(_c.lib.WEFT_EIO, f"{name}: {str(why).splitlines()[0] if str(why) else type(why).__name__}") from why


def write_mtx(path: Any, a: Any) -> None:
    """Write a Matrix Market file, compressed where the name ends in .gz. It appears whole or not at all.

    >>> import os, tempfile, scipy.sparse as sp, weft
    >>> name = os.path.join(tempfile.mkdtemp(), "small.mtx.gz")
    >>> weft.write_mtx(name, sp.csr_array([[2.0, 1.0]]))
    >>> weft.read_mtx(name).nnz
    2
    """
    struct, keep = _struct(a)
    _c.mtx_write(os.fspath(path), struct)
    del keep


def info(a: Any, *, threads: int = 0) -> Dict[str, Any]:
    """Figures of a matrix's pattern: row and column lengths, bandwidths, symmetry, entropy, locality.

    >>> import scipy.sparse as sp, weft
    >>> weft.info(sp.csr_array([[2.0, 1.0], [0.0, 3.0]]))["row"]["most"]
    2
    """
    struct, keep = _struct(a)
    found = _c.measures(struct, threads)
    del keep
    return found


def spy(a: Any, rows: int = 64, cols: int = 64, *, ax: Any = None, threads: int = 0) -> np.ndarray:
    """How many entries lie in each of rows x cols equal parts of a matrix; drawn where a matplotlib axis is given.

    >>> import scipy.sparse as sp, weft
    >>> weft.spy(sp.eye_array(4, format="csr"), 2, 2) if hasattr(sp, "eye_array") else weft.spy(sp.eye(4), 2, 2)
    array([[2, 0],
           [0, 2]])
    """
    struct, keep = _struct(a)
    counts = _c.density(struct, rows, cols, threads)
    del keep
    if ax is not None:
        ax.imshow(np.log1p(counts), interpolation="nearest", cmap="Greys", aspect="auto")
    return counts
