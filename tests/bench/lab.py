#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lab.py: what the scripts of bench/lab and examples/make.py refuse, in one line and before they do anything. Output is TAP."""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
LAB = os.path.join(ROOT, "bench", "lab")


def run(*command, cwd=None, **env):
    got = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd,
                         env={**os.environ, **env}, timeout=60, check=False)
    return got.returncode, got.stdout, got.stderr


def test_make(folder):
    make = shutil.copy(os.path.join(ROOT, "examples", "make.py"), folder)
    code, out, err = run(sys.executable, make, "--help")
    ok(code == 0 and out.startswith("usage: make.py") and not err, "make.py --help", code, out, err)
    for words in (["--nonsense"], ["write"], ["check"], ["check", "weft", "more"]):
        code, out, err = run(sys.executable, make, *words)
        ok(code == 2 and not out and err.startswith("make.py: no such arguments: " + " ".join(words)) and err.count("\n") == 1, f"make.py {words}", code, out, err)
    ok(os.listdir(folder) == ["make.py"], "none of them writes", os.listdir(folder))


def test_petsc_folder(folder):
    script = os.path.join(LAB, "petsc_folder")
    code, out, err = run("sh", script, "--help", cwd=folder)
    ok(code == 0 and out.startswith("usage: petsc_folder") and not err, "petsc_folder --help", code, out, err)
    for words in ([], ["--nonsense"], [""], ["-x", folder]):
        code, out, err = run("sh", script, *words, cwd=folder)
        ok(code == 2 and not out and err.startswith("usage: petsc_folder") and not os.listdir(folder), f"petsc_folder {words}", code, out, err)


def test_scipy_marks(folder):
    absent = os.path.join(folder, "numpy.py")
    with open(absent, "w", encoding="utf-8") as file:
        file.write("raise ImportError(\"No module named 'numpy'\")\n")
    script = os.path.join(LAB, "scipy_marks.py")
    code, out, err = run(sys.executable, script, PYTHONPATH=folder)
    ok(code == 3 and not out and err.startswith("scipy_marks.py: No module named 'numpy'") and err.count("\n") == 1,
       "scipy_marks.py without numpy", code, out, err)
    code, out, err = run(sys.executable, script, "--help", PYTHONPATH=folder)
    ok(code == 0 and "--entries" in out and not err, "scipy_marks.py --help without numpy", code, out, err)


for test in (test_make, test_petsc_folder, test_scipy_marks):
    with tempfile.TemporaryDirectory() as temporary:
        test(temporary)
sys.exit(done())
