#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Table of where weft has run: records, a line of JSON each, to the page docs/results/portability.md.

usage: bench/lab/portability.py [RECORDS [PAGE]]     default: docs/results/portability.jsonl and .md beside it

A record says what ran: {"host" or "device", "compiler" or "driver", "state": passed, failed, compiled, partly or skipped,
"text": tests passed, skipped and why, "hashes": equal or what else, "executed": how, "date"}. tests/hosts.sh -o writes those of
compilers and processors; others are added by hand, from the output that is named in their text. Of several records of one place
the last one counts.
"""
import os
import sys

sys.dont_write_bytecode = True
import reader  # noqa: E402
from reader import Failed  # noqa: E402

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "results")
STATES = ("passed", "failed", "compiled", "partly", "skipped")
HEAD = """# Where has weft run?

Written by `bench/lab/portability.py` from [portability.jsonl](portability.jsonl). "Compiled" is not "run"; nothing here was run on a
GPU of AMD or Intel. Speeds are on other pages ([performance](../performance.md)).
"""


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(FOLDER, "portability.jsonl")
    page = sys.argv[2] if len(sys.argv) > 2 else os.path.splitext(path)[0] + ".md"
    reader.outputs_check([path], PAGE=page)
    last = {}
    for number, r in reader.lines(path):
        missing = [key for key in ("state", "text", "executed", "date") if not isinstance(r.get(key), str)]
        if missing or r["state"] not in STATES or not (r.get("host") or r.get("device")):
            raise Failed(f"{path}:{number}: no record: {', '.join(missing) or 'state, host or device'}")
        last["device" if "device" in r else "host", r.get("device") or r["host"]] = r
    text = HEAD
    for kind, title, column in (("device", "OpenCL implementations and chips", "driver or compiler"),
                                ("host", "Compilers, C libraries and processors", "compiler")):
        rows = [[name, r.get("driver") or r.get("compiler", ""), r["state"], r["text"].replace("|", "/"), r.get("hashes", "-"),
                 r["executed"], r["date"]] for (of, name), r in last.items() if of == kind]
        if rows:
            text += f"\n## {title}\n\n" + "\n".join(reader.table([kind, column, "state", "tests, and what was skipped", "hashes", "executed",
                                                                    "date"], rows, 7)) + "\n"
    reader.write(page, text)
    return 0


reader.end("portability", main)
