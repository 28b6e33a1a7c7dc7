/* SPDX-License-Identifier: Apache-2.0 */
/* An output file that is there whole or not at all: written beside its place, forced to the disk, then
 * renamed. What was committed outlives a loss of power; standard output, devices and pipes are what
 * they are. */
#ifndef HOST_OUTPUT_H
#define HOST_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "temporary.h"

struct output {
    FILE *file;
    const char *name;      /* as given; "-" is standard output */
    struct temporary temporary; /* none: written in place (standard output, a device, a pipe) */
};

/* All return 0 or an errno. After a failure nothing is left behind; but where only the directory could
 * not be forced to the disk the file stays, whole, and nobody knows for how long. */
int output_open(struct output *out, const char *name);
int output_commit(struct output *out);
/* The same, but it is on the disk only after output_sync_folder(), which makes sure of all files of a
 * folder, and of their names, at once. */
int output_finish(struct output *out);
int output_sync_folder(const char *path);
/* Forces a file or a directory to the disk. */
int output_sync(const char *path);
/* That in which `path` lies. */
int output_sync_parent(const char *path);
/* A directory that is there, on the disk, too; made if it was not. EEXIST: something else is. */
int output_directory(const char *path);
void output_abandon(struct output *out);   /* harmless on one that is not open */

#endif
