# SPDX-License-Identifier: Apache-2.0
"""Results of tests in TAP, as tap.h gives them in C."""
import sys

count = failed = 0


def ok(good, name, *notes):
    """One result; the notes follow when it is bad. Gives `good`."""
    global count, failed
    count += 1
    failed += not good
    print("ok" if good else "not ok", count, "-", name.replace("#", " "))
    for note in notes if not good else ():
        for line in str(note).splitlines():
            print("#  ", line)
    sys.stdout.flush()
    return good


def skip(why):
    """A result that cannot be had here."""
    global count
    count += 1
    print("ok", count, "# SKIP", why)


def done():
    """Print the plan; gives the exit status."""
    print(f"1..{count}")
    return int(failed != 0)
