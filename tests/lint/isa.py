# SPDX-License-Identifier: Apache-2.0
"""What a compiled kernel uses: registers, local memory, stack, spills, code size, occupancy.

Reads what clang, llvm-readelf and ptxas print; one dict per kernel, keys as in COLUMNS.
"""
import re

COLUMNS = ["source", "variant", "target", "kernel", "vgpr", "agpr", "sgpr", "lds_bytes", "stack_bytes", "spills",
           "occupancy", "occupancy_max", "code_bytes"]

# Warps per multiprocessor; registers and shared memory of one (CUDA C++ Programming Guide, table of compute
# capabilities). Occupancy counts warps per multiprocessor on NVIDIA and waves per SIMD on AMD.
NVIDIA = {"sm_75": (32, 65536, 65536), "sm_80": (64, 65536, 167936), "sm_90": (64, 65536, 233472)}
AMD_WAVES = {"gfx906": 10, "gfx90a": 8, "gfx942": 8, "gfx1030": 16, "gfx1100": 16}


def amd(remarks, symbols, target):
    """Kernels of the remarks of -Rpass-analysis=kernel-resource-usage and the table of llvm-readelf --symbols."""
    size = {m[2]: int(m[1]) for m in re.finditer(r"^ *\d+: \S+ +(\d+) FUNC .* (\S+)$", symbols, re.M)}
    out = []
    for block in remarks.split("remark: Function Name: ")[1:]:
        def number(label, block=block):
            return int(re.search(r"remark: +" + re.escape(label) + r": (\d+)", block)[1])
        name = block.split()[0]
        dynamic = re.search(r"Dynamic Stack: True", block)
        out.append({"target": target, "kernel": name, "vgpr": number("VGPRs"), "agpr": number("AGPRs") if "AGPRs:" in
                    block else "", "sgpr": number("SGPRs"), "lds_bytes": number("LDS Size [bytes/block]"),
                    "stack_bytes": "dynamic" if dynamic else number("ScratchSize [bytes/lane]"),
                    "spills": number("SGPRs Spill") + number("VGPRs Spill"),
                    "occupancy": number("Occupancy [waves/SIMD]"), "occupancy_max": AMD_WAVES[target],
                    "code_bytes": size.get(name, "")})
    return out


def nvidia(verbose, sections, target, wg):
    """Kernels of what `ptxas -v` prints and the table of llvm-readelf --sections; wg: work-group size or 0."""
    size = {m[1]: int(m[2], 16) for m in re.finditer(r"\] \.text\.(\S+) +\S+ +\S+ +\S+ +([0-9a-f]+)", sections)}
    max_warps, registers, shared = NVIDIA[target]
    out = []
    for block in verbose.split("Compiling entry function '")[1:]:
        name = block.split("'")[0]
        regs = int(re.search(r"Used (\d+) registers", block)[1])
        lds = re.search(r"(\d+) bytes smem", block)
        stack, stores, loads = re.search(
            r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", block).groups()
        lds = int(lds[1]) if lds else 0
        warp = -(-regs // 8) * 8 * 32  # registers are given to a warp in pieces of 256
        warps = min(max_warps, registers // warp)
        if wg:
            per_group = -(-wg // 32)
            groups = min(warps // per_group, shared // (lds + 1024) if lds else warps)
            warps = groups * per_group
        out.append({"target": target, "kernel": name, "vgpr": regs, "agpr": "", "sgpr": "", "lds_bytes": lds,
                    "stack_bytes": int(stack), "spills": int(stores) + int(loads), "occupancy": warps,
                    "occupancy_max": max_warps, "code_bytes": size.get(name, "")})
    return out


def complaints(row):
    """Why a kernel may not stay as it is: a list of words, empty when all is well."""
    out = []
    if row["spills"]:
        out.append(f"spills {row['spills']}")
    if row["stack_bytes"]:
        out.append(f"stack {row['stack_bytes']} bytes per work-item")
    if not row["occupancy"]:
        out.append("does not fit on the device")
    return out


def table(rows):
    lines = ["\t".join(COLUMNS)]
    lines += ["\t".join(str(row[c]) for c in COLUMNS) for row in rows]
    return "\n".join(lines) + "\n"
