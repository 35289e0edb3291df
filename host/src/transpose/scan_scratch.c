// SPDX-License-Identifier: Apache-2.0
// The buffers that a layout of ScanTrans on GPUs takes, and what stands where in those that hold several arrays.
#include "host/src/transpose/scan_layout.h"

#include <string.h>

size_t weft__scan_table_rows(const struct weft__scan_layout *l)
{
    return l->parts + weft__max(l->segments, 1);
}

size_t weft__scan_index_words(const struct weft__scan_layout *l)
{
    return 3 * (size_t)l->nparts + 4;
}

// Bytes of counts of chunks and of their sums, `width` a row.
static size_t large_bytes(const struct weft__scan_chunks *c, size_t width)
{
    return weft__mul(c->chunks + c->chunks / 2, width);
}

void weft__scan_scratch(struct weft__scratch out[NBUFFERS], const struct weft__scan_layout *l,
                        const struct weft__transpose_shape *shape)
{
    const size_t nnz = (size_t)shape->nnz, pos = weft_ofs_bytes(weft__transpose_pos(shape));
    const size_t val = weft_type_bytes(shape->type);
    const size_t bins = l->nbuckets, width = bins + bins % 2; // as ROW_OF_BINS
    const size_t moved = l->passes > 1 ? nnz : 0, first = l->passes == 3 ? nnz : 0, parts = l->nparts;
    const size_t second = l->passes == 3 ? pos << l->mid_bits : 0, last = l->passes > 1 ? pos << l->low_bits : 0;
    const size_t arrived = weft__max(
        weft__max(second ? l->second_chunks.chunks / 2 : 0, last ? l->last_chunks.chunks / 2 : 0), 2 + l->segments);
    const struct weft__scratch needs[NBUFFERS] = {
        [ROW_AT] = {shape->rows_given || l->first_counted ? 0 : (weft__ceil_div(nnz, l->span) + 1) * 4,
                    .what = "rows of spans"},
        // Oclgrind does not take an exchange with memory never written for writing.
        [TABLE] = {l->first_counted ? 0
                                    : weft__add(weft__mul(weft__mul(weft__scan_table_rows(l), width), pos),
                                                weft__mul(weft__mul(weft__ceil_div(nnz, l->tile), width), 4)),
                   .what = "counts of parts and tiles", .zeros = l->joined && l->exchanged},
        [BUCKET_OFS] = {(bins + 1) * pos, .what = "offsets of bins"},
        [CHUNK_INDEX] = {weft__mul(weft__scan_index_words(l) + arrived, 4), .what = "chunks of buckets", .zeros = true},
        [LARGE_TABLE] = {weft__max(large_bytes(&l->second_chunks, second), large_bytes(&l->last_chunks, last)),
                         .what = "counts of large buckets",
                         .zeros = (l->second_chunks.joined || l->last_chunks.joined) && l->exchanged},
        [KEY] = {weft__mul(moved, l->parts_packed ? 0 : 2), .what = "columns in buckets"},
        [ROW] = {weft__mul(moved, l->pairs ? 8 : 4), .what = "rows in buckets"},
        [VAL] = {l->pairs ? 0 : weft__mul(moved, val), .what = "values in buckets"},
        [KEY_FIRST] = {weft__mul(first, l->packed ? 0 : (size_t)l->key_bits / 8), .what = "columns between passes"},
        [ROW_FIRST] = {l->pairs ? weft__mul(first, 8) : 0, .what = "rows between passes"},
        [PART_OFS] = {first ? (parts + 1) * pos : 0, .what = "offsets of parts of buckets"},
    };
    memcpy(out, needs, sizeof needs);
}
