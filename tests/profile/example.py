# SPDX-License-Identifier: Apache-2.0
"""A document as docs/profiling.md describes it, made up: two devices, a run on the host, one that is wrong."""
import statistics


def stat(median, *factors):
    samples = [median * f for f in factors or (1, 0.97, 1.02, 1.3, 0.99, 1.01, 0.98, 1.05, 1, 1.01)]
    middle = statistics.median(samples)
    low, _, high = statistics.quantiles(samples, n=4, method="inclusive")
    return {"samples": samples, "min": min(samples), "median": middle, "max": max(samples), "noise": (high - low) / middle}


def command(kind, name, phase, section, call, start, end, **more):
    return {"kind": kind, "name": name, "phase": phase, "section": section, "queue": 0, "thread": 0, "call_us": call,
            "return_us": call + 4, "queued_us": call + 1, "submit_us": call + 2, "start_us": start, "end_us": end, **more}


def run(device, scale, algo, name="uniform:500000,500000,10000000", **more):
    phases = [("host", 0.4), ("write", 12.5), ("build", 1.2), ("allocate", 0.8), ("analyse", 0.9), ("kernel", 5.2),
              ("launch", 0.1), ("gap", 0.02), ("read", 0.9)]
    whole = sum(ms for _, ms in phases) * scale
    spans, at = [], 0.0
    for phase, ms in phases:
        spans.append({"phase": phase, "begin_us": at, "end_us": at + 1000 * ms * scale})
        at = spans[-1]["end_us"]
    begin = {s["phase"]: s for s in spans}
    cut = (begin["kernel"]["begin_us"] * 0.2 + begin["kernel"]["end_us"] * 0.8)
    return {
        "matrix": name, "m": 500000, "n": 500000, "nnz": 10000000, "type": "f64", "index": 32, "op": "spmv",
        "backend": "opencl", "algo": algo, "library": "0.1.0", "device": device, "verified": True, "reps": 10,
        "end_to_end_ms": stat(whole),
        "phases": [{"name": p, "ms": stat(ms * scale), "share": ms * scale / whole, "commands": 3,
                    **({"bytes": 126000004, "gbps": 126000004 / (ms * scale) * 1e-6, "device_ms": stat(ms * scale)}
                       if p == "write" else {})} for p, ms in phases],
        "bytes": {"write": 126000004, "read": 4000000, "write_min": 126000004, "read_min": 4000000, "copy": 0,
                  "kernel_min": 130000004},
        "kernels": [
            {"name": "spmv_csr_merge", "phase": "kernel", "launches": 1, "ms": stat(4.3 * scale), "share": 0.83,
             "queue_us": stat(20), "submit_us": stat(8), "global": [262144], "wg": [256], "groups": 1024,
             "bound_bytes": 134000004, "min_bytes": 130000004, "gbps": 130000004 / (4.3 * scale) * 1e-6,
             "gbps_of": "min", "copy_share": 0.7, "local_bytes": 8192, "registers": 40, "spill_bytes": 0,
             "occupancy": {"groups": 6, "waves": 48, "waves_max": 64, "share": 0.75, "limit": "registers",
                           "model": "sm_90"}},
            {"name": "spmv_join", "phase": "kernel", "launches": 2, "ms": stat(0.9 * scale), "share": 0.17,
             "global": [1024], "wg": [64], "groups": 16, "bound_bytes": 4010000, "gbps": 4010000 / (0.9 * scale) * 1e-6,
             "gbps_of": "bound", "resources": {"reason": "the driver does not tell"}}],
        "launches": 3, "gap_us": stat(20 * scale), "overlaps": 0,
        "roofline": {"bytes": 130000004, "gbps": 130000004 / (5.2 * scale) * 1e-6, "copy_share": 0.61 if scale < 1 else 0.72,
                     "triad_share": 0.6, "flops": 20000000, "gflops": 20000000 / (5.2 * scale) * 1e-6,
                     "intensity": 20000000 / 130000004, "floor_ms": 3.1 * scale},
        "counters": {"launches": 10, "sum_ms": 52 * scale, "span_ms": 220 * scale, "throttled": scale < 1, "items": {
            "sm_clock": {"source": "NVML", "value": 1755, "unit": "MHz", "min": 1410, "max": 1980, "samples": 12},
            "throttle": {"source": "NVML", "value": "power_cap", "samples": 12},
            "power": {"source": "NVML", "value": 412.5, "unit": "W", "min": 380, "max": 455, "samples": 12},
            "dram_read": {"source": "CUPTI", "reason": "not asked for: WEFT_COUNTERS=dram"},
            "dram_write": {"source": "CUPTI", "reason": "not asked for: WEFT_COUNTERS=dram"}}},
        "timeline": {"rep": 4, "begin_ns": 123456789, "spans": spans, "commands": [
            command("write", "clEnqueueWriteBuffer", "write", "setup", begin["write"]["begin_us"],
                    begin["write"]["begin_us"] + 5, begin["write"]["end_us"], bytes=126000004, blocking=True),
            command("kernel", "rows_stats", "analyse", "setup", begin["analyse"]["begin_us"],
                    begin["analyse"]["begin_us"] + 9, begin["analyse"]["end_us"] - 9, wg=[256], **{"global": [65536]}),
            command("kernel", "spmv_csr_merge", "kernel", "launch", begin["kernel"]["begin_us"] - 15,
                    begin["kernel"]["begin_us"], cut, wg=[256], **{"global": [262144]}),
            command("kernel", "spmv_join", "kernel", "launch", begin["kernel"]["begin_us"] - 9, cut + 2,
                    begin["kernel"]["end_us"], wg=[64], **{"global": [1024]}),
            command("read", "clEnqueueReadBuffer", "read", "read", begin["read"]["begin_us"],
                    begin["read"]["begin_us"] + 5, begin["read"]["end_us"], bytes=4000000, blocking=True)]},
        **more}


def rounded(value):
    """Numbers as the recorder rounds them."""
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def document(name="uniform:500000,500000,10000000"):
    ceilings = {"copy_gbps": 40.0, "triad_gbps": 36.5, "launch_us": stat(18), "queue_us": stat(6)}
    host = run(2, 2.2, "csr", name, backend="ref")
    for key in ("kernels", "timeline", "bytes", "counters", "roofline"):
        del host[key]
    host["counters"] = {"reason": "not counted"}
    return rounded({
        "schema": "weft-profile-1", "program": "weft-bench", "version": "0.1.0", "date": "2026-01-01T00:00:00Z",
        "command": "weft-bench --profile -o spmv -t f64",
        "host": {"name": "Some Processor", "system": "Linux 6.1.0 x86_64", "threads": 16},
        "devices": [
            {"index": 0, "name": "A processor", "vendor": "V", "platform": "P", "driver": "3.1", "type": "CPU",
             "compute_units": 16, "global_bytes": 16 << 30, "timer_ns": 1,
             "clock": {"method": "markers", "offset_ns": 5, "error_ns": 900, "drift_ns": 4, "checked": 130, "outside": 0},
             "ceilings": ceilings},
            {"index": 1, "name": "A graphics processor", "vendor": "W", "driver": "580", "type": "GPU",
             "compute_units": 132, "max_clock_mhz": 1980, "global_bytes": 140 << 30, "timer_ns": 32,
             "ceilings": {"copy_gbps": 4270.0, "triad_gbps": 4100.0, "launch_us": stat(9), "queue_us": stat(2.1)}},
            {"name": "Some Processor", "type": "host"}],
        "runs": [run(0, 1, "csr_merge", name), run(1, 0.012, "csr_lanes", name), host,
                 {"matrix": name, "op": "spmv", "backend": "opencl", "algo": "ell", "device": 0, "verified": False,
                  "error": "row 3: 1.5 where 2.5 was expected"}]})
