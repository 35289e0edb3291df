# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share: the package from the build folder, or a reason to skip; another Python."""
import importlib
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok, skip  # noqa: E402,F401


def begin(built):
    """The package; ends the test with the reason where it cannot run here."""
    for name in ("numpy", "scipy.sparse", "cffi"):
        try:
            importlib.import_module(name)
        except ImportError as why:
            print(f"1..0 # SKIP {why}")
            sys.exit(0)
    sys.dont_write_bytecode = True
    sys.path.insert(0, built)
    weft = importlib.import_module("weft")
    try:
        weft.devices()
    except weft.WeftDeviceError as why:
        print(f"1..0 # SKIP {why}")
        sys.exit(0)
    return weft


def alone(built, code, *args, **env):
    """Another Python with the package: how it ended and what it said. One that waits for ever ends with None."""
    try:
        run = subprocess.run([sys.executable, "-B", "-c", code, *args], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             env={**os.environ, "PYTHONPATH": os.path.abspath(built), **env}, check=False, timeout=120)
    except subprocess.TimeoutExpired as why:
        return None, str(why.stdout)
    return run.returncode, run.stdout
