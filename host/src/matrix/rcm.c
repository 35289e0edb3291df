// SPDX-License-Identifier: Apache-2.0
// Reverse Cuthill-McKee. E. Cuthill, J. McKee, "Reducing the bandwidth of sparse symmetric matrices", ACM 1969; each
// component starts at a pseudo-peripheral vertex, after A. George, J. Liu, "An implementation of a pseudoperipheral node
// finder", ACM TOMS 5(3), 1979. Ties are settled by degree and then by index, so that the order is the same everywhere.
#include "host/src/matrix/permutation.h"

#include "host/src/matrix/csr_build.h"
#include "host/src/core/error.h"

#include <stdlib.h>
#include <string.h>

// Undirected, without loops and multiple edges.
struct graph {
    int64_t count;
    int64_t *ptr; // size count+1
    int32_t *adj; // neighbours by ascending degree, then index
};

// Pattern of A + A^T on `count` vertices: entry (i, j) off the diagonal as (i, j) and (j, i). Where the matrix is not
// square, the columns are vertices of their own, numbered behind the rows.
static weft_status pattern_build(struct weft_csr *out, const struct weft_csr *a, int64_t count)
{
    int64_t edges = 0, first_col = a->m == a->n ? 0 : a->m;
    struct weft_coo coo;
    weft_status status =
        weft_coo_alloc(&coo, weft_shape(.m = count, .n = count, .nnz = a->nnz, .type = WEFT_TYPE_PATTERN));
    if (status)
        return status;
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t p = weft_csr_ofs(a, i), end = weft_csr_ofs(a, i + 1); p < end; p++) {
            int64_t j = first_col + a->col[p];
            if (i == j)
                continue;
            coo.row[edges] = (int32_t)i;
            coo.col[edges++] = (int32_t)j;
        }
    struct weft__coo_slice slice = {.count = edges, .row = coo.row, .col = coo.col};
    struct weft__team team;
    weft__team_begin(&team, 0);
    status = weft__csr_build(out, count, count, WEFT_TYPE_PATTERN, WEFT_OFS_64, &slice, edges ? 1 : 0,
                             WEFT__MIRROR_SAME, &team);
    weft__team_end(&team);
    weft_coo_free(&coo);
    return status;
}

// Drop repeated neighbours of each vertex; `mark` holds `count` elements.
static void neighbours_unique(struct weft_csr *a, int32_t *mark)
{
    int64_t *ptr = a->row_ptr, kept = 0, begin = 0;
    memset(mark, -1, (size_t)a->m * sizeof *mark);
    for (int64_t i = 0; i < a->m; i++) {
        int64_t end = ptr[i + 1];
        for (int64_t p = begin; p < end; p++)
            if (mark[a->col[p]] != i) {
                mark[a->col[p]] = (int32_t)i;
                a->col[kept++] = a->col[p];
            }
        begin = end;
        ptr[i + 1] = kept;
    }
}

static int64_t degree(const struct graph *g, int64_t v)
{
    return g->ptr[v + 1] - g->ptr[v];
}

// Vertices by ascending degree, then index.
static weft_status degrees_sort(int32_t *by_degree, const struct weft_csr *a)
{
    const int64_t *ptr = a->row_ptr;
    int64_t sum = 0, *next = calloc((size_t)a->m + 1, sizeof *next); // a degree is below m
    if (!next)
        return WEFT_ENOMEM;
    for (int64_t v = 0; v < a->m; v++)
        next[ptr[v + 1] - ptr[v]]++;
    for (int64_t d = 0; d < a->m; d++) {
        int64_t count = next[d];
        next[d] = sum;
        sum += count;
    }
    for (int64_t v = 0; v < a->m; v++)
        by_degree[next[ptr[v + 1] - ptr[v]]++] = (int32_t)v;
    free(next);
    return WEFT_OK;
}

// Breadth first from `root` over vertices that are not yet `done`: order[0 .. reached-1], its last level from *last on.
// Gives the number of levels. Vertices reached get mark[v] = stamp.
static int64_t breadth_first(const struct graph *g, int32_t root, const char *done, int32_t *mark, int32_t stamp,
                             int32_t *order, int64_t *reached, int64_t *last)
{
    int64_t levels = 0, begin = 0, end = 1;
    order[0] = root;
    mark[root] = stamp;
    while (begin < end) {
        *last = begin;
        int64_t next = end;
        for (int64_t k = begin; k < end; k++)
            for (int64_t p = g->ptr[order[k]]; p < g->ptr[order[k] + 1]; p++) {
                int32_t v = g->adj[p];
                if (done[v] || mark[v] == stamp)
                    continue;
                mark[v] = stamp;
                order[next++] = v;
            }
        begin = end;
        end = next;
        levels++;
    }
    *reached = end;
    return levels;
}

// Number the component of `root` into order[0 ..], starting far out; gives its size.
static int64_t component_number(const struct graph *g, int32_t root, char *done, int32_t *mark, int32_t *stamp,
                                int32_t *order)
{
    int64_t reached, last;
    if (!degree(g, root)) { // so many of these there may be that stamps would run out
        order[0] = root;
        done[root] = 1;
        return 1;
    }
    int64_t levels = breadth_first(g, root, done, mark, ++*stamp, order, &reached, &last);
    for (;;) {
        int32_t far = order[last];
        for (int64_t k = last; k < reached; k++)
            if (degree(g, order[k]) < degree(g, far) || (degree(g, order[k]) == degree(g, far) && order[k] < far))
                far = order[k];
        int64_t deeper = breadth_first(g, far, done, mark, ++*stamp, order, &reached, &last);
        if (deeper <= levels) // `order` holds the numbering from `far`, as deep as the one before
            break;
        levels = deeper;
    }
    for (int64_t k = 0; k < reached; k++)
        done[order[k]] = 1;
    return reached;
}

static void graph_number(const struct graph *g, const int32_t *by_degree, char *done, int32_t *mark, int32_t *order)
{
    int32_t stamp = 0;
    int64_t numbered = 0;
    memset(mark, 0, (size_t)g->count * sizeof *mark);
    for (int64_t k = 0; k < g->count; k++)
        if (!done[by_degree[k]])
            numbered += component_number(g, by_degree[k], done, mark, &stamp, order + numbered);
    for (int64_t k = 0; k < g->count / 2; k++) {
        int32_t v = order[k];
        order[k] = order[g->count - 1 - k];
        order[g->count - 1 - k] = v;
    }
}

weft_status weft__order_rcm(int32_t *row, int32_t *col, const struct weft_csr *a)
{
    int square = a->m == a->n;
    int64_t count = square ? a->m : a->m + a->n;
    if (count > INT32_MAX)
        return WEFT_ERANGE;
    struct weft_csr pattern = {0};
    struct graph g = {.count = count};
    size_t size = weft__max((size_t)count, 1);
    int32_t *by_degree = malloc(size * sizeof *by_degree), *mark = malloc(size * sizeof *mark);
    int32_t *order = malloc(size * sizeof *order);
    char *done = calloc(size, 1);
    int64_t *next = malloc(size * sizeof *next);
    weft_status status = by_degree && mark && order && done && next ? WEFT_OK : WEFT_ENOMEM;
    if (!status)
        status = pattern_build(&pattern, a, count);
    if (!status) {
        neighbours_unique(&pattern, mark);
        status = degrees_sort(by_degree, &pattern);
    }
    if (!status) {
        g.ptr = pattern.row_ptr;
        g.adj = malloc(weft__max((size_t)g.ptr[count] * sizeof *g.adj, 1));
        status = g.adj ? WEFT_OK : WEFT_ENOMEM;
    }
    if (!status) {
        // Each vertex, by ascending degree, joins the list of each of its neighbours.
        memcpy(next, g.ptr, (size_t)count * sizeof *next);
        for (int64_t k = 0; k < count; k++)
            for (int64_t p = g.ptr[by_degree[k]]; p < g.ptr[by_degree[k] + 1]; p++)
                g.adj[next[pattern.col[p]]++] = by_degree[k];
        graph_number(&g, by_degree, done, mark, order);
        int64_t rows = 0, cols = 0;
        for (int64_t k = 0; k < count; k++) {
            if (square)
                row[k] = col[k] = order[k];
            else if (order[k] < a->m)
                row[rows++] = order[k];
            else
                col[cols++] = (int32_t)(order[k] - a->m);
        }
    }
    weft_csr_free(&pattern);
    free(g.adj);
    free(by_degree);
    free(mark);
    free(order);
    free(done);
    free(next);
    return status;
}
