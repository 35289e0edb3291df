# SPDX-License-Identifier: Apache-2.0
"""What a compiled kernel uses: registers, local memory, stack, spills, code size.

Reads what clang, llvm-readelf and ptxas print; one dict per kernel. occupancy.py tells what follows from them.
"""
import re

COLUMNS = ["source", "variant", "target", "kernel", "wave", "wg", "vgpr", "agpr", "sgpr", "lds_bytes", "stack_bytes",
           "spills", "groups", "waves", "waves_max", "limit", "code_bytes"]
WAVE = {"gfx906": 64, "gfx908": 64, "gfx90a": 64, "gfx942": 64}  # others: 32


def amd(remarks, symbols, target):
    """Kernels of the remarks of -Rpass-analysis=kernel-resource-usage and the table of llvm-readelf --symbols."""
    size = {m[2]: int(m[1]) for m in re.finditer(r"^ *\d+: \S+ +(\d+) FUNC .* (\S+)$", symbols, re.M)}
    out = []
    for block in remarks.split("remark: Function Name: ")[1:]:
        def number(label, block=block):
            return int(re.search(r"remark: +" + re.escape(label) + r": (\d+)", block)[1])
        name = block.split()[0]
        dynamic = re.search(r"Dynamic Stack: True", block)
        out.append({"target": target, "kernel": name, "wave": WAVE.get(target, 32), "vgpr": number("VGPRs"),
                    "agpr": number("AGPRs") if "AGPRs:" in block else "", "sgpr": number("SGPRs"),
                    "lds_bytes": number("LDS Size [bytes/block]"),
                    "stack_bytes": "dynamic" if dynamic else number("ScratchSize [bytes/lane]"),
                    "spills": number("SGPRs Spill") + number("VGPRs Spill"), "code_bytes": size.get(name, "")})
    return out


def nvidia(verbose, sections, target):
    """Kernels of what `ptxas -v` prints and the table of llvm-readelf --sections."""
    size = {m[1]: int(m[2], 16) for m in re.finditer(r"\] \.text\.(\S+) +\S+ +\S+ +\S+ +([0-9a-f]+)", sections)}
    out = []
    for block in verbose.split("Compiling entry function '")[1:]:
        name = block.split("'")[0]
        lds = re.search(r"(\d+) bytes smem", block)
        stack, stores, loads = re.search(
            r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", block).groups()
        out.append({"target": target, "kernel": name, "wave": 32,
                    "vgpr": int(re.search(r"Used (\d+) registers", block)[1]), "agpr": "", "sgpr": "",
                    "lds_bytes": int(lds[1]) if lds else 0, "stack_bytes": int(stack),
                    "spills": int(stores) + int(loads), "code_bytes": size.get(name, "")})
    return out


def complaints(row):
    """Why a kernel may not stay as it is: a list of words, empty when all is well."""
    out = []
    if row["spills"]:
        out.append(f"spills {row['spills']}")
    if row["stack_bytes"]:
        out.append(f"stack {row['stack_bytes']} bytes per work-item")
    if not row["groups"]:
        out.append("does not fit on the device")
    return out


def table(rows):
    lines = ["\t".join(COLUMNS)]
    lines += ["\t".join(str(row[c]) for c in COLUMNS) for row in rows]
    return "\n".join(lines) + "\n"
