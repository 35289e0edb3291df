#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""subproject.py ROOT: within another project weft builds and installs its library alone, and the options add to that."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(sys.argv[1])
LIBRARY = ["kernels", "product", "weft", "weft", "weft-io", "weft-io"]  # the shared and the static ones


def call(*command, errors=subprocess.STDOUT):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=errors, text=True, check=False)
    return result.returncode, result.stdout


def introspect(build, what):
    code, out = call("meson", "introspect", "--" + what, build, errors=subprocess.DEVNULL)
    return json.loads(out) if code == 0 else None


def setup(folder, name, *options, source="product"):
    build = os.path.join(folder, name)
    code, out = call("meson", "setup", "--buildtype=plain", *options, build, os.path.join(folder, source))
    ok(code == 0, f"configures with {options or 'no options'}", out)
    return build, sorted(target["name"] for target in introspect(build, "targets") or []
                         if not re.search(r"\.[13]$|^completion-", target["name"]))


def main(folder):
    product = os.path.join(folder, "product")
    shutil.copytree(os.path.join(HERE, "subproject"), product)
    os.mkdir(os.path.join(product, "subprojects"))
    os.symlink(ROOT, os.path.join(product, "subprojects", "weft"))
    build, names = setup(folder, "plain")
    ok(names == LIBRARY, "the library is all there is to build", names)
    ok(introspect(build, "tests") == [] and introspect(build, "benchmarks") == [], "no tests")
    installed = [os.path.relpath(to, "/usr/local") for to in (introspect(build, "installed") or {"": "?"}).values()]
    ok(any("pkgconfig" in to for to in installed) and all(
        to.startswith("include/weft/") or re.search(r"libweft(-io)?\.|pkgconfig/weft(-io)?\.pc$|cmake/weft/", to) for to in installed),
       "libraries, headers and what finds them are installed", installed)
    code, out = call("ninja", "-C", build)
    ok(code == 0, "builds", out[-4000:])
    code, out = call(os.path.join(build, "product"))
    ok(code == 0 and "devices" in out, "runs", out)
    _, names = setup(folder, "tool", "-Dweft:tool=enabled")
    ok(names == sorted(LIBRARY + ["weft", "weft-common"]), "and the tool where it is asked for", names)
    # As a project of its own: what is disabled is not there.
    os.symlink(ROOT, os.path.join(folder, "weft"))
    build, names = setup(folder, "none", "-Dtests=disabled", "-Dbench=disabled", "-Dtool=disabled", "-Dpetsc=disabled", source="weft")
    ok(names == [n for n in LIBRARY if n != "product"] and introspect(build, "tests") == [], "-D tests, bench, tool=disabled: the library", names)
    build, names = setup(folder, "user", "-Dtests=disabled", source="weft")
    ok("weft-bench" in names and not [n for n in names if n.startswith("test") or "fuzz" in n or n.endswith("-contract")] and
       introspect(build, "tests") == [], "-Dtests=disabled: no tests", names)
    build, names = setup(folder, "tests", "-Dtests=enabled", "-Dbench=disabled", "-Dtool=disabled", source="weft")
    ok("test-scan" in names and not {"weft-bench", "weft-bench-bad"} & set(names) and names.count("weft") == 2,
       "tests without bench and tool", names)


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
sys.exit(done())
