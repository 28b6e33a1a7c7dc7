/* SPDX-License-Identifier: Apache-2.0 */
/* A document of the manual, taken apart into what a test can hold against the program.
 *
 * A command is an indented line that begins with "$ " or "make "; where it ends with a backslash
 * the next line belongs to it. What is shown of its output are the indented lines below it, up to
 * the next command or the end of the block. Code is what stands in backquotes, a link is
 * [text](target), a room the first word of an indented line if that ends with a slash. */
#ifndef SUPPORT_DOCUMENT_H
#define SUPPORT_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"

struct document_text {
    unsigned line;
    char *text;
};
struct document_command {
    unsigned line;
    char *text, *shown; /* "": nothing is shown */
};

struct document {
    char *name;
    LIST(struct document_command) commands;
    LIST(struct document_text) codes, links, rooms, lines;
};

/* Of a text; `name` is for messages. Fails the test when memory is out. */
void document_take(struct document *d, const char *name, const char *text);
void document_read(struct document *d, const char *path);
void document_free(struct document *d);

/* Is this what was printed? "…" and "..." in a line stand for anything in it, alone on a line for
 * any lines. Nothing shown agrees with everything. */
bool document_agrees(const char *shown, const char *printed);
/* The exit status that a command has of which this is shown: 0, or that of its gravest line. */
int document_status(const char *shown);

/* ---- the manual ------------------------------------------------------------------------------ */

/* What is wrong, a line each, from the last documents_check() or document_plant() on. */
void document_complain(const struct document *d, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Shows README.md, CONTRIBUTING.md, CHANGELOG.md and all of docs/ to the check, from the root of
 * the sources; the test fails with all that it complains of. */
void documents_check(void (*check)(const struct document *d));
/* The check must complain of this in a document in docs/; "": of nothing. */
void document_plant(const char *text, void (*check)(const struct document *d), const char *of);

#endif
