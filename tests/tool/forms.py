#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""forms.py WEFT: binary files of matrices, .weft, .npz and .tar.gz, as others write them and damaged, and pipes: what is read, and one
line that says what is wrong with the rest. Output is TAP.
"""
import bz2
import gzip
import io
import json
import os
import random
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import warnings
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok, skip  # noqa: E402

WEFT = os.path.abspath(sys.argv[1])


def run(*words, given=None, wait=120):
    source = {"stdin": subprocess.DEVNULL} if given is None else {"input": given}
    out = subprocess.run([WEFT, *words], **source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=wait, check=False,
                         env={**os.environ, "OCL_ICD_VENDORS": "/nonexistent"})
    return out.returncode, out.stdout.decode(), out.stderr.decode(errors="backslashreplace")


def refused(what, want, *words):
    code, _, err = run(*words)
    ok(code == 2 and err.count("\n") == 1 and want in err, what, code, err, f"expected: {want}")


def put(path, data):
    with open(path, "wb") as file:
        file.write(data)
    return path


# ---- npz -----------------------------------------------------------------------------------------------------------

def npy(descr, shape, data, version=1, header=None):
    """An array as numpy writes it."""
    text = (header or f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}").encode() + b"\n"
    return b"\x93NUMPY" + bytes((version, 0)) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + data


def ints(*values, kind="i"):
    return npy({"i": "<i4", "q": "<i8", "H": "<u2", "Q": "<u8"}[kind], f"({len(values)},)", struct.pack(f"<{len(values)}{kind}", *values))


def npz(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members:
            file.writestr(name + ".npy", data)
    return path


def members(form, **more):
    """Rows (1, 0, 2), (0, 0, 3) of a matrix in that form; `more` takes the place of members, None: it is left out."""
    floats = npy("<f8", "(3,)", struct.pack("<3d", 1, 2, 3))
    of = {"shape": ints(2, 3, kind="q"), "format": npy("|S3", "()", form.encode()), "data": floats}
    if form == "coo":
        of.update(row=ints(0, 0, 1), col=ints(0, 2, 2))
    elif form == "csc":
        of.update(indices=ints(0, 0, 1), indptr=ints(0, 1, 1, 3))
    else:
        of.update(indices=ints(0, 2, 2), indptr=ints(0, 2, 3))
    of.update(more)
    return [(name, data) for name, data in of.items() if data is not None]


ENTRIES = "2 3 3\n1 1 1\n1 3 2\n2 3 3\n"
PARTS = npy("<c16", "(3,)", struct.pack("<6d", 1, 5, 2, 6, 3, 7))
SINGLE = npy("<c8", "(3,)", struct.pack("<6f", 1, 5, 2, 6, 3, 7))
READ = (
    ("csr", members("csr"), (), ENTRIES),
    ("csc", members("csc"), (), ENTRIES),
    ("coo", members("coo"), (), ENTRIES),
    ("f32 values", members("coo", data=npy("<f4", "(3,)", struct.pack("<3f", 1, 2, 3))), (), ENTRIES),
    ("unsigned indices, version 2", members("csr", indices=ints(0, 2, 2, kind="H"), indptr=npy("<u8", "(3,)", struct.pack("<3Q", 0, 2, 3), 2)),
     (), ENTRIES),
    ("values below 0 in a byte", members("csr", data=npy("|i1", "(3,)", b"\x01\x02\xfd")), (), "2 3 3\n1 1 1\n1 3 2\n2 3 -3\n"),
    ("real parts", members("csr", data=PARTS), ("--complex", "real"), ENTRIES),
    ("imaginary parts", members("csr", data=PARTS), ("--complex", "imag"), "2 3 3\n1 1 5\n1 3 6\n2 3 7\n"),
    ("imaginary parts of 32 bits", members("csr", data=SINGLE), ("--complex", "imag"), "2 3 3\n1 1 5\n1 3 6\n2 3 7\n"),
    ("complex values as a pattern", members("csr", data=PARTS), ("-t", "pattern"), "2 3 3\n1 1\n1 3\n2 3\n"),
    ("whole numbers as i32", members("csr"), ("-t", "i32"), ENTRIES),
    ("a name of characters, as scipy before 1.0 wrote it", members("csr", format=npy("<U3", "()", "csr".encode("utf-32-le"))), (), ENTRIES),
    ("such a name in the other order of bytes", members("coo", format=npy(">U3", "()", "coo".encode("utf-32-be"))), (), ENTRIES),
    ("bools that are true are a pattern", members("csr", data=npy("|b1", "(3,)", b"\1\1\1")), (), "2 3 3\n1 1\n1 3\n2 3\n"),
    ("bools of which one is not are numbers", members("csr", data=npy("|b1", "(3,)", b"\1\0\1")), (), "2 3 3\n1 1 1\n1 3 0\n2 3 1\n"),
    ("true bools as f32", members("csr", data=npy("|b1", "(3,)", b"\1\1\1")), ("-t", "f32"), "2 3 3\n1 1 1\n1 3 1\n2 3 1\n"),
)
REFUSED = (
    ("no format", members("csr", format=None), (), "format.npy: is not there"),
    ("no pointers", members("csr", indptr=None), (), "indptr.npy: is not there"),
    ("no columns", members("coo", col=None), (), "col.npy: is not there"),
    ("a member twice", members("csr") + [("shape", ints(2, 3))], (), "is there twice"),
    ("another format", members("csr", format=npy("|S3", "()", b"bsr")), (), "csr, csc and coo are read"),
    ("blocks", members("csr", data=npy("<f8", "(3, 1, 1)", b"\0" * 24), format=npy("|S3", "()", b"bsr")), (), "csr, csc and coo are read"),
    ("a long format", members("csr", format=npy("|S9", "()", b"csrcsrcsr")), (), "not a name"),
    ("a number as format", members("csr", format=ints(3)), (), "not a name"),
    ("a long name of characters", members("csr", format=npy("<U8", "()", "csrcsrcs".encode("utf-32-le"))), (), "not a name of 7 letters or fewer"),
    ("a name of other letters", members("csr", format=npy("<U3", "()", "c\u0161r".encode("utf-32-le"))), (), "not a name"),
    ("a cut name of characters", members("csr", format=npy("<U3", "()", b"c\0\0\0")), (), "the array is cut"),
    ("no array of a matrix", [("x", ints(1))], (), "a zip archive without the arrays of scipy's save_npz: unpack"),
    ("three sizes", members("csr", shape=ints(2, 3, 4)), (), "not two sizes"),
    ("a size below 0", members("csr", shape=ints(-2, 3)), (), "not two sizes"),
    ("a size beyond 2^31", members("csr", shape=ints(2, 1 << 31, kind="q")), (), "not two sizes"),
    ("a size beyond 2^63", members("csr", shape=ints(2, 1 << 63, kind="Q")), (), "not two sizes"),
    ("sizes that are no integers", members("csr", shape=npy("<f8", "(2,)", struct.pack("<2d", 2, 3))), (), "not two sizes"),
    ("few indices", members("csr", indices=ints(0, 2)), (), "not as many values as indices"),
    ("few columns", members("coo", col=ints(0, 2)), (), "not as many values as indices"),
    ("a column outside", members("csr", indices=ints(0, 2, 3)), (), "an index is no number"),
    ("a row outside", members("coo", row=ints(0, -1, 1)), (), "an index is no number"),
    ("few pointers", members("csr", indptr=ints(0, 3)), (), "not one pointer more"),
    ("pointers from 1 on", members("csr", indptr=ints(1, 2, 3)), (), "not one pointer more"),
    ("pointers that descend", members("csr", indptr=ints(0, 3, 2)), (), "pointers descend"),
    ("pointers that end early", members("csr", indptr=ints(0, 1, 2)), (), "pointers end before"),
    ("text as values", members("csr", data=npy("<U1", "(3,)", b"x" * 12)), (), "not read"),
    ("f16 values", members("csr", data=npy("<f2", "(3,)", b"\0" * 6)), (), "not read"),
    ("values beyond f32", members("csr", data=npy("<f8", "(3,)", struct.pack("<3d", 1, 1e300, 3))), ("-t", "f32"), "does not fit f32"),
    ("values that are no i32", members("csr", data=npy("<f8", "(3,)", struct.pack("<3d", 1, 0.5, 3))), ("-t", "i32"), "does not fit i32"),
    ("the other order of bytes", members("csr", indices=npy(">i4", "(3,)", b"\0" * 12)), (), "order of bytes"),
    ("a structure", members("csr", data=npy("", "", b"", header="{'descr': [('a', '<i4')], 'shape': (3,), }")), (), "plain numbers"),
    ("a header without a shape", members("csr", data=npy("", "", b"", header="{'descr': '<f8', }")), (), "plain numbers"),
    ("two dimensions", members("csr", data=npy("<f8", "(3, 1)", b"\0" * 24)), (), "not one dimension"),
    ("a cut array", members("csr", data=npy("<f8", "(3,)", b"\0" * 20)), (), "the array is cut"),
    ("a cut header", members("csr", data=b"\x93NUMPY\1\0\xff\0{}      "), (), "the header is cut"),
    ("no array", members("csr", data=b"nothing of numpy"), (), "no array of numpy"),
)


def test_npz(folder):
    path, out = os.path.join(folder, "a.npz"), os.path.join(folder, "a.mtx")
    if "libarchive" in run("info", npz(path, members("csr")))[2]:
        skip("npz: without libarchive")
        return
    for what, parts, words, want in READ:
        code, _, err = run("convert", *words, npz(path, parts), out, "--force")
        with open(out, encoding="ascii") as file:
            text = "".join(line for line in file if not line.startswith("%"))
        ok(code == 0 and text == want, f"npz: {what}", code, err, text)
    for what, parts, words, want in REFUSED:
        refused(f"npz: {what}", want, "info", *words, npz(path, parts))
    refused("npz: complex values", "(--complex real|imag, or -t pattern)", "convert", npz(path, members("csr", data=PARTS)), "-")
    code, out, err = run("info", path)
    ok(code == 0 and not err and "pattern; the file holds 3: complex" in out, "npz: info without complex values", code, out, err)
    with open(npz(path, members("csr")), "rb") as file:
        whole = file.read()
    at = whole.index(b"indices.npy") + 20
    refused("npz: damaged data", "a.npz", "info", put(path, whole[:at] + bytes(b ^ 255 for b in whole[at:at + 12]) + whole[at + 12:]))
    refused("npz: an archive that is cut", "a.npz", "info", put(path, whole[:len(whole) // 3]))
    many = npy("<f8", "(4000000,)", b"\0" * 32000000)
    refused("npz: a limit", "limit of", "info", "--limit", "4M", npz(path, members("csr", data=many)))


# ---- .tar.gz ---------------------------------------------------------------------------------------------------------

def test_archive(folder):
    path, text = os.path.join(folder, "c.tar.gz"), os.path.join(folder, "c.mtx")
    entries = "".join(f"{random.randrange(1, 3001)} {random.randrange(1, 3001)} {random.random()}\n" for _ in range(20000))
    put(text, f"%%MatrixMarket matrix coordinate real general\n3000 3000 20000\n{entries}".encode())
    with tarfile.open(path, "w:gz") as file:
        file.add(text, "c/c.mtx")
    code, out, err = run("info", path, "--json", "-")
    if "libarchive" in err:
        skip(".tar.gz: without libarchive")
        return
    ok(code == 0 and json.loads(out)["m"] == 3000, ".tar.gz: a file of SuiteSparse", code, err)
    with open(path, "rb") as file:
        whole = file.read()
    refused(".tar.gz: cut", "c.tar.gz", "info", put(path, whole[:len(whole) * 2 // 3]))
    with tarfile.open(path, "w:gz") as file:  # as macOS packs a file with attributes
        for name in ("c/._c.mtx", "._d.mtx", "c/._d.mtx", "c/d.mtx"):
            member = tarfile.TarInfo(name)
            with open(text, "rb") as data:
                content = data.read() if name == "c/d.mtx" else b"\0\5\x16\7 Mac OS X"
            member.size = len(content)
            file.addfile(member, io.BytesIO(content))
    code, out, err = run("info", path, "--json", "-")
    ok(code == 0 and json.loads(out)["m"] == 3000, ".tar.gz: ._ before a name is no matrix", code, err)
    half = len(whole) // 2
    refused(".tar.gz: damaged data", "c.tar.gz", "info", put(path, whole[:half] + bytes(64) + whole[half + 64:]))


# ---- .weft -----------------------------------------------------------------------------------------------------------

def test_weft(folder):
    path, text = os.path.join(folder, "b.weft"), os.path.join(folder, "b.mtx")
    put(text, b"%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 1\n1 3 2\n2 3 3\n")
    for kind in ("f32", "f64", "i32", "pattern"):
        run("convert", "-t", kind, text, path, "--force")
        for other in ("f32", "f64", "i32", "pattern"):
            code, out, err = run("convert", "-t", other, path, "-")
            values = (" 1", " 2", " 3") if other != "pattern" and kind != "pattern" else (" 1",) * 3 if other != "pattern" else ("",) * 3
            want = "2 3 3\n" + "".join(f"{at}{value}\n" for at, value in zip(("1 1", "1 3", "2 3"), values))
            ok(code == 0 and out.split("general\n")[-1] == want, f".weft: {kind} as {other}", code, err, out)
    run("convert", "-t", "f64", put(text, b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e300\n"), path, "--force")
    refused(".weft: values beyond f32", "does not fit f32", "convert", "-t", "f32", path, "-")
    run("convert", "-t", "f64", put(text, b"%%MatrixMarket matrix coordinate real general\n2 2 0\n"), path, "--force")
    code, out, err = run("info", path, "--json", "-")
    ok(code == 0 and json.loads(out)["nnz"] == 0, ".weft: no entries", err)
    code, out, err = run("info", "--limit", "1M", path, "--json", "-")
    ok(code == 0 and json.loads(out)["nnz"] == 0, ".weft: within a limit", err)
    with open(path, "rb") as file:
        whole = file.read()
    # magic (8 bytes and what follows), order, type, offsets, 0, m, n, nnz, 0
    for what, at, data, want in (("another magic", 7, b"!", ""), ("a type that is none", 20, b"\x09", "no matrix"),
                                 ("offsets of no width", 24, b"\x09", "no matrix"), ("a word that is not 0", 28, b"\1", "no file of"),
                                 ("rows below 0", 39, b"\xff", "no matrix"), ("columns below 0", 47, b"\xff", "no matrix"),
                                 ("columns beyond 2^31", 44, b"\1", "no matrix"), ("entries below 0", 55, b"\xff", "no matrix"),
                                 ("more entries than 2^63 bytes", 54, b"\x7f\x7f", "not as long")):
        refused(f".weft: {what}", want, "info", put(path, whole[:at] + data + whole[at + len(data):]))
    refused(".weft: a folder", "b.weft", "info", "--json", "-", os.path.join(folder, "none", "b.weft"))


# ---- pipes -----------------------------------------------------------------------------------------------------------

def test_pipes(folder):
    """A pipe is opened once: what was written to it before a second time would be lost. Forms that are no text want a name."""
    pipe, text = os.path.join(folder, "pipe"), b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 5\n"
    os.mkfifo(pipe)

    def feed(data):
        with open(pipe, "wb", buffering=0) as file:  # waits for who reads
            try:
                file.write(data)
            except BrokenPipeError:
                pass
    archive = os.path.join(folder, "piped.tar")
    with tarfile.open(archive, "w") as file:
        member = tarfile.TarInfo("other.mtx")
        member.size = len(text)
        file.addfile(member, io.BytesIO(text))
    with open(archive, "rb") as file:
        feeder = threading.Thread(target=feed, args=(file.read(),), daemon=True)
    os.rename(pipe, pipe + ".tar")
    pipe += ".tar"
    feeder.start()
    code, _, err = run("convert", pipe, "-", wait=20)
    feeder.join()
    if "libarchive" in err:
        skip("an archive in a pipe: without libarchive")
    else:
        ok(code == 2 and err.count("\n") == 1 and "cannot be read again" in err, "an archive in a pipe whose matrix has another name", err)
    os.rename(pipe, pipe[:-4])
    pipe = pipe[:-4]
    for what, data, good in (("a named pipe, 100 times", text, 100), ("an .npz", None, 0), ("a .weft", None, 0)):
        name = os.path.join(folder, "piped." + what.rsplit(".", maxsplit=1)[-1])
        if not data:
            with open(os.path.join(folder, "piped.mtx"), "wb") as file:
                file.write(text)
            code, _, err = run("convert", os.path.join(folder, "piped.mtx"), name, "--force")
            if "libarchive" in err:
                skip(what + ": without libarchive")
                continue
            with open(name, "rb") as file:
                data = file.read()
        read, lost = 0, ""
        for _ in range(good or 1):
            feeder = threading.Thread(target=feed, args=(data,), daemon=True)
            feeder.start()
            try:
                code, out, err = run("convert", pipe, "-", wait=20)
            except subprocess.TimeoutExpired:
                lost = "it waits for ever"
                break
            feeder.join()
            read += code == 0 and out.endswith("2 2 1\n1 2 5\n")
        if good:
            ok(read == good, what, read, lost)
            continue
        want = f"a .{what.split('.')[1]} file is read by its name, not from a pipe"
        ok(code == 2 and err == f"weft: {pipe}: {want} or the standard input\n", what + " in a named pipe", code, err)
        code, out, err = run("convert", "-", "-", given=data)
        ok(code == 2 and err == f"weft: /dev/stdin: {want} or the standard input\n", what + " in a pipe", code, err)
        code, out, err = run("convert", name, "-")
        ok(code == 0 and out.endswith("2 2 1\n1 2 5\n"), what + " by its name", code, err)


# ---- text ------------------------------------------------------------------------------------------------------------

def test_text(folder):
    """Texts that editors and packers make of a Matrix Market file: read, or said what they are."""
    text, path = b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 5\n", os.path.join(folder, "t.mtx")
    packed, end = gzip.compress(text), "2 2 1\n1 2 5\n"
    for what, data in (("the mark of UTF-8", b"\xef\xbb\xbf" + text), ("compressed, with it", gzip.compress(b"\xef\xbb\xbf" + text)),
                       ("gzip, then bytes of 0", packed + bytes(1000)), ("0 between members", gzip.compress(text[:20]) + bytes(7) + gzip.compress(text[20:])),
                       ("0 behind, more than a block", packed + bytes(600000))):
        code, out, err = run("convert", put(path, data), "-")
        ok(code == 0 and out.endswith(end) and not err, "text: " + what, code, out, err)
    for what, data, want in (
            ("bytes behind gzip", packed + b"junk", "behind the last gzip member stands what is none"),
            ("text behind gzip", packed + bytes(512) + text, "behind the last gzip member stands what is none"),
            ("xz", b"\xfd7zXZ\0" + text, "compressed with xz: unpack it first"), ("bzip2", bz2.compress(text), "compressed with bzip2"),
            ("zstd", b"\x28\xb5\x2f\xfd" + text, "compressed with zstd"), ("7-Zip", b"7z\xbc\xaf\x27\x1c" + text, "compressed with 7-Zip"),
            ("carriage returns alone", text.replace(b"\n", b"\r"), "t.mtx:1: lines end in a carriage return alone"),
            ("many of them", text.replace(b"\n", b"\r") + b"1 2 5\r" * 300000, "carriage return alone"),
            ("in the sizes", text.replace(b"\n", b"\r").replace(b"\r", b"\n", 1), "t.mtx:2: lines end in a carriage return alone")):
        refused("text: " + what, want, "info", put(path, data))
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("a.mtx", text)
    code, _, err = run("info", path)
    ok(code == 2 and "a zip archive" in err and err.count("\n") == 1, "text: a zip of it", code, err)


# ---- names -----------------------------------------------------------------------------------------------------------

def test_names(folder):
    """Bytes that are no text are shown as numbers, in one line."""
    for name, want in ((b"\xe2\x82A", "\\xe2\\x82A"), (b"\xe2A", "\\xe2A"), (b"\xf0\x9f\x98A", "\\xf0\\x9f\\x98A"),
                       (b"\xc2\x85B", "\\xc2\\x85B"), (b"\xff", "\\xff"), ("\u20ac\U0001f600".encode(), "\u20ac\U0001f600")):
        # with an ending, and cut at its own end
        refused(f"a name of bytes: {name.hex()}, at the end", want, "info", os.path.join(folder, "none", os.fsdecode(name)))
        refused(f"a name of bytes: {name.hex()}", want, "info", os.path.join(folder, "none", os.fsdecode(name) + ".mtx"))


def test_numbers():
    """Whole numbers beyond 2^53 have all their digits."""
    code, out, err = run("entropy", "--order", "row", "--seed", str(2**53 + 1), "-g", "band:50,3", "--json", "-")
    ok(code == 0 and json.loads(out)["seed"] == 2**53 + 1, "a seed", code, out, err)


def main():
    warnings.simplefilter("ignore")  # of a member that is there twice
    with tempfile.TemporaryDirectory(prefix="weft-forms-") as folder:
        test_npz(folder)
        test_archive(folder)
        test_weft(folder)
        test_text(folder)
        test_pipes(folder)
        test_names(folder)
        test_numbers()
    return done()


sys.exit(main())
