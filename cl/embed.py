#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py OUT FILE...: one C table {name, text} of the OpenCL sources, in the order given."""
import os
import sys


def quote(line):
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t") + '\\n"'


def main():
    out, files = sys.argv[1], sys.argv[2:]
    lines = ["// Made by cl/embed.py.", '#include "host/src/core/program.h"', "", "const struct weft__source weft__sources[] = {"]
    for path in files:
        with open(path, encoding="utf-8") as file:
            text = file.read().splitlines()
        name = os.path.relpath(path, os.path.dirname(os.path.abspath(__file__)))  # "scan/gpu.cl"
        lines.append('    {"%s",' % name)
        lines += ["     " + quote(line) for line in text]
        lines.append("    },")
    lines += ["    {NULL, NULL},", "};", ""]
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


main()
