#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fit the model of weft advise to records that weft-bench --study permute --json has written.

usage: bench/lab/advice_fit.py [options] FILE...
  --algo NAME     algorithm of the backend opencl (default auto)
  --device INDEX  the device (default: the only one in the files)
  --min-nnz N     leave out matrices with fewer entries (default 0)

Prints the row of host/common/advice_table.h for this kind of device, and in Markdown how good it is: every matrix is predicted by a
fit to all the others ("left out"), and compared with what was measured.

The model (host/common/advice.h): an entry costs 1 + sum of cost[i] * term[i]; the time of a product in an order over that of the
regular matrix is the ratio of these costs. From which size of x on lines lie far away is one of the powers of two from
64 KiB to 64 MiB. The costs are the non-negative numbers with the least sum of squares of
ln(predicted) - ln(measured); a measured ratio is that of the upper quartiles of GFLOP/s, since other work on the machine
only makes trials slower. What an order costs, (making it + permuting) / one product, is fitted
by a power of the number of entries.
"""
import math
import statistics
import sys

sys.dont_write_bytecode = True
import reader  # noqa: E402
from reader import ORDERS, Failed  # noqa: E402

TERMS = ["rows", "surprises", "waste", "lines", "far", "start"]
FAR = [2 ** k for k in range(16, 27)]
GAIN = 0.05  # ADVICE_GAIN
BYTES = {"f32": 4, "f64": 8, "pattern": 4}
NEEDED = (*reader.STUDIED, "device_index", "gflops", "surprises", "waste", "x_lines", "order_ms")


def read(paths, algo, device):
    """{(matrix, type): {order: record}} where every order was verified."""
    def wanted(r):
        return (r.get("study") == "permute" and (r.get("backend"), r.get("algo")) == ("opencl", algo) and r.get("verified") and
                r.get("type") in BYTES and min(r.get("gflops", [1])) > 0 and r.get("nnz", 1) > 0 and
                device in (None, r.get("device_index")))
    found, devices = {}, {}
    for r in reader.records(paths, wanted, lambda r: NEEDED):
        devices[r["device_index"]] = r
        found.setdefault((r["matrix"], r["type"]), {})[r["order"]] = r
    if len(devices) != 1:
        raise Failed(f"records of {len(devices)} devices, not of one (--device)")
    return {key: orders for key, orders in found.items() if set(orders) >= set(ORDERS)}, next(iter(devices.values()))


def terms(r, far):
    """advice_terms of host/common/advice.c."""
    beyond = math.log2(r["n"] * BYTES[r["type"]] / far) if r["n"] >= 1 else 0
    return [r["m"] / r["nnz"], r["surprises"], r["waste"] - 1, r["x_lines"], r["x_lines"] * max(0.0, beyond), 1000 / r["nnz"]]


def speed(r):
    return statistics.quantiles(r["gflops"], n=4, method="inclusive")[2] if len(r["gflops"]) > 1 else r["gflops"][0]


class Sample:
    def __init__(self, matrix, regular, r, far):
        self.matrix, self.order, self.type = matrix, r["order"], r["type"]
        self.before, self.after = terms(regular, far), terms(r, far)
        self.measured = math.log(speed(regular) / speed(r))

    def predict(self, cost):
        return math.log(1 + dot(cost, self.after)) - math.log(1 + dot(cost, self.before))


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def solve(matrix, right):
    """Gauss with pivots; a small symmetric system."""
    size = len(right)
    rows = [row[:] + [value] for row, value in zip(matrix, right)]
    for k in range(size):
        pivot = max(range(k, size), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(k + 1, size):
            factor = rows[i][k] / rows[k][k]
            for j in range(k, size + 1):
                rows[i][j] -= factor * rows[k][j]
    out = [0.0] * size
    for k in reversed(range(size)):
        out[k] = (rows[k][size] - dot(rows[k][k + 1:size], out[k + 1:])) / rows[k][k]
    return out


def fit(samples, start):
    """Levenberg and Marquardt, held at or above 0."""
    count = len(TERMS)
    cost, damp = list(start), 1e-2

    def error(c):
        return sum((s.predict(c) - s.measured) ** 2 for s in samples)
    last = error(cost)
    for _ in range(60):
        normal, slope = [[0.0] * count for _ in range(count)], [0.0] * count
        for s in samples:
            after, before = 1 + dot(cost, s.after), 1 + dot(cost, s.before)
            off = math.log(after / before) - s.measured
            row = [a / after - b / before for a, b in zip(s.after, s.before)]
            for i in range(count):
                slope[i] -= row[i] * off
                for j in range(count):
                    normal[i][j] += row[i] * row[j]
        free = [i for i in range(count) if cost[i] > 0 or slope[i] > 0]
        better = False
        while free and not better and damp < 1e9:
            step = solve([[normal[i][j] + (damp * normal[i][i] + 1e-12 if i == j else 0) for j in free] for i in free],
                         [slope[i] for i in free])
            moved = cost[:]
            for i, d in zip(free, step):
                moved[i] = max(0.0, cost[i] + d)
            now = error(moved)
            better = now < last
            damp = damp / 5 if better else damp * 4
        if not better:
            break
        gain, last, cost = last - now, now, moved
        if gain < 1e-7 * last:
            break
    return cost


def price(r, regular):
    """Making and applying an order, in products with the regular matrix."""
    return (r["order_ms"] + r["permute_ms"]) / (2e-6 * regular["nnz"] / speed(regular))


def price_fit(prices):
    """Straight lines of ln(price) over ln(entries/100000), one slope and a height for each order; and what is left."""
    if not prices:
        return 0.0, [0.0] * len(ORDERS), 0.0
    groups = {order: [(x, y) for o, x, y in prices if o == order] for order in ORDERS[1:]}
    centre = {order: [statistics.fmean(v) for v in zip(*points)] for order, points in groups.items() if points}
    across = sum((x - centre[o][0]) ** 2 for o, x, _ in prices)
    slope = sum((x - centre[o][0]) * (y - centre[o][1]) for o, x, y in prices) / across if across else 0.0
    height = {o: y - slope * x for o, (x, y) in centre.items()}
    left = [y - height[o] - slope * x for o, x, y in prices]
    return slope, [0.0] + [math.exp(height[o]) if o in height else 0.0 for o in ORDERS[1:]], statistics.pstdev(left)


def verdict(ratio):
    return -1 if ratio < 1 - GAIN else 1 if ratio > 1 / (1 - GAIN) else 0


def main():
    parser = reader.Options(__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--algo", default="auto")
    parser.add_argument("--device", type=int)
    parser.add_argument("--min-nnz", type=int, default=0)
    arguments = parser.parse_args()
    found, device = read(arguments.files, arguments.algo, arguments.device)
    found = {key: orders for key, orders in found.items() if orders["regular"]["nnz"] >= max(1, arguments.min_nnz)}
    matrices = list(dict.fromkeys(matrix for matrix, _ in found))
    if len(matrices) < 5:
        raise Failed(f"{len(matrices)} matrices with every order are too few to fit")
    tried = []
    for far in FAR:
        samples = [Sample(key[0], orders["regular"], orders[o], far) for key, orders in found.items() for o in ORDERS[1:]]
        cost = fit(samples, [1.0] * len(TERMS))
        tried.append((sum((s.predict(cost) - s.measured) ** 2 for s in samples), far, samples, cost))
    _, far, samples, cost = min(tried, key=lambda t: t[0])
    left = {}
    for matrix in matrices:
        other = fit([s for s in samples if s.matrix != matrix], cost)
        for s in samples:
            if s.matrix == matrix:
                left[s] = s.predict(other)
    spread = math.sqrt(statistics.fmean((left[s] - s.measured) ** 2 for s in samples))
    prices = [(order, math.log(orders["regular"]["nnz"] / 1e5), math.log(price(orders[order], orders["regular"])))
              for orders in found.values() for order in ORDERS[1:] if orders[order].get("permute_ms", 0) > 0]
    slope, permute, permute_spread = price_fit(prices)
    kind = device.get("device_type", "CPU")

    def numbers(values):
        return ", ".join(f"{v:.4g}" for v in values)
    print(f"{{CL_DEVICE_TYPE_{kind}, {{{numbers(cost)}}}, {far}, {spread:.3g}, {{{numbers(permute)}}}, {slope:.3g}, {permute_spread:.3g},")
    print(f" \"{device['device']}, driver {device.get('driver', '?')}, {device['date'][:10]}, {len(matrices)} matrices\"}},\n")
    report(samples, left, cost, far, spread)


def report(samples, left, cost, far, spread):
    print(*reader.table(["term", *TERMS], [["cost", *(f"{c:.4g}" for c in cost)]]), sep="\n")
    print(f"\nfar from {far} bytes of x on\n")
    total = sum(s.measured ** 2 for s in samples)
    print(f"Of ln(ratio), matrices left out: standard deviation {spread:.3f}, "
          f"{100 * (1 - sum((left[s] - s.measured) ** 2 for s in samples) / total):.0f} % of the squares explained; "
          f"{100 * statistics.fmean(abs(left[s] - s.measured) < 1.96 * spread for s in samples):.0f} % of the ratios inside the "
          "interval.\n")
    rows = []
    for order in [*ORDERS[1:], "all"]:
        mine = [s for s in samples if order in (s.order, "all")]
        truth = [verdict(math.exp(s.measured)) for s in mine]
        right = sum(verdict(math.exp(left[s])) == t for s, t in zip(mine, truth))
        rows.append([order, str(len(mine)), str(truth.count(-1)), str(truth.count(1)),
                     f"{right} ({100 * right / len(mine):.0f} %)",
                     f"{truth.count(0)} ({100 * truth.count(0) / len(mine):.0f} %)"])
    print(*reader.table(["order", "ratios", "faster by 5 %", "slower by 5 %", "predicted right (of three)",
                         "always \"no change\" would be"], rows), sep="\n", end="\n\n")
    advice(samples, left, "all")
    if any(":" in s.matrix for s in samples):
        advice([s for s in samples if ":" not in s.matrix], left, "files")


def advice(samples, left, name):
    """What following the advice does for many products: one piece of advice for a matrix and type."""
    by_case = {}
    for s in samples:
        by_case.setdefault((s.matrix, s.type), []).append(s)
    right = advised = paid = missed = none = 0
    gain, most = [], []
    for mine in by_case.values():
        pick = min(mine, key=lambda s: left[s])
        best = min(mine, key=lambda s: s.measured)
        there = verdict(math.exp(best.measured)) < 0
        gain.append(0.0)
        most.append(min(0.0, best.measured))
        if verdict(math.exp(left[pick])) < 0:
            advised += 1
            good = verdict(math.exp(pick.measured)) < 0
            paid += good
            right += good
            gain[-1] = pick.measured
        elif there:
            missed += 1
        else:
            none += 1
            right += 1
    cases = len(by_case)
    print(f"Advice for many products, matrices left out ({name}): {cases} matrices and types; right on {right} "
          f"({100 * right / cases:.0f} %). An order was advised on {advised} and saved more than 5 % on {paid} of them; nothing "
          f"was advised on {none + missed}, where an order would have saved more than 5 % on {missed}. Time of the products, "
          f"geometric mean: {math.exp(statistics.fmean(gain)):.3f} of regular by the advice, "
          f"{math.exp(statistics.fmean(most)):.3f} at best.\n")


if __name__ == "__main__":
    reader.end("advice_fit.py", main)
