# SPDX-License-Identifier: Apache-2.0
"""A device with its queue: arrays as buffers without a copy where memory is shared, transposition, the default context."""
from __future__ import annotations

import contextvars
import os
import threading
from typing import Any, List, Optional, Tuple, Union

import numpy as np

from . import _c
from ._c import NULL, Device, Shape, ffi

_READ_WRITE, _READ_ONLY, _USE_HOST_PTR, _MAP_READ = 1, 4, 8, 1
_LARGEST_TYPE = 128  # bytes: what OpenCL aligns its own buffers to
_KEEP_BYTES = 1 << 30  # most scratch of a transposition that a context keeps for the next one


class _Owner:
    """The C context, its queue and what runs there. Matrices, plans and buffers hold it, so that it ends after them.

    `with owner` is for whoever calls OpenCL: one thread at a time, and never in a forked child.
    """

    def __init__(self, ctx: Any, external: Any) -> None:
        self.ctx = ffi.gc(ctx, lambda c, keep=external: _c.context_destroy(c))
        self.queue: Any = None
        self._plan: Optional[Tuple[Any, Any]] = None  # of the last transposition, with its scratch
        self.device, device_id, cl_context, self.cpu_kernels = _c.context_device(ctx)
        self.cl = _c.opencl()
        self.lock = threading.RLock()
        code = ffi.new("cl_int *")
        queue = self.cl.clCreateCommandQueue(cl_context, device_id, 0, code)
        _c.check_cl(code[0], "clCreateCommandQueue")
        self.queue, self.cl_context = queue, cl_context

    def __reduce__(self) -> Tuple[Any, ...]:
        raise TypeError("a context of OpenCL belongs to its process: it is neither copied nor pickled")

    def __del__(self) -> None:
        if self.queue:
            _c.release(self.cl.clReleaseCommandQueue, self.queue)

    def __enter__(self) -> "_Owner":
        _c.check_process()
        self.lock.acquire()
        return self

    def __exit__(self, *why: Any) -> None:
        self.lock.release()

    # -- buffers ---------------------------------------------------------------------------------------------------

    def shares(self, array: np.ndarray) -> bool:
        """Can the device use the array's own memory? The rule is that of the C library's *_sync functions."""
        align = 4 if self.cpu_kernels else _LARGEST_TYPE
        return self.device.unified and array.nbytes > 0 and _c.address(array) % align == 0

    def _create(self, flags: int, size: int, host: Any) -> Any:
        code = ffi.new("cl_int *")
        mem = self.cl.clCreateBuffer(self.cl_context, flags, max(size, 1), host, code)
        if code[0]:
            raise _c.fail(_c.lib.WEFT_EDEVMEM, f"a buffer of {size} bytes on {self.device.name}: OpenCL error {code[0]}")
        free = self.cl.clReleaseMemObject
        return ffi.gc(mem, lambda m, owner=self: _c.release(free, m))

    def buffer(self, array: np.ndarray) -> Any:
        """A buffer with the contents of an array, which has to stay as long as the buffer."""
        if self.shares(array):
            return self._create(_READ_ONLY | _USE_HOST_PTR, array.nbytes, _c.pointer(array))
        mem = self.empty(array.nbytes)
        self.write(mem, array)
        return mem

    def empty(self, size: int) -> Any:
        """A buffer of so many bytes."""
        return self._create(_READ_WRITE, size, NULL)

    def write(self, mem: Any, array: np.ndarray) -> None:
        """Copy an array to its buffer."""
        if array.nbytes:
            _c.device_write(self.ctx, self.queue, mem, array)

    def buffer_out(self, array: np.ndarray) -> Any:
        """A buffer whose contents `take` brings into an array."""
        if self.shares(array):
            return self._create(_READ_WRITE | _USE_HOST_PTR, array.nbytes, _c.pointer(array))
        return self.empty(array.nbytes)

    def take(self, mem: Any, array: np.ndarray) -> None:
        """Wait until the array holds what was written to its buffer."""
        if not array.nbytes:
            return
        if not self.shares(array):
            _c.device_read(self.ctx, self.queue, mem, array)
            return
        code = ffi.new("cl_int *")
        at = self.cl.clEnqueueMapBuffer(self.queue, mem, 1, _MAP_READ, 0, array.nbytes, 0, NULL, NULL, code)
        _c.check_cl(code[0], "clEnqueueMapBuffer")
        _c.check_cl(self.cl.clEnqueueUnmapMemObject(self.queue, mem, at, 0, NULL, NULL), "clEnqueueUnmapMemObject")

    def finish(self) -> None:
        _c.check_cl(self.cl.clFinish(self.queue), "clFinish")

    def trim(self) -> None:
        """Give back the scratch of the last transposition, and what the library keeps."""
        with self:
            self._plan = None
            _c.context_trim(self.ctx)

    # -- transposition ---------------------------------------------------------------------------------------------

    def _transpose_plan(self, shape: Shape) -> Any:
        key = (shape.m, shape.n, shape.nnz, shape.type, shape.wide)
        if self._plan is not None and self._plan[0] == key:
            return self._plan[1]
        self._plan = None  # its scratch, before there is more
        made, size = _c.transpose_plan(self.ctx, shape)
        plan = ffi.gc(made, lambda p, keep=self.ctx: _c.transpose_destroy(p))
        if size <= _KEEP_BYTES:
            self._plan = (key, plan)
        return plan

    def _move(self, shape: Shape, indptr: np.ndarray, indices: np.ndarray,
              data: np.ndarray) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Transpose arrays whose values have 4 or 8 bytes."""
        if not self.device.unified:  # copies that overlap, buffers that are kept
            with self:
                ptr, idx, moved = _c.transpose_sync(self.ctx, _c.csr_struct(shape, indptr, indices, data))
            return ptr, idx, moved.view(data.dtype)
        out = (np.empty(shape.n + 1, indptr.dtype), np.empty(shape.nnz, np.int32), np.empty(shape.nnz, data.dtype))
        with self:
            given = [self.buffer(array) for array in (indptr, indices, data)]
            made = [self.buffer_out(array) for array in out]
            plan = self._transpose_plan(shape)
            try:
                _c.transpose_run(self.ctx, plan, self.queue, _c.device_csr(shape, *given),
                                 _c.device_csr(shape.transposed(), *made))
                for mem, array in zip(made, out):
                    self.take(mem, array)
            finally:
                self.finish()  # whatever happened, nothing uses the arrays any more
        return out

    def checks(self) -> bool:
        """Does a transposition check the arrays that it is given?"""
        return not self.device.unified

    def transpose(self, m: int, n: int, indptr: np.ndarray, indices: np.ndarray,
                  data: np.ndarray) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Arrays of A^T; those given are valid, contiguous, indices of 32 bits."""
        nnz = len(indices)
        if nnz == 0:
            return np.zeros(n + 1, indptr.dtype), np.empty(0, np.int32), np.empty(0, data.dtype)
        wide = indptr.dtype.itemsize == 8
        if data.dtype.itemsize in (4, 8) and not data.dtype.hasobject:  # values are only moved: all types of a size are one
            kind = _c.I32 if data.dtype.itemsize == 4 else _c.F64
            return self._move(Shape(m, n, nnz, kind, wide), indptr, indices, data)
        where = np.arange(nnz, dtype=np.int64 if wide else np.int32)
        ptr, idx, order = self._move(Shape(m, n, nnz, _c.F64 if wide else _c.I32, wide), indptr, indices, where)
        return ptr, idx, data[order]

    def canonical(self, m: int, n: int, indptr: np.ndarray, indices: np.ndarray, data: np.ndarray,
                  kind: int) -> Optional[Tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Arrays with sorted columns whose entries of one place are added up from the left. None: not on this device."""
        if kind == _c.F64 and not self.device.fp64:
            return None
        shape = Shape(m, n, len(indices), kind, indptr.dtype.itemsize == 8)
        out = (np.empty(m + 1, indptr.dtype), np.empty(shape.nnz, np.int32), np.empty(shape.nnz, data.dtype))
        with self:
            given = [self.buffer(array) for array in (indptr, indices, data)]
            made = [self.buffer_out(array) for array in out]
            plan = ffi.gc(_c.canonical_plan(self.ctx, shape), lambda p, keep=self.ctx: _c.canonical_destroy(p))
            try:
                _c.canonical_run(self.ctx, plan, self.queue, _c.device_csr(shape, *given), _c.device_csr(shape, *made))
                for mem, array in zip(made, out):
                    self.take(mem, array)
            finally:
                self.finish()
        left = int(out[0][-1])
        return out if left == shape.nnz else (out[0], out[1][:left].copy(), out[2][:left].copy())


class Context:
    """A device, its compiled kernels and its queue.

    Without arguments it is the default device: what the environment's WEFT_DEVICE says, else a GPU where there is one, else
    the processor. `with` sets the device for what is inside, in this thread: another thread has to say it again.

    >>> import weft
    >>> with weft.Context() as ctx:
    ...     bool(ctx.device.name)
    True
    """

    def __init__(self, device: Union[None, int, str, Device] = None, *, context: Any = None, queue: Any = None,
                 schedule: str = "auto", cache_dir: Optional[str] = None) -> None:
        """
        device: an index of weft.devices(), one of them, "gpu", "cpu" or a part of its name, vendor or platform
        context, queue: pyopencl's own; device may then be one of pyopencl too
        schedule: "auto", "cpu" or "gpu": which kernels run
        cache_dir: where compiled kernels are kept; default ~/.cache/weft, "": nowhere
        """
        for given, what in ((context, "context"), (queue, "queue")):
            if given is not None and not hasattr(given, "int_ptr"):
                raise TypeError(f"{what} is {type(given).__name__}, it must be pyopencl's")
        context = context if context is not None else getattr(queue, "context", None)
        device = device if device is not None else getattr(queue, "device", None)
        select = None if device is None else str(device.index if isinstance(device, Device) else device)
        origin = ""
        if device is None and context is None and os.environ.get("WEFT_DEVICE"):
            select, origin = os.environ["WEFT_DEVICE"], "WEFT_DEVICE: "
        cl_device = getattr(device, "int_ptr", 0)  # of pyopencl
        cl_context = context.int_ptr if context is not None else 0
        self._owner: Optional[_Owner] = _Owner(
            _c.context_create(None if cl_device else select, cl_context, cl_device, schedule, cache_dir, origin),
            (context, queue, device))
        self._inside: List[None] = []  # one for each `with` that is not over

    @property
    def device(self) -> Device:
        """The device that runs."""
        return self._own().device

    def _own(self) -> _Owner:
        if self._owner is None:
            raise ValueError("the context is closed")
        return self._owner

    def trim(self) -> None:
        """Give back the device memory that is kept for the next transposition, and pinned memory."""
        if self._owner is not None:
            _c.release(self._owner.trim)

    def close(self) -> None:
        """Give up the context. Matrices and plans that were made with it stay usable; it ends with the last of them."""
        self.trim()
        self._owner = None

    def __enter__(self) -> "Context":
        self._own()
        self._inside.append(None)
        _current.set((self, _current.get()))
        return self

    def __exit__(self, *why: Any) -> None:
        inner = _current.get()
        if inner is not None and inner[0] is self:  # else a generator ends in another thread or task
            _current.set(inner[1])
        self._inside.pop()
        if not self._inside:
            self.close()

    def __repr__(self) -> str:
        return f"<weft.Context {'closed' if self._owner is None else self._owner.device.name!r}>"


_current: contextvars.ContextVar[Any] = contextvars.ContextVar("weft", default=None)  # innermost first: (context, others)
_default: Optional[Context] = None
_default_lock = threading.Lock()


def current(context: Optional[Context] = None) -> Context:
    """The context given, else that of the innermost `with`, else one on the default device, which is kept."""
    global _default
    if context is not None:
        if not isinstance(context, Context):
            raise TypeError(f"context is {type(context).__name__}, it must be a weft.Context")
        return context
    inner = _current.get()
    if inner is not None:
        return inner[0]
    _c.check_process()  # before a lock that a thread of the parent may have held
    with _default_lock:
        if _default is None:
            _default = Context()
        return _default


def devices() -> List[Device]:
    """The OpenCL devices of the machine. WeftDeviceError: there is none; the text says what to install.

    >>> import weft
    >>> weft.devices()[0].index
    0
    """
    return _c.devices_list()
