// SPDX-License-Identifier: Apache-2.0
// html < RECORD > REPORT: the report of a document, for report.py.
#include "profile/html.h"

#include <stdlib.h>

int main(void)
{
    size_t used = 0, room = 1 << 20, got;
    char *text = malloc(room);
    while (text && (got = fread(text + used, 1, room - used, stdin)) > 0) {
        used += got;
        if (used == room)
            text = realloc(text, room *= 2);
    }
    cJSON *document = text ? cJSON_ParseWithLength(text, used) : NULL;
    int status = !document ? 2 : profile_html_write(stdout, document) ? 1 : 0;
    cJSON_Delete(document);
    free(text);
    return status;
}
