/* SPDX-License-Identifier: Apache-2.0 */
/* Changes to the text of a trace, by its lines as they were. A line that is dropped stays as an
 * empty one, so that the others keep their numbers. Whether what comes out is a trace is for its
 * reader to say. */
#ifndef HOST_EDITS_H
#define HOST_EDITS_H

#include <stdint.h>

#include "base/list.h"
#include "base/why.h"

enum edit_kind {
    EDIT_VALUE, /* the value number `at` of the line, from 0, becomes `text` */
    EDIT_DROP,
    EDIT_INSERT, /* `text` is a line behind it; of several the first comes first */
    EDIT_KINDS
};

struct edit {
    enum edit_kind kind;
    uint32_t line; /* from 1 */
    uint32_t at;
    const char *text;
    size_t place; /* among all of them, as they came; edits_apply() fills it */
};

struct edits {
    LIST(struct edit) list;
};

/* The name of a kind in questions. */
extern const char *const edit_names[EDIT_KINDS];

/* To *result, for the caller to free. False: `why`. Sorts the edits by their lines. */
bool edits_apply(struct edits *e, const char *text, char **result, struct why *why);

#endif
