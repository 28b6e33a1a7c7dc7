/* SPDX-License-Identifier: Apache-2.0 */
/* Ways to break a machine on purpose, and how one is chosen by its name (`--bug`).
 *
 * Each target that can be broken has one list: model_bugs.c that of `model`, zoo.c that of `sim`. */
#ifndef HOST_BUG_LIST_H
#define HOST_BUG_LIST_H

#include <stdio.h>

#include "base/why.h"
#include "ordeal.h"

struct bug_entry {
    const char *name, *area;
    const char *models;        /* of the machines that can have it, a letter each: STPCR */
    const char *wrong;         /* what the machine does */
    const char *exposed;       /* the operations that show it */
    const char *resembles;     /* what is known of real machines; NULL: not told */
    const char *pointless;     /* why the other models cannot have it; NULL: not told */
    const char *bias;          /* settings that catch it, as for --set, separated by blanks; NULL */
    uint32_t tests;            /* so many of them, or fewer */
};

struct bug_area { const char *name, *note; }; /* note: NULL, or what else is to be said */

struct bug_list {
    const struct bug_entry *entry; /* from 1; that of 0, no bug, is empty */
    int count;                     /* with entry 0 */
    const struct bug_area *areas;  /* in the order of the list; ends with a NULL name */
};

bool bug_is_in(const struct bug_entry *e, enum ordeal_model model);
/* "TSO, PSO", as snprintf. */
int bug_models(const struct bug_entry *e, char *text, size_t size);
/* Is there such a bug for the model? False: `reason` says why not, and what there is. */
bool bug_parse(const struct bug_list *l, const char *name, enum ordeal_model model, int *number,
               struct why *why);
/* What `--bug list` prints; as JSON an object a line. */
void bugs_print(const struct bug_list *l, bool json, FILE *out);

#endif
