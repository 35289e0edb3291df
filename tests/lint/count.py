# SPDX-License-Identifier: Apache-2.0
"""Add up Meson's test logs: for each the tests and the checks in them (and what the offline compilers took), the tests that
failed, one a line, then `N passed, N failed, N skipped`."""
import json
import os
import re
import sys

PASSED, SKIPPED = {"OK", "EXPECTEDFAIL"}, {"SKIP"}


def main(paths):
    passed = failed = skipped = 0
    for path in paths:
        try:
            with open(path, encoding="utf-8") as log:
                found = list(map(json.loads, log))
            results = [(record["name"], record["result"]) for record in found]
        except (OSError, ValueError, KeyError, TypeError) as error:
            failed += 1
            print(f"failed: {path} is no log of tests ({error})")
            continue
        said = [line for record in found for line in record.get("stdout", "").splitlines()]
        checks = sum(bool(re.match(r"(not )?ok\b", line)) for line in said)
        print(f"{os.path.splitext(os.path.basename(path))[0]}: {len(found)} tests, {checks} checks",
              *(f"kernels {line.split(' compilations')[0]} compilations" for line in said if " compilations (" in line), sep="; ")
        for name, result in results:
            if result in PASSED:
                passed += 1
            elif result in SKIPPED:
                skipped += 1
            else:
                failed += 1
                print(f"failed: {name} ({result})")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
