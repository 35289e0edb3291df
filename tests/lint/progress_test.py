#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What progress.py shows of builds and tests made up. Output is TAP."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from tap import done, ok  # noqa: E402

NINJA = """echo 'ninja: Entering directory'; for i in 1 2 3; do echo "[$i/3] Compiling $i"; sleep ${PAUSE:-0}; done
if [ "${BAD:-}" ]; then echo 'FAILED: a.o'; echo 'a.c:1: error: no'; exit 1; fi"""
MESON = """printf ' 1/3 weft:unit / mtx          OK              0.15s   74 subtests passed\\n'; sleep ${PAUSE:-0}
printf ' 2/3 weft:unit / tool         SKIP            0.00s\\n'
if [ "${BAD:-}" ]; then printf ' 3/3 weft:kernel / scan       FAIL            2.00s   exit status 1\\n>>> the command\\n'; exit 1; fi
printf ' 3/3 weft:kernel / scan       OK              2.00s\\n'"""


def run(folder, name, text, **env):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + text + "\n")
    os.chmod(path, 0o755)
    out = subprocess.run([sys.executable, os.path.join(HERE, "progress.py"), "a " + name, "5", os.path.join(folder, "kept"), path],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **env}, check=False)
    ok(not out.stdout, f"{name}: the standard output is left to the program", out.stdout)
    return out.returncode, out.stderr.splitlines()


with tempfile.TemporaryDirectory() as temporary:
    code, lines = run(temporary, "ninja", NINJA)
    ok(code == 0 and len(lines) == 2 and "usually 5:00" in lines[0] and "3 steps in" in lines[1], "a build: a line at each end", *lines)
    code, lines = run(temporary, "ninja", NINJA, PAUSE="0.4", WEFT_PROGRESS="0.25")
    ok(code == 0 and 4 <= len(lines) <= 8 and any("2/3 steps" in line and "so far" in line for line in lines), "and more while it lasts", *lines)
    code, lines = run(temporary, "ninja", NINJA, BAD="1")
    ok(code == 1 and "a.c:1: error: no" in lines and "FAILED: a.o" in lines and not any("Compiling" in line for line in lines),
       "a build that fails shows why", code, *lines)
    code, lines = run(temporary, "meson", MESON)
    ok(code == 0 and len(lines) == 2 and "3 tests in" in lines[1], "tests that pass are counted", code, *lines)
    with open(os.path.join(temporary, "kept"), encoding="utf-8") as kept:
        ok("a meson" in json.load(kept), "how long it took is kept")
    code, lines = run(temporary, "meson", MESON, PAUSE="1", WEFT_PROGRESS="0.3")
    ok(code == 0 and "the last time" in lines[0] and any("1/3 tests" in line for line in lines), "and said the next time", *lines)
    code, lines = run(temporary, "meson", MESON, BAD="1")
    ok(code == 1 and any("3/3 weft:kernel / scan" in line for line in lines) and ">>> the command" in lines and
       not any("weft:unit / mtx" in line for line in lines) and "FAILED" in lines[-1], "a test that fails is shown at once", code, *lines)
    out = subprocess.run([sys.executable, os.path.join(HERE, "progress.py"), "x", "1", "-", "/nonexistent/ninja"],
                         stderr=subprocess.PIPE, text=True, check=False)
    ok(out.returncode == 1 and "No such file" in out.stderr and "Traceback" not in out.stderr, "no such command", out.stderr)
sys.exit(done())
