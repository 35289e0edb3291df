// SPDX-License-Identifier: Apache-2.0
// Random problems of the public operations, each compared with the serial reference: shape, pattern, types, algorithm and
// tuning are drawn. Shared by weft-soak and the fuzz target of operations.
#pragma once

#include "draw.h"

#include <weft/context.h>
#include <weft/matrix.h>

enum soak_result {
    SOAK_RIGHT,
    SOAK_REFUSED, // parameters that the operation does not take, or arrays that contradict each other
    SOAK_WRONG,   // a wrong number, or wrong arrays that were taken
    SOAK_FAILED   // an error that no argument explains
};

struct soak {
    struct weft_context *ctx;
    struct draw kind;  // types, algorithm, tuning: few kinds, since each compiles
    struct draw shape; // the rest
    int64_t most;      // rows, columns, entries of a problem
    int hostile;       // nonzero: also wrong row pointers, offsets and columns
    char text[700];    // what was drawn; grows while it is
    char why[400];     // of a result that is not right
};

struct soak_op {
    const char *name;
    enum soak_result (*run)(struct soak *s);
};
// Both end with name NULL.
extern const struct soak_op soak_primitives[], soak_matrices[];

// Draw, run and judge a problem of one of the operations, or of `only`. *op: its name.
enum soak_result soak_run(struct soak *s, const char *only, const char **op);

// Used by the operations.
void soak_say(struct soak *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Memory of exactly so many bytes; the program ends where there is none.
void *soak_memory(size_t bytes);
// Some of the tuning values in `params`, small ones mostly.
void soak_tune(struct soak *s, const char *op, const char *algo, void *params);
// The verdict on a call: `wrong_input` says that it has to be refused, with WEFT_EMATRIX or as parameters are. SOAK_RIGHT: it ran
// and the result is to be compared.
enum soak_result soak_status(struct soak *s, weft_status status, int wrong_input);
enum soak_result soak_compared(struct soak *s, int right);
// A matrix; with s->hostile its arrays may be wrong. Freed by weft_csr_free.
struct weft_csr soak_matrix(struct soak *s, int square);
// `count` elements of 4 or 8 bytes: any bits, or few different ones.
void soak_words(struct soak *s, void *out, int64_t count, size_t bytes);
// Offsets of `count` parts of n elements; with s->hostile they may be wrong.
void soak_offsets(struct soak *s, void *out, int64_t count, int64_t n, enum weft_ofs ofs);
