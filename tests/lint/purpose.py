#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""purpose.py ROOT: every C, C++, CUDA and OpenCL C file says on line 2 what it is for; exit status 1 where one does not.

Line 1 names the licence. A comment begins on line 2, and its first sentence, of at least three words, ends within its first
LINES lines.
"""
import os
import re
import sys

TOPS = ("backends", "bench", "bindings", "cl", "host", "profile", "tool")
ENDINGS = (".c", ".h", ".cl", ".clh", ".cpp", ".hpp", ".cu")
LINES = 4
SENTENCE = re.compile(r"\S+(\s+\S+)+?\s+\S*[^\s.]\.(\s|$)")


def complaint(text):
    """Why a file's text does not open as it must; "" when it does."""
    lines = text.splitlines()
    if not lines or not lines[0].startswith("// SPDX-License-Identifier: "):
        return "line 1 names no licence"
    head = []
    for line in lines[1:1 + LINES]:
        if not line.startswith("//"):
            break
        head.append(line[2:].strip())
    if not head or not head[0]:
        return "line 2 is no comment that says what the file is for"
    if not SENTENCE.match(" ".join(head)):
        return f"no sentence ends in the first {LINES} lines of its comment"
    return ""


def main(root):
    files = bad = 0
    for top in TOPS:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if not name.endswith(ENDINGS):
                    continue
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    why = complaint(file.read())
                files += 1
                bad += bool(why)
                if why:
                    print(f"{os.path.relpath(path, root)}: {why}")
    print(f"{files} files, {bad} complaints")
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
