#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py OUT FILE...: C tables of the OpenCL sources: {name, text}, where a name is the path below cl/
("scan/gpu.cl"), and for every kernel {entry, source, names of its arguments, a bit for each that is no array}.
With --count FOLDER first, the texts note the lines that they run (FOLDER/kernels.py)."""
import os
import re
import sys

KERNEL = re.compile(r"^WEFT_KERNEL void (\w+)\(([^)]*)\)", re.M)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
HERE = os.path.dirname(os.path.abspath(__file__))
MOST = 32  # arguments of a kernel: bits of a word in host/src/core/program.c


def quote(line):
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t") + '\\n"'


def words(names):
    """A C array of strings that ends with NULL."""
    return "(const char *const[]){" + "".join(f'"{name}", ' for name in names) + "NULL}"


def main():
    count = sys.argv[1:2] == ["--count"]
    out, *paths = sys.argv[3 if count else 1:]
    texts = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            texts[os.path.relpath(path, HERE)] = file.read()
    shown, notes = texts, []
    if count:
        sys.path.insert(0, sys.argv[2])
        import kernels as lines
        shown = {name: lines.counted(sorted(texts).index(name), name, text) for name, text in texts.items()}
        notes = [f'#define WEFT_LINES "{os.path.dirname(os.path.abspath(out))}/kernel-lines"',
                 '#include "tests/coverage/lines.c"', ""]
    sources, kernels = [], []
    for name, text in texts.items():
        sources += [f'    {{"{name}",', *("     " + quote(line) for line in shown[name].splitlines()), "    },"]
        for entry, signature in KERNEL.findall(COMMENT.sub("", text)):
            parts = signature.split(",")
            names = [re.findall(r"\w+", part)[-1] for part in parts]
            values = sum(1 << i for i, part in enumerate(parts) if "*" not in part)
            if len(names) > MOST:
                sys.exit(f"embed.py: {entry} has more than {MOST} arguments")
            kernels.append(f'    {{"{entry}", "{name}", {words(names)}, {values:#x}}},')
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join([
            "// Made by cl/embed.py.", '#include "host/src/core/program.h"', "",
            "const struct weft__source weft__sources[] = {", *sources, "    {NULL, NULL},", "};", "",
            "const struct weft__kernel_text weft__kernel_texts[] = {", *kernels, "    {NULL, NULL, NULL, 0},", "};", "", *notes]))


main()
