// SPDX-License-Identifier: Apache-2.0
// ScanTrans on devices with local memory: how a shape is cut into passes, parts, tiles, buckets and chunks, and what
// that takes of memory.
#pragma once

#include "host/src/core/make.h"
#include "host/src/transpose/method.h"

// A bucket that a tile of a wide work-group holds is read once, counted by its ranks, and goes out in whole lines.
#define WEFT__SCAN_COUNT_WG 256 // of the counting kernels, at most
#define WEFT__SCAN_WIDE_WG  512
// Entries of a work-item of large tiles, for values of `bytes` bytes and positions: registers.
#define WEFT__SCAN_LARGE_IPT(ipt, bytes, pos) ((bytes) != 8 ? (ipt) : (ipt) - (ipt) / ((pos) == WEFT_OFS_64 ? 4 : 8))
#define WEFT__SCAN_WIDE_IPT(pos)              ((pos) == WEFT_OFS_64 ? 24 : 28) // most entries of a work-item: registers

// Work-items of a work-group that moves tiles, and entries of one.
struct weft__scan_tile {
    int wg, ipt;
};

// Buckets are read in chunks: entries of one; at most so many chunks of large buckets, which have several, and such buckets.
struct weft__scan_chunks {
    size_t entries, chunks, buckets;
    int joined; // the launch that counts them also adds them up
};
#define WEFT__SCAN_CHUNK_GROUPS 8   // of each compute unit, at most: work-groups that count chunks
#define WEFT__SCAN_SPARSE       256 // most entries that a sparse bucket's group compares with one another

// How a shape is cut: passes, digits, parts.
struct weft__scan_layout {
    int passes;
    uint32_t mid_bits, low_bits; // digits of the buckets; the rest of the column is the high digit
    uint32_t nbuckets, nparts; // bins of the partition: buckets; bins of three passes: parts of buckets, else nbuckets
    int key_bits;              // of a column inside its bucket
    int pairs, packed;         // entries on their way: value beside the row, column inside the row's word
    int parts_packed;          // the same of entries in parts of buckets, whose columns have fewer bits
    size_t tile, part, parts;  // entries of a tile, of a part; number of parts
    size_t span;               // entries between two remembered rows
    int joined;                // counting, the vertical sum and the offsets are one launch
    int exchanged;             // groups hand counts to each other by exchanges, with words that were written before
    size_t segment, segments;  // which adds up parts in segments: parts of one; their number, 0: all parts at once
    int one_tile;              // a chunk of the last pass is a tile
    int first_counted;         // the groups that move entries to buckets count all of them: there is no launch before
    int self_counted;          // buckets of several chunks are counted by the groups that move them
    int sparse;                // buckets of the last pass mostly have few entries and many columns
    int wide_ipt; // wide work-groups move the buckets, each of which may fit their tile: entries of a work-item; else 0
    struct weft__scan_tile first, second, last;           // of the passes
    struct weft__scan_chunks second_chunks, last_chunks;  // of buckets
    uint32_t count_bins, first_bins, mid_bins, last_bins; // room for bins: counting, the partition, the passes after it
    uint32_t first_digit, mid_digit, last_digit;          // bits that they rank; of a trial those of its layout `like`
    int guess;                                            // images are guessed (cl/transpose/mirror.cl)
};

// The layout of a shape with tuning values that weft__scan_plan has checked.
void weft__scan_layout_make(struct weft__scan_layout *l, const struct weft_context *ctx,
                            const struct weft__transpose_shape *shape, const struct weft_transpose_params *p);
// Digits of this layout are no wider than those that its kernels rank.
static inline bool weft__scan_layout_fits(const struct weft__scan_layout *l)
{
    return weft__bits_for(l->nbuckets) <= l->first_digit && l->mid_bits <= l->mid_digit && l->low_bits <= l->last_digit;
}
// Entries of a work-item that are in local memory at once: larger tiles go through it in turns.
int weft__scan_staged(struct weft__scan_tile tile, enum weft_ofs pos);
// Room for `bins` bins: a power of two, two or more for each work-item.
uint32_t weft__scan_bins_room(size_t bins, int wg);
// Rows of the table before the counts of tiles.
size_t weft__scan_table_rows(const struct weft__scan_layout *l);
// Words of the chunk index before those of groups that arrived.
size_t weft__scan_index_words(const struct weft__scan_layout *l);
// The buffers of a plan: few, since a launch costs its host more with each.
enum {
    ROW_AT,      // row of the first entry of each span
    TABLE,       // counts of parts, then prefixes, and a tile's counts before it in its part
    BUCKET_OFS,  // where bins begin
    CHUNK_INDEX, // of buckets, or parts of them (cl/transpose/scan.clh); groups that arrived: zero between launches
    LARGE_TABLE, // counts of the chunks of large buckets, and entries of their columns, LARGE_ROW
    KEY,         // columns of entries on their way, of three passes in parts of buckets,
    ROW,         // rows, with the value or the column where the layout packs them,
    VAL,         // values
    KEY_FIRST,   // three passes: the same of entries in buckets
    ROW_FIRST,   // where values are beside rows; else the result holds both on their way
    PART_OFS,    // three passes: where parts of buckets begin
    NBUFFERS
};
void weft__scan_scratch(struct weft__scratch out[NBUFFERS], const struct weft__scan_layout *l,
                        const struct weft__transpose_shape *shape);
// What is not given of the tuning, and the memory that it takes.
// Errors: WEFT_EINVAL tuning, WEFT_ERANGE more tiles than groups of a launch.
weft_status weft__scan_plan(struct weft_context *ctx, const struct weft__transpose_shape *shape,
                            struct weft_transpose_info *info);
