#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""words.py ROOT: the language of README, CONTRIBUTING, docs and public headers. words.py ROOT FILE...: only these. TAP.

  - No sentence of more than 35 words, and no page of docs/results/ of more than 150 lines; docs/log/ may have both.
  - Every link to a file of the project names one that exists, and every #heading one that the page has.
  - Every file of the project that the text names by its path exists; capitals stand for a name (bench/op/NAME.c).
  - No page has two headings of one name, which links could not tell apart.
  - No word of the glossary's section "Not used" that stands there in double quotes.
Faults are planted first, so that a check that finds nothing is noticed."""
import glob
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok  # noqa: E402

WORDS, LINES = 35, 150
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
END = re.compile(r"(?:(?<=[.?!;:])|(?<=[.?!]\))|(?<=[.?!]\*\*))\s+(?=[A-Z0-9\"(*-])")  # what a sentence ends with
PATH = re.compile(r"(?<![\w./-])(?:cl|host|bench|tests|backends|profile|tool|docs)/[\w./-]+"
                  r"\.(?:clh?|[ch]|py|sh|md|build)\b")
FENCE = re.compile(r"^```.*?^```", re.M | re.S)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def files(root):
    docs = glob.glob(os.path.join(root, "docs", "**", "*.md"), recursive=True)
    headers = glob.glob(os.path.join(root, "host", "include", "weft", "*.h"))
    return [os.path.join(root, name) for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")] + sorted(docs) + sorted(headers)


def is_log(path):
    return "/docs/log/" in path.replace(os.sep, "/")


def without_code(text):
    """Fenced and indented code as empty lines, so that line numbers stay. A list item goes on in indented lines."""
    text, out, prose = FENCE.sub(lambda found: "\n" * found[0].count("\n"), text), [], False
    for line in text.split("\n"):
        code = line.startswith("    ") and not prose
        out.append("" if code else line)
        prose = bool(line.strip()) and not code
    return "\n".join(out)


def comments(text):
    """Lines of a header without its code; a comment behind code stands for itself, which \\0 marks."""
    out = []
    for line in text.split("\n"):
        found = re.search(r"//+ ?(.*)$", line)
        out.append("" if not found else ("\0" if line[:found.start()].strip() else "") + found[1])
    return "\n".join(out)


def paragraphs(path, text):
    """[(line, paragraph)]: prose; cells of tables and items of lists stand for themselves."""
    out, words = [], []

    def flush():
        if words:
            out.append((start, " ".join(words)))
        words.clear()

    start, header = 0, path.endswith(".h")
    for number, line in enumerate((comments if header else without_code)(text).split("\n"), 1):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            flush()
        elif bare.startswith("\0"):
            flush()
            out.append((number, bare[1:]))
        elif bare.startswith("|") and not header:
            flush()
            out += [(number, cell.strip()) for cell in re.split(r"(?<!\\)\|", bare.strip("|"))]
        else:
            if re.match(r"([-*+]|\d+\.) ", bare):
                flush()
                bare = bare.split(" ", 1)[1]
            elif header and re.search(r"\S  +\S", bare):  # a line in columns: an argument, an item
                flush()
            if not words:
                start = number
            words.append(bare)
    flush()
    return out


def plain(paragraph):
    """Code in backquotes is one word, and a link is its text."""
    return LINK.sub(lambda found: found[0][1:found[0].index("]")], re.sub(r"`[^`]*`", "X", paragraph))


def long_sentences(path, text):
    for number, paragraph in paragraphs(path, text):
        for sentence in re.split(END, plain(paragraph)):
            count = len(sentence.split())
            if count > WORDS:
                yield f"{number}: sentence of {count} words: {sentence[:90]}..."


def long_page(path, text):
    lines = text.count("\n")
    if "/docs/results/" in path.replace(os.sep, "/") and lines > LINES:
        yield f"{lines}: page of more than {LINES} lines"


def headings(text):
    """What GitHub calls them in a link."""
    return [re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", name).strip().lower()).replace(" ", "-")
            for name in re.findall(r"^#+ (.*)$", without_code(text), re.M)]


def same_headings(path, text):
    names = headings(text)
    yield from (f"1: heading twice: {name}" for name in sorted({name for name in names if names.count(name) > 1}))


def dead_links(path, text):
    prose = re.sub(r"`[^`\n]*`", lambda found: " " * len(found[0]), without_code(text))
    for found in LINK.finditer(prose):
        target, _, name = found[1].partition("#")
        number = prose.count("\n", 0, found.start()) + 1
        if re.match(r"\w+:", found[1]):
            continue
        file = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
        if not os.path.exists(file):
            yield f"{number}: dead link {found[1]}"
        elif name and file.endswith(".md") and name not in headings(read(file)):
            yield f"{number}: no heading for {found[1]}"


def dead_paths(root, text):
    for found in PATH.finditer(text):
        if not re.search(r"[A-Z]{2}", found[0]) and not os.path.exists(os.path.join(root, found[0])):
            number = text.count("\n", 0, found.start()) + 1
            yield f"{number}: no file {found[0]}"


def not_used(root):
    """Phrases in double quotes of the first column of the glossary's last section."""
    path = os.path.join(root, "docs", "glossary.md")
    section = read(path).partition("\n## Not used\n")[2] if os.path.exists(path) else ""
    return [phrase for row in re.findall(r"^\| ([^|]*) \|", section, re.M) for phrase in re.findall(r'"([^"]+)"', row)]


def strange_words(path, text, phrases):
    if os.path.basename(path) == "glossary.md":
        return
    for number, paragraph in paragraphs(path, text):
        for phrase in phrases:
            if re.search(rf"\b{re.escape(phrase)}\b", plain(paragraph), re.I):
                yield f"{number}: not used here: {phrase} (docs/glossary.md)"


def faults(root, path, phrases):
    text, found = read(path), []
    if not is_log(path):
        found += [*long_sentences(path, text), *long_page(path, text), *strange_words(path, text, phrases)]
        found += dead_paths(root, text)
    if path.endswith(".md"):
        found += [*same_headings(path, text), *dead_links(path, text)]
    return found


PLANTED = {
    "a sentence of 36 words": ("README.md", "x " * 36 + "\n", "README.md:1: sentence of 36 words"),
    "and in a list": ("README.md", "# A\n\n- x\n- " + "x " * 36 + "\n  .\n", "README.md:4: sentence of 37 words"),
    "and in a table": ("README.md", "| a | b |\n|---|---|\n| x | " + "x " * 36 + "|\n", "README.md:3: sentence of 36"),
    "and in a header": ("host/include/weft/a.h", "int a; // b\n// " + "x " * 20 + "\n// " + "x " * 20 + "\n",
                        "host/include/weft/a.h:2: sentence of 40 words"),
    "and behind code": ("host/include/weft/a.h", "int a; // " + "x " * 36 + "\n", "a.h:1: sentence of 36 words"),
    "a dead link": ("docs/a.md", "see\n[b](b.md)\n", "docs/a.md:2: dead link b.md"),
    "a dead picture": ("docs/log/a.md", "![b](b.png)\n", "docs/log/a.md:1: dead link b.png"),
    "a dead heading": ("docs/a.md", "# A b\n\n[a](a.md#a-b) [c](#a-c)\n", "docs/a.md:3: no heading for #a-c"),
    "a path that is not there": ("host/include/weft/a.h", "// b\n// docs/c.md has it.\n", "a.h:2: no file docs/c.md"),
    "a heading twice": ("docs/a.md", "## B\n\n## B\n", "docs/a.md:1: heading twice: b"),
    "a long page of results": ("docs/results/a.md", "x\n\n" * 76, "docs/results/a.md:152: page of more than 150"),
    "a word that is not used": ("docs/a.md", "Sums of\nsilent tiles.\n", "docs/a.md:1: not used here: silent tile"),
}
RIGHT = {
    "35 words": ("README.md", "x " * 34 + "x.\n"),
    "short sentences in a row": ("README.md", "X is y. " * 30 + "\n"),
    "code": ("README.md", "Run\n\n    " + "x " * 60 + "\n\n```c\n" + "[a](b) " * 40 + "\n```\n"),
    "code in a line": ("README.md", "Run `" + "x " * 60 + "` or `a[b](c)`.\n"),
    "a path": ("docs/a.md", "See docs/glossary.md and bench/op/NAME.c.\n"),
    "docs/log": ("docs/log/a.md", "x " * 60 + "\n" * 200),
    "links outside, to a folder, to a heading": ("docs/a.md", "# `B`: c\n\n[a](http://b/c) [b](.) [c](#b-c)\n"),
}


def planted(name, text):
    with tempfile.TemporaryDirectory() as root:
        for path, content in {"docs/glossary.md": '\n## Not used\n\n| "silent tiles" | x |\n', name: text}.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(content)
        return [f"{name}:{fault}" for fault in faults(root, os.path.join(root, name), not_used(root))]


def main():
    root, only = os.path.abspath(sys.argv[1]), sys.argv[2:]
    for what, (name, text, want) in PLANTED.items():
        found = planted(name, text)
        ok(len(found) == 1 and want in found[0], f"finds {what}", *found)
    for what, (name, text) in RIGHT.items():
        ok(not planted(name, text), f"lets pass {what}", *planted(name, text))
    phrases = not_used(root)
    ok(phrases, "the glossary names words that are not used")
    for path in map(os.path.abspath, only or files(root)):
        found, name = faults(root, path, phrases), os.path.relpath(path, root)
        ok(not found, name, *(f"{name}:{fault}" for fault in found))
    return done()


sys.exit(main())
