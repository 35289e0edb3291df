# SPDX-License-Identifier: Apache-2.0
"""What bench/lab/race says of the records of its runs: a row for each thing that was asked, a verdict for each mark."""
import math
import os

import reader
from reader import CSR_OF_CUSPARSE, Failed, clock, clock_quartiles, overlap

TITLES = {
    1: "transpose, auto, beside cuSPARSE's best", 2: "MergeTrans beside cuSPARSE's best",
    3: "transpose beside its floor", 4: "refill of values beside its floor",
    5: "product, CSR as given, beside cuSPARSE's CSR, COO and SpMVOp", 6: "product, auto for 1000, beside cuSPARSE's best",
    7: "primitives beside CUB", 8: "small problems beside cuSPARSE and CUB", 9: "processors",
    10: "transpose, auto, beside CUB's sort", 11: "products of random patterns, in any format", 12: "huge: 100 M entries, 64-bit offsets",
    13: "the population, held out", 14: "one call, from host to host"}
# Least geometric mean of the speedups of a mark.
MEANS = {1: 3.0, 5: 1.10, 6: 1.25, 10: 2.0}
# weft's algorithm or op: least speedup of a row; most times the floor.
LEAST = {1: 2.0, 2: 1.0, 5: 0.95, 6: 0.95, "scan": 0.95, "segsort": 0.9, "histogram": 1.0, 9: 0.95, 10: 1.2,
         "MKL": 1.0, "small cusparse": 3.0, "small cub": 1.5, "small csr": 1.0}
MOST = {3: 4.0, 4: 2.5}
# The most milliseconds: of any SpMV of f32, of a transposition of f32.
MOST_MS = {"spmv": {"uniform:100000,100000,10000000": 0.028, "uniform:500000,500000,10000000": 0.067},
           "transpose": {"uniform:8000000,8000000,100000000": 2.8}}
WIDE_MOST = 1.15  # the time of 64-bit offsets by that of 32-bit ones
# Of the population's questions: least geometric mean and least; or most in the median, of 95 % and of all.
POPULATION = {"transpose by cuSPARSE": (2.7, 1.5), "transpose by CUB": (2.0, 1.2), "csr by cuSPARSE": (1.10, 0.95),
              "auto by cuSPARSE": (1.15, 0.95)}
REGRET = (1.005, 1.10, 1.30)
AUTO_WITHIN = 1.05
MANY = 5000000  # entries from which mark 3 counts
OURS = ("auto", "scan", "merge")
COUNTS, POINTERS = ("even", "atomic"), ("even_scan", "atomic_scan")  # of CUB and CUDA: a histogram; with the sums of its counts


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
        self.wrong, self.failed, self.peers, self.skipped = [], [], [], {}
        if self.quick:
            for limits, stand_in in ((MEANS, 0), (LEAST, 0), (MOST, math.inf)):
                limits.update(dict.fromkeys(limits, stand_in))
            for limits in MOST_MS.values():
                limits.update({matrix: math.inf for one in self.jobs for matrix in one["matrices"]})
            POPULATION.update(dict.fromkeys(POPULATION, (0, 0)))
        for one in self.jobs:
            read = self.rows if one["kind"] in ("population", "calls") else self.read
            failed, peers = len(self.failed), len(self.peers)
            one["records"] = read(os.path.join(folder, one["file"]))
            # Status 3 says that a line failed. Where only other libraries' did, that is no fault of a run; population and calls know.
            told = one["kind"] not in ("population", "calls") and one.get("status") == 3 and len(self.failed) == failed and len(self.peers) > peers
            if one.get("status") not in (0, 1, None) and not told:
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
                continue
            said = f"{record.get('matrix', '')}: {' '.join(named)}: {record.get('error', 'not verified')}"
            fault, key = reader.fault(record), (record.get("matrix"), *named[:2])
            if fault == "skipped":
                self.skipped.setdefault(key, f"{named[2]}: {record['skipped']}")
            elif fault == "wrong":
                self.wrong.append(said)
            elif record["backend"] in reader.OWN:
                self.failed.append(said)
            else:
                self.peers.append(said)
                self.skipped[key] = f"{named[2]} failed: {record.get('error', '')}"
        return out

    def rows(self, path):
        """What population and calls said: a dictionary for each row."""
        if not os.path.exists(path):
            return []
        try:
            made = reader.parse(reader.file_text(path))
            rows, wrong, peers = made["rows"], made["wrong"], made.get("peers", [])
            self.failed += made.get("failed", [])
            for one in rows:
                reader.check(one, ("matrix", "verdict"))
            about = made.get("about", {})
            # What older ones leave without a row.
            late, patterns = about.get("left_out", []), [p[1] for p in about.get("patterns", [])]
            there = {(r["question"], r["matrix"]) for r in rows if "question" in r}
            rows = rows + [{"question": name, "matrix": matrix, "value": None, "verdict": "not run",
                            "note": "out of time" if matrix in late else "no row"}
                           for name in dict.fromkeys(name for name, _ in there) for matrix in patterns if (name, matrix) not in there]
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise Failed(f"{path} holds no rows: {error}") from error
        self.wrong += wrong
        self.peers += peers
        return rows

    def of(self, kind):
        return [one for one in self.jobs if one["kind"] == kind]

    def best(self, records, op, backend, algos=None):
        """The fastest record by the host's clock, or None."""
        found = [r for r in records if r["op"] == op and r["backend"] == backend and (algos is None or r["algo"] in algos)]
        return min(found, key=clock, default=None)

    def theirs(self, records, op, backend, algos=None):
        """The same of the other side; in a quick race of ref where it is not here."""
        found = self.best(records, op, backend, algos)
        return found or (self.best(records, op, "ref") if self.quick else None)


def why_not(race, records, op, backend):
    """Why the other side has no time on the matrix of these records, as far as they say."""
    matrix = next((r.get("matrix") for r in records), None)
    return race.skipped.get((matrix, op, backend), "")


def times(record):
    """The host's clock, and device events where they say something else."""
    both = f" (events {record['median_ms']:.4g})" if clock(record) != record["median_ms"] else ""
    return f"{record['algo']} {clock(record):.4g} ms{both}"


def row(mark, matrix, asked, got, good, note="", averaged=True):
    """good: None where it did not run, a verdict, or whether it passes."""
    verdict = "not run" if good is None else good if isinstance(good, str) else "pass" if good else "short"
    return {"mark": mark, "matrix": matrix, "asked": asked, "got": got, "verdict": verdict, "note": note,
            "averaged": averaged and good is not None}


def reported(one):
    """The row without a limit, beside the verdict of its mark."""
    return {**one, "asked": "", "verdict": "reported", "averaged": False}


def speedup(mark, matrix, ours, theirs, least, what="", why=""):
    """A row that asks for `least` times the speed of theirs; why: what is known of a time that is missing there."""
    if not ours or not theirs:
        why = f" ({why})" if why and ours else ""
        return row(mark, matrix, what, None, None, "no verified time of " + ("weft" if not ours else "theirs") + why)
    value = clock(theirs) / clock(ours)
    names = f"{times(ours)}, {theirs['backend']} {times(theirs)}"
    return row(mark, matrix, what + (f">= {least:g}x" if least else "any"), value, value >= least, names)


def prepared(race, mark, matrix, records, ours, backend, algos, what=""):
    """A row beside the verdicts: the same with what is paid once, and as many products as the plan was made for. None: no times."""
    theirs = [r for r in records if r["op"] == "spmv" and r["backend"] == backend and (algos is None or r["algo"] in algos)]
    if not ours or not theirs:
        return []
    count = ours.get("products", 1)
    other = min(theirs, key=lambda r: reader.total(r, count))
    a, b = reader.total(ours, count), reader.total(other, count)
    note = f"{what}prepared, {count:.0f} products: {ours['algo']} {a:.4g} ms, {other['backend']} {other['algo']} {b:.4g} ms"
    return [reported(row(mark, matrix, "", b / a, True, note))]


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


def beside_floor(race, mark, name, ours):
    """A row of marks 3 and 4, or None where nothing is asked. The floor is one of device events."""
    if not ours or not ours.get("roof") or "copy_gbps" not in ours:
        return row(mark, name, "", None, None, "no verified time of weft and a copy")
    if mark == 3 and ours.get("nnz", 0) < MANY and not race.quick:
        return None
    value, note = 1 / ours["roof"], f"{times(ours)}, copies {ours['copy_gbps']:.0f} GB/s"
    return row(mark, name, f"<= {MOST[mark]:g} floors", value, value <= MOST[mark], note)


# mark: operation, our algorithms, their backend and algorithms
BESIDE = {1: ("transpose", ("auto",), "cusparse", None), 2: ("transpose", ("merge",), "cusparse", None),
          3: ("transpose", OURS, None, None), 4: ("refill", None, None, None),
          5: ("spmv", ("csr",), "cusparse", CSR_OF_CUSPARSE), 6: ("spmv", ("auto",), "cusparse", None),
          10: ("transpose", ("auto",), "cub", None)}


def judge_gpu(race, mark):
    found, missing = by_matrix(race, mark, ["gpu"])
    op, algos, backend, their_algos = BESIDE[mark]
    rows = []
    for _, matrix, kind, records in found:
        name = matrix + ("" if kind == "f32" else ", " + kind)
        ours = race.best(records, op, "opencl", algos)
        if not backend:
            one = beside_floor(race, mark, name, ours)
            rows += [] if not one else [one] if kind == "f32" else [reported(one)]
            continue
        one = speedup(mark, name, ours, race.theirs(records, op, backend, their_algos), LEAST[mark], "",
                      why_not(race, records, op, backend))
        if mark == 6 and ours and "convert_ms" in ours:
            one["note"] += f"; conversion {ours['convert_ms']:.4g} ms"
        rows.append(one if kind == "f32" else reported(one))
        if mark == 6:
            rows += prepared(race, mark, name, records, ours, backend, their_algos)
        best = race.best(records, op, "opencl", OURS)
        if mark == 1 and kind == "f32" and ours and best:
            value = clock(ours) / clock(best)
            good = "pass" if race.quick or value <= AUTO_WITHIN else "unclear" if overlap(ours, best, clock_quartiles) else "short"
            rows.append(row(1, name, "auto <= 1.05 of best", value, good, f"{times(ours)}, {times(best)}", False))
    return rows + missing


def most_ms(race, mark, op, algos=None):
    """Rows of MOST_MS: the fastest of ours, in milliseconds."""
    found, missing = by_matrix(race, mark, ["gpu"])
    rows = []
    for _, matrix, kind, records in found:
        most = MOST_MS[op].get(matrix)
        if most is None or kind != "f32":
            continue
        ours = race.best(records, op, "opencl", algos)
        rows.append(row(mark, matrix, f"<= {most:g} ms", clock(ours), clock(ours) <= most, times(ours), False) if ours else
                    row(mark, matrix, f"<= {most:g} ms", None, None, "no verified time of weft"))
    return rows + [r for r in missing if r["matrix"] in MOST_MS[op]]


def judge_huge(race):
    rows = most_ms(race, 12, "transpose", ("auto",))
    narrow = [r for one in race.of("gpu") for r in one["records"] if r.get("type", "f32") == "f32"]
    for one in race.of("wide"):
        for matrix in one["matrices"]:
            auto = {width: race.best([r for r in records if r.get("matrix") == matrix], "transpose", "opencl", ("auto",))
                    for width, records in ((32, narrow), (64, one["records"]))}
            if not all(auto.values()):
                rows.append(row(12, matrix, "64-bit offsets", None, None, one.get("why") or "no verified time of both widths"))
                continue
            value = clock(auto[64]) / clock(auto[32])
            rows.append(row(12, matrix, f"64-bit <= {WIDE_MOST:g} of 32-bit", value, race.quick or value <= WIDE_MOST,
                            f"{times(auto[64])}, {times(auto[32])}", False))
    return rows


def reasons(rows):
    """Why rows were not run, the most frequent reason first: "12 out of time, 2 weft: csr: no memory (block:9,9,9)"."""
    found = {}
    for r in rows:
        found.setdefault(r["note"], []).append(r["matrix"])
    told = sorted(found.items(), key=lambda item: -len(item[1]))
    return ", ".join(f"{len(of)} {why}" + (f" ({of[0]})" if len(of) == 1 else "") for why, of in told)


def asked_of_population(one):
    """{question: its rows} of a run of population, those too that are asked by a mark and have none."""
    found = {name: [] for name in POPULATION}
    found |= {} if any(r["question"].startswith("regret") for r in one["records"]) else {"regret": []}
    for r in one["records"]:
        found.setdefault(r["question"], []).append(r)
    return found


def judge_question(race, question, of):
    """Rows of a question of the population; `of` has the patterns that were not run too."""
    ran = sorted((r for r in of if r["verdict"] != "not run"), key=lambda r: r["value"])
    name, values, rows = f"{question} ({len(ran)} of {len(of)})", [r["value"] for r in ran], []
    limits = POPULATION.get(question)
    if values and limits:
        value = reader.geometric_mean(values)
        rows.append(row(13, name, f"mean >= {limits[0]:g}", value, value >= limits[0], "", False))
        rows.append(row(13, name, f"least >= {limits[1]:g}", values[0], values[0] >= limits[1],
                        f"{ran[0]['matrix']}: {ran[0]['note']}", False))
    elif values and question.startswith("regret"):
        for what, share, most in zip(("median", "95 %", "most"), (0.5, 0.95, 1.0), REGRET):
            worst = ran[max(0, math.ceil(share * len(ran)) - 1)]
            rows.append(row(13, name, f"{what} <= {most:g}", worst["value"], race.quick or worst["value"] <= most,
                            f"{worst['matrix']}: {worst['note']}", False))
    elif values:
        return [reported(row(13, name, "", reader.geometric_mean(values), True, "geometric mean"))]
    if (len(ran) < len(of) or not of) and (limits or question.startswith("regret")):
        rows.append(row(13, name, "every pattern", None, None, reasons([r for r in of if r["verdict"] == "not run"]) or "no rows"))
    return rows


def judge_population(race):
    rows = []
    for one in race.of("population"):
        if not one["records"]:
            rows.append(row(13, "held out", "", None, None, one.get("why") or "no rows"))
            continue
        for name, of in asked_of_population(one).items():
            rows += judge_question(race, name, of)
    return rows


def judge_calls(race):
    rows = []
    for one in race.of("calls"):
        if not one["records"]:
            rows.append(row(14, "calls", "", None, None, one.get("why") or "no rows"))
        for r in one["records"]:
            theirs = next((value for key, value in r.items() if key.endswith("_ms")), None)
            ran = r["verdict"] in ("pass", "short") and r["times"] is not None
            rows.append(row(14, f"{r['op']} {r['matrix']}", r["asked"], r["times"], r["verdict"] == "pass" if ran else None,
                            f"{r['ms']:.4g} ms, theirs {theirs:.4g}" if ran else "no verified time of both", False))
    return rows


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
            # The result of weft's histogram are pointers: counts with their sums, by CUB's histogram or by atomics.
            algos = POINTERS if op == "histogram" else None
            other = race.best(cub["records"], op, "cub", algos) or (race.theirs(records, op, "cub") if race.quick else None)
            if other:
                rows.append(speedup(7, matrix, ours, other, LEAST[op], op + " "))
                counts = race.best(cub["records"], op, "cub", COUNTS)
                if counts:
                    rows.append(reported(speedup(7, matrix, ours, counts, 0)))
            else:
                why = why_not(race, cub["records"], op, "cub") or race.skipped.get((matrix, op, "cub"), "")
                rows.append(row(7, matrix, op, None, None, cub.get("why") or why or "no verified time of CUB"))
    # A mean over different primitives would let one make up for another.
    for op in ("scan", "segsort", "histogram"):
        values = [r["got"] for r in rows if r["averaged"] and r["asked"].startswith(op)]
        if values:
            value = reader.geometric_mean(values)
            rows.append(row(7, f"mean of {len(values)}", f"{op} >= {LEAST[op]:g}x", value, value >= LEAST[op], "", False))
    return rows + missing


def judge_small(race):
    found, missing = by_matrix(race, 8, ["small", "files"])
    rows = []
    for one, matrix, _, records in found:
        if one["kind"] == "files":
            ours, theirs = race.best(records, "spmv", "opencl", ("csr",)), race.theirs(records, "spmv", "cusparse", CSR_OF_CUSPARSE)
            rows.append(speedup(8, matrix, ours, theirs, LEAST["small csr"], "csr ", why_not(race, records, "spmv", "cusparse")))
            rows += prepared(race, 8, matrix, records, ours, "cusparse", CSR_OF_CUSPARSE, "csr, ")
            continue
        ours = race.best(records, "transpose", "opencl", ("auto",))
        for backend in ("cusparse", "cub"):
            rows.append(speedup(8, matrix, ours, race.theirs(records, "transpose", backend), LEAST["small " + backend], "transpose ",
                                why_not(race, records, "transpose", backend)))
        csr = race.best(records, "spmv", "opencl", ("csr",))
        rows.append(speedup(8, matrix, csr, race.theirs(records, "spmv", "cusparse", CSR_OF_CUSPARSE), LEAST["small csr"], "csr ",
                            why_not(race, records, "spmv", "cusparse")))
        rows += prepared(race, 8, matrix, records, csr, "cusparse", CSR_OF_CUSPARSE, "csr, ")
    return rows + missing


def judge_cpu(race):
    found, missing = by_matrix(race, 9, ["cpu"])
    rows = []
    for one, matrix, _, records in found:
        name = f"{matrix}, {one['threads']} cores"
        omp = {op: race.best(records, op, "omp") for op in ("transpose", "spmv")}
        # What users call is auto; the best of several names would be a choice that nobody makes.
        own = {name: race.best(records, op, "opencl", (algo,)) for name, op, algo in (
            ("transpose", "transpose", "auto"), ("csr", "spmv", "csr"), ("auto", "spmv", "auto"))}
        pairs = [("transpose auto/omp ", own["transpose"], omp["transpose"], ("transpose", "omp")),
                 ("omp/GraphBLAS ", omp["transpose"], race.best(records, "transpose", "graphblas"), ("transpose", "graphblas")),
                 ("csr/omp ", own["csr"], omp["spmv"], ("spmv", "omp")),
                 ("csr/librsb ", own["csr"], race.best(records, "spmv", "rsb"), ("spmv", "rsb"))]
        if any(r["backend"] == "mkl" for r in records):
            pairs += [("transpose auto/MKL ", own["transpose"], race.best(records, "transpose", "mkl"), ("transpose", "mkl")),
                      ("auto/MKL ", own["auto"], race.best(records, "spmv", "mkl"), ("spmv", "mkl"))]
        for what, a, b, of in pairs:
            why = race.skipped.get((matrix, *of), "")
            made = speedup(9, name, a, b, LEAST["MKL"] if "MKL" in what else LEAST[9], what, why)
            if not b and why and what.startswith("omp/"):
                made = reported({**made, "note": "GraphBLAS: " + why})
            if made["verdict"] == "short" and overlap(a, b, clock_quartiles):
                made.update(verdict="unclear", note=made["note"] + " (quartiles overlap)")
            rows.append(made)
    return rows + missing


def mean(rows):
    values = [r["got"] for r in rows if r["averaged"]]
    return reader.geometric_mean(values) if values else None


def judge(race, mark):
    """The summary of one mark."""
    others = {7: judge_primitives, 8: judge_small, 9: judge_cpu, 12: judge_huge, 13: judge_population, 14: judge_calls}
    rows = judge_gpu(race, mark) if mark in BESIDE else most_ms(race, mark, "spmv") if mark == 11 else others[mark](race)
    counted = [r for r in rows if r["verdict"] != "reported"]
    ran = [r for r in counted if r["verdict"] != "not run"]
    value, asked = mean(rows), MEANS.get(mark)
    short = any(r["verdict"] == "short" for r in ran) or (asked and value and value < asked)
    unclear = any(r["verdict"] == "unclear" for r in ran)
    verdict = "not run" if not ran else "short" if short else "unclear" if unclear else "pass" if len(ran) == len(counted) else "incomplete"
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
    for text in race.peers:
        print("not run " + text)
