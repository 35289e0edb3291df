#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/reference/kernels.md: what each kernel of cl/ does, and what it takes on devices of AMD and NVIDIA.

kernels_md.py check ROOT                     every kernel is in the file, in both tables, and nothing else is
kernels_md.py write ROOT WEFT_KERNELS OUT    compile what the page shows for all targets, as kernels.py does (folder OUT), and
                                             write the file (`ninja -C build kernels-md`)
"""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import kernels  # noqa: E402

CHECKS = ("amd", "nvidia")
CHOOSER = "gfx1100"  # its registers choose the variant to show
WANTED = {"OFS_BITS": "32", "VAL_BITS": "32", "VAL_IS_F32": "1", "SEMIRING": "0", "KEY_BITS": "32", "SUM_BITS": "32"}
UNWANTED = {"VAL_IS_F64", "VAL_IS_I32", "ACC_F64", "ONES"}
LETTERS = {"registers": "r", "local": "l", "groups": "g"}
KERNEL = re.compile(r"^WEFT_KERNEL void (\w+)\(", re.M)
FIRST = re.compile(r"^(.*?[^ .]\.)(?=\s|$)")  # not at "0 .. n"

TEXT = """<!-- Written by `ninja -C build kernels-md`: change cl/ or tests/lint/kernels_md.py instead. -->
# Kernels

## What each does

From the comment at the head of the file, and above each kernel of a file with several. Files named `cpu` or `..._cpu` hold what runs on
processors, `gpu` what runs on everything else; files with neither serve both or have a partner of another name.

{what}

## What each takes

{compiled}

A row is one variant of a kernel: values f32 (or 32 bits), 32-bit offsets, the semiring (+, \\*); of several such the one with
most registers on {chooser}. Tests `kernels_amd` and `kernels_nvidia` compile every variant, and fail where one spills a register or uses a
stack. They write `isa-amd.tsv` and `isa-nvidia.tsv` into the folder tests/lint of the build.

- `wg`: work-group size; `local`: bytes of local memory of a work-group.
- The size of a target's wave or warp is in brackets. A cell has three parts, with a dot between them:
  registers of a work-item (AMD: vector+scalar); resident waves; bytes of code.
- Resident waves are in percent of what the device can hold, from registers, local memory and group size (`tests/lint/occupancy.py`).
  A letter says what ends first: **r** registers, **l** local memory, **g** the count of groups.

### AMD, waves of 64

{amd64}

### AMD, waves of 32

{amd32}

### NVIDIA

NVIDIA's own OpenCL compiler is another one than clang with ptxas: an orientation, not what a driver will make of it.

{nvidia}
"""


def sentence(lines):
    text = " ".join(line.lstrip("/ ") for line in lines)
    return (FIRST.match(text) or [text])[0]


def kernels_of(root):
    """[(file, kernel, what it does)] of cl/, in order; of a file with several kernels first (file, "", what it does)."""
    out = []
    for path in sorted(glob.glob(os.path.join(root, "cl", "*", "*.cl"))):
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        entries = [(number, match[1]) for number, line in enumerate(lines) for match in [KERNEL.match(line)] if match]
        head = sentence(lines[1:next(i for i, line in enumerate(lines) if line.startswith("// Source:"))])
        out.append((os.path.relpath(path, os.path.join(root, "cl")), entries[0][1] if len(entries) == 1 else "", head))
        for number, name in entries if len(entries) > 1 else []:
            first = number
            while lines[first - 1].startswith(("//", "#", "typedef")):
                first -= 1
            out.append((os.path.relpath(path, os.path.join(root, "cl")), name,
                        sentence([line for line in lines[first:number] if line.startswith("//")])))
    return out


def markdown(head, rows):
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    widths[-1] = min(widths[-1], 40)
    lines = [head, ["-" * width for width in widths], *rows]
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() + " |"
                     for line in lines)


def likeness(variant):
    """How far a variant is from the representative one: more is nearer."""
    defines = dict(re.findall(r"(\w+)=(\S+)", variant))
    return sum((defines[name] == value) - (defines[name] != value) for name, value in WANTED.items() if name in defines) \
        - len(UNWANTED & defines.keys())


def cell(row):
    percent = 100 * row["waves"] / row["waves_max"]
    registers = f"{row['vgpr']}" + (f"+{row['sgpr']}" if row["sgpr"] != "" else "")
    if row["agpr"] not in ("", 0):
        registers = f"{row['vgpr']}+{row['agpr']}a+{row['sgpr']}"
    return f"{registers} · {percent:.0f}{LETTERS[row['limit']] if percent < 100 and row['limit'] in LETTERS else ''} · " \
        f"{row['code_bytes']}"


def chosen(rows):
    """{(file, kernel): the variant that stands for it}."""
    out, registers = {}, {}
    for row in rows:
        key = row["source"], row["kernel"], row["variant"]
        registers[key] = registers.get(key, 0) + row["vgpr"]
    for (source, kernel, variant), total in sorted(registers.items()):
        best = out.get((source, kernel))
        if best is None or (likeness(variant), total) > best[0]:
            out[source, kernel] = (likeness(variant), total), variant
    return {key: variant for key, (_, variant) in out.items()}


def isa_table(names, rows, variants, targets):
    wave = {row["target"]: row["wave"] for row in rows}
    found = {(row["source"], row["kernel"], row["variant"], row["target"]): row for row in rows}
    lines = []
    for source, kernel, _ in names:
        if (source, kernel) not in variants:
            continue
        mine = [found[source, kernel, variants[source, kernel], target] for target in targets]
        local = sorted({row["lds_bytes"] for row in mine})
        lines.append([label(names, source, kernel), str(mine[0]["wg"]), " to ".join(map(str, {local[0]: 0, local[-1]: 0})),
                      *map(cell, mine)])
    return markdown(["kernel", "wg", "local", *(f"{target} ({wave[target]})" for target in targets)], lines)


def label(names, source, kernel):
    """Name of a kernel, with its file where two share the name."""
    return kernel if [name for _, name, _ in names].count(kernel) == 1 else f"{kernel} ({source})"


def what_table(names):
    return markdown(["kernel", "file", "what it does"],
                    [[kernel, source, what.replace("|", "\\|").replace("*", "\\*")] for source, kernel, what in names])


def shown(texts):
    """Those of all program texts that `chosen` may choose from: of each source, and each set of names of defines, the nearest
    to the representative one; sets with unwanted names where a source has no other."""
    groups, plain = {}, set()
    for text in texts:
        names = frozenset(re.findall(r"(\w+)=", text["variant"]))
        groups.setdefault((text["source"], text["set"], names), []).append(text)
        if not names & UNWANTED:
            plain.add(text["source"])
    out = []
    for (source, _, names), group in groups.items():
        if not names & UNWANTED or source not in plain:
            nearest = max(likeness(text["variant"]) for text in group)
            out += [text for text in group if likeness(text["variant"]) == nearest]
    return out


def write(root, program, out):
    variants = chosen(kernels.main("amd", program, out, shown, [CHOOSER]))
    wanted = {(source, variant) for (source, _), variant in variants.items()}
    rows = [row for check in CHECKS for row in kernels.main(
        check, program, out, lambda texts: [text for text in texts if (text["source"], text["variant"]) in wanted])]
    names = kernels_of(root)
    clang = re.search(r"version ([\d.]+)", kernels.call(kernels.CLANG, "--version"))[1]
    ptxas = re.search(r"release ([\d.]+)", kernels.call(kernels.find_ptxas(), "--version"))[1]
    text = TEXT.format(
        what=what_table(names),
        compiled=f"Compiled offline by clang {clang}, for NVIDIA with ptxas {ptxas}; no device is asked.",
        chooser=CHOOSER,
        **{each: isa_table(names, rows, variants, kernels.TARGETS[each]) for each in ("amd64", "amd32", "nvidia")})
    with open(document(root), "w", encoding="utf-8") as file:
        file.write(text)


def document(root):
    return os.path.join(root, "docs", "reference", "kernels.md")


def check(root):
    """What is missing in the file or too much, one a line; exit status 1 when there is any."""
    names = [name for name in kernels_of(root) if name[1]]
    with open(document(root), encoding="utf-8") as file:
        what, takes = file.read().split("\n## What each takes\n")
    listed = re.findall(r"^\| (\w+) +\| (\S+\.cl) +\|", what, re.M)
    measured = re.findall(r"^\| (\w+(?: \(\S+\))?) +\|", takes, re.M)
    bad = [f"{kernel} of cl/{source} is not in docs/reference/kernels.md" for source, kernel, _ in names
           if (kernel, source) not in listed]
    bad += [f"{kernel} of {source} is in docs/reference/kernels.md but not in cl/" for kernel, source in listed
            if (source, kernel) not in [name[:2] for name in names]]
    bad += [f"{kernel} of cl/{source} has no registers in docs/reference/kernels.md" for source, kernel, _ in names
            if not source.endswith("cpu.cl") and label(names, source, kernel) not in measured]
    bad += [f"{kernel} of cl/{source} has no comment that says what it does" for source, kernel, what in names if not what]
    print(*bad, f"{len(names)} kernels, {len(bad)} complaints", sep="\n")
    if bad:
        print("to mend: ninja -C build kernels-md")
        sys.exit(1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"]:
        check(*sys.argv[2:])
    else:
        write(*sys.argv[2:])
