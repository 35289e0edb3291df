// SPDX-License-Identifier: Apache-2.0
// A file that is written whole or not at all, for the library, the programs and the profiler's layer. Until it is
// committed, what is written has no name (O_TMPFILE) or, where the system has no such files, one of its own beside the
// place; an old file stays what it was. Needs nothing else of the library but out_part.c.
#pragma once

#include "host/src/core/out_part.h"

#include <stddef.h>
#include <stdio.h>

struct weft__out {
    int fd;      // what is written to
    int open;    // nonzero: it is to be closed
    int error;   // errno of the first failure; 0: none
    char *path;  // the place, absolute and free of links; NULL: a stream, pipe or device, written as it is
    char *part;  // the name until then; NULL: none
    FILE *file;  // of weft__out_file
    int fresh;   // nonzero: the place must be empty at the commit
    int inplace; // nonzero: an old file that nothing can take the place of; emptied by the first write
    int done;    // nonzero: committed
    int settled; // nonzero: nothing was written since, so that its close has nothing to tell
};

// All but weft__out_file give 0 or an errno; a failure leaves an old file as it was.

// Whatever lies at `path` must be a file that can be written, a device or a pipe. Of a link, what it leads to is meant,
// also where that is not there yet. The new file gets the mode of the old one, else that of the umask. A file whose
// folder cannot be written, or on which another file system is mounted, is written in place.
int weft__out_open(struct weft__out *out, const char *path, int fresh);
// A duplicate of the descriptor; the commit does nothing.
int weft__out_stream(struct weft__out *out, int fd);
// A stream on it, which weft__out_close closes; *out stays where it is until then. NULL: no memory.
FILE *weft__out_file(struct weft__out *out);
int weft__out_write(struct weft__out *out, const void *data, size_t bytes);
// Write what the stream holds back.
int weft__out_flush(struct weft__out *out);
// Flush, then the file takes its place; what is written later goes on in it. Again: flush.
int weft__out_commit(struct weft__out *out);
// Close; what was not committed vanishes. Accepts an all-zero struct and one that is closed.
int weft__out_close(struct weft__out *out);
