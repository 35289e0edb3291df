#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""translate.py FOLDER CHIP: programs in OpenCL C to AMD machine code, and its instructions to functions of the host.

Reads a name a line from stdin. FOLDER/NAME.cl is a text and FOLDER/NAME.options what its compiler is told. Writes NAME.log, and
where that goes well NAME.image, the memory of the code object from address 0, and NAME.table, what layer.c needs to run it:

    chip WAVE SGPRS VGPRS PC_LO EXEC_LO M0 STRIDE TTMP7 TTMP9 (its scalar registers by index; no TTMP: -1)
    sgpr INDEX VALUE                                        what a wave begins with
    kernel NAME DESCRIPTOR LDS PRIVATE REQUIRED LARGEST ARGUMENTS_SIZE
    arg KIND OFFSET SIZE                                    of that kernel; KIND: value, buffer, local, or the name of a hidden one
    form NUMBER KIND SIZE FUNCTION LIBRARY COUNT ARGUMENTS...  a form of instructions; KIND: run, barrier, skip, fault, a name of
                                                            OWN; ARGUMENTS: memories of the function, or operands
    at ADDRESS COUNT                                        instructions follow, a line each: the number of its form
Then answers NAME and `ok` or `failed`.

Each form of instruction becomes a function by the emulator of a source tree of tinygrad (its folder test/mockgpu/amd) that
WEFT_AMD_EMULATOR names. The functions stay in FOLDER, so that few programs need the emulator itself. Its name for a chip's
family is in FAMILIES.
"""
import fcntl
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lint"))
import kernels  # noqa: E402

FAMILIES = {"gfx11": ("rdna3", 32), "gfx12": ("rdna4", 32), "gfx94": ("cdna", 64), "gfx95": ("cdna", 64)}
# Orders to caches, which are not emulated: (mask, value, bytes) of the first word.
CACHES = {"rdna3": [(0xfffc0000, 0xe0ac0000, 8), (0xfffc0000, 0xe0b00000, 8)],
          "rdna4": [(0xff3fc000, 0xee0ac000, 12), (0xff3fc000, 0xee0b0000, 12), (0xff3fc000, 0xee13c000, 12)],
          "cdna": [(0xfdfc0000, 0xe0a00000, 8), (0xfdfc0000, 0xe0a40000, 8)]}
# What the emulator lacks or gets wrong, and own.c does; each with the operands that it needs: registers and numbers.
OWN = {"S_GETPC_B64": "getpc", "V_MOVRELD_B32_E32": "movreld", "V_MOVRELS_B32_E32": "movrels", "DS_BPERMUTE_B32": "bpermute",
       "GLOBAL_ATOMIC_CMPSWAP_X2": "cmpswap64", "GLOBAL_ATOMIC_CMPSWAP_B64": "cmpswap64", "S_SET_GPR_IDX_ON": "indexon"}
OPERANDS = {"getpc": ("sdst",), "movreld": ("vdst", "src0"), "movrels": ("vdst", "src0"),
            "bpermute": ("vdst", "addr", "data0", "offset0", "offset1"),
            "indexon": ("ssrc0", "ssrc1"),
            "cmpswap64": ("vdst", "addr|vaddr", "data|vsrc", "saddr", "offset|ioffset", "glc|sc0|th")}
# Operands of half a word (SDWA) lose what is carried, and stores go to the aligned address below: programs are compiled without both.
ALIGNED = ["-Xclang", "-target-feature", "-Xclang", "-unaligned-access-mode"]
FLAGS = {} if os.environ.get("WEFT_AMD_PLAIN") else {"cdna": ["-mllvm", "-amdgpu-sdwa-peephole=0", *ALIGNED], "rdna3": ALIGNED, "rdna4": ALIGNED}
# Between s_set_gpr_idx_on and _off of gfx9 a move takes M0 into account: for its source, or its destination.
INDEXED = {1: "movrels", 8: "movreld"}
NOTHING = {"kind": "skip", "function": "-", "library": "-", "arguments": []}


def write(path, data):
    """All or nothing: other processes write the same."""
    with tempfile.NamedTemporaryFile("wb", dir=os.path.dirname(path), delete=False) as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    os.replace(file.name, path)


def operands(instruction, kind):
    """Numbers of registers, a vector register's from 256 on, and of fields; offsets have a sign."""
    out = []
    for names in OPERANDS[kind]:
        name = next(n for n in names.split("|") if hasattr(instruction, n))
        value = getattr(instruction, name)
        if name in ("offset", "ioffset"):
            bits = getattr(type(instruction), name)
            value -= (value >> bits.hi - bits.lo) << bits.hi - bits.lo + 1
        out.append(int(getattr(value, "offset", value)) & (1 if name == "th" else -1))
        if name == "src0" and out[-1] == 255:
            raise kernels.Failure("a literal")
    return out


class Forms:
    """The forms of instructions, kept in FOLDER/forms.json from run to run."""

    def __init__(self, folder, family):
        self.folder, self.family, self.emulator = os.path.join(folder, "forms"), family, None
        self.decoded, self.refused = {}, []
        os.makedirs(self.folder, exist_ok=True)
        self.path, self.known = os.path.join(self.folder, "known.json"), {"start": None, "forms": []}
        self.load()

    def load(self):
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                self.known = json.load(file)

    def start(self):
        """The emulator, imported when it is first needed: that takes seconds."""
        if self.emulator:
            return self.emulator
        sys.path.insert(0, os.environ["WEFT_AMD_EMULATOR"])
        os.environ.setdefault("CC", kernels.CLANG)
        os.environ["CACHELEVEL"] = "0"
        from test.mockgpu.amd import emu
        emu.get_runtime = lambda _device, program: program.to_elf()  # the object file, rather than one loaded here
        if not os.environ.get("WEFT_AMD_PLAIN"):
            before = emu._iattr

            def attribute(instruction, name, default=0):
                """Whether an atomic returns what was there: `glc` before gfx940, then `sc0`, a bit of `th` on gfx12."""
                if name == "glc" and hasattr(instruction, "sc0"):
                    return before(instruction, "sc0", default)
                if name == "glc" and hasattr(instruction, "th"):
                    return before(instruction, "th", default) & 1
                return before(instruction, name, default)
            emu._iattr = attribute
        self.emulator = emu
        return emu

    def chip(self, wave):
        """The first two lines of a table."""
        if not self.known["start"]:
            emu = self.start()
            state = emu.WaveState(wave, wave)
            values = list(state._sgpr_mv)
            self.known["start"] = [
                [wave, emu.SGPR_COUNT, 256, emu.PC_LO_IDX, emu.EXEC_LO.offset, 124 if wave == 64 else 125, emu.SCRATCH_STRIDE_IDX,
                 *((emu.ttmp[7].offset, emu.ttmp[9].offset) if self.family == "rdna4" else (-1, -1))],
                [(i, v) for i, v in enumerate(values) if v and i >= 128 and i < emu.PC_LO_IDX]]
        layout, values = self.known["start"]
        return ["chip " + " ".join(map(str, layout))] + [f"sgpr {i} {v}" for i, v in values]

    def of(self, data, index=0):
        """(form, bytes, what is indexed from there on) of the instruction that begins at the first of these 16 bytes."""
        word = int.from_bytes(data[:4], "little")
        for mask, value, size in CACHES[self.family]:
            if word & mask == value:
                return {**NOTHING, "size": size}, size, index
        emu = self.start()
        instruction = emu.decode_inst(data, self.family)
        size = instruction.size()
        key = data[:size], index
        if key not in self.decoded:
            name = emu._op_name(instruction)
            after = operands(instruction, "indexon")[1] if name == "S_SET_GPR_IDX_ON" else 0 if name == "S_SET_GPR_IDX_OFF" else index
            try:
                form = self.form(emu, instruction, data[:size + 4], type(instruction).__name__, index)
            except Exception as error:  # it may never be run
                self.refused.append(f"{instruction}: {error}")
                form = {**NOTHING, "kind": "fault", "size": size}
            self.decoded[key] = form, after
        return self.decoded[key][0], size, self.decoded[key][1]

    def form(self, emu, instruction, data, kind, index):
        name = emu._op_name(instruction)
        if name == "S_SET_GPR_IDX_OFF":
            return {**NOTHING, "size": instruction.size()}
        if index and kind.startswith("VOP"):
            if name != "V_MOV_B32_E32" or index not in INDEXED:
                raise kernels.Failure(f"indexed by {index}")
            return {**NOTHING, "kind": INDEXED[index], "size": instruction.size(), "arguments": operands(instruction, INDEXED[index])}
        if name in OWN and not os.environ.get("WEFT_AMD_PLAIN"):
            return {**NOTHING, "kind": OWN[name], "size": instruction.size(), "arguments": operands(instruction, OWN[name])}
        size, number = instruction.size(), int.from_bytes(data[:instruction.size()], "little")
        for form in self.known["forms"]:
            if form["type"] == kind and form["size"] == size and number & int(form["mask"], 16) == int(form["base"], 16):
                return form
        emu._canonical_runner_cache.clear()
        program, elf = emu._get_runner(bytes(data), self.family)
        _type, base, mask, _size, _entry = emu._canonical_runner_cache[-1]
        barriers = emu._BARRIER_OPS
        waits = hasattr(instruction, "op") and instruction.op in barriers
        name = "f" + hashlib.sha256(elf.lib).hexdigest()[:24]
        library = os.path.join(self.folder, name + ".so")
        if not os.path.exists(library):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, name + ".o")
                with open(path, "wb") as file:
                    file.write(elf.lib)
                kernels.call("ld.lld-19", "-shared", "-z", "undefs", path, "-o", path + ".so")
                with open(path + ".so", "rb") as file:
                    write(library, file.read())
        form = {"kind": "barrier" if waits else "run", "type": kind, "size": size, "base": hex(base), "mask": hex(mask),
                "function": elf.name, "library": name + ".so", "arguments": list(program.arg.globals)}
        with open(self.path + ".lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.load()
            self.known["forms"].append(form)
            write(self.path, json.dumps(self.known))
        return form


def metadata(text):
    """Kernels of the metadata that llvm-readelf prints: dicts of their lines, with a list of arguments."""
    out = []
    for block in re.split(r"^  - (?=\.)", text.split("amdhsa.kernels:")[1].split("\namdhsa.")[0], flags=re.M)[1:]:
        fields = dict(re.findall(r"^(?:    )?(\.\w+): +(\S.*)$", block, re.M))
        fields["arguments"] = [dict(re.findall(r"(\.\w+): +(\S.*)$", part, re.M))
                               for part in re.split(r"^      - (?=\.)", block.split("    .group_seg")[0], flags=re.M)[1:]]
        required = re.search(r"\.reqd_workgroup_size:\n +- (\d+)", block)
        fields["required"] = required[1] if required else "0"
        out.append(fields)
    return out


def table(path, forms, wave):
    """(image, lines) of a code object."""
    said = json.loads(kernels.call("llvm-readelf-19", "--elf-output-style=JSON", "--notes", "-l", "-r", "-s", path))[0]
    with open(path, "rb") as file:
        elf = file.read()
    loads = [h["ProgramHeader"] for h in said["ProgramHeaders"] if h["ProgramHeader"]["Type"]["Name"] == "PT_LOAD"]
    image = bytearray(max(h["VirtualAddress"] + h["MemSize"] for h in loads) + 16)
    for h in loads:
        image[h["VirtualAddress"]:h["VirtualAddress"] + h["FileSize"]] = elf[h["Offset"]:h["Offset"] + h["FileSize"]]
    if said["Relocations"]:
        raise kernels.Failure("relocations")
    symbols = {s["Symbol"]["Name"]["Name"]: s["Symbol"] for s in said["Symbols"]}
    lines = forms.chip(wave)
    notes = "".join(n["AMDGPU Metadata"] for s in said["NoteSections"] for n in s["NoteSection"]["Notes"])
    for k in metadata(notes):
        lines.append(" ".join(["kernel", k[".name"], str(symbols[k[".symbol"]]["Value"]), k[".group_segment_fixed_size"],
                               k[".private_segment_fixed_size"], k["required"], k[".max_flat_workgroup_size"],
                               k[".kernarg_segment_size"]]))
        for a in k["arguments"]:
            kind = {"by_value": "value", "global_buffer": "buffer", "dynamic_shared_pointer": "local"}.get(a[".value_kind"],
                                                                                                          a[".value_kind"])
            lines.append(f"arg {kind} {a['.offset']} {a['.size']}")
    numbers, code = {}, []
    for s in symbols.values():
        if s["Type"]["Name"] == "Function":
            at, end, found, index = s["Value"], s["Value"] + s["Size"], [], 0
            while at < end:
                form, size, index = forms.of(bytes(image[at:at + 16]), index)
                found.append(numbers.setdefault((form["library"], form["kind"], form["function"], size, *form["arguments"]), len(numbers)))
                if found[-1] == len(numbers) - 1 and not any(line.startswith(f"form {found[-1]} ") for line in code):
                    code.append(" ".join(map(str, ["form", found[-1], form["kind"], size, form["function"], form["library"],
                                                   len(form["arguments"]), *form["arguments"]])))
                at += size
            code.append(f"at {s['Value']} {len(found)}")
            code += map(str, found)
    return bytes(image), lines + code


def translate(name, folder, chip, forms, libraries):
    base = os.path.join(folder, name)
    with open(base + ".options", encoding="utf-8") as file:
        options = file.read().split()
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "object")
        done = subprocess.run([kernels.CLANG, "-x", "cl", *options, *kernels.AMD, "-mcpu=" + chip, "--rocm-device-lib-path=" + libraries,
                               "-O3", "-w", *FLAGS.get(FAMILIES[chip[:5]][0], []), base + ".cl", "-o", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        write(base + ".log", done.stdout)
        if done.returncode:
            return False
        forms.refused = []
        image, lines = table(path, forms, FAMILIES[chip[:5]][1])
        write(base + ".refused", "".join(line + "\n" for line in forms.refused))
    write(base + ".image", image)
    write(base + ".table", "\n".join(lines) + "\nend\n")
    return True


def main(folder, chip):
    forms = Forms(folder, FAMILIES[chip[:5]][0])
    with tempfile.TemporaryDirectory() as scratch:
        libraries = kernels.amd_libraries(scratch)
        for line in sys.stdin:
            name = line.strip()
            try:
                good = translate(name, folder, chip, forms, libraries)
            except Exception as error:  # whatever the emulator says of an instruction
                write(os.path.join(folder, name + ".log"), f"translate.py: {error}\n")
                good = False
            print(name, "ok" if good else "failed", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
