#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""isa_test.py: what isa.py reads, what occupancy.py makes of it, what kernels_md.py misses, what count.py counts. TAP."""
import contextlib
import io
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import count  # noqa: E402
import isa  # noqa: E402
import kernels_md  # noqa: E402
import occupancy  # noqa: E402

REMARKS = "".join(f"k.cl:1:1: remark: {line} [-Rpass-analysis=kernel-resource-usage]\n   1 | WEFT_KERNEL void\n" for line in [
    "Function Name: one", "    SGPRs: 17", "    VGPRs: 14", "    AGPRs: 2", "    ScratchSize [bytes/lane]: 0",
    "    Dynamic Stack: False", "    Occupancy [waves/SIMD]: 8", "    SGPRs Spill: 0", "    VGPRs Spill: 0",
    "    LDS Size [bytes/block]: 512",
    "Function Name: two", "    SGPRs: 96", "    VGPRs: 128", "    AGPRs: 0", "    ScratchSize [bytes/lane]: 16",
    "    Dynamic Stack: True", "    Occupancy [waves/SIMD]: 4", "    SGPRs Spill: 3", "    VGPRs Spill: 4",
    "    LDS Size [bytes/block]: 0"])
SYMBOLS = """\
     1: 0000000000000000   192 FUNC    GLOBAL PROTECTED   2 one
     2: 0000000000000100  4096 FUNC    GLOBAL PROTECTED   2 two
     3: 0000000000000000    64 OBJECT  GLOBAL PROTECTED   3 one.kd
"""
PTXAS = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'one' for 'sm_80'
ptxas info    : Function properties for one
    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 8 bytes cumulative stack size, 1024 bytes smem, 380 bytes cmem[0]
"""
SECTIONS = "  [ 9] .text.one         PROGBITS        0000000000000000 000a00 000300 00  AX  5   8 128\n"
# target, work-group size, vector, accumulation and scalar registers, local memory; groups, waves, of how many, limit
CASES = [
    ("gfx906", 64, 20, "", 102, 0, 28, 28, 40, "registers"),  # 800/102 = 7 waves of a SIMD
    ("gfx906", 128, 20, "", 30, 0, 16, 32, 40, "groups"),
    ("gfx906", 64, 20, "", 30, 65537, 0, 0, 40, "local"),
    ("gfx90a", 256, 155, 0, 80, 12000, 3, 12, 32, "registers"),  # 155 -> 160 of 512
    ("gfx90a", 64, 33, 30, 40, 0, 28, 28, 32, "registers"),      # 36 + 30 -> 72 of 512
    ("gfx942", 256, 60, 0, 80, 16388, 3, 12, 32, "local"),
    ("gfx1030", 256, 167, "", 50, 0, 2, 16, 64, "registers"),    # 5 waves of a SIMD, 20 in all: two groups of 8
    ("gfx1100", 256, 105, "", 56, 20512, 6, 48, 64, "registers"),
    ("gfx1100", 64, 10, "", 20, 0, 32, 64, 64, "waves"),
    ("sm_75", 256, 71, "", "", 0, 3, 24, 32, "registers"),       # 2272 -> 2304 registers of a warp: 28 warps
    ("sm_80", 256, 32, "", "", 40000, 4, 32, 64, "local"),       # with 1024 bytes for the system
    ("sm_90", 32, 32, "", "", 0, 32, 32, 64, "groups"),
    ("sm_90", 256, 255, "", "", 0, 1, 8, 64, "registers"),
]
def test_parsers():
    one, two = isa.amd(REMARKS, SYMBOLS, "gfx90a")
    ok(one == {"target": "gfx90a", "kernel": "one", "wave": 64, "vgpr": 14, "agpr": 2, "sgpr": 17, "lds_bytes": 512,
               "stack_bytes": 0, "spills": 0, "code_bytes": 192}, "remarks of clang", one)
    ok(two["spills"] == 7 and two["stack_bytes"] == "dynamic" and two["code_bytes"] == 4096 and
       len(isa.complaints({**two, "groups": 1})) == 2, "spills and a stack are complaints", two)
    got = isa.nvidia(PTXAS, SECTIONS, "sm_80")
    ok(got == [{"target": "sm_80", "kernel": "one", "wave": 32, "vgpr": 40, "agpr": "", "sgpr": "", "lds_bytes": 1024,
                "stack_bytes": 8, "spills": 16, "code_bytes": 768}], "output of ptxas", got)
    ok(isa.complaints({"spills": 0, "stack_bytes": 0, "groups": 0}) == ["does not fit on the device"],
       "a kernel that does not fit is a complaint")


def test_occupancy():
    for target, wg, vgpr, agpr, sgpr, lds, *want in CASES:
        row = {"target": target, "wave": isa.WAVE.get(target, 32), "wg": wg, "vgpr": vgpr, "agpr": agpr, "sgpr": sgpr,
               "lds_bytes": lds}
        occupancy.of(row)
        got = [row[key] for key in ("groups", "waves", "waves_max", "limit")]
        ok(got == want, f"{target}: {wg} work-items of {vgpr} registers, {lds} bytes", f"got {got}, expected {want}")


def test_table():
    """The row that stands for a kernel, and how it is written."""
    rows = []
    for variant, target, vgpr, agpr, sgpr in [
            ("OFS_BITS=64 VAL_BITS=64 VAL_IS_F64=1 WG=64", "gfx90a", 90, 0, 40),
            ("OFS_BITS=32 VAL_BITS=32 VAL_IS_I32=1 WG=64", "gfx90a", 95, 0, 40),
            ("OFS_BITS=32 VAL_BITS=32 VAL_IS_F32=1 WG=64", "gfx90a", 20, 0, 40),
            ("OFS_BITS=32 VAL_BITS=32 VAL_IS_F32=1 WG=64 IPT=4", "gfx90a", 33, 30, 40),
            ("OFS_BITS=32 VAL_BITS=32 VAL_IS_F32=1 WG=64 IPT=4", "gfx1100", 10, "", 20)]:
        rows.append({"source": "a.cl", "kernel": "a", "variant": variant, "target": target, "wg": 64, "vgpr": vgpr,
                     "wave": isa.WAVE.get(target, 32), "agpr": agpr, "sgpr": sgpr, "spills": 0, "stack_bytes": 0,
                     "lds_bytes": 256 if target == "gfx90a" else 128, "code_bytes": 192})
        occupancy.of(rows[-1])
    variants = kernels_md.chosen(rows)
    ok(variants == {("a.cl", "a"): rows[3]["variant"]}, "f32 and 32-bit offsets, then the most registers", variants)
    got = kernels_md.isa_table([("a.cl", "a", "")], rows, variants, ["gfx90a", "gfx1100"]).splitlines()
    ok([cell.strip() for cell in got[0].split("|")[1:-1]] == ["kernel", "wg", "local", "gfx90a (64)", "gfx1100 (32)"] and
       [cell.strip() for cell in got[2].split("|")[1:-1]] ==
       ["a", "64", "128 to 256", "33+30a+40 · 88r · 192", "10+20 · 100 · 192"], "registers, waves and what ends first", *got)
    texts = [{"source": "a.cl", "set": "amd64", "variant": row["variant"]} for row in rows[:4]]
    texts.append({"source": "a.cl", "set": "amd64", "variant": rows[3]["variant"].replace("OFS_BITS=32", "OFS_BITS=64")})
    texts.append({"source": "b.cl", "set": "amd64", "variant": rows[0]["variant"]})
    ok(kernels_md.shown(texts) == [texts[2], texts[3], texts[5]],
       "the page compiles the nearest variants, and others of a source that has no nearer one", kernels_md.shown(texts))


def test_document():
    """A file of one kernel and one of two; the check fails for each line that is taken away or added."""
    head = "// SPDX-License-Identifier: Apache-2.0\n// {}\n// Source:  -\n\n"
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, "cl", "x"))
        os.makedirs(os.path.join(root, "docs", "reference"))
        with open(os.path.join(root, "cl", "x", "a.cl"), "w", encoding="utf-8") as file:
            file.write(head.format("y[i], i = 0 .. n-1, of x.\n// More.") + "WEFT_KERNEL void a(int n)\n{\n}\n")
        with open(os.path.join(root, "cl", "x", "b_cpu.cl"), "w", encoding="utf-8") as file:
            file.write(head.format("Both.") + "// The\n// first. x\n#define X\nWEFT_KERNEL void b1(int n)\n{\n}\n\n"
                       "// The second.\nWEFT_KERNEL void b2(int n)\n{\n}\n")
        names = kernels_md.kernels_of(root)
        ok(names == [("x/a.cl", "a", "y[i], i = 0 .. n-1, of x."), ("x/b_cpu.cl", "", "Both."),
                     ("x/b_cpu.cl", "b1", "The first."), ("x/b_cpu.cl", "b2", "The second.")], "what kernels do", names)
        page = kernels_md.what_table(names) + "\n\n## What each takes\n\n| kernel |\n| a      |\n"

        def complaints(text):
            with open(kernels_md.document(root), "w", encoding="utf-8") as file:
                file.write(text)
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                try:
                    kernels_md.check(root)
                except SystemExit:
                    pass
            return said.getvalue()
        lines = page.splitlines(keepends=True)
        ok("3 kernels, 0 complaints" in complaints(page), "a whole page", page)
        for number in [i for i, line in enumerate(lines) if line.startswith(("| a ", "| b"))]:
            said = complaints("".join(lines[:number] + lines[number + 1:]))
            ok("1 complaints" in said, "without " + lines[number].split("|")[1].strip() + f", line {number}", said)
        said = complaints(page.replace("| b1 ", "| b3 "))
        ok("b1 of cl/x/b_cpu.cl is not" in said and "b3 of x/b_cpu.cl is in" in said, "with another name", said)


def test_count():
    """count.py: what tests came to, and a log that is none is a failure."""
    with tempfile.TemporaryDirectory() as folder:
        def counted(text):
            path = os.path.join(folder, "log.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                code = count.main([path])
            return code, said.getvalue()
        log = "".join(f'{{"name": "{r.lower()}", "result": "{r}"}}\n' for r in ("OK", "SKIP", "EXPECTEDFAIL", "TIMEOUT"))
        ok(counted(log) == (1, "log: 4 tests, 0 checks\nfailed: timeout (TIMEOUT)\n2 passed, 1 failed, 1 skipped\n"), "a failure is named", counted(log))
        ok(counted(log.splitlines()[0]) == (0, "log: 1 tests, 0 checks\n1 passed, 0 failed, 0 skipped\n"), "all passed")
        for text in ("nonsense", "3\n", "{}\n"):
            code, said = counted(text)
            ok(code == 1 and said.endswith("0 passed, 1 failed, 0 skipped\n") and "log.json is no log" in said, "a log that is " + text, said)


test_parsers()
test_occupancy()
test_table()
test_document()
test_count()
sys.exit(done())
