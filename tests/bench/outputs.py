#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""outputs.py WEFT_BENCH WEFT: what is written takes its place when there is a result, whole; an old file is not lost before.

Full disks, signals, folders that cannot be written, links to nothing, systems without /proc, names with control characters.
Output is TAP.
"""
import csv
import gzip
import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok, skip  # noqa: E402

BENCH, WEFT = (os.path.abspath(path) for path in sys.argv[1:3])
FAST = ["-b", "ref", "--reps", "2", "--no-roof", "--no-compile"]
SMALL = ["300", "200", "4000"]
OLD = "old results\n"
MATRIX = "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1.5\n2 3 -2\n3 1 4\n3 2 0.25\n"
ESC = "\x1b[31mred\x07\x7f\u009b2J"
with open(WEFT, "rb") as itself:
    SANITIZED = b"__asan_init" in itself.read()  # needs /proc
PRIVATE = os.geteuid() == 0 and not SANITIZED and subprocess.run(["unshare", "--mount", "true"], check=False, stderr=subprocess.DEVNULL).returncode == 0 \
    if shutil.which("unshare") else False


def run(program, *args, stdin=None, before=None, **env):
    source = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
    got = subprocess.run([program, *args], **source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False,
                         env={**os.environ, **env}, preexec_fn=before)
    return got.returncode, got.stdout.decode(errors="replace"), got.stderr.decode(errors="replace")


def put(path, text=OLD):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def get(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def full(limit):
    """Files end at `limit` bytes, as on a full disk."""
    def before():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    return before


def kept(folder, out, what, *paths, want=None, status=2):
    code, _, err = out
    good = code == status and all(get(path) == OLD for path in paths) and (want is None or (want in err and err.count("\n") == 1))
    return ok(good and sorted(os.listdir(folder)) == FILES, what, code, err, os.listdir(folder), *[get(p)[:80] for p in paths])


def test_kept(folder):
    """A run that ends before any result leaves old files alone, and nothing else."""
    global FILES
    a, b, c, d = (put(os.path.join(folder, name)) for name in ("a", "b", "c", "d"))
    os.chmod(a, 0o640)
    broken = put(os.path.join(folder, "broken.mtx"), MATRIX + "9 9 9\n")
    FILES = sorted(os.listdir(folder))
    both = ["--json", a, "--csv", b]
    kept(folder, run(BENCH, *FAST, *both, "-a", "nosuch", *SMALL), "usage", a, b, want="nosuch")
    kept(folder, run(BENCH, *FAST, *both, broken), "a matrix that cannot be read", a, b, want="broken.mtx:7")
    kept(folder, run(BENCH, *FAST, *both, "/nonexistent.mtx"), "no matrix", a, b, want="nonexistent")
    kept(folder, run(BENCH, *FAST, *both, "-g", "uniform:3"), "a wrong specification", a, b, want="uniform")
    kept(folder, run(BENCH, *FAST, *both, "--tune", "wg=4", "-o", "fft", *SMALL), "no such operation", a, b, want="fft")
    kept(folder, run(BENCH, "-b", "ref", *both, "--study", "permute", "--trials", "1", "-t", "f32", broken), "a study of it", a, b,
         want="broken")
    kept(folder, run(BENCH, *FAST[:4], "--profile", *both, "--trace", c, "--html", d, broken), "a profile of it", a, b, c, d,
         want="broken")
    kept(folder, run(BENCH, "--compare", a, b, "--json", c), "a comparison of what are no results", a, b, c, want="no result")
    kept(folder, run(WEFT, "info", broken, "--json", a, "--force"), "weft info", a, want="broken")
    kept(folder, run(WEFT, "permute", "--order", "row", broken, a, "--force"), "weft permute", a, want="broken")
    kept(folder, run(BENCH, *FAST, *both, *SMALL, before=full(0)), "a full disk", a, b, status=2)
    kept(folder, run(BENCH, *FAST[:4], "--profile", *both, "--trace", c, "--html", d, *SMALL, before=full(0)), "a full disk, a profile",
         a, b, c, d)
    kept(folder, run(WEFT, "entropy", "-g", "band:50,3", "--json", a, "--force", before=full(10)), "a full disk, weft", a, want="large")
    code, _, err = run(BENCH, *FAST, *both, *SMALL)
    ok(code == 0 and not err and json.loads(get(a))["verified"] and get(b).count("\n") == 2 and sorted(os.listdir(folder)) ==
       FILES and stat.S_IMODE(os.stat(a).st_mode) == 0o640, "a result takes their places, and the mode", err, get(a))


def test_spared(folder):
    """A matrix is no output: an option that goes without FILE takes the next word for its own."""
    with open(os.path.join(folder, "packed"), "wb") as file:
        file.write(gzip.compress(MATRIX.encode()))
    names = [put(os.path.join(folder, "m.mtx"), MATRIX), put(os.path.join(folder, "no-ending"), MATRIX),
             os.path.join(folder, "packed"), put(os.path.join(folder, "zip"), "PK\3\4..."), put(os.path.join(folder, "arrays"), "weft matrix 1\n"),
             *(put(os.path.join(folder, "n" + end)) for end in (".npz", ".rb", ".rua", ".weft", ".mtx.gz", ".tar.gz", ".tgz", ".tar"))]

    def content():
        out = []
        for name in names:
            with open(name, "rb") as file:
                out.append(file.read())
        return out
    before = content()
    for name in names:
        code, out, err = run(BENCH, *FAST, "--json", name)
        ok(code == 2 and not out and content() == before and err == f"weft-bench: {name} looks like a matrix, and --json does not replace "
           "it (use --json - for the standard output)\n", "--json " + os.path.basename(name), code, err)
    small, matrix = ["-g", "uniform:300,200,4000"], names[0]
    for words in (["--csv", matrix, *small], ["--profile", "--trace", matrix, *small], ["--profile", "--html", matrix, *small],
                  ["--list", "--json", matrix], ["--compare", names[1], names[2], "--json", matrix], ["--study", "permute", "--json", matrix]):
        code, out, err = run(BENCH, *words)
        ok(code == 2 and not out and content() == before and "does not replace" in err and err.count("\n") == 1, " ".join(words), code, err)
    for env, words in (({}, ["--tune-file", matrix]), ({"WEFT_TUNE": matrix}, [])):
        code, out, err = run(BENCH, "--tune", "--tune-time", "0.1", *words, *small, **env)
        ok(code == 2 and not out and content() == before and "--tune does not replace" in err and err.count("\n") == 1,
           f"--tune, the file from {words or env}", code, err)
    out = put(os.path.join(folder, "empty.mtx"), "")
    code, _, err = run(BENCH, *FAST, *small, "--json", out)
    ok(code == 0 and json.loads(get(out))["verified"], "an empty file is no matrix", err)


def test_reasons(folder):
    """The file that failed is named with its own reason; the others are whole."""
    names = {end: os.path.join(folder, "p." + end) for end in ("json", "csv", "trace", "html")}
    code, _, err = run(BENCH, "-b", "ref", "--reps", "50", "--profile", "--no-roof", "--json", names["json"], "--csv", names["csv"],
                       "--html", names["html"], "--trace", "/dev/full", *SMALL)
    ok(code == 2 and err == "weft-bench: /dev/full cannot be written: No space left on device\n", "--trace on a full disk", err)
    ok(json.loads(get(names["json"]))["runs"] and "total" in get(names["csv"]) and "</html>" in get(names["html"]),
       "the other forms are there")
    code, _, err = run(BENCH, *FAST, "--json", names["json"], "--csv", "/dev/full", *SMALL)
    ok(code == 2 and err == "weft-bench: /dev/full cannot be written: No space left on device\n" and
       json.loads(get(names["json"]))["verified"], "--csv on a full disk beside --json", err)
    # Records differ in length: some of these limits fall in the middle of one.
    several, sizes = ["-o", "transpose,spmv,scan", "-t", "f32,f64", "--json", names["json"], "--csv", names["csv"]], set()
    for limit in range(2048, 4096, 256):
        for name in ("json", "csv"):
            put(names[name], "")
        code, _, err = run(BENCH, *FAST, *several, *SMALL, before=full(limit))
        text, table = get(names["json"]), get(names["csv"])
        lines = text.splitlines()
        sizes.add(len(lines))
        ok(code == 2 and "p.json cannot be written: File too large" in err and lines and text.endswith("\n") and table.endswith("\n") and
           all(json.loads(line)["verified"] for line in lines) and all(line.count(",") >= table.split("\n")[0].count(",")
                                                                      for line in table.splitlines()),
           f"a disk that fills up at {limit} bytes: the last record is whole", code, err, text[-80:])
    ok(len(sizes) > 1, "records of before stay", sizes)
    for option in ("--json", "--csv", "--trace", "--html"):
        code, _, err = run(BENCH, "--profile", *FAST[:4], option, os.path.join(folder, "no", "x"), *SMALL)
        ok(code == 2 and "x cannot be written: No such file or directory" in err and err.count("\n") == 1, option + " in no folder", err)


def test_signals(folder):
    """What comes in between leaves the results so far, or the old file, and no parts; also where files have names at once."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # who runs the tests may ignore some of them (nohup)
        signal.signal(number, signal.SIG_DFL)
    out, matrix = os.path.join(folder, "out.json"), os.path.join(folder, "slow.mtx")
    os.mkfifo(matrix)
    quick = put(os.path.join(folder, "quick.mtx"), MATRIX)
    nameless = (lambda: None, "")
    named = (lambda: None, "mount -t tmpfs none /proc && ")
    for prepare, first in (nameless, named) if PRIVATE else (nameless,):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for sources, want in (([matrix], OLD), ([quick, matrix], "quick")):
                put(out)
                command = ["sh", "-c", f'{first}exec "$@"', "sh", BENCH, *FAST, "--json", out, "--csv", out + ".csv", *sources]
                command = ["unshare", "--mount", *command] if first else command
                with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
                    writer = os.open(matrix, os.O_WRONLY)  # waits until the bench reads it
                    process.send_signal(number)
                    code = process.wait(timeout=60)
                os.close(writer)
                text = get(out)
                left = sorted(set(os.listdir(folder)) - {"out.json", "out.json.csv", "slow.mtx", "quick.mtx"})
                ok(code == -number and (text == OLD if want == OLD else json.loads(text)["matrix"] == want) and not left and
                   os.path.exists(out + ".csv") == (want != OLD), f"{number.name} {'after' if want != OLD else 'before'} a result" +
                   (", without /proc" if first else ""), code, text, left)
                if os.path.exists(out + ".csv"):
                    os.remove(out + ".csv")
    old = put(os.path.join(folder, "old.mtx"))
    with subprocess.Popen([WEFT, "permute", "--order", "row", matrix, old, "--force"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL) as process:
        writer = os.open(matrix, os.O_WRONLY)
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=60)
    os.close(writer)
    ok(code == -signal.SIGTERM and get(old) == OLD and len(os.listdir(folder)) == 4, "weft permute, SIGTERM", code, os.listdir(folder))
    os.remove(old)
    with subprocess.Popen([BENCH, *FAST, "--json", out, quick, matrix], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as process:
        writer = os.open(matrix, os.O_WRONLY)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.1)
        os.write(writer, MATRIX.encode())
        os.close(writer)
        code = process.wait(timeout=60)
    ok(code == 0 and get(out).count("\n") == 2, "a signal that is ignored (nohup) stays so", code, get(out))
    # Large enough that it is being written when the signal comes, with a name where there is no /proc.
    big = os.path.join(folder, "big.mtx.gz")
    for first in ["", "mount -t tmpfs none /proc && "] if PRIVATE else [""]:
        command = ["sh", "-c", f'{first}exec "$@"', "sh", WEFT, "permute", "--order", "regular", "-t", "f64", "-g",
                   "uniform:200000,200000,3000000", big]
        with subprocess.Popen(["unshare", "--mount", *command] if first else command, stdin=subprocess.DEVNULL) as process:
            seen, end = False, time.monotonic() + 60
            while process.poll() is None and not seen and time.monotonic() < end:
                seen = any(n.endswith(".part") for n in os.listdir(folder)) or (
                    not first and any("(deleted)" in path for path in open_files(process.pid)))
                time.sleep(0.002)
            process.send_signal(signal.SIGINT)
            code = process.wait(timeout=60)
        left = [n for n in os.listdir(folder) if n not in ("out.json", "slow.mtx", "quick.mtx")]
        ok(seen and code == -signal.SIGINT and not left, "SIGINT while a matrix is written" + (", without /proc" if first else ""), seen, code, left)


def open_files(pid):
    """What the descriptors of a process lead to, a moment ago."""
    out = []
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            out.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
    except OSError:
        pass
    return out


def test_places(folder):
    """Folders that cannot be written, links, mounts."""
    target, link = os.path.join(folder, "target.json"), os.path.join(folder, "link")
    os.symlink("target.json", link)
    code, _, err = run(WEFT, "entropy", "-g", "band:50,3", "--json", link)
    ok(code == 2 and "exists" in err and err.count("\n") == 1 and not os.path.exists(target), "weft refuses a link to nothing", code, err)
    code, _, err = run(WEFT, "permute", "--order", "row", "-g", "band:9,3", link)
    ok(code == 2 and "exists" in err and not os.path.exists(target) and os.path.islink(link), "also for a matrix", code, err)
    code, _, err = run(WEFT, "entropy", "-g", "band:50,3", "--json", link, "--force")
    ok(code == 0 and os.path.islink(link) and json.loads(get(target))["m"] == 50, "--force writes what it leads to", code, err)
    code, _, err = run(WEFT, "permute", "--order", "row", "-g", "band:9,3", link, "--force")
    ok(code == 0 and os.path.islink(link) and get(target).startswith("%%Matrix"), "and replaces that", code, err)
    os.remove(target)
    code, _, err = run(BENCH, *FAST, "--json", link, *SMALL)
    ok(code == 0 and os.path.islink(link) and json.loads(get(target))["verified"], "weft-bench writes what a link leads to", code, err)
    os.symlink("round", os.path.join(folder, "round"))
    code, _, err = run(BENCH, *FAST, "--json", os.path.join(folder, "round"), *SMALL)
    ok(code == 2 and "round cannot be written: Too many levels" in err and err.count("\n") == 1, "a link to itself", err)
    out = os.path.join(folder, "two.json")
    code, _, err = run(BENCH, *FAST, "--json", out, "--csv", os.path.join(folder, ".", "two.json"), *SMALL)
    ok(code == 2 and "another output" in err and not os.path.exists(out), "two outputs in one file that is not there", code, err)
    shut = os.path.join(folder, "shut")
    os.mkdir(shut)
    old = put(os.path.join(shut, "old.json"))
    os.chmod(old, 0o666)
    os.chmod(shut, 0o555)
    os.chmod(folder, 0o755)
    user = (lambda: (os.setgid(65534), os.setuid(65534))) if os.geteuid() == 0 else None
    alone = subprocess.run([BENCH, "--version"], preexec_fn=user, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if b"profiling:" in alone.stderr:
        skip("another user may not write the counts of this build, and gcov says so on standard error")
    elif os.access(BENCH, os.X_OK) and alone.returncode == 0:
        code, _, err = run(BENCH, *FAST, "--json", os.path.join(shut, "new.json"), *SMALL, before=user)
        ok(code == 2 and "new.json cannot be written: Permission denied" in err and err.count("\n") == 1, "a folder that cannot be written", err)
        code, _, err = run(BENCH, *FAST, "--json", old, "/nonexistent.mtx", before=user)
        ok(code == 2 and get(old) == OLD, "an old file there, and no result", code, err, get(old))
        code, _, err = run(BENCH, *FAST, "--json", old, *SMALL, before=user)
        ok(code == 0 and not err and json.loads(get(old))["verified"] and os.listdir(shut) == ["old.json"],
           "is written in place when there is one", code, err, get(old))
        os.chmod(old, 0o444)
        code, _, err = run(BENCH, *FAST, "--json", old, *SMALL, before=user)
        ok(code == 2 and "old.json cannot be written: Permission denied" in err, "a file that cannot be written", code, err)
    else:
        skip("this user sees no program")
    os.chmod(shut, 0o755)
    if PRIVATE:
        mounted, other = put(os.path.join(folder, "mounted.json")), put(os.path.join("/dev/shm", f"weft-{os.getpid()}.json"))
        code, _, err = run("unshare", "--mount", "sh", "-c", f'mount --bind {other} {mounted} && exec "$@"', "sh", BENCH, *FAST, "--json",
                           mounted, *SMALL)
        ok(code == 0 and json.loads(get(other))["verified"] and get(mounted) == OLD, "a file that is a mount", code, err, get(other))
        os.remove(other)
    run(BENCH, *FAST, "--json", "/dev/null", *SMALL)
    ok(stat.S_ISCHR(os.stat("/dev/null").st_mode), "a device stays one")


def test_streams(folder):
    """`-` where there is no /proc; streams that are closed."""
    path = put(os.path.join(folder, "m.mtx"), MATRIX)
    with open(path, "rb") as file, gzip.open(path + ".gz", "wb") as packed:
        shutil.copyfileobj(file, packed)
    whole = run(WEFT, "permute", "--order", "row", path, "-")
    for first, more in [("", ""), ("mount -t tmpfs none /proc && mount -t tmpfs none /dev && ", ", without /proc and /dev")] if PRIVATE else [("", "")]:
        def bare(program, *args, stdin, before=first):
            return run("unshare" if before else "env", *(["--mount"] if before else []), "sh", "-c", f'{before}exec "$@"', "sh", program,
                       *args, stdin=stdin)
        for name in (path, path + ".gz"):
            with open(name, "rb") as file:
                text = file.read()
            got = bare(WEFT, "permute", "--order", "row", "-", "-", stdin=text)
            ok(got == whole and got[0] == 0, "weft: - to -" + more, got)
        code, out, err = bare(WEFT, "entropy", "-", "--json", "-", stdin=MATRIX.encode())
        ok(code == 0 and json.loads(out)["matrix"] == "stdin", "weft --json -" + more, code, err)
        code, out, err = bare(BENCH, *FAST, "--json", "-", "-", stdin=MATRIX.encode())
        ok(code == 0 and json.loads(out)["matrix"] == "stdin" and json.loads(out)["nnz"] == 4, "weft-bench - --json -" + more, code, out, err)
        out = os.path.join(folder, "out.json")
        code, _, err = bare(BENCH, *FAST, "--json", out, "-", stdin=MATRIX.encode())
        ok(code == 0 and json.loads(get(out))["nnz"] == 4, "weft-bench - --json FILE" + more, code, err)
    code, _, err = run("sh", "-c", 'exec "$@" <&-', "sh", BENCH, *FAST, "-")
    ok(code == 2 and err.count("\n") == 1, "a standard input that is closed", code, err)
    tar = os.path.join(folder, "m.tar")
    os.mkdir(os.path.join(folder, "x"))
    shutil.copy(path, os.path.join(folder, "x", "x.mtx"))
    subprocess.run(["tar", "-C", folder, "-cf", tar, "--format=ustar", "x"], check=True)
    with open(tar, "rb") as file:
        got = subprocess.run([WEFT, "entropy", "-", "--json", "-"], stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        packed = b"no libarchive" in got.stderr
        ok(packed or json.loads(got.stdout)["nnz"] == 4, "an archive as the standard input", got)
        file.seek(0)
        code, _, err = run(WEFT, "entropy", "-", stdin=file.read())
        ok(code == 2 and "archive" in err and err.count("\n") == 1, "an archive in a pipe is refused", code, err)
    if not PRIVATE:
        skip("without /proc: only as root, and not under sanitizers")


def test_once(folder):
    """What can be read once is refused where it is read for each type; a file as the standard input is read again."""
    path, pipe = put(os.path.join(folder, "m.mtx"), MATRIX), os.path.join(folder, "pipe")
    os.mkfifo(pipe)
    both = [*FAST, "-t", "f32,f64", "--json", "-"]
    for name, what in (("-", "the standard input"), (pipe, pipe)):
        for words, want in ((both, "2 types"), (["--study", "permute"], "2 types"), (["--tune", "--tune-file", os.path.join(folder, "t")], "--tune reads"),
                            ([*FAST, name], "named twice")):
            code, out, err = run(BENCH, *words, name, stdin=MATRIX.encode())
            ok(code == 2 and not out and err.startswith(f"weft-bench: {what} can be read once, ") and err.count("\n") == 1 and want in err,
               f"{words[0]} of {what}: {want}", code, out, err)
    with open(path, "rb") as file:
        text = file.read()
    code, out, err = run(BENCH, *both[2:], "-b", "ref", "-t", "f64", "-", stdin=text)
    ok(code == 0 and json.loads(out)["type"] == "f64", "one type of a pipe", code, err)
    code, out, err = run(BENCH, *both, "-o", "copy", "-b", "opencl", "-", stdin=b"")
    ok("read once" not in err, "an operation without a matrix", err)
    for name in (path, path + ".gz"):
        with gzip.open(path + ".gz", "wb") as packed:
            packed.write(text)
        with open(name, "rb") as file:
            got = subprocess.run([BENCH, *both, "-", "-"], stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        ok(got.returncode == 0 and [json.loads(line)["type"] for line in got.stdout.splitlines()] == 2 * ["f32", "f64"],
           "a file as the standard input: " + os.path.basename(name), got)


def plain(text):
    """Nothing of it moves a cursor."""
    return not [c for c in text if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160]


def test_names(folder):
    """Control characters of names are shown, whoever made them; records keep what they keep."""
    name = os.path.join(folder, ESC + ".mtx")
    put(name, MATRIX)
    code, out, err = run(BENCH, *FAST, name)
    ok(code == 0 and plain(out + err), "the table", repr(out), repr(err))
    lines = os.path.join(folder, "it's\nspmv: all is well" + ESC + ".mtx")
    put(lines, MATRIX)
    for more in ([], ["--study", "permute", "--orders", "row", "--trials", "1", "--trial-time", "0.001", "-t", "f32"], ["--profile"]):
        code, out, err = run(BENCH, *(FAST[:4] if more[:1] != ["--study"] else FAST[:2]), *more, "--no-roof", lines)
        ok(code == 0 and plain(out + err) and "it's\\x0aspmv: all is well\\x1b[31m" in out, f"a name of two lines in one, {more[:1]}", repr(out), repr(err))
    table = os.path.join(folder, "lines.json")
    code, out, err = run(BENCH, *FAST, "--json", table, "--csv", table + ".csv", lines)
    found = json.loads(get(table)) if code == 0 else {}
    title = os.path.basename(lines)[:-4]
    ok(found.get("matrix") == title, "a record has it as it is", repr(found))
    with open(table + ".csv", encoding="utf-8", newline="") as file:
        ok([row["matrix"] for row in csv.DictReader(file)] == [title], "so has a table of records", repr(get(table + ".csv")))
    out = subprocess.run(["sh", "-c", 'printf "%s\\0" ' + found.get("command", "")], stdout=subprocess.PIPE, check=False).stdout
    ok(out.decode().split("\0")[:-1] == ["weft-bench", *FAST, "--json", table, "--csv", table + ".csv", lines], "its command is that of the run", out)
    for words in (["info", "--json", "-"], ["entropy", "--json", "-"]):
        code, out, err = run(WEFT, *words, lines)
        ok(code == 0 and json.loads(out)["matrix"] == title, " ".join(words) + " of it", repr(out), repr(err))
        code, out, err = run(WEFT, words[0], lines)
        ok(code == 0 and plain(out + err) and "it's\\x0aspmv: all is well\\x1b[31m" in out, words[0] + " of it", repr(out), repr(err))
    code, out, err = run(WEFT, "info", lines[:-4] + "no.mtx")
    ok(code == 2 and err.count("\n") == 1 and "\\x0aspmv" in err and "No such file" in err, "what is wrong is said behind such a name", repr(err))
    odd = os.path.join(folder, ESC + "\n.json")
    code, out, err = run(BENCH, *FAST, "--json", odd, name)
    ok(code == 0 and os.path.exists(odd) and plain(err), "a file of that name", repr(err))
    for program, args in [(BENCH, [*FAST, os.path.join(folder, "no" + ESC + "\nweft-bench: all is well.mtx")]), (BENCH, ["-o", ESC]),
                          (BENCH, [*FAST, "-g", "band:" + ESC]), (BENCH, [*FAST, "--csv", "/nonexistent/" + ESC]), (BENCH, ["--" + ESC]),
                          (BENCH, ["--compare", name, name]), (WEFT, [ESC + "\n"]), (WEFT, ["info", folder + "/no" + ESC + "\n"]),
                          (WEFT, ["entropy", "-g", "band:9,3", "--json", odd]), (WEFT, ["spy", name, "-o", ESC + ".gif"])]:
        code, out, err = run(program, *args)
        ok(code == 2 and plain(out + err) and err.count("\n") == 1 and "\\x1b[31m" in err, "an error of " + os.path.basename(program), repr(err))
    code, out, err = run(WEFT, "info", name, "--json", "-")
    ok(code == 0 and plain(err) and json.loads(out)["nnz"] == 4, "weft info --json -", code, err)
    code, out, err = run(WEFT, "entropy", name)
    ok(code == 0 and plain(out + err), "weft entropy", repr(out), repr(err))
    record = json.loads(get(odd))
    record.update(matrix="m" + ESC, device="GPU" + ESC, algo="a" + ESC)
    files = [put(os.path.join(folder, n), json.dumps(record) + "\n") for n in ("a.json", "b.json")]
    code, out, err = run(BENCH, "--compare", *files)
    ok(code == 0 and plain(out + err) and "GPU\\x1b[31mred\\x07\\x7f\\xc2\\x9b2J" in out, "what a record says", repr(out), repr(err))
    code, out, err = run(BENCH, "--compare", *files, "--json", "-")
    ok(code == 0 and json.loads(out)["pairs"][0]["device_a"] == "GPU" + ESC, "is exact in JSON", repr(out), repr(err))
    wide = "\u00e9\u20ac" * 9000
    record.update(device=wide, matrix="m", algo="a")
    for path in files:
        put(path, json.dumps(record) + "\n")
    code, out, err = run(BENCH, "--compare", *files)
    ok(code == 0 and wide in out, "characters of several bytes stay", repr(out)[:99], repr(err)[:99])


with tempfile.TemporaryDirectory() as temporary:
    for test in (test_kept, test_spared, test_reasons, test_signals, test_places, test_streams, test_once, test_names):
        place = os.path.join(temporary, test.__name__)
        os.mkdir(place)
        os.chmod(temporary, 0o755)
        test(place)
sys.exit(done())
