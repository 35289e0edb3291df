# SPDX-License-Identifier: Apache-2.0
"""What docs/profiling.md says of the record, and what Chrome's trace format demands, as checks: each gives what is
wrong as a text, or ''."""

KINDS = {"write", "read", "kernel", "copy", "fill", "map", "unmap", "marker"}
PHASES = ["kernel", "write", "read", "analyse", "copy", "stage", "gap", "build", "allocate", "launch", "call", "wait", "host"]
NUMBER = (int, float)
RUN = {
    "matrix": str, "m": int, "n": int, "nnz": int, "type": str, "index": int, "seed": int, "op": str, "backend": str,
    "algo": str, "chosen": str, "tune": str, "library": str, "device": int, "verified": bool, "error": str,
    "skipped": str, "reps": int, "end_to_end_ms": "stat", "bench_ms": "stat", "plain_ms": "stat", "phases": list, "bytes": dict,
    "kernels": list, "launches": NUMBER, "gap_us": "stat", "overlaps": int, "dropped": int, "roofline": dict,
    "clock": dict, "counters": dict, "timeline": dict, "queues": list}
PHASE = {"name": str, "ms": "stat", "middle_ms": NUMBER, "share": NUMBER, "commands": int, "device_ms": "stat",
         "bytes": int, "gbps": NUMBER}
KERNEL = {
    "name": str, "phase": str, "launches": NUMBER, "ms": "stat", "share": NUMBER, "queue_us": "stat",
    "submit_us": "stat", "global": list, "wg": list, "groups": NUMBER, "bound_bytes": int, "min_bytes": int,
    "gbps": NUMBER, "gbps_of": str, "copy_share": NUMBER, "local_bytes": int, "private_bytes": int, "max_wg": int,
    "wg_multiple": int, "registers": int, "spill_bytes": int, "stack_bytes": int, "resources": dict, "occupancy": dict}
COMMAND = {
    "kind": str, "name": str, "phase": str, "section": str, "queue": int, "thread": int, "bytes": int,
    "call_us": NUMBER, "return_us": NUMBER, "queued_us": NUMBER, "submit_us": NUMBER, "start_us": NUMBER,
    "end_us": NUMBER, "untimed": str, "global": list, "wg": list, "blocking": bool}
DEVICE = {
    "index": int, "name": str, "vendor": str, "platform": str, "platform_version": str, "driver": str, "version": str,
    "type": str, "compute_units": int, "max_clock_mhz": int, "global_bytes": int, "local_bytes": int,
    "cache_bytes": int, "max_wg": int, "timer_ns": int, "ceilings": dict}
BYTES = {"write": int, "read": int, "write_min": int, "read_min": int, "copy": int, "fill": int, "map": int,
         "kernel_min": int}
DOCUMENT = {"schema": str, "program": str, "version": str, "command": str, "date": str, "host": dict, "devices": list,
            "runs": list}


def stat_wrong(stat, reps):
    if set(stat) != {"samples", "min", "median", "max", "noise"}:
        return f"a stat has {sorted(stat)}"
    if len(stat["samples"]) != reps or not stat["min"] <= stat["median"] <= stat["max"]:
        return f"a stat is {stat}"
    return ""


def object_wrong(what, name, table, need, reps=0):
    for key in need:
        if key not in what:
            return f"{name} lacks {key}"
    for key, value in what.items():
        want = table.get(key)
        if want is None:
            return f"{name}: {key} is not documented"
        if want == "stat":
            wrong = stat_wrong(value, reps)
            if wrong:
                return f"{name}.{key}: {wrong}"
        elif not isinstance(value, want) or (isinstance(value, bool) and want is not bool):
            return f"{name}: {key} is {value!r}"
    return ""


def command_wrong(c):
    wrong = object_wrong(c, "command", COMMAND, ["kind", "name", "phase", "thread", "call_us", "return_us"])
    if wrong:
        return wrong
    if c["kind"] not in KINDS or c["phase"] not in PHASES + ["bench"] or c["return_us"] < c["call_us"]:
        return f"command {c}"
    if "untimed" not in c and not c["queued_us"] <= c["submit_us"] <= c["start_us"] <= c["end_us"]:
        return f"times of {c}"
    return ""


def run_wrong(run, devices):
    if run.get("op") != "program" and not run.get("verified"):
        return object_wrong(run, "run", RUN, ["op", "backend", "algo"]) or (
            "" if "error" in run or "skipped" in run else "not verified, and no reason")
    reps = run.get("reps", 0)
    wrong = object_wrong(run, "run", RUN, ["op", "reps", "end_to_end_ms", "phases", "bytes", "kernels", "overlaps",
                                           "clock", "counters", "timeline"], reps)
    wrong = wrong or object_wrong(run["bytes"], "bytes", BYTES, ["write", "read"])
    if wrong or not 0 <= run.get("device", 0) < max(1, devices):
        return wrong or "device out of range"
    for phase in run["phases"]:
        wrong = wrong or object_wrong(phase, "phase", PHASE, ["name", "ms", "share"], reps)
    for kernel in run["kernels"]:
        wrong = wrong or object_wrong(kernel, "kernel", KERNEL, ["name", "phase", "launches", "ms"], reps)
    for command in run["timeline"]["commands"]:
        wrong = wrong or command_wrong(command)
    return wrong or sums_wrong(run)


def sums_wrong(run):
    """Phases make up the whole, in each repetition; spans do, in order and without holes."""
    names = [p["name"] for p in run["phases"]]
    if names != [n for n in PHASES if n in names]:
        return f"phases {names}"
    for rep, whole in enumerate(run["end_to_end_ms"]["samples"]):
        total = sum(p["ms"]["samples"][rep] for p in run["phases"])
        if abs(total - whole) > 1e-3 + whole * 1e-4:
            return f"phases of repetition {rep} add up to {total}, not {whole}"
    middle = run["end_to_end_ms"]["samples"][run["timeline"]["rep"]]
    if abs(sum(p["middle_ms"] for p in run["phases"]) - middle) > 1e-3 + middle * 1e-4:
        return "the phases of the middle repetition do not add up"
    at = 0
    for span in run["timeline"]["spans"]:
        if span["begin_us"] != at or span["end_us"] < at:
            return f"a hole before {span}"
        at = span["end_us"]
    return ""


def document_wrong(document):
    wrong = object_wrong(document, "document", DOCUMENT, DOCUMENT)
    if wrong or document["schema"] != "weft-profile-1":
        return wrong or "another schema"
    for device in document["devices"]:
        wrong = wrong or object_wrong(device, "device", DEVICE, ["name", "type"])
    for run in document["runs"]:
        wrong = wrong or run_wrong(run, len(document["devices"]))
    return wrong


def trace_wrong(trace):
    """JSON object form of the Trace Event Format: traceEvents, each with ph, pid, tid and name; complete events ("X")
    with ts and dur, metadata ("M") with args.name; on one thread of a process they nest or follow each other."""
    if not isinstance(trace, dict) or not isinstance(trace.get("traceEvents"), list) or not trace["traceEvents"]:
        return "no traceEvents"
    tracks, named, used = {}, set(), set()
    for event in trace["traceEvents"]:
        if not isinstance(event.get("name"), str) or not isinstance(event.get("pid"), int) or \
           not isinstance(event.get("tid"), int):
            return f"event {event}"
        if event["ph"] == "M":
            if event["name"] not in ("process_name", "thread_name") or not isinstance(event["args"]["name"], str):
                return f"metadata {event}"
            named.add((event["pid"], event["tid"]))
        elif event["ph"] == "X":
            if not isinstance(event.get("ts"), NUMBER) or not isinstance(event.get("dur"), NUMBER) or event["dur"] < 0:
                return f"times of {event}"
            used.add((event["pid"], event["tid"]))
            tracks.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
        else:
            return f"an event of kind {event['ph']}"
    if used - named:
        return f"tracks without a name: {sorted(used - named)}"
    for key, spans in tracks.items():
        spans.sort()
        if key[1] == 1 and any(b[0] < a[1] - 0.002 for a, b in zip(spans, spans[1:])):
            return f"phases overlap on {key}"
    return ""
