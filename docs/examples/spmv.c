// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <weft/weft.h>

int main(void)
{
    int32_t row_ptr[] = {0, 2, 3}, col[] = {0, 1, 1}; // 2 1 0
    float val[] = {2, 1, 3};                          // 0 3 0
    struct weft_csr a = {.m = 2, .n = 3, .nnz = 3, .type = WEFT_TYPE_F32, .row_ptr = row_ptr, .col = col, .val = val};
    float x[] = {1, 10, 100}, y[2];
    struct weft_context *ctx = NULL;
    struct weft_error err = {0};
    if (weft_context_create(&ctx, NULL, &err))
        return fprintf(stderr, "%s\n", err.text), 1;
    if (weft_spmv_sync(y, ctx, 1, &a, x, 0, NULL)) // y = 1*A*x + 0*y
        return weft_context_error(&err, ctx), fprintf(stderr, "%s\n", err.text), 1;
    printf("%g %g\n", (double)y[0], (double)y[1]);
    weft_context_destroy(&ctx);
}
