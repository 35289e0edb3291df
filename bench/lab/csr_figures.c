// SPDX-License-Identifier: Apache-2.0
// csr-figures SPEC...: a line of JSON for each generated matrix, with what auto knows of it when it weighs the CSR schedules of a
// GPU: entries, longest row, empty rows, entries far from the one before, steps of 1 to 32 lanes a row. For csr_fit.py.
#include "host/internal/inside.h"

#include <stdio.h>
#include <weft/generate.h>

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct weft_csr a;
        struct weft_error err = {0};
        struct weft__spmv_stats s;
        if (weft_generate(&a, argv[i], weft_generate_params(.type = WEFT_TYPE_PATTERN), &err)) {
            fprintf(stderr, "csr-figures: %s\n", err.text);
            return 2;
        }
        weft__spmv_stats_host(&s, &a);
        printf("{\"matrix\":\"%s\",\"m\":%lld,\"n\":%lld,\"nnz\":%lld,\"max_row\":%lld,\"empty\":%lld,\"far\":%lld,"
               "\"steps\":[",
               argv[i], (long long)a.m, (long long)a.n, (long long)a.nnz, (long long)s.max_row, (long long)s.hist[0],
               (long long)s.far);
        for (int k = 0; k < 6; k++)
            printf("%s%lld", k ? "," : "", (long long)s.steps[k]);
        printf("]}\n");
        weft_csr_free(&a);
    }
    return fflush(stdout) ? 3 : 0;
}
