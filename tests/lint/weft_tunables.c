// SPDX-License-Identifier: Apache-2.0
// weft-tunables: print docs/reference/tunables.md, the page of all tuning values, from the tables of the operations.
#include "host/internal/inside.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char intro[] =
    "<!-- Written by `ninja -C build tunables-md`: change the tables in host/src instead. -->\n"
    "# Tuning values\n"
    "\n"
    "Each value is an int of the operation's `struct weft_..._params`, and 0 means the default. The tables lie beside "
    "the\n"
    "defaults in `host/src`. They drive checks, defaults, the [tune file](tune-file.md) and the sweeps of weft-bench.\n"
    "\n"
    "- algorithm: as `weft-bench --algo` has it; *others*: all that no other row of the operation and schedule names.\n"
    "- name: in the tune file, and of `weft-bench --tune NAME=VALUE`. The member of the params follows where it "
    "differs.\n"
    "- range: other values are refused with WEFT_EINVAL. *wg* is the largest work-group of the device and its "
    "kernels.\n"
    "- step: what values are a multiple of; *2^k*: powers of two.\n"
    "- default: for all devices, then for those of a vendor. One that does not fit the device is lowered until it "
    "does.\n"
    "- swept: the values that `weft-bench --sweep` tries.\n"
    "- tune file: its row there. Values that are *found* are those that `weft-bench --tune` searches; others are only\n"
    "  *read*. *no*: the best value depends on the matrix.\n";

static void range_print(const struct weft__tunable *t)
{
    if (t->high == INT32_MAX && !t->most)
        printf("%d or more", t->low);
    else if (!t->most)
        printf("%d to %d", t->low, t->high);
    else {
        printf("%d to ", t->low);
        if (t->high)
            printf("%d and ", t->high);
        printf(t->most == weft__tunable_wg ? "wg" : "what the device and the values above leave");
    }
}

static int row_value(const struct weft__tunable *t, const void *row)
{
    return *(const int *)((const char *)row + t->from);
}

static const struct weft__tune_key *row_key(const struct weft__tunables *set, size_t i)
{
    return (const void *)((const char *)set->table.rows + i * set->table.bytes);
}

// The row of the same vendor for waves of one width; NULL: none.
static const struct weft__tune_key *wave_row(const struct weft__tunables *set, const struct weft__tune_key *of)
{
    for (size_t i = 0; i < set->table.count; i++) {
        const struct weft__tune_key *key = row_key(set, i);
        if (key->wave && key->schedule == of->schedule && key->vendor && of->vendor && !strcmp(key->vendor, of->vendor))
            return key;
    }
    return NULL;
}

// The default for all devices of the schedule, then those that differ with the vendor or device they are for.
static void default_print(const struct weft__tunables *set, const struct weft__tunable *t)
{
    int all = INT_MIN;
    if (!t->from || !set->table.rows) {
        printf("by the shape");
        return;
    }
    for (size_t i = 0; i < set->table.count; i++) {
        const struct weft__tune_key *key = row_key(set, i);
        if (key->schedule == set->schedule && !key->vendor && !key->device)
            all = row_value(t, key);
    }
    printf("%d", all);
    for (size_t i = 0; i < set->table.count; i++) {
        const struct weft__tune_key *key = row_key(set, i);
        if (key->schedule != set->schedule || (!key->vendor && !key->device) || key->wave)
            continue;
        const int own = row_value(t, key);
        const struct weft__tune_key *narrow = wave_row(set, key);
        const int differs = narrow && row_value(t, narrow) != own;
        if (own == all && !differs)
            continue;
        printf("; %s %d", key->device ? key->device : strcmp(key->vendor, WEFT__VENDOR_AMD) ? key->vendor : "AMD", own);
        if (differs)
            printf(" (waves of %d: %d)", narrow->wave, row_value(t, narrow));
    }
}

// Nonzero: some algorithms of this operation and schedule have an entry of their own.
static int has_others(const struct weft__tunables *of)
{
    for (const struct weft__tunables *const *sets = weft__tunables; *sets; sets++)
        for (const struct weft__tunables *set = *sets; set->op; set++)
            if (set->algo && !strcmp(set->op, of->op) && set->schedule == of->schedule)
                return 1;
    return 0;
}

static void value_print(const struct weft__tunables *set, const struct weft__tunable *t)
{
    const char *dot = strchr(t->member, '.');
    printf("| %s | %s | %s",
           set->algo         ? set->algo
           : has_others(set) ? "*others*"
                             : "all",
           weft_schedule_name(set->schedule), t->name);
    if (strcmp(dot ? dot + 1 : t->member, t->name) != 0)
        printf(" (`%s`)", t->member);
    printf(" | %s | ", t->help);
    range_print(t);
    if (t->step == WEFT__POWER_OF_TWO)
        printf(" | 2^k | ");
    else
        printf(" | %d | ", t->step);
    default_print(set, t);
    printf(" | ");
    for (const int *v = t->sweep; *v; v++)
        printf("%s%d", v == t->sweep ? "" : ", ", *v);
    if (set->row && t->kept)
        printf(" | `%s`, %s |\n", set->row, t->kept == WEFT__KEPT_FOUND ? "found" : "read");
    else
        printf(" | no |\n");
}

int main(void)
{
    const char *op = "";
    fputs(intro, stdout);
    for (const struct weft__tunables *const *sets = weft__tunables; *sets; sets++)
        for (const struct weft__tunables *set = *sets; set->op; set++) {
            if (strcmp(op, set->op) != 0)
                printf("\n## %s\n\n"
                       "| algorithm | schedule | name | what it is | range | step | default | swept | tune file |\n"
                       "|---|---|---|---|---|---|---|---|---|\n",
                       set->op);
            op = set->op;
            for (size_t i = 0; i < set->count; i++)
                value_print(set, &set->list[i]);
        }
    return fflush(stdout) != 0;
}
