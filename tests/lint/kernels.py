#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kernels.py CHECK WEFT_KERNELS OUT: compile every program text of the library offline.

CHECK parse   for devices without any extension, with local memory only, CPUs, sub-groups of 32 and 64, with ballot and
              without; for addresses of 32 bits: clang's warnings are errors
      amd     for nine AMD targets: also no spills, no stack
      nvidia  for three NVIDIA targets: also no stack; with ptxas no spills, without it exit 77 when all else is well
      intel   for the GPUs of Intel that ocloc knows: Gen9, Xe, Xe2; exit 77 without ocloc
      unused  for all of these, the front end alone, as many texts as it takes: every function of cl/ is used by one
WEFT_KERNELS writes the texts (weft_kernels.c); OUT is a folder for them and for the table isa-CHECK.tsv. Environment:
WEFT_CLANG (default clang-19), PTXAS, WEFT_OCLOC (default ocloc), WEFT_SAMPLE_TARGETS (set: a sample of the texts, each for one target of a set, in turn, so
that the variants of a source still meet them all).
"""
import concurrent.futures
import glob
import hashlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import isa  # noqa: E402
import occupancy  # noqa: E402

CLANG = os.environ.get("WEFT_CLANG", "clang-19")
# A helper takes `mem` that only some implementations use, and no program uses every helper: check `unused` is for that.
WARNINGS = ["-Wall", "-Wextra", "-Wdouble-promotion", "-Werror", "-Wno-unused-parameter", "-Wno-unused-function"]
SETS = {"parse": ["plain", "generic", "cpu", "subgroups32", "subgroups64", "bare32", "bare64", "plain32"], "amd": ["amd32", "amd64"], "nvidia": ["nvidia"],
        "intel": ["intel", "generic"],
        "unused": ["generic", "cpu", "nvidia", "amd64", "amd32", "subgroups32", "subgroups64", "bare32", "plain"]}
TARGETS = {"amd64": ["gfx906", "gfx908", "gfx90a", "gfx942"], "amd32": ["gfx1030", "gfx1100", "gfx1151", "gfx1200", "gfx1201"],
           "nvidia": ["sm_75", "sm_80", "sm_90"], "intel": ["skl", "tgllp", "dg2-g10", "lnl", "bmg"]}  # the other sets are parsed for SPIR-V
NO_DOUBLE = ["tgllp", "dg2-g10"]  # ocloc has no cl_khr_fp64 for them, and weft refuses what needs it on such devices
HERE = os.path.dirname(os.path.abspath(__file__))
LIBCLC = "/usr/lib/clc/nvptx64--nvidiacl.bc"
SHIM = os.path.join(HERE, "nvptx_shim.h")
AMD = ["-target", "amdgcn-amd-amdhsa"]
NVIDIA = ["-target", "nvptx64--nvidiacl", "-include", SHIM,
          "-Xclang", "-cl-ext=+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics"]
FUNCTION = re.compile(r"^(?:WEFT_INLINE|WEFT_INLINE_LOCAL|static inline|inline)\b[^;{(]*?\b(\w+)\(", re.M)  # its definition in cl/
# One that is given local memory, and not always inlined where it must be (cl/lib/weft.clh).
LOOSE = re.compile(r"^(?:static|inline)\b[^;{(]*?\b(\w+)\([^;{]*\b__local\b[^;{]*\)\s*\{", re.M)
# One whose pointers are `restrict`: what that leaves in a kernel it is compiled into, Oclgrind 21.10 does not know. It runs no
# kernels of the CPU schedule.
NARROW = re.compile(r"^(?:WEFT_INLINE|WEFT_INLINE_LOCAL|static|inline)\b[^;{(]*?\b(\w+)\([^;{]*\brestrict\b[^;{]*\)\s*\{", re.M)


class Failure(Exception):
    """A text that does not pass; the message says why."""


def call(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise Failure(done.stdout.strip())
    return done.stdout


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def find_ptxas():
    for name in os.environ.get("PTXAS", "ptxas"), *glob.glob("/usr/local/cuda*/bin/ptxas"):
        if shutil.which(name):
            return name
    return None


def amd_libraries(out):
    """A folder of ROCm's device libraries. Older releases do not describe the newer targets: the file that tells a
    target's number is derived from gfx940's."""
    found = glob.glob("/usr/lib/*/amdgcn/bitcode/ockl.bc") + glob.glob("/usr/lib*/amdgcn/bitcode/ockl.bc")
    if not found:
        skip("no ROCm device libraries (Debian package rocm-device-libs)")
    folder = os.path.join(out, "bitcode")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for path in glob.glob(os.path.join(os.path.dirname(found[0]), "*.bc")):
        os.symlink(path, os.path.join(folder, os.path.basename(path)))
    for short, number in (("942", "9402"), ("1100", "11000"), ("1151", "11501"), ("1200", "12000"), ("1201", "12001")):
        wanted = os.path.join(folder, f"oclc_isa_version_{short}.bc")
        if not os.path.exists(wanted):
            text = call("llvm-dis-19", "-o", "-", os.path.join(folder, "oclc_isa_version_940.bc"))
            with open(wanted + ".ll", "w", encoding="utf-8") as file:
                file.write(text.replace("i32 9400", "i32 " + number))
            call("llvm-as-19", wanted + ".ll", "-o", wanted)
    return folder


def front(text):
    return [CLANG, "-x", "cl", *text["options"], *WARNINGS, text["path"]]


def parse(text, _target, _tools):
    extra = ["-Wshorten-64-to-32"]  # a position of 64 bits becomes one of 32 by a cast only
    if text["set"].startswith(("subgroups", "bare")):
        extra += ["-Wno-ignored-pragmas"]  # extensions that clang has no name for
    elif text["set"].startswith("plain"):
        extra += ["-Xclang", "-cl-ext=-cl_khr_fp64,-cl_khr_int64_base_atomics,-cl_khr_int64_extended_atomics"]
    bits = "spir" if text["set"] == "plain32" else "spir64"
    call(*front(text), *extra, "-target", bits + "-unknown-unknown", "-fsyntax-only")
    return []


def amd(text, target, tools):
    code = f"{text['path']}.{target}.o"
    log = call(*front(text), *AMD, "-mcpu=" + target, "--rocm-device-lib-path=" + tools, "-O3",
               "-Rpass-analysis=kernel-resource-usage", "-c", "-o", code)
    symbols = call("llvm-readelf-19", "--wide", "--symbols", code)
    os.remove(code)
    undefined = re.findall(r" UND (\S+)$", symbols, re.M)
    if undefined:
        raise Failure("calls what does not exist: " + " ".join(undefined))
    return isa.amd(log, symbols, target)


def nvidia(text, target, ptxas):
    ptx = f"{text['path']}.{target}.ptx"
    call(*front(text), *NVIDIA, "-Xclang", "-target-cpu", "-Xclang", target, "-Xclang", "-mlink-builtin-bitcode",
         "-Xclang", LIBCLC, "-O3", "-S", "-o", ptx)
    # NVIDIA's compiler writes the size of the work-group, which bounds the registers; clang does not. Up to 256 nothing is
    # bounded, but ptxas then spends registers otherwise, and 14 kernels of 256 keep 8 bytes or so on a stack.
    if text["wg"] > 256:
        with open(ptx, encoding="utf-8") as file:
            code = file.read()
        with open(ptx, "w", encoding="utf-8") as file:
            file.write(re.sub(r"(\.entry [^{]*?\))(\s*\{)", rf"\1\n.reqntid {text['wg']}, 1, 1\2", code))
    if not ptxas:
        with open(ptx, encoding="utf-8") as file:
            if "__local_depot" in file.read():
                raise Failure("uses a stack")
        return []
    log = call(ptxas, "-v", "-arch=" + target, ptx, "-o", ptx + ".cubin")
    os.remove(ptx)
    return isa.nvidia(log, call("llvm-readelf-19", "--wide", "--sections", ptx + ".cubin"), target)


def ocloc_help(ocloc):
    """It has no option that prints its version, and some releases end with an error."""
    return subprocess.run([ocloc, "compile", "--help"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout


def ocloc_find():
    """The program; TARGETS keeps those that it knows: Debian 12's has no Xe2, later ones have no Gen9."""
    ocloc = shutil.which(os.environ.get("WEFT_OCLOC", "ocloc"))
    if not ocloc:
        skip("no ocloc (Debian package intel-opencl-icd, later intel-ocloc)")
    known = re.search(r"device_type> can be: (.*)", ocloc_help(ocloc))
    TARGETS["intel"] = [target for target in TARGETS["intel"] if known and target in known[1].split(", ")]
    if not TARGETS["intel"]:
        skip("ocloc knows none of the devices")
    return ocloc


def intel(text, target, ocloc):
    name = f"{os.path.basename(text['path'])}.{target}"
    call(ocloc, "compile", "-file", text["path"], "-device", target, "-options", " ".join(text["options"]),
         "-out_dir", os.path.dirname(text["path"]), "-output", name)
    for path in glob.glob(os.path.join(glob.escape(os.path.dirname(text["path"])), glob.escape(name) + "_*")):
        os.remove(path)
    return []


def parts_of(text):
    """{file of cl/: its part} of a program text."""
    pieces = re.split(r'^#line 1 "(\S+)"\n', text, flags=re.M)
    return dict(zip(pieces[1::2], pieces[2::2]))


def used_in(text, _target, _tools):
    """A row for each function that the front end finds in a text, and uses."""
    device = {"nvidia": [*NVIDIA, "-Xclang", "-target-cpu", "-Xclang", "sm_90"],
              "amd64": [*AMD, "-nogpulib", "-mcpu=gfx90a"], "amd32": [*AMD, "-nogpulib", "-mcpu=gfx1100"]}
    command = [CLANG, "-x", "cl", *text["options"], *device.get(text["set"], ["-target", "spir64-unknown-unknown"]), text["path"]]
    there = set(re.findall(r"\b(\w+)\(", call(*command, "-E", "-P")))
    said = call(*command, "-fsyntax-only", "-Wno-everything", "-Wunused-function")
    return [{"function": name} for name in sorted(there - set(re.findall(r"unused function '(\w+)'", said)))]


def unused(texts, known):
    """(functions of cl/, those that no text uses, those that are LOOSE or NARROW and why, texts looked at); a function is (file, name)."""
    functions, left, wrong, looked, turn = set(), set(), set(), 0, {}
    for text in texts:  # the first variant of each source and set comes before the second ones
        turn[text["set"], text["source"]] = text["turn"] = turn.get((text["set"], text["source"]), 0) + 1
    for text in sorted(texts, key=lambda text: text["turn"]):
        with open(text["path"], encoding="utf-8") as file:
            parts = parts_of(file.read())
        found = {(path, name) for path, part in parts.items() for name in FUNCTION.findall(part)}
        for path, part in parts.items():
            wrong |= {(path, name, "is given local memory: WEFT_INLINE or WEFT_INLINE_LOCAL") for name in LOOSE.findall(part)}
            if not re.search(r"cpu\.clh?$", path):
                wrong |= {(path, name, "has a restrict pointer, which Oclgrind takes of kernels alone") for name in NARROW.findall(part)}
        left |= found - functions
        functions |= found
        words = re.findall(r"\w+", re.sub(r"//.*", "", "".join(parts.values())))
        hopeful = {(path, name) for path, name in found & left if words.count(name) > 1}
        if hopeful:
            names = {row["function"] for row in known.get(used_in, text, "", None)}
            left -= {function for function in hopeful if function[1] in names}
            looked += 1
    return functions, left, wrong, looked


def identity(tools):
    """What the results depend on of a folder of device libraries or a program."""
    if not tools:
        return ""
    if not os.path.isdir(tools):
        return ocloc_help(tools) if "ocloc" in os.path.basename(tools) else call(tools, "--version")
    total = hashlib.sha256()
    for path in sorted(glob.glob(os.path.join(tools, "*.bc"))):
        with open(path, "rb") as file:
            total.update(os.path.basename(path).encode() + file.read())
    return total.hexdigest()


class Known:
    """Results by what they depend on, kept from run to run: most texts stay as they are."""

    def __init__(self, out, check, step, tools):
        self.path, self.old, self.results, self.now = os.path.join(out, f"known-{check}.json"), 0, {}, {}
        self.common = call(CLANG, "--version") + identity(tools) + " ".join(WARNINGS + AMD + NVIDIA) + str(isa.WAVE)
        for function in (front, step, isa.amd, isa.nvidia):
            self.common += inspect.getsource(function)
        with open(SHIM, encoding="utf-8") as file:
            self.common += file.read()
        try:
            with open(self.path, encoding="utf-8") as file:
                self.results = json.load(file)
        except (OSError, ValueError):
            pass  # the first run, or one that was cut off

    def get(self, step, text, target, tools):
        with open(text["path"], encoding="utf-8") as file:
            code = re.sub(r"//.*|^#line .*", "", file.read(), flags=re.M)  # moved lines and other comments change nothing
        depends = "\0".join([self.common, re.sub(r"\s*\n\s*", "\n", code), text["set"], target, *text["options"]])
        key = hashlib.sha256(depends.encode()).hexdigest()
        if key in self.results:
            self.old += 1
        self.now[key] = self.results[key] if key in self.results else step(text, target, tools)
        return [dict(row) for row in self.now[key]]

    def save(self, old_too):
        results = {**self.results, **self.now} if old_too else self.now
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump(results, file)
        os.replace(self.path + ".new", self.path)


def texts_of(program, out, check):
    """Write the texts of a check; a dict for each."""
    folder = os.path.join(out, check)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    texts = []
    for line in call(program, folder, *SETS[check]).splitlines():
        path, source, defines, kind, options = line.split("\t")
        wg = re.search(r"\bWG=(\d+)", defines)
        texts.append({"path": path, "source": source, "variant": defines, "set": kind, "options": options.split(),
                      "wg": int(wg[1]) if wg else 0})
    return texts


# A sample takes every eighth text of a source, and the first; all but the first leave out one of these, in turn.
EVERY = 8
ALTERNATE = [("amd32", "plain", "subgroups32"), ("amd64", "generic", "subgroups64")]


def targets_for(text, check):
    """The targets for which weft would build this text."""
    double = "_F64=1" in text["variant"]
    return [target for target in TARGETS.get(check, TARGETS.get(text["set"], ["spirv"])) if not (double and target in NO_DOUBLE)]


def targets_of(texts, check, only=None):
    """(text, target) for everything to compile; `only`: for these targets."""
    sample, turn = os.environ.get("WEFT_SAMPLE_TARGETS"), {}
    for text in texts:
        targets = [target for target in targets_for(text, check) if not only or target in only]
        if sample:
            turn[text["set"], text["source"]] = n = turn.get((text["set"], text["source"]), -1) + 1
            round_of = n // EVERY
            if n and (n % EVERY != 1 or text["set"] in ALTERNATE[round_of % 2]):
                continue
            targets = [targets[round_of // 2 % len(targets)]] if targets else []
        for target in targets:
            yield text, target


def main(check, program, out, pick=None, only=None):
    """One check; `pick` takes some of the texts, whose rows for the targets `only` are the result, and no file has them."""
    if not shutil.which(CLANG):
        skip(f"no {CLANG}")
    tools = None
    if check == "amd":
        for tool in ("llvm-dis-19", "llvm-as-19", "llvm-readelf-19"):
            if not shutil.which(tool):
                skip(f"no {tool}")
        tools = amd_libraries(out)
    if check == "nvidia":
        if not os.path.exists(LIBCLC):
            skip(f"no {LIBCLC} (Debian package libclc-15)")
        tools = find_ptxas() if shutil.which("llvm-readelf-19") else None
    if check == "intel":
        tools = ocloc_find()
    texts = texts_of(program, out, check)
    texts = pick(texts) if pick else texts
    if check == "unused":
        known = Known(out, check, used_in, None)
        functions, left, wrong, looked = unused(texts, known)
        known.save(False)
        print(*(f"FAIL {path}: no program uses {name}" for path, name in sorted(left)),
              *(f"FAIL {path}: {name} {why}" for path, name, why in sorted(wrong)),
              f"unused: {len(functions)} functions, {looked} of {len(texts)} texts looked at ({known.old} known), {len(left) + len(wrong)} failures", sep="\n")
        sys.exit(1 if left or wrong or not functions else 0)
    step = {"parse": parse, "amd": amd, "nvidia": nvidia, "intel": intel}[check]
    known, failed, rows = Known(out, check, step, tools), 0, []
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        jobs = [(text, target, pool.submit(known.get, step, text, target, tools))
                for text, target in targets_of(texts, check, only)]
        for number, (text, target, job) in enumerate(jobs):
            if number % 100 == 99:
                known.save(True)  # a run that is cut off goes on from here
            where = f"{text['source']} {text['variant']} ({text['set']}) for {target}"
            try:
                for row in job.result():
                    row.update(source=text["source"], variant=text["variant"], wg=text["wg"])
                    occupancy.of(row)
                    rows.append(row)
                    for why in isa.complaints(row):
                        failed += 1
                        print(f"FAIL {where}: kernel {row['kernel']}: {why}")
            except Failure as why:
                failed += 1
                print(f"FAIL {where}:\n{why}")
    known.save(bool(pick or os.environ.get("WEFT_SAMPLE_TARGETS")))
    if rows and not pick:
        with open(os.path.join(out, f"isa-{check}.tsv"), "w", encoding="utf-8") as file:
            file.write(isa.table(rows))
    every = sum(len(targets_for(text, check)) for text in texts)
    print(f"{check}: {len(texts)} texts, {len(jobs)} of {every} compilations ({known.old} known), {len(rows)} kernels measured, {failed} failures")
    if failed or not jobs:
        sys.exit(1)
    if check == "nvidia" and not tools:
        skip("compiled by clang for NVIDIA; no ptxas to look for spills")
    return rows


if __name__ == "__main__":
    main(*sys.argv[1:])
