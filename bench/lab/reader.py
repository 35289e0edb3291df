# SPDX-License-Identifier: Apache-2.0
"""What the programs that read records share: options, records and their check, Markdown, pictures, how a program ends."""
import argparse
import contextlib
import errno
import gzip
import hashlib
import json
import math
import os
import re
import signal
import sys
import zlib

ORDERS = ["regular", "row", "row-gradient", "col-gradient", "row-col", "degree", "rcm"]  # permutations of a study
SHUFFLES = ["row-entries", "row-col-entries"]  # what else a study has: they shuffle entries, and nothing predicts them


class Failed(Exception):
    """What ends a program: a line for people and an exit status."""

    def __init__(self, text, status=2):
        super().__init__(text)
        self.status = status


class Options(argparse.ArgumentParser):
    """Options that the usage in a program's doc string describes: --help prints that, an error is one line."""

    def __init__(self, doc):
        super().__init__(usage="", formatter_class=argparse.RawTextHelpFormatter)
        self.doc = doc.strip()

    def format_help(self):
        return self.doc + "\n"

    def error(self, message):
        raise Failed(message + " (--help explains)")

    def parse_args(self, args=None, namespace=None):
        """As argparse does; an empty value, which a script gives whose variable is not set, is no value left out."""
        words = sys.argv[1:] if args is None else args
        found = super().parse_args(words, namespace)
        for action in self._actions:
            values = getattr(found, action.dest, None)
            if action.default != "" and "" in (values if isinstance(values, list) else [values]):
                raise Failed(f"{(action.option_strings or [action.dest])[-1]} is empty (--help explains)")
        return found


def end(name, main):
    """Run `main` and exit with its status; what fails is one line on the standard error."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        status = main()
        if sys.stdout:
            sys.stdout.flush()
    except Failed as failure:
        print(f"{name}: {failure}", file=sys.stderr)
        status = failure.status
    except OSError as error:  # a disk that is full
        print(f"{name}: {'standard output' if error.filename is None else error.filename}: {error.strerror}", file=sys.stderr)
        with contextlib.suppress(OSError):  # what is left of the output cannot be written either
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = 2
    except ArithmeticError as error:
        print(f"{name}: the records hold numbers that nobody measured: {error}", file=sys.stderr)
        status = 2
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)


# ---- records ---------------------------------------------------------------------------------------------------

TEXTS = {"op", "backend", "algo", "device", "matrix", "type", "order", "version", "driver", "date", "command", "error",
         "skipped", "study", "device_type", "fault"}
NUMBERS = {"m", "n", "nnz", "index", "device_index", "seed", "trials", "trial_s", "noise", "median_ms", "run_ms", "b2b_ms",
           "b2b_low_ms", "b2b_high_ms", "convert_ms", "analyse_ms", "tune_ms", "gbps", "roof", "order_ms", "permute_ms", "surprises", "waste", "x_lines", "gflops_min",
           "gflops_mean", "gflops_max", "entropy_min", "entropy_mean", "entropy_max"}
ABOVE_0 = {"copy_gbps"}
NEEDED = ("op", "backend", "algo", "device")
STUDIED = ("matrix", "type", "order", "backend", "algo", "device", "version", "date", "command", "m", "n", "nnz", "seed",
           "trials", "trial_s", "verified", "entropy_min", "entropy_mean", "entropy_max")
MEASURED = ("gflops", "gflops_min", "gflops_mean", "gflops_max")


def is_number(value):
    """A number from 0 on that somebody may have measured."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e200


def check(record, needed):
    """Raises ValueError where the record lacks a key or one that is known here holds what it cannot."""
    if not isinstance(record, dict):
        raise ValueError("not an object")
    for key in needed:
        if key not in record:
            raise ValueError(f"no {key}")
    for key, value in record.items():
        if key in TEXTS and not isinstance(value, str):
            raise ValueError(f"{key} is no text")
        if (key in NUMBERS or key in ABOVE_0) and not is_number(value) or key in ABOVE_0 and not value:
            raise ValueError(f"{key} is no number " + ("above 0" if key in ABOVE_0 else "from 0 on"))
        if key == "gflops":  # of a study one for each trial
            values = value if "study" in record else [value]
            if not isinstance(values, list) or not values or not all(map(is_number, values)):
                raise ValueError(f"{key} are no numbers from 0 on")
        if key == "verified" and not isinstance(value, bool):
            raise ValueError(f"{key} is neither true nor false")


CSR_OF_CUSPARSE = ("csr_alg1", "csr_alg2", "coo_alg1", "op", "op_alg1", "op_alg2")  # what takes CSR as given, or COO


def clock(record):
    """The time that a choice goes by: the host's clock back to back; device events where nobody took it."""
    return record.get("b2b_ms") or record["median_ms"]


def preparation(record):
    """Milliseconds that are paid once: analysis, measuring of candidates, conversion."""
    return sum(record.get(key, 0) for key in ("analyse_ms", "tune_ms", "convert_ms"))


def total(record, products):
    """Milliseconds of preparing and so many products."""
    return preparation(record) + products * clock(record)


OWN = ("ref", "omp", "opencl")  # backends of weft; the others are other people's libraries


def fault(record):
    """Of a record that is not verified: "skipped"; "failed", it has no result; "wrong", it has one, or does not say."""
    return "skipped" if "skipped" in record else "failed" if record.get("fault") == "failed" else "wrong"


def held_out(pattern):
    """A third of the patterns of the population: nothing may be fitted to their times. Orders of one pattern are in one part."""
    return hashlib.sha256(re.split("[@+]", pattern)[0].encode()).digest()[0] % 3 == 0


def parse(text):
    """JSON without the numbers that JSON does not have; ValueError where it is none."""
    def refuse(word):
        raise ValueError(f"{word} is no number")
    try:
        return json.loads(text, parse_constant=refuse)
    except RecursionError:
        raise ValueError("nested too deep") from None


def file_text(path):
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, EOFError, zlib.error) as error:
        raise Failed(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    except UnicodeDecodeError as error:
        raise Failed(f"{path} is no text: {error}") from error


def is_profile(path):
    try:
        return parse(file_text(path))["schema"].startswith("weft-profile")
    except (ValueError, TypeError, KeyError, AttributeError):
        return False


def lines(path, cut=False):
    """(number, JSON) of each line of a file of JSON Lines; with `cut` the last one may have been cut off."""
    rows = file_text(path).rstrip("\n").split("\n")
    for number, line in enumerate(rows, 1):
        try:
            if line.strip():
                yield number, parse(line)
        except ValueError as error:
            if is_profile(path):
                raise Failed(f"{path} is a record of weft-bench --profile: weft-profile-table (profile_table.py) reads it") from error
            if not cut or number < len(rows):
                raise Failed(f"{path}:{number}: no record: {error}") from error


def records(paths, wanted, needed):
    """The records of all files that are `wanted`, checked."""
    out = []
    for path in paths:
        for number, record in lines(path):
            try:
                check(record, ())
                if wanted(record):
                    check(record, needed(record))
                    out.append(record)
            except ValueError as error:
                raise Failed(f"{path}:{number}: no record: {error}") from error
    return out


def studies(paths):
    """The records of studies of permutations."""
    return records(paths, lambda r: r.get("study") == "permute",
                   lambda r: STUDIED + (MEASURED if r.get("verified") else ()))


def quartiles(record):
    """Of the samples of a time, or those that are known of it."""
    if "quartiles_ms" in record:
        return record["quartiles_ms"]
    return record["median_ms"] * (1 - record.get("noise", 0) / 2), record["median_ms"] * (1 + record.get("noise", 0) / 2)


NOISE_MAX = 0.25  # BENCH_NOISE_MAX of support/stats.h


def overlap(a, b, of=quartiles):
    """Whether the quartiles of two times overlap."""
    (low, high), (other_low, other_high) = of(a), of(b)
    return low <= other_high and other_low <= high


def clock_quartiles(record):
    """Of the time that clock() gives. Records of before 2026-11-30 have none of b2b_ms: as wide as those of device events."""
    ms = clock(record)
    if record.get("b2b_ms") and "b2b_low_ms" in record and "b2b_high_ms" in record:
        return record["b2b_low_ms"], record["b2b_high_ms"]
    return ms * (1 - record.get("noise", 0) / 2), ms * (1 + record.get("noise", 0) / 2)


def geometric_mean(values):
    return math.exp(math.fsum(map(math.log, values)) / len(values))


# ---- Markdown --------------------------------------------------------------------------------------------------

def row(cells):
    return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split("\n")) for cell in cells) + " |"


def table(head, rows, left=1):
    """Lines of a table; its first `left` columns are words."""
    align = [":---"] * left + ["---:"] * (len(head) - left)
    return [row(head), row(align), *map(row, rows)]


def table_padded(head, rows, left=1):
    """The same with columns that line up."""
    widths = [max(len(cells[i]) for cells in [head, *rows]) for i in range(len(head))]
    align = [":" + "-" * (w - 1) if i < left else "-" * (w - 1) + ":" for i, w in enumerate(widths)]
    return [row([cell.ljust(widths[i]) if i < left else cell.rjust(widths[i]) for i, cell in enumerate(cells)])
            for cells in [head, align, *rows]]


def write(path, text):
    """Text to a file, or to the standard output where there is no path; what fails leaves no half of it."""
    if not path:
        print(text, end="", flush=True)
        return
    try:
        with open(path, "w", encoding="utf-8") as file:
            try:
                file.write(text)
                file.flush()
            except OSError:
                if os.path.isfile(path):
                    os.remove(path)
                raise
    except OSError as error:
        raise Failed(f"{path}: {error.strerror}") from error


# As weft-bench tells matrices, host/common/spare.c.
MATRIX_SIGNS = (b"%%matrixmarket", b"\x1f\x8b", b"pk\3\4", b"weft matrix")
MATRIX_NAMES = re.compile(r".+\.(mtx|mtx\.gz|npz|rb|weft|tar|tgz|[rcpiq][suhzr]a)|.*\.tar\..*", re.I | re.S)


def is_matrix(path):
    """Whether a file that is not empty is there and looks like a matrix, by its first bytes or its name."""
    if not os.path.isfile(path) or not os.path.getsize(path):
        return False
    try:
        with open(path, "rb") as file:
            begins = file.read(16).lower()
    except OSError:
        begins = b""
    return begins.startswith(MATRIX_SIGNS) or MATRIX_NAMES.fullmatch(os.path.basename(path)) is not None


def same_file(a, b):
    """Whether both names lead to one file, be it there or not; a device or a pipe may be read and written."""
    if os.path.exists(a) and os.path.exists(b):
        return os.path.samefile(a, b) and os.path.isfile(a)
    return os.path.realpath(a) == os.path.realpath(b)


def outputs_check(inputs=(), folder=None, names="", **options):
    """What is written at the end of a long run has its place before that begins: files, and pictures that begin with `plot`.

    No file takes the place of a matrix, of another one, of what the run reads, or of what it keeps: files of `folder` whose
    names are `names`, a regular expression."""
    taken = [path for path in inputs if path]
    for name, path in options.items():
        place, file, option = os.path.dirname(path or "") or ".", name != "plot", name if name.isupper() else "--" + name
        failed = (0 if not path else errno.EISDIR if file and os.path.isdir(path) else errno.ENOENT if not os.path.isdir(place) else
                  0 if os.access(path if file and os.path.exists(path) else place, os.W_OK) else errno.EACCES)
        if failed:
            raise Failed(f"{option} {path}: {os.strerror(failed)}")
        if not path or not file:
            continue
        real = os.path.realpath(path)
        kept = folder and os.path.dirname(real) == os.path.realpath(folder) and re.fullmatch(names, os.path.basename(real))
        if kept or any(same_file(path, other) for other in taken):
            raise Failed(f"{option} {path} cannot be written: it is an input or another output of this run; name another file")
        if is_matrix(path):
            raise Failed(f"{path} looks like a matrix, and {option} does not replace it; name another file")
        taken.append(path)


# ---- pictures --------------------------------------------------------------------------------------------------

def pyplot_get():
    """matplotlib.pyplot, told to draw files."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except (ImportError, AttributeError) as error:
        raise Failed("--plot needs matplotlib (Debian and Ubuntu: apt-get install python3-matplotlib)") from error
    matplotlib.rcParams["svg.hashsalt"] = "weft"  # the same data, the same file
    matplotlib.rcParams["svg.fonttype"] = "none"
    if "text.parse_math" in matplotlib.rcParams:
        matplotlib.rcParams["text.parse_math"] = False  # names are names
    return pyplot


def prefix_split(prefix):
    """The prefix of pictures and their ending."""
    return (prefix[:-4], ".svg") if prefix.endswith(".svg") else (prefix, ".png")


def name_of_file(text):
    """Text as a part of a file's name."""
    return re.sub("[^A-Za-z0-9_.-]", "_", text)


def frame_open(axes):
    """No frame above and on the right."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def legend_below(pyplot, owner, colours, fontsize, columns, drop=0.0):
    """A legend of {label: colour} under a figure or axes, `drop` of its height further down."""
    owner.legend(handles=[pyplot.Rectangle((0, 0), 1, 1, color=colour, label=label) for label, colour in colours.items()],
                 loc="upper center", bbox_to_anchor=(0.5, -drop), ncol=columns, fontsize=fontsize, frameon=False)


def picture_write(pyplot, figure, path, dpi):
    """The figure, with what stands below it, to a file."""
    try:
        figure.savefig(path, dpi=dpi, bbox_inches="tight", metadata={"Date": None} if path.endswith(".svg") else None)
    except OSError as error:
        raise Failed(f"{path}: {error.strerror}") from error
    finally:
        pyplot.close(figure)
