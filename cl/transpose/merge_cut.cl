// SPDX-License-Identifier: Apache-2.0
// The small kernels of MergeTrans. merge_cut finds where the tiles of a merged group of runs begin in each run;
// merge_gaps writes the column pointers of long stretches of empty columns.
// Source:  P. Varman, S. Scheufler, B. Iyer, G. Ricard, Merging multiple lists on hierarchical-memory
//          multiprocessors, JPDC 12, 1991: the element of a given rank in many sorted lists. Here by a search over
//          lines drawn through the columns of a group, whose places in every run stand in a table, then over the columns
//          between two lines, in which the lists are searched between bounds that close in from both sides.
// Mapping: 1-D; merge_cut: a group is LANES work-items and takes tiles grp, grp+groups, ...; lane l searches runs
//          l, l+LANES, ... merge_gaps: work-items stride over each gap by the global size.
// Local:   WG uints where lanes have no shuffle, else none.
// Needs:   wg == LANES for merge_cut; runs <= WEFT_RUNS, a power of two from 32 on; table[(g*lines + b)*runs + r], b
//          1 .. lines-1: position of the first entry of run r of group g with a column of line b or a later one, or
//          the end of the run; line b is column grids[2*g] + (b << grids[2*g + 1]).
// Gives:   cuts[t*runs + i]: position in run i where tile t of its group begins, such that the entries before the cuts
//          are the first t*TILE ones of the group ordered by (column, run, position); first[t]: column of the entry
//          at the cut.
// Order:   exact, whatever the columns: equal ones are given to the runs from the left.

#ifndef WEFT_WG
#error "WEFT_WG: work-group size"
#endif
#ifndef WEFT_RUNS
#error "WEFT_RUNS: most runs merged at once, a power of two from 32 on"
#endif
#ifndef WEFT_TILE
#error "WEFT_TILE: entries of a tile"
#endif

#define PER_LANE ((WEFT_RUNS + 31) / 32)
#if PER_LANE < 8
#define SIDE PER_LANE // runs that a lane searches side by side
#else
#define SIDE 8
#endif

#if WEFT_WG == 32
// Sum of v over the lanes before this one; *all gets the sum over every lane.
WEFT_INLINE pos_t lanes_before(pos_t v, pos_t *all, __local uint *mem)
{
#if WEFT_POS_BITS == 64
    ulong sum = (ulong)v;
    for (uint d = 1; d < LANES; d <<= 1) {
        uint from = lane_id() < d ? lane_id() : lane_id() - d;
        ulong low = lane_get((uint)sum, from, mem), high = lane_get((uint)(sum >> 32), from, mem);
        sum += lane_id() < d ? 0ul : high << 32 | low;
    }
    ulong low = lane_get((uint)sum, LANES - 1u, mem), high = lane_get((uint)(sum >> 32), LANES - 1u, mem);
    *all = (pos_t)(high << 32 | low);
    return (pos_t)sum - v;
#else
    uint sum, before = lane_scan((uint)v, &sum, mem);
    *all = (pos_t)sum;
    return (pos_t)before;
#endif
}

// In run i entries before lo[i] are below least, those from hi[i] on at most or above. `below`
// entries lie before all lo.
struct bounds {
    pos_t lo[PER_LANE], hi[PER_LANE], below;
    uint least, most; // lines or columns
};

// Close in on the entry of a rank; those below the pivot end at at[].
WEFT_INLINE void bounds_close(struct bounds *b, uint pivot, const pos_t *at, pos_t rank, __local uint *mem)
{
    pos_t sum = 0, all;
#pragma unroll
    for (uint k = 0; k < PER_LANE; k++)
        sum += at[k] - b->lo[k];
    lanes_before(sum, &all, mem);
    bool up = b->below + all <= rank;
    b->least = up ? pivot : b->least;
    b->most = up ? b->most : pivot;
    b->below += up ? all : 0;
#pragma unroll
    for (uint k = 0; k < PER_LANE; k++) {
        b->lo[k] = up ? at[k] : b->lo[k];
        b->hi[k] = up ? b->hi[k] : at[k];
    }
}

// at[k]: the first entry of column `pivot` or a later one between lo[k] and hi[k], or hi[k].
WEFT_INLINE void runs_search(pos_t *at, const pos_t *lo, const pos_t *hi, __global const uint *col, uint pivot)
{
    pos_t end[SIDE];
    bool open = false;
#pragma unroll
    for (uint k = 0; k < SIDE; k++) {
        at[k] = lo[k];
        end[k] = hi[k];
        open = open || at[k] < end[k];
    }
    while (open) {
        uint found[SIDE];
#pragma unroll
        for (uint k = 0; k < SIDE; k++)
            found[k] = at[k] < end[k] ? col[at[k] + (end[k] - at[k]) / 2] : 0u;
        open = false;
#pragma unroll
        for (uint k = 0; k < SIDE; k++) {
            pos_t mid = at[k] + (end[k] - at[k]) / 2;
            bool before = at[k] < end[k] && found[k] < pivot;
            end[k] = before ? end[k] : mid;
            at[k] = before ? mid + 1 : at[k];
            open = open || at[k] < end[k];
        }
    }
}

// Where the tiles of a merged group of runs begin in each run.
WEFT_KERNEL void merge_cut(__global const uint *col, __global const pos_t *table, __global const uint *grids,
                           __global pos_t *cuts, __global idx_t *first, idx_t n, pos_t nnz, pos_t tiles, uint per_group,
                           uint runs, long length, uint lines)
{
    LANE_MEMORY(uint, mem);
    for (pos_t t = (pos_t)get_group_id(0); t < tiles; t += (pos_t)get_num_groups(0)) {
        uint group = (uint)t / per_group;
        long start = (long)group * per_group * WEFT_TILE;
        pos_t rank = (pos_t)((long)t * WEFT_TILE - start), at[PER_LANE];
        struct bounds b = {.below = 0, .least = 0u, .most = lines};
        uint lane = lane_id();
        forget(lane); // what derives from it and k is not worth a register from tile to tile
        __global const pos_t *mine = table + (size_t)group * lines * runs + lane;
#pragma unroll
        for (uint k = 0; k < PER_LANE; k++) {
            uint i = k * LANES + lane;
            b.lo[k] = (pos_t)min(start + (long)i * length, (long)nnz);
            b.hi[k] = i < runs ? (pos_t)min(start + (long)(i + 1u) * length, (long)nnz) : b.lo[k];
        }
        while (b.most - b.least > 1u) {
            uint pivot = b.least + (b.most - b.least) / 2u;
#pragma unroll
            for (uint k = 0; k < PER_LANE; k++)
                at[k] = b.lo[k] < b.hi[k] ? mine[(size_t)pivot * runs + k * LANES] : b.lo[k];
            bounds_close(&b, pivot, at, rank, mem);
        }
        uint base = grids[2u * group], shift = grids[2u * group + 1u];
        b.least = b.least ? base + (b.least << shift) : 0u;
        b.most = b.most < lines ? base + (b.most << shift) : (uint)n;
        while (b.most - b.least > 1u) {
            uint pivot = b.least + (b.most - b.least) / 2u;
#pragma unroll
            for (uint k = 0; k < PER_LANE; k += SIDE)
                runs_search(at + k, b.lo + k, b.hi + k, col, pivot);
            bounds_close(&b, pivot, at, rank, mem);
        }
        forget(lane);
        // Entries of column `least` lie from lo to hi: the runs give theirs in order until the rank is reached.
        pos_t need = rank - b.below, all;
#pragma unroll
        for (uint k = 0; k < PER_LANE; k++) {
            pos_t before = lanes_before(b.hi[k] - b.lo[k], &all, mem);
            if (k * LANES + lane < runs)
                cuts[(size_t)t * runs + k * LANES + lane] = b.lo[k] + clamp(need - before, (pos_t)0, b.hi[k] - b.lo[k]);
            need -= all;
        }
        if (lane_id() == 0u)
            first[t] = (idx_t)b.least;
    }
}
#endif

// Column pointers of long stretches of empty columns.
// gaps[0]: how many; then of each the columns before and at its end, and the pointer of all columns in between.
WEFT_KERNEL void merge_gaps(__global const long *gaps, __global ofs_t *col_ptr)
{
    for (long i = 0; i < gaps[0]; i++)
        for (long c = gaps[1 + 3 * i] + 1 + (long)get_global_id(0); c <= gaps[2 + 3 * i]; c += (long)get_global_size(0))
            col_ptr[c] = (ofs_t)gaps[3 + 3 * i];
}
