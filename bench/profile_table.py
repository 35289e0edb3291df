#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""profile_table.py FILE...: Markdown tables of records of weft-bench --profile (docs/profiling.md), for people.

For each device: what was measured; the three events of a product (write, kernel, read) of every library; bytes across the
bus beside the least; what csr_private gains over csr_naive, where both ran. Several files make one set of tables; of runs
with the same matrix, type and algorithm on one device the last counts.
"""
import json
import statistics
import sys


def number(value, digits=3):
    """`digits` significant digits, no exponent."""
    if value is None:
        return ""
    text = f"{value:.{digits}g}"
    if "e" in text:
        text = f"{value:.0f}" if abs(value) >= 1 else f"{value:.6f}".rstrip("0")
    return text


def load(paths):
    """{device: (device's object, documents, {(matrix, type, op, column): run})}, all in the order they come."""
    devices = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        if document.get("schema") != "weft-profile-1":
            sys.exit(f"profile_table.py: {path} is no record of weft-bench --profile")
        for run in document["runs"]:
            if "end_to_end_ms" not in run:
                continue
            device = document["devices"][run["device"]]
            key = (device["name"], device.get("driver", ""))
            _, documents, runs = devices.setdefault(key, (device, [], {}))
            if document not in documents:
                documents.append(document)
            runs[run.get("matrix", ""), run.get("type", ""), run["op"], (run["backend"], run["algo"])] = run
    return devices


def stat(run, name, key):
    """The stat `key` of a phase; {} where there is none."""
    return next((p[key] for p in run["phases"] if p["name"] == name and key in p), {})


def samples(run, name):
    return stat(run, name, "ms").get("samples")


def column(name):
    return " ".join(name)


def rows_of(runs):
    """The matrices, each with its runs in the order of the record."""
    rows = {}
    for (matrix, kind, op, name), run in runs.items():
        rows.setdefault((matrix, kind, op), {})[name] = run
    return rows


def events_print(rows):
    print("| matrix | entries | library | write ms | kernel ms | read ms | rest ms | end to end ms | noise |")
    print("|---|---|---|---|---|---|---|---|---|")
    for (matrix, _, _), runs in rows.items():
        for name, run in runs.items():
            whole = run["end_to_end_ms"]
            three = [samples(run, n) for n in ("write", "kernel", "read")]
            rest = [total - sum(s[i] for s in three if s) for i, total in enumerate(whole["samples"])]
            print(f"| {matrix} | {run.get('nnz', '')} | {column(name)} | " +
                  " | ".join(number(statistics.median(s) if s else None) for s in three + [rest]) +
                  f" | {number(whole['median'])} | {100 * whole['noise']:.0f} % |")


def bytes_print(rows):
    print("| matrix | library | bytes written | least | times | bytes read | least | times |")
    print("|---|---|---|---|---|---|---|---|")
    for (matrix, _, _), runs in rows.items():
        for name, run in runs.items():
            b = run["bytes"]
            if not b.get("write_min") or not b.get("read_min"):
                continue
            print(f"| {matrix} | {column(name)} | {b['write']} | {b['write_min']} | {b['write'] / b['write_min']:.3f} | "
                  f"{b['read']} | {b['read_min']} | {b['read'] / b['read_min']:.3f} |")


def pair_print(rows):
    """csr_naive beside csr_private: kernels and end to end."""
    lines = []
    for (matrix, _, _), runs in rows.items():
        pair = [runs.get(("opencl", "csr_" + name)) for name in ("naive", "private")]
        if all(pair):
            naive, private = (stat(run, "kernel", "device_ms") for run in pair)
            less = {key: f"{100 * (1 - private[key] / naive[key]):.1f} %" for key in ("median", "min")}
            lines.append(f"| {matrix} | {number(naive['median'])} | {number(private['median'])} | {less['median']} | "
                         f"{number(naive['min'])} | {number(private['min'])} | {less['min']} | "
                         f"{100 * max(naive['noise'], private['noise']):.0f} % |")
    if lines:
        print("\n| matrix | csr_naive, kernel: median ms | csr_private | less | csr_naive: least ms | csr_private | "
              "less | noise |")
        print("|---|---|---|---|---|---|---|---|")
        print("\n".join(lines))


def device_print(device, documents, runs):
    ceilings = device.get("ceilings", {})
    facts = [device["name"]]
    if "driver" in device:
        facts.append("driver " + device["driver"])
    if "copy_gbps" in ceilings:
        facts.append(f"copy {number(ceilings['copy_gbps'])} GB/s, triad {number(ceilings.get('triad_gbps'))} GB/s")
    if "launch_us" in ceilings:
        facts.append(f"an empty kernel {number(ceilings['launch_us']['median'])} us")
    print(f"**{', '.join(facts)}**\n")
    for document in documents:
        print(f"    {document['command']}\n    {document['date']}, weft {document['version']}\n")
    rows = rows_of(runs)
    events_print(rows)
    print()
    bytes_print(rows)
    pair_print(rows)
    print()


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        sys.exit(0 if len(sys.argv) > 1 else 2)
    for device, documents, runs in load(sys.argv[1:]).values():
        device_print(device, documents, runs)


main()
