/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a command, one table each: parsing, --help, defaults and errors come from it. */
#ifndef HOST_OPTIONS_H
#define HOST_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "command.h"

/* How the text of an argument becomes the value of a field. */
struct option_type {
    bool (*parse)(const char *text, void *field);
    const char *expected;                       /* "a number above 0"; or the choices: */
    const char *(*choice)(int i);               /* NULL after the last */
};

struct option_spec {
    const char *name;        /* without the dashes */
    char letter;             /* 0: none */
    const char *argument;    /* NULL: a flag */
    const struct option_type *type;
    size_t offset;           /* of the field in the command's struct */
    const char *preset;      /* parsed before the command line; NULL: the field stays zero */
    const char *help;        /* lines after the first are separated by \n */
};

#define OPTION_END { .name = NULL }
#define OPTION(STRUCT, FIELD, NAME, LETTER, ARGUMENT, TYPE, PRESET, HELP) \
    { NAME, LETTER, ARGUMENT, &option_##TYPE, offsetof(struct STRUCT, FIELD), PRESET, HELP }

extern const struct option_type option_flag, /* bool */
    option_text,                             /* const char * */
    option_words,                            /* struct words: may be given many times */
    option_whole,                            /* uint64_t, from 0 */
    option_positive,                         /* uint64_t, from 1 */
    option_seconds,                          /* double */
    option_megabytes,                        /* size_t, in bytes */
    option_model,                            /* struct choice, of enum ordeal_model */
    option_algorithm,                        /* enum ordeal_algorithm */
    option_format,                           /* enum ordeal_format that is written */
    option_format_read;                      /* enum ordeal_format */

struct choice { bool given; int value; };

enum { MOST_WORDS = 64 };
struct words { size_t count; const char *word[MOST_WORDS]; };

/* Fills `fields` and leaves the operands in argv[*operand..argc-1]. Returns -1 to go on, or the
 * exit status to end with (--help was answered, or a complaint was printed). */
int options_parse(const struct command *c, int argc, char **argv, void *fields, int *operand);

/* The whole of `ordeal COMMAND --help`, on standard output. */
void options_help(const struct command *c);

#endif
