/* SPDX-License-Identifier: Apache-2.0 */
/* Traces from a file or standard input, one after the other. */
#ifndef HOST_INPUT_H
#define HOST_INPUT_H

#include <stdio.h>

#include "ordeal.h"
#include "base/progress.h"

struct input {
    const char *name;             /* as given; "-" is standard input */
    const char *label;            /* for messages: "-" is "standard input" */
    FILE *file;
    struct ordeal *o;             /* a context of its own: limits and memory are per file */
    struct ordeal_reader *reader;
    struct ordeal_trace *trace;   /* the current one */
    unsigned number;              /* its place in the file, from 1 */
    struct progress progress;
    struct ordeal_error error;    /* why opening or reading failed */
};

/* ORDEAL_OK, or the reason in in->error; input_close either way. */
enum ordeal_status input_open(struct input *in, const char *name, enum ordeal_format format,
                              const struct ordeal_limits *limits);
/* The same of a file that is open and is closed with it; NULL: errno says why. */
enum ordeal_status input_take(struct input *in, FILE *file, const char *name,
                              enum ordeal_format format, const struct ordeal_limits *limits);
/* ORDEAL_OK and in->trace, ORDEAL_END, or the reason in in->error (of a damaged binary file
 * in->trace is what could be read). The trace before it is freed. */
enum ordeal_status input_next(struct input *in);
void input_close(struct input *in);

#endif
