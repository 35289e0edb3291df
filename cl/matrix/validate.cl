// SPDX-License-Identifier: Apache-2.0
// The first fault of a CSR matrix: row pointers that do not lead from the base to nnz + base, else the first entry that is
// out of range or out of order.
// Source:  -
// Mapping: 1-D. validate_find: work-items stride over the row pointers, then over tiles or chunks of entries
//          (MATRIX_CHUNKED); each group, or each work-item of a chunk, leaves its least fault. validate_least: one group,
//          or one work-item.
// Local:   8*wg + 16 bytes (MATRIX_CHUNKED 0).
// Needs:   n >= 0; base: 0, or 1 where indices count from 1, then order 0; order: 0 any, 1 columns ascend in each row, 2 and
//          none is there twice.
// Gives:   validate_find: least[group]. validate_least: found[0] = enum weft_fault, found[1] = its row or position.
// Order:   the least of all faults, on every device the same.

// A fault is a number: the pointers' come first, then the entries' by position. NONE is greater than all.
#define FIRST          0UL
#define LAST           1UL
#define DESCENDS(i)    (2UL + (ulong)(i))
#define ENTRIES        (1UL << 33)
#define ENTRY(p, kind) (ENTRIES + ((ulong)(p) << 2) + (kind))
#define NONE           ULONG_MAX

// Enumerators of enum weft_fault; those of entries are FAULT_RANGE + kind.
#define FAULT_FIRST    1L
#define FAULT_LAST     2L
#define FAULT_DESCENDS 3L
#define FAULT_RANGE    4L

// The fault of row pointer i, where there is one.
WEFT_INLINE ulong pointer_fault(__global const ofs_t *row_ptr, ulong i, ulong m, long nnz, int base)
{
    ofs_t p = row_ptr[i];
    ulong fault = NONE;
    if (i < m && p > row_ptr[i + 1])
        fault = DESCENDS(i);
    if (i == m && (long)p != nnz + base)
        fault = LAST;
    if (i == 0 && p != base)
        fault = FIRST;
    return fault;
}

// Is a column outside base .. n-1 + base?
WEFT_INLINE bool is_outside(idx_t col, idx_t n, int base)
{
    return (uint)col - (uint)base >= (uint)n;
}

// Whether entry p may be out of order: its kind if it is not the first one of its row, else NONE.
WEFT_INLINE ulong entry_kind(__global const idx_t *col, ofs_t p, uint order)
{
    if (!order || !p || col[p - 1] < col[p] || (order == 1u && col[p - 1] == col[p]))
        return NONE;
    return col[p - 1] == col[p] ? 2UL : 1UL;
}

#if !MATRIX_CHUNKED
WEFT_INLINE ulong group_least(ulong found, __local ulong *mem)
{
    uint lid = (uint)get_local_id(0);
    mem[lid] = found;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint count = WEFT_WG; count > 1u; count = (count + 1u) / 2u) {
        uint other = lid + (count + 1u) / 2u;
        if (other < count)
            mem[lid] = min(mem[lid], mem[other]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return mem[0];
}
#endif

// The least fault that each group, or each work-item of a chunk, meets.
WEFT_KERNEL void validate_find(__global const ofs_t *row_ptr, __global const idx_t *col, __global ulong *least, idx_t m,
                               idx_t n, long nnz, int base, uint order)
{
    ulong found = NONE;
#if MATRIX_CHUNKED
    const ulong id = get_global_id(0), all = get_global_size(0);
    const ulong rows_all = (ulong)m + 1, row_chunk = (rows_all + all - 1) / all;
    const ulong chunk = ((ulong)nnz + all - 1) / all, end = min((id + 1) * chunk, (ulong)nnz);
    for (ulong i = id * row_chunk; i < min((id + 1) * row_chunk, rows_all); i++)
        found = min(found, pointer_fault(row_ptr, i, (ulong)m, nnz, base));
    ulong p = min(id * chunk, (ulong)nnz);
    struct rows rows = {0, m};
    if (order && p < end)
        rows = rows_from(row_ptr, m, (ofs_t)p);
    for (; p < end; p++) {
        ulong kind = entry_kind(col, (ofs_t)p, order);
        if (is_outside(col[p], n, base))
            kind = 0UL;
        else if (kind == NONE || begins(row_ptr, &rows, (ofs_t)p))
            continue;
        found = min(found, ENTRY(p, kind));
        break;
    }
    least[id] = found;
#else
    __local ulong mem[WEFT_WG];
    __local idx_t ends[2];
    const uint lid = (uint)get_local_id(0);
    for (ulong i = get_global_id(0); i <= (ulong)m; i += get_global_size(0))
        found = min(found, pointer_fault(row_ptr, i, (ulong)m, nnz, base));
    for (ulong tile = get_group_id(0) * TILE; tile < (ulong)nnz; tile += get_num_groups(0) * TILE) {
        const ulong end = min(tile + TILE, (ulong)nnz);
        struct rows rows = {0, m};
        if (order)
            rows = rows_between(row_ptr, m, (ofs_t)tile, (ofs_t)(end - 1), ends);
        for (ulong p = tile + lid; p < end; p += WEFT_WG) {
            ulong kind = entry_kind(col, (ofs_t)p, order);
            if (is_outside(col[p], n, base))
                found = min(found, ENTRY(p, 0UL));
            else if (kind != NONE && !begins(row_ptr, &rows, (ofs_t)p))
                found = min(found, ENTRY(p, kind));
        }
    }
    found = group_least(found, mem);
    if (lid == 0u)
        least[get_group_id(0)] = found;
#endif
}

// The least of those, in the words of the interface.
WEFT_KERNEL void validate_least(__global const ulong *least, __global long *found, ulong count, idx_t m)
{
    ulong fault = NONE;
#if MATRIX_CHUNKED
    for (ulong i = 0; i < count; i++)
        fault = min(fault, least[i]);
#else
    __local ulong mem[WEFT_WG];
    for (ulong i = get_local_id(0); i < count; i += WEFT_WG)
        fault = min(fault, least[i]);
    fault = group_least(fault, mem);
#endif
    if (get_global_id(0))
        return;
    found[0] = fault == NONE      ? 0L
               : fault >= ENTRIES ? FAULT_RANGE + (long)((fault - ENTRIES) & 3UL)
               : fault == FIRST   ? FAULT_FIRST
               : fault == LAST    ? FAULT_LAST
                                  : FAULT_DESCENDS;
    found[1] = fault == NONE || fault == FIRST ? 0L
               : fault == LAST                 ? (long)m
               : fault >= ENTRIES              ? (long)((fault - ENTRIES) >> 2)
                                               : (long)(fault - DESCENDS(0));
}
