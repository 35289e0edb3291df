#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rooms.py ROOT: the include graph of the project's folders; exit status 1 where it has a circle.

A room is a folder; it stands on the floor above everything that it includes. Checked:
  - no circle of rooms;
  - in host/src and profile no circle of files, a .c file and its header counted as one;
  - nothing outside host/src includes a private header but through host/internal.
Prints the rooms by floor, each with the rooms that it includes.
"""
import collections
import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
TOPS = ("backends", "bench", "bindings", "host", "profile", "tests", "tool")


def sources(root):
    """Paths of all C, C++ and CUDA files of the project, from its root."""
    for top in TOPS:
        for folder, folders, files in os.walk(os.path.join(root, top)):
            folders[:] = sorted(f for f in folders if f != "subprojects")
            for name in sorted(files):
                if name.endswith((".c", ".h", ".cpp", ".hpp", ".cu")):
                    yield os.path.relpath(os.path.join(folder, name), root)


def includes(root):
    """{file: files of the project that it includes}: by name in its own folder, else by path from the root."""
    known = set(sources(root))
    out = {}
    for path in sorted(known):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            names = INCLUDE.findall(file.read())
        found = (next((p for p in (os.path.normpath(os.path.join(os.path.dirname(path), n)), n) if p in known), None)
                 for n in names)
        out[path] = {p for p in found if p}
    return out


def fold(graph, name):
    """The graph between name(file), without arrows inside one name."""
    out = collections.defaultdict(set)
    for path, targets in graph.items():
        out[name(path)] |= {name(t) for t in targets} - {name(path)}
        for target in targets:
            out.setdefault(name(target), set())
    return out


def circle(graph):
    """Names along one circle of the graph, [] where there is none."""
    done, trail = set(), []

    def visit(node):
        if node in trail:
            return trail[trail.index(node):] + [node]
        if node in done:
            return []
        trail.append(node)
        for target in sorted(graph[node]):
            found = visit(target)
            if found:
                return found
        trail.pop()
        done.add(node)
        return []

    for node in sorted(graph):
        found = visit(node)
        if found:
            return found
    return []


def floors(graph):
    """{name: 1 + the highest floor that it includes}; the graph has no circle."""
    out = {}

    def floor(node):
        if node not in out:
            out[node] = 1 + max((floor(t) for t in graph[node]), default=0)
        return out[node]

    for node in graph:
        floor(node)
    return out


def unit(path):
    return os.path.splitext(path)[0]


def check(graph):
    """Complaints, one line each."""
    out = []
    found = circle(fold(graph, os.path.dirname))
    if found:
        out.append("circle of folders: " + " -> ".join(found))
        for one, two in zip(found, found[1:]):
            out += [f"    {path} includes {t}" for path, targets in sorted(graph.items()) for t in sorted(targets)
                    if (os.path.dirname(path), os.path.dirname(t)) == (one, two)]
    for top in "host/src/", "profile/":
        found = circle(fold({p: {t for t in ts if t.startswith(top)} for p, ts in graph.items() if p.startswith(top)}, unit))
        if found:
            out.append("circle of files: " + " -> ".join(found))
    for path, targets in sorted(graph.items()):
        out += [f"{path} includes {t}: private to the library, see host/internal" for t in sorted(targets)
                if t.startswith("host/src/") and not path.startswith(("host/src/", "host/internal/"))]
    return out


def main(root):
    graph = includes(root)
    complaints = check(graph)
    rooms = fold({p: t for p, t in graph.items() if not p.startswith("tests/")}, os.path.dirname)
    if not circle(rooms):
        level = floors(rooms)
        for name in sorted(rooms, key=lambda n: (level[n], n)):
            print(f"floor {level[name]}  {name:24} {' '.join(sorted(rooms[name]))}".rstrip())
    for line in complaints:
        print(line, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
