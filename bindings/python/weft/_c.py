# SPDX-License-Identifier: Apache-2.0
"""The C library as Python sees it: loading, errors, and every struct and field of libweft that the package touches."""
from __future__ import annotations

import ctypes.util
import glob
import importlib
import os
import sysconfig
import threading
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from ._cffi import ffi

lib: Any = ffi.dlopen(os.path.join(os.path.dirname(os.path.abspath(__file__)), "_weft.so"))
NULL: Any = ffi.NULL
INT32_MAX = 2**31 - 1


# ---- errors --------------------------------------------------------------------------------------------------------


class WeftError(Exception):
    """A failure of the library; `status` is its number, the text says which argument, file or call."""

    status = 0


class WeftValueError(WeftError, ValueError):
    """An argument, a matrix or a file that cannot be right."""


class WeftMemoryError(WeftError, MemoryError):
    """Memory of the host or of the device is not enough."""


class WeftDeviceError(WeftError, RuntimeError):
    """There is no device, it lacks something, or its driver failed."""


class WeftFileError(WeftError, OSError):
    """A file cannot be read or written, or is of a kind that is not read."""


_KINDS: Dict[int, type] = {
    lib.WEFT_EINVAL: WeftValueError, lib.WEFT_ENOMEM: WeftMemoryError, lib.WEFT_EDEVMEM: WeftMemoryError,
    lib.WEFT_ENODEV: WeftDeviceError, lib.WEFT_EDEVICE: WeftDeviceError, lib.WEFT_EBUILD: WeftDeviceError,
    lib.WEFT_ERANGE: WeftValueError, lib.WEFT_EUNSUPPORTED: WeftDeviceError, lib.WEFT_EIO: WeftFileError,
    lib.WEFT_EFORMAT: WeftValueError, lib.WEFT_EMATRIX: WeftValueError,
}


def error_new() -> Any:
    return ffi.new("struct weft_error *")


def fail(status: int, text: str) -> WeftError:
    """The exception for a status."""
    error = _KINDS.get(status, WeftError)(text or ffi.string(lib.weft_status_text(status)).decode())
    error.status = int(status)
    return error


def check(status: int, err: Any) -> None:
    """Raise what a function without a context reports."""
    if status:
        raise fail(status, ffi.string(err.text).decode(errors="replace"))


def chars(text: Any) -> bytes:
    """A text or a path for C, which would end it at a zero byte."""
    made = os.fsencode(text)
    if b"\0" in made:
        raise ValueError(f"{text!r} has a null byte in it")
    return made


def parsed(name: str, text: str) -> int:
    """The number of an enum's word; a ValueError says which there are."""
    out = ffi.new(f"enum weft_{name} *")
    if not isinstance(text, str) or getattr(lib, f"weft_{name}_parse")(out, chars(text)):
        words = [ffi.string(getattr(lib, f"weft_{name}_name")(i)).decode() for i in ffi.typeof(f"enum weft_{name}").elements]
        raise ValueError(f"{name.replace('_', ' ')} is {text!r}, it must be one of {', '.join(words)}")
    return int(out[0])


def check_in(status: int, ctx: Any) -> None:
    """Raise what a function with a context reports."""
    if status:
        err = error_new()
        lib.weft_context_error(err, ctx)
        raise fail(status, ffi.string(err.text).decode(errors="replace"))


# ---- fork ----------------------------------------------------------------------------------------------------------

_forked = False  # this process is a child of one that had opened OpenCL


def _after_fork() -> None:
    """In the child: a driver's threads stayed in the parent, and locks may be held by them."""
    global _forked, _loader_lock
    _forked = _forked or _loader is not None
    _loader_lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def check_process() -> None:
    """Raise where a call of OpenCL would wait for ever."""
    if _forked:
        raise fail(lib.WEFT_EDEVICE, "OpenCL was opened before this process was forked, and it does not survive a fork: "
                                     'use multiprocessing\'s start method "spawn"')


def release(call: Callable[..., Any], *args: Any) -> None:
    """Give back what belongs to the driver; in a forked child it is the parent's."""
    if not _forked:
        call(*args)


# ---- the loader of OpenCL ------------------------------------------------------------------------------------------

_loader: Any = None
_loader_searched: List[str] = []
_loader_lock = threading.Lock()
_HELP = ("install a loader and a driver (Debian, Ubuntu: apt-get install ocl-icd-libopencl1 pocl-opencl-icd; "
         "a GPU: its vendor's driver), or pip install 'weft[cpu]' for the processor")


def _loader_paths() -> List[str]:
    """The system's loader first, then those that packages of Python bring."""
    paths = ["libOpenCL.so.1", "libOpenCL.so"]
    found = ctypes.util.find_library("OpenCL")
    if found and found not in paths:
        paths.append(found)
    for folder in dict.fromkeys(sysconfig.get_paths()[key] for key in ("platlib", "purelib")):
        for pattern in ("pyopencl/.libs/libOpenCL*.so*", "pyopencl.libs/libOpenCL*.so*"):
            paths += sorted(glob.glob(os.path.join(folder, pattern)))
    return paths


def opencl() -> Any:
    """The loader of OpenCL, with its calls as attributes; WeftDeviceError: none, with what was searched."""
    global _loader
    check_process()
    with _loader_lock:
        if _loader is None:
            _loader_searched.clear()
            for path in _loader_paths():
                try: # global: libweft takes the loader that the process has
                    if "pyopencl" in path: # whose loader finds its drivers only in the process that imports it
                        importlib.import_module("pyopencl")
                    _loader = ffi.dlopen(path, ffi.RTLD_NOW | ffi.RTLD_GLOBAL)
                    break
                except (OSError, ImportError) as why:
                    _loader_searched.append(str(why).split(". ")[0])
        if _loader is None:
            raise fail(lib.WEFT_ENODEV, f"no loader of OpenCL: {'; '.join(_loader_searched)}. {_HELP}")
        return _loader


def check_cl(code: int, what: str) -> None:
    if code:
        raise fail(lib.WEFT_EDEVICE, f"{what}: OpenCL error {code}")


# ---- devices and contexts ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Device:
    """One OpenCL device, as its driver describes it.

    >>> import weft
    >>> device = weft.devices()[0]
    >>> device.usable and device.kind in ("cpu", "gpu", "accelerator") and device.memory > 0
    True
    """

    index: int
    name: str
    platform: str
    vendor: str
    driver: str
    version: str
    kind: str  #: "cpu", "gpu" or "accelerator"
    memory: int  #: bytes
    compute_units: int
    fp64: bool
    unified: bool  #: it shares the host's memory: numpy arrays are used where they are
    why: str  #: why it cannot be used; "" when it can

    @property
    def usable(self) -> bool:
        return not self.why


def _text(chars: Any) -> str:
    return ffi.string(chars).decode(errors="replace").strip()


def _device(info: Any) -> Device:
    kind = "cpu" if info.type & 2 else "gpu" if info.type & 4 else "accelerator"
    return Device(info.index, _text(info.name), _text(info.platform), _text(info.vendor), _text(info.driver),
                  _text(info.version), kind, info.global_bytes, info.compute_units, bool(info.fp64),
                  bool(info.unified), _text(info.why))


def no_device(err: Any, origin: str = "") -> WeftError:
    """What the library says, of the text that `origin` gave, and what to install where there is nothing at all."""
    text = _text(err.text)
    return fail(lib.WEFT_ENODEV, f"{text.split(': ')[0]}: {_HELP}" if text.startswith("no OpenCL") else origin + text)


def devices_list() -> List[Device]:
    opencl()
    out, count, err = ffi.new("struct weft_device_info **"), ffi.new("size_t *"), error_new()
    status = lib.weft_devices_list(out, count, err)
    if status == lib.WEFT_ENODEV:
        raise no_device(err)
    check(status, err)
    found = [_device(out[0][i]) for i in range(count[0])]
    lib.weft_devices_free(out)
    return found


def context_create(select: Optional[str], cl_context: int, cl_device: int, schedule: str,
                   cache_dir: Optional[str], origin: str) -> Any:
    opencl()
    params = ffi.new("struct weft_context_params *")
    keep = ffi.new("char[]", chars(cache_dir)) if cache_dir is not None else NULL
    params.context = ffi.cast("cl_context", cl_context)
    params.device = ffi.cast("cl_device_id", cl_device)
    text = ffi.new("char[]", chars(select)) if select is not None else NULL
    params.select = text
    params.schedule = parsed("schedule", schedule)
    params.cache_dir = keep
    out, err = ffi.new("struct weft_context **"), error_new()
    status = lib.weft_context_create(out, params, err)
    if status == lib.WEFT_ENODEV:
        raise no_device(err, origin)
    check(status, err)
    return out[0]


def context_destroy(ctx: Any) -> None:
    release(lib.weft_context_destroy, ffi.new("struct weft_context **", ctx))


def context_trim(ctx: Any) -> None:
    lib.weft_context_trim(ctx)


def context_device(ctx: Any) -> Tuple[Device, Any, Any, bool]:
    """The device, its id and the context of OpenCL, and whether kernels for CPUs run."""
    info = lib.weft_context_device(ctx)
    cpu = lib.weft_context_schedule(ctx) == lib.WEFT_SCHEDULE_CPU
    return _device(info), info.id, lib.weft_context_cl(ctx), cpu


# ---- matrices ------------------------------------------------------------------------------------------------------

F32, F64, I32, PATTERN = lib.WEFT_TYPE_F32, lib.WEFT_TYPE_F64, lib.WEFT_TYPE_I32, lib.WEFT_TYPE_PATTERN
DTYPES: Dict[int, np.dtype] = {F32: np.dtype("f4"), F64: np.dtype("f8"), I32: np.dtype("i4")}
TYPES: Dict[str, int] = {"f4": F32, "f8": F64, "i4": I32}


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def pointer(array: Optional[np.ndarray]) -> Any:
    return NULL if array is None else ffi.cast("void *", address(array))


@dataclass
class Shape:
    """What every C function asks of a matrix beside its arrays."""

    m: int
    n: int
    nnz: int
    type: int
    wide: bool  #: offsets of 64 bits

    @property
    def ofs(self) -> int:
        return lib.WEFT_OFS_64 if self.wide else lib.WEFT_OFS_32

    def transposed(self) -> "Shape":
        return Shape(self.n, self.m, self.nnz, self.type, self.wide)


def _shape_fill(struct: Any, shape: Shape) -> Any:
    struct.m, struct.n, struct.nnz, struct.type, struct.ofs = shape.m, shape.n, shape.nnz, shape.type, shape.ofs
    return struct


def csr_struct(shape: Shape, indptr: np.ndarray, indices: np.ndarray, data: Optional[np.ndarray]) -> Any:
    """A host matrix on arrays that the caller keeps alive."""
    a = _shape_fill(ffi.new("struct weft_csr *"), shape)
    a.row_ptr, a.col, a.val = pointer(indptr), ffi.cast("int32_t *", pointer(indices)), pointer(data)
    return a


def device_csr(shape: Shape, indptr: Any, indices: Any, data: Any) -> Any:
    """A device matrix on buffers that the caller keeps alive."""
    d = _shape_fill(ffi.new("struct weft_device_csr *"), shape)
    d.row_ptr, d.col, d.val = indptr, indices, data
    return d


def validate(shape: Shape, indptr: np.ndarray, indices: np.ndarray) -> None:
    """Row pointers ascend from 0 to nnz, and indices are in range."""
    err = error_new()
    pattern = Shape(shape.m, shape.n, shape.nnz, PATTERN, shape.wide)
    check(lib.weft_csr_validate(csr_struct(pattern, indptr, indices, None), err), err)


class _Memory:
    """One array of a struct weft_csr, which is freed with the last numpy array on it."""

    def __init__(self, field: str, at: Any, dtype: np.dtype, count: int) -> None:
        one = ffi.new("struct weft_csr *", {field: at})
        self.owner = ffi.gc(one, lib.weft_csr_free)
        self.__array_interface__ = {"version": 3, "typestr": dtype.str, "shape": (count,),
                                    "data": (int(ffi.cast("uintptr_t", at)), False)}


def csr_arrays(a: Any) -> Tuple[Shape, np.ndarray, np.ndarray, np.ndarray]:
    """The arrays of a matrix that the C library allocated, which they take over."""
    shape = Shape(a.m, a.n, a.nnz, a.type, a.ofs == lib.WEFT_OFS_64)

    def take(field: str, dtype: Any, count: int) -> np.ndarray:
        at = getattr(a, field)
        setattr(a, field, NULL)
        memory = None if at == NULL else _Memory(field, at, np.dtype(dtype), count)
        return np.asarray(memory) if memory and count else np.empty(0, dtype)

    indptr = take("row_ptr", np.int64 if shape.wide else np.int32, shape.m + 1)
    indices = take("col", np.int32, shape.nnz)
    data = np.ones(shape.nnz, np.float32) if a.type == PATTERN else take("val", DTYPES[a.type], shape.nnz)
    return shape, indptr, indices, data


def device_write(ctx: Any, queue: Any, mem: Any, array: np.ndarray) -> None:
    check_in(lib.weft_device_write_sync(mem, ctx, queue, pointer(array), array.nbytes), ctx)


def device_read(ctx: Any, queue: Any, mem: Any, array: np.ndarray) -> None:
    check_in(lib.weft_device_read_sync(pointer(array), ctx, queue, mem, array.nbytes), ctx)


# ---- transposition -------------------------------------------------------------------------------------------------


def transpose_plan(ctx: Any, shape: Shape) -> Tuple[Any, int]:
    """A plan, and the bytes of device memory that it holds."""
    out = ffi.new("struct weft_transpose_plan **")
    check_in(lib.weft_transpose_plan_create(out, ctx, _shape_fill(ffi.new("struct weft_shape *"), shape)[0], NULL), ctx)
    info = lib.weft_transpose_plan_info(out[0])
    return out[0], int(info.workspace_bytes)


def transpose_run(ctx: Any, plan: Any, queue: Any, a: Any, at: Any) -> None:
    check_in(lib.weft_transpose_run(plan, queue, at, a, 0, NULL, NULL), ctx)


def transpose_sync(ctx: Any, a: Any) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Arrays of the transpose of a host matrix, which is checked."""
    out = ffi.new("struct weft_csr *")
    check_in(lib.weft_transpose_sync(out, ctx, a, NULL), ctx)
    return csr_arrays(out)[1:]


def transpose_destroy(plan: Any) -> None:
    release(lib.weft_transpose_plan_destroy, ffi.new("struct weft_transpose_plan **", plan))


# ---- sums of duplicates ------------------------------------------------------------------------------------------------


def canonical_plan(ctx: Any, shape: Shape) -> Any:
    out = ffi.new("struct weft_canonical_plan **")
    check_in(lib.weft_canonical_plan_create(out, ctx, _shape_fill(ffi.new("struct weft_shape *"), shape)[0], NULL), ctx)
    return out[0]


def canonical_run(ctx: Any, plan: Any, queue: Any, a: Any, out: Any) -> None:
    check_in(lib.weft_canonical_run(plan, queue, out, a, 0, NULL, NULL), ctx)


def canonical_destroy(plan: Any) -> None:
    release(lib.weft_canonical_plan_destroy, ffi.new("struct weft_canonical_plan **", plan))


# ---- SpMV ----------------------------------------------------------------------------------------------------------


def spmv_plan(ctx: Any, queue: Any, a: Any, products: int, reproducible: bool) -> Any:
    params = ffi.new("struct weft_spmv_params *")
    params.policy.products = products
    params.policy.mode = lib.WEFT_SPMV_MODE_REPRODUCIBLE if reproducible else lib.WEFT_SPMV_MODE_REPEATABLE
    out = ffi.new("struct weft_spmv_plan **")
    check_in(lib.weft_spmv_plan_create(out, ctx, queue, a, params), ctx)
    return out[0]


def spmv_run(ctx: Any, plan: Any, queue: Any, x: Any, y: Any) -> None:
    check_in(lib.weft_spmv_run(plan, queue, y, 1.0, x, 0.0, 0, NULL, NULL), ctx)


def spmv_info(plan: Any) -> Dict[str, Any]:
    info = lib.weft_spmv_plan_info(plan)
    return {
        "algorithm": ffi.string(lib.weft_spmv_algo_name(info.params.policy.algo)).decode(), "why": _text(info.why),
        "longest_row": info.max_row, "empty_rows": info.empty_rows, "format_bytes": info.format_bytes,
        "workspace_bytes": info.workspace_bytes, "analyse_ms": info.analyse_ms, "convert_ms": info.convert_ms,
    }


def spmv_destroy(plan: Any) -> None:
    release(lib.weft_spmv_plan_destroy, ffi.new("struct weft_spmv_plan **", plan))


# ---- files and figures ---------------------------------------------------------------------------------------------


def _mtx_params(dtype: np.dtype, part: str, threads: int) -> Any:
    params = ffi.new("struct weft_mtx_params *")
    params.type = TYPES[dtype.str[1:]]
    params.ofs = lib.WEFT_OFS_64
    params.complex = parsed("mtx_complex", part)
    params.threads = threads
    return params


Arrays = Tuple[Shape, np.ndarray, np.ndarray, np.ndarray]


def _mtx_made(call: Callable[..., int], *args: Any) -> Arrays:
    out, err = ffi.new("struct weft_csr *"), error_new()
    status = call(out, NULL, *args, err)
    if status == lib.WEFT_EUNSUPPORTED:  # of a file: no device is asked
        text, _, rest = ffi.string(err.text).decode(errors="replace").partition("; ask for their real")
        hint = '; complex="real" or complex="imag" takes a part of them' if rest or text.endswith(": complex values") else ""
        error = WeftFileError(text + hint)
        error.status = int(status)
        raise error
    check(status, err)
    return csr_arrays(out)


def mtx_read(path: str, dtype: np.dtype, part: str, threads: int) -> Arrays:
    return _mtx_made(lib.weft_mtx_read, chars(path), _mtx_params(dtype, part, threads))


def mtx_parse(name: str, text: bytes, dtype: np.dtype, part: str, threads: int) -> Arrays:
    return _mtx_made(lib.weft_mtx_parse, chars(name), ffi.from_buffer(text), len(text),
                     _mtx_params(dtype, part, threads))


def mtx_write(path: str, a: Any) -> None:
    err = error_new()
    check(lib.weft_mtx_write(chars(path), a, err), err)


def measures(a: Any, threads: int) -> Dict[str, Any]:
    out, err = ffi.new("struct weft_measures *"), error_new()
    check(lib.weft_measure(out, a, threads, err), err)

    def lengths(of: Any) -> Dict[str, Any]:
        return {"empty": of.empty, "least": of.quantile[0], "median": of.quantile[3], "most": of.quantile[6],
                "mean": of.mean, "deviation": of.deviation, "entropy": of.entropy}

    return {
        "shape": (out.m, out.n), "nnz": out.nnz, "row": lengths(out.row), "col": lengths(out.col),
        "bandwidth": (out.lower, out.upper), "profile": out.profile, "spread": out.spread,
        "pattern_symmetry": out.pattern_symmetry, "value_symmetry": out.value_symmetry, "entropy": out.entropy,
        "x_lines": out.x_lines,
    }


def density(a: Any, rows: int, cols: int, threads: int) -> np.ndarray:
    params, err = ffi.new("struct weft_density_params *"), error_new()
    params.rows, params.cols, params.threads = rows, cols, threads
    out = ffi.new("struct weft_density *")
    check(lib.weft_density_alloc(out, a, params, err), err)
    count = out.rows * out.cols
    array = np.zeros((out.rows, out.cols), np.int64)
    if count:
        array[:] = np.frombuffer(ffi.buffer(out.count, count * 8), np.int64).reshape(out.rows, out.cols)
    lib.weft_density_free(out)
    return array


def version() -> Tuple[int, int, int]:
    number = int(lib.weft_version())
    return number // 10000, number // 100 % 100, number % 100
