// SPDX-License-Identifier: Apache-2.0
// The record inside the page that shows it.
#include "html.h"

int profile_html_write(FILE *out, const cJSON *document)
{
    char *text = cJSON_PrintUnformatted(document);
    if (!text)
        return -1;
    int good = fputs(profile_html_head, out) >= 0;
    // These occur in JSON only inside of texts. As escapes of JSON they cannot end the element that holds the record.
    for (const char *at = text; *at && good; at++)
        if (*at == '<' || *at == '>' || *at == '&')
            good = fprintf(out, "\\u%04x", (unsigned)*at) > 0;
        else
            good = putc(*at, out) != EOF;
    cJSON_free(text);
    good = good && fputs(profile_html_tail, out) >= 0;
    return good && !fflush(out) ? 0 : -1;
}
