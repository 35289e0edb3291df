// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <weft/weft.h>

int main(int argc, char **argv)
{
    struct weft_csr a = {0}, at = {0};
    struct weft_context *ctx = NULL;
    struct weft_error err = {0};
    if (argc != 2 || weft_mtx_read(&a, NULL, argv[1], NULL, &err) || weft_context_create(&ctx, NULL, &err))
        return fprintf(stderr, "%s\n", argc != 2 ? "usage: transpose FILE.mtx" : err.text), 1;
    if (weft_transpose_sync(&at, ctx, &a, weft_transpose_params(.algo = WEFT_TRANSPOSE_ALGO_SCAN)))
        return weft_context_error(&err, ctx), fprintf(stderr, "%s\n", err.text), 1;
    for (int64_t j = 0; j < at.m; j++) // row j of A^T is column j of A: its entries, rows ascending
        for (int64_t p = weft_csr_ofs(&at, j); p < weft_csr_ofs(&at, j + 1); p++)
            printf("%d %lld %g\n", at.col[p] + 1, (long long)j + 1, (double)((float *)at.val)[p]);
    weft_csr_free(&at), weft_csr_free(&a), weft_context_destroy(&ctx);
}
