#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""profile_table.py FILE...: Markdown tables of records of weft-bench --profile (docs/profiling.md), for people.

For each device: what was measured; events, the three events of a product (write, kernel, read) of every library; bytes written
and bytes read, across the bus beside the least; what csr_private gains over csr_naive, where both ran: kernel alone, then every
event; what did not run, and why. The titles name the figures of the paper that these are of the kind of. Several files make one
set of tables; of runs with the same matrix, type and algorithm on one device the last counts.
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
    if "end_to_end_ms" not in run:  # skipped or failed
        return
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
                if "device" not in run:
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
    """The matrices, each with its runs in the order of the record; named with type and operation where there are several."""
    kinds, ops, rows = {key[1] for key in runs}, {key[2] for key in runs}, {}
    for (matrix, kind, op, name), run in runs.items():
        row = ", ".join([matrix] + [kind] * (len(kinds) > 1) + [op] * (len(ops) > 1))
        rows.setdefault(row, {})[name] = run
    return rows


def title(text, figure):
    return ["", f"{text} (of the kind of {figure}):", ""]


def events_of(run):
    """Samples of write, kernel, read (None: there is no such phase), of the rest and of the whole."""
    three = [samples(run, n) for n in ("write", "kernel", "read")]
    whole = run["end_to_end_ms"]["samples"]
    return three + [[total - sum(s[i] for s in three if s) for i, total in enumerate(whole)], whole]


def events_table(rows):
    lines = [[matrix, str(run.get("nnz", "")), column(name),
              *(number(statistics.median(s) if s else None) for s in events_of(run)),
              f"{100 * run['end_to_end_ms']['noise']:.0f} %"]
             for matrix, runs in rows.items() for name, run in runs.items()]
    head = ["matrix", "entries", "library", "write ms", "kernel ms", "read ms", "rest ms", "end to end ms", "noise"]
    return title("Events", "figure 2") + reader.table(head, lines, 3)


def bytes_table(rows, way, figure):
    lines = []
    for matrix, runs in rows.items():
        for name, run in runs.items():
            b = run["bytes"]
            if b.get(way + "_min"):
                lines.append([matrix, column(name), str(b[way]), str(b[way + "_min"]), f"{b[way] / b[way + '_min']:.7g}"])
    if not lines:
        return []
    return title("Bytes " + ("written" if way == "write" else "read"), figure) + reader.table(
        ["matrix", "library", "bytes", "least", "times"], lines, 2)


def pairs_of(rows):
    """(matrix, csr_naive, csr_private) where both ran."""
    for matrix, runs in rows.items():
        pair = [runs.get(("opencl", "csr_" + name)) for name in ("naive", "private")]
        if all(pair):
            yield matrix, *pair


def less(naive, private):
    return f"{100 * (1 - private / naive):.1f} %" if naive else ""


def pair_tables(rows):
    """csr_naive beside csr_private: kernels, then every event; nothing where they did not both run."""
    kernels, events = [], []
    for matrix, *pair in pairs_of(rows):
        naive, private = (stat(run, "kernel", "device_ms") or stat(run, "kernel", "ms") for run in pair)
        if naive and private:
            kernels.append([matrix, *(text for key in ("median", "min") for text in (
                number(naive[key]), number(private[key]), less(naive[key], private[key]))),
                f"{100 * max(naive['noise'], private['noise']):.0f} %"])
        naive, private = ([statistics.median(s) if s else None for s in events_of(run)] for run in pair)
        events += [[matrix, "csr_naive", *map(number, naive)], [matrix, "csr_private", *map(number, private)],
                   [matrix, "less", *(less(a, b) if a and b is not None else "" for a, b in zip(naive, private))]]
    if not events:
        return []
    head = ["matrix", "csr_naive: median ms", "csr_private", "less", "csr_naive: least ms", "csr_private", "less", "noise"]
    return [*title("A sum in memory (csr_naive) and in a variable (csr_private), the kernel by its events", "figure 5"),
            *reader.table(head, kernels), *title("The same, every event, medians", "figure 6"),
            *reader.table(["matrix", "", "write ms", "kernel ms", "read ms", "rest ms", "end to end ms"], events, 2)]


def rest_list(runs):
    """What has no profile."""
    lines = [f"- {matrix}, {column(name)}: {run.get('skipped') or run.get('error') or 'not verified'}"
             for (matrix, _, _, name), run in runs.items() if "end_to_end_ms" not in run]
    return ["", "Not measured:", "", *lines] if lines else []


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
        out += [f"    {document['command']}", f"    {document['date']}, weft {document['version']}"]
    rows = rows_of({key: run for key, run in runs.items() if "end_to_end_ms" in run})
    if rows:
        out += events_table(rows) + bytes_table(rows, "write", "figure 3") + bytes_table(rows, "read", "figure 4")
        out += pair_tables(rows)
    return out + rest_list(runs) + [""]


def main():
    parser = reader.Options(__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE")
    devices = load(parser.parse_args().files)
    if not devices:
        raise Failed("no run in these records has a time")
    reader.write(None, "".join(line + "\n" for found in devices.values() for line in device_tables(*found)))


reader.end("profile_table.py", main)
