#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""system.py WEFT: the tool where the system gives less than usual: no threads, little address space, files that may not grow, a full
disk, closed streams; and 20 processes at once on an empty cache. Output is TAP.
"""
import itertools
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok, skip  # noqa: E402

WEFT = os.path.abspath(sys.argv[1])
NOWHERE = {"OCL_ICD_VENDORS": "/nonexistent"}
with open(WEFT, "rb") as program:
    SANITIZED = b"__asan_init" in program.read()  # the address sanitizer needs terabytes of addresses
PROCESSES = 20


def run(words, before=None, **more):
    """Exit status and standard error."""
    env = {**os.environ, **NOWHERE, **more.pop("env", {})}
    out = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, env=env,
                         preexec_fn=before, check=False, **more)
    return out.returncode, out.stderr.decode(errors="replace")


def content(path):
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return file.read()


def permute(folder, source, out):
    return [WEFT, "permute", "--order", "row", "--force", os.path.join(folder, source), os.path.join(folder, out)]


def limited(what, amount):
    return lambda: resource.setrlimit(what, (amount, amount))


def whole_or_old(folder, want, code, err):
    """The file is what it must be after that exit status: the new one, or what was there."""
    there = content(os.path.join(folder, "out.mtx"))
    return (code == 0 and there == want) or (code == 2 and there == b"old\n" and err.count("\n") == 1)


def old(folder):
    with open(os.path.join(folder, "out.mtx"), "wb") as file:
        file.write(b"old\n")


def left(folder):
    return sorted(set(os.listdir(folder)) - {"in.mtx", "out.mtx", "want.mtx"})


def test_threads(folder, want):
    if os.geteuid():
        skip("no threads: the limit is for other users' processes as well")
        return
    nobody = tempfile.mkdtemp(prefix="weft-nobody-")
    try:
        os.chmod(nobody, 0o777)
        shutil.copy(WEFT, nobody)
        shutil.copy(os.path.join(folder, "in.mtx"), nobody)
        words = permute(nobody, "in.mtx", "out.mtx")
        words[0] = os.path.join(nobody, os.path.basename(WEFT))
        code, err = run(words, limited(resource.RLIMIT_NPROC, 0), user=65534, group=65534, env={"HOME": nobody})
        ok(code == 0 and content(os.path.join(nobody, "out.mtx")) == want, "no threads: it computes with one", code, err)
    finally:
        shutil.rmtree(nobody)


def test_space(folder, want):
    if SANITIZED:
        skip("little address space: a sanitizer")
        return
    seen, bad = set(), []
    for mib in (12, 14, 16, 18, 20, 24, 32, 40, 48, 64, 80, 96, 128, 192, 256, 512):
        old(folder)
        code, err = run(permute(folder, "in.mtx", "out.mtx"), limited(resource.RLIMIT_AS, mib << 20))
        started = "error while loading" not in err and "cannot allocate" not in err
        seen.add(code if started else None)
        if started and not whole_or_old(folder, want, code, err):
            bad.append(f"{mib} MiB: status {code}: {err}")
    ok(not bad and 0 in seen, f"address space from 12 to 512 MiB: status {sorted(s for s in seen if s is not None)}", *bad)


def test_growth(folder, want):
    bad = []
    for limit in (0, 1, 100, len(want) - 1, len(want)):
        for how in ("signal", "error"):
            def before(limit=limit, how=how):
                signal.signal(signal.SIGXFSZ, signal.SIG_DFL if how == "signal" else signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            old(folder)
            code, err = run(permute(folder, "in.mtx", "out.mtx"), before, restore_signals=False)
            if left(folder) or not whole_or_old(folder, want, code, err):
                bad.append(f"{limit} bytes, {how}: status {code}, {err}, left {left(folder)}")
    ok(not bad, "files that may not grow: whole or as it was, and a line", *bad)
    bad = []
    for name in ("new.mtx", "new.mtx.gz", "new.npz", "new.rb", "new.weft"):
        code, err = run([WEFT, "convert", os.path.join(folder, "in.mtx"), os.path.join(folder, name)],
                        lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_DFL), resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))),
                        restore_signals=False)
        if (code, left(folder)) != (2, []) or err.count("\n") != 1 or ("File too large" not in err and "libarchive" not in err):
            bad.append(f"{name}: status {code}, {err}, left {left(folder)}")
    ok(not bad, "every form in a file that may not grow: a line, and no file", *bad)


def test_disk(folder):
    place = tempfile.mkdtemp(prefix="weft-full-")
    script = f"mount -t tmpfs -o size=16k none {place} && printf 'old\\n' > {place}/out.mtx && shift 0 && \"$@\"; " \
             f"code=$?; ls {place}; cat {place}/out.mtx; exit $code"
    words = permute(folder, "in.mtx", "out.mtx")
    words[-1] = os.path.join(place, "out.mtx")
    out = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env={**os.environ, **NOWHERE}, check=False)
    os.rmdir(place)
    err = out.stderr.decode()
    if "unshare" in err or "mount" in err:
        skip("a full disk: no file system may be mounted here")
        return
    ok(out.returncode == 2 and out.stdout == b"out.mtx\nold\n" and err.count("\n") == 1 and "No space left" in err,
       "a full disk: one line, and the file is as it was", out.returncode, err, out.stdout)
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            said = subprocess.run([WEFT, "info", os.path.join(folder, "in.mtx")], stdin=subprocess.DEVNULL, stdout=full,
                                  stderr=subprocess.PIPE, env={**os.environ, **NOWHERE}, check=False)
        ok(said.returncode == 2 and said.stderr.count(b"\n") == 1, "a full standard output", said)


def test_streams(folder, want):
    bad = []
    for closed in itertools.chain.from_iterable(itertools.combinations(range(3), k) for k in range(1, 4)):
        old(folder)
        code = subprocess.run(permute(folder, "in.mtx", "out.mtx"), env={**os.environ, **NOWHERE}, check=False,
                              preexec_fn=lambda closed=closed: [os.close(fd) for fd in closed]).returncode
        if code or content(os.path.join(folder, "out.mtx")) != want or left(folder):
            bad.append(f"{closed} closed: status {code}, left {left(folder)}")
    ok(not bad, "closed streams: the file is whole", *bad)


def test_processes(folder):
    """All of them compile, and write the same files of the cache at the same time."""
    place = tempfile.mkdtemp(prefix="weft-cache-")
    env = {**os.environ, "XDG_CACHE_HOME": place, "WEFT_SELFTEST": "0"}
    try:
        children = [subprocess.Popen([WEFT, "transpose", "--force", os.path.join(folder, "in.mtx"), f"{place}/{i}.mtx"], env=env,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                    for i in range(PROCESSES)]
        said = [(child.communicate()[1].decode(), child.returncode) for child in children]
        if all(code == 3 for _, code in said):
            skip(f"{PROCESSES} processes: no device")
            return
        results = {content(f"{place}/{i}.mtx") for i in range(PROCESSES)}
        files = [name for _, _, names in os.walk(os.path.join(place, "weft")) for name in names]
        odd = [name for name in files if not name.endswith(".bin")]
        ok(all(code == 0 for _, code in said) and len(results) == 1 and files and not odd,
           f"{PROCESSES} processes on an empty cache: equal results, {len(files)} whole files", said[:3], odd)
    finally:
        shutil.rmtree(place)


def main():
    folder = tempfile.mkdtemp(prefix="weft-system-")
    try:
        with open(os.path.join(folder, "in.mtx"), "w", encoding="ascii") as file:
            file.write("%%MatrixMarket matrix coordinate real general\n4000 4000 8000\n")
            file.writelines(f"{i % 4000 + 1} {i * 7 % 4000 + 1} {i % 97}.5\n" for i in range(8000))
        code, err = run(permute(folder, "in.mtx", "want.mtx"))
        want = content(os.path.join(folder, "want.mtx"))
        if ok(code == 0 and want, "without limits", code, err):
            test_threads(folder, want)
            test_space(folder, want)
            test_growth(folder, want)
            test_disk(folder)
            test_streams(folder, want)
            test_processes(folder)
    finally:
        shutil.rmtree(folder)
    return done()


sys.exit(main())
