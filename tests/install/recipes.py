#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recipes.py ROOT VERSION: the recipes of packaging/ can be read, have the project's version, and name options that it has. TAP."""
import ast
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok, skip  # noqa: E402

ROOT, VERSION = sys.argv[1:3]


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


# Other people's libraries: where a recipe leaves one to `auto`, a package depends on what happens to be on the machine that builds it.
PEERS = set(re.findall(r"option\('(\w+)', type: 'feature', value: '\w+', description: '(?:backends? |.*a plug-in)", read("meson_options.txt")))
options = set(re.findall(r"^option\('(\w+)'", read("meson_options.txt"), re.M))
texts = {name: read("packaging", *name.split("/")) for name in (
    "conda/meta.yaml", "spack/package.py", "vcpkg/weft/portfile.cmake", "vcpkg/weft/vcpkg.json", "debian/rules", "debian/control")}
for name, text in texts.items():
    used = set(re.findall(r"-D(\w+)=(?:enabled|disabled|\$)", text))
    if name == "spack/package.py":
        used |= set(re.findall(r'switch\("(\w+)"', text)) | set(re.findall(r'"(\w+)"', re.search(r"in \((.*?)\)\]", text, re.S)[1]))
    if used:
        ok(len(PEERS) > 7 and PEERS <= used, f"{name} says of every library beside weft whether it is there", PEERS - used)
    ok(used <= options, f"{name} names options that there are", used - options)
ok(f'version = "{VERSION}"' in texts["conda/meta.yaml"], "conda has the version")
tree = ast.parse(texts["spack/package.py"])
ok(any(isinstance(node, ast.ClassDef) and node.name == "Weft" for node in tree.body) and f'version("{VERSION}")' in texts["spack/package.py"],
   "spack has a class and the version")
ok("-Wl,-rpath" not in read("backends", "cuda", "meson.build"), "what is installed has no path to a folder of CUDA")
port = json.loads(texts["vcpkg/weft/vcpkg.json"])
ok(port["name"] == "weft" and port["version"] == VERSION, "vcpkg has the version")
ok(read("packaging", "debian", "changelog").startswith(f"weft ({VERSION}-"), "debian has the version")
soversion = ".".join(VERSION.split(".")[:2]) if VERSION.startswith("0.") else VERSION.split(".")[0]
ok(f"Package: libweft{soversion}\n" in texts["debian/control"] and f"Package: libweft-io{soversion}\n" in texts["debian/control"],
   "packages are named by the soname")
try:
    import yaml
except ImportError:
    skip("no PyYAML: meta.yaml is not read")
else:
    plain = re.sub(r"\{%.*?%\}", "", texts["conda/meta.yaml"]).replace("{{ version }}", VERSION)
    recipe = yaml.safe_load(re.sub(r"\{\{.*?\}\}", "compiler", plain))
    ok(recipe["package"]["version"] == VERSION and "zlib" in recipe["requirements"]["host"], "meta.yaml is YAML", recipe)
sys.exit(done())
