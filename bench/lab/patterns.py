# SPDX-License-Identifier: Apache-2.0
"""The patterns of bench/lab/population: a fixed list, a third of it held out, or drawn at random from the same families."""
import itertools
import math
import random
import re

from reader import Failed, held_out

K, M = 1000, 1000000

# family: patterns from small to large. What comes behind @ is the number of entries where the numbers do not say it.
FAMILIES = {
    "uniform": [f"uniform:{rows},{rows},{rows * each}" for rows, each in (
        (1000, 3), (1000, 100), (10 * K, 1), (10 * K, 30), (30 * K, 10), (100 * K, 3), (3000, 1000), (100 * K, 30), (300 * K, 7),
        (30 * K, 300), (M, 5), (3 * M, 2), (M, 20), (300 * K, 100), (100 * K, 1000), (10 * M, 10), (150 * K, 50))],
    "hypersparse": ["uniform:1M,1M,3k", "uniform:1M,1M,100k", "uniform:10M,10M,1M", "uniform:20M,20M,5M"],
    "tall": ["uniform:100k,100,300k", "uniform:1M,10,1M", "uniform:3M,1k,6M", "uniform:5M,300,20M",
             "uniform:200k,30k,6M", "uniform:600k,50k,6M"],
    "wide": ["uniform:100,100k,300k", "uniform:10,1M,1M", "uniform:1k,3M,6M", "uniform:300,5M,20M"],
    "long": ["uniform:25,100k,250k", "uniform:50,300k,1M", "uniform:100,1M,1M", "uniform:64,2M,8M"],
    "power": ["power:3k,3k,20k", "power:30k,30k,200k", "power:300k,100k,1M", "power:100k,300k,1M", "power:500k,500k,4M",
              "power:2M,2M,10M", "power:1M,1M,30M"],
    "rmat": ["rmat:4k,40k", "rmat:60k,500k", "rmat:130k,2M", "rmat:1M,8M", "rmat:1M,8M+shuffled", "rmat:4M,30M"],
    "web": ["web:10k,100k", "web:50k,500k", "web:100k,3M", "web:300k,3M", "web:1M,10M", "web:3M,30M"],
    "block": ["block:10k,100k,3", "block:30k,1M,6", "block:100k,3M,4", "block:300k,6M,3", "block:100k,10M,16", "block:1M,20M,8"],
    "kkt": ["kkt:5k,30k", "kkt:50k,300k", "kkt:300k,2M", "kkt:1M,6M", "kkt:300k,2M+shuffled", "kkt:3M,20M"],
    "circuit": ["circuit:4k,20k", "circuit:40k,200k", "circuit:200k,1M", "circuit:1M,5M", "circuit:1M,5M+shuffled",
                "circuit:4M,20M"],
    "lp": ["lp:2k,10k,60k", "lp:10k,100k,500k", "lp:100k,150k,1M", "lp:50k,1M,4M", "lp:500k,800k,4M", "lp:1M,4M,15M"],
    "arrow": ["arrow:10k,1@40k", "arrow:100k,2@600k", "arrow:300k,10@7M", "arrow:1M,3@8M"],
    "rows": ["rows:10k,10k,100k,2", "rows:100k,100k,1M,5", "rows:300k,300k,3M,100", "rows:1M,1M,10M,10", "rows:1M,1M,10M,3000"],
    "cols": ["cols:10k,10k,100k,2", "cols:100k,100k,1M,5", "cols:300k,300k,3M,100", "cols:1M,1M,10M,10", "cols:1M,1M,10M,3000"],
    "dense": ["dense:100,100", "dense:1k,1k", "dense:300,10k", "dense:10k,300", "dense:3k,3k", "dense:5k,5k"],
    "band": ["band:3k,7", "band:30k,31", "band:300k,3", "band:100k,101", "band:1M,9", "band:5M,5", "band:300k,75"],
    "stencil": ["stencil5:100@50k", "stencil5:500@1250k", "stencil27:40@1600k", "stencil5:1500@11M", "stencil27:80@13M",
                "stencil27:100@26M"],
    "grid7": ["stencil7:20@54k", "stencil7:55@1150k", "stencil7:110@9M", "stencil7:160@28M"],
    "fem": ["fem:8,3@96k", "fem:12,6@1400k", "fem:22,3@2400k", "fem:35,3@9800k", "fem:30,4@11M", "fem:25,6@14M", "fem:46,3@22M"],
    "near": ["near:10k,100k,200", "near:100k,500k,3k", "near:80k,2M,500", "near:400k,8M,2k", "near:400k,8M,50k", "near:80k,8M,600",
             "near:1M,6M,30"],
    "shuffled": ["stencil5:100+shuffled@50k", "stencil5:500+shuffled@1250k", "stencil27:40+shuffled@1600k",
                 "band:300k,9+shuffled@2700k", "stencil5:1500+shuffled@11M", "stencil27:80+shuffled@13M"],
    "unsorted": ["uniform:100k,100k,1M+unsorted", "stencil27:40+unsorted@1600k", "power:300k,300k,2M+unsorted",
                 "band:1M,9+unsorted@9M", "uniform:500k,500k,10M+unsorted"],
    "huge": ["uniform:8M,8M,100M", "power:8M,8M,100M", "stencil27:150@90M", "web:5M,60M"],
}
QUICK = ["uniform:300,300,2000", "power:200,300,2000", "band:200,5"]


def number(text):
    return int(float(text.translate({ord("k"): "", ord("M"): ""})) * (K if "k" in text else M if "M" in text else 1))


def entries_of(pattern):
    """The entries of a pattern, about."""
    spec, _, told = pattern.partition("@")
    if told:
        return number(told)
    kind, _, numbers = re.sub(r"\+.*", "", spec).partition(":")
    n = [number(word) for word in numbers.split(",")]
    return n[2] if kind in ("uniform", "power", "rows", "cols", "lp") else n[0] * n[1] if kind in ("dense", "band") else n[1]


def listed(families, quick):
    """(family, specification, entries, held out) of the list."""
    if quick:
        return [("quick", spec, 2000, held_out(spec)) for spec in QUICK]
    return [(family, pattern.partition("@")[0], entries_of(pattern), held_out(pattern))
            for family in families for pattern in FAMILIES[family]]


# ---- drawn at random -------------------------------------------------------------------------------------------------

EACH = {"hypersparse": (0.001, 0.5), "tall": (0.5, 10), "wide": (50, 20 * K), "long": (5 * K, 100 * K)}  # entries a row; else 1 to 1000


def log_uniform(draw, low, high):
    return low * (max(high, low) / low) ** draw.random()


def shape(draw, family, entries):
    """Rows and columns for so many entries, half of them at most stored."""
    rows = min(20 * M, max(2, round(entries / log_uniform(draw, *EACH.get(family, (1, K))))))
    cols = rows
    if family in ("uniform", "power", "rows", "cols") and draw.random() < 0.5:
        cols = round(rows * log_uniform(draw, 1 / 8, 8))
    elif family == "tall":
        cols = round(log_uniform(draw, 8, rows / 8))
    elif family in ("wide", "long"):
        cols = round(log_uniform(draw, rows, 20 * M))
    return rows, max(cols, -(-2 * entries // rows))


def specification(draw, family, entries):
    """A pattern of a family with so many entries, or nearly."""
    rows, cols = shape(draw, family, entries)
    if family in ("web", "rmat", "block", "near"):  # square
        rows = max(rows, math.isqrt(2 * entries))
    if family in ("shuffled", "unsorted"):
        return specification(draw, draw.choice(["stencil", "band", "uniform"]), entries) + "+" + family
    if family == "stencil":
        points = draw.choice([5, 27])
        return f"stencil{points}:{max(4, round((entries / points) ** (1 / 2 if points == 5 else 1 / 3)))}"
    if family == "grid7":
        return f"stencil7:{max(4, round((entries / 7) ** (1 / 3)))}"
    if family == "fem":
        unknowns = draw.randint(2, 6)
        return f"fem:{max(2, round(((entries / unknowns ** 2) ** (1 / 3) + 2) / 3))},{unknowns}"
    if family == "near":
        return f"near:{rows},{entries},{min(rows, round(log_uniform(draw, max(1, entries // rows), max(2, rows // 4))))}"
    if family in ("band", "arrow"):
        half = round(log_uniform(draw, 1, 60))
        return f"{family}:{max(2 * half + 1, entries // (2 * half + 1))},{half if family == 'arrow' else 2 * half + 1}"
    if family == "dense":
        rows = max(2, round(entries ** log_uniform(draw, 0.3, 0.7)))
        return f"dense:{rows},{max(2, entries // rows)}"
    if family in ("rows", "cols"):
        return f"{family}:{rows},{cols},{entries},{round(log_uniform(draw, 1, min(rows, cols, K)))}"
    if family == "block":
        return f"block:{rows},{entries},{min(rows, draw.randint(2, 16))}"
    if family in ("kkt", "circuit"):
        return f"{family}:{entries // draw.randint(4, 9)},{entries}"
    if family == "lp":
        rows = entries // draw.randint(5, 20)
        return f"lp:{rows},{rows * draw.randint(1, 5)},{entries}"
    if family in ("rmat", "web"):
        return f"{family}:{rows},{entries}"
    return f"{'power' if family == 'power' else 'uniform'}:{rows},{cols},{entries}"


def drawn(families, arguments):
    """As listed(), of the families in turn. Nothing was fitted to any, so that all are held out."""
    draw, low, high = random.Random(arguments.seed), max(arguments.least, K), max(arguments.most, K)
    out = []
    for family in itertools.islice(itertools.cycle(families), arguments.draw):
        entries = round(log_uniform(draw, low, high))
        out.append((family, specification(draw, family, entries), entries, True))
    return out


def patterns_find(arguments):
    """(family, specification, entries, held out) of all that are asked for, small ones first."""
    families = arguments.family.split(",") if arguments.family else list(FAMILIES)
    unknown = sorted(set(families) - set(FAMILIES))
    if unknown:
        raise Failed(f"--family {unknown[0]} is none of " + ", ".join(FAMILIES))
    if arguments.draw:
        out = drawn([f for f in families if f != "huge"], arguments)
    else:
        out = listed(families, arguments.quick)
    return sorted((p for p in out if arguments.least <= p[2] <= arguments.most and
                   arguments.part in ("all", "held" if p[3] else "fit")), key=lambda p: p[2])
