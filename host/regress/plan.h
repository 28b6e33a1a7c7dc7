/* SPDX-License-Identifier: Apache-2.0 */
/* What `ordeal regress` is to do: an INI file (docs/regress.md), read, checked and expanded.
 *
 * [regression] has the budget of the whole and how work is done, [all] what holds for all runs that do
 * not say otherwise, and each [run NAME] what `ordeal run` would be told. Values are separated by '|';
 * where a key has several, there is a run of each combination. What stands in a section, a budget or a
 * weight, is of all its runs together. */
#ifndef HOST_PLAN_H
#define HOST_PLAN_H

#include "base/list.h"
#include "targets/target.h"

/* 0: no limit. */
struct plan_budget {
    uint64_t tests, cycles;
    double seconds;
};

struct plan_run {
    char *name;
    LIST(char *) words; /* of `ordeal run`, without the program's name and what a unit adds */
    LIST(bool) is_file; /* of each of the words */
    const struct target *target;
    char *model; /* that it is checked for; NULL: the machine's own */
    uint64_t seed;
    double weight;
    struct plan_budget budget; /* its share; seconds are those of workers */
    uint32_t line;             /* of its section */
};

struct plan {
    char *file;
    struct plan_budget budget; /* of the whole; seconds are those that pass */
    uint64_t batch;            /* tests of a unit; 0: so many as take a few seconds */
    uint64_t examples;         /* folders of a bucket that are kept of each run */
    double worker;             /* seconds that a worker may take at most */
    double shrink;             /* seconds to make a failing test small; 0: it stays */
    bool waves, coverage, incidents_fail;
    LIST(struct plan_run) runs;
};

/* False: `e` has the line, the key and what is allowed. The plan is to be freed in any case. */
bool plan_read(struct plan *p, const char *file, struct ordeal_error *e);
/* Files that it names are looked for beside `file`. */
bool plan_read_stream(struct plan *p, FILE *in, const char *file, struct ordeal_error *e);
void plan_free(struct plan *p);

/* One to begin with, as text. */
extern const char plan_to_begin_with[];

#endif
