#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/lab/seeds: each table in its short form has its rows and numbers, and what it refuses; the page that
bench/lab/portability.py writes is that of its records. Output is TAP."""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import done, ok  # noqa: E402

BENCH = os.path.abspath(sys.argv[1])
SEEDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "lab", "seeds")


def seeds(folder, *args):
    out = subprocess.run([sys.executable, SEEDS, *args, "--bench", BENCH, "--out", os.path.join(folder, args[0])],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=280, check=False)
    return out.returncode, out.stdout, out.stderr


def rows(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


def test_article(folder):
    code, text, err = seeds(folder, "article", "--quick")
    ok(code == 0 and text.count("### 256 x 256") == 2 and text.count("hybrid of width 32") == 2, "both densities", code, err[-500:], text)
    found = {row[0]: row for row in rows(text.split("###")[1])}
    ok(found["dense"][1] == "0.25" and abs(float(found["CPU CSR, one core"][1]) - (257 * 4 + 13107 * 8) / 2**20) < 1e-4 and
       abs(float(found["CPU COO, one core"][1]) - 13107 * 12 / 2**20) < 1e-4, "storage of dense, CSR and COO", found)
    names = ["CPU COO, one core", "CPU CSR, one core", "CSR", "ELL", "hybrid, rest on the device", "hybrid, rest on the host"]
    ok(all(name in found and float(found[name][4]) >= 99 * float(found[name][3]) > 0 for name in names),
       "a conversion and a hundred products take a hundred products at least", found)
    ok(found["CPU CSR, one core"][5] == "1" and float(found["ELL"][1]) > 0.05, "beside CPU CSR", found)
    # 32 of the 51 entries that a row has on average lie in the ELL part: the rest is COO, 12 bytes each.
    ell, rest = 256 * 32 * 8 / 2**20, (13107 - 256 * 32) * 12 / 2**20
    ok(abs(float(found["hybrid, rest on the device"][1]) - ell - rest) < 0.2 * (ell + rest), "the hybrid is as wide as asked",
       found["hybrid, rest on the device"], ell + rest)


def test_blocks(folder):
    code, text, err = seeds(folder, "blocks", "--quick", "-d", "0")
    ok(code == 0 and [t for t in re.findall(r"^### (.*?):", text, re.M)] ==
       ["segmented sort (figure 7)", "merge small (figure 9)", "index to pointers (figure 11)", "pointers to index (figure 13)",
        "prefix sum, three launches", "prefix sum, chained"], "a table of each figure", code, err[-500:], text)
    sort = rows(text.split("###")[1])
    ok(len(sort) > 3 and sum(cell.endswith("*") for _, cell, _ in sort) == 1 and
       [int(row[0]) for row in sort[2:]] == sorted(int(row[0]) for row in sort[2:]), "sizes ascend, one is the fastest", sort)


    path = os.path.join(folder, "blocks", "blocks-segsort-blocks.json")
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    with open(path, "w", encoding="utf-8") as file:  # as a run that was killed leaves it
        file.write("\n".join(lines[:4]) + "\n" + lines[4][:50])
    code, again, err = seeds(folder, "blocks", "--from", os.path.join(folder, "blocks"))
    ok(code == 0 and "over after 4 points" in again and again.split("### merge")[1] == text.split("### merge")[1],
       "records that were cut off", code, err, again)
    with open(path, "w", encoding="utf-8") as file:  # as on a GPU, where a value stays where it is
        for tune, ms in ("bits=8,wg=256,ipt=4", 2), ("bits=8,wg=128,ipt=8", 3), ("bits=8,wg=256,ipt=8", 1):
            file.write(json.dumps({**json.loads(lines[0]), "tune": tune, "median_ms": ms}) + "\n")
    text = seeds(folder, "blocks", "--from", os.path.join(folder, "blocks"))[1]
    ok(rows(text.split("###")[1])[2:] == [["128", "3", "bits=8,ipt=8"], ["256", "1 *", "bits=8,ipt=8"]], "by work-groups", text)
    code, text, err = seeds(folder, "blocks", "--quick", "-d", "0", "--time", "0.001")
    ok(code == 0 and text.count("over after 0 points") == 6 and "| wg" not in text, "nothing is measured when the time is over", code, err[-500:], text)


def test_randomization(folder):
    code, text, err = seeds(folder, "randomization", "--quick", "--backends", "ref", "--matrices", "power:60,50,700")
    ok(code == 2 and "no such matrix" in err, "a matrix that is not there", code, err)
    os.environ["WEFT_MATRICES"] = folder
    code, text, err = seeds(folder, "randomization", "--quick", "--backends", "ref", "--kernels", "coo")
    ok(code == 0 and "row-entries | row-col-entries" in text and "ref coo" in text and "ref csr" not in text and
       text.count("not at hand: ") == 4, "every order, the chosen kernel, and what is not at hand", code, err[-500:], text)


def test_usage(folder):
    for args, want in [(["nothing"], "invalid choice"), (["article", "--bogus"], "--bogus"), (["blocks", "--quick", "-d", "99"], "status"),
                       (["blocks", "--time", "-1"], "--time"), (["blocks", "--from", "/nonexistent"], "/nonexistent holds no records"), (["article", "--from", folder], "--from"),
                       (["blocks", "--time", "nan"], "--time is"), (["blocks", "--reps", "0"], "--reps are"),
                       (["article", "-o", "/nonexistent/x"], "seeds: --output /nonexistent/x: No such"), (["article", "-d", ""], "--device is empty"),
                       (["article", "-o", os.path.join(folder, "article", "article-20.json")], "article-20.json cannot be written: it is an input or")]:
        code, _, err = seeds(folder, *args)
        ok(code in (2, 3) and want in err and "Traceback" not in err, "usage: " + " ".join(args), code, err)


def test_portability(folder):
    lab = os.path.dirname(SEEDS)
    results = os.path.join(lab, "..", "..", "docs", "results", "portability")
    page = os.path.join(folder, "page.md")

    def written(records):
        out = subprocess.run([sys.executable, os.path.join(lab, "portability.py"), records, page], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, check=False)
        return out.returncode, out.stdout
    code, text = written(results + ".jsonl")
    with open(page, encoding="utf-8") as new, open(results + ".md", encoding="utf-8") as old:
        ok(code == 0 and new.read() == old.read(), "docs/results/portability.md is that of its records (portability.py writes it)", code, text)
    records = os.path.join(folder, "records.jsonl")
    good = '{"host": "a", "state": "%s", "text": "%s", "executed": "here", "date": "2026-01-02"}\n'
    with open(records, "w", encoding="utf-8") as file:
        file.write(good % ("failed", "first") + good % ("passed", "last"))
    code, text = written(records)
    with open(page, encoding="utf-8") as file:
        found = file.read()
    ok(code == 0 and "| a |  | passed | last | - | here | 2026-01-02 |" in found and "first" not in found, "the last record counts", found)
    out = subprocess.run([sys.executable, os.path.join(lab, "portability.py"), records, records], stderr=subprocess.PIPE, text=True, check=False)
    ok(out.returncode == 2 and "it is an input" in out.stderr and "first" in open(records, encoding="utf-8").read(), "a page in the place of the records", out.stderr)
    with open(records, "w", encoding="utf-8") as file:
        file.write(good % ("great", "x"))
    code, text = written(records)
    ok(code == 2 and "records.jsonl:1" in text and text.count("\n") == 1, "no such state", code, text)


def main():
    os.environ.pop("WEFT_DEVICE", None)
    with tempfile.TemporaryDirectory() as folder:
        test_article(folder)
        test_blocks(folder)
        test_randomization(folder)
        test_usage(folder)
        test_portability(folder)
    return done()


sys.exit(main())
