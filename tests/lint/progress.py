#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""progress.py NAME MINUTES KEPT COMMAND...: run ninja or `meson test` and show how far it is.

Both say "N/TOTAL ..." for each step. On a terminal one line is written anew; elsewhere there is a line at the start, one a minute
(WEFT_PROGRESS: other seconds) and one at the end. How long it took last time is kept in the file KEPT, and is what is expected; else
MINUTES, as on two quiet cores; KEPT - keeps nothing. Of ninja everything is shown when it fails; of `meson test` whatever is no test that passed.
"""
import json
import os
import re
import subprocess
import sys
import threading
import time

STEP = re.compile(r"^\s*\[?\s*(\d+)/(\d+)\]?\s+(.*)$")
GOOD = re.compile(r"\s(OK|SKIP|EXPECTEDFAIL)\s+[\d.]+\s?s")


def minutes(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


class Progress:
    def __init__(self, name, usual, kept, tests):
        self.name, self.kept, self.tests = name, kept, tests
        self.begin, self.done, self.total, self.bad, self.last = time.monotonic(), 0, 0, 0, ""
        self.terminal = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.width = os.get_terminal_size(2).columns if self.terminal else 0
        self.every = 1.0 if self.terminal else float(os.environ.get("WEFT_PROGRESS", "60"))
        self.lock, self.over = threading.Lock(), threading.Event()
        self.expected, source = usual * 60, "usually {} on two quiet cores"
        try:
            with open(kept, encoding="utf-8") as file:
                self.expected, source = float(json.load(file)[name]), "{} the last time"
        except (OSError, ValueError, KeyError, TypeError):
            pass
        self.source = source.format(minutes(self.expected))
        self.note(f"dev: {name}: {self.source}")

    def note(self, text):
        with self.lock:
            sys.stderr.write(("\r\033[K" if self.terminal else "") + text + "\n")
            sys.stderr.flush()

    def status(self):
        count = f"{self.done}/{self.total} {'tests' if self.tests else 'steps'}" if self.total else "starting"
        bad = f", {self.bad} failed" if self.bad else ""
        return f"dev: {self.name}: {count}{bad}, {minutes(time.monotonic() - self.begin)} so far ({self.source})"

    def tick(self):
        while not self.over.wait(self.every):
            if self.terminal:
                with self.lock:
                    sys.stderr.write("\r\033[K" + (self.status() + "; " + self.last)[:self.width - 1])
                    sys.stderr.flush()
            else:
                self.note(self.status() + (f"; last: {self.last}" if self.last else ""))

    def line(self, text):
        """One line of the command; gives whether it is to be shown now."""
        step = STEP.match(text)
        if not step:
            return self.tests and bool(text.strip())
        self.done, self.total = int(step[1]), int(step[2])
        self.last = " ".join(step[3].split())
        if not self.tests or GOOD.search(text):
            return False
        self.bad += 1
        return True

    def end(self, status):
        self.over.set()
        seconds = time.monotonic() - self.begin
        note = f"dev: {self.name}: {self.done} {'tests' if self.tests else 'steps'} in {minutes(seconds)}"
        self.note(note + ("" if status == 0 else ", FAILED"))
        if status == 0 and self.done and self.kept != "-":
            kept = {}
            try:
                with open(self.kept, encoding="utf-8") as file:
                    kept = dict(json.load(file))
            except (OSError, ValueError, TypeError):
                pass
            kept[self.name] = round(seconds, 1)
            with open(self.kept, "w", encoding="utf-8") as file:
                json.dump(kept, file)


def main():
    name, usual, kept, command = sys.argv[1], float(sys.argv[2]), sys.argv[3], sys.argv[4:]
    tests = os.path.basename(command[0]) != "ninja"
    progress, said = Progress(name, usual, kept, tests), []
    env = {**os.environ, "NINJA_STATUS": "[%f/%t] "}
    threading.Thread(target=progress.tick, daemon=True).start()
    status = 1
    try:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=env) as job:
            for line in job.stdout:
                said.append(line)
                if progress.line(line):
                    progress.note(line.rstrip("\n"))
        status = job.returncode
    except OSError as error:
        progress.note(f"dev: {command[0]}: {error.strerror}")
    except KeyboardInterrupt:
        status = 130
    progress.end(status)
    if status and not tests:
        sys.stderr.write("".join(line for line in said if not (STEP.match(line) and "FAILED" not in line)))
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
