# SPDX-License-Identifier: Apache-2.0
"""A stand-in for CuPy whose arrays are numpy's: what bench/lab/cupy_marks.py calls. CUPY_STANDIN=none: a machine without a GPU."""
import os

import numpy as np

__version__ = "0"


class CUDARuntimeError(RuntimeError):
    pass


class runtime:
    @staticmethod
    def getDeviceCount():
        if os.environ.get("CUPY_STANDIN") == "none":
            raise CUDARuntimeError("cudaErrorNoDevice")
        return 1

    @staticmethod
    def getDeviceProperties(device):
        return {"name": b"stand-in"}

    @staticmethod
    def runtimeGetVersion():
        return 0


class cuda:
    runtime = runtime


class ndarray:
    """An array that is not numpy's: it has to be brought back by name."""

    def __init__(self, array):
        self.array = array


def asarray(array):
    return ndarray(np.array(array))


def asnumpy(array):
    return array.array
