#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scipy_judge.py BUILT ROOT [SELECT]: scipy's own tests of CSR and CSC, with transposes and products by weft. TAP.

scipy.sparse.tests.test_base runs on subclasses of scipy's four classes. Their tocsc, tocsr, products with vectors and with dense
matrices go through weft, everything else is scipy's. SELECT is for pytest -k; default: the tests that concern these; "all":
every test of the classes. A test that fails with plain scipy too is not weft's failure.
"""
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import begin, done, ok  # noqa: E402

BUILT = os.path.abspath(sys.argv[1])
weft = begin(BUILT)
SELECT = "transpose or tocsc or tocsr or matvec or matmat or mul or dot or rmul or solve or sum or T_ or canonical"

CASES = '''
import sys
sys.path.insert(0, {built!r})
import numpy as np
import scipy.sparse as sp
import scipy.sparse.tests.test_base as base
import weft

USED = dict(product=0, transpose=0)


def backed(container):
    """A subclass of a CSR or CSC class whose transposes and products are weft's."""
    plain = container.format if isinstance(container.format, str) else container((1, 1)).format

    class Backed(container):
        def _rows(self):
            """weft's matrix of the same entries, and whether it is this one's transpose."""
            arrays = (self.data, self.indices, self.indptr)
            return weft.csr(arrays, self.shape if plain == "csr" else self.shape[::-1])

        def _times(self, other):
            USED["product"] += 1
            a = self._rows()
            return (a if plain == "csr" else a.T) @ other

        def _can(self):
            return self.ndim == 2

        def _matmul_vector(self, other):
            return self._times(other) if self._can() else super()._matmul_vector(other)

        _mul_vector = _matmul_vector

        def _matmul_multivector(self, other):
            return self._times(other) if self._can() else super()._matmul_multivector(other)

        _mul_multivector = _matmul_multivector

        def _turned(self, kind, copy):
            USED["transpose"] += 1
            t = weft.transpose(container((self.data, self.indices, self.indptr), shape=self.shape))
            to = getattr(sp, kind + ("_array" if container.__name__.endswith("_array") else "_matrix"))
            out = to((t.data, t.indices, t.indptr), shape=self.shape)
            out.has_sorted_indices = True
            return out

    if plain == "csr":
        Backed.tocsc = lambda self, copy=False: self._turned("csc", copy) if self._can() else container.tocsc(self, copy)
    else:
        Backed.tocsr = lambda self, copy=False: self._turned("csr", copy)
    Backed.__name__ = container.__name__
    return Backed


def judged(test, container):
    mine = backed(container) if {backed} else container

    class Judged(test):
        @classmethod
        def spcreator(cls, *args, **kwargs):
            return mine(*args, **kwargs)

        spmatrix = spcreator  # its name before scipy 1.11
    Judged.__name__ = Judged.__qualname__ = "Test" + test.__name__[4:]
    return Judged


for name, test in list(vars(base).items()):
    if name.startswith(("TestCSR", "TestCSC")):
        kind = name[4:7].lower() + ("_array" if "Matrix" not in name and hasattr(base, "TestCSRMatrix") else "_matrix")
        globals()[name] = judged(test, getattr(sp, kind))
del name, test


def test_used():
    assert not {backed} or (USED["product"] > 50 and USED["transpose"] > 20), USED
'''


def run(folder, is_backed, select):
    """{test: whether it passed} of one run."""
    import pytest
    path = os.path.join(folder, f"test_{'weft' if is_backed else 'plain'}.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(CASES.format(built=BUILT, backed=is_backed))
    found, why = {}, {}

    class Notes:
        def pytest_runtest_logreport(self, report):
            name = report.nodeid.split("::", 1)[1]
            if report.when == "call" or report.failed:
                found[name] = not report.failed
                if report.failed:
                    why[name] = str(report.longrepr)[-1500:]
    options = [path, "-q", "--no-header", "-p", "no:cacheprovider", "--tb=short", "-o", "addopts=", "-W", "ignore"]
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        out, sys.stdout = sys.stdout, nowhere
        try:
            pytest.main(options + ([] if select == "all" else ["-k", select + " or used"]), plugins=[Notes()])
        finally:
            sys.stdout = out
    return found, why


def main():
    try:
        import pytest  # noqa: F401
        import scipy.sparse.tests.test_base  # noqa: F401
    except ImportError as error:
        print(f"1..0 # SKIP {error}")
        return 0
    select = sys.argv[3] if len(sys.argv) > 3 else SELECT
    with tempfile.TemporaryDirectory() as folder:
        plain, _ = run(folder, False, select)
        found, why = run(folder, True, select)
    failed = [name for name, good in found.items() if not good and plain.get(name)]
    ok(len(found) > 100 and len(found) == len(plain), f"{len(found)} tests of scipy ran", len(plain))
    ok(not failed, f"{sum(found.values())} of {len(found)} pass, {sum(plain.values())} with scipy alone",
       *(f"{name}: {why[name]}" for name in failed))
    for name in sorted(name for name, good in found.items() if not good and name not in failed):
        print(f"# fails with scipy alone too: {name}")
    return done()


if __name__ == "__main__":
    sys.exit(main())
