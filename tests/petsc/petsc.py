#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""petsc.py PLUGIN OPERATIONS SOLVE PREFIX MPICC MPIRUN FOLDER [VALGRIND]: the plug-in in programs that know nothing of it. TAP.

OPERATIONS compares every operation with PETSc's own, SOLVE is run by bench/lab/petsc_bench. PETSc's tutorials, where they are below PREFIX, run with and without the
plug-in: the same lines, and the same numbers within rounding. FOLDER is where they are compiled to. Where
WEFT_SAMPLE is set, every second case with 2 ranks; else all with 1, 2 and 4. With VALGRIND tutorial ex2 runs
under it, and nothing else.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from importlib.machinery import SourceFileLoader

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok, skip  # noqa: E402

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "lab", "petsc_bench")
MAT = "-mat_type aijweft -vec_type weft"
DM = "-dm_mat_type aijweft -dm_vec_type weft"
MATRICES = "share/petsc/datafiles/matrices/"
# Program, options, options that ask for the plug-in's types.
TUTORIALS = [
    ("ksp/ksp/tutorials/ex2", "-ksp_monitor -m 20 -n 20", MAT),
    ("ksp/ksp/tutorials/ex2", "-ksp_monitor -m 20 -n 20 -ksp_type cg -pc_type jacobi", MAT),
    ("ksp/ksp/tutorials/ex23", "-ksp_monitor -n 60 -mat_weft_format sell", MAT),
    ("ksp/ksp/tutorials/ex23", "-ksp_monitor -n 60 -mat_weft_reproducible", MAT),
    ("ksp/ksp/tutorials/ex10", "-f @spd-real-int32-float64 -ksp_monitor -ksp_type cg -pc_type jacobi", MAT),
    ("ksp/ksp/tutorials/ex2", "-ksp_monitor -m 20 -n 20 -ksp_type chebyshev -pc_type jacobi", MAT),
    ("ksp/ksp/tutorials/ex45", "-ksp_monitor -da_grid_x 9 -da_grid_y 9 -da_grid_z 9 -ksp_type cg -pc_type jacobi", DM),
    ("ksp/ksp/tutorials/ex45", "-ksp_monitor -da_grid_x 9 -da_grid_y 9 -da_grid_z 9", DM),
    ("snes/tutorials/ex19", "-snes_monitor -ksp_converged_reason -da_grid_x 9 -da_grid_y 9 -pc_type jacobi", DM),
    ("ksp/ksp/tutorials/ex2", "-ksp_monitor -m 20 -n 20 -ksp_type bcgs -pc_type jacobi", MAT),
    ("ksp/ksp/tutorials/ex2", "-ksp_monitor -m 20 -n 20 -pc_type gamg", MAT),
    ("mat/tests/ex123", "", MAT),  # values given as coordinates, with and without repeated ones
    ("mat/tests/ex2", "", MAT),  # transposes of a matrix and of shells around it
    ("mat/tests/ex2", "-rectA", MAT),
    ("mat/tests/ex2", "-rectB", MAT),
]
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")


def run(mpirun, ranks, *command, **more):
    """Exit status and output of a program on so many ranks, each on one thread; `more` of its environment."""
    start = [mpirun, "--oversubscribe", "--allow-run-as-root", "-n", str(ranks)] if ranks > 1 else []
    env = {**os.environ, "POCL_MAX_PTHREAD_COUNT": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none", **more}
    made = subprocess.run([*start, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", env=env, timeout=3000, check=False)
    return made.returncode, made.stdout


def alike(ours, theirs, rounding):
    """The first pair of lines that differ in words, or in numbers by more than rounding; "" when none does."""
    a, b = re.sub(r"(aij|seq|mpi)weft\b", r"\1", ours).splitlines(), theirs.splitlines()
    if len(a) != len(b) or not a:
        return f"{len(a)} lines, not {len(b)}"
    for one, two in zip(a, b):
        words = [NUMBER.sub("#", line) for line in (one, two)]
        pairs = zip(*([float(x) for x in NUMBER.findall(line)] for line in (one, two)))
        if words[0] != words[1] or any(abs(x - y) > rounding * max(abs(x), abs(y)) + 1e-11 for x, y in pairs):
            return f"{one}\n{two}"
    return ""


def test_alike():
    ok(not alike("1 Residual 2.00001e-3", "1 Residual 2.00002e-3", 1e-4), "rounding is no difference")
    ok(alike("1 Residual 2.1e-3", "1 Residual 2.0e-3", 1e-4), "another number is")
    ok(alike("1 a\n2 a", "1 a", 1e-4), "another number of lines is")


def test_operations(mpirun, plugin, program, several):
    for ranks in several:
        code, out = run(mpirun, ranks, program, "-dll_append", plugin, "-malloc_dump")
        bad = [line for line in out.splitlines() if not line.startswith("ok ")]
        ok(code == 0 and len(bad) == 1 and re.match(r"1\.\.[1-9]\d\d$", bad[0]), f"operations, {ranks} ranks", *bad)
    code, out = run(mpirun, 1, program, "-dll_append", plugin, "-malloc_dump", "-leak")
    ok("VecCreate" in out, "a vector that is forgotten is found by -malloc_dump", code, out)
    code, out = run(mpirun, 1, program, "-dll_append", plugin, "-least", "-help", "-info")
    missing = [word for word in ("format", "products", "tune", "reproducible") if f"  -mat_weft_{word}" not in out]
    ok(not missing, "-help lists the options", code, missing)
    ok("looping over columns of a dense matrix" in out, "MatMatMult with a dense matrix multiplies its columns on the device", code)


def test_devices(mpirun, plugin, program):
    """Which device each rank takes, of two that PoCL is told to have."""
    def taken(**more):
        code, out = run(mpirun, 2, program, "-dll_append", plugin, "-least", "-info", **{"POCL_DEVICES": "pthread pthread", **more})
        found = dict(re.findall(r"weft: local rank (\d) uses device (\d)", out))
        return code, [found.get(rank) for rank in "01"], out
    code, devices, out = taken()
    ok(code == 0 and devices == ["0", "1"], "each rank has a device of its own", code, devices, out[-1000:])
    code, devices, out = taken(WEFT_DEVICE="CPU")
    ok(code == 0 and devices == ["0", "1"], "of the kind that WEFT_DEVICE says", code, devices, out[-1000:])
    code, devices, out = taken(WEFT_DEVICE="portable computing")
    ok(code == 0 and devices == ["0", "1"], "or of the name", code, devices, out[-1000:])
    code, devices, out = taken(WEFT_DEVICE="1")
    ok(code == 0 and devices == ["1", "1"], "WEFT_DEVICE as an index is for all ranks", code, devices, out[-1000:])
    for text in "4000", "no such device":
        code, devices, out = taken(WEFT_DEVICE=text)
        ok(code != 0 and f"WEFT_DEVICE is '{text}', which no device is" in out, f"WEFT_DEVICE '{text}' is refused", code, out[-1000:])


def compile_tutorial(prefix, mpicc, folder, name):
    """The compiled tutorial, kept from run to run; None where it is not there or does not compile."""
    source = os.path.join(prefix, "share/petsc/examples/src", name + ".c")
    program = os.path.join(folder, name.replace("/", "-"))
    if os.path.exists(program):
        return program
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "PETSc"], stdout=subprocess.PIPE, text=True, check=True).stdout
    os.makedirs(folder, exist_ok=True)
    made = subprocess.run([mpicc, "-O0", "-w", source, "-o", program, *flags.split(), "-lm"], check=False)
    return program if made.returncode == 0 else None


def test_tutorials(mpirun, plugin, prefix, mpicc, folder, sample):
    for name, options, types in TUTORIALS[::2] if sample else TUTORIALS:
        if not os.path.exists(os.path.join(prefix, "share/petsc/examples/src", name + ".c")):
            skip(f"no tutorial {name}: libpetsc3.18-dev-examples has it on Debian")
            continue
        program = compile_tutorial(prefix, mpicc, folder, name)
        if not ok(program is not None, f"{name} compiles"):
            continue
        args = options.replace("@", os.path.join(prefix, MATRICES)).split() + ["-malloc_dump"]
        for ranks in [2] if sample else [1, 2, 4]:
            code, theirs = run(mpirun, ranks, program, *args)
            ours_code, ours = run(mpirun, ranks, program, "-dll_append", plugin, *types.split(), *args)
            differs = alike(ours, theirs, 1e-4)
            ok(code == ours_code == 0 and not differs, f"{name} {options}, {ranks} ranks", code, ours_code, differs)
    return os.path.join(folder, "ksp-ksp-tutorials-ex2")


def test_copies(mpirun, plugin, program):
    """With everything on the device no vector goes to the host in an iteration: 3200 bytes of 400 unknowns."""
    counts = []
    for most in "5", "25":
        code, out = run(mpirun, 1, program, "-dll_append", plugin, *MAT.split(), "-m", "20", "-n", "20", "-ksp_type", "cg",
                        "-pc_type", "jacobi", "-ksp_max_it", most, "-log_view")
        found = [int(n) for n in re.findall(r"^  (?:read|write), 3200 bytes +(\d+)", out, re.M)]
        ok(code == 0 and "WeftPlan" in out and re.search(r"^  reduce +\d+", out, re.M), "-log_view has events and device times", out)
        counts.append(sum(found))
    ok(counts[0] == counts[1] > 0, "20 iterations more copy no vector more", counts)


def test_bench(program, plugin):
    """The bench: a system on two ranks, what it refuses, and its model on runs that follow one."""
    def bench(*args):
        made = subprocess.run([sys.executable, BENCH, "--program", program, "--plugin", plugin, *args], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False)
        return made.returncode, made.stdout, made.stderr
    code, out, err = bench("--example")
    ok(code == 0 and not err and len(re.findall(r"^\| aij(?:weft)? \| 2 \| \d+ .* solved \|$", out, re.M)) == 2, "the example", out, err)
    code, out, err = bench("--ranks", "0")
    ok(code == 2 and err.count("\n") == 1 and not out, "no ranks", err)
    code, out, err = bench("--matrices", "stencil27:0", "--ranks", "1")
    ok(code == 3 and "1 to 1000 points" in err, "no points", err)
    lab = SourceFileLoader("petsc_bench", BENCH).load_module()
    truth = {"latency_s": 5e-6, "seconds_per_byte": 1e-9, "local_seconds": 2e-5, "local_seconds_per_byte": 1e-9, "reduction_seconds": 7e-6}
    runs = []
    for p, size, h in (1, 1e6, 0), (1, 3e6, 0), (2, 1e6, 1000), (4, 1e6, 9000), (4, 3e6, 9000):
        halo = 2 * (5e-6 + h / 2 * 1e-9)
        runs.append({"kind": "aijweft", "solved": True, "ranks": p, "iterations": 10, "iteration_bytes": size, "product_bytes": size / 50,
                     "halo_bytes": h, "halo_messages": 2, "halo_seconds": 10 * halo,
                     "iteration_seconds": 2e-5 + size / p * 1e-9 + (p > 1) * (max(0, halo - size / 50 / p * 1e-9) + 2 * (p // 2) * 7e-6)})
    fit = lab.model(runs)
    ok(all(abs(fit[k] / v - 1) < 1e-2 for k, v in truth.items()), "the model finds what made the runs", fit)
    ok(lab.predict(fit, 10, 64, 8) > lab.predict(fit, 10, 8, 8) > lab.predict(fit, 10, 1, 8), "more ranks take longer")
    ok(lab.model(runs[:1] + runs[2:3])["local_seconds"] == 0, "one size shows no fixed time")


def faults(path):
    """What one process's report of valgrind has on weft: errors and leaks with a frame of its libraries, but for those of the loader,
    which reads words beyond the ends of its texts, and of PoCL's compiler, which leaks for every kernel."""
    out = []
    for error in xml.etree.ElementTree.parse(path).getroot().iter("error"):
        frames = [frame.findtext("obj") or "" for frame in error.find("stack")]
        functions = [frame.findtext("fn") or "?" for frame in error.find("stack")]
        compiler = "pocl_check_kernel_disk_cache" in functions or any("/libLLVM" in obj for obj in frames)
        if any("/libweft" in obj for obj in frames) and not compiler and not any("/ld-linux" in obj for obj in frames[:2]):
            out.append(error.findtext("kind") + ": " + " < ".join(functions[:8]))
    return out


def check_valgrind(mpirun, valgrind, ranks, *command):
    """Exit status, output, and faults of all ranks; the children that PoCL forks to link kernels have no whole report."""
    with tempfile.TemporaryDirectory() as folder:
        code, out = run(mpirun, ranks, valgrind, "--num-callers=40", "--leak-check=full", "--show-leak-kinds=definite", "--keep-debuginfo=yes",
                        "--xml=yes", f"--xml-file={folder}/%p.xml", *command, POCL_DEVICES="basic")
        whole = [path for path in glob.glob(folder + "/*.xml") if b"</valgrindoutput>" in open(path, "rb").read()]
        return code, out, len(whole), [fault for path in whole for fault in faults(path)]


def test_valgrind(mpirun, valgrind, plugin, operations, ex2):
    code, out, reports, found = check_valgrind(mpirun, valgrind, 1, operations, "-dll_append", plugin, "-leak")
    ok(code == 0 and reports == 1 and any("Leak" in fault for fault in found), "a vector that is forgotten is found", out, found)
    for ranks in 1, 2:
        code, out, reports, found = check_valgrind(mpirun, valgrind, ranks, ex2, "-dll_append", plugin, *MAT.split(), "-m", "4", "-n", "4",
                                                   "-ksp_type", "cg", "-pc_type", "jacobi")
        ok(code == 0 and reports == ranks and "iterations 3" in out and not found, f"ex2, {ranks} ranks", code, reports, out[-500:], *found)


def main(plugin, operations, solve, prefix, mpicc, mpirun, folder, valgrind=None):
    if valgrind:
        test_valgrind(mpirun, valgrind, plugin, operations, compile_tutorial(prefix, mpicc, folder, "ksp/ksp/tutorials/ex2"))
        return done()
    sample = bool(os.environ.get("WEFT_SAMPLE"))
    test_alike()
    test_operations(mpirun, plugin, operations, [2] if sample else [1, 2, 4])
    test_devices(mpirun, plugin, operations)
    ex2 = test_tutorials(mpirun, plugin, prefix, mpicc, folder, sample)
    if os.path.exists(ex2):
        test_copies(mpirun, plugin, ex2)
    test_bench(solve, plugin)
    return done()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
