#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The public interface against its record, tests/lint/interface.txt.

interface.py check ROOT LIBRARY IO COMPILER...    what differs, one a line; exit status 1 where anything does
interface.py record ROOT LIBRARY IO COMPILER...   write the record anew (`ninja -C build interface-record`)

A line each: every declaration (functions as they are declared, structs with size and alignment on 64-bit systems), and
every enumerator with its value. The headers are read behind the preprocessor; sizes and values are what a program says
that is made from the names. The shared libraries must show the functions that are declared, no more and no fewer:
those of mtx.h IO, the others LIBRARY, none both. No program links with it that has headers
of another minor version. Where headers and docs write params.NAME, there is such a member.
"""
import difflib
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

FLAGS = ["-x", "c", "-std=c11", "-DCL_TARGET_OPENCL_VERSION=120"]
MEND = "meant so? ninja -C BUILD interface-record; say it in CHANGELOG.md, and raise WEFT_VERSION_MINOR if a release had it"


def call(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def headers_text(include, compiler):
    """The public headers without comments, macros and what other headers say."""
    lines, mine = [], False
    names = sorted(map(os.path.basename, glob.glob(os.path.join(include, "weft", "*.h"))))
    for line in call(*compiler, *FLAGS, "-I" + include, "-DWEFT_NO_LINK_CHECK", "-E", "-",
                     input="".join(f"#include <weft/{name}>\n" for name in names)).splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            mine = marker[1].startswith(os.path.join(include, "weft"))
        elif mine:
            lines.append(line)
    return "\n".join(lines)


def declarations(text):
    """The declarations of a text, white space made single; functions with a body without it."""
    out, begin, depth = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        body = letter == "}" and depth == 0 and "(" in text[begin:text.index("{", begin)]
        if depth == 0 and (letter == ";" or body):
            one = text[begin:text.index("{", begin)] if body else text[begin:at]
            out.append(re.sub(r"\s+", " ", one).strip())
            begin = at + 1
    return sorted(filter(None, out))


def names_of(found):
    """(structs that have members, enumerators, functions and variables that the library has) of declarations."""
    structs = [m[1] for d in found for m in [re.match(r"struct (\w+) \{", d)] if m]
    values = [name for d in found for m in [re.match(r"(?:typedef )?enum \w* ?\{(.*)\}", d)] if m
              for name in re.findall(r"(?:^|,)\s*(\w+)", m[1])]
    plain = [d for d in found if not d.startswith(("typedef ", "static ")) and "{" not in d]
    shown = [m[1] for d in plain for m in [re.match(r"[^()]*?(\w+) ?\(", d) or re.match(r"extern .*?(\w+)$", d)] if m]
    return structs, values, shown


def measured(include, structs, values, compiler):
    """{struct: "size N, alignment N"}, {enumerator: value}, from a program that prints them."""
    lines = [f'printf("{s} size %zu, alignment %zu\\n", sizeof(struct {s}), _Alignof(struct {s}));' for s in structs]
    lines += [f'printf("{v} %lld\\n", (long long){v});' for v in values]
    program = "#include <stdio.h>\n#include <weft/weft.h>\nint main(void)\n{\n" + "\n".join(lines) + "\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "sizes")
        call(*compiler, *FLAGS, "-I" + include, "-DWEFT_NO_LINK_CHECK", "-o", path, "-", input=program)
        return dict(line.split(" ", 1) for line in call(path).splitlines())


def interface(include, compiler):
    """The lines of the record, and the names that the library has."""
    found = declarations(headers_text(include, compiler))
    structs, values, shown = names_of(found)
    said = measured(include, structs, values, compiler)
    lines = []
    for one in found:
        name = re.match(r"struct (\w+) \{", one)
        lines.append(f"{one} // {said[name[1]]}" if name else one)
    return lines + [f"{value} = {said[value]}" for value in sorted(values)], shown


def compared(library, files, lines, shown, recorded):
    """Complaints, one line each."""
    every = [{line.split()[-1] for line in call("nm", "-D", "--defined-only", of).splitlines()} for of in (library, files)]
    exported = every[0] | every[1]
    out = [f"in the wrong library or in both: {name}" for name in sorted(exported)
           if (name in every[0]) != (not name.startswith("weft_mtx_")) or name in every[0] & every[1]]
    out += [f"declared but not in the library: {name}" for name in sorted(set(shown) - exported)]
    out += [f"in the library but not declared: {name}" for name in sorted(exported - set(shown))]
    return out + [line for line in difflib.unified_diff(recorded, lines, lineterm="", n=0)
                  if not line.startswith(("@@", "---", "+++"))]


def mixed(include, library, compiler):
    """What is wrong when a program of another minor version's headers is linked with the library: it must not be."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(include, "weft"), os.path.join(folder, "weft"))
        version = os.path.join(folder, "weft", "version.h")
        with open(version, encoding="utf-8") as file:
            text = file.read()
        with open(version, "w", encoding="utf-8") as file:
            file.write(re.sub(r"(#define WEFT_VERSION_MINOR) (\d+)", lambda m: f"{m[1]} {int(m[2]) + 1}", text))
        for path, fits in (include, True), (folder, False):
            done = subprocess.run([*compiler, *FLAGS, "-I" + path, "-", "-x", "none", library, "-o", os.path.join(folder, "program")],
                                  input="#include <weft/status.h>\nint main(void) { return !weft_status_text(WEFT_OK); }\n",
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            if (done.returncode == 0) != fits or (not fits and "_need_library_" not in done.stdout):
                return [f"headers of {'this' if fits else 'another'} version link with status {done.returncode}: {done.stdout}"]
    return []


def members(lines):
    """The members of every struct weft_*_params of the record; those of a group in it as GROUP.NAME."""
    out = set()
    for line in lines:
        struct = re.match(r"struct weft_\w+_params \{(.*)\} //", line)
        groups = re.findall(r"struct \{([^{}]*)\} (\w+);", struct[1]) if struct else []
        out |= {group for _, group in groups}
        out |= {f"{group}.{name}" for inner, group in groups for name in re.findall(r"(\w+)(?=[;,])", inner)}
        alone = re.sub(r"struct \{[^{}]*\} \w+;", "", struct[1]) if struct else ""
        out |= {a or b for a, b in re.findall(r"(\w+)(?=[;,])|\(\*(\w+)\)\(", alone)}
    return out


def strangers(root, lines):
    """Where a comment of a header or a page of docs writes params.NAME, and there is no such member."""
    known, out = members(lines), []
    pages = glob.glob(os.path.join(root, "host/include/weft/*.h*")) + glob.glob(os.path.join(root, "docs/*.md"))
    for path in sorted(pages):
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                out += [f"{os.path.relpath(path, root)}:{number}: params.{name} is no member" for name in
                        re.findall(r"\bparams\.([a-z_0-9]+(?:\.[a-z_0-9]+)?)", line) if name not in known]
    return out


def main(what, root, library, files, *compiler):
    if sys.maxsize < 2**32:
        print("skipped: the record is of 64-bit systems")
        return 77
    if " __gcov_" in call("nm", "-D", "--defined-only", library):
        print("skipped: the library is built to count lines, with names of gcov")
        return 77
    record = os.path.join(root, "tests", "lint", "interface.txt")
    lines, shown = interface(os.path.join(root, "host", "include"), compiler)
    if what == "record":
        with open(record, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        return 0
    with open(record, encoding="utf-8") as file:
        complaints = compared(library, files, lines, shown, file.read().splitlines())
    complaints += mixed(os.path.join(root, "host", "include"), library, compiler) + strangers(root, lines)
    print(*complaints, f"{len(lines)} lines, {len(shown)} names of the library, {len(complaints)} complaints", sep="\n")
    if complaints:
        print(MEND)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
