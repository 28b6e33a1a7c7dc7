/* SPDX-License-Identifier: Apache-2.0 */
/* An output file that is there whole or not at all: written beside its place, then renamed. */
#ifndef HOST_OUTPUT_H
#define HOST_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output {
    FILE *file;
    const char *name;      /* as given; "-" is standard output */
    char *temporary;       /* NULL: written in place (standard output, a device, a pipe) */
};

/* All return 0 or an errno. After a failure nothing is left behind. */
int output_open(struct output *out, const char *name);
int output_commit(struct output *out);
void output_abandon(struct output *out);   /* harmless on one that is not open */

#endif
