# SPDX-License-Identifier: Apache-2.0
"""What bench/lab/race says of the records of its runs: a row for each thing that was asked, a verdict for each mark."""
import math
import os

import reader
from reader import Failed, overlap

TITLES = {
    1: "transpose, best of scan, merge, auto, beside cuSPARSE's best", 2: "MergeTrans beside cuSPARSE's best",
    3: "transpose beside its floor", 4: "refill of values beside its floor",
    5: "product, CSR as given, beside cuSPARSE's CSR and COO", 6: "product, auto for 1000, beside cuSPARSE's best",
    7: "primitives beside CUB", 8: "small problems, enqueue to finish, beside cuSPARSE", 9: "processors"}
# Least geometric mean of the speedups of a mark.
MEANS = {1: 3.0, 5: 1.15, 6: 1.5}
# weft's algorithm or op: least speedup of a row; most times the floor; most time beside theirs.
LEAST = {1: 1.5, 2: 1.0, 5: 0.97, "scan": 0.95, "segsort": 0.9, "histogram": 1.0, 9: 1.0}
MOST = {3: 4.0, 4: 2.5, 8: 1.2}
AUTO_WITHIN = 1.05
MANY = 5000000  # entries from which mark 3 counts
OURS = ("auto", "scan", "merge")
CSR_OF_CUSPARSE = ("csr_alg1", "csr_alg2", "coo_alg1")


JOB = {"kind": str, "marks": list, "matrices": list, "arguments": list, "file": str, "why": str, "threads": int,
       "status": (int, type(None))}
JOB_NEEDS = {"kind", "marks", "matrices", "arguments", "file"}


def job_check(one):
    """Raises ValueError where race.json has no job."""
    if not isinstance(one, dict) or JOB_NEEDS - one.keys():
        raise ValueError("a job lacks " + ", ".join(sorted(JOB_NEEDS - set(one) if isinstance(one, dict) else JOB_NEEDS)))
    for key in one.keys() & JOB.keys():
        if not isinstance(one[key], JOB[key]):
            raise ValueError(f"{key} of a job is not what a race writes")
    if not all(isinstance(text, str) for text in one["matrices"] + one["arguments"]):
        raise ValueError("matrices and arguments of a job are no texts")
    if os.path.basename(one["file"]) != one["file"]:
        raise ValueError("the file of a job is in another folder")
    if (one["kind"] == "primitives" and len(one["arguments"]) < 2 or one["kind"] == "cub" and not one["matrices"] or
            one["kind"] == "cpu" and "threads" not in one):
        raise ValueError(f"a job of kind {one['kind']} lacks what it ran")


class Race:
    """Jobs with their records. Only a verified record has a time here."""

    def __init__(self, folder):
        try:
            meta = reader.parse(reader.file_text(os.path.join(folder, "race.json")))
            self.jobs, self.quick, self.about, self.marks = (meta[key] for key in ("jobs", "quick", "about", "marks"))
            if not (isinstance(self.jobs, list) and isinstance(self.about, dict) and isinstance(self.marks, list)):
                raise ValueError("jobs, about and marks are not what a race writes")
            for one in self.jobs:
                job_check(one)
        except (Failed, ValueError, KeyError, TypeError) as error:
            raise Failed(f"{folder} holds no race: " + (f"no {error}" if isinstance(error, KeyError) else str(error))) from error
        self.wrong, self.failed, self.skipped = [], [], {}
        if self.quick:
            for limits, stand_in in ((MEANS, 0), (LEAST, 0), (MOST, math.inf)):
                limits.update(dict.fromkeys(limits, stand_in))
        for one in self.jobs:
            one["records"] = self.read(os.path.join(folder, one["file"]))
            if one.get("status") not in (0, 1, None):
                self.failed.append(f"{one['kind']} {' '.join(one['matrices'])}: {one.get('why', '')}")

    def read(self, path):
        out = []
        if not os.path.exists(path):  # the run did not come to it
            return out
        for number, record in reader.lines(path, cut=True):  # a program may be stopped in the middle of a line
            try:
                reader.check(record, ("op", "backend", "algo"))
            except ValueError as error:
                raise Failed(f"{path}:{number}: no record: {error}") from error
            named = record["op"], record["backend"], record["algo"], record.get("type", "")
            if record.get("verified") is True and record.get("median_ms", 0) > 0:
                out.append(record)
            elif "skipped" in record:
                self.skipped[record.get("matrix"), *named[:2]] = record["skipped"]
            else:
                self.wrong.append(f"{record.get('matrix', '')}: {' '.join(named)}: {record.get('error', 'not verified')}")
        return out

    def of(self, kind):
        return [one for one in self.jobs if one["kind"] == kind]

    def best(self, records, op, backend, algos=None, key="median_ms"):
        """The fastest record, or None."""
        found = [r for r in records if r["op"] == op and r["backend"] == backend and key in r and
                 (algos is None or r["algo"] in algos)]
        return min(found, key=lambda r: r[key], default=None)

    def theirs(self, records, op, backend, algos=None, key="median_ms"):
        """The same of the other side; in a quick race of ref where it is not here."""
        found = self.best(records, op, backend, algos, key)
        return found or (self.best(records, op, "ref") if self.quick else None)


def row(mark, matrix, asked, got, good, note="", averaged=True):
    verdict = "not run" if good is None else "pass" if good else "short"
    return {"mark": mark, "matrix": matrix, "asked": asked, "got": got, "verdict": verdict, "note": note,
            "averaged": averaged and good is not None}


def reported(one):
    """The row without a limit, beside the verdict of its mark."""
    return {**one, "asked": "", "verdict": "reported", "averaged": False}


def speedup(mark, matrix, ours, theirs, least, what=""):
    """A row that asks for `least` times the speed of theirs."""
    if not ours or not theirs:
        return row(mark, matrix, what, None, None, "no verified time of " + ("weft" if not ours else "theirs"))
    value = theirs["median_ms"] / ours["median_ms"]
    names = f"{ours['algo']} {ours['median_ms']:.4g} ms, {theirs['backend']} {theirs['algo']} {theirs['median_ms']:.4g}"
    return row(mark, matrix, what + (f">= {least:g}x" if least else "any"), value, value >= least, names)


def by_matrix(race, mark, kinds):
    """(job, matrix, type, records) of what ran; rows for what did not."""
    out, missing = [], []
    for one in (j for kind in kinds for j in race.of(kind) if mark in j["marks"]):
        for matrix in one["matrices"]:
            types = {r.get("type", "f32") for r in one["records"] if r.get("matrix") == matrix}
            for kind in sorted(types):
                out.append((one, matrix, kind, [r for r in one["records"] if r.get("matrix") == matrix and
                                                r.get("type", "f32") == kind]))
            if not types and not one.get("beside"):  # f64 is reported where there is time for it
                name = matrix + (f", {one['threads']} cores" if "threads" in one else "")
                missing.append(row(mark, name, "", None, None, one.get("why") or "no record"))
    return out, missing


def judge_gpu(race, mark):
    found, missing = by_matrix(race, mark, ["gpu"])
    rows = []
    for _, matrix, kind, records in found:
        name = matrix + ("" if kind == "f32" else ", " + kind)
        if mark in (1, 2, 3):
            op, ours = "transpose", race.best(records, "transpose", "opencl", ("merge",) if mark == 2 else OURS)
        elif mark == 4:
            op, ours = "refill", race.best(records, "refill", "opencl")
        else:
            op, ours = "spmv", race.best(records, "spmv", "opencl", ("csr",) if mark == 5 else ("auto",))
        if mark in (3, 4):
            if not ours or not ours.get("roof") or "copy_gbps" not in ours:
                rows.append(row(mark, name, "", None, None, "no verified time of weft and a copy"))
            elif mark == 4 or ours.get("nnz", 0) >= MANY or race.quick:
                value, note = 1 / ours["roof"], f"{ours['algo']} {ours['median_ms']:.4g} ms, copies {ours['copy_gbps']:.0f} GB/s"
                one = row(mark, name, f"<= {MOST[mark]:g} floors", value, value <= MOST[mark], note)
                rows.append(one if kind == "f32" else reported(one))
            continue
        theirs = race.theirs(records, op, "cusparse", CSR_OF_CUSPARSE if mark == 5 else None)
        one = speedup(mark, name, ours, theirs, LEAST.get(mark, 0))
        if mark == 6 and ours and "convert_ms" in ours:
            one["note"] += f"; conversion {ours['convert_ms']:.4g} ms"
        rows.append(one if kind == "f32" else reported(one))
        auto = race.best(records, "transpose", "opencl", ("auto",))
        if mark == 1 and kind == "f32" and ours and auto:
            value = auto["median_ms"] / ours["median_ms"]
            rows.append(row(1, name, "auto <= 1.05 of best", value, race.quick or value <= AUTO_WITHIN or overlap(auto, ours),
                             f"auto {auto['median_ms']:.4g} ms, {ours['algo']} {ours['median_ms']:.4g}", False))
    return rows + missing


def judge_primitives(race):
    found, missing = by_matrix(race, 7, ["primitives"])
    rows = []
    theirs = {one["matrices"][0]: one for one in race.of("cub")}
    for one, matrix, _, records in found:
        cub = theirs.get(matrix, {"records": [], "why": "no weft-cub"})
        for op in ("scan", "segsort", "histogram"):
            ours = race.best(records, op, "opencl")
            if not ours:
                if op in one["arguments"][1].split(","):
                    rows.append(row(7, matrix, op, None, None, "no verified time of weft"))
                continue
            # The result of weft's histogram are pointers: counts with their sums.
            algos = ("even_scan",) if op == "histogram" else None
            other = race.best(cub["records"], op, "cub", algos) or (race.theirs(records, op, "cub") if race.quick else None)
            if other:
                rows.append(speedup(7, matrix, ours, other, LEAST[op], op + " "))
                counts = race.best(cub["records"], op, "cub", ("even",))
                if counts:
                    rows.append(reported(speedup(7, matrix, ours, counts, 0)))
            else:
                rows.append(row(7, matrix, op, None, None, cub.get("why") or "no verified time of CUB"))
    return rows + missing


def judge_small(race):
    found, missing = by_matrix(race, 8, ["small"])
    rows = []
    for _, matrix, _, records in found:
        for op, algos in (("transpose", OURS), ("spmv", ("csr", "auto"))):
            ours = race.best(records, op, "opencl", algos, "run_ms")
            theirs = race.best(records, op, "cusparse", None, "run_ms")
            theirs = theirs or (race.theirs(records, op, "ref") if race.quick else None)
            if not ours or not theirs:
                rows.append(row(8, matrix, op, None, None, "no verified time of " + ("weft" if not ours else "cuSPARSE")))
                continue
            value = ours["run_ms"] / theirs.get("run_ms", theirs["median_ms"])
            note = f"{ours['algo']} {ours['run_ms']:.4g} ms, {theirs['algo']} {theirs.get('run_ms', theirs['median_ms']):.4g}"
            rows.append(row(8, matrix, f"{op} <= {MOST[8]:g} of theirs", value, value <= MOST[8], note))
    return rows + missing


def judge_cpu(race):
    found, missing = by_matrix(race, 9, ["cpu"])
    rows = []
    for one, matrix, _, records in found:
        name = f"{matrix}, {one['threads']} cores"
        omp = {op: race.best(records, op, "omp") for op in ("transpose", "spmv")}
        pairs = [("transpose/omp ", race.best(records, "transpose", "opencl", OURS), omp["transpose"]),
                 ("omp/GraphBLAS ", omp["transpose"], race.best(records, "transpose", "graphblas")),
                 ("CSR/omp ", race.best(records, "spmv", "opencl", ("csr",)), omp["spmv"]),
                 ("CSR/librsb ", race.best(records, "spmv", "opencl", ("csr",)), race.best(records, "spmv", "rsb"))]
        for what, a, b in pairs:
            made = speedup(9, name, a, b, LEAST[9], what)
            why = race.skipped.get((matrix, "transpose", "graphblas")) if what.startswith("omp/") else None
            if not b and why:
                made = reported({**made, "note": "GraphBLAS: " + why})
            if made["verdict"] == "short" and overlap(a, b):  # neither is ahead
                made.update(verdict="pass", note=made["note"] + " (quartiles overlap)")
            rows.append(made)
    return rows + missing


def mean(rows):
    values = [r["got"] for r in rows if r["averaged"]]
    return reader.geometric_mean(values) if values else None


def judge(race, mark):
    """The summary of one mark."""
    rows = judge_gpu(race, mark) if mark <= 6 else judge_primitives(race) if mark == 7 else \
        judge_small(race) if mark == 8 else judge_cpu(race)
    counted = [r for r in rows if r["verdict"] != "reported"]
    ran = [r for r in counted if r["verdict"] != "not run"]
    value, asked = mean(rows), MEANS.get(mark)
    short = any(r["verdict"] == "short" for r in ran) or (asked and value and value < asked)
    verdict = "not run" if not ran else "short" if short else "pass" if len(ran) == len(counted) else "incomplete"
    return {"mark": mark, "title": TITLES[mark], "rows": rows, "mean": value, "mean_asked": asked, "verdict": verdict,
            "ran": len(ran), "passed": sum(r["verdict"] == "pass" for r in ran), "rows_counted": len(counted)}


def show(summaries, race):
    for key, value in race.about.items():
        print(f"{key}: {value}")
    for one in summaries:
        print(f"\nmark {one['mark']}: {one['title']}")
        for r in one["rows"]:
            got = "" if r["got"] is None else f"{r['got']:.2f}"
            print(f"  {r['matrix'][:38]:38} {r['asked']:26} {got:>6}  {r['verdict']:8} {r['note']}".rstrip())
        if one["mean"] is not None:
            asked = f">= {one['mean_asked']:g}x" if one["mean_asked"] else ""
            print(f"  {'geometric mean':38} {asked:26} {one['mean']:6.2f}")
    print("\n  mark  verdict     rows passed  geometric mean")
    for one in summaries:
        asked = f" of {one['mean_asked']:g}" if one["mean_asked"] else ""
        value = "" if one["mean"] is None else f"{one['mean']:.2f}{asked}"
        print(f"  {one['mark']:4}  {one['verdict']:10}  {one['passed']:4} of {one['rows_counted']:3}  {value:12}  {one['title']}")
    for text in race.wrong:
        print("WRONG " + text)
    for text in race.failed:
        print("failed " + text)
