#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py OUT FILE.cl: the kernels of the plug-in as C text."""
import sys

with open(sys.argv[2], encoding="utf-8") as file:
    lines = file.read().replace("\\", "\\\\").replace('"', '\\"').splitlines()
with open(sys.argv[1], "w", encoding="utf-8") as file:
    file.write("// Made by bindings/petsc/embed.py.\n#include \"bindings/petsc/device.h\"\n\nconst char *const wp_kernels_text =\n"
               + "\n".join('    "' + line + '\\n"' for line in lines) + ";\n")
