#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What oclgrind.sh says of programs that write into Oclgrind's log, or into nothing. Output is TAP."""
import os
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from tap import done, ok  # noqa: E402

KNOWN = "Uninitialized value read\n\tKernel: merge_sort\n\n"  # a line of oclgrind.supp
FAULT = "Invalid read of size 4\n\tKernel: merge_sort\n\n"


def run(text):
    """(exit status, standard output, messages) of a program of the shell. A pipe that nobody closes would last for ever."""
    out = subprocess.run(["sh", os.path.join(HERE, "oclgrind.sh"), "sh", "-c", text], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    return out.returncode, out.stdout, out.stderr


def at_once():
    """Exit status with a program of the shell itself, on one core: it has ended before the reader begins. None: it waits for ever."""
    with subprocess.Popen(["sh", os.path.join(HERE, "oclgrind.sh"), "true"], start_new_session=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})) as program:
        try:
            return program.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            return None


def writing(text):
    return f"printf '%s' '{text}' > \"$OCLGRIND_LOG\""


code, said, _ = run("true")
if said.startswith("1..0"):
    print(said, end="")
    sys.exit(0)
ok(at_once() == 0, "a program that ends before anybody reads the log")
code, said, messages = run("echo text; exit 3")
ok((code, said, messages) == (3, "text\n", ""), "its output and its exit status", code, said, messages)
code, _, messages = run(writing(FAULT))
ok(code == 1 and "Invalid read" in messages and "1 messages, and 0" in messages, "a message fails it", code, messages)
code, _, messages = run(writing(KNOWN))
ok(code == 0 and "0 messages, and 1" in messages, "but one that is known", code, messages)
code, _, messages = run(writing(FAULT) + "; " + writing(KNOWN))
ok(code == 1 and "1 messages, and 1" in messages, "of each context that begins the log anew", code, messages)
sys.exit(done())
