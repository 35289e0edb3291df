#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pages.py FILE...: of what packaging/pages.py has made, manual pages have no fault that mandoc knows, and completions complete.
TAP. Programs among the files are those that the pages are about."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok, skip  # noqa: E402

FILES = [os.path.abspath(path) for path in sys.argv[1:]]


def call(*command, **options):
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    return out.returncode, out.stdout


def named(name):
    return next((path for path in FILES if os.path.basename(path) == name), None)


def manuals():
    manual = [path for path in FILES if re.search(r"\.[13]$", path)]
    ok(len(manual) > 15, "pages of programs and headers", manual)
    if shutil.which("mandoc"):
        code, out = call("mandoc", "-Tlint", "-Wwarning", *manual)
        ok(code == 0 and not out, "mandoc has no warning", out)
        broken = call("mandoc", "-Tlint", "-Wwarning", input=".TH A 1\n.SH NAME\n.bogus\n")
        ok(broken[0] != 0, "and would have one", broken)
        code, text = call("mandoc", "-Tascii", named("weft_spmv.3"))
        text = re.sub(".\b", "", text)
        ok(code == 0 and "weft_spmv_plan_create(" in text and "Analyse the matrix" in text and "#include <weft/spmv.h>" in text,
           "weft_spmv(3) has declarations and their comments", text)
    else:
        skip("no mandoc")
    for program, options in (("weft", ("--products", "--order", "spmv")), ("weft-bench", ("--sweep", "stencil27:K", "segsort"))):
        page = named(program + ".1")
        if page:
            with open(page, encoding="utf-8") as file:
                text = file.read().replace("\\-", "-")
            ok(all(option in text for option in options), f"{program}(1) has {options}", text[:2000])


def bash(script, line, word):
    """What bash offers for the last word of `line`."""
    words = line.split(" ")
    program = f"""source {script}
COMP_WORDS=({' '.join(repr(w) for w in words)}) COMP_CWORD={len(words) - 1}
_{words[0].replace('-', '_')}
printf '%s\\n' "${{COMPREPLY[@]}}" """
    code, out = call("bash", "--norc", "-c", program)
    offered = out.split()
    return ok(code == 0 and word in offered, f"bash: {line!r} goes on with {word}", out)


def completions():
    script = next((path for path in FILES if path.endswith("/packaging/weft")), None)
    if not script or not shutil.which("bash"):
        skip("no programs, or no bash")
        return
    for line, word in (("weft in", "info"), ("weft help ad", "advise"), ("weft permute --order r", "rcm"), ("weft info -d c", "cpu"),
                       ("weft spmv --pro", "--products"), ("weft spy -t f", "f64")):
        bash(script, line, word)
    if named("weft-bench.1"):
        for line, word in (("weft-bench -o sp", "spmv"), ("weft-bench --op scan,sp", "scan,spmv"), ("weft-bench --swe", "--sweep"),
                           ("weft-bench -b opencl -a csr_m", "csr_merge"), ("weft-bench -t f", "f32")):
            bash(script, line, word)
    for shell, path in (("zsh", named("_weft")), ("fish", named("weft.fish"))):
        if shutil.which(shell):
            code, out = call(shell, "-n", path)
            ok(code == 0 and not out, f"{shell} reads its own", out)
        else:
            skip(f"no {shell}")
    if shutil.which("fish"):
        code, out = call("fish", "--no-config", "-c", f"source {named('weft.fish')}; complete -C 'weft inf'")
        ok(code == 0 and out.startswith("info\t"), "fish: 'weft inf' goes on with info", out)


manuals()
completions()
sys.exit(done())
