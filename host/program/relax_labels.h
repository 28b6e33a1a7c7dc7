/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of statements for `ordeal relax`: what a comment on the line says behind an @ ("@12"), else the
 * number of the line, with its file's name where that is not the program's first or where other lines have
 * such comments. */
#ifndef HOST_PROGRAM_RELAX_LABELS_H
#define HOST_PROGRAM_RELAX_LABELS_H

#include "lines.h"
#include "relax.h"

struct statement_label {
    char *name;
    char *file;
    uint32_t line; /* the first, where several have the name */
};

struct statement_labels {
    struct relax_labels
        of;           /* for the engine; numbers are those of `label` from 1, ascending by name */
    uint32_t *number; /* what it points to */
    LIST(struct statement_label) label;
};

/* `first`: the program's first source. False: out of memory; to be freed in either case. */
bool statement_labels_find(struct statement_labels *l, const struct image *image,
                           const char *first);
void statement_labels_free(struct statement_labels *l);
/* 0: there is no such. */
uint32_t statement_label_named(const struct statement_labels *l, const char *name);
/* "1,2,11,12" */
enum { CYCLE_NAME = 512 };
void statement_cycle_name(const struct statement_labels *l, const struct relax_cycle *c,
                          char name[CYCLE_NAME]);
/* And back; of kinds all. False: it is none, or names what no statement has. */
bool statement_cycle_parse(const struct statement_labels *l, const char *text,
                           struct relax_cycle *c, char *reason, size_t size);

#endif
