#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts lines of kernels: writes WEFT_LINE(k) before each statement of a source of cl/ (cl/embed.py calls `counted`).

WEFT_LINE(k) stores a one at byte k of a page that every process of the tests maps at the same address
(tests/coverage/lines.c); it works on devices that compute in the process, as PoCL does. A statement is counted at its first
line. Bodies of macros, `else`, braces and labels are not counted."""
import re

ADDRESS = 0x610000000000
LINES_OF_FILE = 1024
# A body that is counted begins with an if and an else, of which compilers would warn.
DEFINE = ('#pragma clang diagnostic ignored "-Wdangling-else"\n'
          f"#define WEFT_LINE(k) (*(volatile __global uchar *)({ADDRESS:#x}ul + k##ul) = (uchar)1)")
HEADERS = ("if", "for", "while", "switch")


class State:
    """Where a line stands: braces around it (True: of statements), open parentheses, and what came before it."""

    def __init__(self):
        self.braces, self.parens = [], 0
        self.last = ";"       # the last character of code
        self.word = ""        # the first word of the statement that the line goes on with
        self.header = False   # of an if or a loop without a brace: what comes is its body
        self.label = False

    def copy(self):
        other = State()
        other.__dict__.update(self.__dict__, braces=self.braces[:])
        return other

    def starts(self):
        """Does a statement of a function start here?"""
        return bool(self.braces) and all(self.braces) and not self.parens and (
            self.last in ";{}" or self.header or self.label)

    def take(self, code):
        """Go on behind a line of code."""
        words = re.findall(r"\w+", code.lstrip("} "))
        started = not self.parens and (self.last in ";{}" or self.header or self.label)
        if started or code.startswith("}"):
            self.word = next(iter(words[1:] if words[:1] == ["else"] and len(words) > 1 else words), "")
        for c in code:
            if c == "(":
                self.parens += 1
            elif c == ")":
                self.parens -= 1
            elif c == "{":
                self.braces.append(self.last not in "=,({" or (self.last == "{" and bool(self.braces) and self.braces[-1]))
                if not self.braces[:-1] and self.last != ")":
                    self.braces[-1] = False # a struct
            elif c == "}":
                self.braces.pop()
            if not c.isspace():
                self.last = c
        self.label = code.endswith(":") and re.match(r"(case\b|default\b)", code) is not None
        self.header = not self.parens and (
            (self.last == ")" and self.word in HEADERS) or re.search(r"\b(else|do)$", code) is not None)


def statements(text):
    """(line, prefix line, its state's header, the conditions of #if around it) of each statement; lines count from 1."""
    state, kept, conditions, out, prefix, macro = State(), [], [], [], None, False
    for number, line in enumerate(text.split("\n"), 1):
        code = re.sub(r'"(\\.|[^"\\])*"', '""', line)
        code = re.sub(r"//.*|/\*.*?\*/", "", code).strip()
        directive = re.match(r"#\s*(\w+)\s*(.*)", code)
        if macro or (directive and directive.group(1) != "pragma"):
            macro = code.endswith("\\")
            word = directive.group(1) if directive else ""
            if word in ("if", "ifdef", "ifndef"):
                kept.append((state.copy(), False))
                conditions.append(f"{word} {directive.group(2)}")
            elif word in ("elif", "else"):
                before, pending = kept[-1]
                kept[-1] = (before, pending or state.header)
                state = before.copy()
                conditions[-1] = f"{conditions[-1]}; {word} {directive.group(2)}"
            elif word == "endif":
                state.header |= kept.pop()[1]
                conditions.pop()
            continue
        if not code:
            continue
        if code.startswith("#pragma unroll") or code in ("WEFT_UNROLL", "WEFT_UNROLL_ALWAYS"):
            prefix = prefix or number
            continue
        if code.startswith("#"):
            continue
        if state.starts() and not re.match(r"[{}]|else\b|case\b|default\b|_Pragma", code):
            out.append((number, prefix or number, state.header, " | ".join(conditions)))
        prefix = None
        state.take(code)
    return out


def counted(index, name, text):
    """The text of source number `index` with its statements counted."""
    lines = text.split("\n")
    assert len(lines) <= LINES_OF_FILE
    for number, prefix, header, _ in reversed(statements(text)):
        k = index * LINES_OF_FILE + number
        count = f"if (WEFT_LINE({k}), false) {{}} else " if header else f"WEFT_LINE({k}); "
        if lines[prefix - 1].lstrip().startswith("#"):
            lines[prefix - 1] = f"{count}\n{lines[prefix - 1]}\n#line {prefix + 1} \"{name}\""
        else:
            lines[prefix - 1] = count + lines[prefix - 1]
    if name == "lib/weft.clh":
        lines.insert(0, DEFINE)
    return "\n".join(lines)
