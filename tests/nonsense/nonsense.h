// SPDX-License-Identifier: Apache-2.0
// Every public function with every kind of nonsense: what is refused, with which word in the message.
#pragma once

#include "tests/support/device.h"

#include <string.h>
#include <weft/weft.h>

// The tests that follow are of this public function. main.c compares the names with those of the headers.
#define CASE(function) nonsense_case(#function, (void (*)(void))(function))
void nonsense_case(const char *name, void (*function)(void));

// The call that follows gives this function a queue of another context.
void nonsense_queued(const char *name, void (*function)(void));

// WEFT_EINVAL, in one line that has `word`.
void nonsense_refused(weft_status status, const char *word, const struct weft_error *err);
// The same with the text of the context's last error.
void nonsense_refused_in(struct test_device *dev, weft_status status, const char *word);
// WEFT_EINVAL where there is no place for a message.
void nonsense_silent(weft_status status, const char *what);
// All bytes of an output are zero.
#define ZERO(x) nonsense_zero(&(x), sizeof(x), #x)
void nonsense_zero(const void *data, size_t bytes, const char *what);

// One call: fresh error, refused, with a word.
#define NO(word, call)                                                                                                 \
    do {                                                                                                               \
        struct weft_error err = {0};                                                                                   \
        weft_status got = (call);                                                                                      \
        nonsense_refused(got, word, &err);                                                                             \
    } while (0)
#define NO_IN(word, call) nonsense_refused_in(dev, (call), word)
#define SILENT(call)      nonsense_silent((call), #call)

void nonsense_host(void);
void nonsense_files(void);
void nonsense_device(struct test_device *dev);
void nonsense_matrices(struct test_device *dev);
void nonsense_queues(struct test_device *dev);
