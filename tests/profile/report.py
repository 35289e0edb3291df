#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report.py HTML [browser]: the report that HTML (the program of html.c) makes of records, as text; with `browser` in
Chromium. Output is TAP."""
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
import example  # noqa: E402
from tap import done, ok, skip  # noqa: E402

HOSTILE = ("</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> <!-- ]]> &lt; "
           "' \" \\ \u2028 \u00e9 \U0001f600 \x01 \t%s%n")


class Page(html.parser.HTMLParser):
    """Elements of a page, its attributes that fetch, and the text of its scripts and styles by id or name."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.fetches, self.ids, self.texts, self.open = {}, [], [], {}, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.elements[tag] = self.elements.get(tag, 0) + 1
        self.fetches += [attrs[a] for a in ("src", "href", "action", "data", "srcset") if a in attrs]
        self.ids += [attrs["id"]] if "id" in attrs else []
        if tag not in ("meta", "link"):
            self.open.append((tag, attrs.get("id", tag)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop()[0] != tag:
            self.texts["unbalanced"] = tag

    def handle_data(self, data):
        name = self.open[-1][1] if self.open else "outside"
        self.texts[name] = self.texts.get(name, "") + data


def report(program, record):
    made = subprocess.run([program], input=json.dumps(record).encode(), stdout=subprocess.PIPE, check=False, timeout=60)
    ok(made.returncode == 0, "a report is made")
    return made.stdout.decode()


def hostile(value, key=""):
    """The record with every text replaced, but for what the report looks names up by."""
    if isinstance(value, dict):
        return {k if key != "items" else k + HOSTILE: hostile(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [hostile(v, key) for v in value]
    return HOSTILE if isinstance(value, str) and key not in ("schema", "kind", "phase", "section") else value


def test_text(program):
    plain = report(program, example.document())
    page = Page(plain)
    urls = re.findall(r"\w+://[^\s\"'<>]*", plain)
    ok(urls == ["http://www.w3.org/2000/svg"], "no address but the name of SVG's elements", urls)
    ok(page.fetches == ["data:,"] and not re.search(r"@import|url\((?!#)|fetch\(|XMLHttpRequest|WebSocket|import\(", plain),
       "nothing is fetched", page.fetches)
    ok(re.search(r"Content-Security-Policy. content=.default-src 'none';", plain), "and the page forbids it")
    ok(json.loads(page.texts["record"]) == example.document(), "the record inside is the one that was given")
    ok("unbalanced" not in page.texts and not page.open, "elements are closed", page.texts.get("unbalanced"), page.open)
    ok(len(set(page.ids)) == len(page.ids) and "@" not in re.sub(r"@media", "", page.texts["style"]), "ids are single, places filled")
    for form in ("prefers-color-scheme: dark", "@media print", 'lang="en"', "<noscript>"):
        ok(form in plain, "has " + form)

    bad = hostile(example.document())
    page_bad = Page(report(program, bad))
    ok(page_bad.elements == page.elements and page_bad.ids == page.ids, "names make no elements",
       page_bad.elements, page.elements)
    ok(json.loads(page_bad.texts["record"]) == bad, "and come back as they were")

    for name, record in [("no runs", {"schema": "weft-profile-1", "devices": [], "runs": []}), ("an empty one", {})]:
        ok(json.loads(Page(report(program, record)).texts["record"]) == record, "a record with " + name)
    made = subprocess.run([program], input=b"{", stdout=subprocess.PIPE, check=False, timeout=60)
    ok(made.returncode == 2 and not made.stdout, "what is no record gives no report")


def dom_of(browser, folder, text, name):
    """The page after its script ran, and what the browser complained about."""
    path = os.path.join(folder, name + ".html")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    ran = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000",
                          "--user-data-dir=" + os.path.join(folder, "profile"), "--enable-logging=stderr", "--v=0",
                          "--dump-dom", "file://" + path], capture_output=True, text=True, check=False, timeout=120)
    return ran.stdout, [line for line in ran.stderr.splitlines() if "CONSOLE" in line]


def test_browser(program):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not browser:
        skip("no Chromium here")
        return
    with tempfile.TemporaryDirectory() as folder:
        record = example.document()
        dom, complaints = dom_of(browser, folder, report(program, record), "plain")
        ok(not complaints, "the script runs without a complaint", *complaints)
        ok(all(f'id="run-{i + 1}"' in dom for i in range(len(record["runs"]))), "each run has a section")
        ok("spmv_csr_merge" in dom and "row 3: 1.5 where 2.5 was expected" in dom and "power_cap" in dom and
           "not asked for: WEFT_COUNTERS=dram" in dom, "kernels, errors, counters and reasons are shown")
        labels = re.findall(r'aria-label="([^"]*)"', dom)
        ok({"phases of each run, stacked", "bytes across the bus against the least possible", "roofline",
            "bandwidth against the measured ceilings", "timeline of one repetition",
            "time of each kernel, with its spread"} <= set(labels), "every plot is drawn", labels)
        ok("NaN" not in dom.split('id="record"')[0] and "undefined" not in dom.split('id="record"')[0],
           "and no number is missing in one")
        dom, complaints = dom_of(browser, folder, report(program, hostile(record)), "hostile")
        ok(not complaints and "<title>owned" not in dom and "<img" not in dom.split('id="record"')[0],
           "names do nothing", *complaints)
        for name, empty in [("none", {}), ("bare", {"runs": [{"phases": []}], "devices": []})]:
            _, complaints = dom_of(browser, folder, report(program, empty), name)
            ok(not complaints, "a record with hardly anything: " + name, *complaints)


def main():
    if sys.argv[2:] == ["browser"]:
        test_browser(sys.argv[1])
    else:
        test_text(sys.argv[1])
    return done()


sys.exit(main())
