// SPDX-License-Identifier: Apache-2.0
// A stand-in for bench/cuda/cub.cu that computes on the host: what weft-cub does around it can be tested without a GPU.
// WEFT_STANDIN is "none" (no GPU), "memory" (too little of it) or "wrong" (a result that is not right).
#include "bench/lab/cuda/cub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is(const char *fault)
{
    const char *wanted = getenv("WEFT_STANDIN");
    return wanted && !strcmp(wanted, fault);
}

int cub_open(const char *like, char name[256], char driver[32], char why[256])
{
    snprintf(name, 256, "stand-in");
    snprintf(driver, 32, "CUDA 0.0");
    snprintf(why, 256, is("none") ? "no CUDA device" : "no CUDA device is named in \"%.200s\"", like);
    return !is("none") && (!*like || strstr(like, name));
}

const char *cub_version(void)
{
    return "CUB 0.0.0";
}

static const uint32_t *keys;
static int by_key(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return keys[x] != keys[y] ? (keys[x] < keys[y] ? -1 : 1) : x < y ? -1 : x > y;
}

int cub_run(struct cub_job *job, char why[256])
{
    const uint32_t *in = job->in[0], *payload = job->in[1];
    uint32_t *out = job->out[0], *out_payload = job->out[1], sum = 0;
    size_t n = (size_t)job->n;
    snprintf(why, 256, "CUDA: %s", is("memory") ? "out of memory" : "no error");
    if (is("memory"))
        return -1;
    if (job->op == CUB_SCAN)
        for (size_t i = 0; i < n; sum += in[i++])
            out[i] = sum;
    if (job->op == CUB_SORT) {
        uint32_t *order = malloc(n * sizeof *order);
        if (!order)
            return 0;
        for (size_t i = 0; i < n; i++)
            order[i] = (uint32_t)i;
        keys = in;
        qsort(order, n, sizeof *order, by_key);
        for (size_t i = 0; i < n; i++) {
            out[i] = in[order[i]];
            out_payload[i] = payload[order[i]];
        }
        free(order);
    }
    if (cub_counts(job->op) || cub_points(job->op)) {
        const int points = cub_points(job->op);
        memset(out, 0, ((size_t)job->bins + (size_t)points) * sizeof *out);
        for (size_t i = 0; i < n; i++)
            out[in[i] + (uint32_t)points]++;
        for (int64_t b = 0; b < job->bins && points; b++)
            out[b + 1] += out[b];
    }
    if (is("wrong"))
        (job->op == CUB_SORT ? out_payload : out)[job->op == CUB_SCAN || job->op == CUB_SORT ? n - 1 : 0] ^= 1;
    for (int r = 0; r < job->reps; r++)
        job->ms[r] = 1 + r;
    return 1;
}
