# SPDX-License-Identifier: Apache-2.0
"""What race and population ask of a machine: where weft-bench is, which devices, backends and algorithms it has."""
import glob
import os
import re
import subprocess

from reader import Failed

HERE = os.path.dirname(os.path.abspath(__file__))


def program_find(path):
    if not os.access(path, os.X_OK) or os.path.isdir(path):
        raise Failed(f"{path} is no program")
    return os.path.abspath(path)


def bench_find(path):
    if path:
        return program_find(path)
    found = [p for p in glob.glob(os.path.join(HERE, "..", "..", "build*", "bench", "weft-bench")) if os.access(p, os.X_OK)]
    if not found:
        raise Failed("no weft-bench in the build folders; --bench PATH says where it is")
    return os.path.abspath(max(found, key=os.path.getmtime))


class Place:
    """Devices, backends and names of algorithms, as weft-bench tells them."""

    def __init__(self, bench, environment):
        listing = self.ask(bench, "--list", environment)
        devices, _, backends = listing.partition("\nbackends\n")
        self.devices = {}
        for line in devices.splitlines():
            found = re.match(r" *(\d+)  (.*?)(?:  default)?$", line)
            if found:
                kind = re.search(r"  (CPU|GPU|accelerator)  ", line)
                self.devices[int(found[1])] = (kind[1] if kind else "", " ".join(found[2].split()))
        self.backends = {line.split()[0]: line for line in backends.splitlines() if line.strip()}
        self.known = {}  # operation: backend: algorithms
        text = self.ask(bench, "--help", environment)
        algos = re.sub(r"\n {30,}", " ", text[text.find("--algo"):text.find("\nmatrices\n")])
        for op, list_ in re.findall(r"^ {28}(\w+) +(\w+:.*)$", algos, re.M):
            self.known[op] = {part.split(":")[0].strip(): part.split(":")[1].replace(",", " ").split()
                              for part in list_.split(";")}

    @staticmethod
    def ask(bench, option, environment):
        try:
            done = subprocess.run([bench, option], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, errors="replace", check=False, env=environment, timeout=120)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Failed(f"{bench} {option}: {error}") from error
        if done.returncode:
            said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
            raise Failed(f"{option} fails: {said[0]}", 3 if done.returncode == 3 else 2)
        return done.stdout

    def first(self, kind):
        return next((index for index, (what, _) in self.devices.items() if what == kind), None)

    def runs(self, backend, device=None):
        line = self.backends.get(backend, "")
        if device is None:
            return line.split(":")[-1].split()[-1:] == ["runs"]
        devices = re.search(r"runs on device ([\d, ]+)", line)
        return devices is not None and str(device) in devices[1].split(", ")

    def algos(self, names, ops, backends):
        """Those of the names that some backend has for some of the operations."""
        there = {name for op in ops for backend in backends for name in self.known.get(op, {}).get(backend, [])}
        return ",".join(dict.fromkeys(name for name in names if name in there))
