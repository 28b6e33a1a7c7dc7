/* SPDX-License-Identifier: Apache-2.0 */
/* What `ordeal --help`, `ordeal help COMMAND` and `ordeal-board --help` say there is: commands, and
 * the options of each. The program prints them from its tables, so what is held against them here
 * is held to the tables. $ORDEAL is the program (shell.h). */
#ifndef SUPPORT_COMMAND_HELP_H
#define SUPPORT_COMMAND_HELP_H

#include <stdbool.h>

#include "base/list.h"

struct help_option {
    char letter, name[32], argument[32]; /* '\0', "": there is none */
    char whose[48]; /* "sim, board" of a text that begins with "sim, board: " */
};

struct help_command {
    char name[32];
    LIST(struct help_option) options;
};

struct help {
    LIST(struct help_command) commands;
};

/* All commands of ordeal, but help, and then "ordeal-board" as if it were one. */
void help_read(struct help *h);
void help_free(struct help *h);
/* The words that a text begins with which says whose option it is; "" where it does not. */
void help_whose(const char *text, char whose[48]);
const struct help_command *help_find(const struct help *h, const char *command);       /* or NULL */
const struct help_option *help_option(const struct help_command *c, const char *name); /* or NULL */
const struct help_option *help_letter(const struct help_command *c, char letter);      /* or NULL */

#endif
