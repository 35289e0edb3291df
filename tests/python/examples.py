#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples.py BUILT ROOT: the examples in the docstrings of the package in BUILT, and those of docs/python.md. TAP."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import begin, done, ok  # noqa: E402

BUILT, ROOT = sys.argv[1:3]
weft = begin(BUILT)

import contextlib  # noqa: E402
import doctest  # noqa: E402
import importlib  # noqa: E402
import io  # noqa: E402
import re  # noqa: E402


def run(name, test):
    """One doctest; its complaints follow where it fails."""
    out = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    with contextlib.redirect_stdout(out):
        result = runner.run(test, out=out.write)
    ok(not result.failed and result.attempted, f"{name}: {result.attempted} examples", out.getvalue())


FINDER = doctest.DocTestFinder(exclude_empty=True)
count, shown = 0, set()
for part in ("", "._c", "._context", "._matrix", "._plan", "._tools"):
    module = importlib.import_module("weft" + part)
    for test in FINDER.find(module, module=module):
        if test.examples:
            shown.add(test.name.split(".")[-1])
            run(test.name, test)
            count += 1
ok(count >= 8, f"{count} docstrings have examples")
errors = [name for name in weft.__all__ if isinstance(getattr(weft, name), type) and issubclass(getattr(weft, name), Exception)]
bare = sorted(set(weft.__all__) - set(errors) - shown)
ok(not bare, "all that is public has an example, beside the errors", bare)
with open(os.path.join(ROOT, "docs/python.md"), encoding="utf-8") as file:
    samples = re.findall(r"```python\n(.*?)```", file.read(), re.S)
ok(samples, "docs/python.md has samples")
for number, text in enumerate(samples, 1):
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(text, f"sample {number}", "exec"), {"__name__": "sample"})
        why = ""
    except Exception as error:  # what a user would see
        why = repr(error)
    ok(not why, f"docs/python.md: sample {number} runs", why)
sys.exit(done())
