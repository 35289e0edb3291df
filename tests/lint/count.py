# SPDX-License-Identifier: Apache-2.0
"""Add up Meson's test logs: the tests that failed, one a line, then `N passed, N failed, N skipped`."""
import json
import sys

PASSED, SKIPPED = {"OK", "EXPECTEDFAIL"}, {"SKIP"}


def main(paths):
    passed = failed = skipped = 0
    for path in paths:
        try:
            with open(path, encoding="utf-8") as log:
                results = [(record["name"], record["result"]) for record in map(json.loads, log)]
        except (OSError, ValueError, KeyError, TypeError) as error:
            failed += 1
            print(f"failed: {path} is no log of tests ({error})")
            continue
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
