#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py OUT REPORT.html REPORT.css REPORT.js...: the report's page as C text before and after the record."""
import sys


def quote(text):
    lines = text.replace("\\", "\\\\").replace('"', '\\"').splitlines(keepends=True)
    return "\n".join('    "' + line.replace("\n", "\\n") + '"' for line in lines)


def main():
    out = sys.argv[1]
    page, css, *js = (open(path, encoding="utf-8").read().rstrip("\n") for path in sys.argv[2:])
    head, tail = page.replace("@CSS@", css).split("@RECORD@")
    tail = tail.replace("@JS@", "\n".join(js)) + "\n"
    with open(out, "w", encoding="utf-8") as file:
        file.write('// Made by profile/embed.py.\n#include "profile/html.h"\n\nconst char *const profile_html_head =\n'
                   + quote(head) + ";\nconst char *const profile_html_tail =\n" + quote(tail) + ";\n")


main()
