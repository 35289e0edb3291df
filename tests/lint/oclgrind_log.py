#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oclgrind_log.py SUPPRESSIONS < LOG: print what Oclgrind says that no line of SUPPRESSIONS names; exit status 1 if anything is left.

A line of SUPPRESSIONS, separated by tabs: the beginning of messages, a kernel, a text that they hold (may be empty), why that is no
fault. Lines that begin with # are comments."""
import re
import sys

MOST = 20  # messages printed


def messages(lines):
    """A message ends at an empty line; a line of it that looks empty holds a tab."""
    block = []
    for line in lines:
        line = line.rstrip("\n")
        if line:
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        known = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
    left = dropped = 0
    for block in messages(sys.stdin):
        text = "\n".join(block)
        kernel = re.search(r"Kernel: (\S+)", text)
        if kernel and any(block[0].startswith(begin) and kernel[1] == name and part in text for begin, name, part, _ in known):
            dropped += 1
            continue
        left += 1
        if left <= MOST:
            print("\n".join(block), end="\n\n", flush=True)
    if left or dropped:
        print(f"Oclgrind: {left} messages, and {dropped} that are known to be none")
    return 1 if left else 0


sys.exit(main())
