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
from ._arrays import Arrays
from ._matrix import csr


def _of(a: Any) -> Arrays:
    return (a if isinstance(a, csr) else csr(a))._there()


def _pattern(a: Any) -> Any:
    """A matrix for C, and what has to stay alive meanwhile. Complex values and objects are left out."""
    of = _of(a)
    data = of.data
    kind = _c.TYPES.get(data.dtype.str[1:], _c.PATTERN)
    if kind == _c.PATTERN and data.dtype.kind in "biuf":
        data, kind = data.astype(np.float64), _c.F64
    return _c.csr_struct(of.describe(kind), of.indptr, of.indices, None if kind == _c.PATTERN else data), (of, data)


def _exact(data: np.ndarray) -> np.ndarray:
    """The same values in a type that files have: int32 for integers that it holds, else float64."""
    if data.dtype.str[1:] in _c.TYPES:
        return data
    if data.dtype.kind not in "biuf":
        raise TypeError(f"values of type {data.dtype} are not written: integers and real numbers are")
    lost: Any = []
    if data.dtype.kind == "f":
        made = data.astype(np.float64)
        lost = data[(made.astype(data.dtype) != data) & ~np.isnan(data)]
    elif not data.size or (int(data.min()) >= -2**31 and int(data.max()) < 2**31):
        made = data.astype(np.int32)
    else:
        made = data.astype(np.float64)
        lost = [whole for whole in data[np.abs(made) >= 2.0**53].tolist() if int(float(whole)) != whole]
    if len(lost):
        raise ValueError(f"{lost[0]!s} is no value of float64, in which files are written: convert the {data.dtype} first")
    return made


def read_mtx(path: Any, dtype: Any = np.float64, *, complex: str = "refuse", threads: int = 0) -> sp.csr_array:
    """Read a Matrix Market file, plain, .gz or an archive .tar.gz of SuiteSparse, by all processors at once.

    Files of Rutherford-Boeing and Harwell-Boeing are read too.

    dtype: of the values: float32, float64 or int32
    complex: "refuse" (a WeftFileError), or take the "real" or "imag" parts

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

    Reading into the same type gives the same values: float32 has 9 digits, float64 17, integers that 32 bits hold all of
    theirs. Other types are written as float64; a ValueError says which value float64 does not have.

    >>> import os, tempfile, scipy.sparse as sp, weft
    >>> name = os.path.join(tempfile.mkdtemp(), "small.mtx.gz")
    >>> weft.write_mtx(name, sp.csr_array([[2.0, 1.0]]))
    >>> weft.read_mtx(name).nnz
    2
    """
    of = _of(a)
    data = _exact(of.data)
    _c.mtx_write(os.fspath(path), _c.csr_struct(of.describe(_c.TYPES[data.dtype.str[1:]]), of.indptr, of.indices, data))


def info(a: Any, *, threads: int = 0) -> Dict[str, Any]:
    """Figures of a matrix's pattern: row and column lengths, bandwidths, symmetry, entropy, locality.

    Values of complex numbers and of objects are not compared: their value_symmetry is that of the pattern.

    >>> import scipy.sparse as sp, weft
    >>> weft.info(sp.csr_array([[2.0, 1.0], [0.0, 3.0]]))["row"]["most"]
    2
    """
    struct, keep = _pattern(a)
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
    struct, keep = _pattern(a)
    counts = _c.density(struct, rows, cols, threads)
    del keep
    if ax is not None:
        ax.imshow(np.log1p(counts), interpolation="nearest", cmap="Greys", aspect="auto")
    return counts
