/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands share: their table entry, exit statuses, and how they complain. */
#ifndef HOST_COMMAND_H
#define HOST_COMMAND_H

#include <stddef.h>

/* Exit statuses, the same everywhere; where several apply the first of `exit_worst` wins. */
enum exit_status {
    EXIT_FINE = 0,          /* nothing wrong was found */
    EXIT_VIOLATION = 1,     /* a violation was found */
    EXIT_BAD = 2,           /* bad usage or bad input */
    EXIT_TARGET = 3,        /* the target failed */
    EXIT_UNDECIDED = 4,     /* undecided within the limits given */
    EXIT_INTERNAL = 70,     /* a defect of ordeal */
    EXIT_INTERRUPTED = 130, /* ^C */
    /* A result could not be written, which nobody may overlook, whatever else was found: it goes
     * before a violation, and leaves the program as EXIT_BAD. */
    EXIT_UNWRITTEN = 256
};

struct option_spec;

struct command {
    const char *name;
    const char *summary;                /* one line for `ordeal --help` */
    const char *operands;               /* "FILE..." */
    const char *description;            /* paragraphs for `ordeal COMMAND --help` */
    const char *example;                /* lines, each "  $ ordeal ..." or what it prints */
    const struct option_spec *options;  /* ends with a NULL name */
    void (*more_help)(void);            /* on standard output, after the example; or NULL */
    int (*run)(const struct command *self, int argc, char **argv); /* an exit status */
};

/* clang-format off */
extern const struct command command_gen, command_run, command_check, command_show, command_convert,
                            command_cover, command_board, command_tune, command_regress,
                            command_report, command_serve, command_explore, command_fence,
                            command_monitor, command_litmus,
                            command_relax,
                            command_clean;
/* clang-format on */

/* The graver of two exit statuses. */
int exit_worst(int a, int b);
/* As the program ends with it. */
int exit_told(int status);

/* "ordeal CHECK: message" on standard error; returns EXIT_BAD. */
int complain(const struct command *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same of a file with results and the errno why it is not there; returns EXIT_UNWRITTEN. */
int complain_unwritten(const struct command *c, const char *file, int error);

#endif
