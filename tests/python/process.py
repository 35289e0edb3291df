#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""process.py BUILT ROOT: the Python package in BUILT in forked processes, with WEFT_DEVICE, in threads inside `with`. TAP."""
import os
import sys
import tempfile
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import alone, begin, done, ok  # noqa: E402

BUILT = sys.argv[1]
weft = begin(BUILT)

import numpy as np  # noqa: E402
from matrices import matrix, raises  # noqa: E402

FORK = """
import gc, os, sys
import numpy as np, scipy.sparse as sp, weft
a, x = sp.random(300, 200, 0.05, "csr", random_state=0), np.ones(200)
A, kept = weft.csr(a), []
{parent}
sys.stdout.flush()
child = os.fork()
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
try:
    {child}
except Exception as why:
    print(type(why).__name__, why)
"""
PARENTS = {
    "devices": "weft.devices()",
    "a context": "kept = [weft.Context()]",
    "a product": "A @ x",
    "all": "kept = [A.T, A.plan(1000), A.T @ np.ones(300), weft.transpose(a), weft.csr(a, context=weft.Context())]; kept[4] @ x",
}


def forked(parent, child, **env):
    return alone(BUILT, FORK.format(parent=parent, child=child), **env)


def test_fork():
    for name, parent in PARENTS.items():
        for child in ("A @ x", "A.T @ np.ones(300)", "weft.transpose(a)", "weft.devices()", "weft.Context()"):
            code, said = forked(parent, child)
            ok(code == 0 and said.startswith("WeftDeviceError") and '"spawn"' in said and said.count("\n") == 1,
               f"{name}, then in a child {child}", code, said)
    for child in ("kept[1] @ x", "kept[4] @ x", "A.plan(5) @ x", "A.sum_duplicates(); A.update(); A @ x"):
        code, said = forked(PARENTS["all"], child)
        ok(code == 0 and said.startswith("WeftDeviceError") and said.count("\n") == 1, f"all, then in a child {child}", code, said)
    for child in ("del A, kept; gc.collect(); print(1)", "kept[1].info; A.update(); kept[4].update(); gc.collect(); print(1)",
                  "ctx = weft._context._default; ctx.trim(); ctx.close(); print(1)", "print(weft.info(a)['nnz'] - a.nnz + 1)",
                  "sys.stdout.flush(); os._exit(print(1, flush=True) or 0)"):
        code, said = forked(PARENTS["all"], child)
        ok(code == 0 and said == "1\n", f"a child ends: {child}", code, said)
    code, said = forked("ctx = weft.Context(); ctx.__enter__()", "ctx.__exit__(); print(1)")
    ok(code == 0 and said == "1\n", "a child leaves `with`", code, said)
    code, said = forked("", "print(np.allclose(A @ x, a @ x))")
    ok(code == 0 and said == "True\n", "a child of a process without OpenCL has its own", code, said)
    code, said = forked("A @ x", "print(np.allclose(weft.csr(a.astype(int)) @ x.astype(int), a.astype(int) @ x.astype(int)))")
    ok(code == 0 and said == "True\n", "what scipy multiplies works in a child", code, said)


POOL = """
import multiprocessing, sys
import numpy as np, scipy.sparse as sp, weft

def work(n):
    a = sp.eye(n, format="csr")
    return float((weft.csr(a) @ np.ones(n)).sum())

if __name__ == "__main__":
    weft.devices()
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        try:
            print(pool.map(work, [3, 4]))
        except Exception as why:
            print(type(why).__name__, why)
"""


def test_pool():
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "pool.py")
        with open(name, "w", encoding="ascii") as file:
            file.write(POOL)
        for method, want in (("fork", "WeftDeviceError"), ("spawn", "[3.0, 4.0]")):
            code, said = alone(BUILT, f"import runpy, sys; sys.argv = [{name!r}, {method!r}]; runpy.run_path({name!r}, run_name='__main__')"
                               if method == "fork" else f"import os, sys; os.execv(sys.executable, [sys.executable, {name!r}, 'spawn'])")
            ok(code == 0 and said.startswith(want), f"a pool of processes by {method}", code, said)


SHOW = """
import numpy as np, scipy.sparse as sp, weft
try:
    weft.csr(sp.eye(9, format="csr")) @ np.ones(9)
    print(weft._context.current().device.index, weft.Context().device.index, weft.Context(0).device.index)
except Exception as why:
    print(type(why).__name__, why)
    print(weft.Context(0).device.index)
"""


def test_device():
    twice = {} if os.environ.get("POCL_DEVICES") or len(weft.devices()) > 1 else {"POCL_DEVICES": "pthread pthread"}
    code, said = alone(BUILT, "import weft\nfor one in weft.devices(): print(one.index, one.kind, one.name)", **twice)
    lines = [line.split(" ", 2) for line in said.splitlines()]
    last = len(lines) - 1
    default = alone(BUILT, SHOW, WEFT_DEVICE="", **twice)[1].split()[0]
    for text in ["", str(last), lines[0][1].upper(), lines[0][2][:12]]:
        code, said = alone(BUILT, SHOW, WEFT_DEVICE=text, **twice)
        index = said.split()[0]
        right = index == default if not text else index == text if text.isdigit() else text.lower() in " ".join(lines[int(index)]).lower()
        ok(code == 0 and right and said.split()[1:] == [index, "0"], f"WEFT_DEVICE={text!r} is device {index} of {last + 1}", code, said)
    for text in ("abc", "99", "-1", "all"):
        code, said = alone(BUILT, SHOW, WEFT_DEVICE=text, **twice)
        ok(code == 0 and said.startswith("WeftDeviceError WEFT_DEVICE: ") and (f'"{text}"' in said or f" {text}: " in said) and said.endswith("\n0\n") and
           said.count("\n") == 2, f"WEFT_DEVICE={text!r} is refused, a device that is named is not: {said.splitlines()[0]}", code, said)
    code, said = alone(BUILT, SHOW.replace("weft.Context(0)", "weft.devices()[0]"), WEFT_DEVICE="abc", OCL_ICD_VENDORS="/nonexistent")
    ok("no OpenCL" in said and "WEFT_DEVICE" not in said, "without a driver that is what is said", said)


def test_with():
    a, x, seen = matrix(), np.ones(40), []
    with weft.Context(0) as ctx:
        def work():
            seen.append(weft._context.current() is ctx)
            with ctx:
                seen.append(weft._context.current() is ctx)
            seen.append(raises(lambda: weft.csr(a, context=ctx) @ x) is None)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        ok(weft._context.current() is ctx, "a context in `with`")
    inherits = getattr(sys.flags, "thread_inherit_context", 0)
    ok(seen == [bool(inherits), True, True], "a thread inside `with` says the context again, or is given it", seen)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
sys.exit(done())
