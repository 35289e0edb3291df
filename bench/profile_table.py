#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""profile_table.py FILE...: Markdown tables of records of weft-bench --profile (docs/profiling.md), for people.

For each device: what was measured; the three events of a product (write, kernel, read) of every library; bytes across the
bus beside the least; what csr_private gains over csr_naive, where both ran. Several files make one set of tables; of runs
with the same matrix, type and algorithm on one device the last counts.
"""
import statistics
import sys

sys.dont_write_bytecode = True
import reader  # noqa: E402
from reader import Failed  # noqa: E402


def number(value, digits=3):
    """`digits` significant digits, no exponent."""
    if value is None:
        return ""
    text = f"{value:.{digits}g}"
    if "e" in text:
        text = f"{value:.0f}" if abs(value) >= 1 else f"{value:.6f}".rstrip("0")
    return text


def times_check(times):
    if not (times["samples"] and all(map(reader.is_number, [*times["samples"], times["median"], times["min"], times["noise"]]))):
        raise ValueError("times that are no numbers from 0 on")


def run_check(run):
    """Raises what a run makes that is not as docs/profiling.md says."""
    reader.check({key: value for key, value in run.items() if key != "device"}, ("op", "backend", "algo"))
    count = len(run["end_to_end_ms"]["samples"])
    times_check(run["end_to_end_ms"])
    for phase in run["phases"]:
        if not isinstance(phase, dict) or not isinstance(phase["name"], str):
            raise ValueError("a phase without name")
        for times in (phase[key] for key in ("ms", "device_ms") if key in phase):
            times_check(times)
            if phase["name"] in ("write", "kernel", "read") and len(times["samples"]) != count:
                raise ValueError(f"{phase['name']} has other repetitions than the whole")
    sizes = run["bytes"]
    if not all(map(reader.is_number, [sizes["write"], sizes["read"], sizes.get("write_min", 0), sizes.get("read_min", 0)])):
        raise ValueError("bytes that are no numbers from 0 on")


def device_check(device):
    ceilings = device.get("ceilings", {})
    reader.check(device, ())
    numbers = [ceilings[key] for key in ("copy_gbps", "triad_gbps") if key in ceilings]
    numbers += [ceilings["launch_us"]["median"]] if "launch_us" in ceilings else []
    if not isinstance(device["name"], str) or not all(map(reader.is_number, numbers)):
        raise ValueError("a device without name or with ceilings that are no numbers")


def load(paths):
    """{device: (device's object, documents, {(matrix, type, op, column): run})}, all in the order they come."""
    devices = {}
    for path in paths:
        try:
            document = reader.parse(reader.file_text(path))
            if document.get("schema") != "weft-profile-1":
                raise ValueError("its schema is another")
            reader.check(document, ("command", "date", "version"))
            for run in document["runs"]:
                if "end_to_end_ms" not in run:
                    continue
                run_check(run)
                device = document["devices"][run["device"]]
                device_check(device)
                key = (device["name"], device.get("driver", ""))
                _, documents, runs = devices.setdefault(key, (device, [], {}))
                if document not in documents:
                    documents.append(document)
                runs[run.get("matrix", ""), run.get("type", ""), run["op"], (run["backend"], run["algo"])] = run
        except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            raise Failed(f"{path} is no record of weft-bench --profile: {error}") from error
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


def events_table(rows):
    lines = []
    for (matrix, _, _), runs in rows.items():
        for name, run in runs.items():
            whole = run["end_to_end_ms"]
            three = [samples(run, n) for n in ("write", "kernel", "read")]
            rest = [total - sum(s[i] for s in three if s) for i, total in enumerate(whole["samples"])]
            lines.append([matrix, str(run.get("nnz", "")), column(name),
                          *(number(statistics.median(s) if s else None) for s in three + [rest]), number(whole["median"]),
                          f"{100 * whole['noise']:.0f} %"])
    return reader.table(["matrix", "entries", "library", "write ms", "kernel ms", "read ms", "rest ms", "end to end ms", "noise"],
                        lines, 3)


def bytes_table(rows):
    lines = []
    for (matrix, _, _), runs in rows.items():
        for name, run in runs.items():
            b = run["bytes"]
            if b.get("write_min") and b.get("read_min"):
                lines.append([matrix, column(name), *(text for way in ("write", "read") for text in (
                    str(b[way]), str(b[way + "_min"]), f"{b[way] / b[way + '_min']:.3f}"))])
    return reader.table(["matrix", "library", "bytes written", "least", "times", "bytes read", "least", "times"], lines, 2)


def pair_table(rows):
    """csr_naive beside csr_private: kernels and end to end; nothing where they did not both run."""
    lines = []
    for (matrix, _, _), runs in rows.items():
        pair = [runs.get(("opencl", "csr_" + name)) for name in ("naive", "private")]
        naive, private = (stat(run, "kernel", "device_ms") if run else None for run in pair)
        if naive and private and naive["min"] > 0:
            lines.append([matrix, *(text for key in ("median", "min") for text in (
                number(naive[key]), number(private[key]), f"{100 * (1 - private[key] / naive[key]):.1f} %")),
                f"{100 * max(naive['noise'], private['noise']):.0f} %"])
    head = ["matrix", "csr_naive, kernel: median ms", "csr_private", "less", "csr_naive: least ms", "csr_private", "less", "noise"]
    return ["", *reader.table(head, lines)] if lines else []


def device_tables(device, documents, runs):
    ceilings = device.get("ceilings", {})
    facts = [device["name"]]
    if "driver" in device:
        facts.append("driver " + device["driver"])
    if "copy_gbps" in ceilings:
        facts.append(f"copy {number(ceilings['copy_gbps'])} GB/s, triad {number(ceilings.get('triad_gbps'))} GB/s")
    if "launch_us" in ceilings:
        facts.append(f"an empty kernel {number(ceilings['launch_us']['median'])} us")
    out = [f"**{', '.join(facts)}**", ""]
    for document in documents:
        out += [f"    {document['command']}", f"    {document['date']}, weft {document['version']}", ""]
    rows = rows_of(runs)
    return [*out, *events_table(rows), "", *bytes_table(rows), *pair_table(rows), ""]


def main():
    parser = reader.Options(__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE")
    devices = load(parser.parse_args().files)
    if not devices:
        raise Failed("no run in these records has a time")
    reader.write(None, "".join(line + "\n" for found in devices.values() for line in device_tables(*found)))


reader.end("profile_table.py", main)
