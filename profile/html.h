// SPDX-License-Identifier: Apache-2.0
// The report for people: one HTML file that holds the record, its styles and the script that draws it.
#pragma once

#include <cjson/cJSON.h>
#include <stdio.h>

// Write the report of a document of docs/profiling.md. It opens without a network: everything it needs is in it.
// Gives 0; -1: out of memory, or it could not be written.
int profile_html_write(FILE *out, const cJSON *document);

// The page around the record (profile/report.html with .css and .js, by embed.py).
extern const char *const profile_html_head, *const profile_html_tail;
